/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Kernel modules: there, built in, loaded, denied (by which file and line); loading one within a
 * time limit. Must not know which module is worth loading.
 */
#include "sys/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/boot_conf.h"
#include "core/cmdline.h"

/* What hwluks itself and the specs it proposes need, besides the drivers of the table. */
static const char *const own_modules[] = {
	"crypto_user",
	"algif_skcipher",
	"af_alg",
	"dm_crypt",
	"dm_mod",
	"loop",
	"xts",
	"cbc",
	"ecb",
	"essiv",
	"adiantum",
	"nhpoly1305",
	"chacha_generic",
	"sha256_generic",
};

/* --- names → facts ---------------------------------------------------------------- */

#define SLOTS 1024 /* power of two, well above the number of modules in the table */

/* An open hash over m->mod; '-' and '_' are equal. */
struct name_index {
	struct machine *m;
	uint16_t slot[SLOTS]; /* number in m->mod plus one; 0 = free */
};

static char fold(char c)
{
	return c == '-' ? '_' : c;
}

static size_t name_hash(const char *s, size_t n)
{
	size_t h = 5381;

	while (n--)
		h = h * 33 + (unsigned char)fold(*s++);
	return h;
}

static bool name_equal(const char *known, const char *s, size_t n)
{
	for (; n && *known; n--, known++, s++)
		if (fold(*known) != fold(*s))
			return false;
	return !n && !*known; /* NOLINT(clang-analyzer-*): a slot in use has its name; xcalloc's zeros are not seen */
}

/* The slot where the name is, or where it would go. */
static uint16_t *index_slot(struct name_index *ix, const char *s, size_t n)
{
	size_t h = name_hash(s, n);

	for (;; h++) {
		uint16_t *at = &ix->slot[h & (SLOTS - 1)];

		if (!*at || name_equal(ix->m->mod[*at - 1].name, s, n))
			return at;
	}
}

static struct module_fact *index_find(struct name_index *ix, const char *s, size_t n)
{
	uint16_t *at = index_slot(ix, s, n);

	return *at ? &ix->m->mod[*at - 1] : NULL;
}

static void index_add(struct name_index *ix, const char *name)
{
	struct machine *m = ix->m;
	uint16_t *at = index_slot(ix, name, strlen(name));

	if (*at || m->n_mod >= SLOTS / 2)
		return;
	if (m->n_mod % 64 == 0)
		m->mod = xreallocarray(m->mod, m->n_mod + 64, sizeof(*m->mod));
	m->mod[m->n_mod] = (struct module_fact){ .state = MODULE_UNKNOWN };
	str_copy(m->mod[m->n_mod].name, sizeof(m->mod[0].name), name);
	*at = (uint16_t)++m->n_mod;
}

static void index_add_table(struct name_index *ix)
{
	for_each_accel(a) {
		for_each_word(name, a->modules)
			index_add(ix, name);
		if (a->rng_module)
			index_add(ix, a->rng_module);
	}
	for (size_t i = 0; i < ARRAY_SIZE(own_modules); i++)
		index_add(ix, own_modules[i]);
}

/* --- lists of the kernel and of depmod -------------------------------------------- */

/* Calls fn with each line, without its newline. */
static void each_line(const char *text, size_t len,
                      void (*fn)(void *arg, const char *line, size_t n), void *arg)
{
	const char *end = text + len;

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((eol ? eol : end) - text);

		fn(arg, text, n);
		text += n + 1;
	}
}

static void raise_state(struct name_index *ix, const char *name, size_t n, enum module_state s)
{
	struct module_fact *f = index_find(ix, name, n);

	if (f && f->state < s)
		f->state = s;
}

/* "geode_aes 16384 0 - Live 0x0000000000000000" */
static void loaded_line(void *arg, const char *line, size_t n)
{
	const char *space = memchr(line, ' ', n);

	if (space)
		raise_state(arg, line, (size_t)(space - line), MODULE_LOADED);
}

/* "kernel/drivers/crypto/geode-aes.ko.xz[: dependencies]": the file's name up to ".ko". */
static void path_line(struct name_index *ix, const char *line, size_t n, enum module_state s)
{
	const char *colon = memchr(line, ':', n);
	const char *base, *dot;

	if (colon)
		n = (size_t)(colon - line);
	base = memrchr(line, '/', n);
	base = base ? base + 1 : line;
	n -= (size_t)(base - line);
	dot = memchr(base, '.', n);
	raise_state(ix, base, dot ? (size_t)(dot - base) : n, s);
}

static void builtin_line(void *arg, const char *line, size_t n)
{
	path_line(arg, line, n, MODULE_BUILTIN);
}

static void dep_line(void *arg, const char *line, size_t n)
{
	path_line(arg, line, n, MODULE_PRESENT);
}

/* Reads /lib/modules/RELEASE/FILE line by line into the index. */
static int scan_release_file(struct sysroot *sr, struct name_index *ix, const char *file,
                             void (*fn)(void *, const char *, size_t))
{
	static const char *const base[] = { "/lib/modules", "/usr/lib/modules" };
	int err = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(base) && err == -ENOENT; i++) {
		cleanup_free char *path = xasprintf("%s/%s/%s", base[i], ix->m->release, file);
		cleanup_free char *text = NULL;
		size_t len;

		err = sysroot_read(sr, path, &text, &len);
		if (!err)
			each_line(text, len, fn, ix);
		else if (err != -ENOENT)
			note_unread(ix->m, path, err);
	}
	return err;
}

PRINTF(6, 0)
static void quiet(void *data, int priority, const char *file, int line, const char *fn,
                  const char *format, va_list args)
{
	cleanup_free char *s = NULL;

	(void)data, (void)priority, (void)file, (void)line, (void)fn;
	if (log_get_level() >= LOG_LEVEL_DEBUG && vasprintf(&s, format, args) > 0)
		log_debug("kmod: %.*s", (int)strcspn(s, "\n"), s);
}

/* A module's file as depmod would list it: below the release's directory, and without its dependencies. */
static void note_answer(struct strbuf *answers, const struct machine *m, const char *path)
{
	const char *at = strstr(path, m->release);

	if (at && at[strlen(m->release)] == '/')
		strbuf_printf(answers, "%s:\n", at + strlen(m->release) + 1);
}

static void note_answers(struct sysroot *sr, const struct machine *m, const struct strbuf *answers)
{
	cleanup_free char *path = xasprintf("/lib/modules/%s/modules.dep", m->release);

	sysroot_note(sr, path, answers->s ? answers->s : "", answers->len);
}

/* Modules of the kernel through depmod's binary index: 0.8 million instructions where the text
 * costs 1.4. */
static int scan_kmod_index(struct sysroot *sr, struct name_index *ix)
{
	static const char *const no_config[] = { NULL };
	cleanup_free char *dir = xasprintf("/lib/modules/%s", ix->m->release);
	struct kmod_ctx *ctx = kmod_new(dir, no_config);
	struct strbuf answers = { 0 };
	int err = ctx ? 0 : -ENOMEM;

	if (err)
		return err;
	kmod_set_log_fn(ctx, quiet, NULL);
	err = kmod_load_resources(ctx) < 0 ? -ENOENT : 0;
	for (size_t i = 0; !err && i < ix->m->n_mod; i++) {
		struct module_fact *f = &ix->m->mod[i];
		struct kmod_module *mod = NULL;

		if (f->state > MODULE_PRESENT || kmod_module_new_from_name(ctx, f->name, &mod))
			continue;
		if (kmod_module_get_path(mod)) {
			f->state = MODULE_PRESENT;
			note_answer(&answers, ix->m, kmod_module_get_path(mod));
		}
		kmod_module_unref(mod);
	}
	if (!err && sr->noted)
		note_answers(sr, ix->m, &answers);
	strbuf_free(&answers);
	kmod_unref(ctx);
	return err;
}

static void scan_states(struct sysroot *sr, struct name_index *ix)
{
	struct machine *m = ix->m;
	cleanup_free char *loaded = NULL;
	int err = -ENOENT, dep = -ENOENT;
	size_t len;

	if (!m->other_kernel)
		err = sysroot_read(sr, "/proc/modules", &loaded, &len);
	if (!err)
		each_line(loaded, len, loaded_line, ix);
	else if (err != -ENOENT)
		note_unread(m, "/proc/modules", err);
	if (!*m->release)
		return;
	scan_release_file(sr, ix, "modules.builtin", builtin_line);
	if (!sr->recorded)
		dep = scan_kmod_index(sr, ix);
	if (dep)
		dep = scan_release_file(sr, ix, "modules.dep", dep_line);
	for (size_t i = 0; i < m->n_mod; i++)
		if (m->mod[i].state == MODULE_UNKNOWN && !dep)
			m->mod[i].state = MODULE_MISSING;
}

/* --- deny lists ------------------------------------------------------------------- */

/* kmod's order: a file name in an earlier directory hides the same name in the later ones. */
static const char *const config_dirs[] = {
	"/etc/modprobe.d",     "/run/modprobe.d", "/usr/local/lib/modprobe.d",
	"/usr/lib/modprobe.d", "/lib/modprobe.d",
};

static void deny(struct module_fact *f, bool hard, const char *where, const char *fmt, ...)
	PRINTF(4, 5);
static void deny(struct module_fact *f, bool hard, const char *where, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (f->denied && (f->denied_hard || !hard))
		return;
	f->denied = true;
	f->denied_hard = hard;
	n = snprintf(f->denied_by, sizeof(f->denied_by), "%s: ", where);
	if (n < 0 || (size_t)n >= sizeof(f->denied_by))
		return;
	va_start(ap, fmt);
	vsnprintf(f->denied_by + n, sizeof(f->denied_by) - (size_t)n, fmt, ap);
	va_end(ap);
}

/* Install commands that do nothing: the usual way to stop a module for good. */
static bool does_nothing(const char *command)
{
	static const char *const nothing[] = {
		"/bin/false", "/bin/true", "/usr/bin/false", "/usr/bin/true", "false", "true", ":"
	};
	size_t n = strcspn(command, " \t");

	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++)
		if (strlen(nothing[i]) == n && !strncmp(command, nothing[i], n))
			return true;
	return !strncmp(command, "exit", 4);
}

/* One logical line of a modprobe.d file; it is cut up in place. */
static void config_line(struct name_index *ix, char *line, const char *where)
{
	char *save = NULL;
	const char *word = strtok_r(line, " \t", &save);
	const char *name = word && *word != '#' ? strtok_r(NULL, " \t", &save) : NULL;
	struct module_fact *f;

	if (!name)
		return;
	f = index_find(ix, name, strlen(name));
	if (!f)
		return;
	if (!strcmp(word, "blacklist")) {
		deny(f, false, where, "blacklist %s", name);
	} else if (!strcmp(word, "install")) {
		save += strspn(save, " \t");
		if (does_nothing(save))
			deny(f, true, where, "install %s %s", name, save);
	}
}

/* Lines that end in a backslash go on in the next one. */
static void config_text(struct name_index *ix, char *text, const char *path)
{
	unsigned int number = 0;

	while (text && *text) {
		char where[160], *eol, *line = text;
		unsigned int first = ++number;

		while ((eol = strchr(text, '\n')) && eol > line && eol[-1] == '\\') {
			eol[-1] = eol[0] = ' ';
			text = eol + 1;
			number++;
		}
		if (eol)
			*eol = '\0';
		text = eol ? eol + 1 : NULL;
		line += strspn(line, " \t");
		if (*line != 'b' && *line != 'i')
			continue;
		snprintf(where, sizeof(where), "%.140s:%u", path, first);
		config_line(ix, line, where);
	}
}

static void scan_config_dir(struct sysroot *sr, struct name_index *ix, const char *dir,
                            struct strv *seen)
{
	struct strv names = { 0 };
	int err = sysroot_list(sr, dir, &names);

	note_unread_present(ix->m, dir, err);
	for (size_t i = 0; i < names.n; i++) {
		size_t n = strlen(names.v[i]);
		cleanup_free char *path = NULL, *text = NULL;

		if (n < 6 || strcmp(names.v[i] + n - 5, ".conf") || strv_has(seen, names.v[i]) ||
		    !strcmp(names.v[i], BOOT_DENY_FILE))
			continue;
		strv_add(seen, names.v[i]);
		path = xasprintf("%s/%s", dir, names.v[i]);
		err = sysroot_read(sr, path, &text, NULL);
		if (err)
			note_unread(ix->m, path, err);
		else
			config_text(ix, text, path);
	}
	strv_free(&names);
}

static void scan_cmdline(struct sysroot *sr, struct name_index *ix)
{
	struct cmdline_deny_list denied = { 0 };
	cleanup_free char *text = NULL;

	if (sysroot_read(sr, "/proc/cmdline", &text, NULL))
		return; /* named by probe_machine, which reads it too */
	cmdline_denied(text, &denied);
	for (size_t i = 0; i < denied.n; i++) {
		const struct cmdline_deny *d = &denied.v[i];
		struct module_fact *f = index_find(ix, d->module, strlen(d->module));

		if (f)
			deny(f, deny_option_hard(d->option), "kernel command line", "%s=%s",
			     deny_option_name(d->option), d->module);
	}
	cmdline_deny_list_free(&denied);
}

static void scan_denials(struct sysroot *sr, struct name_index *ix)
{
	struct strv seen = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(config_dirs); i++)
		scan_config_dir(sr, ix, config_dirs[i], &seen);
	strv_free(&seen);
	scan_cmdline(sr, ix);
}

int modules_probe(struct sysroot *sr, struct machine *m)
{
	struct name_index *ix = xcalloc(1, sizeof(*ix));

	free(m->mod);
	m->mod = NULL;
	m->n_mod = 0;
	ix->m = m;
	index_add_table(ix);
	scan_states(sr, ix);
	scan_denials(sr, ix);
	free(ix);
	return 0;
}

/* --- loading
 * ------------------------------------------------------------------------------------------------
 */

struct load {
	const char *name;
	unsigned int flags;
};

/* In a boot image libkmod would heed BOOT_DENY_FILE; module_load has looked at all the other files itself. */
static unsigned int probe_flags(const struct load *ld)
{
	if (ld->flags & MODULE_FORCE)
		return KMOD_PROBE_IGNORE_COMMAND;
	return access("/etc/modprobe.d/" BOOT_DENY_FILE, F_OK) ? KMOD_PROBE_APPLY_BLACKLIST : 0;
}

static int load_module(struct kmod_ctx *ctx, const struct load *ld)
{
	struct kmod_module *mod = NULL;
	int err = kmod_module_new_from_name(ctx, ld->name, &mod);

	if (err)
		return err < 0 ? err : -EIO;
	if (kmod_module_get_initstate(mod) != KMOD_MODULE_BUILTIN) {
		if (!kmod_module_get_path(mod))
			err = -ENOENT;
		else
			err = kmod_module_probe_insert_module(
				mod, probe_flags(ld), NULL, NULL, NULL, NULL);
	}
	kmod_module_unref(mod);
	return err > 0 ? -EACCES : err;
}

static int load_in_child(void *arg, int out)
{
	struct kmod_ctx *ctx = kmod_new(NULL, NULL);
	int err;

	(void)out;
	if (!ctx)
		return -ENOMEM;
	kmod_set_log_fn(ctx, quiet, NULL);
	kmod_load_resources(ctx);
	err = load_module(ctx, arg);
	kmod_unref(ctx);
	return err;
}

/* Is this one module denied? Fills f as modules_probe would. */
static void find_denial(const char *name, struct module_fact *f)
{
	struct machine m = { 0 };
	struct name_index *ix = xcalloc(1, sizeof(*ix));
	struct sysroot sr;

	ix->m = &m;
	index_add(ix, name);
	if (!sysroot_open(&sr, NULL)) {
		scan_denials(&sr, ix);
		sysroot_close(&sr);
	}
	if (m.n_mod)
		*f = m.mod[0];
	machine_free(&m);
	free(ix);
}

static void say_error(struct strbuf *log, const char *name, int err, int timeout_ms,
                      const struct child_result *res)
{
	switch (err) {
	case 0:
		break;
	case -ENOENT:
		say(log, "Module %s is not installed for the running kernel.", name);
		break;
	case -ENODEV:
		say(log, "Module %s found no device that it serves.", name);
		break;
	case -EPERM:
		say(log,
		    "Loading module %s is not permitted: it needs root, and neither lockdown nor module_blacklist= in the way.",
		    name);
		break;
	case -EKEYREJECTED:
		say(log, "The kernel does not accept the signature of module %s.", name);
		break;
	case -ECHILD:
		say(log, "Loading module %s crashed (signal %d); look at the kernel log.", name,
		    res->signal);
		break;
	case -ETIMEDOUT:
		say(log, "Loading module %s did not end within %d.%d s.", name, timeout_ms / 1000,
		    timeout_ms / 100 % 10);
		if (res->left_behind)
			say(log,
			    "Its process %d could not be killed and was left behind; the driver may be hung.",
			    (int)res->left_behind);
		break;
	default:
		say(log, "Module %s could not be loaded: %s.", name, strerror(-err));
	}
}

#define NOTESTS "/sys/module/cryptomgr/parameters/notests"

/*
 * A module that hangs in the self-test of its first algorithm goes on to register the next ones when its loader is
 * killed, and for each the kernel may start one more test, on the engine that is stuck: with its lock held and
 * interrupts off that ends the machine (geode-aes on 6.1, seen in one of four kills; crypto/api.c,
 * crypto_wait_for_test). So no test starts from here until the loader is gone (crypto/testmgr.c, alg_test).
 */
static bool tests_stopped;

static void stop_selftests(void)
{
	char now = '?';
	int fd = open(NOTESTS, O_RDWR | O_CLOEXEC);

	if (fd >= 0 && read(fd, &now, 1) == 1 && now == 'N' && pwrite(fd, "1", 1, 0) == 1)
		tests_stopped = true;
	if (fd >= 0)
		close(fd);
}

static void resume_selftests(void)
{
	int fd = tests_stopped ? open(NOTESTS, O_WRONLY | O_CLOEXEC) : -1;

	if (fd >= 0 && pwrite(fd, "0", 1, 0) == 1)
		tests_stopped = false;
	if (fd >= 0)
		close(fd);
}

int module_load(const char *name, unsigned int flags, int timeout_ms, struct strbuf *log)
{
	struct load ld = { .name = name, .flags = flags };
	struct child_result res = { 0 };
	struct module_fact f = { 0 };
	int err;

	find_denial(name, &f);
	if (f.denied && !(flags & MODULE_FORCE)) {
		say(log, "Module %s is denied (%s).", name, f.denied_by);
		return -EACCES;
	}
	err = child_run_guarded(load_in_child, &ld, timeout_ms, 0, stop_selftests, &res);
	if (!res.left_behind)
		resume_selftests();
	say_error(log, name, err, timeout_ms, &res);
	strbuf_free(&res.out);
	return err;
}

/* Listed, and no self-test of it runs: while one does, a second record of type "larval" bears the
 * same driver name. */
static bool registered(const struct alg_list *l, const char *driver)
{
	bool found = false;

	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->v[i].driver, driver))
			continue;
		if (l->v[i].type == ALG_OTHER)
			return false;
		found = true;
	}
	return found;
}

static const char *first_missing(struct sysroot *sr, const char *const *drivers, int *err)
{
	cleanup_free char *text = NULL;
	const char *missing = NULL;
	struct alg_list l = { 0 };
	size_t len;

	*err = sysroot_read(sr, "/proc/crypto", &text, &len);
	if (*err)
		return *drivers;
	proc_crypto_parse(text, len, &l);
	for (; *drivers && !missing; drivers++)
		if (!registered(&l, *drivers))
			missing = *drivers;
	alg_list_free(&l);
	return missing;
}

int module_wait_registered(struct sysroot *sr, const char *const *drivers, int timeout_ms,
                           const char **missing)
{
	const struct timespec step = { .tv_nsec = 20 * 1000 * 1000 };
	int64_t end = clock_ms() + timeout_ms;
	const char *first;
	int err;

	for (;;) {
		first = first_missing(sr, drivers, &err);
		if (!first || err)
			break;
		if (clock_ms() >= end) {
			err = -ETIMEDOUT;
			break;
		}
		nanosleep(&step, NULL);
	}
	if (missing)
		*missing = first;
	return err;
}
