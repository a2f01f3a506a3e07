# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: targets of the VM rig: guest builds of hwluks, host tools, the tests in guests. Included by the Makefile.
# Must not know: how hwluks is built; for that it calls the Makefile again with a guest's compiler.
#
# make i386        build/i386/hwluks, for an AMD Geode LX; make amd64: build/amd64/hwluks, for the 64-bit guests.
#                  Both are built against the guests' libraries, whatever the host's release.
# make vm-tools    geode-model, ciphertext and their like in build/vm
# make vm-fetch    everything that needs a network, into .cache
# make check-rig   tests of the rig itself that need no guest
# make check-vm    all guests, one after the other

VM_BUILD := build/vm
VM_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla
VM_CRYPTO = $(shell $(PKG_CONFIG) --cflags --libs libcrypto)
VM_TOOLS := $(VM_BUILD)/geode-model $(VM_BUILD)/ciphertext
VM_UNIT  := $(VM_BUILD)/test_geode_engine
# One .t, one prove line; each may boot several guests.
VM_TESTS := $(sort $(wildcard tests/vm/*.t))
# It boots no guest.
VM_RIG_TESTS := tests/vm/isa.t

.PHONY: i386 amd64 vm-fetch vm-tools check-rig check-vm

# Sub-makes: their objects have their own directories, their own compiler and libraries.
vm_guest_make = $(MAKE) --no-print-directory BUILD=build/$(1) SAN= LDFLAGS= CPPFLAGS= CFLAGS='$(RELEASE_CFLAGS)' \
	CC='$(CURDIR)/tests/vm/cc-guest.sh $(1) cc' PKG_CONFIG='$(CURDIR)/tests/vm/cc-guest.sh $(1) pkg-config' \
	build/$(1)/hwluks

i386:
	@tests/vm/fetch.sh sysroot i386 >/dev/null
	+$(Q)$(call vm_guest_make,i386)

amd64:
	@tests/vm/fetch.sh sysroot amd64 >/dev/null
	+$(Q)$(call vm_guest_make,amd64)

vm-fetch:
	@tests/vm/fetch.sh all >/dev/null

vm-tools: $(VM_TOOLS)

$(VM_BUILD)/geode-model: tests/vm/geode/geode-model.c tests/vm/geode/geode-engine.c tests/vm/geode/geode-engine.h
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(CC) $(VM_CFLAGS) $(CFLAGS) -O2 -o $@ $(filter %.c,$^)

$(VM_BUILD)/ciphertext: tests/vm/ciphertext.c
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(CC) $(VM_CFLAGS) $(CFLAGS) -o $@ $< $(VM_CRYPTO)

$(VM_BUILD)/test_geode_engine: tests/vm/geode/test_geode_engine.c tests/vm/geode/geode-engine.c \
		tests/vm/geode/geode-engine.h
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(VM_CFLAGS) $(CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka $(VM_CRYPTO)

check-rig: $(VM_UNIT) vm-tools i386
	$(PROVE) $(VM_UNIT) $(VM_RIG_TESTS)

check-vm: $(VM_UNIT) vm-tools i386 amd64
	$(PROVE) $(VM_UNIT) $(VM_TESTS)

-include tests/vm/padlock/padlock.mk
