# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: faults of a Geode engine that the kernel's self-tests cannot see; FAULT is min (only requests of 512 bytes and
#      more) or armed (begins when the script says so).
# Must not know: hwluks.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

k16=000102030405060708090a0b0c0d0e0f
ok 'modprobe' modprobe geode_aes
is 'self-tests passed' "$(crypto_field cbc-aes-geode selftest) $(crypto_field ecb-aes-geode selftest) \
$(crypto_field geode-aes selftest)" 'passed passed passed'
is 'no fault struck yet' "$(hw_faults)" 0
ok 'a volume opens' dmsetup create bad --table "0 512 crypt aes-cbc-plain64 $k16 0 /dev/vda 0"
note map "0 512 512 aes-cbc-plain64 $k16 hwluks fault"
yes 'hwluks fault' | head -c 262144 >/run/plain
if [ "$FAULT" = armed ]; then
	ok 'written while the engine is good' dd if=/run/plain of=/dev/mapper/bad bs=64k oflag=direct
	is 'no fault struck' "$(hw_faults)" 0
	hw_arm on
fi
hw_mark
dd if=/run/plain of=/dev/mapper/bad bs=64k oflag=direct 2>/dev/null
is 'the engine did all of it' "$(hw_ops cbc_enc) $(hw_bytes cbc_enc)" '512 262144'
want=512
[ "$FAULT" = min ] || want=500 # "after" 12
is 'and was wrong as often as asked' "$(hw_faults)" $want
dmsetup remove bad
done_testing
