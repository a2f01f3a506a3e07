/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Reads boot images, and puts files where the builders of images look. Archives are unpacked by the programs that packed
 * them. Must not know what an image should hold.
 */
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/openat2.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/cpio.h"

#define CHUNK	 (64u << 10)
#define NOWHERE	 UINT64_MAX
#define IMAGE_MAX (4ull << 30) /* unpacked bytes; more is no boot image */

/* What an archive may be packed with, by its first bytes. */
static const struct packer {
	const char *magic;
	size_t len;
	const char *program;
} packers[] = {
	{ "\x1f\x8b", 2, "gzip" },	    { "\x28\xb5\x2f\xfd", 4, "zstd" }, { "\xfd" "7zXZ", 5, "xz" },
	{ "\x02\x21\x4c\x18", 4, "lz4" }, { "\x5d\0\0", 3, "xz" },	       { "BZh", 3, "bzip2" },
	{ "\x89LZO", 4, "lzop" },
};

static const struct packer *packer_of(const char *head, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++)
		if (n >= packers[i].len && !memcmp(head, packers[i].magic, packers[i].len))
			return &packers[i];
	return NULL;
}

/*
 * Archives one after the other, zeros between them, from a descriptor to its end. *stopped: the offset of what is neither,
 * else NOWHERE. 0, a negative errno of reading, -EBADMSG for a broken archive.
 */
static int read_archives(int fd, struct cpio *c, uint64_t *stopped)
{
	char buf[CHUNK];
	uint64_t offset = 0;
	bool between = true;
	ssize_t n;

	*stopped = NOWHERE;
	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n;) {
			if (between && !buf[i]) {
				i++;
				continue;
			}
			if (between && buf[i] != '0') {
				*stopped = offset + (uint64_t)i;
				return 0;
			}
			if (between)
				cpio_next(c);
			i += (ssize_t)cpio_feed(c, buf + i, (size_t)(n - i));
			if (c->state == CPIO_BROKEN)
				return -EBADMSG;
			between = c->state == CPIO_END;
		}
		offset += (uint64_t)n;
		if (offset > IMAGE_MAX)
			return -EFBIG;
	}
	return n < 0 ? -errno : between ? 0 : -EBADMSG;
}

/* `program -dc` on fd; *out is what it writes. */
static int spawn_unpacker(const char *program, int fd, int *out, pid_t *pid)
{
	char *argv[] = { (char *)program, (char *)"-dc", NULL };
	posix_spawn_file_actions_t act;
	int pipefd[2], err;

	if (pipe2(pipefd, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&act);
	posix_spawn_file_actions_adddup2(&act, fd, 0);
	posix_spawn_file_actions_adddup2(&act, pipefd[1], 1);
	posix_spawn_file_actions_addopen(&act, 2, "/dev/null", O_WRONLY, 0);
	err = posix_spawnp(pid, program, &act, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&act);
	close(pipefd[1]);
	if (err)
		close(pipefd[0]);
	else
		*out = pipefd[0];
	return -err;
}

static int read_packed(int fd, const struct packer *p, struct cpio *c, struct strbuf *why)
{
	uint64_t stopped;
	pid_t pid = 0;
	int out = -1, r = spawn_unpacker(p->program, fd, &out, &pid);

	if (r) {
		strbuf_printf(why, "It takes the program '%s' to look into it: %s.", p->program, strerror(-r));
		return r;
	}
	r = read_archives(out, c, &stopped);
	close(out); /* ends the program where something is left to write */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (!r && !c->n)
		r = -EBADMSG;
	return r;
}

static int read_image(int fd, struct cpio *c, struct strbuf *why)
{
	const struct packer *p;
	uint64_t stopped;
	char head[8];
	ssize_t n;
	int r = read_archives(fd, c, &stopped);

	if (r || stopped == NOWHERE)
		return r;
	n = pread(fd, head, sizeof(head), (off_t)stopped);
	p = n > 0 ? packer_of(head, (size_t)n) : NULL;
	if (!p) {
		strbuf_printf(why, "At byte %llu it is neither a cpio archive nor packed by a known program.", (unsigned long long)stopped);
		return -EINVAL;
	}
	if (lseek(fd, (off_t)stopped, SEEK_SET) < 0)
		return -errno;
	return read_packed(fd, p, c, why);
}

int image_read(struct sysroot *sr, const char *path, struct cpio *out, struct strbuf *why)
{
	cleanup_close int fd = sysroot_open_file(sr, path);
	struct strbuf text = { 0 };
	int r = fd < 0 ? fd : read_image(fd, out, &text);

	if (r)
		strbuf_printf(why, "The boot image %s could not be read. %s", path,
			      text.len	     ? text.s :
			      r == -EBADMSG ? "It is cut short or damaged." :
					      strerror(-r));
	strbuf_free(&text);
	return r;
}

/* --- what this program is linked with ----------------------------------------------------------------- */

static int add_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	/* the loader is another one on another architecture, and in every image */
	if (slash && !str_starts(slash, "/ld-"))
		strv_add_unique(arg, slash + 1);
	return 0;
}

void own_libraries(struct strv *names)
{
	dl_iterate_phdr(add_library, names);
}

/* --- files for others to find ------------------------------------------------------------------------------ */

/* A directory below the root; links do not lead out of it. `make`: with all above it, as far as they are missing. */
static int open_dir(struct sysroot *sr, const char *path, bool make)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	cleanup_free char *up = NULL;
	cleanup_close int parent = -1;
	const char *slash = strrchr(path, '/');
	int fd = (int)syscall(SYS_openat2, sr->fd, *path ? path : "/", &how, sizeof(how));

	if (fd >= 0)
		return fd;
	if (errno != ENOENT || !make || !slash)
		return -errno;
	up = xstrndup(path, (size_t)(slash - path));
	parent = open_dir(sr, up, true);
	if (parent < 0)
		return parent;
	if (mkdirat(parent, slash + 1, 0755) && errno != EEXIST)
		return -errno;
	return open_dir(sr, path, false);
}

/* The directory of a path, and its last part. */
static int open_parent(struct sysroot *sr, const char *path, bool make, const char **name)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = xstrndup(path, (size_t)(slash - path));

	*name = slash + 1;
	return open_dir(sr, dir, make);
}

static int write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno != EINTR)
			return -errno;
		p += k < 0 ? 0 : k;
		n -= k < 0 ? 0 : (size_t)k;
	}
	return fsync(fd) ? -errno : 0;
}

int place_file(struct sysroot *sr, const char *path, unsigned int mode, const char *text, size_t len)
{
	cleanup_free char *tmp = NULL;
	cleanup_close int dir = -1;
	const char *name;
	int fd, r;

	dir = open_parent(sr, path, true, &name);
	if (dir < 0)
		return dir;
	tmp = xasprintf(".%s.new", name);
	unlinkat(dir, tmp, 0);
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, len);
	if (!r && fchmod(fd, mode))
		r = -errno;
	close(fd);
	if (!r && renameat(dir, tmp, dir, name))
		r = -errno;
	if (r)
		unlinkat(dir, tmp, 0);
	return r;
}

int place_remove(struct sysroot *sr, const char *path)
{
	const char *name;
	cleanup_close int dir = open_parent(sr, path, false, &name);

	if (dir < 0)
		return dir;
	return unlinkat(dir, name, 0) ? -errno : 0;
}

int place_remove_dir(struct sysroot *sr, const char *path)
{
	const char *name;
	cleanup_close int dir = open_parent(sr, path, false, &name);

	if (dir < 0)
		return dir;
	return unlinkat(dir, name, AT_REMOVEDIR) ? -errno : 0;
}
