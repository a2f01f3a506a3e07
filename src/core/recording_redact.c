/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What is taken out of a recording before anybody else sees it: what names a machine, its owner or a key.
 * By pattern (UUIDs, MAC addresses, long hexadecimal numbers, what follows LABEL=), by word (host names), and in files whose
 * other words nobody needs by leaving only what hwluks knows. Pure.
 */
#include "core/recording.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEX_MIN 24 /* digits: 96 bits. Keys, salts and digests are longer, kernel addresses and PCI ids shorter */

enum class { UUID, MAC, HEX, SERIAL, LABEL, HOST, CLASSES };
static const char *const class_name[CLASSES] = { "uuid", "mac", "hex", "serial", "label", "host" };

/* What was replaced so far, by kind: its place in the list is its number. */
struct redaction {
	struct strv seen[CLASSES];
	const struct strv *words;
};

static void replace(struct redaction *d, enum class c, const char *s, size_t n, struct strbuf *out)
{
	cleanup_free char *text = xstrndup(s, n);
	size_t i = 0;

	for (char *p = text; c != LABEL && c != HOST && *p; p++)
		*p = (char)tolower((unsigned char)*p);
	while (i < d->seen[c].n && strcmp(d->seen[c].v[i], text))
		i++;
	if (i == d->seen[c].n)
		strv_add(&d->seen[c], text);
	strbuf_printf(out, "%s-%zu", class_name[c], i + 1);
}

/* --- patterns --------------------------------------------------------------------------------------- */

static size_t hex_run(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && isxdigit((unsigned char)s[i]))
		i++;
	return i;
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c);
}

/* "8-4-4-4-12" digits: their number, else 0. */
static size_t uuid_at(const char *s, size_t n)
{
	static const unsigned char part[] = { 8, 4, 4, 4, 12 };
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (hex_run(s + at, n - at) != part[i])
			return 0;
		at += part[i];
		if (i + 1 < ARRAY_SIZE(part) && (at >= n || s[at++] != '-'))
			return 0;
	}
	return at;
}

/* Six pairs with ':' or '-' between them. */
static size_t mac_at(const char *s, size_t n)
{
	if (n < 17 || (s[2] != ':' && s[2] != '-'))
		return 0;
	for (size_t i = 0; i < 17; i++)
		if (i % 3 == 2 ? s[i] != s[2] : !isxdigit((unsigned char)s[i]))
			return 0;
	return n > 17 && (word_char(s[17]) || s[17] == s[2]) ? 0 : 17;
}

/* FAT and others have short ids: "UUID=1A2B-3C4D", "PARTUUID=5e3f1a2b-02". What follows these words is taken out whole. */
static const struct {
	const char *text;
	enum class c;
} before_value[] = {
	{ "PARTUUID=", UUID }, { "UUID=", UUID }, { "PARTLABEL=", LABEL }, { "LABEL=", LABEL }, { "PARTNAME=", LABEL },
	{ "by-id/", SERIAL }, { "by-uuid/", UUID }, { "by-partuuid/", UUID }, { "by-label/", LABEL }, { "by-partlabel/", LABEL },
	{ "by-diskseq/", SERIAL }, { "by-path/", SERIAL }, { "serialno=", SERIAL }, { "serial=", SERIAL }, { "hostname=", HOST },
	{ "identification = ", SERIAL }, { "identification=", SERIAL },
};

static size_t value_length(const char *s, size_t n)
{
	size_t i = 0;

	if (n && (*s == '"' || *s == '\'')) {
		for (i = 1; i < n && s[i] != *s && s[i] != '\n';)
			i++;
		return i < n && s[i] == *s ? i + 1 : i;
	}
	while (i < n && !strchr(" \t\n,:;\"'/)", s[i]) && s[i])
		i++;
	return i;
}

static size_t redact_value(struct redaction *d, const char *s, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(before_value); i++) {
		size_t head = strlen(before_value[i].text), len;

		if (n <= head || strncmp(s, before_value[i].text, head))
			continue;
		len = value_length(s + head, n - head);
		if (!len)
			return 0;
		strbuf_add(out, s, head);
		replace(d, before_value[i].c, s + head, len, out);
		return head + len;
	}
	return 0;
}

/* A host name as a word of its own; '-', '_' and '.' belong to words here, so "linux" leaves "x86_64-linux-gnu" alone. */
static size_t host_at(const struct redaction *d, const char *s, size_t n, bool start)
{
	for (size_t i = 0; start && d->words && i < d->words->n; i++) {
		size_t len = strlen(d->words->v[i]);

		if (len >= 2 && n >= len && !strncmp(s, d->words->v[i], len) &&
		    (n == len || !(word_char(s[len]) || strchr("-_.", s[len]))))
			return len;
	}
	return 0;
}

static void redact_text(struct redaction *d, const char *s, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n;) {
		bool word = !i || !word_char(s[i - 1]);
		size_t len = redact_value(d, s + i, n - i, out);

		if (len) {
			i += len;
			continue;
		}
		if (word && (len = uuid_at(s + i, n - i)))
			replace(d, UUID, s + i, len, out);
		else if (word && (len = mac_at(s + i, n - i)))
			replace(d, MAC, s + i, len, out);
		else if (word && (len = hex_run(s + i, n - i)) >= HEX_MIN)
			replace(d, HEX, s + i, len, out);
		else if ((len = host_at(d, s + i, n - i, word && (!i || !strchr("-_.", s[i - 1])))))
			replace(d, HOST, s + i, len, out);
		else
			strbuf_add(out, s + i, len = 1);
		i += len;
	}
}

/* --- files of which only what hwluks knows stays -------------------------------------------------------- */

static bool in_list(const char *s, size_t n, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == n && !strncmp(s, *list, n))
			return true;
	return false;
}

/* The kernel command line can hold passwords, addresses and paths: values stay only where hwluks reads them. */
static const char *const cmdline_kept[] = {
	"module_blacklist", "modprobe.blacklist", "rd.driver.blacklist", "rdblacklist", "initcall_blacklist", "cryptomgr.notests",
	"cryptomgr.panic_on_fail", "fips", "mitigations", "hwluks", NULL
};

static const char *word_end(const char *p, const char *end, const char *separators)
{
	bool quoted = false;

	for (; p < end && (quoted || !strchr(separators, *p)); p++)
		quoted ^= *p == '"';
	return p;
}

static void keep_words(const char *s, size_t n, const char *separators, const char *const *kept, struct strbuf *out)
{
	for (const char *p = s, *end = s + n; p < end;) {
		const char *stop = word_end(p, end, separators), *equals = memchr(p, '=', (size_t)(stop - p));

		p += equals && *p == '"'; /* its other end is in the value that goes */
		if (equals && !in_list(p, (size_t)(equals - p), kept))
			strbuf_add(out, p, (size_t)(equals - p + 1));
		else
			strbuf_add(out, p, (size_t)(stop - p));
		for (p = stop; p < end && strchr(separators, *p); p++)
			strbuf_add(out, p, 1);
	}
}

static void keep_cmdline(const char *s, size_t n, struct strbuf *out)
{
	keep_words(s, n, " \t\n", cmdline_kept, out);
}

static const char *const crypttab_kept[] = { "cipher", "size", "hash", "sector-size", "offset", "skip", "key-slot", "keyslot", "tries", NULL };

static void add_word(const char **p, const char *end, struct strbuf *out, bool keep)
{
	const char *stop;

	while (*p < end && (**p == ' ' || **p == '\t'))
		strbuf_add(out, (*p)++, 1);
	stop = word_end(*p, end, " \t");
	if (keep || stop == *p)
		strbuf_add(out, *p, (size_t)(stop - *p));
	else if (str_starts(*p, "none") || **p == '-' || str_starts(*p, "/dev/urandom") || str_starts(*p, "/dev/random"))
		strbuf_add(out, *p, (size_t)(stop - *p));
	else
		strbuf_printf(out, "key-file");
	*p = stop;
}

/* Name and device stay (their labels and ids go by pattern), the key file's name does not; of the options the values that matter. */
static void keep_crypttab_line(const char *s, size_t n, struct strbuf *out)
{
	const char *p = s, *end = s + n;

	if (n && *s == '#')
		return;
	add_word(&p, end, out, true);
	add_word(&p, end, out, true);
	add_word(&p, end, out, false);
	keep_words(p, (size_t)(end - p), " \t,", crypttab_kept, out);
}

static const char *skip_blanks(const char *s, const char *end)
{
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return s;
}

/* Deny lines stay; the others become empty lines, so that line numbers do not change. */
static void keep_modprobe_line(const char *s, size_t n, struct strbuf *out)
{
	const char *p = skip_blanks(s, s + n);

	if (str_starts(p, "blacklist") || str_starts(p, "install"))
		strbuf_add(out, s, n);
	else
		for (; n && (p = memchr(s, '\n', n)); n -= (size_t)(p + 1 - s), s = p + 1)
			strbuf_add(out, "\n", 1);
}

/* "Serial : 00000000deadbeef", of ARM boards. */
static void keep_cpuinfo_line(const char *s, size_t n, struct strbuf *out)
{
	const char *colon = memchr(s, ':', n);
	bool serial = n > 6 && !strncasecmp(s, "serial", 6);

	strbuf_add(out, s, serial && colon ? (size_t)(colon + 1 - s) : n);
}

/* "home: 0 2097152 crypt aes-xts-plain64 KEY 0 8:2 32768": of a key that stands there as digits only its length is kept. */
static void keep_table_line(const char *s, size_t n, struct strbuf *out)
{
	const char *end = s + n, *p = memmem(s, n, " crypt ", 7), *key;
	size_t digits;

	p = p ? memchr(p + 7, ' ', (size_t)(end - p - 7)) : NULL;
	key = p ? p + 1 : end;
	digits = hex_run(key, (size_t)(end - key));
	if (digits < 2 || key[digits] != ' ')
		digits = 0;
	strbuf_add(out, s, (size_t)(key - s));
	if (digits)
		strbuf_printf(out, ":%zu:logon:key", digits / 2);
	strbuf_add(out, key + digits, (size_t)(end - key) - digits);
}

/* "CRYPT-LUKS2-…", "LVM-…": what is in front of the first '-' says the type. */
static void keep_dm_type(const char *s, size_t n, struct strbuf *out)
{
	const char *dash = memchr(s, '-', n);

	strbuf_add(out, s, dash ? (size_t)(dash - s) : n);
}

static void each_line(const char *s, size_t n, bool joined, void (*keep)(const char *, size_t, struct strbuf *), struct strbuf *out)
{
	while (n) {
		const char *eol = memchr(s, '\n', n);

		while (joined && eol && eol > s && eol[-1] == '\\' && eol + 1 < s + n) {
			const char *next = memchr(eol + 1, '\n', n - (size_t)(eol + 1 - s));

			if (!next)
				break;
			eol = next;
		}
		keep(s, eol ? (size_t)(eol - s) : n, out);
		if (!eol)
			return;
		strbuf_add(out, "\n", 1);
		n -= (size_t)(eol + 1 - s);
		s = eol + 1;
	}
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), m = strlen(tail);

	return n >= m && !strcmp(s + n - m, tail);
}

static void keep_what_is_known(const struct recording_entry *e, struct strbuf *out)
{
	if (!strcmp(e->path, "/proc/cmdline"))
		keep_cmdline(e->data, e->len, out);
	else if (!strcmp(e->path, "/etc/crypttab"))
		each_line(e->data, e->len, false, keep_crypttab_line, out);
	else if (strstr(e->path, "/modprobe.d/"))
		each_line(e->data, e->len, true, keep_modprobe_line, out);
	else if (!strcmp(e->path, "/proc/cpuinfo"))
		each_line(e->data, e->len, false, keep_cpuinfo_line, out);
	else if (!strcmp(e->path, "/hwluks/dm-table"))
		each_line(e->data, e->len, false, keep_table_line, out);
	else if (ends_with(e->path, "/dm/uuid"))
		keep_dm_type(e->data, e->len, out);
	else
		strbuf_add(out, e->data, e->len);
}

/* --- all of it ---------------------------------------------------------------------------------------------- */

static void redact_entry(struct redaction *d, const struct recording_entry *e, struct recording *out)
{
	struct strbuf path = { 0 }, kept = { 0 }, data = { 0 };

	redact_text(d, e->path, strlen(e->path), &path);
	if (e->data)
		keep_what_is_known(e, &kept);
	if (kept.len)
		redact_text(d, kept.s, kept.len, &data);
	if (e->kind == RECORDED_DIR || e->seen)
		recording_put(out, path.s, e->kind, data.len ? data.s : "", data.len);
	else
		recording_put_name(out, path.s, e->kind);
	strbuf_free(&path);
	strbuf_free(&kept);
	strbuf_free(&data);
}

void recording_redact(struct recording *r, const struct strv *words)
{
	struct redaction d = { .words = words };
	struct recording out = { 0 };

	for (size_t i = 0; i < r->n; i++)
		redact_entry(&d, &r->v[i], &out);
	recording_free(r);
	*r = out;
	for (size_t c = 0; c < CLASSES; c++)
		strv_free(&d.seen[c]);
}
