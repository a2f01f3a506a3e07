# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# Developer tools: the README's accelerator table, printed (accel-md) or put in place (readme-table).

.PHONY: accel-md readme-table

$(BUILD)/tools/accel-md: tools/accel-md.c $(PURE_OBJS)
	@mkdir -p $(@D)
	@echo "  TOOL  $@" >&2
	$(Q)$(CC) $(OUR_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(OUR_LDFLAGS) -o $@ $< $(PURE_OBJS) -ljson-c

accel-md: $(BUILD)/tools/accel-md
	$(Q)$<

# Rewrites the lines from the begin marker to the end marker; a README without both stays as it is.
readme-table: $(BUILD)/tools/accel-md
	$(Q)$< > $(BUILD)/accel-table.md
	$(Q)if grep -q '^<!-- accel-table-begin -->$$' README.md && \
	    grep -q '^<!-- accel-table-end -->$$' README.md; then \
		sed -e '/^<!-- accel-table-begin -->$$/r $(BUILD)/accel-table.md' \
		    -e '/^<!-- accel-table-begin -->$$/,/^<!-- accel-table-end -->$$/d' \
		    README.md > $(BUILD)/README.md && cat $(BUILD)/README.md > README.md; \
	else \
		echo "README.md has no accel-table markers" >&2; \
	fi

# Commands, options, reason codes and exit codes as the program knows them: for the tests of help, man page, completions.
$(BUILD)/tools/tables: tools/tables.c $(LIB_OBJS)
	@mkdir -p $(@D)
	@echo "  TOOL  $@" >&2
	$(Q)$(CC) $(OUR_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(OUR_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB_OBJS) $(LIB_LIBS)
