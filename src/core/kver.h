/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* A kernel version as one comparable number; 0 stands for "not known" or "no bound". */
#pragma once

#include <stdint.h>

typedef uint16_t kver;
#define KVER(major, minor) ((kver)((major) << 8 | (minor)))
#define KVER_MAJOR(v) ((unsigned)(v) >> 8)
#define KVER_MINOR(v) ((unsigned)(v) & 0xff)
