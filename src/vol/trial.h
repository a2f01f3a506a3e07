/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Work on a throw-away mapping in a child that may hang: started, watched for progress, killed,
 * swept up after. Shared by verify.c and measure.c; must not know what the work proves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/proc_crypto.h"
#include "vol/mapping.h"

/*
 * Memory that parent and child share, so that what the child had done is known when it cannot speak
 * any more. First member of the user's own struct.
 */
struct trial {
	volatile uint32_t beat; /* the child counts up with each request: progress */
	struct mapping mapping; /* name set as soon as it exists */
	char loop[32];          /* "/dev/loop0"; "" = none */
};
void *trial_alloc(size_t size); /* zeroed; never NULL */
void trial_free(void *t, size_t size);

struct trial_limits {
	unsigned int stall_ms, total_ms;
};
struct trial_end {
	int err; /* what fn returned; -ETIMEDOUT at a limit, -ECHILD when a signal that was not ours
	            killed it */
	int signal;      /* with -ECHILD */
	pid_t left;      /* could not be killed within a second; else 0 */
	unsigned int ms; /* wall time */
};
/*
 * Runs fn in a child without the parent's descriptors. It dies with the parent; a mapping opened by
 * trial_open goes with it. Then removes the mapping if the child did not, in a second child with a
 * limit of its own, and writes what could not be removed into left_behind. Where nothing was, the
 * template instances that the kernel built for the mapping and nobody uses are removed, too. Returns
 * within total_ms and five seconds.
 */
void trial_run(int (*fn)(struct trial *t), struct trial *t, const struct trial_limits *limits,
               struct trial_end *end, char *left_behind, size_t size);

/* For the child: creates the mapping and notes it; opens it O_DIRECT and has the kernel remove it
 * with its last user. */
int trial_create(struct trial *t, const struct mapping_request *rq, char *why, size_t size);
int trial_open(struct trial *t, int oflags);
/* /proc/crypto as it is now. */
int trial_algs(struct alg_list *out);
/* The driver that a trial_create after `before` bound, by the counts; cipher as in the
 * mapping_request. "" when they do not tell. */
void trial_driver(const struct alg_list *before, const struct cipher_spec *spec, const char *cipher,
                  char *driver, size_t size);

/* Device-mapper, loading dm_mod when that is all it lacks. As mapping_available. */
int trial_need_dm(char *why, size_t size);
/*
 * A loop device of `bytes` over anonymous memory, detached with its last user. Fills *memory (the
 * memory file), *loop (the device), *dev and t->loop. 0 or negative errno with why.
 */
int trial_loop(struct trial *t, uint64_t bytes, int *memory, int *loop, dev_t *dev, char *why,
               size_t size);
