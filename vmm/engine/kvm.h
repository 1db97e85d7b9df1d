/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The internals of the KVM engine, shared only by kvm*.c. */
#ifndef VMM_ENGINE_KVM_H
#define VMM_ENGINE_KVM_H

#include <errno.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

#include "engine/apic.h"
#include "engine/engine.h"
#include "x86/msr.h"

#define ENGINE_RFLAGS_TF (1ull << 8)
#define ENGINE_RFLAGS_RF (1ull << 16)
/* The target of SYSCALL on hosts that do not leave ring 3 for it. This address is never mapped. */
#define ENGINE_KVM_SYSCALL_TRAP 0xfffff7ffffffe000ull

#define ENGINE_KVM_SLOTS 8
/* The most pins of an I/O APIC. */
#define ENGINE_KVM_PINS 24u

struct engine_kvm_slot {
	uint64_t gpa, bytes;
	uint8_t *host;
};

struct engine_kvm_vm {
	struct engine_vm base;
	struct engine_probe probe;
	int dev, fd;
	size_t run_bytes;
	uint64_t moment; /* the host's TSC at vm_moment(), 0: each load() is of its own time */
	struct engine_kvm_slot slot[ENGINE_KVM_SLOTS];
	struct engine_kvm_replay *replay; /* NULL until the first fault needs it */
	struct engine_kvm_writes *writes; /* kvm_writes.c: NULL until the first log_writes() */
	struct engine_kvm_guard *guard;	  /* kvm_guard.c: NULL while there is none */
	int uffd;			  /* for the guard, or -1 */
	unsigned int vcpus;
	uint32_t slot_flags; /* KVM_MEM_LOG_DIRTY_PAGES or 0 */
	bool pt_owned;	     /* kvm_pt.c: the guest owns PT */
	unsigned int pins;   /* of the I/O APIC beside KVM's local APICs; 0: KVM has none */
	unsigned int traced; /* vCPUs with a buffer for their host's trace */
};

/* The number of MSRs that a triple fault resets on hosts that reset the vCPU. */
#define ENGINE_KVM_SAVED_MSRS 10

struct engine_kvm_msrs {
	struct kvm_msrs head;
	struct kvm_msr_entry entry[ENGINE_KVM_SAVED_MSRS];
};

/* Bits of engine_kvm_vcpu.state. */
enum engine_kvm_state {
	ENGINE_KVM_STEPPING = 1 << 0,	/* KVM_GUESTDBG_SINGLESTEP is on */
	ENGINE_KVM_IN_EXIT = 1 << 1,	/* an IO, MMIO or MSR exit is incomplete */
	ENGINE_KVM_IDT_HIDDEN = 1 << 2, /* the real IDTR is empty, see engine_kvm_hide_idt() */
	ENGINE_KVM_HAS_TIMER = 1 << 3,
	ENGINE_KVM_EXTINT = 1 << 4, /* KVM_INTERRUPT with `extint` is due */
};

struct engine_kvm_vcpu {
	struct engine_vcpu base;
	struct engine_kvm_vm *vm;
	int fd;
	struct kvm_run *run;

	uint32_t state;	   /* enum engine_kvm_state */
	uint64_t guest_tf; /* the guest's TF during a step */

	struct kvm_dtable idt; /* the guest's IDTR, with ENGINE_KVM_IDT_HIDDEN */
	uint64_t dr6;	       /* the guest's DR6, while stepping */
	uint64_t watch[4];
	unsigned int watches;
	uint64_t lstar; /* the guest's LSTAR, if engine_kvm_assists() */
	uint8_t extint;

	struct kvm_regs before; /* the state to restore after a triple fault */
	struct kvm_sregs sbefore;
	struct engine_kvm_msrs msrs;

	uint64_t tsc_offset; /* the first TSC offset */
	timer_t timer;
	pid_t timer_thread; /* which receives its signal */
	volatile sig_atomic_t kicked;
	/* The thread in KVM_RUN, which another one interrupts by a signal; 0: none. */
	volatile pthread_t inside;
	struct engine_kvm_pt_buffer *pt;    /* kvm_pt_buffer.c */
	struct engine_kvm_written *written; /* kvm_writes.c */
};

static inline struct engine_kvm_vm *engine_kvm_vm(struct engine_vm *vm)
{
	return (struct engine_kvm_vm *)vm;
}

static inline struct engine_kvm_vcpu *engine_kvm_vcpu(struct engine_vcpu *vcpu)
{
	return (struct engine_kvm_vcpu *)vcpu;
}

/* Returns true if the engine must emulate SYSCALL or INT n from ring 3 on this host. */
static inline bool engine_kvm_assists(const struct engine_kvm_vm *vm)
{
	return vm->probe.fault == ENGINE_FAULT_WAY_EVENT &&
	       (!vm->probe.syscall || !vm->probe.soft_int);
}

/* kvm_vm.c */
int engine_kvm_open(struct engine_probe *probe);
int engine_kvm_vm_create(const struct engine_probe *probe, struct engine_vm **vm);
void engine_kvm_vm_destroy(struct engine_vm *vm);
int engine_kvm_vm_map(struct engine_vm *vm, uint32_t slot, uint64_t gpa, void *host,
		      uint64_t bytes);
void engine_kvm_vm_moment(struct engine_vm *vm);
int engine_kvm_vm_forget(struct engine_vm *vm);
int engine_kvm_trap_msrs(struct engine_vm *vm, const struct engine_msr_range *ranges, size_t count);
int engine_kvm_supported_cpuid(struct engine_vm *vm, struct engine_cpuid_entry *entries,
			       size_t *count);

/* kvm_vcpu.c */
int engine_kvm_vcpu_create(struct engine_vm *vm, unsigned int index,
			   const struct engine_cpuid_entry *cpuid, size_t count,
			   struct engine_vcpu **vcpu);
void engine_kvm_vcpu_destroy(struct engine_vcpu *vcpu);
int engine_kvm_kick_after(struct engine_vcpu *vcpu, uint64_t ns);
void engine_kvm_interrupt(struct engine_vcpu *vcpu);

/* kvm_state.c */
int engine_kvm_get_sregs(struct engine_vcpu *vcpu, struct x86_sregs *sregs);
int engine_kvm_set_sregs(struct engine_vcpu *vcpu, const struct x86_sregs *sregs);
int engine_kvm_get_msr(struct engine_vcpu *vcpu, uint32_t index, uint64_t *value);
int engine_kvm_set_msr(struct engine_vcpu *vcpu, uint32_t index, uint64_t value);
int engine_kvm_get_dr(struct engine_vcpu *vcpu, unsigned int n, uint64_t *value);
int engine_kvm_set_dr(struct engine_vcpu *vcpu, unsigned int n, uint64_t value);
void engine_kvm_clock(struct engine_vcpu *vcpu, struct vpt_clock *now, uint64_t *tsc);
/*
 * Return the offset from the host's TSC to the guest's. It comes from KVM if available, or else is
 * measured.
 */
uint64_t engine_kvm_tsc_offset(struct engine_kvm_vcpu *v);
uint64_t engine_kvm_tsc_hz(struct engine_vcpu *vcpu, uint64_t *offset);
int engine_kvm_drop_events(struct engine_vcpu *vcpu);

/* kvm_save.c */
size_t engine_kvm_save(struct engine_vcpu *vcpu, void *to, size_t room);
int engine_kvm_load(struct engine_vcpu *vcpu, const void *from, size_t bytes);

/* kvm_apic.c */
extern const struct engine_apic engine_kvm_apic;
/* Returns the reason why this KVM cannot have the local APICs, or NULL. @dev is /dev/kvm. */
const char *engine_kvm_no_apic(const struct engine_probe *probe, int dev);
/* Set KVM's local APIC of a new vCPU, if there is one, as that of vmm/dev after a reset. */
int engine_kvm_first_apic(struct engine_kvm_vcpu *v);
/* Deliver the vector of extint(), if there is one. */
void engine_kvm_put_extint(struct engine_kvm_vcpu *v);

/* kvm_run.c */
int engine_kvm_enter(struct engine_kvm_vcpu *v);
/*
 * Enter the guest likewise, and ignore signals. A signal between the instruction and the delivery
 * of its trap would hide that the instruction ran. So this function repeats KVM_RUN.
 */
int engine_kvm_enter_fully(struct engine_kvm_vcpu *v);
void engine_kvm_run(struct engine_vcpu *vcpu, bool want_irq, struct engine_exit *exit);
void engine_kvm_complete(struct engine_vcpu *vcpu, struct engine_exit *exit);
/* Convert KVM's exit, except SHUTDOWN and DEBUG, which depend on the mode. */
void engine_kvm_translate(struct engine_kvm_vcpu *v, struct engine_exit *exit);
/* Make all exceptions of this vCPU end in a triple fault, or restore the IDT. */
void engine_kvm_hide_idt(struct engine_kvm_vcpu *v);
void engine_kvm_show_idt(struct engine_kvm_vcpu *v);
/* Convert an exception that ended in a triple fault because of the hidden IDT. */
void engine_kvm_classify_shutdown(struct engine_kvm_vcpu *v, struct engine_exit *exit);
/* Answer an exit for an MSR that the engine emulates. Returns false for other exits. */
bool engine_kvm_own_msr(struct engine_kvm_vcpu *v, struct engine_exit *exit);
void engine_kvm_fail(struct engine_exit *exit, int error, const char *text);

/* kvm_step.c */
void engine_kvm_step(struct engine_vcpu *vcpu, const struct engine_step_hint *hint,
		     struct engine_exit *exit);
int engine_kvm_step_end(struct engine_kvm_vcpu *v);
/* A step's exit is complete, and the instruction has raised an exception. Report it. */
void engine_kvm_step_fault(struct engine_kvm_vcpu *v, struct engine_exit *exit);
int engine_kvm_watch(struct engine_vcpu *vcpu, const uint64_t *ips, size_t count);
bool engine_kvm_watched(const struct engine_kvm_vcpu *v);

/* kvm_replay.c */
void engine_kvm_replay(struct engine_kvm_vcpu *v, struct engine_exit *exit);
void engine_kvm_replay_free(struct engine_kvm_vm *vm);

/* kvm_writes.c */
void engine_kvm_writes_free(struct engine_kvm_vm *vm);

/*
 * Probe all features, or only those that need no steps (kvm_probe.c). The problem is the first
 * missing feature of the latter, or NULL.
 */
void engine_kvm_probe(struct engine_probe *probe, bool with_costs);
void engine_kvm_probe_device(struct engine_probe *probe);
const char *engine_kvm_problem(const struct engine_probe *probe);

/* The operations that both KVM engines share (kvm.c, kvm_pt.c). */
#define ENGINE_KVM_OPERATIONS                                                                      \
	.vm_destroy = engine_kvm_vm_destroy, .vm_map = engine_kvm_vm_map,                          \
	.supported_cpuid = engine_kvm_supported_cpuid, .vcpu_create = engine_kvm_vcpu_create,      \
	.get_sregs = engine_kvm_get_sregs, .set_sregs = engine_kvm_set_sregs,                      \
	.get_msr = engine_kvm_get_msr, .set_msr = engine_kvm_set_msr, .get_dr = engine_kvm_get_dr, \
	.set_dr = engine_kvm_set_dr, .clock = engine_kvm_clock, .tsc_hz = engine_kvm_tsc_hz,       \
	.run = engine_kvm_run, .step = engine_kvm_step, .watch = engine_kvm_watch,                 \
	.complete = engine_kvm_complete, .kick_after = engine_kvm_kick_after,                      \
	.apic = &engine_kvm_apic, .interrupt = engine_kvm_interrupt,                               \
	.drop_events = engine_kvm_drop_events

#endif /* VMM_ENGINE_KVM_H */
