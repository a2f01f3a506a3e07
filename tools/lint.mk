# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# lint: static checks, each a target of its own (lint-NAME), all able to run alone. lint-layers and lint-text
# also take another tree; tests/cli/lint.bats shows on a scratch copy that they can fail.

# Checks that read the tree, and checks that compile it.
ANALYZE_CHECKS := analyzer tidy cppcheck
LINT_CHECKS := layers pure text shell man gcc clang $(ANALYZE_CHECKS)

.PHONY: lint analyze format-check $(LINT_CHECKS:%=lint-%)

lint: $(LINT_CHECKS:%=lint-%)
analyze: $(ANALYZE_CHECKS:%=lint-%)

LINT_SRCS = $(SRCS) $(wildcard tools/*.c)
LINT_TEST_SRCS = $(wildcard tests/unit/*.c)
# One compiler call a file, two at a time; -Werror does the judging.
# The quotes of strings do not survive xargs and sh; any string does.
LINT_CFLAGS = $(filter-out -DHWLUKS_VERSION=% -DHWLUKS_HOOKS=% -DHWLUKS_PROGRAM=% -ffunction-sections -fdata-sections,$(OUR_CFLAGS)) $(CPPFLAGS) \
	-DHWLUKS_VERSION=__FILE__ -DHWLUKS_HOOKS=__FILE__ -DHWLUKS_PROGRAM=__FILE__
define each_source
	@echo "  LINT  $(1)"
	$(Q)printf '%s\n' $(2) | xargs -P 2 -I{} sh -c '$(3)'
endef

lint-layers:
	@echo "  LINT  layers"
	$(Q)tools/lint-layers.sh

# An object set of its own: sanitizers and coverage would bring calls of theirs.
lint-pure:
	+$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/lint SAN= CFLAGS=-O1 LDFLAGS= $(patsubst %.c,$(BUILD)/lint/%.o,$(call layer,core) $(call layer,doctor)) >/dev/null
	@echo "  LINT  pure"
	$(Q)tools/lint-pure.sh $(patsubst %.c,$(BUILD)/lint/%.o,$(call layer,core) $(call layer,doctor))

lint-text:
	@echo "  LINT  text"
	$(Q)tools/lint-text.sh

lint-shell:
	@echo "  LINT  shell"
	$(Q)tools/lint-shell.sh

lint-man:
	@echo "  LINT  man"
	$(Q)! mandoc -T lint -W style man/hwluks.8 man/hwluks.conf.5 2>&1 | grep -v -e 'outdated mandoc.db' -e 'referenced manual not found: Xr \(hwluks\|crypttab\)'

lint-gcc:
	$(call each_source,gcc,$(LINT_SRCS) $(LINT_TEST_SRCS),gcc $(LINT_CFLAGS) -O2 -Werror -c -o /dev/null {})

lint-clang:
	$(call each_source,clang,$(LINT_SRCS) $(LINT_TEST_SRCS),clang $(LINT_CFLAGS) -O1 -Werror -c -o /dev/null {})

lint-analyzer:
	$(call each_source,analyzer,$(LINT_SRCS),gcc $(LINT_CFLAGS) -O1 -fanalyzer -Werror -c -o /dev/null {})

# A quarter of the paths that its analyzer would walk, and a quarter of the time; gcc's walks them too.
TIDY_FLAGS := -Xclang -analyzer-config -Xclang max-nodes=60000

lint-tidy:
	$(call each_source,tidy,$(LINT_SRCS),clang-tidy --quiet {} -- $(LINT_CFLAGS) $(TIDY_FLAGS) 2>/dev/null)

lint-cppcheck:
	@echo "  LINT  cppcheck"
	$(Q)cppcheck -q -j 2 --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
		--suppressions-list=tools/cppcheck-suppressions.txt -D_GNU_SOURCE -Isrc src tools

# Advice: lines that clang-format would lay out otherwise. Not a check: releases of clang-format disagree about the
# aligned comments and the long table rows of this tree, where a person decides what reads best.
format-check:
	@for f in $$(git ls-files 'src/*.[ch]' 'tests/*.[ch]' 'tools/*.c'); do \
		n=$$(clang-format "$$f" | diff "$$f" - | grep -c '^<'); [ "$$n" = 0 ] || echo "$$n lines: $$f"; \
	done
