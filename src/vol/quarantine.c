/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Takes a broken driver out of the kernel's choice, and remembers per boot which drivers were
 * proven or taken out. Knows NETLINK_CRYPTO through sys and /run/hwluks; must not decide whether a
 * driver is bad.
 */
#include "vol/quarantine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/proc_crypto.h"
#include "sys/sys.h"
#include "util/util.h"
#include "vol/rundir.h"
#include "vol/trial.h"

#define NETLINK_LIMIT_MS 4000

/* --- what belongs to the row
 * --------------------------------------------------------------------------------------- */

static bool is_own(const struct accel *a, const char *driver)
{
	return accel_alg_by_driver(a, driver, 0) != NULL;
}

static void list_drivers(const struct accel *a, const struct alg_list *l, bool own,
                         struct strv *out)
{
	for (size_t i = 0; i < l->n; i++)
		if (own ? is_own(a, l->v[i].driver) : accel_in_instance(a, l->v[i].driver))
			strv_add_unique(out, l->v[i].driver);
}

/* --- the work, in a child: the kernel does it inside the send call, and an engine may hang there
 * ------------------- */

struct work {
	const struct accel *accel;
	unsigned int *counts; /* shared: lowered, deleted */
};

static int lower_all(const struct accel *a, const struct alg_list *l, unsigned int *lowered)
{
	struct strv names = { 0 };
	int err = 0;

	list_drivers(a, l, true, &names);
	for (size_t i = 0; i < names.n; i++) {
		int e = crypto_user_set_priority(names.v[i], 0);

		if (!e)
			(*lowered)++;
		else if (e != -ENOENT && !err)
			err = e;
	}
	strv_free(&names);
	return err;
}

/* An instance in use cannot be deleted; at priority 0 at least nobody new gets it. */
static void drop_instances(const struct accel *a, const struct alg_list *l, unsigned int *deleted)
{
	struct strv names = { 0 };

	list_drivers(a, l, false, &names);
	for (size_t i = 0; i < names.n; i++) {
		if (!crypto_user_delete(names.v[i]))
			(*deleted)++;
		else
			crypto_user_set_priority(names.v[i], 0);
	}
	strv_free(&names);
}

/* --- what shall serve instead
 *
 * Priority 0 alone takes nothing out of use: where the row's driver is the only one registered under a
 * name, or the only ecb below the xts template, the kernel still takes it (seen with padlock-aes on 6.1,
 * which opens no fallback of its own). So the software of each mode is built by its full driver name.
 * ---------------------------------------------------------------------------------------------- */

static const char *const data_names[] = { "ecb(aes)", "cbc(aes)", "xts(aes)" };

static bool is_healthy(const struct accel *a, const struct alg *k)
{
	return k->priority > 0 && k->selftest != SELFTEST_UNKNOWN && !k->internal &&
	       !is_own(a, k->driver) && !accel_in_instance(a, k->driver);
}

static bool has_rival(const struct accel *a, const struct alg_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].type != ALG_CIPHER && !strcmp(l->v[i].name, name) &&
		    is_healthy(a, &l->v[i]))
			return true;
	return false;
}

/* The best healthy single-block AES; the portable code may not be listed before it is asked for. */
static const char *software_aes(const struct accel *a, const struct alg_list *l)
{
	const struct alg *best = NULL;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].type == ALG_CIPHER && !strcmp(l->v[i].name, "aes") &&
		    is_healthy(a, &l->v[i]) && (!best || l->v[i].priority > best->priority))
			best = &l->v[i];
	return best ? best->driver : "aes-generic";
}

/* cbc over one block at a time up to 6.6, over an ecb of lskcipher type later (crypto/cbc.c). */
static void seed(const struct accel *a, const struct alg_list *l)
{
	static const struct {
		unsigned int name;
		const char *head, *tail;
	} form[] = {
		{ 0, "ecb(", ")" }, { 1, "cbc(", ")" }, { 1, "cbc(ecb(", "))" }, { 2, "xts(ecb(", "))" },
	};
	const char *aes = software_aes(a, l);

	for (size_t i = 0; i < ARRAY_SIZE(form); i++) {
		char driver[ALG_NAME_MAX];
		const char *name = data_names[form[i].name];

		snprintf(driver, sizeof(driver), "%s%.100s%s", form[i].head, aes, form[i].tail);
		if (!has_rival(a, l, name))
			crypto_user_instantiate(name, driver);
	}
}

static int work(void *arg, int out)
{
	struct work *w = arg;
	struct alg_list l;
	int err = trial_algs(&l);

	(void)out;
	if (err)
		return err;
	/* The dump tells whether crypto_user is there, and loads it when it can be. */
	err = crypto_user_dump(&l, true);
	if (!err)
		err = lower_all(w->accel, &l, &w->counts[0]);
	if (!err) {
		drop_instances(w->accel, &l, &w->counts[1]);
		seed(w->accel, &l);
	}
	alg_list_free(&l);
	return err;
}

/* --- the judgement: only the kernel's own list counts
 * ---------------------------------------------------------------- */

static void add_still(struct quarantine_result *res, const char *word)
{
	size_t n = strlen(res->still);

	snprintf(res->still + n, sizeof(res->still) - n, "%s%s", n ? " " : "", word);
}

/* Out of use means: nothing of it has a priority, and every mode has something better. */
static int check_list(const struct accel *a, struct quarantine_result *res)
{
	struct alg_list l;
	int err = trial_algs(&l);

	if (err)
		return err;
	for (size_t i = 0; i < l.n; i++) {
		const char *driver = l.v[i].driver;

		if (l.v[i].priority > 0 && (is_own(a, driver) || accel_in_instance(a, driver)))
			add_still(res, driver);
	}
	for (size_t i = 0; i < ARRAY_SIZE(data_names); i++)
		if (!has_rival(a, &l, data_names[i]))
			add_still(res, data_names[i]);
	alg_list_free(&l);
	return res->still[0] ? -EIO : 0;
}

static const char *module_of(const struct accel *a)
{
	return a->modules ? a->modules : "its module";
}

static int explain(int err, const struct accel *a, struct quarantine_result *res)
{
	const char *module = module_of(a);

	if (err == -EPROTONOSUPPORT || err == -EAFNOSUPPORT || err == -ENOENT) {
		snprintf(
			res->text, sizeof(res->text),
			"%s could not be taken out of use: this kernel has no crypto_user. Do not use it: unload %s, or put "
			"\"blacklist %s\" into a file in /etc/modprobe.d and restart.",
			a->name, module, module);
		return -ENOSYS;
	}
	if (err == -ETIMEDOUT)
		snprintf(
			res->text, sizeof(res->text),
			"%s could not be taken out of use: the kernel did not answer. Restart with module_blacklist=%s on the kernel "
			"command line.",
			a->name, module);
	else if (err && res->still[0])
		snprintf(
			res->text, sizeof(res->text),
			"%s is still in the kernel's choice (%.120s): restart with module_blacklist=%s.",
			a->name, res->still, module);
	else if (err)
		snprintf(res->text, sizeof(res->text), "%s could not be taken out of use: %s.",
		         a->name, strerror(-err));
	else
		snprintf(res->text, sizeof(res->text),
		         "The %s was taken out of use until the next boot.", a->name);
	return err;
}

static bool may_be_taken_out(const struct accel *a)
{
	return a->kind != ACCEL_SOFTWARE && a->kind != ACCEL_CPU_SIMD && a->algs;
}

int quarantine_driver(const struct accel *a, struct quarantine_result *res)
{
	unsigned int *counts;
	struct work w = { .accel = a };
	int err;

	memset(res, 0, sizeof(*res));
	if (!may_be_taken_out(a)) {
		snprintf(res->text, sizeof(res->text),
		         "%s is plain CPU code and is never taken out of use.", a->name);
		return -EPERM;
	}
	counts = w.counts = trial_alloc(2 * sizeof(*counts));
	err = child_run(work, &w, NETLINK_LIMIT_MS, 0, NULL);
	res->lowered = counts[0];
	res->deleted = counts[1];
	trial_free(counts, 2 * sizeof(*counts));
	if (!err)
		err = check_list(a, res);
	return explain(err, a, res);
}

/* --- stamps
 * ------------------------------------------------------------------------------------------------------------
 */

/*
 * New with every load of the module: a sysfs directory gets its inode number when the kernel makes
 * it, and numbers are not given out again before the counter wraps (fs/kernfs/dir.c,
 * idr_alloc_cyclic). 0 for code built into the kernel.
 */
static unsigned long long module_identity(const char *module)
{
	char path[128];
	struct stat st;

	if (!module || !*module || !strcmp(module, "kernel"))
		return 0;
	snprintf(path, sizeof(path), "/sys/module/%.80s", module);
	for (char *s = path + strlen("/sys/module/"); *s; s++)
		if (*s == '-')
			*s = '_';
	return stat(path, &st) ? 0 : (unsigned long long)st.st_ino;
}

static void stamp_text(const char *module, enum stamp_state state, char *buf, size_t size)
{
	char boot[48];

	snprintf(buf, size, "%s %llu %s\n", rundir_boot_id(boot, sizeof(boot)),
	         module_identity(module), state == STAMP_QUARANTINED ? "quarantined" : "verified");
}

static void stamp_name(const char *driver, const struct cipher_spec *spec, char *buf, size_t size)
{
	char text[256];

	if (spec)
		snprintf(buf, size, "verified-%.80s-%.80s-%u-%u", driver,
		         spec_text(spec, text, sizeof(text)), spec->key_bits,
		         spec->sector_size ? spec->sector_size : 512);
	else
		snprintf(buf, size, "quarantined-%.80s", driver);
}

static bool stamp_is(const char *name, const char *module, enum stamp_state state)
{
	char found[160], want[160];

	stamp_text(module, state, want, sizeof(want));
	return !rundir_read(name, found, sizeof(found)) && !strcmp(found, want);
}

enum stamp_state stamp_read(const char *driver, const char *module, const struct cipher_spec *spec)
{
	char name[220];

	stamp_name(driver, NULL, name, sizeof(name));
	if (stamp_is(name, module, STAMP_QUARANTINED))
		return STAMP_QUARANTINED;
	if (!spec)
		return STAMP_NONE;
	stamp_name(driver, spec, name, sizeof(name));
	return stamp_is(name, module, STAMP_VERIFIED) ? STAMP_VERIFIED : STAMP_NONE;
}

int stamp_write(const char *driver, const char *module, const struct cipher_spec *spec,
                enum stamp_state state)
{
	char name[220], text[160];

	if (state == STAMP_NONE || (state == STAMP_VERIFIED && !spec))
		return -EINVAL;
	/* Whatever the spec was: a broken engine is broken for all. */
	stamp_name(driver, state == STAMP_QUARANTINED ? NULL : spec, name, sizeof(name));
	stamp_text(module, state, text, sizeof(text));
	return rundir_write(name, text);
}
