/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of KVM's interface to the PT of a VM that vpt uses. The series in patches/linux has the
 * complete interface in asm/kvm_pt.h, with its description.
 */
#ifndef VMM_ENGINE_KVM_PT_ABI_H
#define VMM_ENGINE_KVM_PT_ABI_H

#include <linux/kvm.h>

/* KVM_CHECK_EXTENSION returns a bit (1 << usage) for each available usage. */
#define KVM_CAP_X86_PT	0x56505400
#define KVM_EXIT_X86_PT 0x56505400

/* kvm_x86_pt_usage.usage */
#define KVM_X86_PT_OFF	 0
#define KVM_X86_PT_GUEST 3 /* the host traces only the guest */
#define KVM_X86_PT_OWNED 4 /* the guest has PT of its own */

/* kvm_x86_pt_usage.flags: conceal VMX in the packets. */
#define KVM_X86_PT_CONCEAL_EXEC	 (1 << 0)
#define KVM_X86_PT_CONCEAL_EXIT	 (1 << 1)
#define KVM_X86_PT_CONCEAL_ENTRY (1 << 2)
/* OWNED: KVM_EXIT_X86_PT at each ToPA PMI. A KVM without it returns EINVAL. */
#define KVM_X86_PT_NOTIFY_PMI (1 << 5)

struct kvm_x86_pt_usage {
	__u32 usage;
	__u32 flags;
	__u32 controls[2];
	__u32 areas[2];
	__u32 allowed;
	__u32 reserved;
};

/* kvm_x86_pt_buffer.op and .flags */
#define KVM_X86_PT_BUFFER_FREE	 0
#define KVM_X86_PT_BUFFER_ALLOC	 1
#define KVM_X86_PT_BUFFER_NOTIFY (1 << 1) /* KVM_EXIT_X86_PT at each half */

struct kvm_x86_pt_buffer {
	__u32 op;
	__u32 flags;
	__u64 size;
	__u64 ctl; /* IA32_RTIT_CTL less TraceEn, ToPA and FabricEn */
	__u64 cr3_match;
	__u64 addr[8];
};

/* Page offsets for mmap() of the vCPU. */
#define KVM_X86_PT_STATUS_PAGE 0x1000
#define KVM_X86_PT_DATA_PAGE   0x2000

/* The kernel writes this page at each VM exit. `sequence` is odd during the write. */
struct kvm_x86_pt_status {
	__u32 version;
	__u32 sequence;
	__u64 size;
	__u64 head;
	__u64 wraps;
	__u64 rtit_status;
	__u64 pmis;
};

/* The ioctls of the VM and of the vCPU. */
#define KVM_X86_PT_SET_USAGE  _IOW(KVMIO, 0xf0, struct kvm_x86_pt_usage)
#define KVM_X86_PT_SET_BUFFER _IOW(KVMIO, 0xf3, struct kvm_x86_pt_buffer)

#endif /* VMM_ENGINE_KVM_PT_ABI_H */
