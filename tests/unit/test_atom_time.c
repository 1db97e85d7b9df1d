// SPDX-License-Identifier: GPL-2.0-or-later
/* Time in Atom's RTIT: cycle counts, MTC, STS, FUP.PCC and sleep. */
#include "lib/atomfix.h"

#define CYC	 VPT_ATOM_MASK(CTL, CYCLE_ACC)
#define MTC	 VPT_ATOM_MASK(CTL, MTC_EN)
#define STS	 VPT_ATOM_MASK(CTL, STS_EN)
#define LESS	 VPT_ATOM_MASK(CTL, LESS_PKTS)
#define CNTP_TOP 0x400000u /* where CNTP wraps */

static uint64_t range_bits(unsigned int range)
{
	return (uint64_t)range << VPT_ATOM_CTL_MTC_RANGE_SHIFT;
}

static uint32_t random_of(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* Core clocks pass; the TSC has `num` ticks in `den` of them. */
static void pass(struct atomfix *fix, uint64_t clocks, uint64_t num, uint64_t den)
{
	fix->clock.cycles += clocks;
	fix->clock.tsc = 1000 + fix->clock.cycles * num / den;
}

static const struct {
	uint64_t num, den;
} ratios[] = {{1, 1}, {4, 3}, {3, 4}, {20, 1}, {1, 9}};

#define RATIOS (sizeof(ratios) / sizeof(ratios[0]))

/* The first core clock at which the TSC is there. */
static uint64_t clock_of(uint64_t tsc, uint64_t num, uint64_t den)
{
	return ((tsc - 1000) * den + num - 1) / num;
}

/*
 * Row: a range and a ratio. Each MTC has its value, in turn; the cycle counts up to it add up
 * to the clock at which the TSC came there, as well as two readings of the TSC tell.
 */
START_TEST(mtc)
{
	const unsigned int range = (unsigned int)_i % 4, shift = 7 + 2 * range;
	const uint64_t num = ratios[(size_t)_i / 4].num, den = ratios[(size_t)_i / 4].den;
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	const uint64_t slack = num == den ? 0 : (den + num - 1) / num;
	uint64_t count, at, cycles = 0;
	unsigned int n, mtcs = 0, jumps = 0;
	uint32_t seed = 1 + (uint32_t)_i;

	fix->ctx.tsc = 77; /* software's: nobody looks at it */
	pass(fix, 0, num, den);
	atomfix_on(fix, ATOMFIX_CTL | CYC | MTC | range_bits(range));
	count = fix->clock.tsc >> shift;
	for (n = 0; n < 600; n++) {
		pass(fix, random_of(&seed, 1u << (shift - 4)), num, den);
		atomfix_jump(fix, 0x2000);
		jumps++;
	}
	atomfix_packet(fix, VPT_ATOM_PKT_PSB);
	cycles += atomfix_packet(fix, VPT_ATOM_PKT_PGE)->cycles;
	for (vpt_atom_flush(&fix->atom); fix->shown < fix->atom.regs.offset;) {
		uint8_t byte;

		guestmem_peek(&fix->mem, ATOMFIX_RAM + fix->shown, &byte, 1);
		if (byte == 0xc0) {
			atomfix_packet(fix, VPT_ATOM_PKT_PSB);
		} else if (byte >> 6 == 3) {
			const struct vpt_atom_packet *p = atomfix_packet(fix, VPT_ATOM_PKT_MTC);

			ck_assert_uint_eq(p->value, ++count & 0xff);
			ck_assert_uint_eq(p->aux, range);
			cycles += p->cycles;
			at = clock_of(count << shift, num, den);
			ck_assert_uint_ge(cycles, at);
			ck_assert_uint_le(cycles, at + slack);
			mtcs++;
		} else {
			cycles += atomfix_packet(fix, VPT_ATOM_PKT_TIP)->cycles;
			jumps--;
		}
	}
	ck_assert_uint_eq(jumps, 0);
	ck_assert_uint_eq(mtcs, (fix->clock.tsc >> shift) - (1000 >> shift));
	ck_assert_uint_eq(cycles, fix->clock.cycles);
	atomfix_free(fix);
	TEST_PROVES("ATOM-MTC ATOM-CYC ATOM-CYC-RESET ATOM-TSC");
}
END_TEST

/* So many at once that 8 bits do not tell: they are lost, and STS says what time it is. */
START_TEST(mtc_burst)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	unsigned int n;

	atomfix_begin(fix, ATOMFIX_CTL | MTC | STS);
	atomfix_wait(fix, 255 * 128);
	atomfix_jcc(fix, true);
	for (n = 1; n <= 255; n++)
		ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_MTC)->value, n);
	atomfix_wait(fix, 256 * 128);
	atomfix_jcc(fix, true);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_STS)->value, 511 * 128);
	atomfix_no_packet(fix);
	atomfix_wait(fix, 1ull << 50);
	atomfix_jcc(fix, true);
	atomfix_packet(fix, VPT_ATOM_PKT_STS);
	atomfix_wait(fix, 128);
	atomfix_jcc(fix, true);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_MTC)->value, 0);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-MTC ATOM-MTC-LOST");
}
END_TEST

/* A TSC that goes back, as a host's may: the counters go on from there. */
START_TEST(tsc_back)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	fix->clock.tsc = 1 << 20;
	atomfix_begin(fix, ATOMFIX_CTL | MTC);
	fix->clock.tsc = 1000;
	atomfix_jcc(fix, true);
	atomfix_no_packet(fix);
	atomfix_wait(fix, 128);
	atomfix_jcc(fix, true);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_MTC)->value, 1128 >> 7);
	atomfix_free(fix);
	TEST_PROVES("ATOM-MTC");
}
END_TEST

/* Table 17: MTC and STS without PacketEn, and with LESS_PKTS not. */
START_TEST(timing_when)
{
	const uint64_t less = _i ? LESS : 0;
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL | MTC | STS | less);
	fix->ctx.cpl = 3;
	atomfix_event(fix, VPT_EV_FAR, 0, 0x2000);
	atomfix_packet(fix, VPT_ATOM_PKT_PGD);
	atomfix_wait(fix, 128);
	atomfix_event(fix, VPT_EV_CBR, 0, 0x2000);
	if (!less) {
		atomfix_packet(fix, VPT_ATOM_PKT_MTC);
		atomfix_packet(fix, VPT_ATOM_PKT_STS);
	}
	atomfix_no_packet(fix);
	/* What was not sent is not made up for. */
	fix->ctx.cpl = 0;
	atomfix_event(fix, VPT_EV_FAR, 0, 0x3000);
	atomfix_packet(fix, VPT_ATOM_PKT_PGE);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-MTC-WHEN ATOM-STS-WHEN");
}
END_TEST

/* Row: is Cycle_Acc on; LESS_PKTS. CNTP is what it is however seldom it is asked for. */
START_TEST(cntp)
{
	const uint64_t cyc = _i & 1 ? CYC : 0, less = _i & 2 ? LESS : 0;
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL | cyc | less);
	atomfix_write(fix, VPT_ATOM_MSR_CNTP, 100);
	atomfix_wait(fix, 50);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), 150);
	/* FilterEn counts, but with LESS_PKTS. */
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_NEVER | VPT_ATOM_ID_NEVER << 3);
	atomfix_write(fix, VPT_ATOM_MSR_CNTP, 0);
	atomfix_wait(fix, 50);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), less ? 50 : 0);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, ATOMFIX_EVENTS);
	/* ContextEn does in any case, at the clock at which it moves. */
	atomfix_write(fix, VPT_ATOM_MSR_CNTP, 10);
	atomfix_wait(fix, 7);
	fix->ctx.cpl = 3;
	atomfix_event(fix, VPT_EV_FAR, 0, 0x2000);
	atomfix_wait(fix, 50);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), cyc ? 0 : 17);
	fix->ctx.cpl = 0;
	atomfix_event(fix, VPT_EV_FAR, 0, 0x2000);
	atomfix_wait(fix, 1);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), cyc ? 1 : 18);
	/* It wraps. Without TriggerEn it stands. */
	atomfix_write(fix, VPT_ATOM_MSR_CNTP, CNTP_TOP - 3);
	if (cyc) /* FUP.PCC comes with the write */
		ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), 0);
	else
		atomfix_wait(fix, 5);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), cyc ? 0 : 2);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	atomfix_wait(fix, 50);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), cyc ? 0 : 2);
	atomfix_free(fix);
	TEST_PROVES("ATOM-CYC-COUNTS ATOM-CYC-WRAP");
}
END_TEST

/* Long intervals count modulo 2^22. */
START_TEST(cycle_counts)
{
	static const uint64_t clocks[] = {0,	 1,	   63,	     64,       16383,
					  16384, 0x1fffff, 0x400000, 0x400007, 1ull << 40};
	static const uint32_t told[] = {0, 1, 63, 64, 16383, 16384, 0x1fffff, 0, 7, 0};
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL | CYC);
	atomfix_wait(fix, clocks[_i]);
	atomfix_jump(fix, 0x2000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->cycles, told[_i]);
	/* The second count of an event is 0. */
	atomfix_wait(fix, 5);
	atomfix_event(fix, VPT_EV_ASYNC, 0, 0x3000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_FAR)->cycles, 5);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->cycles, 0);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-CYC ATOM-CYC-WRAP");
}
END_TEST

/* Row: Cycle_Acc. Nothing but CNTP[21] asks for FUP.PCC, and what was sent by then spares it. */
START_TEST(pcc)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL | (_i ? CYC : 0));
	atomfix_wait(fix, CNTP_TOP / 2 - 1);
	vpt_atom_tick(&fix->atom, 0x1234);
	atomfix_no_packet(fix);
	atomfix_wait(fix, 1);
	vpt_atom_tick(&fix->atom, 0x1234);
	if (_i) {
		ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_PCC)->value, 0x1234);
		ck_assert_uint_eq(fix->packet.cycles, CNTP_TOP / 2);
		atomfix_wait(fix, CNTP_TOP / 2 + 9);
		atomfix_jump(fix, 0x2000);
		ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->cycles, CNTP_TOP / 2 + 9);
		/* An outcome has no count of its own. */
		atomfix_wait(fix, CNTP_TOP / 2);
		atomfix_jcc(fix, true);
		atomfix_packet(fix, VPT_ATOM_PKT_TNT);
		atomfix_packet(fix, VPT_ATOM_PKT_PCC);
	}
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-PCC ATOM-PCC-WHEN");
}
END_TEST

static const uint8_t states[] = {0x00, 0x10, 0x30, 0x52, 0xf2};

/* Row: a C-state (appendix B). What is in the buffer stays in it, or leaves before. */
START_TEST(sleep_states)
{
	const uint8_t cstate = states[_i];
	const bool deep = cstate == 0x30 || cstate == 0x52;
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	struct vpt_event event = {
		.kind = VPT_EV_SLEEP, .cstate = cstate, .from = ATOMFIX_IP, .to = ATOMFIX_IP + 1};
	uint32_t fill;

	atomfix_options(fix, &(struct vpt_atom_options){.buffer_bytes = 128, .buffer_drain = 512});
	atomfix_begin(fix, ATOMFIX_CTL | CYC | MTC | STS);
	atomfix_jump(fix, 0x2000);
	atomfix_packet(fix, VPT_ATOM_PKT_TIP);
	atomfix_wait(fix, 4);
	fill = fix->atom.buffer.fill;
	vpt_atom_event(&fix->atom, &event);
	ck_assert_uint_eq(fix->atom.buffer.fill, deep ? 0 : fill - 2);
	atomfix_wait(fix, 10000);
	vpt_atom_tick(&fix->atom, ATOMFIX_IP + 1);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), 4);
	ck_assert_uint_eq(fix->atom.buffer.fill, deep ? 0 : fill - 2);
	atomfix_no_packet(fix);
	event.kind = VPT_EV_WAKE;
	event.from = event.to;
	vpt_atom_event(&fix->atom, &event);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_STS)->value, 10004);
	ck_assert_uint_eq(fix->packet.cycles, 4);
	/* MTC goes on with what the TSC is by now. */
	atomfix_wait(fix, 128);
	atomfix_jcc(fix, true);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_MTC)->value, (10132 >> 7) & 0xff);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-SLEEP ATOM-SLEEP-DRAIN ATOM-STS");
}
END_TEST

/* Before a deep sleep all packets are in memory. */
START_TEST(deep_sleep_writes)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	const struct vpt_event event = {
		.kind = VPT_EV_SLEEP, .cstate = 0x52, .from = ATOMFIX_IP, .to = ATOMFIX_IP + 1};
	size_t before;

	atomfix_begin(fix, ATOMFIX_CTL);
	atomfix_jump(fix, 0x2000);
	before = fix->mem.committed.count;
	vpt_atom_event(&fix->atom, &event);
	ck_assert_uint_gt(fix->mem.committed.count, before);
	atomfix_packet(fix, VPT_ATOM_PKT_TIP);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-SLEEP-DRAIN");
}
END_TEST

/* A shutdown ends with what comes then: an NMI, or SMI, which no event precedes. */
START_TEST(shutdown)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL | STS | CYC);
	atomfix_event(fix, VPT_EV_SHUTDOWN, 0, 0x1000);
	atomfix_wait(fix, 1000);
	if (_i)
		vpt_atom_smi(&fix->atom, 0x1000);
	else
		atomfix_event(fix, VPT_EV_ASYNC, 0, 0x3000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_STS)->value, 1000);
	ck_assert_uint_eq(fix->packet.cycles, 0);
	if (_i) {
		ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_PGD)->value, 0x1000);
	} else {
		atomfix_packet(fix, VPT_ATOM_PKT_FAR);
		atomfix_packet(fix, VPT_ATOM_PKT_TIP);
	}
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-SLEEP ATOM-STS");
}
END_TEST

/* Row: is time asked for at each event? The core stood still while its clock was changed. */
START_TEST(stopped)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_begin(fix, ATOMFIX_CTL | STS | (_i ? CYC | MTC : 0));
	atomfix_wait(fix, 100);
	vpt_atom_tick(&fix->atom, 0x1000);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), 100);
	atomfix_wait(fix, 5000);
	fix->ctx.cbr = 30;
	fix->ctx.effective_cbr = 15;
	atomfix_event(fix, VPT_EV_CBR, VPT_EVF_STOPPED, 0x1000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_STS)->value, 5100);
	ck_assert_uint_eq(fix->packet.aux, 30 | 15 << 8);
	if (_i)
		ck_assert_uint_eq(fix->packet.cycles, 100);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), _i ? 0 : 100);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-STS ATOM-CYC-COUNTS");
}
END_TEST

/* E6: counts are one too low. E7: the first MTC comes as soon as anything does. */
START_TEST(errata)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_options(fix, &(struct vpt_atom_options){.errata = VPT_ATOM_E6 | VPT_ATOM_E7});
	atomfix_begin(fix, ATOMFIX_CTL | CYC | MTC);
	atomfix_wait(fix, 9);
	atomfix_jump(fix, 0x2000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_MTC)->value, 1);
	ck_assert_uint_eq(fix->packet.cycles, 0);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->cycles, 8);
	/* It does not come again; the next one is right. */
	atomfix_wait(fix, 200);
	atomfix_jump(fix, 0x2000);
	atomfix_packet(fix, VPT_ATOM_PKT_TIP);
	atomfix_wait(fix, 47);
	atomfix_jump(fix, 0x2000);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_MTC)->value, 2);
	ck_assert_uint_eq(fix->packet.cycles, 46);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->cycles, 0);
	atomfix_no_packet(fix);
	atomfix_free(fix);
	TEST_PROVES("ATOM-E6 ATOM-E7");
}
END_TEST

/* A trace begins with the clock as it is then, though that is behind where the last trace ended. */
START_TEST(clock_begins_anew)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	atomfix_wait(fix, 100000);
	atomfix_on(fix, ATOMFIX_CTL | CYC);
	atomfix_wait(fix, 5);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, 0);
	fix->clock.cycles = fix->clock.tsc = 10;
	atomfix_write(fix, VPT_ATOM_MSR_CNTP, 0);
	atomfix_on(fix, ATOMFIX_CTL | CYC);
	atomfix_wait(fix, 20);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_CNTP), 20);
	atomfix_free(fix);
}
END_TEST

TEST_SUITE("atom_time", NULL, NULL)
{
	TEST_LOOP(tcase, 4 * (int)RATIOS, mtc);
	TEST_ADD(tcase, clock_begins_anew, mtc_burst, tsc_back);
	TEST_LOOP(tcase, 2, timing_when);
	TEST_LOOP(tcase, 4, cntp);
	TEST_LOOP(tcase, 10, cycle_counts);
	TEST_LOOP(tcase, 2, pcc);
	TEST_LOOP(tcase, 5, sleep_states);
	TEST_LOOP(tcase, 2, shutdown, stopped);
	TEST_ADD(tcase, errata, deep_sleep_writes);
}
