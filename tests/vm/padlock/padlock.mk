# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# For: the PadLock model as a kernel module for the guests, and its rig. Included by vm.mk after VM_TESTS is set.
# Must not know: what the guests test.
#
# make vm-padlock    build/vm/padlock_model-amd64.ko and, where the i686 cross compiler is, -i386.ko

PADLOCK_ARCHES := amd64 $(if $(shell command -v i686-linux-gnu-gcc),i386)
PADLOCK_MODULES := $(PADLOCK_ARCHES:%=$(VM_BUILD)/padlock_model-%.ko)
VM_TESTS += tests/vm/padlock/rig.t

.PHONY: vm-padlock
vm-padlock: $(PADLOCK_MODULES)
check-vm: vm-padlock

$(PADLOCK_MODULES): $(VM_BUILD)/padlock_model-%.ko: tests/vm/padlock/padlock_model.c tests/vm/padlock/build.sh
	@mkdir -p $(@D)
	@echo "  KO    $@"
	$(Q)V=$(V) tests/vm/padlock/build.sh $* $@
