/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Tests of module states, deny lists and bounded loading, on scratch roots; no module is loaded.
 * Must not need root or modules of the running kernel.
 */
#include "sys_test.h"

static struct machine probe_modules(void)
{
	struct machine m = { 0 };
	struct sysroot sr;

	assert_int_equal(sysroot_open(&sr, scratch), 0);
	assert_int_equal(probe_machine(&sr, PROBE_MODULES, &m), 0);
	sysroot_close(&sr);
	return m;
}

static const struct module_fact *fact(const struct machine *m, const char *name)
{
	const struct module_fact *f = machine_module(m, name);

	if (!f)
		print_error("no fact of %s\n", name);
	assert_non_null(f);
	return f;
}

static void put_kernel(void)
{
	put("/proc/sys/kernel/osrelease", "6.1.0\n");
	put("/proc/modules",
	    "dm_crypt 61440 1 - Live 0x0000000000000000\nxts 16384 0 - Live 0x0\n");
	put("/lib/modules/6.1.0/modules.builtin",
	    "kernel/crypto/cbc.ko\nkernel/lib/crypto/libaes.ko\n");
	put("/lib/modules/6.1.0/modules.dep",
	    "kernel/drivers/crypto/geode-aes.ko.xz: kernel/crypto/x.ko\nkernel/drivers/crypto/padlock-aes.ko:\n"
	    "kernel/drivers/md/dm-crypt.ko: kernel/drivers/md/dm-mod.ko\nkernel/crypto/xts.ko:\n"
	    "kernel/drivers/char/hw_random/geode-rng.ko:\nkernel/drivers/crypto/qat/qat_c62x.ko:\n");
}

static void test_states(void **state)
{
	struct machine m;

	(void)state;
	put_kernel();
	m = probe_modules();
	assert_int_equal(fact(&m, "dm-crypt")->state, MODULE_LOADED);
	assert_int_equal(fact(&m, "xts")->state, MODULE_LOADED);
	assert_int_equal(fact(&m, "cbc")->state, MODULE_BUILTIN);
	assert_int_equal(fact(&m, "geode-aes")->state, MODULE_PRESENT);
	assert_int_equal(fact(&m, "geode_aes")->state, MODULE_PRESENT);
	assert_int_equal(fact(&m, "geode-rng")->state, MODULE_PRESENT);
	assert_int_equal(fact(&m, "crypto_user")->state, MODULE_MISSING);
	assert_false(fact(&m, "geode-aes")->denied);
	assert_int_equal(m.unread.n, 1); /* /proc/cmdline */
	machine_free(&m);
}

static void test_usr_lib(void **state)
{
	struct machine m;

	(void)state;
	put("/proc/version", "Linux version 6.9.7-arch1-1 (x@y)\n");
	put("/usr/lib/modules/6.9.7-arch1-1/modules.dep", "kernel/crypto/adiantum.ko.zst:\n");
	m = probe_modules();
	assert_int_equal(fact(&m, "adiantum")->state, MODULE_PRESENT);
	assert_int_equal(fact(&m, "cbc")->state, MODULE_MISSING);
	machine_free(&m);
}

static void test_no_lists(void **state)
{
	struct machine m;

	(void)state;
	put("/proc/sys/kernel/osrelease", "6.1.0\n");
	put("/proc/modules", "xts 16384 0 - Live 0x0\n");
	m = probe_modules();
	assert_int_equal(fact(&m, "xts")->state, MODULE_LOADED);
	assert_int_equal(fact(&m, "geode-aes")->state, MODULE_UNKNOWN);
	machine_free(&m);
}

/* One line of a deny list each: where it stands, what it says, what it does to geode-aes. */
static void test_deny_lists(void **state)
{
	static const struct {
		const char *path, *text;
		bool denied, hard;
		const char *by;
	} rows[] = {
		{ "/etc/modprobe.d/g.conf", "# x\nblacklist geode_aes\n", true, false,
		  "/etc/modprobe.d/g.conf:2: blacklist geode_aes" },
		{ "/etc/modprobe.d/g.conf", "\tblacklist\tgeode-aes", true, false,
		  "/etc/modprobe.d/g.conf:1: blacklist geode-aes" },
		{ "/run/modprobe.d/g.conf", "install geode_aes /bin/false\n", true, true,
		  "/run/modprobe.d/g.conf:1: install geode_aes /bin/false" },
		{ "/lib/modprobe.d/g.conf", "install geode-aes /bin/true", true, true,
		  "/lib/modprobe.d/g.conf:1: install geode-aes /bin/true" },
		{ "/usr/lib/modprobe.d/g.conf", "a\nb\ninstall \\\ngeode_aes \\\n /usr/bin/false\n",
		  true, true, "/usr/lib/modprobe.d/g.conf:3: install geode_aes /usr/bin/false" },
		{ "/usr/local/lib/modprobe.d/g.conf", "install geode_aes exit 1", true, true,
		  NULL },
		{ "/etc/modprobe.d/g.conf", "blacklist geode_aes\ninstall geode_aes /bin/false\n",
		  true, true, NULL },
		{ "/etc/modprobe.d/g.conf",
		  "install geode_aes /sbin/modprobe --ignore-install geode_aes", false, false,
		  NULL },
		{ "/etc/modprobe.d/g.conf",
		  "#blacklist geode_aes\nblacklist geode_aesx\nblacklistgeode_aes\nblacklist\ninstall\n",
		  false, false, NULL },
		{ "/etc/modprobe.d/g.conf.dpkg-old", "blacklist geode_aes", false, false, NULL },
		{ "/etc/modprobe.d/g.conf", "\\\n\\", false, false, NULL },
		{ "/proc/cmdline", "quiet modprobe.blacklist=foo,geode_aes", true, false,
		  "kernel command line: modprobe.blacklist=geode_aes" },
		{ "/proc/cmdline", "module_blacklist=geode_aes", true, true,
		  "kernel command line: module_blacklist=geode_aes" },
		{ "/proc/cmdline", "-- module_blacklist=geode_aes", false, false, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct module_fact *f;
		struct machine m;

		put_kernel();
		put(rows[i].path, rows[i].text);
		m = probe_modules();
		f = fact(&m, "geode-aes");
		if (f->denied != rows[i].denied || f->denied_hard != rows[i].hard)
			print_error("row %zu: %d %d %s\n", i, f->denied, f->denied_hard,
			            f->denied_by);
		assert_int_equal(f->denied, rows[i].denied);
		assert_int_equal(f->denied_hard, rows[i].hard);
		if (rows[i].by)
			assert_string_equal(f->denied_by, rows[i].by);
		assert_false(fact(&m, "padlock-aes")->denied);
		machine_free(&m);
		unlink(in_scratch(rows[i].path));
	}
}

/* /etc hides a file of the same name elsewhere, as kmod does it. */
static void test_deny_override(void **state)
{
	struct machine m;

	(void)state;
	put_kernel();
	put("/etc/modprobe.d/geode.conf", "# allowed here\n");
	put("/lib/modprobe.d/geode.conf", "blacklist geode_aes\n");
	put("/lib/modprobe.d/other.conf", "blacklist padlock_aes\n");
	m = probe_modules();
	assert_false(fact(&m, "geode-aes")->denied);
	assert_true(fact(&m, "padlock-aes")->denied);
	machine_free(&m);
}

/* A recording cannot make the reader wait or leave its directory. */
static void test_hostile_config(void **state)
{
	struct machine m;
	char *long_line = xasprintf("blacklist %5000s\nblacklist geode_aes\n", "x");

	(void)state;
	put_kernel();
	make_dir("/etc/modprobe.d");
	assert_int_equal(mkfifo(in_scratch("/etc/modprobe.d/fifo.conf"), 0600), 0);
	put_link("/etc/modprobe.d/link.conf", "/etc/passwd");
	put("/etc/modprobe.d/long.conf", long_line);
	m = probe_modules();
	assert_true(fact(&m, "geode-aes")->denied);
	assert_int_equal(m.unread.n,
	                 3); /* cmdline, the fifo, the link that leads nowhere in here */
	machine_free(&m);
	free(long_line);
}

static void test_load_absent(void **state)
{
	struct strbuf log = { 0 };
	int err = module_load("hwluks_no_such_module", 0, 10000, &log);

	(void)state;
	assert_int_equal(err, -ENOENT);
	assert_non_null(log.s);
	assert_non_null(strstr(log.s, "hwluks_no_such_module"));
	strbuf_free(&log);
}

static void test_wait_registered(void **state)
{
	static const char *const there[] = { "cbc-aes-geode", NULL }, *const both[] = {
		"cbc-aes-geode", "testing", NULL
	};
	static const char *const absent[] = { "cbc-aes-geode", "xts-none", NULL };
	const char *missing = "";
	struct sysroot sr;

	(void)state;
	put("/proc/crypto",
	    "name : cbc(aes)\ndriver : cbc-aes-geode\nselftest : passed\ntype : skcipher\n\n"
	    "name : xts(aes)\ndriver : testing\nselftest : unknown\ntype : larval\nflags : 0x0\n\n"
	    "name : xts(aes)\ndriver : testing\nselftest : unknown\ntype : skcipher\n\n");
	assert_int_equal(sysroot_open(&sr, scratch), 0);
	assert_int_equal(module_wait_registered(&sr, there, 1000, &missing), 0);
	assert_null(missing);
	assert_int_equal(module_wait_registered(&sr, both, 50, &missing), -ETIMEDOUT);
	assert_string_equal(missing, "testing");
	assert_int_equal(module_wait_registered(&sr, absent, 50, &missing), -ETIMEDOUT);
	assert_string_equal(missing, "xts-none");
	unlink(in_scratch("/proc/crypto"));
	assert_int_equal(module_wait_registered(&sr, there, 50, NULL), -ENOENT);
	sysroot_close(&sr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define SCRATCH(t) cmocka_unit_test_setup_teardown(t, scratch_make, scratch_remove)
		SCRATCH(test_states),        SCRATCH(test_usr_lib),
		SCRATCH(test_no_lists),      SCRATCH(test_deny_lists),
		SCRATCH(test_deny_override), SCRATCH(test_hostile_config),
		SCRATCH(test_load_absent),   SCRATCH(test_wait_registered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
