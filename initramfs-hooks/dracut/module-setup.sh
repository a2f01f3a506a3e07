#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: dracut: puts hwluks, the modules that it names and what starts it into the image.
# Must not know: which modules those are. Must not fail: the image must still be made.
# shellcheck disable=SC2154 # dracut gives kernel, initdir, moddir, systemdsystemunitdir, SYSTEMCTL

hwluks="@SBINDIR@/hwluks"

check() {
	[[ -x $hwluks ]] || return 1
	return 0
}

# By name: the numbers of the modules differ between releases.
depends() {
	echo crypt
	return 0
}

installkernel() {
	local mods
	mods=$("$hwluks" initramfs modules --kernel "$kernel" | sed 's/ *#.*//')
	# Else dracut would leave out what the machine that builds the image does not use.
	# shellcheck disable=SC2086 # a list of words
	hostonly='' instmods $mods
	return 0
}

install() {
	inst "$hwluks"
	mkdir -p "$initdir/etc/modprobe.d"
	"$hwluks" initramfs deny --kernel "$kernel" >"$initdir/etc/modprobe.d/hwluks-boot.conf" 2>/dev/null
	[[ ! -e /etc/hwluks.conf ]] || inst_simple /etc/hwluks.conf
	if dracut_module_included systemd; then
		inst_simple "$moddir/hwluks-load.service" "$systemdsystemunitdir/hwluks-load.service"
		$SYSTEMCTL -q --root "$initdir" enable hwluks-load.service
	else
		inst_hook pre-trigger 10 "$moddir/hwluks-load.sh"
	fi
	return 0
}
