/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What `load` would do on which machine: a table of (machine, request) → items with their reasons.
 * A priority is not a speed, deny lists are honoured, and asking by name overrides.
 */
#include "machine_builder.h"

#define GEODE_CPU "fpu de pse tsc msr cx8 cmov mmx 3dnow"
#define A53 "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"
#define A72 "fp asimd evtstrm crc32 cpuid"
#define A7 "half thumb fastmult vfp edsp neon vfpv4"
#define SKYLAKE "fpu lm aes pclmulqdq avx avx2"
#define PADLOCK "fpu lm rng rng_en ace ace_en phe phe_en"

enum { ALL_OF_THEM = 1, FORCE = 2 };

static const struct row {
	const char *what;
	struct mdesc m;
	const char *names;
	unsigned int flags;
	/* "load:geode-aes:load", "load:geode-rng:load:rng", "prepare:xts(ecb-aes-geode)", "skip:ID:CODE", "there:ID:CODE", in order */
	const char *want;
} rows[] = {
	/* Geode */
	{ "geode", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" }, NULL, 0, "load:geode-aes:load load:geode-rng:load:rng" },
	{ "geode, loaded", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" }, NULL, 0, "there:geode-lx:loaded" },
	{ "geode, rng left out", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx", .mods = "geode-rng=present" }, NULL, 0,
	  "there:geode-lx:loaded load:geode-rng:load:rng" },
	{ "geode, denied", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=denied" }, NULL, 0,
	  "skip:geode-lx:denied" },
	{ "geode, denied, by name", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=denied" }, "geode-aes", 0,
	  "skip:geode-lx:denied" },
	{ "geode, denied hard", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=hard" }, NULL, 0,
	  "skip:geode-lx:denied" },
	{ "geode, denied hard, forced", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=hard" }, NULL, FORCE,
	  "load:geode-aes:load load:geode-rng:load:rng" },
	{ "geode, denied by the kernel, forced", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=kernel" }, NULL,
	  FORCE, "skip:geode-lx:denied" },
	{ "geode, rng denied", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-rng=denied" }, NULL, 0,
	  "load:geode-aes:load skip:geode-lx:denied:rng" },
	{ "geode, rng denied, forced", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-rng=denied" }, NULL, FORCE,
	  "load:geode-aes:load load:geode-rng:load:rng" },
	{ "geode, no module", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=missing" }, NULL, 0,
	  "skip:geode-lx:no-module" },
	{ "geode, no option", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=missing", .kconfig = "CONFIG_PCI=y\n" },
	  NULL, 0, "skip:geode-lx:no-option" },
	{ "geode, module in, nothing registered", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=loaded" }, NULL,
	  0, "skip:geode-lx:not-loaded" },
	{ "geode, self-test failed", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx", "cbc(aes)|cbc-aes-geode|400|!" },
	  NULL, 0, "skip:geode-lx:selftest-failed" },
	{ "geode, quarantined", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
	  "aes|geode-aes|0|c\necb(aes)|ecb-aes-geode|0\ncbc(aes)|cbc-aes-geode|0" }, NULL, 0, "skip:geode-lx:quarantined" },
	{ "geode, tests off", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx", .flags = TESTS_OFF }, NULL, 0,
	  "there:geode-lx:loaded" },
	{ "geode 5.4", { "", ARCH_X86_32, KVER(5, 4), GEODE_CPU, "geode-lx" }, NULL, 0, "load:geode-aes:load load:geode-rng:load:rng" },
	{ "geode, by id", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" }, "geode-lx", 0,
	  "load:geode-aes:asked load:geode-rng:load:rng" },
	{ "geode, by driver", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" }, "cbc-aes-geode", 0,
	  "load:geode-aes:asked load:geode-rng:load:rng" },
	{ "geode, by module, other dash", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" }, "geode_aes", 0,
	  "load:geode-aes:asked load:geode-rng:load:rng" },
	{ "geode, only its rng", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" }, "geode_rng", 0, "load:geode-rng:load:rng" },
	{ "asked for, not here", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, .mods = "geode-aes=present" }, "geode-aes", 0,
	  "load:geode-aes:not-recognised" },
	{ "asked for, unknown name", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" }, "nosuch", 0, "unknown:nosuch" },
	/* templates */
	{ "geode 7.3", { "", ARCH_X86_32, KVER(7, 3), GEODE_CPU, "geode-lx" }, NULL, 0,
	  "load:geode-aes:load load:geode-rng:load:rng prepare:xts(ecb-aes-geode):prepare" },
	{ "geode 7.3, loaded", { "", ARCH_X86_32, KVER(7, 3), GEODE_CPU, "geode-lx", "geode-lx" }, NULL, 0,
	  "there:geode-lx:loaded prepare:xts(ecb-aes-geode):prepare" },
	{ "geode 7.3, prepared", { "", ARCH_X86_32, KVER(7, 3), GEODE_CPU, "geode-lx", "geode-lx", "xts(aes)|xts(ecb-aes-geode)|400" }, NULL,
	  0, "there:geode-lx:loaded" },
	{ "geode 7.2 needs none", { "", ARCH_X86_32, KVER(7, 2), GEODE_CPU, "geode-lx", "geode-lx" }, NULL, 0, "there:geode-lx:loaded" },
	{ "geode 7.3, failed", { "", ARCH_X86_32, KVER(7, 3), GEODE_CPU, "geode-lx", "geode-lx", "cbc(aes)|cbc-aes-geode|400|!" }, NULL, 0,
	  "skip:geode-lx:selftest-failed" },
	{ "geode 6.1, a software xts in the way", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
	  "xts(aes)|xts(ecb(aes-generic))|100\necb(aes)|ecb(aes-generic)|100" }, NULL, 0,
	  "there:geode-lx:loaded prepare:xts(ecb-aes-geode):prepare" },
	{ "geode 6.1, the software xts goes by itself", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", NULL,
	  "xts(aes)|xts(ecb(aes-generic))|100\necb(aes)|ecb(aes-generic)|100" }, NULL, 0, "load:geode-aes:load load:geode-rng:load:rng" },
	{ "padlock 7.3", { "", ARCH_X86_64, KVER(7, 3), PADLOCK, NULL, "via-padlock-ace", .mods = "padlock-sha=missing" }, NULL, 0,
	  "there:via-padlock-ace:loaded skip:via-padlock-phe:no-cipher prepare:xts(ecb-aes-padlock):prepare" },
	{ "padlock 7.3 beside AES-NI", { "", ARCH_X86_64, KVER(7, 3), "fpu lm aes ace ace_en", NULL, "x86-aesni" }, NULL, 0,
	  "skip:via-padlock-ace:outranks-cpu there:x86-aesni:loaded" },
	{ "sun8i-ce H3 beside NEON", { "", ARCH_ARM, KVER(6, 1), A7, "allwinner-sun8i-ce", "arm-neonbs" }, NULL, 0,
	  "load:sun8i-ce:load prepare:xts(ecb-aes-sun8i-ce):prepare" },
	/* PadLock */
	{ "padlock", { "", ARCH_X86_64, KVER(6, 1), PADLOCK }, NULL, 0,
	  "load:padlock-aes:load load:via-rng:load:rng skip:via-padlock-phe:no-cipher" },
	{ "padlock without its rng", { "", ARCH_X86_64, KVER(6, 1), "fpu lm ace ace_en" }, NULL, 0, "load:padlock-aes:load" },
	{ "padlock, hash engine by name", { "", ARCH_X86_64, KVER(6, 1), PADLOCK }, "padlock-sha", 0,
	  "load:padlock-sha:asked load:via-rng:load:rng" },
	{ "zhaoxin", { "", ARCH_X86_64, KVER(6, 1), "fpu lm aes rng rng_en ace ace_en" }, NULL, 0,
	  "skip:via-padlock-ace:outranks-cpu load:aesni-intel:load" },
	{ "zhaoxin, padlock by name", { "", ARCH_X86_64, KVER(6, 1), "fpu lm aes ace ace_en", NULL, "x86-aesni" }, "padlock-aes", 0,
	  "load:padlock-aes:asked" },
	{ "zhaoxin, all", { "", ARCH_X86_64, KVER(6, 1), "fpu lm aes ace ace_en", NULL, "x86-aesni" }, NULL, ALL_OF_THEM,
	  "load:padlock-aes:load there:x86-aesni:loaded" },
	{ "zhaoxin without an AES-NI driver", { "", ARCH_X86_64, KVER(6, 1), "fpu lm aes ace ace_en", .mods = "aesni-intel=missing" }, NULL,
	  0, "load:padlock-aes:load skip:x86-aesni:no-module" },
	/* PC */
	{ "AES-NI, AVX and VAES are one module", { "", ARCH_X86_64, KVER(7, 2), SKYLAKE " vaes vpclmulqdq" }, NULL, 0,
	  "load:aesni-intel:load" },
	{ "AES-NI by module name", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE }, "aesni_intel", 0, "load:aesni-intel:asked" },
	{ "AES-NI, denied", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, .mods = "aesni-intel=denied" }, NULL, 0, "skip:x86-aesni:denied" },
	{ "no AES", { "", ARCH_X86_64, KVER(6, 1), "fpu lm" }, NULL, 0, "" },
	/* the memory flag */
	{ "qat", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, "intel-qat", "x86-aesni" }, NULL, 0,
	  "there:x86-aesni:loaded skip:intel-qat:memory-flag" },
	{ "qat, all is not enough", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, "intel-qat", "x86-aesni" }, NULL, ALL_OF_THEM,
	  "there:x86-aesni:loaded skip:intel-qat:memory-flag" },
	{ "qat by module", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, "intel-qat", "x86-aesni", .mods =
	  "qat_dh895xcc=missing qat_c3xxx=missing qat_4xxx=missing qat_420xx=missing qat_6xxx=missing qat_dh895xccvf=missing "
	  "qat_c3xxxvf=missing qat_c62xvf=missing intel_qat=missing" }, "qat_c62x", 0, "load:qat_c62x:asked" },
	{ "caam", { "", ARCH_ARM, KVER(6, 1), A7, "nxp-caam-jr" }, NULL, 0, "skip:nxp-caam-jr:memory-flag" },
	{ "cesa", { "", ARCH_ARM, KVER(6, 1), "half thumb", "marvell-cesa" }, NULL, 0, "skip:marvell-cesa:memory-flag" },
	{ "cesa by name", { "", ARCH_ARM, KVER(6, 1), "half thumb", "marvell-cesa" }, "marvell-cesa", 0, "load:marvell-cesa:asked" },
	{ "virtio-crypto", { "", ARCH_X86_64, KVER(6, 1), "fpu lm", "virtio-crypto" }, NULL, 0, "skip:virtio-crypto:memory-flag" },
	{ "virtio-crypto, no flag at run time", { "", ARCH_X86_64, KVER(6, 1), "fpu lm", "virtio-crypto", "virtio-crypto",
	  "cbc(aes)|virtio_crypto_aes_cbc|150|F" }, NULL, 0, "there:virtio-crypto:loaded" },
	{ "sun8i-ce 5.10", { "", ARCH_ARM, KVER(5, 10), A7, "allwinner-sun8i-ce" }, NULL, 0, "skip:allwinner-sun8i-ce:memory-flag" },
	/* engines beside the CPU's AES instructions */
	{ "sun8i-ce H5", { "", ARCH_ARM64, KVER(6, 1), A53, "allwinner-sun8i-ce", "arm64-ce" }, NULL, 0,
	  "there:arm64-ce:loaded skip:allwinner-sun8i-ce:outranks-cpu" },
	{ "sun8i-ce H5, CE not loaded yet", { "", ARCH_ARM64, KVER(6, 1), A53, "allwinner-sun8i-ce" }, NULL, 0,
	  "load:aes-ce-blk:load skip:allwinner-sun8i-ce:outranks-cpu" },
	{ "sun8i-ce H5, no CE driver", { "", ARCH_ARM64, KVER(6, 1), A53, "allwinner-sun8i-ce", .mods = "aes-ce-blk=missing" }, NULL, 0,
	  "skip:arm64-ce:no-module load:sun8i-ce:load" },
	{ "sun8i-ce H5 by name", { "", ARCH_ARM64, KVER(6, 1), A53, "allwinner-sun8i-ce", "arm64-ce" }, "sun8i-ce", 0,
	  "load:sun8i-ce:asked" },
	{ "sun8i-ce H5, all", { "", ARCH_ARM64, KVER(6, 1), A53, "allwinner-sun8i-ce", "arm64-ce" }, NULL, ALL_OF_THEM,
	  "there:arm64-ce:loaded load:sun8i-ce:load" },
	{ "sun8i-ce H5, udev was first", { "", ARCH_ARM64, KVER(6, 1), A53, "allwinner-sun8i-ce", "allwinner-sun8i-ce arm64-ce" }, NULL, 0,
	  "there:arm64-ce:loaded there:allwinner-sun8i-ce:outranks-cpu" },
	{ "rk3399, equal priorities", { "", ARCH_ARM64, KVER(6, 12), A53, "rockchip-rk-crypto", "arm64-ce" }, NULL, 0,
	  "there:arm64-ce:loaded skip:rockchip-rk-crypto:outranks-cpu" },
	{ "sa2ul", { "", ARCH_ARM64, KVER(6, 1), A53, "ti-sa2ul", "arm64-ce" }, NULL, 0,
	  "there:arm64-ce:loaded skip:ti-sa2ul:outranks-cpu" },
	{ "tegra", { "", ARCH_ARM64, KVER(6, 12), A53, "tegra-se", "arm64-ce" }, NULL, 0, "there:arm64-ce:loaded skip:tegra-se:outranks-cpu" },
	{ "octeontx2", { "", ARCH_ARM64, KVER(6, 1), A53, "marvell-octeontx2-cpt", "arm64-ce" }, NULL, 0,
	  "there:arm64-ce:loaded skip:marvell-octeontx2-cpt:outranks-cpu" },
	{ "sec2 7.2", { "", ARCH_ARM64, KVER(7, 2), A53, "hisilicon-sec2", "arm64-ce" }, NULL, 0,
	  "there:arm64-ce:loaded skip:hisilicon-sec2:outranked" },
	{ "sec2 7.2 by driver", { "", ARCH_ARM64, KVER(7, 2), A53, "hisilicon-sec2", "arm64-ce" }, "hisi_sec_cbc(aes)", 0,
	  "load:hisi_sec2:asked load:hisi-trng-v2:load:rng" },
	{ "dthev2", { "", ARCH_ARM64, KVER(7, 2), A53, "ti-dthev2", "arm64-ce" }, NULL, 0, "there:arm64-ce:loaded skip:ti-dthev2:outranked" },
	{ "s5p beside ARMv8-CE", { "", ARCH_ARM64, KVER(6, 1), A53, "samsung-s5p-sss", "arm64-ce" }, NULL, 0,
	  "there:arm64-ce:loaded skip:samsung-s5p-sss:outranked" },
	{ "nx beside POWER8", { "", ARCH_PPC64, KVER(6, 1), "vec_crypto", "ibm-nx", "ppc-vmx" }, NULL, 0,
	  "there:ppc-vmx:loaded skip:ibm-nx:outranked" },
	{ "nx alone", { "", ARCH_PPC64, KVER(6, 1), NULL, "ibm-nx" }, NULL, 0, "load:nx-crypto:load load:pseries-rng:load:rng" },
	{ "ccree without AES instructions", { "", ARCH_ARM64, KVER(6, 1), A72, "arm-ccree" }, NULL, 0,
	  "load:ccree:load load:cctrng:load:rng" },
	/* known to be slower */
	{ "stm32 6.12", { "", ARCH_ARM, KVER(6, 12), A7, "stm32-cryp", "arm-neonbs" }, NULL, 0, "skip:stm32-cryp:slower" },
	{ "stm32 6.12, loaded by udev", { "", ARCH_ARM, KVER(6, 12), A7, "stm32-cryp", "stm32-cryp arm-neonbs" }, NULL, 0,
	  "there:stm32-cryp:slower" },
	{ "stm32 by name", { "", ARCH_ARM, KVER(6, 12), A7, "stm32-cryp", "arm-neonbs" }, "stm32-cryp", 0,
	  "load:stm32-cryp:asked load:stm32-rng:load:rng prepare:xts(stm32-ecb-aes):prepare" },
	/* versions, odd rows */
	{ "eip93 6.1", { "", ARCH_MIPS, KVER(6, 1), NULL, "eip93" }, NULL, 0, "skip:eip93:no-driver" },
	{ "eip93 7.2", { "", ARCH_MIPS, KVER(7, 2), NULL, "eip93" }, NULL, 0, "load:crypto-hw-eip93:load" },
	{ "n2 7.2", { "", ARCH_SPARC, KVER(7, 2), NULL, "sparc-n2" }, NULL, 0, "skip:sparc-n2:no-driver" },
	{ "z", { "", ARCH_S390, KVER(6, 1), "msa", NULL, "s390-cpacf" }, NULL, 0,
	  "there:s390-cpacf:loaded skip:s390-paes:other-cipher" },
	{ "z, protected keys by name", { "", ARCH_S390, KVER(6, 1), "msa", NULL, "s390-cpacf" }, "paes_s390", 0,
	  "load:pkey:asked load:paes_s390:asked" },
	{ "riscv", { "", ARCH_RISCV, KVER(6, 12), "rv64 v zvkned" }, NULL, 0, "load:aes-riscv64:load" },
	{ "opal drive", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, "opal-sed", "x86-aesni" }, NULL, 0,
	  "there:x86-aesni:loaded skip:opal-sed:storage" },
};

static void add_item(struct strbuf *b, const struct load_item *i)
{
	static const char *const verb[] = { "skip", "there", "load", "prepare" };
	bool acts = i->action == LOAD_MODULE || i->action == LOAD_PREPARE;

	strbuf_printf(b, "%s%s:%s:%s%s", b->len ? " " : "", verb[i->action], acts ? i->what : i->accel->id, reason_id(i->why.code),
		      i->rng ? ":rng" : "");
}

static size_t split(const char *text, char *copy, size_t size, const char **names, size_t max)
{
	char *save = NULL;
	size_t n = 0;

	str_copy(copy, size, text ? text : "");
	for (char *w = strtok_r(copy, " ", &save); w && n < max; w = strtok_r(NULL, " ", &save))
		names[n++] = w;
	return n;
}

static int check_row(const struct row *r)
{
	struct machine m = machine_build(&r->m);
	struct strbuf b = { 0 };
	const char *names[4];
	char copy[64];
	struct load_request rq = { .names = names, .all = r->flags & ALL_OF_THEM, .force = r->flags & FORCE };
	struct load_plan plan;
	bool acts = strstr(r->want, "load:") || strstr(r->want, "prepare:");
	int bad = 0;

	rq.n_names = split(r->names, copy, sizeof(copy), names, ARRAY_SIZE(names));
	policy_load_plan(&m, &rq, &plan);
	for (size_t i = 0; i < plan.n; i++) {
		add_item(&b, &plan.v[i]);
		if (!is_sentence(plan.v[i].why.text)) {
			print_error("%s: '%s'\n", r->what, plan.v[i].why.text);
			bad = 1;
		}
	}
	for (size_t i = 0; i < plan.unknown.n; i++)
		strbuf_printf(&b, "%sunknown:%s", b.len ? " " : "", plan.unknown.v[i]);
	if (strcmp(b.s ? b.s : "", r->want) != 0) {
		print_error("%s:\n  got    %s\n  wanted %s\n", r->what, b.s ? b.s : "", r->want);
		bad = 1;
	}
	if (load_plan_acts(&plan) != acts)
		bad = 1;
	strbuf_free(&b);
	load_plan_free(&plan);
	machine_free(&m);
	return bad;
}

static void test_rows(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		bad += check_row(&rows[i]);
	if (bad)
		fail_msg("%d of %zu rows", bad, ARRAY_SIZE(rows));
}

/* A slower engine is told with its figures and their source. */
static void test_figures_are_told(void **state)
{
	struct mdesc d = { "stm32", ARCH_ARM, KVER(6, 12), A7, "stm32-cryp", "arm-neonbs" };
	struct machine m = machine_build(&d);
	struct load_plan plan;

	(void)state;
	policy_load_plan(&m, NULL, &plan);
	assert_int_equal(plan.n, 1);
	assert_non_null(strstr(plan.v[0].why.text, "3.1 against 13.2 MB/s"));
	assert_non_null(strstr(plan.v[0].why.text, "2025"));
	load_plan_free(&plan);
	machine_free(&m);
}

/* Every name of the table is understood, however its dashes are written. */
static void test_every_name(void **state)
{
	struct mdesc d = { "pc", ARCH_X86_64, KVER(6, 1), SKYLAKE };
	struct machine m = machine_build(&d);

	(void)state;
	for_each_accel(a) {
		const char *names[] = { a->id, a->modules ? a->modules : a->id, a->algs ? a->algs[0].driver : a->id,
					a->rng_module ? a->rng_module : a->id };
		struct load_request rq = { .names = names, .n_names = ARRAY_SIZE(names) };
		struct load_plan plan;

		policy_load_plan(&m, &rq, &plan);
		if (plan.unknown.n)
			fail_msg("%s: %s", a->id, plan.unknown.v[0]);
		load_plan_free(&plan);
	}
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_figures_are_told),
		cmocka_unit_test(test_every_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
