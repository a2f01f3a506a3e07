/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * dm-crypt mappings through libdevmapper: throw-away ones, and the facts of open ones.
 * Must not know LUKS headers or policies. No udev: each task carries the flags that keep udev's
 * rules off and none waits.
 */
#include "vol/mapping.h"

#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <libcryptsetup.h>
#include <libdevmapper.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "util/util.h"

/*
 * No symbolic links, no probing, no other rules; and libdm makes no node either, since nodes are
 * opened by number here. A rule that read a test mapping would hang with its engine and keep the
 * mapping busy.
 */
#define NO_UDEV                                                                 \
	(DM_UDEV_DISABLE_DM_RULES_FLAG | DM_UDEV_DISABLE_SUBSYSTEM_RULES_FLAG | \
	 DM_UDEV_DISABLE_DISK_RULES_FLAG | DM_UDEV_DISABLE_OTHER_RULES_FLAG |   \
	 DM_UDEV_DISABLE_LIBRARY_FALLBACK)

#define REMOVE_TRIES   10
#define REMOVE_STEP_MS 100

/* --- libdm's messages: the last error is kept for `why`, the rest dropped (a debug line may name
 * anything) --------- */

static char last_error[200];

static void PRINTF(5, 6)
	note_error(int level, const char *file, int line, int code, const char *fmt, ...)
{
	va_list ap;

	(void)file;
	(void)line;
	(void)code;
	if ((level & 7) > 3) /* libdm: 3 = error, 2 = fatal; higher bits are flags */
		return;
	va_start(ap, fmt);
	vsnprintf(last_error, sizeof(last_error), fmt, ap);
	va_end(ap);
}

/* What libdm keeps per process and libcryptsetup in the same process relies on. */
struct library_state {
	int udev_sync;
};

static struct library_state library_enter(void)
{
	struct library_state st;

	last_error[0] = '\0';
	dm_log_with_errno_init(note_error); /* first: even asking for the state can print */
	st.udev_sync = dm_udev_get_sync_support();
	dm_udev_set_sync_support(0);
	return st;
}

static void library_leave(struct library_state st)
{
	dm_udev_set_sync_support(st.udev_sync);
	dm_log_with_errno_init(NULL);
}

/*
 * Children of ours begin by closing what they inherited, and libdevmapper would not notice that its control descriptor is
 * gone: "version ioctl failed: Bad file descriptor", and a driver that could not be tested.
 */
static void __attribute__((constructor)) release_in_children(void)
{
	pthread_atfork(NULL, NULL, dm_lib_release);
}

static int task_error(struct dm_task *t)
{
	int err = t ? dm_task_get_errno(t) : ENOMEM;

	return err ? -err : -EIO;
}

/* A task on a named mapping; NULL when out of memory. */
static struct dm_task *task_new(int type, const char *name)
{
	struct dm_task *t = dm_task_create(type);

	if (t && name && !dm_task_set_name(t, name)) {
		dm_task_destroy(t);
		return NULL;
	}
	return t;
}

static int task_run(struct dm_task *t)
{
	return t && dm_task_run(t) ? 0 : task_error(t);
}

static int task_run_without_udev(struct dm_task *t)
{
	uint32_t cookie = 0;

	if (!t || !dm_task_set_cookie(t, &cookie, NO_UDEV))
		return -ENOMEM;
	return task_run(t);
}

/* --- is it there
 * ---------------------------------------------------------------------------------------------- */

static bool kernel_has_dm(void)
{
	cleanup_fclose FILE *f = fopen("/proc/misc", "re");
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "device-mapper"))
			return true;
	return false;
}

int mapping_available(char *why, size_t size)
{
	struct library_state st = library_enter();
	struct dm_task *t = task_new(DM_DEVICE_VERSION, NULL);
	int err = task_run(t);

	if (t)
		dm_task_destroy(t);
	library_leave(st);
	if (!err)
		return 0;
	if (!kernel_has_dm())
		err = -ENODEV;
	else if (geteuid())
		err = -EACCES;
	if (why)
		snprintf(
			why, size, "%s",
			err == -ENODEV
				? "this kernel has no device-mapper (module dm_mod is neither loaded nor built in)"
			: err == -EACCES ? "device-mapper needs root"
					 : last_error);
	return err;
}

/* --- device nodes
 * ------------------------------------------------------------------------------------------------
 */

static int open_checked(mode_t type, dev_t dev, const char *path, int oflags)
{
	int fd = open(path, oflags | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && (st.st_mode & S_IFMT) == type && st.st_rdev == dev)
		return fd;
	close(fd);
	return -ENODEV;
}

/* "k3x9…": lower-case letters and digits. */
static int random_text(char *buf, size_t chars)
{
	static const char set[] = "abcdefghijkmnpqrstuvwxyz23456789"; /* 32, so no bias */
	unsigned char raw[32];

	if (chars > sizeof(raw) || getrandom(raw, chars, 0) != (ssize_t)chars)
		return -EIO;
	for (size_t i = 0; i < chars; i++)
		buf[i] = set[raw[i] % 32];
	buf[chars] = '\0';
	return 0;
}

int device_open(mode_t type, dev_t dev, const char *path, int oflags)
{
	char node[] = "/dev/.hwluks-xxxxxxxx"; /* not in /run, which systems mount nodev */
	int fd = path ? open_checked(type, dev, path, oflags) : -ENOENT;
	int err;

	if (fd >= 0 || (fd != -ENOENT && fd != -ENODEV && fd != -ELOOP))
		return fd;
	err = random_text(node + strlen("/dev/.hwluks-"), 8);
	if (err)
		return err;
	if (mknod(node, type | 0600, dev))
		return -errno;
	fd = open_checked(type, dev, node, oflags);
	unlink(node);
	return fd;
}

int mapping_open(const struct mapping *m, int oflags)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/dm-%u", minor(m->dev));
	return device_open(S_IFBLK, m->dev, path, oflags);
}

/* --- creating and removing
 * ---------------------------------------------------------------------------------------- */

static int create_empty(const char *name, bool readonly)
{
	struct dm_task *t = task_new(DM_DEVICE_CREATE, name);
	char uuid[MAPPING_UUID_MAX];
	int err = -ENOMEM;

	snprintf(uuid, sizeof(uuid), "HWLUKS-%.100s", name);
	if (t && dm_task_set_uuid(t, uuid) && (!readonly || dm_task_set_ro(t)))
		err = task_run(t);
	if (t)
		dm_task_destroy(t);
	return err;
}

/* params may hold a key: everything that libdm and the kernel copy of it is wiped by them. */
static int load_table(const char *name, const char *type, const char *params, uint64_t sectors,
                      bool readonly)
{
	struct dm_task *t = task_new(DM_DEVICE_RELOAD, name);
	int err = -ENOMEM;

	if (t && dm_task_secure_data(t) && (!readonly || dm_task_set_ro(t)) &&
	    dm_task_add_target(t, 0, sectors, type, params))
		err = task_run(t);
	if (t)
		dm_task_destroy(t);
	return err;
}

static int resume(const char *name)
{
	struct dm_task *t = task_new(DM_DEVICE_RESUME, name);
	int err = task_run_without_udev(t);

	if (t)
		dm_task_destroy(t);
	return err;
}

/* Creates a one-target mapping; in three steps, since libdm's one-step form loses the kernel's
 * error number. */
static int create_one(const char *name, const char *type, const char *params, uint64_t sectors,
                      bool readonly)
{
	int err = create_empty(name, readonly);

	if (!err)
		err = load_table(name, type, params, sectors, readonly);
	return err ? err : resume(name);
}

static int remove_once(const char *name, bool deferred)
{
	struct dm_task *t = task_new(DM_DEVICE_REMOVE, name);
	int err = -ENOMEM;

	if (t && (!deferred || dm_task_deferred_remove(t)))
		err = task_run_without_udev(t);
	if (t)
		dm_task_destroy(t);
	return err == -ENXIO ? 0 : err;
}

static int remove_one(const char *name)
{
	const struct timespec step = { .tv_nsec = REMOVE_STEP_MS * 1000000L };
	int err = remove_once(name, false);

	for (int i = 0; err == -EBUSY && i < REMOVE_TRIES; i++) {
		nanosleep(&step, NULL);
		err = remove_once(name, false);
	}
	if (err == -EBUSY)
		remove_once(name, true);
	return err;
}

static int device_number(const char *name, dev_t *dev)
{
	struct dm_task *t = task_new(DM_DEVICE_INFO, name);
	struct dm_info info;
	int err = task_run(t);

	if (!err && (!dm_task_get_info(t, &info) || !info.exists))
		err = -ENXIO;
	if (!err)
		*dev = makedev(info.major, info.minor);
	if (t)
		dm_task_destroy(t);
	return err;
}

/* "zero" below a crypt mapping: writes vanish, reads are zeros, so only the cipher costs time. */
static int create_zero(const struct mapping_request *rq, struct mapping *out, char *device,
                       size_t size)
{
	dev_t dev;
	int err;

	snprintf(out->zero_name, sizeof(out->zero_name), "%.120s-zero", out->name);
	err = create_one(out->zero_name, "zero", "", rq->sectors, false);
	if (err) /* not to be mistaken for what the crypt target says about its cipher */
		return -ENOTBLK;
	err = device_number(out->zero_name, &dev);
	if (!err)
		snprintf(device, size, "%u:%u", major(dev), minor(dev));
	return err;
}

static void hex_text(char *to, const unsigned char *from, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*to++ = digits[from[i] >> 4];
		*to++ = digits[from[i] & 15];
	}
	*to = '\0';
}

/* " 2 allow_discards sector_size:4096", or "". */
static void arguments_text(const struct mapping_request *rq, char *buf, size_t size)
{
	unsigned int n = 0, sector_size = rq->spec->sector_size;
	char flags[200], sector[32] = "";

	crypt_flags_text(rq->flags, flags, sizeof(flags));
	for (unsigned int f = rq->flags; f; f &= f - 1)
		n++;
	if (sector_size && sector_size != 512) {
		snprintf(sector, sizeof(sector), " sector_size:%u", sector_size);
		n++;
	}
	buf[0] = '\0';
	if (n)
		snprintf(buf, size, " %u%s%s%s", n, flags[0] ? " " : "", flags, sector);
}

static int create_crypt(const struct mapping_request *rq, const struct mapping *m,
                        const char *device)
{
	char cipher[256], arguments[300];
	size_t key_len = rq->spec->key_bits / 8, at, size;
	char *params;
	int err;

	if (rq->cipher)
		snprintf(cipher, sizeof(cipher), "%s", rq->cipher);
	else
		spec_text(rq->spec, cipher, sizeof(cipher));
	arguments_text(rq, arguments, sizeof(arguments));
	size = strlen(cipher) + 2 * key_len + strlen(device) + strlen(arguments) + 64;
	params = crypt_safe_alloc(size);
	if (!params)
		return -ENOMEM;
	at = (size_t)snprintf(params, size, "%s ", cipher);
	hex_text(params + at, rq->key, key_len);
	at += 2 * key_len;
	snprintf(params + at, size - at, " %llu %s %llu%s", (unsigned long long)rq->iv_offset,
	         device, (unsigned long long)rq->device_offset, arguments);
	err = create_one(m->name, "crypt", params, rq->sectors, rq->readonly);
	crypt_safe_free(params);
	return err;
}

static void explain(int err, char *why, size_t size)
{
	const char *s = last_error;

	if (!why)
		return;
	if (err == -ENOENT)
		s = "the kernel has no driver that dm-crypt may use for this cipher";
	else if (err == -EINVAL)
		s = "the kernel refused the cipher, the IV or the length of the key";
	else if (err == -ENOTBLK)
		s = "the kernel has no zero target (module dm-zero)";
	snprintf(why, size, "%s (%s)", *s ? s : "device-mapper failed", strerror(-err));
}

int mapping_create(const struct mapping_request *rq, struct mapping *out, char *why, size_t size)
{
	struct library_state st = library_enter();
	char letters[16], below[32];
	const char *device = rq->device;
	int err;

	memset(out, 0, sizeof(*out));
	if (why && size)
		why[0] = '\0';
	err = random_text(letters, 8);
	snprintf(out->name, sizeof(out->name), "%.60s-%s", rq->prefix, letters);
	if (!err && !device) {
		err = create_zero(rq, out, below, sizeof(below));
		device = below;
	}
	if (!err)
		err = create_crypt(rq, out, device);
	if (!err)
		err = device_number(out->name, &out->dev);
	if (err) {
		explain(err, why, size);
		remove_one(out->name);
		if (out->zero_name[0])
			remove_one(out->zero_name);
		memset(out, 0, sizeof(*out));
	}
	library_leave(st);
	return err;
}

int mapping_remove(const struct mapping *m)
{
	struct library_state st = library_enter();
	int err = remove_one(m->name), err2 = 0;

	if (m->zero_name[0])
		err2 = remove_one(m->zero_name);
	library_leave(st);
	return err ? err : err2;
}

int mapping_remove_with_last_user(const struct mapping *m)
{
	struct library_state st = library_enter();
	int err = remove_once(m->name, true);

	if (!err && m->zero_name[0])
		err = remove_once(m->zero_name, true);
	library_leave(st);
	return err;
}

static int run_plain(int type, const char *name)
{
	struct dm_task *t = task_new(type, name);
	int err = task_run(t);

	if (t)
		dm_task_destroy(t);
	return err;
}

int mapping_settle(const char *name)
{
	struct library_state st = library_enter();
	struct dm_task *t = task_new(DM_DEVICE_INFO, name);
	struct dm_info info = { 0 };
	int err = task_run(t);

	if (!err && (!dm_task_get_info(t, &info) || !info.exists))
		err = -ENXIO;
	if (t)
		dm_task_destroy(t);
	if (!err && info.inactive_table)
		err = run_plain(DM_DEVICE_CLEAR, name);
	/* udev's rules may look at it again: it is a volume that people use */
	if (info.exists && info.suspended)
		err = run_plain(DM_DEVICE_RESUME, name);
	library_leave(st);
	return err;
}

/* --- facts of open mappings
 * ----------------------------------------------------------------------------------------- */

static void fill_spec(struct mapping_facts *f)
{
	struct spec_error err;

	f->spec_known = !spec_parse(f->table.cipher, &f->spec, &err);
	f->spec.key_bits = f->table.key_bits;
	f->spec.sector_size = f->table.sector_size;
}

/* Reads all targets; the key in each crypt line is overwritten where libdm holds it. */
static int read_targets(struct dm_task *t, struct mapping_facts *f)
{
	char *type = NULL, *params = NULL;
	uint64_t start, length;
	struct crypt_table table;
	void *next = NULL;

	do {
		next = dm_get_next_target(t, next, &start, &length, &type, &params);
		if (!type)
			break;
		f->sectors += length;
		if (strcmp(type, "crypt") || !params)
			continue;
		if (crypt_table_parse(params, &table))
			return -EBADMSG;
		if (!f->targets++)
			f->table = table;
	} while (next);
	if (!f->targets)
		return -EMEDIUMTYPE;
	fill_spec(f);
	return 0;
}

static int read_facts(struct dm_task *t, const char *name, struct mapping_facts *f)
{
	const char *uuid = dm_task_get_uuid(t);
	struct dm_info info;

	if (!dm_task_get_info(t, &info) || !info.exists)
		return -ENXIO;
	str_copy(f->name, sizeof(f->name), name);
	str_copy(f->uuid, sizeof(f->uuid), uuid ? uuid : "");
	f->dev = makedev(info.major, info.minor);
	f->open_count = info.open_count > 0 ? (unsigned int)info.open_count : 0;
	f->event_nr = info.event_nr;
	f->readonly = info.read_only;
	f->suspended = info.suspended;
	return read_targets(t, f);
}

static int get_facts(const char *name, struct mapping_facts *f)
{
	struct dm_task *t = task_new(DM_DEVICE_TABLE, name);
	int err = -ENOMEM;

	memset(f, 0, sizeof(*f));
	if (t && dm_task_secure_data(t)) {
		err = task_run(t);
		if (!err)
			err = read_facts(t, name, f);
	}
	if (t)
		dm_task_destroy(t); /* wipes its buffers: secure data */
	return err;
}

int mapping_get(const char *name, struct mapping_facts *out)
{
	struct library_state st;
	int err;

	memset(out, 0, sizeof(*out));
	if (!*name || strlen(name) >= MAPPING_NAME_MAX || strchr(name, '/'))
		return -ENXIO;
	err = mapping_available(NULL, 0);
	if (err)
		return err;
	st = library_enter();
	err = get_facts(name, out);
	library_leave(st);
	return err;
}

/* Adds the facts of each crypt mapping named in the list; what vanished meanwhile or is none is
 * left out. */
static void add_all(struct dm_names *names, struct mapping_list *out)
{
	struct mapping_facts f;

	if (!names->dev)
		return; /* libdm's way to say: none */
	for (;;) {
		if (!get_facts(names->name, &f)) {
			out->v = xreallocarray(out->v, out->n + 1, sizeof(*out->v));
			out->v[out->n++] = f;
		}
		if (!names->next)
			return;
		names = (struct dm_names *)((char *)names + names->next);
	}
}

int mapping_list(struct mapping_list *out)
{
	int err = mapping_available(NULL, 0);
	struct library_state st;
	struct dm_names *names;
	struct dm_task *t;

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	st = library_enter();
	t = task_new(DM_DEVICE_LIST, NULL);
	err = task_run(t);
	names = err ? NULL : dm_task_get_names(t);
	if (names)
		add_all(names, out);
	if (t)
		dm_task_destroy(t);
	library_leave(st);
	return err;
}

void mapping_list_free(struct mapping_list *l)
{
	free(l->v);
	memset(l, 0, sizeof(*l));
}

/* --- recorded mappings -------------------------------------------------------------------------------- */

static struct mapping_facts *facts_named(struct mapping_list *l, const char *name)
{
	struct mapping_facts *f;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return &l->v[i];
	l->v = xreallocarray(l->v, l->n + 1, sizeof(*l->v));
	f = &l->v[l->n++];
	*f = (struct mapping_facts){ 0 };
	str_copy(f->name, sizeof(f->name), name);
	return f;
}

/* "NAME: START LENGTH crypt PARAMS"; false when it is a crypt line and wrong. */
static bool parse_table_line(char *line, struct mapping_list *out)
{
	char *colon = strchr(line, ':'), type[32];
	struct mapping_facts *f;
	struct crypt_table table;
	uint64_t start, length;
	int at = 0;

	if (!colon || sscanf(colon + 1, "%" SCNu64 " %" SCNu64 " %31s %n", &start, &length, type, &at) < 3 || !at)
		return !strstr(line, " crypt ");
	if (strcmp(type, "crypt"))
		return true;
	*colon = '\0';
	if (!*line || strlen(line) >= MAPPING_NAME_MAX || crypt_table_parse(colon + 1 + at, &table))
		return false;
	f = facts_named(out, line);
	f->sectors += length;
	if (!f->targets++)
		f->table = table;
	fill_spec(f);
	return true;
}

size_t mapping_list_parse(char *text, struct mapping_list *out)
{
	size_t bad = 0;

	*out = (struct mapping_list){ 0 };
	for (char *save = NULL, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		bad += !parse_table_line(line, out);
	return bad;
}

/* The optional parameters with their number in front, as the kernel wants them. */
static void add_options(const struct crypt_table *t, struct strbuf *out)
{
	struct strbuf words = { 0 };
	unsigned int n = 0;

	for (unsigned int bit = 1; bit && crypt_flag_name(bit); bit <<= 1)
		if (t->flags & bit && ++n)
			strbuf_printf(&words, " %s", crypt_flag_name(bit));
	if (t->sector_size > 512 && ++n)
		strbuf_printf(&words, " sector_size:%u", t->sector_size);
	if (t->tag_size && ++n)
		strbuf_printf(&words, " integrity:%u:%s", t->tag_size, *t->integrity ? t->integrity : "none");
	if (n)
		strbuf_printf(out, " %u%s", n, words.s);
	strbuf_free(&words);
}

static void add_table_line(const struct mapping_facts *f, uint64_t start, uint64_t length, struct strbuf *out)
{
	const struct crypt_table *t = &f->table;

	strbuf_printf(out, "%s: %" PRIu64 " %" PRIu64 " crypt %s ", f->name, start, length, t->cipher);
	if (t->key_bits)
		strbuf_printf(out, ":%u:logon:key", t->key_bits / 8);
	else
		strbuf_printf(out, "-");
	strbuf_printf(out, " %" PRIu64 " %s %" PRIu64, t->iv_offset, t->device, t->offset);
	add_options(t, out);
	strbuf_printf(out, "\n");
}

void mapping_list_text(const struct mapping_list *l, struct strbuf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct mapping_facts *f = &l->v[i];
		unsigned int n = f->targets && f->targets <= f->sectors ? f->targets : 1;

		/* of the targets only their number is known, and the size of all */
		add_table_line(f, 0, f->sectors - (n - 1), out);
		for (unsigned int k = 1; k < n; k++)
			add_table_line(f, f->sectors - n + k, 1, out);
	}
}
