// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: RTIT by libvptdecode's public interface. The input is errata and flags, then
 * operations (enum op): code that changes, address spaces, registers of sessions, packets,
 * well-formed or not.
 *
 * The same operations are done with several decoders, see struct way. All must count the same
 * instructions, events and edges, and pieces of any size must make the same callbacks as the whole.
 */
#include "fuzz/ways.h"
#include "lib/use_file.h"
#include "vpt/atom_msr.h"
#include "vpt/atom_packet.h"

#define CODE  0x401000ull
#define PAGES 2u

enum op {
	OP_CODE,  /* where: 2; so many: 1; bytes */
	OP_TRACE, /* so many: 1; bytes of the stream */
	OP_TNT,	  /* how many: 1; outcomes: 1 */
	OP_LIP,	  /* kind: 1; where: 2 */
	OP_PLAIN, /* kind: 1; value: 2: any packet that is well-formed */
	OP_BEGIN, /* registers; counter: 2 */
	OP_END,	  /* how: 1; registers; counter: 2 */
	OP_REST,  /* how: 1: vptd_begin(), vptd_finish(), vptd_count() */
};

enum input_flag { IN_GUEST = 1, IN_SPACE = 2, IN_FETCH = 4 };

static const struct way ways[] = {
	{.like = 0},
	{.pieces = true, .like = 0},
	{.small = true, .like = 0},
	{.runs = true, .like = 3},
	{.runs = true, .pieces = true, .small = true, .like = 3},
};

static uint64_t session_insns; /* the counter of sessions */

/* Take an address, nearly always in the code. */
static uint64_t place(struct input *in)
{
	uint64_t at = take(in, 2);

	return at < 0xfff0 ? CODE + at % (PAGES * VPTD_PAGE) : ~at;
}

static uint64_t on_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	(void)context;
	REQUIRE(!nr && vmcs == UINT64_MAX);
	return cr3 & 0x3000;
}

/* Every page but one: JZ forwards, a CALL, WRMSR, RET, JZ backwards, JMP RAX, INT 80H. */
static int on_fetch(void *context, uint64_t space, uint64_t address, uint64_t *key, uint8_t *bytes)
{
	static const uint8_t insns[] = {0x74, 0x07, 0xe8, 0x02, 0x00, 0x00, 0x00, 0x0f,
					0x30, 0xc3, 0x74, 0xf2, 0xff, 0xe0, 0xcd, 0x80};
	size_t i;

	(void)context;
	(void)space;
	REQUIRE(!(address % VPTD_PAGE) && *key >> 63);
	for (i = 0; i < VPTD_PAGE; i++)
		bytes[i] = insns[i % sizeof(insns)];
	return address != CODE + 3 * VPTD_PAGE;
}

static void push_packet(struct play *p, const struct vpt_atom_packet *packet)
{
	uint8_t bytes[VPT_ATOM_PKT_MAX];

	push_now(p, bytes, vpt_atom_packet_write(bytes, packet));
}

static void put_tnt(struct play *p, struct input *in)
{
	struct vpt_atom_packet packet = {.kind = VPT_ATOM_PKT_TNT};

	packet.bits = (uint8_t)(1 + take(in, 1) % VPT_ATOM_TNT_MAX);
	packet.value = take(in, 1) & ((1u << packet.bits) - 1);
	push_packet(p, &packet);
}

static void put_lip(struct play *p, struct input *in)
{
	static const enum vpt_atom_pkt_kind kinds[] = {VPT_ATOM_PKT_PGE, VPT_ATOM_PKT_PGD,
						       VPT_ATOM_PKT_TIP, VPT_ATOM_PKT_TIP,
						       VPT_ATOM_PKT_FAR, VPT_ATOM_PKT_BUF_OVF};
	struct vpt_atom_packet packet = {.cnt = VPT_ATOM_CNT_4, .zext = true};

	packet.kind = kinds[take(in, 1) % (sizeof(kinds) / sizeof(kinds[0]))];
	packet.value = place(in) & 0xffffffff;
	push_packet(p, &packet);
}

static void put_plain(struct play *p, struct input *in)
{
	uint64_t what = take(in, 1), value = take(in, 2);
	struct vpt_atom_packet packet = {
		.kind = (enum vpt_atom_pkt_kind)(what % VPT_ATOM_PKT_COUNT),
		.cnt = VPT_ATOM_CNT_2,
		.flag = what >> 6 & 1,
		.has_cycles = what >> 7,
		.value = value,
	};

	if (packet.kind == VPT_ATOM_PKT_PIP)
		packet.value = (value & 3) << 12;
	if (packet.kind == VPT_ATOM_PKT_TNT) {
		packet.bits = VPT_ATOM_TNT_MAX;
		packet.value &= (1u << packet.bits) - 1;
	}
	if (packet.kind == VPT_ATOM_PKT_MTC)
		packet.value &= 0xff;
	push_packet(p, &packet);
}

static void put_code(struct play *p, struct input *in)
{
	static const uint64_t spaces[] = {VPTD_ANY_SPACE, VPTD_ANY_SPACE, 0x1000, 0x2000};
	uint64_t where = take(in, 2);
	size_t n = take(in, 1);
	const uint8_t *bytes = some(in, &n);

	REQUIRE(vptd_code(p->d, spaces[where >> 14], CODE + where % (PAGES * VPTD_PAGE), bytes,
			  n) == VPTD_OK);
}

static void take_regs(struct input *in, struct vptd_atom_regs *regs)
{
	unsigned int i;

	memset(regs, 0, sizeof(*regs));
	regs->ctl = (uint32_t)take(in, 2);
	regs->status = (uint32_t)take(in, 1);
	regs->events = (uint32_t)take(in, 1);
	regs->tnt_buff = (uint32_t)take(in, 1);
	regs->last_call_nlip = take(in, 1) << 48 | place(in);
	regs->last_lip = take(in, 1) << 32 | 0x40;
	for (i = 0; i < 4; i++)
		regs->lip[i] = place(in);
}

/* Take a counter. It nearly always grows, but may also shrink or be unknown. */
static uint64_t counter(struct input *in)
{
	uint64_t by = take(in, 2);

	if (by == 0xffff)
		return VPTD_ATOM_UNKNOWN;
	session_insns = by >= 0xfff0 ? by - 0xfff0 : session_insns + by % 0x1000;
	return session_insns;
}

static void begin(struct play *p, struct input *in)
{
	struct vptd_atom_regs regs;

	take_regs(in, &regs);
	REQUIRE(vptd_atom_begin(p->d, &regs, counter(in)) == VPTD_OK);
}

static void end(struct play *p, struct input *in)
{
	uint64_t how = take(in, 1);
	struct vptd_atom_regs regs;

	take_regs(in, &regs);
	REQUIRE(vptd_atom_end(p->d, &regs, counter(in),
			      (enum vptd_atom_end)(how % (VPTD_ATOM_CHANGED + 1))) == VPTD_OK);
}

static void play_op(struct play *p, struct input *in)
{
	enum op op = (enum op)(take(in, 1) & 7);
	const uint8_t *bytes;
	size_t n;

	switch (op) {
	case OP_CODE:
		put_code(p, in);
		break;
	case OP_TRACE:
		n = take(in, 1);
		bytes = some(in, &n);
		push_now(p, bytes, n);
		break;
	case OP_TNT:
		put_tnt(p, in);
		break;
	case OP_LIP:
		put_lip(p, in);
		break;
	case OP_PLAIN:
		put_plain(p, in);
		break;
	case OP_BEGIN:
		begin(p, in);
		break;
	case OP_END:
		end(p, in);
		break;
	case OP_REST:
		control(p, take(in, 1));
		break;
	}
}

static struct vptd_decoder *make(struct play *p, struct input *in)
{
	struct vptd_config config = {.size = sizeof(config)};
	struct vptd_ops ops = {.size = sizeof(ops), .event = on_event};
	uint64_t flags = take(in, 1);
	enum vptd_status status;
	struct vptd_decoder *d;

	session_insns = 0;
	config.rtit_errata = (uint32_t)take(in, 1);
	config.flags = VPTD_ATOM | VPTD_EDGES | (flags & IN_GUEST ? VPTD_ATOM_GUEST : 0);
	config.cache = p->way->small ? 1 : 1 << 16;
	p->piece = 1 + (unsigned int)(take(in, 1) & 15);
	if (p->way->runs)
		ops.run = on_run;
	if (flags & IN_SPACE)
		ops.space = on_space;
	if (flags & IN_FETCH)
		ops.fetch = on_fetch;
	d = vptd_new(&config, &ops, p, &status);
	REQUIRE(d && status == VPTD_OK);
	return d;
}

/*
 * Compare with an earlier way. A loop of branches without packets is detected after different
 * numbers of iterations.
 */
static void compare(const struct play *p, const struct result *r, const struct play *other,
		    const struct result *of_other)
{
	if (p->way->like == other->way->like)
		REQUIRE(p->callbacks == other->callbacks);
	else if (p->circles || other->circles)
		return;
	REQUIRE(!memcmp(r, of_other, sizeof(*r)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct target target = {
		ways, sizeof(ways) / sizeof(ways[0]), make, play_op, NULL, compare};

	return play_ways(&target, data, size);
}
