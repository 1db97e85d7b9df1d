// SPDX-License-Identifier: GPL-2.0-or-later
/* Checkpoints of a machine as processes. */
#include "gdb/timeline.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum gdb_checkpoint_state {
	FREE,
	WAITING, /* its process waits */
	LEAVING, /* its process has been told to end */
	LOST,	 /* its process does not answer: the place stays unused */
};

/* The process of a checkpoint reads this from its eventfd. */
enum order { GO_ON = 1, END };

/* The exit status if a process cannot be had (CLI_EXIT_HOST). */
#define NO_WAY 4

/* The number of looks, 50 us apart, for a process that ends. */
#define DROP_TRIES 100000u

static size_t bytes_of(size_t more)
{
	return sizeof(struct gdb_timeline_shared) + more;
}

void *gdb_timeline_common(const struct gdb_timeline *t)
{
	return t->shared + 1;
}

static void close_all(struct gdb_timeline *t)
{
	unsigned int i;

	for (i = 0; i < GDB_CHECKPOINTS; i++)
		if (t->wake[i] >= 0)
			close(t->wake[i]);
	for (i = 0; i < 2; i++)
		if (t->alive[i] >= 0)
			close(t->alive[i]);
}

int gdb_timeline_create(struct gdb_timeline *t, size_t bytes)
{
	unsigned int i;
	int error = 0;

	t->alive[0] = t->alive[1] = -1;
	for (i = 0; i < GDB_CHECKPOINTS; i++) {
		t->wake[i] = eventfd(0, EFD_CLOEXEC);
		if (t->wake[i] < 0)
			error = -errno;
	}
	if (pipe(t->alive))
		error = -errno;
	/* All processes become children of the first one when their parents end. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		error = -errno;
	t->shared = mmap(NULL, bytes_of(bytes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	if (t->shared == MAP_FAILED) {
		t->shared = NULL;
		error = -errno;
	}
	return error;
}

void gdb_timeline_destroy(struct gdb_timeline *t)
{
	/* The shared memory stays until this process ends, because others may use it. */
	close_all(t);
}

static void close_end(struct gdb_timeline *t, unsigned int end)
{
	if (t->alive[end] >= 0)
		close(t->alive[end]);
	t->alive[end] = -1;
}

/*
 * Wait for the end of the process that runs the machine. Returns its exit status, or -1. A signal
 * that ends vpt interrupts the wait, and the runner then sees that the pipe has no writer.
 */
static int await(struct gdb_timeline *t)
{
	int status;
	pid_t pid;

	for (;;) {
		pid = wait(&status);
		if (pid < 0 && errno != EINTR)
			return -1;
		if (pid < 0)
			close_end(t, 1);
		/* A process that gave its place to a checkpoint is no longer the runner. */
		if (pid > 0 && pid == t->shared->runner)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
}

int gdb_timeline_begin(struct gdb_timeline *t, int *status)
{
	pid_t pid;

	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid) {
		t->shared->runner = pid;
		close_end(t, 0);
		*status = await(t);
		/* The processes of the checkpoints see that the pipe has no writer. */
		close_end(t, 1);
		return 1;
	}
	t->shared->runner = getpid();
	close_end(t, 1);
	/* The kernel removes the processes of checkpoints, because nothing waits for them. */
	signal(SIGCHLD, SIG_IGN);
	return 0;
}

void gdb_timeline_end(void)
{
	signal(SIGCHLD, SIG_DFL);
}

bool gdb_timeline_is_over(const struct gdb_timeline *t)
{
	struct pollfd in = {.fd = t->alive[0]};

	return poll(&in, 1, 0) > 0;
}

/* Wait for an order as the process of checkpoint @n. */
static enum order wait_as(const struct gdb_timeline *t, unsigned int n)
{
	struct pollfd in[2] = {
		{.fd = t->wake[n], .events = POLLIN},
		{.fd = t->alive[0]},
	};
	uint64_t order;

	for (;;) {
		if (poll(in, 2, -1) < 0)
			continue;
		if (in[1].revents)
			_exit(0);
		if (in[0].revents & POLLIN &&
		    read(t->wake[n], &order, sizeof(order)) == sizeof(order))
			return (enum order)order;
	}
}

static void order(const struct gdb_timeline *t, unsigned int n, enum order what)
{
	const uint64_t value = what;

	while (write(t->wake[n], &value, sizeof(value)) != sizeof(value))
		;
}

/*
 * Remove a checkpoint. Its process must have read the order before the place is used again. A process
 * that something else has killed reads no more.
 */
static void drop(struct gdb_timeline *t, unsigned int n)
{
	const struct timespec pause = {.tv_nsec = 50000};
	struct gdb_checkpoint *c = &t->shared->at[n];
	unsigned int i;

	c->state = LEAVING;
	order(t, n, END);
	for (i = 0; c->state == LEAVING && i < DROP_TRIES; i++)
		nanosleep(&pause, NULL);
	if (c->state == LEAVING)
		c->state = LOST;
}

/* The process of checkpoint @n: returns when it is to run the machine. */
static void stand(struct gdb_timeline *t, unsigned int n)
{
	pid_t pid;

	for (;;) {
		if (wait_as(t, n) == END) {
			t->shared->at[n].state = FREE;
			_exit(0);
		}
		/* The copy is the checkpoint from here on. */
		pid = fork();
		if (pid < 0)
			t->shared->at[n].state = n ? FREE : LOST;
		if (pid) {
			t->shared->runner = getpid();
			return;
		}
	}
}

/* The neighbours of a checkpoint in time, as positions. */
static void neighbours(const struct gdb_timeline *t, unsigned int n, uint64_t *before,
		       uint64_t *after)
{
	const uint64_t at = t->shared->at[n].position;
	unsigned int i;

	*before = 0;
	*after = UINT64_MAX;
	for (i = 0; i < GDB_CHECKPOINTS; i++) {
		const struct gdb_checkpoint *c = &t->shared->at[i];

		if (c->state != WAITING || i == n)
			continue;
		if (c->position <= at && c->position > *before)
			*before = c->position;
		if (c->position > at && c->position < *after)
			*after = c->position;
	}
}

/* Returns true if this is the first checkpoint with a change by the debugger. */
static bool begins_history(const struct gdb_timeline *t, unsigned int n)
{
	const struct gdb_checkpoint *c = &t->shared->at[n];
	unsigned int i;

	for (i = 0; c->epoch && i < GDB_CHECKPOINTS; i++)
		if (t->shared->at[i].state == WAITING && t->shared->at[i].epoch == c->epoch &&
		    t->shared->at[i].position < c->position)
			return false;
	return c->epoch;
}

/*
 * Choose the place for a checkpoint at @position. If all are taken, the one that is missed least
 * leaves: the gap that it closes is short for its distance. So the gaps grow exponentially with the
 * distance. The first checkpoint stays, and so do those that begin a history. Returns 0 if none can
 * leave.
 */
static unsigned int choose(struct gdb_timeline *t, uint64_t position)
{
	const unsigned int first = t->shared->at[0].state == FREE ? 0 : 1;
	unsigned int i, best = 0;
	double least = 0;

	for (i = first; i < GDB_CHECKPOINTS; i++)
		if (t->shared->at[i].state == FREE)
			return i;
	for (i = 1; i < GDB_CHECKPOINTS; i++) {
		const uint64_t at = t->shared->at[i].position;
		const uint64_t distance = at < position ? position - at : at - position;
		uint64_t before, after;
		double cost;

		if (t->shared->at[i].state != WAITING || begins_history(t, i))
			continue;
		neighbours(t, i, &before, &after);
		if (after == UINT64_MAX)
			after = position > at ? position : at;
		cost = (double)(after - before) / ((double)distance + 1);
		if (!best || cost < least) {
			least = cost;
			best = i;
		}
	}
	if (best)
		drop(t, best);
	return t->shared->at[best].state == FREE ? best : 0;
}

bool gdb_timeline_mark(struct gdb_timeline *t, uint64_t position)
{
	const int there = gdb_timeline_find(t, position);
	unsigned int n;
	pid_t pid;

	if (there >= 0 && t->shared->at[there].position == position &&
	    t->shared->at[there].epoch == t->shared->epoch)
		return false;
	n = choose(t, position);
	/* Place 0 is that of the beginning. */
	if (!n && t->shared->at[0].state != FREE)
		return false;
	t->shared->at[n] = (struct gdb_checkpoint){
		.state = WAITING, .epoch = t->shared->epoch, .position = position};
	pid = fork();
	if (pid < 0)
		t->shared->at[n].state = FREE;
	if (pid)
		return false;
	stand(t, n);
	return true;
}

int gdb_timeline_find(const struct gdb_timeline *t, uint64_t position)
{
	int best = -1;
	unsigned int i;

	for (i = 0; i < GDB_CHECKPOINTS; i++) {
		const struct gdb_checkpoint *c = &t->shared->at[i];

		/* Of two at one position, the later has what the debugger has changed there. */
		if (c->state == WAITING && c->position <= position &&
		    (best < 0 || c->position > t->shared->at[best].position ||
		     (c->position == t->shared->at[best].position &&
		      c->epoch > t->shared->at[best].epoch)))
			best = (int)i;
	}
	return best;
}

void gdb_timeline_go(struct gdb_timeline *t, int checkpoint)
{
	const struct gdb_checkpoint *to = &t->shared->at[checkpoint];
	unsigned int i;

	/* The changes after this checkpoint will not be repeated. */
	for (i = 0; i < GDB_CHECKPOINTS; i++)
		if (t->shared->at[i].state == WAITING && t->shared->at[i].epoch > to->epoch)
			drop(t, i);
	t->shared->epoch = to->epoch;
	/* Without a process for the beginning there is no way back. */
	if (to->state != WAITING)
		_exit(NO_WAY);
	/* The end of this process is not that of the session. */
	t->shared->runner = 0;
	order(t, (unsigned int)checkpoint, GO_ON);
	_exit(0);
}

void gdb_timeline_changed(struct gdb_timeline *t, uint64_t position)
{
	unsigned int i;

	t->shared->epoch++;
	for (i = 0; i < GDB_CHECKPOINTS; i++)
		if (t->shared->at[i].state == WAITING && t->shared->at[i].position > position)
			drop(t, i);
}
