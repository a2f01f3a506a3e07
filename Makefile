# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# All targets of hwluks. No configure step: pkg-config finds the libraries.
# `make help` lists the targets people use.

# `make deps check` on a machine that has nothing yet: what deps installs (pkg-config and the libraries it
# knows) is asked for while this file is read, so deps runs first and the rest in a make of its own.
ifneq ($(filter deps,$(MAKECMDGOALS)),)
AFTER_DEPS := $(filter-out deps,$(MAKECMDGOALS))
.PHONY: deps $(AFTER_DEPS)
deps:
	@tools/deps.sh
$(firstword $(AFTER_DEPS)): deps
	@$(MAKE) --no-print-directory $(AFTER_DEPS)
$(wordlist 2,99,$(AFTER_DEPS)): $(firstword $(AFTER_DEPS))
	@:
else

VERSION := 0.1.0
GIT_VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)

PREFIX      ?= /usr/local
SBINDIR     ?= $(PREFIX)/sbin
MANDIR      ?= $(PREFIX)/share/man
DATADIR     ?= $(PREFIX)/share
UNITDIR     ?= $(PREFIX)/lib/systemd/system
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d
WITH_COMPLETION ?= yes

BUILD      ?= build
CC         ?= cc
PKG_CONFIG ?= pkg-config
CFLAGS     ?= $(RELEASE_CFLAGS)
Q := $(if $(V),,@)

# It goes into boot images: small before fast. C needs no unwind tables, and -g still gives debuggers theirs.
RELEASE_CFLAGS := -Oz -g -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-plt -fomit-frame-pointer

LIBS := libcryptsetup blkid devmapper libkmod json-c libcrypto
LIB_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBS))
LIB_LIBS   := $(shell $(PKG_CONFIG) --libs $(LIBS))
ifeq ($(LIB_LIBS),)
$(warning $(PKG_CONFIG) does not find all of: $(LIBS). On Debian 'make deps' installs them.)
endif

# What the code needs whatever CFLAGS says; CFLAGS stays the builder's own.
OUR_CFLAGS := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Isrc \
	-DHWLUKS_HOOKS='"$(DATADIR)/hwluks/initramfs-hooks"' -DHWLUKS_PROGRAM='"$(SBINDIR)/hwluks"' \
	-DHWLUKS_VERSION='"$(or $(GIT_VERSION),$(VERSION))"' \
	-ffunction-sections -fdata-sections -fstack-protector-strong -fvisibility=hidden \
	-Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wno-missing-field-initializers $(LIB_CFLAGS)
# pack-relative-relocs: the tables are full of pointers, 24 bytes of relocation each without it
# noseparate-code: two segments in place of four, each of which wastes half a page
OUR_LDFLAGS := -Wl,--gc-sections -Wl,-z,relro,-z,now -Wl,--as-needed -Wl,-z,pack-relative-relocs,-z,noseparate-code
ifneq ($(SAN),)
OUR_CFLAGS  += -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OUR_LDFLAGS += -fsanitize=address,undefined
endif
ifneq ($(WERROR),)
OUR_CFLAGS += -Werror
endif
# The program is optimised as one piece, where gcc builds it; fat objects, so that the tests link without waiting for that.
ifeq ($(SAN)$(findstring clang,$(shell $(CC) --version)),)
# Passes that still buy speed with bytes at -Oz; together 2.3 KB.
SMALLER := -fno-caller-saves -fno-shrink-wrap -fno-optimize-sibling-calls -fno-expensive-optimizations
LTO_CFLAGS := -flto=auto -ffat-lto-objects $(SMALLER)
HWLUKS_LDFLAGS := $(OUR_LDFLAGS) -flto=auto $(SMALLER)
OUR_LDFLAGS += -fno-lto
else
HWLUKS_LDFLAGS := $(OUR_LDFLAGS)
endif

layer = $(sort $(wildcard src/$(1)/*.c))
PURE_SRCS := $(call layer,util) $(call layer,core) $(call layer,doctor)
SRCS      := src/hwluks.c $(PURE_SRCS) $(call layer,sys) $(call layer,vol) $(call layer,fill) $(call layer,cmd)
PURE_OBJS := $(PURE_SRCS:%.c=$(BUILD)/%.o)
OBJS      := $(SRCS:%.c=$(BUILD)/%.o)
LIB_OBJS  := $(filter-out $(BUILD)/src/hwluks.o,$(OBJS))

.PHONY: all check-fast check-unit check-cli clean
all: $(BUILD)/hwluks

$(BUILD)/hwluks: $(OBJS)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(HWLUKS_LDFLAGS) -o $@ $^ $(LIB_LIBS)

# Objects made with other flags are made anew.
.PHONY: always
$(BUILD)/flags: always
	@mkdir -p $(@D)
	@printf '%s\n' '$(CC) $(filter-out -DHWLUKS_VERSION=%,$(OUR_CFLAGS)) $(LTO_CFLAGS) $(CPPFLAGS) $(CFLAGS)' | cmp -s - $@ || \
		printf '%s\n' '$(CC) $(filter-out -DHWLUKS_VERSION=%,$(OUR_CFLAGS)) $(LTO_CFLAGS) $(CPPFLAGS) $(CFLAGS)' > $@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(OUR_CFLAGS) $(LTO_CFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# --- tests -------------------------------------------------------------------------------------
# tests/unit/test_*.c link only util and core (an upward call fails to link);
# tests/unit/sys_*.c link every layer but main.
PURE_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
SYS_TESTS  := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(sort $(wildcard tests/unit/sys_*.c)))
UNIT_TESTS := $(PURE_TESTS) $(SYS_TESTS)
CLI_TESTS  := $(sort $(wildcard tests/cli/*.bats))
CLI_TOOLS  := $(BUILD)/tools/tables $(BUILD)/tools/accel-md

$(PURE_TESTS): $(BUILD)/tests/unit/%: tests/unit/%.c $(PURE_OBJS)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(OUR_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(OUR_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(PURE_OBJS) \
		-lcmocka -ljson-c

$(SYS_TESTS): $(BUILD)/tests/unit/%: tests/unit/%.c $(LIB_OBJS)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(OUR_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(OUR_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB_OBJS) \
		-lcmocka $(LIB_LIBS)

TEST_ENV = HWLUKS=$(abspath $(BUILD))/hwluks BUILD=$(abspath $(BUILD))
PROVE = $(TEST_ENV) CMOCKA_MESSAGE_OUTPUT=TAP prove -e '' --timer

check-unit: $(UNIT_TESTS)
	@$(TEST_ENV) tools/prove.sh unit: $(UNIT_TESTS)

check-cli: $(BUILD)/hwluks $(CLI_TOOLS)
	@$(TEST_ENV) tools/prove.sh cli: $(CLI_TESTS)

check-fast: $(BUILD)/hwluks $(UNIT_TESTS) $(CLI_TOOLS)
	@$(TEST_ENV) tools/prove.sh unit: $(UNIT_TESTS) cli: $(CLI_TESTS)

clean:
	rm -rf $(BUILD)

-include tests/vm/vm.mk
-include tests/fuzz/fuzz.mk
-include tests/cost/cost.mk
-include tools/tools.mk
-include tools/install.mk
-include tools/lint.mk
-include tools/check.mk
-include $(wildcard $(OBJS:.o=.d) $(UNIT_TESTS:=.d))

endif
