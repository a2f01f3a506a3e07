#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: hwluks refresh on an engine that came late, sound and broken; the raw disk against libcrypto.
# Must not know: what the guest scripts test.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

# $1: name; $2: script; rest: options of guest.sh.
refresh() {
	r_name=$1 r_script=$2
	shift 2
	guest "refresh-$r_name" --arch amd64 --memory 512 --limit 600 --disk 128 "$@" \
		--file tests/vm/volume-lib.sh:/tests/volume-lib.sh --file tests/vm/refresh-lib.sh:/tests/refresh-lib.sh \
		--file build/vm/padlock_model-amd64.ko:/padlock_model.ko \
		--file build/amd64/hwluks:/usr/sbin/hwluks "tests/vm/amd64/$r_script.sh"
}

refresh late refresh
check_maps
refresh broken refresh-broken --env 'MODEL=fault=1 fault_min=512'
refresh failed refresh-broken --env MODEL=fault=1
done_testing
