# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: a Geode engine that was right when its driver was loaded and breaks afterwards: the kernel's own test of a new instance
#      fails. FIRST is the command that meets it first: format, open, or unproven (open --no-verify).
# Must not know: how hwluks finds out.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

spec='--cipher aes-cbc-essiv:sha256 --key-size 128'
size=262144

# A volume of the engine's good days.
next_slot
old=$disk
# shellcheck disable=SC2086
format 0 'format on the healthy engine' $spec
is 'its data runs on the engine' "$(json verdict)" partly
open_vol 'open on the healthy engine'
write_vol aes-cbc-essiv:sha256 512 $size 'hwluks late fault'
is 'written by the engine' "$(hw_bytes cbc_enc)" $size
run 0 'close' hwluks close vol
old_hash=$(device_hash $old)

# A driver loaded anew has no instances, and nothing of it is proven yet.
ok 'the driver is unloaded' rmmod geode_aes
run 0 'the driver is loaded again' hwluks load
hw_arm on

open_broken() {
	run 0 "$1: opens" hwluks open --json --key-file $pw $2 $old vol
	is "$1: verdict" "$(json verdict)" software
	unlike "$1: not served by the engine" "$(json served_by)" '*geode*'
	like "$1: a warning says what was done" "$(cat "$ERR")" '*out of use*'
	read_vol "$1" $size
	is "$1: the engine did nothing" "$(hw_bytes all)" 0
	run 0 "$1: closes" hwluks close vol
	is "$1: no byte of the device changed" "$(device_hash $old)" "$old_hash"
}

case $FIRST in
format)
	next_slot
	before=$(device_hash $disk)
	# shellcheck disable=SC2086
	format 13 'format refuses' $spec
	like 'format says so' "$(cat "$ERR")" '*Nothing was written*'
	is 'format refused: no byte changed' "$(device_hash $disk)" "$before"
	# shellcheck disable=SC2086
	format 0 'format --software' $spec --software
	is '--software: verdict' "$(json verdict)" software
	;;
open)
	run 11 'open --require-accel' hwluks open --require-accel --key-file $pw $old vol
	must_fail 'and nothing is open' test -e /dev/mapper/vol
	open_broken open ''
	;;
unproven) open_broken 'open --no-verify' --no-verify ;;
esac
done_testing
