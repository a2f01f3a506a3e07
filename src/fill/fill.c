/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A fill from its first byte to its last: old signatures gone, data, head, read-back; the record kept true all the way.
 * Must not ask, refuse or print.
 *
 * At every stop exactly one holds: nothing was changed; a record says how far it came; every byte is filled.
 */
#include "fill/fill.h"

#include <errno.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define INTERVAL_MAX (1ull << 30)
#define INTERVAL_MIN (4ull << 20)
#define INTERVAL_S   10.0
#define SAMPLES	     256u

struct run {
	const struct fill_request *rq;
	struct fill_result *res;
	struct strbuf *why;
	struct fill_io io;
	struct secret key;
	struct fill_record rec;
	int record_fd;	/* -1: no record is kept */
	uint64_t first; /* where this run began to write */
	int event, signals;
	struct fill_pass *pass;
	/* of the pass under way */
	enum fill_phase phase;
	uint64_t base; /* done before it */
	double began, shown, recorded;
	uint64_t shown_done;
};

uint64_t fill_interval(uint64_t length)
{
	uint64_t i = length / 16;

	i = i < INTERVAL_MIN ? INTERVAL_MIN : i > INTERVAL_MAX ? INTERVAL_MAX : i;
	return i - i % FILL_CHUNK;
}

bool fill_has_room(const struct fill_request *rq)
{
	return !rq->start && rq->length >= 2 * (uint64_t)FILL_HEAD;
}

static int failed(struct run *r, int err, const char *what, uint64_t offset)
{
	strbuf_printf(r->why, "%s: %s at byte %llu: %s.", r->rq->bd->path, what, (unsigned long long)offset,
		      err == -ENODEV  ? "the device is gone" :
		      err == -EUCLEAN ? "too many bad blocks; the device is not worth filling" :
					strerror(-err));
	return err == -EUCLEAN ? -EIO : err;
}

/* --- the record ------------------------------------------------------------------------------------ */

static int sync_target(struct run *r)
{
	return fdatasync(r->rq->bd->fd) ? failed(r, -errno, "what was written did not reach the medium", 0) : 0;
}

static int write_record(struct run *r)
{
	int err;

	if (r->record_fd < 0)
		return 0;
	r->rec.seq++;
	err = fill_slots_write(r->record_fd, &r->rec);
	if (err)
		return failed(r, err, "the record of the fill cannot be written", fill_record_slot(r->rec.seq));
	r->res->resumable = true;
	return 0;
}

/* The last whole block below the watermark that could be written: a resume looks whether it is still there. */
static void note_last(struct run *r)
{
	uint64_t at = r->rec.watermark - r->rec.watermark % FILL_SLOT_SIZE;
	uint64_t least = r->rec.start + r->rec.head + FILL_SLOT_SIZE;
	unsigned char *buf = fill_buffer(FILL_SLOT_SIZE);

	r->rec.has_last = false;
	r->rec.last_offset = 0;
	for (; at >= least && !r->rec.has_last; at -= FILL_SLOT_SIZE) {
		if (fill_ranges_touch(&r->rec.bad, at - FILL_SLOT_SIZE, FILL_SLOT_SIZE) ||
		    fill_io_read(&r->io, buf, FILL_SLOT_SIZE, at - FILL_SLOT_SIZE))
			continue;
		r->rec.has_last = EVP_Digest(buf, FILL_SLOT_SIZE, r->rec.last_sha256, NULL, EVP_sha256(), NULL) == 1;
		r->rec.last_offset = r->rec.has_last ? at - FILL_SLOT_SIZE : 0;
	}
	free(buf);
}

static int add_bad(struct run *r, const struct fill_ranges *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		if (fill_ranges_add(&r->rec.bad, from->v[i].start, from->v[i].len))
			return failed(r, -EUCLEAN, "cannot write", from->v[i].start);
	return 0;
}

/* Everything below the watermark must be on the medium before the record says so. */
static int move_watermark(struct run *r, const struct fill_pass_state *s)
{
	int err;

	r->recorded = clock_s();
	err = add_bad(r, &s->bad);
	if (err || s->low <= r->rec.watermark)
		return err;
	if (r->record_fd >= 0)
		err = sync_target(r);
	if (err)
		return err;
	r->rec.watermark = s->low;
	if (r->record_fd < 0)
		return 0;
	note_last(r);
	err = write_record(r);
	if (!err && r->pass)
		fill_pass_limit(r->pass, r->rec.watermark + fill_interval(r->rq->length));
	return err;
}

/* --- before the first byte --------------------------------------------------------------------------- */

/* The 4096 bytes around a magic number. */
static int zero_block(struct run *r, uint64_t offset)
{
	uint64_t end = r->rq->start + r->rq->length, len;
	unsigned char *zero;
	int err;

	offset -= offset % FILL_SLOT_SIZE;
	for (unsigned int i = 0; i < FILL_SLOTS; i++) /* the record is what took its place */
		if (!r->rq->start && offset == i * (uint64_t)FILL_SLOT_GAP && r->record_fd == r->rq->bd->fd)
			return 0;
	if (offset < r->rq->start || offset >= end)
		return 0;
	len = end - offset < FILL_SLOT_SIZE ? end - offset : FILL_SLOT_SIZE;
	zero = fill_buffer(FILL_SLOT_SIZE);
	memset(zero, 0, FILL_SLOT_SIZE);
	err = fill_io_write(&r->io, zero, (size_t)len, offset);
	free(zero);
	/* a block that cannot be written will be in the list of bad ones */
	return err == -EIO ? 0 : err ? failed(r, err, "cannot write", offset) : 0;
}

/* What would be taken for a volume or a file system half way through. */
static int clear_signatures(struct run *r)
{
	const struct blkdev *bd = r->rq->bd;
	int err = 0;

	for (size_t i = 0; i < bd->n_sig && !err; i++)
		err = zero_block(r, bd->sig[i].offset);
	for (size_t i = 0; i < ARRAY_SIZE(header_secondary_offsets) && !err; i++)
		if (header_has_secondary(bd->fd, header_secondary_offsets[i]))
			err = zero_block(r, header_secondary_offsets[i]);
	return err ? err : sync_target(r);
}

static int begin(struct run *r)
{
	const struct fill_request *rq = r->rq;
	int err;

	if (rq->resume) {
		r->rec = *rq->resume;
		err = fill_slots_check_last(&r->io, &r->rec);
		if (err == -ESTALE)
			strbuf_printf(r->why, "%s: the last block of the earlier run, at byte %llu, is not what was written there. This is "
				      "another device, or it lost a write. --restart begins anew.", rq->bd->path,
				      (unsigned long long)r->rec.last_offset);
		else if (err)
			failed(r, err, "cannot read", r->rec.last_offset);
		r->res->resumable = !err;
		return err;
	}
	r->rec = (struct fill_record){ .device_size = rq->bd->size, .block = rq->bd->logical_sector, .start = rq->start,
				       .length = rq->length };
	if (getrandom(r->rec.id, sizeof(r->rec.id), 0) != (ssize_t)sizeof(r->rec.id))
		return -EIO;
	r->rec.head = r->record_fd == rq->bd->fd && r->record_fd >= 0 ? FILL_HEAD : 0;
	r->rec.watermark = rq->start + r->rec.head;
	str_copy(r->rec.engine, sizeof(r->rec.engine), rq->engine->name);
	/* both slots: the second one may hold that of an older fill */
	err = write_record(r);
	if (!err)
		err = write_record(r);
	if (err == -EIO) { /* no place for the record, but the rest may still be filled */
		strbuf_free(r->why);
		r->record_fd = -1;
		r->rec.head = 0;
		r->rec.watermark = rq->start;
		r->res->resumable = false;
		err = 0;
	}
	return err ? err : clear_signatures(r);
}

/* --- the loop ---------------------------------------------------------------------------------------- */

static void show(struct run *r, const struct fill_pass_state *s, bool asked)
{
	struct fill_progress p = { .phase = r->phase, .asked = asked, .done = r->base + s->bytes };
	double now = clock_s();

	if (!r->rq->progress)
		return;
	p.total = r->phase == FILL_VERIFYING ? r->res->written : r->rq->length;
	p.seconds = now - r->began;
	p.mean = p.seconds > 0 ? (double)s->bytes / p.seconds : 0;
	p.speed = now > r->shown ? (double)(s->bytes - r->shown_done) / (now - r->shown) : 0;
	p.bad = fill_ranges_bytes(r->phase == FILL_VERIFYING ? &r->res->bad : &s->bad);
	if (!asked) {
		r->shown = now;
		r->shown_done = s->bytes;
	}
	r->rq->progress(r->rq->arg, &p);
}

/* A signal that came: SIGUSR1 shows where it is, the others end it after the chunks under way. */
static void take_signals(struct run *r, const struct fill_pass_state *s)
{
	struct signalfd_siginfo info;

	while (read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGUSR1) {
			show(r, s, true);
			continue;
		}
		r->res->signal = (int)info.ssi_signo;
		fill_pass_stop(r->pass);
	}
}

static int wait_ms(const struct run *r)
{
	double next = r->shown + r->rq->every_ms / 1e3 - clock_s();
	double record = r->recorded + INTERVAL_S - clock_s();

	if (!r->rq->progress || record < next)
		next = record;
	return next <= 0 ? 0 : next > 1 ? 1000 : (int)(next * 1e3) + 1;
}

/* Waits until the pass is over; keeps the record. *s is its end. */
static int watch(struct run *r, struct fill_pass_state *s)
{
	struct pollfd fd[2] = { { .fd = r->event, .events = POLLIN }, { .fd = r->signals, .events = POLLIN } };
	uint64_t step = fill_interval(r->rq->length) / 2, count;
	int err = 0;

	do {
		poll(fd, 2, wait_ms(r));
		if (read(r->event, &count, sizeof(count)) < 0)
			count = 0;
		fill_pass_look(r->pass, s);
		take_signals(r, s);
		if (clock_s() - r->shown >= r->rq->every_ms / 1e3)
			show(r, s, false);
		if (r->phase != FILL_WRITING || err || !s->running)
			continue;
		if (s->low - r->rec.watermark >= step || clock_s() - r->recorded >= INTERVAL_S)
			err = move_watermark(r, s);
		if (err)
			fill_pass_stop(r->pass);
	} while (s->running);
	return err;
}

static unsigned int thread_count(const struct run *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (r->rq->threads)
		return r->rq->threads;
	return cpus < 1 ? 2 : cpus + 1 > (long)FILL_THREADS_MAX ? FILL_THREADS_MAX : (unsigned int)cpus + 1;
}

static int run_pass(struct run *r, uint64_t start, uint64_t end, struct fill_pass_state *s)
{
	struct fill_pass_request pq = { .io = &r->io, .engine = r->rq->engine, .key = &r->key, .start = start, .end = end,
					.threads = thread_count(r), .rate = r->rq->rate, .event = r->event,
					.verify = r->phase == FILL_VERIFYING, .skip = &r->res->bad };
	int err;

	if (!pq.verify)
		pq.step = fill_interval(r->rq->length) / 2;
	r->shown = r->recorded = clock_s();
	r->shown_done = 0;
	err = fill_pass_start(&pq, &r->pass);
	if (err)
		return failed(r, err, "no thread could be started", start);
	if (!pq.verify && r->record_fd >= 0)
		fill_pass_limit(r->pass, start + fill_interval(r->rq->length));
	err = watch(r, s);
	fill_pass_free(r->pass);
	r->pass = NULL;
	if (!err && s->err)
		err = failed(r, s->err, pq.verify ? "cannot read back" : "cannot write", s->err_offset);
	return err;
}

/* --- the data, then the head ----------------------------------------------------------------------------- */

static int write_data(struct run *r)
{
	uint64_t end = r->rq->start + r->rq->length;
	struct fill_pass_state s = { 0 };
	int err, last = 0;

	r->phase = FILL_WRITING;
	r->began = clock_s();
	r->first = r->rec.watermark;
	r->base = fill_record_done(&r->rec);
	if (r->rec.watermark >= end)
		return 0;
	err = run_pass(r, r->rec.watermark, end, &s);
	r->res->written = s.bytes;
	/* however it ended: what is done is kept, unless the device is gone */
	if (err != -ENODEV)
		last = move_watermark(r, &s);
	r->res->done = fill_record_done(&r->rec);
	r->res->bad = r->rec.bad;
	return err ? err : last ? last : r->res->signal ? -EINTR : 0;
}

/* The pieces of the head around the slots, or the slots themselves. */
static int write_head_part(struct run *r, uint64_t start, uint64_t len)
{
	unsigned char *buf = fill_buffer(FILL_HEAD);
	void *thread = r->rq->engine->thread_new(&r->key);
	struct fill_pass_state s = { 0 };
	int err = thread ? r->rq->engine->make(thread, start, buf, (size_t)len) : -ENOMEM;

	if (!err)
		err = fill_io_write(&r->io, buf, (size_t)len, start);
	for (uint64_t at = start; err == -EIO && at < start + len; at += r->io.block)
		if (fill_io_write(&r->io, buf + (at - start), r->io.block, at) == -EIO)
			fill_ranges_add(&s.bad, at, r->io.block);
	if (thread)
		r->rq->engine->thread_free(thread);
	free(buf);
	if (s.bad.n)
		return add_bad(r, &s.bad);
	r->res->written += err ? 0 : len;
	return err && err != -EIO ? failed(r, err, "cannot write", start) : 0;
}

/* First all but the slots, then the slot that is older, then the one that counts: each stop is named or done. */
static int write_head(struct run *r)
{
	uint64_t newest, older;
	int err = 0;

	if (!r->rec.head)
		return 0;
	if (!r->rec.head_done) {
		err = write_head_part(r, FILL_SLOT_SIZE, FILL_SLOT_GAP - FILL_SLOT_SIZE);
		if (!err)
			err = write_head_part(r, FILL_SLOT_GAP + FILL_SLOT_SIZE,
					      r->rec.head - FILL_SLOT_GAP - FILL_SLOT_SIZE);
		if (!err)
			err = sync_target(r);
		r->rec.head_done = true;
		if (!err)
			err = write_record(r);
	}
	newest = fill_record_slot(r->rec.seq);
	older = fill_record_slot(r->rec.seq + 1);
	if (!err)
		err = write_head_part(r, older, FILL_SLOT_SIZE);
	if (!err)
		err = sync_target(r);
	return err ? err : write_head_part(r, newest, FILL_SLOT_SIZE);
}

/* --- read back --------------------------------------------------------------------------------------------- */

static int verify_pass(struct run *r, uint64_t start, uint64_t end)
{
	struct fill_pass_state s = { 0 };
	int err = start < end ? run_pass(r, start, end, &s) : 0;

	r->res->verified += s.bytes;
	r->base = r->res->verified;
	for (uint32_t i = 0; i < s.bad.n; i++)
		fill_ranges_add(&r->res->wrong, s.bad.v[i].start, s.bad.v[i].len);
	return err ? err : r->res->signal ? -EINTR : 0;
}

/* The key of an earlier run is gone: of its part can only be seen that no block is zero and none repeats. */
static int verify_samples(struct run *r)
{
	uint64_t start = r->rec.start + r->rec.head, blocks = (r->first - start) / FILL_SLOT_SIZE;
	unsigned char *buf = fill_buffer(FILL_SLOT_SIZE), zero[64] = { 0 }, sum[SAMPLES][32];
	uint32_t n = 0;
	int err = 0;

	for (uint64_t i = 0; i < SAMPLES && i < blocks && !err; i++) {
		uint64_t at = start + (blocks > SAMPLES ? blocks / SAMPLES * i : i) * FILL_SLOT_SIZE;

		if (fill_ranges_touch(&r->rec.bad, at, FILL_SLOT_SIZE))
			continue;
		err = fill_io_read(&r->io, buf, FILL_SLOT_SIZE, at);
		if (err)
			break;
		if (!memcmp(buf, zero, sizeof(zero)))
			fill_ranges_add(&r->res->wrong, at, FILL_SLOT_SIZE);
		EVP_Digest(buf, FILL_SLOT_SIZE, sum[n], NULL, EVP_sha256(), NULL);
		for (uint32_t k = 0; k < n; k++)
			if (!memcmp(sum[k], sum[n], sizeof(sum[n])))
				fill_ranges_add(&r->res->wrong, at, FILL_SLOT_SIZE);
		n++;
	}
	r->res->sampled = n;
	free(buf);
	return err ? failed(r, err, "cannot read back", start) : 0;
}

static int verify(struct run *r)
{
	int err;

	r->phase = FILL_VERIFYING;
	r->began = clock_s();
	r->base = 0;
	err = verify_pass(r, r->first, r->rq->start + r->rq->length);
	if (!err && r->rec.head && !(r->rq->resume && r->rq->resume->head_done))
		err = verify_pass(r, r->rq->start, r->rq->start + r->rec.head);
	return err ? err : verify_samples(r);
}

/* --- all of it ------------------------------------------------------------------------------------------------ */

static int fill_all(struct run *r)
{
	double start = clock_s();
	int err = fill_key(&r->key);

	if (!err)
		err = begin(r);
	if (!err)
		err = write_data(r);
	if (!err)
		err = write_head(r);
	if (!err)
		err = sync_target(r);
	r->res->bad = r->rec.bad;
	r->res->seconds = clock_s() - start;
	if (err)
		return err;
	r->res->done = r->rq->length;
	r->res->filled = true;
	r->res->resumable = false;
	return r->rq->verify ? verify(r) : 0;
}

int fill_run(const struct fill_request *rq, struct fill_result *res, struct strbuf *why)
{
	struct run r = { .rq = rq, .res = res, .why = why, .event = -1, .signals = -1 };
	sigset_t set;
	int err;

	memset(res, 0, sizeof(*res));
	r.record_fd = rq->state_fd >= 0 ? rq->state_fd : fill_has_room(rq) ? rq->bd->fd : -1;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	r.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	fill_io_open(rq->bd, &r.io);
	res->direct = r.io.fd >= 0;
	err = r.event < 0 || r.signals < 0 ? -errno : fill_all(&r);
	fill_io_close(&r.io);
	close_fd(&r.event);
	close_fd(&r.signals);
	secret_free(&r.key);
	return err;
}
