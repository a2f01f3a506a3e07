# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the PadLock model as a kernel module for the guests, and its rig. Included by vm.mk after VM_TESTS is set.
# Must not know: what the guests test.
#
# make vm-padlock    build/vm/padlock_model-amd64.ko and crypto_user-amd64 (static), and the same for i386 where the
#                    i686 cross compiler is

PADLOCK_ARCHES := amd64 $(if $(shell command -v i686-linux-gnu-gcc),i386)
PADLOCK_MODULES := $(PADLOCK_ARCHES:%=$(VM_BUILD)/padlock_model-%.ko)
PADLOCK_TOOLS := $(PADLOCK_ARCHES:%=$(VM_BUILD)/crypto_user-%)
VM_TESTS += tests/vm/padlock/rig.t

.PHONY: vm-padlock
vm-padlock: $(PADLOCK_MODULES) $(PADLOCK_TOOLS)
check-vm: vm-padlock

$(VM_BUILD)/crypto_user-amd64: PADLOCK_CC := $(if $(filter x86_64,$(shell uname -m)),$(CC),x86_64-linux-gnu-gcc)
$(VM_BUILD)/crypto_user-i386: PADLOCK_CC := i686-linux-gnu-gcc
$(PADLOCK_TOOLS): tests/vm/padlock/crypto_user.c
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(PADLOCK_CC) $(VM_CFLAGS) -static -o $@ $<

$(PADLOCK_MODULES): $(VM_BUILD)/padlock_model-%.ko: tests/vm/padlock/padlock_model.c tests/vm/padlock/build.sh
	@mkdir -p $(@D)
	@echo "  KO    $@"
	$(Q)V=$(V) tests/vm/padlock/build.sh $* $@
