/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The oracle log has the instructions that a processor model retired, in terms that are not of PT.
 * It also has the bytes of trace at the places where the model wrote them. An emulator with our PT
 * writes the log beside the trace. Tests compare the decoded trace with it.
 *
 * A file is a struct vpt_log_header and records without padding. A record is a byte for the kind,
 * then fields, little-endian. If the writer was killed, the file is valid up to its last whole
 * record.
 */
#ifndef VPT_ABI_ORACLE_LOG_H
#define VPT_ABI_ORACLE_LOG_H

#include "../base.h"

#define VPT_LOG_MAGIC	0x474f4c524f545056ull /* "VPTORLOG" */
#define VPT_LOG_VERSION 1

struct vpt_log_header {
	uint64_t magic;
	uint32_t version;
	uint32_t cpu; /* which logical processor's log this is */
};

enum vpt_log_kind {
	/*
	 * 01H to 0FH: an instruction of so many bytes retired. It begins where the last one ended.
	 */
	VPT_LOG_INSN_MAX = 0x0f,
	/*
	 * u8 length, u64 ip: an instruction retired after a taken branch or an event. Also the
	 * first one after START or a change of context.
	 */
	VPT_LOG_INSN_AT = 0x10,
	/* u8 enum vpt_log_event, u8 vector, u64 ip: control left `ip` (the instruction that
	 * faulted, or the next one that would have run) without its retiring. */
	VPT_LOG_EVENT,
	/* u8 enum vpt_log_context flags, u64 cr3, u64 vmcs (current pointer, ~0: none),
	 * u64 CS base: from the next instruction on. */
	VPT_LOG_CONTEXT,
	/*
	 * u64 linear page, u64 host-physical page, 4096 bytes: the code in this page from now on.
	 * Precedes the first instruction in the page. Valid for the context's CR3, NON_ROOT, IN_SMM
	 * and, in non-root operation, VMCS.
	 */
	VPT_LOG_CODE,
	/*
	 * u8 TriggerEn (1: rose, 0: fell), u8 enum vpt_log_end, u64 ip of the next instruction, u64
	 * ctl, status, output_base, output_mask_ptrs, cr3_match, u64 addr[8]. The registers are
	 * those after the edge. A fall follows the last TRACE.
	 */
	VPT_LOG_TRIGGER,
	/* u8 PacketEn when the next instruction begins. */
	VPT_LOG_PACKET_EN,
	/*
	 * u32 bytes, u64 address as the MSRs have it (guest-physical if bit 63 is set), then the
	 * bytes of trace that were written.
	 */
	VPT_LOG_TRACE,
	/* u16 bytes, then text that software marked. */
	VPT_LOG_MARK,
	/* u8 enum vpt_log_msr flags, u32 index, u64 value: an access to an IA32_RTIT_* MSR. */
	VPT_LOG_MSR,
	/*
	 * u64 vmcs, u64 TSC offset, u64 TSC multiplier, u32 reason, u64 qualification: a VM exit
	 * completed if the preceding record is its EVENT. Else a VM entry completed, and reason and
	 * qualification are 0.
	 */
	VPT_LOG_VMX,
	/* Nothing: the writer closed the log. */
	VPT_LOG_END,
};

enum vpt_log_event {
	VPT_LOG_INTERRUPT, /* external interrupt or NMI */
	VPT_LOG_EXCEPTION,
	VPT_LOG_SOFTWARE, /* INT n, INT3, INTO, INT1; follows the instruction's own record */
	VPT_LOG_VM_EXIT,
	VPT_LOG_SMI,
	VPT_LOG_INIT,
};

enum vpt_log_context {
	VPT_LOG_CPL = 3 << 0, /* in these two bits */
	VPT_LOG_NON_ROOT = 1 << 2,
	VPT_LOG_IN_VMX = 1 << 3,
	VPT_LOG_IN_SMM = 1 << 4,
	VPT_LOG_PAE = 1 << 5,
	VPT_LOG_CS_L = 1 << 6, /* and EFER.LMA */
	VPT_LOG_CS_D = 1 << 7,
};

enum vpt_log_end {
	VPT_LOG_DISABLED, /* TraceEn was cleared */
	VPT_LOG_STOPPED,
	VPT_LOG_ERROR,
};

enum vpt_log_msr {
	VPT_LOG_WRITE = 1 << 0,
	VPT_LOG_LIST = 1 << 1, /* by an MSR area or a VMX control, not by an instruction */
	VPT_LOG_MSR_NON_ROOT = 1 << 2,
	VPT_LOG_FAULT = 1 << 3, /* refused */
};

#endif /* VPT_ABI_ORACLE_LOG_H */
