/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A cpio archive in the "newc" format, fed in pieces of any size → names of its entries, and the text of a few.
 * The format is that of the kernel's Documentation/driver-api/early-userspace/buffer-format.rst. Pure: images are untrusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/util.h"

#define CPIO_TEXT_MAX (64u << 10) /* longer files are not kept */
#define CPIO_NAME_MAX 4096u

struct cpio_entry {
	char *name; /* without "./" and "/" in front */
	char *text; /* what `keep` asked for: the file's bytes, NUL-terminated; else NULL */
};

enum cpio_state { CPIO_HEADER, CPIO_NAME, CPIO_DATA, CPIO_PADDING, CPIO_END, CPIO_BROKEN };

struct cpio {
	bool (*keep)(const char *name); /* may be NULL: keeps no text */
	struct cpio_entry *v;
	size_t n;
	enum cpio_state state;
	/* of the entry under way */
	char head[CPIO_NAME_MAX]; /* header, then name */
	size_t have;		  /* bytes of it that are there */
	uint64_t left;		  /* bytes of data or padding still to come */
	uint64_t size;		  /* of its data */
	size_t name_len;
	uint64_t at; /* bytes eaten: everything is aligned to 4 from the beginning */
};

/*
 * Takes what belongs to the archive. Returns how many bytes those were: fewer than n when the archive ended, or when it is
 * no archive (CPIO_BROKEN). c is zeroed, but for keep, before the first call; and for the next archive of one image
 * cpio_next is called.
 */
size_t cpio_feed(struct cpio *c, const char *p, size_t n);
/* The next archive behind the end of this one; entries stay. */
void cpio_next(struct cpio *c);
/*
 * The entry of this name, with "usr/" in front or not: /lib and /sbin are links into /usr in most images. NULL: none. Of
 * several the last one, which is what the kernel unpacks last.
 */
const struct cpio_entry *cpio_find(const struct cpio *c, const char *name);
void cpio_free(struct cpio *c); /* also resets it */
