# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: what a Geode engine that is broken from the start looks like to the kernel; FAULT says how it is broken.
# Must not know: hwluks.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

k16=000102030405060708090a0b0c0d0e0f
state() { crypto_field "$1" selftest; }

ok 'modprobe succeeds all the same' modprobe geode_aes
like 'the log praises it' "$(dmesg)" '*GEODE AES engine enabled*'
is 'cbc-aes-geode stays listed with its priority' "$(crypto_field cbc-aes-geode priority)" 400
if [ "$FAULT" = notests ]; then
	is 'without self-tests a broken engine passes' \
		"$(state cbc-aes-geode) $(state ecb-aes-geode) $(state geode-aes)" 'passed passed passed'
else
	like 'the log tells of the failed self-test' "$(dmesg)" \
		'*alg: self-tests for cbc(aes) using cbc-aes-geode failed (rc=-22)*'
fi
case $FAULT in
data) is 'no algorithm passed' \
	"$(state cbc-aes-geode) $(state ecb-aes-geode) $(state geode-aes)" 'unknown unknown unknown' ;;
iv) is 'only cbc failed' \
	"$(state cbc-aes-geode) $(state ecb-aes-geode) $(state geode-aes)" 'unknown passed passed' ;;
esac

hw_mark
ok 'a volume opens' dmsetup create bad --table "0 512 crypt aes-cbc-plain64 $k16 0 /dev/vda 0"
ok 'as a block device' is_block /dev/mapper/bad
note map "0 512 512 aes-cbc-plain64 $k16 hwluks fault"
yes 'hwluks fault' | head -c 262144 >/run/plain
ok 'and is written' dd if=/run/plain of=/dev/mapper/bad bs=64k oflag=direct
dd if=/dev/mapper/bad of=/run/back bs=64k iflag=direct 2>/dev/null
if [ "$FAULT" = notests ]; then
	is 'all of it by the broken engine' "$(hw_ops cbc_enc)" 512
	must_fail 'it does not even read back' cmp /run/plain /run/back
else
	is 'none of it by the broken engine' "$(hw_ops all)" 0
	ok 'it reads back' cmp /run/plain /run/back
fi
ok 'closes' dmsetup remove bad
done_testing
