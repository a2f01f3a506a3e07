/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The record that names an interrupted format: 512 bytes in the device's first sector.
 * Must not know how a header is written, and never holds a key.
 */
#include "vol/vol.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

#include "core/fill_record.h"

#define RECORD_VERSION 1u
#define RECORD_BLOCK   4096u

/* Little-endian on the device. The text is for whoever looks at the sector with hexdump. */
enum record_at {
	AT_MAGIC = 0,
	AT_VERSION = 16,
	AT_TYPE = 20,
	AT_KEY_BITS = 24,
	AT_SECTOR_SIZE = 28,
	AT_UUID = 32,
	AT_SPEC = 72,
	AT_DEVICE_SIZE = 168,
	AT_DATA_OFFSET = 176,
	AT_IMAGE_LEN = 184,
	AT_LAST_OFFSET = 192,
	AT_LAST_LEN = 200,
	AT_N_GIVEN = 204,
	AT_WHEN = 208,
	AT_LAST_SHA256 = 216,
	AT_GIVEN = 248,
	AT_TEXT = 344,
	AT_SUM = 480, /* SHA-256 of all before it */
};
_Static_assert(AT_UUID + VOL_UUID_MAX == AT_SPEC, "record layout");
_Static_assert(AT_SPEC + sizeof(((struct record *)0)->spec) == AT_DEVICE_SIZE, "record layout");
_Static_assert(AT_GIVEN + 16 * RECORD_GIVEN_MAX == AT_TEXT, "record layout");
_Static_assert(AT_SUM + 32 == RECORD_SIZE, "record layout");

static const char record_magic[16] = RECORD_MAGIC;
static const char record_text[] =
	"hwluks: this format was interrupted. Run hwluks format on this device again.";

static void sha256(const void *data, size_t len, unsigned char out[32])
{
	if (EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL) != 1)
		memset(out, 0, 32);
}

static void encode_given(const struct record *r, unsigned char *out)
{
	uint32_t n = r->n_given < RECORD_GIVEN_MAX ? r->n_given : RECORD_GIVEN_MAX;

	put_le(out + AT_N_GIVEN, n, 4);
	for (uint32_t i = 0; i < n; i++) {
		put_le(out + AT_GIVEN + 16 * i, r->given[i].offset, 8);
		put_le(out + AT_GIVEN + 16 * i + 8, r->given[i].sum, 4);
	}
}

void record_encode(const struct record *r, unsigned char out[RECORD_SIZE])
{
	memset(out, 0, RECORD_SIZE);
	memcpy(out + AT_MAGIC, record_magic, sizeof(record_magic));
	put_le(out + AT_VERSION, RECORD_VERSION, 4);
	put_le(out + AT_TYPE, r->type, 4);
	put_le(out + AT_KEY_BITS, r->key_bits, 4);
	put_le(out + AT_SECTOR_SIZE, r->sector_size, 4);
	str_copy((char *)out + AT_UUID, sizeof(r->uuid), r->uuid);
	str_copy((char *)out + AT_SPEC, sizeof(r->spec), r->spec);
	put_le(out + AT_DEVICE_SIZE, r->device_size, 8);
	put_le(out + AT_DATA_OFFSET, r->data_offset, 8);
	put_le(out + AT_IMAGE_LEN, r->image_len, 8);
	put_le(out + AT_LAST_OFFSET, r->last_offset, 8);
	put_le(out + AT_LAST_LEN, r->last_len, 4);
	put_le(out + AT_WHEN, (uint64_t)r->when, 8);
	memcpy(out + AT_LAST_SHA256, r->last_sha256, 32);
	encode_given(r, out);
	memcpy(out + AT_TEXT, record_text, sizeof(record_text));
	sha256(out, AT_SUM, out + AT_SUM);
}

static void decode_given(const unsigned char *in, struct record *r)
{
	for (uint32_t i = 0; i < r->n_given; i++) {
		r->given[i].offset = get_le(in + AT_GIVEN + 16 * i, 8);
		r->given[i].sum = (uint32_t)get_le(in + AT_GIVEN + 16 * i + 8, 4);
	}
}

/* The checksum is no proof of origin: nothing may be read past its field because of what the sector
 * says. */
static bool record_sane(const struct record *r)
{
	return (r->type == VOL_LUKS1 || r->type == VOL_LUKS2) && r->n_given <= RECORD_GIVEN_MAX &&
	       r->last_len <= RECORD_BLOCK;
}

int record_decode(const unsigned char in[RECORD_SIZE], struct record *r)
{
	unsigned char sum[32];

	memset(r, 0, sizeof(*r));
	if (memcmp(in, record_magic, sizeof(record_magic)))
		return -ENOENT;
	if (get_le(in + AT_TYPE, 4) == FILL_RECORD_KIND) /* of the same family, but not ours */
		return -ENOENT;
	sha256(in, AT_SUM, sum);
	if (memcmp(in + AT_SUM, sum, sizeof(sum)))
		return -EBADMSG;
	if (get_le(in + AT_VERSION, 4) != RECORD_VERSION)
		return -ENOTSUP;
	r->type = (enum vol_type)get_le(in + AT_TYPE, 4);
	r->key_bits = (unsigned int)get_le(in + AT_KEY_BITS, 4);
	r->sector_size = (unsigned int)get_le(in + AT_SECTOR_SIZE, 4);
	memcpy(r->uuid, in + AT_UUID, sizeof(r->uuid) - 1);
	memcpy(r->spec, in + AT_SPEC, sizeof(r->spec) - 1);
	r->device_size = get_le(in + AT_DEVICE_SIZE, 8);
	r->data_offset = get_le(in + AT_DATA_OFFSET, 8);
	r->image_len = get_le(in + AT_IMAGE_LEN, 8);
	r->last_offset = get_le(in + AT_LAST_OFFSET, 8);
	r->last_len = (uint32_t)get_le(in + AT_LAST_LEN, 4);
	r->n_given = (uint32_t)get_le(in + AT_N_GIVEN, 4);
	r->when = (int64_t)get_le(in + AT_WHEN, 8);
	memcpy(r->last_sha256, in + AT_LAST_SHA256, 32);
	if (!record_sane(r))
		return -EBADMSG;
	decode_given(in, r);
	return 0;
}

/* A short read is no record: the device is smaller than one. */
static int read_at(int fd, void *buf, size_t len, uint64_t offset)
{
	ssize_t n;

	do
		n = pread(fd, buf, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -ENODATA;
}

/*
 * With LUKS2 the volume opens from its second header copy before the record in the first one is
 * replaced: the block's hash decides which of the two it is.
 */
static bool record_is_complete(int fd, const struct record *r)
{
	unsigned char block[RECORD_BLOCK], sum[32];

	if (!r->last_offset || !r->last_len || read_at(fd, block, r->last_len, r->last_offset))
		return false;
	sha256(block, r->last_len, sum);
	return !memcmp(sum, r->last_sha256, sizeof(sum));
}

int record_read(int fd, struct record *r, enum record_state *state)
{
	unsigned char sector[RECORD_SIZE];
	int err;

	*state = RECORD_NONE;
	memset(r, 0, sizeof(*r));
	err = read_at(fd, sector, sizeof(sector), 0);
	if (!err)
		err = record_decode(sector, r);
	if (err == -ENOENT || err == -ENODATA)
		return 0;
	if (err)
		return err;
	*state = record_is_complete(fd, r) ? RECORD_COMPLETE : RECORD_INTERRUPTED;
	return 0;
}

int record_read_path(const char *path, struct record *r, enum record_state *state)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	return record_read(fd, r, state);
}

static int block_sum(int fd, uint64_t offset, uint64_t *block, uint32_t *sum)
{
	unsigned char buf[RECORD_BLOCK];
	ssize_t n;

	*sum = 0;
	*block = offset - offset % RECORD_BLOCK;
	n = pread(fd, buf, sizeof(buf), (off_t)*block);
	if (n <= 0)
		return n ? -errno : -ENODATA;
	*sum = crc32_of(buf, (size_t)n); /* the last block may be short */
	return 0;
}

int record_give(int fd, struct record *r, uint64_t offset)
{
	struct record_given g;
	int err = block_sum(fd, offset, &g.offset, &g.sum);

	if (err)
		return err;
	for (uint32_t i = 0; i < r->n_given; i++)
		if (r->given[i].offset == g.offset)
			return 0;
	if (r->n_given >= RECORD_GIVEN_MAX)
		return -ENOSPC;
	r->given[r->n_given++] = g;
	return 0;
}

bool record_covers(int fd, const struct record *r, uint64_t offset)
{
	uint64_t block;
	uint32_t sum;

	if (block_sum(fd, offset, &block, &sum))
		return false;
	for (uint32_t i = 0; i < r->n_given; i++)
		if (r->given[i].offset == block && r->given[i].sum == sum)
			return true;
	return false;
}
