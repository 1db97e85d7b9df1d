// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a trace of another system as a trace of Intel PT. */
#include "export/recast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/code.h"
#include "export/retell.h"
#include "trace/atom_session.h"
#include "trace/origin.h"
#include "vpt/msr.h"

#define MODEL "skl"

/* PT's trace transport, an output that is not memory (CPUID.14H.0:ECX). */
#define ECX_FABRIC (1u << 3)

struct recast {
	struct trace_reader *reader;
	struct trace_writer *writer;
	const struct trace_file_info *from;
	struct trace_file_info info;
	struct decode_disasm *disasm;
	struct export_recast_report *report;
};

bool export_recast_needed(const struct trace_reader *reader)
{
	return trace_reader_info(reader)->flags & TRACE_INFO_ATOM;
}

/* Returns true if PT with the same CPL and CR3 filters traces the same instructions. */
static bool same_choice(const struct trace_reader *reader)
{
	const unsigned int always = VPT_ATOM_ID_ALWAYS;
	size_t i, n;
	unsigned int v;

	trace_reader_spaces(reader, &n);
	if (n)
		return false;
	for (v = 0; v < trace_reader_info(reader)->vcpus; v++) {
		const struct trace_period *p = trace_reader_sessions(reader, v, &n);

		for (i = 0; i < n; i++) {
			struct vpt_atom_regs regs;

			trace_atom_session_get(p[i].start, &regs);
			if (VPT_ATOM_GET(EVENTS, FILTER, regs.events) != always)
				return false;
		}
	}
	return true;
}

/* Returns true if any session has timing packets enabled. */
static bool has_time(const struct trace_reader *reader, unsigned int vcpu)
{
	const uint64_t timing = VPT_ATOM_MASK(CTL, STS_EN) | VPT_ATOM_MASK(CTL, MTC_EN) |
				VPT_ATOM_MASK(CTL, CYCLE_ACC);
	const struct trace_period *p;
	size_t i, n;

	p = trace_reader_sessions(reader, vcpu, &n);
	for (i = 0; i < n; i++) {
		if (p[i].start->ctl & timing)
			return true;
	}
	return false;
}

/* Find the first known time. *known is false if there is none. */
static int first_time(struct trace_reader *reader, unsigned int vcpu, bool *known, uint64_t *tsc)
{
	struct decode_flow *flow;
	struct decode_item item;
	int err;

	*known = false;
	if (!has_time(reader, vcpu))
		return 0;
	err = decode_flow_open(reader, vcpu, DECODE_FLOW_BLOCKS, &flow);
	if (err)
		return err;
	decode_flow_keep_time(flow);
	do {
		err = decode_flow_next(flow, &item);
		*known = !err && item.when.known;
		*tsc = item.when.tsc;
	} while (!err && !*known && item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
	return err;
}

static void note_error(struct export_recast_report *r, unsigned int vcpu,
		       const struct decode_item *item)
{
	if (!r->errors++)
		snprintf(r->error, sizeof(r->error), "vCPU %u, byte %llx: %s", vcpu,
			 (unsigned long long)item->offset, item->text);
}

static int retell(struct recast *m, unsigned int vcpu, struct export_retell *r,
		  struct decode_flow *flow)
{
	struct decode_item item;
	int err;

	if (r->timed)
		decode_flow_keep_time(flow);
	do {
		err = decode_flow_next(flow, &item);
		if (err)
			return err;
		m->report->insns += item.kind == DECODE_ITEM_INSN;
		if (item.kind == DECODE_ITEM_ERROR)
			note_error(m->report, vcpu, &item);
		err = export_retell_item(r, &item);
	} while (!err && item.kind != DECODE_ITEM_END);
	return err;
}

static int put_trace(struct recast *m, unsigned int vcpu)
{
	struct export_retell *r = calloc(1, sizeof(*r));
	struct decode_flow *flow = NULL;
	int err;

	if (!r)
		return -ENOMEM;
	r->caps = &m->info.caps;
	r->periods = trace_reader_sessions(m->reader, vcpu, &r->nperiods);
	r->writer = m->writer;
	r->vcpu = vcpu;
	r->disasm = m->disasm;
	r->cbr = m->info.caps.max_nonturbo;
	export_retell_init(r);
	err = first_time(m->reader, vcpu, &r->timed, &r->tsc);
	if (!err)
		err = decode_flow_open(m->reader, vcpu, DECODE_FLOW_INSNS, &flow);
	if (!err)
		err = retell(m, vcpu, r, flow);
	m->report->sessions += r->session;
	m->report->bytes += trace_writer_stream_bytes(m->writer, vcpu);
	m->report->timed |= r->timed;
	decode_flow_close(flow);
	export_retell_free(r);
	free(r);
	return err;
}

/* Copy the contents. The new file has the same numbers, from 1 on in the same order. */
static int put_contents(const struct recast *m)
{
	size_t i, n;
	const uint8_t *const *contents = trace_reader_contents(m->reader, &n);
	uint64_t id;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = trace_writer_page(m->writer, contents[i], &id);
	return err;
}

static int put_code(const struct recast *m, unsigned int vcpu)
{
	const struct trace_code *code;
	size_t i, n;
	int err = 0;

	code = trace_reader_code(m->reader, vcpu, &n);
	for (i = 0; i < n && !err; i++) {
		const struct trace_page_map map = {*code[i].page, code[i].content};

		if (map.content)
			err = trace_writer_map(m->writer, vcpu, &map, 1);
		else
			err = trace_writer_code(m->writer, vcpu, code[i].page, code[i].bytes);
	}
	return err;
}

/* Copy the CR3 switches, which matter where there is no PIP. MODE packets have the code size. */
static int put_cr3(const struct recast *m, unsigned int vcpu)
{
	const struct trace_cr3_switch *at;
	size_t i, n;
	int err = 0;

	at = trace_reader_cr3(m->reader, vcpu, &n);
	for (i = 0; i < n && !err; i++) {
		const struct trace_cr3_switch sw = {
			.cr3 = at[i].cr3 & ~TRACE_CR3_CODE_MASK,
			.insns = at[i].insns,
		};

		err = trace_writer_cr3(m->writer, vcpu, &sw);
	}
	return err;
}

/*
 * Replace the reasons for the end of a session that PT does not have, including continuation as
 * another session.
 */
static void mend(struct trace_oracle_record *record)
{
	unsigned int why = TRACE_ORACLE_AUX_LOW(record->aux);

	if (record->kind == TRACE_ORACLE_STOP && why != TRACE_END_CLOSED)
		record->aux =
			TRACE_ORACLE_AUX(TRACE_END_DISABLED, TRACE_ORACLE_AUX_FLAGS(record->aux));
}

static int put_oracle(const struct recast *m, unsigned int vcpu)
{
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *record;
	int err = 0;

	if (!m->report->oracle)
		return 0;
	while (!err && (record = trace_reader_oracle(m->reader, vcpu, &cursor))) {
		struct trace_oracle_record copy = *record;

		mend(&copy);
		err = trace_writer_oracle(m->writer, vcpu, copy);
	}
	return err;
}

static int put_vcpu(struct recast *m, unsigned int vcpu)
{
	int err = put_code(m, vcpu);

	if (!err)
		err = put_cr3(m, vcpu);
	if (!err)
		err = put_trace(m, vcpu);
	return err ? err : put_oracle(m, vcpu);
}

/* The packets of the new file are ours, regardless of the old file's origin. */
static int put_origin(const struct recast *m)
{
	const struct trace_origin *from = trace_reader_origin(m->reader);
	const struct trace_origin origin =
		trace_origin_of(from ? from->kind : TRACE_ORIGIN_UNKNOWN, NULL);

	return trace_writer_origin(m->writer, &origin);
}

static int put_machine(const struct recast *m)
{
	const struct trace_ram_range *ram;
	const struct trace_elf_file *elf;
	size_t i, n;
	int err = 0;

	err = put_origin(m);
	ram = trace_reader_ram(m->reader, &n);
	if (n && !err)
		err = trace_writer_ram(m->writer, ram, n);
	elf = trace_reader_elf(m->reader, &n);
	for (i = 0; i < n && !err; i++)
		err = trace_writer_elf(m->writer, elf[i].image, elf[i].bytes, elf[i].len);
	return err ? err : put_contents(m);
}

/* Describe a processor with PT and the clocks of the traced processor. */
static void set_info(struct recast *m)
{
	const struct vpt_caps *clocks = &m->from->caps;

	m->info = *m->from;
	m->info.caps = *vpt_caps_model(MODEL);
	m->info.caps.l14_0_ecx |= ECX_FABRIC;
	m->info.caps.l15_eax = clocks->l15_eax;
	m->info.caps.l15_ebx = clocks->l15_ebx;
	m->info.caps.l15_ecx = clocks->l15_ecx;
	m->info.caps.max_nonturbo = clocks->max_nonturbo;
	snprintf(m->info.model, sizeof(m->info.model), MODEL);
	/* The host starts and stops tracing between two instructions. */
	m->info.owner = TRACE_OWNER_HOST;
	m->info.oracle = m->report->oracle;
	m->info.flags = 0;
}

/* End the new file like the old file. */
static int finish(const struct recast *m, int err)
{
	const struct trace_file_end *end = trace_reader_end(m->reader);
	int close_err;

	if (!end) {
		close_err = trace_writer_sync(m->writer);
		trace_writer_drop(m->writer);
	} else {
		close_err = trace_writer_close(m->writer, end->guest_exit);
	}
	return err ? err : close_err;
}

int export_recast(struct trace_reader *reader, int fd, struct export_recast_report *report)
{
	const struct trace_extent *extent = trace_reader_extent(reader);
	struct recast m = {
		.reader = reader,
		.from = trace_reader_info(reader),
		.report = report,
	};
	unsigned int v;
	int err;

	*report = (struct export_recast_report){
		.oracle = m.from->oracle && same_choice(reader) && (!extent->why || extent->cut),
	};
	set_info(&m);
	m.disasm = decode_disasm_new(NULL);
	if (!m.disasm)
		return -ENOMEM;
	err = trace_writer_start(fd, &m.info, &m.writer);
	if (!err) {
		err = put_machine(&m);
		for (v = 0; v < m.from->vcpus && !err; v++)
			err = put_vcpu(&m, v);
		err = finish(&m, err);
	}
	decode_disasm_free(m.disasm);
	return err;
}
