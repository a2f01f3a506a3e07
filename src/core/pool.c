/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A model of how the kernel picks an implementation: crypto/api.c (lookup, larvals), crypto/algapi.c
 * (a better algorithm unlinks instances built on its rivals), crypto/{cbc,ecb,xts,essiv}.c, as read in
 * 5.10, 6.1, 6.12, 7.2 and 7.3. Must not judge what is hardware.
 */
#include "core/pool.h"

#include <stdlib.h>
#include <string.h>

/* Single-block ciphers in the kernel's tree; each has portable code that the crypto API loads on demand. */
static const char *const kernel_ciphers[] = {
	"aes", "anubis", "aria", "blowfish", "camellia", "cast5", "cast6", "cipher_null", "des", "des3_ede",
	"fcrypt", "khazad", "paes", "seed", "serpent", "sm4", "tea", "twofish", "xeta", "xtea",
};

bool template_split(const char *name, char *tmpl, size_t tsize, char *inner, size_t isize)
{
	const char *open = strchr(name, '('), *p;
	int depth = 0;

	if (!open || open == name || (size_t)(open - name) >= tsize)
		return false;
	for (p = open + 1; *p; p++) {
		if (*p == '(')
			depth++;
		else if (*p == ')' && !depth--)
			break;
		else if (*p == ',' && !depth)
			break;
	}
	if (!*p || (size_t)(p - open - 1) >= isize)
		return false;
	memcpy(tmpl, name, (size_t)(open - name));
	tmpl[open - name] = '\0';
	memcpy(inner, open + 1, (size_t)(p - open - 1));
	inner[p - open - 1] = '\0';
	return *inner != '\0';
}

/* --- building ----------------------------------------------------------------------------------- */

static struct pool_alg *pool_add(struct pool *p)
{
	p->v = xreallocarray(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n] = (struct pool_alg){ 0 };
	return &p->v[p->n++];
}

/* dm-crypt masks out what carries the memory flag; read at run time where possible, else from the table. */
static bool is_masked(const struct machine *m, const struct alg *k)
{
	const struct accel *a;

	if (k->flags_known)
		return k->flags & ALG_FLAG_ALLOCATES_MEMORY;
	a = accel_of_driver(m, k->driver, NULL);
	return a && accel_usable(m, a) == DMCRYPT_NO_MEMORY_FLAG;
}

static void add_listed(struct pool *p, const struct alg *k)
{
	struct pool_alg *g;

	if (k->type == ALG_HASH || k->type == ALG_RNG || k->type == ALG_COMPRESS || k->type == ALG_AKCIPHER ||
	    k->type == ALG_KPP)
		return;
	g = pool_add(p);
	*g = (struct pool_alg){
		.name = k->name, .driver = k->driver, .priority = k->priority, .single = k->type == ALG_CIPHER,
		.masked = is_masked(p->m, k),
	};
	g->usable = !g->masked && !k->internal && k->selftest != SELFTEST_UNKNOWN;
}

static void add_planned(struct pool *p, const struct accel *a)
{
	for (const struct accel_alg *g = a->algs; g && g->name; g++) {
		if (!accel_alg_in(g, p->m->kernel) || alg_by_driver(&p->m->algs, g->driver) ||
		    g->mode == MODE_HASH || g->mode == MODE_GCM)
			continue;
		*pool_add(p) = (struct pool_alg){
			.name = g->name, .driver = g->driver, .priority = g->priority,
			.single = g->mode == MODE_SINGLE, .usable = true, .planned = true,
		};
	}
}

static bool shares_module(const struct accel *a, const struct accel *b)
{
	return a->modules && b->modules && a->modules[0] && b->modules[0] && !strcmp(a->modules[0], b->modules[0]);
}

/* A module brings the algorithms of every row it serves and whose hardware is here (aesni-intel: AES-NI, AVX, VAES). */
static void add_module(struct pool *p, const struct accel *a)
{
	for (const struct accel *row = accel_table; row < accel_table + accel_count; row++)
		if (row == a || (shares_module(row, a) && accel_present(p->m, row, NULL, 0)))
			add_planned(p, row);
}

/* The crypto API name a driver is registered under; for an instance, the name it would have. */
static bool name_of(const struct pool *p, const char *driver, char *buf, size_t size)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX], sub[ALG_NAME_MAX];
	const struct accel_alg *g = NULL;
	const struct pool_alg *k = pool_driver(p, driver);

	if (k)
		return str_copy(buf, size, k->name);
	if (accel_of_driver(p->m, driver, &g))
		return str_copy(buf, size, g->name);
	if (!template_split(driver, tmpl, sizeof(tmpl), inner, sizeof(inner)) ||
	    !name_of(p, inner, sub, sizeof(sub)))
		return false;
	return (size_t)snprintf(buf, size, "%s(%s)", tmpl, sub) < size;
}

static int priority_of(const struct pool *p, const char *driver)
{
	const struct pool_alg *k = pool_driver(p, driver);

	return k ? k->priority : 100;
}

/* True when something in the plan is better than an algorithm this instance is built on (crypto_remove_spawns). */
static bool displaced(const struct pool *p, const char *driver)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX], name[ALG_NAME_MAX];

	if (!template_split(driver, tmpl, sizeof(tmpl), inner, sizeof(inner)))
		return false;
	if (displaced(p, inner))
		return true;
	if (!name_of(p, inner, name, sizeof(name)))
		return false;
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].planned && !strcmp(p->v[i].name, name) && p->v[i].priority > priority_of(p, inner))
			return true;
	return false;
}

static bool is_instance(const struct machine *m, const char *driver)
{
	return strchr(driver, '(') && !accel_of_driver(m, driver, NULL);
}

/* A prepared template instance has the name xts(aes) and its inner algorithm's priority. */
static void add_prepared(struct pool *p, const struct load_item *item)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];

	if (pool_driver(p, item->what) || !template_split(item->what, tmpl, sizeof(tmpl), inner, sizeof(inner)))
		return;
	*pool_add(p) = (struct pool_alg){
		.name = "xts(aes)", .driver = item->what, .priority = priority_of(p, inner), .usable = true,
		.planned = true,
	};
}

void pool_build(struct pool *p, const struct machine *m, const struct load_plan *plan)
{
	*p = (struct pool){ .m = m };
	for (size_t i = 0; plan && i < plan->n; i++)
		if (plan->v[i].action == LOAD_MODULE && !plan->v[i].rng)
			add_module(p, plan->v[i].accel);
	for (size_t i = 0; i < m->algs.n; i++)
		add_listed(p, &m->algs.v[i]);
	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].planned && is_instance(m, p->v[i].driver) && displaced(p, p->v[i].driver))
			p->v[i].usable = false;
	for (size_t i = 0; plan && i < plan->n; i++)
		if (plan->v[i].action == LOAD_PREPARE)
			add_prepared(p, &plan->v[i]);
}

void pool_free(struct pool *p)
{
	free(p->v);
	*p = (struct pool){ 0 };
}

/* --- look-up ------------------------------------------------------------------------------------ */

static const struct pool_alg *best(const struct pool *p, const char *name, bool single)
{
	const struct pool_alg *b = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct pool_alg *g = &p->v[i];

		if (g->usable && g->single == single && !strcmp(g->name, name) && (!b || g->priority > b->priority))
			b = g;
	}
	return b;
}

const struct pool_alg *pool_best(const struct pool *p, const char *name)
{
	return best(p, name, false);
}

const struct pool_alg *pool_driver(const struct pool *p, const char *driver)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->v[i].driver, driver))
			return &p->v[i];
	return NULL;
}

const char *pool_single(const struct pool *p, const char *name)
{
	const struct pool_alg *g = best(p, name, true);

	if (g)
		return g->driver;
	if (!strcmp(name, "aes"))
		return p->m->kernel >= KVER(7, 0) ? "aes-lib" : "aes-generic";
	for (size_t i = 0; i < ARRAY_SIZE(kernel_ciphers); i++)
		if (!strcmp(kernel_ciphers[i], name))
			return name;
	return NULL;
}

/* Best hash driver; what the kernel would load where none is listed. */
static void hash_driver(const struct pool *p, const char *hash, char *buf, size_t size)
{
	const struct alg *b = NULL;

	for (size_t i = 0; i < p->m->algs.n; i++) {
		const struct alg *k = &p->m->algs.v[i];

		if (k->type == ALG_HASH && !strcmp(k->name, hash) && k->selftest != SELFTEST_UNKNOWN && !k->internal &&
		    (!b || k->priority > b->priority))
			b = k;
	}
	if (b)
		str_copy(buf, size, b->driver);
	else
		snprintf(buf, size, "%.100s-%s", hash, p->m->kernel >= KVER(7, 0) ? "lib" : "generic");
}

static const char *no_such(char *buf)
{
	*buf = '\0';
	return buf;
}

/* A name that is no template: a driver by its own name, or a single-block cipher below a template. */
static const char *resolve_plain(const struct pool *p, const char *name, char *buf, size_t size)
{
	const struct pool_alg *g = pool_driver(p, name);

	if (g && g->usable) {
		str_copy(buf, size, name);
		return buf;
	}
	return no_such(buf);
}

static const char *wrap(char *buf, size_t size, const char *tmpl, const char *inner, const char *rest)
{
	if ((size_t)snprintf(buf, size, "%s(%s%s)", tmpl, inner, rest) >= size)
		return no_such(buf);
	return buf;
}

/* Software over one block at a time: cbc(aes-generic); from the lskcipher kernels on cbc(ecb(aes-generic)). */
static const char *resolve_block_mode(const struct pool *p, const char *tmpl, const char *inner, char *buf, size_t size)
{
	const char *single = pool_single(p, inner);
	char ecb[ALG_NAME_MAX];

	if (!single && pool_driver(p, inner))
		single = inner;
	if (!single)
		return no_such(buf);
	/* crypto/lskcipher.c, seen in 6.12, not in 6.1; it came with 6.7 */
	if (p->m->kernel < KVER(6, 7) || !strcmp(tmpl, "ecb"))
		return wrap(buf, size, tmpl, single, "");
	return wrap(buf, size, tmpl, wrap(ecb, sizeof(ecb), "ecb", single, ""), "");
}

/* xts looks for a cipher of the inner name, then for its ecb (crypto/xts.c). */
static const char *resolve_xts(const struct pool *p, const char *inner, char *buf, size_t size)
{
	char ecb[ALG_NAME_MAX], driver[ALG_NAME_MAX];
	const struct pool_alg *g = pool_driver(p, inner);

	if (g && !g->single)
		return g->usable ? wrap(buf, size, "xts", inner, "") : no_such(buf);
	if (!*wrap(ecb, sizeof(ecb), "ecb", inner, "") || !*pool_resolve(p, ecb, driver, sizeof(driver)))
		return no_such(buf);
	return wrap(buf, size, "xts", driver, "");
}

static const char *resolve_essiv(const struct pool *p, const char *name, const char *inner, char *buf, size_t size)
{
	char driver[ALG_NAME_MAX], hash[ALG_NAME_MAX], rest[ALG_NAME_MAX + 1];
	const char *comma = strrchr(name, ',');

	if (!comma || !*pool_resolve(p, inner, driver, sizeof(driver)))
		return no_such(buf);
	str_copy(rest, sizeof(rest), comma + 1);
	rest[strcspn(rest, ")")] = '\0';
	hash_driver(p, rest, hash, sizeof(hash));
	snprintf(rest, sizeof(rest), ",%s", hash);
	return wrap(buf, size, "essiv", driver, rest);
}

const char *pool_resolve(const struct pool *p, const char *name, char *buf, size_t size)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];
	const struct pool_alg *g = pool_best(p, name);

	if (g) {
		str_copy(buf, size, g->driver);
		return buf;
	}
	g = pool_driver(p, name);
	if (g)
		return resolve_plain(p, name, buf, size);
	if (!template_split(name, tmpl, sizeof(tmpl), inner, sizeof(inner)))
		return no_such(buf);
	if (!strcmp(tmpl, "xts"))
		return resolve_xts(p, inner, buf, size);
	if (!strcmp(tmpl, "essiv"))
		return resolve_essiv(p, name, inner, buf, size);
	if (!strcmp(tmpl, "adiantum") || !strcmp(tmpl, "hctr2")) {
		str_copy(buf, size, name);
		return buf;
	}
	return resolve_block_mode(p, tmpl, inner, buf, size);
}
