// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the host's kernel: its log, a trace by perf, and the MSR events of ftrace. */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vpt/packet.h"

#define DATA_PAGES 8
#define AUX_SIZE   (64 * PAGE)
#define PAGE	   4096u
#define BYTES_MAX  (32u << 20)

#define PT_DEVICE "/sys/bus/event_source/devices/intel_pt/"
#define TRACING	  "/sys/kernel/tracing/"

static int log_fd = -1;

static void die(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	exit(2);
}

void kernel_log_begin(void)
{
	log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log_fd < 0)
		die("/dev/kmsg");
	lseek(log_fd, 0, SEEK_END);
}

static bool is_complaint(const char *line)
{
	static const char *const signs[] = {"WARNING: ",	 "BUG: ",	   "unchecked MSR",
					    "Invalid MSR",	 "unknown reason", "Oops",
					    "general protection"};
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (strstr(line, signs[i]))
			return true;
	return false;
}

bool kernel_log_complaint(char *text, size_t size)
{
	char line[2048];
	ssize_t length;

	while ((length = read(log_fd, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		if (length < 0)
			continue;
		line[length] = 0;
		if (!is_complaint(line))
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(text, size, "the kernel logged: %s",
			 strchr(line, ';') ? strchr(line, ';') + 1 : line);
		return true;
	}
	return false;
}

static int read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	int number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

static int perf_open(struct perf_event_attr *attr, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int host_event_open(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .disabled = 1};
	int fd = perf_open(&attr, 0);

	if (fd < 0)
		die("perf_event_open of cycles");
	return fd;
}

void host_trace_open(struct host_trace *trace, size_t watermark)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .disabled = 1,
				       .config = 1 << 10 | 1 << 11}; /* tsc, noretcomp */
	struct perf_event_mmap_page *control;
	int type = read_number(PT_DEVICE "type");

	memset(trace, 0, sizeof(*trace));
	if (type < 0)
		die(PT_DEVICE "type");
	attr.type = (uint32_t)type;
	attr.aux_watermark = (uint32_t)watermark;
	trace->fd = perf_open(&attr, 0);
	if (trace->fd < 0)
		die("perf_event_open of intel_pt");
	trace->pages = mmap(NULL, (1 + DATA_PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			    trace->fd, 0);
	if (trace->pages == MAP_FAILED)
		die("mmap of the event");
	control = trace->pages;
	control->aux_offset = (1 + DATA_PAGES) * PAGE;
	control->aux_size = AUX_SIZE;
	trace->aux = mmap(NULL, AUX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, trace->fd,
			  (off_t)control->aux_offset);
	if (trace->aux == MAP_FAILED)
		die("mmap of the AUX area");
	trace->bytes =
		mmap(NULL, BYTES_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (trace->bytes == MAP_FAILED)
		die("mmap");
	if (ioctl(trace->fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		die("PERF_EVENT_IOC_ENABLE");
}

void host_trace_read(struct host_trace *trace)
{
	struct perf_event_mmap_page *control = trace->pages;
	uint64_t head = __atomic_load_n(&control->aux_head, __ATOMIC_ACQUIRE);
	uint64_t tail = control->aux_tail;

	while (tail < head) {
		size_t at = tail % AUX_SIZE;
		size_t part = AUX_SIZE - at < head - tail ? AUX_SIZE - at : head - tail;
		size_t kept = BYTES_MAX - trace->size < part ? BYTES_MAX - trace->size : part;

		memcpy(trace->bytes + trace->size, trace->aux + at, kept);
		trace->size += kept;
		trace->dropped += part - kept;
		tail += part;
	}
	__atomic_store_n(&control->aux_tail, tail, __ATOMIC_RELEASE);
	/* Skip perf's records, which the tests do not use. */
	control->data_tail = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
}

void host_trace_close(struct host_trace *trace)
{
	ioctl(trace->fd, PERF_EVENT_IOC_DISABLE, 0);
	host_trace_read(trace);
	munmap(trace->aux, AUX_SIZE);
	munmap(trace->pages, (1 + DATA_PAGES) * PAGE);
	close(trace->fd);
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

bool msr_count_begin(uint32_t first, uint32_t last)
{
	char filter[80];

	snprintf(filter, sizeof(filter), "msr >= %u && msr <= %u", first, last);
	return write_file(TRACING "events/msr/filter", filter) && write_file(TRACING "trace", "") &&
	       write_file(TRACING "events/msr/enable", "1") &&
	       write_file(TRACING "tracing_on", "1");
}

unsigned int msr_count_end(void)
{
	unsigned int count = 0;
	char line[512];
	FILE *file;

	write_file(TRACING "tracing_on", "0");
	write_file(TRACING "events/msr/enable", "0");
	file = fopen(TRACING "trace", "r");
	if (!file)
		die(TRACING "trace");
	while (fgets(line, sizeof(line), file))
		count += strstr(line, "_msr: ") != NULL;
	fclose(file);
	return count;
}

size_t bad_packets(const uint8_t *bytes, size_t size)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = vpt_packet_find_psb(bytes, size), bad = 0;

	if (at == size)
		return SIZE_MAX;
	while (at < size) {
		enum vpt_status status = vpt_packet_read(&parser, bytes + at, size - at, &packet);

		if (status == VPT_E_EOS)
			break;
		if (status == VPT_OK) {
			at += packet.size;
			continue;
		}
		bad++;
		at++;
		at += vpt_packet_find_psb(bytes + at, size - at);
		memset(&parser, 0, sizeof(parser));
	}
	return bad;
}
