/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* dm-crypt table lines: what a kernel prints, and what nobody should. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/crypt_table.h"
#include "util/util.h"

#define KEY16 "a0b1c2d3e4f5061728394a5b6c7d8e9f"
#define KEY32 KEY16 KEY16
#define KEY64 KEY32 KEY32

static const struct {
	const char *text, *cipher, *device, *flags;
	unsigned int key_bits, sector_size;
	uint64_t iv_offset, offset;
	bool keyring, unknown;
} good[] = {
	{ "aes-cbc-essiv:sha256 " KEY16 " 0 253:1 32768", "aes-cbc-essiv:sha256", "253:1", "", 128,
	  512, 0, 32768 },
	{ "aes-xts-plain64 " KEY64 " 7 8:17 0 1 allow_discards", "aes-xts-plain64", "8:17",
	  "allow_discards", 512, 512, 7 },
	{ "aes-xts-plain64 :64:logon:cryptsetup:1b2c-d0 0 7:0 32768 2 sector_size:4096 no_read_workqueue",
	  "aes-xts-plain64", "7:0", "no_read_workqueue", 512, 4096, 0, 32768, true },
	{ "capi:xts(ecb-aes-geode)-plain64 " KEY32 " 0 1:0 0 2 iv_large_sectors high_priority",
	  "capi:xts(ecb-aes-geode)-plain64", "1:0", "high_priority iv_large_sectors", 256, 512 },
	{ "xchacha12,aes-adiantum-plain64 " KEY32
	  " 0 /dev/sda2 0 3 same_cpu_crypt submit_from_crypt_cpus no_write_workqueue",
	  "xchacha12,aes-adiantum-plain64", "/dev/sda2",
	  "same_cpu_crypt submit_from_crypt_cpus no_write_workqueue", 256, 512 },
	{ "aes-xts-plain64 - 0 253:1 0", "aes-xts-plain64", "253:1", "", 0, 512 },
	{ "aes-xts-plain64 - 0 253:1 0 0\n", "aes-xts-plain64", "253:1", "", 0, 512 },
	{ "aes-xts-random " KEY32 " 0 253:1 0 2 integrity:48:hmac(sha256) integrity_key_size:32",
	  "aes-xts-random", "253:1", "", 256, 512 },
	{ "aes-xts-plain64 " KEY32
	  " 18446744073709551615 253:1 18446744073709551615 1 from_the_future:7",
	  "aes-xts-plain64", "253:1", "", 256, 512, UINT64_MAX, UINT64_MAX, false, true },
	{ "  aes-cbc-plain\t" KEY16 "  0 253:1\t0  ", "aes-cbc-plain", "253:1", "", 128, 512 },
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		char *text = strdup(good[i].text), flags[160];
		struct crypt_table t;

		print_message("# %s\n", good[i].cipher);
		assert_int_equal(crypt_table_parse(text, &t), 0);
		assert_string_equal(t.cipher, good[i].cipher);
		assert_string_equal(t.device, good[i].device);
		assert_string_equal(crypt_flags_text(t.flags, flags, sizeof(flags)), good[i].flags);
		assert_int_equal(t.key_bits, good[i].key_bits);
		assert_int_equal(t.sector_size, good[i].sector_size);
		assert_int_equal(t.iv_offset, good[i].iv_offset);
		assert_int_equal(t.offset, good[i].offset);
		assert_int_equal(t.keyring, good[i].keyring);
		assert_int_equal(t.unknown_args, good[i].unknown);
		/* no eight digits of the key stay anywhere */
		assert_null(memmem(text, strlen(good[i].text), "e4f50617", 8));
		assert_null(memmem(&t, sizeof(t), "e4f50617", 8));
		free(text);
	}
}

static void test_parts(void **state)
{
	char integrity[] = "aes-xts-random " KEY32 " 0 253:1 0 1 integrity:48:hmac(sha256)";
	char logon[] = "aes-xts-plain64 :32:logon:cryptsetup:x 0 253:1 0";
	struct crypt_table t;

	(void)state;
	assert_int_equal(crypt_table_parse(integrity, &t), 0);
	assert_int_equal(t.tag_size, 48);
	assert_string_equal(t.integrity, "hmac(sha256)");
	assert_int_equal(crypt_table_parse(logon, &t), 0);
	assert_string_equal(t.key_type, "logon");
	assert_string_equal(crypt_flag_name(CRYPT_FLAG_NO_WRITE_WORKQUEUE), "no_write_workqueue");
	assert_null(crypt_flag_name(0x4000));
}

static const char *const bad[] = {
	"",
	" ",
	"aes-xts-plain64",
	"aes-xts-plain64 " KEY32,
	"aes-xts-plain64 " KEY32 " 0",
	"aes-xts-plain64 " KEY32 " 0 253:1",
	KEY32,                                  /* a key where the cipher should be */
	"aes-xts-plain64 " KEY32 " 0 253:1 x",  /* not a number */
	"aes-xts-plain64 " KEY32 " -1 253:1 0", /* negative */
	"aes-xts-plain64 " KEY32 " 18446744073709551616 253:1 0", /* one too many */
	"aes-xts-plain64 " KEY32 "g 0 253:1 0",                   /* not hex */
	"aes-xts-plain64 " KEY32 "a 0 253:1 0",                   /* half a byte */
	"aes-xts-plain64 " KEY32 " 0 253:1 0 2 allow_discards",   /* one argument short */
	"aes-xts-plain64 " KEY32 " 0 253:1 0 1 allow_discards more",
	"aes-xts-plain64 " KEY32 " 0 253:1 0 65 a",
	"aes-xts-plain64 " KEY32 " 0 253:1 0 1 sector_size:513",
	"aes-xts-plain64 " KEY32 " 0 253:1 0 1 sector_size:8192",
	"aes-xts-plain64 " KEY32 " 0 253:1 0 1 sector_size:",
	"aes-xts-plain64 " KEY32 " 0 253:1 0 1 integrity:28",
	"aes-xts-plain64 :32 0 253:1 0",
	"aes-xts-plain64 :32:logon 0 253:1 0",
	"aes-xts-plain64 :32:logon: 0 253:1 0",
	"aes-xts-plain64 :32::x 0 253:1 0",
	"aes-xts-plain64 :x:logon:x 0 253:1 0",
	"aes-xts-plain64 : 0 253:1 0",
	"aes-xts-plain64 :4294967297:logon:x 0 253:1 0",
	"aes-xts-plain64 :32:a-key-type-that-is-too-long:x 0 253:1 0",
};

static void test_bad(void **state)
{
	static const struct crypt_table zero;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *text = strdup(bad[i]);
		struct crypt_table t;

		print_message("# %s\n", bad[i]);
		assert_int_equal(crypt_table_parse(text, &t), -EINVAL);
		assert_memory_equal(&t, &zero, sizeof(t));
		assert_null(memmem(text, strlen(bad[i]) + 1, "e4f50617", 8));
		free(text);
	}
}

static void test_long(void **state)
{
	char *text = xcalloc(1, 20000);
	struct crypt_table t;

	(void)state;
	memset(text, 'a', 300);
	strcpy(text + 300, " 00 0 253:1 0");
	assert_int_equal(crypt_table_parse(text, &t), -EINVAL);
	strcpy(text, "aes-xts-plain64 ");
	memset(text + 16, 'a', 2 * 4096 + 2);
	strcpy(text + 16 + 2 * 4096 + 2, " 0 253:1 0");
	assert_int_equal(crypt_table_parse(text, &t), -EINVAL);
	assert_null(strstr(text, "aaaa"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
