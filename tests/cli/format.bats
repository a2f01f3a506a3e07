#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# What format, open and detect do with files, and what they refuse: consent, header files, backups, names, exit codes.

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf 'correct horse' >key
	chmod 600 key
	truncate -s 20M disk ext header
	mke2fs -q -t ext4 -F ext
	fast=(--pbkdf pbkdf2 --pbkdf-force-iterations 1000 -q -d key --cipher aes-xts-plain64)
}

# Ends with this code, and leaves these files as they were. $1: code; $2: files; rest: arguments of hwluks.
refuses() {
	local want=$1 files=$2 before after
	shift 2
	# shellcheck disable=SC2086 # words
	before=$(sha256sum $files)
	run "$HWLUKS" "$@"
	echo "exit code $status, wanted $want: $output"
	# shellcheck disable=SC2086
	after=$(sha256sum $files)
	[ "$status" -eq "$want" ] && [ "$before" = "$after" ]
}

@test "a header file that holds something needs the same words as a device" {
	refuses 5 ext format "${fast[@]}" --header ext --replace-luks disk
	"$HWLUKS" format "${fast[@]}" --header ext --wipe-signatures disk
	"$HWLUKS" open --test-passphrase -d key --header ext disk
	refuses 5 ext format "${fast[@]}" --header ext --wipe-signatures disk
	"$HWLUKS" format "${fast[@]}" --header ext --old-header-backup old disk
	cryptsetup open --test-passphrase --key-file key --header old disk
	[ "$(stat -c %a old)" = 600 ]
	echo 'somebody wrote this' >notes
	refuses 5 notes format "${fast[@]}" --header notes disk
}

@test "a header file of zeros or none at all is no question" {
	"$HWLUKS" format "${fast[@]}" --header header disk
	"$HWLUKS" format "${fast[@]}" --header new disk
	[ "$(stat -c %a new)" = 600 ]
	cmp disk <(head -c 20M /dev/zero)
}

@test "the old header may be saved and given up in one go" {
	"$HWLUKS" format "${fast[@]}" disk
	refuses 5 disk format "${fast[@]}" disk
	"$HWLUKS" format "${fast[@]}" --replace-luks --old-header-backup old disk
	cryptsetup open --test-passphrase --key-file key --header old disk
}

@test "a backup that could not be written stops the format before it starts" {
	refuses 1 disk format "${fast[@]}" --header-backup-file /nonexistent/x disk
	refuses 1 disk format "${fast[@]}" --header-backup-file same --old-header-backup same disk
	refuses 5 'disk key' format "${fast[@]}" --header-backup-file key disk
	"$HWLUKS" format "${fast[@]}" --header-backup-file backup disk
	[ "$(stat -c %a backup)" = 600 ]
	cryptsetup open --test-passphrase --key-file key --header backup disk
}

@test "a plan that nobody can see is not carried out" {
	before=$(sha256sum disk)
	run bash -c '"$@" >/dev/full' - "$HWLUKS" format "${fast[@]}" disk
	[ "$status" -eq 1 ]
	[ "$(sha256sum disk)" = "$before" ]
}

@test "what is not there is a wrong device" {
	refuses 4 key format "${fast[@]}" nosuch
	refuses 4 key open --test-passphrase nosuch
	refuses 4 key detect nosuch
	refuses 4 key advise nosuch
}

@test "a name is checked before the passphrase is asked for" {
	"$HWLUKS" format "${fast[@]}" disk
	for name in '' a/b . .. control "$(printf 'x%.0s' {1..128})"; do
		refuses 1 disk open disk "$name"
		[[ $output == *'can be no name'* ]]
	done
}

@test "an open of which nothing is loaded claims no hardware" {
	grep -qw device-mapper /proc/misc && skip "this host has a device-mapper"
	"$HWLUKS" format "${fast[@]}" disk
	run "$HWLUKS" open -d key disk name
	[ "$status" -eq 1 ]
	[[ $output == *'no device-mapper'* ]]
	run "$HWLUKS" status name
	[[ $output == *'no device-mapper'* ]]
}

@test "texts from devices reach neither the terminal nor JSON as they are" {
	name=$(printf 'a\377\033]0;x\007.img')
	truncate -s 20M "$name"
	run "$HWLUKS" detect --json "$name"
	[ "$status" -eq 0 ]
	printf '%s' "$output" | perl -MJSON::PP -MEncode -0777 -ne 'JSON::PP->new->utf8->decode($_)'
	run "$HWLUKS" format "${fast[@]}" "$name/x"
	[[ $output != *$'\033'* ]]
}

@test "neither fifos nor what is no storage is waited for" {
	mkfifo fifo
	for command in 'format -q -d key' 'open --test-passphrase -d key' 'open --test-passphrase -d key --header disk' detect advise; do
		# shellcheck disable=SC2086 # words
		run timeout 20 "$HWLUKS" $command fifo
		echo "$command: exit code $status: $output"
		[ "$status" -eq 4 ] && [[ $output == *'neither a block device nor a regular file'* ]]
	done
}

@test "a damaged or shortened header is named as that" {
	"$HWLUKS" format "${fast[@]}" disk
	head -c 3000 disk >short
	cp disk damaged
	for at in 300 16684; do
		printf 'damage' | dd of=damaged bs=1 seek=$at conv=notrunc 2>/dev/null
	done
	for image in short damaged; do
		run "$HWLUKS" open --test-passphrase -d key $image
		echo "$output"
		[ "$status" -eq 1 ]
		[[ $output == *'damaged or cut short'*'luksHeaderRestore'* ]]
	done
}

@test "one LUKS2 volume is named once" {
	"$HWLUKS" format "${fast[@]}" --label home disk
	[ "$("$HWLUKS" detect disk | grep -c "a LUKS2 volume labelled 'home'")" = 1 ]
	run "$HWLUKS" format "${fast[@]}" disk
	[ "$(grep -c 'a LUKS2 volume' <<<"$output")" = 1 ]
}

@test "a file that may not be written is a matter of permission" {
	[ "$(id -u)" = 0 ] || skip "needs root to become somebody else"
	chmod 755 . .. ../..
	chmod 444 disk key
	cp "$HWLUKS" here
	run setpriv --reuid=65534 --regid=65534 --clear-groups ./here format "${fast[@]}" disk
	echo "exit code $status: $output"
	[ "$status" -eq 2 ] && [[ $output == *'Permission denied'* ]]
}

@test "types and threads as cryptsetup takes them, and a file of any size" {
	truncate -s 20000001 odd
	"$HWLUKS" format -q -d key --cipher aes-xts-plain64 --type LUKS2 --pbkdf-memory 32 --pbkdf-force-iterations 4 \
		--pbkdf-parallel 5 odd
	"$HWLUKS" open --test-passphrase -d key --type LUKS2 odd
	cryptsetup open --test-passphrase --key-file key odd
	run "$HWLUKS" format "${fast[@]}" --sector-size 4096 --replace-luks odd
	[ "$status" -eq 1 ] && [[ $output == *'--sector-size 512'* ]]
	run "$HWLUKS" format "${fast[@]}" --pbkdf-memory 4096 disk
	[ "$status" -eq 0 ] && [[ $output == *'pbkdf2 takes one thread'* ]]
}

@test "a format stopped at a question says that nothing was written" {
	before=$(sha256sum disk)
	run expect -c "
		set timeout 60
		spawn $HWLUKS format --cipher aes-xts-plain64 disk
		expect {capital letters): } { send \003 }
		expect eof
		lassign [wait] pid spawn os status
		exit \$status"
	echo "$output"
	[[ $output == *'Stopped. Nothing was written.'* ]]
	[ "$(sha256sum disk)" = "$before" ]
}
