/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The block devices below (or above) a volume, as the kernel describes them: plain facts, no opinions.
 * sys/stack.c fills it; must not know what a good value is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_UNKNOWN (-1) /* of the signed fields: could not be read */

enum stack_kind { STACK_DISK, STACK_PARTITION, STACK_DM, STACK_MD, STACK_LOOP };

struct stack_device {
	char name[64];	     /* the kernel's: "sda2", "dm-0", "nvme0n1" */
	char dm_type[16];    /* start of the device-mapper uuid: "LVM", "CRYPT", "INTEGRITY"; "" when none */
	enum stack_kind kind;
	unsigned int depth;  /* 0 = the device asked about; a disk stands below its partition */
	int rotational;	     /* 1, 0 */
	int64_t logical, physical;     /* sector sizes, bytes */
	int64_t alignment_offset;      /* bytes; STACK_MISALIGNED when the kernel itself calls it misaligned */
	int64_t start;		       /* of a partition on its disk, bytes; 0 for what is no partition */
	int64_t discard_granularity;   /* bytes; 0 = no discard */
	int64_t optimal_io;	       /* bytes; 0 = not stated */
	int64_t read_ahead_kib, max_kib; /* read-ahead, largest request */
};
#define STACK_MISALIGNED (-2) /* sysfs prints -1 for it */

struct stack {
	struct stack_device *v; /* the device asked about first, each followed by what is below it */
	size_t n;
	bool cut; /* there was more than STACK_MAX */
};
#define STACK_MAX 64u
