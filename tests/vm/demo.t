#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the demonstration without a person: it ends well and shows its essential lines, none wider than 80 columns.
# Must not know: the story in detail.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

ok 'the demonstration ends well' tests/vm/demo.sh
cp "$OUT" "$tap_dir/demo"
while IFS= read -r line; do
	ok "it shows: $line" grep -qF -- "$line" "$tap_dir/demo"
done <<'END'
model's, not a board's
# hwluks detect
geode-aes: not loaded
aes-cbc-plain64, 256-bit key is refused
(exit code 10)
--cipher aes-cbc-essiv:sha256 --key-size 128
Measured here
is a luks2 volume now
served by essiv(cbc-aes-geode,sha256-generic)
4,194,304 of 4,194,304 bytes encrypted
4,194,304 of 4,194,304 bytes decrypted
evidence    recorded
model's figures, not a board's
(exit code 13)
0 of 4,194,304 bytes decrypted
END
ok 'nothing but the story is shown' sh -c "! grep -E '^(ok|not ok) [0-9]|^1\.\.|^#@|^#(BEGIN|END|OFF)' '$tap_dir/demo'"
wide=$(grep -v '^UUID ' "$tap_dir/demo" | awk 'length > 80')
is 'no line is wider than 80 columns' "$wide" ''
done_testing
