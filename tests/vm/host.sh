# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: host-side drivers (tests/vm/*.t, run by prove from the top of the tree); sourced. Brings tap.sh.
# Must not know: what a guest tests.
#
#   . tests/vm/host.sh
#   guest NAME [guest.sh OPTIONS] SCRIPT...   boots; the guest's tests become tests of this file
#   ... ok, is, cmp_ok ... on "$RUN/disk.img", "$RUN/stats", notes, console
#   done_testing

cd "$(dirname "$0")/../.." || exit 1
vm_build=${VM_BUILD:-$PWD/build/vm}
# shellcheck source=tests/vm/tap.sh
. tests/vm/tap.sh

# One guest run. $1: its name; rest: as guest.sh takes it. Sets RUN, the directory with what it left behind.
guest() {
	RUN=$vm_build/run/$1
	tap_label=$1
	tests/vm/guest.sh --name "$@" >"$tap_dir/guest" 2>"$tap_dir/guest.err" || :
	if ! grep -q '^1\.\.' "$tap_dir/guest"; then
		fail "$tap_label: the guest could not be started" || :
		diag "$(tail -n 20 "$tap_dir/guest.err")"
		return 1
	fi
	while IFS= read -r tap_line; do
		case $tap_line in
		'ok '* | 'not ok '*)
			tap_n=$((tap_n + 1))
			case $tap_line in
			'ok '*) printf 'ok' ;;
			*) printf 'not ok' && tap_bad=$((tap_bad + 1)) ;;
			esac
			printf ' %d - %s: %s\n' "$tap_n" "$tap_label" "${tap_line#* - }"
			;;
		1..*) ;;
		*) printf '%s\n' "$tap_line" ;;
		esac
	done <"$tap_dir/guest"
}

# The values of all notes with a key. $1: key.
notes() { sed -n "s/^$1 //p" "$RUN/notes"; }

# One value of geode-model's statistics. $1: name, for example cbc_enc_bytes.
stat_of() { sed -n "s/^$1 //p" "$RUN/stats"; }

# Compares what each `note map OFFSET SECTORS SECTOR_SIZE CIPHER KEY PATTERN...` of the guest tells of
# with libcrypto's ciphertext.
check_maps() {
	notes map >"$tap_dir/maps"
	[ -s "$tap_dir/maps" ] || fail "the guest noted its mappings"
	while read -r m_offset m_sectors m_size m_cipher m_key m_pattern; do
		ok "raw disk is libcrypto's: $m_cipher, $((${#m_key} * 4)) bits, $m_size" \
			"$vm_build/ciphertext" --disk "$RUN/disk.img" --offset "$m_offset" \
			--sectors "$m_sectors" --sector-size "$m_size" --cipher "$m_cipher" \
			--key "$m_key" --pattern "$m_pattern" || :
	done <"$tap_dir/maps"
}
