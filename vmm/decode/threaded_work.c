// SPDX-License-Identifier: GPL-2.0-or-later
/* Decode a flow on a thread. */
#include "decode/threaded_work.h"

#include <errno.h>
#include <stdlib.h>

void *decode_threaded_thread(void *argument)
{
	struct decode_threaded_work *w = argument;
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_threaded_entry *e;
	int err = 0;

	w->code = decode_code_last_change(w->flow->store);
	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_pt_flow_runs(&w->flow->base, &decode_threaded_takers, w);
		if (!err && !w->err)
			err = decode_pt_flow_next(&w->flow->base, &item);
		if (!err && !w->err)
			decode_threaded_put_item(w, &item);
		err = w->err ? w->err : err;
	}
	e = err && err != -ECANCELED ? decode_threaded_put(w, DECODE_THREADED_ERROR, 0) : NULL;
	if (e)
		e->err = err;
	decode_threaded_flush(w);
	return NULL;
}

void decode_threaded_work_free(struct decode_threaded_work *w)
{
	if (w->flow)
		decode_pt_flow_close(&w->flow->base);
	decode_threaded_queue_fini(&w->queue);
	trace_arena_free(&w->arena);
	free(w->runs.at);
	free(w->lens.at);
	free(w->walk.at);
}
