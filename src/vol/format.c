/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A new LUKS header: the plan checked, the header built and opened in memory, and opened again from
 * the device. Must not write to a device (header.c does) or judge the spec.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libcryptsetup.h>
#include <libgen.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vol/luks_private.h"

#define MIB                (1024u * 1024u)
#define LUKS2_DATA_OFFSET  (16u * MIB)
#define LUKS1_DATA_OFFSET  (2u * MIB)
#define PBKDF_TIME_MS      2000u
#define PBKDF_MEMORY_MAX   (1024u * 1024u) /* KiB */
#define PBKDF_MEMORY_MIN   32u             /* KiB, libcryptsetup's own */
#define PBKDF_BENCH_MIN    (64u * 1024u)  /* KiB, where libcryptsetup's own benchmark starts (2.6, argon2) */
#define PBKDF_MEMORY_GUESS (128u * 1024u)  /* KiB available when nobody knows */
#define PBKDF_THREADS_MAX  4u

static int refuse(int r, struct strbuf *why, const char *fmt, ...) PRINTF(3, 4);
static int refuse(int r, struct strbuf *why, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (why)
		strbuf_printf(why, "%s%s", why->len ? " " : "", text);
	return r;
}

/* --- PBKDF
 * -------------------------------------------------------------------------------------------- */

static bool is_argon2(const char *type)
{
	return !strcmp(type, "argon2id") || !strcmp(type, "argon2i");
}

static int pbkdf_type(enum vol_type type, const char *asked, struct vol_pbkdf *out,
                      struct strbuf *why)
{
	const char *t = asked ? asked : type == VOL_LUKS1 ? "pbkdf2" : "argon2id";

	if (strcmp(t, "pbkdf2") && !is_argon2(t))
		return refuse(-EINVAL, why, "Unknown PBKDF %s: argon2id, argon2i and pbkdf2 exist.",
		              t);
	if (type == VOL_LUKS1 && strcmp(t, "pbkdf2"))
		return refuse(-EINVAL, why, "LUKS1 knows only pbkdf2, not %s.", t);
	str_copy(out->type, sizeof(out->type), t);
	return 0;
}

static uint32_t least(uint64_t a, uint64_t b)
{
	uint64_t v = a < b ? a : b;

	return v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static int pbkdf_memory(const struct vol_pbkdf_request *rq, uint64_t available_kib,
                        struct vol_pbkdf *out, struct strbuf *why)
{
	uint64_t half = (available_kib ? available_kib : PBKDF_MEMORY_GUESS) / 2;
	uint32_t limit = least(half, PBKDF_MEMORY_MAX);

	if (limit < PBKDF_MEMORY_MIN)
		return refuse(-EINVAL, why, "Too little memory for %s; use --pbkdf pbkdf2.",
		              out->type);
	if (rq->memory_kib && rq->memory_kib < PBKDF_MEMORY_MIN)
		return refuse(-EINVAL, why, "--pbkdf-memory must be at least %u KiB.",
		              PBKDF_MEMORY_MIN);
	out->memory_kib = rq->memory_kib ? least(rq->memory_kib, limit) : limit;
	if (rq->memory_kib > limit)
		refuse(0, why, "%u KiB of PBKDF memory were asked for; this machine can spare %u.",
		       rq->memory_kib, limit);
	return 0;
}

int vol_pbkdf_plan(enum vol_type type, const struct vol_pbkdf_request *rq, uint64_t available_kib,
                   unsigned int cpus, struct vol_pbkdf *out, struct strbuf *why)
{
	uint32_t threads = least(cpus ? cpus : 1, PBKDF_THREADS_MAX);
	int r;

	memset(out, 0, sizeof(*out));
	r = pbkdf_type(type, rq->type, out, why);
	if (r)
		return r;
	if (!str_copy(out->hash, sizeof(out->hash), rq->hash ? rq->hash : "sha256"))
		return refuse(-EINVAL, why, "Unknown hash %s.", rq->hash);
	if (rq->iter_time_ms && rq->force_iterations)
		return refuse(-EINVAL, why,
		              "--iter-time and --pbkdf-force-iterations exclude each other.");
	out->force_iterations = rq->force_iterations;
	if (!out->force_iterations)
		out->iter_time_ms = rq->iter_time_ms ? rq->iter_time_ms : PBKDF_TIME_MS;
	if (!is_argon2(out->type)) {
		if (out->force_iterations && out->force_iterations < 1000)
			return refuse(-EINVAL, why, "pbkdf2 needs at least 1000 iterations.");
		if (rq->memory_kib || rq->parallel)
			refuse(0, why, "pbkdf2 takes one thread and hardly any memory: --pbkdf-memory and "
			       "--pbkdf-parallel change nothing.");
		return 0;
	}
	if (out->force_iterations && out->force_iterations < 4)
		return refuse(-EINVAL, why, "%s needs at least 4 iterations.", out->type);
	out->parallel = rq->parallel ? least(rq->parallel, threads) : threads;
	if (rq->parallel > threads)
		refuse(0, why, "%u threads were asked for; %s takes %u here.", rq->parallel, out->type, threads);
	return pbkdf_memory(rq, available_kib, out, why);
}

void vol_pbkdf_bound(struct vol_pbkdf *p, unsigned int trial_ms, bool keep_memory)
{
	uint64_t budget = p->iter_time_ms > PBKDF_TIME_MS ? p->iter_time_ms : PBKDF_TIME_MS, fits, least_ms;

	if (!is_argon2(p->type) || p->force_iterations || !trial_ms)
		return;
	fits = VOL_PBKDF_TRIAL_KIB * budget / trial_ms;
	if (fits < VOL_PBKDF_TRIAL_KIB)
		fits = VOL_PBKDF_TRIAL_KIB;
	if (!keep_memory && fits < PBKDF_BENCH_MIN)
		p->memory_kib = least(p->memory_kib, fits);
	/* what the cheapest slot with that memory costs, when it is more than was aimed at */
	least_ms = (uint64_t)trial_ms * least(p->memory_kib, PBKDF_BENCH_MIN) / VOL_PBKDF_TRIAL_KIB;
	if (least_ms > p->iter_time_ms)
		p->iter_time_ms = least(least_ms, UINT32_MAX);
}

static void pbkdf_to_crypt(const struct vol_pbkdf *p, struct crypt_pbkdf_type *out)
{
	*out = (struct crypt_pbkdf_type){
		.type = p->type,
		.hash = p->hash,
		.time_ms = p->iter_time_ms,
		.iterations = p->force_iterations,
		.max_memory_kb = p->memory_kib,
		.parallel_threads = p->parallel,
		.flags = p->force_iterations ? CRYPT_PBKDF_NO_BENCHMARK : 0,
	};
}

/* --- the plan
 * -------------------------------------------------------------------------------------------- */

static bool valid_uuid(const char *s)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (strlen(s) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; s[i]; i++)
		if (shape[i] == 'x' ? !isxdigit((unsigned char)s[i]) : s[i] != '-')
			return false;
	return true;
}

static int check_luks1(const struct vol_format_plan *p, struct strbuf *why)
{
	if (p->label || p->subsystem)
		return refuse(-EINVAL, why, "A LUKS1 header has no label or subsystem.");
	if (p->spec.sector_size != 512)
		return refuse(-EINVAL, why, "LUKS1 has 512-byte sectors only, not %u.",
		              p->spec.sector_size);
	if (p->metadata_size || p->keyslots_size)
		return refuse(-EINVAL, why, "Metadata sizes can be chosen for LUKS2 only.");
	if (strcmp(p->pbkdf.type, "pbkdf2"))
		return refuse(-EINVAL, why, "LUKS1 knows only pbkdf2, not %s.", p->pbkdf.type);
	return 0;
}

static int check_luks2(const struct vol_format_plan *p, struct strbuf *why)
{
	if (p->label && strlen(p->label) > 47)
		return refuse(-EINVAL, why, "The label is longer than 47 bytes.");
	if (p->subsystem && strlen(p->subsystem) > 47)
		return refuse(-EINVAL, why, "The subsystem label is longer than 47 bytes.");
	if (p->metadata_size & (p->metadata_size - 1) ||
	    (p->metadata_size && (p->metadata_size < 0x4000 || p->metadata_size > 0x400000)))
		return refuse(-EINVAL, why,
		              "The metadata size must be a power of two, 16 KiB to 4 MiB.");
	if (p->keyslots_size % 4096 || p->keyslots_size > 128 * MIB)
		return refuse(-EINVAL, why,
		              "The key slot area must be a multiple of 4 KiB, at most 128 MiB.");
	return 0;
}

static void default_offset(struct vol_format_plan *p)
{
	uint64_t align = p->alignment ? p->alignment : MIB;
	uint64_t least_offset = p->type == VOL_LUKS1 ? LUKS1_DATA_OFFSET : LUKS2_DATA_OFFSET;
	uint64_t areas = 2 * (p->metadata_size ? p->metadata_size : 0x4000) + p->keyslots_size;

	if (p->detached || p->data_offset)
		return;
	/* An optimal I/O size that is no multiple of a page is a device's mistake, not an
	 * alignment. */
	if (align % 4096 || align > 64 * MIB)
		align = MIB;
	if (p->type == VOL_LUKS2 && p->keyslots_size && areas > least_offset)
		least_offset = areas;
	p->data_offset = (least_offset + align - 1) / align * align;
}

static int check_offset(const struct vol_format_plan *p, struct strbuf *why)
{
	uint64_t areas = 2 * (p->metadata_size ? p->metadata_size : 0x4000) + p->keyslots_size;

	if (p->data_offset % 4096)
		return refuse(-EINVAL, why, "The data offset %llu is no multiple of 4096 bytes.",
		              (unsigned long long)p->data_offset);
	if (p->detached)
		return 0;
	if (p->type == VOL_LUKS1 && p->data_offset < MIB)
		return refuse(-EINVAL, why,
		              "A LUKS1 header needs a data offset of at least 1 MiB.");
	/* One key slot of a 512-bit key takes 252 KiB. */
	if (p->type == VOL_LUKS2 && p->data_offset < areas + (p->keyslots_size ? 0 : MIB))
		return refuse(-EINVAL, why,
		              "The data offset %llu leaves no room for the LUKS2 header.",
		              (unsigned long long)p->data_offset);
	return 0;
}

static int check_size(const struct vol_format_plan *p, struct strbuf *why)
{
	unsigned int sector = p->spec.sector_size;

	if (p->device_size <= p->data_offset || p->device_size - p->data_offset < sector)
		return refuse(
			-ENOSPC, why,
			"The device is too small: it has %llu bytes, and the data would start at %llu.",
			(unsigned long long)p->device_size, (unsigned long long)p->data_offset);
	/* what a file has beyond its last whole 512 bytes is never reached through a block device */
	if ((p->device_size / 512 * 512 - p->data_offset) % sector)
		return refuse(
			-EINVAL, why,
			"The %llu bytes of the device cannot be divided into sectors of %u bytes: use --sector-size 512, or "
			"make the device or file larger by %llu bytes.",
			(unsigned long long)p->device_size, sector,
			(unsigned long long)(sector - (p->device_size - p->data_offset) % sector));
	return 0;
}

int vol_format_check(struct vol_format_plan *p, struct strbuf *why)
{
	unsigned int sector;
	int r;

	if (p->type == VOL_NONE)
		p->type = VOL_LUKS2;
	if (!p->spec.sector_size)
		p->spec.sector_size = 512;
	sector = p->spec.sector_size;
	if (sector < 512 || sector > 4096 || sector & (sector - 1))
		return refuse(-EINVAL, why,
		              "The sector size must be 512, 1024, 2048 or 4096, not %u.", sector);
	if (!p->spec.key_bits || p->spec.key_bits % 8)
		return refuse(-EINVAL, why, "A key of %u bits is no whole number of bytes.",
		              p->spec.key_bits);
	if (p->integrity)
		return refuse(-EINVAL, why,
		              "Integrity protection is cryptsetup's: luksFormat --integrity.");
	if (p->uuid && !valid_uuid(p->uuid))
		return refuse(-EINVAL, why, "\"%s\" is no UUID.", p->uuid);
	r = p->type == VOL_LUKS1 ? check_luks1(p, why) : check_luks2(p, why);
	if (r)
		return r;
	default_offset(p);
	r = check_offset(p, why);
	return r ? r : check_size(p, why);
}

/*
 * The slot inherits what is strong and what libcrypto has. Anything else would need AF_ALG to open
 * a slot (missing on many small kernels) or would keep the volume key under a weak mode.
 */
const char *vol_keyslot_cipher(enum vol_type type, const struct cipher_spec *spec,
                               unsigned int *key_bits)
{
	bool aes = !spec->capi && !strcmp(spec->cipher, "aes") && spec->keycount <= 1;
	bool xts = !strcmp(spec->mode, "xts") && !strcmp(spec->iv, "plain64");
	bool cbc = !strcmp(spec->mode, "cbc") && !strcmp(spec->iv, "essiv");

	if (type == VOL_LUKS1 || (aes && (xts || cbc)))
		return NULL;
	*key_bits = 512;
	return "aes-xts-plain64";
}

/* --- building
 * ------------------------------------------------------------------------------------------------
 */

static void split_cipher(const char *text, char *cipher, char *mode, size_t size)
{
	const char *dash;

	/* capi:xts(ecb-aes-geode)-plain64: dashes within the parentheses are the name's own. */
	dash = str_starts(text, "capi:") && strrchr(text, ')') ? strchr(strrchr(text, ')'), '-')
	                                                       : strchr(text, '-');
	str_copy(cipher, size, text);
	str_copy(mode, size, dash ? dash + 1 : "");
	if (dash && (size_t)(dash - text) < size)
		cipher[dash - text] = '\0';
}

static int call_format(struct crypt_device *cd, const struct vol_format_plan *p,
                       const char *cipher_text)
{
	char cipher[160], mode[160];
	struct crypt_pbkdf_type pbkdf;
	struct crypt_params_luks1 luks1 = { .hash = p->pbkdf.hash };
	struct crypt_params_luks2 luks2 = {
		.pbkdf = &pbkdf,
		.sector_size = p->spec.sector_size,
		.label = p->label,
		.subsystem = p->subsystem,
	};
	bool two = p->type == VOL_LUKS2;

	split_cipher(cipher_text, cipher, mode, sizeof(cipher));
	pbkdf_to_crypt(&p->pbkdf, &pbkdf);
	return crypt_format(cd, two ? CRYPT_LUKS2 : CRYPT_LUKS1, cipher, mode, p->uuid, NULL,
	                    p->spec.key_bits / 8, two ? (void *)&luks2 : (void *)&luks1);
}

static int prepare_cd(struct crypt_device *cd, const struct vol_format_plan *p)
{
	struct crypt_pbkdf_type pbkdf;
	int r;

	pbkdf_to_crypt(&p->pbkdf, &pbkdf);
	crypt_set_rng_type(cd, CRYPT_RNG_URANDOM);
	r = crypt_set_pbkdf_type(cd, &pbkdf);
	if (!r && p->data_offset)
		r = crypt_set_data_offset(cd, p->data_offset / 512);
	if (!r && (p->metadata_size || p->keyslots_size))
		r = crypt_set_metadata_size(cd, p->metadata_size, p->keyslots_size);
	return r;
}

static int add_keyslot(struct crypt_device *cd, const struct vol_format_plan *p,
                       const struct secret *s)
{
	unsigned int bits = 0;
	const char *cipher = vol_keyslot_cipher(p->type, &p->spec, &bits);
	int r = 0;

	if (cipher)
		r = crypt_keyslot_set_encryption(cd, cipher, bits / 8);
	if (!r)
		r = crypt_keyslot_add_by_volume_key(cd, 0, NULL, 0, s->data, s->len);
	return r < 0 ? r : 0;
}

static unsigned int elapsed_ms(const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned int)((now.tv_sec - from->tv_sec) * 1000 +
	                      (now.tv_nsec - from->tv_nsec) / 1000000);
}

static int facts_match(const struct vol_format_plan *p, const char *cipher,
                       const struct vol_facts *f)
{
	return f->type == p->type && !strcmp(f->cipher, cipher) &&
	       f->key_bits == p->spec.key_bits && f->sector_size == p->spec.sector_size &&
	       f->data_offset == p->data_offset && f->n_slots == 1;
}

static int test_open(struct crypt_device *cd, const struct vol_header *h, const struct secret *s,
                     struct vol_facts *f, unsigned int *ms)
{
	struct timespec start;
	int r;

	luks_fill_facts(cd, f);
	vol_facts_free(f);
	if (!facts_match(&h->plan, h->cipher, f))
		return -EBADMSG;
	clock_gettime(CLOCK_MONOTONIC, &start);
	r = crypt_activate_by_passphrase(cd, NULL, CRYPT_ANY_SLOT, s->data, s->len, 0);
	*ms = elapsed_ms(&start);
	return r < 0 ? r : 0;
}

/* Read back from the memory as any other program would find it, not from the context that made it.
 */
static int reopen(struct vol_header *h, const char *meta, const char *data, const struct secret *s,
                  struct vol_facts *f, unsigned int *ms)
{
	struct crypt_device *cd = NULL;
	int r = data ? crypt_init_data_device(&cd, meta, data) : crypt_init(&cd, meta);

	if (!r)
		r = crypt_load(cd, h->plan.type == VOL_LUKS2 ? CRYPT_LUKS2 : CRYPT_LUKS1, NULL);
	if (!r)
		r = test_open(cd, h, s, f, ms);
	crypt_free(cd);
	return r;
}

/* What is written at the start of the target: all of it up to the data, but never more than 128 MiB
 * of unused space. */
static uint64_t image_length(const struct vol_format_plan *p, const struct vol_facts *f)
{
	bool all = !p->detached && p->data_offset <= 128 * MIB;

	return all || f->header_size < 8192 ? p->data_offset : f->header_size;
}

static void fill_record(struct vol_header *h)
{
	struct record *r = &h->record;

	r->type = h->plan.type;
	str_copy(r->spec, sizeof(r->spec), h->cipher);
	r->key_bits = h->plan.spec.key_bits;
	r->sector_size = h->plan.spec.sector_size;
	str_copy(r->uuid, sizeof(r->uuid), h->facts.uuid);
	r->device_size = h->plan.device_size;
	r->data_offset = h->plan.data_offset;
	r->image_len = h->facts.image_len;
	r->when = (int64_t)time(NULL);
	r->last_offset = h->layout.hdr_size;
	r->last_len = (uint32_t)h->layout.bin_len;
	EVP_Digest(h->image + r->last_offset, r->last_len, r->last_sha256, NULL, EVP_sha256(),
	           NULL);
}

static int map_image(struct vol_header *h, const struct vol_facts *f)
{
	void *p;

	str_copy(h->facts.uuid, sizeof(h->facts.uuid), f->uuid);
	h->facts.data_offset = f->data_offset;
	h->facts.slot = f->slot[0];
	h->facts.image_len = image_length(&h->plan, f);
	p = mmap(NULL, h->facts.image_len, PROT_READ, MAP_SHARED, h->mem.fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	h->image = p;
	return header_layout(h->image, h->facts.image_len, &h->layout);
}

static int format_in_memory(struct vol_header *h, const struct vol_format_plan *p, const char *data,
                            const struct secret *s)
{
	struct crypt_device *cd = NULL;
	int r = data ? crypt_init_data_device(&cd, h->mem.path, data)
	             : crypt_init(&cd, h->mem.path);

	if (!r)
		r = prepare_cd(cd, p);
	if (!r)
		r = call_format(cd, p, h->cipher);
	if (!r)
		r = add_keyslot(cd, p, s);
	crypt_free(cd);
	return r;
}

static int build(struct vol_header *h, const struct vol_format_plan *p, const struct secret *s)
{
	struct memfile data = { .fd = -1 };
	struct vol_facts f;
	int r;

	/* The stand-in for the device has its size and holds nothing: the library cannot touch what
	 * it cannot name. */
	r = memfile_new(p->detached ? 144 * MIB : p->device_size, &h->mem);
	if (!r && p->detached)
		r = memfile_new(p->device_size, &data);
	if (!r)
		r = format_in_memory(h, p, p->detached ? data.path : NULL, s);
	if (!r)
		r = reopen(h, h->mem.path, p->detached ? data.path : NULL, s, &f,
		           &h->facts.unlock_ms);
	if (!r)
		r = map_image(h, &f);
	if (!r)
		fill_record(h);
	close_fd(&data.fd);
	return r;
}

/* Ciphers that neither libcrypto nor the kernel offers end as -EIO or -ENOENT in the library. */
static int build_why(const struct vol_format_plan *p, int r, struct strbuf *why)
{
	char spec[160];

	spec_text(&p->spec, spec, sizeof(spec));
	if (r == -EIO || r == -ENOENT || r == -ENOTSUP)
		return refuse(
			-ENOTSUP, why,
			"libcryptsetup cannot make a header for %s with a %u-bit key here: it needs the cipher in "
			"libcrypto, or AF_ALG or device-mapper in the kernel. Nothing was written.",
			spec, p->spec.key_bits);
	return refuse(r, why,
	              "libcryptsetup could not make the header: %s. %s Nothing was written.",
	              strerror(-r), luks_last_error());
}

int vol_format_build(const struct vol_format_plan *p, const struct secret *s,
                     struct vol_header **out, struct strbuf *why)
{
	struct vol_header *h = xcalloc(1, sizeof(*h));
	int r;

	*out = NULL;
	h->mem.fd = -1;
	h->plan = *p;
	h->plan.label = h->plan.subsystem = h->plan.uuid = h->plan.integrity = NULL;
	spec_text(&p->spec, h->cipher, sizeof(h->cipher));
	luks_log_setup();
	luks_log_quiet(
		true); /* its "Is dm_mod loaded?" is beside the point; build_why says it better */
	r = build(h, p, s);
	luks_log_quiet(false);
	if (!r) {
		*out = h;
		return 0;
	}
	vol_header_free(h);
	return build_why(p, r, why);
}

int vol_pbkdf_trial(const struct vol_pbkdf *p, unsigned int passes, unsigned int *ms)
{
	cleanup_secret struct secret s = { 0 };
	struct vol_format_plan plan = {
		.type = VOL_LUKS2, .device_size = 2 * LUKS2_DATA_OFFSET, .pbkdf = *p,
	};
	struct vol_header *h = NULL;
	struct spec_error err;
	int r;

	plan.pbkdf.iter_time_ms = 0;
	plan.pbkdf.force_iterations = passes;
	r = spec_parse("aes-xts-plain64", &plan.spec, &err);
	if (!r)
		r = secret_copy("trial", 5, &s);
	if (r)
		return r;
	plan.spec.key_bits = 512;
	plan.spec.sector_size = 512;
	r = vol_format_check(&plan, NULL);
	if (!r)
		r = vol_format_build(&plan, &s, &h, NULL);
	*ms = h ? h->facts.unlock_ms : 0;
	vol_header_free(h);
	return r;
}

void vol_pbkdf_fit(struct vol_pbkdf *p, bool keep_memory)
{
	struct vol_pbkdf trial = *p;
	unsigned int ms;

	if (!is_argon2(p->type) || p->force_iterations || p->memory_kib <= VOL_PBKDF_TRIAL_KIB)
		return;
	trial.memory_kib = VOL_PBKDF_TRIAL_KIB;
	if (!vol_pbkdf_trial(&trial, 4, &ms))
		vol_pbkdf_bound(p, ms, keep_memory);
}

void vol_header_free(struct vol_header *h)
{
	if (!h)
		return;
	if (h->image)
		munmap((void *)(uintptr_t)h->image, h->facts.image_len);
	close_fd(&h->mem.fd);
	free(h);
}

const struct vol_header_facts *vol_header_facts(const struct vol_header *h)
{
	return &h->facts;
}

const struct record *vol_header_record(const struct vol_header *h)
{
	return &h->record;
}

int vol_format_test(struct vol_header *h, const char *device, const char *header,
                    const struct secret *s, struct strbuf *why)
{
	const char *meta = header ? header : device;
	struct vol_facts f;
	unsigned int ms;
	struct stat st;
	int r;

	/* The caller holds the file's flock, which is the library's metadata lock for files: it
	 * would wait for itself. */
	if (!stat(meta, &st) && S_ISREG(st.st_mode))
		crypt_metadata_locking(NULL, 0);
	luks_log_setup();
	r = reopen(h, meta, header ? device : NULL, s, &f, &ms);
	if (!r && strcmp(f.uuid, h->facts.uuid))
		r = -EBADMSG;
	if (r)
		refuse(r, why, "%s was written, but opening it again failed: %s.", meta,
		       strerror(-r));
	return r;
}

/* --- header file
 * -----------------------------------------------------------------------------------------------
 */

static int sync_dir_of(const char *path)
{
	cleanup_free char *copy = xstrdup(path);
	cleanup_close int dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 || fsync(dir) ? -errno : 0;
}

int vol_header_file_prepare(const char *path, bool replace, bool *created, struct strbuf *why)
{
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat st;

	*created = fd >= 0;
	if (fd >= 0)
		return sync_dir_of(path);
	if (errno != EEXIST)
		return refuse(-errno, why, "Header file %s: %s.", path, strerror(errno));
	if (stat(path, &st))
		return refuse(-errno, why, "Header file %s: %s.", path, strerror(errno));
	if (S_ISREG(st.st_mode) && st.st_size && !replace)
		return refuse(-EEXIST, why, "Header file %s exists and is not empty.", path);
	return 0;
}
