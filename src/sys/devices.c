/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Looks on every bus for the devices that some row of the accelerator table names, and for nothing
 * else. Must not know what such a device is good for.
 */
#include "sys/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what is looked for ----------------------------------------------------------- */

#define SLOTS    1024 /* power of two, well above the number of matches in the table */
#define DT_DEPTH 16   /* levels below the root node; real trees have about 8 */

struct wanted {
	struct sysroot *sr;
	struct machine *m;
	const char *tree; /* root of the device tree that is walked */
	struct accel_match slot[SLOTS];
	bool any[MATCH_ALWAYS + 1]; /* some row asks this bus at all */
	uint8_t vendor[65536 / 8];  /* bit per PCI vendor that some row names */
	size_t used;
};

static size_t id_hash(enum match_how how, const char *s)
{
	size_t h = 5381 + how;

	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h;
}

static struct accel_match *find(struct wanted *w, enum match_how how, const char *id)
{
	for (size_t h = id_hash(how, id);; h++) {
		struct accel_match *at = &w->slot[h & (SLOTS - 1)];

		if (!at->how || (at->how == how && !strcmp(at->what, id)))
			return at;
	}
}

/* Number of a PCI vendor at the start of "1022:2082"; what is no hex number is 0, which nobody has.
 */
static unsigned int vendor_number(const char *s)
{
	return (unsigned int)strtoul(s, NULL, 16) & 0xffff;
}

static void want(struct wanted *w, const struct accel_match *match)
{
	struct accel_match *at = find(w, match->how, match->what);
	unsigned int vendor;

	if (match->how == MATCH_PCI) {
		vendor = vendor_number(match->what);
		w->vendor[vendor / 8] |= (uint8_t)(1 << vendor % 8);
	}
	w->any[match->how] = true;
	if (at->how || w->used >= SLOTS / 2)
		return;
	*at = *match;
	w->used++;
}

static struct wanted *wanted_new(struct sysroot *sr, struct machine *m)
{
	struct wanted *w = xcalloc(1, sizeof(*w));
	struct accel_match match;

	w->sr = sr;
	w->m = m;
	for_each_accel(a)
		for (const char *at = a->match; accel_match_next(&at, &match);)
			want(w, &match);
	return w;
}

static bool is_wanted(struct wanted *w, enum match_how how, const char *id)
{
	return find(w, how, id)->how != MATCH_NONE;
}

static struct device_fact *found(struct wanted *w, enum match_how how, const char *id,
                                 const char *where)
{
	struct machine *m = w->m;
	struct device_fact *d;

	m->dev = xreallocarray(m->dev, m->n_dev + 1, sizeof(*m->dev));
	d = &m->dev[m->n_dev++];
	*d = (struct device_fact){ .how = how };
	str_copy(d->id, sizeof(d->id), id);
	str_copy(d->where, sizeof(d->where), where);
	return d;
}

/* --- sysfs buses ------------------------------------------------------------------ */

/* "BASE/NAME/FILE"; false when it does not fit. */
static bool join(char *buf, size_t size, const char *base, const char *name, const char *file)
{
	size_t b = strlen(base), n = strlen(name), f = strlen(file);

	if (b + n + f + 3 > size)
		return false;
	memcpy(buf, base, b);
	buf[b] = '/';
	memcpy(buf + b + 1, name, n);
	buf[b + 1 + n] = '/';
	memcpy(buf + b + n + 2, file, f + 1);
	return true;
}

static int read_attr(struct wanted *w, const char *bus, const char *dev, const char *attr,
                     char *buf, size_t size)
{
	char path[256];
	int err;

	buf[0] = '\0';
	if (!join(path, sizeof(path), bus, dev, attr))
		return -ENAMETOOLONG;
	err = sysroot_read_line(w->sr, path, buf, size);
	note_unread_present(w->m, path, err);
	return err;
}

/* Name of the driver that the device is bound to. */
static void read_driver(struct wanted *w, const char *bus, const char *dev, struct device_fact *d)
{
	char path[256], link[256];
	const char *base;

	if (!join(path, sizeof(path), bus, dev, "driver") ||
	    sysroot_readlink(w->sr, path, link, sizeof(link)))
		return;
	base = strrchr(link, '/');
	str_copy(d->driver, sizeof(d->driver), base ? base + 1 : link);
}

static const char *hex_digits(const char *s)
{
	return str_starts(s, "0x") ? s + 2 : s;
}

/* Most machines have no device of most vendors, so the second file is rarely read. */
static bool vendor_wanted(const struct wanted *w, const char *vendor)
{
	unsigned int v = vendor_number(vendor);

	return w->vendor[v / 8] >> v % 8 & 1;
}

static void look_pci(struct wanted *w, const char *bus, const char *dev)
{
	char vendor[16], device[16], id[32], any[32];

	if (read_attr(w, bus, dev, "vendor", vendor, sizeof(vendor)) ||
	    strlen(hex_digits(vendor)) != 4 || !vendor_wanted(w, vendor))
		return;
	if (read_attr(w, bus, dev, "device", device, sizeof(device)))
		return;
	snprintf(id, sizeof(id), "%s:%s", hex_digits(vendor), hex_digits(device));
	snprintf(any, sizeof(any), "%s:*", hex_digits(vendor));
	if (is_wanted(w, MATCH_PCI, id) || is_wanted(w, MATCH_PCI, any))
		read_driver(w, bus, dev, found(w, MATCH_PCI, id, dev));
}

static void look_virtio(struct wanted *w, const char *bus, const char *dev)
{
	char text[16], id[16];

	if (read_attr(w, bus, dev, "device", text, sizeof(text)))
		return;
	snprintf(id, sizeof(id), "%lu", strtoul(text, NULL, 16));
	if (is_wanted(w, MATCH_VIRTIO, id))
		read_driver(w, bus, dev, found(w, MATCH_VIRTIO, id, dev));
}

static void look_acpi(struct wanted *w, const char *bus, const char *dev)
{
	char id[64], status[16];
	size_t n = strcspn(dev, ":");

	/* the name is the id and an instance ("HISI02C1:00"), so most devices cost no read */
	snprintf(id, sizeof(id), "%.*s", n < sizeof(id) ? (int)n : 0, dev);
	if (!is_wanted(w, MATCH_ACPI, id))
		return;
	/* _STA bit 0: present; no file: always present */
	if (!read_attr(w, bus, dev, "status", status, sizeof(status)) &&
	    !(strtoul(status, NULL, 0) & 1))
		return;
	read_driver(w, bus, dev, found(w, MATCH_ACPI, id, dev));
}

/* "mv_crypto", "mv_crypto.0", "sahara-imx27.1.auto" */
static void look_platform(struct wanted *w, const char *bus, const char *dev)
{
	char id[64];
	size_t n = strcspn(dev, ".");

	snprintf(id, sizeof(id), "%.*s", n < sizeof(id) ? (int)n : 0, dev);
	if (is_wanted(w, MATCH_PLATFORM, id))
		read_driver(w, bus, dev, found(w, MATCH_PLATFORM, id, dev));
}

/* "dpseci.0" */
static void look_fslmc(struct wanted *w, const char *bus, const char *dev)
{
	char id[64];
	size_t n = strcspn(dev, ".");

	snprintf(id, sizeof(id), "%.*s", n < sizeof(id) ? (int)n : 0, dev);
	if (is_wanted(w, MATCH_FSLMC, id))
		read_driver(w, bus, dev, found(w, MATCH_FSLMC, id, dev));
}

/* modalias "vio:Tibm,sym-encryption-v1Sibm,sym-encryption": type, then compatible */
static void look_vio(struct wanted *w, const char *bus, const char *dev)
{
	char alias[160], *type, *compatible;

	if (read_attr(w, bus, dev, "modalias", alias, sizeof(alias)) || !str_starts(alias, "vio:T"))
		return;
	type = alias + 5;
	compatible = strstr(type, "Sibm");
	if (compatible)
		*compatible++ = '\0';
	if (is_wanted(w, MATCH_VIO, type))
		read_driver(w, bus, dev, found(w, MATCH_VIO, type, dev));
	else if (compatible && is_wanted(w, MATCH_VIO, compatible))
		read_driver(w, bus, dev, found(w, MATCH_VIO, compatible, dev));
}

static void look_inline(struct wanted *w, const char *bus, const char *dev)
{
	char path[256], node[64];

	if (!join(path, sizeof(path), bus, dev, "queue/crypto") || !sysroot_exists(w->sr, path))
		return;
	snprintf(node, sizeof(node), "/dev/%.50s", dev);
	found(w, MATCH_INLINE, "", node);
}

static const struct bus {
	enum match_how how;
	const char *dir;
	void (*look)(struct wanted *w, const char *bus, const char *dev);
} buses[] = {
	{ MATCH_PCI, "/sys/bus/pci/devices", look_pci },
	{ MATCH_VIRTIO, "/sys/bus/virtio/devices", look_virtio },
	{ MATCH_ACPI, "/sys/bus/acpi/devices", look_acpi },
	{ MATCH_PLATFORM, "/sys/bus/platform/devices", look_platform },
	{ MATCH_FSLMC, "/sys/bus/fsl-mc/devices", look_fslmc },
	{ MATCH_VIO, "/sys/bus/vio/devices", look_vio },
	{ MATCH_INLINE, "/sys/block", look_inline },
};

static void scan_bus(struct wanted *w, const struct bus *b)
{
	struct strv names = { 0 };
	int err;

	if (!w->any[b->how])
		return;
	err = sysroot_list(w->sr, b->dir, &names);
	note_unread_present(w->m, b->dir, err);
	for (size_t i = 0; i < names.n; i++)
		b->look(w, b->dir, names.v[i]);
	strv_free(&names);
}

/* --- device tree ------------------------------------------------------------------ */

/*
 * A tree has 1,000 and more nodes and only one or two of them matter, so the walk goes from
 * descriptor to descriptor with getdents64 instead of building paths and DIR streams. Links are
 * never followed.
 */
/* A property of the node; its bytes, always terminated. Returns their number, negative when there
 * is none. */
static ssize_t property(int node, const char *name, char *buf, size_t size)
{
	cleanup_close int fd = -1;
	struct stat st;
	ssize_t n;

	if (fstatat(node, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return -ENOENT;
	fd = openat(node, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	n = fd < 0 ? -errno : read(fd, buf, size - 1);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

/* No status property means okay (devicetree specification 2.3.4). */
static bool says_enabled(const char *status)
{
	return !*status || !strcmp(status, "okay") || !strcmp(status, "ok");
}

static bool any_wanted(struct wanted *w, const char *list, size_t n)
{
	for (size_t at = 0; at < n; at += strlen(list + at) + 1)
		if (list[at] && is_wanted(w, MATCH_DT, list + at))
			return true;
	return false;
}

static void found_all(struct wanted *w, const char *list, size_t n, const char *where)
{
	for (size_t at = 0; at < n; at += strlen(list + at) + 1)
		if (list[at] && is_wanted(w, MATCH_DT, list + at))
			found(w, MATCH_DT, list + at, where);
}

static void note_property(struct wanted *w, const char *where, const char *name, const char *data, ssize_t n)
{
	cleanup_free char *path = w->sr->noted && n >= 0 ? xasprintf("%s%s/%s", w->tree, where, name) : NULL;

	if (path)
		sysroot_note(w->sr, path, data, (size_t)n);
}

static void look_node(struct wanted *w, int node, const char *where)
{
	char list[512], status[32] = "";
	ssize_t n = property(node, "compatible", list, sizeof(list)), m;

	note_property(w, where, "compatible", list, n);
	if (n <= 0 || !any_wanted(w, list, (size_t)n))
		return;
	m = property(node, "status", status, sizeof(status));
	note_property(w, where, "status", status, m);
	if (m <= 0 || says_enabled(status))
		found_all(w, list, (size_t)n, *where ? where : "/");
}

static void walk_node(struct wanted *w, int node, char *where, size_t len, int depth);

static void walk_child(struct wanted *w, int node, const char *name, char *where, size_t len,
                       int depth)
{
	cleanup_close int child = -1;
	size_t n = strlen(name);

	if (depth >= DT_DEPTH || len + n + 2 > PATH_MAX)
		return;
	child = openat(node, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (child < 0)
		return;
	where[len] = '/';
	memcpy(where + len + 1, name, n + 1);
	walk_node(w, child, where, len + 1 + n, depth + 1);
	where[len] = '\0';
}

static void walk_node(struct wanted *w, int node, char *where, size_t len, int depth)
{
	char buf[4096] __attribute__((aligned(8)));
	ssize_t n;

	while ((n = getdents64(node, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < n;) {
			struct dirent64 *e = (void *)(buf + at);

			at += e->d_reclen;
			if (!strcmp(e->d_name, "compatible"))
				look_node(w, node, len ? where : "");
			else if ((e->d_type == DT_DIR || e->d_type == DT_UNKNOWN) &&
			         e->d_name[0] != '.')
				walk_child(w, node, e->d_name, where, len, depth);
		}
	}
}

/* The same in a recording, which is a list and no tree: every "compatible" below the root node, links left out. */
static void scan_recorded_tree(struct wanted *w, const struct recording_entry *root)
{
	static const char name[] = "/compatible";
	const struct recording *r = w->sr->from;
	size_t len = strlen(root->path), n = strlen(name);

	for (size_t i = 0; i < r->n; i++) {
		const struct recording_entry *e = &r->v[i];
		size_t all = strlen(e->path), size = e->len < 511 ? e->len : 511;
		cleanup_free char *where = NULL, *path = NULL, *list = NULL;
		char status[32];

		if (e->kind != RECORDED_FILE || all < len + n || strncmp(e->path, root->path, len) || e->path[len] != '/' ||
		    strcmp(e->path + all - n, name) || !e->data)
			continue;
		where = xstrndup(e->path + len, all - n - len);
		list = xcalloc(size + 1, 1);
		memcpy(list, e->data, size);
		path = xasprintf("%s%s/status", root->path, where);
		if (any_wanted(w, list, size) && (sysroot_read_line(w->sr, path, status, sizeof(status)) || says_enabled(status)))
			found_all(w, list, size, *where ? where : "/");
	}
}

static void scan_device_tree(struct wanted *w)
{
	static const char *const roots[] = { "/proc/device-tree", "/sys/firmware/devicetree/base" };
	char where[PATH_MAX] = "";

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		cleanup_close int fd = -1;
		const struct recording_entry *root;

		w->tree = roots[i];
		if (w->sr->from) {
			if (recording_find(w->sr->from, roots[i], true, &root))
				continue;
			scan_recorded_tree(w, root);
			return;
		}
		fd = sysroot_open_dir(w->sr, roots[i]);
		if (fd >= 0) {
			walk_node(w, fd, where, 0, 0);
			return;
		}
		if (fd != -ENOENT && fd != -ENOTDIR)
			note_unread(w->m, roots[i], fd);
	}
}

int devices_probe(struct sysroot *sr, struct machine *m)
{
	struct wanted *w = wanted_new(sr, m);

	for (size_t i = 0; i < ARRAY_SIZE(buses); i++)
		scan_bus(w, &buses[i]);
	scan_device_tree(w);
	free(w);
	return 0;
}
