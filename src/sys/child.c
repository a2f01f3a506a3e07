/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Runs work that may hang for ever in a child that is killed at a limit; the parent never waits
 * without one. Must not know what the work is.
 */
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_WAIT_MS 1000
#define POLL_STEP_MS 20 /* how often waitpid looks where pidfd_open is refused */

/* Closes everything above 2 but `keep`. */
static void close_others(int keep)
{
	if (keep > 3 && syscall(SYS_close_range, 3, keep - 1, 0) == 0 &&
	    syscall(SYS_close_range, keep + 1, ~0u, 0) == 0)
		return;
	if (keep == 3 && syscall(SYS_close_range, 4, ~0u, 0) == 0)
		return;
	for (long fd = 3, end = sysconf(_SC_OPEN_MAX); fd < end && fd < 65536; fd++)
		if (fd != keep)
			close((int)fd);
}

static void default_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn))
child_main(int (*fn)(void *, int), void *arg, int out, unsigned int flags, pid_t parent)
{
	int err;

	setpgid(0, 0);
	default_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(ECHILD);
	if (!(flags & CHILD_KEEP_FDS))
		close_others(out);
	err = fn(arg, out);
	_exit(err < 0 && err > -256 ? -err : err ? EIO : 0);
}

/* Takes what is in the pipe without waiting; false at its end. */
static bool drain(int fd, struct strbuf *out)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		if (out->len + (size_t)n <= CHILD_OUT_MAX)
			strbuf_add(out, buf, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Waits until the child is gone or the clock says `until`; true and *status when it was reaped. */
static bool wait_until(pid_t pid, int pidfd, int pipe, int64_t until, struct strbuf *out,
                       int *status)
{
	bool open = true;

	for (;;) {
		struct pollfd p[2] = { { .fd = pidfd, .events = POLLIN },
			               { .fd = open ? pipe : -1, .events = POLLIN } };
		int64_t left;
		pid_t got;

		open = open && drain(pipe, out);
		got = waitpid(pid, status, WNOHANG);
		if (got == pid) {
			if (open)
				drain(pipe, out);
			return true;
		}
		if (got < 0 && errno != EINTR)
			return false;
		left = until - clock_ms();
		if (left <= 0)
			return false;
		if (pidfd < 0 && left > POLL_STEP_MS)
			left = POLL_STEP_MS;
		p[1].fd = open ? pipe : -1;
		poll(p, 2, left > 60000 ? 60000 : (int)left);
	}
}

static int status_errno(int status, struct child_result *res)
{
	if (WIFSIGNALED(status)) {
		res->signal = WTERMSIG(status);
		return -ECHILD;
	}
	return -WEXITSTATUS(status);
}

static int watch(pid_t pid, int pipe, int timeout_ms, void (*before_kill)(void),
                 struct child_result *res)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int status = 0, err = -ETIMEDOUT;

	if (wait_until(pid, pidfd, pipe, clock_ms() + timeout_ms, &res->out, &status)) {
		err = status_errno(status, res);
	} else {
		if (before_kill)
			before_kill();
		/* the group, so that a helper program of the child goes too; then the child if it
		 * has no group yet */
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		if (!wait_until(pid, pidfd, pipe, clock_ms() + KILL_WAIT_MS, &res->out, &status))
			res->left_behind = pid;
	}
	if (pidfd >= 0)
		close(pidfd);
	return err;
}

int child_run(int (*fn)(void *arg, int out), void *arg, int timeout_ms, unsigned int flags,
              struct child_result *res)
{
	return child_run_guarded(fn, arg, timeout_ms, flags, NULL, res);
}

int child_run_guarded(int (*fn)(void *arg, int out), void *arg, int timeout_ms, unsigned int flags,
                      void (*before_kill)(void), struct child_result *res)
{
	struct child_result own = { 0 };
	pid_t pid, parent = getpid();
	int fds[2], err;

	if (!res)
		res = &own;
	*res = (struct child_result){ 0 };
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		child_main(fn, arg, fds[1], flags, parent);
	}
	err = pid < 0 ? -errno : 0;
	close(fds[1]);
	if (!err)
		err = watch(pid, fds[0], timeout_ms, before_kill, res);
	close(fds[0]);
	if (res == &own)
		strbuf_free(&own.out);
	return err;
}
