/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * Everything gathered about one machine, live or recorded: plain facts, no opinions.
 * sys/probe.c fills it, policy.c reads it; whatever could not be read is named in `unread`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/accel.h"
#include "core/cpuinfo.h"
#include "core/kver.h"
#include "core/proc_crypto.h"
#include "util/util.h"

/* One thing on a bus that a row of the accelerator table can match. */
struct device_fact {
	enum match_how how; /* MATCH_PCI, MATCH_DT, MATCH_VIRTIO, … */
	char id[96];	    /* same form as accel_match.what: "1022:2082", "arm,cryptocell-712-ree", "20" */
	char where[128];    /* "0000:00:01.2", "/soc/crypto@1c15000" */
	char driver[64];    /* driver bound to it, "" when none or not known */
};

enum module_state { MODULE_UNKNOWN, MODULE_MISSING, MODULE_PRESENT, MODULE_BUILTIN, MODULE_LOADED };
struct module_fact {
	char name[64]; /* as in accel.modules; '-' and '_' are equal */
	enum module_state state;
	bool denied;	     /* by modprobe.d or the kernel command line */
	bool denied_hard;    /* even loading by name is stopped (install … /bin/false, module_blacklist=) */
	char denied_by[192]; /* "/etc/modprobe.d/geode.conf: blacklist geode_aes", "kernel command line: module_blacklist=…" */
};

/* A way for user space to reach kernel or engine crypto. */
struct gateway {
	const char *id; /* "af_alg", "dev-crypto", "openssl-engine", "openssl-provider" */
	char name[96];	/* "AF_ALG skcipher", "/dev/crypto", "engine padlock" */
	char state[64]; /* "loaded", "module present", "not in this kernel", "present", "unknown" */
};

struct rng_facts {
	bool known;
	char available[256]; /* space-separated names as the kernel lists them; "" when none */
	char current[64];    /* "" when none */
	int quality;	     /* 0..1024, per mille of 1024; -1 = not known */
};

struct machine {
	bool recorded; /* --sysroot: not this machine */
	bool elsewhere; /* a volume is made here to be opened elsewhere: what this kernel's configuration lacks does not count */
	bool other_kernel; /* release and mod are of a kernel that does not run now */
	char release[96];
	kver kernel; /* 0 = not known */
	enum arch arch;
	struct cpuinfo cpu;
	struct device_fact *dev;
	size_t n_dev;
	struct alg_list algs;
	bool algs_known;  /* /proc/crypto was read */
	bool flags_known; /* NETLINK_CRYPTO answered: alg.flags are filled */
	struct module_fact *mod;
	size_t n_mod;
	char *kconfig; /* text of the kernel's configuration, NULL when not readable */
	size_t kconfig_len;
	bool selftests_off; /* cryptomgr.notests, or CRYPTO_MANAGER_DISABLE_TESTS=y */
	struct rng_facts rng;
	struct gateway *gw;
	size_t n_gw;
	uint64_t mem_total, mem_available; /* bytes; 0 = not known */
	unsigned int cpus;
	struct strv unread; /* "/proc/crypto: Permission denied" */
};

const struct module_fact *machine_module(const struct machine *m, const char *name);
const struct device_fact *machine_device(const struct machine *m, const struct accel_match *match);
void machine_free(struct machine *m);
