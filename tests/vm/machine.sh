# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: machines.t: that a guest is the machine it is meant to be. MACHINE is noaes, aesni or virtio.
# Must not know: hwluks.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

k16=000102030405060708090a0b0c0d0e0f
k64=${k16}101112131415161718191a1b1c1d1e1f2021222324252627f8f9fafbfcfdfeff3031323334353637e8e9eaebecedeeef
table() { printf '0 512 crypt %s %s 0 /dev/vda 0' "$1" "$2"; }
# Drivers of AES in use. dm-crypt holds one reference more than the list itself.
held() { awk -v RS= '/refcnt +: [2-9]/' /proc/crypto | sed -n 's/^driver *: //p' | grep aes | sort | tr '\n' ' '; }

flags=" $(sed -n 's/^flags[^:]*://p' /proc/cpuinfo | head -n 1) "
is 'no engine before its driver' "$(hw_counts)" '0 0 0 0 0 0 0 0'
case $MACHINE in
noaes)
	unlike 'the CPU has no AES instructions' "$flags" '* aes *'
	must_fail 'aesni_intel does not load' modprobe aesni_intel
	ok 'xts opens' dmsetup create v --table "$(table aes-xts-plain64 "$k64")"
	like 'on generic code' "$(held)" '*xts(ecb(aes-generic))*'
	dmsetup remove v
	ok 'Adiantum opens' dmsetup create v --table "$(table xchacha12,aes-adiantum-plain64 ${k16}${k16})"
	dmsetup remove v
	;;
aesni)
	like 'the CPU has AES instructions' "$flags" '* aes *'
	ok 'aesni_intel loads' modprobe aesni_intel
	is 'xts-aes-aesni passed' "$(crypto_field xts-aes-aesni selftest)" passed
	ok 'xts opens' dmsetup create v --table "$(table aes-xts-plain64 "$k64")"
	like 'on AES-NI' "$(held)" '*xts-aes-aesni*'
	dmsetup remove v
	;;
virtio)
	unlike 'the CPU has no AES instructions' "$flags" '* aes *'
	ok 'virtio_crypto loads' modprobe virtio_crypto
	is 'its cbc passed' "$(crypto_field virtio_crypto_aes_cbc selftest)" passed
	is 'its priority' "$(crypto_field virtio_crypto_aes_cbc priority)" 150
	ok 'cbc opens' dmsetup create v --table "$(table aes-cbc-plain64 $k16)"
	unlike 'not on virtio-crypto' "$(held)" '*virtio*'
	dmsetup remove v
	must_fail 'and it cannot be had by name' dmsetup create v --table \
		"$(table capi:virtio_crypto_aes_cbc-plain64 $k16)"
	;;
esac
done_testing
