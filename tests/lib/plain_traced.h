/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine of plain_machine.h with a trace unit, which writes to memory of its own. */
#ifndef TESTS_LIB_PLAIN_TRACED_H
#define TESTS_LIB_PLAIN_TRACED_H

#include "engine/engine.h"
#include "lib/guestmem.h"
#include "lib/plain_machine.h"
#include "vpt/pt.h"

struct plain_traced {
	struct guestmem out; /* first: it is the callbacks' `opaque` */
	struct plain_machine machine;
	struct vpt_pt_ops ops;
	struct vpt_pt pt;
	struct engine_observer observer;
	unsigned int bits; /* of the code */
	uint64_t reports;
};

void plain_traced_create(struct plain_traced *t);
void plain_traced_destroy(struct plain_traced *t);

/*
 * From the next trace on there are MTCs, by the clock of the processor. With `keeps` the engine keeps due
 * times. Without it, each branch is an event.
 */
void plain_traced_time(struct plain_traced *t, bool keeps);

/* Begin a new trace in empty memory. The random number `x` chooses the options. */
void plain_traced_start(struct plain_traced *t, uint64_t x);

struct engine_exit plain_traced_run(struct plain_traced *t, uint64_t budget);

/* Return what differs between two traces: their bytes or the states of the units. NULL: nothing. */
const char *plain_traced_difference(struct plain_traced *a, struct plain_traced *b);

#endif /* TESTS_LIB_PLAIN_TRACED_H */
