/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Proves that the driver the kernel binds for a spec encrypts right, before a volume depends on it.
 * Knows mappings and children; must not know what a caller does with the answer. The method is
 * described in verify.h.
 */
#include "vol/verify.h"

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

#include "util/util.h"
#include "vol/reference.h"
#include "vol/trial.h"

#define KIB           1024u
#define UNIT_MIN      (64 * KIB)
#define UNIT_MAX      (512 * KIB)
#define UNITS         8u /* of the passes below, together */
#define REQUEST_MAX   (1024 * KIB)
#define KEY_BYTES_MAX 512u

/* Each pass has its own part of the device, so that one write leaves everything to be compared and
 * read back. */
static const struct {
	unsigned int request; /* bytes; 0 = one sector */
	unsigned int units;
} passes[] = { { 0, 1 }, { 4 * KIB, 1 }, { 64 * KIB, 2 }, { REQUEST_MAX, 4 } };

const char *verify_outcome_name(enum verify_outcome o)
{
	switch (o) {
	case VERIFY_OK:
		return "ok";
	case VERIFY_WRONG_DATA:
		return "wrong-data";
	case VERIFY_READBACK:
		return "readback";
	case VERIFY_HUNG:
		return "hung";
	case VERIFY_OPEN_FAILED:
		return "open-failed";
	case VERIFY_UNAVAILABLE:
		break;
	}
	return "unavailable";
}

bool verify_outcome_bad(enum verify_outcome o)
{
	return o == VERIFY_WRONG_DATA || o == VERIFY_READBACK || o == VERIFY_HUNG;
}

/* Shared with the parent: what is in here when the child is gone is the answer. */
struct proof {
	struct trial trial;
	/* in */
	struct cipher_spec spec; /* sector_size set */
	char cipher[256];        /* "" = the spec's */
	unsigned int ops;
	/* out */
	enum verify_outcome outcome;
	char driver[ALG_NAME_MAX];
	bool ciphertext_checked;
	volatile uint64_t operations;
	uint64_t sector;
	volatile unsigned int request; /* bytes, under way */
	char text[256];
};

/* The child's own. */
struct run {
	struct proof *p;
	int memory, loop, dev; /* the memory file, the loop device over it, the mapping */
	unsigned int sector_size, unit, rounds, round;
	uint64_t seed;
	struct reference *ref;             /* NULL when libcrypto lacks the cipher */
	unsigned char *plain, *got, *want; /* REQUEST_MAX each; got has a sector more */
};

/* --- data
 * ------------------------------------------------------------------------------------------------------
 */

/* Different in every sector and round, so that no stale or misplaced sector can pass. splitmix64
 * (Steele et al., 2014). */
static void make_plain(const struct run *r, uint64_t offset, unsigned int len)
{
	uint64_t x = r->seed ^ ((uint64_t)r->round << 48);

	for (unsigned int at = 0; at < len; at += 8) {
		uint64_t z = x + (offset + at) / 8 * 0x9e3779b97f4a7c15u;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z = (z ^ z >> 27) * 0x94d049bb133111ebu;
		z ^= z >> 31;
		memcpy(r->plain + at, &z, 8);
	}
}

/* Offset of the first sector that differs, or len. */
static unsigned int first_difference(const struct run *r, const unsigned char *a,
                                     const unsigned char *b, unsigned int len)
{
	for (unsigned int at = 0; at < len; at += r->sector_size)
		if (memcmp(a + at, b + at, r->sector_size))
			return at;
	return len;
}

/* Offset of the first sector that is the same in both, or len: what was stored must not be the
 * plain text. */
static unsigned int first_equal(const struct run *r, const unsigned char *a, const unsigned char *b,
                                unsigned int len)
{
	for (unsigned int at = 0; at < len; at += r->sector_size)
		if (!memcmp(a + at, b + at, r->sector_size))
			return at;
	return len;
}

/* --- one request
 * ---------------------------------------------------------------------------------------------------
 */

static int fail(struct run *r, enum verify_outcome outcome, uint64_t offset, const char *what)
{
	struct proof *p = r->p;

	p->outcome = outcome;
	p->sector = offset / 512;
	snprintf(p->text, sizeof(p->text),
	         "%s, first in sector %llu, in requests of %u bytes, after %llu operation%s.", what,
	         (unsigned long long)p->sector, p->request, (unsigned long long)p->operations,
	         plural(p->operations));
	return -EILSEQ;
}

static void done(struct run *r, unsigned int len)
{
	r->p->operations += len / r->sector_size;
	r->p->trial.beat++;
}

static int write_one(struct run *r, uint64_t offset, unsigned int len)
{
	ssize_t n;

	make_plain(r, offset, len);
	n = pwrite(r->dev, r->plain, len, (off_t)offset);
	if (n != (ssize_t)len)
		return fail(r, VERIFY_READBACK, offset,
		            n < 0 ? "Writing gave an I/O error" : "Writing stopped short");
	done(r, len);
	return 0;
}

/* What lies in memory under the mapping after write_one. */
static int check_one(struct run *r, uint64_t offset, unsigned int len)
{
	unsigned int at;

	if (pread(r->memory, r->got, len, (off_t)offset) != (ssize_t)len)
		return fail(r, VERIFY_UNAVAILABLE, offset,
		            "The test device's memory could not be read");
	if (!r->ref) {
		at = first_equal(r, r->got, r->plain, len);
		return at == len ? 0
		                 : fail(r, VERIFY_WRONG_DATA, offset + at,
		                        "The data was stored unencrypted");
	}
	if (reference_crypt(r->ref, true, offset / 512, r->plain, r->want, len))
		return fail(r, VERIFY_UNAVAILABLE, offset, "libcrypto failed to encrypt");
	at = first_difference(r, r->got, r->want, len);
	return at == len ? 0
	                 : fail(r, VERIFY_WRONG_DATA, offset + at,
	                        "The ciphertext differs from libcrypto's");
}

static int read_one(struct run *r, uint64_t offset, unsigned int len)
{
	/* With small sectors every other request gets a buffer that is not aligned to a page. */
	unsigned char *to = r->got + (r->sector_size == 512 && offset / len % 2 ? 512 : 0);
	ssize_t n = pread(r->dev, to, len, (off_t)offset);
	unsigned int at;

	if (n != (ssize_t)len)
		return fail(r, VERIFY_READBACK, offset,
		            n < 0 ? "Reading gave an I/O error" : "Reading stopped short");
	done(r, len);
	make_plain(r, offset, len);
	at = first_difference(r, to, r->plain, len);
	return at == len ? 0
	                 : fail(r, VERIFY_READBACK, offset + at,
	                        "What was read is not what was written");
}

/* --- passes
 * ----------------------------------------------------------------------------------------------------------
 */

static int write_and_check(struct run *r, uint64_t offset, unsigned int len)
{
	int err = write_one(r, offset, len);

	return err ? err : check_one(r, offset, len);
}

/* One step over the whole device, each part in its request size. */
static int run_passes(struct run *r, int (*step)(struct run *r, uint64_t offset, unsigned int len))
{
	uint64_t offset = 0, end;

	for (size_t i = 0; i < ARRAY_SIZE(passes); i++) {
		unsigned int request = passes[i].request ? passes[i].request : r->sector_size;

		if (request < r->sector_size)
			request = r->sector_size;
		if (request > passes[i].units * r->unit)
			request = passes[i].units * r->unit;
		r->p->request = request;
		for (end = offset + passes[i].units * r->unit; offset < end; offset += request) {
			int err = step(r, offset, request);

			if (err)
				return err;
		}
	}
	r->p->request = 0;
	return 0;
}

static int run_rounds(struct run *r)
{
	for (r->round = 0; r->round < r->rounds; r->round++) {
		int err = run_passes(r, write_and_check);

		if (!err)
			err = run_passes(r, read_one);
		if (err)
			return err;
	}
	return 0;
}

/* --- the child
 * ---------------------------------------------------------------------------------------------------
 */

static unsigned int unit_for(uint64_t bytes)
{
	if (bytes / UNITS > UNIT_MAX)
		return UNIT_MAX;
	return bytes / UNITS < UNIT_MIN ? UNIT_MIN : (unsigned int)(bytes / UNITS / UNIT_MIN * UNIT_MIN);
}

/* Of the last pass, as run_passes has it. */
static unsigned int largest_request(const struct proof *p)
{
	unsigned int size = passes[ARRAY_SIZE(passes) - 1].units * unit_for((uint64_t)p->ops * p->spec.sector_size);

	return size < REQUEST_MAX ? size : REQUEST_MAX;
}

/* Size of the device and number of rounds for the operations wanted. */
static void plan(struct run *r)
{
	uint64_t bytes = (uint64_t)r->p->ops * r->sector_size;

	r->unit = unit_for(bytes);
	r->rounds = (unsigned int)((bytes + (uint64_t)UNITS * r->unit - 1) /
	                           ((uint64_t)UNITS * r->unit));
	if (!r->rounds)
		r->rounds = 1;
}

static unsigned char *buffer(size_t size)
{
	void *b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return b == MAP_FAILED ? NULL : b;
}

static int prepare(struct run *r, dev_t *below)
{
	struct proof *p = r->p;
	int err;

	p->outcome = VERIFY_UNAVAILABLE;
	r->plain = buffer(REQUEST_MAX);
	r->got = buffer(REQUEST_MAX + 4096);
	r->want = buffer(REQUEST_MAX);
	if (!r->plain || !r->got || !r->want ||
	    getrandom(&r->seed, sizeof(r->seed), 0) != sizeof(r->seed)) {
		snprintf(p->text, sizeof(p->text), "no memory for the test's buffers");
		return -ENOMEM;
	}
	err = trial_need_dm(p->text, sizeof(p->text));
	if (err)
		return err;
	return trial_loop(&p->trial, (uint64_t)UNITS * r->unit, &r->memory, &r->loop, below,
	                  p->text, sizeof(p->text));
}

static int make_mapping(struct run *r, dev_t below, const void *key)
{
	struct proof *p = r->p;
	char device[32];
	struct mapping_request rq = { .prefix = "hwluks-verify",
		                      .spec = &p->spec,
		                      .cipher = p->cipher[0] ? p->cipher : NULL,
		                      .key = key,
		                      .device = device,
		                      .sectors = (uint64_t)UNITS * r->unit / 512 };
	struct alg_list before;
	int err;

	snprintf(device, sizeof(device), "%u:%u", major(below), minor(below));
	trial_algs(&before);
	err = trial_create(&p->trial, &rq, p->text, sizeof(p->text));
	if (!err)
		trial_driver(&before, &p->spec, rq.cipher, p->driver, sizeof(p->driver));
	else if (err == -ENOENT || err == -EINVAL || err == -ELIBBAD)
		p->outcome = VERIFY_OPEN_FAILED;
	alg_list_free(&before);
	if (err)
		return err;
	r->dev = trial_open(&p->trial, O_RDWR);
	if (r->dev < 0)
		snprintf(p->text, sizeof(p->text), "the test mapping could not be opened: %s",
		         strerror(-r->dev));
	return r->dev < 0 ? r->dev : 0;
}

static int prove_with_key(struct run *r, dev_t below, const void *key)
{
	struct proof *p = r->p;
	int err = make_mapping(r, below, key);

	if (err)
		return err;
	if (reference_has(&p->spec) && reference_new(&p->spec, key, &r->ref)) {
		snprintf(p->text, sizeof(p->text), "libcrypto could not set up %s", p->spec.cipher);
		return -ENOMEM;
	}
	p->ciphertext_checked = r->ref != NULL;
	err = run_rounds(r);
	reference_free(r->ref);
	if (!err)
		p->outcome = VERIFY_OK;
	return err;
}

static int prove(struct trial *t)
{
	struct run r = { .p = (struct proof *)t, .memory = -1, .loop = -1, .dev = -1 };
	size_t len = r.p->spec.key_bits / 8;
	dev_t below = 0;
	void *key;
	int err;

	r.sector_size = r.p->spec.sector_size;
	plan(&r);
	err = prepare(&r, &below);
	if (err)
		return err;
	key = crypt_safe_alloc(len);
	if (!key || getrandom(key, len, 0) != (ssize_t)len)
		err = -ENOMEM;
	else
		err = prove_with_key(&r, below, key);
	crypt_safe_free(key);
	return err; /* the end of the process closes everything, and with it mapping and loop device
	               go */
}

/* --- the parent
 * ----------------------------------------------------------------------------------------------------
 */

/* What the child could not say itself. */
static void judge_end(const struct trial_end *end, const struct trial_limits *limits,
                      struct proof *p)
{
	char size[32];

	if (end->err == -ETIMEDOUT && p->trial.mapping.name[0]) {
		p->outcome = VERIFY_HUNG;
		snprintf(p->text, sizeof(p->text),
		         "No answer for %u s, in a request of %u bytes, after %llu operation%s.",
		         (end->ms < limits->total_ms ? limits->stall_ms : limits->total_ms) / 1000,
		         p->request, (unsigned long long)p->operations, plural(p->operations));
	} else if (end->err == -ECHILD && p->trial.mapping.name[0]) {
		p->outcome = VERIFY_HUNG;
		snprintf(
			p->text, sizeof(p->text),
			"The kernel killed the test (signal %d), in a request of %u bytes, after %llu operation%s.",
			end->signal, p->request, (unsigned long long)p->operations, plural(p->operations));
	} else if (end->err && (p->outcome == VERIFY_OK || !p->text[0])) {
		p->outcome = VERIFY_UNAVAILABLE;
		snprintf(p->text, sizeof(p->text), "the test could not be run: %s",
		         strerror(-end->err));
	} else if (p->outcome == VERIFY_OK) {
		snprintf(
			p->text, sizeof(p->text),
			"%llu operations in requests of %u bytes to %s: %s.",
			(unsigned long long)p->operations, p->spec.sector_size, size_text(largest_request(p), size, sizeof(size)),
			p->ciphertext_checked
				? "the ciphertext equals libcrypto's and reads back"
				: "all data reads back; libcrypto lacks this cipher, so its ciphertext was not compared");
	}
}

static bool set_up(const struct verify_request *rq, struct proof *p, struct verify_result *res)
{
	p->spec = *rq->spec;
	if (!p->spec.sector_size)
		p->spec.sector_size = 512;
	p->ops = rq->ops ? rq->ops : VERIFY_OPS;
	if (rq->cipher)
		str_copy(p->cipher, sizeof(p->cipher), rq->cipher);
	if (p->spec.key_bits && p->spec.key_bits % 8 == 0 && p->spec.key_bits / 8 <= KEY_BYTES_MAX)
		return true;
	res->outcome = VERIFY_OPEN_FAILED;
	snprintf(res->text, sizeof(res->text), "no cipher has a key of %u bits", p->spec.key_bits);
	return false;
}

void verify_driver(const struct verify_request *rq, struct verify_result *res)
{
	const struct trial_limits limits = {
		.stall_ms = rq->stall_ms ? rq->stall_ms : VERIFY_STALL_MS,
		.total_ms = rq->total_ms ? rq->total_ms : VERIFY_TOTAL_MS
	};
	struct proof *p = trial_alloc(sizeof(*p));
	struct trial_end end;

	memset(res, 0, sizeof(*res));
	if (set_up(rq, p, res)) {
		trial_run(prove, &p->trial, &limits, &end, res->left_behind,
		          sizeof(res->left_behind));
		judge_end(&end, &limits, p);
		res->outcome = p->outcome;
		str_copy(res->driver, sizeof(res->driver), p->driver);
		res->ciphertext_checked = p->ciphertext_checked;
		res->operations = p->operations;
		res->sector = p->sector;
		res->request_size = p->request;
		res->ms = end.ms;
		str_copy(res->text, sizeof(res->text), p->text);
	}
	trial_free(p, sizeof(*p));
}

/* --- specs for a driver without a volume
 * --------------------------------------------------------------------------- */

static unsigned int smallest_key(unsigned int keys, unsigned int mode)
{
	static const struct {
		unsigned int key, bits;
	} sizes[] = { { KEYS_128, 128 },     { KEYS_192, 192 },     { KEYS_256, 256 },
		      { KEYS_XTS_256, 256 }, { KEYS_XTS_384, 384 }, { KEYS_XTS_512, 512 } };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if ((keys & sizes[i].key) && (mode == MODE_XTS) == !!(sizes[i].key & KEYS_XTS))
			return sizes[i].bits;
	return 0;
}

size_t verify_specs(const struct accel *a, kver kernel, struct cipher_spec *out, size_t max)
{
	static const struct {
		unsigned int mode;
		enum accel_name name;
		const char *cipher;
	} modes[] = { { MODE_CBC, NAME_CBC, "aes-cbc-plain64" },
		      { MODE_XTS, NAME_XTS, "aes-xts-plain64" },
		      { MODE_ECB, NAME_ECB, "aes-ecb" } };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		unsigned int bits = 0;
		struct spec_error err;

		for_each_alg(g, a)
			if (!bits && g->name == modes[i].name && accel_alg_in(g, kernel))
				bits = smallest_key(g->hw_keys, modes[i].mode);
		if (!bits || n >= max || spec_parse(modes[i].cipher, &out[n], &err))
			continue;
		out[n].key_bits = bits;
		out[n++].sector_size = 512;
	}
	return n;
}
