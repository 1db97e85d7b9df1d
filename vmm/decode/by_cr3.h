/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces of a trace whose file does not tell of any, by CR3 alone. As with
 * spaces that a file tells of, one is where its pointer is.
 */
#ifndef VMM_DECODE_BY_CR3_H
#define VMM_DECODE_BY_CR3_H

#include "item.h"
#include "trace/reader.h"

struct vpt_by_cr3;

/*
 * `pti`: two whose CR3 differs in bit 12 alone are one, as Linux has it with page-table
 * isolation: user code runs on a CR3 of its own. NULL: memory.
 */
struct vpt_by_cr3 *vpt_by_cr3_new(bool pti);
void vpt_by_cr3_free(struct vpt_by_cr3 *all);

/* Set the space of an item, where its CR3 is known. False: memory. */
bool vpt_by_cr3_item(struct vpt_by_cr3 *all, struct vpt_item *item);

#endif /* VMM_DECODE_BY_CR3_H */
