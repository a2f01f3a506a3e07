# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: what hwluks costs, against the limits in cost.t. Included by the Makefile.
# Must not know: how it is measured.
#
# make check-cost  instructions of an open, CPU time of detect, size, CPU of a fill
# make bench-fill  speed of a fill beside other tools; prints, judges nothing

.PHONY: check-cost bench-fill

COST_TESTS := tests/cost/cost.t
YARDSTICK  := $(BUILD)/tests/cost/yardstick

$(YARDSTICK): tests/cost/yardstick.c
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(OUR_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(OUR_LDFLAGS) -o $@ $< $(LIB_LIBS)

check-cost: $(BUILD)/hwluks $(YARDSTICK)
	@$(TEST_ENV) tools/prove.sh cost: $(COST_TESTS)

$(BUILD)/tests/cost/fill_yardstick: tests/cost/fill_yardstick.c
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(OUR_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(OUR_LDFLAGS) -o $@ $< $(LIB_LIBS)

bench-fill: $(BUILD)/hwluks $(BUILD)/tests/cost/fill_yardstick
	@$(TEST_ENV) tests/cost/bench-fill.sh
