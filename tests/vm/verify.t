#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the known-answer test, quarantine, measuring and bindings on the Geode model, healthy and broken.
# Must not know: commands of hwluks.
# shellcheck source=tests/vm/host.sh
. "$(dirname "$0")/host.sh"

tool=$vm_build/verify-tool-i386
ok 'verify-tool builds' tests/vm/verify/build.sh i386 "$tool"
# $1: name; $2: fault; $3: outcome; $4: operations before it; rest: options
broken() {
	b_name=$1 b_fault=$2 b_want=$3 b_least=$4
	shift 4
	guest "$b_name" --geode "$b_fault" --limit 150 --file "$tool:usr/bin/verify-tool" --env WANT="$b_want" \
		--env LEAST="$b_least" "$@" tests/vm/verify/broken.sh
	check_maps
}

guest verify-healthy --geode none --limit 800 --file "$tool:usr/bin/verify-tool" tests/vm/verify/healthy.sh
broken verify-notests data wrong-data 0 --append cryptomgr.notests
broken verify-min data,min=512 wrong-data 0
broken verify-late data,armed,after=3000 wrong-data 2000
broken verify-hang hang,armed,after=700 hung 500
done_testing
