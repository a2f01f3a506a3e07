/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Checks of the kernel and of key slots: old kernels and their traps, FIPS, AF_ALG, PBKDF memory.
 * Must not judge what serves a volume.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/internal.h"

static bool is_x86(const struct machine *m)
{
	return m->arch == ARCH_X86_32 || m->arch == ARCH_X86_64;
}

/* --- old kernels --------------------------------------------------------------------------------------- */

/* "2.6.24-16-generic" → 24; -1 when it is no such release. */
static int patch_of_2_6(const struct machine *m)
{
	int patch;

	return sscanf(m->release, "2.6.%d", &patch) == 1 ? patch : -1;
}

CHECK(old_kernel)
{
	struct finding *x;

	(void)v;
	if (!f->m->kernel || f->m->kernel >= KVER(5, 10))
		return;
	x = finding_add(out, NULL, SEVERITY_NOTE, "Kernel %s is older than those the rules here were verified on (5.10 to 7.3).", f->m->release);
	finding_evidence(x, "Not verified: which drivers dm-crypt of that time took (the memory flag is judged from 5.10 on), driver names and "
			    "priorities, how templates were built, when reference counts rise.");
	if (f->m->kernel < KVER(5, 9))
		finding_evidence(x, "dm-crypt has no workqueue flags yet; they came with 5.9.");
	if (f->m->kernel < KVER(5, 4))
		finding_evidence(x, "ESSIV is part of dm-crypt here; from 5.4 on it is a module (essiv) that the boot image must hold.");
	finding_evidence(x, "A trap of the era: a driver without a software fallback (seen with geode-aes on 2.6.24, gone on 2.6.26) refuses the "
			    "256-bit key of ESSIV's IV cipher, and the kernel logs 'Failed to set key for ESSIV cipher'.");
	finding_no_remedy(x, "A kernel of 5.10 or later can be judged in full.");
}

/* origins: Ubuntu's 2.6.24 against Debian's 2.6.26 on the same fit-PC. */
CHECK(essiv_refused)
{
	int patch = patch_of_2_6(f->m);
	const struct accel *a = accel_by_id("geode-lx");
	struct finding *x;

	(void)v;
	if (patch < 0 || patch >= 26 || !a || !accel_present(f->m, a, NULL, 0))
		return;
	x = finding_add(out, NULL, SEVERITY_WARNING, "On this kernel the driver of the %s refuses the key of ESSIV's IV cipher.", a->name);
	finding_evidence(x, "Kernel %s; seen on 2.6.24, gone on 2.6.26, where the driver got a software fallback.", f->m->release);
	finding_evidence(x, "The log lines are 'Failed to set key for ESSIV cipher' and 'Failed to setup dm-crypt key mapping'.");
	finding_no_remedy(x, "Take a newer kernel. MD5 as ESSIV hash gets past the error and is no remedy: it weakens the volume.");
}

CHECK(retpoline)
{
	const struct accel *a = accel_by_id("x86-aesni");
	struct finding *x;

	(void)v;
	if (!is_x86(f->m) || !f->m->kernel || f->m->kernel >= KVER(5, 12) || !a || !accel_present(f->m, a, NULL, 0))
		return;
	x = finding_add(out, NULL, SEVERITY_NOTE, "The AES-NI code of this kernel is slowed down by Spectre mitigations.");
	finding_evidence(x, "Kernel %s; from 5.12 on the XTS code needs no indirect calls.", f->m->release);
	finding_evidence(x, "Whether the mitigations are on was not read.");
	finding_no_remedy(x, "Take a kernel of 5.12 or later. Mitigations stay on.");
	x->cost = COST_REBOOT;
	finding_gain(x, 0, "1.6 times in a published run: 1808 to 2947 MiB/s. Not measured here.");
}

CHECK(vaes_unused)
{
	struct finding *x;

	(void)v;
	if (!is_x86(f->m) || !word_in(f->m->cpu.flags, "vaes") || !f->m->kernel || f->m->kernel >= KVER(6, 10))
		return;
	x = finding_add(out, NULL, SEVERITY_NOTE, "This kernel has no code for the CPU's wide AES instructions.");
	finding_evidence(x, "CPU flag vaes; kernel %s. The code for XTS came with 6.10.", f->m->release);
	finding_no_remedy(x, "Take a kernel of 6.10 or later.");
	x->cost = COST_REBOOT;
	finding_gain(x, 0, "1.8 to 2.2 times in published runs. Not measured here.");
}

/* --- switches of the kernel (29, 30) ------------------------------------------------------------------------ */

CHECK(fips)
{
	struct finding *x;

	(void)v;
	if (f->fips != TRI_FACT_YES)
		return;
	x = finding_add(out, NULL, SEVERITY_INFO, "The kernel is in FIPS mode: only approved drivers and ciphers are served.");
	finding_evidence(x, "/proc/sys/crypto/fips_enabled is 1.");
	finding_no_remedy(x, "A question of policy. Adiantum and drivers that are not approved are out of reach.");
}

CHECK(fixed_time)
{
	struct finding *x;

	(void)f;
	if (!strstr(v->verdict.driver, "aes-fixed-time"))
		return;
	x = finding_add(out, v, SEVERITY_WARNING, "%s is served by the slow constant-time AES code.", v->name);
	finding_evidence(x, "Driver %s.", v->verdict.driver);
	finding_no_remedy(x, "A kernel with aes-generic or a driver for the CPU's instructions is needed; this one was chosen by the kernel's "
			     "builder.");
	finding_gain(x, 0, "No figure is published for it; not measured here.");
}

CHECK(af_alg)
{
	(void)v;
	for (size_t i = 0; i < f->m->n_gw; i++) {
		struct finding *x;

		if (strcmp(f->m->gw[i].id, "af_alg") || strcmp(f->m->gw[i].state, "not in this kernel"))
			continue;
		x = finding_add(out, NULL, SEVERITY_INFO, "'cryptsetup benchmark' cannot measure ciphers here.");
		finding_evidence(x, "%s: %s. It says nothing about dm-crypt, which does not need it.", f->m->gw[i].name, f->m->gw[i].state);
		finding_no_remedy(x, "Install the module algif_skcipher of this kernel if it is wanted.");
	}
}

CHECK(rng_credit)
{
	const struct rng_facts *r = &f->m->rng;
	struct finding *x;

	(void)v;
	if (!r->known || !*r->available || !strcmp(r->available, "none") || r->quality != 0)
		return;
	x = finding_add(out, NULL, SEVERITY_INFO, "The hardware random number generator is there and gets no credit.");
	finding_evidence(x, "Available: %s; the kernel credits 0 of 1024 bits. Its data is mixed in all the same.", r->available);
	finding_no_remedy(x, "It matters only before the kernel's pool is first ready; a credit is set by rng_core.default_quality=N on the kernel "
			     "command line by whoever trusts the generator that far.");
}

/* --- key slots (34, 35) -------------------------------------------------------------------------------------- */

static void report_memory(const struct doctor_volume *v, const struct doctor_keyslot *s, uint64_t have, bool total, struct findings *out)
{
	struct finding *x = finding_add(out, v, total ? SEVERITY_PROBLEM : SEVERITY_WARNING,
					"Key slot %d of %s needs more memory than is %s.", s->slot, v->name, total ? "in this machine" : "free now");
	char need[32], text[32];

	finding_evidence(x, "%s with %s; %s here: %s.", s->pbkdf, size_text((uint64_t)s->memory_kib * 1024, need, sizeof(need)),
			 total ? "memory" : "free memory", size_text(have, text, sizeof(text)));
	finding_evidence(x, "Opening fails with 'not enough memory', or the kernel kills what tries it.");
	finding_remedy(x, COST_NOTHING, "cryptsetup luksConvertKey --key-slot %d --pbkdf argon2id --pbkdf-memory %llu %s", s->slot,
		       (unsigned long long)(have / 2048), *v->device ? v->device : "DEVICE");
	finding_hazard(x, "Guessing the passphrase takes less memory afterwards.");
	if (total)
		finding_hazard(x, "It must run where the slot can still be opened: on a machine with more memory.");
}

CHECK(argon2_memory)
{
	const struct machine *m = f->m;

	for (size_t i = 0; i < v->header.n_slots; i++) {
		const struct doctor_keyslot *s = &v->header.slot[i];
		uint64_t need = (uint64_t)s->memory_kib * 1024;

		if (!need)
			continue;
		if (!m->mem_total)
			finding_evidence(finding_add(out, v, SEVERITY_UNKNOWN, "Whether key slot %d of %s fits into memory cannot be told.",
						     s->slot, v->name),
					 "The machine's memory could not be read.");
		else if (need > m->mem_total)
			report_memory(v, s, m->mem_total, true, out);
		else if (m->mem_available && need > m->mem_available && !v->open)
			report_memory(v, s, m->mem_available, false, out);
	}
}

static bool memory_hard(const struct doctor_volume *v)
{
	for (size_t i = 0; i < v->header.n_slots; i++)
		if (v->header.slot[i].memory_kib)
			return true;
	return false;
}

CHECK(argon2_row)
{
	struct strbuf names = { 0 };
	struct finding *x;
	unsigned int n = 0;

	(void)v;
	for (size_t i = 0; i < f->n; i++) {
		const struct crypttab_entry *e = crypttab_find(&f->crypttab, f->v[i].name);

		if (!e || crypttab_option(e, "noauto", NULL, 0) || !memory_hard(&f->v[i]))
			continue;
		strbuf_printf(&names, "%s%s", n++ ? ", " : "", e->name);
	}
	if (n > 1) {
		x = finding_add(out, NULL, SEVERITY_NOTE, "%u volumes with memory-hard key slots are unlocked at boot.", n);
		finding_evidence(x, "In /etc/crypttab: %s.", names.s);
		finding_no_remedy(x, "Keep a key file for the others on the first volume, in slots of their own made with "
				     "'cryptsetup luksAddKey --pbkdf pbkdf2 --iter-time 100' (a random key needs no costly derivation).");
		finding_gain(x, 0, "8.7 to 4.6 seconds of a boot in a published run. Not measured here.");
	}
	strbuf_free(&names);
}

CHECK(header_unknown)
{
	struct finding *x;

	(void)f;
	if (v->header.type != HEADER_UNKNOWN)
		return;
	x = finding_add(out, v, SEVERITY_UNKNOWN, "The header of %s is not known.", v->name);
	finding_evidence(x, "%s", *v->header.why ? v->header.why : "It could not be read.");
	finding_evidence(x, "Key slots were not judged, and nothing that rewrites data is offered.");
}
