/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find the edges of a cut from the places where a part of a trace begins and ends. */
#ifndef VMM_DECODE_CUT_FIND_H
#define VMM_DECODE_CUT_FIND_H

#include "decode/cut.h"
#include "trace/reader.h"

enum decode_place_kind {
	DECODE_PLACE_NONE = 0,
	DECODE_PLACE_CLOCK,   /* @n instructions of the vCPU ran before */
	DECODE_PLACE_TIME,    /* @n TSC ticks since the first known time of the vCPU */
	DECODE_PLACE_MARK,    /* the first mark with the text @mark */
	DECODE_PLACE_ADDRESS, /* the first execution of the instruction at @n */
};

struct decode_place {
	enum decode_place_kind kind;
	uint64_t n;
	const char *mark;
};

struct decode_cut_find {
	struct trace_reader *reader;
	/* An address of @until is found behind the place of @from. */
	struct decode_place from, until;
	bool only_last; /* instead of the places: the last @last instructions */
	uint64_t last;
	int vcpu; /* only this vCPU; negative for all */
	/* For an address: treat pairs of CR3s as one space (by_cr3.h). */
	bool pti;
	/* For an address: returns true if it can be in the space of the item; NULL for all. */
	bool (*wants)(void *context, const struct decode_item *item);
	void *context; /* of wants() */
};

/*
 * Find the cuts, which are by vCPU. @cuts has room for all vCPUs. A vCPU without the mark or the
 * address of @from has no part, and without that of @until a part up to its end. An address and
 * @only_last decode the trace. Returns 0 or -errno: -ENOENT if no vCPU has the place of @from, and
 * -ESRCH if none has that of @until.
 */
int decode_cut_find(const struct decode_cut_find *f, struct decode_window *cuts);

#endif /* VMM_DECODE_CUT_FIND_H */
