/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Small notes in /run/hwluks: written whole or not at all, readable by root only, gone with the
 * boot. Must not know what a note says.
 */
#include "vol/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/util.h"

static const char *rundir_path = "/run/hwluks";

void rundir_use(const char *path)
{
	rundir_path = path ? path : "/run/hwluks";
}

/* What others could have written is not read. */
static int check_owner(int fd, mode_t type)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return st.st_uid == geteuid() && (st.st_mode & S_IFMT) == type && !(st.st_mode & 022)
	               ? 0
	               : -EPERM;
}

static int open_dir(bool create)
{
	int fd, err;

	if (create && mkdir(rundir_path, 0700) && errno != EEXIST)
		return -errno;
	fd = open(rundir_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = check_owner(fd, S_IFDIR);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int plain_name(const char *name, char *buf, size_t size)
{
	if (!*name || *name == '.' || !str_copy(buf, size, name))
		return -ENAMETOOLONG;
	for (char *s = buf; *s; s++)
		if (*s == '/')
			*s = '_';
	return 0;
}

int rundir_write(const char *name, const char *text)
{
	char file[240], temp[256];
	int err = plain_name(name, file, sizeof(file));
	cleanup_close int dir = -1, fd = -1;
	size_t len = strlen(text);

	if (err)
		return err;
	dir = open_dir(true);
	if (dir < 0)
		return dir;
	snprintf(temp, sizeof(temp), ".%s.%d", file, (int)getpid());
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len)
		err = -EIO;
	else if (renameat(dir, temp, dir, file))
		err = -errno;
	if (err)
		unlinkat(dir, temp, 0);
	return err;
}

int rundir_read(const char *name, char *buf, size_t size)
{
	char file[240];
	int err = plain_name(name, file, sizeof(file));
	cleanup_close int dir = -1, fd = -1;
	ssize_t n;

	if (err)
		return err;
	dir = open_dir(false);
	if (dir < 0)
		return dir;
	fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = check_owner(fd, S_IFREG);
	if (err)
		return err;
	n = read(fd, buf, size);
	if (n < 0)
		return -errno;
	if ((size_t)n == size)
		return -EFBIG;
	buf[n] = '\0';
	return 0;
}

void rundir_remove(const char *name)
{
	char file[240];
	cleanup_close int dir = -1;

	if (plain_name(name, file, sizeof(file)))
		return;
	dir = open_dir(false);
	if (dir >= 0)
		unlinkat(dir, file, 0);
}

const char *rundir_boot_id(char *buf, size_t size)
{
	cleanup_fclose FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(buf, (int)size, f))
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}
