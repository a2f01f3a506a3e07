/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The record of a fill: to bytes and back, torn slots, contradictions; the list of bad ranges.
 * Must not touch a device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/fill_record.h"
#include "util/util.h"

#define MIB (1024ull * 1024)

static struct fill_record sample(uint64_t seq)
{
	struct fill_record r = { .seq = seq, .device_size = 64 * MIB, .block = 512, .length = 64 * MIB, .head = MIB,
				 .watermark = 8 * MIB, .last_offset = 8 * MIB - FILL_SLOT_SIZE, .has_last = true,
				 .engine = "aes" };

	memset(r.id, 7, sizeof(r.id));
	memset(r.last_sha256, 9, sizeof(r.last_sha256));
	assert_int_equal(fill_ranges_add(&r.bad, 2 * MIB, 512), 0);
	return r;
}

static void test_round_trip(void **state)
{
	struct fill_record r = sample(5), back;
	unsigned char slot[FILL_SLOT_SIZE];

	(void)state;
	fill_record_encode(&r, slot);
	assert_int_equal(fill_record_decode(slot, &back), 0);
	assert_memory_equal(&r, &back, sizeof(r));
	assert_int_equal(fill_record_done(&back), 7 * MIB);
	back.head_done = true;
	assert_int_equal(fill_record_done(&back), 8 * MIB);
}

/* What lies behind the end of the engine's name, under a checksum that is right, is no part of the record. */
static void test_name_ends(void **state)
{
	struct fill_record r = sample(5), back;
	unsigned char slot[FILL_SLOT_SIZE], *name;

	(void)state;
	fill_record_encode(&r, slot);
	name = memmem(slot, sizeof(slot), "aes", 4);
	assert_non_null(name);
	name[4] = 'x';
	put_le(slot + FILL_SLOT_SIZE - 4, crc32_of(slot, FILL_SLOT_SIZE - 4), 4);
	assert_int_equal(fill_record_decode(slot, &back), 0);
	assert_memory_equal(&r, &back, sizeof(r));
}

/* No byte of a slot may change unseen. */
static void test_every_flipped_bit(void **state)
{
	struct fill_record r = sample(1), back;
	unsigned char slot[FILL_SLOT_SIZE];

	(void)state;
	fill_record_encode(&r, slot);
	for (size_t i = 0; i < sizeof(slot); i++) {
		slot[i] ^= 1 << (i % 8);
		assert_int_not_equal(fill_record_decode(slot, &back), 0);
		slot[i] ^= 1 << (i % 8);
	}
	assert_int_equal(fill_record_decode(slot, &back), 0);
}

static void test_choose(void **state)
{
	struct fill_record r5 = sample(5), r6 = sample(6), out;
	unsigned char a[FILL_SLOT_SIZE], b[FILL_SLOT_SIZE], none[FILL_SLOT_SIZE] = { 0 };

	(void)state;
	fill_record_encode(&r6, a);
	fill_record_encode(&r5, b);
	assert_int_equal(fill_record_slot(6), 0);
	assert_int_equal(fill_record_slot(5), FILL_SLOT_GAP);
	assert_int_equal(fill_record_choose(a, b, &out), 0);
	assert_int_equal(out.seq, 6);
	assert_int_equal(fill_record_choose(b, a, &out), 0);
	assert_int_equal(out.seq, 6);
	/* half of it is old */
	memcpy(a + 2048, b + 2048, 2048);
	assert_int_equal(fill_record_choose(a, b, &out), 0);
	assert_int_equal(out.seq, 5);
	assert_int_equal(fill_record_choose(none, b, &out), 0);
	assert_int_equal(fill_record_choose(a, none, &out), -EBADMSG);
	assert_int_equal(fill_record_choose(none, a, &out), -EBADMSG);
	assert_int_equal(fill_record_choose(none, none, &out), -ENOENT);
}

/* A right checksum over numbers that cannot be. */
static void test_contradictions(void **state)
{
	static const struct {
		const char *name;
		uint64_t device_size, start, length, head, watermark, last_offset;
		uint32_t block;
	} bad[] = {
		{ "no length", 64 * MIB, 0, 0, 0, 0, 0, 512 },
		{ "beyond the device", 64 * MIB, 0, 65 * MIB, MIB, 8 * MIB, 7 * MIB, 512 },
		{ "wraps", UINT64_MAX, UINT64_MAX - 4096, 8192, 0, UINT64_MAX - 4096, 0, 512 },
		{ "head above length", 64 * MIB, 0, MIB, 2 * MIB, 2 * MIB, MIB, 512 },
		{ "watermark in the head", 64 * MIB, 0, 64 * MIB, MIB, 4096, 0, 512 },
		{ "watermark behind the end", 64 * MIB, 0, 32 * MIB, MIB, 33 * MIB, 8 * MIB, 512 },
		{ "no block", 64 * MIB, 0, 64 * MIB, MIB, 8 * MIB, 7 * MIB, 0 },
		{ "last block above the watermark", 64 * MIB, 0, 64 * MIB, MIB, 8 * MIB, 8 * MIB, 512 },
	};
	unsigned char slot[FILL_SLOT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct fill_record r = sample(1), back;

		r.bad.n = 0;
		r.device_size = bad[i].device_size;
		r.start = bad[i].start;
		r.length = bad[i].length;
		r.head = bad[i].head;
		r.watermark = bad[i].watermark;
		r.last_offset = bad[i].last_offset;
		r.block = bad[i].block;
		fill_record_encode(&r, slot);
		if (fill_record_decode(slot, &back) != -EBADMSG)
			fail_msg("%s", bad[i].name);
	}
}

static void test_ranges(void **state)
{
	struct fill_ranges l = { 0 };

	(void)state;
	assert_int_equal(fill_ranges_add(&l, 1000, 100), 0);
	assert_int_equal(fill_ranges_add(&l, 3000, 100), 0);
	assert_int_equal(fill_ranges_add(&l, 2000, 100), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.v[1].start, 2000);
	assert_int_equal(fill_ranges_add(&l, 1100, 900), 0); /* touches two */
	assert_int_equal(l.n, 2);
	assert_int_equal(l.v[0].start, 1000);
	assert_int_equal(l.v[0].len, 1100);
	assert_int_equal(fill_ranges_bytes(&l), 1200);
	assert_true(fill_ranges_touch(&l, 900, 101));
	assert_false(fill_ranges_touch(&l, 900, 100));
	assert_false(fill_ranges_touch(&l, 2100, 900));
	assert_int_equal(fill_ranges_add(&l, 1500, 10), 0); /* within */
	assert_int_equal(fill_ranges_bytes(&l), 1200);
	for (uint64_t i = 0; l.n < FILL_BAD_MAX; i++)
		assert_int_equal(fill_ranges_add(&l, 10000 + 100 * i, 10), 0);
	assert_int_equal(fill_ranges_add(&l, 5000, 10), -ENOSPC);
	assert_int_equal(l.n, FILL_BAD_MAX);
	assert_int_equal(fill_ranges_add(&l, 10010, 90), 0); /* merges, so there is room */
	assert_int_equal(l.n, FILL_BAD_MAX - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_name_ends),   cmocka_unit_test(test_every_flipped_bit),
		cmocka_unit_test(test_choose),	     cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
