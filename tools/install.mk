# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# install, uninstall, dist. Every path is explicit; DESTDIR and the *DIR variables of the Makefile are honoured.

.PHONY: install install-strip uninstall dist

INSTALL ?= install
INSTALL_STRIP ?=

# Copies that `hwluks initramfs install` puts where the builders of boot images look; they hold the program's path.
HOOKDIR = $(DATADIR)/hwluks/initramfs-hooks
HOOK_FILES := $(sort $(wildcard initramfs-hooks/*/*))
# $(call install_hook,FROM,TO)
install_hook = f='$(DESTDIR)$(2)' && $(INSTALL) -d "$${f%/*}" && sed 's|@SBINDIR@|$(SBINDIR)|' $(1) >"$$f" && \
	chmod $(if $(filter %.service %/run-hook %/hwluks-load.sh,$(1)),644,755) "$$f"

install: $(BUILD)/hwluks
	$(Q)$(INSTALL) -d '$(DESTDIR)$(SBINDIR)' '$(DESTDIR)$(MANDIR)/man8'
	$(Q)$(INSTALL) $(INSTALL_STRIP) -m 755 $(BUILD)/hwluks '$(DESTDIR)$(SBINDIR)/hwluks'
	$(Q)$(INSTALL) -m 644 man/hwluks.8 '$(DESTDIR)$(MANDIR)/man8/hwluks.8'
	$(Q)$(INSTALL) -d '$(DESTDIR)$(MANDIR)/man5'
	$(Q)$(INSTALL) -m 644 man/hwluks.conf.5 '$(DESTDIR)$(MANDIR)/man5/hwluks.conf.5'
	@$(foreach f,$(HOOK_FILES),$(call install_hook,$(f),$(HOOKDIR)/$(f:initramfs-hooks/%=%)) &&) \
		$(call install_hook,initramfs-hooks/dracut/hwluks-load.service,$(UNITDIR)/hwluks-load.service)
ifeq ($(WITH_COMPLETION),yes)
	$(Q)$(INSTALL) -d '$(DESTDIR)$(BASHCOMPDIR)' '$(DESTDIR)$(ZSHCOMPDIR)' '$(DESTDIR)$(FISHCOMPDIR)'
	$(Q)$(INSTALL) -m 644 completion/hwluks.bash '$(DESTDIR)$(BASHCOMPDIR)/hwluks'
	$(Q)$(INSTALL) -m 644 completion/_hwluks '$(DESTDIR)$(ZSHCOMPDIR)/_hwluks'
	$(Q)$(INSTALL) -m 644 completion/hwluks.fish '$(DESTDIR)$(FISHCOMPDIR)/hwluks.fish'
endif

install-strip:
	$(Q)$(MAKE) --no-print-directory INSTALL_STRIP=-s install

# The folders stay: others may use them.
uninstall:
	$(Q)rm -f '$(DESTDIR)$(SBINDIR)/hwluks' '$(DESTDIR)$(MANDIR)/man8/hwluks.8' '$(DESTDIR)$(MANDIR)/man5/hwluks.conf.5' \
		'$(DESTDIR)$(UNITDIR)/hwluks-load.service' $(HOOK_FILES:initramfs-hooks/%='$(DESTDIR)$(HOOKDIR)/%') \
		'$(DESTDIR)$(BASHCOMPDIR)/hwluks' '$(DESTDIR)$(ZSHCOMPDIR)/_hwluks' '$(DESTDIR)$(FISHCOMPDIR)/hwluks.fish'

# What is committed, and nothing else. gzip -n and git's own time stamps: the same commit gives the same file.
DIST := hwluks-$(VERSION)
dist:
	@mkdir -p $(BUILD)
	$(Q)git archive --format=tar --prefix=$(DIST)/ HEAD | gzip -n -9 > $(BUILD)/$(DIST).tar.gz
	@echo "  DIST  $(BUILD)/$(DIST).tar.gz"
