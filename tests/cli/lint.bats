#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# The checks of `make lint` can fail: each is shown a scratch copy of the tree with the fault it is there for.

setup() {
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
	copy=$BATS_TEST_TMPDIR/copy
	mkdir -p "$copy/tests"
	cp -r "$TOP/src" "$TOP/tools" "$copy"
	cp -r "$TOP/tests/unit" "$copy/tests"
	export LC_ALL=C
}

layers() { run "$TOP/tools/lint-layers.sh" "$copy"; }
text() { run "$TOP/tools/lint-text.sh" "$copy"; }

# refused PATTERN — the check failed and said so.
refused() {
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"$1"* ]]
}

@test "the copy itself passes" {
	layers
	echo "$output"
	[ "$status" = 0 ]
	text
	echo "$output"
	[ "$status" = 0 ]
}

@test "an upward include is refused: core to sys, util to core, sys to vol, vol to cmd, doctor to sys" {
	for pair in core/decide.c:sys/sys.h util/text.c:core/machine.h sys/probe.c:vol/vol.h vol/luks.c:cmd/cmd.h \
		doctor/doctor.c:sys/sys.h core/decide.c:doctor/doctor.h; do
		cp "$TOP/src/${pair%%:*}" "$copy/src/${pair%%:*}"
		sed -i "3i #include \"${pair##*:}\"" "$copy/src/${pair%%:*}"
		layers
		refused "src/${pair%%:*}: layer ${pair%%/*} includes \"${pair##*:}\""
		cp "$TOP/src/${pair%%:*}" "$copy/src/${pair%%:*}"
	done
}

@test "core may not include what does I/O" {
	for h in fcntl.h sys/ioctl.h unistd.h time.h; do
		cp "$TOP/src/core/decide.c" "$copy/src/core/decide.c"
		sed -i "3i #include <$h>" "$copy/src/core/decide.c"
		layers
		refused "src/core/decide.c: layer core includes <$h>"
	done
}

@test "a library belongs to its layer" {
	sed -i '3i #include <libcryptsetup.h>' "$copy/src/cmd/open.c"
	layers
	refused 'src/cmd/open.c: layer cmd includes <libcryptsetup.h>'
}

@test "a private header stays in its layer" {
	sed -i '3i #include "sys/internal.h"' "$copy/src/vol/luks.c"
	layers
	refused 'src/vol/luks.c: includes sys/internal.h'
}

@test "a test of the pure layers may not reach further" {
	printf '/* x */\n#include "vol/vol.h"\n' >"$copy/tests/unit/test_up.c"
	layers
	refused 'tests/unit/test_up.c'
}

@test "an object of core that opens a file, or keeps a variable, is refused" {
	printf '#include <fcntl.h>\nint f(void);\nint f(void) { return open("/", 0); }\n' >"$BATS_TEST_TMPDIR/io.c"
	printf 'int f(void);\nstatic int n;\nint f(void) { return n++; }\n' >"$BATS_TEST_TMPDIR/state.c"
	for f in io state; do
		cc -c -o "$BATS_TEST_TMPDIR/$f.o" "$BATS_TEST_TMPDIR/$f.c"
		run "$TOP/tools/lint-pure.sh" "$BATS_TEST_TMPDIR/$f.o"
		refused "$f.o:"
	done
}

@test "a file without a licence line, or with an address of one machine, is refused" {
	sed -i 1d "$copy/src/util/log.c"
	text
	refused 'src/util/log.c: no licence line'
	cp "$TOP/src/util/log.c" "$copy/src/util/log.c"
	printf '/* see /%s/someone/notes */\n' home >>"$copy/src/util/log.c"
	text
	refused 'src/util/log.c:'
	cp "$TOP/src/util/log.c" "$copy/src/util/log.c"
	printf '/* from %s.example.org */\n' registry >>"$copy/src/util/log.c"
	text
	refused 'src/util/log.c:'
}

@test "prove.sh fails where a tier has no test, or all of it was skipped" {
	export BUILD=$BATS_TEST_TMPDIR
	printf '#!/bin/sh\necho 1..1; echo ok 1\n' >"$BATS_TEST_TMPDIR/good.t"
	printf '#!/bin/sh\necho "1..0 # SKIP no device-mapper"\n' >"$BATS_TEST_TMPDIR/skip.t"
	printf '#!/bin/sh\necho 1..1; echo not ok 1; exit 1\n' >"$BATS_TEST_TMPDIR/bad.t"
	chmod +x "$BATS_TEST_TMPDIR"/*.t
	run "$TOP/tools/prove.sh" one: "$BATS_TEST_TMPDIR/good.t"
	[ "$status" = 0 ]
	[[ ${lines[-1]} == 'Result: PASS' ]]
	run "$TOP/tools/prove.sh" one: "$BATS_TEST_TMPDIR/good.t" two:
	refused "tier 'two' has no tests"
	run "$TOP/tools/prove.sh" one: "$BATS_TEST_TMPDIR/good.t" two: "$BATS_TEST_TMPDIR/skip.t"
	refused "every test of tier 'two' was skipped"
	run "$TOP/tools/prove.sh" one: "$BATS_TEST_TMPDIR/good.t" "$BATS_TEST_TMPDIR/bad.t"
	refused 'Result: FAIL'
}
