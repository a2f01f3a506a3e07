# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: verification of a Geode engine whose fault the kernel's self-tests did not see. WANT: outcome; LEAST: operations before it.
# Must not know: commands of hwluks.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

k16=000102030405060708090a0b0c0d0e0f
get() { sed -n "s/^$1 //p" "$OUT"; }

ok 'modprobe' modprobe geode_aes
is 'the kernel trusts it' "$(crypto_field cbc-aes-geode selftest)" passed
hw_arm on
start=$(tap_seconds)
run 13 'verified' verify-tool verify aes-cbc-plain64 128 512
sed 's/^/# /' "$OUT"
is 'outcome' "$(get outcome) $(get driver)" "$WANT cbc-aes-geode"
cmp_ok 'operations before' "$(get operations)" -ge "$LEAST"
# A stuck poll holds the only CPU with interrupts off until the driver gives up in a BUG: 327,680 register reads, 10 to 35 s as the
# host is fast. Nobody can act before that, so the answer is due within the stall limit of 10 s, and a little, after it.
if [ "$WANT" = hung ]; then
	bug=$(dmesg | sed -n 's/^\[ *\([0-9]*\)\.[0-9]*\] kernel BUG at drivers\/crypto\/geode-aes.*/\1/p' | head -n 1)
	cmp_ok 'the answer comes soon after the CPU is back' $(($(tap_seconds) - ${bug:-0})) -le 15
else
	cmp_ok 'within the limit' $(($(tap_seconds) - start)) -le 30
fi
[ "$WANT" = hung ] || is 'nothing is left behind' "$(get left)" ''
[ "$WANT" != hung ] || like 'what is left behind is named' "$(get left)" '*hwluks-verify-*/dev/loop*'
ok 'quarantine' verify-tool quarantine geode_aes
is 'took all three' "$(get lowered)" 3
faults=$(hw_faults)
rc=0
with_limit 20 dmsetup create soft --table "0 512 crypt aes-cbc-plain64 $k16 0 /dev/vda 0" || rc=$?
is 'a volume opens' $rc 0
note map "0 512 512 aes-cbc-plain64 $k16 hwluks verify"
yes 'hwluks verify' | head -c 262144 >/run/plain
rc=0
with_limit 20 dd if=/run/plain of=/dev/mapper/soft bs=64k oflag=direct || rc=$?
is 'and is written' $rc 0
is 'not by the engine' "$(hw_faults)" "$faults"
ok 'served' verify-tool served soft
diag "$(get driver): $(get evidence)"
ok 'closes' dmsetup remove soft
[ "$WANT" = hung ] || run 0 'the software is verified' verify-tool verify aes-cbc-plain64 128 512
done_testing
