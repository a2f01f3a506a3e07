# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: proving in a guest, without hwluks, that the PadLock model and the real padlock-aes driver serve
#      dm-crypt: what the kernel shows, what each mapping sends through the "engine", what faults do.
# Must not know: hwluks, nor how the guest was booted. Needs /padlock_model.ko and the disk /dev/vda.

# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

disk=/dev/vda
model=/sys/module/padlock_model/parameters
sectors=2048
bytes=$((sectors * 512))
tweaks=$((sectors * 16)) # one block for each sector: an ESSIV IV or an XTS tweak
k128=000102030405060708090a0b0c0d0e0f
k256=${k128}101112131415161718191a1b1c1d1e1f
k512=${k256}202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f

# Opens a mapping of the test's size. $1: name; $2: spec; $3: key; $4: first sector of the disk.
map() {
	dmsetup create "$1" --table "0 $sectors crypt $2 $3 0 $disk $4" && is_block "/dev/mapper/$1"
}

# What is written to a mapping: the same for ciphertext on the host. $1: name.
pattern() {
	yes "hwluks rig $1" | head -c $bytes
}
put() {
	pattern "$1" | dd of="/dev/mapper/$1" bs=64k iflag=fullblock oflag=direct
}
got_back() {
	dd if="/dev/mapper/$1" of=/tmp/back bs=64k iflag=direct && pattern "$1" | cmp - /tmp/back
}

# Bytes through the engine since hw_mark, all four directions.
through() {
	echo "ecb out $(hw_bytes ecb_enc) in $(hw_bytes ecb_dec), cbc out $(hw_bytes cbc_enc) in $(hw_bytes cbc_dec)"
}

# One mapping: opens on the driver named, and exactly the expected bytes go through the engine.
# $1: name; $2: spec; $3: key; $4: driver or template instance that must be held; $5, $6: what must have
# gone through after writing all of it, and after reading all of it (from a new mark).
mapping() {
	held=$(crypto_field "$4" refcnt)
	ok "$1: opens as $2 with $((${#3} * 4)) key bits" map "$1" "$2" "$3" $next || return 0
	cmp_ok "$1: $4 is held while it is open" "$(crypto_field "$4" refcnt)" -gt "${held:-1}"
	hw_mark
	ok "$1: written" put "$1"
	is "$1: written by the engine" "$(through)" "$5"
	hw_mark
	ok "$1: reads back" got_back "$1"
	is "$1: read by the engine" "$(through)" "$6"
	ok "$1: closes" dmsetup remove "$1"
	note ciphertext "$1 $2 $3 $next $sectors"
	next=$((next + sectors))
}

# One mapping that must come about in software, whole and right. $1: name; $2: spec; $3: key.
software() {
	ok "fault from load: $1: $2 opens" map "$1" "$2" "$3" $next || return 0
	ok "fault from load: $1: written" put "$1"
	ok "fault from load: $1: reads back" got_back "$1"
	ok "fault from load: $1: closes" dmsetup remove "$1"
	case $2 in
	capi:*) ;;
	*) note ciphertext "$1 $2 $3 $next $sectors" ;;
	esac
	next=$((next + sectors))
}

# Loads the driver anew, so that its self-tests run again.
driver_again() {
	rmmod padlock_aes 2>/dev/null
	/sbin/modprobe padlock_aes
}

# --- what the kernel shows ----------------------------------------------------------------------
must_fail 'without the model padlock_aes does not load' /sbin/modprobe padlock_aes
unlike 'and /proc/cpuinfo shows no ACE' "$(grep -m1 ^flags /proc/cpuinfo) " '* ace *'
vendor=$(grep -m1 ^vendor_id /proc/cpuinfo)
modalias=$(cat /sys/devices/system/cpu/modalias)
ok 'the model loads' insmod /padlock_model.ko
must_fail 'but not over a CPU that has PadLock' insmod /padlock_model.ko
like 'flags in /proc/cpuinfo' "$(grep -m1 ^flags /proc/cpuinfo) " '* ace ace_en *'
unlike 'XSTORE is left off' "$(grep -m1 ^flags /proc/cpuinfo) " '* rng *'
like 'vendor in /proc/cpuinfo' "$(grep -m1 ^vendor_id /proc/cpuinfo)" '*CentaurHauls'
like 'CPU modalias' "$(cat /sys/devices/system/cpu/modalias)" '*,00A6,00A7,*'

# --- an engine that is broken from the start ------------------------------------------------------
# The self-tests see it and the driver stays listed, untested. A name that no tested algorithm serves
# can't be opened then, software or not (crypto_alg_lookup() in 6.1's crypto/api.c), until something
# asks for the software one by its full name. cbc(aes-generic) is there since boot on Debian's kernel.
none='ecb out 0 in 0, cbc out 0 in 0'
next=0
echo 1 >$model/fault
ok 'fault from load: the driver loads all the same' /sbin/modprobe padlock_aes
for d in cbc-aes-padlock ecb-aes-padlock aes-padlock; do
	is "fault from load: $d: self-test" "$(crypto_field $d selftest)" unknown
done
hw_mark
software cbcsoft aes-cbc-plain64 $k128
must_fail 'fault from load: no aes-xts while the kernel has no other ecb(aes)' \
	dmsetup create xts --table "0 $sectors crypt aes-xts-plain64 $k512 0 $disk $next"
software xtsname 'capi:xts(ecb(aes-generic))-plain64' $k512
software xtssoft aes-xts-plain64 $k512
is 'fault from load: nothing through the engine' "$(through)" "$none"
ok 'fault from load: the driver unloads' rmmod padlock_aes

# --- a sound engine ------------------------------------------------------------------------------
echo 0 >$model/fault
hw_mark
ok 'the CPU modalias loads padlock_aes' /sbin/modprobe "$(cat /sys/devices/system/cpu/modalias)"
for d in cbc-aes-padlock ecb-aes-padlock aes-padlock; do
	is "$d: self-test" "$(crypto_field $d selftest)" passed
done
is 'cbc-aes-padlock: priority' "$(crypto_field cbc-aes-padlock priority)" 400
is 'aes-padlock: priority' "$(crypto_field aes-padlock priority)" 300
diag "self-tests: $(through)"
cmp_ok 'the self-tests ran on the engine' "$(hw_ops all)" -gt 100
must_fail 'the model stays while the driver is there' rmmod padlock_model

# --- every mapping: nothing but the engine -------------------------------------------------------
cbc_w="ecb out 0 in 0, cbc out $bytes in 0"
cbc_r="ecb out 0 in 0, cbc out 0 in $bytes"
essiv_w="ecb out $tweaks in 0, cbc out $bytes in 0"
essiv_r="ecb out $tweaks in 0, cbc out 0 in $bytes"
xts_w="ecb out $((bytes + tweaks)) in 0, cbc out 0 in 0"
xts_r="ecb out $tweaks in $bytes, cbc out 0 in 0"
essiv='essiv(cbc-aes-padlock,sha256-generic)'
mapping cbc128 aes-cbc-plain64 $k128 cbc-aes-padlock "$cbc_w" "$cbc_r"
mapping cbc256 aes-cbc-plain64 $k256 cbc-aes-padlock "$cbc_w" "$cbc_r"
mapping essiv128 aes-cbc-essiv:sha256 $k128 "$essiv" "$essiv_w" "$essiv_r"
mapping essiv256 aes-cbc-essiv:sha256 $k256 "$essiv" "$essiv_w" "$essiv_r"
mapping xts256 aes-xts-plain64 $k256 'xts(ecb-aes-padlock)' "$xts_w" "$xts_r"
mapping xts512 aes-xts-plain64 $k512 'xts(ecb-aes-padlock)' "$xts_w" "$xts_r"
mapping ecb128 aes-ecb $k128 ecb-aes-padlock "ecb out $bytes in 0, cbc out 0 in 0" \
	"ecb out 0 in $bytes, cbc out 0 in 0"

# --- engines that break later ------------------------------------------------------------------------------
# Data fault in large requests only: the kernel's self-tests, of less than 512 bytes, see nothing.
echo 512 >$model/fault_min
echo 1 >$model/fault
ok 'fault from 512 bytes on: the driver loads' driver_again
is 'fault from 512 bytes on: self-test' "$(crypto_field cbc-aes-padlock selftest)" passed
ok 'fault from 512 bytes on: mapping opens' map big aes-cbc-plain64 $k128 $next
ok 'fault from 512 bytes on: written' put big
must_fail 'fault from 512 bytes on: reads back wrong' got_back big
ok 'fault from 512 bytes on: mapping closes' dmsetup remove big

# Data fault after N operations: the first data is right.
echo 0 >$model/fault
echo 0 >$model/fault_min
ok 'fault after 2048 operations: the driver loads' driver_again
echo 3072 >$model/fault_after
ok 'fault after 2048 operations: mapping opens' map late aes-cbc-plain64 $k128 $next
echo reset >/proc/padlock_model
echo 1 >$model/fault
ok 'fault after 2048 operations: written' put late
must_fail 'fault after 2048 operations: the second half of the reading is wrong' got_back late
is 'fault after 2048 operations: number of faults' "$(sed -n 's/^faults //p' /proc/padlock_model)" 1024
is 'fault after 2048 operations: first wrong byte' \
	"$(pattern late | cmp - /tmp/back 2>&1 | sed 's/.*\(byte\|char\) \([0-9]*\).*/\2/')" \
	$((bytes / 2 + 512))
ok 'fault after 2048 operations: mapping closes' dmsetup remove late

# --- gone without a trace ------------------------------------------------------------------------
ok 'the driver unloads' rmmod padlock_aes
ok 'the model unloads' rmmod padlock_model
unlike 'no ACE in /proc/cpuinfo' "$(grep -m1 ^flags /proc/cpuinfo) " '* ace *'
is 'vendor as before' "$(grep -m1 ^vendor_id /proc/cpuinfo)" "$vendor"
is 'CPU modalias as before' "$(cat /sys/devices/system/cpu/modalias)" "$modalias"
must_fail 'padlock_aes does not load any more' /sbin/modprobe padlock_aes
# a self-test that fails is a WARNING in testmgr.c
is 'no oops, no other warning' "$(dmesg | grep -E 'Oops|BUG:|WARNING:' | grep -vc 'crypto/testmgr\.c')" 0
done_testing
