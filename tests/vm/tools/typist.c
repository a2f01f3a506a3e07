/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * For guests: runs a command on a terminal of its own, 80 by 24, and types answers as a person
 * would. Must not know: what the command is, or what its output means.
 *
 *   typist [PROMPT ANSWER]... -- COMMAND [ARGUMENT]...
 *
 * What appears on that terminal goes to stdout as it comes. When the last, unfinished line holds
 * the next PROMPT, its ANSWER is typed. The exit code is the command's, 128 + N where signal N ended
 * it, or 99 when a prompt never came.
 */
#include <errno.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define COLUMNS      80
#define LINES        24
#define LINE_MAX_LEN 512
#define THINK_MS     1000 /* before an answer, so that a person can read the question */
#define KEY_MS       60

static void wait_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void put(int fd, const char *s, size_t n)
{
	while (n) {
		ssize_t done = write(fd, s, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			exit(98);
		s += done;
		n -= (size_t)done;
	}
}

static void type_in(int fd, const char *s)
{
	wait_ms(THINK_MS);
	for (; *s; s++) {
		put(fd, s, 1);
		wait_ms(KEY_MS);
	}
	put(fd, "\n", 1);
}

/* The last line, as far as it has come. */
static void keep_line(char *line, size_t *len, const char *s, ssize_t n)
{
	for (; n > 0; s++, n--) {
		if (*s == '\n')
			*len = 0;
		else if (*len < LINE_MAX_LEN - 1)
			line[(*len)++] = *s;
	}
	line[*len] = '\0';
}

static pid_t start(char **command, int *fd)
{
	struct winsize size = { .ws_row = LINES, .ws_col = COLUMNS };
	struct termios mode;
	pid_t pid = forkpty(fd, NULL, NULL, &size);

	if (pid)
		return pid;
	/* newlines as they are: what shows them has a terminal of its own */
	if (!tcgetattr(0, &mode)) {
		mode.c_oflag &= ~(tcflag_t)ONLCR;
		tcsetattr(0, TCSANOW, &mode);
	}
	execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	int i = 1, end = 1, fd, status = 0;
	char line[LINE_MAX_LEN], buf[4096];
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	while (end < argc && strcmp(argv[end], "--"))
		end++;
	if (end + 1 >= argc || (end - 1) % 2) {
		fprintf(stderr, "typist: usage: typist [PROMPT ANSWER]... -- COMMAND...\n");
		return 98;
	}
	pid = start(argv + end + 1, &fd);
	if (pid < 0) {
		perror("typist");
		return 98;
	}
	/* EIO: nobody has the terminal open any more */
	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		put(STDOUT_FILENO, buf, (size_t)n);
		keep_line(line, &len, buf, n);
		if (i < end && strstr(line, argv[i])) {
			len = 0;
			type_in(fd, argv[i + 1]);
			i += 2;
		}
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (i < end) {
		fprintf(stderr, "typist: never asked: %s\n", argv[i]);
		return 99;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
