// SPDX-License-Identifier: GPL-2.0-or-later
/* The side-band of version 3 for vpt info. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/info.h"
#include "cli/marks.h"
#include "text/text.h"
#include "trace/origin.h"

static const char *vendor_text(uint16_t vendor)
{
	return vendor == TRACE_CPU_INTEL ? "Intel" : "another vendor";
}

static const char *ref_text(uint32_t kind)
{
	static const char *const texts[TRACE_REF_KINDS] = {
		NULL,	  "memory", "memory (core)", "program",	       "kernel",
		"initrd", "disk",   "snapshot",	     "original trace",
	};

	return kind && kind < TRACE_REF_KINDS ? texts[kind] : "?";
}

static void show_origin(const struct trace_reader *r)
{
	const struct trace_origin *origin = trace_reader_origin(r);
	char program[4 * sizeof(origin->program)], source[4 * sizeof(origin->source)];
	struct trace_cpu cpu;

	if (origin) {
		text_copy(program, sizeof(program), origin->program, sizeof(origin->program));
		text_copy(source, sizeof(source), origin->source, sizeof(origin->source));
		printf("origin         %s", trace_origin_text(origin->kind));
		if (*source)
			printf(", %s", source);
		if (*program)
			printf(", written by %s", program);
		puts(origin->flags & TRACE_ORIGIN_TRUNCATED ? ", truncated" : "");
	}
	if (trace_origin_cpu(r, &cpu))
		printf("processor      %s, family %u, model %u, stepping %u\n",
		       vendor_text(cpu.vendor), cpu.family, cpu.model, cpu.stepping);
}

static void show_refs(const struct trace_reader *r, uint64_t limit)
{
	const struct trace_reader_ref *refs;
	size_t n, i;

	refs = trace_reader_refs(r, &n);
	for (i = 0; i < n && i < limit; i++) {
		char name[256];

		text_copy(name, sizeof(name), refs[i].name, refs[i].ref->name_len);
		printf("file           %s, %s, %" PRIu64 " bytes%s\n", ref_text(refs[i].ref->kind),
		       name, refs[i].ref->bytes, refs[i].ref->hash_is ? ", with a hash" : "");
	}
	if (i < n)
		printf("  ... and %zu more: see --limit\n", n - i);
}

static const char *input_text(uint16_t kind)
{
	static const char *const texts[TRACE_RECORDED_KINDS] = {
		NULL,	  "console",   "network",  "folder", "monitor",
		"signal", "host time", "debugger", "disk",
	};

	return kind && kind < TRACE_RECORDED_KINDS ? texts[kind] : "?";
}

static void show_inputs(const struct trace_reader *r, uint64_t limit)
{
	const struct trace_reader_input *inputs;
	size_t n, i;

	inputs = trace_reader_inputs(r, &n);
	if (n)
		printf("inputs         %zu\n", n);
	for (i = 0; i < n && i < limit; i++) {
		const struct trace_recorded *head = inputs[i].head;

		printf("  input        vCPU %u, after %" PRIu64 " instructions: %s, bytes: %" PRIu32
		       "\n",
		       inputs[i].vcpu, head->retired, input_text(head->kind), head->len);
	}
	if (i < n)
		printf("  ... and %zu more: see --limit\n", n - i);
}

void cli_info_side(const struct trace_reader *r, uint64_t limit)
{
	printf("format         version %u\n", trace_reader_version(r));
	show_origin(r);
	show_refs(r, limit);
	show_inputs(r, limit);
}

size_t cli_info_points(const struct trace_reader *r)
{
	size_t all = 0, n;
	unsigned int i;

	for (i = 0; i < trace_reader_info(r)->vcpus; i++) {
		trace_reader_points(r, i, &n);
		all += n;
	}
	return all;
}

static void text_refined(const struct trace_refined *is)
{
	printf("  refined: pieces that did not decode: %" PRIu64 ", now: %" PRIu64
	       "; changes placed: %" PRIu64 ", pages added: %" PRIu64 "\n",
	       is->failed, is->left, is->changes, is->pages);
}

void cli_info_side_vcpu(const struct trace_reader *r, unsigned int vcpu, uint64_t limit)
{
	const struct trace_cut *cut = trace_reader_cut(r, vcpu);
	size_t switches, epochs, marks, tasks;

	trace_reader_switches(r, vcpu, &switches);
	trace_reader_epochs(r, vcpu, &epochs);
	trace_reader_marks(r, vcpu, &marks);
	trace_reader_tasks(r, vcpu, &tasks);
	if (cut)
		printf("  part of a trace, from byte 0x%" PRIx64 " on%s\n", cut->offset,
		       cut->why == TRACE_CUT_RING ? ": a ring kept its end" : "");
	if (trace_reader_refined(r, vcpu))
		text_refined(trace_reader_refined(r, vcpu));
	if (switches)
		printf("  switches of the address space: %zu\n", switches);
	if (epochs)
		printf("  epochs of code: %zu\n", epochs);
	if (tasks)
		printf("  switches and names of tasks: %zu\n", tasks);
	if (marks)
		printf("  marks: %zu\n", marks);
	cli_marks_text(r, &(struct cli_marks){vcpu, 0, UINT64_MAX, limit});
}

static void json_origin(const struct trace_reader *r)
{
	const struct trace_origin *origin = trace_reader_origin(r);
	char text[sizeof(origin->source) + 1];
	struct trace_cpu cpu;

	if (origin) {
		fputs(",\"origin\":", stdout);
		text_json_string(stdout, trace_origin_text(origin->kind));
		fputs(",\"program\":", stdout);
		text_copy(text, sizeof(text), origin->program, sizeof(origin->program));
		text_json_string(stdout, text);
		fputs(",\"source\":", stdout);
		text_copy(text, sizeof(text), origin->source, sizeof(origin->source));
		text_json_string(stdout, text);
		printf(",\"truncated\":%s",
		       origin->flags & TRACE_ORIGIN_TRUNCATED ? "true" : "false");
	}
	if (trace_origin_cpu(r, &cpu))
		printf(",\"cpu\":{\"vendor\":\"%s\",\"family\":%u,\"cpu_model\":%u,\"stepping\":%"
		       "u}",
		       vendor_text(cpu.vendor), cpu.family, cpu.model, cpu.stepping);
}

static void json_inputs(const struct trace_reader *r)
{
	const struct trace_reader_input *inputs;
	size_t n, i;

	inputs = trace_reader_inputs(r, &n);
	printf(",\"inputs\":%zu,\"input_list\":[", n);
	for (i = 0; i < n; i++)
		printf("%s{\"vcpu\":%u,\"retired\":%" PRIu64 ",\"kind\":\"%s\",\"bytes\":%" PRIu32
		       "}",
		       i ? "," : "", inputs[i].vcpu, inputs[i].head->retired,
		       input_text(inputs[i].head->kind), inputs[i].head->len);
	putchar(']');
}

void cli_info_json_side(const struct trace_reader *r)
{
	const struct trace_reader_ref *refs;
	size_t n, i;

	printf(",\"format\":%u,\"packed\":%zu", trace_reader_version(r),
	       trace_reader_extent(r)->inside);
	json_origin(r);
	json_inputs(r);
	fputs(",\"files\":[", stdout);
	refs = trace_reader_refs(r, &n);
	for (i = 0; i < n; i++) {
		char name[TRACE_REF_NAME_MAX + 1];

		text_copy(name, sizeof(name), refs[i].name, refs[i].ref->name_len);
		printf("%s{\"kind\":\"%s\",\"name\":", i ? "," : "", ref_text(refs[i].ref->kind));
		text_json_string(stdout, name);
		printf(",\"bytes\":%" PRIu64 "}", refs[i].ref->bytes);
	}
	putchar(']');
}

void cli_info_json_side_vcpu(const struct trace_reader *r, unsigned int vcpu)
{
	const struct trace_cut *cut = trace_reader_cut(r, vcpu);
	const struct trace_refined *is = trace_reader_refined(r, vcpu);
	size_t points, switches, epochs, marks, tasks;
	bool first = true;

	trace_reader_points(r, vcpu, &points);
	trace_reader_switches(r, vcpu, &switches);
	trace_reader_epochs(r, vcpu, &epochs);
	trace_reader_marks(r, vcpu, &marks);
	trace_reader_tasks(r, vcpu, &tasks);
	printf(",\"points\":%zu,\"switches\":%zu,\"epochs\":%zu,\"marks\":%zu,\"tasks\":%zu",
	       points, switches, epochs, marks, tasks);
	fputs(",\"mark_list\":[", stdout);
	cli_marks_json(r, &(struct cli_marks){vcpu, 0, UINT64_MAX, UINT64_MAX}, &first);
	putchar(']');
	if (cut)
		printf(",\"from\":%" PRIu64, cut->offset);
	if (is)
		printf(",\"refined\":{\"failed\":%" PRIu64 ",\"left\":%" PRIu64
		       ",\"changes\":%" PRIu64 ",\"pages\":%" PRIu64 "}",
		       is->failed, is->left, is->changes, is->pages);
}
