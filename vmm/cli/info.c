// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt info: describes a trace file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/info.h"
#include "cli/open.h"
#include "cli/option.h"
#include "decode/pips.h"
#include "decode/spaces.h"
#include "debug/symbol.h"
#include "text/text.h"
#include "trace/session_end.h"

#define LIMIT_DEFAULT 20

struct options {
	const char *path;
	uint64_t limit;
	bool json;
};

#define AT(member) .field = offsetof(struct options, member)

static const struct cli_option rows[] = {
	{'n', "limit", "=N", "show N sessions and VMCSs of each vCPU, and N spaces (default 20)",
	 cli_take_number, AT(limit)},
	{'j', "json", NULL, "one JSON object", cli_take_flag, AT(json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_info = {
	.name = "info",
	.run = cli_cmd_info,
	.summary = "show the contents of a trace file",
	.usage = "[OPTION]... FILE",
	.about = "Shows the contents of a .vpt file: the model, its trace system and the owner of "
		 "the trace, sizes, and whether the file is complete. It shows the sessions "
		 "(periods of TriggerEn) with their registers and how they ended. It also shows "
		 "the address spaces and VMCSs, if the file has any. FILE - is standard input.",
	.notes = "The exit status is 0 even for an incomplete file, if part of it can be read. It "
		 "is 2 for a wrong command line, and 3 if FILE cannot be read.",
	.options = rows,
	.column = 17,
	.operands = {{"FILE", AT(path)}},
};

const char *cli_info_owner(uint32_t owner)
{
	switch (owner) {
	case TRACE_OWNER_GUEST:
		return "guest";
	case TRACE_OWNER_HOST:
		return "host";
	default:
		return "none";
	}
}

/* Intel PT is the default and is not mentioned. */
static void show_system(const struct trace_file_info *info)
{
	const unsigned int errata = TRACE_INFO_ERRATA(info->flags);
	unsigned int n;

	if (!(info->flags & TRACE_INFO_ATOM))
		return;
	fputs("trace          RTIT, errata:", stdout);
	for (n = 0; n < 8; n++) {
		if (errata >> n & 1)
			printf(" E%u", n + 1);
	}
	puts(errata ? "" : " none");
}

bool cli_info_exit(const struct trace_reader *r, uint32_t *status)
{
	const struct trace_post_mortem *pm = trace_reader_stop(r);
	const struct trace_file_end *end = trace_reader_end(r);

	*status = pm ? pm->stop.exit_status : end ? end->guest_exit : 0;
	return pm ? pm->stop.kind == TRACE_STOP_EXIT : *status != 0;
}

/* Show how the guest stopped, unless it ended with an exit status. */
static void show_stop(const struct trace_reader *r, const struct cli_names *names)
{
	const struct trace_post_mortem *pm = trace_reader_stop(r);

	if (!pm || pm->stop.kind == TRACE_STOP_EXIT)
		return;
	cli_post_mortem_headline(stdout, pm, names);
	cli_post_mortem_print(stdout, "  ", pm, names);
}

static void show_damage(const struct trace_extent *extent, uint64_t limit)
{
	size_t i;

	if (extent->cut) {
		printf("cut            %s; bytes lost: %" PRIu64 "\n", extent->why, extent->lost);
		return;
	}
	for (i = 0; i < extent->damages && i < limit; i++)
		printf("damaged        byte %" PRIu64 ": %s; bytes left out: %" PRIu64 "\n",
		       extent->damage[i].offset, extent->damage[i].why, extent->damage[i].bytes);
	if (i < extent->damages)
		printf("  ... and %zu more: see --limit\n", extent->damages - i);
}

static void show_file(const struct trace_reader *r, uint64_t limit)
{
	const struct trace_file_info *info = trace_reader_info(r);
	const struct trace_extent *extent = trace_reader_extent(r);
	uint32_t guest_exit;
	char model[sizeof(info->model) + 1], engine[sizeof(info->engine) + 1];

	text_copy(model, sizeof(model), info->model, sizeof(info->model));
	text_copy(engine, sizeof(engine), info->engine, sizeof(info->engine));
	printf("model          %s\nowner          %s\nengine         %s\n", model,
	       cli_info_owner(info->owner), engine);
	printf("vCPUs          %u\nseed           %" PRIu64 "\n", info->vcpus, info->seed);
	if (info->tsc_hz)
		printf("TSC            %" PRIu64 " Hz, offset 0x%" PRIx64 ", multiplier 0x%" PRIx64
		       "\n",
		       info->tsc_hz, info->tsc_offset, info->tsc_multiplier);
	show_system(info);
	if (info->flags & TRACE_INFO_DEFERRED)
		puts("TIPs           deferred");
	printf("oracle         %s\n", info->oracle ? "yes" : "no");
	if (cli_info_exit(r, &guest_exit))
		printf("guest's exit   %u\n", guest_exit);
	printf("file           %" PRIu64 " bytes, blocks: %zu", extent->file_bytes, extent->blocks);
	if (extent->unknown)
		printf(", of unknown types: %zu", extent->unknown);
	if (extent->inside)
		printf(", in compressed blocks: %zu", extent->inside);
	puts(extent->why ? "" : ", whole");
	show_damage(extent, limit);
}

static void show_spaces(const struct trace_reader *r, uint64_t limit)
{
	const struct trace_space *space;
	char text[128];
	size_t n, i;

	space = trace_reader_spaces(r, &n);
	for (i = 0; i < n && i < limit; i++, space++) {
		decode_space_format(space, text, sizeof(text));
		printf("address space  %s; CR3 0x%" PRIx64, text, space->cr3);
		if (space->vmcs != TRACE_SPACE_ANY_VMCS)
			printf(", VMCS 0x%" PRIx64, space->vmcs);
		printf(", id 0x%" PRIx64 "\n", space->id);
	}
	if (i < n)
		printf("  ... and %zu more: see --limit\n", n - i);
}

static void show_contents(const struct trace_reader *r)
{
	const struct trace_ram_range *ram;
	const struct trace_elf_file *elf;
	size_t n, i;

	ram = trace_reader_ram(r, &n);
	for (i = 0; i < n; i++)
		printf("RAM            0x%" PRIx64 ", %" PRIu64 " bytes\n", ram[i].gpa,
		       ram[i].bytes);
	elf = trace_reader_elf(r, &n);
	for (i = 0; i < n; i++) {
		char name[sizeof(elf[i].image->name) + 1];

		text_copy(name, sizeof(name), elf[i].image->name, sizeof(elf[i].image->name));
		printf("ELF image      %s, %zu bytes, bias 0x%" PRIx64 "\n", name, elf[i].len,
		       elf[i].image->bias);
	}
	trace_reader_contents(r, &n);
	if (n)
		printf("code           %zu different pages, %zu bytes\n", n, n * TRACE_CODE_BYTES);
	n = cli_info_points(r);
	if (n)
		printf("PSBs           %zu\n", n);
}

const struct cli_info_system *cli_info_system(const struct trace_reader *r)
{
	return trace_reader_info(r)->flags & TRACE_INFO_ATOM ? &cli_info_atom : &cli_info_pt;
}

const char *cli_info_end(const struct cli_info_system *system, const struct trace_period *p)
{
	return trace_session_end_text(p->end ? p->end->end : TRACE_END_NONE,
				      system == &cli_info_atom);
}

/* Show the enabled packet types in words. */
static void show_sources(const struct cli_info_source *source, uint64_t ctl)
{
	fputs("    traces", stdout);
	for (; source->name; source++) {
		if (!(ctl & source->ctl))
			continue;
		printf(" %s", source->name);
		if (source->how)
			printf("=%u",
			       (unsigned int)((ctl & source->how) / (source->how & -source->how)));
	}
	putchar('\n');
}

static void show_session(const struct cli_info_system *system, size_t i,
			 const struct trace_period *p)
{
	const struct trace_session *s = p->start;

	printf("  session %-4zu bytes 0x%" PRIx64, i, s->offset);
	if (p->end)
		printf("..0x%" PRIx64, p->end->offset);
	printf(", end: %s", cli_info_end(system, p));
	if (p->end && trace_session_error_text(p->end))
		printf(": %s", trace_session_error_text(p->end));
	/* The hardware does not count instructions. */
	if (p->end && p->end->insns != s->insns)
		printf(", instructions: %" PRIu64, p->end->insns - s->insns);
	putchar('\n');
	system->registers(s);
	show_sources(system->sources, s->ctl);
	system->more(p);
}

static void show_vmcs(const struct trace_reader *r, unsigned int vcpu, uint64_t limit)
{
	const struct trace_vmcs *v;
	size_t n, i;

	v = trace_reader_vmcs(r, vcpu, &n);
	for (i = 0; i < n && i < limit; i++, v++) {
		printf("  VMCS 0x%" PRIx64 " from byte 0x%" PRIx64 " on: ", v->vmcs, v->offset);
		if (v->vm != TRACE_SPACE_NO_VM)
			printf("VM %u vCPU %u, ", v->vm, v->vcpu);
		printf("TSC offset 0x%" PRIx64 ", multiplier 0x%" PRIx64 "\n", v->tsc_offset,
		       v->tsc_multiplier);
	}
	if (i < n)
		printf("  ... and %zu more VMCSs: see --limit\n", n - i);
}

struct cli_info_vcpu cli_info_vcpu(struct trace_reader *r, unsigned int vcpu)
{
	struct cli_info_vcpu v = {0};

	v.periods = trace_reader_sessions(r, vcpu, &v.nperiods);
	trace_reader_code(r, vcpu, &v.ncode);
	trace_reader_cr3(r, vcpu, &v.ncr3);
	v.has_pips = !(trace_reader_info(r)->flags & TRACE_INFO_ATOM) &&
		     !decode_pips_count(r, vcpu, &v.pips);
	return v;
}

static void show_vcpu(struct trace_reader *r, unsigned int vcpu, uint64_t limit)
{
	const struct cli_info_vcpu v = cli_info_vcpu(r, vcpu);
	size_t i;

	printf("vCPU %u         trace: %" PRIu64 " bytes, ", vcpu,
	       trace_reader_stream_bytes(r, vcpu));
	if (trace_reader_stream_missing(r, vcpu))
		printf("of which are missing: %" PRIu64 ", ", trace_reader_stream_missing(r, vcpu));
	printf("sessions: %zu, pages of code: %zu", v.nperiods, v.ncode);
	if (v.has_pips && v.pips)
		printf(", PIPs: %" PRIu64, v.pips);
	if (v.ncr3)
		printf(", CR3 blocks: %zu", v.ncr3);
	if (trace_reader_info(r)->oracle)
		printf(", oracle records: %" PRIu64, trace_reader_oracle_count(r, vcpu));
	putchar('\n');
	cli_info_side_vcpu(r, vcpu, limit);
	for (i = 0; i < v.nperiods && i < limit; i++)
		show_session(cli_info_system(r), i, &v.periods[i]);
	if (i < v.nperiods)
		printf("  ... and %zu more: see --limit\n", v.nperiods - i);
	show_vmcs(r, vcpu, limit);
}

static void show(const struct options *o, struct trace_reader *r, const struct cli_names *names)
{
	unsigned int vcpus = trace_reader_info(r)->vcpus, v;

	if (!o->json) {
		show_file(r, o->limit);
		cli_info_side(r, o->limit);
		show_contents(r);
		show_spaces(r, o->limit);
		for (v = 0; v < vcpus; v++)
			show_vcpu(r, v, o->limit);
		if (cli_empty(r))
			puts(cli_empty(r));
		show_stop(r, names);
		return;
	}
	cli_info_json(r, names);
}

/* Names are for the address at which a guest stopped. Without memory there are no names. */
static void open_names(const struct trace_reader *reader, bool json, struct cli_names *names)
{
	const struct trace_post_mortem *pm = trace_reader_stop(reader);
	struct debug_symbols *symbols;

	*names = (struct cli_names){0};
	/* In text mode, an exit shows only its status. */
	if (!pm || (!json && pm->stop.kind == TRACE_STOP_EXIT))
		return;
	if (!debug_symbols_open(reader, &symbols))
		(void)cli_names_open(names, symbols);
}

int cli_cmd_info(int argc, char **argv)
{
	struct options o = {.limit = LIMIT_DEFAULT};
	struct cli_names names;
	struct trace_reader *reader;
	int status = cli_options_parse(&cli_verb_info, argc, argv, &o);

	if (status)
		return status;
	status = cli_confine_reader("info");
	if (!status)
		status = cli_open("info", o.path,
				  TRACE_READER_COUNT_ORACLE | TRACE_READER_CODE_IN_PLACE, &reader);
	if (status)
		return status;
	open_names(reader, o.json, &names);
	show(&o, reader, &names);
	cli_names_close(&names);
	if (fflush(stdout) || ferror(stdout))
		status = cli_fail(CLI_EXIT_HOST, "info: cannot write: %s", cli_reason(errno));
	else
		status = cli_whole("info", o.path, reader);
	trace_reader_close(reader);
	return status;
}
