/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * From facts to decisions: which accelerators are there, what may be loaded, what a spec would run
 * on, and which spec is best. Pure functions of struct machine and the request; nothing is read here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/accel.h"
#include "core/cipher_spec.h"
#include "core/machine.h"
#include "core/reasons.h"

/* --- what is present, and in which state its driver is -------------------------------------- */

/* How the row was recognised on this machine ("PCI 1022:2082 at 0000:00:01.2"); false when it is not there. */
bool accel_present(const struct machine *m, const struct accel *a, char *how, size_t size);

/* Row of a driver name; of rows that share it (arm-ce and arm64-ce) the one that is here. NULL when none. */
const struct accel *accel_of_driver(const struct machine *m, const char *driver, const struct accel_alg **alg);

enum driver_state {
	DRIVER_UNKNOWN,
	DRIVER_NOT_IN_KERNEL, /* this kernel version has no code for it: removed, or not yet written */
	DRIVER_NO_OPTION,  /* the kernel was built without it */
	DRIVER_NO_MODULE,  /* the option is set, the module file is not installed */
	DRIVER_NOT_LOADED, /* module is there */
	DRIVER_DENIED,	   /* module is there and deny-listed */
	DRIVER_LOADED,	   /* module in, no algorithm of it registered */
	DRIVER_FAILED,	   /* an algorithm of it, or an instance built on one, did not pass its self-test */
	DRIVER_UNTESTED,   /* registered, but the kernel's self-tests are off */
	DRIVER_QUARANTINED, /* registered with priority 0 */
	DRIVER_REGISTERED, /* registered and tested */
};
enum driver_state driver_state(const struct machine *m, const struct accel *a);
/* The algorithm as the kernel lists it; NULL where it does not, or where it is for other kernels. */
const struct alg *accel_alg_listed(const struct machine *m, const struct accel_alg *g);
/* False for an accelerator of which an algorithm failed or was put out of use. */
bool accel_trusted(const struct machine *m, const struct accel *a);
/* Trusted, and not known to be slower than the CPU's own code: only on these specs are proposed. */
bool accel_proposable(const struct machine *m, const struct accel *a);
/* The module that this state hangs on: of a chain the first that is not in. NULL when none of the row's is known. */
const struct module_fact *accel_module(const struct machine *m, const struct accel *a);
/* Kernel to look the tables up with: those older than any that was read count as the oldest, 5.10. */
kver policy_kernel(const struct machine *m);
const char *driver_state_name(enum driver_state s); /* "not-loaded", … stable, for JSON */
/* Kernel options of the row that the kernel's configuration lacks. Added to out; false when no configuration was readable. */
bool accel_missing_options(const struct machine *m, const struct accel *a, struct strv *out);
/* May dm-crypt use this accelerator on this kernel? By the run-time flag where known, else by the row. */
enum accel_dmcrypt accel_usable(const struct machine *m, const struct accel *a);

/*
 * The CPU's AES row from which an engine would take, or takes, an algorithm by priority; *by is the engine's. NULL when none.
 * A priority is not a speed, so this is no gain until measured.
 */
const struct accel *policy_outranked_cpu(const struct machine *m, const struct accel *a, const struct accel_alg **by);
/* The CPU's own AES instructions, by its flags; PadLock is an accelerator row of its own and not meant here. */
/* This kernel has no dm-crypt, neither as a module nor built in. False when that is not known. */
bool policy_no_dm_crypt(const struct machine *m);
bool policy_cpu_has_aes(const struct machine *m);

/* --- load plan -------------------------------------------------------------------------------- */

struct load_request {
	const char *const *names; /* accelerator ids, module or driver names asked for; NULL = none */
	size_t n_names;
	bool all;   /* also those that would outrank or are known to be slower than the CPU */
	bool force; /* over deny lists */
};
enum load_action { LOAD_SKIP, LOAD_NOTHING_TO_DO, LOAD_MODULE, LOAD_PREPARE };
struct load_item {
	enum load_action action;
	const struct accel *accel;
	char what[ALG_NAME_MAX]; /* module to load, or template instance to prepare: "xts(ecb-aes-geode)" */
	bool rng;		 /* the row's RNG driver */
	struct reason why;
};
struct load_plan {
	struct load_item *v;
	size_t n;
	struct strv unknown; /* names asked for that fit no row */
};
void policy_load_plan(const struct machine *m, const struct load_request *rq, struct load_plan *out);
void load_plan_free(struct load_plan *p);
/* True when anything would be loaded or prepared. */
bool load_plan_acts(const struct load_plan *p);

/* --- verdict on a spec ------------------------------------------------------------------------ */

enum verdict_kind { VERDICT_ACCELERATED, VERDICT_PARTLY, VERDICT_SOFTWARE, VERDICT_UNKNOWN, VERDICT_IMPOSSIBLE };
enum action { ACTION_PROCEED, ACTION_REFUSE };
enum part { PART_NONE, PART_HARDWARE, PART_SOFTWARE, PART_UNKNOWN };
const char *verdict_name(enum verdict_kind v);
const char *action_name(enum action a);
const char *part_name(enum part p);

struct verdict {
	struct cipher_spec spec;
	enum verdict_kind verdict;
	enum action action;
	enum part data, iv, tweak;
	char driver[ALG_NAME_MAX];   /* what the kernel would bind for the data path; "" when not known */
	const struct accel *accel;   /* row that does the data path; NULL when unknown or not in the table */
	struct reasons reasons;
	bool has_nearest;	     /* a spec of the same or a better class that the hardware does serve */
	struct cipher_spec nearest;
};
void verdict_free(struct verdict *v);

/*
 * Judges one spec (key_bits must be set) as the kernel would serve it after `plan` was carried out
 * (NULL: as it is now). Always fills *out; free with verdict_free.
 */
void policy_decide(const struct machine *m, const struct load_plan *plan, const struct cipher_spec *spec, struct verdict *out);

/*
 * Judges an *open* volume: the driver is known (or NULL), not predicted. Fills data, iv, tweak, verdict,
 * reasons as policy_decide does.
 */
void policy_judge_binding(const struct machine *m, const struct cipher_spec *spec, const char *driver, struct verdict *out);

/*
 * Drivers that an open mapping of this spec may hold, most likely first, from the machine's list as it is now
 * (refcnt of the caller's concern). Returns the number written to out, at most max.
 */
size_t policy_candidates(const struct machine *m, const struct cipher_spec *spec, const struct alg **out, size_t max);

/* --- choosing ---------------------------------------------------------------------------------- */

/* A rate known for a spec: measured on this machine, MB/s (10^6 bytes), both directions. */
struct measurement {
	struct cipher_spec spec;
	double write_mbps, read_mbps;
};

struct ranked {
	struct verdict verdict;
	double mbps;	/* mean of write and read when measured, else 0 */
	char *why;	/* one sentence: why it stands where it stands */
};
struct ranking {
	struct ranked *v; /* best first */
	size_t n;
	struct reasons notes; /* about the machine: vm-hides-aes, no-aes, … */
};
/*
 * Ranks the specs hwluks would propose (standard class only) for this machine; sector_size as for the device.
 * `meas` may be NULL. The first is the default of format.
 */
void policy_rank(const struct machine *m, const struct load_plan *plan, unsigned int sector_size,
		 const struct measurement *meas, size_t n_meas, struct ranking *out);
void ranking_free(struct ranking *r);
