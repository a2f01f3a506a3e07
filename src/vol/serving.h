/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Who serves an open volume: the record that `open` leaves in /run/hwluks, and the look-up that
 * status uses. Gathers for core/binding.c, which decides.
 */
#pragma once

#include "core/binding.h"
#include "core/machine.h"
#include "vol/mapping.h"

/*
 * Writes /run/hwluks/NAME.binding for a mapping that was just opened: the driver that its table
 * load bound, with the mapping's device number, dm uuid and creation mark (a record of an earlier
 * mapping of that name is told by them). The counts are those of /proc/crypto right before and
 * right after. *out (may be NULL) is what was recorded. 0 or negative errno; nothing is recorded,
 * and any old record removed, when the counts do not single out a driver.
 */
int serving_record(const char *name, const struct alg_list *before, const struct alg_list *after,
                   struct binding *out);
/*
 * The same after a refresh: `was` is who served the mapping before. Its transforms go with the old table, so that its count
 * need not rise when it is bound again.
 */
int serving_record_again(const char *name, const struct binding *was, const struct alg_list *before,
                         const struct alg_list *after, struct binding *out);
/* Removes the record; to be called after close. */
void serving_forget(const char *name);

/*
 * Who serves this mapping, from its record, the counts in m->algs (gathered now) and all other open
 * crypt mappings. Always fills out. 0, or negative errno when the other mappings could not be
 * listed (then evidence is at most recorded or unknown).
 */
int serving_find(const struct machine *m, const struct mapping_facts *facts, struct binding *out);
/*
 * The driver that hwluks saw bind to this mapping when it opened it, while the record of that still fits; false otherwise.
 */
bool serving_recorded(const struct mapping_facts *facts, char *driver, size_t size);
/*
 * As serving_find, with the open mappings already listed (NULL: they could not be) and the record already read (NULL: none).
 */
void serving_find_in(const struct machine *m, const struct mapping_facts *facts, const struct mapping_list *all,
                     const char *recorded, struct binding *out);
