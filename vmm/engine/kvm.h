/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the KVM engine: shared by kvm*.c and nothing else. */
#ifndef VMM_ENGINE_KVM_H
#define VMM_ENGINE_KVM_H

#include <errno.h>
#include <linux/kvm.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

#include "engine/engine.h"
#include "x86/msr.h"

#define VPT_RFLAGS_TF	       (1ull << 8)
#define VPT_RFLAGS_RF	       (1ull << 16)
#define VPT_KVM_MSRS_PER_RANGE 512u
/* Where SYSCALL leads on hosts that do not leave ring 3 for it: nowhere. */
#define VPT_KVM_SYSCALL_TRAP 0xfffff7ffffffe000ull

#define VPT_KVM_SLOTS 8

struct vpt_kvm_slot {
	uint64_t gpa, bytes;
	uint8_t *host;
};

struct vpt_kvm_vm {
	struct vpt_engine_vm base;
	struct vpt_probe probe;
	int dev, fd;
	size_t run_bytes;
	struct vpt_kvm_slot slot[VPT_KVM_SLOTS];
	struct vpt_kvm_replay *replay; /* NULL until the first fault needs it */
	bool pt_owned;		       /* kvm_pt.c: by the guest */
};

/* MSRs that a triple fault resets on hosts that reset the vCPU then. */
#define VPT_KVM_SAVED_MSRS 10

struct vpt_kvm_msrs {
	struct kvm_msrs head;
	struct kvm_msr_entry entry[VPT_KVM_SAVED_MSRS];
};

struct vpt_kvm_vcpu {
	struct vpt_engine_vcpu base;
	struct vpt_kvm_vm *vm;
	int fd;
	struct kvm_run *run;

	bool stepping;	   /* KVM_GUESTDBG_SINGLESTEP is on */
	bool in_exit;	   /* an IO, MMIO or MSR exit is not complete */
	uint64_t guest_tf; /* TF as the guest has it, during a step */

	/* The guest's IDTR while the real one is empty, see hide_idt(). */
	bool idt_hidden;
	struct kvm_dtable idt;
	uint64_t dr6; /* likewise, while stepping */
	uint64_t watch[4];
	unsigned int watches;
	uint64_t lstar; /* likewise, on hosts that cannot do SYSCALL */

	struct kvm_regs before; /* state to go back to after a triple fault */
	struct kvm_sregs sbefore;
	struct vpt_kvm_msrs msrs;

	uint64_t tsc_offset; /* of the first TSC */
	bool has_timer;
	timer_t timer;
	volatile sig_atomic_t kicked;
	struct vpt_kvm_pt_buffer *pt; /* kvm_pt_buffer.c */
};

static inline struct vpt_kvm_vm *vpt_kvm_vm(struct vpt_engine_vm *vm)
{
	return (struct vpt_kvm_vm *)vm;
}

static inline struct vpt_kvm_vcpu *vpt_kvm_vcpu(struct vpt_engine_vcpu *vcpu)
{
	return (struct vpt_kvm_vcpu *)vcpu;
}

/* Does this host need SYSCALL and INT n from ring 3 done for it? */
static inline bool vpt_kvm_assists(const struct vpt_kvm_vm *vm)
{
	return vm->probe.fault == VPT_FAULT_WAY_EVENT &&
	       (!vm->probe.syscall || !vm->probe.soft_int);
}

/* kvm_vm.c */
int vpt_kvm_open(struct vpt_probe *probe);
int vpt_kvm_vm_create(const struct vpt_probe *probe, struct vpt_engine_vm **vm);
void vpt_kvm_vm_destroy(struct vpt_engine_vm *vm);
int vpt_kvm_vm_map(struct vpt_engine_vm *vm, uint32_t slot, uint64_t gpa, void *host,
		   uint64_t bytes);
int vpt_kvm_trap_msrs(struct vpt_engine_vm *vm, const struct vpt_msr_range *ranges, size_t count);
int vpt_kvm_supported_cpuid(struct vpt_engine_vm *vm, struct vpt_cpuid_entry *entries,
			    size_t *count);

/* kvm_vcpu.c */
int vpt_kvm_vcpu_create(struct vpt_engine_vm *vm, unsigned int index,
			const struct vpt_cpuid_entry *cpuid, size_t count,
			struct vpt_engine_vcpu **vcpu);
void vpt_kvm_vcpu_destroy(struct vpt_engine_vcpu *vcpu);
int vpt_kvm_kick_after(struct vpt_engine_vcpu *vcpu, uint64_t ns);
void vpt_kvm_interrupt(struct vpt_engine_vcpu *vcpu);

/* kvm_state.c */
int vpt_kvm_get_sregs(struct vpt_engine_vcpu *vcpu, struct vpt_sregs *sregs);
int vpt_kvm_set_sregs(struct vpt_engine_vcpu *vcpu, const struct vpt_sregs *sregs);
int vpt_kvm_get_msr(struct vpt_engine_vcpu *vcpu, uint32_t index, uint64_t *value);
int vpt_kvm_set_msr(struct vpt_engine_vcpu *vcpu, uint32_t index, uint64_t value);
int vpt_kvm_get_dr(struct vpt_engine_vcpu *vcpu, unsigned int n, uint64_t *value);
int vpt_kvm_set_dr(struct vpt_engine_vcpu *vcpu, unsigned int n, uint64_t value);
void vpt_kvm_clock(struct vpt_engine_vcpu *vcpu, struct vpt_clock *now, uint64_t *tsc);
/* Of the guest's TSC to the host's, as it is now: where KVM tells it, else measured. */
uint64_t vpt_kvm_tsc_offset(struct vpt_kvm_vcpu *v);
uint64_t vpt_kvm_tsc_hz(struct vpt_engine_vcpu *vcpu, uint64_t *offset);

/* kvm_run.c */
int vpt_kvm_enter(struct vpt_kvm_vcpu *v);
/*
 * The same, past any signal. One that comes when the instruction is done but its
 * trap is not delivered yet would hide that it ran; so nothing but KVM_RUN again.
 */
int vpt_kvm_enter_fully(struct vpt_kvm_vcpu *v);
void vpt_kvm_run(struct vpt_engine_vcpu *vcpu, bool want_irq, struct vpt_exit *exit);
void vpt_kvm_complete(struct vpt_engine_vcpu *vcpu, struct vpt_exit *exit);
/* What KVM's exit means; not for SHUTDOWN and DEBUG, which depend on the mode. */
void vpt_kvm_translate(struct vpt_kvm_vcpu *v, struct vpt_exit *exit);
/* Make the exceptions of this vCPU end in a triple fault, or let them be. */
void vpt_kvm_hide_idt(struct vpt_kvm_vcpu *v);
void vpt_kvm_show_idt(struct vpt_kvm_vcpu *v);
/* An exception that ended in a triple fault, while the IDT is hidden. */
void vpt_kvm_classify_shutdown(struct vpt_kvm_vcpu *v, struct vpt_exit *exit);
/* Answer an exit for an MSR that the engine has for itself. */
bool vpt_kvm_own_msr(struct vpt_kvm_vcpu *v, struct vpt_exit *exit);
void vpt_kvm_fail(struct vpt_exit *exit, int error, const char *text);

/* kvm_step.c */
void vpt_kvm_step(struct vpt_engine_vcpu *vcpu, const struct vpt_step_hint *hint,
		  struct vpt_exit *exit);
int vpt_kvm_step_end(struct vpt_kvm_vcpu *v);
int vpt_kvm_watch(struct vpt_engine_vcpu *vcpu, const uint64_t *ips, size_t count);
bool vpt_kvm_watched(const struct vpt_kvm_vcpu *v);

/* kvm_replay.c */
void vpt_kvm_replay(struct vpt_kvm_vcpu *v, struct vpt_exit *exit);
void vpt_kvm_replay_free(struct vpt_kvm_vm *vm);

/* kvm_probe.c: the whole; what needs no guest to be stepped; what of that is missing. */
void vpt_kvm_probe(struct vpt_probe *probe, bool with_costs);
void vpt_kvm_probe_device(struct vpt_probe *probe);
const char *vpt_kvm_problem(const struct vpt_probe *probe);

#endif /* VMM_ENGINE_KVM_H */
