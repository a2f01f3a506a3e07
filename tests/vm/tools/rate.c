/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * For guests: the throughput of one spec, measured by hwluks's own measure_spec(), as one line.
 * Must not know: which driver is right, or what a figure should be.
 *
 *   rate CIPHER BITS SECTOR RUN_MS RUNS write|both [CAPI]
 *
 * CAPI is the table's text when a driver is to be forced ("capi:cbc(aes-generic)-plain64").
 * Prints "WRITE LOW HIGH READ LOW HIGH DRIVER" in MB/s (10^6 bytes): median, least and greatest of
 * RUNS runs of RUN_MS or more, a whole request at least; 0 for what was not asked for. Exit 1 and a
 * sentence on stderr when it could not be measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cipher_spec.h"
#include "vol/measure.h"

int main(int argc, char **argv)
{
	struct cipher_spec spec;
	struct spec_error bad;
	struct measure_request rq = { .spec = &spec };
	struct measure_result res;

	if (argc < 7 || argc > 8) {
		fprintf(stderr,
		        "rate: usage: rate CIPHER BITS SECTOR RUN_MS RUNS write|both [CAPI]\n");
		return 1;
	}
	if (spec_parse(argv[1], &spec, &bad)) {
		fprintf(stderr, "rate: %s: %s\n", argv[1], bad.why);
		return 1;
	}
	spec.key_bits = (unsigned int)atoi(argv[2]);
	spec.sector_size = (unsigned int)atoi(argv[3]);
	rq.run_ms = (unsigned int)atoi(argv[4]);
	rq.runs = (unsigned int)atoi(argv[5]);
	rq.no_read = !strcmp(argv[6], "write");
	rq.cipher = argc > 7 ? argv[7] : NULL;
	/* The guest's clock is not the wall's: on a slow clock the limit must not be what ends it. */
	rq.total_ms = 60000;
	if (measure_spec(&rq, &res) || res.over_memory || res.text[0]) {
		fprintf(stderr, "rate: %s: %s\n", argv[1],
		        res.over_memory ? "no zero target" : res.text);
		return 1;
	}
	printf("%.3f %.3f %.3f %.3f %.3f %.3f %s\n", res.write.median, res.write.low,
	       res.write.high, res.read.median, res.read.low, res.read.high,
	       res.driver[0] ? res.driver : "?");
	return 0;
}
