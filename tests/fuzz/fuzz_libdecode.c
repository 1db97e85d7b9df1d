// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: libvptdecode by its public interface. The input is a configuration, then
 * operations (enum op): code that changes, address spaces, packets, well-formed or not.
 *
 * The same operations are done with several decoders, see struct way. All must count the same
 * instructions, events and edges. Pieces of any size must make the same callbacks as the whole,
 * with the same times.
 */
#include <string.h>

#include "fuzz/bytes.h"
#include "lib/use_file.h"
#include "libdecode/vptdecode.h"
#include "vpt/packet.h"

#define LOW   0x401000ull	    /* four pages, */
#define HIGH  0xffffffff81000000ull /* and two of the kernel's half */
#define LOWS  4u
#define PAGES 6u

#define FAULTS 256u

enum op {
	OP_CODE,   /* what: 1; where: 2; so many: 1; bytes: a page is given with them */
	OP_PART,   /* the same by vptd_code() */
	OP_TRACE,  /* so many: 1; bytes of the stream */
	OP_TNT,	   /* how many: 1; outcomes: 1 */
	OP_IP,	   /* kind: 1; where: 2 */
	OP_PACKET, /* kind: 1; value: 2 */
	OP_PSB,	   /* what is in it: 1; where: 2 */
	OP_REST,   /* how: 1: vptd_begin(), vptd_finish(), vptd_count(), or the last bytes again */
};

enum input_flag {
	IN_CTL = 1,
	IN_KEEPS = 2,
	IN_SPACE = 4,
	IN_FETCH = 8,
	IN_AHEAD = 16,
	IN_RANGE = 32
};

/* How operations are done. */
static const struct way {
	bool runs, time;
	bool small; /* the cache; and edges are counted in parts */
	bool pieces;
	unsigned int like; /* the way whose callbacks are the same */
} ways[] = {
	{.like = 0},
	{.pieces = true, .like = 0},
	{.time = true, .small = true, .like = 2},
	{.runs = true, .like = 3},
	{.runs = true, .pieces = true, .like = 3},
	{.runs = true, .time = true, .like = 5},
	{.runs = true, .time = true, .pieces = true, .small = true, .like = 5},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct result {
	uint64_t insns, events[VPTD_EVENT_COUNT], edges, hash;
	uint8_t bitmap[VPTD_BITMAP];
};

/* An error as it was reported; @insns instructions ran before it. */
struct fault {
	uint64_t ip, value, insns, offset;
};

struct play {
	const struct way *way;
	struct vptd_decoder *d;
	struct vptd_counts *counts;
	uint32_t flags; /* enum input_flag */
	unsigned int piece;
	uint8_t page[PAGES][VPTD_PAGE];
	bool given[PAGES]; /* by OP_CODE or OP_PART */
	uint8_t stream[1024];
	size_t waiting;	    /* bytes of it that have not been pushed */
	uint8_t last[64];   /* the last bytes of the stream */
	uint64_t pushed;    /* bytes that have */
	uint64_t ran;	    /* instructions of all runs */
	uint64_t callbacks; /* a hash of them */
	bool circles;
	struct fault faults[FAULTS]; /* the first ones */
	unsigned int nfaults;
};

static uint64_t address_of(unsigned int page)
{
	return page < LOWS ? LOW + page * VPTD_PAGE : HIGH + (page - LOWS) * VPTD_PAGE;
}

/* An address in the code, and seldom elsewhere. */
static uint64_t place(struct input *in)
{
	uint64_t at = take(in, 2);

	return at < 0xfff0 ? address_of(at / VPTD_PAGE % PAGES) + at % VPTD_PAGE : ~at;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static void note_time(struct play *p)
{
	struct vptd_time time;

	if (!p->way->time) {
		REQUIRE(vptd_now(p->d, &time) == VPTD_E_ARGUMENT);
		return;
	}
	REQUIRE(vptd_now(p->d, &time) == VPTD_OK);
	REQUIRE(time.lo <= time.tsc && time.tsc <= time.hi);
	p->callbacks = mix(p->callbacks, time.flags ^ (uint64_t)time.ratio << 32);
	p->callbacks = mix(p->callbacks, time.tsc);
	p->callbacks = mix(p->callbacks, time.lo);
	p->callbacks = mix(p->callbacks, time.hi);
	p->callbacks = mix(p->callbacks, time.cycles);
}

static void on_event(void *context, const struct vptd_event *e)
{
	struct play *p = context;

	REQUIRE(e->kind < VPTD_EVENT_COUNT && e->offset <= p->pushed && !e->zero);
	REQUIRE(e->kind != VPTD_EVENT_ERROR ||
		(e->value > VPTD_STUCK && e->value < VPTD_E_ARGUMENT && e->value != VPTD_E_MEMORY));
	p->circles |= e->kind == VPTD_EVENT_ERROR && e->value == VPTD_E_LOOP;
	if (e->kind == VPTD_EVENT_ERROR && p->nfaults < FAULTS)
		p->faults[p->nfaults++] =
			(struct fault){e->ip, e->value, vptd_insns(p->d), e->offset};
	p->callbacks = mix(p->callbacks, e->kind | e->flags << 8 | (uint64_t)e->aux << 16);
	p->callbacks = mix(p->callbacks, e->ip);
	p->callbacks = mix(p->callbacks, e->to);
	p->callbacks = mix(p->callbacks, e->value);
	p->callbacks = mix(p->callbacks, e->offset);
	note_time(p);
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
	note_time(p);
}

static uint64_t on_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	(void)context;
	(void)vmcs;
	return (cr3 & 0x3000) | (unsigned int)nr;
}

/* Pages that were never given have this, but for one that is nowhere. */
static bool make_page(uint64_t address, uint8_t *bytes)
{
	/* JZ forwards, a CALL, NOP, RET, JZ backwards, JMP RAX. */
	static const uint8_t insns[] = {0x74, 0x06, 0xe8, 0x01, 0x00, 0x00, 0x00,
					0x90, 0xc3, 0x74, 0xf3, 0xff, 0xe0};
	size_t i;

	if (address == LOW + 2 * VPTD_PAGE)
		return false;
	for (i = 0; i < VPTD_PAGE; i++)
		bytes[i] = insns[i % sizeof(insns)];
	return true;
}

static int on_fetch(void *context, uint64_t space, uint64_t address, uint64_t *key, uint8_t *bytes)
{
	struct play *p = context;
	uint8_t ahead[VPTD_PAGE];
	unsigned int i;

	REQUIRE(!(address % VPTD_PAGE) && *key >> 63);
	if (!make_page(address, bytes))
		return 0;
	/* The next page too, if it is nobody's. */
	for (i = 0; i < PAGES && p->flags & IN_AHEAD; i++) {
		if (address_of(i) != address + VPTD_PAGE || p->given[i] ||
		    !make_page(address_of(i), ahead))
			continue;
		REQUIRE(vptd_page(p->d, space, address_of(i), 0x200 + i, ahead) == VPTD_OK);
	}
	if (address & VPTD_PAGE)
		*key = 0x100 + address / VPTD_PAGE % PAGES;
	return 1;
}

/* Push the packets that wait. */
static void flush(struct play *p)
{
	size_t at, n;

	for (at = 0; at < p->waiting; at += n) {
		n = p->waiting - at;
		if (p->way->pieces && p->piece < n)
			n = p->piece;
		p->pushed += n;
		REQUIRE(vptd_push(p->d, p->stream + at, n) == VPTD_OK);
	}
	p->waiting = 0;
}

static void push(struct play *p, const uint8_t *bytes, size_t len)
{
	size_t keep = sizeof(p->last) - (len < sizeof(p->last) ? len : sizeof(p->last));

	if (len > sizeof(p->stream) - p->waiting)
		flush(p);
	memcpy(p->stream + p->waiting, bytes, len);
	p->waiting += len;
	memmove(p->last, p->last + sizeof(p->last) - keep, keep);
	memcpy(p->last + keep, bytes + len - (sizeof(p->last) - keep), sizeof(p->last) - keep);
}

static void push_packet(struct play *p, const struct vpt_packet *packet)
{
	uint8_t bytes[VPT_PKT_MAX];

	push(p, bytes, vpt_packet_write(bytes, packet));
}

static void put_ip(struct play *p, enum vpt_pkt_kind kind, uint64_t ip)
{
	const struct vpt_packet packet = {
		.kind = kind, .ip_bytes = VPT_IP_SEXT_48, .value = ip & 0xffffffffffffull};

	push_packet(p, &packet);
}

static void put_packet(struct play *p, struct input *in)
{
	uint64_t what = take(in, 1), value = take(in, 2);
	struct vpt_packet packet = {
		.kind = (enum vpt_pkt_kind)(what % VPT_PKT_COUNT),
		.ip_bytes = value >> 8 & 3,
		.bits = value & 1 ? 32 : 64,
		.flag = what >> 7,
		.aux = value >> 8 & 0x1f,
		.value = value & 0xff,
	};

	if (packet.kind == VPT_PKT_PIP || packet.kind == VPT_PKT_VMCS)
		packet.value = (value & 3) << 12;
	if (packet.kind == VPT_PKT_TNT_64)
		packet.bits = (uint8_t)(1 + value % VPT_TNT64_MAX);
	if (packet.kind == VPT_PKT_TNT_64)
		packet.value = value * 0x9e3779b97f4aull & ((1ull << packet.bits) - 1);
	push_packet(p, &packet);
}

static void put_psb(struct play *p, struct input *in)
{
	static const enum vpt_pkt_kind kinds[] = {VPT_PKT_TSC, VPT_PKT_TMA,  VPT_PKT_CBR,
						  VPT_PKT_PIP, VPT_PKT_VMCS, VPT_PKT_MODE_EXEC};
	uint64_t what = take(in, 1), ip = place(in);
	unsigned int i;

	push_packet(p, &(struct vpt_packet){.kind = VPT_PKT_PSB});
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct vpt_packet packet = {.kind = kinds[i], .value = 0x1000};

		if (packet.kind == VPT_PKT_CBR)
			packet.value = 24;
		if (packet.kind == VPT_PKT_MODE_EXEC)
			packet.value = ip & 0x100 ? ip & 3 : 1;
		if (what >> i & 1)
			push_packet(p, &packet);
	}
	if (what & 0x40)
		put_ip(p, VPT_PKT_FUP, ip);
	if (!(what & 0x80))
		push_packet(p, &(struct vpt_packet){.kind = VPT_PKT_PSBEND});
}

static void put_code(struct play *p, struct input *in, bool part)
{
	static const uint64_t spaces[] = {VPTD_ANY_SPACE, VPTD_ANY_SPACE, 0x1000, 0x2000};
	uint64_t what = take(in, 1), where = take(in, 2), space = spaces[what & 3];
	unsigned int page = where / VPTD_PAGE % PAGES;
	size_t n = take(in, 1), at = where % VPTD_PAGE;
	const uint8_t *bytes = some(in, &n);
	/* The page's own key, or that of another. */
	uint64_t key = what & 4 ? what >> 3 & 7 : page;

	flush(p);
	p->given[page] = true;
	if (part) {
		if (page + 1 < PAGES)
			p->given[page + 1] = true;
		REQUIRE(vptd_code(p->d, space, address_of(page) + at, bytes, n) == VPTD_OK);
		return;
	}
	if (n > VPTD_PAGE - at)
		n = VPTD_PAGE - at;
	memcpy(p->page[page] + at, bytes, n);
	REQUIRE(vptd_page(p->d, space, address_of(page), key, p->page[page]) == VPTD_OK);
}

static void count(struct play *p)
{
	struct vptd_counts *some_of = vptd_counts_new();

	REQUIRE(some_of && vptd_count(p->d, some_of) == VPTD_OK);
	REQUIRE(vptd_counts_add(p->counts, some_of) == VPTD_OK);
	vptd_counts_free(some_of);
}

/* Send the last bytes again: caches of packets only keep what comes more than once. */
static void repeat(struct play *p, size_t n, unsigned int times)
{
	uint8_t bytes[sizeof(p->last)];

	memcpy(bytes, p->last + sizeof(p->last) - n, n);
	while (times--)
		push(p, bytes, n);
}

static void do_rest(struct play *p, struct input *in)
{
	static const unsigned int modes[] = {64, 64, 32, 16};
	uint64_t how = take(in, 1);

	if ((how & 3) == 3) {
		repeat(p, 1 + take(in, 1) % sizeof(p->last), 1 + (how >> 2));
		return;
	}

	flush(p);
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
	static const enum vpt_pkt_kind ips[] = {VPT_PKT_TIP, VPT_PKT_TIP, VPT_PKT_TIP_PGE,
						VPT_PKT_TIP_PGD, VPT_PKT_FUP};
	struct vpt_packet packet = {.kind = VPT_PKT_TNT_8};
	enum op op = (enum op)(take(in, 1) & 7);
	const uint8_t *bytes;
	uint64_t what;
	size_t n;

	switch (op) {
	case OP_CODE:
	case OP_PART:
		put_code(p, in, op == OP_PART);
		break;
	case OP_TRACE:
		n = take(in, 1);
		bytes = some(in, &n);
		push(p, bytes, n);
		break;
	case OP_TNT:
		packet.bits = (uint8_t)(1 + take(in, 1) % VPT_TNT8_MAX);
		packet.value = take(in, 1) & ((1u << packet.bits) - 1);
		push_packet(p, &packet);
		break;
	case OP_IP:
		what = take(in, 1);
		put_ip(p, ips[what % (sizeof(ips) / sizeof(ips[0]))], place(in));
		break;
	case OP_PACKET:
		put_packet(p, in);
		break;
	case OP_PSB:
		put_psb(p, in);
		break;
	case OP_REST:
		do_rest(p, in);
		break;
	}
}

static struct vptd_decoder *make(struct play *p, struct input *in)
{
	/* Of these processors each has other errata; 0: none is known. */
	static const uint8_t models[] = {0, 0, 0x3d, 0x4e, 0x55, 0x66, 0x97, 0x5c, 0x7a};
	struct vptd_config config = {.size = sizeof(config),
				     .family = 6,
				     .crystal_num = 7,
				     .crystal_den = 3,
				     .max_nonturbo = 24};
	struct vptd_ops ops = {.size = sizeof(ops), .event = on_event};
	enum vptd_status status;
	struct vptd_decoder *d;

	p->flags = (uint32_t)take(in, 1);
	config.model = models[take(in, 1) % sizeof(models)];
	config.flags = VPTD_CTL | VPTD_EDGES | (p->way->time ? VPTD_TIME : 0) |
		       (p->flags & IN_KEEPS ? VPTD_KEEPS_RET : 0);
	/* Any CTL, or BranchEn, TSCEn, MTCEn, CYCEn, OS, User, MTCFreq 3. */
	config.ctl = take(in, 2);
	config.ctl = p->flags & IN_CTL ? config.ctl << 7 | (config.ctl & 0x7f) : 0xe60e;
	config.cr3_match = 0x1000;
	if (p->flags & IN_RANGE) {
		config.nranges = 2;
		config.range[0] = (struct vptd_range){LOW, LOW + VPTD_PAGE - 1, 0};
		config.range[1] = (struct vptd_range){LOW + 3 * VPTD_PAGE, LOW + 4 * VPTD_PAGE, 1};
	}
	config.cache = p->way->small;
	p->piece = 1 + (unsigned int)(take(in, 1) & 15);
	if (p->way->runs)
		ops.run = on_run;
	if (p->flags & IN_SPACE)
		ops.space = on_space;
	if (p->flags & IN_FETCH)
		ops.fetch = on_fetch;
	d = vptd_new(&config, &ops, p, &status);
	REQUIRE(d && status == VPTD_OK);
	return d;
}

static void sum_up(struct play *p, struct result *r)
{
	struct vptd_edge edge;
	size_t i;

	flush(p);
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
	vptd_counts_bitmap(p->counts, r->bitmap);
}

/*
 * Whether both decoders were at the same packet whenever they found an error. One that uses outcomes
 * later finds the same error later. Where they begin anew then differs: the first bytes of a PSB
 * may have been those of another packet, and an OVF counts for the one that goes on.
 */
static bool same_faults(const struct play *p, const struct play *other)
{
	unsigned int i;

	/* Errors that were not kept may be at different packets. */
	if (p->nfaults == FAULTS || other->nfaults == FAULTS)
		return false;
	for (i = 0; i < p->nfaults && i < other->nfaults; i++) {
		const struct fault *a = &p->faults[i], *b = &other->faults[i];

		REQUIRE(a->ip == b->ip && a->value == b->value && a->insns == b->insns);
		if (a->offset != b->offset)
			return false;
	}
	return true;
}

/*
 * Compare with an earlier way: all that was decoded, up to the first error that was found at
 * different packets. Where there are errors, what the packet before tells of may come or not. A
 * circle of branches is noticed after different numbers of rounds.
 */
static void compare(const struct play *p, const struct result *r, const struct play *other,
		    const struct result *of_other)
{
	if (p->way->like == other->way->like) {
		REQUIRE(p->callbacks == other->callbacks);
		REQUIRE(!memcmp(r, of_other, sizeof(*r)));
		return;
	}
	if (p->circles || other->circles || !same_faults(p, other))
		return;
	REQUIRE(r->insns == of_other->insns && r->edges == of_other->edges);
	REQUIRE(r->hash == of_other->hash && !memcmp(r->bitmap, of_other->bitmap, VPTD_BITMAP));
	REQUIRE(r->events[VPTD_EVENT_ERROR] == of_other->events[VPTD_EVENT_ERROR]);
	REQUIRE(r->events[VPTD_EVENT_ERROR] || !memcmp(r, of_other, sizeof(*r)));
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
