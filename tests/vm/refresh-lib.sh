# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: a volume that is in use all the time, opened before any engine is there; sourced after volume-lib.sh.
# Must not know: what is done to it meanwhile.

k256=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f

# The live table, key included, as a hash. $1: mapping.
table_of() { dmsetup table --showkeys "$1" | sha256sum | cut -d' ' -f1; }

# Writes and reads through the volume, past its first MiB, until /run/stop is there. A line in /run/rounds for each round, one
# in /run/bad for each that did not come back as it was written.
use_volume() {
	yes 'a volume in use' | head -c 262144 >/run/used
	while [ ! -e /run/stop ]; do
		dd if=/run/used of=/dev/mapper/vol bs=16k seek=64 oflag=direct conv=notrunc 2>/dev/null &&
			dd if=/dev/mapper/vol of=/run/used.back bs=16k skip=64 count=16 iflag=direct 2>/dev/null &&
			cmp -s /run/used /run/used.back || echo bad >>/run/bad
		echo round >>/run/rounds
		sleep 0.05
	done
}

# Ten more rounds, or half a minute.
wait_rounds() {
	u_want=$(($(wc -l </run/rounds) + 10)) u_i=0
	while [ "$(wc -l </run/rounds)" -lt $u_want ] && [ $u_i -lt 300 ]; do
		sleep 0.1
		u_i=$((u_i + 1))
	done
	cmp_ok "$1: I/O goes on" "$(wc -l </run/rounds)" -ge $u_want
	is "$1: and comes back right" "$(cat /run/bad 2>/dev/null)" ''
}

# The volume, its first MiB written, and its user in the background. $1: cipher; $2: key bits.
volume_in_use() {
	next_slot
	ok 'format' cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --cipher "$1" \
		--key-size "$2" $disk $pw
	ok 'open' cryptsetup open --key-file $pw $disk vol
	is_block /dev/mapper/vol || fail 'vol is a block device'
	write_vol "$1" 512 1048576 'before the engine'
	: >/run/rounds
	use_volume &
}
