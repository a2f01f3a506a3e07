/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * One sink for everything that is not a result: errors, warnings, notes, -v, --debug.
 * Must not print results, and must never be given a secret.
 */
#include "util/util.h"

#include <errno.h>

static enum log_level max_level = LOG_LEVEL_NOTE;

void log_set_level(enum log_level level)
{
	max_level = level;
}

enum log_level log_get_level(void)
{
	return max_level;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	static const char *const prefix[] = { "hwluks: ", "hwluks: warning: ", "", "", "# " };
	int saved = errno;
	va_list ap;

	if (level > max_level)
		return;
	/* results on stdout must not appear after a message that was printed later */
	fflush(stdout);
	fputs(prefix[level], stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	errno = saved;
}
