/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Prints the README's table of accelerators from the C table, so that the two cannot differ.
 * Must not know any accelerator by name.
 */
#include <stdio.h>
#include <string.h>

#include "core/accel.h"
#include "util/util.h"

/* A cell: '|' would end it, '*' would start emphasis. */
static void cell(const char *s)
{
	fputs("| ", stdout);
	for (; *s; s++) {
		if (*s == '|' || *s == '*')
			putchar('\\');
		putchar(*s);
	}
	putchar(' ');
}

static void cell_words(const char *words)
{
	struct strbuf b = { 0 };

	for_each_word(w, words)
		strbuf_printf(&b, "%s%s", b.len ? ", " : "", w);
	cell(b.s ? b.s : "–");
	strbuf_free(&b);
}

static const char *dmcrypt_word(enum accel_dmcrypt d)
{
	switch (d) {
	case DMCRYPT_YES:
		return "yes";
	case DMCRYPT_NO_MEMORY_FLAG:
		return "no (memory flag)";
	case DMCRYPT_NO_CIPHER:
		return "no (no disk cipher)";
	case DMCRYPT_NO_DRIVER:
		return "no (driver removed)";
	case DMCRYPT_NO_STORAGE:
		return "works below it";
	case DMCRYPT_BY_NAME:
		return "by driver name only";
	}
	return "unknown";
}

/* "yes", or "by driver name only from 7.2, else yes" */
static void cell_dmcrypt(const struct accel *a)
{
	kver since = accel_kernel(a->dmcrypt_since), until = accel_kernel(a->dmcrypt_until);
	struct strbuf b = { 0 };

	strbuf_printf(&b, "%s", dmcrypt_word(a->dmcrypt));
	if (since)
		strbuf_printf(&b, " from %u.%u", KVER_MAJOR(since), KVER_MINOR(since));
	if (until)
		strbuf_printf(&b, " to %u.%u", KVER_MAJOR(until), KVER_MINOR(until));
	if (a->dmcrypt != a->dmcrypt_else && (since || until))
		strbuf_printf(&b, ", else %s", dmcrypt_word(a->dmcrypt_else));
	cell(b.s);
	strbuf_free(&b);
}

/* The first figure that has both sides, from silicon when there is one. */
static void cell_measured(const struct accel *a, const struct accel_note *n)
{
	const struct accel_figure *best = a->slower;
	struct strbuf b = { 0 };

	for (const struct accel_figure *f = n->figures; f && f->what; f++)
		if (f->cpu > 0 && (!best || (f->silicon && !best->silicon)))
			best = f;
	if (best)
		strbuf_printf(&b, "%s: CPU %g, with it %g MB/s, %s (%s)", best->what, best->cpu,
		              best->engine, best->silicon ? "silicon" : "model", best->source);
	cell(b.s ? b.s : "–");
	strbuf_free(&b);
}

static bool counts_as_software(const struct accel *a)
{
	return a->kind == ACCEL_CPU_SIMD || a->kind == ACCEL_SOFTWARE;
}

static void row(const struct accel *a, const struct accel_note *n)
{
	unsigned int keys = accel_hw_keys(a, 0);
	char buf[128];

	cell(a->name);
	cell(a->id);
	cell(n->how_detected);
	cell_words(a->modules);
	cell(keys                    ? accel_keys_text(keys, buf, sizeof(buf))
	     : counts_as_software(a) ? "software"
	                             : "–");
	cell(a->modes                ? accel_modes_text(a->modes, buf, sizeof(buf))
	     : counts_as_software(a) ? "software"
	                             : "–");
	cell_dmcrypt(a);
	cell_measured(a, n);
	puts("|");
}

int main(void)
{
	puts("<!-- accel-table-begin -->");
	puts("| accelerator | id | how recognised | module | hardware key sizes | modes | usable by dm-crypt | measured |");
	puts("|---|---|---|---|---|---|---|---|");
	for (size_t i = 0; i < accel_count; i++)
		row(&accel_table[i], &accel_notes[i]);
	puts("<!-- accel-table-end -->");
	return 0;
}
