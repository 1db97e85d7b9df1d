// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Keep the state that packets set: address space, mode and position. */
#include <string.h>

#include "libdecode/pt_inside.h"
#include "libdecode/pt_time.h"

void dec_pt_desync(struct dec_pt *pt, enum vptd_status status)
{
	dec_pt_end_overflow(pt);
	dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_ERROR,
					    .flags = pt->flow->cur ? VPTD_EV_IP : 0,
					    .ip = pt->flow->ip,
					    .value = status});
	pt->synced = false;
	pt->enabled = false;
	pt->blind = false;
	pt->no_memory = false;
	pt->block_type = 0;
	pt->waits = 0;
	pt->alone.n = 0;
	pt->bound.n = 0;
	pt->mode_told = DEC_PT_UNKNOWN;
	memset(&pt->parser, 0, sizeof(pt->parser));
	dec_flow_stop(pt->flow);
	if (pt->timing)
		dec_timing_forget(pt->timing);
}

enum vptd_status dec_pt_use_outcomes(struct dec_pt *pt)
{
	enum vptd_status status;

	if (!pt->enabled || !pt->flow->nbits)
		return VPTD_OK;
	status = dec_flow_drain(pt->flow);
	/* Every packet but a TIP follows the TIPs of all earlier outcomes (33.4.2.3). */
	return status == VPTD_STUCK ? VPTD_E_NO_TARGET : status;
}

void dec_pt_use_space(struct dec_pt *pt, uint64_t cr3, bool nr, unsigned int flags)
{
	uint64_t key = pt->ops->space ? pt->ops->space(pt->context, cr3, nr, pt->vmcs) : cr3 | nr;

	pt->cr3 = cr3;
	pt->nr = nr;
	pt->blind = key == VPTD_NO_CODE;
	/* The failure is reported after the packet was handled. */
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

/* Let the packets of the branch that is being bound take effect at its target. */
void dec_pt_use_pending(struct dec_pt *pt)
{
	dec_pt_use_vmcs(pt);
	if (pt->waits & W_PIP)
		dec_pt_use_space(pt, pt->pip_cr3, pt->pip_nr, 0);
	if (pt->waits & W_MODE)
		dec_pt_use_mode(pt, pt->mode_exec, 0);
	pt->waits &= ~(uint32_t)(W_PIP | W_MODE);
}

void dec_pt_use_status(struct dec_pt *pt)
{
	if (pt->waits & W_VMCS) {
		pt->vmcs = pt->new_vmcs;
		dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_VMCS,
						    .flags = VPTD_EV_STATUS,
						    .value = pt->vmcs});
	}
	if (pt->waits & W_PIP)
		dec_pt_use_space(pt, pt->pip_cr3, pt->pip_nr, VPTD_EV_STATUS);
	if (pt->waits & W_MODE)
		dec_pt_use_mode(pt, pt->mode_exec, VPTD_EV_STATUS);
	if (pt->waits & W_TSX)
		dec_pt_emit(pt, (struct vptd_event){.kind = VPTD_EVENT_TSX,
						    .flags = VPTD_EV_STATUS,
						    .value = pt->tsx});
}

bool dec_pt_wait_for_iflag(struct dec_pt *pt)
{
	bool mode = changes_mode(pt, pt->mode_exec);

	pt->waits &= ~(uint32_t)W_MODE;
	if (mode)
		dec_pt_alone(pt, mode_event(pt->mode_exec));
	if (changes_iflag(pt, pt->mode_exec))
		dec_pt_alone(pt, iflag_event(pt->mode_exec));
	return mode;
}

void dec_pt_set_mode(struct dec_pt *pt, unsigned int mode_exec)
{
	pt->mode_told = (uint8_t)mode_exec;
	pt->flow->mode = mode_of(mode_exec);
}
