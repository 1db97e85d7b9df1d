/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An Atom's RTIT on fake guest RAM, at CPL 0 of 64-bit code at IP 1000H. Only the test advances the
 * core clock and the TSC.
 */
#ifndef TESTS_LIB_ATOMFIX_H
#define TESTS_LIB_ATOMFIX_H

#include <vpt/atom.h>

#include <stdlib.h>
#include <string.h>

#include "lib/guestmem.h"
#include "lib/suite.h"

#define ATOMFIX_RAM  0x400000u
#define ATOMFIX_ROOM 0x10000u
#define ATOMFIX_IP   0x1000u

/* Registers that trace everything at CPL 0. EVENTS: always trigger, never stop. */
#define ATOMFIX_EVENTS (VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_NEVER << 3)
#define ATOMFIX_ON     (VPT_ATOM_MASK(CTL, TRACE_EN) | VPT_ATOM_MASK(CTL, TRACE_ACTIVE))
#define ATOMFIX_CTL    (ATOMFIX_ON | VPT_ATOM_MASK(CTL, OS) | VPT_ATOM_MASK(CTL, DEST))

struct atomfix {
	struct guestmem mem; /* first: it is the callbacks' `opaque` */
	struct vpt_pt_ops ops;
	struct vpt_atom atom;
	struct vpt_context ctx;
	struct vpt_clock clock;
	unsigned int rises, falls;
	struct vpt_atom_regs edge; /* the registers when trigger() was called */
	size_t edge_committed;	   /* bytes committed at that time */
	size_t shown;		   /* bytes of the region that atomfix_packet() has read */
	struct vpt_atom_packet packet;
};

static void atomfix_context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct atomfix *)opaque)->ctx;
}

static void atomfix_clock(void *opaque, struct vpt_clock *now)
{
	*now = ((struct atomfix *)opaque)->clock;
}

static void atomfix_trigger(void *opaque, bool trigger_en)
{
	struct atomfix *fix = opaque;

	fix->rises += trigger_en;
	fix->falls += !trigger_en;
	fix->edge = fix->atom.regs;
	fix->edge_committed = fix->mem.committed.count;
}

static inline struct atomfix *atomfix_new(enum guestmem_map map)
{
	struct atomfix *fix = calloc(1, sizeof(*fix));

	ck_assert_ptr_nonnull(fix);
	guestmem_init(&fix->mem, map);
	fix->ops.mem = fix->mem.ops;
	fix->ops.context = atomfix_context;
	fix->ops.clock = atomfix_clock;
	fix->ops.trigger = atomfix_trigger;
	fix->ctx = (struct vpt_context){
		.cr3 = 0x1000, .cs_l = true, .lma = true, .paging = true, .cbr = 20};
	vpt_atom_init(&fix->atom, &fix->ops, fix);
	return fix;
}

static inline void atomfix_free(struct atomfix *fix)
{
	ck_assert(guestmem_guards_intact(&fix->mem));
	guestmem_free(&fix->mem);
	free(fix);
}

static inline void atomfix_write(struct atomfix *fix, uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(
		vpt_atom_wrmsr(&fix->atom, msr, value, VPT_ACCESS_HOST, ATOMFIX_IP, ATOMFIX_IP),
		VPT_FAULT_NONE);
}

static inline uint64_t atomfix_read(struct atomfix *fix, uint32_t msr)
{
	uint64_t value = 0;

	fix->atom.regs.unlocked = 1;
	ck_assert_int_eq(vpt_atom_rdmsr(&fix->atom, msr, &value), VPT_FAULT_NONE);
	return value;
}

/* Start a trace into a region of ATOMFIX_ROOM bytes. */
static inline void atomfix_on(struct atomfix *fix, uint64_t ctl)
{
	guestmem_ram(&fix->mem, ATOMFIX_RAM, ATOMFIX_ROOM);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, ATOMFIX_EVENTS);
	atomfix_write(fix, VPT_ATOM_MSR_BASE_ADDR, ATOMFIX_RAM);
	atomfix_write(fix, VPT_ATOM_MSR_LIMIT_MASK, ATOMFIX_ROOM - 1);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ctl);
}

static inline void atomfix_event(struct atomfix *fix, enum vpt_event_kind kind, unsigned int flags,
				 uint64_t to)
{
	struct vpt_event event = {.kind = (uint8_t)kind,
				  .flags = (uint8_t)flags,
				  .from = ATOMFIX_IP,
				  .to = to,
				  .next = ATOMFIX_IP + 2};

	vpt_atom_event(&fix->atom, &event);
}

static inline void atomfix_jump(struct atomfix *fix, uint64_t to)
{
	atomfix_event(fix, VPT_EV_JMP_INDIRECT, 0, to);
}

static inline void atomfix_jcc(struct atomfix *fix, bool taken)
{
	atomfix_event(fix, VPT_EV_COND, taken ? VPT_EVF_TAKEN : 0, ATOMFIX_IP);
}

/* Advance the core clock and the TSC together. */
static inline void atomfix_wait(struct atomfix *fix, uint64_t clocks)
{
	fix->clock.cycles += clocks;
	fix->clock.tsc += clocks;
}

/* Read the next packet, which must exist and be of this kind. */
static inline const struct vpt_atom_packet *atomfix_packet(struct atomfix *fix,
							   enum vpt_atom_pkt_kind kind)
{
	const bool cycles = VPT_ATOM_GET(CTL, CYCLE_ACC, fix->atom.regs.ctl);
	uint8_t bytes[VPT_ATOM_PKT_MAX];
	size_t len;

	vpt_atom_flush(&fix->atom);
	ck_assert_uint_ge(fix->atom.regs.offset, fix->shown);
	len = fix->atom.regs.offset - fix->shown;
	if (len > sizeof(bytes))
		len = sizeof(bytes);
	guestmem_peek(&fix->mem, ATOMFIX_RAM + fix->shown, bytes, len);
	ck_assert_int_eq(vpt_atom_packet_read(bytes, len, cycles, &fix->packet), VPT_OK);
	ck_assert_str_eq(vpt_atom_pkt_name(fix->packet.kind), vpt_atom_pkt_name(kind));
	fix->shown += fix->packet.size;
	return &fix->packet;
}

static inline void atomfix_no_packet(const struct atomfix *fix)
{
	ck_assert_uint_eq(fix->atom.regs.offset, fix->shown);
}

/* Start a trace, and read its PSB and FUP.PGE. */
static inline void atomfix_begin(struct atomfix *fix, uint64_t ctl)
{
	atomfix_on(fix, ctl);
	atomfix_packet(fix, VPT_ATOM_PKT_PSB);
	atomfix_packet(fix, VPT_ATOM_PKT_PGE);
	atomfix_no_packet(fix);
}

static inline void atomfix_options(struct atomfix *fix, const struct vpt_atom_options *options)
{
	ck_assert_int_eq(vpt_atom_set_options(&fix->atom, options), VPT_OK);
}

#endif /* TESTS_LIB_ATOMFIX_H */
