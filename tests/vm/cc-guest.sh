#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: compiling for a guest: CC, PKG_CONFIG and flags that use the guest's own headers and libraries.
# Must not know: what is compiled. The host's compiler is used, the host's libraries never.
#
#   cc-guest.sh i386|amd64 cc ARGUMENTS...            the compiler
#   cc-guest.sh i386|amd64 pkg-config ARGUMENTS...    pkg-config, over the guest's -dev packages
#
# The i386 code is for an AMD Geode LX: i586 with CMOV, MMX and 3DNow!, but no SSE and no long NOP.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
arch=$1 what=$2
shift 2
tree=$("$here/fetch.sh" sysroot "$arch")
case $arch in
i386)
	triplet=i386-linux-gnu
	gcc=i686-linux-gnu-gcc
	isa='-march=geode -mno-sse -fcf-protection=none'
	;;
amd64)
	triplet=x86_64-linux-gnu
	gcc=x86_64-linux-gnu-gcc
	isa=
	;;
*)
	echo "cc-guest: unknown architecture $arch" >&2
	exit 1
	;;
esac
case $what in
pkg-config)
	PKG_CONFIG_SYSROOT_DIR=$tree
	PKG_CONFIG_LIBDIR=$tree/usr/lib/$triplet/pkgconfig:$tree/usr/share/pkgconfig
	export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
	exec pkg-config "$@"
	;;
cc)
	# A cross compiler looks into its own C library before the sysroot, so the places are named:
	# -B for the start files, -nostdinc and -isystem for the headers, -L for the libraries.
	own=$($gcc -print-file-name=include)
	# shellcheck disable=SC2086 # flags are words
	exec $gcc --sysroot="$tree" -B"$tree/usr/lib/$triplet" \
		-nostdinc -isystem "$own" -isystem "$tree/usr/include" \
		-isystem "$tree/usr/include/$triplet" $isa "$@" \
		-L"$tree/usr/lib/$triplet" -L"$tree/lib/$triplet" \
		-Wl,-rpath-link,"$tree/usr/lib/$triplet:$tree/lib/$triplet"
	;;
*)
	echo "cc-guest: cc or pkg-config, not $what" >&2
	exit 1
	;;
esac
