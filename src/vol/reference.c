/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The ciphertext that dm-crypt must produce, by libcrypto. Must not know devices: buffers in,
 * buffers out. IVs as in drivers/md/dm-crypt.c (6.1): plain 32 bits LE, plain64 64 bits LE,
 * plain64be big-endian at the end.
 */
#include "vol/reference.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

#define BLOCK 16u

enum ref_mode { REF_ECB, REF_CBC, REF_XTS, REF_XTS_BY_BLOCKS };
enum ref_iv {
	REF_IV_NONE,
	REF_IV_NULL,
	REF_IV_PLAIN,
	REF_IV_PLAIN64,
	REF_IV_PLAIN64BE,
	REF_IV_ESSIV
};

struct reference {
	enum ref_mode mode;
	enum ref_iv iv;
	unsigned int sector_size;
	EVP_CIPHER_CTX *enc, *dec; /* data */
	EVP_CIPHER_CTX *ivc;       /* single blocks: ESSIV, or the tweak of XTS by blocks */
};

static int find_iv(const struct cipher_spec *spec, enum ref_iv *iv)
{
	static const struct {
		const char *name;
		enum ref_iv iv;
	} ivs[] = {
		{ "", REF_IV_NONE },
		{ "null", REF_IV_NULL },
		{ "plain", REF_IV_PLAIN },
		{ "plain64", REF_IV_PLAIN64 },
		{ "plain64be", REF_IV_PLAIN64BE },
		{ "essiv", REF_IV_ESSIV },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ivs); i++) {
		if (strcmp(spec->iv, ivs[i].name))
			continue;
		*iv = ivs[i].iv;
		if (*iv != REF_IV_ESSIV)
			return 0;
		return !strcmp(spec->ivopts, "sha256") || !strcmp(spec->ivopts, "md5") ? 0
		                                                                       : -ENOTSUP;
	}
	return -ENOTSUP;
}

static int find_mode(const struct cipher_spec *spec, enum ref_mode *mode)
{
	unsigned int bits = spec->key_bits;

	if (!strcmp(spec->mode, "xts")) {
		*mode = bits == 384 ? REF_XTS_BY_BLOCKS : REF_XTS;
		return bits == 256 || bits == 384 || bits == 512 ? 0 : -ENOTSUP;
	}
	if (bits != 128 && bits != 192 && bits != 256)
		return -ENOTSUP;
	*mode = !strcmp(spec->mode, "ecb") ? REF_ECB : REF_CBC;
	return *mode == REF_ECB || !strcmp(spec->mode, "cbc") ? 0 : -ENOTSUP;
}

static int find(const struct cipher_spec *spec, enum ref_mode *mode, enum ref_iv *iv)
{
	if (strcmp(spec->cipher, "aes") || spec->keycount > 1)
		return -ENOTSUP;
	if (find_mode(spec, mode) || find_iv(spec, iv))
		return -ENOTSUP;
	/* ecb takes no IV, the others need one */
	if (*mode == REF_ECB)
		*iv = REF_IV_NONE;
	else if (*iv == REF_IV_NONE)
		return -ENOTSUP;
	return 0;
}

bool reference_has(const struct cipher_spec *spec)
{
	enum ref_mode mode;
	enum ref_iv iv;

	return !find(spec, &mode, &iv);
}

static EVP_CIPHER_CTX *keyed(const char *cipher, const void *key, bool encrypt)
{
	static const unsigned char no_iv[BLOCK];
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();

	if (c && EVP_CipherInit_ex(c, EVP_get_cipherbyname(cipher), NULL, key, no_iv, encrypt) == 1 &&
	    EVP_CIPHER_CTX_set_padding(c, 0) == 1)
		return c;
	EVP_CIPHER_CTX_free(c);
	return NULL;
}

/* The cipher that makes IVs, keyed with the hash of the volume key. */
static EVP_CIPHER_CTX *essiv_cipher(const struct cipher_spec *spec, const void *key)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	EVP_CIPHER_CTX *c = NULL;
	unsigned int len;

	if (EVP_Digest(key, spec->key_bits / 8, hash, &len, EVP_get_digestbyname(spec->ivopts), NULL) == 1)
		c = keyed(len == 16 ? "aes-128-ecb" : "aes-256-ecb", hash, true);
	OPENSSL_cleanse(hash, sizeof(hash));
	return c;
}

/* libcrypto's name. It counts one of XTS's two keys; XTS by blocks is made of single blocks. */
static void name_cipher(enum ref_mode mode, unsigned int bits, char *buf, size_t size)
{
	bool two_keys = mode == REF_XTS || mode == REF_XTS_BY_BLOCKS;

	snprintf(buf, size, "aes-%u-%s", two_keys ? bits / 2 : bits, mode == REF_XTS ? "xts" : mode == REF_CBC ? "cbc" : "ecb");
}

int reference_new(const struct cipher_spec *spec, const void *key, struct reference **out)
{
	struct reference *r = xcalloc(1, sizeof(*r));
	char cipher[24];
	int err = find(spec, &r->mode, &r->iv);

	*out = NULL;
	if (err)
		goto fail;
	err = -ENOMEM;
	r->sector_size = spec->sector_size ? spec->sector_size : 512;
	name_cipher(r->mode, spec->key_bits, cipher, sizeof(cipher));
	r->enc = keyed(cipher, key, true);
	r->dec = keyed(cipher, key, false);
	if (r->iv == REF_IV_ESSIV)
		r->ivc = essiv_cipher(spec, key);
	else if (r->mode == REF_XTS_BY_BLOCKS)
		r->ivc = keyed(cipher, (const char *)key + 24, true);
	if (!r->enc || !r->dec ||
	    (!r->ivc && (r->iv == REF_IV_ESSIV || r->mode == REF_XTS_BY_BLOCKS)))
		goto fail;
	*out = r;
	return 0;
fail:
	reference_free(r);
	return err;
}

void reference_free(struct reference *r)
{
	if (!r)
		return;
	EVP_CIPHER_CTX_free(r->enc); /* libcrypto wipes expanded keys */
	EVP_CIPHER_CTX_free(r->dec);
	EVP_CIPHER_CTX_free(r->ivc);
	free(r);
}

static bool run(EVP_CIPHER_CTX *c, const unsigned char *iv, const void *in, void *out, size_t len)
{
	int n = 0;

	return EVP_CipherInit_ex(c, NULL, NULL, NULL, iv, -1) == 1 &&
	       EVP_CipherUpdate(c, out, &n, in, (int)len) == 1 && (size_t)n == len;
}

static bool make_iv(struct reference *r, uint64_t sector, unsigned char iv[BLOCK])
{
	unsigned int bytes = r->iv == REF_IV_PLAIN ? 4 : 8;

	memset(iv, 0, BLOCK);
	if (r->iv == REF_IV_NONE || r->iv == REF_IV_NULL)
		return true;
	for (unsigned int i = 0; i < bytes; i++)
		iv[r->iv == REF_IV_PLAIN64BE ? BLOCK - 1 - i : i] =
			(unsigned char)(sector >> (8 * i));
	return r->iv != REF_IV_ESSIV || run(r->ivc, NULL, iv, iv, BLOCK);
}

static void xor_block(unsigned char *out, const unsigned char *in, const unsigned char *tweak)
{
	for (unsigned int i = 0; i < BLOCK; i++)
		out[i] = in[i] ^ tweak[i];
}

/* Times x in GF(2^128), little-endian as IEEE 1619 has it. */
static void next_tweak(unsigned char t[BLOCK])
{
	unsigned int carry = 0;

	for (unsigned int i = 0; i < BLOCK; i++) {
		unsigned int v = (unsigned int)t[i] << 1 | carry;

		t[i] = (unsigned char)v;
		carry = v >> 8;
	}
	if (carry)
		t[0] ^= 0x87;
}

/* 2 x 192 bits: dm-crypt takes it, libcrypto has no such cipher. */
static bool xts_by_blocks(struct reference *r, bool encrypt, const unsigned char *iv,
                          const unsigned char *in, unsigned char *out)
{
	unsigned char tweak[BLOCK], block[BLOCK];

	if (!run(r->ivc, NULL, iv, tweak, BLOCK))
		return false;
	for (size_t at = 0; at < r->sector_size; at += BLOCK) {
		xor_block(block, in + at, tweak);
		if (!run(encrypt ? r->enc : r->dec, NULL, block, block, BLOCK))
			return false;
		xor_block(out + at, block, tweak);
		next_tweak(tweak);
	}
	return true;
}

int reference_crypt(struct reference *r, bool encrypt, uint64_t sector, const void *in, void *out,
                    size_t len)
{
	unsigned char iv[BLOCK];
	bool ok;

	if (len % r->sector_size)
		return -EINVAL;
	for (size_t at = 0; at < len; at += r->sector_size) {
		const unsigned char *from = (const unsigned char *)in + at;
		unsigned char *to = (unsigned char *)out + at;

		ok = make_iv(r, sector + at / 512, iv);
		if (ok && r->mode == REF_XTS_BY_BLOCKS)
			ok = xts_by_blocks(r, encrypt, iv, from, to);
		else if (ok)
			ok = run(encrypt ? r->enc : r->dec, r->mode == REF_ECB ? NULL : iv, from,
			         to, r->sector_size);
		if (!ok)
			return -EIO;
	}
	return 0;
}
