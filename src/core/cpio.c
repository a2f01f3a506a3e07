/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Parser of cpio archives, a state machine over pieces. Reads names and few texts; must not know what an image needs.
 */
#include "core/cpio.h"

#include <stdlib.h>
#include <string.h>

#define HEADER 110u /* "070701" and thirteen numbers of eight hexadecimal digits */
#define ENTRIES_MAX (1u << 20)

/* Number i of the header. Returns false when it is no hexadecimal number. */
static bool number(const char *head, unsigned int i, uint32_t *out)
{
	const char *p = head + 6 + 8 * i;
	uint32_t v = 0;

	for (int k = 0; k < 8; k++) {
		char c = p[k];
		int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

		if (d < 0)
			return false;
		v = v << 4 | (uint32_t)d;
	}
	*out = v;
	return true;
}

/* Bytes up to the next multiple of four. */
static uint64_t padding(const struct cpio *c)
{
	return (4 - c->at % 4) % 4;
}

static void begin(struct cpio *c)
{
	c->state = CPIO_HEADER;
	c->have = 0;
}

static void header_done(struct cpio *c)
{
	uint32_t size, name_len;

	if ((memcmp(c->head, "070701", 6) && memcmp(c->head, "070702", 6)) || !number(c->head, 6, &size) ||
	    !number(c->head, 11, &name_len) || !name_len || name_len >= CPIO_NAME_MAX || c->n >= ENTRIES_MAX) {
		c->state = CPIO_BROKEN;
		return;
	}
	c->size = size;
	c->name_len = name_len;
	c->have = 0;
	c->state = CPIO_NAME;
}

static const char *plain_name(const char *name)
{
	while (*name == '/' || (name[0] == '.' && name[1] == '/'))
		name++;
	return name;
}

static void name_done(struct cpio *c)
{
	struct cpio_entry *e;

	c->head[c->name_len - 1] = '\0';
	if (!strcmp(c->head, "TRAILER!!!")) {
		c->state = CPIO_END;
		return;
	}
	if (!(c->n & (c->n - 1)))
		c->v = xreallocarray(c->v, c->n ? 2 * c->n : 1, sizeof(*c->v));
	e = &c->v[c->n++];
	*e = (struct cpio_entry){ .name = xstrdup(plain_name(c->head)) };
	if (c->size <= CPIO_TEXT_MAX && c->keep && c->keep(e->name))
		e->text = xcalloc(c->size + 1, 1);
	/* the padding behind the name, then the data */
	c->left = padding(c);
	c->state = CPIO_PADDING;
}

static void padding_done(struct cpio *c)
{
	c->left = c->size;
	if (c->size)
		c->state = CPIO_DATA;
	else
		begin(c);
}

static void data_done(struct cpio *c)
{
	c->size = 0;
	c->left = padding(c);
	c->state = CPIO_PADDING;
}

/* Collects bytes of header or name; returns how many it took. */
static size_t collect(struct cpio *c, const char *p, size_t n, size_t want, void (*done)(struct cpio *c))
{
	size_t take = want - c->have < n ? want - c->have : n;

	memcpy(c->head + c->have, p, take);
	c->have += take;
	c->at += take;
	if (c->have == want)
		done(c);
	return take;
}

static size_t pass(struct cpio *c, const char *p, size_t n)
{
	struct cpio_entry *e = &c->v[c->n - 1];
	size_t take = c->left < n ? (size_t)c->left : n;

	if (c->state == CPIO_DATA && e->text)
		memcpy(e->text + (c->size - c->left), p, take);
	c->left -= take;
	c->at += take;
	return take;
}

size_t cpio_feed(struct cpio *c, const char *p, size_t n)
{
	size_t done = 0;

	for (;;) {
		switch (c->state) {
		case CPIO_HEADER:
			done += collect(c, p + done, n - done, HEADER, header_done);
			break;
		case CPIO_NAME:
			done += collect(c, p + done, n - done, c->name_len, name_done);
			break;
		case CPIO_DATA:
			done += pass(c, p + done, n - done);
			if (!c->left)
				data_done(c);
			break;
		case CPIO_PADDING:
			done += pass(c, p + done, n - done);
			if (!c->left)
				padding_done(c);
			break;
		default:
			return done;
		}
		if (done == n && !(c->state == CPIO_PADDING && !c->left))
			return done;
	}
}

void cpio_next(struct cpio *c)
{
	begin(c);
	c->at = 0;
}

static bool is_called(const struct cpio_entry *e, const char *name)
{
	return !strcmp(e->name, name) || (str_starts(e->name, "usr/") && !strcmp(e->name + 4, name));
}

const struct cpio_entry *cpio_find(const struct cpio *c, const char *name)
{
	if (str_starts(name, "usr/"))
		name += 4;
	for (size_t i = c->n; i-- > 0;)
		if (is_called(&c->v[i], name))
			return &c->v[i];
	return NULL;
}

void cpio_free(struct cpio *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].name);
		free(c->v[i].text);
	}
	free(c->v);
	*c = (struct cpio){ 0 };
}
