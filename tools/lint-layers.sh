#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: lint: the one-way dependencies of the layers in src, by what each file includes.
# Must not know: what a layer does.
#
# lint-layers.sh [TREE]    TREE: where src and tests are; default: the folder above this script's
set -eu
cd "${1:-$(dirname "$0")/..}"

# $1: a layer. Prints the layers its files may include, itself among them.
may_include() {
	case $1 in
	util) echo util ;;
	core) echo core util ;;
	doctor) echo doctor core util ;;
	sys) echo sys core util ;;
	vol) echo vol sys core util ;;
	fill) echo fill vol sys core util ;;
	cmd | main) echo cmd doctor fill vol sys core util ;;
	esac
}

# $1: a layer, $2: a system header. Status 0 when that layer may include it.
may_use() {
	case $2 in
	openssl/*) [ "$1" = vol ] || [ "$1" = fill ] ;;
	libcryptsetup.h | libdevmapper.h) [ "$1" = vol ] ;;
	libkmod.h | blkid/*) [ "$1" = sys ] ;;
	json-c/*) [ "$1" = util ] ;;
	# pure: text and structs in, structs out
	ctype.h | errno.h | inttypes.h | limits.h | stdarg.h | stdbool.h | stddef.h | stdint.h | stdio.h | stdlib.h | string.h | strings.h) ;;
	*) [ "$1" != core ] && [ "$1" != doctor ] ;;
	esac
}

bad=0
complain() {
	echo "$*"
	bad=1
}

files=$(find src -name '*.[ch]' -o -name '*.def' | sort)
[ -n "$files" ] || complain 'no source file found'
for f in $files; do
	case $f in
	src/*/*/*) complain "$f: a folder in a layer" ;;
	src/*/*) layer=${f#src/} layer=${layer%%/*} ;;
	*) layer=main ;;
	esac
	allowed=$(may_include "$layer")
	[ -n "$allowed" ] || complain "$f: '$layer' is no layer"
	names=$(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$f")
	for header in $names; do
		case $header in
		*/internal.h | */*_private.h)
			[ "${header%%/*}" = "$layer" ] || complain "$f: includes $header, which is private to its layer" ;;
		esac
		case " $allowed " in
		*" ${header%%/*} "*) ;;
		*) complain "$f: layer $layer includes \"$header\"; it may include: $allowed" ;;
		esac
		[ -e "src/$header" ] || complain "$f: includes \"$header\", which is not below src"
	done
	names=$(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*<\([^>]*\)>.*/\1/p' "$f")
	for header in $names; do
		may_use "$layer" "$header" || complain "$f: layer $layer includes <$header>"
	done
done

# Tests of the pure layers reach nothing else.
for f in tests/unit/test_*.c; do
	[ -e "$f" ] || continue
	names=$(sed -n 's/^#include "\([a-z]*\/.*\)"/\1/p' "$f")
	for header in $names; do
		case $header in
		core/* | doctor/* | util/*) ;;
		*) complain "$f: a test of the pure layers includes \"$header\"" ;;
		esac
	done
done
exit "$bad"
