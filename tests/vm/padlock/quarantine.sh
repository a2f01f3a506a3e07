# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: proving in a guest, without hwluks, what keeps dm-crypt away from a driver that gives wrong data and
#      opens no software fallback of its own (padlock-aes): not its priority alone, nor unloading it.
# Must not know: hwluks. Needs /padlock_model.ko, /crypto_user and the disk /dev/vda.
#
# Why (6.1, crypto/api.c and algapi.c): a template like cbc(aes-generic) is only built when no algorithm of
# the wanted name is listed, and what was built on aes-generic is unlinked when a better "aes" passes its
# self-tests. So after padlock-aes has loaded, it is alone in serving cbc(aes), at whatever priority.

# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

disk=/dev/vda
bytes=1048576
k256=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
k512=${k256}202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f

map() {
	dmsetup create m --table "0 $((bytes / 512)) crypt $1 $2 0 $disk 0" && is_block /dev/mapper/m
}
unmap() {
	dmsetup remove m
}
data_right() {
	yes quarantine | dd of=/dev/mapper/m bs=64k count=16 iflag=fullblock oflag=direct &&
		dd if=/dev/mapper/m of=/tmp/back bs=64k iflag=direct &&
		yes quarantine | head -c $bytes | cmp - /tmp/back
}

# $1: description; $2: spec; $3: key. The mapping opens, its data is right, none of it went through the engine.
in_software() {
	hw_mark
	ok "$1: $2 opens" map "$2" "$3" || return 0
	ok "$1: $2: data right" data_right
	is "$1: $2: bytes through the engine" "$(hw_bytes all)" 0
	unmap
}

demote() {
	/crypto_user priority cbc-aes-padlock 'cbc(aes)' 0 &&
		/crypto_user priority ecb-aes-padlock 'ecb(aes)' 0 &&
		/crypto_user priority aes-padlock aes 0
}

ok 'crypto_user loads' /sbin/modprobe crypto_user
ok 'model with wrong data from 512 bytes on' insmod /padlock_model.ko fault=1 fault_min=512
ok 'the driver loads' /sbin/modprobe padlock_aes
is 'its self-tests see nothing' "$(crypto_field cbc-aes-padlock selftest)" passed
is 'the software cbc(aes) is gone from the list' "$(crypto_field 'cbc(aes-generic)' refcnt)" ''

ok 'priority 0' demote
is 'priority 0 is what the list says' "$(crypto_field cbc-aes-padlock priority)" 0
ok 'priority 0 alone: aes-cbc opens' map aes-cbc-essiv:sha256 $k256
must_fail 'priority 0 alone: ... on the broken engine' data_right
unmap
must_fail 'priority 0 alone: aes-xts, whose self-tests have 512 bytes, does not open' map aes-xts-plain64 $k512

ok 'unloaded' rmmod padlock_aes
in_software 'unloaded' aes-cbc-essiv:sha256 $k256
must_fail 'unloaded: aes-xts does not open' map aes-xts-plain64 $k512
like 'unloaded: since the kernel has loaded the driver again by the alias crypto-aes' \
	"$(cut -d' ' -f1 /proc/modules | tr '\n' ' ')" '*padlock_aes *'

ok 'priority 0 again' demote
in_software 'software asked for by its name' 'capi:cbc(aes-generic)-plain64' $k256
in_software 'software asked for by its name' 'capi:xts(ecb(aes-generic))-plain64' $k512
in_software 'then' aes-cbc-plain64 $k256
in_software 'then' aes-cbc-essiv:sha256 $k256
in_software 'then' aes-xts-plain64 $k512

# The other way that holds: unloaded and denied. Instances that hide the effect go first.
ok 'unloaded again' rmmod padlock_aes
/crypto_user delete 'xts(ecb(aes-generic))' 'xts(aes)'
/crypto_user delete 'ecb(aes-generic)' 'ecb(aes)'
mkdir -p /etc/modprobe.d
echo 'blacklist padlock_aes' >/etc/modprobe.d/quarantine.conf
in_software 'unloaded and denied' aes-xts-plain64 $k512
in_software 'unloaded and denied' aes-cbc-essiv:sha256 $k256
unlike 'unloaded and denied: the driver stays away' "$(cut -d' ' -f1 /proc/modules | tr '\n' ' ')" '*padlock_aes *'
done_testing
