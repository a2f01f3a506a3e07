#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: booting the guests of the PadLock rig, and comparing what they left on the disk with libcrypto.
# Must not know: hwluks; what rig.sh does in the guest, but for its notes "ciphertext NAME SPEC KEY OFFSET SECTORS".
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${VM_BUILD:-$(cd "$here/../../.." && pwd)/build/vm}
# shellcheck source=tests/vm/tap.sh
. "$here/../tap.sh"

# One guest and its disk. $1: architecture.
rig() {
	arch=$1
	module=$build/padlock_model-$arch.ko
	if [ ! -e "$module" ]; then
		skip "PadLock guest, $arch" "$module is not built: make vm-padlock"
		return
	fi
	diag "PadLock guest, $arch"
	"$here/../guest.sh" --arch "$arch" --name "padlock-$arch" --limit 240 \
		--file "$module:/padlock_model.ko" "$here/rig.sh" >"$tap_dir/guest"
	# guest.sh's document becomes part of this one
	awk -v n="$tap_n" '/^1\.\.[0-9]+$/ { next }
		/^(not )?ok [0-9]+ - / { sub(/ok [0-9]+/, "ok " ++n) }
		{ print }' "$tap_dir/guest"
	tap_n=$((tap_n + $(grep -cE '^(not )?ok [0-9]' "$tap_dir/guest")))
	tap_bad=$((tap_bad + $(grep -c '^not ok [0-9]' "$tap_dir/guest")))

	count=0
	while read -r key name spec hex offset sectors; do
		[ "$key" = ciphertext ] || continue
		count=$((count + 1))
		ok "$arch: $name: ciphertext on the disk equals libcrypto's" "$build/ciphertext" --step 1 \
			--disk "$build/run/padlock-$arch/disk.img" --cipher "$spec" --key "$hex" \
			--offset "$offset" --sectors "$sectors" --pattern "hwluks rig $name"
	done <"$build/run/padlock-$arch/notes"
	is "$arch: mappings compared with libcrypto" "$count" 9
}

rig amd64
rig i386
done_testing
