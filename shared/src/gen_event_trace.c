// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Event trace (33.4.2.29, 33.4.2.30): CFE and EVD, and which FUP is whose. */
#include "gen_kinds.h"

bool vpti_gen_event_en(const struct vpt_pt *pt)
{
	return pt->trigger_en && VPT_CTL_GET(pt->rtit.ctl, EVENT_EN);
}

void vpti_gen_cfe(struct vpt_pt *pt, enum vpti_cfe_type type, uint8_t vector, bool ip)
{
	struct vpt_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_PKT_CFE;
	packet.value = (uint64_t)type;
	packet.aux = vector;
	packet.flag = ip;
	vpti_gen_write(pt, &packet);
}

void vpti_gen_cfe_at(struct vpt_pt *pt, enum vpti_cfe_type type, uint8_t vector, uint64_t ip)
{
	vpti_gen_cfe(pt, type, vector, true);
	vpti_gen_ip(pt, VPT_OP_FUP, ip);
}

void vpti_gen_evd(struct vpt_pt *pt, enum vpti_evd_type type, uint64_t payload)
{
	struct vpt_packet packet;

	vpt_memset(&packet, 0, sizeof(packet));
	packet.kind = VPT_PKT_EVD;
	packet.value = payload;
	packet.aux = (uint16_t)type;
	vpti_gen_write(pt, &packet);
}

/* The fields of the CFE of an event, and the IP of its FUP. */
struct cfe {
	enum vpti_cfe_type type;
	uint8_t vector;
	uint64_t ip;
};

static bool cfe_of(const struct vpt_event *event, struct cfe *cfe)
{
	cfe->vector = 0;
	cfe->ip = event->from;
	switch (event->kind) {
	case VPT_EV_AEX: /* [SGX-EVENT] */
		cfe->ip = event->value;
		cfe->type = VPTI_CFE_INTR;
		cfe->vector = event->vector;
		return true;
	case VPT_EV_SOFT_INT:
	case VPT_EV_ASYNC:
		cfe->type = VPTI_CFE_INTR;
		cfe->vector = event->vector;
		return true;
	case VPT_EV_FAR:
		cfe->type = VPTI_CFE_IRET;
		return event->flags & VPT_EVF_IRET;
	case VPT_EV_INIT: /* [SYS-INIT-EVENT] */
		cfe->type = VPTI_CFE_INIT;
		return true;
	case VPT_EV_SHUTDOWN:
		cfe->type = VPTI_CFE_SHUTDOWN;
		return true;
	case VPT_EV_UINTR:
		cfe->type = VPTI_CFE_UINTR;
		cfe->vector = event->vector;
		return true;
	case VPT_EV_UIRET:
		cfe->type = VPTI_CFE_UIRET;
		return true;
	default:
		return false;
	}
}

static bool is_page_fault(const struct vpt_event *event)
{
	return event->kind == VPT_EV_ASYNC && event->flags & VPT_EVF_PAGE_FAULT;
}

void vpti_gen_event_out(struct vpt_pt *pt, const struct vpt_event *event, bool fup)
{
	struct cfe cfe;

	/* [EVT-ENABLE] */
	if (!vpti_gen_event_en(pt) || !pt->context_en || !cfe_of(event, &cfe))
		return;
	if (is_page_fault(event)) /* [EVT-PFA] */
		vpti_gen_evd(pt, VPTI_EVD_PFA, event->value);
	if (fup) /* [EVT-SHARED-FUP] */
		vpti_gen_cfe(pt, cfe.type, cfe.vector, false);
	else /* [EVT-IP] */
		vpti_gen_cfe_at(pt, cfe.type, cfe.vector, cfe.ip);
}

void vpti_gen_event_in(struct vpt_pt *pt, const struct vpt_event *event, bool was_context)
{
	struct cfe cfe;

	/* [EVT-INTO EVT-PFA] */
	if (vpti_gen_event_en(pt) && pt->context_en && !was_context && cfe_of(event, &cfe) &&
	    !is_page_fault(event))
		vpti_gen_cfe(pt, cfe.type, cfe.vector, false);
}

/* [EVT-IF] */
void vpti_gen_intr_flag(struct vpt_pt *pt, const struct vpt_event *event)
{
	struct vpt_context ctx;

	if (!vpti_gen_event_en(pt) || !pt->context_en || !pt->filter_en)
		return;
	pt->ops->context(pt->opaque, &ctx);
	if (vpti_gen_mode_known(pt, &ctx))
		return;
	vpti_gen_mode_exec(pt, &ctx);
	vpti_gen_ip(pt, VPT_OP_FUP, event->from);
}
