/* SPDX-License-Identifier: GPL-2.0-or-later WITH cryptsetup-OpenSSL-exception */
/*
 * For: the AES block of an AMD Geode LX as a driver sees it: PCI configuration space, registers,
 *      AES-128 in ECB and CBC mode, counters, and faults on request.
 * Must not know: QEMU, sockets, files; guest memory is reached through one call-back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GEODE_BAR_SIZE    0x4000u
#define GEODE_CONFIG_SIZE 256u

/*
 * Vendor-free configuration space that the model uses for its own purposes; a guest reads it
 * through /sys/bus/pci/devices/.../config. All words are 32 bits, little endian, and wrap.
 */
enum geode_config_extra {
	GEODE_CONFIG_COUNTS = 0x80, /* (operations, bytes) of ecb-dec, ecb-enc, cbc-dec, cbc-enc */
	GEODE_CONFIG_ARM = 0xa0,    /* written non-zero: an armed fault starts to count from here */
	GEODE_CONFIG_FAULTS = 0xa4, /* how often the fault struck */
};

enum geode_fault_kind {
	GEODE_FAULT_NONE,
	GEODE_FAULT_DATA, /* one bit of the result is wrong */
	GEODE_FAULT_IV,   /* the IV read back after a CBC operation is wrong */
	GEODE_FAULT_HANG, /* the operation never ends: nothing done, done bit never set */
};

struct geode_fault {
	enum geode_fault_kind kind;
	uint64_t after;   /* strikes only after so many operations that it could have struck */
	uint32_t min_len; /* strikes only requests of at least so many bytes */
	bool armed;       /* sleeps until the guest writes GEODE_CONFIG_ARM */
};

/* What the engine did. An operation that hung is not counted: it moved no byte. */
struct geode_count {
	uint64_t ops, bytes;
};

/* Guest memory of len bytes at a physical address, or NULL where that is not (all) RAM. */
typedef uint8_t *geode_dma_fn(void *opaque, uint32_t addr, uint32_t len);

struct geode {
	uint8_t config[GEODE_CONFIG_SIZE];
	uint32_t regs[0x60 / 4];
	struct geode_fault fault;
	struct geode_count count[2][2]; /* [cbc][encrypt] */
	uint64_t could_fault;           /* operations that the fault was entitled to */
	uint64_t faults;                /* operations that it struck */
	uint64_t rejected;              /* requests no engine could serve: bad length or address */
	bool is_armed;
	geode_dma_fn *dma;
	void *opaque;
};

/* Power-on state. fault may be NULL. */
void geode_init(struct geode *g, const struct geode_fault *fault, geode_dma_fn *dma, void *opaque);

/* What a PCI reset clears. Counters and faults stay: they belong to the model. */
void geode_reset(struct geode *g);

uint32_t geode_config_read(struct geode *g, uint32_t offset, unsigned int width);
void geode_config_write(struct geode *g, uint32_t offset, uint32_t value, unsigned int width);

/* addr may be a bus address: the bits above the BAR's size are ignored. */
uint32_t geode_bar_read(const struct geode *g, uint64_t addr, unsigned int width);
void geode_bar_write(struct geode *g, uint64_t addr, uint32_t value, unsigned int width);

/*
 * "none", or "data", "iv" or "hang", followed by any of ",after=N", ",min=BYTES" and ",armed".
 * Returns 0 or -EINVAL.
 */
int geode_fault_parse(const char *text, struct geode_fault *fault);
