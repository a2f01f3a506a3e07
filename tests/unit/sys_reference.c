/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* The ciphertext reference against published vectors (IEEE 1619, NIST SP 800-38A) and against
 * openssl enc. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "util/util.h"
#include "vol/reference.h"

static size_t unhex(const char *hex, unsigned char *out)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned int v;

		assert_int_equal(sscanf(hex + 2 * i, "%2x", &v), 1);
		out[i] = (unsigned char)v;
	}
	return n;
}

static struct cipher_spec spec_of(const char *text, unsigned int bits, unsigned int sector_size)
{
	struct cipher_spec spec;
	struct spec_error err;

	assert_int_equal(spec_parse(text, &spec, &err), 0);
	spec.key_bits = bits;
	spec.sector_size = sector_size;
	return spec;
}

/* Encrypts, checks both ends against hex, decrypts in place, checks that the text is back. */
static void check(const struct cipher_spec *spec, const void *key, uint64_t sector,
                  const unsigned char *text, size_t len, const char *head, const char *tail)
{
	unsigned char out[8192], want[512];
	struct reference *r;
	size_t n;

	assert_true(reference_has(spec));
	assert_int_equal(reference_new(spec, key, &r), 0);
	assert_int_equal(reference_crypt(r, true, sector, text, out, len), 0);
	n = unhex(head, want);
	assert_memory_equal(out, want, n);
	n = unhex(tail, want);
	assert_memory_equal(out + len - n, want, n);
	assert_int_equal(reference_crypt(r, false, sector, out, out, len), 0);
	assert_memory_equal(out, text, len);
	assert_int_equal(reference_crypt(r, true, sector, text, out, 100), -EINVAL);
	reference_free(r);
}

static void count_up(unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)i;
}

/* IEEE 1619-2007 annex B, vectors 4 and 10 (XTS-AES-128 and -256, 512-byte data units 0 and 0xff).
 */
static void test_ieee1619(void **state)
{
	struct cipher_spec x256 = spec_of("aes-xts-plain64", 256, 512),
			   x512 = spec_of("aes-xts-plain64", 512, 512);
	unsigned char key[64], text[512];

	(void)state;
	count_up(text, sizeof(text));
	unhex("27182818284590452353602874713526"
	      "31415926535897932384626433832795",
	      key);
	check(&x256, key, 0, text, sizeof(text),
	      "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89c",
	      "eb4a427d1923ce3ff262735779a418f20a282df920147beabe421ee5319d0568");
	unhex("2718281828459045235360287471352662497757247093699959574966967627"
	      "3141592653589793238462643383279502884197169399375105820974944592",
	      key);
	check(&x512, key, 0xff, text, sizeof(text),
	      "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b",
	      "773dad38014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151");
}

/* NIST SP 800-38A F.1.1 (ECB) and F.2.1 (CBC; its IV is put into the first block, since no sector
 * number gives it). */
static void test_nist(void **state)
{
	static const char plain[] =
		"6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
		"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
	struct cipher_spec ecb = spec_of("aes-ecb", 128, 512),
			   cbc = spec_of("aes-cbc-null", 128, 512);
	unsigned char key[16], text[512] = { 0 };

	(void)state;
	unhex("2b7e151628aed2a6abf7158809cf4f3c", key);
	unhex(plain, text);
	check(&ecb, key, 9, text, sizeof(text),
	      "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
	      "43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
	      "");
	for (unsigned int i = 0; i < 16; i++)
		text[i] ^= (unsigned char)i;
	check(&cbc, key, 9, text, sizeof(text),
	      "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
	      "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
	      "");
}

/*
 * Sector 0x123456789, text 00 01 02 …, key 40 41 42 …: first and last block as made by `openssl enc
 * -nopad` (XTS from ECB and the tweaks of IEEE 1619), IVs as described in the kernel's
 * Documentation/…/dm-crypt.rst.
 */
static const struct {
	const char *cipher;
	unsigned int bits;
	const char *head, *tail;
} made[] = {
	{ "aes-cbc-plain", 128, "b0086b80c027f3e0df5d68e4af6ceee9",
	  "41a69ccbabc2b486c832985c6054d767" },
	{ "aes-cbc-plain64", 128, "d6ff24fd6904deb8715013b2b165b3a2",
	  "e683ee0f5303781769a1140d7bbdaf6b" },
	{ "aes-cbc-plain64be", 128, "1359e96503ba9bb43f5bcef9a778823b",
	  "ef021681b63f23d308d6550f565367b7" },
	{ "aes-cbc-null", 128, "3d0fa4b855d2a5aa4954b8b5df582a3a",
	  "e1b168c70a7d719f0995d333c049e595" },
	{ "aes-cbc-essiv:sha256", 128, "db1fb752ff2cd3aa856cdc6d3c4b576d",
	  "a7d5842367a94fa47e2e1498a69d843b" },
	{ "aes-cbc-essiv:md5", 128, "0bdfca3fb5444d0693ae96dac454d2b5",
	  "9d16535327a6fd00f3a2fad024bc331e" },
	{ "aes-ecb", 128, "3d0fa4b855d2a5aa4954b8b5df582a3a", "c9fb977f580249a096aa9262f89907c0" },
	{ "aes-cbc-plain", 192, "5134fcbeaec2d9d95109ab7e37c65cff",
	  "22e904a74ce7ced28d42449cd36b0624" },
	{ "aes-cbc-plain64", 192, "5589b06cc0b5aeecff2a6d93ead5aa70",
	  "99aaef9d6a7c7fd026f7b3c85a02b1be" },
	{ "aes-cbc-plain64be", 192, "69a8f13b6437c5ca02decc4cd16b6eb0",
	  "7277ec45d95d40658a05195154200273" },
	{ "aes-cbc-null", 192, "bd69e2ad783715c56622a0c58c268080",
	  "e30d5c3b83ce488cc1c112e90475a3aa" },
	{ "aes-cbc-essiv:sha256", 192, "f5572da7e798ecd02f27be168fc1ad41",
	  "a220fc72824a16670ca27ba9eb4c73a9" },
	{ "aes-cbc-essiv:md5", 192, "86b838f09344a4166d25863f3578d4d1",
	  "7a4c37684c3b9f123cbf93e8bb1b0600" },
	{ "aes-ecb", 192, "bd69e2ad783715c56622a0c58c268080", "52050de2017a14ba1df77b380e5d00c1" },
	{ "aes-cbc-plain", 256, "42c0145a5f63264a35804978f7762dbe",
	  "9da349d018565d744915412aed9ffcb2" },
	{ "aes-cbc-plain64", 256, "4c32b29621326a8bd781ee940aae2c9b",
	  "6f05d9fd6bf7e643ba808c677c0e7423" },
	{ "aes-cbc-plain64be", 256, "4a75c550f127da50a9648f4b9b377dfd",
	  "39589e6bc7d2e4fd5be3c2a64a199963" },
	{ "aes-cbc-null", 256, "d05d67e003c8a374a589ef3596f3a1a4",
	  "0bc1fc2951b3e066be3bcf1319c64f7c" },
	{ "aes-cbc-essiv:sha256", 256, "56956da19b3e88c15512063e88cf2f5c",
	  "b33a4a80dcde97cd348ceec7195fc908" },
	{ "aes-cbc-essiv:md5", 256, "974f6e1fd68b8217b091c4e145167368",
	  "241c09d29a5401282e6e87fe512d933b" },
	{ "aes-ecb", 256, "d05d67e003c8a374a589ef3596f3a1a4", "aa405dd4a7180174881f4df9b9d8903d" },
	{ "aes-xts-plain", 256, "5f526be948b8ea4b649e93b59b1e58f8",
	  "5caf09ba51ff36922fa1c34df8aece97" },
	{ "aes-xts-plain64", 256, "c530f1457781144e8c405ad3e4cc2284",
	  "8a5a7981f4b49b832235cf3c84337e2d" },
	{ "aes-xts-plain64be", 256, "36a43fc972e2267c1471f59be740f0f3",
	  "a5305037b52aebae9dda65e374ee9355" },
	{ "aes-xts-plain", 384, "d3ebbc509c8f00dccb6376a9b8237b71",
	  "1fe56107d526bcab8b9964188229ecf4" },
	{ "aes-xts-plain64", 384, "a4af768cc22df33d79acfd69545d5a44",
	  "f220fcdbc55c89f59312313a21c7c06c" },
	{ "aes-xts-plain64be", 384, "7d3e0e30e0dda8aaaa56de4ba9dbc0d7",
	  "6db6e61c612690d01105749d585b6a6c" },
	{ "aes-xts-plain", 512, "d53d9ab9bfa9b9307d37e79e7d7d1f3c",
	  "63660216945f20e51914e565b2e4a230" },
	{ "aes-xts-plain64", 512, "63ea4d9f3363607f725608d408e7d74d",
	  "4ca982305ff1432a0eb8870d035b4b16" },
	{ "aes-xts-plain64be", 512, "dfe65849d6e13c4c524578956b878dd6",
	  "de83af4bfc69ba0fc637cfe3c022056d" },
};

static void test_made(void **state)
{
	unsigned char key[64], text[512];

	(void)state;
	count_up(text, sizeof(text));
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (unsigned char)(0x40 + i);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		struct cipher_spec spec = spec_of(made[i].cipher, made[i].bits, 0);

		print_message("# %s %u\n", made[i].cipher, made[i].bits);
		check(&spec, key, 0x123456789, text, sizeof(text), made[i].head, made[i].tail);
	}
}

/* One IV per encryption sector; it counts 512-byte sectors whatever the sector size. */
static void test_sectors(void **state)
{
	struct cipher_spec small = spec_of("aes-cbc-plain64", 128, 512),
			   large = spec_of("aes-cbc-plain64", 128, 4096);
	unsigned char key[16], text[8192], a[8192], b[8192];
	struct reference *r;

	(void)state;
	memset(key, 7, sizeof(key));
	count_up(text, sizeof(text));
	assert_int_equal(reference_new(&small, key, &r), 0);
	assert_int_equal(reference_crypt(r, true, 100, text, a, 8192), 0);
	assert_int_equal(reference_crypt(r, true, 108, text + 4096, b, 512), 0);
	assert_memory_equal(a + 4096, b, 512);
	reference_free(r);
	assert_int_equal(reference_new(&large, key, &r), 0);
	assert_int_equal(reference_crypt(r, true, 100, text, b, 8192), 0);
	assert_memory_equal(
		a, b, 512); /* the chain starts equal and goes on where the small sector ends */
	assert_memory_not_equal(a + 512, b + 512, 512);
	assert_memory_equal(a + 4096, b + 4096, 512);
	reference_free(r);
}

static void test_lacking(void **state)
{
	static const struct {
		const char *cipher;
		unsigned int bits;
	} lacking[] = {
		{ "xchacha12,aes-adiantum-plain64", 256 },
		{ "serpent-xts-plain64", 512 },
		{ "aes-cbc-essiv:sha1", 128 },
		{ "aes-lrw-benbi", 256 },
		{ "aes:64-cbc-lmk", 128 },
		{ "aes-cbc-plain64", 512 },
		{ "aes-xts-plain64", 128 },
		{ "aes-cbc-benbi", 128 },
		{ "aes-xts-plain64", 0 },
	};
	struct reference *r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lacking); i++) {
		struct cipher_spec spec = spec_of(lacking[i].cipher, lacking[i].bits, 512);

		print_message("# %s %u\n", lacking[i].cipher, lacking[i].bits);
		assert_false(reference_has(&spec));
		assert_int_equal(reference_new(&spec, "", &r), -ENOTSUP);
		assert_null(r);
	}
	reference_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ieee1619), cmocka_unit_test(test_nist),
		cmocka_unit_test(test_made),     cmocka_unit_test(test_sectors),
		cmocka_unit_test(test_lacking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
