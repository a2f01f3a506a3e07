#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: a guest's /init that loads named modules and saves what detection reads as a tar on a disk.
# Must not know: which machine this is, or what the files will be used for.
#
# /record.conf is sourced: record_insmod="FILE.ko ..." (loaded first), record_modules="NAME ..." (then
# these; the name coldplug stands for every module that the aliases of devices and CPU ask for, as
# udev loads them at boot). What cannot be loaded is reported and skipped.
# The tar goes to the first virtio disk; the last console line is "record: done" when it is whole.

export PATH=/sbin:/bin:/usr/sbin:/usr/bin
rec=/tmp/root

# Copies files to the same path below $rec; what is not there or not readable is left out.
keep() {
	for f in "$@"; do
		[ -f "$f" ] || continue
		mkdir -p "$rec${f%/*}"
		cat "$f" >"$rec$f" 2>/dev/null || rm -f "$rec$f"
	done
}

# Keeps the driver link of a device: as it looks from /sys/bus/BUS/devices/DEVICE, since the tree
# below /sys/devices is not recorded. $1: the device below /sys/bus.
keep_driver() {
	[ -L "$1/driver" ] || return 0
	mkdir -p "$rec$1"
	driver=$(readlink "$1/driver")
	ln -s "../../drivers/${driver##*/}" "$rec$1/driver"
}

coldplug() {
	for a in /sys/bus/*/devices/*/modalias /sys/devices/system/cpu/modalias; do
		[ -f "$a" ] && /sbin/modprobe -q -b "$(cat "$a")"
	done
}

busybox mount -t proc p /proc
busybox mount -t sysfs s /sys
busybox mount -t devtmpfs d /dev
busybox --install -s /bin 2>/dev/null
echo 4 >/proc/sys/kernel/printk
mkdir -p $rec
record_modules='' record_insmod=''
# shellcheck disable=SC1091 # made by record.sh
. /record.conf

for m in $record_insmod; do
	insmod "$m" || echo "record: insmod $m failed"
done
for m in $record_modules; do
	if [ "$m" = coldplug ]; then
		coldplug
		coldplug	# the devices that the first round's drivers brought
	else
		/sbin/modprobe -q "$m" || echo "record: no module for $m"
	fi
done

keep /proc/cpuinfo /proc/crypto /proc/cmdline /proc/version /proc/meminfo /proc/modules /proc/misc
keep /proc/sys/kernel/osrelease /proc/sys/kernel/tainted /proc/sys/crypto/fips_enabled
keep /proc/sys/kernel/random/entropy_avail /proc/sys/kernel/random/poolsize
keep /sys/devices/system/cpu/modalias /sys/devices/system/cpu/online
keep /sys/class/misc/hw_random/rng_*
keep /sys/module/cryptomgr/parameters/* /sys/module/rng_core/parameters/*
for d in /sys/bus/pci/devices/*; do
	for f in vendor device class revision subsystem_vendor subsystem_device modalias; do
		keep "$d/$f"
	done
	keep_driver "$d"
done
for d in /sys/bus/virtio/devices/*; do
	keep "$d/device" "$d/vendor" "$d/modalias" "$d/status"
	keep_driver "$d"
done
# where a module sits in memory and who built the kernel says nothing about the machine
sed -i 's/ 0x[0-9a-f]*/ 0x0000000000000000/' $rec/proc/modules
sed -i 's/([^()]*@[^()]*)/(builder)/' $rec/proc/version

# for the README and the log only
/sbin/modprobe -q crypto_user && /crypto_user list aes | sed 's/^/dump: /'
dmesg | grep -iE 'alg:|crypto|aes|padlock|geode' | sed 's/^/dmesg: /'

disk=/dev/vda
[ -b $disk ] || { echo "record: no disk"; poweroff -f; }
tar -C $rec -cf /tmp/rec.tar . && cat /tmp/rec.tar >$disk && sync && echo "record: done"
poweroff -f
