// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scenarios of Atom's RTIT, that is with the models silvermont and airmont. Steps that only
 * they have, or that mean something else than with PT (scenario.h):
 *
 *   on:BITS[!]			reads RTIT_CTL and gives the output a region; then the instruction
 *				before this one sets Trace_En, this one TraceActive, with these bits:
 *				os user cyc stscr3 cr3 mtc mtc1 mtc2 mtc3 sts retc less; c0: without
 *				Dest. EVENTS is always, and never TraceStop, if no step wrote it
 *   ctl:BITS			WRMSR of RTIT_CTL; also en: Trace_En, act: TraceActive
 *   off			WRMSR that clears TraceActive
 *   filter=N stop=N		EVENTS, one field, between two instructions
 *   match=N rangeK=A-B		CR3_MATCH, LIPs likewise; B is the first LIP behind
 *   NAME:=N host.NAME:=N	WRMSR of ATOM_NAME, in lower case; between two instructions
 *   NAME?			shows it as [name N]; any of them shows [gp] if it faults
 *   smi resume>N		SMI, RSM
 *   exit>N enter>N		VM exit, to the host at N; VM entry
 *   movcr0=N			MOV CR0 that makes CR0.PG 0 or 1
 *   ecbr=N			core to bus ratio with clock modulation
 *   length=N			of instructions from here on; decimal
 *   farpfx>N			far branch with more than 3 prefixes
 *   errata=MASK lag=N disable-pgd	what the model is like, before `on`
 *   buffer=BYTES:DRAIN room=N	as with PT
 *   now			what was sent before is not shown
 *   sizes			shows TIP/2z(N): bytes of a LIP, zero-extended
 *   raw mem=A:N		from here on no packets are shown; shows N bytes of memory
 *
 * A packet is shown by its name and what it says, LIPs in full; then ~N if it has a cycle count.
 */
#include "lib/scenario_machine.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool faulted(struct machine *m, enum vpt_fault fault)
{
	if (fault == VPT_FAULT_NONE)
		return false;
	show(m);
	say(m, "[gp]");
	return true;
}

static void write_between(struct machine *m, uint32_t msr, uint64_t value)
{
	faulted(m, vpt_atom_wrmsr(&m->atom, msr, value, VPT_ACCESS_HOST, m->ip, m->ip));
}

static void write_at(struct machine *m, uint64_t ip, uint32_t msr, uint64_t value)
{
	faulted(m, vpt_atom_wrmsr(&m->atom, msr, value, VPT_ACCESS_GUEST, ip, ip + m->length));
	m->ip = ip + m->length;
}

static uint64_t read_now(struct machine *m, uint32_t msr)
{
	uint64_t value = 0;

	ck_assert_int_eq(vpt_atom_rdmsr(&m->atom, msr, &value), VPT_FAULT_NONE);
	return value;
}

/* Return false if the registers are still locked. */
static bool produced(struct machine *m, size_t *end)
{
	if (!m->atom.regs.unlocked)
		return false;
	vpt_atom_flush(&m->atom);
	*end = read_now(m, VPT_ATOM_MSR_OFFSET);
	return true;
}

static void say_lip(struct machine *m, const struct vpt_atom_packet *packet)
{
	const char *name = vpt_atom_pkt_name(packet->kind);
	uint64_t lip = 0;

	ck_assert_int_eq(vpt_atom_lip_expand(packet, m->lip_last, m->lip_known, &lip), VPT_OK);
	m->lip_last = (uint32_t)(lip >> 16);
	m->lip_known = true;
	if (m->sizes)
		say(m, "%s/%d%s(%llx)", name, 2 * packet->cnt + 2, packet->zext ? "z" : "",
		    (unsigned long long)lip);
	else
		say(m, "%s(%llx)", name, (unsigned long long)lip);
}

static void say_packet(struct machine *m, const struct vpt_atom_packet *packet)
{
	const char *name = vpt_atom_pkt_name(packet->kind);
	unsigned long long value = packet->value;

	switch (packet->kind) {
	case VPT_ATOM_PKT_TNT:
		say_outcomes(m, name, packet->value, packet->bits);
		break;
	case VPT_ATOM_PKT_PSB:
		/*
		 * A reader that starts here knows no last LIP, and does not need one unless
		 * clearing is late.
		 */
		if (!m->atom.options.clear_lag)
			m->lip_known = false;
		say(m, "%s", name);
		break;
	case VPT_ATOM_PKT_TRACE_STOP:
		say(m, "%s", name);
		break;
	case VPT_ATOM_PKT_PIP:
		say(m, "%s(%llx%s)", name, value, packet->flag ? ",PG" : "");
		break;
	case VPT_ATOM_PKT_MTC:
		say(m, "%s(%x:%llx)", name, packet->aux, value);
		break;
	case VPT_ATOM_PKT_STS:
		say(m, "%s(%llx,%x,%x)", name, value, packet->aux & 0xff, packet->aux >> 8);
		break;
	default:
		say_lip(m, packet);
		break;
	}
	if (packet->has_cycles)
		snprintf(m->text + strlen(m->text), sizeof(m->text) - strlen(m->text), "~%u",
			 packet->cycles);
}

static void atom_show(struct machine *m)
{
	const uint8_t *bytes = m->ram + REGION;
	bool cycles = m->atom.regs.ctl & VPT_ATOM_MASK(CTL, CYCLE_ACC);
	struct vpt_atom_packet packet;
	size_t end;

	if (m->raw || !produced(m, &end))
		return;
	while (m->shown < end) {
		ck_assert_msg(vpt_atom_packet_read(bytes + m->shown, end - m->shown, cycles,
						   &packet) == VPT_OK,
			      "no packet at %zx behind %s", m->shown, m->text);
		say_packet(m, &packet);
		m->shown += packet.size;
	}
}

static const struct bit_name ctl_names[] = {
	{"en", VPT_ATOM_MASK(CTL, TRACE_EN)},
	{"act", VPT_ATOM_MASK(CTL, TRACE_ACTIVE)},
	{"os", VPT_ATOM_MASK(CTL, OS)},
	{"user", VPT_ATOM_MASK(CTL, USER)},
	{"cyc", VPT_ATOM_MASK(CTL, CYCLE_ACC)},
	{"stscr3", VPT_ATOM_MASK(CTL, STS_ON_CR3)},
	{"cr3", VPT_ATOM_MASK(CTL, CR3_EN)},
	{"c0", 0},
	{"mtc", VPT_ATOM_MASK(CTL, MTC_EN)},
	{"mtc1", VPT_ATOM_MASK(CTL, MTC_EN) | 1u << VPT_ATOM_CTL_MTC_RANGE_SHIFT},
	{"mtc2", VPT_ATOM_MASK(CTL, MTC_EN) | 2u << VPT_ATOM_CTL_MTC_RANGE_SHIFT},
	{"mtc3", VPT_ATOM_MASK(CTL, MTC_EN) | 3u << VPT_ATOM_CTL_MTC_RANGE_SHIFT},
	{"sts", VPT_ATOM_MASK(CTL, STS_EN)},
	{"retc", VPT_ATOM_MASK(CTL, CMPRS_RET)},
	{"less", VPT_ATOM_MASK(CTL, LESS_PKTS)},
};

static uint64_t ctl_of(const char *text)
{
	uint64_t ctl = named_bits(ctl_names, sizeof(ctl_names) / sizeof(ctl_names[0]), text);

	if (!strstr(text, "c0"))
		ctl |= VPT_ATOM_MASK(CTL, DEST);
	return ctl;
}

/* The packets before the write were sent with the old CTL, so show them first. */
static void write_ctl(struct machine *m, uint64_t ip, uint64_t value)
{
	show(m);
	write_at(m, ip, VPT_ATOM_MSR_CTL, value);
}

static void forget(struct machine *m)
{
	show(m);
	m->text[0] = '\0';
}

static void enable(struct machine *m, const char *bits)
{
	uint64_t ctl = ctl_of(bits) | VPT_ATOM_MASK(CTL, TRACE_EN);
	bool visible = strchr(bits, '!');
	uint64_t ip = m->ip;
	size_t mark;

	read_now(m, VPT_ATOM_MSR_CTL);
	if (read_now(m, VPT_ATOM_MSR_BASE_ADDR) != REGION) {
		write_between(m, VPT_ATOM_MSR_BASE_ADDR, REGION);
		write_between(m, VPT_ATOM_MSR_LIMIT_MASK, 0xffff);
	}
	if (!m->events_written)
		write_between(m, VPT_ATOM_MSR_EVENTS,
			      VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_NEVER << VPT_ATOM_EVENTS_STOP_SHIFT);
	if (!(m->atom.regs.ctl & VPT_ATOM_MASK(CTL, TRACE_EN)))
		write_ctl(m, ip - m->length, ctl);
	if (visible)
		forget(m);
	mark = strlen(m->text);
	write_ctl(m, ip, ctl | VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	if (!visible) {
		show(m);
		m->text[mark] = '\0';
	}
}

static void set_events(struct machine *m, uint64_t id, unsigned int shift)
{
	uint64_t events;

	read_now(m, VPT_ATOM_MSR_CTL);
	events = m->events_written
			 ? read_now(m, VPT_ATOM_MSR_EVENTS)
			 : VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_NEVER << VPT_ATOM_EVENTS_STOP_SHIFT;
	m->events_written = true;
	events &= ~(7ull << shift);
	write_between(m, VPT_ATOM_MSR_EVENTS, events | id << shift);
}

static void set_match(struct machine *m, uint64_t cr3)
{
	read_now(m, VPT_ATOM_MSR_CTL);
	write_between(m, VPT_ATOM_MSR_CR3_MATCH, cr3);
}

static void set_range(struct machine *m, const char *text)
{
	uint32_t msr = VPT_ATOM_MSR_LIP0 + (uint32_t)(text[0] - '0');

	read_now(m, VPT_ATOM_MSR_CTL);
	write_between(m, msr, hex(text + 2));
	write_between(m, msr + VPT_ATOM_RANGES, hex(strchr(text, '-') + 1));
}

static uint32_t msr_named(const char *name, size_t len)
{
	static const struct {
		const char *name;
		uint32_t msr;
	} msrs[] = {
#define VPT_ATOM_MSR(name, address, reset, bits, ignored, ones, tag, section, meaning) \
	{#name, address},
#include "../../shared/spec/rtit.def"
	};
	size_t i;

	for (i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++)
		if (strlen(msrs[i].name) == len && !strncasecmp(msrs[i].name, name, len))
			return msrs[i].msr;
	ck_abort_msg("no register %s", name);
	return 0;
}

static void read_register(struct machine *m, const char *name, size_t len)
{
	uint64_t value;

	show(m);
	if (!faulted(m, vpt_atom_rdmsr(&m->atom, msr_named(name, len), &value)))
		say(m, "[%.*s %llx]", (int)len, name, (unsigned long long)value);
}

static bool step_register(struct machine *m, const char *word)
{
	bool host = is(word, "host.");
	const char *name = host ? word + 5 : word;
	size_t len = strcspn(name, ":?");
	uint64_t value;

	if (!strcmp(name + len, "?")) {
		read_register(m, name, len);
		return true;
	}
	if (!is(name + len, ":="))
		return false;
	show(m);
	value = hex(name + len + 2);
	if (msr_named(name, len) == VPT_ATOM_MSR_EVENTS)
		m->events_written = true;
	if (host)
		write_between(m, msr_named(name, len), value);
	else
		write_at(m, m->ip, msr_named(name, len), value);
	return true;
}

static void set_options(struct machine *m, const char *word)
{
	struct vpt_atom_options options = m->atom.options;

	if (is(word, "errata="))
		options.errata = (uint8_t)hex(word + 7);
	else if (is(word, "lag="))
		options.clear_lag = (uint8_t)decimal(word + 4);
	else if (is(word, "disable-pgd"))
		options.disable_pgd = true;
	else {
		options.buffer_bytes = (uint32_t)decimal(word + 7);
		options.buffer_drain = (uint32_t)decimal(strchr(word, ':') + 1);
	}
	ck_assert_int_eq(vpt_atom_set_options(&m->atom, &options), VPT_OK);
}

/* Leave only this many bytes of the buffer, as if packets had just filled the rest. */
static void leave_room(struct machine *m, uint32_t bytes)
{
	m->atom.buffer.fill = m->atom.options.buffer_bytes - bytes;
	m->atom.buffer.drained = m->clock.cycles;
}

static void show_memory(struct machine *m, const char *text)
{
	uint64_t at = hex(text), count = hex(strchr(text, ':') + 1), i;

	ck_assert_uint_le(at + count, RAM_SIZE);
	vpt_atom_flush(&m->atom);

	for (i = 0; i < count; i++)
		say(m, "%02x", m->ram[at + i]);
}

static void paging(struct machine *m, bool on)
{
	m->ctx.paging = on;
	branch(m, VPT_EV_PAGING, 0, m->ip + m->length);
}

static bool step_set(struct machine *m, const char *word)
{
	if (is(word, "filter="))
		set_events(m, hex(word + 7), VPT_ATOM_EVENTS_FILTER_SHIFT);
	else if (is(word, "stop="))
		set_events(m, hex(word + 5), VPT_ATOM_EVENTS_STOP_SHIFT);
	else if (is(word, "match="))
		set_match(m, hex(word + 6));
	else if (is(word, "range"))
		set_range(m, word + 5);
	else if (is(word, "movcr0="))
		paging(m, hex(word + 7));
	else if (is(word, "ecbr="))
		m->ctx.effective_cbr = (uint8_t)hex(word + 5);
	else if (is(word, "length="))
		m->length = (unsigned int)decimal(word + 7);
	else if (is(word, "errata=") || is(word, "lag=") || is(word, "buffer=") ||
		 !strcmp(word, "disable-pgd"))
		set_options(m, word);
	else if (is(word, "room="))
		leave_room(m, (uint32_t)decimal(word + 5));
	else if (is(word, "mem="))
		show_memory(m, word + 4);
	else if (!strcmp(word, "now"))
		forget(m);
	else if (!strcmp(word, "raw"))
		m->raw = true;
	else if (!strcmp(word, "sizes"))
		m->sizes = true;
	else
		return false;
	return true;
}

/* Steps that enter and leave SMM and the guest. */
static bool step_transition(struct machine *m, const char *word)
{
	const char *to = strchr(word, '>');
	uint64_t ip = to ? hex(to + 1) : m->ip;

	if (!strcmp(word, "smi"))
		vpt_atom_smi(&m->atom, m->ip);
	else if (is(word, "resume>"))
		vpt_atom_rsm(&m->atom, ip);
	else if (is(word, "exit>"))
		vpt_atom_vm_exit(&m->atom, m->ip);
	else if (is(word, "enter>"))
		vpt_atom_vm_entry(&m->atom, ip);
	else
		return false;
	m->ip = ip;
	return true;
}

static bool atom_step(struct machine *m, const char *word)
{
	uint64_t ctl = m->atom.regs.ctl;

	if (is(word, "on:"))
		enable(m, word + 3);
	else if (is(word, "ctl:") && !is(word, "ctl:="))
		write_ctl(m, m->ip, ctl_of(word + 4));
	else if (!strcmp(word, "off"))
		write_ctl(m, m->ip, ctl & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	else
		return step_register(m, word) || step_set(m, word) || step_transition(m, word);
	return true;
}

static bool atom_reset(struct machine *m, const char *model)
{
	if (!vpt_atom_signature(model))
		return false;
	m->ctx.cbr = 0x14;
	vpt_atom_init(&m->atom, &scenario_ops, m);
	return true;
}

static void atom_event(struct machine *m, const struct vpt_event *event)
{
	vpt_atom_event(&m->atom, event);
}

static void atom_insn(struct machine *m)
{
	const struct vpt_event event = {
		.kind = VPT_EV_INSN,
		.from = m->ip,
		.to = m->ip + m->length,
	};

	if (m->atom.each_insn)
		vpt_atom_event(&m->atom, &event);
}

static void atom_tick(struct machine *m)
{
	vpt_atom_tick(&m->atom, m->ip);
}

static void atom_flush(struct machine *m)
{
	vpt_atom_flush(&m->atom);
}

const struct scenario_unit scenario_atom = {
	.reset = atom_reset,
	.event = atom_event,
	.insn = atom_insn,
	.tick = atom_tick,
	.flush = atom_flush,
	.step = atom_step,
	.show = atom_show,
};
