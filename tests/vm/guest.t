#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: that the rig cannot be fooled: whatever goes wrong in a guest is a failed test, and nothing is left running.
# Must not know: what else the rig is used for.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

# Boots a guest that does wrong and wants guest.sh to fail. $1: name; rest: options and scripts.
wrong() {
	how=$1
	shift
	RUN=$vm_build/run/wrong-$how
	must_fail "$how: guest.sh fails" tests/vm/guest.sh --name "wrong-$how" --disk 0 --arch amd64 \
		--file tests/vm/selftest-bad.sh:tests/selftest-bad.sh "$@" || :
	like "$how: a plan is printed" "$(tail -n 1 "$OUT")" '1..*' || :
	left=$(pgrep -f "run/wrong-$how/" | tr '\n' ' ')
	is "$how: nothing is left running" "$left" '' || :
}

# A script that does wrong as $1 says. Prints its path.
script() {
	mkdir -p "$vm_build/wrong"
	printf 'HOW=%s\n. /tests/selftest-bad.sh\n' "$1" >"$vm_build/wrong/$1.sh"
	printf '%s\n' "$vm_build/wrong/$1.sh"
}

wrong scripts "$(script noplan)" "$(script shortplan)" "$(script exit)" "$(script notok)" "$(script crash)" \
	"$(script missing)" "$(script wrongcode)" "$(script none)"
for line in 'noplan.sh: printed no plan' 'shortplan.sh: planned 5 tests, ran 1' 'exit.sh: ended with exit code 3' \
	'this test' 'notok.sh: ended with exit code 1' 'a crash' 'a missing program' 'another exit code'; do
	like "it says: $line" "$(grep '^not ok' "$OUT")" "*- $line*" || :
done
unlike 'the good script among them passed' "$(grep '^not ok' "$OUT")" '*none.sh*'
is 'numbers run through' "$(grep -cE '^(not )?ok' "$OUT")" "$(sed -n 's/^1\.\.//p' "$OUT")"
wrong panic "$(script panic)"
like 'panic: it says so' "$(grep '^not ok' "$OUT")" '*the guest ended before the script did*panicked*'
like 'panic: the console is shown' "$(cat "$OUT")" '*sysrq triggered crash*'
wrong off "$(script off)" "$(script none)"
like 'off: it says so' "$(grep '^not ok' "$OUT")" '*the guest ended before the script did*'
wrong hang --limit 15 "$(script hang)"
like 'hang: it says so' "$(grep '^not ok' "$OUT")" '*guest killed at its limit of 15 s*'

# A caller that is killed takes its guest along.
rm -rf "$vm_build/run/wrong-killed"
tests/vm/guest.sh --name wrong-killed --disk 0 --arch amd64 --env HOW=hang tests/vm/selftest-bad.sh \
	>/dev/null 2>&1 &
pid=$!
i=0
while [ ! -s "$vm_build/run/wrong-killed/tap.log" ] && [ $i -lt 600 ]; do
	sleep 0.5
	i=$((i + 1))
done
ok 'a guest runs' pgrep -f run/wrong-killed/
kill -TERM $pid
wait $pid
is 'guest.sh ends by the signal' $? 143
is 'and its guest with it' "$(pgrep -f run/wrong-killed/)" ''

must_fail 'a script that is missing' tests/vm/guest.sh --name wrong-none /no/such.sh
must_fail 'a file that is missing' tests/vm/guest.sh --name wrong-none --file /no/such:/x tests/vm/selftest-bad.sh
must_fail 'an unknown option' tests/vm/guest.sh --frobnicate 1 tests/vm/selftest-bad.sh
must_fail 'no script' tests/vm/guest.sh --arch amd64
must_fail 'a Geode in an amd64 guest' tests/vm/guest.sh --arch amd64 --geode none tests/vm/selftest-bad.sh
make -s "$vm_build/geode-model" >/dev/null
must_fail 'a fault the model does not know' tests/vm/guest.sh --name wrong-fault --geode nonsense \
	tests/vm/selftest-bad.sh
done_testing
