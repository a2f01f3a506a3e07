/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Which driver serves an open dm-crypt mapping, and how sure that is.
 * Pure: lists of algorithms and mappings in, an answer with its evidence out; reads nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/cipher_spec.h"
#include "core/proc_crypto.h"

enum binding_evidence {
	BINDING_UNKNOWN,  /* more than one driver fits, or none that is listed */
	BINDING_INFERRED, /* the best driver now; nothing contradicts, nothing proves it */
	BINDING_COUNTED,  /* reference counts leave exactly one possibility */
	BINDING_RECORDED, /* hwluks saw it bind when it opened the volume, and the mapping is still
	                     the same */
};
const char *binding_evidence_name(enum binding_evidence e); /* "recorded", … stable, for JSON */
const char *binding_evidence_sentence(enum binding_evidence e); /* one sentence for people */

struct binding {
	enum binding_evidence evidence;
	char driver[ALG_NAME_MAX]; /* "" when evidence is BINDING_UNKNOWN */
	/*
	 * The driver is no longer in the kernel's list: a better one was registered after the
	 * volume was opened, which unlinks the instance that an open mapping still uses. Such a
	 * volume runs on the old one (evidence recorded) or on one nobody can name any more
	 * (evidence unknown).
	 */
	bool unlisted;
	char why[256]; /* one sentence with the counts or the names that led here */
};

/*
 * Names of the kernel's algorithms that dm-crypt asks for this spec, as in /proc/crypto's "name":
 * "xts(aes)", "essiv(cbc(aes),sha256)". Returns buf.
 */
const char *binding_api_name(const struct cipher_spec *spec, char *buf, size_t size);

/*
 * The driver that one table load bound, from the list before and after it: the entry of the spec's
 * API name whose count rose by exactly the spec's key count, or that appeared with it. Fills out
 * (evidence RECORDED when one fits, UNKNOWN when more or none do).
 */
void binding_from_rise(const struct alg_list *before, const struct alg_list *after,
                       const struct cipher_spec *spec, struct binding *out);

/*
 * Takes the transforms of one mapping, served as `was` says, off the list's counts: what the list
 * would be without that mapping. Nothing when its driver is unknown or no longer listed.
 */
void binding_take_off(struct alg_list *l, const struct binding *was, const struct cipher_spec *spec);

struct binding_query {
	const struct alg_list *now;       /* the kernel's list */
	const struct cipher_spec *spec;   /* of the mapping asked about */
	const struct cipher_spec *others; /* of all other open crypt mappings */
	size_t n_others;
	bool others_known;    /* false: they could not be listed, so counts prove nothing */
	const char *recorded; /* driver from a record that still fits this mapping, or NULL */
	const struct alg *const *candidate; /* policy_candidates(): best first; or NULL, then the
	                                       list itself is searched */
	size_t n_candidate;
};
/* Decides for a mapping that is open now. Always fills out. */
void binding_decide(const struct binding_query *q, struct binding *out);
