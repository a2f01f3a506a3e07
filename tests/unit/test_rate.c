/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * rate: medians and spreads of runs, and when two rates differ. Links core and util only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rate.h"
#include "util/util.h"

static const struct row {
	const char *name;
	double v[5];
	size_t n;
	struct rate want;
	double spread;
} rows[] = {
	{ "none", { 0 }, 0, { 0 }, 0 },
	{ "one", { 4 }, 1, { 4, 4, 4, 1 }, 0 },
	{ "odd, not in order", { 9, 1, 5 }, 3, { 5, 1, 9, 3 }, 1.6 },
	{ "even", { 4, 2, 8, 6 }, 4, { 5, 2, 8, 4 }, 1.2 },
	{ "one run astray does not move the median", { 10, 10, 10, 10, 1 }, 5, { 10, 1, 10, 5 }, 0.9 },
};

static void test_from(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double v[5];
		struct rate r;

		for (size_t k = 0; k < 5; k++)
			v[k] = rows[i].v[k];
		rate_from(v, rows[i].n, &r);
		print_message("%s\n", rows[i].name);
		assert_float_equal(r.median, rows[i].want.median, 1e-9);
		assert_float_equal(r.low, rows[i].want.low, 1e-9);
		assert_float_equal(r.high, rows[i].want.high, 1e-9);
		assert_int_equal(r.runs, rows[i].want.runs);
		assert_float_equal(rate_spread(&r), rows[i].spread, 1e-9);
	}
}

static void test_differ(void **state)
{
	const struct rate slow = { 10, 9, 11, 3 }, fast = { 20, 18, 22, 3 }, noisy = { 20, 10.5, 40, 3 }, none = { 0 };

	(void)state;
	assert_true(rates_differ(&slow, &fast));
	assert_true(rates_differ(&fast, &slow));
	assert_false(rates_differ(&slow, &slow));
	assert_false(rates_differ(&slow, &noisy)); /* twice the median, and inside the spread */
	assert_false(rates_differ(&slow, &none));
	assert_false(rates_differ(&none, &none));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_from), cmocka_unit_test(test_differ) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
