#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: that the amd64 guests are the machines they stand for: no AES, AES-NI, virtio-crypto.
# Must not know: hwluks.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

guest machine-noaes --arch amd64 --env MACHINE=noaes tests/vm/machine.sh
guest machine-aesni --arch amd64 --cpu Westmere --env MACHINE=aesni tests/vm/machine.sh
guest machine-virtio --arch amd64 --virtio-crypto --env MACHINE=virtio tests/vm/machine.sh
done_testing
