# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the command lines of a how-to of 2009 for Geode LX boards, with hwluks for cryptsetup: each gets the answer that its
#      user needs.
# Must not know: how hwluks decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

# As typed then, with the answers to the questions given by options. $1: exit code; $2: description; rest: options.
typed() {
	t_rc=$1 t_what=$2
	shift 2
	# shellcheck disable=SC2086
	run "$t_rc" "$t_what" hwluks --json luksFormat $fast --key-file $pw "$@" $disk
}

next_slot
typed 0 'luksFormat --cipher aes --key-size 128' --cipher aes --key-size 128
is 'it is aes-cbc-plain' "$(json cipher)" aes-cbc-plain
is 'the engine takes it' "$(json verdict)" accelerated
like 'and its weakness is told' "$(cat "$OUT")" '*weak-class*'
ok 'luksOpen' hwluks luksOpen --key-file $pw $disk crypt
hw_mark
ok 'dd of zeros in 16 KiB blocks' dd if=/dev/zero of=/dev/mapper/crypt bs=16384 count=64 oflag=direct
is 'all of it on the engine' "$(hw_bytes cbc_enc)" 1048576
ok 'luksClose' hwluks luksClose crypt
next_slot
typed 0 'aes-cbc-plain 128' --cipher aes-cbc-plain --key-size 128
next_slot
typed 0 'aes-cbc-essiv:sha256 128' --cipher aes-cbc-essiv:sha256 --key-size 128
is 'data on the engine, IV in software' "$(json data) $(json iv)" 'hardware software'
next_slot
typed 0 'aes-cbc-essiv:md5 128, the way round an error of old kernels' --cipher aes-cbc-essiv:md5 --key-size 128
like 'its weakness is told' "$(cat "$OUT")" '*weak-class*'
next_slot
typed 10 'aes without a key size is 256 bits: refused' --cipher aes
is 'the nearest spec' "$(sed -n '/"nearest"/,/}/p' "$OUT" | tr -d ' \n')" \
	'"nearest":{"cipher":"aes-cbc-essiv:sha256","key_size":128,"sector_size":512},'
done_testing
