/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * /etc/crypttab text → entries with their options. Pure; must not know what an option does.
 * Takes Debian's and systemd's dialect; an entry with fewer than two fields is dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct crypttab_entry {
	char *name, *source;
	char *key;     /* "" when none */
	char *options; /* comma-separated, "" when none */
};
struct crypttab {
	struct crypttab_entry *v;
	size_t n;
};

/* text may be NULL. Always fills out. */
void crypttab_parse(const char *text, struct crypttab *out);
void crypttab_free(struct crypttab *t); /* also resets it to empty */
/* First entry of this mapping name, or NULL. */
const struct crypttab_entry *crypttab_find(const struct crypttab *t, const char *name);
/* True when the option is there, bare or with a value; value (may be NULL) gets it, "" for a bare one. */
bool crypttab_option(const struct crypttab_entry *e, const char *name, char *value, size_t size);
