#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# Wrong usage: exit code 1, one line that says what is wrong, nothing on standard output, nothing done. Help fits the terminal.

load lib

setup() {
	export LC_ALL=C
	: "${HWLUKS:?the program under test}"
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	root=$TOP/tests/machines/vm-geode-6.1-i386/root
	out=$BATS_TEST_TMPDIR/out
	cd "$BATS_TEST_TMPDIR"
}

# refuses PATTERN ARG...
refuses() {
	local pattern=$1 rc=0
	shift
	"$HWLUKS" "$@" >"$out" 2>"$out.err" </dev/null || rc=$?
	[ $rc = 1 ] || complain "$*: exit $rc"
	[ ! -s "$out" ] || complain "$*: something on standard output"
	[ "$(wc -l <"$out.err")" = 1 ] || complain "$*: $(wc -l <"$out.err") lines of messages"
	grep -q "^hwluks: .*$pattern" "$out.err" || complain "$*: $(cat "$out.err")"
}

commands() { "$HWLUKS" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p'; }

@test "unknown commands and options" {
	refuses "Unknown command 'nosuch'.*--help" nosuch
	refuses "Unknown command 'Detect'" Detect
	refuses "Unknown option '--nosuch'" --nosuch
	refuses "Unknown option '--nosuch'" detect --nosuch
	refuses "Unknown option" -x
	refuses "Unknown option '--json=1'" detect --json=1
	all_right
}

@test "too few and too many arguments" {
	for c in format open close status refresh luksFormat luksOpen luksClose; do
		refuses "takes .*0 arguments were given.*--help" "$c"
	done
	refuses 'takes .*2 arguments' detect a b
	refuses 'takes .*2 arguments' advise a b
	refuses 'takes .*2 arguments' format a b
	refuses 'takes .*3 arguments' open a b c
	refuses 'takes .*2 arguments' close a b
	refuses 'takes .*2 arguments' status a b
	refuses 'NAME' open a
	all_right
}

@test "options that belong to another command" {
	refuses '--cipher is not allowed' detect --cipher aes-xts-plain64
	refuses '--adapt is not allowed' open --adapt a b
	refuses '--force is not allowed' format --force a
	refuses '--dry-run is not allowed' advise --dry-run
	refuses '--deferred is not allowed' open --deferred a b
	refuses '--wipe-signatures is not allowed' load --wipe-signatures
	refuses '--key-file is not allowed' status --key-file x a
	all_right
}

@test "values that are missing or wrong" {
	refuses '--cipher needs SPEC' advise --cipher
	refuses '--iter-time: .abc. is not a whole number' format --iter-time abc x
	refuses '--key-size: .99999. is not' format --key-size 99999 x
	refuses '--key-size: .-1. is not' format --key-size -1 x
	for o in key-size sector-size; do
		refuses "--$o: .0. is not a whole number from 1" advise --cipher aes-xts-plain64 --$o 0
	done
	for o in key-size sector-size iter-time pbkdf-memory pbkdf-parallel pbkdf-force-iterations; do
		refuses "--$o: .0. is not a whole number from 1" format --$o 0 x
	done
	refuses '--wait: .601. is not' load --wait 601
	refuses '--key-slot: .32. is not' open --key-slot 32 a b
	refuses '--keyfile-size: .10Q. is not a size' open --keyfile-size 10Q a b
	refuses 'key-size goes with --cipher' advise --key-size 256
	all_right
}

@test "a recorded machine: only what works on one" {
	refuses 'this machine only' --sysroot "$root" format x
	refuses 'this machine only' --sysroot "$root" luksFormat x
	refuses 'this machine only' --sysroot "$root" open x y
	refuses 'this machine only' --sysroot "$root" close x
	refuses 'this machine only' --sysroot "$root" status x
	refuses 'this machine only' --sysroot "$root" refresh x
	refuses 'add --dry-run' --sysroot "$root" load
	refuses 'no devices' --sysroot "$root" detect /dev/null
	refuses 'No such file' --sysroot "$BATS_TEST_TMPDIR/nowhere" detect
	refuses 'no accelerator, module or driver' --sysroot "$root" load --dry-run nosuch
	touch file
	refuses 'Not a directory' --sysroot file detect
	all_right
}

@test "no command: the usage on standard error, exit 1" {
	rc=0
	"$HWLUKS" >"$out" 2>"$out.err" || rc=$?
	[ $rc = 1 ]
	[ ! -s "$out" ]
	grep -q '^Usage: hwluks' "$out.err"
}

@test "an empty directory as a recorded machine: says what it could not read, claims nothing" {
	mkdir empty
	"$HWLUKS" --sysroot empty detect --json >"$out"
	jq -e '(.accelerators == []) and (.unread | length > 3) and (.kernel == null)' "$out"
	"$HWLUKS" --sysroot empty advise --json >"$out"
	jq -e '.verdict == "unknown" and .driver == null' "$out"
	"$HWLUKS" --sysroot empty load --dry-run --json >"$out"
	jq -e '.plan == []' "$out"
}

@test "help: exit 0, on standard output, with or without arguments, for aliases too" {
	for a in --help '-?' '-v?' '-?v' 'detect --help' 'format --help' 'luksFormat --help' 'luksOpen --help' 'luksClose --help' '--help open' 'load -? x y'; do
		# shellcheck disable=SC2086 # words of a command line
		"$HWLUKS" $a >"$out" 2>"$out.err" || complain "$a: exit $?"
		head -1 "$out" | grep -q '^Usage: hwluks' || complain "$a: $(head -1 "$out")"
		[ ! -s "$out.err" ] || complain "$a: $(cat "$out.err")"
	done
	all_right
}

@test "help of every command fits 80 columns" {
	[ "$(commands | wc -l)" -ge 7 ]
	for c in '' $(commands); do
		# shellcheck disable=SC2086 # no command is no word
		"$HWLUKS" $c --help >"$out"
		awk -v c="$c" 'length($0) > 79 { print c ": " $0; bad = 1 } / $/ { print c ": blank at the end"; bad = 1 } END { exit bad }' "$out" || complain "$c"
	done
	all_right
}

@test "aliases are the commands" {
	for pair in luksFormat:format luksOpen:open luksClose:close; do
		"$HWLUKS" "${pair%:*}" --help >"$out.1"
		"$HWLUKS" "${pair#*:}" --help >"$out.2"
		cmp "$out.1" "$out.2" || complain "$pair"
	done
	all_right
}

@test "the version" {
	[ "$("$HWLUKS" --version | wc -l)" = 1 ]
	"$HWLUKS" -V | grep -q '^hwluks [^ ]*$'
}

@test "options before and after the command, and after the arguments" {
	"$HWLUKS" --json --sysroot "$root" detect >"$out.1"
	"$HWLUKS" detect --sysroot "$root" --json >"$out.2"
	"$HWLUKS" --sysroot="$root" load geode-lx --json --dry-run >"$out.3"
	cmp "$out.1" "$out.2"
	jq -e '.plan | length == 1' "$out.3"
}

@test "a result that cannot be written is an error" {
	[ -c /dev/full ] || skip 'no /dev/full'
	rc=0
	"$HWLUKS" --sysroot "$root" detect >/dev/full 2>"$out.err" || rc=$?
	[ $rc = 1 ]
	grep -q 'Cannot write' "$out.err"
}
