// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt fuzz-server: runs one input from the start, and decodes its trace into a map of edges. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/fuzz.h"
#include "core/run.h"

static void take_bytes(void *opaque, const void *bytes, size_t len)
{
	struct cli_fuzz *f = opaque;
	const int error = decode_edges_bytes(f->edges, bytes, len);

	if (error && !f->error)
		f->error = error;
}

static void take_page(void *opaque, const struct trace_code_page *page, const uint8_t *now)
{
	struct cli_fuzz *f = opaque;
	const int error =
		decode_edges_page(f->edges, page->insns, page->cr3, page->vaddr, page->gpa, now);

	if (error && !f->error)
		f->error = error;
}

static int out_of_memory(void)
{
	return cli_fail(CLI_EXIT_HOST, "fuzz-server: no memory");
}

/* Pass traces to the decoder, which has no code yet. Returns 0 or -ENOMEM. */
static int listen(struct cli_fuzz *f)
{
	struct core_vcpu *v = f->m.vm.vcpu;
	const int error = tracer_recorder_listen(&v->tracer.recorder, &f->live);

	v->engine->report_again(v->ev);
	return error;
}

/* Begin with a new decoder if the old one has too much code. */
static int renew(struct cli_fuzz *f)
{
	if (!decode_edges_is_full(f->edges))
		return 0;
	decode_edges_free(f->edges);
	f->edges = decode_edges_new(&f->registers);
	return f->edges ? listen(f) : -ENOMEM;
}

int cli_fuzz_keep(struct cli_fuzz *f)
{
	struct core_vcpu *v = f->m.vm.vcpu;
	struct vpt_rtit rtit = {0};
	int status, error = core_rewind_keep(&f->m.vm, &f->rewind);

	if (error)
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: cannot keep the machine: %s",
				cli_reason(-error));
	status = cli_run_host_registers(&f->m.o, &v->tracer.caps, &rtit);
	if (status)
		return status;
	f->registers = (struct decode_edges_config){
		.ctl = rtit.ctl, .cr3_match = rtit.cr3_match, .cr3 = v->s.cr3};
	f->edges = decode_edges_new(&f->registers);
	f->live = (struct tracer_live){.bytes = take_bytes, .page = take_page, .opaque = f};
	return f->edges && !listen(f) ? CLI_EXIT_OK : out_of_memory();
}

static void broken(struct cli_fuzz_result *result, const char *what, int error)
{
	result->end = CLI_FUZZ_BROKEN;
	snprintf(result->text, sizeof(result->text), "%s: %s", what, cli_reason(-error));
}

/* The guest has stopped, and no place of the options was reached. */
static void guest_ended(struct cli_fuzz *f, struct cli_fuzz_result *result)
{
	const struct core_stop *stop = &f->m.vm.stop;

	if (f->end != CLI_FUZZ_BROKEN) {
		result->end = f->end;
		return;
	}
	snprintf(result->text, sizeof(result->text), "%s %s", trace_stop_text(stop->kind),
		 stop->text);
	switch (stop->kind) {
	case TRACE_STOP_EXIT:
		result->end = stop->exit_status ? CLI_FUZZ_CRASH : CLI_FUZZ_DONE;
		snprintf(result->text, sizeof(result->text), "the guest's status is %" PRIu32,
			 stop->exit_status);
		break;
	case TRACE_STOP_TRIPLE_FAULT:
	case TRACE_STOP_HALTED:
		result->end = CLI_FUZZ_CRASH;
		break;
	case TRACE_STOP_INTERRUPTED:
	case TRACE_STOP_TIMEOUT:
		result->end = CLI_FUZZ_KILLED;
		break;
	default:
		result->end = CLI_FUZZ_BROKEN;
		break;
	}
}

static void decode(struct cli_fuzz *f, uint8_t *map, struct cli_fuzz_result *result)
{
	int error = decode_edges_end(f->edges, map, &result->sum);

	if (!error)
		error = f->error;
	if (!error)
		error = f->m.vm.vcpu->tracer.recorder.error;
	if (error)
		broken(result, "the trace", error);
}

void cli_fuzz_run(struct cli_fuzz *f, const uint8_t *bytes, size_t len, uint8_t *map,
		  struct cli_fuzz_result *result)
{
	struct core_vm *vm = &f->m.vm;
	int error = renew(f);

	if (!error)
		error = core_rewind(f->rewind);

	*result = (struct cli_fuzz_result){.end = CLI_FUZZ_BROKEN};
	if (error) {
		broken(result, "cannot return to the start", error);
		return;
	}
	f->end = CLI_FUZZ_BROKEN;
	result->used = cli_fuzz_put_input(f, bytes, len);
	if (cli_run_start_host(&f->m.o, vm->vcpu))
		return;
	f->began = vm->vcpu->ev->retired;
	vm->pause_at = UINT64_MAX;
	core_vm_pause(vm, f->began + f->o.limit);
	core_vm_run(vm);
	result->insns = vm->vcpu->ev->retired - f->began;
	result->ip = vm->vcpu->regs->rip;
	guest_ended(f, result);
	decode(f, map, result);
}
