// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt fuzz-server: makes the machine, and runs its guest to the start of the executions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/fuzz.h"
#include "core/run.h"

static bool has(const struct cli_fuzz_places *places, uint64_t ip)
{
	size_t i;

	for (i = 0; i < places->n; i++)
		if (places->at[i] == ip)
			return true;
	return false;
}

static void end(struct cli_fuzz *f, enum cli_fuzz_end how, const char *text)
{
	f->end = how;
	core_vm_stop(&f->m.vm, TRACE_STOP_INTERRUPTED, "%s", text);
}

static bool reached(void *opaque, uint64_t ip)
{
	struct cli_fuzz *f = opaque;

	if (!f->rewind) {
		f->at_start = ip == f->start;
		if (f->at_start)
			core_vm_stop(&f->m.vm, TRACE_STOP_INTERRUPTED, "%s", "");
		return f->at_start;
	}
	/* A place may be the start, to which a loop returns. */
	if (f->m.vm.vcpu->ev->retired == f->began)
		return false;
	if (has(&f->until, ip))
		end(f, CLI_FUZZ_DONE, "");
	else if (has(&f->crash, ip))
		end(f, CLI_FUZZ_CRASH, "");
	return f->m.vm.stop.kind;
}

/* The instructions of --limit are over. */
static uint64_t pause_machine(void *opaque)
{
	struct cli_fuzz *f = opaque;

	if (f->rewind)
		end(f, CLI_FUZZ_HANG, "");
	return UINT64_MAX;
}

static bool tick(void *opaque)
{
	struct cli_fuzz *f = opaque;

	if (!f->killed || !f->killed(f->opaque))
		return false;
	f->end = CLI_FUZZ_KILLED;
	return true;
}

static int create(struct cli_fuzz *f)
{
	const struct cli_run_options *o = &f->m.o;
	const struct core_vm_config config = {
		.engine = engine_find("soft"),
		.probe = &f->probe,
		.caps = &o->caps,
		.system = o->system,
		.owner = TRACE_OWNER_HOST,
		.mem_bytes = o->mem,
		.cpus = 1,
		.hooks = {.reached = reached, .pause = pause_machine, .tick = tick, .opaque = f},
	};
	int error;

	config.engine->probe(&f->probe, false);
	if (f->probe.problem)
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: %s", f->probe.problem);
	error = core_vm_create(&f->m.vm, &config);
	if (error)
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: cannot make a virtual machine: %s",
				cli_reason(-error));
	return cli_run_add_devices(&f->m);
}

int cli_fuzz_open(struct cli_fuzz *f)
{
	int status = cli_run_guest_open(&f->guest, &f->m.o);

	if (!status)
		status = create(f);
	if (!status)
		status = cli_run_guest_load(&f->guest, &f->m.o, &f->m.vm);
	if (!status)
		status = cli_fuzz_find_places(f);
	return status;
}

int cli_fuzz_reach_start(struct cli_fuzz *f)
{
	uint64_t ips[2 * CLI_FUZZ_PLACES];
	struct core_vm *vm = &f->m.vm;
	size_t n = 0;

	if (core_vcpu_watch(vm->vcpu, &f->start, 1))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: the engine cannot watch an address");
	core_vm_run(vm);
	if (!f->at_start)
		return cli_fail(CLI_EXIT_FAIL,
				"fuzz-server: --start=%s: the guest ended before it: %s %s",
				f->o.start, trace_stop_text(vm->stop.kind), vm->stop.text);
	vm->stop = (struct core_stop){.kind = TRACE_STOP_NONE};
	tracer_reopen(&vm->vcpu->tracer);
	memcpy(ips, f->until.at, f->until.n * sizeof(*ips));
	n = f->until.n;
	memcpy(ips + n, f->crash.at, f->crash.n * sizeof(*ips));
	if (core_vcpu_watch(vm->vcpu, ips, n + f->crash.n))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: the engine cannot watch addresses");
	if (f->o.process) {
		f->m.o.user = f->m.o.has_cr3 = true;
		f->m.o.cr3 = vm->vcpu->s.cr3 & ~(X86_PAGE_SIZE - 1);
	}
	return cli_fuzz_find_input(f);
}

void cli_fuzz_close(struct cli_fuzz *f)
{
	core_rewind_free(f->rewind);
	decode_edges_free(f->edges);
	cli_run_guest_close(&f->guest);
	core_vm_destroy(&f->m.vm);
}
