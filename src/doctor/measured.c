/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * From measured rates to what a remedy would gain on a volume, and how long a rewrite takes.
 * Pure; must not know how rates are measured, or what the causes are.
 *
 * Requests go one at a time, so the time of one is the time of the disk plus that of the cipher. Of a read through the mapping
 * both are known together, and of the cipher alone over a target without a disk; what the remedy changes is the cipher's part.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor/internal.h"

/* Runs that lie further apart than this share of their median are called noisy. */
#define NOISY 0.2
/* Flags that change who encrypts when; the others change nothing that is measured. */
#define TIMING_FLAGS (CRYPT_FLAG_SAME_CPU_CRYPT | CRYPT_FLAG_SUBMIT_FROM_CRYPT_CPUS | CRYPT_FLAG_NO_READ_WORKQUEUE | \
		      CRYPT_FLAG_NO_WRITE_WORKQUEUE | CRYPT_FLAG_HIGH_PRIORITY)

/* --- what to measure ------------------------------------------------------------------------------------- */

static unsigned int sectors_of(const struct cipher_spec *s)
{
	return s->sector_size ? s->sector_size : 512;
}

bool setup_same(const struct setup *a, const struct setup *b)
{
	return !strcmp(a->spec.api, b->spec.api) && !strcmp(a->spec.iv, b->spec.iv) && !strcmp(a->spec.ivopts, b->spec.ivopts) &&
	       a->spec.key_bits == b->spec.key_bits && sectors_of(&a->spec) == sectors_of(&b->spec) && a->flags == b->flags &&
	       !strcmp(a->forced, b->forced);
}

void setup_set(struct setup *s, const struct cipher_spec *spec, unsigned int flags, const char *driver)
{
	*s = (struct setup){ .is = true, .spec = *spec, .flags = flags & TIMING_FLAGS };
	/* an essiv() driver makes the IV by itself, from the sector's number */
	if (driver)
		snprintf(s->forced, sizeof(s->forced), "capi:%s%s%s%s%s", driver, *spec->iv ? "-" : "",
			 str_starts(driver, "essiv(") ? "plain64" : spec->iv, *spec->ivopts && !str_starts(driver, "essiv(") ? ":" : "",
			 str_starts(driver, "essiv(") ? "" : spec->ivopts);
}

bool setup_now(const struct doctor_facts *f, const struct doctor_volume *v, struct setup *out)
{
	const char *driver = v->binding.driver;
	struct verdict now;

	*out = (struct setup){ 0 };
	if (!v->spec_known || !v->spec.key_bits || v->tag_size || (v->open && !*driver))
		return false;
	policy_decide(f->m, NULL, &v->spec, &now);
	setup_set(out, &v->spec, v->flags, v->open && strcmp(now.driver, driver) ? driver : NULL);
	verdict_free(&now);
	return true;
}

/*
 * The volume's driver with the kernel's portable AES in the engine's place: "xts(ecb(aes-generic))". An essiv() instance is found
 * under its own driver's name only, so its hash is that of the volume's. False when there is none.
 */
static bool portable(const struct doctor_facts *f, const struct doctor_volume *v, char *buf, size_t size)
{
	const char *mode = v->spec.mode, *hash = str_starts(v->verdict.driver, "essiv(") ? strrchr(v->verdict.driver, ',') : NULL;
	const char *aes = alg_by_driver(&f->m->algs, "aes-generic") ? "aes-generic" :
			  alg_by_driver(&f->m->algs, "aes-lib")	    ? "aes-lib" :
								      NULL;
	bool essiv = !strcmp(v->spec.iv, "essiv");

	if (!aes || !is_aes(&v->spec) || (essiv && !hash))
		return false;
	if (spec_is_xts(&v->spec))
		snprintf(buf, size, "xts(ecb(%s))", aes);
	else
		snprintf(buf, size, "%s%s(%s)%s", essiv ? "essiv(" : "", mode, aes, essiv ? hash : "");
	return true;
}

bool setup_rival(const struct doctor_facts *f, const struct doctor_volume *v, struct setup *out)
{
	const struct alg *c[8];
	size_t n;
	char driver[256];

	*out = (struct setup){ 0 };
	if (!v->spec_known || !on_hardware(v) || !v->verdict.accel || !accel_is_engine(v->verdict.accel))
		return false;
	n = policy_candidates(f->m, &v->spec, c, ARRAY_SIZE(c));
	for (size_t i = 0; i < n; i++) {
		const struct accel *a = accel_by_driver(c[i]->driver, policy_kernel(f->m), NULL);

		if (a && !accel_is_engine(a) && c[i]->priority > 0) {
			setup_set(out, &v->spec, v->flags, c[i]->driver);
			return true;
		}
	}
	if (!portable(f, v, driver, sizeof(driver)))
		return false;
	setup_set(out, &v->spec, v->flags, driver);
	return true;
}

const struct measured_setup *measured_find(const struct doctor_facts *f, const struct setup *s)
{
	for (size_t i = 0; s->is && i < f->n_measured; i++)
		if (setup_same(&f->measured[i].setup, s) && (f->measured[i].read.runs || f->measured[i].write.runs))
			return &f->measured[i];
	return NULL;
}

/* What was measured for the volume as it is; not when another driver answered than the one that serves it. */
const struct measured_setup *measured_now(const struct doctor_facts *f, const struct doctor_volume *v)
{
	struct setup s;
	const struct measured_setup *m = setup_now(f, v, &s) ? measured_find(f, &s) : NULL;

	return m && (!v->open || !*m->driver || !strcmp(m->driver, v->binding.driver)) ? m : NULL;
}

/* --- gains ------------------------------------------------------------------------------------------------ */

/* One direction of a volume, MB/s; `differ`: by more than the spread of the runs. */
struct direction {
	bool known, differ;
	double now, then;
};

/* Seconds a megabyte that the cipher does not take. */
static double rest_of(const struct doctor_volume *v)
{
	return v->raw.runs ? 1 / v->raw.median : 0;
}

/* Of the direction that gains most; 1 = no difference, less = slower. One at least is known. */
static double factor_of(const struct direction *r, const struct direction *w)
{
	double read = r->differ ? r->then / r->now : 1, write = w->differ ? w->then / w->now : 1;

	if (!r->known || !w->known)
		return r->known ? read : write;
	return read > write ? read : write;
}

/* What drowns in the noise of the volume itself is no difference either. */
static bool above_noise(const struct doctor_volume *v, const struct direction *d)
{
	double raw = rate_spread(&v->raw), mapped = rate_spread(&v->mapped), noise = 1 + (raw > mapped ? raw : mapped);

	return d->then / d->now > noise || d->now / d->then > noise;
}

static struct direction reading(const struct doctor_volume *v, const struct rate *now, const struct rate *then)
{
	struct direction d = { .known = then->runs && (now || (v->mapped.runs && v->raw.runs)) };
	double rest = rest_of(v);

	if (!d.known)
		return d;
	if (v->mapped.runs && now) {
		rest = 1 / v->mapped.median - 1 / now->median;
		rest = rest > 0 ? rest : 0;
	}
	d.now = v->mapped.runs ? v->mapped.median : 1 / (rest + 1 / now->median);
	d.then = 1 / (rest + 1 / then->median);
	d.differ = now ? rates_differ(now, then) : d.then > v->mapped.high || d.then < v->mapped.low;
	d.differ = d.differ && above_noise(v, &d);
	return d;
}

/* Nothing was written: the disk is taken to write as fast as it reads. */
static struct direction writing(const struct doctor_volume *v, const struct rate *now, const struct rate *then)
{
	struct direction d = { .known = then->runs && now && now->runs };
	double rest = rest_of(v);

	if (!d.known)
		return d;
	d.now = 1 / (rest + 1 / now->median);
	d.then = 1 / (rest + 1 / then->median);
	d.differ = rates_differ(now, then) && above_noise(v, &d);
	return d;
}

/* What the remedy changes, in a few words: only what differs. */
static const char *change_text(const struct doctor_volume *v, const struct setup *to, const char *driver, char *buf, size_t size)
{
	bool same = !strcmp(to->spec.api, v->spec.api) && !strcmp(to->spec.iv, v->spec.iv), key = to->spec.key_bits != v->spec.key_bits;
	bool sector = sectors_of(&to->spec) != sectors_of(&v->spec);

	if (same && key)
		snprintf(buf, size, "with a %u-bit key", to->spec.key_bits);
	else if (same && sector)
		snprintf(buf, size, "in sectors of %u bytes", to->spec.sector_size);
	else if (same && to->flags != (v->flags & TIMING_FLAGS))
		snprintf(buf, size, "with these flags");
	else if (same)
		snprintf(buf, size, "with %s", *driver ? driver : "the other driver");
	else {
		char text[SPEC_TEXT_MAX];

		snprintf(buf, size, "with %s", spec_describe(&to->spec, text, sizeof(text)));
	}
	return buf;
}

static void add_direction(struct strbuf *b, const char *what, const struct direction *d, const char *with)
{
	if (!d->known)
		return;
	strbuf_printf(b, "%s%s %.*f MB/s now, %.*f %s", b->len ? "; " : "", what, d->now < 100, d->now, d->then < 100, d->then, with);
	if (!d->differ)
		strbuf_printf(b, " (no difference)");
	else if (d->then < d->now)
		strbuf_printf(b, " (slower)");
	else
		strbuf_printf(b, " (%.1f times)", d->then / d->now);
}

static double largest_spread(const struct doctor_volume *v, const struct measured_setup *now, const struct measured_setup *then)
{
	const struct rate *all[] = { &v->raw, &v->mapped, &then->read, &then->write, now ? &now->read : NULL, now ? &now->write : NULL };
	double most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] && rate_spread(all[i]) > most)
			most = rate_spread(all[i]);
	return most;
}

static void tell_gain(struct finding *x, const struct measured_setup *now, const struct measured_setup *then,
		      const struct direction *r, const struct direction *w)
{
	double spread = largest_spread(x->volume, now, then);
	char with[SPEC_TEXT_MAX + 16];
	struct strbuf b = { 0 };

	change_text(x->volume, &x->then, then->driver, with, sizeof(with));
	add_direction(&b, "reading", r, with);
	add_direction(&b, "writing, where the disk writes as fast as it reads,", w, with);
	finding_gain_measured(x, factor_of(r, w), "Measured here: %s.%s", b.s ? b.s : "", spread > NOISY ? " The runs lie far apart: take it with care." : "");
	strbuf_free(&b);
}

/*
 * Measured advice that pays becomes a warning, one that does not pay is less than it was, and nobody is told to rewrite a volume for
 * nothing.
 */
static void weigh(struct finding *x)
{
	if (x->factor >= MEASURED_GAIN && x->severity == SEVERITY_NOTE && (x->remedy || x->no_remedy))
		x->severity = SEVERITY_WARNING;
	else if (x->factor <= 1 && x->severity == SEVERITY_WARNING)
		x->severity = SEVERITY_NOTE;
	else if (x->factor <= 1 && x->severity == SEVERITY_NOTE)
		x->severity = SEVERITY_INFO;
	if (x->factor > 1 || x->cost != COST_REWRITE || !x->remedy)
		return;
	free(x->remedy);
	free(x->hazards);
	x->remedy = x->hazards = NULL;
	finding_no_remedy(x, "Rewriting it is not offered: measured here it gains nothing.");
}

/* Everything is read as it is encrypted now, and written as it will be. */
static void tell_duration(struct finding *x, const struct direction *r, const struct direction *w)
{
	const struct doctor_volume *v = x->volume;
	double read = r->known ? r->now : v->mapped.runs ? v->mapped.median : 0, write = w->known ? w->then : read;

	if (v->size && read > 0 && write > 0)
		x->rewrite_s = (double)v->size / 1e6 * (1 / read + 1 / write);
}

void measured_apply(const struct doctor_facts *f, struct finding *x)
{
	const struct measured_setup *then = measured_find(f, &x->then), *now = x->volume ? measured_now(f, x->volume) : NULL;
	struct direction r = { 0 }, w = { 0 };

	if (!x->volume || !x->then.is)
		return;
	if (then) {
		r = reading(x->volume, now && now->read.runs ? &now->read : NULL, &then->read);
		w = writing(x->volume, now ? &now->write : NULL, &then->write);
	}
	if (x->cost == COST_REWRITE)
		tell_duration(x, &r, &w);
	if (!r.known && !w.known)
		return;
	tell_gain(x, now, then, &r, &w);
	weigh(x);
}

/* --- checks that rest on a measurement (32, 40) ---------------------------------------------------------------- */

/* Reads through the mapping within a fifth of the device's: the catalogue's line between disk and cipher. */
#define DISK_SHARE 0.8

CHECK(disk_limits)
{
	const struct measured_setup *now = measured_now(f, v);
	struct finding *x;

	if (!v->raw.runs || !v->mapped.runs || v->mapped.median < DISK_SHARE * v->raw.median)
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "The disk, not the cipher, is the limit of %s.", v->name);
	finding_evidence(x, "Reading the device below: %.1f MB/s (%.1f to %.1f).", v->raw.median, v->raw.low, v->raw.high);
	finding_evidence(x, "Reading through the mapping: %.1f MB/s (%.1f to %.1f), %.0f %% of it.", v->mapped.median, v->mapped.low,
			 v->mapped.high, 100 * v->mapped.median / v->raw.median);
	if (now && now->read.runs)
		finding_gain_measured(x, now->read.median / v->mapped.median,
				      "Measured here: without a disk the cipher alone decrypts %.1f MB/s, %.1f times what the disk gives.",
				      now->read.median, now->read.median / v->mapped.median);
	finding_no_remedy(x, "No other cipher or driver makes reading faster. Look below: the disk itself, its cable and port, USB, a RAID that "
			     "is rebuilt, a network, other load.");
}

/* cryptsetup aims at 2 s on the machine that makes the slot; a quarter more is within what its measuring is off by. */
#define UNLOCK_AIM_S	 2.0
#define UNLOCK_NOTE_S	 (1.25 * UNLOCK_AIM_S)
#define UNLOCK_WARNING_S (2.5 * UNLOCK_AIM_S)

static const struct doctor_keyslot *slowest_slot(const struct doctor_header *h)
{
	const struct doctor_keyslot *worst = NULL;

	for (size_t i = 0; i < h->n_slots; i++)
		if (h->slot[i].unlock_s > 0 && (!worst || h->slot[i].unlock_s > worst->unlock_s))
			worst = &h->slot[i];
	return worst;
}

static void evidence_slot(struct finding *x, const struct doctor_keyslot *s)
{
	if (s->memory_kib)
		finding_evidence(x, "Slot %d: %.1f s for %s, %u passes over %u KiB.", s->slot, s->unlock_s, s->pbkdf, s->iterations, s->memory_kib);
	else
		finding_evidence(x, "Slot %d: %.1f s for %s, %u iterations.", s->slot, s->unlock_s, s->pbkdf, s->iterations);
}

CHECK(pbkdf_slow)
{
	const struct doctor_keyslot *s = slowest_slot(&v->header);
	bool luks2 = v->header.type == HEADER_LUKS2;
	struct finding *x;

	(void)f;
	if (!s || s->unlock_s <= UNLOCK_NOTE_S)
		return;
	x = finding_add(out, v, s->unlock_s > UNLOCK_WARNING_S ? SEVERITY_WARNING : SEVERITY_NOTE,
			"Key slot %d of %s takes %.1f s to unlock on this machine.", s->slot, v->name, s->unlock_s);
	for (size_t i = 0; i < v->header.n_slots; i++)
		if (v->header.slot[i].unlock_s > 0)
			evidence_slot(x, &v->header.slot[i]);
	finding_evidence(x, "Estimated from the speed of each PBKDF, which was measured here.");
	finding_evidence(x, "Slots are made for 2 s on the machine that makes them; this one may come from a faster one.");
	finding_remedy(x, COST_NOTHING, "cryptsetup %s --key-slot %d --iter-time 2000 %s", luks2 ? "luksConvertKey" : "luksChangeKey", s->slot,
		       *v->device ? v->device : "DEVICE");
	finding_hazard(x, "It asks for the passphrase. A lighter slot is quicker to guess as well: keep it when the passphrase is weak. Back up "
			  "the header first.");
	finding_gain_measured(x, s->unlock_s / UNLOCK_AIM_S, "Measured here: %.1f s now, 2 s then; the speed of the disk does not change.",
			      s->unlock_s);
}

CHECK(not_measured)
{
	struct finding *x = NULL;
	struct setup s;

	if (*v->measure_why) {
		x = finding_add(out, v, SEVERITY_UNKNOWN, "%s could not be measured in full.", v->name);
		finding_evidence(x, "%s", v->measure_why);
	}
	if (!setup_now(f, v, &s))
		return;
	for (size_t i = 0; i < f->n_measured; i++)
		if (setup_same(&f->measured[i].setup, &s) && *f->measured[i].why) {
			x = x ? x : finding_add(out, v, SEVERITY_UNKNOWN, "The cipher of %s could not be measured.", v->name);
			finding_evidence(x, "%s", f->measured[i].why);
		}
}
