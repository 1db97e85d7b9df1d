/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The trace unit of Silvermont and Airmont: which processors have it, and its registers as software
 * sees them. Sections are those of the "Real Time Instruction Trace Programming Reference", v1.05.
 *
 * The document calls the unit RTIT. Here it is called atom, since the IA32_RTIT_* registers of
 * Intel PT (rtit.h) are others.
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

/* Event IDs of RTIT_EVENTS (table 7). */
enum vpt_atom_event_id {
	VPT_ATOM_ID_RANGE0 = 0,
	VPT_ATOM_ID_RANGE1 = 1,
	VPT_ATOM_ID_EITHER = 2,
	VPT_ATOM_ID_NEVER = 6,
	VPT_ATOM_ID_ALWAYS = 7, /* 3, 4, 5 are reserved and match nothing */
};

#define VPT_ATOM_RANGES 2

/* Returns true if the processor has RTIT registers. `signature` is CPUID.1:EAX (1.2, 3.1). */
bool vpt_atom_supported(uint32_t signature);

/* Returns CPUID.1:EAX of the first stepping of "silvermont" or "airmont", or 0 for another name. */
uint32_t vpt_atom_signature(const char *name);

/* The registers, as plain data. The unit changes STATUS, OFFSET, CNTP and PKT_CNT by itself. */
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
 * Read a register. Returns VPT_FAULT_GP with *value untouched if the register does not exist, or if
 * RTIT_CTL has not been read yet. Reading RTIT_CTL unlocks the others.
 */
enum vpt_fault vpt_atom_regs_read(struct vpt_atom_regs *regs, uint32_t msr,
				  uint64_t *value) VPT_MUST_CHECK;

/*
 * Write a register, without any effect on a trace. Returns VPT_FAULT_GP with nothing changed if the
 * register does not exist, is locked, or a reserved bit would change.
 */
enum vpt_fault vpt_atom_regs_write(struct vpt_atom_regs *regs, uint32_t msr,
				   uint64_t value) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_ATOM_MSR_H */
