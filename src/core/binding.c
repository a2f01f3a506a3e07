/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Which driver serves an open dm-crypt mapping, and how sure that is.
 * Pure: lists of algorithms and mappings in, an answer with its evidence out; reads nothing.
 *
 * What the counts mean (seen on 6.1): a registered, idle entry shows 1; each transform adds 1 to
 * its driver, to the drivers inside of it, and to a fallback that its driver keeps; a template
 * instance that nobody uses adds nothing. One mapping has keycount transforms.
 */
#include "core/binding.h"

#include <stdio.h>
#include <string.h>

#include "core/accel.h"
#include "util/util.h"

#define ROWS_MAX 64 /* drivers of one API name; a kernel has a handful */

const char *binding_evidence_name(enum binding_evidence e)
{
	switch (e) {
	case BINDING_INFERRED:
		return "inferred";
	case BINDING_COUNTED:
		return "counted";
	case BINDING_RECORDED:
		return "recorded";
	case BINDING_UNKNOWN:
		break;
	}
	return "unknown";
}

const char *binding_evidence_sentence(enum binding_evidence e)
{
	switch (e) {
	case BINDING_INFERRED:
		return "It is the only driver that fits now, but nothing proves that the volume holds it.";
	case BINDING_COUNTED:
		return "The kernel's reference counts leave no other driver.";
	case BINDING_RECORDED:
		return "hwluks saw this driver bind when the volume was opened.";
	case BINDING_UNKNOWN:
		break;
	}
	return "Which driver the volume holds cannot be told.";
}

const char *binding_api_name(const struct cipher_spec *spec, char *buf, size_t size)
{
	if (strcmp(spec->iv, "essiv"))
		snprintf(buf, size, "%s", spec->api);
	else
		snprintf(buf, size, "essiv(%s,%s)", spec->api, spec->ivopts);
	return buf;
}

/* --- counting
 * --------------------------------------------------------------------------------------------------
 */

/* A driver under one API name; rows of equal name and driver (6.1 lists such) are taken together.
 */
struct row {
	const struct alg *alg;
	long users; /* transforms that somebody opened on purpose: not inside another driver, not as
	               its fallback */
};
struct rows {
	struct row v[ROWS_MAX];
	size_t n;
};

/* Transforms of this driver, whoever opened them. */
static long transforms(const struct alg_list *l, const char *driver)
{
	long sum = 0;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].driver, driver) && l->v[i].refcnt > 1)
			sum += l->v[i].refcnt - 1;
	return sum;
}

/* True when `driver` is one of the direct arguments of the template instance: "cbc-aes-geode" in
 * "essiv(cbc-aes-geode,sha256-generic)". */
static bool is_argument(const char *instance, const char *driver)
{
	const char *s = strchr(instance, '('), *start;
	size_t len = strlen(driver);
	int depth = 0;

	if (!s)
		return false;
	for (start = ++s; *s; s++) {
		bool end = depth == 0 && (*s == ',' || *s == ')');

		if (end && (size_t)(s - start) == len && !strncmp(start, driver, len))
			return true;
		if (end)
			start = s + 1;
		depth += *s == '(' ? 1 : *s == ')' ? -1 : 0;
		if (depth < 0)
			break;
	}
	return false;
}

/* Transforms of this driver that live inside those of listed instances. */
static long inner_transforms(const struct alg_list *l, const char *driver)
{
	long sum = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].refcnt > 1 && is_argument(l->v[i].driver, driver))
			sum += l->v[i].refcnt - 1;
	return sum;
}

/*
 * The driver opens a software twin of the same name with every transform, whatever the key size
 * (geode-aes does). Template instances inherit the flag but have no twin.
 */
static bool keeps_fallback(const struct alg *a)
{
	const struct accel_alg *row = NULL;
	const struct accel *accel;

	if (strchr(a->driver, '('))
		return false;
	if (a->flags_known)
		return a->flags & ALG_FLAG_NEED_FALLBACK;
	accel = accel_by_driver(a->driver, 0, &row);
	return accel && accel->other_keys == OTHER_KEYS_SOFTWARE && accel_is_engine(accel);
}

static bool fits(const struct alg *a, const char *api)
{
	if (a->internal || a->selftest == SELFTEST_UNKNOWN ||
	    (a->flags_known && (a->flags & ALG_FLAG_ALLOCATES_MEMORY)))
		return false;
	if (a->type == ALG_CIPHER || a->type == ALG_HASH || a->type == ALG_RNG)
		return false;
	return !strcmp(a->name, api) || !strcmp(a->driver, api);
}

static struct row *find_row(struct rows *r, const char *driver)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->v[i].alg->driver, driver))
			return &r->v[i];
	return NULL;
}

static void insert_row(struct rows *r, const struct alg *a)
{
	size_t at = r->n;

	while (at > 0 && r->v[at - 1].alg->priority < a->priority)
		at--;
	memmove(&r->v[at + 1], &r->v[at], (r->n - at) * sizeof(r->v[0]));
	r->v[at] = (struct row){ .alg = a };
	r->n++;
}

/* Drivers of the API name, best priority first. */
static void collect_rows(const struct alg_list *l, const char *api, struct rows *r)
{
	r->n = 0;
	for (size_t i = 0; i < l->n && r->n < ROWS_MAX; i++)
		if (fits(&l->v[i], api) && !find_row(r, l->v[i].driver))
			insert_row(r, &l->v[i]);
}

/* Takes the transforms that drivers with a fallback cause off the drivers below them. */
static void charge_fallbacks(const struct alg_list *l, struct rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		long owed = keeps_fallback(r->v[i].alg) ? transforms(l, r->v[i].alg->driver) : 0;

		for (size_t k = i + 1; k < r->n && owed > 0; k++) {
			struct row *below = &r->v[k];
			long n = below->users < owed ? below->users : owed;

			if (below->alg->priority >= r->v[i].alg->priority ||
			    keeps_fallback(below->alg) || n <= 0)
				continue;
			below->users -= n;
			owed -= n;
		}
	}
}

static void count_rows(const struct alg_list *l, const char *api, struct rows *r)
{
	collect_rows(l, api, r);
	for (size_t i = 0; i < r->n; i++) {
		const char *driver = r->v[i].alg->driver;
		long n = transforms(l, driver) - inner_transforms(l, driver);

		r->v[i].users = n > 0 ? n : 0;
	}
	charge_fallbacks(l, r);
}

/* --- deciding
 * ----------------------------------------------------------------------------------------------------
 */

static void set(struct binding *out, enum binding_evidence e, const char *driver)
{
	out->evidence = e;
	str_copy(out->driver, sizeof(out->driver), driver ? driver : "");
}

static long keys_of(const struct cipher_spec *spec)
{
	return spec->keycount ? (long)spec->keycount : 1;
}

void binding_from_rise(const struct alg_list *before, const struct alg_list *after,
                       const struct cipher_spec *spec, struct binding *out)
{
	const struct alg *risen = NULL;
	struct rows old, now;
	unsigned int n = 0;
	char api[256];

	memset(out, 0, sizeof(*out));
	binding_api_name(spec, api, sizeof(api));
	count_rows(before, api, &old);
	count_rows(after, api, &now);
	for (size_t i = 0; i < now.n; i++) {
		struct row *was = find_row(&old, now.v[i].alg->driver);

		if (now.v[i].users - (was ? was->users : 0) < keys_of(spec))
			continue;
		if (!n++)
			risen = now.v[i].alg;
	}
	set(out, n == 1 ? BINDING_RECORDED : BINDING_UNKNOWN, n == 1 ? risen->driver : NULL);
	if (n == 1)
		snprintf(out->why, sizeof(out->why),
		         "The count of %.100s rose when the mapping was made.", risen->driver);
	else
		snprintf(out->why, sizeof(out->why),
		         n ? "The counts of %u drivers of %.100s rose at the same time."
		           : "The counts of %u drivers of %.100s rose.",
		         n, api);
}

void binding_take_off(struct alg_list *l, const struct binding *was, const struct cipher_spec *spec)
{
	long left = keys_of(spec);

	if (was->evidence == BINDING_UNKNOWN || was->unlisted)
		return;
	for (size_t i = 0; i < l->n && left > 0; i++) {
		long n = l->v[i].refcnt - 1;

		if (strcmp(l->v[i].driver, was->driver) || n <= 0)
			continue;
		n = n < left ? n : left;
		l->v[i].refcnt -= (int)n;
		left -= n;
	}
}

static bool is_candidate(const struct binding_query *q, const char *driver)
{
	for (size_t i = 0; i < q->n_candidate; i++)
		if (!strcmp(q->candidate[i]->driver, driver))
			return true;
	return q->n_candidate == 0;
}

/* Transforms that the other open mappings of this API name account for. */
static long others_users(const struct binding_query *q, const char *api)
{
	char name[256];
	long n = 0;

	for (size_t i = 0; i < q->n_others; i++)
		if (!strcmp(binding_api_name(&q->others[i], name, sizeof(name)), api))
			n += keys_of(&q->others[i]);
	return n;
}

/* The record holds unless a listed driver has users that nothing but this mapping, bound anew,
 * explains. */
static void decide_recorded(const struct binding_query *q, struct rows *r, long total, long others,
                            struct binding *out)
{
	struct row *row = find_row(r, q->recorded);

	if (row && row->users > 0) {
		set(out, BINDING_RECORDED, q->recorded);
		snprintf(out->why, sizeof(out->why), "%.100s was seen to bind, and it is in use.",
		         q->recorded);
		return;
	}
	if (q->others_known && total > others) {
		set(out, BINDING_UNKNOWN, NULL);
		snprintf(
			out->why, sizeof(out->why),
			"%.100s was seen to bind, but now another driver has users that no other mapping explains.",
			q->recorded);
		return;
	}
	set(out, BINDING_RECORDED, q->recorded);
	out->unlisted = true;
	snprintf(
		out->why, sizeof(out->why),
		"%.100s was seen to bind; a driver registered later took its place in the list, not in this mapping.",
		q->recorded);
}

/* Exactly one listed driver has users. */
static void decide_counted(const struct binding_query *q, const struct row *row, long want,
                           struct binding *out)
{
	const char *driver = row->alg->driver;

	if (row->users < want) {
		set(out, BINDING_UNKNOWN, NULL);
		snprintf(
			out->why, sizeof(out->why),
			"%.100s is held %ld times where %ld are needed: some volume runs on a driver that is no longer listed.",
			driver, row->users, want);
		return;
	}
	set(out, q->others_known && row->users == want ? BINDING_COUNTED : BINDING_INFERRED,
	    driver);
	if (out->evidence == BINDING_COUNTED)
		snprintf(out->why, sizeof(out->why), "%.100s is the only driver in use that fits.",
		         driver);
	else
		snprintf(
			out->why, sizeof(out->why),
			"%.100s is the only driver in use that fits, but has users besides this volume.",
			driver);
}

void binding_decide(const struct binding_query *q, struct binding *out)
{
	struct row *used = NULL;
	long total = 0, others;
	unsigned int n = 0;
	struct rows r;
	char api[256];

	memset(out, 0, sizeof(*out));
	binding_api_name(q->spec, api, sizeof(api));
	count_rows(q->now, api, &r);
	others = others_users(q, api);
	for (size_t i = 0; i < r.n; i++) {
		if (r.v[i].users <= 0 || !is_candidate(q, r.v[i].alg->driver))
			continue;
		total += r.v[i].users;
		if (!n++)
			used = &r.v[i];
	}
	if (q->recorded && *q->recorded) {
		decide_recorded(q, &r, total, others, out);
	} else if (n == 1) {
		decide_counted(q, used, others + keys_of(q->spec), out);
	} else if (n) {
		snprintf(out->why, sizeof(out->why),
		         "%u drivers of %.100s are in use, so the counts cannot tell.", n, api);
	} else {
		out->unlisted = true;
		snprintf(
			out->why, sizeof(out->why),
			"No listed driver of %.100s is in use: the volume holds one that a later driver took out of the list.",
			api);
	}
}
