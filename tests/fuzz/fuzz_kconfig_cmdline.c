/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* libFuzzer entry for kernel configuration, kernel command line and /proc/cpuinfo: one text for
 * all. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/cmdline.h"
#include "core/cpuinfo.h"
#include "core/kconfig.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* `first` is the text's first word: an option or a parameter the text may really have. */
static void fuzz_kconfig(const char *text, size_t size, const char *first)
{
	static const char *const options[] = { "CRYPTO_DEV_GEODE", "CONFIG_CRYPTO_AES", "A" };

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!*kconfig_value_name(kconfig_get(text, size, options[i])))
			abort();
	kconfig_get(text, size, first);
}

static void fuzz_parameter(const char *text, const char *name)
{
	char buf[16];
	int r;

	memset(buf, 'x', sizeof(buf));
	r = cmdline_get(text, name, buf, sizeof(buf));
	if (!memchr(buf, '\0', sizeof(buf)))
		abort();
	if (r == -ENOENT ? *buf != '\0' : r == -ERANGE ? strlen(buf) != sizeof(buf) - 1 : r != 0)
		abort();
}

static void fuzz_denials(const char *text)
{
	struct cmdline_deny_list l;

	cmdline_denied(text, &l);
	for (size_t i = 0; i < l.n; i++) {
		const struct cmdline_deny *hardest = cmdline_deny_find(&l, l.v[i].module);

		if (!*l.v[i].module || strpbrk(l.v[i].module, "-,"))
			abort();
		if (!hardest || hardest->option < l.v[i].option)
			abort();
	}
	cmdline_deny_list_free(&l);
	cmdline_selftests_off(text);
}

static void fuzz_cpuinfo(const char *text, size_t size)
{
	struct cpuinfo c;

	cpuinfo_parse(text, size, &c);
	if ((c.flags || c.hypervisor || c.model) && !c.processors)
		abort();
	cpuinfo_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *raw = size ? (const char *)data : "";
	char *text = xstrndup(raw, size), *first = xstrndup(text, strcspn(text, " =\n"));

	fuzz_kconfig(raw, size, first);
	fuzz_parameter(text, first);
	fuzz_parameter(text, "a");
	fuzz_denials(text);
	fuzz_cpuinfo(raw, size);
	free(first);
	free(text);
	return 0;
}
