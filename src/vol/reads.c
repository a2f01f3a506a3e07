/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * How fast a device reads, and the mapping on it; how long a key slot takes.
 * Must not judge. The method is described in reads.h.
 */
#include "vol/reads.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/sys.h"
#include "vol/measure.h"
#include "vol/trial.h"

#define RUNS_MAX 15u
#define SPARE_MS 15000u /* a disk that has to spin up */
#define STALL_MS 15000u /* one request */
#define SMALLEST 4096u

/* --- reads ---------------------------------------------------------------------------------------------- */

struct reads {
	struct trial trial;
	/* in */
	struct reads_request rq;
	unsigned int total_ms;
	/* out: 0 the device, 1 the mapping */
	double rate[2][RUNS_MAX];
	volatile unsigned int n[2];
};

/* The first bytes of the device that is read next: where the other ended. */
static void hand_on(struct request_loop *to, const struct request_loop *from)
{
	to->offset = to->start + (from->offset - from->start);
}

static int run_both(struct reads *b, struct request_loop l[2])
{
	unsigned int sides = b->rq.mapped ? 2 : 1;
	double rate;
	int err = 0;

	for (unsigned int i = 0; i <= b->rq.runs && !err; i++) {
		double least = (i ? b->rq.run_ms : b->rq.run_ms / 4) / 1e3; /* the first warms up */

		for (unsigned int s = 0; s < sides && !err; s++) {
			err = request_loop_run(&l[s], false, least, &rate);
			if (!err && i)
				b->rate[s][b->n[s]++] = rate;
			hand_on(&l[(s + 1) % sides], &l[s]);
		}
	}
	return err;
}

static int reads(struct trial *t)
{
	struct reads *b = (struct reads *)t;
	struct request_loop l[2];
	void *buf = request_buffer(b->rq.request);

	for (unsigned int s = 0; s < 2; s++) {
		uint64_t start = s ? 0 : b->rq.raw_start;

		l[s] = (struct request_loop){ .fd = -1, .buf = buf, .request = b->rq.request, .start = start, .offset = start,
					      .end = start + b->rq.size, .deadline = clock_s() + b->total_ms / 1e3, .beat = &t->beat };
		if (!s || b->rq.mapped)
			l[s].fd = device_open(S_IFBLK, s ? b->rq.mapped : b->rq.raw, NULL, O_RDONLY | O_DIRECT);
		if (l[s].fd < 0 && (!s || b->rq.mapped))
			return l[s].fd;
	}
	return buf ? run_both(b, l) : -ENOMEM;
}

static void explain(int err, const struct reads *b, struct reads_result *res)
{
	if (err == -ETIMEDOUT)
		snprintf(res->text, sizeof(res->text), "Reading was cut short after %u runs on the device and %u through the mapping: too slow.",
			 b->n[0], b->n[1]);
	else if (err == -EDOM)
		snprintf(res->text, sizeof(res->text), "There is less than %u bytes to read.", SMALLEST);
	else if (err)
		snprintf(res->text, sizeof(res->text), "Reading failed: %s.", strerror(-err));
}

int measure_reads(const struct reads_request *rq, struct reads_result *res)
{
	struct reads *b = trial_alloc(sizeof(*b));
	struct trial_limits limits = { .stall_ms = STALL_MS };
	struct trial_end end = { 0 };
	char left[64];

	*res = (struct reads_result){ 0 };
	b->rq = *rq;
	if (b->rq.runs > RUNS_MAX)
		b->rq.runs = RUNS_MAX;
	if (b->rq.request > rq->size)
		b->rq.request = (unsigned int)(rq->size / SMALLEST * SMALLEST);
	b->total_ms = 2 * (b->rq.runs + 1) * b->rq.run_ms + SPARE_MS;
	limits.total_ms = b->total_ms + 1000;
	if (b->rq.request)
		trial_run(reads, &b->trial, &limits, &end, left, sizeof(left));
	else
		end.err = -EDOM;
	for (unsigned int s = 0; s < 2; s++) {
		/* a child that could not be killed still has the memory */
		unsigned int n = b->n[s] < RUNS_MAX ? b->n[s] : RUNS_MAX;

		rate_from(b->rate[s], n, s ? &res->mapped : &res->raw);
	}
	explain(end.err, b, res);
	trial_free(b, sizeof(*b));
	return end.err;
}

/* --- key slots --------------------------------------------------------------------------------------------- */

#define PBKDF2_RUN_S   0.2
#define PBKDF2_FIRST   1000u
#define PBKDF2_MOST    100000000u
#define PASSES	       4u   /* the least that libcryptsetup takes */
#define UNLOCK_RUN_MS  200u /* an Argon2 trial that takes this long is long enough */
#define UNLOCK_LIMIT_MS 60000
#define MEM_UNKNOWN_KIB (64u * 1024)

struct unlock {
	const struct vol_keyslot *slot;
	uint64_t mem_kib;
};

/* Seconds that so many iterations take; negative when libcrypto lacks the hash. */
static double pbkdf2_s(const struct vol_keyslot *s, unsigned int iterations)
{
	unsigned char salt[32] = { 1 }, key[128];
	const EVP_MD *md = EVP_get_digestbyname(s->hash);
	size_t len = s->key_bits / 8 && s->key_bits / 8 <= sizeof(key) ? s->key_bits / 8 : 32;
	double start = clock_s();

	if (!md || PKCS5_PBKDF2_HMAC("trial", 5, salt, sizeof(salt), (int)iterations, md, (int)len, key) != 1)
		return -1;
	return clock_s() - start;
}

static int unlock_pbkdf2(const struct vol_keyslot *s, double *seconds)
{
	unsigned int n = PBKDF2_FIRST;
	double t = pbkdf2_s(s, n);

	while (t >= 0 && t < PBKDF2_RUN_S && n < PBKDF2_MOST)
		t = pbkdf2_s(s, n *= 2);
	*seconds = t / n * s->iterations;
	return t < 0 ? -ENOTSUP : 0;
}

/* What PASSES passes more take: the rest of an unlock, which a slow machine feels as well, is in both and drops out. */
static int passes_ms(const struct vol_pbkdf *p, unsigned int *ms)
{
	unsigned int few = 0, many = 0;
	int r = vol_pbkdf_trial(p, PASSES, &few);

	if (!r)
		r = vol_pbkdf_trial(p, 2 * PASSES, &many);
	*ms = !r && many > few ? many - few : 0;
	return r;
}

static int unlock_argon2(const struct vol_keyslot *s, uint64_t most_kib, double *seconds)
{
	struct vol_pbkdf p = { .memory_kib = VOL_PBKDF_TRIAL_KIB, .parallel = s->parallel ? s->parallel : 1 };
	uint64_t most = s->memory_kib < most_kib ? s->memory_kib : most_kib;
	unsigned int ms;
	int r;

	str_copy(p.type, sizeof(p.type), s->pbkdf);
	str_copy(p.hash, sizeof(p.hash), "sha256");
	for (;;) {
		r = passes_ms(&p, &ms);
		if (r || ms >= UNLOCK_RUN_MS || (uint64_t)p.memory_kib * 4 > most)
			break;
		p.memory_kib *= 4;
	}
	if (!r)
		*seconds = ms / 1e3 * s->iterations / PASSES * s->memory_kib / p.memory_kib;
	return r ? r : ms ? 0 : -ERANGE;
}

static int unlock(void *arg, int out)
{
	struct unlock *u = arg;
	double seconds = 0;
	int r = !strcmp(u->slot->pbkdf, "pbkdf2") ? unlock_pbkdf2(u->slot, &seconds) : unlock_argon2(u->slot, u->mem_kib, &seconds);

	if (!r && write(out, &seconds, sizeof(seconds)) != (ssize_t)sizeof(seconds))
		r = -EIO;
	return r;
}

int measure_unlock(const struct vol_keyslot *s, uint64_t mem_kib, double *seconds)
{
	struct unlock u = { .slot = s, .mem_kib = mem_kib ? mem_kib : MEM_UNKNOWN_KIB };
	struct child_result res = { 0 };
	int r;

	if (!s->iterations || (strcmp(s->pbkdf, "pbkdf2") && !str_starts(s->pbkdf, "argon2")))
		return -ENOTSUP;
	/* libcryptsetup keeps the random source open that it once opened */
	r = child_run(unlock, &u, UNLOCK_LIMIT_MS, CHILD_KEEP_FDS, &res);
	if (!r && res.out.len == sizeof(*seconds))
		memcpy(seconds, res.out.s, sizeof(*seconds));
	else if (!r)
		r = -EIO;
	strbuf_free(&res.out);
	return r;
}
