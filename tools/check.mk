# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# check: every tier through one prove, with one closing count. sanitize, valgrind, coverage, demo, help.
# Included last: the lists of the other parts are complete here.
#
# What is no test script (lint, fuzzing, another run of the same tests under a tool) gets a small generated
# script in $(BUILD)/check, so that prove runs and counts it like all else.

.PHONY: check check-boot check-host check-images sanitize valgrind coverage demo help san-build

CHECK := $(BUILD)/check
SAN_BUILD := $(BUILD)/san
# These look at the tree or at installing; sanitizers have nothing to find in them.
SAN_CLI := $(filter-out %/docs.bats %/install.bats %/lint.bats,$(CLI_TESTS))
IMAGE_TESTS := $(sort $(wildcard tests/cli/*.t))
# Orphan instrumented children of tests that kill on purpose would be reported as leaks of the test program.
SAN_ENV := ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1

LINT_RUNS := $(LINT_CHECKS:%=$(CHECK)/lint/%.t)
FUZZ_RUNS := $(FUZZ_NAMES:%=$(CHECK)/fuzz/%.t)
SAN_RUNS  := $(UNIT_TESTS:$(BUILD)/tests/unit/%=$(CHECK)/sanitize/unit-%.t) $(SAN_CLI:tests/cli/%.bats=$(CHECK)/sanitize/cli-%.t)
VAL_RUNS  := $(UNIT_TESTS:$(BUILD)/tests/unit/%=$(CHECK)/valgrind/unit-%.t) $(CHECK)/valgrind/cli.t

# $(call script,LINES): writes the target as an executable sh script.
script = @mkdir -p $(@D); printf '\#!/bin/sh\ncd "$(CURDIR)" || exit 1\nunset MAKEFLAGS MAKELEVEL\n%s\n' '$(1)' > $@; chmod +x $@
VALGRIND := valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite

$(CHECK)/lint/%.t: tools/check.mk
	$(call script,exec tools/as-tap.sh "lint: $*" $(MAKE) --no-print-directory BUILD=$(BUILD) lint-$*)
$(CHECK)/fuzz/%.t: tools/check.mk
	$(call script,exec tools/as-tap.sh "fuzz: $* for $(FUZZ_TIME) s" \
		$(MAKE) --no-print-directory BUILD=$(BUILD) FUZZ_TIME=$(FUZZ_TIME) FUZZ_NAMES=$* fuzz)
$(CHECK)/sanitize/unit-%.t: tools/check.mk
	$(call script,exec env BUILD=$(abspath $(SAN_BUILD)) HWLUKS=$(abspath $(SAN_BUILD))/hwluks $(SAN_ENV) $(SAN_BUILD)/tests/unit/$*)
$(CHECK)/sanitize/cli-%.t: tools/check.mk
	$(call script,exec env BUILD=$(abspath $(SAN_BUILD)) HWLUKS=$(abspath $(SAN_BUILD))/hwluks $(SAN_ENV) bats --tap tests/cli/$*.bats)
$(CHECK)/valgrind/unit-%.t: tools/check.mk
	$(call script,$(VALGRIND) --log-file=$@.log $(BUILD)/tests/unit/$* || { r=$$?; cat $@.log >&2; exit $$r; })
$(CHECK)/valgrind/cli.t: tools/check.mk
	$(call script,exec tools/as-tap.sh "valgrind: advise on a recorded machine" \
		$(VALGRIND) $(BUILD)/hwluks --sysroot tests/machines/vm-geode-6.1-i386/root advise --json)

san-build:
	+$(Q)$(MAKE) --no-print-directory BUILD=$(SAN_BUILD) SAN=1 CFLAGS='-O1 -g' $(SAN_BUILD)/hwluks \
		$(UNIT_TESTS:$(BUILD)/%=$(SAN_BUILD)/%) $(CLI_TOOLS:$(BUILD)/%=$(SAN_BUILD)/%)

sanitize: san-build $(SAN_RUNS)
	@$(TEST_ENV) tools/prove.sh sanitize: $(SAN_RUNS)

valgrind: $(UNIT_TESTS) $(BUILD)/hwluks $(VAL_RUNS)
	@$(TEST_ENV) tools/prove.sh valgrind: $(VAL_RUNS)

check-images: $(BUILD)/hwluks $(UNIT_TESTS)
	@$(TEST_ENV) tools/prove.sh images: $(IMAGE_TESTS)

HOST_BUILT := $(BUILD)/hwluks $(UNIT_TESTS) $(CLI_TOOLS) $(LINT_RUNS) $(FUZZ_RUNS) $(SAN_RUNS) $(VAL_RUNS) $(YARDSTICK)
HOST_TIERS = unit: $(UNIT_TESTS) cli: $(CLI_TESTS) images: $(IMAGE_TESTS) lint: $(LINT_RUNS) sanitize: $(SAN_RUNS) \
	valgrind: $(VAL_RUNS) fuzz: $(FUZZ_RUNS) cost: $(COST_TESTS)

# All that needs no guest.
check-host: $(HOST_BUILT) san-build $(FUZZ_BINS)
	@$(TEST_ENV) tools/prove.sh $(HOST_TIERS)

check: $(HOST_BUILT) san-build $(FUZZ_BINS) $(VM_UNIT) vm-tools vm-padlock i386 amd64
	@$(TEST_ENV) tools/prove.sh $(HOST_TIERS) vm: $(VM_UNIT) $(VM_TESTS) boot: $(BOOT_TESTS)

# A Debian system with a LUKS root, booted again and again.
BOOT_TESTS := $(sort $(wildcard tests/boot/*.t))
check-boot: $(BUILD)/hwluks vm-tools i386
	@$(TEST_ENV) tools/prove.sh boot: $(BOOT_TESTS)

# Lines of src that the unit and command tests run. Not part of check: a number, not a verdict.
coverage:
	+$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/cov CFLAGS='-O0 -g --coverage' LDFLAGS=--coverage check-fast
	$(Q)gcovr --root . --object-directory $(BUILD)/cov --filter src/ --sort-uncovered --print-summary

# The story on a terminal, in the Geode guest.
demo: i386 vm-tools
	@tests/vm/demo.sh

help:
	@echo 'make                 build $(BUILD)/hwluks'
	@echo 'make deps            install what building and testing needs (Debian 12 or later; sudo where needed)'
	@echo 'make demo            hwluks on a modelled AMD Geode, in a guest, shown on this terminal'
	@echo 'make check-fast      unit and command tests; seconds'
	@echo 'make check           every tier, guests included'
	@echo 'make check-host      every tier that needs no guest; check-unit, check-cli, check-images, check-cost, check-vm, check-boot: one tier'
	@echo 'make lint            all static checks; lint-NAME runs one of: $(LINT_CHECKS)'
	@echo 'make analyze         the slow ones of them: $(ANALYZE_CHECKS)'
	@echo 'make bench-fill      speed of a fill beside other tools, on a disk file and a loop device'
	@echo 'make sanitize        unit and command tests under the address and undefined-behaviour sanitizers'
	@echo 'make valgrind        unit tests and one command under valgrind'
	@echo 'make fuzz            every parser for FUZZ_TIME=60 seconds'
	@echo 'make coverage        lines of src that the tests run'
	@echo 'make readme-table    put the table of accelerators into README.md'
	@echo 'make format-check    what clang-format would change; advice, never a failure'
	@echo 'make install         to PREFIX=$(PREFIX); DESTDIR, SBINDIR, MANDIR, BASHCOMPDIR, ZSHCOMPDIR, FISHCOMPDIR,'
	@echo '                     WITH_COMPLETION=no; install-strip, uninstall'
	@echo 'make dist            $(BUILD)/hwluks-$(VERSION).tar.gz from the last commit'
	@echo 'make clean           remove $(BUILD)'
	@echo 'Variables: CC, CFLAGS, CPPFLAGS, LDFLAGS, PKG_CONFIG, BUILD, SAN=1, WERROR=1, V=1'
