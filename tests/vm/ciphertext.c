// SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception
/*
 * For: comparing what a guest wrote to a disk through dm-crypt with what libcrypto says it should
 * be. Must not know: who encrypted it, or with which driver.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#define MAX_KEY    64
#define MAX_SECTOR 4096
#define MAX_SHOWN  5

static const char usage_text[] =
	"usage: ciphertext --disk FILE --cipher SPEC --key HEX|--key-file FILE --sectors N [OPTIONS]\n"
	"  Compares N encryption sectors of FILE with the plain text encrypted by libcrypto.\n"
	"  --cipher SPEC       aes-ecb, aes-cbc-{plain,plain64,plain64be,essiv:HASH},\n"
	"                      aes-xts-{plain,plain64}\n"
	"  --key HEX           the whole volume key; for xts both halves\n"
	"  --key-file FILE     the same, in binary\n"
	"  --offset N          where the encrypted data starts in FILE, in 512-byte sectors (default 0)\n"
	"  --sector-size N     512 (default) to 4096\n"
	"  --iv-offset N       added to the sector number (default 0)\n"
	"  --iv-large-sectors  the IV counts encryption sectors, not 512-byte sectors\n"
	"  --pattern TEXT      plain text is TEXT and a newline, over and over (as of `yes TEXT`)\n"
	"  --plain FILE        plain text is in FILE\n"
	"  --step N            look at every Nth sector and the last one only (default 1: all)\n"
	"exit code: 0 all equal, 1 something differs, 2 wrong usage or unreadable input\n";

enum iv_kind { IV_NONE, IV_PLAIN, IV_PLAIN64, IV_PLAIN64BE, IV_ESSIV };

struct spec {
	bool xts, cbc;
	enum iv_kind iv;
	const EVP_MD *essiv_hash;
};

struct request {
	const char *disk, *plain, *pattern;
	struct spec spec;
	uint8_t key[MAX_KEY], essiv_key[EVP_MAX_MD_SIZE];
	size_t key_len, essiv_len;
	uint64_t offset, sectors, iv_offset, step;
	size_t sector_size;
	bool large_iv;
};

static int parse_spec(const char *text, struct spec *s)
{
	static const struct {
		const char *text;
		struct spec spec;
	} known[] = {
		{ "aes-ecb", { .iv = IV_NONE } },
		{ "aes-cbc-plain", { .cbc = true, .iv = IV_PLAIN } },
		{ "aes-cbc-plain64", { .cbc = true, .iv = IV_PLAIN64 } },
		{ "aes-cbc-plain64be", { .cbc = true, .iv = IV_PLAIN64BE } },
		{ "aes-xts-plain", { .xts = true, .iv = IV_PLAIN } },
		{ "aes-xts-plain64", { .xts = true, .iv = IV_PLAIN64 } },
	};
	static const char essiv[] = "aes-cbc-essiv:";

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(text, known[i].text)) {
			*s = known[i].spec;
			return 0;
		}
	if (strncmp(text, essiv, sizeof(essiv) - 1))
		return -EINVAL;
	*s = (struct spec){ .cbc = true, .iv = IV_ESSIV };
	s->essiv_hash = EVP_get_digestbyname(text + sizeof(essiv) - 1);
	return s->essiv_hash ? 0 : -EINVAL;
}

/* One of the ciphers that a key of len bytes selects, or NULL. */
static const EVP_CIPHER *cipher_for(bool xts, bool cbc, size_t len)
{
	if (xts)
		return len == 32 ? EVP_aes_128_xts() : len == 64 ? EVP_aes_256_xts() : NULL;
	switch (len) {
	case 16:
		return cbc ? EVP_aes_128_cbc() : EVP_aes_128_ecb();
	case 24:
		return cbc ? EVP_aes_192_cbc() : EVP_aes_192_ecb();
	case 32:
		return cbc ? EVP_aes_256_cbc() : EVP_aes_256_ecb();
	}
	return NULL;
}

static int encrypt(const EVP_CIPHER *cipher, const uint8_t *key, const uint8_t *iv,
                   const uint8_t *in, uint8_t *out, size_t len)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n = 0, good;

	good = c && EVP_EncryptInit_ex(c, cipher, NULL, key, iv) == 1 &&
	       EVP_CIPHER_CTX_set_padding(c, 0) == 1 &&
	       EVP_EncryptUpdate(c, out, &n, in, (int)len) == 1 && (size_t)n == len;
	EVP_CIPHER_CTX_free(c);
	return good ? 0 : -EINVAL;
}

/* dm-crypt's IV for a sector number (drivers/md/dm-crypt.c, crypt_iv_*_gen). */
static int make_iv(const struct request *r, uint64_t number, uint8_t iv[16])
{
	uint8_t plain[16] = { 0 };

	memset(iv, 0, 16);
	switch (r->spec.iv) {
	case IV_NONE:
		return 0;
	case IV_PLAIN:
		number &= 0xffffffff;
		/* fallthrough */
	case IV_PLAIN64:
		for (unsigned int i = 0; i < 8; i++)
			iv[i] = (uint8_t)(number >> 8 * i);
		return 0;
	case IV_PLAIN64BE:
		for (unsigned int i = 0; i < 8; i++)
			iv[15 - i] = (uint8_t)(number >> 8 * i);
		return 0;
	case IV_ESSIV:
		for (unsigned int i = 0; i < 8; i++)
			plain[i] = (uint8_t)(number >> 8 * i);
		return encrypt(cipher_for(false, false, r->essiv_len), r->essiv_key, NULL, plain,
		               iv, 16);
	}
	return -EINVAL;
}

static int read_at(int fd, uint8_t *buf, size_t len, uint64_t at)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(fd, buf + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		done += (size_t)n;
	}
	return 0;
}

/* The plain text of a sector. fd: of the plain file, or -1. */
static int plain_text(const struct request *r, int fd, uint64_t sector, uint8_t *out)
{
	const uint64_t at = sector * r->sector_size;
	size_t len;

	if (fd >= 0)
		return read_at(fd, out, r->sector_size, at);
	len = strlen(r->pattern) + 1;
	for (size_t i = 0; i < r->sector_size; i++) {
		const size_t j = (size_t)((at + i) % len);

		out[i] = j == len - 1 ? '\n' : (uint8_t)r->pattern[j];
	}
	return 0;
}

/* Returns 0 if equal, 1 if not, or a negative errno. */
static int check_sector(const struct request *r, int disk, int plain, uint64_t sector)
{
	uint8_t in[MAX_SECTOR], want[MAX_SECTOR], got[MAX_SECTOR], iv[16];
	const uint64_t unit = r->large_iv ? 1 : r->sector_size / 512;
	int rc = plain_text(r, plain, sector, in);

	if (!rc)
		rc = make_iv(r, sector * unit + r->iv_offset, iv);
	if (!rc)
		rc = encrypt(cipher_for(r->spec.xts, r->spec.cbc, r->key_len), r->key, iv, in, want,
		             r->sector_size);
	if (!rc)
		rc = read_at(disk, got, r->sector_size, r->offset * 512 + sector * r->sector_size);
	if (rc)
		return rc;
	if (!memcmp(want, got, r->sector_size))
		return 0;
	return !memcmp(in, got, r->sector_size) ? 2 : 1;
}

static int check(const struct request *r)
{
	int disk = open(r->disk, O_RDONLY | O_CLOEXEC);
	int plain = r->plain ? open(r->plain, O_RDONLY | O_CLOEXEC) : -1;
	uint64_t looked = 0, differ = 0;
	int rc = 0;

	if (disk < 0 || (r->plain && plain < 0)) {
		fprintf(stderr, "ciphertext: %s: %s\n", disk < 0 ? r->disk : r->plain,
		        strerror(errno));
		rc = 2;
		goto out;
	}
	for (uint64_t s = 0; s < r->sectors;) {
		rc = check_sector(r, disk, plain, s);
		if (rc < 0) {
			fprintf(stderr, "ciphertext: sector %" PRIu64 ": %s\n", s, strerror(-rc));
			rc = 2;
			goto out;
		}
		looked++;
		if (rc && ++differ <= MAX_SHOWN)
			printf("sector %" PRIu64 " differs%s\n", s,
			       rc == 2 ? ": it is the plain text" : "");
		if (s == r->sectors - 1)
			break;
		s = s + r->step < r->sectors ? s + r->step : r->sectors - 1;
	}
	printf("%" PRIu64 " sectors compared, %" PRIu64 " differ\n", looked, differ);
	rc = differ || !looked;
out:
	if (plain >= 0)
		close(plain);
	if (disk >= 0)
		close(disk);
	return rc;
}

static int key_from_hex(struct request *r, const char *hex)
{
	const size_t len = strlen(hex);

	if (len % 2 || len / 2 > MAX_KEY)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		const char c = (char)tolower((unsigned char)hex[i]);

		if (!isxdigit((unsigned char)c))
			return -EINVAL;
		r->key[i / 2] = (uint8_t)(r->key[i / 2] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
	}
	r->key_len = len / 2;
	return 0;
}

static int key_from_file(struct request *r, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, r->key, sizeof(r->key));

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -EINVAL;
	r->key_len = (size_t)n;
	return 0;
}

static int number(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || *end ? -EINVAL : 0;
}

/* All that can be wrong with a request before a file is opened. */
static int complete(struct request *r, uint64_t sector_size)
{
	unsigned int len = 0;

	if (!r->disk || !r->sectors || !r->step || (!r->pattern == !r->plain))
		return -EINVAL;
	if (sector_size < 512 || sector_size > MAX_SECTOR || sector_size & (sector_size - 1))
		return -EINVAL;
	r->sector_size = (size_t)sector_size;
	if (!cipher_for(r->spec.xts, r->spec.cbc, r->key_len))
		return -EINVAL;
	if (r->spec.iv != IV_ESSIV)
		return 0;
	if (!EVP_Digest(r->key, r->key_len, r->essiv_key, &len, r->spec.essiv_hash, NULL))
		return -EINVAL;
	r->essiv_len = len;
	return cipher_for(false, false, len) ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "disk", required_argument, NULL, 'd' },
		{ "cipher", required_argument, NULL, 'c' },
		{ "key", required_argument, NULL, 'k' },
		{ "key-file", required_argument, NULL, 'K' },
		{ "sectors", required_argument, NULL, 'n' },
		{ "offset", required_argument, NULL, 'o' },
		{ "sector-size", required_argument, NULL, 's' },
		{ "iv-offset", required_argument, NULL, 'i' },
		{ "iv-large-sectors", no_argument, NULL, 'l' },
		{ "pattern", required_argument, NULL, 'p' },
		{ "plain", required_argument, NULL, 'f' },
		{ "step", required_argument, NULL, 'S' },
		{ 0 },
	};
	struct request r = { .step = 1 };
	uint64_t sector_size = 512;
	bool have_cipher = false;
	int c, rc = 0;

	while (!rc && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			r.disk = optarg;
			break;
		case 'c':
			rc = parse_spec(optarg, &r.spec);
			have_cipher = true;
			break;
		case 'k':
			rc = key_from_hex(&r, optarg);
			break;
		case 'K':
			rc = key_from_file(&r, optarg);
			break;
		case 'n':
			rc = number(optarg, &r.sectors);
			break;
		case 'o':
			rc = number(optarg, &r.offset);
			break;
		case 's':
			rc = number(optarg, &sector_size);
			break;
		case 'i':
			rc = number(optarg, &r.iv_offset);
			break;
		case 'l':
			r.large_iv = true;
			break;
		case 'p':
			r.pattern = optarg;
			break;
		case 'f':
			r.plain = optarg;
			break;
		case 'S':
			rc = number(optarg, &r.step);
			break;
		default:
			rc = -EINVAL;
		}
	}
	if (rc || optind != argc || !have_cipher || complete(&r, sector_size)) {
		fputs(usage_text, stderr);
		return 2;
	}
	return check(&r);
}
