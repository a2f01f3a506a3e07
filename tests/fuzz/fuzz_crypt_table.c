/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* libFuzzer entry for dm-crypt table lines: no crash, and nothing of a key survives in the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/crypt_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), flags[160];
	struct crypt_table t;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (crypt_table_parse(text, &t)) {
		/* refused: every byte of the text is gone */
		if (strspn(text, "0") != strlen(text) || t.key_bits)
			abort();
	} else if (strlen(crypt_flags_text(t.flags, flags, sizeof(flags))) >= sizeof(flags) ||
	           t.sector_size < 512) {
		abort();
	}
	free(text);
	return 0;
}
