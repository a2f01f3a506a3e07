/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What is known of each accelerator, as data: one row per engine or instruction set.
 * Everything here is a fact with a source; deciding is policy.c's work.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/kver.h"

enum accel_kind {
	ACCEL_CPU,	/* instructions of the CPU itself: AES-NI, ARMv8-CE, PadLock … */
	ACCEL_CPU_SIMD, /* general vector unit, counts as software: NEON, SPE */
	ACCEL_ONCHIP,	/* an engine on the SoC or in the chipset */
	ACCEL_PCI,	/* a card or PCI function */
	ACCEL_PARAVIRT, /* offered by a hypervisor */
	ACCEL_STORAGE,	/* the drive or its controller encrypts */
	ACCEL_SOFTWARE, /* portable C, the baseline */
};

/* Architectures, bits. */
enum arch {
	ARCH_X86_32 = 1 << 0, ARCH_X86_64 = 1 << 1, ARCH_ARM = 1 << 2, ARCH_ARM64 = 1 << 3, ARCH_MIPS = 1 << 4,
	ARCH_PPC32 = 1 << 5, ARCH_PPC64 = 1 << 6, ARCH_S390 = 1 << 7, ARCH_RISCV = 1 << 8, ARCH_SPARC = 1 << 9,
	ARCH_OTHER = 1 << 10, ARCH_ANY = 0x7ff,
};

/*
 * How a row is recognised. All entries of `match` are alternatives: one hit is enough. In the table
 * each is a text of a word for `how`, a colon and `what`: "pci:1022:2082".
 */
enum match_how {
	MATCH_NONE = 0,
	MATCH_CPU,	  /* cpu: every word of `what` is in the CPU's flags/Features line ("ace ace_en") */
	MATCH_ISA,	  /* isa: every word of `what` is an extension in the riscv isa string ("zvkned") */
	MATCH_CPUCAP,	  /* cap: sparc cpucaps, s390 features, … : every word in that line */
	MATCH_HWCAP2_PPC, /* hwcap2: AT_HWCAP2 bit, `what` = "vec_crypto" */
	MATCH_PCI,	  /* pci: "1022:2082", lower-case hex; "1425:*" any device of the vendor; "1af4:1054" */
	MATCH_VIRTIO,	  /* virtio: virtio device id, decimal: "20" */
	MATCH_DT,	  /* dt: device tree compatible string, exact */
	MATCH_ACPI,	  /* acpi: ACPI hardware id: "HISI02C1" */
	MATCH_PLATFORM,	  /* platform: platform device name without instance: "mv_crypto" */
	MATCH_FSLMC,	  /* fsl-mc: fsl-mc object type: "dpseci" */
	MATCH_VIO,	  /* vio: ppc VIO device type: "ibm,sym-encryption-v1" */
	MATCH_OPAL,	  /* opal: a block device says it supports TCG Opal */
	MATCH_INLINE,	  /* inline: a block queue has a crypto/ directory */
	MATCH_ALWAYS,	  /* always: software baseline */
};
struct accel_match {
	enum match_how how;
	const char *what;
};

/* Kernels whose sources the table was read from; READ_NONE = no bound known. */
enum kernel_read { READ_NONE, READ_5_10, READ_6_1, READ_6_12, READ_7_2, READ_7_3 };

/* Key sizes the *hardware* works with, bits; for xts the whole key (two halves). */
enum accel_keys {
	KEYS_128 = 1 << 0, KEYS_192 = 1 << 1, KEYS_256 = 1 << 2,	/* ecb, cbc, ctr, single block */
	KEYS_XTS_256 = 1 << 3, KEYS_XTS_384 = 1 << 4, KEYS_XTS_512 = 1 << 5,
	KEYS_UNKNOWN = 1 << 7,						/* never claimed as hardware */
	KEYS_AES = KEYS_128 | KEYS_192 | KEYS_256,
	KEYS_XTS = KEYS_XTS_256 | KEYS_XTS_384 | KEYS_XTS_512,
};

enum accel_modes {
	MODE_SINGLE = 1 << 0, /* single block "aes": serves ESSIV IVs and XTS tweaks through templates */
	MODE_ECB = 1 << 1, MODE_CBC = 1 << 2, MODE_CTR = 1 << 3, MODE_XTS = 1 << 4, MODE_CTS = 1 << 5,
	MODE_ESSIV = 1 << 6,  /* registers essiv(cbc(aes),sha256) itself */
	MODE_GCM = 1 << 7, MODE_HASH = 1 << 8,
};

/* The kernel's name of an algorithm; accel_alg_name() spells it. */
enum accel_name {
	NAME_AES, NAME_ECB, NAME_CBC, NAME_CTR, NAME_XTS, NAME_CTS, NAME_ESSIV, NAME_GCM,
	NAME_ECB_PAES, NAME_CBC_PAES, NAME_CTR_PAES, NAME_XTS_PAES, NAME_SHA1, NAME_SHA256,
};

/* One algorithm a driver registers. A name that changed over kernels has several rows. Packed: there are 259. */
struct accel_alg {
	const char *driver;	       /* "cbc-aes-geode" */
	int16_t priority;	       /* as registered; -1 = not known */
	uint16_t mode;		       /* one of enum accel_modes */
	uint8_t name;		       /* enum accel_name */
	uint8_t hw_keys;	       /* enum accel_keys done by the hardware */
	uint8_t since : 4, until : 4;  /* enum kernel_read: first and last that has it */
};

/* What the driver does with a key size its hardware lacks. */
enum accel_other_keys { OTHER_KEYS_UNKNOWN, OTHER_KEYS_REFUSED, OTHER_KEYS_SOFTWARE, OTHER_KEYS_NONE };

enum accel_dmcrypt {
	DMCRYPT_YES,
	DMCRYPT_NO_MEMORY_FLAG, /* CRYPTO_ALG_ALLOCATES_MEMORY: masked out by dm-crypt since 5.10 */
	DMCRYPT_NO_CIPHER,	/* hash or AEAD only */
	DMCRYPT_NO_DRIVER,	/* driver removed from the kernel */
	DMCRYPT_NO_STORAGE,	/* works below dm-crypt (Opal, inline encryption) */
	DMCRYPT_BY_NAME,	/* priority too low: only when its driver is named */
};

/* A published or measured rate; both sides in MB/s (10^6 bytes) or 0 when not in the source. */
struct accel_figure {
	const char *what;   /* "aes-cbc-plain 128, dm-crypt write, ALIX LX800" */
	double cpu, engine; /* MB/s */
	bool silicon;	    /* true: a real board; false: a model, never used to rank */
	const char *source; /* who published it, when */
};

enum accel_tri { TRI_UNKNOWN, TRI_NO, TRI_YES };

struct accel {
	const char *id;	  /* stable: "geode-lx" */
	const char *name; /* "AMD Geode LX security block (LX700/800/900)" */
	/* lists of words, for for_each_word(); NULL = none */
	const char *match;   /* for accel_match_next(); holds on the row's `arch` only */
	const char *modules; /* module names as modprobe takes them, in load order; so this is also the first one's name */
	const char *kconfig; /* option names without CONFIG_, all needed */
	const struct accel_alg *algs;	   /* for for_each_alg() */
	const char *other_keys_text;	   /* one clause for people, or NULL */
	const char *rng_module;		   /* hwrng module to load, or NULL */
	const struct accel_figure *slower; /* a published figure of a real board where it loses to the CPU, or NULL */
	const char *quirks;		   /* text for people, or NULL */
	const char *source;		   /* kernel files, datasheet */
	/* small fields last and packed: there are 72 rows */
	uint8_t n_algs;
	enum accel_kind kind : 8;
	enum accel_other_keys other_keys : 8;
	enum accel_dmcrypt dmcrypt : 8;
	enum accel_dmcrypt dmcrypt_else : 8; /* what holds outside dmcrypt_since..until; use accel_dmcrypt_in() */
	enum accel_tri slower_than_cpu : 8;  /* published figures: slower than the same machine's CPU code */
	enum kernel_read dmcrypt_since : 8, dmcrypt_until : 8; /* kernels for which `dmcrypt` holds */
	enum kernel_read in_lib_since : 8; /* from here aes-lib and *-aes-lib use these instructions too; none = never */
	enum kernel_read present_since : 8, present_until : 8; /* kernels that have the driver */
	uint16_t arch;	/* ARCH_* bits */
	uint16_t modes; /* MODE_* bits the hardware does; 0 for rows that count as software */
};

#define for_each_accel(a) for (const struct accel *a = accel_table; a < accel_table + accel_count; a++)
#define for_each_alg(g, a) for (const struct accel_alg *g = (a)->algs; g && g < (a)->algs + (a)->n_algs; g++)
#define for_each_word(w, list) for (const char *w = (list); w && *w; w += strlen(w) + 1)

/* The table, in the order `detect` reports. */
extern const struct accel accel_table[];
extern const size_t accel_count;

/* For readers. The figures are printed by doctor; nothing decides by any of it. */
struct accel_note {
	const char *how_detected; /* for people */
	const char *sync;	  /* "synchronous", "asynchronous", … */
	const char *rng_note;	  /* or NULL */
	const char *present;	  /* since or until when, where present_since and _until do not tell all; or NULL */
	const struct accel_figure *figures; /* more figures than `slower`; ends with what == NULL; NULL = none known */
};
/* accel_notes[i] belongs to accel_table[i]. */
extern const struct accel_note accel_notes[];

const struct accel *accel_by_id(const char *id);
/*
 * Row whose algorithm list has this exact driver name; NULL when none. kernel 0 = any version.
 * An entry for this kernel goes first; one for other kernels still tells what the name means.
 * A few names belong to more than one row (arm and arm64; the two OcteonTX generations): whoever
 * knows which rows match the machine asks those first, with accel_alg_by_driver().
 */
const struct accel *accel_by_driver(const char *driver, kver kernel, const struct accel_alg **alg);
/* The same within one row; alg may be NULL there and here. */
const struct accel_alg *accel_alg_by_driver(const struct accel *a, const char *driver, kver kernel);
/* Row that lists this module (dashes and underscores equal); NULL when none. */
const struct accel *accel_by_module(const char *module);
/*
 * True when the range holds for this kernel (0 = unknown kernel: true). `until` names the last kernel
 * read that has a thing, so it also covers the kernels between that one and the next one read.
 */
bool accel_range_in(kver since, kver until, kver kernel);
/* The kernel's version; 0 for READ_NONE. */
kver accel_kernel(enum kernel_read r);
/* Takes the next way to recognise a row off its list (*at starts as a->match); false at its end. */
bool accel_match_next(const char **at, struct accel_match *match);
const char *accel_alg_name(const struct accel_alg *alg); /* "cbc(aes)" */
/* True when the alg row applies to this kernel. */
bool accel_alg_in(const struct accel_alg *alg, kver kernel);
/* Whether dm-crypt can use the row on this kernel (0: what holds for the newest kernels read). */
enum accel_dmcrypt accel_dmcrypt_in(const struct accel *a, kver kernel);
const char *accel_kind_name(enum accel_kind k);	  /* "cpu-instruction", "on-chip", … stable, for JSON */
/* "128, 192, 256" for a mask of KEYS_*; "unknown". Returns buf. */
const char *accel_keys_text(unsigned int keys, char *buf, size_t size);
/* All hardware key sizes of a row, OR of its algorithms. */
unsigned int accel_hw_keys(const struct accel *a, kver kernel);
/* "ecb, cbc" for a mask of MODE_*. Returns buf. */
const char *accel_modes_text(unsigned int modes, char *buf, size_t size);
/* A template instance with one of the row's drivers inside: "essiv(cbc-aes-geode,sha256-generic)". */
bool accel_in_instance(const struct accel *a, const char *driver);
/* An engine outside the CPU (Geode, DCP, QAT …): only these can make format refuse, and only these need a load. */
bool accel_is_engine(const struct accel *a);
