// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a trace that has each kind of block which version 3 of the file added, except PACKED,
 * and MAP and STOP blocks.
 *
 * usage: side FILE
 *
 * vCPU 0 and 1 execute a loop at one address, whose code changes in epoch 1; vCPU 2 has the end
 * of a ring, and switches between two spaces.
 */
#include <stdio.h>
#include <string.h>

#include "trace/origin.h"
#include "trace/writer.h"
#include "vpt/packet.h"

#define CODE 0x401000ull

static struct trace_writer *w;

static void send(unsigned int vcpu, struct vpt_packet packet)
{
	uint8_t bytes[VPT_PKT_MAX];

	trace_writer_trace(w, vcpu, UINT64_MAX, bytes, vpt_packet_write(bytes, &packet));
}

/* A PSB+ in context, outcomes, and the end of it. */
static void run(unsigned int vcpu, unsigned int bits)
{
	send(vcpu, (struct vpt_packet){.kind = VPT_PKT_PSB});
	send(vcpu, (struct vpt_packet){.kind = VPT_PKT_TSC, .value = 0x1000});
	send(vcpu, (struct vpt_packet){.kind = VPT_PKT_MODE_EXEC, .value = 1});
	send(vcpu,
	     (struct vpt_packet){.kind = VPT_PKT_FUP, .ip_bytes = VPT_IP_SEXT_48, .value = CODE});
	send(vcpu, (struct vpt_packet){.kind = VPT_PKT_PSBEND});
	send(vcpu, (struct vpt_packet){.kind = VPT_PKT_TNT_8,
				       .value = (1u << bits) - 2,
				       .bits = (uint8_t)bits});
	send(vcpu, (struct vpt_packet){
			   .kind = VPT_PKT_FUP, .ip_bytes = VPT_IP_SEXT_48, .value = CODE + 3});
	send(vcpu, (struct vpt_packet){.kind = VPT_PKT_TIP_PGD});
}

static void session(unsigned int vcpu, enum trace_session_edge edge)
{
	struct trace_session s = {
		.edge = edge,
		.end = edge == TRACE_SESSION_END ? TRACE_END_DISABLED : TRACE_END_NONE,
		.ctl = 0x2409,
	};

	trace_writer_session(w, vcpu, &s);
}

static void put_code(void)
{
	static const uint8_t code[2][3] = {{0x90, 0x75, 0xfd}, {0x48, 0x75, 0xfd}};
	const struct trace_view views[2] = {
		{.space = 0x1000, .vaddr = CODE & ~0xfffull, .gpa = 0x7000},
		{.space = 0x2000, .vaddr = CODE & ~0xfffull, .gpa = 0x7000},
	};
	const struct trace_space spaces[2] = {
		{.id = 0x1000,
		 .vmcs = TRACE_SPACE_ANY_VMCS,
		 .vm = TRACE_SPACE_NO_VM,
		 .name = "one"},
		{.id = 0x2000,
		 .vmcs = TRACE_SPACE_ANY_VMCS,
		 .vm = TRACE_SPACE_NO_VM,
		 .name = "two"},
	};
	struct trace_frame frames[2] = {{.gpa = 0x7000}, {.gpa = 0x7000, .epoch = 1}};
	uint8_t page[TRACE_CODE_BYTES];
	unsigned int i;

	trace_writer_spaces(w, spaces, 2);
	for (i = 0; i < 2; i++) {
		memset(page, 0x90, sizeof(page));
		memcpy(page, code[i], sizeof(code[i]));
		trace_writer_page(w, page, &frames[i].content);
	}
	trace_writer_frames(w, frames, 2);
	trace_writer_views(w, views, 2);
}

static void put_switch(unsigned int vcpu, uint64_t offset, uint64_t space)
{
	const struct trace_switch sw = {.offset = offset, .space = space, .pid = 7, .tid = 8};

	trace_writer_switches(w, vcpu, &sw, 1);
}

static void put_side(void)
{
	const struct trace_recorded input = {
		.kind = TRACE_RECORDED_CONSOLE, .retired = 5, .len = 3};
	struct trace_file_ref ref = {
		.kind = TRACE_REF_MEMORY, .hash_is = TRACE_HASH_SHA256, .bytes = 4096};
	struct trace_user_mark mark = {.value = 1, .len = 4};
	struct trace_origin origin = trace_origin_of(TRACE_ORIGIN_PERF, NULL);

	origin.flags |= TRACE_ORIGIN_HARDWARE | TRACE_ORIGIN_TIME;
	origin.cpu = trace_cpu_of(0x806f8);
	origin.time_mult = 1;
	strcpy(origin.source, "perf.data");
	trace_writer_origin(w, &origin);
	trace_writer_input(w, 1, &input, "ls\n");
	trace_writer_ref(w, 0, &ref, "memory.raw");
	trace_writer_mark(w, 1, &mark, "here");
}

int main(int argc, char **argv)
{
	const struct trace_file_info info = {.vcpus = 3, .model = "none", .engine = "side"};
	const struct trace_cut cut = {.offset = 0x1000, .why = TRACE_CUT_RING};
	const struct trace_page_map map = {{.cr3 = 0x1000, .vaddr = 0x800000, .gpa = 0x7000}, 1};
	const struct trace_post_mortem pm = {.stop = {.kind = TRACE_STOP_HALTED, .mode = 64}};
	struct trace_epoch epoch = {.epoch = 1};
	unsigned int i;

	if (argc != 2 || trace_writer_open(argv[1], &info, &w)) {
		fprintf(stderr, "usage: side FILE\n");
		return 2;
	}
	trace_writer_cut(w, 2, &cut);
	put_side();
	put_code();
	for (i = 0; i < 3; i++)
		session(i, TRACE_SESSION_START);
	put_switch(0, 0, 0x1000);
	put_switch(1, 0, 0x1000);
	put_switch(2, cut.offset, 0x2000);
	run(0, 3);
	run(1, 4);
	run(2, 5);
	put_switch(2, cut.offset + 50, 0x1000);
	for (i = 0; i < 3; i++)
		session(i, TRACE_SESSION_END);
	epoch.insns = 6;
	trace_writer_epoch(w, 0, &epoch);
	trace_writer_map(w, 0, &map, 1);
	trace_writer_stop(w, &pm);
	return trace_writer_close(w, 0) ? 4 : 0;
}
