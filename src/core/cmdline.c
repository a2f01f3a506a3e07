/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Splits the kernel command line as next_arg() in the kernel's lib/cmdline.c does.
 * Pure; must not know which module drives what.
 */
#include "core/cmdline.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* One word of the line; not terminated. value is NULL when there is no '='. */
struct token {
	const char *name, *value;
	size_t name_len, value_len;
	bool for_init; /* behind "--": programs see it, the kernel does not */
};

/* Takes the quotes off: one around the whole word, one around the value; a missing end quote is no
 * harm. */
static void token_split(struct token *t, const char *s, size_t n, const char *equals)
{
	bool quoted = n && *s == '"';
	const char *end = s + n;

	if (quoted)
		s++;
	if (quoted && end > s && end[-1] == '"')
		end--;
	t->name = s;
	t->value = NULL;
	t->name_len = (size_t)(end - s);
	t->value_len = 0;
	if (!equals || equals >= end)
		return;
	t->name_len = (size_t)(equals - s);
	t->value = equals + 1;
	if (t->value < end && *t->value == '"') {
		t->value++;
		if (end > t->value && end[-1] == '"')
			end--;
	}
	t->value_len = (size_t)(end - t->value);
}

/* End of the word at s: quotes hide blanks. *equals: the first '=' that does not begin the word, or
 * NULL. */
static const char *word_end(const char *s, const char **equals)
{
	const char *first = s + (*s == '"'), *p;
	bool in_quote = false;

	*equals = NULL;
	for (p = s; *p && (in_quote || !isspace((unsigned char)*p)); p++) {
		if (*p == '=' && !*equals && p > first)
			*equals = p;
		if (*p == '"')
			in_quote = !in_quote;
	}
	return p;
}

/* Next word from *at, which may be NULL; false at the end. */
static bool token_next(const char **at, struct token *t)
{
	while (*at) {
		const char *s = *at + strspn(*at, " \t\n\v\f\r"), *equals,
			   *end = word_end(s, &equals);

		*at = end;
		if (end == s)
			return false;
		if (end - s != 2 || memcmp(s, "--", 2) != 0) {
			token_split(t, s, (size_t)(end - s), equals);
			return true;
		}
		t->for_init = true;
	}
	return false;
}

static char dash_to_underscore(char c)
{
	if (c == '-')
		return '_';
	return c;
}

static bool names_equal(const char *a, size_t n, const char *b)
{
	if (n != strlen(b))
		return false;
	for (size_t i = 0; i < n; i++)
		if (dash_to_underscore(a[i]) != dash_to_underscore(b[i]))
			return false;
	return true;
}

int cmdline_get(const char *text, const char *name, char *buf, size_t size)
{
	struct token t = { 0 };
	int r = -ENOENT;

	buf[0] = '\0';
	while (token_next(&text, &t)) {
		size_t n = t.value_len < size ? t.value_len : size - 1;

		if (t.for_init || !names_equal(t.name, t.name_len, name))
			continue;
		if (n)
			memcpy(buf, t.value, n);
		buf[n] = '\0';
		r = n < t.value_len ? -ERANGE : 0;
	}
	return r;
}

/* --- denied modules ------------------------------------------------------------------------- */

static const struct {
	const char *name, *sentence;
} deny_text[] = {
	[DENY_RDBLACKLIST] = { "rdblacklist",
	                       "stops loading by alias inside a dracut initramfs (old name)" },
	[DENY_RD_DRIVER_BLACKLIST] = { "rd.driver.blacklist",
	                               "stops loading by alias inside a dracut initramfs" },
	[DENY_MODPROBE_BLACKLIST] = { "modprobe.blacklist",
	                              "stops loading by alias; loading by name still works" },
	[DENY_MODULE_BLACKLIST] = { "module_blacklist",
	                            "the kernel refuses this module until the next boot" },
};

static void deny_add(struct cmdline_deny_list *l, const char *s, size_t n, enum deny_option option)
{
	struct cmdline_deny *d;

	if (!n || n >= sizeof(d->module))
		return; /* no module has such a name */
	l->v = xreallocarray(l->v, l->n + 1, sizeof(*l->v));
	d = &l->v[l->n++];
	for (size_t i = 0; i < n; i++)
		d->module[i] = dash_to_underscore(s[i]);
	d->module[n] = '\0';
	d->option = option;
}

static void deny_drop(struct cmdline_deny_list *l, enum deny_option option)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].option != option)
			l->v[kept++] = l->v[i];
	l->n = kept;
}

static void deny_token(struct cmdline_deny_list *l, const struct token *t, enum deny_option option)
{
	const char *s = t->value, *end = t->value + t->value_len;

	if (option == DENY_MODULE_BLACKLIST)
		deny_drop(l, option);
	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		size_t n = (size_t)((comma ? comma : end) - s);

		deny_add(l, s, n, option);
		s += n + 1;
	}
}

void cmdline_denied(const char *text, struct cmdline_deny_list *out)
{
	struct token t = { 0 };

	*out = (struct cmdline_deny_list){ 0 };
	while (token_next(&text, &t)) {
		for (size_t o = 0; t.value && o < ARRAY_SIZE(deny_text); o++) {
			if (t.for_init && o == DENY_MODULE_BLACKLIST)
				continue;
			if (names_equal(t.name, t.name_len, deny_text[o].name))
				deny_token(out, &t, (enum deny_option)o);
		}
	}
}

void cmdline_deny_list_free(struct cmdline_deny_list *l)
{
	if (!l)
		return;
	free(l->v);
	*l = (struct cmdline_deny_list){ 0 };
}

const struct cmdline_deny *cmdline_deny_find(const struct cmdline_deny_list *l, const char *module)
{
	const struct cmdline_deny *best = NULL;
	size_t n = strlen(module);

	for (size_t i = 0; i < l->n; i++)
		if (names_equal(module, n, l->v[i].module) &&
		    (!best || l->v[i].option > best->option))
			best = &l->v[i];
	return best;
}

const char *deny_option_name(enum deny_option o)
{
	return deny_text[o].name;
}

const char *deny_option_sentence(enum deny_option o)
{
	return deny_text[o].sentence;
}

bool deny_option_hard(enum deny_option o)
{
	return o == DENY_MODULE_BLACKLIST;
}

/* --- self-tests ----------------------------------------------------------------------------- */

/* As kstrtobool() reads a value: 1 true, 0 false, -1 neither. */
static int bool_from(const char *s, size_t n)
{
	int first = n ? tolower((unsigned char)*s) : 0;
	int second = n > 1 ? tolower((unsigned char)s[1]) : 0;

	if (first == 'y' || first == 't' || first == '1' || (first == 'o' && second == 'n'))
		return 1;
	if (first == 'n' || first == 'f' || first == '0' || (first == 'o' && second == 'f'))
		return 0;
	return -1;
}

bool cmdline_selftests_off(const char *text)
{
	struct token t = { 0 };
	int off = 0;

	while (token_next(&text, &t)) {
		int v;

		if (t.for_init || !names_equal(t.name, t.name_len, "cryptomgr.notests"))
			continue;
		v = t.value ? bool_from(t.value, t.value_len) : 1;
		if (v >= 0)
			off = v;
	}
	return off;
}
