// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps files, and replaces lost pages by zeros. */
#include "trace/filemap.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#define PAGE  ((size_t)4096)
#define AHEAD ((size_t)2 << 20)

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ \
	22 /* since Linux 5.14; an earlier kernel refuses the flag and takes
                               * page faults */
#endif

/* A list of maps, because the signal handler has no other access to them. */
static struct trace_filemap *maps;
static struct sigaction before;

/* Map zeros from the page at `p` on. The rest is gone too, or not worth a fault for each page. */
static bool tear(struct trace_filemap *m, const uint8_t *p)
{
	const size_t from = (size_t)(p - m->at) & ~(PAGE - 1);

	if (mmap((void *)(m->at + from), m->bytes - from, PROT_READ,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		return false;
	m->torn = 1;
	return true;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	const int saved = errno;
	const uint8_t *p = info->si_addr;
	struct trace_filemap *m;

	(void)number;
	(void)context;
	for (m = maps; m; m = m->next)
		if (p >= m->at && p < m->at + m->bytes)
			break;
	/* Pass any other SIGBUS to the previous handler: the fault occurs again. */
	if (!m || !tear(m, p)) {
		sigaction(SIGBUS, &before, NULL);
		if (info->si_code <= 0)
			raise(SIGBUS);
	}
	errno = saved;
}

static int catch_bus_errors(void)
{
	struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, &before) ? -errno : 0;
}

int trace_filemap_open(struct trace_filemap *m, int fd, size_t bytes)
{
	int err = maps ? 0 : catch_bus_errors();
	void *at;

	*m = (struct trace_filemap){0};
	if (err)
		return err;
	at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED) {
		err = -errno;
		if (!maps)
			sigaction(SIGBUS, &before, NULL);
		return err;
	}
	*m = (struct trace_filemap){.at = at, .bytes = bytes, .next = maps};
	maps = m;
	return 0;
}

void trace_filemap_close(struct trace_filemap *m)
{
	struct trace_filemap **p = &maps;

	if (!m->at)
		return;
	while (*p != m)
		p = &(*p)->next;
	*p = m->next;
	munmap((void *)m->at, m->bytes);
	*m = (struct trace_filemap){0};
	if (!maps)
		sigaction(SIGBUS, &before, NULL);
}

/* A fault for every few pages takes several times as long. */
static void populate(struct trace_filemap *m, size_t from, size_t to)
{
	size_t len;

	if (from < m->populated)
		from = m->populated;
	from &= ~(PAGE - 1);
	len = to - from > AHEAD ? to - from : AHEAD;
	if (len > m->bytes - from)
		len = m->bytes - from;
	/* On failure, faults map the pages, or the handler runs. */
	madvise((void *)(m->at + from), len, MADV_POPULATE_READ);
	m->populated = from + len;
}

const uint8_t *trace_filemap_bytes(struct trace_filemap *m, size_t at, size_t len)
{
	if (at + len > m->populated)
		populate(m, at, at + len);
	return m->at + at;
}
