#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: /init of a guest: mounts, base modules, then the test scripts named in /tests/run, then power off.
# Must not know: what the scripts test. No driver of an accelerator is loaded here.
#
# shellcheck shell=dash
# ttyS0 is the kernel's console; the scripts' output goes to ttyS1, so that no kernel message breaks a line of TAP.
/bin/busybox mkdir -p /proc /sys /dev /run /tmp /mnt
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mount -t tmpfs tmpfs /run
mkdir -p /run/cryptsetup /run/lock /dev/shm
mount -t tmpfs tmpfs /dev/shm
ln -sf /proc/self/fd /dev/fd
ln -sf /proc/mounts /etc/mtab
# No udev here: without this dmsetup returns 0 and makes no node.
export DM_DISABLE_UDEV=1

stty -F /dev/ttyS1 raw -echo
exec </dev/null >/dev/ttyS1 2>&1
for m in virtio_pci virtio_blk loop dm_mod dm_crypt; do
	/sbin/modprobe "$m" || echo "# modprobe $m: $?"
done
echo "# guest: Linux $(uname -r), up $(cut -d' ' -f1 /proc/uptime) s at the first script"
# shellcheck disable=SC1091 # made by guest.sh
[ ! -e /tests/env ] || . /tests/env
while read -r script; do
	echo "#BEGIN $script"
	/bin/sh "/tests/$script" </dev/null
	echo "#END $script $?"
done </tests/run

# A volume on a hung engine would make sync wait for ever.
(sync && : >/run/synced) &
i=0
while [ ! -e /run/synced ] && [ $i -lt 30 ]; do
	sleep 0.1
	i=$((i + 1))
done
[ -e /run/synced ] || echo "# guest: sync did not end"
echo "#OFF $(cut -d' ' -f1 /proc/uptime)"
# let the UART drain
sleep 0.1
poweroff -f -n
