/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The record of a fill under way, as bytes and as a struct, and the list of bad ranges in it.
 * Pure; must not know where the slots are kept.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "core/fill_record.h"
#include "util/util.h"

#define VERSION 1u

/* Little-endian. Magic, version and kind stand where the record of a format has them. */
enum slot_at {
	AT_MAGIC = 0,
	AT_VERSION = 16,
	AT_KIND = 20,
	AT_SEQ = 24,
	AT_ID = 32,
	AT_DEVICE_SIZE = 48,
	AT_BLOCK = 56,
	AT_FLAGS = 60,
	AT_START = 64,
	AT_LENGTH = 72,
	AT_HEAD = 80,
	AT_WATERMARK = 88,
	AT_LAST_OFFSET = 96,
	AT_LAST_SHA256 = 104,
	AT_ENGINE = 136,
	AT_N_BAD = 152,
	AT_TEXT = 160,
	AT_BAD = 512,
	AT_SUM = 4092, /* CRC-32 of all before it */
};
_Static_assert(AT_BAD + 16 * FILL_BAD_MAX <= AT_SUM, "slot layout");
_Static_assert(AT_SUM + 4 == FILL_SLOT_SIZE, "slot layout");

enum slot_flags { FLAG_HEAD_DONE = 1, FLAG_HAS_LAST = 2 };

static const char magic[16] = RECORD_MAGIC;
static const char text[] = "hwluks: a fill was interrupted here. Run hwluks fill --resume on this device.";

/* --- ranges ----------------------------------------------------------------------------------- */

int fill_ranges_add(struct fill_ranges *l, uint64_t start, uint64_t len)
{
	uint64_t end = start + len;
	uint32_t i = 0, k;

	while (i < l->n && l->v[i].start + l->v[i].len < start)
		i++;
	/* i: the first that touches or lies behind; k: the first that is not merged */
	for (k = i; k < l->n && l->v[k].start <= end; k++) {
		uint64_t other = l->v[k].start + l->v[k].len;

		start = l->v[k].start < start ? l->v[k].start : start;
		end = other > end ? other : end;
	}
	if (k == i && l->n == FILL_BAD_MAX)
		return -ENOSPC;
	memmove(&l->v[i + 1], &l->v[k], (l->n - k) * sizeof(l->v[0]));
	l->n = l->n - k + i + 1;
	l->v[i] = (struct fill_range){ start, end - start };
	return 0;
}

uint64_t fill_ranges_bytes(const struct fill_ranges *l)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < l->n; i++)
		sum += l->v[i].len;
	return sum;
}

bool fill_ranges_touch(const struct fill_ranges *l, uint64_t start, uint64_t len)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (start < l->v[i].start + l->v[i].len && l->v[i].start < start + len)
			return true;
	return false;
}

/* --- slots ------------------------------------------------------------------------------------ */

void fill_record_encode(const struct fill_record *r, unsigned char out[FILL_SLOT_SIZE])
{
	uint32_t n = r->bad.n < FILL_BAD_MAX ? r->bad.n : FILL_BAD_MAX;

	memset(out, 0, FILL_SLOT_SIZE);
	memcpy(out + AT_MAGIC, magic, sizeof(magic));
	put_le(out + AT_VERSION, VERSION, 4);
	put_le(out + AT_KIND, FILL_RECORD_KIND, 4);
	put_le(out + AT_SEQ, r->seq, 8);
	memcpy(out + AT_ID, r->id, sizeof(r->id));
	put_le(out + AT_DEVICE_SIZE, r->device_size, 8);
	put_le(out + AT_BLOCK, r->block, 4);
	put_le(out + AT_FLAGS, (r->head_done ? FLAG_HEAD_DONE : 0) | (r->has_last ? FLAG_HAS_LAST : 0), 4);
	put_le(out + AT_START, r->start, 8);
	put_le(out + AT_LENGTH, r->length, 8);
	put_le(out + AT_HEAD, r->head, 8);
	put_le(out + AT_WATERMARK, r->watermark, 8);
	put_le(out + AT_LAST_OFFSET, r->last_offset, 8);
	memcpy(out + AT_LAST_SHA256, r->last_sha256, sizeof(r->last_sha256));
	str_copy((char *)out + AT_ENGINE, sizeof(r->engine), r->engine);
	put_le(out + AT_N_BAD, n, 4);
	memcpy(out + AT_TEXT, text, sizeof(text));
	for (uint32_t i = 0; i < n; i++) {
		put_le(out + AT_BAD + 16 * i, r->bad.v[i].start, 8);
		put_le(out + AT_BAD + 16 * i + 8, r->bad.v[i].len, 8);
	}
	put_le(out + AT_SUM, crc32_of(out, AT_SUM), 4);
}

/* The checksum is no proof of origin: what the numbers say must be possible. */
static bool sane(const struct fill_record *r)
{
	uint64_t end = r->start + r->length, first = r->start + r->head;

	return r->length && end > r->start && end <= r->device_size && r->head <= r->length &&
	       r->watermark >= first && r->watermark <= end && r->block && r->block <= 65536 &&
	       (!r->has_last || (r->last_offset >= first && r->last_offset + FILL_SLOT_SIZE <= r->watermark));
}

static bool decode_bad(const unsigned char *in, struct fill_record *r)
{
	uint64_t n = get_le(in + AT_N_BAD, 4), before = 0;

	if (n > FILL_BAD_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct fill_range b = { get_le(in + AT_BAD + 16 * i, 8), get_le(in + AT_BAD + 16 * i + 8, 8) };

		if (!b.len || b.start + b.len < b.start || b.start + b.len > r->device_size ||
		    (i && b.start <= before))
			return false;
		before = b.start + b.len;
		r->bad.v[i] = b;
	}
	r->bad.n = (uint32_t)n;
	return true;
}

int fill_record_decode(const unsigned char in[FILL_SLOT_SIZE], struct fill_record *r)
{
	uint64_t flags;

	memset(r, 0, sizeof(*r));
	if (memcmp(in, magic, sizeof(magic)) != 0 || get_le(in + AT_KIND, 4) != FILL_RECORD_KIND)
		return -ENOENT;
	if (get_le(in + AT_SUM, 4) != crc32_of(in, AT_SUM))
		return -EBADMSG;
	if (get_le(in + AT_VERSION, 4) != VERSION)
		return -ENOTSUP;
	flags = get_le(in + AT_FLAGS, 4);
	r->seq = get_le(in + AT_SEQ, 8);
	memcpy(r->id, in + AT_ID, sizeof(r->id));
	r->device_size = get_le(in + AT_DEVICE_SIZE, 8);
	r->block = (uint32_t)get_le(in + AT_BLOCK, 4);
	r->head_done = flags & FLAG_HEAD_DONE;
	r->has_last = flags & FLAG_HAS_LAST;
	r->start = get_le(in + AT_START, 8);
	r->length = get_le(in + AT_LENGTH, 8);
	r->head = get_le(in + AT_HEAD, 8);
	r->watermark = get_le(in + AT_WATERMARK, 8);
	r->last_offset = get_le(in + AT_LAST_OFFSET, 8);
	memcpy(r->last_sha256, in + AT_LAST_SHA256, sizeof(r->last_sha256));
	memcpy(r->engine, in + AT_ENGINE, strnlen((const char *)in + AT_ENGINE, sizeof(r->engine) - 1));
	return sane(r) && decode_bad(in, r) ? 0 : -EBADMSG;
}

int fill_record_choose(const unsigned char a[FILL_SLOT_SIZE], const unsigned char b[FILL_SLOT_SIZE],
		       struct fill_record *out)
{
	struct fill_record other;
	int ra = fill_record_decode(a, out), rb = fill_record_decode(b, &other);

	if (!rb && (ra || other.seq > out->seq)) {
		*out = other;
		return 0;
	}
	return ra == -ENOENT ? rb : ra;
}

uint64_t fill_record_slot(uint64_t seq)
{
	return seq % FILL_SLOTS * FILL_SLOT_GAP;
}

uint64_t fill_record_done(const struct fill_record *r)
{
	return r->watermark - r->start - (r->head_done ? 0 : r->head);
}
