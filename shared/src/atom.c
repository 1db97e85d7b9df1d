// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The Atom trace unit of one core: accesses to its registers, SMM and VMX. */
#include "vpt/atom.h"

#include "atom_gen.h"

void vpt_atom_init(struct vpt_atom *a, const struct vpt_pt_ops *ops, void *opaque)
{
	vpt_memset(a, 0, sizeof(*a));
	a->ops = ops;
	a->opaque = opaque;
	vpt_atom_regs_reset(&a->regs);
	vpt_output_init(&a->out, NULL, &ops->mem, opaque);
	vpti_atom_update(a);
}

bool vpti_atom_options_ok(const struct vpt_atom_options *options)
{
	return options->clear_lag <= VPT_ATOM_LAG_MAX &&
	       (!options->buffer_bytes || (options->buffer_bytes >= VPT_ATOM_BUFFER_MIN &&
					   options->buffer_bytes <= VPT_BUFFER_MAX));
}

enum vpt_status vpt_atom_set_options(struct vpt_atom *a, const struct vpt_atom_options *options)
{
	if (VPT_ATOM_GET(CTL, TRACE_EN, a->regs.ctl) || !vpti_atom_options_ok(options))
		return VPT_E_INVAL;
	a->options = *options;
	return VPT_OK;
}

void vpt_atom_set_stream(struct vpt_atom *a, void *stage, size_t size,
			 void (*stream)(void *opaque, const void *bytes, size_t len))
{
	vpt_output_set_stream(&a->out, stage, size, stream);
}

/* [ATOM-TRIGGER] */
static bool triggers(uint32_t ctl)
{
	return VPT_ATOM_GET(CTL, TRACE_EN, ctl) && VPT_ATOM_GET(CTL, TRACE_ACTIVE, ctl);
}

/* Recompute ContextEn from the state of the core. */
static void load_context(struct vpt_atom *a)
{
	struct vpt_context ctx;

	a->context_en = false;
	if (!VPT_ATOM_GET(CTL, TRACE_EN, a->regs.ctl))
		return;
	a->ops->context(a->opaque, &ctx);
	vpti_atom_enter(a, &ctx);
}

/*
 * Update a running trace before a write changes the registers. `ctl` is the new RTIT_CTL.
 * [ATOM-DISABLE ATOM-DISABLE-PGD]
 */
static void precede(struct vpt_atom *a, uint32_t ctl, uint64_t next_ip)
{
	vpti_atom_now(a);
	if (!triggers(ctl) && a->packet_en && a->options.disable_pgd)
		vpti_atom_put_lip(a, VPT_ATOM_PKT_PGD, vpti_atom_lip(a, next_ip));
}

/* [ATOM-CTL-LIVE] Trace the WRMSR itself, which is an instruction like any other. */
static void finish_write(struct vpt_atom *a, const struct vpti_atom_before *before,
			 uint64_t next_ip)
{
	uint64_t lip = vpti_atom_lip(a, next_ip);
	bool stops = vpti_atom_reach(a, VPTI_ATOM_WALK, lip);

	vpti_atom_cross(a, before, stops, lip, lip);
}

/* [ATOM-CTL-DRAIN ATOM-OVF-DRAIN] */
static void drain(struct vpt_atom *a)
{
	vpti_atom_buffer_empty(a);
	vpt_atom_flush(a);
}

static void wrote_ctl(struct vpt_atom *a, const struct vpti_atom_before *before, uint64_t next_ip)
{
	load_context(a);
	vpti_atom_update(a);
	if (a->trigger_en && !triggers(a->regs.ctl))
		vpti_atom_end(a);
	else if (!a->trigger_en && triggers(a->regs.ctl))
		vpti_atom_start(a);
	else if (a->trigger_en)
		vpti_atom_time_load(a);
	finish_write(a, before, next_ip);
	drain(a);
}

/*
 * [ATOM-FILTER-WRITE] A write that changes FilterEn takes effect. A write that does not is traced
 * like any instruction. [ATOM-OVF-SET ATOM-STOP] A deferred TraceStop ends the trace once software
 * has cleared Buffer_Overflow, and then no FUP.PGE is sent.
 */
static void wrote_status(struct vpt_atom *a, const struct vpti_atom_before *before,
			 uint64_t next_ip)
{
	const bool filter = VPT_ATOM_GET(STATUS, FILTER_EN, a->regs.status);
	const uint64_t lip = vpti_atom_lip(a, next_ip);
	bool stops = vpti_atom_reach(a, VPTI_ATOM_WALK, lip);

	if (filter != before->filter_en) {
		a->filter_en = filter;
		vpti_atom_update(a);
	}
	if (a->buffer.stop_held && !vpti_atom_overflow(a)) {
		a->buffer.stop_held = false;
		stops = stops || a->trigger_en;
	}
	vpti_atom_cross(a, before, stops, lip, lip);
}

/* Apply a write of any other register to a running trace. */
static void wrote(struct vpt_atom *a, uint32_t msr, const struct vpti_atom_before *before,
		  uint64_t next_ip)
{
	if (msr == VPT_ATOM_MSR_CR3_MATCH)
		load_context(a);
	finish_write(a, before, next_ip);
	if (!a->trigger_en)
		return;
	switch (msr) {
	case VPT_ATOM_MSR_PKT_CNT:
		vpti_atom_psb_if_due(a);
		break;
	case VPT_ATOM_MSR_TNT_BUFF:
		/* [ATOM-TNT-FULL] */
		if (a->packet_en && a->regs.tnt_buff >= VPTI_ATOM_TNT_FULL)
			vpti_atom_put_tnt(a);
		break;
	case VPT_ATOM_MSR_BASE_ADDR:
	case VPT_ATOM_MSR_LIMIT_MASK:
	case VPT_ATOM_MSR_OFFSET:
		vpti_atom_out_start(a);
		break;
	default:
		break;
	}
	vpti_atom_resolve(a, next_ip);
}

/* Write a register. The host needs no RTIT_CTL read first. */
static enum vpt_fault write_register(struct vpt_atom_regs *regs, uint32_t msr, uint64_t value,
				     enum vpt_access who)
{
	const uint32_t unlocked = regs->unlocked;
	enum vpt_fault fault;

	if (who == VPT_ACCESS_HOST)
		regs->unlocked = 1;
	fault = vpt_atom_regs_write(regs, msr, value);
	regs->unlocked = unlocked;
	return fault;
}

enum vpt_fault vpt_atom_wrmsr(struct vpt_atom *a, uint32_t msr, uint64_t value, enum vpt_access who,
			      uint64_t ip, uint64_t next_ip)
{
	const struct vpti_atom_before before = vpti_atom_stands(a);
	struct vpt_atom_regs after = a->regs;

	(void)ip;
	if (write_register(&after, msr, value, who) != VPT_FAULT_NONE)
		return VPT_FAULT_GP;
	if (a->trigger_en)
		precede(a, after.ctl, next_ip);
	(void)!write_register(&a->regs, msr, value, who);
	if (msr == VPT_ATOM_MSR_CTL)
		wrote_ctl(a, &before, next_ip);
	else if (msr == VPT_ATOM_MSR_STATUS)
		wrote_status(a, &before, next_ip);
	else
		wrote(a, msr, &before, next_ip);
	vpti_atom_pcc(a, next_ip);
	a->buffer.branched = false;
	return VPT_FAULT_NONE;
}

/* ContextEn, for use while Trace_En is clear and no event updates it. */
static uint64_t context_bit(const struct vpt_atom *a)
{
	struct vpt_context ctx;

	a->ops->context(a->opaque, &ctx);
	return (uint64_t)vpti_atom_in_context(a, &ctx) << VPT_ATOM_STATUS_CONTEXT_EN_SHIFT;
}

enum vpt_fault vpt_atom_rdmsr(struct vpt_atom *a, uint32_t msr, uint64_t *value)
{
	enum vpt_fault fault;

	if (msr == VPT_ATOM_MSR_CNTP && a->trigger_en)
		vpti_atom_now(a);
	fault = vpt_atom_regs_read(&a->regs, msr, value);
	if (fault == VPT_FAULT_NONE && msr == VPT_ATOM_MSR_STATUS && !a->watches)
		*value |= context_bit(a);
	return fault;
}

/* Trace the core's entry to SMM or root operation, or its exit. */
static void step(struct vpt_atom *a, bool *inside, bool enters, uint64_t ip)
{
	*inside = enters;
	if (!a->watches)
		return;
	if (a->time.asleep)
		vpti_atom_wake(a);
	else if (a->slow)
		vpti_atom_now(a);
	vpti_atom_transfer(a, ip, ip);
	vpti_atom_finish(a, ip);
}

/* [ATOM-SMI ATOM-CONTEXT-SMM] */
void vpt_atom_smi(struct vpt_atom *a, uint64_t ip)
{
	step(a, &a->in_smm, true, ip);
}

void vpt_atom_rsm(struct vpt_atom *a, uint64_t ip)
{
	step(a, &a->in_smm, false, ip);
}

/* [ATOM-VMX ATOM-CONTEXT-ROOT] */
void vpt_atom_vm_exit(struct vpt_atom *a, uint64_t ip)
{
	step(a, &a->in_root, true, ip);
}

void vpt_atom_vm_entry(struct vpt_atom *a, uint64_t ip)
{
	step(a, &a->in_root, false, ip);
}
