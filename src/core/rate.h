/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A rate measured several times: median and spread, and whether two of them differ.
 * Pure; must not know what was measured, or how.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* MB/s (10^6 bytes); all 0 when not measured. low and high are the least and the greatest run. */
struct rate {
	double median, low, high;
	unsigned int runs;
};

/* Sorts v in place. n = 0 gives "not measured". */
void rate_from(double *v, size_t n, struct rate *out);
/* True when both were measured and differ by more than their spreads: the ranges low..high do not overlap. */
bool rates_differ(const struct rate *a, const struct rate *b);
/* Spread as a share of the median: 0.1 = the runs lie within 10 % of it. 0 when not measured. */
double rate_spread(const struct rate *r);
