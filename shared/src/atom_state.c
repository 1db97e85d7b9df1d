// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Snapshots of the Atom trace unit: its state as plain data. */
#include "atom_gen.h"

static uint32_t flag(bool set, uint32_t bit)
{
	return set ? bit : 0;
}

static uint32_t flags_of(const struct vpt_atom *a)
{
	uint32_t flags = flag(a->in_smm, VPT_ATOM_STATE_SMM) |
			 flag(a->in_root, VPT_ATOM_STATE_ROOT) |
			 flag(a->buffer.stop_held, VPT_ATOM_STATE_STOP_HELD) |
			 flag(a->options.disable_pgd, VPT_ATOM_STATE_DISABLE_PGD) |
			 flag(a->watches && a->ip_mask > VPT_MASK64(31, 0), VPT_ATOM_STATE_WIDE);

	if (!a->trigger_en)
		return flags;
	return flags | flag(a->psb_owed, VPT_ATOM_STATE_PSB_OWED) |
	       flag(a->lose_next, VPT_ATOM_STATE_LOSE_NEXT) |
	       flag(a->time.asleep, VPT_ATOM_STATE_ASLEEP) |
	       flag(a->time.first_mtc, VPT_ATOM_STATE_FIRST_MTC);
}

/* Save the state of a running trace. Values of an ended trace are stale. */
static void save_trace(const struct vpt_atom *a, struct vpt_atom_state *state)
{
	state->lag = a->lag;
	state->clock_cycles = a->time.now.cycles;
	state->clock_tsc = a->time.now.tsc;
	state->mtc_last = a->time.mtc_last;
	if (!a->options.buffer_bytes)
		return;
	state->drained = a->buffer.drained;
	state->fill = a->buffer.fill;
	state->credit = a->buffer.credit;
}

void vpt_atom_save(struct vpt_atom *a, struct vpt_atom_state *state)
{
	vpt_memset(state, 0, sizeof(*state));
	state->version = VPT_ATOM_STATE_VERSION;
	state->bytes = sizeof(*state);
	state->regs = a->regs;
	state->flags = flags_of(a);
	state->buffer_bytes = a->options.buffer_bytes;
	state->buffer_drain = a->options.buffer_drain;
	state->errata = a->options.errata;
	state->clear_lag = a->options.clear_lag;
	if (a->watches)
		state->ip_base = a->ip_base;
	if (a->trigger_en)
		save_trace(a, state);
}

/* Load the registers. Returns false for a value that neither a WRMSR nor the unit can write. */
static bool load_registers(struct vpt_atom *a, const struct vpt_atom_state *state)
{
	static const uint32_t status =
		(uint32_t)(VPT_ATOM_MASK(STATUS, CONTEXT_EN) | VPT_ATOM_MASK(STATUS, TRIGGER_EN));
	const struct vpt_atom_regs *from = &state->regs;
	const struct {
		uint32_t msr;
		uint64_t value;
	} reg[] = {
		{VPT_ATOM_MSR_LIP0, from->lip[0]},
		{VPT_ATOM_MSR_LIP1, from->lip[1]},
		{VPT_ATOM_MSR_LIP2, from->lip[2]},
		{VPT_ATOM_MSR_LIP3, from->lip[3]},
		{VPT_ATOM_MSR_CTL, from->ctl},
		{VPT_ATOM_MSR_STATUS, from->status & ~status},
		{VPT_ATOM_MSR_CNTP, from->cntp},
		{VPT_ATOM_MSR_EVENTS, from->events},
		{VPT_ATOM_MSR_LAST_LIP, from->last_lip},
		{VPT_ATOM_MSR_LAST_CALL_NLIP, from->last_call_nlip},
		{VPT_ATOM_MSR_BASE_ADDR, from->base_addr},
		{VPT_ATOM_MSR_LIMIT_MASK, from->limit_mask},
		{VPT_ATOM_MSR_OFFSET, from->offset},
		{VPT_ATOM_MSR_CR3_MATCH, from->cr3_match},
		{VPT_ATOM_MSR_PKT_CNT, from->pkt_cnt},
		{VPT_ATOM_MSR_TNT_BUFF, from->tnt_buff},
	};
	size_t i;

	if (from->unlocked > 1)
		return false;
	a->regs.unlocked = 1;
	for (i = 0; i < sizeof(reg) / sizeof(reg[0]); i++)
		if (vpt_atom_regs_write(&a->regs, reg[i].msr, reg[i].value) != VPT_FAULT_NONE)
			return false;
	a->regs.unlocked = from->unlocked;
	a->regs.status |= from->status & status;
	/* A write ignores reserved bits. */
	return !__builtin_memcmp(&a->regs, from, sizeof(*from));
}

static bool load_options(struct vpt_atom *a, const struct vpt_atom_state *state)
{
	a->options.errata = state->errata;
	a->options.clear_lag = state->clear_lag;
	a->options.disable_pgd = state->flags & VPT_ATOM_STATE_DISABLE_PGD;
	a->options.buffer_bytes = state->buffer_bytes;
	a->options.buffer_drain = state->buffer_drain;
	return vpti_atom_options_ok(&a->options);
}

static bool load_enables(struct vpt_atom *a, const struct vpt_atom_state *state)
{
	const uint32_t trigger =
		(uint32_t)(VPT_ATOM_MASK(CTL, TRACE_EN) | VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	const uint32_t of_trace = VPT_ATOM_STATE_PSB_OWED | VPT_ATOM_STATE_LOSE_NEXT |
				  VPT_ATOM_STATE_ASLEEP | VPT_ATOM_STATE_FIRST_MTC;
	const bool wide = state->flags & VPT_ATOM_STATE_WIDE;
	const bool watches = VPT_ATOM_GET(CTL, TRACE_EN, state->regs.ctl);

	a->trigger_en = VPT_ATOM_GET(STATUS, TRIGGER_EN, state->regs.status);
	a->context_en = VPT_ATOM_GET(STATUS, CONTEXT_EN, state->regs.status);
	a->filter_en = VPT_ATOM_GET(STATUS, FILTER_EN, state->regs.status);
	a->in_smm = state->flags & VPT_ATOM_STATE_SMM;
	a->in_root = state->flags & VPT_ATOM_STATE_ROOT;
	a->ip_base = state->ip_base;
	a->ip_mask = wide ? VPT_MASK64(47, 0) : VPT_MASK64(31, 0);
	if (a->trigger_en != ((state->regs.ctl & trigger) == trigger))
		return false;
	if (!watches && (a->context_en || wide || state->ip_base))
		return false;
	if ((a->in_smm || a->in_root) && a->context_en)
		return false;
	return !(wide && state->ip_base) && (a->trigger_en || !(state->flags & of_trace));
}

/* Load the state of a running trace. Every value of a clock is valid. */
static bool load_trace(struct vpt_atom *a, const struct vpt_atom_state *state)
{
	const bool buffered = a->trigger_en && a->options.buffer_bytes;

	if (!a->trigger_en && (state->clock_cycles || state->clock_tsc || state->mtc_last))
		return false;
	if (!buffered && (state->drained || state->fill || state->credit))
		return false;
	if (state->fill > state->buffer_bytes || state->credit >= 1024 ||
	    state->lag > state->clear_lag || (!a->trigger_en && state->lag) || state->reserved)
		return false;
	a->lag = state->lag;
	a->psb_owed = state->flags & VPT_ATOM_STATE_PSB_OWED;
	a->lose_next = state->flags & VPT_ATOM_STATE_LOSE_NEXT;
	a->time.now.cycles = state->clock_cycles;
	a->time.now.tsc = state->clock_tsc;
	a->time.mtc_last = state->mtc_last;
	a->time.asleep = state->flags & VPT_ATOM_STATE_ASLEEP;
	a->time.first_mtc = state->flags & VPT_ATOM_STATE_FIRST_MTC;
	a->buffer.drained = state->drained;
	a->buffer.fill = state->fill;
	a->buffer.credit = state->credit;
	a->buffer.stop_held = state->flags & VPT_ATOM_STATE_STOP_HELD;
	return !a->buffer.stop_held || vpti_atom_overflow(a);
}

enum vpt_status vpt_atom_load(struct vpt_atom *a, const struct vpt_atom_state *state)
{
	struct vpt_atom now;

	if (state->version != VPT_ATOM_STATE_VERSION || state->bytes != sizeof(*state) ||
	    state->flags & ~(uint32_t)VPT_ATOM_STATE_FLAGS)
		return VPT_E_INVAL;
	vpt_atom_init(&now, a->ops, a->opaque);
	vpt_output_set_stream(&now.out, a->out.stage, a->out.stage_size, a->out.stream);
	if (!load_registers(&now, state) || !load_options(&now, state) ||
	    !load_enables(&now, state) || !load_trace(&now, state))
		return VPT_E_INVAL;
	/* Counting does not start here, so vpti_atom_update() must see no change. */
	now.time.counting = vpti_atom_counts(&now);
	vpti_atom_update(&now);
	if (now.trigger_en)
		vpti_atom_out_start(&now);
	*a = now;
	return VPT_OK;
}
