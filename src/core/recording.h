/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A recorded machine in memory: the files, links and directories that were read, to and from a tar archive, and what is
 * taken out of it before anybody else sees it. Pure: bytes in, bytes out; must not open anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/util.h"

#define RECORDING_FILE_MAX (4u << 20)	/* bytes of one file */
#define RECORDING_TAR_MAX (64u << 20)	/* bytes of the whole archive */
#define RECORDING_ENTRIES_MAX 20000u
#define RECORDING_PATH_MAX 1024 /* bytes of one path, its terminator included */

enum recording_kind { RECORDED_DIR, RECORDED_FILE, RECORDED_LINK };
struct recording_entry {
	char *path; /* "/proc/crypto": absolute, no "." or "..", no link in any part but the last */
	enum recording_kind kind;
	char *data; /* contents of a file, text of a link; always terminated, NULL for a directory */
	size_t len;
	bool seen; /* a file or link whose contents were read, not only its name in a directory */
};
struct recording {
	struct recording_entry *v; /* in the order in which they were read, parents first */
	size_t n;
	uint32_t *slot; /* index of v by path */
	size_t slots;
};
void recording_free(struct recording *r);

/*
 * Adds an entry and the directories above it. What is there already stays, unless it is only a name or holds less. 0;
 * -EINVAL: no absolute path without "." and ".."; -ENOTDIR: something above is no directory; -EFBIG; -ENOSPC.
 */
int recording_put(struct recording *r, const char *path, enum recording_kind kind, const char *data, size_t len);
/* Puts down that something of this name is there, of which nothing was read. */
int recording_put_name(struct recording *r, const char *path, enum recording_kind kind);
/*
 * The entry that a path leads to; links (the last one too when `follow`) and ".." are followed inside the recording only.
 * 0 with *out, -ENOENT, -ENOTDIR, -ELOOP, -ENAMETOOLONG.
 */
int recording_find(const struct recording *r, const char *path, bool follow, const struct recording_entry **out);
/* Names in a directory, in the order of the recording. */
void recording_list(const struct recording *r, const struct recording_entry *dir, struct strv *names);

/* A tar archive (ustar, with GNU's records for long names) that `tar` unpacks too. */
void recording_to_tar(const struct recording *r, struct strbuf *tar);
/*
 * The other way, from an archive that nobody vouches for. 0, or -EINVAL with a sentence in why: then *r is empty.
 */
int recording_from_tar(const char *tar, size_t len, struct recording *r, struct strbuf *why);

/*
 * Takes out what names a machine or its owner: UUIDs, MAC addresses, serial numbers, labels, key files, long hexadecimal
 * numbers, the values of kernel options that hwluks does not know, and each of `words` (host names). The same thing becomes
 * the same placeholder everywhere ("uuid-1"), paths included.
 */
void recording_redact(struct recording *r, const struct strv *words);
