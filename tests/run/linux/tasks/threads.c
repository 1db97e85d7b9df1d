// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process of four threads with names, each of which calls its own function a known number of times.
 * A thread stays on its processor meanwhile: a call that continues on another one would be in the
 * trees of both (docs/limits.md).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 3
#define CALLS	20000

static volatile unsigned long sum;

#define FUNCTION(name)                                         \
	__attribute__((noinline)) static void run_##name(void) \
	{                                                      \
		int i;                                         \
                                                               \
		for (i = 0; i < 100; i++)                      \
			sum += (unsigned long)i;               \
	}
FUNCTION(alpha)
FUNCTION(beta)
FUNCTION(gamma)

static const struct {
	const char *name;
	void (*call)(void);
	int calls;
} works[THREADS] = {{"alpha", run_alpha, CALLS},
		    {"beta", run_beta, CALLS + 1},
		    {"gamma", run_gamma, CALLS + 2}};

static int stay(int n)
{
	const int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(n % cpus, &set);
	return pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *work(void *number)
{
	const int n = (int)(long)number;
	int i;

	if (stay(n))
		return NULL;
	pthread_setname_np(pthread_self(), works[n].name);
	printf("thread: %d %ld %s %d\n", getpid(), syscall(SYS_gettid), works[n].name,
	       works[n].calls);
	for (i = 0; i < works[n].calls; i++)
		works[n].call();
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	long i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
