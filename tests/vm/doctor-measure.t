#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: doctor's measurements on the Geode model's instruction clock; the guest tells what they were.
# Must not know: what a figure should be.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

guest doctor-measure --geode none --icount 3 --disk 0 --limit 600 --file tests/vm/volume-lib.sh:tests/volume-lib.sh \
	--file tests/vm/doctor-lib.sh:tests/doctor-lib.sh --file build/i386/hwluks:usr/sbin/hwluks tests/vm/geode/doctor-measure.sh
is 'three gains were compared' "$(notes gain | wc -l)" 3
done_testing
