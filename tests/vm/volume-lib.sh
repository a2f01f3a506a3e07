# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: guest scripts that test hwluks itself: fast options, JSON fields, volumes with their counters; sourced after tap.sh.
# Must not know: which engine the guest has.

# A key slot that costs nothing, and nobody to ask.
fast='--batch-mode --pbkdf pbkdf2 --pbkdf-force-iterations 1000'
pw=/run/pw
printf 'correct horse' >$pw
chmod 600 $pw
slot_n=0
slot_mib=20 # a LUKS2 header takes 16
disk=/dev/vda
base=0

# A fresh device for the next volume: a piece of the disk that no other volume touches, so that the host can compare all of
# them afterwards. Sets disk and base (512-byte sectors).
next_slot() {
	base=$((slot_n * slot_mib * 2048))
	disk=/dev/mapper/slot$slot_n
	dmsetup create slot$slot_n --table "0 $((slot_mib * 2048)) linear /dev/vda $base"
	is_block $disk || fail "$disk is a block device"
	slot_n=$((slot_n + 1))
}

# First value of a JSON key in the last output, quotes and comma taken off. $1: key.
json() { sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\"]*[^\",]\)\"\{0,1\},\{0,1\}\$/\1/p" "$OUT" | head -n 1; }

# Runs hwluks format with a cheap key slot. $1: wanted exit code; $2: description; rest: options.
format() {
	f_rc=$1 f_what=$2
	shift 2
	# shellcheck disable=SC2086 # words
	run "$f_rc" "$f_what" hwluks format --json $fast --key-file $pw "$@" $disk
}

# Opens it as `vol`. $1: description; rest: options.
open_vol() {
	o_what=$1
	shift
	ok "$o_what" hwluks open --json --key-file $pw "$@" $disk vol || return
	is_block /dev/mapper/vol || fail "$o_what: /dev/mapper/vol is a block device"
}

# Writes a pattern through the volume, and tells the host where to find what ciphertext. Sets w_n (sectors), w_key (hex).
# $1: cipher spec; $2: encryption sector size; $3: bytes; $4: text.
write_vol() {
	w_n=$(($3 / $2))
	yes "$4" | head -c "$3" >/run/plain
	rm -f /run/vk
	cryptsetup luksDump --batch-mode --dump-volume-key --volume-key-file /run/vk --key-file $pw $disk >/dev/null 2>&1
	w_key=$(od -An -v -tx1 /run/vk | tr -d ' \n')
	rm -f /run/vk
	w_offset=$(cryptsetup status vol | sed -n 's/^ *offset: *\([0-9]*\) .*/\1/p')
	note map "$((base + w_offset)) $w_n $2 $1 $w_key $4"
	hw_mark
	ok "$4: written" dd if=/run/plain of=/dev/mapper/vol bs=64k oflag=direct
}

# Reads it back and compares; counters count the read. $1: description; $2: bytes.
read_vol() {
	hw_mark
	ok "$1: read" dd if=/dev/mapper/vol of=/run/back bs=64k iflag=direct count=$(($2 / 65536))
	ok "$1: reads back the same" cmp /run/plain /run/back
	rm -f /run/back
}

# No file holds the key, neither in binary nor in hex. $1: hex key; rest: files.
no_key_in() {
	k_hex=$1
	shift
	for k_f; do
		[ -f "$k_f" ] || continue
		if grep -qi "$k_hex" "$k_f" || od -An -v -tx1 "$k_f" | tr -d ' \n' | grep -q "$k_hex"; then
			fail "the volume key is in $k_f"
			return 1
		fi
	done
	pass 'no file looked at holds the volume key'
}
