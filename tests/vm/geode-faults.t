#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: each fault of the Geode model, as the kernel's own driver and the raw disk show it.
# Must not know: hwluks.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

# $1: what must be so of the raw disk: good or bad.
raw_disk() {
	if [ "$1" = good ]; then
		check_maps
	else
		must_fail "$tap_label: the raw disk is not libcrypto's" "$vm_build/ciphertext" \
			--disk "$RUN/disk.img" --sectors 512 --cipher aes-cbc-plain64 \
			--key 000102030405060708090a0b0c0d0e0f --pattern 'hwluks fault'
		is "$tap_label: $2 sectors are wrong" "$(sed -n 's/.*compared, //p' "$OUT")" "$2 differ"
	fi
}

guest fault-data --geode data --env FAULT=data tests/vm/geode/fault-load.sh
raw_disk good
guest fault-iv --geode iv --env FAULT=iv tests/vm/geode/fault-load.sh
raw_disk good
guest fault-notests --geode data --append cryptomgr.notests --env FAULT=notests \
	tests/vm/geode/fault-load.sh
raw_disk bad 512
guest fault-min --geode data,min=512 --env FAULT=min tests/vm/geode/fault-late.sh
raw_disk bad 512
guest fault-armed --geode data,armed,after=12 --env FAULT=armed tests/vm/geode/fault-late.sh
raw_disk bad 500
guest fault-hang-load --geode hang --env FAULT=load tests/vm/geode/fault-hang.sh
raw_disk good
guest fault-hang --geode hang,armed,after=3 --env FAULT=armed tests/vm/geode/fault-hang.sh
done_testing
