/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The verdict on one spec: which part of the work the hardware would really do, why, and what comes
 * nearest. Must not read anything, and must not claim hardware on the strength of a name or a priority.
 */
#include "core/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/pool.h"

struct judge {
	const struct pool *pool;
	const struct load_plan *plan;
	struct verdict *v;
	bool refused; /* the driver that would be bound takes no such key */
};

/* One part of the work: which driver, and what the hardware under it does. */
struct share {
	enum part part;
	const struct accel *accel;
	const struct accel_alg *alg;
	enum reason_code code; /* why it is not hardware, or REASON_NONE */
	char driver[ALG_NAME_MAX];
};

bool policy_cpu_has_aes(const struct machine *m)
{
	const char *f = m->cpu.flags;

	switch (m->arch) {
	case ARCH_S390:
		return word_in(f, "msa");
	case ARCH_RISCV:
		return word_in(f, "zvkned");
	case ARCH_PPC64:
		return word_in(f, "vec_crypto");
	default:
		return word_in(f, "aes");
	}
}

/* Key bit of the table for a cipher key of `bits`; an xts algorithm counts both halves. */
static unsigned int key_bit(unsigned int mode, unsigned int bits)
{
	unsigned int base = mode == MODE_XTS ? KEYS_XTS_256 : KEYS_128;

	switch (bits) {
	case 128:
		return base;
	case 192:
		return base << 1;
	case 256:
		return base << 2;
	default:
		return 0;
	}
}

/* --- one driver name → share --------------------------------------------------------------------- */

static bool has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && !strcmp(s + n - k, suffix);
}

/* The kernel's library code uses the instructions of a row that is here by itself (lib/crypto, from 7.2 on most CPUs). */
static bool lib_may_use_instructions(const struct machine *m, const char *driver)
{
	if (!has_suffix(driver, "-lib"))
		return false;
	for (const struct accel *a = accel_table; a < accel_table + accel_count; a++)
		if (a->in_lib_since && m->kernel >= a->in_lib_since && accel_present(m, a, NULL, 0))
			return true;
	return false;
}

static void share_of_row(const struct machine *m, unsigned int bits, struct share *s)
{
	if (s->accel->kind == ACCEL_SOFTWARE || s->accel->kind == ACCEL_CPU_SIMD) {
		bool lib = lib_may_use_instructions(m, s->driver);

		s->part = lib ? PART_UNKNOWN : PART_SOFTWARE;
		s->code = lib ? REASON_LIB_AES : s->accel->kind == ACCEL_SOFTWARE ? REASON_SOFTWARE : REASON_SIMD;
		return;
	}
	if (s->alg->hw_keys & key_bit(s->alg->mode, bits)) {
		s->part = PART_HARDWARE;
		return;
	}
	s->part = PART_UNKNOWN;
	s->code = REASON_KEYS_UNKNOWN;
	if (s->alg->hw_keys & KEYS_UNKNOWN || s->accel->other_keys == OTHER_KEYS_UNKNOWN)
		return;
	s->part = PART_SOFTWARE;
	s->code = s->accel->other_keys == OTHER_KEYS_REFUSED ? REASON_KEY_REFUSED : REASON_KEY_SIZE;
}

/* Names that say portable or vector code without being in the table: serpent-generic, twofish-asm, adiantum(…). */
static bool is_software_name(const char *driver)
{
	static const char *const tail[] = { "-generic", "-lib", "-asm", "-fixed-time", "-simd", "-avx", "-avx2", "-sse2", "-neon", "-i586", "-x86_64" };

	for (size_t i = 0; i < ARRAY_SIZE(tail); i++)
		if (has_suffix(driver, tail[i]))
			return true;
	return false;
}

static void share_of(const struct machine *m, const char *driver, unsigned int bits, struct share *s)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];

	*s = (struct share){ .part = PART_UNKNOWN, .code = REASON_DRIVER_UNKNOWN };
	str_copy(s->driver, sizeof(s->driver), driver);
	s->accel = accel_of_driver(m, driver, &s->alg);
	if (s->accel) {
		share_of_row(m, bits, s);
		return;
	}
	if (template_split(driver, tmpl, sizeof(tmpl), inner, sizeof(inner))) {
		if (!strcmp(tmpl, "adiantum") || !strcmp(tmpl, "hctr2")) {
			s->part = PART_SOFTWARE;
			s->code = REASON_ADIANTUM;
			return;
		}
		/* a wrapper around another driver: the inner one does the work; SIMD twins carry a "__" */
		share_of(m, str_starts(inner, "__") ? inner + 2 : inner, bits, s);
		return;
	}
	if (is_software_name(driver) || !strstr(driver, "aes")) {
		s->part = PART_SOFTWARE;
		s->code = REASON_SOFTWARE;
	}
}

/* --- sentences ------------------------------------------------------------------------------------ */

static void say_hardware(struct judge *j, const struct share *s, const char *driver)
{
	if (s->accel->kind == ACCEL_CPU)
		reasons_add(&j->v->reasons, REASON_CPU_INSTRUCTIONS, "%s uses the CPU's own instructions (%s).", driver,
			    s->accel->name);
	else
		reasons_add(&j->v->reasons, REASON_ENGINE, "%s hands the data to the %s.", driver, s->accel->name);
}

static void say_key_size(struct judge *j, const struct share *s, unsigned int bits)
{
	char keys[64];
	bool half = spec_is_xts(&j->v->spec);

	accel_keys_text(s->alg->hw_keys, keys, sizeof(keys));
	reasons_add(&j->v->reasons, REASON_KEY_SIZE,
		    "The hardware of the %s takes %s-bit keys; %s%u bits%s go to software below %s, without a word in any log.",
		    s->accel->name, keys, half && s->alg->mode != MODE_XTS ? "each half of the key has " : "",
		    s->alg->mode == MODE_XTS ? bits * 2 : bits, half && s->alg->mode != MODE_XTS ? " and they" : "", s->driver);
}

static void say_software(struct judge *j, const struct share *s, unsigned int bits)
{
	struct reasons *r = &j->v->reasons;

	switch (s->code) {
	case REASON_KEY_SIZE:
		say_key_size(j, s, bits);
		break;
	case REASON_KEY_REFUSED:
		reasons_add(r, s->code, "%s takes no %u-bit key, and the kernel would bind no other driver in its place.",
			    s->driver, bits);
		break;
	case REASON_ADIANTUM:
		reasons_add(r, s->code, "Adiantum (%s) runs on the CPU; it needs no AES instructions to be fast.", s->driver);
		break;
	case REASON_SIMD:
		reasons_add(r, s->code, "%s is CPU code on the vector unit, not an AES instruction or an engine.", s->driver);
		break;
	default:
		reasons_add(r, REASON_SOFTWARE, "%s is plain CPU code.", s->driver);
	}
}

static void say_unknown(struct judge *j, const struct share *s)
{
	struct reasons *r = &j->v->reasons;

	if (s->code == REASON_LIB_AES)
		reasons_add(r, s->code, "%s is the kernel's library code, which may use the CPU's AES instructions one block "
			    "at a time; only a measurement tells.", s->driver);
	else if (s->code == REASON_KEYS_UNKNOWN)
		reasons_add(r, s->code, "Which key sizes the hardware of the %s takes is not established.", s->accel->name);
	else
		reasons_add(r, s->code, "The driver %s is not in the table of accelerators.", s->driver);
}

static void say_data(struct judge *j, const struct share *s, const char *driver, unsigned int bits)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];

	if (s->part == PART_SOFTWARE)
		say_software(j, s, bits);
	else if (s->part == PART_UNKNOWN)
		say_unknown(j, s);
	if (s->part != PART_HARDWARE)
		return;
	say_hardware(j, s, driver);
	if (accel_is_engine(s->accel) && spec_is_xts(&j->v->spec) &&
	    template_split(driver, tmpl, sizeof(tmpl), inner, sizeof(inner)))
		reasons_add(&j->v->reasons, REASON_TEMPLATE,
			    "The engine has no XTS of its own: the kernel's xts template runs over %s, with a second, "
			    "16-byte job for the tweak of each sector.", inner);
}

static void say_side_part(struct judge *j, const struct share *s, const char *what, enum reason_code sw, unsigned int bits)
{
	struct reasons *r = &j->v->reasons;

	if (s->part == PART_SOFTWARE && s->code == REASON_KEY_SIZE)
		reasons_add(r, sw, "The %s needs a %u-bit key, which the %s lacks: that step runs in software, one block a sector.",
			    what, bits, s->accel->name);
	else if (s->part == PART_SOFTWARE)
		reasons_add(r, sw, "The %s is computed in software (%s), one block a sector.", what, s->driver);
	else if (s->part == PART_HARDWARE && sw == REASON_IV_SOFTWARE)
		reasons_add(r, REASON_IV_HARDWARE, "The %s is computed by %s on the hardware, one block a sector.", what, s->driver);
}

/* --- why an accelerator that is here does not do it ------------------------------------------------ */

static const struct load_item *plan_skip(const struct load_plan *plan, const struct accel *a)
{
	for (size_t i = 0; plan && i < plan->n; i++)
		if (plan->v[i].accel == a && plan->v[i].action == LOAD_SKIP && !plan->v[i].rng)
			return &plan->v[i];
	return NULL;
}

/* True when what is registered of the row is usable and would take part. */
static bool row_in_pool(const struct pool *p, const struct accel *a)
{
	for (const struct accel_alg *g = a->algs; g && g->name; g++) {
		const struct pool_alg *k = accel_alg_in(g, p->m->kernel) ? pool_driver(p, g->driver) : NULL;

		if (k && k->usable)
			return true;
	}
	return false;
}

static void explain_state(struct judge *j, const struct accel *a)
{
	struct reasons *r = &j->v->reasons;
	const char *mod = a->modules && a->modules[0] ? a->modules[0] : "its driver";

	switch (driver_state(j->pool->m, a)) {
	case DRIVER_FAILED:
		reasons_add(r, REASON_SELFTEST_FAILED, "The %s is here, but a driver of it did not pass the kernel's self-test.", a->name);
		break;
	case DRIVER_QUARANTINED:
		reasons_add(r, REASON_QUARANTINED, "The %s is here, but its driver was put to priority 0.", a->name);
		break;
	case DRIVER_NOT_LOADED:
	case DRIVER_UNKNOWN:
		reasons_add(r, REASON_NOT_LOADED, "The %s is here, but %s is not loaded.", a->name, mod);
		break;
	case DRIVER_DENIED:
		reasons_add(r, REASON_DENIED, "The %s is here, but %s is deny-listed.", a->name, mod);
		break;
	case DRIVER_NO_MODULE:
		reasons_add(r, REASON_NO_MODULE, "The %s is here, but the module %s is not installed.", a->name, mod);
		break;
	case DRIVER_NO_OPTION:
		reasons_add(r, REASON_NO_OPTION, "The %s is here, but this kernel was built without its driver.", a->name);
		break;
	case DRIVER_LOADED:
		reasons_add(r, REASON_NOT_LOADED, "The %s is here and %s is in, but it registered no algorithm.", a->name, mod);
		break;
	default:
		reasons_add(r, REASON_OUTRANKED, "The %s is here, but the kernel would choose %s.", a->name, j->v->driver);
	}
}

static void explain_absent(struct judge *j, const struct accel *a)
{
	const struct load_item *skip = plan_skip(j->plan, a);

	if (accel_usable(j->pool->m, a) == DMCRYPT_NO_MEMORY_FLAG)
		reasons_add(&j->v->reasons, REASON_MEMORY_FLAG,
			    "The %s is here, but dm-crypt refuses its drivers: they allocate memory for each request.", a->name);
	else if (skip)
		reasons_add(&j->v->reasons, skip->why.code, "%s", skip->why.text);
	else if (!row_in_pool(j->pool, a))
		explain_state(j, a);
	else if (!(a->modes & (spec_is_xts(&j->v->spec) ? MODE_XTS | MODE_ECB : MODE_CBC)))
		reasons_add(&j->v->reasons, REASON_MODE, "The %s is here, but its hardware lacks this mode.", a->name);
	else
		reasons_add(&j->v->reasons, REASON_OUTRANKED, "The %s is here, but the kernel would choose %s.", a->name,
			    j->v->driver);
}

static void explain_rest(struct judge *j)
{
	for (const struct accel *a = accel_table; a < accel_table + accel_count; a++) {
		bool cpu = a->kind == ACCEL_CPU && j->v->data != PART_HARDWARE;

		if (a == j->v->accel || (!cpu && !accel_is_engine(a)) || !(a->modes & ~(unsigned)(MODE_HASH | MODE_GCM)))
			continue;
		if (accel_present(j->pool->m, a, NULL, 0) && driver_state(j->pool->m, a) != DRIVER_NOT_IN_KERNEL)
			explain_absent(j, a);
	}
}

/* --- the parts of one spec ------------------------------------------------------------------------- */

static bool has_essiv(const struct cipher_spec *s)
{
	return !strcmp(s->iv, "essiv");
}

/* crypto API name dm-crypt asks for; with ESSIV it wraps the api name itself (dm-crypt.c, crypt_ctr_cipher_new). */
static void api_name(const struct cipher_spec *s, char *buf, size_t size)
{
	if (has_essiv(s))
		snprintf(buf, size, "essiv(%s,%s)", s->api, s->ivopts);
	else
		str_copy(buf, size, s->api);
}

static void judge_tweak(struct judge *j, const struct share *data, const char *driver, unsigned int bits)
{
	struct share t = *data;

	if (!spec_is_xts(&j->v->spec))
		return;
	/* the xts template takes the best single-block aes for the tweak, whatever does the data */
	if (str_starts(driver, "xts(") && !accel_of_driver(j->pool->m, driver, NULL))
		share_of(j->pool->m, pool_single(j->pool, j->v->spec.cipher[0] ? j->v->spec.cipher : "aes"), bits, &t);
	j->v->tweak = t.part;
	if (j->v->data == PART_HARDWARE)
		say_side_part(j, &t, "XTS tweak", REASON_TWEAK_SOFTWARE, bits);
}

static void judge_iv(struct judge *j, const struct share *data, const char *driver)
{
	int bits = spec_essiv_key_bits(&j->v->spec);
	struct share iv = *data;

	if (bits <= 0)
		return;
	/* a driver that registers essiv(…) itself does both parts; else the best single-block aes does the IV */
	if (str_starts(driver, "essiv("))
		share_of(j->pool->m, pool_single(j->pool, j->v->spec.cipher[0] ? j->v->spec.cipher : "aes"), (unsigned)bits, &iv);
	j->v->iv = iv.part;
	if (j->v->data == PART_HARDWARE)
		say_side_part(j, &iv, "ESSIV IV", REASON_IV_SOFTWARE, (unsigned)bits);
}

static void conclude(struct judge *j)
{
	struct verdict *v = j->v;

	if (j->refused)
		v->verdict = VERDICT_IMPOSSIBLE;
	else if (v->data == PART_SOFTWARE)
		v->verdict = VERDICT_SOFTWARE;
	else if (v->data != PART_HARDWARE)
		v->verdict = VERDICT_UNKNOWN;
	else if (v->iv == PART_SOFTWARE || v->iv == PART_UNKNOWN || v->tweak == PART_SOFTWARE || v->tweak == PART_UNKNOWN)
		v->verdict = VERDICT_PARTLY;
	else
		v->verdict = VERDICT_ACCELERATED;
	if (v->verdict == VERDICT_IMPOSSIBLE)
		v->action = ACTION_REFUSE;
}

static void judge_driver(struct judge *j, const char *driver)
{
	unsigned int bits = spec_cipher_key_bits(&j->v->spec);
	struct share data;

	str_copy(j->v->driver, sizeof(j->v->driver), driver);
	share_of(j->pool->m, driver, bits, &data);
	j->v->data = data.part;
	j->refused = data.code == REASON_KEY_REFUSED;
	if (data.part == PART_HARDWARE || data.code == REASON_KEY_SIZE)
		j->v->accel = data.accel;
	say_data(j, &data, driver, bits);
	if (!j->refused) {
		judge_tweak(j, &data, driver, bits);
		judge_iv(j, &data, driver);
	}
}

/* --- what can be said without a driver --------------------------------------------------------------- */

static bool impossible(struct judge *j, enum reason_code code, const char *why)
{
	j->v->verdict = VERDICT_IMPOSSIBLE;
	j->v->action = ACTION_REFUSE;
	reasons_add(&j->v->reasons, code, "%s", why);
	return true;
}

static bool contradicts_itself(struct judge *j)
{
	const struct cipher_spec *s = &j->v->spec;
	struct spec_error err = { 0 };

	if (!spec_check(s, &err))
		return false;
	return impossible(j, has_essiv(s) && spec_essiv_key_bits(s) != 128 && spec_essiv_key_bits(s) != 192 &&
			     spec_essiv_key_bits(s) != 256 ? REASON_ESSIV_HASH : REASON_BAD_SPEC, err.why);
}

static void say_class(struct judge *j)
{
	const struct cipher_spec *s = &j->v->spec;
	enum spec_class c = spec_class(s);

	if (c == SPEC_CLASS_WATERMARK)
		reasons_add(&j->v->reasons, REASON_WEAK_CLASS, "%s", spec_class_sentence(c));
	if (c == SPEC_CLASS_ECB)
		reasons_add(&j->v->reasons, REASON_ECB, "%s", spec_class_sentence(c));
	if (!strcmp(s->mode, "cbc") && c == SPEC_CLASS_STANDARD)
		reasons_add(&j->v->reasons, REASON_MALLEABLE,
			    "CBC is malleable: who can write to the disk can flip chosen bits of a block at the price of garbling "
			    "the one before it.");
}

static void say_machine(struct judge *j)
{
	const struct machine *m = j->pool->m;

	if (m->kernel && m->kernel < KVER(5, 10))
		reasons_add(&j->v->reasons, REASON_OLD_KERNEL,
			    "Kernel %s is older than 5.10; these rules were not verified there.", m->release);
	if (m->selftests_off && j->v->data == PART_HARDWARE)
		reasons_add(&j->v->reasons, REASON_SELFTEST_OFF,
			    "The kernel's self-tests are switched off, so its 'passed' proves nothing about %s.", j->v->driver);
}

static bool masked_by_name(struct judge *j, const char *name)
{
	const struct pool_alg *g = pool_driver(j->pool, name);

	if (!g || !g->masked)
		return false;
	reasons_add(&j->v->reasons, REASON_MEMORY_FLAG,
		    "dm-crypt refuses %s: the driver allocates memory for each request, so the open fails with ENOENT.", name);
	j->v->verdict = VERDICT_IMPOSSIBLE;
	j->v->action = ACTION_REFUSE;
	return true;
}

static void judge_spec(struct judge *j)
{
	char name[2 * ALG_NAME_MAX], driver[ALG_NAME_MAX];

	if (contradicts_itself(j))
		return;
	if (!j->pool->m->algs_known) {
		j->v->verdict = VERDICT_UNKNOWN;
		j->v->data = PART_UNKNOWN;
		reasons_add(&j->v->reasons, REASON_LIST_UNREADABLE, "The kernel's list of algorithms (/proc/crypto) could not be read.");
		return;
	}
	api_name(&j->v->spec, name, sizeof(name));
	if (masked_by_name(j, j->v->spec.api))
		return;
	if (!*pool_resolve(j->pool, name, driver, sizeof(driver))) {
		impossible(j, REASON_CIPHER_MISSING, "This kernel has nothing that serves this cipher.");
		return;
	}
	judge_driver(j, driver);
	conclude(j);
}

/* --- the nearest spec that the hardware serves --------------------------------------------------------- */

struct candidate {
	const char *text;
	unsigned int key_bits;
};
/* Standard class only: a 128-bit ESSIV hash, plain IVs under CBC and ECB are never proposed. */
static const struct candidate near_xts[] = {
	{ "aes-xts-plain64", 512 }, { "aes-xts-plain64", 256 },
	{ "aes-cbc-essiv:sha256", 256 }, { "aes-cbc-essiv:sha256", 128 },
};
static const struct candidate near_cbc[] = {
	{ "aes-cbc-essiv:sha256", 256 }, { "aes-cbc-essiv:sha256", 128 },
	{ "aes-xts-plain64", 512 }, { "aes-xts-plain64", 256 },
};

/* True when this spec's data would run on an engine outside the CPU, judged quietly. */
static bool engine_serves(const struct judge *j, const struct cipher_spec *s)
{
	struct verdict v = { .spec = *s };
	struct judge quiet = { .pool = j->pool, .plan = j->plan, .v = &v };
	bool yes;

	judge_spec(&quiet);
	yes = v.data == PART_HARDWARE && v.accel && accel_is_engine(v.accel);
	verdict_free(&v);
	return yes;
}

static bool find_nearest(struct judge *j)
{
	bool cbc = !strcmp(j->v->spec.mode, "cbc");
	struct spec_error err;

	for (size_t i = 0; i < ARRAY_SIZE(near_xts); i++) {
		const struct candidate *c = cbc ? &near_cbc[i] : &near_xts[i];
		struct cipher_spec s;

		if (spec_parse(c->text, &s, &err))
			continue;
		s.key_bits = c->key_bits;
		s.sector_size = j->v->spec.sector_size;
		if (engine_serves(j, &s)) {
			j->v->nearest = s;
			return j->v->has_nearest = true;
		}
	}
	return false;
}

/* Refuse only where an engine outside the CPU serves the same cipher in another key size or mode. */
static void judge_action(struct judge *j)
{
	if (j->v->data != PART_SOFTWARE)
		return;
	if (strcmp(j->v->spec.cipher, "aes")) {
		if (!str_starts(j->v->driver, "adiantum("))
			reasons_add(&j->v->reasons, REASON_OTHER_CIPHER, "No accelerator in the table knows %s.",
				    j->v->spec.cipher[0] ? j->v->spec.cipher : j->v->spec.api);
		return;
	}
	if (find_nearest(j))
		j->v->action = ACTION_REFUSE;
}

/* --- entry points ----------------------------------------------------------------------------------------- */

void policy_decide(const struct machine *m, const struct load_plan *plan, const struct cipher_spec *spec, struct verdict *out)
{
	struct pool pool;
	struct judge j = { .pool = &pool, .plan = plan, .v = out };

	*out = (struct verdict){ .spec = *spec };
	pool_build(&pool, m, plan);
	judge_spec(&j);
	judge_action(&j);
	if (out->verdict != VERDICT_IMPOSSIBLE && m->algs_known) {
		if (!strcmp(spec->cipher, "aes"))
			explain_rest(&j);
		say_class(&j);
	}
	say_machine(&j);
	pool_free(&pool);
}

void policy_judge_binding(const struct machine *m, const struct cipher_spec *spec, const char *driver, struct verdict *out)
{
	struct pool pool;
	struct judge j = { .pool = &pool, .v = out };

	*out = (struct verdict){ .spec = *spec, .verdict = VERDICT_UNKNOWN, .data = PART_UNKNOWN };
	pool_build(&pool, m, NULL);
	if (driver && *driver) {
		judge_driver(&j, driver);
		j.refused = false; /* it is open: the key was taken */
		conclude(&j);
	} else {
		reasons_add(&out->reasons, REASON_DRIVER_UNKNOWN, "Which driver serves this volume cannot be told.");
	}
	say_class(&j);
	say_machine(&j);
	pool_free(&pool);
}

size_t policy_candidates(const struct machine *m, const struct cipher_spec *spec, const struct alg **out, size_t max)
{
	char name[2 * ALG_NAME_MAX];
	size_t n = 0;

	api_name(spec, name, sizeof(name));
	for (size_t i = 0; i < m->algs.n; i++) {
		const struct alg *k = &m->algs.v[i];
		size_t at = n;

		if (strcmp(k->name, name) || k->internal || k->selftest == SELFTEST_UNKNOWN || k->type == ALG_CIPHER)
			continue;
		if (n == max)
			break;
		for (; at && out[at - 1]->priority < k->priority; at--)
			out[at] = out[at - 1];
		out[at] = k;
		n++;
	}
	return n;
}

void verdict_free(struct verdict *v)
{
	reasons_free(&v->reasons);
}

const char *verdict_name(enum verdict_kind v)
{
	static const char *const name[] = { "accelerated", "partly", "software", "unknown", "impossible" };

	return name[v];
}

const char *action_name(enum action a)
{
	return a == ACTION_REFUSE ? "refuse" : "proceed";
}

const char *part_name(enum part p)
{
	static const char *const name[] = { "none", "hardware", "software", "unknown" };

	return name[p];
}
