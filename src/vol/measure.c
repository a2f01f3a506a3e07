/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Throughput of a spec through a real dm-crypt table, no disk involved.
 * Knows mappings and children; must not rank or judge. The method is described in measure.h.
 */
#include "vol/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <libcryptsetup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sys/sys.h"
#include "util/util.h"
#include "vol/trial.h"

#define REQUEST_DEFAULT (1024u * 1024)
#define REQUEST_MAX     (64u * 1024 * 1024)
#define RUN_MS_DEFAULT  1000u
#define RUNS_DEFAULT    3u
#define RUNS_MAX        15u
#define SPARE_MS        10000u /* opening, and a machine that is busy otherwise */
#define STALL_MS        10000u
#define WARM_UP_MS      250u /* at most; a quarter of a run */
#define ZERO_BYTES      (1024ull * 1024 * 1024)
#define MEMORY_BYTES    (16ull * 1024 * 1024)

/* Shared with the parent: what was measured before a limit passed still counts. */
struct bench {
	struct trial trial;
	/* in */
	struct cipher_spec spec;
	char cipher[256];
	unsigned int request, run_ms, runs, total_ms, flags;
	bool direction[2]; /* write, read */
	/* out */
	double rate[2][RUNS_MAX];
	volatile unsigned int n[2];
	char driver[ALG_NAME_MAX];
	bool over_memory;
	char text[256];
};

/* --- the child
 * ---------------------------------------------------------------------------------------------------
 */

struct run {
	struct bench *b;
	struct request_loop loop;
};

int request_loop_run(struct request_loop *l, bool write, double least, double *rate)
{
	double start = clock_s(), now = start;
	uint64_t bytes = 0;

	while (now - start < least) {
		ssize_t n = write ? pwrite(l->fd, l->buf, l->request, (off_t)l->offset)
		                  : pread(l->fd, l->buf, l->request, (off_t)l->offset);

		if (n != (ssize_t)l->request)
			return n < 0 ? -errno : -EIO;
		bytes += l->request;
		l->offset += l->request;
		if (l->offset + l->request > l->end)
			l->offset = l->start;
		(*l->beat)++;
		now = clock_s();
		if (now > l->deadline)
			break;
	}
	*rate = now > start ? (double)bytes / 1e6 / (now - start) : 0;
	return now - start < least ? -ETIMEDOUT : 0;
}

void *request_buffer(unsigned int size)
{
	void *buf = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return buf == MAP_FAILED ? NULL : memset(buf, 0x5a, size);
}

static int run_direction(struct run *r, int d)
{
	struct bench *b = r->b;
	double warm_up = (b->run_ms / 4 < WARM_UP_MS ? b->run_ms / 4 : WARM_UP_MS) / 1e3, rate = 0;
	int err = request_loop_run(&r->loop, d == 0, warm_up, &rate);

	for (unsigned int i = 0; !err && i < b->runs; i++) {
		err = request_loop_run(&r->loop, d == 0, b->run_ms / 1e3, &rate);
		/* A first run that was cut short is better than nothing; a later one is not. */
		if (err && (err != -ETIMEDOUT || b->n[d]))
			break;
		b->rate[d][b->n[d]] = rate;
		b->n[d]++;
	}
	return err;
}

/* Over the zero target, or over memory when there is none. The loop device stays open with the
 * process. */
static int make_over(struct run *r, struct mapping_request *rq)
{
	struct bench *b = r->b;
	char device[32];
	int memory, loop, err;
	dev_t dev;

	r->loop.end = ZERO_BYTES;
	rq->sectors = ZERO_BYTES / 512;
	err = trial_create(&b->trial, rq, b->text, sizeof(b->text));
	if (err != -ENOTBLK)
		return err;
	r->loop.end = b->request > MEMORY_BYTES ? b->request : MEMORY_BYTES;
	err = trial_loop(&b->trial, r->loop.end, &memory, &loop, &dev, b->text, sizeof(b->text));
	if (err)
		return err;
	snprintf(device, sizeof(device), "%u:%u", major(dev), minor(dev));
	rq->device = device;
	rq->sectors = r->loop.end / 512;
	b->over_memory = true;
	err = trial_create(&b->trial, rq, b->text, sizeof(b->text));
	rq->device = NULL;
	return err;
}

static int make_mapping(struct run *r)
{
	struct bench *b = r->b;
	struct mapping_request rq = { .prefix = "hwluks-bench",
		                      .spec = &b->spec,
		                      .cipher = b->cipher[0] ? b->cipher : NULL,
		                      .flags = b->flags };
	size_t len = b->spec.key_bits / 8;
	void *key = crypt_safe_alloc(len);
	struct alg_list before;
	int err = -ENOMEM;

	trial_algs(&before);
	if (key && getrandom(key, len, 0) == (ssize_t)len) {
		rq.key = key;
		err = make_over(r, &rq);
	}
	crypt_safe_free(key);
	if (!err)
		trial_driver(&before, &b->spec, rq.cipher, b->driver, sizeof(b->driver));
	alg_list_free(&before);
	return err == -EINVAL ? -ENOENT : err;
}

static int bench(struct trial *t)
{
	struct bench *b = (struct bench *)t;
	struct run r = { .b = b,
		         .loop = { .request = b->request,
		                   .deadline = clock_s() + b->total_ms / 1e3,
		                   .beat = &b->trial.beat } };
	int err = trial_need_dm(b->text, sizeof(b->text));

	if (err)
		return err;
	r.loop.buf = request_buffer(b->request);
	if (!r.loop.buf)
		return -ENOMEM;
	err = make_mapping(&r);
	if (err)
		return err;
	r.loop.fd = trial_open(t, O_RDWR);
	if (r.loop.fd < 0)
		return r.loop.fd;
	for (int d = 0; d < 2 && !err; d++)
		if (b->direction[d])
			err = run_direction(&r, d);
	return err;
}

/* --- the parent
 * ----------------------------------------------------------------------------------------------------
 */

static int set_up(const struct measure_request *rq, struct bench *b)
{
	unsigned int directions = !rq->no_write + !rq->no_read;

	b->spec = *rq->spec;
	if (!b->spec.sector_size)
		b->spec.sector_size = 512;
	if (rq->cipher)
		str_copy(b->cipher, sizeof(b->cipher), rq->cipher);
	b->flags = rq->flags;
	b->request = rq->request_size ? rq->request_size : REQUEST_DEFAULT;
	b->run_ms = rq->run_ms ? rq->run_ms : RUN_MS_DEFAULT;
	b->runs = rq->runs ? rq->runs : RUNS_DEFAULT;
	b->direction[0] = !rq->no_write;
	b->direction[1] = !rq->no_read;
	b->total_ms =
		rq->total_ms ? rq->total_ms : (b->runs + 1) * directions * b->run_ms + SPARE_MS;
	if (!b->spec.key_bits || b->spec.key_bits % 8 || b->spec.key_bits > 4096 ||
	    b->runs > RUNS_MAX || b->request > REQUEST_MAX || b->request % b->spec.sector_size ||
	    !directions)
		return -EINVAL;
	return 0;
}

static void fill_result(struct bench *b, struct measure_result *res)
{
	unsigned int n[2];

	/* A child that could not be killed still has the memory: nothing of it is trusted without a
	 * bound. */
	for (int d = 0; d < 2; d++)
		n[d] = b->n[d] < RUNS_MAX ? b->n[d] : RUNS_MAX;
	rate_from(b->rate[0], n[0], &res->write);
	rate_from(b->rate[1], n[1], &res->read);
	res->m.spec = b->spec;
	res->m.write_mbps = res->write.median;
	res->m.read_mbps = res->read.median;
	res->over_memory = b->over_memory;
	str_copy(res->driver, sizeof(res->driver), b->driver);
}

static bool complete(const struct bench *b, const struct measure_result *res)
{
	return (!b->direction[0] || res->write.runs) && (!b->direction[1] || res->read.runs);
}

static int explain(int err, const struct bench *b, struct measure_result *res)
{
	if (err == -ETIMEDOUT) {
		snprintf(res->text, sizeof(res->text),
		         "The limit of %u ms passed after %u write runs and %u read runs.",
		         b->total_ms, res->write.runs, res->read.runs);
		return complete(b, res) ? 0 : err;
	}
	if (err && b->text[0])
		str_copy(res->text, sizeof(res->text), b->text);
	else if (err)
		snprintf(res->text, sizeof(res->text), "measuring failed: %s", strerror(-err));
	return err;
}

int measure_spec(const struct measure_request *rq, struct measure_result *res)
{
	struct bench *b = trial_alloc(sizeof(*b));
	struct trial_limits limits = { .stall_ms = STALL_MS };
	struct trial_end end;
	int err = set_up(rq, b);

	memset(res, 0, sizeof(*res));
	if (!err) {
		/* The child stops by itself; this is for when it does not answer. */
		limits.total_ms = b->total_ms + 1000;
		trial_run(bench, &b->trial, &limits, &end, res->left_behind,
		          sizeof(res->left_behind));
		fill_result(b, res);
		err = explain(end.err, b, res);
	} else {
		snprintf(res->text, sizeof(res->text),
		         "nothing to measure: key, request or number of runs is out of range");
	}
	trial_free(b, sizeof(*b));
	return err;
}
