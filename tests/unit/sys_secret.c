/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Reading secrets: pipes and files against the installed cryptsetup, the terminal through a pseudo
 * terminal. Must not test what a secret opens.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "vol/vol.h"

#define CHEAP "--pbkdf pbkdf2 --pbkdf-force-iterations 1000 -q"

static char dir[64];

static void put_file(const char *name, const void *data, size_t len, mode_t mode)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	cleanup_close int fd = -1;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
}

/* In the scratch directory, output to nowhere. */
static int run(const char *cmd)
{
	cleanup_free char *all = xasprintf("cd %s && { %s; } >/dev/null 2>&1", dir, cmd);
	int r = system(all);

	return WIFEXITED(r) ? WEXITSTATUS(r) : -1;
}

/* stdin comes from the file "in". */
static int read_with_stdin(const struct secret_source *src, struct secret *out)
{
	cleanup_free char *path = xasprintf("%s/in", dir);
	int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY), r;

	assert_true(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	close(fd);
	r = secret_read(src, out, NULL);
	if (saved >= 0) {
		dup2(saved, STDIN_FILENO);
		close(saved);
	}
	return r;
}

/* --- the same bytes as cryptsetup ------------------------------------------------- */

struct rule {
	const char *in;
	size_t len;
	const char *key_file; /* NULL, "-" or "in" */
	uint64_t offset, size;
};
#define RULE(text, ...)                             \
	{                                           \
		text, sizeof(text) - 1, __VA_ARGS__ \
	}

/*
 * The image's key is what secret_read() returned, given to cryptsetup as a whole file; then
 * cryptsetup reads the input by its own rules and must come to the same key. Where one refuses, so
 * must the other.
 */
static void check_rule(const struct rule *t, size_t row)
{
	cleanup_free char *file = xasprintf("%s/in", dir);
	struct secret_source src = {
		.key_file = t->key_file && strcmp(t->key_file, "-") ? file : t->key_file,
		.offset = t->offset,
		.size = t->size,
	};
	cleanup_secret struct secret s = { 0 };
	cleanup_free char *options = NULL, *cmd = NULL;
	int ours, theirs;

	put_file("in", t->in, t->len, 0600);
	ours = read_with_stdin(&src, &s);
	options = xasprintf("%s %s --keyfile-offset %llu %s%llu", t->key_file ? "--key-file" : "",
	                    t->key_file ? t->key_file : "", (unsigned long long)t->offset,
	                    t->size ? "--keyfile-size " : "--tries ",
	                    t->size ? (unsigned long long)t->size : 1ull);
	if (!ours) {
		put_file("exact", s.data, s.len, 0600);
		assert_int_equal(run("truncate -s 0 img && truncate -s 17M img"), 0);
		if (run("cryptsetup luksFormat " CHEAP " --key-file exact img")) {
			/* An empty key: cryptsetup cannot take it as a file either. */
			assert_int_equal(s.len, 0);
			return;
		}
	}
	cmd = xasprintf("cryptsetup open --test-passphrase %s img <in", options);
	theirs = run(cmd);
	if (!!ours != !!theirs)
		fail_msg("row %zu: hwluks %d, cryptsetup %d", row, ours, theirs);
}

static void test_rules(void **state)
{
	static const struct rule row[] = {
		RULE("pw\n", NULL, 0, 0),       RULE("pw", NULL, 0, 0),
		RULE("pw\nmore\n", NULL, 0, 0), RULE("pw\r\n", NULL, 0, 0),
		RULE("a\0b\n", NULL, 0, 0),     RULE("abcdef\n", NULL, 2, 0),
		RULE("abcdef\n", NULL, 0, 3),   RULE("pw\n", "-", 0, 0),
		RULE("pw", "-", 0, 0),          RULE("pw\nmore\n", "-", 0, 0),
		RULE("abcdef\n", "-", 2, 3),    RULE("pw\n", "in", 0, 0),
		RULE("a\0b\n\n", "in", 0, 0),   RULE("abcdef\n", "in", 2, 0),
		RULE("abcdef\n", "in", 2, 3),   RULE("abcdef\n", "in", 0, 100), /* too short */
		RULE("abcdef\n", "in", 100, 0), /* offset beyond the end */
		RULE("", NULL, 0, 0),           RULE("", "-", 0, 0),
		RULE("", "in", 0, 0),           RULE("\n", NULL, 0, 0),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		check_rule(&row[i], i);
}

static void test_rule_exact_bytes(void **state)
{
	struct secret_source pipe_src = { 0 }, dash = { .key_file = "-" };
	cleanup_secret struct secret a = { 0 }, b = { 0 };

	(void)state;
	put_file("in", "pw\nmore\n", 8, 0600);
	assert_int_equal(read_with_stdin(&pipe_src, &a), 0);
	assert_int_equal(a.len, 2);
	assert_memory_equal(a.data, "pw", 2);
	assert_int_equal(read_with_stdin(&dash, &b), 0);
	assert_int_equal(b.len, 8);
	assert_memory_equal(b.data, "pw\nmore\n", 8);
}

static void test_limits(void **state)
{
	cleanup_free char *file = xasprintf("%s/big", dir);
	struct secret_source src = { .key_file = file };
	cleanup_secret struct secret s = { 0 };
	struct strbuf why = { 0 };

	(void)state;
	put_file("big", "", 0, 0600);
	assert_int_equal(truncate(file, SECRET_KEYFILE_MAX), 0);
	assert_int_equal(secret_read(&src, &s, NULL), 0);
	assert_int_equal(s.len, SECRET_KEYFILE_MAX);
	secret_free(&s);
	assert_int_equal(truncate(file, SECRET_KEYFILE_MAX + 1), 0);
	assert_true(secret_read(&src, &s, NULL) < 0);
	assert_null(s.data);
	unlink(file);
	assert_int_equal(secret_read(&src, &s, &why), -ENOENT);
	assert_non_null(strstr(why.s, file));
	strbuf_free(&why);
	assert_int_equal(secret_read(&(struct secret_source){ .key_file = dir }, &s, NULL) < 0, 1);
}

static bool warns(mode_t mode)
{
	cleanup_free char *file = xasprintf("%s/mode", dir), *err = xasprintf("%s/err", dir);
	struct secret_source src = { .key_file = file };
	cleanup_secret struct secret s = { 0 };
	int saved = dup(STDERR_FILENO), fd = open(err, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct stat st;

	put_file("mode", "x", 1, 0600);
	assert_int_equal(chmod(file, mode), 0);
	dup2(fd, STDERR_FILENO);
	assert_int_equal(secret_read(&src, &s, NULL), 0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	return st.st_size > 0;
}

static void test_warning(void **state)
{
	(void)state;
	assert_false(warns(0600));
	assert_false(warns(0400));
	assert_true(warns(0640));
	assert_true(warns(0604));
	assert_true(warns(0622));
}

/* --- terminal --------------------------------------------------------------------- */

static void on_interrupt(int sig)
{
	(void)sig;
}

/* In the child: reads, reports "RESULT r len text echo" on the terminal. */
static void tty_child(const struct secret_source *src)
{
	struct sigaction sa = { .sa_handler = on_interrupt };
	struct secret s = { 0 };
	struct termios t;
	int r;

	sigaction(SIGINT, &sa, NULL);
	r = secret_read(src, &s, NULL);
	tcgetattr(STDIN_FILENO, &t);
	printf("RESULT %d %zu [%.*s] echo=%d\n", r, s.len, (int)s.len, s.data ? s.data : "",
	       !!(t.c_lflag & ECHO));
	fflush(stdout);
	secret_free(&s);
	/* With the last user of the terminal goes what was not read yet: the parent ends this. */
	for (;;)
		pause();
}

struct script {
	const char *wait_for, *send;
};

static void wait_for(int fd, struct strbuf *seen, size_t from, const char *text)
{
	char buf[256];

	while (!seen->s || seen->len < from || !strstr(seen->s + from, text)) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n <= 0)
			fail_msg("waited for \"%s\", saw \"%s\"", text, seen->s ? seen->s : "");
		strbuf_add(seen, buf, (size_t)n);
	}
}

static void on_tty(const struct secret_source *src, const struct script *step, size_t n,
                   const char *want, const char *never)
{
	struct strbuf seen = { 0 };
	int fd, status;
	pid_t pid = forkpty(&fd, NULL, NULL, NULL);
	size_t from = 0;

	assert_true(pid >= 0);
	if (!pid)
		tty_child(src);
	alarm(120); /* a machine under load is slow, not wrong */
	for (size_t i = 0; i < n; i++) {
		wait_for(fd, &seen, from, step[i].wait_for);
		from = seen.len;
		assert_int_equal(write(fd, step[i].send, strlen(step[i].send)),
		                 (ssize_t)strlen(step[i].send));
	}
	wait_for(fd, &seen, from, "echo=");
	if (!strchr(strstr(seen.s, "echo="), '\n'))
		wait_for(fd, &seen, seen.len - 1, "\n");
	alarm(0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(fd);
	if (!strstr(seen.s, want))
		fail_msg("wanted \"%s\", saw \"%s\"", want, seen.s);
	*strstr(seen.s, "RESULT") = '\0';
	if (never && strstr(seen.s, never))
		fail_msg("the passphrase was echoed: \"%s\"", seen.s);
	strbuf_free(&seen);
}

static void test_tty(void **state)
{
	const struct secret_source once = { .prompt = "Pass: " };
	const struct secret_source dash = { .prompt = "Pass: ", .key_file = "-" };
	const struct secret_source twice = { .prompt = "Pass: ", .verify = true };
	const struct secret_source brief = { .prompt = "Pass: ", .timeout_s = 1 };
	const struct secret_source offset = { .prompt = "Pass: ", .offset = 1 };
	const struct script plain[] = { { "Pass: ", "sesame street\n" } };
	const struct script same[] = { { "Pass: ", "sesame\n" }, { "again: ", "sesame\n" } };
	const struct script differ[] = { { "Pass: ", "sesame\n" }, { "again: ", "simsim\n" } };
	const struct script nothing[] = { { "Pass: ", "\n" } };
	const struct script interrupt[] = { { "Pass: ", "ses\003" } };
	const struct script silence[] = { { "Pass: ", "" } };
	char longest[600];
	const struct script too_long[] = { { "Pass: ", longest } };

	(void)state;
	memset(longest, 'x', sizeof(longest));
	strcpy(longest + 513, "\n");
	on_tty(&once, plain, 1, "RESULT 0 13 [sesame street] echo=1", "sesame");
	on_tty(&dash, plain, 1, "RESULT 0 13 [sesame street] echo=1", "sesame");
	on_tty(&twice, same, 2, "RESULT 0 6 [sesame] echo=1", "sesame");
	on_tty(&twice, differ, 2, "RESULT -1 0 [] echo=1", "simsim");
	on_tty(&once, nothing, 1, "RESULT -1 0 [] echo=1", NULL);
	on_tty(&once, interrupt, 1, "RESULT -4 0 [] echo=1", NULL);
	on_tty(&brief, silence, 1, "RESULT -110 0 [] echo=1", NULL);
	on_tty(&offset, NULL, 0, "RESULT -22 0 [] echo=1", NULL);
	on_tty(&once, too_long, 1, "RESULT -27 0 [] echo=1", "xxx");
	strcpy(longest + 512, "\n");
	on_tty(&once, too_long, 1, "RESULT 0 512 [xxx", NULL);
}

static void test_protect(void **state)
{
	(void)state;
	secret_protect_process();
	assert_int_equal(prctl(PR_GET_DUMPABLE), 0);
	/* libcryptsetup gets its memory files by /proc/self/fd, which must go on working. */
	assert_int_equal(access("/proc/self/fd/0", F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule_exact_bytes),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_warning),
		cmocka_unit_test(test_tty),
		cmocka_unit_test(test_protect),
	};
	int r;

	snprintf(dir, sizeof(dir), "/tmp/hwluks-secret.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	return run("rm -f *") || rmdir(dir) ? 1 : r;
}
