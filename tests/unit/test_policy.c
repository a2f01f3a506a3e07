/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Verdicts: (machine, spec, key bits) → verdict, action, parts, driver, reasons, nearest; a table, then properties over
 * every machine and spec. Rows marked "seen" were read off hardware counters or the kernel in guests.
 */
#include "machine_builder.h"

/* --- machines -------------------------------------------------------------------------------------- */

#define PENTIUM3 "fpu de pse tsc msr cx8 cmov mmx fxsr sse"
#define GEODE_CPU "fpu de pse tsc msr cx8 sep pge cmov clflush mmx mmxext 3dnowext 3dnow"
#define A53 "fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid"
#define A72 "fp asimd evtstrm crc32 cpuid"
#define A7 "half thumb fastmult vfp edsp neon vfpv3 tls vfpv4"
#define SKYLAKE "fpu lm aes pclmulqdq avx avx2"
#define VAES SKYLAKE " vaes vpclmulqdq"
#define VAES512 VAES " avx512bw avx512vl bmi2"

static const struct mdesc
	/* Geode */
	geode = { "geode 6.1", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx" },
	geode_off = { "geode 6.1, not loaded", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx" },
	geode_510 = { "geode 5.10", ARCH_X86_32, KVER(5, 10), GEODE_CPU, "geode-lx", "geode-lx" },
	geode_54 = { "geode 5.4", ARCH_X86_32, KVER(5, 4), GEODE_CPU, "geode-lx", "geode-lx" },
	geode_612 = { "geode 6.12", ARCH_X86_32, KVER(6, 12), GEODE_CPU, "geode-lx", "geode-lx" },
	geode_72 = { "geode 7.2", ARCH_X86_32, KVER(7, 2), GEODE_CPU, "geode-lx", "geode-lx" },
	geode_73 = { "geode 7.3", ARCH_X86_32, KVER(7, 3), GEODE_CPU, "geode-lx", "geode-lx" },
	geode_73_off = { "geode 7.3, not loaded", ARCH_X86_32, KVER(7, 3), GEODE_CPU, "geode-lx" },
	geode_73_prepared = { "geode 7.3, xts prepared", ARCH_X86_32, KVER(7, 3), GEODE_CPU, "geode-lx", "geode-lx",
			      "xts(aes)|xts(ecb-aes-geode)|400" },
	geode_late = { "geode 6.1, not loaded, volumes are open", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", NULL,
		       "xts(aes)|xts(ecb(aes-generic))|100\necb(aes)|ecb(aes-generic)|100\ncbc(aes)|cbc(aes-generic)|100\n"
		       "essiv(cbc(aes),sha256)|essiv(cbc(aes-generic),sha256-generic)|100" },
	geode_was_late = { "geode 6.1, loaded after a volume was opened", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
			   "ecb(aes)|ecb(aes-generic)|100\ncbc(aes)|cbc(aes-generic)|100" },
	geode_soft_xts = { "geode 6.1, xts(ecb(aes-generic)) was asked for by name", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx",
			   "geode-lx", "xts(aes)|xts(ecb(aes-generic))|100\necb(aes)|ecb(aes-generic)|100" },
	geode_iv_fault = { "geode 6.1, cbc failed its self-test", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
			   "cbc(aes)|cbc-aes-geode|400|!\ncbc(aes)|cbc(aes-generic)|100\necb(aes)|ecb(aes-generic)|100" },
	geode_data_fault = { "geode 6.1, all failed", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
			     "aes|geode-aes|300|c!\necb(aes)|ecb-aes-geode|400|!\ncbc(aes)|cbc-aes-geode|400|!\n"
			     "cbc(aes)|cbc(aes-generic)|100\necb(aes)|ecb(aes-generic)|100" },
	geode_late_fault = { "geode 6.1, the test of an instance failed", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
			     "essiv(cbc(aes),sha256)|essiv(cbc-aes-geode,sha256-generic)|400|!" },
	geode_untested = { "geode 6.1, tests off", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx", .flags = TESTS_OFF },
	geode_quarantined = { "geode 6.1, quarantined", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
			      "aes|geode-aes|0|c\necb(aes)|ecb-aes-geode|0\ncbc(aes)|cbc-aes-geode|0\n"
			      "cbc(aes)|cbc(aes-generic)|100\necb(aes)|ecb(aes-generic)|100" },
	geode_alone = { "geode 6.1, quarantined, no rival registered", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
			"aes|geode-aes|0|c\necb(aes)|ecb-aes-geode|0\ncbc(aes)|cbc-aes-geode|0" },
	geode_denied = { "geode 6.1, denied", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=denied" },
	geode_no_module = { "geode 6.1, no module", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=missing" },
	geode_no_option = { "geode 6.1, no option", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=missing",
			    .kconfig = "CONFIG_CRYPTO_AES=y\n" },
	geode_no_xts = { "geode 6.1, no xts template", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx", .mods = "xts=missing" },
	geode_blind = { "geode 6.1, /proc/crypto not readable", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .flags = NO_LIST },
	geode_flagged = { "geode 6.1, the kernel reports the memory flag", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", "geode-lx",
			  "aes|geode-aes|300|cM\necb(aes)|ecb-aes-geode|400|M\ncbc(aes)|cbc-aes-geode|400|M" },
	/* PadLock */
	padlock = { "padlock 6.1", ARCH_X86_64, KVER(6, 1), "fpu lm ace ace_en", NULL, "via-padlock-ace" },
	padlock_32 = { "padlock 6.1 i386", ARCH_X86_32, KVER(6, 1), "fpu ace ace_en rng rng_en phe phe_en", NULL, "via-padlock-ace" },
	padlock_off = { "padlock 6.1, not loaded", ARCH_X86_64, KVER(6, 1), "fpu lm ace ace_en" },
	padlock_73 = { "padlock 7.3", ARCH_X86_64, KVER(7, 3), "fpu lm ace ace_en", NULL, "via-padlock-ace" },
	padlock_disabled = { "padlock switched off by the firmware", ARCH_X86_64, KVER(6, 1), "fpu lm ace" },
	padlock_failed = { "padlock, all failed, nothing else registered", ARCH_X86_64, KVER(6, 1), "fpu lm ace ace_en", NULL,
			   "via-padlock-ace", "aes|aes-padlock|300|c!\necb(aes)|ecb-aes-padlock|400|!\ncbc(aes)|cbc-aes-padlock|400|!" },
	zhaoxin = { "zhaoxin 6.1, AES-NI and PadLock", ARCH_X86_64, KVER(6, 1), "fpu lm aes rng rng_en ace ace_en phe phe_en", NULL,
		    "x86-aesni" },
	zhaoxin_both = { "zhaoxin 6.1, PadLock loaded last", ARCH_X86_64, KVER(6, 1), "fpu lm aes rng rng_en ace ace_en", NULL,
			 "via-padlock-ace x86-aesni" },
	/* PC */
	pc_61 = { "AES-NI 6.1", ARCH_X86_64, KVER(6, 1), SKYLAKE, NULL, "x86-aesni" },
	pc_612 = { "AES-NI 6.12", ARCH_X86_64, KVER(6, 12), SKYLAKE, NULL, "x86-aes-avx x86-aesni" },
	pc_vaes = { "VAES 7.2", ARCH_X86_64, KVER(7, 2), VAES, NULL, "x86-vaes x86-aes-avx x86-aesni" },
	pc_vaes_off = { "VAES 7.2, not loaded", ARCH_X86_64, KVER(7, 2), VAES },
	pc_vaes512_off = { "AVX-512 7.2, not loaded", ARCH_X86_64, KVER(7, 2), VAES512 },
	pc_72_lib = { "AES-NI 7.2, driver missing", ARCH_X86_64, KVER(7, 2), SKYLAKE, .mods = "aesni-intel=missing" },
	pc_73_lib = { "AES-NI 7.3, driver missing", ARCH_X86_64, KVER(7, 3), SKYLAKE, .mods = "aesni-intel=missing" },
	pc_61_missing = { "AES-NI 6.1, driver missing", ARCH_X86_64, KVER(6, 1), SKYLAKE, .mods = "aesni-intel=missing" },
	pc_denied = { "AES-NI 6.1, denied", ARCH_X86_64, KVER(6, 1), SKYLAKE, .mods = "aesni-intel=hard" },
	pc_late = { "AES-NI 6.1, loaded after a volume was opened", ARCH_X86_64, KVER(6, 1), SKYLAKE, NULL, "x86-aesni",
		    "ecb(aes)|ecb(aes-generic)|100" },
	pc_wrapped = { "AES-NI 6.1 as listed, SIMD halves", ARCH_X86_64, KVER(6, 1), SKYLAKE, NULL, "x86-aesni",
		       "__xts(aes)|cryptd(__xts-aes-aesni)|451|i\n__xts(aes)|__xts-aes-aesni|401|i" },
	no_aes = { "no AES 6.1", ARCH_X86_64, KVER(6, 1), "fpu lm sse2" },
	no_dm_crypt = { "AES-NI 6.1, no dm-crypt", ARCH_X86_64, KVER(6, 1), SKYLAKE, NULL, "x86-aesni",
			.kconfig = "# CONFIG_DM_CRYPT is not set\n" },
	no_dm_module = { "AES-NI 6.1, dm_crypt not installed", ARCH_X86_64, KVER(6, 1), SKYLAKE, NULL, "x86-aesni",
			 .mods = "dm_crypt=missing" },
	bare = { "AES-NI 6.1, a small configuration", ARCH_X86_64, KVER(6, 1), SKYLAKE, NULL, "x86-aesni",
		 .kconfig = "# CONFIG_CRYPTO_SERPENT is not set\n# CONFIG_CRYPTO_TWOFISH is not set\n"
			    "CONFIG_CRYPTO_TWOFISH_X86_64=m\n# CONFIG_CRYPTO_DES is not set\n# CONFIG_CRYPTO_ESSIV is not set\n"
			    "# CONFIG_CRYPTO_LRW is not set\n# CONFIG_CRYPTO_ADIANTUM is not set\n" },
	no_aes_612 = { "no AES 6.12", ARCH_X86_64, KVER(6, 12), "fpu lm sse2" },
	no_aes_72 = { "no AES 7.2", ARCH_X86_64, KVER(7, 2), "fpu lm sse2" },
	no_aes_73 = { "no AES 7.3", ARCH_X86_64, KVER(7, 3), "fpu lm sse2" },
	no_aes_vm = { "no AES, in a VM", ARCH_X86_64, KVER(6, 1), "fpu lm sse2 hypervisor", .flags = IN_VM },
	serpent_pc = { "no AES 6.1, serpent-sse2", ARCH_X86_64, KVER(6, 1), "fpu lm sse2", NULL, NULL,
		       "xts(serpent)|xts-serpent-sse2|400\ncbc(des3_ede)|cbc-des3-ede-sun8i-ce|400" },
	no_adiantum = { "no AES, no adiantum", ARCH_X86_64, KVER(6, 1), "fpu lm sse2", .mods = "adiantum=missing" },
	/* flagged drivers */
	virtio = { "virtio-crypto 6.1", ARCH_X86_64, KVER(6, 1), "fpu lm sse2 hypervisor", "virtio-crypto", "virtio-crypto",
		   .flags = IN_VM },
	virtio_read = { "virtio-crypto 6.1, flag read", ARCH_X86_64, KVER(6, 1), "fpu lm sse2", "virtio-crypto", "virtio-crypto",
			"cbc(aes)|virtio_crypto_aes_cbc|150|M" },
	virtio_free = { "virtio-crypto, the kernel reports no memory flag", ARCH_X86_64, KVER(6, 1), "fpu lm sse2", "virtio-crypto",
			"virtio-crypto", "cbc(aes)|virtio_crypto_aes_cbc|150|F" },
	cesa = { "CESA 6.1, ARMv5", ARCH_ARM, KVER(6, 1), "swp half thumb fastmult edsp", "marvell-cesa", "marvell-cesa arm-asm" },
	cesa_neon = { "CESA 6.12, Armada 38x", ARCH_ARM, KVER(6, 12), A7, "marvell-cesa", "marvell-cesa arm-neonbs" },
	cesa_54 = { "CESA 5.4", ARCH_ARM, KVER(5, 4), "half thumb edsp", "marvell-cesa", "marvell-cesa" },
	caam = { "CAAM 6.1, i.MX6UL", ARCH_ARM, KVER(6, 1), A7, "nxp-caam-jr", NULL,
		 "cbc(aes)|cbc-aes-caam|3000\necb(aes)|ecb-aes-caam|3000\nxts(aes)|xts(ecb-aes-caam)|3000\n"
		 "essiv(cbc(aes),sha256)|essiv(cbc-aes-caam,sha256-caam)|3000" },
	qat = { "QAT 6.1 with AES-NI", ARCH_X86_64, KVER(6, 1), SKYLAKE, "intel-qat", "intel-qat x86-aesni" },
	qat_off = { "QAT 6.1 with AES-NI, nothing loaded", ARCH_X86_64, KVER(6, 1), SKYLAKE, "intel-qat" },
	ccp = { "CCP 6.1 with AES-NI", ARCH_X86_64, KVER(6, 1), SKYLAKE, "amd-ccp", "x86-aesni", .mods = "ccp=loaded ccp-crypto=present" },
	/* on-chip engines */
	dcp = { "DCP 6.1, i.MX28", ARCH_ARM, KVER(6, 1), "swp half thumb edsp", "mxs-dcp", "mxs-dcp" },
	dcp_73 = { "DCP 7.3", ARCH_ARM, KVER(7, 3), "swp half thumb edsp", "mxs-dcp", "mxs-dcp" },
	sahara = { "SAHARA 6.1", ARCH_ARM, KVER(6, 1), "half thumb neon", "sahara", "sahara arm-neonbs" },
	ccree = { "CryptoCell 6.1, no AES instructions", ARCH_ARM64, KVER(6, 1), A72, "arm-ccree", "arm-ccree" },
	sun4i = { "sun4i-ss 6.1", ARCH_ARM, KVER(6, 1), A7, "allwinner-sun4i-ss", "allwinner-sun4i-ss" },
	sun8i_h3 = { "sun8i-ce 6.1, H3 without AES instructions", ARCH_ARM, KVER(6, 1), A7, "allwinner-sun8i-ce", "allwinner-sun8i-ce" },
	sun8i_510 = { "sun8i-ce 5.10", ARCH_ARM, KVER(5, 10), A7, "allwinner-sun8i-ce", "allwinner-sun8i-ce" },
	sun8i_h5 = { "sun8i-ce 6.1 loaded beside ARMv8-CE", ARCH_ARM64, KVER(6, 1), A53, "allwinner-sun8i-ce",
		     "allwinner-sun8i-ce arm64-ce" },
	sun8i_ss = { "sun8i-ss 6.1", ARCH_ARM, KVER(6, 1), A7, "allwinner-sun8i-ss", "allwinner-sun8i-ss" },
	rk3399 = { "rk3399 6.12, not loaded", ARCH_ARM64, KVER(6, 12), A53, "rockchip-rk-crypto", "arm64-ce arm64-neonbs" },
	rk3399_loaded = { "rk3399 6.12, engine loaded last", ARCH_ARM64, KVER(6, 12), A53, "rockchip-rk-crypto",
			  "rockchip-rk-crypto arm64-ce" },
	sa2ul = { "sa2ul 6.1, loaded", ARCH_ARM64, KVER(6, 1), A53, "ti-sa2ul", "ti-sa2ul arm64-ce" },
	stm32_61 = { "stm32 6.1 with NEON", ARCH_ARM, KVER(6, 1), A7, "stm32-cryp", "stm32-cryp arm-neonbs" },
	stm32_612 = { "stm32 6.12 with NEON", ARCH_ARM, KVER(6, 12), A7, "stm32-cryp", "stm32-cryp arm-neonbs" },
	eip93 = { "eip93 7.2", ARCH_MIPS, KVER(7, 2), NULL, "eip93", "eip93" },
	eip93_61 = { "eip93 6.1: no driver yet", ARCH_MIPS, KVER(6, 1), NULL, "eip93" },
	sec2_61 = { "sec2 6.1 with ARMv8-CE", ARCH_ARM64, KVER(6, 1), A53, "hisilicon-sec2", "hisilicon-sec2 arm64-ce" },
	sec2_72 = { "sec2 7.2 with ARMv8-CE", ARCH_ARM64, KVER(7, 2), A53, "hisilicon-sec2", "hisilicon-sec2 arm64-ce" },
	sec1 = { "sec v1, the kernel reports no memory flag", ARCH_ARM64, KVER(6, 1), A72, "hisilicon-sec", NULL,
		 "xts(aes)|hisi_sec_aes_xts|4001|F\ncbc(aes)|hisi_sec_aes_cbc|4001|F" },
	octeontx2 = { "octeontx2 6.1", ARCH_ARM64, KVER(6, 1), A53, "marvell-octeontx2-cpt", "marvell-octeontx2-cpt arm64-ce" },
	octeontx1 = { "octeontx 6.1, same driver names", ARCH_ARM64, KVER(6, 1), A53, "marvell-octeontx-cpt",
		      "marvell-octeontx-cpt arm64-ce" },
	tegra = { "tegra234 6.12", ARCH_ARM64, KVER(6, 12), A53, "tegra-se", "tegra-se arm64-ce" },
	dthev2 = { "dthev2 7.2", ARCH_ARM64, KVER(7, 2), A53, "ti-dthev2", "ti-dthev2 arm64-ce" },
	keembay = { "keembay 6.1", ARCH_ARM64, KVER(6, 1), A72, "keembay-ocs", "keembay-ocs" },
	sl3516 = { "sl3516 6.1: ecb only", ARCH_ARM, KVER(6, 1), "swp half thumb", "cortina-sl3516", "cortina-sl3516" },
	hifn = { "hifn 6.1: key sizes not known", ARCH_X86_32, KVER(6, 1), PENTIUM3, "hifn-795x", "hifn-795x" },
	ppc4xx = { "ppc4xx 6.1", ARCH_PPC32, KVER(6, 1), NULL, "amcc-ppc4xx", "amcc-ppc4xx" },
	s5p = { "s5p-sss 6.1 with NEON", ARCH_ARM, KVER(6, 1), A7, "samsung-s5p-sss", "samsung-s5p-sss arm-neonbs" },
	omap = { "omap 6.1 with NEON", ARCH_ARM, KVER(6, 1), A7, "omap-aes", "omap-aes arm-neonbs" },
	/* CPUs */
	pi4 = { "Raspberry Pi 4 6.1", ARCH_ARM64, KVER(6, 1), A72, NULL, "arm64-neonbs arm64-neon" },
	pi5 = { "Raspberry Pi 5 6.1", ARCH_ARM64, KVER(6, 1), A53, NULL, "arm64-ce arm64-neonbs" },
	pi5_off = { "Raspberry Pi 5 6.1, not loaded", ARCH_ARM64, KVER(6, 1), A53 },
	arm_ce = { "ARMv8 in 32-bit mode 6.1", ARCH_ARM, KVER(6, 1), A7 " aes", NULL, "arm-ce arm-neonbs" },
	power8 = { "POWER8 6.1 with NX", ARCH_PPC64, KVER(6, 1), "vec_crypto", "ibm-nx", "ppc-vmx ibm-nx" },
	s390 = { "z15 6.1", ARCH_S390, KVER(6, 1), "esan3 zarch stfle msa ldisp", NULL, "s390-cpacf s390-paes" },
	s390_612 = { "z15 6.12", ARCH_S390, KVER(6, 12), "esan3 zarch stfle msa ldisp", NULL, "s390-cpacf" },
	sparc_t4 = { "SPARC T4 6.12", ARCH_SPARC, KVER(6, 12), "flush stbar aes des camellia", NULL, "sparc-t4" },
	sparc_t4_73 = { "SPARC T4 7.3", ARCH_SPARC, KVER(7, 3), "flush stbar aes", NULL, "sparc-t4" },
	riscv = { "RISC-V Zvkned 6.12, not loaded", ARCH_RISCV, KVER(6, 12), "rv64 i m a f d c v zvkned zvkb" },
	riscv_full = { "RISC-V Zvkned, Zvbb, Zvkg 6.12, not loaded", ARCH_RISCV, KVER(6, 12), "rv64 v zvkned zvkb zvbb zvkg" },
	riscv_61 = { "RISC-V Zvkned 6.1: no driver yet", ARCH_RISCV, KVER(6, 1), "rv64 v zvkned" },
	nothing_known = { "nothing known", 0, 0, NULL, .flags = NO_LIST | NO_CPUINFO };

static const struct mdesc *const machines[] = {
	&geode, &geode_off, &geode_510, &geode_54, &geode_612, &geode_72, &geode_73, &geode_73_off, &geode_73_prepared, &geode_late,
	&geode_was_late, &geode_soft_xts, &geode_iv_fault, &geode_data_fault, &geode_late_fault, &geode_untested, &geode_quarantined, &geode_alone,
	&geode_denied, &geode_no_module, &geode_no_option, &geode_no_xts, &geode_blind, &geode_flagged, &padlock, &padlock_32,
	&padlock_off, &padlock_73, &padlock_disabled, &padlock_failed, &zhaoxin, &zhaoxin_both, &pc_61, &pc_612, &pc_vaes, &pc_vaes_off,
	&pc_vaes512_off, &pc_72_lib, &pc_73_lib, &pc_61_missing, &pc_denied, &pc_late, &pc_wrapped, &no_aes, &no_aes_612, &no_aes_72,
	&no_dm_crypt, &no_dm_module, &bare, &no_aes_73, &no_aes_vm, &serpent_pc, &no_adiantum, &virtio, &virtio_read, &virtio_free, &cesa, &cesa_neon, &cesa_54, &caam, &qat,
	&qat_off, &ccp, &dcp, &dcp_73, &sahara, &ccree, &sun4i, &sun8i_h3, &sun8i_510, &sun8i_h5, &sun8i_ss, &rk3399, &rk3399_loaded,
	&sa2ul, &stm32_61, &stm32_612, &eip93, &eip93_61, &sec2_61, &sec2_72, &sec1, &octeontx2, &octeontx1, &tegra, &dthev2, &keembay,
	&sl3516, &hifn, &ppc4xx, &s5p, &omap, &pi4, &pi5, &pi5_off, &arm_ce, &power8, &s390, &s390_612, &sparc_t4, &sparc_t4_73, &riscv,
	&riscv_full, &riscv_61, &nothing_known,
};

/* --- the table ----------------------------------------------------------------------------------------- */

#define PLAIN "aes-cbc-plain"
#define PLAIN64 "aes-cbc-plain64"
#define ESSIV "aes-cbc-essiv:sha256"
#define XTS_ "aes-xts-plain64"
#define ADIANTUM "xchacha12,aes-adiantum-plain64"
#define N128 ESSIV " 128"
#define N256 ESSIV " 256"
#define X256 XTS_ " 256"
#define X512 XTS_ " 512"

struct row {
	const struct mdesc *m;
	const char *spec;
	unsigned int bits;
	/*
	 * verdict (A accelerated, P partly, S software, U unknown, I impossible), action (p proceed, r refuse), then data, IV,
	 * tweak (h hardware, s software, u unknown, - none). A leading L: after the load plan was carried out.
	 */
	const char *want;
	const char *driver; /* NULL: not looked at */
	const char *codes;
	const char *nearest; /* NULL: there must be none */
};

static const struct row rows[] = {
	/* Geode 6.1: what the engine's counters said (seen) */
	{ &geode, PLAIN, 128, "Aph--", "cbc-aes-geode", "engine weak-class caution", NULL },
	{ &geode, PLAIN64, 128, "Aph--", "cbc-aes-geode", "engine weak-class", NULL },
	{ &geode, PLAIN64, 256, "Srs--", "cbc-aes-geode", "key-size weak-class -engine", N128 },
	{ &geode, ESSIV, 128, "Pphs-", "essiv(cbc-aes-geode,sha256-generic)", "engine iv-software malleable -weak-class", NULL },
	{ &geode, ESSIV, 256, "Srss-", "essiv(cbc-aes-geode,sha256-generic)", "key-size malleable", N128 },
	{ &geode, "aes-cbc-essiv:md5", 128, "Aphh-", "essiv(cbc-aes-geode,md5-generic)", "engine iv-hardware weak-class", NULL },
	{ &geode, XTS_, 256, "Aph-h", "xts(ecb-aes-geode)", "engine template -tweak-software", NULL },
	{ &geode, XTS_, 512, "Srs-s", "xts(ecb-aes-geode)", "key-size -engine -template", X256 },
	{ &geode, "aes-ecb", 128, "Aph--", "ecb-aes-geode", "engine ecb -weak-class", NULL },
	/* and what follows from them */
	{ &geode, "aes-ecb", 256, "Srs--", "ecb-aes-geode", "key-size ecb", X256 },
	{ &geode, PLAIN, 192, "Srs--", "cbc-aes-geode", "key-size", N128 },
	{ &geode, PLAIN, 256, "Srs--", "cbc-aes-geode", "key-size caution", N128 },
	{ &geode, "aes-xts-plain", 256, "Aph-h", "xts(ecb-aes-geode)", "engine caution", NULL },
	{ &geode, XTS_, 384, "Srs-s", NULL, "key-size", X256 },
	{ &geode, "aes-cbc-essiv:md5", 256, "Srsh-", NULL, "key-size weak-class", N128 },
	{ &geode, "aes-cbc-null", 128, "Aph--", NULL, "weak-class caution", NULL },
	{ &geode, "aes-cbc-benbi", 128, "Aph--", NULL, "weak-class", NULL },
	{ &geode, "aes-ctr-plain64", 128, "Aph--", "ctr(geode-aes)", "engine template caution", NULL },
	{ &geode, "aes-ctr-plain64", 256, "Srs--", "ctr(geode-aes)", "key-size caution", X256 },
	{ &geode, "aes-lrw-benbi", 384, "Srs--", NULL, "key-size", X256 },
	{ &geode, "aes-lrw-benbi", 256, "Aph--", "lrw(ecb-aes-geode)", "engine", NULL },
	{ &geode, "aes", 128, "Aph--", "cbc-aes-geode", "engine weak-class", NULL },
	/* what the kernel's configuration says that it lacks */
	{ &no_dm_crypt, XTS_, 512, "Ir---", NULL, "no-dm-crypt -cpu-instructions", NULL },
	{ &no_dm_module, ADIANTUM, 256, "Ir---", NULL, "no-dm-crypt", NULL },
	{ &bare, XTS_, 512, "Aph-h", NULL, "cpu-instructions -no-dm-crypt", NULL },
	{ &bare, "serpent-xts-plain64", 512, "Ir---", NULL, "cipher-missing", NULL },
	{ &bare, "des3_ede-cbc-plain64", 192, "Ir---", NULL, "cipher-missing", NULL },
	{ &bare, "twofish-xts-plain64", 512, "Sps-s", NULL, "other-cipher -cipher-missing", NULL },
	{ &bare, "camellia-xts-plain64", 512, "Sps-s", NULL, "other-cipher -cipher-missing", NULL }, /* not mentioned: not known */
	{ &bare, ESSIV, 128, "Ir---", NULL, "cipher-missing", NULL },
	{ &bare, "aes-lrw-benbi", 256, "Ir---", NULL, "cipher-missing", NULL },
	{ &bare, ADIANTUM, 256, "Ir---", NULL, "cipher-missing", NULL },
	/* ESSIV hashes */
	{ &geode, "aes-cbc-essiv:sha1", 128, "Ir---", NULL, "essiv-hash -engine", NULL },
	{ &geode, "aes-cbc-essiv:sha224", 128, "Ir---", NULL, "essiv-hash", NULL },
	{ &geode, "aes-cbc-essiv:sha512", 128, "Ir---", NULL, "essiv-hash", NULL },
	{ &geode, "aes-cbc-essiv:sha384", 128, "Ir---", NULL, "essiv-hash", NULL },
	{ &geode, "aes-cbc-essiv:nohash", 128, "Ir---", NULL, "essiv-hash", NULL },
	{ &pc_61, "aes-cbc-essiv:sha1", 256, "Ir---", NULL, "essiv-hash -cpu-instructions", NULL },
	{ &pc_61, "aes-cbc-essiv:md5", 256, "Aphh-", NULL, "cpu-instructions weak-class", NULL },
	/* key sizes that contradict themselves */
	{ &geode, PLAIN64, 100, "Ir---", NULL, "bad-spec", NULL },
	{ &geode, XTS_, 128, "Ir---", NULL, "bad-spec", NULL },
	{ &geode, ADIANTUM, 128, "Ir---", NULL, "bad-spec", NULL },
	{ &pc_61, XTS_, 1024, "Ir---", NULL, "bad-spec", NULL },
	/* other ciphers by name */
	{ &geode, ADIANTUM, 256, "Sps--", NULL, "adiantum -other-cipher -key-size", NULL },
	{ &geode, "serpent-xts-plain64", 512, "Sps-s", "xts(ecb(serpent))", "software other-cipher", NULL },
	{ &geode, "serpent-cbc-essiv:sha256", 128, "Spss-", NULL, "software other-cipher malleable", NULL },
	{ &geode, "twofish-xts-plain64", 256, "Sps-s", NULL, "other-cipher", NULL },
	{ &geode, "des3_ede-cbc-plain64", 192, "Sps--", NULL, "other-cipher caution", NULL },
	{ &serpent_pc, "serpent-xts-plain64", 512, "Sps-s", "xts-serpent-sse2", "other-cipher", NULL },
	{ &serpent_pc, "des3_ede-cbc-plain64", 192, "Upu--", "cbc-des3-ede-sun8i-ce", "driver-unknown -software", NULL },
	{ &geode, "nosuch-xts-plain64", 256, "Ir---", NULL, "cipher-missing", NULL },
	{ &geode, "cipher_null-ecb", 0, "Sps--", NULL, "caution", NULL },
	/* drivers by name */
	{ &geode, "capi:cbc(aes)-plain64", 128, "Aph--", "cbc-aes-geode", "engine -asked", NULL },
	{ &geode, "capi:cbc-aes-geode-plain64", 128, "Aph--", "cbc-aes-geode", "engine", NULL },
	{ &geode, "capi:cbc-aes-geode-plain64", 256, "Sps--", "cbc-aes-geode", "key-size asked", NULL },
	{ &geode, "capi:cbc(aes-generic)-plain64", 128, "Sps--", "cbc(aes-generic)", "software asked", NULL },
	{ &geode, "capi:xts(ecb(aes-generic))-plain64", 256, "Sps-h", "xts(ecb(aes-generic))", "software asked", NULL }, /* seen */
	{ &geode, "capi:xts(ecb-aes-geode)-plain64", 256, "Aph-h", "xts(ecb-aes-geode)", "engine template", NULL },
	{ &geode, "capi:xts(aes)-plain64", 256, "Aph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &geode, "capi:xts(ecb(aes))-plain64", 256, "Ir---", NULL, "cipher-missing", NULL }, /* seen */
	{ &geode, "capi:cbc(aes)-essiv:sha256", 128, "Pphs-", NULL, "iv-software", NULL },
	{ &geode, "capi:cbc-aes-geode-essiv:sha256", 128, "Ir---", NULL, "cipher-missing", NULL }, /* seen, with aesni */
	{ &geode, "capi:cbc-aes-geode-essiv:sha256-generic", 128, "Pphs-", "essiv(cbc-aes-geode,sha256-generic)", "iv-software", NULL },
	{ &geode_612, "capi:cbc(ecb(aes-generic))-plain64", 128, "Sps--", "cbc(ecb(aes-generic))", "software asked", NULL },
	{ &geode, "capi:no-such-driver-plain64", 128, "Ir---", NULL, "cipher-missing", NULL },
	{ &virtio, "capi:virtio_crypto_aes_cbc-plain64", 128, "Ir---", NULL, "memory-flag", NULL }, /* seen */
	{ &caam, "capi:xts(ecb-aes-caam)-plain64", 256, "Ir---", NULL, "memory-flag", NULL },
	{ &pc_61, "capi:xts-aes-aesni-plain64", 512, "Aph-h", "xts-aes-aesni", "cpu-instructions", NULL }, /* seen */
	{ &pc_61, "capi:xts(ecb-aes-aesni)-plain64", 512, "Aph-h", "xts(ecb-aes-aesni)", "cpu-instructions", NULL }, /* seen */
	/* not loaded: now, and after loading */
	{ &geode_off, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "not-loaded software", NULL },
	{ &geode_off, PLAIN64, 128, "LAph--", "cbc-aes-geode", "engine", NULL },
	{ &geode_off, ESSIV, 256, "LSrss-", NULL, "key-size", N128 },
	{ &geode_off, XTS_, 256, "LAph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &geode_denied, ESSIV, 128, "LSpss-", NULL, "denied", NULL },
	{ &geode_no_module, ESSIV, 128, "LSpss-", NULL, "no-module", NULL },
	{ &geode_no_option, ESSIV, 128, "LSpss-", NULL, "no-option", NULL },
	/* instances built before the engine came */
	{ &geode_late, XTS_, 256, "Sps-s", "xts(ecb(aes-generic))", "not-loaded", NULL },
	{ &geode_late, XTS_, 256, "LAph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &geode_late, ESSIV, 128, "LPphs-", "essiv(cbc-aes-geode,sha256-generic)", "engine", NULL },
	{ &geode_late, PLAIN64, 128, "LAph--", "cbc-aes-geode", "engine", NULL },
	{ &geode_was_late, XTS_, 256, "Aph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &geode_soft_xts, XTS_, 256, "Srs-h", "xts(ecb(aes-generic))", "software outranked", N128 },
	{ &geode_soft_xts, XTS_, 256, "LAph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &pc_late, XTS_, 512, "Aph-h", "xts-aes-aesni", "cpu-instructions", NULL },
	/* kernels */
	{ &geode_510, ESSIV, 128, "Pphs-", "essiv(cbc-aes-geode,sha256-generic)", "engine -old-kernel", NULL },
	{ &geode_510, XTS_, 512, "Srs-s", NULL, "key-size", X256 },
	{ &geode_54, ESSIV, 128, "Pphs-", NULL, "engine old-kernel", NULL },
	{ &geode_54, PLAIN64, 256, "Srs--", NULL, "key-size old-kernel", N128 },
	{ &cesa_54, PLAIN64, 128, "Upu--", "mv-cbc-aes", "old-kernel -memory-flag", NULL },
	{ &geode_612, XTS_, 256, "Aph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &geode_612, ESSIV, 128, "Pphs-", NULL, "engine", NULL },
	{ &geode_72, XTS_, 256, "Aph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &geode_72, ESSIV, 128, "Pphs-", "essiv(cbc-aes-geode,sha256-lib)", "engine iv-software", NULL },
	{ &geode_73, XTS_, 256, "Srs-s", "xts-aes-lib", "software outranked", N128 },
	{ &geode_73, XTS_, 256, "LAph-h", "xts(ecb-aes-geode)", "engine template", NULL },
	{ &geode_73, ESSIV, 128, "Pphs-", NULL, "engine", NULL },
	{ &geode_73, PLAIN64, 128, "Aph--", "cbc-aes-geode", "engine", NULL },
	{ &geode_73_off, XTS_, 256, "LAph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &geode_73_prepared, XTS_, 256, "Aph-h", "xts(ecb-aes-geode)", "engine", NULL },
	{ &geode_73_prepared, XTS_, 512, "Srs-s", NULL, "key-size", X256 },
	{ &no_aes, XTS_, 512, "Sps-s", "xts(ecb(aes-generic))", "software", NULL },
	{ &no_aes, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "software", NULL },
	{ &no_aes_612, PLAIN64, 128, "Sps--", "cbc(ecb(aes-generic))", "software", NULL },
	{ &no_aes_612, XTS_, 512, "Sps-s", "xts(ecb(aes-generic))", "software", NULL },
	{ &no_aes_612, "aes-ctr-plain64", 256, "Sps--", "ctr(aes-generic)", "software", NULL },
	{ &no_aes_72, XTS_, 512, "Sps-s", "xts(ecb(aes-lib))", "software -lib-aes", NULL },
	{ &no_aes_72, PLAIN64, 256, "Sps--", "cbc(ecb(aes-lib))", "software", NULL },
	{ &no_aes_73, XTS_, 512, "Sps-s", "xts-aes-lib", "software -lib-aes", NULL },
	{ &pc_72_lib, XTS_, 512, "Upu-u", "xts(ecb(aes-lib))", "lib-aes no-module", NULL },
	{ &pc_73_lib, XTS_, 512, "Upu-u", "xts-aes-lib", "lib-aes", NULL },
	{ &pc_73_lib, ESSIV, 256, "Upuu-", "essiv(cbc-aes-lib,sha256-lib)", "lib-aes", NULL },
	{ &pc_61_missing, XTS_, 512, "Sps-s", "xts(ecb(aes-generic))", "software no-module", NULL },
	{ &pc_denied, XTS_, 512, "LSps-s", NULL, "denied", NULL },
	/* self-tests and quarantine */
	{ &geode_iv_fault, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "software selftest-failed", NULL }, /* seen */
	{ &geode_iv_fault, XTS_, 256, "Aph-h", "xts(ecb-aes-geode)", "engine selftest-failed", NULL },
	{ &geode_iv_fault, XTS_, 512, "Sps-s", NULL, "key-size", NULL },
	{ &geode_data_fault, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "selftest-failed software", NULL }, /* seen */
	{ &geode_data_fault, XTS_, 256, "Sps-s", "xts(ecb(aes-generic))", "selftest-failed", NULL },
	{ &padlock_failed, PLAIN64, 128, "Ir---", NULL, "selftest-failed", NULL },
	{ &padlock_failed, XTS_, 256, "Ir---", NULL, "selftest-failed", NULL },
	{ &geode_late_fault, ESSIV, 128, "Ir---", NULL, "selftest-failed", NULL }, /* seen */
	{ &geode_late_fault, XTS_, 256, "Aph-h", "xts(ecb-aes-geode)", "engine selftest-failed", NULL },
	{ &geode_untested, ESSIV, 128, "Pphs-", NULL, "selftest-off engine", NULL },
	{ &geode_untested, XTS_, 512, "Srs-s", NULL, "-selftest-off", X256 },
	{ &geode_quarantined, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "quarantined", NULL },
	{ &geode_quarantined, XTS_, 256, "Sps-s", "xts(ecb(aes-generic))", "quarantined", NULL },
	{ &geode_alone, PLAIN64, 128, "Upu--", "cbc-aes-geode", "quarantined -engine", NULL },
	/* what could not be read, or is not there */
	{ &geode_blind, ESSIV, 128, "Upu--", "", "list-unreadable -engine", NULL },
	{ &geode_blind, "aes-cbc-essiv:sha1", 128, "Ir---", "", "essiv-hash", NULL },
	{ &nothing_known, XTS_, 512, "Upu--", "", "list-unreadable", NULL },
	{ &geode_no_xts, XTS_, 256, "Ir---", NULL, "cipher-missing", NULL },
	{ &geode_no_xts, PLAIN64, 256, "Srs--", NULL, "key-size", N128 },
	{ &no_adiantum, ADIANTUM, 256, "Ir---", NULL, "cipher-missing", NULL },
	/* the memory flag, read at run time, overrides the table both ways */
	{ &geode_flagged, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "memory-flag", NULL },
	{ &virtio, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "memory-flag software", NULL }, /* seen */
	{ &virtio, ESSIV, 128, "Spss-", NULL, "memory-flag", NULL },
	{ &virtio_read, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "memory-flag", NULL },
	{ &virtio_free, PLAIN64, 128, "Aph--", "virtio_crypto_aes_cbc", "engine -memory-flag", NULL },
	{ &cesa, PLAIN64, 128, "Sps--", "cbc(aes-arm)", "memory-flag", NULL },
	{ &cesa_neon, ESSIV, 128, "Spss-", "essiv(cbc-aes-neonbs,sha256-generic)", "simd memory-flag", NULL },
	{ &caam, PLAIN64, 256, "Sps--", "cbc(aes-generic)", "memory-flag -engine", NULL },
	{ &caam, XTS_, 256, "Sps-s", "xts(ecb(aes-generic))", "memory-flag -engine", NULL },
	{ &caam, ESSIV, 256, "Spss-", NULL, "memory-flag -engine", NULL },
	{ &qat, XTS_, 512, "Aph-h", "xts-aes-aesni", "cpu-instructions memory-flag", NULL },
	{ &qat_off, XTS_, 512, "LAph-h", "xts-aes-aesni", "cpu-instructions memory-flag", NULL },
	{ &ccp, PLAIN64, 256, "Aph--", "cbc-aes-aesni", "cpu-instructions memory-flag", NULL },
	{ &sun8i_510, PLAIN64, 128, "Sps--", "cbc(aes-generic)", "memory-flag", NULL },
	{ &sun8i_ss, PLAIN64, 128, "Sps--", NULL, "memory-flag", NULL },
	/* PadLock: everything on the unit (seen) */
	{ &padlock, PLAIN64, 128, "Aph--", "cbc-aes-padlock", "cpu-instructions", NULL },
	{ &padlock, PLAIN64, 256, "Aph--", "cbc-aes-padlock", "cpu-instructions", NULL },
	{ &padlock, ESSIV, 128, "Aphh-", "essiv(cbc-aes-padlock,sha256-generic)", "cpu-instructions iv-hardware", NULL },
	{ &padlock, ESSIV, 256, "Aphh-", NULL, "cpu-instructions iv-hardware", NULL },
	{ &padlock, "aes-ecb", 128, "Aph--", "ecb-aes-padlock", "cpu-instructions ecb", NULL },
	{ &padlock, XTS_, 256, "Aph-h", "xts(ecb-aes-padlock)", "cpu-instructions", NULL },
	{ &padlock, XTS_, 512, "Aph-h", "xts(ecb-aes-padlock)", "cpu-instructions", NULL },
	{ &padlock_32, ESSIV, 256, "Aphh-", NULL, "cpu-instructions", NULL },
	{ &padlock_off, XTS_, 512, "Sps-s", NULL, "not-loaded", NULL },
	{ &padlock_off, XTS_, 512, "LAph-h", "xts(ecb-aes-padlock)", "cpu-instructions", NULL },
	{ &padlock_73, XTS_, 512, "Sps-s", "xts-aes-lib", "outranked", NULL }, /* an instruction set never makes format refuse */
	{ &padlock_73, XTS_, 512, "LAph-h", "xts(ecb-aes-padlock)", "cpu-instructions", NULL },
	{ &padlock_disabled, XTS_, 512, "Sps-s", NULL, "software -not-loaded", NULL },
	{ &zhaoxin, PLAIN64, 256, "LAph--", "cbc-aes-aesni", "cpu-instructions", NULL },
	{ &zhaoxin, XTS_, 512, "LAph-h", "xts-aes-aesni", "cpu-instructions", NULL },
	{ &zhaoxin_both, PLAIN64, 256, "Aph--", "cbc-aes-padlock", "cpu-instructions", NULL },
	{ &zhaoxin_both, XTS_, 512, "Aph-h", "xts-aes-aesni", "cpu-instructions", NULL },
	/* AES-NI and its younger code */
	{ &pc_61, XTS_, 512, "Aph-h", "xts-aes-aesni", "cpu-instructions", NULL },
	{ &pc_61, ESSIV, 256, "Aphh-", "essiv(cbc-aes-aesni,sha256-generic)", "cpu-instructions iv-hardware", NULL },
	{ &pc_61, ADIANTUM, 256, "Sps--", NULL, "adiantum", NULL },
	{ &pc_61, "aes-gcm-random", 256, "Upu--", "", "driver-unknown", NULL },
	{ &geode, "aes-gcm-random", 256, "Upu--", "", "driver-unknown", NULL },
	{ &pc_wrapped, XTS_, 256, "Aph-h", "xts-aes-aesni", "cpu-instructions", NULL },
	{ &pc_612, XTS_, 512, "Aph-h", "xts-aes-aesni-avx", "cpu-instructions", NULL },
	{ &pc_vaes, XTS_, 512, "Aph-h", "xts-aes-vaes-avx2", "cpu-instructions", NULL },
	{ &pc_vaes_off, XTS_, 512, "LAph-h", "xts-aes-vaes-avx2", "cpu-instructions", NULL },
	{ &pc_vaes512_off, XTS_, 512, "LAph-h", "xts-aes-vaes-avx512", "cpu-instructions", NULL },
	/* engines with 128-bit keys and no single-block cipher of their own */
	{ &dcp, PLAIN64, 128, "Aph--", "cbc-aes-dcp", "engine", NULL },
	{ &dcp, ESSIV, 128, "Pphs-", NULL, "engine iv-software", NULL },
	{ &dcp, ESSIV, 256, "Srss-", NULL, "key-size", N128 },
	{ &dcp, XTS_, 256, "Pph-s", "xts(ecb-aes-dcp)", "engine template tweak-software", NULL },
	{ &dcp, XTS_, 512, "Srs-s", NULL, "key-size", X256 },
	{ &dcp_73, XTS_, 256, "Srs-s", "xts-aes-lib", "outranked", N128 },
	{ &dcp_73, XTS_, 256, "LPph-s", "xts(ecb-aes-dcp)", "engine", NULL },
	{ &sahara, PLAIN64, 128, "Aph--", "sahara-cbc-aes", "engine", NULL },
	{ &sahara, PLAIN64, 256, "Srs--", "sahara-cbc-aes", "key-size", N128 },
	{ &sahara, XTS_, 256, "Srs-s", "xts-aes-neonbs", "simd outranked", N128 }, /* native code: no template is consulted */
	{ &sahara, XTS_, 256, "LPph-s", "xts(sahara-ecb-aes)", "engine", NULL },
	/* CryptoCell: 128-bit ESSIV is the slow one */
	{ &ccree, ESSIV, 128, "Srss-", "essiv-aes-ccree", "key-size", N256 },
	{ &ccree, ESSIV, 256, "Aphh-", "essiv-aes-ccree", "engine", NULL },
	{ &ccree, XTS_, 512, "Aph-h", "xts-aes-ccree", "engine -template", NULL },
	{ &ccree, PLAIN64, 128, "Aph--", "cbc-aes-ccree", "engine", NULL },
	/* engines with all key sizes */
	{ &sun4i, ESSIV, 256, "Pphs-", NULL, "engine iv-software", NULL },
	{ &sun4i, XTS_, 512, "Pph-s", "xts(ecb-aes-sun4i-ss)", "engine tweak-software", NULL },
	{ &sun8i_h3, PLAIN64, 256, "Aph--", "cbc-aes-sun8i-ce", "engine", NULL },
	{ &sun8i_h3, XTS_, 512, "Pph-s", "xts(ecb-aes-sun8i-ce)", "engine", NULL },
	{ &sun8i_h5, PLAIN64, 128, "Aph--", "cbc-aes-sun8i-ce", "engine outranks-cpu", NULL },
	{ &sun8i_h5, ESSIV, 256, "Aphh-", "essiv-cbc-aes-sha256-ce", "cpu-instructions", NULL },
	{ &sun8i_h5, XTS_, 512, "Aph-h", "xts-aes-ce", "cpu-instructions", NULL },
	{ &rk3399, PLAIN64, 256, "LAph--", "cbc-aes-ce", "cpu-instructions outranks-cpu", NULL },
	{ &rk3399_loaded, PLAIN64, 256, "Aph--", "cbc-aes-rk", "engine outranks-cpu", NULL },
	{ &rk3399_loaded, XTS_, 512, "Aph-h", "xts-aes-ce", "cpu-instructions", NULL },
	{ &sa2ul, PLAIN64, 256, "Aph--", "cbc-aes-sa2ul", "engine outranks-cpu", NULL },
	{ &sa2ul, XTS_, 512, "Aph-h", "xts-aes-ce", "cpu-instructions", NULL },
	{ &stm32_61, PLAIN64, 128, "Sps--", "cbc-aes-neonbs", "simd", NULL },
	{ &stm32_612, PLAIN64, 128, "Aph--", "stm32-cbc-aes", "engine slower", NULL },
	{ &stm32_612, XTS_, 512, "LSps-s", "xts-aes-neonbs", "simd", NULL },
	{ &omap, ESSIV, 256, "Pphs-", "essiv(cbc-aes-omap,sha256-generic)", "engine", NULL },
	{ &s5p, PLAIN64, 128, "Sps--", "cbc-aes-neonbs", "simd outranked", NULL },
	{ &keembay, PLAIN64, 192, "Srs--", NULL, "key-size", N256 },
	{ &keembay, PLAIN64, 256, "Aph--", NULL, "engine", NULL },
	{ &ppc4xx, ESSIV, 128, "Pphs-", NULL, "engine", NULL },
	{ &sl3516, ESSIV, 256, "Srss-", "essiv(cbc(aes-generic),sha256-generic)", "mode", X512 },
	{ &sl3516, XTS_, 512, "Pph-s", "xts(ecb-aes-sl3516)", "engine template", NULL },
	{ &hifn, PLAIN64, 128, "Upu--", "cbc-aes-hifn0", "keys-unknown -engine", NULL },
	/* driver names that look like templates */
	{ &eip93, PLAIN64, 256, "Aph--", "cbc(aes-eip93)", "engine", NULL },
	{ &eip93, XTS_, 512, "Pph-s", "xts(ecb(aes-eip93))", "engine template tweak-software", NULL },
	{ &eip93, ESSIV, 256, "Pphs-", "essiv(cbc(aes-eip93),sha256-lib)", "engine", NULL },
	{ &eip93_61, PLAIN64, 256, "Sps--", "cbc(aes-generic)", "software -engine -not-loaded", NULL },
	{ &sec2_61, XTS_, 512, "Aph-h", "hisi_sec_xts(aes)", "engine outranks-cpu -template", NULL },
	{ &sec2_61, PLAIN64, 256, "Aph--", "hisi_sec_cbc(aes)", "engine", NULL },
	{ &sec2_72, XTS_, 512, "Aph-h", "xts-aes-ce", "cpu-instructions outranked", NULL },
	{ &sec2_72, "capi:hisi_sec_cbc(aes)-plain64", 256, "Aph--", "hisi_sec_cbc(aes)", "engine", NULL },
	{ &sec1, XTS_, 384, "Ir---", "hisi_sec_aes_xts", "key-refused", NULL },
	{ &sec1, XTS_, 512, "Aph-h", "hisi_sec_aes_xts", "engine", NULL },
	/* one driver name, two chips, one memory flag */
	{ &octeontx2, XTS_, 512, "Aph-h", "cpt_xts_aes", "engine outranks-cpu", NULL },
	{ &octeontx1, XTS_, 512, "Aph-h", "xts-aes-ce", "cpu-instructions memory-flag", NULL },
	{ &tegra, XTS_, 512, "Aph-h", "xts-aes-tegra", "engine outranks-cpu", NULL },
	{ &dthev2, XTS_, 512, "Aph-h", "xts-aes-ce", "cpu-instructions", NULL },
	/* CPUs */
	{ &pi4, XTS_, 512, "Sps-s", "xts-aes-neonbs", "simd", NULL },
	{ &pi4, ESSIV, 256, "Spss-", "essiv-cbc-aes-sha256-neon", "simd", NULL },
	{ &pi4, ADIANTUM, 256, "Sps--", NULL, "adiantum", NULL },
	{ &pi5, XTS_, 512, "Aph-h", "xts-aes-ce", "cpu-instructions", NULL },
	{ &pi5, ESSIV, 256, "Aphh-", "essiv-cbc-aes-sha256-ce", "cpu-instructions", NULL },
	{ &pi5, "aes-cbc-essiv:md5", 128, "Aphh-", "essiv(cbc-aes-ce,md5-generic)", "weak-class", NULL },
	{ &pi5_off, XTS_, 512, "LAph-h", "xts-aes-ce", "cpu-instructions", NULL },
	{ &arm_ce, XTS_, 512, "Aph-h", "xts-aes-ce", "cpu-instructions", NULL },
	{ &arm_ce, ESSIV, 256, "Pphs-", "essiv(cbc-aes-ce,sha256-generic)", "cpu-instructions iv-software", NULL },
	{ &power8, XTS_, 512, "Aph-h", "p8_aes_xts", "cpu-instructions", NULL },
	{ &power8, ESSIV, 256, "Aphh-", "essiv(p8_aes_cbc,sha256-generic)", "cpu-instructions", NULL },
	{ &power8, "aes-ecb", 128, "Aph--", "ecb-aes-nx", "engine", NULL },
	{ &s390, XTS_, 512, "Aph-h", "xts-aes-s390", "cpu-instructions", NULL },
	{ &s390, XTS_, 384, "Sps-s", "xts-aes-s390", "key-size", NULL },
	{ &s390_612, XTS_, 256, "Aph-h", "full-xts-aes-s390", "cpu-instructions", NULL },
	{ &s390, "paes-xts-plain64", 1024, "Aph-h", "xts-paes-s390", "cpu-instructions -key-refused", NULL },
	{ &pc_61, "paes-xts-plain64", 1024, "Ir---", NULL, "cipher-missing", NULL },
	{ &sparc_t4, XTS_, 512, "Aph-h", "xts(ecb-aes-sparc64)", "cpu-instructions -template", NULL },
	{ &sparc_t4_73, XTS_, 512, "Pph-u", "xts(ecb-aes-sparc64)", "cpu-instructions lib-aes", NULL },
	{ &riscv, XTS_, 512, "LAph-h", "xts(ecb-aes-riscv64-zvkned)", "cpu-instructions", NULL },
	{ &riscv_full, XTS_, 512, "LAph-h", "xts-aes-riscv64-zvkned-zvbb-zvkg", "cpu-instructions", NULL },
	{ &riscv_61, XTS_, 512, "LSps-s", "xts(ecb(aes-generic))", "software", NULL },
};

/* --- judging one row ----------------------------------------------------------------------------------- */

static char part_letter(enum part p)
{
	return "-hsu"[p];
}

static void verdict_code(const struct verdict *v, char *buf)
{
	buf[0] = "APSUI"[v->verdict];
	buf[1] = v->action == ACTION_REFUSE ? 'r' : 'p';
	buf[2] = part_letter(v->data);
	buf[3] = part_letter(v->iv);
	buf[4] = part_letter(v->tweak);
	buf[5] = '\0';
}

static const char *nearest_text(const struct verdict *v, char *buf, size_t size)
{
	char text[SPEC_TEXT_MAX];

	if (!v->has_nearest)
		return "none";
	snprintf(buf, size, "%s %u", spec_text(&v->nearest, text, sizeof(text)), v->nearest.key_bits);
	return buf;
}

static int say_failure(const struct row *r, const struct verdict *v, const char *what)
{
	char code[8], near[SPEC_TEXT_MAX + 16];

	verdict_code(v, code);
	print_error("%s: %s %u (wanted %s): %s\n  got %s, driver '%s', nearest %s\n", r->m->name, r->spec, r->bits, r->want, what, code,
		    v->driver, nearest_text(v, near, sizeof(near)));
	for (size_t i = 0; i < v->reasons.n; i++)
		print_error("  %s: %s\n", reason_id(v->reasons.v[i].code), v->reasons.v[i].text);
	return 1;
}

static int check_row(const struct row *r)
{
	struct cipher_spec spec = spec_make(r->spec, r->bits, 512);
	struct machine m = machine_build(r->m);
	struct load_plan plan = { 0 };
	char code[8], buf[SPEC_TEXT_MAX + 16];
	const char *fault;
	struct verdict v;
	int bad = 0;

	if (r->want[0] == 'L')
		policy_load_plan(&m, NULL, &plan);
	policy_decide(&m, r->want[0] == 'L' ? &plan : NULL, &spec, &v);
	verdict_code(&v, code);
	if (strcmp(code, r->want + (r->want[0] == 'L')) != 0)
		bad = say_failure(r, &v, "verdict");
	if (r->driver && strcmp(r->driver, v.driver) != 0)
		bad = say_failure(r, &v, r->driver);
	fault = codes_fault(&v.reasons, r->codes, buf, sizeof(buf));
	if (fault)
		bad = say_failure(r, &v, fault);
	if (strcmp(nearest_text(&v, buf, sizeof(buf)), r->nearest ? r->nearest : "none") != 0)
		bad = say_failure(r, &v, "nearest");
	verdict_free(&v);
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
	assert_true(ARRAY_SIZE(rows) >= 120);
	if (bad)
		fail_msg("%d of %zu rows", bad, ARRAY_SIZE(rows));
}

/* --- properties: every machine, every spec --------------------------------------------------------------- */

static const struct {
	const char *spec;
	unsigned int bits[3];
} all_specs[] = {
	{ PLAIN, { 128, 192, 256 } },
	{ PLAIN64, { 128, 192, 256 } },
	{ ESSIV, { 128, 192, 256 } },
	{ "aes-cbc-essiv:md5", { 128, 256 } },
	{ "aes-cbc-essiv:sha1", { 128 } },
	{ "aes-cbc-essiv:sha224", { 128 } },
	{ "aes-cbc-essiv:sha512", { 256 } },
	{ XTS_, { 256, 384, 512 } },
	{ "aes-ecb", { 128, 256 } },
	{ "aes-ctr-plain64", { 128, 256 } },
	{ "aes-lrw-benbi", { 256, 384 } },
	{ "aes-gcm-random", { 256 } },
	{ ADIANTUM, { 256 } },
	{ "serpent-xts-plain64", { 512 } },
	{ "camellia-cbc-essiv:sha256", { 256 } },
	{ "capi:cbc(aes)-plain64", { 128, 256 } },
	{ "capi:xts(ecb(aes-generic))-plain64", { 256 } },
	{ "capi:cbc-aes-geode-plain64", { 128, 256 } },
	{ "paes-xts-plain64", { 512 } },
};

#define HOLDS(cond)                                                                                        \
	do {                                                                                               \
		if (!(cond)) {                                                                             \
			char text_[SPEC_TEXT_MAX];                                                         \
			fail_msg("%s: %s, %u bits, %s: %s", name, spec_text(&v->spec, text_, sizeof(text_)), \
				 v->spec.key_bits, plan ? "loaded" : "as it is", #cond);                    \
		}                                                                                          \
	} while (0)

static bool is_standard(const struct cipher_spec *s)
{
	int essiv = spec_essiv_key_bits(s);

	return spec_class(s) == SPEC_CLASS_STANDARD && (!essiv || essiv == 256) && strcmp(s->iv, "plain") != 0 && !s->capi;
}

/* Every sentence of a verdict is one. */
static void check_sentences(const char *name, const struct reasons *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!is_sentence(r->v[i].text))
			fail_msg("%s: %s: '%s'", name, reason_id(r->v[i].code), r->v[i].text);
}

/* The nearest spec is of the standard class, fits the hardware's keys, and is itself served and accepted. */
static void check_nearest(const char *name, const struct machine *m, const struct load_plan *plan, const struct verdict *v)
{
	struct verdict n;

	HOLDS(is_standard(&v->nearest));
	HOLDS(v->nearest.sector_size == v->spec.sector_size);
	policy_decide(m, plan, &v->nearest, &n);
	HOLDS(n.data == PART_HARDWARE);
	HOLDS(n.action == ACTION_PROCEED && !n.has_nearest);
	HOLDS(n.accel && accel_is_engine(n.accel));
	HOLDS(accel_hw_keys(n.accel, policy_kernel(m)) & ~(unsigned)KEYS_UNKNOWN);
	HOLDS(accel_usable(m, n.accel) != DMCRYPT_NO_MEMORY_FLAG);
	verdict_free(&n);
}

static void check_verdict(const char *name, const struct machine *m, const struct load_plan *plan, const struct verdict *v)
{
	const struct alg *k = alg_by_driver(&m->algs, v->driver);
	bool xts = spec_is_xts(&v->spec), essiv = !strcmp(v->spec.iv, "essiv");

	check_sentences(name, &v->reasons);
	HOLDS(v->reasons.n > 0);
	HOLDS(v->verdict != VERDICT_IMPOSSIBLE || (v->action == ACTION_REFUSE && !v->has_nearest && v->data == PART_NONE));
	HOLDS((v->action == ACTION_REFUSE) == (v->verdict == VERDICT_IMPOSSIBLE || v->has_nearest));
	HOLDS((v->data == PART_HARDWARE) == (v->verdict == VERDICT_ACCELERATED || v->verdict == VERDICT_PARTLY));
	HOLDS((v->data == PART_SOFTWARE) == (v->verdict == VERDICT_SOFTWARE));
	HOLDS(xts || v->tweak == PART_NONE);
	HOLDS(essiv || v->iv == PART_NONE);
	HOLDS(v->verdict != VERDICT_ACCELERATED || v->iv == PART_NONE || v->iv == PART_HARDWARE);
	HOLDS(v->verdict != VERDICT_ACCELERATED || v->tweak == PART_NONE || v->tweak == PART_HARDWARE);
	/* no claim of hardware without hardware: the row is here, its driver tested, its kind counts */
	HOLDS((v->data == PART_HARDWARE) == (v->accel != NULL));
	HOLDS(!v->accel || accel_present(m, v->accel, NULL, 0) || strchr(name, '~'));
	HOLDS(!v->accel || (v->accel->kind != ACCEL_SOFTWARE && v->accel->kind != ACCEL_CPU_SIMD));
	HOLDS(!v->accel || *v->driver);
	HOLDS(!v->accel || !k || k->selftest != SELFTEST_UNKNOWN);
	HOLDS(!reasons_have(&v->reasons, REASON_ENGINE) || (v->accel && accel_is_engine(v->accel)));
	/* a refusal comes from an engine outside the CPU only, and never for another cipher */
	HOLDS(!v->has_nearest || !strcmp(v->spec.cipher, "aes"));
	if (v->has_nearest)
		check_nearest(name, m, plan, v);
}

static void check_specs(const char *name, const struct machine *m, const struct load_plan *plan)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_specs); i++) {
		for (size_t k = 0; k < 3 && all_specs[i].bits[k]; k++) {
			struct cipher_spec spec = spec_make(all_specs[i].spec, all_specs[i].bits[k], k == 1 ? 4096 : 512);
			struct verdict v;

			policy_decide(m, plan, &spec, &v);
			check_verdict(name, m, plan, &v);
			verdict_free(&v);
		}
	}
}

/* What is proposed is of the standard class; the first is what format takes, so it must not be refused. */
static void check_ranking(const char *name, const struct machine *m, const struct load_plan *plan)
{
	struct ranking r;

	policy_rank(m, plan, 512, NULL, 0, &r);
	assert_true(r.n > 0);
	check_sentences(name, &r.notes);
	for (size_t i = 0; i < r.n; i++) {
		const struct verdict *v = &r.v[i].verdict;

		HOLDS(is_standard(&v->spec));
		HOLDS(is_sentence(r.v[i].why));
		HOLDS(i || v->action == ACTION_PROCEED || v->verdict == VERDICT_IMPOSSIBLE);
		HOLDS(i || v->verdict != VERDICT_IMPOSSIBLE || r.v[r.n - 1].verdict.verdict == VERDICT_IMPOSSIBLE);
		HOLDS(i || !v->accel || accel_proposable(m, v->accel));
		check_verdict(name, m, plan, v);
	}
	ranking_free(&r);
}

static void check_plan(const char *name, const struct load_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		bool acts = plan->v[i].action == LOAD_MODULE || plan->v[i].action == LOAD_PREPARE;

		if (!is_sentence(plan->v[i].why.text) || acts != (plan->v[i].what[0] != '\0'))
			fail_msg("%s: %s: '%s' '%s'", name, plan->v[i].accel->id, plan->v[i].what, plan->v[i].why.text);
	}
}

static void check_machine(const char *name, const struct machine *m)
{
	struct load_plan plan;

	policy_load_plan(m, NULL, &plan);
	check_plan(name, &plan);
	check_specs(name, m, NULL);
	check_specs(name, m, &plan);
	check_ranking(name, m, NULL);
	check_ranking(name, m, &plan);
	load_plan_free(&plan);
}

static void test_properties(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct machine m = machine_build(machines[i]);

		check_machine(machines[i]->name, &m);
		machine_free(&m);
	}
}

/* Every row of the table on every kernel that was read, its driver out and in. */
static void test_every_accelerator(void **state)
{
	static const kver kernels[] = { KVER(5, 4), KVER(5, 10), KVER(6, 1), KVER(6, 12), KVER(7, 2), KVER(7, 3), 0 };

	(void)state;
	for (size_t i = 0; i < 2 * accel_count * ARRAY_SIZE(kernels); i++) {
		const struct accel *a = &accel_table[i / 2 % accel_count];
		bool in = i & 1;
		enum arch arch = a->arch & -(unsigned)a->arch;
		const char *at = a->match;
		struct accel_match match = { MATCH_NONE, "" };
		bool device = accel_match_next(&at, &match) && match.how > MATCH_HWCAP2_PPC && match.how != MATCH_ALWAYS;
		struct mdesc d = {
			.arch = arch, .kernel = kernels[i / 2 / accel_count],
			.cpu = device || !match.how ? A7 : match.what,
			.here = device ? a->id : NULL, .in = in ? a->id : NULL,
		};
		struct machine m = machine_build(&d);
		char name[96];

		/* "~": a driver may be registered that this machine has no hardware for (rows that are not looked for) */
		snprintf(name, sizeof(name), "%s %s on %u.%u%s", a->id, in ? "in" : "out", KVER_MAJOR(d.kernel), KVER_MINOR(d.kernel),
			 match.how ? "" : " ~");
		check_machine(name, &m);
		machine_free(&m);
	}
}

/* --- judging what is open ----------------------------------------------------------------------------------- */

static void test_binding(void **state)
{
	static const struct {
		const struct mdesc *m;
		const char *spec;
		unsigned int bits;
		const char *driver, *want, *codes;
	} t[] = {
		{ &geode, ESSIV, 128, "essiv(cbc-aes-geode,sha256-generic)", "Pphs-", "engine iv-software" },
		{ &geode, ESSIV, 256, "essiv(cbc-aes-geode,sha256-generic)", "Spss-", "key-size" },
		{ &geode, XTS_, 256, "xts(ecb(aes-generic))", "Sps-h", "software" },
		{ &geode, XTS_, 256, "xts(ecb-aes-geode)", "Aph-h", "engine" },
		{ &geode, XTS_, 256, NULL, "Upu--", "driver-unknown" },
		{ &geode, XTS_, 256, "", "Upu--", "driver-unknown" },
		{ &pc_61, XTS_, 512, "xts-aes-aesni", "Aph-h", "cpu-instructions" },
		{ &pc_61, XTS_, 512, "somebody-else", "Upu-u", "driver-unknown" },
		{ &sec1, XTS_, 384, "hisi_sec_aes_xts", "Upu--", "keys-unknown -key-refused" },
		{ &geode_untested, PLAIN64, 128, "cbc-aes-geode", "Aph--", "selftest-off weak-class" },
		{ &no_aes, ADIANTUM, 256, "adiantum(xchacha12-simd,aes-generic,nhpoly1305-sse2)", "Sps--", "adiantum" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct row r = { t[i].m, t[i].spec, t[i].bits, t[i].want, t[i].driver, t[i].codes, NULL };
		struct cipher_spec spec = spec_make(t[i].spec, t[i].bits, 512);
		struct machine m = machine_build(t[i].m);
		char code[8], buf[64];
		struct verdict v;

		policy_judge_binding(&m, &spec, t[i].driver, &v);
		verdict_code(&v, code);
		if (strcmp(code, t[i].want) != 0 || codes_fault(&v.reasons, t[i].codes, buf, sizeof(buf))) {
			say_failure(&r, &v, "binding");
			fail();
		}
		verdict_free(&v);
		machine_free(&m);
	}
}

static void test_candidates(void **state)
{
	struct machine m = machine_build(&caam);
	struct cipher_spec xts = spec_make(XTS_, 256, 512);
	const struct alg *out[2];

	(void)state;
	assert_int_equal(policy_candidates(&m, &xts, out, 2), 0); /* masked, the instance too */
	machine_free(&m);

	m = machine_build(&pc_wrapped);
	alg_add(&m.algs, "xts(aes)", "xts(ecb(aes-generic))", 100, ALG_SKCIPHER);
	alg_add(&m.algs, "xts(aes)", "xts(ecb-aes-aesni)", 400, ALG_SKCIPHER);
	assert_int_equal(policy_candidates(&m, &xts, out, 2), 2);
	assert_string_equal(out[0]->driver, "xts-aes-aesni");
	assert_string_equal(out[1]->driver, "xts(ecb-aes-aesni)"); /* the best ones, not the first ones */
	assert_int_equal(policy_candidates(&m, &xts, out, 0), 0);
	machine_free(&m);
}

/* --- driver states ------------------------------------------------------------------------------------------- */

static void test_states(void **state)
{
	static const struct {
		const struct mdesc *m;
		const char *id, *want;
		enum accel_dmcrypt usable;
	} t[] = {
		{ &geode, "geode-lx", "registered", DMCRYPT_YES },
		{ &geode_off, "geode-lx", "not-loaded", DMCRYPT_YES },
		{ &geode_54, "geode-lx", "registered", DMCRYPT_YES },
		{ &geode_iv_fault, "geode-lx", "selftest-failed", DMCRYPT_YES },
		{ &geode_data_fault, "geode-lx", "selftest-failed", DMCRYPT_YES },
		{ &geode_late_fault, "geode-lx", "selftest-failed", DMCRYPT_YES },
		{ &geode_untested, "geode-lx", "untested", DMCRYPT_YES },
		{ &geode_quarantined, "geode-lx", "quarantined", DMCRYPT_YES },
		{ &geode_denied, "geode-lx", "denied", DMCRYPT_YES },
		{ &geode_no_module, "geode-lx", "no-module", DMCRYPT_YES },
		{ &geode_no_option, "geode-lx", "no-option", DMCRYPT_YES },
		{ &geode_flagged, "geode-lx", "registered", DMCRYPT_NO_MEMORY_FLAG },
		{ &virtio, "virtio-crypto", "registered", DMCRYPT_NO_MEMORY_FLAG },
		{ &virtio_free, "virtio-crypto", "registered", DMCRYPT_YES },
		{ &ccp, "amd-ccp", "not-loaded", DMCRYPT_NO_MEMORY_FLAG }, /* ccp serves other purposes on every Ryzen */
		{ &eip93, "eip93", "registered", DMCRYPT_YES },
		{ &eip93_61, "eip93", "not-in-kernel", DMCRYPT_NO_DRIVER },
		{ &pc_61, "x86-aes-avx", "not-in-kernel", DMCRYPT_NO_DRIVER },
		{ &pc_61, "x86-aesni", "registered", DMCRYPT_YES },
		{ &sec2_72, "hisilicon-sec2", "registered", DMCRYPT_BY_NAME },
		{ &sec2_61, "hisilicon-sec2", "registered", DMCRYPT_YES },
		{ &sun8i_510, "allwinner-sun8i-ce", "registered", DMCRYPT_NO_MEMORY_FLAG },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct machine m = machine_build(t[i].m);
		const struct accel *a = accel_by_id(t[i].id);

		if (strcmp(driver_state_name(driver_state(&m, a)), t[i].want) != 0 || accel_usable(&m, a) != t[i].usable)
			fail_msg("%s: %s: state %s, usable %d", t[i].m->name, t[i].id, driver_state_name(driver_state(&m, a)),
				 (int)accel_usable(&m, a));
		machine_free(&m);
	}
}

/* QAT has one module per device family: the one that is in tells, not the first of the list. */
static void test_module_alternatives(void **state)
{
	struct mdesc d = { "QAT", ARCH_X86_64, KVER(6, 1), SKYLAKE, "intel-qat",
			   .mods = "qat_dh895xcc=missing qat_c3xxx=missing qat_c62x=loaded qat_4xxx=present" };
	struct machine m = machine_build(&d);

	(void)state;
	assert_int_equal(driver_state(&m, accel_by_id("intel-qat")), DRIVER_LOADED);
	assert_string_equal(accel_module(&m, accel_by_id("intel-qat"))->name, "qat_c62x");
	machine_free(&m);
	d.mods = "qat_dh895xcc=missing qat_c62x=present";
	m = machine_build(&d);
	assert_int_equal(driver_state(&m, accel_by_id("intel-qat")), DRIVER_NOT_LOADED);
	machine_free(&m);
}

/* Compiled into the kernel, and no list of modules says so. */
static void test_built_in(void **state)
{
	struct mdesc d = { "built in", ARCH_X86_32, KVER(6, 1), GEODE_CPU, "geode-lx", .mods = "geode-aes=unknown",
			   .kconfig = "CONFIG_CRYPTO_DEV_GEODE=y\n" };
	struct machine m = machine_build(&d);

	(void)state;
	assert_int_equal(driver_state(&m, accel_by_id("geode-lx")), DRIVER_LOADED);
	machine_free(&m);
}

static void test_reason_ids(void **state)
{
	(void)state;
	for (int i = REASON_NONE + 1; i < REASON_COUNT; i++) {
		const char *id = reason_id((enum reason_code)i);

		assert_true(id[0] && strspn(id, "abcdefghijklmnopqrstuvwxyz-") == strlen(id));
		assert_true(strlen(reason_meaning((enum reason_code)i)) > 10);
		for (int k = REASON_NONE; k < i; k++)
			assert_string_not_equal(id, reason_id((enum reason_code)k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_properties),
		cmocka_unit_test(test_every_accelerator),
		cmocka_unit_test(test_binding),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_module_alternatives),
		cmocka_unit_test(test_built_in),
		cmocka_unit_test(test_reason_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
