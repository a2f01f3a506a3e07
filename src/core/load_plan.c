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

static bool row_has_name(const struct accel *a, const char *name)
{
	if (!strcmp(a->id, name) || (a->rng_module && !strcmp(a->rng_module, name)))
		return true;
	for (const char *const *m = a->modules; m && *m; m++)
		if (str_same_module(*m, name))
			return true;
	for (const struct accel_alg *g = a->algs; g && g->name; g++)
		if (!strcmp(g->driver, name))
			return true;
	return false;
}

static bool asked_for(const struct load_request *rq, const struct accel *a)
{
	for (size_t i = 0; i < rq->n_names; i++)
		if (row_has_name(a, rq->names[i]))
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

/* An algorithm of `a` with at least the priority of the CPU row's algorithm of the same name; a tie goes to the later one. */
static const struct accel_alg *outranking(const struct machine *m, const struct accel *a, const struct accel *cpu)
{
	for (const struct accel_alg *g = a->algs; g && g->name; g++)
		for (const struct accel_alg *c = cpu->algs; c && c->name; c++)
			if (accel_alg_in(g, m->kernel) && accel_alg_in(c, m->kernel) && !strcmp(g->name, c->name) &&
			    (g->priority < 0 || g->priority >= c->priority))
				return g;
	return NULL;
}

/* The CPU row that `a` would outrank, or NULL. */
static const struct accel *outranked_cpu(const struct machine *m, const struct accel *a, const struct accel_alg **by)
{
	for (const struct accel *c = accel_table; c < accel_table + accel_count; c++) {
		if (c == a || c->kind != ACCEL_CPU || !(c->modes & MODE_CBC) || !accel_present(m, c, NULL, 0) ||
		    accel_usable(m, c) != DMCRYPT_YES || !driver_may_come(driver_state(m, c)))
			continue;
		/* AES-NI against its own AVX rows is one driver, not a rivalry */
		if (a->kind == ACCEL_CPU && policy_cpu_has_aes(m) && strcmp(a->id, "via-padlock-ace"))
			continue;
		*by = outranking(m, a, c);
		if (*by)
			return c;
	}
	return NULL;
}

/* --- one row ---------------------------------------------------------------------------------------- */

static void skip_unusable(struct load_plan *p, const struct accel *a, enum accel_dmcrypt why)
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
		item_add(p, LOAD_SKIP, a, REASON_NO_DRIVER, "The kernel has no driver for it any more.");
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
	for (const char *const *mod = a->modules; mod && *mod; mod++) {
		struct load_item *i;

		if (module_in(m, *mod) || planned(p, *mod) || (module_absent(m, *mod) && mod != a->modules))
			continue;
		i = item_add(p, LOAD_MODULE, a, asked ? REASON_ASKED : REASON_LOAD,
			     asked ? "Asked for by name." : "dm-crypt can use it, and its driver is not loaded.");
		str_copy(i->what, sizeof(i->what), *mod);
	}
}

/* The row's random number generator goes with it, where its module is there and not in yet. */
static void load_rng(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	const struct module_fact *f = a->rng_module ? machine_module(m, a->rng_module) : NULL;
	struct load_item *i;

	if (!f || f->state != MODULE_PRESENT || planned(p, a->rng_module))
		return;
	if (f->denied && !rq->force) {
		i = item_add(p, LOAD_SKIP, a, REASON_DENIED, "Its random number generator's module is deny-listed (%s).", f->denied_by);
	} else {
		i = item_add(p, LOAD_MODULE, a, REASON_LOAD, "Its random number generator is not loaded.");
		str_copy(i->what, sizeof(i->what), a->rng_module);
	}
	i->rng = true;
}

static bool not_worth_it(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	const struct accel_alg *by = NULL;
	const struct accel *cpu;

	if (rq->all)
		return false;
	if (a->slower_than_cpu == TRI_YES) {
		const struct accel_figure *f = a->figures;

		while (f && f->what && !(f->silicon && f->engine > 0 && f->engine < f->cpu))
			f++;
		if (f && f->what)
			item_add(p, LOAD_SKIP, a, REASON_SLOWER,
				 "Published figures say it is slower than the CPU's own code: %s, %g against %g MB/s (%s).",
				 f->what, f->engine, f->cpu, f->source);
		else
			item_add(p, LOAD_SKIP, a, REASON_SLOWER, "Published figures say it is slower than the CPU's own code.");
		return true;
	}
	cpu = outranked_cpu(m, a, &by);
	if (!cpu)
		return false;
	item_add(p, LOAD_SKIP, a, REASON_OUTRANKS_CPU,
		 "Its driver %s (priority %d) would take %s from the CPU's AES instructions (%s), and no measurement says that it is faster.",
		 by->driver, by->priority, by->name, cpu->name);
	return true;
}

static void plan_not_loaded(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	bool asked = asked_for(rq, a);

	if (!asked && not_worth_it(m, rq, p, a))
		return;
	load_modules(m, p, a, asked);
	load_rng(m, rq, p, a);
}

static const char *denied_by(const struct machine *m, const struct accel *a)
{
	const struct module_fact *f = machine_module(m, a->modules[0]);

	return f ? f->denied_by : "";
}

static void plan_row(const struct machine *m, const struct load_request *rq, struct load_plan *p, const struct accel *a)
{
	enum accel_dmcrypt usable = accel_usable(m, a);

	if (usable != DMCRYPT_YES && !(usable == DMCRYPT_BY_NAME && (rq->all || asked_for(rq, a))) &&
	    !(asked_for(rq, a) && usable != DMCRYPT_NO_DRIVER && usable != DMCRYPT_NO_STORAGE)) {
		skip_unusable(p, a, usable);
		return;
	}
	switch (driver_state(m, a)) {
	case DRIVER_REGISTERED:
	case DRIVER_UNTESTED:
		item_add(p, LOAD_NOTHING_TO_DO, a, REASON_LOADED, "Its driver is loaded and registered.");
		load_rng(m, rq, p, a);
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
		item_add(p, LOAD_SKIP, a, REASON_NO_OPTION, "This kernel was built without its driver (CONFIG_%s).",
			 a->kconfig && a->kconfig[0] ? a->kconfig[0] : "?");
		break;
	case DRIVER_NO_MODULE:
		item_add(p, LOAD_SKIP, a, REASON_NO_MODULE, "The module %s is not installed for kernel %s.", a->modules[0], m->release);
		break;
	case DRIVER_NOT_IN_KERNEL:
		item_add(p, LOAD_SKIP, a, REASON_NO_DRIVER, "Kernel %s has no code for it.", m->release);
		break;
	case DRIVER_DENIED:
		if (!rq->force) {
			item_add(p, LOAD_SKIP, a, REASON_DENIED, "The module %s is deny-listed (%s).", a->modules[0], denied_by(m, a));
			break;
		}
		/* fall through */
	default:
		if (!a->modules || !a->modules[0])
			item_add(p, LOAD_SKIP, a, REASON_NO_DRIVER, "It has no module to load.");
		else
			plan_not_loaded(m, rq, p, a);
	}
}

/* --- templates the kernel does not build by itself --------------------------------------------------- */

/* An engine or PadLock whose ecb could serve xts, were xts-aes-lib not registered natively (7.3 and later). */
static void plan_template(const struct machine *m, struct load_plan *p, const struct pool *pool, const struct accel *a)
{
	const struct pool_alg *xts = pool_best(pool, "xts(aes)");

	if (!xts || a->modes & MODE_XTS || !(a->modes & MODE_ECB) || strchr(xts->driver, '('))
		return;
	for (const struct accel_alg *g = a->algs; g && g->name; g++) {
		const struct pool_alg *k = accel_alg_in(g, m->kernel) ? pool_driver(pool, g->driver) : NULL;
		struct load_item *i;

		if (g->mode != MODE_ECB || !k || !k->usable || k->priority <= xts->priority)
			continue;
		i = item_add(p, LOAD_PREPARE, a, REASON_PREPARE,
			     "Kernel %s registers %s itself and would not build xts over %s unasked.", m->release, xts->driver, g->driver);
		snprintf(i->what, sizeof(i->what), "xts(%s)", g->driver);
		return;
	}
}

static void plan_templates(const struct machine *m, struct load_plan *p)
{
	struct pool pool;

	if (policy_cpu_has_aes(m))
		return;
	pool_build(&pool, m, p);
	for (const struct accel *a = accel_table; a < accel_table + accel_count; a++)
		if ((accel_is_engine(a) || a->kind == ACCEL_CPU) && accel_usable(m, a) == DMCRYPT_YES &&
		    accel_present(m, a, NULL, 0))
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
	for (const struct accel *a = accel_table; a < accel_table + accel_count; a++) {
		bool candidate = a->kind != ACCEL_SOFTWARE && a->kind != ACCEL_CPU_SIMD && accel_present(m, a, NULL, 0);

		if (rq->n_names ? asked_for(rq, a) : candidate)
			plan_row(m, rq, out, a);
	}
	plan_templates(m, out);
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
