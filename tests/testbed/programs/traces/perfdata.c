// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write a perf.data with the trace of one thread. The file has a header, one event, and records
 * for the mapping, the properties of PT, and the trace.
 */
#include "perfdata.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testbed.h"
#include "traces.h"

#define RECORD_AUXTRACE_INFO 70
#define RECORD_AUXTRACE	     71
#define AUXTRACE_INTEL_PT    1
#define EVENT_ID	     1

struct section {
	uint64_t offset, size;
};

struct file_header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
	/* The section `attrs`. */
	struct perf_event_attr attr;
	struct section ids;
	uint64_t id;
};

/* The properties of the PMU that perf's decoder needs, in this order. */
enum pt_info {
	PMU_TYPE,
	TIME_SHIFT,
	TIME_MULT,
	TIME_ZERO,
	CAP_USER_TIME_ZERO,
	TSC_BIT,
	NORETCOMP_BIT,
	HAVE_SCHED_SWITCH,
	SNAPSHOT_MODE,
	PER_CPU_MMAPS,
	MTC_BIT,
	MTC_FREQ_BITS,
	TSC_CTC_N,
	TSC_CTC_D,
	CYC_BIT,
	MAX_NONTURBO_RATIO,
	FILTER_LENGTH,
	PT_INFO_COUNT
};

struct auxtrace_info {
	struct perf_event_header header;
	uint32_t type, reserved;
	uint64_t info[PT_INFO_COUNT];
};

/* The end of each record of the kernel, which has the fields of SAMPLE_TYPE. */
#define SAMPLE_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER)

struct sample_id {
	uint32_t pid, tid;
	uint64_t time, identifier;
};

struct comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
	struct sample_id id;
};

struct mapping {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, size, offset;
	char path[32];
	struct sample_id id;
};

struct auxtrace {
	struct perf_event_header header;
	uint64_t size, offset, reference;
	uint32_t index, tid, cpu, reserved;
};

#define HEADER(kind, type_of, bits)                                     \
	{                                                               \
		.type = (kind), .misc = (bits), .size = sizeof(type_of) \
	}

/* Symbols of the linker. The program is not position-independent. */
extern const char __executable_start[], etext[];

static struct mapping program(void)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct mapping m = {
		.header = HEADER(PERF_RECORD_MMAP, struct mapping, PERF_RECORD_MISC_USER),
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.start = (uintptr_t)__executable_start,
		.path = "/scenario/traces",
		.id = {(uint32_t)getpid(), (uint32_t)getpid(), 1, EVENT_ID},
	};

	m.size = ((uintptr_t)etext - m.start + page - 1) / page * page;
	return m;
}

void perf_data_export(const char *name, const struct perf_pt *pt)
{
	static const uint8_t zeroes[8];
	struct file_header file = {
		.magic = "PERFILE2",
		.size = offsetof(struct file_header, attr),
		.attr_size = sizeof(file.attr) + sizeof(file.ids),
		.attrs = {offsetof(struct file_header, attr), sizeof(file.attr) + sizeof(file.ids)},
		.attr = pt->attr,
		.ids = {offsetof(struct file_header, id), sizeof(file.id)},
		.id = EVENT_ID,
	};
	struct comm comm = {
		.header = HEADER(PERF_RECORD_COMM, struct comm, 0),
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.comm = "traces",
		.id = {(uint32_t)getpid(), (uint32_t)getpid(), 1, EVENT_ID},
	};
	struct mapping mapping = program();
	struct auxtrace_info info = {
		.header = HEADER(RECORD_AUXTRACE_INFO, struct auxtrace_info, 0),
		.type = AUXTRACE_INTEL_PT,
		.info = {[PMU_TYPE] = pt->attr.type,
			 [TSC_BIT] = PERF_PT_TSC,
			 [NORETCOMP_BIT] = PERF_PT_NORETCOMP,
			 [MTC_BIT] = PERF_PT_MTC,
			 [MTC_FREQ_BITS] = 0x3c000,
			 [CYC_BIT] = PERF_PT_CYC},
	};
	struct auxtrace trace = {
		.header = HEADER(RECORD_AUXTRACE, struct auxtrace, 0),
		.size = (pt->size + 7) / 8 * 8,
		.tid = (uint32_t)getpid(),
		.cpu = UINT32_MAX,
	};

	file.attr.sample_type = SAMPLE_TYPE;
	file.attr.sample_id_all = 1;
	file.data.offset = sizeof(file);
	file.data.size = sizeof(info) + sizeof(comm) + sizeof(mapping) + sizeof(trace) + trace.size;
	bed_text(name);
	bed_command(BED_EXPORT_OPEN, 0);
	bed_bytes(BED_DATA, &file, sizeof(file));
	bed_bytes(BED_DATA, &info, sizeof(info));
	bed_bytes(BED_DATA, &comm, sizeof(comm));
	bed_bytes(BED_DATA, &mapping, sizeof(mapping));
	bed_bytes(BED_DATA, &trace, sizeof(trace));
	bed_bytes(BED_DATA, pt->bytes, pt->size);
	/* Add PAD packets. */
	bed_bytes(BED_DATA, zeroes, trace.size - pt->size);
	bed_command(BED_EXPORT_CLOSE, 0);
}
