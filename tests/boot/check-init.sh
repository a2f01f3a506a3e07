#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: what runs in place of init on the root file system: says what serves it, then powers off.
# Must not know: what is right; the host's test judges.
mount -t proc proc /proc 2>/dev/null
mount -t sysfs sysfs /sys 2>/dev/null
# The engine's counters: 32 bytes at 128 in the configuration space of the Geode model.
counters() {
	for d in /sys/bus/pci/devices/*; do
		[ "$(cat "$d/vendor")$(cat "$d/device")" != 0x10220x2082 ] || od -v -An -tu4 -w32 -j128 -N32 "$d/config"
	done
}
echo
echo BOOTCHECK-BEGIN
echo "uptime $(cut -d' ' -f1 /proc/uptime)"
echo "cmdline $(cat /proc/cmdline)"
echo "root $(findmnt -no SOURCE /)"
echo "counters $(counters)"
# read what no cache holds yet
find /usr/share /usr/lib -xdev -type f -size +200k 2>/dev/null | head -n 8 | xargs cat | wc -c | sed 's/^/read /'
echo "counters-after $(counters)"
dmsetup table 2>/dev/null | sed -e 's/^/table /' -e 's/ :64:[^ ]* / KEY /'
grep -w crypt /proc/modules | sed 's/^/module /'
awk -v RS= '/refcnt +: [2-9]/' /proc/crypto | sed -n 's/^driver *: /held /p'
grep -o '^geode_aes' /proc/modules | sed 's/^/loaded /'
sed 's/^/log /' /run/hwluks.log 2>/dev/null
echo BOOTCHECK-END
echo o >/proc/sysrq-trigger
sleep 60
