// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt import --raw: the options for the processor, its registers and the code. */
#include "cli/import_raw.h"

#include <string.h>

#include "vpt/msr.h"

void cli_import_raw_init(struct cli_import_raw *o)
{
	memset(o, 0, sizeof(*o));
	o->cr3 = FOREIGN_ANY_CR3;
	o->is.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) |
		    VPT_CTL_MASK(BRANCH_EN);
}

int cli_import_take_range(const struct cli_given *g)
{
	static const unsigned int shifts[] = {VPT_CTL_ADDR0_CFG_SHIFT, VPT_CTL_ADDR1_CFG_SHIFT,
					      VPT_CTL_ADDR2_CFG_SHIFT, VPT_CTL_ADDR3_CFG_SHIFT};
	struct cli_import_raw *o = g->field;
	const unsigned int i = o->ranges;
	uint64_t *addr = &o->is.addr[2 * i];
	const char *rest;
	bool stop;

	if (i == VPT_MAX_RANGES)
		return cli_option_wrong(g, "there are four at most");
	rest = cli_read_number(g->value, &addr[0]);
	if (rest)
		rest = *rest == '-' ? cli_read_number(rest + 1, &addr[1]) : NULL;
	stop = rest && !strcmp(rest, ":stop");
	if (!rest || addr[1] < addr[0] || (*rest && !stop))
		return cli_option_wrong(g, "not FIRST-LAST or FIRST-LAST:stop");
	o->is.ctl |= (stop ? 2ull : 1ull) << shifts[i];
	o->ranges++;
	return CLI_EXIT_OK;
}

int cli_import_take_ctl(const struct cli_given *g)
{
	struct cli_import_raw *o = g->field;
	struct cli_given value = *g;
	uint64_t ctl;
	int status;

	value.field = &ctl;
	status = cli_take_number(&value);
	/* Earlier options may have set ranges, so keep their bits. */
	o->is.ctl &= 0xffffull << VPT_CTL_ADDR0_CFG_SHIFT;
	o->is.ctl |= ctl | VPT_CTL_MASK(TRACE_EN);
	return status;
}

int cli_import_take_cr3(const struct cli_given *g)
{
	struct cli_import_raw *o = g->field;
	struct cli_given value = *g;
	int status;

	value.field = &o->cr3;
	status = cli_take_number(&value);
	/* Keep only the address bits. */
	o->cr3 &= ~(uint64_t)(TRACE_CODE_BYTES - 1);
	return status;
}

/* Note a file of code. Its name ends at @mark, unless @mark is NULL. */
static int take_file(const struct cli_given *g, struct foreign_raw_code code, char *mark)
{
	struct cli_import_raw *o = g->field;

	if (o->is.ncode == FOREIGN_RAW_CODE)
		return cli_option_wrong(g, "there are %u files of code at most", FOREIGN_RAW_CODE);
	if (mark)
		*mark = 0;
	code.path = g->value;
	code.cr3 = o->cr3;
	o->is.code[o->is.ncode++] = code;
	return CLI_EXIT_OK;
}

/* Note a file of code, and the number that may follow its name. */
static int take_file_at(const struct cli_given *g, enum foreign_raw_kind kind)
{
	struct foreign_raw_code code = {.kind = kind};
	char *mark = strrchr(g->value, '@');
	const char *rest = mark ? cli_read_number(mark + 1, &code.at) : "";

	if (!rest || *rest)
		return cli_option_wrong(g, "no number after @");
	return take_file(g, code, mark);
}

int cli_import_take_elf(const struct cli_given *g)
{
	return take_file_at(g, FOREIGN_RAW_ELF);
}

int cli_import_take_code(const struct cli_given *g)
{
	if (!strchr(g->value, '@'))
		return cli_option_wrong(g, "not FILE@ADDRESS");
	return take_file_at(g, FOREIGN_RAW_BYTES);
}

int cli_import_take_pages(const struct cli_given *g)
{
	char *mark = strrchr(g->value, ',');

	if (!mark)
		return cli_option_wrong(g, "not DUMP,ADDRESSES");
	return take_file(
		g, (struct foreign_raw_code){.kind = FOREIGN_RAW_PAGES, .addresses = mark + 1},
		mark);
}
