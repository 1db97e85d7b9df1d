// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of interrupts, transactions, enclaves and resets. */
#include "lib/scenario_machine.h"

#include <string.h>

enum { IRQ_VECTOR = 0x20, FAULT_VECTOR = 0xd, PAGE_FAULT_VECTOR = 0xe };
#define FAULT_ADDRESS 0xdead000
#define AEP	      0x7000

struct word {
	const char *word;
	uint8_t kind, flags, vector;
	uint64_t value;
};

/* Report the event of the instruction at m->ip, after which execution is at `to`. */
static void send(struct machine *m, const struct word *w, uint64_t to)
{
	struct vpt_event event = {.kind = w->kind, .flags = w->flags, .vector = w->vector};

	if (w->kind == VPT_EV_FAR || w->kind == VPT_EV_SOFT_INT)
		event.next = m->ip + m->length;
	else
		event.value = w->value;
	m->ctx.wait_for_sipi = w->kind == VPT_EV_INIT && w->flags & VPT_EVF_WAIT;
	if (w->kind >= VPT_EV_TSX_BEGIN && w->kind <= VPT_EV_TSX_ABORT)
		m->ctx.in_tx = w->kind == VPT_EV_TSX_BEGIN;
	report(m, event, to);
}

/* Steps "WORD>N". */
static bool step_event_to(struct machine *m, const char *word, const char *to)
{
	static const struct word words[] = {
		{"irq", VPT_EV_ASYNC, 0, IRQ_VECTOR, 0},
		{"irqcr3", VPT_EV_ASYNC, VPT_EVF_CR3, IRQ_VECTOR, 0},
		{"nmi", VPT_EV_ASYNC, 0, 2, 0},
		{"fault", VPT_EV_ASYNC, 0, FAULT_VECTOR, 0},
		{"pf", VPT_EV_ASYNC, VPT_EVF_PAGE_FAULT, PAGE_FAULT_VECTOR, FAULT_ADDRESS},
		{"int80", VPT_EV_SOFT_INT, 0, 0x80, 0},
		{"iret", VPT_EV_FAR, VPT_EVF_IRET, 0, 0},
		{"farcall", VPT_EV_FAR, 0, 0, 0},
		{"farret", VPT_EV_FAR, 0, 0, 0},
		{"syscall", VPT_EV_FAR, 0, 0, 0},
		{"sysret", VPT_EV_FAR, 0, 0, 0},
		{"sysenter", VPT_EV_FAR, 0, 0, 0},
		{"sysexit", VPT_EV_FAR, 0, 0, 0},
		{"abort", VPT_EV_TSX_ABORT, 0, 0, 0},
		{"init", VPT_EV_INIT, 0, 0, 0},
		{"initcr3", VPT_EV_INIT, VPT_EVF_CR3, 0, 0},
		{"sipi", VPT_EV_SIPI, 0, 0x9a, 0},
		{"sipicr3", VPT_EV_SIPI, VPT_EVF_CR3, 0x9a, 0},
		{"eenter", VPT_EV_ENCLAVE, 0, 0, 0},
		{"eresume", VPT_EV_ENCLAVE, 0, 0, 0},
		{"eexit", VPT_EV_ENCLAVE, 0, 0, 0},
		{"aex", VPT_EV_AEX, 0, IRQ_VECTOR, AEP},
		{"uintr", VPT_EV_UINTR, 0, 0x15, 0},
		{"uiret", VPT_EV_UIRET, 0, 0, 0},
	};
	size_t len = (size_t)(to - word), i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) != len || strncmp(words[i].word, word, len))
			continue;
		send(m, &words[i], hex(to + 1));
		return true;
	}
	return false;
}

/* Play a word that is an event after which the next instruction follows. */
static bool step_event(struct machine *m, const char *word)
{
	static const struct word words[] = {
		{"xbegin", VPT_EV_TSX_BEGIN, 0, 0, 0},
		{"xend", VPT_EV_TSX_COMMIT, 0, 0, 0},
		{"initwait", VPT_EV_INIT, VPT_EVF_WAIT, 0, 0},
		{"initwaitcr3", VPT_EV_INIT, VPT_EVF_WAIT | VPT_EVF_CR3, 0, 0},
		{"shutdown", VPT_EV_SHUTDOWN, 0, 0, 0},
	};
	static const struct word changed = {"", VPT_EV_INTR_FLAG, 0, 0, 0};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, word))
			continue;
		send(m, &words[i], m->ip + (words[i].kind == VPT_EV_SHUTDOWN ? 0 : m->length));
		return true;
	}
	if (strcmp(word, "cli") && strcmp(word, "sti") && strcmp(word, "popf"))
		return false;
	m->ctx.intr_flag = *word == 's' || (*word == 'p' && !m->ctx.intr_flag);
	send(m, &changed, m->ip + m->length);
	return true;
}

bool scenario_step_system(struct machine *m, const char *word)
{
	const char *to = strchr(word, '>');

	if (to)
		return step_event_to(m, word, to);
	if (strcmp(word, "if") && strcmp(word, "noif"))
		return step_event(m, word);
	m->ctx.intr_flag = *word == 'i';
	return true;
}
