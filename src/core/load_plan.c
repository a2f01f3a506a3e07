/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Which drivers are worth loading on this machine, which are not, and why.
 * Must not load anything, and must not take a priority for a speed.
 */
#include "core/policy.h"

#include <stdlib.h>
#include <string.h>

#include "core/pool.h"

static struct load_item *item_add(struct load_plan *p, enum load_action action, const struct accel *a,
				  enum reason_code code, const char *fmt, ...) PRINTF(5, 6);
static struct load_item *item_add(struct load_plan *p, enum load_action action, const struct accel *a,
				  enum reason_code code, const char *fmt, ...)
{
	struct load_item *i;
	va_list ap;

	p->v = xreallocarray(p->v, p->n + 1, sizeof(*p->v));
	i = &p->v[p->n++];
	*i = (struct load_item){ .action = action, .accel = a, .why.code = code };
	va_start(ap, fmt);
	if (vasprintf(&i->why.text, fmt, ap) < 0)
		i->why.text = xstrdup("");
	va_end(ap);
	return i;
}

/* --- what was asked for ------------------------------------------------------------------------ */

static bool is_rng_of(const struct accel *a, const char *name)
{
	return a->rng_module && str_same_module(a->rng_module, name);
}

/* The id, or one of the driver names as in /proc/crypto. */
static bool is_own_name(const struct accel *a, const char *name)
{
	if (!strcmp(a->id, name))
		return true;
	for_each_alg(g, a)
		if (!strcmp(g->driver, name))
			return true;
	return false;
}

static bool is_driver_of(const struct accel *a, const char *name)
{
	for_each_word(m, a->modules)
		if (str_same_module(m, name))
			return true;
	return is_own_name(a, name);
}

static bool row_has_name(const struct accel *a, const char *name)
{
	return is_driver_of(a, name) || is_rng_of(a, name);
}

/* A name may fit several rows (aesni-intel, caam); where one of them is present the others are not meant. */
static bool name_means(const struct machine *m, const struct accel *a, const char *name)
{
	if (!row_has_name(a, name))
		return false;
	if (accel_present(m, a, NULL, 0))
		return true;
	for_each_accel(b)
		if (b != a && row_has_name(b, name) && (b < a || accel_present(m, b, NULL, 0)))
			return false;
	return true;
}

/* Asked for by a name of the engine itself; asking for the random number generator's module only is not. */
static bool asked_for(const struct machine *m, const struct load_request *rq, const struct accel *a)
{
	for (size_t i = 0; i < rq->n_names; i++)
		if (is_driver_of(a, rq->names[i]) && name_means(m, a, rq->names[i]))
			return true;
	return false;
}

static bool rng_asked_for(const struct machine *m, const struct load_request *rq, const struct accel *a)
{
	for (size_t i = 0; i < rq->n_names; i++)
		if (is_rng_of(a, rq->names[i]) && name_means(m, a, rq->names[i]))
			return true;
	return false;
}

static void note_unknown_names(const struct load_request *rq, struct load_plan *p)
{
	for (size_t i = 0; i < rq->n_names; i++) {
		bool known = false;

		for (size_t a = 0; a < accel_count && !known; a++)
			known = row_has_name(&accel_table[a], rq->names[i]);
		if (!known)
			strv_add(&p->unknown, rq->names[i]);
	}
}

/* --- would it take work from the CPU's instructions? ---------------------------------------------- */

static bool driver_may_come(enum driver_state s)
{
	return s == DRIVER_REGISTERED || s == DRIVER_UNTESTED || s == DRIVER_NOT_LOADED || s == DRIVER_LOADED ||
	       s == DRIVER_UNKNOWN;
}

/*
 * An algorithm of `a` with at least the priority of the CPU row's algorithm of the same name (a tie goes to the later one);
 * of several the one that disks use most.
 */
static const struct accel_alg *outranking(kver kernel, const struct accel *a, const struct accel *cpu)
{
	static const unsigned int order[] = { MODE_XTS, MODE_CBC, MODE_ESSIV, MODE_ECB, MODE_CTR };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for_each_alg(g, a)
			for_each_alg(c, cpu)
				if (g->mode == order[i] && accel_alg_in(g, kernel) && accel_alg_in(c, kernel) &&
				    g->name == c->name && (g->priority < 0 || g->priority >= c->priority))
					return g;
	return NULL;
}

/* A CPU row with AES instructions at work, or one that could be. */
static bool is_cpu_rival(const struct machine *m, const struct accel *a, const struct accel *cpu)
{
	return cpu != a && cpu->kind == ACCEL_CPU && cpu->modes & (MODE_CBC | MODE_XTS) && accel_present(m, cpu, NULL, 0) &&
	       accel_usable(m, cpu) == DMCRYPT_YES && driver_may_come(driver_state(m, cpu));
}

static bool is_padlock(const struct accel *a)
{
	return !strcmp(a->id, "via-padlock-ace");
}

const struct accel *policy_outranked_cpu(const struct machine *m, const struct accel *a, const struct accel_alg **by)
{
	/* AES-NI, AVX and VAES are one driver, not rivals; PadLock beside AES-NI is one, and AES-NI is the better */
	if (a->kind == ACCEL_CPU && !is_padlock(a))
		return NULL;
	for_each_accel(c) {
		if (is_padlock(c) || !is_cpu_rival(m, a, c))
			continue;
		*by = outranking(policy_kernel(m), a, c);
		if (*by)
			return c;
	}
	return NULL;
}

/* Best priority of the CPU's rows for this algorithm name; -1 when none has it. */
static int cpu_priority(const struct machine *m, const struct accel *a, enum accel_name name)
{
	int best = -1;

	for_each_accel(c) {
		if (!is_cpu_rival(m, a, c))
			continue;
		for_each_alg(g, c)
			if (accel_alg_in(g, policy_kernel(m)) && g->name == name && g->priority > best)
				best = g->priority;
	}
	return best;
}

/* True when the CPU's instructions win cbc and xts all the same: loading the engine would change nothing. */
static bool never_chosen(const struct machine *m, const struct accel *a)
{
	int xts = cpu_priority(m, a, NAME_XTS);

	for_each_alg(g, a) {
		int rival = g->mode == MODE_ECB ? xts : cpu_priority(m, a, g->name);

		if (accel_alg_in(g, policy_kernel(m)) && g->mode & (MODE_CBC | MODE_XTS | MODE_ECB) && g->priority > rival)
			return false;
	}
	return accel_is_engine(a) && a->algs;
}

/* --- one row ---------------------------------------------------------------------------------------- */

static const char *kernel_text(const struct machine *m)
{
	return *m->release ? m->release : "here";
}

static void skip_unusable(const struct machine *m, struct load_plan *p, const struct accel *a, enum accel_dmcrypt why)
{
	switch (why) {
	case DMCRYPT_NO_MEMORY_FLAG:
		item_add(p, LOAD_SKIP, a, REASON_MEMORY_FLAG,
			 "dm-crypt refuses its drivers, since they allocate memory for each request; loading would change nothing for disks.");
		break;
	case DMCRYPT_NO_CIPHER:
		item_add(p, LOAD_SKIP, a, REASON_NO_CIPHER, "It offers no cipher that dm-crypt can use.");
		break;
	case DMCRYPT_NO_DRIVER:
		item_add(p, LOAD_SKIP, a, REASON_NO_DRIVER, "The kernel (%s) has no driver for it.", kernel_text(m));
		break;
	case DMCRYPT_NO_STORAGE:
		item_add(p, LOAD_SKIP, a, REASON_STORAGE, "It encrypts below the block layer, not for dm-crypt.");
		break;
	default:
		item_add(p, LOAD_SKIP, a, REASON_OUTRANKED, "Its priority is so low that the kernel only takes it by its own driver name.");
	}
}

static bool module_in(const struct machine *m, const char *name)
{
	const struct module_fact *f = machine_module(m, name);

	return f && (f->state == MODULE_LOADED || f->state == MODULE_BUILTIN);
}

static bool module_absent(const struct machine *m, const char *name)
{
	const struct module_fact *f = machine_module(m, name);

	return f && f->state == MODULE_MISSING;
}

static bool planned(const struct load_plan *p, const char *module)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].action == LOAD_MODULE && str_same_module(p->v[i].what, module))
			return true;
	return false;
}

static void load_modules(const struct machine *m, struct load_plan *p, const struct accel *a, bool asked)
{
	bool here = accel_present(m, a, NULL, 0);

	for_each_word(mod, a->modules) {
		struct load_item *i;

		if (module_in(m, mod) || planned(p, mod) || (module_absent(m, mod) && a->modules[strlen(a->modules) + 1]))
			continue;
		if (asked && !here)
			i = item_add(p, LOAD_MODULE, a, REASON_ASLEEP, "Asked for by name, although its hardware was not recognised here.");
		else
			i = item_add(p, LOAD_MODULE, a, asked ? REASON_ASKED : REASON_LOAD,
				     asked ? "Asked for by name." : "dm-crypt can use it, and its driver is not loaded.");
		str_copy(i->what, sizeof(i->what), mod);
	}
}

/* via-rng refuses to load where the CPU lacks the unit or the firmware switched it off. */
static bool rng_here(const struct machine *m, const struct accel *a)
{
	return strcmp(a->rng_module, "via-rng") != 0 || (word_in(m->cpu.flags, "rng") && word_in(m->cpu.flags, "rng_en"));
}

/* The kernel itself obeys module_blacklist=; nothing in user space gets past that. */
static bool beyond_force(const struct module_fact *f)
{
	return f && f->denied && strstr(f->denied_by, "module_blacklist=");
}

/* The row's random number generator goes with it, where its module is there and not in yet. */
static void load_rng(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	const struct module_fact *f = a->rng_module ? machine_module(m, a->rng_module) : NULL;
	struct load_item *i;

	if (!f || f->state != MODULE_PRESENT || planned(p, a->rng_module) || !rng_here(m, a))
		return;
	if (f->denied && (!rq->force || beyond_force(f))) {
		i = item_add(p, LOAD_SKIP, a, REASON_DENIED, "The module %s is deny-listed (%s).", a->rng_module, f->denied_by);
	} else {
		i = item_add(p, LOAD_MODULE, a, REASON_LOAD, "Its random number generator is not loaded.");
		str_copy(i->what, sizeof(i->what), a->rng_module);
	}
	i->rng = true;
}

static bool not_worth_it(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	const struct accel_figure *f = a->slower;
	const struct accel_alg *by = NULL;
	const struct accel *cpu;

	if (rq->all)
		return false;
	if (a->slower_than_cpu == TRI_YES) {
		if (f)
			item_add(p, LOAD_SKIP, a, REASON_SLOWER,
				 "Published figures say it is slower than the CPU's own code: %s, %g against %g MB/s (%s).",
				 f->what, f->engine, f->cpu, f->source);
		else
			item_add(p, LOAD_SKIP, a, REASON_SLOWER, "Published figures say it is slower than the CPU's own code.");
		return true;
	}
	cpu = policy_outranked_cpu(m, a, &by);
	if (cpu)
		item_add(p, LOAD_SKIP, a, REASON_OUTRANKS_CPU,
			 "Its driver %s (priority %d) would take %s from the CPU's AES instructions, and no measurement says that it "
			 "is faster.", by->driver, by->priority, accel_alg_name(by));
	else if (never_chosen(m, a))
		item_add(p, LOAD_SKIP, a, REASON_OUTRANKED,
			 "The CPU's AES instructions have the higher priority in every mode that disks use, so it would stay idle.");
	else if (a->algs && a->algs->name == NAME_ECB_PAES)
		item_add(p, LOAD_SKIP, a, REASON_OTHER_CIPHER,
			 "It serves protected keys (the cipher paes), which a volume must be made for.");
	else
		return false;
	return true;
}

static void plan_not_loaded(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	bool asked = asked_for(m, rq, a);

	if (!asked && not_worth_it(m, rq, p, a))
		return;
	load_modules(m, p, a, asked);
	load_rng(m, rq, p, a);
}

static void plan_denied(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	const struct module_fact *f = accel_module(m, a);

	if (!rq->force)
		item_add(p, LOAD_SKIP, a, REASON_DENIED, "The module %s is deny-listed (%s).", f->name, f->denied_by);
	else if (beyond_force(f))
		item_add(p, LOAD_SKIP, a, REASON_DENIED, "The module %s is deny-listed (%s); the kernel obeys that itself, so --force is of "
			 "no use.", f->name, f->denied_by);
	else
		plan_not_loaded(m, rq, p, a);
}

/* Registered already, by udev perhaps; said when that costs the CPU's instructions their work. */
static void plan_registered(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	const struct accel_alg *by = NULL;
	const struct accel *cpu = policy_outranked_cpu(m, a, &by);

	if (a->slower_than_cpu == TRI_YES)
		item_add(p, LOAD_NOTHING_TO_DO, a, REASON_SLOWER,
			 "Its driver is loaded and registered, but published figures say it is slower than the CPU's own code.");
	else if (cpu)
		item_add(p, LOAD_NOTHING_TO_DO, a, REASON_OUTRANKS_CPU,
			 "Its driver is loaded and takes %s from the CPU's AES instructions; no measurement says that it is faster.",
			 accel_alg_name(by));
	else
		item_add(p, LOAD_NOTHING_TO_DO, a, REASON_LOADED, "Its driver is loaded and registered.");
	load_rng(m, rq, p, a);
}

/* AES-NI, AVX and VAES share a module: unless one is asked for by its own name the first speaks for all. */
static bool part_of_other(const struct machine *m, const struct load_request *rq, const struct accel *a)
{
	for (size_t i = 0; i < rq->n_names; i++)
		if (is_own_name(a, rq->names[i]))
			return false;
	for (const struct accel *b = accel_table; b < a; b++)
		if (a->kind == ACCEL_CPU && b->modules && a->modules && !strcmp(b->modules, a->modules) &&
		    accel_present(m, b, NULL, 0))
			return true;
	return false;
}

/* The first of the row's options that the kernel lacks. */
static const char *missing_option(const struct machine *m, const struct accel *a)
{
	struct strv missing = { 0 };
	const char *name = "?";

	accel_missing_options(m, a, &missing);
	for_each_word(o, a->kconfig)
		if (missing.n && !strcmp(o, missing.v[0]))
			name = o;
	strv_free(&missing);
	return name;
}

static bool may_try(const struct machine *m, const struct load_request *rq, const struct accel *a)
{
	enum accel_dmcrypt usable = accel_usable(m, a);
	bool asked = asked_for(m, rq, a);

	switch (usable) {
	case DMCRYPT_YES:
		return true;
	case DMCRYPT_BY_NAME:
		return asked || rq->all;
	case DMCRYPT_NO_DRIVER:
	case DMCRYPT_NO_STORAGE:
		return false;
	default:
		return asked;
	}
}

static void plan_row(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	const struct module_fact *f = accel_module(m, a);

	if (part_of_other(m, rq, a))
		return;
	if (!may_try(m, rq, a)) {
		skip_unusable(m, p, a, accel_usable(m, a));
		return;
	}
	switch (driver_state(m, a)) {
	case DRIVER_REGISTERED:
	case DRIVER_UNTESTED:
		plan_registered(m, rq, p, a);
		break;
	case DRIVER_FAILED:
		item_add(p, LOAD_SKIP, a, REASON_SELFTEST_FAILED, "A driver of it did not pass the kernel's self-test.");
		break;
	case DRIVER_QUARANTINED:
		item_add(p, LOAD_SKIP, a, REASON_QUARANTINED, "Its driver was put to priority 0 after it failed.");
		break;
	case DRIVER_LOADED:
		item_add(p, LOAD_SKIP, a, REASON_NOT_LOADED, "Its module is in, but it registered no algorithm: see the kernel log.");
		break;
	case DRIVER_NO_OPTION:
		item_add(p, LOAD_SKIP, a, REASON_NO_OPTION, "This kernel was built without its driver (CONFIG_%s).", missing_option(m, a));
		break;
	case DRIVER_NO_MODULE:
		item_add(p, LOAD_SKIP, a, REASON_NO_MODULE, "The module %s is not installed for this kernel (%s).", f->name, kernel_text(m));
		break;
	case DRIVER_NOT_IN_KERNEL:
		item_add(p, LOAD_SKIP, a, REASON_NO_DRIVER, "The kernel (%s) has no code for it.", kernel_text(m));
		break;
	case DRIVER_DENIED:
		plan_denied(m, rq, p, a);
		break;
	default:
		if (!a->modules)
			item_add(p, LOAD_SKIP, a, REASON_NO_DRIVER, "It has no module to load.");
		else
			plan_not_loaded(m, rq, p, a);
	}
}

/* --- templates the kernel does not build by itself --------------------------------------------------- */

/*
 * An engine or PadLock whose ecb could serve xts, were there not an xts(aes) already: native code of the kernel (7.3), of
 * the vector unit, or an instance on something slower. The template is only consulted while nothing has that name.
 */
static void plan_template(const struct machine *m, struct load_plan *p, const struct pool *pool, const struct accel *a)
{
	const struct pool_alg *xts = pool_best(pool, "xts(aes)");

	if (!xts || a->modes & MODE_XTS || !(a->modes & MODE_ECB))
		return;
	for_each_alg(g, a) {
		const struct pool_alg *k = accel_alg_in(g, policy_kernel(m)) ? pool_driver(pool, g->driver) : NULL;
		struct load_item *i;

		if (g->mode != MODE_ECB || !k || !k->usable || k->priority <= xts->priority)
			continue;
		i = item_add(p, LOAD_PREPARE, a, REASON_PREPARE,
			     "%s is registered for xts(aes) already, so the kernel (%s) would not build xts over %s unasked.",
			     xts->driver, kernel_text(m), g->driver);
		snprintf(i->what, sizeof(i->what), "xts(%s)", g->driver);
		return;
	}
}

/* Only where it is a gain: not beside the CPU's AES instructions, not for what failed or is known to be slower. */
static bool may_prepare(const struct machine *m, const struct load_request *rq, const struct accel *a)
{
	if (rq->n_names && !asked_for(m, rq, a))
		return false;
	return (accel_is_engine(a) || a->kind == ACCEL_CPU) && accel_present(m, a, NULL, 0) &&
	       accel_usable(m, a) == DMCRYPT_YES && accel_trusted(m, a) &&
	       (a->slower_than_cpu != TRI_YES || rq->all || asked_for(m, rq, a));
}

static void plan_templates(const struct machine *m, const struct load_request *rq, struct load_plan *p)
{
	struct pool pool;

	if (policy_cpu_has_aes(m))
		return;
	pool_build(&pool, m, p);
	for_each_accel(a)
		if (may_prepare(m, rq, a))
			plan_template(m, p, &pool, a);
	pool_free(&pool);
}

/* --- entry points ------------------------------------------------------------------------------------- */

void policy_load_plan(const struct machine *m, const struct load_request *rq, struct load_plan *out)
{
	static const struct load_request nothing_asked;

	if (!rq)
		rq = &nothing_asked;
	*out = (struct load_plan){ 0 };
	note_unknown_names(rq, out);
	for_each_accel(a) {
		bool candidate = a->kind != ACCEL_SOFTWARE && a->kind != ACCEL_CPU_SIMD && accel_present(m, a, NULL, 0);

		if (rq->n_names ? asked_for(m, rq, a) : candidate)
			plan_row(m, rq, out, a);
		else if (rng_asked_for(m, rq, a))
			load_rng(m, rq, out, a);
	}
	plan_templates(m, rq, out);
}

bool load_plan_acts(const struct load_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].action == LOAD_MODULE || p->v[i].action == LOAD_PREPARE)
			return true;
	return false;
}

void load_plan_free(struct load_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].why.text);
	free(p->v);
	strv_free(&p->unknown);
	*p = (struct load_plan){ 0 };
}
