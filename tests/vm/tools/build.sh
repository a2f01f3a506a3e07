#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: `rate` for a guest, from the objects of that guest's hwluks. usage: build.sh i386|amd64 OUT
# Must not know: what the tool does.
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
arch=$1 out=$2
cd "$top"
${MAKE:-make} --no-print-directory "$arch" >/dev/null
guest="tests/vm/cc-guest.sh $arch"
libs='libcryptsetup blkid devmapper libkmod json-c libcrypto'
objects=$(find "build/$arch/src" -name '*.o' ! -name hwluks.o ! -path '*/cmd/*')
mkdir -p "$(dirname "$out")"
# shellcheck disable=SC2086,SC2046 # flags and files are words
$guest cc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Isrc -Os -g -Wall -Wextra -Werror \
	$($guest pkg-config --cflags $libs) -o "$out" tests/vm/tools/rate.c $objects \
	-fno-lto -Wl,--gc-sections,--as-needed $($guest pkg-config --libs $libs)
