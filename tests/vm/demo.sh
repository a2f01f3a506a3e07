#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: `make demo`: boots the Geode guest, shows the story (demo/story.sh) on this terminal while it happens.
# Must not know: what the story tells.
#
# Exit 0 when every scene went as it must. Works without a terminal, too: then without pauses and without bold.
set -eu

cd "$(dirname "$0")/../.."
build=${VM_BUILD:-$PWD/build/vm}
run=$build/run/demo
pause=0 bold='' plain=''
if [ -t 1 ]; then
	pause=${PAUSE:-3}
	if [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
		bold=$(printf '\033[1m')
		plain=$(printf '\033[0m')
	fi
fi

# The story out of the guest's serial line: TAP and notes left out, commands bold.
story() {
	sed -u -n -e 's/\r//g' -e '/^#BEGIN /,/^#END /{' -e '/^#/{/^# /!d' -e '}' \
		-e '/^ok [0-9]/d' -e '/^not ok [0-9]/d' -e '/^1\.\.[0-9]*$/d' \
		-e "s/^# .*/$bold&$plain/" -e "s/^--- .*/$bold&$plain/" -e 'p' -e '}'
}

cat <<-END
	hwluks on an AMD Geode LX that is not there.

	A Debian kernel boots in QEMU, with the kernel's own geode-aes driver and a
	model of the Geode's AES engine. Nothing on this machine is touched. The figures
	are the model's, not a board's. The whole story takes about three minutes.
END
mkdir -p "$run"
tests/vm/tools/build.sh i386 rate "$build/rate-i386"
tests/vm/tools/build.sh i386 typist "$build/typist-i386"
rm -f "$run/tap.log"
tests/vm/guest.sh --name demo --geode data,armed --icount 2 --disk 64 --limit 300 --env PAUSE="$pause" \
	--file "$build/rate-i386:usr/bin/rate" --file "$build/typist-i386:usr/bin/typist" \
	--file build/i386/hwluks:usr/sbin/hwluks tests/vm/demo/story.sh >"$run/demo.tap" 2>"$run/demo.err" &
guest=$!
trap 'kill "$guest" 2>/dev/null; wait "$guest" 2>/dev/null; exit 130' INT TERM HUP
# tail waits for the file and ends with the guest
tail --pid="$guest" -s 0.1 -n +1 --retry -f "$run/tap.log" 2>/dev/null | story
rc=0
wait "$guest" || rc=$?
if [ "$rc" != 0 ]; then
	printf '\ndemo: failed.\n' >&2
	cat "$run/demo.err" >&2
	grep '^not ok' "$run/demo.tap" >&2 || :
	printf 'demo: more is in %s\n' "$run" >&2
	exit 1
fi
printf '\nThat was all of it: %s\n' "$(sed -n 's/.*seconds=\([0-9]*\).*/\1 seconds./p' "$run/result")"
