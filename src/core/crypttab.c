/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Parser of /etc/crypttab. Pure: text in, structs out.
 * Must not know what an option does, or whether the volume is open.
 */
#include "core/crypttab.h"

#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* Next white-space separated word of the line, or NULL; *p moves behind it. */
static char *next_word(const char **p, const char *end)
{
	const char *start;

	while (*p < end && strchr(" \t\r", **p))
		(*p)++;
	start = *p;
	while (*p < end && !strchr(" \t\r", **p))
		(*p)++;
	return *p > start ? xstrndup(start, (size_t)(*p - start)) : NULL;
}

static char *or_empty(char *s)
{
	return s && strcmp(s, "-") && strcmp(s, "none") ? s : (free(s), xstrdup(""));
}

static void parse_line(const char *line, const char *end, struct crypttab *out)
{
	struct crypttab_entry e = { .name = next_word(&line, end) };

	if (!e.name || *e.name == '#') {
		free(e.name);
		return;
	}
	e.source = next_word(&line, end);
	if (!e.source) {
		free(e.name);
		return;
	}
	e.key = or_empty(next_word(&line, end));
	e.options = or_empty(next_word(&line, end));
	out->v = xreallocarray(out->v, out->n + 1, sizeof(*out->v));
	out->v[out->n++] = e;
}

void crypttab_parse(const char *text, struct crypttab *out)
{
	*out = (struct crypttab){ 0 };
	while (text && *text) {
		const char *end = text + strcspn(text, "\n");

		parse_line(text, end, out);
		text = *end ? end + 1 : end;
	}
}

void crypttab_free(struct crypttab *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].name);
		free(t->v[i].source);
		free(t->v[i].key);
		free(t->v[i].options);
	}
	free(t->v);
	*t = (struct crypttab){ 0 };
}

const struct crypttab_entry *crypttab_find(const struct crypttab *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->v[i].name, name))
			return &t->v[i];
	return NULL;
}

bool crypttab_option(const struct crypttab_entry *e, const char *name, char *value, size_t size)
{
	size_t len = strlen(name);

	for (const char *p = e->options; *p;) {
		size_t n = strcspn(p, ",");

		if (n >= len && !strncmp(p, name, len) && (n == len || p[len] == '=')) {
			if (value)
				snprintf(value, size, "%.*s", n > len ? (int)(n - len - 1) : 0, p + len + (n > len));
			return true;
		}
		p += n + (p[n] == ',');
	}
	return false;
}
