#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: booting a guest once and saving what it shows of its crypto hardware as tests/machines/NAME.
# Must not know: how hwluks judges what is saved, nor hwluks at all.
#
# usage: record.sh NAME ...     NAME as in the table below; replaces tests/machines/NAME/root and
#                               tests/machines/NAME/README, leaves everything else there alone
# What a guest shows of memory sizes, entropy and module addresses may differ from run to run, so
# review the difference before committing it.
# environment: RECORD_LIMIT seconds per guest (default 180)
#              GEODE_MODEL  program that puts a Geode LX AES block behind the QEMU command line that
#                           follows it (default build/vm/geode-model)
set -eu

# name | arch | CPU | module file of ours | what is loaded | QEMU options of this machine | what it is
machines='
vm-geode-unloaded-6.1-i386|i386|pentium3||virtio_pci virtio_blk|geode|AMD Geode LX AES block (model), geode-aes and geode-rng not loaded
vm-geode-6.1-i386|i386|pentium3||virtio_blk coldplug|geode|AMD Geode LX AES block (model), drivers loaded by PCI alias
vm-padlock-6.1-amd64|amd64|qemu64|/padlock_model.ko|virtio_blk coldplug||VIA PadLock ACE (model), drivers loaded by CPU alias
vm-virtio-crypto-6.1-amd64|amd64|qemu64||virtio_blk coldplug|-object cryptodev-backend-builtin,id=c0 -device virtio-crypto-pci,cryptodev=c0|virtio-crypto, no AES instructions
vm-aesni-6.1-amd64|amd64|max||virtio_blk coldplug||AES instructions
vm-noaes-6.1-amd64|amd64|qemu64||virtio_blk coldplug||neither AES instructions nor an engine
'

# Folders of a kernel tree whose modules have to do with disk encryption or its hardware.
crypto_dirs='arch/x86/crypto crypto lib/crypto drivers/crypto drivers/char/hw_random drivers/char/tpm
	drivers/virtio drivers/block/virtio_blk.ko drivers/md/dm-crypt.ko drivers/md/dm-mod.ko
	drivers/md/dm-integrity.ko drivers/block/loop.ko drivers/block/brd.ko'

die() {
	echo "record.sh: $*" >&2
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
build=$top/build/vm
tmp=
qemu=
trap '[ -z "$qemu" ] || kill "$qemu" 2>/dev/null || :; [ -z "$tmp" ] || rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# An extended regular expression for the lines of modules.dep that name a module of crypto_dirs.
crypto_regex() {
	# shellcheck disable=SC2086 # a list
	printf '|kernel/%s' $crypto_dirs | sed 's/^|//; s/\./\\./g; s/.*/^(&)/'
}

# Makes $1/initramfs. $2: architecture, $3: module file of ours or nothing, $4: what is loaded.
initramfs() {
	root=$1/initramfs.d
	userland=$("$here/../fetch.sh" userland "$2")
	cp -a "$userland/." "$root"
	mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/tmp" "$root/etc"
	mods=$kernel/lib/modules/$version
	# the modules wanted, then whatever they depend on, in one go: modules.dep lists it all
	grep -E "$(crypto_regex)" "$mods/modules.dep" | tr -d : | tr ' ' '\n' | sort -u >"$1/modules"
	(cd "$mods" && cpio -pdm --quiet "$root/lib/modules/$version" <"$1/modules")
	cp "$mods/modules.builtin" "$mods/modules.order" "$mods/modules.builtin.modinfo" \
		"$root/lib/modules/$version/"
	depmod -b "$root" "$version"
	[ -z "$3" ] || cp "$build/padlock_model-$2.ko" "$root$3"
	"$(cc_for "$2")" -O1 -static -o "$root/crypto_user" "$here/crypto_user.c"
	printf "record_insmod='%s'\nrecord_modules='%s'\n" "$3" "$4" >"$root/record.conf"
	cp "$here/record-guest.sh" "$root/init"
	chmod 755 "$root/init"
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$1/initramfs"
}

cc_for() {
	case $1 in
	i386) echo i686-linux-gnu-gcc ;;
	*) echo "${CC:-cc}" ;;
	esac
}

# What the recorded tree has of the installed kernel: reduced to disk encryption and its hardware.
# $1: the root folder.
kernel_files() {
	mods=$kernel/lib/modules/$version
	dst=$1/lib/modules/$version
	mkdir -p "$dst" "$1/boot"
	grep -E "$(crypto_regex)" "$mods/modules.dep" >"$dst/modules.dep"
	cp "$mods/modules.builtin" "$dst/"
	sed -n 's,^\([^:]*/\)*\([^:/]*\)\.ko:.*,\2,p' "$dst/modules.dep" | tr - _ | sort >"$tmp/names"
	for f in modules.alias modules.softdep; do
		awk 'NR == FNR { want[$1]; next }
			/^#/ { print; next }
			{ m = FILENAME ~ /softdep$/ ? $2 : $NF; gsub("-", "_", m); if (m in want) print }' \
			"$tmp/names" "$mods/$f" >"$dst/$f"
	done
	grep -E '^(# )?CONFIG_(CRYPTO|ARCH_.*CRYPTO|HW_RANDOM|RANDOM_TRUST|DM_CRYPT|DM_INTEGRITY|BLK_DEV_DM|BLK_DEV_LOOP|BLK_DEV_RAM|TCG_|AES|MODULES|MODULE_COMPRESS|X86_PAE|MGEODE|64BIT|X86_32|SMP|HZ)([A-Z0-9_]*)[ =]' \
		"$kernel/boot/config-$version" >"$1/boot/config-$version"
}

readme() {
	cat <<-TEXT
		$1: $2

		Recorded by tests/vm/padlock/record.sh in a guest, not on a board: Debian kernel $version,
		$qemu_version under TCG, -cpu $3, 256 MiB. The board (PIIX4) and one virtio disk are the rig's.
		Loaded when recorded: ${4:+$4, }$(printf %s "$5" | sed 's/ /, /g') (coldplug: all that the aliases of devices and
		CPU ask for, among the modules listed in modules.dep). Nothing was mapped by dm-crypt.

		Reduced: modules.dep, modules.alias and modules.softdep to the modules of disk encryption
		and its hardware (crypto_dirs in record.sh), boot/config to the options for these. Module
		addresses in proc/modules are zeroed, the builder's address in proc/version is taken out.
		Nothing was completed by hand.
	TEXT
}

record() {
	line=$(printf '%s\n' "$machines" | grep "^$1|") || die "no such machine: $1"
	IFS='|' read -r name arch cpu ko load options what <<-LINE
		$line
	LINE
	kernel=$("$here/../fetch.sh" kernel "$arch")
	version=$("$here/../fetch.sh" kver "$arch")
	tmp=$(mktemp -d "$build/record.XXXXXX")
	initramfs "$tmp" "$arch" "$ko" "$load"
	truncate -s 16M "$tmp/disk"

	ram=-m\ 256
	wrap=
	case $arch in
	i386) emulator='qemu-system-i386' ;;
	amd64) emulator='qemu-system-x86_64' ;;
	esac
	machine=pc
	if [ "$options" = geode ]; then
		wrap="${GEODE_MODEL:-$build/geode-model} --"
		machine=pc,memory-backend=m
		options='-object memory-backend-memfd,id=m,size=256M,share=on -device x-pci-proxy-dev,id=geode,fd=10'
	fi
	qemu_version=$($emulator --version | sed -n '1s/.*version \([0-9.]*\).*/QEMU \1/p')
	# shellcheck disable=SC2086 # lists of words
	set -- $wrap $emulator -M $machine $ram -accel tcg -cpu "$cpu" -smp 1 -nodefaults -display none \
		-serial stdio -no-reboot -kernel "$kernel/boot/vmlinuz-$version" -initrd "$tmp/initramfs" \
		-append "console=ttyS0 quiet panic=-1" \
		-drive if=none,id=d,file="$tmp/disk",format=raw -device virtio-blk-pci,drive=d $options
	# one guest at a time on this host; the lock is guest.sh's
	exec 9>"$build/qemu.lock"
	flock 9
	timeout "${RECORD_LIMIT:-180}" "$@" </dev/null >"$tmp/console" 2>&1 &
	qemu=$!
	wait "$qemu" || { cat "$tmp/console" >&2; die "$name: the guest failed"; }
	qemu=
	exec 9>&-
	tr -d '\r' <"$tmp/console" | grep -E '^(dump|dmesg|record): ' >"$build/$name.log" || :
	grep -q '^record: done' "$build/$name.log" || { cat "$tmp/console" >&2; die "$name: nothing recorded"; }

	dir=$top/tests/machines/$name
	rm -rf "$dir/root"
	mkdir -p "$dir/root"
	tar -C "$dir/root" --no-same-owner --no-same-permissions -xf "$tmp/disk"
	chmod -R u=rwX,go=rX "$dir/root"
	kernel_files "$dir/root"
	readme "$name" "$what" "$cpu" "${ko##*/}" "$load" >"$dir/README"
	rm -rf "$tmp"
	tmp=
	echo "$name: $(find "$dir/root" -type f | wc -l) files; console notes in build/vm/$name.log"
}

[ $# -gt 0 ] || die "usage: record.sh NAME ...; known:$(printf '%s\n' "$machines" | sed -n 's/|.*//p' | tr '\n' ' ')"
mkdir -p "$build"
for m in "$@"; do
	record "$m"
done
