# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: an open volume, in use all the time, is bound to a driver that came later; flags set, kept and cleared; plain volumes.
# Must not know: how hwluks does it.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh
# shellcheck source=tests/vm/refresh-lib.sh
. /tests/refresh-lib.sh

refresh() { run "$1" "$2" hwluks refresh --json --key-file $pw ${3:-} vol; }
flags_now() { dmsetup table vol | cut -d' ' -f 9-; }
first_mib() { dd if=/dev/mapper/vol bs=64k count=16 iflag=direct 2>/dev/null | sha256sum; }

volume_in_use aes-xts-plain64 256
data=$(first_mib)
ok 'the engine appears' insmod /padlock_model.ko
ok 'its driver is loaded' hwluks load
hw_mark
wait_rounds 'driver loaded late'
is 'the engine does nothing for the volume' "$(hw_bytes all)" 0

# --- what must change nothing
table=$(table_of vol)
echo 'no such passphrase' >/run/wrong
run 2 'a wrong passphrase' hwluks refresh --key-file /run/wrong vol
run 1 'flags to set and to clear at once' hwluks refresh --clear-flags --allow-discards --key-file $pw vol
run 4 'what is not open' hwluks refresh --key-file $pw nothing
is 'the table is what it was' "$(table_of vol)" "$table"
hw_mark
wait_rounds 'refused'
is 'and the engine still does nothing' "$(hw_bytes all)" 0
ok 'a suspended volume' dmsetup suspend vol
run 5 'is refused' hwluks refresh --key-file $pw vol
like 'and stays suspended' "$(dmsetup info vol)" '*SUSPENDED*'
ok 'and goes on' dmsetup resume vol

# --- the new driver
refresh 0 'refresh'
is 'served by' "$(json served_by)" 'xts(ecb-aes-padlock)'
is 'the old driver is no longer listed' "$(json served_before)" null
is 'evidence' "$(json evidence)" recorded
is 'verdict' "$(json verdict)" accelerated
hw_mark
wait_rounds 'refreshed'
cmp_ok 'the engine does it from now on' "$(hw_bytes all)" -ge 2621440
is 'the data is what it was' "$(first_mib)" "$data"
ok 'status' hwluks status --json vol
is 'status knows' "$(json served_by) $(json evidence)" 'xts(ecb-aes-padlock) recorded'
ok 'the kernel is calm' sh -c '! dmesg | grep -E "BUG|Oops|WARNING|hung task"'

# --- flags
refresh 0 'two flags' '--perf-no_read_workqueue --allow-discards'
is 'they are in the table' "$(flags_now)" '2 allow_discards no_read_workqueue'
is 'the same driver is known' "$(json served_by) $(json evidence)" 'xts(ecb-aes-padlock) recorded'
refresh 0 'none named'
is 'they are kept' "$(flags_now)" '2 allow_discards no_read_workqueue'
unlike 'and not in the header' "$(cryptsetup luksDump $disk)" '*no-read-workqueue*'
refresh 0 'another, persistent' '--perf-no_write_workqueue --persistent'
is 'it alone holds' "$(flags_now)" '1 no_write_workqueue'
like 'it is in the header' "$(cryptsetup luksDump $disk)" '*Flags:*no-write-workqueue*'
refresh 0 'one more, not persistent' --allow-discards
is 'beside that of the header' "$(flags_now)" '2 allow_discards no_write_workqueue'
refresh 0 'cleared' '--clear-flags --persistent'
is 'none holds' "$(flags_now)" ''
unlike 'none is in the header' "$(cryptsetup luksDump $disk)" '*workqueue*'
ok 'for people' hwluks refresh --key-file $pw vol
like 'says who serves it' "$(cat "$OUT")" '*served by xts(ecb-aes-padlock) (recorded)*'
wait_rounds 'flags'
: >/run/stop
wait
is 'the data is what it was, still' "$(first_mib)" "$data"
ok 'close' hwluks close vol
ok 'it opens again' cryptsetup open --key-file $pw $disk vol
is 'with the same data' "$(first_mib)" "$data"
cryptsetup close vol

# --- a plain volume
next_slot
printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' >/run/key
printf 'baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' >/run/key.wrong
chmod 600 /run/key /run/key.wrong
ok 'plain' cryptsetup open --type plain --cipher aes-cbc-plain64 --key-size 256 --key-file /run/key $disk plain
table=$(table_of plain)
run 1 'plain: no key' sh -c 'hwluks refresh plain </dev/null'
run 2 'plain: another key' hwluks refresh --key-file /run/key.wrong --allow-discards plain
is 'plain: nothing changed' "$(table_of plain)" "$table"
run 0 'plain: its key' hwluks refresh --json --key-file /run/key --perf-no_read_workqueue plain
like 'plain: the flag is there' "$(dmsetup table plain)" '*no_read_workqueue'
is 'plain: served by' "$(json served_by)" cbc-aes-padlock
cryptsetup close plain
done_testing
