#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# A format stopped by SIGKILL at each of its write calls, before the call and half way through it: at every stop exactly
# one holds: no byte changed; the record says "interrupted format"; the new volume opens. A second format finishes each.
#
# Formats with $HWLUKS and reads the record by its detect; CRASH_WITH=tool uses tests/unit/sys_header below $BUILD for both.
# Also needs cc, cryptsetup, blkid, e2fsprogs, btrfs-progs, sfdisk. No device-mapper, no root.
# CRASH_CASES="ext4:luks2 …" picks cases.

set -u
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
here=$(cd "$(dirname "$0")" && pwd)
tool=${BUILD:-$here/../../build}/tests/unit/sys_header
HWLUKS=${HWLUKS:-$here/../../build/hwluks}
dir=$(mktemp -d "${TMPDIR:-/tmp}/hwluks-crash.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

cheap=(--pbkdf pbkdf2 --pbkdf-force-iterations 1000 -q)
umask 077
printf old >old.key
printf new >new.key
tests=0 stops=0 s_old=0 s_record=0 s_new=0 s_second=0 failed=0

ok() { # what
	tests=$((tests + 1))
	echo "ok $tests - $1"
}
not_ok() { # what
	tests=$((tests + 1)) failed=$((failed + 1))
	echo "not ok $tests - $1"
}

# --- old contents: each makes "old", 24 MiB -----------------------------------------------------------

old_luks() { # type, further options
	cryptsetup luksFormat "${cheap[@]}" --type "$1" "${@:2}" --key-file old.key old
}
make_old() { # kind
	rm -f old
	truncate -s 24M old
	case $1 in
	ext4) mke2fs -q -t ext4 -F old && echo 'write new.key hello' | debugfs -w -f - old ;;
	btrfs) mkfs.btrfs -q -M -m single -d single old ;;
	luks1) old_luks luks1 ;;
	luks2) old_luks luks2 ;;
	luks2-4m) old_luks luks2 --luks2-metadata-size 4m --luks2-keyslots-size 1m ;; # secondary at 0x400000
	gpt) echo 'start=2048, type=L' | sfdisk -q -X gpt old ;; # backup at the end
	swap) mkswap -q old ;;
	random) head -c 24M /dev/urandom >old ;;
	empty) ;;
	esac >/dev/null 2>&1
}

# --- what formats ---------------------------------------------------------------------------------------

with=${CRASH_WITH:-}
if [ -z "$with" ]; then
	with=tool
	"$HWLUKS" format --help >/dev/null 2>&1 && with=hwluks
fi
format() { # type, file to format, words of consent; environment: STOP_*
	local preload=()
	[ -n "${STOP_TARGET:-}" ] && preload=(LD_PRELOAD="$dir/stop_write.so" ASAN_OPTIONS=verify_asan_link_order=0)
	if [ "$with" = tool ]; then
		env "${preload[@]}" "$tool" format "$1" "$2" new.key
	else
		env "${preload[@]}" "$HWLUKS" format -q --software --type "$1" -c aes-xts-plain64 -s 512 \
			--sector-size 512 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file new.key \
			"${@:3}" "$2"
	fi >format.log 2>&1
}

# --- what is seen afterwards ---------------------------------------------------------------------------

# On a copy: the library mends a damaged header copy when it opens one.
opens() { # image, key file
	cp --sparse=always "$1" probe && cryptsetup open --test-passphrase --key-file "$2" probe >/dev/null 2>&1
}
blkid_says() { # image
	blkid -p -o value -s TYPE -s PTTYPE "$1" 2>/dev/null | tr '\n' ' '
}
record() { # image: none, interrupted, complete
	if [ "$with" = tool ]; then
		"$tool" record "$1"
	else
		"$HWLUKS" detect --json "$1" 2>/dev/null | sed -n 's/.*"format_record": *"\([a-z]*\)".*/\1/p'
	fi
}

# Sets state to old, record, new, or to "BROKEN: …".
judge() { # kind, torn
	local same=0 rec new=0 old=0 seen
	cmp -s img old && same=1
	rec=$(record img)
	seen=$(blkid_says img)
	opens img new.key && new=1
	[ "${1#luks}" != "$1" ] && opens img old.key && old=1
	state="BROKEN: same $same, record $rec, new opens $new, old opens $old, blkid says '$seen'"
	if [ $same = 1 ]; then
		[ "$rec" = none ] && [ $new = 0 ] && [ "$seen" = "$old_seen" ] && state=old
	elif [ "$rec" = interrupted ]; then
		# A first write that carried away more than the first block can be torn before it reached an old second copy.
		if [ $new = 0 ] && [ $old = 0 ] && [ -z "$seen" ]; then
			state=record
		elif [ $new = 0 ] && [ "$2" = 1 ] && [ "$stop" = 1 ] && [ -n "$seen" ]; then
			state=second
		elif [ $new = 0 ] && [ $old = 0 ] && [ "$seen" = "gpt " ]; then
			state=record # the backup table at the end, cleared by the next write
		fi
	elif [ "$rec" = complete ] || [ "$rec" = none ]; then
		if [ $new = 1 ] && [ $old = 0 ] && [ "$seen" = "crypto_LUKS " ]; then
			state=new
		fi
	fi
}

# The old content is not merely recognised: it is whole.
check_old() { # kind
	case $1 in
	ext4) e2fsck -fn img >/dev/null 2>&1 ;;
	btrfs) btrfs check --readonly img >/dev/null 2>&1 ;;
	luks*) opens img old.key ;;
	esac
}

finish() { # type; the words of consent depend on what is there: a record needs none
	local words=(--wipe-signatures --replace-luks)
	[ "$state" = record ] && words=()
	format "$1" img "${words[@]}" || return
	[ "$(record img)" = none ] && opens img new.key && [ "$(blkid_says img)" = "crypto_LUKS " ] &&
		cryptsetup isLuks --type "$1" img
}

stop_at() { # kind, type, torn; environment: stop
	cp --sparse=always old img
	STOP_TARGET=$dir/img STOP_AT=$stop STOP_TORN=$3 format "$2" img --wipe-signatures --replace-luks
	local status=$?
	[ $status = 137 ] || { state="BROKEN: status $status instead of SIGKILL: $(tail -n 1 format.log)"; return; }
	judge "$1" "$3"
	case $state in
	old) s_old=$((s_old + 1)); check_old "$1" || state="BROKEN: bytes equal, but the old content is not whole" ;;
	record) s_record=$((s_record + 1)) ;;
	new) s_new=$((s_new + 1)) ;;
	second) s_second=$((s_second + 1)) ;;
	esac
	stops=$((stops + 1))
}

case_of() { # kind, type
	local n torn walk="" bad=0 last
	make_old "$1"
	old_seen=$(blkid_says old)
	cp --sparse=always old img
	STOP_TARGET=$dir/img STOP_AT=0 STOP_COUNT=$dir/count format "$2" img --wipe-signatures --replace-luks ||
		{ not_ok "$1 to $2: the format itself failed: $(tail -n 1 format.log)"; return; }
	opens img new.key || { not_ok "$1 to $2: does not open"; return; }
	n=$(cat count)
	[ "$n" -ge 3 ] || { not_ok "$1 to $2: only $n writes counted"; return; }
	for torn in 0 1; do
		last=
		for stop in $(seq "$n"); do
			stop_at "$1" "$2" $torn
			case $state in
			BROKEN*) echo "# $1 to $2, write $stop of $n, torn $torn: $state"; bad=1 ;;
			*) [ "$state" = "$last" ] || walk="$walk $state" ;;
			esac
			last=$state
			finish "$2" || { echo "# $1 to $2, write $stop, torn $torn, $state: not finished: $(tail -n 1 format.log)"; bad=1; }
		done
		[ $torn = 0 ] && walk="$walk; torn:"
	done
	if [ $bad = 0 ]; then ok "$1 to $2: $n writes,$walk"; else not_ok "$1 to $2"; fi
}

for need in cryptsetup blkid e2fsck mke2fs mkfs.btrfs btrfs sfdisk cc; do
	command -v $need >/dev/null || { echo "1..0 # SKIP $need is not installed"; exit 0; }
done
"${CC:-cc}" -shared -fPIC -O1 -o stop_write.so "$here/stop_write.c" -ldl || exit 1
echo "# $(cryptsetup --version | head -n 1), formatting with $with"
for c in ${CRASH_CASES:-ext4:luks2 btrfs:luks2 luks1:luks2 luks2:luks2 luks2-4m:luks2 gpt:luks2 swap:luks2 random:luks2 empty:luks2 \
	ext4:luks1 btrfs:luks1 luks1:luks1 luks2:luks1 luks2-4m:luks1}; do
	case_of "${c%:*}" "${c#*:}"
done
echo "# $stops stops: $s_old nothing changed, $s_record interrupted by the record, $s_new new volume opens"
echo "# $s_second torn first writes: the record is in place, an old signature beyond the first half is still there"
echo "1..$tests"
[ $failed = 0 ]
