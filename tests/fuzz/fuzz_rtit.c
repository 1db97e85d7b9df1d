// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: RTIT by libvptdecode's public interface. The input is errata and flags, then
 * operations (enum op): code that changes, address spaces, registers of sessions, packets,
 * well-formed or not.
 *
 * The same operations are done with several decoders, see struct way. All must count the same
 * instructions, events and edges, and pieces of any size must make the same callbacks as the whole.
 */
#include <string.h>

#include "fuzz/bytes.h"
#include "lib/use_file.h"
#include "libdecode/vptdecode.h"
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

/* How operations are done. */
static const struct way {
	bool runs;
	bool small; /* the cache; and edges are counted in parts */
	bool pieces;
	unsigned int like; /* the way whose callbacks are the same */
} ways[] = {
	{.like = 0},
	{.pieces = true, .like = 0},
	{.small = true, .like = 0},
	{.runs = true, .like = 3},
	{.runs = true, .pieces = true, .small = true, .like = 3},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct result {
	uint64_t insns, events[VPTD_EVENT_COUNT], edges, hash;
};

struct play {
	const struct way *way;
	struct vptd_decoder *d;
	struct vptd_counts *counts;
	unsigned int piece;
	uint64_t pushed;    /* bytes */
	uint64_t insns;	    /* the counter of sessions */
	uint64_t ran;	    /* instructions of all runs */
	uint64_t callbacks; /* a hash of them */
	bool circles;
};

/* An address in the code, and seldom elsewhere. */
static uint64_t place(struct input *in)
{
	uint64_t at = take(in, 2);

	return at < 0xfff0 ? CODE + at % (PAGES * VPTD_PAGE) : ~at;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static void on_event(void *context, const struct vptd_event *e)
{
	struct play *p = context;

	REQUIRE(e->kind < VPTD_EVENT_COUNT && e->offset <= p->pushed && !e->zero);
	REQUIRE(e->kind != VPTD_EVENT_ERROR ||
		(e->value > VPTD_STUCK && e->value < VPTD_E_ARGUMENT && e->value != VPTD_E_MEMORY));
	p->circles |= e->kind == VPTD_EVENT_ERROR && e->value == VPTD_E_LOOP;
	p->callbacks = mix(p->callbacks, e->kind | e->flags << 8 | (uint64_t)e->aux << 16);
	p->callbacks = mix(p->callbacks, e->ip);
	p->callbacks = mix(p->callbacks, e->to);
	p->callbacks = mix(p->callbacks, e->value);
	p->callbacks = mix(p->callbacks, e->offset);
}

static void on_run(void *context, const struct vptd_run *run)
{
	struct play *p = context;
	uint32_t i;

	REQUIRE(run->count && run->offset <= p->pushed);
	REQUIRE(run->mode == 16 || run->mode == 32 || run->mode == 64);
	for (i = 0; i < run->count; i++)
		REQUIRE(run->lens[i] && run->lens[i] <= VPTD_INSN_MAX);
	p->ran += run->count;
	p->callbacks = mix(p->callbacks, run->ip);
	p->callbacks = mix(p->callbacks, run->page);
	p->callbacks = mix(p->callbacks, run->offset);
	p->callbacks = mix(p->callbacks, run->count | (uint64_t)run->mode << 32);
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

static void push(struct play *p, const uint8_t *bytes, size_t len)
{
	size_t at, n;

	for (at = 0; at < len; at += n) {
		n = len - at;
		if (p->way->pieces && p->piece < n)
			n = p->piece;
		p->pushed += n;
		REQUIRE(vptd_push(p->d, bytes + at, n) == VPTD_OK);
	}
}

static void push_packet(struct play *p, const struct vpt_atom_packet *packet)
{
	uint8_t bytes[VPT_ATOM_PKT_MAX];

	push(p, bytes, vpt_atom_packet_write(bytes, packet));
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

/* A counter that grows, and seldom one that does not, or is not known. */
static uint64_t counter(struct play *p, struct input *in)
{
	uint64_t by = take(in, 2);

	if (by == 0xffff)
		return VPTD_ATOM_UNKNOWN;
	p->insns = by >= 0xfff0 ? by - 0xfff0 : p->insns + by % 0x1000;
	return p->insns;
}

static void begin(struct play *p, struct input *in)
{
	struct vptd_atom_regs regs;

	take_regs(in, &regs);
	REQUIRE(vptd_atom_begin(p->d, &regs, counter(p, in)) == VPTD_OK);
}

static void end(struct play *p, struct input *in)
{
	uint64_t how = take(in, 1);
	struct vptd_atom_regs regs;

	take_regs(in, &regs);
	REQUIRE(vptd_atom_end(p->d, &regs, counter(p, in),
			      (enum vptd_atom_end)(how % (VPTD_ATOM_CHANGED + 1))) == VPTD_OK);
}

static void count(struct play *p)
{
	struct vptd_counts *some_of = vptd_counts_new();

	REQUIRE(some_of && vptd_count(p->d, some_of) == VPTD_OK);
	REQUIRE(vptd_counts_add(p->counts, some_of) == VPTD_OK);
	vptd_counts_free(some_of);
}

static void do_rest(struct play *p, struct input *in)
{
	static const unsigned int modes[] = {64, 64, 32, 16};
	uint64_t how = take(in, 1);

	switch (how & 3) {
	case 0:
		REQUIRE(vptd_finish(p->d) == VPTD_OK);
		break;
	case 1:
		REQUIRE(vptd_begin(p->d, (how & 0x30) << 8, modes[how >> 2 & 3]) == VPTD_OK);
		break;
	default:
		if (p->way->small)
			count(p);
	}
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
		push(p, bytes, n);
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
		do_rest(p, in);
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

static void sum_up(struct play *p, struct result *r)
{
	struct vptd_edge edge;
	size_t i;

	REQUIRE(vptd_finish(p->d) == VPTD_OK);
	count(p);
	memset(r, 0, sizeof(*r));
	r->insns = vptd_insns(p->d);
	REQUIRE(!p->way->runs || p->ran == r->insns);
	for (i = 0; i < VPTD_EVENT_COUNT; i++)
		r->events[i] = vptd_events(p->d, (enum vptd_event_kind)i);
	r->edges = vptd_counts_edges(p->counts);
	for (i = 0; vptd_counts_edge(p->counts, i, &edge); i++) {
		r->hash = mix(r->hash, edge.from);
		r->hash = mix(r->hash, edge.to);
		r->hash = mix(r->hash, edge.page);
		r->hash = mix(r->hash, edge.count);
	}
}

/* Compare with an earlier way. A circle of branches is noticed after different numbers of rounds. */
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
	static struct play plays[WAYS];
	static struct result results[WAYS];
	unsigned int i;

	for (i = 0; i < WAYS; i++) {
		struct input in = {data, size};
		struct play *p = &plays[i];

		memset(p, 0, sizeof(*p));
		p->way = &ways[i];
		p->counts = vptd_counts_new();
		REQUIRE(p->counts);
		p->d = make(p, &in);
		while (in.left)
			play_op(p, &in);
		sum_up(p, &results[i]);
		vptd_counts_free(p->counts);
		vptd_free(p->d);
		compare(p, &results[i], &plays[p->way->like], &results[p->way->like]);
		compare(p, &results[i], &plays[0], &results[0]);
	}
	return 0;
}
