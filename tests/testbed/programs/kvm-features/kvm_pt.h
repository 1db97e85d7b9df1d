/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel PT of virtual machines: what is traced, for whom, and what a decoder
 * needs to know of it.
 */
#ifndef _UAPI_ASM_X86_KVM_PT_H
#define _UAPI_ASM_X86_KVM_PT_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Numbers of this interface are from a range that KVM does not hand out: "VPT"
 * in the upper bytes, and ioctls from 0xf0.
 *
 * KVM_CHECK_EXTENSION: a bit (1 << KVM_X86_PT_*) for each usage that the
 * processor has, 0 where there is none of this.
 */
#define KVM_CAP_X86_PT	0x56505400
#define KVM_EXIT_X86_PT 0x56505400

/* kvm_x86_pt_usage.usage */
#define KVM_X86_PT_OFF	  0 /* not traced, for nobody */
#define KVM_X86_PT_SYSTEM 1 /* a trace of the host goes through the guest */
#define KVM_X86_PT_HOST	  2 /* a trace of the host leaves the guest out */
#define KVM_X86_PT_GUEST  3 /* the guest alone, for the host: SET_BUFFER */
#define KVM_X86_PT_OWNED  4 /* the guest has PT of its own */

/* kvm_x86_pt_usage.flags. Those of CONCEAL are implied by OWNED. */
#define KVM_X86_PT_CONCEAL_EXEC	 (1 << 0) /* PIPs of the guest have NR=0 */
#define KVM_X86_PT_CONCEAL_EXIT	 (1 << 1) /* no packets for VM exits */
#define KVM_X86_PT_CONCEAL_ENTRY (1 << 2) /* no packets for VM entries */
#define KVM_X86_PT_TRAP_CR3	 (1 << 3) /* intercept MOV to CR3 */
#define KVM_X86_PT_INSERT	 (1 << 4) /* OWNED: trace what KVM emulates */
#define KVM_X86_PT_NOTIFY_PMI	 (1 << 5) /* OWNED: KVM_EXIT_X86_PT at each ToPA PMI */
#define KVM_X86_PT_FLAGS	 ((1 << 6) - 1)

/*
 * kvm_x86_pt_usage.controls: VMX controls in use. A control that the processor
 * lacks is made up for by the MSR-load areas.
 */
#define KVM_X86_PT_CTL_EXEC_CONCEAL  (1 << 0)
#define KVM_X86_PT_CTL_USE_GPA	     (1 << 1)
#define KVM_X86_PT_CTL_EXIT_CONCEAL  (1 << 2)
#define KVM_X86_PT_CTL_EXIT_CLEAR    (1 << 3)
#define KVM_X86_PT_CTL_ENTRY_CONCEAL (1 << 4)
#define KVM_X86_PT_CTL_ENTRY_LOAD    (1 << 5)

/* kvm_x86_pt_usage.areas: MSR-load areas that have IA32_RTIT_CTL. */
#define KVM_X86_PT_AREA_ENTRY (1 << 0)
#define KVM_X86_PT_AREA_EXIT  (1 << 1)

struct kvm_x86_pt_usage {
	__u32 usage;
	__u32 flags;
	/* Out, with GET: while the host is traced too (index 1) and while not. */
	__u32 controls[2];
	__u32 areas[2];
	__u32 allowed;	/* controls that the processor has */
	__u32 reserved; /* 0 */
};

/*
 * kvm_x86_pt_sideband, as it is between two KVM_RUN. The TSC of the guest is
 * (host * multiplier >> 48) + offset, modulo 2^64, exactly.
 */
#define KVM_X86_PT_NESTED (1 << 0) /* the guest's guest is in: l2 counts */

struct kvm_x86_pt_sideband {
	__u32 flags;
	__u32 vcpu_id;
	/* Physical address as VMCS packets have it; ~0 without CAP_PERFMON. */
	__u64 vmcs;
	__u64 vmcs_l2; /* ~0: there is none */
	__u64 tsc_offset;
	__u64 tsc_multiplier;
	__u64 tsc_offset_l2;
	__u64 tsc_multiplier_l2;
	__u64 entries;	/* VM entries that succeeded ... */
	__u64 exits;	/* ... and their exits, since the vCPU was made */
	__u64 inserted; /* operations put in the guest's trace */
	__u64 lost;	/* those that could not be */
	__u64 pmis;	/* ToPA PMIs of a GUEST trace */
};

/* kvm_x86_pt_buffer.op */
#define KVM_X86_PT_BUFFER_FREE	  0 /* the other fields are 0 */
#define KVM_X86_PT_BUFFER_ALLOC	  1
#define KVM_X86_PT_BUFFER_RESTART 2 /* from offset 0, status cleared */

/* kvm_x86_pt_buffer.flags */
#define KVM_X86_PT_BUFFER_STOP	 (1 << 0) /* stop when full, else wrap */
#define KVM_X86_PT_BUFFER_NOTIFY (1 << 1) /* KVM_EXIT_X86_PT at each half */
#define KVM_X86_PT_BUFFER_FLAGS	 ((1 << 2) - 1)

/*
 * The buffer of a vCPU for usage GUEST. The kernel allocates it; mmap() of the
 * vCPU's file descriptor gives the status page and the bytes.
 */
struct kvm_x86_pt_buffer {
	__u32 op;
	__u32 flags;
	__u64 size; /* bytes, whole pages */
	__u64 ctl;  /* IA32_RTIT_CTL less TraceEn, ToPA and FabricEn */
	__u64 cr3_match;
	__u64 addr[8]; /* ADDR0_A, ADDR0_B, ... */
};

#define KVM_X86_PT_BUFFER_MAX (256ull << 20)

/* Page offsets for mmap() of the vCPU. */
#define KVM_X86_PT_STATUS_PAGE 0x1000
#define KVM_X86_PT_DATA_PAGE   0x2000

/*
 * The status page: written by the kernel at each VM exit. `sequence` is odd
 * while it is.
 */
struct kvm_x86_pt_status {
	__u32 version; /* 1 */
	__u32 sequence;
	__u64 size;	   /* of the buffer */
	__u64 head;	   /* where the next byte goes */
	__u64 wraps;	   /* how often head came back to 0 */
	__u64 rtit_status; /* IA32_RTIT_STATUS */
	__u64 pmis;
};

/*
 * VM. OWNED without support for it, or a conceal flag without its control, is
 * EOPNOTSUPP and nothing changes. In force from each vCPU's next entry; vCPUs
 * that run are made to leave.
 */
#define KVM_X86_PT_SET_USAGE _IOW(KVMIO, 0xf0, struct kvm_x86_pt_usage)
#define KVM_X86_PT_GET_USAGE _IOR(KVMIO, 0xf1, struct kvm_x86_pt_usage)
/* vCPU */
#define KVM_X86_PT_GET_SIDEBAND _IOR(KVMIO, 0xf2, struct kvm_x86_pt_sideband)
#define KVM_X86_PT_SET_BUFFER	_IOW(KVMIO, 0xf3, struct kvm_x86_pt_buffer)

#endif /* _UAPI_ASM_X86_KVM_PT_H */
