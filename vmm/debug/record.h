/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the child writes for the parent: records, each with the text that belongs to it. */
#ifndef VMM_DEBUG_RECORD_H
#define VMM_DEBUG_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum vpt_debug_kind {
	VPT_RECORD_SYMBOL = 1, /* value, size, flags; text: the name */
	VPT_RECORD_FILE,       /* text: a path, which the rows behind it have */
	VPT_RECORD_ROW,	       /* value: address; size: line, 0: of no line */
};

/* `flags` of a symbol: its type in bits 7:0, and these. */
#define VPT_RECORD_DEFINED (1u << 8)
#define VPT_RECORD_IN_CODE (1u << 9)

struct vpt_debug_record {
	uint8_t kind; /* enum vpt_debug_kind */
	uint8_t reserved;
	uint16_t flags;
	uint32_t text; /* bytes behind the record, of which the last is 0; none: 0 */
	uint64_t value, size;
};

/* How the child ends. Any other way is a crash. */
enum vpt_debug_exit {
	VPT_CHILD_OK = 0,
	VPT_CHILD_NO_ELF = 40, /* the file is no ELF file */
	VPT_CHILD_DAMAGED,     /* a part could not be read; the records before it are good */
	VPT_CHILD_LIMIT,       /* likewise, because of a limit */
	VPT_CHILD_INFLATES,    /* debug sections would be too large if decompressed */
	VPT_CHILD_NO_MEMORY,
};

/* The output of the child: a buffer in front of a descriptor. */
struct vpt_debug_out {
	int fd;
	size_t used;
	uint64_t start; /* bytes of address space in use when the child began */
	uint64_t room;	/* bytes that it may take beyond that */
	uint8_t buffer[65536];
};

/* In the child: write a record. Does not return if that is not possible. */
void vpt_debug_put(struct vpt_debug_out *out, const struct vpt_debug_record *record,
		   const char *text);
void vpt_debug_flush(struct vpt_debug_out *out);
/* In the child: memory ran out, because of the limit or of the host. Does not return. */
void vpt_debug_no_memory(void) __attribute__((noreturn));

/* In the child: write the records of a file. Returns enum vpt_debug_exit. */
int vpt_debug_child(const void *elf, size_t len, unsigned int what, struct vpt_debug_out *out);

#endif /* VMM_DEBUG_RECORD_H */
