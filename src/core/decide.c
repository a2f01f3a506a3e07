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
	const struct accel *bound; /* row of the driver that would be bound, whoever does the work */
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
	if (!strstr(driver, "-lib"))
		return false;
	for_each_accel(a)
		if (a->in_lib_since && m->kernel >= accel_kernel(a->in_lib_since) && accel_present(m, a, NULL, 0))
			return true;
	return false;
}

/* What was registered and then taken out of use by priority 0, after it failed. */
static bool is_quarantined(const struct machine *m, const struct share *s)
{
	const struct alg *k = alg_by_driver(&m->algs, s->driver);

	return k && !k->priority && s->alg->priority > 0;
}

static void share_unknown(struct share *s, enum reason_code code)
{
	s->part = PART_UNKNOWN;
	s->code = code;
}

static void share_of_row(const struct machine *m, unsigned int bits, struct share *s)
{
	if (s->accel->kind == ACCEL_SOFTWARE || s->accel->kind == ACCEL_CPU_SIMD) {
		bool lib = lib_may_use_instructions(m, s->driver);

		s->part = lib ? PART_UNKNOWN : PART_SOFTWARE;
		s->code = lib ? REASON_LIB_AES : s->accel->kind == ACCEL_SOFTWARE ? REASON_SOFTWARE : REASON_SIMD;
		return;
	}
	if (is_quarantined(m, s)) {
		share_unknown(s, REASON_QUARANTINED);
		return;
	}
	/* whether dm-crypt of that time took drivers that now carry the memory flag was not looked at */
	if (m->kernel && m->kernel < KVER(5, 10) && accel_usable(m, s->accel) == DMCRYPT_NO_MEMORY_FLAG) {
		share_unknown(s, REASON_OLD_KERNEL);
		return;
	}
	/* protected keys are blobs of their own sizes, and only the hardware can use them */
	if (s->alg->hw_keys & key_bit(s->alg->mode, bits) ||
	    (strstr(accel_alg_name(s->alg), "paes") && !(s->alg->hw_keys & KEYS_UNKNOWN))) {
		s->part = PART_HARDWARE;
		s->code = REASON_NONE;
		return;
	}
	share_unknown(s, REASON_KEYS_UNKNOWN);
	if (s->alg->hw_keys & KEYS_UNKNOWN || s->accel->other_keys == OTHER_KEYS_UNKNOWN)
		return;
	s->part = PART_SOFTWARE;
	s->code = s->accel->other_keys == OTHER_KEYS_REFUSED ? REASON_KEY_REFUSED : REASON_KEY_SIZE;
}

/*
 * Names that say portable or vector code without being in the table: serpent-generic, xts-twofish-avx, the bare cipher
 * that stands for what the kernel would load. Engines have drivers for other ciphers too, so anything else stays unknown.
 */
static bool is_software_name(const struct machine *m, const char *driver)
{
	static const char *const tail[] = { "-generic", "-lib", "-asm", "-fixed-time", "-simd", "-avx", "-avx2", "-avx512",
					    "-sse2", "-ssse3", "-3way", "-neon", "-i586", "-x86_64", "cipher_null" };
	const struct pool none = { .m = m };
	const char *single = pool_single(&none, driver);

	for (size_t i = 0; i < ARRAY_SIZE(tail); i++)
		if (has_suffix(driver, tail[i]))
			return true;
	return single && !strcmp(single, driver);
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
	if (is_software_name(m, driver)) {
		s->part = PART_SOFTWARE;
		s->code = REASON_SOFTWARE;
	}
}

/* --- sentences ------------------------------------------------------------------------------------ */

/* An engine at work in place of faster or unbeaten CPU code. */
static void say_rival(struct judge *j, const struct accel *a)
{
	const struct accel_figure *f = a->slower;
	const struct accel_alg *by = NULL;
	const struct accel *cpu = policy_outranked_cpu(j->pool->m, a, &by);

	if (f)
		reasons_add(&j->v->reasons, REASON_SLOWER,
			    "Published figures say that this engine is slower than the CPU's own code: %s, %g against %g MB/s (%s).",
			    f->what, f->engine, f->cpu, f->source);
	else if (cpu)
		reasons_add(&j->v->reasons, REASON_OUTRANKS_CPU,
			    "By priority it takes %s from the CPU's AES instructions; no measurement says that it is faster.", accel_alg_name(by));
}

static void say_hardware(struct judge *j, const struct share *s, const char *driver)
{
	struct reasons *r = &j->v->reasons;

	if (s->accel->kind == ACCEL_CPU) {
		reasons_add(r, REASON_CPU_INSTRUCTIONS, "%s runs on the CPU's own instructions: %s.", driver, s->accel->name);
		return;
	}
	reasons_add(r, REASON_ENGINE, "%s hands the data to the %s.", driver, s->accel->name);
	say_rival(j, s->accel);
}

static void say_key_size(struct judge *j, const struct share *s, unsigned int bits)
{
	bool half = spec_is_xts(&j->v->spec) && s->alg->mode != MODE_XTS;
	char text[64], *keys = text;

	accel_keys_text(s->alg->hw_keys, text, sizeof(text));
	if (s->alg->mode == MODE_XTS) {
		keys += str_starts(text, "xts ") ? 4 : 0;
		bits *= 2;
	}
	reasons_add(&j->v->reasons, REASON_KEY_SIZE, half ?
		    "The hardware of the %s takes keys of %s bits. XTS splits this key into two of %u bits, which %s passes on to "
		    "software without a word in any log." :
		    "The hardware of the %s takes keys of %s bits. A key of %u bits is passed on to software by %s, without a word in "
		    "any log.",
		    s->accel->name, keys, bits, s->driver);
}

static void say_software(struct judge *j, const struct share *s, unsigned int bits)
{
	struct reasons *r = &j->v->reasons;

	switch (s->code) {
	case REASON_KEY_SIZE:
		say_key_size(j, s, bits);
		break;
	case REASON_KEY_REFUSED:
		reasons_add(r, s->code, "%s takes no key of %u bits%s, and the kernel binds no other driver in its place.",
			    s->driver, bits, spec_is_xts(&j->v->spec) ? " (half of an XTS key)" : "");
		break;
	case REASON_ADIANTUM:
		reasons_add(r, s->code, "%s runs on the CPU and needs no AES instructions to be fast.",
			    str_starts(s->driver, "hctr2") ? "HCTR2" : "Adiantum");
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
	else if (s->code == REASON_QUARANTINED)
		reasons_add(r, s->code, "%s was put to priority 0 after it failed, but nothing else is registered for this, so the "
			    "kernel would still bind it.", s->driver);
	else if (s->code == REASON_OLD_KERNEL)
		reasons_add(r, s->code, "From 5.10 on dm-crypt refuses %s; whether that of kernel %s takes it was not verified.",
			    s->driver, j->pool->m->release);
	else if (s->code == REASON_KEYS_UNKNOWN)
		reasons_add(r, s->code, "Which key sizes the hardware of the %s takes is not established.", s->accel->name);
	else
		reasons_add(r, s->code, "The driver %s is not in the table of accelerators.", s->driver);
}

static bool is_xts_template(const struct judge *j, const char *driver)
{
	const struct accel *a = accel_of_driver(j->pool->m, driver, NULL);

	return str_starts(driver, "xts(") && (!a || a->kind == ACCEL_SOFTWARE);
}

static void say_data(struct judge *j, const struct share *s, const char *driver, unsigned int bits)
{
	if (s->part == PART_SOFTWARE)
		say_software(j, s, bits);
	else if (s->part == PART_UNKNOWN)
		say_unknown(j, s);
	else if (s->part == PART_HARDWARE)
		say_hardware(j, s, driver);
}

/* XTS over a plain ECB. */
static void say_template(struct judge *j, const struct share *data, const struct share *tweak)
{
	const char *more = tweak->part == PART_HARDWARE && accel_is_engine(tweak->accel) ?
		", with a second, 16-byte job for the tweak of each sector" : "";

	if (data->part == PART_HARDWARE && accel_is_engine(data->accel))
		reasons_add(&j->v->reasons, REASON_TEMPLATE,
			    "The engine has no XTS of its own: the kernel's xts template runs over %s%s.", data->driver, more);
}

static void say_side_part(struct judge *j, const struct share *s, const char *what, enum reason_code sw, unsigned int bits)
{
	struct reasons *r = &j->v->reasons;

	if (s->part == PART_SOFTWARE && s->code == REASON_KEY_SIZE)
		reasons_add(r, sw, "The %s needs a key of %u bits, which the hardware of the %s lacks: that step runs in software, one "
			    "block a sector.", what, bits, s->accel->name);
	else if (s->part == PART_SOFTWARE)
		reasons_add(r, sw, "The %s is computed in software (%s), one block a sector.", what, s->driver);
	else if (s->part == PART_UNKNOWN)
		reasons_add(r, s->code, "The %s is computed by %s, one block a sector; whether that uses the hardware is not known.",
			    what, s->driver);
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
	for_each_alg(g, a) {
		const struct pool_alg *k = accel_alg_in(g, policy_kernel(p->m)) ? pool_driver(p, g->driver) : NULL;

		if (k && k->usable)
			return true;
	}
	return false;
}

/* Modes of a row that could serve the spec's: its own, or the one that the kernel's template builds on. */
static unsigned int modes_wanted(const struct cipher_spec *s)
{
	static const struct {
		const char *mode;
		unsigned int modes;
	} want[] = {
		{ "xts", MODE_XTS | MODE_ECB }, { "lrw", MODE_ECB }, { "cbc", MODE_CBC }, { "ecb", MODE_ECB }, { "ctr", MODE_CTR },
	};

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		if (!strcmp(s->mode, want[i].mode))
			return want[i].modes;
	return 0;
}

static void explain_state(struct judge *j, const struct accel *a)
{
	const struct module_fact *f = accel_module(j->pool->m, a);
	const char *mod = f ? f->name : a->modules ? a->modules : "its driver";
	struct reasons *r = &j->v->reasons;

	switch (driver_state(j->pool->m, a)) {
	case DRIVER_FAILED:
		reasons_add(r, REASON_SELFTEST_FAILED, "The %s is here, but its driver did not pass the kernel's self-test.", a->name);
		break;
	case DRIVER_QUARANTINED:
		reasons_add(r, REASON_QUARANTINED, "The %s is here, but its driver was put to priority 0.", a->name);
		break;
	case DRIVER_NOT_LOADED:
		reasons_add(r, REASON_NOT_LOADED, "The %s is here, but %s is not loaded.", a->name, mod);
		break;
	case DRIVER_DENIED:
		reasons_add(r, REASON_DENIED, "The %s is here, but %s is deny-listed (%s).", a->name, mod, f->denied_by);
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
		reasons_add(r, REASON_NOT_LOADED, "The %s is here, but no driver of it is registered.", a->name);
	}
}

static void explain_absent(struct judge *j, const struct accel *a)
{
	const struct load_item *skip = plan_skip(j->plan, a);
	struct reasons *r = &j->v->reasons;

	if (accel_usable(j->pool->m, a) != DMCRYPT_NO_MEMORY_FLAG && !accel_trusted(j->pool->m, a))
		explain_state(j, a);
	else if (accel_usable(j->pool->m, a) == DMCRYPT_NO_MEMORY_FLAG)
		reasons_add(r, REASON_MEMORY_FLAG,
			    "The %s is here, but dm-crypt refuses its drivers: they allocate memory for each request.", a->name);
	else if (skip)
		reasons_add(r, skip->why.code, "The %s is here, but left alone. %s", a->name, skip->why.text);
	else if (!row_in_pool(j->pool, a))
		explain_state(j, a);
	else if (!(a->modes & modes_wanted(&j->v->spec)))
		reasons_add(r, REASON_MODE, "The %s is here, but its hardware has no %s.", a->name,
			    j->v->spec.mode[0] ? j->v->spec.mode : "such mode");
	else if (j->v->spec.capi)
		reasons_add(r, REASON_OUTRANKED, "The %s is here, but the spec leads to %s.", a->name, j->v->driver);
	else
		reasons_add(r, REASON_OUTRANKED, "The %s is here, but the kernel would choose %s.", a->name, j->v->driver);
}

static bool worth_explaining(const struct judge *j, const struct accel *a)
{
	bool cpu = a->kind == ACCEL_CPU && j->v->data != PART_HARDWARE;

	return a != j->bound && (cpu || accel_is_engine(a)) && a->modes & ~(unsigned)(MODE_HASH | MODE_GCM) &&
	       accel_present(j->pool->m, a, NULL, 0) && driver_state(j->pool->m, a) != DRIVER_NOT_IN_KERNEL &&
	       (!a->algs || a->algs->name != NAME_ECB_PAES);
}

/* AES-NI, AVX and VAES are three rows and one module: what keeps that out is told once. */
static bool told_already(const struct judge *j, const struct accel *a)
{
	for (const struct accel *b = accel_table; b < a; b++)
		if (b->kind == ACCEL_CPU && b->modules && a->modules && !strcmp(b->modules, a->modules) && worth_explaining(j, b))
			return true;
	return false;
}

static void explain_rest(struct judge *j)
{
	for_each_accel(a)
		if (worth_explaining(j, a) && !told_already(j, a))
			explain_absent(j, a);
	if (j->v->accel && driver_state(j->pool->m, j->v->accel) == DRIVER_FAILED)
		reasons_add(&j->v->reasons, REASON_SELFTEST_FAILED,
			    "Another driver of the %s did not pass the kernel's self-test, so hwluks would not propose this one.",
			    j->v->accel->name);
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

/* The single-block cipher that xts and essiv take beside the data cipher. */
static void share_of_single(const struct judge *j, unsigned int bits, struct share *s)
{
	const char *cipher = j->v->spec.cipher[0] ? j->v->spec.cipher : "aes";
	const char *driver = pool_single(j->pool, cipher);

	share_of(j->pool->m, driver ? driver : cipher, bits, s);
}

static void judge_tweak(struct judge *j, const struct share *data, const char *driver, unsigned int bits)
{
	bool template = is_xts_template(j, driver);
	struct share t = *data;

	if (!spec_is_xts(&j->v->spec))
		return;
	/* the xts template takes the best single-block cipher for the tweak, whatever does the data */
	if (template)
		share_of_single(j, bits, &t);
	j->v->tweak = t.part;
	if (template)
		say_template(j, data, &t);
	if (j->v->data == PART_HARDWARE)
		say_side_part(j, &t, "XTS tweak", REASON_TWEAK_SOFTWARE, bits);
}

/* ctr(geode-aes), pcbc(…): the engine gets single blocks. */
static void say_blockwise(struct judge *j, const struct share *data)
{
	if (data->part == PART_HARDWARE && accel_is_engine(data->accel) && data->alg->mode == MODE_SINGLE)
		reasons_add(&j->v->reasons, REASON_TEMPLATE,
			    "The engine has no %s of its own: the kernel's template gives it one 16-byte block at a time, which is slow.",
			    j->v->spec.mode);
}

/* lmk hashes the sector, tcw whitens it, elephant diffuses it, all on the CPU (dm-crypt.c, crypt_iv_*_ops). */
static bool works_on_the_sector(const char *iv)
{
	return !strcmp(iv, "lmk") || !strcmp(iv, "tcw") || !strcmp(iv, "elephant");
}

static void judge_iv(struct judge *j, const struct share *data, const char *driver)
{
	int bits = spec_essiv_key_bits(&j->v->spec);
	struct share iv = *data;

	if (works_on_the_sector(j->v->spec.iv)) {
		j->v->iv = PART_SOFTWARE;
		reasons_add(&j->v->reasons, REASON_IV_SOFTWARE,
			    "The %s IV generator works on every byte of a sector in software, whoever does the cipher.",
			    j->v->spec.iv);
		return;
	}
	/* eboiv encrypts its IV with the data cipher itself (dm-crypt.c, crypt_iv_eboiv_gen) */
	if (!strcmp(j->v->spec.iv, "eboiv"))
		j->v->iv = data->part;
	if (bits <= 0)
		return;
	/* a driver that registers essiv(…) itself does both parts; else the best single-block aes does the IV */
	if (str_starts(driver, "essiv("))
		share_of_single(j, (unsigned)bits, &iv);
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
	if (v->verdict != VERDICT_IMPOSSIBLE)
		return;
	v->action = ACTION_REFUSE;
	v->data = v->iv = v->tweak = PART_NONE;
}

static void judge_driver(struct judge *j, const char *driver)
{
	unsigned int bits = spec_cipher_key_bits(&j->v->spec);
	struct share data;

	str_copy(j->v->driver, sizeof(j->v->driver), driver);
	share_of(j->pool->m, driver, bits, &data);
	j->v->data = data.part;
	j->refused = data.code == REASON_KEY_REFUSED;
	j->bound = data.accel;
	if (data.part == PART_HARDWARE)
		j->v->accel = data.accel;
	say_data(j, &data, driver, bits);
	if (!j->refused) {
		judge_tweak(j, &data, driver, bits);
		judge_iv(j, &data, driver);
		say_blockwise(j, &data);
	}
}

/* --- what can be said without a driver --------------------------------------------------------------- */

static bool impossible(struct judge *j, enum reason_code code, const char *fmt, ...) PRINTF(3, 4);
static bool impossible(struct judge *j, enum reason_code code, const char *fmt, ...)
{
	va_list ap;

	j->v->verdict = VERDICT_IMPOSSIBLE;
	j->v->action = ACTION_REFUSE;
	j->v->data = j->v->iv = j->v->tweak = PART_NONE;
	va_start(ap, fmt);
	reasons_addv(&j->v->reasons, code, fmt, ap);
	va_end(ap);
	return true;
}

static bool contradicts_itself(struct judge *j)
{
	const struct cipher_spec *s = &j->v->spec;
	int essiv = spec_essiv_key_bits(s);
	struct spec_error err = { 0 };

	if (!spec_check(s, &err))
		return false;
	/* a sentence of its own here; names of modes and IVs stay as they are written */
	if (err.why[0] >= 'a' && err.why[0] <= 'z' && !(*s->mode && str_starts(err.why, s->mode)) &&
	    !(*s->iv && str_starts(err.why, s->iv)))
		err.why[0] -= 'a' - 'A';
	return impossible(j, has_essiv(s) && essiv != 128 && essiv != 192 && essiv != 256 ? REASON_ESSIV_HASH : REASON_BAD_SPEC,
			  "%s.", err.why);
}

static void say_class(struct judge *j)
{
	const struct cipher_spec *s = &j->v->spec;
	const char *caution = spec_caution(s);
	enum spec_class c = spec_class(s);
	bool malleable = !strcmp(s->mode, "cbc") && c == SPEC_CLASS_STANDARD;

	if (c == SPEC_CLASS_WATERMARK)
		reasons_add(&j->v->reasons, REASON_WEAK_CLASS, "%s", spec_class_sentence(c));
	else if (c == SPEC_CLASS_ECB)
		reasons_add(&j->v->reasons, REASON_ECB, "%s", spec_class_sentence(c));
	else if (c == SPEC_CLASS_OTHER)
		reasons_add(&j->v->reasons, REASON_CAUTION, "%s", spec_class_sentence(c));
	if (caution)
		reasons_add(&j->v->reasons, malleable ? REASON_MALLEABLE : REASON_CAUTION, "%s", caution);
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

/* A driver named in the spec that dm-crypt refuses, also inside of a template. */
static bool masked_by_name(struct judge *j, const char *name)
{
	char tmpl[ALG_NAME_MAX], inner[ALG_NAME_MAX];
	const struct pool_alg *g = pool_driver(j->pool, name);

	if (g && g->masked)
		return impossible(j, REASON_MEMORY_FLAG,
				  "dm-crypt refuses %s: the driver allocates memory for each request, so the open fails with ENOENT.",
				  name);
	return template_split(name, tmpl, sizeof(tmpl), inner, sizeof(inner)) && masked_by_name(j, inner);
}

/* The kernel joins these from parts in ways that are not followed here, unless they are registered as a whole. */
static bool is_aead(const struct cipher_spec *s)
{
	return spec_class(s) == SPEC_CLASS_AUTHENTICATED || !strcmp(s->iv, "random");
}

static bool no_driver(struct judge *j, const char *name)
{
	const struct pool_alg *failed = pool_failed(j->pool, name);

	if (failed)
		return impossible(j, REASON_SELFTEST_FAILED,
				  "%s did not pass the kernel's self-test and nothing else is registered for it, so the open fails "
				  "with ELIBBAD.", failed->driver);
	if (j->v->spec.capi)
		return impossible(j, REASON_CIPHER_MISSING,
				  "This kernel has nothing that it finds under the name %s. Inside of a template names must be full driver "
				  "names, or all be plain ones.", name);
	return impossible(j, REASON_CIPHER_MISSING, "This kernel has nothing that serves this cipher and mode.");
}

static void judge_spec(struct judge *j)
{
	char name[2 * ALG_NAME_MAX], driver[ALG_NAME_MAX];

	if (contradicts_itself(j))
		return;
	if (policy_no_dm_crypt(j->pool->m)) {
		impossible(j, REASON_NO_DM_CRYPT, "This kernel has no dm-crypt (CONFIG_DM_CRYPT), so it can open no volume at all.");
		return;
	}
	j->v->verdict = VERDICT_UNKNOWN;
	j->v->data = PART_UNKNOWN;
	if (!j->pool->m->algs_known) {
		reasons_add(&j->v->reasons, REASON_LIST_UNREADABLE, "The kernel's list of algorithms (/proc/crypto) could not be read.");
		return;
	}
	api_name(&j->v->spec, name, sizeof(name));
	if (masked_by_name(j, j->v->spec.api))
		return;
	if (*pool_resolve(j->pool, name, driver, sizeof(driver))) {
		judge_driver(j, driver);
		conclude(j);
		/* of what parts the kernel would make it is not followed here */
		if (!strcmp(driver, name) && (str_starts(name, "adiantum(") || str_starts(name, "hctr2(")))
			j->v->driver[0] = '\0';
	} else if (is_aead(&j->v->spec)) {
		reasons_add(&j->v->reasons, REASON_DRIVER_UNKNOWN,
			    "What would serve authenticated encryption is known only where its driver is registered as a whole.");
	} else {
		no_driver(j, name);
	}
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

/* True when this spec's data would run on an engine outside the CPU that is worth it, judged quietly. */
static bool engine_serves(const struct judge *j, const struct cipher_spec *s)
{
	struct verdict v = { .spec = *s };
	struct judge quiet = { .pool = j->pool, .plan = j->plan, .v = &v };
	bool yes;

	judge_spec(&quiet);
	yes = v.data == PART_HARDWARE && v.accel && accel_is_engine(v.accel) && accel_proposable(j->pool->m, v.accel);
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

/* The spec names its driver, so the key size or mode is not what keeps it off the hardware. */
static bool names_its_driver(const struct judge *j)
{
	const struct cipher_spec *s = &j->v->spec;
	char plain[sizeof(s->api)];

	snprintf(plain, sizeof(plain), "%s(%s)", s->mode, s->cipher);
	return s->capi && strcmp(plain, s->api) != 0;
}

/* Refuse only where an engine outside the CPU serves the same cipher in another key size or mode, and no weaker class. */
static void judge_action(struct judge *j)
{
	const struct cipher_spec *s = &j->v->spec;

	if (j->v->data != PART_SOFTWARE || j->refused)
		return;
	if (strcmp(s->cipher, "aes") != 0) {
		if (strcmp(s->mode, "adiantum") != 0 && strcmp(s->mode, "hctr2") != 0)
			reasons_add(&j->v->reasons, REASON_OTHER_CIPHER, "No accelerator in the table knows %s.",
				    s->cipher[0] ? s->cipher : s->api);
	} else if (names_its_driver(j)) {
		reasons_add(&j->v->reasons, REASON_ASKED, "The spec itself names the driver, so the kernel makes no choice.");
	} else if (spec_class(s) != SPEC_CLASS_AUTHENTICATED && find_nearest(j)) {
		j->v->action = ACTION_REFUSE;
	}
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
	if (out->verdict != VERDICT_IMPOSSIBLE) {
		if (!strcmp(spec->cipher, "aes") && m->algs_known)
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
		if (j.refused) {
			/* it is open, so the key was taken after all: the table is wrong about this driver */
			j.refused = false;
			out->data = PART_UNKNOWN;
			reasons_free(&out->reasons);
			reasons_add(&out->reasons, REASON_KEYS_UNKNOWN,
				    "%s is open with a key that it should refuse; what its hardware does is not known.", driver);
		}
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
	struct pool pool;
	size_t n = 0;

	api_name(spec, name, sizeof(name));
	pool_build(&pool, m, NULL);
	for (size_t i = 0; i < m->algs.n && max; i++) {
		const struct alg *k = &m->algs.v[i];
		const struct pool_alg *g = strcmp(k->name, name) && strcmp(k->driver, name) ? NULL : pool_driver(&pool, k->driver);
		size_t at = n;

		if (!g || !g->usable || g->single)
			continue;
		while (at && out[at - 1]->priority < k->priority)
			at--;
		if (at == max)
			continue;
		if (n < max)
			n++;
		for (size_t to = n - 1; to > at; to--)
			out[to] = out[to - 1];
		out[at] = k;
	}
	pool_free(&pool);
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
