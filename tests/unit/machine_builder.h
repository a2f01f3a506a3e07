/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Builds struct machine from a few words, for tests of the pure layers: an architecture, a kernel, CPU flags, rows of the
 * accelerator table that are here or registered. Must not decide anything; priorities and names come from the table.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/machine.h"
#include "core/policy.h"
#include "util/util.h"

enum {
	NO_LIST = 1 << 0,   /* /proc/crypto could not be read */
	TESTS_OFF = 1 << 1, /* the kernel's self-tests are off */
	IN_VM = 1 << 2,
	NO_CPUINFO = 1 << 3,
};

struct mdesc {
	const char *name;
	enum arch arch;
	kver kernel;
	const char *cpu;  /* flags */
	const char *here; /* ids of rows whose device is on a bus of this machine */
	const char *in;	  /* ids of rows whose drivers are registered, the newest first; their modules are loaded */
	const char *algs; /* more records, "name|driver|priority[|letters]", newest first; replace a row's of that driver.
			   * c cipher, h hash, ! self-test not passed, i internal, M memory flag read, F read and not set */
	const char *mods; /* "geode-aes=missing": missing, present, loaded, builtin, denied, hard, kernel (module_blacklist=) */
	const char *kconfig;
	unsigned int flags;
};

static void alg_add(struct alg_list *l, const char *name, const char *driver, int priority, enum alg_type type)
{
	struct alg *k;

	l->v = xreallocarray(l->v, l->n + 1, sizeof(*l->v));
	k = &l->v[l->n++];
	*k = (struct alg){ .priority = priority, .refcnt = 1, .selftest = SELFTEST_PASSED, .type = type };
	str_copy(k->name, sizeof(k->name), name);
	str_copy(k->driver, sizeof(k->driver), driver);
}

static void add_extra_algs(struct alg_list *l, const char *rows)
{
	char *copy = xstrdup(rows), *save = NULL;

	for (char *row = strtok_r(copy, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		char name[ALG_NAME_MAX], driver[ALG_NAME_MAX], letters[16] = "";
		int priority;
		struct alg *k;

		assert_true(sscanf(row, "%127[^|]|%127[^|]|%d|%15s", name, driver, &priority, letters) >= 3);
		alg_add(l, name, driver, priority, ALG_SKCIPHER);
		k = &l->v[l->n - 1];
		k->type = strchr(letters, 'c') ? ALG_CIPHER : strchr(letters, 'h') ? ALG_HASH : ALG_SKCIPHER;
		k->selftest = strchr(letters, '!') ? SELFTEST_UNKNOWN : SELFTEST_PASSED;
		k->internal = strchr(letters, 'i') != NULL;
		k->flags_known = strpbrk(letters, "MF") != NULL;
		k->flags = strchr(letters, 'M') ? ALG_FLAG_ALLOCATES_MEMORY : 0;
	}
	free(copy);
}

/* The 512-bit code of aesni-intel registers only where the CPU has AVX-512. */
static bool row_registers(const struct mdesc *d, const struct accel_alg *g)
{
	kver k = d->kernel && d->kernel < KVER(5, 10) ? KVER(5, 10) : d->kernel;

	if (!accel_alg_in(g, k))
		return false;
	return !(strstr(g->driver, "avx512") || strstr(g->driver, "avx10_")) || word_in(d->cpu, "avx512bw");
}

static void add_row_algs(struct alg_list *l, const struct mdesc *d, const struct accel *a)
{
	for_each_alg(g, a)
		if (row_registers(d, g) && !alg_by_driver(l, g->driver))
			alg_add(l, accel_alg_name(g), g->driver, g->priority < 0 ? 300 : g->priority,
				g->mode == MODE_SINGLE ? ALG_CIPHER : g->mode == MODE_HASH ? ALG_HASH :
				g->mode == MODE_GCM ? ALG_AEAD : ALG_SKCIPHER);
}

/* What a kernel of that version has by itself, before any template instance was built. */
static void add_baseline(struct alg_list *l, const struct mdesc *d)
{
	kver k = d->kernel;

	if (k && k >= KVER(7, 3)) {
		if (d->arch != ARCH_SPARC)
			alg_add(l, "xts(aes)", "xts-aes-lib", 110, ALG_SKCIPHER);
		alg_add(l, "cbc(aes)", "cbc-aes-lib", 110, ALG_SKCIPHER);
		alg_add(l, "ecb(aes)", "ecb-aes-lib", 110, ALG_SKCIPHER);
		alg_add(l, "ctr(aes)", "ctr-aes-lib", 110, ALG_SKCIPHER);
	}
	if (k >= KVER(7, 0)) {
		alg_add(l, "aes", "aes-lib", 100, ALG_CIPHER);
		alg_add(l, "sha256", "sha256-lib", 300, ALG_HASH);
		alg_add(l, "md5", "md5-lib", 300, ALG_HASH);
	} else {
		alg_add(l, "aes", "aes-generic", 100, ALG_CIPHER);
		alg_add(l, "sha256", "sha256-generic", 100, ALG_HASH);
		alg_add(l, "md5", "md5-generic", 0, ALG_HASH);
	}
}

static struct module_fact *mod_add(struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->n_mod; i++)
		if (str_same_module(m->mod[i].name, name))
			return &m->mod[i];
	m->mod = xreallocarray(m->mod, m->n_mod + 1, sizeof(*m->mod));
	m->mod[m->n_mod] = (struct module_fact){ .state = MODULE_UNKNOWN };
	str_copy(m->mod[m->n_mod].name, sizeof(m->mod[0].name), name);
	return &m->mod[m->n_mod++];
}

static void set_mod(struct machine *m, const char *name, const char *state)
{
	struct module_fact *f = mod_add(m, name);
	bool hard = !strcmp(state, "hard"), kernel = !strcmp(state, "kernel");

	f->denied = hard || kernel || !strcmp(state, "denied");
	f->denied_hard = hard || kernel;
	f->state = !strcmp(state, "missing") ? MODULE_MISSING : !strcmp(state, "loaded") ? MODULE_LOADED :
		   !strcmp(state, "builtin") ? MODULE_BUILTIN : !strcmp(state, "unknown") ? MODULE_UNKNOWN : MODULE_PRESENT;
	if (f->denied)
		snprintf(f->denied_by, sizeof(f->denied_by), kernel ? "kernel command line: module_blacklist=%s" :
			 hard ? "/etc/modprobe.d/x.conf:1: install %s /bin/false" : "/etc/modprobe.d/x.conf:1: blacklist %s", name);
}

static void set_row_mods(struct machine *m, const struct accel *a, const char *state)
{
	for_each_word(name, a->modules)
		if (mod_add(m, name)->state == MODULE_UNKNOWN)
			set_mod(m, name, state);
	if (a->rng_module && mod_add(m, a->rng_module)->state == MODULE_UNKNOWN)
		set_mod(m, a->rng_module, state);
}

static void dev_add(struct machine *m, const struct accel *a)
{
	const char *at = a->match;
	struct accel_match match;
	struct device_fact *d;

	if (!accel_match_next(&at, &match))
		return;
	m->dev = xreallocarray(m->dev, m->n_dev + 1, sizeof(*m->dev));
	d = &m->dev[m->n_dev++];
	*d = (struct device_fact){ .how = match.how };
	str_copy(d->id, sizeof(d->id), match.what);
	d->id[strcspn(d->id, "*")] = '\0';
	str_copy(d->where, sizeof(d->where), "somewhere");
}

static void each_id(const char *ids, void (*fn)(void *arg, const struct accel *a), void *arg)
{
	char *copy = xstrdup(ids ? ids : ""), *save = NULL;

	for (char *id = strtok_r(copy, " ", &save); id; id = strtok_r(NULL, " ", &save)) {
		const struct accel *a = accel_by_id(id);

		if (!a)
			fail_msg("no row %s", id);
		fn(arg, a);
	}
	free(copy);
}

struct build {
	const struct mdesc *d;
	struct machine *m;
};

static void build_here(void *arg, const struct accel *a)
{
	dev_add(((struct build *)arg)->m, a);
	set_row_mods(((struct build *)arg)->m, a, "present");
}

static void build_in(void *arg, const struct accel *a)
{
	struct build *b = arg;

	add_row_algs(&b->m->algs, b->d, a);
	set_row_mods(b->m, a, "loaded");
}

/* A CPU with instructions whose module is there and not in. */
static void build_cpu_mods(struct machine *m)
{
	for_each_accel(a)
		if (a->kind == ACCEL_CPU && accel_present(m, a, NULL, 0))
			set_row_mods(m, a, "present");
}

static void build_mods(struct machine *m, const char *text)
{
	char *copy = xstrdup(text ? text : ""), *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(w, '=');

		assert_non_null(eq);
		*eq = '\0';
		set_mod(m, w, eq + 1);
	}
	free(copy);
}

static struct machine machine_build(const struct mdesc *d)
{
	struct machine m = { .arch = d->arch, .kernel = d->kernel, .cpus = 1, .rng.quality = -1 };
	struct build b = { d, &m };

	if (d->kernel)
		snprintf(m.release, sizeof(m.release), "%u.%u.0", KVER_MAJOR(d->kernel), KVER_MINOR(d->kernel));
	m.cpu.flags = d->cpu ? xstrdup(d->cpu) : NULL;
	m.cpu.processors = d->flags & NO_CPUINFO ? 0 : 1;
	m.cpu.hypervisor = d->flags & IN_VM;
	m.selftests_off = d->flags & TESTS_OFF;
	m.algs_known = !(d->flags & NO_LIST);
	if (m.algs_known) {
		if (d->algs)
			add_extra_algs(&m.algs, d->algs);
		each_id(d->in, build_in, &b);
		add_baseline(&m.algs, d);
	} else {
		each_id(d->in, build_in, &b);
		alg_list_free(&m.algs);
	}
	each_id(d->here, build_here, &b);
	build_cpu_mods(&m);
	build_mods(&m, d->mods);
	if (d->kconfig) {
		m.kconfig = xasprintf("# Linux/x86 6.1.0 Kernel Configuration\nCONFIG_DM_CRYPT=m\n%s", d->kconfig);
		m.kconfig_len = strlen(m.kconfig);
	}
	return m;
}

/* "aes-xts-plain64" and its key. */
static inline struct cipher_spec spec_make(const char *text, unsigned int bits, unsigned int sector)
{
	struct spec_error err;
	struct cipher_spec s;

	if (spec_parse(text, &s, &err))
		fail_msg("%s: %s", text, err.why);
	s.key_bits = bits;
	s.sector_size = sector;
	return s;
}

/* A reason, note or why as a person should get it: a sentence, no stray blanks, nothing left unfilled. */
static inline bool is_sentence(const char *s)
{
	size_t n = strlen(s);

	return n > 10 && n < 480 && s[n - 1] == '.' && s[0] != ' ' && !strstr(s, "  ") && !strstr(s, "..") && !strstr(s, " .") &&
	       !strstr(s, "(null)") && !strstr(s, "()") && !strchr(s, '\n') && !strchr(s, '\t');
}

/* Words of `want` are codes that must be among the reasons; with a "-" in front, that must not. First fault or NULL. */
static inline const char *codes_fault(const struct reasons *r, const char *want, char *buf, size_t size)
{
	char *copy = xstrdup(want ? want : ""), *save = NULL;
	const char *fault = NULL;

	for (char *w = strtok_r(copy, " ", &save); w && !fault; w = strtok_r(NULL, " ", &save)) {
		bool unwanted = *w == '-', found = false;

		for (size_t i = 0; i < r->n; i++)
			found |= !strcmp(reason_id(r->v[i].code), w + unwanted);
		if (found == unwanted) {
			str_copy(buf, size, w);
			fault = buf;
		}
	}
	free(copy);
	return fault;
}
