/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Checks: gathered facts in, findings out, one function per cause of slow encryption.
 * Pure: knows core and util; must not gather, measure or print.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/binding.h"
#include "core/crypt_table.h"
#include "core/crypttab.h"
#include "core/machine.h"
#include "core/policy.h"
#include "core/rate.h"
#include "core/stack.h"

/* --- facts ---------------------------------------------------------------------------------------- */

enum doctor_header_type { HEADER_UNKNOWN, HEADER_NONE, HEADER_LUKS1, HEADER_LUKS2 };

struct doctor_keyslot {
	int slot;
	char pbkdf[12]; /* "argon2id", "argon2i", "pbkdf2"; "" = unknown */
	uint32_t iterations, memory_kib, parallel;
	char hash[32];	       /* PBKDF2 only */
	unsigned int key_bits; /* of the slot's cipher: how much the PBKDF has to make */
	double unlock_s;       /* estimated from its measured speed here; 0 = not measured */
};
/* What the LUKS header says; with HEADER_UNKNOWN `why` says what was in the way. */
struct doctor_header {
	enum doctor_header_type type;
	char why[160];
	unsigned int sector_size;
	uint64_t data_offset; /* bytes */
	char integrity[64];   /* "" = none */
	bool reencrypting;
	struct doctor_keyslot slot[32];
	size_t n_slots;
};

/* One LUKS or plain volume, open or not. */
struct doctor_volume {
	char name[128];	  /* of the mapping; for a volume that is not open its device */
	char device[256]; /* node below, for commands: "/dev/sda2"; "" when not known */
	bool open;
	/* from the table; for a volume that is not open from the header */
	char cipher[256];
	bool spec_known;
	struct cipher_spec spec;
	uint64_t size;	      /* bytes of data; 0 = not known */
	uint64_t data_offset; /* of the data on the device below, bytes */
	unsigned int flags;   /* CRYPT_FLAG_*, open volumes only */
	unsigned int tag_size;
	unsigned int targets; /* more than one while a volume is re-encrypted */
	struct binding binding; /* open volumes only */
	struct verdict verdict; /* of the binding; for a volume that is not open what the kernel would do now */
	struct doctor_header header;
	bool stack_known;
	struct stack stack; /* from the device below the mapping down to the disks */
	/* what lies on the volume: libblkid's type ("ext4", "LVM2_member"), "" when nothing was recognised */
	bool content_known;
	char content[32];
	unsigned int content_block; /* its smallest block, bytes; 0 = not known */
	/* measured: reads of the device below and through the mapping, one request of MEASURED_REQUEST bytes at a time */
	struct rate raw, mapped;
	char measure_why[160]; /* what could not be measured; "" = nothing was missed, or nothing was to be measured */
};

#define MEASURED_REQUEST (1024u * 1024)
#define MEASURED_MAX	 64u /* setups; more are not measured */

/* A way to encrypt that can be measured without a disk. */
struct setup {
	bool is; /* false: none */
	struct cipher_spec spec;
	unsigned int flags; /* CRYPT_FLAG_* that change timing */
	char forced[256];   /* text of the table that names a driver, "capi:..."; "" = the kernel's choice */
};
struct measured_setup {
	struct setup setup;
	char driver[ALG_NAME_MAX]; /* that was seen to do it; "" = could not be told */
	struct rate write, read;
	char why[160]; /* why it could not be measured; "" = it was */
};

enum doctor_tri { TRI_FACT_UNKNOWN, TRI_FACT_NO, TRI_FACT_YES };

struct doctor_facts {
	const struct machine *m;
	const struct load_plan *plan;
	struct doctor_volume *v;
	size_t n;
	char volumes_why[160]; /* why the open volumes could not be listed; "" = they were */
	bool crypttab_known;   /* an absent file is known, and empty */
	struct crypttab crypttab;
	enum doctor_tri fips;
	struct measured_setup *measured;
	size_t n_measured;
};

/* --- findings ------------------------------------------------------------------------------------- */

enum severity { SEVERITY_INFO, SEVERITY_UNKNOWN, SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_PROBLEM };
const char *severity_name(enum severity s); /* "info", "unknown", "note", "warning", "problem": stable, for JSON */

enum remedy_cost { COST_NOTHING, COST_REOPEN, COST_REBOOT, COST_REWRITE, COST_NEW_VOLUME };
const char *cost_name(enum remedy_cost c);     /* "nothing", "reopen", "reboot", "rewrites-all-data", "new-volume" */
const char *cost_sentence(enum remedy_cost c); /* for people */

struct check;
struct finding {
	const struct check *check;
	const struct doctor_volume *volume; /* NULL: the machine */
	enum severity severity;
	char *title;	      /* one sentence */
	struct strv evidence; /* sentences with the values found */
	char *remedy;	      /* one command to paste, or NULL */
	char *no_remedy;      /* then this sentence says why there is none; NULL for what needs none */
	enum remedy_cost cost;
	char *hazards; /* sentences, or NULL */
	char *lasting; /* what keeps it from coming back, or NULL */
	char *gain;    /* with its source, or NULL */
	double factor; /* of the gain, for the order; 0 = not known */
	bool measured; /* the gain was measured here */
	struct setup then; /* how the volume is encrypted when the remedy was carried out; for measuring */
	double rewrite_s;  /* of a remedy that rewrites all data, at measured speed; 0 = not measured */
	const struct finding *absorbed_by; /* the cause that explains it, itself not absorbed */
};
struct findings {
	struct finding **v;
	size_t n;
};

struct finding *finding_add(struct findings *l, const struct doctor_volume *v, enum severity s, const char *fmt, ...)
	PRINTF(4, 5);
void finding_evidence(struct finding *f, const char *fmt, ...) PRINTF(2, 3);
void finding_remedy(struct finding *f, enum remedy_cost cost, const char *fmt, ...) PRINTF(3, 4);
void finding_no_remedy(struct finding *f, const char *fmt, ...) PRINTF(2, 3);
void finding_hazard(struct finding *f, const char *fmt, ...) PRINTF(2, 3); /* adds a sentence */
void finding_lasting(struct finding *f, const char *fmt, ...) PRINTF(2, 3);
void finding_gain(struct finding *f, double factor, const char *fmt, ...) PRINTF(3, 4);
void finding_gain_measured(struct finding *f, double factor, const char *fmt, ...) PRINTF(3, 4);
/* What the remedy costs, for people: "rewrites all data: about 3.4 hours ..." Returns buf. */
const char *finding_cost(const struct finding *f, char *buf, size_t size);
void findings_free(struct findings *l);

/* --- checks --------------------------------------------------------------------------------------- */

enum check_scope { CHECK_MACHINE, CHECK_VOLUME };
struct check {
	const char *id;	   /* stable, for JSON and the docs */
	const char *title; /* what it looks for, one line */
	const char *rows;  /* rows of docs/doctor.md it covers: "7", "3 31" */
	enum check_scope scope;
	/* v is NULL for CHECK_MACHINE */
	void (*run)(const struct doctor_facts *f, const struct doctor_volume *v, struct findings *out);
};
/* In the order in which they weigh, all else being equal. */
extern const struct check check_table[];
extern const size_t check_count;

/*
 * Runs all checks: over the machine and each volume; `only` (may be NULL) leaves out the other volumes. Causes have
 * absorbed what they explain; what costs most stands first, the absorbed ones last.
 */
void doctor_run(const struct doctor_facts *f, const struct doctor_volume *only, struct findings *out);
/* A finding of this severity or above that no other absorbed. */
bool findings_reach(const struct findings *l, enum severity s);
/* The worst finding of a volume that is not absorbed, or NULL. */
const struct finding *findings_worst(const struct findings *l, const struct doctor_volume *v);
/* True when the cause with this id explains that symptom (for tests and docs). */
bool check_absorbs(const char *cause, const char *symptom);

/* --- measured.c: what to measure, and what it says ------------------------------------------------------ */

bool setup_same(const struct setup *a, const struct setup *b);
/* driver NULL: the kernel's choice. Flags that do not change timing are left out. */
void setup_set(struct setup *s, const struct cipher_spec *spec, unsigned int flags, const char *driver);
/* The volume as it is served now. False when that cannot be set up a second time. */
bool setup_now(const struct doctor_facts *f, const struct doctor_volume *v, struct setup *out);
/* For a volume on an engine: the same in software, or by the CPU's own code where it has some. False for others. */
bool setup_rival(const struct doctor_facts *f, const struct doctor_volume *v, struct setup *out);
/* What was measured of it; NULL when nothing was. */
const struct measured_setup *measured_find(const struct doctor_facts *f, const struct setup *s);
const struct measured_setup *measured_now(const struct doctor_facts *f, const struct doctor_volume *v);

/* --- measured_text.c: measurements in a recording -------------------------------------------------------- */

/* A new entry, to be filled; freed with the facts. Valid until the next call. */
struct measured_setup *measured_add(struct doctor_facts *f, const struct setup *s);
/* Lines "device MEDIAN LOW HIGH RUNS", "mapping ...", "unlock SLOT SECONDS", "why ...". */
void measured_volume_to_text(const struct doctor_volume *v, struct strbuf *out);
/* Untrusted text: what is no such line is passed over. The header must have been read before. */
void measured_volume_from_text(const char *text, struct doctor_volume *v);
/* "setup CIPHER BITS SECTOR FLAGS FORCED|-", and for it "driver ...", "write MEDIAN LOW HIGH RUNS", "read ...", "why ...". */
void measured_setups_to_text(const struct doctor_facts *f, struct strbuf *out);
void measured_setups_from_text(const char *text, struct doctor_facts *f);

/* --- header_text.c: a header in a recording ---------------------------------------------------------- */

/* Lines "type luks2", "sector-size 4096", "data-offset BYTES", "keyslot SLOT PBKDF ITERATIONS MEMORY-KIB THREADS", … */
void header_to_text(const struct doctor_header *h, struct strbuf *out);
/* Untrusted text: what is no such line is passed over. Always fills *h. */
void header_from_text(const char *text, struct doctor_header *h);

/* Must be done before freeing what the facts point to; leaves m and plan alone. */
void doctor_facts_free(struct doctor_facts *f);
