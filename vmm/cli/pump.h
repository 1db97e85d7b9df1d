/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue in memory between a writer and a slow reader. Bytes that are written to one descriptor come
 * out at another, in the same order. Two threads move them, so the writer only waits while the queue
 * is full, and can see how full it is.
 */
#ifndef VMM_CLI_PUMP_H
#define VMM_CLI_PUMP_H

#include <stddef.h>

struct cli_pump;

/*
 * Begin to pass bytes to @out, a pipe or a socket that stays the caller's and open until
 * cli_pump_end(). SIGPIPE must be ignored. *in is the descriptor to write to. The caller closes it
 * and all of its duplicates before cli_pump_end(). If @out fails, writes to it fail with EPIPE.
 * @bytes: the size of the queue, above 0. Returns 0 or -errno.
 */
int cli_pump_begin(int out, size_t bytes, struct cli_pump **pump, int *in);

/* Return the number of bytes in the queue. */
size_t cli_pump_used(struct cli_pump *pump);

/*
 * Wait until the queue is empty or @out has failed, and free the pump. Returns 0 or the -errno of
 * @out.
 */
int cli_pump_end(struct cli_pump *pump);

#endif /* VMM_CLI_PUMP_H */
