/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Checks of the cipher spec: key sizes and modes that the hardware lacks, software where there is better.
 * Must not judge drivers that are not there, or disks.
 */
#include <string.h>

#include "doctor/internal.h"

/* --- rewriting a volume ------------------------------------------------------------------------------- */

static const char *options_text(const struct cipher_spec *s, unsigned int old_sector, char *buf, size_t size)
{
	char text[SPEC_TEXT_MAX], sector[40] = "";

	if (s->sector_size != old_sector)
		snprintf(sector, sizeof(sector), " --sector-size %u", s->sector_size);
	snprintf(buf, size, "--cipher %s --key-size %u%s", spec_text(s, text, sizeof(text)), s->key_bits, sector);
	return buf;
}

/* Why larger sectors cannot be promised to fit what is there; NULL when they fit. Returns buf or NULL. */
static const char *sectors_fault(const struct doctor_volume *v, unsigned int sector, char *buf, size_t size)
{
	if (!v->size || v->size % sector) {
		snprintf(buf, size, v->size ? "the volume's size is no multiple of %u bytes" : "the volume's size is not known", sector);
		return buf;
	}
	if (v->data_offset % sector) {
		snprintf(buf, size, "its data starts at byte %llu, no multiple of %u", (unsigned long long)v->data_offset, sector);
		return buf;
	}
	if (!v->content_known || !*v->content) {
		snprintf(buf, size, "what lies on the volume could not be recognised");
		return buf;
	}
	if (!strcmp(v->content, "LVM2_member")) {
		snprintf(buf, size, "LVM lies on it, and the block sizes of its volumes were not read");
		return buf;
	}
	if (!v->content_block || v->content_block % sector) {
		snprintf(buf, size, v->content_block ? "the %s on it uses blocks of %u bytes" : "the block size of the %s on it is not known",
			 v->content, v->content_block);
		return buf;
	}
	return NULL;
}

/* What stands against cryptsetup's reencryption, whatever the spec; NULL when nothing does. */
static const char *rewrite_fault(const struct doctor_volume *v)
{
	if (v->header.type == HEADER_LUKS1)
		return "The header is LUKS1, which cannot be re-encrypted while in use: make a new volume and copy the data.";
	if (v->header.type == HEADER_NONE)
		return "It is no LUKS volume: make a new one and copy the data.";
	if (v->header.reencrypting || v->targets > 1)
		return "A reencryption is under way; finish it first.";
	if (*v->header.integrity || v->tag_size)
		return "It has integrity tags, which cryptsetup cannot re-encrypt: make a new volume and copy the data.";
	return NULL;
}

void rewrite_remedy(struct finding *f, const struct doctor_volume *v, const struct cipher_spec *to)
{
	struct cipher_spec spec = *to;
	unsigned int old = v->spec.sector_size ? v->spec.sector_size : 512;
	char why[160], options[SPEC_TEXT_MAX + 80];
	const char *fault = rewrite_fault(v);

	if (!spec.sector_size)
		spec.sector_size = old;
	if (spec.sector_size > old && sectors_fault(v, spec.sector_size, why, sizeof(why))) {
		finding_no_remedy(f, "Sectors of %u bytes are not offered: %s.", spec.sector_size, why);
		if (!strcmp(spec.api, v->spec.api) && spec.key_bits == v->spec.key_bits)
			return;
		spec.sector_size = old;
	}
	options_text(&spec, old, options, sizeof(options));
	setup_set(&f->then, &spec, v->flags, NULL);
	if (spec_class(&spec) > spec_class(&v->spec)) {
		finding_no_remedy(f, "What the hardware serves is of a weaker security class, which is never a remedy.");
	} else if (fault) {
		f->cost = COST_NEW_VOLUME;
		finding_no_remedy(f, "%s The spec to take is %s.", fault, options);
	} else if (v->header.type == HEADER_UNKNOWN) {
		f->cost = COST_REWRITE;
		finding_no_remedy(f, "Not offered, as the volume's header was not read. A LUKS2 volume takes 'cryptsetup reencrypt %s'.", options);
	} else {
		finding_remedy(f, COST_REWRITE, "cryptsetup reencrypt %s %s", options, *v->device ? v->device : "DEVICE");
		finding_hazard(f, "Have a backup of the data and of the header; an interrupted run is resumed by the same command.");
		if (spec.key_bits < v->spec.key_bits)
			finding_hazard(f, "The volume key becomes shorter: %u instead of %u bits.", spec.key_bits, v->spec.key_bits);
		if (spec.sector_size > old)
			finding_hazard(f, "A power loss in the middle of a write can tear a larger sector on disks that write smaller ones.");
	}
}

static bool same_spec(const struct cipher_spec *a, const struct cipher_spec *b)
{
	return !strcmp(a->api, b->api) && !strcmp(a->iv, b->iv) && !strcmp(a->ivopts, b->ivopts) && a->key_bits == b->key_bits;
}

bool best_spec(const struct doctor_facts *f, const struct doctor_volume *v, struct cipher_spec *out)
{
	struct ranking r;
	bool better;

	policy_rank(f->m, f->plan, v->spec.sector_size ? v->spec.sector_size : 512, NULL, 0, &r);
	better = r.n && r.v[0].verdict.verdict != VERDICT_IMPOSSIBLE && !same_spec(&r.v[0].verdict.spec, &v->spec);
	if (better)
		*out = r.v[0].verdict.spec;
	ranking_free(&r);
	return better;
}

static void gain_of_adiantum(struct finding *x, const struct cipher_spec *to)
{
	if (strstr(to->api, "adiantum"))
		finding_gain(x, 3.1, "3.1 times in a published run on an ARM board without AES instructions: 52 to 160 MiB/s. "
				     "Not measured here.");
}

/* --- the hardware's limits (10, 11) --------------------------------------------------------------------- */

static bool has_reason(const struct doctor_volume *v, enum reason_code code)
{
	return reasons_have(&v->verdict.reasons, code);
}

/* The nearest spec that the hardware serves, of the same class or better. */
static bool nearest_spec(const struct doctor_facts *f, const struct doctor_volume *v, struct cipher_spec *out)
{
	struct verdict w;
	bool found;

	policy_decide(f->m, f->plan, &v->spec, &w);
	found = w.has_nearest;
	if (found)
		*out = w.nearest;
	verdict_free(&w);
	return found;
}

static void evidence_reasons(const struct doctor_volume *v, enum reason_code code, struct finding *x)
{
	for (size_t i = 0; i < v->verdict.reasons.n; i++)
		if (v->verdict.reasons.v[i].code == code)
			finding_evidence(x, "%s", v->verdict.reasons.v[i].text);
}

static void nearest_remedy(const struct doctor_facts *f, const struct doctor_volume *v, struct finding *x)
{
	struct cipher_spec to;

	if (nearest_spec(f, v, &to))
		rewrite_remedy(x, v, &to);
	else
		finding_no_remedy(x, "The hardware serves no spec of this security class.");
}

CHECK(key_size)
{
	const struct accel *a = v->verdict.accel;
	char text[SPEC_TEXT_MAX], keys[96];
	struct finding *x;

	if (!v->spec_known || !in_software(v) || !has_reason(v, REASON_KEY_SIZE))
		return;
	x = finding_add(out, v, SEVERITY_WARNING, "The hardware lacks the key size of %s: its driver is bound, the CPU does the work.", v->name);
	finding_evidence(x, "%s: %s.", v->name, spec_describe(&v->spec, text, sizeof(text)));
	finding_evidence(x, "Driver %s (%s); driver name and counts look the same with any key.", v->verdict.driver,
			 v->open ? binding_evidence_name(v->binding.evidence) : "not open");
	if (a)
		finding_evidence(x, "The hardware of the %s takes %s bits.", a->name,
				 accel_keys_text(accel_hw_keys(a, policy_kernel(f->m)), keys, sizeof(keys)));
	evidence_reasons(v, REASON_KEY_SIZE, x);
	nearest_remedy(f, v, x);
	if (a)
		gain_of_row(x, a);
}

/* The engine is here, and what it lacks is the mode: another spec would run on it. */
CHECK(mode)
{
	struct cipher_spec to;
	char text[SPEC_TEXT_MAX];
	struct finding *x;
	struct verdict w;

	if (!v->spec_known || !in_software(v) || !is_aes(&v->spec) || has_reason(v, REASON_KEY_SIZE))
		return;
	policy_decide(f->m, f->plan, &v->spec, &w);
	if (w.data == PART_SOFTWARE && nearest_spec(f, v, &to) && strcmp(to.api, v->spec.api)) {
		x = finding_add(out, v, SEVERITY_WARNING, "The hardware here lacks the mode of %s; in another mode it would do the work.", v->name);
		finding_evidence(x, "%s: %s, served by %s.", v->name, spec_describe(&v->spec, text, sizeof(text)), v->verdict.driver);
		finding_evidence(x, "It serves %s.", spec_describe(&to, text, sizeof(text)));
		rewrite_remedy(x, v, &to);
		finding_gain(x, 2, "About 2 times in a published run (CESA, CBC instead of XTS, on kernels that took that engine). Not measured "
				   "here.");
	}
	verdict_free(&w);
}

/* --- software (1, 2) --------------------------------------------------------------------------------------- */

CHECK(software)
{
	char text[SPEC_TEXT_MAX];
	struct cipher_spec to;
	struct finding *x;

	if (!v->spec_known || !in_software(v) || !is_aes(&v->spec))
		return;
	x = finding_add(out, v, SEVERITY_WARNING, "%s is encrypted in software.", v->name);
	finding_evidence(x, "%s: %s, served by %s.", v->name, spec_describe(&v->spec, text, sizeof(text)),
			 *v->verdict.driver ? v->verdict.driver : "a driver not known");
	if (f->m->cpu.processors && !policy_cpu_has_aes(f->m))
		finding_evidence(x, "The CPU has no AES instructions.");
	if (!best_spec(f, v, &to)) {
		finding_no_remedy(x, "It is already the spec that runs best here.");
		return;
	}
	rewrite_remedy(x, v, &to);
	gain_of_adiantum(x, &to);
}

static bool any_hardware(const struct machine *m)
{
	for_each_accel(a)
		if (a->kind != ACCEL_SOFTWARE && a->kind != ACCEL_CPU_SIMD && (a->modes & ~(unsigned)(MODE_HASH | MODE_GCM)) &&
		    accel_present(m, a, NULL, 0) && accel_usable(m, a) == DMCRYPT_YES && accel_proposable(m, a))
			return true;
	return false;
}

CHECK(no_aes)
{
	char text[SPEC_TEXT_MAX];
	struct ranking r;
	struct finding *x;

	(void)v;
	if (!f->m->cpu.processors || any_hardware(f->m))
		return;
	x = finding_add(out, NULL, SEVERITY_NOTE, "Nothing here serves AES in hardware.");
	finding_evidence(x, "The CPU (%s) has no AES instructions, and no engine was found that dm-crypt can use with gain.",
			 f->m->cpu.model ? f->m->cpu.model : "not named");
	policy_rank(f->m, f->plan, 512, NULL, 0, &r);
	if (r.n && r.v[0].verdict.verdict != VERDICT_IMPOSSIBLE) {
		finding_no_remedy(x, "No driver helps. For a new volume 'hwluks format' takes %s.",
				  spec_describe(&r.v[0].verdict.spec, text, sizeof(text)));
		gain_of_adiantum(x, &r.v[0].verdict.spec);
	} else {
		finding_no_remedy(x, "No driver helps.");
	}
	ranking_free(&r);
}

CHECK(vm_hides_aes)
{
	bool x86 = f->m->arch == ARCH_X86_32 || f->m->arch == ARCH_X86_64;
	struct finding *x;

	(void)v;
	if (!x86 || !f->m->cpu.processors || !f->m->cpu.hypervisor || policy_cpu_has_aes(f->m) ||
	    any_hardware(f->m))
		return;
	x = finding_add(out, NULL, SEVERITY_WARNING, "This virtual machine's CPU type shows no AES instructions.");
	finding_evidence(x, "CPU type: %s; flag 'hypervisor' set, flag 'aes' not.", f->m->cpu.model ? f->m->cpu.model : "not named");
	finding_evidence(x, "Whether the host has them cannot be seen from here; x86 servers of the last ten years do.");
	finding_no_remedy(x, "It is set on the host: QEMU -cpu host; libvirt <cpu mode='host-passthrough'/>; Proxmox 'qm set VMID --cpu host'; "
			     "then stop and start the guest.");
	x->cost = COST_REBOOT;
	finding_hazard(x, "Live migration then wants hosts with the same CPU; a named CPU model with aes is the middle way.");
	finding_gain(x, 5.1, "5.1 times in a published run: 474 to 2420 MB/s. Not measured here.");
}

/* --- other ciphers (21, 22, 23, 25, 26): advice that costs a reformat and was not measured ---------------------- */

static bool best_is_accelerated(const struct doctor_facts *f, const struct cipher_spec *s)
{
	struct verdict w;
	bool yes;

	policy_decide(f->m, f->plan, s, &w);
	yes = w.data == PART_HARDWARE;
	verdict_free(&w);
	return yes;
}

CHECK(foreign_cipher)
{
	char text[SPEC_TEXT_MAX];
	struct cipher_spec to;
	struct finding *x;

	if (!v->spec_known || strstr(v->spec.api, "aes") || on_hardware(v) || !best_spec(f, v, &to) || !best_is_accelerated(f, &to))
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "No hardware here knows the cipher of %s; AES would run on hardware.", v->name);
	finding_evidence(x, "%s: %s.", v->name, spec_describe(&v->spec, text, sizeof(text)));
	rewrite_remedy(x, v, &to);
	finding_hazard(x, "A cipher that was chosen on purpose is no fault.");
	finding_gain(x, 4.3, "4.3 times in a published guide: serpent 632, AES 2734 MiB/s with AES-NI. Not measured here.");
}

CHECK(adiantum_with_aes)
{
	struct cipher_spec to;
	struct finding *x;

	if (!v->spec_known || !strstr(v->spec.api, "adiantum") || !policy_cpu_has_aes(f->m) || !best_spec(f, v, &to) ||
	    !best_is_accelerated(f, &to))
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "%s uses Adiantum, and this CPU has AES instructions.", v->name);
	finding_evidence(x, "Adiantum is the fast choice only where AES has no hardware.");
	rewrite_remedy(x, v, &to);
	finding_gain(x, 0, "No figure is published for it; not measured here.");
}

static bool parallel_code(const struct accel *a)
{
	return a && (a->kind == ACCEL_CPU_SIMD || (a->kind == ACCEL_CPU && !strstr(a->id, "padlock")));
}

CHECK(cbc_serial)
{
	struct cipher_spec to = v->spec;
	struct spec_error err;
	struct finding *x;

	(void)f;
	if (!v->spec_known || !str_starts(v->spec.api, "cbc(aes") || !parallel_code(v->verdict.accel))
		return;
	if (spec_parse("aes-xts-plain64", &to, &err))
		return;
	to.key_bits = 2 * v->spec.key_bits;
	to.sector_size = v->spec.sector_size;
	x = finding_add(out, v, SEVERITY_NOTE, "%s uses CBC, which encrypts one block after the other; %s could do several at a time.",
			v->name, v->verdict.accel->name);
	finding_evidence(x, "Served by %s. Reading is not affected, writing is.", v->verdict.driver);
	rewrite_remedy(x, v, &to);
	finding_gain(x, 5, "5 times when writing in a published run: 17 to 85 MiB/s. Not measured here.");
}

CHECK(xts_on_arm)
{
	struct finding *x;

	if (!v->spec_known || f->m->arch != ARCH_ARM || !str_starts(v->spec.api, "xts(aes") || !in_software(v) ||
	    !str_starts(v->verdict.driver, "xts("))
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "%s runs XTS through the kernel's template on a 32-bit ARM CPU.", v->name);
	finding_evidence(x, "Served by %s; on such CPUs CBC can be the faster mode.", v->verdict.driver);
	finding_no_remedy(x, "Measure both before anything is rewritten: CBC about doubled one published result, and is malleable.");
	finding_gain(x, 2, "About 2 times in a published run. Not measured here.");
}

CHECK(xts_long_key)
{
	struct cipher_spec to = v->spec;
	struct finding *x;

	(void)f;
	if (!v->spec_known || !str_starts(v->spec.api, "xts(aes") || v->spec.key_bits != 512 || !parallel_code(v->verdict.accel))
		return;
	x = finding_add(out, v, SEVERITY_INFO, "%s uses AES-256 in XTS; AES-128 (a 256-bit XTS key) has fewer rounds.", v->name);
	finding_evidence(x, "The volume key has 512 bits, two halves of 256.");
	finding_no_remedy(x, "A question of policy, not a fault, and only worth it where the CPU is the limit.");
	to.key_bits = 256;
	setup_set(&x->then, &to, v->flags, NULL);
	finding_gain(x, 0, "1.2 times in a published run: 350 to 434 MiB/s. Not measured here.");
}

/* --- larger requests (12) ---------------------------------------------------------------------------------------- */

CHECK(small_requests)
{
	const struct accel *a = v->verdict.accel;
	struct cipher_spec to = v->spec;
	struct finding *x;

	(void)f;
	if (!v->spec_known || !on_hardware(v) || !a || !accel_is_engine(a) || v->spec.sector_size > 512)
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "The %s gets %s in pieces of 512 bytes.", a->name, v->name);
	finding_evidence(x, "dm-crypt hands over one encryption sector at a time, and these have 512 bytes.");
	if (a->quirks)
		finding_evidence(x, "%s", a->quirks);
	to.sector_size = 4096;
	rewrite_remedy(x, v, &to);
	finding_gain(x, 0, "2.5 times in a published run of one engine: 21 MB/s in requests of 1 KiB, 52 in 8 KiB. Not measured here.");
}

/* --- crypttab (41) ------------------------------------------------------------------------------------------------- */

static void judge_entry(const struct doctor_facts *f, const struct crypttab_entry *e, struct findings *out)
{
	char cipher[160], bits[16] = "";
	struct spec_error err = { 0 };
	struct cipher_spec spec;
	struct verdict w = { 0 };
	uint64_t n = 0;
	struct finding *x = NULL;

	if (!crypttab_option(e, "cipher", cipher, sizeof(cipher)))
		return;
	if (spec_parse(cipher, &spec, &err)) {
		x = finding_add(out, NULL, SEVERITY_PROBLEM, "/etc/crypttab: the cipher of '%s' cannot be understood.", e->name);
		finding_evidence(x, "cipher=%s: %s", cipher, err.why);
	} else {
		if (crypttab_option(e, "size", bits, sizeof(bits)))
			parse_u64(bits, 4096, &n);
		spec.key_bits = n ? (unsigned int)n : spec_default_key_bits(&spec);
		policy_decide(f->m, f->plan, &spec, &w);
	}
	if (!x && w.verdict == VERDICT_IMPOSSIBLE) {
		x = finding_add(out, NULL, SEVERITY_PROBLEM, "/etc/crypttab: this kernel cannot open '%s' with its cipher.", e->name);
		for (size_t i = 0; i < w.reasons.n; i++)
			finding_evidence(x, "%s", w.reasons.v[i].text);
	}
	if (x)
		finding_no_remedy(x, "Mend the line: cipher=CIPHER-MODE-IV, for example cipher=aes-xts-plain64,size=512; a plain volume that holds "
				     "data needs the spec it was made with.");
	verdict_free(&w);
}

CHECK(spec_impossible)
{
	(void)v;
	for (size_t i = 0; i < f->crypttab.n; i++)
		judge_entry(f, &f->crypttab.v[i], out);
}
