/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pages that each instruction of a program accesses on a machine of plain_machine.h. */
#ifndef TESTS_LIB_PLAIN_PATH_H
#define TESTS_LIB_PLAIN_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/plain_machine.h"
#include "x86/x86.h"

enum {
	PLAIN_PAGES = 512, /* from linear address 0 on */
	PLAIN_PRESENT = 1,
	PLAIN_WRITABLE = 2,
	PLAIN_USED = 0x60 /* accessed and dirty */
};

/* An instruction: the registers before it, and the pages that it accesses. */
struct plain_visit {
	struct x86_regs regs;
	uint64_t read[PLAIN_PAGES / 64], written[PLAIN_PAGES / 64];
};

/* The page-table entry of a page, by its number. The TLB keeps its own. */
uint64_t plain_entry(const struct plain_machine *m, unsigned int page);
void plain_put_entry(struct plain_machine *m, unsigned int page, uint64_t entry);
/* Set the entry, and drop the page from the TLB. */
void plain_change_entry(struct plain_machine *m, unsigned int page, uint64_t entry);

/* Mark all pages as accessed and dirty. After that no access changes an entry. */
void plain_use_pages(struct plain_machine *m);

/* Step an instruction. Returns false if it has not retired. */
bool plain_visit(struct plain_machine *m, struct plain_visit *v);
/* Returns true if a set of struct plain_visit has the page. */
bool plain_has_page(const uint64_t *set, unsigned int page);

#endif /* TESTS_LIB_PLAIN_PATH_H */
