# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: faults on a Geode: a 256-bit key that its driver computes in software (CASE=key), a self-test that failed (CASE=selftest).
# Must not know: how doctor decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh
# shellcheck source=tests/vm/doctor-lib.sh
. /tests/doctor-lib.sh

luks() {
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --cipher aes-cbc-essiv:sha256 --key-size "$1" \
		$disk $pw && cryptsetup open --key-file $pw $disk home
}

next_slot
modprobe geode_aes
case $CASE in
key)
	ok 'a volume with a 256-bit key' luks 256
	is 'the driver is bound' "$(crypto_field 'essiv(cbc-aes-geode,sha256-generic)' refcnt)" 2
	names_first '256-bit key' key-size=warning 12 home
	like '256-bit key: what helps' "$(cat /run/doctor.json)" '*--cipher aes-cbc-essiv:sha256 --key-size 128*'
	hw_mark
	ok 'read' dd if=/dev/mapper/home of=/dev/null bs=64k count=4 iflag=direct
	is '256-bit key: the engine does nothing' "$(hw_ops all)" 0
	cryptsetup close home
	ok 'a new volume as doctor said' luks 128
	gone '256-bit key' key-size home
	;;
selftest)
	ok 'a volume' luks 128
	names_first 'self-test failed' self-test-failed=problem 12
	;;
esac
done_testing
