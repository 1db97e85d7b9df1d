// SPDX-License-Identifier: GPL-2.0-or-later
/* The internal buffer's model, deferred TIPs and LBRs: what rows of tables do not show. */
#include "lib/suite.h"

#include <string.h>

#include "vpt/lbr.h"
#include "vpt/packet.h"
#include "vpt/pt.h"

enum { TRACE_MAX = 1 << 16, SEEDS = 200, EVENTS = 2000 };

static struct machine {
	struct vpt_pt pt;
	struct vpt_caps caps;
	struct vpt_context ctx;
	struct vpt_clock clock;
	uint64_t random;
	uint8_t stage[64];
	uint8_t trace[TRACE_MAX];
	size_t len;
} m;

static bool no_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	(void)opaque, (void)gpa, (void)dst, (void)len;
	return false;
}

static bool no_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	(void)opaque, (void)gpa, (void)src, (void)len;
	return false;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct machine *)opaque)->ctx;
}

static void report_time(void *opaque, struct vpt_clock *now)
{
	*now = ((struct machine *)opaque)->clock;
}

static void sink(void *opaque, const void *bytes, size_t len)
{
	struct machine *machine = opaque;

	ck_assert_uint_le(len, TRACE_MAX - machine->len);
	memcpy(machine->trace + machine->len, bytes, len);
	machine->len += len;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = no_read, .write = no_write},
	.context = context,
	.clock = report_time,
};

static void reset(const struct vpt_pt_options *options)
{
	memset(&m, 0, sizeof(m));
	m.caps = *vpt_caps_model("spr");
	m.caps.l14_0_ecx |= 1u << 3;
	m.ctx = (struct vpt_context){.cr3 = 0x1000, .cs_l = true, .lma = true, .cbr = 20};
	vpt_pt_init(&m.pt, &m.caps, &ops, &m);
	vpt_output_set_stream(&m.pt.out, m.stage, sizeof(m.stage), sink);
	ck_assert_int_eq(vpt_pt_set_options(&m.pt, options), VPT_OK);
}

static void enable(void)
{
	ck_assert(vpt_pt_wrmsr(&m.pt, VPT_MSR_CTL,
			       VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(FABRIC_EN) | VPT_CTL_MASK(OS) |
				       VPT_CTL_MASK(BRANCH_EN) | 5ull << VPT_CTL_PSB_FREQ_SHIFT,
			       VPT_ACCESS_GUEST, 0x1000, 0x1008) == VPT_FAULT_NONE);
}

static size_t bytes(void)
{
	vpt_output_flush(&m.pt.out);
	return m.len;
}

static void jump(uint64_t to)
{
	const struct vpt_event event = {.kind = VPT_EV_JMP_INDIRECT, .from = 0x1000, .to = to};

	vpt_pt_event(&m.pt, &event);
}

static uint32_t rnd(uint32_t below)
{
	m.random = m.random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(m.random >> 33) % below;
}

static const struct {
	struct vpt_pt_options options;
	enum vpt_status status;
} limits[] = {
	{{0}, VPT_OK},
	{{.buffer_bytes = VPT_BUFFER_MIN}, VPT_OK},
	{{.buffer_bytes = VPT_BUFFER_MIN - 1}, VPT_E_INVAL},
	{{.buffer_bytes = 1}, VPT_E_INVAL},
	{{.buffer_bytes = VPT_BUFFER_MAX}, VPT_OK},
	{{.buffer_bytes = VPT_BUFFER_MAX + 1}, VPT_E_INVAL},
	{{.buffer_bytes = VPT_BUFFER_MIN, .buffer_drain = ~0u}, VPT_OK},
	{{.buffer_drain = 1}, VPT_OK},
	{{.defer_tips = true}, VPT_OK},
};

START_TEST(option_limits)
{
	static const struct vpt_pt_options none;

	reset(&none);
	ck_assert_int_eq(vpt_pt_set_options(&m.pt, &limits[_i].options), limits[_i].status);
	if (limits[_i].status != VPT_OK)
		ck_assert(!memcmp(&m.pt.options, &none, sizeof(none)));
	enable();
	ck_assert_int_eq(vpt_pt_set_options(&m.pt, &none), VPT_E_INVAL);
}
END_TEST

/* Neither is the FUP after an OVF compressed, nor what it is followed by against the lost. */
START_TEST(whole_ip)
{
	const struct vpt_pt_options options = {.buffer_bytes = 128, .buffer_drain = 1};
	static const uint8_t expected[] = {0x02, 0xf3, 0x7d, 0x00, 0x20, 0,
					   0,	 0,    0,    0x2d, 0x00, 0x30};
	size_t before;

	reset(&options);
	enable();
	while (!m.pt.buffer.overflow)
		jump(0x1500);
	jump(0x7fff00001000);
	before = bytes();
	m.clock.cycles += 1024 * 128;
	jump(0x2000);
	jump(0x3000);
	ck_assert_uint_eq(bytes() - before, sizeof(expected));
	ck_assert(!memcmp(m.trace + before, expected, sizeof(expected)));
	TEST_PROVES("GEN-OVF GEN-LAST-IP");
}
END_TEST

/* Without a rate of its own a buffer loses a byte a clock; an hour is not too long. */
START_TEST(default_rate)
{
	const struct vpt_pt_options options = {.buffer_bytes = 128};
	uint32_t fill;

	reset(&options);
	enable();
	fill = m.pt.buffer.fill;
	m.clock.cycles += fill - 1;
	vpt_pt_tick(&m.pt, 0x1008);
	ck_assert_uint_eq(m.pt.buffer.fill, 1);
	m.clock.cycles += 3600ull * 4000000000u;
	vpt_pt_tick(&m.pt, 0x1008);
	ck_assert_uint_eq(m.pt.buffer.fill, 0);
	/* An empty buffer saves nothing up. */
	jump(0x2000);
	ck_assert_uint_eq(m.pt.buffer.fill, 3);
}
END_TEST

/* No byte leaves, and none comes back, when the clock is set back. */
START_TEST(clock_goes_back)
{
	const struct vpt_pt_options options = {.buffer_bytes = 128, .buffer_drain = 1024};
	uint32_t fill;

	reset(&options);
	m.clock.cycles = 1000;
	enable();
	jump(0x1010);
	fill = m.pt.buffer.fill;
	ck_assert_uint_gt(fill, 0);
	m.clock.cycles = 500;
	jump(0x1020);
	ck_assert_uint_eq(m.pt.buffer.fill, fill + 3);
}
END_TEST

/*
 * Against a buffer in 1024ths of a byte: TIPs of 3 bytes at random times, at random rates. It
 * overflows when that one does, and is empty again in the same event.
 */
START_TEST(fill_level)
{
	struct vpt_pt_options options;
	uint64_t level, last = 0;
	bool lost = false;
	unsigned int i, losses = 0;

	m.random = (uint64_t)_i;
	options = (struct vpt_pt_options){
		.buffer_bytes = 128 + rnd(300),
		.buffer_drain = 1 + rnd(3000),
	};
	reset(&options);
	m.random = (uint64_t)_i + 1000;
	enable();
	level = bytes() * 1024;
	for (i = 0; i < EVENTS; i++) {
		size_t before = bytes();
		uint64_t drained;

		m.clock.cycles += rnd(rnd(100) ? 8 : 100000);
		drained = (m.clock.cycles - last) * options.buffer_drain;
		last = m.clock.cycles;
		level = level > drained ? level - drained : 0;
		jump(i & 1 ? 0x1010 : 0x1020);
		/* Bytes leave whole: a byte that has not left in full is there. */
		if (!lost && (level + 1023) / 1024 + 3 > options.buffer_bytes) {
			lost = true;
			losses++;
			ck_assert_uint_eq(bytes() - before, level ? 0 : 9);
		} else if (!lost) {
			ck_assert_uint_eq(bytes() - before, 3);
			level += 3 * 1024;
		}
		if (lost && !level) {
			/* OVF and FUP. */
			ck_assert_uint_eq(bytes() - before, 9);
			level = 9 * 1024;
			lost = false;
		} else if (lost) {
			ck_assert_uint_eq(bytes(), before);
		}
		ck_assert_int_eq(m.pt.buffer.overflow, lost);
		ck_assert_uint_eq(m.pt.buffer.fill, (level + 1023) / 1024);
	}
	/* A rate that does not keep up with 3 bytes in 3.5 clocks loses some. */
	if (options.buffer_drain < 200)
		ck_assert_uint_gt(losses, 0);
	TEST_PROVES("BUF-LEVEL BUF-RESOLVE");
}
END_TEST

static void go_far(uint8_t cpl, uint64_t to)
{
	const struct vpt_event event = {.kind = VPT_EV_FAR, .from = 0x1000, .to = to};

	m.ctx.cpl = cpl;
	vpt_pt_event(&m.pt, &event);
}

/* The kinds of packets from byte `at` on, and the payload of the last PIP. */
static unsigned int kinds_from(size_t at, uint8_t *kinds, unsigned int room, uint64_t *cr3)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	unsigned int n = 0;

	for (; at < bytes(); at += packet.size) {
		ck_assert_int_eq(vpt_packet_read(&parser, m.trace + at, m.len - at, &packet),
				 VPT_OK);
		ck_assert_uint_lt(n, room);
		kinds[n++] = (uint8_t)packet.kind;
		if (packet.kind == VPT_PKT_PIP)
			*cr3 = packet.value;
	}
	return n;
}

/*
 * CR3 is loaded in an overflow that is over while user code runs, which is not traced: the next
 * kernel code has a PSB+ with the PIP, and only the first time.
 */
START_TEST(pip_lost_outside)
{
	static const uint8_t expected[] = {
		VPT_PKT_OVF,	   VPT_PKT_PSB, VPT_PKT_CBR,	VPT_PKT_PSBEND,	 VPT_PKT_MODE_EXEC,
		VPT_PKT_TIP_PGE,   VPT_PKT_PSB, VPT_PKT_CBR,	VPT_PKT_PIP,	 VPT_PKT_MODE_TSX,
		VPT_PKT_MODE_EXEC, VPT_PKT_FUP, VPT_PKT_PSBEND, VPT_PKT_TIP_PGD, VPT_PKT_TIP_PGE,
	};
	const struct vpt_event load = {.kind = VPT_EV_CR3, .from = 0x2000, .to = 0x2003};
	const struct vpt_pt_options options = {.buffer_bytes = 256};
	uint8_t kinds[32];
	uint64_t cr3 = 0;
	unsigned int i;
	size_t at;

	reset(&options);
	enable();
	for (i = 0; i < 100; i++)
		jump(0x2000 + 16 * (i & 1));
	ck_assert(m.pt.buffer.overflow);
	at = bytes();
	m.ctx.cr3 = 0x7000;
	vpt_pt_event(&m.pt, &load);
	go_far(3, 0x400000);
	m.clock.cycles += 100000;
	vpt_pt_tick(&m.pt, 0x400000);
	go_far(0, 0x3000);
	m.clock.cycles += 100000;
	go_far(3, 0x400000);
	m.clock.cycles += 100000;
	go_far(0, 0x3000);
	ck_assert_uint_eq(kinds_from(at, kinds, 32, &cr3), sizeof(expected));
	for (i = 0; i < sizeof(expected); i++)
		ck_assert_int_eq(kinds[i], expected[i]);
	ck_assert_uint_eq(cr3, 0x7000);
	TEST_PROVES("BUF-STATE");
}
END_TEST

/* As many TIPs as there is room for wait; the next one sends them all, and none is lost. */
START_TEST(full_of_tips)
{
	const struct vpt_pt_options options = {.defer_tips = true};
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	uint64_t last_ip = 0, to;
	size_t at;
	unsigned int tips = 0;

	reset(&options);
	enable();
	at = bytes();
	last_ip = m.pt.last_ip;
	vpt_pt_cond(&m.pt, 0x1008, 0x1010, false);
	for (to = 0x1000; to < 0x1000 + 100 * 8; to += 8)
		jump(to);
	for (; at < bytes(); at += packet.size) {
		ck_assert_int_eq(vpt_packet_read(&parser, m.trace + at, m.len - at, &packet),
				 VPT_OK);
		if (packet.kind == VPT_PKT_TNT_8) {
			ck_assert_uint_eq(tips, 0);
			continue;
		}
		ck_assert_int_eq(packet.kind, VPT_PKT_TIP);
		ck_assert_int_eq(vpt_ip_expand(last_ip, packet.ip_bytes, packet.value, &last_ip),
				 VPT_OK);
		ck_assert_uint_eq(last_ip, 0x1000 + 8 * tips++);
	}
	ck_assert_uint_eq(tips, 100);
	TEST_PROVES("DEFER-TIP");
}
END_TEST

static const struct {
	uint32_t signature;
	bool excluded;
} processors[] = {
	{0x306d4, true},  {0x40671, true},  {0x406e3, true},  {0x406f1, true},	{0x50663, true},
	{0x506e3, true},  {0x50654, false}, {0x806e9, false}, {0x606a6, false}, {0x806f8, false},
	{0x506c9, false}, {0x51663, true},  {0x003d4, false}, {0xf03d4, false}, {0x30fd4, false},
};

START_TEST(lbr_models)
{
	struct vpt_caps caps = *vpt_caps_model("spr");

	caps.signature = processors[_i].signature;
	ck_assert_int_eq(vpt_lbr_excluded(&caps), processors[_i].excluded);
	TEST_PROVES("LBR-MODELS");
}
END_TEST

TEST_SUITE("buffer", NULL, NULL)
{
	TEST_ROWS(tcase, option_limits, limits);
	TEST_ADD(tcase, whole_ip, default_rate, clock_goes_back);
	TEST_LOOP(tcase, SEEDS, fill_level);
	TEST_ADD(tcase, pip_lost_outside, full_of_tips);
	TEST_ROWS(tcase, lbr_models, processors);
}
