/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Checks of what lies below a volume and of dm-crypt's flags: sectors, alignment, queues, discards.
 * Must not judge ciphers or drivers.
 */
#include <string.h>

#include "doctor/internal.h"

#define NO_WORKQUEUES (CRYPT_FLAG_NO_READ_WORKQUEUE | CRYPT_FLAG_NO_WRITE_WORKQUEUE)

/* --- questions to the stack ----------------------------------------------------------------------------- */

static bool is_bottom(const struct stack *s, size_t i)
{
	return i + 1 == s->n || s->v[i + 1].depth <= s->v[i].depth;
}

const struct stack_device *bottom_disk(const struct doctor_volume *v)
{
	for (size_t i = 0; v->stack_known && i < v->stack.n; i++)
		if (is_bottom(&v->stack, i))
			return &v->stack.v[i];
	return NULL;
}

int below_rotates(const struct doctor_volume *v)
{
	int answer = v->stack_known && v->stack.n && !v->stack.cut ? 0 : STACK_UNKNOWN;

	for (size_t i = 0; v->stack_known && i < v->stack.n; i++) {
		if (!is_bottom(&v->stack, i))
			continue;
		if (v->stack.v[i].rotational == 1)
			return 1;
		if (v->stack.v[i].rotational == STACK_UNKNOWN)
			answer = STACK_UNKNOWN;
	}
	return answer;
}

bool disk_is(const struct doctor_volume *v, const char *prefix)
{
	const struct stack_device *d = bottom_disk(v);

	return d && str_starts(d->name, prefix);
}

CHECK(stack_unknown)
{
	const struct stack_device *d = bottom_disk(v);
	struct finding *x;

	(void)f;
	if (d && d->rotational != STACK_UNKNOWN && d->physical > 0 && !v->stack.cut)
		return;
	x = finding_add(out, v, SEVERITY_UNKNOWN, "What kind of disk is below %s cannot be told.", v->name);
	finding_evidence(x, !d ? "The devices below it could not be read." : v->stack.cut ? "There are more devices below it than were read." :
			 "The disk %s does not state all of its sector size and kind.", d ? d->name : "");
	finding_evidence(x, "Sector sizes, alignment and workqueue flags were not judged in full.");
}

/* --- sectors (15, 16) -------------------------------------------------------------------------------------- */

CHECK(sector_size)
{
	const struct stack_device *d = bottom_disk(v);
	struct cipher_spec to = v->spec;
	struct finding *x;

	(void)f;
	if (!d || !v->spec_known || v->spec.sector_size > 512 || (d->physical < 4096 && !str_starts(d->name, "nvme")))
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "%s is encrypted in sectors of 512 bytes on a disk that likes larger ones.", v->name);
	if (d->physical > 0)
		finding_evidence(x, "%s: physical sectors of %lld bytes, logical of %lld.", d->name, (long long)d->physical,
				 (long long)d->logical);
	finding_evidence(x, "Each 4096-byte block takes eight IVs and eight requests instead of one.");
	to.sector_size = 4096;
	rewrite_remedy(x, v, &to);
	finding_gain(x, 1.5, "1.5 times in one published run, 3 to 5 times in another. Not measured here.");
}

/* Bytes by which the volume's data misses the sectors of the disk, as far as partitions tell. */
static int64_t misses_by(const struct doctor_volume *v, int64_t sector)
{
	int64_t start = (int64_t)v->data_offset;

	for (size_t i = 0; i < v->stack.n; i++)
		if (v->stack.v[i].kind == STACK_PARTITION && v->stack.v[i].start > 0)
			start += v->stack.v[i].start;
	return start % sector;
}

static bool chain_only(const struct stack *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind == STACK_DM || s->v[i].kind == STACK_MD || s->v[i].depth != i)
			return false;
	return s->n > 0;
}

static void report_misaligned(const struct doctor_volume *v, const struct stack_device *d, struct findings *out)
{
	struct finding *x = finding_add(out, v, d->physical >= 4096 ? SEVERITY_WARNING : SEVERITY_NOTE,
					"The data of %s does not start on a sector of the disk.", v->name);

	for (size_t i = 0; i < v->stack.n; i++) {
		const struct stack_device *s = &v->stack.v[i];

		if (s->kind == STACK_PARTITION)
			finding_evidence(x, "%s starts at byte %lld of its disk.", s->name, (long long)s->start);
		if (s->alignment_offset == STACK_MISALIGNED)
			finding_evidence(x, "The kernel calls %s misaligned.", s->name);
	}
	finding_evidence(x, "The data starts at byte %llu of it; %s has physical sectors of %lld bytes.", (unsigned long long)v->data_offset,
			 d->name, (long long)d->physical);
	x->cost = COST_NEW_VOLUME;
	finding_no_remedy(x, "Nothing that is there can be moved in place: a new partition that starts at 1 MiB, 'hwluks format' on it, and the "
			     "data copied.");
	finding_gain(x, 0, "Each write touches two sectors of the disk and reads one first. Not measured here.");
}

CHECK(misaligned)
{
	const struct stack_device *d = bottom_disk(v);
	bool off = false;

	(void)f;
	if (!d || (d->physical < 4096 && d->rotational != 0))
		return;
	for (size_t i = 0; i < v->stack.n; i++)
		off |= v->stack.v[i].alignment_offset == STACK_MISALIGNED;
	if (off || (chain_only(&v->stack) && misses_by(v, 4096)))
		report_misaligned(v, d, out);
}

CHECK(odd_optimal_io)
{
	const struct stack_device *d = bottom_disk(v);
	struct finding *x;

	(void)f;
	if (!d || d->optimal_io <= 0 || d->optimal_io % 4096 == 0)
		return;
	x = finding_add(out, v, SEVERITY_INFO, "%s states an optimal request size that is none.", d->name);
	finding_evidence(x, "optimal_io_size is %lld bytes, no multiple of 4096%s.", (long long)d->optimal_io,
			 d->optimal_io == 33553920 ? " (65535 sectors: what USB bridges make of 'no limit')" : "");
	finding_no_remedy(x, "It matters only when a volume is made: give 'cryptsetup luksFormat' an --offset of your own (65536 sectors); "
			     "'hwluks format' does not follow such a value.");
}

/* --- flags (17, 18, 19, 20, 36, 42) --------------------------------------------------------------------------- */

static const struct {
	unsigned int flag;
	const char *option, *crypttab;
} flag_words[] = {
	{ CRYPT_FLAG_ALLOW_DISCARDS, "--allow-discards", "discard" },
	{ CRYPT_FLAG_SAME_CPU_CRYPT, "--perf-same_cpu_crypt", "same-cpu-crypt" },
	{ CRYPT_FLAG_SUBMIT_FROM_CRYPT_CPUS, "--perf-submit_from_crypt_cpus", "submit-from-crypt-cpus" },
	{ CRYPT_FLAG_NO_READ_WORKQUEUE, "--perf-no_read_workqueue", "no-read-workqueue" },
	{ CRYPT_FLAG_NO_WRITE_WORKQUEUE, "--perf-no_write_workqueue", "no-write-workqueue" },
};

/* The refresh that leaves the volume with exactly these flags. LUKS2 keeps them in the header, where they outlive crypttab. */
static void refresh_remedy(struct finding *x, const struct doctor_volume *v, unsigned int flags)
{
	struct strbuf words = { 0 };
	bool keep = v->header.type == HEADER_LUKS2;

	for (size_t i = 0; i < ARRAY_SIZE(flag_words); i++)
		if (flags & flag_words[i].flag)
			strbuf_printf(&words, " %s", flag_words[i].option);
	if (v->spec_known && (flags ^ v->flags) & ~(unsigned)CRYPT_FLAG_ALLOW_DISCARDS)
		setup_set(&x->then, &v->spec, flags, NULL);
	finding_remedy(x, COST_NOTHING, "hwluks refresh%s%s %s", words.s ? words.s : " --clear-flags", keep ? " --persistent" : "", v->name);
	finding_hazard(x, "It asks for a passphrase of the volume, and stops I/O for a moment.");
	if (!keep)
		finding_lasting(x, "Only a LUKS2 header keeps flags; otherwise write them into the options of /etc/crypttab.");
	strbuf_free(&words);
}

static bool cpu_encrypts(const struct doctor_volume *v)
{
	return on_hardware(v) && v->verdict.accel && v->verdict.accel->kind == ACCEL_CPU;
}

CHECK(workqueues)
{
	struct finding *x;

	if (!v->open || v->flags & NO_WORKQUEUES || !cpu_encrypts(v) || f->m->kernel < KVER(5, 10) || below_rotates(v) != 0 ||
	    disk_is(v, "mmcblk"))
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "%s lies on a fast disk and hands each request to a workqueue.", v->name);
	finding_evidence(x, "Neither no_read_workqueue nor no_write_workqueue is in its table; %s does not rotate and the CPU encrypts by itself.",
			 bottom_disk(v)->name);
	refresh_remedy(x, v, v->flags | NO_WORKQUEUES);
	finding_gain(x, 0, "1.3 times in one published run (116 to 150 MiB/s), none in another: measure before and after.");
}

static bool slow_medium(const struct doctor_volume *v)
{
	return below_rotates(v) == 1 || disk_is(v, "mmcblk");
}

CHECK(workqueues_slow_disk)
{
	struct finding *x;
	char text[160];

	(void)f;
	if (!v->open || !(v->flags & NO_WORKQUEUES) || !slow_medium(v))
		return;
	x = finding_add(out, v, SEVERITY_WARNING, "%s bypasses the workqueues on a slow medium: writers may stall.", v->name);
	finding_evidence(x, "Flags: %s.", crypt_flags_text(v->flags, text, sizeof(text)));
	finding_evidence(x, "%s %s.", bottom_disk(v)->name, disk_is(v, "mmcblk") ? "is an SD card or eMMC" : "rotates");
	refresh_remedy(x, v, v->flags & ~(unsigned)NO_WORKQUEUES);
	finding_lasting(x, "Take no-read-workqueue and no-write-workqueue out of /etc/crypttab as well.");
	finding_gain(x, 0, "Stalls under write load were gone in a published report. Not measured here.");
}

CHECK(workqueues_5_9)
{
	struct finding *x;

	if (!v->open || !(v->flags & NO_WORKQUEUES) || f->m->kernel != KVER(5, 9))
		return;
	x = finding_add(out, v, SEVERITY_PROBLEM, "%s uses workqueue flags that can crash this kernel.", v->name);
	finding_evidence(x, "Kernel %s; the flags came with 5.9 and were mended in 5.10.", f->m->release);
	refresh_remedy(x, v, v->flags & ~(unsigned)NO_WORKQUEUES);
	finding_lasting(x, "A kernel of 5.10 or later can have them back.");
}

CHECK(crypttab_flags)
{
	const struct crypttab_entry *e = v->open ? crypttab_find(&f->crypttab, v->name) : NULL;
	unsigned int missing = 0;
	struct finding *x;

	if (v->open && !f->crypttab_known) {
		x = finding_add(out, v, SEVERITY_UNKNOWN, "Whether %s has the options of /etc/crypttab cannot be told.", v->name);
		finding_evidence(x, "/etc/crypttab could not be read.");
	}
	for (size_t i = 0; e && i < ARRAY_SIZE(flag_words); i++)
		if (crypttab_option(e, flag_words[i].crypttab, NULL, 0) && !(v->flags & flag_words[i].flag))
			missing |= flag_words[i].flag;
	if (!missing)
		return;
	x = finding_add(out, v, SEVERITY_WARNING, "/etc/crypttab asks for options that are not in force on %s.", v->name);
	for (size_t i = 0; i < ARRAY_SIZE(flag_words); i++)
		if (missing & flag_words[i].flag)
			finding_evidence(x, "'%s' is in crypttab and not in the table of the mapping.", flag_words[i].crypttab);
	finding_evidence(x, "What opened it (an old systemd, the boot image, a person) did not take them over.");
	if (missing & NO_WORKQUEUES && slow_medium(v)) {
		finding_evidence(x, "%s is a slow medium, where bypassing the workqueues makes writers stall.", bottom_disk(v)->name);
		finding_no_remedy(x, "Take no-read-workqueue and no-write-workqueue out of /etc/crypttab instead.");
		return;
	}
	refresh_remedy(x, v, v->flags | missing);
}

CHECK(discards)
{
	struct finding *x;

	(void)f;
	if (!v->open || v->flags & CRYPT_FLAG_ALLOW_DISCARDS || below_rotates(v) != 0 || v->stack.v[0].discard_granularity <= 0)
		return;
	x = finding_add(out, v, SEVERITY_INFO, "%s does not pass discards (TRIM) on to the disk.", v->name);
	finding_evidence(x, "%s takes discards of %lld bytes; allow_discards is not in the table.", v->stack.v[0].name,
			 (long long)v->stack.v[0].discard_granularity);
	refresh_remedy(x, v, v->flags | CRYPT_FLAG_ALLOW_DISCARDS);
	finding_hazard(x, "It reveals which blocks are in use, and so something about what is on the volume.");
	finding_gain(x, 0, "Some disks write slower when they never learn what is free; no figure is published. Not measured here.");
}

CHECK(write_order)
{
	struct finding *x;

	if (!v->open || !f->m->kernel || f->m->kernel >= KVER(5, 9) || below_rotates(v) != 1 ||
	    v->flags & (CRYPT_FLAG_SAME_CPU_CRYPT | CRYPT_FLAG_SUBMIT_FROM_CRYPT_CPUS))
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "This kernel may reorder writes of %s to a rotating disk.", v->name);
	finding_evidence(x, "Kernel %s, older than 5.9; %s rotates; neither same_cpu_crypt nor submit_from_crypt_cpus is set.", f->m->release,
			 bottom_disk(v)->name);
	refresh_remedy(x, v, v->flags | CRYPT_FLAG_SAME_CPU_CRYPT | CRYPT_FLAG_SUBMIT_FROM_CRYPT_CPUS);
	finding_gain(x, 0, "No figure is published; not measured here.");
}

/* --- integrity (37) ---------------------------------------------------------------------------------------------- */

CHECK(integrity)
{
	bool below = false;
	struct finding *x;

	(void)f;
	for (size_t i = 0; v->stack_known && i < v->stack.n; i++)
		below |= !strcmp(v->stack.v[i].dm_type, "INTEGRITY");
	if (!v->tag_size && !*v->header.integrity && !below)
		return;
	x = finding_add(out, v, SEVERITY_NOTE, "%s has integrity tags, whose journal writes everything twice.", v->name);
	if (v->tag_size)
		finding_evidence(x, "Tags of %u bytes a sector.", v->tag_size);
	if (*v->header.integrity)
		finding_evidence(x, "The header says %s.", v->header.integrity);
	finding_evidence(x, "Whether a journal or a bitmap is in use was not read.");
	finding_no_remedy(x, "A bitmap instead of the journal (integritysetup --integrity-bitmap-mode; for LUKS2 only without authentication) "
			     "weakens what a crash leaves behind: the owner's decision.");
	finding_gain(x, 0, "Up to 2 times in a published run. Not measured here.");
}

CHECK(volumes_unknown)
{
	struct finding *x;

	(void)v;
	if (!*f->volumes_why)
		return;
	x = finding_add(out, NULL, SEVERITY_UNKNOWN, "Which volumes are open, and what serves them, is not known.");
	finding_evidence(x, "%s", f->volumes_why);
}
