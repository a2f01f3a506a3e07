// SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
/*
 * For: the AES block of an AMD Geode LX as a driver sees it (see geode-engine.h).
 * Must not know: QEMU, sockets, files. It has an AES of its own, so that a test against libcrypto
 *      compares two implementations.
 *
 * Register use is that of Linux drivers/crypto/geode-aes.[ch] (5.10 to 6.12).
 */
#include "geode-engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AES_BLOCK     16
#define AES128_ROUNDS 10

enum geode_reg {
	REG_CTRL_A = 0x00,
	REG_INTR = 0x08,
	REG_SRC_A = 0x10,
	REG_DST_A = 0x14,
	REG_LEN_A = 0x18,
	REG_WRITABLE_KEY = 0x30,
	REG_WRITABLE_IV = 0x40,
};

enum geode_ctrl {
	CTRL_START = 0x01,
	CTRL_ENCRYPT = 0x02,
	CTRL_WRITABLE_KEY = 0x04,
	CTRL_CBC = 0x20,
};

enum geode_intr {
	INTR_MASK = 0x00000007,
	INTR_DONE_A = 0x00010000,
	INTR_DONE_B = 0x00020000,
};

/* --- AES-128, tables made at first use ----------------------------------------------------- */

struct aes128 {
	uint8_t key[AES128_ROUNDS + 1][AES_BLOCK];
};

static uint8_t sbox[256], inv_sbox[256];
/* Products in GF(2^8): of the S-box output with 1, 2, 3 (one column of MixColumns) and of a plain
 * byte with 14, 9, 13, 11 (one of its inverse). Byte 0 of a column is the lowest. */
static uint32_t enc_column[256], inv_column[256];

static uint8_t gf_mul(uint8_t a, uint8_t b)
{
	uint8_t r = 0;

	for (; b; b >>= 1) {
		if (b & 1)
			r ^= a;
		a = (uint8_t)(a << 1 ^ (a & 0x80 ? 0x1b : 0));
	}
	return r;
}

static uint32_t column(uint8_t b0, uint8_t b1, uint8_t b2, uint8_t b3)
{
	return (uint32_t)b0 | (uint32_t)b1 << 8 | (uint32_t)b2 << 16 | (uint32_t)b3 << 24;
}

static uint8_t rotl8(uint8_t x, unsigned int n)
{
	return (uint8_t)(x << n | x >> (8 - n));
}

static void aes_tables(void)
{
	uint8_t p = 1, q = 1;
	unsigned int i;

	if (sbox[0])
		return;
	/* p runs through all non-zero elements (3 generates them), q through their inverses. */
	do {
		p = gf_mul(p, 3);
		q = gf_mul(q, 0xf6);
		sbox[p] = q ^ rotl8(q, 1) ^ rotl8(q, 2) ^ rotl8(q, 3) ^ rotl8(q, 4) ^ 0x63;
	} while (p != 1);
	sbox[0] = 0x63;
	for (i = 0; i < 256; i++)
		inv_sbox[sbox[i]] = (uint8_t)i;
	for (i = 0; i < 256; i++) {
		uint8_t s = sbox[i], b = (uint8_t)i;

		enc_column[i] = column(gf_mul(s, 2), s, s, gf_mul(s, 3));
		inv_column[i] = column(gf_mul(b, 14), gf_mul(b, 9), gf_mul(b, 13), gf_mul(b, 11));
	}
}

static void aes_expand(struct aes128 *k, const uint8_t key[AES_BLOCK])
{
	uint8_t *w = k->key[0], rcon = 1;
	unsigned int i;

	aes_tables();
	memcpy(w, key, AES_BLOCK);
	for (i = AES_BLOCK; i < sizeof(k->key); i += 4) {
		uint8_t t[4];

		memcpy(t, w + i - 4, 4);
		if (i % AES_BLOCK == 0) {
			uint8_t first = t[0];

			t[0] = sbox[t[1]] ^ rcon;
			t[1] = sbox[t[2]];
			t[2] = sbox[t[3]];
			t[3] = sbox[first];
			rcon = gf_mul(rcon, 2);
		}
		for (unsigned int j = 0; j < 4; j++)
			w[i + j] = w[i + j - AES_BLOCK] ^ t[j];
	}
}

static void xor_block(uint8_t *d, const uint8_t *a, const uint8_t *b)
{
	for (unsigned int i = 0; i < AES_BLOCK; i++)
		d[i] = a[i] ^ b[i];
}

static uint32_t rotl32(uint32_t x, unsigned int n)
{
	return n ? x << n | x >> (32 - n) : x;
}

static void store_column(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static void aes_encrypt(const struct aes128 *k, uint8_t *out, const uint8_t *in)
{
	uint8_t s[AES_BLOCK], t[AES_BLOCK];
	unsigned int r, c, row;

	xor_block(s, in, k->key[0]);
	for (r = 1; r < AES128_ROUNDS; r++) {
		for (c = 0; c < 4; c++) {
			uint32_t v = 0;

			/* row moves left by its number: the byte comes from column c + row */
			for (row = 0; row < 4; row++)
				v ^= rotl32(enc_column[s[4 * ((c + row) % 4) + row]], 8 * row);
			store_column(t + 4 * c, v);
		}
		xor_block(s, t, k->key[r]);
	}
	for (c = 0; c < 4; c++)
		for (row = 0; row < 4; row++)
			t[4 * c + row] = sbox[s[4 * ((c + row) % 4) + row]];
	xor_block(out, t, k->key[AES128_ROUNDS]);
}

static void aes_decrypt(const struct aes128 *k, uint8_t *out, const uint8_t *in)
{
	uint8_t s[AES_BLOCK], t[AES_BLOCK];
	unsigned int r, c, row;

	xor_block(s, in, k->key[AES128_ROUNDS]);
	for (r = AES128_ROUNDS - 1;; r--) {
		for (c = 0; c < 4; c++)
			for (row = 0; row < 4; row++)
				t[4 * ((c + row) % 4) + row] = inv_sbox[s[4 * c + row]];
		xor_block(s, t, k->key[r]);
		if (r == 0)
			break;
		for (c = 0; c < 4; c++) {
			uint32_t v = 0;

			for (row = 0; row < 4; row++)
				v ^= rotl32(inv_column[s[4 * c + row]], 8 * row);
			store_column(s + 4 * c, v);
		}
	}
	memcpy(out, s, AES_BLOCK);
}

/* --- the engine ------------------------------------------------------------------------------ */

/* A key or IV register group as the bytes a driver stored there. */
static void reg_bytes(const struct geode *g, enum geode_reg first, uint8_t out[AES_BLOCK])
{
	for (unsigned int i = 0; i < 4; i++)
		store_column(out + 4 * i, g->regs[first / 4 + i]);
}

static void reg_set_bytes(struct geode *g, enum geode_reg first, const uint8_t in[AES_BLOCK])
{
	for (unsigned int i = 0; i < 4; i++)
		g->regs[first / 4 + i] =
			column(in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3]);
}

/* Does the fault strike this request? Counts the requests it is entitled to. */
static bool fault_strikes(struct geode *g, uint32_t len)
{
	if (g->fault.kind == GEODE_FAULT_NONE || len < g->fault.min_len)
		return false;
	if (g->fault.armed && !g->is_armed)
		return false;
	if (g->could_fault++ < g->fault.after)
		return false;
	g->faults++;
	return true;
}

static void run(struct geode *g, uint32_t ctrl)
{
	const bool encrypt = ctrl & CTRL_ENCRYPT, cbc = ctrl & CTRL_CBC;
	const uint32_t len = g->regs[REG_LEN_A / 4];
	enum geode_fault_kind fault = GEODE_FAULT_NONE;
	uint8_t key[AES_BLOCK], iv[AES_BLOCK], in[AES_BLOCK], block[AES_BLOCK];
	uint8_t *src = NULL, *dst = NULL;
	struct aes128 k;
	uint32_t i;

	if (len && len % AES_BLOCK == 0 && ctrl & CTRL_WRITABLE_KEY) {
		src = g->dma(g->opaque, g->regs[REG_SRC_A / 4], len);
		dst = g->dma(g->opaque, g->regs[REG_DST_A / 4], len);
	}
	if (!src || !dst) {
		/* Never done: a driver that asks for this must be seen to fail. */
		g->rejected++;
		return;
	}
	if (fault_strikes(g, len))
		fault = g->fault.kind;
	if (fault == GEODE_FAULT_HANG)
		return;

	reg_bytes(g, REG_WRITABLE_KEY, key);
	reg_bytes(g, REG_WRITABLE_IV, iv);
	aes_expand(&k, key);
	for (i = 0; i < len; i += AES_BLOCK) {
		memcpy(in, src + i, AES_BLOCK); /* source and destination may be the same */
		if (encrypt) {
			if (cbc)
				xor_block(in, in, iv);
			aes_encrypt(&k, block, in);
			memcpy(iv, block, AES_BLOCK);
		} else {
			aes_decrypt(&k, block, in);
			if (cbc)
				xor_block(block, block, iv);
			memcpy(iv, in, AES_BLOCK);
		}
		memcpy(dst + i, block, AES_BLOCK);
	}
	if (fault == GEODE_FAULT_DATA)
		dst[0] ^= 1;
	if (cbc) {
		/* The driver reads the next IV back from here. */
		if (fault == GEODE_FAULT_IV)
			iv[0] ^= 1;
		reg_set_bytes(g, REG_WRITABLE_IV, iv);
	}
	g->count[cbc][encrypt].ops++;
	g->count[cbc][encrypt].bytes += len;
	g->regs[REG_INTR / 4] |= INTR_DONE_A;
}

uint32_t geode_bar_read(const struct geode *g, uint64_t addr, unsigned int width)
{
	const uint32_t off = addr & (GEODE_BAR_SIZE - 1);

	if (width != 4 || off % 4 || off >= sizeof(g->regs))
		return 0;
	return g->regs[off / 4];
}

void geode_bar_write(struct geode *g, uint64_t addr, uint32_t value, unsigned int width)
{
	const uint32_t off = addr & (GEODE_BAR_SIZE - 1);

	if (width != 4 || off % 4 || off >= sizeof(g->regs))
		return;
	switch (off) {
	case REG_CTRL_A:
		g->regs[0] = value & ~(uint32_t)CTRL_START;
		if (value & CTRL_START)
			run(g, value);
		break;
	case REG_INTR:
		/* the done bits are cleared by writing ones, the mask is plain */
		g->regs[off / 4] &= ~value & (INTR_DONE_A | INTR_DONE_B);
		g->regs[off / 4] |= value & INTR_MASK;
		break;
	default:
		g->regs[off / 4] = value;
	}
}

/* --- configuration space -------------------------------------------------------------------- */

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

/* Which bits of a configuration byte a write changes; what a BAR sizing must not find stays 0. */
static uint8_t config_writable(uint32_t off)
{
	static const uint8_t mask[GEODE_CONFIG_SIZE] = {
		[0x04] = 0x47,
		[0x05] = 0x05, /* command */
		[0x0c] = 0xff,
		[0x0d] = 0xff, /* cache line, latency */
		[0x11] = 0xc0,
		[0x12] = 0xff,
		[0x13] = 0xff, /* BAR 0: 16 KiB of memory */
		[0x3c] = 0xff, /* interrupt line */
		[GEODE_CONFIG_ARM] = 0xff,
	};

	return off < GEODE_CONFIG_SIZE ? mask[off] : 0;
}

void geode_reset(struct geode *g)
{
	memset(g->regs, 0, sizeof(g->regs));
	put16(g->config + 0x04, 0);
	memset(g->config + 0x10, 0, 4);
}

void geode_init(struct geode *g, const struct geode_fault *fault, geode_dma_fn *dma, void *opaque)
{
	memset(g, 0, sizeof(*g));
	if (fault)
		g->fault = *fault;
	g->dma = dma;
	g->opaque = opaque;
	put16(g->config + 0x00, 0x1022);
	put16(g->config + 0x02, 0x2082);
	put16(g->config + 0x0a, 0x1010); /* class: entertainment en/decryption */
	put16(g->config + 0x2c, 0x1022);
	put16(g->config + 0x2e, 0x2082);
	g->config[0x3d] = 1; /* INTA#; never raised, the driver polls */
	aes_tables();
}

static void publish(struct geode *g)
{
	uint8_t *p = g->config + GEODE_CONFIG_COUNTS;

	for (unsigned int i = 0; i < 4; i++, p += 8) {
		const struct geode_count *c = &g->count[i / 2][i % 2];

		store_column(p, (uint32_t)c->ops);
		store_column(p + 4, (uint32_t)c->bytes);
	}
	store_column(g->config + GEODE_CONFIG_FAULTS, (uint32_t)g->faults);
}

uint32_t geode_config_read(struct geode *g, uint32_t offset, unsigned int width)
{
	uint32_t v = 0;

	publish(g);
	for (unsigned int i = 0; i < width && i < 4 && offset < GEODE_CONFIG_SIZE; i++)
		if (offset + i < GEODE_CONFIG_SIZE)
			v |= (uint32_t)g->config[offset + i] << (8 * i);
	return v;
}

void geode_config_write(struct geode *g, uint32_t offset, uint32_t value, unsigned int width)
{
	for (unsigned int i = 0; i < width && i < 4 && offset < GEODE_CONFIG_SIZE; i++) {
		const uint8_t mask = config_writable(offset + i);

		if (mask)
			g->config[offset + i] = (uint8_t)((g->config[offset + i] & ~mask) |
			                                  (value >> (8 * i) & mask));
	}
	g->is_armed = g->config[GEODE_CONFIG_ARM] != 0;
}

/* --- faults ---------------------------------------------------------------------------------- */

static int parse_number(const char *text, size_t len, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (len == 0 || len > 18)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		v = v * 10 + (uint64_t)(text[i] - '0');
	}
	if (v > max)
		return -EINVAL;
	*out = v;
	return 0;
}

static bool word_is(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(text, word, len);
}

int geode_fault_parse(const char *text, struct geode_fault *fault)
{
	static const char *const kinds[] = {
		[GEODE_FAULT_NONE] = "none",
		[GEODE_FAULT_DATA] = "data",
		[GEODE_FAULT_IV] = "iv",
		[GEODE_FAULT_HANG] = "hang",
	};
	struct geode_fault f = { 0 };
	size_t len = strcspn(text, ",");
	unsigned int kind;
	uint64_t n;

	for (kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		if (word_is(text, len, kinds[kind]))
			break;
	if (kind == sizeof(kinds) / sizeof(kinds[0]))
		return -EINVAL;
	f.kind = (enum geode_fault_kind)kind;
	while (text[len] == ',') {
		text += len + 1;
		len = strcspn(text, ",");
		if (word_is(text, len, "armed")) {
			f.armed = true;
		} else if (!strncmp(text, "after=", 6) &&
		           !parse_number(text + 6, len - 6, UINT64_MAX, &n)) {
			f.after = n;
		} else if (!strncmp(text, "min=", 4) &&
		           !parse_number(text + 4, len - 4, UINT32_MAX, &n)) {
			f.min_len = (uint32_t)n;
		} else {
			return -EINVAL;
		}
	}
	if (f.kind == GEODE_FAULT_NONE && (f.armed || f.after || f.min_len))
		return -EINVAL;
	*fault = f;
	return 0;
}
