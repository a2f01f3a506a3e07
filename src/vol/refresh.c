/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * An open volume gets a new table: its key proven, every page locked, the old table live on any error.
 * Must not know drivers, or why the table is wanted anew.
 */
#include <errno.h>
#include <libcryptsetup.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vol/luks_private.h"
#include "vol/mapping.h"

static int load_active(struct volume *v, const char *name, const char *header)
{
	const char *type;
	int r;

	luks_log_setup();
	luks_log_quiet(true);
	r = crypt_init_by_name_and_header(&v->cd, name, header);
	luks_log_quiet(false);
	if (r)
		return r;
	type = crypt_get_type(v->cd);
	if (!type || (strcmp(type, CRYPT_LUKS1) && strcmp(type, CRYPT_LUKS2) && strcmp(type, CRYPT_PLAIN)))
		return -EMEDIUMTYPE;
	return 0;
}

int vol_load_active(const char *name, const char *header, unsigned int flags, struct volume **out, struct strbuf *why)
{
	struct volume *v = xcalloc(1, sizeof(*v));
	int r;

	*out = NULL;
	v->copy.fd = -1;
	v->detached = header != NULL;
	if (flags & VOL_NO_LOCKS)
		crypt_metadata_locking(NULL, 0);
	r = load_active(v, name, header);
	if (r == -EMEDIUMTYPE)
		strbuf_printf(why, "%s has no LUKS header that could be found below it, and is no plain volume. A header in a "
			      "file is named with --header.", name);
	else if (r)
		strbuf_printf(why, "What is below %s could not be read: %s. %s", name, strerror(-r), luks_last_error());
	if (r) {
		vol_free(v);
		return r;
	}
	if (flags & VOL_NO_KEYRING)
		crypt_volume_key_keyring(v->cd, 0);
	*out = v;
	return 0;
}

bool vol_is_plain(const struct volume *v)
{
	return !strcmp(crypt_get_type(v->cd), CRYPT_PLAIN);
}

/* Room for the volume key. */
static int key_new(struct volume *v, struct secret *key)
{
	int len = crypt_get_volume_key_size(v->cd);

	*key = (struct secret){ 0 };
	if (len <= 0)
		return -EINVAL;
	key->data = crypt_safe_alloc((size_t)len);
	key->len = (size_t)len;
	return key->data ? 0 : -ENOMEM;
}

/* r: what the library said when it was asked for the key. Nothing of a wrong key is kept. */
static int key_done(struct volume *v, int r, struct secret *key)
{
	if (r >= 0)
		r = crypt_volume_key_verify(v->cd, key->data, key->len);
	if (r < 0)
		secret_free(key);
	return r < 0 ? r : 0;
}

int vol_get_key(struct volume *v, int slot, const struct secret *s, struct secret *key)
{
	int r = key_new(v, key);

	if (r)
		return r;
	if (vol_is_plain(v)) {
		if (s->len < key->len) {
			secret_free(key);
			return -EPERM;
		}
		memcpy(key->data, s->data, key->len);
		return 0;
	}
	luks_log_quiet(true);
	r = crypt_volume_key_get(v->cd, slot < 0 ? CRYPT_ANY_SLOT : slot, key->data, &key->len, s->data, s->len);
	r = key_done(v, r, key);
	luks_log_quiet(false);
	return r;
}

int vol_get_key_by_token(struct volume *v, const struct vol_token *t, struct secret *key)
{
	struct crypt_keyslot_context *kc = NULL;
	int r;

	if (strcmp(crypt_get_type(v->cd), CRYPT_LUKS2))
		return -ENOENT;
	r = key_new(v, key);
	if (r)
		return r;
	luks_log_quiet(true);
	r = crypt_keyslot_context_init_by_token(v->cd, t->id < 0 ? CRYPT_ANY_TOKEN : t->id, t->type, t->pin ? t->pin->data : NULL,
						t->pin ? t->pin->len : 0, NULL, &kc);
	if (!r)
		r = crypt_volume_key_get_by_keyslot_context(v->cd, CRYPT_ANY_SLOT, key->data, &key->len, kc);
	r = key_done(v, r, key);
	luks_log_quiet(false);
	crypt_keyslot_context_free(kc);
	return r == -EINVAL ? -ENOENT : r; /* what the library says of a token id or type that is not there */
}

/*
 * The kernel builds the new table when it is loaded (DM_TABLE_LOAD), and suspends, swaps and resumes in one call when a
 * device with a loaded table is resumed (DM_DEV_SUSPEND without the suspend flag, do_resume() in drivers/md/dm-ioctl.c,
 * 5.10 to 6.12). If the swap itself fails it leaves the device suspended with its old table: mapping_settle.
 */
int vol_refresh(struct volume *v, const struct vol_activation *a, const struct secret *key)
{
	uint32_t flags = luks_flags(a->flags, false) | CRYPT_ACTIVATE_REFRESH | CRYPT_ACTIVATE_IGNORE_PERSISTENT;
	int r = luks_activation_check(v, a), settled;

	if (r)
		return r;
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return -ENOMEM;
	luks_log_quiet(true);
	r = crypt_activate_by_volume_key(v->cd, a->name, key->data, key->len, flags);
	luks_log_quiet(false);
	if (r < 0) {
		settled = mapping_settle(a->name);
		if (settled)
			log_error("The table of %s could not be put in order: %s. 'dmsetup resume %s' lets I/O go on.", a->name,
				  strerror(-settled), a->name);
		/* a plain mapping: the library found that the keys differ */
		return r == -EINVAL && vol_is_plain(v) ? -EPERM : r;
	}
	return luks_activation_done(v, a, r);
}
