/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Work on a throw-away mapping in a child that may hang: started, watched for progress, killed,
 * swept up after. Shared by verify.c and measure.c; must not know what the work proves.
 *
 * child_run() has one limit for everything. A slow machine must not look like a hung engine, so
 * here the child counts its requests in shared memory, and no progress is what ends it early.
 */
#include "vol/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/binding.h"
#include "sys/sys.h"

#define KILL_WAIT_MS    1000
#define SWEEP_LIMIT_MS  1800
#define LOOK_MS         50 /* how often progress is looked at */
#define LOOP_TRIES      16
#define MODULE_LIMIT_MS 5000
#define FORGET_LIMIT_MS 2000
#define FORGET_TRIES    10
#define FORGET_STEP_MS  50
#define LOOP_CONTROL    makedev(10, 237) /* Documentation/admin-guide/devices.txt */

void *trial_alloc(size_t size)
{
	void *t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED) {
		log_error("out of memory");
		exit(3);
	}
	return t;
}

void trial_free(void *t, size_t size)
{
	munmap(t, size);
}

/* --- the child and its watch
 * ------------------------------------------------------------------------------------ */

static void __attribute__((noreturn))
child_main(int (*fn)(struct trial *), struct trial *t, pid_t parent)
{
	sigset_t none;
	int err;

	setpgid(0, 0);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(ECHILD);
	if (syscall(SYS_close_range, 3, ~0u, 0))
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	err = fn(t);
	_exit(err < 0 && err > -256 ? -err : err ? EIO : 0);
}

/* True when the child is gone; waits for that at most ms. */
static bool gone_within(pid_t pid, int pidfd, int ms, int *status)
{
	const struct timespec step = { .tv_nsec = (ms < 20 ? ms : 20) * 1000000L };
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	if (waitpid(pid, status, WNOHANG) == pid)
		return true;
	if (pidfd >= 0)
		poll(&p, 1, ms);
	else
		nanosleep(&step, NULL);
	return waitpid(pid, status, WNOHANG) == pid;
}

/* Waits for the child's end, or for a limit. */
static bool watch(pid_t pid, int pidfd, const struct trial *t, const struct trial_limits *limits,
                  int *status)
{
	int64_t start = clock_ms(), last = start, now;
	uint32_t beat = t->beat;

	while (!gone_within(pid, pidfd, LOOK_MS, status)) {
		now = clock_ms();
		if (t->beat != beat) {
			beat = t->beat;
			last = now;
		}
		if (now - start >= limits->total_ms || now - last >= limits->stall_ms)
			return false;
	}
	return true;
}

static bool kill_child(pid_t pid, int pidfd)
{
	int64_t until = clock_ms() + KILL_WAIT_MS;
	int status;

	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (clock_ms() < until)
		if (gone_within(pid, pidfd, LOOK_MS, &status))
			return true;
	return false;
}

static void run_child(int (*fn)(struct trial *), struct trial *t, const struct trial_limits *limits,
                      struct trial_end *end)
{
	pid_t parent = getpid(), pid = fork();
	int pidfd, status = 0;

	if (pid == 0)
		child_main(fn, t, parent);
	if (pid < 0) {
		end->err = -errno;
		return;
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (!watch(pid, pidfd, t, limits, &status)) {
		end->err = -ETIMEDOUT;
		end->left = kill_child(pid, pidfd) ? 0 : pid;
	} else if (WIFSIGNALED(status)) {
		end->err = -ECHILD;
		end->signal = WTERMSIG(status);
	} else {
		end->err = -WEXITSTATUS(status);
	}
	if (pidfd >= 0)
		close(pidfd);
}

/* In a child: the mapping's removal can wait for the engine as everything else can. */
static int sweep(void *arg, int out)
{
	const struct trial *t = arg;

	(void)out;
	return mapping_remove(&t->mapping);
}

static void name_left(const struct trial *t, const struct trial_end *end, bool mapping, char *buf,
                      size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	if (end->left)
		n = (size_t)snprintf(buf, size, "process %d", (int)end->left);
	if (mapping && n < size)
		n += (size_t)snprintf(buf + n, size - n, "%smapping %s", n ? ", " : "",
		                      t->mapping.name);
	if ((mapping || end->left) && t->loop[0] && n < size)
		snprintf(buf + n, size - n, "%s%s", n ? ", " : "", t->loop);
}

/* --- what a trial made the kernel build
 * -------------------------------------------------------------------------- */

static size_t count_of(const struct alg_list *l, const char *driver)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += !strcmp(l->v[i].driver, driver);
	return n;
}

/* Deletes what can be deleted now. Returns the number of new instances that are still in use. */
static unsigned int forget_once(const struct alg_list *before, bool *progress)
{
	unsigned int busy = 0;
	struct alg_list now;

	*progress = false;
	if (trial_algs(&now))
		return 0;
	for (size_t i = 0; i < now.n; i++) {
		const struct alg *k = &now.v[i];
		int err;

		/* one that failed its test is evidence against its driver */
		if (!strchr(k->driver, '(') || k->selftest == SELFTEST_UNKNOWN ||
		    count_of(&now, k->driver) <= count_of(before, k->driver))
			continue;
		err = crypto_user_delete(k->driver);
		busy += err == -EBUSY;
		*progress |= !err;
	}
	alg_list_free(&now);
	return busy;
}

/* An instance inside another is free once that one is gone; the mapping's end may be under way still. */
static int forget(void *arg, int out)
{
	const struct timespec step = { .tv_nsec = FORGET_STEP_MS * 1000000L };
	bool progress = true;

	(void)out;
	for (int i = 0; i < FORGET_TRIES && (forget_once(arg, &progress) || progress); i++)
		if (!progress)
			nanosleep(&step, NULL);
	return 0;
}

/*
 * Removes the template instances that are listed now, were not in `before`, passed their test and are not in use. A forced
 * driver's instance would otherwise stay and outrank what the kernel chooses by itself. Bounded in time; without crypto_user they
 * stay.
 */
static void forget_instances(const struct alg_list *before)
{
	struct alg_list b = *before;

	if (child_run(forget, &b, FORGET_LIMIT_MS, 0, NULL))
		log_debug("the instances that the trial left in the kernel could not be removed");
}

/* --- the whole of a trial
 * -------------------------------------------------------------------------------------------- */

void trial_run(int (*fn)(struct trial *t), struct trial *t, const struct trial_limits *limits,
               struct trial_end *end, char *left_behind, size_t size)
{
	bool mapping = false, known;
	struct alg_list before;
	int64_t start;

	memset(end, 0, sizeof(*end));
	known = !trial_algs(&before);
	start = clock_ms();
	run_child(fn, t, limits, end);
	end->ms = (unsigned int)(clock_ms() - start);
	/* What the child kept open goes with it; here only what a death between create and open
	 * left. */
	if (t->mapping.name[0])
		mapping = child_run(sweep, t, SWEEP_LIMIT_MS, 0, NULL) != 0;
	name_left(t, end, mapping, left_behind, size);
	/* What is left behind still uses them. A table that the kernel refused may have built some as well. */
	if (known && !*left_behind)
		forget_instances(&before);
	alg_list_free(&before);
}

/* --- for the child
 * -------------------------------------------------------------------------------------------------
 */

int trial_need_dm(char *why, size_t size)
{
	int err = mapping_available(why, size);

	if (err == -ENODEV && !module_load("dm_mod", 0, MODULE_LIMIT_MS, NULL))
		err = mapping_available(why, size);
	return err;
}

int trial_create(struct trial *t, const struct mapping_request *rq, char *why, size_t size)
{
	/* Straight into shared memory: the name must be known when the table load never returns. */
	int err = mapping_create(rq, &t->mapping, why, size);

	t->beat++;
	return err;
}

int trial_open(struct trial *t, int oflags)
{
	int fd = mapping_open(&t->mapping, oflags | O_DIRECT);

	/* Failing is no harm: the parent sweeps, too. */
	if (fd >= 0)
		mapping_remove_with_last_user(&t->mapping);
	t->beat++;
	return fd;
}

int trial_algs(struct alg_list *out)
{
	struct sysroot sr;
	char *text = NULL;
	size_t len;
	int err = sysroot_open(&sr, NULL);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	err = sysroot_read(&sr, "/proc/crypto", &text, &len);
	if (!err)
		proc_crypto_parse(text, len, out);
	free(text);
	sysroot_close(&sr);
	return err;
}

void trial_driver(const struct alg_list *before, const struct cipher_spec *spec, const char *cipher,
                  char *driver, size_t size)
{
	struct cipher_spec forced;
	struct alg_list after;
	struct spec_error err;
	struct binding b;

	driver[0] = '\0';
	if (cipher && spec_parse(cipher, &forced, &err))
		return;
	if (trial_algs(&after))
		return;
	binding_from_rise(before, &after, cipher ? &forced : spec, &b);
	str_copy(driver, size, b.driver);
	alg_list_free(&after);
}

/* --- a loop device over memory
 * ------------------------------------------------------------------------------------ */

static int loop_control(void)
{
	int fd = device_open(S_IFCHR, LOOP_CONTROL, "/dev/loop-control", O_RDWR);

	if (fd >= 0 || fd == -EACCES || fd == -EPERM)
		return fd;
	if (module_load("loop", 0, MODULE_LIMIT_MS, NULL))
		return fd;
	return device_open(S_IFCHR, LOOP_CONTROL, "/dev/loop-control", O_RDWR);
}

/* LOOP_CONFIGURE is in 5.8 and later; before it takes two steps. */
static int loop_attach(int loop, int memory)
{
	struct loop_config cfg = { .fd = (uint32_t)memory,
		                   .block_size = 512,
		                   .info.lo_flags = LO_FLAGS_AUTOCLEAR };

	str_copy((char *)cfg.info.lo_file_name, sizeof(cfg.info.lo_file_name), "hwluks-verify");
	if (!ioctl(loop, LOOP_CONFIGURE, &cfg))
		return 0;
	if (errno != EINVAL && errno != ENOTTY)
		return -errno;
	if (ioctl(loop, LOOP_SET_FD, memory))
		return -errno;
	if (!ioctl(loop, LOOP_SET_STATUS64, &cfg.info))
		return 0;
	ioctl(loop, LOOP_CLR_FD, 0);
	return -errno;
}

/* From sysfs: with loop.max_part the minor number is not the index. */
static int loop_number(int index, dev_t *dev)
{
	unsigned int ma, mi;
	char path[64];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "/sys/block/loop%d/dev", index);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fscanf(f, "%u:%u", &ma, &mi);
	fclose(f);
	if (n != 2)
		return -EIO;
	*dev = makedev(ma, mi);
	return 0;
}

static int loop_take_free(int control, int memory, char *node, size_t size, dev_t *dev)
{
	int err = -EBUSY;

	/* Another process may take the free one first. */
	for (int i = 0; err == -EBUSY && i < LOOP_TRIES; i++) {
		int n = ioctl(control, LOOP_CTL_GET_FREE), loop;

		if (n < 0)
			return -errno;
		snprintf(node, size, "/dev/loop%d", n);
		err = loop_number(n, dev);
		loop = err ? err : device_open(S_IFBLK, *dev, node, O_RDWR);
		if (loop < 0)
			return loop;
		err = loop_attach(loop, memory);
		if (!err)
			return loop;
		close(loop);
	}
	return err;
}

int trial_loop(struct trial *t, uint64_t bytes, int *memory, int *loop, dev_t *dev, char *why,
               size_t size)
{
	char node[32] = "";
	int control;

	*loop = -1;
	*memory = memfd_create("hwluks-verify", MFD_CLOEXEC);
	/* Reserved now: a full memory later would look like a write error of the engine. */
	if (*memory < 0 || fallocate(*memory, 0, 0, (off_t)bytes)) {
		int err = -errno;

		snprintf(why, size, "%llu bytes of memory for the test device: %s",
		         (unsigned long long)bytes, strerror(-err));
		return err;
	}
	control = loop_control();
	if (control < 0) {
		snprintf(why, size, "no loop devices (/dev/loop-control): %s", strerror(-control));
		return control;
	}
	*loop = loop_take_free(control, *memory, node, sizeof(node), dev);
	close(control);
	if (*loop < 0) {
		snprintf(why, size, "no loop device%s%s: %s", *node ? " " : "", node,
		         strerror(-*loop));
		return *loop;
	}
	str_copy(t->loop, sizeof(t->loop), node);
	t->beat++;
	return 0;
}
