/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Takes dm-crypt cipher specs apart, prints them, does their key arithmetic and sorts them by
 * security. Pure; must not know which machine or kernel will serve them.
 *
 * Grammar as in crypt_ctr_cipher_old/_new of drivers/md/dm-crypt.c (5.10 to 7.3) and
 * crypt_parse_name_and_mode of cryptsetup 2.6 to 2.8.
 */
#include "core/cipher_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "util/util.h"

#define CAPI          "capi:"
#define CAPI_LEN      (sizeof(CAPI) - 1)
#define MAX_KEYCOUNT  64
#define TCW_WHITENING 16 /* bytes, dm-crypt.c TCW_WHITENING_SIZE */

static const char *const iv_names[] = {
	"plain64", "plain", "plain64be", "essiv",  "benbi",    "null",
	"eboiv",   "lmk",   "tcw",       "random", "elephant",
};

static const char *const mode_names[] = {
	"xts", "cbc", "ecb",      "ctr",   "lrw", "pcbc", "cts",
	"cfb", "ofb", "adiantum", "hctr2", "gcm", "ccm",
};

/* Key lengths and block sizes in bytes, from crypto/<cipher>.c and include/crypto/<cipher>.h. */
struct cipher_fact {
	const char *name;
	uint8_t key_min, key_max, key_step; /* key_max 0: any length will do */
	uint8_t block;
	bool aead; /* takes no chaining mode; cryptsetup's cipher-iv form, integrity only */
};
static const struct cipher_fact cipher_facts[] = {
	{ "aes", 16, 32, 8, 16 },
	{ "paes", 0, 0, 1, 16 }, /* s390 protected keys: tokens, not keys */
	{ "serpent", 1, 32, 1, 16 },
	{ "twofish", 16, 32, 8, 16 },
	{ "camellia", 16, 32, 8, 16 },
	{ "aria", 16, 32, 8, 16 },
	{ "cast6", 16, 32, 4, 16 },
	{ "anubis", 16, 40, 4, 16 },
	{ "sm4", 16, 16, 1, 16 },
	{ "seed", 16, 16, 1, 16 },
	{ "des3_ede", 24, 24, 1, 8 },
	{ "des", 8, 8, 1, 8 },
	{ "blowfish", 4, 56, 1, 8 },
	{ "cast5", 5, 16, 1, 8 },
	{ "khazad", 16, 16, 1, 8 },
	{ "tea", 16, 16, 1, 8 },
	{ "xtea", 16, 16, 1, 8 },
	{ "fcrypt", 8, 8, 1, 8 },
	{ "cipher_null", 0, 0, 1, 1 },
	{ "xchacha12,aes", 32, 32, 1, 16 },
	{ "xchacha20,aes", 32, 32, 1, 16 },
	{ "chacha20", 32, 32, 1, 1, true },
	{ "aegis128", 16, 16, 1, 16, true },
	{ "aegis128l", 16, 16, 1, 16, true },
	{ "aegis256", 32, 32, 1, 16, true },
	{ "morus640", 16, 16, 1, 16, true },
	{ "morus1280", 16, 32, 16, 16, true },
};

/* Digest lengths in bits. Kernel names; drivers ("sha256-generic") are found by their beginning. */
static const struct {
	const char *name;
	int bits;
} hash_facts[] = {
	{ "sha256", 256 },      { "md5", 128 },         { "sha1", 160 },
	{ "sha224", 224 },      { "sha384", 384 },      { "sha512", 512 },
	{ "sha3-224", 224 },    { "sha3-256", 256 },    { "sha3-384", 384 },
	{ "sha3-512", 512 },    { "sm3", 256 },         { "streebog256", 256 },
	{ "streebog512", 512 }, { "blake2b-160", 160 }, { "blake2b-256", 256 },
	{ "blake2b-384", 384 }, { "blake2b-512", 512 }, { "blake2s-128", 128 },
	{ "blake2s-160", 160 }, { "blake2s-224", 224 }, { "blake2s-256", 256 },
	{ "md4", 128 },         { "rmd128", 128 },      { "rmd160", 160 },
	{ "rmd256", 256 },      { "rmd320", 320 },      { "tgr128", 128 },
	{ "tgr160", 160 },      { "tgr192", 192 },      { "wp256", 256 },
	{ "wp384", 384 },       { "wp512", 512 },
};

/* --- small helpers -------------------------------------------------------------------------- */

/* A stretch of the text under examination; not terminated. */
struct piece {
	const char *s;
	size_t n;
};

static bool piece_is(struct piece p, const char *s)
{
	return p.n == strlen(s) && !memcmp(p.s, s, p.n);
}

static bool is_one_of(struct piece p, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (piece_is(p, names[i]))
			return true;
	return false;
}

static bool is_iv(struct piece p)
{
	return is_one_of(p, iv_names, ARRAY_SIZE(iv_names));
}

static bool iv_is(const struct cipher_spec *s, const char *iv)
{
	return !strcmp(s->iv, iv);
}

static bool mode_is(const struct cipher_spec *s, const char *mode)
{
	return !strcmp(s->mode, mode);
}

static const struct cipher_fact *fact_of(struct piece cipher)
{
	for (size_t i = 0; i < ARRAY_SIZE(cipher_facts); i++)
		if (piece_is(cipher, cipher_facts[i].name))
			return &cipher_facts[i];
	return NULL;
}

static const struct cipher_fact *spec_fact(const struct cipher_spec *s)
{
	return fact_of((struct piece){ s->cipher, strlen(s->cipher) });
}

PRINTF(4, 5)
static int fail(struct spec_error *err, size_t at, size_t len, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -EINVAL;
	err->at = at;
	err->len = len;
	va_start(ap, fmt);
	vsnprintf(err->why, sizeof(err->why), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* --- parsing -------------------------------------------------------------------------------- */

struct parser {
	const char *text;
	struct cipher_spec *spec;
	struct spec_error *err;
};

/* %.*s of a piece that may be very long. */
static int shown(struct piece p)
{
	return p.n > 40 ? 40 : (int)p.n;
}

/* Copies a piece into the spec; empty, too long and, where it may not be, ':' are errors. */
static int take(const struct parser *p, struct piece v, char *dst, size_t size, const char *what)
{
	size_t at = (size_t)(v.s - p->text);

	if (!v.n)
		return fail(p->err, at, 0, "the %s is missing here", what);
	if (v.n >= size)
		return fail(p->err, at, v.n, "the %s has %zu characters; at most %zu fit", what,
		            v.n, size - 1);
	memcpy(dst, v.s, v.n);
	dst[v.n] = '\0';
	return 0;
}

/* Letters that can stand in a spec at all; a blank would also end the word in a dm table. */
static int check_letters(const struct parser *p)
{
	for (const char *c = p->text; *c; c++) {
		unsigned char u = (unsigned char)*c;

		if (u < 128 && (isalnum(u) || strchr("-_:(),.", u)))
			continue;
		if (isgraph(u) && u < 128)
			return fail(p->err, (size_t)(c - p->text), 1,
			            "'%c' can't stand in a cipher spec", u);
		return fail(p->err, (size_t)(c - p->text), 1,
		            "byte 0x%02x can't stand in a cipher spec", u);
	}
	return 0;
}

/* What follows the IV generator's ':'; essiv needs it, the others carry it without using it. */
static int take_ivopts(const struct parser *p, struct piece opts)
{
	const char *what = iv_is(p->spec, "essiv") ? "ESSIV hash" : "text after ':'";
	size_t at = (size_t)(opts.s - p->text);
	const char *bad;

	for (bad = opts.s; bad < opts.s + opts.n && !strchr(":(),", *bad); bad++)
		;
	if (bad < opts.s + opts.n)
		return fail(p->err, (size_t)(bad - p->text), 1, "'%c' can't stand in the %s", *bad,
		            what);
	if (take(p, opts, p->spec->ivopts, sizeof(p->spec->ivopts), what))
		return -EINVAL;
	/* essiv(api,hash) is one crypto API name, CRYPTO_MAX_ALG_NAME with its NUL. */
	if (iv_is(p->spec, "essiv") &&
	    strlen("essiv(,)") + strlen(p->spec->api) + opts.n >= sizeof(p->spec->api))
		return fail(p->err, at, opts.n,
		            "essiv(%.30s…,%.20s…) is longer than a crypto API name can be",
		            p->spec->api, p->spec->ivopts);
	return 0;
}

static int bad_iv(const struct parser *p, struct piece iv)
{
	size_t at = (size_t)(iv.s - p->text);

	if (iv.n > 6 && !memcmp(iv.s, "essiv-", 6))
		return fail(p->err, at + 5, 1, "the ESSIV hash follows a ':', as in essiv:%.*s",
		            shown((struct piece){ iv.s + 6, iv.n - 6 }), iv.s + 6);
	return fail(
		p->err, at, iv.n,
		"'%.*s' is no IV generator; there are plain, plain64, plain64be, essiv:HASH, benbi, null, "
		"eboiv, elephant, lmk, tcw, random",
		shown(iv), iv.s);
}

/* iv[:ivopts]; opts.s NULL when there was no ':'. spec->api is filled. */
static int take_iv(const struct parser *p, struct piece iv, struct piece opts)
{
	size_t at = (size_t)(iv.s - p->text);

	if (!iv.n)
		return fail(p->err, at, 0,
		            "the IV generator is missing here; want plain64, essiv:sha256, …");
	if (!is_iv(iv))
		return bad_iv(p, iv);
	take(p, iv, p->spec->iv, sizeof(p->spec->iv), "IV generator");
	if (opts.s)
		return take_ivopts(p, opts);
	if (iv_is(p->spec, "essiv"))
		return fail(p->err, at, iv.n, "essiv needs a hash, as in essiv:sha256");
	return 0;
}

static int take_keycount(const struct parser *p, struct piece v)
{
	size_t at = (size_t)(v.s - p->text);
	unsigned int n = 0;

	if (!v.n)
		return fail(p->err, at, 0, "a key count must follow ':', 1 to 64");
	for (size_t i = 0; i < v.n; i++) {
		if (!isdigit((unsigned char)v.s[i]))
			return fail(p->err, at, v.n,
			            "key count '%.*s' is no number; want 1, 2, 4 … 64", shown(v),
			            v.s);
		n = n > MAX_KEYCOUNT ? n : n * 10 + (unsigned int)(v.s[i] - '0');
	}
	if (!n || n > MAX_KEYCOUNT || n & (n - 1))
		return fail(p->err, at, v.n, "key count %.*s is no power of two from 1 to 64",
		            shown(v), v.s);
	p->spec->keycount = n;
	return 0;
}

/* cipher[:keycount] */
static int take_cipher(const struct parser *p, struct piece first)
{
	const char *colon = memchr(first.s, ':', first.n);
	struct piece cipher = first;

	if (colon)
		cipher.n = (size_t)(colon - first.s);
	if (take(p, cipher, p->spec->cipher, sizeof(p->spec->cipher), "cipher name"))
		return -EINVAL;
	if (!colon)
		return 0;
	return take_keycount(p, (struct piece){ colon + 1, first.n - cipher.n - 1 });
}

static void set_mode(struct cipher_spec *s, const char *mode, const char *iv)
{
	str_copy(s->mode, sizeof(s->mode), mode);
	str_copy(s->iv, sizeof(s->iv), iv);
}

/* mode(cipher): at most 31 + 63 characters and the parentheses, so it always fits. */
static void set_api(struct cipher_spec *s)
{
	if (*s->mode)
		snprintf(s->api, sizeof(s->api), "%s(%s)", s->mode, s->cipher);
	else
		snprintf(s->api, sizeof(s->api), "%s", s->cipher);
}

/* cipher-second: plain means cbc-plain, ecb takes no IV, an AEAD takes no mode. */
static int parse_two(const struct parser *p, struct piece second)
{
	struct cipher_spec *s = p->spec;
	const struct cipher_fact *f = spec_fact(s);
	size_t at = (size_t)(second.s - p->text);
	struct piece iv = { second.s, strcspn(second.s, ":") };

	if (piece_is(second, "plain")) {
		set_mode(s, "cbc", "plain");
	} else if (piece_is(second, "ecb")) {
		set_mode(s, "ecb", "");
	} else if (f && f->aead) {
		set_api(s);
		return take_iv(p, second, (struct piece){ 0 });
	} else if (!second.n) {
		return fail(p->err, at, 0,
		            "a mode and an IV generator must follow '-', as in %s-xts-plain64",
		            s->cipher);
	} else if (is_iv(iv)) {
		return fail(p->err, at, second.n,
		            "'%.*s' is an IV generator and no mode; try %s-%s-%.*s", shown(iv),
		            iv.s, s->cipher, piece_is(iv, "essiv") ? "cbc" : "xts", shown(second),
		            second.s);
	} else {
		return fail(p->err, at + second.n, 0,
		            "mode '%.*s' needs an IV generator after it, as in %s-%.*s-plain64",
		            shown(second), second.s, s->cipher, shown(second), second.s);
	}
	set_api(s);
	return 0;
}

/* cipher-mode-iv[:ivopts], rest being mode-iv[:ivopts] with its '-' at `dash` */
static int parse_three(const struct parser *p, const char *rest, const char *dash)
{
	struct piece mode = { rest, (size_t)(dash - rest) };
	struct piece iv = { dash + 1, strcspn(dash + 1, ":") }, opts = { 0 };
	const char *colon = memchr(mode.s, ':', mode.n);

	if (colon)
		return fail(
			p->err, (size_t)(colon - p->text), 1,
			"no ':' after the mode; a key count follows the cipher, a hash the IV generator");
	if (take(p, mode, p->spec->mode, sizeof(p->spec->mode), "mode"))
		return -EINVAL;
	set_api(p->spec);
	if (iv.s[iv.n])
		opts = (struct piece){ iv.s + iv.n + 1, strlen(iv.s + iv.n + 1) };
	return take_iv(p, iv, opts);
}

static int parse_old(const struct parser *p)
{
	struct piece first = { p->text, strcspn(p->text, "-") };
	const char *paren = strpbrk(p->text, "()"), *rest, *dash;

	if (paren)
		return fail(p->err, (size_t)(paren - p->text), 1,
		            "parentheses need the " CAPI " form, as in " CAPI "xts(aes)-plain64");
	if (take_cipher(p, first))
		return -EINVAL;
	if (!first.s[first.n]) {
		bool null = !strcmp(p->text, "null") || !strcmp(p->text, "cipher_null");

		if (null)
			str_copy(p->spec->cipher, sizeof(p->spec->cipher), "cipher_null");
		set_mode(p->spec, null ? "ecb" : "cbc", null ? "" : "plain");
		set_api(p->spec);
		return 0;
	}
	rest = first.s + first.n + 1;
	dash = strchr(rest, '-');
	if (dash)
		return parse_three(p, rest, dash);
	return parse_two(p, (struct piece){ rest, strlen(rest) });
}

/* --- the capi: form ------------------------------------------------------------------------- */

/* Next word of a crypto API or driver name, without its separators; n 0 at the end. */
static struct piece next_word(const char **at)
{
	struct piece w;

	*at += strspn(*at, "-_(),.");
	w.s = *at;
	w.n = strcspn(*at, "-_(),.");
	*at += w.n;
	return w;
}

/* Ciphers whose names have a separator of their own. */
static const struct cipher_fact *compound_cipher(const char *api)
{
	static const char *const names[] = { "des3_ede", "cipher_null" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strstr(api, names[i]))
			return fact_of((struct piece){ names[i], strlen(names[i]) });
	if (strstr(api, "adiantum") && strstr(api, "aes")) {
		if (strstr(api, "xchacha12"))
			return fact_of((struct piece){ "xchacha12,aes", 13 });
		if (strstr(api, "xchacha20"))
			return fact_of((struct piece){ "xchacha20,aes", 13 });
	}
	return NULL;
}

static bool is_composite(const char *api)
{
	return str_starts(api, "authenc(") || str_starts(api, "rfc") || str_starts(api, "essiv(") ||
	       str_starts(api, "authencesn(");
}

/*
 * Cipher and mode out of "xts(aes)", "xts(ecb-aes-geode)", "cbc-aes-geode", "p8_aes_cbc": the first
 * word that names a mode and the first that names a cipher. Names with a key layout of their own
 * stay unjudged.
 */
static void derive_cipher(struct cipher_spec *s)
{
	const struct cipher_fact *f = compound_cipher(s->api);
	const char *at = s->api;
	struct piece w;

	if (is_composite(s->api))
		return;
	for (w = next_word(&at); w.n; w = next_word(&at)) {
		if (!*s->mode && is_one_of(w, mode_names, ARRAY_SIZE(mode_names)))
			snprintf(s->mode, sizeof(s->mode), "%.*s", (int)w.n, w.s);
		if (!f)
			f = fact_of(w);
	}
	if (f && (*s->mode || f->aead))
		str_copy(s->cipher, sizeof(s->cipher), f->name);
	else
		s->mode[0] = '\0';
}

/* Offset of the parenthesis that has no partner, or n. */
static size_t unbalanced(struct piece v)
{
	size_t depth = 0, open = v.n;

	for (size_t i = 0; i < v.n; i++) {
		if (v.s[i] == '(' && !depth++)
			open = i;
		else if (v.s[i] == ')' && !depth--)
			return i;
	}
	return depth ? open : v.n;
}

static int take_api(const struct parser *p, struct piece api)
{
	const char *colon = memchr(api.s, ':', api.n);
	size_t lone = unbalanced(api);

	if (colon)
		return fail(p->err, (size_t)(colon - p->text), 1,
		            "':' can't stand in a crypto API name; " CAPI " takes no key count");
	if (lone < api.n)
		return fail(p->err, (size_t)(api.s + lone - p->text), 1,
		            "'%c' has no partner in the crypto API name", api.s[lone]);
	if (take(p, api, p->spec->api, sizeof(p->spec->api), "crypto API name"))
		return -EINVAL;
	derive_cipher(p->spec);
	return 0;
}

/* As the kernel does: the last ':' starts the IV options, the last '-' before it the IV. */
static int parse_capi(const struct parser *p)
{
	const char *body = p->text + CAPI_LEN, *colon = strrchr(body, ':');
	const char *end = colon ? colon : body + strlen(body);
	const char *dash = memrchr(body, '-', (size_t)(end - body));
	struct piece opts = { 0 };

	p->spec->capi = true;
	if (dash && memchr(dash, ')', (size_t)(end - dash)))
		dash = NULL; /* a '-' inside the parentheses belongs to a driver name */
	if (!dash) {
		if (take_api(p, (struct piece){ body, (size_t)(end - body) }))
			return -EINVAL;
		if (mode_is(p->spec, "ecb") && !colon)
			return 0;
		return fail(p->err, (size_t)(end - p->text), 0,
		            "an IV generator must follow the crypto API name, as in " CAPI
		            "xts(aes)-plain64");
	}
	if (take_api(p, (struct piece){ body, (size_t)(dash - body) }))
		return -EINVAL;
	if (colon)
		opts = (struct piece){ colon + 1, strlen(colon + 1) };
	if (take_iv(p, (struct piece){ dash + 1, (size_t)(end - dash - 1) }, opts))
		return -EINVAL;
	if (iv_is(p->spec, "lmk"))
		p->spec->keycount = MAX_KEYCOUNT; /* crypt_ctr_cipher_new sets it */
	return 0;
}

int spec_parse(const char *text, struct cipher_spec *spec, struct spec_error *err)
{
	struct parser p = { text, spec, err };

	memset(spec, 0, sizeof(*spec));
	if (err)
		memset(err, 0, sizeof(*err));
	spec->keycount = 1;
	if (!*text)
		return fail(err, 0, 0,
		            "the cipher spec is empty; want something like aes-xts-plain64");
	if (check_letters(&p))
		return -EINVAL;
	return str_starts(text, CAPI) ? parse_capi(&p) : parse_old(&p);
}

/* --- printing ------------------------------------------------------------------------------- */

const char *spec_text(const struct cipher_spec *spec, char *buf, size_t size)
{
	const char *colon = *spec->ivopts ? ":" : "", *dash = *spec->iv ? "-" : "";
	char count[16] = "";

	if (spec->keycount > 1)
		snprintf(count, sizeof(count), ":%u", spec->keycount);
	if (spec->capi)
		snprintf(buf, size, CAPI "%s%s%s%s%s", spec->api, dash, spec->iv, colon,
		         spec->ivopts);
	else
		snprintf(buf, size, "%s%s%s%s%s%s%s%s", spec->cipher, count, *spec->mode ? "-" : "",
		         spec->mode, dash, spec->iv, colon, spec->ivopts);
	return buf;
}

const char *spec_describe(const struct cipher_spec *spec, char *buf, size_t size)
{
	char text[SPEC_TEXT_MAX], key[32] = "", sector[48] = "";

	if (spec->key_bits)
		snprintf(key, sizeof(key), ", %u-bit key", spec->key_bits);
	if (spec->sector_size && spec->sector_size != 512)
		snprintf(sector, sizeof(sector), ", %u-byte sectors", spec->sector_size);
	snprintf(buf, size, "%s%s%s", spec_text(spec, text, sizeof(text)), key, sector);
	return buf;
}

/* --- key arithmetic ------------------------------------------------------------------------- */

bool spec_is_xts(const struct cipher_spec *spec)
{
	return mode_is(spec, "xts");
}

/* Bytes of the volume key that are not the data cipher's: as crypt_ctr_ivmode reckons them. */
static unsigned int extra_key_bytes(const struct cipher_spec *s, unsigned int whole)
{
	const struct cipher_fact *f = spec_fact(s);

	if (iv_is(s, "tcw")) /* IV seed and whitening */
		return (f ? f->block : 16) + TCW_WHITENING;
	if (iv_is(s, "elephant"))
		return whole / 2;
	if (iv_is(s, "lmk") && whole % s->keycount) /* version 3: one more key, the seed */
		return whole / (s->keycount + 1);
	return 0;
}

unsigned int spec_cipher_key_bits(const struct cipher_spec *spec)
{
	unsigned int whole = spec->key_bits / 8, extra = extra_key_bytes(spec, whole), one;

	if (whole <= extra || !spec->keycount)
		return 0;
	one = (whole - extra) / spec->keycount;
	if (spec_is_xts(spec))
		one /= 2;
	else if (mode_is(spec, "lrw")) /* the tweak key is one block behind the cipher's */
		one = one > 16 ? one - 16 : 0;
	return one * 8;
}

/* The volume key that gives the data cipher `bytes`. */
static unsigned int whole_key_bits(const struct cipher_spec *s, unsigned int bytes)
{
	if (spec_is_xts(s))
		bytes *= 2;
	else if (mode_is(s, "lrw"))
		bytes += 16;
	bytes *= s->keycount;
	if (iv_is(s, "elephant"))
		return bytes * 2 * 8;
	return (bytes + (iv_is(s, "tcw") ? extra_key_bytes(s, 0) : 0)) * 8;
}

/* Length of a hash by name or by driver name ("sha256-ni"), bits; -EINVAL when not known. */
static int hash_bits(struct piece name)
{
	while (name.n) {
		for (size_t i = 0; i < ARRAY_SIZE(hash_facts); i++)
			if (piece_is(name, hash_facts[i].name))
				return hash_facts[i].bits;
		while (--name.n && name.s[name.n] != '-')
			;
	}
	return -EINVAL;
}

int spec_essiv_key_bits(const struct cipher_spec *spec)
{
	if (!iv_is(spec, "essiv"))
		return 0;
	return hash_bits((struct piece){ spec->ivopts, strlen(spec->ivopts) });
}

unsigned int spec_default_key_bits(const struct cipher_spec *spec)
{
	/* get_adjusted_key_size of cryptsetup doubles for "xts-…" only, so never for capi: */
	return spec_is_xts(spec) && !spec->capi ? 512 : 256;
}

/* --- checks --------------------------------------------------------------------------------- */

static bool key_fits(const struct cipher_fact *f, unsigned int bytes)
{
	if (!f->key_max)
		return true;
	return bytes >= f->key_min && bytes <= f->key_max &&
	       (bytes - f->key_min) % f->key_step == 0;
}

/* "128, 192 or 256", "40 to 128"; as whole volume keys when `s` is given. Returns buf. */
static const char *key_lengths(const struct cipher_fact *f, const struct cipher_spec *s, char *buf,
                               size_t size)
{
	unsigned int n = (unsigned int)(f->key_max - f->key_min) / f->key_step + 1, v[3];

	for (unsigned int i = 0; i < 3; i++) {
		unsigned int bytes = f->key_min + i * f->key_step;

		v[i] = s ? whole_key_bits(s, bytes) : bytes * 8;
	}
	if (n == 1)
		snprintf(buf, size, "%u", v[0]);
	else if (n == 2)
		snprintf(buf, size, "%u or %u", v[0], v[1]);
	else if (n == 3)
		snprintf(buf, size, "%u, %u or %u", v[0], v[1], v[2]);
	else
		snprintf(buf, size, "%u to %u", v[0],
		         s ? whole_key_bits(s, f->key_max) : f->key_max * 8u);
	return buf;
}

static int check_key(const struct cipher_spec *s, struct spec_error *err)
{
	const struct cipher_fact *f = spec_fact(s);
	unsigned int one = spec_cipher_key_bits(s);
	char want[64];

	if (!s->key_bits)
		return 0;
	if (s->key_bits % 8)
		return fail(err, 0, 0, "a key of %u bits is no whole number of bytes", s->key_bits);
	if (!f || !f->key_max || mode_is(s, "ccm"))
		return 0; /* nothing known of its keys */
	/* Reckoned back, so that a remainder counts as well; lmk has two layouts. */
	if (key_fits(f, one / 8) && (iv_is(s, "lmk") || whole_key_bits(s, one / 8) == s->key_bits))
		return 0;
	return fail(err, 0, 0, "a %u-bit key does not fit: %.60s%s%.20s takes %s bits%s",
	            s->key_bits, s->cipher, *s->mode ? "-" : "", s->mode,
	            key_lengths(f, s, want, sizeof(want)),
	            spec_is_xts(s) ? ", two keys in one" : "");
}

static int check_essiv(const struct cipher_spec *s, struct spec_error *err, struct piece text)
{
	const struct cipher_fact *f = spec_fact(s);
	size_t n = strlen(s->ivopts), at = text.n - n;
	int bits = spec_essiv_key_bits(s);
	char want[64];

	if (!iv_is(s, "essiv"))
		return 0;
	if (mode_is(s, "ecb") || mode_is(s, "adiantum") || mode_is(s, "hctr2"))
		return fail(err, at - 6, n + 6,
		            "essiv works with a one-block IV only, and %s has %s", s->mode,
		            mode_is(s, "ecb") ? "none" : "a longer one");
	if (bits < 0)
		return fail(err, at, n,
		            "'%.40s' is no hash hwluks knows; ESSIV is used with sha256",
		            s->ivopts);
	if (!f || key_fits(f, (unsigned int)bits / 8))
		return 0;
	return fail(
		err, at, n,
		"the hash is the key of the IV cipher: %.20s gives %d bits, %.20s takes %s; sha256 gives 256",
		s->ivopts, bits, s->cipher, key_lengths(f, NULL, want, sizeof(want)));
}

static int check_sector(const struct cipher_spec *s, struct spec_error *err, struct piece text)
{
	unsigned int n = s->sector_size;
	size_t len = strlen(s->iv) + (*s->ivopts ? 1 + strlen(s->ivopts) : 0);

	if (!n)
		return 0;
	if (n < 512 || n > 4096 || n & (n - 1))
		return fail(err, 0, 0, "sector size %u is none of 512, 1024, 2048, 4096", n);
	if (n != 512 && (iv_is(s, "lmk") || iv_is(s, "tcw")))
		return fail(err, text.n - len, len, "%s works with 512-byte sectors only, not %u",
		            s->iv, n);
	return 0;
}

/* Mode and cipher go together. */
static int check_mode(const struct cipher_spec *s, struct spec_error *err, struct piece text)
{
	const struct cipher_fact *f = spec_fact(s);
	bool adiantum = mode_is(s, "adiantum");
	size_t at = s->capi ? CAPI_LEN : 0, len = s->capi ? strlen(s->api) : strlen(s->cipher);

	if (at + len > text.n)
		at = len = 0;
	if (adiantum != (strchr(s->cipher, ',') != NULL))
		return fail(err, at, len,
		            adiantum ? "adiantum needs a stream and a block cipher, as in "
		                       "xchacha12,aes-adiantum-plain64"
		                     : "two ciphers with a ',' are for adiantum only");
	if (f && f->block != 16 && (spec_is_xts(s) || mode_is(s, "lrw")))
		return fail(err, at, len,
		            "%s works with 128-bit blocks only, and %s has %u-bit blocks", s->mode,
		            s->cipher, f->block * 8u);
	return 0;
}

int spec_check(const struct cipher_spec *spec, struct spec_error *err)
{
	char buf[SPEC_TEXT_MAX];
	struct piece text = { spec_text(spec, buf, sizeof(buf)), 0 };

	text.n = strlen(buf);
	if (err)
		memset(err, 0, sizeof(*err));
	if (check_mode(spec, err, text) || check_essiv(spec, err, text) ||
	    check_sector(spec, err, text))
		return -EINVAL;
	return check_key(spec, err);
}

/* --- security classes ----------------------------------------------------------------------- */

static bool is_aead(const struct cipher_spec *s)
{
	const struct cipher_fact *f = spec_fact(s);

	if (s->capi && (str_starts(s->api, "authenc(") || str_starts(s->api, "rfc7539(") ||
	                str_starts(s->api, "rfc4309(")))
		return true;
	return mode_is(s, "gcm") || mode_is(s, "ccm") || (!*s->mode && f && f->aead);
}

/* No two sectors share an IV (plain: below 2 TiB), though anyone can tell what it is. */
static bool iv_counts(const struct cipher_spec *s)
{
	return iv_is(s, "plain64") || iv_is(s, "plain") || iv_is(s, "plain64be") ||
	       iv_is(s, "benbi");
}

/* Bits of a working ESSIV key, 0 when there is none. */
static unsigned int essiv_strength(const struct cipher_spec *s)
{
	const struct cipher_fact *f = spec_fact(s);
	int bits = spec_essiv_key_bits(s);

	return bits > 0 && f && key_fits(f, (unsigned int)bits / 8) ? (unsigned int)bits : 0;
}

/* xts, adiantum, hctr2: made for counting tweaks. */
static enum spec_class class_tweaked(const struct cipher_spec *s)
{
	if (iv_counts(s) || (spec_is_xts(s) && essiv_strength(s)))
		return SPEC_CLASS_STANDARD;
	return iv_is(s, "null") ? SPEC_CLASS_WATERMARK : SPEC_CLASS_OTHER;
}

static enum spec_class class_cbc(const struct cipher_spec *s, const struct cipher_fact *f)
{
	unsigned int essiv = essiv_strength(s);

	/* tcw: the IV is a secret XOR the sector number, so differences are known. */
	if (iv_counts(s) || iv_is(s, "null") || iv_is(s, "tcw"))
		return SPEC_CLASS_WATERMARK;
	if (essiv && essiv < 192)
		return SPEC_CLASS_WATERMARK;
	return essiv && f->block == 16 ? SPEC_CLASS_STANDARD : SPEC_CLASS_OTHER;
}

enum spec_class spec_class(const struct cipher_spec *spec)
{
	const struct cipher_fact *f = spec_fact(spec);

	if (is_aead(spec))
		return iv_is(spec, "random") ? SPEC_CLASS_AUTHENTICATED : SPEC_CLASS_OTHER;
	if (!f || !strcmp(f->name, "cipher_null"))
		return SPEC_CLASS_OTHER;
	if (mode_is(spec, "ecb"))
		return SPEC_CLASS_ECB;
	if (spec->key_bits && f->key_max && spec_cipher_key_bits(spec) < 128)
		return SPEC_CLASS_OTHER;
	if (mode_is(spec, "cbc") || mode_is(spec, "pcbc"))
		return class_cbc(spec, f);
	if (f->block == 16 &&
	    (spec_is_xts(spec) || mode_is(spec, "adiantum") || mode_is(spec, "hctr2")))
		return class_tweaked(spec);
	return SPEC_CLASS_OTHER;
}

static const struct {
	const char *name, *sentence;
} class_text[] = {
	[SPEC_CLASS_AUTHENTICATED] = { "authenticated",
	                               "Changes to the encrypted data are noticed; costs space and speed." },
	[SPEC_CLASS_STANDARD] = { "standard",
	                          "Hides the contents from anyone without the key; does not notice changes." },
	[SPEC_CLASS_WATERMARK] = { "watermark",
	                           "IVs are predictable or weakly keyed: prepared files can be "
	                           "recognised on the disk without the key." },
	[SPEC_CLASS_ECB] = { "ecb",
	                     "Equal blocks stay equal: the pattern of the data shows through." },
	[SPEC_CLASS_OTHER] = { "other", "hwluks can't judge how safe this is." },
};

const char *spec_class_name(enum spec_class c)
{
	return class_text[c].name;
}

const char *spec_class_sentence(enum spec_class c)
{
	return class_text[c].sentence;
}

const char *spec_caution(const struct cipher_spec *spec)
{
	const struct cipher_fact *f = spec_fact(spec);

	if (f && !strcmp(f->name, "cipher_null"))
		return "cipher_null encrypts nothing: the data is stored as it is.";
	if (iv_is(spec, "random"))
		return "Random IVs must be stored, so this works with LUKS2 integrity only.";
	if (f && f->block == 8)
		return "With 64-bit blocks repeats show after some 32 GiB under one key.";
	if (mode_is(spec, "ctr"))
		return "CTR uses the same key stream again when a sector is rewritten: two versions reveal each other.";
	if (iv_is(spec, "null") && *spec->mode && !mode_is(spec, "ecb"))
		return "Every sector has the same IV: sectors with equal contents look equal.";
	if (iv_is(spec, "plain") && *spec->mode && !mode_is(spec, "ecb"))
		return "The sector numbers of plain are 32 bits wide and repeat beyond 2 TiB; plain64 does not.";
	if (mode_is(spec, "cbc"))
		return "CBC is malleable: who can write to the disk can flip chosen bits, spoiling the block before them.";
	return NULL;
}
