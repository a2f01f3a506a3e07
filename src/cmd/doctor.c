/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks doctor: gathers the facts of the machine and its volumes, runs the checks, prints what they found.
 * Must not change anything, and must not judge: the checks do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "cmd/cmd.h"
#include "doctor/doctor.h"
#include "vol/serving.h"
#include "vol/vol.h"

/* Of a recording: what `dmsetup table` printed; a file for each volume with its header, with what lies on it ("ext4 4096"), and
 * with the driver that hwluks saw bind to it. */
#define TABLE_FILE "/hwluks/dm-table"
#define HEADER_DIR "/hwluks/headers"
#define CONTENT_DIR "/hwluks/content"
#define BINDING_DIR "/hwluks/bindings"

/* --- gathering ------------------------------------------------------------------------------------------ */

bool device_number_of(const char *text, dev_t *dev)
{
	unsigned int maj, min;
	struct stat st;

	if (sscanf(text, "%u:%u", &maj, &min) == 2) {
		*dev = makedev(maj, min);
		return true;
	}
	if (stat(text, &st) || !S_ISBLK(st.st_mode))
		return false;
	*dev = st.st_rdev;
	return true;
}

static void copy_slots(const struct vol_facts *f, struct doctor_header *h)
{
	for (size_t i = 0; i < f->n_slots && h->n_slots < ARRAY_SIZE(h->slot); i++) {
		struct doctor_keyslot *s = &h->slot[h->n_slots++];

		*s = (struct doctor_keyslot){ .slot = f->slot[i].slot, .iterations = f->slot[i].iterations,
					      .memory_kib = f->slot[i].memory_kib, .parallel = f->slot[i].parallel,
					      .key_bits = f->slot[i].key_bits };
		str_copy(s->pbkdf, sizeof(s->pbkdf), f->slot[i].pbkdf);
		str_copy(s->hash, sizeof(s->hash), f->slot[i].hash);
	}
}

static void header_from(const struct vol_facts *f, struct doctor_header *h)
{
	h->type = f->type == VOL_LUKS1 ? HEADER_LUKS1 : f->type == VOL_LUKS2 ? HEADER_LUKS2 : HEADER_NONE;
	h->sector_size = f->sector_size;
	h->data_offset = f->data_offset;
	h->reencrypting = f->reencrypting;
	str_copy(h->integrity, sizeof(h->integrity), f->integrity);
	copy_slots(f, h);
}

/* The header on the device below; *facts (may be NULL) gets all of it. */
static int read_header(const char *node, struct doctor_header *h, struct vol_facts *facts)
{
	struct vol_facts own = { 0 }, *f = facts ? facts : &own;
	struct strbuf why = { 0 };
	struct volume *v = NULL;
	int r = vol_load(node, NULL, VOL_PEEK, &v, &why);

	if (!r)
		r = vol_get_facts(v, f);
	if (!r)
		header_from(f, h);
	else
		str_copy(h->why, sizeof(h->why), why.s ? why.s : strerror(-r));
	strbuf_free(&why);
	vol_free(v);
	vol_facts_free(&own);
	return r;
}

static void look_below(struct cmd_context *c, const char *device, struct doctor_volume *v)
{
	dev_t dev;

	if (!device_number_of(device, &dev))
		return;
	v->stack_known = !stack_probe(&c->root, dev, &v->stack);
	if (stack_node(&c->root, dev, v->device, sizeof(v->device)))
		v->device[0] = '\0';
}

static char *file_of(const char *dir, const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void header_recorded(struct cmd_context *c, const char *file, struct doctor_header *h)
{
	cleanup_free char *text = NULL;

	if (sysroot_read(&c->root, file, &text, NULL))
		str_copy(h->why, sizeof(h->why), "The recording does not hold it.");
	else
		header_from_text(text, h);
}

/* A plain mapping has a dm uuid of its own kind, and no header to look for. */
static void header_live(const struct mapping_facts *f, struct doctor_volume *v)
{
	if (str_starts(f->uuid, "CRYPT-PLAIN-"))
		v->header.type = HEADER_NONE;
	else if (!*v->device)
		str_copy(v->header.why, sizeof(v->header.why), "The device below could not be found.");
	else if (read_header(v->device, &v->header, NULL) == -EMEDIUMTYPE)
		str_copy(v->header.why, sizeof(v->header.why), "There is none on the device below: it is detached, or the volume is plain.");
}

static void look_at_header(struct cmd_context *c, const struct mapping_facts *f, struct doctor_volume *v)
{
	cleanup_free char *file = file_of(HEADER_DIR, v->name);
	struct strbuf text = { 0 };

	if (c->root.recorded) {
		header_recorded(c, file, &v->header);
		return;
	}
	header_live(f, v);
	header_to_text(&v->header, &text);
	sysroot_note(&c->root, file, text.s, text.len);
	strbuf_free(&text);
}

static void content_recorded(struct cmd_context *c, const char *file, struct doctor_volume *v)
{
	char line[64];

	v->content_known = !sysroot_read_line(&c->root, file, line, sizeof(line));
	if (v->content_known && sscanf(line, "%31s %u", v->content, &v->content_block) < 1)
		v->content[0] = '\0';
	if (!strcmp(v->content, "-"))
		v->content[0] = '\0';
}

static void look_above(struct cmd_context *c, struct doctor_volume *v)
{
	cleanup_free char *file = file_of(CONTENT_DIR, v->name), *text = NULL;
	char node[160];

	if (c->root.recorded) {
		content_recorded(c, file, v);
		return;
	}
	snprintf(node, sizeof(node), "/dev/mapper/%s", v->name);
	v->content_known = !stack_content(node, v->content, sizeof(v->content), &v->content_block);
	text = xasprintf("%s %u\n", *v->content ? v->content : "-", v->content_block);
	if (v->content_known)
		sysroot_note(&c->root, file, text, strlen(text));
}

/* The driver that hwluks saw bind; false when it did not open the volume. */
static bool recorded_binding(struct cmd_context *c, const struct mapping_facts *f, char *driver, size_t size)
{
	cleanup_free char *file = file_of(BINDING_DIR, f->name);
	bool known = c->root.recorded ? !sysroot_read_line(&c->root, file, driver, size) : serving_recorded(f, driver, size);

	if (known && !c->root.recorded)
		sysroot_note(&c->root, file, driver, strlen(driver));
	return known;
}

static void volume_from_mapping(struct cmd_context *c, const struct machine *m, const struct mapping_list *all,
				const struct mapping_facts *f, struct doctor_volume *v)
{
	char driver[ALG_NAME_MAX];

	*v = (struct doctor_volume){ .open = true, .spec_known = f->spec_known, .spec = f->spec, .size = f->sectors * 512,
				     .data_offset = f->table.offset * 512, .flags = f->table.flags, .tag_size = f->table.tag_size,
				     .targets = f->targets };
	str_copy(v->name, sizeof(v->name), f->name);
	str_copy(v->cipher, sizeof(v->cipher), f->table.cipher);
	serving_find_in(m, f, all, recorded_binding(c, f, driver, sizeof(driver)) ? driver : NULL, &v->binding);
	policy_judge_binding(m, &v->spec, v->binding.driver, &v->verdict);
	look_below(c, f->table.device, v);
	look_at_header(c, f, v);
	look_above(c, v);
	doctor_measured_volume(c, v);
}

static int list_recorded(struct cmd_context *c, struct mapping_list *all)
{
	cleanup_free char *text = NULL;
	int r = sysroot_read(&c->root, TABLE_FILE, &text, NULL);

	if (!r && mapping_list_parse(text, all))
		log_warn("%s: some lines are no tables.", TABLE_FILE);
	return r;
}

static int list_live(struct cmd_context *c, struct mapping_list *all)
{
	struct strbuf text = { 0 };
	int r = mapping_list(all);

	mapping_list_text(all, &text);
	if (r)
		sysroot_note_error(&c->root, TABLE_FILE, r);
	else
		sysroot_note(&c->root, TABLE_FILE, text.s ? text.s : "", text.len);
	strbuf_free(&text);
	return r;
}

static void say_why_not_listed(struct cmd_context *c, int err, struct doctor_facts *f)
{
	if (c->root.recorded && err == -ENOENT)
		snprintf(f->volumes_why, sizeof(f->volumes_why), "The recording does not hold them (%s).", TABLE_FILE);
	else if (err == -EACCES || err == -EPERM)
		snprintf(f->volumes_why, sizeof(f->volumes_why), "Only root may ask the device-mapper.");
	else
		snprintf(f->volumes_why, sizeof(f->volumes_why), "The device-mapper cannot be asked: %s.", strerror(-err));
}

static void gather_volumes(struct cmd_context *c, struct mapping_list *all, struct doctor_facts *f)
{
	int r = c->root.recorded ? list_recorded(c, all) : list_live(c, all);

	if (r)
		say_why_not_listed(c, r, f);
	f->v = xcalloc(all->n + 1, sizeof(*f->v)); /* one more: a volume that is not open */
	for (size_t i = 0; i < all->n; i++)
		volume_from_mapping(c, f->m, all, &all->v[i], &f->v[f->n++]);
	doctor_measured_setups(c, f);
}

static void gather_texts(struct cmd_context *c, struct machine *m, struct doctor_facts *f)
{
	cleanup_free char *text = NULL;
	char line[16];
	int r = sysroot_read(&c->root, "/etc/crypttab", &text, NULL);

	f->crypttab_known = !r || (r == -ENOENT && c->root.complete);
	if (r && r != -ENOENT) {
		cleanup_free char *what = xasprintf("/etc/crypttab: %s", strerror(-r));

		strv_add_unique(&m->unread, what);
	}
	crypttab_parse(text, &f->crypttab);
	if (!sysroot_read_line(&c->root, "/proc/sys/crypto/fips_enabled", line, sizeof(line)))
		f->fips = strcmp(line, "1") ? TRI_FACT_NO : TRI_FACT_YES;
}

/* --- which volume is meant ------------------------------------------------------------------------------ */

static struct doctor_volume *volume_named(struct doctor_facts *f, const char *name)
{
	const char *bare = mapping_arg(name);

	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].name, bare))
			return &f->v[i];
	return NULL;
}

static bool stack_has(const struct stack *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->v[i].name, name))
			return true;
	return false;
}

/* The mapping that is in this device's stack: the device is it or lies on it. */
static struct doctor_volume *volume_under(struct cmd_context *c, struct doctor_facts *f, const struct mapping_list *all, dev_t dev)
{
	struct doctor_volume *found = NULL;
	struct stack s;

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].dev == dev)
			return &f->v[i];
	stack_probe(&c->root, dev, &s);
	for (size_t i = 0; i < all->n && !found; i++) {
		char name[160];

		if (!stack_name(&c->root, all->v[i].dev, name, sizeof(name)) && stack_has(&s, name))
			found = &f->v[i];
	}
	free(s.v);
	return found;
}

/* The mapping that lies on this device. */
static struct doctor_volume *volume_over(struct cmd_context *c, struct doctor_facts *f, dev_t dev)
{
	char name[160];

	if (stack_name(&c->root, dev, name, sizeof(name)))
		return NULL;
	for (size_t i = 0; i < f->n; i++)
		if (stack_has(&f->v[i].stack, name))
			return &f->v[i];
	return NULL;
}

/* A LUKS volume that is not open, judged as the kernel would serve it now. */
static struct doctor_volume *volume_closed(struct cmd_context *c, struct doctor_facts *f, const char *path)
{
	struct doctor_volume *v = &f->v[f->n];
	struct vol_facts facts = { 0 };
	struct stat st;
	int r;

	*v = (struct doctor_volume){ .targets = 1 };
	r = read_header(path, &v->header, &facts);
	if (!r) {
		str_copy(v->name, sizeof(v->name), path);
		str_copy(v->device, sizeof(v->device), path);
		str_copy(v->cipher, sizeof(v->cipher), facts.cipher);
		v->spec_known = facts.spec_known;
		v->spec = facts.spec;
		v->data_offset = facts.data_offset;
		policy_decide(f->m, f->plan, &v->spec, &v->verdict);
		if (!stat(path, &st) && S_ISBLK(st.st_mode))
			v->stack_known = !stack_probe(&c->root, st.st_rdev, &v->stack);
		f->n++;
	} else {
		log_error("%s: %s", path, v->header.why);
	}
	vol_facts_free(&facts);
	return r ? NULL : v;
}

static int find_volume(struct cmd_context *c, struct doctor_facts *f, const struct mapping_list *all, struct doctor_volume **out)
{
	cleanup_free char *path = NULL;
	struct strbuf why = { 0 };
	struct stat st;
	int r = 0;

	*out = volume_named(f, c->arg[0]);
	if (*out)
		return 0;
	if (c->root.recorded) {
		log_error("The recording has no open volume '%s'.", c->arg[0]);
		return -ENODEV;
	}
	r = blkdev_resolve(c->arg[0], &path, &why);
	if (!r && stat(path, &st))
		r = -errno;
	if (r) {
		log_error("'%s' is no open volume, device or mount point%s%s", c->arg[0], why.s ? ": " : ".", why.s ? why.s : "");
		strbuf_free(&why);
		return r == -ENOENT ? -ENODEV : r;
	}
	*out = volume_under(c, f, all, S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev);
	if (!*out && S_ISBLK(st.st_mode))
		*out = volume_over(c, f, st.st_rdev);
	if (*out)
		return 0;
	if (S_ISDIR(st.st_mode)) {
		log_error("No encrypted volume that could be found is below %s.%s%s", path, *f->volumes_why ? " " : "", f->volumes_why);
		return -ENODEV;
	}
	*out = volume_closed(c, f, path);
	return *out ? 0 : -ENODEV;
}

/* --- text ------------------------------------------------------------------------------------------------- */

static void print_part(const char *label, const char *text)
{
	char first[24];

	snprintf(first, sizeof(first), "  %-9s", label);
	print_wrapped(stdout, first, 11, text);
}

static void print_absorbed(const struct findings *l, const struct finding *x)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i]->absorbed_by == x)
			print_part("explains", l->v[i]->title);
}

/* Length of an option with its value, or of a path: where a command may be broken is before and after it. */
static size_t piece_length(const char *s)
{
	size_t n = strcspn(s, " ");

	while (s[n] && s[n + 1] != '-' && s[n + 1] != '/')
		n += 1 + strcspn(s + n + 1, " ");
	return n;
}

/* A command to paste: where it is too long for a line it goes on in the next, as a shell reads it. */
static void print_command(const char *command)
{
	int col = 4;

	fputs("    ", stdout);
	for (const char *p = command; *p;) {
		size_t n = piece_length(p);

		if (p > command && col + 1 + (int)n > 77) {
			fputs(" \\\n     ", stdout);
			col = 5;
		}
		col += printf("%s%.*s", p > command ? " " : "", (int)n, p);
		p += n + (p[n] == ' ');
	}
	putchar('\n');
}

static void print_remedy(const struct finding *x)
{
	char cost[128];

	if (x->remedy) {
		puts("  remedy");
		print_command(x->remedy);
		print_part("cost", finding_cost(x, cost, sizeof(cost)));
	}
	if (x->no_remedy)
		print_part(x->remedy ? "but" : "remedy", x->no_remedy);
	if (x->hazards)
		print_part("mind", x->hazards);
	if (x->lasting)
		print_part("lasting", x->lasting);
	if (x->gain)
		print_part("gain", x->gain);
}

static void print_finding(const struct findings *l, const struct finding *x)
{
	cleanup_free char *head = xasprintf("%s [%s]: ", severity_name(x->severity), x->check->id);

	*head = (char)(*head - 'a' + 'A');
	print_wrapped(stdout, head, 2, x->title);
	for (size_t i = 0; i < x->evidence.n; i++)
		print_wrapped(stdout, "  - ", 4, x->evidence.v[i]);
	print_remedy(x);
	print_absorbed(l, x);
	putchar('\n');
}

/* "home: aes-xts-plain64, 512-bit key; served by xts-aes-aesni; accelerated; worst: note [workqueues]" */
static void print_volume_line(const struct findings *l, const struct doctor_volume *v)
{
	const struct finding *worst = findings_worst(l, v);
	char first[MAPPING_NAME_MAX + 8], text[SPEC_TEXT_MAX];
	struct strbuf line = { 0 };

	snprintf(first, sizeof(first), "%s: ", v->name);
	strbuf_printf(&line, "%s; %s%s; %s", v->spec_known ? spec_describe(&v->spec, text, sizeof(text)) : v->cipher,
		      *v->binding.driver ? "served by " : "", *v->binding.driver ? v->binding.driver : "who serves it is not known",
		      verdict_name(v->verdict.verdict));
	if (worst)
		strbuf_printf(&line, "; worst: %s [%s]", severity_name(worst->severity), worst->check->id);
	print_wrapped(stdout, first, 2, line.s);
	strbuf_free(&line);
}

static void add_rate(struct strbuf *b, const char *what, const struct rate *r)
{
	if (r->runs)
		strbuf_printf(b, "%s%s %.1f MB/s (%.1f to %.1f)", b->len ? ", " : "", what, r->median, r->low, r->high);
}

/* "reads through the mapping 3.2 MB/s (3.1 to 3.3), of the device below …, …"; NULL when nothing was measured. */
static char *measured_line(const struct doctor_facts *f, const struct doctor_volume *v)
{
	const struct measured_setup *now = measured_now(f, v), *other;
	struct strbuf b = { 0 };
	struct setup rival;

	add_rate(&b, "reads through the mapping", &v->mapped);
	add_rate(&b, "reads of the device below", &v->raw);
	if (now) {
		add_rate(&b, "its cipher alone encrypts", &now->write);
		add_rate(&b, "decrypts", &now->read);
	}
	other = setup_rival(f, v, &rival) ? measured_find(f, &rival) : NULL;
	if (other) {
		add_rate(&b, "without the engine the CPU encrypts", &other->write);
		add_rate(&b, "decrypts", &other->read);
	}
	return b.s;
}

static void print_measured(const struct doctor_facts *f, const struct doctor_volume *v)
{
	cleanup_free char *line = measured_line(f, v);

	if (line)
		print_part("measured", line);
}

static void print_volume(const struct doctor_facts *f, const struct findings *l, const struct doctor_volume *v)
{
	const struct finding *worst = findings_worst(l, v);
	char text[SPEC_TEXT_MAX];

	print_wrapped(stdout, "", 2, v->name);
	print_part("spec", v->spec_known ? spec_describe(&v->spec, text, sizeof(text)) : v->cipher);
	if (v->open)
		print_part("driver", *v->binding.driver ? v->binding.driver : "not known");
	print_verdict_line("  verdict  ", &v->verdict);
	if (worst) {
		snprintf(text, sizeof(text), "%s [%s]", severity_name(worst->severity), worst->check->id);
		print_part("worst", text);
	}
	print_measured(f, v);
	putchar('\n');
}

/* What boards of this class reach, from the rows that are here. */
static void print_known_figures(const struct machine *m)
{
	bool any = false;

	for_each_accel(a) {
		if (a->kind == ACCEL_SOFTWARE || !accel_present(m, a, NULL, 0))
			continue;
		for (const struct accel_figure *g = accel_notes[a - accel_table].figures; g && g->what; g++) {
			cleanup_free char *line = xasprintf("%s: %s%.4g MB/s (%s)", g->what, g->cpu > 0 ? "" : "to ", g->engine, g->source);

			if (!g->silicon)
				continue;
			if (!any)
				puts("Known figures of what is here:");
			any = true;
			if (g->cpu > 0) {
				free(line);
				line = xasprintf("%s: %g to %g MB/s (%s)", g->what, g->cpu, g->engine, g->source);
			}
			print_wrapped(stdout, "  - ", 4, line);
		}
	}
	if (any)
		putchar('\n');
}

static bool anything_measured(const struct doctor_facts *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].raw.runs || f->v[i].mapped.runs)
			return true;
	return f->n_measured > 0;
}

/* What was measured stands above, with each volume; here is what others of its class reach. */
static void print_nothing_found(const struct doctor_facts *f, bool gaps)
{
	bool measured = anything_measured(f);
	cleanup_free char *head = xasprintf("No cause of slow encryption was found%s. %s", gaps ? " in what could be read" : "",
					    measured ? "What was measured stands above." : "Nothing was measured.");

	print_wrapped(stdout, "", 0, head);
	putchar('\n');
	print_known_figures(f->m);
	print_wrapped(stdout, "", 0,
		      measured ? "If what was measured is less than that, or than others of this class reach, record what hwluks sees and measured "
				 "(serial numbers, UUIDs, addresses and host names are taken out; look into it all the same) and report it:" :
				 "If it is slow all the same, compare the disk below with the volume at the same request size. If that does not explain it, "
				 "record what hwluks sees "
				 "(serial numbers, UUIDs, addresses and host names are taken out; look into it all the same) and report it:");
	puts(measured ? "    hwluks doctor --measure --record machine.tar\n" : "    hwluks doctor --record machine.tar\n");
	if (measured)
		puts("to the issues of the project that hwluks came from.");
}

static void print_all(const struct doctor_facts *f, const struct doctor_volume *only, const struct findings *l)
{
	for (size_t i = 0; i < f->n; i++)
		if (!only) {
			print_volume_line(l, &f->v[i]);
			print_measured(f, &f->v[i]);
		} else if (only == &f->v[i]) {
			print_volume(f, l, &f->v[i]);
		}
	if (!only && f->n)
		putchar('\n');
	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i]->absorbed_by)
			print_finding(l, l->v[i]);
	if (!findings_reach(l, SEVERITY_NOTE))
		print_nothing_found(f, findings_reach(l, SEVERITY_UNKNOWN));
}

/* --- JSON --------------------------------------------------------------------------------------------------- */

static void json_num_or_null(struct json_object *o, const char *key, double value, int decimals)
{
	if (value > 0)
		json_add_num(o, key, value, decimals);
	else
		json_add_str(o, key, NULL);
}

static void json_rate(struct json_object *o, const char *key, const struct rate *r)
{
	struct json_object *x;

	if (!r->runs) {
		json_add_str(o, key, NULL);
		return;
	}
	x = json_add_obj(o, key);
	json_add_num(x, "median", r->median, 3);
	json_add_num(x, "low", r->low, 3);
	json_add_num(x, "high", r->high, 3);
	json_add_int(x, "runs", r->runs);
}

static void json_setups(struct json_object *list, const struct doctor_facts *f)
{
	for (size_t i = 0; i < f->n_measured; i++) {
		const struct measured_setup *m = &f->measured[i];
		struct json_object *o = json_add_obj(list, NULL);

		json_spec(o, "spec", &m->setup.spec);
		json_add_str(o, "forced", *m->setup.forced ? m->setup.forced : NULL);
		json_flags(o, m->setup.flags);
		json_add_str(o, "driver", *m->driver ? m->driver : NULL);
		json_rate(o, "write", &m->write);
		json_rate(o, "read", &m->read);
		json_add_str(o, "failed", *m->why ? m->why : NULL);
	}
}

static void json_finding(struct json_object *list, const struct finding *x)
{
	struct json_object *o = json_add_obj(list, NULL), *ev;

	json_add_str(o, "id", x->check->id);
	json_add_str(o, "severity", severity_name(x->severity));
	json_add_str(o, "volume", x->volume ? x->volume->name : NULL);
	json_add_str(o, "title", x->title);
	ev = json_add_arr(o, "evidence");
	for (size_t i = 0; i < x->evidence.n; i++)
		json_add_str(ev, NULL, x->evidence.v[i]);
	json_add_str(o, "remedy", x->remedy);
	json_add_str(o, "no_remedy", x->no_remedy);
	json_add_str(o, "cost", x->remedy ? cost_name(x->cost) : NULL);
	json_add_str(o, "hazards", x->hazards);
	json_add_str(o, "lasting", x->lasting);
	json_add_str(o, "gain", x->gain);
	json_add_bool(o, "measured", x->measured);
	json_num_or_null(o, "factor", x->factor, 2);
	json_num_or_null(o, "rewrite_seconds", x->remedy ? x->rewrite_s : 0, 0);
	json_add_str(o, "absorbed_by", x->absorbed_by ? x->absorbed_by->check->id : NULL);
}

static void json_volume(struct json_object *list, const struct findings *l, const struct doctor_volume *v)
{
	struct json_object *o = json_add_obj(list, NULL);
	const struct finding *worst = findings_worst(l, v);

	json_add_str(o, "name", v->name);
	json_add_bool(o, "open", v->open);
	json_add_str(o, "device", *v->device ? v->device : NULL);
	json_spec(o, "spec", v->spec_known ? &v->spec : NULL);
	json_add_str(o, "served_by", *v->binding.driver ? v->binding.driver : NULL);
	json_add_str(o, "evidence_kind", v->open ? binding_evidence_name(v->binding.evidence) : NULL);
	json_add_str(o, "verdict", verdict_name(v->verdict.verdict));
	json_add_str(o, "worst", worst ? worst->check->id : NULL);
	json_rate(o, "mapping_read", &v->mapped);
	json_rate(o, "device_read", &v->raw);
}

static void json_all(const struct doctor_facts *f, const struct doctor_volume *only, const struct findings *l)
{
	struct json_object *doc = json_add_obj(NULL, NULL), *list = json_add_arr(doc, "volumes");

	for (size_t i = 0; i < f->n; i++)
		if (!only || only == &f->v[i])
			json_volume(list, l, &f->v[i]);
	list = json_add_arr(doc, "findings");
	for (size_t i = 0; i < l->n; i++)
		json_finding(list, l->v[i]);
	json_setups(json_add_arr(doc, "setups"), f);
	json_unread(doc, f->m);
	json_print(doc);
}

/* --- the command ---------------------------------------------------------------------------------------------- */

static int diagnose(struct cmd_context *c, struct doctor_facts *f)
{
	struct mapping_list all = { 0 };
	struct doctor_volume *only = NULL;
	struct findings l = { 0 };
	int r = 0;

	gather_volumes(c, &all, f);
	if (c->n_args)
		r = find_volume(c, f, &all, &only);
	if (!r) {
		doctor_measure(c, f, only);
		doctor_run(f, only, &l);
		if (c->opt.json)
			json_all(f, only, &l);
		else
			print_all(f, only, &l);
		r = findings_reach(&l, SEVERITY_WARNING) ? EXIT_FINDINGS : 0;
	}
	findings_free(&l);
	mapping_list_free(&all);
	return r;
}

struct gathered {
	struct doctor_facts f;
	struct machine m;
	struct load_plan plan;
};

static int gather(struct cmd_context *c, struct gathered *g)
{
	int r = probe_machine(&c->root, PROBE_ALL, &g->m);

	if (r) {
		log_error("Cannot look at this machine: %s.", strerror(-r));
		return r;
	}
	policy_load_plan(&g->m, NULL, &g->plan);
	g->f.m = &g->m;
	g->f.plan = &g->plan;
	gather_texts(c, &g->m, &g->f);
	return 0;
}

static void gathered_free(struct gathered *g)
{
	doctor_facts_free(&g->f);
	load_plan_free(&g->plan);
	machine_free(&g->m);
}

int doctor_gather_only(struct cmd_context *c)
{
	struct mapping_list all = { 0 };
	struct gathered g = { 0 };
	int r = doctor_measure_check(c);

	if (!r)
		r = gather(c, &g);
	if (!r) {
		gather_volumes(c, &all, &g.f);
		doctor_measure(c, &g.f, NULL);
	}
	mapping_list_free(&all);
	gathered_free(&g);
	return r;
}

int cmd_doctor(struct cmd_context *c)
{
	struct gathered g = { 0 };
	int r = c->opt.record ? 0 : doctor_measure_check(c);

	if (!r)
		r = gather(c, &g);
	if (!r)
		r = diagnose(c, &g.f);
	if (g.f.m && !c->opt.json)
		say_unread(&g.m);
	gathered_free(&g);
	return r;
}
