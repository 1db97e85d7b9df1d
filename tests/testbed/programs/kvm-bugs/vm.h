/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual machine of one vCPU whose guest executes a list of operations. */
#ifndef BED_KVM_BUGS_VM_H
#define BED_KVM_BUGS_VM_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpt/msr.h"

/* Guest-physical addresses. The first 2 GiB are identity-mapped. */
enum {
	VM_MEMORY = 8 << 20,
	VM_CODE = 0x10000,
	VM_STACK = 0x20000,
	VM_GDT = 0x20000,
	VM_IDT = 0x21000,
	VM_OPS = 0x22000,
	VM_VMXON = 0x28000,
	VM_SMBASE = 0x30000,
	VM_PAGES = 0x40000,
	VM_TOPA = 0x80000,
	VM_OUTPUT = 0x100000,
	VM_OUTPUT_SIZE = 0x100000,
	VM_REGIONS = 0x200000,
	VM_HOLE = 0x40000000,
};

enum op_kind {
	OP_END,
	OP_WRMSR,
	OP_RDMSR,
	OP_WORK,   /* value: rounds */
	OP_MARK,   /* an exit to userspace; value: not 0 */
	OP_EXITS,  /* value: exits to KVM */
	OP_POPCNT, /* value: rounds */
	OP_VMXON,  /* value: the region's address */
	OP_LOAD,   /* value: an address */
};

struct op {
	uint32_t kind;
	uint32_t msr;
	uint64_t value;
	uint64_t result;
	uint64_t fault; /* the vector of the fault, or 0 */
};

enum {
	VM_PT = 1,	/* PT is in the guest's CPUID */
	VM_IRQCHIP = 2, /* KVM emulates the local APIC */
	VM_NO_PMU = 4,
};

struct vm {
	int kvm, fd, vcpu;
	uint8_t *memory;
	struct kvm_run *run;
	struct op *ops;
	unsigned int op_count;
};

#define CPUID_PT (1u << 25) /* 7:0 EBX */

struct vm_cpuid {
	struct kvm_cpuid2 head;
	struct kvm_cpuid_entry2 entries[128];
};

/* Results of vm_run() for the guest's ports. Other results are KVM's exit reasons. */
enum {
	VM_MARK = 0x10010,
	VM_SMM = 0x10011,
	VM_END = 0x10012,
};

/* These functions exit the program on failure. */
void vm_open(struct vm *vm, unsigned int flags);
void vm_open_cpuid(struct vm *vm, unsigned int flags, const struct vm_cpuid *cpuid);
void vm_supported_cpuid(struct vm_cpuid *cpuid);
void vm_close(struct vm *vm);

/* Return the entry of a leaf. Adds an entry of zeros if there is none. */
struct kvm_cpuid_entry2 *vm_cpuid_entry(struct vm_cpuid *cpuid, uint32_t leaf, uint32_t subleaf);
int vm_set_cpuid(struct vm *vm, const struct vm_cpuid *cpuid);

struct op *vm_op(struct vm *vm, enum op_kind kind, uint64_t value);
struct op *vm_wrmsr(struct vm *vm, uint32_t msr, uint64_t value);
struct op *vm_rdmsr(struct vm *vm, uint32_t msr);
/* Add the operations that start and stop a trace to VM_OUTPUT. */
void vm_trace(struct vm *vm, uint64_t ctl);
void vm_stop(struct vm *vm);

/*
 * Add the operations that enable the x2APIC. vm_take_pmis() also delivers PMIs as NMIs, which
 * the guest counts.
 */
void vm_x2apic(struct vm *vm);
void vm_take_pmis(struct vm *vm);

/* Set the vCPU to the first operation. Then run to the next exit to userspace. */
void vm_start(struct vm *vm);
int vm_run(struct vm *vm);
/* Start, and run to the first exit that is not a mark. */
int vm_run_all(struct vm *vm);
/* Describe an unexpected exit. */
const char *vm_exit_text(const struct vm *vm, int why);

/* Access an MSR from userspace. Returns false if KVM refuses. */
bool vm_set_msr(struct vm *vm, uint32_t msr, uint64_t value);
bool vm_get_msr(struct vm *vm, uint32_t msr, uint64_t *value);

uint64_t vm_guest_word(const struct vm *vm, const uint8_t *symbol);
extern const uint8_t guest_code[], guest_code_end[], guest_main[], guest_gp[], guest_ud[],
	guest_nmi[], guest_nmis[], guest_nmi_status[], guest_smm[], guest_smm_end[];

#define CTL_TRACE                                                         \
	(VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | \
	 VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(DIS_RETC))

#endif
