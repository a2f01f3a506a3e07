#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the same system, its image by dracut with systemd in it: without hwluks, and with it on the Geode's engine.
# Must not know: how the module does it.
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/boot/boot-lib.sh
. tests/boot/boot-lib.sh

names="rd.luks.uuid=$boot_uuid rd.luks.name=$boot_uuid=cryptroot"

ok 'the system is there' boot_tree
image=boot/initrd.img-$KVER
ok 'an image without hwluks' in_tree dracut --force --kver "$KVER"
cp "$TREE/$image" "$boot_dir/dracut-stock"
run 15 'check says what it lacks' in_tree hwluks initramfs check --generator dracut
ok 'install' in_tree hwluks initramfs install --generator dracut
like 'and looks into the image' "$(cat "$OUT")" '*made by dracut*The image is complete.*'
cp "$TREE/$image" "$boot_dir/dracut-hwluks"
ok 'remove' in_tree hwluks initramfs remove --generator dracut
must_fail 'takes the module back' test -e "$TREE/usr/lib/dracut/modules.d/89hwluks"
run 15 'and the image is without it' in_tree hwluks initramfs check --generator dracut
ok 'a disk whose root is encrypted' boot_disk aes-cbc-essiv:sha256 128

boot dracut-stock "$boot_dir/dracut-stock" --append "$names"
is "$tap_label: the root volume is up" "$(fact root)" /dev/mapper/cryptroot
is "$tap_label: one prompt" "$(how_often prompt)" 1

boot dracut-hwluks "$boot_dir/dracut-hwluks" --append "$names"
is "$tap_label: the root volume is up" "$(fact root)" /dev/mapper/cryptroot
is "$tap_label: one prompt" "$(how_often prompt)" 1
like "$tap_label: the engine serves it" "$(fact held | tr '\n' ' ')" '*essiv(cbc-aes-geode*'
cmp_ok "$tap_label: the engine read the root file system" \
	$(($(fact counters-after | awk '{ print $6 }') - $(fact counters | awk '{ print $6 }'))) -ge "$(fact read)"
like "$tap_label: the log says so" "$(fact log)" '* load: geode-aes: Loaded. *equals libcrypto*'
done_testing
