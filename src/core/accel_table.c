/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The accelerators: one row per engine, card or instruction set, every fact with its source.
 * Must not contain a function or an opinion; look-ups are in accel.c, decisions in policy.c.
 *
 * Read from the sources of Linux 5.10, 6.1, 6.12, 7.2 and 7.3-rc7. A range such as UPTO_6_12 names
 * the last kernel read that has a thing, not the release that removed it. Key sizes are those the
 * hardware computes with, never those setkey() accepts. Rows that count as software have neither
 * hardware key sizes nor hardware modes; their algorithms say what the kernel would fall back on.
 */
#include "core/accel.h"
#include "util/util.h"

#define K5_10 KVER(5, 10)
#define K6_1  KVER(6, 1)
#define K6_12 KVER(6, 12)
#define K7_2  KVER(7, 2)
#define K7_3  KVER(7, 3)

/* since, until */
#define ALL	  K5_10, 0
#define FROM_6_1  K6_1, 0
#define FROM_6_12 K6_12, 0
#define FROM_7_2  K7_2, 0
#define FROM_7_3  K7_3, 0
#define ONLY_5_10 K5_10, K5_10
#define ONLY_6_12 K6_12, K6_12
#define ONLY_7_2  K7_2, K7_2
#define UPTO_6_1  K5_10, K6_1
#define UPTO_6_12 K5_10, K6_12

/* Lists that live where they are used. */
#define MATCH(...)   (const struct accel_match[]){ __VA_ARGS__, { MATCH_NONE, NULL } }
#define WORDS(...)   (const char *const[]){ __VA_ARGS__, NULL }
#define ALGS(...)    (const struct accel_alg[]){ __VA_ARGS__, { NULL, NULL, 0, 0, 0, 0, 0 } }
#define FIGURES(...) (const struct accel_figure[]){ __VA_ARGS__, { NULL, 0, 0, false, NULL } }

#define CPU(flags)  { MATCH_CPU, flags }
#define CAP(words)  { MATCH_CPUCAP, words }
#define DT(compat)  { MATCH_DT, compat }
#define PCI(id)	    { MATCH_PCI, id }
#define ACPI(id)    { MATCH_ACPI, id }
#define PLAT(name)  { MATCH_PLATFORM, name }

/* One algorithm: driver name, priority, range, hardware keys. */
#define SINGLE(d, p, r, k) { "aes", d, p, r, k, MODE_SINGLE }
#define ECB(d, p, r, k)	   { "ecb(aes)", d, p, r, k, MODE_ECB }
#define CBC(d, p, r, k)	   { "cbc(aes)", d, p, r, k, MODE_CBC }
#define CTR(d, p, r, k)	   { "ctr(aes)", d, p, r, k, MODE_CTR }
#define XTS(d, p, r, k)	   { "xts(aes)", d, p, r, k, MODE_XTS }
#define CTS(d, p, r, k)	   { "cts(cbc(aes))", d, p, r, k, MODE_CTS }
#define ESSIV(d, p, r, k)  { "essiv(cbc(aes),sha256)", d, p, r, k, MODE_ESSIV }
#define HASH(n, d, p, r)   { n, d, p, r, 0, MODE_HASH }
#define GCM(d, p, r, k)	   { "gcm(aes)", d, p, r, k, MODE_GCM }

#define XTS_NO_384 (KEYS_XTS_256 | KEYS_XTS_512)

#define ARCH_X86   (ARCH_X86_32 | ARCH_X86_64)
#define ARCH_ARMS  (ARCH_ARM | ARCH_ARM64)
#define ARCH_PPCS  (ARCH_PPC32 | ARCH_PPC64)
#define ARCH_64BIT (ARCH_ANY & ~(ARCH_X86_32 | ARCH_ARM | ARCH_PPC32))

/* Sentences used by several rows. */
#define REFUSES	    .other_keys = OTHER_KEYS_REFUSED, .other_keys_text = "any other length is refused (EINVAL)"
#define XTS_384_SW  .other_keys = OTHER_KEYS_SOFTWARE, .other_keys_text = "a 384-bit XTS key goes to software"
#define XTS_384_BAD .other_keys = OTHER_KEYS_REFUSED, .other_keys_text = "a 384-bit XTS key is refused (EINVAL)"
#define SIZES_TO_SW .other_keys = OTHER_KEYS_SOFTWARE
#define IN_ALL	    .present_since = K5_10, .present = "in all kernels read, 5.10 to 7.3"
#define NEW_IN_6_1  .present_since = K6_1, .present = "not in 5.10; in 6.1 to 7.3"
#define NEW_IN_6_12 .present_since = K6_12, .present = "not in 6.1; in 6.12 to 7.3"
#define NEW_IN_7_2  .present_since = K7_2, .present = "not in 6.12; in 7.2 and 7.3"
#define SYNC	    .sync = "synchronous"
#define ASYNC	    .sync = "asynchronous"
#define SIMD_SYNC   .sync = "on the CPU; up to 6.12 behind a wrapper that calls itself asynchronous"

#define FSCRYPT_2025 "fscrypt patch on the linux-mtd list, June 2025"
#define GEODE_HOWTO  "Geode LX800 how-to, 2009"
#define GEODE_VOYAGE "comment on the Geode LX800 how-to: ALIX, Voyage Linux"
#define GEODE_LIST   "linux-crypto list, geode-aes and skcipher thread, 2018-2019"
#define GEODE_MODEL  "model of the engine in QEMU, Linux 6.1 i386, instruction clock"
#define DREAMPLUG    "Dreamplug cryptodev report, wall time of the 3 s runs"
#define EIP93_ISSUES "mtk-eip93 issues 14 and 23 (driver before it was merged)"

/* clang-format off */
const struct accel accel_table[] = {
/* --- x86 ------------------------------------------------------------------------------------ */
{
	.id = "geode-lx", .name = "AMD Geode LX security block (LX700/800/900)",
	.kind = ACCEL_ONCHIP, .arch = ARCH_X86_32,
	.match = MATCH(PCI("1022:2082")),
	.how_detected = "PCI device 1022:2082",
	.modules = WORDS("geode-aes"), .kconfig = WORDS("CRYPTO_DEV_GEODE"),
	.algs = ALGS(
		SINGLE("geode-aes", 300, ALL, KEYS_128),
		ECB("ecb-aes-geode", 400, ALL, KEYS_128),
		CBC("cbc-aes-geode", 400, ALL, KEYS_128)),
	.modes = MODE_SINGLE | MODE_ECB | MODE_CBC,
	SIZES_TO_SW, .other_keys_text = "192- and 256-bit keys are accepted without a word and computed in software",
	.sync = "synchronous; polls the engine with interrupts off",
	.rng_module = "geode-rng", .rng_note = "shares the PCI device with geode-aes",
	.slower_than_cpu = TRI_NO,
	.figures = FIGURES(
		{ "aes-cbc-plain 128, dm-crypt on a RAM disk, write", 7.2, 27.4, true, GEODE_HOWTO },
		{ "aes-cbc-essiv:sha256 128, dm-crypt on a RAM disk, write", 7.0, 24.0, true, GEODE_HOWTO },
		{ "aes-cbc-plain 128, dm-crypt, write", 4.8, 17.8, true, GEODE_VOYAGE },
		{ "aes-cbc-essiv 128, dm-crypt, write", 0, 15.9, true, GEODE_VOYAGE },
		{ "cbc(aes) 128, 16 KiB requests, AF_ALG", 7.5, 35.6, true, GEODE_LIST },
		{ "cbc(aes) 128, 1 KiB requests, AF_ALG", 4.4, 8.6, true, GEODE_LIST },
		{ "aes-cbc-plain64 128, dm-crypt, 512-byte sectors, write", 4.2, 19.5, false, GEODE_MODEL },
		{ "aes-cbc-plain64 128, dm-crypt, 4096-byte sectors, write", 4.4, 30.0, false, GEODE_MODEL },
		{ "aes-cbc-essiv:sha256 128, dm-crypt, 512-byte sectors, write", 4.1, 17.0, false, GEODE_MODEL },
		{ "aes-xts-plain64 256, dm-crypt, 512-byte sectors, write", 4.0, 11.0, false, GEODE_MODEL },
		{ "aes-xts-plain64 256, dm-crypt, 4096-byte sectors, write", 4.3, 13.9, false, GEODE_MODEL }),
	.quirks = "A hung engine ends in a kernel BUG after 0x50000 polls. One lock serialises all work and the key is "
		"loaded for each request. XTS comes only through the kernel's template and a 256-bit XTS key; from 7.3 "
		"the template must be prepared first. AF_ALG cannot reach the engine from 7.2 on.",
	IN_ALL, .source = "drivers/crypto/geode-aes.c",
},
{
	.id = "via-padlock-ace", .name = "VIA PadLock ACE (C3 Nehemiah, C7, Nano and CPUs with the same bits)",
	.kind = ACCEL_CPU, .arch = ARCH_X86,
	.match = MATCH(CPU("ace ace_en")),
	.how_detected = "CPU flags ace and ace_en",
	.modules = WORDS("padlock-aes"), .kconfig = WORDS("CRYPTO_DEV_PADLOCK", "CRYPTO_DEV_PADLOCK_AES"),
	.algs = ALGS(
		SINGLE("aes-padlock", 300, ALL, KEYS_AES),
		ECB("ecb-aes-padlock", 400, ALL, KEYS_AES),
		CBC("cbc-aes-padlock", 400, ALL, KEYS_AES)),
	.modes = MODE_SINGLE | MODE_ECB | MODE_CBC,
	REFUSES, SYNC,
	.rng_module = "via-rng", .rng_note = "CPU flags rng and rng_en",
	.slower_than_cpu = TRI_NO,
	.figures = FIGURES(
		{ "aes-cbc-essiv:sha256, dm-crypt on a RAM disk, C7 Esther", 5.8, 36.9, true, "VIA PadLock on Debian how-to" },
		{ "aes-256-cbc, 8 KiB, OpenSSL engine (not the kernel), C7 Esther", 13.5, 624, true, "VIA PadLock on Debian how-to" },
		{ "aes-xts-plain, dm-crypt on a RAM disk, write, Nano U2250", 0, 49.2, true, "mailing list, XTS on PadLock" }),
	.quirks = "For 192 and 256 bits software expands the key and the hardware does the rounds. Where the flag ace is set "
		"and ace_en is not, the firmware has switched the unit off and the driver refuses to load. From 7.3 "
		"XTS reaches it only through a template prepared first. A CPU with AES-NI as well has two equal "
		"priorities; the module loaded last wins.",
	IN_ALL, .source = "drivers/crypto/padlock-aes.c",
},
{
	.id = "via-padlock-phe", .name = "VIA PadLock hash engine (C7 and newer)",
	.kind = ACCEL_CPU, .arch = ARCH_X86,
	.match = MATCH(CPU("phe phe_en")),
	.how_detected = "CPU flags phe and phe_en",
	.modules = WORDS("padlock-sha"), .kconfig = WORDS("CRYPTO_DEV_PADLOCK", "CRYPTO_DEV_PADLOCK_SHA"),
	.algs = ALGS(
		HASH("sha1", "sha1-padlock", 300, ALL),
		HASH("sha256", "sha256-padlock", 300, ALL),
		HASH("sha1", "sha1-padlock-nano", 300, ALL),
		HASH("sha256", "sha256-padlock-nano", 300, ALL)),
	.modes = MODE_HASH,
	.other_keys = OTHER_KEYS_NONE, SYNC,
	.rng_module = "via-rng",
	.dmcrypt = DMCRYPT_NO_CIPHER,
	.quirks = "For disks it matters only as the ESSIV hash, which runs once per key, and for integrity tags.",
	IN_ALL, .source = "drivers/crypto/padlock-sha.c",
},
{
	.id = "x86-aesni", .name = "AES-NI (Intel, AMD, VIA, Zhaoxin)",
	.kind = ACCEL_CPU, .arch = ARCH_X86,
	.match = MATCH(CPU("aes")),
	.how_detected = "CPU flag aes",
	.modules = WORDS("aesni-intel"), .kconfig = WORDS("CRYPTO_AES_NI_INTEL"),
	.algs = ALGS(
		SINGLE("aes-aesni", 300, UPTO_6_12, KEYS_AES),
		ECB("ecb-aes-aesni", 400, ALL, KEYS_AES),
		CBC("cbc-aes-aesni", 400, ALL, KEYS_AES),
		CTS("cts-cbc-aes-aesni", 400, FROM_6_1, KEYS_AES),
		CTR("ctr-aes-aesni", 400, ALL, KEYS_AES),
		XTS("xts-aes-aesni", 401, ALL, KEYS_XTS)),
	.modes = MODE_SINGLE | MODE_ECB | MODE_CBC | MODE_CTS | MODE_CTR | MODE_XTS,
	REFUSES, SIMD_SYNC,
	.rng_note = "RDRAND and RDSEED feed the kernel without a driver",
	.in_lib_since = K7_2,
	.slower_than_cpu = TRI_NO,
	.quirks = "A 32-bit kernel has no ctr. In Debian the driver is a module: a root volume opened before it is loaded stays "
		"on generic code. A missing aes-aesni proves nothing, newer kernels moved it into the AES library.",
	IN_ALL, .source = "arch/x86/crypto/aesni-intel_glue.c, lib/crypto/x86/aes.h",
},
{
	.id = "x86-aes-avx", .name = "AES-NI with AVX (XTS and CTR code)",
	.kind = ACCEL_CPU, .arch = ARCH_X86_64,
	.match = MATCH(CPU("aes avx")),
	.how_detected = "CPU flags aes and avx",
	.modules = WORDS("aesni-intel"), .kconfig = WORDS("CRYPTO_AES_NI_INTEL"),
	.algs = ALGS(
		XTS("xts-aes-aesni-avx", 500, FROM_6_12, KEYS_XTS),
		CTR("ctr-aes-aesni-avx", 500, FROM_7_2, KEYS_AES)),
	.modes = MODE_XTS | MODE_CTR,
	REFUSES, SIMD_SYNC,
	.in_lib_since = K7_2,
	.slower_than_cpu = TRI_NO,
	.quirks = "ecb and cbc stay on the plain AES-NI code.",
	NEW_IN_6_12, .source = "arch/x86/crypto/aesni-intel_glue.c",
},
{
	.id = "x86-vaes", .name = "VAES and VPCLMULQDQ (AVX2, AVX-512)",
	.kind = ACCEL_CPU, .arch = ARCH_X86_64,
	.match = MATCH(CPU("aes avx2 pclmulqdq vaes vpclmulqdq")),
	.how_detected = "CPU flags vaes, vpclmulqdq, pclmulqdq and avx2; for 512 bits also avx512bw, avx512vl and bmi2",
	.modules = WORDS("aesni-intel"), .kconfig = WORDS("CRYPTO_AES_NI_INTEL"),
	.algs = ALGS(
		XTS("xts-aes-vaes-avx2", 600, FROM_6_12, KEYS_XTS),
		XTS("xts-aes-vaes-avx10_256", 700, ONLY_6_12, KEYS_XTS),
		XTS("xts-aes-vaes-avx10_512", 800, ONLY_6_12, KEYS_XTS),
		XTS("xts-aes-vaes-avx512", 800, FROM_7_2, KEYS_XTS),
		CTR("ctr-aes-vaes-avx2", 600, FROM_7_2, KEYS_AES),
		CTR("ctr-aes-vaes-avx512", 800, FROM_7_2, KEYS_AES)),
	.modes = MODE_XTS | MODE_CTR,
	REFUSES, SIMD_SYNC,
	.in_lib_since = K7_2,
	.slower_than_cpu = TRI_NO,
	.figures = FIGURES(
		{ "xts(aes), 4096-byte requests, Emerald Rapids, against plain C", 305, 16171, true, FSCRYPT_2025 }),
	.quirks = "The 512-bit code gets priority 1 on CPUs that slow down with 512-bit registers.",
	NEW_IN_6_12, .source = "arch/x86/crypto/aesni-intel_glue.c",
},

/* --- ARM ------------------------------------------------------------------------------------ */
{
	.id = "arm64-ce", .name = "ARMv8 cryptography extensions",
	.kind = ACCEL_CPU, .arch = ARCH_ARM64,
	.match = MATCH(CPU("aes")),
	.how_detected = "CPU feature aes",
	.modules = WORDS("aes-ce-blk"), .kconfig = WORDS("CRYPTO_AES_ARM64_CE_BLK"),
	.algs = ALGS(
		SINGLE("aes-ce", 250, UPTO_6_12, KEYS_AES),
		ECB("ecb-aes-ce", 300, ALL, KEYS_AES),
		CBC("cbc-aes-ce", 300, ALL, KEYS_AES),
		CTS("cts-cbc-aes-ce", 300, ALL, KEYS_AES),
		CTR("ctr-aes-ce", 300, ALL, KEYS_AES),
		XTS("xts-aes-ce", 300, ALL, KEYS_XTS),
		ESSIV("essiv-cbc-aes-sha256-ce", 301, ALL, KEYS_AES)),
	.modes = MODE_SINGLE | MODE_ECB | MODE_CBC | MODE_CTS | MODE_CTR | MODE_XTS | MODE_ESSIV,
	REFUSES, SYNC,
	.in_lib_since = K7_2,
	.slower_than_cpu = TRI_NO,
	.quirks = "Brings its own ESSIV. Its priority of 300 loses cbc and ecb to several engines that are slower.",
	IN_ALL, .source = "arch/arm64/crypto/aes-glue.c, aes-ce-glue.c",
},
{
	.id = "arm64-neonbs", .name = "Bit-sliced NEON AES (64-bit ARM)",
	.kind = ACCEL_CPU_SIMD, .arch = ARCH_ARM64,
	.match = MATCH(CPU("asimd")),
	.how_detected = "CPU feature asimd",
	.modules = WORDS("aes-neon-bs"), .kconfig = WORDS("CRYPTO_AES_ARM64_BS"),
	.algs = ALGS(
		ECB("ecb-aes-neonbs", 250, ALL, 0),
		CBC("cbc-aes-neonbs", 250, ALL, 0),
		CTR("ctr-aes-neonbs", 250, ALL, 0),
		XTS("xts-aes-neonbs", 250, ALL, 0)),
	REFUSES, SYNC,
	.slower_than_cpu = TRI_NO,
	.quirks = "Counts as software.",
	IN_ALL, .source = "arch/arm64/crypto/aes-neonbs-glue.c",
},
{
	.id = "arm64-neon", .name = "NEON AES (64-bit ARM)",
	.kind = ACCEL_CPU_SIMD, .arch = ARCH_ARM64,
	.match = MATCH(CPU("asimd")),
	.how_detected = "CPU feature asimd",
	.modules = WORDS("aes-neon-blk"), .kconfig = WORDS("CRYPTO_AES_ARM64_NEON_BLK"),
	.algs = ALGS(
		SINGLE("aes-arm64", 200, UPTO_6_12, 0),
		ECB("ecb-aes-neon", 200, ALL, 0),
		CBC("cbc-aes-neon", 200, ALL, 0),
		CTS("cts-cbc-aes-neon", 200, ALL, 0),
		CTR("ctr-aes-neon", 200, ALL, 0),
		XTS("xts-aes-neon", 200, ALL, 0),
		ESSIV("essiv-cbc-aes-sha256-neon", 201, ALL, 0)),
	REFUSES, SYNC,
	.slower_than_cpu = TRI_NO,
	.quirks = "Counts as software. aes-arm64 is the scalar code that it brings along up to 6.12.",
	IN_ALL, .source = "arch/arm64/crypto/aes-glue.c, aes-cipher-glue.c",
},
{
	.id = "arm-ce", .name = "ARMv8 cryptography extensions in 32-bit mode",
	.kind = ACCEL_CPU, .arch = ARCH_ARM,
	.match = MATCH(CPU("aes neon")),
	.how_detected = "CPU features aes and neon",
	.modules = WORDS("aes-arm-ce"), .kconfig = WORDS("CRYPTO_AES_ARM_CE"),
	.algs = ALGS(
		ECB("ecb-aes-ce", 300, ALL, KEYS_AES),
		CBC("cbc-aes-ce", 300, ALL, KEYS_AES),
		CTS("cts-cbc-aes-ce", 300, ALL, KEYS_AES),
		CTR("ctr-aes-ce", 300, ALL, KEYS_AES),
		XTS("xts-aes-ce", 300, ALL, KEYS_XTS)),
	.modes = MODE_ECB | MODE_CBC | MODE_CTS | MODE_CTR | MODE_XTS,
	REFUSES, SIMD_SYNC,
	.slower_than_cpu = TRI_NO,
	IN_ALL, .source = "arch/arm/crypto/aes-ce-glue.c",
},
{
	.id = "arm-neonbs", .name = "Bit-sliced NEON AES (32-bit ARM)",
	.kind = ACCEL_CPU_SIMD, .arch = ARCH_ARM,
	.match = MATCH(CPU("neon")),
	.how_detected = "CPU feature neon",
	.modules = WORDS("aes-arm-bs"), .kconfig = WORDS("CRYPTO_AES_ARM_BS"),
	.algs = ALGS(
		ECB("ecb-aes-neonbs", 250, ALL, 0),
		CBC("cbc-aes-neonbs", 250, ALL, 0),
		CTR("ctr-aes-neonbs", 250, ALL, 0),
		XTS("xts-aes-neonbs", 250, ALL, 0)),
	REFUSES, SIMD_SYNC,
	.slower_than_cpu = TRI_NO,
	.quirks = "Counts as software. CBC encryption, and so writing to a CBC volume, gains nothing.",
	IN_ALL, .source = "arch/arm/crypto/aes-neonbs-glue.c",
},
{
	.id = "arm-asm", .name = "Scalar assembler AES (32-bit ARM)",
	.kind = ACCEL_SOFTWARE, .arch = ARCH_ARM,
	.match = MATCH({ MATCH_ALWAYS, "" }),
	.how_detected = "any 32-bit ARM",
	.modules = WORDS("aes-arm"), .kconfig = WORDS("CRYPTO_AES_ARM"),
	.algs = ALGS(
		SINGLE("aes-arm", 200, UPTO_6_12, 0),
		ECB("ecb(aes-arm)", 200, UPTO_6_12, 0),
		CBC("cbc(aes-arm)", 200, UPTO_6_1, 0),
		CBC("cbc(ecb(aes-arm))", 200, ONLY_6_12, 0),
		CTR("ctr(aes-arm)", 200, UPTO_6_12, 0),
		XTS("xts(ecb(aes-arm))", 200, UPTO_6_12, 0)),
	REFUSES, SYNC,
	.slower_than_cpu = TRI_NO,
	.quirks = "Software; its 200 is what an engine's priority has to beat through the templates.",
	.present_since = K5_10, .present_until = K6_12, .present = "in 6.1 and 6.12; part of the AES library from 7.2",
	.source = "arch/arm/crypto/aes-cipher-glue.c",
},

/* --- software ------------------------------------------------------------------------------- */
{
	.id = "software-generic", .name = "Portable C AES",
	.kind = ACCEL_SOFTWARE, .arch = ARCH_ANY,
	.match = MATCH({ MATCH_ALWAYS, "" }),
	.how_detected = "always there",
	.modules = WORDS("aes_generic"), .kconfig = WORDS("CRYPTO_AES"),
	.algs = ALGS(
		SINGLE("aes-generic", 100, UPTO_6_12, 0),
		ECB("ecb(aes-generic)", 100, UPTO_6_12, 0),
		CBC("cbc(aes-generic)", 100, UPTO_6_1, 0),
		CBC("cbc(ecb(aes-generic))", 100, ONLY_6_12, 0),
		CTR("ctr(aes-generic)", 100, UPTO_6_12, 0),
		XTS("xts(ecb(aes-generic))", 100, UPTO_6_12, 0),
		CTS("cts(cbc(aes-generic))", 100, UPTO_6_1, 0),
		CTS("cts(cbc(ecb(aes-generic)))", 100, ONLY_6_12, 0),
		SINGLE("aes-fixed-time", 101, UPTO_6_12, 0),
		ECB("ecb(aes-fixed-time)", 101, UPTO_6_12, 0),
		CBC("cbc(aes-fixed-time)", 101, UPTO_6_1, 0),
		CBC("cbc(ecb(aes-fixed-time))", 101, ONLY_6_12, 0),
		CTR("ctr(aes-fixed-time)", 101, UPTO_6_12, 0),
		XTS("xts(ecb(aes-fixed-time))", 101, UPTO_6_12, 0),
		SINGLE("aes-lib", 100, FROM_7_2, 0),
		ECB("ecb(aes-lib)", 100, ONLY_7_2, 0),
		CBC("cbc(ecb(aes-lib))", 100, ONLY_7_2, 0),
		CTR("ctr(aes-lib)", 100, ONLY_7_2, 0),
		XTS("xts(ecb(aes-lib))", 100, ONLY_7_2, 0),
		ECB("ecb-aes-lib", 110, FROM_7_3, 0),
		CBC("cbc-aes-lib", 110, FROM_7_3, 0),
		CTR("ctr-aes-lib", 110, FROM_7_3, 0),
		XTS("xts-aes-lib", 110, FROM_7_3, 0)),
	REFUSES, SYNC,
	.slower_than_cpu = TRI_NO,
	.quirks = "From 7.2 the AES library behind the -lib names may use AES instructions itself, so the name alone does not "
		"prove slow. aes-fixed-time needs CRYPTO_AES_TI. On SPARC 7.3 has no xts-aes-lib.",
	IN_ALL, .source = "crypto/aes_generic.c, aes_ti.c, lskcipher.c; 7.x crypto/aes.c",
},
};
/* clang-format on */

const size_t accel_count = ARRAY_SIZE(accel_table);
