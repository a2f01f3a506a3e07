# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: an engine that stops answering; FAULT is load or armed. One CPU.
# Must not know: hwluks. Nothing here puts the driver out of the way, so no second volume is tried on it.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

k16=000102030405060708090a0b0c0d0e0f
if [ "$FAULT" = load ]; then
	modprobe geode_aes &
	loader=$!
	tenths=0
	until dmesg | grep -q 'kernel BUG at drivers/crypto/geode-aes.c' || [ $tenths -ge 600 ]; do
		sleep 0.1
		tenths=$((tenths + 1))
	done
	cmp_ok 'the log has the BUG' $tenths -lt 600
	sleep 1
	like 'modprobe does not come back' "$(cat /proc/$loader/stat)" "$loader (modprobe) [DS] *"
	# A loader that is killed registers the next algorithms, and for each the kernel may start a test, which spins on
	# the lock of the dead one with interrupts off: the end of a machine with one CPU. One that is not killed keeps
	# the device locked, and the machine does not power off. So: no more tests, then the kill.
	echo 1 >/sys/module/cryptomgr/parameters/notests
	kill -9 $loader
	rc=0
	wait $loader || rc=$?
	is 'modprobe ends when it is killed' $rc 137
	diag "up $(cut -d' ' -f1 /proc/uptime)"
	hw_mark
	rc=0
	with_limit 20 dmsetup create soft --table "0 512 crypt aes-cbc-plain64 $k16 0 /dev/vda 0" || rc=$?
	is 'a volume opens in software' $rc 0
	note map "0 512 512 aes-cbc-plain64 $k16 hwluks fault"
	yes 'hwluks fault' | head -c 262144 >/run/plain
	rc=0
	with_limit 20 dd if=/run/plain of=/dev/mapper/soft bs=64k oflag=direct || rc=$?
	is 'and is written' $rc 0
	is 'without the engine' "$(hw_ops all)" 0
	dmsetup remove soft
else
	ok 'modprobe' modprobe geode_aes
	is 'self-test' "$(crypto_field cbc-aes-geode selftest)" passed
	ok 'a volume opens' dmsetup create bad --table "0 512 crypt aes-cbc-plain64 $k16 0 /dev/vda 0"
	ok 'and is written' dd if=/dev/zero of=/dev/mapper/bad bs=64k count=2 oflag=direct
	hw_arm on
	rc=0
	with_limit 15 dd if=/dev/zero of=/dev/mapper/bad bs=64k count=2 oflag=direct || rc=$?
	isnt 'once it hangs, a write does not succeed' $rc 0
	diag "dd: exit code $rc, up $(cut -d' ' -f1 /proc/uptime)"
	like 'the log has the BUG' "$(dmesg)" '*kernel BUG at drivers/crypto/geode-aes.c*'
	cmp_ok 'the fault struck' "$(hw_faults)" -ge 1
	ok 'the machine goes on' dd if=/dev/zero of=/dev/vda bs=64k seek=16 count=1 oflag=direct
fi
done_testing
