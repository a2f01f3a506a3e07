/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What doctor knows of a LUKS header, as lines of text in a recording, and back. No salt, digest or key is among it.
 * Pure; must not know where the text is kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor/doctor.h"

static const char *const type_name[] = { [HEADER_UNKNOWN] = "unknown", [HEADER_NONE] = "none", [HEADER_LUKS1] = "luks1", [HEADER_LUKS2] = "luks2" };

void header_to_text(const struct doctor_header *h, struct strbuf *out)
{
	strbuf_printf(out, "type %s\n", type_name[h->type]);
	if (*h->why)
		strbuf_printf(out, "why %s\n", h->why);
	if (h->type != HEADER_LUKS1 && h->type != HEADER_LUKS2)
		return;
	strbuf_printf(out, "sector-size %u\ndata-offset %" PRIu64 "\n", h->sector_size, h->data_offset);
	if (*h->integrity)
		strbuf_printf(out, "integrity %s\n", h->integrity);
	if (h->reencrypting)
		strbuf_printf(out, "reencrypting\n");
	for (size_t i = 0; i < h->n_slots; i++) {
		const struct doctor_keyslot *s = &h->slot[i];

		strbuf_printf(out, "keyslot %d %s %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", s->slot, *s->pbkdf ? s->pbkdf : "-", s->iterations,
			      s->memory_kib, s->parallel);
	}
}

static void parse_slot(const char *line, struct doctor_header *h)
{
	struct doctor_keyslot *s = &h->slot[h->n_slots];
	struct doctor_keyslot k = { 0 };

	if (h->n_slots == ARRAY_SIZE(h->slot) ||
	    sscanf(line, "keyslot %d %11s %" SCNu32 " %" SCNu32 " %" SCNu32, &k.slot, k.pbkdf, &k.iterations, &k.memory_kib, &k.parallel) < 3)
		return;
	if (!strcmp(k.pbkdf, "-"))
		k.pbkdf[0] = '\0';
	*s = k;
	h->n_slots++;
}

static void parse_line(const char *line, struct doctor_header *h)
{
	uint64_t n;

	if (str_starts(line, "type "))
		for (size_t i = 0; i < ARRAY_SIZE(type_name); i++)
			if (!strcmp(line + 5, type_name[i]))
				h->type = (enum doctor_header_type)i;
	if (str_starts(line, "why "))
		str_copy(h->why, sizeof(h->why), line + 4);
	else if (str_starts(line, "integrity "))
		str_copy(h->integrity, sizeof(h->integrity), line + 10);
	else if (str_starts(line, "sector-size ") && !parse_u64(line + 12, 1u << 20, &n))
		h->sector_size = (unsigned int)n;
	else if (str_starts(line, "data-offset ") && !parse_u64(line + 12, INT64_MAX, &n))
		h->data_offset = n;
	else if (!strcmp(line, "reencrypting"))
		h->reencrypting = true;
	else if (str_starts(line, "keyslot "))
		parse_slot(line, h);
}

void header_from_text(const char *text, struct doctor_header *h)
{
	char line[256];

	*h = (struct doctor_header){ 0 };
	for (const char *p = text; p && *p;) {
		size_t n = strcspn(p, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(n < sizeof(line) ? n : sizeof(line) - 1), p);
		parse_line(line, h);
		p += n + (p[n] == '\n');
	}
}
