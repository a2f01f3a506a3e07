/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * dm-crypt mappings through libdevmapper: throw-away ones, and the facts of open ones.
 * Must not know LUKS headers or policies. Nothing here depends on udev, and no udev rule touches a
 * throw-away mapping.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/cipher_spec.h"
#include "core/crypt_table.h"
#include "util/util.h"

#define MAPPING_NAME_MAX 128 /* DM_NAME_LEN, linux/dm-ioctl.h */
#define MAPPING_UUID_MAX 129 /* DM_UUID_LEN */

/*
 * Opens a device by its number, O_CLOEXEC added: through `path` when that is this device, else
 * through a node made for the moment. Never a plain file. type is S_IFBLK or S_IFCHR. Descriptor or
 * negative errno.
 */
int device_open(mode_t type, dev_t dev, const char *path, int oflags);

/* 0, or -ENODEV / -EACCES with one sentence in why (NULL: not wanted): no device-mapper, no right
 * to use it. */
int mapping_available(char *why, size_t size);

struct mapping_request {
	const char *prefix; /* the name is this, '-' and 8 random letters; "hwluks-verify" */
	const struct cipher_spec *spec; /* key_bits and sector_size (0 = 512) are taken from here */
	const char *cipher;             /* text for the table instead of spec's own
	                                   ("capi:xts(ecb-aes-geode)-plain64"), or NULL */
	const void *key;                /* spec->key_bits / 8 bytes */
	const char *device; /* path or "major:minor" below; NULL = a second mapping of the dm zero
	                       target */
	uint64_t device_offset; /* 512-byte sectors */
	uint64_t iv_offset;     /* 512-byte sectors */
	uint64_t sectors;       /* size, 512-byte sectors */
	unsigned int flags;     /* CRYPT_FLAG_* */
	bool readonly;
};
struct mapping {
	char name[MAPPING_NAME_MAX];
	char zero_name[MAPPING_NAME_MAX]; /* of the zero target below; "" when none */
	dev_t dev;
};
/*
 * Creates a mapping under a random name. The key text for the kernel lives in memory that is wiped
 * here, and the ioctl buffers are marked secure. Can block for ever on a hung engine: call it in a
 * child with a limit. 0 or negative errno, then nothing is left and why (may be NULL) says what the
 * kernel or the library said. -ENOENT: no driver for the cipher; -EINVAL: cipher, IV or key length
 * refused; -ENOTBLK: no zero target.
 */
int mapping_create(const struct mapping_request *rq, struct mapping *out, char *why, size_t size);
/*
 * Opens the mapping's block device, O_CLOEXEC added. What is returned is a block device with the
 * mapping's number, or an error: never a plain file. Works where neither udev nor devtmpfs made a
 * node. Descriptor or negative errno.
 */
int mapping_open(const struct mapping *m, int oflags);
/*
 * Removes it, trying again for up to a second while somebody has it open; then the kernel is asked
 * to remove it with its last user, and -EBUSY returned. 0 (also when it is gone already) or
 * negative errno.
 */
int mapping_remove(const struct mapping *m);
/* Has the kernel remove it when its last user closes it, also when that user dies. To be called
 * while it is open. */
int mapping_remove_with_last_user(const struct mapping *m);

/*
 * After a reload that failed: drops a table that waits to become live and lets I/O go on, so that the
 * live table is the only one. 0 or negative errno.
 */
int mapping_settle(const char *name);

/* What is known of one mapping whose (only) target is crypt. No key is in here. */
struct mapping_facts {
	char name[MAPPING_NAME_MAX];
	char uuid[MAPPING_UUID_MAX]; /* "CRYPT-LUKS2-…-name"; "" when it has none */
	dev_t dev;
	unsigned int open_count;
	uint32_t event_nr;
	bool readonly, suspended;
	uint64_t sectors;         /* 512-byte */
	unsigned int targets;     /* crypt targets in the table; more than 1 while a volume is
	                             re-encrypted */
	struct crypt_table table; /* of the first crypt target */
	struct cipher_spec spec;  /* table.cipher parsed; key_bits and sector_size filled */
	bool spec_known;          /* table.cipher could be parsed */
};
/* 0; -ENXIO no such mapping; -EMEDIUMTYPE it is not a crypt mapping; or another negative errno. */
int mapping_get(const char *name, struct mapping_facts *out);

struct mapping_list {
	struct mapping_facts *v;
	size_t n;
};
/* All open crypt mappings. 0 or negative errno (-ENODEV, -EACCES as mapping_available). */
int mapping_list(struct mapping_list *out);
void mapping_list_free(struct mapping_list *l);
/*
 * The crypt lines of what `dmsetup table` prints, for recordings: "home: 0 2097152 crypt aes-xts-plain64 …". The text is
 * changed: keys in it, which dmsetup shows as zeros, are overwritten. Lines of other targets and malformed ones are left
 * out; numbers and uuids stay unknown. Returns how many lines were malformed.
 */
size_t mapping_list_parse(char *text, struct mapping_list *out);
/* The other way: table lines without keys that mapping_list_parse reads back as the same facts. */
void mapping_list_text(const struct mapping_list *l, struct strbuf *out);
