/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The block devices below a device, down to the disks, as sysfs tells; what lies on a device, by libblkid.
 * Must not judge them, and must not know dm-crypt.
 */
#include "sys/internal.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/stack.h"

#define DEPTH_MAX 16u

/* Value of /sys/dev/block/M:m/ATTR, or STACK_UNKNOWN. */
static int64_t number(struct sysroot *sr, const char *dir, const char *attr)
{
	char path[192], text[32];
	uint64_t v;

	snprintf(path, sizeof(path), "%s/%s", dir, attr);
	if (sysroot_read_line(sr, path, text, sizeof(text)) || parse_u64(text, INT64_MAX, &v))
		return STACK_UNKNOWN;
	return (int64_t)v;
}

static bool has(struct sysroot *sr, const char *dir, const char *what)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", dir, what);
	return sysroot_exists(sr, path);
}

/* The kernel's name: last part of the link, else DEVNAME in uevent (a recording without links). */
static void read_name(struct sysroot *sr, const char *dir, char *buf, size_t size)
{
	cleanup_free char *text = NULL;
	char link[512], path[192];
	const char *at;

	if (!sysroot_readlink(sr, dir, link, sizeof(link)) && strrchr(link, '/')) {
		str_copy(buf, size, strrchr(link, '/') + 1);
		return;
	}
	snprintf(path, sizeof(path), "%s/uevent", dir);
	at = sysroot_read(sr, path, &text, NULL) ? NULL : strstr(text, "DEVNAME=");
	if (at)
		snprintf(buf, size, "%.*s", (int)strcspn(at + 8, "\n"), at + 8);
}

static enum stack_kind kind_of(struct sysroot *sr, const char *dir)
{
	return has(sr, dir, "partition") ? STACK_PARTITION :
	       has(sr, dir, "dm")        ? STACK_DM :
	       has(sr, dir, "md")        ? STACK_MD :
	       has(sr, dir, "loop")      ? STACK_LOOP :
	                                   STACK_DISK;
}

static void read_dm_type(struct sysroot *sr, const char *dir, char *buf, size_t size)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/dm/uuid", dir);
	if (sysroot_read_line(sr, path, buf, size))
		buf[0] = '\0';
	buf[strcspn(buf, "-")] = '\0';
}

static void read_alignment(struct sysroot *sr, const char *dir, struct stack_device *d)
{
	char path[192], text[32];

	d->alignment_offset = number(sr, dir, "alignment_offset");
	snprintf(path, sizeof(path), "%s/alignment_offset", dir);
	if (!sysroot_read_line(sr, path, text, sizeof(text)) && !strcmp(text, "-1"))
		d->alignment_offset = STACK_MISALIGNED;
}

static void read_device(struct sysroot *sr, const char *dir, struct stack_device *d)
{
	char queue[160];
	int64_t start;

	d->kind = kind_of(sr, dir);
	read_name(sr, dir, d->name, sizeof(d->name));
	read_dm_type(sr, dir, d->dm_type, sizeof(d->dm_type));
	read_alignment(sr, dir, d);
	start = d->kind == STACK_PARTITION ? number(sr, dir, "start") : 0;
	d->start = start >= 0 && start < INT64_MAX / 512 ? start * 512 : STACK_UNKNOWN;
	/* a partition shares its disk's queue */
	snprintf(queue, sizeof(queue), "%s/%squeue", dir, d->kind == STACK_PARTITION ? "../" : "");
	d->rotational = (int)number(sr, queue, "rotational");
	d->logical = number(sr, queue, "logical_block_size");
	d->physical = number(sr, queue, "physical_block_size");
	d->discard_granularity = number(sr, queue, "discard_granularity");
	d->optimal_io = number(sr, queue, "optimal_io_size");
	d->read_ahead_kib = number(sr, queue, "read_ahead_kb");
	d->max_kib = number(sr, queue, "max_sectors_kb");
}

static void add_dir(struct sysroot *sr, const char *dir, unsigned int depth, struct stack *out);

/* "8:1" in PATH/dev. */
static void add_by_number(struct sysroot *sr, const char *dev_file, unsigned int depth, struct stack *out)
{
	unsigned int maj, min;
	char text[32], dir[96];

	if (sysroot_read_line(sr, dev_file, text, sizeof(text)) || sscanf(text, "%u:%u", &maj, &min) != 2)
		return;
	snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", maj, min);
	add_dir(sr, dir, depth, out);
}

static void add_below(struct sysroot *sr, const char *dir, enum stack_kind kind, unsigned int depth, struct stack *out)
{
	struct strv slaves = { 0 };
	char path[448];

	if (kind == STACK_PARTITION) {
		snprintf(path, sizeof(path), "%s/../dev", dir);
		add_by_number(sr, path, depth, out);
		return;
	}
	snprintf(path, sizeof(path), "%s/slaves", dir);
	sysroot_list(sr, path, &slaves);
	for (size_t i = 0; i < slaves.n; i++) {
		snprintf(path, sizeof(path), "%s/slaves/%.255s/dev", dir, slaves.v[i]);
		add_by_number(sr, path, depth, out);
	}
	strv_free(&slaves);
}

static void add_dir(struct sysroot *sr, const char *dir, unsigned int depth, struct stack *out)
{
	struct stack_device *d;

	if (out->n == STACK_MAX || depth == DEPTH_MAX) {
		out->cut = true;
		return;
	}
	if (!sysroot_exists(sr, dir))
		return;
	out->v = xreallocarray(out->v, out->n + 1, sizeof(*out->v));
	d = &out->v[out->n++];
	*d = (struct stack_device){ .depth = depth };
	read_device(sr, dir, d);
	add_below(sr, dir, d->kind, depth + 1, out);
}

int stack_probe(struct sysroot *sr, dev_t dev, struct stack *out)
{
	char dir[96];

	*out = (struct stack){ 0 };
	snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	add_dir(sr, dir, 0, out);
	return out->n ? 0 : -ENOENT;
}

int stack_name(struct sysroot *sr, dev_t dev, char *buf, size_t size)
{
	char dir[96];

	snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	*buf = '\0';
	read_name(sr, dir, buf, size);
	return *buf ? 0 : -ENOENT;
}

int stack_node(struct sysroot *sr, dev_t dev, char *buf, size_t size)
{
	char dir[96], path[128], name[160] = "";

	snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	snprintf(path, sizeof(path), "%s/dm/name", dir);
	if (!sysroot_read_line(sr, path, name, sizeof(name)) && *name) {
		snprintf(buf, size, "/dev/mapper/%s", name);
		return 0;
	}
	read_name(sr, dir, name, sizeof(name));
	if (!*name)
		return -ENOENT;
	for (char *p = name; *p; p++)
		if (*p == '!')
			*p = '/';
	snprintf(buf, size, "/dev/%s", name);
	return 0;
}

int stack_content(const char *node, char *type, size_t size, unsigned int *block)
{
	blkid_probe pr = blkid_new_probe_from_filename(node);
	const char *value;
	uint64_t v;
	int r;

	*type = '\0';
	*block = 0;
	if (!pr)
		return -errno;
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE);
	r = blkid_do_safeprobe(pr);
	if (!r && !blkid_probe_lookup_value(pr, "TYPE", &value, NULL))
		str_copy(type, size, value);
	/* of what cannot be written in smaller pieces: a file system's block, XFS's sector */
	if (!r && !blkid_probe_lookup_value(pr, "BLOCK_SIZE", &value, NULL) && !parse_u64(value, UINT32_MAX, &v))
		*block = (unsigned int)v;
	blkid_free_probe(pr);
	return r < 0 ? -EIO : 0;
}
