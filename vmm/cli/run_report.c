// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: shows progress and the end of the run. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "core/hv.h"
#include "core/irq.h"
#include "pt/spaces.h"
#include "trace/post_mortem.h"

#define SECOND	   1000000000ull
#define SHOW_AFTER (2 * SECOND)
#define SHOW_EVERY (SECOND / 2)

/* Warn of the cost of --oracle in advance. */
static void show_oracle(const struct cli_run_report *r)
{
	const struct cli_run_options *o = r->options;

	fprintf(stderr,
		"vpt %s: --oracle: %zu bytes of file for each instruction while tracing is "
		"enabled; the limit, --max-bytes, is %" PRIu64 "M\n",
		o->verb, sizeof(struct trace_oracle_record), o->max_bytes >> 20);
}

void cli_run_report_begin(struct cli_run_report *r, const struct cli_run_options *o,
			  const struct core_vm *vm, const struct trace_outfile *output)
{
	*r = (struct cli_run_report){.options = o, .vm = vm, .output = output, .began = core_now()};
	r->terminal = isatty(STDERR_FILENO) && !o->quiet && !o->json;
	if (o->oracle && !o->oracle_blocks && o->output && !o->quiet && !o->json)
		show_oracle(r);
}

static void wipe(struct cli_run_report *r)
{
	if (r->drawn)
		fputs("\r\033[K", stderr);
	r->drawn = false;
}

static uint64_t traced_insns(const struct core_vm *vm)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		sum += vm->cpu[i]->tracer.recorder.insns;
	return sum;
}

static uint64_t trace_bytes(const struct core_vm *vm)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		sum += vm->cpu[i]->tracer.recorder.bytes;
	return sum;
}

/* Hardware does not count traced instructions. */
static void show_insns(const struct cli_run_report *r)
{
	if (!r->vm->engine->pt)
		fprintf(stderr, "%" PRIu64 " instructions, ", traced_insns(r->vm));
}

void cli_run_report_tick(struct cli_run_report *r)
{
	uint64_t now = core_now();

	fflush(stdout);
	if (!r->terminal || now - r->began < SHOW_AFTER || now - r->shown < SHOW_EVERY)
		return;
	r->shown = now;
	fprintf(stderr, "\r\033[K%llu s, ", (unsigned long long)(now - r->began) / SECOND);
	show_insns(r);
	fprintf(stderr, "%" PRIu64 " bytes of trace", trace_bytes(r->vm));
	fflush(stderr);
	r->drawn = true;
}

/* Return the name of a VM exit; the SDM numbers them. */
static const char *exit_name(unsigned int reason)
{
	static const char *const names[TRACER_EXIT_REASONS] = {
		[TRACER_EXIT_REASON_NMI] = "nmi",
		[TRACER_EXIT_REASON_INTERRUPT] = "interrupt",
		[TRACER_EXIT_REASON_TRIPLE_FAULT] = "triple_fault",
		[TRACER_EXIT_REASON_INTERRUPT_WINDOW] = "interrupt_window",
		[TRACER_EXIT_REASON_NMI_WINDOW] = "nmi_window",
		[TRACER_EXIT_REASON_CPUID] = "cpuid",
		[TRACER_EXIT_REASON_HLT] = "hlt",
		[TRACER_EXIT_REASON_INVD] = "invd",
		[TRACER_EXIT_REASON_CR] = "cr",
		[TRACER_EXIT_REASON_IO] = "io",
		[TRACER_EXIT_REASON_RDMSR] = "rdmsr",
		[TRACER_EXIT_REASON_WRMSR] = "wrmsr",
		[TRACER_EXIT_REASON_EPT] = "ept",
		[TRACER_EXIT_REASON_TIMER] = "timer",
		[TRACER_EXIT_REASON_XSETBV] = "xsetbv",
	};

	return names[reason] ? names[reason] : "other";
}

static void json_exits(const struct tracer_hv *hv)
{
	unsigned int reason, n = 0;

	printf(",\"exits\":{");
	for (reason = 0; reason < TRACER_EXIT_REASONS; reason++)
		if (hv->exits[reason])
			printf("%s\"%s\":%" PRIu64, n++ ? "," : "", exit_name(reason),
			       hv->exits[reason]);
	printf("},\"exit_digest\":\"%08x\"", hv->digest);
}

static uint64_t count_exits(const struct tracer_hv *hv)
{
	uint64_t count = 0;
	unsigned int reason;

	for (reason = 0; reason < TRACER_EXIT_REASONS; reason++)
		count += hv->exits[reason];
	return count;
}

/* Explain a trace without a byte; the reason is one that the user can fix. */
static void show_empty(const struct cli_run_report *r)
{
	const struct cli_run_options *o = r->options;

	const uint64_t bytes = trace_bytes(r->vm);

	/* A host's trace has packets even if no instruction is traced. */
	if (o->usage.given || (bytes && (r->vm->engine->pt || traced_insns(r->vm))))
		return;
	if (bytes && r->vm->owner == TRACE_OWNER_GUEST)
		return;
	if (r->vm->owner == TRACE_OWNER_GUEST)
		fprintf(stderr,
			"vpt %s: nothing was traced: the guest never enabled %s; --pt=host traces "
			"it "
			"without its help\n",
			o->verb, r->vm->system == TRACER_SYSTEM_ATOM ? "RTIT" : "PT");
	else
		fprintf(stderr,
			"vpt %s: nothing was traced: --filter, --user, --kernel and --cr3 select "
			"no executed instruction\n",
			o->verb);
}

/* The local APICs of a run under KVM, and how often KVM returned to vpt. */
static void json_host(const struct core_vm *vm)
{
	uint64_t exits = 0;
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		exits += vm->cpu[i]->exits;
	printf(",\"apic\":\"%s\",\"kvm_exits\":%" PRIu64, vm->apic.host ? "kvm" : "vpt", exits);
}

static void summary(const struct cli_run_report *r)
{
	const struct core_stop *stop = &r->vm->stop;
	const struct core_vcpu *v = r->vm->vcpu;
	double seconds = (double)(core_now() - r->began) / 1e9;

	if (r->options->json) {
		printf("{\"end\":\"%s\",\"status\":%u,\"instructions\":%" PRIu64
		       ",\"trace_bytes\":%" PRIu64 ",\"steps\":%" PRIu64 ",\"retired\":%" PRIu64
		       ",\"seconds\":%.3f",
		       trace_stop_text(stop->kind), stop->exit_status, traced_insns(r->vm),
		       trace_bytes(r->vm), v->steps, core_vm_retired(r->vm), seconds);
		if (r->vm->engine->apic)
			json_host(r->vm);
		else
			printf(",\"interpreted\":%" PRIu64, core_vm_interpreted(r->vm));
		if (r->file_bytes)
			printf(",\"file_bytes\":%" PRIu64, r->file_bytes);
		if (r->vm->change.traced)
			printf(",\"engine_changes\":%" PRIu64, r->vm->change.count);
		if (v->hv)
			json_exits(&v->hv->hv);
		if (r->verify)
			cli_run_verify_json(r->verify);
		fputs(",\"stop\":", stdout);
		cli_post_mortem_json(stdout, &r->pm, &r->names);
		puts("}");
		fflush(stdout);
	} else if (!r->options->quiet && r->vm->owner != TRACE_OWNER_NONE) {
		fflush(stdout);
		fprintf(stderr, "vpt %s: ", r->options->verb);
		show_insns(r);
		fprintf(stderr, "%" PRIu64 " bytes of trace, ", trace_bytes(r->vm));
		if (r->options->oracle && r->file_bytes)
			fprintf(stderr, "%" PRIu64 " bytes of file with the oracle, ",
				r->file_bytes);
		if (v->hv)
			fprintf(stderr, "%" PRIu64 " VM exits, ", count_exits(&v->hv->hv));
		if (r->vm->change.traced)
			fprintf(stderr, "%" PRIu64 " changes of engine, ", r->vm->change.count);
		fprintf(stderr, "%.2f s\n", seconds);
		show_empty(r);
	}
}

/* Ends of a guest that share a format: the name, and the text before and after the stop's text. */
static const struct end {
	enum cli_exit_status status;
	const char *before, *after;
	bool where; /* the address in the guest follows */
} ends[] = {
	[TRACE_STOP_TRIPLE_FAULT] = {CLI_EXIT_FAIL, "triple fault ", "", true},
	[TRACE_STOP_HALTED] = {CLI_EXIT_FAIL, "halted for ever ", "", true},
	[TRACE_STOP_INTERRUPTED] = {CLI_EXIT_FAIL, "interrupted ", "", true},
	[TRACE_STOP_VMX] = {CLI_EXIT_FAIL, "VM entry: ", "", false},
	[TRACE_STOP_UNABLE] = {CLI_EXIT_HOST, "this KVM cannot execute ", "", false},
	[TRACE_STOP_UNTRACEABLE] = {CLI_EXIT_HOST, "cannot trace ", ": see vpt caps", false},
	[TRACE_STOP_UNEXPLAINED] = {CLI_EXIT_HOST, "",
				    ": this KVM's single steps cannot be relied on", false},
};

static int show_other_end(const struct cli_run_report *r, const char *where)
{
	static const struct end unknown = {CLI_EXIT_HOST, "KVM: ", "", false};
	const struct core_stop *stop = &r->vm->stop;
	const struct end *end = &unknown;

	if ((size_t)stop->kind < sizeof(ends) / sizeof(ends[0]) && ends[stop->kind].before)
		end = &ends[stop->kind];
	return cli_fail(end->status, "%s: %s: %s%s%s%s", r->options->verb, r->options->guest,
			end->before, stop->text, end->after, end->where ? where : "");
}

/* Report an output that could not be written, a trace or a snapshot. */
static int show_write_error(const struct cli_run_report *r, const char *option, const char *path,
			    const char *why)
{
	const char *part = r->output->part;

	return cli_fail(CLI_EXIT_HOST, "%s: %s%s: %s%s%s", r->options->verb, option, path, why,
			part ? ": the recorded part is in " : "", part ? part : "");
}

/* Return the name of the trace file for messages. */
static const char *place(const struct cli_run_options *o)
{
	return o->verify ? "--verify" : o->output;
}

/* Print the one line that says how the guest ended, unless it ended well. Returns the status. */
static int show_end(const struct cli_run_report *r)
{
	const struct cli_run_options *o = r->options;
	const struct core_stop *stop = &r->vm->stop;
	char where[512];

	cli_post_mortem_where(&r->pm, &r->names, where, sizeof(where));
	if (o->replay && stop->kind == TRACE_STOP_HOST && stop->error == -EINVAL)
		return cli_fail(CLI_EXIT_INPUT, "%s: %s: %s", o->verb, o->guest, stop->text);
	switch (stop->kind) {
	case TRACE_STOP_EXIT:
		if (!stop->exit_status)
			return CLI_EXIT_OK;
		return cli_fail(CLI_EXIT_FAIL, "%s: %s: the guest ended with status %u", o->verb,
				o->guest, stop->exit_status);
	case TRACE_STOP_MAX_INSNS:
		return cli_fail(CLI_EXIT_FAIL, "%s: %s: --max-insns=%" PRIu64 " reached %s%s",
				o->verb, o->guest, o->max_insns, stop->text, where);
	case TRACE_STOP_TIMEOUT:
		return cli_fail(CLI_EXIT_FAIL, "%s: %s: --timeout=%s reached %s%s", o->verb,
				o->guest, o->timeout.text ? o->timeout.text : "of the recording",
				stop->text, where);
	case TRACE_STOP_SNAPSHOT:
		if (!stop->error)
			return CLI_EXIT_OK;
		return show_write_error(r, "--snapshot=", o->snapshot,
					stop->error == -EFBIG ? cli_reason(EFBIG) : stop->text);
	case TRACE_STOP_WRITER:
		/* cli_run_verify_report() reports a verifying process that has ended. */
		if (o->verify && stop->error == -ECHILD)
			return CLI_EXIT_HOST;
		return show_write_error(r, "", place(o), cli_reason(-stop->error));
	case TRACE_STOP_LIMIT:
		if (r->vm->vcpu->tracer.recorder.state & TRACER_RECORDER_CROWDED)
			return cli_fail(CLI_EXIT_FAIL,
					"%s: %s: the guest has more than %u address spaces: the "
					"trace ends %s",
					o->verb, place(o), TRACER_SPACES_MOST, stop->text);
		return cli_fail(CLI_EXIT_FAIL,
				"%s: %s: --max-bytes=%" PRIu64 " reached: the trace ends %s; a "
				"larger limit records more",
				o->verb, place(o), o->max_bytes, stop->text);
	default:
		return show_other_end(r, where);
	}
}

int cli_run_report_end(struct cli_run_report *r)
{
	const struct cli_run_options *o = r->options;
	int status;

	wipe(r);
	summary(r);
	status = show_end(r);
	if (!o->quiet && !o->json)
		cli_post_mortem_print(stderr, "  ", &r->pm, &r->names);
	return status;
}
