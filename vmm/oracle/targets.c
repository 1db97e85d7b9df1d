// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the targets and events of a trace without TNT packets with the execution. */
#include "oracle/targets.h"

#include <inttypes.h>
#include <stdio.h>

#include "decode/flow.h"
#include "oracle/expect.h"
#include "vpt/msr.h"

struct match {
	struct oracle_targets *t;
	unsigned int vcpu;
	struct oracle_expect expect;
	struct oracle_step step; /* the next expected step */
	bool over;		 /* the rest of this vCPU is not compared */
	bool cut;		 /* the trace may end before the execution */
};

bool oracle_targets_needed(const struct trace_reader *reader)
{
	unsigned int vcpus = trace_reader_info(reader)->vcpus, v;
	size_t n, i;

	for (v = 0; v < vcpus; v++) {
		const struct trace_period *periods = trace_reader_sessions(reader, v, &n);

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
	m->t->retired += m->step.kind == ORACLE_STEP_INSN;
	oracle_expect_next(&m->expect, &m->step);
}

static bool ends(const struct match *m)
{
	return m->step.kind == ORACLE_STEP_END || m->step.kind == ORACLE_STEP_WRONG;
}

/* Compare a target at which execution arrived. */
static void take_target(struct match *m, uint64_t ip, uint64_t offset)
{
	while (m->step.kind == ORACLE_STEP_INSN && m->step.ip != ip)
		next_step(m);
	/* An event occurred before any instruction ran there. */
	if ((m->step.kind == ORACLE_STEP_ASYNC || m->step.kind == ORACLE_STEP_ASYNC_OFF) &&
	    m->step.ip == ip) {
		m->t->targets++;
		return;
	}
	if (m->step.kind != ORACLE_STEP_INSN) {
		differ(m, "what it leads to did not run there", ip, offset);
		return;
	}
	m->t->targets++;
	next_step(m);
}

static bool same(const struct oracle_step *step, const struct decode_item *item)
{
	switch (item->event) {
	case DECODE_FLOW_ENABLED:
		return step->kind == ORACLE_STEP_ENABLED && step->ip == item->to;
	case DECODE_FLOW_DISABLED:
		return step->kind == ORACLE_STEP_DISABLED;
	case DECODE_FLOW_ASYNC_DISABLED:
		return step->kind == ORACLE_STEP_ASYNC_OFF && step->ip == item->ip;
	case DECODE_FLOW_ASYNC_BRANCH:
		return step->kind == ORACLE_STEP_ASYNC && step->ip == item->ip &&
		       step->to == item->to;
	case DECODE_FLOW_STOP:
		return step->kind == ORACLE_STEP_STOP;
	default:
		return false;
	}
}

static void take_event(struct match *m, const struct decode_item *item)
{
	switch (item->event) {
	case DECODE_FLOW_TARGET:
		take_target(m, item->to, item->offset);
		return;
	case DECODE_FLOW_OVERFLOW:
		m->t->overflow = true;
		m->over = true;
		return;
	case DECODE_FLOW_ENABLED:
	case DECODE_FLOW_DISABLED:
	case DECODE_FLOW_ASYNC_DISABLED:
	case DECODE_FLOW_ASYNC_BRANCH:
	case DECODE_FLOW_STOP:
		break;
	default:
		return;
	}
	while (m->step.kind == ORACLE_STEP_INSN)
		next_step(m);
	if (!same(&m->step, item)) {
		differ(m, decode_flow_event_text((enum decode_flow_event)item->event),
		       item->has_to ? item->to : item->ip, item->offset);
		return;
	}
	m->t->events++;
	next_step(m);
}

static bool is_no_tnt(const struct decode_flow *flow, const struct decode_item *item)
{
	return item->offset == decode_flow_segment(flow)->begin;
}

static void take_item(struct match *m, const struct decode_flow *flow,
		      const struct decode_item *item)
{
	if (m->over)
		return;
	switch (item->kind) {
	case DECODE_ITEM_INSN:
		take_target(m, item->ip, item->offset);
		break;
	case DECODE_ITEM_EVENT:
		take_event(m, item);
		break;
	case DECODE_ITEM_ERROR:
		/* Every such segment begins with the error for missing TNTs. */
		if (!is_no_tnt(flow, item))
			differ(m, item->text, item->ip, item->offset);
		break;
	default:
		break;
	}
}

static bool ends_early(const struct trace_reader *reader, unsigned int vcpu)
{
	size_t n;
	const struct trace_period *periods = trace_reader_sessions(reader, vcpu, &n);
	const struct trace_session *end = n ? periods[n - 1].end : NULL;

	return !end || end->end == TRACE_END_TOPA_STOP || end->end == TRACE_END_ERROR ||
	       end->end == TRACE_END_LOST;
}

int oracle_targets(struct trace_reader *reader, unsigned int vcpu, struct oracle_targets *t)
{
	struct match m = {.t = t, .vcpu = vcpu, .cut = ends_early(reader, vcpu)};
	struct decode_item item = {0};
	struct decode_flow *flow;
	int err;

	oracle_expect_init(&m.expect, reader, vcpu);
	oracle_expect_next(&m.expect, &m.step);
	err = decode_flow_open(reader, vcpu, DECODE_FLOW_INSNS, &flow);
	if (err)
		return err;
	do {
		err = decode_flow_next(flow, &item);
		if (!err)
			take_item(&m, flow, &item);
	} while (!err && item.kind != DECODE_ITEM_END);
	while (!ends(&m)) {
		if (!m.over && !m.cut && m.step.kind != ORACLE_STEP_INSN)
			differ(&m, "it ends before what ran does", m.step.ip, item.offset);
		next_step(&m);
	}
	if (m.step.kind == ORACLE_STEP_WRONG && !m.over)
		differ(&m, m.step.text, 0, item.offset);
	decode_flow_close(flow);
	return err;
}
