/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual machine: RAM, devices, the model of its processor, and its vCPU. */
#ifndef VMM_CORE_VM_H
#define VMM_CORE_VM_H

#include "x86/mem.h"
#include "core/apic.h"
#include "core/virtio.h"
#include "dev/platform.h"
#include "engine/engine.h"
#include "pt/unit.h"
#include "trace/format.h"

struct core_vcpu;
struct core_threads;

enum core_stop_flags {
	CORE_STOP_RESET = 1 << 0, /* by a reset port */
};

/* The reason why the guest has stopped. */
struct core_stop {
	enum trace_stop_kind kind; /* `error` is valid for WRITER, HOST and SNAPSHOT */
	uint32_t exit_status;
	uint32_t flags; /* enum core_stop_flags */
	int error;
	char text[192]; /* details for a message */
};

/* The state of the input from outside. */
enum core_input_ready {
	CORE_INPUT_LATER, /* there is none now */
	CORE_INPUT_READY,
	CORE_INPUT_ENDED, /* there will be none */
};

/* Callbacks to the owner of the VM. Each may be NULL. */
struct core_vm_hooks {
	void (*console)(void *opaque, char c);
	/*
	 * For live input: wait up to @ns for input. If @wants is clear, input does not end
	 * the wait.
	 */
	enum core_input_ready (*input_wait)(void *opaque, uint64_t ns, bool wants);
	/* Take at most @most bytes, after input_wait() has returned CORE_INPUT_READY. */
	size_t (*input)(void *opaque, uint8_t *bytes, size_t most);
	/*
	 * For core_input_host(): all input that was there has been taken, or the guest does not want
	 * it yet. Call core_input_notify() when there is more.
	 */
	void (*watch)(void *opaque);
	/*
	 * Copy the next frame of the network for the guest, at most @room bytes, and remove it.
	 * Returns its size, or 0 if there is none. With @bytes NULL the frame stays.
	 */
	size_t (*frame)(void *opaque, uint8_t *bytes, size_t room);
	/* Send a frame of the guest. A replay does not call this. */
	void (*transmit)(void *opaque, const uint8_t *bytes, size_t count);
	/*
	 * Copy the monitor's command that is due, at most @room bytes. Returns its size, or 0 if
	 * there is none. With @bytes NULL the command stays.
	 */
	size_t (*command)(void *opaque, uint8_t *bytes, size_t room);
	/*
	 * Execute a command of the monitor, or of a recording, between two instructions of each
	 * vCPU. Returns false if it is none.
	 */
	bool (*obey)(void *opaque, const uint8_t *bytes, size_t len);
	/*
	 * Make the reply to a request of the shared folder. Returns its size, at most @room. A
	 * replay does not call this.
	 */
	size_t (*share)(void *opaque, const uint8_t *request, size_t bytes, uint8_t *reply,
			size_t room);
	/* Access a disk by its number. Returns 0 or -errno. */
	int (*disk)(void *opaque, unsigned int number, enum virtio_disk_access access,
		    uint64_t offset, void *data, size_t bytes);
	/* Called several times a second. Returns true to end the guest (INTERRUPTED). */
	bool (*tick)(void *opaque);
	/*
	 * Called when the guest has retired core_vm.pause_at instructions. Returns the next such
	 * number.
	 */
	uint64_t (*pause)(void *opaque);
	/* The guest has made a mark (abi/boot.h). */
	void (*marked)(void *opaque, const char *text, size_t len);
	/*
	 * Execution has reached an instruction of core_vcpu_watch(). Returns true if the loop must
	 * look at the machine again before the instruction, and false to execute it.
	 */
	bool (*reached)(void *opaque, uint64_t ip);
	/*
	 * An instruction of this vCPU, or the delivery of an event, has made an access that
	 * core_vcpu_watch_data() watches. Called before the next one.
	 */
	void (*touched)(void *opaque, struct core_vcpu *v);
	/* Called between two instructions of each vCPU, after core_vm_ask(). */
	void (*asked)(void *opaque);
	/* The time of core_vm_alarm() has come. Called while the devices advance. */
	void (*alarm)(void *opaque);
	/* Called between two instructions of one vCPU, on its thread, after core_vcpu_ask(). */
	void (*asked_vcpu)(void *opaque, struct core_vcpu *v);
	/*
	 * Called between two instructions of a vCPU that has retired core_vcpu.visit_at. Returns
	 * the next such number of this vCPU. The engine must have ENGINE_REPORTS.
	 */
	uint64_t (*visit)(void *opaque, struct core_vcpu *v);
	void *opaque;
};

/* A machine that changes its engine (switch.h). */
struct core_vm_switch {
	/* The engine while nothing is traced, and the one while a trace is on; NULL: no changes. */
	const struct engine *free, *traced;
	/* The engine that does not run the guest now, and its machine and vCPUs. */
	const struct engine *other;
	struct engine_vm *machine;
	struct engine_vcpu *ev[DEV_PLATFORM_CPUS];
	/* the count of retired instructions of all vCPUs when a trace was last on */
	uint64_t traced_at;
	uint64_t count;	       /* the number of changes */
	struct core_vcpu *due; /* several vCPUs stop for a change, because of this one; or NULL */
};

/* The first difference that core_cpuid_gives() finds. */
struct core_cpuid_gap {
	bool found; /* the other members are valid */
	uint32_t leaf, subleaf;
	const char *reg;     /* "EAX" to "EDX"; NULL: the leaf is missing */
	uint32_t is, wanted; /* the register of the engine, and that of the snapshot */
};

struct core_vm_config {
	const struct engine *engine;
	/*
	 * The engine while a trace is on, or NULL if `engine` never changes. Both must have save()
	 * and load(), and `engine` must not have ENGINE_BUS.
	 */
	const struct engine *traced;
	const struct engine_probe *probe;
	/*
	 * Another engine that may resume a snapshot of this VM, with its probe, or NULL. CPUID has
	 * what both engines have.
	 */
	const struct engine *also;
	const struct engine_probe *also_probe;
	/*
	 * The complete CPUID of a snapshot, or NULL. If the machine cannot have this table,
	 * core_vm_create() sets *gap and returns -ENOTSUP.
	 */
	const struct engine_cpuid_entry *saved;
	size_t saved_count;
	struct core_cpuid_gap *gap;
	/* capabilities of PT if the processor has PT, and its clocks */
	const struct vpt_caps *caps;
	enum tracer_trace_system system;
	enum trace_owner owner;
	uint64_t mem_bytes;
	/*
	 * The number of vCPUs, up to DEV_PLATFORM_CPUS; 0 is 1. More than 1 need ENGINE_BUS, or
	 * that the core steps no instruction of a trace (threads.h).
	 */
	unsigned int cpus;
	int64_t epoch; /* start of the real-time clock, seconds since 1970; 0: a fixed day */
	struct core_vm_hooks hooks;
	/* The basis of the guest's CPUID. NULL: the leaves that the engine supports. */
	const struct engine_cpuid_entry *cpuid;
	size_t cpuid_count;
	/* The capabilities of PT and the clocks in the guest's CPUID. NULL: the same as `caps`. */
	const struct vpt_caps *guest_caps;
	/*
	 * The host executes the local APICs. The engine must have them, and nothing may be traced.
	 */
	bool host_apic;
	/* The vCPU has traced VM entries and exits (hv.h). */
	bool vmx;
	/*
	 * Time is the count of instructions. If the engine does not count, the caller of step()
	 * does.
	 */
	bool counted;
};

/* The most CPUID leaves that a table can have. */
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
	bool common; /* CPUID has the features that two engines have */
	struct core_vm_switch change;
	struct engine_cpuid_entry cpuid[CORE_CPUID_ROOM];
	size_t cpuid_count;
	int64_t epoch;
	struct dev_platform platform;
	struct core_apic apic;
	struct core_virtio virtio;
	struct core_vcpu *vcpu; /* the bootstrap processor, cpu[0] */
	struct core_vcpu *cpu[DEV_PLATFORM_CPUS];
	unsigned int cpus;	      /* the number of vCPUs */
	struct core_vcpu *current;    /* the vCPU that runs, or ran last */
	struct core_threads *threads; /* NULL: one thread runs all vCPUs */
	uint64_t pause_at;	      /* for core_vcpu_pause() */
	bool asked;		      /* core_vm_hooks.asked is due */
	uint64_t alarm;		      /* for core_vm_alarm(), 0: none */
	struct core_stop stop;
};

/* Create a VM. Returns 0 or -errno; after an error nothing is left to destroy. */
int core_vm_create(struct core_vm *vm, const struct core_vm_config *config);
void core_vm_destroy(struct core_vm *vm);

/* Report to an engine with vm_wrote() that all of RAM may have changed. */
void core_vm_wrote_all(struct core_vm *vm);

/* Returns the number of instructions that all vCPUs have retired. */
uint64_t core_vm_retired(const struct core_vm *vm);
/* Returns how many of them engine_vcpu.interpreted has. */
uint64_t core_vm_interpreted(const struct core_vm *vm);

/* Let core_vm_hooks.asked be called before the next instruction. */
void core_vm_ask(struct core_vm *vm);
/*
 * Let core_vm_hooks.alarm be called once, when the devices' time is @ns. A time in the past is now, and
 * 0 takes the alarm back.
 */
void core_vm_alarm(struct core_vm *vm, uint64_t ns);
/* Let core_vm_hooks.pause be called at this count of retired instructions, or earlier. */
void core_vm_pause(struct core_vm *vm, uint64_t retired);

/* Stop the guest for this reason, unless it has already stopped. */
void core_vm_stop(struct core_vm *vm, enum trace_stop_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reduce a table to what another one has, too. */
void core_cpuid_common(struct engine_cpuid_entry *a, size_t *a_count,
		       const struct engine_cpuid_entry *b, size_t b_count);
/*
 * Returns true if a machine whose complete table is `mine` can have the table `theirs`, which may
 * have fewer features. Else sets *gap.
 */
bool core_cpuid_gives(const struct engine_cpuid_entry *mine, size_t count,
		      const struct engine_cpuid_entry *theirs, size_t theirs_count,
		      struct core_cpuid_gap *gap);
/* Convert a host's table to that of the model, in place (cpuid.c). */
void core_cpuid_shape(struct engine_cpuid_entry *entries, size_t *count,
		      const struct vpt_caps *caps, bool pt_present);
/*
 * Add the features of this VM's devices. @exact: the engine has ENGINE_BUS, so x2APIC and the TSC
 * deadline exist, too.
 */
void core_cpuid_platform(struct engine_cpuid_entry *entries, size_t count, bool exact);
/*
 * Add the features that the core emulates for an engine with ENGINE_NEAR: MONITOR and WAITPKG, if
 * the model has them.
 */
void core_cpuid_waits(struct engine_cpuid_entry *entries, size_t *count,
		      const struct vpt_caps *caps);
/* Add the features that the software CPU has for these models on every host (cpuid_model.c). */
void core_cpuid_features(struct engine_cpuid_entry *entries, size_t count,
			 const struct vpt_caps *caps);
/*
 * Remove the parts of the XSAVE feature set that the model lacks. PT's component stays if @pt is
 * true and the model has it.
 */
void core_cpuid_xstate(struct engine_cpuid_entry *entries, size_t *count,
		       const struct vpt_caps *caps, bool pt);
/* Returns the entry of a leaf, or NULL if there is none. */
const struct engine_cpuid_entry *core_cpuid_find(const struct engine_cpuid_entry *entries,
						 size_t count, uint32_t leaf, uint32_t subleaf);

/* Answer a vCPU's accesses to ports, and to memory that is not RAM (bus.c). */
void core_bus_io(struct core_vcpu *vcpu, uint16_t port, uint8_t size, bool in, uint32_t count,
		 void *data);
void core_bus_mmio(struct core_vcpu *vcpu, uint64_t gpa, uint32_t len, bool write, void *data);

#endif /* VMM_CORE_VM_H */
