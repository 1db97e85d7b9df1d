// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the places of changes in a stream.
 *
 * If only user space is traced, a change takes effect where tracing resumes: at the first TIP.PGE
 * that is not earlier. Its place is behind the TIP.PGD before it. If the kernel is traced too, the
 * place is before the first packet of the flow that is not earlier. In both cases all packets of
 * the event before the place are complete, so that the decoder has no pending state.
 *
 * Before the first TSC packet there is no time: the first change with a known time takes effect.
 */
#include "foreign/place.h"

#include <errno.h>

#include "decode/timeline.h"
#include "trace/vec.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

struct walk {
	const struct foreign_place *p;
	struct decode_timeline *line;
	bool user_only, kernel_only;
	bool in_psb;
	bool has_time;
	uint64_t time; /* time of the last packet */
	size_t quiet;  /* the last place without pending state */
	size_t next;   /* the next change */
	size_t mm;     /* the current address space */
	uint64_t cr3;
	bool has_cr3;
	uint64_t last_ip;
};

static uint64_t ns_of(const struct foreign_clock *c, uint64_t tsc)
{
	uint64_t quot = tsc >> c->shift, rem = tsc & (((uint64_t)1 << c->shift) - 1);

	return c->zero + quot * c->mult + (rem * c->mult >> c->shift);
}

static void read_time(struct walk *w, size_t offset)
{
	struct decode_when when;

	decode_timeline_packet(w->line, offset, &when);
	w->has_time = when.known && !when.relative;
	if (w->has_time)
		w->time = ns_of(&w->p->trace->clock, when.tsc);
}

/* Apply the changes up to now at @offset. */
static void apply(struct walk *w, size_t offset)
{
	struct foreign_changes *c = w->p->changes;

	for (; w->next < c->n && c->at[w->next].time <= w->time; w->next++) {
		c->at[w->next].offset = offset;
		if (c->at[w->next].mm != FOREIGN_NONE)
			w->mm = c->at[w->next].mm;
	}
}

/* Returns true for the outcome of a branch. */
static bool is_branch(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TNT_8 || kind == VPT_PKT_TNT_64 || kind == VPT_PKT_TIP ||
	       kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_TIP_PGD;
}

static bool is_flow(enum vpt_pkt_kind kind)
{
	return is_branch(kind) || kind == VPT_PKT_FUP || kind == VPT_PKT_PIP || kind == VPT_PKT_OVF;
}

static bool completes(enum vpt_pkt_kind kind)
{
	return is_branch(kind) || kind == VPT_PKT_PSBEND;
}

/*
 * Boyer and Moore: find the process with more than half of the packets of a visit, if there is one.
 */
static void count_visit(struct walk *w)
{
	struct foreign_visits *v = w->p->visits;
	struct foreign_visit *visit = v->n ? &v->at[v->n - 1] : NULL;

	if (!visit)
		return;
	if (!visit->weight)
		visit->mm = w->mm;
	if (visit->mm == w->mm)
		visit->weight += visit->weight < UINT32_MAX;
	else
		visit->weight--;
}

static int vote(struct walk *w, const struct vpt_packet *packet)
{
	struct trace_pair *entry;
	uint64_t ip;

	switch (packet->kind) {
	case VPT_PKT_PSB:
		w->last_ip = 0;
		return 0;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		break;
	default:
		return 0;
	}
	if (vpt_ip_expand(w->last_ip, packet->ip_bytes, packet->value, &ip) != VPT_OK)
		return 0;
	w->last_ip = ip;
	/* If only the kernel is traced, its work for a process counts. */
	if ((ip >> 63 && !w->kernel_only) || !w->has_cr3 || !w->has_time || w->mm == FOREIGN_NONE)
		return 0;
	count_visit(w);
	entry = trace_pairs_add(w->p->votes, w->cr3, w->mm);
	if (!entry)
		return -ENOMEM;
	entry->value++;
	return 0;
}

static int take_pip(struct walk *w, size_t at, const struct vpt_packet *packet)
{
	struct trace_pair *entry = trace_pairs_add(w->p->pips, packet->value, packet->flag);
	struct foreign_visits *v = w->p->visits;

	if (!entry || (!packet->flag && !trace_vec_room(v)))
		return -ENOMEM;
	if (!packet->flag)
		v->at[v->n++] = (struct foreign_visit){at, packet->value, FOREIGN_NONE, 0};
	entry->value = 1;
	w->has_cr3 = !packet->flag;
	w->cr3 = packet->value;
	return 0;
}

static int take(struct walk *w, size_t at, const struct vpt_packet *packet)
{
	bool waits = w->next < w->p->changes->n || w->p->votes->n;
	int err = 0;

	if (packet->kind == VPT_PKT_PSB)
		w->in_psb = true;
	if (waits && w->p->trace->clock.known && is_flow(packet->kind) && !w->in_psb &&
	    (!w->user_only || packet->kind == VPT_PKT_TIP_PGE || packet->kind == VPT_PKT_OVF)) {
		read_time(w, at + packet->size);
		if (w->has_time)
			apply(w, w->quiet);
	}
	if (packet->kind == VPT_PKT_PIP)
		err = take_pip(w, at, packet);
	if (!err)
		err = vote(w, packet);
	if (packet->kind == VPT_PKT_PSBEND || packet->kind == VPT_PKT_OVF)
		w->in_psb = false;
	if (completes(packet->kind) && !w->in_psb)
		w->quiet = at + packet->size;
	return err;
}

static int walk(struct walk *w)
{
	const struct foreign_joined *j = w->p->joined;
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = vpt_packet_find_psb(j->bytes, j->len), next_break = 0;
	int err = 0;

	while (at < j->len && !err) {
		size_t end = next_break < j->breaks.n ? j->breaks.at[next_break] : j->len;

		if (at >= end && end < j->len) {
			w->quiet = end;
			w->in_psb = false;
			next_break++;
			at = end + vpt_packet_find_psb(j->bytes + end, j->len - end);
			parser = (struct vpt_parser){0};
			continue;
		}
		if (vpt_packet_read(&parser, j->bytes + at, end - at, &packet) != VPT_OK) {
			at += 1 + vpt_packet_find_psb(j->bytes + at + 1, end - at - 1);
			parser = (struct vpt_parser){0};
			w->in_psb = false;
			continue;
		}
		err = take(w, at, &packet);
		at += packet.size;
	}
	return err;
}

/* Apply the changes before the first packet with a time: they are valid from the beginning. */
static void begin(struct walk *w)
{
	const struct foreign_joined *j = w->p->joined;
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = vpt_packet_find_psb(j->bytes, j->len);

	while (at < j->len &&
	       vpt_packet_read(&parser, j->bytes + at, j->len - at, &packet) == VPT_OK) {
		if (packet.kind == VPT_PKT_TSC) {
			w->time = ns_of(&w->p->trace->clock, packet.value);
			apply(w, 0);
			return;
		}
		at += packet.size;
	}
}

/* Without any time, only changes from before the trace are known. */
static void begin_untimed(struct walk *w)
{
	struct foreign_changes *c = w->p->changes;

	if (c->n) {
		w->time = c->at[0].time;
		apply(w, 0);
	}
}

int foreign_place(const struct foreign_place *p)
{
	struct decode_timeline_session session = {.ctl = p->trace->ctl};
	struct walk w = {
		.p = p,
		.user_only = !(p->trace->ctl & VPT_CTL_MASK(OS)),
		.kernel_only = !(p->trace->ctl & VPT_CTL_MASK(USER)),
		.mm = FOREIGN_NONE,
	};
	struct decode_timeline_config config = {
		.bytes = p->joined->bytes,
		.len = p->joined->len,
		.caps = &p->trace->caps,
		.sessions = &session,
		.nsessions = 1,
	};
	size_t i;
	int err;

	for (i = 0; i < p->changes->n; i++)
		p->changes->at[i].offset = FOREIGN_NONE;
	w.line = decode_timeline_new(&config);
	if (!w.line)
		return -ENOMEM;
	if (p->trace->clock.known)
		begin(&w);
	if (!w.next)
		begin_untimed(&w);
	err = walk(&w);
	decode_timeline_free(w.line);
	return err;
}
