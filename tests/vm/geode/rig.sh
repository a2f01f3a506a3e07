# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the Geode model under the kernel's own driver, with plain dm-crypt: what is done in hardware for each spec.
# Must not know: hwluks. It is the yardstick for hwluks's verdicts.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

disk=/dev/vda
sectors=512 # per mapping, of 512 bytes
bytes=$((sectors * 512))
k16=000102030405060708090a0b0c0d0e0f
k32=${k16}101112131415161718191a1b1c1d1e1f
k64=${k32}2021222324252627f8f9fafbfcfdfeff3031323334353637e8e9eaebecedeeef
next=0

ok 'the engine is on the PCI bus' test -n "$(geode_config)"
is 'no driver has it before modprobe' "$(crypto_field cbc-aes-geode name)" ''
alias=$(cat "$(dirname "$(geode_config)")/modalias")
like 'its alias' "$alias" 'pci:v00001022d00002082sv00001022sd00002082bc10sc10i00'
ok 'modprobe by that alias' modprobe "$alias"
for driver in cbc-aes-geode:400 ecb-aes-geode:400 geode-aes:300; do
	is "$driver self-test" "$(crypto_field "${driver%:*}" selftest)" passed
	is "$driver priority" "$(crypto_field "${driver%:*}" priority)" "${driver#*:}"
done
hw_counts >/run/load
read -r o1 _ o2 _ o3 _ o4 _ </run/load
diag "self-tests at load: $(cat /run/load)"
ok 'self-tests used the engine, every way' test "$o1" -gt 0 -a "$o2" -gt 0 -a "$o3" -gt 0 -a "$o4" -gt 0

# Writes and reads one mapping and holds the engine's counters against what is expected.
# $1 cipher; $2 key; $3 sector size; then what the engine must do, in sectors' worth of operations:
# $4 written: cbc_enc ops per sector; $5 ecb_enc ops per sector; $6 bytes of all per sector;
# $7 read: cbc_dec; $8 ecb_dec; $9 ecb_enc; $10 bytes.
map() {
	m_cipher=$1 m_key=$2 m_size=$3 m_n=$((bytes / $3))
	m_bits=$((${#m_key} * 4))
	m_what="$m_cipher $m_bits $m_size"
	m_name=rig$next
	m_text="hwluks rig $m_cipher $m_bits"
	m_extra=''
	[ "$m_size" = 512 ] || m_extra=" 1 sector_size:$m_size"
	shift 3
	note map "$next $m_n $m_size $m_cipher $m_key $m_text"
	ok "$m_what: opens" dmsetup create "$m_name" \
		--table "0 $sectors crypt $m_cipher $m_key 0 $disk $next$m_extra" || return
	ok "$m_what: is a block device" is_block "/dev/mapper/$m_name" || return

	yes "$m_text" | head -c "$bytes" >/run/plain
	hw_mark
	ok "$m_what: written" dd if=/run/plain of="/dev/mapper/$m_name" bs=64k oflag=direct
	is "$m_what: write, engine's cbc-enc ecb-enc bytes" \
		"$(hw_ops cbc_enc) $(hw_ops ecb_enc) $(hw_bytes all)" \
		"$(($1 * m_n)) $(($2 * m_n)) $(($3 * m_n))"
	is "$m_what: write decrypts nothing" "$(hw_ops cbc_dec) $(hw_ops ecb_dec)" '0 0'

	hw_mark
	ok "$m_what: read" dd if="/dev/mapper/$m_name" of=/run/back bs=64k iflag=direct
	is "$m_what: read, engine's cbc-dec ecb-dec ecb-enc bytes" \
		"$(hw_ops cbc_dec) $(hw_ops ecb_dec) $(hw_ops ecb_enc) $(hw_bytes all)" \
		"$(($4 * m_n)) $(($5 * m_n)) $(($6 * m_n)) $(($7 * m_n))"
	ok "$m_what: reads back the same" cmp /run/plain /run/back
	rm -f /run/back
	ok "$m_what: closes" dmsetup remove "$m_name"
	next=$((next + sectors))
}

#                                      write              read
#                                      cbc ecb bytes      cbc ecb-dec ecb-enc bytes
map aes-cbc-plain          $k16 512    1 0 512            1 0 0 512
map aes-cbc-plain64        $k16 512    1 0 512            1 0 0 512
map aes-cbc-plain64        "$k32" 512  0 0 0              0 0 0 0
map aes-cbc-essiv:sha256   $k16 512    1 0 512            1 0 0 512
map aes-cbc-essiv:md5      $k16 512    1 1 528            1 0 1 528
map aes-cbc-essiv:sha256   "$k32" 512  0 0 0              0 0 0 0
map aes-xts-plain64        "$k32" 512  0 2 528            0 1 1 528
map aes-xts-plain64        "$k64" 512  0 0 0              0 0 0 0
map aes-ecb                $k16 512    0 1 512            0 1 0 512
map aes-cbc-plain64        $k16 4096   1 0 4096           1 0 0 4096
map aes-cbc-essiv:sha256   $k16 4096   1 0 4096           1 0 0 4096
map aes-xts-plain64        "$k32" 4096 0 2 4112           0 1 1 4112

# Names and reference counts look the same for a key that the engine takes and for one it does not.
for key in $k16 "$k32"; do
	dmsetup create twin --table "0 $sectors crypt aes-cbc-plain64 $key 0 $disk 0"
	is "cbc $((${#key} * 4)): cbc-aes-geode and its fallback are both held" \
		"$(crypto_field cbc-aes-geode refcnt) $(crypto_field 'cbc(aes-generic)' refcnt)" '2 2'
	must_fail "cbc $((${#key} * 4)): the module is held" rmmod geode_aes
	dmsetup remove twin
done

# The way to software for a comparison.
hw_mark
dmsetup create soft --table "0 $sectors crypt capi:cbc(aes-generic)-plain64 $k16 0 $disk 0"
ok 'capi:cbc(aes-generic) reads' dd if=/dev/mapper/soft of=/dev/null bs=64k iflag=direct
is 'and the engine did nothing' "$(hw_ops all)" 0
dmsetup remove soft
is 'no fault struck' "$(hw_faults)" 0
sync
done_testing
