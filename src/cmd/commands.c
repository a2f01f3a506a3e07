/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The command table and the option table: help, parsing and dispatch come from these rows.
 * Must not do anything.
 */
#include "cmd/cmd.h"

#define F(field) offsetof(struct options, field)
#define SPEC (CMD_ADVISE | CMD_FORMAT)
#define KEYS (CMD_FORMAT | CMD_OPEN)

const struct option_row option_table[] = {
	{ "help", '?', OPT_FLAG, F(help), 0, CMD_GLOBAL, NULL, "Show this help, or that of a command" },
	{ "version", 'V', OPT_FLAG, F(version), 0, CMD_GLOBAL, NULL, "Show the version" },
	{ "verbose", 'v', OPT_FLAG, F(verbose), 0, CMD_GLOBAL, NULL, "Say more about what is done" },
	{ "debug", 0, OPT_FLAG, F(debug), 0, CMD_GLOBAL, NULL, "Say everything; never secrets" },
	{ "json", 0, OPT_FLAG, F(json), 0, CMD_GLOBAL, NULL, "Print the result as one JSON document" },
	{ "sysroot", 0, OPT_STRING, F(sysroot), 0, CMD_GLOBAL, "DIR", "Look at a recorded machine instead of this one" },

	{ "cipher", 'c', OPT_STRING, F(cipher), 0, SPEC, "SPEC", "Cipher spec: cipher-mode-iv, for example aes-xts-plain64" },
	{ "key-size", 's', OPT_NUMBER, F(key_size), 4096, SPEC, "BITS", "Volume key size; XTS counts both keys" },
	{ "sector-size", 0, OPT_NUMBER, F(sector_size), 4096, SPEC, "BYTES", "Encryption sector: 512, 1024, 2048 or 4096" },

	{ "type", 'M', OPT_STRING, F(type), 0, CMD_FORMAT | CMD_OPEN, "TYPE", "luks2 (default for format), luks1, or luks" },
	{ "adapt", 0, OPT_FLAG, F(adapt), 0, CMD_FORMAT, NULL, "Take the nearest spec the hardware serves instead of refusing" },
	{ "software", 0, OPT_FLAG, F(software), 0, CMD_FORMAT, NULL, "Keep the spec asked for although it runs in software" },
	{ "dry-run", 0, OPT_FLAG, F(dry_run), 0, CMD_FORMAT | CMD_LOAD, NULL, "Print the plan and change nothing" },
	{ "batch-mode", 'q', OPT_FLAG, F(batch_mode), 0, KEYS, NULL, "Ask no questions; the command line is the consent" },
	{ "wipe-signatures", 0, OPT_FLAG, F(wipe_signatures), 0, CMD_FORMAT, NULL, "Destroy the file systems or other signatures found on DEVICE" },
	{ "replace-luks", 0, OPT_FLAG, F(replace_luks), 0, CMD_FORMAT, NULL, "Destroy the LUKS volume found on DEVICE for good" },
	{ "old-header-backup", 0, OPT_STRING, F(old_header_backup), 0, CMD_FORMAT, "FILE", "Save the LUKS header found on DEVICE to FILE before replacing it" },
	{ "header", 0, OPT_STRING, F(header), 0, KEYS, "FILE", "Detached LUKS header" },
	{ "header-backup-file", 0, OPT_STRING, F(header_backup_file), 0, CMD_FORMAT, "FILE", "Save the new header to FILE (mode 0600) after success" },
	{ "label", 0, OPT_STRING, F(label), 0, CMD_FORMAT, "TEXT", "LUKS2 label" },
	{ "subsystem", 0, OPT_STRING, F(subsystem), 0, CMD_FORMAT, "TEXT", "LUKS2 subsystem" },
	{ "uuid", 0, OPT_STRING, F(uuid), 0, CMD_FORMAT, "UUID", "UUID of the new volume" },
	{ "offset", 'o', OPT_NUMBER, F(offset), UINT64_MAX / 512, CMD_FORMAT, "SECTORS", "Start of the data, in 512-byte sectors" },
	{ "hash", 'h', OPT_STRING, F(hash), 0, CMD_FORMAT, "NAME", "Hash of PBKDF2 and the anti-forensic splitter" },
	{ "pbkdf", 0, OPT_STRING, F(pbkdf), 0, CMD_FORMAT, "NAME", "argon2id, argon2i or pbkdf2" },
	{ "iter-time", 'i', OPT_NUMBER, F(iter_time), UINT32_MAX, CMD_FORMAT, "MS", "Unlock time to aim at (2000)" },
	{ "pbkdf-memory", 0, OPT_NUMBER, F(pbkdf_memory), UINT32_MAX, CMD_FORMAT, "KIB", "Most memory for Argon2, bounded by half of what is free" },
	{ "pbkdf-parallel", 0, OPT_NUMBER, F(pbkdf_parallel), 4, CMD_FORMAT, "THREADS", "Threads for Argon2" },
	{ "pbkdf-force-iterations", 0, OPT_NUMBER, F(pbkdf_force_iterations), UINT32_MAX, CMD_FORMAT, "NUMBER", "Fixed cost instead of a measured one" },
	{ "force-password", 0, OPT_FLAG, F(force_password), 0, CMD_FORMAT, NULL, "Accepted for compatibility; hwluks checks no quality" },

	{ "key-file", 'd', OPT_STRING, F(key_file), 0, KEYS, "FILE", "Read the passphrase from FILE, - is stdin (newline counts)" },
	{ "keyfile-offset", 0, OPT_SIZE, F(keyfile_offset), 0, KEYS, "BYTES", "Skip this much of the key file" },
	{ "keyfile-size", 'l', OPT_SIZE, F(keyfile_size), 0, KEYS, "BYTES", "Read only this much of the key file" },
	{ "key-slot", 'S', OPT_SIGNED, F(key_slot), 31, CMD_OPEN, "SLOT", "Try this key slot only" },
	{ "verify-passphrase", 'y', OPT_FLAG, F(verify_passphrase), 0, CMD_FORMAT, NULL, "Ask twice, also in batch mode" },
	{ "tries", 'T', OPT_NUMBER, F(tries), 1000, CMD_OPEN, "NUMBER", "Tries at the prompt (3)" },
	{ "timeout", 't', OPT_NUMBER, F(timeout), UINT32_MAX, KEYS, "SECONDS", "Limit of the prompt; 0 is none" },

	{ "readonly", 'r', OPT_FLAG, F(readonly), 0, CMD_OPEN, NULL, "Open read-only" },
	{ "test-passphrase", 0, OPT_FLAG, F(test_passphrase), 0, CMD_OPEN, NULL, "Check the passphrase, open nothing" },
	{ "require-accel", 0, OPT_FLAG, F(require_accel), 0, CMD_OPEN, NULL, "Open nothing (exit 11) when no hardware would do the data" },
	{ "no-verify", 0, OPT_FLAG, F(no_verify), 0, CMD_OPEN | CMD_LOAD, NULL, "Skip the known-answer test of an engine" },
	{ "allow-discards", 0, OPT_FLAG, F(allow_discards), 0, CMD_OPEN, NULL, "Pass discards (TRIM) on; reveals which blocks are in use" },
	{ "persistent", 0, OPT_FLAG, F(persistent), 0, CMD_OPEN, NULL, "Keep these flags in the LUKS2 header" },
	{ "perf-same_cpu_crypt", 0, OPT_FLAG, F(perf_same_cpu_crypt), 0, CMD_OPEN, NULL, "dm-crypt: encrypt on the CPU that asked" },
	{ "perf-submit_from_crypt_cpus", 0, OPT_FLAG, F(perf_submit_from_crypt_cpus), 0, CMD_OPEN, NULL, "dm-crypt: no extra thread to submit writes" },
	{ "perf-no_read_workqueue", 0, OPT_FLAG, F(perf_no_read_workqueue), 0, CMD_OPEN, NULL, "dm-crypt: decrypt without a workqueue" },
	{ "perf-no_write_workqueue", 0, OPT_FLAG, F(perf_no_write_workqueue), 0, CMD_OPEN, NULL, "dm-crypt: encrypt without a workqueue" },
	{ "perf-high_priority", 0, OPT_FLAG, F(perf_high_priority), 0, CMD_OPEN, NULL, "dm-crypt: high-priority workqueues (kernel 6.10)" },
	{ "token-id", 0, OPT_SIGNED, F(token_id), 31, CMD_OPEN, "ID", "Use this LUKS2 token" },
	{ "token-type", 0, OPT_STRING, F(token_type), 0, CMD_OPEN, "NAME", "Use LUKS2 tokens of this type only" },
	{ "token-only", 0, OPT_FLAG, F(token_only), 0, CMD_OPEN, NULL, "Do not ask for a passphrase when no token fits" },
	{ "disable-locks", 0, OPT_FLAG, F(disable_locks), 0, CMD_OPEN, NULL, "No LUKS2 metadata locks" },
	{ "disable-keyring", 0, OPT_FLAG, F(disable_keyring), 0, CMD_OPEN, NULL, "Volume key in the table, not in the kernel keyring" },

	{ "deferred", 0, OPT_FLAG, F(deferred), 0, CMD_CLOSE, NULL, "Close when the last user is gone" },

	{ "all", 0, OPT_FLAG, F(all), 0, CMD_LOAD, NULL, "Also drivers that would outrank the CPU or are known to be slower" },
	{ "force", 0, OPT_FLAG, F(force), 0, CMD_LOAD, NULL, "Load over deny lists" },
	{ "wait", 0, OPT_NUMBER, F(wait), 600, CMD_LOAD, "SECONDS", "Longest wait for each driver (10)" },
};
const size_t option_count = ARRAY_SIZE(option_table);

static const char *const format_aliases[] = { "luksFormat", NULL };
static const char *const open_aliases[] = { "luksOpen", NULL };
static const char *const close_aliases[] = { "luksClose", NULL };

const struct command command_table[] = {
	{ "detect", NULL, CMD_DETECT, 0, 1, true, "[DEVICE]", "Show the accelerators here and the state of their drivers",
	  "Lists every accelerator that is present, how it was recognised, the state of its driver, whether dm-crypt may use "
	  "it, the key sizes and modes of its hardware, the random number generator and the ways for user space.\n"
	  "With DEVICE it also says what is on that device, a format that was interrupted included.\n"
	  "Works without root and names what it could not read.",
	  cmd_detect },
	{ "load", NULL, CMD_LOAD, 0, 64, true, "[DRIVER...]", "Load the drivers worth loading",
	  "Loads the drivers of the accelerators present that dm-crypt can use, and their random number generators; waits until "
	  "they are registered and tested; tests engines outside the CPU with a known answer; prepares what the kernel would not "
	  "build by itself. A driver that would outrank the CPU's AES instructions, or that published figures call slower than the "
	  "CPU, is named and not loaded unless DRIVER or --all asks for it. Deny lists are honoured unless --force is given.\n"
	  "DRIVER is an accelerator id of `detect`, a module or a driver name.",
	  cmd_load },
	{ "advise", NULL, CMD_ADVISE, 0, 1, true, "[DEVICE]", "Rank the cipher specs this machine can serve, or judge one",
	  "Without --cipher: the specs of the standard class, best first, with what would serve each. With --cipher: the "
	  "verdict on that one. DEVICE gives the sector size; with a LUKS volume on it and no --cipher, the verdict on its spec.\n"
	  "Exit code 0 whatever the verdict is; read `action` in the JSON.",
	  cmd_advise },
	{ "format", format_aliases, CMD_FORMAT, 1, 1, false, "DEVICE", "Make a LUKS volume that this machine's hardware serves",
	  "Checks the spec, the hardware, the device and the passphrase, shows the plan, tests the driver with a known answer, asks, "
	  "and only then writes. Without --cipher the best spec for this machine is chosen. A spec that the hardware serves in another "
	  "key size or mode is refused (exit 10) with the nearest one that works; --adapt takes that one, --software keeps the spec.\n"
	  "DEVICE may be a block device, UUID=, LABEL=, PARTUUID= or a regular file.",
	  cmd_format },
	{ "open", open_aliases, CMD_OPEN, 1, 2, false, "DEVICE NAME", "Open a LUKS volume and say what serves it",
	  "Loads the accelerator's driver first, tests it once per boot, opens DEVICE as /dev/mapper/NAME, and reports which driver "
	  "serves it. A spec that the engine cannot take is a warning, unless --require-accel is given. With --test-passphrase no "
	  "NAME is needed and nothing is opened.",
	  cmd_open },
	{ "close", close_aliases, CMD_CLOSE, 1, 1, false, "NAME", "Close a volume", "Removes the mapping NAME.", cmd_close },
	{ "status", NULL, CMD_STATUS, 1, 1, false, "NAME", "Say which driver serves an open volume, and how that is known",
	  "Names the driver bound to the open mapping NAME with its evidence: recorded (hwluks saw it bind), counted (reference "
	  "counts leave one possibility), inferred, or unknown; and which part of the work runs on hardware.",
	  cmd_status },
};
const size_t command_count = ARRAY_SIZE(command_table);
