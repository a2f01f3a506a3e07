/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The least that tries a passphrase on a LUKS volume: what libcryptsetup itself costs, for cost.t to compare with.
 * Must not do anything else. yardstick IMAGE KEYFILE; exit status 0 when the passphrase is right.
 */
#include <stdio.h>

#include <libcryptsetup.h>

int main(int argc, char **argv)
{
	struct crypt_device *cd;
	char pass[512];
	size_t n;
	FILE *f;
	int r;

	f = argc == 3 ? fopen(argv[2], "r") : NULL;
	if (!f)
		return 2;
	n = fread(pass, 1, sizeof(pass), f);
	fclose(f);
	r = crypt_init(&cd, argv[1]);
	if (r)
		return 2;
	r = crypt_load(cd, CRYPT_LUKS, NULL);
	if (!r)
		r = crypt_activate_by_passphrase(cd, NULL, CRYPT_ANY_SLOT, pass, n, 0);
	crypt_free(cd);
	return r < 0;
}
