#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: installing, on Debian 12 or later, all that building and testing hwluks needs.
# Must not know: what a package is for; the lists beside it and in tests/vm say that.
#
# deps.sh [--print]   --print: only name the packages that are missing
# Quick and without a network when all is installed. Uses sudo by itself when not root.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)

# Prints the packages of all lists, one a line, without comments.
wanted() {
	cat "$top/tools/packages.txt" "$top/tests/vm/packages.txt" | sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' | sort -u
}

# Prints those that are not installed. A package that is only provided by another one (pkg-config by
# pkgconf, from Debian 13 on) counts as installed when its provider is.
missing() {
	installed=$(dpkg-query -W -f '${db:Status-Status} ${binary:Package} ${Provides}\n' | awk '$1 == "installed" {
		sub(/:.*/, "", $2); print $2
		for (i = 3; i <= NF; i++) { gsub(/[(,].*/, "", $i); if ($i ~ /^[a-z0-9]/) print $i }
	}')
	for p in $(wanted); do
		printf '%s\n' "$installed" | grep -qxF -e "$p" || printf '%s\n' "$p"
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "deps: not root, and there is no sudo. As root, run: apt-get install $list" >&2
		exit 1
	fi
}

command -v dpkg-query >/dev/null || {
	echo 'deps: this is not Debian. Install what tools/packages.txt and tests/vm/packages.txt name, by hand.' >&2
	exit 1
}
list=$(missing | tr '\n' ' ')
if [ "${1:-}" = --print ]; then
	printf '%s\n' "$list"
	exit 0
fi
if [ -z "$list" ]; then
	echo 'deps: everything is installed.'
	exit 0
fi
echo "deps: installing $list"
# A list that cannot be refreshed (one of several mirrors, say) is no failure: installing decides.
as_root apt-get update -q || echo 'deps: not every package list could be refreshed.' >&2
# shellcheck disable=SC2086 # a list of words
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $list
