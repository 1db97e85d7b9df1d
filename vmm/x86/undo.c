// SPDX-License-Identifier: GPL-2.0-or-later
/* Watch writes to guest RAM by page protection, and undo them. */
#include "x86/undo.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "x86/guard.h"

/* The number of returns after which the set of written pages is learned again. */
#define AGAIN 16384u
/* A changed range is reported in pieces of this size, since blocks of code are small. */
#define PIECE 64u

/* The handler of a signal needs this state, and a process has one handler. */
static struct {
	struct x86_mem mem; /* mem.host is NULL if nothing is watched */
	uint8_t *kept;
	uint64_t *page; /* the places of pages that are writable */
	volatile uint64_t pages;
	uint64_t returns;
} undo;

static void on_write(int sig, siginfo_t *info, void *context)
{
	const uintptr_t at = (uintptr_t)info->si_addr, base = (uintptr_t)undo.mem.host;
	const uint64_t place = (at - base) & ~(X86_PAGE_SIZE - 1);

	(void)context;
	if (at < base || at - base >= undo.mem.bytes || info->si_code != SEGV_ACCERR ||
	    mprotect(undo.mem.host + place, X86_PAGE_SIZE, PROT_READ | PROT_WRITE)) {
		/* The instruction faults again, and the process ends. */
		signal(sig, SIG_DFL);
		return;
	}
	undo.page[undo.pages++] = place;
}

static int watch(void)
{
	undo.pages = 0;
	undo.returns = 0;
	return mprotect(undo.mem.host, undo.mem.bytes, PROT_READ) ? -errno : 0;
}

static bool is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, X86_PAGE_SIZE - 1);
}

/* Copy the pages that are not zero, since the others need no memory. */
static void keep(void)
{
	uint64_t at;

	for (at = 0; at < undo.mem.bytes; at += X86_PAGE_SIZE)
		if (!is_zero(undo.mem.host + at))
			memcpy(undo.kept + at, undo.mem.host + at, X86_PAGE_SIZE);
}

int x86_undo_begin(const struct x86_mem *mem)
{
	struct sigaction action = {.sa_sigaction = on_write, .sa_flags = SA_SIGINFO};
	int error = 0;

	if (undo.mem.host)
		return -EBUSY;
	undo.mem = *mem;
	undo.kept = x86_guard_map(mem->bytes, PROT_READ | PROT_WRITE, -1);
	undo.page = x86_guard_map(mem->bytes / X86_PAGE_SIZE * sizeof(*undo.page),
				  PROT_READ | PROT_WRITE, -1);
	if (!undo.kept || !undo.page)
		error = -ENOMEM;
	if (!error) {
		keep();
		sigemptyset(&action.sa_mask);
		error = sigaction(SIGSEGV, &action, NULL) ? -errno : watch();
	}
	if (error)
		x86_undo_end();
	return error;
}

void x86_undo_end(void)
{
	if (!undo.mem.host)
		return;
	signal(SIGSEGV, SIG_DFL);
	(void)mprotect(undo.mem.host, undo.mem.bytes, PROT_READ | PROT_WRITE);
	if (undo.kept)
		x86_guard_unmap(undo.kept, undo.mem.bytes);
	if (undo.page)
		x86_guard_unmap(undo.page, undo.mem.bytes / X86_PAGE_SIZE * sizeof(*undo.page));
	memset(&undo, 0, sizeof(undo));
}

static void restore(uint64_t place, void (*changed)(void *opaque, uint64_t gpa, uint64_t len),
		    void *opaque)
{
	uint8_t *is = undo.mem.host + place;
	const uint8_t *was = undo.kept + place;
	unsigned int at;

	for (at = 0; at < X86_PAGE_SIZE; at += PIECE) {
		if (!memcmp(is + at, was + at, PIECE))
			continue;
		memcpy(is + at, was + at, PIECE);
		changed(opaque, x86_mem_gpa(place) + at, PIECE);
	}
}

int x86_undo(void (*changed)(void *opaque, uint64_t gpa, uint64_t len), void *opaque)
{
	uint64_t i;

	for (i = 0; i < undo.pages; i++)
		restore(undo.page[i], changed, opaque);
	return ++undo.returns % AGAIN ? 0 : watch();
}

uint64_t x86_undo_differs(void)
{
	uint64_t at;

	for (at = 0; at < undo.mem.bytes; at += X86_PAGE_SIZE)
		if (memcmp(undo.mem.host + at, undo.kept + at, X86_PAGE_SIZE) != 0)
			return x86_mem_gpa(at);
	return UINT64_MAX;
}

uint64_t x86_undo_pages(void)
{
	return undo.pages;
}
