/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The bottom layer: logging, memory, strings, numbers, JSON.
 * Knows libc and json-c; must not know what a cipher or a device is.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define NEVER_NULL __attribute__((returns_nonnull)) /* for the analyzers, which see one file at a time */

/* --- scope-bound resources: declare, initialise to NULL or -1, forget --------------------- */

void free_ptr(void *p);	   /* free(*p) */
void close_fd(int *fd);	   /* close(*fd) unless negative; errno kept */
void close_file(FILE **f); /* fclose(*f) unless NULL */
#define cleanup_free __attribute__((cleanup(free_ptr)))
#define cleanup_close __attribute__((cleanup(close_fd)))
#define cleanup_fclose __attribute__((cleanup(close_file)))

/* --- log.c: results go to stdout by printf, everything else through here to stderr --------- */

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_NOTE, LOG_LEVEL_VERBOSE, LOG_LEVEL_DEBUG };

/* Sets the most talkative level that is still printed; the default is LOG_LEVEL_NOTE. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* One line to stderr, "hwluks: " in front of errors and warnings, "# " in front of debug. */
void log_at(enum log_level level, const char *fmt, ...) PRINTF(2, 3);
#define log_error(...) log_at(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_note(...) log_at(LOG_LEVEL_NOTE, __VA_ARGS__)
#define log_verbose(...) log_at(LOG_LEVEL_VERBOSE, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* --- alloc.c: memory; a failure ends the process with exit code 3, never returns NULL ------ */

NEVER_NULL void *xcalloc(size_t n, size_t size);
NEVER_NULL void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s); /* NULL gives NULL */
NEVER_NULL char *xstrndup(const char *s, size_t n);
NEVER_NULL char *xasprintf(const char *fmt, ...) PRINTF(1, 2);

/* A text under construction; .s is NULL until something was added, then NUL-terminated. */
struct strbuf {
	char *s;
	size_t len, cap;
};
void strbuf_add(struct strbuf *b, const char *s, size_t n);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) PRINTF(2, 3);
void strbuf_vprintf(struct strbuf *b, const char *fmt, va_list ap) PRINTF(2, 0);
void strbuf_free(struct strbuf *b); /* also resets it to empty */

/* A list of strings, each owned by the list. */
struct strv {
	char **v;
	size_t n;
};
void strv_add(struct strv *l, const char *s);
void strv_add_unique(struct strv *l, const char *s);
bool strv_has(const struct strv *l, const char *s);
void strv_free(struct strv *l);

/* --- text.c: small text helpers ------------------------------------------------------------ */

/* Copies at most size-1 bytes and terminates; returns false when src was cut. */
bool str_copy(char *dst, size_t size, const char *src);
bool str_starts(const char *s, const char *prefix);
/* Module names: '-' and '_' are the same letter, as modprobe has it. */
bool str_same_module(const char *a, const char *b);
/* True when the white-space separated list has exactly this word. NULL list: false. */
bool word_in(const char *list, const char *word);
/* Decimal number, whole string, 0..max. 0, or -EINVAL / -ERANGE; *out untouched on error. */
int parse_u64(const char *s, uint64_t max, uint64_t *out);
/*
 * Size as cryptsetup writes it: bare = bytes; S = 512 bytes; K M G T and KiB MiB GiB TiB = 1024-based;
 * KB MB GB TB = 1000-based; letters in either case. 0, or -EINVAL / -ERANGE.
 */
int parse_size(const char *s, uint64_t *bytes);
/* "" for one, "s" for any other number: "1 run", "2 runs". */
const char *plural(uint64_t n);
/* "16 MiB", "1.5 GiB", "512 bytes": for people, at most three digits. Returns buf. */
const char *size_text(uint64_t bytes, char *buf, size_t size);
/*
 * A copy that is safe for terminals and valid UTF-8: control characters but newline and tab, and bytes that are no UTF-8, become
 * U+FFFD. Texts from devices and recordings are untrusted.
 */
char *text_clean(const char *text);
/* Prints text_clean(text) wrapped at 79 columns, the first line after `first`, the others indented by `indent`. */
void print_wrapped(FILE *f, const char *first, int indent, const char *text);

/* --- bytes.c: numbers on a device ------------------------------------------------------------ */

/* Little-endian, 1 to 8 bytes. */
void put_le(unsigned char *p, uint64_t v, unsigned int bytes);
uint64_t get_le(const unsigned char *p, unsigned int bytes);
/* CRC-32 (IEEE 802.3): tells a torn or changed block, nothing more is asked of it. */
uint32_t crc32_of(const unsigned char *p, size_t len);

/* --- json.c: one way to build the documents that commands print; key NULL appends to an array -- */

struct json_object;
void json_add_str(struct json_object *o, const char *key, const char *value); /* NULL → null */
/* The same, printed: figures whose digits are part of the interface. */
void json_add_strf(struct json_object *o, const char *key, const char *fmt, ...) PRINTF(3, 4);
void json_add_int(struct json_object *o, const char *key, int64_t value);
/* With so many decimals. */
void json_add_num(struct json_object *o, const char *key, double value, int decimals);
void json_add_bool(struct json_object *o, const char *key, bool value);
/* Creates an object or array under `key` and returns it (owned by o). json_add_obj(NULL, NULL): a new document. */
struct json_object *json_add_obj(struct json_object *o, const char *key);
struct json_object *json_add_arr(struct json_object *o, const char *key);
/* Prints the document with two-space indent and a newline, then frees it. */
void json_print(struct json_object *o);
void json_print_line(struct json_object *o); /* the same on one line */
