/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots: write a machine and its unfinished trace to a file between two instructions, and load
 * both. A resumed run writes the same trace as an uninterrupted run (docs/adr/0008).
 *
 * A .vps file is a header and a sequence of blocks. The order is INFO, START, CPUID, RAM, DEVICES,
 * DISK, WRITER, FILE, END. The blocks OVERLAY of each disk follow its block DISK. The blocks ENGINE,
 * VCPU, TRACER, CODE and MAPS of each vCPU, in this order, precede DEVICES. Each has its length and
 * a checksum. An incomplete file, or one with blocks out of order, is refused by
 * core_snapshot_open(). Each part of the machine checks its own block. Integers are little-endian.
 * Zeros pad a payload to a multiple of 8, and `len` does not count them.
 */
#ifndef VMM_CORE_SNAPSHOT_H
#define VMM_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/vm.h"
#include "pt/code_pages.h"

struct trace_writer;

#define CORE_SNAP_MAGIC	      0x0a50414e53545056ull /* "VPTSNAP\n" */
#define CORE_SNAP_VERSION     11
#define CORE_SNAP_BLOCK_MAGIC 0x4b4c4253u /* "SBLK" */

struct core_snap_header {
	uint64_t magic;
	uint32_t version;
	uint32_t size; /* bytes of this header */
	uint64_t reserved[2];
};

enum core_snap_type {
	CORE_SNAP_INFO = 1, /* struct core_snap_info */
	CORE_SNAP_CPUID,    /* struct core_snap_leaf[] */
	CORE_SNAP_RAM,	    /* any number: an address, then pages; all other pages are zero */
	CORE_SNAP_ENGINE,   /* from the engine's save() */
	CORE_SNAP_VCPU,	    /* struct core_vcpu_state */
	CORE_SNAP_DEVICES,  /* from core_devices_save() */
	CORE_SNAP_TRACER,   /* struct tracer_state */
	CORE_SNAP_CODE,	    /* any number: struct tracer_code_content, then the page */
	CORE_SNAP_WRITER,   /* only with a trace file: from trace_writer_save() */
	CORE_SNAP_FILE,	    /* any number: the trace file's content, from the start */
	CORE_SNAP_END,	    /* struct core_snap_end */
	CORE_SNAP_MAPS,	    /* at most one of a vCPU: struct tracer_code_map[] */
	CORE_SNAP_DISK,	    /* struct core_snap_disk */
	CORE_SNAP_OVERLAY,  /* any number of a disk: the bytes of its owner */
	CORE_SNAP_START,    /* at most one: how a reset starts the guest; the bytes of its owner */
	CORE_SNAP_TYPES
};

struct core_snap_block {
	uint32_t magic;
	uint32_t type; /* enum core_snap_type */
	uint32_t len;  /* bytes of the payload */
	uint32_t crc;  /* CRC-32C of this header with crc 0, then payload */
};

struct core_snap_info {
	struct trace_file_info file; /* the same as in the trace file, if there is one */
	struct vpt_caps caps;	     /* the capabilities of PT in the guest's CPUID */
	uint64_t mem_bytes;
	uint64_t retired;     /* retired instructions of all vCPUs */
	uint64_t insns;	      /* traced instructions */
	uint64_t trace_bytes; /* bytes of packets */
	uint64_t file_bytes;  /* bytes of the trace file, 0: no trace file */
	char guest[64];	      /* the guest's name, for messages */
	uint32_t current;     /* the vCPU whose turn it is */
	uint32_t devices;     /* bits of enum core_snap_devices */
};

/* The virtio devices besides disks, and the PCI bus, which also exists if there is a device. */
enum core_snap_devices {
	CORE_SNAP_CONSOLE = 1 << 0,
	CORE_SNAP_RANDOM = 1 << 1,
	CORE_SNAP_PCI = 1 << 2,
	CORE_SNAP_ALL_DEVICES = (1 << 3) - 1,
};

/* How to open a disk. The meaning of the numbers is that of their owner. */
struct core_snap_disk {
	uint32_t access, format;
	uint64_t overlay_max;
	char name[1024];
};

struct core_snap_leaf {
	uint32_t leaf, subleaf;
	uint32_t by_subleaf;
	uint32_t eax, ebx, ecx, edx;
	uint32_t reserved;
};

struct core_snap_end {
	uint64_t blocks; /* the number of blocks, with this one */
};

VPT_STATIC_ASSERT(sizeof(struct core_snap_header) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct core_snap_block) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct core_snap_info) == 120 + 40 + 40 + 64 + 8, "file format");
VPT_STATIC_ASSERT(sizeof(struct core_snap_disk) == 16 + 1024, "file format");
VPT_STATIC_ASSERT(sizeof(struct core_snap_leaf) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct tracer_code_content) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct tracer_code_map) == 32, "file format");

/* Write the next bytes of a disk, or read them. Returns 0 or -errno. */
typedef int core_snap_put(void *opaque, const void *bytes, size_t count);
typedef int core_snap_get(void *opaque, void *bytes, size_t count);

/* Properties of the run that are not part of the machine. */
struct core_snap_origin {
	const struct trace_file_info *file;
	const char *guest;
	struct trace_writer *writer; /* NULL: no trace file */
	/* Give up with -ECANCELED when this becomes true; NULL: never. */
	const volatile int *give_up;
	uint32_t devices;  /* enum core_snap_devices */
	const void *start; /* the bytes of START; NULL: a reset ends the guest */
	size_t start_bytes;
	const struct core_snap_disk *disk;
	unsigned int disks;
	/* Save disk @i with calls of put(to, ...). Returns 0 or -errno. */
	int (*save_disk)(void *opaque, unsigned int i, core_snap_put *put, void *to);
	void *opaque;
};

/*
 * Write the machine to @path between two instructions. The file appears under this name only when
 * it is complete and on disk. Nothing else changes.
 *
 * Returns 0, or -errno with one line in @why. The error is -ENOTSUP if the engine has no snapshots.
 * It is -ESPIPE if the trace file is not a regular file, which could not be read back. After -EAGAIN,
 * which means that the engine cannot stop here, repeat the call after the next run().
 */
int core_snapshot_save(const char *path, struct core_vm *vm, const struct core_snap_origin *origin,
		       char *why, size_t size);

struct core_snapshot;

/*
 * Functions below that fail return -errno with one line in @why. -EINVAL means that the content is
 * invalid.
 */
int core_snapshot_open(const char *path, struct core_snapshot **snapshot, char *why, size_t size);
void core_snapshot_close(struct core_snapshot *s);

const struct core_snap_info *core_snapshot_info(const struct core_snapshot *s);
/* Returns the number of blocks of a type. *bytes is the sum of their payloads; it may be NULL. */
size_t core_snapshot_count(const struct core_snapshot *s, enum core_snap_type type,
			   uint64_t *bytes);

/* Returns the bytes of START, which stay until the snapshot is closed, or NULL. */
const void *core_snapshot_start(const struct core_snapshot *s, size_t *bytes);

/* Returns true if snapshots of this engine exist. */
bool core_snapshot_has(const struct engine *engine);

/*
 * Copy CPUID, for core_vm_config.saved. *count is the room before the call, and the number of
 * entries after it. Returns false if there are more.
 */
bool core_snapshot_cpuid(const struct core_snapshot *s, struct engine_cpuid_entry *entries,
			 size_t *count);

/* Load the state into a new machine that was created according to core_snapshot_info(). */
int core_snapshot_load(const struct core_snapshot *s, struct core_vm *vm, char *why, size_t size);
/* Copy what the snapshot says of a disk. Returns false if it has no such disk. */
bool core_snapshot_disk(const struct core_snapshot *s, unsigned int i, struct core_snap_disk *disk);
/* A position in the bytes of a disk, for core_snapshot_get(). */
struct core_snapshot_cursor {
	const struct core_snapshot *s;
	size_t block;
	uint32_t at;
	uint8_t *bytes; /* the contents of the block */
};
/* Begin to read the bytes of a disk. core_snapshot_disk_end() follows. */
void core_snapshot_disk_begin(const struct core_snapshot *s, unsigned int i,
			      struct core_snapshot_cursor *cursor);
core_snap_get core_snapshot_get;
/* Returns true if all bytes of the disk were read. */
bool core_snapshot_disk_end(struct core_snapshot_cursor *cursor);
/*
 * Resume the trace in the file @fd, after core_snapshot_load(). The file first gets the content of
 * the old trace file. The caller still owns @fd; -1 means not to record. The caller closes *writer.
 */
int core_snapshot_trace(const struct core_snapshot *s, struct core_vm *vm, int fd,
			struct trace_writer **writer, char *why, size_t size);

#endif /* VMM_CORE_SNAPSHOT_H */
