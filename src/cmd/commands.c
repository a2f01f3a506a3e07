/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * The command table and the option table: help, parsing and dispatch come from these rows.
 * Must not do anything.
 */
#include "cmd/cmd.h"

#define F(field) offsetof(struct options, field)
#define LOOKS (CMD_DETECT | CMD_ADVISE | CMD_DOCTOR)
#define SPEC (CMD_ADVISE | CMD_FORMAT)
#define KEYS (CMD_FORMAT | CMD_OPEN | CMD_REFRESH)

const struct option_row option_table[] = {
	{ "help", '?', OPT_FLAG, F(help), CMD_GLOBAL, 0, NULL, "Show this help, or that of a command" },
	{ "version", 'V', OPT_FLAG, F(version), CMD_GLOBAL, 0, NULL, "Show the version" },
	{ "verbose", 'v', OPT_FLAG, F(verbose), CMD_GLOBAL, 0, NULL, "Say more about what is done" },
	{ "debug", 0, OPT_FLAG, F(debug), CMD_GLOBAL, 0, NULL, "Say everything; never secrets" },
	{ "json", 0, OPT_FLAG, F(json), CMD_GLOBAL, 0, NULL, "Print the result as one JSON document" },
	{ "sysroot", 0, OPT_STRING, F(sysroot), CMD_GLOBAL, 0, "DIR", "Look at a recorded machine instead of this one" },
	{ "record", 0, OPT_STRING, F(record), LOOKS, 0, "FILE", "Write all that was read into a new FILE, without names and ids" },
	{ "replay", 0, OPT_STRING, F(replay), LOOKS, 0, "FILE", "Look at the machine recorded in FILE" },

	{ "cipher", 'c', OPT_STRING, F(cipher), SPEC, 0, "SPEC", "Cipher spec: cipher-mode-iv, for example aes-xts-plain64" },
	{ "key-size", 's', OPT_POSITIVE, F(key_size), SPEC, 4096, "BITS", "Volume key size; XTS counts both keys" },
	{ "sector-size", 0, OPT_POSITIVE, F(sector_size), SPEC, 1u << 20, "BYTES", "Encryption sector: 512, 1024, 2048 or 4096" },

	{ "type", 'M', OPT_STRING, F(type), CMD_FORMAT | CMD_OPEN, 0, "TYPE", "luks2 (default for format), luks1, or luks" },
	{ "adapt", 0, OPT_FLAG, F(adapt), CMD_FORMAT, 0, NULL, "Take the nearest spec the hardware serves instead of refusing" },
	{ "software", 0, OPT_FLAG, F(software), CMD_FORMAT, 0, NULL, "Keep the spec asked for although it runs in software" },
	{ "dry-run", 0, OPT_FLAG, F(dry_run), CMD_FORMAT | CMD_LOAD | CMD_FILL | CMD_INITRAMFS, 0, NULL, "Print the plan and change nothing" },
	{ "batch-mode", 'q', OPT_FLAG, F(batch_mode), CMD_FORMAT | CMD_OPEN | CMD_FILL, 0, NULL, "Ask no questions; the command line is the consent" },
	{ "wipe-signatures", 0, OPT_FLAG, F(wipe_signatures), CMD_FORMAT | CMD_FILL, 0, NULL, "Destroy the file systems or other signatures found on DEVICE" },
	{ "replace-luks", 0, OPT_FLAG, F(replace_luks), CMD_FORMAT | CMD_FILL, 0, NULL, "Destroy the LUKS volume found on DEVICE for good" },
	{ "old-header-backup", 0, OPT_STRING, F(old_header_backup), CMD_FORMAT, 0, "FILE", "Save the LUKS header found on DEVICE to FILE before replacing it" },
	{ "header", 0, OPT_STRING, F(header), KEYS | CMD_INITRAMFS, 0, "FILE", "Detached LUKS header" },
	{ "header-backup-file", 0, OPT_STRING, F(header_backup_file), CMD_FORMAT, 0, "FILE", "Save the new header to FILE (mode 0600) after success" },
	{ "label", 0, OPT_STRING, F(label), CMD_FORMAT, 0, "TEXT", "LUKS2 label" },
	{ "subsystem", 0, OPT_STRING, F(subsystem), CMD_FORMAT, 0, "TEXT", "LUKS2 subsystem" },
	{ "uuid", 0, OPT_STRING, F(uuid), CMD_FORMAT, 0, "UUID", "UUID of the new volume" },
	{ "fill", 0, OPT_WORD, F(fill), CMD_FORMAT, 0, NULL, "Fill DEVICE with random data first; --fill=ENGINE names the engine, --fill=none is the default" },
	{ "offset", 'o', OPT_NUMBER, F(offset), CMD_FORMAT | CMD_FILL, UINT64_MAX / 512, "SECTORS", "Start of the data, or of what is filled, in 512-byte sectors" },
	{ "hash", 'h', OPT_STRING, F(hash), CMD_FORMAT, 0, "NAME", "Hash of PBKDF2 and the anti-forensic splitter" },
	{ "pbkdf", 0, OPT_STRING, F(pbkdf), CMD_FORMAT, 0, "NAME", "argon2id, argon2i or pbkdf2" },
	{ "iter-time", 'i', OPT_POSITIVE, F(iter_time), CMD_FORMAT, UINT32_MAX, "MS", "Unlock time to aim at (2000)" },
	{ "pbkdf-memory", 0, OPT_POSITIVE, F(pbkdf_memory), CMD_FORMAT, UINT32_MAX, "KIB", "Most memory for Argon2, bounded by half of what is free" },
	{ "pbkdf-parallel", 0, OPT_POSITIVE, F(pbkdf_parallel), CMD_FORMAT, UINT32_MAX, "THREADS", "Threads for Argon2: at most 4, and not more than CPUs" },
	{ "pbkdf-force-iterations", 0, OPT_POSITIVE, F(pbkdf_force_iterations), CMD_FORMAT, UINT32_MAX, "NUMBER", "Fixed cost instead of a measured one" },
	{ "force-password", 0, OPT_FLAG, F(force_password), CMD_FORMAT, 0, NULL, "Accepted for compatibility; hwluks checks no quality" },

	{ "key-file", 'd', OPT_STRING, F(key_file), KEYS, 0, "FILE", "Read the passphrase from FILE, - is stdin (newline counts)" },
	{ "keyfile-offset", 0, OPT_SIZE, F(keyfile_offset), KEYS, 0, "BYTES", "Skip this much of the key file" },
	{ "keyfile-size", 'l', OPT_SIZE, F(keyfile_size), KEYS, 0, "BYTES", "Read only this much of the key file" },
	{ "key-slot", 'S', OPT_SIGNED, F(key_slot), CMD_OPEN | CMD_REFRESH, 31, "SLOT", "Try this key slot only" },
	{ "verify-passphrase", 'y', OPT_FLAG, F(verify_passphrase), CMD_FORMAT, 0, NULL, "Ask twice, also in batch mode" },
	{ "tries", 'T', OPT_NUMBER, F(tries), CMD_OPEN | CMD_REFRESH, 1000, "NUMBER", "Tries at the prompt (3)" },
	{ "timeout", 't', OPT_NUMBER, F(timeout), KEYS, UINT32_MAX, "SECONDS", "Limit of the prompt; 0 is none" },

	{ "readonly", 'r', OPT_FLAG, F(readonly), CMD_OPEN, 0, NULL, "Open read-only" },
	{ "test-passphrase", 0, OPT_FLAG, F(test_passphrase), CMD_OPEN, 0, NULL, "Check the passphrase, open nothing" },
	{ "require-accel", 0, OPT_FLAG, F(require_accel), CMD_OPEN, 0, NULL, "Open nothing (exit 11) when no hardware would do the data" },
	{ "no-verify", 0, OPT_FLAG, F(no_verify), CMD_OPEN | CMD_REFRESH | CMD_LOAD, 0, NULL, "Skip the known-answer test of an engine" },
	{ "allow-discards", 0, OPT_FLAG, F(allow_discards), CMD_OPEN | CMD_REFRESH, 0, NULL, "Pass discards (TRIM) on; reveals which blocks are in use" },
	{ "persistent", 0, OPT_FLAG, F(persistent), CMD_OPEN | CMD_REFRESH, 0, NULL, "Keep these flags in the LUKS2 header" },
	{ "perf-same_cpu_crypt", 0, OPT_FLAG, F(perf_same_cpu_crypt), CMD_OPEN | CMD_REFRESH, 0, NULL, "dm-crypt: encrypt on the CPU that asked" },
	{ "perf-submit_from_crypt_cpus", 0, OPT_FLAG, F(perf_submit_from_crypt_cpus), CMD_OPEN | CMD_REFRESH, 0, NULL, "dm-crypt: no extra thread to submit writes" },
	{ "perf-no_read_workqueue", 0, OPT_FLAG, F(perf_no_read_workqueue), CMD_OPEN | CMD_REFRESH, 0, NULL, "dm-crypt: decrypt without a workqueue" },
	{ "perf-no_write_workqueue", 0, OPT_FLAG, F(perf_no_write_workqueue), CMD_OPEN | CMD_REFRESH, 0, NULL, "dm-crypt: encrypt without a workqueue" },
	{ "perf-high_priority", 0, OPT_FLAG, F(perf_high_priority), CMD_OPEN | CMD_REFRESH, 0, NULL, "dm-crypt: high-priority workqueues (kernel 6.10)" },
	{ "token-id", 0, OPT_SIGNED, F(token_id), CMD_OPEN | CMD_REFRESH, 31, "ID", "Use this LUKS2 token" },
	{ "token-type", 0, OPT_STRING, F(token_type), CMD_OPEN | CMD_REFRESH, 0, "NAME", "Use LUKS2 tokens of this type only" },
	{ "token-only", 0, OPT_FLAG, F(token_only), CMD_OPEN | CMD_REFRESH, 0, NULL, "Do not ask for a passphrase when no token fits" },
	{ "disable-locks", 0, OPT_FLAG, F(disable_locks), CMD_OPEN | CMD_REFRESH, 0, NULL, "No LUKS2 metadata locks" },
	{ "disable-keyring", 0, OPT_FLAG, F(disable_keyring), CMD_OPEN | CMD_REFRESH, 0, NULL, "Volume key in the table, not in the kernel keyring" },

	{ "measure", 0, OPT_WORD, F(measure), CMD_DOCTOR, 0, NULL, "Measure, also where no terminal is; --measure=SECONDS bounds the time (30). Needs root" },
	{ "quick", 0, OPT_FLAG, F(quick), CMD_DOCTOR, 0, NULL, "Measure nothing" },

	{ "clear-flags", 0, OPT_FLAG, F(clear_flags), CMD_REFRESH, 0, NULL, "Leave no flag set" },

	{ "length", 0, OPT_POSITIVE, F(length), CMD_FILL, UINT64_MAX / 512, "SECTORS", "Fill only this many 512-byte sectors" },
	{ "engine", 0, OPT_STRING, F(engine), CMD_FILL, 0, "NAME", "aes, chacha, urandom, or auto: the fastest here (default)" },
	{ "rate-limit", 0, OPT_SIZE, F(rate_limit), CMD_FILL, 0, "BYTES", "Write at most this much per second" },
	{ "priority", 0, OPT_STRING, F(priority), CMD_FILL, 0, "NAME", "idle, normal, or auto: idle where the disk is shared (default)" },
	{ "verify", 0, OPT_FLAG, F(verify), CMD_FILL, 0, NULL, "Read everything back and compare it" },
	{ "resume", 0, OPT_FLAG, F(resume), CMD_FILL, 0, NULL, "Go on with the fill that was interrupted" },
	{ "restart", 0, OPT_FLAG, F(restart), CMD_FILL, 0, NULL, "Begin anew although a fill was interrupted" },
	{ "state", 0, OPT_STRING, F(state), CMD_FILL, 0, "FILE", "Keep the record for a resume in FILE, not on DEVICE" },
	{ "progress-json", 0, OPT_FLAG, F(progress_json), CMD_FILL, 0, NULL, "Print progress as one JSON object a line" },

	{ "deferred", 0, OPT_FLAG, F(deferred), CMD_CLOSE, 0, NULL, "Close when the last user is gone" },

	{ "all", 0, OPT_FLAG, F(all), CMD_LOAD, 0, NULL, "Also drivers that would outrank the CPU or are known to be slower" },
	{ "force", 0, OPT_FLAG, F(force), CMD_LOAD, 0, NULL, "Load over deny lists" },
	{ "wait", 0, OPT_NUMBER, F(wait), CMD_LOAD, 600, "SECONDS", "Longest wait for each driver (10)" },
	{ "boot", 0, OPT_FLAG, F(boot), CMD_LOAD, 0, NULL, "For boot scripts: one limit for all, never fail, heed hwluks=off" },

	{ "accelerator", 0, OPT_STRING, F(accelerator), CMD_INITRAMFS, 0, "ID", "Plan for this accelerator, here or not" },
	{ "kernel", 0, OPT_STRING, F(kernel), CMD_INITRAMFS, 0, "VERSION", "Plan for this installed kernel instead of the running one" },
	{ "crypttab", 0, OPT_STRING, F(crypttab), CMD_INITRAMFS, 0, "FILE", "Take the volumes from FILE instead of /etc/crypttab" },
	{ "root", 0, OPT_STRING, F(root), CMD_INITRAMFS, 0, "DIR", "Install, check or remove in the system below DIR" },
	{ "generator", 0, OPT_STRING, F(generator), CMD_INITRAMFS, 0, "NAME", "initramfs-tools, dracut or mkinitcpio, where several are installed" },
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
	{ "refresh", NULL, CMD_REFRESH, 1, 1, false, "NAME", "Bind an open volume to the best driver now, or change its flags",
	  "Gives the open mapping NAME a new table while it is in use: it binds to a driver that was loaded after it was opened. "
	  "Loads and tests drivers first, as open does; proves the key against the header, for a plain volume against the live "
	  "table. On any failure the old table stays. Flags named are those that hold afterwards; with none named the volume "
	  "keeps its own.",
	  cmd_refresh },
	{ "doctor", NULL, CMD_DOCTOR, 0, 1, true, "[NAME|DEVICE|MOUNTPOINT]", "Say why encryption is slow here, and what mends it",
	  "Without an argument: the machine and every open volume. With the name of an open volume, a device or a mount point: that "
	  "volume and everything below it. Each finding has its evidence, a remedy with its cost and hazards, and the gain with its "
	  "source. What could not be read is a finding of its own. On a terminal as root it says what it will read and for how long, and "
	  "measures: the disk against the volume, its cipher against what the remedies offer, key slots. Nothing is written or changed.\n"
	  "Exit code 12 when a warning or worse was found, else 0.",
	  cmd_doctor },
	{ "fill", NULL, CMD_FILL, 1, 1, false, "DEVICE", "Fill a device with random data",
	  "Overwrites all of DEVICE, or a range of it, with fresh random bytes that the fastest engine here makes, shows the time it "
	  "will take, and asks first. Interrupted by a signal, a crash or a power cut, it goes on with --resume. Blocks that cannot "
	  "be written are listed at the end (exit 14). --verify reads everything back.\n"
	  "Needed only where nobody may see which blocks of an encrypted volume are in use. It wears an SSD, takes up all the space "
	  "of a thinly provisioned device, and discards undo it.",
	  cmd_fill },
	{ "initramfs", NULL, CMD_INITRAMFS, 1, 2, true, "install|check|remove|modules|deny", "Put the accelerator's driver into the boot image",
	  "install puts the hooks where the builder of boot images looks (initramfs-tools, dracut, mkinitcpio), has it build the images, "
	  "and looks into them. check only looks, at the images of all installed kernels, of --kernel, or at the file given; exit code 15 "
	  "when something is missing. remove takes the hooks back and rebuilds.\n"
	  "modules prints, one a line and in load order, the modules with which an image can open the volumes of crypttab: drivers of the "
	  "accelerators that `load` would load or hwluks.conf names, dm-crypt, templates, and the software that serves the volumes when a "
	  "driver fails. A line that starts with # is for people. deny prints what keeps udev from loading engines' drivers there.\n"
	  "For another machine: --sysroot, or --accelerator with --kernel, --header and --crypttab.",
	  cmd_initramfs },
};
const size_t command_count = ARRAY_SIZE(command_table);
