/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The record of a fill under way: how far it came, so that it can be resumed. Two slots take turns.
 * Pure: bytes in, struct out. Never holds a key; must not know devices.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define FILL_SLOT_SIZE 4096u
#define FILL_SLOTS     2u
#define FILL_SLOT_GAP  65536u /* from slot to slot: more than any block that a device tears */
#define FILL_BAD_MAX   128u   /* ranges; a device with more of them is not worth filling */
#define RECORD_MAGIC   "hwluks-record\r\n" /* of the records of a format, too; 16 bytes with its end */
/* In the field where vol/record.c has the LUKS type: one family, told apart by it. */
#define FILL_RECORD_KIND 0x6c6c6966u /* "fill" */

struct fill_range {
	uint64_t start, len; /* bytes of the device */
};
/* Sorted, none touching the next. */
struct fill_ranges {
	struct fill_range v[FILL_BAD_MAX];
	uint32_t n;
};
/* Adds a range and merges what touches. 0, or -ENOSPC when the list is full (and then unchanged). */
int fill_ranges_add(struct fill_ranges *l, uint64_t start, uint64_t len);
uint64_t fill_ranges_bytes(const struct fill_ranges *l);
/* True when the range and one of the list share a byte. */
bool fill_ranges_touch(const struct fill_ranges *l, uint64_t start, uint64_t len);

struct fill_record {
	unsigned char id[16]; /* random, one per fill; kept by a resume */
	uint64_t seq;         /* counts up with each write; its parity names the slot */
	uint64_t device_size; /* bytes */
	uint32_t block;       /* logical block, bytes */
	uint64_t start, length; /* what is to be filled, bytes */
	uint64_t head;        /* bytes at the start that are filled last; 0 with a state file */
	uint64_t watermark;   /* all from start + head to here is filled, and on the medium */
	bool head_done;       /* the head is filled, too, all but the two slots */
	uint64_t last_offset; /* of the 4096 bytes that end at or before the watermark; 0 with no sum: none yet */
	bool has_last;
	unsigned char last_sha256[32];
	char engine[16];
	struct fill_ranges bad;
};
/* The 4096 bytes of a slot. */
void fill_record_encode(const struct fill_record *r, unsigned char out[FILL_SLOT_SIZE]);
/* 0, -ENOENT (no fill's record), -EBADMSG (damaged or contradicts itself), -ENOTSUP (a later version). */
int fill_record_decode(const unsigned char in[FILL_SLOT_SIZE], struct fill_record *r);
/*
 * The newer of two slots. 0 with *out filled; else as decode, -EBADMSG before -ENOENT. One torn slot is what
 * an interruption leaves: no error while the other one is whole.
 */
int fill_record_choose(const unsigned char a[FILL_SLOT_SIZE], const unsigned char b[FILL_SLOT_SIZE],
		       struct fill_record *out);
/* Byte of the device where this record's slot is (its parity), from the record's own start. */
uint64_t fill_record_slot(uint64_t seq);
/* Bytes that are filled, of length. */
uint64_t fill_record_done(const struct fill_record *r);
