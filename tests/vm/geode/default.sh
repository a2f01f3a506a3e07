# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: `hwluks format DEVICE` with nothing said, on the instruction clock: the spec it chooses, and who does the data.
# Must not know: how hwluks decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

size=1048576
next_slot
format 0 'format with nothing said'
is 'it chose the fastest of the standard class that the engine serves' "$(json cipher) $(json key_size)" \
	'aes-cbc-essiv:sha256 128'
like 'it measured' "$(cat "$OUT")" '*"write_mbps"*'
diag "$(grep -A12 '"measured"' "$OUT" | tr -d '\n')"
is 'chosen' "$(json chosen)" true
is 'no instance of what was tested and measured is left' "$(grep -E '^driver.*(xts|essiv)\(' /proc/crypto)" ''
open_vol 'opens'
write_vol aes-cbc-essiv:sha256 512 $size 'hwluks geode default'
is 'every sector written went through the engine' "$(hw_ops cbc_enc) $(hw_bytes cbc_enc)" "$w_n $size"
read_vol default $size
is 'every sector read went through the engine' "$(hw_ops cbc_dec) $(hw_bytes cbc_dec)" "$w_n $size"
ok 'closes' hwluks close vol

# The passphrase's price: the plan promises two seconds on this machine, and a 500 MHz Geode would take 16 for what
# libcryptsetup tries first.
next_slot
start=$(tap_seconds)
run 0 'format with a key slot made for this machine' hwluks format --batch-mode --key-file $pw \
	--cipher aes-cbc-essiv:sha256 --key-size 128 $disk
like 'the plan says how long an unlock takes' "$(tr -s ' \n' ' ' <"$OUT")" '*argon2id, about 2.0 s to unlock*'
diag "format: $(($(tap_seconds) - start)) s; $(grep -A1 passphrase "$OUT" | tr -s ' \n' ' ')"
start=$(tap_seconds)
run 0 'the passphrase is right' hwluks open --test-passphrase --key-file $pw $disk
took=$(($(tap_seconds) - start))
diag "unlock: $took s; $(cryptsetup luksDump $disk | grep -E 'Time cost|Memory|Threads' | tr -s ' \t\n' ' ')"
cmp_ok 'and checking it took no longer than said, twice at most' $took -le 4
sync
done_testing
