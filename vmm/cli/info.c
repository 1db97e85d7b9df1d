// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt info: what a trace file holds. */
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

static const struct vpt_option rows[] = {
	{'n', "limit", "=N", "show N sessions and VMCSs of each vCPU, N spaces (default 20)",
	 vpt_take_number, AT(limit)},
	{'j', "json", NULL, "one JSON object", vpt_take_flag, AT(json)},
	VPT_OPTION_HELP,
	VPT_OPTION_END,
};

const struct vpt_verb vpt_verb_info = {
	.name = "info",
	.run = vpt_cmd_info,
	.summary = "what a trace file holds",
	.usage = "[OPTION]... FILE",
	.about = "Shows what a .vpt file holds: the model and its trace system, who owned it, the "
		 "sessions (periods of TriggerEn) with their registers and how they ended, sizes, "
		 "and whether the file is whole; address spaces and VMCSs if it tells of any. FILE "
		 "- is standard input.",
	.notes = "The exit status is 0 also for a file that is not whole, as long as some of it "
		 "can be read; 2 if the command is wrong, 3 if FILE can't be read.",
	.options = rows,
	.column = 17,
	.operands = {{"FILE", AT(path)}},
};

const char *vpt_info_owner(uint32_t owner)
{
	switch (owner) {
	case VPT_OWNER_GUEST:
		return "guest";
	case VPT_OWNER_HOST:
		return "host";
	default:
		return "none";
	}
}

/* PT goes without saying. */
static void show_system(const struct vpt_file_info *info)
{
	const unsigned int errata = VPT_INFO_ERRATA(info->flags);
	unsigned int n;

	if (!(info->flags & VPT_INFO_RTIT))
		return;
	fputs("trace          RTIT, errata:", stdout);
	for (n = 0; n < 8; n++) {
		if (errata >> n & 1)
			printf(" E%u", n + 1);
	}
	puts(errata ? "" : " none");
}

bool vpt_info_exit(const struct vpt_reader *r, uint32_t *status)
{
	const struct vpt_post_mortem *pm = vpt_reader_stop(r);
	const struct vpt_file_end *end = vpt_reader_end(r);

	*status = pm ? pm->stop.exit_status : end ? end->guest_exit : 0;
	return pm ? pm->stop.kind == VPT_STOP_EXIT : *status != 0;
}

/* How the guest stopped, unless that is an exit status. */
static void show_stop(const struct vpt_reader *r, const struct vpt_cli_names *names)
{
	const struct vpt_post_mortem *pm = vpt_reader_stop(r);

	if (!pm || pm->stop.kind == VPT_STOP_EXIT)
		return;
	vpt_post_mortem_headline(stdout, pm, names);
	vpt_post_mortem_print(stdout, "  ", pm, names);
}

static void show_damage(const struct vpt_extent *extent, uint64_t limit)
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

static void show_file(const struct vpt_reader *r, uint64_t limit)
{
	const struct vpt_file_info *info = vpt_reader_info(r);
	const struct vpt_extent *extent = vpt_reader_extent(r);
	uint32_t guest_exit;
	char model[sizeof(info->model) + 1], engine[sizeof(info->engine) + 1];

	vpt_text_copy(model, sizeof(model), info->model, sizeof(info->model));
	vpt_text_copy(engine, sizeof(engine), info->engine, sizeof(info->engine));
	printf("model          %s\nowner          %s\nengine         %s\n", model,
	       vpt_info_owner(info->owner), engine);
	printf("vCPUs          %u\nseed           %" PRIu64 "\n", info->vcpus, info->seed);
	if (info->tsc_hz)
		printf("TSC            %" PRIu64 " Hz, offset 0x%" PRIx64 ", multiplier 0x%" PRIx64
		       "\n",
		       info->tsc_hz, info->tsc_offset, info->tsc_multiplier);
	show_system(info);
	if (info->flags & VPT_INFO_DEFERRED)
		puts("TIPs           deferred");
	printf("oracle         %s\n", info->oracle ? "yes" : "no");
	if (vpt_info_exit(r, &guest_exit))
		printf("guest's exit   %u\n", guest_exit);
	printf("file           %" PRIu64 " bytes, blocks: %zu", extent->file_bytes, extent->blocks);
	if (extent->unknown)
		printf(", of unknown types: %zu", extent->unknown);
	if (extent->inside)
		printf(", in compressed blocks: %zu", extent->inside);
	puts(extent->why ? "" : ", whole");
	show_damage(extent, limit);
}

static void show_spaces(const struct vpt_reader *r, uint64_t limit)
{
	const struct vpt_space *space;
	char text[128];
	size_t n, i;

	space = vpt_reader_spaces(r, &n);
	for (i = 0; i < n && i < limit; i++, space++) {
		vpt_space_format(space, text, sizeof(text));
		printf("address space  %s; CR3 0x%" PRIx64, text, space->cr3);
		if (space->vmcs != VPT_SPACE_ANY_VMCS)
			printf(", VMCS 0x%" PRIx64, space->vmcs);
		printf(", id 0x%" PRIx64 "\n", space->id);
	}
	if (i < n)
		printf("  ... and %zu more: see --limit\n", n - i);
}

static void show_contents(const struct vpt_reader *r)
{
	const struct vpt_ram_range *ram;
	const struct vpt_elf_file *elf;
	size_t n, i;

	ram = vpt_reader_ram(r, &n);
	for (i = 0; i < n; i++)
		printf("RAM            0x%" PRIx64 ", %" PRIu64 " bytes\n", ram[i].gpa,
		       ram[i].bytes);
	elf = vpt_reader_elf(r, &n);
	for (i = 0; i < n; i++) {
		char name[sizeof(elf[i].image->name) + 1];

		vpt_text_copy(name, sizeof(name), elf[i].image->name, sizeof(elf[i].image->name));
		printf("ELF image      %s, %zu bytes, bias 0x%" PRIx64 "\n", name, elf[i].len,
		       elf[i].image->bias);
	}
	vpt_reader_contents(r, &n);
	if (n)
		printf("code           %zu different pages, %zu bytes\n", n, n * VPT_CODE_BYTES);
	n = vpt_info_points(r);
	if (n)
		printf("PSBs           %zu\n", n);
}

const struct vpt_info_system *vpt_info_system(const struct vpt_reader *r)
{
	return vpt_reader_info(r)->flags & VPT_INFO_RTIT ? &vpt_info_atom : &vpt_info_pt;
}

const char *vpt_info_end(const struct vpt_info_system *system, const struct vpt_period *p)
{
	return vpt_session_end_text(p->end ? p->end->end : VPT_END_NONE, system == &vpt_info_atom);
}

/* What the trace has, in words. */
static void show_sources(const struct vpt_info_source *source, uint64_t ctl)
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

static void show_session(const struct vpt_info_system *system, size_t i, const struct vpt_period *p)
{
	const struct vpt_session *s = p->start;

	printf("  session %-4zu bytes 0x%" PRIx64, i, s->offset);
	if (p->end)
		printf("..0x%" PRIx64, p->end->offset);
	printf(", end: %s", vpt_info_end(system, p));
	if (p->end && vpt_session_error_text(p->end))
		printf(": %s", vpt_session_error_text(p->end));
	/* Where the trace is hardware's they are not counted. */
	if (p->end && p->end->insns != s->insns)
		printf(", instructions: %" PRIu64, p->end->insns - s->insns);
	putchar('\n');
	system->registers(s);
	show_sources(system->sources, s->ctl);
	system->more(p);
}

static void show_vmcs(const struct vpt_reader *r, unsigned int vcpu, uint64_t limit)
{
	const struct vpt_vmcs *v;
	size_t n, i;

	v = vpt_reader_vmcs(r, vcpu, &n);
	for (i = 0; i < n && i < limit; i++, v++) {
		printf("  VMCS 0x%" PRIx64 " from byte 0x%" PRIx64 " on: ", v->vmcs, v->offset);
		if (v->vm != VPT_SPACE_NO_VM)
			printf("VM %u vCPU %u, ", v->vm, v->vcpu);
		printf("TSC offset 0x%" PRIx64 ", multiplier 0x%" PRIx64 "\n", v->tsc_offset,
		       v->tsc_multiplier);
	}
	if (i < n)
		printf("  ... and %zu more VMCSs: see --limit\n", n - i);
}

bool vpt_info_pips(struct vpt_reader *r, unsigned int vcpu, uint64_t *count)
{
	return !(vpt_reader_info(r)->flags & VPT_INFO_RTIT) && !vpt_pips_count(r, vcpu, count);
}

static void show_vcpu(struct vpt_reader *r, unsigned int vcpu, uint64_t limit)
{
	const struct vpt_period *periods;
	size_t nperiods, ncode, ncr3, i;
	uint64_t pips;

	periods = vpt_reader_sessions(r, vcpu, &nperiods);
	vpt_reader_code(r, vcpu, &ncode);
	vpt_reader_cr3(r, vcpu, &ncr3);
	printf("vCPU %u         trace: %" PRIu64 " bytes, ", vcpu,
	       vpt_reader_stream_bytes(r, vcpu));
	if (vpt_reader_stream_missing(r, vcpu))
		printf("of which are missing: %" PRIu64 ", ", vpt_reader_stream_missing(r, vcpu));
	printf("sessions: %zu, pages of code: %zu", nperiods, ncode);
	if (vpt_info_pips(r, vcpu, &pips) && pips)
		printf(", PIPs: %" PRIu64, pips);
	if (ncr3)
		printf(", CR3 blocks: %zu", ncr3);
	if (vpt_reader_info(r)->oracle)
		printf(", oracle records: %" PRIu64, vpt_reader_oracle_count(r, vcpu));
	putchar('\n');
	vpt_info_side_vcpu(r, vcpu);
	for (i = 0; i < nperiods && i < limit; i++)
		show_session(vpt_info_system(r), i, &periods[i]);
	if (i < nperiods)
		printf("  ... and %zu more: see --limit\n", nperiods - i);
	show_vmcs(r, vcpu, limit);
}

static void show(const struct options *o, struct vpt_reader *r, const struct vpt_cli_names *names)
{
	unsigned int vcpus = vpt_reader_info(r)->vcpus, v;

	if (!o->json) {
		show_file(r, o->limit);
		vpt_info_side(r, o->limit);
		show_contents(r);
		show_spaces(r, o->limit);
		for (v = 0; v < vcpus; v++)
			show_vcpu(r, v, o->limit);
		if (vpt_cli_empty(r))
			puts(vpt_cli_empty(r));
		show_stop(r, names);
		return;
	}
	vpt_info_json(r, names);
}

/* Names are for the place where a guest stopped. Without memory there are none. */
static void open_names(const struct vpt_reader *reader, bool json, struct vpt_cli_names *names)
{
	const struct vpt_post_mortem *pm = vpt_reader_stop(reader);
	struct vpt_symbols *symbols;

	*names = (struct vpt_cli_names){0};
	/* As text, an exit is its status. */
	if (!pm || (!json && pm->stop.kind == VPT_STOP_EXIT))
		return;
	if (!vpt_symbols_open(reader, &symbols))
		(void)vpt_cli_names_open(names, symbols);
}

int vpt_cmd_info(int argc, char **argv)
{
	struct options o = {.limit = LIMIT_DEFAULT};
	struct vpt_cli_names names;
	struct vpt_reader *reader;
	int status = vpt_options_parse(&vpt_verb_info, argc, argv, &o);

	if (status)
		return status;
	status = vpt_confine_reader("info");
	if (!status)
		status = vpt_cli_open("info", o.path,
				      VPT_READER_COUNT_ORACLE | VPT_READER_CODE_IN_PLACE, &reader);
	if (status)
		return status;
	open_names(reader, o.json, &names);
	show(&o, reader, &names);
	vpt_cli_names_close(&names);
	if (fflush(stdout) || ferror(stdout))
		status = vpt_fail(VPT_EXIT_HOST, "info: cannot write: %s", vpt_cli_reason(errno));
	else
		status = vpt_cli_whole("info", o.path, reader);
	vpt_reader_close(reader);
	return status;
}
