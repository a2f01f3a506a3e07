/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Does a boot image hold what hwluks needs in it? Contents and plan in, one answer a question out. Pure; must not read an
 * image, and must not know how one is mended.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/cpio.h"
#include "core/image_kind.h"
#include "core/image_plan.h"

struct image_contents {
	const struct image_kind *kind;
	const struct cpio *files;
	const char *kernel;	      /* version whose modules count */
	const struct image_plan *plan;
	const struct strv *libraries; /* what the program is linked with: "libcryptsetup.so.12" */
	const char *program;	      /* path of hwluks */
	const char *modprobe;	      /* where the kernel looks for it */
};
struct image_answer {
	const char *id; /* "program", "libraries", "modules", "index", "modprobe", "started", "order", "denied": stable, for JSON */
	bool ok;
	char *text; /* one sentence */
};
struct image_answers {
	struct image_answer *v;
	size_t n;
};

/* Always fills out. */
void image_check(const struct image_contents *c, struct image_answers *out);
bool image_answers_ok(const struct image_answers *a);
void image_answers_free(struct image_answers *a); /* also resets it */

/* The texts that image_check reads: for struct cpio's keep. */
bool image_wants_text(const char *name);
/* Whose image this is, by its contents; NULL when no row's sign is in it. */
const struct image_kind *image_kind_of(const struct cpio *files);
/* The kernel whose modules are in the image; the first found, into buf. False when there are none. */
bool image_kernel(const struct cpio *files, char *buf, size_t size);
