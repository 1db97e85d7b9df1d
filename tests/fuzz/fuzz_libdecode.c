// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: libvptdecode by its public interface. The input is a configuration, then
 * operations (enum op): code that changes, address spaces, packets, well-formed or not.
 *
 * The same operations are done with several decoders, see struct way. All must count the same
 * instructions, events and edges. Pieces of any size must make the same callbacks as the whole,
 * with the same times.
 */
#include "fuzz/ways.h"
#include "lib/use_file.h"
#include "vpt/packet.h"

#define LOW   0x401000ull	    /* four pages, */
#define HIGH  0xffffffff81000000ull /* and two of the kernel's half */
#define LOWS  4u
#define PAGES 6u

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

static const struct way ways[] = {
	{.like = 0},
	{.pieces = true, .like = 0},
	{.time = true, .small = true, .like = 2},
	{.runs = true, .like = 3},
	{.runs = true, .pieces = true, .like = 3},
	{.runs = true, .time = true, .like = 5},
	{.runs = true, .time = true, .pieces = true, .small = true, .like = 5},
};

/* The input's own state of the way that is played. */
static struct {
	uint32_t flags; /* enum input_flag */
	uint8_t page[PAGES][VPTD_PAGE];
	bool given[PAGES]; /* by OP_CODE or OP_PART */
	uint8_t stream[1024];
	size_t waiting;	  /* bytes of @stream that have not been pushed */
	uint8_t last[64]; /* the last bytes of the stream */
} now;

static uint64_t address_of(unsigned int page)
{
	return page < LOWS ? LOW + page * VPTD_PAGE : HIGH + (page - LOWS) * VPTD_PAGE;
}

/* Take an address, nearly always in the code. */
static uint64_t place(struct input *in)
{
	uint64_t at = take(in, 2);

	return at < 0xfff0 ? address_of(at / VPTD_PAGE % PAGES) + at % VPTD_PAGE : ~at;
}

static uint64_t on_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	(void)context;
	(void)vmcs;
	return (cr3 & 0x3000) | (unsigned int)nr;
}

/* Fill a page that the input did not define. One page does not exist. */
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
	/* Also map the next page, if the input did not define it. */
	for (i = 0; i < PAGES && now.flags & IN_AHEAD; i++) {
		if (address_of(i) != address + VPTD_PAGE || now.given[i] ||
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
	push_now(p, now.stream, now.waiting);
	now.waiting = 0;
}

static void push(struct play *p, const uint8_t *bytes, size_t len)
{
	size_t keep = sizeof(now.last) - (len < sizeof(now.last) ? len : sizeof(now.last));

	if (len > sizeof(now.stream) - now.waiting)
		flush(p);
	memcpy(now.stream + now.waiting, bytes, len);
	now.waiting += len;
	memmove(now.last, now.last + sizeof(now.last) - keep, keep);
	memcpy(now.last + keep, bytes + len - (sizeof(now.last) - keep), sizeof(now.last) - keep);
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
	/* The key of this page or of another one. */
	uint64_t key = what & 4 ? what >> 3 & 7 : page;

	flush(p);
	now.given[page] = true;
	if (part) {
		if (page + 1 < PAGES)
			now.given[page + 1] = true;
		REQUIRE(vptd_code(p->d, space, address_of(page) + at, bytes, n) == VPTD_OK);
		return;
	}
	if (n > VPTD_PAGE - at)
		n = VPTD_PAGE - at;
	memcpy(now.page[page] + at, bytes, n);
	REQUIRE(vptd_page(p->d, space, address_of(page), key, now.page[page]) == VPTD_OK);
}

/* Send the last bytes again, since packet caches only keep repeated packets. */
static void repeat(struct play *p, size_t n, unsigned int times)
{
	uint8_t bytes[sizeof(now.last)];

	memcpy(bytes, now.last + sizeof(now.last) - n, n);
	while (times--)
		push(p, bytes, n);
}

static void do_rest(struct play *p, struct input *in)
{
	uint64_t how = take(in, 1);

	if ((how & 3) == 3) {
		repeat(p, 1 + take(in, 1) % sizeof(now.last), 1 + (how >> 2));
		return;
	}
	flush(p);
	control(p, how);
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
	/* Each of these processors has different errata; 0: an unknown processor. */
	static const uint8_t models[] = {0, 0, 0x3d, 0x4e, 0x55, 0x66, 0x97, 0x5c, 0x7a};
	struct vptd_config config = {.size = sizeof(config),
				     .family = 6,
				     .crystal_num = 7,
				     .crystal_den = 3,
				     .max_nonturbo = 24};
	struct vptd_ops ops = {.size = sizeof(ops), .event = on_event};
	enum vptd_status status;
	struct vptd_decoder *d;

	memset(&now, 0, sizeof(now));
	now.flags = (uint32_t)take(in, 1);
	config.model = models[take(in, 1) % sizeof(models)];
	config.flags = VPTD_CTL | VPTD_EDGES | (p->way->time ? VPTD_TIME : 0) |
		       (now.flags & IN_KEEPS ? VPTD_KEEPS_RET : 0);
	/* Any CTL, or BranchEn, TSCEn, MTCEn, CYCEn, OS, User, MTCFreq 3. */
	config.ctl = take(in, 2);
	config.ctl = now.flags & IN_CTL ? config.ctl << 7 | (config.ctl & 0x7f) : 0xe60e;
	config.cr3_match = 0x1000;
	if (now.flags & IN_RANGE) {
		config.nranges = 2;
		config.range[0] = (struct vptd_range){LOW, LOW + VPTD_PAGE - 1, 0};
		config.range[1] = (struct vptd_range){LOW + 3 * VPTD_PAGE, LOW + 4 * VPTD_PAGE, 1};
	}
	config.cache = p->way->small;
	p->piece = 1 + (unsigned int)(take(in, 1) & 15);
	if (p->way->runs)
		ops.run = on_run;
	if (now.flags & IN_SPACE)
		ops.space = on_space;
	if (now.flags & IN_FETCH)
		ops.fetch = on_fetch;
	d = vptd_new(&config, &ops, p, &status);
	REQUIRE(d && status == VPTD_OK);
	return d;
}

/*
 * Return true if both decoders were at the same packet at each error. A decoder that uses outcomes
 * later finds the same error later, and then restarts at another place. The first bytes of a PSB
 * may have belonged to another packet, and an OVF is only counted by a decoder that has not
 * stopped.
 */
static bool same_faults(const struct play *p, const struct play *other)
{
	unsigned int i;

	/* Errors beyond the array may be at different packets. */
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
 * Compare with an earlier way everything decoded before the first error at different packets.
 * Before an error, the items of the last packet may or may not be reported. A loop of branches
 * without packets is detected after different numbers of iterations.
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
	static const struct target target = {
		ways, sizeof(ways) / sizeof(ways[0]), make, play_op, flush, compare};

	return play_ways(&target, data, size);
}
