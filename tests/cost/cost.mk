# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: what hwluks costs, against the limits in cost.t. Included by the Makefile.
# Must not know: how it is measured.
#
# make check-cost  instructions of an open, CPU time of detect, size

.PHONY: check-cost

COST_TESTS := tests/cost/cost.t
YARDSTICK  := $(BUILD)/tests/cost/yardstick

$(YARDSTICK): tests/cost/yardstick.c
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(OUR_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(OUR_LDFLAGS) -o $@ $< $(LIB_LIBS)

check-cost: $(BUILD)/hwluks $(YARDSTICK)
	@$(TEST_ENV) tools/prove.sh cost: $(COST_TESTS)
