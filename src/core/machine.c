/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Look-ups in struct machine and its end of life.
 * Must not know how the facts were gathered or what they mean.
 */
#include "core/machine.h"

#include <stdlib.h>
#include <string.h>

const struct module_fact *machine_module(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->n_mod; i++)
		if (str_same_module(m->mod[i].name, name))
			return &m->mod[i];
	return NULL;
}

/* "1425:*" stands for every device of the vendor. */
static bool id_matches(const char *what, const char *id)
{
	size_t n = strlen(what);

	if (n && what[n - 1] == '*')
		return !strncmp(what, id, n - 1);
	return !strcmp(what, id);
}

const struct device_fact *machine_device(const struct machine *m, const struct accel_match *match)
{
	for (size_t i = 0; i < m->n_dev; i++)
		if (m->dev[i].how == match->how && id_matches(match->what, m->dev[i].id))
			return &m->dev[i];
	return NULL;
}

void machine_free(struct machine *m)
{
	cpuinfo_free(&m->cpu);
	alg_list_free(&m->algs);
	free(m->dev);
	free(m->mod);
	free(m->gw);
	free(m->kconfig);
	strv_free(&m->unread);
	*m = (struct machine){ 0 };
}
