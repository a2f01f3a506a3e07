/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What a fill is compared with: zeros written with O_DIRECT by N threads, or libcryptsetup's own wipe.
 * Must not do anything else. fill_yardstick zero FILE BYTES THREADS CHUNK | wipe FILE BYTES. Exit status 0 when all was written.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libcryptsetup.h>

static int fd;
static uint64_t bytes, chunk;
static _Atomic uint64_t next;
static _Atomic int bad;

static void *zeros(void *arg)
{
	void *buf;

	if (posix_memalign(&buf, 4096, chunk))
		exit(2);
	memset(buf, 0, chunk);
	for (uint64_t at; (at = atomic_fetch_add(&next, chunk)) < bytes;)
		if (pwrite(fd, buf, chunk, (off_t)at) != (ssize_t)chunk)
			bad = 1;
	free(buf);
	return arg;
}

int main(int argc, char **argv)
{
	struct crypt_device *cd;
	pthread_t t[16];
	int n;

	if (argc < 4)
		return 2;
	bytes = strtoull(argv[3], NULL, 10);
	if (!strcmp(argv[1], "wipe"))
		return crypt_init(&cd, argv[2]) || crypt_wipe(cd, argv[2], CRYPT_WIPE_RANDOM, 0, bytes, 1 << 20, 0, NULL, NULL);
	if (argc < 6)
		return 2;
	n = atoi(argv[4]);
	chunk = strtoull(argv[5], NULL, 10);
	fd = open(argv[2], O_WRONLY | O_DIRECT);
	if (fd < 0 || n < 1 || n > 16 || !chunk)
		return 2;
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, zeros, NULL))
			return 2;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return fdatasync(fd) || bad;
}
