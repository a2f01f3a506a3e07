/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Cipher specs: parsing, positions of errors, printing, key arithmetic, checks, security classes.
 * Tables only; knows nothing of machines.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/cipher_spec.h"
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

static struct cipher_spec parsed(const char *text)
{
	struct cipher_spec s;
	struct spec_error e;

	if (spec_parse(text, &s, &e))
		fail_msg("\"%s\" was refused at %zu: %s", text, e.at, e.why);
	return s;
}

/* --- accepted texts ------------------------------------------------------------------------- */

static const struct {
	const char *in, *cipher, *mode, *api, *iv, *ivopts;
	unsigned int keycount;
	const char *out; /* NULL: same as in */
} accepted[] = {
	/* what people type, and the how-to of 2009 */
	{ "aes", "aes", "cbc", "cbc(aes)", "plain", "", 1, "aes-cbc-plain" },
	{ "aes-cbc-plain", "aes", "cbc", "cbc(aes)", "plain", "", 1, NULL },
	{ "aes-cbc-plain64", "aes", "cbc", "cbc(aes)", "plain64", "", 1, NULL },
	{ "aes-cbc-essiv:sha256", "aes", "cbc", "cbc(aes)", "essiv", "sha256", 1, NULL },
	{ "aes-cbc-essiv:md5", "aes", "cbc", "cbc(aes)", "essiv", "md5", 1, NULL },
	{ "aes-cbc-essiv:sha1", "aes", "cbc", "cbc(aes)", "essiv", "sha1", 1, NULL },
	{ "aes-xts-plain", "aes", "xts", "xts(aes)", "plain", "", 1, NULL },
	{ "aes-xts-plain64", "aes", "xts", "xts(aes)", "plain64", "", 1, NULL },
	{ "aes-xts-plain64be", "aes", "xts", "xts(aes)", "plain64be", "", 1, NULL },
	{ "serpent-xts-plain64", "serpent", "xts", "xts(serpent)", "plain64", "", 1, NULL },
	{ "twofish", "twofish", "cbc", "cbc(twofish)", "plain", "", 1, "twofish-cbc-plain" },
	{ "des3_ede-cbc-plain", "des3_ede", "cbc", "cbc(des3_ede)", "plain", "", 1, NULL },
	{ "xchacha12,aes-adiantum-plain64", "xchacha12,aes", "adiantum", "adiantum(xchacha12,aes)",
	  "plain64", "", 1, NULL },
	{ "xchacha20,aes-adiantum-plain64", "xchacha20,aes", "adiantum", "adiantum(xchacha20,aes)",
	  "plain64", "", 1, NULL },
	{ "aes-hctr2-plain64", "aes", "hctr2", "hctr2(aes)", "plain64", "", 1, NULL },
	/* short forms */
	{ "aes-plain", "aes", "cbc", "cbc(aes)", "plain", "", 1, "aes-cbc-plain" },
	{ "aes-ecb", "aes", "ecb", "ecb(aes)", "", "", 1, NULL },
	{ "aes-ecb-plain64", "aes", "ecb", "ecb(aes)", "plain64", "", 1, NULL },
	{ "aes-ecb-null", "aes", "ecb", "ecb(aes)", "null", "", 1, NULL },
	{ "null", "cipher_null", "ecb", "ecb(cipher_null)", "", "", 1, "cipher_null-ecb" },
	{ "cipher_null", "cipher_null", "ecb", "ecb(cipher_null)", "", "", 1, "cipher_null-ecb" },
	{ "cipher_null-ecb", "cipher_null", "ecb", "ecb(cipher_null)", "", "", 1, NULL },
	{ "cipher_null-cbc-plain64", "cipher_null", "cbc", "cbc(cipher_null)", "plain64", "", 1,
	  NULL },
	/* key counts */
	{ "aes:64-cbc-lmk", "aes", "cbc", "cbc(aes)", "lmk", "", 64, NULL },
	{ "aes:1-cbc-plain64", "aes", "cbc", "cbc(aes)", "plain64", "", 1, "aes-cbc-plain64" },
	{ "aes:2-xts-plain64", "aes", "xts", "xts(aes)", "plain64", "", 2, NULL },
	{ "aes:02-xts-plain64", "aes", "xts", "xts(aes)", "plain64", "", 2, "aes:2-xts-plain64" },
	{ "aes:2", "aes", "cbc", "cbc(aes)", "plain", "", 2, "aes:2-cbc-plain" },
	/* the other IV generators and their options */
	{ "aes-lrw-benbi", "aes", "lrw", "lrw(aes)", "benbi", "", 1, NULL },
	{ "aes-lrw-benbi:4", "aes", "lrw", "lrw(aes)", "benbi", "4", 1, NULL },
	{ "aes-xts-plain:sha512", "aes", "xts", "xts(aes)", "plain", "sha512", 1, NULL },
	{ "aes-cbc-tcw", "aes", "cbc", "cbc(aes)", "tcw", "", 1, NULL },
	{ "aes-cbc-eboiv", "aes", "cbc", "cbc(aes)", "eboiv", "", 1, NULL },
	{ "aes-cbc-elephant", "aes", "cbc", "cbc(aes)", "elephant", "", 1, NULL },
	{ "aes-cbc-null", "aes", "cbc", "cbc(aes)", "null", "", 1, NULL },
	{ "aes-cbc-essiv:sha3-256", "aes", "cbc", "cbc(aes)", "essiv", "sha3-256", 1, NULL },
	/* with integrity */
	{ "aes-gcm-random", "aes", "gcm", "gcm(aes)", "random", "", 1, NULL },
	{ "aes-xts-random", "aes", "xts", "xts(aes)", "random", "", 1, NULL },
	{ "chacha20-random", "chacha20", "", "chacha20", "random", "", 1, NULL },
	{ "chacha20-plain64", "chacha20", "", "chacha20", "plain64", "", 1, NULL },
	{ "aegis128-random", "aegis128", "", "aegis128", "random", "", 1, NULL },
	/* capi: with algorithm names */
	{ "capi:xts(aes)-plain64", "aes", "xts", "xts(aes)", "plain64", "", 1, NULL },
	{ "capi:cbc(aes)-essiv:sha256", "aes", "cbc", "cbc(aes)", "essiv", "sha256", 1, NULL },
	{ "capi:adiantum(xchacha12,aes)-plain64", "xchacha12,aes", "adiantum",
	  "adiantum(xchacha12,aes)", "plain64", "", 1, NULL },
	{ "capi:ecb(aes)", "aes", "ecb", "ecb(aes)", "", "", 1, NULL },
	{ "capi:ecb(aes)-null", "aes", "ecb", "ecb(aes)", "null", "", 1, NULL },
	{ "capi:cbc(des3_ede)-plain", "des3_ede", "cbc", "cbc(des3_ede)", "plain", "", 1, NULL },
	{ "capi:ecb(cipher_null)", "cipher_null", "ecb", "ecb(cipher_null)", "", "", 1, NULL },
	{ "capi:cbc(aes)-lmk", "aes", "cbc", "cbc(aes)", "lmk", "", 64, NULL },
	{ "capi:authenc(hmac(sha256),xts(aes))-random", "", "", "authenc(hmac(sha256),xts(aes))",
	  "random", "", 1, NULL },
	{ "capi:rfc7539(chacha20,poly1305)-random", "", "", "rfc7539(chacha20,poly1305)", "random",
	  "", 1, NULL },
	/* capi: with driver names */
	{ "capi:xts-aes-aesni-plain64", "aes", "xts", "xts-aes-aesni", "plain64", "", 1, NULL },
	{ "capi:xts(ecb-aes-aesni)-plain64", "aes", "xts", "xts(ecb-aes-aesni)", "plain64", "", 1,
	  NULL },
	{ "capi:xts(ecb-aes-geode)-plain64", "aes", "xts", "xts(ecb-aes-geode)", "plain64", "", 1,
	  NULL },
	{ "capi:xts(ecb-aes-padlock)-plain64", "aes", "xts", "xts(ecb-aes-padlock)", "plain64", "",
	  1, NULL },
	{ "capi:xts(ecb(aes))-plain64", "aes", "xts", "xts(ecb(aes))", "plain64", "", 1, NULL },
	{ "capi:cbc-aes-aesni-essiv:sha256-generic", "aes", "cbc", "cbc-aes-aesni", "essiv",
	  "sha256-generic", 1, NULL },
	{ "capi:cbc-aes-aesni-essiv:sha256", "aes", "cbc", "cbc-aes-aesni", "essiv", "sha256", 1,
	  NULL },
	{ "capi:cbc-aes-geode-plain64", "aes", "cbc", "cbc-aes-geode", "plain64", "", 1, NULL },
	{ "capi:p8_aes_cbc-plain64", "aes", "cbc", "p8_aes_cbc", "plain64", "", 1, NULL },
	{ "capi:mv-cbc-aes-plain64", "aes", "cbc", "mv-cbc-aes", "plain64", "", 1, NULL },
	{ "capi:adiantum(xchacha12-simd,aes-aesni,nhpoly1305-avx2)-plain64", "xchacha12,aes",
	  "adiantum", "adiantum(xchacha12-simd,aes-aesni,nhpoly1305-avx2)", "plain64", "", 1,
	  NULL },
	{ "capi:some-thing-plain64", "", "", "some-thing", "plain64", "", 1, NULL },
	{ "capi:cbc(foo)-plain64", "", "", "cbc(foo)", "plain64", "", 1, NULL },
};

static void test_accepted(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		const char *in = accepted[i].in, *out = accepted[i].out ? accepted[i].out : in;
		struct cipher_spec s, again;
		struct spec_error e;
		char buf[SPEC_TEXT_MAX];

		ROW_CHECK(in, !spec_parse(in, &s, &e), "at %zu: %s", e.at, e.why);
		ROW_CHECK(in, s.capi == str_starts(in, "capi:"), "%d", s.capi);
		ROW_CHECK(in, !strcmp(s.cipher, accepted[i].cipher), "'%s'", s.cipher);
		ROW_CHECK(in, !strcmp(s.mode, accepted[i].mode), "'%s'", s.mode);
		ROW_CHECK(in, !strcmp(s.api, accepted[i].api), "'%s'", s.api);
		ROW_CHECK(in, !strcmp(s.iv, accepted[i].iv), "'%s'", s.iv);
		ROW_CHECK(in, !strcmp(s.ivopts, accepted[i].ivopts), "'%s'", s.ivopts);
		ROW_CHECK(in, s.keycount == accepted[i].keycount, "%u", s.keycount);
		ROW_CHECK(in, !s.key_bits && !s.sector_size, "%u %u", s.key_bits, s.sector_size);
		ROW_CHECK(in, !strcmp(spec_text(&s, buf, sizeof(buf)), out), "'%s'", buf);
		ROW_CHECK(in, !spec_parse(buf, &again, NULL) && !memcmp(&s, &again, sizeof(s)),
		          "round trip");
	}
	assert_int_equal(failures, 0);
}

/* --- refused texts: the marked piece, and words the sentence must have ---------------------- */

#define LONG31  "0123456789012345678901234567890"
#define LONG64  LONG31 "a" LONG31 "b"
#define LONG128 LONG64 LONG64

static const struct {
	const char *in;
	size_t at, len;
	const char *why;
} refused[] = {
	{ "", 0, 0, "empty" },
	{ "aes cbc-plain", 3, 1, "0x20" },
	{ "aes-xts-plain64 ", 15, 1, "0x20" },
	{ "aes-cbc-plain\n", 13, 1, "0x0a" },
	{ "a\xc3\xa4s-cbc-plain", 1, 1, "0xc3" },
	{ "aes-xts-plain64/512", 15, 1, "'/'" },
	{ "aes;reboot", 3, 1, "';'" },
	{ "-", 0, 0, "cipher name is missing" },
	{ "-cbc-plain", 0, 0, "cipher name is missing" },
	{ ":2-cbc-plain", 0, 0, "cipher name is missing" },
	{ "aes-", 4, 0, "mode and an IV generator" },
	{ "aes--", 4, 0, "mode is missing" },
	{ "aes--plain64", 4, 0, "mode is missing" },
	{ "aes-cbc", 7, 0, "aes-cbc-plain64" },
	{ "aes-xts", 7, 0, "needs an IV generator" },
	{ "aes-cbc-", 8, 0, "IV generator is missing" },
	{ "aes-cbc-:sha256", 8, 0, "IV generator is missing" },
	{ "aes-plain64", 4, 7, "aes-xts-plain64" },
	{ "aes-essiv:sha256", 4, 12, "aes-cbc-essiv:sha256" },
	{ "aes-cbc-plain46", 8, 7, "'plain46' is no IV generator" },
	{ "aes-cbc-plain64-foo", 8, 11, "no IV generator" },
	{ "aes-cbc-PLAIN", 8, 5, "no IV generator" },
	{ "aes-cbc-essiv", 8, 5, "essiv needs a hash" },
	{ "aes-cbc-essiv:", 14, 0, "ESSIV hash is missing" },
	{ "aes-cbc-essiv-sha256", 13, 1, "essiv:sha256" },
	{ "aes-cbc-essiv:sha256:x", 20, 1, "':'" },
	{ "aes-cbc-plain64:", 16, 0, "missing" },
	{ "aes-cbc-essiv:" LONG64, 14, 64, "at most 63" },
	{ "aes:0-cbc-plain", 4, 1, "no power of two" },
	{ "aes:3-cbc-plain", 4, 1, "no power of two" },
	{ "aes:128-cbc-plain", 4, 3, "no power of two" },
	{ "aes:99999999999999999999-cbc-plain", 4, 20, "no power of two" },
	{ "aes:-cbc-plain", 4, 0, "key count" },
	{ "aes:two-cbc-plain", 4, 3, "no number" },
	{ "aes:2x-cbc-plain", 4, 2, "no number" },
	{ "aes:sha256", 4, 6, "no number" },
	{ "aes-cbc:2-plain64", 7, 1, "key count follows the cipher" },
	{ LONG64 "-cbc-plain", 0, 64, "at most 63" },
	{ "aes-" LONG31 "x-plain64", 4, 32, "at most 31" },
	{ "xts(aes)-plain64", 3, 1, "capi:xts(aes)-plain64" },
	{ "aes-cbc(x)-plain64", 7, 1, "parentheses" },
	{ "capi:", 5, 0, "crypto API name is missing" },
	{ "capi:-plain64", 5, 0, "crypto API name is missing" },
	{ "capi:xts(aes)", 13, 0, "IV generator must follow" },
	{ "capi:xts(ecb-aes-geode)", 23, 0, "IV generator must follow" },
	{ "capi:xts(aes):sha256", 13, 0, "IV generator must follow" },
	{ "capi:ecb(aes):2", 13, 0, "IV generator must follow" },
	{ "capi:xts(aes)-", 14, 0, "IV generator is missing" },
	{ "capi:xts(aes)-plan64", 14, 6, "no IV generator" },
	{ "capi:xts(aes-plain64", 8, 1, "'(' has no partner" },
	{ "capi:xts((aes)-plain64", 8, 1, "'(' has no partner" },
	{ "capi:xts)aes(-plain64", 8, 1, "')' has no partner" },
	{ "capi:xts(aes))-plain64", 13, 1, "')' has no partner" },
	{ "capi:cbc(aes)-essiv", 14, 5, "essiv needs a hash" },
	{ "capi:cbc(aes)-essiv:", 20, 0, "ESSIV hash is missing" },
	{ "capi:xts(aes):2-plain64:x", 13, 1, "no key count" },
	{ "capi:" LONG128 "-plain64", 5, 128, "at most 127" },
	{ "capi:" LONG64 LONG31 LONG31 "-essiv:sha256", 138, 6, "longer than a crypto API name" },
};

static void test_refused(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		const char *in = refused[i].in;
		struct cipher_spec s;
		struct spec_error e;
		int r = spec_parse(in, &s, &e);

		ROW_CHECK(in, r == -EINVAL, "%d", r);
		ROW_CHECK(in, e.at == refused[i].at && e.len == refused[i].len,
		          "at %zu len %zu: %s", e.at, e.len, e.why);
		ROW_CHECK(in, strstr(e.why, refused[i].why), "%s", e.why);
		ROW_CHECK(in, e.at + e.len <= strlen(in), "at %zu len %zu", e.at, e.len);
		ROW_CHECK(in, strlen(e.why) < sizeof(e.why) - 1, "cut: %s", e.why);
		ROW_CHECK(in, spec_parse(in, &s, NULL) == -EINVAL, "without error struct");
	}
	assert_int_equal(failures, 0);
}

/* --- describing ----------------------------------------------------------------------------- */

static void test_describe(void **state)
{
	struct cipher_spec s = parsed("aes-xts-plain64");
	char buf[SPEC_TEXT_MAX], tiny[8];

	(void)state;
	assert_string_equal(spec_describe(&s, buf, sizeof(buf)), "aes-xts-plain64");
	s.key_bits = 512;
	s.sector_size = 512;
	assert_string_equal(spec_describe(&s, buf, sizeof(buf)), "aes-xts-plain64, 512-bit key");
	s.sector_size = 4096;
	assert_string_equal(spec_describe(&s, buf, sizeof(buf)),
	                    "aes-xts-plain64, 512-bit key, 4096-byte sectors");
	assert_string_equal(spec_text(&s, tiny, sizeof(tiny)), "aes-xts");
	memset(s.api, 'a', sizeof(s.api) - 1);
	memset(s.iv, 'b', sizeof(s.iv) - 1);
	memset(s.ivopts, 'c', sizeof(s.ivopts) - 1);
	s.capi = true;
	s.key_bits = s.sector_size = UINT32_MAX;
	assert_string_equal(spec_describe(&s, buf, sizeof(buf)) + strlen(buf) - 8, " sectors");
}

/* --- key arithmetic ------------------------------------------------------------------------- */

static const struct {
	const char *text;
	unsigned int key_bits, cipher_bits;
} arithmetic[] = {
	{ "aes-cbc-plain64", 0, 0 },
	{ "aes-cbc-plain64", 128, 128 },
	{ "aes-cbc-essiv:sha256", 256, 256 },
	{ "aes-xts-plain64", 256, 128 },
	{ "aes-xts-plain64", 384, 192 },
	{ "aes-xts-plain64", 512, 256 },
	{ "capi:xts(ecb-aes-geode)-plain64", 256, 128 },
	{ "aes:2-cbc-plain64", 256, 128 },
	{ "aes:2-xts-plain64", 1024, 256 },
	{ "xchacha12,aes-adiantum-plain64", 256, 256 },
	{ "aes-lrw-benbi", 256, 128 },
	{ "aes-lrw-benbi", 384, 256 },
	{ "aes:64-cbc-lmk", 64 * 128, 128 }, /* version 2 */
	{ "aes:64-cbc-lmk", 65 * 128, 128 }, /* version 3: one more key, the seed */
	{ "aes:64-cbc-lmk", 65 * 256, 256 },
	{ "capi:cbc(aes)-lmk", 65 * 256, 256 },
	{ "aes-cbc-tcw", 512, 256 }, /* 16 bytes seed, 16 bytes whitening */
	{ "blowfish-cbc-tcw", 448 + 64 + 128, 448 },
	{ "aes-cbc-tcw", 256, 0 },
	{ "aes-cbc-elephant", 256, 128 },
	{ "aes-cbc-elephant", 512, 256 },
};

static void test_arithmetic(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(arithmetic); i++) {
		struct cipher_spec s = parsed(arithmetic[i].text);

		s.key_bits = arithmetic[i].key_bits;
		ROW_CHECK(arithmetic[i].text, spec_cipher_key_bits(&s) == arithmetic[i].cipher_bits,
		          "%u-bit key gives %u", s.key_bits, spec_cipher_key_bits(&s));
	}
	assert_int_equal(failures, 0);
}

static const struct {
	const char *text;
	int bits;
} essiv[] = {
	{ "aes-cbc-plain64", 0 },
	{ "aes-cbc-plain64:sha256", 0 },
	{ "aes-cbc-essiv:sha256", 256 },
	{ "aes-cbc-essiv:md5", 128 },
	{ "aes-cbc-essiv:sha1", 160 },
	{ "aes-cbc-essiv:sha224", 224 },
	{ "aes-cbc-essiv:sha384", 384 },
	{ "aes-cbc-essiv:sha512", 512 },
	{ "aes-cbc-essiv:sha3-256", 256 },
	{ "aes-cbc-essiv:blake2b-256", 256 },
	{ "aes-cbc-essiv:sm3", 256 },
	{ "aes-cbc-essiv:tgr192", 192 },
	{ "capi:cbc-aes-aesni-essiv:sha256-generic", 256 },
	{ "capi:cbc-aes-aesni-essiv:sha256-lib", 256 },
	{ "capi:cbc-aes-aesni-essiv:sha3-256-generic", 256 },
	{ "capi:cbc-aes-padlock-essiv:sha256-padlock-nano", 256 },
	{ "capi:cbc(aes)-essiv:md5-lib", 128 },
	{ "aes-cbc-essiv:sha265", -EINVAL },
	{ "aes-cbc-essiv:SHA256", -EINVAL },
	{ "aes-cbc-essiv:-", -EINVAL },
};

static void test_essiv(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(essiv); i++) {
		struct cipher_spec s = parsed(essiv[i].text);

		ROW_CHECK(essiv[i].text, spec_essiv_key_bits(&s) == essiv[i].bits, "%d",
		          spec_essiv_key_bits(&s));
	}
	assert_int_equal(failures, 0);
}

static void test_defaults(void **state)
{
	struct cipher_spec s = parsed("aes-xts-plain64");

	(void)state;
	assert_true(spec_is_xts(&s));
	assert_int_equal(spec_default_key_bits(&s), 512);
	s = parsed("aes-cbc-essiv:sha256");
	assert_false(spec_is_xts(&s));
	assert_int_equal(spec_default_key_bits(&s), 256);
	s = parsed("capi:xts(aes)-plain64"); /* cryptsetup doubles for "xts-" only */
	assert_true(spec_is_xts(&s));
	assert_int_equal(spec_default_key_bits(&s), 256);
	s = parsed("xchacha12,aes-adiantum-plain64");
	assert_int_equal(spec_default_key_bits(&s), 256);
}

/* --- checks: marked is the piece of the text, "" for none, NULL for a good spec -------------- */

static const struct {
	const char *text;
	unsigned int key_bits, sector_size;
	const char *marked, *why;
} checks[] = {
	{ "aes-xts-plain64", 0, 0, NULL, NULL },
	{ "aes-xts-plain64", 256, 512, NULL, NULL },
	{ "aes-xts-plain64", 384, 1024, NULL, NULL },
	{ "aes-xts-plain64", 512, 4096, NULL, NULL },
	{ "aes-xts-plain64", 128, 0, "", "256, 384 or 512 bits, two keys in one" },
	{ "aes-xts-plain64", 320, 0, "", "256, 384 or 512" },
	{ "aes-xts-plain64", 264, 0, "", "264-bit key does not fit" },
	{ "aes-cbc-plain64", 128, 0, NULL, NULL },
	{ "aes-cbc-plain64", 192, 0, NULL, NULL },
	{ "aes-cbc-plain64", 512, 0, "", "aes-cbc takes 128, 192 or 256 bits" },
	{ "aes-cbc-plain64", 100, 0, "", "no whole number of bytes" },
	{ "aes-cbc-plain64", 8, 0, "", "does not fit" },
	{ "aes:2-cbc-plain64", 512, 0, NULL, NULL },
	{ "aes:2-cbc-plain64", 264, 0, "", "256, 384 or 512" },
	{ "aes-ecb", 128, 0, NULL, NULL },
	{ "serpent-cbc-plain64", 200, 0, NULL, NULL },
	{ "serpent-xts-plain64", 520, 0, "", "16 to 512 bits" },
	{ "des3_ede-cbc-plain64", 192, 0, NULL, NULL },
	{ "des3_ede-cbc-plain64", 256, 0, "", "takes 192 bits" },
	{ "des3_ede-xts-plain64", 384, 0, "des3_ede", "128-bit blocks only" },
	{ "capi:xts(blowfish)-plain64", 256, 0, "xts(blowfish)", "64-bit blocks" },
	{ "xchacha12,aes-adiantum-plain64", 256, 4096, NULL, NULL },
	{ "xchacha12,aes-adiantum-plain64", 512, 0, "", "takes 256 bits" },
	{ "aes-adiantum-plain64", 256, 0, "aes", "xchacha12,aes-adiantum-plain64" },
	{ "xchacha12,aes-xts-plain64", 256, 0, "xchacha12,aes", "adiantum only" },
	{ "aes-hctr2-plain64", 256, 0, NULL, NULL },
	{ "aes-gcm-random", 256, 0, NULL, NULL },
	{ "aes-ccm-random", 280, 0, NULL, NULL }, /* three bytes of nonce are in the key */
	{ "chacha20-random", 128, 0, "", "chacha20 takes 256 bits" },
	{ "cipher_null-ecb", 256, 0, NULL, NULL },
	{ "foo-xts-plain64", 72, 0, NULL, NULL },
	{ "capi:some-thing-plain64", 72, 0, NULL, NULL },
	{ "aes-cbc-elephant", 512, 4096, NULL, NULL },
	{ "aes-cbc-elephant", 128, 0, "", "256, 384 or 512" },
	{ "aes-lrw-benbi", 256, 0, NULL, NULL },
	{ "aes-lrw-benbi", 128, 0, "", "256, 320 or 384" },
	{ "aes:64-cbc-lmk", 64 * 128, 512, NULL, NULL },
	{ "aes:64-cbc-lmk", 65 * 128, 512, NULL, NULL },
	{ "aes:64-cbc-lmk", 128, 512, "", "does not fit" },
	{ "aes:64-cbc-lmk", 65 * 128, 4096, "lmk", "512-byte sectors only" },
	{ "aes-cbc-tcw", 512, 512, NULL, NULL },
	{ "aes-cbc-tcw", 256, 512, "", "384, 448 or 512" },
	{ "aes-cbc-tcw:x", 512, 1024, "tcw:x", "not 1024" },
	{ "aes-xts-plain64", 512, 256, "", "512, 1024, 2048, 4096" },
	{ "aes-xts-plain64", 512, 3072, "", "512, 1024, 2048, 4096" },
	{ "aes-xts-plain64", 512, 8192, "", "512, 1024, 2048, 4096" },
	{ "aes-cbc-essiv:sha256", 128, 0, NULL, NULL },
	{ "aes-cbc-essiv:sha256", 256, 4096, NULL, NULL },
	{ "aes-cbc-essiv:md5", 128, 0, NULL, NULL },
	{ "aes-cbc-essiv:tgr192", 128, 0, NULL, NULL },
	{ "aes-cbc-essiv:sha1", 128, 0, "sha1", "sha1 gives 160 bits, aes takes 128, 192 or 256" },
	{ "aes-cbc-essiv:sha224", 128, 0, "sha224", "224 bits" },
	{ "aes-cbc-essiv:sha384", 256, 0, "sha384", "384 bits" },
	{ "aes-cbc-essiv:sha512", 256, 0, "sha512", "512 bits" },
	{ "aes-cbc-essiv:sha265", 128, 0, "sha265", "no hash hwluks knows" },
	{ "capi:cbc-aes-geode-essiv:sha1-generic", 128, 0, "sha1-generic", "160 bits" },
	{ "serpent-cbc-essiv:sha1", 256, 0, NULL, NULL },
	{ "cast5-cbc-essiv:sha256", 128, 0, "sha256", "cast5 takes" },
	{ "foo-cbc-essiv:sha1", 128, 0, NULL, NULL },
	{ "aes-ecb-essiv:sha256", 128, 0, "essiv:sha256", "ecb has none" },
	{ "xchacha12,aes-adiantum-essiv:sha256", 256, 0, "essiv:sha256", "a longer one" },
	{ "aes-xts-essiv:sha256", 512, 0, NULL, NULL },
};

static void test_checks(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		const char *text = checks[i].text, *marked = checks[i].marked;
		struct cipher_spec s = parsed(text);
		struct spec_error e;
		int r;

		s.key_bits = checks[i].key_bits;
		s.sector_size = checks[i].sector_size;
		r = spec_check(&s, &e);
		ROW_CHECK(text, r == (marked ? -EINVAL : 0), "%u/%u: %d, %s", s.key_bits,
		          s.sector_size, r, e.why);
		ROW_CHECK(text, !r == !spec_check(&s, NULL), "without error struct");
		if (!marked || !r)
			continue;
		ROW_CHECK(text,
		          e.len == strlen(marked) && e.at + e.len <= strlen(text) &&
		                  !strncmp(text + e.at, marked, e.len),
		          "at %zu len %zu", e.at, e.len);
		ROW_CHECK(text, strstr(e.why, checks[i].why), "%u/%u: %s", s.key_bits,
		          s.sector_size, e.why);
	}
	assert_int_equal(failures, 0);
}

/* --- security classes ----------------------------------------------------------------------- */

static const struct {
	const char *text;
	unsigned int key_bits;
	enum spec_class class;
	const char *caution; /* a word of it, or NULL */
} classes[] = {
	{ "aes-xts-plain64", 256, SPEC_CLASS_STANDARD, NULL },
	{ "aes-xts-plain64", 0, SPEC_CLASS_STANDARD, NULL },
	{ "aes-xts-plain64be", 512, SPEC_CLASS_STANDARD, NULL },
	{ "aes-xts-benbi", 512, SPEC_CLASS_STANDARD, NULL },
	{ "aes-xts-plain", 512, SPEC_CLASS_STANDARD, "2 TiB" },
	{ "aes-xts-essiv:sha256", 512, SPEC_CLASS_STANDARD, NULL },
	{ "aes-xts-null", 512, SPEC_CLASS_WATERMARK, "same IV" },
	{ "aes-xts-random", 512, SPEC_CLASS_OTHER, "integrity" },
	{ "serpent-xts-plain64", 512, SPEC_CLASS_STANDARD, NULL },
	{ "serpent-xts-plain64", 128, SPEC_CLASS_OTHER, NULL }, /* two 64-bit keys */
	{ "capi:xts(ecb-aes-geode)-plain64", 256, SPEC_CLASS_STANDARD, NULL },
	{ "xchacha12,aes-adiantum-plain64", 256, SPEC_CLASS_STANDARD, NULL },
	{ "xchacha12,aes-adiantum-null", 256, SPEC_CLASS_WATERMARK, "same IV" },
	{ "aes-hctr2-plain64", 256, SPEC_CLASS_STANDARD, NULL },
	{ "aes-cbc-essiv:sha256", 128, SPEC_CLASS_STANDARD, "malleable" },
	{ "capi:cbc-aes-geode-essiv:sha256-generic", 128, SPEC_CLASS_STANDARD, "malleable" },
	{ "aes-cbc-essiv:sha3-256", 256, SPEC_CLASS_STANDARD, "malleable" },
	{ "aes-cbc-essiv:tgr192", 256, SPEC_CLASS_STANDARD, "malleable" },
	{ "aes-cbc-essiv:md5", 128, SPEC_CLASS_WATERMARK, "malleable" },
	{ "aes-cbc-essiv:sha1", 128, SPEC_CLASS_OTHER, "malleable" }, /* impossible */
	{ "aes-cbc-essiv:sha512", 128, SPEC_CLASS_OTHER, "malleable" },
	{ "serpent-cbc-essiv:sha1", 256, SPEC_CLASS_WATERMARK, "malleable" },
	{ "aes", 128, SPEC_CLASS_WATERMARK, "2 TiB" },
	{ "aes-cbc-plain64", 256, SPEC_CLASS_WATERMARK, "malleable" },
	{ "aes-cbc-plain64be", 256, SPEC_CLASS_WATERMARK, "malleable" },
	{ "aes-cbc-benbi", 256, SPEC_CLASS_WATERMARK, "malleable" },
	{ "aes-cbc-null", 256, SPEC_CLASS_WATERMARK, "same IV" },
	{ "aes-cbc-tcw", 512, SPEC_CLASS_WATERMARK, "malleable" },
	{ "aes:64-cbc-lmk", 65 * 128, SPEC_CLASS_OTHER, "malleable" },
	{ "aes-cbc-eboiv", 256, SPEC_CLASS_OTHER, "malleable" },
	{ "aes-cbc-elephant", 256, SPEC_CLASS_OTHER, "malleable" },
	{ "des3_ede-cbc-essiv:tgr192", 192, SPEC_CLASS_OTHER, "64-bit blocks" },
	{ "blowfish-cbc-plain64", 256, SPEC_CLASS_WATERMARK, "64-bit blocks" },
	{ "aes-ecb", 128, SPEC_CLASS_ECB, NULL },
	{ "aes-ecb-plain64", 128, SPEC_CLASS_ECB, NULL },
	{ "capi:ecb(aes)", 128, SPEC_CLASS_ECB, NULL },
	{ "null", 0, SPEC_CLASS_OTHER, "encrypts nothing" },
	{ "cipher_null-xts-plain64", 0, SPEC_CLASS_OTHER, "encrypts nothing" },
	{ "aes-ctr-plain64", 256, SPEC_CLASS_OTHER, "key stream" },
	{ "aes-lrw-benbi", 256, SPEC_CLASS_OTHER, NULL },
	{ "aes-pcbc-plain64", 256, SPEC_CLASS_WATERMARK, NULL },
	{ "foo-xts-plain64", 512, SPEC_CLASS_OTHER, NULL },
	{ "aes-foo-plain64", 256, SPEC_CLASS_OTHER, NULL },
	{ "aes-gcm-random", 256, SPEC_CLASS_AUTHENTICATED, "integrity" },
	{ "aes-gcm-plain64", 256, SPEC_CLASS_OTHER, NULL },
	{ "chacha20-random", 256, SPEC_CLASS_AUTHENTICATED, "integrity" },
	{ "aegis128-random", 128, SPEC_CLASS_AUTHENTICATED, "integrity" },
	{ "capi:authenc(hmac(sha256),xts(aes))-random", 768, SPEC_CLASS_AUTHENTICATED,
	  "integrity" },
	{ "capi:some-thing-plain64", 256, SPEC_CLASS_OTHER, NULL },
};

static void test_classes(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		struct cipher_spec s = parsed(classes[i].text);
		const char *caution;

		s.key_bits = classes[i].key_bits;
		ROW_CHECK(classes[i].text, spec_class(&s) == classes[i].class, "%s",
		          spec_class_name(spec_class(&s)));
		caution = spec_caution(&s);
		ROW_CHECK(classes[i].text,
		          classes[i].caution ? caution && strstr(caution, classes[i].caution)
		                             : !caution,
		          "%s", caution ? caution : "no caution");
	}
	assert_int_equal(failures, 0);
	assert_string_equal(spec_class_name(SPEC_CLASS_AUTHENTICATED), "authenticated");
	assert_string_equal(spec_class_name(SPEC_CLASS_OTHER), "other");
	for (int c = SPEC_CLASS_AUTHENTICATED; c <= SPEC_CLASS_OTHER; c++)
		assert_non_null(strchr(spec_class_sentence((enum spec_class)c), '.'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_describe), cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_essiv),    cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_checks),   cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
