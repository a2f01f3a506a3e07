/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * LD_PRELOAD for crash.t: counts the write calls that go to one file, and ends the process with
 * SIGKILL at the N-th. Knows only files and numbers; must not need anything of hwluks.
 *
 * STOP_TARGET the file · STOP_AT number of the call, from 1; 0 = never · STOP_TORN=1: the first
 * half of that call reaches the file before the end · STOP_COUNT file that gets the number of calls
 * when the process ends by itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static unsigned long calls;

static bool is_target(int fd)
{
	const char *path = getenv("STOP_TARGET");
	struct stat want, have;

	return path && !stat(path, &want) && !fstat(fd, &have) && want.st_dev == have.st_dev &&
	       want.st_ino == have.st_ino;
}

static unsigned long number(const char *name)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 10) : 0;
}

typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off64_t);
typedef ssize_t (*write_fn)(int, const void *, size_t);

static void end_here(void)
{
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/* True when this call is the one to stop at. */
static bool stop_now(int fd)
{
	return is_target(fd) && ++calls == number("STOP_AT");
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t offset)
{
	pwrite_fn real = (pwrite_fn)dlsym(RTLD_NEXT, "pwrite64");

	if (stop_now(fd)) {
		if (number("STOP_TORN"))
			real(fd, buf, len / 2, offset);
		end_here();
	}
	return real(fd, buf, len, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t offset)
{
	return pwrite64(fd, buf, len, offset);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	write_fn real = (write_fn)dlsym(RTLD_NEXT, "write");

	if (stop_now(fd)) {
		if (number("STOP_TORN"))
			real(fd, buf, len / 2);
		end_here();
	}
	return real(fd, buf, len);
}

/* Nobody is expected to change the file by these: they count, so that a change of that shows. */
ssize_t pwritev(int fd, const struct iovec *iov, int n, off_t offset)
{
	ssize_t (*real)(int, const struct iovec *, int, off_t) = dlsym(RTLD_NEXT, "pwritev");

	if (stop_now(fd))
		end_here();
	return real(fd, iov, n, offset);
}

int ftruncate64(int fd, off64_t len)
{
	int (*real)(int, off64_t) = dlsym(RTLD_NEXT, "ftruncate64");

	if (stop_now(fd))
		end_here();
	return real(fd, len);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t len)
{
	int (*real)(int, int, off64_t, off64_t) = dlsym(RTLD_NEXT, "fallocate64");

	if (stop_now(fd))
		end_here();
	return real(fd, mode, offset, len);
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("STOP_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fprintf(f, "%lu\n", calls);
		fclose(f);
	}
}
