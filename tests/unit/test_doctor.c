/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * doctor: for each check a machine or volume that has the fault, one that has not, and one whose facts are unknown; what
 * absorbs what; the order. Links core, doctor and util only.
 */
#include "machine_builder.h"

#include "core/crypttab.h"
#include "doctor/doctor.h"

enum { PLAIN_OPEN = 0, CLOSED = 1 << 0, UNLISTED = 1 << 1, COUNTS_UNKNOWN = 1 << 2 };

/* One volume; zero means: nothing known of it. */
struct vdesc {
	const char *spec;
	unsigned int bits, sector;
	const char *driver; /* bound to it, NULL = not known */
	const char *disk;   /* "sda rotational physical start discard optimal", -1 = unknown; NULL = no stack */
	const char *content; /* "ext4 4096" */
	enum doctor_header_type header;
	unsigned int table; /* CRYPT_FLAG_* */
	unsigned int how;
	uint32_t argon_kib;
	uint64_t offset;
	unsigned int tag;
	const char *measured; /* as in a recording */
};
struct row {
	const char *name;
	struct mdesc m;
	struct vdesc v, w; /* w: a second volume */
	const char *crypttab;
	const char *want; /* "id=severity", absorbed ones "id<cause"; with "-" in front: must not be there. The first stands first */
	uint64_t mem;
	const char *release;
	enum doctor_tri fips;
	const char *remedy; /* part of the first finding's remedy, or of the reason why there is none */
	const char *setups; /* what was measured, as in a recording */
	const char *gain;   /* part of the first finding's gain */
	double factor;	    /* of it, within a hundredth; 0 = not looked at */
	double rewrite_s;
};

static void stack_build(struct doctor_volume *v, const char *text)
{
	struct stack_device *d = xcalloc(2, sizeof(*d));
	long long rot, phys, start, discard, optimal;
	char name[64];

	assert_int_equal(sscanf(text, "%63s %lld %lld %lld %lld %lld", name, &rot, &phys, &start, &discard, &optimal), 6);
	d[0] = (struct stack_device){ .kind = STACK_PARTITION, .rotational = (int)rot, .logical = 512, .physical = phys, .start = start,
				      .discard_granularity = discard, .optimal_io = optimal };
	d[1] = d[0];
	d[1].kind = STACK_DISK;
	d[1].start = 0;
	d[1].depth = 1;
	snprintf(d[0].name, sizeof(d[0].name), "%.60s1", name);
	snprintf(d[1].name, sizeof(d[1].name), "%s", name);
	v->stack = (struct stack){ .v = d, .n = 2 };
	v->stack_known = true;
}

static void volume_build(const struct machine *m, const struct load_plan *plan, const struct vdesc *d, const char *name, struct doctor_volume *v)
{
	*v = (struct doctor_volume){ .open = !(d->how & CLOSED), .spec_known = true, .spec = spec_make(d->spec, d->bits, d->sector ? d->sector : 512),
				     .size = 1 << 30, .data_offset = d->offset ? d->offset : 16 << 20, .flags = d->table, .targets = 1,
				     .tag_size = d->tag, .header.type = d->header };
	str_copy(v->name, sizeof(v->name), name);
	str_copy(v->device, sizeof(v->device), "/dev/sda1");
	v->binding.unlisted = d->how & UNLISTED;
	v->binding.evidence = d->driver ? BINDING_COUNTED : BINDING_UNKNOWN;
	str_copy(v->binding.driver, sizeof(v->binding.driver), d->driver ? d->driver : "");
	if (v->open)
		policy_judge_binding(m, &v->spec, d->driver, &v->verdict);
	else
		policy_decide(m, plan, &v->spec, &v->verdict);
	if (d->disk)
		stack_build(v, d->disk);
	if (d->content) {
		v->content_known = true;
		assert_int_equal(sscanf(d->content, "%31s %u", v->content, &v->content_block), 2);
	}
	if (d->argon_kib) {
		v->header.slot[0] = (struct doctor_keyslot){ .pbkdf = "argon2id", .iterations = 4, .memory_kib = d->argon_kib, .parallel = 4 };
		v->header.n_slots = 1;
	}
	measured_volume_from_text(d->measured, v);
}

static const struct finding *find(const struct findings *l, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i]->check->id, id))
			return l->v[i];
	return NULL;
}

/* "id=severity", "id<cause" or "-id". */
static const char *want_fault(const struct findings *l, char *w, bool first)
{
	char *sep = strpbrk(w, "=<"), kind = sep ? *sep : 0;
	const struct finding *x;

	if (*w == '-')
		return find(l, w + 1) ? "is there" : NULL;
	assert_non_null(sep);
	*sep = '\0';
	x = find(l, w);
	if (!x)
		return "is not there";
	if (first && l->v[0] != x)
		return "is not the first";
	if (kind == '<')
		return x->absorbed_by && !strcmp(x->absorbed_by->check->id, sep + 1) ? NULL : "is not absorbed by that";
	if (x->absorbed_by)
		return "is absorbed";
	return strcmp(severity_name(x->severity), sep + 1) ? severity_name(x->severity) : NULL;
}

/* Sentences are sentences; a command is one line; every finding has evidence, and what is above a note says what to do. */
static const char *form_fault(const struct finding *x)
{
	if (!is_sentence(x->title) || !x->evidence.n)
		return "title or evidence";
	for (size_t i = 0; i < x->evidence.n; i++)
		if (strlen(x->evidence.v[i]) < 8)
			return "evidence";
	if (x->severity >= SEVERITY_WARNING && !x->remedy && !x->no_remedy)
		return "no remedy and no reason";
	if (x->remedy && (strchr(x->remedy, '\n') || strstr(x->remedy, "  ")))
		return "remedy";
	if (x->hazards && !is_sentence(x->hazards))
		return "hazards";
	return x->no_remedy && !strchr(x->no_remedy, '.') ? "no_remedy" : NULL;
}

static void list_found(const struct findings *l)
{
	for (size_t i = 0; i < l->n; i++)
		print_message("    %s=%s%s%s: %s | %s | %s\n", l->v[i]->check->id, severity_name(l->v[i]->severity),
			      l->v[i]->absorbed_by ? "<" : "", l->v[i]->absorbed_by ? l->v[i]->absorbed_by->check->id : "", l->v[i]->title,
			      l->v[i]->remedy ? l->v[i]->remedy : "", l->v[i]->no_remedy ? l->v[i]->no_remedy : "");
}

static bool near(double a, double b)
{
	return a > 0.99 * b && a < 1.01 * b;
}

static unsigned int check_gain(const struct row *r, const struct findings *l)
{
	const struct finding *x = l->n ? l->v[0] : NULL;
	unsigned int bad = 0;

	if (r->gain && !(x && x->gain && strstr(x->gain, r->gain))) {
		print_message("%s: the gain is '%s'\n", r->name, x && x->gain ? x->gain : "");
		bad++;
	}
	if (r->factor > 0 && !(x && x->measured && near(x->factor, r->factor))) {
		print_message("%s: the factor is %.3f, measured %d\n", r->name, x ? x->factor : 0, x && x->measured);
		bad++;
	}
	if (r->rewrite_s > 0 && !(x && near(x->rewrite_s, r->rewrite_s))) {
		print_message("%s: the rewrite takes %.1f s\n", r->name, x ? x->rewrite_s : 0);
		bad++;
	}
	return bad;
}

static unsigned int check_row(const struct row *r, const struct findings *l)
{
	char *copy = xstrdup(r->want), *save = NULL;
	unsigned int bad = 0;
	bool first = true;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save), first = false) {
		const char *fault = want_fault(l, w, first);

		if (fault) {
			print_message("%s: %s %s\n", r->name, w, fault);
			bad++;
		}
	}
	for (size_t i = 0; i < l->n; i++)
		if (form_fault(l->v[i])) {
			print_message("%s: %s: %s\n", r->name, l->v[i]->check->id, form_fault(l->v[i]));
			bad++;
		}
	if (r->remedy && !(l->n && ((l->v[0]->remedy && strstr(l->v[0]->remedy, r->remedy)) ||
				    (l->v[0]->no_remedy && strstr(l->v[0]->no_remedy, r->remedy))))) {
		print_message("%s: the remedy is not '%s'\n", r->name, r->remedy);
		bad++;
	}
	bad += check_gain(r, l);
	free(copy);
	if (bad)
		list_found(l);
	return bad;
}

static unsigned int run_row(const struct row *r, struct strv *fired)
{
	struct machine m = machine_build(&r->m);
	struct doctor_volume v[2];
	struct doctor_facts f = { .m = &m, .crypttab_known = true, .fips = r->fips };
	struct load_plan plan;
	struct findings l;
	unsigned int bad;

	m.mem_total = r->mem;
	if (r->release)
		str_copy(m.release, sizeof(m.release), r->release);
	policy_load_plan(&m, NULL, &plan);
	f.plan = &plan;
	crypttab_parse(r->crypttab, &f.crypttab);
	f.v = xcalloc(2, sizeof(*f.v));
	memset(v, 0, sizeof(v));
	if (r->v.spec)
		volume_build(&m, &plan, &r->v, "home", &f.v[f.n++]);
	if (r->w.spec)
		volume_build(&m, &plan, &r->w, "data", &f.v[f.n++]);
	measured_setups_from_text(r->setups, &f);
	doctor_run(&f, NULL, &l);
	bad = check_row(r, &l);
	for (size_t i = 0; i < l.n; i++)
		strv_add_unique(fired, l.v[i]->check->id);
	findings_free(&l);
	doctor_facts_free(&f);
	load_plan_free(&plan);
	machine_free(&m);
	return bad;
}

#define GEODE	   { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu mmx", .here = "geode-lx", .in = "geode-lx" }
#define GEODE_OUT  { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu mmx", .here = "geode-lx" }
#define GEODE_7_3  { .arch = ARCH_X86_32, .kernel = KVER(7, 3), .cpu = "fpu mmx", .here = "geode-lx", .in = "geode-lx" }
#define AESNI(k)   { .arch = ARCH_X86_64, .kernel = k, .cpu = "fpu aes", .in = "x86-aesni" }
#define AESNI_NEW  { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "fpu aes", .in = "x86-aesni", .algs = "xts(aes)|xts(ecb(aes-generic))|100" }
#define NO_AES_PC  { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "fpu sse2" }
#define NO_AES_ARM { .arch = ARCH_ARM, .kernel = KVER(6, 1), .cpu = "half thumb" }
#define XTS512	   .spec = "aes-xts-plain64", .bits = 512
#define SSD	   .disk = "nvme0n1 0 512 1048576 512 0"
#define HDD	   .disk = "sda 1 512 1048576 0 0"
#define HDD_4K	   .disk = "sda 1 4096 1048576 0 0"
#define KEY256	   .spec = "aes-cbc-essiv:sha256", .bits = 256, .driver = "essiv(cbc-aes-geode,sha256-generic)"
#define KEY128	   .spec = "aes-cbc-essiv:sha256", .bits = 128, .driver = "essiv(cbc-aes-geode,sha256-generic)"
#define RATES(r)   "write " #r " " #r " " #r " 3\nread " #r " " #r " " #r " 3\n"
#define NOW256(r)  "setup aes-cbc-essiv:sha256 256 512 0 -\n" RATES(r)
#define THEN128(r) "setup aes-cbc-essiv:sha256 128 512 0 -\n" RATES(r)
#define XTS(z, r)  "setup aes-xts-plain64 512 " #z " 0 -\n" RATES(r)
#define NO_ABOVE   "-software -key-size -mode -driver-late -engine-excluded -engine-slower -driver-not-loaded -no-aes"

static const struct row rows[] = {
	/* 7 */
	{ "late: the old driver left the list", AESNI_NEW, { XTS512, .how = UNLISTED }, .want = "driver-late=warning binding-unknown<driver-late",
	  .remedy = "hwluks refresh home" },
	{ "late: the old driver stands beside the better one", AESNI_NEW, { XTS512, .driver = "xts(ecb(aes-generic))" },
	  .want = "driver-late=warning software<driver-late" },
	{ "not late", AESNI_NEW, { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2 }, .want = "-driver-late -software -binding-unknown" },
	{ "late: the list is unknown", { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "aes", .flags = NO_LIST }, { XTS512 },
	  .want = "driver-not-loaded=warning algorithms-unread=unknown binding-unknown=unknown -driver-late" },
	{ "late: not open", AESNI_NEW, { XTS512, .how = CLOSED }, .want = "-driver-late -binding-unknown" },
	/* 8 */
	{ "excluded", { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "fpu", .here = "virtio-crypto", .in = "virtio-crypto" },
	  { .spec = "aes-cbc-essiv:sha256", .bits = 256, .driver = "essiv(cbc(aes-generic),sha256-generic)", .header = HEADER_LUKS2 },
	  .want = "engine-excluded=warning software<engine-excluded -engine-out-of-reach", .remedy = "xchacha12,aes-adiantum-plain64" },
	{ "excluded, no volume", { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "fpu", .here = "virtio-crypto", .in = "virtio-crypto" },
	  .want = "engine-out-of-reach=note no-aes<engine-out-of-reach" },
	{ "excluded, and the CPU serves it", { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "aes", .here = "virtio-crypto", .in = "virtio-crypto x86-aesni" },
	  { XTS512, .driver = "xts-aes-aesni" }, .want = "-engine-excluded -software" },
	/* 9 */
	{ "slower", { .arch = ARCH_ARM, .kernel = KVER(6, 1), .cpu = "neon", .here = "stm32-cryp", .in = "stm32-cryp" },
	  { .spec = "aes-cbc-plain64", .bits = 256, .driver = "stm32-cbc-aes" }, .want = "engine-slower=warning", .remedy = "blacklist stm32" },
	{ "slower, no volume", { .arch = ARCH_ARM, .kernel = KVER(6, 1), .cpu = "neon", .here = "stm32-cryp", .in = "stm32-cryp" },
	  .want = "engine-in-front=warning" },
	{ "not slower", GEODE, { .spec = "aes-cbc-essiv:sha256", .bits = 128, .driver = "essiv(cbc-aes-geode,sha256-generic)" },
	  .want = "-engine-slower -engine-in-front " NO_ABOVE },
	/* 10 */
	{ "template missing", GEODE_7_3, { .spec = "aes-xts-plain64", .bits = 256, .driver = "xts-aes-lib" },
	  .want = "template-missing=warning software<template-missing", .remedy = "hwluks refresh home" },
	{ "template there", { .arch = ARCH_X86_32, .kernel = KVER(7, 3), .cpu = "fpu", .here = "geode-lx", .in = "geode-lx",
			      .algs = "xts(aes)|xts(ecb-aes-geode)|400" },
	  { .spec = "aes-xts-plain64", .bits = 256, .driver = "xts(ecb-aes-geode)" }, .want = "-template-missing -software" },
	/* 11 */
	{ "key size", GEODE, { .spec = "aes-cbc-essiv:sha256", .bits = 256, .driver = "essiv(cbc-aes-geode,sha256-generic)", .header = HEADER_LUKS2 },
	  .want = "key-size=warning software<key-size -mode", .remedy = "cryptsetup reencrypt --cipher aes-cbc-essiv:sha256 --key-size 128 /dev/sda1" },
	{ "key size, xts", GEODE, { XTS512, .driver = "xts(ecb-aes-geode)", .header = HEADER_LUKS2 }, .want = "key-size=warning",
	  .remedy = "--cipher aes-xts-plain64 --key-size 256" },
	{ "key size, LUKS1", GEODE, { XTS512, .driver = "xts(ecb-aes-geode)", .header = HEADER_LUKS1 }, .want = "key-size=warning",
	  .remedy = "make a new volume" },
	{ "key size, header unknown", GEODE, { XTS512, .driver = "xts(ecb-aes-geode)" }, .want = "key-size=warning header-unknown=unknown",
	  .remedy = "Not offered" },
	{ "key size, not open", GEODE, { XTS512, .how = CLOSED, .header = HEADER_LUKS2 }, .want = "key-size=warning" },
	{ "key size fits", GEODE, { .spec = "aes-xts-plain64", .bits = 256, .driver = "xts(ecb-aes-geode)" }, .want = NO_ABOVE },
	/* 13 */
	{ "self-test failed", { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu", .here = "geode-lx", .in = "geode-lx", .algs = "cbc(aes)|cbc-aes-geode|400|!" },
	  { .spec = "aes-cbc-essiv:sha256", .bits = 128, .driver = "essiv(cbc(aes-generic),sha256-generic)" },
	  .want = "self-test-failed=problem software<self-test-failed" },
	{ "self-test passed", GEODE, .want = "-self-test-failed -quarantined -selftests-off" },
	{ "quarantined", { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu", .here = "geode-lx", .in = "geode-lx", .algs = "cbc(aes)|cbc-aes-geode|0" },
	  .want = "quarantined=warning no-aes<quarantined" },
	{ "self-tests off", { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "aes", .in = "x86-aesni", .flags = TESTS_OFF }, .want = "selftests-off=note" },
	/* 1, 2 */
	{ "software", NO_AES_ARM, { XTS512, .driver = "xts(ecb(aes-generic))", .header = HEADER_LUKS2 }, .want = "software=warning no-aes<software",
	  .remedy = "xchacha12,aes-adiantum-plain64 --key-size 256" },
	{ "adiantum is the right software", NO_AES_ARM,
	  { .spec = "xchacha12,aes-adiantum-plain64", .bits = 256, .driver = "adiantum(xchacha12-generic,aes-generic,nhpoly1305-generic)" },
	  .want = "no-aes=note -software -adiantum-with-aes" },
	{ "the CPU is unknown", { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .flags = NO_CPUINFO }, .want = "-no-aes -vm-hides-aes" },
	{ "a guest without AES", { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "fpu hypervisor", .flags = IN_VM }, { XTS512, .driver = "xts(ecb(aes-generic))" },
	  .want = "vm-hides-aes=warning software<vm-hides-aes no-aes<vm-hides-aes" },
	{ "a guest with AES", { .arch = ARCH_X86_64, .kernel = KVER(6, 12), .cpu = "aes", .in = "x86-aesni", .flags = IN_VM }, .want = "-vm-hides-aes -no-aes" },
	/* 3, 4, 5, 14, 31 */
	{ "not loaded", GEODE_OUT, { .spec = "aes-cbc-essiv:sha256", .bits = 128, .driver = "essiv(cbc(aes-generic),sha256-generic)" },
	  .want = "driver-not-loaded=warning software<driver-not-loaded", .remedy = "hwluks load" },
	{ "denied", { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu", .here = "geode-lx", .mods = "geode-aes=denied" },
	  .want = "driver-denied=warning -driver-not-loaded", .remedy = "hwluks load --force geode-aes" },
	{ "denied by the kernel", { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu", .here = "geode-lx", .mods = "geode-aes=kernel" },
	  .want = "driver-denied=warning", .remedy = "kernel command line" },
	{ "not installed", { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu", .here = "geode-lx", .mods = "geode-aes=missing" },
	  .want = "driver-not-installed=warning" },
	{ "not built", { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu", .here = "geode-lx", .mods = "geode-aes=missing",
			 .kconfig = "# CONFIG_CRYPTO_DEV_GEODE is not set\n" }, .want = "driver-not-built=warning -driver-not-installed" },
	{ "idle", { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu", .here = "geode-lx", .mods = "geode-aes=loaded" }, .want = "driver-idle=warning" },
	{ "module unknown", { .arch = ARCH_X86_32, .kernel = KVER(6, 1), .cpu = "fpu", .here = "geode-lx", .mods = "geode-aes=unknown" },
	  .want = "driver-not-loaded=unknown -driver-idle -driver-not-installed -driver-denied -driver-not-built" },
	{ "all of them in order", GEODE, .want = "-driver-idle -driver-not-installed -driver-not-loaded -driver-denied -driver-not-built" },
	/* 12, 15, 16 */
	{ "small requests", GEODE, { .spec = "aes-xts-plain64", .bits = 256, .driver = "xts(ecb-aes-geode)", HDD_4K, .header = HEADER_LUKS2, .content = "ext4 4096" },
	  .want = "small-requests=note sector-size<small-requests", .remedy = "--sector-size 4096" },
	{ "large requests", GEODE, { .spec = "aes-xts-plain64", .bits = 256, .sector = 4096, .driver = "xts(ecb-aes-geode)", HDD_4K },
	  .want = "-small-requests -sector-size" },
	{ "sectors", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD_4K, .header = HEADER_LUKS2, .content = "ext4 4096" },
	  .want = "sector-size=note", .remedy = "--sector-size 4096 /dev/sda1" },
	{ "sectors, small blocks above", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD_4K, .header = HEADER_LUKS2, .content = "ext4 1024" },
	  .want = "sector-size=note", .remedy = "uses blocks of 1024 bytes" },
	{ "sectors, LVM above", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD_4K, .header = HEADER_LUKS2, .content = "LVM2_member 512" },
	  .want = "sector-size=note", .remedy = "LVM lies on it" },
	{ "sectors, content unknown", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD_4K, .header = HEADER_LUKS2 },
	  .want = "sector-size=note", .remedy = "could not be recognised" },
	{ "small sectors on a disk of small sectors", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD }, .want = "-sector-size -stack-unknown" },
	{ "the disk is unknown", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni" },
	  .want = "stack-unknown=unknown -sector-size -misaligned -workqueues -discards" },
	{ "misaligned", AESNI(KVER(6, 12)), { XTS512, .sector = 4096, .driver = "xts-aes-aesni", .disk = "sda 1 4096 32256 0 0" }, .want = "misaligned=warning" },
	{ "aligned", AESNI(KVER(6, 12)), { XTS512, .sector = 4096, .driver = "xts-aes-aesni", HDD_4K }, .want = "-misaligned -odd-optimal-io" },
	{ "odd optimal size", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .disk = "sda 1 512 1048576 0 33553920" }, .want = "header-unknown=unknown odd-optimal-io=info" },
	/* 17, 18, 19, 20, 36, 42 */
	{ "workqueues", AESNI(KVER(6, 12)), { XTS512, .sector = 4096, .driver = "xts-aes-aesni", SSD, .header = HEADER_LUKS2 }, .want = "workqueues=note discards=info",
	  .remedy = "hwluks refresh --perf-no_read_workqueue --perf-no_write_workqueue --persistent home" },
	{ "no workqueues", AESNI(KVER(6, 12)), { XTS512, .sector = 4096, .driver = "xts-aes-aesni", SSD,
	  .table = CRYPT_FLAG_NO_READ_WORKQUEUE | CRYPT_FLAG_NO_WRITE_WORKQUEUE | CRYPT_FLAG_ALLOW_DISCARDS },
	  .want = "-workqueues -workqueues-slow-disk -discards" },
	{ "workqueues on a rotating disk", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD }, .want = "-workqueues -workqueues-slow-disk -discards" },
	{ "no workqueues on a rotating disk", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD, .header = HEADER_LUKS2,
	  .table = CRYPT_FLAG_NO_WRITE_WORKQUEUE | CRYPT_FLAG_ALLOW_DISCARDS },
	  .want = "workqueues-slow-disk=warning", .remedy = "hwluks refresh --allow-discards --persistent home" },
	{ "kernel 5.9", AESNI(KVER(5, 9)), { XTS512, .driver = "xts-aes-aesni", HDD, .table = CRYPT_FLAG_NO_WRITE_WORKQUEUE },
	  .want = "workqueues-5.9=problem workqueues-slow-disk<workqueues-5.9 old-kernel=note -write-order" },
	{ "crypttab not in force", AESNI(KVER(6, 12)), { XTS512, .sector = 4096, .driver = "xts-aes-aesni", SSD, .header = HEADER_LUKS2 },
	  .crypttab = "# x\nhome UUID=1 none luks,discard,no-read-workqueue\n",
	  .want = "crypttab-flags=warning workqueues<crypttab-flags discards<crypttab-flags", .remedy = "--allow-discards --perf-no_read_workqueue" },
	{ "crypttab in force", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", SSD, .table = CRYPT_FLAG_ALLOW_DISCARDS },
	  .crypttab = "home UUID=1 none luks,discard\n", .want = "-crypttab-flags" },
	{ "an old kernel and a rotating disk", AESNI(KVER(4, 19)), { XTS512, .driver = "xts-aes-aesni", HDD }, .want = "retpoline=note write-order=note" },
	/* 21 to 28 */
	{ "serpent", AESNI(KVER(6, 12)), { .spec = "serpent-xts-plain64", .bits = 512, .driver = "xts(ecb(serpent-generic))", .header = HEADER_LUKS2 },
	  .want = "foreign-cipher=note -software", .remedy = "--cipher aes-xts-plain64" },
	{ "serpent without AES", NO_AES_PC, { .spec = "serpent-xts-plain64", .bits = 512, .driver = "xts(ecb(serpent-generic))" }, .want = "-foreign-cipher" },
	{ "adiantum with AES", AESNI(KVER(6, 12)), { .spec = "xchacha12,aes-adiantum-plain64", .bits = 256, .driver = "adiantum(xchacha12-generic,aes-aesni,nhpoly1305-generic)", .header = HEADER_LUKS2 },
	  .want = "adiantum-with-aes=note" },
	{ "cbc", AESNI(KVER(6, 12)), { .spec = "aes-cbc-essiv:sha256", .bits = 256, .driver = "essiv(cbc-aes-aesni,sha256-generic)", .header = HEADER_LUKS2 },
	  .want = "cbc-serial=note", .remedy = "--key-size 512" },
	{ "xts is not serial", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni" }, .want = "-cbc-serial xts-long-key=info -xts-on-arm -foreign-cipher -adiantum-with-aes" },
	{ "cbc on an engine", GEODE, { .spec = "aes-cbc-essiv:sha256", .bits = 128, .driver = "essiv(cbc-aes-geode,sha256-generic)" }, .want = "-cbc-serial -xts-long-key" },
	{ "vector code off", { .arch = ARCH_ARM, .kernel = KVER(7, 3), .cpu = "neon", .mods = "aes-arm-bs=present" }, .want = "vector-code-off=warning no-aes<vector-code-off" },
	{ "vector code on", { .arch = ARCH_ARM, .kernel = KVER(7, 3), .cpu = "neon", .in = "arm-neonbs" }, .want = "-vector-code-off" },
	{ "xts on ARM", NO_AES_ARM, { XTS512, .driver = "xts(ecb(aes-generic))" }, .want = "software=warning xts-on-arm=note" },
	{ "retpoline", AESNI(KVER(5, 10)), .want = "retpoline=note" },
	{ "no retpoline", AESNI(KVER(5, 12)), .want = "-retpoline -vaes-unused -old-kernel" },
	{ "vaes", { .arch = ARCH_X86_64, .kernel = KVER(6, 1), .cpu = "aes vaes avx2 vpclmulqdq", .in = "x86-aesni" }, .want = "vaes-unused=note" },
	{ "vaes, the kernel is unknown", { .arch = ARCH_X86_64, .cpu = "aes vaes", .in = "x86-aesni" }, .want = "-vaes-unused -retpoline -old-kernel" },
	/* 29, 34, 35, 37, 41 and old kernels */
	{ "fips", AESNI(KVER(6, 12)), .fips = TRI_FACT_YES, .want = "fips=info" },
	{ "fips unknown", AESNI(KVER(6, 12)), .want = "-fips" },
	{ "fixed time", NO_AES_PC, { XTS512, .driver = "xts(ecb(aes-fixed-time))" }, .want = "fixed-time=warning" },
	{ "argon2 over memory", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 20 }, .mem = 512 << 20,
	  .want = "argon2-memory=problem" },
	{ "argon2 fits", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18 }, .mem = 512 << 20,
	  .want = "-argon2-memory -header-unknown" },
	{ "memory unknown", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18 }, .want = "argon2-memory=unknown" },
	{ "two memory-hard volumes", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18 },
	  { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18 }, .mem = 1 << 30,
	  .crypttab = "home UUID=1\ndata UUID=2 none luks\n", .want = "argon2-row=note" },
	{ "one of them not at boot", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18 },
	  { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18 }, .mem = 1 << 30,
	  .crypttab = "home UUID=1\ndata UUID=2 none luks,noauto\n", .want = "-argon2-row" },
	{ "integrity", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .tag = 32 }, .want = "integrity=note" },
	{ "a bad spec in crypttab", AESNI(KVER(6, 12)), .crypttab = "swap /dev/sda3 /dev/urandom swap,cipher=aes-cbc-essiv:sha1,size=256\n", .want = "spec-impossible=problem" },
	{ "no spec in crypttab", AESNI(KVER(6, 12)), .crypttab = "swap /dev/sda3 /dev/urandom swap,cipher=aes-,size=256\n", .want = "spec-impossible=problem" },
	{ "a good spec in crypttab", AESNI(KVER(6, 12)), .crypttab = "swap /dev/sda3 /dev/urandom swap,cipher=aes-xts-plain64,size=512\n", .want = "-spec-impossible" },
	{ "kernel 2.6.24", { .arch = ARCH_X86_32, .kernel = KVER(2, 6), .cpu = "fpu", .here = "geode-lx", .in = "geode-lx" }, .release = "2.6.24-16-generic",
	  .want = "essiv-refused=warning old-kernel=note" },
	{ "kernel 2.6.26", { .arch = ARCH_X86_32, .kernel = KVER(2, 6), .cpu = "fpu", .here = "geode-lx", .in = "geode-lx" }, .release = "2.6.26-2-686",
	  .want = "old-kernel=note -essiv-refused" },
	/* measured: 10 MB/s by the cipher and 100 by the disk; without a disk 11.11 and 50 with the other key, so 33.3 (20 + 10 ms a MB) */
	{ "measured: the key size", GEODE, { KEY256, .header = HEADER_LUKS2, .measured = "device 100 99 101 5\nmapping 10 9.9 10.1 5\n" },
	  .setups = NOW256(11.111) THEN128(50), .want = "key-size=warning software<key-size -disk-limits -not-measured", .factor = 3.333,
	  .gain = "reading 10.0 MB/s now, 33.3 with a 128-bit key (3.3 times)", .rewrite_s = 1073.74 * (0.1 + 0.03) },
	{ "measured: without a volume's reads only the cipher counts", GEODE, { KEY256, .header = HEADER_LUKS2 },
	  .setups = NOW256(10) THEN128(50), .want = "key-size=warning", .factor = 5 },
	{ "measured: only the volume, the rewrite at its speed", GEODE, { KEY256, .header = HEADER_LUKS2, .measured = "mapping 10 9.9 10.1 5\n" },
	  .want = "key-size=warning", .rewrite_s = 1073.74 * 0.2 },
	{ "measured: inside the spread is no difference", GEODE, { KEY256, .header = HEADER_LUKS2 },
	  .setups = NOW256(10) "setup aes-cbc-essiv:sha256 128 512 0 -\nwrite 30 9 60 3\nread 30 9 60 3\n", .want = "key-size=note", .factor = 1,
	  .gain = "(no difference). The runs lie far apart" },
	{ "measured: inside the volume's own noise is no difference", GEODE,
	  { KEY256, .header = HEADER_LUKS2, .measured = "device 20 10 30 5\nmapping 10 5 15 5\n" },
	  .setups = NOW256(11) THEN128(12), .want = "key-size=note", .factor = 1, .gain = "reading 10.0 MB/s now, 10.8 with a 128-bit key (no difference)" },
	{ "measured: another driver answered", GEODE, { KEY256, .header = HEADER_LUKS2 },
	  .setups = "setup aes-cbc-essiv:sha256 256 512 0 -\ndriver other\nwrite 9 9 9 3\nread 9 9 9 3\n" THEN128(50), .want = "key-size=warning" },
	{ "measured: sectors pay", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD_4K, .header = HEADER_LUKS2, .content = "ext4 4096" },
	  .setups = XTS(512, 100) XTS(4096, 150), .want = "sector-size=warning", .factor = 1.5, .gain = "in sectors of 4096 bytes (1.5 times)" },
	{ "measured: sectors pay little", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD_4K, .header = HEADER_LUKS2, .content = "ext4 4096" },
	  .setups = XTS(512, 100) XTS(4096, 110), .want = "sector-size=note", .factor = 1.1 },
	{ "measured: sectors do not pay", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", HDD_4K, .header = HEADER_LUKS2, .content = "ext4 4096" },
	  .setups = XTS(512, 100) XTS(4096, 100), .want = "sector-size=info" },
	{ "measured: no gain, so no rewrite", GEODE, { KEY256, .header = HEADER_LUKS2 }, .setups = NOW256(50) THEN128(50), .want = "key-size=note",
	  .factor = 1, .remedy = "it gains nothing", .gain = "(no difference)" },
	{ "measured: slower, so no rewrite", GEODE, { KEY256, .header = HEADER_LUKS2 }, .setups = NOW256(50) THEN128(20), .want = "key-size=note",
	  .factor = 0.4, .remedy = "it gains nothing", .gain = "(slower)" },
	{ "measured: late", AESNI_NEW, { XTS512, .driver = "xts(ecb(aes-generic))" },
	  .setups = XTS(512, 900) "setup aes-xts-plain64 512 512 0 capi:xts(ecb(aes-generic))-plain64\ndriver xts(ecb(aes-generic))\n"
	  "write 90 90 90 3\nread 90 90 90 3\n", .want = "driver-late=warning", .factor = 10 },
	{ "measured: late, and the old driver has no name", AESNI_NEW, { XTS512, .how = UNLISTED, .measured = "device 900 890 910 5\nmapping 90 89 91 5\n" },
	  .setups = XTS(512, 900), .want = "driver-late=warning", .factor = 5 },
	{ "measured: the engine is slower than the CPU", GEODE, { KEY128 },
	  .setups = THEN128(10) "setup aes-cbc-essiv:sha256 128 512 0 capi:essiv(cbc(aes-generic),sha256-generic)-plain64\nwrite 20 20 20 3\nread 20 20 20 3\n",
	  .want = "engine-slower=warning", .factor = 2 },
	{ "measured: the engine is faster than the CPU", GEODE, { KEY128 },
	  .setups = THEN128(20) "setup aes-cbc-essiv:sha256 128 512 0 capi:essiv(cbc(aes-generic),sha256-generic)-plain64\nwrite 10 10 10 3\nread 10 10 10 3\n",
	  .want = "-engine-slower" },
	/* 40 */
	{ "the disk is the limit", GEODE, { KEY128, HDD, .measured = "device 2 1.9 2.1 5\nmapping 1.8 1.7 1.9 5\n" }, .setups = THEN128(18),
	  .want = "disk-limits=note small-requests<disk-limits", .factor = 10, .remedy = "Look below" },
	{ "the disk is not the limit", GEODE, { KEY128, HDD, .measured = "device 20 19 21 5\nmapping 10 9 11 5\n" }, .setups = THEN128(20), .want = "-disk-limits" },
	{ "the mapping was not read", GEODE, { KEY128, HDD, .measured = "device 20 19 21 5\nwhy It is suspended.\n" }, .want = "-disk-limits not-measured=unknown" },
	{ "the cipher could not be measured", GEODE, { KEY128, HDD, .sector = 4096, .header = HEADER_LUKS2 }, .setups = "setup aes-cbc-essiv:sha256 128 4096 0 -\nwhy No zero target.\n",
	  .want = "not-measured=unknown" },
	/* 32 */
	{ "a slot that takes long", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18, .measured = "unlock 0 9.5\n" },
	  .mem = 1 << 30, .want = "pbkdf-slow=warning", .factor = 4.75, .remedy = "cryptsetup luksConvertKey --key-slot 0 --iter-time 2000 /dev/sda1" },
	{ "a slot that takes a little longer", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS1, .argon_kib = 1 << 18, .measured = "unlock 0 4\n" },
	  .mem = 1 << 30, .want = "pbkdf-slow=note", .remedy = "luksChangeKey" },
	{ "a slot as it should be", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18, .measured = "unlock 0 2.2\nunlock 7 99\n" },
	  .mem = 1 << 30, .want = "-pbkdf-slow" },
	{ "a slot that was not measured", AESNI(KVER(6, 12)), { XTS512, .driver = "xts-aes-aesni", .header = HEADER_LUKS2, .argon_kib = 1 << 18 }, .mem = 1 << 30,
	  .want = "-pbkdf-slow" },
};

static void test_rows(void **state)
{
	struct strv fired = { 0 };
	unsigned int bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		bad += run_row(&rows[i], &fired);
	/* what only gathering can bring about, or cannot be built from a description */
	for (const struct check *c = check_table; c < check_table + check_count; c++)
		if (!strv_has(&fired, c->id) && !strstr("mode af-alg rng-credit volumes-unknown", c->id)) {
			print_message("no row makes %s fire\n", c->id);
			bad++;
		}
	print_message("%zu of %zu checks fired\n", fired.n, check_count);
	strv_free(&fired);
	assert_int_equal(bad, 0);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < check_count; i++) {
		assert_non_null(check_table[i].run);
		assert_true(strlen(check_table[i].title) > 10);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(check_table[i].id, check_table[k].id);
		/* a cause and its symptom do not explain each other */
		for (size_t k = 0; k < check_count; k++)
			assert_false(check_absorbs(check_table[i].id, check_table[k].id) && check_absorbs(check_table[k].id, check_table[i].id));
	}
}

/* What costs most stands first, the absorbed last; a volume's worst finding is its cause. */
static void test_order(void **state)
{
	struct mdesc d = AESNI_NEW;
	struct machine m = machine_build(&d);
	struct vdesc vd = { XTS512, .driver = "xts(ecb(aes-generic))", SSD };
	struct doctor_facts f = { .m = &m, .crypttab_known = true, .v = xcalloc(1, sizeof(*f.v)), .n = 1 };
	struct load_plan plan;
	struct findings l;

	(void)state;
	policy_load_plan(&m, NULL, &plan);
	f.plan = &plan;
	volume_build(&m, &plan, &vd, "home", &f.v[0]);
	doctor_run(&f, NULL, &l);
	for (size_t i = 1; i < l.n; i++) {
		assert_true(!l.v[i - 1]->absorbed_by >= !l.v[i]->absorbed_by);
		if (!l.v[i]->absorbed_by)
			assert_true(l.v[i - 1]->severity >= l.v[i]->severity);
	}
	assert_string_equal(findings_worst(&l, &f.v[0])->check->id, "driver-late");
	assert_true(findings_reach(&l, SEVERITY_WARNING));
	assert_false(findings_reach(&l, SEVERITY_PROBLEM));
	findings_free(&l);
	doctor_facts_free(&f);
	load_plan_free(&plan);
	machine_free(&m);
}

static void test_crypttab(void **state)
{
	struct crypttab t;
	char value[8];

	(void)state;
	crypttab_parse("# c\n\nhome\tUUID=1 none\troot,size=512,x-initrd.attach\n  one\nb /dev/x /key\nc /dev/y - -", &t);
	assert_int_equal(t.n, 3);
	assert_string_equal(t.v[0].key, "");
	assert_string_equal(t.v[1].key, "/key");
	assert_string_equal(t.v[2].options, "");
	assert_true(crypttab_option(&t.v[0], "size", value, sizeof(value)));
	assert_string_equal(value, "512");
	assert_true(crypttab_option(&t.v[0], "root", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_false(crypttab_option(&t.v[0], "siz", NULL, 0));
	assert_null(crypttab_find(&t, "one"));
	assert_ptr_equal(crypttab_find(&t, "b"), &t.v[1]);
	crypttab_free(&t);
	crypttab_parse(NULL, &t);
	assert_int_equal(t.n, 0);
}

/* What was measured, into text and back; text that nobody vouches for is passed over. */
static void test_measured_text(void **state)
{
	static const char volume[] = "device 60.000 59.500 60.500 5\nmapping 3.200 3.100 3.300 5\nunlock 2 4.500\nwhy It is late.\n";
	static const char setups[] = "setup aes-xts-plain64 512 4096 24 -\ndriver xts-aes-aesni\nwrite 1.000 1.000 2.000 3\nread 5.000 4.000 6.000 3\n"
				     "setup aes-cbc-essiv:sha256 256 512 0 capi:cbc-aes-geode-essiv:sha256\nwhy Refused.\n";
	struct doctor_volume v = { .header.slot[0].slot = 2, .header.n_slots = 1 };
	struct doctor_facts f = { .n = 0 };
	struct strbuf out = { 0 };

	(void)state;
	measured_volume_from_text("x\ndevice 1 2 3 4\ndevice nan nan nan 1\nmapping 1 1 1 0\nmapping 1 1 1e12 1\nunlock 9 1\nunlock 2 -1\ndevice", &v);
	measured_volume_from_text(NULL, &v);
	assert_int_equal(v.raw.runs + v.mapped.runs, 0);
	assert_true(v.header.slot[0].unlock_s == 0);
	measured_volume_from_text(volume, &v);
	measured_volume_to_text(&v, &out);
	assert_string_equal(out.s, volume);
	strbuf_free(&out);
	measured_setups_from_text("write 1 1 1 1\nsetup aes- 1 1 1 -\nread 1 1 1 1\nsetup x\n", &f);
	assert_int_equal(f.n_measured, 0);
	measured_setups_from_text(setups, &f);
	measured_setups_to_text(&f, &out);
	assert_string_equal(out.s, setups);
	for (unsigned int i = 0; i < 2 * MEASURED_MAX; i++)
		measured_setups_from_text("setup aes-xts-plain64 512 512 0 -\n", &f);
	assert_int_equal(f.n_measured, MEASURED_MAX);
	strbuf_free(&out);
	doctor_facts_free(&f);
}

/* The text of the table that names a driver. */
static void test_setup(void **state)
{
	struct cipher_spec xts = spec_make("aes-xts-plain64", 512, 512), essiv = spec_make("aes-cbc-essiv:sha256", 256, 512);
	struct setup a, b;

	(void)state;
	setup_set(&a, &xts, CRYPT_FLAG_ALLOW_DISCARDS, NULL);
	assert_string_equal(a.forced, "");
	setup_set(&b, &xts, 0, NULL);
	assert_true(setup_same(&a, &b));
	setup_set(&b, &xts, CRYPT_FLAG_NO_READ_WORKQUEUE, NULL);
	assert_false(setup_same(&a, &b));
	setup_set(&b, &xts, 0, "xts(ecb(aes-generic))");
	assert_string_equal(b.forced, "capi:xts(ecb(aes-generic))-plain64");
	assert_false(setup_same(&a, &b));
	setup_set(&b, &essiv, 0, "essiv(cbc-aes-geode,sha256-generic)");
	assert_string_equal(b.forced, "capi:essiv(cbc-aes-geode,sha256-generic)-plain64");
	setup_set(&b, &essiv, 0, "cbc-aes-geode");
	assert_string_equal(b.forced, "capi:cbc-aes-geode-essiv:sha256");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_measured_text),
		cmocka_unit_test(test_setup),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_crypttab),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
