/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Small text helpers: bounded copies, word lists, numbers, sizes, wrapping.
 * Pure but for print_wrapped; must not know where a text came from.
 */
#include "util/util.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

bool str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src);
	bool fits = n < size;

	if (!fits)
		n = size - 1;
	memcpy(dst, src, n);
	dst[n] = '\0';
	return fits;
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_same_module(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		bool dash = (*a == '-' || *a == '_') && (*b == '-' || *b == '_');

		if (*a != *b && !dash)
			return false;
	}
	return *a == *b;
}

bool word_in(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; p && n && (p = strstr(p, word)); p += n) {
		bool starts = p == list || isspace((unsigned char)p[-1]);

		if (starts && (!p[n] || isspace((unsigned char)p[n])))
			return true;
	}
	return false;
}

/* Reads leading digits into *v; returns the end, or NULL when there are none or they overflow. */
static const char *digits(const char *s, uint64_t *v, int *err)
{
	uint64_t n = 0;

	*err = -EINVAL;
	if (!isdigit((unsigned char)*s))
		return NULL;
	for (; isdigit((unsigned char)*s); s++) {
		unsigned int d = (unsigned int)(*s - '0');

		if (n > (UINT64_MAX - d) / 10) {
			*err = -ERANGE;
			return NULL;
		}
		n = n * 10 + d;
	}
	*err = 0;
	*v = n;
	return s;
}

int parse_u64(const char *s, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;
	int err;

	s = digits(s, &v, &err);
	if (!s)
		return err;
	if (*s)
		return -EINVAL;
	if (v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int parse_size(const char *s, uint64_t *bytes)
{
	static const char letters[] = "KMGT";
	uint64_t v = 0, unit = 1;
	const char *l;
	int err;

	s = digits(s, &v, &err);
	if (!s)
		return err;
	if (!strcasecmp(s, "s")) {
		unit = 512;
	} else if (*s) {
		uint64_t base;

		l = strchr(letters, toupper((unsigned char)*s));
		if (!l)
			return -EINVAL;
		if (!s[1] || !strcasecmp(s + 1, "ib"))
			base = 1024;
		else if (!strcasecmp(s + 1, "b"))
			base = 1000;
		else
			return -EINVAL;
		for (int i = 0; i <= l - letters; i++)
			unit *= base;
	}
	if (v > UINT64_MAX / unit)
		return -ERANGE;
	*bytes = v * unit;
	return 0;
}

const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

const char *size_text(uint64_t bytes, char *buf, size_t size)
{
	static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
	double v = (double)bytes / 1024;
	size_t u = 0;

	if (bytes < 1024) {
		snprintf(buf, size, "%" PRIu64 " bytes", bytes);
		return buf;
	}
	for (; v >= 1024 && u + 1 < ARRAY_SIZE(unit); u++)
		v /= 1024;
	if (v < 99.95 && (v - (double)(uint64_t)v) >= 0.05)
		snprintf(buf, size, "%.1f %s", v, unit[u]);
	else
		snprintf(buf, size, "%.0f %s", v, unit[u]);
	return buf;
}

/* Bytes of a valid UTF-8 sequence at s, 0 where there is none (RFC 3629; surrogates are let through). */
static size_t utf8_len(const unsigned char *s)
{
	size_t n = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 : (*s & 0xf0) == 0xe0 ? 3 : *s >= 0xf0 && *s < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

char *text_clean(const char *text)
{
	struct strbuf b = { 0 };

	for (const unsigned char *s = (const unsigned char *)text; *s;) {
		size_t n = utf8_len(s);
		bool control = n == 1 ? (*s < 0x20 && *s != '\n' && *s != '\t') || *s == 0x7f :
					n == 2 && *s == 0xc2 && s[1] < 0xa0;

		if (!n || control)
			strbuf_add(&b, "\xef\xbf\xbd", 3);
		else
			strbuf_add(&b, (const char *)s, n);
		s += n ? n : 1;
	}
	return b.s ? b.s : xstrdup("");
}

/* Columns of a UTF-8 text: bytes that do not continue a character. */
static int columns(const char *s, size_t n)
{
	int c = 0;

	for (size_t i = 0; i < n; i++)
		c += ((unsigned char)s[i] & 0xc0) != 0x80;
	return c;
}

void print_wrapped(FILE *f, const char *first, int indent, const char *raw)
{
	cleanup_free char *clean = text_clean(raw);
	const char *text = clean;
	const int width = 79;
	const char *line = strrchr(first, '\n');
	int col = columns(line ? line + 1 : first, strlen(line ? line + 1 : first));
	bool glue = true; /* the next word follows `first` or the indent directly */

	fputs(first, f);
	while (*text) {
		size_t n = strcspn(text, " \n");
		int w = columns(text, n);

		if (!glue && col + 1 + w > width) {
			fprintf(f, "\n%*s", indent, "");
			col = indent;
		} else if (!glue) {
			fputc(' ', f);
			col++;
		}
		fwrite(text, 1, n, f);
		col += w;
		glue = false;
		text += n;
		text += strspn(text, " \n");
	}
	fputc('\n', f);
}
