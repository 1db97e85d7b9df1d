// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bind packets to the instructions that sent them (33.4.2, 33.7). */
#include "libdecode/insn.h"
#include "libdecode/pt_inside.h"

enum vptd_status dec_pt_resume(struct dec_pt *pt, uint64_t ip)
{
	dec_pt_use_pending(pt);
	pt->waits &= ~(uint32_t)W_LATE;
	dec_pt_resume_overflow(pt, ip);
	/* SKD010: an event's FUP is the first packet with the address at which tracing resumes. */
	dec_pt_place_alone(pt, ip, false);
	pt->enabled = !pt->config.no_flow && !pt->blind;
	if (dec_pt_has(pt, DEC_APL12))
		pt->waits |= W_APL12;
	return pt->enabled ? dec_flow_jump(pt->flow, ip) : VPTD_OK;
}

/* Returns the vector of the INT n, INT3, INT1 or INTO at @ip. */
static int vector_of(struct dec_pt *pt, uint64_t ip)
{
	uint8_t bytes[DEC_INSN_MAX];
	const size_t len = dec_code_read(pt->flow->code, ip, bytes, sizeof(bytes));

	return dec_x86_int_vector(pt->flow->mode, bytes, len);
}

/*
 * Returns true if the INT n at the FUP has run. Otherwise it raised an exception, or a VM exit took
 * its place. Without a CFE or PIP that shows the difference it is assumed to have run (table 33-23
 * has one address for both).
 */
static bool interrupts(struct dec_pt *pt)
{
	unsigned int i;

	if (pt->waits & W_PIP && pt->nr && !pt->pip_nr)
		return false;
	for (i = 0; i < pt->bound.n; i++) {
		if (pt->bound.at[i].kind == VPTD_EVENT_CFE && pt->bound.at[i].value == CFE_INTR)
			return (int)pt->bound.at[i].aux == vector_of(pt, pt->fup);
	}
	return true;
}

/*
 * Returns true if the WRMSR at a FUP, with a TIP.PGD without an address, has cleared TraceEn. A
 * fault of the WRMSR whose handler is outside the filter would send an address. The fault leaves
 * the context only if it comes from user mode and OS is 0. SKD022: the same is true of a VM entry.
 */
static bool clears_trace_en(const struct dec_pt *pt, enum dec_insn_kind kind)
{
	return !pt->config.no_os && (kind == DEC_INSN_WRMSR ||
				     (kind == DEC_INSN_VM_ENTRY && dec_pt_has(pt, DEC_SKD022)));
}

/*
 * Run to the instruction where an event interrupts execution. INT n, and a WRMSR that clears
 * TraceEn, sent a FUP with their own address, and have run. @off: the event is a TIP.PGD without an
 * address.
 */
enum vptd_status dec_pt_run_to_fup(struct dec_pt *pt, bool off, uint8_t *flags)
{
	struct dec_flow *f = pt->flow;
	bool abort = pt->waits & W_ABORT;
	enum vptd_status status = dec_pt_use_outcomes(pt);
	bool entered, ran;

	*flags = 0;
	if (status)
		return status;
	/* The processor may have sent a wrong target for the branch before the abort. */
	if (abort && dec_pt_has(pt, DEC_BDM64) && !dec_flow_reaches(f, pt->fup))
		return dec_flow_jump(f, pt->fup);
	status = dec_flow_goto(f, pt->fup, &entered);
	if (status)
		return status;
	if (entered)
		*flags |= VPTD_EV_VM_ENTRY;
	/* The instruction that aborts a transaction does not retire. */
	if (entered || abort || !dec_flow_at_end(f))
		return VPTD_OK;
	ran = (f->cur->insn_kind == DEC_INSN_SOFT_INT || f->cur->insn_kind == DEC_INSN_INTO) &&
	      interrupts(pt);
	if (ran)
		*flags |= VPTD_EV_SOFT_INT;
	if (off && clears_trace_en(pt, (enum dec_insn_kind)f->cur->insn_kind)) {
		ran = true;
		if (f->cur->insn_kind == DEC_INSN_VM_ENTRY)
			*flags |= VPTD_EV_VM_ENTRY;
	}
	if (!ran)
		return VPTD_OK;
	*flags |= VPTD_EV_RAN;
	return dec_flow_finish(f);
}

/* Report the packets that belong to an event, before the event. */
void dec_pt_use_event_bound(struct dec_pt *pt)
{
	unsigned int i;

	if (pt->waits & W_ABORT)
		dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_TSX,
						    .flags = VPTD_EV_IP,
						    .ip = pt->fup,
						    .value = 2});
	pt->waits &= ~(uint32_t)W_ABORT;
	/* The FUP of the event is also that of its CFE. */
	for (i = 0; i < pt->bound.n; i++) {
		if (pt->bound.at[i].kind != VPTD_EVENT_CFE)
			continue;
		pt->bound.at[i].flags |= VPTD_EV_IP;
		pt->bound.at[i].ip = pt->fup;
	}
	dec_pt_use_bound(pt);
}

/* Report a branch without a flow. Only the branch's packets are known. */
enum vptd_status dec_pt_branch_alone(struct dec_pt *pt, struct vptd_event event)
{
	if (!pt->config.no_flow)
		return VPTD_E_PACKET;
	if (event.flags & VPTD_EV_IP)
		dec_pt_use_event_bound(pt);
	else
		dec_pt_use_bound(pt);
	dec_pt_emit(pt, event);
	dec_pt_use_pending(pt);
	return VPTD_OK;
}

/*
 * Bind a PIP. After a FUP the PIP belongs to the event's TIP. Otherwise it belongs to the next MOV
 * CR3 or far transfer (33.4.2.7): to a MOV CR3 at once, to a transfer with its TIP.
 */
enum vptd_status dec_pt_pip(struct dec_pt *pt, uint64_t cr3, bool nr)
{
	enum vptd_status status;
	struct dec_block *block;

	if (pt->enabled && !(pt->waits & (W_PSB | W_FUP | W_APL12 | W_BDM70 | W_DOUBT))) {
		status = dec_pt_use_outcomes(pt);
		if (!status)
			status = dec_flow_seek(pt->flow, DEC_END_BIT(CR3) | DEC_LEADS_AWAY, &block);
		if (status)
			return status;
		if (block->end == DEC_END_CR3) {
			status = dec_flow_finish(pt->flow);
			if (status)
				return status;
			pt->flow->cur->hits[DEC_FALL] += pt->flow->weight;
			dec_pt_use_vmcs(pt);
			dec_pt_use_space(pt, cr3, nr, 0);
			pt->waits |= W_CR3;
			return dec_flow_jump(pt->flow, pt->flow->cur->next);
		}
	} else if (!pt->enabled && !pt->blind && !(pt->waits & (W_PSB | W_FUP | W_OVF))) {
		dec_pt_use_space(pt, cr3, nr, 0);
		return VPTD_OK;
	}
	pt->pip_cr3 = cr3;
	pt->pip_nr = nr;
	pt->waits |= W_PIP;
	return VPTD_OK;
}

/*
 * Bind a VMCS packet. VMPTRLD sends one and has then run. VM entries and exits send one with a
 * branch, to which the packet belongs (33.4.2.15).
 */
enum vptd_status dec_pt_vmcs(struct dec_pt *pt, uint64_t value)
{
	enum vptd_status status;
	struct dec_block *block;

	pt->new_vmcs = value;
	pt->waits |= W_VMCS;
	if (pt->waits & W_PSB)
		return VPTD_OK;
	if (!pt->enabled) {
		dec_pt_use_vmcs(pt);
		return VPTD_OK;
	}
	if (pt->waits & (W_FUP | W_APL12 | W_BDM70 | W_DOUBT))
		return VPTD_OK;
	status = dec_pt_use_outcomes(pt);
	if (!status)
		status = dec_flow_seek(pt->flow, DEC_END_BIT(VMPTRLD) | DEC_LEADS_AWAY, &block);
	if (status || block->end != DEC_END_VMPTRLD)
		return status;
	status = dec_flow_through(pt->flow, DEC_FALL);
	if (!status)
		dec_pt_use_vmcs(pt);
	return status;
}

/* Bind a PTW packet. Without a FUP it belongs to the next PTWRITE. */
enum vptd_status dec_pt_ptwrite(struct dec_pt *pt, const struct vpt_packet *p)
{
	struct vptd_event event = {.kind = VPTD_EVENT_PTWRITE, .value = p->value};
	enum vptd_status status;
	struct dec_block *block;

	if (p->flag) {
		dec_pt_alone(pt, event);
		return VPTD_OK;
	}
	if (pt->enabled) {
		status = dec_pt_use_outcomes(pt);
		if (!status)
			status = dec_flow_seek(pt->flow, DEC_END_BIT(PTWRITE), &block);
		if (!status)
			status = dec_flow_through(pt->flow, DEC_FALL);
		if (status)
			return status;
		event.flags = VPTD_EV_IP;
		event.ip = block->last;
	}
	dec_pt_emit(pt, event);
	return VPTD_OK;
}

static bool leaves_filter(const struct dec_pt *pt, uint64_t ip)
{
	bool filters = false, inside = false;
	unsigned int i;

	for (i = 0; i < pt->config.nranges; i++) {
		const struct vptd_range *range = &pt->config.range[i];
		bool hit = ip >= range->first && ip <= range->last;

		if (range->stops && hit)
			return true;
		filters |= !range->stops;
		inside |= !range->stops && hit;
	}
	return filters && !inside;
}

/*
 * Run to the instruction that sent a TIP.PGD.
 *
 * With an address, the instruction is a taken branch out of the filter, so a direct branch counts
 * only if it leads to the address. Without an address, it is a conditional branch out of the
 * filter, or an instruction that left the context. That is a far transfer or a MOV CR3, which sends
 * a PIP only where the context stays (33.4.2.5, 33.4.2.7).
 */
enum vptd_status dec_pt_seek_sender(const struct dec_pt *pt, struct dec_flow *f, uint64_t ip,
				    bool suppressed)
{
	bool skl014 = suppressed && dec_pt_has(pt, DEC_SKL014);
	uint32_t ends = DEC_LEADS_AWAY | (suppressed ? DEC_END_BIT(CR3) : 0) |
			(suppressed && !skl014 ? 0 : DEC_END_BIT(JUMP) | DEC_END_BIT(CALL));
	struct dec_circle circle = {0};
	enum vptd_status status;
	struct dec_block *block;

	for (;;) {
		bool direct;

		status = dec_flow_seek(f, ends, &block);
		if (status)
			return status;
		direct = block->end == DEC_END_JUMP || block->end == DEC_END_CALL;
		if (!direct || (skl014 ? leaves_filter(pt, block->target) : block->target == ip))
			return VPTD_OK;
		if (dec_flow_circles(f, block, &circle))
			return VPTD_E_LOOP;
		status = dec_flow_through(f, DEC_TAKEN);
		if (status)
			return status;
	}
}
