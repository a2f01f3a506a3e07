/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * One pass over a range by a few threads: each claims the next chunk, makes its bytes, and writes or compares them.
 * Knows an open target; must not know records or signals.
 */
#include "fill/fill.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define IDLE	   UINT64_MAX
#define FILE_ALIGN 4096u  /* of direct requests to a file: no file system asks for more */
#define FLUSH_EVERY 16u	  /* chunks of buffered output between two flushes, for each thread */
#define BAD_BYTES_MAX (256ull << 20) /* a device with more is not worth its hours */
#define MEMORY_ALIGN 4096u

/* --- the target --------------------------------------------------------------------------------- */

unsigned char *fill_buffer(size_t len)
{
	void *p = NULL;

	if (posix_memalign(&p, MEMORY_ALIGN, len)) {
		log_error("Out of memory.");
		exit(3);
	}
	return p;
}

void fill_io_open(const struct blkdev *bd, struct fill_io *io)
{
	unsigned char *probe = fill_buffer(FILE_ALIGN);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", bd->fd);
	*io = (struct fill_io){ .buffered = bd->fd, .device = !bd->file, .block = bd->logical_sector,
				.align = bd->file ? FILE_ALIGN : bd->logical_sector };
	io->fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	/* some file systems take the flag and refuse the request */
	if (io->fd >= 0 && pread(io->fd, probe, FILE_ALIGN, 0) < 0 && errno == EINVAL)
		fill_io_close(io);
	free(probe);
}

void fill_io_close(struct fill_io *io)
{
	close_fd(&io->fd);
	io->fd = -1;
}

/* What a write to a device that was pulled out says depends on the moment: EIO, ENXIO, ENOSPC. Its size does not. */
static int gone_or(const struct fill_io *io, int err)
{
	uint64_t size = 0;

	if (err == -ENXIO || err == -ENODEV || err == -ENOMEDIUM)
		return -ENODEV;
	if (io->device && (ioctl(io->buffered, BLKGETSIZE64, &size) || !size))
		return -ENODEV;
	return err;
}

static int transfer(const struct fill_io *io, bool write, unsigned char *buf, size_t len, uint64_t offset)
{
	while (len) {
		bool direct = io->fd >= 0 && offset % io->align == 0 && len >= io->align;
		size_t want = direct ? len - len % io->align : len;
		int fd = direct ? io->fd : io->buffered;
		ssize_t n = write ? pwrite(fd, buf, want, (off_t)offset) : pread(fd, buf, want, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gone_or(io, n ? -errno : -EIO);
		buf += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int fill_io_write(const struct fill_io *io, const unsigned char *buf, size_t len, uint64_t offset)
{
	return transfer(io, true, (unsigned char *)(uintptr_t)buf, len, offset);
}

int fill_io_read(const struct fill_io *io, unsigned char *buf, size_t len, uint64_t offset)
{
	return transfer(io, false, buf, len, offset);
}

/* --- the pass ------------------------------------------------------------------------------------ */

struct worker {
	struct fill_pass *p;
	pthread_t id;
	uint64_t at;	   /* chunk under way, or IDLE; under the lock */
	void *engine;
	unsigned char *made, *read;
	unsigned int unflushed;
};
struct fill_pass {
	struct fill_pass_request rq;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* the limit moved, or stop */
	uint64_t next, limit, reported, bytes, chunk;
	bool stop;
	int err;
	uint64_t err_offset;
	struct fill_ranges bad;
	bool any_wrong;
	unsigned int running;
	struct timespec began;
	struct worker w[FILL_THREADS_MAX];
	unsigned int n;
};

static void announce(struct fill_pass *p)
{
	uint64_t one = 1;

	if (p->rq.event >= 0 && write(p->rq.event, &one, sizeof(one)) < 0)
		log_debug("eventfd: %s", strerror(errno));
}

static uint64_t lowest(const struct fill_pass *p)
{
	uint64_t low = p->next;

	for (unsigned int i = 0; i < p->n; i++)
		low = p->w[i].at < low ? p->w[i].at : low;
	return low;
}

/* When the chunk at `next` may begin under the limit of the rate. */
static struct timespec due(const struct fill_pass *p)
{
	struct timespec t = p->began;
	double wait = (double)(p->next - p->rq.start) / (double)p->rq.rate;

	t.tv_sec += (time_t)wait;
	t.tv_nsec += (long)((wait - (double)(time_t)wait) * 1e9);
	if (t.tv_nsec >= 1000000000L) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000L;
	}
	return t;
}

static bool too_early(const struct timespec *when)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < when->tv_sec || (now.tv_sec == when->tv_sec && now.tv_nsec < when->tv_nsec);
}

/* The next chunk, or false at the end. Chunks end at multiples of their size. */
static bool claim(struct worker *w, uint64_t *offset, size_t *len)
{
	struct fill_pass *p = w->p;
	bool got = false;

	pthread_mutex_lock(&p->lock);
	while (!p->stop && p->next < p->rq.end) {
		struct timespec when = p->rq.rate ? due(p) : (struct timespec){ 0 };

		if (p->next >= p->limit) {
			pthread_cond_wait(&p->wake, &p->lock);
		} else if (p->rq.rate && too_early(&when)) {
			pthread_cond_timedwait(&p->wake, &p->lock, &when);
		} else {
			uint64_t end = p->next - p->next % p->chunk + p->chunk;

			end = end < p->rq.end ? end : p->rq.end;
			*offset = w->at = p->next;
			*len = (size_t)(end - p->next);
			p->next = end;
			got = true;
			break;
		}
	}
	pthread_mutex_unlock(&p->lock);
	return got;
}

static void finish(struct worker *w, size_t len)
{
	struct fill_pass *p = w->p;
	uint64_t low;

	pthread_mutex_lock(&p->lock);
	w->at = IDLE;
	p->bytes += len;
	low = lowest(p);
	if (p->rq.step && low - p->reported >= p->rq.step) {
		p->reported = low;
		announce(p);
	}
	pthread_mutex_unlock(&p->lock);
}

static void fail(struct fill_pass *p, int err, uint64_t offset)
{
	pthread_mutex_lock(&p->lock);
	if (!p->err) {
		p->err = err;
		p->err_offset = offset;
	}
	p->stop = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

/* Notes a range; the list or the patience may be at its end. */
static int note_bad(struct fill_pass *p, uint64_t offset, size_t len, bool wrong)
{
	int r;

	pthread_mutex_lock(&p->lock);
	r = fill_ranges_add(&p->bad, offset, len);
	p->any_wrong |= wrong;
	if (!r && !p->rq.verify && fill_ranges_bytes(&p->bad) > BAD_BYTES_MAX)
		r = -ENOSPC;
	pthread_mutex_unlock(&p->lock);
	return r ? -EUCLEAN : 0;
}

/* Halves down to the block, so that one bad block costs no good neighbour. Only errors of the medium are split. */
static int split(struct worker *w, unsigned char *buf, size_t len, uint64_t offset)
{
	const struct fill_pass *p = w->p;
	size_t half = len / 2 - len / 2 % p->rq.io->block;
	int r = p->rq.verify ? fill_io_read(p->rq.io, buf, len, offset) : fill_io_write(p->rq.io, buf, len, offset);

	if (r != -EIO && r != -EREMOTEIO && r != -EILSEQ && r != -ENODATA)
		return r;
	if (len <= p->rq.io->block || !half)
		return note_bad(w->p, offset, len, false);
	r = split(w, buf, half, offset);
	return r ? r : split(w, buf + half, len - half, offset + half);
}

/* Blocks that differ, but for those that could not be written or read. */
static int compare(struct worker *w, uint64_t offset, size_t len)
{
	struct fill_pass *p = w->p;
	uint32_t block = p->rq.io->block;
	bool known;

	if (!memcmp(w->made, w->read, len))
		return 0;
	for (size_t i = 0; i < len; i += block) {
		size_t n = len - i < block ? len - i : block;

		if (!memcmp(w->made + i, w->read + i, n))
			continue;
		pthread_mutex_lock(&p->lock);
		known = fill_ranges_touch(&p->bad, offset + i, n) ||
			(p->rq.skip && fill_ranges_touch(p->rq.skip, offset + i, n));
		pthread_mutex_unlock(&p->lock);
		if (!known && note_bad(p, offset + i, n, true))
			return -EUCLEAN;
	}
	return 0;
}

/* Buffered output: errors must come before the end, and the cache is not ours to fill. */
static int flush_some(struct worker *w)
{
	const struct fill_io *io = w->p->rq.io;

	if (io->fd >= 0 || w->p->rq.verify || ++w->unflushed < FLUSH_EVERY)
		return 0;
	w->unflushed = 0;
	if (fdatasync(io->buffered))
		return gone_or(io, -errno);
	posix_fadvise(io->buffered, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

static int one_chunk(struct worker *w, uint64_t offset, size_t len)
{
	const struct fill_pass *p = w->p;
	/* the stream is made in whole blocks of 64 from a multiple of 64 */
	unsigned int lead = (unsigned int)(offset % 64);
	int r = p->rq.engine->make(w->engine, offset - lead, w->made, lead + len);

	if (r)
		return r;
	if (lead)
		memmove(w->made, w->made + lead, len);
	r = split(w, p->rq.verify ? w->read : w->made, len, offset);
	if (!r && p->rq.verify)
		r = compare(w, offset, len);
	return r ? r : flush_some(w);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct fill_pass *p = w->p;
	uint64_t offset = 0;
	size_t len = 0;
	int r;

	while (claim(w, &offset, &len)) {
		r = one_chunk(w, offset, len);
		if (r) {
			/* stays under way: the watermark must not pass it */
			fail(p, r, offset);
			break;
		}
		finish(w, len);
	}
	pthread_mutex_lock(&p->lock);
	if (!--p->running)
		announce(p);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Under a limit of the rate in pieces of about an eighth of a second. */
static uint64_t chunk_size(uint64_t rate)
{
	uint64_t c = FILL_CHUNK;

	while (rate && c > 65536 && c > rate / 8)
		c /= 2;
	return c;
}

static bool worker_start(struct fill_pass *p)
{
	struct worker *w = &p->w[p->n];

	*w = (struct worker){ .p = p, .at = IDLE };
	w->engine = p->rq.engine->thread_new(p->rq.key);
	if (!w->engine)
		return false;
	w->made = fill_buffer((size_t)p->chunk + 64);
	if (p->rq.verify)
		w->read = fill_buffer((size_t)p->chunk);
	p->running++;
	if (!pthread_create(&w->id, NULL, work, w)) {
		p->n++;
		return true;
	}
	p->running--;
	p->rq.engine->thread_free(w->engine);
	free(w->made);
	free(w->read);
	return false;
}

int fill_pass_start(const struct fill_pass_request *rq, struct fill_pass **out)
{
	struct fill_pass *p = xcalloc(1, sizeof(*p));
	pthread_condattr_t attr;
	sigset_t all, before;

	*out = p;
	p->rq = *rq;
	p->next = p->reported = rq->start;
	p->limit = UINT64_MAX;
	p->chunk = chunk_size(rq->rate);
	clock_gettime(CLOCK_MONOTONIC, &p->began);
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&p->lock);
	while (p->n < rq->threads && p->n < FILL_THREADS_MAX && worker_start(p))
		;
	pthread_mutex_unlock(&p->lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (p->n)
		return 0;
	fill_pass_free(p);
	*out = NULL;
	return -EAGAIN;
}

void fill_pass_look(struct fill_pass *p, struct fill_pass_state *out)
{
	pthread_mutex_lock(&p->lock);
	out->low = lowest(p);
	out->bytes = p->bytes;
	out->running = p->running > 0;
	out->err = p->err;
	out->err_offset = p->err_offset;
	out->bad = p->bad;
	out->any_wrong = p->any_wrong;
	pthread_mutex_unlock(&p->lock);
}

void fill_pass_limit(struct fill_pass *p, uint64_t limit)
{
	pthread_mutex_lock(&p->lock);
	p->limit = limit;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

void fill_pass_stop(struct fill_pass *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

void fill_pass_free(struct fill_pass *p)
{
	if (!p)
		return;
	fill_pass_stop(p);
	for (unsigned int i = 0; i < p->n; i++) {
		pthread_join(p->w[i].id, NULL);
		p->rq.engine->thread_free(p->w[i].engine);
		free(p->w[i].made);
		free(p->w[i].read);
	}
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
