/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Finds one option in a kernel configuration text.
 * Pure; must not know where the text came from or what an option means.
 */
#include "core/kconfig.h"

#include <stdio.h>
#include <string.h>

#include "util/util.h"

#define PREFIX     "CONFIG_"
#define PREFIX_LEN (sizeof(PREFIX) - 1)
#define UNSET      "# " PREFIX
#define UNSET_LEN  (sizeof(UNSET) - 1)
#define WHOLE      100 /* options that make a text without the banner a whole configuration */

static bool begins(const char *s, const char *end, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(end - s) >= n && !memcmp(s, what, n);
}

/* Text behind "CONFIG_NAME" on an option's line: "=m", "=y", "=\"text\"", " is not set". */
static enum kconfig_value value_at(const char *s, const char *end, bool comment)
{
	if (comment)
		return begins(s, end, " is not set") ? KCONFIG_NO : KCONFIG_UNKNOWN;
	if (s == end || *s != '=' || s + 1 == end || s[1] == '\n' || s[1] == '\r')
		return KCONFIG_UNKNOWN;
	s++;
	if (end - s > 1 && s[1] != '\n' && s[1] != '\r')
		return KCONFIG_YES; /* a number or a string */
	if (*s == 'm')
		return KCONFIG_MODULE;
	return *s == 'n' ? KCONFIG_NO : KCONFIG_YES;
}

/* Is `hit`, where the option's name stands, a line's "CONFIG_NAME" or "# CONFIG_NAME"? */
static bool at_line(const char *text, const char *hit, bool *comment)
{
	size_t before = (size_t)(hit - text);
	const char *start;

	if (before < PREFIX_LEN || memcmp(hit - PREFIX_LEN, PREFIX, PREFIX_LEN) != 0)
		return false;
	start = hit - PREFIX_LEN;
	*comment = before >= UNSET_LEN && !memcmp(hit - UNSET_LEN, UNSET, UNSET_LEN);
	if (*comment)
		start = hit - UNSET_LEN;
	return start == text || start[-1] == '\n';
}

/* The banner, or enough lines that set options. */
static bool is_whole(const char *text, size_t len)
{
	const char *end = text + len, *line = text;
	size_t head = len < 1024 ? len : 1024, options = 0;

	if (memmem(text, head, " Kernel Configuration", 21) ||
	    memmem(text, head, "# Linux kernel version", 22))
		return true;
	while (line < end && options < WHOLE) {
		options += begins(line, end, PREFIX) || begins(line, end, UNSET);
		line = memchr(line, '\n', (size_t)(end - line));
		if (!line)
			break;
		line++;
	}
	return options >= WHOLE;
}

enum kconfig_value kconfig_get(const char *text, size_t len, const char *option)
{
	const char *name = str_starts(option, PREFIX) ? option + PREFIX_LEN : option;
	size_t n = strlen(name);
	const char *end, *hit;
	enum kconfig_value v = KCONFIG_UNKNOWN;

	if (!text || !len || !n)
		return KCONFIG_UNKNOWN;
	end = text + len;
	for (hit = text; (hit = memmem(hit, (size_t)(end - hit), name, n)); hit += n) {
		bool comment;
		enum kconfig_value this;

		if (!at_line(text, hit, &comment))
			continue;
		this = value_at(hit + n, end, comment);
		if (this != KCONFIG_UNKNOWN)
			v = this; /* the last one counts, as for kconfig itself */
	}
	if (v == KCONFIG_UNKNOWN && is_whole(text, len))
		return KCONFIG_NO;
	return v;
}

bool kconfig_unset(const char *text, size_t len, const char *name)
{
	char line[96];
	int n = snprintf(line, sizeof(line), UNSET "%s is not set\n", name);

	return text && n > 0 && (size_t)n < sizeof(line) && memmem(text, len, line, (size_t)n) != NULL;
}

const char *kconfig_value_name(enum kconfig_value v)
{
	static const char *const names[] = {
		[KCONFIG_UNKNOWN] = "unknown",
		[KCONFIG_NO] = "n",
		[KCONFIG_MODULE] = "m",
		[KCONFIG_YES] = "y",
	};

	return names[v];
}
