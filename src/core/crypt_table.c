/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * One dm-crypt table line taken apart in place; its key is overwritten and never copied.
 * Pure: text in, struct out; must not know where the text came from.
 */
#include "core/crypt_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define KEY_BYTES_MAX 4096u /* far above any volume key; guards the multiplication by 8 only */

static const struct {
	const char *name;
	unsigned int flag;
} flag_names[] = {
	{ "allow_discards", CRYPT_FLAG_ALLOW_DISCARDS },
	{ "same_cpu_crypt", CRYPT_FLAG_SAME_CPU_CRYPT },
	{ "submit_from_crypt_cpus", CRYPT_FLAG_SUBMIT_FROM_CRYPT_CPUS },
	{ "no_read_workqueue", CRYPT_FLAG_NO_READ_WORKQUEUE },
	{ "no_write_workqueue", CRYPT_FLAG_NO_WRITE_WORKQUEUE },
	{ "high_priority", CRYPT_FLAG_HIGH_PRIORITY },
	{ "iv_large_sectors", CRYPT_FLAG_IV_LARGE_SECTORS },
};

const char *crypt_flag_name(unsigned int flag)
{
	for (size_t i = 0; i < ARRAY_SIZE(flag_names); i++)
		if (flag_names[i].flag == flag)
			return flag_names[i].name;
	return NULL;
}

const char *crypt_flags_text(unsigned int flags, char *buf, size_t size)
{
	size_t len = 0;

	if (size)
		buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(flag_names) && len < size; i++)
		if (flags & flag_names[i].flag)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " " : "",
			                        flag_names[i].name);
	return buf;
}

/* The caller frees the text next; a plain memset could be dropped then. */
static void overwrite(char *s, size_t len)
{
	volatile char *p = s;

	while (len--)
		*p++ = '0';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Cuts the next word off *p; NULL at the end of the text. */
static char *next_word(char **p)
{
	char *s = *p, *word;

	while (is_space(*s))
		s++;
	if (!*s)
		return NULL;
	word = s;
	while (*s && !is_space(*s))
		s++;
	if (*s)
		*s++ = '\0';
	*p = s;
	return word;
}

static int next_number(char **p, uint64_t max, uint64_t *out)
{
	char *word = next_word(p);

	return word && !parse_u64(word, max, out) ? 0 : -EINVAL;
}

/* ":32:logon:cryptsetup:…": size in bytes, type, description. */
static int parse_keyring(char *key, struct crypt_table *t)
{
	char *type = strchr(key + 1, ':'), *desc;
	uint64_t bytes;

	if (!type)
		return -EINVAL;
	*type++ = '\0';
	desc = strchr(type, ':');
	if (!desc || !desc[1])
		return -EINVAL;
	*desc = '\0';
	if (parse_u64(key + 1, KEY_BYTES_MAX, &bytes) || !*type ||
	    !str_copy(t->key_type, sizeof(t->key_type), type))
		return -EINVAL;
	t->keyring = true;
	t->key_bits = (unsigned int)bytes * 8;
	return 0;
}

static int parse_key(char *key, struct crypt_table *t)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	size_t len = strlen(key), digits;

	if (!strcmp(key, "-"))
		return 0;
	if (*key == ':')
		return parse_keyring(key, t);
	digits = strspn(key, hex);
	overwrite(key, len);
	if (digits != len || len % 2 || len / 2 > KEY_BYTES_MAX)
		return -EINVAL;
	t->key_bits = (unsigned int)len * 4;
	return 0;
}

/* "28:aead" */
static int parse_integrity(char *value, struct crypt_table *t)
{
	char *type = strchr(value, ':');
	uint64_t bytes;

	if (!type)
		return -EINVAL;
	*type++ = '\0';
	if (parse_u64(value, 4096, &bytes) || !str_copy(t->integrity, sizeof(t->integrity), type))
		return -EINVAL;
	t->tag_size = (unsigned int)bytes;
	return 0;
}

static int parse_argument(char *arg, struct crypt_table *t)
{
	uint64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(flag_names); i++) {
		if (!strcmp(arg, flag_names[i].name)) {
			t->flags |= flag_names[i].flag;
			return 0;
		}
	}
	if (str_starts(arg, "sector_size:")) {
		if (parse_u64(strchr(arg, ':') + 1, 4096, &n) || n < 512 || (n & (n - 1)))
			return -EINVAL;
		t->sector_size = (unsigned int)n;
		return 0;
	}
	if (str_starts(arg, "integrity:"))
		return parse_integrity(strchr(arg, ':') + 1, t);
	if (!str_starts(arg, "integrity_key_size:"))
		t->unknown_args = true;
	return 0;
}

/* "2 allow_discards sector_size:4096", or nothing at all. */
static int parse_arguments(char *p, struct crypt_table *t)
{
	char *word = next_word(&p);
	uint64_t n;
	int err;

	if (!word)
		return 0;
	if (parse_u64(word, 64, &n))
		return -EINVAL;
	while (n--) {
		word = next_word(&p);
		err = word ? parse_argument(word, t) : -EINVAL;
		if (err)
			return err;
	}
	return next_word(&p) ? -EINVAL : 0;
}

static int parse(char *p, struct crypt_table *t)
{
	char *cipher = next_word(&p), *key = next_word(&p), *device;

	if (!cipher || !key || parse_key(key, t) || !str_copy(t->cipher, sizeof(t->cipher), cipher))
		return -EINVAL;
	if (next_number(&p, UINT64_MAX, &t->iv_offset))
		return -EINVAL;
	device = next_word(&p);
	if (!device || !str_copy(t->device, sizeof(t->device), device))
		return -EINVAL;
	if (next_number(&p, UINT64_MAX, &t->offset))
		return -EINVAL;
	return parse_arguments(p, t);
}

int crypt_table_parse(char *params, struct crypt_table *out)
{
	size_t len = strlen(params);

	memset(out, 0, sizeof(*out));
	out->sector_size = 512;
	if (!parse(params, out))
		return 0;
	/* Where the key is in text that is not understood cannot be known: none of it stays. */
	overwrite(params, len);
	memset(out, 0, sizeof(*out));
	return -EINVAL;
}
