/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses in the running kernel that a recorder needs, from /proc/kallsyms. */
#ifndef VMM_HOST_KSYMS_H
#define VMM_HOST_KSYMS_H

#include <stdio.h>

#include "host/memory.h"

struct host_ksyms {
	/* 0 if the symbol does not exist or is hidden. */
	uint64_t stext, etext, init_task, page_offset_base, phys_base, init_top_pgt;
	/* Code: the kernel's own, modules, BPF, trampolines. In whole pages, which may overlap. */
	struct {
		struct host_range *at;
		size_t n, room;
	} code;
};

/*
 * Read the texts of /proc/kallsyms and /proc/modules; the latter may be NULL. Returns 0, -ENOMEM,
 * -EPERM if addresses are hidden, or -EINVAL if there is no _stext.._etext.
 */
int host_ksyms_read(FILE *kallsyms, FILE *modules, struct host_ksyms *syms);
void host_ksyms_free(struct host_ksyms *syms);

#endif /* VMM_HOST_KSYMS_H */
