/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The RTIT of Silvermont and Airmont ("Real Time Instruction Trace Programming Reference",
 * v1.05; sections are that document's): which processors have it, and its registers as
 * software sees them. Not to be confused with IA32_RTIT_* of Intel PT, which is rtit.h's:
 * everything of this one is called atom here.
 */
#ifndef VPT_ATOM_MSR_H
#define VPT_ATOM_MSR_H

#include "base.h"

VPT_BEGIN_DECLS

/* VPT_ATOM_MSR_CTL and so on: MSR numbers. */
enum vpt_atom_msr {
#define VPT_ATOM_MSR(name, address, reset, bits, ignored, ones, tag, section, meaning) \
	VPT_ATOM_MSR_##name = (address),
#include "../../spec/rtit.def"
	VPT_ATOM_MSR_FIRST = 0x760,
	VPT_ATOM_MSR_LAST = 0x77d,
};

/* VPT_ATOM_CTL_TRACE_EN_SHIFT, VPT_ATOM_CTL_TRACE_EN_WIDTH and so on. */
enum vpt_atom_field_place {
#define VPT_ATOM_FIELD(msr, name, lo, width, tag, section, meaning) \
	VPT_ATOM_##msr##_##name##_SHIFT = (lo), VPT_ATOM_##msr##_##name##_WIDTH = (width),
#include "../../spec/rtit.def"
};

/* VPT_ATOM_MASK(CTL, TRACE_EN), VPT_ATOM_GET(CTL, MTC_RANGE, regs->ctl). */
#define VPT_ATOM_MASK(msr, name)                                                          \
	VPT_MASK64(VPT_ATOM_##msr##_##name##_SHIFT + VPT_ATOM_##msr##_##name##_WIDTH - 1, \
		   VPT_ATOM_##msr##_##name##_SHIFT)
#define VPT_ATOM_GET(msr, name, value) \
	(((uint64_t)(value)&VPT_ATOM_MASK(msr, name)) >> VPT_ATOM_##msr##_##name##_SHIFT)

/* RTIT_EVENTS: what an event ID stands for (table 7). */
enum vpt_atom_event_id {
	VPT_ATOM_ID_RANGE0 = 0,
	VPT_ATOM_ID_RANGE1 = 1,
	VPT_ATOM_ID_EITHER = 2,
	VPT_ATOM_ID_NEVER = 6,
	VPT_ATOM_ID_ALWAYS = 7, /* 3, 4, 5 are reserved and match nothing */
};

#define VPT_ATOM_RANGES 2

/* Are there RTIT registers? `signature`: CPUID.1:EAX (1.2, 3.1). */
bool vpt_atom_supported(uint32_t signature);

/* CPUID.1:EAX of the first stepping of "silvermont" or "airmont"; 0: no such name. */
uint32_t vpt_atom_signature(const char *name);

/* The registers, as plain data. STATUS and OFFSET, CNTP, PKT_CNT move on their own. */
struct vpt_atom_regs {
	uint64_t lip[4]; /* bits 47:0 */
	uint64_t last_lip, last_call_nlip;
	uint64_t base_addr, cr3_match;
	uint32_t ctl, status, cntp, events;
	uint32_t limit_mask, offset, pkt_cnt, tnt_buff;
	uint32_t unlocked; /* RTIT_CTL has been read: 1; else 0 (3.3.1) */
	uint32_t reserved; /* 0 */
};

/* Cold or warm reset; INIT changes nothing (3.3.1). */
void vpt_atom_regs_reset(struct vpt_atom_regs *regs);

/*
 * RDMSR. VPT_FAULT_GP: no such register, or RTIT_CTL has not been read yet; *value is
 * untouched then. Reading RTIT_CTL unlocks the others.
 */
enum vpt_fault vpt_atom_regs_read(struct vpt_atom_regs *regs, uint32_t msr,
				  uint64_t *value) VPT_MUST_CHECK;

/*
 * WRMSR: what becomes of the register, and nothing else: no packet, no drain. VPT_FAULT_GP:
 * no such register, locked, or a reserved bit would change; nothing changed then.
 */
enum vpt_fault vpt_atom_regs_write(struct vpt_atom_regs *regs, uint32_t msr,
				   uint64_t value) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_ATOM_MSR_H */
