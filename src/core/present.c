/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Which accelerators a machine has, in which state their drivers are, and whether dm-crypt may use them.
 * Must not know what anybody wants to encrypt.
 */
#include "core/policy.h"

#include <stdlib.h>
#include <string.h>

#include "core/kconfig.h"

/* Every word of `what` is one of the words of `list`. */
static bool has_all_words(const char *list, const char *what)
{
	char word[64];

	while (*what) {
		size_t n = strcspn(what, " ");

		if (n >= sizeof(word))
			return false;
		memcpy(word, what, n);
		word[n] = '\0';
		if (n && !word_in(list, word))
			return false;
		what += n;
		what += strspn(what, " ");
	}
	return true;
}

static bool describe(char *how, size_t size, const char *fmt, ...) PRINTF(3, 4);
static bool describe(char *how, size_t size, const char *fmt, ...)
{
	va_list ap;

	if (how) {
		va_start(ap, fmt);
		vsnprintf(how, size, fmt, ap);
		va_end(ap);
	}
	return true;
}

static bool match_device(const struct machine *m, const struct accel_match *match, char *how, size_t size)
{
	static const char *const bus[] = {
		[MATCH_PCI] = "PCI", [MATCH_VIRTIO] = "virtio device id", [MATCH_DT] = "device tree",
		[MATCH_ACPI] = "ACPI", [MATCH_PLATFORM] = "platform device", [MATCH_FSLMC] = "fsl-mc object",
		[MATCH_VIO] = "VIO device", [MATCH_OPAL] = "TCG Opal drive", [MATCH_INLINE] = "inline encryption queue",
	};
	const struct device_fact *d = machine_device(m, match);

	if (!d)
		return false;
	return describe(how, size, "%s %s at %s", bus[match->how], d->id, d->where);
}

static bool match_one(const struct machine *m, const struct accel_match *match, char *how, size_t size)
{
	switch (match->how) {
	case MATCH_CPU:
	case MATCH_ISA:
	case MATCH_CPUCAP:
	case MATCH_HWCAP2_PPC:
		return has_all_words(m->cpu.flags, match->what) &&
		       describe(how, size, "CPU flag%s %s", strchr(match->what, ' ') ? "s" : "", match->what);
	case MATCH_ALWAYS:
		return describe(how, size, "always there");
	case MATCH_NONE:
		return false;
	default:
		return match_device(m, match, how, size);
	}
}

bool accel_present(const struct machine *m, const struct accel *a, char *how, size_t size)
{
	struct accel_match match;

	if (m->arch && !(a->arch & m->arch))
		return false;
	for (const char *at = a->match; accel_match_next(&at, &match);)
		if (match_one(m, &match, how, size))
			return true;
	return false;
}

kver policy_kernel(const struct machine *m)
{
	return m->kernel && m->kernel < KVER(5, 10) ? KVER(5, 10) : m->kernel;
}

const struct accel *accel_of_driver(const struct machine *m, const char *driver, const struct accel_alg **alg)
{
	for_each_accel(a) {
		const struct accel_alg *g;

		/* accel_present() asks the same, but only once the names have been compared */
		if (m->arch && !(a->arch & m->arch))
			continue;
		g = accel_alg_by_driver(a, driver, policy_kernel(m));
		if (!g || !accel_present(m, a, NULL, 0))
			continue;
		if (alg)
			*alg = g;
		return a;
	}
	return accel_by_driver(driver, policy_kernel(m), alg);
}

/* --- driver state ------------------------------------------------------------------------------ */

bool accel_missing_options(const struct machine *m, const struct accel *a, struct strv *out)
{
	if (!m->kconfig)
		return false;
	for_each_word(o, a->kconfig)
		if (kconfig_get(m->kconfig, m->kconfig_len, o) == KCONFIG_NO)
			strv_add(out, o);
	return true;
}

static bool option_missing(const struct machine *m, const struct accel *a)
{
	struct strv missing = { 0 };
	bool any;

	accel_missing_options(m, a, &missing);
	any = missing.n > 0;
	strv_free(&missing);
	return any;
}

const struct alg *accel_alg_listed(const struct machine *m, const struct accel_alg *g)
{
	return accel_alg_in(g, policy_kernel(m)) ? alg_by_driver(&m->algs, g->driver) : NULL;
}

/*
 * An engine that breaks after its driver was loaded keeps the driver's own "passed"; what fails is the test of the next
 * instance built on it, which stays listed without a result (6.1, crypto/algapi.c, crypto_alg_tested).
 */
static bool instance_failed(const struct machine *m, const struct accel *a)
{
	for (size_t i = 0; i < m->algs.n; i++) {
		const struct alg *k = &m->algs.v[i];

		if (k->selftest == SELFTEST_UNKNOWN && k->priority > 0 && accel_in_instance(a, k->driver))
			return true;
	}
	return false;
}

/* The state as the kernel's algorithm list tells it, or DRIVER_UNKNOWN when none of the row is listed. */
static enum driver_state listed_state(const struct machine *m, const struct accel *a)
{
	bool passed = false, failed = false, zero = false;

	for_each_alg(g, a) {
		const struct alg *k = accel_alg_listed(m, g);

		if (!k)
			continue;
		if (k->selftest == SELFTEST_UNKNOWN)
			failed = true;
		else
			passed = true;
		if (!k->priority && g->priority > 0)
			zero = true;
	}
	if (zero)
		return DRIVER_QUARANTINED;
	if (!failed && !passed)
		return DRIVER_UNKNOWN;
	if (failed || instance_failed(m, a))
		return DRIVER_FAILED;
	return m->selftests_off ? DRIVER_UNTESTED : DRIVER_REGISTERED;
}

/* True when this kernel version has no code for the row: removed from it, or not yet written. */
static bool not_in_kernel(const struct machine *m, const struct accel *a)
{
	kver k = policy_kernel(m), until = accel_kernel(a->present_until);
	bool any = false;

	if (!accel_range_in(accel_kernel(a->present_since), until, k))
		return true;
	if (a->dmcrypt == DMCRYPT_NO_DRIVER && !(until && k && k <= until))
		return true;
	for_each_alg(g, a) {
		if (accel_alg_in(g, k))
			return false;
		any = true;
	}
	return any;
}

static bool is_in(const struct module_fact *f)
{
	return f->state == MODULE_LOADED || f->state == MODULE_BUILTIN;
}

/* Most rows list a chain of modules, all of them needed; QAT has one module per device family. */
static bool any_module_will_do(const struct accel *a)
{
	return !strcmp(a->id, "intel-qat");
}

const struct module_fact *accel_module(const struct machine *m, const struct accel *a)
{
	const struct module_fact *pick = NULL;

	for_each_word(name, a->modules) {
		const struct module_fact *f = machine_module(m, name);

		if (!f)
			continue;
		if (!any_module_will_do(a) && !is_in(f))
			return f;
		if (!pick || (any_module_will_do(a) && f->state > pick->state))
			pick = f;
	}
	return pick;
}

bool policy_no_dm_crypt(const struct machine *m)
{
	const struct module_fact *f = machine_module(m, "dm_crypt");
	enum module_state s = f ? f->state : MODULE_UNKNOWN;
	enum kconfig_value k = kconfig_get(m->kconfig, m->kconfig_len, "DM_CRYPT");

	if (m->elsewhere || s == MODULE_PRESENT || s == MODULE_LOADED || s == MODULE_BUILTIN || k == KCONFIG_YES)
		return false;
	return k == KCONFIG_NO || s == MODULE_MISSING;
}

/* All of the row's options are set to y: its code is in the kernel image, whatever the module lists say. */
static bool built_in(const struct machine *m, const struct accel *a)
{
	for_each_word(o, m->kconfig ? a->kconfig : NULL)
		if (kconfig_get(m->kconfig, m->kconfig_len, o) != KCONFIG_YES)
			return false;
	return m->kconfig && a->kconfig;
}

static enum driver_state module_state_of(const struct machine *m, const struct accel *a)
{
	const struct module_fact *f = accel_module(m, a);

	if (f && is_in(f))
		return DRIVER_LOADED;
	if (f && f->state == MODULE_PRESENT)
		return f->denied ? DRIVER_DENIED : DRIVER_NOT_LOADED;
	if (built_in(m, a))
		return DRIVER_LOADED;
	if (option_missing(m, a))
		return DRIVER_NO_OPTION;
	return f && f->state == MODULE_MISSING ? DRIVER_NO_MODULE : DRIVER_UNKNOWN;
}

enum driver_state driver_state(const struct machine *m, const struct accel *a)
{
	enum driver_state s = listed_state(m, a);

	if (s != DRIVER_UNKNOWN)
		return s;
	if (not_in_kernel(m, a))
		return DRIVER_NOT_IN_KERNEL;
	return module_state_of(m, a);
}

const char *driver_state_name(enum driver_state s)
{
	static const char *const name[] = {
		[DRIVER_UNKNOWN] = "unknown",	      [DRIVER_NOT_IN_KERNEL] = "not-in-kernel",
		[DRIVER_NO_OPTION] = "no-option",     [DRIVER_NO_MODULE] = "no-module",
		[DRIVER_NOT_LOADED] = "not-loaded",   [DRIVER_DENIED] = "denied",
		[DRIVER_LOADED] = "loaded",	      [DRIVER_FAILED] = "selftest-failed",
		[DRIVER_UNTESTED] = "untested",	      [DRIVER_QUARANTINED] = "quarantined",
		[DRIVER_REGISTERED] = "registered",
	};

	return name[s];
}

bool accel_trusted(const struct machine *m, const struct accel *a)
{
	enum driver_state s = driver_state(m, a);

	return s != DRIVER_FAILED && s != DRIVER_QUARANTINED;
}

bool accel_proposable(const struct machine *m, const struct accel *a)
{
	return accel_trusted(m, a) && a->slower_than_cpu != TRI_YES;
}

/* --- may dm-crypt use it ------------------------------------------------------------------------ */

/* The run-time flag of the row's listed ciphers: 1 = all carry it, 0 = one does not, -1 = not known. */
static int memory_flag(const struct machine *m, const struct accel *a)
{
	int flag = -1;

	for_each_alg(g, a) {
		const struct alg *k = accel_alg_listed(m, g);

		if (!k || !k->flags_known || g->mode == MODE_HASH || g->mode == MODE_GCM)
			continue;
		if (!(k->flags & ALG_FLAG_ALLOCATES_MEMORY))
			return 0;
		flag = 1;
	}
	return flag;
}

enum accel_dmcrypt accel_usable(const struct machine *m, const struct accel *a)
{
	enum accel_dmcrypt table = accel_dmcrypt_in(a, policy_kernel(m));
	int flag = memory_flag(m, a);

	if (flag == 1)
		return DMCRYPT_NO_MEMORY_FLAG;
	if (flag == 0)
		return table == DMCRYPT_NO_MEMORY_FLAG ? DMCRYPT_YES : table;
	return not_in_kernel(m, a) && listed_state(m, a) == DRIVER_UNKNOWN ? DMCRYPT_NO_DRIVER : table;
}
