/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The record of a fill on its medium: two slots, written in turn, each on the medium before the next.
 * Must not know what the numbers in it lead to.
 */
#include "fill/fill.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is shorter than a slot has none. */
static int read_slot(int fd, unsigned int slot, unsigned char *buf)
{
	ssize_t n;

	memset(buf, 0, FILL_SLOT_SIZE);
	do
		n = pread(fd, buf, FILL_SLOT_SIZE, (off_t)slot * FILL_SLOT_GAP);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int fill_slots_read(int fd, struct fill_record *out)
{
	unsigned char slot[FILL_SLOTS][FILL_SLOT_SIZE];
	int err[FILL_SLOTS], r;

	for (unsigned int i = 0; i < FILL_SLOTS; i++)
		err[i] = read_slot(fd, i, slot[i]);
	r = fill_record_choose(slot[0], slot[1], out);
	/* one slot that cannot be read is as good as torn */
	return r != -ENOENT ? r : err[0] ? err[0] : err[1] ? err[1] : r;
}

int fill_slots_write(int fd, const struct fill_record *r)
{
	unsigned char *buf = fill_buffer(FILL_SLOT_SIZE);
	ssize_t n;
	int err;

	fill_record_encode(r, buf);
	do
		n = pwrite(fd, buf, FILL_SLOT_SIZE, (off_t)fill_record_slot(r->seq));
	while (n < 0 && errno == EINTR);
	err = n < 0 ? -errno : n == FILL_SLOT_SIZE ? 0 : -EIO;
	if (!err && fdatasync(fd))
		err = -errno;
	free(buf);
	return err;
}

int fill_slots_check_last(const struct fill_io *io, const struct fill_record *r)
{
	unsigned char *buf, sum[32];
	int err;

	if (!r->has_last)
		return 0;
	buf = fill_buffer(FILL_SLOT_SIZE);
	err = fill_io_read(io, buf, FILL_SLOT_SIZE, r->last_offset);
	if (!err && EVP_Digest(buf, FILL_SLOT_SIZE, sum, NULL, EVP_sha256(), NULL) != 1)
		err = -EIO;
	if (!err && memcmp(sum, r->last_sha256, sizeof(sum)) != 0)
		err = -ESTALE;
	free(buf);
	return err;
}
