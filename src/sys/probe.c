/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Fills struct machine from /proc, /sys, the kernel's configuration and NETLINK_CRYPTO.
 * Brings facts only; what they mean for a cipher spec is policy's.
 */
#include "sys/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/cmdline.h"
#include "core/kconfig.h"

/* Reads a file that every machine has; its absence is named too. *text is NULL on failure. */
static bool must_read(struct sysroot *sr, struct machine *m, const char *path, char **text,
                      size_t *len)
{
	int err = sysroot_read(sr, path, text, len);

	if (err)
		note_unread(m, path, err);
	return !err;
}

/* Reads a line of a file that may well be absent; false when there is none. */
static bool may_read_line(struct sysroot *sr, struct machine *m, const char *path, char *buf,
                          size_t size)
{
	int err = sysroot_read_line(sr, path, buf, size);

	note_unread_present(m, path, err);
	return !err;
}

/* --- which kernel ----------------------------------------------------------------- */

static kver release_version(const char *release)
{
	char *end;
	unsigned long major = strtoul(release, &end, 10), minor;

	if (end == release || *end != '.' || major > 255)
		return 0;
	minor = strtoul(end + 1, NULL, 10);
	return minor > 255 ? 0 : KVER(major, minor);
}

/* "Linux version 6.1.0-50-amd64 (builder) …": the third word. */
static void release_from_version(struct sysroot *sr, struct machine *m)
{
	char line[256], *word;

	if (sysroot_read_line(sr, "/proc/version", line, sizeof(line)) ||
	    !str_starts(line, "Linux version "))
		return;
	word = line + strlen("Linux version ");
	word[strcspn(word, " ")] = '\0';
	str_copy(m->release, sizeof(m->release), word);
}

static void probe_release(struct sysroot *sr, struct machine *m)
{
	struct utsname u;

	if (!sr->recorded && !uname(&u)) {
		str_copy(m->release, sizeof(m->release), u.release);
	} else if (sysroot_read_line(sr, "/proc/sys/kernel/osrelease", m->release,
	                             sizeof(m->release))) {
		m->release[0] = '\0';
		release_from_version(sr, m);
	}
	if (!*m->release)
		note_unread(m, "/proc/sys/kernel/osrelease", -ENOENT);
	else if (!sr->recorded)
		sysroot_note(sr, "/proc/sys/kernel/osrelease", m->release, strlen(m->release));
	m->kernel = release_version(m->release);
}

int probe_other_kernel(struct sysroot *sr, const char *release, struct machine *m)
{
	cleanup_free char *dep = xasprintf("/lib/modules/%s/modules.dep", release);

	if (!release_version(release) || strchr(release, '/') || strlen(release) >= sizeof(m->release))
		return -EINVAL;
	if (!sysroot_exists(sr, dep))
		return -ENOENT;
	m->other_kernel = strcmp(release, m->release) != 0;
	str_copy(m->release, sizeof(m->release), release);
	m->kernel = release_version(release);
	return modules_probe(sr, m);
}

/* --- which architecture ----------------------------------------------------------- */

static enum arch arch_from_uname(const char *s)
{
	static const struct {
		const char *prefix;
		enum arch arch;
	} names[] = {
		{ "x86_64", ARCH_X86_64 }, { "amd64", ARCH_X86_64 }, { "i386", ARCH_X86_32 },
		{ "i486", ARCH_X86_32 },   { "i586", ARCH_X86_32 },  { "i686", ARCH_X86_32 },
		{ "aarch64", ARCH_ARM64 }, { "arm64", ARCH_ARM64 },  { "arm", ARCH_ARM },
		{ "mips", ARCH_MIPS },     { "ppc64", ARCH_PPC64 },  { "ppc", ARCH_PPC32 },
		{ "s390", ARCH_S390 },     { "riscv", ARCH_RISCV },  { "sparc", ARCH_SPARC },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_starts(s, names[i].prefix))
			return names[i].arch;
	return *s ? ARCH_OTHER : 0;
}

/* Distributions put the architecture at the end of the release: "6.1.0-50-686",
 * "6.12.5-200.fc41.aarch64". */
static enum arch arch_from_release(const char *release)
{
	static const struct {
		const char *tail;
		enum arch arch;
	} tails[] = {
		{ "-686", ARCH_X86_32 },        { "-686-pae", ARCH_X86_32 },
		{ ".i686", ARCH_X86_32 },       { "-amd64", ARCH_X86_64 },
		{ ".x86_64", ARCH_X86_64 },     { "-arm64", ARCH_ARM64 },
		{ ".aarch64", ARCH_ARM64 },     { "-armmp", ARCH_ARM },
		{ "-armmp-lpae", ARCH_ARM },    { "-marvell", ARCH_ARM },
		{ "-powerpc64le", ARCH_PPC64 }, { ".ppc64le", ARCH_PPC64 },
		{ "-s390x", ARCH_S390 },        { ".s390x", ARCH_S390 },
		{ "-riscv64", ARCH_RISCV },
	};
	size_t n = strlen(release);

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		size_t t = strlen(tails[i].tail);

		if (n > t && !strcmp(release + n - t, tails[i].tail))
			return tails[i].arch;
	}
	return 0;
}

/* A line that starts with this key ("isa", "cpu") and has `value` at its start; NULL value: any. */
static bool cpuinfo_has(const char *text, const char *key, const char *value)
{
	size_t n = strlen(key);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, key, n) || !strchr(" \t:", p[n]) || !p[n])
			continue;
		p += n + strspn(p + n, " \t:");
		if (!value || str_starts(p, value))
			return true;
	}
	return false;
}

/*
 * What the layout of /proc/cpuinfo gives away. "lm" only says that the CPU could run a 64-bit
 * kernel; so the release is asked first.
 */
static enum arch arch_from_cpuinfo(const char *text, const struct cpuinfo *cpu)
{
	if (cpuinfo_has(text, "CPU implementer", NULL) ||
	    cpuinfo_has(text, "CPU architecture", NULL))
		return word_in(cpu->flags, "thumb") || word_in(cpu->flags, "half") ? ARCH_ARM
		                                                                   : ARCH_ARM64;
	if (cpuinfo_has(text, "isa", "rv"))
		return ARCH_RISCV;
	if (cpuinfo_has(text, "vendor_id", "IBM/S390"))
		return ARCH_S390;
	if (cpuinfo_has(text, "cpu model", "MIPS") || cpuinfo_has(text, "ASEs implemented", NULL))
		return ARCH_MIPS;
	if (cpuinfo_has(text, "cpucaps", NULL) || cpuinfo_has(text, "cpu", "UltraSparc") ||
	    cpuinfo_has(text, "cpu", "SPARC"))
		return ARCH_SPARC;
	if (cpuinfo_has(text, "cpu", "POWER") || cpuinfo_has(text, "cpu", "Power1"))
		return ARCH_PPC64;
	if (cpuinfo_has(text, "revision", NULL) && cpuinfo_has(text, "clock", NULL))
		return ARCH_PPC32;
	if (cpuinfo_has(text, "flags", NULL))
		return word_in(cpu->flags, "lm") ? ARCH_X86_64 : ARCH_X86_32;
	return 0;
}

static void probe_arch(struct sysroot *sr, struct machine *m, const char *cpuinfo)
{
	struct utsname u;
	char line[64];

	if (!sr->recorded) {
		m->arch = uname(&u) ? 0 : arch_from_uname(u.machine);
		if (m->arch)
			sysroot_note(sr, "/hwluks/arch", u.machine, strlen(u.machine));
		return;
	}
	if (!sysroot_read_line(sr, "/hwluks/arch", line, sizeof(line)))
		m->arch = arch_from_uname(line);
	if (!m->arch)
		m->arch = arch_from_release(m->release);
	if (!m->arch && cpuinfo)
		m->arch = arch_from_cpuinfo(cpuinfo, &m->cpu);
}

/* --- CPU
 * ---------------------------------------------------------------------------------------------------
 */

static void add_flag(struct cpuinfo *cpu, const char *flag)
{
	char *old = cpu->flags;

	if (word_in(old, flag))
		return;
	cpu->flags = old ? xasprintf("%s %s", old, flag) : xstrdup(flag);
	free(old);
}

/* Bits of arch/powerpc/include/uapi/asm/cputable.h; POWER does not list features in cpuinfo. */
static void add_ppc_hwcap(struct cpuinfo *cpu, unsigned long hwcap, unsigned long hwcap2)
{
	if (hwcap & 0x00800000)
		add_flag(cpu, "spe");
	if (hwcap2 & 0x02000000)
		add_flag(cpu, "vec_crypto");
	if (hwcap2 & 0x00040000)
		add_flag(cpu, "arch_3_1");
}

/* A recording has no auxiliary vector; the model tells as much (vector crypto is part of
 * PowerISA 2.07). */
static void add_ppc_model(struct cpuinfo *cpu, const char *text)
{
	static const char *const vec[] = { "POWER8",  "POWER9",  "POWER10",
		                           "Power10", "POWER11", "Power11" };

	for (size_t i = 0; i < ARRAY_SIZE(vec); i++) {
		if (!cpuinfo_has(text, "cpu", vec[i]))
			continue;
		add_flag(cpu, "vec_crypto");
		if (i >= 2)
			add_flag(cpu, "arch_3_1");
	}
	if (cpuinfo_has(text, "cpu", "e500v1") || cpuinfo_has(text, "cpu", "e500v2"))
		add_flag(cpu, "spe");
}

static void probe_cpu(struct sysroot *sr, struct machine *m)
{
	cleanup_free char *text = NULL;
	size_t len = 0;

	if (must_read(sr, m, "/proc/cpuinfo", &text, &len))
		cpuinfo_parse(text, len, &m->cpu);
	probe_arch(sr, m, text);
	m->cpus = m->cpu.processors;
	if (!m->cpus && !sr->recorded)
		m->cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	if (!(m->arch & (ARCH_PPC32 | ARCH_PPC64)))
		return;
	if (!sr->recorded)
		add_ppc_hwcap(&m->cpu, getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
	else if (text)
		add_ppc_model(&m->cpu, text);
}

/* --- the kernel's algorithms ------------------------------------------------------ */

static void probe_algs(struct sysroot *sr, struct machine *m)
{
	cleanup_free char *text = NULL;
	size_t len = 0;

	alg_list_free(&m->algs);
	m->flags_known = false;
	m->algs_known = must_read(sr, m, "/proc/crypto", &text, &len);
	if (m->algs_known)
		proc_crypto_parse(text, len, &m->algs);
}

#define FLAGS_FILE "/hwluks/crypto-flags" /* of a recording: the NETLINK_CRYPTO dump */

static void note_flags(struct sysroot *sr, const struct machine *m, int err)
{
	struct strbuf text = { 0 };

	for (size_t i = 0; sr->noted && !err && i < m->algs.n; i++)
		if (m->algs.v[i].flags_known)
			strbuf_printf(&text, "%s 0x%x\n", m->algs.v[i].driver, m->algs.v[i].flags);
	if (err)
		sysroot_note_error(sr, FLAGS_FILE, err);
	else
		sysroot_note(sr, FLAGS_FILE, text.s ? text.s : "", text.len);
	strbuf_free(&text);
}

static void probe_flags(struct sysroot *sr, struct machine *m, bool may_load)
{
	cleanup_free char *text = NULL;
	size_t len = 0;
	int err;

	if (!m->algs_known)
		return;
	if (!sr->recorded) {
		err = crypto_user_dump(&m->algs, may_load);
		m->flags_known = !err;
		note_flags(sr, m, err);
		if (err && err != -EPROTONOSUPPORT)
			note_unread(m, "NETLINK_CRYPTO", err);
		return;
	}
	err = sysroot_read(sr, FLAGS_FILE, &text, &len);
	if (!err)
		m->flags_known = crypto_flags_parse(text, len, &m->algs) > 0 || sr->complete;
	else if (err != -ENOENT && err != -EPROTONOSUPPORT)
		note_unread(m, "NETLINK_CRYPTO", err);
}

/* --- configuration and switches --------------------------------------------------- */

static void probe_kconfig(struct sysroot *sr, struct machine *m)
{
	static const char *const place[] = { "/boot/config-%s", "/lib/modules/%s/config",
		                             "/usr/lib/modules/%s/config", "/proc/config.gz" };
	int err = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(place) && err; i++) {
		char path[160];
		size_t n = strcspn(place[i], "%");

		snprintf(path, sizeof(path), "%.*s", (int)n, place[i]);
		if (place[i][n]) {
			str_copy(path + n, sizeof(path) - n, m->release);
			str_copy(path + strlen(path), sizeof(path) - strlen(path),
			         place[i] + n + 2);
		}
		err = sysroot_read(sr, path, &m->kconfig, &m->kconfig_len);
		note_unread_present(m, path, err);
	}
	if (err == -ENOENT)
		note_unread(
			m,
			"kernel configuration (/boot/config-RELEASE, /lib/modules/RELEASE/config, /proc/config.gz)",
			err);
}

/*
 * The run-time switch of testmgr tells best; where the tests are not built in at all only the
 * configuration does: CRYPTO_MANAGER_DISABLE_TESTS up to 6.15, CRYPTO_SELFTESTS (with the opposite
 * sense) from 6.16 on.
 */
static void probe_selftests(struct sysroot *sr, struct machine *m)
{
	cleanup_free char *cmdline = NULL;
	char notests[8];

	must_read(sr, m, "/proc/cmdline", &cmdline, NULL);
	if (may_read_line(sr, m, "/sys/module/cryptomgr/parameters/notests", notests,
	                  sizeof(notests)))
		m->selftests_off = notests[0] == 'Y' || notests[0] == '1';
	else if (cmdline)
		m->selftests_off = cmdline_selftests_off(cmdline);
	if (kconfig_get(m->kconfig, m->kconfig_len, "CRYPTO_MANAGER_DISABLE_TESTS") == KCONFIG_YES)
		m->selftests_off = true;
	if (m->kernel >= KVER(6, 16) &&
	    kconfig_get(m->kconfig, m->kconfig_len, "CRYPTO_SELFTESTS") == KCONFIG_NO)
		m->selftests_off = true;
}

/* --- random numbers, memory ------------------------------------------------------- */

static void probe_rng(struct sysroot *sr, struct machine *m)
{
	struct rng_facts *r = &m->rng;
	char text[32];
	uint64_t q;

	r->quality = -1;
	if (!may_read_line(sr, m, "/sys/class/misc/hw_random/rng_available", r->available,
	                   sizeof(r->available))) {
		/* no rng core at all is a fact on a live machine; a recording may just lack the
		 * files */
		r->known = sr->complete && !sysroot_exists(sr, "/sys/class/misc/hw_random");
		return;
	}
	r->known = true;
	may_read_line(sr, m, "/sys/class/misc/hw_random/rng_current", r->current,
	              sizeof(r->current));
	if (!strcmp(r->available, "none"))
		r->available[0] = '\0';
	if (!strcmp(r->current, "none"))
		r->current[0] = '\0';
	if (!r->current[0])
		return;
	/* rng_quality is younger than 5.10; the module's parameter is the same number */
	if (sysroot_read_line(sr, "/sys/class/misc/hw_random/rng_quality", text, sizeof(text)) &&
	    sysroot_read_line(sr, "/sys/module/rng_core/parameters/current_quality", text,
	                      sizeof(text)))
		return;
	if (!parse_u64(text, 1024, &q))
		r->quality = (int)q;
}

/* "MemTotal:  255324 kB" → bytes. */
static uint64_t meminfo_value(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p ? strtoull(p + strlen(key), NULL, 10) * 1024 : 0;
}

static void probe_memory(struct sysroot *sr, struct machine *m)
{
	cleanup_free char *text = NULL;

	if (!must_read(sr, m, "/proc/meminfo", &text, NULL))
		return;
	m->mem_total = meminfo_value(text, "MemTotal:");
	m->mem_available = meminfo_value(text, "MemAvailable:");
}

/* --- gateways
 * ----------------------------------------------------------------------------------------------------
 */

static void add_gateway(struct machine *m, const char *id, const char *name, const char *state)
{
	struct gateway *g;

	m->gw = xreallocarray(m->gw, m->n_gw + 1, sizeof(*m->gw));
	g = &m->gw[m->n_gw++];
	*g = (struct gateway){ .id = id };
	str_copy(g->name, sizeof(g->name), name);
	str_copy(g->state, sizeof(g->state), state);
}

static const char *af_alg_state(const struct machine *m)
{
	const struct module_fact *f = machine_module(m, "algif_skcipher");

	switch (f ? f->state : MODULE_UNKNOWN) {
	case MODULE_LOADED:
		return "loaded";
	case MODULE_BUILTIN:
		return "built in";
	case MODULE_PRESENT:
		return f->denied ? "denied" : "module present";
	case MODULE_MISSING:
		return "not in this kernel";
	default:
		break;
	}
	switch (kconfig_get(m->kconfig, m->kconfig_len, "CRYPTO_USER_API_SKCIPHER")) {
	case KCONFIG_NO:
		return "not in this kernel";
	case KCONFIG_YES:
		return "built in";
	default:
		return "unknown";
	}
}

/* Every NAME.so in LIB/SUB, as "engine NAME" or "provider NAME". */
static void add_openssl(struct sysroot *sr, struct machine *m, const char *lib, const char *sub,
                        const char *id, const char *what)
{
	cleanup_free char *dir = xasprintf("%s/%s", lib, sub);
	struct strv names = { 0 };

	sysroot_list(sr, dir, &names);
	for (size_t i = 0; i < names.n; i++) {
		size_t n = strlen(names.v[i]);
		char name[96];

		/* loader_attic reads old key files and has no cipher */
		if (n < 4 || strcmp(names.v[i] + n - 3, ".so") || !strcmp(names.v[i], "loader_attic.so"))
			continue;
		snprintf(name, sizeof(name), "%s %.*s", what, n < 64 ? (int)n - 3 : 64, names.v[i]);
		add_gateway(m, id, name, "present");
	}
	strv_free(&names);
}

static void add_openssl_below(struct sysroot *sr, struct machine *m, const char *lib)
{
	add_openssl(sr, m, lib, "engines-3", "openssl-engine", "engine");
	add_openssl(sr, m, lib, "ossl-modules", "openssl-provider", "provider");
}

static void probe_gateways(struct sysroot *sr, struct machine *m)
{
	struct strv names = { 0 };

	add_gateway(m, "af_alg", "AF_ALG skcipher", af_alg_state(m));
	add_gateway(m, "dev-crypto", "/dev/crypto",
	            sysroot_exists(sr, "/dev/crypto") ? "present" : "absent");
	add_openssl_below(sr, m, "/usr/lib");
	add_openssl_below(sr, m, "/usr/lib64");
	sysroot_list_some(sr, "/usr/lib", "-linux-", &names); /* Debian's multiarch folders */
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *lib = xasprintf("/usr/lib/%s", names.v[i]);

		add_openssl_below(sr, m, lib);
	}
	strv_free(&names);
}

/* --- all of it
 * ---------------------------------------------------------------------------------------------------
 */

int probe_machine(struct sysroot *sr, unsigned int what, struct machine *m)
{
	if (sr->fd < 0 && !sr->from)
		return -EBADF;
	m->recorded = sr->recorded;
	probe_release(sr, m);
	if (what & PROBE_CPU)
		probe_cpu(sr, m);
	else
		probe_arch(sr, m, NULL);
	if (what & PROBE_KCONFIG)
		probe_kconfig(sr, m);
	probe_selftests(sr, m);
	if (what & PROBE_DEVICES)
		devices_probe(sr, m);
	if (what & PROBE_RNG)
		probe_rng(sr, m);
	if (what & PROBE_MEMORY)
		probe_memory(sr, m);
	probe_again(sr, what, m);
	if (what & PROBE_GATEWAYS)
		probe_gateways(sr, m);
	return 0;
}

int probe_again(struct sysroot *sr, unsigned int what, struct machine *m)
{
	if (what & (PROBE_ALGS | PROBE_FLAGS))
		probe_algs(sr, m);
	if (what & PROBE_FLAGS)
		probe_flags(sr, m, what & PROBE_LOAD);
	if (what & (PROBE_MODULES | PROBE_GATEWAYS))
		modules_probe(sr, m);
	return 0;
}
