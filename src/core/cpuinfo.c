/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * /proc/cpuinfo text → vendor, model and what every processor can do, for all architectures.
 * Pure; must not know which flag means which accelerator.
 */
#include "core/cpuinfo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

/* A stretch of the text; not terminated. */
struct span {
	const char *s;
	size_t n;
};

static bool span_is(struct span a, const char *s)
{
	return a.n == strlen(s) && !memcmp(a.s, s, a.n);
}

static struct span span_trim(struct span a)
{
	while (a.n && isspace((unsigned char)*a.s)) {
		a.s++;
		a.n--;
	}
	while (a.n && isspace((unsigned char)a.s[a.n - 1]))
		a.n--;
	return a;
}

/* What is being gathered. */
struct state {
	struct cpuinfo *out;
	unsigned int numbered;  /* "processor : 0" lines */
	unsigned int stated;    /* "# processors", "ncpus active" */
	unsigned int model_key; /* place in model_keys of what filled out->model; 0 = nothing yet */
	bool any;               /* a line that only a cpuinfo has */
	struct span last_flags; /* most processors repeat the line before */
};

/* --- flags ---------------------------------------------------------------------------------- */

static void add_word(struct strbuf *b, const char *s, size_t n)
{
	if (b->len)
		strbuf_add(b, " ", 1);
	strbuf_add(b, s, n);
}

/* "rv64imafdcv_zicsr_zvkned" → words "rv64", one per letter, "zicsr", "zvkned". */
static void add_isa(struct strbuf *b, struct span v)
{
	for (size_t i = 0, n; i < v.n; i += n + 1) {
		const char *sep = memchr(v.s + i, '_', v.n - i);

		n = sep ? (size_t)(sep - v.s) - i : v.n - i;
		if (!i && n >= 4 && !memcmp(v.s, "rv", 2)) {
			add_word(b, v.s, 4);
			for (size_t k = 4; k < n; k++)
				add_word(b, v.s + k, 1);
		} else if (n) {
			add_word(b, v.s + i, n);
		}
	}
}

/* Words of a flags line; SPARC separates by commas. */
static void add_list(struct strbuf *b, struct span v)
{
	size_t i = 0;

	while (i < v.n) {
		size_t n = 0;

		while (i < v.n && (isspace((unsigned char)v.s[i]) || v.s[i] == ','))
			i++;
		while (i + n < v.n && !isspace((unsigned char)v.s[i + n]) && v.s[i + n] != ',')
			n++;
		if (n)
			add_word(b, v.s + i, n);
		i += n;
	}
}

/* Keeps in `mine` only the words that `other` has too. */
static char *common_words(char *mine, const char *other)
{
	struct strbuf b = { 0 };
	char *save = NULL;

	for (char *w = strtok_r(mine, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (word_in(other, w))
			add_word(&b, w, strlen(w));
	free(mine);
	return b.s ? b.s : xstrdup("");
}

static void take_flags(struct state *st, struct span v, bool isa)
{
	struct strbuf b = { 0 };

	if (st->out->flags && v.n == st->last_flags.n && !memcmp(v.s, st->last_flags.s, v.n))
		return;
	st->last_flags = v;
	if (isa)
		add_isa(&b, v);
	else
		add_list(&b, v);
	if (!b.s)
		b.s = xstrdup("");
	if (word_in(b.s, "hypervisor"))
		st->out->hypervisor = true;
	if (!st->out->flags) {
		st->out->flags = b.s;
		return;
	}
	st->out->flags = common_words(st->out->flags, b.s);
	strbuf_free(&b);
}

/* --- the other lines ------------------------------------------------------------------------ */

/* Where a model name stands, best first: x86, RISC-V and some ARM; MIPS; POWER, SPARC; old ARM;
 * RISC-V. */
static const char *const model_keys[] = { "model name", "Model Name", "cpu model",
	                                  "cpu",        "Processor",  "uarch" };

static void take_model(struct state *st, struct span key, struct span v)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(model_keys); i++) {
		if (!v.n || !span_is(key, model_keys[i]))
			continue;
		st->any = true;
		if (st->model_key && st->model_key <= i + 1)
			continue;
		free(st->out->model);
		st->out->model = xstrndup(v.s, v.n);
		st->model_key = i + 1;
	}
}

static unsigned int small_number(struct span v)
{
	unsigned int n = 0;

	for (size_t i = 0; i < v.n && isdigit((unsigned char)v.s[i]) && n < 100000; i++)
		n = n * 10 + (unsigned int)(v.s[i] - '0');
	return n;
}

static void take_count(struct state *st, struct span key, struct span v)
{
	bool s390 =
		key.n > 10 && !memcmp(key.s, "processor ", 10) && isdigit((unsigned char)key.s[10]);

	if (span_is(key, "processor") || s390)
		st->numbered++;
	else if (span_is(key, "# processors") || span_is(key, "ncpus active"))
		st->stated = small_number(v);
}

static void take_line(struct state *st, struct span key, struct span v)
{
	static const char *const flag_keys[] = { "flags", "Features", "features", "cpucaps",
		                                 "isa" };
	bool vendor = span_is(key, "vendor_id") || span_is(key, "CPU implementer");

	if (vendor && v.n && !st->out->vendor)
		st->out->vendor = xstrndup(v.s, v.n);
	for (size_t i = 0; i < ARRAY_SIZE(flag_keys); i++) {
		if (!span_is(key, flag_keys[i]))
			continue;
		st->any = true;
		take_flags(st, v, span_is(key, "isa"));
	}
	take_model(st, key, v);
	take_count(st, key, v);
}

void cpuinfo_parse(const char *text, size_t len, struct cpuinfo *out)
{
	struct state st = { .out = out };
	const char *end = text + len;

	*out = (struct cpuinfo){ 0 };
	for (const char *line = text; line < end;) {
		const char *nl = memchr(line, '\n', (size_t)(end - line));
		const char *stop = nl ? nl : end;
		const char *colon = memchr(line, ':', (size_t)(stop - line));

		if (colon)
			take_line(
				&st, span_trim((struct span){ line, (size_t)(colon - line) }),
				span_trim((struct span){ colon + 1, (size_t)(stop - colon - 1) }));
		line = nl ? nl + 1 : end;
	}
	out->processors = st.stated ? st.stated : st.numbered;
	if (!out->processors && st.any)
		out->processors = 1; /* one-processor ARM kernels number nothing */
}

void cpuinfo_free(struct cpuinfo *c)
{
	if (!c)
		return;
	free(c->vendor);
	free(c->model);
	free(c->flags);
	*c = (struct cpuinfo){ 0 };
}
