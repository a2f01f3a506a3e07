/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Tests of sysroot, probe, NETLINK_CRYPTO messages and children, on scratch roots and hand-made
 * messages. Must not need root, hardware or modules.
 */
#include "sys_test.h"

#include <linux/cryptouser.h>
#include <linux/netlink.h>
#include <signal.h>
#include <time.h>

/* --- sysroot ---------------------------------------------------------------------- */

static struct sysroot root_here(bool no_openat2)
{
	struct sysroot sr;

	assert_int_equal(sysroot_open(&sr, scratch), 0);
	sr.no_openat2 = no_openat2;
	return sr;
}

static void check_read(struct sysroot *sr, const char *path, int want, const char *text)
{
	char *got = NULL;
	size_t len = 0;
	int err = sysroot_read(sr, path, &got, &len);

	if (err != want)
		print_error("%s: %d\n", path, err);
	assert_int_equal(err, want);
	if (text) {
		assert_string_equal(got, text);
		assert_int_equal(len, strlen(text));
	}
	free(got);
}

/* Everything a hostile or odd recording can put in the way of a read; `by_hand`: without openat2.
 */
static void hostile(bool by_hand)
{
	struct sysroot sr = root_here(by_hand);

	check_read(&sr, "/proc/crypto", 0, "inside\n");
	check_read(&sr, "/proc/up", -ENOENT, NULL);
	check_read(&sr, "/proc/abs", -ENOENT, NULL);
	check_read(&sr, "/proc/good", 0, "inside\n");
	check_read(&sr, "/proc/good-abs", 0, "inside\n");
	check_read(&sr, "/dirlink/crypto", 0, "inside\n");
	check_read(&sr, "/proc/../../../../proc/crypto", 0, "inside\n");
	check_read(&sr, "/proc/loop1", -ELOOP, NULL);
	check_read(&sr, "/proc/fifo", -EINVAL, NULL);
	check_read(&sr, "/proc", -EINVAL, NULL);
	check_read(&sr, "/proc/huge", -EFBIG, NULL);
	check_read(&sr, "/proc/none", -ENOENT, NULL);
	check_read(&sr, "/proc/crypto/x", -ENOTDIR, NULL);
	assert_true(sysroot_exists(&sr, "/proc/good"));
	assert_false(sysroot_exists(&sr, "/proc/up"));
	sysroot_close(&sr);
}

static void test_hostile_recording(void **state)
{
	char *outside = xasprintf("%s.outside", scratch);
	FILE *f = fopen(outside, "w");

	(void)state;
	assert_non_null(f);
	fputs("secret\n", f);
	fclose(f);
	put("/proc/crypto", "inside\n");
	put_link("/proc/abs", outside);
	put_link("/proc/up", "../../../../../../../../etc/hostname-of-somebody/../../etc/passwd");
	put_link("/proc/good", "./crypto");
	put_link("/proc/good-abs", "/proc/../proc/crypto");
	put_link("/dirlink", "proc");
	put_link("/proc/loop1", "loop2");
	put_link("/proc/loop2", "loop1");
	assert_int_equal(mkfifo(in_scratch("/proc/fifo"), 0600), 0);
	put("/proc/huge", "");
	assert_int_equal(truncate(in_scratch("/proc/huge"), 1 << 30), 0);
	hostile(false);
	hostile(true);
	unlink(outside);
	free(outside);
}

static void test_list_and_links(void **state)
{
	struct strv names = { 0 };
	const struct recording_entry *e;
	struct recording noted = { 0 };
	struct sysroot sr;
	char buf[64];

	(void)state;
	put("/sys/bus/pci/devices/a/vendor", "0x1022\nmore\n");
	put("/sys/bus/pci/devices/b/vendor", "0x8086\n");
	put_link("/sys/bus/pci/devices/a/driver", "../../drivers/Geode LX AES");
	put_link("/leave", "/");
	sr = root_here(false);
	sr.noted = &noted;
	assert_int_equal(sysroot_list(&sr, "/sys/bus/pci/devices", &names), 0);
	assert_int_equal(names.n, 2);
	assert_true(strv_has(&names, "a") && strv_has(&names, "b"));
	assert_int_equal(sysroot_list(&sr, "/sys/bus/none", &names), -ENOENT);
	assert_int_equal(sysroot_read_line(&sr, "/sys/bus/pci/devices/a/vendor", buf, sizeof(buf)),
	                 0);
	assert_string_equal(buf, "0x1022");
	assert_int_equal(sysroot_read_line(&sr, "/leave/sys/bus/pci/devices/a/vendor", buf, 4), 0);
	assert_string_equal(buf, "0x1");
	assert_int_equal(sysroot_readlink(&sr, "/sys/bus/pci/devices/a/driver", buf, sizeof(buf)),
	                 0);
	assert_string_equal(buf, "../../drivers/Geode LX AES");
	assert_int_equal(sysroot_readlink(&sr, "/sys/bus/pci/devices/a/vendor", buf, sizeof(buf)),
	                 -EINVAL);
	assert_int_equal(recording_find(&noted, "/sys/bus/pci/devices/a/vendor", false, &e), 0);
	assert_string_equal(e->data, "0x1022\nmore\n");
	assert_int_equal(recording_find(&noted, "/leave/sys/bus/pci/devices/b", true, &e), 0);
	assert_int_equal(recording_find(&noted, "/sys/bus/pci/devices/a/driver", false, &e), 0);
	assert_string_equal(e->data, "../../drivers/Geode LX AES");
	assert_int_equal(recording_find(&noted, "/sys/bus/none", true, &e), -ENOENT);
	strv_free(&names);
	recording_free(&noted);
	sysroot_close(&sr);
	assert_int_equal(sysroot_open(&sr, "/nonexistent/root"), -ENOENT);
	sysroot_close(&sr);
}

static void test_gzip(void **state)
{
	struct sysroot sr;
	char *cmd = xasprintf("echo CONFIG_CRYPTO=y | gzip -c > %s/proc/config.gz", scratch);

	(void)state;
	make_dir("/proc");
	assert_int_equal(system(cmd), 0);
	free(cmd);
	put_bytes("/proc/broken.gz", "\x1f\x8b\x08\x00garbage-garbage", 19);
	sr = root_here(false);
	check_read(&sr, "/proc/config.gz", 0, "CONFIG_CRYPTO=y\n");
	check_read(&sr, "/proc/broken.gz", -EIO, NULL);
	sysroot_close(&sr);
}

/* --- probe: recorded machines ----------------------------------------------------- */

static void probe_here(unsigned int what, struct machine *m)
{
	struct sysroot sr = root_here(false);

	*m = (struct machine){ 0 };
	assert_int_equal(probe_machine(&sr, what, m), 0);
	sysroot_close(&sr);
}

static bool named_unread(const struct machine *m, const char *what)
{
	for (size_t i = 0; i < m->unread.n; i++)
		if (str_starts(m->unread.v[i], what))
			return true;
	return false;
}

static const struct device_fact *device(const struct machine *m, enum match_how how, const char *id)
{
	const struct accel_match match = { how, id };

	return machine_device(m, &match);
}

static void test_geode(void **state)
{
	const struct device_fact *d;
	struct machine m;

	(void)state;
	put("/proc/sys/kernel/osrelease", "6.1.0-50-686\n");
	put("/proc/cpuinfo",
	    "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: Geode(TM)\nflags\t\t: fpu de pse tsc\n\n");
	put("/proc/crypto",
	    "name         : cbc(aes)\ndriver       : cbc-aes-geode\nmodule       : geode_aes\n"
	    "priority     : 400\nrefcnt       : 1\nselftest     : passed\ninternal     : no\n"
	    "type         : skcipher\nasync        : no\nblocksize    : 16\nmin keysize  : 16\n"
	    "max keysize  : 32\nivsize       : 16\nchunksize    : 16\nwalksize     : 16\n\n");
	put("/proc/cmdline", "root=/dev/sda1 cryptomgr.notests\n");
	put("/proc/meminfo",
	    "MemTotal:         255324 kB\nMemFree: 1 kB\nMemAvailable:     200000 kB\n");
	put("/hwluks/crypto-flags", "# driver flags\ncbc-aes-geode 0x10485\nnone 0x1\nbroken\n");
	put("/sys/bus/pci/devices/0000:00:01.2/vendor", "0x1022\n");
	put("/sys/bus/pci/devices/0000:00:01.2/device", "0x2082\n");
	put_link("/sys/bus/pci/devices/0000:00:01.2/driver", "../../drivers/Geode LX AES");
	put("/sys/bus/pci/devices/0000:00:01.1/vendor", "0x1022\n");
	put("/sys/bus/pci/devices/0000:00:01.1/device", "0x2081\n");
	put("/sys/bus/pci/devices/0000:00:0d.0/vendor", "0x1425\n");
	put("/sys/bus/pci/devices/0000:00:0d.0/device", "0xabcd\n");
	put("/sys/class/misc/hw_random/rng_available", "geode \n");
	put("/sys/class/misc/hw_random/rng_current", "geode\n");
	put("/sys/class/misc/hw_random/rng_quality", "0\n");
	probe_here(PROBE_ALL, &m);
	assert_true(m.recorded);
	assert_string_equal(m.release, "6.1.0-50-686");
	assert_int_equal(m.kernel, KVER(6, 1));
	assert_int_equal(m.arch, ARCH_X86_32);
	assert_int_equal(m.cpus, 1);
	assert_int_equal(m.n_dev, 2);
	d = device(&m, MATCH_PCI, "1022:2082");
	assert_non_null(d);
	assert_string_equal(d->where, "0000:00:01.2");
	assert_string_equal(d->driver, "Geode LX AES");
	assert_non_null(device(&m, MATCH_PCI, "1425:*"));
	assert_true(m.algs_known && m.flags_known && m.selftests_off);
	assert_int_equal(m.algs.n, 1);
	assert_true(m.algs.v[0].flags_known);
	assert_int_equal(m.algs.v[0].flags, 0x10485);
	assert_int_equal(m.mem_total, 255324 * 1024);
	assert_int_equal(m.mem_available, 200000 * 1024);
	assert_true(m.rng.known);
	assert_string_equal(m.rng.current, "geode");
	assert_int_equal(m.rng.quality, 0);
	assert_true(named_unread(&m, "kernel configuration"));
	assert_false(named_unread(&m, "/proc/"));
	machine_free(&m);
}

static void put_dt(const char *node, const char *compatible, size_t len, const char *status)
{
	char path[256];

	snprintf(path, sizeof(path), "/proc/device-tree/%s/compatible", node);
	put_bytes(path, compatible, len);
	snprintf(path, sizeof(path), "/proc/device-tree/%s/status", node);
	if (status)
		put_bytes(path, status, strlen(status) + 1);
}

static void test_device_tree(void **state)
{
	static const char two[] = "acme,new-crypto\0fsl,imx28-dcp";
	const struct device_fact *d;
	struct machine m;

	(void)state;
	put("/proc/version", "Linux version 6.12.1 (b@h) (gcc) #1 SMP\n");
	put("/proc/cpuinfo",
	    "processor\t: 0\nFeatures\t: half thumb fastmult vfp edsp neon\nCPU implementer\t: 0x41\n"
	    "CPU architecture: 7\n\n");
	put_dt("soc/bus@1/dcp@2280000", two, sizeof(two), NULL);
	put_dt("soc/crypto@30000", "marvell,armada-38x-crypto", 26, "disabled");
	put_dt("soc/crypto@40000", "arm,cryptocell-712-ree", 23, "okay");
	put_dt("soc/uart@1", "ns16550a", 9, "okay");
	put_link("/proc/device-tree/soc/loop", "..");
	assert_int_equal(mkfifo(in_scratch("/proc/device-tree/soc/uart@1/clocks"), 0600), 0);
	make_dir("/proc/device-tree/odd/compatible");
	probe_here(PROBE_CPU | PROBE_DEVICES, &m);
	assert_string_equal(m.release, "6.12.1");
	assert_int_equal(m.arch, ARCH_ARM);
	assert_int_equal(m.n_dev, 2);
	d = device(&m, MATCH_DT, "fsl,imx28-dcp");
	assert_non_null(d);
	assert_string_equal(d->where, "/soc/bus@1/dcp@2280000");
	assert_null(device(&m, MATCH_DT, "marvell,armada-38x-crypto"));
	assert_non_null(device(&m, MATCH_DT, "arm,cryptocell-712-ree"));
	machine_free(&m);
}

static void test_device_tree_in_sysfs(void **state)
{
	struct machine m;

	(void)state;
	put_bytes("/sys/firmware/devicetree/base/crypto/compatible", "fsl,imx23-dcp", 14);
	put_link("/proc/device-tree", "/sys/firmware/devicetree/base");
	probe_here(PROBE_DEVICES, &m);
	assert_non_null(device(&m, MATCH_DT, "fsl,imx23-dcp"));
	machine_free(&m);
	unlink(in_scratch("/proc/device-tree"));
	probe_here(PROBE_DEVICES, &m);
	assert_non_null(device(&m, MATCH_DT, "fsl,imx23-dcp"));
	machine_free(&m);
}

static void test_other_buses(void **state)
{
	struct machine m;

	(void)state;
	put("/proc/cpuinfo",
	    "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3000.0MHz\nrevision\t: 2.2\n");
	put("/sys/bus/virtio/devices/virtio0/device", "0x0014\n");
	put("/sys/bus/virtio/devices/virtio1/device", "0x0002\n");
	put_link("/sys/bus/virtio/devices/virtio0/driver", "../../drivers/virtio_crypto");
	put("/sys/bus/vio/devices/4000/modalias",
	    "vio:Tibm,sym-encryption-v1Sibm,sym-encryption\n");
	put("/sys/bus/acpi/devices/HISI02C1:00/status", "15\n");
	put("/sys/bus/acpi/devices/PNP0C0C:00/status", "15\n");
	put("/sys/bus/platform/devices/mv_crypto.0/modalias", "platform:mv_crypto\n");
	make_dir("/sys/bus/fsl-mc/devices/dpseci.0");
	make_dir("/sys/block/sda/queue/crypto");
	make_dir("/sys/block/sdb/queue");
	probe_here(PROBE_CPU | PROBE_DEVICES, &m);
	assert_int_equal(m.arch, ARCH_PPC64);
	assert_true(word_in(m.cpu.flags, "vec_crypto"));
	assert_false(word_in(m.cpu.flags, "arch_3_1"));
	assert_non_null(device(&m, MATCH_VIRTIO, "20"));
	assert_string_equal(device(&m, MATCH_VIRTIO, "20")->driver, "virtio_crypto");
	assert_non_null(device(&m, MATCH_VIO, "ibm,sym-encryption-v1"));
	assert_non_null(device(&m, MATCH_ACPI, "HISI02C1"));
	assert_non_null(device(&m, MATCH_PLATFORM, "mv_crypto"));
	assert_non_null(device(&m, MATCH_FSLMC, "dpseci"));
	assert_string_equal(device(&m, MATCH_INLINE, "")->where, "/dev/sda");
	assert_int_equal(m.n_dev, 6);
	put("/sys/bus/acpi/devices/HISI02C1:00/status", "0\n");
	machine_free(&m);
	probe_here(PROBE_DEVICES, &m);
	assert_null(device(&m, MATCH_ACPI, "HISI02C1"));
	machine_free(&m);
}

static void test_arch(void **state)
{
	static const struct {
		const char *release, *file, *cpuinfo;
		enum arch arch;
	} rows[] = {
		{ "6.1.0-50-amd64", NULL, "flags\t: fpu lm\n", ARCH_X86_64 },
		{ "6.1.0-50-686", NULL, "flags\t: fpu lm\n", ARCH_X86_32 },
		{ "6.6.0", NULL, "flags\t: fpu lm\n", ARCH_X86_64 },
		{ "6.6.0", "i686\n", "flags\t: fpu lm\n", ARCH_X86_32 },
		{ "6.6.0", NULL, "Features\t: fp asimd aes\nCPU implementer\t: 0x41\n",
		  ARCH_ARM64 },
		{ "6.6.0", NULL, "Features\t: half thumb neon aes\nCPU implementer\t: 0x41\n",
		  ARCH_ARM },
		{ "6.6.0", NULL, "isa\t\t: rv64imafdc_zvkned\n", ARCH_RISCV },
		{ "6.6.0", NULL, "system type\t: MediaTek MT7621\ncpu model\t: MIPS 1004Kc V2.15\n",
		  ARCH_MIPS },
		{ "6.6.0", NULL, "vendor_id       : IBM/S390\n", ARCH_S390 },
		{ "6.6.0", NULL, "cpu\t\t: UltraSparc T4\ncpucaps\t\t: flush,stbar,aes\n",
		  ARCH_SPARC },
		{ "6.6.0", NULL, "cpu\t\t: e500v2\nclock\t\t: 1066MHz\nrevision\t: 3.0\n",
		  ARCH_PPC32 },
		{ "6.6.0", "loongarch64\n", "", ARCH_OTHER },
		{ "6.6.0", NULL, "nothing\n", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct machine m;

		put("/proc/sys/kernel/osrelease", rows[i].release);
		put("/proc/cpuinfo", rows[i].cpuinfo);
		unlink(in_scratch("/hwluks/arch"));
		if (rows[i].file)
			put("/hwluks/arch", rows[i].file);
		probe_here(PROBE_CPU, &m);
		if (m.arch != rows[i].arch)
			print_error("row %zu: %#x\n", i, m.arch);
		assert_int_equal(m.arch, rows[i].arch);
		machine_free(&m);
	}
}

static void test_selftest_switch(void **state)
{
	struct machine m;

	(void)state;
	put("/proc/sys/kernel/osrelease", "6.1.0");
	put("/proc/cmdline", "quiet");
	put("/boot/config-6.1.0",
	    "# Linux/x86 6.1.0 Kernel Configuration\nCONFIG_CRYPTO_MANAGER_DISABLE_TESTS=y\n");
	probe_here(PROBE_KCONFIG, &m);
	assert_true(m.selftests_off);
	machine_free(&m);
	probe_here(PROBE_CPU, &m);
	assert_false(m.selftests_off);
	machine_free(&m);
	put("/proc/sys/kernel/osrelease", "6.16.0");
	put("/lib/modules/6.16.0/config",
	    "# Linux/x86 6.16.0 Kernel Configuration\n# CONFIG_CRYPTO_SELFTESTS is not set\n");
	probe_here(PROBE_KCONFIG, &m);
	assert_true(m.selftests_off);
	machine_free(&m);
	put("/lib/modules/6.16.0/config",
	    "# Linux/x86 6.16.0 Kernel Configuration\nCONFIG_CRYPTO_SELFTESTS=y\n");
	put("/sys/module/cryptomgr/parameters/notests", "Y\n");
	probe_here(PROBE_KCONFIG, &m);
	assert_true(m.selftests_off);
	machine_free(&m);
}

static void test_empty_recording(void **state)
{
	struct machine m;

	(void)state;
	make_dir("/proc/crypto"); /* a directory in place of a file */
	probe_here(PROBE_ALL, &m);
	assert_int_equal(m.kernel, 0);
	assert_int_equal(m.arch, 0);
	assert_false(m.algs_known || m.flags_known || m.rng.known);
	assert_true(named_unread(&m, "/proc/crypto: Invalid argument"));
	assert_true(named_unread(&m, "/proc/cpuinfo"));
	assert_true(named_unread(&m, "/proc/meminfo"));
	assert_int_equal(machine_module(&m, "geode-aes")->state, MODULE_UNKNOWN);
	machine_free(&m);
}

static void test_gateways(void **state)
{
	struct machine m;
	bool padlock = false, legacy = false;

	(void)state;
	put("/usr/lib/x86_64-linux-gnu/engines-3/padlock.so", "");
	put("/usr/lib/x86_64-linux-gnu/ossl-modules/legacy.so", "");
	put("/proc/modules", "algif_skcipher 16384 0 - Live 0x0\n");
	probe_here(PROBE_GATEWAYS, &m);
	for (size_t i = 0; i < m.n_gw; i++) {
		padlock |= !strcmp(m.gw[i].name, "engine padlock");
		legacy |= !strcmp(m.gw[i].name, "provider legacy");
	}
	assert_true(padlock && legacy);
	assert_string_equal(m.gw[0].state, "loaded");
	assert_string_equal(m.gw[1].state, "absent");
	machine_free(&m);
}

static void test_this_machine(void **state)
{
	struct sysroot sr;
	struct machine m = { 0 };

	(void)state;
	assert_int_equal(sysroot_open(&sr, NULL), 0);
	assert_int_equal(probe_machine(&sr, PROBE_ALL, &m), 0);
	assert_false(m.recorded);
	assert_true(m.kernel >= KVER(3, 0) && m.arch && m.cpus && m.mem_total);
	assert_int_equal(probe_again(&sr, PROBE_FOR_OPEN, &m), 0);
	machine_free(&m);
	sysroot_close(&sr);
}

/* --- NETLINK_CRYPTO messages ------------------------------------------------------ */

/* Appends one report; name fields are filled to the brim when `name` is as long as they are. */
static size_t report(char *buf, size_t at, const char *name, const char *driver, uint32_t flags,
                     uint32_t priority)
{
	struct nlmsghdr h = { .nlmsg_type = CRYPTO_MSG_GETALG };
	struct nlattr attr = { .nla_len = NLA_HDRLEN + 4, .nla_type = CRYPTOCFGA_PRIORITY_VAL };
	struct crypto_user_alg a = { .cru_refcnt = 7, .cru_flags = flags };

	memcpy(a.cru_name, name, strnlen(name, sizeof(a.cru_name)));
	memcpy(a.cru_driver_name, driver, strnlen(driver, sizeof(a.cru_driver_name)));
	h.nlmsg_len = NLMSG_LENGTH(sizeof(a) + NLA_HDRLEN + 4);
	memcpy(buf + at, &h, sizeof(h));
	at += NLMSG_HDRLEN;
	memcpy(buf + at, &a, sizeof(a));
	at += sizeof(a);
	memcpy(buf + at, &attr, sizeof(attr));
	memcpy(buf + at + NLA_HDRLEN, &priority, 4);
	return at + NLA_HDRLEN + 4;
}

static size_t control(char *buf, size_t at, uint16_t type, int32_t error)
{
	struct nlmsghdr h = { .nlmsg_type = type, .nlmsg_len = NLMSG_LENGTH(sizeof(error)) };

	memcpy(buf + at, &h, sizeof(h));
	memcpy(buf + at + NLMSG_HDRLEN, &error, sizeof(error));
	return at + NLMSG_LENGTH(sizeof(error));
}

static struct alg_list three_algs(void)
{
	static struct alg v[3];

	memset(v, 0, sizeof(v));
	strcpy(v[0].name, "cbc(aes)");
	strcpy(v[0].driver, "cbc-aes-geode");
	strcpy(v[1].name, "xts(aes)");
	memset(v[1].driver, 'x', 100); /* longer than a netlink name field */
	strcpy(v[2].name, "cbc(aes)");
	strcpy(v[2].driver, "cbc-aes-geode");
	return (struct alg_list){ .v = v, .n = 3 };
}

static void test_netlink_merge(void **state)
{
	struct alg_list l = three_algs();
	char buf[4096], longname[80];
	size_t n, cursor = 0;

	(void)state;
	memset(longname, 'x', sizeof(longname));
	longname[63] = '\0';
	n = report(buf, 0, "cbc(aes)", "cbc-aes-geode", 0x11, 400);
	n = report(buf, n, "xts(aes)", longname, 0x22, 5);
	n = report(buf, n, "sha256", "sha256-generic", 0x33, 100);
	n = report(buf, n, "cbc(aes)", "cbc-aes-geode", 0x44, 0);
	assert_int_equal(crypto_user_merge(buf, n, &l, &cursor), 0);
	assert_int_equal(l.v[0].flags, 0x11);
	assert_int_equal(l.v[0].priority, 400);
	assert_int_equal(l.v[0].refcnt, 7);
	assert_int_equal(l.v[1].flags, 0x22);
	assert_int_equal(l.v[2].flags, 0x44);
	assert_true(l.v[0].flags_known && l.v[1].flags_known && l.v[2].flags_known);
	n = control(buf, 0, NLMSG_DONE, 0);
	assert_int_equal(crypto_user_merge(buf, n, &l, &cursor), 1);
	n = control(buf, 0, NLMSG_ERROR, -EPERM);
	assert_int_equal(crypto_user_merge(buf, n, &l, &cursor), -EPERM);
	n = control(buf, 0, NLMSG_ERROR, 0);
	assert_int_equal(crypto_user_merge(buf, n, &l, &cursor), 0);
	n = control(buf, 0, NLMSG_ERROR, 1);
	assert_int_equal(crypto_user_merge(buf, n, &l, &cursor), -EBADMSG);
}

/* Every cut, and every byte set to 0 and 255, of a good datagram: no crash, no endless loop; the
 * sanitizers watch. */
static void test_netlink_hostile(void **state)
{
	struct alg_list l = three_algs();
	char good[2048];
	size_t n = report(good, 0, "cbc(aes)", "cbc-aes-geode", 1, 2);

	(void)state;
	n = report(good, n, "xts(aes)", "xts", 1, 2);
	for (size_t i = 0; i < n; i++) {
		char *cut = xreallocarray(NULL, i ? i : 1, 1); /* exact size: an overrun is seen */
		size_t cursor = 0;

		memcpy(cut, good, i);
		crypto_user_merge(cut, i, &l, &cursor);
		free(cut);
		for (int value = 0; value < 256; value += 255) {
			char *bad = xreallocarray(NULL, n, 1);

			memcpy(bad, good, n);
			bad[i] = (char)value;
			cursor = 0;
			crypto_user_merge(bad, n, &l, &cursor);
			free(bad);
		}
	}
	assert_int_equal(crypto_user_merge(good, 3, &l, &(size_t){ 0 }), -EBADMSG);
	assert_int_equal(crypto_user_set_priority("", 1), -EINVAL);
}

/* --- children --------------------------------------------------------------------- */

static int say_hello(void *arg, int out)
{
	return write(out, arg, strlen(arg)) < 0 ? -EIO : -EDOM;
}

/* Ignores SIGTERM and starts a helper that does too; tells the helper's pid. */
static int sleep_for_ever(void *arg, int out)
{
	pid_t helper;

	(void)arg;
	signal(SIGTERM, SIG_IGN);
	helper = fork();
	if (helper && write(out, &helper, sizeof(helper)) < 0)
		return -EIO;
	for (;;)
		pause();
}

/* Gone, or dead and waiting for whoever inherited it. */
static bool is_dead(pid_t pid)
{
	char path[32], line[256];
	struct sysroot sr;
	bool dead;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	assert_int_equal(sysroot_open(&sr, NULL), 0);
	dead = sysroot_read_line(&sr, path, line, sizeof(line)) || strstr(line, ") Z ");
	sysroot_close(&sr);
	return dead;
}

static int crash(void *arg, int out)
{
	(void)arg, (void)out;
	signal(SIGSEGV, SIG_DFL);
	return raise(SIGSEGV);
}

static int write_much(void *arg, int out)
{
	static char block[65536];

	(void)arg;
	for (int i = 0; i < 64; i++)
		if (write(out, block, sizeof(block)) != sizeof(block))
			return -EIO;
	return 0;
}

static int count_fds(void *arg, int out)
{
	int *fd = arg;

	(void)out;
	return fcntl(*fd, F_GETFD) < 0 ? 0 : -EEXIST;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_child_result(void **state)
{
	struct child_result res;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(child_run(say_hello, (void *)"hello", 5000, 0, &res), -EDOM);
	assert_string_equal(res.out.s, "hello");
	assert_int_equal(res.left_behind, 0);
	strbuf_free(&res.out);
	assert_int_equal(child_run(crash, NULL, 5000, 0, &res), -ECHILD);
	assert_int_equal(res.signal, SIGSEGV);
	assert_int_equal(child_run(write_much, NULL, 20000, 0, &res), 0);
	assert_int_equal(res.out.len, CHILD_OUT_MAX);
	strbuf_free(&res.out);
	assert_int_equal(child_run(count_fds, &fd, 5000, 0, NULL), 0);
	assert_int_equal(child_run(count_fds, &fd, 5000, CHILD_KEEP_FDS, NULL), -EEXIST);
	close(fd);
}

static void test_child_killed(void **state)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	struct child_result res;
	double start = seconds();
	pid_t helper;

	(void)state;
	assert_int_equal(child_run(sleep_for_ever, NULL, 200, 0, &res), -ETIMEDOUT);
	assert_int_equal(res.left_behind, 0);
	assert_true(seconds() - start >= 0.2);
	assert_true(seconds() - start < 5);
	assert_int_equal(res.out.len, sizeof(helper));
	memcpy(&helper, res.out.s, sizeof(helper));
	for (int i = 0; i < 200 && !is_dead(helper); i++)
		nanosleep(&step, NULL);
	assert_true(is_dead(helper));
	strbuf_free(&res.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define SCRATCH(t) cmocka_unit_test_setup_teardown(t, scratch_make, scratch_remove)
		SCRATCH(test_hostile_recording),
		SCRATCH(test_list_and_links),
		SCRATCH(test_gzip),
		SCRATCH(test_geode),
		SCRATCH(test_device_tree),
		SCRATCH(test_device_tree_in_sysfs),
		SCRATCH(test_other_buses),
		SCRATCH(test_arch),
		SCRATCH(test_selftest_switch),
		SCRATCH(test_empty_recording),
		SCRATCH(test_gateways),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_netlink_merge),
		cmocka_unit_test(test_netlink_hostile),
		cmocka_unit_test(test_child_result),
		cmocka_unit_test(test_child_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
