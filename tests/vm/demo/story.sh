# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: what `make demo` shows: hwluks on a modelled Geode, scene by scene, each with the exit code it must have.
# Must not know: how its lines reach a person. PAUSE: seconds to read, after each scene.
#
# Runs with the engine's data fault asleep (guest.sh --geode data,armed); the last scene wakes it.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh

LIMIT=150 # seconds on the guest's clock for one command
words='correct horse battery'
bytes=4194304
scene=0

# Plain sentences. $*: one line, at most 80 columns.
say() { printf '%s\n' "$*"; }

# A scene begins. $1: its title.
scene() {
	[ $scene = 0 ] || sleep "${PAUSE:-0}"
	scene=$((scene + 1))
	title=$1
	printf '\n--- %d. %s ---\n' $scene "$1"
}

# The story ends here when a scene does not go as it must. $*: what went wrong.
broken() {
	say "demo: scene $scene, $title: $*"
	fail "scene $scene, $title: $*" || :
	done_testing
	exit 1
}

# Shows a command and runs it on a terminal. $1: the exit code it must have; $2: command line; rest: prompts and answers.
show() {
	s_want=$1 s_line=$2 s_rc=0
	shift 2
	printf '\n# %s\n' "$s_line"
	with_limit $LIMIT typist "$@" -- sh -c "$s_line" || s_rc=$?
	[ $s_rc -eq "$s_want" ] || broken "exit code $s_rc, expected $s_want: $s_line"
	case $s_line in hwluks*) [ $s_rc -eq 0 ] || say "(exit code $s_rc)" ;; esac
	pass "scene $scene: $s_line: exit code $s_rc"
}

# 4194304 as 4,194,304. $1: number.
commas() { echo "$1" | sed -e ':a' -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/' -e 'ta'; }

# What the engine did since hw_mark, by its own counters. $1: cbc_enc or cbc_dec; $2: word for it.
engine_did() {
	e_bytes=$(hw_bytes "$1")
	say "The engine's own counters: $(commas "$e_bytes") of $(commas $bytes) bytes $2."
}

# One line of throughput. $1: who does the data; $2: bits; $3: sector size; $4: length of a run, ms. Sets r_write.
speed() {
	rate aes-cbc-essiv:sha256 "$2" "$3" "$4" 1 both >/run/rate 2>&1 || broken "$(cat /run/rate)"
	awk -v who="$1" -v bits="$2" -v size="$3" \
		'{ printf "  %-9s  %d-bit key, %4d-byte sectors %14.1f %8.1f\n", who, bits, size, $1, $4 }' /run/rate
	read -r r_write _ </run/rate
}

# $1 divided by $2
gain() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f\n", a / b }'; }
# $1 at least $2 times $3
at_least() { awk -v a="$1" -v f="$2" -v b="$3" 'BEGIN { exit !(b > 0 && a >= f * b) }'; }

# typist's terminals
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
yes 'Dear diary, nobody must read this.' | head -c $bytes >/run/diary
cd /run || exit 1

scene 'What is in this machine?'
say 'An AMD Geode LX board. Its AES engine is there; nobody has loaded the driver.'
show 0 'hwluks detect'
# for a later scene; nothing of the engine may be in it
speed software 128 512 200 >/run/software
soft_512=$r_write
speed software 128 4096 200 >>/run/software
soft_4096=$r_write
[ "$(crypto_field cbc-aes-geode name)" = '' ] || broken 'the driver is loaded already'

scene 'A key that the engine does not take'
say 'Many guides say: AES with 256 bits. The driver would take that key and not use'
say 'the engine. hwluks says so before it writes anything.'
show 10 'hwluks format --cipher aes-cbc-plain64 --key-size 256 /dev/vda'

scene 'Format, with nothing said'
say 'It tests the driver, measures the two best ciphers, chooses, and then asks. That'
say 'takes half a minute or more: behind the engine sits a second program.'
show 0 'hwluks -v format /dev/vda' 'capital letters): ' YES 'nter passphrase' "$words" 'ype it again' "$words"

scene 'Open it, and use it'
say 'On opening, hwluks names the driver that was bound, and what it does.'
show 0 'hwluks open /dev/vda backup' 'nter passphrase' "$words"
is_block /dev/mapper/backup || broken '/dev/mapper/backup is no block device'
say ''
say 'Four megabytes of a diary are written to the volume.'
hw_mark
show 0 'dd if=diary of=/dev/mapper/backup bs=64k oflag=direct'
engine_did cbc_enc encrypted
[ "$e_bytes" -eq $bytes ] || broken "the engine encrypted $e_bytes bytes"
say ''
say 'The volume holds the diary; the disk below it, where the data begins, does not.'
show 0 'hexdump -C -n 32 /dev/mapper/backup'
show 0 'hexdump -C -n 32 -s 16777216 /dev/vda'
say ''
say 'Read back, all of it is the same.'
hw_mark
show 0 'dd if=/dev/mapper/backup of=copy bs=64k count=64 iflag=direct'
show 0 'cmp diary copy && echo the same'
engine_did cbc_dec decrypted
[ "$e_bytes" -eq $bytes ] || broken "the engine decrypted $e_bytes bytes"

scene 'Who does the work?'
say 'The same can be asked at any time, with the evidence for it.'
show 0 'hwluks status backup'
show 0 'hwluks close backup'

scene 'How much faster is it?'
say "The guest's clock counts instructions, so these figures repeat. They are the"
say "model's figures, not a board's: a real engine takes longer for each job."
say 'Software was measured at the start, before the driver was loaded.'
say ''
say '  done by    aes-cbc-essiv:sha256               MB/s   write     read'
speed engine 128 512 20
gain="$(gain "$r_write" "$soft_512") times as fast as software,"
at_least "$r_write" 7 "$soft_512" || broken 'the engine is not 7 times as fast as software'
speed engine 128 4096 20
gain="$gain $(gain "$r_write" "$soft_4096") times with 4096-byte sectors."
at_least "$r_write" 14 "$soft_4096" || broken 'the engine is not 14 times as fast as software'
cat /run/software
speed software 256 512 200
say ''
say "The model's engine writes ${gain%%,*},"
say "and ${gain#*, }"
say 'The last line is the wrong key: the driver is loaded, its name is shown by every'
say 'tool, and the CPU does the work.'

scene 'The engine breaks'
say 'From now on the model flips a bit in its answers. The kernel tested the driver'
say 'when it was loaded, and does not look again.'
hw_arm on
before=$(device_hash /dev/vda)
show 13 'hwluks format --replace-luks /dev/vda'
[ "$(device_hash /dev/vda)" = "$before" ] || broken 'the device changed'
say ''
say 'Not a byte of the disk changed, and the driver is out of use. The old volume'
say 'still opens, in software, and the diary is there.'
hw_mark
show 0 'hwluks open /dev/vda backup' 'nter passphrase' "$words"
show 0 'dd if=/dev/mapper/backup of=copy bs=64k count=64 iflag=direct'
show 0 'cmp diary copy && echo the same'
engine_did cbc_dec decrypted
[ "$e_bytes" -eq 0 ] || broken "the broken engine decrypted $e_bytes bytes"
show 0 'hwluks close backup'
sleep "${PAUSE:-0}"
done_testing
