/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The programs that build boot images: how each is recognised, where its hooks belong, what it is called with, and what in an
 * image of it starts hwluks. Facts only; must not read or run anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct image_hook {
	const char *source; /* below the folder with the hooks */
	const char *target; /* where the builder looks for it */
	bool executable;
};
/* Lists end with NULL. In texts %k stands for the kernel's version, %p for the name of its package (/lib/modules/%k/pkgbase). */
struct image_kind {
	const char *id;
	const char *program;	   /* with it the builder is installed */
	const char *sign;	   /* is in every image of it, and in none of another's */
	struct image_hook hook[4]; /* ends with a source of NULL */
	const char *one[6], *all[6]; /* command lines: rebuild for one kernel, for all */
	const char *images[3];	     /* where the image is; the first that exists */
	const char *starts[4];	     /* in an image: any of these starts hwluks */
	const char *order;	     /* in an image: a file that names what runs, in order; NULL: the units say it */
	const char *before;	     /* what hwluks must stand before in it, if that is there */
	const char *also;	     /* what its user has to do by hand, a sentence; or NULL */
};
/* In the order in which one is chosen where several are installed. */
extern const struct image_kind image_kinds[];
extern const size_t image_kind_count;

/* NULL when there is none of this id. */
const struct image_kind *image_kind_by_id(const char *id);
