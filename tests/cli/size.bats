#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# The stripped program stays small: it goes into boot images.

@test "stripped, with the release flags, at most 200 KiB" {
	cd "$BATS_TEST_DIRNAME/../.."
	strip -o "$BATS_TEST_TMPDIR/hwluks" "$HWLUKS"
	size=$(stat -c %s "$BATS_TEST_TMPDIR/hwluks")
	echo "$size bytes"
	[ "$size" -le 204800 ]
}
