/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find address spaces by CR3, for a trace whose file does not describe spaces. If the file has tasks,
 * each of them is a space (decode/tasks.h). As with described spaces, a space is identified by its
 * pointer.
 */
#ifndef VMM_DECODE_BY_CR3_H
#define VMM_DECODE_BY_CR3_H

#include "decode/item.h"
#include "decode/tasks.h"
#include "trace/reader.h"

struct decode_by_cr3;

/*
 * Create the list. With @pti, two CR3s that differ only in bit 12 are one space. Linux with
 * page-table isolation runs user code on such a CR3. Returns NULL if there is no memory.
 */
struct decode_by_cr3 *decode_by_cr3_new(bool pti);
void decode_by_cr3_free(struct decode_by_cr3 *all);

/* Use the tasks of a file too, which must outlive the list. Returns 0 or -ENOMEM. */
int decode_by_cr3_tasks(struct decode_by_cr3 *all, const struct trace_reader *reader);

/* Start a vCPU. The items that follow belong to it. */
void decode_by_cr3_begin(struct decode_by_cr3 *all, unsigned int vcpu);

/* Start within a vCPU, with guesses, and get the state of the tasks, as in tasks.h. */
void decode_by_cr3_begin_at(struct decode_by_cr3 *all, unsigned int vcpu, uint64_t insns,
			    uint32_t session, uint64_t cr3);
void decode_by_cr3_words(const struct decode_by_cr3 *all, uint64_t words[DECODE_TASKS_WORDS]);

/*
 * Find a space again. If @task is 0, @id is the number of the space. Otherwise @task is the number of
 * a thread plus 1, and @id the CR3 on which it ran. Sets *space to NULL if the space is not known.
 * Returns false if there is no memory.
 */
bool decode_by_cr3_find(struct decode_by_cr3 *all, uint64_t id, uint64_t task,
			const struct trace_space **space);

/*
 * Set the space of an item whose CR3 or task is known. PARTS of several tasks are cut: call
 * decode_by_cr3_more() after the item. Returns false if there is no memory.
 */
bool decode_by_cr3_item(struct decode_by_cr3 *all, struct decode_item *item);

/* Returns true if @item is now the rest of the last item, with its space. @all may be NULL. */
bool decode_by_cr3_more(struct decode_by_cr3 *all, struct decode_item *item);

#endif /* VMM_DECODE_BY_CR3_H */
