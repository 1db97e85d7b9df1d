// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare what libvptdecode reports for a walk's stream with the instructions that were executed.
 */
#include "lib/erratum_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdecode/vptdecode.h"
#include "vpt/msr.h"

struct check {
	const struct walk_result *walk;
	const struct erratum_stream *stream;
	struct vptd_decoder *decoder;
	size_t next;	     /* item that must come next */
	uint64_t off;	     /* the last WRMSR that ended the trace */
	unsigned int behind; /* instructions reported after the last item */
	int way;
	size_t resumed;	     /* the end of the last OVF in the correct stream */
	unsigned int losses; /* overflows */
	unsigned int errors; /* errors after which decoding resumes at a PSB */
	bool lost;	     /* an overflow was reported, and the next item may be any later one */
	bool failed;
	char why[400];
};

static const char *kind_text(enum walk_kind kind)
{
	return kind == WALK_INSN ? "" : kind == WALK_EVENT ? "event " : "off ";
}

static void differs(struct check *c, const char *what, uint64_t ip, uint64_t offset)
{
	const struct walk_item *items = c->walk->items;
	size_t i = c->next > 4 ? c->next - 4 : 0;
	int n;

	if (c->failed)
		return;
	c->failed = true;
	n = snprintf(c->why, sizeof(c->why),
		     "decoded: %s %llx at byte %llu, item %zu of %zu; executed:", what,
		     (unsigned long long)ip, (unsigned long long)offset, c->next, c->walk->count);
	for (; i < c->walk->count && i < c->next + 4 && n < 350; i++)
		n += sprintf(c->why + n, "%s %s%llx", i == c->next ? " *" : "",
			     kind_text(items[i].kind), (unsigned long long)items[i].ip);
}

static const uint8_t *insn_at(const struct check *c, uint64_t ip)
{
	return c->walk->code + (ip - WALK_CODE_BASE);
}

static const struct walk_item *item(const struct check *c)
{
	return c->next < c->walk->count ? &c->walk->items[c->next] : NULL;
}

/* The decoder reports an INT n before its event, and a WRMSR before the end of the trace. */
static void take_insn(struct check *c, uint64_t ip, uint64_t offset)
{
	const struct walk_item *i = item(c);

	if (i && i->kind == WALK_EVENT && i->ip == ip && insn_at(c, ip)[0] == 0xcd)
		return;
	while (i && i->kind == WALK_OFF && i->ip != ip) {
		c->next++;
		i = item(c);
	}
	if (i && i->kind == WALK_OFF)
		c->off = ip;
	if (i && i->ip == ip && i->kind != WALK_EVENT)
		c->next++;
	/*
	 * The walk ends with an artificial WRMSR, possibly at the address of another instruction.
	 * One instruction after the last item is therefore allowed.
	 */
	else if (i || c->behind++)
		differs(c, "", ip, offset);
}

/* Check that the items from @from on were executed within the time bounds of their run. */
static void check_time(struct check *c, size_t from, const struct vptd_run *run)
{
	struct vptd_time time;
	size_t i;

	MUST(vptd_now(c->decoder, &time) == VPTD_OK);
	if (!(time.flags & VPTD_TIME_KNOWN))
		return;
	for (i = from; i < c->next; i++) {
		uint64_t tsc = c->walk->items[i].tsc;

		if (c->walk->items[i].kind != WALK_OFF && (tsc < time.lo || tsc > time.hi))
			differs(c, tsc < time.lo ? "too late a time:" : "too early a time:",
				tsc < time.lo ? time.lo : time.hi, run->offset);
	}
}

static void on_run(void *context, const struct vptd_run *run)
{
	struct check *c = context;
	uint64_t ip = run->ip;
	size_t from = c->next;
	uint32_t i;

	for (i = 0; i < run->count && !c->failed; ip += run->lens[i++])
		take_insn(c, ip, run->offset);
	if (c->way & ERRATUM_TIME && !c->failed)
		check_time(c, from, run);
}

static void take_event(struct check *c, const struct vptd_event *e)
{
	const struct walk_item *i = item(c);

	if (e->kind == VPTD_EVENT_ASYNC_DISABLED && c->off == e->ip)
		c->off = 0;
	else if (i && i->ip == e->ip && i->kind == WALK_EVENT)
		c->next++;
	else if (e->kind == VPTD_EVENT_ASYNC_BRANCH)
		differs(c, "event", e->ip, e->offset);
	else if (i && i->ip == e->ip && i->kind == WALK_OFF)
		c->next++;
	else if (i)
		differs(c, "the end of tracing at", e->ip, e->offset);
}

/* Does the instruction need a packet? */
static bool sends(const struct check *c, const struct walk_item *i)
{
	const uint8_t *insn = insn_at(c, i->ip);

	return i->kind == WALK_EVENT || i->tip || insn[0] == 0xe2 ||
	       (insn[0] == 0x0f && insn[1] == 0x84);
}

/*
 * Packets were lost, so the instructions since the last packet before the loss are unknown. Tracing
 * may have resumed already, so search backwards for the OVF.
 */
static void take_loss(struct check *c, const struct vptd_event *e)
{
	size_t ovf = erratum_packet_at(c->stream, e->offset);

	while (ovf && c->stream->packet[ovf].p.kind != VPT_PKT_OVF)
		ovf--;
	c->losses++;
	c->resumed = c->stream->packet[ovf].end;
	if (c->lost)
		return;
	c->lost = true;
	for (; c->next < c->walk->count; c->next++) {
		const struct walk_item *i = item(c);

		if (i->at > c->stream->packet[ovf].at)
			return;
		if (i->kind == WALK_OFF || !sends(c, i))
			continue;
		differs(c, "an overflow after", i->ip, e->offset);
		return;
	}
}

/* Take the position @to, which a packet reports. The following run shows whether it is correct. */
static void take_place(struct check *c, uint64_t to, uint64_t offset)
{
	size_t packet = erratum_packet_at(c->stream, offset), low = c->next;

	if (!c->lost)
		return;
	while (low < c->walk->count && c->walk->items[low].at < c->stream->packet[packet].end)
		low++;
	/* The FUP of an instruction or event after the overflow is sent after its item begins. */
	if (low > c->next && c->walk->items[low - 1].ip == to &&
	    c->walk->items[low - 1].at >= c->resumed &&
	    c->stream->packet[packet].p.kind != VPT_PKT_TIP &&
	    c->stream->packet[packet].p.kind != VPT_PKT_TIP_PGE)
		low--;
	for (; c->next < low; c->next++) {
		if (item(c)->kind != WALK_OFF && !(c->way & ERRATUM_SKIPS))
			differs(c, "tracing from", to, offset);
	}
	c->lost = false;
}

static void on_event(void *context, const struct vptd_event *e)
{
	struct check *c = context;

	if (c->failed)
		return;
	switch (e->kind) {
	case VPTD_EVENT_ASYNC_BRANCH:
	case VPTD_EVENT_ASYNC_DISABLED:
		take_event(c, e);
		break;
	case VPTD_EVENT_OVERFLOW:
		take_loss(c, e);
		if (e->flags & VPTD_EV_TO)
			take_place(c, e->to, e->offset);
		break;
	case VPTD_EVENT_ENABLED:
	case VPTD_EVENT_SYNC:
		if (e->flags & VPTD_EV_TO)
			take_place(c, e->to, e->offset);
		break;
	case VPTD_EVENT_ERROR:
		/* The CALL of this RET was lost, so decoding resumes at the next PSB. */
		if (c->way & ERRATUM_SKIPS && e->value == VPTD_E_RETURN) {
			c->lost = true;
			c->errors++;
			break;
		}
		differs(c, vptd_status_text((enum vptd_status)e->value), e->ip, e->offset);
		break;
	default:
		break;
	}
}

/* Check that all executed items and all overflows were reported. */
static void take_end(struct check *c)
{
	unsigned int losses = 0;
	size_t i;

	for (; c->next < c->walk->count; c->next++) {
		if (item(c)->kind != WALK_OFF && (!c->lost || sends(c, item(c))) &&
		    !(c->lost && c->way & ERRATUM_SKIPS))
			differs(c, "the end", 0, 0);
	}
	for (i = 0; i < c->stream->count; i++)
		losses += c->stream->packet[i].p.kind == VPT_PKT_OVF;
	if (c->errors ? losses < c->losses : losses != c->losses)
		differs(c, "overflows", c->losses, losses);
}

uint64_t erratum_decode(const struct walk_config *walk, const struct walk_result *result,
			const struct erratum_stream *s, const struct erratum_cpu *cpu, int way,
			char *why, size_t size)
{
	struct check c = {.walk = result, .stream = s, .way = way};
	struct vptd_config config = {
		.size = sizeof(config),
		.flags = VPTD_CTL,
		.family = cpu->family,
		.model = cpu->model,
		.ctl = walk->ctl | VPT_CTL_MASK(TRACE_EN),
		.cr3_match = walk->cr3_match,
		.cache = 1 << 16,
	};
	const struct vptd_ops ops = {.size = sizeof(ops),
				     .event = way & ERRATUM_RUNS ? on_event : NULL,
				     .run = way & ERRATUM_RUNS ? on_run : NULL};
	size_t len = s->len, n = way & ERRATUM_PIECES ? 1 : len, at;
	enum vptd_status status;
	struct vptd_decoder *d;
	struct vpt_caps caps;
	uint64_t insns;
	unsigned int i;

	walk_caps(walk, &caps);
	if (way & ERRATUM_TIME) {
		config.flags |= VPTD_TIME;
		config.crystal_num = caps.l15_ebx;
		config.crystal_den = caps.l15_eax;
		config.max_nonturbo = caps.max_nonturbo;
	}
	for (i = 0; i < VPT_MAX_RANGES; i++) {
		unsigned int cfg = walk->ctl >> (VPT_CTL_ADDR0_CFG_SHIFT + 4 * i) & 15;

		if (cfg)
			config.range[config.nranges++] = (struct vptd_range){
				walk->addr[2 * i], walk->addr[2 * i + 1], cfg == 2};
	}
	d = vptd_new(&config, &ops, &c, &status);
	MUST(d);
	c.decoder = d;
	status = vptd_code(d, VPTD_ANY_SPACE, WALK_CODE_BASE, result->code, WALK_CODE_SIZE);
	for (at = 0; !status && at < len; at += n)
		status = vptd_push(d, s->bytes + at, n);
	if (!status)
		status = vptd_finish(d);
	MUST(!status);
	insns = vptd_insns(d);
	vptd_free(d);
	if (way & ERRATUM_RUNS)
		take_end(&c);
	snprintf(why, size, "%s", c.why);
	return insns;
}
