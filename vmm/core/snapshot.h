/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots: write a machine and its unfinished trace to a file between two instructions, and load
 * both. A resumed run writes the same trace as an uninterrupted one (docs/adr/0008).
 *
 * A .vps file is a header and a sequence of blocks. They have the order of enum core_snap_type,
 * except MAPS, and the last one is END. Each has its length and a checksum. core_snapshot_open()
 * refuses a file that is incomplete or out of order, and each part of the machine checks its own
 * block. Integers are little-endian. Zeros pad a payload to a multiple of 8, and `len` does not
 * count them.
 */
#ifndef VMM_CORE_SNAPSHOT_H
#define VMM_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/vm.h"
#include "pt/code_pages.h"

struct trace_writer;

#define CORE_SNAP_MAGIC	      0x0a50414e53545056ull /* "VPTSNAP\n" */
#define CORE_SNAP_VERSION     4
#define CORE_SNAP_BLOCK_MAGIC 0x4b4c4253u /* "SBLK" */

struct core_snap_header {
	uint64_t magic;
	uint32_t version;
	uint32_t size; /* of this header */
	uint64_t reserved[2];
};

enum core_snap_type {
	CORE_SNAP_INFO = 1, /* struct core_snap_info */
	CORE_SNAP_CPUID,    /* struct core_snap_leaf[] */
	CORE_SNAP_RAM,	    /* any number: address, then pages; what is left out is zero */
	CORE_SNAP_ENGINE,   /* as the engine saves itself */
	CORE_SNAP_VCPU,	    /* struct core_vcpu_state */
	CORE_SNAP_DEVICES,  /* as they save themselves */
	CORE_SNAP_TRACER,   /* struct tracer_state */
	CORE_SNAP_CODE,	    /* any number: struct tracer_code_content, then the page */
	CORE_SNAP_WRITER,   /* if there is a trace file: as its writer saves itself */
	CORE_SNAP_FILE,	    /* any number: what the trace file has, from its beginning */
	CORE_SNAP_END,	    /* struct core_snap_end */
	CORE_SNAP_MAPS,	    /* at most one, between CODE and WRITER: struct tracer_code_map[] */
	CORE_SNAP_TYPES
};

struct core_snap_block {
	uint32_t magic;
	uint32_t type; /* enum core_snap_type */
	uint32_t len;  /* payload bytes */
	uint32_t crc;  /* CRC-32C of this header with crc 0, then payload */
};

struct core_snap_info {
	struct trace_file_info file; /* as the trace file has it, or would */
	struct vpt_caps caps;	     /* of PT as the guest's CPUID shows it */
	uint64_t mem_bytes;
	uint64_t retired;     /* instructions, by the engine's count */
	uint64_t insns;	      /* traced ones */
	uint64_t trace_bytes; /* of the stream */
	uint64_t file_bytes;  /* of the trace file, 0: there is none */
	char guest[64];	      /* its name, for messages */
};

struct core_snap_leaf {
	uint32_t leaf, subleaf;
	uint32_t by_subleaf;
	uint32_t eax, ebx, ecx, edx;
	uint32_t reserved;
};

struct core_snap_end {
	uint64_t blocks; /* this one too */
};

VPT_STATIC_ASSERT(sizeof(struct core_snap_header) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct core_snap_block) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct core_snap_info) == 120 + 40 + 40 + 64, "file format");
VPT_STATIC_ASSERT(sizeof(struct core_snap_leaf) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct tracer_code_content) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct tracer_code_map) == 32, "file format");

/* Properties of the run that the machine itself does not have. */
struct core_snap_origin {
	const struct trace_file_info *file;
	const char *guest;
	struct trace_writer *writer; /* NULL: no trace file */
	/* Give up with -ECANCELED when this becomes true; NULL: never. */
	const volatile bool *give_up;
};

/*
 * Write the machine to @path between two instructions. The file gets its name when it is complete
 * and on disk. Nothing else changes.
 *
 * Returns 0, or -errno with one line in @why. -ENOTSUP: the engine has no snapshots. -ESPIPE: the
 * trace file is no regular file and cannot be read back.
 */
int core_snapshot_save(const char *path, struct core_vm *vm, const struct core_snap_origin *origin,
		       char *why, size_t size);

struct core_snapshot;

/* All that fail below return -errno with one line in `why`; -EINVAL: it is the content. */
int core_snapshot_open(const char *path, struct core_snapshot **snapshot, char *why, size_t size);
void core_snapshot_close(struct core_snapshot *s);

const struct core_snap_info *core_snapshot_info(const struct core_snapshot *s);
/* How many blocks of a type there are; *bytes: of payload. */
size_t core_snapshot_count(const struct core_snapshot *s, enum core_snap_type type,
			   uint64_t *bytes);

/* Fill a machine that is new and as core_snapshot_info() says. */
int core_snapshot_load(const struct core_snapshot *s, struct core_vm *vm, char *why, size_t size);
/*
 * Then resume its trace in the file @fd, which gets what the old one had and stays the caller's.
 * @fd of -1: do not record. *writer is the caller's to close.
 */
int core_snapshot_trace(const struct core_snapshot *s, struct core_vm *vm, int fd,
			struct trace_writer **writer, char *why, size_t size);

#endif /* VMM_CORE_SNAPSHOT_H */
