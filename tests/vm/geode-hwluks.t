#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: hwluks in the Geode guest: the whole job, and the raw disk against libcrypto.
# Must not know: what the guest scripts test.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

lib='--file tests/vm/volume-lib.sh:/tests/volume-lib.sh --file build/i386/hwluks:/usr/sbin/hwluks'
# shellcheck disable=SC2086 # words
guest geode-volume --geode none $lib --disk 256 --limit 600 tests/vm/geode/volume.sh
check_maps
# shellcheck disable=SC2086
guest geode-verdicts --geode none $lib --disk 128 --limit 400 tests/vm/geode/verdicts.sh tests/vm/geode/howto.sh
# shellcheck disable=SC2086
guest geode-default --geode none $lib --icount 2 --disk 64 --limit 900 tests/vm/geode/default.sh
check_maps
done_testing
