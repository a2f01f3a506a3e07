#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: building the PadLock model for one guest kernel, against header packages that fetch.sh unpacks.
# Must not know: the host's own kernel; nothing below /usr/src or /lib/modules is read or written.
#
# usage: build.sh i386|amd64 OUT.ko        V=1 shows what make runs
set -eu

die() {
	echo "padlock/build.sh: $*" >&2
	exit 1
}

[ $# -eq 2 ] || die "usage: build.sh i386|amd64 OUT.ko"
arch=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)

case $arch in
amd64)
	set -- ARCH=x86_64
	[ "$(uname -m)" = x86_64 ] || set -- "$@" CROSS_COMPILE=x86_64-linux-gnu-
	;;
i386)
	set -- ARCH=i386 CROSS_COMPILE=i686-linux-gnu-
	command -v i686-linux-gnu-gcc >/dev/null ||
		die "i686-linux-gnu-gcc is missing (package gcc-i686-linux-gnu)"
	;;
*)
	die "no such guest architecture: $arch"
	;;
esac
kdir=$("$here/../fetch.sh" kdir "$arch")

# Kbuild leaves its files beside the source, so it gets a copy in a scratch folder.
mkdir -p "$(dirname "$out")"
tmp=$(mktemp -d "${out%.ko}.XXXXXX")
tmp=$(cd "$tmp" && pwd)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cp "$here/padlock_model.c" "$tmp/"
echo 'obj-m := padlock_model.o' >"$tmp/Kbuild"

# Called from make: the variables of that make are not meant for the kernel's.
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS CC
make -s -C "$kdir" M="$tmp" "$@" ${V:+"V=$V"} modules >"$tmp/log" 2>&1 || {
	cat "$tmp/log" >&2
	die "the $arch module did not build"
}
# Kbuild's remarks on a compiler of another minor version than the kernel's are no warnings here.
grep -E 'padlock_model\.c:[0-9]+' "$tmp/log" >&2 && die "the $arch module builds with warnings"
[ -z "${V:-}" ] || cat "$tmp/log"
mv "$tmp/padlock_model.ko" "$out"
