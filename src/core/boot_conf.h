/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * /etc/hwluks.conf text → what hwluks does while a machine boots. Pure: text in, struct out.
 * Must not load or open anything. Nothing in the file is an error: what is not understood is a warning, and left out.
 */
#pragma once

#include <stdbool.h>

#include "util/util.h"

#define BOOT_CONF_PATH "/etc/hwluks.conf"
/*
 * In modprobe.d of a boot image that hwluks made: keeps udev from loading the drivers that hwluks loads itself, with a limit.
 * It is no wish of the owner's: hwluks does not honour it.
 */
#define BOOT_DENY_FILE "hwluks-boot.conf"
#define BOOT_WAIT_MAX 600 /* seconds; the longest wait that can be asked for */

enum boot_drivers { BOOT_DRIVERS_AUTO, BOOT_DRIVERS_NONE, BOOT_DRIVERS_NAMED };

struct boot_conf {
	enum boot_drivers drivers;
	struct strv names;    /* accelerators, modules or drivers; with BOOT_DRIVERS_NAMED only */
	unsigned int wait;    /* seconds for all drivers together; 0 = not said */
	bool no_verify;	      /* leave out the known-answer test */
	struct strv warnings; /* a sentence each, with the number of the line */
};

/*
 * Lines "KEY = VALUE"; '#' begins a comment; of a key given twice the last one counts. Keys: drivers (auto, none, or names),
 * wait (seconds), verify (yes or no). text may be NULL: the defaults. Always fills out; boot_conf_free frees it.
 */
void boot_conf_parse(const char *text, struct boot_conf *out);
void boot_conf_free(struct boot_conf *c); /* also resets it */
