/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A block device or image file before anything is written: sizes, signatures, who uses it, the
 * lock. Must not know what will be written to it.
 */
#include "sys/internal.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core/cmdline.h"

#define LOCK_TRIES     100
#define LOCK_STEP_MS   50
#define SIGNATURES_MAX 64 /* a crafted image cannot keep the probe busy for ever */

const char *blkdev_use_name(enum blkdev_use_kind k)
{
	static const char *const name[] = {
		[USE_MOUNT] = "mount", [USE_HOLDER] = "holder", [USE_SWAP] = "swap",
		[USE_LOOP] = "loop",   [USE_RESUME] = "resume", [USE_OPEN] = "open",
	};

	return name[k];
}

static void add_use(struct blkdev *bd, enum blkdev_use_kind kind, const char *node, const char *by)
{
	struct blkdev_use *u;

	bd->use = xreallocarray(bd->use, bd->n_use + 1, sizeof(*bd->use));
	u = &bd->use[bd->n_use++];
	*u = (struct blkdev_use){ .kind = kind, .node = xstrdup(node), .by = xstrdup(by) };
}

const struct blkdev_use *blkdev_busy(const struct blkdev *bd)
{
	for (size_t i = 0; i < bd->n_use; i++)
		if (bd->use[i].kind != USE_RESUME)
			return &bd->use[i];
	return NULL;
}

/* --- which device ----------------------------------------------------------------- */

int blkdev_resolve(const char *spec, char **path, struct strbuf *why)
{
	static const char *const tags[] = { "UUID", "LABEL", "PARTUUID", "PARTLABEL" };
	char *tag = NULL, *value = NULL, *found = NULL;
	bool known = false;

	*path = NULL;
	if (!strchr(spec, '/') && strchr(spec, '=') &&
	    !blkid_parse_tag_string(spec, &tag, &value)) {
		for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
			known = known || !strcmp(tag, tags[i]);
		if (known)
			found = blkid_evaluate_tag(tag, value, NULL);
		free(tag);
		free(value);
	}
	if (known && !found) {
		say(why, "No block device has %s; 'blkid' lists what is there.", spec);
		return -ENOENT;
	}
	*path = realpath(found ? found : spec, NULL);
	free(found);
	if (*path)
		return 0;
	say(why, "%s: %s.", spec, strerror(errno));
	return -errno;
}

/* "sda!x" in sysfs is "sda/x" below /dev. */
static char *node_of(const char *sysname)
{
	char *node = xasprintf("/dev/%s", sysname);

	for (char *p = node + 5; *p; p++)
		if (*p == '!')
			*p = '/';
	return node;
}

/* Last but `up` component of the link /sys/dev/block/M:m: the kernel's name of the device, or of
 * its disk. */
static char *sysfs_name(struct sysroot *sr, dev_t rdev, int up)
{
	char path[64], link[512];
	char *slash;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(rdev), minor(rdev));
	if (sysroot_readlink(sr, path, link, sizeof(link)))
		return NULL;
	for (; up; up--) {
		slash = strrchr(link, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
	slash = strrchr(link, '/');
	return xstrdup(slash ? slash + 1 : link);
}

static bool is_partition(struct sysroot *sr, dev_t rdev)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(rdev), minor(rdev));
	return sysroot_exists(sr, path);
}

/* Attribute of the queue, which a partition shares with its disk. Empty when there is none. */
static void queue_attr(struct sysroot *sr, dev_t rdev, const char *attr, char *buf, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%squeue/%s", major(rdev), minor(rdev),
	         is_partition(sr, rdev) ? "../" : "", attr);
	if (sysroot_read_line(sr, path, buf, size))
		buf[0] = '\0';
}

static uint32_t queue_number(struct sysroot *sr, dev_t rdev, const char *attr)
{
	uint64_t v = 0;
	char text[32];

	queue_attr(sr, rdev, attr, text, sizeof(text));
	return parse_u64(text, UINT32_MAX, &v) ? 0 : (uint32_t)v;
}

/* --- facts ------------------------------------------------------------------------ */

static int file_facts(struct blkdev *bd, const struct stat *st)
{
	bd->file = true;
	bd->size = (uint64_t)st->st_size;
	bd->logical_sector = bd->physical_sector = 512;
	bd->disk = xstrdup(bd->path);
	bd->readonly = access(bd->path, W_OK) && errno == EROFS;
	return 0;
}

static int device_size(int fd, uint64_t *size)
{
	return ioctl(fd, BLKGETSIZE64, size) ? -errno : 0;
}

static int device_facts(struct sysroot *sr, struct blkdev *bd, const struct stat *st)
{
	unsigned int physical = 0;
	int logical = 0, ro = 0;
	char zoned[32];
	char *disk;

	bd->rdev = st->st_rdev;
	if (device_size(bd->fd, &bd->size) || ioctl(bd->fd, BLKSSZGET, &logical))
		return -errno;
	bd->logical_sector = (unsigned int)logical;
	bd->physical_sector = ioctl(bd->fd, BLKPBSZGET, &physical) ? bd->logical_sector : physical;
	bd->readonly = !ioctl(bd->fd, BLKROGET, &ro) && ro;
	bd->discard_granularity = queue_number(sr, bd->rdev, "discard_granularity");
	bd->optimal_io = queue_number(sr, bd->rdev, "optimal_io_size");
	bd->rotational = queue_number(sr, bd->rdev, "rotational") == 1;
	queue_attr(sr, bd->rdev, "zoned", zoned, sizeof(zoned));
	bd->zoned = *zoned && strcmp(zoned, "none");
	disk = is_partition(sr, bd->rdev) ? sysfs_name(sr, bd->rdev, 1) : NULL;
	bd->disk = disk ? node_of(disk) : xstrdup(bd->path);
	free(disk);
	return 0;
}

/* --- who uses it ------------------------------------------------------------------ */

/* The device and its partitions, or the file. */
struct part {
	dev_t rdev;
	char *node;
};
struct target {
	struct sysroot *sr;
	struct blkdev *bd;
	struct part *part;
	size_t n_part;
	struct stat file; /* st_ino != 0: a file */
};

static void target_add(struct target *t, dev_t rdev, char *node)
{
	t->part = xreallocarray(t->part, t->n_part + 1, sizeof(*t->part));
	t->part[t->n_part++] = (struct part){ rdev, node };
}

static void target_free(struct target *t)
{
	for (size_t i = 0; i < t->n_part; i++)
		free(t->part[i].node);
	free(t->part);
}

static bool parse_devno(const char *s, dev_t *rdev)
{
	unsigned int maj, min;

	if (sscanf(s, "%u:%u", &maj, &min) != 2)
		return false;
	*rdev = makedev(maj, min);
	return true;
}

static void target_add_partitions(struct target *t, dev_t rdev)
{
	struct strv names = { 0 };
	char base[64];

	snprintf(base, sizeof(base), "/sys/dev/block/%u:%u", major(rdev), minor(rdev));
	sysroot_list(t->sr, base, &names);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *mark = xasprintf("%s/%s/partition", base, names.v[i]);
		cleanup_free char *dev = xasprintf("%s/%s/dev", base, names.v[i]);
		char text[32];
		dev_t part;

		if (sysroot_exists(t->sr, mark) &&
		    !sysroot_read_line(t->sr, dev, text, sizeof(text)) && parse_devno(text, &part))
			target_add(t, part, node_of(names.v[i]));
	}
	strv_free(&names);
}

static const struct part *target_part(const struct target *t, dev_t rdev)
{
	for (size_t i = 0; rdev && i < t->n_part; i++)
		if (t->part[i].rdev == rdev)
			return &t->part[i];
	return NULL;
}

/* By node name, or by what the path is on this machine. A file counts as its own single part. */
static const struct part *target_part_path(const struct target *t, const char *path)
{
	struct stat st;

	for (size_t i = 0; i < t->n_part; i++)
		if (!strcmp(t->part[i].node, path))
			return &t->part[i];
	if (t->sr->recorded || *path != '/' || stat(path, &st))
		return NULL;
	if (S_ISBLK(st.st_mode))
		return target_part(t, st.st_rdev);
	if (t->file.st_ino && st.st_ino == t->file.st_ino && st.st_dev == t->file.st_dev)
		return &t->part[0];
	return NULL;
}

/* mountinfo writes space, tab, newline and backslash as \ooo. */
static void unescape(char *s)
{
	char *out = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*out++ = *s++;
		}
	}
	*out = '\0';
}

/*
 * "36 35 98:0 /root /mount/point options … - type source super": btrfs and others show a number of
 * their own, so the source counts as well.
 */
static void mount_line(struct target *t, char *line)
{
	char devno[32], *point = NULL, *source = NULL, *tail = strstr(line, " - ");
	const struct part *p;
	dev_t rdev = 0;

	if (!tail || sscanf(line, "%*s %*s %31s %*s %ms", devno, &point) != 2)
		return;
	if (sscanf(tail + 3, "%*s %ms", &source) != 1)
		source = NULL;
	unescape(point);
	if (source)
		unescape(source);
	parse_devno(devno, &rdev);
	p = target_part(t, rdev);
	if (!p && source && *source == '/')
		p = target_part_path(t, source);
	if (p)
		add_use(t->bd, USE_MOUNT, p->node, point);
	free(point);
	free(source);
}

/* "/dev/sda2  partition  524284  0  -2" */
static void swap_line(struct target *t, char *line)
{
	const struct part *p;

	line[strcspn(line, " \t")] = '\0';
	unescape(line);
	p = target_part_path(t, line);
	if (p)
		add_use(t->bd, USE_SWAP, p->node, "swap space");
}

static void use_lines(struct target *t, const char *path, void (*fn)(struct target *, char *))
{
	char *text = NULL, *save = NULL;

	if (sysroot_read(t->sr, path, &text, NULL))
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		fn(t, line);
	free(text);
}

/* "dm-0 (luks-home)" */
static void add_holder(struct target *t, const struct part *p, const char *holder)
{
	cleanup_free char *path = xasprintf("/sys/class/block/%s/dm/name", holder);
	cleanup_free char *by = NULL;
	char name[256];

	if (!sysroot_read_line(t->sr, path, name, sizeof(name)))
		by = xasprintf("%s (%s)", holder, name);
	add_use(t->bd, USE_HOLDER, p->node, by ? by : holder);
}

static void use_holders(struct target *t)
{
	for (size_t i = 0; i < t->n_part; i++) {
		const struct part *p = &t->part[i];
		struct strv names = { 0 };
		char path[64];

		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders", major(p->rdev),
		         minor(p->rdev));
		sysroot_list(t->sr, path, &names);
		for (size_t k = 0; k < names.n; k++)
			add_holder(t, p, names.v[k]);
		strv_free(&names);
	}
}

static void use_loops(struct target *t)
{
	struct strv names = { 0 };

	sysroot_list(t->sr, "/sys/block", &names);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *path = NULL, *node = NULL;
		char file[PATH_MAX];

		if (!str_starts(names.v[i], "loop"))
			continue;
		path = xasprintf("/sys/block/%s/loop/backing_file", names.v[i]);
		if (sysroot_read_line(t->sr, path, file, sizeof(file)) ||
		    !target_part_path(t, file))
			continue;
		node = node_of(names.v[i]);
		add_use(t->bd, USE_LOOP, t->part[0].node, node);
	}
	strv_free(&names);
}

/* --- resume from hibernation ------------------------------------------------------ */

/* `value` as resume= takes it: a node, a tag, or "8:2". */
static void use_resume_value(struct target *t, const char *value, const char *by)
{
	const struct part *p = NULL;
	char *path = NULL;
	dev_t rdev;

	if (!*value || !strcmp(value, "none") || !strcmp(value, "auto"))
		return;
	if (*value != '/' && !strchr(value, '=') && parse_devno(value, &rdev))
		p = target_part(t, rdev);
	else if (*value == '/')
		p = target_part_path(t, value);
	else if (!t->sr->recorded && !blkdev_resolve(value, &path, NULL))
		p = target_part_path(t, path);
	free(path);
	if (p)
		add_use(t->bd, USE_RESUME, p->node, by);
}

static void use_resume(struct target *t)
{
	cleanup_free char *cmdline = NULL, *conf = NULL;
	char value[256], *save = NULL;

	if (!sysroot_read(t->sr, "/proc/cmdline", &cmdline, NULL) &&
	    !cmdline_get(cmdline, "resume", value, sizeof(value)))
		use_resume_value(t, value, "resume= on the kernel command line");
	if (!sysroot_read_line(t->sr, "/sys/power/resume", value, sizeof(value)))
		use_resume_value(t, value, "/sys/power/resume");
	if (sysroot_read(t->sr, "/etc/initramfs-tools/conf.d/resume", &conf, NULL))
		return;
	for (char *line = strtok_r(conf, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!str_starts(line, "RESUME="))
			continue;
		str_copy(value, sizeof(value), line + 7 + strspn(line + 7, "\"'"));
		value[strcspn(value, "\"'")] = '\0';
		use_resume_value(t, value, "RESUME= in /etc/initramfs-tools/conf.d/resume");
	}
}

static void use_all(struct target *t)
{
	use_lines(t, "/proc/self/mountinfo", mount_line);
	use_lines(t, "/proc/swaps", swap_line);
	if (t->file.st_ino) {
		use_loops(t);
	} else {
		use_holders(t);
		use_resume(t);
	}
}

int blkdev_uses(struct sysroot *sr, dev_t rdev, struct blkdev *bd)
{
	struct target t = { .sr = sr, .bd = bd };
	char *name = sysfs_name(sr, rdev, 0);

	target_add(&t, rdev,
	           name ? node_of(name) : xasprintf("/dev/block/%u:%u", major(rdev), minor(rdev)));
	free(name);
	target_add_partitions(&t, rdev);
	use_all(&t);
	target_free(&t);
	return 0;
}

static void file_uses(struct sysroot *sr, const struct stat *st, struct blkdev *bd)
{
	struct target t = { .sr = sr, .bd = bd, .file = *st };

	target_add(&t, 0, xstrdup(bd->path));
	use_all(&t);
	target_free(&t);
}

/* --- signatures
 * ------------------------------------------------------------------------------------------------
 */

/* A value that the device's content decides: control characters would reach the terminal. */
static void probe_value(blkid_probe pr, const char *name, char *buf, size_t size)
{
	const char *v;

	buf[0] = '\0';
	if (blkid_probe_lookup_value(pr, name, &v, NULL) || !v)
		return;
	str_copy(buf, size, v);
	for (char *p = buf; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
}

static void add_signature(struct blkdev *bd, blkid_probe pr)
{
	struct blkdev_signature *s;
	const char *text;
	size_t len = 0;
	bool table;

	bd->sig = xreallocarray(bd->sig, bd->n_sig + 1, sizeof(*bd->sig));
	s = &bd->sig[bd->n_sig++];
	*s = (struct blkdev_signature){ 0 };
	probe_value(pr, "TYPE", s->type, sizeof(s->type));
	table = !*s->type;
	probe_value(pr, table ? "PTTYPE" : "TYPE", s->type, sizeof(s->type));
	probe_value(pr, table ? "PTUUID" : "UUID", s->uuid, sizeof(s->uuid));
	probe_value(pr, "USAGE", s->usage, sizeof(s->usage));
	if (table)
		str_copy(s->usage, sizeof(s->usage), "partition table");
	probe_value(pr, "VERSION", s->version, sizeof(s->version));
	probe_value(pr, "LABEL", s->label, sizeof(s->label));
	if (!blkid_probe_lookup_value(pr, table ? "PTMAGIC_OFFSET" : "SBMAGIC_OFFSET", &text, NULL))
		s->offset = strtoull(text, NULL, 10);
	if (!blkid_probe_lookup_value(pr, table ? "PTMAGIC" : "SBMAGIC", &text, &len))
		s->len = (uint32_t)len;
}

/* Every signature on the open descriptor: each one found is hidden in memory, then the probe goes
 * on, as wipefs does. */
static int read_signatures(struct blkdev *bd)
{
	blkid_probe pr = blkid_new_probe();
	int err = 0;

	if (!pr)
		return -ENOMEM;
	if (!bd->size)
		goto out;
	if (blkid_probe_set_device(pr, bd->fd, 0, 0)) {
		err = errno ? -errno : -EIO;
		goto out;
	}
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_TYPE |
	                                              BLKID_SUBLKS_USAGE | BLKID_SUBLKS_LABEL |
	                                              BLKID_SUBLKS_UUID | BLKID_SUBLKS_VERSION |
	                                              BLKID_SUBLKS_BADCSUM);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_partitions_flags(pr, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT);
	while (bd->n_sig < SIGNATURES_MAX && (err = blkid_do_probe(pr)) == 0) {
		add_signature(bd, pr);
		if (blkid_do_wipe(pr, 1))
			break;
	}
	err = err < 0 ? -EIO : 0;
out:
	blkid_free_probe(pr);
	return err;
}

bool blkdev_signature_again(const struct blkdev *bd, size_t i)
{
	const struct blkdev_signature *s = &bd->sig[i];

	while (i--)
		if (!strcmp(s->type, "crypto_LUKS") && !strcmp(bd->sig[i].type, s->type) && !strcmp(bd->sig[i].uuid, s->uuid))
			return true;
	return false;
}

const char *blkdev_signature_text(const struct blkdev_signature *sig, char *buf, size_t size)
{
	if (!strcmp(sig->type, "crypto_LUKS")) {
		snprintf(buf, size, "a LUKS%s volume%s%s%s", sig->version, *sig->label ? " labelled '" : "",
		         sig->label, *sig->label ? "'" : "");
		return buf;
	}
	snprintf(buf, size, "%s%s%s %s%s%s%s at byte %" PRIu64, sig->type,
	         *sig->version ? " version " : "", sig->version,
	         *sig->usage ? sig->usage : "signature", *sig->label ? " labelled '" : "",
	         sig->label, *sig->label ? "'" : "", sig->offset);
	return buf;
}

/* --- opening
 * ----------------------------------------------------------------------------------------------------
 */

static const char *use_verb(enum blkdev_use_kind k)
{
	static const char *const verb[] = {
		[USE_MOUNT] = "is mounted at", [USE_HOLDER] = "is held by",
		[USE_SWAP] = "is in use as",   [USE_LOOP] = "is attached to",
		[USE_RESUME] = "is named in",  [USE_OPEN] = "is in use by",
	};

	return verb[k];
}

static const char *use_remedy(enum blkdev_use_kind k)
{
	static const char *const remedy[] = {
		[USE_MOUNT] = "Unmount it first.",
		[USE_HOLDER] = "Close that mapping or stop that array first.",
		[USE_SWAP] = "Run swapoff first.",
		[USE_LOOP] = "Detach it with losetup -d, or use the loop device.",
		[USE_RESUME] = "",
		[USE_OPEN] = "Close it there first.",
	};

	return remedy[k];
}

static int refuse_busy(struct blkdev *bd, struct strbuf *why)
{
	const struct blkdev_use *u = blkdev_busy(bd);

	say(why, "%s %s %s. %s", u->node, use_verb(u->kind), u->by, use_remedy(u->kind));
	return -EBUSY;
}

/* Exchanges the read-only descriptor for one that writes, exclusive on a block device. */
static int open_for_writing(struct blkdev *bd, struct strbuf *why)
{
	struct stat was, now;
	int fd, err;

	if (blkdev_busy(bd))
		return refuse_busy(bd, why);
	fd = open(bd->path, O_RDWR | O_CLOEXEC | (bd->file ? 0 : O_EXCL));
	err = fd < 0 ? -errno : 0;
	if (err == -EBUSY) {
		add_use(bd, USE_OPEN, bd->path, "another program or the kernel");
		return refuse_busy(bd, why);
	}
	if (err == -EROFS) {
		say(why, "%s is read-only.", bd->path);
		return -EROFS;
	}
	if (!err && (fstat(bd->fd, &was) || fstat(fd, &now) || was.st_rdev != now.st_rdev ||
	             was.st_ino != now.st_ino || was.st_dev != now.st_dev)) {
		close(fd);
		err = -ESTALE;
	}
	if (err) {
		say(why, "%s cannot be opened for writing: %s.", bd->path, strerror(-err));
		return err;
	}
	close(bd->fd);
	bd->fd = fd;
	bd->write = true;
	return 0;
}

static int open_and_describe(struct sysroot *sr, struct blkdev *bd, struct strbuf *why)
{
	struct stat st;
	int err;

	/* what is no device and no file is not even opened: a fifo would wait, a tape would move */
	if (stat(bd->path, &st))
		return -errno;
	if (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode)) {
		say(why, "%s is neither a block device nor a regular file.", bd->spec);
		return -ENOTBLK;
	}
	bd->fd = open(bd->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (bd->fd < 0 || fstat(bd->fd, &st)) {
		err = -errno;
		say(why, "%s cannot be opened: %s.", bd->spec, strerror(-err));
		return err;
	}
	err = S_ISBLK(st.st_mode) ? device_facts(sr, bd, &st) : file_facts(bd, &st);
	if (err)
		say(why, "%s: its size cannot be read: %s.", bd->spec, strerror(-err));
	else if (bd->file)
		file_uses(sr, &st, bd);
	else
		blkdev_uses(sr, bd->rdev, bd);
	return err;
}

int blkdev_open(const char *spec, unsigned int flags, struct blkdev *bd, struct strbuf *why)
{
	struct sysroot sr;
	int err, sig;

	*bd = (struct blkdev){ .fd = -1, .lock_fd = -1, .spec = xstrdup(spec) };
	err = sysroot_open(&sr, NULL);
	if (err)
		return err;
	err = blkdev_resolve(spec, &bd->path, why);
	if (!err)
		err = open_and_describe(&sr, bd, why);
	sysroot_close(&sr);
	if (!err && (flags & BLKDEV_WRITE))
		err = open_for_writing(bd, why);
	if (bd->fd < 0 || (err && err != -EBUSY && err != -EROFS))
		return err;
	sig = read_signatures(bd);
	if (sig && !err) {
		say(why, "%s cannot be searched for signatures: %s.", bd->spec, strerror(-sig));
		err = sig;
	}
	return err;
}

void blkdev_uses_free(struct blkdev *bd)
{
	for (size_t i = 0; i < bd->n_use; i++) {
		free(bd->use[i].node);
		free(bd->use[i].by);
	}
	free(bd->use);
	bd->use = NULL;
	bd->n_use = 0;
}

void blkdev_close(struct blkdev *bd)
{
	if (!bd->spec) /* zeroed, never opened: its 0 is no descriptor */
		return;
	blkdev_unlock(bd);
	close_fd(&bd->fd);
	blkdev_uses_free(bd);
	free(bd->sig);
	free(bd->spec);
	free(bd->path);
	free(bd->disk);
	*bd = (struct blkdev){ .fd = -1, .lock_fd = -1 };
}

/* --- lock, and a last look -------------------------------------------------------- */

int blkdev_lock(struct blkdev *bd, struct strbuf *why)
{
	const struct timespec step = { .tv_nsec = LOCK_STEP_MS * 1000000L };
	int err = 0;

	if (bd->lock_fd >= 0)
		return 0;
	bd->lock_fd = open(bd->disk, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (bd->lock_fd < 0)
		err = -errno;
	for (int i = 0; !err && flock(bd->lock_fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			err = -errno;
		else if (i >= LOCK_TRIES)
			err = -EWOULDBLOCK;
		else
			nanosleep(&step, NULL);
	}
	if (!err)
		return 0;
	if (err == -EWOULDBLOCK)
		say(why,
		    "%s is locked by another program (udev, or a tool that partitions or formats it) for over %d s. "
		    "Wait for it, or find it with lslocks.",
		    bd->disk, LOCK_TRIES * LOCK_STEP_MS / 1000);
	else
		say(why, "%s cannot be locked: %s.", bd->disk, strerror(-err));
	blkdev_unlock(bd);
	return err;
}

void blkdev_unlock(struct blkdev *bd)
{
	close_fd(&bd->lock_fd);
	bd->lock_fd = -1;
}

static bool same_signature(const struct blkdev_signature *a, const struct blkdev_signature *b)
{
	return a->offset == b->offset && !strcmp(a->type, b->type) && !strcmp(a->uuid, b->uuid) &&
	       !strcmp(a->label, b->label);
}

static int compare_signatures(const struct blkdev *was, const struct blkdev *now,
                              struct strbuf *why)
{
	char text[320];

	for (size_t i = 0; i < now->n_sig; i++) {
		if (i < was->n_sig && same_signature(&was->sig[i], &now->sig[i]))
			continue;
		say(why, "%s changed while it was being looked at: there now is %s.", was->path,
		    blkdev_signature_text(&now->sig[i], text, sizeof(text)));
		return -ESTALE;
	}
	if (now->n_sig == was->n_sig)
		return 0;
	say(why, "%s changed while it was being looked at: %s is gone.", was->path,
	    blkdev_signature_text(&was->sig[now->n_sig], text, sizeof(text)));
	return -ESTALE;
}

int blkdev_recheck(struct blkdev *bd, struct strbuf *why)
{
	struct blkdev now = { .fd = bd->fd };
	struct stat st;
	int err;

	if (fstat(bd->fd, &st))
		return -errno;
	now.size = (uint64_t)st.st_size;
	err = bd->file ? 0 : device_size(bd->fd, &now.size);
	if (!err && now.size != bd->size) {
		say(why,
		    "%s changed its size from %" PRIu64 " to %" PRIu64
		    " bytes while it was being looked at.",
		    bd->path, bd->size, now.size);
		err = -ESTALE;
	}
	if (!err)
		err = read_signatures(&now);
	if (!err)
		err = compare_signatures(bd, &now, why);
	free(now.sig);
	return err;
}
