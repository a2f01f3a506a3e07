/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Passphrases and keys from a terminal, a pipe or a file, in memory that is wiped.
 * Must not know what a secret opens, and never logs or copies one anywhere else.
 */
#include "vol/vol.h"

#include <errno.h>
#include <fcntl.h>
#include <libcryptsetup.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "vol/luks_private.h"

void secret_free(struct secret *s)
{
	if (!s)
		return;
	crypt_safe_free(s->data);
	s->data = NULL;
	s->len = 0;
}

static int secret_alloc(size_t len, struct secret *out)
{
	out->data = crypt_safe_alloc(len ? len : 1);
	out->len = len;
	return out->data ? 0 : -ENOMEM;
}

int secret_copy(const void *data, size_t len, struct secret *out)
{
	int r = secret_alloc(len, out);

	if (!r && len)
		memcpy(out->data, data, len);
	return r;
}

void secret_protect_process(void)
{
	const struct rlimit none = { 0, 0 };

	if (prctl(PR_SET_DUMPABLE, 0))
		log_warn("cannot make the process undumpable: %s", strerror(errno));
	if (setrlimit(RLIMIT_CORE, &none))
		log_debug("setrlimit(RLIMIT_CORE): %s", strerror(errno));
}

/* --- terminal --------------------------------------------------------------------------------- */

static const int tty_signals[] = { SIGALRM, SIGHUP,  SIGINT,  SIGPIPE, SIGQUIT,
	                           SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU };
#define N_TTY_SIGNALS ARRAY_SIZE(tty_signals)

static volatile sig_atomic_t tty_signal;

static void tty_on_signal(int sig)
{
	tty_signal = sig;
}

/* Everything that has to be put back when the prompt is over, whatever ended it. */
struct tty {
	int in, out;
	bool own; /* in is /dev/tty, opened here */
	struct termios old;
	struct sigaction old_action[N_TTY_SIGNALS];
	sigset_t old_mask, wait_mask;
};

static int tty_open(struct tty *t)
{
	t->in = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	t->own = t->in >= 0;
	t->out = t->in;
	if (!t->own) {
		t->in = STDIN_FILENO;
		t->out = STDERR_FILENO;
	}
	if (!tcgetattr(t->in, &t->old))
		return 0;
	if (t->own)
		close(t->in);
	return -ENOTTY;
}

/*
 * Signals are held back but while waiting for input, so that none is lost between prompt and wait;
 * there they end the wait, the terminal is restored, and the signal is sent again. The two of job
 * control come from the calls themselves and must not be held back.
 */
static void tty_catch(struct tty *t)
{
	struct sigaction sa = { .sa_handler = tty_on_signal };
	sigset_t held;

	tty_signal = 0;
	sigemptyset(&sa.sa_mask);
	sigemptyset(&held);
	for (size_t i = 0; i < N_TTY_SIGNALS; i++)
		if (tty_signals[i] != SIGTTIN && tty_signals[i] != SIGTTOU)
			sigaddset(&held, tty_signals[i]);
	sigprocmask(SIG_BLOCK, &held, &t->old_mask);
	t->wait_mask = t->old_mask;
	for (size_t i = 0; i < N_TTY_SIGNALS; i++) {
		sigdelset(&t->wait_mask, tty_signals[i]);
		sigaction(tty_signals[i], NULL, &t->old_action[i]);
		if (t->old_action[i].sa_handler != SIG_IGN)
			sigaction(tty_signals[i], &sa, NULL);
	}
}

static void tty_silence(struct tty *t)
{
	struct termios quiet = t->old;

	tty_catch(t);
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
	tcsetattr(t->in, TCSAFLUSH, &quiet);
}

static void tty_restore(struct tty *t)
{
	while (tcsetattr(t->in, TCSAFLUSH, &t->old) && errno == EINTR && tty_signal != SIGTTOU)
		;
	for (size_t i = 0; i < N_TTY_SIGNALS; i++)
		sigaction(tty_signals[i], &t->old_action[i], NULL);
	sigprocmask(SIG_SETMASK, &t->old_mask, NULL);
}

static void tty_close(struct tty *t)
{
	if (t->own)
		close(t->in);
}

static void tty_say(const struct tty *t, const char *s)
{
	if (write(t->out, s, strlen(s)) < 0)
		log_debug("prompt: %s", strerror(errno));
}

/* Up to the newline or end of input; the newline is not part of it. */
static int tty_read_line(const struct tty *t, unsigned int timeout_s, struct secret *s)
{
	struct pollfd p = { .fd = t->in, .events = POLLIN };
	const struct timespec limit = { .tv_sec = timeout_s };
	ssize_t n;
	int r;

	r = ppoll(&p, 1, timeout_s ? &limit : NULL, &t->wait_mask);
	if (r == 0)
		return -ETIMEDOUT;
	if (r < 0)
		return -errno;
	n = read(t->in, s->data, SECRET_TTY_MAX + 2);
	if (n < 0)
		return -errno;
	if (n > 0 && s->data[n - 1] == '\n')
		n--;
	s->len = (size_t)n;
	return s->len > SECRET_TTY_MAX ? -EFBIG : 0;
}

/* One prompt, one line; job control signals stop the process and the prompt comes again. */
static int tty_ask(const char *prompt, unsigned int timeout_s, struct secret *s)
{
	struct tty t;
	int r, sig;

	r = secret_alloc(SECRET_TTY_MAX + 2, s);
	if (r)
		return r;
	do {
		r = tty_open(&t);
		if (r)
			return r;
		tty_silence(&t);
		tty_say(&t, prompt);
		r = tty_read_line(&t, timeout_s, s);
		tty_say(&t, "\n");
		tty_restore(&t);
		tty_close(&t);
		sig = tty_signal;
		if (sig) {
			kill(getpid(), sig);
			r = -EINTR;
		}
	} while (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
	return r;
}

static bool secret_equal(const struct secret *a, const struct secret *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static int why_text(struct strbuf *why, int r, const char *text)
{
	if (why)
		strbuf_printf(why, "%s", text);
	return r;
}

static int tty_explain(int r, struct strbuf *why)
{
	switch (r) {
	case -ETIMEDOUT:
		return why_text(why, r, "No passphrase was typed within the time limit.");
	case -EFBIG:
		return why_text(why, r,
		                "The passphrase is longer than 512 characters; use a key file.");
	case -EINTR:
		return why_text(why, r, "The prompt was interrupted.");
	case -ENOTTY:
		return why_text(why, r, "There is no terminal to ask on.");
	default:
		return r;
	}
}

static int tty_secret(const struct secret_source *src, struct secret *out, struct strbuf *why)
{
	cleanup_secret struct secret again = { 0 };
	int r;

	if (src->offset)
		return why_text(why, -EINVAL,
		                "A terminal cannot be combined with --keyfile-offset.");
	r = tty_ask(src->prompt ? src->prompt : "Passphrase: ", src->timeout_s, out);
	if (r)
		return tty_explain(r, why);
	if (!out->len)
		return why_text(why, -EPERM, "Nothing was typed.");
	if (!src->verify)
		return 0;
	r = tty_ask("Type it again: ", src->timeout_s, &again);
	if (r)
		return tty_explain(r, why);
	if (!secret_equal(out, &again))
		return why_text(why, -EPERM, "The two passphrases differ.");
	return 0;
}

/* --- pipes and files -----------------------------------------------------------------------------
 */

static bool source_is_stdin(const struct secret_source *src)
{
	return !src->key_file || !strcmp(src->key_file, "-");
}

uint64_t secret_tries(const struct secret_source *src, uint64_t wanted)
{
	if (!secret_is_prompted(src))
		return 1;
	return wanted ? wanted : SECRET_TRIES;
}

bool secret_is_prompted(const struct secret_source *src)
{
	return source_is_stdin(src) && isatty(STDIN_FILENO);
}

static void warn_if_open_to_others(const char *file)
{
	struct stat st;

	if (stat(file, &st) || !S_ISREG(st.st_mode) || !(st.st_mode & 0066))
		return;
	log_warn("key file %s has mode %04o: other users can read or change it; chmod 0600 it",
	         file, (unsigned int)st.st_mode & 07777);
}

/* libcryptsetup reads pipes and files by exactly cryptsetup's rules, since they are its own. */
static int file_secret(const struct secret_source *src, struct secret *out, struct strbuf *why)
{
	bool from_stdin = source_is_stdin(src);
	bool line = !src->key_file;
	int r;

	if (!from_stdin) {
		if (access(src->key_file, R_OK)) {
			r = -errno;
			if (why)
				strbuf_printf(why, "Key file %s: %s.", src->key_file, strerror(-r));
			return r;
		}
		warn_if_open_to_others(src->key_file);
	}
	if (src->size > SIZE_MAX)
		return why_text(why, -EFBIG,
		                "--keyfile-size is more than this machine can address.");
	luks_log_setup();
	luks_log_quiet(true);
	r = crypt_keyfile_device_read(NULL, from_stdin ? NULL : src->key_file, &out->data,
	                              &out->len, src->offset, (size_t)src->size,
	                              line ? CRYPT_KEYFILE_STOP_EOL : 0);
	luks_log_quiet(false);
	if (r < 0 && why)
		strbuf_printf(why, "No usable key in %s: %s",
		              from_stdin ? "standard input" : src->key_file,
		              *luks_last_error() ? luks_last_error() : strerror(-r));
	return r;
}

int secret_read(const struct secret_source *src, struct secret *out, struct strbuf *why)
{
	int r;

	memset(out, 0, sizeof(*out));
	if (secret_is_prompted(src))
		r = tty_secret(src, out, why);
	else
		r = file_secret(src, out, why);
	if (r)
		secret_free(out);
	return r;
}
