#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: what hwluks costs: instructions of an open beside a bare libcryptsetup program, CPU time of detect, size.
# Must not know: where the costs come from. Each limit stands once, beside its test.
#
# $HWLUKS is measured, $BUILD/tests/cost/yardstick is the bare program. No root, no device-mapper.

set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-$here/../../build}
HWLUKS=${HWLUKS:-$BUILD/hwluks}
machine=$here/../machines/vm-aesni-6.1-amd64/root
dir=$(mktemp -d "${TMPDIR:-/tmp}/hwluks-cost.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
n=0 bad=0 cost=()

# A measured value against its limit. $1: what, $2: value, $3: limit, $4: unit.
at_most() {
	n=$((n + 1))
	if [[ $2 =~ ^-?[0-9]+$ ]] && (($2 <= $3)); then
		echo "ok $n - $1: $2 $4, at most $3"
	else
		echo "not ok $n - $1: ${2:-nothing measured} $4, at most $3"
		bad=1
	fi
}

# Instructions of a program from its start to its end, the dynamic linker's work included. $@: command.
instructions() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 </dev/null |
		sed -n 's/.*Collected : \([0-9]*\)$/\1/p'
}

# User and system time in ms, the least of five runs: the others were disturbed. $@: command.
cpu_ms() {
	local TIMEFORMAT='%3U %3S' best='' user sys ms
	for _ in 1 2 3 4 5; do
		read -r user sys < <({ time "$@" >"$dir/out" 2>&1; } 2>&1)
		ms=$((10#${user/./} + 10#${sys/./}))
		[[ -n $best ]] && ((best <= ms)) || best=$ms
	done
	echo "$best"
}

# A machine like a recorded one whose /proc/crypto has $1 records.
crowded_machine() {
	cp -r "$machine" "$dir/root"
	awk -v want="$1" 'BEGIN { RS = "" } { record[NR] = $0 }
	END {
		for (i = 0; i < want; i++) {
			r = record[i % NR + 1]
			if (i >= NR) sub(/driver +: [^\n]*/, "&-" i, r)
			print r "\n"
		}
	}' "$machine/proc/crypto" >"$dir/root/proc/crypto"
}

printf 'a passphrase' >"$dir/key"
truncate -s 20M "$dir/image"
cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
	--key-file "$dir/key" "$dir/image" || exit 1
bare=$(instructions "$BUILD/tests/cost/yardstick" "$dir/image" "$dir/key")
ours=$(instructions "$HWLUKS" open --test-passphrase --key-file "$dir/key" "$dir/image")
echo "# open --test-passphrase: $ours instructions, the bare program $bare, cryptsetup $(
	instructions cryptsetup open --test-passphrase --key-file "$dir/key" "$dir/image")"
at_most 'instructions of an open above a bare one' "$((${ours:-999999999} - ${bare:-0}))" 3000000 instructions

crowded_machine 1000
echo "# records in /proc/crypto: $(grep -c '^name' "$dir/root/proc/crypto")"
at_most 'CPU time of detect, 1,000 algorithms' "$(cpu_ms "$HWLUKS" --sysroot "$dir/root" detect)" 49 ms
grep -q 'x86-aesni' "$dir/out" || { sed 's/^/# /' "$dir/out"; bad=1; }

# A fill: what the second 32 MiB cost, so that the start of the program does not count.
if grep -qw aes /proc/cpuinfo; then
	for mib in 32 64; do
		truncate -s ${mib}M "$dir/fill$mib"
		cost[mib]=$(instructions "$HWLUKS" fill -q --engine aes "$dir/fill$mib")
	done
	at_most 'instructions for 100 bytes of a fill, AES instructions' \
		"$(((${cost[64]:-999999999} - ${cost[32]:-0}) * 100 / (32 * 1024 * 1024)))" 200 instructions
	truncate -s 256M "$dir/fill256"
	# without the plan, which reads the device for its estimate
	fill=$(($(cpu_ms "$HWLUKS" fill -q --restart --engine aes "$dir/fill256") -
		$(cpu_ms "$HWLUKS" fill --dry-run --engine aes "$dir/fill256")))
	dd=$(cpu_ms dd if=/dev/urandom of="$dir/fill256" bs=1M count=256 oflag=direct conv=notrunc,fdatasync)
	at_most "CPU time of a fill of 256 MiB, a sixth of dd's from /dev/urandom ($dd ms)" "$fill" $((dd / 6)) ms
fi

strip -o "$dir/hwluks" "$HWLUKS"
size=$(stat -c %s "$dir/hwluks")
echo "# sections: $(size -A "$dir/hwluks" | awk '$2 >= 4000 && /^\./ { printf "%s %d  ", $1, $2 }')"
# The target, set for the first seven commands, is 200 KiB and was not reached: see docs/size.md. It stays here, in sight.
n=$((n + 1))
if ((size <= 200 * 1024)); then
	echo "ok $n - target: $size bytes stripped, at most $((200 * 1024)) # TODO reached: make it the limit"
else
	echo "not ok $n - target: $size bytes stripped, at most $((200 * 1024)) # TODO"
fi
at_most 'size of the stripped program, all commands' "$size" $((480 * 1024)) bytes
echo "1..$n"
exit "$bad"
