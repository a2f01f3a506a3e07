# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: tests that boot a Debian system from a LUKS root (tests/boot/*.t, run by prove from the top of the tree); sourced.
# Must not know: what a test proves.
#
#   . tests/boot/boot-lib.sh
#   boot_tree                    the system, hwluks installed in it, in $TREE; its kernel is $KVER
#   in_tree COMMAND...           runs it in there
#   boot_disk CIPHER BITS        a disk image of the tree as a LUKS2 volume
#   boot NAME INITRD [OPTIONS]   boots it once; then $RUN/events and $RUN/facts
#     --geode FAULT  --answers A,B  --append WORDS  --limit SECONDS
# shellcheck source=tests/vm/host.sh
. tests/vm/host.sh

boot_arch=i386
boot_uuid=11111111-2222-3333-4444-555555555555
boot_pass=open-sesame
boot_dir=${BOOT_BUILD:-$PWD/build/boot}
TREE=$boot_dir/tree
DISK=$boot_dir/disk.img

in_tree() { chroot "$TREE" env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$@"; }

# What is mounted in the tree goes with the test.
boot_unmount() { umount -q "$TREE/proc" 2>/dev/null || :; }

boot_tree() {
	trap boot_unmount EXIT
	boot_unmount
	rm -rf "$TREE"
	mkdir -p "$TREE"
	tar -xpf "$(tests/boot/rootfs.sh $boot_arch)" -C "$TREE" --exclude='./dev/*' || return 1
	KVER=$(basename "$TREE"/lib/modules/*)
	make -s -o build/i386/hwluks BUILD=build/i386 INSTALL_STRIP=-s install DESTDIR="$TREE" WITH_COMPLETION=no || return 1
	install -m 755 tests/boot/check-init.sh "$TREE/sbin/bootcheck"
	printf 'cryptroot UUID=%s none luks,initramfs\n' $boot_uuid >"$TREE/etc/crypttab"
	printf '/dev/mapper/cryptroot / ext4 errors=remount-ro 0 1\n' >"$TREE/etc/fstab"
	# The machine that builds the image is not the one that boots it.
	printf 'drivers = geode-lx\n' >"$TREE/etc/hwluks.conf"
	# most: what this machine has says nothing of the guest
	printf 'MODULES=most\nCOMPRESS=zstd\nRESUME=none\n' >"$TREE/etc/initramfs-tools/conf.d/test"
	rm -f "$TREE"/boot/initrd.img-*
	mount --bind /proc "$TREE/proc"
}

# The volume is made without device-mapper: cryptsetup encrypts a file in place. $1: cipher; $2: key bits.
boot_disk() {
	rm -f "$DISK"
	boot_unmount
	printf %s "$boot_pass" >"$boot_dir/key"
	mke2fs -q -t ext4 -O ^has_journal -d "$TREE" "$DISK" 400M && truncate -s +32M "$DISK" &&
		cryptsetup reencrypt --encrypt --type luks2 --batch-mode --reduce-device-size 32M --uuid $boot_uuid \
			--pbkdf pbkdf2 --pbkdf-force-iterations 1000 --cipher "$1" --key-size "$2" --key-file "$boot_dir/key" "$DISK"
	boot_rc=$?
	mount --bind /proc "$TREE/proc"
	return $boot_rc
}

boot() {
	RUN=$boot_dir/run/$1 tap_label=$1 boot_initrd=$2
	shift 2
	boot_geode=none boot_answers=$boot_pass boot_append='' boot_limit=240 boot_cpu=pentium3
	while [ $# -gt 0 ]; do
		case $1 in
		--geode) boot_geode=$2 ;;
		--answers) boot_answers=$2 ;;
		--append) boot_append=$2 ;;
		--limit) boot_limit=$2 ;;
		esac
		shift 2
	done
	mkdir -p "$RUN"
	rm -f "$RUN"/*
	set -- qemu-system-i386 -nodefaults -no-user-config -display none -no-reboot -cpu $boot_cpu -smp 1 -m 512 \
		-accel tcg -serial stdio -snapshot \
		-drive "if=none,id=vda,file=$DISK,format=raw" -device virtio-blk-pci,drive=vda \
		-kernel "$TREE/boot/vmlinuz-$KVER" -initrd "$boot_initrd" \
		-append "console=ttyS0 quiet panic=-1 noisapnp root=/dev/mapper/cryptroot ro init=/sbin/bootcheck $boot_append"
	if [ "$boot_geode" != absent ]; then
		set -- "$@" -M pc,memory-backend=ram -object memory-backend-memfd,id=ram,size=512M,share=on \
			-device x-pci-proxy-dev,id=geode,fd=10
		set -- "$vm_build/geode-model" --fault "$boot_geode" --stats "$RUN/stats" -- "$@"
		boot_cpus=$(taskset -pc $$)
		set -- taskset -c "${VM_CPU:-${boot_cpus##*[-, ]}}" "$@"
	fi
	(
		flock 9
		timeout -k 5 $((boot_limit + 30)) tests/boot/boot.exp "$RUN/console.log" "$boot_limit" "$boot_answers" "$@"
	) 9>"${VM_LOCK:-$vm_build/qemu.lock}" >"$RUN/events" 2>"$RUN/expect.err"
	tr -d '\r' <"$RUN/console.log" | sed -n '/BOOTCHECK-BEGIN/,/BOOTCHECK-END/p' >"$RUN/facts"
}

# The values of a key in what the booted system said. $1: key.
fact() { sed -n "s/^$1 //p" "$RUN/facts"; }
# Seconds from the start to an event, the first of its name. $1: event.
when() { sed -n "s/^\([0-9.]*\) $1.*/\1/p" "$RUN/events" | head -n 1; }
# How often. $1: event.
how_often() { grep -c "^[0-9.]* $1" "$RUN/events"; }
