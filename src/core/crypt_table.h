/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * One dm-crypt table line taken apart in place; its key is overwritten and never copied.
 * Pure: text in, struct out; must not know where the text came from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Optional arguments without a value, bits of crypt_table.flags. */
enum crypt_flags {
	CRYPT_FLAG_ALLOW_DISCARDS = 1 << 0,
	CRYPT_FLAG_SAME_CPU_CRYPT = 1 << 1,
	CRYPT_FLAG_SUBMIT_FROM_CRYPT_CPUS = 1 << 2,
	CRYPT_FLAG_NO_READ_WORKQUEUE = 1 << 3,
	CRYPT_FLAG_NO_WRITE_WORKQUEUE = 1 << 4,
	CRYPT_FLAG_HIGH_PRIORITY = 1 << 5,    /* 6.12 and later */
	CRYPT_FLAG_IV_LARGE_SECTORS = 1 << 6, /* IV counts encryption sectors, not 512-byte ones */
};

struct crypt_table {
	char cipher[256]; /* as in the table: "aes-xts-plain64", "capi:…"; spec_parse takes it */
	unsigned int key_bits;    /* whole volume key, key count included; 0 = no key set ("-") */
	bool keyring;             /* the table refers to a kernel key instead of carrying it */
	char key_type[16];        /* with keyring: "logon", "user", "encrypted", "trusted" */
	uint64_t iv_offset;       /* 512-byte sectors */
	char device[256];         /* "253:1", or a path */
	uint64_t offset;          /* on device, 512-byte sectors */
	unsigned int flags;       /* CRYPT_FLAG_* */
	unsigned int sector_size; /* bytes; 512 when the table does not say */
	unsigned int tag_size;    /* integrity:N:type, bytes; 0 = none */
	char integrity[64];       /* type of it: "aead", "none", "hmac(sha256)"; "" = none */
	bool unknown_args;        /* there were optional arguments this parser does not know */
};

/*
 * Parses the target parameters (what follows "crypt" in a table line). `params` is changed: words
 * are cut, and every byte of a key is overwritten with '0' before anything else can fail, whatever
 * is wrong with the rest. 0, or -EINVAL (then *out is all zero).
 */
int crypt_table_parse(char *params, struct crypt_table *out);

/* Name of one flag bit as dm-crypt and cryptsetup write it, "allow_discards"; NULL for none. */
const char *crypt_flag_name(unsigned int flag);
/* All flags as "allow_discards same_cpu_crypt", "" for none. Returns buf. */
const char *crypt_flags_text(unsigned int flags, char *buf, size_t size);
