/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices of a PC without buses: local APIC, I/O APIC, two 8259s, 8254, real-time
 * clock, COM1, and the ports that reset. Interrupt lines are those of the ISA bus;
 * line 0 is pin 2 of the I/O APIC, whose pin 0 the 8259s are at, as on most boards.
 *
 * Time is what the caller says. Everything that happens follows from the calls and
 * what the callbacks return, so that the same calls make the same machine.
 */
#ifndef VMM_DEV_PLATFORM_H
#define VMM_DEV_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/ioapic.h"
#include "dev/lapic.h"
#include "dev/pic.h"
#include "dev/pit.h"
#include "dev/rtc.h"
#include "dev/serial.h"

enum dev_reset {
	DEV_RESET_SYSTEM, /* ports 64H, 92H and CF9H */
	DEV_RESET_INIT,	  /* an INIT that reached the processor */
};

/* Callbacks from the devices to the machine. Any may be NULL. */
struct dev_platform_host {
	void (*serial_out)(void *opaque, uint8_t byte);
	/* A byte for COM1, -1 if there is none now. */
	int (*serial_in)(void *opaque);
	void (*reset)(void *opaque, enum dev_reset kind);
	/* The first time at which the TSC is `tsc` or later; NULL: the local APIC has
	 * no TSC deadline mode. */
	uint64_t (*tsc_time)(void *opaque, uint64_t tsc);
	void *opaque;
};

struct dev_platform_config {
	uint64_t mem_bytes; /* for the CMOS; RAM is [0, mem_bytes) */
	int64_t epoch;	    /* seconds since 1970 at time 0 */
	uint64_t apic_hz;   /* of the local APIC's timer: the crystal clock */
	uint8_t max_phy_addr;
	bool x2apic;
	struct dev_platform_host host;
};

/* All state, without pointers but for the callbacks. */
struct dev_platform {
	uint64_t now; /* ns */
	struct dev_lapic lapic;
	struct dev_ioapic ioapic;
	struct dev_pic pic;
	struct dev_pit pit;
	struct dev_rtc rtc;
	struct dev_serial serial;
	uint8_t port92, cf9;
	uint8_t spare[6];
	struct dev_platform_host host;
};

void dev_platform_init(struct dev_platform *p, const struct dev_platform_config *config);
/*
 * Set the devices as firmware leaves them: the local APIC is on, the 8259s are connected to LINT0,
 * and NMI to LINT1.
 */
void dev_platform_virtual_wire(struct dev_platform *p);

/* It is now this late; all that was due has happened. Earlier times are ignored. */
void dev_platform_advance(struct dev_platform *p, uint64_t now);
/* When something will happen next by itself, DEV_NEVER if nothing will. */
uint64_t dev_platform_next(const struct dev_platform *p);
/* Take what input there is; input can also come when a guest looks for it. */
void dev_platform_poll(struct dev_platform *p);
/* Could input make an interrupt? */
bool dev_platform_listens(const struct dev_platform *p);
/* The TSC was set: when it gets to its deadline is to be asked anew. */
void dev_platform_tsc_moved(struct dev_platform *p);

/* Accesses, at the time of the last advance. False: nobody is there. */
bool dev_platform_io(struct dev_platform *p, uint16_t port, uint8_t size, bool in, uint32_t *value);
bool dev_platform_mmio(struct dev_platform *p, uint64_t gpa, uint32_t len, bool write, void *data);
enum dev_platform_msr {
	DEV_PLATFORM_DONE,
	DEV_PLATFORM_GP,
	DEV_PLATFORM_OTHER, /* no MSR of these devices */
};
enum dev_platform_msr dev_platform_rdmsr(struct dev_platform *p, uint32_t msr, uint64_t *value);
enum dev_platform_msr dev_platform_wrmsr(struct dev_platform *p, uint32_t msr, uint64_t value);
uint8_t dev_platform_cr8(const struct dev_platform *p);
void dev_platform_set_cr8(struct dev_platform *p, uint8_t value);

/* Is there an interrupt that the processor takes if RFLAGS.IF is set? */
bool dev_platform_pending(const struct dev_platform *p);
/* It takes it: the vector. Only if one is pending. */
uint8_t dev_platform_ack(struct dev_platform *p);
bool dev_platform_nmi(const struct dev_platform *p);
void dev_platform_ack_nmi(struct dev_platform *p);
/* A performance monitoring interrupt, through LVTPC. */
void dev_platform_pmi(struct dev_platform *p);
/* An ISA line, by number; for devices that are not part of this. */
void dev_platform_line(struct dev_platform *p, unsigned int line, bool level);

/* Bytes that dev_platform_save() writes. */
size_t dev_platform_saved_bytes(void);
/* False: `room` is too small. */
bool dev_platform_save(const struct dev_platform *p, void *to, size_t room);
/* False: not what was saved by this version; nothing changed. The callbacks stay. Its
 * time goes on from `now` of what was loaded. */
bool dev_platform_load(struct dev_platform *p, const void *from, size_t bytes);

#endif /* VMM_DEV_PLATFORM_H */
