/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * libFuzzer: two slots of a fill's record from any bytes; what is taken must make sense and survive a round trip.
 * Must not touch a device. The checksum is made right, or nothing would get past it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fill_record.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Magic and kind of a real record, then the input from byte 24 on, then the checksum. */
static void make_slot(unsigned char slot[FILL_SLOT_SIZE], const uint8_t *data, size_t size)
{
	static const struct fill_record empty;

	fill_record_encode(&empty, slot);
	memcpy(slot + 24, data, size < FILL_SLOT_SIZE - 28 ? size : FILL_SLOT_SIZE - 28);
	put_le(slot + FILL_SLOT_SIZE - 4, crc32_of(slot, FILL_SLOT_SIZE - 4), 4);
}

static void check(const struct fill_record *r)
{
	unsigned char slot[FILL_SLOT_SIZE];
	struct fill_record again;

	fill_record_encode(r, slot);
	if (fill_record_decode(slot, &again) || memcmp(r, &again, sizeof(again)) != 0)
		abort();
	if (r->start + r->length > r->device_size || fill_record_done(r) > r->length || r->bad.n > FILL_BAD_MAX)
		abort();
	for (uint32_t i = 1; i < r->bad.n; i++)
		if (r->bad.v[i].start <= r->bad.v[i - 1].start + r->bad.v[i - 1].len)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char a[FILL_SLOT_SIZE], b[FILL_SLOT_SIZE] = { 0 };
	struct fill_record r;

	make_slot(a, data, size);
	if (!fill_record_decode(a, &r))
		check(&r);
	memcpy(b, data, size < FILL_SLOT_SIZE ? size : FILL_SLOT_SIZE);
	if (!fill_record_choose(a, b, &r))
		check(&r);
	return 0;
}
