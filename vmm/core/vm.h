/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual machine: RAM, devices, what its processor claims to be, vCPUs. */
#ifndef VMM_CORE_VM_H
#define VMM_CORE_VM_H

#include "x86/mem.h"
#include "dev/platform.h"
#include "engine/engine.h"
#include "pt/unit.h"
#include "trace/format.h"

struct core_vcpu;

/* Why a guest no longer runs. */
struct core_stop {
	enum trace_stop_kind kind; /* with `error` where kind is WRITER, HOST or SNAPSHOT */
	uint32_t exit_status;
	int error;
	char text[192]; /* details for a message */
};

/* Callbacks to the user of the VM. Any may be NULL. */
struct core_vm_hooks {
	void (*console)(void *opaque, char c);
	/* A byte for COM1, -1 if there is none now. */
	int (*input)(void *opaque);
	/* A few times a second; true ends the guest (INTERRUPTED). */
	bool (*tick)(void *opaque);
	/* core_vcpu.pause_at instructions have retired. Returns when to pause next. */
	uint64_t (*pause)(void *opaque);
	void *opaque;
};

struct core_vm_config {
	const struct engine *engine;
	const struct engine_probe *probe;
	const struct vpt_caps *caps; /* of PT, if the processor has it, and of its clocks */
	enum tracer_trace_system system;
	enum trace_owner owner;
	uint64_t mem_bytes;
	int64_t epoch; /* of the real-time clock, seconds since 1970; 0: some fixed day */
	struct core_vm_hooks hooks;
	/* The base of the guest's CPUID; NULL: the leaves that the engine supports. */
	const struct engine_cpuid_entry *cpuid;
	size_t cpuid_count;
	/* The guest's capabilities of PT and clocks in CPUID; NULL: `caps`. */
	const struct vpt_caps *guest_caps;
	/* Its vCPU gets VM entries and exits (hv.h). */
	bool vmx;
	/* Time is instructions: whoever steps counts them where the engine does not. */
	bool counted;
};

/* Most CPUID leaves that a table can hold. */
#define CORE_CPUID_ROOM 256

struct core_vm {
	const struct engine *engine;
	struct engine_probe probe;
	struct engine_vm *machine;
	struct x86_mem mem;
	struct vpt_caps caps, guest_caps;
	enum tracer_trace_system system;
	enum trace_owner owner;
	struct core_vm_hooks hooks;
	bool counted, vmx;
	struct engine_cpuid_entry cpuid[CORE_CPUID_ROOM];
	size_t cpuid_count;
	int64_t epoch;
	struct dev_platform platform;
	struct core_vcpu *vcpu;
	struct core_stop stop;
};

/* 0 or -errno; on failure nothing is left to destroy. */
int core_vm_create(struct core_vm *vm, const struct core_vm_config *config);
void core_vm_destroy(struct core_vm *vm);

/* End the guest, unless it has ended already. */
void core_vm_stop(struct core_vm *vm, enum trace_stop_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* cpuid.c: shape a host's table in place into that of the model. */
void core_cpuid_shape(struct engine_cpuid_entry *entries, size_t *count,
		      const struct vpt_caps *caps, bool pt_present);
/* Then add what this VM's own devices give; `exact`: the engine counts, so that time
 * is theirs. */
void core_cpuid_platform(struct engine_cpuid_entry *entries, size_t count, bool exact);
/*
 * Add the features that the core emulates for an engine with ENGINE_NEAR: MONITOR and WAITPKG, if
 * the model has them.
 */
void core_cpuid_waits(struct engine_cpuid_entry *entries, size_t *count,
		      const struct vpt_caps *caps);
/* And what the model has of the XSAVE feature set beyond the host's: `pt`, PT's component. */
void core_cpuid_xstate(struct engine_cpuid_entry *entries, size_t *count,
		       const struct vpt_caps *caps, bool pt);
/* The entry for a leaf, NULL if there is none. */
const struct engine_cpuid_entry *core_cpuid_find(const struct engine_cpuid_entry *entries,
						 size_t count, uint32_t leaf, uint32_t subleaf);

/* bus.c: answer accesses of a vCPU. */
void core_bus_io(struct core_vcpu *vcpu, uint16_t port, uint8_t size, bool in, uint32_t count,
		 void *data);
void core_bus_mmio(struct core_vcpu *vcpu, uint64_t gpa, uint32_t len, bool write, void *data);

#endif /* VMM_CORE_VM_H */
