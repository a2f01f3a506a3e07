/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The table of checks, which cause explains which symptom, and the order of what is reported.
 * Must not know how a fact is gathered or how a finding is printed.
 */
#include "doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "doctor/internal.h"

#define MACHINE CHECK_MACHINE
#define VOLUME	CHECK_VOLUME

const struct check check_table[] = {
	{ "self-test-failed", "a driver did not pass the kernel's self-test", "13", MACHINE, cause_selftest_failed },
	{ "quarantined", "a driver was put to priority 0", "13", MACHINE, cause_quarantined },
	{ "driver-late", "a better driver was loaded after the volume was opened", "7", VOLUME, cause_driver_late },
	{ "key-size", "the engine lacks the volume's key size", "11", VOLUME, cause_key_size },
	{ "template-missing", "the kernel must be made to build XTS on the engine", "10", VOLUME, cause_template_missing },
	{ "mode", "the engine lacks the volume's mode", "10", VOLUME, cause_mode },
	{ "engine-excluded", "dm-crypt refuses the engine's driver", "8", VOLUME, cause_engine_excluded },
	{ "engine-slower", "an engine serves the volume though the CPU is faster, or may be", "9", VOLUME, cause_engine_slower },
	{ "engine-out-of-reach", "dm-crypt refuses an engine's driver (no open volume is known)", "8", MACHINE, cause_engine_out_of_reach },
	{ "engine-in-front", "an engine would serve volumes though the CPU is faster, or may be", "9", MACHINE, cause_engine_in_front },
	{ "driver-denied", "a driver worth loading is deny-listed", "4", MACHINE, cause_driver_denied },
	{ "driver-not-loaded", "a driver worth loading is not loaded", "5", MACHINE, cause_driver_not_loaded },
	{ "driver-idle", "a driver is in and registered nothing", "14", MACHINE, cause_driver_idle },
	{ "driver-not-installed", "a driver's module is not installed", "3 31", MACHINE, cause_driver_not_installed },
	{ "driver-not-built", "the kernel was built without the driver", "3", MACHINE, cause_driver_not_built },
	{ "vm-hides-aes", "the virtual machine hides the host's AES instructions", "2", MACHINE, cause_vm_hides_aes },
	{ "vector-code-off", "the CPU's vector code for AES is not in use", "24", MACHINE, cause_vector_code_off },
	{ "fixed-time", "AES is served by the slow constant-time code", "29", VOLUME, cause_fixed_time },
	{ "software", "the volume is encrypted in software", "1", VOLUME, cause_software },
	{ "argon2-memory", "a key slot needs more memory than there is", "34", VOLUME, cause_argon2_memory },
	{ "pbkdf-slow", "a key slot takes long to unlock here", "32", VOLUME, cause_pbkdf_slow },
	{ "disk-limits", "the disk is slower than the cipher", "40", VOLUME, cause_disk_limits },
	{ "workqueues-5.9", "workqueue flags on a kernel that crashes with them", "19", VOLUME, cause_workqueues_5_9 },
	{ "misaligned", "the data does not start on a sector of the disk", "16", VOLUME, cause_misaligned },
	{ "crypttab-flags", "an option of crypttab is not in force", "20", VOLUME, cause_crypttab_flags },
	{ "workqueues-slow-disk", "workqueue flags on a slow medium", "18", VOLUME, cause_workqueues_slow_disk },
	{ "spec-impossible", "crypttab names a spec that cannot be opened", "41", MACHINE, cause_spec_impossible },
	{ "essiv-refused", "kernels before 2.6.26: the engine's driver refuses the key of ESSIV", "", MACHINE, cause_essiv_refused },
	{ "sector-size", "512-byte encryption sectors on a disk with larger ones", "15", VOLUME, cause_sector_size },
	{ "small-requests", "the engine or its driver wants larger requests", "12", VOLUME, cause_small_requests },
	{ "foreign-cipher", "a cipher without hardware where AES has it", "21", VOLUME, cause_foreign_cipher },
	{ "adiantum-with-aes", "Adiantum where AES has hardware", "26", VOLUME, cause_adiantum_with_aes },
	{ "cbc-serial", "CBC encrypts block after block", "22", VOLUME, cause_cbc_serial },
	{ "xts-on-arm", "XTS by the template on a 32-bit ARM CPU", "23", VOLUME, cause_xts_on_arm },
	{ "workqueues", "workqueue hops on a fast disk", "17", VOLUME, cause_workqueues },
	{ "integrity", "an integrity layer writes twice", "37", VOLUME, cause_integrity },
	{ "xts-long-key", "a 512-bit XTS key", "25", VOLUME, cause_xts_long_key },
	{ "retpoline", "AES-NI code slowed down by Spectre mitigations", "27", MACHINE, cause_retpoline },
	{ "vaes-unused", "a kernel without code for the CPU's wide AES instructions", "28", MACHINE, cause_vaes_unused },
	{ "write-order", "an old kernel reorders writes to a rotating disk", "42", VOLUME, cause_write_order },
	{ "odd-optimal-io", "the disk states an optimal request size that is not one", "16", VOLUME, cause_odd_optimal_io },
	{ "discards", "discards are not passed on", "36", VOLUME, cause_discards },
	{ "argon2-row", "several memory-hard volumes are unlocked at boot", "35", MACHINE, cause_argon2_row },
	{ "no-aes", "the CPU has no AES instructions and no engine serves dm-crypt", "1", MACHINE, cause_no_aes },
	{ "fips", "the kernel is in FIPS mode", "29", MACHINE, cause_fips },
	{ "selftests-off", "the kernel's self-tests are off", "13", MACHINE, cause_selftests_off },
	{ "rng-credit", "a hardware random number generator gets no credit", "", MACHINE, cause_rng_credit },
	{ "af-alg", "cryptsetup benchmark cannot measure here", "30", MACHINE, cause_af_alg },
	{ "old-kernel", "a kernel older than those the rules were verified on", "", MACHINE, cause_old_kernel },
	{ "algorithms-unread", "the kernel's list of algorithms is not known", "", MACHINE, cause_algorithms_unread },
	{ "volumes-unknown", "the open volumes are not known", "", MACHINE, cause_volumes_unknown },
	{ "binding-unknown", "which driver serves a volume is not known", "", VOLUME, cause_binding_unknown },
	{ "stack-unknown", "what is below a volume is not known", "", VOLUME, cause_stack_unknown },
	{ "header-unknown", "the header of a volume is not known", "", VOLUME, cause_header_unknown },
	{ "not-measured", "a measurement that failed", "", VOLUME, cause_not_measured },
};
const size_t check_count = ARRAY_SIZE(check_table);

/*
 * What explains what. The causes stand in the order in which they are asked: the first that is found and not itself
 * explained takes the symptom. A cause of the machine explains symptoms of all volumes; a symptom of the machine is
 * explained by a cause of any volume.
 */
static const struct absorption {
	const char *cause, *symptoms; /* symptoms: words */
} absorptions[] = {
	{ "self-test-failed", "driver-idle software no-aes mode key-size binding-unknown" },
	{ "quarantined", "driver-idle software no-aes mode key-size" },
	{ "driver-denied", "software no-aes vector-code-off fixed-time" },
	{ "driver-not-loaded", "software no-aes vector-code-off fixed-time template-missing" },
	{ "driver-idle", "software no-aes" },
	{ "driver-not-installed", "software no-aes vector-code-off fixed-time" },
	{ "driver-not-built", "software no-aes vector-code-off fixed-time" },
	{ "vm-hides-aes", "software no-aes vector-code-off engine-excluded engine-out-of-reach" },
	{ "driver-late", "software binding-unknown fixed-time vector-code-off" },
	{ "template-missing", "software mode" },
	{ "key-size", "software mode xts-long-key" },
	{ "mode", "software" },
	{ "engine-excluded", "software no-aes" },
	{ "engine-out-of-reach", "no-aes" },
	{ "vector-code-off", "software no-aes" },
	{ "software", "no-aes" },
	{ "engine-slower", "small-requests sector-size" },
	{ "crypttab-flags", "workqueues discards" },
	{ "workqueues-5.9", "workqueues-slow-disk" },
	{ "small-requests", "sector-size" },
	{ "fixed-time", "software" },
	{ "volumes-unknown", "header-unknown" },
	{ "disk-limits", "software sector-size small-requests workqueues foreign-cipher adiantum-with-aes xts-on-arm xts-long-key" },
};

/* --- findings ------------------------------------------------------------------------------------- */

const char *severity_name(enum severity s)
{
	static const char *const name[] = { "info", "unknown", "note", "warning", "problem" };

	return name[s];
}

const char *cost_name(enum remedy_cost c)
{
	static const char *const name[] = { "nothing", "reopen", "reboot", "rewrites-all-data", "new-volume" };

	return name[c];
}

const char *cost_sentence(enum remedy_cost c)
{
	static const char *const text[] = {
		[COST_NOTHING] = "nothing; the volume stays open",
		[COST_REOPEN] = "the volume must be closed and opened again",
		[COST_REBOOT] = "a reboot",
		[COST_REWRITE] = "rewrites all data; how many hours was not measured",
		[COST_NEW_VOLUME] = "a new volume, and all data copied",
	};

	return text[c];
}

static PRINTF(1, 0) char *format(const char *fmt, va_list ap)
{
	char *s;

	return vasprintf(&s, fmt, ap) < 0 ? xstrdup("") : s;
}

struct finding *finding_add(struct findings *l, const struct doctor_volume *v, enum severity s, const char *fmt, ...)
{
	struct finding *f = xcalloc(1, sizeof(*f));
	va_list ap;

	va_start(ap, fmt);
	*f = (struct finding){ .volume = v, .severity = s, .title = format(fmt, ap) };
	va_end(ap);
	l->v = xreallocarray(l->v, l->n + 1, sizeof(struct finding *));
	l->v[l->n++] = f;
	return f;
}

void finding_evidence(struct finding *f, const char *fmt, ...)
{
	cleanup_free char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	s = format(fmt, ap);
	va_end(ap);
	strv_add_unique(&f->evidence, s);
}

#define SET(field)                                                                                                             \
	do {                                                                                                                   \
		va_list ap;                                                                                                    \
		va_start(ap, fmt);                                                                                             \
		free(f->field);                                                                                                \
		f->field = format(fmt, ap);                                                                                    \
		va_end(ap);                                                                                                    \
	} while (0)

void finding_remedy(struct finding *f, enum remedy_cost cost, const char *fmt, ...)
{
	f->cost = cost;
	SET(remedy);
}

void finding_no_remedy(struct finding *f, const char *fmt, ...)
{
	SET(no_remedy);
}

void finding_lasting(struct finding *f, const char *fmt, ...)
{
	SET(lasting);
}

void finding_gain(struct finding *f, double factor, const char *fmt, ...)
{
	f->factor = factor;
	SET(gain);
}

void finding_gain_measured(struct finding *f, double factor, const char *fmt, ...)
{
	f->factor = factor;
	f->measured = true;
	SET(gain);
}

const char *finding_cost(const struct finding *f, char *buf, size_t size)
{
	if (f->cost != COST_REWRITE || f->rewrite_s <= 0)
		str_copy(buf, size, cost_sentence(f->cost));
	else if (f->rewrite_s < 120)
		str_copy(buf, size, "rewrites all data: less than two minutes at the speed measured here");
	else if (f->rewrite_s < 2 * 3600)
		snprintf(buf, size, "rewrites all data: about %.0f minutes at the speed measured here", f->rewrite_s / 60);
	else
		snprintf(buf, size, "rewrites all data: about %.*f hours at the speed measured here", f->rewrite_s < 10 * 3600, f->rewrite_s / 3600);
	return buf;
}

void finding_hazard(struct finding *f, const char *fmt, ...)
{
	cleanup_free char *before = f->hazards;

	f->hazards = NULL;
	SET(hazards);
	if (before) {
		cleanup_free char *added = f->hazards;

		f->hazards = xasprintf("%s %s", before, added);
	}
}

void findings_free(struct findings *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct finding *f = l->v[i];

		free(f->title);
		strv_free(&f->evidence);
		free(f->remedy);
		free(f->no_remedy);
		free(f->hazards);
		free(f->lasting);
		free(f->gain);
		free(f);
	}
	free(l->v);
	*l = (struct findings){ 0 };
}

/* --- absorbing ------------------------------------------------------------------------------------ */

bool check_absorbs(const char *cause, const char *symptom)
{
	for (size_t i = 0; i < ARRAY_SIZE(absorptions); i++)
		if (!strcmp(absorptions[i].cause, cause))
			return word_in(absorptions[i].symptoms, symptom);
	return false;
}

static bool explains(const struct finding *c, const struct finding *s)
{
	return c != s && (!c->volume || !s->volume || c->volume == s->volume) && check_absorbs(c->check->id, s->check->id);
}

/* A cause is at least as bad as what it explains; what was measured is not outweighed by what was not. */
static void absorb_by(struct findings *l, struct finding *cause)
{
	for (size_t i = 0; i < l->n; i++) {
		struct finding *s = l->v[i];

		if (s->absorbed_by || !explains(cause, s))
			continue;
		s->absorbed_by = cause;
		if (s->severity > cause->severity && s->severity != SEVERITY_UNKNOWN && (s->measured || !cause->measured))
			cause->severity = s->severity;
	}
}

static void absorb(struct findings *l)
{
	for (size_t a = 0; a < ARRAY_SIZE(absorptions); a++)
		for (size_t i = 0; i < l->n; i++)
			if (!l->v[i]->absorbed_by && !strcmp(l->v[i]->check->id, absorptions[a].cause))
				absorb_by(l, l->v[i]);
	/* a cause that was explained later hands on what it had taken */
	for (size_t i = 0; i < l->n; i++)
		while (l->v[i]->absorbed_by && l->v[i]->absorbed_by->absorbed_by)
			l->v[i]->absorbed_by = l->v[i]->absorbed_by->absorbed_by;
}

/* --- order ------------------------------------------------------------------------------------------ */

static int compare(const void *pa, const void *pb)
{
	const struct finding *a = *(struct finding *const *)pa, *b = *(struct finding *const *)pb;

	if (!a->absorbed_by != !b->absorbed_by)
		return a->absorbed_by ? 1 : -1;
	if (a->severity != b->severity)
		return a->severity < b->severity ? 1 : -1;
	if (a->factor < b->factor || a->factor > b->factor)
		return a->factor < b->factor ? 1 : -1;
	if (a->check != b->check)
		return a->check < b->check ? -1 : 1;
	if (a->volume != b->volume)
		return a->volume < b->volume ? -1 : 1;
	return strcmp(a->title, b->title);
}

static void run_check(const struct check *c, const struct doctor_facts *f, const struct doctor_volume *v, struct findings *out)
{
	size_t before = out->n;

	c->run(f, v, out);
	for (size_t i = before; i < out->n; i++) {
		out->v[i]->check = c;
		measured_apply(f, out->v[i]);
	}
}

void doctor_run(const struct doctor_facts *f, const struct doctor_volume *only, struct findings *out)
{
	*out = (struct findings){ 0 };
	for (const struct check *c = check_table; c < check_table + check_count; c++) {
		if (c->scope == CHECK_MACHINE)
			run_check(c, f, NULL, out);
		for (size_t i = 0; c->scope == CHECK_VOLUME && i < f->n; i++)
			if (!only || only == &f->v[i])
				run_check(c, f, &f->v[i], out);
	}
	absorb(out);
	if (out->n)
		qsort(out->v, out->n, sizeof(struct finding *), compare);
}

bool findings_reach(const struct findings *l, enum severity s)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i]->absorbed_by && l->v[i]->severity >= s)
			return true;
	return false;
}

const struct finding *findings_worst(const struct findings *l, const struct doctor_volume *v)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i]->volume == v)
			return l->v[i]->absorbed_by ? l->v[i]->absorbed_by : l->v[i];
	return NULL;
}

void doctor_facts_free(struct doctor_facts *f)
{
	for (size_t i = 0; i < f->n; i++) {
		verdict_free(&f->v[i].verdict);
		free(f->v[i].stack.v);
	}
	free(f->v);
	free(f->measured);
	f->measured = NULL;
	f->n_measured = 0;
	crypttab_free(&f->crypttab);
	f->v = NULL;
	f->n = 0;
}
