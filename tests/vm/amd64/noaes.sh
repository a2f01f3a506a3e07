# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: a machine with no AES instructions and no engine: Adiantum, also where the kernel has no algif_skcipher.
# Must not know: how hwluks decides.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh

size=1048576
# $1: description
adiantum() {
	next_slot
	format 0 "$1: format with nothing said"
	is "$1: it chose Adiantum" "$(json cipher) $(json key_size)" 'xchacha12,aes-adiantum-plain64 256'
	is "$1: verdict" "$(json verdict)" software
	like "$1: a virtual machine is told about its CPU type" "$(cat "$ERR")" '*CPU type*'
	open_vol "$1: opens"
	like "$1: served by" "$(json served_by)" 'adiantum(*'
	yes "$1" | head -c $size >/run/plain
	ok "$1: written" dd if=/run/plain of=/dev/mapper/vol bs=64k oflag=direct
	read_vol "$1" $size
	ok "$1: the key slot is of a cipher that libcrypto has" sh -c \
		"cryptsetup luksDump $disk | grep -q 'Cipher: *aes-xts-plain64'"
	ok "$1: closes" hwluks close vol
}
adiantum 'with algif_skcipher'
rm -f /lib/modules/*/kernel/crypto/algif_skcipher.ko*
rmmod algif_skcipher 2>/dev/null
adiantum 'without algif_skcipher'
sync
done_testing
