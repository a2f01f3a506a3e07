/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks status: which driver serves an open volume, and how that is known.
 * Must not change anything.
 */
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "cmd/cmd.h"
#include "vol/serving.h"

/* "/dev/sdb1" for the table's "8:17"; the table's own word where sysfs does not tell. Returns buf. */
static const char *device_name(struct sysroot *sr, const char *word, char *buf, size_t size)
{
	unsigned int maj, min;

	if (sscanf(word, "%u:%u", &maj, &min) != 2 || stack_node(sr, makedev(maj, min), buf, size))
		str_copy(buf, size, word);
	return buf;
}

static void report_text(const struct mapping_facts *f, const char *device, const struct binding *b, const struct verdict *v)
{
	char text[320], size[32];

	printf("%s is open.\n", f->name);
	print_row("spec", f->spec_known ? spec_describe(&f->spec, text, sizeof(text)) : f->table.cipher);
	print_row("device", device);
	print_row("size", size_text(f->sectors * 512, size, sizeof(size)));
	snprintf(text, sizeof(text), "%s%s", f->readonly ? "read-only" : "read and write", f->suspended ? ", SUSPENDED" : "");
	print_row("mode", text);
	crypt_flags_text(f->table.flags, text, sizeof(text));
	print_row("flags", *text ? text : "none");
	print_row("served by", *b->driver ? b->driver : "not known");
	snprintf(text, sizeof(text), "%s: %s", binding_evidence_name(b->evidence), *b->why ? b->why : binding_evidence_sentence(b->evidence));
	print_row("evidence", text);
	print_verdict_line("  verdict     ", v);
	print_reasons(&v->reasons);
}

static void report_json(const struct mapping_facts *f, const char *device, const struct binding *b, const struct verdict *v,
			const struct machine *m)
{
	struct json_object *doc = json_add_obj(NULL, NULL);

	json_add_str(doc, "name", f->name);
	json_spec(doc, "spec", f->spec_known ? &f->spec : NULL);
	json_add_str(doc, "device", device);
	json_add_int(doc, "size", (int64_t)(f->sectors * 512));
	json_add_int(doc, "sector_size", f->table.sector_size);
	json_add_bool(doc, "readonly", f->readonly);
	json_add_bool(doc, "suspended", f->suspended);
	json_flags(doc, f->table.flags);
	json_add_str(doc, "served_by", *b->driver ? b->driver : NULL);
	json_add_str(doc, "evidence", binding_evidence_name(b->evidence));
	json_add_str(doc, "evidence_text", *b->why ? b->why : binding_evidence_sentence(b->evidence));
	json_verdict(doc, v);
	json_unread(doc, m);
	json_print(doc);
}

int cmd_status(struct cmd_context *c)
{
	const char *name = mapping_arg(c->arg[0]);
	struct mapping_facts facts = { 0 };
	struct machine m = { 0 };
	struct binding b = { 0 };
	struct verdict v;
	char device[160];
	int r = mapping_get(name, &facts);

	if (r)
		return say_mapping_error(name, r);
	r = probe_machine(&c->root, PROBE_FOR_OPEN, &m);
	if (r)
		return r;
	if (serving_find(&m, &facts, &b))
		log_verbose("The other open mappings could not be listed.");
	policy_judge_binding(&m, &facts.spec, b.driver, &v);
	device_name(&c->root, facts.table.device, device, sizeof(device));
	if (c->opt.json)
		report_json(&facts, device, &b, &v, &m);
	else
		report_text(&facts, device, &b, &v);
	if (!c->opt.json)
		say_unread(&m);
	verdict_free(&v);
	machine_free(&m);
	return 0;
}
