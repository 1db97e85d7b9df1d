/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices of a PC without buses: local APICs, I/O APIC, two 8259s, 8254, real-time clock, COM1,
 * ACPI's fixed hardware, and the reset ports. Interrupt lines are those of the ISA bus. As on most
 * boards, line 0 is pin 2 of the I/O APIC, and the 8259s are at its pin 0.
 *
 * The caller sets the time. All effects follow from the calls and the results of the callbacks, so
 * the same calls create the same machine.
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
#include "dev/pm.h"
#include "dev/rtc.h"
#include "dev/serial.h"

enum dev_reset {
	DEV_RESET_SYSTEM, /* ports 64H, 92H and CF9H */
	DEV_RESET_INIT,	  /* an INIT that reached the processor */
	DEV_RESET_OFF,	  /* the guest has powered the machine off (pm.h) */
};

/* Callbacks from the devices to the machine. Any may be NULL. */
struct dev_platform_host {
	void (*serial_out)(void *opaque, uint8_t byte);
	void (*reset)(void *opaque, enum dev_reset kind);
	/*
	 * Return the first time at which the processor's TSC is at least `tsc`. NULL if the local APIC has no
	 * TSC deadline mode.
	 */
	uint64_t (*tsc_time)(void *opaque, unsigned int cpu, uint64_t tsc);
	/*
	 * Send a message to local APICs outside of the platform. Returns true if one accepted it. NULL if
	 * the platform's local APICs are in use.
	 */
	bool (*send)(void *opaque, const struct dev_apic_message *message);
	/* The guest has written to the I/O APIC. Its messages may have changed. */
	void (*redirected)(void *opaque);
	void *opaque;
};

/* The largest number of processors. */
#define DEV_PLATFORM_CPUS 64u

struct dev_platform_config {
	uint64_t mem_bytes; /* the size of RAM for the CMOS */
	int64_t epoch;	    /* seconds since 1970 at time 0 */
	uint64_t apic_hz;   /* the frequency of the local APIC's timer: the crystal clock */
	uint8_t max_phy_addr;
	bool x2apic;
	unsigned int cpus; /* the number of processors, 1 to DEV_PLATFORM_CPUS */
	struct dev_platform_host host;
};

/*
 * The complete state. The callbacks are its only pointers. `cpu` in the functions below is the
 * number of a processor, whose local APIC has the same id.
 */
struct dev_platform {
	uint64_t now; /* the current time in ns, of the processor that is furthest */
	struct dev_ioapic ioapic;
	struct dev_pic pic;
	struct dev_pit pit;
	struct dev_rtc rtc;
	struct dev_serial serial;
	struct dev_pm pm;
	uint8_t port92, cf9;
	uint8_t sent; /* an IPI was sent since the last dev_platform_take_sent() */
	uint8_t spare;
	uint32_t cpus;
	struct dev_lapic lapic[DEV_PLATFORM_CPUS]; /* those of `cpus` are valid */
	struct dev_platform_host host;
};

void dev_platform_init(struct dev_platform *p, const struct dev_platform_config *config);
/*
 * Set the devices as firmware leaves them: the local APIC is on, the 8259s are connected to LINT0,
 * and NMI to LINT1.
 */
void dev_platform_virtual_wire(struct dev_platform *p);

/*
 * Advance the time of a processor's local APIC, and of the devices that all processors share.
 * Handle all events that are due. Earlier times are ignored.
 */
void dev_platform_advance(struct dev_platform *p, unsigned int cpu, uint64_t now);
/* Advance the local APIC only. */
void dev_platform_advance_local(struct dev_platform *p, unsigned int cpu, uint64_t now);
/* Advance the shared devices only. */
void dev_platform_advance_shared(struct dev_platform *p, uint64_t now);
/*
 * Return the time of the next event of the processor's local APIC or of a shared device, or
 * DEV_NEVER if there is none.
 */
uint64_t dev_platform_next(const struct dev_platform *p, unsigned int cpu);
/* The same for shared devices only. */
uint64_t dev_platform_next_shared(const struct dev_platform *p);
/* Returns the number of bytes that COM1 can receive now, 0 if the guest expects none. */
unsigned int dev_platform_wants(const struct dev_platform *p);
/* Receive bytes on COM1. Bytes beyond the room of its FIFO are lost, as on a line. */
void dev_platform_receive(struct dev_platform *p, const uint8_t *bytes, size_t count);
/* Recompute the time of the TSC deadline after a write to the TSC. */
void dev_platform_tsc_moved(struct dev_platform *p, unsigned int cpu);

/* Access a device at the time of the last advance. Returns false if no device responds. */
bool dev_platform_io(struct dev_platform *p, uint16_t port, uint8_t size, bool in, uint32_t *value);
bool dev_platform_mmio(struct dev_platform *p, unsigned int cpu, uint64_t gpa, uint32_t len,
		       bool write, void *data);
enum dev_platform_msr {
	DEV_PLATFORM_DONE,
	DEV_PLATFORM_GP,
	DEV_PLATFORM_OTHER, /* the devices have no such MSR */
};
enum dev_platform_msr dev_platform_rdmsr(struct dev_platform *p, unsigned int cpu, uint32_t msr,
					 uint64_t *value);
enum dev_platform_msr dev_platform_wrmsr(struct dev_platform *p, unsigned int cpu, uint32_t msr,
					 uint64_t value);
uint8_t dev_platform_cr8(const struct dev_platform *p, unsigned int cpu);
void dev_platform_set_cr8(struct dev_platform *p, unsigned int cpu, uint8_t value);

/* Returns true if the processor would accept an interrupt with RFLAGS.IF set. */
bool dev_platform_pending(const struct dev_platform *p, unsigned int cpu);
/* Acknowledge the pending interrupt and return its vector. Call this only if one is pending. */
uint8_t dev_platform_ack(struct dev_platform *p, unsigned int cpu);
bool dev_platform_nmi(const struct dev_platform *p, unsigned int cpu);
void dev_platform_ack_nmi(struct dev_platform *p, unsigned int cpu);
/* Deliver a performance monitoring interrupt through LVTPC. */
void dev_platform_pmi(struct dev_platform *p, unsigned int cpu);
/*
 * Deliver a message of a device or a processor to all its destinations, or to one of them if its
 * mode is LOWEST. Returns false if no processor accepted the message. Call dev_platform_update()
 * afterwards.
 */
bool dev_platform_message(struct dev_platform *p, const struct dev_apic_message *message);
/* Handle the end of a level-triggered interrupt at a local APIC outside of the platform. */
void dev_platform_eoi(struct dev_platform *p, uint8_t vector);
/*
 * Take a pending INIT or start-up IPI of a processor other than the first. Returns false if there is
 * none.
 */
bool dev_platform_take_init(struct dev_platform *p, unsigned int cpu);
bool dev_platform_take_startup(struct dev_platform *p, unsigned int cpu, uint8_t *vector);
/* Returns true if an IPI was sent since the last call. */
bool dev_platform_take_sent(struct dev_platform *p);
/* Returns true if an INIT or a start-up IPI is pending. */
bool dev_platform_has_init(const struct dev_platform *p, unsigned int cpu);
bool dev_platform_has_startup(const struct dev_platform *p, unsigned int cpu);
/* Set an ISA line by number, for devices that are not part of the platform. */
void dev_platform_line(struct dev_platform *p, unsigned int line, bool level);

/* Return the number of bytes that dev_platform_save() writes. */
size_t dev_platform_saved_bytes(const struct dev_platform *p);
/* Save the state. Returns false if `room` is too small. */
bool dev_platform_save(const struct dev_platform *p, void *to, size_t room);
/*
 * Load a saved state. Returns false, without changes, if the bytes are not from this version's
 * dev_platform_save() of as many processors. The callbacks stay. The time continues from `now` of the loaded state.
 */
bool dev_platform_load(struct dev_platform *p, const void *from, size_t bytes);

#endif /* VMM_DEV_PLATFORM_H */
