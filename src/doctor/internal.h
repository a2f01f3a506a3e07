/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What the files of checks share: the functions of the table, and small questions about a volume.
 * Must not be included outside src/doctor.
 */
#pragma once

#include "doctor/doctor.h"

#define CHECK(name) void cause_##name(const struct doctor_facts *f, const struct doctor_volume *v, struct findings *out)

/* checks_driver.c */
CHECK(driver_late);
CHECK(engine_excluded);
CHECK(engine_slower);
CHECK(engine_out_of_reach);
CHECK(engine_in_front);
CHECK(template_missing);
CHECK(selftest_failed);
CHECK(quarantined);
CHECK(driver_idle);
CHECK(driver_denied);
CHECK(driver_not_loaded);
CHECK(driver_not_installed);
CHECK(driver_not_built);
CHECK(vector_code_off);
CHECK(binding_unknown);
CHECK(selftests_off);
CHECK(algorithms_unread);

/* checks_spec.c */
CHECK(key_size);
CHECK(mode);
CHECK(software);
CHECK(no_aes);
CHECK(vm_hides_aes);
CHECK(foreign_cipher);
CHECK(adiantum_with_aes);
CHECK(cbc_serial);
CHECK(xts_on_arm);
CHECK(xts_long_key);
CHECK(spec_impossible);
CHECK(small_requests);

/* checks_storage.c */
CHECK(sector_size);
CHECK(misaligned);
CHECK(odd_optimal_io);
CHECK(workqueues);
CHECK(workqueues_slow_disk);
CHECK(workqueues_5_9);
CHECK(crypttab_flags);
CHECK(discards);
CHECK(integrity);
CHECK(write_order);
CHECK(volumes_unknown);
CHECK(stack_unknown);

/* checks_machine.c */
CHECK(old_kernel);
CHECK(essiv_refused);
CHECK(retpoline);
CHECK(vaes_unused);
CHECK(fips);
CHECK(fixed_time);
CHECK(af_alg);
CHECK(rng_credit);
CHECK(argon2_memory);
CHECK(argon2_row);
CHECK(header_unknown);

/* measured.c */
CHECK(disk_limits);
CHECK(pbkdf_slow);
CHECK(not_measured);
/* A measured gain that makes advice a warning: the same that makes another spec worth choosing (core/rank.c). */
#define MEASURED_GAIN 1.25
/* The measured gain of a finding whose remedy says what it changes, its severity by it, and how long a rewrite takes. */
void measured_apply(const struct doctor_facts *f, struct finding *x);

/* --- questions ------------------------------------------------------------------------------------- */

static inline bool on_hardware(const struct doctor_volume *v)
{
	return v->verdict.data == PART_HARDWARE;
}

static inline bool in_software(const struct doctor_volume *v)
{
	return v->verdict.data == PART_SOFTWARE;
}

/* The part of "aes", "xchacha12,aes": AES in one of the modes that engines and CPUs serve. */
static inline bool is_aes(const struct cipher_spec *s)
{
	return str_starts(s->api, "xts(aes") || str_starts(s->api, "cbc(aes") || str_starts(s->api, "ecb(aes") ||
	       str_starts(s->api, "ctr(aes");
}

/* The device whose sectors and speed count: the first disk at the bottom, or NULL. */
const struct stack_device *bottom_disk(const struct doctor_volume *v);
/* 1 when some disk below rotates, 0 when none does, STACK_UNKNOWN otherwise. */
int below_rotates(const struct doctor_volume *v);
/* "sd", "nvme", "mmcblk": the disk's kernel name starts so. */
bool disk_is(const struct doctor_volume *v, const char *prefix);
/* "4.3 times in a published run (what, a → b MB/s; source)" as the finding's gain, from the row's best board figure. */
void gain_of_row(struct finding *f, const struct accel *a);
/* The remedy that rewrites a volume to this spec with its hazards checked, or the reason why there is none. */
void rewrite_remedy(struct finding *f, const struct doctor_volume *v, const struct cipher_spec *to);
/* The spec that hwluks would propose here, for the volume's sector size. False when none works better than in software. */
bool best_spec(const struct doctor_facts *f, const struct doctor_volume *v, struct cipher_spec *out);
