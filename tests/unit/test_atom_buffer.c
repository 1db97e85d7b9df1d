// SPDX-License-Identifier: GPL-2.0-or-later
/* The internal buffer of Atom's RTIT (4.2.5) against a second account of it. */
#include "lib/atomfix.h"

static bool overflows(const struct atomfix *fix)
{
	return fix->atom.regs.status & VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
}

static uint32_t random_of(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* How long a packet with a LIP is that comes next. */
static uint32_t lip_bytes(const struct atomfix *fix, uint64_t lip)
{
	const struct vpt_atom_regs *regs = &fix->atom.regs;
	uint8_t cnt;
	bool zext;

	vpt_atom_lip_compress(lip, (uint32_t)regs->last_lip,
			      regs->last_lip & VPT_ATOM_MASK(LAST_LIP, VALID), &cnt, &zext);
	return 3 + 2 * cnt;
}

/* What is in the buffer, in 1024ths of a byte. */
struct account {
	uint64_t level, size, drain;
};

static uint32_t bytes_in(const struct account *c)
{
	return (uint32_t)((c->level + 1023) / 1024);
}

static bool admits(struct account *c, uint32_t bytes)
{
	if (bytes_in(c) + bytes > c->size)
		return false;
	c->level += 1024 * (uint64_t)bytes;
	return true;
}

static void leave(struct account *c, uint64_t clocks)
{
	uint64_t out = clocks * (c->drain ? c->drain : 1024);

	c->level = out < c->level ? c->level - out : 0;
}

static const struct {
	uint32_t size, drain;
} buffers[] = {{64, 1}, {64, 100}, {65, 1023}, {100, 0}, {128, 1024}, {200, 5000}, {64, 1 << 30}};

#define BUFFERS (int)(sizeof(buffers) / sizeof(buffers[0]))

/* Row: a buffer. When it overflows, and when that is over, is what the account says. */
START_TEST(level)
{
	struct account c = {.size = buffers[_i].size, .drain = buffers[_i].drain};
	const struct vpt_atom_options options = {.buffer_bytes = buffers[_i].size,
						 .buffer_drain = buffers[_i].drain};
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	unsigned int i, lost = 0, over = 0;
	uint32_t seed = 77;

	atomfix_options(fix, &options);
	atomfix_begin(fix, ATOMFIX_CTL);
	for (i = 0; i < 3000 && fix->shown < ATOMFIX_ROOM - 64; i++) {
		uint64_t clocks = random_of(&seed, i % 500 > 400 ? 3000 : 12);
		uint64_t to = (uint64_t)random_of(&seed, 3) << 32 | random_of(&seed, 1 << 20);
		const bool was = overflows(fix);
		uint32_t bytes = lip_bytes(fix, to);
		bool fits;

		atomfix_wait(fix, clocks);
		leave(&c, clocks);
		fits = !was && admits(&c, bytes);
		atomfix_jump(fix, to);
		if (fits)
			ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->size, bytes);
		lost += !was && !fits;
		if (!fits && !bytes_in(&c)) {
			ck_assert(admits(&c, atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->size));
			over++;
			ck_assert(!overflows(fix));
		} else {
			ck_assert_int_eq(overflows(fix), !fits);
		}
		if (fix->shown != fix->atom.regs.offset) {
			atomfix_packet(fix, VPT_ATOM_PKT_PSB);
			ck_assert(admits(&c, VPT_ATOM_PSB_BYTES));
		}
		atomfix_no_packet(fix);
		ck_assert_uint_eq(fix->atom.buffer.fill, bytes_in(&c));
	}
	ck_assert_int_eq(lost > 0, buffers[_i].drain < 5000);
	ck_assert_uint_le(over, lost);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF ATOM-OVF-CLEAR ATOM-PKT-COUNT ATOM-WHEN-OVF");
}
END_TEST

/* Fill a buffer of 64 bytes that hardly drains, but for `left` bytes. */
static struct atomfix *filled(uint64_t ctl, uint8_t errata, uint32_t left)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_options(fix, &(struct vpt_atom_options){
				     .buffer_bytes = 64, .buffer_drain = 1, .errata = errata});
	atomfix_begin(fix, ATOMFIX_CTL | ctl);
	fix->atom.buffer.fill = 64 - left;
	return fix;
}

/* Long enough for the buffer to be empty. */
static void drain(struct atomfix *fix)
{
	atomfix_wait(fix, 65 * 1024);
}

/* A full TNT that does not fit is kept, and its count is that of FUP.BuffOvf. */
START_TEST(full_tnt)
{
	struct atomfix *fix = filled(VPT_ATOM_MASK(CTL, CYCLE_ACC), 0, 1);
	unsigned int i;

	atomfix_write(fix, VPT_ATOM_MSR_LAST_LIP, VPT_ATOM_MASK(LAST_LIP, VALID) | 0x7fff1234);
	atomfix_write(fix, VPT_ATOM_MSR_LAST_CALL_NLIP,
		      VPT_ATOM_MASK(LAST_CALL_NLIP, VALID) | 0x7000);
	for (i = 0; i < 6; i++)
		atomfix_jcc(fix, i % 3);
	ck_assert(overflows(fix));
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_TNT_BUFF), 0x5b);
	atomfix_jcc(fix, true);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_TNT_BUFF), 0x5b);
	drain(fix);
	/* Out of context the overflow is not over, though the buffer is empty. */
	fix->ctx.cpl = 3;
	atomfix_event(fix, VPT_EV_FAR, 0, 0x3000);
	ck_assert(overflows(fix));
	fix->ctx.cpl = 0;
	atomfix_event(fix, VPT_EV_FAR, 0, 0x7fff12340000);
	ck_assert(!overflows(fix));
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TNT)->bits, 6);
	ck_assert_uint_eq(fix->packet.value, 0x1b);
	ck_assert_uint_eq(fix->packet.cycles, 65 * 1024);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->value, 0x7fff12340000);
	ck_assert_uint_eq(fix->packet.cycles, 0);
	ck_assert_uint_eq(fix->packet.cnt, VPT_ATOM_CNT_6);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_LAST_CALL_NLIP), 0);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-TNT ATOM-OVF ATOM-OVF-CLEAR");
}
END_TEST

/* The enables go on, without a word; CNTP counts, and PCC comes behind FUP.BuffOvf if need be. */
START_TEST(enables)
{
	struct atomfix *fix = filled(VPT_ATOM_MASK(CTL, CYCLE_ACC) | VPT_ATOM_MASK(CTL, MTC_EN) |
					     VPT_ATOM_MASK(CTL, LESS_PKTS),
				     0, 2);

	atomfix_jump(fix, 0x2000);
	ck_assert(overflows(fix));
	atomfix_write(fix, VPT_ATOM_MSR_LIP0, 0x2000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP2, 0x3000);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_RANGE0 | VPT_ATOM_ID_NEVER << 3);
	atomfix_jump(fix, 0x5000);
	ck_assert(!fix->atom.packet_en);
	atomfix_wait(fix, 1000);
	atomfix_jump(fix, 0x2010);
	ck_assert(fix->atom.packet_en && overflows(fix));
	/* Out of context it stays as it is, be the buffer empty; the count goes on meanwhile. */
	fix->ctx.cpl = 3;
	atomfix_event(fix, VPT_EV_FAR, 0, 0x2000);
	drain(fix);
	vpt_atom_tick(&fix->atom, 0x2000);
	ck_assert(overflows(fix));
	atomfix_no_packet(fix);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), 1000);
	fix->ctx.cpl = 0;
	atomfix_event(fix, VPT_EV_FAR, 0, 0x2100);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->value, 0x2100);
	ck_assert_uint_eq(fix->packet.cycles, 1000);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-ENABLES ATOM-OVF-PCC ATOM-OVF");
}
END_TEST

/* PCC waits for FUP.BuffOvf, whose count stands for it. */
START_TEST(no_pcc)
{
	struct atomfix *fix = filled(VPT_ATOM_MASK(CTL, CYCLE_ACC), 0, 2);

	atomfix_jump(fix, 0x2000);
	fix->atom.options.buffer_drain = 0;
	atomfix_write(fix, VPT_ATOM_MSR_CNTP, 1 << 21);
	atomfix_no_packet(fix);
	drain(fix);
	vpt_atom_tick(&fix->atom, 0x2000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->cycles, (1 << 21) + 65 * 1024);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-PCC");
}
END_TEST

/* Row: E4. A TraceStop in an overflow waits, or sends its byte and stops nothing. */
START_TEST(trace_stop)
{
	struct atomfix *fix = filled(0, _i ? VPT_ATOM_E4 : 0, 2);

	atomfix_jump(fix, 0x2000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP0, 0x7000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP2, 0x8000);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_RANGE0 << 3);
	atomfix_jump(fix, 0x7800);
	if (_i)
		atomfix_packet(fix, VPT_ATOM_PKT_TRACE_STOP);
	atomfix_no_packet(fix);
	ck_assert(fix->atom.trigger_en && fix->atom.filter_en);
	drain(fix);
	atomfix_jump(fix, 0x9000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->value, 0x9000);
	if (!_i)
		atomfix_packet(fix, VPT_ATOM_PKT_TRACE_STOP);
	atomfix_no_packet(fix);
	ck_assert_int_eq(fix->atom.trigger_en, _i);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-STOP ATOM-E4");
}
END_TEST

/* A TraceStop is held; then software clears Buffer_Overflow, and PacketEn rises: no FUP.PGE. */
START_TEST(stop_after_clear)
{
	struct atomfix *fix = filled(0, 0, 2);

	atomfix_jump(fix, 0x2000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP0, 0x7000);
	atomfix_write(fix, VPT_ATOM_MSR_LIP2, 0x8000);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_NEVER | VPT_ATOM_ID_RANGE0 << 3);
	atomfix_jump(fix, 0x7800);
	ck_assert(overflows(fix) && !fix->atom.packet_en);
	atomfix_write(fix, VPT_ATOM_MSR_STATUS, VPT_ATOM_MASK(STATUS, FILTER_EN));
	drain(fix);
	atomfix_packet(fix, VPT_ATOM_PKT_TRACE_STOP);
	atomfix_no_packet(fix);
	ck_assert(!fix->atom.trigger_en);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-SET ATOM-STOP");
}
END_TEST

/* A WRMSR to RTIT_STATUS that walks to a base stops the trace as any instruction does. */
START_TEST(stop_at_status)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL);
	atomfix_write(fix, VPT_ATOM_MSR_LIP0, ATOMFIX_IP + 2);
	atomfix_write(fix, VPT_ATOM_MSR_LIP2, 0x8000);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_RANGE0 << 3);
	ck_assert_int_eq(vpt_atom_wrmsr(&fix->atom, VPT_ATOM_MSR_STATUS,
					VPT_ATOM_MASK(STATUS, FILTER_EN), VPT_ACCESS_HOST,
					ATOMFIX_IP, ATOMFIX_IP + 2),
			 VPT_FAULT_NONE);
	atomfix_packet(fix, VPT_ATOM_PKT_TRACE_STOP);
	ck_assert(!fix->atom.trigger_en);
	atomfix_free(fix);
	TEST_PROVES("ATOM-STOP-WHEN ATOM-FILTER-WRITE");
}
END_TEST

/* A TraceStop that finds no room is the one that overflows. */
START_TEST(no_room_to_stop)
{
	struct atomfix *fix = filled(0, 0, 0);

	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_ALWAYS << 3);
	ck_assert(overflows(fix) && fix->atom.trigger_en);
	drain(fix);
	vpt_atom_tick(&fix->atom, 0x1000);
	atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF);
	atomfix_packet(fix, VPT_ATOM_PKT_TRACE_STOP);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OVF-STOP ATOM-OVF");
}
END_TEST

/* Row: E5. The TIP of the branch that FUP.BuffOvf is at. */
START_TEST(extra_tip)
{
	struct atomfix *fix = filled(0, _i ? VPT_ATOM_E5 : 0, 2);

	atomfix_jump(fix, 0x2000);
	drain(fix);
	atomfix_jump(fix, 0x3000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF)->value, 0x3000);
	if (_i)
		ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->value, 0x3000);
	atomfix_no_packet(fix);
	/* Of an earlier branch there is none. */
	fix->atom.buffer.fill = 62;
	atomfix_jump(fix, 0x4000);
	drain(fix);
	vpt_atom_tick(&fix->atom, 0x4000);
	atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-E5");
}
END_TEST

/* A PSB that is due and does not fit comes behind the first packet that does. */
START_TEST(psb_lost)
{
	struct atomfix *fix = filled(0, 0, 12);

	atomfix_write(fix, VPT_ATOM_MSR_PKT_CNT, 0x7fe);
	atomfix_jump(fix, 0x123456789abc);
	atomfix_packet(fix, VPT_ATOM_PKT_TIP);
	atomfix_no_packet(fix);
	ck_assert(overflows(fix));
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_PKT_CNT), 0x805);
	drain(fix);
	vpt_atom_tick(&fix->atom, 0x1000);
	atomfix_packet(fix, VPT_ATOM_PKT_BUF_OVF);
	atomfix_packet(fix, VPT_ATOM_PKT_PSB);
	atomfix_no_packet(fix);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_PKT_CNT), VPT_ATOM_PSB_BYTES);
	atomfix_free(fix);
	TEST_PROVES("ATOM-PSB-DUE ATOM-PKT-COUNT ATOM-OVF");
}
END_TEST

TEST_SUITE("atom_buffer", NULL, NULL)
{
	TEST_LOOP(tcase, BUFFERS, level);
	TEST_ADD(tcase, full_tnt, enables, no_pcc);
	TEST_LOOP(tcase, 2, trace_stop);
	TEST_ADD(tcase, stop_after_clear, stop_at_status, no_room_to_stop);
	TEST_LOOP(tcase, 2, extra_tip);
	TEST_ADD(tcase, psb_lost);
}
