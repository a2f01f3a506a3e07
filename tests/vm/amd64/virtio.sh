# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: a virtio-crypto device: it is there, it works, dm-crypt cannot use it, and hwluks says why.
# Must not know: how hwluks decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

# One accelerator's fields from detect's JSON. $1: id.
row() { sed -n "/\"id\": \"$1\"/,/\"source\"/p" "$OUT" >/run/row; }
field() { sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\"]*[^\",]\)\"\{0,1\},\{0,1\}\$/\1/p" /run/row | head -n 1; }

ok 'its driver loads' modprobe virtio_crypto
is 'and passes its self-test' "$(crypto_field virtio_crypto_aes_cbc selftest)" passed
modprobe crypto_user
ok 'detect' hwluks detect --json
row virtio-crypto
is 'detect: registered' "$(field driver_state)" registered
is 'detect: not usable by dm-crypt' "$(field usable_by_dm_crypt)" false
is 'detect: why' "$(field usable_reason)" memory-flag
ok 'load' hwluks load
like 'load: skipped, and why' "$(tr '\n' ' ' <"$OUT" | tr -s ' ')" '*skip virtio*allocate memory*'
ok 'advise aes-cbc-plain64 128' hwluks advise --json --cipher aes-cbc-plain64 --key-size 128
is 'advise: software' "$(json verdict)" software
like 'advise: the reason' "$(cat "$OUT")" '*memory-flag*'
run 0 'advise its driver by name' hwluks advise --json --cipher capi:virtio_crypto_aes_cbc-plain64 --key-size 128
is 'by name: impossible, as the kernel says' "$(json verdict)" impossible
must_fail 'the kernel says so' dmsetup create c --table \
	"0 64 crypt capi:virtio_crypto_aes_cbc-plain64 000102030405060708090a0b0c0d0e0f 0 /dev/vda 0"

next_slot
format 0 'format with nothing said'
is 'it chose a software spec' "$(json verdict)" software
is 'Adiantum' "$(json cipher)" xchacha12,aes-adiantum-plain64
open_vol 'opens'
unlike 'served by' "$(json served_by)" '*virtio*'
ok 'closes' hwluks close vol
done_testing
