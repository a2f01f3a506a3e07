/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * For guest tests: hwluks's own verification, measuring, quarantine and mapping facts, one at a
 * time, as "key value" lines. Must not know what a result should be.
 *
 *   verify-tool verify CIPHER BITS SECTOR [STALL_MS [CAPI]]    exit 0 ok, 13 bad, 1 otherwise
 *   verify-tool measure CIPHER BITS SECTOR RUN_MS [CAPI]
 *   verify-tool quarantine MODULE
 *   verify-tool stamp DRIVER MODULE [write]
 *   verify-tool facts NAME
 *   verify-tool record NAME COMMAND...    runs the command and records what it bound to NAME
 *   verify-tool served NAME
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/sys.h"
#include "util/util.h"
#include "vol/mapping.h"
#include "vol/measure.h"
#include "vol/quarantine.h"
#include "vol/serving.h"
#include "vol/trial.h"
#include "vol/verify.h"

static struct cipher_spec spec_of(char **argv)
{
	struct cipher_spec spec;
	struct spec_error err;

	if (spec_parse(argv[0], &spec, &err)) {
		fprintf(stderr, "%s: %s\n", argv[0], err.why);
		exit(1);
	}
	spec.key_bits = (unsigned int)atoi(argv[1]);
	spec.sector_size = (unsigned int)atoi(argv[2]);
	return spec;
}

static int do_verify(int argc, char **argv)
{
	struct cipher_spec spec = spec_of(argv);
	struct verify_request rq = { .spec = &spec,
		                     .stall_ms = argc > 3 ? (unsigned int)atoi(argv[3]) : 0,
		                     .cipher = argc > 4 ? argv[4] : NULL };
	struct verify_result res;

	verify_driver(&rq, &res);
	printf("outcome %s\ndriver %s\nciphertext %d\noperations %llu\nsector %llu\nrequest %u\nms %u\nleft %s\ntext %s\n",
	       verify_outcome_name(res.outcome), res.driver, res.ciphertext_checked,
	       (unsigned long long)res.operations, (unsigned long long)res.sector, res.request_size,
	       res.ms, res.left_behind, res.text);
	return res.outcome == VERIFY_OK ? 0 : verify_outcome_bad(res.outcome) ? 13 : 1;
}

static int do_measure(int argc, char **argv)
{
	struct cipher_spec spec = spec_of(argv);
	struct measure_request rq = { .spec = &spec,
		                      .run_ms = (unsigned int)atoi(argv[3]),
		                      .cipher = argc > 4 ? argv[4] : NULL };
	struct measure_result res;
	int err = measure_spec(&rq, &res);

	printf("write %.2f %.2f %.2f %u\nread %.2f %.2f %.2f %u\ndriver %s\nleft %s\ntext %s\n",
	       res.write.median, res.write.low, res.write.high, res.write.runs, res.read.median,
	       res.read.low, res.read.high, res.read.runs, res.driver, res.left_behind, res.text);
	return err ? 1 : 0;
}

static int do_quarantine(int argc, char **argv)
{
	const struct accel *a = accel_by_module(argv[0]);
	struct quarantine_result res;
	int err;

	(void)argc;
	if (!a)
		return 1;
	err = quarantine_driver(a, &res);
	printf("lowered %u\ndeleted %u\nstill %s\ntext %s\n", res.lowered, res.deleted, res.still,
	       res.text);
	return err ? 1 : 0;
}

static int do_stamp(int argc, char **argv)
{
	char *text[] = { "aes-cbc-plain64", "128", "512" };
	struct cipher_spec spec = spec_of(text);

	if (argc > 2)
		return stamp_write(argv[0], argv[1], &spec, STAMP_VERIFIED) ? 1 : 0;
	printf("stamp %d\n", stamp_read(argv[0], argv[1], &spec));
	return 0;
}

static int do_facts(int argc, char **argv)
{
	struct mapping_list list = { 0 };
	struct mapping_facts f;
	char flags[200];
	int err = mapping_get(argv[0], &f);

	(void)argc;
	if (!err)
		err = mapping_list(&list);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[0], strerror(-err));
		return 1;
	}
	printf("cipher %s\nbits %u\nsector %u\nflags %s\nkeyring %d\ndevice %s\noffset %llu\nsize %llu\nopen %u\nuuid %s\n"
	       "readonly %d\nmappings %zu\n",
	       f.table.cipher, f.table.key_bits, f.table.sector_size,
	       crypt_flags_text(f.table.flags, flags, sizeof(flags)), f.table.keyring,
	       f.table.device, (unsigned long long)f.table.offset, (unsigned long long)f.sectors,
	       f.open_count, f.uuid, f.readonly, list.n);
	mapping_list_free(&list);
	return 0;
}

static void print_binding(const struct binding *b)
{
	printf("driver %s\nevidence %s\nunlisted %d\nwhy %s\n", b->driver,
	       binding_evidence_name(b->evidence), b->unlisted, b->why);
}

static int do_record(int argc, char **argv)
{
	struct alg_list before, after;
	struct binding b = { 0 };
	int status = 0;
	pid_t pid;

	(void)argc;
	trial_algs(&before);
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return 1;
	trial_algs(&after);
	status = serving_record(argv[0], &before, &after, &b);
	print_binding(&b);
	alg_list_free(&before);
	alg_list_free(&after);
	return status ? 1 : 0;
}

static int do_served(int argc, char **argv)
{
	struct machine m = { 0 };
	struct mapping_facts f;
	struct binding b;
	int err = mapping_get(argv[0], &f);

	(void)argc;
	if (err)
		return 1;
	m.algs_known = !trial_algs(&m.algs);
	err = serving_find(&m, &f, &b);
	print_binding(&b);
	alg_list_free(&m.algs);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int least;
		int (*run)(int argc, char **argv);
	} verbs[] = {
		{ "verify", 3, do_verify },         { "measure", 4, do_measure },
		{ "quarantine", 1, do_quarantine }, { "stamp", 2, do_stamp },
		{ "facts", 1, do_facts },           { "record", 2, do_record },
		{ "served", 1, do_served },
	};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (argc > 1 + verbs[i].least && !strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 2, argv + 2);
	fprintf(stderr, "verify-tool: see the head of tool.c\n");
	return 1;
}
