/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* The kernel's list of crypto algorithms: /proc/crypto text → records. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CRYPTO_MAX_ALG_NAME is 128 in 4.12 and later (include/uapi/linux/cryptouser.h). */
#define ALG_NAME_MAX 128

/* cru_flags bits, linux/crypto.h; equal in 5.10 .. 7.3 */
#define ALG_FLAG_ASYNC            0x00000080u
#define ALG_FLAG_NEED_FALLBACK    0x00000100u
#define ALG_FLAG_TESTED           0x00000400u
#define ALG_FLAG_INSTANCE         0x00000800u
#define ALG_FLAG_KERN_DRIVER_ONLY 0x00001000u
#define ALG_FLAG_INTERNAL         0x00002000u
#define ALG_FLAG_ALLOCATES_MEMORY 0x00010000u

enum alg_type {
	ALG_OTHER, /* larval, and kinds this table does not know */
	ALG_CIPHER,
	ALG_SKCIPHER,
	ALG_LSKCIPHER,
	ALG_AEAD,
	ALG_HASH,
	ALG_RNG,
	ALG_COMPRESS,
	ALG_AKCIPHER,
	ALG_KPP,
};
enum alg_selftest {
	SELFTEST_UNSTATED,
	SELFTEST_PASSED,
	SELFTEST_UNKNOWN, /* as /proc/crypto says it: failed or never run */
};

struct alg {
	char name[ALG_NAME_MAX];   /* cbc(aes) */
	char driver[ALG_NAME_MAX]; /* cbc-aes-geode */
	char module[64];           /* geode_aes; "kernel" when built in */
	int priority, refcnt;      /* refcnt 1 = registered and idle */
	enum alg_selftest selftest;
	enum alg_type type;
	bool internal, async;
	/* bytes; 0 = not listed */
	unsigned int blocksize, min_keysize, max_keysize, ivsize;
	unsigned int chunksize, walksize, statesize, digestsize;
	bool flags_known; /* NETLINK_CRYPTO was asked */
	uint32_t flags;   /* ALG_FLAG_* when flags_known */
};

struct alg_list {
	struct alg *v;
	size_t n;
};

/*
 * Parses a whole /proc/crypto. Unknown fields are ignored, blank lines end a record, a record
 * without name and driver is dropped. Never fails on content; returns the number of records dropped
 * as malformed.
 */
size_t proc_crypto_parse(const char *text, size_t len, struct alg_list *out);
void alg_list_free(struct alg_list *l);
/* First record with this driver name, or NULL. */
const struct alg *alg_by_driver(const struct alg_list *l, const char *driver);
