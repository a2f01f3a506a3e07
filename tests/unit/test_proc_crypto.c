/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * /proc/crypto: recorded texts, every record kind, broken records, speed.
 * Reads tests/data from the top of the tree; knows nothing of accelerators.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/proc_crypto.h"
#include "util/util.h"

static int failures;

#define ROW_CHECK(row, cond, ...)                                    \
	do {                                                         \
		if (!(cond)) {                                       \
			failures++;                                  \
			print_error("row \"%s\": %s; ", row, #cond); \
			print_error(__VA_ARGS__);                    \
			print_error("\n");                           \
		}                                                    \
	} while (0)

static char *slurp(const char *name, size_t *len)
{
	char path[256], *text;
	FILE *f;

	snprintf(path, sizeof(path), "tests/data/proc-crypto/%s", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s: can't be opened; run from the top of the tree", path);
	text = xcalloc(1, 65536);
	*len = fread(text, 1, 65535, f);
	fclose(f);
	return text;
}

/* --- recorded texts ------------------------------------------------------------------------- */

static const struct {
	const char *file;
	size_t records;
	const char *driver, *name, *module; /* one of them */
	int priority, refcnt;
	enum alg_selftest selftest;
	enum alg_type type;
	bool internal, async;
	unsigned int min, max, iv;
} recorded[] = {
	{ "geode-lx800-5.5", 2, "cbc-aes-geode", "cbc(aes)", "kernel", 400, 1, SELFTEST_PASSED,
	  ALG_OTHER, false, false, 0, 0, 0 },
	{ "geode-lx800-5.5", 2, "cbc(geode-aes)", "cbc(aes)", "kernel", 300, 1, SELFTEST_PASSED,
	  ALG_SKCIPHER, false, false, 16, 32, 16 },
	{ "geode-lx800-broken-4.20-rc5", 1, "cbc-aes-geode", "cbc(aes)", "kernel", 400, 1,
	  SELFTEST_UNKNOWN, ALG_OTHER, false, false, 0, 0, 0 },
	{ "padlock-2.6.20", 5, "ecb-aes-padlock", "ecb(aes)", "padlock_aes", 400, 1,
	  SELFTEST_UNSTATED, ALG_SKCIPHER, false, false, 16, 32, 0 },
	{ "imx6ul-caam", 2, "cbc-aes-caam", "cbc(aes)", "kernel", 3000, 3, SELFTEST_PASSED,
	  ALG_SKCIPHER, false, true, 16, 32, 16 },
	{ "imx6ul-caam-authenc", 1, "echainiv-authenc-hmac-sha256-cbc-aes-caam",
	  "echainiv(authenc(hmac(sha256),cbc(aes)))", "kernel", 3000, 1, SELFTEST_PASSED, ALG_AEAD,
	  false, true, 0, 0, 16 },
	{ "imx6ul-without-caam", 2, "xts(ecb(aes-generic))", "xts(aes)", "", 100, 0,
	  SELFTEST_UNSTATED, ALG_OTHER, false, false, 0, 0, 0 },
	{ "turris-omnia-cesa", 7, "mv-hmac-sha256", "hmac(sha256)", "marvell_cesa", 0, 1,
	  SELFTEST_PASSED, ALG_HASH, false, true, 0, 0, 0 },
	{ "aesni-xts-2020", 4, "__xts-aes-aesni", "__xts(aes)", "aesni_intel", 401, 7,
	  SELFTEST_PASSED, ALG_SKCIPHER, true, false, 32, 64, 0 },
	{ "vm-aesni-6.1-xts-open", 47, "xts-aes-aesni", "xts(aes)", "aesni_intel", 401, 2,
	  SELFTEST_PASSED, ALG_SKCIPHER, false, true, 32, 64, 16 },
	{ "vm-no-aes-6.1-xts-open", 24, "aes-generic", "aes", "aes_generic", 100, 3,
	  SELFTEST_PASSED, ALG_CIPHER, false, false, 16, 32, 0 },
};

static void test_recorded(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(recorded); i++) {
		const char *row = recorded[i].file;
		struct alg_list l;
		const struct alg *a;
		size_t len;
		char *text = slurp(row, &len);

		ROW_CHECK(row, proc_crypto_parse(text, len, &l) == 0, "records dropped");
		ROW_CHECK(row, l.n == recorded[i].records, "%zu records", l.n);
		a = alg_by_driver(&l, recorded[i].driver);
		ROW_CHECK(row, a, "no %s", recorded[i].driver);
		if (a) {
			ROW_CHECK(row, !strcmp(a->name, recorded[i].name), "%s", a->name);
			/* Debian's own kernels name the module, others build it in. */
			ROW_CHECK(row,
			          !strcmp(a->module, recorded[i].module) ||
			                  !strcmp(a->module, "kernel"),
			          "%s", a->module);
			ROW_CHECK(row, a->priority == recorded[i].priority, "%d", a->priority);
			ROW_CHECK(row, a->refcnt == recorded[i].refcnt, "%d", a->refcnt);
			ROW_CHECK(row, a->selftest == recorded[i].selftest, "%d", a->selftest);
			ROW_CHECK(row, a->type == recorded[i].type, "%d", a->type);
			ROW_CHECK(row, a->internal == recorded[i].internal, "%d", a->internal);
			ROW_CHECK(row, a->async == recorded[i].async, "%d", a->async);
			ROW_CHECK(row, a->min_keysize == recorded[i].min, "%u", a->min_keysize);
			ROW_CHECK(row, a->max_keysize == recorded[i].max, "%u", a->max_keysize);
			ROW_CHECK(row, a->ivsize == recorded[i].iv, "%u", a->ivsize);
			ROW_CHECK(row, !a->flags_known && !a->flags, "flags from nowhere");
		}
		alg_list_free(&l);
		free(text);
	}
	assert_int_equal(failures, 0);
}

/* --- record kinds --------------------------------------------------------------------------- */

static const struct {
	const char *type;
	enum alg_type want;
} kinds[] = {
	{ "skcipher", ALG_SKCIPHER },
	{ "lskcipher", ALG_LSKCIPHER },
	{ "cipher", ALG_CIPHER },
	{ "aead", ALG_AEAD },
	{ "shash", ALG_HASH },
	{ "ahash", ALG_HASH },
	{ "rng", ALG_RNG },
	{ "scomp", ALG_COMPRESS },
	{ "acomp", ALG_COMPRESS },
	{ "compression", ALG_COMPRESS },
	{ "akcipher", ALG_AKCIPHER },
	{ "sig", ALG_AKCIPHER },
	{ "kpp", ALG_KPP },
	{ "larval", ALG_OTHER },
	{ "blkcipher", ALG_SKCIPHER },
	{ "ablkcipher", ALG_SKCIPHER },
	{ "givcipher", ALG_SKCIPHER },
	{ "digest", ALG_HASH },
	{ "pcompress", ALG_COMPRESS },
	{ "nivaead", ALG_AEAD },
	{ "quantum", ALG_OTHER },
	{ "", ALG_OTHER },
	{ "skciphers", ALG_OTHER },
};

static void test_kinds(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		char text[128];
		struct alg_list l;

		snprintf(text, sizeof(text), "name : a\ndriver : b\ntype         : %s\n\n",
		         kinds[i].type);
		ROW_CHECK(kinds[i].type, proc_crypto_parse(text, strlen(text), &l) == 0 && l.n == 1,
		          "%zu", l.n);
		ROW_CHECK(kinds[i].type, l.n && l.v[0].type == kinds[i].want, "type");
		alg_list_free(&l);
	}
	assert_int_equal(failures, 0);
}

/* Layouts of 6.12 and later as the kernel's *_show functions print them, FIPS line included. */
static const char newer[] =
	"name         : cbc(aes)\ndriver       : cbc(ecb(aes-generic))\n"
	"module       : cbc\npriority     : 100\nrefcnt       : 2\n"
	"selftest     : passed\ninternal     : no\nfips         : yes\n"
	"type         : lskcipher\nblocksize    : 16\nmin keysize  : 16\n"
	"max keysize  : 32\nivsize       : 16\nchunksize    : 16\n"
	"statesize    : 0\n\n"
	"name         : xts(aes)\ndriver       : xts-aes-lib\nmodule       : kernel\n"
	"priority     : 110\nrefcnt       : 1\nselftest     : passed\n"
	"internal     : no\ntype         : skcipher\nasync        : no\n"
	"blocksize    : 16\nmin keysize  : 32\nmax keysize  : 64\n"
	"ivsize       : 16\nchunksize    : 16\nwalksize     : 32\nstatesize    : 4\n\n"
	"name         : stdrng\ndriver       : drbg_nopr_hmac_sha512\nmodule       : kernel\n"
	"priority     : 207\nrefcnt       : 2\nselftest     : passed\ninternal     : no\n"
	"type         : rng\nseedsize     : 0\n\n"
	"name         : sha256\ndriver       : sha256-lib\nmodule       : kernel\n"
	"priority     : 300\nrefcnt       : 1\nselftest     : passed\ninternal     : no\n"
	"type         : shash\nblocksize    : 64\ndigestsize   : 32\n\n"
	"name         : cbc(aes)\ndriver       : cbc-aes-geode\nmodule       : geode_aes\n"
	"priority     : -1\nrefcnt       : 2\nselftest     : unknown\ninternal     : no\n"
	"type         : larval\nflags        : 0x10\n";

static void test_newer(void **state)
{
	struct alg_list l;

	(void)state;
	assert_int_equal(proc_crypto_parse(newer, sizeof(newer) - 1, &l), 0);
	assert_int_equal(l.n, 5);
	assert_int_equal(l.v[0].type, ALG_LSKCIPHER);
	assert_int_equal(l.v[0].chunksize, 16);
	assert_int_equal(l.v[1].walksize, 32);
	assert_int_equal(l.v[1].statesize, 4);
	assert_int_equal(l.v[3].digestsize, 32);
	assert_int_equal(l.v[3].blocksize, 64);
	assert_int_equal(l.v[4].priority, -1);
	assert_int_equal(l.v[4].type, ALG_OTHER);
	assert_int_equal(l.v[4].flags, 0);
	assert_null(alg_by_driver(&l, "cbc-aes-padlock"));
	assert_ptr_equal(alg_by_driver(&l, "xts-aes-lib"), &l.v[1]);
	alg_list_free(&l);
	alg_list_free(&l);
	alg_list_free(NULL);
}

/* --- odd and broken texts ------------------------------------------------------------------- */

#define A32  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A127 A32 A32 A32 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *what, *text;
	size_t len; /* 0: strlen */
	size_t records, dropped;
} odd[] = {
	{ "nothing", "", 0, 0, 0 },
	{ "blank lines", "\n\n  \n\t\n\r\n", 0, 0, 0 },
	{ "no newline at the end", "name:a\ndriver:b", 0, 1, 0 },
	{ "CRLF", "name : a\r\ndriver : b\r\n\r\nname : c\r\ndriver : d\r\n", 0, 2, 0 },
	{ "no blank line between", "name : a\ndriver : b\nname : c\ndriver : d\n", 0, 2, 0 },
	{ "unknown fields", "name : a\ndriver : b\ncolour : blue\nmin keysize extra : 9\n", 0, 1,
	  0 },
	{ "line without colon", "name : a\nhello\ndriver : b\n", 0, 1, 0 },
	{ "no driver", "name : a\npriority : 1\n\nname : c\ndriver : d\n", 0, 1, 1 },
	{ "no name", "driver : b\n\nname : c\ndriver : d\n", 0, 1, 1 },
	{ "empty name", "name :\ndriver : b\n", 0, 0, 1 },
	{ "garbage",
	  "\x7f"
	  "ELF\x01\x02\x03\nsomething\n",
	  0, 0, 1 },
	{ "name just fits", "name : " A127 "\ndriver : b\n", 0, 1, 0 },
	{ "name too long", "name : " A127 "a\ndriver : b\n", 0, 0, 1 },
	{ "driver too long", "name : a\ndriver : " A127 A127 "\n\nname : c\ndriver : d\n", 0, 1,
	  1 },
	{ "module too long", "name : a\ndriver : b\nmodule : " A32 A32 "\n", 0, 0, 1 },
	{ "NUL in a name", "name : a\0b\ndriver : b\n", 22, 0, 1 },
	{ "NULs only", "\0\0\0\n", 4, 0, 1 },
};

static void test_odd(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct alg_list l;
		size_t len = odd[i].len ? odd[i].len : strlen(odd[i].text);
		char *copy =
			malloc(len + !len); /* so that the sanitizer sees a read behind the end */
		size_t dropped;

		memcpy(copy, odd[i].text, len);
		dropped = proc_crypto_parse(copy, len, &l);
		ROW_CHECK(odd[i].what, l.n == odd[i].records, "%zu records", l.n);
		ROW_CHECK(odd[i].what, dropped == odd[i].dropped, "%zu dropped", dropped);
		free(copy);
		alg_list_free(&l);
	}
	assert_int_equal(failures, 0);
}

static const struct {
	const char *value;
	int priority;
	unsigned int blocksize;
} numbers[] = {
	{ "0", 0, 0 },          { "400", 400, 400 },
	{ "-1", -1, 0 },        { "2147483647", INT_MAX, INT_MAX },
	{ "2147483648", 0, 0 }, { "99999999999999999999", 0, 0 },
	{ "12x", 0, 0 },        { "0x10", 0, 0 },
	{ "", 0, 0 },           { "-", 0, 0 },
	{ "4 00", 0, 0 },       { "--4", 0, 0 },
};

static void test_numbers(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		char text[128];
		struct alg_list l;

		snprintf(text, sizeof(text),
		         "name : a\ndriver : b\npriority : %s\nblocksize : %s\n", numbers[i].value,
		         numbers[i].value);
		proc_crypto_parse(text, strlen(text), &l);
		ROW_CHECK(numbers[i].value, l.n == 1 && l.v[0].priority == numbers[i].priority,
		          "priority");
		ROW_CHECK(numbers[i].value, l.n == 1 && l.v[0].blocksize == numbers[i].blocksize,
		          "blocksize");
		alg_list_free(&l);
	}
	assert_int_equal(failures, 0);
}

/* --- speed: 1,000 records take well under 5 ms without sanitizers; the limit leaves room for them
 */

static void test_speed(void **state)
{
	static const char record[] =
		"name         : xts(aes)\ndriver       : xts-aes-lib\n"
		"module       : kernel\npriority     : 110\nrefcnt       : 1\n"
		"selftest     : passed\ninternal     : no\ntype         : skcipher\n"
		"async        : no\nblocksize    : 16\nmin keysize  : 32\n"
		"max keysize  : 64\nivsize       : 16\nchunksize    : 16\n"
		"walksize     : 32\nstatesize    : 4\n\n";
	struct strbuf b = { 0 };
	struct alg_list l;
	struct timespec t0, t1;
	double ms;

	(void)state;
	for (int i = 0; i < 1000; i++)
		strbuf_add(&b, record, sizeof(record) - 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
	assert_int_equal(proc_crypto_parse(b.s, b.len, &l), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
	ms = (double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e6;
	assert_int_equal(l.n, 1000);
	alg_list_free(&l);
	strbuf_free(&b);
	print_message("# 1000 records: %.2f ms\n", ms);
	if (ms > 100)
		fail_msg("1,000 records took %.2f ms", ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded), cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_newer),    cmocka_unit_test(test_odd),
		cmocka_unit_test(test_numbers),  cmocka_unit_test(test_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
