/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bochs' instrumentation macros as hooks of the trace unit. The others stay empty, as in
 * instrument/stubs. With PT off a hook is a load and a branch that is not taken.
 *
 * BX_INSTRUMENTATION is set so that LOOPcc reports that it falls through, and far
 * transfers keep where they came from.
 */
#ifndef BX_VPT_HOOKS_H
#define BX_VPT_HOOKS_H

#include "instrument.h"
#include "vpt.hh"

#undef BX_INSTRUMENTATION
#define BX_INSTRUMENTATION 1

#undef BX_INSTR_CNEAR_BRANCH_TAKEN
#define BX_INSTR_CNEAR_BRANCH_TAKEN(cpu_id, from, to) \
	BX_CPU_THIS_PTR vpt.cond_branch((from), (to), true)

#undef BX_INSTR_CNEAR_BRANCH_NOT_TAKEN
#define BX_INSTR_CNEAR_BRANCH_NOT_TAKEN(cpu_id, from) \
	BX_CPU_THIS_PTR vpt.cond_branch((from), RIP, false)

/* `i` is the instruction's in every handler that uses this. */
#undef BX_INSTR_UCNEAR_BRANCH
#define BX_INSTR_UCNEAR_BRANCH(cpu_id, what, from, to) \
	BX_CPU_THIS_PTR vpt.near_branch((what), (from), (to), i->ilen())

#undef BX_INSTR_FAR_BRANCH
#define BX_INSTR_FAR_BRANCH(cpu_id, what, prev_cs, from, cs, to) \
	BX_CPU_THIS_PTR vpt.far_branch((what), (from), (to))

/* In BX_CPU_C::interrupt(), which has the type as a parameter. */
#undef BX_INSTR_INTERRUPT
#define BX_INSTR_INTERRUPT(cpu_id, vector) BX_CPU_THIS_PTR vpt.event_begins(type)

#undef BX_INSTR_TLB_CNTRL
#define BX_INSTR_TLB_CNTRL(cpu_id, what, cr3) BX_CPU_THIS_PTR vpt.cr3_changed(what)

#undef BX_INSTR_RESET
#define BX_INSTR_RESET(cpu_id, source) BX_CPU_THIS_PTR vpt.reset((cpu_id), (source))

#endif
