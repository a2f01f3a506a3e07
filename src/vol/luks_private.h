/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What secret.c, format.c, header.c, luks.c and refresh.c share: libcryptsetup's messages, a header under
 * construction. Must not be included outside these files.
 */
#pragma once

#include <stdbool.h>

#include "vol/vol.h"

struct crypt_device;

/* Routes the library's messages to util's log: errors as errors, the rest as debug. Cheap, may be
 * called often. */
void luks_log_setup(void);
/* While true, errors too are debug: for questions whose answer may be no. */
void luks_log_quiet(bool quiet);
/* The library's last error since luks_log_quiet(true), or "". */
const char *luks_last_error(void);

/* An anonymous file that libcryptsetup opens by name. */
struct memfile {
	int fd;
	char path[32]; /* "/proc/self/fd/7" */
};
/* An existing volume; luks.c makes it, refresh.c too. */
struct volume {
	struct crypt_device *cd;
	struct memfile copy; /* VOL_PEEK: where cd was loaded from; else fd is -1 */
	bool detached;
};
/* 0, or why this volume cannot be activated so. */
int luks_activation_check(struct volume *v, const struct vol_activation *a);
/* What follows an activation that returned r: flags into the header. Returns r, as vol_open. */
int luks_activation_done(struct volume *v, const struct vol_activation *a, int r);
/* enum vol_activate_flags as the library's; kept_only: those that a header can keep. */
uint32_t luks_flags(unsigned int ours, bool kept_only);

/* Sparse: costs what is written to it. */
int memfile_new(uint64_t size, struct memfile *m);

/* Facts from a loaded context, whatever it was loaded from. */
void luks_fill_facts(struct crypt_device *cd, struct vol_facts *out);

struct vol_header {
	struct memfile mem;
	const unsigned char *image; /* its first image_len bytes */
	struct vol_header_facts facts;
	struct record record;
	struct header_layout layout;
	struct vol_format_plan plan; /* its pointers are not kept */
	char cipher[160];            /* spec_text() of the plan */
};
