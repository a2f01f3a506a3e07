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

/* Groups from best to worst: hardware does the data · not known · CPU code · cannot be opened. */
static int group(const struct ranked *r)
{
	switch (r->verdict.verdict) {
	case VERDICT_ACCELERATED:
	case VERDICT_PARTLY:
		return 0;
	case VERDICT_UNKNOWN:
		return 1;
	case VERDICT_SOFTWARE:
		return 2;
	default:
		return 3;
	}
}

/* Inside a group: xts, then Adiantum, then cbc-essiv; among software Adiantum first. Longer keys first. */
static int taste(const struct ranked *r)
{
	bool software = group(r) == 2;

	if (spec_is_xts(&r->verdict.spec))
		return software ? 1 : 0;
	if (!strcmp(r->verdict.spec.mode, "adiantum"))
		return software ? 0 : 1;
	return 2;
}

static int compare(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (group(a) != group(b))
		return group(a) - group(b);
	if (taste(a) != taste(b))
		return taste(a) - taste(b);
	return (int)b->verdict.spec.key_bits - (int)a->verdict.spec.key_bits;
}

static void move_to_front(struct ranking *r, size_t i)
{
	struct ranked x = r->v[i];

	memmove(&r->v[1], &r->v[0], i * sizeof(x));
	r->v[0] = x;
}

/* The fastest measured rival of the first, when it is of the first's group and clearly faster. */
static void promote_measured(struct ranking *r)
{
	size_t fastest = 0;

	if (!r->n || r->v[0].mbps <= 0)
		return;
	for (size_t i = 1; i < r->n; i++)
		if (r->v[i].mbps > r->v[fastest].mbps && group(&r->v[i]) <= 2)
			fastest = i;
	if (fastest && r->v[fastest].mbps >= FASTER * r->v[0].mbps)
		move_to_front(r, fastest);
}

static char *why_first(const struct ranking *r)
{
	const struct ranked *first = &r->v[0], *xts = NULL;

	for (size_t i = 1; i < r->n && !xts; i++)
		if (spec_is_xts(&r->v[i].verdict.spec) && group(&r->v[i]) == group(first))
			xts = &r->v[i];
	if (first->mbps > 0 && xts && xts->mbps > 0 && !spec_is_xts(&first->verdict.spec))
		return xasprintf("Measured here %.1f times as fast as aes-xts-plain64 with a %u-bit key.",
				 first->mbps / xts->mbps, xts->verdict.spec.key_bits);
	if (group(first) == 0 && spec_is_xts(&first->verdict.spec))
		return xstrdup("XTS is preferred unless another spec of its class is measured 1.25 times as fast.");
	if (!strcmp(first->verdict.spec.mode, "adiantum"))
		return xstrdup("The fast choice on a CPU without AES instructions.");
	return xstrdup("The best of its class that this machine serves.");
}

static char *why_behind(const struct ranked *r, const struct ranked *first)
{
	if (group(r) == 3)
		return xstrdup("This machine cannot open it.");
	if (r->mbps > 0 && first->mbps > 0)
		return xasprintf("Measured here at %.2f of the first one's rate.", r->mbps / first->mbps);
	if (group(r) > group(first))
		return xstrdup(group(r) == 1 ? "What would serve it is not known." : "It would run in software.");
	if (taste(r) == taste(first))
		return xstrdup("A shorter key.");
	return xstrdup("XTS comes before it in its class.");
}

static void explain(struct ranking *r)
{
	for (size_t i = 0; i < r->n; i++)
		r->v[i].why = i ? why_behind(&r->v[i], &r->v[0]) : why_first(r);
}

static void note_machine(const struct machine *m, struct ranking *r)
{
	bool x86 = m->arch == ARCH_X86_32 || m->arch == ARCH_X86_64;

	if (!r->n || group(&r->v[0]) < 2)
		return;
	if (x86 && m->cpu.hypervisor && !policy_cpu_has_aes(m))
		reasons_add(&r->notes, REASON_VM_HIDES_AES,
			    "This virtual machine's CPU type (%s) shows no AES instructions. If the host has them, give the guest a "
			    "CPU type that passes them on (QEMU: -cpu host; Proxmox: type host; libvirt: mode='host-passthrough') and "
			    "ask again before formatting.", m->cpu.model ? m->cpu.model : "not named");
	if (!policy_cpu_has_aes(m))
		reasons_add(&r->notes, REASON_NO_AES, "The CPU has no AES instructions and no engine here can serve dm-crypt.");
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
	qsort(out->v, out->n, sizeof(*out->v), compare);
	promote_measured(out);
	explain(out);
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
