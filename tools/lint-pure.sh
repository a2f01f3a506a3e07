#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: lint: the objects of core call nothing that reads, writes or asks the time, and keep no state.
# Must not know: what core computes.
#
# lint-pure.sh OBJECT...    (without sanitizers or coverage, which bring calls and state of their own)
set -eu
[ $# -gt 0 ] || { echo 'no object given'; exit 1; }

# one blank around each
effects=' '
effects="${effects}access close connect creat dup execve exit fclose fdopen fgets fopen fopen64 fork fprintf fputs "
effects="${effects}fread fwrite getc getenv getline getpid gettimeofday clock_gettime ioctl kill localtime lseek "
effects="${effects}mkdir mmap nanosleep open open64 openat openat64 opendir pipe poll popen printf putchar puts "
effects="${effects}rand random read readdir readlink recv rename select send sendto setenv sleep socket stat "
effects="${effects}stat64 stderr stdin stdout syscall system time unlink usleep vfprintf vprintf wait waitpid "
effects="${effects}write __fprintf_chk __printf_chk __vfprintf_chk "
bad=0
for o in "$@"; do
	for symbol in $(nm -u --format=posix "$o" | awk '{ sub(/@.*/, "", $1); print $1 }'); do
		case $effects in
		*" $symbol "*) echo "$o: uses $symbol"; bad=1 ;;
		esac
	done
	# .data and .bss: variables. Constant tables with pointers are in .data.rel.ro.
	state=$(size -A "$o" | awk '($1 ~ /^\.(data|bss)(\.|$)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0) { printf "%s ", $1 }')
	[ -z "$state" ] || { echo "$o: keeps state in $state"; bad=1; }
done
exit "$bad"
