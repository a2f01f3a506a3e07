# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the verdict of `hwluks advise` against the engine's counters, for a plain mapping of each spec.
# Must not know: how hwluks decides; what is expected comes from the counters alone.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

k16=000102030405060708090a0b0c0d0e0f
k32=${k16}101112131415161718191a1b1c1d1e1f
k64=${k32}2021222324252627f8f9fafbfcfdfeff3031323334353637e8e9eaebecedeeef
sectors=256
ok 'load' hwluks load

# yes or no: $1 as a condition for test(1)
part() { if test "$@"; then echo hardware; else echo software; fi; }

# What the counters say of a mapping: "data iv tweak". One job of 512 bytes a sector is the data, one of 16 bytes is the
# IV or the tweak. $1: cipher; $2: key.
counted() {
	dmsetup create c --table "0 $sectors crypt $1 $2 0 /dev/vda 0" || return
	hw_mark
	dd if=/dev/zero of=/dev/mapper/c bs=64k oflag=direct 2>/dev/null
	c_bytes=$(hw_bytes all) c_small=$(hw_ops all)
	dmsetup remove c
	c_data=$(part "$c_bytes" -ge $((sectors * 512)))
	[ "$c_data" = software ] || c_small=$((c_small - sectors))
	case $1 in
	*essiv*) echo "$c_data $(part $c_small -ge $sectors) none" ;;
	*xts*) echo "$c_data none $(part $c_small -ge $sectors)" ;;
	*) echo "$c_data none none" ;;
	esac
}

for s in aes-cbc-plain:$k16 aes-cbc-plain64:$k16 aes-cbc-plain64:$k32 aes-cbc-essiv:sha256:$k16 aes-cbc-essiv:md5:$k16 \
	aes-cbc-essiv:sha256:$k32 aes-xts-plain64:$k32 aes-xts-plain64:$k64 aes-ecb:$k16; do
	key=${s##*:} cipher=${s%:*}
	bits=$((${#key} * 4))
	run 0 "advise $cipher $bits" hwluks advise --json --cipher "$cipher" --key-size $bits
	is "advise and the counters agree: $cipher $bits" "$(json data) $(json iv) $(json tweak)" "$(counted "$cipher" "$key")"
done
done_testing
