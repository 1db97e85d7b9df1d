// SPDX-License-Identifier: GPL-2.0-or-later
/* Open a trace by perf's intel_pt, and collect its bytes. */
#include "perf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DATA_PAGES 8u
#define PAGE	   4096u
#define BYTES_MAX  (16u << 20)

static int type_of_pt(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/intel_pt/type", "r");
	int type = -ENODEV;

	if (!file)
		return -ENODEV;
	if (fscanf(file, "%d", &type) != 1)
		type = -ENODEV;
	fclose(file);
	return type;
}

static int open_event(struct perf_pt *pt, const struct perf_pt_want *want)
{
	int type = type_of_pt();
	int fd;

	if (type < 0)
		return type;
	pt->attr = (struct perf_event_attr){
		.type = (uint32_t)type,
		.size = sizeof(pt->attr),
		.config = want->config,
		.disabled = 1,
		.exclude_kernel = want->only_user,
		.exclude_user = want->only_kernel,
		.aux_watermark = want->watermark,
	};
	fd = (int)syscall(SYS_perf_event_open, &pt->attr, want->this_thread ? 0 : -1,
			  want->this_thread ? -1 : 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool map(struct perf_pt *pt)
{
	size_t size = (1 + DATA_PAGES) * PAGE;
	struct perf_event_mmap_page *control;

	pt->pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, pt->fd, 0);
	if (pt->pages == MAP_FAILED)
		return false;
	control = pt->pages;
	control->aux_offset = size;
	control->aux_size = (uint64_t)pt->aux_pages * PAGE;
	pt->aux = mmap(NULL, control->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, pt->fd,
		       (off_t)size);
	if (pt->aux == MAP_FAILED)
		return false;
	/* Populate all pages now, because page faults would become part of the trace. */
	pt->bytes = mmap(NULL, BYTES_MAX, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return pt->bytes != MAP_FAILED;
}

int perf_pt_open(struct perf_pt *pt, const struct perf_pt_want *want)
{
	int error;

	memset(pt, 0, sizeof(*pt));
	pt->pages = pt->aux = pt->bytes = MAP_FAILED;
	pt->aux_pages = want->aux_pages;
	pt->fd = open_event(pt, want);
	if (pt->fd < 0)
		return pt->fd;
	if (map(pt))
		return 0;
	error = -errno;
	perf_pt_close(pt);
	return error;
}

void perf_pt_close(struct perf_pt *pt)
{
	if (pt->aux != MAP_FAILED)
		munmap(pt->aux, (size_t)pt->aux_pages * PAGE);
	if (pt->pages != MAP_FAILED)
		munmap(pt->pages, (1 + DATA_PAGES) * PAGE);
	if (pt->bytes != MAP_FAILED)
		munmap(pt->bytes, BYTES_MAX);
	close(pt->fd);
}

int perf_pt_enable(const struct perf_pt *pt)
{
	return ioctl(pt->fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

int perf_pt_disable(const struct perf_pt *pt)
{
	return ioctl(pt->fd, PERF_EVENT_IOC_DISABLE, 0) < 0 ? -errno : 0;
}

/* Copy bytes out of a ring. The position @from only grows. */
static void copy_ring(void *to, const uint8_t *ring, size_t ring_size, uint64_t from, size_t size)
{
	size_t at = from % ring_size, first = ring_size - at;

	if (first > size)
		first = size;
	memcpy(to, ring + at, first);
	memcpy((uint8_t *)to + first, ring, size - first);
}

static void read_records(struct perf_pt *pt)
{
	struct perf_event_mmap_page *control = pt->pages;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *ring = (const uint8_t *)pt->pages + PAGE;
	uint64_t tail = control->data_tail;

	while (tail < head) {
		struct {
			struct perf_event_header header;
			uint64_t offset, size, flags;
		} aux = {0};

		copy_ring(&aux.header, ring, DATA_PAGES * PAGE, tail, sizeof(aux.header));
		if (aux.header.type == PERF_RECORD_AUX) {
			copy_ring(&aux, ring, DATA_PAGES * PAGE, tail, sizeof(aux));
			pt->aux_records++;
			pt->truncated += !!(aux.flags & PERF_AUX_FLAG_TRUNCATED);
		} else if (aux.header.type == PERF_RECORD_LOST) {
			pt->lost++;
		}
		tail += aux.header.size;
	}
	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
}

void perf_pt_read(struct perf_pt *pt)
{
	struct perf_event_mmap_page *control = pt->pages;
	uint64_t head = __atomic_load_n(&control->aux_head, __ATOMIC_ACQUIRE);
	uint64_t tail = control->aux_tail;
	size_t size = head - tail;

	if (size > BYTES_MAX - pt->size) {
		pt->dropped += size - (BYTES_MAX - pt->size);
		size = BYTES_MAX - pt->size;
	}
	copy_ring(pt->bytes + pt->size, pt->aux, (size_t)pt->aux_pages * PAGE, tail, size);
	pt->size += size;
	__atomic_store_n(&control->aux_tail, head, __ATOMIC_RELEASE);
	read_records(pt);
}
