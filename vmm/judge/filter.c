// SPDX-License-Identifier: GPL-2.0-or-later
/* Rewrite the packets of a segment for libipt. */
#include "judge/filter.h"

#include <errno.h>
#include <string.h>

#include "trace/vec.h"
#include "vpt/encode.h"
#include "vpt/msr.h"
#include "vpt/tsc.h"

/* The maximum growth of a packet: TIP.PGD from 1 byte to 9. */
#define GROWTH 8

/* The maximum number of restarts. Each decodes all previous packets again. */
#define KNOWN_MAX 1024

/* The result for a packet. A positive result is the size of its replacement. */
#define KEEP 0
#define DROP (-1)

struct state {
	const struct judge_filter_input *input;
	struct vpt_parser parser;
	uint64_t last_ip;
	uint64_t wrong_ip; /* the last IP of a decoder that reads the output */
	bool in_psb;	   /* between PSB and PSBEND */
	bool fup_taken;	   /* the next FUP belongs to an earlier packet */
	bool fup_lone;	   /* the next FUP belongs to a packet that libipt does not know */
	bool fup_trig;	   /* the next FUP belongs to a TRIG, and to no CFE */
	bool fup;	   /* a FUP waits for its TIP */
	bool entry;	   /* that FUP was of a VM entry that clears TraceEn */
	bool overflow;	   /* no packet of the flow since an OVF */
	bool pip;	   /* the last packet of the flow was a PIP */
	bool outside;	   /* the CR3 of that PIP is not the traced CR3 */
	bool target;	   /* the last packet of the flow led to last_ip */
	struct decode_space_key key;
	uint64_t space;	       /* the space of `key` after the first PIP */
	bool blind_next;       /* the next TIP is a VM entry to code that is not in the file */
	bool blind;	       /* such code runs */
	uint64_t mode;	       /* the last MODE.Exec of the input */
	uint64_t told_mode;    /* the last MODE.Exec of the output */
	size_t vmcs;	       /* the number of VMCS blocks up to the current offset */
	struct decode_cfe cfe; /* EVDs that wait for their CFE */
	size_t bound;	       /* the number of CFEs that have their FUP or get none */
	struct judge_filtered *out;
	bool no_memory;
	size_t session;
	uint64_t begin; /* the stream offset of the segment */
};

static bool filters(const struct trace_session *s)
{
	return (s->ctl & (VPT_CTL_MASK(ADDR0_CFG) | VPT_CTL_MASK(ADDR1_CFG) |
			  VPT_CTL_MASK(ADDR2_CFG) | VPT_CTL_MASK(ADDR3_CFG))) != 0;
}

/* Returns true if a transfer to CPL 3 ends the trace with a TIP.PGD without an IP. */
static bool kernel_only(const struct trace_session *s)
{
	return (s->ctl & VPT_CTL_MASK(OS)) && !(s->ctl & VPT_CTL_MASK(USER));
}

/* Returns true if the CR3 of a PIP is outside the context (33.2.5.2). */
static bool outside(const struct trace_session *s, uint64_t cr3)
{
	return (s->ctl & VPT_CTL_MASK(CR3_FILTER)) &&
	       (cr3 & VPT_MASK64(51, 12)) != (s->cr3_match & VPT_MASK64(51, 12));
}

static enum vpt_ip_opcode opcode(enum vpt_pkt_kind kind)
{
	switch (kind) {
	case VPT_PKT_TIP_PGE:
		return VPT_OP_TIP_PGE;
	case VPT_PKT_TIP_PGD:
		return VPT_OP_TIP_PGD;
	case VPT_PKT_FUP:
		return VPT_OP_FUP;
	default:
		return VPT_OP_TIP;
	}
}

/*
 * Return the kind of the next packet that affects the flow, or PAD if there is none. *at is
 * advanced to it.
 */
static enum vpt_pkt_kind next_kind(struct vpt_parser parser, const uint8_t *in, size_t len,
				   size_t *at)
{
	struct vpt_packet p;

	for (; vpt_packet_read(&parser, in + *at, len - *at, &p) == VPT_OK; *at += p.size) {
		switch (p.kind) {
		case VPT_PKT_PAD:
		case VPT_PKT_TSC:
		case VPT_PKT_TMA:
		case VPT_PKT_MTC:
		case VPT_PKT_CYC:
		case VPT_PKT_CBR:
		case VPT_PKT_PSBEND:
		case VPT_PKT_MODE_EXEC:
			break;
		default:
			return p.kind;
		}
	}
	return VPT_PKT_PAD;
}

/* Returns true if the instruction that ends at `ip` is a VMLAUNCH or VMRESUME. */
static bool after_vm_entry(const struct state *st, uint64_t ip)
{
	const struct decode_code_store *code = st->input->code;
	uint64_t space = st->space == DECODE_CR3_UNKNOWN ? decode_code_guess(code, ip - 3)
							 : decode_code_space(code, st->space);
	uint8_t op[3];

	return decode_code_read(code, space, ip - 3, op, sizeof(op)) == sizeof(op) &&
	       op[0] == 0x0f && op[1] == 0x01 && (op[2] == 0xc2 || op[2] == 0xc3);
}

/*
 * Returns true if this FUP, which ends at in + at, is of a VM entry that ends the trace. If the
 * previous packet led to the IP of the FUP, the FUP is an event at that place instead.
 */
static bool of_vm_entry(const struct state *st, uint64_t ip, const uint8_t *in, size_t len,
			size_t at)
{
	struct vpt_parser parser = st->parser;
	struct vpt_packet p;

	if (!st->input->spaces || st->key.non_root || (st->target && ip == st->last_ip))
		return false;
	while (next_kind(parser, in, len, &at) == VPT_PKT_PIP) {
		if (vpt_packet_read(&parser, in + at, len - at, &p) != VPT_OK)
			return false;
		at += p.size;
	}
	return vpt_packet_read(&parser, in + at, len - at, &p) == VPT_OK &&
	       p.kind == VPT_PKT_TIP_PGD && p.ip_bytes == VPT_IP_SUPPRESSED &&
	       after_vm_entry(st, ip);
}

/* Set the IP of the CFEs that wait for a FUP (33.4.2.29). */
static void bind_cfes(struct state *st, uint64_t ip)
{
	for (; st->bound < st->out->cfes.n; st->bound++) {
		struct decode_cfe *cfe = &st->out->cfes.at[st->bound];

		cfe->has_ip = true;
		cfe->ip = ip;
	}
}

/* Process a FUP, which ends at in + at. Returns true if it must be dropped. */
static bool take_fup(struct state *st, uint64_t ip, const uint8_t *in, size_t len, size_t at)
{
	bool lone = st->fup_lone;

	if (st->fup_trig) {
		st->fup_trig = false;
		return true;
	}
	st->fup = !st->in_psb && !st->fup_taken && !lone;
	if (lone || st->fup)
		bind_cfes(st, ip);
	st->fup_taken = false;
	st->fup_lone = false;
	st->overflow = false;
	if (st->fup && of_vm_entry(st, ip, in, len, at)) {
		st->fup = false;
		st->entry = true;
		return true;
	}
	return lone;
}

/* Resume the trace in the host. Its code size may differ from that of the guest in a PSB+. */
static int end_blind(struct state *st, uint8_t *buf)
{
	const struct vpt_packet mode = {.kind = VPT_PKT_MODE_EXEC, .value = st->mode};
	size_t n = 0;

	if (st->mode != st->told_mode)
		n = vpt_packet_write(buf, &mode);
	st->told_mode = st->mode;
	return (int)(n + vpt_encode_ip(buf + n, VPT_OP_TIP_PGE, VPT_IP_FULL, st->last_ip));
}

/*
 * Rewrite an IP packet around a guest without code in the file. In the output, VM entries end the
 * trace, and VM exits begin it. A VM exit sends a PIP and then a TIP, which becomes a TIP.PGE.
 */
static int blind_packet(struct state *st, const struct vpt_packet *p, uint8_t *buf)
{
	if (p->kind == VPT_PKT_FUP)
		return st->blind ? DROP : KEEP;
	if (st->blind && st->key.non_root)
		return DROP;
	if (st->blind) {
		/* The exit may not have reached traced code. */
		if (p->kind == VPT_PKT_TIP_PGD || p->ip_bytes == VPT_IP_SUPPRESSED)
			return DROP;
		st->blind = false;
		st->wrong_ip = st->last_ip;
		return end_blind(st, buf);
	}
	st->blind_next = false;
	st->blind = true;
	/*
	 * A TIP.PGE enters the guest from untraced code. The output has no trace that would have to
	 * end.
	 */
	if (p->kind == VPT_PKT_TIP_PGE)
		return DROP;
	st->wrong_ip = JUDGE_FILTER_NO_IP;
	return (int)vpt_encode_ip(buf, VPT_OP_TIP_PGD, VPT_IP_FULL, JUDGE_FILTER_NO_IP);
}

/*
 * Rewrite an IP packet, which ends at in + at. `of_cond` is set for a TIP.PGD whose IP must be
 * replaced. Returns the size of the new packet in `buf`, KEEP or DROP.
 */
static int ip_packet(struct state *st, const struct vpt_packet *p, bool of_cond, const uint8_t *in,
		     size_t len, size_t at, uint8_t *buf)
{
	bool stale = st->last_ip != st->wrong_ip;
	uint64_t ip = st->last_ip;
	bool has_ip = vpt_ip_expand(st->last_ip, p->ip_bytes, p->value, &ip) == VPT_OK;
	bool drop = false;

	if (p->kind == VPT_PKT_FUP) {
		drop = take_fup(st, ip, in, len, at);
	} else {
		of_cond = of_cond || st->entry;
		st->fup = false;
		st->entry = false;
		st->overflow = false;
		st->bound = st->out->cfes.n;
	}
	st->target = p->kind == VPT_PKT_TIP || p->kind == VPT_PKT_TIP_PGE;
	if (has_ip)
		st->last_ip = ip;

	if (st->blind || st->blind_next)
		return blind_packet(st, p, buf);
	if (drop)
		return DROP;
	if (of_cond && p->kind == VPT_PKT_TIP_PGD) {
		st->wrong_ip = JUDGE_FILTER_NO_IP;
		return (int)vpt_encode_ip(buf, VPT_OP_TIP_PGD, VPT_IP_FULL, JUDGE_FILTER_NO_IP);
	}
	if (!has_ip)
		return KEEP;
	st->wrong_ip = ip;
	if (!stale)
		return KEEP;
	return (int)vpt_encode_ip(buf, opcode(p->kind), VPT_IP_FULL, ip);
}

static bool is_known(const struct judge_filter_known *known, uint64_t at)
{
	size_t i;

	for (i = 0; i < known->n; i++) {
		if (known->at[i].at == at)
			return true;
	}
	return false;
}

/* Keep the TIP.PGD, but note that libipt may bind it to the wrong instruction. */
static void doubt(struct state *st, uint64_t at, uint64_t until, uint64_t ip)
{
	if (!trace_vec_room(&st->out->doubts)) {
		st->no_memory = true;
		return;
	}
	st->out->doubts.at[st->out->doubts.n++] = (struct judge_filter_doubt){at, until, ip};
}

/* Returns true if the TIP.PGD without an IP that ends at in + at is of MOV CR3. */
static bool of_mov_cr3(struct state *st, const struct trace_session *s, const uint8_t *in,
		       size_t len, size_t at)
{
	size_t next = at;
	enum vpt_pkt_kind kind;

	if (st->pip)
		return st->outside || next_kind(st->parser, in, len, &next) == VPT_PKT_TRACE_STOP;
	if (st->input->blocks)
		return true;
	if (!(s->ctl & VPT_CTL_MASK(CR3_FILTER)) || !(s->ctl & VPT_CTL_MASK(OS)))
		return false;
	kind = next_kind(st->parser, in, len, &next);
	if (kind == VPT_PKT_TIP_PGE || is_known(st->input->known, st->begin + at - 1))
		return false;
	doubt(st, st->begin + at - 1, st->begin + next, JUDGE_FILTER_NO_IP);
	return true;
}

/*
 * libipt's block decoder ends the trace as soon as execution falls through to the IP of a TIP.PGD.
 * Returns true if the TIP.PGD that ends at in + at is known to belong to a later branch. If that is
 * unknown, the decoder notices before it reads the packet behind the next TIP.PGE.
 */
static bool falls_through(struct state *st, const struct vpt_packet *pgd,
			  const struct trace_session *s, const uint8_t *in, size_t len, size_t at)
{
	struct vpt_packet p;
	size_t next = at;
	uint64_t ip;

	if (!st->input->blocks || !filters(s) ||
	    vpt_ip_expand(st->last_ip, pgd->ip_bytes, pgd->value, &ip) != VPT_OK)
		return false;
	if (is_known(st->input->known, st->begin + at - 1))
		return true;
	if (next_kind(st->parser, in, len, &next) == VPT_PKT_TIP_PGE &&
	    vpt_packet_read(&st->parser, in + next, len - next, &p) == VPT_OK) {
		next += p.size;
		(void)next_kind(st->parser, in, len, &next);
	}
	doubt(st, st->begin + at - 1, st->begin + next, ip);
	return false;
}

/* Returns true if libipt would bind the TIP.PGD without an IP that ends at in + at wrongly. */
static bool needs_ip(struct state *st, const struct trace_session *s, const uint8_t *in, size_t len,
		     size_t at)
{
	if (filters(s))
		return !of_mov_cr3(st, s, in, len, at);
	return kernel_only(s) && st->pip && !st->outside;
}

static void vmcs_packet(struct state *st, const struct vpt_packet *p)
{
	/* All ones means that no VMCS is current (33.4.2.15). */
	bool none = p->value == TRACE_SPACE_ID_MASK;

	/*
	 * Guests cannot execute VMPTRLD, which sends this packet. So the current space does not
	 * change.
	 */
	st->key.vmcs = none ? TRACE_SPACE_ANY_VMCS : p->value;
}

/*
 * Read the PSB+ around in + at. Its VMCS and PIP apply to the whole PSB+, even before they are
 * reached.
 */
static void read_ahead(struct state *st, const uint8_t *in, size_t len, size_t at,
		       struct vpt_packet *pip)
{
	struct vpt_parser parser = st->parser;
	struct vpt_packet p;

	for (; vpt_packet_read(&parser, in + at, len - at, &p) == VPT_OK; at += p.size) {
		if (p.kind == VPT_PKT_VMCS)
			vmcs_packet(st, &p);
		else if (p.kind == VPT_PKT_PIP && pip)
			*pip = p;
		else if (p.kind == VPT_PKT_PSBEND || p.kind == VPT_PKT_OVF || p.kind == VPT_PKT_PSB)
			return;
	}
}

/* Returns true if the current space is a guest whose code is not in the file. */
static bool blind_space(const struct state *st)
{
	const struct trace_space *space = decode_spaces_find(st->input->spaces, st->space);

	return st->key.non_root && space && (space->flags & TRACE_SPACE_NO_CODE);
}

static void take_pip(struct state *st, const struct vpt_packet *p)
{
	st->key.cr3 = p->value;
	st->key.non_root = p->flag;
	st->space = decode_spaces_resolve(st->input->spaces, &st->key);
	if (!blind_space(st))
		st->blind_next = false;
	else if (st->in_psb)
		st->blind = true;
	else if (!st->blind)
		st->blind_next = true;
}

/* Apply the space of a PSB+ to the whole PSB+. */
static void find_blind(struct state *st, const uint8_t *in, size_t len, size_t at)
{
	struct vpt_packet pip = {.kind = VPT_PKT_PAD};

	if (!st->input->spaces)
		return;
	read_ahead(st, in, len, at, &pip);
	if (pip.kind == VPT_PKT_PIP)
		take_pip(st, &pip);
}

/* Rewrite a PIP, which ends at in + at, with the space's id. */
static int pip_packet(struct state *st, const struct vpt_packet *p, const uint8_t *in, size_t len,
		      size_t at, uint8_t *buf)
{
	struct vpt_packet made = *p;

	if (!st->input->spaces)
		return KEEP;
	if (st->in_psb)
		read_ahead(st, in, len, at, NULL);
	take_pip(st, p);
	/* The entry failed late, and no guest code ran (33.5.2.5). */
	if (st->blind_next && next_kind(st->parser, in, len, &at) == VPT_PKT_PIP)
		return DROP;
	made.value = st->space;
	return (int)vpt_packet_write(buf, &made);
}

/*
 * Get the TSC offset and multiplier of the current guest at `at`. Returns false if no guest runs,
 * or if they are unknown.
 */
static bool guest_tsc(struct state *st, uint64_t at, struct vpt_tsc *tsc)
{
	const struct trace_space *space = decode_spaces_find(st->input->spaces, st->space);
	const struct trace_vmcs *all = st->input->vmcs;
	size_t i;

	while (st->vmcs < st->input->nvmcs && all[st->vmcs].offset <= at)
		st->vmcs++;
	if (!space || !(space->flags & TRACE_SPACE_NON_ROOT))
		return false;
	for (i = st->vmcs; i; i--) {
		if (all[i - 1].vmcs != space->vmcs)
			continue;
		*tsc = (struct vpt_tsc){all[i - 1].tsc_offset, all[i - 1].tsc_multiplier};
		return true;
	}
	return false;
}

/* Rewrite a TSC packet, which ends at in + at, with the host's TSC. */
static int tsc_packet(struct state *st, const struct vpt_packet *p, const uint8_t *in, size_t len,
		      size_t at, uint8_t *buf)
{
	struct vpt_packet made = *p, pip = {.kind = VPT_PKT_PAD};
	struct vpt_tsc tsc;
	uint64_t last;

	if (!st->input->nvmcs || !st->input->spaces)
		return KEEP;
	if (st->in_psb)
		read_ahead(st, in, len, at, &pip);
	if (pip.kind == VPT_PKT_PIP)
		take_pip(st, &pip);
	/* Assume 0 in bits 63:56, which no TSC has reached. */
	if (!guest_tsc(st, st->begin + at, &tsc) ||
	    vpt_tsc_host_packet(&tsc, p->value, 0, &made.value, &last) != VPT_OK)
		return KEEP;
	made.value &= VPT_MASK64(55, 0);
	return (int)vpt_packet_write(buf, &made);
}

enum { EVD_FAULT_ADDRESS, EVD_QUALIFICATION, EVD_REASON }; /* table 33-51 */

static int evd_packet(struct state *st, const struct vpt_packet *p)
{
	switch (p->aux) {
	case EVD_FAULT_ADDRESS:
		st->cfe.has_fault_address = true;
		st->cfe.fault_address = p->value;
		break;
	case EVD_QUALIFICATION:
		st->cfe.has_qualification = true;
		st->cfe.qualification = p->value;
		break;
	case EVD_REASON:
		st->cfe.has_reason = true;
		st->cfe.reason = p->value;
		break;
	default:
		break;
	}
	return DROP;
}

static int cfe_packet(struct state *st, const struct vpt_packet *p, size_t at)
{
	st->cfe.offset = st->begin + at;
	st->cfe.read = st->out->len;
	st->cfe.type = (uint8_t)p->value;
	st->cfe.vector = (uint8_t)p->aux;
	st->cfe.lone = p->flag;
	if (trace_vec_room(&st->out->cfes))
		st->out->cfes.at[st->out->cfes.n++] = st->cfe;
	else
		st->no_memory = true;
	memset(&st->cfe, 0, sizeof(st->cfe));
	st->fup_lone = p->flag;
	return DROP;
}

static int bbp_packet(struct state *st, const struct vpt_packet *p, size_t at)
{
	struct decode_cfe block = {
		.is_block = true,
		.short_items = p->flag,
		.first_item = st->out->items.n,
		.offset = st->begin + at,
		.read = st->out->len,
		.type = (uint8_t)p->value,
	};

	if (trace_vec_room(&st->out->cfes))
		st->out->cfes.at[st->out->cfes.n++] = block;
	else
		st->no_memory = true;
	return DROP;
}

static int bip_packet(struct state *st, const struct vpt_packet *p)
{
	if (!trace_vec_room(&st->out->items)) {
		st->no_memory = true;
		return DROP;
	}
	st->out->items.at[st->out->items.n++] =
		(struct decode_block_item){.value = p->value, .id = (uint8_t)p->aux};
	st->out->cfes.at[st->out->cfes.n - 1].items++;
	return DROP;
}

static int bep_packet(struct state *st, const struct vpt_packet *p)
{
	size_t i;

	st->fup_lone = p->flag;
	for (i = st->bound; i < st->out->cfes.n; i++)
		st->out->cfes.at[i].lone |= st->out->cfes.at[i].is_block && p->flag;
	if (!p->flag)
		st->bound = st->out->cfes.n;
	return DROP;
}

/*
 * Drop a MODE.Exec that only reports RFLAGS.IF (table 33-59, row 22). Only this packet has a FUP of
 * its own.
 */
static int mode_packet(struct state *st, const struct trace_session *s, const uint8_t *in,
		       size_t len, size_t at)
{
	if (!(s->ctl & VPT_CTL_MASK(EVENT_EN)) || st->in_psb || st->fup || st->overflow ||
	    next_kind(st->parser, in, len, &at) != VPT_PKT_FUP)
		return KEEP;
	st->fup_lone = true;
	return DROP;
}

/* Process a packet that affects the flow and ends at in + at. */
static int flow_packet(struct state *st, const struct vpt_packet *p, const struct trace_session *s,
		       const uint8_t *in, size_t len, size_t at, uint8_t *buf)
{
	switch (p->kind) {
	case VPT_PKT_PSB:
		st->in_psb = true;
		st->last_ip = 0;
		st->wrong_ip = 0;
		find_blind(st, in, len, at);
		return KEEP;
	case VPT_PKT_PSBEND:
		st->in_psb = false;
		return KEEP;
	case VPT_PKT_OVF:
		st->in_psb = false;
		st->last_ip = 0;
		st->wrong_ip = 0;
		st->fup = false;
		st->entry = false;
		/* The FUP of a waiting CFE was lost. The next FUP belongs to the overflow. */
		st->fup_lone = st->fup_trig = false;
		st->bound = st->out->cfes.n;
		/* Without BranchEn an overflow has no FUP. */
		st->fup_taken = s->ctl & VPT_CTL_MASK(BRANCH_EN);
		st->overflow = st->fup_taken;
		return KEEP;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		st->pip = false;
		st->fup_taken = false;
		st->overflow = false;
		st->target = false;
		return st->blind ? DROP : KEEP;
	case VPT_PKT_PIP:
		st->pip = !st->in_psb;
		st->outside = outside(s, p->value);
		return pip_packet(st, p, in, len, at, buf);
	case VPT_PKT_MODE_EXEC:
		st->mode = p->value;
		if (st->blind && !st->in_psb)
			return DROP;
		st->told_mode = p->value;
		return mode_packet(st, s, in, len, at);
	default:
		return KEEP;
	}
}

/* Rewrite any packet, see ip_packet(). */
static int packet(struct state *st, const struct vpt_packet *p, const struct trace_session *s,
		  const uint8_t *in, size_t len, size_t at, uint8_t *buf)
{
	bool pgd = p->kind == VPT_PKT_TIP_PGD && !st->fup, other_ip = false;
	int n;

	switch (p->kind) {
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		/* Check the session, because only some sessions of a segment may filter. */
		if (pgd && p->ip_bytes == VPT_IP_SUPPRESSED)
			other_ip = needs_ip(st, s, in, len, at);
		else if (pgd)
			other_ip = falls_through(st, p, s, in, len, at);
		n = ip_packet(st, p, other_ip, in, len, at, buf);
		st->pip = false;
		return n;
	case VPT_PKT_VMCS:
		vmcs_packet(st, p);
		return KEEP;
	case VPT_PKT_TSC:
		return tsc_packet(st, p, in, len, at, buf);
	case VPT_PKT_EVD:
		return evd_packet(st, p);
	case VPT_PKT_CFE:
		return cfe_packet(st, p, at);
	case VPT_PKT_BBP:
		return bbp_packet(st, p, at);
	case VPT_PKT_BIP:
		return bip_packet(st, p);
	case VPT_PKT_BEP:
		return bep_packet(st, p);
	case VPT_PKT_TRIG:
		st->fup_trig = p->flag;
		return DROP;
	case VPT_PKT_MODE_TSX:
		/* The FUP of an abort has a TIP. */
		st->fup_taken = !st->in_psb && !(p->value & 2);
		return KEEP;
	case VPT_PKT_PTW:
	case VPT_PKT_EXSTOP:
		st->fup_taken = p->flag;
		return KEEP;
	default:
		return flow_packet(st, p, s, in, len, at, buf);
	}
}

static bool shift(struct judge_filtered *out, uint64_t grown)
{
	uint64_t back = out->shifts.n ? out->shifts.at[out->shifts.n - 1].back : 0;

	if (!trace_vec_room(&out->shifts))
		return false;
	out->shifts.at[out->shifts.n++] = (struct judge_filter_shift){out->len, back + grown};
	return true;
}

/* Make room for `more` bytes of output. */
static bool room_for(struct judge_filtered *out, size_t *room, size_t more)
{
	size_t want = *room;
	void *p;

	if (*room - out->len >= more)
		return true;
	while (want - out->len < more)
		want += want / 8 + more;
	p = realloc(out->bytes, want);
	if (!p)
		return false;
	out->bytes = p;
	*room = want;
	return true;
}

static int rewrite(struct state *st)
{
	const struct decode_segment *segment = st->input->segment;
	const struct trace_period *periods = st->input->periods;
	const uint8_t *in = st->input->stream + segment->begin;
	size_t len = segment->end - segment->begin;
	struct judge_filtered *out = st->out;
	static const struct trace_session none;
	size_t room = 0, at = 0;

	while (at < len) {
		struct vpt_packet p;
		uint8_t buf[VPT_PKT_MAX + 2]; /* with a MODE.Exec before it */
		enum vpt_status status;
		size_t size, made;
		int n = KEEP;

		while (st->session + 1 < segment->first + segment->count &&
		       periods[st->session + 1].start->offset <= segment->begin + at)
			st->session++;

		status = vpt_packet_read(&st->parser, in + at, len - at, &p);
		if (status == VPT_OK) {
			size = p.size;
			n = packet(st, &p, segment->count ? periods[st->session].start : &none, in,
				   len, at + size, buf);
		} else {
			/*
			 * Keep bad packets, because libipt must judge the same bytes. But drop an
			 * incomplete packet at a cut, because libipt may not know that packet.
			 */
			size = vpt_packet_find_psb(in + at + 1, len - at - 1) + 1;
			if (status == VPT_E_EOS && segment->cut)
				n = DROP;
			memset(&st->parser, 0, sizeof(st->parser));
			st->pip = st->fup = st->fup_taken = st->fup_lone = st->in_psb = false;
			st->fup_trig = false;
			st->entry = st->target = false;
		}

		made = n == DROP ? 0 : n == KEEP ? size : (size_t)n;
		if (st->no_memory || !room_for(out, &room, size + GROWTH))
			return -ENOMEM;
		memcpy(out->bytes + out->len, n == KEEP ? in + at : buf, made);
		out->len += made;
		at += size;
		if (made != size && !shift(out, made - size))
			return -ENOMEM;
	}
	return 0;
}

static bool events(const struct trace_session *s)
{
	return (s->ctl & VPT_CTL_MASK(EVENT_EN)) != 0;
}

static bool any_session(const struct decode_segment *segment, const struct trace_period *periods,
			bool (*is)(const struct trace_session *s))
{
	size_t i;

	for (i = 0; i < segment->count; i++) {
		if (is(periods[segment->first + i].start))
			return true;
	}
	return false;
}

bool judge_filter_inside(const struct trace_session *s, uint64_t ip)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if ((s->ctl >> (VPT_CTL_ADDR0_CFG_SHIFT + 4 * n) & 15) == VPT_ADDR_FILTER &&
		    ip >= s->addr[2 * n] && ip <= s->addr[2 * n + 1])
			return true;
	}
	return false;
}

bool judge_filter_ranges(const struct decode_segment *segment, const struct trace_period *periods)
{
	return any_session(segment, periods, filters);
}

int judge_filter_rewrite(struct judge_filtered *out, const struct judge_filter_input *input)
{
	struct state st = {
		.input = input,
		.session = input->segment->first,
		.begin = input->segment->begin,
		.key = {.vmcs = TRACE_SPACE_ANY_VMCS},
		.space = DECODE_CR3_UNKNOWN,
		.out = out,
	};
	int err;

	memset(out, 0, sizeof(*out));
	if (!input->all && !input->spaces && !any_session(input->segment, input->periods, events) &&
	    !judge_filter_ranges(input->segment, input->periods) &&
	    !any_session(input->segment, input->periods, kernel_only))
		return 0;
	err = rewrite(&st);
	if (err)
		judge_filter_free(out);
	return err;
}

int judge_filter_learn(const struct judge_filtered *out, uint64_t offset,
		       struct judge_filter_known *known)
{
	size_t i = out->doubts.n;

	while (i && out->doubts.at[i - 1].at >= offset)
		i--;
	if (!i || offset > out->doubts.at[i - 1].until || known->n == KNOWN_MAX ||
	    is_known(known, out->doubts.at[i - 1].at))
		return 0;
	if (!trace_vec_room(known))
		return -ENOMEM;
	known->at[known->n++] = out->doubts.at[i - 1];
	return 1;
}

uint64_t judge_filter_target(const struct judge_filter_known *known, uint64_t offset)
{
	size_t i;

	for (i = 0; i < known->n; i++) {
		if (known->at[i].at < offset && offset <= known->at[i].until)
			return known->at[i].ip;
	}
	return JUDGE_FILTER_NO_IP;
}

void judge_filter_free(struct judge_filtered *out)
{
	free(out->bytes);
	free(out->shifts.at);
	free(out->doubts.at);
	free(out->cfes.at);
	free(out->items.at);
	memset(out, 0, sizeof(*out));
}

uint64_t judge_filter_offset(const struct judge_filtered *out, uint64_t offset)
{
	size_t n = trace_vec_before(out->shifts.at, out->shifts.n, e, e->at <= offset);

	return n ? offset - out->shifts.at[n - 1].back : offset;
}

uint64_t judge_filter_place(const struct judge_filtered *out, uint64_t offset)
{
	size_t n = trace_vec_before(out->shifts.at, out->shifts.n, e, e->at - e->back <= offset);

	return n ? offset + out->shifts.at[n - 1].back : offset;
}
