/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The accelerator table agrees with itself, and its look-ups find what they should.
 * Must not judge whether a row is true: that is what each row's source is for.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/accel.h"
#include "util/util.h"

#define ROWS 72

#define ROW_CHECK(a, cond)                                      \
	do {                                                    \
		if (!(cond))                                    \
			fail_msg("row %s: %s", (a)->id, #cond); \
	} while (0)

#define for_each_row(a) for_each_accel(a)

static const struct accel_note *note_of(const struct accel *a)
{
	return &accel_notes[a - accel_table];
}

static bool in_list(const char *const *list, size_t n, const char *s)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], s))
			return true;
	return false;
}

static bool only_chars(const char *s, const char *more, bool upper, bool lower)
{
	if (!*s)
		return false;
	for (; *s; s++) {
		if (isdigit((unsigned char)*s) || strchr(more, *s) ||
		    (upper && isupper((unsigned char)*s)) || (lower && islower((unsigned char)*s)))
			continue;
		return false;
	}
	return true;
}

/* Text for people: something in it, and laid out by whoever prints it. */
static bool good_text(const char *s)
{
	size_t n = strlen(s);

	return n && s[0] != ' ' && s[n - 1] != ' ' && !strpbrk(s, "\t\n") && !strstr(s, "  ");
}

static bool counts_as_software(const struct accel *a)
{
	return a->kind == ACCEL_CPU_SIMD || a->kind == ACCEL_SOFTWARE;
}

static bool ranges_meet(const struct accel_alg *x, const struct accel_alg *y)
{
	return (!x->until || !y->since || y->since <= x->until) &&
	       (!y->until || !x->since || x->since <= y->until);
}

static void test_rows_are_unique_and_complete(void **state)
{
	(void)state;
	assert_int_equal(accel_count, ROWS);
	for_each_row(a)
	{
		ROW_CHECK(a, only_chars(a->id, "-", false, true));
		for (const struct accel *b = accel_table; b < a; b++)
			ROW_CHECK(a, strcmp(a->id, b->id) && strcmp(a->name, b->name));
		ROW_CHECK(a, strcmp(accel_kind_name(a->kind), "unknown"));
		ROW_CHECK(a, a->arch && !(a->arch & ~ARCH_ANY));
		ROW_CHECK(a, a->source && note_of(a)->sync && note_of(a)->how_detected);
		ROW_CHECK(a, a->present_since || note_of(a)->present);
		ROW_CHECK(a, a->modules || a->kind == ACCEL_STORAGE);
		/* no way to recognise it: only where no kernel read can drive it */
		if (!a->match)
			ROW_CHECK(a, a->dmcrypt == DMCRYPT_NO_DRIVER);
		else
			ROW_CHECK(a, a->kconfig);
	}
}

static void test_texts_are_clean(void **state)
{
	(void)state;
	for_each_row(a)
	{
		const struct accel_note *n = note_of(a);
		const char *const text[] = { a->name,    n->how_detected, a->other_keys_text,
			                     n->sync,    n->rng_note,     a->quirks,
			                     n->present, a->source };

		for (size_t i = 0; i < ARRAY_SIZE(text); i++)
			if (text[i] && !good_text(text[i]))
				fail_msg("row %s: bad text \"%s\"", a->id, text[i]);
	}
}

static bool hex4(const char *s)
{
	for (int i = 0; i < 4; i++)
		if (!isdigit((unsigned char)s[i]) && !(s[i] >= 'a' && s[i] <= 'f'))
			return false;
	return true;
}

static bool pci_id(const char *s)
{
	size_t n = strlen(s);

	if (n < 6 || !hex4(s) || s[4] != ':')
		return false;
	return !strcmp(s + 5, "*") || (n == 9 && hex4(s + 5));
}

static bool dt_compatible(const char *s)
{
	const char *comma = strchr(s, ',');

	return comma && comma != s && comma[1] && !strchr(comma + 1, ',') &&
	       only_chars(s, ",.-", true, true);
}

static bool match_syntax_ok(const struct accel_match *m)
{
	switch (m->how) {
	case MATCH_CPU:
	case MATCH_ISA:
	case MATCH_CPUCAP:
	case MATCH_HWCAP2_PPC:
		return good_text(m->what) && only_chars(m->what, "_ ", false, true);
	case MATCH_PCI:
		return pci_id(m->what);
	case MATCH_VIRTIO:
		return only_chars(m->what, "", false, false);
	case MATCH_DT:
		return dt_compatible(m->what);
	case MATCH_ACPI:
		return strlen(m->what) == 8 && only_chars(m->what, "", true, false);
	case MATCH_PLATFORM:
	case MATCH_FSLMC:
		return only_chars(m->what, "_-", false, true);
	case MATCH_VIO:
		return !strncmp(m->what, "ibm,", 4);
	case MATCH_OPAL:
	case MATCH_INLINE:
	case MATCH_ALWAYS:
		return !*m->what;
	case MATCH_NONE:
		break;
	}
	return false;
}

static void test_match_syntax(void **state)
{
	(void)state;
	assert_true(pci_id("1022:2082") && pci_id("1425:*"));
	assert_false(pci_id("1022:208") || pci_id("1022:20822") || pci_id("1022:20AB") ||
	             pci_id("1022:"));
	assert_false(dt_compatible("geode") || dt_compatible(",x") || dt_compatible("a,"));
	for_each_row(a)
	{
		struct accel_match m;

		for (const char *at = a->match; accel_match_next(&at, &m);)
			if (!match_syntax_ok(&m))
				fail_msg("row %s: match kind %d \"%s\"", a->id, m.how, m.what);
	}
}

/* Device ids that two rows are meant to share. */
static bool may_share_device(const char *a, const char *b)
{
	static const char *const pairs[][2] = {
		{ "cavium-cpt", "marvell-octeontx-cpt" }, /* one PCI id, two drivers */
		{ "stm32-cryp", "ux500-cryp" },           /* old and new driver of one engine */
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (!strcmp(a, pairs[i][0]) && !strcmp(b, pairs[i][1]))
			return true;
	return false;
}

static bool is_device(const char *text)
{
	struct accel_match m;

	return accel_match_next(&text, &m) && m.how >= MATCH_PCI && m.how <= MATCH_VIO;
}

static void test_device_ids_collide_only_where_meant(void **state)
{
	(void)state;
	for_each_row(a)
	{
		for_each_word(m, a->match)
			for (const struct accel *b = a; b < accel_table + accel_count; b++)
				for_each_word(n, b->match)
					if (m != n && is_device(m) && !strcmp(m, n) &&
					    !may_share_device(a->id, b->id))
						fail_msg("%s in %s and %s", m, a->id, b->id);
	}
}

static void test_ranges_are_in_order(void **state)
{
	(void)state;
	for_each_row(a)
	{
		ROW_CHECK(a, !a->present_until || a->present_since <= a->present_until);
		ROW_CHECK(a, !a->dmcrypt_until || a->dmcrypt_since <= a->dmcrypt_until);
		if (a->dmcrypt_since || a->dmcrypt_until)
			ROW_CHECK(a,
			          a->dmcrypt != a->dmcrypt_else || a->dmcrypt == DMCRYPT_NO_DRIVER);
		for_each_alg(g, a)
		{
			ROW_CHECK(a, !g->until || g->since <= g->until);
			ROW_CHECK(a, g->since >= a->present_since);
			ROW_CHECK(a,
			          !a->present_until || (g->until && g->until <= a->present_until));
		}
	}
}

/* "xts(aes)" → MODE_XTS; 0 for a name no row should have. */
static unsigned int mode_of_name(const char *name)
{
	static const struct {
		const char *name;
		unsigned int mode;
	} names[] = {
		{ "aes", MODE_SINGLE },    { "ecb(aes)", MODE_ECB },
		{ "cbc(aes)", MODE_CBC },  { "ctr(aes)", MODE_CTR },
		{ "xts(aes)", MODE_XTS },  { "cts(cbc(aes))", MODE_CTS },
		{ "gcm(aes)", MODE_GCM },  { "ecb(paes)", MODE_ECB },
		{ "cbc(paes)", MODE_CBC }, { "sha1", MODE_HASH },
		{ "ctr(paes)", MODE_CTR }, { "xts(paes)", MODE_XTS },
		{ "sha256", MODE_HASH },   { "essiv(cbc(aes),sha256)", MODE_ESSIV },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].mode;
	return 0;
}

static bool keys_fit_mode(const struct accel *a, const struct accel_alg *g)
{
	if (counts_as_software(a) || g->mode == MODE_HASH)
		return !g->hw_keys;
	if (g->hw_keys == KEYS_UNKNOWN)
		return true;
	return g->hw_keys && !(g->hw_keys & ~(g->mode == MODE_XTS ? KEYS_XTS : KEYS_AES));
}

static void test_algorithms(void **state)
{
	(void)state;
	for_each_row(a) for_each_alg(g, a)
	{
		const char *name = accel_alg_name(g);

		if (!mode_of_name(name) || mode_of_name(name) != g->mode)
			fail_msg("row %s: %s has mode %#x", a->id, name, g->mode);
		if (!keys_fit_mode(a, g))
			fail_msg("row %s: %s has keys %#x", a->id, g->driver, g->hw_keys);
		ROW_CHECK(a, strlen(accel_alg_name(g)) <= 127 && strlen(g->driver) <= 127);
		ROW_CHECK(a, only_chars(g->driver, "-_()", false, true));
		ROW_CHECK(a, g->priority > 0 ||
		                     (g->priority == -1 && a->dmcrypt == DMCRYPT_NO_DRIVER));
	}
}

static void test_row_modes_are_those_of_its_algorithms(void **state)
{
	static const char *const without_algs[] = { "img-hash" };

	(void)state;
	for_each_row(a)
	{
		unsigned int modes = 0;

		if (in_list(without_algs, ARRAY_SIZE(without_algs), a->id))
			continue;
		for_each_alg(g, a) modes |= g->mode;
		if (counts_as_software(a))
			modes = 0;
		if (a->modes != modes)
			fail_msg("row %s: modes %#x, algorithms %#x", a->id, a->modes, modes);
	}
}

static void test_other_keys(void **state)
{
	(void)state;
	for_each_row(a)
	{
		ROW_CHECK(a,
		          (a->other_keys >= OTHER_KEYS_REFUSED &&
		           a->other_keys <= OTHER_KEYS_SOFTWARE) == (a->other_keys_text != NULL));
		if (accel_hw_keys(a, 0) & KEYS_UNKNOWN && !(accel_hw_keys(a, 0) & KEYS_AES))
			ROW_CHECK(a, a->other_keys == OTHER_KEYS_UNKNOWN);
	}
}

/* The drivers dm-crypt never sees; every other row must be free of the flag. */
static void test_memory_flag_rows(void **state)
{
	static const char *const flagged[] = {
		"marvell-cesa",
		"nxp-caam-jr",
		"nxp-caam-qi",
		"nxp-caam-dpaa2",
		"amd-ccp",
		"intel-qat",
		"inside-secure-safexcel",
		"talitos",
		"ixp4xx",
		"qcom-qce",
		"cavium-nitrox",
		"cavium-cpt",
		"marvell-octeontx-cpt",
		"chelsio-chcr",
		"bcm-spu",
		"axis-artpec6",
		"allwinner-sun8i-ss",
		"amlogic-gxl",
		"hisilicon-sec",
		"sparc-n2",
		"virtio-crypto",
	};
	size_t n = 0;

	(void)state;
	for_each_row(a)
	{
		bool listed = in_list(flagged, ARRAY_SIZE(flagged), a->id);

		ROW_CHECK(a, (a->dmcrypt == DMCRYPT_NO_MEMORY_FLAG) == listed);
		ROW_CHECK(a, (accel_dmcrypt_in(a, KVER(6, 1)) == DMCRYPT_NO_MEMORY_FLAG) == listed);
		n += listed;
	}
	assert_int_equal(n, ARRAY_SIZE(flagged));
}

static void test_dmcrypt_by_kernel(void **state)
{
	static const struct {
		const char *id;
		kver kernel;
		enum accel_dmcrypt want;
	} t[] = {
		{ "geode-lx", 0, DMCRYPT_YES },
		{ "geode-lx", KVER(5, 10), DMCRYPT_YES },
		{ "allwinner-sun8i-ce", KVER(5, 10), DMCRYPT_NO_MEMORY_FLAG },
		{ "allwinner-sun8i-ce", KVER(6, 1), DMCRYPT_YES },
		{ "allwinner-sun8i-ce", 0, DMCRYPT_YES },
		{ "hisilicon-sec2", KVER(6, 12), DMCRYPT_YES },
		{ "hisilicon-sec2", KVER(7, 2), DMCRYPT_BY_NAME },
		{ "hisilicon-sec2", 0, DMCRYPT_BY_NAME },
		{ "ti-dthev2", KVER(7, 3), DMCRYPT_BY_NAME },
		{ "sparc-n2", KVER(6, 12), DMCRYPT_NO_MEMORY_FLAG },
		{ "sparc-n2", KVER(7, 2), DMCRYPT_NO_DRIVER },
		{ "ux500-cryp", KVER(6, 1), DMCRYPT_YES },
		{ "ux500-cryp", KVER(6, 12), DMCRYPT_NO_DRIVER },
		{ "mv-cesa-legacy", KVER(5, 10), DMCRYPT_NO_DRIVER },
		{ "zynqmp-aes", KVER(6, 1), DMCRYPT_NO_CIPHER },
		{ "opal-sed", KVER(6, 1), DMCRYPT_NO_STORAGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const struct accel *a = accel_by_id(t[i].id);

		assert_non_null(a);
		if (accel_dmcrypt_in(a, t[i].kernel) != t[i].want)
			fail_msg("%s on %u.%u: %d", t[i].id, KVER_MAJOR(t[i].kernel),
			         KVER_MINOR(t[i].kernel), accel_dmcrypt_in(a, t[i].kernel));
	}
}

/* A driver name tells the row, except between architectures and the two OcteonTX generations. */
static void test_driver_names_are_unique(void **state)
{
	(void)state;
	for_each_row(a) for_each_alg(g, a) for (const struct accel *b = a;
	                                        b < accel_table + accel_count; b++)
		for_each_alg(h, b)
	{
		if (g == h || strcmp(g->driver, h->driver) || !ranges_meet(g, h))
			continue;
		if (a != b && !(a->arch & b->arch))
			continue;
		if (!strcmp(a->id, "marvell-octeontx-cpt") &&
		    !strcmp(b->id, "marvell-octeontx2-cpt"))
			continue;
		fail_msg("%s in %s and %s", g->driver, a->id, b->id);
	}
}

static void test_module_and_option_names(void **state)
{
	(void)state;
	for_each_row(a)
	{
		for_each_word(m, a->modules)
			ROW_CHECK(a, only_chars(m, "_-", false, true));
		for_each_word(k, a->kconfig)
			ROW_CHECK(a, only_chars(k, "_", true, true) && strncmp(k, "CONFIG_", 7));
		if (a->rng_module)
			ROW_CHECK(a, only_chars(a->rng_module, "_-", false, true));
	}
}

static bool good_figure(const struct accel_figure *f)
{
	return good_text(f->what) && f->source && good_text(f->source) && f->cpu >= 0 &&
	       f->engine > 0 && f->cpu < 1e5 && f->engine < 1e5;
}

static void test_figures(void **state)
{
	(void)state;
	for_each_row(a)
	{
		const struct accel_figure *slower = a->slower;
		bool faster = false;

		for (const struct accel_figure *f = note_of(a)->figures; f && f->what; f++) {
			ROW_CHECK(a, good_figure(f));
			faster |= f->silicon && f->cpu > 0 && f->engine > f->cpu;
		}
		ROW_CHECK(a, (a->slower_than_cpu == TRI_YES) == (slower != NULL));
		ROW_CHECK(a, !slower || (good_figure(slower) && slower->silicon && slower->cpu > slower->engine));
		/* "not slower" is true of the CPU's own code; of an engine somebody has to have
		 * measured it */
		ROW_CHECK(a, a->slower_than_cpu != TRI_NO || !accel_is_engine(a) || faster);
	}
}

static void test_slower_rows(void **state)
{
	static const char *const slower[] = { "intel-qat", "qcom-qce", "nxp-caam-jr",
		                              "stm32-cryp" };

	(void)state;
	for_each_row(a) ROW_CHECK(a, (a->slower_than_cpu == TRI_YES) ==
	                                     in_list(slower, ARRAY_SIZE(slower), a->id));
}

static void test_range_in(void **state)
{
	static const struct {
		kver since, until, kernel;
		bool want;
	} t[] = {
		{ 0, 0, KVER(4, 19), true },
		{ KVER(5, 10), 0, 0, true },
		{ KVER(5, 10), 0, KVER(5, 4), false },
		{ KVER(5, 10), 0, KVER(9, 0), true },
		{ KVER(6, 12), 0, KVER(6, 11), false },
		{ KVER(5, 10), KVER(6, 12), KVER(6, 12), true },
		{ KVER(5, 10), KVER(6, 12), KVER(6, 19), true }, /* not looked at before 7.2 */
		{ KVER(5, 10), KVER(6, 12), KVER(7, 2), false },
		{ KVER(5, 10), KVER(5, 10), KVER(6, 0), true },
		{ KVER(5, 10), KVER(5, 10), KVER(6, 1), false },
		{ KVER(7, 2), KVER(7, 2), KVER(7, 3), false },
		{ KVER(7, 3), KVER(7, 3), KVER(7, 4), false },
		{ KVER(6, 1), KVER(6, 4), KVER(6, 5),
		  false }, /* a bound that is no kernel read is exact */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		if (accel_range_in(t[i].since, t[i].until, t[i].kernel) != t[i].want)
			fail_msg("row %zu of the test", i);
}

static void test_by_id(void **state)
{
	(void)state;
	for_each_row(a) assert_ptr_equal(accel_by_id(a->id), a);
	assert_null(accel_by_id("no-such-thing"));
	assert_null(accel_by_id(""));
}

static void test_by_driver(void **state)
{
	static const struct {
		const char *driver;
		kver kernel;
		const char *id; /* NULL: nobody's */
		int priority;
		unsigned int keys;
	} t[] = {
		{ "cbc-aes-geode", KVER(6, 1), "geode-lx", 400, KEYS_128 },
		{ "geode-aes", 0, "geode-lx", 300, KEYS_128 },
		{ "ecb-aes-padlock", KVER(7, 3), "via-padlock-ace", 400, KEYS_AES },
		{ "xts-aes-aesni", KVER(6, 1), "x86-aesni", 401, KEYS_XTS },
		{ "aes-aesni", KVER(6, 12), "x86-aesni", 300, KEYS_AES },
		{ "aes-aesni", KVER(7, 3), "x86-aesni", 300, KEYS_AES }, /* the name still tells */
		{ "xts-aes-vaes-avx512", KVER(7, 2), "x86-vaes", 800, KEYS_XTS },
		{ "qat_aes_xts", KVER(6, 1), "intel-qat", 4001, KEYS_XTS_256 | KEYS_XTS_512 },
		{ "qat_aes_xts", KVER(6, 12), "intel-qat", 100, KEYS_XTS_256 | KEYS_XTS_512 },
		{ "hisi_sec_xts(aes)", KVER(6, 12), "hisilicon-sec2", 4001,
		  KEYS_XTS_256 | KEYS_XTS_512 },
		{ "hisi_sec_xts(aes)", KVER(7, 2), "hisilicon-sec2", 80,
		  KEYS_XTS_256 | KEYS_XTS_512 },
		{ "stm32-cbc-aes", KVER(6, 1), "stm32-cryp", 200, KEYS_AES },
		{ "stm32-cbc-aes", KVER(7, 3), "stm32-cryp", 300, KEYS_AES },
		{ "cbc(aes-eip93)", KVER(7, 2), "eip93", 1500, KEYS_AES },
		{ "essiv-aes-ccree", KVER(6, 1), "arm-ccree", 400, KEYS_256 },
		{ "xts(ecb(aes-generic))", KVER(6, 1), "software-generic", 100, 0 },
		{ "cbc(ecb(aes-generic))", KVER(6, 12), "software-generic", 100, 0 },
		{ "xts-aes-lib", KVER(7, 3), "software-generic", 110, 0 },
		{ "aes-fixed-time", KVER(6, 1), "software-generic", 101, 0 },
		{ "aes-arm64", KVER(6, 1), "arm64-neon", 200, 0 },
		{ "cpt_xts_aes", KVER(5, 10), "marvell-octeontx-cpt", 4001,
		  KEYS_XTS_256 | KEYS_XTS_512 },
		{ "cbc-aes", KVER(6, 1), NULL, 0, 0 },
		{ "", 0, NULL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const struct accel_alg *g = NULL;
		const struct accel *a = accel_by_driver(t[i].driver, t[i].kernel, &g);

		if (!t[i].id) {
			assert_null(a);
			assert_null(g);
			continue;
		}
		if (!a || strcmp(a->id, t[i].id) || g->priority != t[i].priority ||
		    g->hw_keys != t[i].keys)
			fail_msg("%s on %u.%u gives %s", t[i].driver, KVER_MAJOR(t[i].kernel),
			         KVER_MINOR(t[i].kernel), a ? a->id : "nothing");
		assert_ptr_equal(accel_by_driver(t[i].driver, t[i].kernel, NULL), a);
	}
}

static void test_shared_driver_names(void **state)
{
	const struct accel *arm = accel_by_id("arm-ce"),
			   *otx2 = accel_by_id("marvell-octeontx2-cpt");

	(void)state;
	assert_string_equal(accel_by_driver("xts-aes-ce", KVER(6, 1), NULL)->id, "arm64-ce");
	assert_non_null(accel_alg_by_driver(arm, "xts-aes-ce", KVER(6, 1)));
	assert_null(accel_alg_by_driver(arm, "essiv-cbc-aes-sha256-ce", KVER(6, 1)));
	/* in doubt the generation that dm-crypt can not use */
	assert_int_equal(accel_by_driver("cpt_cbc_aes", KVER(6, 1), NULL)->dmcrypt,
	                 DMCRYPT_NO_MEMORY_FLAG);
	assert_int_equal(accel_alg_by_driver(otx2, "cpt_xts_aes", 0)->hw_keys, KEYS_XTS);
	assert_null(accel_alg_by_driver(accel_by_id("mv-cesa-legacy"), "mv-cbc-aes", 0));
}

static void test_by_module(void **state)
{
	static const char *const t[][2] = {
		{ "geode-aes", "geode-lx" },           { "geode_aes", "geode-lx" },
		{ "padlock_aes", "via-padlock-ace" },  { "aesni_intel", "x86-aesni" },
		{ "mv_cesa", "mv-cesa-legacy" },       { "crypto_hw_eip93", "eip93" },
		{ "caam-jr", "nxp-caam-jr" },          { "virtio-crypto", "virtio-crypto" },
		{ "aes_generic", "software-generic" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		const struct accel *a = accel_by_module(t[i][0]);

		if (!a || strcmp(a->id, t[i][1]))
			fail_msg("module %s gives %s", t[i][0], a ? a->id : "nothing");
	}
	assert_null(accel_by_module("geode"));
	assert_null(accel_by_module("geode-aes2"));
	assert_null(accel_by_module(""));
}

static void test_keys_text(void **state)
{
	static const struct {
		unsigned int keys;
		const char *want;
	} t[] = {
		{ 0, "none" },
		{ KEYS_128, "128" },
		{ KEYS_AES, "128, 192, 256" },
		{ KEYS_XTS_256 | KEYS_XTS_512, "xts 256, 512" },
		{ KEYS_AES | KEYS_XTS, "128, 192, 256; xts 256, 384, 512" },
		{ KEYS_UNKNOWN, "unknown" },
		{ KEYS_128 | KEYS_UNKNOWN, "128; unknown" },
	};
	char buf[64], small[6];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++)
		assert_string_equal(accel_keys_text(t[i].keys, buf, sizeof(buf)), t[i].want);
	assert_string_equal(accel_keys_text(KEYS_AES, small, sizeof(small)), "128, ");
	assert_ptr_equal(accel_keys_text(KEYS_AES, small, 0), small);
}

static void test_modes_text(void **state)
{
	char buf[128], small[5];

	(void)state;
	assert_string_equal(accel_modes_text(0, buf, sizeof(buf)), "none");
	assert_string_equal(accel_modes_text(MODE_ECB | MODE_CBC, buf, sizeof(buf)), "ecb, cbc");
	assert_string_equal(accel_modes_text(0x1ff, buf, sizeof(buf)),
	                    "single block, ecb, cbc, ctr, xts, cts, essiv, gcm, hash");
	assert_string_equal(accel_modes_text(MODE_HASH, small, sizeof(small)), "hash");
	assert_string_equal(accel_modes_text(MODE_ECB | MODE_CBC, small, sizeof(small)), "ecb,");
	assert_ptr_equal(accel_modes_text(MODE_ECB, small, 0), small);
}

static void test_hw_keys_of_a_row(void **state)
{
	(void)state;
	assert_int_equal(accel_hw_keys(accel_by_id("geode-lx"), KVER(6, 1)), KEYS_128);
	assert_int_equal(accel_hw_keys(accel_by_id("x86-aesni"), 0), KEYS_AES | KEYS_XTS);
	assert_int_equal(accel_hw_keys(accel_by_id("eip93"), KVER(6, 1)), 0);
	assert_int_equal(accel_hw_keys(accel_by_id("eip93"), KVER(7, 2)), KEYS_AES);
	assert_int_equal(accel_hw_keys(accel_by_id("software-generic"), 0), 0);
	assert_int_equal(accel_hw_keys(accel_by_id("hifn-795x"), 0), KEYS_UNKNOWN);
	assert_int_equal(accel_hw_keys(accel_by_id("opal-sed"), 0), 0);
}

static void test_kinds(void **state)
{
	(void)state;
	assert_string_equal(accel_kind_name(ACCEL_CPU), "cpu-instruction");
	assert_string_equal(accel_kind_name(ACCEL_ONCHIP), "on-chip");
	assert_string_equal(accel_kind_name((enum accel_kind)99), "unknown");
	assert_true(accel_is_engine(accel_by_id("geode-lx")));
	assert_true(accel_is_engine(accel_by_id("virtio-crypto")));
	assert_true(accel_is_engine(accel_by_id("intel-qat")));
	assert_false(accel_is_engine(accel_by_id("via-padlock-ace")));
	assert_false(accel_is_engine(accel_by_id("arm-neonbs")));
	assert_false(accel_is_engine(accel_by_id("opal-sed")));
	assert_false(accel_is_engine(accel_by_id("software-generic")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_unique_and_complete),
		cmocka_unit_test(test_texts_are_clean),
		cmocka_unit_test(test_match_syntax),
		cmocka_unit_test(test_device_ids_collide_only_where_meant),
		cmocka_unit_test(test_ranges_are_in_order),
		cmocka_unit_test(test_algorithms),
		cmocka_unit_test(test_row_modes_are_those_of_its_algorithms),
		cmocka_unit_test(test_other_keys),
		cmocka_unit_test(test_memory_flag_rows),
		cmocka_unit_test(test_dmcrypt_by_kernel),
		cmocka_unit_test(test_driver_names_are_unique),
		cmocka_unit_test(test_module_and_option_names),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_slower_rows),
		cmocka_unit_test(test_range_in),
		cmocka_unit_test(test_by_id),
		cmocka_unit_test(test_by_driver),
		cmocka_unit_test(test_shared_driver_names),
		cmocka_unit_test(test_by_module),
		cmocka_unit_test(test_keys_text),
		cmocka_unit_test(test_modes_text),
		cmocka_unit_test(test_hw_keys_of_a_row),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests_name("accel", tests, NULL, NULL);
}
