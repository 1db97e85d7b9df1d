// SPDX-License-Identifier: GPL-2.0-or-later
/* Scenarios of PT: packets as text, CTL, and steps that start and stop a trace. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <string.h>

#include "vpt/packet.h"

void wrmsr(struct machine *m, uint32_t msr, uint64_t value)
{
	ck_assert_msg(vpt_pt_wrmsr(&m->pt, msr, value, VPT_ACCESS_GUEST, m->ip, m->ip + INSN) ==
			      VPT_FAULT_NONE,
		      "#GP on WRMSR %x := %llx", msr, (unsigned long long)value);
}

static size_t produced(struct machine *m)
{
	uint64_t ptrs = 0;

	if (m->transport) {
		vpt_output_flush(&m->pt.out);
		return m->carried;
	}
	ck_assert(vpt_pt_rdmsr(&m->pt, VPT_MSR_OUTPUT_MASK_PTRS, &ptrs) == VPT_FAULT_NONE);
	return ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;
}

/* The IP bit of a CFE means that a FUP follows. */
static void say_cfe(struct machine *m, const struct vpt_packet *packet)
{
	static const char *const types[] = {
		[1] = "INTR",	     [2] = "IRET",	[3] = "SMI",	 [4] = "RSM",
		[5] = "SIPI",	     [6] = "INIT",	[7] = "VMENTRY", [8] = "VMEXIT",
		[9] = "VMEXIT_INTR", [10] = "SHUTDOWN", [12] = "UINTR",	 [13] = "UIRET",
	};

	ck_assert_uint_lt(packet->value, sizeof(types) / sizeof(types[0]));
	ck_assert_ptr_nonnull(types[packet->value]);
	if (packet->aux)
		say(m, "CFE.%s(%x%s)", types[packet->value], packet->aux,
		    packet->flag ? ",IP" : "");
	else
		say(m, "CFE.%s(%s)", types[packet->value], packet->flag ? "IP" : "");
}

static void say_packet(struct machine *m, const struct vpt_packet *packet, uint64_t *last_ip)
{
	const char *name = vpt_pkt_name(packet->kind);

	switch (packet->kind) {
	case VPT_PKT_TNT_8:
		say_outcomes(m, "TNT", packet->value, packet->bits);
		break;
	case VPT_PKT_TNT_64:
		say_outcomes(m, "TNT64", packet->value, packet->bits);
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		if (vpt_ip_expand(*last_ip, packet->ip_bytes, packet->value, last_ip) == VPT_OK)
			say(m, "%s(%llx)", name, (unsigned long long)*last_ip);
		else
			say(m, "%s()", name);
		break;
	case VPT_PKT_PSB:
		*last_ip = 0;
		say(m, "%s", name);
		break;
	case VPT_PKT_PSBEND:
	case VPT_PKT_OVF:
	case VPT_PKT_TRACE_STOP:
		say(m, "%s", name);
		break;
	case VPT_PKT_PIP:
		say(m, "%s(%llx%s)", name, (unsigned long long)packet->value,
		    packet->flag ? ",NR" : "");
		break;
	case VPT_PKT_CFE:
		say_cfe(m, packet);
		break;
	case VPT_PKT_EVD:
		ck_assert_uint_le(packet->aux, 2);
		say(m, "EVD.%s(%llx)",
		    packet->aux == 0   ? "PFA"
		    : packet->aux == 1 ? "VMXQ"
				       : "VMXR",
		    (unsigned long long)packet->value);
		break;
	case VPT_PKT_TMA:
		say(m, "%s(%llx,%x)", name, (unsigned long long)packet->value, packet->aux);
		break;
	case VPT_PKT_CYC:
		say(m, "%s(%llu)", name, (unsigned long long)packet->value);
		break;
	case VPT_PKT_PTW:
		say(m, "%s%u(%llx%s)", name, packet->bits / 8, (unsigned long long)packet->value,
		    packet->flag ? ",IP" : "");
		break;
	case VPT_PKT_EXSTOP:
	case VPT_PKT_BEP:
		say(m, "%s(%s)", name, packet->flag ? "IP" : "");
		break;
	case VPT_PKT_MWAIT:
		say(m, "%s(%llx,%x)", name, (unsigned long long)packet->value, packet->aux);
		break;
	case VPT_PKT_PWRE:
		say(m, "%s(%llx%s)", name, (unsigned long long)packet->value,
		    packet->flag ? ",HW" : "");
		break;
	case VPT_PKT_PWRX:
		say(m, "%s(%llx,%x)", name, (unsigned long long)packet->value, packet->aux);
		break;
	case VPT_PKT_BBP:
		say(m, "%s(%llx,%d)", name, (unsigned long long)packet->value,
		    packet->flag ? 4 : 8);
		break;
	case VPT_PKT_BIP:
		say(m, "%s(%x:%llx)", name, packet->aux, (unsigned long long)packet->value);
		break;
	default:
		say(m, "%s(%llx)", name, (unsigned long long)packet->value);
		break;
	}
}

/* Hidden packets still move the last IP. */
static void pt_show(struct machine *m)
{
	const uint8_t *bytes = m->ram + REGION + (m->guest_shown ? EPT : 0);
	size_t end = produced(m), at = 0;
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	uint64_t last_ip = 0;

	while (at < end) {
		size_t mark = strlen(m->text);

		ck_assert_int_eq(vpt_packet_read(&parser, bytes + at, end - at, &packet), VPT_OK);
		say_packet(m, &packet, &last_ip);
		if (at < m->shown)
			m->text[mark] = '\0';
		at += packet.size;
	}
	m->shown = end;
}

uint64_t ctl_bits(const char *bits)
{
	static const struct bit_name words[] = {
		{"os", VPT_CTL_MASK(OS)},
		{"user", VPT_CTL_MASK(USER)},
		{"br", VPT_CTL_MASK(BRANCH_EN)},
		{"tsc", VPT_CTL_MASK(TSC_EN)},
		{"noretc", VPT_CTL_MASK(DIS_RETC)},
		{"notnt", VPT_CTL_MASK(DIS_TNT)},
		{"cr3", VPT_CTL_MASK(CR3_FILTER)},
		{"topa", VPT_CTL_MASK(TOPA)},
		{"fabric", VPT_CTL_MASK(FABRIC_EN)},
		{"inject", VPT_CTL_MASK(INJECT_PSB_PMI)},
		{"event", VPT_CTL_MASK(EVENT_EN)},
		{"mtc", VPT_CTL_MASK(MTC_EN)},
		{"mtc3", VPT_CTL_MASK(MTC_EN) | 3ull << VPT_CTL_MTC_FREQ_SHIFT},
		{"mtc6", VPT_CTL_MASK(MTC_EN) | 6ull << VPT_CTL_MTC_FREQ_SHIFT},
		{"mtc9", VPT_CTL_MASK(MTC_EN) | 9ull << VPT_CTL_MTC_FREQ_SHIFT},
		{"cyc", VPT_CTL_MASK(CYC_EN)},
		{"cyc16", VPT_CTL_MASK(CYC_EN) | 5ull << VPT_CTL_CYC_THRESH_SHIFT},
		{"cyc32", VPT_CTL_MASK(CYC_EN) | 6ull << VPT_CTL_CYC_THRESH_SHIFT},
		{"cyc64", VPT_CTL_MASK(CYC_EN) | 7ull << VPT_CTL_CYC_THRESH_SHIFT},
		{"ptw", VPT_CTL_MASK(PTW_EN)},
		{"fup", VPT_CTL_MASK(FUP_ON_PTW)},
		{"pwr", VPT_CTL_MASK(PWR_EVT_EN)},
		{"f0", 1ull << VPT_CTL_ADDR0_CFG_SHIFT},
		{"f1", 1ull << VPT_CTL_ADDR1_CFG_SHIFT},
		{"s0", 2ull << VPT_CTL_ADDR0_CFG_SHIFT},
		{"s1", 2ull << VPT_CTL_ADDR1_CFG_SHIFT},
	};

	return VPT_CTL_MASK(TRACE_EN) | named_bits(words, sizeof(words) / sizeof(words[0]), bits);
}

static void set_output(struct machine *m, bool topa)
{
	wrmsr(m, VPT_MSR_OUTPUT_BASE, topa ? TABLE : REGION);
	wrmsr(m, VPT_MSR_OUTPUT_MASK_PTRS, topa ? 0 : 0xffff);
}

static void enable(struct machine *m, const char *bits)
{
	uint64_t ctl = ctl_bits(bits);
	bool visible = strchr(bits, '!');

	if (ctl & VPT_CTL_MASK(TOPA)) {
		uint64_t table[2] = {REGION | 4 << 6, TABLE | 1};

		memcpy(m->ram + TABLE, table, sizeof(table));
	}
	/*
	 * A later `on` continues at the current output position; the first starts at the beginning.
	 */
	if (!m->pt.rtit.output_base)
		set_output(m, ctl & VPT_CTL_MASK(TOPA));
	if (m->status)
		wrmsr(m, VPT_MSR_STATUS, m->status);
	if (visible) {
		m->shown = produced(m);
		m->text[0] = '\0';
	}
	wrmsr(m, VPT_MSR_CTL, ctl);
	m->ip += INSN;
	if (!visible)
		m->shown = produced(m);
}

static void set_range(struct machine *m, const char *text)
{
	uint32_t msr = VPT_MSR_ADDR0_A + 2 * (uint32_t)(text[0] - '0');

	wrmsr(m, msr, hex(text + 2));
	wrmsr(m, msr + 1, hex(strchr(text, '-') + 1));
}

static bool step_set(struct machine *m, const char *word)
{
	if (is(word, "match="))
		wrmsr(m, VPT_MSR_CR3_MATCH, hex(word + 6));
	else if (is(word, "range"))
		set_range(m, word + 5);
	else if (is(word, "setstatus="))
		m->status |= hex(word + 10);
	else if (is(word, "cnt="))
		m->status |= hex(word + 4) << VPT_STATUS_PACKET_BYTE_CNT_SHIFT;
	else
		return false;
	return true;
}

static void show_register(struct machine *m, const char *name, uint32_t msr, uint64_t mask)
{
	uint64_t value = 0;

	show(m);
	ck_assert(vpt_pt_rdmsr(&m->pt, msr, &value) == VPT_FAULT_NONE);
	say(m, "[%s %llx]", name, (unsigned long long)(value & mask));
}

static bool resume(struct machine *m, const char *word)
{
	bool lbr = is(word, "rsmlbr>");
	uint64_t to;

	if (!lbr && !is(word, "resume>"))
		return false;
	to = hex(strchr(word, '>') + 1);
	if (vpt_pt_rsm(&m->pt, to, lbr)) {
		m->ip = to;
	} else {
		show(m);
		say(m, "[shutdown]");
	}
	return true;
}

static bool step_plain(struct machine *m, const char *word)
{
	if (is(word, "on:"))
		enable(m, word + 3);
	else if (!strcmp(word, "pae"))
		m->ctx.pae = true;
	else if (!strcmp(word, "ovf"))
		branch(m, VPT_EV_OVERFLOW, 0, m->ip);
	else if (!strcmp(word, "timing"))
		vpt_pt_timing(&m->pt);
	else if (!strcmp(word, "off") || !strcmp(word, "same")) {
		wrmsr(m, VPT_MSR_CTL,
		      m->pt.rtit.ctl & (*word == 'o' ? ~VPT_CTL_MASK(TRACE_EN) : ~0ull));
		m->ip += INSN;
	} else if (!strcmp(word, "status"))
		show_register(m, "status", VPT_MSR_STATUS, 0xff);
	else if (!strcmp(word, "ctl"))
		show_register(m, "ctl", VPT_MSR_CTL, ~0ull);
	else if (!strcmp(word, "output"))
		set_output(m, false);
	else if (!strcmp(word, "enclave"))
		m->ctx.production_enclave = true;
	else if (!strcmp(word, "noenclave"))
		m->ctx.production_enclave = false;
	else if (!strcmp(word, "smi"))
		vpt_pt_smi(&m->pt, m->ip);
	else if (!strcmp(word, "senter"))
		vpt_pt_senter(&m->pt);
	else if (!strcmp(word, "acm"))
		vpt_pt_acm_begin(&m->pt);
	else if (!strcmp(word, "endacm"))
		vpt_pt_acm_end(&m->pt, m->ip);
	else
		return false;
	return true;
}

static bool pt_step(struct machine *m, const char *word)
{
	return step_plain(m, word) || step_set(m, word) || resume(m, word) ||
	       scenario_step_software(m, word) || scenario_step_buffer(m, word) ||
	       scenario_step_xsave(m, word) || scenario_step_vmx(m, word);
}

static bool pt_reset(struct machine *m, const char *model)
{
	const struct vpt_caps *caps = vpt_caps_model(model);

	if (!caps)
		return false;
	m->vmcs = VPT_NO_VMCS;
	m->reason = 0xa;
	m->qualification = 0x77;
	m->ctx.cbr = caps->max_nonturbo;
	m->caps = *caps;
	vpt_pt_init(&m->pt, &m->caps, &scenario_ops, m);
	return true;
}

/* Report a near branch as engines with quick paths do. Returns false if the event is due. */
static bool quick_event(struct vpt_pt *pt, const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_COND:
		return vpt_pt_quick_cond(pt, event->flags & VPT_EVF_TAKEN);
	case VPT_EV_JMP:
		return vpt_pt_quick_jmp(pt);
	case VPT_EV_CALL:
		return event->to != event->next && vpt_pt_quick_call(pt, event->next);
	case VPT_EV_JMP_INDIRECT:
		return vpt_pt_quick_jmp_indirect(pt, event->to);
	case VPT_EV_CALL_INDIRECT:
		return vpt_pt_quick_call_indirect(pt, event->to, event->next);
	case VPT_EV_RET:
		return vpt_pt_quick_ret(pt, event->to) || vpt_pt_quick_ret_tip(pt, event->to);
	default:
		return false;
	}
}

static void pt_event(struct machine *m, const struct vpt_event *event)
{
	if (m->quick && quick_event(&m->pt, event))
		return;
	if (event->kind == VPT_EV_COND && !m->quick)
		vpt_pt_cond(&m->pt, event->from, event->to, event->flags & VPT_EVF_TAKEN);
	else
		vpt_pt_event(&m->pt, event);
}

static void pt_insn(struct machine *m)
{
	(void)m;
}

static void pt_tick(struct machine *m)
{
	vpt_pt_tick(&m->pt, m->ip);
}

static void pt_flush(struct machine *m)
{
	vpt_pt_flush(&m->pt);
}

const struct scenario_unit scenario_pt = {
	.reset = pt_reset,
	.event = pt_event,
	.insn = pt_insn,
	.tick = pt_tick,
	.flush = pt_flush,
	.step = pt_step,
	.show = pt_show,
};
