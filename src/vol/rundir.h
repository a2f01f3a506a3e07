/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Small notes in /run/hwluks: written whole or not at all, readable by root only, gone with the
 * boot. Must not know what a note says.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Another directory, for tests; NULL = /run/hwluks. The string is borrowed. */
void rundir_use(const char *path);

/* A '/' in a name becomes '_'. Creates the directory (0700). 0 or negative errno. */
int rundir_write(const char *name, const char *text);
/* 0; -ENOENT; -EPERM when the directory or the note belongs to somebody else; -EFBIG. */
int rundir_read(const char *name, char *buf, size_t size);
void rundir_remove(const char *name);

/* The kernel's boot id, "" when it cannot be read. Returns buf. */
const char *rundir_boot_id(char *buf, size_t size);
