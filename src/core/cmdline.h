/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The kernel command line as the kernel splits it: parameters, denied modules, self-test switch.
 * Pure; must not know which module drives what.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Value of the last `name` or `name=value` the kernel itself would see (nothing after "--"); '-'
 * and '_' in names are equal, double quotes are taken off. A bare name gives "". text may be NULL
 * here and below. 0, -ENOENT when it is not there, -ERANGE when the value does not fit (buf then
 * has its start).
 */
int cmdline_get(const char *text, const char *name, char *buf, size_t size);

/* Which option denies a module; the later ones bind harder. The first three stop alias loading. */
enum deny_option {
	DENY_RDBLACKLIST,         /* rdblacklist=: old name of the next */
	DENY_RD_DRIVER_BLACKLIST, /* rd.driver.blacklist=: inside a dracut initramfs only */
	DENY_MODPROBE_BLACKLIST,  /* modprobe.blacklist=: loading by name still works */
	DENY_MODULE_BLACKLIST,    /* module_blacklist=: the kernel refuses the module in any case */
};
struct cmdline_deny {
	char module[64]; /* '-' turned into '_', as the kernel names modules */
	enum deny_option option;
};
struct cmdline_deny_list {
	struct cmdline_deny *v;
	size_t n;
};

/*
 * All denials. module_blacklist= is one kernel parameter, so its last occurrence replaces earlier
 * ones; the others add up. The kernel and kmod compare names to the letter, so `geode-aes` really
 * denies nothing; it is listed all the same, because the owner's wish is plain.
 */
void cmdline_denied(const char *text, struct cmdline_deny_list *out);
void cmdline_deny_list_free(struct cmdline_deny_list *l); /* also resets it to empty */
/* The hardest denial of this module ('-' and '_' equal), or NULL. */
const struct cmdline_deny *cmdline_deny_find(const struct cmdline_deny_list *l, const char *module);
const char *deny_option_name(enum deny_option o);     /* "module_blacklist" */
const char *deny_option_sentence(enum deny_option o); /* what it stops, for people */
/* Even loading by name is stopped. */
bool deny_option_hard(enum deny_option o);

/* Self-tests of crypto drivers are switched off: cryptomgr.notests, bare or true, last one wins. */
bool cmdline_selftests_off(const char *text);
