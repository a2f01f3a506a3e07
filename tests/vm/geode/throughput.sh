# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: throughput on the instruction clock: every spec in software and with the engine's driver, and what hwluks chooses.
# Must not know: what docs/throughput.md says; the host compares.
#
# Software is measured before the driver is in: afterwards even capi:xts(ecb(aes-generic)) has its tweak done by the
# engine, and an essiv() instance made for a comparison would stay and serve the next one.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

specs='aes-cbc-essiv:sha256:128 aes-cbc-essiv:sha256:256 aes-xts-plain64:256 aes-xts-plain64:512
	xchacha12,aes-adiantum-plain64:256 aes-cbc-essiv:md5:128 aes-cbc-plain64:128 aes-cbc-plain64:256 aes-ecb:128'
# The class that hwluks chooses from.
standard='aes-cbc-essiv:sha256:128 aes-cbc-essiv:sha256:256 aes-xts-plain64:256 aes-xts-plain64:512
	xchacha12,aes-adiantum-plain64:256'
results=/run/results # state spec sector data-by write read driver

# The spread of a median may be this share of it; the clock counts instructions, so it should be next to nothing.
steady() { awk -v m="$1" -v l="$2" -v h="$3" 'BEGIN { exit !(m > 0 && h - l <= m / 100) }'; }
# $1 at least $2 times $3
at_least() { awk -v a="$1" -v f="$2" -v b="$3" 'BEGIN { exit !(b > 0 && a >= f * b) }'; }
# $1 within a hundredth of $2
same() { awk -v a="$1" -v b="$2" 'BEGIN { d = a > b ? a - b : b - a; exit !(d <= b / 100) }'; }

# One spec. $1: software or engine; $2: spec:bits; $3: sector size; $4: length of a run, ms; $5: runs.
# Sets t_write, t_read, t_by.
measure() {
	m_what="$1: ${2%:*} ${2##*:}, $3-byte sectors"
	hw_mark
	ok "$m_what: measured" rate "${2%:*}" "${2##*:}" "$3" "$4" "$5" both || return
	read -r t_write t_wl t_wh t_read t_rl t_rh t_driver <"$OUT"
	# a megabyte and more is data; less is what an IV or a tweak takes
	t_by=software
	[ "$(hw_bytes all)" -lt 1000000 ] || t_by=engine
	ok "$m_what: the runs agree" steady "$t_write" "$t_wl" "$t_wh"
	ok "$m_what: the runs agree, reading" steady "$t_read" "$t_rl" "$t_rh"
	diag "$t_write / $t_read MB/s, $t_driver, data in $t_by, $4 ms"
}

# All specs. $1: software or engine; $2: length of a run, ms.
table() {
	for s in $specs; do
		for size in 512 4096; do
			measure "$1" "$s" $size "$2" 3 || continue
			echo "$1 $s $size $t_by $t_write $t_read $t_driver" >>$results
			note rate "$1 $s $size $t_by $t_write $t_read $t_driver"
		done
	done
}

# One figure of the results. $1: state; $2: spec:bits; $3: sector size; $4: 4 data by, 5 write, 6 read.
result() { awk -v a="$1" -v s="$2" -v z="$3" -v f="$4" '$1 == a && $2 == s && $3 == z { print $f }' $results; }

is 'before: no driver of the engine' "$(crypto_field cbc-aes-geode name)" ''
before=$(hw_counts)
table software 500
is 'software: the engine did nothing' "$(hw_counts)" "$before"
ok 'hwluks load' hwluks load
is 'the driver is in' "$(crypto_field cbc-aes-geode selftest)" passed
table engine 25

# What the engine did and did not do, by its counters.
for s in $specs; do
	want=software
	case $s in
	aes-cbc-*:128 | aes-ecb:128 | aes-xts-plain64:256) want=engine ;;
	esac
	is "${s%:*} ${s##*:}: data in" "$(result engine "$s" 512 4) $(result engine "$s" 4096 4)" "$want $want"
done

# --- what hwluks chooses -----------------------------------------------------------------------------------------
next_slot
format 0 'format with nothing said'
chosen=$(json cipher):$(json key_size)
is 'its choice' "$chosen" aes-cbc-essiv:sha256:128
note chosen "$chosen"
# $1: sector size; $2: least gain of writes
gain() {
	ok "$chosen, $1-byte sectors: writes at least $2 times its software speed" \
		at_least "$(result engine "$chosen" "$1" 5)" "$2" "$(result software "$chosen" "$1" 5)"
	for s in $standard; do
		[ "$s" != "$chosen" ] || continue
		for f in 5 6; do
			what=writes
			[ $f = 5 ] || what=reads
			ok "$chosen, $1-byte sectors: $what are faster than ${s%:*} ${s##*:}" \
				at_least "$(result engine "$chosen" "$1" $f)" 1.01 "$(result engine "$s" "$1" $f)"
		done
	done
}
gain 512 7
gain 4096 14

# Short runs say the same as one of a second.
ok 'a run of a second' rate "${chosen%:*}" "${chosen##*:}" 4096 1000 1 write
read -r t_write _ <"$OUT"
ok 'a run of a second says the same' same "$t_write" "$(result engine "$chosen" 4096 5)"

# With the driver in, the one way to software by name gives the software figure.
ok 'capi:cbc(aes-generic)' rate aes-cbc-plain64 128 512 500 1 write 'capi:cbc(aes-generic)-plain64'
read -r t_write _ <"$OUT"
ok 'capi:cbc(aes-generic) is as fast as software was before' same "$t_write" "$(result software aes-cbc-plain64:128 512 5)"
done_testing
