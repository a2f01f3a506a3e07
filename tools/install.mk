# SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
# install, uninstall, dist. Every path is explicit; DESTDIR and the *DIR variables of the Makefile are honoured.

.PHONY: install install-strip uninstall dist

INSTALL ?= install
INSTALL_STRIP ?=

install: $(BUILD)/hwluks
	$(Q)$(INSTALL) -d '$(DESTDIR)$(SBINDIR)' '$(DESTDIR)$(MANDIR)/man8'
	$(Q)$(INSTALL) $(INSTALL_STRIP) -m 755 $(BUILD)/hwluks '$(DESTDIR)$(SBINDIR)/hwluks'
	$(Q)$(INSTALL) -m 644 man/hwluks.8 '$(DESTDIR)$(MANDIR)/man8/hwluks.8'
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
	$(Q)rm -f '$(DESTDIR)$(SBINDIR)/hwluks' '$(DESTDIR)$(MANDIR)/man8/hwluks.8' \
		'$(DESTDIR)$(BASHCOMPDIR)/hwluks' '$(DESTDIR)$(ZSHCOMPDIR)/_hwluks' '$(DESTDIR)$(FISHCOMPDIR)/hwluks.fish'

# What is committed, and nothing else. gzip -n and git's own time stamps: the same commit gives the same file.
DIST := hwluks-$(VERSION)
dist:
	@mkdir -p $(BUILD)
	$(Q)git archive --format=tar --prefix=$(DIST)/ HEAD | gzip -n -9 > $(BUILD)/$(DIST).tar.gz
	@echo "  DIST  $(BUILD)/$(DIST).tar.gz"
