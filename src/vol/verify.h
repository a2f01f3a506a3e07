/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Proves that the driver the kernel binds for a spec encrypts right, before a volume depends on it.
 * Knows mappings and children; must not know what a caller does with the answer.
 *
 * How: a loop device over anonymous memory, a dm-crypt mapping on it with a random key, O_DIRECT
 * writes in requests of one sector, 4 KiB, 64 KiB and 1 MiB; the memory underneath is compared with
 * libcrypto's ciphertext, then everything is read back through the mapping and compared. 4 MiB are
 * written; with sectors above 512 bytes in several rounds, so that at least VERIFY_OPS encryption
 * operations are done in each direction. All of it runs in a child that is killed when it makes no
 * progress; the caller's process never opens the mapping.
 *
 * What it can see: wrong data from the start, wrong data in some request sizes only, a fault that
 * starts within the first few thousand operations, a driver that does not answer, a driver that
 * cannot take the spec. What it cannot see: a fault that starts later or depends on load,
 * temperature or certain data; a wrong IV handed back to the driver's caller (dm-crypt gives each
 * sector its own IV, so that fault cannot reach a volume either); concurrent use beyond what one
 * request of 1 MiB causes. It cannot tell who did the work: a driver's silent software fallback is
 * right, too. What it cannot contain: a driver that stops the machine itself. geode-aes polls with
 * interrupts off under one lock and ends in BUG(): with one CPU the machine goes on without the
 * engine, with several CPUs another user of that lock hangs for good, and panic_on_oops=1 reboots.
 * The child, mapping and loop device then stay until the next boot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/accel.h"
#include "core/cipher_spec.h"
#include "core/proc_crypto.h"

#define VERIFY_OPS 4096u /* encryption operations in each direction, at least */
/* No progress for this long: hung. A stuck geode-aes poll alone takes up to 10.6 s. */
#define VERIFY_STALL_MS  10000u
#define VERIFY_TOTAL_MS  60000u
#define VERIFY_QUICK_OPS 1024u /* for the boot path */

enum verify_outcome {
	VERIFY_OK,
	VERIFY_WRONG_DATA,  /* the ciphertext underneath is not libcrypto's */
	VERIFY_READBACK,    /* what was written does not come back, or the device answers with I/O
	                       errors */
	VERIFY_HUNG,        /* no answer within the limit */
	VERIFY_UNAVAILABLE, /* could not be tried: no device-mapper, no loop device, no rights, no
	                       memory */
	VERIFY_OPEN_FAILED, /* the kernel refused the spec */
};
const char *verify_outcome_name(enum verify_outcome o); /* "ok", "wrong-data", … stable, for JSON */
/* True for outcomes that speak against the driver: wrong data, read-back, hung. */
bool verify_outcome_bad(enum verify_outcome o);

struct verify_request {
	const struct cipher_spec *spec; /* key_bits set; sector_size 0 = 512 */
	const char *cipher; /* table text instead of the spec's own, to force a driver by "capi:…";
	                       or NULL */
	unsigned int ops;   /* 0 = VERIFY_OPS */
	unsigned int stall_ms; /* 0 = VERIFY_STALL_MS */
	unsigned int total_ms; /* 0 = VERIFY_TOTAL_MS */
};
struct verify_result {
	enum verify_outcome outcome;
	char driver[ALG_NAME_MAX]; /* bound to the test mapping by its reference count; "" = could
	                              not be told */
	bool ciphertext_checked; /* false: libcrypto lacks the cipher; then only the round trip was,
	                            and that data changed */
	uint64_t operations;     /* encryption operations done, both directions */
	uint64_t sector; /* first wrong one, in 512-byte sectors; with wrong-data, read-back */
	unsigned int request_size; /* bytes, of the request that was wrong or hung; 0 = none was
	                              under way */
	unsigned int ms;           /* wall time */
	char text[256];            /* one sentence with the values found */
	char left_behind[192]; /* "process 812, mapping hwluks-verify-k3…, /dev/loop0"; "" = nothing
	                        */
};
/* Always fills res and returns within total_ms and five seconds. */
void verify_driver(const struct verify_request *rq, struct verify_result *res);

/*
 * Specs that exercise each mode of the row's hardware (cbc, xts, ecb) at its smallest hardware key
 * size, for when no volume's spec is at hand. Returns the number written, at most max.
 */
size_t verify_specs(const struct accel *a, kver kernel, struct cipher_spec *out, size_t max);
