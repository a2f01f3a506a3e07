/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Kernel configuration text (/boot/config-*, unpacked /proc/config.gz) → value of an option.
 * Pure; must not know where the text came from or what an option means.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum kconfig_value { KCONFIG_UNKNOWN, KCONFIG_NO, KCONFIG_MODULE, KCONFIG_YES };

/*
 * Value of an option, named with or without CONFIG_. A number or a string counts as YES. An option
 * that is not mentioned is NO when the text is a whole configuration (the kernel's banner, or at
 * least 100 options) and UNKNOWN when it is a fragment, empty or something else. text may be NULL.
 */
enum kconfig_value kconfig_get(const char *text, size_t len, const char *option);
/* True only when the text says "# CONFIG_NAME is not set": what it does not mention may have another name in that kernel. */
bool kconfig_unset(const char *text, size_t len, const char *name);
const char *kconfig_value_name(enum kconfig_value v); /* "unknown", "n", "m", "y" */
