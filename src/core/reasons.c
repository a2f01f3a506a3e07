/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Reason codes: their stable ids, their meanings, and lists of reasons.
 * Must not know when a reason applies.
 */
#include "core/reasons.h"

#include <stdlib.h>

/* Apart, since only the documentation asks for the meanings: the linker leaves them out of the program. */
#define REASON(code, id, meaning) [code] = id,
static const char ids[][20] = {
	[REASON_NONE] = "none",
#include "core/reasons.def"
};
#undef REASON
#define REASON(code, id, meaning) [code] = meaning,
static const char *const meanings[] = {
	[REASON_NONE] = "no reason",
#include "core/reasons.def"
};
#undef REASON

const char *reason_id(enum reason_code code)
{
	return ids[code];
}

const char *reason_meaning(enum reason_code code)
{
	return meanings[code];
}

void reasons_addv(struct reasons *r, enum reason_code code, const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		text = xstrdup("");
	r->v = xreallocarray(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = (struct reason){ code, text };
}

void reasons_add(struct reasons *r, enum reason_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	reasons_addv(r, code, fmt, ap);
	va_end(ap);
}

bool reasons_have(const struct reasons *r, enum reason_code code)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].code == code)
			return true;
	return false;
}

void reasons_free(struct reasons *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].text);
	free(r->v);
	*r = (struct reasons){ 0 };
}
