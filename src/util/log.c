/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * One sink for everything that is not a result: errors, warnings, notes, -v, --debug.
 * Must not print results, and must never be given a secret.
 */
#include "util/util.h"

#include <errno.h>
#include <unistd.h>

static enum log_level max_level = LOG_LEVEL_NOTE;

void log_set_level(enum log_level level)
{
	max_level = level;
}

enum log_level log_get_level(void)
{
	return max_level;
}

/* On a terminal lines break between words; anywhere else one message is one line, for grep. */
static void put(enum log_level level, const char *prefix, const char *text)
{
	static int tty = -1;

	if (tty < 0)
		tty = isatty(STDERR_FILENO);
	/* what starts with a space was laid out by its author */
	if (tty && level < LOG_LEVEL_DEBUG && *text != ' ')
		print_wrapped(stderr, prefix, 2, text);
	else
		fprintf(stderr, "%s%s\n", prefix, text);
}

void log_at(enum log_level level, const char *fmt, ...)
{
	static const char *const prefix[] = { "hwluks: ", "hwluks: warning: ", "", "", "# " };
	cleanup_free char *text = NULL, *clean = NULL;
	int saved = errno;
	va_list ap;

	if (level > max_level)
		return;
	/* results on stdout must not appear after a message that was printed later */
	fflush(stdout);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	clean = text_clean(text ? text : fmt);
	put(level, prefix[level], clean);
	errno = saved;
}
