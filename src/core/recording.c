/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A recorded machine in memory: entries by path, links resolved inside it.
 * Pure; must not know tar or what the files mean.
 */
#include "core/recording.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MAX 40 /* as the kernel's own limit */

void recording_free(struct recording *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].path);
		free(r->v[i].data);
	}
	free(r->v);
	free(r->slot);
	*r = (struct recording){ 0 };
}

/* --- the index ------------------------------------------------------------------------------------ */

static size_t path_hash(const char *s)
{
	size_t h = 5381;

	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h;
}

/* The slot of this path, or the free one where it belongs. There is always a free one. */
static uint32_t *slot_of(const struct recording *r, const char *path)
{
	for (size_t h = path_hash(path);; h++) {
		uint32_t *at = &r->slot[h & (r->slots - 1)];

		if (!*at || !strcmp(r->v[*at - 1].path, path))
			return at;
	}
}

static struct recording_entry *entry_at(const struct recording *r, const char *path)
{
	uint32_t at = r->slots ? *slot_of(r, path) : 0;

	return at ? &r->v[at - 1] : NULL;
}

static void grow_index(struct recording *r)
{
	if (r->slots > 2 * r->n)
		return;
	free(r->slot);
	r->slots = r->slots ? 4 * r->slots : 256;
	r->slot = xcalloc(r->slots, sizeof(*r->slot));
	for (size_t i = 0; r->v && i < r->n; i++)
		*slot_of(r, r->v[i].path) = (uint32_t)i + 1;
}

static struct recording_entry *add_entry(struct recording *r, const char *path, enum recording_kind kind)
{
	struct recording_entry *e;

	grow_index(r);
	*slot_of(r, path) = (uint32_t)r->n + 1;
	if (!r->v || r->n % 64 == 0)
		r->v = xreallocarray(r->v, r->n + 64, sizeof(*r->v));
	e = &r->v[r->n++];
	*e = (struct recording_entry){ .path = xstrdup(path), .kind = kind };
	return e;
}

/* --- adding --------------------------------------------------------------------------------------- */

static bool good_path(const char *path)
{
	if (*path != '/' || strlen(path) >= RECORDING_PATH_MAX)
		return false;
	for (const char *p = path; *p == '/'; p += strcspn(p, "/")) {
		size_t n = strcspn(++p, "/");

		if (!n || n > NAME_MAX || (n == 1 && *p == '.') || (n == 2 && !strncmp(p, "..", 2)))
			return false;
	}
	return true;
}

/* The directories above, from the top down. */
static int add_parents(struct recording *r, const char *path)
{
	char up[PATH_MAX];

	str_copy(up, sizeof(up), path);
	for (char *p = strchr(up + 1, '/'); p; p = strchr(p + 1, '/')) {
		struct recording_entry *e;

		*p = '\0';
		e = entry_at(r, up);
		if (!e)
			add_entry(r, up, RECORDED_DIR);
		else if (e->kind == RECORDED_FILE && !e->seen)
			e->kind = RECORDED_DIR; /* so far only a name */
		else if (e->kind != RECORDED_DIR)
			return -ENOTDIR;
		*p = '/';
	}
	return 0;
}

static int put(struct recording *r, const char *path, enum recording_kind kind, const char *data, size_t len, bool seen)
{
	struct recording_entry *e;
	int err;

	if (!good_path(path))
		return -EINVAL;
	if (len > RECORDING_FILE_MAX)
		return -EFBIG;
	if (r->n >= RECORDING_ENTRIES_MAX)
		return -ENOSPC;
	err = add_parents(r, path);
	if (err)
		return err;
	e = entry_at(r, path);
	if (e && (!seen || e->kind == RECORDED_DIR || (e->seen && (e->kind != kind || e->len >= len))))
		return 0;
	if (!e)
		e = add_entry(r, path, kind);
	e->kind = kind;
	e->seen = seen;
	if (kind == RECORDED_DIR)
		return 0;
	free(e->data);
	e->data = xcalloc(len + 1, 1);
	if (len)
		memcpy(e->data, data, len);
	e->len = len;
	return 0;
}

int recording_put(struct recording *r, const char *path, enum recording_kind kind, const char *data, size_t len)
{
	return put(r, path, kind, data, len, true);
}

int recording_put_name(struct recording *r, const char *path, enum recording_kind kind)
{
	return put(r, path, kind, "", 0, false);
}

/* --- looking up ----------------------------------------------------------------------------------- */

/* Puts a link's text in front of what is left of the path. */
static int splice(char *rest, size_t size, const char *link)
{
	size_t n = strlen(link), m = strlen(rest);

	if (n + m + 2 > size)
		return -ENAMETOOLONG;
	memmove(rest + n + 1, rest, m + 1);
	memcpy(rest, link, n);
	rest[n] = '/';
	return 0;
}

/* Takes the first component off `rest` into `name`; its length, 0 at the end, negative when it is too long. */
static int next_component(char *rest, char *name)
{
	char *p = rest + strspn(rest, "/");
	size_t n = strcspn(p, "/");

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, p, n);
	name[n] = '\0';
	memmove(rest, p + n, strlen(p + n) + 1);
	return (int)n;
}

static void go_up(char *done)
{
	char *slash = strrchr(done, '/');

	if (slash)
		*slash = '\0';
}

int recording_find(const struct recording *r, const char *path, bool follow, const struct recording_entry **out)
{
	char done[PATH_MAX] = "", rest[PATH_MAX], name[NAME_MAX + 1];
	const struct recording_entry *e = NULL;
	int links = 0, n, err;

	if (!str_copy(rest, sizeof(rest), path))
		return -ENAMETOOLONG;
	while ((n = next_component(rest, name)) > 0) {
		size_t base = strlen(done);

		if (e && e->kind != RECORDED_DIR)
			return -ENOTDIR;
		if (!strcmp(name, "."))
			continue;
		if (!strcmp(name, "..")) {
			go_up(done);
			e = entry_at(r, done);
			continue;
		}
		if (base + (size_t)n + 2 > sizeof(done))
			return -ENAMETOOLONG;
		done[base] = '/';
		memcpy(done + base + 1, name, (size_t)n + 1);
		e = entry_at(r, done);
		if (!e)
			return -ENOENT;
		if (e->kind != RECORDED_LINK || (!follow && !rest[strspn(rest, "/")]))
			continue;
		if (++links > LINKS_MAX)
			return -ELOOP;
		err = splice(rest, sizeof(rest), e->data ? e->data : "");
		if (err)
			return err;
		done[e->data && *e->data == '/' ? 0 : base] = '\0';
		e = entry_at(r, done);
	}
	*out = e;
	return n < 0 ? n : e ? 0 : -ENOENT;
}

void recording_list(const struct recording *r, const struct recording_entry *dir, struct strv *names)
{
	size_t n = strlen(dir->path);

	for (size_t i = 0; i < r->n; i++) {
		const char *p = r->v[i].path;

		if (!strncmp(p, dir->path, n) && p[n] == '/' && !strchr(p + n + 1, '/'))
			strv_add(names, p + n + 1);
	}
}
