#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# doctor on recordings with open volumes: a recorded machine, a dm table, the algorithms that an open volume adds, a disk.

setup() {
	export LC_ALL=C
	: "${HWLUKS:?the program under test}"
	machines=$(cd "$BATS_TEST_DIRNAME/../machines" && pwd)
	root=$BATS_TEST_TMPDIR/root
	out=$BATS_TEST_TMPDIR/out
}

# Starts from a recorded machine. $1: its name.
machine() { cp -r "$machines/$1/root" "$root" && mkdir -p "$root/hwluks"; }

# An open volume on sda2. $1: cipher, $2: key bytes, $3: more of the table.
volume() { echo "home: 0 2097152 crypt $1 :$2:logon:cryptsetup:home 0 8:2 32768 ${3:-}" >"$root/hwluks/dm-table"; }

# A registered algorithm in front of the others. $1: name, $2: driver, $3: priority, $4: reference count.
algorithm() {
	printf 'name         : %s\ndriver       : %s\nmodule       : kernel\npriority     : %s\nrefcnt       : %s\nselftest     : passed\ninternal     : no\ntype         : skcipher\nasync        : no\nblocksize    : 16\nmin keysize  : 16\nmax keysize  : 32\nivsize       : 16\n\n' "$@" |
		cat - "$root/proc/crypto" >"$root/crypto.new"
	mv "$root/crypto.new" "$root/proc/crypto"
}

# sda with partition 2. $1: rotational, $2: physical sector, $3: first sector of the partition.
disk() {
	local d=$root/sys/devices/sda
	mkdir -p "$d/queue" "$d/sda2" "$root/sys/dev/block"
	echo "$1" >"$d/queue/rotational"
	echo "$2" >"$d/queue/physical_block_size"
	echo 512 >"$d/queue/logical_block_size"
	echo 0 >"$d/queue/discard_granularity"
	echo 8:0 >"$d/dev"
	echo 2 >"$d/sda2/partition"
	echo "$3" >"$d/sda2/start"
	ln -s ../../devices/sda "$root/sys/dev/block/8:0"
	ln -s ../../devices/sda/sda2 "$root/sys/dev/block/8:2"
}

# first ID SEVERITY CODE [ARG...]: the first finding and the exit code.
first() {
	local id=$1 severity=$2 want=$3 rc=0
	shift 3
	"$HWLUKS" --sysroot "$root" --json doctor "$@" >"$out" || rc=$?
	jq -c '.volumes, [.findings[] | [.id, .severity, .absorbed_by]]' "$out"
	[ "$rc" = "$want" ]
	jq -e --arg id "$id" --arg s "$severity" '.findings[0] | .id == $id and .severity == $s' "$out"
}

@test "a 256-bit key on the Geode: named, although the engine's driver is bound" {
	machine vm-geode-6.1-i386
	volume aes-cbc-essiv:sha256 32
	algorithm 'essiv(cbc(aes),sha256)' 'essiv(cbc-aes-geode,sha256-generic)' 400 2
	first key-size warning 12
	jq -e '.volumes[0].served_by == "essiv(cbc-aes-geode,sha256-generic)" and .volumes[0].verdict == "software"' "$out"
	jq -e '.findings[0].no_remedy | test("--cipher aes-cbc-essiv:sha256 --key-size 128")' "$out"
}

@test "a 128-bit key on the Geode: nothing above a note" {
	machine vm-geode-6.1-i386
	volume aes-cbc-essiv:sha256 16
	disk 1 512 2048
	algorithm 'essiv(cbc(aes),sha256)' 'essiv(cbc-aes-geode,sha256-generic)' 400 2
	first small-requests note 0 home
}

@test "the driver came after the volume was opened" {
	machine vm-aesni-6.1-amd64
	sed -i '/^driver.*xts-aes-aesni$/,/^$/s/^refcnt .*/refcnt       : 1/' "$root/proc/crypto"
	volume aes-xts-plain64 64
	first driver-late warning 12
	jq -e '.findings[0].remedy == "hwluks refresh home"' "$out"
}

@test "dm-crypt refuses the engine" {
	machine vm-virtio-crypto-6.1-amd64
	sed -i 's/ hypervisor//' "$root/proc/cpuinfo"
	volume aes-cbc-plain64 32
	algorithm 'cbc(aes)' 'cbc(aes-generic)' 100 2
	sed -i '/^driver.*: cbc(aes-generic)$/,/^$/s/^refcnt .*/refcnt       : 2/' "$root/proc/crypto"
	first engine-excluded warning 12
}

@test "what is below is read down to the disk: sectors and alignment" {
	machine intel-tiger-lake-vaes
	volume aes-xts-plain64 64
	disk 1 4096 63
	"$HWLUKS" --sysroot "$root" --json doctor home >"$out" || [ $? = 12 ]
	jq -e '[.findings[].id] | index("misaligned") and index("sector-size") and (index("stack-unknown") | not)' "$out"
	jq -e '.volumes[0].device == "/dev/sda2"' "$out"
}

@test "crypttab against the table" {
	machine intel-tiger-lake-vaes
	volume aes-xts-plain64 64 '1 no_read_workqueue'
	disk 0 512 2048
	mkdir -p "$root/etc"
	echo 'home /dev/sda2 none luks,no-read-workqueue,no-write-workqueue' >"$root/etc/crypttab"
	"$HWLUKS" --sysroot "$root" --json doctor >"$out" || [ $? = 12 ]
	jq -e '.findings[] | select(.id == "crypttab-flags") | (.evidence | length == 2) and
		.remedy == "hwluks refresh --perf-no_read_workqueue --perf-no_write_workqueue home"' "$out"
}

@test "a name that is not there: exit 4; a malformed table: said, and no crash" {
	machine intel-tiger-lake-vaes
	run "$HWLUKS" --sysroot "$root" doctor home
	[ "$status" = 4 ]
	volume aes-xts-plain64 64
	printf 'x: 0 8 crypt\n: \nx\n\ny: a b crypt c\nz: 0 8 linear 8:0 0\n' >>"$root/hwluks/dm-table"
	"$HWLUKS" --sysroot "$root" --json doctor home >"$out" 2>"$out.err" || [ $? = 12 ]
	grep -q 'no tables' "$out.err"
	jq -e '.volumes | length == 1' "$out"
}

@test "sixty-four volumes and a thousand algorithms" {
	machine intel-tiger-lake-vaes
	for i in $(seq 64); do echo "v$i: 0 2048 crypt aes-xts-plain64 :64:logon:x 0 8:2 0"; done >"$root/hwluks/dm-table"
	for i in $(seq 50); do sed "s/^driver .*/&-$i/" "$root/proc/crypto"; done >"$root/more"
	cat "$root/more" >>"$root/proc/crypto"
	"$HWLUKS" --sysroot "$root" --json doctor >"$out" || [ $? = 12 ]
	jq -e '.volumes | length == 64' "$out"
}

# What a recording of `doctor --measure` holds beside the rest. $1: of the volume; $2: of setups.
measured() {
	mkdir -p "$root/hwluks/measured"
	printf %b "$1" >"$root/hwluks/measured/home"
	printf %b "$2" >"$root/hwluks/measured-setups"
}

# The text says this, wherever its lines end.
says() { tr -s ' \n' ' ' <"$out" | grep -F "$1"; }

@test "measured: the gain and the hours of a rewrite, as text and as JSON" {
	machine vm-geode-6.1-i386
	volume aes-cbc-essiv:sha256 32
	algorithm 'essiv(cbc(aes),sha256)' 'essiv(cbc-aes-geode,sha256-generic)' 400 2
	mkdir "$root/hwluks/headers"
	printf 'type luks2\nsector-size 512\ndata-offset 16777216\n' >"$root/hwluks/headers/home"
	echo "home: 0 209715200 crypt aes-cbc-essiv:sha256 :32:logon:cryptsetup:home 0 8:2 32768" >"$root/hwluks/dm-table"
	measured 'device 100 99 101 3\nmapping 10 9.9 10.1 3\n' \
		'setup aes-cbc-essiv:sha256 256 512 0 -\nwrite 11.1 11 11.2 3\nread 11.1 11 11.2 3\nsetup aes-cbc-essiv:sha256 128 512 0 -\nwrite 50 49 51 3\nread 50 49 51 3\n'
	first key-size warning 12
	jq -e '.findings[0] | .measured == true and .factor > 3.2 and .factor < 3.4 and .rewrite_seconds > 13000 and .rewrite_seconds < 15000' "$out"
	jq -e '.volumes[0] | .mapping_read.median == 10 and .device_read.runs == 3' "$out"
	jq -e '.setups | length == 2 and .[1].read.high == 51 and .[1].failed == null' "$out"
	"$HWLUKS" --sysroot "$root" doctor >"$out" || [ $? = 12 ]
	says 'reading 10.0 MB/s now, 33.4 with a 128-bit key (3.3 times)'
	says 'about 3.9 hours at the speed measured here'
	says 'measured reads through the mapping 10.0 MB/s (9.9 to 10.1)'
}

@test "measured: the disk is the limit, and what was measured stands beside what is known" {
	machine vm-geode-6.1-i386
	volume aes-cbc-essiv:sha256 16
	disk 1 512 2048
	algorithm 'essiv(cbc(aes),sha256)' 'essiv(cbc-aes-geode,sha256-generic)' 400 2
	measured 'device 20 19.9 20.1 3\nmapping 19 18.9 19.1 3\n' ''
	first disk-limits note 0 home
	echo "home: 0 2097152 crypt aes-cbc-essiv:sha256 :16:logon:cryptsetup:home 0 8:2 32768 1 sector_size:4096" >"$root/hwluks/dm-table"
	measured 'device 60 59 61 3\nmapping 20 19 21 3\n' ''
	"$HWLUKS" --sysroot "$root" doctor home >"$out"
	says 'What was measured stands above.'
	says 'Known figures of what is here:'
	says 'hwluks doctor --measure --record machine.tar'
}

@test "what cannot be measured is refused: a recorded machine, no number, both options" {
	machine vm-geode-6.1-i386
	for o in --measure --measure=0 --measure=x; do
		run "$HWLUKS" doctor "$o" --sysroot "$root"
		[ "$status" = 1 ]
	done
	run "$HWLUKS" doctor --measure --quick
	[ "$status" = 1 ]
	run "$HWLUKS" doctor --quick --sysroot "$root"
	[ "$status" = 0 ] || [ "$status" = 12 ]
}
