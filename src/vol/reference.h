/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The ciphertext that dm-crypt must produce, by libcrypto. Must not know devices: buffers in,
 * buffers out. Also used by the guest tests to compare raw disks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cipher_spec.h"

/*
 * True for aes in ecb, in cbc with plain, plain64, plain64be, null, or essiv with sha256 or md5,
 * and in xts with plain, plain64, plain64be, at the key sizes libcrypto has (128, 192, 256; xts
 * 256, 512; xts 384 is built from single blocks). One key only (keycount 1).
 */
bool reference_has(const struct cipher_spec *spec);

struct reference; /* holds an expanded key; freeing wipes it */
/* Key of spec->key_bits / 8 bytes. 0, -ENOTSUP when reference_has() says no, -EINVAL, -ENOMEM. */
int reference_new(const struct cipher_spec *spec, const void *key, struct reference **out);
void reference_free(struct reference *r);
/*
 * Encrypts (or decrypts) len bytes, a multiple of the spec's sector size (0 = 512), the first of
 * which has IV number `sector` counted in 512-byte sectors, as dm-crypt does without
 * iv_large_sectors. in == out is allowed. 0 or -EINVAL, -EIO.
 */
int reference_crypt(struct reference *r, bool encrypt, uint64_t sector, const void *in, void *out,
                    size_t len);
