/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The engines that make random bytes in this process: two keystreams of libcrypto, and the kernel's generator.
 * Must not know devices.
 */
#include "fill/fill.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define KEY_LEN 32
#define SLICE	16384 /* zeros that are encrypted at a time: they stay in the first cache */
#define CHOOSE_MS 50
#define CHOOSE_TURNS 5

static const unsigned char zeros[SLICE];

int fill_key(struct secret *key)
{
	char raw[KEY_LEN];
	int r = getrandom(raw, sizeof(raw), 0) == (ssize_t)sizeof(raw) ? 0 : -EIO;

	if (!r)
		r = secret_copy(raw, sizeof(raw), key);
	explicit_bzero(raw, sizeof(raw));
	return r;
}

static void *cipher_new(const struct secret *key, const EVP_CIPHER *cipher)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	if (ctx && key->len == KEY_LEN &&
	    EVP_EncryptInit_ex(ctx, cipher, NULL, (const unsigned char *)key->data, NULL) == 1)
		return ctx;
	EVP_CIPHER_CTX_free(ctx);
	return NULL;
}

static void cipher_free(void *thread)
{
	EVP_CIPHER_CTX_free(thread);
}

static int cipher_make(EVP_CIPHER_CTX *ctx, const unsigned char iv[16], unsigned char *buf, size_t len)
{
	if (EVP_EncryptInit_ex(ctx, NULL, NULL, NULL, iv) != 1)
		return -EIO;
	while (len) {
		int n = len < SLICE ? (int)len : SLICE, got;

		if (EVP_EncryptUpdate(ctx, buf, &got, zeros, n) != 1 || got != n)
			return -EIO;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The counter is the number of the 16-byte block on the device. */
static int aes_make(void *thread, uint64_t offset, unsigned char *buf, size_t len)
{
	unsigned char iv[16] = { 0 };

	for (unsigned int i = 0; i < 8; i++)
		iv[15 - i] = (unsigned char)(offset / 16 >> (8 * i));
	return cipher_make(thread, iv, buf, len);
}

static void *aes_new(const struct secret *key)
{
	return cipher_new(key, EVP_aes_256_ctr());
}

/*
 * The number of the 64-byte block, little-endian, in what OpenSSL takes as counter and first word of the nonce. It is
 * set anew for each chunk, and no chunk crosses a border of 2^32 blocks: how the library carries does not matter.
 */
static int chacha_make(void *thread, uint64_t offset, unsigned char *buf, size_t len)
{
	unsigned char iv[16] = { 0 };

	put_le(iv, offset / 64, 8);
	return cipher_make(thread, iv, buf, len);
}

static void *chacha_new(const struct secret *key)
{
	return cipher_new(key, EVP_chacha20());
}

static void *urandom_new(const struct secret *key)
{
	(void)key;
	return xcalloc(1, 1);
}

static int urandom_make(void *thread, uint64_t offset, unsigned char *buf, size_t len)
{
	(void)thread;
	(void)offset;
	while (len) {
		ssize_t n = getrandom(buf, len < SLICE ? len : SLICE, 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			buf += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

const struct fill_engine fill_engines[] = {
	{ "aes", "AES-256-CTR", true, aes_new, aes_make, cipher_free },
	{ "chacha", "ChaCha20", true, chacha_new, chacha_make, cipher_free },
	{ "urandom", "the kernel's generator", false, urandom_new, urandom_make, free },
};
const size_t fill_engine_count = ARRAY_SIZE(fill_engines);

const struct fill_engine *fill_engine_find(const char *name)
{
	for (size_t i = 0; i < fill_engine_count; i++)
		if (!strcmp(fill_engines[i].name, name))
			return &fill_engines[i];
	return NULL;
}

/* CPU time of this thread: what else the machine does must not decide. */
static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double fill_engine_rate(const struct fill_engine *e, unsigned int ms)
{
	cleanup_secret struct secret key = { 0 };
	const size_t piece = 4 * SLICE;
	unsigned char *buf = xcalloc(1, piece);
	void *thread = fill_key(&key) ? NULL : e->thread_new(&key);
	double start, now = 0, rate = 0;
	uint64_t n = 0;

	if (thread && !e->make(thread, 0, buf, piece)) {
		start = cpu_now();
		do {
			if (e->make(thread, n % FILL_CHUNK, buf, piece))
				break;
			n += piece;
			now = cpu_now();
		} while (now - start < ms / 1e3);
		rate = now > start ? (double)n / (now - start) : 0;
	}
	if (thread)
		e->thread_free(thread);
	free(buf);
	return rate;
}

/* In turns, and the best turn counts: the clock of the CPU moves meanwhile. */
const struct fill_engine *fill_engine_choose(double *rate)
{
	size_t best = fill_engine_count - 1;

	memset(rate, 0, fill_engine_count * sizeof(*rate));
	for (unsigned int turn = 0; turn < CHOOSE_TURNS; turn++)
		for (size_t i = 0; i < fill_engine_count; i++) {
			double r = fill_engine_rate(&fill_engines[i], CHOOSE_MS / CHOOSE_TURNS);

			rate[i] = r > rate[i] ? r : rate[i];
		}
	for (size_t i = 0; i < fill_engine_count; i++)
		if (rate[i] > rate[best])
			best = i;
	return &fill_engines[best];
}
