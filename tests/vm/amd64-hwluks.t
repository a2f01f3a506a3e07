#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: hwluks in the 64-bit guests: PadLock, virtio-crypto, AES-NI, nothing; the raw disk against libcrypto.
# Must not know: what the guest scripts test.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

# $1: name of the script; rest: options of guest.sh.
amd64() {
	a_name=$1
	shift
	guest "amd64-$a_name" --arch amd64 --memory 512 --limit 600 --disk 256 "$@" \
		--file tests/vm/volume-lib.sh:/tests/volume-lib.sh \
		--file build/amd64/hwluks:/usr/sbin/hwluks "tests/vm/amd64/$a_name.sh"
}

amd64 padlock --file build/vm/padlock_model-amd64.ko:/padlock_model.ko
check_maps
amd64 virtio --virtio-crypto
amd64 aesni --cpu max
check_maps
amd64 noaes
done_testing
