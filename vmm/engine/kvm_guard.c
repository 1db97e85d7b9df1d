// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stop a guest before it writes to watched pages of RAM, with userfaultfd.
 *
 * A write to a protected page waits in the kernel. A thread makes the page writable and interrupts
 * the vCPU. So KVM_RUN returns before the instruction has written, and written() reports the page.
 * The page stays writable up to the next exit, at which written() reports it again and protects it.
 * A write to another watched page is such an exit. So a kernel that patches its code page by page
 * stops once for each page, and not for each patch.
 *
 * Writes of vpt itself wait, too. The next run() returns before it enters the guest.
 */
#include "engine/kvm_guard.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/kvm.h"

#define PAGE	   4096ull
#define IN_WORD	   64u
#define MOST_PAGES 512u
#define NO_RIP	   UINT64_MAX

struct engine_kvm_guard {
	struct engine_kvm_vcpu *vcpu;
	int uffd;
	int quit[2]; /* a pipe that ends the thread when it is closed */
	pthread_t thread;
	bool has_thread;
	/* A bit for each page of RAM. A slot begins with a word of its own. */
	uint64_t *watched;
	size_t first[ENGINE_KVM_SLOTS + 1];
	/* The RIP of the vCPU when it was last stopped before a write, or NO_RIP. */
	uint64_t rip;
	bool entered; /* the guest was entered since the last report */
	pthread_mutex_t lock;
	/* Under the lock: the watched pages that are writable now. The first ones were reported. */
	uint64_t page[MOST_PAGES];
	size_t pages, reported;
};

int engine_kvm_guard_open(void)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	if (!ioctl(fd, UFFDIO_API, &api))
		return fd;
	close(fd);
	return -1;
}

/* Return the host's address of a page of RAM and its bit, or NULL. */
static uint8_t *find(const struct engine_kvm_guard *g, uint64_t gpa, uint64_t **word, uint64_t *bit)
{
	const struct engine_kvm_vm *vm = g->vcpu->vm;
	uint32_t i;

	for (i = 0; i < ENGINE_KVM_SLOTS; i++) {
		const struct engine_kvm_slot *slot = &vm->slot[i];
		const uint64_t page = (gpa - slot->gpa) / PAGE;
		const size_t at = g->first[i] + (size_t)(page / IN_WORD);

		if (gpa < slot->gpa || gpa - slot->gpa >= slot->bytes || at >= g->first[i + 1])
			continue;
		*word = &g->watched[at];
		*bit = 1ull << page % IN_WORD;
		return slot->host + page * PAGE;
	}
	return NULL;
}

static int protect(const struct engine_kvm_guard *g, uint8_t *host, bool on)
{
	struct uffdio_writeprotect set = {
		.range = {.start = (uintptr_t)host, .len = PAGE},
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};
	int error;

	do
		error = ioctl(g->uffd, UFFDIO_WRITEPROTECT, &set);
	while (error && errno == EAGAIN);
	return error ? -errno : 0;
}

static bool is_writable(const struct engine_kvm_guard *g, uint64_t gpa)
{
	size_t i;

	for (i = 0; i < g->pages; i++)
		if (g->page[i] == gpa)
			return true;
	return false;
}

/* Note that a page becomes writable. Without room for it the page is no longer watched. */
static void note(struct engine_kvm_guard *g, const uint8_t *host)
{
	uint64_t *word, bit;
	uint32_t i;

	for (i = 0; i < ENGINE_KVM_SLOTS; i++) {
		const struct engine_kvm_slot *slot = &g->vcpu->vm->slot[i];
		const uint64_t offset = (uint64_t)(host - slot->host);

		if (!slot->bytes || host < slot->host || offset >= slot->bytes)
			continue;
		/* Two threads can write to a page. */
		if (is_writable(g, slot->gpa + offset))
			return;
		if (g->pages < MOST_PAGES)
			g->page[g->pages++] = slot->gpa + offset;
		else if (find(g, slot->gpa + offset, &word, &bit))
			*word &= ~bit;
	}
}

static void serve(struct engine_kvm_guard *g, const struct uffd_msg *msg)
{
	uint8_t *host = (uint8_t *)(uintptr_t)(msg->arg.pagefault.address & ~(PAGE - 1));

	if (msg->event != UFFD_EVENT_PAGEFAULT)
		return;
	/* Under one lock, so that the page is not protected again in between. */
	pthread_mutex_lock(&g->lock);
	note(g, host);
	/* The vCPU finds the signal when it continues, before it enters the guest. */
	engine_kvm_interrupt(&g->vcpu->base);
	(void)protect(g, host, false);
	pthread_mutex_unlock(&g->lock);
}

static void *wait_for_writes(void *opaque)
{
	struct engine_kvm_guard *g = opaque;
	struct pollfd fds[] = {{g->quit[0], POLLIN, 0}, {g->uffd, POLLIN, 0}};
	struct uffd_msg msg;

	for (;;) {
		/* Without this thread a write would wait for ever, so an error is tried again. */
		(void)ppoll(fds, 2, NULL, NULL);
		if (fds[0].revents)
			return NULL;
		while (read(g->uffd, &msg, sizeof(msg)) == (ssize_t)sizeof(msg))
			serve(g, &msg);
	}
}

static int start_thread(struct engine_kvm_guard *g)
{
	sigset_t all, old;
	int error;

	if (pipe2(g->quit, O_CLOEXEC))
		return -errno;
	/* The signals of the process are for other threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&g->thread, NULL, wait_for_writes, g);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	g->has_thread = !error;
	return -error;
}

static int register_slots(struct engine_kvm_guard *g)
{
	const struct engine_kvm_vm *vm = g->vcpu->vm;
	uint32_t i;

	for (i = 0; i < ENGINE_KVM_SLOTS; i++) {
		struct uffdio_register slot = {
			.range = {.start = (uintptr_t)vm->slot[i].host, .len = vm->slot[i].bytes},
			.mode = UFFDIO_REGISTER_MODE_WP,
		};

		g->first[i + 1] =
			g->first[i] + (size_t)((vm->slot[i].bytes / PAGE + IN_WORD - 1) / IN_WORD);
		if (!vm->slot[i].bytes)
			continue;
		if (ioctl(g->uffd, UFFDIO_REGISTER, &slot))
			return -errno;
		if (!(slot.ioctls & (1ull << _UFFDIO_WRITEPROTECT)))
			return -EOPNOTSUPP;
	}
	g->watched = calloc(g->first[ENGINE_KVM_SLOTS] + 1, sizeof(*g->watched));
	return g->watched ? 0 : -ENOMEM;
}

int engine_kvm_guard_start(struct engine_kvm_vcpu *v)
{
	struct engine_kvm_guard *g;
	int error;

	if (v->vm->uffd < 0 || v->vm->vcpus != 1)
		return -EOPNOTSUPP;
	if (v->vm->guard)
		return 0;
	g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	*g = (struct engine_kvm_guard){
		.vcpu = v, .uffd = v->vm->uffd, .quit = {-1, -1}, .rip = NO_RIP};
	pthread_mutex_init(&g->lock, NULL);
	v->vm->guard = g;
	error = register_slots(g);
	if (!error)
		error = start_thread(g);
	if (error)
		engine_kvm_guard_free(v->vm);
	return error;
}

void engine_kvm_guard_free(struct engine_kvm_vm *vm)
{
	struct engine_kvm_guard *g = vm->guard;
	uint32_t i;

	if (!g)
		return;
	/* No page is protected afterwards. */
	for (i = 0; i < ENGINE_KVM_SLOTS; i++) {
		struct uffdio_range range = {(uintptr_t)vm->slot[i].host, vm->slot[i].bytes};

		if (range.len)
			(void)ioctl(g->uffd, UFFDIO_UNREGISTER, &range);
	}
	if (g->quit[1] >= 0)
		close(g->quit[1]);
	if (g->has_thread)
		pthread_join(g->thread, NULL);
	if (g->quit[0] >= 0)
		close(g->quit[0]);
	pthread_mutex_destroy(&g->lock);
	free(g->watched);
	free(g);
	vm->guard = NULL;
}

void engine_kvm_guard_watch(struct engine_kvm_guard *g, uint64_t gpa, bool on)
{
	uint64_t *word, bit;
	uint8_t *host;

	pthread_mutex_lock(&g->lock);
	host = find(g, gpa, &word, &bit);
	if (host && on == !(*word & bit)) {
		*word ^= bit;
		/* A page that is writable now is protected after its write. */
		if (!is_writable(g, gpa) && protect(g, host, on) && on)
			*word &= ~bit;
	}
	pthread_mutex_unlock(&g->lock);
}

static void protect_again(const struct engine_kvm_guard *g, uint64_t gpa)
{
	uint64_t *word, bit;
	uint8_t *host = find(g, gpa, &word, &bit);

	if (host && *word & bit && protect(g, host, true))
		*word &= ~bit;
}

void engine_kvm_guard_written(struct engine_kvm_guard *g, const struct engine_writes_sink *sink)
{
	const uint64_t rip = g->vcpu->base.regs->rip;
	size_t done, all, i;

	pthread_mutex_lock(&g->lock);
	all = g->pages;
	/* An instruction that writes to several pages needs all of them, and must have run. */
	done = !g->entered || (all > g->reported && rip == g->rip) ? 0 : g->reported;
	pthread_mutex_unlock(&g->lock);
	if (g->entered || all > g->reported)
		g->rip = all > g->reported ? rip : NO_RIP;
	g->entered = false;
	/* Entries below `all` do not change meanwhile. The sink may call engine_kvm_guard_watch(). */
	for (i = 0; i < all; i++)
		if (i < done || i >= g->reported)
			sink->page(sink->opaque, g->page[i]);
	pthread_mutex_lock(&g->lock);
	for (i = 0; i < done; i++)
		protect_again(g, g->page[i]);
	g->pages -= done;
	g->reported = all - done;
	memmove(g->page, g->page + done, g->pages * sizeof(g->page[0]));
	pthread_mutex_unlock(&g->lock);
}

void engine_kvm_guard_entered(struct engine_kvm_guard *g)
{
	g->entered = true;
}
