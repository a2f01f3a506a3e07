/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/* libFuzzer entry for /proc/crypto: records printed the kernel's way parse to the same records. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/proc_crypto.h"
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const type_names[] = {
	[ALG_OTHER] = "larval",      [ALG_CIPHER] = "cipher",
	[ALG_SKCIPHER] = "skcipher", [ALG_LSKCIPHER] = "lskcipher",
	[ALG_AEAD] = "aead",         [ALG_HASH] = "shash",
	[ALG_RNG] = "rng",           [ALG_COMPRESS] = "scomp",
	[ALG_AKCIPHER] = "akcipher", [ALG_KPP] = "kpp",
};

static void print_alg(struct strbuf *b, const struct alg *a)
{
	strbuf_printf(b, "name         : %s\ndriver       : %s\n", a->name, a->driver);
	strbuf_printf(b, "module       : %s\npriority     : %d\n", a->module, a->priority);
	strbuf_printf(b, "refcnt       : %d\n", a->refcnt);
	if (a->selftest != SELFTEST_UNSTATED)
		strbuf_printf(b, "selftest     : %s\n",
		              a->selftest == SELFTEST_PASSED ? "passed" : "unknown");
	strbuf_printf(b, "internal     : %s\n", a->internal ? "yes" : "no");
	strbuf_printf(b, "type         : %s\n", type_names[a->type]);
	strbuf_printf(b, "async        : %s\n", a->async ? "yes" : "no");
	strbuf_printf(b, "blocksize    : %u\nmin keysize  : %u\nmax keysize  : %u\n", a->blocksize,
	              a->min_keysize, a->max_keysize);
	strbuf_printf(b, "ivsize       : %u\nchunksize    : %u\nwalksize     : %u\n", a->ivsize,
	              a->chunksize, a->walksize);
	strbuf_printf(b, "statesize    : %u\ndigestsize   : %u\n\n", a->statesize, a->digestsize);
}

static void check_same(const struct alg *a, const struct alg *b)
{
	if (strcmp(a->name, b->name) != 0 || strcmp(a->driver, b->driver) != 0 ||
	    strcmp(a->module, b->module) != 0)
		abort();
	if (a->priority != b->priority || a->refcnt != b->refcnt || a->selftest != b->selftest ||
	    a->type != b->type || a->internal != b->internal || a->async != b->async)
		abort();
	if (a->blocksize != b->blocksize || a->min_keysize != b->min_keysize ||
	    a->max_keysize != b->max_keysize || a->ivsize != b->ivsize ||
	    a->chunksize != b->chunksize || a->walksize != b->walksize ||
	    a->statesize != b->statesize || a->digestsize != b->digestsize)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct alg_list first, second;
	struct strbuf printed = { 0 };

	proc_crypto_parse((const char *)data, size, &first);
	for (size_t i = 0; i < first.n; i++) {
		if (!*first.v[i].name || !alg_by_driver(&first, first.v[i].driver))
			abort();
		print_alg(&printed, &first.v[i]);
	}
	if (proc_crypto_parse(printed.s, printed.len, &second) || second.n != first.n)
		abort();
	for (size_t i = 0; i < first.n; i++)
		check_same(&first.v[i], &second.v[i]);
	strbuf_free(&printed);
	alg_list_free(&first);
	alg_list_free(&second);
	return 0;
}
