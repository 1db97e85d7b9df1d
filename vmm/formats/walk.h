/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walk over a trace for a format: calls, blocks, instants and counts of instructions as events. */
#ifndef VMM_FORMATS_WALK_H
#define VMM_FORMATS_WALK_H

#include "decode/by_cr3.h"
#include "decode/cut.h"
#include "decode/item.h"
#include "formats/format.h"

struct format_source_dirs;

struct format_walk {
	struct trace_reader *reader;
	const struct debug_symbols *symbols; /* NULL if there are none */
	const struct format_type *type;
	FILE *out;
	struct decode_by_cr3 *by_cr3; /* NULL if the file describes address spaces */
	unsigned int jobs;	      /* the number of threads that decode; 0 or 1: none */
	bool one_vcpu;
	unsigned int vcpu; /* valid only if @one_vcpu is set */
	uint64_t base;	   /* of struct format_run */
	const char *only;  /* of struct format_run */
	bool untimed;	   /* do not compute times for the format */
	/* A report reads source files from these directories, or none if this is NULL. */
	const struct format_source_dirs *source;
	/* The cut: what vCPU i exports, or NULL for all. */
	const struct decode_window *cut;
	/* Returns true if an item is to be exported; NULL for all. */
	bool (*wants)(void *context, const struct decode_item *item);
	void *context; /* of wants() */
	void *own;     /* the first value of run->own, see format.h */
};

/* The result of a walk. */
struct format_sum {
	uint64_t insns;
	uint64_t lanes;
	uint64_t errors; /* the number of places that cannot be decoded */
	char error[256]; /* the first of them */
};

/*
 * Decode a trace and write it to walk->out. The caller checks the errors of @out. Returns 0 or
 * -errno.
 */
int format_walk(const struct format_walk *walk, struct format_sum *sum);

#endif /* VMM_FORMATS_WALK_H */
