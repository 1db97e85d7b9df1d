// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a trace as a directory that perf reads. */
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/code_file.h"
#include "export/kernel.h"
#include "export/plan.h"
#include "export/record.h"
#include "export/stream.h"
#include "export/timing.h"
#include "trace/outdir.h"
#include "vpt/msr.h"

/* The number of records in one round. perf sorts the records of a round. */
#define ROUND 4096
/* The longest path of a directory, in bytes. */
#define DIR_MAX 4000

struct export
{
	struct trace_reader *reader;
	const struct export_options *o;
	struct export_report *report;
	struct export_plan plan;
	struct debug_symbols *symbols;
	struct export_text text;
	struct export_code *codes; /* indexed by process and width */
	enum export_record_timing timing;
	struct trace_outdir dir;
	uint64_t zero; /* the time in nanoseconds at which changes start */
};

/* Set the path that an error is about. An empty name is the directory itself. */
static void report_path(struct export *x, const char *name)
{
	snprintf(x->report->path, sizeof(x->report->path), "%s%s%s", x->o->dir, *name ? "/" : "",
		 name);
}

static int make_dir(struct export *x, const char *name)
{
	report_path(x, name);
	return trace_outdir_mkdir(&x->dir, name);
}

static FILE *create(struct export *x, const char *name)
{
	report_path(x, name);
	return trace_outdir_create(&x->dir, name);
}

/* Close a written file. Returns 0, `err` or -errno. */
static int finish(FILE *out, int err)
{
	/* A failed stream keeps no errno. Flush again to get it. */
	if (err == -EIO && ferror(out) && fflush(out))
		err = -errno;
	if (!err && (fflush(out) || ferror(out)))
		err = errno ? -errno : -EIO;
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

static int write_kallsyms(struct export *x)
{
	FILE *out, *in;
	int err;

	out = create(x, "kcore_dir/kallsyms");
	if (!out)
		return -errno;
	if (!x->o->kallsyms)
		return finish(out, export_kallsyms(x->symbols, &x->text, out));
	in = fopen(x->o->kallsyms, "r");
	err = in ? export_kallsyms_copy(in, &x->text, out) : -errno;
	if (err)
		snprintf(x->report->path, sizeof(x->report->path), "%s", x->o->kallsyms);
	if (in)
		fclose(in);
	return finish(out, err);
}

static int write_kernel(struct export *x)
{
	FILE *out;
	int err;

	export_kernel_text(&x->plan.pages, &x->text);
	if (!x->text.begin)
		return 0;
	err = make_dir(x, "kcore_dir");
	if (!err)
		err = write_kallsyms(x);
	if (err)
		return err;
	out = create(x, "kcore_dir/kcore");
	if (!out)
		return -errno;
	err = finish(out, export_kcore(&x->plan.pages, &x->text, out));
	if (err)
		return err;
	/* The list of modules is empty, because kcore has their code too. */
	out = create(x, "kcore_dir/modules");
	return out ? finish(out, 0) : -errno;
}

/* Return the name of a code file below `dir`. */
static void code_name(const struct export_code *code, char *name, size_t size)
{
	snprintf(name, size, "code/cr3-%s%s", code->process->name + strlen("cr3:"),
		 code->width == EXPORT_CODE32 ? ".32" : "");
}

static struct export_code *code_of(const struct export *x, const struct export_process *process,
				   unsigned int width)
{
	size_t index = (size_t)(process - x->plan.pages.processes);

	return &x->codes[index * EXPORT_WIDTHS + width];
}

static int write_code(struct export *x)
{
	const struct export_pages *p = &x->plan.pages;
	int err = make_dir(x, "code");
	char name[64];
	size_t i;

	x->codes = calloc(p->nprocesses * EXPORT_WIDTHS + 1, sizeof(*x->codes));
	if (!x->codes)
		return -ENOMEM;
	for (i = 0; i < p->nprocesses * EXPORT_WIDTHS && !err; i++) {
		struct export_code *code = &x->codes[i];
		FILE *out;

		code->process = &p->processes[i / EXPORT_WIDTHS];
		code->width = i % EXPORT_WIDTHS;
		err = export_code_list(code, p);
		if (err || !export_code_any(code))
			continue;
		code_name(code, name, sizeof(name));
		out = create(x, name);
		if (!out)
			return -errno;
		err = finish(out, export_code_write(code, x->symbols, out));
	}
	return err;
}

static void record_code(const struct export *x, struct export_record *r,
			const struct export_code *code)
{
	const struct export_record_id id = {.pid = code->process->pid};
	char name[64], file[4096 + 64];
	size_t i, n;

	code_name(code, name, sizeof(name));
	snprintf(file, sizeof(file), "%s/%s", x->dir.path, name);
	for (i = 0; i < code->n; i += n) {
		n = export_code_run(code, i);
		export_record_map(r, &id,
				  &(struct export_record_map){
					  .addr = code->pages[i]->vaddr,
					  .bytes = n * TRACE_CODE_BYTES,
					  .offset = export_code_page(i),
					  .file = file,
				  });
	}
}

/* Write the state before the first instruction. */
static void record_machine(const struct export *x, struct export_record *r)
{
	const struct export_pages *p = &x->plan.pages;
	size_t i, k;

	if (x->text.begin)
		export_record_kernel(r, x->text.begin, x->text.end - x->text.begin);
	for (i = 0; i < p->nprocesses; i++) {
		if (!p->processes[i].used)
			continue;
		x->report->processes++;
		export_record_comm(r, p->processes[i].pid, p->processes[i].name);
		for (k = 0; k < EXPORT_WIDTHS; k++)
			record_code(x, r, code_of(x, &p->processes[i], k));
	}
}

static void record_poke(struct export_record *r, const struct export_record_id *id,
			const struct export_event *event)
{
	size_t first = 0, end = TRACE_CODE_BYTES;

	while (first < end && event->from[first] == event->bytes[first])
		first++;
	while (end > first && event->from[end - 1] == event->bytes[end - 1])
		end--;
	if (end > first)
		export_record_poke(r, id, event->page->vaddr + first, event->from + first,
				   event->bytes + first, (uint16_t)(end - first));
}

static void record_patch(const struct export *x, struct export_record *r,
			 struct export_record_id *id, const struct export_event *event)
{
	const struct export_code *code = code_of(x, event->process, event->width);
	struct export_code_patch patch;
	char name[64], file[4096 + 64];

	code_name(code, name, sizeof(name));
	snprintf(file, sizeof(file), "%s/%s", x->dir.path, name);
	export_code_patch(code, event->patch, &patch);
	id->pid = event->process->pid;
	export_record_map(r, id,
			  &(struct export_record_map){
				  .addr = patch.vaddr,
				  .bytes = patch.bytes,
				  .offset = patch.offset,
				  .file = file,
			  });
}

static void record_events(const struct export *x, struct export_record *r)
{
	size_t i;

	for (i = 0; i < x->plan.events.n; i++) {
		const struct export_event *event = &x->plan.events.at[i];
		struct export_record_id id = {.ns = x->zero + event->ns, .cpu = event->vcpu};

		if (r->timing != EXPORT_RECORD_FOLDED)
			id.ns = EXPORT_BEGINNING;

		switch (event->what) {
		case EXPORT_SWITCH:
			id.pid = event->process->pid;
			export_record_switch(r, &id);
			x->report->switches++;
			break;
		case EXPORT_PATCH:
			record_patch(x, r, &id, event);
			x->report->patches++;
			break;
		case EXPORT_POKE:
			record_poke(r, &id, event);
			x->report->pokes++;
			break;
		}
		if (i % ROUND == ROUND - 1)
			export_record_round(r);
	}
}

/* Write an AUXTRACE record. Its length is only known after the packets have been written. */
static int record_stream(struct export_record *r, struct export_lane *lane)
{
	const uint64_t reference = r->timing == EXPORT_RECORD_FOLDED ? 1 : EXPORT_REFERENCE;
	off_t begin = ftello(r->out), end;
	uint64_t bytes;
	int err;

	export_record_auxtrace(r, lane->vcpu, 0, reference);
	err = export_stream(lane, r->timing != EXPORT_RECORD_FOLDED, r->out, &bytes);
	if (err)
		return err;
	end = ftello(r->out);
	if (fseeko(r->out, begin, SEEK_SET))
		return -errno;
	r->naux--;
	export_record_auxtrace(r, lane->vcpu, bytes, reference);
	return fseeko(r->out, end, SEEK_SET) ? -errno : 0;
}

/* Choose the conversion of packet ticks, and the zero of the time of changes. */
static void find_time(struct export *x, const struct export_record *r,
		      struct export_record_time *to)
{
	const struct export_time *time = &x->plan.time;

	*to = (struct export_record_time){0};
	if (r->timing != EXPORT_RECORD_FOLDED) {
		/* No record changes anything after the beginning. */
		export_conversion(time->hz, to);
		return;
	}
	x->zero = time->base;
	if (time->hz)
		x->zero = (uint64_t)((unsigned __int128)x->zero * 1000000000 / time->hz);
	to->shift = EXPORT_TSC_SHIFT;
	to->mult = 1;
	to->zero = x->zero;
}

static int write_records(struct export *x, struct export_record *r)
{
	struct export_record_time time;
	unsigned int i;
	int err = 0;

	find_time(x, r, &time);
	export_record_begin(r);
	export_record_auxtrace_info(r, &time);
	record_machine(x, r);
	for (i = 0; i < x->plan.nlanes && !err; i++) {
		if (x->plan.lanes[i].start != EXPORT_SCAN_NONE)
			err = record_stream(r, &x->plan.lanes[i]);
	}
	if (err)
		return err;
	record_events(x, r);
	return export_record_end(r);
}

/* Merge CTL of all sessions, because perf has one CTL for the whole file. */
static uint64_t config(const struct export *x)
{
	uint64_t any = 0, all = UINT64_MAX;
	unsigned int i;
	size_t k, n = 0;

	for (i = 0; i < x->plan.nlanes; i++) {
		for (k = 0; k < x->plan.lanes[i].nperiods; k++, n++) {
			any |= x->plan.lanes[i].periods[k].start->ctl;
			all &= x->plan.lanes[i].periods[k].start->ctl;
		}
	}
	/* Without sessions, assume the driver's default. */
	if (!n)
		return VPT_CTL_MASK(BRANCH_EN);
	/* If RETs of any session are compressed, all count as compressed. */
	return (any & ~VPT_CTL_MASK(DIS_RETC)) | (all & VPT_CTL_MASK(DIS_RETC));
}

static void name_cpu(uint32_t signature, char *text, size_t size)
{
	unsigned int family = signature >> 8 & 15, model = signature >> 4 & 15;

	if (family == 15)
		family += signature >> 20 & 0xff;
	if (family == 6 || family >= 15)
		model |= signature >> 12 & 0xf0;
	snprintf(text, size, "GenuineIntel,%u,%u,%u", family, model, signature & 15);
}

static int write_data(struct export *x)
{
	const struct trace_file_info *info = trace_reader_info(x->reader);
	struct export_record *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->out = create(x, "data");
	if (!r->out) {
		err = -errno;
		free(r);
		return err;
	}
	r->config = config(x);
	r->kernel = (r->config & VPT_CTL_MASK(OS)) != 0;
	r->timing = x->timing;
	r->ctc_n = info->caps.l15_ebx;
	r->ctc_d = info->caps.l15_eax;
	r->nonturbo = info->caps.max_nonturbo;
	r->vcpus = info->vcpus;
	name_cpu(info->caps.signature, r->cpuid, sizeof(r->cpuid));
	err = finish(r->out, write_records(x, r));
	free(r);
	return err;
}

static void count(struct export *x)
{
	struct export_report *report = x->report;
	bool timed = true;
	unsigned int i;

	report->folded = x->timing == EXPORT_RECORD_FOLDED;
	report->timeless = x->timing == EXPORT_RECORD_TIMELESS;
	for (i = 0; i < x->plan.nlanes; i++) {
		const struct export_lane *l = &x->plan.lanes[i];

		report->insns += l->insns;
		report->skipped += l->skipped;
		report->bits16 |= l->bits16;
		if (l->errors && !report->errors)
			memcpy(report->error, l->error, sizeof(report->error));
		report->errors += l->errors;
		report->blind |= l->blind && l->start != EXPORT_SCAN_NONE;
		timed &= l->timed;
	}
	report->unordered = !timed && x->plan.nlanes > 1;
}

/*
 * Open the directory. perf finds files by absolute names, which are limited by the size of a
 * record.
 */
static int open_dir(struct export *x)
{
	int err;

	report_path(x, "");
	err = trace_outdir_open(&x->dir, x->o->dir);
	if (!err && strlen(x->dir.path) > DIR_MAX) {
		trace_outdir_drop(&x->dir);
		err = -ENAMETOOLONG;
	}
	return err;
}

static int write_all(struct export *x)
{
	int err = open_dir(x);

	if (err)
		return err;
	err = write_kernel(x);
	if (!err)
		err = write_code(x);
	if (!err)
		err = write_data(x);
	if (err) {
		trace_outdir_drop(&x->dir);
		return err;
	}
	report_path(x, "");
	err = trace_outdir_commit(&x->dir);
	if (!err)
		x->report->path[0] = 0;
	return err;
}

int export_to_perf(struct trace_reader *reader, const struct export_options *options,
		   struct export_report *report)
{
	struct export x = {.reader = reader, .o = options, .report = report};
	size_t i;
	int err;

	memset(report, 0, sizeof(*report));
	err = debug_symbols_open(reader, &x.symbols);
	if (err)
		return err;
	if (debug_symbols_problem(x.symbols))
		snprintf(report->problem, sizeof(report->problem), "%s",
			 debug_symbols_problem(x.symbols));
	err = export_plan_open(&x.plan, reader, options->one_vcpu, options->vcpu);
	if (!err) {
		err = export_timing(&x.plan, options->how, &x.timing);
		count(&x);
		if (!err)
			err = write_all(&x);
		for (i = 0; x.codes && i < x.plan.pages.nprocesses * EXPORT_WIDTHS; i++)
			export_code_free(&x.codes[i]);
		export_plan_close(&x.plan);
	}
	debug_symbols_close(x.symbols);
	free(x.codes);
	trace_outdir_free(&x.dir);
	return err;
}
