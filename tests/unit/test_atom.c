// SPDX-License-Identifier: GPL-2.0-or-later
/* Atom's RTIT, joined: enables, writes to a trace that runs, and what an engine is asked for. */
#include "lib/atomfix.h"

static const uint64_t context_bit = VPT_ATOM_MASK(STATUS, CONTEXT_EN);
static const uint64_t filter_bit = VPT_ATOM_MASK(STATUS, FILTER_EN);
static const uint64_t overflow_bit = VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);

/* The engine hears of a trace before its first byte, and of its end behind the last. */
START_TEST(edges)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL);
	ck_assert_uint_eq(fix->rises, 1);
	ck_assert_uint_eq(fix->edge_committed, 0);
	ck_assert_uint_eq(fix->edge.offset, 0);
	ck_assert(fix->edge.status & VPT_ATOM_MASK(STATUS, TRIGGER_EN));
	atomfix_jcc(fix, true);
	atomfix_jump(fix, 0x2000);
	atomfix_jcc(fix, true);
	atomfix_jcc(fix, false);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	ck_assert_uint_eq(fix->falls, 1);
	ck_assert_uint_eq(fix->edge_committed, fix->edge.offset);
	ck_assert_uint_eq(fix->edge.tnt_buff, 6);
	ck_assert(!(fix->edge.status & VPT_ATOM_MASK(STATUS, TRIGGER_EN)));
	atomfix_packet(fix, VPT_ATOM_PKT_TNT);
	atomfix_packet(fix, VPT_ATOM_PKT_TIP);
	atomfix_no_packet(fix);
	/* Each half of it alone is none. */
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_EN));
	ck_assert_uint_eq(fix->rises, 1);
	ck_assert(!fix->atom.watches);
	atomfix_free(fix);
	TEST_PROVES("ATOM-TRIGGER ATOM-PSB-ENABLE ATOM-DISABLE");
}
END_TEST

/* What is asked of an engine follows from Trace_En and from what IPs can bring about. */
START_TEST(asks)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	struct vpt_atom *a = &fix->atom;

	atomfix_begin(fix, ATOMFIX_CTL);
	ck_assert(a->watches && !a->each_insn);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_RANGE0 | VPT_ATOM_ID_NEVER << 3);
	ck_assert(a->each_insn);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_EITHER << 3);
	ck_assert(a->each_insn);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, ATOMFIX_EVENTS);
	ck_assert(!a->each_insn);
	/* What software made of FilterEn holds up to the next instruction. */
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, 0);
	ck_assert(a->each_insn && !a->packet_en);
	atomfix_packet(fix, VPT_ATOM_PKT_PGD);
	atomfix_event(fix, VPT_EV_INSN, 0, 0x1010);
	ck_assert(!a->each_insn && a->packet_en);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_PGE)->value, 0x1010);
	/* With TraceActive clear FilterEn moves, with Trace_En clear it does not. */
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_RANGE0 | VPT_ATOM_ID_NEVER << 3);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	ck_assert(a->watches && a->each_insn);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), context_bit | filter_bit);
	atomfix_jump(fix, 0x5000);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), context_bit);
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, filter_bit);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, VPT_ATOM_MASK(CTL, OS));
	atomfix_jump(fix, 0x5000);
	ck_assert(!a->watches && !a->each_insn);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), context_bit | filter_bit);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-FILTER-FROZEN ATOM-FILTER-WRITE ATOM-FILTER-ID");
}
END_TEST

/* Table 7: row: an event ID, and where a jump must lead for FilterEn to be set. */
static const struct {
	unsigned int id;
	bool range0, range1, elsewhere;
} filter_ids[] = {
	{0, true, false, false},  {1, false, true, false},  {2, true, true, false},
	{3, false, false, false}, {4, false, false, false}, {5, false, false, false},
	{6, false, false, false}, {7, true, true, true},
};

START_TEST(filter_by_id)
{
	const struct {
		uint64_t lip;
		bool expected;
	} targets[] = {
		{0x1fff, filter_ids[_i].elsewhere}, {0x2000, filter_ids[_i].range0},
		{0x2fff, filter_ids[_i].range0},    {0x3000, filter_ids[_i].elsewhere},
		{0x3fff, filter_ids[_i].elsewhere}, {0x4000, filter_ids[_i].range1},
		{0x4fff, filter_ids[_i].range1},    {0x5000, filter_ids[_i].elsewhere},
	};
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_write(fix, VPT_ATOM_MSR_LIP0, 0x2000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP2, 0x3000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP1, 0x4000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP3, 0x5000);
	atomfix_begin(fix, ATOMFIX_CTL);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, filter_ids[_i].id | VPT_ATOM_ID_NEVER << 3);
	for (size_t n = 0; n < sizeof(targets) / sizeof(targets[0]); n++) {
		atomfix_jump(fix, targets[n].lip);
		ck_assert_int_eq(!!(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & filter_bit),
				 targets[n].expected);
	}
	atomfix_free(fix);
	TEST_PROVES("ATOM-FILTER-ID ATOM-FILTER-LIMIT ATOM-RESERVED-ID");
}
END_TEST

/* ContextEn is what it is, whether anybody traces or not. */
START_TEST(context_read)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), 0);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, VPT_ATOM_MASK(CTL, OS));
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), context_bit);
	fix->ctx.cpl = 3;
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), 0);
	fix->ctx.cpl = 0;
	vpt_atom_smi(&fix->atom, 0x1000);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), 0);
	vpt_atom_rsm(&fix->atom, 0x1000);
	vpt_atom_vm_exit(&fix->atom, 0x1000);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), 0);
	vpt_atom_vm_entry(&fix->atom, 0x1000);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), context_bit);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, VPT_ATOM_MASK(CTL, OS) | VPT_ATOM_MASK(CTL, CR3_EN));
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), 0);
	atomfix_write(fix, VPT_ATOM_MSR_CR3_MATCH, fix->ctx.cr3);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), context_bit);
	atomfix_free(fix);
	TEST_PROVES("ATOM-CONTEXT-CPL ATOM-CONTEXT-SMM ATOM-CONTEXT-ROOT ATOM-CONTEXT-CR3");
}
END_TEST

/* A guest must read RTIT_CTL first, a host need not; what is refused leaves no trace. */
START_TEST(locked)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	struct vpt_atom *a = &fix->atom;
	uint64_t value = 0;

	ck_assert_int_eq(vpt_atom_wrmsr(a, VPT_ATOM_MSR_CTL, 0, VPT_ACCESS_GUEST, 0, 0),
			 VPT_FAULT_GP);
	ck_assert_int_eq(vpt_atom_wrmsr(a, VPT_ATOM_MSR_CNTP, 5, VPT_ACCESS_HOST, 0, 0),
			 VPT_FAULT_NONE);
	ck_assert_int_eq(vpt_atom_rdmsr(a, VPT_ATOM_MSR_CNTP, &value), VPT_FAULT_GP);
	ck_assert_int_eq(vpt_atom_rdmsr(a, VPT_ATOM_MSR_CTL, &value), VPT_FAULT_NONE);
	ck_assert_int_eq(vpt_atom_rdmsr(a, VPT_ATOM_MSR_CNTP, &value), VPT_FAULT_NONE);
	ck_assert_uint_eq(value, 5);
	atomfix_begin(fix, ATOMFIX_CTL);
	ck_assert_int_eq(
		vpt_atom_wrmsr(a, VPT_ATOM_MSR_CTL, ATOMFIX_CTL | 0x20, VPT_ACCESS_GUEST, 0, 0),
		VPT_FAULT_GP);
	ck_assert_int_eq(vpt_atom_wrmsr(a, VPT_ATOM_MSR_TNT_BUFF, 0, VPT_ACCESS_HOST, 0, 0),
			 VPT_FAULT_GP);
	ck_assert(a->packet_en);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-LOCK ATOM-RESERVED");
}
END_TEST

/* Each compression register, and each that says when something is due, counts at once. */
START_TEST(written_live)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	uint64_t lip = 0;

	atomfix_begin(fix, ATOMFIX_CTL | VPT_ATOM_MASK(CTL, CMPRS_RET));
	atomfix_write(fix, VPT_ATOM_MSR_TNT_BUFF, 0x55);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TNT)->value, 0x15);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_TNT_BUFF), 1);
	atomfix_write(fix, VPT_ATOM_MSR_LAST_LIP, VPT_ATOM_MASK(LAST_LIP, VALID) | 0x12345678);
	atomfix_jump(fix, 0x12345678abcd);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->cnt, VPT_ATOM_CNT_2);
	atomfix_write(fix, VPT_ATOM_MSR_LAST_LIP, 0);
	atomfix_jump(fix, 0x12345678abcd);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->cnt, VPT_ATOM_CNT_6);
	atomfix_write(fix, VPT_ATOM_MSR_LAST_CALL_NLIP,
		      VPT_ATOM_MASK(LAST_CALL_NLIP, VALID) | 0x7000);
	atomfix_event(fix, VPT_EV_RET, 0, 0x7000);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_TNT_BUFF), 3);
	atomfix_write(fix, VPT_ATOM_MSR_LAST_CALL_NLIP, 0x7000);
	atomfix_event(fix, VPT_EV_RET, 0, 0x7000);
	atomfix_packet(fix, VPT_ATOM_PKT_TNT);
	ck_assert_int_eq(
		vpt_atom_lip_expand(atomfix_packet(fix, VPT_ATOM_PKT_TIP), 0x12345678, true, &lip),
		VPT_OK);
	ck_assert_uint_eq(lip, 0x7000);
	atomfix_write(fix, VPT_ATOM_MSR_PKT_CNT, 0x800);
	atomfix_packet(fix, VPT_ATOM_PKT_PSB);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_PKT_CNT), VPT_ATOM_PSB_BYTES);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_LAST_LIP), 0);
	/* The bit counts, not the value. */
	atomfix_write(fix, VPT_ATOM_MSR_PKT_CNT, 0x1000);
	atomfix_no_packet(fix);
	atomfix_write(fix, VPT_ATOM_MSR_PKT_CNT, 0x33fff);
	atomfix_no_packet(fix);
	atomfix_jump(fix, 0x2000);
	atomfix_packet(fix, VPT_ATOM_PKT_TIP);
	atomfix_packet(fix, VPT_ATOM_PKT_PSB);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_PKT_CNT), 0x30000 + VPT_ATOM_PSB_BYTES);
	atomfix_free(fix);
	TEST_PROVES("ATOM-CTL-LIVE ATOM-TNT-FULL ATOM-PSB-DUE ATOM-LIP-LAST ATOM-RET");
}
END_TEST

/* 4.2.5: what software makes of Buffer_Overflow; there is no buffer that could be full. */
START_TEST(overflow_written)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL);
	atomfix_jcc(fix, true);
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, overflow_bit | filter_bit);
	ck_assert(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & overflow_bit);
	atomfix_no_packet(fix);
	/* A drain does not end it, and what a new trace says first is all that gets out. */
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL);
	ck_assert(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & overflow_bit);
	atomfix_packet(fix, VPT_ATOM_PKT_PSB);
	atomfix_no_packet(fix);
	/* The instruction that ends it is lost, as what it sends and as an outcome. */
	atomfix_jcc(fix, false);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TNT)->bits, 1);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->value, ATOMFIX_IP);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_TNT_BUFF), 1);
	ck_assert(!(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & overflow_bit));
	/* Cleared by software it ends without a word. */
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, overflow_bit | filter_bit);
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, filter_bit);
	atomfix_no_packet(fix);
	atomfix_jump(fix, 0x2000);
	atomfix_packet(fix, VPT_ATOM_PKT_TIP);
	atomfix_no_packet(fix);
	/* An overflow that ends by itself clears LAST_LIP and LAST_CALL_NLIP. */
	atomfix_write(fix, VPT_ATOM_MSR_LAST_LIP, VPT_ATOM_MASK(LAST_LIP, VALID) | 0x7fff1234);
	atomfix_write(fix, VPT_ATOM_MSR_LAST_CALL_NLIP,
		      VPT_ATOM_MASK(LAST_CALL_NLIP, VALID) | 0x7000);
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, overflow_bit | filter_bit);
	atomfix_jump(fix, 0x7fff12340000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->value, 0x7fff12340000);
	ck_assert_uint_eq(fix->packet.cnt, VPT_ATOM_CNT_6);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_LAST_CALL_NLIP), 0);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-SET ATOM-OVF-CLEAR ATOM-OVF-DRAIN ATOM-OVF-PSB ATOM-OVF");
}
END_TEST

/* A TraceStop that is held goes where its overflow goes. */
START_TEST(stop_held)
{
	const uint64_t stops = VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_ALWAYS << 3;
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL);
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, overflow_bit | filter_bit);
	fix->ctx.cpl = 3; /* ... so that no instruction ends it */
	atomfix_event(fix, VPT_EV_FAR, 0, 0x2000);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, stops);
	ck_assert(fix->atom.trigger_en);
	fix->ctx.cpl = 0;
	/* Held, and done as soon as FUP.BuffOvf is out. */
	atomfix_event(fix, VPT_EV_ASYNC, 0, 0x3000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->value, 0x3000);
	atomfix_packet(fix, VPT_ATOM_PKT_TRACE_STOP);
	atomfix_no_packet(fix);
	ck_assert(!(atomfix_read(fix, VPT_ATOM_MSR_CTL) & VPT_ATOM_MASK(CTL, TRACE_ACTIVE)));
	ck_assert(!(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & filter_bit));
	ck_assert_uint_eq(fix->falls, 1);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-STOP ATOM-OVF-SET ATOM-STOP-WHEN");
}
END_TEST

/* Software that clears the overflow gets the TraceStop at once, or none if nothing is traced. */
START_TEST(stop_let_go)
{
	const uint64_t stops = VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_ALWAYS << 3;
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	bool traced = _i;

	atomfix_options(fix, &(struct vpt_atom_options){.buffer_bytes = 64, .buffer_drain = 1});
	atomfix_on(fix, ATOMFIX_CTL);
	while (!(fix->atom.regs.status & overflow_bit))
		atomfix_jump(fix, 0x2000);
	fix->shown = fix->atom.regs.offset;
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, stops);
	ck_assert(fix->atom.buffer.stop_held && fix->atom.trigger_en);
	if (!traced)
		atomfix_write(fix, VPT_ATOM_MSR_CTL, VPT_ATOM_MASK(CTL, OS));
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, ATOMFIX_EVENTS);
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, filter_bit);
	if (traced)
		atomfix_packet(fix, VPT_ATOM_PKT_TRACE_STOP);
	atomfix_no_packet(fix);
	ck_assert(!fix->atom.buffer.stop_held && !fix->atom.trigger_en);
	/* Nothing of it is left for the next trace. */
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL);
	atomfix_jump(fix, 0x2000);
	ck_assert(fix->atom.trigger_en);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-STOP ATOM-OVF-SET");
}
END_TEST

static const struct vpt_atom_options bad_options[] = {
	{.clear_lag = VPT_ATOM_LAG_MAX + 1},
	{.buffer_bytes = 1},
	{.buffer_bytes = VPT_ATOM_BUFFER_MIN - 1},
	{.buffer_bytes = VPT_BUFFER_MAX + 1},
};

START_TEST(options)
{
	struct vpt_atom_options good = {.errata = VPT_ATOM_E_ALL,
					.clear_lag = VPT_ATOM_LAG_MAX,
					.disable_pgd = true,
					.buffer_bytes = VPT_BUFFER_MAX};
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	struct vpt_atom before;
	size_t i;

	for (i = 0; i < sizeof(bad_options) / sizeof(bad_options[0]); i++) {
		before = fix->atom;
		ck_assert_int_eq(vpt_atom_set_options(&fix->atom, &bad_options[i]), VPT_E_INVAL);
		ck_assert_mem_eq(&before, &fix->atom, sizeof(before));
	}
	atomfix_options(fix, &good);
	good.buffer_bytes = VPT_ATOM_BUFFER_MIN;
	atomfix_options(fix, &good);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, VPT_ATOM_MASK(CTL, TRACE_EN));
	ck_assert_int_eq(vpt_atom_set_options(&fix->atom, &good), VPT_E_INVAL);
	atomfix_free(fix);
	TEST_PROVES("ATOM-LIP-LAG");
}
END_TEST

/* The inline way of a Jcc is the other one, whatever is on. */
START_TEST(quick_cond)
{
	static const uint64_t events[] = {ATOMFIX_EVENTS,
					  VPT_ATOM_ID_RANGE0 | VPT_ATOM_ID_NEVER << 3};
	static const uint64_t ctl[] = {0, VPT_ATOM_MASK(CTL, CYCLE_ACC),
				       VPT_ATOM_MASK(CTL, MTC_EN)};
	struct atomfix *a = atomfix_new(GUESTMEM_MAP_WHOLE), *b = atomfix_new(GUESTMEM_MAP_WHOLE);
	unsigned int i;

	atomfix_on(a, ATOMFIX_CTL | ctl[_i / 2]);
	atomfix_on(b, ATOMFIX_CTL | ctl[_i / 2]);
	atomfix_write(a, VPT_ATOM_MSR_EVENTS, events[_i % 2]);
	atomfix_write(b, VPT_ATOM_MSR_EVENTS, events[_i % 2]);
	for (i = 0; i < 100; i++) {
		bool taken = i * 0x9e37u >> 5 & 1;

		atomfix_wait(a, 50);
		atomfix_wait(b, 50);
		vpt_atom_cond(&a->atom, ATOMFIX_IP, ATOMFIX_IP, ATOMFIX_IP + 2, taken);
		atomfix_jcc(b, taken);
		ck_assert_mem_eq(&a->atom.regs, &b->atom.regs, sizeof(a->atom.regs));
	}
	vpt_atom_flush(&a->atom);
	vpt_atom_flush(&b->atom);
	ck_assert(guestmem_same(&a->mem, &b->mem));
	atomfix_free(a);
	atomfix_free(b);
	TEST_PROVES("ATOM-COND ATOM-TNT-FULL");
}
END_TEST

/* The engine lost packets, and went to where the filter says something else. */
START_TEST(engine_loses)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_write(fix, VPT_ATOM_MSR_LIP0, 0x2000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP2, 0x3000);
	atomfix_begin(fix, ATOMFIX_CTL);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_RANGE0 | VPT_ATOM_ID_NEVER << 3);
	atomfix_jump(fix, 0x2000);
	ck_assert(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & filter_bit);
	atomfix_event(fix, VPT_EV_OVERFLOW, 0, 0x5000);
	ck_assert(!(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & filter_bit));
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, 0);
	/* Without a trace there is nothing to lose, but execution is elsewhere. */
	atomfix_event(fix, VPT_EV_OVERFLOW, 0, 0x2800);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_STATUS), context_bit | filter_bit);
	atomfix_free(fix);
}
END_TEST

/* It went to where one range ends within another: one that walks there would leave. */
START_TEST(engine_loses_at_bound)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_write(fix, VPT_ATOM_MSR_LIP0, 0x2000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP2, 0x3000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP1, 0x2800);
	atomfix_write(fix, VPT_ATOM_MSR_LIP3, 0x4000);
	atomfix_begin(fix, ATOMFIX_CTL);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_EITHER | VPT_ATOM_ID_NEVER << 3);
	atomfix_event(fix, VPT_EV_OVERFLOW, 0, 0x3000);
	ck_assert(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & filter_bit);
	atomfix_free(fix);
}
END_TEST

/* Each write to RTIT_CTL reports what was put before, and drains the buffer. */
START_TEST(ctl_drains)
{
	const struct vpt_atom_options small = {.buffer_bytes = 64, .buffer_drain = 0};
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	unsigned int i;

	atomfix_options(fix, &small);
	atomfix_on(fix, ATOMFIX_CTL);
	ck_assert_uint_eq(fix->mem.committed.count, atomfix_read(fix, VPT_ATOM_MSR_OFFSET));
	/* Nothing else drains it, and it has room for no more than half of these packets. */
	for (i = 0; i < 32; i++) {
		atomfix_jump(fix, 0x2000 + 0x100 * i);
		atomfix_write(fix, VPT_ATOM_MSR_CTL,
			      ATOMFIX_CTL | (i & 1 ? VPT_ATOM_MASK(CTL, CMPRS_RET) : 0));
		ck_assert_uint_eq(fix->mem.committed.count, atomfix_read(fix, VPT_ATOM_MSR_OFFSET));
		ck_assert(!(atomfix_read(fix, VPT_ATOM_MSR_STATUS) & overflow_bit));
	}
	atomfix_free(fix);
	TEST_PROVES("ATOM-CTL-DRAIN");
}
END_TEST

TEST_SUITE("atom", NULL, NULL)
{
	TEST_ROWS(tcase, filter_by_id, filter_ids);
	TEST_ADD(tcase, edges, asks, engine_loses, engine_loses_at_bound, ctl_drains, context_read,
		 locked, written_live, overflow_written, stop_held);
	TEST_LOOP(tcase, 2, stop_let_go);
	TEST_ADD(tcase, options);
	TEST_LOOP(tcase, 6, quick_cond);
}
