#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: doctor on machines with real faults; the guests tell what they did.
# Must not know: what the guest scripts test.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

# $1: name; $2: architecture; $3: script; rest: options of guest.sh.
doctor() {
	d_name=$1 d_arch=$2 d_script=$3
	shift 3
	guest "doctor-$d_name" --arch "$d_arch" --limit 600 --disk 128 "$@" --file tests/vm/volume-lib.sh:/tests/volume-lib.sh \
		--file tests/vm/doctor-lib.sh:/tests/doctor-lib.sh --file "build/$d_arch/hwluks:/usr/sbin/hwluks" "$d_script"
}

# a disk with sectors of 4096 bytes that takes writes of 512, as most do
big=$vm_build/run/doctor-4096.img
mkdir -p "$vm_build/run"
rm -f "$big"
truncate -s 24M "$big"
ok 'typist builds' tests/vm/tools/build.sh amd64 typist "$vm_build/typist-amd64"
# -hypervisor: else the first thing to say is that the host may hide AES instructions
doctor amd64 amd64 tests/vm/amd64/doctor.sh --cpu qemu64,-hypervisor --memory 512 --virtio-crypto \
	--qemu -drive --qemu "if=none,id=big,file=$big,format=raw" \
	--qemu -device --qemu virtio-blk-pci,drive=big,physical_block_size=4096 \
	--file build/vm/padlock_model-amd64.ko:/padlock_model.ko --file "$vm_build/typist-amd64:usr/bin/typist"
doctor key i386 tests/vm/geode/doctor.sh --geode none --env CASE=key
doctor selftest i386 tests/vm/geode/doctor.sh --geode data --env CASE=selftest
done_testing
