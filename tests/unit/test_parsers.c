/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Kernel configuration, kernel command line, /proc/cpuinfo: valid, odd, broken texts.
 * Tables only; knows nothing of accelerators.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/cmdline.h"
#include "core/cpuinfo.h"
#include "core/kconfig.h"
#include "util/util.h"

static int failures;

#define ROW_CHECK(row, cond, ...)                                    \
	do {                                                         \
		if (!(cond)) {                                       \
			failures++;                                  \
			print_error("row \"%s\": %s; ", row, #cond); \
			print_error(__VA_ARGS__);                    \
			print_error("\n");                           \
		}                                                    \
	} while (0)

/* --- kernel configuration ------------------------------------------------------------------- */

#define BANNER \
	"#\n# Automatically generated file; DO NOT EDIT.\n# Linux/i386 6.1.0 Kernel Configuration\n#\n"

static const struct {
	const char *text, *option;
	enum kconfig_value want;
} kconfigs[] = {
	{ BANNER "CONFIG_CRYPTO_DEV_GEODE=m\n", "CRYPTO_DEV_GEODE", KCONFIG_MODULE },
	{ BANNER "CONFIG_CRYPTO_DEV_GEODE=m\n", "CONFIG_CRYPTO_DEV_GEODE", KCONFIG_MODULE },
	{ BANNER "CONFIG_CRYPTO_DEV_GEODE=y\n", "CRYPTO_DEV_GEODE", KCONFIG_YES },
	{ BANNER "CONFIG_CRYPTO_DEV_GEODE=y", "CRYPTO_DEV_GEODE", KCONFIG_YES },
	{ BANNER "CONFIG_CRYPTO_DEV_GEODE=n\n", "CRYPTO_DEV_GEODE", KCONFIG_NO },
	{ BANNER "CONFIG_CRYPTO_DEV_GEODE=m\r\n", "CRYPTO_DEV_GEODE", KCONFIG_MODULE },
	{ BANNER "# CONFIG_CRYPTO_DEV_GEODE is not set\n", "CRYPTO_DEV_GEODE", KCONFIG_NO },
	{ BANNER "CONFIG_HZ=250\n", "HZ", KCONFIG_YES },
	{ BANNER "CONFIG_NR_CPUS=1\n", "NR_CPUS", KCONFIG_YES },
	{ BANNER "CONFIG_LOCALVERSION=\"\"\n", "LOCALVERSION", KCONFIG_YES },
	{ BANNER "CONFIG_LOCALVERSION=\"m\"\n", "LOCALVERSION", KCONFIG_YES },
	{ BANNER "CONFIG_A=m\n", "CRYPTO_DEV_GEODE", KCONFIG_NO },
	/* neighbours are others */
	{ BANNER "CONFIG_CRYPTO_DEV_GEODE_RNG=m\n", "CRYPTO_DEV_GEODE", KCONFIG_NO },
	{ BANNER "CONFIG_MY_CRYPTO_AES=m\n", "CRYPTO_AES", KCONFIG_NO },
	{ BANNER "MY_CONFIG_CRYPTO_AES=m\n", "CRYPTO_AES", KCONFIG_NO },
	{ BANNER "# see CONFIG_CRYPTO_AES=m\n", "CRYPTO_AES", KCONFIG_NO },
	{ BANNER "# CONFIG_CRYPTO_AES is not sure\n", "CRYPTO_AES", KCONFIG_NO },
	{ BANNER "CONFIG_CRYPTO_AES\n", "CRYPTO_AES", KCONFIG_NO },
	{ BANNER "CONFIG_CRYPTO_AES=\n", "CRYPTO_AES", KCONFIG_NO },
	{ BANNER "CONFIG_CRYPTO_AES_TI=y\nCONFIG_CRYPTO_AES=m\n", "CRYPTO_AES", KCONFIG_MODULE },
	/* the last one counts */
	{ BANNER "CONFIG_A=m\nCONFIG_A=y\n", "A", KCONFIG_YES },
	{ BANNER "CONFIG_A=m\n# CONFIG_A is not set\n", "A", KCONFIG_NO },
	/* fragments say what they say, and no more */
	{ "CONFIG_CRYPTO_AES=m\n", "CRYPTO_AES", KCONFIG_MODULE },
	{ "CONFIG_CRYPTO_AES=m\n", "CRYPTO_DES", KCONFIG_UNKNOWN },
	{ "# CONFIG_CRYPTO_AES is not set\n", "CRYPTO_AES", KCONFIG_NO },
	/* no configuration at all */
	{ "", "CRYPTO_AES", KCONFIG_UNKNOWN },
	{ "\x1f\x8b\x08\x01", "CRYPTO_AES", KCONFIG_UNKNOWN },
	{ "No such file", "CRYPTO_AES", KCONFIG_UNKNOWN },
	{ BANNER "CONFIG_A=m\n", "", KCONFIG_UNKNOWN },
	{ BANNER "CONFIG_A=m\n", "CONFIG_", KCONFIG_UNKNOWN },
	{ "A", "A", KCONFIG_UNKNOWN },
};

static void test_kconfig(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(kconfigs); i++) {
		const char *text = kconfigs[i].text;
		size_t len = strlen(text);
		char *copy = malloc(len + !len); /* not terminated */
		enum kconfig_value v;

		memcpy(copy, text, len);
		v = kconfig_get(copy, len, kconfigs[i].option);
		ROW_CHECK(text, v == kconfigs[i].want, "%s: %s", kconfigs[i].option,
		          kconfig_value_name(v));
		free(copy);
	}
	assert_int_equal(failures, 0);
	assert_int_equal(kconfig_get(NULL, 0, "A"), KCONFIG_UNKNOWN);
	assert_string_equal(kconfig_value_name(KCONFIG_MODULE), "m");
}

static void test_kconfig_without_banner(void **state)
{
	struct strbuf b = { 0 };

	(void)state;
	for (int i = 0; i < 99; i++)
		strbuf_printf(&b, "CONFIG_OPTION_%d=y\n\n", i);
	assert_int_equal(kconfig_get(b.s, b.len, "CRYPTO_AES"), KCONFIG_UNKNOWN);
	strbuf_printf(&b, "# CONFIG_OPTION_99 is not set\n");
	assert_int_equal(kconfig_get(b.s, b.len, "CRYPTO_AES"), KCONFIG_NO);
	assert_int_equal(kconfig_get(b.s, b.len, "OPTION_98"), KCONFIG_YES);
	strbuf_free(&b);
}

/* --- kernel command line: single parameters ------------------------------------------------- */

static const struct {
	const char *text, *name;
	int want;
	const char *value;
} parameters[] = {
	{ "root=/dev/sda1 ro quiet", "root", 0, "/dev/sda1" },
	{ "root=/dev/sda1 ro quiet", "ro", 0, "" },
	{ "root=/dev/sda1 ro quiet", "quiet", 0, "" },
	{ "root=/dev/sda1 ro quiet\n", "quiet", 0, "" },
	{ "root=/dev/sda1 ro quiet", "rw", -ENOENT, "" },
	{ "a=1 a=2", "a", 0, "2" },
	{ "a=1 a", "a", 0, "" },
	{ "  \t a=1  ", "a", 0, "1" },
	{ "a=b=c", "a", 0, "b=c" },
	{ "a=", "a", 0, "" },
	{ "hwluks=off", "hwluks", 0, "off" },
	{ "xhwluks=off hwluksx=off", "hwluks", -ENOENT, "" },
	/* '-' and '_' */
	{ "foo-bar=1", "foo_bar", 0, "1" },
	{ "foo_bar=1", "foo-bar", 0, "1" },
	{ "a=b-c_d", "a", 0, "b-c_d" },
	/* quotes */
	{ "a=\"b c\" d", "a", 0, "b c" },
	{ "a=\"b c\" d", "d", 0, "" },
	{ "\"a=b c\" d", "a", 0, "b c" },
	{ "a=\"b c", "a", 0, "b c" },
	{ "a=b\"c d\"e", "a", 0, "b\"c d\"e" },
	{ "\"a b\"=c", "a b\"", 0, "c" },
	{ "a=\"\"", "a", 0, "" },
	{ "a=\"", "a", 0, "" },
	{ "\"", "a", -ENOENT, "" },
	{ "\"\" a=1", "a", 0, "1" },
	{ "=x a=1", "a", 0, "1" },
	{ "=x=y", "=x", 0, "y" },
	/* what belongs to init */
	{ "a=1 -- a=2", "a", 0, "1" },
	{ "-- a=2", "a", -ENOENT, "" },
	{ "--a=2", "--a", 0, "2" },
	{ "", "a", -ENOENT, "" },
	{ NULL, "a", -ENOENT, "" },
	{ "a=0123456789", "a", 0, "0123456789" },
	{ "a=0123456789abcdef", "a", -ERANGE, "0123456789abcde" },
	{ "a=0123456789abcdef a=1", "a", 0, "1" },
};

static void test_parameters(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++) {
		const char *row = parameters[i].text ? parameters[i].text : "NULL";
		char buf[16];
		int r = cmdline_get(parameters[i].text, parameters[i].name, buf, sizeof(buf));

		ROW_CHECK(row, r == parameters[i].want, "%s: %d", parameters[i].name, r);
		ROW_CHECK(row, !strcmp(buf, parameters[i].value), "%s: '%s'", parameters[i].name,
		          buf);
	}
	assert_int_equal(failures, 0);
}

/* --- kernel command line: denied modules ---------------------------------------------------- */

static const struct {
	const char *text, *all, *module, *by; /* all: "module/option " …; by NULL: not denied */
	bool hard;
} denials[] = {
	{ "ro quiet", "", "geode_aes", NULL, false },
	{ NULL, "", "geode_aes", NULL, false },
	{ "modprobe.blacklist=geode_aes", "geode_aes/modprobe.blacklist ", "geode_aes",
	  "modprobe.blacklist", false },
	{ "modprobe.blacklist=geode-aes", "geode_aes/modprobe.blacklist ", "geode_aes",
	  "modprobe.blacklist", false },
	{ "modprobe.blacklist=geode_aes", "geode_aes/modprobe.blacklist ", "geode-aes",
	  "modprobe.blacklist", false },
	{ "modprobe.blacklist=a,b modprobe.blacklist=c",
	  "a/modprobe.blacklist b/modprobe.blacklist c/modprobe.blacklist ", "b",
	  "modprobe.blacklist", false },
	{ "module_blacklist=a,b", "a/module_blacklist b/module_blacklist ", "a", "module_blacklist",
	  true },
	{ "module-blacklist=a", "a/module_blacklist ", "a", "module_blacklist", true },
	{ "module_blacklist=a module_blacklist=b", "b/module_blacklist ", "a", NULL, false },
	{ "module_blacklist=a module_blacklist=", "", "a", NULL, false },
	{ "module_blacklist=a module_blacklist", "a/module_blacklist ", "a", "module_blacklist",
	  true },
	{ "rd.driver.blacklist=a rdblacklist=b", "a/rd.driver.blacklist b/rdblacklist ", "b",
	  "rdblacklist", false },
	{ "module_blacklist=a modprobe.blacklist=a", "a/module_blacklist a/modprobe.blacklist ",
	  "a", "module_blacklist", true },
	{ "rd.driver.blacklist=a modprobe.blacklist=a",
	  "a/rd.driver.blacklist a/modprobe.blacklist ", "a", "modprobe.blacklist", false },
	{ "modprobe.blacklist=,,a,", "a/modprobe.blacklist ", "a", "modprobe.blacklist", false },
	{ "modprobe.blacklist=\"a,b\"", "a/modprobe.blacklist b/modprobe.blacklist ", "b",
	  "modprobe.blacklist", false },
	{ "modprobe.blacklist", "", "a", NULL, false },
	{ "xmodule_blacklist=a blacklist=a", "", "a", NULL, false },
	{ "module_blacklist=abc", "abc/module_blacklist ", "ab", NULL, false },
	/* kmod and dracut read the whole line, the kernel stops at -- */
	{ "-- module_blacklist=a modprobe.blacklist=b", "b/modprobe.blacklist ", "a", NULL, false },
	{ "modprobe.blacklist=0123456789012345678901234567890123456789012345678901234567890123,a",
	  "a/modprobe.blacklist ", "a", "modprobe.blacklist", false },
};

static void test_denials(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(denials); i++) {
		const char *row = denials[i].text ? denials[i].text : "NULL";
		struct cmdline_deny_list l;
		const struct cmdline_deny *d;
		struct strbuf all = { 0 };

		cmdline_denied(denials[i].text, &l);
		for (size_t k = 0; k < l.n; k++)
			strbuf_printf(&all, "%s/%s ", l.v[k].module,
			              deny_option_name(l.v[k].option));
		ROW_CHECK(row, !strcmp(all.s ? all.s : "", denials[i].all), "'%s'",
		          all.s ? all.s : "");
		d = cmdline_deny_find(&l, denials[i].module);
		ROW_CHECK(row, !d == !denials[i].by, "%s", denials[i].module);
		if (d && denials[i].by) {
			ROW_CHECK(row, !strcmp(deny_option_name(d->option), denials[i].by), "%s",
			          deny_option_name(d->option));
			ROW_CHECK(row, deny_option_hard(d->option) == denials[i].hard, "%s",
			          deny_option_sentence(d->option));
		}
		strbuf_free(&all);
		cmdline_deny_list_free(&l);
	}
	assert_int_equal(failures, 0);
	cmdline_deny_list_free(NULL);
}

static const struct {
	const char *text;
	bool off;
} selftests[] = {
	{ NULL, false },
	{ "", false },
	{ "quiet", false },
	{ "cryptomgr.notests", true },
	{ "cryptomgr.notests=1", true },
	{ "cryptomgr.notests=y", true },
	{ "cryptomgr.notests=Y", true },
	{ "cryptomgr.notests=yes", true },
	{ "cryptomgr.notests=true", true },
	{ "cryptomgr.notests=on", true },
	{ "cryptomgr.notests=\"1\"", true },
	{ "\"cryptomgr.notests=1\"", true },
	{ "cryptomgr.notests=0", false },
	{ "cryptomgr.notests=N", false },
	{ "cryptomgr.notests=off", false },
	{ "cryptomgr.notests=false", false },
	{ "cryptomgr.notests=1 cryptomgr.notests=0", false },
	{ "cryptomgr.notests=0 cryptomgr.notests", true },
	{ "cryptomgr.notests=1 cryptomgr.notests=x", true }, /* the kernel refuses the second */
	{ "cryptomgr.notests=o", false },
	{ "cryptomgr.notests=", false },
	{ "-- cryptomgr.notests", false },
	{ "xcryptomgr.notests notests cryptomgr.notests2", false },
};

static void test_selftests(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(selftests); i++)
		ROW_CHECK(selftests[i].text ? selftests[i].text : "NULL",
		          cmdline_selftests_off(selftests[i].text) == selftests[i].off, "%s",
		          selftests[i].off ? "want off" : "want on");
	assert_int_equal(failures, 0);
}

/* --- /proc/cpuinfo -------------------------------------------------------------------------- */

static const struct {
	const char *what, *text;
	const char *vendor, *model, *flags; /* NULL: not stated */
	bool hypervisor;
	unsigned int processors;
} cpuinfos[] = {
	{ "ALIX 2C2, Geode LX800",
	  "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 5\nmodel\t\t: 10\n"
	  "model name\t: Geode(TM) Integrated Processor by AMD PCS\nstepping\t: 2\ncpu MHz\t\t: 498.049\n"
	  "fpu\t\t: yes\nflags\t\t: fpu de pse tsc msr cx8 sep pge cmov clflush mmx mmxext 3dnowext 3dnow up\n"
	  "bogomips\t: 997.37\nclflush size\t: 32\n\n",
	  "AuthenticAMD", "Geode(TM) Integrated Processor by AMD PCS",
	  "fpu de pse tsc msr cx8 sep pge cmov clflush mmx mmxext 3dnowext 3dnow up", false, 1 },
	{ "VIA Nehemiah",
	  "processor\t: 0\nvendor_id\t: CentaurHauls\nmodel name\t: VIA Nehemiah\n"
	  "flags\t\t: fpu vme de pse rng rng_en ace ace_en\n",
	  "CentaurHauls", "VIA Nehemiah", "fpu vme de pse rng rng_en ace ace_en", false, 1 },
	{ "two processors, one without aes",
	  "processor : 0\nflags : fpu aes sse2\n\nprocessor : 1\nflags : fpu sse2\n", NULL, NULL,
	  "fpu sse2", false, 2 },
	{ "the first has less", "processor : 0\nflags : fpu\n\nprocessor : 1\nflags : aes fpu\n",
	  NULL, NULL, "fpu", false, 2 },
	{ "three, equal lines between",
	  "processor : 0\nflags : a b c\n\nprocessor : 1\nflags : a b\n\nprocessor : 2\nflags : a b\n\n"
	  "processor : 3\nflags : a b c\n",
	  NULL, NULL, "a b", false, 4 },
	{ "nothing in common", "processor : 0\nflags : a\n\nprocessor : 1\nflags : b\n", NULL, NULL,
	  "", false, 2 },
	{ "a part of a word is no word",
	  "processor : 0\nflags : ace_en\n\nprocessor : 1\nflags : ace ace_en\n", NULL, NULL,
	  "ace_en", false, 2 },
	{ "virtual machine",
	  "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: QEMU Virtual CPU version 2.5+\n"
	  "flags\t\t: fpu nx lm hypervisor lahf_lm\n",
	  "AuthenticAMD", "QEMU Virtual CPU version 2.5+", "fpu nx lm hypervisor lahf_lm", true,
	  1 },
	{ "Raspberry Pi 4, 64 bits",
	  "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd evtstrm crc32 cpuid\n"
	  "CPU implementer\t: 0x41\nCPU part\t: 0xd08\nHardware\t: BCM2711\nModel\t\t: Raspberry Pi 4\n",
	  "0x41", NULL, "fp asimd evtstrm crc32 cpuid", false, 1 },
	{ "ARMv7",
	  "processor\t: 0\nmodel name\t: ARMv7 Processor rev 3 (v7l)\nFeatures\t: half thumb neon \n"
	  "CPU implementer\t: 0x41\n\nprocessor\t: 1\nmodel name\t: other\nFeatures\t: half neon \n",
	  "0x41", "ARMv7 Processor rev 3 (v7l)", "half neon", false, 2 },
	{ "Kirkwood, one unnumbered processor",
	  "Processor       : Feroceon 88FR131 rev 1 (v5l)\nBogoMIPS        : 794.62\n"
	  "Features        : swp half thumb fastmult edsp\nCPU implementer : 0x56\n\nHardware : Feroceon-KW\n",
	  "0x56", "Feroceon 88FR131 rev 1 (v5l)", "swp half thumb fastmult edsp", false, 1 },
	{ "old ARM, several processors",
	  "Processor : ARMv7 Processor rev 4 (v7l)\nprocessor : 0\nBogoMIPS : 1\n\nprocessor : 1\n\n"
	  "Features : swp half neon\nCPU implementer : 0x41\n",
	  "0x41", "ARMv7 Processor rev 4 (v7l)", "swp half neon", false, 2 },
	{ "MIPS",
	  "system type : MediaTek MT7621\nprocessor : 0\ncpu model : MIPS 1004Kc V2.15\nBogoMIPS : 1\n\n"
	  "processor : 1\ncpu model : MIPS 1004Kc V2.15\n",
	  NULL, "MIPS 1004Kc V2.15", NULL, false, 2 },
	{ "POWER9",
	  "processor : 0\ncpu : POWER9, altivec supported\nclock : 2100MHz\n\nmachine : PowerNV\n",
	  NULL, "POWER9, altivec supported", NULL, false, 1 },
	{ "s390",
	  "vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 3033.00\n"
	  "features\t: esan3 zarch stfle msa ldisp\n"
	  "processor 0: version = FF,  identification = 0133E8,  machine = 2964\n"
	  "processor 1: version = FF,  identification = 0133E8,  machine = 2964\n",
	  "IBM/S390", NULL, "esan3 zarch stfle msa ldisp", false, 2 },
	{ "RISC-V",
	  "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdcv_zicsr_zvkned\nmmu : sv39\nuarch : sifive,x\n\n"
	  "processor\t: 1\nisa\t\t: rv64imafdc_zicsr\n",
	  NULL, "sifive,x", "rv64 i m a f d c zicsr", false, 2 },
	{ "RISC-V with vector crypto", "processor : 0\nisa : rv64imafdcv_zvkned_zvkg\n", NULL, NULL,
	  "rv64 i m a f d c v zvkned zvkg", false, 1 },
	{ "SPARC T4",
	  "cpu\t\t: UltraSparc T4 (Niagara4)\nfpu : x\nncpus probed\t: 64\nncpus active\t: 48\n"
	  "cpucaps\t\t: flush,stbar,swap,aes,des\n",
	  NULL, "UltraSparc T4 (Niagara4)", "flush stbar swap aes des", false, 48 },
	{ "LoongArch",
	  "processor : 0\nModel Name : Loongson-3A5000\nFeatures : cpucfg lam lsx lasx\n", NULL,
	  "Loongson-3A5000", "cpucfg lam lsx lasx", false, 1 },
	{ "a fragment", "# part of the flags line only\nflags\t\t: aes rng ace\n", NULL, NULL,
	  "aes rng ace", false, 1 },
	{ "CRLF", "processor : 0\r\nflags : a b\r\n", NULL, NULL, "a b", false, 1 },
	{ "empty flags", "processor : 0\nflags :\n", NULL, NULL, "", false, 1 },
	{ "empty model", "processor : 0\nmodel name :\n", NULL, NULL, NULL, false, 1 },
	{ "nothing", "", NULL, NULL, NULL, false, 0 },
	{ "garbage", "hello: world\n:::\n\x01\x02\n", NULL, NULL, NULL, false, 0 },
	{ "bare key", "flags", NULL, NULL, NULL, false, 0 },
};

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void test_cpuinfo(void **state)
{
	(void)state;
	failures = 0;
	for (size_t i = 0; i < ARRAY_SIZE(cpuinfos); i++) {
		const char *row = cpuinfos[i].what;
		size_t len = strlen(cpuinfos[i].text);
		char *copy = malloc(len + !len); /* not terminated */
		struct cpuinfo c;

		memcpy(copy, cpuinfos[i].text, len);
		cpuinfo_parse(copy, len, &c);
		free(copy);
		ROW_CHECK(row, same(c.vendor, cpuinfos[i].vendor), "'%s'",
		          c.vendor ? c.vendor : "NULL");
		ROW_CHECK(row, same(c.model, cpuinfos[i].model), "'%s'",
		          c.model ? c.model : "NULL");
		ROW_CHECK(row, same(c.flags, cpuinfos[i].flags), "'%s'",
		          c.flags ? c.flags : "NULL");
		ROW_CHECK(row, c.hypervisor == cpuinfos[i].hypervisor, "%d", c.hypervisor);
		ROW_CHECK(row, c.processors == cpuinfos[i].processors, "%u", c.processors);
		cpuinfo_free(&c);
		assert_null(c.flags);
	}
	assert_int_equal(failures, 0);
	cpuinfo_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kconfig),    cmocka_unit_test(test_kconfig_without_banner),
		cmocka_unit_test(test_parameters), cmocka_unit_test(test_denials),
		cmocka_unit_test(test_selftests),  cmocka_unit_test(test_cpuinfo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
