// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the output of info.c as one JSON object. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/info.h"
#include "text/text.h"
#include "trace/session_end.h"

static void json_errata(unsigned int errata)
{
	unsigned int i, n = 0;

	fputs(",\"errata\":[", stdout);
	for (i = 0; i < 8; i++)
		if (errata >> i & 1)
			printf("%s\"E%u\"", n++ ? "," : "", i + 1);
	putchar(']');
}

static void json_damage(const struct trace_extent *extent)
{
	size_t i;

	printf(",\"cut\":%s,\"lost\":%" PRIu64 ",\"damage\":[", extent->cut ? "true" : "false",
	       extent->lost);
	for (i = 0; i < extent->damages; i++) {
		printf("%s{\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"why\":", i ? "," : "",
		       extent->damage[i].offset, extent->damage[i].bytes);
		text_json_string(stdout, extent->damage[i].why);
		putchar('}');
	}
	putchar(']');
}

static void json_file(const struct trace_reader *r)
{
	const struct trace_file_info *info = trace_reader_info(r);
	const struct trace_extent *extent = trace_reader_extent(r);
	char text[sizeof(info->model) + 1];
	uint32_t guest_exit;
	size_t pages;

	text_copy(text, sizeof(text), info->model, sizeof(info->model));
	fputs("{\"model\":", stdout);
	text_json_string(stdout, text);
	text_copy(text, sizeof(text), info->engine, sizeof(info->engine));
	fputs(",\"engine\":", stdout);
	text_json_string(stdout, text);
	printf(",\"owner\":\"%s\",\"seed\":%" PRIu64, cli_info_owner(info->owner), info->seed);
	if (info->tsc_hz)
		printf(",\"tsc_hz\":%" PRIu64, info->tsc_hz);
	fputs(",\"tsc_offset\":", stdout);
	text_json_address(stdout, info->tsc_offset);
	fputs(",\"tsc_multiplier\":", stdout);
	text_json_address(stdout, info->tsc_multiplier);
	printf(",\"trace\":\"%s\"", cli_info_system(r)->trace);
	if (info->flags & TRACE_INFO_ATOM)
		json_errata(TRACE_INFO_ERRATA(info->flags));
	printf(",\"deferred\":%s", info->flags & TRACE_INFO_DEFERRED ? "true" : "false");
	printf(",\"oracle\":%s,", info->oracle ? "true" : "false");
	if (cli_info_exit(r, &guest_exit))
		printf("\"guest_exit\":%u,", guest_exit);
	trace_reader_contents(r, &pages);
	printf("\"contents\":%zu,", pages);
	pages = cli_info_points(r);
	printf("\"psbs\":%zu,\"bytes\":%" PRIu64 ",\"readable\":%" PRIu64
	       ",\"blocks\":%zu,\"unknown\":%zu,\"whole\":%s",
	       pages, extent->file_bytes, extent->readable, extent->blocks, extent->unknown,
	       extent->why ? "false" : "true");
	if (extent->why) {
		fputs(",\"why\":", stdout);
		text_json_string(stdout, extent->why);
		json_damage(extent);
	}
}

static void json_contents(const struct trace_reader *r)
{
	const struct trace_ram_range *ram;
	const struct trace_elf_file *elf;
	size_t n, i;

	fputs(",\"ram\":[", stdout);
	ram = trace_reader_ram(r, &n);
	for (i = 0; i < n; i++) {
		printf("%s{\"gpa\":", i ? "," : "");
		text_json_address(stdout, ram[i].gpa);
		printf(",\"bytes\":%" PRIu64 "}", ram[i].bytes);
	}
	fputs("],\"elf\":[", stdout);
	elf = trace_reader_elf(r, &n);
	for (i = 0; i < n; i++) {
		char name[sizeof(elf[i].image->name) + 1];

		text_copy(name, sizeof(name), elf[i].image->name, sizeof(elf[i].image->name));
		printf("%s{\"name\":", i ? "," : "");
		text_json_string(stdout, name);
		printf(",\"bytes\":%zu,\"bias\":", elf[i].len);
		text_json_address(stdout, elf[i].image->bias);
		putchar('}');
	}
	putchar(']');
}

static void json_spaces(const struct trace_reader *r)
{
	const struct trace_space *space;
	char text[sizeof(space->name) + 1];
	size_t n, i;

	space = trace_reader_spaces(r, &n);
	fputs(",\"spaces\":[", stdout);
	for (i = 0; i < n; i++, space++) {
		printf("%s{\"id\":", i ? "," : "");
		text_json_address(stdout, space->id);
		printf(",\"side\":\"%s\",\"cr3\":",
		       space->flags & TRACE_SPACE_NON_ROOT ? "guest" : "host");
		text_json_address(stdout, space->cr3);
		if (space->vmcs != TRACE_SPACE_ANY_VMCS) {
			fputs(",\"vmcs\":", stdout);
			text_json_address(stdout, space->vmcs);
		}
		if (space->vm != TRACE_SPACE_NO_VM)
			printf(",\"vm\":%u,\"vcpu\":%u", space->vm, space->vcpu);
		if (space->pid)
			printf(",\"pid\":%u", space->pid);
		if (space->name[0]) {
			text_copy(text, sizeof(text), space->name, sizeof(space->name));
			fputs(",\"name\":", stdout);
			text_json_string(stdout, text);
		}
		putchar('}');
	}
	putchar(']');
}

static void json_vmcs(const struct trace_reader *r, unsigned int vcpu)
{
	const struct trace_vmcs *v;
	size_t n, i;

	v = trace_reader_vmcs(r, vcpu, &n);
	fputs(",\"vmcs\":[", stdout);
	for (i = 0; i < n; i++, v++) {
		printf("%s{\"vmcs\":", i ? "," : "");
		text_json_address(stdout, v->vmcs);
		printf(",\"offset\":%" PRIu64 ",\"tsc_offset\":", v->offset);
		text_json_address(stdout, v->tsc_offset);
		fputs(",\"tsc_multiplier\":", stdout);
		text_json_address(stdout, v->tsc_multiplier);
		if (v->vm != TRACE_SPACE_NO_VM)
			printf(",\"vm\":%u,\"vcpu\":%u", v->vm, v->vcpu);
		putchar('}');
	}
	putchar(']');
}

void cli_info_json_register(const char *name, uint64_t value)
{
	printf(",\"%s\":", name);
	text_json_address(stdout, value);
}

static void json_sources(const struct cli_info_source *source, uint64_t ctl)
{
	unsigned int n = 0;

	fputs(",\"traces\":[", stdout);
	for (; source->name; source++)
		if (ctl & source->ctl)
			printf("%s\"%s\"", n++ ? "," : "", source->name);
	putchar(']');
}

static void json_session(const struct cli_info_system *system, const struct trace_period *p)
{
	const struct trace_session *s = p->start;

	printf("{\"offset\":%" PRIu64, s->offset);
	if (p->end)
		printf(",\"end_offset\":%" PRIu64, p->end->offset);
	printf(",\"end\":\"%s\"", cli_info_end(system, p));
	if (p->end && trace_session_error_text(p->end)) {
		fputs(",\"error\":", stdout);
		text_json_string(stdout, trace_session_error_text(p->end));
	}
	if (p->end)
		printf(",\"insns\":%" PRIu64, p->end->insns - s->insns);
	cli_info_json_register("ctl", s->ctl);
	cli_info_json_register("status", s->status);
	json_sources(system->sources, s->ctl);
	system->json_registers(p);
	putchar('}');
}

static void json_vcpu(struct trace_reader *r, unsigned int vcpu)
{
	const struct cli_info_vcpu v = cli_info_vcpu(r, vcpu);
	size_t i;

	printf("%s{\"bytes\":%" PRIu64 ",\"pages\":%zu,\"cr3_blocks\":%zu,", vcpu ? "," : "",
	       trace_reader_stream_bytes(r, vcpu), v.ncode, v.ncr3);
	if (v.has_pips)
		printf("\"pips\":%" PRIu64 ",", v.pips);
	printf("\"oracle\":%" PRIu64 ",\"sessions\":[", trace_reader_oracle_count(r, vcpu));
	for (i = 0; i < v.nperiods; i++) {
		if (i)
			putchar(',');
		json_session(cli_info_system(r), &v.periods[i]);
	}
	putchar(']');
	json_vmcs(r, vcpu);
	cli_info_json_side_vcpu(r, vcpu);
	putchar('}');
}

void cli_info_json(struct trace_reader *r, const struct cli_names *names)
{
	unsigned int vcpus = trace_reader_info(r)->vcpus, v;
	const struct trace_post_mortem *pm = trace_reader_stop(r);

	json_file(r);
	json_contents(r);
	json_spaces(r);
	cli_info_json_side(r);
	fputs(",\"vcpus\":[", stdout);
	for (v = 0; v < vcpus; v++)
		json_vcpu(r, v);
	putchar(']');
	if (pm) {
		fputs(",\"stop\":", stdout);
		cli_post_mortem_json(stdout, pm, names);
	}
	puts("}");
}
