// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets the child's limits and runs the libraries in the child. */
#include "debug/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "debug/debug.h"

/* The memory that the libraries may use, in addition to a multiple of the file's size. */
#define MEMORY_BASE  (64ull << 20)
#define MEMORY_RATIO 16
#define OUTPUT_BASE  (16ull << 20)
#define OUTPUT_RATIO 8
#define SECONDS_BASE 10
#define SECOND_BYTES (8ull << 20) /* and one more second for this many bytes */

/* AddressSanitizer reserves terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMITS_MEMORY 0
#elif defined(__has_feature)
#define LIMITS_MEMORY !__has_feature(address_sanitizer)
#else
#define LIMITS_MEMORY 1
#endif

static struct debug_out child_out;

/* Return the size of this process's address space; 0 if it is not known. */
static uint64_t address_space(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	uint64_t pages = 0;

	if (fd < 0)
		return 0;
	/* The size is the first of several numbers. */
	if (read(fd, text, sizeof(text) - 1) > 0)
		pages = strtoull(text, NULL, 10);
	close(fd);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void debug_no_memory(void)
{
	/* Lift the limit, because the handler may need memory. */
	static const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_AS, &none);
	_exit(address_space() > child_out.start + child_out.room / 4 ? DEBUG_CHILD_LIMIT
								     : DEBUG_CHILD_NO_MEMORY);
}

/* Handle SIGSEGV and SIGBUS. A library may have used the NULL that a failed malloc() returned. */
static void on_crash(int sig)
{
	if (errno == ENOMEM)
		debug_no_memory();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void limit(int resource, uint64_t soft)
{
	struct rlimit r;

	/* Keep a lower existing limit. */
	if (getrlimit(resource, &r) || (r.rlim_cur != RLIM_INFINITY && r.rlim_cur <= soft))
		return;
	r.rlim_cur = soft;
	setrlimit(resource, &r);
}

void debug_flush(struct debug_out *out)
{
	size_t done = 0;

	while (done < out->used) {
		ssize_t n = write(out->fd, out->buffer + done, out->used - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(errno == EFBIG ? DEBUG_CHILD_LIMIT : DEBUG_CHILD_NO_MEMORY);
		done += (size_t)n;
	}
	out->used = 0;
}

static void put(struct debug_out *out, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;

	while (len) {
		size_t n = sizeof(out->buffer) - out->used;

		if (n > len)
			n = len;
		memcpy(out->buffer + out->used, from, n);
		out->used += n;
		from += n;
		len -= n;
		if (out->used == sizeof(out->buffer))
			debug_flush(out);
	}
}

void debug_put(struct debug_out *out, const struct debug_record *record, const char *text)
{
	struct debug_record made = *record;
	size_t len = text ? strlen(text) + 1 : 0;

	if (len > UINT32_MAX)
		_exit(DEBUG_CHILD_LIMIT);
	made.text = (uint32_t)len;
	put(out, &made, sizeof(made));
	put(out, text, len);
}

void debug_run_child(const void *elf, size_t len, unsigned int what, int fd)
{
	struct debug_out *out = &child_out;

	out->fd = fd;
	out->start = address_space();
	out->room = MEMORY_BASE + MEMORY_RATIO * (uint64_t)len;
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGSEGV, on_crash);
	signal(SIGBUS, on_crash);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, SECONDS_BASE + len / SECOND_BYTES);
	limit(RLIMIT_FSIZE, OUTPUT_BASE + OUTPUT_RATIO * (uint64_t)len);
	if (LIMITS_MEMORY && out->start)
		limit(RLIMIT_AS, out->start + out->room);
	_exit(debug_child(elf, len, what, out));
}
