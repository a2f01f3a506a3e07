/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What doctor measures: reads of disks and volumes, ways to encrypt without a disk, key slots; announced before.
 * Must not judge, and must not write to a device.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "doctor/doctor.h"
#include "vol/mapping.h"
#include "vol/measure.h"
#include "vol/reads.h"

#define MEASURED_DIR	"/hwluks/measured"
#define MEASURED_SETUPS "/hwluks/measured-setups"

/*
 * A rate is the median of three runs, after a warm-up of a quarter of one. A second each is long enough for a disk; with many volumes
 * or little time they are shorter.
 */
#define RUNS	    3u
#define RUN_MOST_MS 1000u
#define RUN_LEAST_MS 50u
#define SECONDS	    30u
#define SECONDS_MAX 3600u
/* More than these would take minutes; NAME measures one of the others. */
#define VOLUMES_MAX 8u

struct job {
	struct doctor_volume *v[VOLUMES_MAX];
	size_t n;
	struct setup s[MEASURED_MAX];
	size_t n_s;
	unsigned int run_ms;
};

/* --- whether --------------------------------------------------------------------------------------------- */

/* Of --measure[=SECONDS]; 0 = it is no such number. */
static unsigned int seconds(const struct cmd_context *c)
{
	uint64_t n = SECONDS;

	if (c->opt.measure && strcmp(c->opt.measure, "auto") && parse_u64(c->opt.measure, SECONDS_MAX, &n))
		return 0;
	return (unsigned int)n;
}

int doctor_measure_check(struct cmd_context *c)
{
	if (!seconds(c))
		log_error("--measure takes the number of seconds it may last, 1 to %u.", SECONDS_MAX);
	else if (c->opt.measure && c->opt.quick)
		log_error("--measure and --quick exclude each other.");
	else if (c->opt.measure && (c->opt.sysroot || c->opt.replay))
		log_error("A recorded machine cannot be measured: --measure goes with this one.");
	else if (c->opt.measure && geteuid()) {
		log_error("Only root may measure: it takes reads of the devices and mappings of its own.");
		return -EPERM;
	} else
		return 0;
	return -EINVAL;
}

static bool wanted(const struct cmd_context *c)
{
	if (c->root.recorded || c->opt.quick)
		return false;
	return c->opt.measure || (isatty(STDOUT_FILENO) && !geteuid());
}

/* --- what ---------------------------------------------------------------------------------------------------- */

static void add_setup(struct job *j, const struct setup *s)
{
	for (size_t i = 0; i < j->n_s; i++)
		if (setup_same(&j->s[i], s))
			return;
	if (s->is && s->spec.key_bits && j->n_s < MEASURED_MAX)
		j->s[j->n_s++] = *s;
}

static bool chosen(const struct job *j, const struct doctor_volume *v)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->v[i] == v)
			return true;
	return false;
}

static void choose_volumes(struct doctor_facts *f, struct doctor_volume *only, struct job *j)
{
	if (only)
		j->v[j->n++] = only;
	for (size_t i = 0; i < f->n && !only; i++)
		if (j->n < VOLUMES_MAX)
			j->v[j->n++] = &f->v[i];
		else
			str_copy(f->v[i].measure_why, sizeof(f->v[i].measure_why), "Too many volumes are open: name this one to have it measured.");
}

/* Each volume as it is, its software, and what the remedies would make of it; nobody is offered those of findings that are explained. */
static void choose_setups(const struct doctor_facts *f, const struct doctor_volume *only, struct job *j)
{
	struct findings l;
	struct setup s;

	for (size_t i = 0; i < j->n; i++) {
		if (setup_now(f, j->v[i], &s))
			add_setup(j, &s);
		if (setup_rival(f, j->v[i], &s))
			add_setup(j, &s);
	}
	doctor_run(f, only, &l);
	for (size_t i = 0; i < l.n; i++)
		if (!l.v[i]->absorbed_by && l.v[i]->volume && chosen(j, l.v[i]->volume))
			add_setup(j, &l.v[i]->then);
	findings_free(&l);
}

/* Rates to be measured: of each volume two, of each setup two. */
static unsigned int rates(const struct job *j)
{
	return (unsigned int)(2 * j->n + 2 * j->n_s);
}

static void plan_time(const struct cmd_context *c, struct job *j)
{
	/* three runs and a warm-up of a quarter of one */
	unsigned int ms = seconds(c) * 1000 / rates(j) * 4 / (4 * RUNS + 1);

	j->run_ms = ms > RUN_MOST_MS ? RUN_MOST_MS : ms < RUN_LEAST_MS ? RUN_LEAST_MS : ms;
}

static void announce(const struct job *j)
{
	unsigned int s = (rates(j) * j->run_ms * (4 * RUNS + 1) / 4 + 999) / 1000;
	struct strbuf b = { 0 };

	for (size_t i = 0; i < j->n; i++)
		strbuf_printf(&b, "%s%s", i ? ", " : "", j->v[i]->name);
	log_note("Measuring for about %u s: reads of %s and of what is below; %zu way%s to encrypt, without a disk; then key slots. Nothing is "
		 "written to a device. --quick leaves it out.", s, b.s, j->n_s, j->n_s == 1 ? "" : "s");
	strbuf_free(&b);
}

/* --- reads -------------------------------------------------------------------------------------------------- */

static uint64_t size_of(const char *path)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);

	return end > 0 ? (uint64_t)end : 0;
}

/* Where it lies, and the mapping; false with the reason when that is not to be had. */
static bool find_devices(struct doctor_volume *v, struct reads_request *rq)
{
	struct mapping_facts m;
	uint64_t whole;
	int r = v->open ? mapping_get(v->name, &m) : 0;

	if (r) {
		snprintf(v->measure_why, sizeof(v->measure_why), "Its mapping cannot be asked: %s.", strerror(-r));
		return false;
	}
	if (v->open && m.suspended) {
		snprintf(v->measure_why, sizeof(v->measure_why), "It is suspended.");
		return false;
	}
	if (!device_number_of(v->open ? m.table.device : v->device, &rq->raw)) {
		snprintf(v->measure_why, sizeof(v->measure_why), "The block device below could not be found.");
		return false;
	}
	rq->mapped = v->open ? m.dev : 0;
	if (!v->open && !v->size) {
		whole = size_of(v->device);
		v->size = whole > v->data_offset ? whole - v->data_offset : 0;
	}
	return true;
}

static bool is_block(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISBLK(st.st_mode);
}

static void measure_volume(const struct job *j, struct doctor_volume *v)
{
	struct reads_request rq = { .raw_start = v->data_offset, .request = MEASURED_REQUEST, .run_ms = j->run_ms,
				    .runs = RUNS };
	struct reads_result res;

	if (!v->open && !is_block(v->device)) /* a regular file */
		return;
	if (!find_devices(v, &rq))
		return;
	rq.size = v->size;
	measure_reads(&rq, &res);
	v->raw = res.raw;
	v->mapped = res.mapped;
	str_copy(v->measure_why, sizeof(v->measure_why), res.text);
}

/* --- key slots ------------------------------------------------------------------------------------------------ */

static bool same_cost(const struct doctor_keyslot *a, const struct doctor_keyslot *b)
{
	return !strcmp(a->pbkdf, b->pbkdf) && !strcmp(a->hash, b->hash) && a->memory_kib == b->memory_kib && a->parallel == b->parallel &&
	       a->key_bits == b->key_bits;
}

/* A slot of the same kind that was measured already: the time goes with the iterations. */
static const struct doctor_keyslot *like_it(const struct job *j, const struct doctor_keyslot *s)
{
	for (size_t i = 0; i < j->n; i++)
		for (size_t k = 0; k < j->v[i]->header.n_slots; k++) {
			const struct doctor_keyslot *o = &j->v[i]->header.slot[k];

			if (o->unlock_s > 0 && same_cost(o, s))
				return o;
		}
	return NULL;
}

static void measure_slot(const struct machine *m, const struct job *j, struct doctor_volume *v, struct doctor_keyslot *s)
{
	struct vol_keyslot k = { .slot = s->slot, .iterations = s->iterations, .memory_kib = s->memory_kib, .parallel = s->parallel,
				 .key_bits = s->key_bits };
	const struct doctor_keyslot *o = like_it(j, s);
	int r = 0;

	if (!s->iterations)
		return;
	str_copy(k.pbkdf, sizeof(k.pbkdf), s->pbkdf);
	str_copy(k.hash, sizeof(k.hash), s->hash);
	if (o)
		s->unlock_s = o->unlock_s / o->iterations * s->iterations;
	else
		r = measure_unlock(&k, m->mem_available / 1024 / 4, &s->unlock_s);
	if (!r || r == -ERANGE)
		return;
	if (!*v->measure_why)
		snprintf(v->measure_why, sizeof(v->measure_why), "What key slot %d takes could not be measured: %s.", s->slot, strerror(-r));
	else
		log_verbose("What key slot %d of %s takes could not be measured: %s.", s->slot, v->name, strerror(-r));
}

/* --- setups ---------------------------------------------------------------------------------------------------- */

static void measure_setup(const struct job *j, struct doctor_facts *f, const struct setup *s)
{
	struct measured_setup *m = measured_add(f, s);
	struct measure_request rq = { .spec = &s->spec, .cipher = *s->forced ? s->forced : NULL, .request_size = MEASURED_REQUEST,
				      .run_ms = j->run_ms, .runs = RUNS, .flags = s->flags };
	struct measure_result res;
	int r = measure_spec(&rq, &res);

	if (*res.left_behind)
		log_warn("%s", res.left_behind);
	str_copy(m->driver, sizeof(m->driver), res.driver);
	if (r)
		str_copy(m->why, sizeof(m->why), *res.text ? res.text : strerror(-r));
	else if (res.over_memory)
		str_copy(m->why, sizeof(m->why), "This kernel has no zero target, without which a cipher cannot be measured alone.");
	if (r || res.over_memory)
		return;
	m->write = res.write;
	m->read = res.read;
}

static void note(struct cmd_context *c, const char *path, struct strbuf *text)
{
	if (text->len)
		sysroot_note(&c->root, path, text->s, text->len);
	strbuf_free(text);
}

static void note_all(struct cmd_context *c, const struct doctor_facts *f)
{
	struct strbuf text = { 0 };

	for (size_t i = 0; i < f->n; i++) {
		cleanup_free char *file = xasprintf("%s/%s", MEASURED_DIR, f->v[i].name);

		measured_volume_to_text(&f->v[i], &text);
		note(c, file, &text);
	}
	measured_setups_to_text(f, &text);
	note(c, MEASURED_SETUPS, &text);
}

void doctor_measure(struct cmd_context *c, struct doctor_facts *f, struct doctor_volume *only)
{
	struct job j = { .n = 0 };

	if (!wanted(c))
		return;
	choose_volumes(f, only, &j);
	choose_setups(f, only, &j);
	if (!j.n)
		return;
	plan_time(c, &j);
	announce(&j);
	for (size_t i = 0; i < j.n; i++)
		measure_volume(&j, j.v[i]);
	for (size_t i = 0; i < j.n_s; i++)
		measure_setup(&j, f, &j.s[i]);
	for (size_t i = 0; i < j.n; i++)
		for (size_t k = 0; k < j.v[i]->header.n_slots; k++)
			measure_slot(f->m, &j, j.v[i], &j.v[i]->header.slot[k]);
	note_all(c, f);
}

/* --- of a recording ----------------------------------------------------------------------------------------------- */

void doctor_measured_volume(struct cmd_context *c, struct doctor_volume *v)
{
	cleanup_free char *file = xasprintf("%s/%s", MEASURED_DIR, v->name), *text = NULL;

	if (c->root.recorded && !sysroot_read(&c->root, file, &text, NULL))
		measured_volume_from_text(text, v);
}

void doctor_measured_setups(struct cmd_context *c, struct doctor_facts *f)
{
	cleanup_free char *text = NULL;

	if (c->root.recorded && !sysroot_read(&c->root, MEASURED_SETUPS, &text, NULL))
		measured_setups_from_text(text, f);
}
