/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The questions to a boot image, one function each. Names and few texts in; must not know where they came from.
 */
#include "core/image_check.h"

#include <stdlib.h>
#include <string.h>

#define DENY_FILE "etc/modprobe.d/hwluks-boot.conf"

static void answer(struct image_answers *out, const char *id, bool ok, const char *fmt, ...) PRINTF(4, 5);
static void answer(struct image_answers *out, const char *id, bool ok, const char *fmt, ...)
{
	struct strbuf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(&text, fmt, ap);
	va_end(ap);
	out->v = xreallocarray(out->v, out->n + 1, sizeof(*out->v));
	out->v[out->n++] = (struct image_answer){ .id = id, .ok = ok, .text = text.s };
}

static bool has(const struct cpio *files, const char *path)
{
	while (*path == '/')
		path++;
	return cpio_find(files, path);
}

static void add_word(struct strbuf *list, const char *word)
{
	strbuf_printf(list, "%s%s", list->len ? ", " : "", word);
}

/* --- the program ------------------------------------------------------------------------------------------ */

static void check_program(const struct image_contents *c, struct image_answers *out)
{
	bool ok = has(c->files, c->program);

	answer(out, "program", ok, ok ? "The program %s is in the image." : "The program %s is not in the image.", c->program);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool has_base(const struct cpio *files, const char *name)
{
	for (size_t i = 0; i < files->n; i++)
		if (!strcmp(base_name(files->v[i].name), name))
			return true;
	return false;
}

static void check_libraries(const struct image_contents *c, struct image_answers *out)
{
	struct strbuf missing = { 0 };

	for (size_t i = 0; i < c->libraries->n; i++)
		if (!has_base(c->files, c->libraries->v[i]))
			add_word(&missing, c->libraries->v[i]);
	if (missing.len)
		answer(out, "libraries", false, "Of the program's libraries these are not in the image: %s.", missing.s);
	else
		answer(out, "libraries", true, "All %zu libraries of the program are in it.", c->libraries->n);
	strbuf_free(&missing);
}

/* --- modules ------------------------------------------------------------------------------------------------ */

/* "geode-aes.ko.xz" is the module geode_aes. */
static bool is_module_file(const char *file, const char *module)
{
	const char *base = base_name(file), *ko = strstr(base, ".ko");
	char name[64];

	if (!ko || (ko[3] && ko[3] != '.') || (size_t)(ko - base) >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(ko - base), base);
	return str_same_module(name, module);
}

static bool in_release(const struct image_contents *c, const char *name)
{
	size_t n = strlen(c->kernel);

	if (str_starts(name, "usr/"))
		name += 4;
	return str_starts(name, "lib/modules/") && !strncmp(name + 12, c->kernel, n) && name[12 + n] == '/';
}

static bool has_module(const struct image_contents *c, const char *module)
{
	for (size_t i = 0; i < c->files->n; i++)
		if (in_release(c, c->files->v[i].name) && is_module_file(c->files->v[i].name, module))
			return true;
	return false;
}

static void check_modules(const struct image_contents *c, struct image_answers *out)
{
	struct strbuf missing = { 0 };
	size_t wanted = 0;

	for (size_t i = 0; i < c->plan->n; i++) {
		const struct image_item *item = &c->plan->v[i];

		if (item->state == MODULE_BUILTIN || item->state == MODULE_MISSING)
			continue;
		wanted++;
		if (!has_module(c, item->module))
			add_word(&missing, item->module);
	}
	if (missing.len)
		answer(out, "modules", false, "Of the modules for kernel %s these are not in the image: %s.", c->kernel, missing.s);
	else
		answer(out, "modules", true, "All %zu modules for kernel %s are in it.", wanted, c->kernel);
	strbuf_free(&missing);
}

static void check_index(const struct image_contents *c, struct image_answers *out)
{
	cleanup_free char *path = xasprintf("lib/modules/%s/modules.dep", c->kernel);
	bool ok = has(c->files, path);

	answer(out, "index", ok, ok ? "Its list of modules, %s, is there." : "Its list of modules, %s, is missing: none can be loaded by name.", path);
}

static void check_modprobe(const struct image_contents *c, struct image_answers *out)
{
	bool ok = has(c->files, c->modprobe);

	answer(out, "modprobe", ok,
	       ok ? "The kernel finds modprobe at %s." : "%s, where the kernel looks for modprobe, is not in the image: it can load no cipher.",
	       c->modprobe);
}

/* Engines outside the CPU: udev must leave them to hwluks. */
static void check_denied(const struct image_contents *c, struct image_answers *out)
{
	const struct cpio_entry *e = cpio_find(c->files, DENY_FILE);
	struct strbuf free_ones = { 0 };
	size_t engines = 0;

	for (size_t i = 0; i < c->plan->n; i++) {
		const struct image_item *item = &c->plan->v[i];

		if (!item->accel || !accel_is_engine(item->accel) || item->state == MODULE_BUILTIN || item->state == MODULE_MISSING)
			continue;
		engines++;
		if (!e || !e->text || !strstr(e->text, item->module))
			add_word(&free_ones, item->module);
	}
	if (free_ones.len)
		answer(out, "denied", false, "udev may load %s before hwluks does, without a time limit: it is not in %s.", free_ones.s, DENY_FILE);
	else if (engines)
		answer(out, "denied", true, "udev leaves the engine's driver to hwluks, which loads it with a time limit.");
	strbuf_free(&free_ones);
}

/* --- when it runs --------------------------------------------------------------------------------------------- */

static void check_started(const struct image_contents *c, struct image_answers *out)
{
	for (const char *const *s = c->kind->starts; *s; s++)
		if (has(c->files, *s)) {
			answer(out, "started", true, "%s starts it.", *s);
			return;
		}
	answer(out, "started", false, "Nothing in the image starts it: %s is missing.", c->kind->starts[0]);
}

/* Where a word stands in a text, words being divided by blanks and quotes, a path by its end too: "…/hwluks" is hwluks. */
static size_t word_at(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p++)
		if ((p == text || strchr(" \t\n\"'/=", p[-1]) || *word == '/') && strchr(" \t\n\"'", p[n]))
			return (size_t)(p - text);
	return SIZE_MAX;
}

static void check_order(const struct image_contents *c, struct image_answers *out)
{
	const struct cpio_entry *e = c->kind->order ? cpio_find(c->files, c->kind->order) : NULL;
	size_t at, before;

	if (!c->kind->order)
		return;
	at = e && e->text ? word_at(e->text, "hwluks") : SIZE_MAX;
	before = e && e->text ? word_at(e->text, c->kind->before) : SIZE_MAX;
	if (at == SIZE_MAX)
		answer(out, "order", false, "%s does not name hwluks: it never runs.", c->kind->order);
	else if (at > before)
		answer(out, "order", false, "In %s hwluks stands behind %s, which opens the volumes: too late.", c->kind->order,
		       base_name(c->kind->before));
	else
		answer(out, "order", true, "It runs before the volumes open.");
}

void image_check(const struct image_contents *c, struct image_answers *out)
{
	*out = (struct image_answers){ 0 };
	check_program(c, out);
	check_libraries(c, out);
	check_modules(c, out);
	check_index(c, out);
	check_modprobe(c, out);
	check_denied(c, out);
	check_started(c, out);
	check_order(c, out);
}

bool image_answers_ok(const struct image_answers *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (!a->v[i].ok)
			return false;
	return true;
}

void image_answers_free(struct image_answers *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i].text);
	free(a->v);
	*a = (struct image_answers){ 0 };
}

/* --- what an image says of itself ------------------------------------------------------------------------------- */

bool image_wants_text(const char *name)
{
	for (size_t i = 0; i < image_kind_count; i++)
		if (image_kinds[i].order && !strcmp(name, image_kinds[i].order))
			return true;
	return !strcmp(name, DENY_FILE);
}

const struct image_kind *image_kind_of(const struct cpio *files)
{
	for (size_t i = 0; i < image_kind_count; i++)
		if (has(files, image_kinds[i].sign))
			return &image_kinds[i];
	return NULL;
}

bool image_kernel(const struct cpio *files, char *buf, size_t size)
{
	for (size_t i = 0; i < files->n; i++) {
		const char *name = files->v[i].name;
		size_t n;

		if (str_starts(name, "usr/"))
			name += 4;
		if (!str_starts(name, "lib/modules/"))
			continue;
		name += 12;
		n = strcspn(name, "/");
		if (n && n < size) {
			snprintf(buf, size, "%.*s", (int)n, name);
			return true;
		}
	}
	return false;
}
