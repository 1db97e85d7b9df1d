/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a command, and makes one of its allocations or system calls fail. */
#ifndef TESTS_FAULTS_INJECT_H
#define TESTS_FAULTS_INJECT_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_MALLOC,	 /* malloc, calloc, realloc, posix_memalign, in all libraries */
	FAULT_MMAP,	 /* mmap, mremap */
	FAULT_WRITE,	 /* write, pwrite, writev; not to standard error */
	FAULT_FTRUNCATE, /* ftruncate, fallocate */
	FAULT_FSYNC,	 /* fsync, fdatasync */
	FAULT_KINDS
};

extern const char *const fault_names[FAULT_KINDS];

struct fault {
	enum fault_kind kind;
	uint64_t k; /* the number of the first failing call, from main(), 1-based; 0: none */
	bool stay;  /* all later calls fail too */
};

struct fault_run {
	int status;	/* as from waitpid() */
	bool hung;	/* it was killed after FAULT_SECONDS */
	uint64_t calls; /* calls of that kind during the run */
	uint64_t fired; /* how many of them failed */
};

#define FAULT_SECONDS 60

/*
 * Run argv in folder `dir`, with standard output and error redirected to these files. `shim` is the
 * path of the preloaded library. The process ends if the command cannot be run.
 */
void fault_inject(char *const *argv, const char *dir, const char *out, const char *err,
		  const char *shim, const struct fault *fault, struct fault_run *run);

#endif /* TESTS_FAULTS_INJECT_H */
