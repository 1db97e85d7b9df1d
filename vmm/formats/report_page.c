// SPDX-License-Identifier: GPL-2.0-or-later
/* Embed the parts of the page of vpt report. */
#include "formats/report.h"

/* clang-format off */
#define EMBED(name, file)                                                          \
	__asm__(".pushsection .rodata\n"                                           \
		".globl format_page_" #name "\n.globl format_page_" #name "_end\n" \
		"format_page_" #name ":\n.incbin \"vmm/report/" file "\"\n"        \
		"format_page_" #name "_end:\n.byte 0\n.popsection")
EMBED(head, "head.html");
EMBED(style, "report.css");
EMBED(data, "data.js");
EMBED(time, "time.js");
EMBED(detail, "detail.js");
EMBED(runs, "runs.js");
EMBED(rows, "rows.js");
EMBED(script, "report.js");
