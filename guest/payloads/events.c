// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event trace (33.2.4): interrupts, exceptions, INT n, page faults, IRET, and changes of RFLAGS.IF,
 * with and without branch trace, and filtered to one privilege level. The caused events are
 * printed, and compared with the CFE, EVD and MODE.Exec packets in order.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"

PAYLOAD("event trace: interrupts, exceptions, page faults, IRET, changes of IF");

#define VEC_TIMER 0x60u
#define VEC_SOFT  0x90u
#define TICKS	  6
/* Far from any mapping; must be positive as an immediate. */
#define NOWHERE	   0x7000dead000ull
#define ROUNDS_MAX 200000u

/* The kind of an entry: the type of a CFE, or one of these. */
enum { CFE_INTR = 1, CFE_IRET = 2, EVD_PFA = 0x100, IF_IS = 0x101 };

struct entry {
	uint32_t what;
	uint64_t value; /* vector, address, IF */
};

struct list {
	size_t count;
	struct entry entry[256];
};

static struct list caused, traced;
static volatile unsigned int ticks;
/* This run shows packets for events in ring 3 (table 33-59 rows 2, 7). */
static bool page_faults_shown;

static void add(struct list *list, uint32_t what, uint64_t value)
{
	if (list->count < ARRAY_SIZE(list->entry))
		list->entry[list->count] = (struct entry){what, value};
	list->count++;
}

static bool had_if(const struct trap_frame *f)
{
	return f->rflags & RFLAGS_IF;
}

static void arrived(const struct trap_frame *f)
{
	add(&caused, CFE_INTR, f->vector);
	if (had_if(f))
		add(&caused, IF_IS, 0);
}

static void leaves(const struct trap_frame *f)
{
	add(&caused, CFE_IRET, 0);
	if (had_if(f))
		add(&caused, IF_IS, 1);
}

static void on_timer(struct trap_frame *f)
{
	arrived(f);
	if (++ticks < TICKS)
		outl(VPT_PORT_TIMER, VEC_TIMER << 24 | (31 + ticks * 17));
	leaves(f);
}

/* INT n and INT3: the frame already points behind them. */
static void on_trap(struct trap_frame *f)
{
	arrived(f);
	leaves(f);
}

/* The faulting instructions here are of 2 bytes. */
static void on_fault(struct trap_frame *f)
{
	arrived(f);
	f->rip += 2;
	leaves(f);
}

static void on_page_fault(struct trap_frame *f)
{
	if (page_faults_shown) {
		add(&caused, EVD_PFA, read_cr2());
		arrived(f);
	}
	f->rip += 2;
	leaves(f);
}

/* #UD whose handler raises #DE. */
static void on_ud(struct trap_frame *f)
{
	uint32_t zero = 0, quotient = 1, high = 0;

	arrived(f);
	__asm__ volatile("divl %2" : "+a"(quotient), "+d"(high) : "c"(zero) : "cc");
	f->rip += 2;
	leaves(f);
}

static void popf_if(bool on)
{
	uint64_t flags = (read_rflags() & ~(uint64_t)RFLAGS_IF) | (on ? RFLAGS_IF : 0);

	__asm__ volatile("pushq %0; popfq" : : "r"(flags) : "memory", "cc");
}

static void change_if(void)
{
	add(&caused, IF_IS, 1);
	sti();
	sti();
	add(&caused, IF_IS, 0);
	cli();
	cli();
	add(&caused, IF_IS, 1);
	popf_if(true);
	popf_if(true);
	add(&caused, IF_IS, 0);
	popf_if(false);
}

static void fault(void)
{
	__asm__ volatile("ud2");
	__asm__ volatile("int3");
	__asm__ volatile("int $0x90");
	__asm__ volatile("movb (%0), %%al" : : "a"(NOWHERE) : "memory");
}

static void be_interrupted(void)
{
	unsigned int round;
	volatile uint32_t value = 1;

	ticks = 0;
	outl(VPT_PORT_TIMER, VEC_TIMER << 24 | 60);
	add(&caused, IF_IS, 1);
	sti();
	for (round = 0; ticks < TICKS && round < ROUNDS_MAX; round++)
		value = value & 1 ? value * 3 : value / 2 + round;
	add(&caused, IF_IS, 0);
	cli();
}

static void kernel_work(void)
{
	change_if();
	fault();
	be_interrupted();
	fault();
}

USER_TEXT static uint64_t user_work(uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		__asm__ volatile("int $0x90" : : : "memory");
		__asm__ volatile("int3");
		__asm__ volatile("movb (%0), %%al" : : "a"(NOWHERE) : "memory");
	}
	return n;
}

static void ring3_work(void)
{
	add(&caused, CFE_IRET, 0);
	ring3_call(user_work, 3);
}

static uint64_t on_syscall(uint64_t a, uint64_t b)
{
	return a + b;
}

/* MODE.Exec matters only if its IF differs from the last one. */
static void take(const struct vpt_packet *p, bool in_psb, int *intr_flag)
{
	int is = p->value >> 2 & 1;

	if (p->kind == VPT_PKT_CFE && p->value <= CFE_IRET) {
		add(&traced, (uint32_t)p->value, p->aux);
	} else if (p->kind == VPT_PKT_EVD && !p->aux) {
		add(&traced, EVD_PFA, p->value);
	} else if (p->kind == VPT_PKT_MODE_EXEC && !in_psb) {
		if (*intr_flag >= 0 && *intr_flag != is)
			add(&traced, IF_IS, (uint64_t)is);
		*intr_flag = is;
	}
}

static void read_trace(const uint8_t *buf, size_t len)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	bool in_psb = false;
	int intr_flag = -1;
	size_t at = 0;

	traced.count = 0;
	while (vpt_packet_read(&parser, buf + at, len - at, &packet) == VPT_OK) {
		if (packet.kind == VPT_PKT_PSB || packet.kind == VPT_PKT_PSBEND)
			in_psb = packet.kind == VPT_PKT_PSB;
		take(&packet, in_psb, &intr_flag);
		at += packet.size;
	}
}

static const char *text_of(uint32_t what)
{
	switch (what) {
	case CFE_INTR:
		return "INTR";
	case CFE_IRET:
		return "IRET";
	case EVD_PFA:
		return "PFA";
	default:
		return "IF";
	}
}

static void print_list(const char *title, const struct list *list)
{
	size_t i;

	for (i = 0; i < list->count && i < ARRAY_SIZE(list->entry); i++)
		printk("%s %s %#lx\n", title, text_of(list->entry[i].what), list->entry[i].value);
}

static bool same(void)
{
	size_t i;

	if (caused.count != traced.count || caused.count > ARRAY_SIZE(caused.entry))
		return false;
	for (i = 0; i < caused.count; i++) {
		if (caused.entry[i].what != traced.entry[i].what ||
		    caused.entry[i].value != traced.entry[i].value)
			return false;
	}
	return true;
}

static void run(struct trace *t, uint64_t ctl, void (*work)(void), const char *what)
{
	bool events = t->on && vpt_caps_has(&t->drv.caps, VPT_CAP_EVENT);

	if (events)
		ctl |= VPT_CTL_MASK(EVENT_EN);
	caused.count = 0;
	trace_run(t, ctl, work);
	if (t->on)
		trace_report_end(t);
	report(caused.count > 0 && ticks == TICKS, "%s: it happened", what);
	if (!events)
		return;
	print_list("caused", &caused);
	read_trace(t->buf, t->bytes);
	if (!report(same(), "%s: event trace tells the same", what))
		print_list("traced", &traced);
}

void payload(void)
{
	const uint64_t os = VPT_CTL_MASK(OS), user = VPT_CTL_MASK(USER);
	const uint64_t branch = VPT_CTL_MASK(BRANCH_EN);
	struct trace t;

	ring3_init(on_syscall);
	idt_hook(VEC_DE, on_fault);
	idt_hook(VEC_UD, on_ud);
	idt_hook(VEC_BP, on_trap);
	idt_hook(VEC_SOFT, on_trap);
	idt_hook(VEC_TIMER, on_timer);
	idt_hook(VEC_PF, on_page_fault);
	idt_allow_user(VEC_SOFT);
	idt_allow_user(VEC_BP);
	page_faults_shown = true;
	trace_init(&t, TRACE_BUFFER);
	run(&t, os | user | branch, kernel_work, "all with branches");
	run(&t, os | user, kernel_work, "all without branches");
	run(&t, os | user | branch, ring3_work, "ring 3 in context");
	run(&t, user | branch, ring3_work, "ring 3 only");
	run(&t, user, ring3_work, "ring 3 only, without branches");
	page_faults_shown = false;
	run(&t, os | branch, ring3_work, "ring 0 only");
	run(&t, os, ring3_work, "ring 0 only, without branches");
}
