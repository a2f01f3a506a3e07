/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Commands and options, each one row of a table: the rows run the program and print its help.
 * A command gathers, decides, acts, prints; the layers below do the work.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/machine.h"
#include "core/policy.h"
#include "sys/sys.h"

/* Exit codes of our own; 0 to 5 are cryptsetup's and come from negative errno values in main. */
enum exit_code {
	EXIT_SPEC_REFUSED = 10, /* the hardware here serves the cipher otherwise */
	EXIT_NO_ACCEL = 11,	/* --require-accel and none */
	EXIT_FINDINGS = 12,	/* doctor found a warning or worse */
	EXIT_DRIVER_BAD = 13,	/* a driver failed verification or hung */
	EXIT_BAD_BLOCKS = 14,	/* finished with bad blocks or a verify mismatch */
	EXIT_IMAGE_CHECK = 15,	/* boot image check failed */
};

/* Everything the command line can say; zero, NULL, false or -1 when it did not. */
struct options {
	/* global */
	bool verbose, debug, json, help, version;
	const char *sysroot, *record, *replay;
	/* what to encrypt with */
	const char *cipher, *type;
	uint64_t key_size, sector_size; /* bits, bytes; 0 = not said */
	/* format */
	bool adapt, software, dry_run, batch_mode, force_password;
	bool wipe_signatures, replace_luks;
	const char *old_header_backup, *header_backup_file, *header, *label, *subsystem, *uuid;
	const char *pbkdf, *hash;
	uint64_t iter_time, pbkdf_memory, pbkdf_parallel, pbkdf_force_iterations;
	uint64_t offset, align_payload; /* 512-byte sectors */
	/* secrets */
	const char *key_file;
	uint64_t keyfile_offset, keyfile_size, tries, timeout;
	bool verify_passphrase;
	/* open */
	bool readonly, test_passphrase, allow_discards, persistent, require_accel, token_only, no_verify;
	bool perf_same_cpu_crypt, perf_submit_from_crypt_cpus, perf_no_read_workqueue, perf_no_write_workqueue,
		perf_high_priority;
	int64_t key_slot, token_id;
	const char *token_type;
	bool disable_locks, disable_keyring;
	/* refresh */
	bool clear_flags;
	/* doctor */
	bool quick;
	const char *measure; /* seconds, or "auto" */
	/* close */
	bool deferred;
	/* load */
	bool all, force, boot;
	uint64_t wait; /* seconds */
	/* fill */
	bool resume, restart, verify, progress_json;
	const char *engine, *state, *priority;
	const char *fill; /* format: an engine, "auto" or "none" */
	uint64_t length, rate_limit; /* 512-byte sectors, bytes per second */
	/* initramfs */
	const char *accelerator, *kernel, *crypttab, *root, *generator;
};

struct cmd_context {
	struct options opt;
	const char **arg; /* positional arguments after the command */
	size_t n_args;
	struct sysroot root;
	struct recording replayed; /* what root stands for with --record and --replay */
};

/* Commands an option row may belong to, bits. */
enum command_bit {
	CMD_DETECT = 1 << 0, CMD_LOAD = 1 << 1, CMD_ADVISE = 1 << 2, CMD_FORMAT = 1 << 3, CMD_OPEN = 1 << 4,
	CMD_CLOSE = 1 << 5, CMD_STATUS = 1 << 6, CMD_DOCTOR = 1 << 7,
	CMD_REFRESH = 1 << 8, CMD_FILL = 1 << 9,
	CMD_INITRAMFS = 1 << 14,
	CMD_GLOBAL = 1 << 15, CMD_ANY = 0x7fff,
};

struct command {
	const char *name;
	const char *const *aliases; /* NULL-terminated, or NULL */
	enum command_bit bit;
	size_t min_args, max_args;
	bool works_on_sysroot;
	const char *args;    /* "DEVICE NAME" */
	const char *summary; /* one line */
	const char *details; /* paragraphs for `COMMAND --help` */
	/* 0, a negative errno (main maps it to 1..5), or an enum exit_code. Has said why when it is not 0. */
	int (*run)(struct cmd_context *c);
};
extern const struct command command_table[];
extern const size_t command_count;

/* OPT_POSITIVE: a number of which 0 would mean "not said"; OPT_WORD: a string that may be left out: then "auto" */
enum option_kind { OPT_FLAG, OPT_STRING, OPT_NUMBER, OPT_POSITIVE, OPT_SIZE, OPT_SIGNED, OPT_WORD };
struct option_row {
	const char *name; /* without the dashes */
	char letter;	  /* 0 = none */
	enum option_kind kind : 8;
	uint16_t field;	  /* offset in struct options */
	unsigned int commands;
	uint64_t max;	  /* OPT_NUMBER, OPT_POSITIVE, OPT_SIGNED */
	const char *value; /* "BITS"; NULL for flags */
	const char *help;
};
extern const struct option_row option_table[];
extern const size_t option_count;

/* options.c */
const struct command *command_find(const char *name);
/* Parses argv into c; *cmd is NULL when none was named. 0 or -EINVAL after saying why. */
int options_parse(int argc, char **argv, struct cmd_context *c, const struct command **cmd);
void print_usage(FILE *f);
void print_command_help(const struct command *cmd);

int cmd_refresh(struct cmd_context *c);
int cmd_detect(struct cmd_context *c);
int cmd_load(struct cmd_context *c);
int cmd_advise(struct cmd_context *c);
int cmd_format(struct cmd_context *c);
int cmd_open(struct cmd_context *c);
int cmd_close(struct cmd_context *c);
int cmd_status(struct cmd_context *c);
int cmd_doctor(struct cmd_context *c);
int cmd_fill(struct cmd_context *c);
/*
 * For format --fill. check: the engine exists, no earlier fill waits to be resumed. run: fills all of bd, which is open for
 * writing and was agreed to; then bd's signatures are gone. 0, a negative errno or an enum exit_code, after saying why.
 */
int fill_for_format_check(struct cmd_context *c, struct blkdev *bd);
int fill_for_format(struct cmd_context *c, struct blkdev *bd);

/* --- target.c: commands that overwrite a device --------------------------------------------------- */

struct record;
/* blkdev_open with its words on stderr; -ENODEV when there is no such device. */
int target_open(const char *path, bool write, struct blkdev *bd);
/* -EBUSY after saying by what. */
int target_refuse_in_use(const struct blkdev *bd);
/*
 * -EEXIST after naming what would be lost and the options that allow it. old: of an interrupted format, or NULL.
 * header_helps: the data stays, so that a saved header would still open it.
 */
int target_refuse_signatures(const struct options *o, const struct blkdev *bd, const struct record *old, bool header_helps);
/* The typed word, unless --batch-mode. `more` (may be NULL) follows the warning. 0, or -EINVAL after saying why. */
int target_confirm(const struct options *o, const struct blkdev *bd, const char *more);
int cmd_initramfs(struct cmd_context *c);

/* --- record.c: a machine in a file ---------------------------------------------------------------- */

/*
 * --replay: the recording in this file stands for the machine from now on. 0 or a negative errno, after saying why.
 */
int replay_begin(struct cmd_context *c, const char *file);
/*
 * --record: reads all that detect, advise and doctor read, takes out what names the machine, writes the file, and lets what
 * was written stand for the machine from now on: what the command prints is what a replay will print.
 */
int record_machine(struct cmd_context *c, const char *file);
void replay_end(struct cmd_context *c);
/* doctor's gathering, for what it reads. */
int doctor_gather_only(struct cmd_context *c);

/* --- doctor_measure.c: what doctor measures ------------------------------------------------------- */

struct doctor_facts;
struct doctor_volume;
/* --measure asks for it; else on a terminal as root, without --quick. -EINVAL, -EPERM after saying why it cannot be done. */
int doctor_measure_check(struct cmd_context *c);
/*
 * Announces what it will read and for how long, measures, and fills the facts with it: `only`, or (NULL) the open volumes.
 * Nothing when it is not wanted. Writes to no device. What cannot be measured is named in the facts.
 */
void doctor_measure(struct cmd_context *c, struct doctor_facts *f, struct doctor_volume *only);
/* Of a recording: what was measured of a volume, whose header was read before; and of setups. */
void doctor_measured_volume(struct cmd_context *c, struct doctor_volume *v);
void doctor_measured_setups(struct cmd_context *c, struct doctor_facts *f);
/* "8:2" or the path of a block device. */
bool device_number_of(const char *text, dev_t *dev);

/* --- report.c: what several commands print the same way ----------------------------------------- */

/* With r: logs `why`, or what errno says where it is empty. Frees `why`; returns r. */
int say_why(int r, struct strbuf *why);
/* luks, luks1, luks2 as cryptsetup takes them: in small letters or in capitals. */
bool is_type(const char *given, const char *type);
struct json_object;
/* "  Reason: sentence", one paragraph a reason, wrapped. */
void print_reasons(const struct reasons *r);
void json_reasons(struct json_object *o, const struct reasons *r);
/* {cipher, key_size, sector_size} under key, or null. */
void json_spec(struct json_object *o, const char *key, const struct cipher_spec *spec);
/* verdict, action, data, iv, tweak, driver, reasons[], nearest. */
void json_verdict(struct json_object *o, const struct verdict *v);
/* "accelerated: data on hardware, tweak on hardware (xts(ecb-aes-geode))". */
void print_verdict_line(const char *first, const struct verdict *v);
/* "--cipher aes-cbc-essiv:sha256 --key-size 128": for pasting. Returns buf. */
const char *spec_options(const struct cipher_spec *s, char *buf, size_t size);
/* What could not be read, as a note on stderr, and under "unread" in JSON. */
void say_unread(const struct machine *m);
/* "  label       text", wrapped: a line of a plan or a state. */
void print_row(const char *label, const char *text);
/* The name of a mapping from what the user wrote, which may be its path in /dev/mapper. Points into arg. */
const char *mapping_arg(const char *arg);
/* "flags": the CRYPT_FLAG_* of a table by name. */
void json_flags(struct json_object *o, unsigned int flags);
/* Why mapping_get(name) failed with r. Returns r, -ENXIO as -ENODEV. */
int say_mapping_error(const char *name, int r);
void json_unread(struct json_object *o, const struct machine *m);
/* Spec from --cipher, --key-size, --sector-size; key bits default as cryptsetup's. 0, or -EINVAL after saying where and why. */
int check_sector_size(const struct options *o); /* 0, or -EINVAL after saying what it may be */
int spec_from_options(const struct options *o, struct cipher_spec *spec);

struct boot_conf;
/* bringup.c: /etc/hwluks.conf of this machine; absent: the defaults. Its warnings are logged. Always fills *conf. */
void boot_conf_read(struct sysroot *sr, struct boot_conf *conf);

/* --- open.c: what open and refresh share ---------------------------------------------------------- */

/* The flags for dm-crypt that the command line names, enum vol_activate_flags. */
unsigned int activation_flags(const struct options *o);
/* Where the options say that the passphrase is read from; prompt stays the caller's. format, too. */
struct secret_source;
struct secret_source key_source(const struct options *o, const char *prompt);
/* Options for flags and keys that contradict each other or this build. 0, or -EINVAL after saying so. */
int check_key_options(const struct options *o);

/* --- bringup.c: load, wait, prepare, verify, quarantine ------------------------------------------- */

struct bringup_item {
	const struct load_item *item;
	int err; /* 0 or negative errno of the load */
	char text[320]; /* what happened, one sentence */
};
struct bringup {
	struct bringup_item *v;
	size_t n;
	unsigned int loaded;	  /* modules that were loaded */
	unsigned int quarantined; /* drivers taken out */
};
struct bringup_options {
	unsigned int wait_ms; /* per module, load and registration; 0 = 10 s */
	bool wait_all;	      /* wait_ms is for all modules together: what it does not suffice for is left out */
	bool force;	      /* over deny lists */
	bool verify;	      /* known-answer test of engines outside the CPU that were loaded here */
	bool quick;	      /* a small one */
};
/*
 * Carries out what the plan says, then gathers m's algorithms and modules anew. Always fills out. 0, -EPERM when rights are
 * missing, or EXIT_DRIVER_BAD when a driver was found bad (and quarantined).
 */
int bringup_run(struct sysroot *sr, struct machine *m, const struct load_plan *plan, const struct bringup_options *o,
		struct bringup *out);
void bringup_free(struct bringup *b);
/*
 * Quarantines every accelerator here of which an algorithm, or an instance built on one, failed the kernel's self-test: such
 * an instance also stands in the way of software (ELIBBAD, ENOENT). m is gathered anew. `text` gets a sentence for each.
 * Returns how many there were.
 */
unsigned int bringup_take_out_failed(struct sysroot *sr, struct machine *m, struct strbuf *text);
/* The first engine here, usable by dm-crypt, whose driver failed or was taken out, with its state; NULL when there is none. */
const struct accel *bringup_broken(const struct machine *m, enum driver_state *state);
/* When a driver is tested with a known answer. */
enum verify_when {
	VERIFY_ALWAYS,	      /* whatever would serve the spec, portable code included */
	VERIFY_ENGINES,	      /* once per boot and spec, engines outside the CPU */
	VERIFY_HARDWARE,      /* once per boot and spec, also CPU instructions: after hwluks loaded their driver */
	VERIFY_BOOT,	      /* the same with fewer operations: somebody waits for the machine */
};
/*
 * Known-answer test of what would serve this spec now. 0 when it may be used, or `when` leaves it out; EXIT_DRIVER_BAD when it
 * failed: then it is quarantined and m is gathered anew; -EOPNOTSUPP when it could not be tried; -EINVAL when the kernel
 * refuses the spec. `text` gets one sentence.
 */
int bringup_verify(struct sysroot *sr, struct machine *m, const struct cipher_spec *spec, enum verify_when when,
		   struct strbuf *text);
