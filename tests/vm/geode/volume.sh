# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the main job on a Geode LX: detect, refuse, adapt, format, open, status, close; the engine's counters are the judge.
# Must not know: how hwluks decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

size=1048576 # bytes written through each volume

# --- before the driver is in ---------------------------------------------------------------------
next_slot
yes 'old data, no file system' | head -c 4194304 | dd of=$disk bs=64k conv=notrunc 2>/dev/null
ok 'detect' hwluks detect --json
is 'detect: the row' "$(json id)" geode-lx
is 'detect: the driver is not loaded' "$(json driver_state)" not-loaded
is 'detect: dm-crypt may use it' "$(json usable_by_dm_crypt)" true
ok 'detect for people' hwluks detect
like 'detect names the module' "$(cat "$OUT")" '*geode-aes: not loaded*'
ok 'a dry run' hwluks format --dry-run $disk
is 'a dry run loads nothing' "$(crypto_field cbc-aes-geode name)" ''
before=$(device_hash $disk)

# --- specs the engine lacks -----------------------------------------------------------------------
format 10 'aes-cbc-plain64 256 is refused' --cipher aes-cbc-plain64 --key-size 256
is 'refused: verdict' "$(json verdict)" software
is 'refused: action' "$(json action)" refuse
like 'refused: the reason' "$(cat "$OUT")" '*"key-size"*'
like 'refused: the nearest' "$(cat "$OUT")" '*"cipher": "aes-cbc-essiv:sha256"*'
is 'refused: not one byte changed' "$(device_hash $disk)" "$before"
is 'the driver was loaded for it' "$(crypto_field cbc-aes-geode selftest)" passed
format 10 'aes-xts-plain64 512 is refused' --cipher aes-xts-plain64 --key-size 512
format 1 'essiv:sha1 is impossible' --cipher aes-cbc-essiv:sha1 --key-size 128
format 1 'essiv:sha512 is impossible' --cipher aes-cbc-essiv:sha512 --key-size 128
format 10 'a dry run refuses, too' --dry-run --cipher aes-cbc-plain64 --key-size 256
is 'after all that: still not one byte changed' "$(device_hash $disk)" "$before"

# --- formats, opens, counts -------------------------------------------------------------------------
# After a format: opens, writes, reads, closes. $1: cipher; $2: sector size; $3: verdict; $4 $5 $6: data, IV, tweak;
# then engine operations per encryption sector: $7 cbc and $8 ecb written, $9 cbc and ${10} ecb read.
volume() {
	v_what="$1 $2"
	is "$v_what: verdict" "$(json verdict) $(json data) $(json iv) $(json tweak)" "$3 $4 $5 $6"
	open_vol "$v_what: opens" || return
	is "$v_what: open says the same" "$(json verdict) $(json data) $(json iv) $(json tweak)" "$3 $4 $5 $6"
	like "$v_what: served by" "$(json served_by)" '*geode*'
	is "$v_what: evidence" "$(json evidence)" recorded
	write_vol "$1" "$2" $size "hwluks geode $v_what"
	is "$v_what: every sector written went through the engine" \
		"$(hw_ops cbc_enc) $(hw_ops ecb_enc) $(hw_ops cbc_dec)" "$(($7 * w_n)) $(($8 * w_n)) 0"
	cmp_ok "$v_what: bytes in the engine" "$(hw_bytes all)" -ge $(($4 == 0 ? 0 : size))
	read_vol "$v_what" $size
	is "$v_what: every sector read went through the engine" \
		"$(hw_ops cbc_dec) $(($(hw_ops ecb_dec) + $(hw_ops ecb_enc)))" "$(($9 * w_n)) $((${10} * w_n))"
	ok "$v_what: status" hwluks status --json vol
	is "$v_what: status says the same" "$(json evidence) $(json verdict)" "recorded $3"
	is "$v_what: status names the device" "$(json device)" "$disk"
	ok "$v_what: closes" hwluks close vol
}

format 0 '--adapt: aes-cbc-plain64 256' --adapt --cipher aes-cbc-plain64 --key-size 256
is 'it says that it adapted' "$(json adapted)" true
volume aes-cbc-essiv:sha256 512 partly hardware software none 1 0 1 0
next_slot
format 0 'aes-cbc-essiv:sha256 128' --cipher aes-cbc-essiv:sha256 --key-size 128
volume aes-cbc-essiv:sha256 512 partly hardware software none 1 0 1 0
next_slot
format 0 'aes-xts-plain64 256' --cipher aes-xts-plain64 --key-size 256
volume aes-xts-plain64 512 accelerated hardware none hardware 0 2 0 2
next_slot
format 0 'aes-cbc-plain64 128, LUKS1' --type luks1 --cipher aes-cbc-plain64 --key-size 128
volume aes-cbc-plain64 512 accelerated hardware none none 1 0 1 0
next_slot
format 0 'aes-cbc-essiv:md5 128' --cipher aes-cbc-essiv:md5 --key-size 128
volume aes-cbc-essiv:md5 512 accelerated hardware hardware none 1 1 1 1
next_slot
format 0 'aes-cbc-essiv:sha256 128, 4096-byte sectors' --cipher aes-cbc-essiv:sha256 --key-size 128 --sector-size 4096
volume aes-cbc-essiv:sha256 4096 partly hardware software none 1 0 1 0

# --- software on request ---------------------------------------------------------------------------------
next_slot
format 0 '--software: aes-xts-plain64 512' --software --cipher aes-xts-plain64 --key-size 512
is 'software: verdict' "$(json verdict)" software
run 11 '--require-accel opens nothing' hwluks open --require-accel --key-file $pw $disk vol
must_fail 'and really nothing' test -e /dev/mapper/vol
open_vol 'a wrong spec opens with a warning'
like 'the warning names the better spec' "$(cat "$ERR")" '*--cipher aes-xts-plain64 --key-size 256*'
write_vol aes-xts-plain64 512 $size 'hwluks geode software'
is 'software: the engine did nothing' "$(hw_ops all)" 0
ok 'software: status' hwluks status --json vol
is 'software: status says so' "$(json verdict)" software
ok 'software: closes' hwluks close vol
ok 'partly satisfies --require-accel' sh -c "hwluks open --require-accel --key-file $pw /dev/mapper/slot1 vol && hwluks close vol"

# --- what must not leak ------------------------------------------------------------------------------------
note key "$w_key"
open_vol 'opens for the leak test'
hwluks --debug status vol >/run/leak.1 2>&1
hwluks --json --debug status vol >/run/leak.2 2>&1
hwluks close vol
hwluks --debug open --key-file $pw $disk vol >/run/leak.3 2>&1
dmesg >/run/leak.4
no_key_in "$w_key" /run/leak.* /run/hwluks/*
hwluks close vol
ulimit -c unlimited
mkdir -p /run/cores
echo /run/cores/core >/proc/sys/kernel/core_pattern
mkfifo /run/never
hwluks open --key-file /run/never $disk vol &
pid=$!
sleep 0.5
kill -SEGV $pid
wait $pid 2>/dev/null
is 'a crash leaves no core' "$(ls /run/cores)" ''

# --- refusals of the device -----------------------------------------------------------------------------------
next_slot
format 0 'one more volume' --cipher aes-cbc-essiv:sha256 --key-size 128
before=$(device_hash $disk)
format 5 'a LUKS header needs its own word' --cipher aes-cbc-essiv:sha256 --key-size 128
format 5 '--wipe-signatures is not that word' --wipe-signatures
open_vol 'opens, to be in use'
format 5 'a device in use' --replace-luks
ok 'closes' hwluks close vol
is 'refusals changed nothing' "$(device_hash $disk)" "$before"
format 0 'the old header saved first' --old-header-backup /run/old.img --cipher aes-cbc-essiv:sha256 --key-size 128
is 'the backup is for its owner only' "$(stat -c %a /run/old.img)" 600
ok 'the backup opens with the old passphrase' cryptsetup open --test-passphrase --header /run/old.img --key-file $pw $disk
must_fail 'no terminal and no --batch-mode' sh -c "hwluks format --replace-luks --key-file $pw $disk </dev/null"
hwluks open --key-file $pw $disk vol >/dev/null 2>&1
mke2fs -q /dev/mapper/vol 2>/dev/null && mount -t ext4 /dev/mapper/vol /mnt 2>/dev/null
run 5 'close of a mounted volume' hwluks close vol
umount /mnt
ok 'close' hwluks close vol
run 4 'close of what is not open' hwluks close vol
run 4 'status of what is not open' hwluks status vol
run 2 'a wrong passphrase' sh -c "echo wrong | hwluks open $disk vol"
sync
done_testing
