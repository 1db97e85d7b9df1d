/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of vpt record have in common. */
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
	unsigned int ncpus;	 /* 0: all that are online */
	uint64_t seconds;	 /* 0: no limit */
	uint64_t buffer;	 /* bytes of each CPU's ring */
	char **command;		 /* NULL: none */
	unsigned int guest_code; /* enum cli_record_guest_code */
	bool system, quiet;
};

/* record_options.c: CLI_EXIT_OK, or a status after the one line was printed. */
int cli_record_parse(struct cli_record_options *o, int argc, char **argv);

/* Bytes of the kernel's code as they were at first. */
struct cli_record_page {
	uint64_t vaddr;
	uint8_t bytes[TRACE_CODE_BYTES];
};

/* What can be known of this host. All zero is nothing. */
struct cli_record_host {
	struct host_kcore *kcore;
	struct host_memory memory;
	struct host_ksyms syms;
	struct host_tasks_where where;
	bool has_tasks;		 /* `where` is filled in */
	unsigned int guest_code; /* enum cli_record_guest_code */
	struct host_procs procs;
	struct {
		struct cli_record_page *at;
		size_t n, room;
	} kernel;
};

/* record_host.c. What is not there is said in a line on stderr. 0 or -errno. */
int cli_record_host_open(struct cli_record_host *h);
/* Keep the kernel's code as it is. 0 or -errno. */
int cli_record_host_kernel(struct cli_record_host *h);
/* Look at the processes again, and at the maps of all. 0 or -errno. */
int cli_record_host_tasks(struct cli_record_host *h, bool all);
void cli_record_host_close(struct cli_record_host *h);

/* What came to be in the file. */
struct cli_record_sum {
	size_t host, named, guest; /* address spaces */
	size_t guest_code;	   /* of the guests' those with their code */
	size_t changed;		   /* pages of kernel code that were not the same at the end */
};

/*
 * record_code.c: the spaces that the file's trace is of, and their code. `path` is the
 * file that the writer writes. 0 or -errno.
 */
int cli_record_code(struct cli_record_host *h, struct trace_writer *writer, const char *path,
		    struct cli_record_sum *sum);

/* Where the guests' code is looked for. */
enum cli_record_guest_code {
	CLI_RECORD_AUTO,    /* in the machine's memory, then in the VMMs' processes */
	CLI_RECORD_KCORE,   /* in the machine's memory */
	CLI_RECORD_PROCESS, /* in the VMMs' processes */
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
	const struct trace_space *spaces; /* of the file, the guests' among them */
	size_t nspaces;
	const struct cli_record_vmm *vmms; /* of VMCSs, as far as they are known */
	size_t nvmms;
};

/*
 * record_guests.c: the code of guests. @path is the file that the writer writes, and has spaces and
 * the code of the host. 0 or -errno.
 */
int cli_record_guests(const struct cli_record_guests *in, struct trace_writer *writer,
		      const char *path, struct cli_record_sum *sum);

#endif /* VMM_CLI_RECORD_H */
