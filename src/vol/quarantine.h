/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Takes a broken driver out of the kernel's choice, and remembers per boot which drivers were
 * proven or taken out. Knows NETLINK_CRYPTO through sys and /run/hwluks; must not decide whether a
 * driver is bad.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/accel.h"
#include "core/cipher_spec.h"

struct quarantine_result {
	unsigned int lowered; /* algorithms now at priority 0 */
	unsigned int deleted; /* template instances removed */
	char still[256]; /* drivers that could not be taken out, separated by spaces; "" = none */
	char text[320];  /* one sentence: what was done, or why not and what the user can do */
};
/*
 * Puts all algorithms of the row's drivers to priority 0, deletes the instances built on them, builds
 * the software instance of ecb, cbc and xts by its full name where nothing else is registered for the
 * mode, and reads the list again to see that it holds. Refuses rows that are plain CPU code (-EPERM).
 * -ENOSYS without crypto_user: then nothing was changed and the driver must not be used. -EIO when the
 * kernel would still take one of them. Bounded in time.
 */
int quarantine_driver(const struct accel *a, struct quarantine_result *res);

enum stamp_state { STAMP_NONE, STAMP_VERIFIED, STAMP_QUARANTINED };
/*
 * What was found about this driver and spec since this boot *and* since its module was loaded: a
 * stamp is void when the boot id or the identity of /sys/module/MODULE (its inode, new with every
 * load) differs. spec NULL: a quarantine of the driver as a whole. A quarantine stamp of the driver
 * counts for every spec.
 */
enum stamp_state stamp_read(const char *driver, const char *module, const struct cipher_spec *spec);
/* Writes it under /run/hwluks (0700, made when missing). 0 or negative errno. */
int stamp_write(const char *driver, const char *module, const struct cipher_spec *spec,
                enum stamp_state state);
