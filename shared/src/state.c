// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A trace unit as plain data. The position of the output follows from the registers. Loading starts
 * the output as a WRMSR does, with the same checks. The ToPA entry comes from the state, because the
 * unit read it when the cursor reached it.
 */
#include "vpt/state.h"

#include "vpt/vmx_pt.h"

#include "gen_control.h"
#include "output_scheme.h"

static uint32_t flag(bool set, uint32_t bit)
{
	return set ? bit : 0;
}

static uint32_t flags_of(const struct vpt_pt *pt)
{
	const struct vpt_output *out = &pt->out;

	return flag(pt->trigger_en, VPT_STATE_TRIGGER_EN) |
	       flag(pt->context_en, VPT_STATE_CONTEXT_EN) |
	       flag(pt->filter_en, VPT_STATE_FILTER_EN) |
	       flag(pt->last_ip_valid, VPT_STATE_LAST_IP) |
	       flag(out->kind != VPT_OUTPUT_NONE, VPT_STATE_OUTPUT) |
	       flag(out->stopped, VPT_STATE_STOPPED) |
	       flag(out->kind == VPT_OUTPUT_TOPA && !out->stopped && out->int_at != VPTI_INT_NEVER,
		    VPT_STATE_INT_OWED) |
	       flag(pt->vmx.on, VPT_STATE_VMX) | flag(pt->vmx.non_root, VPT_STATE_NON_ROOT) |
	       flag(pt->in_smm, VPT_STATE_SMM) | flag(pt->smm_trace_en, VPT_STATE_SMM_TRACE) |
	       flag(pt->acm_trace_en, VPT_STATE_ACM_TRACE) |
	       flag(pt->options.defer_tips, VPT_STATE_DEFER_TIPS);
}

/* Save the clocks. Without a timing packet or the buffer model they are 0. */
static void save_time(const struct vpt_pt *pt, struct vpt_pt_state *state)
{
	const struct vpt_pt_time *time = &pt->time;
	const struct vpt_pt_buffer *buffer = &pt->buffer;

	state->flags |= flag(time->asleep, VPT_STATE_ASLEEP);
	if (!pt->slow)
		return;
	state->clock_cycles = time->now.cycles;
	state->clock_tsc = time->now.tsc;
	if (time->cyc_en)
		state->cyc_count = time->now.cycles - time->cyc_last;
	if (time->mtc_en)
		state->mtc_missed = time->mtc_last - time->mtc_told;
	if (!pt->options.buffer_bytes)
		return;
	state->buffer_lag = time->now.cycles - buffer->drained;
	state->buffer_fill = buffer->fill;
	state->buffer_credit = buffer->credit;
	/* The state stays lost after the overflow while ContextEn is clear. */
	state->flags |= flag(buffer->state_lost, VPT_STATE_STATE_LOST);
	if (buffer->overflow)
		state->flags |=
			VPT_STATE_OVERFLOW | flag(buffer->timing_lost, VPT_STATE_TIMING_LOST);
}

static void save_options(const struct vpt_pt *pt, struct vpt_pt_state *state)
{
	state->cyc_bits = pt->options.cyc_bits;
	state->buffer_bytes = pt->options.buffer_bytes;
	state->buffer_drain = pt->options.buffer_drain;
}

static void save_registers(const struct vpt_rtit *rtit, struct vpt_pt_state *state)
{
	state->ctl = rtit->ctl;
	state->status = rtit->status;
	state->output_base = rtit->output_base;
	state->output_mask_ptrs = rtit->output_mask_ptrs;
	state->cr3_match = rtit->cr3_match;
	vpt_memcpy(state->addr, rtit->addr, sizeof(state->addr));
}

static void save_output(const struct vpt_output *out, struct vpt_pt_state *state)
{
	if (out->kind == VPT_OUTPUT_NONE)
		return;
	state->error = out->why;
	if (out->kind == VPT_OUTPUT_TOPA && !out->stopped)
		state->topa_entry = out->entry;
	state->unreported = vpt_output_unreported(out);
}

static void save_calls(const struct vpt_retstack *stack, struct vpt_pt_state *state)
{
	uint32_t i;

	state->calls = stack->depth;
	for (i = 0; i < stack->depth; i++)
		state->call[i] = stack->ip[(stack->top - stack->depth + i) % VPT_RETSTACK_SIZE];
}

void vpt_pt_save(struct vpt_pt *pt, struct vpt_pt_state *state)
{
	uint64_t unused;

	vpti_gen_time_reread(pt);
	/* Brings STATUS and the output's cursor up to date, whether STATUS exists or not. */
	(void)!vpt_pt_rdmsr(pt, VPT_MSR_STATUS, &unused);
	vpt_memset(state, 0, sizeof(*state));
	state->version = VPT_PT_STATE_VERSION;
	state->bytes = sizeof(*state);
	state->flags = flags_of(pt);
	save_registers(&pt->rtit, state);
	save_output(&pt->out, state);
	save_calls(&pt->retstack, state);
	state->tnt = pt->dis_tnt ? 1 : pt->gate.tnt;
	state->last_ip = pt->last_ip;
	state->ip_base = pt->ip_base;
	state->ip_mask = pt->ip_mask;
	state->mode_exec = pt->mode_exec;
	state->psb_bytes = pt->psb_bytes;
	state->vmx_controls = pt->vmx.controls;
	state->vmcs = pt->vmx.vmcs;
	if (pt->trigger_en)
		save_time(pt, state);
	save_options(pt, state);
	state->tips = pt->defer.len;
	vpt_memcpy(state->tip, pt->defer.bytes, pt->defer.len);
}

/* Every register holds a value that a host could have written; one that does not
 * exist has the value of reset. */
static bool load_registers(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	const struct {
		uint32_t msr;
		uint64_t value;
	} reg[] = {
		{VPT_MSR_STATUS, state->status},
		{VPT_MSR_OUTPUT_BASE, state->output_base},
		{VPT_MSR_OUTPUT_MASK_PTRS, state->output_mask_ptrs},
		{VPT_MSR_CR3_MATCH, state->cr3_match},
		{VPT_MSR_ADDR0_A, state->addr[0]},
		{VPT_MSR_ADDR0_B, state->addr[1]},
		{VPT_MSR_ADDR1_A, state->addr[2]},
		{VPT_MSR_ADDR1_B, state->addr[3]},
		{VPT_MSR_ADDR2_A, state->addr[4]},
		{VPT_MSR_ADDR2_B, state->addr[5]},
		{VPT_MSR_ADDR3_A, state->addr[6]},
		{VPT_MSR_ADDR3_B, state->addr[7]},
		{VPT_MSR_CTL, state->ctl},
	};
	struct vpt_pt_state stored;
	size_t i;

	vpt_rtit_reset(&pt->rtit);
	for (i = 0; i < sizeof(reg) / sizeof(reg[0]); i++)
		if (vpt_rtit_exists(pt->caps, reg[i].msr) &&
		    vpt_rtit_write(&pt->rtit, pt->caps, reg[i].msr, reg[i].value,
				   VPT_ACCESS_HOST) != VPT_FAULT_NONE)
			return false;
	/* Bits that a write does not take, registers that are not there. */
	save_registers(&pt->rtit, &stored);
	return !__builtin_memcmp(&stored.ctl, &state->ctl,
				 offsetof(struct vpt_pt_state, topa_entry) -
					 offsetof(struct vpt_pt_state, ctl));
}

static bool load_calls(struct vpt_retstack *stack, const struct vpt_pt_state *state)
{
	uint32_t i;

	if (state->calls > VPT_RETSTACK_SIZE)
		return false;
	for (i = state->calls; i < VPT_RETSTACK_SIZE; i++)
		if (state->call[i])
			return false;
	vpt_memcpy(stack->ip, state->call, sizeof(stack->ip));
	stack->top = stack->depth = state->calls;
	return true;
}

static bool load_generator(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	bool trigger = state->flags & VPT_STATE_TRIGGER_EN;
	bool wide = state->ip_mask == ~(uint64_t)0;

	vpti_gen_load_config(pt);
	if (trigger ? !VPT_CTL_GET(state->ctl, TRACE_EN) : state->tnt != 1)
		return false;
	if (!state->tnt || state->tnt >= vpti_gen_tnt_limit(pt))
		return false;
	if (state->mode_exec > 7 && state->mode_exec != VPT_MODE_UNKNOWN)
		return false;
	if (!wide && state->ip_mask != 0xffffffffu && (state->ip_mask || trigger))
		return false;
	if (state->ip_base && (wide || !vpt_caps_has(pt->caps, VPT_CAP_LIP)))
		return false;
	pt->trigger_en = trigger;
	pt->context_en = state->flags & VPT_STATE_CONTEXT_EN;
	pt->filter_en = state->flags & VPT_STATE_FILTER_EN;
	pt->last_ip_valid = state->flags & VPT_STATE_LAST_IP;
	vpti_gen_set_tnt(pt, state->tnt);
	pt->last_ip = state->last_ip;
	pt->ip_base = state->ip_base;
	pt->ip_mask = state->ip_mask;
	pt->mode_exec = state->mode_exec;
	pt->psb_bytes = state->psb_bytes;
	vpti_gen_update(pt);
	return true;
}

static bool load_options(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	if (state->cyc_bits > 0xff)
		return false;
	pt->options.cyc_bits = (uint8_t)state->cyc_bits;
	pt->options.defer_tips = state->flags & VPT_STATE_DEFER_TIPS;
	pt->options.buffer_bytes = state->buffer_bytes;
	pt->options.buffer_drain = state->buffer_drain;
	return vpti_gen_options_ok(&pt->options);
}

static bool buffer_ok(const struct vpt_pt_state *state)
{
	/* After an overflow, lost state waits for ContextEn. */
	uint32_t lost = VPT_STATE_TIMING_LOST |
			(state->flags & VPT_STATE_CONTEXT_EN ? VPT_STATE_STATE_LOST : 0);

	return state->buffer_fill <= state->buffer_bytes && state->buffer_credit < 1024 &&
	       (state->flags & VPT_STATE_OVERFLOW || !(state->flags & lost));
}

/* Of clocks every value is one that there can be, where there are any. */
static bool load_time(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	const uint32_t of_buffer =
		VPT_STATE_OVERFLOW | VPT_STATE_STATE_LOST | VPT_STATE_TIMING_LOST;
	struct vpt_pt_time *time = &pt->time;
	struct vpt_pt_buffer *buffer = &pt->buffer;
	bool slow = pt->trigger_en && pt->slow;

	if (!pt->trigger_en && state->flags & VPT_STATE_ASLEEP)
		return false;
	if (!slow && (state->clock_cycles || state->clock_tsc))
		return false;
	if (!(slow && time->cyc_en) && state->cyc_count)
		return false;
	if (!(slow && time->mtc_en) && state->mtc_missed)
		return false;
	if (!(slow && state->buffer_bytes) && (state->buffer_lag || state->buffer_fill ||
					       state->buffer_credit || state->flags & of_buffer))
		return false;
	if (!buffer_ok(state))
		return false;
	time->asleep = state->flags & VPT_STATE_ASLEEP;
	time->now.cycles = state->clock_cycles;
	time->now.tsc = state->clock_tsc;
	time->cyc_last = state->clock_cycles - state->cyc_count;
	vpti_gen_time_loaded(pt);
	time->mtc_told = time->mtc_last - state->mtc_missed;
	buffer->drained = state->clock_cycles - state->buffer_lag;
	buffer->fill = state->buffer_fill;
	buffer->credit = state->buffer_credit;
	buffer->overflow = state->flags & VPT_STATE_OVERFLOW;
	buffer->state_lost = state->flags & VPT_STATE_STATE_LOST;
	buffer->timing_lost = state->flags & VPT_STATE_TIMING_LOST;
	return true;
}

/* One TIP after the other, each with an IP and whole. */
static bool are_tips(const struct vpt_pt_state *state)
{
	uint32_t at = 0, i;

	if (state->tips > VPT_DEFER_BYTES)
		return false;
	while (at < state->tips) {
		unsigned int payload = vpt_ip_payload((enum vpt_ip_bytes)(state->tip[at] >> 5));

		if ((state->tip[at] & 0x1f) != VPT_OP_TIP || !payload)
			return false;
		at += 1 + payload;
	}
	for (i = state->tips; i < VPT_DEFER_BYTES; i++)
		if (state->tip[i])
			return false;
	return at == state->tips;
}

/* [DEFER-TIP DEFER-CYC] They wait behind outcomes. */
static bool load_tips(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	if (!are_tips(state))
		return false;
	if (state->tips && (pt->gate.tnt == 1 || !pt->options.defer_tips || pt->time.cyc_en))
		return false;
	pt->defer.len = (uint16_t)state->tips;
	vpt_memcpy(pt->defer.bytes, state->tip, state->tips);
	pt->tips_wait = state->tips;
	return true;
}

/* [SMM-RSM] What is given back was taken. [SYS-ACM] An ACM's trace goes on as it stood. */
static bool load_system(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	pt->in_smm = state->flags & VPT_STATE_SMM;
	pt->smm_trace_en = state->flags & VPT_STATE_SMM_TRACE;
	pt->acm_trace_en = state->flags & VPT_STATE_ACM_TRACE;
	return (pt->in_smm || !pt->smm_trace_en) && (!pt->acm_trace_en || pt->ip_mask);
}

/* [VMX-NO-PT] Without PT in VMX operation nothing is traced there, and there are no
 * controls for it. */
static bool load_vmx(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	bool on = state->flags & VPT_STATE_VMX, non_root = state->flags & VPT_STATE_NON_ROOT;
	uint32_t controls = non_root && pt->caps->vmx_pt ? VPT_VMX_CONTROLS : 0;

	if ((non_root && !on) || state->vmx_controls & ~controls)
		return false;
	if (on && !pt->caps->vmx_pt && VPT_CTL_GET(state->ctl, TRACE_EN))
		return false;
	if (state->vmcs != VPT_NO_VMCS && (!on || state->vmcs & ~VPTI_VMCS_POINTER))
		return false;
	pt->vmx.on = on;
	pt->vmx.non_root = non_root;
	pt->vmx.controls = state->vmx_controls;
	pt->vmx.vmcs = state->vmcs;
	return true;
}

/* Returns false if vpt_pt_save() cannot have written these fields, whatever the output is. */
static bool output_ok(const struct vpt_pt_state *state)
{
	const uint32_t only_output = VPT_STATE_STOPPED | VPT_STATE_INT_OWED;
	const uint32_t ended = VPT_STATE_STOPPED | VPT_STATE_INT_OWED | VPT_STATE_TRIGGER_EN;

	if (!(state->flags & VPT_STATE_OUTPUT))
		return !(state->flags & (only_output | VPT_STATE_TRIGGER_EN)) && !state->error &&
		       !state->topa_entry && !state->unreported;
	if (!VPT_CTL_GET(state->ctl, TRACE_EN) || state->error >= VPT_OUT_ERR_COUNT)
		return false;
	if (state->flags & VPT_STATE_STOPPED)
		return (state->flags & ended) == VPT_STATE_STOPPED && !state->topa_entry &&
		       !state->unreported;
	return !state->error;
}

static bool read_saved(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	const uint64_t *entry = (const uint64_t *)opaque;
	uint8_t *to = (uint8_t *)dst;
	size_t i;

	(void)gpa;
	for (i = 0; i < len; i++)
		to[i] = (uint8_t)(*entry >> (8 * i));
	return true;
}

static bool read_nothing(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	(void)opaque;
	(void)gpa;
	(void)dst;
	(void)len;
	return false;
}

/* Start as at a rising TraceEn, with the saved entry in place of the table. */
static unsigned int start(struct vpt_output *out, const struct vpt_rtit *rtit,
			  const struct vpt_pt_state *state)
{
	const struct vpt_mem_ops *mem = out->mem;
	bool stopped = state->flags & VPT_STATE_STOPPED;
	uint64_t entry = state->topa_entry;
	struct vpt_mem_ops saved;
	void *opaque = out->opaque;
	unsigned int events;

	vpt_memset(&saved, 0, sizeof(saved));
	saved.read = stopped ? read_nothing : read_saved;
	/* [TOPA-FETCH] */
	out->mem = &saved;
	out->opaque = &entry;
	events = vpt_output_start(out, rtit);
	out->mem = mem;
	out->opaque = opaque;
	return events;
}

static enum vpt_status load_output(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	struct vpt_output *out = &pt->out;
	bool owed = state->flags & VPT_STATE_INT_OWED;
	unsigned int events;

	if (!(state->flags & VPT_STATE_OUTPUT))
		return VPT_OK;
	events = start(out, &pt->rtit, state);
	if (state->flags & VPT_STATE_STOPPED) {
		out->stopped = true;
		out->why = (enum vpt_output_error)state->error;
		return VPT_OK;
	}
	if (events & VPT_OUT_ERROR)
		return VPT_E_INVAL;
	if (out->kind != VPT_OUTPUT_TOPA && state->topa_entry)
		return VPT_E_INVAL;
	/* It follows from the entry and the offset, but for what is not a state. */
	if (owed != (out->int_at != VPTI_INT_NEVER))
		return VPT_E_INVAL;
	return vpt_output_resume(out, state->unreported);
}

enum vpt_status vpt_pt_load(struct vpt_pt *pt, const struct vpt_pt_state *state)
{
	enum vpt_status status;
	struct vpt_pt now;

	if (state->version != VPT_PT_STATE_VERSION || state->bytes != sizeof(*state) ||
	    state->flags & ~(uint32_t)VPT_STATE_FLAGS)
		return VPT_E_INVAL;
	vpt_pt_init(&now, pt->caps, pt->ops, pt->opaque);
	vpt_output_set_stream(&now.out, pt->out.stage, pt->out.stage_size, pt->out.stream);
	if (!load_registers(&now, state))
		return VPT_E_CAPS;
	if (!output_ok(state) || !load_options(&now, state) || !load_generator(&now, state) ||
	    !load_time(&now, state) || !load_tips(&now, state) ||
	    !load_calls(&now.retstack, state) || !load_system(&now, state) ||
	    !load_vmx(&now, state))
		return VPT_E_INVAL;
	status = load_output(&now, state);
	if (status == VPT_OK)
		*pt = now;
	return status;
}
