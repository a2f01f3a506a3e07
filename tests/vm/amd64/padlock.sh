# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the main job on a VIA PadLock: every key size runs on it, IV and tweak too; the model's counters are the judge.
# Must not know: how hwluks decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

size=1048576
ok 'the model' insmod /padlock_model.ko
ok 'detect' hwluks detect --json
is 'detect: the row' "$(json id)" via-padlock-ace
like 'detect: recognised by its flags' "$(json recognised_by)" '*ace ace_en*'
is 'detect: the driver is not loaded' "$(json driver_state)" not-loaded
ok 'load' hwluks load --json
is 'load: the module' "$(json what)" padlock-aes
is 'load: self-test' "$(crypto_field cbc-aes-padlock selftest)" passed
ok 'load again' hwluks load
like 'load again: nothing to load' "$(cat "$OUT")" '*Nothing to load*'

# $1: cipher; $2: key bits; $3: driver; $4 $5 $6: data, IV, tweak; $7: blocks of 16 bytes beside the data, per sector.
volume() {
	v_what="$1 $2"
	next_slot
	format 0 "$v_what: formats" --cipher "$1" --key-size "$2"
	is "$v_what: verdict" "$(json verdict) $(json data) $(json iv) $(json tweak)" "accelerated $4 $5 $6"
	open_vol "$v_what: opens" || return
	is "$v_what: served by" "$(json served_by)" "$3"
	is "$v_what: evidence" "$(json evidence)" recorded
	write_vol "$1" 512 $size "hwluks padlock $v_what"
	is "$v_what: every byte written went through the engine" "$(hw_bytes all)" $((size + $7 * 16 * w_n))
	read_vol "$v_what" $size
	is "$v_what: every byte read went through the engine" "$(hw_bytes all)" $((size + $7 * 16 * w_n))
	ok "$v_what: closes" hwluks close vol
}
volume aes-cbc-essiv:sha256 128 'essiv(cbc-aes-padlock,sha256-generic)' hardware hardware none 1
volume aes-cbc-essiv:sha256 256 'essiv(cbc-aes-padlock,sha256-generic)' hardware hardware none 1
volume aes-cbc-plain64 256 cbc-aes-padlock hardware none none 0
volume aes-xts-plain64 256 'xts(ecb-aes-padlock)' hardware none hardware 1
volume aes-xts-plain64 512 'xts(ecb-aes-padlock)' hardware none hardware 1
run 0 'advise xts 512' hwluks advise --json --cipher aes-xts-plain64 --key-size 512
is 'advise: the template over the engine' "$(json driver)" 'xts(ecb-aes-padlock)'

# The engine breaks while the machine is up: nothing is written through it.
next_slot
before=$(device_hash $disk)
echo 1 >/sys/module/padlock_model/parameters/fault
format 13 'a broken engine: format refuses' --cipher aes-cbc-plain64 --key-size 128
is 'a broken engine: no byte changed' "$(device_hash $disk)" "$before"
format 0 'a broken engine: --software formats' --software --cipher aes-cbc-essiv:sha256 --key-size 256
is '--software: verdict' "$(json verdict)" software
open_vol 'a broken engine: the volume opens'
write_vol aes-cbc-essiv:sha256 512 $size 'hwluks padlock software'
is 'a broken engine: it did nothing' "$(hw_bytes all)" 0
read_vol 'a broken engine' $size
hwluks close vol
sync
done_testing
