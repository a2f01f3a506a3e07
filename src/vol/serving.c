/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Who serves an open volume: the record that `open` leaves in /run/hwluks, and the look-up that
 * status uses. Gathers for core/binding.c, which decides.
 */
#include "vol/serving.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "util/util.h"
#include "vol/rundir.h"

static void note_name(const char *mapping, char *buf, size_t size)
{
	snprintf(buf, size, "%s.binding", mapping);
}

/*
 * What tells this mapping from an earlier one of the same name and number: the inode of its sysfs
 * directory, which is new for each block device that is made (diskseq would do, but is in 5.15 and
 * later only).
 */
static unsigned long long creation_mark(dev_t dev)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	return stat(path, &st) ? 0 : (unsigned long long)st.st_ino;
}

/* Everything but the driver: a record is good when these lines are equal. */
static void mark_text(const struct mapping_facts *f, char *buf, size_t size)
{
	char boot[48];

	snprintf(buf, size, "boot %s\ndevice %u:%u\nmark %llu\nuuid %s\ncipher %s\n",
	         rundir_boot_id(boot, sizeof(boot)), major(f->dev), minor(f->dev),
	         creation_mark(f->dev), f->uuid, f->table.cipher);
}

int serving_record(const char *name, const struct alg_list *before, const struct alg_list *after,
                   struct binding *out)
{
	struct mapping_facts facts;
	char mark[640], text[800], note[160];
	struct binding b = { 0 };
	int err = mapping_get(name, &facts);

	serving_forget(name);
	if (!err && !facts.spec_known)
		err = -EINVAL;
	if (!err)
		binding_from_rise(before, after, &facts.spec, &b);
	if (!err && b.evidence == BINDING_RECORDED) {
		mark_text(&facts, mark, sizeof(mark));
		snprintf(text, sizeof(text), "%sdriver %s\n", mark, b.driver);
		note_name(name, note, sizeof(note));
		err = rundir_write(note, text);
	} else if (!err) {
		err = -ENODATA;
	}
	if (out)
		*out = b;
	return err;
}

int serving_record_again(const char *name, const struct binding *was, const struct alg_list *before,
                         const struct alg_list *after, struct binding *out)
{
	struct alg_list less = { .v = xcalloc(before->n + 1, sizeof(*less.v)), .n = before->n };
	struct mapping_facts facts;
	int err;

	memcpy(less.v, before->v, before->n * sizeof(*less.v));
	if (!mapping_get(name, &facts))
		binding_take_off(&less, was, &facts.spec);
	err = serving_record(name, &less, after, out);
	free(less.v);
	return err;
}

void serving_forget(const char *name)
{
	char note[160];

	note_name(name, note, sizeof(note));
	rundir_remove(note);
}

bool serving_recorded(const struct mapping_facts *f, char *driver, size_t size)
{
	char mark[640], text[1024], note[160];
	char *line;

	note_name(f->name, note, sizeof(note));
	if (rundir_read(note, text, sizeof(text)))
		return false;
	mark_text(f, mark, sizeof(mark));
	if (!str_starts(text, mark))
		return false;
	line = text + strlen(mark);
	line[strcspn(line, "\n")] = '\0';
	return str_starts(line, "driver ") && str_copy(driver, size, line + strlen("driver ")) &&
	       *driver;
}

/* Specs of all other open crypt mappings. */
static struct cipher_spec *other_specs(const struct mapping_facts *f, const struct mapping_list *l,
                                       size_t *n)
{
	struct cipher_spec *out = xcalloc(l ? l->n + 1 : 1, sizeof(*out));

	*n = 0;
	for (size_t i = 0; l && i < l->n; i++)
		if (strcmp(l->v[i].name, f->name) && l->v[i].spec_known)
			out[(*n)++] = l->v[i].spec;
	return out;
}

void serving_find_in(const struct machine *m, const struct mapping_facts *facts,
                     const struct mapping_list *all, const char *recorded, struct binding *out)
{
	struct binding_query q = { .now = &m->algs, .spec = &facts->spec };
	struct cipher_spec *others;

	memset(out, 0, sizeof(*out));
	if (!facts->spec_known || !m->algs_known) {
		snprintf(out->why, sizeof(out->why), "%s",
		         m->algs_known ? "The volume's cipher is not understood."
		                       : "The kernel's list of algorithms could not be read.");
		return;
	}
	others = other_specs(facts, all, &q.n_others);
	q.others = others;
	q.others_known = all;
	q.recorded = recorded;
	binding_decide(&q, out);
	free(others);
}

int serving_find(const struct machine *m, const struct mapping_facts *facts, struct binding *out)
{
	struct mapping_list l = { 0 };
	int err = facts->spec_known && m->algs_known ? mapping_list(&l) : 0;
	char driver[ALG_NAME_MAX];

	serving_find_in(m, facts, err ? NULL : &l, serving_recorded(facts, driver, sizeof(driver)) ? driver : NULL, out);
	mapping_list_free(&l);
	return err;
}
