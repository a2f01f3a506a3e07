/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * How sys says what went wrong: in the machine's list of unread things, or in a text for people.
 * Must not know what was being read.
 */
#include "sys/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void note_unread(struct machine *m, const char *what, int err)
{
	cleanup_free char *s = xasprintf("%s: %s", what, strerror(-err));

	strv_add_unique(&m->unread, s);
}

void note_unread_present(struct machine *m, const char *what, int err)
{
	if (err && err != -ENOENT && err != -ENOTDIR)
		note_unread(m, what, err);
}

void say(struct strbuf *log, const char *fmt, ...)
{
	cleanup_free char *s = NULL;
	va_list ap;
	int n;

	if (!log)
		return;
	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		s = NULL;
	else
		strbuf_printf(log, "%s%s", log->len ? " " : "", s);
}
