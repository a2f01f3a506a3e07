#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: running the tests of several tiers through one prove, with a time per tier and one closing count.
# Must not know: what a tier tests.
#
# prove.sh TIER: [FILE...] [TIER: [FILE...]]...
# Fails when a test fails, when a tier has no file, and when everything in a tier was skipped: prove
# itself calls a run in which nothing ran "NOTESTS" and ends with 0.
set -euo pipefail

log=${BUILD:?}/prove.log
declare -a files=() tiers=()
declare -A tier_of=() count=()
tier=
for word in "$@"; do
	if [[ $word == *: ]]; then
		tier=${word%:}
		tiers+=("$tier")
		count[$tier]=0
	else
		files+=("$word")
		tier_of[$word]=$tier
		count[$tier]=$((${count[$tier]} + 1))
	fi
done
for tier in "${tiers[@]}"; do
	if [[ ${count[$tier]} == 0 ]]; then
		echo "prove: tier '$tier' has no tests at all" >&2
		exit 1
	fi
done

for f in "${files[@]}"; do
	[[ -x $f ]] || { echo "prove: $f is missing or not executable" >&2; exit 1; }
done

# Prints "milliseconds state" of one file, from prove's line "[hh:mm:ss] FILE .. ok   12 ms (…)". Where a
# test wrote to stderr in between, the line is torn: then the time is not known and counts as 0.
file_line() {
	awk -v file="$1" 'index($0, "] " file " ..") {
		ms = match($0, /[0-9]+ ms/) ? substr($0, RSTART, RLENGTH) : 0
		print int(ms), / skipped/ ? "skipped" : "ran"
		found = 1
		exit
	}
	END { if (!found) print 0, "ran" }' "$log"
}

echo "Kernel $(uname -r), libcryptsetup $(pkg-config --modversion libcryptsetup 2>/dev/null || echo '?')," \
	"json-c $(pkg-config --modversion json-c 2>/dev/null || echo '?'), device-mapper on this host:" \
	"$(grep -qw device-mapper /proc/misc && echo yes || echo no)"
mkdir -p "$BUILD"
# Guests run one after the other, and so does all else; but the one beside the other where there are two CPUs.
jobs=()
[[ $(nproc) == 1 ]] || jobs=(-j 2 --rules 'seq={tests/vm,tests/boot}/**' --rules 'seq=**')
status=0
# shellcheck disable=SC2086 # words
CMOCKA_MESSAGE_OUTPUT=TAP prove -e '' --timer "${jobs[@]}" ${PROVE_FLAGS:-} "${files[@]}" 2>&1 </dev/null | tee "$log" || status=$?
if [[ $status != 0 ]] && grep -q '^Result: PASS' "$log"; then
	echo "prove: ended with $status before all files had run" >&2
	exit "$status"
fi

for tier in "${tiers[@]}"; do
	ms=0 ran=0
	for f in "${files[@]}"; do
		[[ ${tier_of[$f]} == "$tier" ]] || continue
		read -r t state < <(file_line "$f")
		ms=$((ms + t))
		[[ $state == skipped ]] || ran=$((ran + 1))
	done
	printf 'tier %-12s %3d files, %3d ran, %5d.%d s\n' "$tier" "${count[$tier]}" "$ran" $((ms / 1000)) $((ms % 1000 / 100))
	if [[ $ran == 0 ]]; then
		echo "prove: every test of tier '$tier' was skipped" >&2
		status=1
	fi
done
# prove's closing lines once more, as the last thing to be read
grep -E '^(All tests successful|Files=|Result: )' "$log" | tail -n 3 || true
grep -q '^Result: PASS' "$log" || status=1
exit "$status"
