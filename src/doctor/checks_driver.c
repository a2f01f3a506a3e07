/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Checks of drivers: loaded too late or not at all, refused by dm-crypt, slower than the CPU, failed.
 * Must not judge ciphers or disks.
 */
#include <stdlib.h>
#include <string.h>

#include "core/kconfig.h"
#include "doctor/internal.h"

static const char *kernel_text(const struct machine *m)
{
	return *m->release ? m->release : "version not known";
}

/* The board figure with the largest gain of a whole mapping; failing that, of anything. */
static const struct accel_figure *best_figure(const struct accel *a)
{
	const struct accel_figure *best = NULL;

	for (const struct accel_figure *g = accel_notes[a - accel_table].figures; g && g->what; g++) {
		bool disk = strstr(g->what, "dm-crypt"), best_disk = best && strstr(best->what, "dm-crypt");

		if (!g->silicon || g->cpu <= 0 || g->engine <= g->cpu || strstr(g->what, "OpenSSL"))
			continue;
		if (!best || (disk && !best_disk) || (disk == best_disk && g->engine / g->cpu > best->engine / best->cpu))
			best = g;
	}
	return best;
}

void gain_of_row(struct finding *f, const struct accel *a)
{
	const struct accel_figure *g = best_figure(a);

	if (g)
		finding_gain(f, g->engine / g->cpu, "%.1f times in a published run: %g to %g MB/s (%s; %s). Not measured here.",
			     g->engine / g->cpu, g->cpu, g->engine, g->what, g->source);
	else
		finding_gain(f, 0, "No figure is published for it; not measured here.");
}

/* --- bound too early (7) ------------------------------------------------------------------------------ */

/* Reference counts of what the kernel lists for this spec now. */
static void evidence_counts(const struct doctor_facts *f, const struct doctor_volume *v, struct finding *x)
{
	const struct alg *c[4];
	size_t n = policy_candidates(f->m, &v->spec, c, ARRAY_SIZE(c));

	for (size_t i = 0; i < n; i++)
		finding_evidence(x, "%s: priority %d, reference count %d%s.", c[i]->driver, c[i]->priority, c[i]->refcnt,
				 c[i]->refcnt <= 1 ? " (idle)" : "");
}

static void report_late(const struct doctor_facts *f, const struct doctor_volume *v, const struct verdict *now,
			struct findings *out)
{
	bool better = now->data == PART_HARDWARE && !on_hardware(v);
	struct finding *x = finding_add(out, v, better ? SEVERITY_WARNING : SEVERITY_NOTE,
					"A %s driver was loaded after %s was opened; the volume still runs on the old one.",
					better ? "hardware" : "better", v->name);

	if (*v->binding.why)
		finding_evidence(x, "%s", v->binding.why);
	if (*v->binding.driver)
		finding_evidence(x, "Served by %s (%s); opened now it would be %s.", v->binding.driver,
				 binding_evidence_name(v->binding.evidence), now->driver);
	else
		finding_evidence(x, "Opened now it would be served by %s.", now->driver);
	evidence_counts(f, v, x);
	setup_set(&x->then, &v->spec, v->flags, NULL);
	finding_remedy(x, COST_NOTHING, "hwluks refresh %s", v->name);
	finding_hazard(x, "It asks for a passphrase of the volume, tests the driver with a known answer, and stops I/O for a moment.");
	finding_lasting(x, "Load the driver before the volume is opened: run 'hwluks load' or open with 'hwluks open', and put the "
			   "driver's module into the boot image when the volume is opened there.");
	if (now->accel)
		gain_of_row(x, now->accel);
}

/* The bound driver left the list, or stands there beside a better one; facts 1 to 4 of the catalogue. */
CHECK(driver_late)
{
	struct verdict now;

	if (!v->open || !v->spec_known || !f->m->algs_known)
		return;
	policy_decide(f->m, NULL, &v->spec, &now);
	if (v->binding.unlisted ||
	    (*v->binding.driver && *now.driver && strcmp(v->binding.driver, now.driver) && now.data == PART_HARDWARE && in_software(v)))
		report_late(f, v, &now, out);
	verdict_free(&now);
}

CHECK(binding_unknown)
{
	struct finding *x;

	(void)f;
	if (!v->open || v->binding.evidence != BINDING_UNKNOWN)
		return;
	x = finding_add(out, v, SEVERITY_UNKNOWN, "Which driver serves %s cannot be told.", v->name);
	finding_evidence(x, "%s", *v->binding.why ? v->binding.why : binding_evidence_sentence(v->binding.evidence));
	finding_remedy(x, COST_REOPEN, "hwluks open %s %s", *v->device ? v->device : "DEVICE", v->name);
	finding_hazard(x, "Close the volume first. hwluks records which driver it saw bind.");
}

/* --- an engine that dm-crypt refuses (8) ---------------------------------------------------------------- */

static bool serves_name(const struct machine *m, const struct accel *a, const char *name)
{
	for_each_alg(g, a)
		if (accel_alg_in(g, policy_kernel(m)) && (strstr(name, accel_alg_name(g)) || (g->mode == MODE_ECB && strstr(name, "xts("))))
			return true;
	return false;
}

static void evidence_registered(const struct machine *m, const struct accel *a, struct finding *x)
{
	for_each_alg(g, a) {
		const struct alg *k = accel_alg_in(g, policy_kernel(m)) ? alg_by_driver(&m->algs, g->driver) : NULL;

		if (k && x->evidence.n < 4 && k->type != ALG_HASH)
			finding_evidence(x, "%s: priority %d, reference count %d.", k->driver, k->priority, k->refcnt);
	}
}

/* No driver to load and no switch to turn: only the choice of a cipher is left. */
static void excluded_remedy(const struct doctor_facts *f, const struct doctor_volume *v, struct finding *x)
{
	struct cipher_spec best;

	if (best_spec(f, v, &best))
		rewrite_remedy(x, v, &best);
	else
		finding_no_remedy(x, "The engine stays out of reach, and this spec is already what runs best on the CPU.");
}

CHECK(engine_excluded)
{
	char name[256];

	/* who encrypts an open volume must be known before the CPU is said to */
	if (!v->spec_known || on_hardware(v) || (v->open && !*v->binding.driver))
		return;
	binding_api_name(&v->spec, name, sizeof(name));
	for_each_accel(a) {
		struct finding *x;

		if (!accel_is_engine(a) || !accel_present(f->m, a, NULL, 0) || accel_usable(f->m, a) != DMCRYPT_NO_MEMORY_FLAG ||
		    !serves_name(f->m, a, name))
			continue;
		x = finding_add(out, v, SEVERITY_WARNING, "dm-crypt refuses the driver of the %s, so the CPU encrypts %s.", a->name, v->name);
		finding_evidence(x, "Its driver allocates memory for each request; dm-crypt passes over such drivers from Linux 5.10 on "
				    "(kernel here: %s).", kernel_text(f->m));
		evidence_registered(f->m, a, x);
		if (*v->binding.driver)
			finding_evidence(x, "%s is served by %s.", v->name, v->binding.driver);
		finding_evidence(x, "'cryptsetup benchmark' may measure the engine (up to Linux 6.12) although the disk cannot have it.");
		excluded_remedy(f, v, x);
		return;
	}
}

/* No volume is known that could have wanted it: still good to know before 'cryptsetup benchmark' is believed. */
CHECK(engine_out_of_reach)
{
	(void)v;
	for (const struct accel *a = accel_table; a < accel_table + accel_count && !f->n; a++) {
		struct finding *x;

		if (!accel_is_engine(a) || !accel_present(f->m, a, NULL, 0) || accel_usable(f->m, a) != DMCRYPT_NO_MEMORY_FLAG)
			continue;
		x = finding_add(out, NULL, SEVERITY_NOTE, "The %s is here, and dm-crypt refuses its driver.", a->name);
		finding_evidence(x, "Its driver allocates memory for each request; dm-crypt passes over such drivers from Linux 5.10 on "
				    "(kernel here: %s).", kernel_text(f->m));
		evidence_registered(f->m, a, x);
		finding_evidence(x, "'cryptsetup benchmark' may measure the engine (up to Linux 6.12) although no disk can have it.");
		finding_no_remedy(x, "There is no driver to load and no switch to turn. 'hwluks advise' ranks what runs best on the CPU.");
	}
}

/* --- an engine slower than the CPU (9) -------------------------------------------------------------------- */

static void slower_remedy(struct finding *x, const struct accel *a, const struct doctor_volume *v)
{
	const char *module = NULL;

	for_each_word(name, a->modules)
		module = name; /* the last of a chain registers the ciphers */
	if (!module) {
		finding_no_remedy(x, "Its driver is no module that could be kept out.");
		return;
	}
	finding_remedy(x, COST_REBOOT, "echo 'blacklist %s' >/etc/modprobe.d/hwluks-%s.conf", module, a->id);
	finding_hazard(x, "Rebuild the boot image too when the driver is in it. Other users of the engine lose it as well.");
	if (v)
		finding_lasting(x, "Then open %s again.", v->name);
}

/* Measured here: reads are slower on the engine by what makes advice a warning. */
static bool measured_slower(const struct doctor_facts *f, const struct doctor_volume *v, const struct setup *rival)
{
	const struct measured_setup *engine = measured_now(f, v), *cpu = measured_find(f, rival);

	return engine && cpu && rates_differ(&engine->read, &cpu->read) && cpu->read.median >= MEASURED_GAIN * engine->read.median;
}

/* What is known against the engine: published figures, or only that it pushed the CPU's instructions aside. */
static bool against(const struct machine *m, const struct accel *a, const struct accel_figure **fig, const struct accel **cpu,
		    const struct accel_alg **by)
{
	*fig = a->slower;
	*cpu = policy_outranked_cpu(m, a, by);
	return a->slower_than_cpu == TRI_YES || *cpu;
}

CHECK(engine_slower)
{
	const struct accel *a = v->verdict.accel, *cpu = NULL;
	const struct accel_figure *fig = NULL;
	const struct accel_alg *by = NULL;
	struct setup rival;
	struct finding *x;
	bool known, slower;

	if (!on_hardware(v) || !a || !accel_is_engine(a))
		return;
	known = against(f->m, a, &fig, &cpu, &by);
	setup_rival(f, v, &rival);
	slower = measured_slower(f, v, &rival);
	if (!known && !slower)
		return;
	if (slower || a->slower_than_cpu == TRI_YES) {
		x = finding_add(out, v, SEVERITY_WARNING, "%s is served by the %s, which %s slower than the CPU.", v->name, a->name,
				slower ? "is measured" : "published figures call");
		slower_remedy(x, a, v);
	} else {
		x = finding_add(out, v, SEVERITY_NOTE, "The %s has taken %s from the CPU's AES instructions; which is faster was not measured.",
				a->name, v->name);
		finding_no_remedy(x, "A priority is not a speed: measure both before one is kept out.");
	}
	x->then = rival;
	finding_evidence(x, "Served by %s (%s).", v->verdict.driver, binding_evidence_name(v->binding.evidence));
	if (cpu && by)
		finding_evidence(x, "%s has the higher priority; the CPU has its own: %s.", by->driver, cpu->name);
	if (fig)
		finding_gain(x, fig->cpu / fig->engine, "%g MB/s on the engine against %g on the CPU (%s; %s). Not measured here.",
			     fig->engine, fig->cpu, fig->what, fig->source);
}

/* Registered, and the next volume that is opened would get it. */
CHECK(engine_in_front)
{
	(void)v;
	for (const struct accel *a = accel_table; a < accel_table + accel_count && !f->n; a++) {
		enum driver_state s = accel_is_engine(a) && accel_present(f->m, a, NULL, 0) ? driver_state(f->m, a) : DRIVER_UNKNOWN;
		const struct accel_figure *fig;
		const struct accel_alg *by = NULL;
		const struct accel *cpu;
		struct finding *x;

		if ((s != DRIVER_REGISTERED && s != DRIVER_UNTESTED) || accel_usable(f->m, a) != DMCRYPT_YES ||
		    !against(f->m, a, &fig, &cpu, &by))
			continue;
		x = finding_add(out, NULL, a->slower_than_cpu == TRI_YES ? SEVERITY_WARNING : SEVERITY_NOTE,
				"The %s would take volumes from the CPU's own code, %s.", a->name,
				a->slower_than_cpu == TRI_YES ? "which published figures call faster" : "and which is faster was not measured");
		evidence_registered(f->m, a, x);
		if (cpu && by)
			finding_evidence(x, "%s has the higher priority; the CPU has its own: %s.", by->driver, cpu->name);
		if (a->slower_than_cpu == TRI_YES)
			slower_remedy(x, a, NULL);
		else
			finding_no_remedy(x, "A priority is not a speed: measure both before one is kept out.");
		if (fig)
			finding_gain(x, fig->cpu / fig->engine, "%g MB/s on the engine against %g on the CPU (%s; %s). Not measured here.",
				     fig->engine, fig->cpu, fig->what, fig->source);
	}
}

/* --- XTS over an engine that has only ECB (10) -------------------------------------------------------------- */

static const struct load_item *plan_item(const struct doctor_facts *f, const struct accel *a, enum load_action action)
{
	for (size_t i = 0; f->plan && i < f->plan->n; i++)
		if (f->plan->v[i].action == action && !f->plan->v[i].rng && (!a || f->plan->v[i].accel == a))
			return &f->plan->v[i];
	return NULL;
}

CHECK(template_missing)
{
	const struct load_item *i = plan_item(f, NULL, LOAD_PREPARE);
	struct finding *x;

	if (!i || !v->spec_known || !spec_is_xts(&v->spec) || !is_aes(&v->spec) || !in_software(v))
		return;
	x = finding_add(out, v, SEVERITY_WARNING, "The %s could serve %s, but the kernel does not build XTS on it by itself.",
			i->accel->name, v->name);
	finding_evidence(x, "%s", i->why.text);
	finding_evidence(x, "The instance that would serve it is %s.", i->what);
	if (v->open)
		finding_remedy(x, COST_NOTHING, "hwluks refresh %s", v->name);
	else
		finding_remedy(x, COST_NOTHING, "hwluks load");
	if (v->open)
		finding_hazard(x, "It asks for a passphrase of the volume, and stops I/O for a moment.");
	finding_lasting(x, "It is gone after a reboot: run 'hwluks load' before the volume is opened, or open it with 'hwluks open'.");
	gain_of_row(x, i->accel);
}

/* --- states of drivers (3, 4, 5, 13, 14, 31) ------------------------------------------------------------------ */

static bool each_present(const struct machine *m, const struct accel *a)
{
	return a->kind != ACCEL_SOFTWARE && a->kind != ACCEL_CPU_SIMD && accel_present(m, a, NULL, 0);
}

static void evidence_selftest(const struct machine *m, const struct accel *a, struct finding *x, bool zero)
{
	for_each_alg(g, a) {
		const struct alg *k = accel_alg_in(g, policy_kernel(m)) ? alg_by_driver(&m->algs, g->driver) : NULL;

		if (k && zero ? !k->priority : k && k->selftest == SELFTEST_UNKNOWN)
			finding_evidence(x, zero ? "%s: priority 0." : "%s: selftest unknown in /proc/crypto.", k->driver);
	}
}

CHECK(selftest_failed)
{
	(void)v;
	for_each_accel(a) {
		struct finding *x;

		if (!each_present(f->m, a) || driver_state(f->m, a) != DRIVER_FAILED)
			continue;
		x = finding_add(out, NULL, SEVERITY_PROBLEM, "A driver of the %s did not pass the kernel's self-test, so it serves nothing.",
				a->name);
		evidence_selftest(f->m, a, x, false);
		finding_evidence(x, "Kernel here: %s. 'dmesg | grep alg:' shows what failed.", kernel_text(f->m));
		finding_no_remedy(x, "A driver that fails must not be forced; a newer kernel may have it mended. Software serves the volumes "
				     "meanwhile.");
		gain_of_row(x, a);
	}
}

CHECK(quarantined)
{
	(void)v;
	for_each_accel(a) {
		struct finding *x;

		if (!each_present(f->m, a) || driver_state(f->m, a) != DRIVER_QUARANTINED)
			continue;
		x = finding_add(out, NULL, SEVERITY_WARNING, "A driver of the %s was put to priority 0, out of use.", a->name);
		evidence_selftest(f->m, a, x, true);
		finding_no_remedy(x, "It was taken out after it gave a wrong answer or hung, by hwluks or by hand. A reboot brings it back; let "
				     "'hwluks load' test it then.");
	}
}

CHECK(selftests_off)
{
	struct finding *x;

	(void)v;
	if (!f->m->selftests_off)
		return;
	x = finding_add(out, NULL, SEVERITY_NOTE, "The kernel's self-tests of crypto drivers are switched off.");
	finding_evidence(x, "cryptomgr.notests on the kernel command line, or CONFIG_CRYPTO_MANAGER_DISABLE_TESTS. What the kernel calls "
			    "'passed' proves nothing.");
	finding_no_remedy(x, "Take cryptomgr.notests off the kernel command line, or build with the tests; until then 'hwluks load' tests "
			     "engines itself.");
}

CHECK(driver_idle)
{
	(void)v;
	for_each_accel(a) {
		const struct module_fact *mod;
		struct finding *x;

		if (!each_present(f->m, a) || !f->m->algs_known || driver_state(f->m, a) != DRIVER_LOADED || !a->algs ||
		    accel_usable(f->m, a) != DMCRYPT_YES)
			continue;
		mod = accel_module(f->m, a);
		x = finding_add(out, NULL, accel_is_engine(a) ? SEVERITY_WARNING : SEVERITY_NOTE,
				"The driver of the %s is in the kernel and registered no algorithm.", a->name);
		finding_evidence(x, "%s is %s; none of its algorithms is in /proc/crypto.", mod ? mod->name : a->modules ? a->modules : a->id,
				 mod && mod->state == MODULE_LOADED ? "loaded" : "built in");
		finding_no_remedy(x, "The kernel log says why: a device tree without the right properties, missing firmware, a clock. Look with "
				     "'dmesg | grep -i crypto'.");
		gain_of_row(x, a);
	}
}

static const struct load_item *skipped_for(const struct doctor_facts *f, const struct accel *a, enum reason_code code)
{
	for (size_t i = 0; f->plan && i < f->plan->n; i++)
		if (f->plan->v[i].action == LOAD_SKIP && f->plan->v[i].accel == a && f->plan->v[i].why.code == code && !f->plan->v[i].rng)
			return &f->plan->v[i];
	return NULL;
}

/* Worth a finding only where the driver would be loaded were it not for what was found. */
static bool wanted(const struct machine *m, const struct accel *a)
{
	const struct accel_alg *by;

	return each_present(m, a) && accel_proposable(m, a) && a->algs && (a->modes & ~(unsigned)(MODE_HASH | MODE_GCM)) &&
	       accel_usable(m, a) == DMCRYPT_YES && !policy_outranked_cpu(m, a, &by);
}

CHECK(driver_denied)
{
	(void)v;
	for_each_accel(a) {
		const struct module_fact *mod = accel_module(f->m, a);
		struct finding *x;

		if (!wanted(f->m, a) || !skipped_for(f, a, REASON_DENIED) || !mod)
			continue;
		x = finding_add(out, NULL, SEVERITY_WARNING, "The driver of the %s is deny-listed.", a->name);
		finding_evidence(x, "%s is installed and not loaded.", mod->name);
		finding_evidence(x, "Denied by %s.", mod->denied_by);
		if (str_starts(mod->denied_by, "kernel command line")) {
			finding_no_remedy(x, "Take it off the kernel command line in the boot loader's configuration and reboot.");
		} else {
			finding_remedy(x, COST_NOTHING, "hwluks load --force %s", mod->name);
			finding_hazard(x, "Somebody may have had a reason to deny it; hwluks tests an engine's driver with a known answer before "
					  "anything relies on it.");
			finding_lasting(x, "Take the line out of that file, rebuild the boot image, and run 'hwluks refresh' on volumes that "
					   "are open.");
		}
		gain_of_row(x, a);
	}
}

/* The kernel itself asks for these modules when the first XTS mapping is opened (their aliases, up to 7.2). */
static bool loads_by_itself(const struct machine *m, const struct accel *a)
{
	static const char *const ids[] = { "arm64-ce", "arm64-neon", "arm64-neonbs", "arm-neonbs", "arm-ce" };

	if (!m->kernel || m->kernel >= KVER(7, 3))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (!strcmp(a->id, ids[i]))
			return true;
	return false;
}

static bool some_volume_in_software(const struct doctor_facts *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].open && in_software(&f->v[i]) && f->v[i].spec_known && is_aes(&f->v[i].spec))
			return true;
	return false;
}

CHECK(driver_not_loaded)
{
	(void)v;
	for_each_accel(a) {
		const struct load_item *i = plan_item(f, a, LOAD_MODULE);
		const struct module_fact *mod = accel_module(f->m, a);
		bool known = mod && mod->state != MODULE_UNKNOWN;
		bool by_itself = loads_by_itself(f->m, a) && !some_volume_in_software(f);
		struct finding *x;

		if (!i || !wanted(f->m, a))
			continue;
		x = finding_add(out, NULL, !known ? SEVERITY_UNKNOWN : by_itself ? SEVERITY_INFO : SEVERITY_WARNING,
				known ? "The driver of the %s is not loaded." : "Whether the driver of the %s can be loaded is not known.", a->name);
		finding_evidence(x, known ? "%s is installed and not loaded; dm-crypt could use it." :
				 "It is not registered; whether the module %s is installed could not be read.", i->what);
		if (by_itself)
			finding_evidence(x, "The kernel loads it by itself when the first AES-XTS volume is opened.");
		finding_remedy(x, COST_NOTHING, "hwluks load");
		finding_lasting(x, "Volumes that are open stay on the old driver until 'hwluks refresh NAME'. To have it at each boot, run "
				   "'hwluks load' before the volumes are opened, or name the module in /etc/modules-load.d and in the boot image.");
		gain_of_row(x, a);
	}
}

CHECK(driver_not_installed)
{
	(void)v;
	for_each_accel(a) {
		const struct module_fact *mod = accel_module(f->m, a);
		struct finding *x;

		if (!wanted(f->m, a) || driver_state(f->m, a) != DRIVER_NO_MODULE || !mod)
			continue;
		x = finding_add(out, NULL, SEVERITY_WARNING, "The module of the %s is not installed for this kernel.", a->name);
		finding_evidence(x, "%s is not below /lib/modules/%s.", mod->name, kernel_text(f->m));
		finding_no_remedy(x, "Install the package of this kernel that holds %s (kernel modules, 'extra' modules, kmod-crypto-...); when "
				     "the kernel was updated and not rebooted, reboot.", mod->name);
		gain_of_row(x, a);
	}
}

static bool not_built(const struct machine *m, const struct accel *a)
{
	return wanted(m, a) && driver_state(m, a) == DRIVER_NO_OPTION;
}

/* AES-NI, AVX and VAES code are rows of their own and one option of the kernel: one finding, of the first. */
static bool told_with_another(const struct machine *m, const struct accel *a)
{
	for (const struct accel *b = accel_table; b < a; b++)
		if (b->kconfig && a->kconfig && !strcmp(b->kconfig, a->kconfig) && not_built(m, b))
			return true;
	return false;
}

CHECK(driver_not_built)
{
	(void)v;
	for_each_accel(a) {
		struct strv missing = { 0 };
		struct finding *x;

		if (!not_built(f->m, a) || told_with_another(f->m, a))
			continue;
		x = finding_add(out, NULL, SEVERITY_WARNING, "This kernel was built without the driver of the %s.", a->name);
		accel_missing_options(f->m, a, &missing);
		for (size_t i = 0; i < missing.n; i++)
			finding_evidence(x, "CONFIG_%s is not set.", missing.v[i]);
		finding_evidence(x, "Kernel here: %s.", kernel_text(f->m));
		finding_no_remedy(x, "Another kernel is needed: one of the distribution that has the driver, or one built with these options as "
				     "modules.");
		strv_free(&missing);
		gain_of_row(x, a);
	}
}

/* --- vector code (24) ------------------------------------------------------------------------------------------- */

/* Of a mode: plain code for single blocks (aes-arm64) may belong to such a row and is no vector code. */
static bool lists_a_mode(const struct machine *m, const struct accel *a)
{
	for_each_alg(g, a) {
		const struct alg *k = accel_alg_in(g, policy_kernel(m)) ? alg_by_driver(&m->algs, g->driver) : NULL;

		if (k && k->type == ALG_SKCIPHER)
			return true;
	}
	return false;
}

static bool vector_row_in_use(const struct machine *m)
{
	for_each_accel(a)
		if (a->kind == ACCEL_CPU_SIMD && accel_present(m, a, NULL, 0) && lists_a_mode(m, a))
			return true;
	return false;
}

CHECK(vector_code_off)
{
	(void)v;
	if (!f->m->algs_known || policy_cpu_has_aes(f->m) || vector_row_in_use(f->m))
		return;
	for_each_accel(a) {
		const struct module_fact *mod = accel_module(f->m, a);
		struct finding *x;

		if (a->kind != ACCEL_CPU_SIMD || !accel_present(f->m, a, NULL, 0) || driver_state(f->m, a) != DRIVER_NOT_LOADED || !mod)
			continue;
		x = finding_add(out, NULL, loads_by_itself(f->m, a) && !some_volume_in_software(f) ? SEVERITY_INFO : SEVERITY_WARNING,
				"The CPU's vector code for AES (%s) is not in use.", a->name);
		finding_evidence(x, "%s is installed and not loaded.", mod->name);
		if (loads_by_itself(f->m, a))
			finding_evidence(x, "The kernel loads it by itself when the first AES-XTS volume is opened.");
		finding_remedy(x, COST_NOTHING, "modprobe %s", mod->name);
		finding_lasting(x, "Volumes that are open stay on the old driver until 'hwluks refresh NAME'.");
		finding_gain(x, 1.6, "18.8 to 30.7 MB/s and 32.7 to 83 MB/s in two published runs on ARM boards. Not measured here.");
		return;
	}
}

CHECK(algorithms_unread)
{
	(void)v;
	if (!f->m->algs_known)
		finding_evidence(finding_add(out, NULL, SEVERITY_UNKNOWN, "Which drivers the kernel has cannot be told."),
				 "/proc/crypto could not be read; every check of drivers rests on it.");
}
