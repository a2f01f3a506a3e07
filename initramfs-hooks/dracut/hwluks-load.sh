#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: dracut's boot image without systemd, before udev's events: loads the accelerator's driver.
# Must not know: which driver that is. dracut reads this into its own shell: no exit here.
"@SBINDIR@/hwluks" load --boot >/dev/null
