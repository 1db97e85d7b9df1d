// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: the decoder of Atom's RTIT. The file is valid, but has arbitrary packets, code,
 * session registers, address spaces and oracle records in any order. The input is a byte of errata,
 * then operations (enum op).
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/bytes.h"
#include "lib/use_file.h"
#include "trace/atom_session.h"
#include "trace/writer.h"
#include "vpt/atom_packet.h"

#define CODE  0x400000ull /* two pages */
#define PAGES 2

enum op {
	OP_CODE,   /* where: 2; so many: 1; bytes */
	OP_TRACE,  /* so many: 1; bytes of the stream */
	OP_START,  /* registers */
	OP_END,	   /* how: 1; registers */
	OP_CR3,	   /* space and mode: 1 */
	OP_INSNS,  /* so many retired: 2 */
	OP_RECORD, /* kind, CPL, flags: 1 each; where: 2 */
	OP_PACKET, /* kind: 1; where: 2: a packet that is well-formed */
};

struct made {
	struct trace_writer *w;
	uint8_t page[PAGES * TRACE_CODE_BYTES];
	uint64_t insns, space;
	bool open; /* a session */
};

/* Take an address, nearly always in the code. */
static uint64_t place(struct input *in)
{
	uint64_t at = take(in, 2);

	return at < 0xfff0 ? CODE + at % (PAGES * TRACE_CODE_BYTES) : ~at;
}

static void put_code(struct made *m, struct input *in)
{
	size_t at = take(in, 2) % sizeof(m->page), n = take(in, 1), i;
	const uint8_t *bytes;

	if (n > sizeof(m->page) - at)
		n = sizeof(m->page) - at;
	bytes = some(in, &n);
	memcpy(m->page + at, bytes, n);
	for (i = 0; i < PAGES; i++) {
		struct trace_code_page page = {.cr3 = m->space,
					       .vaddr = CODE + i * TRACE_CODE_BYTES,
					       .gpa = CODE + i * TRACE_CODE_BYTES,
					       .insns = m->insns};

		REQUIRE(!trace_writer_code(m->w, 0, &page, m->page + i * TRACE_CODE_BYTES));
	}
}

static void put_bytes(struct made *m, const void *bytes, size_t n)
{
	if (n)
		REQUIRE(!trace_writer_trace(m->w, 0, UINT64_MAX, bytes, n));
}

static void put_session(struct made *m, struct input *in, enum trace_session_edge edge,
			enum trace_session_end end)
{
	struct trace_session s = {.edge = edge, .end = end, .insns = m->insns};
	struct vpt_atom_regs regs;
	unsigned int i;

	if (m->open != (edge == TRACE_SESSION_END))
		return;
	m->open = !m->open;
	vpt_atom_regs_reset(&regs);
	regs.ctl = (uint32_t)take(in, 2);
	regs.status = (uint32_t)take(in, 1);
	regs.events = (uint32_t)take(in, 1);
	regs.tnt_buff = (uint32_t)take(in, 1);
	regs.last_call_nlip = take(in, 1) << 48 | place(in);
	regs.last_lip = take(in, 1) << 32 | 0x40;
	for (i = 0; i < 4; i++)
		regs.lip[i] = place(in);
	trace_atom_session_set(&s, &regs);
	REQUIRE(!trace_writer_session(m->w, 0, &s));
}

static void put_cr3(struct made *m, struct input *in)
{
	uint64_t what = take(in, 1);
	struct trace_cr3_switch sw = {.insns = m->insns};

	m->space = 0x1000 + (what >> 4 & 1) * 0x1000;
	sw.cr3 = m->space | (what & 3);
	REQUIRE(!trace_writer_cr3(m->w, 0, &sw));
}

static void put_record(struct made *m, struct input *in)
{
	struct trace_oracle_record r = {
		.kind = (uint8_t)take(in, 1),
		.cpl = (uint8_t)(take(in, 1) & 3),
		.aux = (uint16_t)take(in, 1),
	};

	r.ip = place(in);
	REQUIRE(!trace_writer_oracle(m->w, 0, r));
}

/* Write a packet. LIPs do not depend on earlier ones, and cycle counts are 0. */
static void put_packet(struct made *m, struct input *in)
{
	uint64_t what = take(in, 1);
	struct vpt_atom_packet packet = {
		.kind = (enum vpt_atom_pkt_kind)(what % VPT_ATOM_PKT_COUNT),
		.cnt = VPT_ATOM_CNT_4,
		.zext = true,
		.has_cycles = what >> 7,
	};
	uint8_t bytes[VPT_ATOM_PKT_MAX];

	packet.value = place(in) & 0xffffffff;
	if (packet.kind == VPT_ATOM_PKT_TNT) {
		packet.bits = (uint8_t)(1 + packet.value % VPT_ATOM_TNT_MAX);
		packet.value &= (1u << packet.bits) - 1;
	} else if (packet.kind == VPT_ATOM_PKT_MTC) {
		packet.value &= 0xff;
	}
	put_bytes(m, bytes, vpt_atom_packet_write(bytes, &packet));
}

static void put(struct made *m, struct input *in)
{
	const uint8_t *bytes;
	size_t n;

	switch (take(in, 1) & 7) {
	case OP_CODE:
		put_code(m, in);
		break;
	case OP_TRACE:
		n = take(in, 1);
		bytes = some(in, &n);
		put_bytes(m, bytes, n);
		break;
	case OP_START:
		put_session(m, in, TRACE_SESSION_START, TRACE_END_NONE);
		break;
	case OP_END:
		n = take(in, 1) % TRACE_END_CHANGED;
		put_session(m, in, TRACE_SESSION_END,
			    (enum trace_session_end)(TRACE_END_DISABLED + n));
		break;
	case OP_CR3:
		put_cr3(m, in);
		break;
	case OP_INSNS:
		m->insns += take(in, 2);
		break;
	case OP_RECORD:
		put_record(m, in);
		break;
	default:
		put_packet(m, in);
		break;
	}
}

static void make(const char *path, struct input *in)
{
	struct trace_file_info info = {.vcpus = 1, .oracle = 1, .model = "silvermont"};
	static struct made m;

	memset(&m, 0, sizeof(m));
	memset(m.page, 0x90, sizeof(m.page));
	m.space = 0x1000;
	info.flags = TRACE_INFO_ATOM | TRACE_INFO_SET_ERRATA((uint32_t)take(in, 1));
	info.owner = take(in, 1) & 1 ? TRACE_OWNER_GUEST : TRACE_OWNER_HOST;
	info.caps.max_nonturbo = 20;
	REQUIRE(!trace_writer_open(path, &info, &m.w));
	while (in->left)
		put(&m, in);
	REQUIRE(!trace_writer_close(m.w, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	static int fd = -1;
	struct trace_reader *r;
	char path[32], why[128];

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	REQUIRE(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	make(path, &in);
	REQUIRE(!trace_reader_open(path, &r, why, sizeof(why)));
	use_file(r, (size_t)lseek(fd, 0, SEEK_END), false);
	trace_reader_close(r);
	return 0;
}
