#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: letting prove run a command that is no test script: its exit status becomes one line of TAP.
# Must not know: what the command checks.
#
# as-tap.sh DESCRIPTION COMMAND [ARGUMENT...]
what=$1
shift
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
echo 1..1
"$@" >"$out" 2>&1
status=$?
if [ "$status" -eq 0 ]; then
	echo "ok 1 - $what"
else
	echo "not ok 1 - $what"
	tail -n 200 "$out" | sed 's/^/# /' >&2
	echo "# exit status $status" >&2
fi
exit "$status"
