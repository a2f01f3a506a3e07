# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: an open volume, in use all the time, stays on its old driver when the engine that came later is broken (MODEL says how).
# Must not know: how hwluks finds out.
# shellcheck source=tests/vm/tap.sh
. /tests/tap.sh
# shellcheck source=tests/vm/volume-lib.sh
. /tests/volume-lib.sh
# shellcheck source=tests/vm/refresh-lib.sh
. /tests/refresh-lib.sh

volume_in_use aes-cbc-plain64 256
table=$(table_of vol)
# shellcheck disable=SC2086 # words
ok 'a broken engine appears' insmod /padlock_model.ko $MODEL
run 13 'refresh refuses it' hwluks refresh --key-file $pw vol
like 'and says that the volume was left alone' "$(cat "$ERR")" '*vol was not touched*'
is 'the old table is live' "$(table_of vol)" "$table"
unlike 'and not suspended' "$(dmsetup info vol)" '*SUSPENDED*'
unlike 'and nothing waits to take its place' "$(dmsetup info vol)" '*INACTIVE*'
hw_mark
wait_rounds 'after that'
is 'the engine has no part in it' "$(hw_bytes all)" 0
run 0 'once more: the engine is out, software serves' hwluks refresh --json --key-file $pw vol
unlike 'not the engine' "$(json served_by)" '*padlock*'
wait_rounds 'on software'
: >/run/stop
wait
read_vol 'the data' 1048576
done_testing
