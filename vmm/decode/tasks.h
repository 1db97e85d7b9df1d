/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks of a guest's kernel, as address spaces with a name: each process, thread and kernel
 * thread is a space of its own. A file has tasks after `vpt run --tasks`.
 */
#ifndef VMM_DECODE_TASKS_H
#define VMM_DECODE_TASKS_H

#include "decode/item.h"
#include "trace/reader.h"

struct decode_tasks;

/*
 * Read the tasks of a file. *tasks is NULL if there are none. The reader must outlive the tasks.
 * Returns 0 or -ENOMEM.
 */
int decode_tasks_open(const struct trace_reader *reader, struct decode_tasks **tasks);
void decode_tasks_close(struct decode_tasks *tasks);

/* Start a vCPU. The items that follow belong to it. */
void decode_tasks_begin(struct decode_tasks *tasks, unsigned int vcpu);

/*
 * Start within a vCPU. The counter @insns, the @session of the segment, and the CR3 at the begin of the
 * task are guesses. The words of the state show if they are right.
 */
void decode_tasks_begin_at(struct decode_tasks *tasks, unsigned int vcpu, uint64_t insns,
			   uint32_t session, uint64_t cr3);

#define DECODE_TASKS_WORDS 4
/* Get the state. After equal words, equal items have equal spaces. */
void decode_tasks_words(const struct decode_tasks *tasks, uint64_t words[DECODE_TASKS_WORDS]);

/* Find or make the space of a thread on a CR3. Returns NULL if there is no memory. */
const struct trace_space *decode_tasks_space(struct decode_tasks *tasks, uint64_t cr3,
					     uint32_t tid);

/*
 * Set the space of an item. It does not change if no task is known. A block, or a part of a PARTS
 * item, belongs to the task that runs at its end. If PARTS belong to several tasks, the item is cut to
 * those of the first one, and decode_tasks_more() returns the others.
 */
void decode_tasks_item(struct decode_tasks *tasks, struct decode_item *item);

/* Returns true if @item is now the rest of the last item, with its space. */
bool decode_tasks_more(struct decode_tasks *tasks, struct decode_item *item);

#endif /* VMM_DECODE_TASKS_H */
