/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * libFuzzer entry for recordings: archives that nobody vouches for. No crash; names stay inside; what was taken in comes out
 * of a second reading the same, and taking names out twice changes nothing any more.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording.h"
#include "doctor/doctor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(const struct recording *r)
{
	const struct recording_entry *e;

	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].path[0] != '/' || strstr(r->v[i].path, "/../"))
			abort();
		if (recording_find(r, r->v[i].path, false, &e) || e != &r->v[i])
			abort();
		if (!recording_find(r, r->v[i].path, true, &e) && e->kind == RECORDED_LINK)
			abort();
	}
}

static void check_same(const struct recording *a, const struct recording *b)
{
	const struct recording_entry *e;

	for (size_t i = 0; i < a->n; i++)
		if (recording_find(b, a->v[i].path, false, &e) || e->kind != a->v[i].kind || e->len != a->v[i].len ||
		    (e->len && memcmp(e->data, a->v[i].data, e->len)))
			abort();
}

static void read_back(const struct recording *r)
{
	struct recording again;
	struct strbuf tar = { 0 };

	recording_to_tar(r, &tar);
	if (!recording_from_tar(tar.s, tar.len, &again, NULL)) {
		check_same(r, &again);
		recording_free(&again);
	} else {
		abort();
	}
	strbuf_free(&tar);
}

/* Each header's checksum made right, or no change of the fuzzer would get past it. */
static void mend_checksums(char *tar, size_t size)
{
	for (size_t at = 0; at + 512 <= size;) {
		unsigned long sum = 0, len;
		char digits[13] = "";

		memset(tar + at + 148, ' ', 8);
		for (size_t i = 0; i < 512; i++)
			sum += (unsigned char)tar[at + i];
		if (sum == 8 * ' ') {
			memset(tar + at + 148, 0, 8); /* the end of the archive */
			return;
		}
		snprintf(digits, sizeof(digits), "%06lo", sum);
		memcpy(tar + at + 148, digits, 7);
		memcpy(digits, tar + at + 124, 12);
		len = strtoul(digits, NULL, 8);
		if (len > size)
			return;
		at += 512 + (len + 511) / 512 * 512;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *tar = malloc(size + 1);
	struct strv words = { 0 }, names = { 0 };
	struct doctor_header h;
	struct recording r;

	if (!tar)
		return 0;
	if (size)
		memcpy(tar, data, size);
	if (size % 2) /* an archive has an even size: the odd byte leaves the checksums as they are */
		size--;
	else
		mend_checksums(tar, size);
	if (recording_from_tar(tar, size, &r, NULL)) {
		free(tar);
		return 0;
	}
	free(tar);
	check_names(&r);
	read_back(&r);
	recording_list(&r, &r.v[0], &names);
	for (size_t i = 0; i < r.n; i++)
		if (r.v[i].data)
			header_from_text(r.v[i].data, &h);
	strv_add(&words, "nas");
	recording_redact(&r, &words);
	check_names(&r);
	read_back(&r);
	recording_free(&r);
	strv_free(&words);
	strv_free(&names);
	return 0;
}
