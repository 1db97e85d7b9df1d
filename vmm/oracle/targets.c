// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare the targets and events of a trace without TNT packets with what ran. */
#include "targets.h"

#include <inttypes.h>
#include <stdio.h>

#include "decode/flow.h"
#include "expect.h"
#include "vpt/msr.h"

struct match {
	struct vpt_targets *t;
	unsigned int vcpu;
	struct vpt_expect expect;
	struct vpt_step step; /* the next one that is expected */
	bool over;	      /* no more of this vCPU is compared */
	bool cut;	      /* the trace may end before what ran does */
};

bool vpt_targets_needed(const struct vpt_reader *reader)
{
	unsigned int vcpus = vpt_reader_info(reader)->vcpus, v;
	size_t n, i;

	for (v = 0; v < vcpus; v++) {
		const struct vpt_period *periods = vpt_reader_sessions(reader, v, &n);

		for (i = 0; i < n; i++) {
			if (periods[i].start->ctl & VPT_CTL_MASK(DIS_TNT))
				return true;
		}
	}
	return false;
}

static void differ(struct match *m, const char *what, uint64_t ip, uint64_t offset)
{
	if (!m->t->mismatches++)
		snprintf(m->t->first, sizeof(m->t->first),
			 "vCPU %u, about byte 0x%" PRIx64 " of the trace: %s, ip 0x%" PRIx64,
			 m->vcpu, offset, what, ip);
	m->over = true;
}

static void next_step(struct match *m)
{
	m->t->retired += m->step.kind == VPT_STEP_INSN;
	vpt_expect_next(&m->expect, &m->step);
}

static bool ends(const struct match *m)
{
	return m->step.kind == VPT_STEP_END || m->step.kind == VPT_STEP_WRONG;
}

/* Execution came to `ip`. */
static void take_target(struct match *m, uint64_t ip, uint64_t offset)
{
	while (m->step.kind == VPT_STEP_INSN && m->step.ip != ip)
		next_step(m);
	/* An event came before anything ran there. */
	if ((m->step.kind == VPT_STEP_ASYNC || m->step.kind == VPT_STEP_ASYNC_OFF) &&
	    m->step.ip == ip) {
		m->t->targets++;
		return;
	}
	if (m->step.kind != VPT_STEP_INSN) {
		differ(m, "what it leads to did not run there", ip, offset);
		return;
	}
	m->t->targets++;
	next_step(m);
}

static bool same(const struct vpt_step *step, const struct vpt_item *item)
{
	switch (item->event) {
	case VPT_FLOW_ENABLED:
		return step->kind == VPT_STEP_ENABLED && step->ip == item->to;
	case VPT_FLOW_DISABLED:
		return step->kind == VPT_STEP_DISABLED;
	case VPT_FLOW_ASYNC_DISABLED:
		return step->kind == VPT_STEP_ASYNC_OFF && step->ip == item->ip;
	case VPT_FLOW_ASYNC_BRANCH:
		return step->kind == VPT_STEP_ASYNC && step->ip == item->ip && step->to == item->to;
	case VPT_FLOW_STOP:
		return step->kind == VPT_STEP_STOP;
	default:
		return false;
	}
}

static void take_event(struct match *m, const struct vpt_item *item)
{
	switch (item->event) {
	case VPT_FLOW_TARGET:
		take_target(m, item->to, item->offset);
		return;
	case VPT_FLOW_OVERFLOW:
		m->t->overflow = true;
		m->over = true;
		return;
	case VPT_FLOW_ENABLED:
	case VPT_FLOW_DISABLED:
	case VPT_FLOW_ASYNC_DISABLED:
	case VPT_FLOW_ASYNC_BRANCH:
	case VPT_FLOW_STOP:
		break;
	default:
		return;
	}
	while (m->step.kind == VPT_STEP_INSN)
		next_step(m);
	if (!same(&m->step, item)) {
		differ(m, vpt_flow_event_text((enum vpt_flow_event)item->event),
		       item->has_to ? item->to : item->ip, item->offset);
		return;
	}
	m->t->events++;
	next_step(m);
}

static bool is_no_tnt(const struct vpt_flow *flow, const struct vpt_item *item)
{
	return item->offset == vpt_flow_segment(flow)->begin;
}

static void take_item(struct match *m, const struct vpt_flow *flow, const struct vpt_item *item)
{
	if (m->over)
		return;
	switch (item->kind) {
	case VPT_ITEM_INSN:
		take_target(m, item->ip, item->offset);
		break;
	case VPT_ITEM_EVENT:
		take_event(m, item);
		break;
	case VPT_ITEM_ERROR:
		/* Every such segment begins with the error that says so. */
		if (!is_no_tnt(flow, item))
			differ(m, item->text, item->ip, item->offset);
		break;
	default:
		break;
	}
}

static bool ends_early(const struct vpt_reader *reader, unsigned int vcpu)
{
	size_t n;
	const struct vpt_period *periods = vpt_reader_sessions(reader, vcpu, &n);
	const struct vpt_session *end = n ? periods[n - 1].end : NULL;

	return !end || end->end == VPT_END_TOPA_STOP || end->end == VPT_END_ERROR ||
	       end->end == VPT_END_LOST;
}

int vpt_targets(struct vpt_reader *reader, unsigned int vcpu, struct vpt_targets *t)
{
	struct match m = {.t = t, .vcpu = vcpu, .cut = ends_early(reader, vcpu)};
	struct vpt_item item = {0};
	struct vpt_flow *flow;
	int err;

	vpt_expect_init(&m.expect, reader, vcpu);
	vpt_expect_next(&m.expect, &m.step);
	err = vpt_flow_open(reader, vcpu, VPT_FLOW_INSNS, &flow);
	if (err)
		return err;
	do {
		err = vpt_flow_next(flow, &item);
		if (!err)
			take_item(&m, flow, &item);
	} while (!err && item.kind != VPT_ITEM_END);
	while (!ends(&m)) {
		if (!m.over && !m.cut && m.step.kind != VPT_STEP_INSN)
			differ(&m, "it ends before what ran does", m.step.ip, item.offset);
		next_step(&m);
	}
	if (m.step.kind == VPT_STEP_WRONG && !m.over)
		differ(&m, m.step.text, 0, item.offset);
	vpt_flow_close(flow);
	return err;
}
