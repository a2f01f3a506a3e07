#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the Debian system that the boot tests install hwluks into: made once by mmdebstrap, kept in .cache.
# Must not know: hwluks, or what a boot tests.
#
#   rootfs.sh i386|amd64    prints the path of an archive (tar) of the system; makes it only where it is not there
# The mirror and its keyring are those of tests/vm/fetch.sh.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
cache=$(mkdir -p "${FETCH_CACHE:-$top/.cache}" && cd "${FETCH_CACHE:-$top/.cache}" && pwd -P)
arch=$1
case $arch in
amd64) kernel=linux-image-amd64 more=dracut-core ;;
i386) kernel=linux-image-686 more=dracut-core ;;
*) echo "rootfs: unknown architecture $arch" >&2 && exit 1 ;;
esac
packages="$kernel cryptsetup-initramfs initramfs-tools kmod udev busybox systemd-sysv zstd $more"
# Nothing of these is in a guest: half of the time and of the size.
without='drivers/gpu drivers/media drivers/net drivers/infiniband drivers/staging drivers/iio drivers/usb drivers/hid
	drivers/scsi drivers/mfd drivers/hwmon drivers/isdn drivers/bluetooth drivers/mtd drivers/i2c
	drivers/thunderbolt drivers/platform drivers/comedi drivers/firmware drivers/power drivers/regulator drivers/rtc
	drivers/video drivers/w1 drivers/ata drivers/target drivers/accel drivers/edac sound net fs/btrfs fs/xfs fs/ocfs2
	fs/ceph fs/nfs fs/nfsd fs/smb fs/gfs2 fs/f2fs fs/reiserfs fs/jfs fs/afs fs/ubifs fs/udf'

key=$({
	echo "$packages" "$without"
	cat "$0"
} | sha256sum | cut -c1-16)
tar=$cache/boot/rootfs-$arch-$key.tar
mkdir -p "$cache/boot"
exec 9>"$cache/boot/rootfs-$arch.lock"
flock 9
if [ ! -e "$tar" ]; then
	echo "rootfs: making a Debian system for $arch" >&2
	mirror=$("$top/tests/vm/fetch.sh" mirror "$arch")
	set --
	for d in $without; do
		set -- "$@" "--dpkgopt=path-exclude=/lib/modules/*/kernel/$d/*"
	done
	for d in doc man locale; do
		set -- "$@" "--dpkgopt=path-exclude=/usr/share/$d/*"
	done
	# The image made while this is installed knows no volume; each test makes its own.
	# shellcheck disable=SC2016,SC2086 # mmdebstrap gives $1; a list of words
	mmdebstrap --mode=root --format=tar --variant=minbase --components=main --architectures="$arch" \
		--include="$(echo $packages | tr ' ' ,)" --aptopt='APT::Install-Recommends "false"' "$@" \
		--customize-hook='rm -rf "$1/var/cache/apt" "$1/var/lib/apt/lists"' \
		"${FETCH_SUITE:-bookworm}" "$tar.new" "$mirror" >&2
	rm -f "$cache/boot/rootfs-$arch-"*.tar
	mv "$tar.new" "$tar"
fi
printf '%s\n' "$tar"
