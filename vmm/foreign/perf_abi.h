/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of perf.data that <linux/perf_event.h> lacks, as of Linux 7.3. They belong to the perf
 * tool (tools/lib/perf/include/perf/event.h, tools/perf/util/header.h).
 */
#ifndef VMM_FOREIGN_PERF_ABI_H
#define VMM_FOREIGN_PERF_ABI_H

#define PERF_FILE_MAGIC 0x32454c4946524550ull /* "PERFILE2" */

/* Records of the kernel that the header for building vpt may lack. */
enum {
	REC_MMAP = 1,
	REC_LOST = 2,
	REC_COMM = 3,
	REC_EXIT = 4,
	REC_FORK = 7,
	REC_SAMPLE = 9,
	REC_MMAP2 = 10,
	REC_AUX = 11,
	REC_ITRACE_START = 12,
	REC_LOST_SAMPLES = 13,
	REC_SWITCH = 14,
	REC_SWITCH_CPU_WIDE = 15,
	REC_KSYMBOL = 17,
	REC_BPF_EVENT = 18,
	REC_TEXT_POKE = 20,
	REC_KERNEL_MAX = 64,
	REC_HEADER_ATTR = 64,
	REC_EVENT_TYPE = 65,
	REC_TRACING_DATA = 66,
	REC_BUILD_ID = 67,
	REC_FINISHED_ROUND = 68,
	REC_ID_INDEX = 69,
	REC_AUXTRACE_INFO = 70,
	REC_AUXTRACE = 71,
	REC_AUXTRACE_ERROR = 72,
	REC_THREAD_MAP = 73,
	REC_CPU_MAP = 74,
	REC_TIME_CONV = 79,
	REC_FEATURE = 80,
	REC_COMPRESSED = 81,
	REC_FINISHED_INIT = 82,
	REC_COMPRESSED2 = 83,
};

enum {
	MISC_MMAP_DATA = 1 << 13,     /* of MMAP, MMAP2: not executable */
	MISC_COMM_EXEC = 1 << 13,     /* of COMM */
	MISC_SWITCH_OUT = 1 << 13,    /* of SWITCH, SWITCH_CPU_WIDE */
	MISC_BUILD_ID = 1 << 14,      /* of MMAP2 */
	MISC_BUILD_ID_SIZE = 1 << 15, /* of build-id records: they have a size */
	AUX_TRUNCATED = 1 << 0,
	AUX_OVERWRITE = 1 << 1,
	PROT_EXECUTE = 4,
};

enum {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_ADDR = 1 << 3,
	SAMPLE_READ = 1 << 4,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_ID = 1 << 6,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_STREAM_ID = 1 << 9,
	SAMPLE_RAW = 1 << 10,
	SAMPLE_BRANCH_STACK = 1 << 11,
	SAMPLE_REGS_USER = 1 << 12,
	SAMPLE_STACK_USER = 1 << 13,
	SAMPLE_WEIGHT = 1 << 14,
	SAMPLE_DATA_SRC = 1 << 15,
	SAMPLE_IDENTIFIER = 1 << 16,
	SAMPLE_TRANSACTION = 1 << 17,
	SAMPLE_REGS_INTR = 1 << 18,
	SAMPLE_PHYS_ADDR = 1 << 19,
	SAMPLE_AUX = 1 << 20,
	SAMPLE_CGROUP = 1 << 21,
	SAMPLE_DATA_PAGE_SIZE = 1 << 22,
	SAMPLE_CODE_PAGE_SIZE = 1 << 23,
	SAMPLE_WEIGHT_STRUCT = 1 << 24,
};

enum {
	READ_ENABLED = 1 << 0,
	READ_RUNNING = 1 << 1,
	READ_ID = 1 << 2,
	READ_GROUP = 1 << 3,
	READ_LOST = 1 << 4,
};

/* Of branch_sample_type. */
#define BRANCH_HW_INDEX (1ull << 17)

/* Features of the header as bits, and as types of FEATURE records. */
enum {
	FEAT_BUILD_ID = 2,
	FEAT_OSRELEASE = 4,
	FEAT_ARCH = 6,
	FEAT_NRCPUS = 7,
	FEAT_CPUID = 9,
	FEAT_EVENT_DESC = 12,
	FEAT_PMU_MAPPINGS = 16,
	FEAT_AUX_INDEX = 18,
	FEAT_BPF_PROG_INFO = 25,
	FEAT_COMPRESSED = 27,
	FEAT_BITS = 256,
};

/* Bits of struct perf_event_attr behind read_format. */
#define ATTR_EXCLUDE_USER   (1ull << 4)
#define ATTR_EXCLUDE_KERNEL (1ull << 5)
#define ATTR_SAMPLE_ID_ALL  (1ull << 18)

/* priv[] of AUXTRACE_INFO for Intel PT. */
#define AUXTRACE_INTEL_PT 1u
enum {
	PRIV_PMU_TYPE,
	PRIV_TIME_SHIFT,
	PRIV_TIME_MULT,
	PRIV_TIME_ZERO,
	PRIV_CAP_USER_TIME_ZERO,
	PRIV_TSC_BIT,
	PRIV_NORETCOMP_BIT,
	PRIV_HAVE_SCHED_SWITCH,
	PRIV_SNAPSHOT_MODE,
	PRIV_PER_CPU_MMAPS,
	PRIV_LEAST, /* minimum number of entries in a file */
	PRIV_MTC_BIT = PRIV_LEAST,
	PRIV_MTC_FREQ_BITS,
	PRIV_TSC_CTC_N,
	PRIV_TSC_CTC_D,
	PRIV_CYC_BIT,
	PRIV_MAX_NONTURBO,
	PRIV_COUNT
};

#endif /* VMM_FOREIGN_PERF_ABI_H */
