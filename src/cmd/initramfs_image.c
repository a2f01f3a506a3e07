/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * hwluks initramfs install, check, remove: puts the hooks where the builder of boot images looks, has it build, looks into
 * what it built. Must not know what an image needs (core/image_check.c) or how a builder works (core/image_kind.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/initramfs.h"
#include "core/image_check.h"

#define BUILD_LIMIT_MS (60 * 60 * 1000) /* a build on a small board takes minutes */

struct image_run {
	struct cmd_context *c;
	const struct image_kind *kind;
	struct json_object *doc;    /* with --json, else NULL */
	struct json_object *images; /* its list */
	unsigned int checked, bad;
};

/* --- which builder, which kernels ---------------------------------------------------------------------------- */

static int find_kind(struct cmd_context *c, const struct image_kind **kind)
{
	*kind = c->opt.generator ? image_kind_by_id(c->opt.generator) : NULL;
	if (c->opt.generator && !*kind) {
		log_error("'%s' is no builder of boot images: initramfs-tools, dracut or mkinitcpio.", c->opt.generator);
		return -EINVAL;
	}
	for (size_t i = 0; !*kind && i < image_kind_count; i++)
		if (sysroot_exists(&c->root, image_kinds[i].program))
			*kind = &image_kinds[i];
	if (*kind && sysroot_exists(&c->root, (*kind)->program))
		return 0;
	if (*kind)
		log_error("%s is not installed here: there is no %s.", (*kind)->id, (*kind)->program);
	else
		log_error("No builder of boot images is installed here: neither initramfs-tools, dracut nor mkinitcpio. For another "
			  "one 'hwluks initramfs modules' says what an image needs.");
	return -ENOENT;
}

/* With %k and %p filled in. */
static char *expand(const char *text, const char *kernel, const char *package)
{
	struct strbuf out = { 0 };

	for (; *text; text++) {
		const char *word = *text != '%' ? NULL : text[1] == 'k' ? kernel : text[1] == 'p' ? package : NULL;

		if (word)
			strbuf_printf(&out, "%s", word);
		else
			strbuf_add(&out, text, 1);
		text += word ? 1 : 0;
	}
	return out.s;
}

/* The image of a kernel; NULL when there is none. */
static char *find_image(struct image_run *run, const char *kernel)
{
	cleanup_free char *file = xasprintf("/lib/modules/%s/pkgbase", kernel);
	char package[128];

	if (sysroot_read_line(&run->c->root, file, package, sizeof(package)))
		str_copy(package, sizeof(package), kernel);
	for (const char *const *p = run->kind->images; *p; p++) {
		char *path = expand(*p, kernel, package);

		if (sysroot_exists(&run->c->root, path))
			return path;
		free(path);
	}
	return NULL;
}

/* --- check ------------------------------------------------------------------------------------------------------ */

static void print_answers(const struct image_run *run, const char *image, const char *kernel, const struct image_answers *a)
{
	printf("%s, kernel %s, made by %s\n", image, kernel, run->kind->id);
	for (size_t i = 0; i < a->n; i++)
		print_wrapped(stdout, a->v[i].ok ? "  ok       " : "  MISSING  ", 11, a->v[i].text);
	puts(image_answers_ok(a) ? "  The image is complete.\n" : "  With this image volumes open as without hwluks.\n");
}

static void json_answers(const struct image_run *run, const char *image, const char *kernel, const struct image_answers *a)
{
	struct json_object *o = json_add_obj(run->images, NULL), *list;

	json_add_str(o, "image", image);
	json_add_str(o, "kernel", kernel);
	json_add_str(o, "generator", run->kind->id);
	json_add_bool(o, "ok", image_answers_ok(a));
	list = json_add_arr(o, "checks");
	for (size_t i = 0; i < a->n; i++) {
		struct json_object *item = json_add_obj(list, NULL);

		json_add_str(item, "id", a->v[i].id);
		json_add_bool(item, "ok", a->v[i].ok);
		json_add_str(item, "text", a->v[i].text);
	}
}

static int judge(struct image_run *run, const struct cpio *files, const char *image, const char *kernel)
{
	struct image_job job = { 0 };
	struct strv libraries = { 0 };
	struct image_answers answers;
	char modprobe[256];
	int r;

	run->c->opt.kernel = kernel;
	r = image_job_plan(run->c, &job);
	if (!r) {
		struct image_contents contents = { .kind = run->kind, .files = files, .kernel = kernel, .plan = &job.plan,
						   .libraries = &libraries, .program = HWLUKS_PROGRAM, .modprobe = modprobe };

		own_libraries(&libraries);
		if (sysroot_read_line(&run->c->root, "/proc/sys/kernel/modprobe", modprobe, sizeof(modprobe)) || !*modprobe)
			str_copy(modprobe, sizeof(modprobe), "/sbin/modprobe");
		image_check(&contents, &answers);
		if (run->doc)
			json_answers(run, image, kernel, &answers);
		else
			print_answers(run, image, kernel, &answers);
		run->checked++;
		run->bad += !image_answers_ok(&answers);
		image_answers_free(&answers);
	}
	strv_free(&libraries);
	image_job_free(&job);
	return r;
}

/* kernel NULL: the one in the image. */
static int check_image(struct image_run *run, struct sysroot *where, const char *image, const char *kernel)
{
	struct cpio files = { .keep = image_wants_text };
	struct strbuf why = { 0 };
	char own[128];
	int r = say_why(image_read(where, image, &files, &why), &why);

	if (!r) {
		const struct image_kind *kind = image_kind_of(&files);

		run->kind = kind ? kind : run->kind;
		if (!kernel && image_kernel(&files, own, sizeof(own)))
			kernel = own;
		if (!run->kind) {
			log_error("%s was made by none of initramfs-tools, dracut and mkinitcpio.", image);
			r = -EINVAL;
		} else if (!kernel) {
			log_error("%s holds no modules of any kernel: give it with --kernel.", image);
			r = -EINVAL;
		}
	}
	if (!r)
		r = judge(run, &files, image, kernel);
	cpio_free(&files);
	return r;
}

/* The images of all installed kernels, or of --kernel. */
static int check_images(struct image_run *run, const char *only)
{
	struct strv kernels = { 0 };
	int r = 0, err;

	if (only)
		strv_add(&kernels, only);
	else
		sysroot_list(&run->c->root, "/lib/modules", &kernels);
	for (size_t i = 0; i < kernels.n && (!r || r == -EINVAL); i++) {
		cleanup_free char *image = find_image(run, kernels.v[i]);

		err = image ? check_image(run, &run->c->root, image, kernels.v[i]) : 0;
		r = r ? r : err;
	}
	if (!r && !run->checked) {
		log_error("There is no boot image of %s%s.", only ? "kernel " : "any kernel in /lib/modules", only ? only : "");
		r = -ENOENT;
	}
	strv_free(&kernels);
	return r ? r : run->bad ? EXIT_IMAGE_CHECK : 0;
}

/* --- install, remove ---------------------------------------------------------------------------------------------- */

static void say(const struct image_run *run, const char *verb, const char *what)
{
	if (!run->doc)
		print_row(verb, what);
}

struct builder {
	char *argv[8];
	const char *root; /* NULL: here */
};

static int run_builder(void *arg, int out)
{
	struct builder *b = arg;

	(void)out;
	/* what it prints is no result of ours */
	if (dup2(2, 1) < 0 || (b->root && (chroot(b->root) || chdir("/"))))
		return -errno;
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	execvp(b->argv[0], b->argv);
	return -errno;
}

/* Runs the builder for one kernel (NULL: all of them). */
static int rebuild(struct image_run *run, const char *kernel)
{
	const char *const *words = kernel ? run->kind->one : run->kind->all;
	struct builder b = { .root = run->c->opt.root };
	struct strbuf line = { 0 };
	size_t n = 0;
	int r = 0;

	for (; words[n]; n++) {
		b.argv[n] = expand(words[n], kernel ? kernel : "", "");
		strbuf_printf(&line, "%s%s", n ? " " : "", b.argv[n]);
	}
	say(run, "run", line.s);
	fflush(stdout);
	if (!run->c->opt.dry_run)
		r = child_run(run_builder, &b, BUILD_LIMIT_MS, 0, NULL);
	if (r) {
		log_error("'%s' failed (%d). The image that was there before is as its builder left it; run it by hand to see why.", line.s,
			  -r);
		r = -EIO;
	}
	while (n--)
		free(b.argv[n]);
	strbuf_free(&line);
	return r;
}

static int place_hook(struct image_run *run, const struct image_hook *h)
{
	cleanup_free char *from = xasprintf(HWLUKS_HOOKS "/%s", h->source), *text = NULL;
	size_t len;
	int r = sysroot_read(&run->c->root, from, &text, &len);

	if (r) {
		log_error("%s could not be read: %s. 'make install' puts it there.", from, strerror(-r));
		return r;
	}
	say(run, "put", h->target);
	if (!run->c->opt.dry_run)
		r = place_file(&run->c->root, h->target, h->executable ? 0755 : 0644, text, len);
	if (r)
		log_error("%s could not be written: %s.", h->target, strerror(-r));
	return r;
}

static int remove_hook(struct image_run *run, const struct image_hook *h)
{
	cleanup_free char *dir = xstrndup(h->target, (size_t)(strrchr(h->target, '/') - h->target));
	const char *base = strrchr(dir, '/') + 1;
	int r;

	if (!sysroot_exists(&run->c->root, h->target))
		return 0;
	say(run, "remove", h->target);
	if (run->c->opt.dry_run)
		return 0;
	r = place_remove(&run->c->root, h->target);
	if (r)
		log_error("%s could not be removed: %s.", h->target, strerror(-r));
	else if (strstr(base, "hwluks"))
		place_remove_dir(&run->c->root, dir); /* goes with its last file */
	return r;
}

static int each_hook(struct image_run *run, int (*fn)(struct image_run *run, const struct image_hook *h))
{
	int r = 0;

	for (const struct image_hook *h = run->kind->hook; !r && h->source; h++)
		r = fn(run, h);
	return r;
}

/* --- the three actions ----------------------------------------------------------------------------------------------- */

/* --root: from here on that tree is the system looked at. */
static int begin(struct cmd_context *c, struct image_run *run)
{
	*run = (struct image_run){ .c = c };
	if (c->opt.root) {
		struct sysroot there;
		int r = sysroot_open(&there, c->opt.root);

		if (r) {
			log_error("%s cannot be entered: %s.", c->opt.root, strerror(-r));
			return r;
		}
		sysroot_close(&c->root);
		c->root = there;
	}
	if (c->opt.json) {
		run->doc = json_add_obj(NULL, NULL);
		json_add_bool(run->doc, "dry_run", c->opt.dry_run);
		run->images = json_add_arr(run->doc, "images");
	}
	return 0;
}

static int end(struct image_run *run, int r)
{
	if (run->doc)
		json_print(run->doc);
	return r;
}

int initramfs_check(struct cmd_context *c)
{
	struct image_run run;
	struct sysroot here;
	int r = begin(c, &run);

	if (r)
		return r;
	if (c->n_args > 1) {
		cleanup_free char *path = realpath(c->arg[1], NULL);

		r = path ? sysroot_open(&here, NULL) : -errno;
		if (r) {
			log_error("%s cannot be read: %s.", c->arg[1], strerror(-r));
			r = r == -ENOENT ? -ENODEV : r;
		} else {
			r = check_image(&run, &here, path, c->opt.kernel);
			r = r ? r : run.bad ? EXIT_IMAGE_CHECK : 0;
			sysroot_close(&here);
		}
	} else {
		r = find_kind(c, &run.kind);
		r = r ? r : check_images(&run, c->opt.kernel);
	}
	return end(&run, r);
}

int initramfs_install(struct cmd_context *c)
{
	const char *kernel = c->opt.kernel;
	struct image_run run;
	int r = begin(c, &run);

	if (r)
		return r;
	r = find_kind(c, &run.kind);
	if (!r)
		r = each_hook(&run, place_hook);
	if (!r && run.kind->also)
		log_note("%s", run.kind->also);
	if (!r)
		r = rebuild(&run, kernel);
	if (!r && !c->opt.dry_run)
		r = check_images(&run, kernel);
	return end(&run, r);
}

int initramfs_remove(struct cmd_context *c)
{
	const char *kernel = c->opt.kernel;
	struct image_run run;
	int r = begin(c, &run);

	if (r)
		return r;
	r = find_kind(c, &run.kind);
	if (!r)
		r = each_hook(&run, remove_hook);
	if (!r)
		r = rebuild(&run, kernel);
	return end(&run, r);
}
