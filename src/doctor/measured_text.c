/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What was measured, as lines of text in a recording, and back.
 * Pure; must not know where the text is kept.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"

/* --- one volume ---------------------------------------------------------------------------------------- */

static void rate_line(struct strbuf *out, const char *what, const struct rate *r)
{
	if (r->runs)
		strbuf_printf(out, "%s %.3f %.3f %.3f %u\n", what, r->median, r->low, r->high, r->runs);
}

void measured_volume_to_text(const struct doctor_volume *v, struct strbuf *out)
{
	rate_line(out, "device", &v->raw);
	rate_line(out, "mapping", &v->mapped);
	for (size_t i = 0; i < v->header.n_slots; i++)
		if (v->header.slot[i].unlock_s > 0)
			strbuf_printf(out, "unlock %d %.3f\n", v->header.slot[i].slot, v->header.slot[i].unlock_s);
	if (*v->measure_why)
		strbuf_printf(out, "why %s\n", v->measure_why);
}

/* Sane or nothing: the text is not trusted. */
static bool parse_rate(const char *s, struct rate *r)
{
	struct rate x;

	if (sscanf(s, "%lf %lf %lf %u", &x.median, &x.low, &x.high, &x.runs) != 4)
		return false;
	if (!(x.low > 0 && x.low <= x.median && x.median <= x.high && x.high < 1e9) || !x.runs || x.runs > 1000)
		return false;
	*r = x;
	return true;
}

static void parse_unlock(const char *s, struct doctor_header *h)
{
	double seconds;
	int slot;

	if (sscanf(s, "%d %lf", &slot, &seconds) != 2 || !(seconds > 0 && seconds < 1e9))
		return;
	for (size_t i = 0; i < h->n_slots; i++)
		if (h->slot[i].slot == slot)
			h->slot[i].unlock_s = seconds;
}

static void volume_line(const char *line, struct doctor_volume *v)
{
	if (str_starts(line, "device "))
		parse_rate(line + 7, &v->raw);
	else if (str_starts(line, "mapping "))
		parse_rate(line + 8, &v->mapped);
	else if (str_starts(line, "unlock "))
		parse_unlock(line + 7, &v->header);
	else if (str_starts(line, "why "))
		str_copy(v->measure_why, sizeof(v->measure_why), line + 4);
}

/* The next line, cut to the buffer; false at the end. */
static bool next_line(const char **at, char *line, size_t size)
{
	size_t n = *at ? strcspn(*at, "\n") : 0;

	if (!*at || !**at)
		return false;
	snprintf(line, size, "%.*s", (int)(n < size ? n : size - 1), *at);
	*at += n + ((*at)[n] == '\n');
	return true;
}

void measured_volume_from_text(const char *text, struct doctor_volume *v)
{
	char line[256];

	while (next_line(&text, line, sizeof(line)))
		volume_line(line, v);
}

/* --- setups ----------------------------------------------------------------------------------------------- */

void measured_setups_to_text(const struct doctor_facts *f, struct strbuf *out)
{
	char text[SPEC_TEXT_MAX];

	for (size_t i = 0; i < f->n_measured; i++) {
		const struct measured_setup *m = &f->measured[i];

		strbuf_printf(out, "setup %s %u %u %u %s\n", spec_text(&m->setup.spec, text, sizeof(text)), m->setup.spec.key_bits,
			      m->setup.spec.sector_size, m->setup.flags, *m->setup.forced ? m->setup.forced : "-");
		if (*m->driver)
			strbuf_printf(out, "driver %s\n", m->driver);
		rate_line(out, "write", &m->write);
		rate_line(out, "read", &m->read);
		if (*m->why)
			strbuf_printf(out, "why %s\n", m->why);
	}
}

struct measured_setup *measured_add(struct doctor_facts *f, const struct setup *s)
{
	f->measured = xreallocarray(f->measured, f->n_measured + 1, sizeof(*f->measured));
	f->measured[f->n_measured] = (struct measured_setup){ .setup = *s };
	return &f->measured[f->n_measured++];
}

static struct measured_setup *setup_line(const char *line, struct doctor_facts *f)
{
	struct setup s = { .is = true };
	char cipher[SPEC_TEXT_MAX];
	unsigned int bits, sector;
	struct spec_error err;

	if (f->n_measured == MEASURED_MAX ||
	    sscanf(line, "setup %287s %u %u %u %255s", cipher, &bits, &sector, &s.flags, s.forced) != 5 || spec_parse(cipher, &s.spec, &err))
		return NULL;
	s.spec.key_bits = bits;
	s.spec.sector_size = sector;
	if (!strcmp(s.forced, "-"))
		s.forced[0] = '\0';
	return measured_add(f, &s);
}

void measured_setups_from_text(const char *text, struct doctor_facts *f)
{
	struct measured_setup *m = NULL;
	char line[640];

	while (next_line(&text, line, sizeof(line))) {
		if (str_starts(line, "setup "))
			m = setup_line(line, f);
		else if (m && str_starts(line, "driver "))
			str_copy(m->driver, sizeof(m->driver), line + 7);
		else if (m && str_starts(line, "write "))
			parse_rate(line + 6, &m->write);
		else if (m && str_starts(line, "read "))
			parse_rate(line + 5, &m->read);
		else if (m && str_starts(line, "why "))
			str_copy(m->why, sizeof(m->why), line + 4);
	}
}
