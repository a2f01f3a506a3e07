/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Tests of target facts, signatures, users and locks, on image files and scratch roots made here.
 * Must not open a device: uses of devices are read from made-up /proc and /sys.
 */
#include "sys_test.h"

#include <sys/file.h>
#include <sys/sysmacros.h>

/* Makes an image of this size and runs a command with its path in place of %s. */
static const char *image(const char *name, unsigned int mib, const char *command)
{
	const char *path = in_scratch(name);
	char *cmd, *quiet;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)mib << 20), 0);
	close(fd);
	if (!command)
		return path;
	cmd = xasprintf("export PATH=$PATH:/usr/sbin:/sbin IMG=%s; { %s; } >/dev/null 2>&1", path,
	                command);
	quiet = xasprintf("sh -c '%s'", cmd);
	if (system(quiet))
		print_error("failed: %s\n", command);
	free(quiet);
	free(cmd);
	return path;
}

static const struct blkdev_signature *signature(const struct blkdev *bd, const char *type)
{
	for (size_t i = 0; i < bd->n_sig; i++)
		if (!strcmp(bd->sig[i].type, type))
			return &bd->sig[i];
	return NULL;
}

#define LUKS(type)                                        \
	"echo pw | cryptsetup luksFormat -q --type " type \
	" --pbkdf pbkdf2 --pbkdf-force-iterations 1000 $IMG -"

static void test_signatures(void **state)
{
	static const struct {
		const char *name, *command, *type, *usage, *version;
		uint64_t offset;
		size_t n;
	} rows[] = {
		{ "/ext4", "mkfs.ext4 -q -L backup $IMG", "ext4", "filesystem", "1.0", 1080, 1 },
		{ "/btrfs", "mkfs.btrfs -q $IMG", "btrfs", "filesystem", "", 65600, 1 },
		{ "/luks1", LUKS("luks1"), "crypto_LUKS", "crypto", "1", 0, 1 },
		{ "/luks2", LUKS("luks2"), "crypto_LUKS", "crypto", "2", 0, 2 },
		{ "/luks2-secondary",
		  LUKS("luks2") "; dd if=/dev/zero of=$IMG bs=4096 count=1 conv=notrunc",
		  "crypto_LUKS", "crypto", "2", 16384, 1 },
		{ "/swap", "mkswap $IMG", "swap", "other", "1", 4086, 1 },
		{ "/gpt", "echo label: gpt | sfdisk $IMG", "gpt", "partition table", "", 512, 3 },
		{ "/none", NULL, NULL, NULL, NULL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct blkdev_signature *s;
		const char *path = image(rows[i].name, 128, rows[i].command);
		struct strbuf why = { 0 };
		struct blkdev bd;

		assert_int_equal(blkdev_open(path, BLKDEV_WRITE, &bd, &why), 0);
		if (bd.n_sig != rows[i].n)
			print_error("%s: %zu signatures\n", rows[i].name, bd.n_sig);
		assert_int_equal(bd.n_sig, rows[i].n);
		if (rows[i].type) {
			s = signature(&bd, rows[i].type);
			assert_non_null(s);
			assert_string_equal(s->usage, rows[i].usage);
			assert_string_equal(s->version, rows[i].version);
			assert_int_equal(s->offset, rows[i].offset);
		}
		assert_int_equal(blkdev_recheck(&bd, &why), 0);
		assert_null(why.s);
		blkdev_close(&bd);
	}
}

static void test_file_facts(void **state)
{
	char text[256];
	struct blkdev bd;
	const char *path = image("/img", 16, "mkfs.ext4 -q -L back.up $IMG");

	(void)state;
	put_link("/link", path);
	assert_int_equal(blkdev_open(in_scratch("/link"), 0, &bd, NULL), 0);
	assert_true(bd.file && !bd.write && !bd.readonly && !bd.rotational && !bd.zoned);
	assert_string_equal(bd.path, path);
	assert_string_equal(bd.disk, path);
	assert_int_equal(bd.size, 16 << 20);
	assert_int_equal(bd.logical_sector, 512);
	assert_int_equal(bd.physical_sector, 512);
	assert_int_equal(bd.n_use, 0);
	assert_null(blkdev_busy(&bd));
	assert_int_equal(bd.n_sig, 1);
	assert_string_equal(blkdev_signature_text(&bd.sig[0], text, sizeof(text)),
	                    "ext4 version 1.0 filesystem labelled 'back.up' at byte 1080");
	blkdev_close(&bd);
	blkdev_close(&bd);
	bd = (struct blkdev){ 0 };
	blkdev_close(&bd);
	assert_true(fcntl(0, F_GETFD) >= 0 || errno == EBADF);
}

static void check_refused(const char *spec, int want, const char *word)
{
	struct strbuf why = { 0 };
	struct blkdev bd;
	int err = blkdev_open(spec, BLKDEV_WRITE, &bd, &why);

	if (err != want)
		print_error("%s: %d %s\n", spec, err, why.s);
	assert_int_equal(err, want);
	assert_non_null(why.s);
	assert_non_null(strstr(why.s, word));
	strbuf_free(&why);
	blkdev_close(&bd);
}

static void test_refused_specs(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(in_scratch("/fifo"), 0600), 0);
	check_refused(in_scratch("/fifo"), -ENOTBLK, "neither");
	check_refused(in_scratch(""), -ENOTBLK, "neither");
	check_refused("/dev/null", -ENOTBLK, "neither");
	check_refused(in_scratch("/none"), -ENOENT, "none");
	check_refused("UUID=00000000-1111-2222-3333-444444444444", -ENOENT, "UUID=");
	check_refused("PARTLABEL=no such label", -ENOENT, "PARTLABEL=");
	check_refused("FOO=bar", -ENOENT, "FOO=bar");
	check_refused("", -ENOENT, "No such");
}

static void test_recheck(void **state)
{
	const char *path = image("/img", 64, "mkfs.ext4 -q $IMG");
	struct strbuf why = { 0 };
	struct blkdev bd;

	(void)state;
	assert_int_equal(blkdev_open(path, BLKDEV_WRITE, &bd, NULL), 0);
	assert_int_equal(blkdev_recheck(&bd, &why), 0);
	image("/img", 64, "mkswap $IMG");
	assert_int_equal(blkdev_recheck(&bd, &why), -ESTALE);
	assert_non_null(strstr(why.s, "swap"));
	strbuf_free(&why);
	image("/img", 64, NULL);
	assert_int_equal(blkdev_recheck(&bd, &why), -ESTALE);
	assert_non_null(strstr(why.s, "is gone"));
	strbuf_free(&why);
	image("/img", 65, NULL);
	assert_int_equal(blkdev_recheck(&bd, &why), -ESTALE);
	assert_non_null(strstr(why.s, "size"));
	strbuf_free(&why);
	blkdev_close(&bd);
}

static void test_lock(void **state)
{
	const char *path = image("/img", 1, NULL);
	int other = open(path, O_RDONLY | O_CLOEXEC);
	struct strbuf why = { 0 };
	struct blkdev bd;

	(void)state;
	assert_int_equal(blkdev_open(path, BLKDEV_WRITE, &bd, NULL), 0);
	assert_int_equal(blkdev_lock(&bd, &why), 0);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	blkdev_unlock(&bd);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(blkdev_lock(&bd, &why), -EWOULDBLOCK);
	assert_non_null(strstr(why.s, "locked by another program"));
	close(other);
	assert_int_equal(blkdev_lock(&bd, &why), 0);
	strbuf_free(&why);
	blkdev_close(&bd);
}

/* --- who uses a device: made-up sysfs with disk 8:0 (sda) and partitions 8:1, 8:2 - */

static void put_disk(void)
{
	const char *disk = "/sys/devices/pci0/block/sda";

	make_dir(disk);
	put("/sys/devices/pci0/block/sda/dev", "8:0\n");
	put("/sys/devices/pci0/block/sda/sda1/dev", "8:1\n");
	put("/sys/devices/pci0/block/sda/sda1/partition", "1\n");
	put("/sys/devices/pci0/block/sda/sda2/dev", "8:2\n");
	put("/sys/devices/pci0/block/sda/sda2/partition", "2\n");
	make_dir("/sys/devices/pci0/block/sda/sda1/holders");
	make_dir("/sys/devices/pci0/block/sda/sda2/holders");
	put_link("/sys/dev/block/8:0", "../../devices/pci0/block/sda");
	put_link("/sys/dev/block/8:1", "../../devices/pci0/block/sda/sda1");
	put_link("/sys/dev/block/8:2", "../../devices/pci0/block/sda/sda2");
}

struct use_row {
	const char *path, *text; /* a file, or with text NULL a directory */
	unsigned int minor;      /* of the target */
	enum blkdev_use_kind kind;
	const char *node, *by; /* node NULL: no use at all */
};

static void check_use(const struct use_row *row)
{
	struct blkdev bd = { .spec = xstrdup("x"), .fd = -1, .lock_fd = -1 };
	struct sysroot sr;

	if (row->text)
		put(row->path, row->text);
	else
		make_dir(row->path);
	assert_int_equal(sysroot_open(&sr, scratch), 0);
	assert_int_equal(blkdev_uses(&sr, makedev(8, row->minor), &bd), 0);
	sysroot_close(&sr);
	if (bd.n_use != !!row->node)
		print_error("%s %s: %zu uses\n", row->path, row->text, bd.n_use);
	assert_int_equal(bd.n_use, row->node ? 1 : 0);
	if (row->node) {
		assert_int_equal(bd.use[0].kind, row->kind);
		assert_string_equal(bd.use[0].node, row->node);
		assert_string_equal(bd.use[0].by, row->by);
		assert_true((blkdev_busy(&bd) == NULL) == (row->kind == USE_RESUME));
	}
	blkdev_close(&bd);
	if (row->text)
		unlink(in_scratch(row->path));
	else
		rmdir(in_scratch(row->path));
}

static void test_uses(void **state)
{
	static const struct use_row rows[] = {
		{ "/proc/self/mountinfo", "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n",
		  1, USE_MOUNT, "/dev/sda1", "/" },
		{ "/proc/self/mountinfo", "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", 0, USE_MOUNT,
		  "/dev/sda1", "/" },
		{ "/proc/self/mountinfo", "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n", 2, USE_MOUNT,
		  NULL, NULL },
		{ "/proc/self/mountinfo", "25 1 0:45 /sub /a\\040b rw - btrfs /dev/sda2 rw\n", 2,
		  USE_MOUNT, "/dev/sda2", "/a b" },
		{ "/proc/self/mountinfo",
		  "25 1 0:45 / /x rw - tmpfs tmpfs rw\n25 1\n - \n\n25 1 8:1\n", 1, USE_MOUNT, NULL,
		  NULL },
		{ "/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n",
		  0, USE_SWAP, "/dev/sda2", "swap space" },
		{ "/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n",
		  1, USE_SWAP, NULL, NULL },
		{ "/sys/devices/pci0/block/sda/sda2/holders/md0", NULL, 2, USE_HOLDER, "/dev/sda2",
		  "md0" },
		{ "/sys/devices/pci0/block/sda/sda2/holders/dm-0", NULL, 0, USE_HOLDER, "/dev/sda2",
		  "dm-0 (luks-home)" },
		{ "/proc/cmdline", "quiet resume=/dev/sda2\n", 2, USE_RESUME, "/dev/sda2",
		  "resume= on the kernel command line" },
		{ "/proc/cmdline", "quiet resume=8:2\n", 0, USE_RESUME, "/dev/sda2",
		  "resume= on the kernel command line" },
		{ "/proc/cmdline", "noresume\n", 2, USE_RESUME, NULL, NULL },
		{ "/sys/power/resume", "8:2\n", 2, USE_RESUME, "/dev/sda2", "/sys/power/resume" },
		{ "/sys/power/resume", "0:0\n", 2, USE_RESUME, NULL, NULL },
		{ "/etc/initramfs-tools/conf.d/resume", "# x\nRESUME=\"/dev/sda2\"\n", 2,
		  USE_RESUME, "/dev/sda2", "RESUME= in /etc/initramfs-tools/conf.d/resume" },
		{ "/etc/initramfs-tools/conf.d/resume", "RESUME=none\n", 2, USE_RESUME, NULL,
		  NULL },
	};

	(void)state;
	put_disk();
	put("/sys/class/block/dm-0/dm/name", "luks-home\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_use(&rows[i]);
	assert_string_equal(blkdev_use_name(USE_HOLDER), "holder");
}

/* A file behind a mount on this machine would need a loop device; a swap file's line is enough to
 * see the match by path. */
static void test_readonly_file(void **state)
{
	const char *path = image("/img", 1, NULL);
	struct blkdev bd;
	int err;

	(void)state;
	chmod(path, 0400);
	err = blkdev_open(path, BLKDEV_WRITE, &bd, NULL);
	assert_true(err == -EROFS || (err == 0 && geteuid() == 0));
	assert_true(bd.fd >= 0);
	blkdev_close(&bd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define SCRATCH(t) cmocka_unit_test_setup_teardown(t, scratch_make, scratch_remove)
		SCRATCH(test_signatures),    SCRATCH(test_file_facts), SCRATCH(test_refused_specs),
		SCRATCH(test_recheck),       SCRATCH(test_lock),       SCRATCH(test_uses),
		SCRATCH(test_readonly_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
