/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * LUKS headers: the record, the order of writes, plans, and whole formats of image files.
 * With arguments it is a tool for tests/cli/crash.t instead: "format TYPE IMAGE KEYFILE [HEADER]",
 * "record IMAGE".
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/sys.h"
#include "vol/vol.h"

#define MIB (1024u * 1024u)

static char dir[64];

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

/* Status of a shell command; its output goes nowhere. */
static int run(const char *fmt, ...) PRINTF(1, 2);
static int run(const char *fmt, ...)
{
	char text[900], cmd[1000];
	va_list ap;
	int r;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(cmd, sizeof(cmd), "{ %s; } >/dev/null 2>&1", text);
	r = system(cmd);
	return WIFEXITED(r) ? WEXITSTATUS(r) : -1;
}

static void make_image(const char *path, uint64_t size)
{
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
}

/* --- record ----------------------------------------------------------------------- */

static void sample_record(struct record *r)
{
	memset(r, 0, sizeof(*r));
	r->type = VOL_LUKS2;
	strcpy(r->spec, "aes-cbc-essiv:sha256");
	strcpy(r->uuid, "8fd6b5e1-0d8f-4a0e-9c86-6b0c2f3e4a51");
	r->key_bits = 128;
	r->sector_size = 4096;
	r->device_size = UINT64_C(0x123456789abc);
	r->data_offset = 16 * MIB;
	r->image_len = 16 * MIB;
	r->last_offset = 0x4000;
	r->last_len = 4096;
	r->when = 1796079600;
	r->n_given = 2;
	r->given[0] = (struct record_given){ 0, 0xdeadbeef };
	r->given[1] = (struct record_given){ 65536, 0x12345678 };
	for (int i = 0; i < 32; i++)
		r->last_sha256[i] = (unsigned char)i;
}

static void test_record_round_trip(void **state)
{
	unsigned char b[RECORD_SIZE];
	struct record in, out;

	(void)state;
	sample_record(&in);
	record_encode(&in, b);
	assert_int_equal(record_decode(b, &out), 0);
	assert_memory_equal(&in, &out, sizeof(in));
}

static void test_record_damage(void **state)
{
	unsigned char b[RECORD_SIZE];
	struct record r;

	(void)state;
	sample_record(&r);
	record_encode(&r, b);
	for (unsigned int bit = 0; bit < RECORD_SIZE * 8; bit++) {
		b[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_int_equal(record_decode(b, &r), bit < 16 * 8 ? -ENOENT : -EBADMSG);
		b[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	memset(b, 0, sizeof(b));
	assert_int_equal(record_decode(b, &r), -ENOENT);
}

static void resign(unsigned char *b)
{
	EVP_Digest(b, 480, b + 480, NULL, EVP_sha256(), NULL);
}

/* A well-formed checksum around values nobody may trust. */
static void test_record_hostile(void **state)
{
	static const struct {
		unsigned int at;
		unsigned char value;
		int want;
	} row[] = {
		{ 16, 2, -ENOTSUP },                          /* version */
		{ 20, 3, -EBADMSG },                          /* type */
		{ 20, 0, -EBADMSG },  { 204, 200, -EBADMSG }, /* n_given */
		{ 202, 1, -EBADMSG },                         /* last_len 69632 */
	};
	unsigned char b[RECORD_SIZE];
	struct record r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		sample_record(&r);
		record_encode(&r, b);
		b[row[i].at] = row[i].value;
		resign(b);
		assert_int_equal(record_decode(b, &r), row[i].want);
	}
	sample_record(&r);
	record_encode(&r, b);
	memset(b + 32, 'A', 40 + 96); /* uuid and spec without an end */
	resign(b);
	assert_int_equal(record_decode(b, &r), 0);
	assert_int_equal(strlen(r.uuid), VOL_UUID_MAX - 1);
	assert_int_equal(strlen(r.spec), sizeof(r.spec) - 1);
}

static void test_record_covers(void **state)
{
	cleanup_free char *path = in_dir("covers");
	cleanup_close int fd = -1;
	struct record r = { .type = VOL_LUKS2 };
	enum record_state rs;

	(void)state;
	make_image(path, 100000);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "_BHRfS_M", 8, 65600), 8);
	assert_int_equal(record_give(fd, &r, 65600), 0);
	assert_int_equal(record_give(fd, &r, 65601), 0);
	assert_int_equal(r.n_given, 1);
	assert_int_equal(record_give(fd, &r, 99990), 0); /* in the short last block */
	assert_int_equal(record_give(fd, &r, 200000), -ENODATA);
	assert_true(record_covers(fd, &r, 65600));
	assert_true(record_covers(fd, &r, 99990));
	assert_false(record_covers(fd, &r, 1080));
	assert_int_equal(pwrite(fd, "x", 1, 65536), 1);
	assert_false(record_covers(fd, &r, 65600));
	assert_int_equal(record_read(fd, &r, &rs), 0);
	assert_int_equal(rs, RECORD_NONE);
}

/* --- order of writes -------------------------------------------------------------- */

static const struct header_layout luks2 = { VOL_LUKS2, 4096, 0x4000, 16 * MIB };
static const struct header_layout luks1 = { VOL_LUKS1, 4096, 0, 2 * MIB };

static void expect_order(const struct header_layout *l, const struct header_stale *s, size_t n,
                         const char *want)
{
	static const char *const name[] = { "record", "signature", "keyslots",
		                            "json",   "header2",   "header1" };
	struct header_writes w;
	struct strbuf b = { 0 };

	header_plan_writes(l, s, n, &w);
	for (size_t i = 0; i < w.n; i++)
		strbuf_printf(&b, "%s%s %llx+%llx%s", i ? ", " : "", name[w.v[i].what],
		              (unsigned long long)w.v[i].offset, (unsigned long long)w.v[i].len,
		              w.v[i].barrier ? "!" : "");
	assert_string_equal(b.s, want);
	strbuf_free(&b);
	header_writes_free(&w);
}

#define TAIL2 "keyslots 8000+ff8000, json 1000+7000!, header2 4000+1000!, header1 0+1000!"
#define TAIL1 "keyslots 1000+1ff000!, header1 0+1000!"

static void test_order(void **state)
{
	const struct header_stale ext4[] = { { 1080, 2, false } };
	const struct header_stale btrfs[] = { { 65600, 8, false } };
	const struct header_stale old2[] = { { 0, 6, false }, { 0x4000, 4096, true } };
	const struct header_stale big2[] = { { 0, 6, false }, { 0x400000, 4096, true } };
	const struct header_stale gpt[] = { { 510, 2, false },
		                            { 512, 8, false },
		                            { 0x17ffe00, 8, false } };
	const struct header_stale edge[] = { { 2 * MIB - 4, 8, false } };

	(void)state;
	expect_order(&luks2, NULL, 0, "record 0+1000!, " TAIL2);
	expect_order(&luks2, ext4, 1, "record 0+1000!, " TAIL2);
	expect_order(&luks2, btrfs, 1, "record 0+11000!, " TAIL2);
	expect_order(&luks2, old2, 2, "record 0+5000!, " TAIL2);
	expect_order(&luks2, big2, 2, "record 0+401000!, " TAIL2);
	expect_order(&luks2, gpt, 3, "record 0+1000!, signature 17ffe00+8!, " TAIL2);
	expect_order(&luks1, NULL, 0, "record 0+1000!, " TAIL1);
	expect_order(&luks1, old2, 2, "record 0+5000!, " TAIL1);
	expect_order(&luks1, big2, 2, "record 0+401000!, " TAIL1);
	expect_order(&luks1, edge, 1, "record 0+200000!, signature 200000+4!, " TAIL1);
}

/* Whatever the old content: record first, first block last, every byte of the image written, a
 * barrier at each turn. */
static void test_order_invariants(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 5000; round++) {
		const struct header_layout *l = round & 1 ? &luks1 : &luks2;
		struct header_stale s[4];
		struct header_writes w;
		size_t n = (size_t)rand() % 5, record = 0, i;
		uint64_t covered = 0;

		for (i = 0; i < n; i++) {
			s[i].luks2 = rand() & 1;
			s[i].offset = s[i].luks2 ? header_secondary_offsets[rand() % 9]
			                         : (uint64_t)rand() % (64 * MIB);
			s[i].len = s[i].luks2 ? 4096 : 1 + (uint64_t)rand() % 16;
		}
		header_plan_writes(l, s, n, &w);
		assert_int_equal(w.v[record].what, WRITE_RECORD);
		assert_int_equal(w.v[record].offset, 0);
		assert_true(w.v[record].barrier);
		for (i = record + 1; i < w.n; i++)
			if (w.v[i].what >= WRITE_KEYSLOTS)
				covered += w.v[i].what == WRITE_HEADER_2
				                   ? 0
				                   : w.v[i].len; /* zeroed with the JSON areas */
			else
				assert_true(w.v[i].offset >= l->image_len);
		assert_int_equal(covered, l->image_len);
		assert_int_equal(w.v[w.n - 1].what, WRITE_HEADER_1);
		assert_true(w.v[w.n - 1].barrier && w.v[w.n - 2].barrier);
		for (i = 0; i < n; i++)
			if (s[i].luks2 || s[i].offset + s[i].len <= l->image_len)
				assert_true(s[i].offset + s[i].len <= w.v[record].len);
		header_writes_free(&w);
	}
}

/* --- plans ------------------------------------------------------------------------ */

static void plan_for(struct vol_format_plan *p, enum vol_type type, const char *cipher,
                     unsigned int bits, unsigned int sector, uint64_t size)
{
	struct vol_pbkdf_request rq = { .type = "pbkdf2", .force_iterations = 1000 };
	struct spec_error err;

	memset(p, 0, sizeof(*p));
	assert_int_equal(spec_parse(cipher, &p->spec, &err), 0);
	p->spec.key_bits = bits;
	p->spec.sector_size = sector;
	p->type = type;
	p->device_size = size;
	assert_int_equal(vol_pbkdf_plan(type, &rq, 0, 1, &p->pbkdf, NULL), 0);
}

static void test_plan_sizes(void **state)
{
	static const struct {
		enum vol_type type;
		unsigned int sector;
		uint64_t size, offset, align;
		bool detached;
		int want;
		uint64_t want_offset;
	} row[] = {
		{ VOL_LUKS2, 512, 24 * MIB, 0, 0, false, 0, 16 * MIB },
		{ VOL_NONE, 0, 24 * MIB, 0, 0, false, 0, 16 * MIB },
		{ VOL_LUKS1, 512, 24 * MIB, 0, 0, false, 0, 2 * MIB },
		{ VOL_LUKS2, 512, 16 * MIB + 512, 0, 0, false, 0, 16 * MIB },
		{ VOL_LUKS2, 512, 16 * MIB, 0, 0, false, -ENOSPC, 0 },
		{ VOL_LUKS2, 512, 0, 0, 0, false, -ENOSPC, 0 },
		{ VOL_LUKS1, 512, 2 * MIB, 0, 0, false, -ENOSPC, 0 },
		{ VOL_LUKS2, 4096, 16 * MIB + 512, 0, 0, false, -ENOSPC, 0 },
		{ VOL_LUKS2, 4096, 24 * MIB + 512, 0, 0, false, -EINVAL, 0 },
		{ VOL_LUKS2, 4096, 24 * MIB, 0, 0, false, 0, 16 * MIB },
		{ VOL_LUKS1, 4096, 24 * MIB, 0, 0, false, -EINVAL, 0 },
		{ VOL_LUKS2, 513, 24 * MIB, 0, 0, false, -EINVAL, 0 },
		{ VOL_LUKS2, 8192, 24 * MIB, 0, 0, false, -EINVAL, 0 },
		{ VOL_LUKS2, 512, 24 * MIB, 4 * MIB, 0, false, 0, 4 * MIB },
		{ VOL_LUKS2, 512, 24 * MIB, 4 * MIB + 512, 0, false, -EINVAL, 0 },
		{ VOL_LUKS2, 512, 24 * MIB, 65536, 0, false, -EINVAL, 0 },
		{ VOL_LUKS1, 512, 24 * MIB, 65536, 0, false, -EINVAL, 0 },
		{ VOL_LUKS2, 512, 100 * MIB, 0, 3 * MIB, false, 0, 18 * MIB },
		{ VOL_LUKS2, 512, 100 * MIB, 0, 33553920, false, 0,
		  16 * MIB }, /* USB bridges say so */
		{ VOL_LUKS2, 512, 1 * MIB, 0, 0, true, 0, 0 },
		{ VOL_LUKS2, 512, 8 * MIB, 4 * MIB, 0, true, 0, 4 * MIB },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct vol_format_plan p;
		struct strbuf why = { 0 };
		int r;

		plan_for(&p, row[i].type, "aes-xts-plain64", 512, row[i].sector, row[i].size);
		p.data_offset = row[i].offset;
		p.alignment = row[i].align;
		p.detached = row[i].detached;
		r = vol_format_check(&p, &why);
		if (r != row[i].want || (!r && p.data_offset != row[i].want_offset) ||
		    (r && !why.s))
			fail_msg("row %zu: %d, offset %llu: %s", i, r,
			         (unsigned long long)p.data_offset, why.s);
		strbuf_free(&why);
	}
}

static void test_plan_words(void **state)
{
	struct vol_format_plan p;

	(void)state;
	plan_for(&p, VOL_LUKS1, "aes-xts-plain64", 512, 512, 24 * MIB);
	p.label = "x";
	assert_int_equal(vol_format_check(&p, NULL), -EINVAL);
	plan_for(&p, VOL_LUKS2, "aes-xts-plain64", 512, 512, 24 * MIB);
	p.label = "012345678901234567890123456789012345678901234567";
	assert_int_equal(vol_format_check(&p, NULL), -EINVAL);
	p.label++;
	p.uuid = "8fd6b5e1-0d8f-4a0e-9c86-6b0c2f3e4a5";
	assert_int_equal(vol_format_check(&p, NULL), -EINVAL);
	p.uuid = "8fd6b5e1-0d8f-4a0e-9c86-6b0c2f3e4a51";
	assert_int_equal(vol_format_check(&p, NULL), 0);
	p.spec.key_bits = 0;
	assert_int_equal(vol_format_check(&p, NULL), -EINVAL);
}

static void test_pbkdf(void **state)
{
	static const struct {
		enum vol_type type;
		struct vol_pbkdf_request rq;
		uint64_t available;
		unsigned int cpus;
		int want;
		const char *kind;
		uint32_t ms, memory, threads;
		bool note;
	} row[] = {
		{ VOL_LUKS2, { 0 }, 16u << 20, 8, 0, "argon2id", 2000, 1u << 20, 4, false },
		{ VOL_LUKS2, { 0 }, 200u << 10, 1, 0, "argon2id", 2000, 100u << 10, 1, false },
		{ VOL_LUKS2, { 0 }, 0, 0, 0, "argon2id", 2000, 64u << 10, 1, false },
		{ VOL_LUKS2, { 0 }, 40, 1, -EINVAL, "", 0, 0, 0, true },
		{ VOL_LUKS2,
		  { .memory_kib = 4u << 20 },
		  1u << 20,
		  2,
		  0,
		  "argon2id",
		  2000,
		  512u << 10,
		  2,
		  true },
		{ VOL_LUKS2,
		  { .memory_kib = 8192, .parallel = 1 },
		  1u << 20,
		  2,
		  0,
		  "argon2id",
		  2000,
		  8192,
		  1,
		  false },
		{ VOL_LUKS2, { .memory_kib = 16 }, 1u << 20, 2, -EINVAL, "", 0, 0, 0, true },
		{ VOL_LUKS2,
		  { .type = "argon2i", .iter_time_ms = 500 },
		  1u << 20,
		  2,
		  0,
		  "argon2i",
		  500,
		  512u << 10,
		  2,
		  false },
		{ VOL_LUKS2, { .type = "pbkdf2" }, 1u << 20, 2, 0, "pbkdf2", 2000, 0, 0, false },
		{ VOL_LUKS2, { .type = "scrypt" }, 1u << 20, 2, -EINVAL, "", 0, 0, 0, true },
		{ VOL_LUKS1, { 0 }, 1u << 20, 2, 0, "pbkdf2", 2000, 0, 0, false },
		{ VOL_LUKS1, { .type = "argon2id" }, 1u << 20, 2, -EINVAL, "", 0, 0, 0, true },
		{ VOL_LUKS1, { .force_iterations = 999 }, 0, 1, -EINVAL, "", 0, 0, 0, true },
		{ VOL_LUKS2, { .force_iterations = 3 }, 0, 1, -EINVAL, "", 0, 0, 0, true },
		{ VOL_LUKS2,
		  { .force_iterations = 4 },
		  0,
		  1,
		  0,
		  "argon2id",
		  0,
		  64u << 10,
		  1,
		  false },
		{ VOL_LUKS2,
		  { .force_iterations = 4, .iter_time_ms = 1 },
		  0,
		  1,
		  -EINVAL,
		  "",
		  0,
		  0,
		  0,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct strbuf why = { 0 };
		struct vol_pbkdf p;
		int r = vol_pbkdf_plan(row[i].type, &row[i].rq, row[i].available, row[i].cpus, &p,
		                       &why);

		if (r != row[i].want || !!why.s != row[i].note ||
		    (!r && (strcmp(p.type, row[i].kind) || p.iter_time_ms != row[i].ms ||
		            p.memory_kib != row[i].memory || p.parallel != row[i].threads)))
			fail_msg("row %zu: %d %s %u ms %u KiB %u: %s", i, r, p.type, p.iter_time_ms,
			         p.memory_kib, p.parallel, why.s);
		strbuf_free(&why);
	}
}

static void test_pbkdf_bound(void **state)
{
	static const struct {
		const char *type;
		uint32_t ms, forced, memory;
		unsigned int trial_ms;
		bool keep;
		uint32_t want, want_ms;
	} row[] = {
		{ "argon2id", 2000, 0, 1u << 20, 0, false, 1u << 20, 2000 },	  /* too quick to tell */
		{ "argon2id", 2000, 0, 1u << 20, 5, false, 1u << 20, 2000 },	  /* 1.6 GiB would fit */
		{ "argon2id", 2000, 0, 1u << 20, 125, false, 1u << 20, 2000 },	  /* 64 MiB fit: the library's benchmark decides */
		{ "argon2id", 2000, 0, 1u << 20, 126, false, 65015, 2000 },
		{ "argon2id", 2000, 0, 100u << 10, 10, false, 100u << 10, 2000 }, /* this machine has no more */
		{ "argon2id", 2000, 0, 100u << 10, 1000, false, 8u << 10, 2000 }, /* a Geode */
		{ "argon2id", 2000, 0, 100u << 10, 9000, false, 4u << 10, 9000 }, /* never less; the plan tells what it costs */
		{ "argon2id", 10000, 0, 100u << 10, 1000, false, 40u << 10, 10000 },
		{ "argon2i", 500, 0, 100u << 10, 100, false, 100u << 10, 1600 },  /* asked for: cheap, not less memory */
		{ "argon2id", 1, 0, 1u << 20, 10, false, 1u << 20, 160 },
		{ "argon2id", 2000, 0, 64u << 10, 1000, true, 64u << 10, 16000 }, /* memory by name on a Geode */
		{ "argon2id", 2000, 0, 1u << 20, 1000, true, 1u << 20, 16000 },
		{ "argon2id", 0, 4, 100u << 10, 1000, false, 100u << 10, 0 },	  /* forced */
		{ "pbkdf2", 2000, 0, 0, 1000, false, 0, 2000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct vol_pbkdf p = { .iter_time_ms = row[i].ms, .force_iterations = row[i].forced,
			               .memory_kib = row[i].memory };

		str_copy(p.type, sizeof(p.type), row[i].type);
		vol_pbkdf_bound(&p, row[i].trial_ms, row[i].keep);
		if (p.memory_kib != row[i].want || p.iter_time_ms != row[i].want_ms)
			fail_msg("row %zu: %u KiB in %u ms, not %u in %u", i, p.memory_kib, p.iter_time_ms, row[i].want,
				 row[i].want_ms);
	}
}

static void test_keyslot_cipher(void **state)
{
	static const struct {
		enum vol_type type;
		const char *spec;
		bool own;
	} row[] = {
		{ VOL_LUKS2, "aes-xts-plain64", false },
		{ VOL_LUKS2, "aes-cbc-essiv:sha256", false },
		{ VOL_LUKS2, "aes-cbc-plain64", true },
		{ VOL_LUKS2, "aes-ecb", true },
		{ VOL_LUKS2, "xchacha12,aes-adiantum-plain64", true },
		{ VOL_LUKS2, "serpent-xts-plain64", true },
		{ VOL_LUKS2, "capi:xts(aes)-plain64", true },
		{ VOL_LUKS1, "serpent-xts-plain64", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct cipher_spec spec;
		struct spec_error err;
		unsigned int bits = 0;

		assert_int_equal(spec_parse(row[i].spec, &spec, &err), 0);
		if (!!vol_keyslot_cipher(row[i].type, &spec, &bits) != row[i].own)
			fail_msg("%s", row[i].spec);
	}
}

/* --- whole formats ---------------------------------------------------------------- */

static void format_image(struct vol_format_plan *p, const char *image, const char *header,
                         const char *pass)
{
	cleanup_secret struct secret s = { 0 };
	struct strbuf why = { 0 };
	struct vol_header *h;
	struct blkdev bd = { 0 };

	if (vol_format_check(p, &why))
		fail_msg("check: %s", why.s);
	assert_int_equal(secret_copy(pass, strlen(pass), &s), 0);
	if (vol_format_build(p, &s, &h, &why))
		fail_msg("build: %s", why.s);
	if (blkdev_open(header ? header : image, BLKDEV_WRITE, &bd, &why) || blkdev_lock(&bd, &why))
		fail_msg("open: %s", why.s);
	if (vol_format_write(h, &bd, &why))
		fail_msg("write: %s", why.s);
	if (vol_format_test(h, image, header, &s, &why))
		fail_msg("test: %s", why.s);
	assert_true(vol_header_facts(h)->unlock_ms < 10000);
	blkdev_close(&bd);
	vol_header_free(h);
	strbuf_free(&why);
}

static void test_format_types(void **state)
{
	static const struct {
		enum vol_type type;
		const char *cipher;
		unsigned int bits, sector;
	} row[] = {
		{ VOL_LUKS2, "aes-xts-plain64", 512, 4096 },
		{ VOL_LUKS2, "aes-cbc-essiv:sha256", 128, 512 },
		{ VOL_LUKS2, "aes-ecb", 256, 512 },
		{ VOL_LUKS1, "aes-xts-plain64", 256, 512 },
		{ VOL_LUKS1, "aes-cbc-essiv:sha256", 128, 512 },
	};
	cleanup_free char *image = in_dir("types");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct vol_format_plan p;
		struct vol_facts f;
		struct volume *v;
		struct record rec;
		enum record_state rs;

		make_image(image, 20 * MIB);
		plan_for(&p, row[i].type, row[i].cipher, row[i].bits, row[i].sector, 20 * MIB);
		p.uuid = "8fd6b5e1-0d8f-4a0e-9c86-6b0c2f3e4a51";
		format_image(&p, image, NULL, "one");
		assert_int_equal(run("printf one | cryptsetup open --test-passphrase %s", image),
		                 0);
		assert_int_equal(run("test $(cryptsetup luksUUID %s) = %s", image, p.uuid), 0);
		assert_int_equal(run("test $(stat -c %%s %s) = %u", image, 20 * MIB), 0);
		assert_int_equal(record_read_path(image, &rec, &rs), 0);
		assert_int_equal(rs, RECORD_NONE);
		assert_int_equal(vol_load(image, NULL, VOL_PEEK, &v, NULL), 0);
		assert_int_equal(vol_get_facts(v, &f), 0);
		assert_string_equal(f.cipher, row[i].cipher);
		assert_int_equal(f.key_bits, row[i].bits);
		assert_int_equal(f.n_slots, 1);
		assert_string_equal(f.slot[0].cipher,
		                    row[i].type == VOL_LUKS2 && !strcmp(row[i].cipher, "aes-ecb")
		                            ? "aes-xts-plain64"
		                            : row[i].cipher);
		assert_string_equal(f.slot[0].pbkdf, "pbkdf2");
		vol_facts_free(&f);
		vol_free(v);
	}
}

/* Nothing of the old content survives before the data area, and no byte of the data area changes.
 */
static void test_format_leaves_no_old_bytes(void **state)
{
	cleanup_free char *image = in_dir("old");

	(void)state;
	for (int type = 1; type <= 2; type++) {
		struct vol_format_plan p;
		uint64_t offset = type == 1 ? 2 * MIB : 16 * MIB;

		assert_int_equal(run("yes OLDCONTENT | head -c %u >%s && cp %s %s.copy", 20 * MIB,
		                     image, image, image),
		                 0);
		plan_for(&p, (enum vol_type)type, "aes-xts-plain64", 512, 512, 20 * MIB);
		format_image(&p, image, NULL, "one");
		assert_int_equal(
			run("head -c %u %s | grep -q OLDCONTENT", (unsigned int)offset, image), 1);
		assert_int_equal(run("cmp -i %u %s %s.copy", (unsigned int)offset, image, image),
		                 0);
	}
}

static void test_format_detached(void **state)
{
	cleanup_free char *image = in_dir("data"), *header = in_dir("hdr");
	struct vol_format_plan p;
	struct stat st;
	bool created;

	(void)state;
	for (int type = VOL_LUKS1; type <= VOL_LUKS2; type++) {
		unlink(header);
		make_image(image, 3 * MIB);
		plan_for(&p, (enum vol_type)type, "aes-xts-plain64", 512, 512, 3 * MIB);
		p.detached = true;
		assert_int_equal(vol_header_file_prepare(header, false, &created, NULL), 0);
		assert_true(created);
		format_image(&p, image, header, "one");
		assert_int_equal(
			run("printf one | cryptsetup open --test-passphrase --header %s %s", header,
		            image),
			0);
		assert_int_equal(run("cmp %s /dev/zero -n %u", image, 3 * MIB), 0);
		assert_int_equal(stat(header, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_int_equal(vol_header_file_prepare(header, false, &created, NULL), -EEXIST);
		assert_int_equal(vol_header_file_prepare(header, true, &created, NULL), 0);
		assert_false(created);
	}
}

static void test_format_refused(void **state)
{
	cleanup_secret struct secret s = { 0 };
	struct vol_format_plan p;
	struct vol_header *h;
	struct strbuf why = { 0 };

	(void)state;
	assert_int_equal(secret_copy("one", 3, &s), 0);
	plan_for(&p, VOL_LUKS2, "aes-xts-plain64", 512, 512, 20 * MIB);
	assert_int_equal(vol_format_check(&p, NULL), 0);
	strcpy(p.pbkdf.hash, "nosuchhash");
	assert_true(vol_format_build(&p, &s, &h, &why) < 0);
	assert_null(h);
	assert_non_null(strstr(why.s, "Nothing was written"));
	strbuf_free(&why);
}

/* --- existing volumes ------------------------------------------------------------- */

#define CHEAP "--pbkdf pbkdf2 --pbkdf-force-iterations 1000 -q"

static void test_peek_changes_nothing(void **state)
{
	cleanup_free char *image = in_dir("peek"), *copy = in_dir("peek.copy");
	struct volume *v;
	struct vol_facts f;

	(void)state;
	make_image(image, 20 * MIB);
	assert_int_equal(
		run("printf old | cryptsetup luksFormat " CHEAP " --label lbl %s -", image), 0);
	assert_int_equal(
		run("dd if=/dev/zero of=%s bs=4096 seek=4 count=1 conv=notrunc && cp %s %s", image,
	            image, copy),
		0);
	assert_int_equal(vol_load(image, NULL, VOL_PEEK, &v, NULL), 0);
	assert_int_equal(vol_get_facts(v, &f), 0);
	assert_string_equal(f.label, "lbl");
	assert_int_equal(f.data_offset, 16 * MIB);
	assert_int_equal(f.header_size, 16 * MIB);
	assert_int_equal(f.type, VOL_LUKS2);
	vol_facts_free(&f);
	vol_free(v);
	assert_int_equal(run("cmp %s %s", image, copy), 0);
	assert_int_equal(vol_load(image, NULL, 0, &v, NULL),
	                 0); /* the library mends the second copy */
	vol_free(v);
	assert_int_equal(run("cmp %s %s", image, copy), 1);
	make_image(image, 1 * MIB);
	assert_int_equal(vol_load(image, NULL, VOL_PEEK, &v, NULL), -EMEDIUMTYPE);
	make_image(image, 0);
	assert_int_equal(vol_load(image, NULL, VOL_PEEK, &v, NULL), -EMEDIUMTYPE);
	unlink(image);
	assert_int_equal(vol_load(image, NULL, VOL_PEEK, &v, NULL), -ENOENT);
}

static int try_open(const char *image, const char *pass, int slot)
{
	struct vol_activation a = { .slot = slot };
	cleanup_secret struct secret s = { 0 };
	struct volume *v;
	int r;

	assert_int_equal(secret_copy(pass, strlen(pass), &s), 0);
	assert_int_equal(vol_load(image, NULL, 0, &v, NULL), 0);
	r = vol_open(v, &a, &s);
	vol_free(v);
	return r;
}

static void test_open(void **state)
{
	cleanup_free char *image = in_dir("open");
	struct vol_token any = { .id = -1 };
	struct vol_activation a = { .slot = -1 };
	struct volume *v;

	(void)state;
	for (int type = 1; type <= 2; type++) {
		make_image(image, 20 * MIB);
		assert_int_equal(run("printf one | cryptsetup luksFormat " CHEAP
		                     " --type luks%d %s -",
		                     type, image),
		                 0);
		assert_int_equal(run("printf 'one\\ntwo\\ntwo\\n' | cryptsetup luksAddKey " CHEAP
		                     " -S 3 %s",
		                     image),
		                 0);
		assert_int_equal(try_open(image, "one", -1), 0);
		assert_int_equal(try_open(image, "two", -1), 3);
		assert_int_equal(try_open(image, "two", 0), -EPERM);
		assert_int_equal(try_open(image, "two", 5), -ENOENT);
		assert_int_equal(try_open(image, "three", -1), -EPERM);
		assert_int_equal(vol_load(image, NULL, 0, &v, NULL), 0);
		assert_int_equal(vol_open_token(v, &a, &any), -ENOENT);
		vol_free(v);
	}
}

static void test_header_backup(void **state)
{
	cleanup_free char *image = in_dir("b"), *copy = in_dir("b.copy"), *file = in_dir("b.hdr");
	struct stat st;

	(void)state;
	for (int type = 1; type <= 2; type++) {
		unlink(file);
		make_image(image, 20 * MIB);
		assert_int_equal(run("printf one | cryptsetup luksFormat " CHEAP
		                     " --type luks%d %s -",
		                     type, image),
		                 0);
		assert_int_equal(run("cp %s %s", image, copy), 0);
		assert_int_equal(vol_header_backup(image, file, NULL), 0);
		assert_int_equal(vol_header_backup(image, file, NULL), -EEXIST);
		assert_int_equal(run("cmp %s %s", image, copy), 0);
		assert_int_equal(stat(file, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		make_image(image, 20 * MIB);
		assert_int_equal(run("cryptsetup luksHeaderRestore -q --header-backup-file %s %s",
		                     file, image),
		                 0);
		assert_int_equal(run("printf one | cryptsetup open --test-passphrase %s", image),
		                 0);
	}
	make_image(image, 1 * MIB);
	unlink(file);
	assert_int_equal(vol_header_backup(image, file, NULL), -EMEDIUMTYPE);
	assert_int_equal(access(file, F_OK), -1);
}

static void test_close(void **state)
{
	(void)state;
	assert_true(vol_close("hwluks-test-no-such-name", false) < 0);
}

/* --- the tool for crash.t --------------------------------------------------------- */

static int tool_record(const char *image)
{
	static const char *const name[] = { "none", "interrupted", "complete" };
	struct record r;
	enum record_state rs;
	int err = record_read_path(image, &r, &rs);

	if (err)
		printf("error %d\n", err);
	else
		puts(name[rs]);
	return 0;
}

static int tool_write(struct vol_header *h, const char *image, const char *header,
                      const struct secret *s, struct strbuf *why)
{
	struct blkdev bd = { 0 };
	int r = blkdev_open(header ? header : image, BLKDEV_WRITE, &bd, why);

	if (!r)
		r = blkdev_lock(&bd, why);
	if (!r)
		r = vol_format_write(h, &bd, why);
	if (!r)
		r = vol_format_test(h, image, header, s, why);
	blkdev_close(&bd);
	return r;
}

static int tool_format(char **argv)
{
	struct secret_source src = { .key_file = argv[2] };
	cleanup_secret struct secret s = { 0 };
	struct strbuf why = { 0 };
	struct vol_header *h = NULL;
	struct vol_format_plan p;
	struct stat st;
	int r;

	if (stat(argv[1], &st))
		return 1;
	plan_for(&p, !strcmp(argv[0], "luks1") ? VOL_LUKS1 : VOL_LUKS2, "aes-xts-plain64", 512, 512,
	         (uint64_t)st.st_size);
	p.detached = argv[3] != NULL;
	r = secret_read(&src, &s, &why);
	if (!r)
		r = vol_format_check(&p, &why);
	if (!r)
		r = vol_format_build(&p, &s, &h, &why);
	if (!r)
		r = tool_write(h, argv[1], argv[3], &s, &why);
	vol_header_free(h);
	if (r)
		fprintf(stderr, "%d: %s\n", r, why.s ? why.s : "");
	strbuf_free(&why);
	return r ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_round_trip),
		cmocka_unit_test(test_record_damage),
		cmocka_unit_test(test_record_hostile),
		cmocka_unit_test(test_record_covers),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_order_invariants),
		cmocka_unit_test(test_plan_sizes),
		cmocka_unit_test(test_plan_words),
		cmocka_unit_test(test_pbkdf),
		cmocka_unit_test(test_pbkdf_bound),
		cmocka_unit_test(test_keyslot_cipher),
		/* Before any format: vol_format_test() turns the library's locks off for files, and
		   with them its mending. */
		cmocka_unit_test(test_peek_changes_nothing),
		cmocka_unit_test(test_format_types),
		cmocka_unit_test(test_format_leaves_no_old_bytes),
		cmocka_unit_test(test_format_detached),
		cmocka_unit_test(test_format_refused),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_header_backup),
		cmocka_unit_test(test_close),
	};
	int r;

	if (argc >= 5 && !strcmp(argv[1], "format"))
		return tool_format(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "record"))
		return tool_record(argv[2]);
	snprintf(dir, sizeof(dir), "/tmp/hwluks-header.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	if (run("rm -rf %s", dir))
		return 1;
	return r;
}
