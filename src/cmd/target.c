/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * What commands that overwrite a device refuse and ask the same way.
 * Must not know what will be written.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "vol/vol.h"

int target_open(const char *path, bool write, struct blkdev *bd)
{
	struct strbuf why = { 0 };
	int r = say_why(blkdev_open(path, write ? BLKDEV_WRITE : 0, bd, &why), &why);

	return r == -ENOENT ? -ENODEV : r;
}

int target_refuse_in_use(const struct blkdev *bd)
{
	for (size_t i = 0; i < bd->n_use; i++) {
		const struct blkdev_use *u = &bd->use[i];

		if (u->kind == USE_RESUME)
			log_error("%s: a hibernated system would be resumed from %s (%s). Nothing was written.", bd->path, u->node, u->by);
		else
			log_error("%s is in use: %s, %s %s. Nothing was written.", bd->path, u->node, blkdev_use_name(u->kind), u->by);
	}
	return bd->n_use ? -EBUSY : 0;
}

static bool is_luks(const struct blkdev_signature *s)
{
	return !strcmp(s->type, "crypto_LUKS");
}

int target_refuse_signatures(const struct options *o, const struct blkdev *bd, const struct record *old, bool header_helps)
{
	bool luks = false, other = false;
	char text[256];

	for (size_t i = 0; i < bd->n_sig; i++) {
		bool told = is_luks(&bd->sig[i]) ? o->replace_luks || o->old_header_backup : o->wipe_signatures;

		/* agreed to already: the interrupted format that left its record was told to destroy it */
		if (told || (old && record_covers(bd->fd, old, bd->sig[i].offset)) || blkdev_signature_again(bd, i))
			continue;
		log_error("%s holds %s.", bd->path, blkdev_signature_text(&bd->sig[i], text, sizeof(text)));
		luks = luks || is_luks(&bd->sig[i]);
		other = other || !is_luks(&bd->sig[i]);
	}
	if (luks)
		log_error("Its LUKS volume would be lost for good. Say so with --replace-luks%s.",
			  header_helps ? ", or save its header first with --old-header-backup FILE" : "");
	if (other)
		log_error("Add --wipe-signatures to destroy it.");
	return luks || other ? -EEXIST : 0;
}

int target_confirm(const struct options *o, const struct blkdev *bd, const char *more)
{
	cleanup_free char *line = NULL;
	size_t cap = 0;

	if (o->batch_mode)
		return 0;
	if (!isatty(STDIN_FILENO)) {
		log_error("Nobody can be asked: standard input is no terminal. Add --batch-mode if the plan above is what you want.");
		return -EINVAL;
	}
	fprintf(stderr, "\nThis will overwrite data on %s for good.\n%s", bd->path, more ? more : "");
	fputs("Are you sure? (Type 'yes' in capital letters): ", stderr);
	fflush(stderr);
	if (getline(&line, &cap, stdin) < 0)
		fputc('\n', stderr);
	if (!line || strcmp(line, "YES\n") != 0) {
		log_error("Not confirmed. Nothing was written.");
		return -EINVAL;
	}
	return 0;
}
