/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Carries out a load plan and proves drivers right before anything relies on them: load in a child, wait,
 * prepare, known-answer test, quarantine. Must not decide what to load or touch a volume.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "core/boot_conf.h"
#include "vol/quarantine.h"
#include "vol/verify.h"

#define WAIT_MS 10000u

/* One cipher of the row that is registered when its device came up; the data path first. */
static const char *telltale(const struct machine *m, const struct accel *a)
{
	static const unsigned int order[] = { MODE_CBC, MODE_ECB, MODE_XTS };

	for (size_t o = 0; o < ARRAY_SIZE(order); o++)
		for_each_alg(g, a)
			if (g->mode == order[o] && accel_alg_in(g, m->kernel))
				return g->driver;
	return NULL;
}

static void take_out(const struct accel *a, const char *driver, const struct cipher_spec *spec, struct strbuf *text)
{
	struct quarantine_result q = { 0 };
	const char *module = a->modules;

	if (quarantine_driver(a, &q))
		log_warn("%s", q.text);
	strbuf_printf(text, " %s", q.text);
	if (module)
		stamp_write(driver, module, spec, STAMP_QUARANTINED);
}

const struct accel *bringup_broken(const struct machine *m, enum driver_state *state)
{
	for (const struct accel *a = accel_table; a < accel_table + accel_count; a++) {
		if (!accel_is_engine(a) || accel_usable(m, a) != DMCRYPT_YES || !accel_present(m, a, NULL, 0))
			continue;
		*state = driver_state(m, a);
		if (*state == DRIVER_FAILED || *state == DRIVER_QUARANTINED)
			return a;
	}
	return NULL;
}

/* The algorithm of the row, or the instance built on one, that is listed without a passed test. */
static const char *failed_driver(const struct machine *m, const struct accel *a)
{
	for (size_t i = 0; i < m->algs.n; i++) {
		const struct alg *k = &m->algs.v[i];
		bool own = accel_alg_by_driver(a, k->driver, m->kernel) != NULL;

		if (k->selftest == SELFTEST_UNKNOWN && (own || accel_in_instance(a, k->driver)))
			return k->driver;
	}
	return a->modules;
}

unsigned int bringup_take_out_failed(struct sysroot *sr, struct machine *m, struct strbuf *text)
{
	unsigned int n = 0;

	for (const struct accel *a = accel_table; a < accel_table + accel_count; a++) {
		if (a->kind == ACCEL_SOFTWARE || a->kind == ACCEL_CPU_SIMD || driver_state(m, a) != DRIVER_FAILED ||
		    !accel_present(m, a, NULL, 0))
			continue;
		strbuf_printf(text, "%s%s did not pass the kernel's self-test.", text->len ? " " : "", failed_driver(m, a));
		take_out(a, a->modules, NULL, text);
		n++;
	}
	if (n)
		probe_again(sr, PROBE_FOR_OPEN, m);
	return n;
}

/* --- known-answer test ------------------------------------------------------------------------------ */

static int test_driver(struct sysroot *sr, struct machine *m, const struct verdict *v, enum verify_when when, struct strbuf *text)
{
	const char *module = v->accel ? v->accel->modules : NULL;
	struct verify_request rq = { .spec = &v->spec, .ops = when == VERIFY_BOOT ? VERIFY_QUICK_OPS : 0 };
	struct verify_result res;

	verify_driver(&rq, &res);
	strbuf_printf(text, "%s", res.text);
	if (*res.left_behind)
		strbuf_printf(text, " Left behind: %s.", res.left_behind);
	if (verify_outcome_bad(res.outcome)) {
		if (v->accel && v->data == PART_HARDWARE) {
			take_out(v->accel, v->driver, NULL, text);
			probe_again(sr, PROBE_FOR_OPEN, m);
		}
		return EXIT_DRIVER_BAD;
	}
	if (res.outcome == VERIFY_UNAVAILABLE)
		return -EOPNOTSUPP;
	if (res.outcome == VERIFY_OPEN_FAILED) {
		/* the spec, or the kernel's own test of a new instance on the driver? */
		probe_again(sr, PROBE_FOR_OPEN, m);
		return v->data == PART_HARDWARE && bringup_take_out_failed(sr, m, text) ? EXIT_DRIVER_BAD : -EINVAL;
	}
	if (module && v->data == PART_HARDWARE)
		stamp_write(v->driver, module, &v->spec, STAMP_VERIFIED);
	return 0;
}

static bool left_out(const struct verdict *v, enum verify_when when)
{
	if (when == VERIFY_ALWAYS)
		return false;
	return v->data != PART_HARDWARE || !v->accel || (when == VERIFY_ENGINES && !accel_is_engine(v->accel));
}

static bool known_good(const struct verdict *v, enum verify_when when)
{
	return when != VERIFY_ALWAYS && v->accel->modules &&
	       stamp_read(v->driver, v->accel->modules, &v->spec) == STAMP_VERIFIED;
}

int bringup_verify(struct sysroot *sr, struct machine *m, const struct cipher_spec *spec, enum verify_when when,
		   struct strbuf *text)
{
	struct verdict v;
	int r = 0;

	policy_decide(m, NULL, spec, &v);
	if (!left_out(&v, when)) {
		if (known_good(&v, when))
			strbuf_printf(text, "%s gave the known answer earlier since this boot.", v.driver);
		else
			r = test_driver(sr, m, &v, when, text);
	}
	verdict_free(&v);
	return r;
}

/* --- loading ------------------------------------------------------------------------------------------- */

static int verify_row(struct sysroot *sr, struct machine *m, const struct accel *a, enum verify_when when, struct strbuf *text)
{
	struct cipher_spec spec[4];
	size_t n = verify_specs(a, m->kernel, spec, ARRAY_SIZE(spec));
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		struct strbuf t = { 0 };

		r = bringup_verify(sr, m, &spec[i], when, &t);
		if (r || i + 1 == n)
			strbuf_printf(text, "%s%s", text->len ? " " : "", t.s ? t.s : "");
		strbuf_free(&t);
	}
	return r;
}

static int wait_for(struct sysroot *sr, struct machine *m, const struct accel *a, unsigned int wait_ms)
{
	const char *drivers[2] = { telltale(m, a), NULL };

	return drivers[0] ? module_wait_registered(sr, drivers, (int)wait_ms, NULL) : 0;
}

static const char *load_error(int err)
{
	switch (err) {
	case -ENOENT:
		return "No such module is installed for this kernel.";
	case -EACCES:
		return "It is deny-listed; --force loads it all the same.";
	case -EPERM:
		return "No right to load modules here: run as root.";
	case -ENODEV:
		return "The driver found no device.";
	default:
		return strerror(-err);
	}
}

static int hung_at_load(struct sysroot *sr, struct machine *m, const struct load_item *i, struct strbuf *text)
{
	strbuf_printf(text, "Loading %s did not come to an end within the limit.", i->what);
	take_out(i->accel, i->what, NULL, text);
	probe_again(sr, PROBE_FOR_OPEN, m);
	return EXIT_DRIVER_BAD;
}

/* More modules of the same accelerator follow in the plan (ccp, ccp-crypto): too early to judge. */
static bool more_to_come(const struct load_plan *plan, const struct load_item *i)
{
	for (const struct load_item *k = i + 1; k < plan->v + plan->n; k++)
		if (k->action == LOAD_MODULE && k->accel == i->accel && !k->rng)
			return true;
	return false;
}

/* Somebody waits for the machine: a device that is not on any bus gets a moment to appear, and no more. */
#define ABSENT_WAIT_MS 3000u

static unsigned int wait_limit(const struct machine *m, const struct accel *a, const struct bringup_options *o)
{
	unsigned int limit = o->wait_ms ? o->wait_ms : WAIT_MS;

	return o->quick && limit > ABSENT_WAIT_MS && !accel_present(m, a, NULL, 0) ? ABSENT_WAIT_MS : limit;
}

/* A module is in; says what became of its device. */
static int judge_loaded(struct sysroot *sr, struct machine *m, const struct load_item *i, const struct bringup_options *o,
			struct strbuf *text)
{
	int late = wait_for(sr, m, i->accel, wait_limit(m, i->accel, o));

	probe_again(sr, PROBE_FOR_OPEN, m);
	switch (driver_state(m, i->accel)) {
	case DRIVER_FAILED:
		strbuf_printf(text, "Loaded, but a driver of it did not pass the kernel's self-test.");
		take_out(i->accel, i->what, NULL, text);
		probe_again(sr, PROBE_FOR_OPEN, m);
		return EXIT_DRIVER_BAD;
	case DRIVER_REGISTERED:
	case DRIVER_UNTESTED:
		break;
	default:
		if (!accel_present(m, i->accel, NULL, 0))
			strbuf_printf(text, "Loaded, but the %s was not found in this machine, and nothing was registered.", i->accel->name);
		else
			strbuf_printf(text, late ? "Loaded, but nothing was registered within the limit: see the kernel log." :
						   "Loaded, but nothing was registered: see the kernel log.");
		return -ENODEV;
	}
	strbuf_printf(text, "Loaded.");
	return o->verify ? verify_row(sr, m, i->accel, o->quick ? VERIFY_BOOT : VERIFY_HARDWARE, text) : 0;
}

static int load_one(struct sysroot *sr, struct machine *m, const struct load_plan *plan, const struct load_item *i,
		    const struct bringup_options *o, struct strbuf *text)
{
	struct strbuf log = { 0 };
	int r = module_load(i->what, o->force ? MODULE_FORCE : 0, (int)(o->wait_ms ? o->wait_ms : WAIT_MS), &log);

	if (r == -ETIMEDOUT) {
		strbuf_free(&log);
		return i->rng ? r : hung_at_load(sr, m, i, text);
	}
	if (r)
		strbuf_printf(text, "%s", log.s ? log.s : load_error(r));
	strbuf_free(&log);
	if (r)
		return r;
	if (i->rng || more_to_come(plan, i)) {
		strbuf_printf(text, "Loaded.");
		return 0;
	}
	return judge_loaded(sr, m, i, o, text);
}

static int instantiate(void *arg, int out)
{
	(void)out;
	return crypto_user_instantiate("xts(aes)", arg);
}

static int prepare_one(struct sysroot *sr, struct machine *m, const struct load_item *i, struct strbuf *text)
{
	char what[ALG_NAME_MAX];
	int r;

	str_copy(what, sizeof(what), i->what);
	r = child_run(instantiate, what, (int)WAIT_MS, 0, NULL);
	if (r)
		strbuf_printf(text, "The kernel did not build it: %s.", strerror(-r));
	else
		strbuf_printf(text, "Prepared.");
	probe_again(sr, PROBE_FOR_OPEN, m);
	return r;
}

/* What is left of a limit for all; true when it is used up. */
static bool used_up(struct bringup_options *o, int64_t end)
{
	int64_t left = end - clock_ms();

	if (o->wait_all && left > 0)
		o->wait_ms = (unsigned int)left;
	return o->wait_all && left <= 0;
}

int bringup_run(struct sysroot *sr, struct machine *m, const struct load_plan *plan, const struct bringup_options *o,
		struct bringup *out)
{
	struct bringup_options left = *o;
	int64_t end = clock_ms() + (o->wait_ms ? o->wait_ms : WAIT_MS);
	int result = 0;

	*out = (struct bringup){ .v = xcalloc(plan->n, sizeof(*out->v)) };
	for (size_t i = 0; i < plan->n; i++) {
		const struct load_item *item = &plan->v[i];
		struct bringup_item *done;
		struct strbuf text = { 0 };

		if (item->action != LOAD_MODULE && item->action != LOAD_PREPARE)
			continue;
		log_verbose("%s %s ...", item->action == LOAD_MODULE ? "Loading" : "Preparing", item->what);
		done = &out->v[out->n++];
		done->item = item;
		if (used_up(&left, end)) {
			strbuf_printf(&text, "Left out: the limit for all drivers together was used up.");
			done->err = -ETIMEDOUT;
		} else {
			done->err = item->action == LOAD_MODULE ? load_one(sr, m, plan, item, &left, &text) :
								  prepare_one(sr, m, item, &text);
		}
		str_copy(done->text, sizeof(done->text), text.s ? text.s : "");
		strbuf_free(&text);
		if (!done->err && item->action == LOAD_MODULE)
			out->loaded++;
		if (done->err == EXIT_DRIVER_BAD) {
			out->quarantined++;
			result = EXIT_DRIVER_BAD;
		} else if (done->err == -EPERM && !result) {
			result = -EPERM;
		}
	}
	return result;
}

void bringup_free(struct bringup *b)
{
	free(b->v);
	*b = (struct bringup){ 0 };
}

void boot_conf_read(struct sysroot *sr, struct boot_conf *conf)
{
	cleanup_free char *text = NULL;
	int r = sysroot_read(sr, BOOT_CONF_PATH, &text, NULL);

	if (r && r != -ENOENT)
		log_warn(BOOT_CONF_PATH " could not be read: %s. The defaults count.", strerror(-r));
	boot_conf_parse(text, conf);
	for (size_t i = 0; i < conf->warnings.n; i++)
		log_warn("%s", conf->warnings.v[i]);
}
