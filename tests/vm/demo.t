#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the demonstration without a person: it ends well and shows its essential lines.
# Must not know: the story in detail.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

ok 'the demonstration ends well' tests/vm/demo.sh
cp "$OUT" "$tap_dir/demo"
for line in '# hwluks detect' 'geode-aes: not loaded' 'Nothing was written' '--adapt takes that one' \
	'is a luks2 volume now' 'the engine itself counted 8388608 bytes' 'MB/s on the engine' 'not those'; do
	ok "it shows: $line" grep -qF -- "$line" "$tap_dir/demo"
done
is 'no line is wider than 80 columns' "$(awk 'length > 80' "$tap_dir/demo")" ''
done_testing
