/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks open: driver first, then the volume, then who serves it.
 * A wrong spec or a broken engine is a warning; only --require-accel makes it a failure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "vol/serving.h"
#include "vol/vol.h"

struct open_job {
	struct cmd_context *c;
	const char *name; /* NULL with --test-passphrase */
	char *path;	  /* of the device */
	struct volume *vol;
	struct vol_facts facts;
	struct machine m;
	struct verdict verdict;
	bool judged;
	bool explained; /* the error was told where it happened */
	bool warned;	/* that the engine is out of use */
	bool no_accel;	/* --require-accel, and the engine broke under the open */
};

unsigned int activation_flags(const struct options *o)
{
	return (o->readonly ? VOL_READONLY : 0) | (o->allow_discards ? VOL_ALLOW_DISCARDS : 0) |
	       (o->persistent ? VOL_PERSISTENT : 0) | (o->perf_same_cpu_crypt ? VOL_SAME_CPU_CRYPT : 0) |
	       (o->perf_submit_from_crypt_cpus ? VOL_SUBMIT_FROM_CRYPT_CPUS : 0) |
	       (o->perf_no_read_workqueue ? VOL_NO_READ_WORKQUEUE : 0) |
	       (o->perf_no_write_workqueue ? VOL_NO_WRITE_WORKQUEUE : 0) | (o->perf_high_priority ? VOL_HIGH_PRIORITY : 0);
}

/* What the device-mapper takes as a name (DM_NAME_LEN, linux/dm-ioctl.h) and /dev/mapper as a file. */
static int check_name(const char *name)
{
	char why[256];
	int r;

	if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "control") ||
	    strlen(name) > 127) {
		log_error("'%.130s' can be no name: it becomes a file in /dev/mapper, of at most 127 letters and without '/'.", name);
		return -EINVAL;
	}
	r = mapping_available(why, sizeof(why));
	if (!r)
		return 0;
	log_error("Nothing can be opened here: %s.", why);
	return r == -EACCES || r == -EPERM ? r : -EOPNOTSUPP;
}

struct secret_source key_source(const struct options *o, const char *prompt)
{
	return (struct secret_source){
		.key_file = o->key_file, .offset = o->keyfile_offset, .size = o->keyfile_size, .prompt = prompt,
		.timeout_s = (unsigned int)o->timeout,
	};
}

int check_key_options(const struct options *o)
{
	if (o->perf_high_priority && !vol_has_high_priority()) {
		log_error("--perf-high_priority needs libcryptsetup 2.8 and kernel 6.10.");
		return -EINVAL;
	}
	if (o->token_only && o->key_file) {
		log_error("--token-only and --key-file exclude each other.");
		return -EINVAL;
	}
	return 0;
}

static int check_options(struct open_job *j)
{
	const struct options *o = &j->c->opt;

	if (o->test_passphrase && j->c->n_args == 2) {
		log_error("--test-passphrase opens nothing: leave out the name '%s'.", j->c->arg[1]);
		return -EINVAL;
	}
	if (!o->test_passphrase && j->c->n_args != 2) {
		log_error("'open' takes DEVICE and NAME; with --test-passphrase DEVICE alone.");
		return -EINVAL;
	}
	if (o->type && !is_type(o->type, "luks") && !is_type(o->type, "luks1") && !is_type(o->type, "luks2")) {
		log_error("--type %s: hwluks opens luks, luks1 and luks2 volumes; the rest stays with cryptsetup.", o->type);
		return -EINVAL;
	}
	if (check_key_options(o))
		return -EINVAL;
	j->name = o->test_passphrase ? NULL : j->c->arg[1];
	return j->name ? check_name(j->name) : 0;
}

static int load_volume(struct open_job *j)
{
	const struct options *o = &j->c->opt;
	struct strbuf why = { 0 };
	int r = blkdev_resolve(j->c->arg[0], &j->path, &why);

	if (!r)
		r = vol_load(j->path, o->header, (o->disable_locks ? VOL_NO_LOCKS : 0) | (o->disable_keyring ? VOL_NO_KEYRING : 0),
			     &j->vol, &why);
	if (!r)
		r = vol_get_facts(j->vol, &j->facts);
	if (!r && o->type && !is_type(o->type, "luks") && !is_type(o->type, vol_type_name(j->facts.type))) {
		strbuf_printf(&why, "%s holds a %s volume, not %s.", j->path, vol_type_name(j->facts.type), o->type);
		r = -EINVAL;
	}
	say_why(r, &why);
	return r == -ENOENT ? -ENODEV : r;
}

/* --- the accelerator ------------------------------------------------------------------------------------ */

static void warn_bad(const struct bringup *b)
{
	for (size_t i = 0; i < b->n; i++)
		/* no right to load, or no such module: nothing that this machine could do better */
		if (b->v[i].err && b->v[i].err != -EPERM && b->v[i].err != -ENOENT)
			log_warn("%s: %s", b->v[i].item->what, b->v[i].text);
		else
			log_verbose("%s: %s", b->v[i].item->what, b->v[i].text);
}

static void judge(struct open_job *j)
{
	if (j->judged)
		verdict_free(&j->verdict);
	policy_decide(&j->m, NULL, &j->facts.spec, &j->verdict);
	j->judged = true;
}

/* True when an engine had failed a self-test and is out of the way now. */
static bool take_out_failed(struct open_job *j)
{
	struct strbuf text = { 0 };
	bool any = bringup_take_out_failed(&j->c->root, &j->m, &text) > 0;

	if (any) {
		log_warn("%s%s", text.s, j->c->opt.require_accel ? "" : " The volume opens in software.");
		j->warned = true;
		if (j->facts.spec_known)
			judge(j);
	}
	strbuf_free(&text);
	return any;
}

/* True when the test changed what would serve the volume, or may have. */
static bool verify_before_binding(struct open_job *j, enum verify_when when)
{
	struct strbuf text = { 0 };
	int r = bringup_verify(&j->c->root, &j->m, &j->facts.spec, when, &text);

	j->warned |= r == EXIT_DRIVER_BAD;
	if (r == EXIT_DRIVER_BAD)
		log_warn("%s%s", text.s ? text.s : "", j->c->opt.require_accel ? "" : " The volume opens in software.");
	else if (r)
		log_warn("The driver could not be tested: %s", text.s ? text.s : strerror(-r));
	else if (text.s)
		log_verbose("%s", text.s);
	strbuf_free(&text);
	return r != 0;
}

/* Loads what is worth loading and judges the volume's spec. Trouble here never stops an open. */
static void prepare_machine(struct open_job *j)
{
	bool may_load = j->name && !geteuid();
	struct bringup_options how = { .verify = false };
	struct load_plan plan;
	struct bringup b = { 0 };

	if (probe_machine(&j->c->root, PROBE_FOR_OPEN | (may_load ? PROBE_LOAD : 0), &j->m))
		return;
	policy_load_plan(&j->m, NULL, &plan);
	if (may_load && load_plan_acts(&plan)) {
		bringup_run(&j->c->root, &j->m, &plan, &how, &b);
		warn_bad(&b);
	}
	if (j->facts.spec_known) {
		judge(j);
		/* what is left of a failed instance stands in the way of software, too */
		if (may_load && j->verdict.verdict == VERDICT_IMPOSSIBLE)
			take_out_failed(j);
		if (may_load && !j->c->opt.no_verify && verify_before_binding(j, b.loaded ? VERIFY_HARDWARE : VERIFY_ENGINES))
			judge(j);
	}
	bringup_free(&b);
	load_plan_free(&plan);
}

static bool has_accel(const struct verdict *v)
{
	return v->verdict == VERDICT_ACCELERATED || v->verdict == VERDICT_PARTLY;
}

static int require_accel(const struct open_job *j)
{
	char text[256];

	if (!j->c->opt.require_accel || (!j->no_accel && j->judged && has_accel(&j->verdict)))
		return 0;
	log_error("--require-accel: no hardware would do the data of %s (%s). Nothing was opened.", j->path,
		  j->judged ? spec_describe(&j->facts.spec, text, sizeof(text)) : j->facts.cipher);
	for (size_t i = 0; j->judged && i < j->verdict.reasons.n; i++)
		log_note("- %s", j->verdict.reasons.v[i].text);
	return EXIT_NO_ACCEL;
}

/* --- passphrases ------------------------------------------------------------------------------------------- */

/*
 * True when an open that failed is worth another try: binding to the engine made the kernel test a new instance, that test
 * failed, and the engine is out of use now.
 */
static bool engine_broke(struct open_job *j, int r)
{
	if (r >= 0 || r == -EPERM || r == -EEXIST || r == -EBUSY || r == -EINTR || r == -ENOANO || !j->name || geteuid())
		return false;
	probe_again(&j->c->root, PROBE_FOR_OPEN, &j->m);
	if (!take_out_failed(j))
		return false;
	j->no_accel = j->c->opt.require_accel;
	return !j->no_accel;
}

static int try_secret(struct open_job *j, const struct vol_activation *a, const struct secret_source *src)
{
	cleanup_secret struct secret s = { 0 };
	struct strbuf why = { 0 };
	int r = secret_read(src, &s, &why);

	j->explained = r != 0;
	if (say_why(r, &why))
		return r;
	r = vol_open(j->vol, a, &s);
	return engine_broke(j, r) ? vol_open(j->vol, a, &s) : r;
}

static int open_by_passphrase(struct open_job *j, const struct vol_activation *a)
{
	const struct options *o = &j->c->opt;
	cleanup_free char *prompt = xasprintf("Enter passphrase for %s: ", j->path);
	struct secret_source src = key_source(o, prompt);
	uint64_t tries = secret_tries(&src, o->tries);
	int r = -EPERM;

	while (tries-- && r == -EPERM) {
		r = try_secret(j, a, &src);
		if (r == -EPERM && !j->explained)
			log_error("No key available with this passphrase.");
		if (j->explained)
			break;
	}
	return r;
}

static int open_by_token(struct open_job *j, const struct vol_activation *a)
{
	const struct options *o = &j->c->opt;
	struct vol_token t = { .id = (int)o->token_id, .type = o->token_type };
	cleanup_secret struct secret pin = { 0 };
	struct secret_source src = { .prompt = "Enter token PIN: ", .timeout_s = (unsigned int)o->timeout };
	int r = vol_open_token(j->vol, a, &t);

	if (r == -ENOANO && !secret_read(&src, &pin, NULL)) {
		t.pin = &pin;
		r = vol_open_token(j->vol, a, &t);
	}
	return engine_broke(j, r) ? vol_open_token(j->vol, a, &t) : r;
}

static int open_volume(struct open_job *j, const struct vol_activation *a)
{
	const struct options *o = &j->c->opt;
	bool asked = o->token_only || o->token_id >= 0 || o->token_type;
	int r = -ENOENT;

	if (!o->key_file && j->facts.tokens.n && (asked || a->slot < 0))
		r = open_by_token(j, a);
	if (r >= 0)
		return r;
	if (o->token_only) {
		log_error("No token of %s could open it: %s.", j->path, strerror(-r));
		return r == -ENOENT ? -EPERM : r;
	}
	if (r == -EEXIST || r == -EBUSY)
		return r;
	return open_by_passphrase(j, a);
}

static void explain_failure(const struct open_job *j, int r)
{
	if (j->explained)
		return;
	if (r == -EEXIST)
		log_error("The name '%s' is taken: a mapping of that name is open.", j->name);
	else if (r == -EBUSY)
		log_error("%s is in use.", j->path);
	else if (r == -ENOENT && j->c->opt.key_slot >= 0)
		log_error("Key slot %lld of %s holds no key.", (long long)j->c->opt.key_slot, j->path);
	else if (r != -EPERM && r != -EINTR)
		log_error("Cannot open %s: %s.", j->path, strerror(-r));
}

/* --- report --------------------------------------------------------------------------------------------------- */

static void report_json(const struct open_job *j, const struct verdict *v, const struct binding *b)
{
	struct json_object *doc = json_add_obj(NULL, NULL);

	json_add_str(doc, "device", j->path);
	json_add_str(doc, "name", j->name);
	json_add_str(doc, "type", vol_type_name(j->facts.type));
	json_spec(doc, "spec", j->facts.spec_known ? &j->facts.spec : NULL);
	json_add_str(doc, "served_by", b && *b->driver ? b->driver : NULL);
	json_add_str(doc, "evidence", binding_evidence_name(b ? b->evidence : BINDING_UNKNOWN));
	json_verdict(doc, v);
	json_unread(doc, &j->m);
	json_print(doc);
}

static void report(struct open_job *j, const struct binding *b)
{
	const struct accel *broken;
	enum driver_state state;
	struct verdict v;
	char text[256];

	policy_judge_binding(&j->m, &j->facts.spec, b->driver, &v);
	if (j->c->opt.json) {
		report_json(j, &v, b);
	} else {
		printf("%s: %s\n", j->name, j->facts.spec_known ? spec_describe(&j->facts.spec, text, sizeof(text)) : j->facts.cipher);
		printf("  served by %s (%s)\n", *b->driver ? b->driver : "a driver that cannot be told", binding_evidence_name(b->evidence));
		print_verdict_line("  ", &v);
		if (!has_accel(&v))
			print_reasons(&v.reasons);
	}
	broken = j->judged && !j->warned && !has_accel(&v) ? bringup_broken(&j->m, &state) : NULL;
	if (broken)
		log_warn("%s runs in software: the %s %s.", j->name, broken->name, state == DRIVER_QUARANTINED ?
			 "failed a test and is out of use until the next boot" : "did not pass the kernel's self-test");
	if (j->judged && v.verdict == VERDICT_SOFTWARE && j->verdict.has_nearest)
		log_warn("The engine here serves this cipher otherwise: a new volume with %s would run on it.",
			 spec_options(&j->verdict.nearest, text, sizeof(text)));
	verdict_free(&v);
}

static int record_and_report(struct open_job *j, const struct machine *before)
{
	struct binding b = { 0 };

	probe_again(&j->c->root, PROBE_ALGS | PROBE_FLAGS, &j->m);
	if (serving_record(j->name, &before->algs, &j->m.algs, &b))
		log_debug("no record of the binding could be written");
	if (b.evidence == BINDING_UNKNOWN) {
		struct mapping_facts facts = { 0 };

		if (!mapping_get(j->name, &facts))
			serving_find(&j->m, &facts, &b);
	}
	report(j, &b);
	return 0;
}

static int test_report(struct open_job *j)
{
	const char *driver = j->verdict.driver;

	if (j->c->opt.json) {
		report_json(j, &j->verdict, NULL);
		return 0;
	}
	log_verbose("The passphrase is right.");
	if (j->judged)
		log_verbose("%s would serve the volume (%s).", *driver ? driver : "No driver that can be told",
			    verdict_name(j->verdict.verdict));
	return 0;
}

int cmd_open(struct cmd_context *c)
{
	struct open_job j = { .c = c };
	struct machine before = { 0 };
	int r = check_options(&j);

	if (!r)
		r = load_volume(&j);
	if (!r)
		prepare_machine(&j);
	if (!r)
		r = require_accel(&j);
	if (!r) {
		struct vol_activation a = { .name = j.name, .flags = activation_flags(&c->opt), .slot = (int)c->opt.key_slot };

		if (j.name)
			probe_machine(&c->root, PROBE_ALGS | PROBE_FLAGS, &before);
		r = open_volume(&j, &a);
		if (r < 0 && j.no_accel)
			r = require_accel(&j);
		else if (r < 0)
			explain_failure(&j, r);
		else
			r = j.name ? record_and_report(&j, &before) : test_report(&j);
	}
	if (j.judged)
		verdict_free(&j.verdict);
	machine_free(&before);
	machine_free(&j.m);
	vol_facts_free(&j.facts);
	vol_free(j.vol);
	free(j.path);
	return r;
}
