// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt diff: finds the first difference of two traces. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/decode_side.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/symbols.h"
#include "decode/by_cr3.h"
#include "decode/diverge.h"
#include "decode/diverge_print.h"
#include "decode/listing.h"

#define CONTEXT 8

struct side {
	const char *path;
	struct trace_reader *reader;
	struct decode_by_cr3 *by_cr3;
	struct debug_symbols *symbols;
	const struct debug_symbol *last; /* the symbol of the last address */
	struct decode_listing listing;
};

struct options {
	const char *path[2];
	const char *process, *process_b;
	uint64_t vcpu, context;
	bool one_vcpu, has_context, insns, names, json, quiet;
	struct cli_symbols symbols, symbols_b;
};

struct diff {
	const struct options *o;
	struct side side[2];
	struct decode_divergence d;
	uint64_t insns;	       /* equal instructions of all vCPUs */
	unsigned int compared; /* vCPUs */
	unsigned int differ;   /* vCPUs */
	unsigned int first;    /* the vCPU with the fewest equal instructions before a difference */
	uint64_t first_insns;
};

#define AT(member)    .field = offsetof(struct options, member)
#define GIVEN(member) .given = offsetof(struct options, member)

static const struct cli_option rows[] = {
	{'v', "vcpu", "=N", "only this vCPU", cli_take_number, AT(vcpu), GIVEN(one_vcpu)},
	{'p', "process", "=NAME[,NAME...]",
	 "only these processes or other address spaces, by name, number or CR3 (0x...)",
	 cli_take_text, AT(process)},
	{0, "process-b", "=NAME[,NAME...]",
	 "the processes of B, if their names or CR3s differ from those of A", cli_take_text,
	 AT(process_b)},
	{'n', "names", NULL,
	 "compare functions and offsets in place of addresses and bytes: of code that was linked "
	 "or loaded elsewhere",
	 cli_take_flag, AT(names)},
	{'i', "insns", NULL, "compare instructions only, and no events", cli_take_flag, AT(insns)},
	{'C', "context", "=N", "show N lines before and after a difference (default 8, at most 64)",
	 cli_take_number, AT(context), GIVEN(has_context)},
	{'S', "symbols", "=FILE[@BIAS]", "symbols of both traces, as for vpt decode",
	 cli_symbols_take, AT(symbols)},
	{0, "symbols-b", "=FILE[@BIAS]", "symbols of B, in place of --symbols", cli_symbols_take,
	 AT(symbols_b)},
	{'j', "json", NULL, "one JSON object", cli_take_flag, AT(json)},
	{'q', "quiet", NULL, "print only the last line", cli_take_flag, AT(quiet)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_diff = {
	.name = "diff",
	.run = cli_cmd_diff,
	.summary = "find the first difference of two traces",
	.usage = "[OPTION]... A B",
	.about =
		"Decodes two traces at the same time, and shows where the instructions or events "
		"of "
		"each vCPU first differ: some lines that both have, then those of A with \"-\" and "
		"those of B with \"+\". Times are not compared.",
	.notes =
		"With --process, the instructions of other address spaces are left out, so that "
		"another order of processes is no difference. With --names, code without a symbol "
		"has equal addresses.\n\n"
		"The exit status is 0 if the traces are equal, and 1 if they differ. It is 2 for a "
		"wrong command line, 3 if a file cannot be read or is damaged, and 4 if this "
		"machine "
		"lacks a requirement.\n\n"
		"  vpt run --pt=host --arg=1 -o a.vpt demo.elf\n"
		"  vpt run --pt=host --arg=2 -o b.vpt demo.elf\n"
		"  vpt diff a.vpt b.vpt || true",
	.options = rows,
	.column = 26,
	.operands = {{"A", AT(path[0])}, {"B", AT(path[1])}},
};

static int place(void *opaque, unsigned int n, struct decode_item *item)
{
	struct side *s = &((struct diff *)opaque)->side[n];

	return !s->by_cr3 || decode_by_cr3_item(s->by_cr3, item) ? 0 : -ENOMEM;
}

static bool wants(void *opaque, unsigned int n, const struct decode_item *item)
{
	const struct options *o = ((struct diff *)opaque)->o;
	const struct cli_decode_side part = {.space =
						     n && o->process_b ? o->process_b : o->process};

	return !part.space || cli_decode_side_has(&part, item);
}

static const struct debug_symbol *symbol_of(struct side *s, uint64_t addr)
{
	if (!s->last || addr < s->last->start || addr >= s->last->end)
		s->last = debug_symbols_find(s->symbols, addr);
	return s->last;
}

static bool same_place(void *opaque, uint64_t a, uint64_t b)
{
	struct diff *d = opaque;
	const struct debug_symbol *x = symbol_of(&d->side[0], a), *y = symbol_of(&d->side[1], b);

	if (!x || !y)
		return x == y && a == b;
	return a - x->start == b - y->start && !strcmp(x->name, y->name);
}

static void show(struct diff *d, unsigned int vcpu)
{
	struct decode_listing *const listing[2] = {&d->side[0].listing, &d->side[1].listing};

	if (d->o->json) {
		fputs(d->compared ? "," : "", stdout);
		decode_diverge_json(&d->d, vcpu, listing);
	} else if (d->d.differs && !d->o->quiet) {
		decode_diverge_print(&d->d, vcpu, listing);
	}
}

static void count(struct diff *d, unsigned int vcpu)
{
	if (d->d.differs && (!d->differ || d->d.insns < d->first_insns)) {
		d->first = vcpu;
		d->first_insns = d->d.insns;
	}
	d->insns += d->d.insns;
	d->differ += d->d.differs;
	d->compared++;
}

static int compare(struct diff *d, unsigned int vcpu)
{
	const struct decode_diverge_how how = {
		.context = (unsigned int)d->o->context,
		.events = !d->o->insns,
		.place = place,
		.wants = wants,
		.same_place = d->o->names ? same_place : NULL,
		.opaque = d,
	};
	struct decode_flow *flow[2] = {NULL, NULL};
	unsigned int n;
	int err = 0;

	for (n = 0; n < 2 && !err; n++) {
		if (d->side[n].by_cr3)
			decode_by_cr3_begin(d->side[n].by_cr3, vcpu);
		err = decode_flow_open(d->side[n].reader, vcpu, DECODE_FLOW_INSNS, &flow[n]);
	}
	if (!err)
		err = decode_diverge(flow[0], flow[1], &how, &d->d);
	if (!err) {
		show(d, vcpu);
		count(d, vcpu);
	}
	decode_flow_close(flow[0]);
	decode_flow_close(flow[1]);
	return err;
}

static int open_side(struct diff *d, unsigned int n)
{
	struct side *s = &d->side[n];
	int status, err = 0;
	size_t spaces;

	s->path = d->o->path[n];
	status = cli_open("diff", s->path, TRACE_READER_NO_ORACLE, &s->reader);
	if (!status)
		status =
			cli_symbols_open(n && d->o->symbols_b.n ? &d->o->symbols_b : &d->o->symbols,
					 "diff", s->reader, &s->symbols);
	if (status)
		return status;
	trace_reader_spaces(s->reader, &spaces);
	if (!spaces) {
		s->by_cr3 = decode_by_cr3_new(false);
		err = s->by_cr3 ? decode_by_cr3_tasks(s->by_cr3, s->reader) : -ENOMEM;
	}
	s->listing = (struct decode_listing){.out = stdout, .symbols = s->symbols};
	s->listing.disasm = decode_disasm_new(s->symbols);
	if (err || !s->listing.disasm)
		return cli_fail(CLI_EXIT_HOST, "diff: no memory");
	return CLI_EXIT_OK;
}

static void close_side(struct side *s)
{
	decode_listing_fini(&s->listing);
	decode_disasm_free(s->listing.disasm);
	decode_by_cr3_free(s->by_cr3);
	debug_symbols_close(s->symbols);
	trace_reader_close(s->reader);
}

static void conclude(const struct diff *d, bool same_count)
{
	if (d->o->json) {
		printf("],\"insns\":%" PRIu64 ",\"equal\":%s}\n", d->insns,
		       d->differ || !same_count ? "false" : "true");
		return;
	}
	if (!same_count)
		printf("diff: vCPUs: %u and %u\n", trace_reader_info(d->side[0].reader)->vcpus,
		       trace_reader_info(d->side[1].reader)->vcpus);
	if (d->differ)
		printf("diff: %u of %u vCPUs differ, vCPU %u first, after %" PRIu64
		       " instructions\n",
		       d->differ, d->compared, d->first, d->first_insns);
	else
		printf("diff: equal: vCPUs: %u, instructions: %" PRIu64 "\n", d->compared,
		       d->insns);
}

static int compare_all(struct diff *d)
{
	const unsigned int a = trace_reader_info(d->side[0].reader)->vcpus;
	const unsigned int b = trace_reader_info(d->side[1].reader)->vcpus;
	const unsigned int both = a < b ? a : b;
	unsigned int v;
	int status, err = 0;

	if (d->o->one_vcpu && d->o->vcpu >= both)
		return cli_fail(CLI_EXIT_USAGE, "diff: --vcpu=%" PRIu64 ": both traces have %u",
				d->o->vcpu, both);
	if (d->o->json)
		printf("{\"vcpus\":[");
	for (v = 0; v < both && !err; v++)
		if (!d->o->one_vcpu || d->o->vcpu == v)
			err = compare(d, v);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "diff: %s", cli_reason(-err));
	conclude(d, a == b || d->o->one_vcpu);
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "diff: cannot write: %s", cli_reason(errno));
	status = cli_whole("diff", d->side[0].path, d->side[0].reader);
	if (!status)
		status = cli_whole("diff", d->side[1].path, d->side[1].reader);
	if (status)
		return status;
	return d->differ || (a != b && !d->o->one_vcpu) ? CLI_EXIT_FAIL : CLI_EXIT_OK;
}

int cli_cmd_diff(int argc, char **argv)
{
	struct options o = {.context = CONTEXT};
	struct diff *d;
	int status = cli_options_parse(&cli_verb_diff, argc, argv, &o);

	if (!status && o.context > DECODE_DIVERGE_LINES)
		status = cli_fail(CLI_EXIT_USAGE, "diff: --context=%" PRIu64 ": at most %u",
				  o.context, DECODE_DIVERGE_LINES);
	if (!status && o.process_b && !o.process)
		status = cli_fail(CLI_EXIT_USAGE, "diff: --process-b needs --process");
	if (!status && !strcmp(o.path[0], "-") && !strcmp(o.path[1], "-"))
		status = cli_fail(CLI_EXIT_USAGE, "diff: both traces cannot be standard input");
	if (!status)
		status = cli_confine_reader("diff");
	if (status)
		return status;
	d = calloc(1, sizeof(*d));
	if (!d)
		return cli_fail(CLI_EXIT_HOST, "diff: no memory");
	d->o = &o;
	status = open_side(d, 0);
	if (!status)
		status = open_side(d, 1);
	if (!status)
		status = compare_all(d);
	close_side(&d->side[0]);
	close_side(&d->side[1]);
	free(d);
	return status;
}
