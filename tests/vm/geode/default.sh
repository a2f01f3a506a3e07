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
open_vol 'opens'
write_vol aes-cbc-essiv:sha256 512 $size 'hwluks geode default'
is 'every sector written went through the engine' "$(hw_ops cbc_enc) $(hw_bytes cbc_enc)" "$w_n $size"
read_vol default $size
is 'every sector read went through the engine' "$(hw_ops cbc_dec) $(hw_bytes cbc_dec)" "$w_n $size"
ok 'closes' hwluks close vol
sync
done_testing
