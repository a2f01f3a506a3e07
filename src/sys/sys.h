/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The edge to the machine: files below one root, the gathered struct machine, NETLINK_CRYPTO,
 * modules, children with a time limit, block devices. Brings facts; must not judge a cipher spec or
 * know LUKS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/machine.h"
#include "core/recording.h"
#include "core/stack.h"
#include "util/util.h"

/* Every function returns 0 or a negative errno unless it says otherwise. */

/* --- sysroot.c: files of this machine or of a recorded one ------------------------ */

/*
 * Paths are absolute as on the machine ("/proc/crypto"). Below a recorded root no symbolic link,
 * absolute or with "..", leaves the directory, and only regular files are opened: a recording is
 * untrusted input.
 */
struct sysroot {
	int fd;        /* the root directory */
	bool recorded; /* a directory was given: not this machine */
	char *dir; /* "" for this machine, else the directory as given, without trailing slashes */
	bool no_openat2; /* the kernel or a filter refused openat2: walk by hand (tests set it) */
	bool complete; /* this machine, or a recording that holds all that hwluks reads: what is absent was
	                  not there */
	struct recording *noted;      /* when the caller points it at one, all that is read is put down in it;
	                                 not together with `from` */
	const struct recording *from; /* a recording in memory stands for the directory; fd is then -1 */
	char *errors; /* of a recording: lines "ERRNO PATH" of what could not be read there, or NULL */
};

#define SYSROOT_FILE_MAX RECORDING_FILE_MAX /* larger files are refused with -EFBIG */
/* What no file of a machine tells is kept in a recording below /hwluks. */
#define SYSROOT_ERRORS "/hwluks/errors"
#define SYSROOT_COMPLETE "/hwluks/complete"

/* dir NULL: this machine. */
int sysroot_open(struct sysroot *sr, const char *dir);
/* The recording (not copied) stands for a machine. */
void sysroot_replay(struct sysroot *sr, const struct recording *from);
void sysroot_close(struct sysroot *sr);
/* A descriptor of a regular file, for reading what is too large for sysroot_read; not for a recording in memory. */
int sysroot_open_file(struct sysroot *sr, const char *path);
/* A descriptor of a directory; not for a recording in memory (-EOPNOTSUPP). */
int sysroot_open_dir(struct sysroot *sr, const char *path);
/*
 * Whole file, also of /proc and sysfs where sizes read 0; NUL-terminated, *text to be freed; len
 * may be NULL. A gzip file (/proc/config.gz) is returned unpacked, -ELIBACC when libz.so.1 is not
 * installed.
 */
int sysroot_read(struct sysroot *sr, const char *path, char **text, size_t *len);
/* First line without its newline, cut to size-1 bytes. */
int sysroot_read_line(struct sysroot *sr, const char *path, char *buf, size_t size);
/* Names in a directory, unsorted, without "." and "..", added to *names. */
int sysroot_list(struct sysroot *sr, const char *path, struct strv *names);
/* Text of a symbolic link, cut to size-1 bytes. */
int sysroot_readlink(struct sysroot *sr, const char *path, char *buf, size_t size);
bool sysroot_exists(struct sysroot *sr, const char *path);
/*
 * For what was read or answered by other ways than these functions: puts it down in sr->noted, as if it had been read from
 * a file of that path. sysroot_note_error: it could not be had, and a replay shall fail in the same way.
 */
void sysroot_note(struct sysroot *sr, const char *path, const char *text, size_t len);
void sysroot_note_error(struct sysroot *sr, const char *path, int err);
/*
 * Names of the directory that contain `part`; only these are put down when recording.
 */
int sysroot_list_some(struct sysroot *sr, const char *path, const char *part, struct strv *names);

/* --- probe.c: fills struct machine ------------------------------------------------ */

enum probe_what {
	PROBE_CPU = 1 << 0,     /* arch, cpu, cpus */
	PROBE_DEVICES = 1 << 1, /* dev: only what some row of the accelerator table matches */
	PROBE_ALGS = 1 << 2,    /* algs */
	PROBE_FLAGS = 1 << 3,   /* flags of algs by NETLINK_CRYPTO (recorded: /hwluks/crypto-flags);
	                           implies PROBE_ALGS */
	PROBE_MODULES = 1 << 4, /* mod: every module of the table, and what hwluks itself needs */
	PROBE_KCONFIG = 1 << 5, /* kconfig */
	PROBE_RNG = 1 << 6,
	PROBE_GATEWAYS = 1 << 7, /* implies PROBE_MODULES */
	PROBE_MEMORY = 1 << 8,
	PROBE_LOAD = 1 << 9, /* permission to load crypto_user for PROBE_FLAGS; otherwise nothing is
	                        loaded by hwluks */
	PROBE_ALL = 0x1ff,   /* everything, loading nothing */
	/* What judging and loading need, and no more: for open and load. */
	PROBE_FOR_OPEN = PROBE_CPU | PROBE_DEVICES | PROBE_ALGS | PROBE_FLAGS | PROBE_MODULES,
};
/*
 * Release, kernel version, arch and the self-test switch of the kernel command line are always
 * filled. *m must be zeroed or fresh from machine_free. Returns 0 even when things could not be
 * read: they are named in m->unread ("/proc/crypto: Permission denied"; absent is not named where
 * absence is normal). Negative only when the root itself is of no use.
 */
int probe_machine(struct sysroot *sr, unsigned int what, struct machine *m);
/* Fills m->dev. Called by probe_machine. */
int devices_probe(struct sysroot *sr, struct machine *m);
/* After a module was loaded or a template prepared: reads /proc/crypto, flags (as `what` says) and
 * module states anew. */
int probe_again(struct sysroot *sr, unsigned int what, struct machine *m);

/* --- crypto_user.c: NETLINK_CRYPTO ------------------------------------------------ */

/*
 * Everything but the dump needs CAP_NET_ADMIN. The kernel works inside the send call: with an
 * engine that may hang call these in a child (child_run), since no time limit can hold there.
 */

/*
 * Fills flags, flags_known, priority and refcnt of the records in *l that the kernel reports by the
 * same name and driver. -EPROTONOSUPPORT: this kernel has no crypto_user (loaded); *l is then
 * unchanged. may_load: load crypto_user by name when the kernel did not do so by itself.
 */
int crypto_user_dump(struct alg_list *l, bool may_load);
/*
 * One datagram of the dump, merged into *l. *cursor (start with 0) makes the merge linear, as both
 * lists have the same order. Returns 1 at the end of the dump, 0 when more is to come, negative for
 * an error that the kernel reported or -EBADMSG for a message that is none.
 */
int crypto_user_merge(const void *msg, size_t len, struct alg_list *l, size_t *cursor);
/* Text of /hwluks/crypto-flags in a recording: lines "DRIVER 0xFLAGS"; returns the number of
 * records filled. */
size_t crypto_flags_parse(const char *text, size_t len, struct alg_list *l);
/* Sets the priority of the driver's algorithm; instances built on it are dropped by the kernel.
 * -ENOENT: no such driver. */
int crypto_user_set_priority(const char *driver, int priority);
/* Removes a template instance ("xts(ecb-aes-geode)"); -EBUSY while it is used, -EINVAL for what is
 * no instance. */
int crypto_user_delete(const char *driver);
/* Builds a template instance by its driver name; name is what it stands for ("xts(aes)"). Already
 * there: 0. */
int crypto_user_instantiate(const char *name, const char *driver);

/*
 * Another kernel of the same root takes the running one's place in m: release, version, modules. -ENOENT: it has no
 * /lib/modules/RELEASE there; m is unchanged. -EINVAL: no release.
 */
int probe_other_kernel(struct sysroot *sr, const char *release, struct machine *m);

/* --- clock.c: time that passes ---------------------------------------------------- */

int64_t clock_ms(void); /* milliseconds since some fixed moment, suspended time not counted */
double clock_s(void);	/* the same in seconds */

/* --- child.c: work that may hang runs in a child ---------------------------------- */

enum child_flags {
	CHILD_KEEP_FDS = 1 << 0, /* the child keeps the parent's descriptors; default: only 0, 1, 2
	                            and `out` */
};
struct child_result {
	pid_t left_behind; /* the child could not be killed within a second (D state): its pid; else
	                      0 */
	int signal;        /* the child died of this signal, not ours; else 0 */
	struct strbuf out; /* what the child wrote to `out`, at most CHILD_OUT_MAX bytes; free with
	                      strbuf_free */
};
#define CHILD_OUT_MAX (1u << 20)
/*
 * Runs fn(arg, out) in a child with default signals, its own process group and a death signal bound
 * to the parent. fn returns 0 or a negative errno, which child_run returns. `out` is the write end
 * of a pipe. After timeout_ms the child (with whatever it started) gets SIGKILL: -ETIMEDOUT, also
 * when it could not be reaped within one more second (left_behind). Died of a signal: -ECHILD and
 * res->signal. res may be NULL.
 */
int child_run(int (*fn)(void *arg, int out), void *arg, int timeout_ms, unsigned int flags,
              struct child_result *res);

/* The same; before_kill (may be NULL) runs in the parent when the limit has passed, right before the SIGKILL. */
int child_run_guarded(int (*fn)(void *arg, int out), void *arg, int timeout_ms, unsigned int flags,
                      void (*before_kill)(void), struct child_result *res);

/* --- image.c: boot images ---------------------------------------------------------- */

struct cpio;
/*
 * Reads a boot image: cpio archives, packed or not, one after the other. out: as for cpio_feed, with keep. Packed ones are
 * unpacked by gzip, zstd, xz, lz4, bzip2 or lzop. On error a sentence in why: -EBADMSG cut short or damaged, -EINVAL no
 * image, -ENOENT, …
 */
int image_read(struct sysroot *sr, const char *path, struct cpio *out, struct strbuf *why);
/* The file names of the libraries that this program runs with. */
void own_libraries(struct strv *names);
/*
 * A file below the root, whole or not at all, over what was there; missing directories are made (0755). Links do not lead
 * out of the root.
 */
int place_file(struct sysroot *sr, const char *path, unsigned int mode, const char *text, size_t len);
int place_remove(struct sysroot *sr, const char *path);
int place_remove_dir(struct sysroot *sr, const char *path); /* an empty one */

/* --- modules.c: libkmod ----------------------------------------------------------- */

/* Fills m->mod; needs m->release. Called by probe_machine. */
int modules_probe(struct sysroot *sr, struct machine *m);

enum module_flags {
	MODULE_FORCE = 1 << 0, /* over deny lists and install commands */
};
/*
 * Loads a module of the running kernel by name, with its dependencies, in a child that is killed at
 * the limit. 0: loaded, was loaded or is built in, which says nothing of a device: look at
 * /proc/crypto again. -ENOENT no such module · -EACCES deny list (log names file and line) · -EPERM
 * no rights, or module signature or lockdown · -ENODEV the driver found none · -ETIMEDOUT. Words
 * for people are added to log (may be NULL).
 */
int module_load(const char *name, unsigned int flags, int timeout_ms, struct strbuf *log);
/*
 * Waits until each driver is in /proc/crypto and its self-test is over (passed, or failed for
 * good). NULL-terminated list. 0, or -ETIMEDOUT with the first one missing in *missing (may be
 * NULL; points into drivers).
 */
int module_wait_registered(struct sysroot *sr, const char *const *drivers, int timeout_ms,
                           const char **missing);

/* --- blkdev.c: what is known of a target, before anything is written -------------- */

enum blkdev_use_kind {
	USE_MOUNT, /* mounted: `by` is the mount point */
	USE_HOLDER, /* device-mapper, RAID, bcache …: `by` is the holder's name ("dm-0 (luks-home)")
	             */
	USE_SWAP,   /* active swap space */
	USE_LOOP,   /* a file behind a loop device: `by` is its node */
	USE_RESUME, /* hibernation resumes from it: `by` says where that is written. Not "busy", but
	               not to be overwritten */
	USE_OPEN,   /* opened exclusively by something that could not be named */
};
struct blkdev_use {
	enum blkdev_use_kind kind;
	char *node; /* the device itself or the partition of it that is in use: "/dev/sda2" */
	char *by;
};
const char *blkdev_use_name(
	enum blkdev_use_kind k); /* "mount", "holder", "swap", … stable, for JSON */

struct blkdev_signature {
	char type[32];  /* libblkid's: "ext4", "crypto_LUKS", "gpt", "LVM2_member", "swap"; a LUKS2
	                   secondary header  alone: "crypto_LUKS" too */
	char usage[16]; /* "filesystem", "raid", "crypto", "other", "partition table" */
	char version[16];
	char label[128];
	char uuid[64];
	uint64_t offset; /* of the magic, bytes from the start of the target */
	uint32_t len;
};

struct blkdev {
	char *spec; /* as given: "UUID=…", "/dev/disk/by-id/…", "disk.img" */
	char *path; /* the node or file it stands for, symbolic links resolved */
	int fd;     /* read-only, or read-write and exclusive with BLKDEV_WRITE */
	bool file;  /* a regular file */
	bool write; /* opened with BLKDEV_WRITE */
	dev_t rdev; /* block device number; files: 0 */
	char *disk; /* node of the whole disk for the BSD lock: itself when it is no partition;
	               files: the file */
	int lock_fd;
	uint64_t size;               /* bytes */
	unsigned int logical_sector; /* files: 512 */
	unsigned int
		physical_sector; /* files: 512, as nothing better is known of what lies below */
	uint32_t discard_granularity; /* 0 = no discard; files: 0 */
	uint32_t optimal_io;          /* bytes; 0 = not stated */
	bool readonly, rotational, zoned;
	struct blkdev_use *use;
	size_t n_use;
	struct blkdev_signature *sig;
	size_t n_sig;
};

enum blkdev_flags {
	BLKDEV_WRITE = 1 << 0, /* read-write; block devices with O_EXCL: -EBUSY and the holder named
	                          when in use */
};
/*
 * Opens a target and gathers its facts. *bd is filled as far as possible also when -EBUSY or -EROFS
 * comes back, so that a plan can still be shown; free with blkdev_close in any case. `why` (may be
 * NULL) gets one or two sentences: what was given, what is wrong, what to do. -ENOENT, -ENOTBLK
 * (neither device nor file), -EACCES, -EBUSY, -EROFS, -EINVAL (malformed spec). A resume device is
 * not refused here: look at `use`.
 */
int blkdev_open(const char *spec, unsigned int flags, struct blkdev *bd, struct strbuf *why);
void blkdev_close(struct blkdev *bd); /* drops the lock too; nothing to do for a zeroed one */
/*
 * udev's BSD lock (flock LOCK_EX) on the whole-disk node, or on the file. Tries for five seconds:
 * -EWOULDBLOCK. libcryptsetup takes the same lock on a LUKS2 image *file* by itself and waits for
 * ever: unlock before it writes there.
 */
int blkdev_lock(struct blkdev *bd, struct strbuf *why);
void blkdev_unlock(struct blkdev *bd);
/*
 * Right before the first write: same size, same signatures, same device on the open descriptor as
 * when it was opened. 0, or -ESTALE with the difference in why.
 */
int blkdev_recheck(struct blkdev *bd, struct strbuf *why);
/* First use that forbids writing (every kind but USE_RESUME); NULL when none. */
const struct blkdev_use *blkdev_busy(const struct blkdev *bd);
/* True for the second header of a LUKS2 volume whose first one is listed before it: nothing more to tell people. */
bool blkdev_signature_again(const struct blkdev *bd, size_t i);
/* "ext4 filesystem labelled 'backup' at byte 1080": for people. Returns buf. */
const char *blkdev_signature_text(const struct blkdev_signature *sig, char *buf, size_t size);
/* UUID=, LABEL=, PARTUUID=, PARTLABEL= or a path → resolved path, to be freed. */
int blkdev_resolve(const char *spec, char **path, struct strbuf *why);
/* Uses of the device number (and of its partitions) as /proc and /sys of the root tell; added to
 * bd->use. */
int blkdev_uses(struct sysroot *sr, dev_t rdev, struct blkdev *bd);
void blkdev_uses_free(struct blkdev *bd); /* bd->use alone; blkdev_close does it, too */

/* --- stack.c: what is below a device, and on it ----------------------------------- */

/*
 * The device and all that is below it, down to the disks, from /sys/dev/block of the root. What
 * could not be read is STACK_UNKNOWN in its field. -ENOENT: sysfs has no such device. Free out->v.
 */
int stack_probe(struct sysroot *sr, dev_t dev, struct stack *out);
/* "sda2", "dm-3": the kernel's name, as in struct stack, for a device number. -ENOENT. */
int stack_name(struct sysroot *sr, dev_t dev, char *buf, size_t size);
/* "/dev/sda2" or "/dev/mapper/vg-home" for a device number. -ENOENT. */
int stack_node(struct sysroot *sr, dev_t dev, char *buf, size_t size);
/*
 * What lies on a device: libblkid's type, "" when it recognises nothing or more than one thing, and
 * the smallest block it is written in (0 = not known). Reads the device. 0 or negative errno.
 */
int stack_content(const char *node, char *type, size_t size, unsigned int *block);
