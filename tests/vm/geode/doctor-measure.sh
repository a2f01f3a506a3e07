# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: what doctor measures on a Geode, on the instruction clock: the gain that it promises is the gain that the remedy brings, a
#      disk slower than the cipher is named, and nothing is written or left.
# Must not know: how doctor decides, or what a figure should be.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh
# shellcheck source=tests/vm/doctor-lib.sh
. /tests/doctor-lib.sh

# A volume on /dev/ram0 or what lies on it. $1: key bits; $2: encryption sector.
luks() {
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --cipher aes-cbc-essiv:sha256 --key-size "$1" \
		--sector-size "$2" $disk $pw && cryptsetup open --key-file $pw $disk home
}

# Nanoseconds on the guest's clock; /proc/uptime has hundredths of a second only.
now_ns() { awk '/^now at/ { print $3; exit }' /proc/timer_list; }
# What dd takes to read so many MiB of the volume. $1: MiB.
dd_ns() {
	d_start=$(now_ns)
	dd if=/dev/mapper/home of=/dev/null bs=1M iflag=direct count="$1" 2>/dev/null
	echo $(($(now_ns) - d_start))
}
# MB/s of it: of all requests but the first, so that what dd takes to start does not count. $1: MiB.
dd_rate() { awk -v n="$1" -v all="$(dd_ns "$1")" -v one="$(dd_ns 1)" 'BEGIN { if (all > one) printf "%.3f\n", (n - 1) * 1048.576e6 / (all - one) }'; }

# $1 within 15 % of $2
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(b > 0 && d <= 0.15 * b) }'; }

# One value of the first finding. $1: key.
of_first() { awk -v key="\"$1\":" '/"findings": *\[/ { on = 1 } on && $1 == key { sub(/^[^:]*: */, ""); sub(/,$/, ""); print; exit }' "$OUT"; }

# What is there before and after, to see that nothing is left: mappings, loop devices, algorithms.
inventory() {
	dmsetup ls | sort
	losetup -a
	awk '$1 == "driver" { print $3 }' /proc/crypto | sort -u
}

# doctor --measure on the volume. $1: description; $2: first finding; $3: exit code; $4: how often software was forced.
measured() {
	inventory >/run/before
	blockdev --flushbufs "$disk"
	cat "$disk" >/run/copy
	run "$3" "$1: doctor --measure" hwluks --json doctor --measure=1 home
	m_soft=$(grep -c '"driver": "essiv(cbc(aes-generic),sha256-generic)"' "$OUT")
	is "$1: named first" "$(first_finding)" "$2"
	is "$1: measured" "$(of_first measured)" true
	like "$1: it says what it will do, and for how long" "$(cat "$ERR")" '*Measuring for about *reads of home*--quick*'
	is "$1: the software was measured as well, where an engine serves it" "$m_soft" "$4"
	blockdev --flushbufs "$disk"
	is "$1: nothing was written to the device" "$(cmp "$disk" /run/copy 2>&1)" ''
	is "$1: nothing was left" "$(inventory | diff /run/before - 2>&1)" ''
	diag "$(findings | tr '\n' ' ')"
	diag "$(of_first gain)"
	promised=$(of_first factor)
	remedy=$(first_remedy)
	rewrite=$(of_first rewrite_seconds)
	read_now=$(json median)
}

# The remedy brought what was promised. $1: description; $2: rate before; $3: rate now.
kept() {
	k_got=$(awk -v a="$2" -v b="$3" 'BEGIN { printf "%.2f", b / a }')
	diag "promised $promised times, got $k_got: $2 to $3 MB/s"
	note gain "$1: promised $promised got $k_got"
	ok "$1: the gain is within 15 % of what was promised" near "$k_got" "$promised"
}

modprobe brd rd_nr=1 rd_size=32768
disk=/dev/ram0
is_block $disk || fail 'the RAM disk is there'

# --- a driver that came late: who serves the volume has no name any more -------------------------------------------------
ok 'a volume, opened before the driver is in' luks 128 512
modprobe geode_aes
old=$(dd_rate 8)
measured 'late driver' driver-late=warning 12 0
apply_remedy 'late driver' 'hwluks refresh home'
new=$(dd_rate 8)
kept 'late driver' "$old" "$new"
cryptsetup close home

# --- a key size that the hardware lacks ---------------------------------------------------------------------------
ok 'a volume with a 256-bit key' luks 256 512
old=$(dd_rate 6)
measured '256-bit key' key-size=warning 12 0
ok "256-bit key: what it read of the volume ($read_now) is what dd reads ($old)" near "$read_now" "$old"
like '256-bit key: how long the rewrite takes' "$rewrite" '[1-9]*'
cryptsetup close home
ok 'a new volume as doctor said' luks 128 512
new=$(dd_rate 8)
kept '256-bit key' "$old" "$new"

# --- small sectors, with a file system that allows larger ones ---------------------------------------------------------
ok 'a file system' mke2fs -q -t ext4 -b 4096 /dev/mapper/home
measured '512-byte sectors' small-requests=warning 12 1
unlike '256-bit key: gone' "$(findings)" '*key-size*'
cryptsetup close home
ok 'a new volume with sectors of 4096 bytes' luks 128 4096
old=$new
new=$(dd_rate 14)
kept '512-byte sectors' "$old" "$new"
cryptsetup close home

# --- a disk slower than the cipher -----------------------------------------------------------------------------------------
modprobe dm-delay
sectors=$(blockdev --getsz $disk)
dmsetup create slow --table "0 $sectors delay $disk 0 200"
fast_disk=$disk
disk=/dev/mapper/slow
cryptsetup open --key-file $pw $disk home
disk=$fast_disk measured 'slow disk' disk-limits=note 0 1
unlike '512-byte sectors: gone' "$(findings)" '*small-requests*'
cryptsetup close home
dmsetup remove slow
disk=$fast_disk
cryptsetup open --key-file $pw $disk home

# --- key slots that take long here ---------------------------------------------------------------------------------------------
# What opening takes less what the cheap slot 0 takes, seconds. $1: slot; $2: ns of slot 0.
unlock_s() {
	u_start=$(now_ns)
	cryptsetup open --test-passphrase --key-slot "$1" --key-file $pw $disk || return
	awk -v ns=$(($(now_ns) - u_start - $2)) 'BEGIN { printf "%.3f\n", ns / 1e9 }'
}
add_slot() { cryptsetup luksAddKey -q --key-file $pw --key-slot "$@" $disk $pw; }
ok 'a slot of Argon2' add_slot 1 --pbkdf argon2id --pbkdf-memory 8192 --pbkdf-parallel 1 --pbkdf-force-iterations 5
ok 'a slot of PBKDF2' add_slot 2 --pbkdf pbkdf2 --pbkdf-force-iterations 50000
start_ns=$(now_ns)
ok 'slot 0 opens' cryptsetup open --test-passphrase --key-slot 0 --key-file $pw $disk
start_ns=$(($(now_ns) - start_ns))
argon2_s=$(unlock_s 1 $start_ns)
pbkdf2_s=$(unlock_s 2 $start_ns)

# --- recorded and replayed ---------------------------------------------------------------------------------------------------
hwluks doctor --measure=1 --record /run/m.tar >/run/recorded 2>"$ERR"
like 'a recording holds what was measured' "$(cat /run/recorded)" '*reads through the mapping*'
like 'a slot takes long' "$(cat /run/recorded)" '*pbkdf-slow*'
diag "slot 0 $start_ns ns, Argon2 $argon2_s s, PBKDF2 $pbkdf2_s s; doctor: $(grep -E '^ *- Slot' /run/recorded | tr '\n' ' ')"
ok 'what Argon2 takes is what opening takes' near "$(sed -n 's/^ *- Slot 1: \([0-9.]*\) s .*/\1/p' /run/recorded)" "$argon2_s"
ok 'what PBKDF2 takes is what opening takes' near "$(sed -n 's/^ *- Slot 2: \([0-9.]*\) s .*/\1/p' /run/recorded)" "$pbkdf2_s"
unlike 'slow disk: gone' "$(cat /run/recorded)" '*disk-limits*'
hwluks doctor --replay /run/m.tar >/run/replayed 2>/dev/null
is 'and a replay says the same' "$(diff /run/recorded /run/replayed)" ''
unlike 'quick: nothing is measured' "$(hwluks doctor --quick home 2>&1)" '*reads through the mapping*'
cryptsetup close home
done_testing
