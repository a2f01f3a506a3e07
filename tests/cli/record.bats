#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# --record and --replay: the same answers from the file as on the machine; nothing in it that names anybody; hostile files.

load lib

setup() {
	export LC_ALL=C
	: "${HWLUKS:?the program under test}"
	machines=$(cd "$BATS_TEST_DIRNAME/../machines" && pwd)
	cd "$BATS_TEST_TMPDIR"
	root=$PWD/root
}

# show FILE ARG...: standard output and exit code of a command.
show() {
	local to=$1 rc=0
	shift
	"$HWLUKS" "$@" >"$to" 2>"$to.err" || rc=$?
	echo "exit $rc" >>"$to"
}

# same ARG...: a replay, and the unpacked recording, say what the machine itself said. $tar, $from: as in record_from.
same() {
	show "$PWD/live" "${from[@]}" "$@"
	show "$PWD/replay" "$@" --replay "$tar"
	show "$PWD/unpacked" --sysroot "$PWD/unpacked.d" "$@"
	cmp live replay || complain "${from[*]}: $* differs from its replay"
	cmp replay.err live.err || complain "${from[*]}: $*: other messages"
	cmp live unpacked || complain "${from[*]}: $* differs from the unpacked recording"
}

# record_from [--sysroot DIR]: into $tar and $PWD/unpacked.d
record_from() {
	from=("$@")
	tar=$PWD/machine.tar
	rm -rf "$tar" unpacked.d
	show "$PWD/recording" "$@" doctor --record "$tar"
	mkdir unpacked.d
	tar -xf "$tar" -C unpacked.d
}

@test "a replay says what the machine said, byte for byte: every recorded machine" {
	for m in "$machines"/*/root; do
		record_from --sysroot "$m"
		for c in detect advise doctor; do
			same "$c"
			same "$c" --json
		done
		show "$PWD/replay" doctor --replay "$tar"
		cmp recording replay || complain "$m: the recording run said something else"
	done
	all_right
}

@test "this machine: its replay differs in the word 'recorded' alone" {
	record_from
	for c in detect advise doctor; do
		for json in '' --json; do
			# shellcheck disable=SC2086 # one word or none
			show "$PWD/live" $c $json
			# shellcheck disable=SC2086
			show "$PWD/replay" $c $json --replay "$tar"
			# figures that change from one moment to the next are no difference
			sed -i 's/This machine (recorded)/This machine/; s/"recorded": true/"recorded": false/' replay
			diff live replay || complain "$c $json"
		done
	done
	tar -tf "$tar" | grep -q '^hwluks/complete$'
	[ "$(stat -c %a "$tar")" = 600 ]
	all_right
}

# A machine with everything in it that must not leave it.
planted() {
	cp -r "$machines/intel-tiger-lake-vaes/root" "$root"
	mkdir -p "$root/etc/modprobe.d" "$root/hwluks/headers" "$root/proc/sys/kernel" "$root/sys/dev/block" "$root/sys/devices/sda/queue" \
		"$root/sys/devices/sda/sda2/dm"
	key=$(printf 'c0ffee%.0s' $(seq 22) | cut -c1-128)
	digest=$(printf 'd1%.0s' $(seq 32))
	salt=5a5a5a5a11223344556677885a5a5a5a
	uuid=7f3c1a52-9b1d-4c3e-8a77-0123456789ab
	echo larch.example.net >"$root/proc/sys/kernel/hostname"
	echo "root=UUID=$uuid ro nas=larch ip=192.168.7.31 rd.luks.key=/keys/larch.key module_blacklist=qat_c3xxx smsc95xx.macaddr=B8:27:EB:0A:1B:2C" \
		>"$root/proc/cmdline"
	printf 'Serial\t\t: 10000000feedf00d\n' >>"$root/proc/cpuinfo"
	cat >"$root/etc/crypttab" <<-END
		# the disk of Zacharias
		home UUID=$uuid /keys/secret-name.key luks,no-read-workqueue,fido2-cid=AbCdSecretCid==,header=/boot/larch.img
		luks-$uuid LABEL=zacharias-disk none luks
		usb /dev/disk/by-id/ata-Brand_S3Z9NB0K123456 none cipher=aes-xts-plain64,size=512
	END
	printf '# written by zacharias\nblacklist qat_c62x\noptions x mac=02:11:22:33:44:55\n' >"$root/etc/modprobe.d/a.conf"
	cat >"$root/hwluks/dm-table" <<-END
		home: 0 2097152 crypt aes-xts-plain64 $key 0 8:2 32768
		luks-$uuid: 0 2048 crypt aes-xts-plain64 :64:logon:cryptsetup:$uuid-d0 0 8:2 32768
	END
	printf 'type luks2\nsector-size 512\ndata-offset 16777216\nkeyslot 0 argon2id 4 1048576 4\ndigest %s\nsalt %s\n' "$digest" "$salt" \
		>"$root/hwluks/headers/home"
	echo 0 >"$root/sys/devices/sda/queue/rotational"
	echo 8:0 >"$root/sys/devices/sda/dev"
	echo 2 >"$root/sys/devices/sda/sda2/partition"
	echo 2048 >"$root/sys/devices/sda/sda2/start"
	ln -s ../../devices/sda "$root/sys/dev/block/8:0"
	ln -s ../../devices/sda/sda2 "$root/sys/dev/block/8:2"
	printf '%s\n' "$key" "$digest" "$salt" "$uuid" "${uuid^^}" "${uuid//-/}" larch example.net 192.168.7.31 B8:27:EB:0A:1B:2C 02:11:22:33:44:55 \
		feedf00d secret-name AbCdSecretCid zacharias Zacharias S3Z9NB0K123456 c0ffeec0ffee >secrets
}

@test "no key, digest, salt, UUID, MAC, serial number, label or host name is in a recording" {
	planted
	show "$PWD/out" --sysroot "$root" doctor --record machine.tar
	while read -r s; do
		grep -qF "$s" machine.tar && complain "in the recording: $s"
		grep -qF "$s" out && complain "in the output: $s"
	done <secrets
	# what is needed is still there
	mkdir d && tar -xf machine.tar -C d
	grep -q '^home UUID=uuid-1 key-file luks,no-read-workqueue,fido2-cid=,header=$' d/etc/crypttab
	grep -q '^luks-uuid-1 LABEL=label-1 none luks$' d/etc/crypttab
	grep -q 'by-id/serial-[0-9]* none cipher=aes-xts-plain64,size=512$' d/etc/crypttab
	grep -q 'module_blacklist=qat_c3xxx' d/proc/cmdline
	[ "$(sed -n 2p d/etc/modprobe.d/a.conf)" = 'blacklist qat_c62x' ]
	grep -q '^keyslot 0 argon2id 4 1048576 4$' d/hwluks/headers/home
	all_right
}

@test "a replay says what the machine said after the same names were taken out; recording it again changes nothing" {
	planted
	"$HWLUKS" --sysroot "$root" --json doctor >live || [ $? = 12 ]
	show "$PWD/out" --sysroot "$root" doctor --record machine.tar
	"$HWLUKS" --json doctor --replay machine.tar >replay || [ $? = 12 ]
	sed -i "s/$uuid/uuid-1/g; s/larch/host-2/g" live
	diff live replay
	mkdir d && tar -xf machine.tar -C d
	show "$PWD/out" --sysroot "$PWD/d" doctor --record again.tar
	cmp machine.tar again.tar
}

@test "volumes in a recording: header, content and the driver that was seen to bind" {
	planted
	mkdir -p "$root/hwluks/content" "$root/hwluks/bindings"
	echo 'ext4 4096' >"$root/hwluks/content/home"
	echo 'xts-aes-aesni' >"$root/hwluks/bindings/home"
	printf 'type luks2\nsector-size 512\ndata-offset 16777216\nkeyslot 1 argon2id 4 67108864 4\nkeyslot x\nkeyslot 2 a\n' >"$root/hwluks/headers/home"
	show "$PWD/out" --sysroot "$root" doctor --record machine.tar
	"$HWLUKS" --json doctor --replay machine.tar home >replay || [ $? = 12 ]
	jq -e '.volumes[0] | .served_by == "xts-aes-aesni" and .evidence_kind == "recorded" and .device == "/dev/sda2"' replay
	jq -e '[.findings[].id] | (index("header-unknown") | not) and index("argon2-memory")' replay
}

@test "what may not be asked is said in the replay too" {
	cp -r "$machines/intel-tiger-lake-vaes/root" "$root"
	rm "$root/proc/crypto"
	mkdir -p "$root/hwluks"
	printf 'EACCES /proc/crypto\nEPERM /hwluks/dm-table\nnonsense\n' >"$root/hwluks/errors"
	tar --format=gnu -cf m.tar -C "$root" .
	show "$PWD/a" doctor --replay m.tar
	grep -q '/proc/crypto: Permission denied' a.err
	grep -q 'Only root may ask the device-mapper' a
	show "$PWD/b" --sysroot "$root" doctor
	cmp a b
}

# refused TEXT: m.tar is an error that says TEXT, exit code 1, in a moment, and leaves nothing.
refused() {
	local rc=0
	ls -A >before
	timeout 10 "$HWLUKS" doctor --replay m.tar >out 2>err || rc=$?
	[ $rc = 1 ] || complain "$1: exits $rc: $(cat err)"
	grep -qF "$1" err || complain "$1: $(cat err)"
	rm -f out err
	ls -A >after
	diff before after || complain "$1: something was left"
}

@test "hostile and malformed recordings are errors, and nothing is written" {
	touch before after
	mkdir src && echo x >src/f && ln -s f src/l && mkfifo src/p
	tar --format=gnu -P -cf m.tar --transform 's,^,/tmp/,' -C src f
	refused 'is an absolute name'
	tar --format=gnu -P -cf m.tar --transform 's,^,../../,' -C src f
	refused 'is no name that a recording can hold'
	tar --format=gnu -cf m.tar -C src p
	refused 'neither file, link nor directory'
	ln src/f src/hard
	tar --format=gnu -cf m.tar -C src f hard
	refused 'neither file, link nor directory'
	tar --format=gnu -cf m.tar -C src f
	tar --format=gnu -rf m.tar -C src f
	refused 'is in it twice'
	truncate -s 5M src/big
	tar --format=gnu -cf m.tar -C src big
	refused 'larger than 4 MiB'
	truncate -s 600 src/g
	tar --format=gnu -cf whole.tar -C src g
	head -c 700 whole.tar >m.tar
	refused 'in the middle of a file'
	head -c 1536 whole.tar >m.tar
	refused 'ends without'
	printf 'f' | dd of=whole.tar bs=1 seek=1 conv=notrunc status=none
	cp whole.tar m.tar
	refused 'no tar archive'
	gzip -c whole.tar >m.tar
	refused 'no tar archive'
	: >m.tar
	refused 'no tar archive'
	truncate -s 65M m.tar
	refused 'Cannot read the recording'
	rm m.tar && mkfifo m.tar
	refused 'no regular file'
	rm m.tar
	refused 'No such file'
	# a link, and something below it: it would be written through when unpacked
	mkdir a && ln -s /tmp a/d && tar --format=gnu -cf m.tar -C a d
	rm a/d && mkdir a/d && echo x >a/d/f && tar --format=gnu -rf m.tar -C a d/f
	refused 'lies below something that is no directory'
	all_right
}

@test "links of a recording lead nowhere else" {
	mkdir -p src/proc/sys/kernel
	ln -s "$BATS_TEST_DIRNAME/../../README.md" src/proc/crypto
	ln -s ../../../../../../../../../proc/cpuinfo src/proc/modules
	ln -s loop src/proc/loop
	ln -s loop src/proc/cmdline
	echo 6.1.0 >src/proc/sys/kernel/osrelease
	tar --format=gnu -cf m.tar -C src .
	"$HWLUKS" --json doctor --replay m.tar >out || [ $? = 12 ]
	jq -e '.unread | map(select(startswith("/proc/crypto: No such file"))) | length == 1' out
	jq -e '.unread | map(select(startswith("/proc/cmdline: Too many"))) | length == 1' out
}

@test "--record never writes over a file; it takes no argument; not with --replay" {
	echo precious >m.tar
	run "$HWLUKS" --sysroot "$machines/raspberry-pi-5/root" detect --record m.tar
	[ "$status" = 5 ]
	[ "$(cat m.tar)" = precious ]
	run "$HWLUKS" --sysroot "$machines/raspberry-pi-5/root" detect --record nowhere/m.tar
	[ "$status" = 1 ]
	run "$HWLUKS" --sysroot "$machines/raspberry-pi-5/root" doctor --record n.tar home
	[ "$status" = 1 ]
	[[ $output == *"leave out 'home'"* ]]
	run "$HWLUKS" doctor --record n.tar --replay m.tar
	[ "$status" = 1 ]
	run "$HWLUKS" --sysroot "$machines/raspberry-pi-5/root" doctor --replay m.tar
	[ "$status" = 1 ]
	[ ! -e n.tar ]
}
