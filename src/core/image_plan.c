/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Modules of a boot image: from cipher specs and accelerators to names, in load order.
 * Must not look for a file, and must not ask which program builds the image.
 */
#include "core/image_plan.h"

#include <stdlib.h>
#include <string.h>

/* What a spec with this word needs. Names as in Linux 5.10 to 7.2; names that a kernel lacks do no harm. */
struct word_modules {
	const char *word;
	const char *modules; /* a list of words, for for_each_word() */
};

static const struct word_modules modes[] = {
	{ "cbc", "cbc\0" },
	{ "ecb", "ecb\0" },
	{ "ctr", "ctr\0" },
	{ "lrw", "lrw\0ecb\0" },
	{ "xts", "xts\0ecb\0" }, /* xts is built over ecb */
	{ "adiantum", "adiantum\0nhpoly1305\0" },
};

static const struct word_modules ciphers[] = {
	{ "aes", "aes_generic\0" },
	{ "serpent", "serpent_generic\0" },
	{ "twofish", "twofish_generic\0" },
	{ "camellia", "camellia_generic\0" },
	{ "cast5", "cast5_generic\0" },
	{ "cast6", "cast6_generic\0" },
	{ "blowfish", "blowfish_generic\0" },
	{ "aria", "aria_generic\0" },
	{ "sm4", "sm4_generic\0" },
	{ "des3_ede", "des_generic\0" },
	{ "xchacha12", "chacha_generic\0" },
	{ "xchacha20", "chacha_generic\0" },
};

static const struct word_modules hashes[] = {
	{ "md5", "md5\0" },
	{ "sha1", "sha1_generic\0" },
	{ "sha224", "sha256_generic\0" },
	{ "sha256", "sha256_generic\0" },
	{ "sha384", "sha512_generic\0" },
	{ "sha512", "sha512_generic\0" },
	{ "rmd160", "rmd160\0" },
	{ "wp512", "wp512\0" },
};

const char *image_role_name(enum image_role r)
{
	static const char *const name[] = { "accelerator", "kernel", "template", "software" };

	return name[r];
}

static void add(const struct machine *m, struct image_plan *p, const char *module, enum image_role role, const struct accel *a)
{
	const struct module_fact *f = machine_module(m, module);
	struct image_item *i;

	for (size_t k = 0; k < p->n; k++)
		if (str_same_module(p->v[k].module, module))
			return;
	p->v = xreallocarray(p->v, p->n + 1, sizeof(*p->v));
	i = &p->v[p->n++];
	*i = (struct image_item){ .role = role, .accel = a, .state = f ? f->state : MODULE_UNKNOWN };
	str_copy(i->module, sizeof(i->module), module);
}

static void add_list(const struct machine *m, struct image_plan *p, const char *list, enum image_role role)
{
	for_each_word(module, list)
		add(m, p, module, role, NULL);
}

/* False when the word is in none of the rows. */
static bool add_word(const struct machine *m, struct image_plan *p, const struct word_modules *rows, size_t n, const char *word,
		     enum image_role role)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].word, word)) {
			add_list(m, p, rows[i].modules, role);
			return true;
		}
	return false;
}

/* --- accelerators ---------------------------------------------------------------------------------- */

static bool in_kernel(const struct machine *m, const char *module)
{
	const struct module_fact *f = machine_module(m, module);

	return !f || f->state != MODULE_MISSING;
}

/* A row may list a module for each generation of a device: those that this kernel has, or all when it has none of them. */
static void add_row(const struct machine *m, struct image_plan *p, const struct accel *a)
{
	bool any = false;

	for_each_word(module, a->modules)
		any |= in_kernel(m, module);
	for_each_word(module, a->modules)
		if (!any || in_kernel(m, module))
			add(m, p, module, IMAGE_ACCEL, a);
}

const struct accel *image_accel(const char *name, kver kernel)
{
	const struct accel *a = accel_by_id(name);

	if (!a)
		a = accel_by_module(name);
	return a ? a : accel_by_driver(name, kernel, NULL);
}

static void add_named(const struct machine *m, const struct image_request *rq, struct image_plan *p)
{
	for (size_t i = 0; i < rq->n_names; i++) {
		const struct accel *a = image_accel(rq->names[i], m->kernel);

		if (a)
			add_row(m, p, a);
	}
}

static void add_present(const struct machine *m, struct image_plan *p)
{
	struct load_request rq = { 0 };
	struct load_plan plan;

	policy_load_plan(m, &rq, &plan);
	for (size_t i = 0; i < plan.n; i++)
		if (!plan.v[i].rng && (plan.v[i].action == LOAD_MODULE || plan.v[i].action == LOAD_NOTHING_TO_DO))
			add_row(m, p, plan.v[i].accel);
	load_plan_free(&plan);
}

static bool has_engine(const struct image_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].accel && accel_is_engine(p->v[i].accel))
			return true;
	return false;
}

/* --- specs ----------------------------------------------------------------------------------------- */

/* "xchacha12,aes": each of them. A cipher that is in no row has a module of its own name by the kernel's habit. */
static void add_ciphers(const struct machine *m, struct image_plan *p, const char *list)
{
	char word[sizeof(((struct cipher_spec *)0)->cipher)];

	while (*list) {
		size_t n = strcspn(list, ",");

		snprintf(word, sizeof(word), "%.*s", (int)n, list);
		if (*word && !add_word(m, p, ciphers, ARRAY_SIZE(ciphers), word, IMAGE_SOFTWARE))
			add(m, p, word, IMAGE_SOFTWARE, NULL);
		list += n + (list[n] == ',');
	}
}

static void add_spec(const struct machine *m, struct image_plan *p, const struct cipher_spec *s)
{
	add_word(m, p, modes, ARRAY_SIZE(modes), s->mode, IMAGE_TEMPLATE);
	if (!strcmp(s->iv, "essiv")) {
		add(m, p, "essiv", IMAGE_TEMPLATE, NULL);
		if (!add_word(m, p, hashes, ARRAY_SIZE(hashes), s->ivopts, IMAGE_SOFTWARE) && *s->ivopts)
			add(m, p, s->ivopts, IMAGE_SOFTWARE, NULL);
	}
	add_ciphers(m, p, s->cipher);
}

void image_plan(const struct machine *m, const struct image_request *rq, struct image_plan *out)
{
	*out = (struct image_plan){ 0 };
	if (rq->accel)
		add_row(m, out, rq->accel);
	else if (rq->n_names)
		add_named(m, rq, out);
	else if (!rq->no_accel)
		add_present(m, out);
	/* algif_skcipher: libcryptsetup decrypts key slots with it where libcrypto lacks the cipher */
	add_list(m, out, "dm_crypt\0algif_skcipher\0", IMAGE_KERNEL);
	/* the known-answer test runs on a loop device; crypto_user takes a broken driver out of use */
	if (has_engine(out))
		add_list(m, out, "crypto_user\0loop\0", IMAGE_KERNEL);
	for (size_t i = 0; i < rq->n_specs; i++)
		add_spec(m, out, &rq->specs[i]);
}

void image_plan_free(struct image_plan *p)
{
	free(p->v);
	*p = (struct image_plan){ 0 };
}
