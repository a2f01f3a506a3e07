/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * LD_PRELOAD for fill.t: one file that behaves like a failing disk. Knows only files and numbers; must not need
 * anything of hwluks.
 *
 * FAULT_TARGET the file · FAULT_BAD "START LEN START LEN ...": writes that touch such a range of bytes fail with EIO ·
 * FAULT_ERRNO another number for them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off64_t);

static bool is_target(int fd)
{
	const char *path = getenv("FAULT_TARGET");
	struct stat want, have;

	return path && !stat(path, &want) && !fstat(fd, &have) && want.st_dev == have.st_dev && want.st_ino == have.st_ino;
}

static bool is_bad(off64_t offset, size_t len)
{
	const char *s = getenv("FAULT_BAD");
	char *end;

	while (s && *s) {
		off64_t start = strtoll(s, &end, 10), n = strtoll(end, &end, 10);

		if (offset < start + n && start < offset + (off64_t)len)
			return true;
		s = *end == ' ' ? end + 1 : end;
	}
	return false;
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t offset)
{
	pwrite_fn real = (pwrite_fn)dlsym(RTLD_NEXT, "pwrite64");
	const char *number = getenv("FAULT_ERRNO");

	if (is_target(fd) && is_bad(offset, len)) {
		errno = number ? atoi(number) : EIO;
		return -1;
	}
	return real(fd, buf, len, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t offset)
{
	return pwrite64(fd, buf, len, offset);
}
