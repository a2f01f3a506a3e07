/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A recording as a tar archive: POSIX.1-1988 ustar headers, and GNU's 'L' and 'K' records for names over 255 and links over
 * 100 bytes. Reads files, links and directories only, all in memory. Must not know what is in the files.
 */
#include "core/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512u

struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], chksum[8], typeflag, linkname[100];
	char magic[6], version[2], uname[32], gname[32], devmajor[8], devminor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct tar_header) == BLOCK, "a tar header is one block");

/* Sum of all bytes, those of the checksum itself counted as blanks. */
static unsigned int header_sum(const struct tar_header *h)
{
	const unsigned char *p = (const unsigned char *)h;
	size_t from = offsetof(struct tar_header, chksum), to = from + sizeof(h->chksum);
	unsigned int sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= from && i < to ? ' ' : p[i];
	return sum;
}

/* --- writing ------------------------------------------------------------------------------------------ */

static void add_blocks(struct strbuf *tar, const char *data, size_t len)
{
	static const char zeros[BLOCK];

	if (len)
		strbuf_add(tar, data, len);
	strbuf_add(tar, zeros, (BLOCK - len % BLOCK) % BLOCK);
}

/* Copies a text of at most `size` bytes into a field that then has no terminator. */
static void fill(char *field, size_t size, const char *s)
{
	size_t n = strlen(s);

	memcpy(field, s, n < size ? n : size);
}

static void add_header(struct strbuf *tar, char type, const char *prefix, const char *name, const char *link, size_t len)
{
	struct tar_header h = { .typeflag = type, .magic = "ustar", .version = { '0', '0' } };

	fill(h.prefix, sizeof(h.prefix), prefix);
	fill(h.name, sizeof(h.name), name);
	fill(h.linkname, sizeof(h.linkname), link);
	snprintf(h.mode, sizeof(h.mode), "%07o", type == '5' ? 0755u : 0644u);
	snprintf(h.uid, sizeof(h.uid), "%07o", 0u);
	snprintf(h.gid, sizeof(h.gid), "%07o", 0u);
	snprintf(h.size, sizeof(h.size), "%011llo", (unsigned long long)len);
	snprintf(h.mtime, sizeof(h.mtime), "%011o", 0u);
	snprintf(h.chksum, sizeof(h.chksum), "%06o", header_sum(&h));
	h.chksum[7] = ' ';
	strbuf_add(tar, (const char *)&h, sizeof(h));
}

static void add_long(struct strbuf *tar, char type, const char *text)
{
	add_header(tar, type, "", "././@LongLink", "", strlen(text) + 1);
	add_blocks(tar, text, strlen(text) + 1);
}

static void write_entry(const struct recording_entry *e, struct strbuf *tar)
{
	char type = e->kind == RECORDED_DIR ? '5' : e->kind == RECORDED_LINK ? '2' : '0';
	const char *link = type == '2' ? e->data : "", *name = e->path + 1;
	size_t n = strlen(name), len = type == '0' ? e->len : 0;
	cleanup_free char *prefix = NULL;

	for (const char *p = name; n > 100 && (p = strchr(p, '/')); p++)
		if (p - name <= 155 && strlen(p + 1) <= 100) {
			prefix = xstrndup(name, (size_t)(p - name));
			name = p + 1;
			break;
		}
	if (strlen(name) > 100)
		add_long(tar, 'L', name);
	if (strlen(link) > 100)
		add_long(tar, 'K', link);
	add_header(tar, type, prefix ? prefix : "", name, link, len);
	if (type == '0')
		add_blocks(tar, e->data ? e->data : "", len);
}

/* Directories in which something lies need no entry of their own. */
static bool is_empty_dir(const struct recording *r, size_t at)
{
	size_t n = strlen(r->v[at].path);

	for (size_t i = at + 1; i < r->n; i++)
		if (!strncmp(r->v[i].path, r->v[at].path, n) && r->v[i].path[n] == '/')
			return false;
	return true;
}

void recording_to_tar(const struct recording *r, struct strbuf *tar)
{
	static const char end[2 * BLOCK];

	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].kind != RECORDED_DIR || is_empty_dir(r, i))
			write_entry(&r->v[i], tar);
	strbuf_add(tar, end, sizeof(end));
}

/* --- reading -------------------------------------------------------------------------------------------- */

struct reader {
	const char *at, *end;
	struct recording *r;
	char *name, *link; /* of a 'L' or 'K' record, for the entry that follows */
	struct strbuf *why;
};

/* "'NAME' WHAT"; without a name only the sentence. */
static int refuse(const struct reader *d, const char *name, const char *what)
{
	cleanup_free char *clean = name ? text_clean(name) : NULL;

	if (d->why && clean)
		strbuf_printf(d->why, "'%s' %s", clean, what);
	else if (d->why)
		strbuf_printf(d->why, "%s", what);
	return -EINVAL;
}

/* A number in octal digits that fills its field, blanks and zeros at the end allowed. */
static int octal(const char *field, size_t size, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;
	size_t i = 0;

	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++) {
		n = n * 8 + (uint64_t)(field[i] - '0');
		if (n > max)
			return -ERANGE;
	}
	for (; i < size; i++)
		if (field[i] && field[i] != ' ')
			return -EINVAL;
	*out = n;
	return 0;
}

/* "./proc/crypto/" → "/proc/crypto"; "." → "". NULL when it is absolute. */
static char *path_of(const char *name)
{
	char *path;
	size_t n;

	if (*name == '/')
		return NULL;
	while (str_starts(name, "./"))
		name += 2 + strspn(name + 2, "/");
	if (!strcmp(name, ".") || !*name)
		return xstrdup("");
	path = xasprintf("/%s", name);
	for (n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	return path;
}

static char *entry_name(struct reader *d, const struct tar_header *h)
{
	char *name = d->name;

	d->name = NULL;
	if (name)
		return name;
	if (!memcmp(h->magic, "ustar\0", 6) && *h->prefix)
		return xasprintf("%.155s/%.100s", h->prefix, h->name);
	return xstrndup(h->name, strnlen(h->name, sizeof(h->name)));
}

static int add_entry(struct reader *d, const struct tar_header *h, const char *data, size_t len)
{
	cleanup_free char *name = entry_name(d, h);
	cleanup_free char *path = path_of(name), *link = d->link;
	enum recording_kind kind = h->typeflag == '5' ? RECORDED_DIR : h->typeflag == '2' ? RECORDED_LINK : RECORDED_FILE;
	const struct recording_entry *old;
	int err;

	d->link = NULL;
	if (!path)
		return refuse(d, name, "is an absolute name; names in a recording are relative.");
	if (!*path && kind == RECORDED_DIR)
		return 0;
	if (kind == RECORDED_LINK && !link)
		link = xstrndup(h->linkname, strnlen(h->linkname, sizeof(h->linkname)));
	if (kind == RECORDED_LINK && (!*link || strlen(link) >= PATH_MAX))
		return refuse(d, name, "is a link without a usable text.");
	if (kind != RECORDED_DIR && !recording_find(d->r, path, false, &old))
		return refuse(d, name, "is in it twice.");
	err = recording_put(d->r, path, kind, kind == RECORDED_LINK ? link : data, kind == RECORDED_LINK ? strlen(link) : len);
	switch (err) {
	case 0:
		return 0;
	case -ENOTDIR:
		return refuse(d, name, "lies below something that is no directory.");
	case -ENOSPC:
		return refuse(d, name, "is one entry too many.");
	default:
		return refuse(d, name, "is no name that a recording can hold.");
	}
}

static int read_block(struct reader *d, const struct tar_header *h)
{
	uint64_t sum, len, left = (uint64_t)(d->end - d->at), whole;
	const char *data = d->at;

	if (octal(h->chksum, sizeof(h->chksum), UINT32_MAX, &sum) || sum != header_sum(h))
		return refuse(d, NULL, "It is no tar archive, or a damaged one.");
	if (octal(h->size, sizeof(h->size), RECORDING_FILE_MAX, &len))
		return refuse(d, NULL, "An entry is larger than 4 MiB.");
	if (len > left)
		return refuse(d, NULL, "It ends in the middle of a file.");
	whole = len + (BLOCK - len % BLOCK) % BLOCK;
	d->at += whole < left ? whole : left;
	switch (h->typeflag) {
	case 'L':
		free(d->name);
		d->name = xstrndup(data, len);
		return 0;
	case 'K':
		free(d->link);
		d->link = xstrndup(data, len);
		return 0;
	case '\0':
	case '0':
	case '2':
	case '5':
		return add_entry(d, h, data, (size_t)len);
	default:
		return refuse(d, NULL, "An entry is neither file, link nor directory (when packing by hand: tar --format=gnu).");
	}
}

static bool all_zero(const char *p, size_t n)
{
	while (n && !*p)
		p++, n--;
	return !n;
}

int recording_from_tar(const char *tar, size_t len, struct recording *r, struct strbuf *why)
{
	struct reader d = { .at = tar, .end = tar + len, .r = r, .why = why };
	int err = 0;

	*r = (struct recording){ 0 };
	if (len > RECORDING_TAR_MAX)
		err = refuse(&d, NULL, "It is larger than 64 MiB.");
	while (!err) {
		struct tar_header h;

		if ((size_t)(d.end - d.at) < BLOCK) {
			err = refuse(&d, NULL, r->n ? "It ends without the empty blocks that end a tar archive." :
						       "It is no tar archive, or a damaged one.");
			break;
		}
		memcpy(&h, d.at, sizeof(h));
		d.at += BLOCK;
		if (all_zero((const char *)&h, sizeof(h)))
			break;
		err = read_block(&d, &h);
	}
	if (!err && !r->n)
		err = refuse(&d, NULL, "It holds nothing.");
	free(d.name);
	free(d.link);
	if (err)
		recording_free(r);
	return err;
}
