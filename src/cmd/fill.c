/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks fill: gather → decide → show the plan → ask → fill → say what came of it; format fills through it too.
 * Everything that can refuse comes before the first write; must not make or write a byte itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "fill/fill.h"
#include "vol/vol.h"

#define TTY_MS	 500u /* as cryptsetup */
#define JSON_MS	 500u
#define LINE_MS	 10000u
#define PROBE_MS 250u /* reading the device for the estimate */
#define PROBE_BYTES (64u << 20)
#define TMPFS_MAGIC 0x01021994
#define IOPRIO_IDLE (3 << 13) /* class idle, linux/ioprio.h */

struct fill_job {
	struct cmd_context *c;
	struct blkdev *bd;
	uint64_t start, length;
	struct fill_record found; /* of an interrupted fill */
	bool has_found, idle;
	int state_fd;
	const struct fill_engine *engine;
	double rate[8];	   /* of fill_engines, one thread, bytes per second; 0 = not measured or not here */
	double read_rate;  /* of the device; 0 = not known */
	bool tty, shown;   /* a progress line stands on the terminal */
	struct fill_result res;
	const char *result; /* for JSON */
};

static bool resuming(const struct fill_job *j)
{
	return j->has_found && !j->c->opt.restart;
}

/* --- numbers for people --------------------------------------------------------------------------------- */

static const char *rate_text(double rate, char *buf, size_t size)
{
	if (rate >= 1e9)
		snprintf(buf, size, "%.1f GB/s", rate / 1e9);
	else
		snprintf(buf, size, rate >= 1e7 ? "%.0f MB/s" : "%.1f MB/s", rate / 1e6);
	return buf;
}

static const char *time_text(double seconds, char *buf, size_t size)
{
	unsigned long long s = seconds < 0 || seconds > 1e12 ? 0 : (unsigned long long)(seconds + 0.5);

	if (s >= 48 * 3600)
		snprintf(buf, size, "%llu days %llu h", s / 86400, s % 86400 / 3600);
	else if (s >= 3600)
		snprintf(buf, size, "%llu h %llu min", s / 3600, s % 3600 / 60);
	else if (s >= 60)
		snprintf(buf, size, "%llu min %llu s", s / 60, s % 60);
	else
		snprintf(buf, size, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
	return buf;
}

/* --- what contradicts itself -------------------------------------------------------------------------------- */

static int refuse(int err, const char *sentence)
{
	log_error("%s", sentence);
	return err;
}

static int find_engine(struct fill_job *j, const char *option, const char *name)
{
	if (!name || !strcmp(name, "auto"))
		return 0;
	j->engine = fill_engine_find(name);
	if (j->engine)
		return 0;
	log_error("--%s=%s: there are auto, aes, chacha and urandom.", option, name);
	return -EINVAL;
}

static int check_options(struct fill_job *j)
{
	const struct options *o = &j->c->opt;

	if (o->resume && o->restart)
		return refuse(-EINVAL, "--resume and --restart exclude each other.");
	if (o->json && o->progress_json)
		return refuse(-EINVAL, "--json and --progress-json both want standard output: leave one out.");
	if (find_engine(j, "engine", o->engine))
		return -EINVAL;
	if (j->engine && o->verify && !j->engine->keystream)
		return refuse(-EINVAL, "--verify needs bytes that can be made again: --engine urandom has none.");
	if (o->priority && strcmp(o->priority, "auto") != 0 && strcmp(o->priority, "idle") != 0 && strcmp(o->priority, "normal") != 0) {
		log_error("--priority %s: there are auto, idle and normal.", o->priority);
		return -EINVAL;
	}
	if (o->rate_limit && o->rate_limit < 4096)
		return refuse(-EINVAL, "--rate-limit: at least 4096 bytes per second.");
	return 0;
}

static int check_range(struct fill_job *j)
{
	const struct options *o = &j->c->opt;
	uint64_t size = j->bd->size;

	j->start = o->offset * 512;
	if (!size)
		return refuse(-EINVAL, "The device has no bytes to fill.");
	if (j->start >= size) {
		log_error("--offset: byte %" PRIu64 " is not on %s, which ends at byte %" PRIu64 ".", j->start, j->bd->path, size);
		return -EINVAL;
	}
	j->length = o->length ? o->length * 512 : size - j->start;
	if (j->length > size - j->start) {
		log_error("--length: %s has %" PRIu64 " sectors from there on.", j->bd->path, (size - j->start) / 512);
		return -EINVAL;
	}
	if (!j->bd->file && (j->start % j->bd->logical_sector || j->length % j->bd->logical_sector)) {
		log_error("%s has sectors of %u bytes: --offset and --length must be multiples of %u.", j->bd->path,
			  j->bd->logical_sector, j->bd->logical_sector / 512);
		return -EINVAL;
	}
	return 0;
}

/* --- the record of an earlier fill ---------------------------------------------------------------------------- */

/* A state file: absent, or one of ours; never the target itself. */
static int open_state(struct fill_job *j)
{
	const char *path = j->c->opt.state;
	struct stat st, target;
	struct statfs fs;
	int err;

	if (!path)
		return 0;
	j->state_fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (j->c->opt.resume || j->c->opt.dry_run ? 0 : O_CREAT), 0600);
	if (j->state_fd < 0 && j->c->opt.dry_run && errno == ENOENT)
		return 0;
	if (j->state_fd < 0 || fstat(j->state_fd, &st) || fstat(j->bd->fd, &target)) {
		err = -errno;
		log_error("--state %s: %s.", path, strerror(-err));
		return err == -ENOENT ? -EINVAL : err;
	}
	if (!S_ISREG(st.st_mode) || (st.st_dev == target.st_dev && st.st_ino == target.st_ino)) {
		log_error("--state %s: a regular file is wanted, and not the target.", path);
		return -EINVAL;
	}
	if (!fstatfs(j->state_fd, &fs) && fs.f_type == TMPFS_MAGIC)
		log_warn("--state %s is in memory: after a restart of this machine the fill cannot be resumed.", path);
	err = fill_slots_read(j->state_fd, &j->found);
	j->has_found = !err;
	if (err == -ENOENT && st.st_size) {
		log_error("--state %s: the file holds something else. Name a new file.", path);
		return -EEXIST;
	}
	return 0;
}

static int find_record(struct fill_job *j)
{
	const struct options *o = &j->c->opt;
	int r = open_state(j);

	if (r || o->state)
		return r;
	if (j->start)
		return 0;
	r = fill_slots_read(j->bd->fd, &j->found);
	j->has_found = !r;
	if (r == -ENOTSUP && !o->restart) {
		log_error("%s: a later release of hwluks was filling it. Use that one, or --restart.", j->bd->path);
		return -EINVAL;
	}
	if (r == -EBADMSG)
		log_warn("%s: a record of an interrupted fill is there, but both copies are damaged.", j->bd->path);
	else if (r && r != -ENOENT && r != -ENOTSUP && r != -EIO)
		return r;
	return 0;
}

/* The record's own range is what is resumed; another one asked for is a mistake. */
static int check_resume(struct fill_job *j)
{
	const struct options *o = &j->c->opt;

	if (!j->has_found) {
		if (!o->resume)
			return 0;
		log_error("%s: no interrupted fill to resume: none was begun here, or it came to its end.",
			  o->state ? o->state : j->bd->path);
		return -EINVAL;
	}
	if (o->restart)
		return 0;
	if (j->found.device_size != j->bd->size || j->found.block != j->bd->logical_sector) {
		log_error("%s has %" PRIu64 " bytes in sectors of %u; the interrupted fill was of a device of %" PRIu64
			  " bytes in sectors of %u. --restart begins anew.", j->bd->path, j->bd->size, j->bd->logical_sector,
			  j->found.device_size, j->found.block);
		return -ENODEV;
	}
	if (!o->resume) {
		log_error("%s: a fill was interrupted here. --resume goes on from where it was, --restart begins anew.", j->bd->path);
		return -EEXIST;
	}
	if ((o->offset && j->start != j->found.start) || (o->length && j->length != j->found.length))
		return refuse(-EINVAL, "--resume fills the range that was interrupted: leave --offset and --length out.");
	if (o->state && !j->found.has_last)
		return refuse(-EINVAL, "The state file tells of no block that is filled, so the device cannot be recognised: use --restart.");
	j->start = j->found.start;
	j->length = j->found.length;
	return 0;
}

/* --- the device --------------------------------------------------------------------------------------------------- */

static int check_target(struct fill_job *j)
{
	struct record old = { 0 };
	enum record_state state = RECORD_NONE;
	int r = target_refuse_in_use(j->bd);

	if (!r && j->bd->readonly)
		r = refuse(-EROFS, "The device is read-only.");
	if (!r && j->bd->zoned)
		r = refuse(-EOPNOTSUPP, "A zoned device takes writes in the order of its zones only; hwluks cannot fill it.");
	if (!r && record_read(j->bd->fd, &old, &state) == -EIO)
		log_warn("%s: its first sector cannot be read.", j->bd->path);
	return r ? r : target_refuse_signatures(&j->c->opt, j->bd, state == RECORD_NONE ? NULL : &old, false);
}

/* Another partition of the disk is in use, or the target is a file among others. */
static bool shares_disk(const struct fill_job *j)
{
	struct blkdev disk = { 0 };
	struct stat st;
	bool shared;

	if (j->bd->file)
		return true;
	if (!strcmp(j->bd->disk, j->bd->path) || stat(j->bd->disk, &st))
		return false;
	blkdev_uses(&j->c->root, st.st_rdev, &disk);
	shared = disk.n_use > 0;
	blkdev_uses_free(&disk);
	return shared;
}

static bool want_idle(const struct fill_job *j)
{
	const char *p = j->c->opt.priority;

	return !p || !strcmp(p, "auto") ? shares_disk(j) : !strcmp(p, "idle");
}

/* How fast the device reads, as the best that can be known before anything is written. */
static double read_rate(const struct fill_job *j)
{
	unsigned char *buf = fill_buffer(FILL_CHUNK);
	double start = clock_s(), now = start;
	uint64_t done = 0;
	struct fill_io io;

	fill_io_open(j->bd, &io);
	while (io.fd >= 0 && done + FILL_CHUNK <= j->length && done < PROBE_BYTES && now - start < PROBE_MS / 1e3) {
		if (fill_io_read(&io, buf, FILL_CHUNK, j->start + done))
			break;
		done += FILL_CHUNK;
		now = clock_s();
	}
	fill_io_close(&io);
	free(buf);
	return now > start ? (double)done / (now - start) : 0;
}

static void choose_engine(struct fill_job *j)
{
	if (!j->engine)
		j->engine = fill_engine_choose(j->rate);
	else
		j->rate[j->engine - fill_engines] = fill_engine_rate(j->engine, 10);
}

/* --- the plan ------------------------------------------------------------------------------------------------------- */

static double engine_rate(const struct fill_job *j)
{
	return j->rate[j->engine - fill_engines];
}

/* Seconds; 0 = cannot be told. The writers make bytes side by side, so one engine thread is a floor. */
static double estimate(const struct fill_job *j)
{
	uint64_t todo = j->length - (resuming(j) ? fill_record_done(&j->found) : 0);
	double rate = j->read_rate;

	if (!rate)
		return 0;
	if (engine_rate(j) && engine_rate(j) < rate)
		rate = engine_rate(j);
	if (j->c->opt.rate_limit && (double)j->c->opt.rate_limit < rate)
		rate = (double)j->c->opt.rate_limit;
	return (double)todo / rate * (j->c->opt.verify ? 2 : 1);
}

static void print_engine(const struct fill_job *j)
{
	struct strbuf b = { 0 };
	char text[32];

	strbuf_printf(&b, "%s, %s, %s", j->engine->name, j->engine->words,
		      j->c->opt.engine && strcmp(j->c->opt.engine, "auto") != 0 ? "as asked" : "the fastest here");
	for (size_t i = 0, n = 0; i < fill_engine_count; i++)
		if (j->rate[i])
			strbuf_printf(&b, "%s%s %s", n++ ? ", " : " (", fill_engines[i].name, rate_text(j->rate[i], text, sizeof(text)));
	strbuf_printf(&b, "%s", engine_rate(j) ? " in one thread)" : "");
	print_row("engine", b.s);
	strbuf_free(&b);
}

static void print_time(const struct fill_job *j)
{
	double s = estimate(j);
	char text[64], rate[32];
	struct strbuf b = { 0 };

	if (s)
		strbuf_printf(&b, "about %s, if it writes as fast as it reads (%s)", time_text(s, text, sizeof(text)),
			      rate_text(j->read_rate, rate, sizeof(rate)));
	else
		strbuf_printf(&b, "cannot be told before writing");
	print_row("time", b.s);
	strbuf_free(&b);
}

static bool resumable(const struct fill_job *j)
{
	struct fill_request rq = { .start = j->start, .length = j->length };

	return j->c->opt.state || fill_has_room(&rq);
}

static void print_plan(const struct fill_job *j)
{
	char text[256], size[32];

	printf("Plan for %s (%s)\n", j->bd->path, size_text(j->bd->size, size, sizeof(size)));
	snprintf(text, sizeof(text), "%s from byte %" PRIu64 " with random data", size_text(j->length, size, sizeof(size)), j->start);
	print_row("fills", text);
	if (resuming(j)) {
		snprintf(text, sizeof(text), "%s of it are filled already", size_text(fill_record_done(&j->found), size, sizeof(size)));
		print_row("resumes", text);
	}
	print_engine(j);
	print_time(j);
	if (j->idle)
		print_row("priority", j->c->opt.priority && !strcmp(j->c->opt.priority, "idle") ? "idle, as asked" :
				      "idle: other data on the same disk is in use");
	if (!resumable(j))
		print_row("note", "An interruption loses what was done: a range that does not start at byte 0, or one below 2 MiB, has no room "
			  "for the record. --state FILE keeps it elsewhere.");
	if (j->bd->discard_granularity)
		print_row("note", "The device takes discards (SSD, or thin provisioning): a fill costs wear, or takes up all the space that was "
			  "promised, and later discards undo it.");
	for (size_t i = 0; i < j->bd->n_sig; i++) {
		blkdev_signature_text(&j->bd->sig[i], text, sizeof(text));
		print_row(i ? "" : "destroys", text);
	}
	fflush(stdout);
}

/* --- progress ----------------------------------------------------------------------------------------------------- */

static double remaining(const struct fill_progress *p)
{
	return p->mean > 0 ? (double)(p->total - p->done) / p->mean : 0;
}

static void progress_text(struct fill_job *j, const struct fill_progress *p)
{
	char done[32], total[32], now[32], mean[32], eta[48], bad[48] = "";

	if (p->bad)
		snprintf(bad, sizeof(bad), ", %" PRIu64 " bytes bad", p->bad);
	fprintf(stderr, "%s%s %.1f %%, %s of %s, %s (mean %s), %s left%s%s", j->tty ? "\r\033[K" : "",
		p->phase == FILL_VERIFYING ? "Verified" : "Filled", p->total ? 100.0 * (double)p->done / (double)p->total : 100.0,
		size_text(p->done, done, sizeof(done)), size_text(p->total, total, sizeof(total)),
		rate_text(p->speed, now, sizeof(now)), rate_text(p->mean, mean, sizeof(mean)),
		p->mean > 0 ? time_text(remaining(p), eta, sizeof(eta)) : "?", bad, j->tty && !p->asked ? "" : "\n");
	fflush(stderr);
	j->shown = j->tty && !p->asked;
}

/* cryptsetup's keys; its numbers are strings, too. */
static void progress_json(const struct fill_job *j, const struct fill_progress *p)
{
	struct json_object *doc = json_add_obj(NULL, NULL);

	json_add_str(doc, "device", j->bd->path);
	json_add_strf(doc, "device_bytes", "%" PRIu64, p->done);
	json_add_strf(doc, "device_size", "%" PRIu64, p->total);
	json_add_strf(doc, "speed", "%.0f", p->mean);
	json_add_strf(doc, "eta_ms", "%.0f", remaining(p) * 1e3);
	json_add_strf(doc, "time_ms", "%.0f", p->seconds * 1e3);
	json_add_str(doc, "phase", p->phase == FILL_VERIFYING ? "verify" : "fill");
	json_add_strf(doc, "bad_bytes", "%" PRIu64, p->bad);
	json_print_line(doc);
	fflush(stdout);
}

static void show_progress(void *arg, const struct fill_progress *p)
{
	struct fill_job *j = arg;

	if (j->c->opt.progress_json)
		progress_json(j, p);
	else
		progress_text(j, p);
}

/* --- the fill --------------------------------------------------------------------------------------------------------- */

static void block_signals(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, before);
}

/* Threads that are started later inherit both. Without rights for it things stay as they are. */
static void be_idle(void)
{
	if (setpriority(PRIO_PROCESS, 0, 19) || syscall(SYS_ioprio_set, 1, 0, IOPRIO_IDLE))
		log_debug("priority: %s", strerror(errno));
}

static int run_fill(struct fill_job *j)
{
	const struct options *o = &j->c->opt;
	struct fill_request rq = {
		.bd = j->bd, .start = j->start, .length = j->length, .engine = j->engine, .rate = o->rate_limit, .verify = o->verify,
		.resume = resuming(j) ? &j->found : NULL, .state_fd = j->state_fd, .progress = show_progress, .arg = j,
	};
	struct strbuf why = { 0 };
	sigset_t before;
	int r;

	j->tty = isatty(STDERR_FILENO);
	rq.every_ms = o->progress_json ? JSON_MS : j->tty ? TTY_MS : LINE_MS;
	block_signals(&before);
	r = blkdev_lock(j->bd, &why);
	if (!r)
		r = blkdev_recheck(j->bd, &why);
	if (!r && j->idle)
		be_idle();
	if (!r)
		r = fill_run(&rq, &j->res, &why);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (j->shown)
		fputc('\n', stderr);
	if (r && r != -EINTR)
		log_error("%s", why.s ? why.s : strerror(-r));
	strbuf_free(&why);
	return r;
}

/* --- what came of it ------------------------------------------------------------------------------------------------ */

static void list_ranges(const char *what, const struct fill_ranges *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		log_error("%s: bytes %" PRIu64 " to %" PRIu64 " (%" PRIu64 " bytes)", what, l->v[i].start,
			  l->v[i].start + l->v[i].len - 1, l->v[i].len);
}

static void say_resume(const struct fill_job *j)
{
	const struct options *o = &j->c->opt;
	char size[32];

	if (!j->res.resumable) {
		log_note("The fill cannot be resumed.");
		return;
	}
	log_note("%s are filled. To go on: hwluks fill --resume%s%s %s", size_text(j->res.done, size, sizeof(size)),
		 o->state ? " --state " : "", o->state ? o->state : "", j->bd->path);
}

static void say_filled(const struct fill_job *j)
{
	const struct fill_result *res = &j->res;
	char size[32], time[64], rate[32];

	if (j->c->opt.json || j->c->opt.progress_json)
		return;
	printf("%s: %s filled with random data in %s (%s).\n", j->bd->path, size_text(j->length, size, sizeof(size)),
	       time_text(res->seconds, time, sizeof(time)),
	       rate_text(res->seconds > 0 ? (double)res->written / res->seconds : 0, rate, sizeof(rate)));
	if (res->verified && !res->wrong.n)
		printf("%s were read back and are what was written.\n", size_text(res->verified, size, sizeof(size)));
	if (res->sampled)
		printf("Of the part that an earlier run filled, %" PRIu64 " blocks were sampled: the key of that run is gone, so only zeros "
		       "and\nrepeated blocks would show.\n", res->sampled);
	fflush(stdout);
}

static int outcome(struct fill_job *j, int r)
{
	const struct fill_result *res = &j->res;

	list_ranges("Not written", &res->bad);
	list_ranges("Read back wrong", &res->wrong);
	if (res->filled)
		say_filled(j);
	if (r == -EINTR && res->filled) {
		log_note("Interrupted while reading back: the fill is complete, but not all of it was verified.");
		j->result = "unverified";
	} else if (r) {
		say_resume(j);
		j->result = r == -EINTR ? "interrupted" : "failed";
	} else {
		j->result = res->bad.n || res->wrong.n ? "bad-blocks" : "filled";
	}
	if (r == -EINTR)
		return res->signal == SIGTERM ? 128 + SIGTERM : -EINTR;
	if (r)
		return r == -ESTALE ? -ENODEV : r;
	/* the state file has done its work */
	if (j->c->opt.state && unlink(j->c->opt.state))
		log_warn("--state %s cannot be removed: %s.", j->c->opt.state, strerror(errno));
	return res->bad.n || res->wrong.n ? EXIT_BAD_BLOCKS : 0;
}

static void json_ranges(struct json_object *doc, const char *key, const struct fill_ranges *l)
{
	struct json_object *list = json_add_arr(doc, key);

	for (uint32_t i = 0; i < l->n; i++) {
		struct json_object *x = json_add_obj(list, NULL);

		json_add_int(x, "start", (int64_t)l->v[i].start);
		json_add_int(x, "bytes", (int64_t)l->v[i].len);
	}
}

static void report_json(const struct fill_job *j)
{
	struct json_object *doc = json_add_obj(NULL, NULL);

	json_add_str(doc, "device", j->bd->path);
	json_add_int(doc, "size", (int64_t)j->bd->size);
	json_add_int(doc, "offset", (int64_t)j->start);
	json_add_int(doc, "length", (int64_t)j->length);
	json_add_str(doc, "engine", j->engine ? j->engine->name : NULL);
	json_add_bool(doc, "resumed", resuming(j));
	json_add_int(doc, "estimate_ms", (int64_t)(j->engine ? estimate(j) * 1e3 : 0));
	json_add_int(doc, "filled_bytes", (int64_t)j->res.done);
	json_add_int(doc, "written_bytes", (int64_t)j->res.written);
	json_add_int(doc, "time_ms", (int64_t)(j->res.seconds * 1e3));
	json_add_bool(doc, "direct", j->res.direct);
	json_add_int(doc, "verified_bytes", (int64_t)j->res.verified);
	json_add_int(doc, "sampled_blocks", (int64_t)j->res.sampled);
	json_add_bool(doc, "resumable", j->res.resumable);
	json_ranges(doc, "bad_ranges", &j->res.bad);
	json_ranges(doc, "wrong_ranges", &j->res.wrong);
	json_add_str(doc, "result", j->result ? j->result : "planned");
	json_print(doc);
}

static int prepare(struct fill_job *j)
{
	int r = check_range(j);

	if (!r)
		r = find_record(j);
	if (!r)
		r = check_resume(j);
	if (!r)
		r = check_target(j);
	if (r)
		return r;
	j->idle = want_idle(j);
	choose_engine(j);
	j->read_rate = read_rate(j);
	if (!j->c->opt.json && !j->c->opt.progress_json)
		print_plan(j);
	return 0;
}

static int fill(struct fill_job *j)
{
	int r = check_options(j);

	if (!r)
		r = target_open(j->c->arg[0], !j->c->opt.dry_run, j->bd);
	if (!r)
		r = prepare(j);
	if (r || j->c->opt.dry_run)
		return r;
	/* an interrupted fill was agreed to when it began */
	if (!resuming(j))
		r = target_confirm(&j->c->opt, j->bd, NULL);
	return r ? r : outcome(j, run_fill(j));
}

int cmd_fill(struct cmd_context *c)
{
	struct blkdev bd = { .fd = -1, .lock_fd = -1 };
	struct fill_job j = { .c = c, .bd = &bd, .state_fd = -1 };
	int r;

	signal(SIGUSR1, SIG_IGN); /* asked too early: nothing to tell yet */
	r = fill(&j);
	if (c->opt.json && j.engine && bd.path && (!r || j.result))
		report_json(&j);
	close_fd(&j.state_fd);
	blkdev_close(&bd);
	return r;
}

/* --- before a header ------------------------------------------------------------------------------------------------- */

int fill_for_format_check(struct cmd_context *c, struct blkdev *bd)
{
	struct fill_job j = { .c = c, .bd = bd, .state_fd = -1 };

	if (find_engine(&j, "fill", c->opt.fill))
		return -EINVAL;
	if (!fill_slots_read(bd->fd, &j.found)) {
		log_error("%s: a fill was interrupted here. Finish it with hwluks fill --resume, then format without --fill. "
			  "Nothing was written.", bd->path);
		return -EEXIST;
	}
	return 0;
}

int fill_for_format(struct cmd_context *c, struct blkdev *bd)
{
	struct fill_job j = { .c = c, .bd = bd, .state_fd = -1, .length = bd->size };
	int r = find_engine(&j, "fill", c->opt.fill);

	if (r)
		return r;
	choose_engine(&j);
	j.idle = want_idle(&j);
	log_note("Filling %s with random data first (%s) ...", bd->path, j.engine->words);
	r = outcome(&j, run_fill(&j));
	if (r)
		log_error("%s was not formatted.", bd->path);
	bd->n_sig = 0;
	return r;
}
