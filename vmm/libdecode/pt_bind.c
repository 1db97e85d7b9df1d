// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bind packets to instructions: which one sent each, and what follows from that (33.4.2, 33.7). */
#include "libdecode/edges.h"
#include "libdecode/pt_inside.h"

enum cfe_type {
#define VPT_CFE(name, type, tag, section, meaning) CFE_##name = type,
#include "../../shared/spec/cfe.def"
#undef VPT_CFE
};

enum vptd_status dec_pt_settle(struct dec_pt *pt)
{
	enum vptd_status status;

	if (!pt->enabled || !pt->flow->nbits)
		return VPTD_OK;
	status = dec_flow_settle(pt->flow);
	/* Anything but a TIP comes after the TIPs of all outcomes before it (33.4.2.3). */
	return status == VPTD_STUCK ? VPTD_E_NO_TARGET : status;
}

void dec_pt_use_space(struct dec_pt *pt, uint64_t cr3, bool nr, unsigned int flags)
{
	uint64_t key = pt->ops->space ? pt->ops->space(pt->context, cr3, nr, pt->vmcs) : cr3 | nr;

	pt->cr3 = cr3;
	pt->nr = nr;
	pt->blind = key == VPTD_NO_CODE;
	/* Reported as an error once the packet is done. */
	if (!pt->blind && dec_code_select(pt->flow->code, key))
		pt->no_memory = true;
	dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_PAGING,
					    .flags = (uint8_t)flags,
					    .value = cr3,
					    .aux = nr});
}

/* Table 33-25: CS.L & LMA, then CS.D. */
static uint8_t mode_of(unsigned int mode_exec)
{
	return mode_exec & 1 ? 64 : mode_exec & 2 ? 32 : 16;
}

static bool changes_mode(const struct dec_pt *pt, unsigned int mode_exec)
{
	return pt->mode_told == DEC_PT_UNKNOWN || mode_of(pt->mode_told) != mode_of(mode_exec);
}

static bool changes_iflag(const struct dec_pt *pt, unsigned int mode_exec)
{
	return pt->config.event_en &&
	       (pt->mode_told == DEC_PT_UNKNOWN || (pt->mode_told ^ mode_exec) & 4);
}

static struct vptd_event mode_event(unsigned int mode_exec)
{
	return (struct vptd_event){.kind = VPTD_EVENT_EXEC_MODE, .value = mode_of(mode_exec)};
}

static struct vptd_event iflag_event(unsigned int mode_exec)
{
	return (struct vptd_event){.kind = VPTD_EVENT_IFLAG, .value = mode_exec >> 2 & 1u};
}

void dec_pt_use_mode(struct dec_pt *pt, unsigned int mode_exec, unsigned int flags)
{
	struct vptd_event event = mode_event(mode_exec);

	pt->flow->mode = mode_of(mode_exec);
	event.flags = (uint8_t)flags;
	if (flags || changes_mode(pt, mode_exec))
		dec_pt_emit(pt, event);
	if (!flags && changes_iflag(pt, mode_exec))
		dec_pt_emit(pt, iflag_event(mode_exec));
	pt->mode_told = (uint8_t)mode_exec;
}

/* What belongs to the branch that is being bound takes effect at its target. */
void dec_pt_use_pending(struct dec_pt *pt)
{
	dec_pt_use_vmcs(pt);
	if (pt->waits & W_PIP)
		dec_pt_use_space(pt, pt->pip_cr3, pt->pip_nr, 0);
	if (pt->waits & W_MODE)
		dec_pt_use_mode(pt, pt->mode_exec, 0);
	pt->waits &= ~(uint32_t)(W_PIP | W_MODE);
}

static bool is_ptwrite(const struct dec_pt *pt)
{
	return pt->alone.n == 1 && pt->alone.at[0].kind == VPTD_EVENT_PTWRITE &&
	       pt->flow->cur->end == DEC_END_PTWRITE && dec_flow_at_end(pt->flow);
}

/* IRET, UIRET and VM entries send their own address: the branch is theirs (table 33-50). */
static bool is_transfer(const struct dec_pt *pt)
{
	const struct vptd_event *last;

	if (!pt->alone.n)
		return false;
	last = &pt->alone.at[pt->alone.n - 1];
	return last->kind == VPTD_EVENT_CFE &&
	       (last->value == CFE_IRET || last->value == CFE_UIRET ||
		last->value == CFE_VMENTRY) &&
	       pt->flow->cur->end == DEC_END_FAR && dec_flow_at_end(pt->flow);
}

/*
 * The FUP of events that have one for themselves: execution comes to @ip and stays there. A
 * PTWRITE sends its own address, and has run.
 */
static enum vptd_status fup_alone(struct dec_pt *pt, uint64_t ip)
{
	enum vptd_status status = VPTD_OK;
	bool entered;

	if (pt->enabled) {
		status = dec_pt_settle(pt);
		if (!status)
			status = dec_flow_goto(pt->flow, ip, &entered);
		if (!status && is_ptwrite(pt))
			status = dec_flow_through(pt->flow, DEC_FALL);
	}
	if (status)
		return status;
	dec_pt_place_alone(pt, ip, pt->enabled && is_transfer(pt));
	return VPTD_OK;
}

enum vptd_status dec_pt_resume(struct dec_pt *pt, uint64_t ip)
{
	dec_pt_use_pending(pt);
	pt->waits &= ~(uint32_t)W_LATE;
	dec_pt_resume_overflow(pt, ip);
	/* SKD010: an event's FUP is the first that tells where tracing resumes. */
	dec_pt_place_alone(pt, ip, false);
	pt->enabled = !pt->config.no_flow && !pt->blind;
	if (dec_pt_has(pt, DEC_APL12))
		pt->waits |= W_APL12;
	return pt->enabled ? dec_flow_jump(pt->flow, ip) : VPTD_OK;
}

/*
 * MODE.Exec with a FUP of its own: RFLAGS.IF has changed (table 33-59, row 22). The mode changes
 * only by a branch, but may be another one where packets are disabled.
 */
static enum vptd_status interrupt_flag(struct dec_pt *pt, uint64_t ip)
{
	bool mode = changes_mode(pt, pt->mode_exec);
	enum vptd_status status;

	pt->waits &= ~(uint32_t)W_MODE;
	if (mode)
		dec_pt_alone(pt, mode_event(pt->mode_exec));
	if (changes_iflag(pt, pt->mode_exec))
		dec_pt_alone(pt, iflag_event(pt->mode_exec));
	status = fup_alone(pt, ip);
	pt->mode_told = pt->mode_exec;
	pt->flow->mode = mode_of(pt->mode_exec);
	return !status && mode && pt->enabled ? dec_flow_jump(pt->flow, ip) : status;
}

enum vptd_status dec_pt_fup(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	if (suppressed)
		return VPTD_E_PACKET;
	if (pt->waits & W_TRIG) {
		dec_pt_end_trig(pt, &ip);
		return VPTD_OK;
	}
	if (pt->waits & W_PSB) {
		pt->fup = ip;
		pt->waits |= W_FUP;
		return VPTD_OK;
	} else if (pt->waits & W_ALONE && !(pt->waits & W_OVF && dec_pt_shows_where(pt))) {
		return fup_alone(pt, ip);
	} else if (pt->waits & W_OVF) {
		return dec_pt_resume_at_fup(pt, ip);
	} else if (pt->waits & W_MODE && pt->config.event_en && !pt->blind &&
		   !(pt->waits & (W_FUP | W_ABORT))) {
		return interrupt_flag(pt, ip);
	}
	pt->fup = ip;
	pt->waits |= W_FUP;
	return VPTD_OK;
}

/* The vector of the INT n, INT3, INT1 or INTO at @ip. */
static unsigned int vector_of(struct dec_pt *pt, uint64_t ip)
{
	uint8_t op[2] = {0, 0};

	dec_code_read(pt->flow->code, ip, op, sizeof(op));
	switch (op[0]) {
	case 0xcc:
		return 3;
	case 0xce:
		return 4;
	case 0xf1:
		return 1;
	default:
		return op[1];
	}
}

/*
 * An INT n at the FUP has run, or it raised an exception, or a VM exit took its place. Where
 * neither a CFE nor a PIP tells it is taken to have run (table 33-23 has one address for both).
 */
static bool interrupts(struct dec_pt *pt)
{
	unsigned int i;

	if (pt->waits & W_PIP && pt->nr && !pt->pip_nr)
		return false;
	for (i = 0; i < pt->bound.n; i++) {
		if (pt->bound.at[i].kind == VPTD_EVENT_CFE && pt->bound.at[i].value == CFE_INTR)
			return pt->bound.at[i].aux == vector_of(pt, pt->fup);
	}
	return true;
}

/*
 * A FUP and a TIP.PGD without an address at a WRMSR: it has cleared TraceEn. Its fault would have
 * an address if it left the filter, and left the context only from user mode. SKD022: the same of
 * a VM entry.
 */
static bool clears_trace_en(const struct dec_pt *pt, enum dec_insn_kind kind)
{
	return !pt->config.no_os && (kind == DEC_INSN_WRMSR ||
				     (kind == DEC_INSN_VM_ENTRY && dec_pt_has(pt, DEC_SKD022)));
}

/*
 * Execution comes to where an event takes it away. INT n, and a WRMSR that clears TraceEn, sent
 * a FUP with their own address, and have run. @off: the event is a TIP.PGD without an address.
 */
enum vptd_status dec_pt_come_to_fup(struct dec_pt *pt, bool off, uint8_t *flags)
{
	struct dec_flow *f = pt->flow;
	bool abort = pt->waits & W_ABORT;
	enum vptd_status status = dec_pt_settle(pt);
	bool entered, ran;

	*flags = 0;
	if (status)
		return status;
	/* The branch before the abort may have been sent with a wrong target. */
	if (abort && dec_pt_has(pt, DEC_BDM64) && !dec_flow_reaches(f, pt->fup))
		return dec_flow_jump(f, pt->fup);
	status = dec_flow_goto(f, pt->fup, &entered);
	if (status)
		return status;
	if (entered)
		*flags |= VPTD_EV_VM_ENTRY;
	/* What aborts a transaction did not run. */
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

/* Packets that belong to an event, and are reported before it. */
void dec_pt_use_event_bound(struct dec_pt *pt)
{
	unsigned int i;

	if (pt->waits & W_ABORT)
		dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_TSX,
						    .flags = VPTD_EV_IP,
						    .ip = pt->fup,
						    .value = 2});
	pt->waits &= ~(uint32_t)W_ABORT;
	/* The FUP of the event is that of its CFE, too. */
	for (i = 0; i < pt->bound.n; i++) {
		if (pt->bound.at[i].kind != VPTD_EVENT_CFE)
			continue;
		pt->bound.at[i].flags |= VPTD_EV_IP;
		pt->bound.at[i].ip = pt->fup;
	}
	dec_pt_use_bound(pt);
}

/*
 * A TIP where what runs has no code: a PIP leads out of it, of a VM exit. A MODE waits for that,
 * since it may be the last to tell the mode there.
 */
static enum vptd_status blind_branch(struct dec_pt *pt, uint64_t ip)
{
	dec_pt_use_bound(pt);
	if (!(pt->waits & W_PIP))
		return VPTD_OK;
	dec_pt_use_space(pt, pt->pip_cr3, pt->pip_nr, 0);
	pt->waits &= ~(uint32_t)W_PIP;
	if (pt->blind)
		return VPTD_OK;
	dec_pt_emit(pt,
		    (struct vptd_event){.kind = VPTD_EVENT_ENABLED, .flags = VPTD_EV_TO, .to = ip});
	dec_pt_use_pending(pt);
	pt->enabled = true;
	return dec_flow_jump(pt->flow, ip);
}

/* The branch that has just been bound led to where there is no code, as a VM entry does. */
static void go_blind(struct dec_pt *pt)
{
	dec_pt_emit(pt,
		    (struct vptd_event){.kind = VPTD_EVENT_DISABLED, .flags = VPTD_EV_VM_ENTRY});
	pt->enabled = false;
	dec_flow_stop(pt->flow);
}

/* Without a flow its packets are all that is known of a branch. */
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

static enum vptd_status async_branch(struct dec_pt *pt, uint64_t ip)
{
	enum vptd_status status;
	uint8_t flags;

	pt->waits &= ~(uint32_t)W_FUP;
	if (pt->blind)
		return blind_branch(pt, ip);
	if (!pt->enabled)
		return dec_pt_branch_alone(pt, (struct vptd_event){.kind = VPTD_EVENT_ASYNC_BRANCH,
								   .flags = VPTD_EV_IP | VPTD_EV_TO,
								   .ip = pt->fup,
								   .to = ip});
	status = dec_pt_come_to_fup(pt, false, &flags);
	if (status)
		return status;
	dec_pt_use_event_bound(pt);
	dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_ASYNC_BRANCH,
					    .flags = flags | VPTD_EV_IP | VPTD_EV_TO,
					    .ip = pt->fup,
					    .to = ip});
	dec_pt_use_pending(pt);
	if (pt->blind) {
		go_blind(pt);
		return VPTD_OK;
	}
	return dec_flow_jump(pt->flow, ip);
}

enum vptd_status dec_pt_tip(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	struct dec_block *by;
	enum vptd_status status;

	if (pt->waits & W_PSB || suppressed)
		return VPTD_E_PACKET;
	if (pt->waits & W_DOUBT) {
		status = dec_pt_end_doubt(pt, false, ip, false);
		if (status)
			return status;
	}
	if (pt->waits & W_FUP)
		return async_branch(pt, ip);
	if (pt->waits & W_OVF && dec_pt_has(pt, DEC_SKD010))
		return dec_pt_resume(pt, ip);
	if (pt->blind)
		return blind_branch(pt, ip);
	if (!pt->enabled)
		return dec_pt_branch_alone(pt, (struct vptd_event){.kind = VPTD_EVENT_TARGET,
								   .flags = VPTD_EV_TO,
								   .to = ip});
	status = dec_flow_settle(pt->flow);
	if (status > VPTD_STUCK)
		return status;
	status = dec_flow_branch(pt->flow, &by);
	if (status)
		return status;
	dec_pt_use_bound(pt);
	dec_pt_use_pending(pt);
	if (pt->blind) {
		go_blind(pt);
		return VPTD_OK;
	}
	return dec_flow_arrive(pt->flow, by, ip);
}

enum vptd_status dec_pt_pge(struct dec_pt *pt, uint64_t ip, bool suppressed)
{
	bool mode;

	if (pt->waits & W_PSB || suppressed || (pt->enabled && !(pt->waits & (W_BDM70 | W_APL12))))
		return VPTD_E_PACKET;
	dec_pt_end_overflow(pt);
	mode = pt->waits & W_MODE;
	pt->waits &= ~(uint32_t)(W_FUP | W_MODE | W_APL12 | W_BDM70);
	dec_pt_use_bound(pt);
	dec_pt_use_pending(pt);
	/* An entry from where nothing was traced. */
	if (pt->blind)
		return VPTD_OK;
	pt->enabled = !pt->config.no_flow;
	dec_flow_clear_stack(pt->flow);
	dec_pt_emit(pt,
		    (struct vptd_event){.kind = VPTD_EVENT_ENABLED, .flags = VPTD_EV_TO, .to = ip});
	if (mode)
		dec_pt_use_mode(pt, pt->mode_exec, 0);
	return pt->enabled ? dec_flow_jump(pt->flow, ip) : VPTD_OK;
}

/*
 * A PIP behind a FUP belongs to the event's TIP. Else it is of the next MOV CR3 or far transfer
 * (33.4.2.7): of a MOV CR3 at once, of a transfer with its TIP.
 */
enum vptd_status dec_pt_pip(struct dec_pt *pt, uint64_t cr3, bool nr)
{
	enum vptd_status status;
	struct dec_block *block;

	if (pt->enabled && !(pt->waits & (W_PSB | W_FUP | W_APL12 | W_BDM70 | W_DOUBT))) {
		status = dec_pt_settle(pt);
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
 * VMPTRLD sends a VMCS packet, and has run. So does a VM entry or exit, with a branch that the
 * packet belongs to (33.4.2.15).
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
	status = dec_pt_settle(pt);
	if (!status)
		status = dec_flow_seek(pt->flow, DEC_END_BIT(VMPTRLD) | DEC_LEADS_AWAY, &block);
	if (status || block->end != DEC_END_VMPTRLD)
		return status;
	status = dec_flow_through(pt->flow, DEC_FALL);
	if (!status)
		dec_pt_use_vmcs(pt);
	return status;
}

/* Without a FUP it is of the next PTWRITE. */
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
		status = dec_pt_settle(pt);
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

enum vptd_status dec_pt_overflow(struct dec_pt *pt)
{
	enum vptd_status status = pt->waits & W_PSB ? VPTD_OK : dec_pt_settle(pt);

	/* A FUP that events wait for was lost: the next one is the overflow's. */
	dec_pt_drop_waiting(pt);
	dec_pt_end_overflow(pt);
	/* What came before is lost, but decoding can begin anew behind the overflow. */
	if (status)
		dec_pt_desync(pt, status);
	/* The rest of a PSB+ is lost, but not what it has told. */
	if (pt->waits & W_PSB)
		dec_pt_use_status(pt);
	pt->synced = true;
	pt->waits = W_OVF;
	pt->overflow_offset = pt->offset;
	pt->mode_told = DEC_PT_UNKNOWN;
	pt->last_ip = 0;
	pt->enabled = false;
	pt->block_type = 0;
	dec_flow_stop(pt->flow);
	return VPTD_OK;
}
