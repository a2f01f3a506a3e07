/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Look-ups in the accelerator table and its words for people.
 * Must not know which accelerators exist (accel_table.c) nor decide anything (policy.c).
 */
#include <string.h>

#include "core/accel.h"
#include "util/util.h"

/* By enum kernel_read. */
static const kver kernels_read[] = {
	0, KVER(5, 10), KVER(6, 1), KVER(6, 12), KVER(7, 2), KVER(7, 3),
};

kver accel_kernel(enum kernel_read r)
{
	return kernels_read[r];
}

/* First kernel after `k` in which the table's facts were looked at again; 0 = none yet. */
static kver next_read(kver k)
{
	for (size_t i = 0; i + 1 < ARRAY_SIZE(kernels_read); i++)
		if (kernels_read[i] == k)
			return kernels_read[i + 1];
	return 0;
}

bool accel_range_in(kver since, kver until, kver kernel)
{
	if (!kernel)
		return true;
	if (since && kernel < since)
		return false;
	return !until || kernel <= until || kernel < next_read(until);
}

bool accel_alg_in(const struct accel_alg *alg, kver kernel)
{
	return accel_range_in(kernels_read[alg->since], kernels_read[alg->until], kernel);
}

const char *accel_alg_name(const struct accel_alg *alg)
{
	static const char names[][23] = {
		[NAME_AES] = "aes", [NAME_ECB] = "ecb(aes)", [NAME_CBC] = "cbc(aes)", [NAME_CTR] = "ctr(aes)",
		[NAME_XTS] = "xts(aes)", [NAME_CTS] = "cts(cbc(aes))", [NAME_ESSIV] = "essiv(cbc(aes),sha256)",
		[NAME_GCM] = "gcm(aes)", [NAME_ECB_PAES] = "ecb(paes)", [NAME_CBC_PAES] = "cbc(paes)",
		[NAME_CTR_PAES] = "ctr(paes)", [NAME_XTS_PAES] = "xts(paes)", [NAME_SHA1] = "sha1", [NAME_SHA256] = "sha256",
	};

	return names[alg->name];
}

bool accel_match_next(const char **at, struct accel_match *match)
{
	static const char words[][9] = {
		[MATCH_CPU] = "cpu", [MATCH_ISA] = "isa", [MATCH_CPUCAP] = "cap", [MATCH_HWCAP2_PPC] = "hwcap2",
		[MATCH_PCI] = "pci", [MATCH_VIRTIO] = "virtio", [MATCH_DT] = "dt", [MATCH_ACPI] = "acpi",
		[MATCH_PLATFORM] = "platform", [MATCH_FSLMC] = "fsl-mc", [MATCH_VIO] = "vio", [MATCH_OPAL] = "opal",
		[MATCH_INLINE] = "inline", [MATCH_ALWAYS] = "always",
	};
	const char *text = *at;
	size_t n;

	if (!text || !*text)
		return false;
	*at = text + strlen(text) + 1;
	n = strcspn(text, ":");
	match->how = MATCH_NONE;
	match->what = text + n + 1;
	for (size_t i = 1; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == n && !memcmp(words[i], text, n))
			match->how = (enum match_how)i;
	return true;
}

enum accel_dmcrypt accel_dmcrypt_in(const struct accel *a, kver kernel)
{
	if (!kernel)
		kernel = kernels_read[ARRAY_SIZE(kernels_read) - 1];
	if (accel_range_in(kernels_read[a->dmcrypt_since], kernels_read[a->dmcrypt_until], kernel))
		return a->dmcrypt;
	return a->dmcrypt_else;
}

const struct accel *accel_by_id(const char *id)
{
	for_each_accel(a)
		if (!strcmp(a->id, id))
			return a;
	return NULL;
}

const struct accel_alg *accel_alg_by_driver(const struct accel *a, const char *driver, kver kernel)
{
	const struct accel_alg *other = NULL;

	for_each_alg(g, a) {
		/* asked of most rows for each of the kernel's drivers: most names differ in their first letter */
		if (*g->driver != *driver || strcmp(g->driver, driver))
			continue;
		if (accel_alg_in(g, kernel))
			return g;
		other = g;
	}
	return other;
}

const struct accel *accel_by_driver(const char *driver, kver kernel, const struct accel_alg **alg)
{
	const struct accel *other = NULL;
	const struct accel_alg *other_alg = NULL;

	for_each_accel(a) {
		const struct accel_alg *g = accel_alg_by_driver(a, driver, kernel);

		if (!g || (other && !accel_alg_in(g, kernel)))
			continue;
		other = a;
		other_alg = g;
		if (accel_alg_in(g, kernel))
			break;
	}
	if (alg)
		*alg = other_alg;
	return other;
}

const struct accel *accel_by_module(const char *module)
{
	for_each_accel(a)
		for_each_word(m, a->modules)
			if (str_same_module(m, module))
				return a;
	return NULL;
}

const char *accel_kind_name(enum accel_kind k)
{
	static const char names[][16] = {
		[ACCEL_CPU] = "cpu-instruction", [ACCEL_CPU_SIMD] = "cpu-simd", [ACCEL_ONCHIP] = "on-chip", [ACCEL_PCI] = "pci",
		[ACCEL_PARAVIRT] = "paravirtual", [ACCEL_STORAGE] = "storage", [ACCEL_SOFTWARE] = "software",
	};

	return k < ARRAY_SIZE(names) ? names[k] : "unknown";
}

static bool ends_word(char c)
{
	return c == '\0' || c == ',' || c == ')' || c == '(';
}

bool accel_in_instance(const struct accel *a, const char *driver)
{
	for_each_alg(g, a) {
		size_t len = strlen(g->driver);

		for (const char *s = strstr(driver, g->driver); len && s; s = strstr(s + 1, g->driver))
			if (s > driver && (s[-1] == '(' || s[-1] == ',') && ends_word(s[len]))
				return true;
	}
	return false;
}

bool accel_is_engine(const struct accel *a)
{
	return a->kind == ACCEL_ONCHIP || a->kind == ACCEL_PCI || a->kind == ACCEL_PARAVIRT;
}

unsigned int accel_hw_keys(const struct accel *a, kver kernel)
{
	unsigned int keys = 0;

	for_each_alg(g, a)
		if (accel_alg_in(g, kernel))
			keys |= g->hw_keys;
	return keys;
}

struct bit_name {
	unsigned int bit;
	const char *name;
};

/* Appends the names of the bits set, with `sep` in front of all but a first word of the text. */
static void add_bits(char *buf, size_t size, const struct bit_name *names, size_t n,
                     unsigned int mask, const char *sep)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(buf);

		if (!(mask & names[i].bit))
			continue;
		str_copy(buf + len, size - len, len ? sep : "");
		len = strlen(buf);
		str_copy(buf + len, size - len, names[i].name);
		sep = ", ";
	}
}

const char *accel_keys_text(unsigned int keys, char *buf, size_t size)
{
	static const struct bit_name plain[] = {
		{ KEYS_128, "128" },
		{ KEYS_192, "192" },
		{ KEYS_256, "256" },
	};
	static const struct bit_name xts[] = {
		{ KEYS_XTS_256, "256" },
		{ KEYS_XTS_384, "384" },
		{ KEYS_XTS_512, "512" },
	};
	static const struct bit_name unknown[] = { { KEYS_UNKNOWN, "unknown" } };

	if (!size)
		return buf;
	buf[0] = '\0';
	add_bits(buf, size, plain, ARRAY_SIZE(plain), keys, ", ");
	if (keys & KEYS_XTS) {
		str_copy(buf + strlen(buf), size - strlen(buf), buf[0] ? "; xts" : "xts");
		add_bits(buf, size, xts, ARRAY_SIZE(xts), keys, " ");
	}
	add_bits(buf, size, unknown, ARRAY_SIZE(unknown), keys, "; ");
	if (!buf[0])
		str_copy(buf, size, "none");
	return buf;
}

const char *accel_modes_text(unsigned int modes, char *buf, size_t size)
{
	static const struct bit_name names[] = {
		{ MODE_SINGLE, "single block" },
		{ MODE_ECB, "ecb" },
		{ MODE_CBC, "cbc" },
		{ MODE_CTR, "ctr" },
		{ MODE_XTS, "xts" },
		{ MODE_CTS, "cts" },
		{ MODE_ESSIV, "essiv" },
		{ MODE_GCM, "gcm" },
		{ MODE_HASH, "hash" },
	};

	if (!size)
		return buf;
	buf[0] = '\0';
	add_bits(buf, size, names, ARRAY_SIZE(names), modes, ", ");
	if (!buf[0])
		str_copy(buf, size, "none");
	return buf;
}
