// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare the vCPUs of a trace on threads, and add up the results in the order of the vCPUs. */
#include "oracle/compare_all.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

static void add_counts(struct oracle_comparison *c, const struct oracle_comparison *from)
{
	c->retired += from->retired;
	c->decoded += from->decoded;
	c->matched += from->matched;
	c->events += from->events;
	c->sessions += from->sessions;
	c->skipped += from->skipped;
	c->errors += from->errors;
	c->untold += from->untold;
	c->looped += from->looped;
}

int oracle_comparison_add(struct oracle_comparison *c, struct oracle_comparison *from)
{
	size_t i;

	for (i = 0; i < from->shortfalls.n; i++) {
		if (!trace_vec_room(&c->shortfalls))
			return -ENOMEM;
		c->shortfalls.at[c->shortfalls.n++] = from->shortfalls.at[i];
	}
	add_counts(c, from);
	if (!c->mismatches && from->mismatches) {
		c->diff = from->diff;
		/* The text is a part of the difference. */
		if (from->diff.text)
			c->diff.text = c->diff.buf;
	}
	if (from->loops && (!c->loops || from->loop.ends))
		c->loop = from->loop;
	c->loops += from->loops;
	__atomic_store_n(&c->mismatches, c->mismatches + from->mismatches, __ATOMIC_RELAXED);
	oracle_comparison_free(from);
	return 0;
}

struct vcpu {
	struct oracle_comparison c;
	bool done;
	int err;
};

struct all {
	struct trace_reader *reader;
	struct vcpu *vcpu;
	unsigned int vcpus;
	pthread_mutex_t lock; /* protects the rest, and the results */
	pthread_cond_t changed;
	unsigned int next; /* the next vCPU to compare */
	bool stop;
};

/* Take a vCPU. Returns false if there is none left. */
static bool take(struct all *all, unsigned int *vcpu)
{
	bool some;

	pthread_mutex_lock(&all->lock);
	some = !all->stop && all->next < all->vcpus;
	*vcpu = all->next;
	all->next += some;
	pthread_mutex_unlock(&all->lock);
	return some;
}

static void *work(void *argument)
{
	struct all *all = argument;
	unsigned int v;

	while (take(all, &v)) {
		struct vcpu *vcpu = &all->vcpu[v];
		const int err = oracle_compare(all->reader, v, &vcpu->c);

		pthread_mutex_lock(&all->lock);
		vcpu->err = err;
		vcpu->done = true;
		all->stop |= err != 0;
		pthread_cond_broadcast(&all->changed);
		pthread_mutex_unlock(&all->lock);
	}
	return NULL;
}

/* Add the results, in the order of the vCPUs, as they come. */
static int collect(struct all *all, struct oracle_comparison *c)
{
	unsigned int v;
	int err = 0;

	for (v = 0; v < all->vcpus && !err; v++) {
		struct vcpu *vcpu = &all->vcpu[v];

		pthread_mutex_lock(&all->lock);
		/* After an error of a later vCPU, this one may never be taken. */
		while (!vcpu->done && (v < all->next || !all->stop))
			pthread_cond_wait(&all->changed, &all->lock);
		err = vcpu->done ? vcpu->err : 0;
		pthread_mutex_unlock(&all->lock);
		if (!err && vcpu->done)
			err = oracle_comparison_add(c, &vcpu->c);
	}
	return err;
}

static int on_threads(struct all *all, unsigned int jobs, struct oracle_comparison *c)
{
	pthread_t *thread = calloc(jobs, sizeof(*thread));
	unsigned int started = 0, i;
	int err = thread ? 0 : -ENOMEM;

	while (!err && started < jobs) {
		if (pthread_create(&thread[started], NULL, work, all))
			break;
		started++;
	}
	/* Without any thread this one does the work. */
	if (!err && !started)
		work(all);
	if (!err)
		err = collect(all, c);
	pthread_mutex_lock(&all->lock);
	all->stop = true;
	pthread_mutex_unlock(&all->lock);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return err;
}

static int one_by_one(struct trace_reader *reader, struct oracle_comparison *c)
{
	const unsigned int vcpus = trace_reader_info(reader)->vcpus;
	unsigned int v;
	int err = 0;

	for (v = 0; v < vcpus && !err; v++)
		err = oracle_compare(reader, v, c);
	return err;
}

int oracle_compare_all(struct trace_reader *reader, unsigned int jobs, struct oracle_comparison *c)
{
	struct all all = {.reader = reader, .vcpus = trace_reader_info(reader)->vcpus};
	/* The threads that are left decode ahead for the first vCPUs. */
	const unsigned int ahead = jobs > all.vcpus ? jobs - all.vcpus : 0;
	unsigned int v;
	int err;

	if (jobs > all.vcpus)
		jobs = all.vcpus;
	c->threaded = ahead && all.vcpus == 1;
	if (jobs < 2 || c->by != DECODE_FLOW_BY_LIBVPTDECODE || trace_reader_source(reader))
		return one_by_one(reader, c);
	all.vcpu = calloc(all.vcpus, sizeof(*all.vcpu));
	if (!all.vcpu)
		return -ENOMEM;
	for (v = 0; v < all.vcpus; v++)
		all.vcpu[v].c = (struct oracle_comparison){
			.by = c->by, .unit = c->unit, .threaded = v < ahead};
	pthread_mutex_init(&all.lock, NULL);
	pthread_cond_init(&all.changed, NULL);
	err = on_threads(&all, jobs, c);
	pthread_mutex_destroy(&all.lock);
	pthread_cond_destroy(&all.changed);
	for (v = 0; v < all.vcpus; v++)
		oracle_comparison_free(&all.vcpu[v].c);
	free(all.vcpu);
	return err;
}
