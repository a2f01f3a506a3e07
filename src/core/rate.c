/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A rate measured several times: median and spread, and whether two of them differ.
 * Pure; must not know what was measured, or how.
 */
#include "core/rate.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void rate_from(double *v, size_t n, struct rate *out)
{
	*out = (struct rate){ 0 };
	if (!n)
		return;
	qsort(v, n, sizeof(*v), by_size);
	out->runs = (unsigned int)n;
	out->low = v[0];
	out->high = v[n - 1];
	out->median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

bool rates_differ(const struct rate *a, const struct rate *b)
{
	return a->runs && b->runs && (a->low > b->high || b->low > a->high);
}

double rate_spread(const struct rate *r)
{
	return r->runs && r->median > 0 ? (r->high - r->low) / r->median : 0;
}
