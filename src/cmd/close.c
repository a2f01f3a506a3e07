/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* hwluks close: removes a mapping and what hwluks remembers of it. Must not know LUKS. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "vol/serving.h"
#include "vol/vol.h"

int cmd_close(struct cmd_context *c)
{
	const char *name = mapping_arg(c->arg[0]);
	int r = vol_close(name, c->opt.deferred);
	char why[256];

	if (!r) {
		serving_forget(name);
		if (c->opt.json) {
			struct json_object *doc = json_add_obj(NULL, NULL);

			json_add_str(doc, "name", name);
			json_add_bool(doc, "closed", true);
			json_print(doc);
		}
		return 0;
	}
	if (mapping_available(why, sizeof(why)))
		log_error("Nothing can be closed here: %s.", why);
	else if (r == -ENODEV)
		log_error("'%s' is not open.", name);
	else if (r == -EBUSY)
		log_error("'%s' is in use: unmount it first, or use --deferred.", name);
	else
		log_error("Cannot close '%s': %s.", name, strerror(-r));
	return r;
}
