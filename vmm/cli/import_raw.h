/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of vpt import --raw: what of a trace is not in its packets. */
#ifndef VMM_CLI_IMPORT_RAW_H
#define VMM_CLI_IMPORT_RAW_H

#include <stdbool.h>

#include "foreign/raw.h"

/* Values of options without a letter. */
enum vpt_import_raw_option {
	VPT_RAW = 256,
	VPT_RAW_CPU,
	VPT_RAW_CTL,
	VPT_RAW_RANGE,
	VPT_RAW_CR3,
	VPT_RAW_ELF,
	VPT_RAW_CODE,
	VPT_RAW_PAGES,
};

struct vpt_import_raw {
	bool raw;
	bool others; /* an option was given that needs --raw */
	unsigned int ranges;
	uint64_t cr3; /* of the files of code that come next */
	struct foreign_raw is;
};

void vpt_import_raw_init(struct vpt_import_raw *o);
/* Take an option, of which the argument is changed. An exit status, after the one line. */
int vpt_import_raw_take(struct vpt_import_raw *o, int option, char *arg);

#endif /* VMM_CLI_IMPORT_RAW_H */
