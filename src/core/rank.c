/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Which spec to propose: class first, then what the hardware serves, then what was measured.
 * Must not propose outside the standard class, and must not rank by a model's figures.
 */
#include "core/policy.h"

#include <stdlib.h>
#include <string.h>

/* A rival has to be this much faster than xts to be preferred to it (design rule). */
#define FASTER 1.25

static const struct {
	const char *text;
	unsigned int key_bits;
} proposals[] = {
	{ "aes-xts-plain64", 512 },	 { "aes-xts-plain64", 256 },
	{ "aes-cbc-essiv:sha256", 256 }, { "aes-cbc-essiv:sha256", 128 },
	{ "xchacha12,aes-adiantum-plain64", 256 },
};

static bool same_spec(const struct cipher_spec *a, const struct cipher_spec *b)
{
	return !strcmp(a->cipher, b->cipher) && !strcmp(a->mode, b->mode) && !strcmp(a->iv, b->iv) &&
	       !strcmp(a->ivopts, b->ivopts) && a->key_bits == b->key_bits && a->sector_size == b->sector_size;
}

static double measured(const struct cipher_spec *s, const struct measurement *meas, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (same_spec(s, &meas[i].spec))
			return (meas[i].write_mbps + meas[i].read_mbps) / 2;
	return 0;
}

/* Groups from best to worst: hardware does the data · CPU code, or not known · cannot be opened. */
enum group { GROUP_HARDWARE, GROUP_UNKNOWN, GROUP_SOFTWARE, GROUP_IMPOSSIBLE };

static enum group group(const struct machine *m, const struct ranked *r)
{
	const struct verdict *v = &r->verdict;

	switch (v->verdict) {
	case VERDICT_ACCELERATED:
	case VERDICT_PARTLY:
		return v->accel && !accel_proposable(m, v->accel) ? GROUP_UNKNOWN : GROUP_HARDWARE;
	case VERDICT_UNKNOWN:
		return GROUP_UNKNOWN;
	case VERDICT_SOFTWARE:
		return GROUP_SOFTWARE;
	default:
		return GROUP_IMPOSSIBLE;
	}
}

static bool is_adiantum(const struct ranked *r)
{
	return !strcmp(r->verdict.spec.mode, "adiantum");
}

/*
 * Place, the smaller the better. What is not known to be hardware is worth no more than software on a CPU without AES
 * instructions, and there Adiantum is the fast one; with AES instructions unknown means the kernel's library, which may use
 * them. Inside a group xts, then Adiantum, then cbc-essiv.
 */
static int place(const struct machine *m, const struct ranked *r)
{
	bool aes = policy_cpu_has_aes(m);
	enum group g = group(m, r);
	int taste = spec_is_xts(&r->verdict.spec) ? 1 : is_adiantum(r) ? 2 : 3;

	if (!aes && g == GROUP_UNKNOWN)
		g = GROUP_SOFTWARE;
	if (!aes && g == GROUP_SOFTWARE && is_adiantum(r))
		taste = 0;
	return (int)g * 4 + taste;
}

static bool comes_before(const struct machine *m, const struct ranked *a, const struct ranked *b)
{
	if (place(m, a) != place(m, b))
		return place(m, a) < place(m, b);
	return a->verdict.spec.key_bits > b->verdict.spec.key_bits;
}

/* A handful of entries, and the machine has to be at hand: no qsort. */
static void sort(const struct machine *m, struct ranking *r)
{
	for (size_t i = 1; i < r->n; i++)
		for (size_t k = i; k && comes_before(m, &r->v[k], &r->v[k - 1]); k--) {
			struct ranked x = r->v[k];

			r->v[k] = r->v[k - 1];
			r->v[k - 1] = x;
		}
}

static void move_to_front(struct ranking *r, size_t i)
{
	struct ranked x = r->v[i];

	memmove(&r->v[1], &r->v[0], i * sizeof(x));
	r->v[0] = x;
}

/* Speed alone never shortens the key of the data cipher, nor proposes what format would refuse. */
static bool may_be_promoted(const struct machine *m, const struct ranked *r, const struct ranked *first)
{
	return group(m, r) != GROUP_IMPOSSIBLE && r->verdict.action == ACTION_PROCEED &&
	       (!r->verdict.accel || accel_trusted(m, r->verdict.accel)) &&
	       spec_cipher_key_bits(&r->verdict.spec) >= spec_cipher_key_bits(&first->verdict.spec);
}

/* The fastest measured rival of the first, when it is clearly faster. */
static void promote_measured(const struct machine *m, struct ranking *r)
{
	size_t fastest = 0;

	if (!r->n || r->v[0].mbps <= 0)
		return;
	for (size_t i = 1; i < r->n; i++)
		if (r->v[i].mbps > r->v[fastest].mbps && may_be_promoted(m, &r->v[i], &r->v[0]))
			fastest = i;
	if (fastest && r->v[fastest].mbps >= FASTER * r->v[0].mbps)
		move_to_front(r, fastest);
}

/* --- why ------------------------------------------------------------------------------------------- */

static char *why_first(const struct machine *m, const struct ranking *r)
{
	const struct ranked *first = &r->v[0], *xts = NULL;

	for (size_t i = 1; i < r->n && !xts; i++)
		if (spec_is_xts(&r->v[i].verdict.spec) && r->v[i].mbps > 0)
			xts = &r->v[i];
	if (first->mbps > 0 && xts && !spec_is_xts(&first->verdict.spec))
		return xasprintf("Measured here %.1f times as fast as aes-xts-plain64 with a %u-bit key.",
				 first->mbps / xts->mbps, xts->verdict.spec.key_bits);
	switch (group(m, first)) {
	case GROUP_HARDWARE:
		return xstrdup(spec_is_xts(&first->verdict.spec) ?
			       "The hardware serves it; XTS goes first unless another spec of its class is measured 1.25 times as fast." :
			       "The hardware serves it, and does not serve XTS.");
	case GROUP_UNKNOWN:
		return xstrdup(first->verdict.accel ? "The usual choice, although the engine that serves it is slow or has failed before." :
						      "Whether hardware serves it is not known; it is the usual choice.");
	case GROUP_SOFTWARE:
		return xstrdup(is_adiantum(first) ? "Made for CPUs without AES instructions (Crowley and Biggers, 2018)." :
						    "Nothing here serves AES in hardware; it is the usual choice.");
	case GROUP_IMPOSSIBLE:
		break;
	}
	return xstrdup("This machine can open none of the specs that hwluks proposes.");
}

static char *why_behind(const struct machine *m, const struct ranked *r, const struct ranked *first)
{
	enum group g = group(m, r);

	if (g == GROUP_IMPOSSIBLE)
		return xstrdup("This machine cannot open it.");
	if (r->mbps > 0 && first->mbps > 0)
		return xasprintf("Measured here at %.2f of the first one's rate.", r->mbps / first->mbps);
	if (r->verdict.accel && !accel_proposable(m, r->verdict.accel))
		return xstrdup(accel_trusted(m, r->verdict.accel) ?
			       "Published figures call the engine that would serve it slower than the CPU." :
			       "A driver of the engine that would serve it has failed.");
	if (g != group(m, first))
		return xstrdup(g == GROUP_UNKNOWN ? "Whether hardware would serve it is not known." : "It would run in software.");
	if (is_adiantum(first))
		return xstrdup("Adiantum comes first on a CPU without AES instructions.");
	if (spec_is_xts(&r->verdict.spec) == spec_is_xts(&first->verdict.spec))
		return xstrdup("A shorter key.");
	return xstrdup("XTS comes before it in its class.");
}

static void explain(const struct machine *m, struct ranking *r)
{
	for (size_t i = 0; i < r->n; i++)
		r->v[i].why = i ? why_behind(m, &r->v[i], &r->v[0]) : why_first(m, r);
}

/* Why what is here does not serve AES: the reasons that the verdict on xts found. */
static void note_idle_hardware(struct ranking *r)
{
	static const enum reason_code idle[] = {
		REASON_MEMORY_FLAG, REASON_NOT_LOADED, REASON_DENIED, REASON_NO_MODULE, REASON_NO_OPTION, REASON_NO_DRIVER,
		REASON_SELFTEST_FAILED, REASON_QUARANTINED, REASON_OUTRANKED, REASON_OUTRANKS_CPU, REASON_SLOWER, REASON_MODE,
	};
	const struct reasons *from = NULL;

	for (size_t i = 0; i < r->n && !from; i++)
		if (spec_is_xts(&r->v[i].verdict.spec))
			from = &r->v[i].verdict.reasons;
	for (size_t i = 0; from && i < from->n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(idle); k++)
			if (from->v[i].code == idle[k])
				reasons_add(&r->notes, idle[k], "%s", from->v[i].text);
}

/* A driver that failed or was taken out, even where another one of the same engine is bound. */
static void note_failed(const struct machine *m, struct ranking *r)
{
	for (const struct accel *a = accel_table; a < accel_table + accel_count; a++) {
		enum driver_state s = driver_state(m, a);
		enum reason_code code = s == DRIVER_FAILED ? REASON_SELFTEST_FAILED : REASON_QUARANTINED;

		if ((s != DRIVER_FAILED && s != DRIVER_QUARANTINED) || a->kind == ACCEL_SOFTWARE || reasons_have(&r->notes, code) ||
		    !accel_present(m, a, NULL, 0))
			continue;
		reasons_add(&r->notes, code, "The %s is here, but a driver of it %s, so hwluks proposes nothing on it.", a->name,
			    s == DRIVER_FAILED ? "did not pass the kernel's self-test" : "was put to priority 0");
	}
}

static void note_machine(const struct machine *m, struct ranking *r)
{
	bool x86 = m->arch == ARCH_X86_32 || m->arch == ARCH_X86_64;
	bool aes = policy_cpu_has_aes(m);

	if (!r->n || group(m, &r->v[0]) == GROUP_HARDWARE)
		return;
	if (x86 && m->cpu.hypervisor && !aes)
		reasons_add(&r->notes, REASON_VM_HIDES_AES,
			    "This virtual machine's CPU type (%s) shows no AES instructions. If the host has them, give the guest a "
			    "CPU type that passes them on (QEMU: -cpu host; Proxmox: type host; libvirt: mode='host-passthrough') and "
			    "ask again before formatting.", m->cpu.model ? m->cpu.model : "not named");
	if (!aes && m->cpu.processors)
		reasons_add(&r->notes, REASON_NO_AES, "The CPU has no AES instructions, and no engine here is known to serve dm-crypt.");
	if (!m->algs_known)
		reasons_add(&r->notes, REASON_LIST_UNREADABLE, "The kernel's list of algorithms (/proc/crypto) could not be read.");
	else
		note_idle_hardware(r);
	note_failed(m, r);
}

void policy_rank(const struct machine *m, const struct load_plan *plan, unsigned int sector_size,
		 const struct measurement *meas, size_t n_meas, struct ranking *out)
{
	struct spec_error err;

	*out = (struct ranking){ .v = xcalloc(ARRAY_SIZE(proposals), sizeof(*out->v)) };
	for (size_t i = 0; i < ARRAY_SIZE(proposals); i++) {
		struct ranked *r = &out->v[out->n];
		struct cipher_spec s;

		if (spec_parse(proposals[i].text, &s, &err))
			continue;
		s.key_bits = proposals[i].key_bits;
		s.sector_size = sector_size;
		policy_decide(m, plan, &s, &r->verdict);
		r->mbps = measured(&s, meas, n_meas);
		out->n++;
	}
	sort(m, out);
	promote_measured(m, out);
	explain(m, out);
	note_machine(m, out);
}

void ranking_free(struct ranking *r)
{
	for (size_t i = 0; i < r->n; i++) {
		verdict_free(&r->v[i].verdict);
		free(r->v[i].why);
	}
	free(r->v);
	reasons_free(&r->notes);
	*r = (struct ranking){ 0 };
}
