/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* What the files of sys share among themselves; nothing outside src/sys includes this. */
#pragma once

#include "sys/sys.h"

/* Adds "WHAT: error text" to m->unread, once. err is negative. */
void note_unread(struct machine *m, const char *what, int err);
/* As note_unread, unless the thing is simply not there. */
void note_unread_present(struct machine *m, const char *what, int err);
/* Adds a sentence, with a space in front of all but the first; log may be NULL. */
void say(struct strbuf *log, const char *fmt, ...) PRINTF(2, 3);
