/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * How fast a device reads, and the mapping on it; how long a key slot takes. Nothing is written, no passphrase asked.
 * Must not judge.
 *
 * Method: O_DIRECT reads of one size, one at a time, wall time. Runs on the device and through the mapping take turns, and
 * each goes on where the other ended, so that none reads what a cache still has.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "core/rate.h"
#include "vol/vol.h"

struct reads_request {
	dev_t raw, mapped;	    /* the device below; the mapping, 0 = there is none */
	uint64_t raw_start, size;   /* where the data starts on the device; how much there is; bytes */
	unsigned int request;	    /* bytes */
	unsigned int run_ms, runs;  /* of each, after a warm-up of a quarter of a run */
};
struct reads_result {
	struct rate raw, mapped;
	char text[160]; /* why it failed or was cut short; "" = complete */
};
/*
 * 0 or negative errno: then what was measured until then counts, and text says why. Returns within the runs' time and half
 * a minute.
 */
int measure_reads(const struct reads_request *rq, struct reads_result *res);

/*
 * *seconds: what the slot's PBKDF takes on this machine. PBKDF2: its speed is measured. Argon2: cheaper slots are made in
 * memory and opened, and what more passes took is scaled by passes and memory; mem_kib bounds the memory (0 = 64 MiB).
 * 0, -ERANGE too quick to tell, -ENOTSUP for another PBKDF or hash, -ETIMEDOUT, or another negative errno.
 */
int measure_unlock(const struct vol_keyslot *s, uint64_t mem_kib, double *seconds);
