/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Which kernel modules a boot image needs so that volumes of given specs open on the accelerator, and in software when that
 * fails. Pure; must not know a generator of images, or where modules are kept.
 */
#pragma once

#include <stddef.h>

#include "core/cipher_spec.h"
#include "core/machine.h"
#include "core/policy.h"

enum image_role {
	IMAGE_ACCEL,	/* driver of an accelerator, in load order */
	IMAGE_KERNEL,	/* dm-crypt, and what hwluks tests and steers drivers with */
	IMAGE_TEMPLATE, /* mode or IV around the cipher */
	IMAGE_SOFTWARE, /* portable code: what serves the volume when the accelerator does not */
};
const char *image_role_name(enum image_role r); /* "accelerator", "kernel", "template", "software"; for JSON */

struct image_item {
	char module[64];
	enum image_role role;
	const struct accel *accel; /* IMAGE_ACCEL: whose; else NULL */
	enum module_state state;   /* for the kernel in m; MODULE_UNKNOWN where nothing is known of it */
};
struct image_plan {
	struct image_item *v; /* accelerators first, each module once */
	size_t n;
};
struct image_request {
	const struct cipher_spec *specs; /* of data areas and of key slots */
	size_t n_specs;
	/* The accelerator to go for, here or not; NULL: those that hwluks would load on this machine. */
	const struct accel *accel;
	/* Without accel: those named, here or not (ids, modules, drivers; unknown names are passed over); or none at all. */
	char *const *names;
	size_t n_names;
	bool no_accel;
};
/* The accelerator that a name stands for: its id, a module or a driver. NULL: no row has it. */
const struct accel *image_accel(const char *name, kver kernel);
/* Always fills out. A module that is known to be built in, or to belong to no kernel like this one, is in it with that state. */
void image_plan(const struct machine *m, const struct image_request *rq, struct image_plan *out);
void image_plan_free(struct image_plan *p);
