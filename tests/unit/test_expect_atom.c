// SPDX-License-Identifier: GPL-2.0-or-later
/* The reference model of Atom's RTIT: what records and registers say, in words of lib/steps.h. */
#include <string.h>

#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "trace/atom_session.h"

#define AT(offset) (SYNTH_CODE + (offset))
#define ARRIVED	   TRACE_ORACLE_ARRIVED
#define KERNEL	   0xffff800000000000ull

struct rtit {
	struct synth s;
	struct vpt_atom_regs regs;
};

static void filter(struct rtit *t, unsigned int id)
{
	t->regs.events = (t->regs.events & ~7u) | id;
}

static void stop_at(struct rtit *t, unsigned int id)
{
	t->regs.events = (t->regs.events & 7u) | id << 3;
}

static void range(struct rtit *t, unsigned int n, uint64_t base, uint64_t limit)
{
	t->regs.lip[n] = AT(base) & VPT_MASK64(47, 0);
	t->regs.lip[n + 2] = AT(limit) & VPT_MASK64(47, 0);
}

static void start(struct rtit *t, uint64_t at, uint8_t cpl)
{
	trace_atom_session_set(&t->s.session, &t->regs);
	synth_start(&t->s, AT(at), cpl);
}

static void end(struct rtit *t, enum trace_session_end why, uint64_t at, uint8_t cpl)
{
	trace_atom_session_set(&t->s.session, &t->regs);
	synth_stop(&t->s, why, AT(at), cpl);
}

/* The WRMSR before wrote what the caller then changes. */
static void changed(struct rtit *t, uint64_t at, uint8_t cpl)
{
	end(t, TRACE_END_CHANGED, at, cpl);
}

static void i(struct rtit *t, uint64_t at, uint8_t cpl, unsigned int flags)
{
	synth_insn(&t->s, AT(at), cpl, flags);
}

static void event(struct rtit *t, uint64_t at, uint8_t cpl)
{
	synth_event(&t->s, AT(at), cpl, 14, 0);
}

static void record(struct rtit *t, uint8_t kind, uint64_t at)
{
	struct trace_oracle_record r = {.kind = kind, .ip = AT(at)};

	ck_assert_int_eq(trace_writer_oracle(t->s.w, 0, r), 0);
}

/* TriggerEn that falls is no event: the WRMSR is an instruction, and then it ends. */
static void wrmsr_ends_it(struct rtit *t)
{
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 1, 0, 0);
	end(t, TRACE_END_DISABLED, 3, 0);
	i(t, 3, 0, 0);
	start(t, 5, 0);
	end(t, TRACE_END_CLOSED, 5, 0);
}

static void not_in_context(struct rtit *t)
{
	t->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, OS);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 2, 3, ARRIVED);
	i(t, 0x10, 0, ARRIVED);
	i(t, 4, 3, ARRIVED);
	event(t, 5, 3);
	i(t, 0x20, 0, ARRIVED);
	i(t, 5, 1, ARRIVED);
	i(t, 6, 1, TRACE_ORACLE_SOFT_INT);
	synth_event(&t->s, AT(6), 1, 0x80, 0);
	i(t, 0x30, 0, ARRIVED);
	end(t, TRACE_END_DISABLED, 0x33, 0);
}

static void no_user(struct rtit *t)
{
	t->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, USER);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 1, 3, ARRIVED);
	event(t, 2, 3);
	i(t, 3, 0, ARRIVED);
	end(t, TRACE_END_CLOSED, 4, 0);
}

/* 35:5 count, with any paging. */
static void cr3(struct rtit *t)
{
	t->regs.ctl |= (uint32_t)VPT_ATOM_MASK(CTL, CR3_EN);
	t->regs.cr3_match = 0x2fe0;
	synth_cr3(&t->s, 0x2fc0);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 1, 0, TRACE_ORACLE_CR3_WRITE);
	synth_cr3(&t->s, 0xf000002fff);
	i(t, 4, 0, 0);
	i(t, 5, 0, TRACE_ORACLE_CR3_WRITE);
	synth_cr3(&t->s, 0x102fe0);
	i(t, 8, 0, 0);
	end(t, TRACE_END_CLOSED, 9, 0);
}

/* The base is where it begins, the limit where it ends, whoever falls through to them. */
static void walks(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	start(t, 0xe, 0);
	i(t, 0xe, 0, 0);
	i(t, 0xf, 0, TRACE_ORACLE_COND);
	i(t, 0x10, 0, 0);
	i(t, 0x1f, 0, ARRIVED);
	i(t, 0x20, 0, 0);
	/* Not by falling through: the limit is outside, what lies before it inside. */
	i(t, 0x1f, 0, ARRIVED);
	i(t, 0x20, 0, ARRIVED);
	i(t, 0x11, 0, ARRIVED);
	/* An instruction may jump over the limit by being long. */
	i(t, 0x21, 0, 0);
	i(t, 0x22, 0, ARRIVED);
	end(t, TRACE_END_DISABLED, 0x23, 0);
}

/* Where the trace starts inside nothing has entered the range (3.3.5). */
static void starts_inside(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	start(t, 0x12, 0);
	i(t, 0x12, 0, ARRIVED);
	i(t, 0x13, 0, 0);
	i(t, 0x12, 0, ARRIVED);
	end(t, TRACE_END_DISABLED, 0x14, 0);
	start(t, 0x10, 0);
	i(t, 0x10, 0, ARRIVED);
	end(t, TRACE_END_DISABLED, 0x13, 0);
}

static void starts_with_filter_en(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_RANGE1);
	range(t, 1, 0x10, 0x20);
	t->regs.status = (uint32_t)VPT_ATOM_MASK(STATUS, FILTER_EN);
	start(t, 0x80, 0);
	i(t, 0x80, 0, 0);
	i(t, 0x82, 0, TRACE_ORACLE_COND);
	i(t, 0x84, 0, ARRIVED);
	i(t, 0x86, 0, 0);
	end(t, TRACE_END_DISABLED, 0x88, 0);
	/* The WRMSR that sets TriggerEn may itself walk out. */
	start(t, 0x20, 0);
	i(t, 0x20, 0, 0);
	end(t, TRACE_END_DISABLED, 0x22, 0);
}

/* From one into the other; the base wins. */
static void either(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_EITHER);
	range(t, 0, 0x20, 0x30);
	range(t, 1, 0x10, 0x20);
	start(t, 0x10, 0);
	i(t, 0x10, 0, 0);
	i(t, 0x20, 0, 0);
	i(t, 0x30, 0, 0);
	i(t, 0x18, 0, ARRIVED);
	i(t, 0x28, 0, ARRIVED);
	i(t, 0x38, 0, ARRIVED);
	end(t, TRACE_END_DISABLED, 0x39, 0);
}

static void empty_range(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x20, 0x20);
	start(t, 0x10, 0);
	i(t, 0x10, 0, 0);
	i(t, 0x20, 0, ARRIVED);
	i(t, 0x1f, 0, ARRIVED);
	i(t, 0x20, 0, 0);
	i(t, 0x21, 0, 0);
	end(t, TRACE_END_DISABLED, 0x22, 0);
}

static void never(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_NEVER);
	t->regs.status = (uint32_t)VPT_ATOM_MASK(STATUS, FILTER_EN);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	end(t, TRACE_END_DISABLED, 2, 0);
}

/* It matches nothing: FilterEn that software set stays until something is taken. */
static void reserved_id(struct rtit *t)
{
	filter(t, 4);
	range(t, 0, 0, 0x80);
	range(t, 1, 0, 0x80);
	t->regs.status = (uint32_t)VPT_ATOM_MASK(STATUS, FILTER_EN);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 1, 0, 0);
	i(t, 0x10, 0, ARRIVED);
	i(t, 0x11, 0, 0);
	end(t, TRACE_END_DISABLED, 0x12, 0);
}

static void kernel_addresses(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, KERNEL + 0x10, KERNEL + 0x20);
	start(t, KERNEL + 0xf, 0);
	i(t, KERNEL + 0xf, 0, 0);
	i(t, KERNEL + 0x10, 0, 0);
	i(t, KERNEL + 0x20, 0, 0);
	i(t, KERNEL + 0x12, 0, ARRIVED);
	i(t, 0x10, 0, ARRIVED);
	end(t, TRACE_END_DISABLED, 0x11, 0);
}

/* Out of context FilterEn stands still; MOV CR3 leads in without a branch. */
static void frozen(struct rtit *t)
{
	t->regs.ctl |= (uint32_t)VPT_ATOM_MASK(CTL, CR3_EN);
	t->regs.cr3_match = 0x2000;
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	synth_cr3(&t->s, 0x2000);
	start(t, 0x10, 0);
	i(t, 0x10, 0, TRACE_ORACLE_CR3_WRITE);
	synth_cr3(&t->s, 0x1000);
	i(t, 0x13, 0, 0);
	i(t, 0x80, 0, ARRIVED);
	i(t, 0x81, 0, TRACE_ORACLE_CR3_WRITE);
	synth_cr3(&t->s, 0x2000);
	i(t, 0x84, 0, 0);
	i(t, 0x85, 0, ARRIVED);
	i(t, 0x86, 0, TRACE_ORACLE_CR3_WRITE);
	synth_cr3(&t->s, 0x1000);
	i(t, 0x14, 0, ARRIVED);
	i(t, 0x15, 0, TRACE_ORACLE_CR3_WRITE);
	synth_cr3(&t->s, 0x2000);
	i(t, 0x18, 0, 0);
	end(t, TRACE_END_DISABLED, 0x19, 0);
}

/* Where a privilege level leads in it is a branch that does. */
static void context_by_branch(struct rtit *t)
{
	t->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, OS);
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	start(t, 0x80, 0);
	i(t, 0x80, 0, 0);
	i(t, 0x12, 3, ARRIVED);
	i(t, 0x40, 0, ARRIVED);
	i(t, 0x60, 3, ARRIVED);
	event(t, 0x61, 3);
	i(t, 0x40, 0, ARRIVED);
	i(t, 0x14, 3, ARRIVED);
	event(t, 0x20, 3);
	i(t, 0x40, 0, ARRIVED);
	end(t, TRACE_END_DISABLED, 0x41, 0);
}

static void events(struct rtit *t)
{
	start(t, 0, 0);
	event(t, 0, 0);
	event(t, 0x20, 0);
	i(t, 0x30, 0, ARRIVED);
	i(t, 0x31, 0, TRACE_ORACLE_SOFT_INT);
	synth_event(&t->s, AT(0x31), 0, 3, 0);
	end(t, TRACE_END_CLOSED, 0x40, 0);
}

/* Out of the filter and still in context: where it leads to is not traced. */
static void event_leaves_filter(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	start(t, 0x10, 0);
	i(t, 0x10, 0, 0);
	event(t, 0x12, 0);
	i(t, 0x80, 0, ARRIVED);
	i(t, 0x1e, 0, ARRIVED);
	event(t, 0x20, 0);
	i(t, 0x12, 0, ARRIVED);
	end(t, TRACE_END_CLOSED, 0x13, 0);
}

static void stop_by_walking(struct rtit *t)
{
	stop_at(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	start(t, 0xe, 0);
	i(t, 0xe, 0, 0);
	end(t, TRACE_END_TRACE_STOP, 0x10, 0);
	/* Behind the base only a branch or an event counts. */
	start(t, 0x11, 0);
	i(t, 0x11, 0, ARRIVED);
	i(t, 0x12, 0, 0);
	i(t, 0x20, 0, 0);
	i(t, 0x40, 0, ARRIVED);
	end(t, TRACE_END_TRACE_STOP, 0x1f, 0);
	start(t, 0x40, 0);
	event(t, 0x40, 0);
	end(t, TRACE_END_TRACE_STOP, 0x10, 0);
	start(t, 0x10, 0);
	end(t, TRACE_END_TRACE_STOP, 0x10, 0);
}

static void stop_nearby(struct rtit *t)
{
	stop_at(t, VPT_ATOM_ID_RANGE1);
	range(t, 1, 0x10, 0x20);
	start(t, 0xe, 0);
	i(t, 0xe, 0, 0);
	end(t, TRACE_END_TRACE_STOP, 0x12, 0);
}

/* The filter that is left is told, the one that is entered is not. */
static void stop_and_filter(struct rtit *t)
{
	stop_at(t, VPT_ATOM_ID_RANGE1);
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	range(t, 1, 0x20, 0x30);
	start(t, 0x10, 0);
	i(t, 0x10, 0, 0);
	end(t, TRACE_END_TRACE_STOP, 0x20, 0);
	filter(t, VPT_ATOM_ID_RANGE1);
	start(t, 0x10, 0);
	i(t, 0x10, 0, 0);
	end(t, TRACE_END_TRACE_STOP, 0x28, 0);
}

static void stop_always(struct rtit *t)
{
	stop_at(t, VPT_ATOM_ID_ALWAYS);
	t->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, USER);
	start(t, 0x10, 0);
	end(t, TRACE_END_TRACE_STOP, 0x10, 0);
	start(t, 0x10, 3);
	i(t, 0x10, 3, 0);
	i(t, 0x11, 3, 0);
	end(t, TRACE_END_TRACE_STOP, 0x40, 0);
}

static void stop_by_wrmsr(struct rtit *t)
{
	start(t, 0x10, 0);
	i(t, 0x10, 0, 0);
	i(t, 0x11, 0, 0);
	stop_at(t, VPT_ATOM_ID_ALWAYS);
	end(t, TRACE_END_TRACE_STOP, 0x13, 0);
}

static void stop_out_of_context(struct rtit *t)
{
	stop_at(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	t->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, USER);
	start(t, 0x40, 3);
	i(t, 0x10, 3, ARRIVED);
	i(t, 0x40, 0, ARRIVED);
	end(t, TRACE_END_CLOSED, 0x41, 0);
}

static void stop_held(struct rtit *t)
{
	stop_at(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 0x10, 0, ARRIVED);
	i(t, 0x11, 0, 0);
	end(t, TRACE_END_TRACE_STOP, 0x12, 0);
	/* Forgotten (E4). */
	start(t, 0x11, 0);
	i(t, 0x11, 0, 0);
	i(t, 0x10, 0, ARRIVED);
	end(t, TRACE_END_CLOSED, 0x12, 0);
}

static void stop_without_reason(struct rtit *t)
{
	stop_at(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	end(t, TRACE_END_TRACE_STOP, 0x40, 0);
}

/* A register is written while the trace runs: the WRMSR is the last of its session. */
static void registers_change(struct rtit *t)
{
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 1, 0, 0);
	changed(t, 3, 0);
	t->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, OS);
	start(t, 3, 0);
	i(t, 3, 0, 0);
	i(t, 4, 0, 0);
	changed(t, 6, 0);
	t->regs.ctl |= (uint32_t)VPT_ATOM_MASK(CTL, OS);
	start(t, 6, 0);
	i(t, 6, 0, 0);
	changed(t, 8, 0);
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	t->regs.status |= (uint32_t)VPT_ATOM_MASK(STATUS, FILTER_EN);
	start(t, 8, 0);
	i(t, 8, 0, 0);
	changed(t, 10, 0);
	t->regs.status = 0;
	start(t, 10, 0);
	i(t, 10, 0, 0);
	i(t, 0x14, 0, ARRIVED);
	changed(t, 0x16, 0);
	filter(t, VPT_ATOM_ID_NEVER);
	start(t, 0x16, 0);
	i(t, 0x16, 0, 0);
	end(t, TRACE_END_DISABLED, 0x18, 0);
}

/* FilterEn that is written stands until the next instruction has run. */
static void status_written(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_NEVER);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	changed(t, 2, 0);
	t->regs.status = (uint32_t)VPT_ATOM_MASK(STATUS, FILTER_EN);
	start(t, 2, 0);
	i(t, 2, 0, 0);
	i(t, 4, 0, 0);
	end(t, TRACE_END_DISABLED, 6, 0);
}

/* A write that leaves FilterEn as it is walks onto the base like any instruction. */
static void overflow_written(struct rtit *t)
{
	filter(t, VPT_ATOM_ID_RANGE0);
	range(t, 0, 0x10, 0x20);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 0xe, 0, 0);
	changed(t, 0x10, 0);
	t->regs.status = (uint32_t)VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
	start(t, 0x10, 0);
	i(t, 0x10, 0, 0);
	i(t, 0x11, 0, 0);
	end(t, TRACE_END_DISABLED, 0x12, 0);
}

/* An interrupt before the instruction after it. */
static void changed_then_event(struct rtit *t)
{
	start(t, 0, 0);
	i(t, 0, 0, 0);
	changed(t, 2, 0);
	start(t, 2, 0);
	event(t, 2, 0);
	i(t, 0x40, 0, ARRIVED);
	i(t, 0x41, 0, 0);
	end(t, TRACE_END_DISABLED, 0x43, 0);
}

static void root_operation(struct rtit *t)
{
	start(t, 0, 0);
	i(t, 0, 0, 0);
	record(t, TRACE_ORACLE_VM_EXIT, 1);
	i(t, 0x80, 0, ARRIVED);
	i(t, 0x81, 0, 0);
	event(t, 0x82, 0);
	i(t, 0x90, 0, ARRIVED);
	i(t, 0x91, 0, TRACE_ORACLE_VM_ENTRY);
	i(t, 1, 0, 0);
	end(t, TRACE_END_CLOSED, 2, 0);
}

static void root_by_space(struct rtit *t)
{
	const struct trace_space spaces[] = {
		{.id = 0x5000, .cr3 = 0x1000, .vmcs = TRACE_SPACE_ANY_VMCS},
		{.id = 0x6000, .cr3 = 0x1000, .vmcs = 0x9000, .flags = TRACE_SPACE_NON_ROOT},
	};

	ck_assert_int_eq(trace_writer_spaces(t->s.w, spaces, 2), 0);
	synth_cr3(&t->s, 0x5000);
	start(t, 0, 0);
	i(t, 0, 0, 0);
	i(t, 1, 0, TRACE_ORACLE_VM_ENTRY);
	synth_cr3(&t->s, 0x6000);
	i(t, 0x40, 0, 0);
	record(t, TRACE_ORACLE_VM_EXIT, 0x41);
	synth_cr3(&t->s, 0x5000);
	i(t, 2, 0, 0);
	end(t, TRACE_END_DISABLED, 4, 0);
}

static void starts_twice(struct rtit *t)
{
	start(t, 0, 0);
	record(t, TRACE_ORACLE_START, 0);
}

static void ends_after_change(struct rtit *t)
{
	start(t, 0, 0);
	i(t, 0, 0, 0);
	changed(t, 2, 0);
	record(t, TRACE_ORACLE_STOP, 2);
}

static const struct {
	void (*make)(struct rtit *t);
	const char *steps;
	enum trace_owner owner; /* NONE: the guest */
} expected[] = {
	{wrmsr_ends_it, "E0 0 1 D E5 D", TRACE_OWNER_HOST},
	{wrmsr_ends_it, "E0 0 1 D E5 D", TRACE_OWNER_NONE},
	{not_in_context, "E2 2 D E4 4 D E5 5 D", TRACE_OWNER_NONE},
	{no_user, "E0 0 D E3 3 D", TRACE_OWNER_NONE},
	{cr3, "E4 4 5 D", TRACE_OWNER_NONE},
	{walks, "E10 10 1f D E1f 1f D E11 11 21 D", TRACE_OWNER_NONE},
	{starts_inside, "E12 12 D E10 10 D", TRACE_OWNER_NONE},
	{starts_with_filter_en, "E80 80 82 D", TRACE_OWNER_NONE},
	{either, "E10 10 20 D E18 18 28 D", TRACE_OWNER_NONE},
	{empty_range, "E20 20 21 D", TRACE_OWNER_NONE},
	{never, "", TRACE_OWNER_NONE},
	{reserved_id, "E0 0 1 D", TRACE_OWNER_NONE},
	{kernel_addresses,
	 "Effff800000000010 ffff800000000010 D Effff800000000012 ffff800000000012 D",
	 TRACE_OWNER_NONE},
	{frozen, "E10 10 D E84 84 D", TRACE_OWNER_NONE},
	{context_by_branch, "E12 12 D E14 14 D", TRACE_OWNER_NONE},
	{events, "E0 0>20 20>30 30 31>40 D", TRACE_OWNER_NONE},
	{event_leaves_filter, "E10 10 D E1e 1e D E12 12 D", TRACE_OWNER_NONE},
	{stop_by_walking, "Ee e D T E11 11 12 20 40 D T E40 D T T", TRACE_OWNER_NONE},
	{stop_nearby, "Ee e D T", TRACE_OWNER_NONE},
	{stop_and_filter, "E10 10 D T T", TRACE_OWNER_NONE},
	{stop_always, "T T", TRACE_OWNER_NONE},
	{stop_by_wrmsr, "E10 10 11 D T", TRACE_OWNER_NONE},
	{stop_out_of_context, "E40 40 D", TRACE_OWNER_NONE},
	{stop_held, "E0 0 H 10 11 D T E11 11 H 10 D", TRACE_OWNER_NONE},
	{stop_without_reason, "E0 0 !a TraceStop was hit where no range calls for one",
	 TRACE_OWNER_NONE},
	{registers_change, "E0 0 1 D E6 6 8 D E14 14 D", TRACE_OWNER_NONE},
	{status_written, "E2 2 D", TRACE_OWNER_NONE},
	{overflow_written, "E10 10 11 D", TRACE_OWNER_NONE},
	{changed_then_event, "E0 0 2>40 40 41 D", TRACE_OWNER_NONE},
	{root_operation, "E0 0 D E1 1 D", TRACE_OWNER_NONE},
	{root_by_space, "E40 40 D", TRACE_OWNER_NONE},
	{starts_twice, "!a session starts inside another", TRACE_OWNER_NONE},
	{ends_after_change, "E0 !a session ends that never started", TRACE_OWNER_NONE},
};

START_TEST(expectation)
{
	struct trace_reader *r;
	struct rtit t = {0};
	char text[1000];

	synth_open(&t.s);
	if (expected[_i].owner != TRACE_OWNER_NONE)
		t.s.info.owner = expected[_i].owner;
	t.s.info.flags = TRACE_INFO_ATOM;
	synth_reopen(&t.s);
	t.regs.ctl = (uint32_t)(VPT_ATOM_MASK(CTL, TRACE_EN) | VPT_ATOM_MASK(CTL, TRACE_ACTIVE) |
				VPT_ATOM_MASK(CTL, OS) | VPT_ATOM_MASK(CTL, USER));
	filter(&t, VPT_ATOM_ID_ALWAYS);
	stop_at(&t, VPT_ATOM_ID_NEVER);
	expected[_i].make(&t);
	r = synth_read(&t.s);
	steps_write(r, text, sizeof(text));
	ck_assert_str_eq(text, expected[_i].steps);
	trace_reader_close(r);
	synth_done(&t.s);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("expect_atom");
	TCase *tc = tcase_create("expect_atom");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, expectation, 0, (int)(sizeof(expected) / sizeof(expected[0])));
	suite_add_tcase(suite, tc);
	return suite;
}
