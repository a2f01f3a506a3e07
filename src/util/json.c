/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * A thin layer over json-c, so that every command builds and prints its document one way.
 * Must not know which fields a document has.
 */
#include "util/util.h"

#include <json-c/json.h>

static void add(struct json_object *o, const char *key, struct json_object *value)
{
	if (key)
		json_object_object_add(o, key, value);
	else
		json_object_array_add(o, value);
}

void json_add_str(struct json_object *o, const char *key, const char *value)
{
	cleanup_free char *clean = value ? text_clean(value) : NULL;

	add(o, key, clean ? json_object_new_string(clean) : NULL);
}

void json_add_strf(struct json_object *o, const char *key, const char *fmt, ...)
{
	struct strbuf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	strbuf_vprintf(&b, fmt, ap);
	va_end(ap);
	json_add_str(o, key, b.s);
	strbuf_free(&b);
}

void json_add_int(struct json_object *o, const char *key, int64_t value)
{
	add(o, key, json_object_new_int64(value));
}

void json_add_num(struct json_object *o, const char *key, double value, int decimals)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*f", decimals, value);
	add(o, key, json_object_new_double_s(value, text));
}

void json_add_bool(struct json_object *o, const char *key, bool value)
{
	add(o, key, json_object_new_boolean(value));
}

struct json_object *json_add_obj(struct json_object *o, const char *key)
{
	struct json_object *child = json_object_new_object();

	if (o)
		add(o, key, child);
	return child;
}

struct json_object *json_add_arr(struct json_object *o, const char *key)
{
	struct json_object *child = json_object_new_array();

	add(o, key, child);
	return child;
}

void json_print_line(struct json_object *o)
{
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

void json_print(struct json_object *o)
{
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
						       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}
