# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: faults of a 64-bit machine with an engine: driver missing, denied, late, refused by dm-crypt; flags; sectors; scopes.
# Must not know: how doctor decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh
# shellcheck source=tests/vm/doctor-lib.sh
. /tests/doctor-lib.sh

open_one() {
	ok "$1: format" cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --cipher "$2" \
		--key-size "$3" $disk $pw
	ok "$1: open" cryptsetup open --key-file $pw $disk "$1"
}

# --- an engine that dm-crypt refuses
next_slot
modprobe virtio_crypto
open_one home aes-cbc-plain64 128
names_first 'memory flag' engine-excluded=warning 12 home
ok 'memory flag: close, as the remedy wants' cryptsetup close home
apply_remedy 'memory flag' "cryptsetup reencrypt --cipher * $disk"
ok 'memory flag: open' cryptsetup open --key-file $pw $disk home
gone 'memory flag' engine-excluded home
cryptsetup close home
next_slot
open_one home aes-xts-plain64 512

# --- a driver that is missing, denied, not loaded, late
ok 'the engine appears' insmod /padlock_model.ko
ko=$(find /lib/modules -name 'padlock-aes.ko*')
mv "$ko" /run/
depmod
names_first 'module missing' driver-not-installed=warning 12
mv "/run/${ko##*/}" "$ko"
depmod
gone 'module missing' driver-not-installed
mkdir -p /etc/modprobe.d
echo 'blacklist padlock_aes' >/etc/modprobe.d/deny.conf
names_first 'deny-listed' driver-denied=warning 12
apply_remedy 'deny-listed' 'hwluks load --force padlock*'
gone 'deny-listed' driver-denied
rm /etc/modprobe.d/deny.conf
names_first 'late' driver-late=warning 12 home
apply_remedy 'late' 'hwluks refresh home'
gone 'late' driver-late home
ok 'late: status' hwluks status --json home
like 'late: who serves now' "$(json served_by)" '*padlock*'

# --- flags of crypttab that are not in force
echo 1 >/sys/block/vda/queue/rotational
echo "home $disk none luks,no-read-workqueue,no-write-workqueue" >/etc/crypttab
names_first 'crypttab, a disk that rotates' crypttab-flags=warning 12 home
is 'there they are better not set' "$remedy" ''
echo 0 >/sys/block/vda/queue/rotational
names_first 'crypttab' crypttab-flags=warning 12 home
apply_remedy 'crypttab' 'hwluks refresh --perf-no_read_workqueue --perf-no_write_workqueue* home'
gone 'crypttab' crypttab-flags home
like 'crypttab: in the table' "$(dmsetup table home)" '*no_read_workqueue no_write_workqueue'
rm /etc/crypttab

# --- scopes
mke2fs -q /dev/mapper/home 2>/dev/null
mount -t ext4 /dev/mapper/home /mnt
for scope in home /dev/mapper/home $disk /mnt; do
	hwluks --json doctor $scope >"$OUT" 2>"$ERR"
	is "$scope: the volume it is about" "$(json name)" home
done
umount /mnt
dmsetup create upper --table "0 2048 linear /dev/mapper/home 0"
hwluks --json doctor /dev/mapper/upper >"$OUT" 2>"$ERR"
is 'a device on the volume: the volume it is about' "$(json name)" home
dmsetup remove upper
next_slot
open_one backup aes-cbc-plain64 256
hwluks --json doctor >"$OUT" 2>"$ERR"
is 'the machine: every open volume' "$(sed -n '/"volumes"/,/"findings"/s/^ *"name": *"\(.*\)",/\1/p' "$OUT" | sort | tr '\n' ' ')" 'backup home '
hwluks doctor >/run/doctor.text 2>&1
like 'the machine: a line for each' "$(sed -n '/^home: /,/^[^ ]/p' /run/doctor.text | tr '\n' ' ')" 'home: aes-xts-plain64, 512-bit key; served by xts(ecb-aes-padlock);*accelerated*'
run 4 'a volume that is not there' hwluks doctor nothing
cryptsetup close backup
cryptsetup close home
hwluks --json doctor $disk >"$OUT" 2>"$ERR"
is 'a volume that is not open' "$(sed -n 's/^ *"open": *\(.*\),/\1/p' "$OUT" | head -n 1)" false

# --- 512-byte sectors on a disk of 4096
disk=/dev/vdb
is 'sectors: the disk' "$(cat /sys/block/vdb/queue/physical_block_size)" 4096
ok 'sectors: format' cryptsetup luksFormat -q --type luks2 --sector-size 512 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
	--cipher aes-xts-plain64 --key-size 512 $disk $pw
ok 'sectors: open' hwluks open --key-file $pw $disk big
mke2fs -q -b 4096 /dev/mapper/big 2>/dev/null
names_first 'sectors' sector-size=note 0 big
apply_remedy 'sectors' "cryptsetup reencrypt*--sector-size 4096*$disk"
ok 'sectors: close' cryptsetup close big
ok 'sectors: open again' hwluks open --key-file $pw $disk big
gone 'sectors' sector-size big
cryptsetup close big

# --- measured on a terminal, elsewhere when asked, and never with --quick
dmsetup create null --table "0 40960 crypt cipher_null-ecb - 0 $disk 0"
hash=$(device_hash $disk)
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
with_limit 60 typist -- hwluks doctor null >/run/tty 2>&1
like 'on a terminal: it says what and for how long' "$(tr -s '\r\n ' ' ' </run/tty)" '*Measuring for about 13 s: reads of null *Nothing is*'
like 'on a terminal: and measures' "$(tr -s '\r\n ' ' ' </run/tty)" '*measured*reads through the mapping*reads of the device below*'
with_limit 60 typist -- hwluks doctor --quick null >/run/tty 2>&1
unlike 'quick: it does not' "$(tr -s '\r\n ' ' ' </run/tty)" '*easur*the mapping*'
hwluks doctor null >/run/piped 2>&1
unlike 'no terminal: it does not' "$(tr -s '\n ' ' ' </run/piped)" '*easur*the mapping*'
hwluks doctor --measure=1 null >/run/piped 2>&1
like 'no terminal, and asked for: it does' "$(tr -s '\n ' ' ' </run/piped)" '*measured*reads through the mapping*'
is 'nothing was written' "$(device_hash $disk)" "$hash"
dmsetup remove null
done_testing
