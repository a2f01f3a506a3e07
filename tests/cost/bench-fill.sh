#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the speed of hwluks fill beside what people use instead, on a file of this disk and on a loop device over tmpfs.
# Must not know: what is fast enough; it prints, and fails only when something could not be run.
#
# Each round runs all of them in turn; what counts is the median of the ratios within a round. BENCH_ROUNDS (7),
# BENCH_MIB (512), BENCH_DISK (a folder on the disk), BENCH_FAST=1 leaves the slow ones out. Root for the loop device.
set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-$here/../../build}
HWLUKS=${HWLUKS:-$BUILD/hwluks}
export BUILD HWLUKS
rounds=${BENCH_ROUNDS:-7} mib=${BENCH_MIB:-512}
bytes=$((mib * 1024 * 1024))
cpus=$(nproc)
threads=$((cpus + 1 > 4 ? 4 : cpus + 1))
disk=$(mktemp -d "${BENCH_DISK:-/var/tmp}/hwluks-bench.XXXXXX") || exit 1
memory=$(mktemp -d /dev/shm/hwluks-bench.XXXXXX) || exit 1
loop=
cleanup() {
	[[ -z $loop ]] || losetup -d "$loop"
	rm -rf "$disk" "$memory"
}
trap cleanup EXIT

export mib bytes threads
names=(fill zero-same zero-dd urandom-dd)
[[ -n ${BENCH_FAST:-} ]] || names+=(shred badblocks crypt_wipe)

# $1: name, $2: target. Runs one.
run_one() {
	case $1 in
	fill) "$HWLUKS" --json fill -q --restart --priority normal "$2" ;;
	zero-same) "$BUILD/tests/cost/fill_yardstick" zero "$2" "$bytes" "$threads" $((512 * 1024)) ;;
	zero-dd) dd if=/dev/zero of="$2" bs=1M count="$mib" oflag=direct conv=notrunc,fdatasync ;;
	urandom-dd) dd if=/dev/urandom of="$2" bs=1M count="$mib" iflag=fullblock oflag=direct conv=notrunc,fdatasync ;;
	shred) shred -n 1 "$2" ;;
	badblocks) badblocks -w -t random -b 4096 -c 256 "$2" $((bytes / 4096)) ;;
	crypt_wipe) "$BUILD/tests/cost/fill_yardstick" wipe "$2" "$bytes" ;;
	esac
}

# Prints the median of the numbers on standard input.
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# $1: words for the target, $2: the target.
bench() {
	local r name log=$disk/log
	: >"$disk/times"
	for ((r = 0; r < rounds; r++)); do
		for name in "${names[@]}"; do
			/usr/bin/time -f "$r $name %e %U %S %M" -o "$disk/one" bash -c "$(declare -f run_one)"'; run_one "$@"' x "$name" "$2" \
				>"$log" 2>&1 || { cat "$log"; echo "$name on $1 failed"; exit 1; }
			# of a fill the time from its first write to its last flush: what it measures before the question is no filling
			if [[ $name == fill ]]; then
				awk -v ms="$(sed -n 's/.*"time_ms": *\([0-9]*\).*/\1/p' "$log")" '{ $3 = ms / 1000; print }' \
					"$disk/one" >"$disk/two"
				mv "$disk/two" "$disk/one"
			fi
			cat "$disk/one" >>"$disk/times"
		done
	done
	printf '\n%s, %d MiB, %d rounds, load %s\n' "$1" "$mib" "$rounds" "$(cut -d' ' -f1 /proc/loadavg)"
	printf '%-12s %8s %22s %12s\n' '' 's' 'fill is as fast times' 'cpu-s/GiB'
	for name in "${names[@]}"; do
		local s ratio cpu
		s=$(awk -v n="$name" '$2 == n { print $3 }' "$disk/times" | median)
		ratio=$(awk -v n="$name" '$2 == "fill" { f[$1] = $3 } $2 == n { o[$1] = $3 } END { for (r in o) print o[r] / f[r] }' "$disk/times" | median)
		cpu=$(awk -v n="$name" -v m="$mib" '$2 == n { print ($4 + $5) * 1024 / m }' "$disk/times" | median)
		printf '%-12s %8.2f %22.2f %12.2f\n' "$name" "$s" "$ratio" "$cpu"
	done
	awk '$2 == "fill" { print $6 }' "$disk/times" | sort -n | tail -1 | sed 's/$/ KiB resident at most (fill, with its shell)/'
}

head -c "$bytes" /dev/urandom >"$disk/target"
sync "$disk/target"
bench 'file on the disk' "$disk/target"
if ((EUID == 0)) && [[ -e /dev/loop-control ]]; then
	head -c "$bytes" /dev/urandom >"$memory/target"
	loop=$(losetup -f --show "$memory/target") || exit 1
	bench 'loop device over tmpfs' "$loop"
fi
