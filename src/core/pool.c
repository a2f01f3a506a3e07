/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A model of how the kernel picks an implementation: crypto/api.c (lookup, larvals), crypto/algapi.c
 * (a better algorithm unlinks instances built on its rivals), crypto/{cbc,ecb,xts,essiv}.c, as read in
 * 5.10, 6.1, 6.12, 7.2 and 7.3. Must not judge what is hardware.
 */
#include "core/pool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/kconfig.h"

/* Single-block ciphers in the kernel's tree; each has portable code that the crypto API loads on demand. */
static const char *const kernel_ciphers[] = {
	"aes", "anubis", "aria", "blowfish", "camellia", "cast5", "cast6", "cipher_null", "des", "des3_ede",
	"fcrypt", "khazad", "seed", "serpent", "sm4", "tea", "twofish", "xeta", "xtea",
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

/* An instance passes the flag of what it is built on up (CRYPTO_ALG_INHERITED_FLAGS). */
static bool driver_masked(const struct machine *m, const char *driver)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];
	const struct alg *k = alg_by_driver(&m->algs, driver);
	const struct accel *a;

	if (k && k->flags_known)
		return k->flags & ALG_FLAG_ALLOCATES_MEMORY;
	a = accel_of_driver(m, driver, NULL);
	if (a)
		return accel_usable(m, a) == DMCRYPT_NO_MEMORY_FLAG;
	return template_split(driver, tmpl, sizeof(tmpl), inner, sizeof(inner)) && driver_masked(m, inner);
}

/* dm-crypt masks out what carries the memory flag; read at run time where possible, else from the table. */
static bool is_masked(const struct machine *m, const char *driver)
{
	return !(m->kernel && m->kernel < KVER(5, 10)) && driver_masked(m, driver);
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
		.masked = k->flags_known ? k->flags & ALG_FLAG_ALLOCATES_MEMORY : is_masked(p->m, k->driver),
	};
	g->failed = !g->masked && !k->internal && k->selftest == SELFTEST_UNKNOWN;
	g->usable = !g->masked && !k->internal && !g->failed;
}

/* Code that needs more of the CPU than its row says: a module does not register it elsewhere. */
static bool cpu_lacks(const struct machine *m, const char *driver)
{
	static const struct {
		const char *part, *flags[3];
	} needs[] = {
		/* arch/x86/crypto/aesni-intel_glue.c, arch/riscv/crypto/aes-riscv64-glue.c */
		{ "-vaes-avx10_", { "avx512bw", "avx512vl", "bmi2" } },
		{ "-vaes-avx512", { "avx512bw", "avx512vl", "bmi2" } },
		{ "-zvkned-zvkb", { "zvkb" } },
		{ "-zvkned-zvbb-zvkg", { "zvbb", "zvkg" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		for (size_t k = 0; strstr(driver, needs[i].part) && k < ARRAY_SIZE(needs[i].flags); k++)
			if (needs[i].flags[k] && !word_in(m->cpu.flags, needs[i].flags[k]))
				return true;
	return false;
}

static void add_planned(struct pool *p, const struct accel *a)
{
	bool masked = accel_usable(p->m, a) == DMCRYPT_NO_MEMORY_FLAG;

	for_each_alg(g, a) {
		if (!accel_alg_in(g, policy_kernel(p->m)) || alg_by_driver(&p->m->algs, g->driver) ||
		    g->mode == MODE_HASH || g->mode == MODE_GCM || cpu_lacks(p->m, g->driver))
			continue;
		*pool_add(p) = (struct pool_alg){
			.name = accel_alg_name(g), .driver = g->driver, .priority = g->priority,
			.single = g->mode == MODE_SINGLE, .usable = !masked, .masked = masked, .planned = true,
		};
	}
}

static bool shares_module(const struct accel *a, const struct accel *b)
{
	return a->modules && b->modules && !strcmp(a->modules, b->modules);
}

/* A module brings the algorithms of every row it serves and whose hardware is here (aesni-intel: AES-NI, AVX, VAES). */
static void add_module(struct pool *p, const struct accel *a)
{
	for_each_accel(row)
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
		return str_copy(buf, size, accel_alg_name(g));
	if (!template_split(driver, tmpl, sizeof(tmpl), inner, sizeof(inner)) ||
	    !name_of(p, inner, sub, sizeof(sub)))
		return false;
	return (size_t)snprintf(buf, size, "%s(%s)", tmpl, sub) < size;
}

static int priority_of(const struct pool *p, const char *driver)
{
	const struct pool_alg *k = pool_driver(p, driver);
	const struct accel_alg *g = NULL;

	if (k)
		return k->priority;
	return accel_of_driver(p->m, driver, &g) && g->priority >= 0 ? g->priority : 100;
}

/*
 * Built by a template, judged by its argument being a driver: "xts(ecb(aes-generic))" is; "cbc(aes-eip93)" and
 * "hisi_sec_cbc(aes)" only look like it.
 */
static bool is_instance(const struct pool *p, const char *driver)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];

	return template_split(driver, tmpl, sizeof(tmpl), inner, sizeof(inner)) &&
	       (pool_driver(p, inner) || accel_by_driver(inner, 0, NULL) || is_instance(p, inner));
}

/*
 * True when something in the plan is as good as an algorithm this instance is built on: the kernel then drops the
 * instance, and the next open builds a new one (crypto_remove_spawns; equal priorities included).
 */
static bool displaced(const struct pool *p, const char *driver)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX], name[ALG_NAME_MAX];

	if (!is_instance(p, driver) || !template_split(driver, tmpl, sizeof(tmpl), inner, sizeof(inner)))
		return false;
	if (displaced(p, inner))
		return true;
	if (!name_of(p, inner, name, sizeof(name)))
		return false;
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].planned && !p->v[i].masked && strcmp(p->v[i].driver, inner) != 0 &&
		    !strcmp(p->v[i].name, name) && p->v[i].priority >= priority_of(p, inner))
			return true;
	return false;
}

/* A prepared template instance has the name xts(aes) and its inner algorithm's priority. */
static void add_prepared(struct pool *p, const struct load_item *item)
{
	struct pool_alg prepared = { .name = "xts(aes)", .driver = item->what, .planned = true };
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];

	if (pool_driver(p, item->what) || !template_split(item->what, tmpl, sizeof(tmpl), inner, sizeof(inner)))
		return;
	/* pool_add moves the rows, so the inner one is looked up before */
	prepared.priority = priority_of(p, inner);
	prepared.masked = is_masked(p->m, inner);
	prepared.usable = !prepared.masked;
	*pool_add(p) = prepared;
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
		if (!p->v[i].planned && displaced(p, p->v[i].driver))
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

/*
 * The option of a cipher or template: the kernel's names are those of their options, but for a few. `tail` comes behind it.
 * Returns buf.
 */
static const char *option_of(const char *name, const char *tail, char buf[64])
{
	static const struct {
		const char *name, *option;
	} other[] = { { "des3_ede", "DES" }, { "xtea", "TEA" }, { "xeta", "TEA" }, { "cipher_null", "NULL" }, { "sm4", "SM4_GENERIC" } };

	for (size_t i = 0; i < ARRAY_SIZE(other); i++)
		if (!*tail && !strcmp(name, other[i].name))
			name = other[i].option;
	snprintf(buf, 64, "CRYPTO_%.32s%s", name, tail);
	for (char *c = buf; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return buf;
}

/* The configuration says that it is not set. */
static bool option_unset(const struct machine *m, const char *name)
{
	char option[64];

	return !m->elsewhere && kconfig_unset(m->kconfig, m->kconfig_len, option_of(name, "", option));
}

/* No code for the cipher in this kernel; x86 has some of its own beside the portable one. */
static bool cipher_missing(const struct machine *m, const char *name)
{
	static const char *const tail[] = { "_X86_64", "_586" };
	char option[64];

	if (!option_unset(m, name))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(tail); i++)
		if (kconfig_get(m->kconfig, m->kconfig_len, option_of(name, tail[i], option)) > KCONFIG_NO)
			return false;
	return true;
}

const char *pool_single(const struct pool *p, const char *name)
{
	const struct pool_alg *g = best(p, name, true);

	if (g)
		return g->driver;
	if (!strcmp(name, "aes"))
		return p->m->kernel >= KVER(7, 0) ? "aes-lib" : "aes-generic";
	for (size_t i = 0; i < ARRAY_SIZE(kernel_ciphers); i++)
		if (!strcmp(kernel_ciphers[i], name) && !cipher_missing(p->m, name))
			return name;
	return NULL;
}

/* "sha256-generic" and not "sha256": an exact driver name. */
static bool is_hash_driver(const struct pool *p, const char *hash)
{
	static const char *const tail[] = { "-generic", "-lib", "-ni", "-ce", "-neon", "-asm" };
	const struct alg *k = alg_by_driver(&p->m->algs, hash);
	size_t n = strlen(hash);

	for (size_t i = 0; i < ARRAY_SIZE(tail); i++)
		if (n > strlen(tail[i]) && !strcmp(hash + n - strlen(tail[i]), tail[i]))
			return true;
	return k && strcmp(k->name, hash) != 0;
}

/* Best driver of a hash; what the kernel would load where none is listed. */
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
	else if (is_hash_driver(p, hash))
		str_copy(buf, size, hash);
	else
		snprintf(buf, size, "%.100s-%s", hash, p->m->kernel >= KVER(7, 0) ? "lib" : "generic");
}

static const char *no_such(char *buf)
{
	*buf = '\0';
	return buf;
}

static const char *wrap(char *buf, size_t size, const char *tmpl, const char *inner, const char *rest)
{
	if ((size_t)snprintf(buf, size, "%s(%s%s)", tmpl, inner, rest) >= size)
		return no_such(buf);
	return buf;
}

/* Driver of a single-block cipher by its name, or by its driver name ("aes-generic"); NULL when there is none. */
static const char *single_by(const struct pool *p, const char *inner)
{
	const struct pool_alg *g = pool_driver(p, inner);
	const struct accel_alg *alg = NULL;
	const struct accel *a;

	if (pool_single(p, inner))
		return pool_single(p, inner);
	if (g)
		return g->single && g->usable ? inner : NULL;
	/* portable code is loaded when it is asked for by name */
	a = accel_by_driver(inner, policy_kernel(p->m), &alg);
	return a && a->kind == ACCEL_SOFTWARE && alg->mode == MODE_SINGLE ? inner : NULL;
}

/* Software over one block at a time: cbc(aes-generic); from the lskcipher kernels on cbc(ecb(aes-generic)). */
__attribute__((nonnull)) /* without it an analyzer takes single_by's NULL for a NULL inner */
static const char *resolve_block_mode(const struct pool *p, const char *tmpl, const char *inner, char *buf, size_t size)
{
	const char *single = single_by(p, inner);
	char ecb[ALG_NAME_MAX], sub[ALG_NAME_MAX];

	/* crypto/lskcipher.c, seen in 6.12, not in 6.1; it came with 6.7. Of the templates only ecb and cbc are such. */
	if (p->m->kernel < KVER(6, 7) || strcmp(tmpl, "cbc") != 0)
		return single ? wrap(buf, size, tmpl, single, "") : no_such(buf);
	if (single)
		return wrap(buf, size, tmpl, wrap(ecb, sizeof(ecb), "ecb", single, ""), "");
	if (str_starts(inner, "ecb(") && !strcmp(pool_resolve(p, inner, sub, sizeof(sub)), inner))
		return wrap(buf, size, tmpl, inner, "");
	return no_such(buf);
}

/* xts and lrw look for a cipher of the inner name, then for its ecb (crypto/xts.c, lrw.c). */
static const char *resolve_over_ecb(const struct pool *p, const char *tmpl, const char *inner, char *buf, size_t size)
{
	char ecb[ALG_NAME_MAX], driver[ALG_NAME_MAX];
	const struct pool_alg *g = pool_driver(p, inner);

	if (g && !g->single && g->usable)
		return wrap(buf, size, tmpl, inner, "");
	if (*pool_resolve(p, inner, driver, sizeof(driver)))
		return wrap(buf, size, tmpl, driver, "");
	if (!*wrap(ecb, sizeof(ecb), "ecb", inner, "") || !*pool_resolve(p, ecb, driver, sizeof(driver)))
		return no_such(buf);
	return wrap(buf, size, tmpl, driver, "");
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
	snprintf(rest, sizeof(rest), ",%.100s", hash);
	return wrap(buf, size, "essiv", driver, rest);
}

static const char *resolve_cts(const struct pool *p, const char *inner, char *buf, size_t size)
{
	char driver[ALG_NAME_MAX];

	if (!*pool_resolve(p, inner, driver, sizeof(driver)))
		return no_such(buf);
	return wrap(buf, size, "cts", driver, "");
}

/* The template is a module of its own; where lists of modules or the configuration say that there is none it cannot be built. */
static bool template_missing(const struct pool *p, const char *tmpl)
{
	const struct module_fact *f = machine_module(p->m, tmpl);

	return (f && f->state == MODULE_MISSING) || option_unset(p->m, tmpl);
}

static const char *build(const struct pool *p, const char *name, char *buf, size_t size)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];

	if (!template_split(name, tmpl, sizeof(tmpl), inner, sizeof(inner)) || template_missing(p, tmpl))
		return no_such(buf);
	if (!strcmp(tmpl, "xts") || !strcmp(tmpl, "lrw"))
		return resolve_over_ecb(p, tmpl, inner, buf, size);
	if (!strcmp(tmpl, "essiv"))
		return resolve_essiv(p, name, inner, buf, size);
	if (!strcmp(tmpl, "cts"))
		return resolve_cts(p, inner, buf, size);
	if (!strcmp(tmpl, "adiantum") || !strcmp(tmpl, "hctr2")) {
		str_copy(buf, size, name);
		return buf;
	}
	if (!strcmp(tmpl, "ecb") || !strcmp(tmpl, "cbc") || !strcmp(tmpl, "ctr") || !strcmp(tmpl, "pcbc"))
		return resolve_block_mode(p, tmpl, inner, buf, size);
	return no_such(buf);
}

/*
 * What a template builds is found only under the name asked for. Under its driver name it is; under a mixture such as
 * xts(ecb(aes)) or essiv(cbc-aes-geode,sha256) it is not, and the open fails.
 */
static bool found_under(const struct pool *p, const char *asked, const char *driver)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];
	const char *comma = strrchr(asked, ',');
	char hash[ALG_NAME_MAX];

	if (!strcmp(asked, driver))
		return true;
	if (!template_split(asked, tmpl, sizeof(tmpl), inner, sizeof(inner)) || pool_driver(p, inner) ||
	    accel_by_driver(inner, 0, NULL) || is_instance(p, inner))
		return false;
	if (!strcmp(tmpl, "essiv") && comma) {
		str_copy(hash, sizeof(hash), comma + 1);
		hash[strcspn(hash, ")")] = '\0';
		return !is_hash_driver(p, hash);
	}
	return !strchr(inner, '(') || !strcmp(tmpl, "cts");
}

const struct pool_alg *pool_failed(const struct pool *p, const char *name)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX], ecb[ALG_NAME_MAX];
	const struct pool_alg *g;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].failed && !p->v[i].single &&
		    (!strcmp(p->v[i].name, name) || !strcmp(p->v[i].driver, name)))
			return &p->v[i];
	if (!template_split(name, tmpl, sizeof(tmpl), inner, sizeof(inner)))
		return NULL;
	g = pool_failed(p, inner);
	if (!g && !strcmp(tmpl, "xts") && *wrap(ecb, sizeof(ecb), "ecb", inner, ""))
		g = pool_failed(p, ecb);
	return g;
}

/* With nothing tested under a name but something that failed, the kernel gives up (ELIBBAD) and builds no template. */
static bool only_failed(const struct pool *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].failed && !p->v[i].single && !strcmp(p->v[i].name, name))
			return true;
	return false;
}

const char *pool_resolve(const struct pool *p, const char *name, char *buf, size_t size)
{
	const struct pool_alg *g = pool_best(p, name);

	if (g) {
		str_copy(buf, size, g->driver);
		return buf;
	}
	g = pool_driver(p, name);
	if (g && g->usable && !g->single) {
		str_copy(buf, size, name);
		return buf;
	}
	/* what the plan displaces can be built anew */
	if ((g && (g->masked || g->failed || g->single)) || only_failed(p, name) || !*build(p, name, buf, size) || !found_under(p, name, buf))
		return no_such(buf);
	return buf;
}
