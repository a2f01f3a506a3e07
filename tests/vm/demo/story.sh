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
	[ $s_rc -eq 0 ] || say "(exit code $s_rc)"
	pass "scene $scene: $s_line: exit code $s_rc"
}

# 4194304 as 4,194,304. $1: number.
commas() { echo "$1" | sed -e ':a' -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/' -e 'ta'; }

# What the engine did since hw_mark, by its own counters. $1: cbc_enc or cbc_dec; $2: word for it.
engine_did() {
	e_bytes=$(hw_bytes "$1")
	say "The engine's counters: $(commas "$e_bytes") of $(commas $bytes) bytes $2 by it, in $(commas "$(hw_ops "$1")") jobs."
}

# Throughput of the chosen spec. $1: who does the work; $2: cipher; $3: bits; $4: sector size; $5: ms. Sets r_write.
speed() {
	set -- "$1" "$2" "$3" "$4" "$(rate "$2" "$3" "$4" "$5" 1 both 2>&1)"
	r_write=${5%% *}
	echo "$5" | awk -v who="$1" -v bits="$3" -v size="$4" '
		NF != 7 { print; exit 1 }
		{ printf "  %-9s %s-bit key  %4d-byte sectors %8.1f %8.1f\n", who, bits, size, $1, $4 }' ||
		broken "not measured: $5"
}

yes 'Dear diary, nobody must read this.' | head -c $bytes >/run/diary
cd /run || exit 1

scene 'What is in this machine?'
say 'An AMD Geode LX board. Its AES engine is there; nobody has loaded the driver.'
show 0 'hwluks detect'

scene 'A key that the engine does not take'
say 'Most guides say: AES with 256 bits. The driver would take that key and not use'
say 'the engine. hwluks says so before it writes anything.'
show 10 'hwluks format --cipher aes-cbc-plain64 --key-size 256 /dev/vda'

scene 'Format, with nothing said'
say 'It tests the driver, measures the two best ciphers, chooses, and then asks.'
say 'This is the longest scene: half a minute or more, most of it the model at work.'
show 0 'hwluks format /dev/vda' 'capital letters): ' YES 'nter passphrase' "$words" 'erify passphrase' "$words"

scene 'Open it, and use it'
show 0 'hwluks open /dev/vda backup' 'nter passphrase' "$words"
is_block /dev/mapper/backup || broken '/dev/mapper/backup is no block device'
say ''
say 'Four megabytes of a diary are written to the volume.'
hw_mark
show 0 'dd if=diary of=/dev/mapper/backup bs=64k oflag=direct'
engine_did cbc_enc encrypted
[ "$e_bytes" -eq $bytes ] || broken "the engine encrypted $e_bytes bytes"
say ''
say 'The disk below holds no word of it. Read back, it is the same.'
show 1 "grep -c 'Dear diary' /dev/vda"
hw_mark
show 0 'dd if=/dev/mapper/backup of=copy bs=64k count=64 iflag=direct'
show 0 'cmp diary copy && echo the same'
engine_did cbc_dec decrypted
[ "$e_bytes" -eq $bytes ] || broken "the engine decrypted $e_bytes bytes"

scene 'Who does the work?'
show 0 'hwluks status backup'
show 0 'hwluks close backup'

scene 'How much faster is it?'
say "The guest's clock counts instructions, so these figures repeat. They are the"
say "model's figures, not a board's: a real engine is slower than this one."
say ''
say '  aes-cbc-essiv:sha256                          MB/s: write     read'
speed engine aes-cbc-essiv:sha256 128 512 20
engine_512=$r_write
speed engine aes-cbc-essiv:sha256 128 4096 20
engine_4096=$r_write
# the key of the second scene: the engine's driver is loaded, and does it in software
speed '(as above)' aes-cbc-essiv:sha256 256 512 200
say ''
say 'And without the driver:'
show 0 'rmmod geode_aes'
speed software aes-cbc-essiv:sha256 128 512 200
awk -v a="$engine_512" -v b="$r_write" 'BEGIN { exit !(a > 7 * b) }' || broken 'the engine is not 7 times as fast'
awk -v a="$engine_512" -v b="$r_write" 'BEGIN { printf "The engine writes %.1f times", a / b }'
speed software aes-cbc-essiv:sha256 128 4096 200
awk -v a="$engine_4096" -v b="$r_write" 'BEGIN { exit !(a > 14 * b) }' || broken 'the engine is not 14 times as fast'

scene 'The engine breaks'
say 'The driver is loaded again. Then the model starts to flip a bit in its answers.'
say 'The kernel tested the driver when it was loaded; it does not notice now.'
show 0 'hwluks load'
hw_arm on
show 13 'hwluks format --replace-luks /dev/vda'
say ''
say 'Nothing was written, and the driver is out of use. The old volume still opens,'
say 'in software, and the diary is there.'
hw_mark
show 0 'hwluks open /dev/vda backup' 'nter passphrase' "$words"
show 0 'dd if=/dev/mapper/backup of=copy bs=64k count=64 iflag=direct'
show 0 'cmp diary copy && echo the same'
engine_did cbc_dec decrypted
[ "$e_bytes" -eq 0 ] || broken "the broken engine decrypted $e_bytes bytes"
show 0 'hwluks close backup'
sleep "${PAUSE:-0}"
done_testing
