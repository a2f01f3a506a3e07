/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks refresh: binds an open volume anew to the best driver there is now, or changes its flags.
 * All that can be refused is refused before the table is touched; on any failure the old table is live.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "vol/serving.h"
#include "vol/vol.h"

struct refresh_job {
	struct cmd_context *c;
	const char *name;
	struct mapping_facts old, now;
	struct volume *vol;
	uint32_t kept; /* flags in the LUKS2 header, VOL_* */
	struct machine m;
	struct binding was, is; /* who served it, who serves it */
	char expected[ALG_NAME_MAX]; /* driver the kernel should pick; "" = not known */
	unsigned int flags;	     /* wanted, VOL_* */
	bool said;		     /* why it failed was told where it happened */
};

/* The flags of a table that an activation can set. */
static const struct {
	unsigned int table, vol;
} flag_map[] = {
	{ CRYPT_FLAG_ALLOW_DISCARDS, VOL_ALLOW_DISCARDS },
	{ CRYPT_FLAG_SAME_CPU_CRYPT, VOL_SAME_CPU_CRYPT },
	{ CRYPT_FLAG_SUBMIT_FROM_CRYPT_CPUS, VOL_SUBMIT_FROM_CRYPT_CPUS },
	{ CRYPT_FLAG_NO_READ_WORKQUEUE, VOL_NO_READ_WORKQUEUE },
	{ CRYPT_FLAG_NO_WRITE_WORKQUEUE, VOL_NO_WRITE_WORKQUEUE },
	{ CRYPT_FLAG_HIGH_PRIORITY, VOL_HIGH_PRIORITY },
};

static unsigned int flags_of(const struct crypt_table *t)
{
	unsigned int vol = 0;

	for (size_t i = 0; i < ARRAY_SIZE(flag_map); i++)
		if (t->flags & flag_map[i].table)
			vol |= flag_map[i].vol;
	return vol;
}

/*
 * Flags named are those that hold afterwards, beside those in the header unless --persistent replaces them, as with cryptsetup.
 * With none named the volume keeps its own.
 */
static void want_flags(struct refresh_job *j)
{
	unsigned int given = activation_flags(&j->c->opt) & ~(unsigned)VOL_PERSISTENT;

	if (given || j->c->opt.clear_flags)
		j->flags = given | (j->c->opt.persistent ? 0 : j->kept);
	else
		j->flags = flags_of(&j->old.table);
	if (j->c->opt.persistent)
		j->flags |= VOL_PERSISTENT;
}

/* --- what can be refused ----------------------------------------------------------------------------------- */

static int check_options(const struct options *o)
{
	if (o->clear_flags && activation_flags(o) & ~(unsigned)VOL_PERSISTENT) {
		log_error("--clear-flags leaves no flag set: name none beside it.");
		return -EINVAL;
	}
	return check_key_options(o);
}

static int check_mapping(struct refresh_job *j)
{
	int r = mapping_get(j->name, &j->old);

	if (r)
		return say_mapping_error(j->name, r);
	if (j->old.suspended) {
		log_error("%s is suspended. Let I/O go on first: 'cryptsetup luksResume %s' or 'dmsetup resume %s'.", j->name, j->name,
			  j->name);
		return -EBUSY;
	}
	if (j->old.targets > 1) {
		log_error("%s is being reencrypted. Let 'cryptsetup reencrypt' finish first.", j->name);
		return -EBUSY;
	}
	return 0;
}

static int load_volume(struct refresh_job *j)
{
	const struct options *o = &j->c->opt;
	unsigned int how = (o->disable_locks ? VOL_NO_LOCKS : 0) | (o->disable_keyring || !j->old.table.keyring ? VOL_NO_KEYRING : 0);
	struct vol_facts facts = { 0 };
	struct strbuf why = { 0 };
	int r = vol_load_active(j->name, o->header, how, &j->vol, &why);

	if (r)
		log_error("%s", why.s ? why.s : strerror(-r));
	else if (!vol_is_plain(j->vol) && !(r = vol_get_facts(j->vol, &facts)))
		j->kept = facts.persistent;
	if (!r && o->persistent && facts.type != VOL_LUKS2) {
		log_error("--persistent: only a LUKS2 header keeps flags, and %s has none. Options of /etc/crypttab do.", j->name);
		r = -EINVAL;
	}
	if (!r && vol_is_plain(j->vol) && !o->key_file) {
		log_error("%s is a plain volume: give its key with --key-file. With a passphrase, use 'cryptsetup refresh'.", j->name);
		r = -EINVAL;
	}
	vol_facts_free(&facts);
	strbuf_free(&why);
	return r;
}

/* --- drivers -------------------------------------------------------------------------------------------------- */

static int said(struct refresh_job *j, int r, const char *text)
{
	j->said = true;
	log_error("%s %s was not touched.", text, j->name);
	return r;
}

static int load_drivers(struct refresh_job *j, unsigned int *loaded)
{
	struct bringup_options how = { .verify = false };
	struct bringup b = { 0 };
	struct load_plan plan;
	int r = 0;

	policy_load_plan(&j->m, NULL, &plan);
	if (load_plan_acts(&plan))
		bringup_run(&j->c->root, &j->m, &plan, &how, &b);
	for (size_t i = 0; i < b.n; i++) {
		log_verbose("%s: %s", b.v[i].item->what, b.v[i].text);
		if (b.v[i].err == EXIT_DRIVER_BAD && !r)
			r = said(j, EXIT_DRIVER_BAD, b.v[i].text);
	}
	*loaded = b.loaded;
	bringup_free(&b);
	load_plan_free(&plan);
	return r;
}

static int verify(struct refresh_job *j, unsigned int loaded)
{
	struct strbuf text = { 0 };
	int r = bringup_verify(&j->c->root, &j->m, &j->old.spec, loaded ? VERIFY_HARDWARE : VERIFY_ENGINES, &text);

	if (r == EXIT_DRIVER_BAD)
		said(j, r, text.s ? text.s : "The driver failed its test.");
	else if (r) {
		cleanup_free char *line = xasprintf("The driver could not be tested: %s Without the test: --no-verify.",
						    text.s ? text.s : strerror(-r));

		said(j, r, line);
	} else if (text.s)
		log_verbose("%s", text.s);
	strbuf_free(&text);
	return r;
}

/* Loads what is worth loading, and proves right what the volume would be bound to. */
static int prepare_drivers(struct refresh_job *j)
{
	unsigned int loaded = 0;
	struct verdict v;
	int r = probe_machine(&j->c->root, PROBE_FOR_OPEN | PROBE_LOAD, &j->m);

	if (r)
		return r;
	r = load_drivers(j, &loaded);
	if (!r && j->old.spec_known && !j->c->opt.no_verify)
		r = verify(j, loaded);
	if (!r && j->old.spec_known) {
		policy_decide(&j->m, NULL, &j->old.spec, &v);
		str_copy(j->expected, sizeof(j->expected), v.driver);
		verdict_free(&v);
	}
	return r;
}

/* --- the key ---------------------------------------------------------------------------------------------------- */

static int key_by_passphrase(struct refresh_job *j, struct secret *key)
{
	const struct options *o = &j->c->opt;
	cleanup_free char *prompt = xasprintf("Enter passphrase for %s: ", j->name);
	struct secret_source src = key_source(o, prompt);
	uint64_t tries = secret_tries(&src, o->tries);
	int r = -EPERM;

	while (tries-- && r == -EPERM) {
		cleanup_secret struct secret s = { 0 };
		struct strbuf why = { 0 };

		r = say_why(secret_read(&src, &s, &why), &why);
		if (r)
			return r;
		r = vol_get_key(j->vol, (int)o->key_slot, &s, key);
		if (r == -EPERM)
			log_error(vol_is_plain(j->vol) ? "That is shorter than the key of %s." : "No key of %s available with this passphrase.",
				  j->name);
		else if (r)
			log_error("The key of %s could not be had: %s.", j->name, r == -ENOENT ? "that key slot holds none" : strerror(-r));
	}
	return r;
}

static int key_by_token(struct refresh_job *j, struct secret *key)
{
	const struct options *o = &j->c->opt;
	struct vol_token t = { .id = (int)o->token_id, .type = o->token_type };
	cleanup_secret struct secret pin = { 0 };
	struct secret_source src = { .prompt = "Enter token PIN: ", .timeout_s = (unsigned int)o->timeout };
	int r = vol_get_key_by_token(j->vol, &t, key);

	if (r == -ENOANO && !secret_read(&src, &pin, NULL)) {
		t.pin = &pin;
		r = vol_get_key_by_token(j->vol, &t, key);
	}
	if (r && o->token_only)
		log_error("No token of %s gave its key: %s.", j->name, strerror(-r));
	return r;
}

static int get_key(struct refresh_job *j, struct secret *key)
{
	const struct options *o = &j->c->opt;
	int r = -ENOENT;

	if (!o->key_file && (o->token_only || o->token_id >= 0 || o->token_type || o->key_slot < 0))
		r = key_by_token(j, key);
	if (!r)
		return 0;
	if (o->token_only)
		return r == -ENOENT ? -EPERM : r;
	return key_by_passphrase(j, key);
}

/* --- the new table ------------------------------------------------------------------------------------------------ */

/* A table that the kernel would not build: binding to an engine made it test a new instance, and that failed? */
static int explain_failure(struct refresh_job *j, int r)
{
	struct strbuf text = { 0 };
	bool broke;

	probe_again(&j->c->root, PROBE_FOR_OPEN, &j->m);
	broke = bringup_take_out_failed(&j->c->root, &j->m, &text) > 0;
	if (broke)
		log_error("%s", text.s);
	else if (r == -EPERM)
		log_error("The key is not that of %s.", j->name);
	else if (r == -EOPNOTSUPP)
		log_error("--perf-high_priority needs libcryptsetup 2.8 and kernel 6.10.");
	else if (r == -ENOMEM)
		log_error("The pages of this process could not be locked in memory.");
	else
		log_error("The kernel took no new table for %s: %s.", j->name, strerror(-r));
	log_note("%s runs on with its old table.", j->name);
	strbuf_free(&text);
	return broke ? EXIT_DRIVER_BAD : r;
}

static int swap_table(struct refresh_job *j, const struct secret *key)
{
	struct vol_activation a = { .name = j->name, .flags = j->flags, .slot = -1 };
	struct machine before = { 0 };
	int r = probe_machine(&j->c->root, PROBE_ALGS | PROBE_FLAGS, &before);

	if (r)
		return r;
	if (serving_find(&before, &j->old, &j->was))
		log_debug("the other mappings could not be listed");
	r = vol_refresh(j->vol, &a, key);
	if (r < 0) {
		r = explain_failure(j, r);
		machine_free(&before);
		return r;
	}
	probe_again(&j->c->root, PROBE_ALGS | PROBE_FLAGS, &j->m);
	if (serving_record_again(j->name, &j->was, &before.algs, &j->m.algs, &j->is))
		log_debug("no record of the binding could be written");
	machine_free(&before);
	r = mapping_get(j->name, &j->now);
	if (!r && j->is.evidence == BINDING_UNKNOWN)
		serving_find(&j->m, &j->now, &j->is);
	return r;
}

/* --- report ------------------------------------------------------------------------------------------------------------ */

static void report_json(const struct refresh_job *j, const struct verdict *v)
{
	struct json_object *doc = json_add_obj(NULL, NULL);

	json_add_str(doc, "name", j->name);
	json_spec(doc, "spec", j->now.spec_known ? &j->now.spec : NULL);
	json_add_str(doc, "served_before", *j->was.driver ? j->was.driver : NULL);
	json_add_str(doc, "served_by", *j->is.driver ? j->is.driver : NULL);
	json_add_str(doc, "evidence", binding_evidence_name(j->is.evidence));
	json_flags(doc, j->now.table.flags);
	json_verdict(doc, v);
	json_unread(doc, &j->m);
	json_print(doc);
}

static void report_text(const struct refresh_job *j, const struct verdict *v)
{
	char flags[200];

	printf("%s has a new table.\n", j->name);
	if (*j->was.driver && strcmp(j->was.driver, j->is.driver))
		printf("  before: %s (%s)\n", j->was.driver, binding_evidence_name(j->was.evidence));
	printf("  served by %s (%s)\n", *j->is.driver ? j->is.driver : "a driver that cannot be told", binding_evidence_name(j->is.evidence));
	crypt_flags_text(j->now.table.flags, flags, sizeof(flags));
	printf("  flags: %s\n", *flags ? flags : "none");
	print_verdict_line("  ", v);
	if (v->data != PART_HARDWARE)
		print_reasons(&v->reasons);
}

static void report(struct refresh_job *j)
{
	unsigned int missing = j->flags & ~(unsigned)VOL_PERSISTENT & ~flags_of(&j->now.table);
	struct verdict v;

	policy_judge_binding(&j->m, &j->now.spec, j->is.driver, &v);
	if (j->c->opt.json)
		report_json(j, &v);
	else
		report_text(j, &v);
	if (missing)
		log_warn("Not all flags are in force: this kernel or libcryptsetup does not know them.");
	if (*j->expected && *j->is.driver && strcmp(j->expected, j->is.driver))
		log_warn("The kernel was expected to pick %s for %s.", j->expected, j->name);
	verdict_free(&v);
}

int cmd_refresh(struct cmd_context *c)
{
	const char *name = mapping_arg(c->arg[0]);
	struct refresh_job j = { .c = c, .name = name };
	cleanup_secret struct secret key = { 0 };
	int r = check_options(&c->opt);

	if (!r)
		r = check_mapping(&j);
	if (!r)
		r = load_volume(&j);
	if (!r) {
		want_flags(&j);
		r = prepare_drivers(&j);
		if (r < 0 && !j.said)
			log_error("The drivers here could not be looked at: %s.", strerror(-r));
	}
	if (!r)
		r = get_key(&j, &key);
	if (!r)
		r = swap_table(&j, &key);
	if (!r)
		report(&j);
	machine_free(&j.m);
	vol_free(j.vol);
	return r;
}
