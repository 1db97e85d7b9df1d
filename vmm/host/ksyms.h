/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the running kernel has what a recorder needs, as /proc/kallsyms tells. */
#ifndef VMM_HOST_KSYMS_H
#define VMM_HOST_KSYMS_H

#include <stdio.h>

#include "host/memory.h"

struct host_ksyms {
	/* 0: not there, or hidden from us. */
	uint64_t stext, etext, init_task, page_offset_base, phys_base, init_top_pgt;
	/* Code: the kernel's own, modules, BPF, trampolines. Whole pages; may overlap. */
	struct {
		struct host_range *at;
		size_t n, room;
	} code;
};

/*
 * From the text of /proc/kallsyms and /proc/modules, the latter may be NULL. 0; -ENOMEM;
 * -EPERM: addresses are hidden; -EINVAL: there is no _stext.._etext.
 */
int host_ksyms_read(FILE *kallsyms, FILE *modules, struct host_ksyms *syms);
void host_ksyms_free(struct host_ksyms *syms);

#endif /* VMM_HOST_KSYMS_H */
