/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Parser of /etc/hwluks.conf. A boot depends on it: it takes any text, and what it cannot use it only warns of.
 * Must not know what a driver's name stands for.
 */
#include "core/boot_conf.h"

#include <stdlib.h>
#include <string.h>

struct line {
	struct boot_conf *conf;
	unsigned int number;
};

static void warn(const struct line *l, const char *fmt, ...) PRINTF(2, 3);
static void warn(const struct line *l, const char *fmt, ...)
{
	struct strbuf text = { 0 };
	cleanup_free char *clean = NULL;
	va_list ap;

	strbuf_printf(&text, BOOT_CONF_PATH " line %u: ", l->number);
	va_start(ap, fmt);
	strbuf_vprintf(&text, fmt, ap);
	va_end(ap);
	clean = text_clean(text.s);
	strv_add(&l->conf->warnings, clean);
	strbuf_free(&text);
}

static void set_drivers(const struct line *l, char *value)
{
	struct boot_conf *c = l->conf;
	char *save = NULL;

	strv_free(&c->names);
	c->drivers = BOOT_DRIVERS_AUTO;
	if (!strcmp(value, "none")) {
		c->drivers = BOOT_DRIVERS_NONE;
	} else if (strcmp(value, "auto")) {
		c->drivers = BOOT_DRIVERS_NAMED;
		for (char *w = strtok_r(value, " \t,", &save); w; w = strtok_r(NULL, " \t,", &save))
			strv_add_unique(&c->names, w);
	}
}

static void set_wait(const struct line *l, char *value)
{
	uint64_t n;

	if (parse_u64(value, BOOT_WAIT_MAX, &n) || !n)
		warn(l, "'wait' takes 1 to %u seconds, not '%.40s'; it is left as it was.", BOOT_WAIT_MAX, value);
	else
		l->conf->wait = (unsigned int)n;
}

static void set_verify(const struct line *l, char *value)
{
	if (!strcmp(value, "yes"))
		l->conf->no_verify = false;
	else if (!strcmp(value, "no"))
		l->conf->no_verify = true;
	else
		warn(l, "'verify' takes yes or no, not '%.40s'; it is left as it was.", value);
}

static const struct boot_key {
	const char *name;
	void (*set)(const struct line *l, char *value);
} keys[] = {
	{ "drivers", set_drivers },
	{ "wait", set_wait },
	{ "verify", set_verify },
};

/* Without blanks at both ends; cut in place. */
static char *trim(char *s)
{
	size_t n;

	s += strspn(s, " \t\r");
	n = strlen(s);
	while (n && strchr(" \t\r", s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}

static void parse_line(struct boot_conf *c, char *text, unsigned int number)
{
	struct line l = { .conf = c, .number = number };
	char *value;

	text[strcspn(text, "#")] = '\0';
	text = trim(text);
	if (!*text)
		return;
	value = strchr(text, '=');
	if (!value) {
		warn(&l, "'%.40s' is not of the form KEY = VALUE; it is passed over.", text);
		return;
	}
	*value++ = '\0';
	text = trim(text);
	value = trim(value);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].name, text))
			continue;
		if (*value)
			keys[i].set(&l, value);
		else
			warn(&l, "'%s' has no value; it is left as it was.", text);
		return;
	}
	warn(&l, "the key '%.40s' is not known; it is passed over.", text);
}

void boot_conf_parse(const char *text, struct boot_conf *out)
{
	cleanup_free char *copy = xstrdup(text ? text : "");
	unsigned int number = 0;
	char *next = copy;

	*out = (struct boot_conf){ 0 };
	while (next) {
		char *line = next;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		parse_line(out, line, ++number);
	}
}

void boot_conf_free(struct boot_conf *c)
{
	strv_free(&c->names);
	strv_free(&c->warnings);
	*c = (struct boot_conf){ 0 };
}
