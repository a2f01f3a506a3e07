/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * /proc/crypto text → records, every record kind of kernels 5.10 to 7.3 and the old 2.6 ones.
 * Pure; must not know what an algorithm is good for.
 */
#include "core/proc_crypto.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* A stretch of the text; not terminated. */
struct span {
	const char *s;
	size_t n;
};

static bool span_is(struct span a, const char *s)
{
	return a.n == strlen(s) && !memcmp(a.s, s, a.n);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct span span_trim(struct span a)
{
	while (a.n && is_blank(*a.s)) {
		a.s++;
		a.n--;
	}
	while (a.n && is_blank(a.s[a.n - 1]))
		a.n--;
	return a;
}

/* One record while its lines come in. */
struct record {
	struct alg alg;
	bool any; /* something other than blank lines was seen */
	bool bad; /* a name that does not fit, or holds a NUL */
};

/* Copies what fits; a cut or torn name spoils the record, since it would be taken for another one.
 */
static void take_name(struct record *r, char *dst, size_t size, struct span v)
{
	size_t n = v.n < size ? v.n : size - 1;

	if (n < v.n || memchr(v.s, '\0', n))
		r->bad = true;
	memcpy(dst, v.s, n);
	dst[n] = '\0';
}

/* Decimal, whole value, at most INT_MAX; anything else leaves *out alone. */
static bool take_number(struct span v, unsigned int *out)
{
	unsigned int x = 0;

	if (!v.n)
		return false;
	for (size_t i = 0; i < v.n; i++) {
		unsigned int d = (unsigned int)(unsigned char)v.s[i] - '0';

		if (d > 9 || x > (INT_MAX - d) / 10)
			return false;
		x = x * 10 + d;
	}
	*out = x;
	return true;
}

static void take_int(struct span v, int *out)
{
	unsigned int x;
	bool minus = v.n && *v.s == '-';

	if (minus) {
		v.s++;
		v.n--;
	}
	if (take_number(v, &x))
		*out = minus ? -(int)x : (int)x;
}

/* "type" values; the second group is gone from today's kernels (blkcipher and friends: 5.5). */
static enum alg_type type_from(struct span v)
{
	static const struct {
		const char *name;
		enum alg_type type;
	} types[] = {
		{ "skcipher", ALG_SKCIPHER },
		{ "shash", ALG_HASH },
		{ "ahash", ALG_HASH },
		{ "cipher", ALG_CIPHER },
		{ "aead", ALG_AEAD },
		{ "lskcipher", ALG_LSKCIPHER },
		{ "rng", ALG_RNG },
		{ "scomp", ALG_COMPRESS },
		{ "acomp", ALG_COMPRESS },
		{ "compression", ALG_COMPRESS },
		{ "akcipher", ALG_AKCIPHER },
		{ "sig", ALG_AKCIPHER },
		{ "kpp", ALG_KPP },

		{ "blkcipher", ALG_SKCIPHER },
		{ "ablkcipher", ALG_SKCIPHER },
		{ "givcipher", ALG_SKCIPHER },
		{ "digest", ALG_HASH },
		{ "hash", ALG_HASH },
		{ "nivaead", ALG_AEAD },
		{ "pcompress", ALG_COMPRESS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (span_is(v, types[i].name))
			return types[i].type;
	return ALG_OTHER; /* larval, and whatever comes next */
}

static void take_sizes(struct alg *a, struct span key, struct span v)
{
	const struct {
		const char *key;
		unsigned int *out;
	} fields[] = {
		{ "blocksize", &a->blocksize },     { "min keysize", &a->min_keysize },
		{ "max keysize", &a->max_keysize }, { "ivsize", &a->ivsize },
		{ "chunksize", &a->chunksize },     { "walksize", &a->walksize },
		{ "statesize", &a->statesize },     { "digestsize", &a->digestsize },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (span_is(key, fields[i].key)) {
			take_number(v, fields[i].out);
			return;
		}
}

static void take_field(struct record *r, struct span key, struct span v)
{
	struct alg *a = &r->alg;

	if (span_is(key, "name"))
		take_name(r, a->name, sizeof(a->name), v);
	else if (span_is(key, "driver"))
		take_name(r, a->driver, sizeof(a->driver), v);
	else if (span_is(key, "module"))
		take_name(r, a->module, sizeof(a->module), v);
	else if (span_is(key, "priority"))
		take_int(v, &a->priority);
	else if (span_is(key, "refcnt"))
		take_int(v, &a->refcnt);
	else if (span_is(key, "selftest"))
		a->selftest = span_is(v, "passed") ? SELFTEST_PASSED : SELFTEST_UNKNOWN;
	else if (span_is(key, "internal"))
		a->internal = span_is(v, "yes");
	else if (span_is(key, "async"))
		a->async = span_is(v, "yes");
	else if (span_is(key, "type"))
		a->type = type_from(v);
	else
		take_sizes(a, key, v);
}

static void list_add(struct alg_list *l, size_t *cap, const struct alg *a)
{
	if (l->n == *cap) {
		*cap = *cap ? 2 * *cap : 64;
		l->v = xreallocarray(l->v, *cap, sizeof(*l->v));
	}
	l->v[l->n++] = *a;
}

/* Ends the record under way; true when it was there and had to be dropped. */
static bool finish(struct record *r, struct alg_list *l, size_t *cap)
{
	bool dropped = r->any && (r->bad || !*r->alg.name || !*r->alg.driver);

	if (r->any && !dropped)
		list_add(l, cap, &r->alg);
	if (r->any)
		memset(r, 0, sizeof(*r));
	return dropped;
}

/* Takes the next line off *rest, without its newline. */
static struct span next_line(struct span *rest)
{
	const char *nl = memchr(rest->s, '\n', rest->n);
	struct span line = { rest->s, nl ? (size_t)(nl - rest->s) : rest->n };
	size_t used = nl ? line.n + 1 : line.n;

	rest->s += used;
	rest->n -= used;
	return line;
}

size_t proc_crypto_parse(const char *text, size_t len, struct alg_list *out)
{
	struct span rest = { text, len };
	struct record r = { 0 };
	size_t dropped = 0, cap = 0;

	*out = (struct alg_list){ 0 };
	while (rest.n) {
		struct span line = span_trim(next_line(&rest)), key, value = { 0 };
		const char *colon = line.n ? memchr(line.s, ':', line.n) : NULL;

		if (!line.n) {
			dropped += finish(&r, out, &cap);
			continue;
		}
		key = line;
		if (colon) {
			key.n = (size_t)(colon - line.s);
			value.s = colon + 1;
			value.n = line.n - key.n - 1;
		}
		key = span_trim(key);
		/* Each record begins with its name; texts put together by hand may lack the blank
		 * line. */
		if (span_is(key, "name") && *r.alg.name)
			dropped += finish(&r, out, &cap);
		r.any = true;
		if (colon)
			take_field(&r, key, span_trim(value));
	}
	return dropped + finish(&r, out, &cap);
}

void alg_list_free(struct alg_list *l)
{
	if (!l)
		return;
	free(l->v);
	*l = (struct alg_list){ 0 };
}

const struct alg *alg_by_driver(const struct alg_list *l, const char *driver)
{
	for (size_t i = 0; i < l->n; i++)
		if (*l->v[i].driver == *driver && !strcmp(l->v[i].driver, driver))
			return &l->v[i];
	return NULL;
}
