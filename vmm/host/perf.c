// SPDX-License-Identifier: GPL-2.0-or-later
/* Open perf events and read their ring buffers. */
#include "host/perf.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vpt/msr.h"

#define PAGE	   4096u
#define DATA_PAGES 128u
#define DATA_BYTES ((size_t)DATA_PAGES * PAGE)
#define RECORD_MAX 65536u

#define DEVICE "bus/event_source/devices/intel_pt"

uint64_t host_perf_pt_number(const char *sysfs, const char *name, uint64_t missing)
{
	uint64_t value = missing;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/" DEVICE "/%s", sysfs, name);
	file = fopen(path, "re");
	if (!file)
		return missing;
	if (fscanf(file, "%" SCNu64, &value) != 1)
		value = missing;
	fclose(file);
	return value;
}

int host_perf_pt_type(const char *sysfs)
{
	uint64_t type = host_perf_pt_number(sysfs, "type", UINT64_MAX);

	return type <= INT32_MAX ? (int)type : -ENODEV;
}

static const char *text_at(const uint8_t *record, size_t len, size_t at)
{
	return at < len && memchr(record + at, 0, len - at) ? (const char *)record + at : NULL;
}

static bool parse_map(const uint8_t *record, size_t len, struct host_perf_record *out)
{
	/* perf_event.h has no struct for these fields, which precede the inode. */
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, bytes, offset;
	} r;

	if (len < sizeof(r) + 32)
		return false;
	memcpy(&r, record, sizeof(r));
	*out = (struct host_perf_record){
		.kind = HOST_PERF_MAP,
		.pid = r.pid,
		.start = r.start,
		.bytes = r.bytes,
		.offset = r.offset,
		.path = text_at(record, len, sizeof(r) + 32),
	};
	return out->path != NULL;
}

static bool parse_aux(const uint8_t *record, size_t len, struct host_perf_record *out)
{
	struct {
		struct perf_event_header header;
		uint64_t offset, size, flags;
	} r;

	if (len < sizeof(r))
		return false;
	memcpy(&r, record, sizeof(r));
	*out = (struct host_perf_record){.kind = HOST_PERF_STOPPED};
	return r.flags & PERF_AUX_FLAG_TRUNCATED;
}

bool host_perf_parse(const void *record, size_t len, struct host_perf_record *out)
{
	struct perf_event_header header;
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} lost;

	if (len < sizeof(header))
		return false;
	memcpy(&header, record, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		*out = (struct host_perf_record){.kind = HOST_PERF_TASK};
		return true;
	case PERF_RECORD_MMAP2:
		return parse_map(record, len, out);
	case PERF_RECORD_AUX:
		return parse_aux(record, len, out);
	case PERF_RECORD_LOST:
		if (len < sizeof(lost))
			return false;
		memcpy(&lost, record, sizeof(lost));
		*out = (struct host_perf_record){.kind = HOST_PERF_LOST, .bytes = lost.lost};
		return true;
	default:
		return false;
	}
}

static int map(struct host_perf *p)
{
	struct perf_event_mmap_page *control;

	p->pages = mmap(NULL, PAGE + DATA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->pages == MAP_FAILED)
		return -errno;
	control = p->pages;
	control->aux_offset = PAGE + DATA_BYTES;
	control->aux_size = p->aux_size;
	p->aux = mmap(NULL, p->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd,
		      (off_t)control->aux_offset);
	return p->aux == MAP_FAILED ? -errno : 0;
}

int host_perf_open(struct host_perf *p, int type, unsigned int cpu, size_t ring)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.size = sizeof(attr),
		.config = VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(BRANCH_EN) | 1,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.task = 1,
		/* Wake up for each record, because a process may live for a short time only. */
		.watermark = 1,
		.wakeup_watermark = 1,
		.aux_watermark = (uint32_t)(ring / 4),
	};
	int err;

	memset(p, 0, sizeof(*p));
	p->pages = p->aux = MAP_FAILED;
	p->cpu = cpu;
	p->config = attr.config & ~1ull;
	p->aux_size = ring;
	p->fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	err = map(p);
	if (err)
		host_perf_close(p);
	return err;
}

void host_perf_close(struct host_perf *p)
{
	if (p->aux != MAP_FAILED)
		munmap(p->aux, p->aux_size);
	if (p->pages != MAP_FAILED)
		munmap(p->pages, PAGE + DATA_BYTES);
	close(p->fd);
}

int host_perf_enable(const struct host_perf *p)
{
	return ioctl(p->fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

int host_perf_disable(const struct host_perf *p)
{
	return ioctl(p->fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

size_t host_perf_waiting(const struct host_perf *p, const uint8_t **bytes)
{
	const struct perf_event_mmap_page *control = p->pages;
	uint64_t head = __atomic_load_n(&control->aux_head, __ATOMIC_ACQUIRE);
	size_t at = control->aux_tail % p->aux_size;
	size_t n = head - control->aux_tail;

	*bytes = p->aux + at;
	return n < p->aux_size - at ? n : p->aux_size - at;
}

void host_perf_taken(struct host_perf *p, size_t bytes)
{
	struct perf_event_mmap_page *control = p->pages;

	__atomic_store_n(&control->aux_tail, control->aux_tail + bytes, __ATOMIC_RELEASE);
}

static void copy_ring(uint8_t *to, const uint8_t *ring, uint64_t from, size_t n)
{
	size_t at = from % DATA_BYTES;
	size_t first = DATA_BYTES - at < n ? DATA_BYTES - at : n;

	memcpy(to, ring + at, first);
	memcpy(to + first, ring, n - first);
}

int host_perf_records(struct host_perf *p,
		      int (*take)(void *to, const struct host_perf_record *record), void *to)
{
	struct perf_event_mmap_page *control = p->pages;
	uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *ring = (const uint8_t *)p->pages + PAGE;
	uint64_t tail = control->data_tail;
	uint8_t buf[RECORD_MAX];
	int err = 0;

	while (tail < head && !err) {
		struct host_perf_record record;
		struct perf_event_header header;

		copy_ring((uint8_t *)&header, ring, tail, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			return -EIO;
		copy_ring(buf, ring, tail, header.size);
		if (host_perf_parse(buf, header.size, &record))
			err = take(to, &record);
		tail += header.size;
	}
	__atomic_store_n(&control->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}
