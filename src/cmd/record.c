/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * --record and --replay: a machine in one file, for detect, advise and doctor.
 * Must not know what is read: the root keeps the list.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/cmd.h"

/* --- replay ---------------------------------------------------------------------------------------- */

static int read_file(const char *file, char **data, size_t *len)
{
	cleanup_close int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t got = 1;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > RECORDING_TAR_MAX)
		return -EFBIG;
	*data = xcalloc((size_t)st.st_size + 1, 1);
	for (*len = 0; *len < (size_t)st.st_size && got > 0; *len += got > 0 ? (size_t)got : 0)
		got = read(fd, *data + *len, (size_t)st.st_size - *len);
	return got < 0 ? -errno : 0;
}

static int stand_for_machine(struct cmd_context *c, const char *file, const char *tar, size_t len)
{
	struct strbuf why = { 0 };
	int r = recording_from_tar(tar, len, &c->replayed, &why);

	if (r)
		log_error("%s is no recording of a machine. %s", file, why.s ? why.s : "");
	strbuf_free(&why);
	if (r)
		return r;
	sysroot_close(&c->root);
	sysroot_replay(&c->root, &c->replayed);
	return 0;
}

int replay_begin(struct cmd_context *c, const char *file)
{
	cleanup_free char *data = NULL;
	size_t len = 0;
	int r;

	if (c->opt.record || c->opt.sysroot) {
		log_error("--replay does not go with --%s: it looks at one recorded machine.", c->opt.record ? "record" : "sysroot");
		return -EINVAL;
	}
	r = read_file(file, &data, &len);
	if (r) {
		log_error("Cannot read the recording %s: %s.", file, r == -EINVAL ? "it is no regular file" : strerror(-r));
		return r == -ENOENT || r == -EFBIG ? -EINVAL : r;
	}
	return stand_for_machine(c, file, data, len);
}

void replay_end(struct cmd_context *c)
{
	recording_free(&c->replayed);
}

/* --- record ------------------------------------------------------------------------------------------ */

/* The host's name, and its first part; words that would be found everywhere are none. */
static void add_host(struct strv *words, const char *name)
{
	cleanup_free char *first = xstrndup(name, strcspn(name, "."));

	if (!*name || !strcmp(name, "(none)") || !strcmp(first, "localhost"))
		return;
	strv_add_unique(words, name);
	strv_add_unique(words, first);
}

static void host_words(struct cmd_context *c, struct strv *words)
{
	struct utsname u;
	char line[256];

	if (!c->root.recorded && !uname(&u))
		add_host(words, u.nodename);
	if (!sysroot_read_line(&c->root, "/proc/sys/kernel/hostname", line, sizeof(line)))
		add_host(words, line);
	if (!sysroot_read_line(&c->root, "/etc/hostname", line, sizeof(line)))
		add_host(words, line);
}

static int write_all(int fd, const struct strbuf *b)
{
	for (size_t at = 0; at < b->len;) {
		ssize_t n = write(fd, b->s + at, b->len - at);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) && errno != EINVAL ? -errno : 0;
}

/* Never over a file that is there. */
static int write_new(const char *file, const struct strbuf *tar)
{
	cleanup_close int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = fd < 0 ? -errno : write_all(fd, tar);

	if (fd >= 0 && r)
		unlink(file);
	if (r == -EEXIST)
		log_error("%s is there already; a recording is written into a new file.", file);
	else if (r)
		log_error("Cannot write the recording %s: %s.", file, strerror(-r));
	return r == -ENOENT || r == -ENOTDIR ? -EINVAL : r;
}

static int gather_noted(struct cmd_context *c, struct recording *noted)
{
	struct strv words = { 0 };
	int r;

	host_words(c, &words);
	c->root.noted = noted;
	r = doctor_gather_only(c);
	if (c->root.complete)
		sysroot_note(&c->root, SYSROOT_COMPLETE, "1\n", 2);
	c->root.noted = NULL;
	recording_redact(noted, &words);
	strv_free(&words);
	return r;
}

int record_machine(struct cmd_context *c, const char *file)
{
	struct recording noted = { 0 };
	struct strbuf tar = { 0 };
	int r = 0;

	if (c->n_args) {
		log_error("--record takes in the whole machine: leave out '%s'.", c->arg[0]);
		return -EINVAL;
	}
	r = gather_noted(c, &noted);
	recording_to_tar(&noted, &tar);
	if (!r)
		r = write_new(file, &tar);
	if (!r)
		r = stand_for_machine(c, file, tar.s, tar.len);
	if (!r)
		log_note("%s holds what was read, %zu files. Serial numbers, UUIDs, addresses, labels and host names were taken out; look "
			 "into it before you give it away.", file, noted.n);
	recording_free(&noted);
	strbuf_free(&tar);
	return r;
}
