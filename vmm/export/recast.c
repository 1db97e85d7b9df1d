// SPDX-License-Identifier: GPL-2.0-or-later
#include "recast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/code.h"
#include "retell.h"
#include "trace/atom_session.h"
#include "trace/origin.h"
#include "vpt/msr.h"

#define MODEL "skl"

/* Output that goes to nobody's memory: PT's trace transport (CPUID.14H.0:ECX). */
#define ECX_FABRIC (1u << 3)

struct recast {
	struct vpt_reader *reader;
	struct vpt_writer *writer;
	const struct vpt_file_info *from;
	struct vpt_file_info info;
	struct vpt_disasm *disasm;
	struct vpt_recast_report *report;
};

bool vpt_recast_needed(const struct vpt_reader *reader)
{
	return vpt_reader_info(reader)->flags & VPT_INFO_RTIT;
}

/* Do both systems, with the same choice of CPL and CR3, trace the same instructions? */
static bool same_choice(const struct vpt_reader *reader)
{
	const unsigned int always = VPT_ATOM_ID_ALWAYS;
	size_t i, n;
	unsigned int v;

	vpt_reader_spaces(reader, &n);
	if (n)
		return false;
	for (v = 0; v < vpt_reader_info(reader)->vcpus; v++) {
		const struct vpt_period *p = vpt_reader_sessions(reader, v, &n);

		for (i = 0; i < n; i++) {
			struct vpt_atom_regs regs;

			vpt_atom_session_get(p[i].start, &regs);
			if (VPT_ATOM_GET(EVENTS, FILTER, regs.events) != always)
				return false;
		}
	}
	return true;
}

/* Is there any packet that tells the time? */
static bool has_time(const struct vpt_reader *reader, unsigned int vcpu)
{
	const uint64_t timing = VPT_ATOM_MASK(CTL, STS_EN) | VPT_ATOM_MASK(CTL, MTC_EN) |
				VPT_ATOM_MASK(CTL, CYCLE_ACC);
	const struct vpt_period *p;
	size_t i, n;

	p = vpt_reader_sessions(reader, vcpu, &n);
	for (i = 0; i < n; i++) {
		if (p[i].start->ctl & timing)
			return true;
	}
	return false;
}

/* The first time that is known: *known is false if there is none. */
static int first_time(struct vpt_reader *reader, unsigned int vcpu, bool *known, uint64_t *tsc)
{
	struct vpt_flow *flow;
	struct vpt_item item;
	int err;

	*known = false;
	if (!has_time(reader, vcpu))
		return 0;
	err = vpt_flow_open(reader, vcpu, VPT_FLOW_BLOCKS, &flow);
	if (err)
		return err;
	vpt_flow_keep_time(flow);
	do {
		err = vpt_flow_next(flow, &item);
		*known = !err && item.when.known;
		*tsc = item.when.tsc;
	} while (!err && !*known && item.kind != VPT_ITEM_END);
	vpt_flow_close(flow);
	return err;
}

static void note_error(struct vpt_recast_report *r, unsigned int vcpu, const struct vpt_item *item)
{
	if (!r->errors++)
		snprintf(r->error, sizeof(r->error), "vCPU %u, byte %llx: %s", vcpu,
			 (unsigned long long)item->offset, item->text);
}

static int retell(struct recast *m, unsigned int vcpu, struct vpt_retell *r, struct vpt_flow *flow)
{
	struct vpt_item item;
	int err;

	if (r->timed)
		vpt_flow_keep_time(flow);
	do {
		err = vpt_flow_next(flow, &item);
		if (err)
			return err;
		m->report->insns += item.kind == VPT_ITEM_INSN;
		if (item.kind == VPT_ITEM_ERROR)
			note_error(m->report, vcpu, &item);
		err = vpt_retell_item(r, &item);
	} while (!err && item.kind != VPT_ITEM_END);
	return err;
}

static int put_trace(struct recast *m, unsigned int vcpu)
{
	struct vpt_retell *r = calloc(1, sizeof(*r));
	struct vpt_flow *flow = NULL;
	int err;

	if (!r)
		return -ENOMEM;
	r->caps = &m->info.caps;
	r->periods = vpt_reader_sessions(m->reader, vcpu, &r->nperiods);
	r->writer = m->writer;
	r->vcpu = vcpu;
	r->disasm = m->disasm;
	r->cbr = m->info.caps.max_nonturbo;
	vpt_retell_init(r);
	err = first_time(m->reader, vcpu, &r->timed, &r->tsc);
	if (!err)
		err = vpt_flow_open(m->reader, vcpu, VPT_FLOW_INSNS, &flow);
	if (!err)
		err = retell(m, vcpu, r, flow);
	m->report->sessions += r->session;
	m->report->bytes += vpt_writer_stream_bytes(m->writer, vcpu);
	m->report->timed |= r->timed;
	vpt_flow_close(flow);
	vpt_retell_free(r);
	free(r);
	return err;
}

/* The new file numbers contents as the old one does: from 1 on, in their order. */
static int put_contents(const struct recast *m)
{
	size_t i, n;
	const uint8_t *const *contents = vpt_reader_contents(m->reader, &n);
	uint64_t id;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = vpt_writer_page(m->writer, contents[i], &id);
	return err;
}

static int put_code(const struct recast *m, unsigned int vcpu)
{
	const struct vpt_code *code;
	size_t i, n;
	int err = 0;

	code = vpt_reader_code(m->reader, vcpu, &n);
	for (i = 0; i < n && !err; i++) {
		const struct vpt_page_map map = {*code[i].page, code[i].content};

		if (map.content)
			err = vpt_writer_map(m->writer, vcpu, &map, 1);
		else
			err = vpt_writer_code(m->writer, vcpu, code[i].page, code[i].bytes);
	}
	return err;
}

/* Where no PIP tells. What they say of the code size is in MODE packets. */
static int put_cr3(const struct recast *m, unsigned int vcpu)
{
	const struct vpt_cr3_switch *at;
	size_t i, n;
	int err = 0;

	at = vpt_reader_cr3(m->reader, vcpu, &n);
	for (i = 0; i < n && !err; i++) {
		const struct vpt_cr3_switch sw = {
			.cr3 = at[i].cr3 & ~VPT_CR3_CODE_MASK,
			.insns = at[i].insns,
		};

		err = vpt_writer_cr3(m->writer, vcpu, &sw);
	}
	return err;
}

/* PT has no word for what ended some of the sessions, nor for one that goes on as another. */
static void mend(struct vpt_oracle_record *record)
{
	unsigned int why = VPT_ORACLE_AUX_LOW(record->aux);

	if (record->kind == VPT_ORACLE_STOP && why != VPT_END_CLOSED)
		record->aux = VPT_ORACLE_AUX(VPT_END_DISABLED, VPT_ORACLE_AUX_FLAGS(record->aux));
}

static int put_oracle(const struct recast *m, unsigned int vcpu)
{
	struct vpt_oracle_cursor cursor = {0};
	const struct vpt_oracle_record *record;
	int err = 0;

	if (!m->report->oracle)
		return 0;
	while (!err && (record = vpt_reader_oracle(m->reader, vcpu, &cursor))) {
		struct vpt_oracle_record copy = *record;

		mend(&copy);
		err = vpt_writer_oracle(m->writer, vcpu, copy);
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

/* The packets of the new file are ours, whoever wrote the old ones. */
static int put_origin(const struct recast *m)
{
	const struct vpt_origin *from = vpt_reader_origin(m->reader);
	const struct vpt_origin origin =
		vpt_origin_of(from ? from->kind : VPT_ORIGIN_UNKNOWN, NULL);

	return vpt_writer_origin(m->writer, &origin);
}

static int put_machine(const struct recast *m)
{
	const struct vpt_ram_range *ram;
	const struct vpt_elf_file *elf;
	size_t i, n;
	int err = 0;

	err = put_origin(m);
	ram = vpt_reader_ram(m->reader, &n);
	if (n && !err)
		err = vpt_writer_ram(m->writer, ram, n);
	elf = vpt_reader_elf(m->reader, &n);
	for (i = 0; i < n && !err; i++)
		err = vpt_writer_elf(m->writer, elf[i].image, elf[i].bytes, elf[i].len);
	return err ? err : put_contents(m);
}

/* A processor with PT and the clocks of the one that was traced. */
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
	/* It stops and starts between two instructions. */
	m->info.owner = VPT_OWNER_HOST;
	m->info.oracle = m->report->oracle;
	m->info.flags = 0;
}

/* The file ends like the one that it is made of. */
static int finish(const struct recast *m, int err)
{
	const struct vpt_file_end *end = vpt_reader_end(m->reader);
	int close_err;

	if (!end) {
		close_err = vpt_writer_sync(m->writer);
		vpt_writer_drop(m->writer);
	} else {
		close_err = vpt_writer_close(m->writer, end->guest_exit);
	}
	return err ? err : close_err;
}

int vpt_recast(struct vpt_reader *reader, int fd, struct vpt_recast_report *report)
{
	const struct vpt_extent *extent = vpt_reader_extent(reader);
	struct recast m = {
		.reader = reader,
		.from = vpt_reader_info(reader),
		.report = report,
	};
	unsigned int v;
	int err;

	*report = (struct vpt_recast_report){
		.oracle = m.from->oracle && same_choice(reader) && (!extent->why || extent->cut),
	};
	set_info(&m);
	m.disasm = vpt_disasm_new(NULL);
	if (!m.disasm)
		return -ENOMEM;
	err = vpt_writer_start(fd, &m.info, &m.writer);
	if (!err) {
		err = put_machine(&m);
		for (v = 0; v < m.from->vcpus && !err; v++)
			err = put_vcpu(&m, v);
		err = finish(&m, err);
	}
	vpt_disasm_free(m.disasm);
	return err;
}
