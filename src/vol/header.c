/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The order in which a finished header image goes to a device, as data, and the loop that carries
 * it out. Must not know how the image was made, or ask anybody anything.
 *
 * The order, and why each step stands where it does:
 *
 *  1. The record, in one write with everything else by which the old content could still be
 *     found: the first block, an old LUKS2 secondary header at 0x4000 (or wherever its magic is),
 *     the btrfs magic at 64 KiB. So no system call leaves both the record and the old content
 *     recognisable: with a secondary header left, libcryptsetup would resurrect the old volume
 *     over the record; with that cleared first, a byte would have changed that nothing names. The
 *     record is in sector 0, the first to go; the rest of the first block is already what it will
 *     be at the end, so the last write changes one sector, and no device tears a sector.
 *  2. Zeros over signatures beyond the image (backup GPT, RAID at the end).
 *  3. Key slots, both JSON areas, zeros where the secondary binary header will be: nothing finds
 *     them yet.
 *  4. LUKS2: the secondary binary header. From here on the new volume opens, as the library looks
 *     there when the first block is no header. The record knows this block's hash, so its reader
 *     says "complete". All of it that is not zero is in one sector, and the rest was zeroed in 3:
 *     torn or whole, it is there or it is not.
 *  5. The first block, which replaces the record.
 *
 * A barrier (fdatasync) stands after each; within a step the order does not matter. Buffered
 * writes, not O_DIRECT: they need no alignment to the device's block size, keep the page cache that
 * blkid and udev read coherent, and the barrier both flushes the disk's own cache and reports what
 * could not be written.
 *
 * What is left: power lost in the middle of write 1, when that is longer than a block. The record
 * is then there, and an old signature may be, too: no data is lost, and a second format finishes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "sys/sys.h"
#include "vol/luks_private.h"

#define BLOCK       4096u
#define WRITE_CHUNK (4u << 20)

const uint64_t header_secondary_offsets[9] = { 0x4000,  0x8000,   0x10000,  0x20000, 0x40000,
	                                       0x80000, 0x100000, 0x200000, 0x400000 };

static const unsigned char magic_1[6] = { 'L', 'U', 'K', 'S', 0xba, 0xbe };
static const unsigned char magic_2[6] = { 'S', 'K', 'U', 'L', 0xba, 0xbe };

static uint64_t get_be(const unsigned char *p, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

static bool is_secondary_offset(uint64_t offset)
{
	for (size_t i = 0; i < ARRAY_SIZE(header_secondary_offsets); i++)
		if (header_secondary_offsets[i] == offset)
			return true;
	return false;
}

int header_layout(const unsigned char *image, uint64_t image_len, struct header_layout *out)
{
	unsigned int version;

	memset(out, 0, sizeof(*out));
	if (image_len <= BLOCK || memcmp(image, magic_1, sizeof(magic_1)))
		return -EINVAL;
	version = (unsigned int)get_be(image + 6, 2);
	out->bin_len = BLOCK;
	out->image_len = image_len;
	if (version == 1) {
		out->type = VOL_LUKS1;
		return 0;
	}
	out->type = VOL_LUKS2;
	out->hdr_size = get_be(image + 8, 8);
	if (version != 2 || !is_secondary_offset(out->hdr_size) || 2 * out->hdr_size > image_len)
		return -EINVAL;
	return memcmp(image + out->hdr_size, magic_2, sizeof(magic_2)) ? -EINVAL : 0;
}

bool header_has_secondary(int fd, uint64_t offset)
{
	unsigned char magic[sizeof(magic_2)];

	return pread(fd, magic, sizeof(magic), (off_t)offset) == (ssize_t)sizeof(magic) &&
	       !memcmp(magic, magic_2, sizeof(magic));
}

/* --- the plan ------------------------------------------------------------------------------------
 */

static void add(struct header_writes *w, enum write_what what, uint64_t offset, uint64_t len)
{
	if (!len)
		return;
	w->v = xreallocarray(w->v, w->n + 1, sizeof(*w->v));
	w->v[w->n++] = (struct header_write){ .what = what, .offset = offset, .len = len };
}

static void barrier(struct header_writes *w)
{
	if (w->n)
		w->v[w->n - 1].barrier = true;
}

/*
 * End of what the first write must cover: signatures within the image, and old secondary headers
 * also beyond it (metadata of 4 MiB, and LUKS1 now).
 */
static uint64_t record_write_len(const struct header_layout *l, const struct header_stale *stale,
                                 size_t n)
{
	uint64_t image_part = l->bin_len, end = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t e = stale[i].offset + stale[i].len;

		if (stale[i].luks2 && e > end)
			end = e;
		if (stale[i].offset < l->image_len && e > image_part)
			image_part = e < l->image_len ? e : l->image_len;
	}
	if (image_part > end)
		end = image_part;
	return (end + BLOCK - 1) / BLOCK * BLOCK;
}

/* The part of signatures that the image does not reach. */
static void add_beyond(const struct header_layout *l, const struct header_stale *stale, size_t n,
                       struct header_writes *out)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t from = stale[i].offset, to = from + stale[i].len;

		if (stale[i].luks2 || to <= l->image_len)
			continue;
		if (from < l->image_len)
			from = l->image_len;
		add(out, WRITE_CLEAR_SIGNATURE, from, to - from);
	}
	barrier(out);
}

void header_plan_writes(const struct header_layout *l, const struct header_stale *stale,
                        size_t n_stale, struct header_writes *out)
{
	memset(out, 0, sizeof(*out));
	add(out, WRITE_RECORD, 0, record_write_len(l, stale, n_stale));
	barrier(out);
	add_beyond(l, stale, n_stale, out);
	if (l->type == VOL_LUKS1) {
		add(out, WRITE_KEYSLOTS, l->bin_len, l->image_len - l->bin_len);
		barrier(out);
	} else {
		add(out, WRITE_KEYSLOTS, 2 * l->hdr_size, l->image_len - 2 * l->hdr_size);
		add(out, WRITE_JSON, l->bin_len, 2 * l->hdr_size - l->bin_len);
		barrier(out);
		add(out, WRITE_HEADER_2, l->hdr_size, l->bin_len);
		barrier(out);
	}
	add(out, WRITE_HEADER_1, 0, l->bin_len);
	barrier(out);
}

void header_writes_free(struct header_writes *w)
{
	free_ptr(&w->v);
	w->n = 0;
}

/* --- carrying it out
 * ------------------------------------------------------------------------------ */

static int write_all(int fd, const unsigned char *p, uint64_t len, uint64_t offset)
{
	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		len -= (uint64_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static int write_chunks(int fd, const unsigned char *p, const struct header_write *w)
{
	uint64_t done = 0;
	int r = 0;

	while (!r && done < w->len) {
		uint64_t n = w->len - done < WRITE_CHUNK ? w->len - done : WRITE_CHUNK;

		r = write_all(fd, p + done, n, w->offset + done);
		done += n;
	}
	return r;
}

static int write_zeros(int fd, const struct header_write *w)
{
	unsigned char *zero = xcalloc(1, w->len);
	int r = write_all(fd, zero, w->len, w->offset);

	free(zero);
	return r;
}

struct stale_list {
	struct header_stale *v;
	size_t n;
};

/* A part of the image without its secondary binary header, which must not be found yet. */
static unsigned char *image_part(const struct vol_header *h, const struct header_write *w)
{
	uint64_t second = h->layout.hdr_size, n = h->layout.image_len - w->offset;
	unsigned char *buf = xcalloc(1, w->len);

	memcpy(buf, h->image + w->offset, n < w->len ? n : w->len);
	if (second >= w->offset && second + BLOCK <= w->offset + w->len)
		memset(buf + second - w->offset, 0, BLOCK);
	return buf;
}

static int write_json(int fd, const struct vol_header *h, const struct header_write *w)
{
	unsigned char *buf = image_part(h, w);
	int r = write_chunks(fd, buf, w);

	free(buf);
	return r;
}

/* Beyond the image nothing changes but what is stale. */
static int fill_beyond(int fd, unsigned char *buf, uint64_t from, uint64_t to,
                       const struct stale_list *s)
{
	for (uint64_t at = from; at < to;) {
		ssize_t n = pread(fd, buf + at, to - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += (uint64_t)n;
	}
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].luks2 && s->v[i].offset >= from && s->v[i].offset + s->v[i].len <= to)
			memset(buf + s->v[i].offset, 0, s->v[i].len);
	return 0;
}

/* One call: what vanishes with the old first block vanishes together with it. */
static int write_record(int fd, const struct vol_header *h, const struct header_write *w,
                        const struct stale_list *s)
{
	unsigned char *buf = image_part(h, w);
	int r = 0;

	record_encode(&h->record, buf);
	if (w->len > h->layout.image_len)
		r = fill_beyond(fd, buf, h->layout.image_len, w->len, s);
	if (!r)
		r = write_all(fd, buf, w->len, 0);
	free(buf);
	return r;
}

static int write_one(int fd, const struct vol_header *h, const struct header_write *w,
                     const struct stale_list *s)
{
	int r;

	log_debug("format: write %d: %llu bytes at %llu", (int)w->what, (unsigned long long)w->len,
	          (unsigned long long)w->offset);
	if (w->what == WRITE_CLEAR_SIGNATURE)
		r = write_zeros(fd, w);
	else if (w->what == WRITE_RECORD)
		r = write_record(fd, h, w, s);
	else if (w->what == WRITE_JSON)
		r = write_json(fd, h, w);
	else
		r = write_chunks(fd, h->image + w->offset, w);
	if (!r && w->barrier && fdatasync(fd))
		r = -errno;
	return r;
}

static const char *state_text(const struct header_writes *w, size_t failed)
{
	for (size_t i = 0; i < failed; i++)
		if (w->v[i].what == WRITE_HEADER_2)
			return "The new volume opens from its second header copy.";
	for (size_t i = 0; i < failed; i++)
		if (w->v[i].what == WRITE_RECORD)
			return "The device carries the record of an interrupted format: format it again.";
	return "Look at the device before using it: the record of this format may or may not be on it.";
}

static int run_writes(int fd, const struct vol_header *h, const struct header_writes *w,
                      const struct stale_list *s, struct strbuf *why)
{
	for (size_t i = 0; i < w->n; i++) {
		int r = write_one(fd, h, &w->v[i], s);

		if (!r)
			continue;
		if (why)
			strbuf_printf(why, "Writing %llu bytes at byte %llu failed: %s. %s",
			              (unsigned long long)w->v[i].len,
			              (unsigned long long)w->v[i].offset, strerror(-r),
			              state_text(w, i));
		return r;
	}
	return 0;
}

/* --- what must vanish
 * ------------------------------------------------------------------------------- */

static void stale_add(struct stale_list *s, uint64_t offset, uint64_t len, bool luks2)
{
	s->v = xreallocarray(s->v, s->n + 1, sizeof(*s->v));
	s->v[s->n++] = (struct header_stale){ .offset = offset, .len = len, .luks2 = luks2 };
}

/* Also into the record: what was on the device when its loss was agreed to. */
static void gather_stale(const struct blkdev *bd, struct stale_list *s, struct record *rec)
{
	for (size_t i = 0; i < ARRAY_SIZE(header_secondary_offsets); i++) {
		uint64_t at = header_secondary_offsets[i];

		if (at + BLOCK > bd->size || !header_has_secondary(bd->fd, at))
			continue;
		stale_add(s, at, BLOCK, true);
		record_give(bd->fd, rec, at);
	}
	for (size_t i = 0; i < bd->n_sig; i++) {
		const struct blkdev_signature *sig = &bd->sig[i];

		if (sig->len && sig->offset < bd->size && sig->len <= bd->size - sig->offset) {
			stale_add(s, sig->offset, sig->len, false);
			record_give(bd->fd, rec, sig->offset);
		}
	}
}

/* --- the library's lock on metadata of block devices
 * ------------------------------------------------- */

#define LUKS2_LOCK_DIR "/run/cryptsetup"

/*
 * The same file and flock as libcryptsetup's, so that nobody reads a header half written. Without
 * the directory and without the right to make it there is no lock, as with the library's own
 * --disable-locks: said in debug, not fatal. Image files are locked by flock on the file itself,
 * which blkdev_lock() did already.
 */
static int metadata_lock(const struct blkdev *bd)
{
	cleanup_close int dir = -1;
	char name[64];
	int fd;

	if (bd->file)
		return -1;
	if (mkdir(LUKS2_LOCK_DIR, 0700) && errno != EEXIST)
		log_debug("%s: %s", LUKS2_LOCK_DIR, strerror(errno));
	dir = open(LUKS2_LOCK_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0) {
		log_debug("no metadata lock: %s: %s", LUKS2_LOCK_DIR, strerror(errno));
		return -1;
	}
	snprintf(name, sizeof(name), "L_%u:%u", major(bd->rdev), minor(bd->rdev));
	fd = openat(dir, name, O_CREAT | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		log_debug("no metadata lock: %s/%s: %s", LUKS2_LOCK_DIR, name, strerror(errno));
		return -1;
	}
	for (int i = 0; i < 50; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	}
	close(fd);
	return -EBUSY;
}

static int check_target(const struct vol_header *h, const struct blkdev *bd, struct strbuf *why)
{
	bool small = bd->size < h->facts.image_len && !(bd->file && h->plan.detached);

	if (!bd->write)
		return -EBADF;
	if (!small && (h->plan.detached || bd->size == h->plan.device_size))
		return 0;
	if (why)
		strbuf_printf(why, "%s has %llu bytes, not the %llu it was planned for.", bd->path,
		              (unsigned long long)bd->size,
		              (unsigned long long)h->plan.device_size);
	return -ESTALE;
}

int vol_format_write(struct vol_header *h, const struct blkdev *bd, struct strbuf *why)
{
	struct header_writes w = { 0 };
	struct stale_list stale = { 0 };
	int lock, r;

	r = check_target(h, bd, why);
	if (r)
		return r;
	lock = metadata_lock(bd);
	if (lock == -EBUSY) {
		if (why)
			strbuf_printf(why, "%s: another program holds the LUKS2 metadata lock.",
			              bd->path);
		return lock;
	}
	h->record.n_given = 0;
	gather_stale(bd, &stale, &h->record);
	header_plan_writes(&h->layout, stale.v, stale.n, &w);
	r = run_writes(bd->fd, h, &w, &stale, why);
	header_writes_free(&w);
	free(stale.v);
	if (lock >= 0)
		close(lock);
	return r;
}
