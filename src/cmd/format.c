/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks format: parse → gather → decide → show the plan → verify the driver → ask → write → test-open.
 * Everything that can refuse comes before the first write; must not interleave deciding and writing.
 */
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "fill/fill.h"
#include "vol/measure.h"
#include "vol/vol.h"

struct format_job {
	struct cmd_context *c;
	struct machine m;
	struct load_plan load;
	struct bringup up;
	struct blkdev bd;      /* the data device */
	struct blkdev hdr;     /* the header file, with --header */
	struct record old_record;
	enum record_state old_state;
	struct cipher_spec spec;
	unsigned int asked_bits; /* key size before --adapt; 0 = not adapted */
	struct verdict verdict;
	bool judged, chosen; /* chosen: by hwluks, not by name */
	struct measurement meas[2];
	size_t n_meas;
	struct strbuf why_chosen, verified;
	struct vol_format_plan plan;
	const char *result; /* for JSON */
};

/* --- interrupted before anything was written -------------------------------------------------------- */

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

static void on_end(int sig)
{
	static const char text[] = "\nhwluks: Stopped. Nothing was written.\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)n;
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Until the first write a signal that ends us says so first. */
static void say_when_stopped(bool on)
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct sigaction sa = { .sa_handler = on ? on_end : SIG_DFL }, old;

		if (!sigaction(ends[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(ends[i], &sa, NULL);
	}
}

/* --- options that contradict each other ------------------------------------------------------------- */

static int refuse_options(const char *sentence)
{
	log_error("%s", sentence);
	return -EINVAL;
}

static int check_type(struct format_job *j)
{
	const char *t = j->c->opt.type;

	if (!t || is_type(t, "luks2") || is_type(t, "luks")) {
		j->plan.type = VOL_LUKS2;
	} else if (is_type(t, "luks1")) {
		j->plan.type = VOL_LUKS1;
	} else {
		log_error("--type %s: hwluks formats luks2 and luks1; the rest stays with cryptsetup.", t);
		return -EINVAL;
	}
	return 0;
}

static int check_options(struct format_job *j)
{
	const struct options *o = &j->c->opt;
	uint64_t s = o->sector_size;

	if (check_type(j))
		return -EINVAL;
	if (o->adapt && o->software)
		return refuse_options("--adapt and --software exclude each other: one changes the spec, the other keeps it.");
	if (o->adapt && !o->cipher)
		return refuse_options("--adapt changes a spec that was asked for: add --cipher, or leave --adapt out.");
	if (check_sector_size(o))
		return -EINVAL;
	if (s > 512 && j->plan.type == VOL_LUKS1)
		return refuse_options("LUKS1 has 512-byte sectors only: leave --sector-size out, or use --type luks2.");
	if (o->cipher)
		return spec_from_options(o, &j->spec);
	return 0;
}

/* A file that will be written after the volume is there must not turn out impossible then. */
static int check_new_file(const char *option, const char *path)
{
	cleanup_free char *copy = xstrdup(path);
	const char *dir;

	if (!path)
		return 0;
	if (!access(path, F_OK)) {
		log_error("--%s %s: the file exists already. Nothing was written.", option, path);
		return -EEXIST;
	}
	dir = dirname(copy);
	if (access(dir, W_OK | X_OK)) {
		log_error("--%s %s: no file can be made in %s: %s. Nothing was written.", option, path, dir, strerror(errno));
		return -errno == -EACCES ? -EACCES : -EINVAL;
	}
	return 0;
}

static int check_files(const struct options *o)
{
	int r;

	if (o->old_header_backup && o->header_backup_file && !strcmp(o->old_header_backup, o->header_backup_file))
		return refuse_options("--old-header-backup and --header-backup-file name the same file.");
	r = check_new_file("old-header-backup", o->old_header_backup);
	return r ? r : check_new_file("header-backup-file", o->header_backup_file);
}

/* --- the device: every refusal before anything else is touched ------------------------------------------ */

static const struct record *old_record(const struct format_job *j)
{
	return j->old_state == RECORD_NONE ? NULL : &j->old_record;
}

static int read_record(struct format_job *j, const struct blkdev *bd)
{
	int r = record_read(bd->fd, &j->old_record, &j->old_state);

	if (r == -EBADMSG) {
		log_warn("%s: a record of an interrupted hwluks format is there, but damaged; the device counts as holding nothing.", bd->path);
		return 0;
	}
	if (r)
		log_error("Cannot read %s: %s.", bd->path, strerror(-r));
	else if (j->old_state != RECORD_NONE)
		log_note("%s: an earlier hwluks format was interrupted here; this one finishes the work.", bd->path);
	return r;
}

/* Bytes that libblkid does not know may be somebody's all the same; zeros are a file made for the purpose. */
static int refuse_unknown_content(const struct format_job *j, const struct blkdev *bd)
{
	char buf[65536];
	ssize_t n = pread(bd->fd, buf, sizeof(buf), 0);

	if (!bd->file || bd->n_sig || j->old_state != RECORD_NONE || j->c->opt.wipe_signatures)
		return 0;
	for (ssize_t i = 0; i < n; i++) {
		if (!buf[i])
			continue;
		log_error("Header file %s holds something that is no header. Add --wipe-signatures to destroy it.", bd->path);
		return -EEXIST;
	}
	return 0;
}

static bool wants_fill(const struct format_job *j)
{
	return j->c->opt.fill && strcmp(j->c->opt.fill, "none") != 0;
}

/* The new header takes the place of a fill's record; a detached one would leave it on the data, to be resumed over it. */
static int check_fill_record(struct format_job *j, const struct blkdev *bd)
{
	struct fill_record f;

	if (wants_fill(j))
		return fill_for_format_check(j->c, &j->bd);
	if (fill_slots_read(bd->fd, &f))
		return 0;
	if (j->c->opt.header) {
		log_error("%s: a fill was interrupted here. Finish it with hwluks fill --resume first. Nothing was written.", bd->path);
		return -EEXIST;
	}
	log_note("%s: a fill was interrupted here; the rest of the device stays unfilled.", bd->path);
	return 0;
}

/* Where the header goes: what is there needs the same words as on a device. */
static int check_target(struct format_job *j, struct blkdev *bd)
{
	int r = target_refuse_in_use(bd);

	if (!r && bd->readonly) {
		log_error("%s is read-only.", bd->path);
		return -EROFS;
	}
	if (!r)
		r = read_record(j, bd);
	if (!r)
		r = target_refuse_signatures(&j->c->opt, bd, old_record(j), true);
	return r;
}

static int check_header_file(struct format_job *j)
{
	const char *path = j->c->opt.header;
	int r;

	if (access(path, F_OK))
		return check_new_file("header", path);
	r = target_open(path, !j->c->opt.dry_run, &j->hdr);
	if (!r)
		r = check_target(j, &j->hdr);
	return r ? r : refuse_unknown_content(j, &j->hdr);
}

static int check_device(struct format_job *j)
{
	int r = check_files(&j->c->opt);

	if (!r)
		r = target_open(j->c->arg[0], !j->c->opt.dry_run, &j->bd);
	if (!r)
		r = check_fill_record(j, &j->bd);
	if (r || !j->c->opt.header)
		return r ? r : check_target(j, &j->bd);
	/* the data device is not written now, but whatever is on it will be overwritten in use */
	r = target_refuse_in_use(&j->bd);
	if (!r)
		r = target_refuse_signatures(&j->c->opt, &j->bd, old_record(j), true);
	return r ? r : check_header_file(j);
}

/* --- the hardware and the spec --------------------------------------------------------------------------- */

static unsigned int sector_size(const struct format_job *j)
{
	if (j->c->opt.sector_size)
		return (unsigned int)j->c->opt.sector_size;
	if (j->plan.type == VOL_LUKS1)
		return 512;
	return j->bd.physical_sector >= 4096 && j->bd.size % 4096 == 0 ? 4096 : 512;
}

/* In software: what is left of a failed instance of the engine's driver would be in the way. */
static void take_out_failed(struct format_job *j)
{
	struct strbuf text = { 0 };

	if (!j->c->opt.dry_run && !geteuid() && bringup_take_out_failed(&j->c->root, &j->m, &text))
		log_warn("%s", text.s);
	strbuf_free(&text);
}

static int bring_up(struct format_job *j)
{
	struct bringup_options how = { .verify = false };
	int r = probe_machine(&j->c->root, PROBE_FOR_OPEN | PROBE_KCONFIG | PROBE_MEMORY |
			      (j->c->opt.dry_run || geteuid() ? 0 : PROBE_LOAD), &j->m);

	if (r) {
		log_error("Cannot look at this machine: %s.", strerror(-r));
		return r;
	}
	if (policy_no_dm_crypt(&j->m)) {
		log_warn("This kernel has no dm-crypt (CONFIG_DM_CRYPT): the volume can be made here, but not opened.");
		j->m.elsewhere = true;
	}
	if (j->c->opt.software)
		take_out_failed(j);
	policy_load_plan(&j->m, NULL, &j->load);
	if (j->c->opt.dry_run || j->c->opt.software || !load_plan_acts(&j->load))
		return 0;
	if (geteuid()) {
		log_warn("Not root: drivers that are not loaded yet stay out.");
		return 0;
	}
	r = bringup_run(&j->c->root, &j->m, &j->load, &how, &j->up);
	for (size_t i = 0; i < j->up.n; i++)
		log_at(j->up.v[i].err ? LOG_LEVEL_WARN : LOG_LEVEL_VERBOSE, "%s: %s", j->up.v[i].item->what, j->up.v[i].text);
	if (r == EXIT_DRIVER_BAD) {
		log_error("The accelerator's driver is broken and was taken out. Nothing was written. --software formats without it.");
		return r;
	}
	return 0;
}

/* An engine that failed its test, now or earlier since this boot: going on in software is the user's decision. */
static int refuse_broken(const struct format_job *j)
{
	enum driver_state s;
	const struct accel *a = bringup_broken(&j->m, &s);

	if (!a)
		return 0;
	log_error("The %s is here, but its driver %s. Nothing was written. --software formats without it.", a->name,
		  s == DRIVER_FAILED ? "did not pass the kernel's self-test" : "failed and was taken out of use");
	return EXIT_DRIVER_BAD;
}

/* What the kernel does now; in a dry run what it would do once the drivers are loaded. */
static const struct load_plan *outlook(const struct format_job *j)
{
	return j->c->opt.dry_run && !j->c->opt.software ? &j->load : NULL;
}

static void judge(struct format_job *j)
{
	if (j->judged)
		verdict_free(&j->verdict);
	policy_decide(&j->m, outlook(j), &j->spec, &j->verdict);
	j->judged = true;
}

static int refuse_impossible(struct format_job *j)
{
	char text[256];

	log_error("%s cannot work on this machine. Nothing was written.", spec_describe(&j->spec, text, sizeof(text)));
	for (size_t i = 0; i < j->verdict.reasons.n; i++)
		log_note("- %s", j->verdict.reasons.v[i].text);
	j->result = "impossible";
	return -EINVAL;
}

static int refuse_spec(struct format_job *j)
{
	char text[256];

	log_error("%s is refused: the hardware here serves this cipher otherwise. Nothing was written.",
		  spec_describe(&j->spec, text, sizeof(text)));
	for (size_t i = 0; i < j->verdict.reasons.n; i++)
		log_note("- %s", j->verdict.reasons.v[i].text);
	log_note("The nearest that runs on it: %s", spec_options(&j->verdict.nearest, text, sizeof(text)));
	log_note("--adapt takes that one; --software keeps yours, in software.");
	j->result = "refused";
	return EXIT_SPEC_REFUSED;
}

static int judge_asked(struct format_job *j)
{
	j->spec.sector_size = sector_size(j);
	judge(j);
	if (j->verdict.verdict == VERDICT_IMPOSSIBLE)
		return refuse_impossible(j);
	if (j->verdict.action == ACTION_PROCEED || j->c->opt.software)
		return 0;
	if (!j->c->opt.adapt)
		return refuse_spec(j);
	j->asked_bits = j->spec.key_bits;
	j->spec = j->verdict.nearest;
	judge(j);
	return 0;
}

/* --- choosing without --cipher ------------------------------------------------------------------------------ */

/* True when an engine without an XTS of its own serves the spec: then only a measurement tells whether xts pays. */
static bool worth_measuring(const struct verdict *v)
{
	return v->data == PART_HARDWARE && str_starts(v->driver, "xts(");
}

static int measure_one(struct format_job *j, const struct cipher_spec *spec)
{
	/* two specs, two directions, a warm-up and two runs of 200 ms each: below the three seconds that design allows */
	struct measure_request rq = { .spec = spec, .run_ms = 200, .runs = 2 };
	struct measure_result res = { 0 };
	struct strbuf text = { 0 };
	char name[256];
	int r = bringup_verify(&j->c->root, &j->m, spec, VERIFY_ALWAYS, &text);

	if (r == EXIT_DRIVER_BAD)
		log_error("%s Nothing was written.", text.s);
	strbuf_free(&text);
	if (r)
		return r == EXIT_DRIVER_BAD ? r : 0;
	spec_describe(spec, name, sizeof(name));
	if (!measure_spec(&rq, &res) && j->n_meas < ARRAY_SIZE(j->meas)) {
		j->meas[j->n_meas] = res.m;
		j->meas[j->n_meas++].spec = *spec;
		log_verbose("Measured %s: %.1f MB/s written, %.1f MB/s read.", name, res.m.write_mbps, res.m.read_mbps);
	} else {
		log_warn("%s could not be measured: %s", name, *res.text ? res.text : "the limit passed");
	}
	return 0;
}

/* The best xts and the best rival that the hardware serves. */
static int measure_rivals(struct format_job *j, const struct ranking *rank)
{
	int r = measure_one(j, &rank->v[0].verdict.spec);

	for (size_t i = 1; i < rank->n && !r; i++) {
		const struct verdict *v = &rank->v[i].verdict;

		if (v->data == PART_HARDWARE && !spec_is_xts(&v->spec))
			return measure_one(j, &v->spec);
	}
	return r;
}

static const struct ranked *first_that_fits(const struct ranking *rank, uint64_t key_size)
{
	for (size_t i = 0; i < rank->n; i++)
		if ((!key_size || rank->v[i].verdict.spec.key_bits == key_size) &&
		    rank->v[i].verdict.verdict != VERDICT_IMPOSSIBLE)
			return &rank->v[i];
	return NULL;
}

static void note_ranking(struct format_job *j, const struct ranking *rank)
{
	for (size_t i = 0; i < rank->notes.n; i++) {
		if (rank->notes.v[i].code == REASON_VM_HIDES_AES)
			log_warn("%s", rank->notes.v[i].text);
		strbuf_printf(&j->why_chosen, "%s%s", j->why_chosen.len ? " " : "", rank->notes.v[i].text);
	}
}

static int choose(struct format_job *j)
{
	unsigned int sectors = sector_size(j);
	const struct ranked *best;
	struct ranking rank;
	int r = 0;

	policy_rank(&j->m, outlook(j), sectors, NULL, 0, &rank);
	if (!j->c->opt.dry_run && !j->c->opt.key_size && worth_measuring(&rank.v[0].verdict)) {
		r = measure_rivals(j, &rank);
		ranking_free(&rank);
		policy_rank(&j->m, outlook(j), sectors, j->meas, j->n_meas, &rank);
	}
	best = first_that_fits(&rank, j->c->opt.key_size);
	if (!best && !r) {
		log_error("No spec that hwluks would choose has a %llu-bit key: name one with --cipher.",
			  (unsigned long long)j->c->opt.key_size);
		r = -EINVAL;
	}
	if (!r) {
		strbuf_printf(&j->why_chosen, "%s", best->why);
		note_ranking(j, &rank);
		j->spec = best->verdict.spec;
		j->chosen = true;
		judge(j);
	}
	ranking_free(&rank);
	return r;
}

/* --- the plan --------------------------------------------------------------------------------------------------- */

static int plan_volume(struct format_job *j)
{
	const struct options *o = &j->c->opt;
	struct vol_pbkdf_request rq = {
		.type = o->pbkdf, .hash = o->hash, .iter_time_ms = (uint32_t)o->iter_time,
		.force_iterations = (uint32_t)o->pbkdf_force_iterations, .memory_kib = (uint32_t)o->pbkdf_memory,
		.parallel = (uint32_t)o->pbkdf_parallel,
	};
	struct strbuf why = { 0 };
	int r;

	j->plan.spec = j->spec;
	j->plan.label = o->label;
	j->plan.subsystem = o->subsystem;
	j->plan.uuid = o->uuid;
	j->plan.device_size = j->bd.size;
	j->plan.alignment = j->bd.optimal_io;
	j->plan.data_offset = o->offset * 512;
	j->plan.detached = o->header != NULL;
	r = vol_pbkdf_plan(j->plan.type, &rq, j->m.mem_available / 1024, j->m.cpus, &j->plan.pbkdf, &why);
	/* memory asked for by name is the user's own decision */
	if (!r)
		vol_pbkdf_fit(&j->plan.pbkdf, o->pbkdf_memory != 0);
	if (!r)
		r = vol_format_check(&j->plan, &why);
	if (!r && why.s)
		log_note("%s", why.s);
	return say_why(r, &why);
}

static void print_kdf(const struct vol_pbkdf *p)
{
	struct strbuf b = { 0 };
	char size[32];

	strbuf_printf(&b, "%s", p->type);
	if (p->force_iterations)
		strbuf_printf(&b, ", %u iterations", p->force_iterations);
	else
		strbuf_printf(&b, ", about %.1f s to unlock on this machine", p->iter_time_ms / 1000.0);
	if (p->memory_kib)
		strbuf_printf(&b, ", up to %s of memory, %u thread%s", size_text((uint64_t)p->memory_kib * 1024, size, sizeof(size)),
			      p->parallel, plural(p->parallel));
	print_row("passphrase", b.s);
	strbuf_free(&b);
}

static void print_signatures(const struct blkdev *bd)
{
	char text[256], line[512];

	for (size_t i = 0; i < bd->n_sig; i++) {
		if (blkdev_signature_again(bd, i))
			continue;
		snprintf(line, sizeof(line), "%s: %s", bd->path, blkdev_signature_text(&bd->sig[i], text, sizeof(text)));
		print_row(i ? "" : "destroys", line);
	}
}

static void print_destroyed(const struct format_job *j)
{
	print_signatures(&j->bd);
	print_signatures(&j->hdr);
	if (j->c->opt.old_header_backup)
		print_row("saves", "the old LUKS header first");
}

static bool on_engine(const struct format_job *j)
{
	return j->verdict.data == PART_HARDWARE && j->verdict.accel && accel_is_engine(j->verdict.accel);
}

static void print_plan(const struct format_job *j)
{
	char text[256], size[32];

	printf("Plan for %s (%s)\n", j->bd.path, size_text(j->bd.size, size, sizeof(size)));
	print_row("spec", spec_describe(&j->spec, text, sizeof(text)));
	if (j->asked_bits) {
		snprintf(text, sizeof(text), "from %s, %u-bit key, which the hardware does not take", j->c->opt.cipher, j->asked_bits);
		print_row("adapted", text);
	}
	if (j->why_chosen.s)
		print_row("chosen", j->why_chosen.s);
	print_verdict_line("  verdict     ", &j->verdict);
	print_reasons(&j->verdict.reasons);
	if (on_engine(j) && j->spec.sector_size == 512 && j->plan.type == VOL_LUKS2)
		print_row("note", "--sector-size 4096 would give the engine an eighth of the jobs; the price: a sector torn by a power cut is "
			  "lost whole, and everything above must allow 4096-byte blocks.");
	snprintf(text, sizeof(text), "%s%s%s", vol_type_name(j->plan.type), j->c->opt.header ? ", detached: " : ", on the device",
		 j->c->opt.header ? j->c->opt.header : "");
	print_row("header", text);
	print_kdf(&j->plan.pbkdf);
	if (wants_fill(j))
		print_row("fill", "the whole device with random data first; 'hwluks fill --dry-run' tells how long that takes");
	print_destroyed(j);
	fflush(stdout);
}

/* --- proof, question, passphrase ------------------------------------------------------------------------------------ */

/* A bad driver ends the format, unless --software: then it is out of use now, and its successor is tested. */
static int prove_driver(struct format_job *j)
{
	int r;

	log_verbose("Testing the driver with a known answer ...");
	/* what was measured was tested right before */
	r = bringup_verify(&j->c->root, &j->m, &j->spec, j->n_meas ? VERIFY_HARDWARE : VERIFY_ALWAYS, &j->verified);
	if (r == EXIT_DRIVER_BAD && j->c->opt.software) {
		log_warn("%s", j->verified.s);
		strbuf_free(&j->verified);
		judge(j);
		r = bringup_verify(&j->c->root, &j->m, &j->spec, VERIFY_ALWAYS, &j->verified);
	}
	if (r == EXIT_DRIVER_BAD) {
		log_error("%s Nothing was written.", j->verified.s);
		j->result = "driver-bad";
	} else if (r == -EOPNOTSUPP && on_engine(j)) {
		log_error("The engine's driver could not be tested: %s Nothing was written.", j->verified.s);
		return EXIT_DRIVER_BAD;
	} else if (r == -EOPNOTSUPP) {
		log_warn("Not tested: %s", j->verified.s);
		return 0;
	} else if (r) {
		log_error("The kernel refuses this spec: %s Nothing was written.", j->verified.s ? j->verified.s : strerror(-r));
	}
	return r;
}

static int ask(const struct format_job *j)
{
	cleanup_free char *more = j->c->opt.header ? xasprintf("The header in %s will be new.\n", j->c->opt.header) : NULL;

	return target_confirm(&j->c->opt, &j->bd, more);
}

static int read_passphrase(const struct format_job *j, struct secret *s)
{
	const struct options *o = &j->c->opt;
	cleanup_free char *prompt = xasprintf("Enter passphrase for %s: ", j->bd.path);
	struct secret_source src = key_source(o, prompt);
	struct strbuf why = { 0 };

	src.verify = !o->batch_mode || o->verify_passphrase;
	if (o->verify_passphrase && !secret_is_prompted(&src))
		log_warn("--verify-passphrase means nothing without a terminal: the passphrase is read once.");
	return say_why(secret_read(&src, s, &why), &why);
}

/* --- the writes ------------------------------------------------------------------------------------------------------- */

static int prepare_header_file(struct format_job *j, bool *created)
{
	const struct options *o = &j->c->opt;
	struct strbuf why = { 0 };
	int r;

	/* an existing one was opened and judged with the device */
	if (!o->header || j->hdr.path)
		return 0;
	r = say_why(vol_header_file_prepare(o->header, false, created, &why), &why);
	return r ? r : target_open(o->header, true, &j->hdr);
}

static int save_old_header(struct format_job *j, struct strbuf *why)
{
	const char *target = j->c->opt.header ? j->hdr.path : j->bd.path;

	return j->c->opt.old_header_backup ? vol_header_backup(target, j->c->opt.old_header_backup, why) : 0;
}

static int write_header(struct format_job *j, struct vol_header *h, struct strbuf *why)
{
	struct blkdev *target = j->c->opt.header ? &j->hdr : &j->bd;
	int r = blkdev_lock(target, why);

	if (!r)
		r = blkdev_recheck(target, why);
	if (!r && !wants_fill(j))
		r = save_old_header(j, why);
	if (!r)
		r = vol_format_write(h, target, why);
	return r;
}

static void report_done(struct format_job *j, const struct vol_header *h)
{
	const char *header = j->c->opt.header;

	j->result = "formatted";
	if (j->c->opt.json)
		return;
	printf("%s is a %s volume now", j->bd.path, vol_type_name(j->plan.type));
	if (header)
		printf(" with its header in %s", header);
	printf(".\nUUID %s\nIt was opened once with the passphrase.\n", vol_header_facts(h)->uuid);
}

static int write_and_test(struct format_job *j, struct vol_header *h, const struct secret *s)
{
	const struct options *o = &j->c->opt;
	struct strbuf why = { 0 };
	bool created = false;
	int r;

	say_when_stopped(false);
	r = prepare_header_file(j, &created);

	if (r)
		goto out;
	if (wants_fill(j)) {
		r = say_why(save_old_header(j, &why), &why);
		if (!r)
			r = fill_for_format(j->c, &j->bd);
		if (r)
			goto out;
	}
	r = write_header(j, h, &why);
	if (!r)
		r = vol_format_test(h, j->bd.path, o->header, s, &why);
	if (!r) {
		report_done(j, h);
		if (o->header_backup_file)
			r = vol_header_backup(o->header ? o->header : j->bd.path, o->header_backup_file, &why);
	}
	say_why(r, &why);
out:
	if (r && created && o->header && !j->hdr.size)
		unlink(o->header);
	return r;
}

static int build_and_write(struct format_job *j)
{
	cleanup_secret struct secret s = { 0 };
	struct vol_header *h = NULL;
	struct strbuf why = { 0 };
	int r = read_passphrase(j, &s);

	if (r)
		return r;
	r = say_why(vol_format_build(&j->plan, &s, &h, &why), &why);
	if (!r)
		r = write_and_test(j, h, &s);
	vol_header_free(h);
	return r;
}

/* --- the command ------------------------------------------------------------------------------------------------------- */

static void json_figures(struct json_object *doc, const struct format_job *j)
{
	struct json_object *list = json_add_arr(doc, "measured");

	for (size_t i = 0; i < j->n_meas; i++) {
		struct json_object *x = json_add_obj(list, NULL);

		json_spec(x, "spec", &j->meas[i].spec);
		json_add_strf(x, "write_mbps", "%.1f", j->meas[i].write_mbps);
		json_add_strf(x, "read_mbps", "%.1f", j->meas[i].read_mbps);
	}
}

static void report_json(const struct format_job *j, int r)
{
	struct json_object *doc = json_add_obj(NULL, NULL);

	json_add_str(doc, "device", j->bd.path);
	json_add_int(doc, "size", (int64_t)j->bd.size);
	json_spec(doc, "spec", &j->spec);
	json_add_str(doc, "type", vol_type_name(j->plan.type));
	json_add_bool(doc, "chosen", j->chosen);
	json_add_bool(doc, "adapted", j->asked_bits != 0);
	json_add_bool(doc, "dry_run", j->c->opt.dry_run);
	json_verdict(doc, &j->verdict);
	json_figures(doc, j);
	json_add_bool(doc, "fill", wants_fill(j));
	json_add_str(doc, "verification", j->verified.s);
	json_add_str(doc, "result", j->result ? j->result : r ? "failed" : "planned");
	json_print(doc);
}

static int run_format(struct format_job *j)
{
	int r = check_options(j);

	say_when_stopped(true);
	if (!r)
		r = check_device(j);
	if (!r)
		r = bring_up(j);
	if (!r && !j->c->opt.software)
		r = refuse_broken(j);
	if (!r)
		r = j->c->opt.cipher ? judge_asked(j) : choose(j);
	if (!r)
		r = plan_volume(j);
	if (r)
		return r;
	if (!j->c->opt.json)
		print_plan(j);
	if (ferror(stdout)) {
		log_error("The plan could not be shown. Nothing was written.");
		return -EIO;
	}
	if (j->c->opt.dry_run)
		return 0;
	r = prove_driver(j);
	if (!r)
		r = ask(j);
	if (!r)
		r = build_and_write(j);
	return r;
}

int cmd_format(struct cmd_context *c)
{
	struct format_job j = { .c = c, .bd.fd = -1, .bd.lock_fd = -1, .hdr.fd = -1, .hdr.lock_fd = -1 };
	int r = run_format(&j);

	if (c->opt.json && j.judged)
		report_json(&j, r);
	if (j.judged)
		verdict_free(&j.verdict);
	bringup_free(&j.up);
	load_plan_free(&j.load);
	machine_free(&j.m);
	blkdev_close(&j.hdr);
	blkdev_close(&j.bd);
	strbuf_free(&j.why_chosen);
	strbuf_free(&j.verified);
	return r;
}
