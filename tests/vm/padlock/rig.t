#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: booting the PadLock guests that need no hwluks, and comparing what they left on the disk with libcrypto.
# Must not know: hwluks; what rig.sh does in the guest, but for its notes "ciphertext NAME SPEC KEY OFFSET SECTORS".
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=${VM_BUILD:-$(cd "$here/../../.." && pwd)/build/vm}
# shellcheck source=tests/vm/tap.sh
. "$here/../tap.sh"

# Runs a script in a guest with the model; its results become part of this document.
# $1: architecture; $2: script. Status 1 if the guest can't be made.
guest() {
	module=$build/padlock_model-$1.ko
	tool=$build/crypto_user-$1
	if [ ! -e "$module" ] || [ ! -e "$tool" ]; then
		skip "$2 in an $1 guest" "not built: make vm-padlock"
		return 1
	fi
	diag "$2 in an $1 guest"
	"$here/../guest.sh" --arch "$1" --name "padlock-$2-$1" --limit 240 --file "$module:/padlock_model.ko" \
		--file "$tool:/crypto_user" "$here/$2.sh" >"$tap_dir/guest"
	awk -v n="$tap_n" '/^1\.\.[0-9]+$/ { next }
		/^(not )?ok [0-9]+ - / { sub(/ok [0-9]+/, "ok " ++n) }
		{ print }' "$tap_dir/guest"
	tap_n=$((tap_n + $(grep -cE '^(not )?ok [0-9]' "$tap_dir/guest")))
	tap_bad=$((tap_bad + $(grep -c '^not ok [0-9]' "$tap_dir/guest")))
	return 0
}

# The rig, then the guest's disk. $1: architecture.
rig() {
	arch=$1 run=$build/run/padlock-rig-$1 count=0
	guest "$arch" rig || return
	while read -r key name spec hex offset sectors; do
		[ "$key" = ciphertext ] || continue
		count=$((count + 1))
		ok "$arch: $name: ciphertext on the disk equals libcrypto's" "$build/ciphertext" --step 1 \
			--disk "$run/disk.img" --cipher "$spec" --key "$hex" \
			--offset "$offset" --sectors "$sectors" --pattern "hwluks rig $name"
	done <"$run/notes"
	is "$arch: mappings compared with libcrypto" "$count" 9
}

rig amd64
rig i386
guest amd64 quarantine
done_testing
