/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What several commands print the same way: reasons, verdicts, specs, what could not be read.
 * Must not decide anything.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "cmd/cmd.h"
#include "vol/mapping.h"

void print_reasons(const struct reasons *r)
{
	for (size_t i = 0; i < r->n; i++)
		print_wrapped(stdout, "  - ", 4, r->v[i].text);
}

void json_reasons(struct json_object *o, const struct reasons *r)
{
	struct json_object *list = json_add_arr(o, "reasons");

	for (size_t i = 0; i < r->n; i++) {
		struct json_object *x = json_add_obj(list, NULL);

		json_add_str(x, "code", reason_id(r->v[i].code));
		json_add_str(x, "text", r->v[i].text);
	}
}

void json_spec(struct json_object *o, const char *key, const struct cipher_spec *spec)
{
	char text[192];
	struct json_object *x;

	if (!spec) {
		json_add_str(o, key, NULL);
		return;
	}
	x = json_add_obj(o, key);
	json_add_str(x, "cipher", spec_text(spec, text, sizeof(text)));
	json_add_int(x, "key_size", spec->key_bits);
	json_add_int(x, "sector_size", spec->sector_size ? spec->sector_size : 512);
}

void json_verdict(struct json_object *o, const struct verdict *v)
{
	json_add_str(o, "verdict", verdict_name(v->verdict));
	json_add_str(o, "action", action_name(v->action));
	json_add_str(o, "data", part_name(v->data));
	json_add_str(o, "iv", part_name(v->iv));
	json_add_str(o, "tweak", part_name(v->tweak));
	json_add_str(o, "driver", *v->driver ? v->driver : NULL);
	json_add_str(o, "accelerator", v->accel ? v->accel->id : NULL);
	json_add_str(o, "class", spec_class_name(spec_class(&v->spec)));
	json_reasons(o, &v->reasons);
	json_spec(o, "nearest", v->has_nearest ? &v->nearest : NULL);
}

static void add_part(struct strbuf *b, const char *what, enum part p)
{
	if (p == PART_NONE)
		return;
	strbuf_printf(b, "%s%s %s", b->len ? ", " : "", what, p == PART_UNKNOWN ? "not known" :
		      p == PART_HARDWARE ? "on hardware" : "in software");
}

void print_verdict_line(const char *first, const struct verdict *v)
{
	struct strbuf parts = { 0 }, line = { 0 };

	add_part(&parts, "data", v->data);
	add_part(&parts, "IV", v->iv);
	add_part(&parts, "XTS tweak", v->tweak);
	strbuf_printf(&line, "%s", verdict_name(v->verdict));
	if (parts.s && v->verdict != VERDICT_IMPOSSIBLE)
		strbuf_printf(&line, ": %s", parts.s);
	if (*v->driver && v->verdict != VERDICT_IMPOSSIBLE)
		strbuf_printf(&line, " (%s)", v->driver);
	print_wrapped(stdout, first, (int)strlen(first), line.s);
	strbuf_free(&parts);
	strbuf_free(&line);
}

const char *spec_options(const struct cipher_spec *s, char *buf, size_t size)
{
	char text[192], sector[40] = "";

	if (s->sector_size > 512)
		snprintf(sector, sizeof(sector), " --sector-size %u", s->sector_size);
	snprintf(buf, size, "--cipher %s --key-size %u%s", spec_text(s, text, sizeof(text)), s->key_bits, sector);
	return buf;
}

void print_row(const char *label, const char *text)
{
	char first[32];

	snprintf(first, sizeof(first), "  %-12s", label);
	print_wrapped(stdout, first, 14, text);
}

int say_why(int r, struct strbuf *why)
{
	if (r)
		log_error("%s", why->s ? why->s : strerror(-r));
	strbuf_free(why);
	return r;
}

bool is_type(const char *given, const char *type)
{
	return !strcasecmp(given, type);
}

void say_unread(const struct machine *m)
{
	for (size_t i = 0; i < m->unread.n; i++)
		log_note("Could not read %s.", m->unread.v[i]);
}

void json_unread(struct json_object *o, const struct machine *m)
{
	struct json_object *list = json_add_arr(o, "unread");

	for (size_t i = 0; i < m->unread.n; i++)
		json_add_str(list, NULL, m->unread.v[i]);
}

int check_sector_size(const struct options *o)
{
	uint64_t s = o->sector_size;

	if (!s || s == 512 || s == 1024 || s == 2048 || s == 4096)
		return 0;
	log_error("--sector-size is 512, 1024, 2048 or 4096.");
	return -EINVAL;
}

/* The sentence behind the spec and a mark below it; on lines of their own, and in part, where that is too long for a terminal. */
static void point_at(const char *text, const struct spec_error *err)
{
	static const char mark[] = "^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~";
	enum { TERMINAL = 79 - 8, WIDTH = sizeof(mark) - 1, BEFORE = 30 };
	static const char lead[] = "--cipher ";
	size_t n = strlen(text), at = err->at, len = err->len ? err->len : 1, from = 0, indent = strlen(lead);

	if (indent + n + 2 + strlen(err->why) <= TERMINAL || n <= WIDTH / 2) {
		log_error("%s%s: %s", lead, text, err->why);
	} else {
		from = at > BEFORE ? at - BEFORE : 0;
		indent = 2;
		log_error("--cipher: %s", err->why);
		log_at(LOG_LEVEL_ERROR, "  %.*s", (int)WIDTH, text + from);
	}
	at -= from;
	if (err->at || err->len)
		log_at(LOG_LEVEL_ERROR, "%*s%.*s", (int)(indent + at), "", (int)(at + len > WIDTH ? WIDTH - at : len), mark);
}

int spec_from_options(const struct options *o, struct cipher_spec *spec)
{
	struct spec_error err = { 0 };
	int r = spec_parse(o->cipher, spec, &err);

	if (r) {
		point_at(o->cipher, &err);
		return r;
	}
	if (o->key_size % 8) {
		log_error("--key-size %llu: the key size is given in bits, a multiple of 8.", (unsigned long long)o->key_size);
		return -EINVAL;
	}
	spec->key_bits = o->key_size ? (unsigned int)o->key_size : spec_default_key_bits(spec);
	spec->sector_size = (unsigned int)o->sector_size;
	return 0;
}

const char *mapping_arg(const char *arg)
{
	static const char dir[] = "/dev/mapper/";

	return str_starts(arg, dir) ? arg + strlen(dir) : arg;
}

void json_flags(struct json_object *o, unsigned int flags)
{
	struct json_object *list = json_add_arr(o, "flags");

	for (unsigned int bit = 1; crypt_flag_name(bit); bit <<= 1)
		if (flags & bit)
			json_add_str(list, NULL, crypt_flag_name(bit));
}

int say_mapping_error(const char *name, int r)
{
	char why[256];

	if (r == -ENODEV && mapping_available(why, sizeof(why)) == -ENODEV) {
		log_error("Nothing is open here: %s.", why);
		return r;
	}
	if (r == -ENXIO)
		log_error("'%s' is not open. 'dmsetup ls --target crypt' lists the open volumes.", name);
	else if (r == -EMEDIUMTYPE)
		log_error("'%s' is a device-mapper device, but not an encrypted one.", name);
	else if (r == -EACCES || r == -EPERM)
		log_error("Only root may ask the device-mapper about '%s'.", name);
	else
		log_error("Cannot look at '%s': %s.", name, strerror(-r));
	return r == -ENXIO ? -ENODEV : r;
}
