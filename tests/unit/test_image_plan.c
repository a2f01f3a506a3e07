/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Which modules a boot image gets: a table of (machine, accelerator named, specs) → roles and names, in load order.
 * The software that serves the volume when the engine fails is always among them.
 */
#include "machine_builder.h"

#include "core/image_plan.h"

#define GEODE_CPU "fpu de pse tsc msr cx8 cmov mmx 3dnow"
#define SKYLAKE "fpu lm aes pclmulqdq avx avx2"
#define KERNEL "k:dm_crypt k:algif_skcipher"
#define ENGINE KERNEL " k:crypto_user k:loop"

static const struct row {
	const char *what;
	struct mdesc m;
	const char *accel; /* id, or NULL; "=NAME NAME": named in hwluks.conf; "-": none wanted there */
	const char *specs; /* separated by spaces */
	const char *want;  /* a accelerator, k kernel, t template, s software; "!" missing, "+" built in, behind the name */
} rows[] = {
	{ "geode, essiv", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" }, NULL, "aes-cbc-essiv:sha256",
	  "a:geode-aes " ENGINE " t:cbc t:essiv s:sha256_generic s:aes_generic" },
	{ "geode, loaded", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" }, NULL, "aes-xts-plain64",
	  "a:geode-aes " ENGINE " t:xts t:ecb s:aes_generic" },
	{ "geode, module missing", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=missing" }, NULL,
	  "aes-cbc-plain64", KERNEL " t:cbc s:aes_generic" },
	{ "geode, denied", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=denied" }, NULL,
	  "aes-cbc-plain64", KERNEL " t:cbc s:aes_generic" },
	{ "geode for another machine", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE }, "geode-lx", "aes-cbc-plain64",
	  "a:geode-aes " ENGINE " t:cbc s:aes_generic" },
	{ "a named one that this kernel lacks", { "", ARCH_X86_32, KVER(6, 1), GEODE_CPU, .mods = "geode-aes=missing" }, "geode-lx",
	  "aes-cbc-plain64", "a:geode-aes! " ENGINE " t:cbc s:aes_generic" },
	{ "CPU instructions need no test", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE }, NULL, "aes-xts-plain64",
	  "a:aesni-intel " KERNEL " t:xts t:ecb s:aes_generic" },
	{ "an engine that dm-crypt refuses stays out", { "", ARCH_X86_64, KVER(6, 1), "fpu lm", "virtio-crypto" }, NULL,
	  "aes-xts-plain64", KERNEL " t:xts t:ecb s:aes_generic" },
	{ "an engine that would outrank the CPU stays out", { "", ARCH_ARM64, KVER(6, 1), "fp asimd aes", "ti-sa2ul", "arm64-ce" }, NULL,
	  "aes-xts-plain64", "a:aes-ce-blk " KERNEL " t:xts t:ecb s:aes_generic" },
	{ "a chain in load order", { "", ARCH_S390, KVER(6, 1), "msa" }, "s390-paes", "aes-xts-plain64",
	  "a:pkey a:paes_s390 " KERNEL " t:xts t:ecb s:aes_generic" },
	{ "adiantum beside a keyslot in xts", { "", ARCH_ARM, KVER(6, 1), "half" }, NULL, "xchacha12,aes-adiantum-plain64 aes-xts-plain64",
	  KERNEL " t:adiantum t:nhpoly1305 s:chacha_generic s:aes_generic t:xts t:ecb" },
	{ "other ciphers", { "", ARCH_X86_64, KVER(6, 1), "fpu" }, NULL, "serpent-xts-plain64 seed-cbc-essiv:sha1",
	  KERNEL " t:xts t:ecb s:serpent_generic t:cbc t:essiv s:sha1_generic s:seed" },
	{ "a hash of no row", { "", ARCH_X86_64, KVER(6, 1), "fpu" }, NULL, "aes-cbc-essiv:sm3", KERNEL " t:cbc t:essiv s:sm3 s:aes_generic" },
	{ "built in", { "", ARCH_X86_64, KVER(6, 1), "fpu", .mods = "dm_crypt=builtin cbc=builtin" }, NULL, "aes-cbc-plain64",
	  "k:dm_crypt+ k:algif_skcipher t:cbc+ s:aes_generic" },
	{ "capi", { "", ARCH_X86_64, KVER(6, 1), "fpu" }, NULL, "capi:xts(aes)-plain64", KERNEL " t:xts t:ecb s:aes_generic" },
	{ "named in hwluks.conf, here or not", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE }, "=geode-lx nosuch", "aes-cbc-plain64",
	  "a:geode-aes " ENGINE " t:cbc s:aes_generic" },
	{ "named by a driver", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE }, "=cbc-aes-geode", "aes-cbc-plain64",
	  "a:geode-aes " ENGINE " t:cbc s:aes_generic" },
	{ "hwluks.conf wants no driver", { "", ARCH_X86_64, KVER(6, 1), SKYLAKE }, "-", "aes-cbc-plain64", KERNEL " t:cbc s:aes_generic" },
	{ "no spec", { "", ARCH_X86_64, KVER(6, 1), "fpu" }, NULL, "", KERNEL },
};

static size_t parse_specs(const char *text, struct cipher_spec *spec, size_t max)
{
	char *copy = xstrdup(text), *save = NULL;
	size_t n = 0;

	for (char *w = strtok_r(copy, " ", &save); w && n < max; w = strtok_r(NULL, " ", &save))
		assert_int_equal(spec_parse(w, &spec[n++], NULL), 0);
	free(copy);
	return n;
}

static int check_row(const struct row *r)
{
	struct machine m = machine_build(&r->m);
	struct cipher_spec spec[4];
	struct image_request rq = { .specs = spec, .n_specs = parse_specs(r->specs, spec, ARRAY_SIZE(spec)) };
	cleanup_free char *words = xstrdup(r->accel && *r->accel == '=' ? r->accel + 1 : "");
	char *names[4], *save = NULL;
	struct strbuf got = { 0 };
	struct image_plan p;
	int bad;

	rq.names = names;
	rq.no_accel = r->accel && *r->accel == '-';
	if (r->accel && *r->accel == '=') {
		for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
			names[rq.n_names++] = w;
	} else if (r->accel && *r->accel != '-') {
		assert_non_null(rq.accel = accel_by_id(r->accel));
	}
	image_plan(&m, &rq, &p);
	for (size_t i = 0; i < p.n; i++) {
		strbuf_printf(&got, "%s%c:%s%s", i ? " " : "", *image_role_name(p.v[i].role), p.v[i].module,
			      p.v[i].state == MODULE_MISSING ? "!" : p.v[i].state == MODULE_BUILTIN ? "+" : "");
		assert_int_equal(p.v[i].accel != NULL, p.v[i].role == IMAGE_ACCEL);
	}
	bad = strcmp(got.s ? got.s : "", r->want) != 0;
	if (bad)
		print_error("%s:\n  got  %s\n  want %s\n", r->what, got.s, r->want);
	strbuf_free(&got);
	image_plan_free(&p);
	machine_free(&m);
	return bad;
}

static void test_rows(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		bad += check_row(&rows[i]);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

	return cmocka_run_group_tests_name("image_plan", tests, NULL, NULL);
}
