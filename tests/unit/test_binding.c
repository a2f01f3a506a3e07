/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* Who serves a mapping: lists as the kernel printed them (6.1 guests), and the ways in which counts
 * mislead. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/binding.h"
#include "util/util.h"

/* "name|driver|priority|refcnt" rows, separated by newlines; "!" in front: self-test not passed. */
static struct alg_list list_of(const char *rows)
{
	struct alg_list l = { 0 };
	struct strbuf b = { 0 };
	char *copy = strdup(rows), *save = NULL;

	for (char *row = strtok_r(copy, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		bool failed = *row == '!';
		char name[128], driver[128];
		int priority, refcnt;

		assert_int_equal(sscanf(row + failed, "%127[^|]|%127[^|]|%d|%d", name, driver,
		                        &priority, &refcnt),
		                 4);
		strbuf_printf(
			&b,
			"name : %s\ndriver : %s\nmodule : kernel\npriority : %d\nrefcnt : %d\nselftest : %s\n"
			"internal : %s\ntype : %s\n\n",
			name, driver, priority, refcnt, failed ? "unknown" : "passed",
			str_starts(name, "__") ? "yes" : "no",
			strchr(name, '(') ? "skcipher" : "cipher");
	}
	if (b.s)
		proc_crypto_parse(b.s, b.len, &l);
	strbuf_free(&b);
	free(copy);
	return l;
}

static struct cipher_spec spec_of(const char *text)
{
	struct cipher_spec spec;
	struct spec_error err;

	assert_int_equal(spec_parse(text, &spec, &err), 0);
	return spec;
}

#define GEODE(cbc, sw)                                                          \
	"cbc(aes)|cbc-aes-geode|400|" cbc "\ncbc(aes)|cbc(aes-generic)|100|" sw \
	"\necb(aes)|ecb-aes-geode|400|1\n"                                      \
	"aes|geode-aes|300|1\naes|aes-generic|100|2\n"
#define AESNI(n)                                                                      \
	"__xts(aes)|cryptd(__xts-aes-aesni)|451|" n "\nxts(aes)|xts-aes-aesni|401|" n \
	"\n__xts(aes)|__xts-aes-aesni|401|" n "\n"                                    \
	"xts(aes)|xts(ecb-aes-aesni)|400|1\necb(aes)|ecb-aes-aesni|400|1\naes|aes-aesni|300|1\naes|aes-generic|100|1\n"
#define SOFT_XTS(n)                                                                  \
	"xts(aes)|xts(ecb(aes-generic))|100|" n "\necb(aes)|ecb(aes-generic)|100|" n \
	"\naes|aes-generic|100|3\n"
#define ESSIV(n) "essiv(cbc(aes),sha256)|essiv(cbc-aes-geode,sha256-generic)|400|" n "\n"

struct row {
	const char *what, *list, *spec, *others[3], *recorded;
	enum binding_evidence evidence;
	const char *driver;
	bool unlisted, others_unknown;
};
#define XTS "aes-xts-plain64"
#define CBC "aes-cbc-plain64"
#define ES  "aes-cbc-essiv:sha256"

static const struct row rows[] = {
	{ "one mapping, software",
	  SOFT_XTS("2"),
	  XTS,
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "xts(ecb(aes-generic))" },
	{ "one mapping, AES-NI: three rows rise together",
	  AESNI("2"),
	  XTS,
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "xts-aes-aesni" },
	{ "two mappings share AES-NI",
	  AESNI("3"),
	  XTS,
	  { XTS },
	  NULL,
	  BINDING_COUNTED,
	  "xts-aes-aesni" },
	{ "a benchmark holds one more",
	  AESNI("3"),
	  XTS,
	  {},
	  NULL,
	  BINDING_INFERRED,
	  "xts-aes-aesni" },
	{ "the others could not be listed",
	  AESNI("2"),
	  XTS,
	  {},
	  NULL,
	  BINDING_INFERRED,
	  "xts-aes-aesni",
	  false,
	  true },
	{ "late driver: none listed is in use",
	  AESNI("1"),
	  XTS,
	  {},
	  NULL,
	  BINDING_UNKNOWN,
	  "",
	  true },
	{ "late driver, one opened since", AESNI("2"), XTS, { XTS }, NULL, BINDING_UNKNOWN, "" },
	{ "late driver, recorded",
	  AESNI("1"),
	  XTS,
	  {},
	  "xts(ecb(aes-generic))",
	  BINDING_RECORDED,
	  "xts(ecb(aes-generic))",
	  true },
	{ "late driver, recorded, one opened since",
	  AESNI("2"),
	  XTS,
	  { XTS },
	  "xts(ecb(aes-generic))",
	  BINDING_RECORDED,
	  "xts(ecb(aes-generic))",
	  true },
	{ "the one opened since",
	  AESNI("2"),
	  XTS,
	  { XTS },
	  "xts-aes-aesni",
	  BINDING_RECORDED,
	  "xts-aes-aesni" },
	{ "recorded, then its table was loaded anew",
	  AESNI("2"),
	  XTS,
	  {},
	  "xts(ecb(aes-generic))",
	  BINDING_UNKNOWN,
	  "" },
	{ "recorded and in use",
	  AESNI("2"),
	  XTS,
	  {},
	  "xts-aes-aesni",
	  BINDING_RECORDED,
	  "xts-aes-aesni" },
	{ "both listed, both in use",
	  AESNI("2") SOFT_XTS("2"),
	  XTS,
	  { XTS },
	  NULL,
	  BINDING_UNKNOWN,
	  "" },
	{ "Geode: engine and fallback show 2",
	  GEODE("2", "2"),
	  CBC,
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "cbc-aes-geode" },
	{ "Geode: two mappings",
	  GEODE("3", "3"),
	  CBC,
	  { CBC },
	  NULL,
	  BINDING_COUNTED,
	  "cbc-aes-geode" },
	{ "Geode: fallback has a user of its own",
	  GEODE("2", "3"),
	  CBC,
	  { CBC },
	  NULL,
	  BINDING_UNKNOWN,
	  "" },
	{ "Geode: only the software is in use",
	  GEODE("1", "2"),
	  CBC,
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "cbc(aes-generic)" },
	{ "Geode: essiv",
	  ESSIV("2") GEODE("2", "2"),
	  ES,
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "essiv(cbc-aes-geode,sha256-generic)" },
	{ "Geode: essiv, listed three times",
	  ESSIV("1") ESSIV("2") ESSIV("1") GEODE("2", "2"),
	  ES,
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "essiv(cbc-aes-geode,sha256-generic)" },
	{ "different specs: plain beside essiv",
	  ESSIV("2") GEODE("3", "3"),
	  CBC,
	  { ES },
	  NULL,
	  BINDING_COUNTED,
	  "cbc-aes-geode" },
	{ "different specs: essiv beside plain",
	  ESSIV("2") GEODE("3", "3"),
	  ES,
	  { CBC },
	  NULL,
	  BINDING_COUNTED,
	  "essiv(cbc-aes-geode,sha256-generic)" },
	{ "plain opened before the driver, essiv after",
	  ESSIV("2") GEODE("2", "2"),
	  CBC,
	  { ES },
	  NULL,
	  BINDING_UNKNOWN,
	  "",
	  true },
	{ "different ciphers do not mix",
	  AESNI("2") GEODE("2", "2"),
	  XTS,
	  { CBC },
	  NULL,
	  BINDING_COUNTED,
	  "xts-aes-aesni" },
	{ "two keys: two transforms",
	  GEODE("3", "3"),
	  "aes:2-cbc-plain64",
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "cbc-aes-geode" },
	{ "two keys: one transform is not enough",
	  GEODE("2", "2"),
	  "aes:2-cbc-plain64",
	  {},
	  NULL,
	  BINDING_UNKNOWN,
	  "" },
	{ "failed self-test is no candidate",
	  "!cbc(aes)|cbc-aes-geode|400|2\ncbc(aes)|cbc(aes-generic)|100|2",
	  CBC,
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "cbc(aes-generic)" },
	{ "forced by name",
	  "xts(aes)|xts(ecb-aes-geode)|400|2\nxts(aes)|xts-aes-lib|110|1",
	  "capi:xts(ecb-aes-geode)-plain64",
	  {},
	  NULL,
	  BINDING_COUNTED,
	  "xts(ecb-aes-geode)" },
	{ "an instance has no fallback",
	  "xts(aes)|xts(ecb-aes-geode)|400|2\nxts(aes)|xts(ecb(aes-generic))|100|2",
	  XTS,
	  { XTS },
	  NULL,
	  BINDING_UNKNOWN,
	  "" },
	{ "nothing listed at all", "", XTS, {}, NULL, BINDING_UNKNOWN, "", true },
	{ "nothing listed, recorded",
	  "",
	  XTS,
	  {},
	  "xts-aes-aesni",
	  BINDING_RECORDED,
	  "xts-aes-aesni",
	  true },
};

static void test_decide(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cipher_spec spec = spec_of(rows[i].spec), others[3];
		struct alg_list l = list_of(rows[i].list);
		struct binding_query q = { .now = &l,
			                   .spec = &spec,
			                   .others = others,
			                   .recorded = rows[i].recorded,
			                   .others_known = !rows[i].others_unknown };
		struct binding b;

		print_message("# %s\n", rows[i].what);
		while (q.n_others < 3 && rows[i].others[q.n_others]) {
			others[q.n_others] = spec_of(rows[i].others[q.n_others]);
			q.n_others++;
		}
		binding_decide(&q, &b);
		print_message("#   %s\n", b.why);
		assert_string_equal(b.driver, rows[i].driver);
		assert_string_equal(binding_evidence_name(b.evidence),
		                    binding_evidence_name(rows[i].evidence));
		assert_int_equal(b.unlisted, rows[i].unlisted);
		assert_true(b.why[0] && b.why[strlen(b.why) - 1] == '.');
		alg_list_free(&l);
	}
}

static void test_candidates(void **state)
{
	struct cipher_spec spec = spec_of(CBC);
	struct alg_list l = list_of("cbc(aes)|cbc-aes-x|400|2\ncbc(aes)|cbc-aes-y|300|2");
	const struct alg *only[] = { &l.v[1] };
	struct binding_query q = {
		.now = &l, .spec = &spec, .others_known = true, .candidate = only, .n_candidate = 1
	};
	struct binding b;

	(void)state;
	binding_decide(&q, &b);
	assert_int_equal(b.evidence, BINDING_COUNTED);
	assert_string_equal(b.driver, "cbc-aes-y");
	alg_list_free(&l);
}

static const struct {
	const char *what, *before, *after, *spec, *driver;
} rises[] = {
	{ "idle before", AESNI("1"), AESNI("2"), XTS, "xts-aes-aesni" },
	{ "second mapping", AESNI("2"), AESNI("3"), XTS, "xts-aes-aesni" },
	{ "instance appears", "aes|aes-generic|100|1", SOFT_XTS("2"), XTS,
	  "xts(ecb(aes-generic))" },
	{ "nothing listed before", "", SOFT_XTS("2"), XTS, "xts(ecb(aes-generic))" },
	{ "Geode, fallback rises too", GEODE("1", "1"), GEODE("2", "2"), CBC, "cbc-aes-geode" },
	{ "Geode, software taken", GEODE("1", "1"), GEODE("1", "2"), CBC, "cbc(aes-generic)" },
	{ "Geode essiv", GEODE("1", "1"), ESSIV("2") GEODE("2", "2"), ES,
	  "essiv(cbc-aes-geode,sha256-generic)" },
	{ "two rise", "cbc(aes)|a|9|1\ncbc(aes)|b|8|1", "cbc(aes)|a|9|2\ncbc(aes)|b|8|2", CBC, "" },
	{ "none rises", AESNI("2"), AESNI("2"), XTS, "" },
	{ "one of two keys", GEODE("1", "1"), GEODE("2", "2"), "aes:2-cbc-plain64", "" },
	{ "two keys", GEODE("1", "1"), GEODE("3", "3"), "aes:2-cbc-plain64", "cbc-aes-geode" },
};

static void test_rise(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rises); i++) {
		struct alg_list before = list_of(rises[i].before), after = list_of(rises[i].after);
		struct cipher_spec spec = spec_of(rises[i].spec);
		struct binding b;

		print_message("# %s\n", rises[i].what);
		binding_from_rise(&before, &after, &spec, &b);
		assert_string_equal(b.driver, rises[i].driver);
		assert_int_equal(b.evidence, *rises[i].driver ? BINDING_RECORDED : BINDING_UNKNOWN);
		alg_list_free(&before);
		alg_list_free(&after);
	}
}

/* A mapping that gets a new table: what it held goes with the old one. */
static void test_again(void **state)
{
	static const struct {
		const char *what, *before, *was;
		enum binding_evidence evidence;
		bool unlisted;
		const char *after, *want;
	} cases[] = {
		{ "bound to the same driver again", GEODE("2", "2"), "cbc-aes-geode", BINDING_RECORDED, false,
		  GEODE("2", "2"), "cbc-aes-geode" },
		{ "from software to the engine", GEODE("1", "2"), "cbc(aes-generic)", BINDING_COUNTED, false,
		  GEODE("2", "2"), "cbc-aes-geode" },
		/* the engine's fallback held the software before: no count rises, the counts as such tell */
		{ "from the engine to software", GEODE("2", "2"), "cbc-aes-geode", BINDING_RECORDED, false,
		  GEODE("1", "2"), "" },
		{ "from an unlisted one", GEODE("1", "1"), "", BINDING_UNKNOWN, true, GEODE("2", "2"),
		  "cbc-aes-geode" },
		{ "another mapping holds the engine", GEODE("3", "3"), "cbc-aes-geode", BINDING_INFERRED, false,
		  GEODE("3", "3"), "cbc-aes-geode" },
		{ "unknown, and no count rose", GEODE("2", "3"), "", BINDING_UNKNOWN, false, GEODE("2", "3"), "" },
	};
	struct cipher_spec spec = spec_of("aes-cbc-plain64");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct alg_list before = list_of(cases[i].before), after = list_of(cases[i].after);
		struct binding was = { .evidence = cases[i].evidence, .unlisted = cases[i].unlisted }, b;

		str_copy(was.driver, sizeof(was.driver), cases[i].was);
		binding_take_off(&before, &was, &spec);
		binding_from_rise(&before, &after, &spec, &b);
		if (strcmp(b.driver, cases[i].want))
			fail_msg("%s: got '%s' (%s), wanted '%s'", cases[i].what, b.driver, b.why, cases[i].want);
		alg_list_free(&before);
		alg_list_free(&after);
	}
}

static void test_texts(void **state)
{
	struct cipher_spec spec = spec_of(ES);
	char buf[256];

	(void)state;
	assert_string_equal(binding_api_name(&spec, buf, sizeof(buf)), "essiv(cbc(aes),sha256)");
	spec = spec_of("xchacha12,aes-adiantum-plain64");
	assert_string_equal(binding_api_name(&spec, buf, sizeof(buf)), "adiantum(xchacha12,aes)");
	assert_string_equal(binding_evidence_name(BINDING_UNKNOWN), "unknown");
	for (int e = BINDING_UNKNOWN; e <= BINDING_RECORDED; e++)
		assert_true(strlen(binding_evidence_sentence((enum binding_evidence)e)) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decide),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_rise),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
