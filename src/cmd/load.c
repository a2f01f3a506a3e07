/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks load: the plan, and what became of it.
 * Must not choose what is worth loading (core/load_plan.c) nor load (bringup.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "core/boot_conf.h"
#include "core/cmdline.h"

static const char *action_text(enum load_action a)
{
	static const char *const text[] = { "skip", "nothing", "load", "prepare" };

	return text[a];
}

static void print_named(const char *verb, const char *what, const char *name)
{
	cleanup_free char *line = xasprintf("%s%s", what, name);

	print_wrapped(stdout, verb, 9, line);
}

static void print_item(const struct load_item *i)
{
	static const char *const verb[] = { "skip     ", "there    ", "load     ", "prepare  " };
	const char *rng = i->rng ? "the random number generator of the " : "";
	cleanup_free char *what = NULL;

	if (i->action == LOAD_MODULE)
		what = xasprintf("%s, for %s", i->what, i->rng ? rng : "the ");
	else if (i->action == LOAD_PREPARE)
		what = xasprintf("%s, for the ", i->what);
	else
		what = xstrdup(rng);
	print_named(verb[i->action], what, i->accel->name);
	if (i->action != LOAD_NOTHING_TO_DO || i->why.code != REASON_LOADED)
		print_wrapped(stdout, "         ", 9, i->why.text);
}

static void json_item(struct json_object *list, const struct load_item *i, const char *result, int err)
{
	struct json_object *o = json_add_obj(list, NULL);

	json_add_str(o, "action", action_text(i->action));
	json_add_str(o, "accelerator", i->accel->id);
	json_add_str(o, "what", *i->what ? i->what : NULL);
	json_add_bool(o, "rng", i->rng);
	json_add_str(o, "code", reason_id(i->why.code));
	json_add_str(o, "text", i->why.text);
	if (result) {
		json_add_bool(o, "ok", !err);
		json_add_str(o, "result", result);
	}
}

static const struct bringup_item *outcome_of(const struct bringup *b, const struct load_item *i)
{
	for (size_t k = 0; k < b->n; k++)
		if (b->v[k].item == i)
			return &b->v[k];
	return NULL;
}

static void report(const struct load_plan *plan, const struct bringup *b, const struct machine *m, bool json)
{
	struct json_object *doc = json ? json_add_obj(NULL, NULL) : NULL;
	struct json_object *list = json ? json_add_arr(doc, "plan") : NULL;

	for (size_t i = 0; i < plan->n; i++) {
		const struct bringup_item *done = b ? outcome_of(b, &plan->v[i]) : NULL;

		if (json) {
			json_item(list, &plan->v[i], done ? done->text : NULL, done ? done->err : 0);
			continue;
		}
		print_item(&plan->v[i]);
		if (done)
			print_wrapped(stdout, "         ", 9, done->text);
	}
	if (json) {
		json_add_bool(doc, "dry_run", b == NULL);
		json_unread(doc, m);
		json_print(doc);
	} else if (!plan->n) {
		puts("No accelerator was recognised here: nothing to load.");
	} else if (!load_plan_acts(plan)) {
		puts("Nothing to load.");
	}
}

static int refuse_unknown(const struct load_plan *plan)
{
	for (size_t i = 0; i < plan->unknown.n; i++)
		log_error("'%s' is no accelerator, module or driver in the table. 'hwluks detect' shows the ids.", plan->unknown.v[i]);
	return plan->unknown.n ? -EINVAL : 0;
}

static int first_error(const struct bringup *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].err)
			return b->v[i].err;
	return 0;
}

/* --- at boot ----------------------------------------------------------------------------------------- */

#define BOOT_LOG "/run/hwluks.log"

static bool switched_off(struct sysroot *sr)
{
	cleanup_free char *text = NULL;
	char value[8];

	return !sysroot_read(sr, "/proc/cmdline", &text, NULL) && !cmdline_get(text, "hwluks", value, sizeof(value)) &&
	       !strcmp(value, "off");
}

/* One line with the seconds since the kernel started. That there is no log stops nothing. */
static void boot_note(const char *what, const char *text)
{
	int fd = open(BOOT_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	struct timespec t;

	if (fd < 0)
		return;
	clock_gettime(CLOCK_BOOTTIME, &t);
	dprintf(fd, "%lld.%02ld load: %s%s%s\n", (long long)t.tv_sec, t.tv_nsec / 10000000, what, *what ? ": " : "", text);
	close(fd);
}

static void boot_log(const struct load_plan *plan, const struct bringup *b)
{
	for (size_t i = 0; i < b->n; i++)
		boot_note(b->v[i].item->what, b->v[i].text);
	if (!b->n)
		boot_note("", plan->n ? "nothing to load." : "no accelerator was recognised.");
}

/* True, after saying so, when the owner wants nothing loaded at boot. */
static bool boot_off(struct cmd_context *c, const struct boot_conf *conf)
{
	const char *why = switched_off(&c->root)		    ? "hwluks=off on the kernel command line: nothing is loaded." :
			  conf->drivers == BOOT_DRIVERS_NONE && !c->n_args ? BOOT_CONF_PATH " says drivers = none: nothing is loaded." :
								      NULL;

	if (why && !c->opt.dry_run)
		boot_note("", why);
	if (why)
		log_note("%s", why);
	return why;
}

/* What hwluks.conf says, where the command line does not. */
static void heed_conf(const struct options *o, const struct boot_conf *conf, struct load_request *rq, struct bringup_options *how)
{
	if (!rq->n_names) {
		rq->names = (const char *const *)conf->names.v;
		rq->n_names = conf->names.n;
	}
	if (!o->wait)
		how->wait_ms = conf->wait * 1000;
	how->verify &= !conf->no_verify;
}

/* A name that means nothing must not keep the others from being loaded while a machine boots. */
static void boot_notes(const struct boot_conf *conf, struct load_plan *plan, bool dry_run)
{
	for (size_t i = 0; !dry_run && i < conf->warnings.n; i++)
		boot_note("", conf->warnings.v[i]);
	for (size_t i = 0; i < plan->unknown.n; i++) {
		cleanup_free char *text = xasprintf("'%s' is no accelerator, module or driver in the table.", plan->unknown.v[i]);

		log_warn("%s", text);
		if (!dry_run)
			boot_note("", text);
	}
	strv_free(&plan->unknown);
}

static int run(struct cmd_context *c, const struct load_request *rq, const struct bringup_options *how, const struct boot_conf *conf)
{
	struct bringup b = { 0 };
	struct load_plan plan;
	struct machine m = { 0 };
	int r;

	if (c->opt.sysroot && !c->opt.dry_run) {
		log_error("A recorded machine cannot load anything: add --dry-run to see the plan.");
		return -EINVAL;
	}
	r = probe_machine(&c->root, (PROBE_FOR_OPEN | PROBE_KCONFIG | PROBE_RNG) | (c->opt.dry_run ? 0 : PROBE_LOAD), &m);
	if (r)
		return r;
	policy_load_plan(&m, rq, &plan);
	if (c->opt.boot)
		boot_notes(conf, &plan, c->opt.dry_run);
	r = refuse_unknown(&plan);
	if (!r && !c->opt.dry_run)
		r = bringup_run(&c->root, &m, &plan, how, &b);
	if (!plan.unknown.n)
		report(&plan, c->opt.dry_run ? NULL : &b, &m, c->opt.json);
	if (!r)
		r = first_error(&b);
	if (c->opt.boot && !c->opt.dry_run) {
		boot_log(&plan, &b);
		r = 0;
	}
	if (!c->opt.json)
		say_unread(&m);
	bringup_free(&b);
	load_plan_free(&plan);
	machine_free(&m);
	return r;
}

int cmd_load(struct cmd_context *c)
{
	struct load_request rq = { .names = c->arg, .n_names = c->n_args, .all = c->opt.all, .force = c->opt.force };
	struct bringup_options how = { .wait_ms = (unsigned int)c->opt.wait * 1000, .force = c->opt.force, .wait_all = c->opt.boot, .quick = c->opt.boot, .verify = !c->opt.no_verify };
	struct boot_conf conf = { 0 };
	int r = 0;

	if (c->opt.boot) {
		boot_conf_read(&c->root, &conf);
		if (!boot_off(c, &conf)) {
			heed_conf(&c->opt, &conf, &rq, &how);
			r = run(c, &rq, &how, &conf);
		}
	} else {
		r = run(c, &rq, &how, &conf);
	}
	boot_conf_free(&conf);
	return r;
}
