/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Common declarations of the files of vpt record. */
#ifndef VMM_CLI_RECORD_H
#define VMM_CLI_RECORD_H

#include <sys/types.h>

#include "host/kcore.h"
#include "host/ksyms.h"
#include "host/procs.h"
#include "trace/writer.h"

#define CLI_RECORD_CPUS_MAX 1024

struct cli_record_options {
	const char *output;
	unsigned int cpus[CLI_RECORD_CPUS_MAX];
	unsigned int ncpus;	 /* 0: all online CPUs */
	uint64_t seconds;	 /* 0: no limit */
	uint64_t buffer;	 /* bytes of each CPU's ring */
	char **command;		 /* NULL if there is none */
	unsigned int guest_code; /* enum cli_record_guest_code */
	bool system, quiet;
};

/*
 * record_options.c: parse the command line. Returns CLI_EXIT_OK, or an exit status after one line.
 */
int cli_record_parse(struct cli_record_options *o, int argc, char **argv);

/* Bytes of the kernel's code at the start of the recording. */
struct cli_record_page {
	uint64_t vaddr;
	uint8_t bytes[TRACE_CODE_BYTES];
};

/* The known facts about this host. An all-zero struct has none. */
struct cli_record_host {
	struct host_kcore *kcore;
	struct host_memory memory;
	struct host_ksyms syms;
	struct host_tasks_where where;
	bool has_tasks;		 /* `where` is valid */
	unsigned int guest_code; /* enum cli_record_guest_code */
	struct host_procs procs;
	struct {
		struct cli_record_page *at;
		size_t n, room;
	} kernel;
};

/*
 * record_host.c: open the sources of facts. Prints a line on stderr for each missing source.
 * Returns 0 or -errno.
 */
int cli_record_host_open(struct cli_record_host *h);
/* Save the current code of the kernel. Returns 0 or -errno. */
int cli_record_host_kernel(struct cli_record_host *h);
/*
 * Read the list of processes again. If @all, also read the maps of all processes. Returns 0 or
 * -errno.
 */
int cli_record_host_tasks(struct cli_record_host *h, bool all);
void cli_record_host_close(struct cli_record_host *h);

/* The contents of the written file. */
struct cli_record_sum {
	size_t host, named, guest; /* numbers of address spaces */
	size_t guest_code;	   /* number of guest spaces with code */
	size_t changed;		   /* number of pages of kernel code that changed during the
	               		    * recording */
};

/*
 * record_code.c: write the spaces of the file's trace and their code. `path` is the file that the
 * writer writes. Returns 0 or -errno.
 */
int cli_record_code(struct cli_record_host *h, struct trace_writer *writer, const char *path,
		    struct cli_record_sum *sum);

/* The sources of the guests' code. */
enum cli_record_guest_code {
	CLI_RECORD_AUTO,    /* the machine's memory, then the VMMs' processes */
	CLI_RECORD_KCORE,   /* the machine's memory */
	CLI_RECORD_PROCESS, /* the VMMs' processes */
	CLI_RECORD_NONE,    /* nowhere */
};

/* The process that runs a VMCS. */
struct cli_record_vmm {
	uint64_t vmcs;
	unsigned int pid;
};

struct cli_record_guests {
	enum cli_record_guest_code where;
	const char *memory;		  /* an image of the machine's memory: /proc/kcore */
	const struct trace_space *spaces; /* all spaces of the file, including those of guests */
	size_t nspaces;
	const struct cli_record_vmm *vmms; /* known processes of VMCSs */
	size_t nvmms;
};

/*
 * record_guests.c: write the code of guests. @path is the file that the writer writes. It already
 * has the spaces and the code of the host. Returns 0 or -errno.
 */
int cli_record_guests(const struct cli_record_guests *in, struct trace_writer *writer,
		      const char *path, struct cli_record_sum *sum);

#endif /* VMM_CLI_RECORD_H */
