// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/scenario_machine.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/packet.h"

static bool touchable(const struct machine *m, uint64_t gpa, size_t len)
{
	if (gpa > RAM_SIZE || len > RAM_SIZE - gpa)
		return false;
	return gpa + len <= m->refused || gpa >= m->refused_end;
}

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	const struct machine *m = opaque;

	if (!touchable(m, gpa, len))
		return false;
	memcpy(dst, m->ram + gpa, len);
	return true;
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct machine *m = opaque;

	if (!touchable(m, gpa, len))
		return false;
	memcpy(m->ram + gpa, src, len);
	return true;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((const struct machine *)opaque)->ctx;
}

static void tell_time(void *opaque, struct vpt_clock *now)
{
	scenario_clock(opaque, now);
}

static void count_pmi(void *opaque)
{
	((struct machine *)opaque)->pmis++;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
	.clock = tell_time,
	.pmi = count_pmi,
};

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

void say(struct machine *m, const char *fmt, ...)
{
	size_t len = strlen(m->text);
	va_list ap;

	if (len && len < sizeof(m->text) - 1)
		m->text[len++] = ' ';
	va_start(ap, fmt);
	vsnprintf(m->text + len, sizeof(m->text) - len, fmt, ap);
	va_end(ap);
}

static void say_tnt(struct machine *m, const struct vpt_packet *packet)
{
	char bits[VPT_TNT64_MAX + 1];
	unsigned int i;

	for (i = 0; i < packet->bits; i++)
		bits[i] = packet->value >> (packet->bits - 1 - i) & 1 ? '1' : '0';
	bits[i] = '\0';
	say(m, "TNT%s(%s)", packet->kind == VPT_PKT_TNT_64 ? "64" : "", bits);
}

/* An event's IP bit stands for the FUP that follows. */
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
	case VPT_PKT_TNT_64:
		say_tnt(m, packet);
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

/* Show what came since the last time. Hidden packets still move the last IP. */
void show(struct machine *m)
{
	const uint8_t *bytes = m->ram + REGION;
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

static uint64_t ctl_bit(const char *name, size_t len)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} words[] = {
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
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].name) == len && !strncmp(words[i].name, name, len))
			return words[i].bits;
	ck_abort_msg("no CTL bit %.*s", (int)len, name);
	return 0;
}

static uint64_t ctl_bits(const char *bits)
{
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN);

	while (*bits && *bits != '!') {
		size_t len = strcspn(bits, ",!");

		ctl |= ctl_bit(bits, len);
		bits += len;
		if (*bits == ',')
			bits++;
	}
	return ctl;
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
	/* Where an earlier `on` left off; the first one starts at the top. */
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

void branch(struct machine *m, enum vpt_event_kind kind, unsigned int flags, uint64_t to)
{
	struct vpt_event event = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.from = m->ip,
		.to = to,
		.next = m->ip + INSN,
	};

	if (kind == VPT_EV_COND)
		vpt_pt_cond(&m->pt, m->ip, to, flags & VPT_EVF_TAKEN);
	else
		vpt_pt_event(&m->pt, &event);
	if (kind == VPT_EV_CALL || kind == VPT_EV_CALL_INDIRECT) {
		ck_assert_uint_lt(m->ra_count, RA_MAX);
		m->ra[m->ra_count++] = event.next;
	}
	m->ip = to;
}

uint64_t hex(const char *text)
{
	return strtoull(text, NULL, 16);
}

static uint64_t ret_target(struct machine *m, const char *text)
{
	if (!strcmp(text, "ra0"))
		return m->ra[0];
	if (!strcmp(text, "ra")) {
		ck_assert_uint_gt(m->ra_count, 0);
		return m->ra[--m->ra_count];
	}
	return hex(text);
}

/* Steps "WORD>N": where the instruction goes. */
static bool step_to(struct machine *m, const char *word, const char *to)
{
	static const struct {
		const char *word;
		enum vpt_event_kind kind;
		unsigned int flags;
	} kinds[] = {
		{"jmp", VPT_EV_JMP, 0},		 {"jmpi", VPT_EV_JMP_INDIRECT, 0},
		{"call", VPT_EV_CALL, 0},	 {"calli", VPT_EV_CALL_INDIRECT, 0},
		{"far", VPT_EV_FAR, 0},		 {"farcr3", VPT_EV_FAR, VPT_EVF_CR3},
		{"int", VPT_EV_SOFT_INT, 0},	 {"async@cur", VPT_EV_ASYNC, 0},
		{"async@next", VPT_EV_ASYNC, 0}, {"asynccr3@next", VPT_EV_ASYNC, VPT_EVF_CR3},
	};
	size_t len = (size_t)(to - word), i;

	to++;
	if (len == 3 && !strncmp(word, "ret", len)) {
		branch(m, VPT_EV_RET, 0, ret_target(m, to));
		return true;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].word) != len || strncmp(kinds[i].word, word, len))
			continue;
		branch(m, kinds[i].kind, kinds[i].flags, hex(to));
		return true;
	}
	return false;
}

/* Steps "WORD=N": state. */
static bool step_set(struct machine *m, const char *word, const char *value)
{
	uint64_t n = hex(++value);

	if (!strncmp(word, "cpl=", 4)) {
		m->ctx.cpl = (uint8_t)n;
	} else if (!strncmp(word, "cr3=", 4)) {
		m->ctx.cr3 = n;
	} else if (!strncmp(word, "bits=", 5)) {
		m->ctx.cs_l = n == 0x64;
		m->ctx.cs_d = n == 0x32;
	} else if (!strncmp(word, "match=", 6)) {
		wrmsr(m, VPT_MSR_CR3_MATCH, n);
	} else if (!strncmp(word, "range", 5)) {
		uint32_t msr = VPT_MSR_ADDR0_A + 2 * (uint32_t)(word[5] - '0');

		wrmsr(m, msr, n);
		wrmsr(m, msr + 1, hex(strchr(value, '-') + 1));
	} else if (!strncmp(word, "setstatus=", 10)) {
		m->status |= n;
	} else if (!strncmp(word, "cnt=", 4)) {
		m->status |= n << VPT_STATUS_PACKET_BYTE_CNT_SHIFT;
	} else if (!strncmp(word, "movcr3=", 7)) {
		m->ctx.cr3 = n;
		branch(m, VPT_EV_CR3, 0, m->ip + INSN);
	} else if (!strncmp(word, "vmptrld=", 8)) {
		vpt_pt_vmptrld(&m->pt, m->vmcs = n);
		m->ip += INSN;
	} else if (!strncmp(word, "reason=", 7)) {
		m->reason = n;
	} else if (!strncmp(word, "qual=", 5)) {
		m->qualification = n;
	} else {
		return false;
	}
	return true;
}

static void show_register(struct machine *m, const char *name, uint32_t msr, uint64_t mask)
{
	uint64_t value = 0;

	show(m);
	ck_assert(vpt_pt_rdmsr(&m->pt, msr, &value) == VPT_FAULT_NONE);
	say(m, "[%s %llx]", name, (unsigned long long)(value & mask));
}

/* VMX operation. */

static uint64_t read_status(struct machine *m)
{
	uint64_t value = 0;

	ck_assert(vpt_pt_rdmsr(&m->pt, VPT_MSR_STATUS, &value) == VPT_FAULT_NONE);
	return value;
}

/* Until the trace begins, with the transition's end, STATUS is software's. */
static void run_area(struct machine *m, struct area *area)
{
	bool sets = area->ctl & ~m->pt.rtit.ctl & VPT_CTL_MASK(TRACE_EN);
	uint64_t status;

	if (!area->used)
		return;
	area->used = false;
	if (sets && m->status)
		wrmsr(m, VPT_MSR_STATUS, m->status);
	status = read_status(m);
	wrmsr(m, VPT_MSR_CTL, area->ctl);
	if (sets)
		ck_assert_uint_eq(read_status(m), status);
}

static struct vpt_vmx_transition transition(const struct machine *m, uint32_t flags)
{
	return (struct vpt_vmx_transition){
		.flags = flags,
		.controls = m->controls,
		.vmcs = m->vmcs,
		.ip = m->ip,
		.next = m->ip + INSN,
		.guest_ctl = m->guest_ctl,
		.reason = (uint32_t)m->reason,
		.qualification = m->qualification,
		.vector = flags & VPT_VMXF_INTR ? 0xe : 0,
	};
}

static void enter(struct machine *m, uint32_t flags, uint64_t to)
{
	struct vpt_vmx_transition entry = transition(m, flags);

	vpt_pt_vm_entry(&m->pt, &entry);
	run_area(m, &m->entry_load);
	vpt_pt_vm_entered(&m->pt, to);
	m->ip = to;
}

static void leave(struct machine *m, uint32_t flags, uint64_t to)
{
	struct vpt_vmx_transition exit = transition(m, flags);

	if (flags & VPT_VMXF_SMM)
		exit.vmcs = SMM_VMCS;
	/* An entry that fails late was one up to here. */
	if (flags & VPT_VMXF_ENTRY_FAIL) {
		struct vpt_vmx_transition entry = transition(m, 0);

		vpt_pt_vm_entry(&m->pt, &entry);
		run_area(m, &m->entry_load);
	}
	ck_assert_uint_eq(vpt_pt_vm_exit(&m->pt, &exit), m->pt.rtit.ctl);
	vpt_pt_vm_exit_host(&m->pt);
	run_area(m, &m->exit_load);
	vpt_pt_vm_exited(&m->pt, to);
	m->ip = to;
}

static void shut_down(struct machine *m)
{
	struct vpt_vmx_transition exit = transition(m, 0);

	vpt_pt_vm_exit(&m->pt, &exit);
	vpt_pt_vm_exit_host(&m->pt);
	run_area(m, &m->exit_load);
	vpt_pt_vmx_abort(&m->pt);
}

/* Steps "WORD>N" of VMX operation. */
static bool step_transition(struct machine *m, const char *word, const char *to)
{
	static const struct {
		const char *word;
		void (*go)(struct machine *m, uint32_t flags, uint64_t to);
		uint32_t flags;
	} ways[] = {
		{"enter", enter, 0},
		{"rsm", enter, VPT_VMXF_SMM},
		{"rsmroot", enter, VPT_VMXF_SMM | VPT_VMXF_TO_ROOT},
		{"exit", leave, 0},
		{"exitint", leave, VPT_VMXF_INTR},
		{"late", leave, VPT_VMXF_ENTRY_FAIL},
		{"smi", leave, VPT_VMXF_SMM | VPT_VMXF_SMI | VPT_VMXF_INTR},
		{"smcall", leave, VPT_VMXF_SMM},
	};
	size_t len = (size_t)(to - word), i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strlen(ways[i].word) != len || strncmp(ways[i].word, word, len))
			continue;
		ways[i].go(m, ways[i].flags, hex(to + 1));
		return true;
	}
	return false;
}

static uint32_t control_bits(const char *bits)
{
	static const struct {
		const char *name;
		uint32_t control;
	} words[] = {
		{"exec", VPT_VMX_EXEC_CONCEAL},	   {"exit", VPT_VMX_EXIT_CONCEAL},
		{"entry", VPT_VMX_ENTRY_CONCEAL},  {"load", VPT_VMX_ENTRY_LOAD_CTL},
		{"clear", VPT_VMX_EXIT_CLEAR_CTL},
	};
	uint32_t controls = 0;

	while (*bits) {
		size_t len = strcspn(bits, ","), i;

		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].name) == len && !strncmp(words[i].name, bits, len))
				break;
		ck_assert_msg(i < sizeof(words) / sizeof(words[0]), "no control %s", bits);
		controls |= words[i].control;
		bits += len;
		if (*bits)
			bits++;
	}
	return controls;
}

/* Steps "WORD:BITS". */
static bool step_bits(struct machine *m, const char *word, const char *bits)
{
	uint64_t ctl;

	bits++;
	if (!strncmp(word, "on:", 3)) {
		enable(m, bits);
		return true;
	}
	if (!strncmp(word, "controls:", 9)) {
		m->controls = control_bits(bits);
		return true;
	}
	ctl = strcmp(bits, "off") ? ctl_bits(bits) : 0;
	if (!strncmp(word, "field:", 6))
		m->guest_ctl = ctl;
	else if (!strncmp(word, "entryload:", 10))
		m->entry_load = (struct area){true, ctl};
	else if (!strncmp(word, "exitload:", 9))
		m->exit_load = (struct area){true, ctl};
	else
		return false;
	return true;
}

static bool step_vmx(struct machine *m, const char *word)
{
	if (!strcmp(word, "vmxon")) {
		m->vmcs = VPT_NO_VMCS;
		vpt_pt_vmxon(&m->pt, m->ip + INSN);
	} else if (!strcmp(word, "vmxoff")) {
		vpt_pt_vmxoff(&m->pt);
	} else if (!strcmp(word, "vmclear")) {
		m->vmcs = VPT_NO_VMCS;
		vpt_pt_vmptrld(&m->pt, m->vmcs);
	} else if (!strcmp(word, "early")) {
		vpt_pt_vm_entry_failed(&m->pt, m->ip + INSN);
	} else if (!strcmp(word, "abort")) {
		shut_down(m);
		return true;
	} else {
		return false;
	}
	m->ip += INSN;
	return true;
}

static bool step_plain(struct machine *m, const char *word)
{
	if (!strcmp(word, "pae"))
		m->ctx.pae = true;
	else if (!strcmp(word, "if"))
		m->ctx.intr_flag = true;
	else if (!strcmp(word, "step"))
		m->ip += INSN;
	else if (!strcmp(word, "jcc"))
		branch(m, VPT_EV_COND, VPT_EVF_TAKEN, (m->ip & ~0xffull) + 0x100);
	else if (!strcmp(word, "jncc"))
		branch(m, VPT_EV_COND, 0, m->ip + INSN);
	else if (!strcmp(word, "callnext"))
		branch(m, VPT_EV_CALL, 0, m->ip + INSN);
	else if (!strcmp(word, "callchain"))
		branch(m, VPT_EV_CALL, 0, (m->ip & ~0xfffull) + 0x1000);
	else if (!strcmp(word, "retchain"))
		branch(m, VPT_EV_RET, 0, ret_target(m, "ra"));
	else if (!strcmp(word, "ovf"))
		branch(m, VPT_EV_OVERFLOW, 0, m->ip);
	else if (!strcmp(word, "cbr"))
		branch(m, VPT_EV_CBR, 0, m->ip);
	else if (!strcmp(word, "timing"))
		vpt_pt_timing(&m->pt);
	else if (!strcmp(word, "flush"))
		vpt_pt_flush(&m->pt);
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
	else
		return false;
	return true;
}

static void step(struct machine *m, char *word)
{
	char *star = strchr(word, '*');
	char *value;
	unsigned long times = 1;

	if (star) {
		*star = '\0';
		times = strtoul(star + 1, NULL, 10);
	}
	while (times--) {
		if (scenario_step_time(m, word) || scenario_step_software(m, word) ||
		    scenario_step_system(m, word) || scenario_step_buffer(m, word) ||
		    scenario_step_xsave(m, word))
			continue;
		if ((value = strchr(word, ':')))
			ck_assert_msg(step_bits(m, word, value), "no step %s", word);
		else if ((value = strchr(word, '=')))
			ck_assert_msg(step_set(m, word, value), "no step %s", word);
		else if ((value = strchr(word, '>')))
			ck_assert_msg(step_to(m, word, value) || step_transition(m, word, value),
				      "no step %s", word);
		else
			ck_assert_msg(step_plain(m, word) || step_vmx(m, word), "no step %s", word);
	}
}

void vpt_scenario_check(const struct vpt_scenario *scenario)
{
	const struct vpt_caps *caps = vpt_caps_model(scenario->model);
	struct machine *m = calloc(1, sizeof(*m));
	char script[1024];
	char *word, *save;

	ck_assert_ptr_nonnull(m);
	ck_assert_ptr_nonnull(caps);
	ck_assert_uint_lt(strlen(scenario->script), sizeof(script));
	strcpy(script, scenario->script);
	m->ip = m->ctx.cr3 = 0x1000;
	m->vmcs = VPT_NO_VMCS;
	m->reason = 0xa;
	m->qualification = 0x77;
	m->ctx.tsc = 0x123;
	m->ctx.cbr = caps->max_nonturbo;
	m->ctx.cs_l = m->ctx.lma = true;
	m->caps = *caps;
	vpt_pt_init(&m->pt, &m->caps, &ops, m);
	for (word = strtok_r(script, " ", &save); word; word = strtok_r(NULL, " ", &save))
		step(m, word);
	show(m);
	ck_assert_msg(!strcmp(m->text, scenario->packets),
		      "%s\n  script:   %s\n  expected: %s\n  packets:  %s", scenario->name,
		      scenario->script, scenario->packets, m->text);
	free(m);
}
