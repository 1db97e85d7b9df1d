// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watches the sources of input of a run under KVM. A thread waits for input, and lets the first vCPU
 * take it. The thread then waits until the vCPU has done so, and says what to watch next.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run.h"
#include "core/input.h"
#include "core/threads.h"
#include "net/net.h"

#define MOST 64u

struct set {
	struct pollfd fd[MOST];
	unsigned int count;
	int ms; /* the longest wait, or -1 */
};

struct cli_run_watch {
	struct core_vm *vm;
	pthread_t thread, owner;
	int wake[2]; /* a pipe: the set has changed */
	pthread_mutex_t lock;
	/* With the lock: */
	struct set set; /* without descriptors after it was reported that there is input */
	bool armed, ended;
};

/* The VM of the signal handler. */
static struct core_vm *volatile watched;

static void on_input(int sig)
{
	(void)sig;
	if (watched)
		core_input_notify(watched);
}

static void wake(const struct cli_run_watch *w)
{
	/* A full pipe wakes the thread as well. */
	if (write(w->wake[1], "", 1) < 0)
		return;
}

/* Copy the set. Returns false at the end of the run. */
static bool get(struct cli_run_watch *w, struct set *set)
{
	bool ended;

	pthread_mutex_lock(&w->lock);
	*set = w->set;
	ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	return !ended;
}

/* The first vCPU's thread handles the signal if it is the only one. */
static void report(struct cli_run_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->armed = false;
	w->set = (struct set){.ms = -1};
	pthread_mutex_unlock(&w->lock);
	if (!core_threads_input(w->vm))
		(void)pthread_kill(w->owner, SIGIO);
}

static void *watch(void *opaque)
{
	struct cli_run_watch *w = opaque;
	char bytes[64];
	struct set set;

	while (get(w, &set)) {
		struct pollfd *own = &set.fd[set.count];
		int n;

		*own = (struct pollfd){.fd = w->wake[0], .events = POLLIN};
		n = poll(set.fd, set.count + 1, set.ms);
		if (n > 0 && own->revents) {
			/* The set is another one by now. */
			if (read(w->wake[0], bytes, sizeof(bytes)) < 0)
				break;
		} else if (n >= 0) {
			report(w);
		}
	}
	return NULL;
}

static void add(struct set *set, int fd)
{
	if (fd >= 0)
		set->fd[set->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

void cli_run_watch(struct cli_run_machine *m)
{
	struct cli_run_watch *w = m->watch;
	struct set set = {.ms = -1};
	bool changed;

	if (!w)
		return;
	if (m->net)
		set.count = net_sources(m->net, set.fd, MOST - 3, &set.ms);
	add(&set, cli_run_monitor_fd(m));
	add(&set, cli_run_input_fd(&m->input));
	/* The next input is new, so the next poll must not be skipped. */
	m->input.looked = m->net_looked = 0;
	pthread_mutex_lock(&w->lock);
	changed = !w->armed || memcmp(&set, &w->set, sizeof(set)) != 0;
	w->armed = true;
	w->set = set;
	pthread_mutex_unlock(&w->lock);
	if (changed)
		wake(w);
}

static int start(struct cli_run_watch *w)
{
	struct sigaction action = {.sa_handler = on_input, .sa_flags = SA_RESTART};
	sigset_t all, before;
	int error;

	w->owner = pthread_self();
	w->set.ms = -1;
	pthread_mutex_init(&w->lock, NULL);
	if (pipe2(w->wake, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	watched = w->vm;
	sigemptyset(&action.sa_mask);
	sigaction(SIGIO, &action, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&w->thread, NULL, watch, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		close(w->wake[0]);
		close(w->wake[1]);
	}
	return -error;
}

void cli_run_watch_begin(struct cli_run_machine *m)
{
	struct cli_run_watch *w = calloc(1, sizeof(*w));

	/* Without the thread, the first vCPU looks for input at each tick. */
	if (!w)
		return;
	w->vm = &m->vm;
	if (start(w))
		free(w);
	else
		m->watch = w;
}

void cli_run_watch_end(struct cli_run_machine *m)
{
	struct cli_run_watch *w = m->watch;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_mutex_unlock(&w->lock);
	wake(w);
	pthread_join(w->thread, NULL);
	watched = NULL;
	close(w->wake[0]);
	close(w->wake[1]);
	pthread_mutex_destroy(&w->lock);
	free(w);
	m->watch = NULL;
}
