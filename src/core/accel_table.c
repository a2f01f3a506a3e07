/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The table of accelerators that the program decides by; its rows are in accel.def.
 * Must not add a fact to them.
 */
#include "core/accel.h"
#include "util/util.h"

#define FACTS(...) __VA_ARGS__
#define NOTES(...)
#define ROW(i, facts, notes) { .id = i, facts },

const struct accel accel_table[] = {
#include "core/accel.def"
};

const size_t accel_count = ARRAY_SIZE(accel_table);
