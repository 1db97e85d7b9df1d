/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual machine: RAM, devices, what its processor claims to be, vCPUs. */
#ifndef VMM_CORE_VM_H
#define VMM_CORE_VM_H

#include "x86/mem.h"
#include "dev/platform.h"
#include "engine/engine.h"
#include "pt/unit.h"
#include "trace/format.h"

struct vpt_vcpu;

/* Why a guest no longer runs. */
struct vpt_stop {
	enum vpt_stop_kind kind; /* with `error` where kind is WRITER, HOST or SNAPSHOT */
	uint32_t exit_status;
	int error;
	char text[192]; /* details for a message */
};

/* What the VM asks of whoever runs it. Any may be NULL. */
struct vpt_vm_hooks {
	void (*console)(void *opaque, char c);
	/* A byte for COM1, -1 if there is none now. */
	int (*input)(void *opaque);
	/* A few times a second; true ends the guest (INTERRUPTED). */
	bool (*tick)(void *opaque);
	/* vpt_vcpu.pause_at instructions have retired. Returns when to pause next. */
	uint64_t (*pause)(void *opaque);
	void *opaque;
};

struct vpt_vm_config {
	const struct vpt_engine *engine;
	const struct vpt_probe *probe;
	const struct vpt_caps *caps; /* of PT, if the processor has it, and of its clocks */
	enum vpt_trace_system system;
	enum vpt_owner owner;
	uint64_t mem_bytes;
	int64_t epoch; /* of the real-time clock, seconds since 1970; 0: some fixed day */
	struct vpt_vm_hooks hooks;
	/* What CPUID is made of; NULL: what the engine supports. */
	const struct vpt_cpuid_entry *cpuid;
	size_t cpuid_count;
	/* What the guest is told of PT and of clocks; NULL: `caps`. */
	const struct vpt_caps *guest_caps;
	/* Its vCPU gets VM entries and exits (hv.h). */
	bool vmx;
	/* Time is instructions: whoever steps counts them where the engine does not. */
	bool counted;
};

/* Most CPUID leaves that a table can hold. */
#define VPT_CPUID_ROOM 256

struct vpt_vm {
	const struct vpt_engine *engine;
	struct vpt_probe probe;
	struct vpt_engine_vm *machine;
	struct vpt_mem mem;
	struct vpt_caps caps, guest_caps;
	enum vpt_trace_system system;
	enum vpt_owner owner;
	struct vpt_vm_hooks hooks;
	bool counted, vmx;
	struct vpt_cpuid_entry cpuid[VPT_CPUID_ROOM];
	size_t cpuid_count;
	int64_t epoch;
	struct vpt_platform platform;
	struct vpt_vcpu *vcpu;
	struct vpt_stop stop;
};

/* 0 or -errno; on failure nothing is left to destroy. */
int vpt_vm_create(struct vpt_vm *vm, const struct vpt_vm_config *config);
void vpt_vm_destroy(struct vpt_vm *vm);

/* End the guest, unless it has ended already. */
void vpt_vm_stop(struct vpt_vm *vm, enum vpt_stop_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* cpuid.c: shape a host's table in place into that of the model. */
void vpt_cpuid_shape(struct vpt_cpuid_entry *entries, size_t *count, const struct vpt_caps *caps,
		     bool pt_present);
/* Then add what this VM's own devices give; `exact`: the engine counts, so that time
 * is theirs. */
void vpt_cpuid_platform(struct vpt_cpuid_entry *entries, size_t count, bool exact);
/* What the core does itself with engines that observe: MONITOR, and WAITPKG, as models
 * have them. */
void vpt_cpuid_waits(struct vpt_cpuid_entry *entries, size_t *count, const struct vpt_caps *caps);
/* And what the model has of the XSAVE feature set beyond the host's: `pt`, PT's component. */
void vpt_cpuid_xstate(struct vpt_cpuid_entry *entries, size_t *count, const struct vpt_caps *caps,
		      bool pt);
/* The entry for a leaf, NULL if there is none. */
const struct vpt_cpuid_entry *vpt_cpuid_find(const struct vpt_cpuid_entry *entries, size_t count,
					     uint32_t leaf, uint32_t subleaf);

/* bus.c: answer accesses of a vCPU. */
void vpt_bus_io(struct vpt_vcpu *vcpu, uint16_t port, uint8_t size, bool in, uint32_t count,
		void *data);
void vpt_bus_mmio(struct vpt_vcpu *vcpu, uint64_t gpa, uint32_t len, bool write, void *data);

#endif /* VMM_CORE_VM_H */
