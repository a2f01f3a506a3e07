#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: hwluks on each kind of broken engine, met by format first and by open first, broken from the start or later; the raw disk against libcrypto.
# Must not know: what the guest script tests.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

# $1: name; $2: fault as geode-model takes it; $3: added to the kernel command line.
broken() {
	for first in format open; do
		guest "broken-$1-$first" --geode "$2" --append "$3" --env "FIRST=$first" --disk 64 --limit 600 \
			--file tests/vm/volume-lib.sh:/tests/volume-lib.sh \
			--file build/i386/hwluks:/usr/sbin/hwluks tests/vm/geode/broken.sh
		check_maps
	done
}

broken data data ''
broken notests data cryptomgr.notests
broken min data,min=512 ''
broken after data,after=400 ''
broken hang-load hang ''
broken hang-after hang,after=400 ''

# It breaks once its driver is in: the kernel's test of a new instance on it fails.
for first in format open unproven; do
	guest "late-$first" --geode data,armed --env "FIRST=$first" --disk 64 --limit 400 \
		--file tests/vm/volume-lib.sh:/tests/volume-lib.sh \
		--file build/i386/hwluks:/usr/sbin/hwluks tests/vm/geode/broken-late.sh
	check_maps
done
done_testing
