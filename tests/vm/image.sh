#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the part of a guest's initramfs that all guests of an architecture share: userland and modules.
# Must not know: what is tested. Scripts, hwluks and /init come in a second archive (guest.sh).
#
#   image.sh i386|amd64     prints the path of the archive; makes it only where something it is made of changed
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${VM_BUILD:-$(cd "$here/../.." && pwd)/build/vm}
arch=$1
PATH=$PATH:/usr/sbin:/sbin

# What a guest must be able to load, with all that these need. An architecture need not have every one.
modules='virtio_pci virtio_blk virtio_rng virtio_crypto loop brd dm-mod dm-crypt dm-zero dm-delay dm-integrity ext4
	geode-aes padlock-aes padlock-sha aesni-intel geode-rng via-rng rng-core ccp
	crypto_user af_alg algif_skcipher algif_hash
	cbc ecb xts ctr essiv authenc cryptd crypto_simd cts lrw
	sha1_generic sha256_generic sha512_generic sha256-ssse3 sha512-ssse3 md5 hmac
	aes_ti aes-i586 aes-x86_64 twofish_generic serpent_generic camellia_generic
	adiantum nhpoly1305 nhpoly1305-sse2 nhpoly1305-avx2 chacha_generic chacha-x86_64 poly1305-x86_64'

kernel=$("$here/fetch.sh" kernel "$arch")
userland=$("$here/fetch.sh" userland "$arch")
kver=$("$here/fetch.sh" kver "$arch")
key=$({
	echo "$modules" "$kver"
	cat "$0" "$kernel/.packages" "$userland/.packages"
} | sha256sum | cut -c1-16)
image=$out/base-$arch-$key.cpio
mkdir -p "$out"
exec 9>"$out/image-$arch.lock"
flock 9
if [ -e "$image" ]; then
	printf '%s\n' "$image"
	exit 0
fi
tmp=$(mktemp -d "$out/base-$arch.XXXXXX")
trap 'rm -rf "$tmp" "$image.new"' EXIT
cp -a "$userland/." "$tmp"
rm -rf "$tmp/.complete" "$tmp/.packages"
lib=$tmp/lib/modules/$kver
mkdir -p "$lib" "$tmp/etc" "$tmp/tests"
for m in $modules; do
	# "insmod PATH [OPTIONS]", or "builtin NAME"; unknown here: nothing
	modprobe -d "$kernel" -S "$kver" --show-depends "$m" 2>/dev/null || true
done | awk '$1 == "insmod" { print $2 }' | sort -u | while read -r ko; do
	rel=${ko#"$kernel/lib/modules/$kver/"}
	mkdir -p "$lib/$(dirname "$rel")"
	cp "$ko" "$lib/$rel"
done
cp "$kernel/lib/modules/$kver/modules.builtin" "$kernel/lib/modules/$kver/modules.order" "$lib/"
[ ! -e "$kernel/lib/modules/$kver/modules.builtin.modinfo" ] ||
	cp "$kernel/lib/modules/$kver/modules.builtin.modinfo" "$lib/"
mkdir -p "$tmp/boot"
cp "$kernel/boot/config-$kver" "$tmp/boot/"
depmod -b "$tmp" "$kver"
(cd "$tmp" && find . -print0 | LC_ALL=C sort -z | cpio -0 -o -H newc -R 0:0 --quiet) >"$image.new"
rm -f "$out/base-$arch-"*.cpio
mv "$image.new" "$image"
printf '%s\n' "$image"
