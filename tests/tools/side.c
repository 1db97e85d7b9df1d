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

static struct vpt_writer *w;

static void send(unsigned int vcpu, struct vpt_packet packet)
{
	uint8_t bytes[VPT_PKT_MAX];

	vpt_writer_trace(w, vcpu, UINT64_MAX, bytes, vpt_packet_write(bytes, &packet));
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

static void session(unsigned int vcpu, enum vpt_session_edge edge)
{
	struct vpt_session s = {
		.edge = edge,
		.end = edge == VPT_SESSION_END ? VPT_END_DISABLED : VPT_END_NONE,
		.ctl = 0x2409,
	};

	vpt_writer_session(w, vcpu, &s);
}

static void put_code(void)
{
	static const uint8_t code[2][3] = {{0x90, 0x75, 0xfd}, {0x48, 0x75, 0xfd}};
	const struct vpt_view views[2] = {
		{.space = 0x1000, .vaddr = CODE & ~0xfffull, .gpa = 0x7000},
		{.space = 0x2000, .vaddr = CODE & ~0xfffull, .gpa = 0x7000},
	};
	const struct vpt_space spaces[2] = {
		{.id = 0x1000, .vmcs = VPT_SPACE_ANY_VMCS, .vm = VPT_SPACE_NO_VM, .name = "one"},
		{.id = 0x2000, .vmcs = VPT_SPACE_ANY_VMCS, .vm = VPT_SPACE_NO_VM, .name = "two"},
	};
	struct vpt_frame frames[2] = {{.gpa = 0x7000}, {.gpa = 0x7000, .epoch = 1}};
	uint8_t page[VPT_CODE_BYTES];
	unsigned int i;

	vpt_writer_spaces(w, spaces, 2);
	for (i = 0; i < 2; i++) {
		memset(page, 0x90, sizeof(page));
		memcpy(page, code[i], sizeof(code[i]));
		vpt_writer_page(w, page, &frames[i].content);
	}
	vpt_writer_frames(w, frames, 2);
	vpt_writer_views(w, views, 2);
}

static void put_switch(unsigned int vcpu, uint64_t offset, uint64_t space)
{
	const struct vpt_switch sw = {.offset = offset, .space = space, .pid = 7, .tid = 8};

	vpt_writer_switches(w, vcpu, &sw, 1);
}

static void put_side(void)
{
	const struct vpt_recorded input = {.kind = VPT_RECORDED_CONSOLE, .retired = 5, .len = 3};
	struct vpt_file_ref ref = {
		.kind = VPT_REF_MEMORY, .hash_is = VPT_HASH_SHA256, .bytes = 4096};
	struct vpt_user_mark mark = {.value = 1, .len = 4};
	struct vpt_origin origin = vpt_origin_of(VPT_ORIGIN_PERF, NULL);

	origin.flags |= VPT_ORIGIN_HARDWARE | VPT_ORIGIN_TIME;
	origin.cpu = vpt_cpu_of(0x806f8);
	origin.time_mult = 1;
	strcpy(origin.source, "perf.data");
	vpt_writer_origin(w, &origin);
	vpt_writer_input(w, 1, &input, "ls\n");
	vpt_writer_ref(w, 0, &ref, "memory.raw");
	vpt_writer_mark(w, 1, &mark, "here");
}

int main(int argc, char **argv)
{
	const struct vpt_file_info info = {.vcpus = 3, .model = "none", .engine = "side"};
	const struct vpt_cut cut = {.offset = 0x1000, .why = VPT_CUT_RING};
	const struct vpt_page_map map = {{.cr3 = 0x1000, .vaddr = 0x800000, .gpa = 0x7000}, 1};
	const struct vpt_post_mortem pm = {.stop = {.kind = VPT_STOP_HALTED, .mode = 64}};
	struct vpt_epoch epoch = {.epoch = 1};
	unsigned int i;

	if (argc != 2 || vpt_writer_open(argv[1], &info, &w)) {
		fprintf(stderr, "usage: side FILE\n");
		return 2;
	}
	vpt_writer_cut(w, 2, &cut);
	put_side();
	put_code();
	for (i = 0; i < 3; i++)
		session(i, VPT_SESSION_START);
	put_switch(0, 0, 0x1000);
	put_switch(1, 0, 0x1000);
	put_switch(2, cut.offset, 0x2000);
	run(0, 3);
	run(1, 4);
	run(2, 5);
	put_switch(2, cut.offset + 50, 0x1000);
	for (i = 0; i < 3; i++)
		session(i, VPT_SESSION_END);
	epoch.insns = 6;
	vpt_writer_epoch(w, 0, &epoch);
	vpt_writer_map(w, 0, &map, 1);
	vpt_writer_stop(w, &pm);
	return vpt_writer_close(w, 0) ? 4 : 0;
}
