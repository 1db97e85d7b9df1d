// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write perf's own formats, as of Linux 6.1: tools/perf/Documentation/perf.data-file-format.txt and
 * include/uapi/linux/perf_event.h. Later versions only extend them.
 */
#include "export/record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "foreign/perf_abi.h"
#include "vpt/msr.h"

#define PMU_TYPE     8 /* any type that perf does not define */
#define EVENTS	     2
#define STRING_ALIGN 64
#define MISC_KERNEL  1
#define MISC_USER    2
#define KERNEL_NAME  "[kernel.kallsyms]_text"
#define SAMPLE_TYPE                                                              \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_IDENTIFIER)

/* perf's config is IA32_RTIT_CTL except for this bit, which is a flag of its own. */
#define CTL_PASS_THROUGH (1ull << 0)

struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t magic, size, attr_size;
	struct section attrs, data, types;
	uint64_t features[4];
};

struct file_attr {
	uint8_t attr[PERF_ATTR_SIZE_VER7];
	struct section ids;
};

struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t identifier;
};

_Static_assert(sizeof(struct file_header) == 104, "file format");
_Static_assert(sizeof(struct file_attr) == 144, "file format");

static const char *const event_names[EVENTS] = {"intel_pt//", "dummy:u"};

static void put(struct export_record *r, const void *bytes, size_t len)
{
	fwrite(bytes, 1, len, r->out);
}

static void put_u32(struct export_record *r, uint32_t value)
{
	put(r, &value, sizeof(value));
}

static void put_u64(struct export_record *r, uint64_t value)
{
	put(r, &value, sizeof(value));
}

static void put_zeros(struct export_record *r, size_t n)
{
	while (n--)
		fputc(0, r->out);
}

static size_t padded(size_t len, size_t to)
{
	return (len + to - 1) / to * to;
}

static void put_text(struct export_record *r, const char *text, size_t align)
{
	size_t len = strlen(text) + 1;

	put(r, text, len);
	put_zeros(r, padded(len, align) - len);
}

/* Write a string of the features. */
static void put_string(struct export_record *r, const char *text)
{
	put_u32(r, (uint32_t)padded(strlen(text) + 1, STRING_ALIGN));
	put_text(r, text, STRING_ALIGN);
}

static void put_header(struct export_record *r, uint32_t type, uint16_t misc, size_t body)
{
	const struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = (uint16_t)(sizeof(header) + body),
	};

	put(r, &header, sizeof(header));
}

/* Write the fields at the end of each record of the kernel's types. */
static void put_id(struct export_record *r, const struct export_record_id *id)
{
	const struct sample_id trailer = {
		.pid = id->pid,
		.tid = id->pid,
		.time = id->ns,
		.cpu = id->cpu,
		.identifier = EVENTS,
	};

	put(r, &trailer, sizeof(trailer));
}

static void make_attr(const struct export_record *r, unsigned int event, uint8_t *bytes)
{
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER7,
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE,
		.read_format = PERF_FORMAT_ID,
		.sample_id_all = 1,
		.exclude_hv = 1,
		.exclude_kernel = !r->kernel,
		.inherit = 1,
	};

	if (event) {
		attr.type = PERF_TYPE_SOFTWARE;
		attr.config = PERF_COUNT_SW_DUMMY;
		attr.exclude_kernel = 1;
		attr.mmap = attr.mmap2 = attr.comm = attr.task = 1;
		attr.context_switch = attr.text_poke = 1;
	} else {
		attr.type = PMU_TYPE;
		attr.config = r->config;
	}
	memset(bytes, 0, PERF_ATTR_SIZE_VER7);
	memcpy(bytes, &attr,
	       sizeof(attr) < PERF_ATTR_SIZE_VER7 ? sizeof(attr) : PERF_ATTR_SIZE_VER7);
}

/* Write the header, the identifiers and the attributes, whose size is fixed. */
static void put_front(struct export_record *r, uint64_t end)
{
	const uint64_t ids = sizeof(struct file_header), attrs = ids + EVENTS * sizeof(uint64_t);
	const uint64_t data = attrs + EVENTS * sizeof(struct file_attr);
	struct file_header header = {
		.magic = PERF_FILE_MAGIC,
		.size = sizeof(header),
		.attr_size = sizeof(struct file_attr),
		.attrs = {attrs, EVENTS * sizeof(struct file_attr)},
		.data = {data, end - data},
		.features = {1ull << FEAT_ARCH | 1ull << FEAT_NRCPUS | 1ull << FEAT_CPUID |
			     1ull << FEAT_EVENT_DESC | 1ull << FEAT_PMU_MAPPINGS |
			     1ull << FEAT_AUX_INDEX},
	};
	unsigned int i;

	put(r, &header, sizeof(header));
	for (i = 0; i < EVENTS; i++)
		put_u64(r, i + 1);
	for (i = 0; i < EVENTS; i++) {
		struct file_attr attr = {.ids = {ids + i * sizeof(uint64_t), sizeof(uint64_t)}};

		make_attr(r, i, attr.attr);
		put(r, &attr, sizeof(attr));
	}
}

void export_record_begin(struct export_record *r)
{
	r->config |= CTL_PASS_THROUGH;
	if (r->timing == EXPORT_RECORD_FOLDED) {
		r->config &= ~(VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(MTC_FREQ));
		r->config |= VPT_CTL_MASK(TSC_EN);
	}
	put_front(r, 0);
}

static void put_events(struct export_record *r)
{
	uint8_t attr[PERF_ATTR_SIZE_VER7];
	unsigned int i;

	put_u32(r, EVENTS);
	put_u32(r, sizeof(attr));
	for (i = 0; i < EVENTS; i++) {
		make_attr(r, i, attr);
		put(r, attr, sizeof(attr));
		put_u32(r, 1);
		put_string(r, event_names[i]);
		put_u64(r, i + 1);
	}
}

static void put_feature(struct export_record *r, unsigned int feature)
{
	size_t i;

	switch (feature) {
	case FEAT_ARCH:
		put_string(r, "x86_64");
		return;
	case FEAT_NRCPUS:
		put_u32(r, r->vcpus);
		put_u32(r, r->vcpus);
		return;
	case FEAT_CPUID:
		put_string(r, r->cpuid);
		return;
	case FEAT_EVENT_DESC:
		put_events(r);
		return;
	case FEAT_PMU_MAPPINGS:
		put_u32(r, 1);
		put_u32(r, PMU_TYPE);
		put_string(r, "intel_pt");
		return;
	case FEAT_AUX_INDEX:
		put_u64(r, r->naux);
		for (i = 0; i < r->naux; i++) {
			put_u64(r, r->aux[i]);
			put_u64(r, 48);
		}
		return;
	}
}

int export_record_end(struct export_record *r)
{
	static const unsigned int all[] = {FEAT_ARCH,	    FEAT_NRCPUS,       FEAT_CPUID,
					   FEAT_EVENT_DESC, FEAT_PMU_MAPPINGS, FEAT_AUX_INDEX};
	enum { COUNT = sizeof(all) / sizeof(all[0]) };
	struct section sections[COUNT];
	uint64_t end = (uint64_t)ftello(r->out);
	size_t i;

	/* Reserve the table of the features, which precedes them. */
	put_zeros(r, sizeof(sections));
	for (i = 0; i < COUNT; i++) {
		sections[i].offset = (uint64_t)ftello(r->out);
		put_feature(r, all[i]);
		sections[i].size = (uint64_t)ftello(r->out) - sections[i].offset;
	}
	if (fseeko(r->out, (off_t)end, SEEK_SET))
		return -errno;
	put(r, sections, sizeof(sections));
	if (fseeko(r->out, 0, SEEK_SET))
		return -errno;
	put_front(r, end);
	if (fflush(r->out))
		return -errno;
	return ferror(r->out) ? -EIO : 0;
}

void export_record_auxtrace_info(struct export_record *r, const struct export_record_time *time)
{
	const bool folded = r->timing == EXPORT_RECORD_FOLDED;
	/* The position defines the meaning of a word: see the enum in perf's util/intel-pt.h. */
	const uint64_t words[] = {
		PMU_TYPE,
		time->shift,
		time->mult,
		time->zero,
		1, /* the time is valid */
		VPT_CTL_MASK(TSC_EN),
		VPT_CTL_MASK(DIS_RETC),
		2, /* SWITCH records report switches */
		0, /* not a snapshot */
		1, /* a buffer per CPU */
		VPT_CTL_MASK(MTC_EN),
		VPT_CTL_MASK(MTC_FREQ),
		folded ? 0 : r->ctc_n,
		folded ? 0 : r->ctc_d,
		VPT_CTL_MASK(CYC_EN),
		/* With 0, perf would choose a ratio and estimate the time by it. */
		folded ? 1 : r->nonturbo,
		0, /* the length of a filter */
		(r->config & VPT_CTL_MASK(EVENT_EN)) != 0,
	};

	put_header(r, REC_AUXTRACE_INFO, 0, 8 + sizeof(words));
	put_u32(r, AUXTRACE_INTEL_PT);
	put_u32(r, 0);
	put(r, words, sizeof(words));
}

void export_record_auxtrace(struct export_record *r, uint32_t cpu, uint64_t bytes,
			    uint64_t reference)
{
	if (r->naux < EXPORT_RECORD_AUX_MAX)
		r->aux[r->naux++] = (uint64_t)ftello(r->out);
	put_header(r, REC_AUXTRACE, 0, 40);
	put_u64(r, bytes);
	put_u64(r, 0);
	put_u64(r, reference);
	put_u32(r, cpu);
	put_u32(r, UINT32_MAX); /* thread: all threads of the CPU */
	put_u32(r, cpu);
	put_u32(r, 0);
}

void export_record_comm(struct export_record *r, uint32_t pid, const char *name)
{
	const struct export_record_id id = {.pid = pid};
	size_t text = padded(strlen(name) + 1, 8);

	put_header(r, PERF_RECORD_COMM, 0, 8 + text + sizeof(struct sample_id));
	put_u32(r, pid);
	put_u32(r, pid);
	put_text(r, name, 8);
	put_id(r, &id);
}

void export_record_kernel(struct export_record *r, uint64_t addr, uint64_t bytes)
{
	const struct export_record_id id = {.pid = UINT32_MAX};

	put_header(r, PERF_RECORD_MMAP, MISC_KERNEL,
		   32 + padded(sizeof(KERNEL_NAME), 8) + sizeof(struct sample_id));
	put_u32(r, UINT32_MAX);
	put_u32(r, 0);
	put_u64(r, addr);
	put_u64(r, bytes);
	put_u64(r, addr); /* the address of _text */
	put_text(r, KERNEL_NAME, 8);
	put_id(r, &id);
}

void export_record_map(struct export_record *r, const struct export_record_id *id,
		       const struct export_record_map *map)
{
	const uint32_t read_exec = 5, private = 2;

	put_header(r, PERF_RECORD_MMAP2, MISC_USER,
		   64 + padded(strlen(map->file) + 1, 8) + sizeof(struct sample_id));
	put_u32(r, id->pid);
	put_u32(r, id->pid);
	put_u64(r, map->addr);
	put_u64(r, map->bytes);
	put_u64(r, map->offset);
	put_zeros(r, 24); /* device and inode */
	put_u32(r, read_exec);
	put_u32(r, private);
	put_text(r, map->file, 8);
	put_id(r, id);
}

void export_record_switch(struct export_record *r, const struct export_record_id *id)
{
	put_header(r, PERF_RECORD_SWITCH, 0, sizeof(struct sample_id));
	put_id(r, id);
}

void export_record_poke(struct export_record *r, const struct export_record_id *id, uint64_t addr,
			const uint8_t *from, const uint8_t *to, uint16_t bytes)
{
	size_t body = 12 + 2 * (size_t)bytes;

	put_header(r, PERF_RECORD_TEXT_POKE, MISC_KERNEL,
		   padded(body, 8) + sizeof(struct sample_id));
	put_u64(r, addr);
	put(r, &bytes, sizeof(bytes));
	put(r, &bytes, sizeof(bytes));
	put(r, from, bytes);
	put(r, to, bytes);
	put_zeros(r, padded(body, 8) - body);
	put_id(r, id);
}

void export_record_round(struct export_record *r)
{
	put_header(r, REC_FINISHED_ROUND, 0, 0);
}
