#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# advise on one spec: the command lines of the 2009 Geode how-to, refusals with the better line, where an error stands.

load lib

setup() {
	export LC_ALL=C
	: "${HWLUKS:?the program under test}"
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	machine=$TOP/tests/machines/alix-2c2-geode-lx800
	out=$BATS_TEST_TMPDIR/out
}

advise() { "$HWLUKS" --sysroot "$machine/root" advise "$@" >"$out" 2>"$out.err"; }

# judge WANT SPEC BITS: WANT is "verdict action data iv tweak nearest", nearest as CIPHER/BITS or none.
judge() {
	local got
	advise --json --cipher "$2" --key-size "$3" || complain "$2 $3: exit $?"
	got=$(jq -r '[.verdict, .action, .data, .iv, .tweak, (if .nearest then "\(.nearest.cipher)/\(.nearest.key_size)" else "none" end)] |
		join(" ")' "$out")
	[ "$got" = "$1" ] || complain "$2 $3: got $got, wanted $1"
}

@test "the how-to's command lines on a Geode: what was slow then is refused now, with the better line" {
	# luksFormat --cipher aes --key-size 128
	judge 'accelerated proceed hardware none none none' aes 128
	judge 'accelerated proceed hardware none none none' aes-cbc-plain 128
	judge 'partly proceed hardware software none none' aes-cbc-essiv:sha256 128
	judge 'accelerated proceed hardware hardware none none' aes-cbc-essiv:md5 128
	# the same without --key-size: cryptsetup takes 256 bits, which the engine leaves to software
	judge 'software refuse software none none aes-cbc-essiv:sha256/128' aes 256
	judge 'software refuse software none none aes-cbc-essiv:sha256/128' aes-cbc-plain 256
	judge 'software refuse software software none aes-cbc-essiv:sha256/128' aes-cbc-essiv:sha256 256
	judge 'accelerated proceed hardware none hardware none' aes-xts-plain 256
	judge 'software refuse software none software aes-xts-plain64/256' aes-xts-plain64 512
	all_right
}

@test "key size left out: cryptsetup's default, said in the answer" {
	advise --cipher aes-cbc-plain64
	grep -qx 'aes-cbc-plain64, 256-bit key' "$out"
	advise --cipher aes-xts-plain64
	grep -qx 'aes-xts-plain64, 512-bit key' "$out"
}

@test "a refusal says why, what exit code, and has a line to paste that is then accepted" {
	advise --cipher aes-cbc-plain64 --key-size 256
	grep -q 'takes keys' "$out"
	grep -q 'exit 10' "$out"
	line=$(tail -1 "$out")
	[ "$line" = '    --cipher aes-cbc-essiv:sha256 --key-size 128' ]
	# shellcheck disable=SC2086 # words of a command line
	advise --json $line
	jq -e '.action == "proceed" and .data == "hardware"' "$out"
}

@test "weak classes: warned, and what hwluks itself would take is named" {
	for spec in aes aes-cbc-plain aes-cbc-plain64 aes-cbc-essiv:md5 aes-ecb; do
		advise --cipher "$spec" --key-size 128
		tail -1 "$out" | grep -qx '    --cipher aes-xts-plain64 --key-size 256' || complain "$spec: $(cat "$out")"
		advise --json --cipher "$spec" --key-size 128
		jq -e '[.reasons[].code] | index("weak-class") or index("ecb")' "$out" >/dev/null || complain "$spec: no warning"
	done
	all_right
}

@test "ESSIV hashes: sha256 and md5 work, the others give no AES key" {
	judge 'partly proceed hardware software none none' aes-cbc-essiv:sha256 128
	for hash in sha1 sha224 sha384 sha512 rmd160 nohash; do
		judge 'impossible refuse none none none none' "aes-cbc-essiv:$hash" 128
		jq -e '[.reasons[].code] == ["essiv-hash"]' "$out" >/dev/null || complain "$hash: $(cat "$out")"
	done
	all_right
}

@test "other ciphers asked for by name proceed, with a note" {
	judge 'software proceed software none none none' xchacha12,aes-adiantum-plain64 256
	judge 'software proceed software none software none' serpent-xts-plain64 512
	jq -e '[.reasons[].code] | index("other-cipher")' "$out"
	judge 'software proceed software software none none' twofish-cbc-essiv:sha256 256
	all_right
}

@test "before the driver is loaded the answer is the one after loading" {
	machine=$TOP/tests/machines/alix-2c2-geode-lx800-unloaded
	judge 'partly proceed hardware software none none' aes-cbc-essiv:sha256 128
	judge 'accelerated proceed hardware none hardware none' aes-xts-plain64 256
	judge 'software refuse software none none aes-cbc-essiv:sha256/128' aes-cbc-plain64 256
	all_right
}

@test "the engine failed its self-test: nothing is refused in its favour" {
	machine=$TOP/tests/machines/alix-2c2-geode-lx800-broken
	judge 'software proceed software none none none' aes-cbc-plain64 128
	jq -e '[.reasons[].code] | index("selftest-failed") and index("old-kernel")' "$out"
	judge 'software proceed software software none none' aes-cbc-essiv:sha256 256
	all_right
}

@test "the guest's recordings answer as its engine's counters did" {
	machine=$TOP/tests/machines/vm-geode-6.1-i386
	judge 'accelerated proceed hardware none none none' aes-cbc-plain64 128
	judge 'software refuse software none none aes-cbc-essiv:sha256/128' aes-cbc-plain64 256
	judge 'partly proceed hardware software none none' aes-cbc-essiv:sha256 128
	judge 'accelerated proceed hardware hardware none none' aes-cbc-essiv:md5 128
	judge 'software refuse software software none aes-cbc-essiv:sha256/128' aes-cbc-essiv:sha256 256
	judge 'accelerated proceed hardware none hardware none' aes-xts-plain64 256
	judge 'software refuse software none software aes-xts-plain64/256' aes-xts-plain64 512
	judge 'accelerated proceed hardware none none none' aes-ecb 128
	machine=$TOP/tests/machines/vm-padlock-6.1-amd64
	for bits in 128 256; do
		judge 'accelerated proceed hardware none none none' aes-cbc-plain64 $bits
		judge 'accelerated proceed hardware hardware none none' aes-cbc-essiv:sha256 $bits
		judge 'accelerated proceed hardware none hardware none' aes-xts-plain64 $((2 * bits))
	done
	machine=$TOP/tests/machines/vm-virtio-crypto-6.1-amd64
	judge 'software proceed software none none none' aes-cbc-plain64 128
	jq -e '[.reasons[].code] | index("memory-flag")' "$out"
	judge 'impossible refuse none none none none' capi:virtio_crypto_aes_cbc-plain64 128
	all_right
}

# caret SPEC COLUMN LENGTH PATTERN: exit 1, a message with PATTERN, and a mark under the piece that is wrong.
caret() {
	local mark line rc=0
	advise --cipher "$1" || rc=$?
	[ $rc = 1 ] || complain "$1: exit $rc"
	[ ! -s "$out" ] || complain "$1: something on standard output"
	grep -q -- "$4" "$out.err" || complain "$1: $(cat "$out.err")"
	line=$(sed -n 1p "$out.err")
	mark=$(sed -n 2p "$out.err")
	[ "${line:17:${#1}}" = "$1" ] || complain "$1: the spec does not stand where the mark expects it"
	[ "$mark" = "$(printf 'hwluks:%*s%s' $((10 + $2)) '' "$(printf '^%*s' $(($3 - 1)) '' | tr ' ' '~')")" ] ||
		complain "$1: mark at the wrong place: $mark"
}

@test "an error in a spec is marked where it stands" {
	caret aes-cbc-essiv 8 5 'needs a hash'
	caret aes-xts-plain65 8 7 'no IV generator'
	caret 'capi:xts(aes-plain64' 8 1 'no partner'
	caret aes-cbc 7 1 'needs an IV generator'
	caret 'aes-xts-plain64!' 15 1 "can't stand"
	advise --cipher "capi:xts(ecb($(printf 'x%.0s' {1..90})))(-plain64" || rc=$?
	[ "$rc" = 1 ] && [ "$(wc -L <"$out.err")" -le 79 ] || complain "a long spec: $(cat "$out.err")"
	column=$(sed -n '3s/\^.*//p' "$out.err")
	line=$(sed -n 2p "$out.err")
	[ "${line:${#column}:1}" = '(' ] || complain "a long spec: $(cat "$out.err")"
	all_right
}

@test "numbers that cannot be are refused before anything is looked at" {
	for a in '--cipher aes-xts-plain64 --key-size 100' '--cipher aes-xts-plain64 --sector-size 700' '--sector-size 256' \
		'--key-size 128' '--cipher aes-xts-plain64 --key-size many'; do
		rc=0
		# shellcheck disable=SC2086 # words of a command line
		advise $a || rc=$?
		[ $rc = 1 ] && [ ! -s "$out" ] && [ "$(wc -l <"$out.err")" = 1 ] || complain "$a: exit $rc, $(cat "$out.err")"
	done
	all_right
}

@test "sector size goes through to the nearest spec" {
	advise --json --cipher aes-cbc-plain64 --key-size 256 --sector-size 4096
	jq -e '.nearest.sector_size == 4096 and .spec.sector_size == 4096' "$out"
	advise --cipher aes-cbc-plain64 --key-size 256 --sector-size 4096
	tail -1 "$out" | grep -qx '    --cipher aes-cbc-essiv:sha256 --key-size 128 --sector-size 4096'
}

@test "verdict impossible is exit 0 too: advise answers, format refuses" {
	advise --cipher aes-cbc-essiv:sha1 --key-size 128
	grep -q 'exit 1' "$out"
}

@test "IV generators that work on the sector in software are no full acceleration" {
	for spec in aes-cbc-elephant aes-cbc-lmk; do
		run "$HWLUKS" --sysroot "$BATS_TEST_DIRNAME/../machines/vm-geode-6.1-i386/root" advise --json -c $spec -s 128
		[[ $output != *'"verdict": "accelerated"'* ]]
		[[ $output == *'"iv": "software"'* || $output == *'"verdict": "impossible"'* ]]
	done
}
