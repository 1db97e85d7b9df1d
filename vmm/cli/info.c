// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt info: what a trace file holds. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/open.h"
#include "decode/text.h"
#include "oracle/report.h"
#include "vpt/output.h"

static const char help[] =
	"usage: vpt info [OPTION]... FILE\n"
	"\n"
	"Shows what a .vpt file holds: the model of PT, who owned it, the sessions (periods of\n"
	"TriggerEn) with their registers and how they ended, sizes, and whether the file is\n"
	"whole. FILE - is standard input.\n"
	"\n"
	"  -n, --limit=N  show N sessions of each vCPU (default 20)\n"
	"  -j, --json     one JSON object\n"
	"  -h, --help     this text\n"
	"\n"
	"The exit status is 0 also for a file that is not whole, as long as some of it can be\n"
	"read; 2 if the command is wrong, 3 if FILE can't be read.\n";

#define LIMIT_DEFAULT 20

struct options {
	const char *path;
	uint64_t limit;
	bool json, help;
};

static const char *owner_text(uint32_t owner)
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

static void show_file(const struct vpt_reader *r)
{
	const struct vpt_file_info *info = vpt_reader_info(r);
	const struct vpt_extent *extent = vpt_reader_extent(r);
	const struct vpt_file_end *end = vpt_reader_end(r);
	char model[sizeof(info->model) + 1], engine[sizeof(info->engine) + 1];

	vpt_text_copy(model, sizeof(model), info->model, sizeof(info->model));
	vpt_text_copy(engine, sizeof(engine), info->engine, sizeof(info->engine));
	printf("model          %s\nowner          %s\nengine         %s\n", model,
	       owner_text(info->owner), engine);
	printf("vCPUs          %u\nseed           %" PRIu64 "\n", info->vcpus, info->seed);
	if (info->tsc_hz)
		printf("TSC            %" PRIu64 " Hz, offset 0x%" PRIx64 ", multiplier 0x%" PRIx64
		       "\n",
		       info->tsc_hz, info->tsc_offset, info->tsc_multiplier);
	printf("oracle         %s\n", info->oracle ? "yes" : "no");
	if (end)
		printf("guest's exit   %u\n", end->guest_exit);
	printf("file           %" PRIu64 " bytes, blocks: %zu", extent->file_bytes, extent->blocks);
	if (extent->unknown)
		printf(", of unknown types: %zu", extent->unknown);
	if (extent->why)
		printf("\n               %s: %s; bytes lost: %" PRIu64,
		       extent->cut ? "cut" : "damaged", extent->why,
		       extent->file_bytes - extent->readable);
	else
		printf(", whole");
	putchar('\n');
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
	vpt_reader_index(r, &n);
	if (n)
		printf("PSBs           %zu\n", n);
}

static const char *error_text(const struct vpt_session *end)
{
	return end->error < VPT_OUT_ERR_COUNT
		       ? vpt_output_error_text((enum vpt_output_error)end->error)
		       : "?";
}

static void show_session(size_t i, const struct vpt_period *p)
{
	const struct vpt_session *s = p->start;
	unsigned int n;

	printf("  session %-4zu bytes 0x%" PRIx64, i, s->offset);
	if (p->end) {
		printf("..0x%" PRIx64 ", ended by %s", p->end->offset,
		       vpt_session_end_text(p->end->end));
		if (p->end->end == VPT_END_ERROR)
			printf(": %s", error_text(p->end));
		printf(", instructions: %" PRIu64, p->end->insns - s->insns);
	} else {
		printf("..., no end");
	}
	printf("\n    CTL 0x%" PRIx64 "  STATUS 0x%" PRIx64 "  OUTPUT_BASE 0x%" PRIx64
	       "  OUTPUT_MASK_PTRS 0x%" PRIx64 "\n",
	       s->ctl, s->status, s->output_base, s->output_mask_ptrs);
	if (s->cr3_match)
		printf("    CR3_MATCH 0x%" PRIx64 "\n", s->cr3_match);
	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if (s->addr[2 * n] || s->addr[2 * n + 1])
			printf("    ADDR%u_A 0x%" PRIx64 "  ADDR%u_B 0x%" PRIx64 "\n", n,
			       s->addr[2 * n], n, s->addr[2 * n + 1]);
	}
}

static void show_vcpu(const struct vpt_reader *r, unsigned int vcpu, uint64_t limit)
{
	const struct vpt_period *periods;
	size_t nperiods, ncode, ncr3, i;

	periods = vpt_reader_sessions(r, vcpu, &nperiods);
	vpt_reader_code(r, vcpu, &ncode);
	vpt_reader_cr3(r, vcpu, &ncr3);
	printf("vCPU %u         trace: %" PRIu64 " bytes, sessions: %zu, pages of code: %zu", vcpu,
	       vpt_reader_stream_bytes(r, vcpu), nperiods, ncode);
	if (ncr3)
		printf(", CR3 loads: %zu", ncr3);
	if (vpt_reader_info(r)->oracle)
		printf(", oracle records: %" PRIu64, vpt_reader_oracle_count(r, vcpu));
	putchar('\n');
	for (i = 0; i < nperiods && i < limit; i++)
		show_session(i, &periods[i]);
	if (i < nperiods)
		printf("  ... and %zu more: see --limit\n", nperiods - i);
}

static void json_file(const struct vpt_reader *r)
{
	const struct vpt_file_info *info = vpt_reader_info(r);
	const struct vpt_extent *extent = vpt_reader_extent(r);
	const struct vpt_file_end *end = vpt_reader_end(r);
	char text[sizeof(info->model) + 1];
	size_t pages;

	vpt_text_copy(text, sizeof(text), info->model, sizeof(info->model));
	fputs("{\"model\":", stdout);
	vpt_json_string(stdout, text);
	vpt_text_copy(text, sizeof(text), info->engine, sizeof(info->engine));
	fputs(",\"engine\":", stdout);
	vpt_json_string(stdout, text);
	printf(",\"owner\":\"%s\",\"seed\":%" PRIu64 ",\"tsc_hz\":%" PRIu64 ",\"tsc_offset\":",
	       owner_text(info->owner), info->seed, info->tsc_hz);
	vpt_json_address(stdout, info->tsc_offset);
	fputs(",\"tsc_multiplier\":", stdout);
	vpt_json_address(stdout, info->tsc_multiplier);
	printf(",\"oracle\":%s,", info->oracle ? "true" : "false");
	if (end)
		printf("\"guest_exit\":%u,", end->guest_exit);
	vpt_reader_index(r, &pages);
	printf("\"psbs\":%zu,\"bytes\":%" PRIu64 ",\"readable\":%" PRIu64
	       ",\"blocks\":%zu,\"unknown\":%zu,\"whole\":%s",
	       pages, extent->file_bytes, extent->readable, extent->blocks, extent->unknown,
	       extent->why ? "false" : "true");
	if (extent->why) {
		fputs(",\"why\":", stdout);
		vpt_json_string(stdout, extent->why);
	}
}

static void json_contents(const struct vpt_reader *r)
{
	const struct vpt_ram_range *ram;
	const struct vpt_elf_file *elf;
	size_t n, i;

	fputs(",\"ram\":[", stdout);
	ram = vpt_reader_ram(r, &n);
	for (i = 0; i < n; i++) {
		printf("%s{\"gpa\":", i ? "," : "");
		vpt_json_address(stdout, ram[i].gpa);
		printf(",\"bytes\":%" PRIu64 "}", ram[i].bytes);
	}
	fputs("],\"elf\":[", stdout);
	elf = vpt_reader_elf(r, &n);
	for (i = 0; i < n; i++) {
		char name[sizeof(elf[i].image->name) + 1];

		vpt_text_copy(name, sizeof(name), elf[i].image->name, sizeof(elf[i].image->name));
		printf("%s{\"name\":", i ? "," : "");
		vpt_json_string(stdout, name);
		printf(",\"bytes\":%zu,\"bias\":", elf[i].len);
		vpt_json_address(stdout, elf[i].image->bias);
		putchar('}');
	}
	putchar(']');
}

static void json_register(const char *name, uint64_t value)
{
	printf(",\"%s\":", name);
	vpt_json_address(stdout, value);
}

static void json_session(const struct vpt_period *p)
{
	const struct vpt_session *s = p->start;
	unsigned int n;

	printf("{\"offset\":%" PRIu64, s->offset);
	if (p->end) {
		printf(",\"end_offset\":%" PRIu64 ",\"end\":\"%s\",\"insns\":%" PRIu64,
		       p->end->offset, vpt_session_end_text(p->end->end), p->end->insns - s->insns);
		if (p->end->end == VPT_END_ERROR) {
			fputs(",\"error\":", stdout);
			vpt_json_string(stdout, error_text(p->end));
		}
	}
	json_register("ctl", s->ctl);
	json_register("status", s->status);
	json_register("output_base", s->output_base);
	json_register("output_mask_ptrs", s->output_mask_ptrs);
	json_register("cr3_match", s->cr3_match);
	fputs(",\"addr\":[", stdout);
	for (n = 0; n < 2 * VPT_MAX_RANGES; n++) {
		if (n)
			putchar(',');
		vpt_json_address(stdout, s->addr[n]);
	}
	fputs("]}", stdout);
}

static void json_vcpu(const struct vpt_reader *r, unsigned int vcpu)
{
	const struct vpt_period *periods;
	size_t nperiods, ncode, ncr3, i;

	periods = vpt_reader_sessions(r, vcpu, &nperiods);
	vpt_reader_code(r, vcpu, &ncode);
	vpt_reader_cr3(r, vcpu, &ncr3);
	printf("%s{\"bytes\":%" PRIu64 ",\"pages\":%zu,\"cr3_loads\":%zu,\"oracle\":%" PRIu64
	       ",\"sessions\":[",
	       vcpu ? "," : "", vpt_reader_stream_bytes(r, vcpu), ncode, ncr3,
	       vpt_reader_oracle_count(r, vcpu));
	for (i = 0; i < nperiods; i++) {
		if (i)
			putchar(',');
		json_session(&periods[i]);
	}
	fputs("]}", stdout);
}

static void show(const struct options *o, const struct vpt_reader *r)
{
	unsigned int vcpus = vpt_reader_info(r)->vcpus, v;

	if (!o->json) {
		show_file(r);
		show_contents(r);
		for (v = 0; v < vcpus; v++)
			show_vcpu(r, v, o->limit);
		return;
	}
	json_file(r);
	json_contents(r);
	fputs(",\"vcpus\":[", stdout);
	for (v = 0; v < vcpus; v++)
		json_vcpu(r, v);
	puts("]}");
}

static int take_option(struct options *o, int option, const char *word)
{
	switch (option) {
	case 'n':
		return vpt_cli_number("info", "limit", optarg, &o->limit);
	case 'j':
		o->json = true;
		return VPT_EXIT_OK;
	case 'h':
		o->help = true;
		return VPT_EXIT_OK;
	default:
		return vpt_fail(VPT_EXIT_USAGE,
				"info: %s: unknown, or without its value: see vpt info --help",
				word);
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"limit", required_argument, NULL, 'n'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option, status = VPT_EXIT_OK;

	optind = 0;
	opterr = 0;
	while (!status && (option = getopt_long(argc, argv, "n:jh", longs, NULL)) != -1)
		status = take_option(o, option, argv[optind - 1]);
	if (status || o->help)
		return status;
	if (optind + 1 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "info: %s: see vpt info --help",
				optind == argc ? "FILE is missing" : "only one FILE");
	o->path = argv[optind];
	return VPT_EXIT_OK;
}

int vpt_cmd_info(int argc, char **argv)
{
	struct options o = {.limit = LIMIT_DEFAULT};
	struct vpt_reader *reader;
	int status = parse(&o, argc, argv);

	if (status)
		return status;
	if (o.help) {
		fputs(help, stdout);
		return VPT_EXIT_OK;
	}
	status = vpt_cli_open("info", o.path, &reader);
	if (status)
		return status;
	show(&o, reader);
	if (fflush(stdout) || ferror(stdout))
		status = vpt_fail(VPT_EXIT_HOST, "info: cannot write: %s", strerror(errno));
	else
		status = vpt_cli_whole("info", o.path, reader);
	vpt_reader_close(reader);
	return status;
}
