// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread for each vCPU. A thread that gives the lock away first looks for events that it has made
 * for other vCPUs. It interrupts those vCPUs, or ends their wait.
 */
#include "core/threads.h"
#include "core/devices.h"
#include "core/init.h"
#include "core/irq.h"
#include "core/loop.h"
#include "core/vcpu.h"
#include "core/wait.h"

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
	THREAD_FOR_OTHERS = 1 << 3, /* only another vCPU or a shared device can end the wait */
	THREAD_NOTIFIED = 1 << 4,   /* its run() or its wait ends because of an event */
};

struct thread {
	pthread_t id;
	pthread_cond_t event;
	uint32_t state; /* enum thread_state */
	bool left;	/* its loop has returned */
	bool ended;	/* with the end of its trace */
};

struct core_threads {
	pthread_mutex_t lock;
	struct thread of[DEV_PLATFORM_CPUS];
};

/* Held while a thread that brings input uses vm->threads, which ends with the loop. */
static pthread_mutex_t input_lock = PTHREAD_MUTEX_INITIALIZER;

static struct thread *thread_of(const struct core_vcpu *v)
{
	return &v->vm->threads->of[v->index];
}

bool core_threads_used(const struct core_vcpu *v)
{
	return v->vm->threads;
}

/* Returns true if a vCPU has an event that its thread does not know. */
static bool has_event(struct core_vcpu *v)
{
	const uint32_t state = thread_of(v)->state;

	if (v->vm->stop.kind || v->vm->change.due || core_init_pending(v) ||
	    v->pending & CORE_VCPU_ASKED)
		return true;
	/* The first vCPU also waits for the events of the shared devices, and for input. */
	if (!v->index && (core_devices_is_earlier(v) || core_input_is_due(v)))
		return true;
	if (v->pending & CORE_VCPU_WAIT_SIPI)
		return false;
	if (state & THREAD_WAITS)
		return core_wait_is_over(v);
	if (!(state & THREAD_WANTS_IRQ))
		return core_irq_pending(v);
	/* No window opens for an NMI while RFLAGS.IF is clear. */
	return core_irq_in_nmi(v);
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

void core_threads_notify(struct core_vcpu *v)
{
	unsigned int i;

	for (i = 0; v->vm->threads && i < v->vm->cpus; i++)
		if (i != v->index)
			notify(v->vm->cpu[i]);
}

void core_threads_leave(struct core_vcpu *v, bool want_irq)
{
	if (!v->vm->threads)
		return;
	core_threads_notify(v);
	thread_of(v)->state = THREAD_RUNS | (want_irq ? THREAD_WANTS_IRQ : 0);
	pthread_mutex_unlock(&v->vm->threads->lock);
}

/* The post-mortem is that of the vCPU that has stopped the VM. */
static void become_current(struct core_vcpu *v)
{
	if (!v->vm->stop.kind)
		v->vm->current = v;
}

void core_threads_enter(struct core_vcpu *v)
{
	if (!v->vm->threads)
		return;
	pthread_mutex_lock(&v->vm->threads->lock);
	thread_of(v)->state = 0;
	become_current(v);
}

/* Returns true if a shared device, or input, can wake one of the vCPUs. */
static bool devices_can_wake(const struct core_vm *vm)
{
	unsigned int i;

	if (core_devices_shared_next(vm) == UINT64_MAX && !core_input_can_wake(vm->vcpu))
		return false;
	for (i = 0; i < vm->cpus; i++)
		if (vm->cpu[i]->pending & CORE_VCPU_HALTED && vm->cpu[i]->regs->rflags & X86_FL_IF)
			return true;
	return false;
}

/* Returns true if each other vCPU waits for others, and nothing will wake one. */
static bool is_over(const struct core_vcpu *v)
{
	const struct core_vm *vm = v->vm;
	unsigned int i;

	for (i = 0; i < vm->cpus; i++) {
		const uint32_t state = thread_of(vm->cpu[i])->state;

		if (i != v->index && (!(state & THREAD_FOR_OTHERS) || state & THREAD_NOTIFIED))
			return false;
	}
	return !devices_can_wake(vm);
}

static struct timespec after(uint64_t ns)
{
	const uint64_t end = core_now() + ns;

	return (struct timespec){(time_t)(end / NS_PER_SECOND), (long)(end % NS_PER_SECOND)};
}

static void wait_for(struct core_vcpu *v, uint64_t ns, uint32_t state)
{
	struct thread *t = thread_of(v);
	struct timespec until;

	if (!v->index)
		core_devices_touched(v);
	core_threads_notify(v);
	t->state = THREAD_WAITS | state;
	until = after(ns < LONGEST_NS ? ns : LONGEST_NS);
	if (!has_event(v)) {
		if (state && is_over(v))
			core_vm_stop(v->vm, TRACE_STOP_HALTED,
				     "at %#llx, and nothing wakes a processor",
				     (unsigned long long)v->vm->vcpu->regs->rip);
		else
			pthread_cond_timedwait(&t->event, &v->vm->threads->lock, &until);
	}
	t->state = 0;
	become_current(v);
}

void core_threads_wait(struct core_vcpu *v, uint64_t ns)
{
	wait_for(v, ns, 0);
}

void core_threads_park(struct core_vcpu *v)
{
	wait_for(v, v->index ? UINT64_MAX : core_devices_next(v), THREAD_FOR_OTHERS);
}

bool core_threads_input(struct core_vm *vm)
{
	struct core_threads *threads;

	pthread_mutex_lock(&input_lock);
	threads = vm->threads;
	if (threads) {
		pthread_mutex_lock(&threads->lock);
		core_input_notify(vm);
		notify(vm->vcpu);
		pthread_mutex_unlock(&threads->lock);
	}
	pthread_mutex_unlock(&input_lock);
	return threads;
}

static void use(struct core_vm *vm, struct core_threads *threads)
{
	pthread_mutex_lock(&input_lock);
	vm->threads = threads;
	pthread_mutex_unlock(&input_lock);
}

void core_threads_urge(const struct core_vm *vm)
{
	unsigned int i;

	for (i = 1; vm->threads && i < vm->cpus; i++)
		if (vm->threads->of[i].id)
			(void)pthread_kill(vm->threads->of[i].id, SIGALRM);
}

static void leave(struct core_vcpu *v)
{
	struct thread *t = thread_of(v);

	t->left = true;
	t->ended = v->vm->stop.kind;
}

static void *run(void *vcpu)
{
	struct core_vcpu *v = vcpu;

	core_threads_enter(v);
	core_vcpu_loop(v);
	leave(v);
	pthread_cond_signal(&v->vm->threads->of[0].event);
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
	sigdelset(&all, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (*count = 1; !error && *count < vm->cpus; ++*count)
		error = pthread_create(&vm->threads->of[*count].id, NULL, run, vm->cpu[*count]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		--*count;
	return -error;
}

static bool have_left(const struct core_vm *vm, unsigned int count)
{
	unsigned int i;

	for (i = 1; i < count; i++)
		if (!vm->threads->of[i].left)
			return false;
	return true;
}

/*
 * Wait until each thread has left its loop. A vCPU that cannot stop for a change yet may go on for
 * some time, so the first vCPU's thread still looks at the host.
 */
static void gather(struct core_vm *vm, unsigned int count)
{
	while (!have_left(vm, count)) {
		struct timespec until = after(LONGEST_NS);

		pthread_cond_timedwait(&vm->threads->of[0].event, &vm->threads->lock, &until);
		if (vm->stop.kind)
			continue;
		core_loop_poll_host(vm->vcpu);
		if (vm->stop.kind)
			core_threads_notify(vm->vcpu);
	}
}

int core_threads_loop(struct core_vm *vm)
{
	struct core_threads threads = {.of = {{.state = 0}}};
	unsigned int count, i;
	int error;

	init(&threads, vm->cpus);
	use(vm, &threads);
	pthread_mutex_lock(&threads.lock);
	error = create(vm, &count);
	if (error) {
		vm->stop.error = -error;
		core_vm_stop(vm, TRACE_STOP_HOST, "no thread for a vCPU");
	}
	for (i = 0; i < vm->cpus; i++)
		core_irq_poll(vm->cpu[i]);
	core_vcpu_loop(vm->vcpu);
	leave(vm->vcpu);
	gather(vm, count);
	for (i = 0; vm->stop.kind && i < vm->cpus; i++)
		if (!threads.of[i].ended)
			core_loop_end(vm->cpu[i]);
	pthread_mutex_unlock(&threads.lock);
	for (i = 1; i < count; i++) {
		const pthread_t id = threads.of[i].id;

		/* A signal handler reads it. */
		threads.of[i].id = 0;
		pthread_join(id, NULL);
	}
	use(vm, NULL);
	destroy(&threads, vm->cpus);
	return error;
}
