// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt lockstep: describes a difference as the divergence of two traces. */
#include <string.h>

#include "cli/lockstep.h"
#include "gdb/guest.h"

static void add_insn(struct decode_diverge_item *to, uint64_t ip, uint8_t mode,
		     const uint8_t *bytes, size_t size)
{
	struct decode_item *item = &to->item;

	*item = (struct decode_item){.kind = DECODE_ITEM_INSN, .ip = ip, .mode = mode, .insns = 1};
	item->size = (uint8_t)(size < CORE_INSN_MAX ? size : CORE_INSN_MAX);
	memcpy(item->raw, bytes, item->size);
}

static void add_step(struct decode_diverge_item *to, const struct core_lockstep_step *s)
{
	uint8_t code[16];

	memcpy(code, &s->bytes.low, 8);
	memcpy(code + 8, &s->bytes.high, 8);
	add_insn(to, s->ip, s->bits, code, s->len ? s->len : s->bytes.count);
}

/*
 * Add a step that ended at @next. A step without an instruction that retired is a fault or an
 * interrupt. It is nothing if execution stays at its address, as a vCPU does that waits.
 */
static unsigned int add(struct decode_diverge_item *to, const struct core_lockstep_step *s,
			bool retired, uint64_t next)
{
	if (retired) {
		add_step(to, s);
		return 1;
	}
	if (next == s->ip)
		return 0;
	to->item = (struct decode_item){
		.kind = DECODE_ITEM_EVENT,
		.event = DECODE_FLOW_ASYNC_BRANCH,
		.ip = s->ip,
		.to = next,
		.has_to = true,
	};
	return 1;
}

/* Add the instruction that a side executes next. No accessed bit is set in its page tables. */
static void add_next(struct decode_diverge_side *to, const struct core_vm *vm)
{
	struct decode_diverge_item *item = &to->item[to->count++];
	struct core_vcpu *v = vm->vcpu;
	const uint64_t ip = v->regs->rip;
	uint8_t code[CORE_INSN_MAX];

	if (vm->stop.kind)
		item->item = (struct decode_item){.kind = DECODE_ITEM_END};
	else
		add_insn(item, ip, v->bits, code,
			 gdb_guest_read(v, v->bits == 64 ? ip : (uint32_t)(ip + v->s.cs.base), code,
					sizeof(code)));
}

/* Add the last step, to both or to each side. Returns true if both ended it in the same way. */
static bool add_last(const struct core_lockstep *l, struct decode_divergence *d)
{
	const struct core_lockstep_step *s = &l->history[(l->steps - 1) % CORE_LOCKSTEP_HISTORY];
	const struct core_vcpu *v[2] = {l->side[0].vm.vcpu, l->side[1].vm.vcpu};
	const bool retired[2] = {v[0]->retired > s->insns, v[1]->retired > s->insns};
	unsigned int i;

	if (retired[0] == retired[1] && (retired[0] || v[0]->regs->rip == v[1]->regs->rip)) {
		d->commons += add(&d->common[d->commons], s, retired[0], v[0]->regs->rip);
		return true;
	}
	for (i = 0; i < 2; i++)
		d->side[i].count = add(d->side[i].item, s, retired[i], v[i]->regs->rip);
	return false;
}

void cli_lockstep_divergence(const struct core_lockstep *l, struct decode_divergence *d)
{
	const uint64_t last = l->steps ? l->steps - 1 : 0;
	uint64_t n = l->steps > CORE_LOCKSTEP_HISTORY ? l->steps - CORE_LOCKSTEP_HISTORY : 0;
	const struct core_lockstep_step *s, *next;
	unsigned int i;

	*d = (struct decode_divergence){.differs = true};
	for (; n < last; n++) {
		s = &l->history[n % CORE_LOCKSTEP_HISTORY];
		next = &l->history[(n + 1) % CORE_LOCKSTEP_HISTORY];
		d->commons += add(&d->common[d->commons], s, next->insns > s->insns, next->ip);
	}
	if (l->steps && add_last(l, d))
		d->insns = l->side[0].vm.vcpu->retired;
	else if (l->steps)
		d->insns = l->history[last % CORE_LOCKSTEP_HISTORY].insns;
	for (i = 0; i < 2; i++)
		add_next(&d->side[i], &l->side[i].vm);
}
