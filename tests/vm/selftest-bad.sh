# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: guest.t: a script that misbehaves as HOW says.
# Must not know: anything else.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
ok 'before it' true
case $HOW in
noplan) exit 0 ;;
shortplan)
	echo 1..5
	exit 0
	;;
exit)
	echo 1..1
	exit 3
	;;
notok) fail 'this test' || : ;;
crash) must_fail 'a crash' sh -c 'kill -SEGV $$' || : ;;
missing) must_fail 'a missing program' /no/such/program || : ;;
wrongcode) run 2 'another exit code' false || : ;;
panic)
	echo 1 >/proc/sys/kernel/sysrq
	echo c >/proc/sysrq-trigger
	;;
off) poweroff -f -n ;;
hang) sleep 1000 ;;
esac
done_testing
