/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* Why something was decided: a stable code and one plain sentence. Pure. */
#pragma once

#include "util/util.h"

enum reason_code {
	REASON_NONE,
#define REASON(code, id, meaning) code,
#include "core/reasons.def"
#undef REASON
	REASON_COUNT
};

struct reason {
	enum reason_code code;
	char *text; /* one sentence with the values found */
};
struct reasons {
	struct reason *v;
	size_t n;
};

/* Stable string for JSON and the docs: "key-size", "memory-flag", … */
const char *reason_id(enum reason_code code);
/* What the code stands for, one line, for the man page. */
const char *reason_meaning(enum reason_code code);
void reasons_add(struct reasons *r, enum reason_code code, const char *fmt, ...) PRINTF(3, 4);
void reasons_addv(struct reasons *r, enum reason_code code, const char *fmt, va_list ap) PRINTF(3, 0);
bool reasons_have(const struct reasons *r, enum reason_code code);
void reasons_free(struct reasons *r);
