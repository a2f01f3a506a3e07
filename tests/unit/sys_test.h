/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A scratch directory that a test fills and that goes away, for tests of the sys layer.
 * Must not know what is tested; never touches a device.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/sys.h"

static char scratch[64];

static inline int scratch_make(void **state)
{
	(void)state;
	strcpy(scratch, "/tmp/hwluks-test-XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

static inline int scratch_remove(void **state)
{
	char *cmd = xasprintf("rm -rf %s", scratch);
	int err = system(cmd);

	(void)state;
	free(cmd);
	return err;
}

/* Path below the scratch directory; one static buffer of four. */
static inline const char *in_scratch(const char *path)
{
	static char buf[4][4096];
	static unsigned int n;
	char *b = buf[n++ % 4];

	snprintf(b, sizeof(buf[0]), "%s%s", scratch, path);
	return b;
}

static inline void make_dir(const char *path)
{
	char *p = xstrdup(in_scratch(path));

	for (char *s = p + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = '\0';
		mkdir(p, 0755);
		*s = '/';
	}
	mkdir(p, 0755);
	free(p);
}

static inline void put_bytes(const char *path, const void *bytes, size_t len)
{
	char *dir = xstrdup(path);
	int fd;

	*strrchr(dir, '/') = '\0';
	make_dir(dir);
	free(dir);
	fd = open(in_scratch(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static inline void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static inline void put_link(const char *path, const char *target)
{
	char *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	make_dir(dir);
	free(dir);
	assert_int_equal(symlink(target, in_scratch(path)), 0);
}
