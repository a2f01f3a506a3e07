#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: running test scripts in a QEMU guest: boots it, gives TAP to prove, leaves nothing running.
# Must not know: what the scripts test, or what hwluks is.
#
# usage: guest.sh [OPTIONS] SCRIPT.sh...
#   Each SCRIPT is run in the guest as /tests/NAME by /bin/sh, one after the other, tap.sh beside it, and prints TAP.
#   On stdout: one TAP document with all of it. Exit 0 if every test passed and the guest went down by itself.
#   A guest that dies, panics, hangs or runs out of time is a failed test, shown with the console's tail.
#
#   --arch i386|amd64      default i386
#   --name NAME            directory of this run below build/vm/run; default: first script's name
#   --geode FAULT          put a Geode LX engine in: none, or a fault as geode-model takes it (i386 only)
#   --virtio-crypto        put QEMU's virtio-crypto device in
#   --cpu MODEL            default pentium3 (i386) and qemu64 (amd64): neither has AES instructions
#   --smp N  --memory MIB  default 1 and 256
#   --icount SHIFT         the guest's clock counts instructions: ratios of speed that repeat
#   --append WORDS         added to the kernel command line
#   --disk MIB             size of the scratch disk (/dev/vda), made anew, full of zeros; default 32; 0: none
#   --keep-disk            use the disk that the last run of this NAME left
#   --file HOST:GUEST      copy a file into the guest (repeatable); modes are kept
#   --env NAME=VALUE       a variable for the scripts (repeatable)
#   --limit SECONDS        wall-clock limit from QEMU's start to its end; default 300
#   --qemu WORD            one more argument for QEMU (repeatable)
#   --may-not-end          that the guest had to be killed at the limit is no failure by itself
#
# Left in build/vm/run/NAME for the caller: console.log, tap.log (as the guest wrote it), qemu.log, disk.img, stats (of
# geode-model), notes ("key value", from the scripts' `note`), result (off=0|1 rc=N seconds=N).
# Guests run one at a time: the next waits for build/vm/qemu.lock (VM_LOCK names another file, for several trees on
# one machine), which does not count against its limit.
# VM_CPU: the number of the CPU that a Geode guest runs on; default the last one allowed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${VM_BUILD:-$top/build/vm}

die() { printf 'guest: %s\n' "$*" >&2; exit 1; }

# A word as the shell reads it back.
quote() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

arch=i386 name='' geode='' cpu='' smp=1 memory=256 icount='' append='' disk=32 keep_disk=''
limit=300 files='' env='' extra='' may_not_end=''
nl='
'
while [ $# -gt 0 ]; do
	case $1 in
	--virtio-crypto)
		extra="$extra -object cryptodev-backend-builtin,id=crypto0"
		extra="$extra -device virtio-crypto-pci,cryptodev=crypto0"
		shift
		continue
		;;
	--keep-disk) keep_disk=1 && shift && continue ;;
	--may-not-end) may_not_end=1 && shift && continue ;;
	--) shift && break ;;
	--*) [ $# -ge 2 ] || die "$1 needs a value" ;;
	*) break ;;
	esac
	case $1 in
	--arch) arch=$2 ;;
	--name) name=$2 ;;
	--geode) geode=$2 ;;
	--cpu) cpu=$2 ;;
	--smp) smp=$2 ;;
	--memory) memory=$2 ;;
	--icount) icount=$2 ;;
	--append) append="$append $2" ;;
	--disk) disk=$2 ;;
	--file) files="$files$2$nl" ;;
	--env) env="$env export ${2%%=*}=$(quote "${2#*=}")$nl" ;;
	--limit) limit=$2 ;;
	--qemu) extra="$extra $(quote "$2")" ;;
	*) die "unknown option $1" ;;
	esac
	shift 2
done
[ $# -gt 0 ] || die "no test script"
case $arch in
i386) qemu=qemu-system-i386 cpu=${cpu:-pentium3} ;;
amd64) qemu=qemu-system-x86_64 cpu=${cpu:-qemu64} ;;
*) die "unknown architecture $arch" ;;
esac
[ -z "$geode" ] || [ "$arch" = i386 ] || die "--geode needs --arch i386"
name=${name:-$(basename "$1" .sh)}
run=$build/run/$name
mkdir -p "$run"

kernel=$("$here/fetch.sh" kernel "$arch")
kver=$("$here/fetch.sh" kver "$arch")
base=$("$here/image.sh" "$arch")
[ -z "$geode" ] || [ -x "$build/geode-model" ] || die "$build/geode-model is missing: make vm-tools"

# One run of a name at a time, and one guest at a time. QEMU inherits the second lock: even if this shell is
# killed the next guest waits for it.
exec 8>"$run/lock"
flock 8
exec 9>"${VM_LOCK:-$build/qemu.lock}"
flock 9

# --- the second archive: /init and what this run is for ----------------------------------------
over=$run/overlay
rm -rf "$over" "$run/console.log" "$run/tap.log" "$run/qemu.log" "$run/stats" "$run/result" "$run/notes"
mkdir -p "$over/tests"
cp "$here/init.sh" "$over/init"
cp "$here/tap.sh" "$over/tests/tap.sh"
for script; do
	cp "$script" "$over/tests/"
	basename "$script"
done >"$over/tests/run"
printf '%s' "$env" >"$over/tests/env"
printf '%s' "$files" | while IFS=: read -r from to; do
	[ -e "$from" ] || die "no such file: $from"
	mkdir -p "$over/$(dirname "$to")"
	cp -L "$from" "$over/$to"
done
chmod 755 "$over/init"
{
	cat "$base"
	(cd "$over" && find . -print0 | LC_ALL=C sort -z | cpio -0 -o -H newc -R 0:0 --quiet)
} >"$run/initrd"
rm -rf "$over"

# --- the command line ---------------------------------------------------------------------------
set -- "$qemu" -nodefaults -no-user-config -display none -no-reboot -cpu "$cpu" -smp "$smp" \
	-m "$memory" -serial "file:$run/console.log" -serial "file:$run/tap.log" \
	-kernel "$kernel/boot/vmlinuz-$kver" -initrd "$run/initrd" \
	-append "console=ttyS0 quiet panic=-1 noisapnp$append"
if [ -n "$icount" ]; then
	set -- "$@" -accel tcg -icount "shift=$icount"
else
	set -- "$@" -accel tcg,thread=multi
fi
if [ "$disk" != 0 ]; then
	if [ -z "$keep_disk" ]; then
		rm -f "$run/disk.img"
		truncate -s "${disk}M" "$run/disk.img"
	fi
	set -- "$@" -drive "if=none,id=vda,file=$run/disk.img,format=raw" \
		-device virtio-blk-pci,drive=vda
fi
if [ -n "$geode" ]; then
	# The engine reaches the guest's memory, so that must be shared.
	set -- "$@" -M pc,memory-backend=ram \
		-object "memory-backend-memfd,id=ram,size=${memory}M,share=on" \
		-device x-pci-proxy-dev,id=geode,fd=10
	set -- "$build/geode-model" --fault "$geode" --stats "$run/stats" -- "$@"
	# QEMU and the model answer each other at every register access. On one CPU that is a switch; across two it is
	# an interrupt and a wake-up each way, and the same guest takes 113 s instead of 42.
	cpus=$(taskset -pc $$)
	set -- taskset -c "${VM_CPU:-${cpus##*[-, ]}}" "$@"
else
	set -- "$@" -M pc
fi
eval "set -- \"\$@\" $extra"

# --- run ----------------------------------------------------------------------------------------
# timeout makes a process group of its own, signals all of it at the limit, and passes our signals on.
started=$(date +%s)
timeout -k 5 "$limit" "$@" </dev/null >"$run/qemu.log" 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; exit 143' INT TERM HUP
rc=0
wait "$pid" || rc=$?
trap - INT TERM HUP
seconds=$(($(date +%s) - started))
flock -u 9
rm -f "$run/initrd"
touch "$run/tap.log" "$run/console.log"
off=0
! grep -q '^#OFF ' "$run/tap.log" || off=1
printf 'off=%s rc=%s seconds=%s\n' "$off" "$rc" "$seconds" >"$run/result"
sed -n 's/^#@ \(.*[^\r]\)\r*$/\1/p' "$run/tap.log" >"$run/notes"

end="guest powered off after $seconds s"
if [ "$rc" = 124 ] || [ "$rc" = 137 ]; then
	end="guest killed at its limit of $limit s"
elif grep -q 'Kernel panic' "$run/console.log"; then
	end='guest panicked'
elif [ "$off" = 0 ] || [ "$rc" != 0 ]; then
	end="guest died (QEMU's exit code $rc)"
fi

# --- TAP ----------------------------------------------------------------------------------------
# Renumbers, and holds every script to its plan.
tr -d '\r' <"$run/tap.log" | awk -v scripts="$(cat "$run/scripts" 2>/dev/null)" '
	function emit(good, text) {
		printf "%sok %d - %s\n", good ? "" : "not ", ++n, text
		if (!good) bad++
	}
	/^#BEGIN / { script = $2; plan = -1; seen = 0; next }
	/^#END / {
		if (plan < 0) emit(0, script ": printed no plan")
		else if (plan != seen) emit(0, script ": planned " plan " tests, ran " seen)
		if ($3 + 0) emit(0, script ": ended with exit code " $3)
		script = ""
		next
	}
	/^#OFF |^#@ / { next }
	script != "" && /^1\.\.[0-9]+/ { plan = substr($1, 4) + 0; next }
	script != "" && /^(not )?ok( |$)/ {
		seen++
		good = $1 == "ok"
		todo = /# (SKIP|TODO)/
		sub(/^(not )?ok *[0-9]* *(- )?/, "")
		printf "%sok %d - %s\n", good ? "" : "not ", ++n, $0
		if (!good && !todo) bad++
		next
	}
	{ print /^#/ ? $0 : "# " $0 }
	END {
		if (script != "") emit(0, script ": the guest ended before the script did")
		if (!n) emit(0, "no test ran")
		print "#N " n + 0 " " bad + 0
	}' >"$run/merged"
total=$(sed -n 's/^#N \([0-9]*\) .*/\1/p' "$run/merged")
bad=$(sed -n 's/^#N [0-9]* //p' "$run/merged")
sed '/^#N /d' "$run/merged"
rm -f "$run/merged"
total=$((total + 1))
if [ "$off$rc" = 10 ] || [ -n "$may_not_end" ]; then
	printf 'ok %d - %s\n' "$total" "$end"
else
	printf 'not ok %d - %s\n' "$total" "$end"
	bad=$((bad + 1))
fi
if [ "$bad" != 0 ]; then
	echo "# console of $name (tail of $run/console.log):"
	tail -n 60 "$run/console.log" | tr -d '\r' | sed 's/^/#   /'
	tail -n 10 "$run/qemu.log" | sed 's/^/# qemu: /'
fi
printf '1..%d\n' "$total"
[ "$bad" = 0 ]
