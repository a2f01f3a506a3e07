/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks initramfs modules and deny: gathers crypttab, LUKS headers and hwluks.conf, prints what a boot image needs.
 * Must not choose a module (core/image_plan.c), and must not write anywhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/initramfs.h"
#include "core/crypttab.h"
#include "vol/vol.h"

/* The specs that hwluks proposes: for volumes whose header cannot be read. */
static const char *const standard_specs[] = { "aes-xts-plain64", "aes-cbc-essiv:sha256", "xchacha12,aes-adiantum-plain64" };

static bool specs_add(struct image_specs *l, const char *text)
{
	struct cipher_spec spec;

	if (spec_parse(text, &spec, NULL))
		return false;
	l->v = xreallocarray(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = spec;
	return true;
}

/* --- where the specs come from ----------------------------------------------------------------------- */

/* Data area and key slots of one LUKS header. */
static int add_header(const char *device, const char *header, struct image_specs *l, struct strbuf *why)
{
	struct vol_facts f = { 0 };
	struct volume *v = NULL;
	int r = vol_load(device, header, VOL_PEEK, &v, why);

	if (!r)
		r = vol_get_facts(v, &f);
	if (!r && !specs_add(l, f.cipher)) {
		strbuf_printf(why, "The cipher '%s' in it is not one that hwluks knows.", f.cipher);
		r = -EINVAL;
	}
	for (size_t i = 0; !r && i < f.n_slots; i++)
		if (*f.slot[i].cipher)
			specs_add(l, f.slot[i].cipher);
	vol_facts_free(&f);
	vol_free(v);
	return r;
}

static bool is_plain(const struct crypttab_entry *e)
{
	return crypttab_option(e, "plain", NULL, 0) || crypttab_option(e, "swap", NULL, 0) || crypttab_option(e, "tmp", NULL, 0);
}

/* A volume without a header: crypttab itself says the cipher. */
static int add_plain(const struct crypttab_entry *e, struct image_specs *l, struct strbuf *why)
{
	char cipher[160];

	if (crypttab_option(e, "cipher", cipher, sizeof(cipher)) && specs_add(l, cipher))
		return 0;
	strbuf_printf(why, "It has no header, and its crypttab entry no cipher= that hwluks knows.");
	return -EINVAL;
}

static int add_volume(struct cmd_context *c, const struct crypttab_entry *e, struct image_specs *l, struct strbuf *why)
{
	cleanup_free char *path = NULL;
	char header[256];
	bool detached = crypttab_option(e, "header", header, sizeof(header)) && *header == '/';
	int r;

	if (is_plain(e))
		return add_plain(e, l, why);
	if (c->root.recorded) {
		strbuf_printf(why, "A recorded machine holds no LUKS header; give one with --header.");
		return -EOPNOTSUPP;
	}
	r = blkdev_resolve(e->source, &path, why);
	return r ? r : add_header(path, detached ? header : NULL, l, why);
}

static void add_crypttab(struct cmd_context *c, const char *text, struct image_specs *l)
{
	struct crypttab t;

	crypttab_parse(text, &t);
	for (size_t i = 0; i < t.n; i++) {
		struct strbuf why = { 0 };
		int r = add_volume(c, &t.v[i], l, &why);

		if (r) {
			cleanup_free char *line = text_clean(t.v[i].name);

			log_note("The spec of '%s' is not known, the standard ones are planned for: %s", line, why.s ? why.s : strerror(-r));
			l->incomplete = true;
		}
		strbuf_free(&why);
	}
	crypttab_free(&t);
}

/* A file of the caller's, not of the machine looked at. */
static int read_given(const char *file, char **text)
{
	cleanup_free char *path = realpath(file, NULL);
	struct sysroot here;
	int r = path ? sysroot_open(&here, NULL) : -errno;

	if (!r) {
		r = sysroot_read(&here, path, text, NULL);
		sysroot_close(&here);
	}
	if (r)
		log_error("%s could not be read: %s.", file, strerror(-r));
	return r;
}

static int gather_specs(struct cmd_context *c, struct image_specs *l)
{
	cleanup_free char *text = NULL;
	struct strbuf why = { 0 };
	int r = 0;

	if (c->opt.header)
		r = say_why(add_header(c->opt.header, NULL, l, &why), &why);
	if (!r && c->opt.crypttab)
		r = read_given(c->opt.crypttab, &text);
	else if (!r && !c->opt.header && !c->opt.accelerator && sysroot_read(&c->root, "/etc/crypttab", &text, NULL))
		log_note("There is no /etc/crypttab to read: the standard specs are planned for.");
	if (!r && text)
		add_crypttab(c, text, l);
	l->incomplete |= !l->n;
	if (!r && l->incomplete)
		for (size_t i = 0; i < ARRAY_SIZE(standard_specs); i++)
			specs_add(l, standard_specs[i]);
	return r;
}

/* --- for which machine ------------------------------------------------------------------------------- */

static int find_accel(const struct cmd_context *c, const struct machine *m, const struct accel **a)
{
	*a = NULL;
	if (!c->opt.accelerator)
		return 0;
	*a = accel_by_id(c->opt.accelerator);
	if (!*a) {
		log_error("'%s' is no accelerator in the table. The README lists the ids.", c->opt.accelerator);
		return -EINVAL;
	}
	if (!(*a)->modules)
		log_warn("%s has no driver module: nothing of it goes into an image.", (*a)->name);
	else if (accel_dmcrypt_in(*a, m->kernel) != DMCRYPT_YES)
		log_warn("dm-crypt cannot use %s with this kernel: its driver in the image changes nothing for disks.", (*a)->name);
	return 0;
}

static int gather_machine(struct cmd_context *c, struct machine *m)
{
	int r = probe_machine(&c->root, PROBE_FOR_OPEN, m);

	if (r || !c->opt.kernel)
		return r;
	r = probe_other_kernel(&c->root, c->opt.kernel, m);
	if (r == -EINVAL)
		log_error("'%s' is no kernel version such as 6.1.0-50-amd64.", c->opt.kernel);
	else if (r)
		log_error("No kernel %s is installed: there is no /lib/modules/%s/modules.dep.", c->opt.kernel, c->opt.kernel);
	return r;
}

/* --- printing ---------------------------------------------------------------------------------------- */

static const char *state_name(enum module_state s)
{
	static const char *const name[] = { "unknown", "missing", "present", "builtin", "present" };

	return name[s];
}

static const char *role_text(const struct image_item *i)
{
	static const char *const text[] = { "driver of ", "dm-crypt, key slots, tests", "mode or IV", "software" };

	return text[i->role];
}

static void print_text(const struct image_plan *p, const struct machine *m)
{
	printf("# modules of kernel %s\n", *m->release ? m->release : "(not known)");
	for (size_t i = 0; i < p->n; i++) {
		const struct image_item *item = &p->v[i];

		if (item->state == MODULE_BUILTIN)
			printf("# %s is built in\n", item->module);
		else if (item->state == MODULE_MISSING)
			printf("# %s is not in this kernel\n", item->module);
		else
			printf("%-17s # %s%s\n", item->module, role_text(item), item->accel ? item->accel->id : "");
	}
}

static void print_json(const struct image_plan *p, const struct machine *m, const struct image_specs *l)
{
	struct json_object *doc = json_add_obj(NULL, NULL), *list;

	json_add_str(doc, "kernel", *m->release ? m->release : NULL);
	list = json_add_arr(doc, "specs");
	for (size_t i = 0; i < l->n; i++) {
		char text[SPEC_TEXT_MAX];

		json_add_str(list, NULL, spec_text(&l->v[i], text, sizeof(text)));
	}
	json_add_bool(doc, "specs_complete", !l->incomplete);
	list = json_add_arr(doc, "modules");
	for (size_t i = 0; i < p->n; i++) {
		struct json_object *o = json_add_obj(list, NULL);

		json_add_str(o, "name", p->v[i].module);
		json_add_str(o, "role", image_role_name(p->v[i].role));
		json_add_str(o, "accelerator", p->v[i].accel ? p->v[i].accel->id : NULL);
		json_add_str(o, "state", state_name(p->v[i].state));
	}
	json_unread(doc, m);
	json_print(doc);
}

/* An image that lacks the driver it is made for is worth more than a comment. */
static void warn_missing(const struct image_plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].role == IMAGE_ACCEL && p->v[i].state == MODULE_MISSING)
			log_warn("%s, the driver of %s, is not installed for this kernel: volumes will open in software.", p->v[i].module,
				 p->v[i].accel->name);
}

/* What udev must not load by itself in the image: drivers of engines outside the CPU may hang, and hwluks loads them with a limit. */
static void print_denials(const struct image_plan *p)
{
	puts("# Made by hwluks for boot images only: it loads these drivers itself, with a time limit.");
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].accel && accel_is_engine(p->v[i].accel) && p->v[i].state != MODULE_BUILTIN)
			printf("blacklist %s\n", p->v[i].module);
}

/* The drivers that hwluks.conf names. */
static void heed_conf(struct cmd_context *c, const struct machine *m, struct boot_conf *conf, struct image_request *rq)
{
	boot_conf_read(&c->root, conf);
	rq->no_accel = conf->drivers == BOOT_DRIVERS_NONE;
	rq->names = conf->names.v;
	rq->n_names = conf->names.n;
	for (size_t i = 0; i < conf->names.n; i++)
		if (!image_accel(conf->names.v[i], m->kernel))
			log_warn(BOOT_CONF_PATH ": '%s' is no accelerator, module or driver in the table.", conf->names.v[i]);
}

int image_job_plan(struct cmd_context *c, struct image_job *j)
{
	int r = gather_machine(c, &j->m);

	if (!r)
		r = find_accel(c, &j->m, &j->rq.accel);
	if (!r)
		r = gather_specs(c, &j->specs);
	if (r)
		return r;
	heed_conf(c, &j->m, &j->conf, &j->rq);
	j->rq.specs = j->specs.v;
	j->rq.n_specs = j->specs.n;
	image_plan(&j->m, &j->rq, &j->plan);
	warn_missing(&j->plan);
	return 0;
}

void image_job_free(struct image_job *j)
{
	image_plan_free(&j->plan);
	boot_conf_free(&j->conf);
	free(j->specs.v);
	machine_free(&j->m);
}

static int modules(struct cmd_context *c)
{
	struct image_job j = { 0 };
	int r = image_job_plan(c, &j);

	if (!r && c->opt.json) {
		print_json(&j.plan, &j.m, &j.specs);
	} else if (!r) {
		print_text(&j.plan, &j.m);
		say_unread(&j.m);
	}
	image_job_free(&j);
	return r;
}

static int denials(struct cmd_context *c)
{
	struct image_job j = { 0 };
	int r = image_job_plan(c, &j);

	if (!r)
		print_denials(&j.plan);
	image_job_free(&j);
	return r;
}

int cmd_initramfs(struct cmd_context *c)
{
	static const struct {
		const char *name;
		int (*run)(struct cmd_context *c);
		size_t max_args; /* its own word counted */
		bool image;	 /* knows --root, --generator and --dry-run */
	} actions[] = {
		{ "modules", modules, 1, false },	     { "deny", denials, 1, false },
		{ "install", initramfs_install, 1, true }, { "check", initramfs_check, 2, true },
		{ "remove", initramfs_remove, 1, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (strcmp(actions[i].name, c->arg[0]))
			continue;
		if (c->n_args > actions[i].max_args) {
			log_error("'%s' is one argument too many for 'initramfs %s'.", c->arg[actions[i].max_args], c->arg[0]);
			return -EINVAL;
		}
		if (!actions[i].image && (c->opt.root || c->opt.generator || c->opt.dry_run)) {
			log_error("--root, --generator and --dry-run are for install, check and remove.");
			return -EINVAL;
		}
		if (actions[i].image && c->opt.sysroot) {
			log_error("A recorded machine has no boot image: --root DIR takes the tree of a system.");
			return -EINVAL;
		}
		return actions[i].run(c);
	}
	log_error("'initramfs %s' is not known: install, check, remove, modules or deny.", c->arg[0]);
	return -EINVAL;
}
