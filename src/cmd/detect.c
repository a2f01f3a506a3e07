/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks detect: what is here, in which state, and whether dm-crypt may use it; what is on a device.
 * Must not load anything or write anywhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "fill/fill.h"
#include "vol/vol.h"

/* --- one accelerator ----------------------------------------------------------------------------- */

struct found {
	const struct accel *accel;
	char how[192];
	enum driver_state state;
	enum accel_dmcrypt usable;
	struct strv missing_options;
	const struct module_fact *module;
};

static bool find(const struct machine *m, const struct accel *a, struct found *f)
{
	*f = (struct found){ .accel = a };
	if (a->kind == ACCEL_SOFTWARE || !accel_present(m, a, f->how, sizeof(f->how)))
		return false;
	/* vector code is worth a word only where there is nothing better */
	if (a->kind == ACCEL_CPU_SIMD && policy_cpu_has_aes(m))
		return false;
	f->state = driver_state(m, a);
	f->usable = accel_usable(m, a);
	f->module = accel_module(m, a);
	accel_missing_options(m, a, &f->missing_options);
	return true;
}

static const char *state_text(const struct found *f)
{
	switch (f->state) {
	case DRIVER_NOT_IN_KERNEL:
		return "this kernel version has no code for it";
	case DRIVER_NO_OPTION:
		return "the kernel was built without it";
	case DRIVER_NO_MODULE:
		return "its module is not installed";
	case DRIVER_NOT_LOADED:
		return "not loaded";
	case DRIVER_DENIED:
		return "not loaded, deny-listed";
	case DRIVER_LOADED:
		return "loaded, but it registered no algorithm";
	case DRIVER_FAILED:
		return "registered, self-test NOT passed";
	case DRIVER_UNTESTED:
		return "registered, not tested: the kernel's self-tests are off";
	case DRIVER_QUARANTINED:
		return "put to priority 0, out of use";
	case DRIVER_REGISTERED:
		return "registered, self-test passed";
	default:
		return "not known";
	}
}

static const char *usable_text(enum accel_dmcrypt u)
{
	switch (u) {
	case DMCRYPT_YES:
		return "yes";
	case DMCRYPT_NO_MEMORY_FLAG:
		return "no: dm-crypt refuses drivers that allocate memory for each request";
	case DMCRYPT_NO_CIPHER:
		return "no: it has no cipher of a kind that dm-crypt takes";
	case DMCRYPT_NO_DRIVER:
		return "no: this kernel has no driver for it";
	case DMCRYPT_NO_STORAGE:
		return "no: it encrypts below the block layer";
	case DMCRYPT_BY_NAME:
		return "only by its driver's name: its priority is too low";
	}
	return "not known";
}

static const char *usable_id(enum accel_dmcrypt u)
{
	static const char *const id[] = { "yes", "memory-flag", "no-cipher", "no-driver", "storage", "by-name" };

	return id[u];
}

static const char *module_name(const struct found *f)
{
	return f->module ? f->module->name : f->accel->modules;
}

static void print_line(const char *label, const char *text)
{
	char first[32];

	snprintf(first, sizeof(first), "  %-16s", label);
	print_wrapped(stdout, first, 18, text);
}

static void print_found(const struct machine *m, const struct found *f)
{
	const struct accel *a = f->accel;
	struct strbuf drivers = { 0 };
	char keys[96], modes[96], line[256]; /* of the hardware, whichever kernel has a driver */

	printf("%s%s[%s]\n", a->name, strlen(a->name) + strlen(a->id) + 4 < 80 ? "  " : "\n  ", a->id);
	print_line("recognised by", f->how);
	if (a->kind == ACCEL_CPU_SIMD)
		print_line("counts as", "software: CPU code on the vector unit");
	snprintf(line, sizeof(line), "%s%s%s", module_name(f) ? module_name(f) : "", module_name(f) ? ": " : "", state_text(f));
	print_line("driver", line);
	if (f->module && f->module->denied)
		print_line("denied by", f->module->denied_by);
	for_each_alg(g, a) {
		const struct alg *k = accel_alg_listed(m, g);

		if (k)
			strbuf_printf(&drivers, "%s%s (priority %d%s)", drivers.len ? ", " : "", k->driver, k->priority,
				      k->selftest == SELFTEST_UNKNOWN ? ", self-test not passed" : "");
	}
	if (drivers.s)
		print_line("registered", drivers.s);
	if (f->usable == DMCRYPT_YES && (f->state == DRIVER_NO_OPTION || f->state == DRIVER_NO_MODULE))
		print_line("dm-crypt", "could use it, if its driver were there");
	else if (f->usable == DMCRYPT_YES && (f->state == DRIVER_FAILED || f->state == DRIVER_QUARANTINED))
		print_line("dm-crypt", "could use it, if its driver had not failed");
	else
		print_line("dm-crypt", usable_text(f->usable));
	snprintf(line, sizeof(line), "%s bits; %s", accel_keys_text(accel_hw_keys(a, 0), keys, sizeof(keys)),
		 accel_modes_text(a->modes, modes, sizeof(modes)));
	if (a->modes & ~(unsigned)(MODE_HASH | MODE_GCM))
		print_line("hardware", line);
	if (a->other_keys_text && accel_hw_keys(a, 0))
		print_line("other keys", a->other_keys_text);
	for (size_t i = 0; i < f->missing_options.n; i++) {
		snprintf(line, sizeof(line), "CONFIG_%s", f->missing_options.v[i]);
		print_line("kernel lacks", line);
	}
	strbuf_free(&drivers);
	putchar('\n');
}

static void json_strings(struct json_object *o, const char *key, const char *comma_list)
{
	struct json_object *list = json_add_arr(o, key);
	cleanup_free char *copy = xstrdup(comma_list);

	for (char *w = strtok(copy, ", "); w; w = strtok(NULL, ", "))
		json_add_str(list, NULL, w);
}

/* What the hardware works with, one string a bit; xts counts both halves of the key. */
static void json_hardware(struct json_object *o, const struct accel *a)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} keys[] = {
		{ KEYS_128, "128" }, { KEYS_192, "192" }, { KEYS_256, "256" }, { KEYS_XTS_256, "xts-256" },
		{ KEYS_XTS_384, "xts-384" }, { KEYS_XTS_512, "xts-512" }, { KEYS_UNKNOWN, "unknown" },
	}, modes[] = {
		{ MODE_SINGLE, "single" }, { MODE_ECB, "ecb" }, { MODE_CBC, "cbc" }, { MODE_CTR, "ctr" }, { MODE_XTS, "xts" },
		{ MODE_CTS, "cts" }, { MODE_ESSIV, "essiv" }, { MODE_GCM, "gcm" }, { MODE_HASH, "hash" },
	};
	struct json_object *list = json_add_arr(o, "key_sizes");

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (accel_hw_keys(a, 0) & keys[i].bit)
			json_add_str(list, NULL, keys[i].name);
	list = json_add_arr(o, "modes");
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (a->modes & modes[i].bit)
			json_add_str(list, NULL, modes[i].name);
}

static void json_registered(struct json_object *o, const struct machine *m, const struct accel *a)
{
	struct json_object *list = json_add_arr(o, "registered");

	for_each_alg(g, a) {
		const struct alg *k = accel_alg_listed(m, g);
		struct json_object *x;

		if (!k)
			continue;
		x = json_add_obj(list, NULL);
		json_add_str(x, "name", k->name);
		json_add_str(x, "driver", k->driver);
		json_add_int(x, "priority", k->priority);
		json_add_int(x, "refcnt", k->refcnt);
		json_add_bool(x, "selftest_passed", k->selftest != SELFTEST_UNKNOWN);
	}
}

static void json_found(struct json_object *list, const struct machine *m, const struct found *f)
{
	struct json_object *o = json_add_obj(list, NULL), *options;
	const struct accel *a = f->accel;

	json_add_str(o, "id", a->id);
	json_add_str(o, "name", a->name);
	json_add_str(o, "kind", accel_kind_name(a->kind));
	json_add_str(o, "recognised_by", f->how);
	json_add_str(o, "module", module_name(f));
	json_add_str(o, "driver_state", driver_state_name(f->state));
	json_add_str(o, "denied_by", f->module && f->module->denied ? f->module->denied_by : NULL);
	json_add_bool(o, "usable_by_dm_crypt", f->usable == DMCRYPT_YES);
	json_add_str(o, "usable_reason", usable_id(f->usable));
	json_hardware(o, a);
	options = json_add_arr(o, "missing_kernel_options");
	for (size_t i = 0; i < f->missing_options.n; i++)
		json_add_str(options, NULL, f->missing_options.v[i]);
	json_add_bool(o, "kernel_options_known", m->kconfig != NULL);
	json_registered(o, m, a);
	json_add_str(o, "quirks", a->quirks);
	json_add_str(o, "source", a->source);
}

/* --- the rest of the machine ------------------------------------------------------------------------ */

/* The list without the word "none", which newer kernels append to it. */
static void rng_names(const struct machine *m, char *buf, size_t size)
{
	cleanup_free char *copy = xstrdup(m->rng.available);
	size_t n = 0;

	*buf = '\0';
	for (char *w = strtok(copy, " "); w; w = strtok(NULL, " "))
		if (strcmp(w, "none") && n < size)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "", w);
}

/* In per mille of 1024; what the kernel credits per bit (drivers/char/hw_random/core.c). */
static void print_rng(const struct machine *m)
{
	char line[384], names[sizeof(m->rng.available)];

	if (!m->rng.known) {
		print_line("RNG", "not known: /sys/class/misc/hw_random could not be read");
		return;
	}
	if (!*m->rng.available || !strcmp(m->rng.available, "none")) {
		print_line("RNG", "the kernel has no hardware random number generator");
		return;
	}
	rng_names(m, names, sizeof(names));
	if (m->rng.quality < 0)
		snprintf(line, sizeof(line), "%s; in use: %s; credit not known", names, *m->rng.current ? m->rng.current : "none");
	else
		snprintf(line, sizeof(line), "%s; in use: %s; the kernel credits %d of 1024 bits", names,
			 *m->rng.current ? m->rng.current : "none", m->rng.quality);
	print_line("RNG", line);
}

static void print_machine(const struct machine *m)
{
	char line[256];

	/* ARM names its maker by number and nothing else */
	snprintf(line, sizeof(line), "%s%s%s", !m->cpu.model && m->cpu.vendor && str_starts(m->cpu.vendor, "0x") ? "implementer " : "",
		 m->cpu.model ? m->cpu.model : m->cpu.vendor ? m->cpu.vendor : "not named",
		 m->cpu.hypervisor ? ", in a virtual machine" : "");
	printf("This machine%s\n", m->recorded ? " (recorded)" : "");
	print_line("kernel", *m->release ? m->release : "not known");
	print_line("CPU", line);
	if (policy_no_dm_crypt(m))
		print_line("dm-crypt", "not in this kernel (CONFIG_DM_CRYPT): no volume can be opened here");
	print_rng(m);
	for (size_t i = 0; i < m->n_gw; i++) {
		snprintf(line, sizeof(line), "%s: %s", m->gw[i].name, m->gw[i].state);
		print_line(i ? "" : "for user space", line);
	}
	if (m->selftests_off)
		print_line("self-tests", "switched off: what the kernel calls 'passed' proves nothing here");
}

static void json_machine(struct json_object *o, const struct machine *m)
{
	struct json_object *x, *list;
	char names[sizeof(m->rng.available)];

	json_add_str(o, "kernel", *m->release ? m->release : NULL);
	json_add_bool(o, "recorded", m->recorded);
	x = json_add_obj(o, "cpu");
	json_add_str(x, "vendor", m->cpu.vendor);
	json_add_str(x, "model", m->cpu.model);
	json_add_bool(x, "virtual_machine", m->cpu.hypervisor);
	json_add_bool(x, "aes_instructions", policy_cpu_has_aes(m));
	json_add_bool(o, "selftests_off", m->selftests_off);
	json_add_bool(o, "no_dm_crypt", policy_no_dm_crypt(m));
	x = json_add_obj(o, "rng");
	rng_names(m, names, sizeof(names));
	json_strings(x, "available", names);
	json_add_str(x, "current", *m->rng.current && strcmp(m->rng.current, "none") ? m->rng.current : NULL);
	if (m->rng.known && m->rng.quality >= 0)
		json_add_int(x, "credit", m->rng.quality);
	else
		json_add_str(x, "credit", NULL);
	list = json_add_arr(o, "gateways");
	for (size_t i = 0; i < m->n_gw; i++) {
		x = json_add_obj(list, NULL);
		json_add_str(x, "id", m->gw[i].id);
		json_add_str(x, "name", m->gw[i].name);
		json_add_str(x, "state", m->gw[i].state);
	}
	json_unread(o, m);
}

/* --- what is on a device ------------------------------------------------------------------------------ */

static const char *record_text(enum record_state s)
{
	return s == RECORD_INTERRUPTED ? "an interrupted hwluks format: run 'hwluks format' on it again to finish it" :
	       s == RECORD_COMPLETE    ? "a hwluks format interrupted at its last step: the new volume opens as it is" :
					 "no trace of an interrupted format";
}

static void print_fill(const struct fill_record *f)
{
	char line[320], done[32], all[32];

	print_line("state", "an interrupted hwluks fill: 'hwluks fill --resume' goes on with it");
	snprintf(line, sizeof(line), "%s of %s", size_text(fill_record_done(f), done, sizeof(done)),
		 size_text(f->length, all, sizeof(all)));
	print_line("is filled", line);
}

static void json_fill(struct json_object *d, const struct fill_record *f)
{
	struct json_object *o;

	if (!f) {
		json_add_str(d, "fill_record", NULL);
		return;
	}
	o = json_add_obj(d, "fill_record");
	json_add_int(o, "start", (int64_t)f->start);
	json_add_int(o, "length", (int64_t)f->length);
	json_add_int(o, "head", (int64_t)f->head);
	json_add_int(o, "watermark", (int64_t)f->watermark);
	json_add_int(o, "filled_bytes", (int64_t)fill_record_done(f));
	json_add_int(o, "bad_bytes", (int64_t)fill_ranges_bytes(&f->bad));
}

static void print_device(const struct blkdev *bd, const struct record *rec, enum record_state state,
			 const struct fill_record *fill)
{
	char line[320], size[32], text[224];

	printf("\n%s\n", bd->path);
	print_line("size", size_text(bd->size, size, sizeof(size)));
	if (state != RECORD_NONE) {
		print_line("state", record_text(state));
		snprintf(line, sizeof(line), "%s, %u-bit key, UUID %s", rec->spec, rec->key_bits, rec->uuid);
		print_line("was to become", line);
	}
	if (fill)
		print_fill(fill);
	for (size_t i = 0; i < bd->n_sig; i++)
		if (!blkdev_signature_again(bd, i))
			print_line(i ? "" : "holds", blkdev_signature_text(&bd->sig[i], text, sizeof(text)));
	if (!bd->n_sig && state == RECORD_NONE && !fill)
		print_line("holds", "nothing that libblkid knows");
	for (size_t i = 0; i < bd->n_use; i++) {
		snprintf(line, sizeof(line), "%s, %s: %s", bd->use[i].node, blkdev_use_name(bd->use[i].kind), bd->use[i].by);
		print_line(i ? "" : "in use", line);
	}
}

static void json_device(struct json_object *o, const struct blkdev *bd, const struct record *rec, enum record_state state,
			const struct fill_record *fill)
{
	static const char *const name[] = { "none", "interrupted", "complete" };
	struct json_object *d = json_add_obj(o, "device"), *list, *x;

	json_add_str(d, "path", bd->path);
	json_add_int(d, "size", (int64_t)bd->size);
	json_add_str(d, "format_record", name[state]);
	json_add_str(d, "format_spec", state == RECORD_NONE ? NULL : rec->spec);
	json_add_str(d, "format_uuid", state == RECORD_NONE ? NULL : rec->uuid);
	json_fill(d, fill);
	list = json_add_arr(d, "signatures");
	for (size_t i = 0; i < bd->n_sig; i++) {
		x = json_add_obj(list, NULL);
		json_add_str(x, "type", bd->sig[i].type);
		json_add_str(x, "usage", bd->sig[i].usage);
		json_add_int(x, "offset", (int64_t)bd->sig[i].offset);
	}
	list = json_add_arr(d, "in_use");
	for (size_t i = 0; i < bd->n_use; i++) {
		x = json_add_obj(list, NULL);
		json_add_str(x, "kind", blkdev_use_name(bd->use[i].kind));
		json_add_str(x, "node", bd->use[i].node);
		json_add_str(x, "by", bd->use[i].by);
	}
}

static int report_device(const char *spec, struct json_object *doc)
{
	struct strbuf why = { 0 };
	struct blkdev bd;
	struct record rec = { 0 };
	enum record_state state = RECORD_NONE;
	struct fill_record fill;
	bool filling = false;
	int r = blkdev_open(spec, 0, &bd, &why);

	if (!say_why(r, &why))
		r = record_read(bd.fd, &rec, &state);
	if (r == -EBADMSG) {
		log_warn("%s: a record of an interrupted hwluks format is there, but damaged.", bd.path);
		r = 0;
	}
	if (!r)
		filling = !fill_slots_read(bd.fd, &fill);
	if (!r && doc)
		json_device(doc, &bd, &rec, state, filling ? &fill : NULL);
	else if (!r)
		print_device(&bd, &rec, state, filling ? &fill : NULL);
	blkdev_close(&bd);
	return r == -ENOENT ? -ENODEV : r;
}

/* --- the command ---------------------------------------------------------------------------------------- */

static void report_accels(const struct machine *m, struct json_object *doc)
{
	struct json_object *list = doc ? json_add_arr(doc, "accelerators") : NULL;
	size_t n = 0;

	for (size_t i = 0; i < accel_count; i++) {
		struct found f;

		if (find(m, &accel_table[i], &f)) {
			if (list)
				json_found(list, m, &f);
			else
				print_found(m, &f);
			n++;
		}
		strv_free(&f.missing_options);
	}
	if (!n && !list)
		puts("No accelerator was recognised.\n");
}

int cmd_detect(struct cmd_context *c)
{
	struct json_object *doc = c->opt.json ? json_add_obj(NULL, NULL) : NULL;
	struct machine m = { 0 };
	int r;

	if (c->n_args && c->opt.sysroot) {
		log_error("A recorded machine has no devices: leave out %s, or --sysroot.", c->arg[0]);
		return -EINVAL;
	}
	r = probe_machine(&c->root, PROBE_ALL, &m);
	if (r) {
		log_error("Cannot look at this machine: %s.", strerror(-r));
		return r;
	}
	report_accels(&m, doc);
	if (doc)
		json_machine(doc, &m);
	else
		print_machine(&m);
	if (c->n_args)
		r = report_device(c->arg[0], doc);
	if (doc)
		json_print(doc);
	else
		say_unread(&m);
	machine_free(&m);
	return r;
}
