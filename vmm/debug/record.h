/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records from the child to the parent, each with its text. */
#ifndef VMM_DEBUG_RECORD_H
#define VMM_DEBUG_RECORD_H

#include <stddef.h>
#include <stdint.h>

enum debug_kind {
	DEBUG_RECORD_SYMBOL = 1, /* value, size, flags; text: the name */
	DEBUG_RECORD_FILE,	 /* text: a path, for the rows behind it */
	DEBUG_RECORD_ROW,	 /* value: address; size: line, 0 for no line */
};

/* `flags` of a symbol: its type in bits 7:0, and these. */
#define DEBUG_RECORD_DEFINED (1u << 8)
#define DEBUG_RECORD_IN_CODE (1u << 9)

struct debug_record {
	uint8_t kind; /* enum debug_kind */
	uint8_t reserved;
	uint16_t flags;
	uint32_t text; /* length of the text behind the record, including the final NUL; 0 if
	                * there is no text */
	uint64_t value, size;
};

/* Exit statuses of the child. Any other end is a crash. */
enum debug_exit {
	DEBUG_CHILD_OK = 0,
	DEBUG_CHILD_NO_ELF = 40, /* the file is no ELF file */
	DEBUG_CHILD_DAMAGED,	 /* a part could not be read; the records before it are good */
	DEBUG_CHILD_LIMIT,	 /* a limit was reached; the records before it are good */
	DEBUG_CHILD_INFLATES,	 /* debug sections would be too large if decompressed */
	DEBUG_CHILD_NO_MEMORY,
};

/* The output of the child: a buffer in front of a descriptor. */
struct debug_out {
	int fd;
	size_t used;
	uint64_t start; /* bytes of address space in use when the child began */
	uint64_t room;	/* bytes that it may use beyond `start` */
	uint8_t buffer[65536];
};

/* In the child: write a record. Does not return if the write fails. */
void debug_put(struct debug_out *out, const struct debug_record *record, const char *text);
void debug_flush(struct debug_out *out);
/* In the child: memory ran out, because of the limit or of the host. Does not return. */
void debug_no_memory(void) __attribute__((noreturn));

/* In the child: write the records of a file. Returns enum debug_exit. */
int debug_child(const void *elf, size_t len, unsigned int what, struct debug_out *out);

#endif /* VMM_DEBUG_RECORD_H */
