// SPDX-License-Identifier: GPL-2.0-or-later
/* Two threads and a queue of bytes, for readers that are slower than a trace. */
#include "cli/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* The largest part of one read or write, so that cli_pump_used() changes while bytes move. */
#define PIECE ((size_t)65536)

struct cli_pump {
	int in, out;
	pthread_t filler, drainer;
	uint8_t *bytes;
	size_t size;

	pthread_mutex_t lock; /* protects the rest */
	pthread_cond_t changed;
	size_t at, used; /* the queue is the @used bytes from @at on, cyclic */
	bool ended;	 /* the writer has closed its end */
	int error;	 /* -errno of @out, after which nothing moves */
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Add bytes to the queue. The part of the array behind the queue belongs to this thread. */
static void *fill(void *argument)
{
	struct cli_pump *p = argument;
	ssize_t got = 1;

	pthread_mutex_lock(&p->lock);
	while (got > 0 && !p->error) {
		const size_t end = (p->at + p->used) % p->size;
		const size_t room = smaller(p->size - p->used, p->size - end);

		if (!room) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		do
			got = read(p->in, p->bytes + end, smaller(room, PIECE));
		while (got < 0 && errno == EINTR);
		pthread_mutex_lock(&p->lock);
		p->used += got > 0 ? (size_t)got : 0;
		pthread_cond_broadcast(&p->changed);
	}
	p->ended = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	/* The writer must not wait for a reader that is gone. */
	close(p->in);
	return NULL;
}

static void *drain(void *argument)
{
	struct cli_pump *p = argument;
	ssize_t put;

	pthread_mutex_lock(&p->lock);
	while (!p->error && (p->used || !p->ended)) {
		const size_t part = smaller(smaller(p->used, p->size - p->at), PIECE);

		if (!part) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		put = write(p->out, p->bytes + p->at, part);
		pthread_mutex_lock(&p->lock);
		if (put < 0 && errno != EINTR)
			p->error = -errno;
		if (put > 0) {
			p->at = (p->at + (size_t)put) % p->size;
			p->used -= (size_t)put;
		}
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Signals are for the threads of the machine. */
static int start(struct cli_pump *p)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&p->drainer, NULL, drain, p);
	if (!error) {
		error = pthread_create(&p->filler, NULL, fill, p);
		if (error) {
			pthread_mutex_lock(&p->lock);
			p->ended = true;
			pthread_cond_broadcast(&p->changed);
			pthread_mutex_unlock(&p->lock);
			pthread_join(p->drainer, NULL);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static void release(struct cli_pump *p)
{
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	free(p->bytes);
	free(p);
}

int cli_pump_begin(int out, size_t bytes, struct cli_pump **pump, int *in)
{
	struct cli_pump *p = calloc(1, sizeof(*p));
	int ends[2], err;

	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->out = out;
	p->size = bytes;
	p->bytes = malloc(bytes);
	err = !p->bytes ? -ENOMEM : pipe2(ends, O_CLOEXEC) ? -errno : 0;
	if (err) {
		release(p);
		return err;
	}
	p->in = ends[0];
	err = start(p);
	if (err) {
		close(ends[0]);
		close(ends[1]);
		release(p);
		return err;
	}
	*pump = p;
	*in = ends[1];
	return 0;
}

size_t cli_pump_used(struct cli_pump *p)
{
	size_t used;

	pthread_mutex_lock(&p->lock);
	used = p->used;
	pthread_mutex_unlock(&p->lock);
	return used;
}

int cli_pump_end(struct cli_pump *p)
{
	int error;

	pthread_join(p->filler, NULL);
	pthread_join(p->drainer, NULL);
	error = p->error;
	release(p);
	return error;
}
