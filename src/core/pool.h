/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What the kernel's crypto API would choose for dm-crypt: its list of algorithms, plus what a load plan
 * would add to it. A model of crypto/api.c and the cbc, xts, essiv templates of 5.10 to 7.3. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/machine.h"
#include "core/policy.h"

struct pool_alg {
	const char *name, *driver;
	int priority;
	bool single;  /* type cipher: one block, not selectable for data */
	bool usable;  /* tested, not internal, and not masked out by dm-crypt */
	bool masked;  /* carries the memory flag */
	bool failed;  /* did not pass its self-test */
	bool planned; /* not registered yet: the plan adds it */
};
struct pool {
	const struct machine *m;
	struct pool_alg *v; /* the kernel's order: of two with equal priority the earlier one wins */
	size_t n;
};

/* plan may be NULL. Strings are borrowed from m, the table and the plan. */
void pool_build(struct pool *p, const struct machine *m, const struct load_plan *plan);
void pool_free(struct pool *p);

/* Best data cipher registered under this name ("cbc(aes)"), or NULL. */
const struct pool_alg *pool_best(const struct pool *p, const char *name);
/* Driver of the best single-block cipher of this name ("aes"); portable code when none is listed. */
const char *pool_single(const struct pool *p, const char *name);
const struct pool_alg *pool_driver(const struct pool *p, const char *driver);

/*
 * Driver that a request for `name` ends with, templates included: "cbc-aes-geode", "xts(ecb-aes-geode)",
 * "essiv(cbc-aes-geode,sha256-generic)". Returns buf; "" when the kernel has no such thing.
 */
const char *pool_resolve(const struct pool *p, const char *name, char *buf, size_t size);

/* The failed algorithm that stands in the way of this name, or of what its template is built on; NULL when none. */
const struct pool_alg *pool_failed(const struct pool *p, const char *name);

/* "xts(ecb(aes))" → template "xts", inner "ecb(aes)"; of a list only the first ("essiv(cbc(aes),sha256)" → "cbc(aes)"). */
bool template_split(const char *name, char *tmpl, size_t tsize, char *inner, size_t isize);
