/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What a boot depends on: hwluks.conf, cpio archives in pieces of every size, what an image lacks; right, odd and broken.
 * Tables only; knows nothing of accelerators.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/boot_conf.h"
#include "core/cpio.h"
#include "core/image_check.h"

/* --- hwluks.conf ---------------------------------------------------------------------------------------- */

static const struct conf_row {
	const char *text;
	const char *want; /* "drivers names wait verify | warnings" */
} conf_rows[] = {
	{ NULL, "auto [] 0 verify |" },
	{ "", "auto [] 0 verify |" },
	{ "# nothing\n\n   \n", "auto [] 0 verify |" },
	{ "drivers = none", "none [] 0 verify |" },
	{ "drivers=none\ndrivers = auto\n", "auto [] 0 verify |" },
	{ "drivers = geode-lx\n", "named [geode-lx] 0 verify |" },
	{ "drivers = geode-aes, caam_jr caam_jr # two\r\n", "named [geode-aes caam_jr] 0 verify |" },
	{ "drivers = a\ndrivers = b\n", "named [b] 0 verify |" },
	{ "drivers =\n", "auto [] 0 verify | line 1: 'drivers' has no value; it is left as it was." },
	{ "wait = 5\nverify = no", "auto [] 5 blind |" },
	{ "verify = no\nverify = yes", "auto [] 0 verify |" },
	{ "wait = 600", "auto [] 600 verify |" },
	{ "wait = 601", "auto [] 0 verify | line 1: 'wait' takes 1 to 600 seconds, not '601'; it is left as it was." },
	{ "wait = 0", "auto [] 0 verify | line 1: 'wait' takes 1 to 600 seconds, not '0'; it is left as it was." },
	{ "wait = 7\nwait = long", "auto [] 7 verify | line 2: 'wait' takes 1 to 600 seconds, not 'long'; it is left as it was." },
	{ "verify = maybe", "auto [] 0 verify | line 1: 'verify' takes yes or no, not 'maybe'; it is left as it was." },
	{ "\ncolour = blue\nwait = 3", "auto [] 3 verify | line 2: the key 'colour' is not known; it is passed over." },
	{ "drivers geode", "auto [] 0 verify | line 1: 'drivers geode' is not of the form KEY = VALUE; it is passed over." },
	{ "= x", "auto [] 0 verify | line 1: the key '' is not known; it is passed over." },
	{ "\033[2Jx = 1", "auto [] 0 verify | line 1: the key '\357\277\275[2Jx' is not known; it is passed over." },
};

static void conf_text(const struct boot_conf *c, struct strbuf *out)
{
	static const char *const drivers[] = { "auto", "none", "named" };

	strbuf_printf(out, "%s [", drivers[c->drivers]);
	for (size_t i = 0; i < c->names.n; i++)
		strbuf_printf(out, "%s%s", i ? " " : "", c->names.v[i]);
	strbuf_printf(out, "] %u %s |", c->wait, c->no_verify ? "blind" : "verify");
	for (size_t i = 0; i < c->warnings.n; i++) {
		assert_true(str_starts(c->warnings.v[i], BOOT_CONF_PATH " "));
		strbuf_printf(out, " %s", c->warnings.v[i] + strlen(BOOT_CONF_PATH " "));
	}
}

static void test_conf(void **state)
{
	int bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(conf_rows); i++) {
		struct strbuf got = { 0 };
		struct boot_conf c;

		boot_conf_parse(conf_rows[i].text, &c);
		conf_text(&c, &got);
		if (strcmp(got.s, conf_rows[i].want)) {
			print_error("row %zu:\n  got  %s\n  want %s\n", i, got.s, conf_rows[i].want);
			bad++;
		}
		strbuf_free(&got);
		boot_conf_free(&c);
	}
	assert_int_equal(bad, 0);
}

/* --- cpio ----------------------------------------------------------------------------------------------- */

static void pad(struct strbuf *b)
{
	while (b->len % 4)
		strbuf_add(b, "\0", 1);
}

static void add_entry(struct strbuf *b, const char *name, const char *data)
{
	strbuf_printf(b, "070701%08X%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X", 1, 0100644, 0, 0, 1, 0, strlen(data), 0, 0, 0, 0,
		      strlen(name) + 1, 0);
	strbuf_add(b, name, strlen(name) + 1);
	pad(b);
	strbuf_add(b, data, strlen(data));
	pad(b);
}

static bool keep_etc(const char *name)
{
	return str_starts(name, "etc/");
}

static void build(struct strbuf *b)
{
	add_entry(b, "./usr/lib/modules/6.1/kernel/geode-aes.ko", "not kept");
	add_entry(b, "etc/a", "");
	add_entry(b, "/etc/conf", "one\ntwo\n");
	add_entry(b, "etc/conf", "later");
	add_entry(b, "TRAILER!!!", "");
}

/* All of the archive in pieces of `step` bytes; `extra` bytes behind it are not taken. */
static void check_pieces(const struct strbuf *b, size_t step)
{
	struct cpio c = { .keep = keep_etc };
	size_t done = 0;

	while (done < b->len && c.state != CPIO_END) {
		size_t n = step < b->len - done ? step : b->len - done, took = cpio_feed(&c, b->s + done, n);

		assert_true(c.state != CPIO_BROKEN);
		assert_true(took == n || c.state == CPIO_END);
		done += took;
	}
	assert_int_equal(c.state, CPIO_END);
	assert_int_equal(c.n, 4);
	assert_non_null(cpio_find(&c, "lib/modules/6.1/kernel/geode-aes.ko"));
	assert_null(cpio_find(&c, "usr/lib/modules/6.1/kernel/geode-aes.ko")->text);
	assert_string_equal(cpio_find(&c, "etc/a")->text, "");
	assert_string_equal(cpio_find(&c, "etc/conf")->text, "later");
	assert_string_equal(c.v[2].text, "one\ntwo\n");
	assert_null(cpio_find(&c, "etc"));
	cpio_free(&c);
}

static void test_cpio(void **state)
{
	struct strbuf b = { 0 };

	(void)state;
	build(&b);
	for (size_t step = 1; step <= b.len; step++)
		check_pieces(&b, step);
	strbuf_free(&b);
}

static void test_cpio_two(void **state)
{
	struct strbuf b = { 0 };
	struct cpio c = { 0 };
	size_t first;

	(void)state;
	build(&b);
	first = cpio_feed(&c, b.s, b.len);
	assert_true(first <= b.len && first > b.len - 4);
	cpio_next(&c);
	cpio_feed(&c, b.s, b.len);
	assert_int_equal(c.state, CPIO_END);
	assert_int_equal(c.n, 8);
	assert_null(c.v[2].text); /* nothing was asked for */
	cpio_free(&c);
	strbuf_free(&b);
}

static void test_cpio_broken(void **state)
{
	static const struct {
		const char *magic;
		unsigned int name_len;
	} heads[] = { { "070707", 5 }, { "\037\213abcd", 5 }, { "07070G", 5 }, { "070701", 0 }, { "070701", CPIO_NAME_MAX } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		char text[256] = { 0 };
		struct cpio c = { 0 };

		snprintf(text, sizeof(text), "%s%088X%08X%08X", heads[i].magic, 0, heads[i].name_len, 0);
		cpio_feed(&c, text, sizeof(text));
		assert_int_equal(c.state, CPIO_BROKEN);
		assert_int_equal(c.n, 0);
		cpio_free(&c);
	}
}

static void test_cpio_no_number(void **state)
{
	struct strbuf b = { 0 };
	struct cpio c = { 0 };

	(void)state;
	build(&b);
	b.s[60] = 'x'; /* in the size of the data */
	cpio_feed(&c, b.s, b.len);
	assert_int_equal(c.state, CPIO_BROKEN);
	cpio_free(&c);
	strbuf_free(&b);
}

/* --- image_check ---------------------------------------------------------------------------------------- */

#define TOOLS "initramfs-tools"
#define LISTED "usr/local/sbin/hwluks usr/lib/i386-linux-gnu/libx.so.1 usr/sbin/modprobe usr/lib/modules/6.1/modules.dep "
#define MODULES "usr/lib/modules/6.1/kernel/geode-aes.ko.xz usr/lib/modules/6.1/kernel/dm-crypt.ko "
#define STARTED "scripts/local-top/hwluks scripts/local-top/ORDER=hwluks,cryptroot "
#define DENIED "etc/modprobe.d/hwluks-boot.conf=geode-aes "

static const struct image_row {
	const char *what, *kind;
	const char *files; /* names; "NAME=TEXT": a comma in it is a new line, and "/scripts/local-top/" stands before each word */
	const char *bad;   /* ids of what is missing */
} image_rows[] = {
	{ "complete", TOOLS, LISTED MODULES STARTED DENIED, "" },
	{ "another kernel's modules", TOOLS,
	  LISTED "usr/lib/modules/6.10/kernel/geode-aes.ko usr/lib/modules/6/1/dm-crypt.ko " STARTED DENIED, "modules" },
	{ "one module short", TOOLS, LISTED "lib/modules/6.1/kernel/geode_aes.ko.zst " STARTED DENIED, "modules" },
	{ "a name that only begins alike", TOOLS, LISTED "lib/modules/6.1/geode-aes2.ko lib/modules/6.1/dm-crypt.ko " STARTED DENIED,
	  "modules" },
	{ "no program", TOOLS, "usr/lib/libx.so.1 sbin/modprobe lib/modules/6.1/modules.dep " MODULES STARTED DENIED, "program" },
	{ "no library", TOOLS, "usr/local/sbin/hwluks sbin/modprobe lib/modules/6.1/modules.dep " MODULES STARTED DENIED, "libraries" },
	{ "no index", TOOLS, "usr/local/sbin/hwluks libx.so.1 sbin/modprobe " MODULES STARTED DENIED, "index" },
	{ "no modprobe", TOOLS, "usr/local/sbin/hwluks libx.so.1 bin/modprobe lib/modules/6.1/modules.dep " MODULES STARTED DENIED,
	  "modprobe" },
	{ "not denied", TOOLS, LISTED MODULES STARTED, "denied" },
	{ "another one denied", TOOLS, LISTED MODULES STARTED "etc/modprobe.d/hwluks-boot.conf=padlock_aes ", "denied" },
	{ "nothing starts it", TOOLS, LISTED MODULES "scripts/local-top/ORDER=cryptroot " DENIED, "started order" },
	{ "too late", TOOLS, LISTED MODULES "scripts/local-top/hwluks scripts/local-top/ORDER=cryptroot,hwluks " DENIED, "order" },
	{ "no cryptroot at all", TOOLS, LISTED MODULES "scripts/local-top/hwluks scripts/local-top/ORDER=hwluks " DENIED, "" },
	{ "something else of that name", TOOLS, LISTED MODULES "scripts/local-top/hwluks scripts/local-top/ORDER=hwluks2,cryptroot " DENIED,
	  "order" },
	{ "dracut with systemd", "dracut", LISTED MODULES DENIED "etc/systemd/system/sysinit.target.wants/hwluks-load.service", "" },
	{ "dracut without", "dracut", LISTED MODULES DENIED "usr/lib/dracut/hooks/pre-trigger/10-hwluks-load.sh", "" },
	{ "dracut, not enabled", "dracut", LISTED MODULES DENIED "usr/lib/systemd/system/hwluks-load.service", "started" },
	{ "mkinitcpio", "mkinitcpio", LISTED MODULES DENIED "hooks/hwluks config=base_hwluks_encrypt", "order" },
	{ "mkinitcpio, in order", "mkinitcpio", LISTED MODULES DENIED "hooks/hwluks config=hwluks,encrypt", "" },
	{ "mkinitcpio, too late", "mkinitcpio", LISTED MODULES DENIED "hooks/hwluks config=encrypt,hwluks", "order" },
};

static void add_files(struct cpio *c, const char *list)
{
	cleanup_free char *copy = xstrdup(list);
	struct strbuf b = { 0 };
	char *save = NULL;

	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *data = strchr(w, '='), *next = NULL;
		struct strbuf text = { 0 };

		if (data)
			*data++ = '\0';
		for (char *line = data ? strtok_r(data, ",", &next) : NULL; line; line = strtok_r(NULL, ",", &next))
			strbuf_printf(&text, "/scripts/local-top/%s \"$@\"\n", line);
		add_entry(&b, w, text.s ? text.s : "");
		strbuf_free(&text);
	}
	add_entry(&b, "TRAILER!!!", "");
	c->keep = image_wants_text;
	cpio_feed(c, b.s, b.len);
	assert_int_equal(c->state, CPIO_END);
	strbuf_free(&b);
}

static int check_image_row(const struct image_row *r)
{
	struct image_item items[] = {
		{ "geode-aes", IMAGE_ACCEL, accel_by_id("geode-lx"), MODULE_PRESENT },
		{ "dm_crypt", IMAGE_KERNEL, NULL, MODULE_UNKNOWN },
		{ "cbc", IMAGE_TEMPLATE, NULL, MODULE_BUILTIN },
		{ "adiantum", IMAGE_TEMPLATE, NULL, MODULE_MISSING },
	};
	struct image_plan plan = { .v = items, .n = ARRAY_SIZE(items) };
	char *library[] = { (char *)"libx.so.1" };
	struct strv libraries = { .v = library, .n = 1 };
	struct cpio files = { 0 };
	struct image_contents c = { .kind = image_kind_by_id(r->kind), .files = &files, .kernel = "6.1", .plan = &plan, .libraries = &libraries,
				    .program = "/usr/local/sbin/hwluks", .modprobe = "/sbin/modprobe" };
	struct image_answers a;
	struct strbuf bad = { 0 };
	int wrong;

	assert_non_null(c.kind);
	add_files(&files, r->files);
	image_check(&c, &a);
	for (size_t i = 0; i < a.n; i++) {
		assert_true(a.v[i].text && strlen(a.v[i].text) > 20);
		if (!a.v[i].ok)
			strbuf_printf(&bad, "%s%s", bad.len ? " " : "", a.v[i].id);
	}
	wrong = strcmp(bad.s ? bad.s : "", r->bad) != 0;
	if (wrong)
		print_error("%s: got '%s', want '%s'\n", r->what, bad.s ? bad.s : "", r->bad);
	assert_int_equal(image_answers_ok(&a), !bad.len);
	strbuf_free(&bad);
	image_answers_free(&a);
	cpio_free(&files);
	return wrong;
}

static void test_image(void **state)
{
	int wrong = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(image_rows); i++)
		wrong += check_image_row(&image_rows[i]);
	assert_int_equal(wrong, 0);
}

static void test_image_says(void **state)
{
	struct cpio files = { 0 };
	char kernel[8];

	(void)state;
	add_files(&files, "lib/modules usr/lib/modules/6.1.0/x.ko lib/dracut-lib.sh");
	assert_string_equal(image_kind_of(&files)->id, "dracut");
	assert_true(image_kernel(&files, kernel, sizeof(kernel)));
	assert_string_equal(kernel, "6.1.0");
	assert_false(image_kernel(&files, kernel, 4));
	cpio_free(&files);
	assert_null(image_kind_of(&files));
	assert_null(image_kind_by_id("dracu"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conf),
		cmocka_unit_test(test_cpio),
		cmocka_unit_test(test_cpio_two),
		cmocka_unit_test(test_cpio_broken),
		cmocka_unit_test(test_cpio_no_number),
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_image_says),
	};

	return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}
