/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* libFuzzer entry for hwluks.conf and for cpio archives, these in pieces whose size the first byte gives. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/boot_conf.h"
#include "core/cpio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool keep(const char *name)
{
	return strlen(name) % 2;
}

static void fuzz_cpio(const char *p, size_t n, size_t step)
{
	struct cpio c = { .keep = keep };
	size_t took;

	while (n) {
		took = cpio_feed(&c, p, n < step ? n : step);
		p += took;
		n -= took;
		if (c.state == CPIO_BROKEN)
			break;
		if (c.state == CPIO_END)
			cpio_next(&c);
	}
	for (size_t i = 0; i < c.n; i++)
		if (!cpio_find(&c, c.v[i].name))
			abort();
	cpio_free(&c);
}

static void fuzz_conf(const char *p, size_t n)
{
	char *text = xstrndup(p, n);
	struct boot_conf c;

	boot_conf_parse(text, &c);
	if (c.wait > BOOT_WAIT_MAX || (c.drivers != BOOT_DRIVERS_NAMED && c.names.n))
		abort();
	boot_conf_free(&c);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	fuzz_cpio((const char *)data + 1, size - 1, (size_t)*data + 1);
	fuzz_conf((const char *)data, size);
	return 0;
}
