// SPDX-License-Identifier: GPL-2.0-or-later
/* Decoding, from files made by hand; what comes out as text (lib/flowtext.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/filter.h"
#include "judge/judge.h"
#include "lib/flowtext.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "vpt/block.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

#define AT(offset) (SYNTH_CODE + (offset))

/* What most traces begin and end with. */
static void begin(struct synth *s, uint64_t ip)
{
	synth_start(s, ip, 0);
	synth_psb(s, 0);
	synth_mode(s);
	synth_ip(s, ppt_tip_pge, ip);
}

static void finish(struct synth *s, uint64_t ip)
{
	synth_ip(s, ppt_fup, ip);
	synth_no_ip(s, ppt_tip_pgd);
	synth_stop(s, TRACE_END_DISABLED, ip, 0);
}

static void filter(struct synth *s, unsigned int range, uint64_t from, uint64_t to,
		   enum vpt_addr_cfg cfg)
{
	s->session.ctl |= (uint64_t)cfg << (VPT_CTL_ADDR0_CFG_SHIFT + 4 * range);
	s->session.addr[2 * range] = from;
	s->session.addr[2 * range + 1] = to;
}

static void loop(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "110");
	finish(s, AT(3));
}

/*
 * Two habits after a RET that is not compressed: libipt keeps its stack of CALLs, perf takes one
 * entry off. Here a compressed RET follows, with 5 below 25 on the stack; a processor that keeps
 * goes to 25, and one that pops to 5. Decoding is libipt's.
 */
static void two_calls(struct synth *s)
{
	synth_code(s, AT(0), "e8 1b 00 00 00 90 90");
	synth_code(s, AT(0x20), "e8 1b 00 00 00 90 90 c3");
	synth_code(s, AT(0x40), "c3");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_tip, AT(0x27));
	synth_tnt(s, "1");
}

static void ret_keeps(struct synth *s)
{
	two_calls(s);
	finish(s, AT(0x26));
}

static void ret_pops(struct synth *s)
{
	two_calls(s);
	finish(s, AT(6));
}

/* libipt does not pop at a RET that is not compressed. */
static void ret_uncompressed(struct synth *s)
{
	synth_code(s, AT(0), "e8 1b 00 00 00 90 90 c3");
	synth_code(s, AT(0x20), "c3");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_tip, AT(6));
	synth_tnt(s, "1");
	finish(s, AT(6));
}

static void call_next(struct synth *s)
{
	synth_code(s, AT(0), "e8 00 00 00 00 58 c3");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "1");
	finish(s, AT(0));
}

static void int_n(struct synth *s)
{
	synth_code(s, AT(0), "90 cd 80 90");
	synth_code(s, AT(0x20), "90 48 cf");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_fup, AT(1));
	synth_ip(s, ppt_tip, AT(0x20));
	synth_ip(s, ppt_tip, AT(3));
	finish(s, AT(4));
}

/* MOV CR3 that goes on in another address space, where the code is different. */
static void mov_cr3(struct synth *s)
{
	synth_code(s, AT(0), "0f 22 d8 74 fe");
	synth_page(s);
	synth_code(s, AT(3), "90 75 fd");
	synth_page_at(s, 0x2000, SYNTH_CODE);
	begin(s, AT(0));
	synth_pip(s, 0x2000);
	synth_tnt(s, "10");
	finish(s, AT(6));
}

/* A CR3 of bits 11:5 (PCID) is the address space of the page all the same. */
static void mov_cr3_pcid(struct synth *s)
{
	synth_code(s, AT(0), "0f 22 d8 90");
	synth_page(s);
	begin(s, AT(0));
	synth_pip(s, SYNTH_CR3 | 0x20);
	finish(s, AT(4));
}

/* MOV CR3 that leaves the context, and a later one that comes back. */
static void mov_cr3_out(struct synth *s)
{
	synth_code(s, AT(0), "90 0f 22 d8 90 90");
	synth_page(s);
	begin(s, AT(0));
	synth_pip(s, 0x2000);
	synth_no_ip(s, ppt_tip_pgd);
	synth_pip(s, SYNTH_CR3);
	synth_ip(s, ppt_tip_pge, AT(4));
	finish(s, AT(5));
}

/* CPL 3 is not traced: what leaves is SYSRET, although MOV CR3 comes before it. */
static void sysret_after_cr3(struct synth *s)
{
	s->session.ctl &= ~VPT_CTL_MASK(USER);
	synth_code(s, AT(0), "0f 22 d8 90 48 0f 07");
	synth_page(s);
	begin(s, AT(0));
	synth_pip(s, SYNTH_CR3);
	synth_no_ip(s, ppt_tip_pgd);
	synth_ip(s, ppt_tip_pge, AT(3));
	finish(s, AT(4));
}

static void syscall_out(struct synth *s)
{
	synth_code(s, AT(0), "90 0f 05 90");
	synth_page(s);
	begin(s, AT(0));
	synth_no_ip(s, ppt_tip_pgd);
	synth_ip(s, ppt_tip_pge, AT(3));
	finish(s, AT(4));
}

static void interrupt_out(struct synth *s)
{
	synth_code(s, AT(0), "90 90 90");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_fup, AT(1));
	synth_no_ip(s, ppt_tip_pgd);
	synth_ip(s, ppt_tip_pge, AT(1));
	finish(s, AT(2));
}

static void psb_between(struct synth *s)
{
	synth_code(s, AT(0), "90 75 02 90 90 90");
	synth_page(s);
	begin(s, AT(0));
	synth_psb(s, AT(1));
	synth_tnt(s, "0");
	finish(s, AT(4));
}

static void overflow(struct synth *s)
{
	synth_code(s, AT(0), "90 75 02 90 90 90");
	synth_page(s);
	begin(s, AT(0));
	synth_packet(s, ppt_ovf);
	synth_ip(s, ppt_fup, AT(3));
	finish(s, AT(5));
}

/* The second session starts with a PSB, the third has PacketByteCnt above 0. */
static void three_sessions(struct synth *s)
{
	synth_code(s, AT(0), "75 fe 75 fe 90");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "10");
	finish(s, AT(2));
	begin(s, AT(2));
	synth_tnt(s, "0");
	finish(s, AT(4));
	synth_start(s, AT(2), 0);
	synth_ip(s, ppt_tip_pge, AT(2));
	synth_tnt(s, "0");
	finish(s, AT(4));
}

/* ToPA STOP cuts a packet; the next session's first PSB comes late. */
static void cut_by_topa(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd 90");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "1");
	synth_raw(s, "\x7d\x00", 2); /* FUP of 6 bytes, of which 1 */
	synth_stop(s, TRACE_END_TOPA_STOP, AT(0), 0);
	synth_start(s, AT(0), 0);
	synth_ip(s, ppt_tip_pge, AT(0));
	synth_psb(s, AT(1));
	synth_tnt(s, "0");
	finish(s, AT(4));
}

/* What comes after the last packet is not known to have run. */
static void no_end(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd 90 90 75 00");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "10");
}

static void nothing(struct synth *s)
{
	synth_code(s, AT(0), "90");
	synth_page(s);
	begin(s, AT(0));
	synth_stop(s, TRACE_END_ERROR, AT(0), 0);
}

static void no_code(struct synth *s)
{
	synth_code(s, AT(0), "90 e9 ff 0f 00 00");
	synth_page(s);
	begin(s, AT(0));
	finish(s, AT(0x1100));
}

/* A CFE packet, which libipt 2.0.5 does not know, and then a PSB. */
static void event_trace(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "1");
	synth_raw(s, "\x02\x13\x02\x00", 4);
	synth_psb(s, AT(0));
	synth_tnt(s, "0");
	finish(s, AT(3));
}

static void own(struct synth *s, enum vpt_pkt_kind kind, uint64_t value, unsigned int aux,
		unsigned int bits, bool flag)
{
	const struct vpt_packet p = {
		.kind = kind,
		.value = value,
		.aux = (uint16_t)aux,
		.bits = (uint8_t)bits,
		.flag = flag,
	};
	uint8_t buf[VPT_PKT_MAX];

	synth_raw(s, buf, vpt_packet_write(buf, &p));
}

/* Blocks are found out only when libipt meets them, and say where they belong. */
static void blocks(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "1");
	own(s, VPT_PKT_BBP, VPT_BBP_PEBS_BASIC, 0, 0, false);
	own(s, VPT_PKT_BIP, 0x401001, 0, 64, false);
	own(s, VPT_PKT_BIP, 2, 1, 64, false);
	own(s, VPT_PKT_BBP, VPT_BBP_GPR, 0, 0, true);
	own(s, VPT_PKT_BIP, 7, 3, 32, false);
	own(s, VPT_PKT_BEP, 0, 0, 0, true);
	synth_ip(s, ppt_fup, AT(0));
	synth_tnt(s, "0");
	finish(s, AT(3));
}

/* Out of context they have no IP. */
static void blocks_outside(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_fup, AT(0));
	synth_no_ip(s, ppt_tip_pgd);
	own(s, VPT_PKT_BBP, VPT_BBP_XMM, 0, 0, false);
	own(s, VPT_PKT_BEP, 0, 0, 0, false);
	synth_ip(s, ppt_tip_pge, AT(0));
	synth_tnt(s, "0");
	finish(s, AT(3));
}

/* TRIG packets with an instruction count, with an IP, and with a FUP that the next IP packet is
 * compressed against. The flow is that of the same trace without them. */
static void triggers(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd ff e0");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "1");
	synth_raw(s, "\xd9\x40\x1a\x03\x00", 5);
	synth_raw(s, "\xd9\xa0\x01", 3);
	synth_ip(s, ppt_fup, AT(0));
	synth_tnt(s, "0");
	synth_raw(s, "\xd9\xc0\x81\x00\x00", 5);
	synth_ip(s, ppt_fup, AT(3) + 0x10000);
	synth_raw(s, "\x4d\x00\x10\x40\x00", 5); /* TIP of AT(0), 32 bits */
	synth_tnt(s, "0");
	finish(s, AT(3));
}

/* Likewise where the packets are all that there is. */
static void triggers_dis_tnt(struct synth *s)
{
	s->session.ctl |= VPT_CTL_MASK(DIS_TNT);
	synth_code(s, AT(0), "90 75 fd ff e0");
	synth_page(s);
	begin(s, AT(0));
	synth_raw(s, "\xd9\x80\x1a", 3);
	synth_ip(s, ppt_fup, AT(1));
	synth_ip(s, ppt_tip, AT(2));
	finish(s, AT(3));
}

/* Without TNT: what the packets say. */
static void dis_tnt_packets(struct synth *s)
{
	s->session.ctl |= VPT_CTL_MASK(DIS_TNT) | VPT_CTL_MASK(EVENT_EN);
	synth_code(s, AT(0), "90 75 fd 90");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_tip, AT(2));
	own(s, VPT_PKT_CFE, 1, 14, 0, false);
	synth_ip(s, ppt_fup, AT(3));
	synth_ip(s, ppt_tip, AT(1));
	own(s, VPT_PKT_PTW, 5, 0, 64, true);
	synth_ip(s, ppt_fup, AT(1));
	synth_no_ip(s, ppt_tip_pgd);
	own(s, VPT_PKT_BBP, VPT_BBP_GPR, 0, 0, false);
	own(s, VPT_PKT_BIP, 7, 3, 64, false);
	own(s, VPT_PKT_BEP, 0, 0, 0, false);
	synth_ip(s, ppt_tip_pge, AT(0));
	synth_raw(s, "\x02\xf3", 2); /* OVF */
	synth_ip(s, ppt_fup, AT(3));
	finish(s, AT(4));
}

/* An error, and on from the next PSB: the TIP belongs to nothing. */
static void resync(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd 90");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_tip, AT(0));
	synth_psb(s, AT(0));
	synth_tnt(s, "0");
	finish(s, AT(4));
}

/* A whole session whose flow needs a packet that is not there. */
static void missing_packet(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd 90");
	synth_page(s);
	begin(s, AT(0));
	finish(s, AT(4));
}

static void endless(struct synth *s)
{
	synth_code(s, AT(0), "eb fe");
	synth_page(s);
	begin(s, AT(0));
	finish(s, AT(8));
}

static void dis_tnt(struct synth *s)
{
	s->session.ctl |= VPT_CTL_MASK(DIS_TNT);
	synth_code(s, AT(0), "90 75 fd 90");
	synth_page(s);
	begin(s, AT(0));
	finish(s, AT(4));
}

/*
 * A taken Jcc out of the range, with the IP suppressed: libipt needs help here. The
 * TIP.PGE after it has an IP that leans on the last one.
 */
static void jcc_out(struct synth *s)
{
	struct pt_packet pge = {.type = ppt_tip_pge};

	filter(s, 0, AT(0), AT(0xff), VPT_ADDR_FILTER);
	synth_code(s, AT(0), "90 75 fd 90 0f 85 f6 0f 00 00 90");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "10");
	synth_no_ip(s, ppt_tip_pgd);
	pge.payload.ip.ipc = pt_ipc_update_16;
	pge.payload.ip.ip = AT(10) & 0xffff;
	pt_enc_next(s->enc, &pge);
	finish(s, AT(11));
}

/* The same after a MOV CR3 that stays in context. */
static void jcc_out_after_cr3(struct synth *s)
{
	filter(s, 0, AT(0), AT(0xff), VPT_ADDR_FILTER);
	s->session.ctl |= VPT_CTL_MASK(CR3_FILTER);
	s->session.cr3_match = SYNTH_CR3;
	synth_code(s, AT(0), "0f 22 d8 90 0f 85 f6 0f 00 00 90");
	synth_page(s);
	begin(s, AT(0));
	synth_pip(s, SYNTH_CR3);
	synth_no_ip(s, ppt_tip_pgd);
	synth_ip(s, ppt_tip_pge, AT(10));
	finish(s, AT(11));
}

/*
 * CR3 goes away and comes back outside of the filter: the TIP.PGD of the Jcc looks
 * like that of a MOV CR3 until the Jcc is reached.
 */
static void jcc_out_then_cr3(struct synth *s)
{
	filter(s, 0, AT(0), AT(0xff), VPT_ADDR_FILTER);
	s->session.ctl |= VPT_CTL_MASK(CR3_FILTER);
	s->session.cr3_match = SYNTH_CR3;
	synth_code(s, AT(0), "90 75 fd 0f 85 f6 0f 00 00 90 75 fd");
	synth_page(s);
	begin(s, AT(0));
	synth_tnt(s, "10");
	synth_no_ip(s, ppt_tip_pgd);
	synth_pip(s, SYNTH_CR3);
	synth_ip(s, ppt_tip_pge, AT(9));
	synth_tnt(s, "1");
	synth_no_ip(s, ppt_tip_pgd);
	synth_pip(s, SYNTH_CR3);
	synth_ip(s, ppt_tip_pge, AT(9));
	finish(s, AT(10));
}

/* And MOV CR3 itself leaves, while there is a filter. */
static void cr3_out_of_filter(struct synth *s)
{
	filter(s, 0, AT(0), AT(0xff), VPT_ADDR_FILTER);
	s->session.ctl |= VPT_CTL_MASK(CR3_FILTER);
	s->session.cr3_match = SYNTH_CR3;
	synth_code(s, AT(0), "0f 22 d8 90 75 fe");
	synth_page(s);
	begin(s, AT(0));
	synth_pip(s, 0x2000);
	synth_no_ip(s, ppt_tip_pgd);
	synth_pip(s, SYNTH_CR3);
	synth_ip(s, ppt_tip_pge, AT(4));
	synth_tnt(s, "0");
	finish(s, AT(6));
}

static void cr3_into_stop(struct synth *s)
{
	filter(s, 0, AT(3), AT(0xff), VPT_ADDR_STOP);
	synth_code(s, AT(0), "0f 22 d8 90 75 fe");
	synth_page(s);
	begin(s, AT(0));
	synth_pip(s, SYNTH_CR3);
	synth_no_ip(s, ppt_tip_pgd);
	synth_packet(s, ppt_stop);
	synth_stop(s, TRACE_END_TRACE_STOP, AT(3), 0);
}

static void syscall_out_of_filter(struct synth *s)
{
	filter(s, 0, AT(0), AT(0xff), VPT_ADDR_FILTER);
	s->session.ctl &= ~VPT_CTL_MASK(OS);
	synth_code(s, AT(0), "90 e9 00 00 00 00 0f 05 90");
	synth_page(s);
	begin(s, AT(0));
	synth_no_ip(s, ppt_tip_pgd);
	synth_ip(s, ppt_tip_pge, AT(8));
	finish(s, AT(9));
}

/* A JMP out of the range and one into a TraceStop range have IPs. */
static void jmp_out(struct synth *s)
{
	filter(s, 0, AT(0), AT(0xff), VPT_ADDR_FILTER);
	filter(s, 1, AT(0x200), AT(0x2ff), VPT_ADDR_STOP);
	synth_code(s, AT(0), "90 e9 fa 00 00 00 90 e9 f4 01 00 00");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_tip_pgd, AT(0x100));
	synth_ip(s, ppt_tip_pge, AT(6));
	synth_ip(s, ppt_tip_pgd, AT(0x200));
	synth_packet(s, ppt_stop);
	synth_stop(s, TRACE_END_TRACE_STOP, AT(0x200), 0);
}

/* Execution falls out of the range, and an indirect JMP leads back to that code. */
static void fallen_out(struct synth *s)
{
	filter(s, 0, AT(0), AT(2), VPT_ADDR_FILTER);
	synth_code(s, AT(0), "90 90 90 90 90 ff e0");
	synth_page(s);
	begin(s, AT(0));
	synth_ip(s, ppt_tip_pgd, AT(4));
	synth_ip(s, ppt_tip_pge, AT(1));
	synth_ip(s, ppt_tip_pgd, AT(0x100));
	synth_ip(s, ppt_tip_pge, AT(2));
	finish(s, AT(3));
}

/* Code that changes between its second and its third instruction, twice. */
static void changes(struct synth *s)
{
	synth_code(s, AT(0), "90 90 90 90 eb fa");
	synth_page(s);
	begin(s, AT(0));
	s->insns = 2;
	synth_code(s, AT(2), "eb fc");
	synth_page(s);
	s->insns = 6;
	synth_code(s, AT(2), "75 fc");
	synth_page(s);
	synth_tnt(s, "10");
	finish(s, AT(4));
}

/* INT n counts for the versions of pages, though it is an event. */
static void changes_after_int(struct synth *s)
{
	synth_code(s, AT(0), "cd 80 90 eb fb");
	synth_code(s, AT(0x20), "90 48 cf");
	synth_page(s);
	begin(s, AT(0));
	s->insns = 4;
	synth_code(s, AT(3), "75 fb");
	synth_page(s);
	synth_ip(s, ppt_fup, AT(0));
	synth_ip(s, ppt_tip, AT(0x20));
	synth_ip(s, ppt_tip, AT(2));
	synth_tnt(s, "0");
	finish(s, AT(6));
}

/* User only: no PIPs. Two processes have code at one address; the file says which. */
static void user_processes(struct synth *s)
{
	struct trace_cr3_switch sw = {SYNTH_CR3, 0};

	s->session.ctl &= ~VPT_CTL_MASK(OS);
	synth_code(s, AT(0), "90 0f 05 90");
	synth_page(s);
	synth_code(s, AT(3), "75 fe");
	synth_page_at(s, 0x2000, SYNTH_CODE);
	trace_writer_cr3(s->w, 0, &sw);
	begin(s, AT(0));
	synth_no_ip(s, ppt_tip_pgd);
	sw = (struct trace_cr3_switch){0x2000, 2};
	trace_writer_cr3(s->w, 0, &sw);
	synth_ip(s, ppt_tip_pge, AT(3));
	synth_tnt(s, "10");
	finish(s, AT(5));
}

/* The same where only one has code at the address. */
static void user_guess(struct synth *s)
{
	s->session.ctl &= ~VPT_CTL_MASK(OS);
	synth_code(s, AT(0), "90 90");
	synth_page(s);
	synth_page_at(s, 0x2000, SYNTH_CODE + 0x1000);
	begin(s, AT(0));
	finish(s, AT(1));
	begin(s, AT(0x1000));
	finish(s, AT(0x1001));
}

/*
 * Kernel only, and begun in user code: no PIP comes before CR3 is loaded, and two processes
 * have code where the kernel is entered. The file says which it was, up to the first PIP.
 */
static void begun_in_user(struct synth *s)
{
	struct trace_cr3_switch sw = {0x2000, 0};

	s->session.ctl &= ~VPT_CTL_MASK(USER);
	synth_code(s, AT(0), "75 fe 90 90 0f 07 90 75 fd");
	synth_page(s);
	synth_code(s, AT(0), "90 0f 22 d8 90 90 90 90 90");
	synth_page_at(s, 0x2000, SYNTH_CODE);
	synth_start(s, AT(0), 3);
	trace_writer_cr3(s->w, 0, &sw);
	synth_packet(s, ppt_psb);
	synth_packet(s, ppt_psbend);
	synth_mode(s);
	synth_ip(s, ppt_tip_pge, AT(0));
	synth_pip(s, SYNTH_CR3);
	synth_no_ip(s, ppt_tip_pgd);
	synth_ip(s, ppt_tip_pge, AT(6));
	synth_tnt(s, "10");
	finish(s, AT(9));
}

/* An instruction across two pages. */
static void across_pages(struct synth *s)
{
	s->page[4094] = 0x48;
	s->page[4095] = 0xc7;
	s->page[0] = 0xc0;
	memset(s->page + 1, 0, 4);
	s->page[5] = 0x75;
	s->page[6] = 0xfe;
	synth_page_at(s, SYNTH_CR3, SYNTH_CODE + 0x1000);
	synth_page(s);
	begin(s, AT(0xffd));
	synth_tnt(s, "0");
	finish(s, AT(0x1007));
}

static void no_sessions(struct synth *s)
{
	synth_code(s, AT(0), "90 75 fd");
	synth_page(s);
	synth_raw(s, "garbage", 7);
	synth_psb(s, AT(0));
	synth_tnt(s, "1110");
	synth_ip(s, ppt_fup, AT(3));
	synth_no_ip(s, ppt_tip_pgd);
}

static const struct {
	const char *name;
	void (*make)(struct synth *s);
	const char *flow;
} rows[] = {
	{"loop", loop, "S E0 0 1 0 1 0 1 A3"},
	{"RET of a processor that keeps", ret_keeps, "S E0 0 20 40 27 25 A26"},
	{"RET of a processor that pops: a limit", ret_pops,
	 "S E0 0 20 40 27 25 26 27 !trace stream does not match query"},
	{"ret", ret_uncompressed, "S E0 0 20 6 7 5 A6"},
	{"call next", call_next, "S E0 0 5 6 !compressed return without call"},
	{"int n", int_n, "S E0 0 1>20 20 21 3 A4"},
	{"mov cr3", mov_cr3, "S E0 0 P2000 3 4 3 4 A6"},
	{"mov cr3, pcid", mov_cr3_pcid, "S E0 0 P1020 3 A4"},
	{"mov cr3 out", mov_cr3_out, "S E0 0 1 P2000 D P1000 E4 4 A5"},
	{"SYSRET after MOV CR3", sysret_after_cr3, "S E0 0 P1000 3 4 D E3 3 A4"},
	{"syscall out", syscall_out, "S E0 0 1 D E3 3 A4"},
	{"interrupt out", interrupt_out, "S E0 0 A1 E1 1 A2"},
	{"psb between", psb_between, "S E0 0 1 3 A4"},
	{"overflow", overflow, "S E0 O3 3 4 A5"},
	{"sessions", three_sessions, "S E0 0 0 A2 S E2 2 A4 E2 2 A4"},
	{"cut", cut_by_topa, "S E0 0 1 S+7 1 3 A4"},
	{"no end", no_end, "S E0 0 1 0 1"},
	{"nothing", nothing, "S E0"},
	{"no code", no_code, "S E0 0 1 !no memory mapped at this address"},
	{"event trace", event_trace, "S E0 0 1 0 1 C2 A3"},
	{"blocks", blocks, "S E0 0 1 B4@0 0=401001 1=2 B1@0 3=7 0 1 A3"},
	{"blocks outside", blocks_outside, "S E0 A0 B10 E0 0 1 A3"},
	{"triggers", triggers, "S E0 0 1 0 1 3 0 1 A3"},
	{"triggers, dis tnt", triggers_dis_tnt,
	 "S !DisTNT was set: the flow is not in the trace E0 t2 A3"},
	{"dis tnt: packets", dis_tnt_packets,
	 "S !DisTNT was set: the flow is not in the trace E0 t2 C1 3>1 D B1 3=7 E0 O3 A4"},
	{"resync", resync, "S E0 0 1 !trace stream does not match query 0 1 3 A4"},
	{"missing packet", missing_packet, "S E0 0 1 !trace stream does not match query"},
	{"dis tnt", dis_tnt, "S !DisTNT was set: the flow is not in the trace E0 A4"},
	{"jcc out", jcc_out, "S E0 0 1 0 1 3 4 D Ea a Ab"},
	{"jcc out after cr3", jcc_out_after_cr3, "S E0 0 P1000 3 4 D Ea a Ab"},
	{"jcc out, then cr3", jcc_out_then_cr3,
	 "S E0 0 1 0 1 3 D P1000 E9 9 a 9 a D P1000 E9 9 Aa"},
	{"cr3 out of filter", cr3_out_of_filter, "S E0 0 P2000 D P1000 E4 4 A6"},
	{"cr3 into stop", cr3_into_stop, "S E0 0 P1000 D T"},
	{"syscall out of filter", syscall_out_of_filter, "S E0 0 1 6 D E8 8 A9"},
	{"jmp out", jmp_out, "S E0 0 1 D100 E6 6 7 D200 T"},
	{"fallen out", fallen_out, "S E0 0 1 2 3 4 5 D4 E1 1 2 3 4 5 D100 E2 2 A3"},
	{"changes", changes, "S E0 0 1 2 0 1 2 0 1 2 0 1 2 A4"},
	{"changes after int", changes_after_int, "S E0 0>20 20 21 2 3 5 A6"},
	{"user processes", user_processes, "S E0 0 1 D E3 3 3 A5"},
	{"user guess", user_guess, "S E0 0 A1 S E1000 1000 A1001"},
	{"begun in user code", begun_in_user, "S E0 0 1 P1000 4 D E6 6 7 6 7 A9"},
	{"across pages", across_pages, "S Effd ffd ffe 1005 A1007"},
	{"no sessions", no_sessions, "S+7 0 1 0 1 0 1 0 1 A3"},
};

/*
 * What libvptdecode finds where that is not what libipt does: INT n is an instruction; a RET with a
 * target takes an entry off the stack; errors have another text, and blocks before them are not
 * shown in part; CFEs and blocks are told where their packets are.
 */
static const struct {
	const char *name, *flow;
} others[] = {
	{"RET of a processor that keeps",
	 "S E0 0 20 40 27 5 6 7 8 9 a b c d e f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f 20 "
	 "!an indirect branch has no target"},
	{"RET of a processor that pops: a limit", "S E0 0 20 40 27 5 A6"},
	{"ret", "S E0 0 20 6 7 !a compressed return has no call"},
	{"call next", "S E0 0 5 6 !a compressed return has no call"},
	{"int n", "S E0 0 1 1>20 20 21 3 A4"},
	{"no code", "S E0 0 1 !there is no code here"},
	{"event trace", "S E0 0 1 C2 0 1 A3"},
	{"blocks", "S E0 B4 0=401001 1=2 0 1 B1@0 3=7 0 1 A3"},
	{"resync", "S E0 !a conditional branch has no outcome 0 1 3 A4"},
	{"missing packet", "S E0 !a conditional branch has no outcome"},
	{"changes after int", "S E0 0 0>20 20 21 2 3 5 A6"},
};

static const char *flow_of(int i, enum judge_flow_by by)
{
	size_t k;

	for (k = 0; by == DECODE_FLOW_BY_LIBVPTDECODE && k < sizeof(others) / sizeof(*others);
	     k++) {
		if (!strcmp(others[k].name, rows[i].name))
			return others[k].flow;
	}
	return rows[i].flow;
}

static void check_row(int i, enum decode_flow_unit unit, bool change)
{
	enum judge_flow_by by;
	struct trace_reader *r;
	struct synth s;

	synth_open(&s);
	rows[i].make(&s);
	if (change)
		flowtext_change(&s);
	r = synth_read(&s);
	for (by = DECODE_FLOW_BY_LIBVPTDECODE; by <= DECODE_FLOW_BY_LIBIPT; by++)
		flowtext_is_by(r, unit, by, rows[i].name, flow_of(i, by));
	trace_reader_close(r);
	synth_done(&s);
}

START_TEST(by_insn)
{
	check_row(_i, DECODE_FLOW_INSNS, false);
}
END_TEST

START_TEST(by_insn_changing)
{
	check_row(_i, DECODE_FLOW_INSNS, true);
}
END_TEST

START_TEST(by_block_changing)
{
	check_row(_i, DECODE_FLOW_BLOCKS, true);
}
END_TEST

START_TEST(by_block)
{
	check_row(_i, DECODE_FLOW_BLOCKS, false);
}
END_TEST

START_TEST(no_progress)
{
	struct trace_reader *r;
	struct synth s;

	synth_open(&s);
	endless(&s);
	r = synth_read(&s);
	flowtext_endless(r, (enum decode_flow_unit)_i);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* Where items are said to be in the stream, when the filter's help moves them. */
START_TEST(offsets)
{
	struct trace_reader *r;
	struct decode_flow *flow;
	struct decode_item item;
	struct synth s;
	size_t len;

	synth_open(&s);
	jcc_out(&s);
	r = synth_read(&s);
	trace_reader_stream(r, 0, &len);
	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_INSNS, &flow), 0);
	do {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		ck_assert_uint_le(item.offset, len);
	} while (item.kind != DECODE_ITEM_EVENT || item.event != DECODE_FLOW_ASYNC_DISABLED);
	ck_assert_uint_eq(item.offset, len);
	decode_flow_close(flow);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *test_suite(void)
{
	Suite *suite = suite_create("decode");
	TCase *tc = tcase_create("flow");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, by_insn, 0, COUNT(rows));
	tcase_add_loop_test(tc, by_block, 0, COUNT(rows));
	tcase_add_loop_test(tc, by_insn_changing, 0, COUNT(rows));
	tcase_add_loop_test(tc, by_block_changing, 0, COUNT(rows));
	tcase_add_loop_test(tc, no_progress, 0, 2);
	tcase_add_test(tc, offsets);
	suite_add_tcase(suite, tc);
	return suite;
}
