/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Which spec is proposed on which machine: the default of format, the order behind it, the notes.
 * Figures are those of the Geode model's instruction clock, handed in as if measured.
 */
#include "machine_builder.h"

#define GEODE_CPU "fpu de pse tsc msr cx8 cmov mmx 3dnow"
#define A53 "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"
#define A72 "fp asimd evtstrm crc32 cpuid"
#define A7 "half thumb fastmult vfp edsp neon vfpv4"
#define SKYLAKE "fpu lm aes pclmulqdq avx avx2"

#define X512 "aes-xts-plain64 512"
#define X256 "aes-xts-plain64 256"
#define E256 "aes-cbc-essiv:sha256 256"
#define E128 "aes-cbc-essiv:sha256 128"
#define AD "xchacha12,aes-adiantum-plain64 256"

struct meas {
	const char *spec;
	unsigned int bits;
	double write, read;
};
#define MEAS(...) (const struct meas[]){ __VA_ARGS__, { NULL, 0, 0, 0 } }

static const struct row {
	const char *what;
	struct mdesc m;
	const struct meas *meas;
	const char *order; /* as far as it matters */
	const char *notes; /* codes that must be there, or with a dash must not */
} rows[] = {
	{ "geode, nothing measured", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" }, NULL,
	  X256 "|" E128 "|" AD "|" X512 "|" E256, "-no-aes -vm-hides-aes" },
	{ "geode, to be loaded", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" }, NULL, X256 "|" E128, "-no-aes" },
	{ "geode, measured: essiv 1.8 times as fast", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" },
	  MEAS({ "aes-xts-plain64", 256, 10.5, 17.6 }, { "aes-cbc-essiv:sha256", 128, 16.2, 34.8 }), E128 "|" X256, "-no-aes" },
	{ "geode, measured: just below 1.25", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" },
	  MEAS({ "aes-xts-plain64", 256, 10, 10 }, { "aes-cbc-essiv:sha256", 128, 12.4, 12.4 }), X256 "|" E128, "-no-aes" },
	{ "geode, measured: 1.25", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" },
	  MEAS({ "aes-xts-plain64", 256, 10, 10 }, { "aes-cbc-essiv:sha256", 128, 12.5, 12.5 }), E128 "|" X256, "-no-aes" },
	{ "geode, only the rival measured", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" },
	  MEAS({ "aes-cbc-essiv:sha256", 128, 16.2, 34.8 }), X256 "|" E128, "-no-aes" },
	{ "geode, Adiantum measured faster than the engine", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" },
	  MEAS({ "aes-xts-plain64", 256, 10, 10 }, { "xchacha12,aes-adiantum-plain64", 256, 20, 20 }), AD "|" X256, "" },
	{ "geode, a refused spec is never first", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" },
	  MEAS({ "aes-xts-plain64", 256, 10, 10 }, { "aes-xts-plain64", 512, 90, 90 }), X256, "" },
	{ "geode 7.3, not prepared", { "", ARCH_X86_32, KVER(7, 3), GEODE_CPU, "geode-lx", "geode-lx" }, NULL, X256 "|" E128, "" },
	{ "geode, denied", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=denied" }, NULL, AD "|" X512,
	  "no-aes denied" },
	{ "geode, half of it failed", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
	  "cbc(aes)|cbc-aes-geode|400|!\ncbc(aes)|cbc(aes-generic)|100" }, NULL, AD, "no-aes selftest-failed" },
	{ "geode, all failed", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
	  "aes|geode-aes|300|c!\necb(aes)|ecb-aes-geode|400|!\ncbc(aes)|cbc-aes-geode|400|!\ncbc(aes)|cbc(aes-generic)|100\n"
	  "ecb(aes)|ecb(aes-generic)|100" }, NULL, AD "|" X512, "no-aes selftest-failed" },
	{ "padlock", { "", ARCH_X86_64, KVER(6, 1), "fpu lm ace ace_en", NULL, "via-padlock-ace" }, NULL,
	  X512 "|" X256 "|" E256 "|" E128 "|" AD, "-no-aes" },
	{ "AES-NI", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, NULL, "x86-aesni" }, NULL, X512 "|" X256 "|" E256 "|" E128 "|" AD, "-no-aes" },
	{ "AES-NI, speed does not shorten the key", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, NULL, "x86-aesni" },
	  MEAS({ "aes-xts-plain64", 512, 2000, 2000 }, { "aes-xts-plain64", 256, 2800, 2800 }, { "aes-cbc-essiv:sha256", 128, 900, 2900 }),
	  X512 "|" X256, "" },
	{ "AES-NI in a VM", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE " hypervisor", NULL, "x86-aesni", .flags = IN_VM }, NULL, X512,
	  "-vm-hides-aes" },
	{ "no AES", { "", ARCH_X86_64, KVER(6, 1), "fpu lm" }, NULL, AD "|" X512 "|" X256 "|" E256 "|" E128, "no-aes -vm-hides-aes" },
	{ "no AES in a VM", { "", ARCH_X86_64, KVER(6, 1), "fpu lm hypervisor", .flags = IN_VM }, NULL, AD "|" X512, "vm-hides-aes no-aes" },
	{ "virtio-crypto in a VM", { "", ARCH_X86_64, KVER(6, 1), "fpu lm hypervisor", "virtio-crypto", "virtio-crypto", .flags = IN_VM },
	  NULL, AD, "vm-hides-aes no-aes memory-flag" },
	{ "no AES, no Adiantum", { "", ARCH_X86_64, KVER(6, 1), "fpu lm", .mods = "adiantum=missing" }, NULL, X512 "|" X256 "|" E256, "no-aes" },
	{ "no AES 7.3", { "", ARCH_X86_64, KVER(7, 3), "fpu lm" }, NULL, AD, "no-aes" },
	{ "AES-NI 7.2, the library only", { "", ARCH_X86_64, KVER(7, 2), SKYLAKE, .mods = "aesni-intel=missing" }, NULL, X512 "|" X256,
	  "-no-aes no-module" },
	{ "AES-NI 6.1, driver missing", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, .mods = "aesni-intel=missing" }, NULL, X512,
	  "-no-aes no-module" },
	{ "cesa", { "", ARCH_ARM, KVER(6, 1), "half thumb", "marvell-cesa", "marvell-cesa arm-asm" }, NULL, AD, "no-aes memory-flag" },
	{ "eip93 6.1: no driver yet", { "", ARCH_MIPS, KVER(6, 1), NULL, "eip93" }, NULL, AD, "no-aes" },
	{ "hifn: unknown is not enough", { "", ARCH_X86_32, KVER(6, 1), "fpu", "hifn-795x", "hifn-795x" }, NULL, AD, "no-aes" },
	{ "ccree: essiv needs 256 bits", { "", ARCH_ARM64, KVER(6, 1), A72, "arm-ccree", "arm-ccree" }, NULL,
	  X512 "|" X256 "|" E256 "|" AD "|" E128, "" },
	{ "stm32: an engine known to be slower", { "", ARCH_ARM, KVER(6, 12), A7, "stm32-cryp", "stm32-cryp arm-neonbs" }, NULL, AD, "no-aes" },
	{ "sun8i-ce H5, loaded: CE has xts", { "", ARCH_ARM64, KVER(6, 1), A53, "allwinner-sun8i-ce", "allwinner-sun8i-ce arm64-ce" }, NULL,
	  X512, "" },
	{ "Raspberry Pi 4", { "", ARCH_ARM64, KVER(6, 1), A72, NULL, "arm64-neonbs" }, NULL, AD "|" X512, "no-aes" },
	{ "Raspberry Pi 5", { "", ARCH_ARM64, KVER(6, 1), A53 }, NULL, X512, "-no-aes" },
	{ "dcp", { "", ARCH_ARM, KVER(6, 1), "half thumb", "mxs-dcp", "mxs-dcp" }, NULL, X256 "|" E128, "" },
	{ "list not readable, AES-NI", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE, .flags = NO_LIST }, NULL, X512, "list-unreadable" },
	{ "list not readable, no AES", { "", ARCH_X86_64, KVER(6, 1), "fpu lm", .flags = NO_LIST }, NULL, AD, "list-unreadable" },
};

static size_t fill_meas(const struct meas *from, unsigned int sector, struct measurement *to)
{
	size_t n = 0;

	for (; from && from[n].spec; n++)
		to[n] = (struct measurement){ spec_make(from[n].spec, from[n].bits, sector), from[n].write, from[n].read };
	return n;
}

static void add_spec(struct strbuf *b, const struct cipher_spec *s)
{
	char text[SPEC_TEXT_MAX];

	strbuf_printf(b, "%s%s %u", b->len ? "|" : "", spec_text(s, text, sizeof(text)), s->key_bits);
}

static int check_row(const struct row *r, unsigned int sector)
{
	struct machine m = machine_build(&r->m);
	struct measurement meas[8];
	size_t n_meas = fill_meas(r->meas, sector, meas);
	struct strbuf b = { 0 };
	struct load_plan plan;
	struct ranking rank;
	const char *fault;
	char buf[64];
	int bad = 0;

	policy_load_plan(&m, NULL, &plan);
	policy_rank(&m, &plan, sector, meas, n_meas, &rank);
	for (size_t i = 0; i < rank.n; i++) {
		add_spec(&b, &rank.v[i].verdict.spec);
		bad |= rank.v[i].verdict.spec.sector_size != sector || !is_sentence(rank.v[i].why);
	}
	if (!str_starts(b.s, r->order)) {
		print_error("%s: got %s\n", r->what, b.s);
		bad = 1;
	}
	fault = codes_fault(&rank.notes, r->notes, buf, sizeof(buf));
	if (fault) {
		print_error("%s: note %s\n", r->what, fault);
		bad = 1;
	}
	strbuf_free(&b);
	ranking_free(&rank);
	load_plan_free(&plan);
	machine_free(&m);
	return bad;
}

static void test_rows(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		bad += check_row(&rows[i], 512) + check_row(&rows[i], 4096);
	if (bad)
		fail_msg("%d of %zu rows", bad, 2 * ARRAY_SIZE(rows));
}

/* A measurement counts for its own sector size only. */
static void test_sector_of_measurement(void **state)
{
	struct mdesc d = { "geode", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" };
	struct machine m = machine_build(&d);
	struct measurement meas[2] = { { spec_make("aes-xts-plain64", 256, 512), 10, 10 },
				       { spec_make("aes-cbc-essiv:sha256", 128, 512), 40, 40 } };
	struct ranking r;

	(void)state;
	policy_rank(&m, NULL, 4096, meas, 2, &r);
	assert_true(spec_is_xts(&r.v[0].verdict.spec) && r.v[0].mbps == 0);
	ranking_free(&r);
	policy_rank(&m, NULL, 512, meas, 2, &r);
	assert_false(spec_is_xts(&r.v[0].verdict.spec));
	assert_non_null(strstr(r.v[0].why, "4.0 times as fast"));
	ranking_free(&r);
	machine_free(&m);
}

/* A VM's note names the CPU type and what to change. */
static void test_vm_note(void **state)
{
	struct mdesc d = { "vm", ARCH_X86_64, KVER(6, 1), "fpu lm hypervisor", .flags = IN_VM };
	struct machine m = machine_build(&d);
	struct ranking r;

	(void)state;
	m.cpu.model = xstrdup("Common KVM processor");
	policy_rank(&m, NULL, 512, NULL, 0, &r);
	assert_int_equal(r.notes.v[0].code, REASON_VM_HIDES_AES);
	assert_non_null(strstr(r.notes.v[0].text, "Common KVM processor"));
	assert_non_null(strstr(r.notes.v[0].text, "host-passthrough"));
	ranking_free(&r);
	machine_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_sector_of_measurement),
		cmocka_unit_test(test_vm_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
