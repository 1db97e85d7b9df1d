/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hypervisor of a few hundred lines, for payloads about PT in VMX operation (33.5). It has one
 * processor and one virtual machine at a time. The machine runs 64-bit code of the same image in an
 * address space of its own.
 */
#ifndef GUEST_VMX_VMX_H
#define GUEST_VMX_VMX_H

#include "vpt/vmx.h"
#include "vpt/vmx_list.h"

enum vmcs_field {
#define VMCS_FIELD(name, encoding) VMCS_##name = (encoding),
#include "vmcs.def"
#undef VMCS_FIELD
};

/* The exit reasons in use. Bit 31 means that the entry failed. */
enum vmx_exit {
	EXIT_EXCEPTION = 0,
	EXIT_EXTERNAL_INTERRUPT = 1,
	EXIT_TRIPLE_FAULT = 2,
	EXIT_CPUID = 10,
	EXIT_HLT = 12,
	EXIT_VMCALL = 18,
	EXIT_CR_ACCESS = 28,
	EXIT_RDMSR = 31,
	EXIT_WRMSR = 32,
	EXIT_GUEST_STATE = 33,
	EXIT_MSR_LOADING = 34,
	EXIT_EPT_VIOLATION = 48,
	EXIT_PREEMPTION_TIMER = 52,
	EXIT_ENTRY_FAILED = 1u << 31,
};

/* VM-instruction errors. */
#define VMX_ERROR_CONTROLS   7
#define VMX_ERROR_HOST_STATE 8

/* The result of vmx_enter(). */
enum vmx_result {
	VMX_EXIT = 0, /* the guest ran, or failed late: see EXIT_REASON */
	VMX_INVALID,  /* VMfailInvalid */
	VMX_FAIL,     /* VMfailValid: see INSTRUCTION_ERROR */
};

struct vmx_regs {
	uint64_t rax, rcx, rdx, rbx, rbp, rsi, rdi;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
};

struct vmx {
	struct vmx_regs regs;
	uint8_t *vmcs;
	bool launched;
	uint64_t cr3;	     /* the CR3 of the guest */
	uint32_t allowed_pt; /* set of enum vpt_vmx_control that may be 1 */
	bool has_ept;
	uint64_t *ept; /* the root of EPT, which maps the first GiB one to one */
	struct vpt_msr_entry *entry_load, *exit_store, *exit_load;
};

#define VMX_LIST_ROOM 256u /* the elements of an MSR area, which is one page */

/*
 * Enter VMX operation. Returns false if the processor has no VMX, or if its firmware has locked
 * VMX.
 */
bool vmx_init(void);

/* Read IA32_VMX_MISC. */
uint64_t vmx_misc(void);

/*
 * Create a VMCS and load it. The guest begins at @rip on its own stack, at CPL 0 in a new address
 * space (paging_new_space()). It exits on CPUID, HLT and VMCALL, and reads and writes all MSRs
 * itself.
 */
void vmx_create(struct vmx *v, void (*rip)(void));

/* Make this VMCS the current one again. */
void vmx_select(struct vmx *v);

/* Execute VMCLEAR, so that the next entry is a VMLAUNCH. The fields do not change. */
void vmx_clear(struct vmx *v);

/* Set PT's controls, even if they are not allowed. @ept enables EPT if the processor has it. */
void vmx_set_pt(struct vmx *v, uint32_t controls, bool ept);

/* Enter the guest. Returns after the exit, or after a failed entry. */
enum vmx_result vmx_enter(struct vmx *v);

/* Advance the guest's RIP past the instruction that exited. */
void vmx_skip(void);

/* Map a 4 KiB guest-physical page. @flags are those of an EPT entry; 0 unmaps the page. */
void vmx_ept_set(struct vmx *v, uint64_t gpa, uint64_t hpa, unsigned int flags);
#define EPT_RWX 7u

/* Access a field. Return false if the instruction failed because there is no such field. */
bool vmwrite_safe(uint64_t field, uint64_t value);
bool vmread_safe(uint64_t field, uint64_t *value);

static inline void vmwrite(uint64_t field, uint64_t value)
{
	__asm__ volatile("vmwrite %0, %1" : : "r"(value), "r"(field) : "cc");
}

static inline uint64_t vmread(uint64_t field)
{
	uint64_t value = 0;

	__asm__ volatile("vmread %1, %0" : "+r"(value) : "r"(field) : "cc");
	return value;
}

/* Addresses in enter.S: VMLAUNCH, VMRESUME, the instruction after each, and the target of exits. */
extern const uint8_t vmx_launch_ip[], vmx_launch_next[], vmx_resume_ip[], vmx_resume_next[];
extern const uint8_t vmx_host_ip[];

#endif /* GUEST_VMX_VMX_H */
