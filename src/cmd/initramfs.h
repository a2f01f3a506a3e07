/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What the actions of `hwluks initramfs` share: the plan for one kernel. Must not know what becomes of it.
 */
#pragma once

#include "cmd/cmd.h"
#include "core/boot_conf.h"
#include "core/image_plan.h"

/* The specs of the volumes that an image is to open. */
struct image_specs {
	struct cipher_spec *v;
	size_t n;
	bool incomplete; /* the spec of a volume is not known */
};
struct image_job {
	struct image_request rq;
	struct image_plan plan;
	struct machine m;
	struct image_specs specs;
	struct boot_conf conf;
};

/* The plan for --kernel, or the running kernel, on c->root. j is zeroed; free it in any case. Says why when it is not 0. */
int image_job_plan(struct cmd_context *c, struct image_job *j);
void image_job_free(struct image_job *j);

/* initramfs_image.c */
int initramfs_install(struct cmd_context *c);
int initramfs_remove(struct cmd_context *c);
int initramfs_check(struct cmd_context *c);
