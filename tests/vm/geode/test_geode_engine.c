// SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
/*
 * For: the Geode engine model against libcrypto and the standard's own vectors, driven through its
 *      registers exactly as the kernel's driver does.
 * Must not know: QEMU or the socket.
 */
#include "geode-engine.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>

#define RAM 0x10000u
#define BAR 0xfebf0000u

enum { ECB_DEC, ECB_ENC, CBC_DEC, CBC_ENC };

static uint8_t ram[RAM];
static struct geode g;

static uint8_t *dma(void *opaque, uint32_t addr, uint32_t len)
{
	(void)opaque;
	return (uint64_t)addr + len <= RAM ? ram + addr : NULL;
}

static void start_with(const char *fault)
{
	struct geode_fault f;

	assert_int_equal(geode_fault_parse(fault, &f), 0);
	geode_init(&g, &f, dma, NULL);
	memset(ram, 0, sizeof(ram));
}

/* A repeatable stream of bytes; a test that fails must fail again. */
static void fill(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24);
	}
}

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_regs(uint32_t reg, const uint8_t *bytes)
{
	for (unsigned int i = 0; i < 4; i++)
		geode_bar_write(&g, BAR + reg + 4 * i, le32(bytes + 4 * i), 4);
}

static void get_regs(uint32_t reg, uint8_t *bytes)
{
	for (unsigned int i = 0; i < 16; i++)
		bytes[i] = (uint8_t)(geode_bar_read(&g, BAR + reg + (i & ~3u), 4) >> 8 * (i & 3));
}

/* One operation as geode_aes_crypt() of the kernel does it. Returns whether the poll ended. */
static bool operate(int mode, const uint8_t *key, uint8_t *iv, uint32_t src, uint32_t dst,
                    uint32_t len)
{
	const uint32_t ctrl = 0x1d | (mode & 1 ? 0x02 : 0) | (mode & 2 ? 0x20 : 0);
	bool done;

	if (mode & 2)
		put_regs(0x40, iv);
	put_regs(0x30, key);
	geode_bar_write(&g, BAR + 0x10, src, 4);
	geode_bar_write(&g, BAR + 0x14, dst, 4);
	geode_bar_write(&g, BAR + 0x18, len, 4);
	geode_bar_write(&g, BAR + 0x00, ctrl, 4);
	done = geode_bar_read(&g, BAR + 0x08, 4) & 0x10000;
	geode_bar_write(&g, BAR + 0x08, 0x10000, 4);
	assert_int_equal(geode_bar_read(&g, BAR + 0x08, 4), 0);
	if (mode & 2)
		get_regs(0x40, iv);
	return done;
}

/* The same by libcrypto. */
static void expected(int mode, const uint8_t *key, const uint8_t *iv, const uint8_t *in,
                     uint8_t *out, size_t len)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n = 0;

	assert_non_null(c);
	assert_int_equal(EVP_CipherInit_ex(c, mode & 2 ? EVP_aes_128_cbc() : EVP_aes_128_ecb(),
	                                   NULL, key, iv, mode & 1),
	                 1);
	EVP_CIPHER_CTX_set_padding(c, 0);
	assert_int_equal(EVP_CipherUpdate(c, out, &n, in, (int)len), 1);
	assert_int_equal(n, len);
	EVP_CIPHER_CTX_free(c);
}

static void test_standard_vector(void **state)
{
	/* FIPS 197, appendix C.1 */
	static const uint8_t plain[16] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
		                           0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
	static const uint8_t cipher[16] = { 0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
		                            0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a };
	uint8_t key[16];

	(void)state;
	for (unsigned int i = 0; i < 16; i++)
		key[i] = (uint8_t)i;
	start_with("none");
	memcpy(ram, plain, 16);
	assert_true(operate(ECB_ENC, key, NULL, 0, 64, 16));
	assert_memory_equal(ram + 64, cipher, 16);
	assert_true(operate(ECB_DEC, key, NULL, 64, 128, 16));
	assert_memory_equal(ram + 128, plain, 16);
}

/* Every mode, several lengths, apart and in place, against libcrypto; the IV that comes back too.
 */
static void test_against_libcrypto(void **state)
{
	static const uint32_t lengths[] = { 16, 32, 48, 512, 1024, 4096 };
	uint8_t key[16], iv[16], was[16], in[4096], want[4096];
	uint32_t seed = 1;

	(void)state;
	start_with("none");
	for (int mode = ECB_DEC; mode <= CBC_ENC; mode++) {
		for (unsigned int i = 0; i < 6 * 2 * 8; i++, seed++) {
			const uint32_t len = lengths[i % 6], src = 0x1000;
			const uint32_t dst = i & 1 ? src : 0x4000;

			fill(key, 16, seed);
			fill(iv, 16, seed + 1000);
			fill(in, len, seed + 2000);
			memcpy(was, iv, 16);
			memcpy(ram + src, in, len);
			memset(ram + dst + len, 0xa5, 16);
			assert_true(operate(mode, key, iv, src, dst, len));
			expected(mode, key, was, in, want, len);
			assert_memory_equal(ram + dst, want, len);
			for (unsigned int j = 0; j < 16; j++)
				assert_int_equal(ram[dst + len + j], 0xa5);
			if (mode & 2)
				assert_memory_equal(iv, (mode & 1 ? want : in) + len - 16, 16);
		}
	}
	assert_int_equal(g.rejected, 0);
}

static void expect_counts(const uint32_t want[8])
{
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(geode_config_read(&g, GEODE_CONFIG_COUNTS + 4 * i, 4), want[i]);
}

static void test_counters(void **state)
{
	uint8_t key[16] = { 1 }, iv[16] = { 2 };

	(void)state;
	start_with("none");
	expect_counts((const uint32_t[8]){ 0 });
	operate(ECB_DEC, key, iv, 0, 0, 16);
	operate(ECB_ENC, key, iv, 0, 0, 32);
	operate(ECB_ENC, key, iv, 0, 0, 32);
	operate(CBC_DEC, key, iv, 0, 0, 512);
	for (unsigned int i = 0; i < 3; i++)
		operate(CBC_ENC, key, iv, 0, 0, 4096);
	expect_counts((const uint32_t[8]){ 1, 16, 2, 64, 1, 512, 3, 12288 });
	geode_reset(&g);
	expect_counts((const uint32_t[8]){ 1, 16, 2, 64, 1, 512, 3, 12288 });
	/* not the guest's to change */
	geode_config_write(&g, GEODE_CONFIG_COUNTS, 0, 4);
	expect_counts((const uint32_t[8]){ 1, 16, 2, 64, 1, 512, 3, 12288 });
}

/* Requests that no engine could serve are neither done nor counted, and touch nothing. */
static void test_rejects(void **state)
{
	static const struct {
		uint32_t src, dst, len;
	} row[] = {
		{ 0, 0, 0 },         { 0, 0, 8 },           { 0, 0, 24 },
		{ RAM, 0, 16 },      { 0, RAM, 16 },        { RAM - 16, 0, 32 },
		{ 0, RAM - 16, 32 }, { 0xfffffff0, 0, 16 }, { 0, 0xffffffff, 16 },
	};
	uint8_t key[16] = { 1 }, iv[16] = { 2 }, zero[RAM] = { 0 };

	(void)state;
	start_with("none");
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		assert_false(operate(CBC_ENC, key, iv, row[i].src, row[i].dst, row[i].len));
		assert_int_equal(g.rejected, i + 1);
	}
	expect_counts((const uint32_t[8]){ 0 });
	assert_memory_equal(ram, zero, RAM);
	/* the hidden key is not modelled */
	geode_bar_write(&g, BAR + 0x18, 16, 4);
	geode_bar_write(&g, BAR, 0x03, 4);
	assert_int_equal(geode_bar_read(&g, BAR + 0x08, 4), 0);
}

static void test_registers(void **state)
{
	(void)state;
	start_with("none");
	/* what the driver's probe writes: clear both done bits, set the mask */
	geode_bar_write(&g, BAR + 0x08, 0x30007, 4);
	assert_int_equal(geode_bar_read(&g, BAR + 0x08, 4), 7);
	/* other widths, odd addresses and what lies behind the registers read as zero, write
	 * nothing */
	geode_bar_write(&g, BAR + 0x30, 0x12345678, 4);
	assert_int_equal(geode_bar_read(&g, BAR + 0x30, 4), 0x12345678);
	geode_bar_write(&g, BAR + 0x30, 0, 1);
	geode_bar_write(&g, BAR + 0x31, 0, 4);
	assert_int_equal(geode_bar_read(&g, BAR + 0x30, 4), 0x12345678);
	assert_int_equal(geode_bar_read(&g, BAR + 0x30, 2), 0);
	geode_bar_write(&g, BAR + 0x60, 1, 4);
	assert_int_equal(geode_bar_read(&g, BAR + 0x60, 4), 0);
	assert_int_equal(geode_bar_read(&g, BAR + 0x3ffc, 4), 0);
	/* the start bit is never read back */
	geode_bar_write(&g, BAR, 0x3f, 4);
	assert_int_equal(geode_bar_read(&g, BAR, 4) & 1, 0);
}

/* What QEMU does with a proxied device at its start, then what the guest's PCI code does. */
static void test_config_space(void **state)
{
	(void)state;
	start_with("none");
	assert_int_equal(geode_config_read(&g, 0x00, 2), 0x1022);
	assert_int_equal(geode_config_read(&g, 0x02, 2), 0x2082);
	assert_int_equal(geode_config_read(&g, 0x0a, 2), 0x1010);
	assert_int_equal(geode_config_read(&g, 0x2c, 4), 0x20821022);
	assert_int_equal(geode_config_read(&g, 0x3d, 1), 1);
	for (uint32_t off = 0x10; off <= 0x28; off += 4) {
		const uint32_t was = geode_config_read(&g, off, 4);

		geode_config_write(&g, off, 0xffffffff, 4);
		assert_int_equal(geode_config_read(&g, off, 4), off == 0x10 ? 0xffffc000 : 0);
		geode_config_write(&g, off, was, 4);
		assert_int_equal(geode_config_read(&g, off, 4), was);
	}
	geode_config_write(&g, 0x10, BAR, 4);
	geode_config_write(&g, 0x04, 0xffff, 2);
	assert_int_equal(geode_config_read(&g, 0x04, 2), 0x0547);
	geode_config_write(&g, 0x00, 0, 4);
	assert_int_equal(geode_config_read(&g, 0x00, 4), 0x20821022);
	geode_reset(&g);
	assert_int_equal(geode_config_read(&g, 0x10, 4), 0);
	assert_int_equal(geode_config_read(&g, 0x04, 2), 0);
	/* outside: zeros, and no harm */
	assert_int_equal(geode_config_read(&g, 0xfe, 4), 0);
	assert_int_equal(geode_config_read(&g, 0xffffffff, 4), 0);
	geode_config_write(&g, 0xfffffffe, 0xffffffff, 4);
	geode_config_write(&g, 0x1000, 1, 4);
}

/* Runs n requests of a mode and length; returns a bit per request: 1 where its data was wrong. */
static unsigned int wrong_data(int mode, uint32_t len, unsigned int n)
{
	uint8_t key[16] = { 7 }, iv[16], was[16], in[4096], want[4096];
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < n; i++) {
		fill(in, len, i + 1);
		fill(iv, 16, i + 100);
		memcpy(was, iv, 16);
		memcpy(ram, in, len);
		assert_true(operate(mode, key, iv, 0, 0, len));
		expected(mode, key, was, in, want, len);
		wrong |= (unsigned int)(memcmp(ram, want, len) != 0) << i;
	}
	return wrong;
}

static void test_data_faults(void **state)
{
	(void)state;
	start_with("data");
	for (int mode = ECB_DEC; mode <= CBC_ENC; mode++)
		assert_int_equal(wrong_data(mode, 16, 4), 0xf);
	assert_int_equal(geode_config_read(&g, GEODE_CONFIG_FAULTS, 4), 16);

	start_with("data,after=3");
	assert_int_equal(wrong_data(CBC_ENC, 512, 6), 0x38);

	start_with("data,min=512");
	assert_int_equal(wrong_data(CBC_ENC, 496, 4), 0);
	assert_int_equal(wrong_data(CBC_ENC, 512, 4), 0xf);
	assert_int_equal(wrong_data(CBC_DEC, 4096, 2), 0x3);

	/* short requests do not use up the grace */
	start_with("data,min=512,after=2");
	assert_int_equal(wrong_data(CBC_ENC, 16, 4), 0);
	assert_int_equal(wrong_data(CBC_ENC, 512, 4), 0xc);

	start_with("data,armed,after=1");
	assert_int_equal(wrong_data(CBC_ENC, 512, 4), 0);
	geode_config_write(&g, GEODE_CONFIG_ARM, 1, 1);
	assert_int_equal(wrong_data(CBC_ENC, 512, 3), 0x6);
	geode_config_write(&g, GEODE_CONFIG_ARM, 0, 1);
	assert_int_equal(wrong_data(CBC_ENC, 512, 3), 0);
}

static void test_iv_fault(void **state)
{
	uint8_t key[16] = { 7 }, iv[16] = { 9 };

	(void)state;
	start_with("iv");
	assert_int_equal(wrong_data(CBC_ENC, 512, 4), 0);
	assert_true(operate(CBC_ENC, key, iv, 0, 0, 64));
	assert_memory_not_equal(iv, ram + 48, 16);
}

static void test_hang(void **state)
{
	uint8_t key[16] = { 7 }, iv[16] = { 9 }, before[64];

	(void)state;
	start_with("hang,after=2");
	assert_true(operate(CBC_ENC, key, iv, 0, 0, 64));
	assert_true(operate(CBC_ENC, key, iv, 0, 0, 64));
	memcpy(before, ram, 64);
	assert_false(operate(CBC_ENC, key, iv, 0, 0, 64));
	assert_false(operate(ECB_ENC, key, iv, 0, 0, 64));
	assert_memory_equal(ram, before, 64);
	expect_counts((const uint32_t[8]){ 0, 0, 0, 0, 0, 0, 2, 128 });
	assert_int_equal(geode_config_read(&g, GEODE_CONFIG_FAULTS, 4), 2);
}

static void test_fault_parse(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"datax",
		"data,",
		"data,after",
		"data,after=",
		"data,after=x",
		"data,min=-1",
		"data,min=4294967296",
		"none,armed",
		"hang,,armed",
		"data,armed=1",
		"data ",
		"data,after=99999999999999999999",
	};
	struct geode_fault f;

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(geode_fault_parse(bad[i], &f), -EINVAL);
	assert_int_equal(geode_fault_parse("hang,after=12,min=512,armed", &f), 0);
	assert_int_equal(f.kind, GEODE_FAULT_HANG);
	assert_int_equal(f.after, 12);
	assert_int_equal(f.min_len, 512);
	assert_true(f.armed);
	assert_int_equal(geode_fault_parse("none", &f), 0);
	assert_int_equal(f.kind, GEODE_FAULT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standard_vector),
		cmocka_unit_test(test_against_libcrypto),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_rejects),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_config_space),
		cmocka_unit_test(test_data_faults),
		cmocka_unit_test(test_iv_fault),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_fault_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
