/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * LUKS volumes: secrets, facts, format, open, close. The only door to libcryptsetup.
 * Must not judge a spec, ask a question other than for a passphrase, or choose an exit code.
 *
 * Functions return 0 or a negative errno unless they say otherwise. `why` (may be NULL) gets one or
 * two sentences for people: what was found, what is wanted. libcryptsetup's own errors go to the
 * log besides.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cipher_spec.h"
#include "util/util.h"

struct blkdev;

/* --- secret.c: passphrases ------------------------------------------------------------------- */

/*
 * Bytes in libcryptsetup's safe memory: locked where the limit allows, wiped when freed. Not a
 * string.
 */
struct secret {
	char *data;
	size_t len;
};
void secret_free(struct secret *s); /* wipes, frees, resets; NULL and empty are fine */
#define cleanup_secret __attribute__((cleanup(secret_free)))

#define SECRET_TTY_MAX 512u /* characters of a typed passphrase, as cryptsetup */
#define SECRET_KEYFILE_MAX \
	(8u * 1024 * 1024) /* bytes of a key file without --keyfile-size, as cryptsetup */
#define SECRET_TRIES 3     /* on a terminal; elsewhere 1 */

struct secret_source {
	const char *key_file;  /* --key-file; "-" = stdin; NULL = terminal or pipe */
	uint64_t offset, size; /* --keyfile-offset, --keyfile-size; size 0 = everything, else
	                          exactly that many bytes */
	const char *prompt;    /* "Passphrase for /dev/sdb1: " */
	bool verify; /* a new passphrase: typed twice; means nothing for pipes and files */
	unsigned int timeout_s; /* terminal only; 0 = for ever */
};
/*
 * Reads one secret by cryptsetup's rules: terminal without echo; a pipe up to the first newline,
 * which is dropped; a key file, or "-" with stdin no terminal: every byte. "-" with stdin a
 * terminal prompts. The terminal's state is restored on every way out, signals included (they are
 * delivered again afterwards). -EPERM the two entries differ, or nothing was typed or piped ·
 * -EINVAL an offset with a terminal, too short a file, nothing in it · -EFBIG too long · -ETIMEDOUT
 * · -EINTR a signal came · -ENOENT, -EACCES … for the file. Warns about a key file that others can
 * read.
 */
int secret_read(const struct secret_source *src, struct secret *out, struct strbuf *why);
/* True when secret_read would prompt: then SECRET_TRIES tries are right, else one. */
bool secret_is_prompted(const struct secret_source *src);
/* How often to ask: `wanted` times or, when that is 0, SECRET_TRIES; once where nobody is prompted. */
uint64_t secret_tries(const struct secret_source *src, uint64_t wanted);
int secret_copy(const void *data, size_t len, struct secret *out);
/*
 * For main, first thing: no core dump, no ptrace by the user's other processes. Failure is logged,
 * not fatal.
 */
void secret_protect_process(void);

/* --- facts of a volume, without activating it ------------------------------------------------ */

enum vol_type { VOL_NONE, VOL_LUKS1, VOL_LUKS2 };
const char *vol_type_name(enum vol_type t); /* "luks1", "luks2", "" */

#define VOL_SLOTS_MAX 32
#define VOL_UUID_MAX  40

struct vol_keyslot {
	int slot;
	bool unbound;                  /* holds no key of this volume */
	char cipher[128];              /* of the slot itself: "aes-xts-plain64" */
	unsigned int key_bits;         /* of the slot's cipher */
	char pbkdf[12];                /* "argon2id", "argon2i", "pbkdf2"; "" = unknown */
	char hash[32];                 /* PBKDF2 only */
	uint32_t iterations;           /* time cost */
	uint32_t memory_kib, parallel; /* 0 for pbkdf2 */
};
struct vol_facts {
	enum vol_type type;
	char cipher[160];        /* as in the header: "aes-cbc-essiv:sha256" */
	bool spec_known;         /* spec_parse took it */
	struct cipher_spec spec; /* with key_bits and sector_size */
	unsigned int key_bits, sector_size;
	char uuid[VOL_UUID_MAX], label[64], subsystem[64];
	uint64_t data_offset; /* bytes */
	uint64_t header_size; /* metadata and key slots, bytes */
	bool detached;
	char integrity[64];  /* "" = none */
	bool reencrypting;   /* an unfinished reencryption: cryptsetup's business */
	uint32_t persistent; /* enum vol_activate_flags kept in the header */
	struct vol_keyslot slot[VOL_SLOTS_MAX];
	size_t n_slots;
	struct strv tokens; /* "0:systemd-tpm2", "1:clevis" */
};
void vol_facts_free(struct vol_facts *f);

/* --- an existing volume: load, facts, open, close -------------------------------------------- */

struct volume;

enum vol_load_flags {
	/*
	 * Look, touch nothing: works on a copy of the metadata in memory, so that libcryptsetup
	 * does not mend a damaged header copy on the device. Such a volume can be asked for facts
	 * only.
	 */
	VOL_PEEK = 1 << 0,
	/* Metadata locks and kernel keyring off (initramfs without /run). */
	VOL_NO_LOCKS = 1 << 1,
	VOL_NO_KEYRING = 1 << 2,
};
/*
 * header NULL: the header is on the device. -EMEDIUMTYPE: no LUKS header there · -EBADMSG: one that
 * cannot be read.
 */
int vol_load(const char *device, const char *header, unsigned int flags, struct volume **out,
             struct strbuf *why);
void vol_free(struct volume *v);
int vol_get_facts(struct volume *v, struct vol_facts *out);

enum vol_activate_flags {
	VOL_READONLY = 1 << 0,
	VOL_ALLOW_DISCARDS = 1 << 1,
	VOL_SAME_CPU_CRYPT = 1 << 2,
	VOL_SUBMIT_FROM_CRYPT_CPUS = 1 << 3,
	VOL_NO_READ_WORKQUEUE = 1 << 4,
	VOL_NO_WRITE_WORKQUEUE = 1 << 5,
	VOL_HIGH_PRIORITY = 1 << 6, /* libcryptsetup 2.8 and kernel 6.10; -EOPNOTSUPP otherwise */
	VOL_PERSISTENT = 1 << 7,    /* keep the flags in the LUKS2 header for later opens */
	VOL_REFRESH = 1 << 8,       /* reload an active mapping with these flags */
};
struct vol_activation {
	const char *name;   /* of the mapping; NULL = --test-passphrase: nothing is opened */
	unsigned int flags; /* enum vol_activate_flags */
	int slot;           /* -1 = any */
};
/* True when this build and the library it runs with can do VOL_HIGH_PRIORITY. */
bool vol_has_high_priority(void);
/*
 * -EPERM wrong passphrase · -ENOENT no such slot, or none active · -EEXIST the name is taken ·
 * -EBUSY device in use · -ENOTSUP reencryption or an unknown requirement. Returns the slot that
 * opened, 0 or more.
 */
int vol_open(struct volume *v, const struct vol_activation *a, const struct secret *s);

struct vol_token {
	int id;                   /* -1 = any */
	const char *type;         /* --token-type; NULL = any */
	const struct secret *pin; /* NULL = none yet */
};
/*
 * Opens by a LUKS2 token through libcryptsetup's plug-ins (systemd, Clevis …). -ENOANO: the token
 * wants a PIN, ask and call again · -EAGAIN hardware of the token is missing · -ENOENT no usable
 * token or plug-in: go on with a passphrase.
 */
int vol_open_token(struct volume *v, const struct vol_activation *a, const struct vol_token *t);
/* deferred: the kernel removes it when its last user is gone. -ENODEV not active · -EBUSY in use.
 */
int vol_close(const char *name, bool deferred);

/* --- refresh.c: an open volume gets a new table ------------------------------------------------ */

/*
 * Loads what is below the open mapping `name`; header NULL: the header is on the device. -ENODEV not
 * open · -EMEDIUMTYPE neither LUKS nor plain, or the header is somewhere else.
 */
int vol_load_active(const char *name, const char *header, unsigned int flags, struct volume **out,
                    struct strbuf *why);
/* True when it has no header: vol_get_facts has nothing to say then. */
bool vol_is_plain(const struct volume *v);
/*
 * The volume key by a passphrase, held against the header's digest. slot -1 = any. Of a plain volume
 * the secret is the key itself, as much of it as the mapping needs, and nothing vouches for it but
 * vol_refresh. 0; -EPERM wrong passphrase or too short a key; -ENOENT no such slot.
 */
int vol_get_key(struct volume *v, int slot, const struct secret *s, struct secret *key);
/* The same by a LUKS2 token; errors as vol_open_token. */
int vol_get_key_by_token(struct volume *v, const struct vol_token *t, struct secret *key);
/*
 * Gives the open mapping a->name a table made anew, which binds to the drivers that the kernel picks
 * now, with exactly the flags a->flags. The kernel builds the table first; if it cannot, the old one
 * was never touched. Then it stops I/O, puts the new table in and lets I/O go on, in one call: no
 * instruction of ours runs meanwhile, but for safety every page of this process is locked before, and
 * stays so until it ends. On any error the old table is live. -EPERM: the key is not the one
 * of the header, or of the live table of a plain mapping · -ENOMEM: pages could not be locked.
 */
int vol_refresh(struct volume *v, const struct vol_activation *a, const struct secret *key);

/*
 * Saves the header as `cryptsetup luksHeaderRestore` wants it: new file 0600 (never over an
 * existing one), file and directory synced. Works from a copy; not one byte of the device changes.
 * -EEXIST, -EMEDIUMTYPE (no LUKS header).
 */
int vol_header_backup(const char *device, const char *file, struct strbuf *why);

/* --- record.c: what an interrupted format leaves behind --------------------------------------- */

#define RECORD_SIZE      512u /* the first sector: what no device tears */
#define RECORD_GIVEN_MAX 6

enum record_state {
	RECORD_NONE,        /* no record here */
	RECORD_INTERRUPTED, /* a format was interrupted: neither the old content nor the new volume
	                       is usable. Format again */
	RECORD_COMPLETE, /* the new header is in place but for its first copy: opens with cryptsetup
	                    or hwluks as it is */
};
struct record_given {
	uint64_t offset; /* block of a signature whose loss was agreed to, multiple of 4096 */
	uint32_t sum;    /* CRC-32 of those 4096 bytes as they were */
};
struct record {
	enum vol_type type;
	char spec[96]; /* target, spec_text(), cut if longer */
	unsigned int key_bits, sector_size;
	char uuid[VOL_UUID_MAX]; /* of the new header */
	uint64_t device_size, data_offset, image_len;
	uint64_t last_offset; /* where the header's decisive block goes, and its SHA-256 */
	uint32_t last_len;
	unsigned char last_sha256[32];
	int64_t when; /* seconds since 1970; 0 = the clock was not to be trusted */
	struct record_given given[RECORD_GIVEN_MAX];
	uint32_t n_given;
};
/* Pure: the 512 bytes on the device. Never a key. */
void record_encode(const struct record *r, unsigned char out[RECORD_SIZE]);
/* 0, -ENOENT (no magic), -EBADMSG (damaged), -ENOTSUP (a later version). */
int record_decode(const unsigned char in[RECORD_SIZE], struct record *r);
/*
 * Reads the record of a device or header file through an open descriptor. *state is RECORD_NONE on
 * -ENOENT, with return 0.
 */
int record_read(int fd, struct record *r, enum record_state *state);
int record_read_path(const char *path, struct record *r, enum record_state *state);
/*
 * Adds the block around this byte to the record's list, as it is now. -ENOSPC: the list is full (a
 * second format asks again).
 */
int record_give(int fd, struct record *r, uint64_t offset);
/*
 * True when the 4 KiB block around this byte is still what it was when its loss was agreed to. A
 * signature for which this is false came later and needs its own word again.
 */
bool record_covers(int fd, const struct record *r, uint64_t offset);

/* --- format --------------------------------------------------------------------------------- */

struct vol_pbkdf {
	char type[12];             /* "argon2id", "argon2i", "pbkdf2" */
	char hash[32];             /* PBKDF2 and anti-forensic splitter */
	uint32_t iter_time_ms;     /* wanted unlock time on this machine; 0 with force_iterations */
	uint32_t force_iterations; /* 0 = measure */
	uint32_t memory_kib, parallel; /* upper bounds; 0 for pbkdf2 */
};
/* What the user said; zero or NULL = default. */
struct vol_pbkdf_request {
	const char *type, *hash;
	uint32_t iter_time_ms, force_iterations, memory_kib, parallel;
};
/*
 * Pure. argon2id for LUKS2, pbkdf2 for LUKS1 (nothing else there); 2000 ms; memory at most 1 GiB
 * and at most half of mem_available_kib (0 = unknown: 64 MiB), also when asked for more (then `why`
 * says so); threads at most 4 and at most cpus. -EINVAL with why for what LUKS1 or the library
 * cannot take.
 */
int vol_pbkdf_plan(enum vol_type type, const struct vol_pbkdf_request *rq,
                   uint64_t mem_available_kib, unsigned int cpus, struct vol_pbkdf *out,
                   struct strbuf *why);

/*
 * Bounds the memory where 4 passes over 64 MiB, the least that libcryptsetup's benchmark tries, take longer than the wanted
 * unlock time (2 s at least: a shorter one asked for does not shrink the memory further); above that the benchmark itself
 * finds what fits. Where even so the cheapest slot costs more than iter_time_ms, that becomes what it costs. Pure. trial_ms:
 * what one unlock took here with VOL_PBKDF_TRIAL_KIB; 0 = too quick to tell. Never below VOL_PBKDF_TRIAL_KIB; keep_memory:
 * the memory was asked for and stays. Leaves pbkdf2 and forced iterations as they are.
 */
#define VOL_PBKDF_TRIAL_KIB 4096u
void vol_pbkdf_bound(struct vol_pbkdf *p, unsigned int trial_ms, bool keep_memory);
/*
 * The same after such a trial: a header with the cheapest key slot is made and opened in memory (10 ms on a current machine, two
 * seconds on a 500 MHz Geode). Where that cannot be done, p stays as it is.
 */
void vol_pbkdf_fit(struct vol_pbkdf *p, bool keep_memory);
/*
 * What one unlock takes here with so many passes (4 at least) of p's Argon2 over p's memory, ms of wall time: a header with such a
 * slot is made and opened in memory. 0 or negative errno.
 */
int vol_pbkdf_trial(const struct vol_pbkdf *p, unsigned int passes, unsigned int *ms);

/* Everything decided, before anything is done. Zeroed fields mean the default. */
struct vol_format_plan {
	enum vol_type type;      /* VOL_NONE = VOL_LUKS2 */
	struct cipher_spec spec; /* key_bits and sector_size set; LUKS1: 512 only */
	struct vol_pbkdf pbkdf;
	const char *label, *subsystem; /* LUKS2 only */
	const char *uuid;              /* NULL = random */
	uint64_t device_size;          /* bytes of the data device */
	uint64_t alignment; /* of the data area, bytes: the device's optimal I/O size; 0 = 1 MiB */
	uint64_t data_offset; /* bytes; 0 = default, or 0 bytes with a detached header */
	bool detached; /* --header: the header goes elsewhere, the data device is not written */
	uint64_t metadata_size, keyslots_size; /* LUKS2; 0 = the library's */
	const char *integrity;                 /* not supported yet: must be NULL */
};
/*
 * Pure. Fills defaults in and refuses what cannot work: device too small, an offset that is not
 * aligned, a sector size that does not divide the data area, labels on LUKS1, … -EINVAL, -ENOSPC
 * (too small), with why.
 */
int vol_format_check(struct vol_format_plan *plan, struct strbuf *why);
/*
 * Keyslot cipher and key bits for a data spec: aes-xts-plain64, 512 whenever the data cipher is
 * weak or not in libcrypto. NULL = the data cipher.
 */
const char *vol_keyslot_cipher(enum vol_type type, const struct cipher_spec *spec,
                               unsigned int *key_bits);

struct vol_header; /* a complete header with one key slot, in memory; encrypted key slots, no key */

struct vol_header_facts {
	char uuid[VOL_UUID_MAX];
	uint64_t image_len; /* bytes that will be written at the start of the target */
	uint64_t data_offset;
	struct vol_keyslot slot;
	unsigned int unlock_ms; /* measured here by the test-open */
};
/*
 * Builds the header in anonymous memory, adds the passphrase, and opens it there once. No device is
 * touched or even named. The plan must have passed vol_format_check. -ENOTSUP: libcryptsetup cannot
 * format with this cipher here.
 */
int vol_format_build(const struct vol_format_plan *plan, const struct secret *s,
                     struct vol_header **out, struct strbuf *why);
const struct vol_header_facts *vol_header_facts(const struct vol_header *h);
void vol_header_free(struct vol_header *h);

/* The record that vol_format_write would leave, for plans and tests. */
const struct record *vol_header_record(const struct vol_header *h);

/*
 * --header FILE: creates it (0600) when absent. An existing file must be told by replace when it is
 * not empty (-EEXIST). *created: the caller removes it again when the format fails before its first
 * write. Then blkdev_open() it as the target.
 */
int vol_header_file_prepare(const char *path, bool replace, bool *created, struct strbuf *why);

/*
 * Writes the header to the target: the device, or the header file. bd is open with BLKDEV_WRITE,
 * locked and rechecked by the caller; its signatures are what gets cleared. Takes the LUKS2
 * metadata lock. On failure the target is in one of the three states and why says which. Order and
 * reasons: header.c.
 */
int vol_format_write(struct vol_header *h, const struct blkdev *bd, struct strbuf *why);
/*
 * Test-open from the device, after it was written: header found by libcryptsetup, passphrase opens
 * slot 0, facts equal the plan's. header NULL: on the device. The caller's exclusive descriptor may
 * stay open. On an image file libcryptsetup's locks are off for the rest of the process, since the
 * caller holds that very lock.
 */
int vol_format_test(struct vol_header *h, const char *device, const char *header,
                    const struct secret *s, struct strbuf *why);

/* --- header.c: the order of writes as data; vol_format_write uses it, its tests look at it ---- */

enum write_what {
	WRITE_RECORD, /* the record in sector 0, and what must vanish together with the old first
	                 block: signatures, old secondary headers. Beyond the image other bytes stay
	               */
	WRITE_CLEAR_SIGNATURE, /* zeros over a signature beyond the new image */
	WRITE_KEYSLOTS,
	WRITE_JSON,     /* both JSON areas, zeros where the secondary binary header will be */
	WRITE_HEADER_2, /* secondary binary header: from here on the new header opens (LUKS2) */
	WRITE_HEADER_1, /* the first block, without the record */
};
struct header_write {
	enum write_what what;
	uint64_t offset, len;
	bool barrier; /* on the medium before the next one starts */
};
struct header_writes {
	struct header_write *v;
	size_t n;
};
struct header_layout {
	enum vol_type type;
	uint64_t bin_len;  /* binary header: 4096 */
	uint64_t hdr_size; /* LUKS2: binary header and JSON area, one copy; LUKS1: 0 */
	uint64_t image_len;
};
/* A range of the target that must not survive: signature or old secondary header. */
struct header_stale {
	uint64_t offset, len;
	bool luks2; /* an old secondary header */
};
/* From a whole header image. -EINVAL: no LUKS header, or its second copy is not where it says. */
int header_layout(const unsigned char *image, uint64_t image_len, struct header_layout *out);
/* Pure: the list, in order. */
void header_plan_writes(const struct header_layout *l, const struct header_stale *stale,
                        size_t n_stale, struct header_writes *out);
void header_writes_free(struct header_writes *w);
/* Offsets where a LUKS2 secondary header can be: 0x4000 … 0x400000. */
extern const uint64_t header_secondary_offsets[9];
/* True when a LUKS2 secondary header's magic is at this offset. */
bool header_has_secondary(int fd, uint64_t offset);
