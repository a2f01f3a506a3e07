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
	return 0;
}

void sysroot_close(struct sysroot *sr)
{
	free(sr->dir);
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

/*
 * What openat2 with RESOLVE_IN_ROOT does, for kernels and sandboxes that refuse that call: every
 * component is looked at, links are put into the path by hand. `done` never contains a link or
 * "..".
 */
static int walk_in_root(int root, const char *path)
{
	char done[PATH_MAX] = "", rest[PATH_MAX], link[PATH_MAX];
	int links = 0, fd = -ENOENT, err;

	if (!str_copy(rest, sizeof(rest), path))
		return -ENAMETOOLONG;
	for (;;) {
		char name[NAME_MAX + 1];
		char *p = rest + strspn(rest, "/");
		size_t n = strcspn(p, "/"), base = strlen(done);
		ssize_t len;

		if (!n)
			return open_component(root, done);
		if (n > NAME_MAX || base + n + 2 > sizeof(done))
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
	int fd;

	if (!sr->no_openat2) {
		fd = (int)syscall(SYS_openat2, sr->fd, path, &how, sizeof(how));
		if (fd >= 0)
			return fd;
		if (errno != ENOSYS && errno != EPERM)
			return -errno;
		sr->no_openat2 = true;
	}
	return follow ? walk_in_root(sr->fd, path) : -ENOSYS;
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

static void note(struct sysroot *sr, const char *path)
{
	if (sr->noted)
		strv_add_unique(sr->noted, path);
}

int sysroot_open_file(struct sysroot *sr, const char *path)
{
	int fd = open_type(sr, path, S_IFREG);

	if (fd >= 0)
		note(sr, path);
	return fd;
}

int sysroot_open_dir(struct sysroot *sr, const char *path)
{
	return open_type(sr, path, S_IFDIR);
}

bool sysroot_exists(struct sysroot *sr, const char *path)
{
	int fd;

	if (!sr->recorded)
		return !access(path, F_OK);
	fd = open_recorded(sr, path, true);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int sysroot_readlink(struct sysroot *sr, const char *path, char *buf, size_t size)
{
	cleanup_close int dir = -1;
	const char *name = strrchr(path, '/');
	char parent[PATH_MAX];
	ssize_t n;

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
	note(sr, path);
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

int sysroot_read(struct sysroot *sr, const char *path, char **text, size_t *len)
{
	cleanup_close int fd = sysroot_open_file(sr, path);
	size_t n = 0;
	int err;

	*text = NULL;
	if (len)
		*len = 0;
	if (fd < 0)
		return fd;
	err = read_all(fd, text, &n);
	if (!err && n > 2 && !memcmp(*text, "\x1f\x8b", 2)) {
		free(*text);
		*text = NULL;
		err = read_gzip(fd, text, &n);
	}
	if (len)
		*len = n;
	return err;
}

int sysroot_read_line(struct sysroot *sr, const char *path, char *buf, size_t size)
{
	cleanup_close int fd = sysroot_open_file(sr, path);
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return fd;
	do
		n = read(fd, buf, size - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

int sysroot_list(struct sysroot *sr, const char *path, struct strv *names)
{
	int fd = sysroot_open_dir(sr, path);
	struct dirent *e;
	DIR *d;

	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			strv_add(names, e->d_name);
	closedir(d);
	return 0;
}
