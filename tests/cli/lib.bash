# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the .bats files that check many things in one test and name each that is wrong. Sourced with `load lib`.
# Must not know: what they check.

bad=0

# What is wrong; the test goes on.
complain() {
	echo "$*"
	bad=1
}

# Last line of such a test.
all_right() { [ "$bad" = 0 ]; }
