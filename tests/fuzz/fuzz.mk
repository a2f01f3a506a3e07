# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# `make fuzz FUZZ_TIME=60`: builds every tests/fuzz/fuzz_*.c with clang's libFuzzer and both
# sanitizers and runs each for FUZZ_TIME seconds. tests/fuzz/corpus is only read; what is found goes
# to $(BUILD)/fuzz, a crashing input as crash-<target>-*.

FUZZ_TIME ?= 60
FUZZ_CC   ?= clang
FUZZ_DIR  := $(BUILD)/fuzz
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_BINS  := $(FUZZ_NAMES:%=$(FUZZ_DIR)/fuzz_%)
FUZZ_OBJS  := $(PURE_SRCS:%.c=$(FUZZ_DIR)/%.o)
FUZZ_CFLAGS := $(filter-out -fsanitize=%,$(OUR_CFLAGS)) -g -O1 -fno-omit-frame-pointer \
	-fno-sanitize-recover=all

.PHONY: fuzz
fuzz: $(FUZZ_BINS)
	@test -n "$(FUZZ_NAMES)" || { echo "fuzz: no targets"; exit 1; }
	@failed=0; for t in $(FUZZ_NAMES); do \
		work=$(FUZZ_DIR)/work/$$t; log=$(FUZZ_DIR)/$$t.log; mkdir -p $$work; \
		if $(FUZZ_DIR)/fuzz_$$t -max_total_time=$(FUZZ_TIME) -timeout=10 -max_len=32768 \
			-artifact_prefix=$(FUZZ_DIR)/crash-$$t- $$work \
			$$(ls -d tests/fuzz/corpus/$$t 2>/dev/null) >$$log 2>&1; then \
			echo "fuzz $$t: ok, $$(sed -n 's/^Done \(.*\)$$/\1/p' $$log)"; \
		else \
			failed=1; tail -n 30 $$log; echo "fuzz $$t: FAILED, see $$log"; \
		fi; \
	done; exit $$failed

$(FUZZ_DIR)/src/%.o: src/%.c
	@mkdir -p $(@D)
	@echo "  FUZZ  $<"
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

$(FUZZ_BINS): $(FUZZ_DIR)/%: tests/fuzz/%.c $(FUZZ_OBJS)
	@mkdir -p $(@D)
	@echo "  FUZZ  $@"
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer,address,undefined -MMD -MP -MF $@.d -o $@ $< \
		$(FUZZ_OBJS) $(shell $(PKG_CONFIG) --libs json-c)

-include $(wildcard $(FUZZ_OBJS:.o=.d) $(FUZZ_BINS:=.d))
