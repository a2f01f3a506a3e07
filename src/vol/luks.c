/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * An existing LUKS volume through libcryptsetup: facts, open, close, header backup.
 * Must not know accelerators or policies, and writes no header.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libcryptsetup.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vol/luks_private.h"

/* --- messages -----------------------------------------------------------------------------------
 */

static bool log_quiet;
static char last_error[200];

static void on_log(int level, const char *msg, void *unused)
{
	int len = (int)strcspn(msg, "\n");

	(void)unused;
	if (level == CRYPT_LOG_ERROR)
		snprintf(last_error, sizeof(last_error), "%.*s", len, msg);
	if (level == CRYPT_LOG_ERROR && !log_quiet)
		log_error("libcryptsetup: %.*s", len, msg);
	else
		log_debug("libcryptsetup: %.*s", len, msg);
}

void luks_log_setup(void)
{
	crypt_set_log_callback(NULL, on_log, NULL);
	crypt_set_debug_level(log_get_level() >= LOG_LEVEL_DEBUG ? CRYPT_DEBUG_ALL
	                                                         : CRYPT_DEBUG_NONE);
}

void luks_log_quiet(bool quiet)
{
	log_quiet = quiet;
	if (quiet)
		last_error[0] = '\0';
}

const char *luks_last_error(void)
{
	return last_error;
}

/* --- copies in memory
 * ------------------------------------------------------------------------------ */

int memfile_new(uint64_t size, struct memfile *m)
{
	m->fd = memfd_create("hwluks-header", MFD_CLOEXEC);
	if (m->fd < 0)
		return -errno;
	if (ftruncate(m->fd, (off_t)size)) {
		int r = -errno;

		close_fd(&m->fd);
		return r;
	}
	snprintf(m->path, sizeof(m->path), "/proc/self/fd/%d", m->fd);
	return 0;
}

static int copy_range(int from, int to, uint64_t offset, uint64_t end)
{
	char *buf = xcalloc(1, 1 << 20);
	int r = 0;

	while (offset < end) {
		size_t want = end - offset < 1 << 20 ? (size_t)(end - offset) : 1 << 20;
		ssize_t n = pread(from, buf, want, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (n > 0 && pwrite(to, buf, (size_t)n, (off_t)offset) != n))
			r = errno ? -errno : -EIO;
		if (n <= 0 || r)
			break;
		offset += (uint64_t)n;
	}
	free(buf);
	return r;
}

static int size_of(int fd, uint64_t *size)
{
	off_t end = lseek(fd, 0, SEEK_END);

	if (end < 0)
		return -errno;
	*size = (uint64_t)end;
	return 0;
}

/* Metadata of any LUKS header ends below this: two copies of at most 4 MiB. */
static uint64_t metadata_end(int fd)
{
	unsigned char b[16] = { 0 };
	uint64_t size = 0;

	if (pread(fd, b, sizeof(b), 0) != (ssize_t)sizeof(b))
		return 0;
	if (!memcmp(b, "LUKS\xba\xbe\0\1", 8))
		return 4096;
	if (!memcmp(b, "LUKS\xba\xbe\0\2", 8))
		for (unsigned int i = 8; i < 16; i++)
			size = size << 8 | b[i];
	return size >= 0x4000 && size <= 0x400000 ? 2 * size : 0x800000;
}

/* A sparse copy of the metadata, as large as the original so that the library's size checks hold.
 */
static int peek(const char *path, struct memfile *m, int *source)
{
	uint64_t size = 0, end;
	int r;

	*source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*source < 0)
		return -errno;
	r = size_of(*source, &size);
	if (!r)
		r = memfile_new(size, m);
	if (r)
		return r;
	end = metadata_end(*source);
	return copy_range(*source, m->fd, 0, end < size ? end : size);
}

/* --- load and facts
 * ----------------------------------------------------------------------------------- */

static bool has_luks_magic(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char b[6];

	if (pread(fd, b, sizeof(b), 0) == (ssize_t)sizeof(b) && !memcmp(b, "LUKS\xba\xbe", 6))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(header_secondary_offsets); i++)
		if (header_has_secondary(fd, header_secondary_offsets[i]))
			return true;
	return false;
}

/* The library says -EINVAL for no header, a damaged one, and -EIO for a file too short to hold one.
 */
static int load_why(const char *path, int r, struct strbuf *why)
{
	if (r == -EINVAL || r == -EIO)
		r = has_luks_magic(path) ? -EBADMSG : -EMEDIUMTYPE;
	if (!why)
		return r;
	if (r == -EMEDIUMTYPE)
		strbuf_printf(why, "%s holds no LUKS header.", path);
	else if (r == -ENOTBLK)
		strbuf_printf(why, "%s is neither a block device nor a regular file.", path);
	else if (r == -EBADMSG)
		strbuf_printf(why,
		              "%s has a LUKS header, but it is damaged or cut short.%s%s Restore a backup of it "
		              "('cryptsetup luksHeaderRestore'), or try 'cryptsetup repair'.",
		              path, *luks_last_error() ? " " : "", luks_last_error());
	else
		strbuf_printf(why, "Reading the LUKS header of %s: %s.", path, strerror(-r));
	return r;
}

/* Anything else is not even opened: a fifo would wait for ever. */
static bool is_storage(const char *path)
{
	struct stat st;

	return !path || stat(path, &st) || S_ISBLK(st.st_mode) || S_ISREG(st.st_mode);
}

static int load_cd(struct volume *v, const char *meta, const char *data)
{
	int r;

	luks_log_setup();
	luks_log_quiet(true);
	r = data ? crypt_init_data_device(&v->cd, meta, data) : crypt_init(&v->cd, meta);
	if (!r)
		r = crypt_load(v->cd, CRYPT_LUKS, NULL);
	luks_log_quiet(false);
	return r;
}

int vol_load(const char *device, const char *header, unsigned int flags, struct volume **out,
             struct strbuf *why)
{
	const char *meta = header ? header : device;
	cleanup_close int source = -1;
	struct volume *v;
	int r = 0;

	*out = NULL;
	if (access(meta, R_OK))
		return load_why(meta, -errno, why);
	if (!is_storage(meta) || !is_storage(device))
		return load_why(is_storage(meta) ? device : meta, -ENOTBLK, why);
	v = xcalloc(1, sizeof(*v));
	v->copy.fd = -1;
	v->detached = header != NULL;
	if (flags & VOL_NO_LOCKS)
		crypt_metadata_locking(NULL, 0);
	if (flags & VOL_PEEK) {
		r = peek(meta, &v->copy, &source);
		if (!r)
			r = load_cd(v, v->copy.path, NULL);
	} else {
		r = load_cd(v, meta, header ? device : NULL);
	}
	if (r) {
		vol_free(v);
		return load_why(meta, r, why);
	}
	if (flags & VOL_NO_KEYRING)
		crypt_volume_key_keyring(v->cd, 0);
	*out = v;
	return 0;
}

void vol_free(struct volume *v)
{
	if (!v)
		return;
	crypt_free(v->cd);
	close_fd(&v->copy.fd);
	free(v);
}

const char *vol_type_name(enum vol_type t)
{
	static const char *const name[] = { "", "luks1", "luks2" };

	return name[t];
}

static const struct {
	unsigned int ours;
	uint32_t theirs;
	bool kept; /* can be stored in a LUKS2 header */
} flag_map[] = {
	{ VOL_READONLY, CRYPT_ACTIVATE_READONLY, false },
	{ VOL_ALLOW_DISCARDS, CRYPT_ACTIVATE_ALLOW_DISCARDS, true },
	{ VOL_SAME_CPU_CRYPT, CRYPT_ACTIVATE_SAME_CPU_CRYPT, true },
	{ VOL_SUBMIT_FROM_CRYPT_CPUS, CRYPT_ACTIVATE_SUBMIT_FROM_CRYPT_CPUS, true },
	{ VOL_NO_READ_WORKQUEUE, CRYPT_ACTIVATE_NO_READ_WORKQUEUE, true },
	{ VOL_NO_WRITE_WORKQUEUE, CRYPT_ACTIVATE_NO_WRITE_WORKQUEUE, true },
#ifdef CRYPT_ACTIVATE_HIGH_PRIORITY
	{ VOL_HIGH_PRIORITY, CRYPT_ACTIVATE_HIGH_PRIORITY, false },
#endif
	{ VOL_REFRESH, CRYPT_ACTIVATE_REFRESH, false },
};

uint32_t luks_flags(unsigned int ours, bool kept_only)
{
	uint32_t theirs = 0;

	for (size_t i = 0; i < ARRAY_SIZE(flag_map); i++)
		if (ours & flag_map[i].ours && (flag_map[i].kept || !kept_only))
			theirs |= flag_map[i].theirs;
	return theirs;
}

static uint32_t flags_from_crypt(uint32_t theirs)
{
	uint32_t ours = 0;

	for (size_t i = 0; i < ARRAY_SIZE(flag_map); i++)
		if (theirs & flag_map[i].theirs)
			ours |= flag_map[i].ours;
	return ours;
}

static void fill_slot(struct crypt_device *cd, int slot, crypt_keyslot_info status,
                      struct vol_keyslot *out)
{
	struct crypt_pbkdf_type pbkdf = { 0 };
	const char *cipher;
	size_t key_size = 0;

	memset(out, 0, sizeof(*out));
	out->slot = slot;
	out->unbound = status == CRYPT_SLOT_UNBOUND;
	cipher = crypt_keyslot_get_encryption(cd, slot, &key_size);
	str_copy(out->cipher, sizeof(out->cipher), cipher ? cipher : "");
	out->key_bits = (unsigned int)key_size * 8;
	if (crypt_keyslot_get_pbkdf(cd, slot, &pbkdf))
		return;
	str_copy(out->pbkdf, sizeof(out->pbkdf), pbkdf.type ? pbkdf.type : "");
	str_copy(out->hash, sizeof(out->hash), pbkdf.hash ? pbkdf.hash : "");
	out->iterations = pbkdf.iterations;
	out->memory_kib = pbkdf.max_memory_kb;
	out->parallel = pbkdf.parallel_threads;
}

static void fill_slots(struct crypt_device *cd, struct vol_facts *f)
{
	int max = crypt_keyslot_max(crypt_get_type(cd));

	for (int i = 0; i < max && f->n_slots < VOL_SLOTS_MAX; i++) {
		crypt_keyslot_info status = crypt_keyslot_status(cd, i);

		if (status == CRYPT_SLOT_INVALID || status == CRYPT_SLOT_INACTIVE)
			continue;
		fill_slot(cd, i, status, &f->slot[f->n_slots++]);
	}
}

static void fill_luks2(struct crypt_device *cd, struct vol_facts *f)
{
	struct crypt_params_integrity integrity = { 0 };
	uint64_t metadata = 0, keyslots = 0;
	uint32_t flags = 0;
	const char *text;

	text = crypt_get_label(cd);
	str_copy(f->label, sizeof(f->label), text ? text : "");
	text = crypt_get_subsystem(cd);
	str_copy(f->subsystem, sizeof(f->subsystem), text ? text : "");
	if (!crypt_get_integrity_info(cd, &integrity) && integrity.integrity)
		str_copy(f->integrity, sizeof(f->integrity), integrity.integrity);
	f->reencrypting = crypt_reencrypt_status(cd, NULL) != CRYPT_REENCRYPT_NONE;
	if (!crypt_persistent_flags_get(cd, CRYPT_FLAGS_ACTIVATION, &flags))
		f->persistent = flags_from_crypt(flags);
	if (!crypt_get_metadata_size(cd, &metadata, &keyslots))
		f->header_size = 2 * metadata + keyslots;
	for (int i = 0; i < crypt_token_max(CRYPT_LUKS2); i++) {
		const char *type = NULL;
		char one[128];

		if (crypt_token_status(cd, i, &type) <= CRYPT_TOKEN_INACTIVE || !type)
			continue;
		snprintf(one, sizeof(one), "%d:%s", i, type);
		strv_add(&f->tokens, one);
	}
}

/* End of the last of the eight areas: a detached LUKS1 header has no data offset to tell it. */
static uint64_t luks1_header_size(struct crypt_device *cd)
{
	uint64_t end = 4096, offset, length;

	for (int i = 0; i < crypt_keyslot_max(CRYPT_LUKS1); i++)
		if (!crypt_keyslot_area(cd, i, &offset, &length) && offset + length > end)
			end = offset + length;
	return (end + 4095) / 4096 * 4096;
}

void luks_fill_facts(struct crypt_device *cd, struct vol_facts *f)
{
	const char *type = crypt_get_type(cd), *cipher = crypt_get_cipher(cd);
	const char *mode = crypt_get_cipher_mode(cd), *uuid = crypt_get_uuid(cd);
	struct spec_error err;

	memset(f, 0, sizeof(*f));
	f->type = type && !strcmp(type, CRYPT_LUKS1) ? VOL_LUKS1 : VOL_LUKS2;
	snprintf(f->cipher, sizeof(f->cipher), "%s%s%s", cipher ? cipher : "",
	         mode && *mode ? "-" : "", mode ? mode : "");
	f->key_bits = (unsigned int)crypt_get_volume_key_size(cd) * 8;
	f->sector_size = (unsigned int)crypt_get_sector_size(cd);
	f->spec_known = !spec_parse(f->cipher, &f->spec, &err);
	f->spec.key_bits = f->key_bits;
	f->spec.sector_size = f->sector_size;
	str_copy(f->uuid, sizeof(f->uuid), uuid ? uuid : "");
	f->data_offset = crypt_get_data_offset(cd) * 512;
	if (f->type == VOL_LUKS2)
		fill_luks2(cd, f);
	else
		f->header_size = luks1_header_size(cd);
	fill_slots(cd, f);
}

int vol_get_facts(struct volume *v, struct vol_facts *out)
{
	luks_fill_facts(v->cd, out);
	out->detached = v->detached;
	return 0;
}

void vol_facts_free(struct vol_facts *f)
{
	strv_free(&f->tokens);
}

/* --- open and close
 * -------------------------------------------------------------------------------------- */

bool vol_has_high_priority(void)
{
#ifdef CRYPT_ACTIVATE_HIGH_PRIORITY
	/* An older library than the one built against ignores the flag silently; this call came
	 * with it, in 2.8. */
	return dlsym(RTLD_DEFAULT, "crypt_format_inline") != NULL;
#else
	return false;
#endif
}

int luks_activation_check(struct volume *v, const struct vol_activation *a)
{
	if (v->copy.fd >= 0)
		return -EBADF;
	if (a->flags & VOL_HIGH_PRIORITY && !vol_has_high_priority())
		return -EOPNOTSUPP;
	if (a->flags & VOL_PERSISTENT && strcmp(crypt_get_type(v->cd), CRYPT_LUKS2))
		return -EOPNOTSUPP;
	return 0;
}

int luks_activation_done(struct volume *v, const struct vol_activation *a, int r)
{
	int kept;

	if (r == -ETXTBSY) /* requirements of the header that this library does not know */
		return -ENOTSUP;
	if (r < 0 || !a->name || !(a->flags & VOL_PERSISTENT))
		return r;
	kept = crypt_persistent_flags_set(v->cd, CRYPT_FLAGS_ACTIVATION,
	                                  luks_flags(a->flags, true));
	if (kept)
		log_warn("the volume is open, but its flags could not be kept in the header: %s",
		         strerror(-kept));
	return r;
}

int vol_open(struct volume *v, const struct vol_activation *a, const struct secret *s)
{
	int r = luks_activation_check(v, a);

	if (r)
		return r;
	luks_log_quiet(true); /* a wrong passphrase is the caller's sentence to say */
	r = crypt_activate_by_passphrase(v->cd, a->name, a->slot < 0 ? CRYPT_ANY_SLOT : a->slot,
	                                 s->data, s->len, luks_flags(a->flags, false));
	luks_log_quiet(false);
	return luks_activation_done(v, a, r);
}

int vol_open_token(struct volume *v, const struct vol_activation *a, const struct vol_token *t)
{
	int r = luks_activation_check(v, a);

	if (r)
		return r;
	if (strcmp(crypt_get_type(v->cd), CRYPT_LUKS2))
		return -ENOENT;
	luks_log_quiet(true);
	r = crypt_activate_by_token_pin(v->cd, a->name, t->type,
	                                t->id < 0 ? CRYPT_ANY_TOKEN : t->id,
	                                t->pin ? t->pin->data : NULL, t->pin ? t->pin->len : 0,
	                                NULL, luks_flags(a->flags, false));
	luks_log_quiet(false);
	if (r == -EINVAL) /* what the library says of a token id or type that is not there */
		r = -ENOENT;
	return luks_activation_done(v, a, r);
}

int vol_close(const char *name, bool deferred)
{
	int r;

	luks_log_setup();
	luks_log_quiet(true); /* "not active" and "in use" are the caller's sentences */
	r = crypt_deactivate_by_name(NULL, name, deferred ? CRYPT_DEACTIVATE_DEFERRED : 0);
	luks_log_quiet(false);
	return r;
}

/* --- header backup
 * ------------------------------------------------------------------------------------------ */

static int sync_file_and_dir(const char *file)
{
	cleanup_free char *copy = xstrdup(file);
	cleanup_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	cleanup_close int dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || dir < 0)
		return -errno;
	if (fchmod(fd, 0600) || fsync(fd) || fsync(dir))
		return -errno;
	return 0;
}

/* The copy gets the key slots too, then the library writes the file in its own format. */
static int backup_from_copy(struct volume *v, int source, const char *file)
{
	struct vol_facts f;
	uint64_t size = 0;
	int r;

	luks_fill_facts(v->cd, &f);
	vol_facts_free(&f);
	r = size_of(source, &size);
	if (!r)
		r = copy_range(source, v->copy.fd, metadata_end(v->copy.fd),
		               f.header_size < size ? f.header_size : size);
	if (!r)
		r = crypt_header_backup(v->cd, NULL, file);
	if (!r)
		r = sync_file_and_dir(file);
	return r;
}

int vol_header_backup(const char *device, const char *file, struct strbuf *why)
{
	cleanup_close int source = -1;
	struct volume *v;
	int r;

	if (!access(file, F_OK)) {
		if (why)
			strbuf_printf(why,
			              "%s exists already; hwluks never overwrites a header backup.",
			              file);
		return -EEXIST;
	}
	r = vol_load(device, NULL, VOL_PEEK, &v, why);
	if (!v)
		return r;
	source = open(device, O_RDONLY | O_CLOEXEC);
	r = source < 0 ? -errno : backup_from_copy(v, source, file);
	vol_free(v);
	if (r && why)
		strbuf_printf(why, "Saving the header of %s to %s: %s.", device, file,
		              strerror(-r));
	return r;
}
