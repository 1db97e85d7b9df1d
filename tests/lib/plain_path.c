// SPDX-License-Identifier: GPL-2.0-or-later
/* The pages that an instruction accesses follow from the accessed and dirty bits. */
#include "lib/plain_path.h"

#include <string.h>

#include "soft/engine.h"
#include "soft/soft.h"
#include "soft/tlb.h"

enum { PT = 0x4000 /* the page table of plain_machine.c */ };

uint64_t plain_entry(const struct plain_machine *m, unsigned int page)
{
	uint64_t entry;

	memcpy(&entry, m->mem.host + PT + 8 * page, sizeof(entry));
	return entry;
}

void plain_put_entry(struct plain_machine *m, unsigned int page, uint64_t entry)
{
	memcpy(m->mem.host + PT + 8 * page, &entry, sizeof(entry));
}

void plain_change_entry(struct plain_machine *m, unsigned int page, uint64_t entry)
{
	plain_put_entry(m, page, entry);
	soft_flush_page(soft(m->vcpu), (uint64_t)page * X86_PAGE_SIZE, 0, true);
}

void plain_use_pages(struct plain_machine *m)
{
	unsigned int i;

	for (i = 0; i < PLAIN_PAGES; i++)
		if (plain_entry(m, i) & PLAIN_PRESENT)
			plain_put_entry(m, i, plain_entry(m, i) | PLAIN_USED);
}

bool plain_visit(struct plain_machine *m, struct plain_visit *v)
{
	const struct engine_step_hint hint = {0};
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};
	unsigned int i;

	memset(v, 0, sizeof(*v));
	v->regs = *m->vcpu->regs;
	for (i = 0; i < PLAIN_PAGES; i++)
		plain_put_entry(m, i, plain_entry(m, i) & ~(uint64_t)PLAIN_USED);
	soft_flush_tlb(soft(m->vcpu));
	soft_engine.step(m->vcpu, &hint, &exit);
	for (i = 0; i < PLAIN_PAGES; i++) {
		v->read[i / 64] |= (plain_entry(m, i) >> 5 & 1) << i % 64;
		v->written[i / 64] |= (plain_entry(m, i) >> 6 & 1) << i % 64;
	}
	plain_use_pages(m);
	soft_flush_tlb(soft(m->vcpu));
	return exit.kind == ENGINE_EXIT_NONE;
}

bool plain_has_page(const uint64_t *set, unsigned int page)
{
	return set[page / 64] >> page % 64 & 1;
}
