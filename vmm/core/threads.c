// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread for each vCPU. A thread that gives the lock away first looks for events that it has made
 * for other vCPUs. It interrupts those vCPUs, or ends their wait.
 */
#include "core/threads.h"
#include "core/devices.h"
#include "core/init.h"
#include "core/irq.h"
#include "core/vcpu.h"
#include "core/wait.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#define NS_PER_SECOND 1000000000u
/* The longest wait, after which the loop looks at the host. */
#define LONGEST_NS 100000000u

/* Bits of thread.state. */
enum thread_state {
	THREAD_RUNS = 1 << 0,	   /* in the engine's run() */
	THREAD_WANTS_IRQ = 1 << 1, /* which ends when an interrupt can be delivered */
	THREAD_WAITS = 1 << 2,
	THREAD_FOR_OTHERS = 1 << 3, /* nothing but another vCPU can end the wait */
	THREAD_NOTIFIED = 1 << 4,   /* its run() or its wait ends because of an event */
};

struct thread {
	pthread_t id;
	pthread_cond_t event;
	uint32_t state; /* enum thread_state */
};

struct core_threads {
	pthread_mutex_t lock;
	struct thread of[DEV_PLATFORM_CPUS];
};

static struct thread *thread_of(const struct core_vcpu *v)
{
	return &v->vm->threads->of[v->index];
}

bool core_threads_used(const struct core_vcpu *v)
{
	return v->vm->threads;
}

/* Returns true if a vCPU has an event that its thread does not know. */
static bool has_event(const struct core_vcpu *v)
{
	const uint32_t state = thread_of(v)->state;

	if (v->vm->stop.kind || core_init_pending(v))
		return true;
	/* The first vCPU also waits for the events of the shared devices. */
	if (!v->index && core_devices_is_earlier(v))
		return true;
	if (v->pending & CORE_VCPU_WAIT_SIPI)
		return false;
	if (state & THREAD_WAITS)
		return core_wait_is_over(v);
	return !(state & THREAD_WANTS_IRQ) && core_irq_pending(v);
}

static void notify(struct core_vcpu *v)
{
	struct thread *t = thread_of(v);

	if (t->state & THREAD_NOTIFIED || !(t->state & (THREAD_RUNS | THREAD_WAITS)) ||
	    !has_event(v))
		return;
	if (t->state & THREAD_RUNS)
		v->engine->interrupt(v->ev);
	else
		pthread_cond_signal(&t->event);
	t->state |= THREAD_NOTIFIED;
}

static void notify_others(struct core_vcpu *v)
{
	unsigned int i;

	for (i = 0; i < v->vm->cpus; i++)
		if (i != v->index)
			notify(v->vm->cpu[i]);
}

void core_threads_leave(struct core_vcpu *v, bool want_irq)
{
	if (!v->vm->threads)
		return;
	notify_others(v);
	thread_of(v)->state = THREAD_RUNS | (want_irq ? THREAD_WANTS_IRQ : 0);
	pthread_mutex_unlock(&v->vm->threads->lock);
}

void core_threads_enter(struct core_vcpu *v)
{
	if (!v->vm->threads)
		return;
	pthread_mutex_lock(&v->vm->threads->lock);
	thread_of(v)->state = 0;
	v->vm->current = v;
}

/* Returns true if each other vCPU waits for others, and none has an event. */
static bool all_others_wait(const struct core_vcpu *v)
{
	const struct core_vm *vm = v->vm;
	unsigned int i;

	for (i = 0; i < vm->cpus; i++) {
		const uint32_t state = thread_of(vm->cpu[i])->state;

		if (i != v->index && (!(state & THREAD_FOR_OTHERS) || state & THREAD_NOTIFIED))
			return false;
	}
	return true;
}

void core_threads_wait(struct core_vcpu *v, uint64_t ns)
{
	const bool for_others = ns == UINT64_MAX;
	struct thread *t = thread_of(v);
	struct timespec until;
	uint64_t end = core_now();

	if (!v->index)
		core_devices_touched(v);
	notify_others(v);
	if (for_others && all_others_wait(v)) {
		core_vm_stop(v->vm, TRACE_STOP_HALTED, "at %#llx, and nothing wakes a processor",
			     (unsigned long long)v->vm->vcpu->regs->rip);
		return;
	}
	t->state = THREAD_WAITS | (for_others ? THREAD_FOR_OTHERS : 0);
	end += ns < LONGEST_NS ? ns : LONGEST_NS;
	until = (struct timespec){(time_t)(end / NS_PER_SECOND), (long)(end % NS_PER_SECOND)};
	if (!has_event(v))
		pthread_cond_timedwait(&t->event, &v->vm->threads->lock, &until);
	t->state = 0;
	v->vm->current = v;
}

static void *run(void *vcpu)
{
	struct core_vcpu *v = vcpu;

	core_threads_enter(v);
	core_vcpu_loop(v);
	notify_others(v);
	pthread_mutex_unlock(&v->vm->threads->lock);
	return NULL;
}

static void init(struct core_threads *threads, unsigned int cpus)
{
	pthread_condattr_t attr;
	unsigned int i;

	pthread_mutex_init(&threads->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	for (i = 0; i < cpus; i++)
		pthread_cond_init(&threads->of[i].event, &attr);
	pthread_condattr_destroy(&attr);
}

static void destroy(struct core_threads *threads, unsigned int cpus)
{
	unsigned int i;

	for (i = 0; i < cpus; i++)
		pthread_cond_destroy(&threads->of[i].event);
	pthread_mutex_destroy(&threads->lock);
}

/*
 * Create the threads of all vCPUs except the first. The first vCPU's thread receives the signals of
 * the process, and ends the run.
 */
static int create(struct core_vm *vm, unsigned int *count)
{
	sigset_t all, before;
	int error = 0;

	sigfillset(&all);
	sigdelset(&all, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (*count = 1; !error && *count < vm->cpus; ++*count)
		error = pthread_create(&vm->threads->of[*count].id, NULL, run, vm->cpu[*count]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		--*count;
	return -error;
}

int core_threads_loop(struct core_vm *vm)
{
	struct core_threads threads = {.of = {{.state = 0}}};
	unsigned int count, i;
	int error;

	init(&threads, vm->cpus);
	vm->threads = &threads;
	pthread_mutex_lock(&threads.lock);
	error = create(vm, &count);
	if (error) {
		vm->stop.error = -error;
		core_vm_stop(vm, TRACE_STOP_HOST, "no thread for a vCPU");
	}
	for (i = 0; i < vm->cpus; i++)
		core_irq_poll(vm->cpu[i]);
	core_vcpu_loop(vm->vcpu);
	notify_others(vm->vcpu);
	pthread_mutex_unlock(&threads.lock);
	for (i = 1; i < count; i++)
		pthread_join(threads.of[i].id, NULL);
	vm->threads = NULL;
	destroy(&threads, vm->cpus);
	return error;
}
