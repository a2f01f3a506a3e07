/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks advise: the ranking of specs for this machine, or the verdict on one.
 * Must not load, measure or write.
 */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "vol/vol.h"

/* What DEVICE adds: its sector size, and the spec of a LUKS volume on it. */
struct target {
	unsigned int sector_size;
	bool is_volume;
	struct cipher_spec spec;
};

static void look_at_volume(const char *path, struct target *t)
{
	struct volume *v = NULL;
	struct vol_facts f = { 0 };

	if (vol_load(path, NULL, VOL_PEEK, &v, NULL))
		return;
	if (!vol_get_facts(v, &f) && f.spec_known) {
		t->is_volume = true;
		t->spec = f.spec;
	}
	vol_facts_free(&f);
	vol_free(v);
}

static int look_at_device(const char *spec, struct target *t)
{
	struct strbuf why = { 0 };
	struct blkdev bd;
	int r = blkdev_open(spec, 0, &bd, &why);

	if (!say_why(r, &why)) {
		t->sector_size = bd.physical_sector >= 4096 ? 4096 : 512;
		look_at_volume(bd.path, t);
	}
	blkdev_close(&bd);
	return r == -ENOENT ? -ENODEV : r;
}

static void print_verdict(const struct verdict *v)
{
	char text[256];

	printf("%s\n", spec_describe(&v->spec, text, sizeof(text)));
	print_verdict_line("  verdict     ", v);
	print_reasons(&v->reasons);
	if (v->action == ACTION_REFUSE && v->has_nearest) {
		printf("  'hwluks format' would refuse it (exit 10). The nearest that runs on it:\n    %s\n",
		       spec_options(&v->nearest, text, sizeof(text)));
	} else if (reasons_have(&v->reasons, REASON_NO_DM_CRYPT)) {
		puts("  'hwluks format' would make it, with a warning, for another machine.");
	} else if (v->action == ACTION_REFUSE) {
		puts("  'hwluks format' would refuse it (exit 1).");
	}
}

/* Taken for what it is worth, but there is a better one: what hwluks itself would take. */
static void print_better(const struct machine *m, const struct load_plan *plan, const struct verdict *v)
{
	enum spec_class class = spec_class(&v->spec);
	struct ranking r;
	char text[256];

	if (v->action != ACTION_PROCEED || class == SPEC_CLASS_STANDARD || class == SPEC_CLASS_AUTHENTICATED)
		return;
	policy_rank(m, plan, v->spec.sector_size, NULL, 0, &r);
	if (r.v[0].verdict.verdict != VERDICT_IMPOSSIBLE)
		printf("  hwluks itself would start from:\n    %s\n", spec_options(&r.v[0].verdict.spec, text, sizeof(text)));
	ranking_free(&r);
}

static void advise_one(const struct machine *m, const struct load_plan *plan, const struct cipher_spec *spec, bool json)
{
	struct verdict v;

	policy_decide(m, plan, spec, &v);
	if (json) {
		struct json_object *doc = json_add_obj(NULL, NULL);

		json_spec(doc, "spec", spec);
		json_verdict(doc, &v);
		json_unread(doc, m);
		json_print(doc);
	} else {
		print_verdict(&v);
		print_better(m, plan, &v);
	}
	verdict_free(&v);
}

/* format measures where an engine serves several of the specs (format.c); then what stands first here may change. */
static bool will_be_measured(const struct ranking *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->v[i].verdict.accel && r->v[i].verdict.data == PART_HARDWARE;
	return n > 1 && str_starts(r->v[0].verdict.driver, "xts(");
}

static void print_ranking(const struct ranking *r)
{
	char text[256];

	for (size_t i = 0; i < r->n; i++) {
		const struct ranked *x = &r->v[i];

		printf("%zu. %s\n", i + 1, spec_describe(&x->verdict.spec, text, sizeof(text)));
		print_verdict_line("   ", &x->verdict);
		print_wrapped(stdout, "   ", 3, x->why);
		for (size_t k = 0; !i && k < x->verdict.reasons.n; k++)
			print_wrapped(stdout, "   - ", 5, x->verdict.reasons.v[k].text);
	}
	for (size_t i = 0; i < r->notes.n; i++)
		print_wrapped(stdout, i ? "" : "\n", 0, r->notes.v[i].text);
	if (r->v[0].verdict.verdict == VERDICT_IMPOSSIBLE)
		return;
	printf("\n'hwluks format' starts from the first:\n    %s\n", spec_options(&r->v[0].verdict.spec, text, sizeof(text)));
	if (will_be_measured(r))
		print_wrapped(stdout, "", 0, "It will measure the first and its best rival before it chooses; nothing was measured here.");
}

static void advise_all(const struct machine *m, const struct load_plan *plan, unsigned int sector_size, bool json)
{
	struct ranking r;

	policy_rank(m, plan, sector_size, NULL, 0, &r);
	if (json) {
		struct json_object *doc = json_add_obj(NULL, NULL), *list;

		/* the best one's verdict at the top level, so that both forms of advise read the same */
		json_spec(doc, "spec", &r.v[0].verdict.spec);
		json_verdict(doc, &r.v[0].verdict);
		list = json_add_arr(doc, "ranking");
		for (size_t i = 0; i < r.n; i++) {
			struct json_object *x = json_add_obj(list, NULL);

			json_spec(x, "spec", &r.v[i].verdict.spec);
			json_verdict(x, &r.v[i].verdict);
			json_add_str(x, "why", r.v[i].why);
		}
		json_reasons(json_add_obj(doc, "notes"), &r.notes);
		json_unread(doc, m);
		json_print(doc);
	} else {
		print_ranking(&r);
	}
	ranking_free(&r);
}

int cmd_advise(struct cmd_context *c)
{
	struct target t = { .sector_size = 512 };
	struct cipher_spec spec = { 0 };
	struct load_plan plan;
	struct machine m = { 0 };
	int r = 0;

	if (!c->opt.cipher && c->opt.key_size) {
		log_error("--key-size goes with --cipher.");
		return -EINVAL;
	}
	if (check_sector_size(&c->opt))
		return -EINVAL;
	if (c->n_args)
		r = look_at_device(c->arg[0], &t);
	if (!r && c->opt.cipher)
		r = spec_from_options(&c->opt, &spec);
	if (!r)
		r = probe_machine(&c->root, PROBE_FOR_OPEN | PROBE_KCONFIG, &m);
	if (r)
		return r;
	if (c->opt.sector_size)
		t.sector_size = (unsigned int)c->opt.sector_size;
	policy_load_plan(&m, NULL, &plan);
	if (c->opt.cipher) {
		spec.sector_size = t.sector_size;
		advise_one(&m, &plan, &spec, c->opt.json);
	} else if (t.is_volume) {
		advise_one(&m, &plan, &t.spec, c->opt.json);
	} else {
		advise_all(&m, &plan, t.sector_size, c->opt.json);
	}
	if (!c->opt.json)
		say_unread(&m);
	load_plan_free(&plan);
	machine_free(&m);
	return 0;
}
