/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Trials, nodes, notes, stamps; and that verification, measuring and mappings say precisely why
 * they cannot work where there is no device-mapper. What needs one is in tests/vm.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "util/util.h"
#include "vol/mapping.h"
#include "vol/measure.h"
#include "vol/quarantine.h"
#include "vol/rundir.h"
#include "vol/serving.h"
#include "vol/trial.h"
#include "vol/verify.h"

static struct cipher_spec spec_of(const char *text, unsigned int bits)
{
	struct cipher_spec spec;
	struct spec_error err;

	assert_int_equal(spec_parse(text, &spec, &err), 0);
	spec.key_bits = bits;
	return spec;
}

/* --- trials ----------------------------------------------------------------------- */

static void nap(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static int child_ok(struct trial *t)
{
	/* slow, but not without progress */
	for (int i = 0; i < 8; i++, t->beat++)
		nap(100);
	strcpy(t->loop, "seen");
	return 0;
}

static int child_errno(struct trial *t)
{
	(void)t;
	return -ENOSPC;
}

static int child_stalls(struct trial *t)
{
	t->beat++;
	nap(60000);
	return 0;
}

static int child_never_ends(struct trial *t)
{
	for (int i = 0; i < 6000; i++, t->beat++)
		nap(10);
	return 0;
}

static int child_ignores_signals(struct trial *t)
{
	for (int sig = 1; sig < 32; sig++)
		signal(sig, SIG_IGN);
	return child_stalls(t);
}

static int child_crashes(struct trial *t)
{
	(void)t;
	raise(SIGKILL);
	return 0;
}

static int child_counts_fds(struct trial *t)
{
	(void)t;
	for (int fd = 3; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return -EBADF;
	return 0;
}

static void test_trial(void **state)
{
	static const struct {
		const char *what;
		int (*fn)(struct trial *);
		int err, signal;
		unsigned int least_ms, most_ms;
	} cases[] = {
		{ "progress keeps it alive", child_ok, 0, 0, 700, 3000 },
		{ "error comes back", child_errno, -ENOSPC, 0, 0, 500 },
		{ "no progress", child_stalls, -ETIMEDOUT, 0, 400, 1200 },
		{ "progress, but for ever", child_never_ends, -ETIMEDOUT, 0, 4000, 5200 },
		{ "signals ignored", child_ignores_signals, -ETIMEDOUT, 0, 400, 1200 },
		{ "killed by somebody else", child_crashes, -ECHILD, SIGKILL, 0, 500 },
		{ "no descriptor of the parent", child_counts_fds, 0, 0, 0, 500 },
	};
	const struct trial_limits limits = { .stall_ms = 400, .total_ms = 4000 };
	char left[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct trial *t = trial_alloc(sizeof(*t));
		struct trial_end end;

		print_message("# %s\n", cases[i].what);
		trial_run(cases[i].fn, t, &limits, &end, left, sizeof(left));
		assert_int_equal(end.err, cases[i].err);
		assert_int_equal(end.signal, cases[i].signal);
		assert_int_equal(end.left, 0);
		assert_true(end.ms >= cases[i].least_ms);
		assert_true(end.ms <= cases[i].most_ms);
		assert_string_equal(left, "");
		if (cases[i].fn == child_ok)
			assert_string_equal(t->loop, "seen");
		trial_free(t, sizeof(*t));
	}
}

/* --- nodes ------------------------------------------------------------------------ */

static void test_device_open(void **state)
{
	char file[] = "/tmp/hwluks-verify-XXXXXX";
	int fd = mkstemp(file);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	fd = device_open(S_IFCHR, makedev(1, 3), "/dev/null", O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	/* A plain file, or another device, under the name is never what is returned. */
	fd = device_open(S_IFBLK, makedev(259, 1048575), file, O_RDWR);
	assert_true(fd < 0);
	fd = device_open(S_IFCHR, makedev(1, 3), "/dev/zero", O_RDONLY);
	if (fd >= 0) {
		struct stat st;

		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_rdev, makedev(1, 3));
		close(fd);
	}
	unlink(file);
}

/* --- without device-mapper -------------------------------------------------------- */

static void test_unavailable(void **state)
{
	struct cipher_spec spec = spec_of("aes-cbc-plain64", 128),
			   none = spec_of("aes-cbc-plain64", 0);
	struct verify_request vr = { .spec = &spec }, bad = { .spec = &none };
	struct measure_request mr = { .spec = &spec, .run_ms = 10, .runs = 1 };
	struct measure_result meas;
	struct mapping_facts facts;
	struct mapping_list list;
	struct verify_result res;
	struct stat st;
	char why[200] = "";
	int err = mapping_available(why, sizeof(why));

	(void)state;
	verify_driver(&bad, &res);
	assert_int_equal(res.outcome, VERIFY_OPEN_FAILED);
	assert_non_null(strstr(res.text, "0 bits"));
	mr.request_size = 1000;
	assert_int_equal(measure_spec(&mr, &meas), -EINVAL);
	mr.request_size = 0;
	assert_int_equal(mapping_get("", &facts), -ENXIO);
	assert_int_equal(mapping_get("a/b", &facts), -ENXIO);
	if (!err) {
		print_message("# device-mapper is here: the rest is for hosts without\n");
		return;
	}
	print_message("# %s\n", why);
	assert_true(err == -ENODEV || err == -EACCES);
	assert_non_null(strstr(why, "device-mapper"));
	verify_driver(&vr, &res);
	print_message("# %s\n", res.text);
	assert_int_equal(res.outcome, VERIFY_UNAVAILABLE);
	assert_non_null(strstr(res.text, "device-mapper"));
	assert_string_equal(res.left_behind, "");
	assert_int_equal(res.operations, 0);
	assert_false(verify_outcome_bad(res.outcome));
	assert_int_equal(measure_spec(&mr, &meas), err);
	assert_non_null(strstr(meas.text, "device-mapper"));
	assert_int_equal(mapping_get("any", &facts), err);
	assert_int_equal(mapping_list(&list), err);
	assert_int_equal(list.n, 0);
	assert_int_not_equal(stat("/dev/mapper/hwluks-verify", &st), 0);
}

/* --- notes, stamps ---------------------------------------------------------------- */

static char dir[32];

static int enter_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hwluks-run-XXXXXX");
	if (!mkdtemp(dir) || rmdir(dir))
		return -1;
	rundir_use(dir);
	return 0;
}

static int leave_dir(void **state)
{
	char cmd[100];

	(void)state;
	rundir_use(NULL);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) ? -1 : 0;
}

static void test_rundir(void **state)
{
	char path[100], buf[16];
	struct stat st;

	(void)state;
	assert_int_equal(rundir_read("note", buf, sizeof(buf)), -ENOENT);
	rundir_remove("note");
	assert_int_equal(rundir_write("note", "one\n"), 0);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(rundir_write("note", "two\n"), 0);
	assert_int_equal(rundir_read("note", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "two\n");
	assert_int_equal(rundir_read("note", buf, 4), -EFBIG);
	snprintf(path, sizeof(path), "%s/note", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(rundir_write("a/b", "x"), 0);
	assert_int_equal(rundir_read("a_b", buf, sizeof(buf)), 0);
	assert_int_equal(rundir_write("", "x"), -ENAMETOOLONG);
	assert_int_equal(rundir_write("../x", "x"), -ENAMETOOLONG);
	/* writable by others: not believed */
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(rundir_read("note", buf, sizeof(buf)), -EPERM);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/hostname", path), 0);
	assert_int_equal(rundir_read("note", buf, sizeof(buf)), -ELOOP);
	rundir_remove("note");
	assert_int_equal(rundir_read("note", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(rundir_read("a_b", buf, sizeof(buf)), -EPERM);
	assert_int_equal(chmod(dir, 0700), 0);
}

static void test_stamps(void **state)
{
	struct cipher_spec cbc = spec_of("aes-cbc-plain64", 128),
			   xts = spec_of("aes-xts-plain64", 256);
	char text[160], *rest;

	(void)state;
	assert_int_equal(stamp_read("cbc-aes-x", "x", &cbc), STAMP_NONE);
	assert_int_equal(stamp_write("cbc-aes-x", "x", &cbc, STAMP_VERIFIED), 0);
	assert_int_equal(stamp_read("cbc-aes-x", "x", &cbc), STAMP_VERIFIED);
	assert_int_equal(stamp_read("cbc-aes-x", "x", &xts), STAMP_NONE);
	assert_int_equal(stamp_read("cbc-aes-x", "x", NULL), STAMP_NONE);
	cbc.key_bits = 256;
	assert_int_equal(stamp_read("cbc-aes-x", "x", &cbc), STAMP_NONE);
	cbc.key_bits = 128;
	/* made in another boot */
	assert_int_equal(
		rundir_read("verified-cbc-aes-x-aes-cbc-plain64-128-512", text, sizeof(text)), 0);
	rest = strdup(text + 1);
	assert_int_equal(rundir_write("verified-cbc-aes-x-aes-cbc-plain64-128-512", rest), 0);
	assert_int_equal(stamp_read("cbc-aes-x", "x", &cbc), STAMP_NONE);
	free(rest);
	assert_int_equal(stamp_write("cbc-aes-x", "x", &cbc, STAMP_VERIFIED), 0);
	assert_int_equal(stamp_write("cbc-aes-x", "x", &cbc, STAMP_QUARANTINED), 0);
	assert_int_equal(stamp_read("cbc-aes-x", "x", &cbc), STAMP_QUARANTINED);
	assert_int_equal(stamp_read("cbc-aes-x", "x", &xts), STAMP_QUARANTINED);
	assert_int_equal(stamp_read("cbc-aes-x", "x", NULL), STAMP_QUARANTINED);
	assert_int_equal(stamp_write("cbc-aes-x", "x", NULL, STAMP_VERIFIED), -EINVAL);
	assert_int_equal(stamp_write("cbc-aes-x", "x", &cbc, STAMP_NONE), -EINVAL);
}

static void test_quarantine_refuses(void **state)
{
	struct quarantine_result res;
	static const char *const plain[] = { "software-generic", "arm64-neonbs" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		assert_non_null(accel_by_id(plain[i]));
		assert_int_equal(quarantine_driver(accel_by_id(plain[i]), &res), -EPERM);
		assert_true(res.text[0]);
		assert_int_equal(res.lowered, 0);
	}
}

/* --- the rest --------------------------------------------------------------------- */

static void test_specs(void **state)
{
	const struct accel *geode = accel_by_module("geode_aes");
	struct cipher_spec spec[4];
	char buf[100];
	size_t n;

	(void)state;
	assert_non_null(geode);
	n = verify_specs(geode, KVER(6, 1), spec, ARRAY_SIZE(spec));
	assert_int_equal(n, 2);
	assert_string_equal(spec_text(&spec[0], buf, sizeof(buf)), "aes-cbc-plain64");
	assert_int_equal(spec[0].key_bits, 128);
	assert_string_equal(spec_text(&spec[1], buf, sizeof(buf)), "aes-ecb");
	assert_int_equal(verify_specs(geode, KVER(6, 1), spec, 1), 1);
}

static void test_rates(void **state)
{
	struct rate a = { 100, 95, 105, 3 }, b = { 108, 104, 110, 3 }, c = { 120, 118, 121, 3 },
		    none = { 0 };

	(void)state;
	assert_false(rates_differ(&a, &b));
	assert_true(rates_differ(&a, &c));
	assert_true(rates_differ(&c, &a));
	assert_false(rates_differ(&a, &none));
}

static void test_find_without_facts(void **state)
{
	struct mapping_facts facts = { .name = "x" };
	struct machine m = { 0 };
	struct binding b;

	(void)state;
	assert_int_equal(serving_find(&m, &facts, &b), 0);
	assert_int_equal(b.evidence, BINDING_UNKNOWN);
	assert_true(b.why[0]);
	assert_int_not_equal(serving_record("no-such-mapping", &m.algs, &m.algs, &b), 0);
	serving_forget("no-such-mapping");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trial),
		cmocka_unit_test(test_device_open),
		cmocka_unit_test(test_unavailable),
		cmocka_unit_test_setup_teardown(test_rundir, enter_dir, leave_dir),
		cmocka_unit_test_setup_teardown(test_stamps, enter_dir, leave_dir),
		cmocka_unit_test(test_quarantine_refuses),
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_rates),
		cmocka_unit_test_setup_teardown(test_find_without_facts, enter_dir, leave_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
