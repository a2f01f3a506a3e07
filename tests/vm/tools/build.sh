#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: a tool of this directory for a guest. usage: build.sh i386|amd64 rate|typist OUT
# Must not know: what the tools do.
#
# rate is linked with the objects of that guest's hwluks, which are brought up to date first.
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
arch=$1 tool=$2 out=$3
cd "$top"
guest="tests/vm/cc-guest.sh $arch"
libs='' objects=''
if [ "$tool" = rate ]; then
	${MAKE:-make} --no-print-directory "$arch" >/dev/null
	libs='libcryptsetup blkid devmapper libkmod json-c libcrypto'
	objects=$(find "build/$arch/src" -name '*.o' ! -name hwluks.o ! -path '*/cmd/*')
fi
mkdir -p "$(dirname "$out")"
# shellcheck disable=SC2086,SC2046 # flags and files are words
$guest cc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Isrc -Os -g -Wall -Wextra -Werror -Wshadow \
	${libs:+$($guest pkg-config --cflags $libs)} -o "$out" "tests/vm/tools/$tool.c" $objects \
	-fno-lto -Wl,--gc-sections,--as-needed ${libs:+$($guest pkg-config --libs $libs)}
