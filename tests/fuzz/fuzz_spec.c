/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* libFuzzer entry for cipher specs: what parses prints and parses to the same; errors point inside.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/cipher_spec.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct spec_error *e, size_t len)
{
	if (e->at + e->len > len || !*e->why || !memchr(e->why, '\0', sizeof(e->why)))
		abort();
}

/* Every question about a spec, with key sizes that fit and such that do not. */
static void ask(struct cipher_spec *s)
{
	static const unsigned int keys[] = {
		0, 8, 100, 128, 256, 384, 512, 8192, 8320, UINT32_MAX
	};
	static const unsigned int sectors[] = { 0, 512, 4096, 100, UINT32_MAX };
	char text[SPEC_TEXT_MAX], all[SPEC_TEXT_MAX];
	struct spec_error e;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		s->key_bits = keys[i];
		s->sector_size = sectors[i % ARRAY_SIZE(sectors)];
		spec_text(s, text, sizeof(text));
		if (strncmp(spec_describe(s, all, sizeof(all)), text, strlen(text)) != 0 ||
		    strlen(all) >= sizeof(all) - 1)
			abort();
		if (spec_check(s, &e))
			check_error(&e, strlen(text));
		if (spec_cipher_key_bits(s) > s->key_bits || spec_essiv_key_bits(s) > 512)
			abort();
		if (!*spec_class_name(spec_class(s)) || !*spec_class_sentence(spec_class(s)))
			abort();
		spec_caution(s);
		spec_default_key_bits(s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup(size ? (const char *)data : "", size), printed[SPEC_TEXT_MAX];
	struct cipher_spec spec, again;
	struct spec_error e;

	if (spec_parse(text, &spec, &e)) {
		check_error(&e, strlen(text));
	} else {
		spec_text(&spec, printed, sizeof(printed));
		if (spec_parse(printed, &again, &e) || memcmp(&spec, &again, sizeof(spec)) != 0)
			abort();
		ask(&spec);
	}
	free(text);
	return 0;
}
