#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# The hooks of dracut and mkinitcpio, with stubs for what these builders give them and for hwluks. That an image boots is
# tests/boot's to show; here a hook must ask for the right things, and never fail.

load lib

setup() {
	export LC_ALL=C
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	cd "$BATS_TEST_TMPDIR"
	bin=$PWD/bin
	mkdir -p bin hooks
	for f in mkinitcpio/install mkinitcpio/run-hook dracut/module-setup.sh; do
		sed "s|@SBINDIR@|$bin|" "$TOP/initramfs-hooks/$f" >"hooks/$(basename "$f")"
	done
	stub 'case $2 in modules) printf "# modules of kernel %s\ngeode-aes # driver of geode-lx\n# cbc is built in\nxts # mode or IV\n" "$4" ;; deny) echo "blacklist geode-aes" ;; esac'
}

# stub TEXT: what stands for hwluks; it notes its arguments.
stub() {
	printf '#!/bin/sh\necho "$*" >>%s/asked\n%s\n' "$PWD" "$1" >bin/hwluks
	chmod +x bin/hwluks
}

# in_builder FILE COMMAND...: sources the hook in a shell in which every call to the builder is noted in ./calls.
in_builder() {
	local file=$1
	shift
	: >calls
	bash -c '
		for f in add_module add_binary add_runscript add_systemd_unit add_symlink inst inst_simple inst_hook systemctl; do
			eval "$f() { echo \"$f\${*:+ \$*}\" >>calls; }"
		done
		add_file() { echo "add_file $* = $(cat "$1")" >>calls; }
		instmods() { echo "instmods $* hostonly=$hostonly" >>calls; }
		dracut_module_included() { [[ $1 = "$WITH" ]]; }
		SYSTEMCTL=systemctl
		. "$0"; "$@"' "hooks/$file" "$@"
}

@test "mkinitcpio: modules, program, deny file and script go in, for that kernel" {
	KERNELVERSION=6.1.2-arch BUILDROOT=$PWD/root in_builder install build
	diff calls - <<-END
		add_module geode-aes?
		add_module xts?
		add_binary $bin/hwluks
		add_file /dev/stdin /etc/modprobe.d/hwluks-boot.conf 644 = blacklist geode-aes
		add_runscript
	END
	grep -qx 'initramfs modules --kernel 6.1.2-arch' asked
	grep -qx 'initramfs deny --kernel 6.1.2-arch' asked
	in_builder install help | grep -q 'before encrypt'
}

@test "mkinitcpio with systemd: the unit is in, and wanted" {
	mkdir -p root/usr/lib/systemd && : >root/usr/lib/systemd/systemd
	BUILDROOT=$PWD/root in_builder install build
	grep -qx 'add_systemd_unit hwluks-load.service' calls
	grep -qx 'add_symlink /usr/lib/systemd/system/sysinit.target.wants/hwluks-load.service ../hwluks-load.service' calls
}

@test "mkinitcpio: the build goes on when hwluks fails, and the boot when it fails or is gone" {
	stub 'exit 4'
	BUILDROOT=$PWD/root in_builder install build
	[ "$(grep -c add_module calls)" = 0 ]
	in_builder run-hook run_hook
	grep -qx 'load --boot' asked
	rm bin/hwluks
	in_builder run-hook run_hook
}

@test "dracut: left out without the program, asked for by crypt's name, modules not trimmed to this machine" {
	in_builder module-setup.sh check
	[ "$(in_builder module-setup.sh depends)" = crypt ]
	kernel=6.1.2-d hostonly=hostonly in_builder module-setup.sh installkernel
	[ "$(cat calls)" = 'instmods geode-aes xts hostonly=' ]
	grep -qx 'initramfs modules --kernel 6.1.2-d' asked
	stub 'exit 4'
	in_builder module-setup.sh installkernel
	rm bin/hwluks
	run in_builder module-setup.sh check
	[ "$status" = 1 ]
}

@test "dracut: a unit with systemd, a script before udev's events without" {
	mkdir -p root
	export initdir=$PWD/root moddir=/m systemdsystemunitdir=/u
	WITH=systemd in_builder module-setup.sh install
	diff calls - <<-END
		inst $bin/hwluks
		inst_simple /m/hwluks-load.service /u/hwluks-load.service
		systemctl -q --root $PWD/root enable hwluks-load.service
	END
	[ "$(cat root/etc/modprobe.d/hwluks-boot.conf)" = 'blacklist geode-aes' ]
	WITH=none in_builder module-setup.sh install
	grep -qx 'inst_hook pre-trigger 10 /m/hwluks-load.sh' calls
	[ "$(grep -c systemctl calls)" = 0 ]
}
