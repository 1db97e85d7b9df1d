/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest of `vpt run`: a payload or a Linux kernel, with its initrd. */
#ifndef VMM_CLI_RUN_GUEST_H
#define VMM_CLI_RUN_GUEST_H

#include "boot/elf.h"
#include "boot/linux.h"
#include "trace/input.h"

struct cli_run_options;

enum cli_run_guest_kind {
	CLI_RUN_PAYLOAD, /* a static ELF file */
	CLI_RUN_BZIMAGE, /* a Linux kernel */
	CLI_RUN_VMLINUX, /* a Linux kernel as an ELF file */
};

struct cli_run_guest {
	enum cli_run_guest_kind kind;
	struct trace_input file, initrd;
	struct boot_elf elf;	     /* of a payload or a vmlinux */
	struct boot_bzimage bzimage; /* of a bzImage */
};

/* Read and check the files. Returns an exit status. The caller closes the guest in any case. */
int cli_run_guest_open(struct cli_run_guest *g, struct cli_run_options *o);
/* Load the guest into a new VM, and put the vCPU before its entry. Returns an exit status. */
int cli_run_guest_load(const struct cli_run_guest *g, const struct cli_run_options *o,
		       struct core_vm *vm);
void cli_run_guest_close(struct cli_run_guest *g);

#endif /* VMM_CLI_RUN_GUEST_H */
