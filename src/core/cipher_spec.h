/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A dm-crypt cipher spec taken apart: cipher[:keycount]-mode-iv[:ivopts] or capi:api-iv[:ivopts],
 * with key bits and sector size. Pure: text in, struct out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cipher_spec {
	bool capi; /* written in the capi: form */
	/* "aes", "xchacha12,aes", …; "xts", "cbc", …; for capi derived from api, or "" */
	char cipher[64], mode[32];
	/* What dm-crypt asks the crypto API for, without essiv(): "xts(aes)", "cbc-aes-geode" */
	char api[128];
	unsigned int keycount;    /* dm-crypt key count, 1, 2, 4 … 64 */
	char iv[16];              /* IV generator: "plain64", "essiv", …; "" where none (ecb) */
	char ivopts[64];          /* ESSIV hash ("sha256") or benbi shift; "" where none */
	unsigned int key_bits;    /* volume key, whole (XTS counts both halves); 0 = not stated */
	unsigned int sector_size; /* 512, 1024, 2048, 4096; 0 = not stated */
};

/* Where and why a text was refused: text[at .. at+len) is the piece that is wrong. */
struct spec_error {
	size_t at, len;
	char why[200]; /* one sentence: what was found, what is wanted */
};

/* Room for any spec_text and spec_describe. */
#define SPEC_TEXT_MAX 288

/*
 * Parses what cryptsetup accepts for --cipher: cipher[:keycount]-mode-iv[:ivopts], bare "aes" and
 * "aes-plain" = aes-cbc-plain, "aes-ecb", "null" = cipher_null-ecb, mode-less AEADs
 * ("chacha20-random"), and capi:. Refused all the same: empty pieces ("aes-", "plain64:"), which
 * cryptsetup passes on or drops. key_bits and sector_size are left 0. 0, or -EINVAL with *err (may
 * be NULL) filled.
 */
int spec_parse(const char *text, struct cipher_spec *spec, struct spec_error *err);

/* The spec as dm-crypt and LUKS headers write it, without key bits. Returns buf. */
const char *spec_text(const struct cipher_spec *spec, char *buf, size_t size);
/* And with the rest: "aes-xts-plain64, 512-bit key, 4096-byte sectors" (512 stays unsaid). */
const char *spec_describe(const struct cipher_spec *spec, char *buf, size_t size);

/* Two keys in one (xts): the engine sees half of key_bits. */
bool spec_is_xts(const struct cipher_spec *spec);
/*
 * Bits of the key that the data cipher gets: key_bits by keycount, halved for xts; extra IV keys
 * (lmk, tcw, elephant) taken off.
 */
unsigned int spec_cipher_key_bits(const struct cipher_spec *spec);
/*
 * ESSIV: bits of the key of the IV cipher = length of the hash named in ivopts.
 * 0 when the spec has no ESSIV; -EINVAL for a hash this table does not know.
 */
int spec_essiv_key_bits(const struct cipher_spec *spec);
/* What cryptsetup 2.6 and later takes when no key size is asked for: 256 bits, 512 for xts. */
unsigned int spec_default_key_bits(const struct cipher_spec *spec);
/*
 * Checks what can be known without a kernel: key length fits the cipher (AES 128/192/256, twice for
 * xts, adiantum 256 …), ESSIV hash gives a valid key, sector size and IV go together (lmk, tcw: 512
 * only), sector size a power of two. 0, or -EINVAL with err->why; `at`/`len` point into spec_text()
 * where that makes sense.
 */
int spec_check(const struct cipher_spec *spec, struct spec_error *err);

/*
 * What the owner of this spec should know even where the class is good: plain wraps at 2 TiB, CBC
 * is malleable, 64-bit blocks, CTR … One sentence, or NULL.
 */
const char *spec_caution(const struct cipher_spec *spec);

/* Security classes, best first; see policy.h for what they allow. */
enum spec_class {
	SPEC_CLASS_AUTHENTICATED, /* with LUKS2 integrity */
	SPEC_CLASS_STANDARD,      /* xts-plain64, cbc-essiv with a 256-bit hash, adiantum */
	SPEC_CLASS_WATERMARK,     /* CBC with predictable IVs, ESSIV with a 128-bit hash */
	SPEC_CLASS_ECB,           /* equal blocks stay equal */
	SPEC_CLASS_OTHER,         /* nothing hwluks can judge */
};
enum spec_class spec_class(const struct cipher_spec *spec);
const char *spec_class_name(enum spec_class c);     /* "standard", … stable, for JSON */
const char *spec_class_sentence(enum spec_class c); /* one sentence for people */
