/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Fills a device or a range of it with random data, at its speed: engines, writers, resume, read-back.
 * Knows an open target; must not know who asked, what refuses it, or how progress is shown.
 *
 * Each byte is fresh keystream of a key that lives in this process alone; its place in the stream is its
 * place on the device, so that any thread makes any chunk and a read-back is a seek. A resume takes a new
 * key and starts at a watermark that is on the medium.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fill_record.h"
#include "sys/sys.h"
#include "vol/vol.h"

#define FILL_CHUNK   (512u * 1024)  /* of one write: as fast as 1 MiB, and all of it below 10 MiB resident */
#define FILL_HEAD    (1024u * 1024) /* filled last where the record lives in it */
#define FILL_THREADS_MAX 4u

/* --- engine.c: where the bytes come from ------------------------------------------------------- */

struct fill_engine {
	const char *name;  /* "aes", "chacha", "urandom" */
	const char *words; /* for people: "AES-256-CTR" */
	bool keystream;    /* the same bytes can be made again: --verify works */
	/* One per thread; key: 32 bytes, only read here. NULL: no memory, or the library lacks the cipher. */
	void *(*thread_new)(const struct secret *key);
	/* The bytes that belong at `offset` of the device (a multiple of 64), within one aligned MiB. */
	int (*make)(void *thread, uint64_t offset, unsigned char *buf, size_t len);
	void (*thread_free)(void *thread);
};
extern const struct fill_engine fill_engines[];
extern const size_t fill_engine_count;
const struct fill_engine *fill_engine_find(const char *name); /* NULL: no such engine */
/* Bytes per second of CPU time that one thread makes, over `ms` milliseconds. 0: cannot be used here. */
double fill_engine_rate(const struct fill_engine *e, unsigned int ms);
/* The fastest engine here; rate[i] belongs to fill_engines[i]. */
const struct fill_engine *fill_engine_choose(double *rate);
/* A fresh random key of 32 bytes. 0 or negative errno. */
int fill_key(struct secret *key);

/* --- writer.c: one pass over a range, by some threads -------------------------------------------- */

struct fill_io {
	int fd;	       /* O_DIRECT, or -1 where that is refused */
	int buffered;  /* the same target */
	uint32_t align; /* of fd: offset and length */
	uint32_t block; /* smallest range that is tried alone after an error */
	bool device;
};
/* Opens fd for the target; buffered stays the caller's. Never fails: without O_DIRECT fd is -1. */
void fill_io_open(const struct blkdev *bd, struct fill_io *io);
void fill_io_close(struct fill_io *io);
/* Whole range or error; -ENODEV when the device is gone, whatever the kernel said. */
int fill_io_write(const struct fill_io *io, const unsigned char *buf, size_t len, uint64_t offset);
int fill_io_read(const struct fill_io *io, unsigned char *buf, size_t len, uint64_t offset);
unsigned char *fill_buffer(size_t len); /* aligned for O_DIRECT; never NULL; free() */

struct fill_pass;
struct fill_pass_request {
	struct fill_io *io;
	const struct fill_engine *engine;
	const struct secret *key;
	uint64_t start, end;	/* bytes of the device */
	unsigned int threads;	/* 1 to FILL_THREADS_MAX */
	uint64_t rate;		/* bytes per second, 0 = as fast as it goes */
	bool verify;		/* read back and compare instead of writing */
	const struct fill_ranges *skip; /* verify: what could not be written; else NULL */
	int event;		/* eventfd that is counted up when a step is done, and at the end */
	uint64_t step;		/* bytes between two events; 0 = at the end only */
};
struct fill_pass_state {
	uint64_t low;	/* all before this is done */
	uint64_t bytes; /* done in all */
	bool running;	/* threads are at work */
	int err;	/* first error that ends the pass */
	uint64_t err_offset;
	struct fill_ranges bad; /* could not be written; with verify: could not be read, or differs */
	bool any_wrong; /* verify: at least one range was read and differs */
};
/* Starts the threads. -EAGAIN when none could be had. */
int fill_pass_start(const struct fill_pass_request *rq, struct fill_pass **out);
void fill_pass_look(struct fill_pass *p, struct fill_pass_state *out);
/* No chunk that starts at or after `limit` is begun. */
void fill_pass_limit(struct fill_pass *p, uint64_t limit);
void fill_pass_stop(struct fill_pass *p); /* after the chunks under way */
void fill_pass_free(struct fill_pass *p); /* waits for the threads; NULL is fine */

/* --- slots.c: the record, on the device or in a state file ----------------------------------------- */

/* Reads both slots. 0, -ENOENT none, -EBADMSG damaged, -ENOTSUP of a later version, or why it cannot be read. */
int fill_slots_read(int fd, struct fill_record *out);
/* Writes r to the slot of its seq, and has it on the medium. */
int fill_slots_write(int fd, const struct fill_record *r);
/* SHA-256 of the block at r->last_offset is still what the record says. 0, -ESTALE, or why it cannot be read. */
int fill_slots_check_last(const struct fill_io *io, const struct fill_record *r);

/* --- fill.c: the whole of it ------------------------------------------------------------------------ */

enum fill_phase { FILL_WRITING, FILL_VERIFYING };
struct fill_progress {
	enum fill_phase phase;
	uint64_t done, total; /* of this phase, bytes; done counts what an earlier run did */
	double speed, mean;   /* bytes per second: of the last interval, of this run */
	uint64_t bad;	      /* bytes that could not be written */
	double seconds;	      /* of this phase */
	bool asked;	      /* SIGUSR1 wants it */
};
struct fill_request {
	struct blkdev *bd; /* open for writing, locked, rechecked; its signatures are cleared first */
	uint64_t start, length;
	const struct fill_engine *engine;
	unsigned int threads; /* 0 = by the number of CPUs */
	uint64_t rate;
	bool verify;
	const struct fill_record *resume; /* NULL: from the start */
	int state_fd;	     /* the record goes here; -1: on the device, where the range has room */
	unsigned int every_ms; /* between two calls of progress */
	void (*progress)(void *arg, const struct fill_progress *p);
	void *arg;
};
struct fill_result {
	bool filled;	/* every byte, bad ranges apart; the record is gone */
	bool resumable; /* a record is there */
	bool direct;	/* O_DIRECT was taken */
	int signal;	/* what ended it early; 0 = none */
	uint64_t done, written; /* bytes: in all; by this run */
	double seconds; /* of writing */
	struct fill_ranges bad, wrong; /* wrong: read back and differs, or cannot be read */
	uint64_t verified; /* bytes read back */
	uint64_t sampled;  /* blocks of an earlier run that were looked at */
};
/* True when the record can live on the device itself. */
bool fill_has_room(const struct fill_request *rq);
/* Bytes that are written again at most after an interruption. */
uint64_t fill_interval(uint64_t length);
/*
 * Fills. SIGINT, SIGTERM and SIGUSR1 must be blocked by the caller: they are taken here. 0 (look at res), -EINTR
 * after a signal, -ENODEV the device is gone, -ENOSPC, -ESTALE what the record promises is not there; with why.
 */
int fill_run(const struct fill_request *rq, struct fill_result *res, struct strbuf *why);
