/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Throughput of a spec through a real dm-crypt table, no disk involved.
 * Knows mappings and children; must not rank or judge.
 *
 * Method: O_DIRECT requests over a crypt mapping on the dm zero target (writes are discarded, reads
 * are decrypted zeros), or where the kernel lacks that, on a loop device in memory, which costs
 * time of its own. Wall time by CLOCK_MONOTONIC, one warm-up run, then several runs; the median
 * counts. AF_ALG is never used: it binds drivers that dm-crypt may not have. One request is in
 * flight at a time; dm-crypt cuts it into sector-sized jobs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cipher_spec.h"
#include "core/policy.h"
#include "core/proc_crypto.h"
#include "core/rate.h"

struct measure_request {
	const struct cipher_spec *spec; /* key_bits set; sector_size 0 = 512 */
	const char *cipher;             /* table text to force a driver ("capi:…"), or NULL */
	unsigned int request_size;      /* bytes, a multiple of the sector size; 0 = 1 MiB */
	unsigned int run_ms;            /* shortest length of a run; 0 = 1000 */
	unsigned int runs;              /* per direction, after the warm-up; 0 = 3; at most 15 */
	bool no_write, no_read;
	unsigned int flags; /* CRYPT_FLAG_* */
	unsigned int total_ms; /* for everything; 0 = what the runs need, plus 10 s */
};
struct measure_result {
	struct measurement m; /* spec and medians, for policy_rank() */
	struct rate write, read;
	char driver[ALG_NAME_MAX]; /* by reference count; "" = could not be told */
	bool over_memory; /* no zero target here: measured over a loop device in memory, not to be
	                     compared with others */
	char text[256];   /* why it failed or was cut short; "" = complete */
	char left_behind[192];
};
/*
 * 0, or negative errno: -ENODEV no device-mapper, -ENOENT the kernel refused the spec, -ETIMEDOUT
 * the limit passed before each direction had one run (when it passes later, the runs so far count
 * and text says so), -EIO. Returns within total_ms and five seconds.
 */
int measure_spec(const struct measure_request *rq, struct measure_result *res);

/* Requests of one size, one after the other, from `offset` on; at `end` it starts again at `start`. */
struct request_loop {
	int fd;
	void *buf; /* aligned for O_DIRECT */
	unsigned int request;
	uint64_t start, end, offset; /* bytes */
	double deadline;             /* clock_s() at which all is to end */
	volatile uint32_t *beat;     /* counted up with each request */
};
/*
 * For at least `least` seconds; *rate in MB/s of wall time. -ETIMEDOUT when cut short by the deadline; -EIO and other
 * negative errno.
 */
int request_loop_run(struct request_loop *l, bool write, double least, double *rate);
/* Page-aligned and filled, or NULL; lives as long as the process: for a trial's child. */
void *request_buffer(unsigned int size);
