/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Opens and reads files below one root: this machine, or a directory with a recorded one.
 * Must not know what the files mean.
 */
#include "sys/sys.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel's own limit */

/* What a recording says of itself. */
static void look_for_marks(struct sysroot *sr)
{
	sr->complete = !sr->recorded || sysroot_exists(sr, SYSROOT_COMPLETE);
	if (sr->recorded && sysroot_exists(sr, SYSROOT_ERRORS))
		sysroot_read(sr, SYSROOT_ERRORS, &sr->errors, NULL);
}

int sysroot_open(struct sysroot *sr, const char *dir)
{
	size_t n = dir ? strlen(dir) : 0;
	int fd = open(dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	*sr = (struct sysroot){ .fd = -1 };
	if (fd < 0)
		return -errno;
	while (n > 1 && dir[n - 1] == '/')
		n--;
	sr->fd = fd;
	sr->recorded = dir != NULL;
	sr->dir = xstrndup(dir ? dir : "", n);
	look_for_marks(sr);
	return 0;
}

void sysroot_replay(struct sysroot *sr, const struct recording *from)
{
	*sr = (struct sysroot){ .fd = -1, .recorded = true, .dir = xstrdup(""), .from = from };
	look_for_marks(sr);
}

void sysroot_close(struct sysroot *sr)
{
	free(sr->dir);
	free(sr->errors);
	if (sr->fd >= 0)
		close(sr->fd);
	*sr = (struct sysroot){ .fd = -1 };
}

/* --- opening inside the root ------------------------------------------------------ */

/* Drops the last component of a relative path, as ".." does; stays at the root when there is none.
 */
static void path_up(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

/* Puts a link's text in front of what is left of the path. */
static int path_splice(char *rest, size_t size, const char *link)
{
	char tail[PATH_MAX];
	size_t n = strlen(link), m;

	str_copy(tail, sizeof(tail), rest);
	m = strlen(tail);
	if (n + m + 2 > size)
		return -ENAMETOOLONG;
	memcpy(rest, link, n);
	rest[n] = '/';
	memcpy(rest + n + 1, tail, m + 1);
	return 0;
}

/* Opens `done`/`name` as O_PATH without following a link in the last component. */
static int open_component(int root, const char *done)
{
	int fd = openat(root, *done ? done : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Puts a link down that was on the way; done is relative. */
static void note_link(struct recording *noted, const char *done, const char *link)
{
	cleanup_free char *path = noted ? xasprintf("/%s", done) : NULL;

	if (noted)
		recording_put(noted, path, RECORDED_LINK, link, strlen(link));
}

/*
 * What openat2 with RESOLVE_IN_ROOT does, for kernels and sandboxes that refuse that call: every
 * component is looked at, links are put into the path by hand. `done` (PATH_MAX bytes) never contains a link
 * or "..": where the path leads to in the end. Links on the way are put down in `noted` (may be NULL).
 */
static int walk_in_root(int root, const char *path, char *done, struct recording *noted)
{
	char rest[PATH_MAX], link[PATH_MAX];
	int links = 0, fd = -ENOENT, err;

	*done = '\0';

	if (!str_copy(rest, sizeof(rest), path))
		return -ENAMETOOLONG;
	for (;;) {
		char name[NAME_MAX + 1];
		char *p = rest + strspn(rest, "/");
		size_t n = strcspn(p, "/"), base = strlen(done);
		ssize_t len;

		if (!n)
			return open_component(root, done);
		if (n > NAME_MAX || base + n + 2 > PATH_MAX)
			return -ENAMETOOLONG;
		memcpy(name, p, n);
		name[n] = '\0';
		memmove(rest, p + n, strlen(p + n) + 1);
		if (!strcmp(name, "."))
			continue;
		if (!strcmp(name, "..")) {
			path_up(done);
			continue;
		}
		if (base)
			done[base++] = '/';
		memcpy(done + base, name, n + 1);
		fd = open_component(root, done);
		if (fd < 0)
			return fd;
		len = readlinkat(fd, "", link, sizeof(link) - 1);
		close(fd);
		if (len < 0)
			continue;
		if (++links > LINKS_MAX)
			return -ELOOP;
		link[len] = '\0';
		note_link(noted, done, link);
		if (link[0] == '/')
			done[0] = '\0';
		else
			path_up(done);
		err = path_splice(rest, sizeof(rest), link);
		if (err)
			return err;
	}
}

/* O_PATH descriptor of anything below a recorded root. */
static int open_recorded(struct sysroot *sr, const char *path, bool follow)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char done[PATH_MAX];
	int fd;

	if (!sr->no_openat2) {
		fd = (int)syscall(SYS_openat2, sr->fd, path, &how, sizeof(how));
		if (fd >= 0)
			return fd;
		if (errno != ENOSYS && errno != EPERM)
			return -errno;
		sr->no_openat2 = true;
	}
	return follow ? walk_in_root(sr->fd, path, done, NULL) : -ENOSYS;
}

/* Turns an O_PATH descriptor into a readable one; the file cannot have been exchanged in between.
 */
static int reopen(int fd, int flags)
{
	char self[32];
	int real;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	real = open(self, O_RDONLY | O_CLOEXEC | flags);
	return real < 0 ? -errno : real;
}

/* type: S_IFREG or S_IFDIR. A fifo or a device node in a recording is never opened. */
static int open_type(struct sysroot *sr, const char *path, mode_t type)
{
	int flags = type == S_IFDIR ? O_DIRECTORY : O_NOCTTY | O_NONBLOCK;
	cleanup_close int fd = -1;
	struct stat st;
	int real;

	if (!sr->recorded) {
		real = open(path, O_RDONLY | O_CLOEXEC | flags);
		return real < 0 ? -errno : real;
	}
	fd = open_recorded(sr, path, true);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	if ((st.st_mode & S_IFMT) != type)
		return type == S_IFDIR ? -ENOTDIR : -EINVAL;
	return reopen(fd, flags);
}

/* --- what is put down when recording ---------------------------------------------- */

/* Where a path leads to, "" for the root; the links on the way are put down. False when it leads nowhere. */
static bool canonical(struct sysroot *sr, const char *path, char *out, size_t size)
{
	char done[PATH_MAX];
	int fd = walk_in_root(sr->fd, path, done, sr->noted);

	if (fd < 0)
		return false;
	close(fd);
	snprintf(out, size, "%s%s", *done ? "/" : "", done);
	return true;
}

static void note_as(struct sysroot *sr, const char *path, enum recording_kind kind, const char *data, size_t len)
{
	char to[PATH_MAX + 1];

	if (sr->noted && canonical(sr, path, to, sizeof(to)) && *to)
		recording_put(sr->noted, to, kind, data, len);
}

void sysroot_note(struct sysroot *sr, const char *path, const char *text, size_t len)
{
	char to[PATH_MAX + 1];

	if (!sr->noted)
		return;
	if (!canonical(sr, path, to, sizeof(to)))
		str_copy(to, sizeof(to), path); /* no file, but an answer */
	recording_put(sr->noted, to, RECORDED_FILE, text, len);
}

void sysroot_note_error(struct sysroot *sr, const char *path, int err)
{
	const char *name = strerrorname_np(-err);
	const struct recording_entry *e;
	struct strbuf text = { 0 };

	if (!sr->noted || !err || err == -ENOENT || err == -ENOTDIR || !name)
		return;
	if (!recording_find(sr->noted, SYSROOT_ERRORS, false, &e))
		strbuf_add(&text, e->data, e->len);
	strbuf_printf(&text, "%s %s\n", name, path);
	recording_put(sr->noted, SYSROOT_ERRORS, RECORDED_FILE, text.s, text.len);
	strbuf_free(&text);
}

/* An entry of a directory, of which nothing else is known yet. */
static void note_name(struct sysroot *sr, const char *dir, const char *name, unsigned char type)
{
	cleanup_free char *path = NULL;
	char to[PATH_MAX + 1], link[PATH_MAX];

	if (!sr->noted || !canonical(sr, dir, to, sizeof(to)))
		return;
	path = xasprintf("%s/%s", to, name);
	if (type == DT_LNK && !sysroot_readlink(sr, path, link, sizeof(link)))
		return; /* that has put it down */
	recording_put_name(sr->noted, path, type == DT_DIR ? RECORDED_DIR : RECORDED_FILE);
}

/* The error with which the recorded machine answered for a path that the recording does not hold. */
static int recorded_error(const struct sysroot *sr, const char *path, int err)
{
	size_t n = strlen(path);

	if (err != -ENOENT)
		return err;
	for (const char *p = sr->errors; p && *p; p = strchr(p, '\n'), p += p ? 1 : 0) {
		const char *blank = strchr(p, ' ');

		if (!blank || strncmp(blank + 1, path, n) || (blank[1 + n] && blank[1 + n] != '\n'))
			continue;
		for (int i = 1; i < 134; i++) {
			const char *name = strerrorname_np(i);

			if (name && strlen(name) == (size_t)(blank - p) && !strncmp(name, p, strlen(name)))
				return -i;
		}
	}
	return err;
}

static int open_file(struct sysroot *sr, const char *path)
{
	int fd = open_type(sr, path, S_IFREG);

	if (fd >= 0)
		return fd;
	fd = recorded_error(sr, path, fd);
	sysroot_note_error(sr, path, fd);
	return fd;
}

int sysroot_open_file(struct sysroot *sr, const char *path)
{
	return sr->from ? -EOPNOTSUPP : open_type(sr, path, S_IFREG);
}

int sysroot_open_dir(struct sysroot *sr, const char *path)
{
	int fd = sr->from ? -EOPNOTSUPP : open_type(sr, path, S_IFDIR);

	if (fd < 0)
		fd = recorded_error(sr, path, fd);
	else if (sr->noted)
		note_as(sr, path, RECORDED_DIR, NULL, 0);
	sysroot_note_error(sr, path, fd < 0 && fd != -EOPNOTSUPP ? fd : 0);
	return fd;
}

bool sysroot_exists(struct sysroot *sr, const char *path)
{
	const struct recording_entry *e;
	bool there;
	struct stat st;
	int fd;

	if (sr->from)
		return !recording_find(sr->from, path, true, &e);
	if (!sr->recorded && !sr->noted)
		return !access(path, F_OK);
	fd = open_recorded(sr, path, true);
	there = fd >= 0;
	if (there && sr->noted && !fstat(fd, &st)) {
		char to[PATH_MAX + 1];

		if (canonical(sr, path, to, sizeof(to)))
			recording_put_name(sr->noted, to, S_ISDIR(st.st_mode) ? RECORDED_DIR : RECORDED_FILE);
	}
	if (there)
		close(fd);
	return there;
}

/* The text of a link and where it is, its name not followed. */
static int replayed_link(struct sysroot *sr, const char *path, char *buf, size_t size)
{
	const struct recording_entry *e;
	int err = recording_find(sr->from, path, false, &e);

	if (err)
		return err;
	if (e->kind != RECORDED_LINK)
		return -EINVAL;
	str_copy(buf, size, e->data);
	return 0;
}

static void note_read_link(struct sysroot *sr, const char *path, const char *text)
{
	const char *name = strrchr(path, '/');
	char parent[PATH_MAX], to[PATH_MAX + 1];
	cleanup_free char *whole = NULL;

	if (!sr->noted || !name || !str_copy(parent, sizeof(parent), path))
		return;
	parent[name - path] = '\0';
	if (!canonical(sr, *parent ? parent : "/", to, sizeof(to)))
		return;
	whole = xasprintf("%s%s", to, name);
	recording_put(sr->noted, whole, RECORDED_LINK, text, strlen(text));
}

int sysroot_readlink(struct sysroot *sr, const char *path, char *buf, size_t size)
{
	cleanup_close int dir = -1;
	const char *name = strrchr(path, '/');
	char parent[PATH_MAX];
	ssize_t n;

	if (sr->from)
		return replayed_link(sr, path, buf, size);
	if (!sr->recorded) {
		n = readlink(path, buf, size - 1);
	} else {
		if (!name || !str_copy(parent, sizeof(parent), path))
			return -EINVAL;
		parent[name - path] = '\0';
		dir = open_recorded(sr, *parent ? parent : "/", true);
		if (dir < 0)
			return dir;
		n = readlinkat(dir, name + 1, buf, size - 1);
	}
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	note_read_link(sr, path, buf);
	return 0;
}

/* --- reading ---------------------------------------------------------------------- */

/* Until end of file; the first buffer fits most files of /proc and sysfs. */
static int read_all(int fd, char **text, size_t *len)
{
	size_t n = 0, cap = 4096;
	char *s = xreallocarray(NULL, cap, 1);

	for (;;) {
		ssize_t got = read(fd, s + n, cap - n - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int err = -errno;

			free(s);
			return err;
		}
		n += (size_t)got;
		if (!got)
			break;
		if (n > SYSROOT_FILE_MAX) {
			free(s);
			return -EFBIG;
		}
		if (cap - n < 2048)
			s = xreallocarray(s, cap *= 4, 1);
	}
	s[n] = '\0';
	*text = s;
	*len = n;
	return 0;
}

/*
 * Unpacks a gzip file. Only /proc/config.gz needs it, and only where the distribution installs no
 * plain configuration; so libz is taken when it is there rather than linked: it costs nothing in
 * any other run, and initramfs images need not carry it.
 */
static int read_gzip(int fd, char **text, size_t *len)
{
	void *lib = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
	void *(*gz_dopen)(int, const char *) = lib ? dlsym(lib, "gzdopen") : NULL;
	int (*gz_read)(void *, void *, unsigned int) = lib ? dlsym(lib, "gzread") : NULL;
	int (*gz_close)(void *) = lib ? dlsym(lib, "gzclose") : NULL;
	int err = -ELIBACC, got = 0, own = -1;
	void *gz = NULL;
	char *s = NULL;

	if (!gz_dopen || !gz_read || !gz_close)
		goto out;
	err = -EIO;
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0 || lseek(fd, 0, SEEK_SET) < 0)
		goto out;
	gz = gz_dopen(own, "r");
	if (!gz)
		goto out;
	own = -1;
	s = xreallocarray(NULL, SYSROOT_FILE_MAX, 1);
	got = gz_read(gz, s, SYSROOT_FILE_MAX - 1);
	if (got >= 0) {
		s = xreallocarray(s, (size_t)got + 1, 1);
		s[got] = '\0';
		*text = s;
		*len = (size_t)got;
		s = NULL;
		err = 0;
	}
out:
	free(s);
	if (gz)
		gz_close(gz);
	if (own >= 0)
		close(own);
	if (lib)
		dlclose(lib);
	return err;
}

/* A file of the recording in memory. */
static int replayed_file(struct sysroot *sr, const char *path, const struct recording_entry **e)
{
	int err = recorded_error(sr, path, recording_find(sr->from, path, true, e));

	return !err && (*e)->kind != RECORDED_FILE ? -EINVAL : err;
}

static int read_replayed(struct sysroot *sr, const char *path, char **text, size_t *len)
{
	const struct recording_entry *e;
	int err = replayed_file(sr, path, &e);

	if (err)
		return err;
	*text = xcalloc(e->len + 1, 1);
	if (e->len)
		memcpy(*text, e->data, e->len);
	*len = e->len;
	return 0;
}

static int read_file(struct sysroot *sr, const char *path, char **text, size_t *len)
{
	cleanup_close int fd = open_file(sr, path);
	int err = fd < 0 ? fd : read_all(fd, text, len);

	if (!err && *len > 2 && !memcmp(*text, "\x1f\x8b", 2)) {
		free(*text);
		*text = NULL;
		err = read_gzip(fd, text, len);
	}
	if (!err)
		note_as(sr, path, RECORDED_FILE, *text, *len);
	else if (fd >= 0)
		sysroot_note_error(sr, path, err);
	return err;
}

int sysroot_read(struct sysroot *sr, const char *path, char **text, size_t *len)
{
	size_t n = 0;
	int err;

	*text = NULL;
	err = sr->from ? read_replayed(sr, path, text, &n) : read_file(sr, path, text, &n);
	if (len)
		*len = err ? 0 : n;
	return err;
}

static ssize_t read_start(struct sysroot *sr, const char *path, char *buf, size_t size)
{
	cleanup_close int fd = open_file(sr, path);
	ssize_t n;

	if (fd < 0)
		return fd;
	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	if (n < 0)
		sysroot_note_error(sr, path, (int)n);
	else
		note_as(sr, path, RECORDED_FILE, buf, (size_t)n);
	return n;
}

static ssize_t replay_start(struct sysroot *sr, const char *path, char *buf, size_t size)
{
	const struct recording_entry *e;
	int err = replayed_file(sr, path, &e);
	size_t n = err ? 0 : e->len < size ? e->len : size;

	if (n)
		memcpy(buf, e->data, n);
	return err ? err : (ssize_t)n;
}

int sysroot_read_line(struct sysroot *sr, const char *path, char *buf, size_t size)
{
	ssize_t n = sr->from ? replay_start(sr, path, buf, size - 1) : read_start(sr, path, buf, size - 1);

	buf[n < 0 ? 0 : n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return n < 0 ? (int)n : 0;
}

static int list_replayed(struct sysroot *sr, const char *path, const char *part, struct strv *names)
{
	const struct recording_entry *e;
	int err = recorded_error(sr, path, recording_find(sr->from, path, true, &e));
	struct strv all = { 0 };

	if (!err && e->kind != RECORDED_DIR)
		err = -ENOTDIR;
	if (err)
		return err;
	recording_list(sr->from, e, &all);
	for (size_t i = 0; i < all.n; i++)
		if (strstr(all.v[i], part))
			strv_add(names, all.v[i]);
	strv_free(&all);
	return 0;
}

int sysroot_list_some(struct sysroot *sr, const char *path, const char *part, struct strv *names)
{
	struct dirent *e;
	DIR *d;
	int fd;

	if (sr->from)
		return list_replayed(sr, path, part, names);
	fd = sysroot_open_dir(sr, path);
	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || !strstr(e->d_name, part))
			continue;
		strv_add(names, e->d_name);
		note_name(sr, path, e->d_name, e->d_type);
	}
	closedir(d);
	return 0;
}

int sysroot_list(struct sysroot *sr, const char *path, struct strv *names)
{
	return sysroot_list_some(sr, path, "", names);
}
