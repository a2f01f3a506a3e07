#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the Geode model with the kernel's own driver; the raw disk against libcrypto.
# Must not know: hwluks.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

guest geode-rig --geode none tests/vm/geode/rig.sh
check_maps
is 'no request was beyond the engine' "$(stat_of rejected)" 0
cmp_ok "the model's statistics hold the guest's bytes" "$(stat_of cbc_enc_bytes)" -ge 1310720
# and the check can fail: another key must not match
must_fail 'a wrong key is noticed' "$vm_build/ciphertext" --disk "$RUN/disk.img" --sectors 512 \
	--cipher aes-cbc-plain --key 00000000000000000000000000000000 --pattern 'hwluks rig aes-cbc-plain 128'
done_testing
