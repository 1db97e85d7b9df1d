/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of vpt import --raw, for data of a trace that is not in its packets. */
#ifndef VMM_CLI_IMPORT_RAW_H
#define VMM_CLI_IMPORT_RAW_H

#include <stdbool.h>

#include "cli/option.h"
#include "foreign/raw.h"

struct cli_import_raw {
	bool raw;
	unsigned int ranges;
	uint64_t cr3; /* CR3 of the files of code that follow */
	struct foreign_raw is;
};

void cli_import_raw_init(struct cli_import_raw *o);
/* Parsers of the options. The last three modify their values. The field is the whole struct. */
cli_option_take cli_import_take_ctl, cli_import_take_range, cli_import_take_cr3;
cli_option_take cli_import_take_elf, cli_import_take_code, cli_import_take_pages;

#endif /* VMM_CLI_IMPORT_RAW_H */
