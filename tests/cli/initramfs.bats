#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# initramfs modules: on recorded machines, for a named accelerator and kernel, and with headers and crypttabs as given.

load lib

setup() {
	export LC_ALL=C
	: "${HWLUKS:?the program under test}"
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	machines=$TOP/tests/machines
	cd "$BATS_TEST_TMPDIR"
}

# modules ARG...: the names that a builder of images would read, in one line; messages in ./err.
modules() {
	"$HWLUKS" "$@" >out 2>err || return
	sed -e 's/ *#.*//' -e '/^$/d' out | tr '\n' ' '
}

# refuses TEXT ARG...: exit code 1, nothing on standard output, TEXT among the messages.
refuses() {
	local text=$1 rc=0
	shift
	"$HWLUKS" "$@" >out 2>err || rc=$?
	{ [ "$rc" = 1 ] && [ ! -s out ] && grep -q -- "$text" err; } || complain "$*: exit $rc: $(cat err)"
}

# A LUKS volume in the file img: luks CIPHER KEYBITS.
luks() {
	truncate -s 20M img
	printf secret | cryptsetup luksFormat -q --type luks2 --cipher "$1" --key-size "$2" --pbkdf pbkdf2 \
		--pbkdf-force-iterations 1000 --key-file - img
}

@test "every recorded machine: text and JSON name the same modules, dm-crypt and software among them" {
	for m in "$machines"/*/root; do
		text=$(modules --sysroot "$m" initramfs modules) || complain "$m: $(cat err)"
		"$HWLUKS" --json --sysroot "$m" initramfs modules >json 2>err || complain "$m: $(cat err)"
		[ "$text" = "$(jq -r '.modules[] | select(.state == "present" or .state == "unknown") | .name' json | tr '\n' ' ')" ] ||
			complain "$m: $text"
		jq -e 'any(.modules[]; .name == "dm_crypt") and any(.modules[]; .role == "software") and .specs_complete == false' json >/dev/null ||
			complain "$m: $(cat json)"
		awk 'length($0) > 79' out | grep . && complain "$m: too wide"
	done
	all_right
}

@test "a Geode that is not loaded yet: its driver comes first, with what tests it" {
	run modules --sysroot "$machines/alix-2c2-geode-lx800-unloaded/root" initramfs modules
	[[ $output == "geode-aes dm_crypt algif_skcipher crypto_user loop "* ]]
}

@test "an engine that dm-crypt refuses is not in the image" {
	run modules --sysroot "$machines/vm-virtio-crypto-6.1-amd64/root" initramfs modules
	[ "$status" = 0 ]
	[[ $output == *dm_crypt* && $output != *virtio* ]]
}

@test "data cipher, IV hash and key slot cipher come from the header" {
	luks aes-cbc-essiv:sha256 256
	run modules initramfs modules --accelerator geode-lx --header img --sysroot "$machines/kvm64-hides-aes/root"
	[ "$status" = 0 ]
	[[ $output == *"essiv "* && $output != *adiantum* && $output != *xts* ]]
	"$HWLUKS" --json initramfs modules --header img >json
	jq -e '.specs_complete and .specs == ["aes-cbc-essiv:sha256", "aes-cbc-essiv:sha256"]' json
}

@test "volumes come from the crypttab given: a header, a plain volume, one that cannot be read" {
	luks aes-xts-plain64 512
	printf 'data %s none luks\nswap /dev/nosuch /dev/urandom swap,cipher=twofish-cbc-plain64\n' "$PWD/img" >crypttab
	"$HWLUKS" --json initramfs modules --crypttab crypttab >json 2>err
	jq -e '.specs_complete and (.specs | index("aes-xts-plain64")) != null and (.specs | index("twofish-cbc-plain64")) != null' json
	[ ! -s err ]
	printf 'gone /nosuch/device none luks\n' >>crypttab
	"$HWLUKS" --json initramfs modules --crypttab crypttab >json 2>err
	jq -e '(.specs_complete | not) and (.specs | index("aes-cbc-essiv:sha256")) != null' json
	grep -q "'gone'" err
}

@test "another kernel of the same root has its own modules" {
	cp -r "$machines/alix-2c2-geode-lx800-unloaded/root" root
	chmod -R u+w root
	mkdir root/lib/modules/6.12.1-other
	printf 'kernel/drivers/md/dm-crypt.ko:\n' >root/lib/modules/6.12.1-other/modules.dep
	touch root/lib/modules/6.12.1-other/modules.builtin
	"$HWLUKS" --sysroot root initramfs modules --accelerator geode-lx --kernel 6.12.1-other >out 2>err
	grep -q '^# geode-aes is not in this kernel' out
	grep -q '^dm_crypt ' out
	grep -q 'geode-aes, the driver of .*, is not installed' err
}

@test "what cannot be planned is refused with the reason" {
	refuses "no accelerator in the table" initramfs modules --accelerator nosuch
	refuses "No kernel 9.9.9-none is installed" initramfs modules --kernel 9.9.9-none
	refuses "no kernel version" initramfs modules --kernel ../../etc
	refuses 'is not known: install, check, remove, modules or deny' initramfs pack
	refuses "needs\|takes" initramfs
	refuses "could not be read" initramfs modules --crypttab nosuch
	all_right
	run "$HWLUKS" initramfs modules --header /dev/null
	[ "$status" != 0 ]
}

@test "an accelerator that an image does not help is told" {
	modules initramfs modules --accelerator virtio-crypto --sysroot "$machines/kvm64-hides-aes/root" >/dev/null
	grep -q 'dm-crypt cannot use' err
}

# --- load --boot ---------------------------------------------------------------------------------------

@test "load --boot heeds hwluks=off, and nothing that looks like it" {
	cp -r "$machines/alix-2c2-geode-lx800-unloaded/root" root
	chmod -R u+w root
	for line in 'root=/dev/sda1 hwluks=off quiet' 'hwluks=off'; do
		echo "$line" >root/proc/cmdline
		"$HWLUKS" --sysroot root load --boot --dry-run >out 2>err || complain "$line: exit $?"
		grep -q 'hwluks=off' err || complain "$line: $(cat err)"
		[ ! -s out ] || complain "$line: $(cat out)"
	done
	for line in 'hwluks=on' 'hwluks' 'xhwluks=off' 'hwluks=offline' 'quiet -- hwluks=off'; do
		echo "$line" >root/proc/cmdline
		"$HWLUKS" --sysroot root load --boot --dry-run >out 2>err || complain "$line: exit $?"
		grep -q 'load *geode-aes' out || complain "$line: $(cat out err)"
	done
	echo hwluks=off >root/proc/cmdline
	"$HWLUKS" --sysroot root load --dry-run >out
	grep -q 'load *geode-aes' out || complain "without --boot"
	all_right
}

@test "load --boot without rights: exit 0, and the log says what was done" {
	# root of a name space of its own: may mount, may load no module
	unshare -rm true 2>/dev/null || skip "no user name spaces here"
	unshare -rm sh -c 'mount -t tmpfs none /run && "$HWLUKS" load --boot --wait 2 >out 2>err; echo "$?" >rc; cat /run/hwluks.log' >log
	[ "$(cat rc)" = 0 ]
	grep -qE '^[0-9]+\.[0-9]{2} load: .+' log
}

# --- images ------------------------------------------------------------------------------------------------------

# archive NAME...: a cpio archive of empty files on standard output.
archive() {
	rm -rf tree && mkdir tree
	for f in "$@"; do
		mkdir -p "tree/$(dirname "$f")" && : >"tree/$f"
	done
	(cd tree && find . | LC_ALL=C sort | cpio -o -H newc --quiet)
}

# lacks IMAGE: check reads it as the image of the system in ./root, and misses the program in it.
lacks() {
	local rc=0
	cp "$1" root/boot/initrd.img-6.1
	"$HWLUKS" initramfs check --root root >out 2>err || rc=$?
	{ [ "$rc" = 15 ] && grep -q 'MISSING  The program' out && grep -q '  ok       Its list of modules' out; } ||
		complain "$1: exit $rc: $(cat out err)"
}

@test "an image is read whatever packed it, behind a first archive too" {
	mkdir -p root/boot root/lib/modules/6.1 root/usr/sbin
	touch root/lib/modules/6.1/modules.dep root/usr/sbin/mkinitramfs
	archive scripts/functions lib/modules/6.1/modules.dep >main
	archive kernel/x86/microcode/AuthenticAMD.bin >early
	head -c 1024 /dev/zero >zeros
	lacks main
	for p in gzip zstd xz bzip2; do
		cat early zeros <("$p" -c <main) >"packed-$p"
		lacks "packed-$p"
	done
	"$HWLUKS" initramfs check --root root --json >json 2>err || [ $? = 15 ]
	jq -e '.images[0] | .kernel == "6.1" and .generator == "initramfs-tools" and (.ok | not) and any(.checks[]; .id == "index" and .ok)' json
	all_right
}

@test "what is no image, or half of one, is an error and no verdict" {
	archive scripts/functions lib/modules/6.1/x.ko >main
	gzip -c main >packed
	head -c 300 main >half
	head -c 150 packed >half-packed
	printf 'no image' >text
	: >empty
	refuses 'cut short or damaged' initramfs check half
	refuses 'cut short or damaged' initramfs check half-packed
	refuses 'neither a cpio archive nor packed' initramfs check text
	refuses 'made by none of' initramfs check empty
	refuses 'No kernel 6.1 is installed' initramfs check main
	rc=0
	"$HWLUKS" initramfs check /nosuch >out 2>err || rc=$?
	{ [ "$rc" = 4 ] && grep -q 'No such file' err; } || complain "/nosuch: $rc"
	all_right
}

@test "arguments that make no sense are refused" {
	refuses 'is not known: install' initramfs rebuild
	refuses 'one argument too many' initramfs install x
	refuses 'are for install, check and remove' initramfs modules --root /
	refuses 'are for install, check and remove' initramfs deny --dry-run
	refuses 'no recorded\|recorded machine has no boot image' initramfs check --sysroot "$machines/pc-without-aes/root"
	refuses "is no builder of boot images" initramfs install --generator grub
	all_right
}

@test "a system without a builder: nothing is put anywhere" {
	mkdir -p root/lib/modules
	for a in install check remove; do
		rc=0
		"$HWLUKS" initramfs $a --root root >out 2>err || rc=$?
		{ [ "$rc" != 0 ] && grep -q 'No builder of boot images' err; } || complain "$a: $rc $(cat err)"
	done
	[ "$(find root -type f | wc -l)" = 0 ]
	all_right
}

@test "deny names drivers of engines outside the CPU only" {
	"$HWLUKS" --sysroot "$machines/alix-2c2-geode-lx800-unloaded/root" initramfs deny >out 2>err
	grep -qx 'blacklist geode-aes' out
	"$HWLUKS" --sysroot "$machines/aesni-desktop/root" initramfs deny >out 2>err
	[ "$(grep -c '^blacklist' out)" = 0 ]
}
