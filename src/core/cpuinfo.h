/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * /proc/cpuinfo text → what the CPUs are and what all of them can do.
 * Pure; must not know which flag means which accelerator.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cpuinfo {
	char *vendor; /* "AuthenticAMD", ARM implementer "0x41", "IBM/S390"; NULL when not stated */
	char *model;  /* "model name", MIPS "cpu model", POWER "cpu", …; NULL when not stated */
	/*
	 * What every processor has, one space between words: x86 "flags", ARM and LoongArch
	 * "Features", s390 "features", SPARC "cpucaps", RISC-V "isa" (as "rv64", single letters,
	 * then multi-letter extensions). A flag that one core lacks (big.LITTLE) is not in it. NULL
	 * when no such line was seen.
	 */
	char *flags;
	bool hypervisor;         /* x86 flag: this is a virtual machine */
	unsigned int processors; /* 0 when the text is no cpuinfo */
};

/* Fills *out whatever the text holds; cpuinfo_free it afterwards. */
void cpuinfo_parse(const char *text, size_t len, struct cpuinfo *out);
void cpuinfo_free(struct cpuinfo *c); /* also resets it to empty */
