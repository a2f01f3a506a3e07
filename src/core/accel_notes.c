/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What accel.def says of each accelerator for readers of the documentation, in the order of accel_table.
 * The program prints its figures; nothing decides by it.
 */
#include "core/accel.h"
#include "util/util.h"

#define FACTS(...)
#define NOTES(...) __VA_ARGS__
#define ROW(i, facts, notes) { notes },

const struct accel_note accel_notes[] = {
#include "core/accel.def"
};
