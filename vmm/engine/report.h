/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of an instruction that retired: from an engine to the core, and from the core to the
 * tracer. There is one report per instruction. An engine that runs ahead combines instructions:
 * one report then stands for a run of them, of which only the last one changes the flow.
 */
#ifndef VMM_ENGINE_REPORT_H
#define VMM_ENGINE_REPORT_H

#include "vpt/event.h"

enum engine_report_flags {
	ENGINE_REPORT_INSN = 1 << 0, /* exactly one instruction: every member is valid */
	/*
	 * The instruction has written registers of the trace unit, which may have changed the
	 * enables. The report has no event. The next two bits are the enables before the write.
	 */
	ENGINE_REPORT_WROTE = 1 << 1,
	ENGINE_REPORT_TRIGGER_EN = 1 << 2,
	ENGINE_REPORT_PACKET_EN = 1 << 3,
};

struct engine_report {
	/*
	 * The event of the last instruction. With VPT_EV_INSN execution continues with the next
	 * instruction. With VPT_EV_COUNT the report has no event, and only counts instructions;
	 * the IPs are then valid only if ENGINE_REPORT_INSN is set.
	 */
	struct vpt_event event;
	uint64_t next;	/* IP after the last instruction */
	uint64_t insns; /* instructions retired since the last report, also the time that passed */
	uint16_t about; /* for the oracle, enum trace_oracle_insn_flags; the core sets it */
	uint8_t cpl;	/* the CPL of the instruction; the core sets it */
	uint8_t flags;	/* enum engine_report_flags */
};

#endif /* VMM_ENGINE_REPORT_H */
