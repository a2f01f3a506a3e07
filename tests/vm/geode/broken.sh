# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: hwluks with a broken Geode engine: nothing is written through it, nothing is lost, software works. FIRST is the command
#      that meets the engine first, format or open.
# Must not know: what is broken about it.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

spec='--cipher aes-cbc-essiv:sha256 --key-size 128'
limit=90 # seconds for one command, on a slow machine; the promise is that it ends by itself
size=262144

# Runs hwluks under the limit. $1: wanted exit code; $2: description; rest: arguments.
bounded() {
	b_rc=0 b_want=$1 b_what=$2
	shift 2
	b_start=$(tap_seconds)
	with_limit $limit hwluks "$@" >"$OUT" 2>"$ERR" || b_rc=$?
	is "$b_what: exit code" $b_rc "$b_want" || tap_show
	diag "$b_what: $(($(tap_seconds) - b_start)) s"
}

# A volume from the time before the engine broke, made and filled by others.
next_slot
old=$disk
# shellcheck disable=SC2086
ok 'a volume made by cryptsetup' cryptsetup luksFormat $fast --type luks2 $spec --key-file $pw $old
cryptsetup open --key-file $pw $old vol
yes "somebody's only copy" | head -c $size >/run/old-plain
ok 'filled' dd if=/run/old-plain of=/dev/mapper/vol bs=64k oflag=direct
cryptsetup close vol
old_hash=$(device_hash $old)
is 'all that without the engine' "$(crypto_field cbc-aes-geode name)" ''

# The old volume opens in software, with a warning, and its data is there. $1: description.
open_old() {
	bounded 0 "$1" open --json --key-file $pw $old vol
	is "$1: verdict" "$(json verdict)" software
	unlike "$1: served by" "$(json served_by)" '*geode*'
	[ -z "$2" ] || like "$1: a warning" "$(cat "$ERR")" '*warning*'
	hw_mark
	ok "$1: reads" dd if=/dev/mapper/vol of=/run/back bs=64k iflag=direct count=$((size / 65536))
	ok "$1: its data is there" cmp /run/old-plain /run/back
	is "$1: the engine did nothing" "$(hw_bytes cbc_dec)" 0
	bounded 0 "$1: closes" close vol
	is "$1: no byte of the device changed" "$(device_hash $old)" "$old_hash"
}

[ "$FIRST" = format ] || open_old 'open' warned
next_slot
before=$(device_hash $disk)
if [ "$FIRST" = format ]; then
	# shellcheck disable=SC2086
	bounded 13 'format refuses' format --json $fast $spec --key-file $pw $disk
	is 'format refused: no byte changed' "$(device_hash $disk)" "$before"
	like 'format refused: it says so' "$(cat "$ERR")" '*Nothing was written*'
	# shellcheck disable=SC2086
	bounded 13 'format refuses again' format --json $fast $spec --key-file $pw $disk
	is 'format refused again: no byte changed' "$(device_hash $disk)" "$before"
fi
# shellcheck disable=SC2086
bounded 0 '--software formats' format --json $fast $spec --software --key-file $pw $disk
is '--software: verdict' "$(json verdict)" software
bounded 0 'a new volume opens' open --json --key-file $pw $disk vol
unlike 'a new volume: served by' "$(json served_by)" '*geode*'
write_vol aes-cbc-essiv:sha256 512 $size 'hwluks broken engine'
is 'a new volume: the engine did nothing' "$(hw_bytes all)" 0
read_vol 'a new volume' $size
bounded 0 'a new volume: closes' close vol
[ "$FIRST" = open ] || open_old 'open after that' ''

# xts over the engine's ecb is out, too: the plain names must end in software.
for c in aes-xts-plain64:32 aes-cbc-plain64:16 aes-ecb:16; do
	key=$(head -c "${c#*:}" /dev/zero | od -An -v -tx1 | tr -d ' \n' | sed 's/00/a5/g; s/^a5/17/')
	hw_mark
	if with_limit 30 dmsetup create c --table "0 64 crypt ${c%:*} $key 0 /dev/vda $((slot_n * slot_mib * 2048))"; then
		dd if=/dev/zero of=/dev/mapper/c bs=32k count=1 oflag=direct 2>/dev/null
		dmsetup remove c
		is "${c%:*} opened by others does not reach the engine" "$(hw_bytes all)" 0
	else
		fail "${c%:*} opens in software"
	fi
done
sync
done_testing
