// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that changes before each run: the guest writes a new operand into a page, calls the page,
 * and continues with the next page. The first --arg is the number of rounds, 0 for no end. The
 * second one is the number of pages, 1 by default. A recorder that stores each version of a page
 * fills memory and disk.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/report.h"

PAYLOAD("code that changes before each run");

typedef uint32_t code_fn(void);

/* MOV EAX, imm32; RET */
static const uint8_t code[] = {0xb8, 0, 0, 0, 0, 0xc3};

void payload(void)
{
	uint64_t pages = boot->arg[1] ? boot->arg[1] : 1, wrong = 0, round, i;
	uint8_t *first = page_alloc(PAGE_SIZE), *page = first;

	for (i = 1; i < pages; i++)
		(void)page_alloc(PAGE_SIZE);
	for (i = 0; i < pages; i++)
		memcpy(first + i * PAGE_SIZE, code, sizeof(code));
	for (round = 1; !boot->arg[0] || round <= boot->arg[0]; round++) {
		uint32_t value = (uint32_t)round;

		memcpy(page + 1, &value, sizeof(value));
		barrier();
		wrong += ((code_fn *)(uintptr_t)page)() != value;
		page = page + PAGE_SIZE < first + pages * PAGE_SIZE ? page + PAGE_SIZE : first;
	}
	report_equal(wrong, 0, "calls that ran stale code");
}
