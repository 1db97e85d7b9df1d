// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt import --raw: the processor, its registers, and the code. */
#include "cli/import_raw.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/cpu.h"
#include "cli/open.h"
#include "vpt/msr.h"

void vpt_import_raw_init(struct vpt_import_raw *o)
{
	memset(o, 0, sizeof(*o));
	o->cr3 = FOREIGN_ANY_CR3;
	o->is.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) |
		    VPT_CTL_MASK(BRANCH_EN);
}

/* A number up to one of @ends, which becomes *rest. False: it is none. */
static bool number(const char *text, const char *ends, uint64_t *value, const char **rest)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	*rest = end;
	return text[0] >= '0' && text[0] <= '9' && !errno && (!*end || strchr(ends, *end));
}

static int take_range(struct vpt_import_raw *o, const char *arg)
{
	static const unsigned int shifts[] = {VPT_CTL_ADDR0_CFG_SHIFT, VPT_CTL_ADDR1_CFG_SHIFT,
					      VPT_CTL_ADDR2_CFG_SHIFT, VPT_CTL_ADDR3_CFG_SHIFT};
	const unsigned int i = o->ranges;
	uint64_t *addr = &o->is.addr[2 * i];
	const char *rest = "";
	uint64_t how = 1;

	if (i == VPT_MAX_RANGES)
		return vpt_fail(VPT_EXIT_USAGE, "import: --range: there are four at most");
	if (!number(arg, "-", &addr[0], &rest) || *rest != '-' ||
	    !number(rest + 1, ":", &addr[1], &rest) || addr[1] < addr[0] ||
	    (*rest && strcmp(rest, ":stop") != 0))
		return vpt_fail(VPT_EXIT_USAGE,
				"import: --range=%s: not FIRST-LAST or FIRST-LAST:stop", arg);
	if (*rest)
		how = 2;
	o->is.ctl |= how << shifts[i];
	o->ranges++;
	return VPT_EXIT_OK;
}

static int take_code(struct vpt_import_raw *o, int option, char *arg)
{
	char *mark = strrchr(arg, option == VPT_RAW_PAGES ? ',' : '@');
	struct foreign_raw_code code = {.path = arg, .cr3 = o->cr3};
	const char *rest;

	if (o->is.ncode == FOREIGN_RAW_CODE)
		return vpt_fail(VPT_EXIT_USAGE, "import: %s: there are %u files of code at most",
				arg, FOREIGN_RAW_CODE);
	code.kind = option == VPT_RAW_ELF     ? FOREIGN_RAW_ELF
		    : option == VPT_RAW_PAGES ? FOREIGN_RAW_PAGES
					      : FOREIGN_RAW_BYTES;
	if (!mark && option == VPT_RAW_CODE)
		return vpt_fail(VPT_EXIT_USAGE, "import: --code=%s: not FILE@ADDRESS", arg);
	if (!mark && option == VPT_RAW_PAGES)
		return vpt_fail(VPT_EXIT_USAGE, "import: --pages=%s: not DUMP,ADDRESSES", arg);
	if (mark && option == VPT_RAW_PAGES)
		code.addresses = mark + 1;
	else if (mark && !number(mark + 1, "", &code.at, &rest))
		return vpt_fail(VPT_EXIT_USAGE, "import: %s: behind @ is no number", arg);
	if (mark)
		*mark = 0;
	o->is.code[o->is.ncode++] = code;
	return VPT_EXIT_OK;
}

int vpt_import_raw_take(struct vpt_import_raw *o, int option, char *arg)
{
	uint64_t value;
	int status;

	o->others |= option != VPT_RAW;
	switch (option) {
	case VPT_RAW:
		o->raw = true;
		return VPT_EXIT_OK;
	case VPT_RAW_CPU:
		return vpt_cli_cpu_take("import", arg, &o->is.signature);
	case VPT_RAW_CTL:
		status = vpt_cli_number("import", "ctl", arg, &value);
		/* Ranges may have come before. */
		o->is.ctl &= 0xffffull << VPT_CTL_ADDR0_CFG_SHIFT;
		o->is.ctl |= value | VPT_CTL_MASK(TRACE_EN);
		return status;
	case VPT_RAW_RANGE:
		return take_range(o, arg);
	case VPT_RAW_CR3:
		status = vpt_cli_number("import", "cr3", arg, &o->cr3);
		/* The bits that name page tables. */
		o->cr3 &= ~(uint64_t)(VPT_CODE_BYTES - 1);
		return status;
	default:
		return take_code(o, option, arg);
	}
}
