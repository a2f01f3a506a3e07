#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: a Debian system with a LUKS root, its images by initramfs-tools: without hwluks, with it on the Geode's engine, and
#      with all that may be wrong with the engine, its driver, hwluks or its configuration. Each must boot.
# Must not know: how the hooks do it.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/boot/boot-lib.sh
. tests/boot/boot-lib.sh

# What every boot must have done. $1: seconds that it may take longer than the stock one.
booted() {
	is "$tap_label: the root volume is up" "$(fact root)" /dev/mapper/cryptroot
	is "$tap_label: one prompt" "$(how_often prompt)" 1
	is "$tap_label: it ended by itself" "$(how_often off)" 1
	[ -n "${1:-}" ] || return 0
	b_label=$tap_label b_run=$RUN
	# A machine that does something else by now boots the stock image more slowly, too.
	if [ "$(above)" -gt "$1" ]; then
		boot stock-again "$boot_dir/stock"
		stock=$(when begin) tap_label=$b_label RUN=$b_run
	fi
	cmp_ok "$tap_label: no more than $1 s above the stock boot of $stock s" "$(above)" -le "$1"
}
# Whole seconds by which this boot took longer than the stock one.
above() { awk -v a="$(when begin)" -v b="$stock" 'BEGIN { printf "%d", a - b }'; }
in_software() {
	unlike "$tap_label: software serves it" "$(fact held | tr '\n' ' ')" '*essiv(cbc-aes-geode*'
	like "$tap_label: AES in C" "$(fact held | tr '\n' ' ')" '*essiv(cbc(aes-generic)*'
}
# Bytes that the engine decrypted in cbc between two of the guest's readings.
engine_read() { echo $(($(fact counters-after | awk '{ print $6 }') - $(fact counters | awk '{ print $6 }'))); }

# $1: a new image: the one with hwluks, and what is in the directory $2 unpacked over it.
image_over() {
	# the kernel takes a second archive at a multiple of four bytes only
	{
		cat "$boot_dir/hwluks"
		head -c $(((4 - $(stat -c %s "$boot_dir/hwluks") % 4) % 4)) /dev/zero
		(cd "$2" && find . -print0 | LC_ALL=C sort -z | cpio -0 -o -H newc -R 0:0 --quiet)
	} >"$boot_dir/$1"
}
over=$boot_dir/over

ok 'the system is there' boot_tree
image=boot/initrd.img-$KVER
ok 'an image without hwluks' in_tree update-initramfs -c -k "$KVER"
cp "$TREE/$image" "$boot_dir/stock"
run 15 'check says what it lacks' in_tree hwluks initramfs check
like 'the program among it' "$(cat "$OUT")" '*MISSING  The program /usr/local/sbin/hwluks is not in the image.*'
like 'the driver among it' "$(cat "$OUT")" '*MISSING  Of the modules for kernel '"$KVER"' these are not in the*geode-aes*'

ok 'install --dry-run' in_tree hwluks initramfs install --dry-run
must_fail 'puts nothing anywhere' test -e "$TREE/etc/initramfs-tools/hooks/hwluks"
ok 'install' in_tree hwluks initramfs install
like 'and looks into the image' "$(cat "$OUT")" '*The image is complete.*'
ok 'check agrees' in_tree hwluks --json initramfs check --kernel "$KVER"
is 'in JSON' "$(jq -r '.images[] | "\(.generator) \(.kernel) \(.ok) \([.checks[].ok] | all)"' "$OUT")" "initramfs-tools $KVER true true"
ok 'from outside, with --root, too' "$HWLUKS" initramfs check --root "$TREE"
cp "$TREE/$image" "$boot_dir/hwluks"
ok 'and of the file alone, from inside' in_tree hwluks initramfs check "/$image"
stock_size=$(stat -c %s "$boot_dir/stock") full_size=$(stat -c %s "$boot_dir/hwluks")
cmp_ok "the image grew by $((full_size - stock_size)) bytes" $((full_size - stock_size)) -le 409600

# variants of the image
mkdir -p "$over" && rm -rf "${over:?}"/*
mkdir -p "$over/etc" && printf 'wait = ever\nnonsense\n\001\002 = \nverify = no thanks\n' >"$over/etc/hwluks.conf"
printf 'drivers = geode-lx nosuch\n' >>"$over/etc/hwluks.conf"
image_over broken-conf "$over"
rm -rf "${over:?}"/* && mkdir -p "$over/usr/local/sbin" && : >"$over/usr/local/sbin/hwluks"
image_over no-program "$over"
ko=$(find "$TREE/lib/modules" -name 'geode-aes.ko*')
mv "$ko" "$boot_dir/" && depmod -b "$TREE" "$KVER"
ok 'an image is made though the module is missing' in_tree mkinitramfs -o /tmp/no-module "$KVER"
mv "$TREE/tmp/no-module" "$boot_dir/no-module"
mv "$boot_dir/$(basename "$ko")" "$ko" && depmod -b "$TREE" "$KVER"

ok 'remove' in_tree hwluks initramfs remove
must_fail 'takes the hook back' test -e "$TREE/etc/initramfs-tools/hooks/hwluks"
must_fail 'and the script' test -e "$TREE/etc/initramfs-tools/scripts/local-top/hwluks"
listing() { (cd "$boot_dir" && rm -rf unpacked && mkdir unpacked && zstd -dcq "$1" | (cd unpacked && cpio -id --quiet 2>/dev/null) && cd unpacked && find . ! -name 'modules.*.bin' -type f -exec sha256sum {} + | sort -k 2); }
listing "$boot_dir/stock" >"$tap_dir/before"
listing "$TREE/$image" >"$tap_dir/after"
cmp_ok 'an image has contents' "$(wc -l <"$tap_dir/before")" -gt 300
is 'without hwluks the image is as it was before' "$(diff "$tap_dir/before" "$tap_dir/after")" ''
rm -rf "$boot_dir/unpacked"

ok 'a disk whose root is encrypted' boot_disk aes-cbc-essiv:sha256 128

boot stock "$boot_dir/stock"
stock=$(when begin)
booted
in_software
is 'stock: the engine did nothing' "$(fact counters-after | xargs)" '0 0 0 0 0 0 0 0'

boot hwluks "$boot_dir/hwluks"
booted
like 'hwluks: the engine serves it' "$(fact held | tr '\n' ' ')" '*essiv(cbc-aes-geode*'
cmp_ok 'hwluks: the engine read the root file system' "$(engine_read)" -ge "$(fact read)"
like 'hwluks: the log says so' "$(fact log)" '* load: geode-aes: Loaded. *equals libcrypto*'
cmp_ok 'hwluks: the driver was there before the volume opened' "$(fact log | awk 'NR == 1 { print int($1) }')" -lt \
	"$(fact uptime | cut -d. -f1)"

boot off "$boot_dir/hwluks" --append hwluks=off
booted 12
in_software
like 'off: the log says why' "$(fact log)" '*hwluks=off on the kernel command line*'

boot absent "$boot_dir/hwluks" --geode absent
booted 12
in_software
like 'absent: the log says so' "$(fact log)" '*load: geode-aes: *was not found in this machine*'

boot selftest "$boot_dir/hwluks" --geode data
booted 12
in_software
like 'selftest: the log says so' "$(fact log)" '*load: geode-aes: *self-test*'

boot wrong-data "$boot_dir/hwluks" --geode data,min=512
booted 12
in_software
like 'wrong-data: the log says so' "$(fact log)" '*load: geode-aes: *'

boot hang "$boot_dir/hwluks" --geode hang --append panic_on_oops=0
booted 25
in_software
like 'hang: the log says so' "$(fact log)" '*load: geode-aes: *limit*'

boot broken-conf "$boot_dir/broken-conf"
booted
like 'broken-conf: the engine serves it' "$(fact held | tr '\n' ' ')" '*essiv(cbc-aes-geode*'
like 'broken-conf: the log says what was wrong' "$(fact log | tr '\n' ' ')" "*line 1: 'wait' takes*'nonsense'*'nosuch' is no accelerator*"

boot no-program "$boot_dir/no-program"
booted 12
in_software
like 'no-program: the log says so' "$(fact log)" '*hook: /usr/local/sbin/hwluks is not in this image.'

boot no-module "$boot_dir/no-module"
booted 12
in_software
like 'no-module: the log says so' "$(fact log)" '*load: *'
done_testing
