// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: runs a guest from its file to its exit status. */
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot/boot.h"
#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/open.h"
#include "cli/run_guest.h"
#include "cli/run_start.h"
#include "cli/run_tasks.h"
#include "core/clock.h"
#include "core/vcpu.h"
#include "p9/p9.h"
#include "trace/input.h"
#include "vpt/abi/boot.h"

struct run {
	struct cli_run_machine m; /* must be the first member: see write_head() */
	struct cli_run_guest guest;
	struct engine_probe probe, also_probe;
};

/* Returns true if the host's trace of a vCPU begins with the guest, or is on at a reset. */
static bool starts_trace(const struct cli_run_machine *m, const struct cli_run_options *o,
			 unsigned int vcpu)
{
	if (o->owner != TRACE_OWNER_HOST || o->trace_later || m->untraced >> vcpu & 1)
		return false;
	return m->window.state == CLI_RUN_WINDOW_NONE || m->window.state == CLI_RUN_WINDOW_DURING ||
	       m->window.state == CLI_RUN_WINDOW_ENDING;
}

/* A guest's own trace is off after a reset. */
int cli_run_load_again(struct cli_run_machine *m, const struct cli_run_guest *guest,
		       const struct cli_run_options *o)
{
	int status = cli_run_guest_load(guest, o, &m->vm);
	unsigned int i;

	for (i = 0; !status && i < m->vm.cpus; i++)
		if (starts_trace(m, o, i))
			status = cli_run_start_host(o, m->vm.cpu[i]);
	return status;
}

static int restart(struct cli_run_machine *m)
{
	const struct run *r = (const struct run *)m;

	return cli_run_load_again(m, &r->guest, &m->o);
}

/* Keep what a reset needs also after vpt restore. */
static int keep_start(struct run *r)
{
	int err = 0;

	if (r->m.o.snapshot)
		err = cli_run_start_describe(&r->m.start, &r->m.o, &r->guest);
	if (err == -E2BIG)
		return cli_fail(CLI_EXIT_USAGE, "run: --snapshot: the other options are too long");
	return err ? cli_fail(CLI_EXIT_HOST, "run: no memory") : CLI_EXIT_OK;
}

/* A reset restarts Linux. It ends a payload, because the end is the result of its test. */
static int keep_power_on(struct run *r)
{
	int err;

	if (r->guest.kind == CLI_RUN_PAYLOAD || r->m.o.no_reboot)
		return CLI_EXIT_OK;
	err = core_reboot_keep(&r->m.reboot, &r->m.vm);
	if (err && err != -ENOTSUP)
		return cli_fail(CLI_EXIT_HOST, "run: no memory");
	r->m.restart = restart;
	return keep_start(r);
}

/* Returns an exit status. */
static int check_cpus(const struct cli_run_options *o, const struct engine *engine,
		      const struct engine *traced)
{
	/* The engine of a trace lets the vCPUs take turns. */
	const bool turns = traced || engine->can & ENGINE_BUS;
	const char *other = NULL;

	if (o->cpus <= 1)
		return CLI_EXIT_OK;
	/* Threads run the vCPUs of a host's processor. One that is stepped would hold up the others. */
	if (!turns && !engine->pt && o->owner)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --cpus: engine %s has one: use --engine=soft, or --pt=off",
				o->engine);
	if (o->usage.given)
		other = "usage";
	else if (o->trace.changes)
		other = "cbr, with changes";
	if (other)
		return cli_fail(CLI_EXIT_USAGE, "run: --cpus: not with --%s", other);
	return CLI_EXIT_OK;
}

static int create(struct run *r)
{
	struct core_vm_config config = {
		.probe = &r->probe,
		.caps = &r->m.o.caps,
		.system = r->m.o.system,
		.owner = r->m.o.owner,
		.mem_bytes = r->m.o.mem,
		.cpus = (unsigned int)r->m.o.cpus,
		.hooks = cli_run_hooks(&r->m),
		.guest_caps = r->m.o.usage.given ? &r->m.o.usage.guest_caps : NULL,
		.vmx = r->m.o.usage.given,
	};
	int err = cli_run_engine(&r->m.o, &config.engine, &config.traced, &r->probe);

	if (err)
		return err;
	err = cli_run_take_hardware(&r->m.o, config.engine, &r->probe);
	if (err)
		return err;
	err = check_cpus(&r->m.o, config.engine, config.traced);
	if (!err)
		err = cli_run_also(&r->m.o, &config, &r->also_probe);
	if (!err)
		err = cli_run_apic(&r->m.o, &config);
	if (err)
		return err;
	config.counted = r->m.o.usage.given && !(config.engine->can & ENGINE_COUNTS);
	err = core_vm_create(&r->m.vm, &config);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "run: cannot make a virtual machine: %s",
				cli_reason(-err));
	err = cli_run_add_devices(&r->m);
	if (err)
		return err;
	err = keep_power_on(r);
	return err ? err : cli_run_guest_load(&r->guest, &r->m.o, &r->m.vm);
}

/* On a KVM that shows its own CPUID, stop at the guest's CPUID instructions. */
static int watch_cpuid(struct run *r)
{
	uint64_t ips[CORE_MAX_WATCHES];
	size_t count;

	if (r->m.o.owner != TRACE_OWNER_GUEST || r->probe.cpuid_pt || r->m.o.usage.given)
		return CLI_EXIT_OK;
	count = boot_find_cpuid(&r->m.vm.mem, &r->guest.elf, ips, CORE_MAX_WATCHES);
	if (core_vcpu_watch(r->m.vm.vcpu, ips, count))
		return cli_fail(CLI_EXIT_HOST, "run: cannot set breakpoints on CPUID");
	if (r->m.vm.vcpu->way & CORE_WAY_STEP_ALWAYS && !r->m.o.quiet)
		fprintf(stderr,
			"vpt run: this KVM shows its own CPUID, and the guest has %zu places that "
			"may ask it: all its code is stepped\n",
			count);
	return CLI_EXIT_OK;
}

/* Write what precedes the trace. Returns 0 or -errno. */
static int write_head(struct cli_run_machine *m, struct trace_writer *writer)
{
	const struct run *r = (const struct run *)m;
	const char *name = m->o.replay ? m->o.replay->guest_name : m->o.guest;
	const char *slash = strrchr(name, '/');
	struct trace_elf_image image = {.bias = 0};
	int err;

	snprintf(image.name, sizeof(image.name), "%s", slash ? slash + 1 : name);
	err = cli_run_write_origin(m, writer);
	if (!err && r->guest.kind == CLI_RUN_PAYLOAD)
		err = trace_writer_elf(writer, &image, r->guest.file.bytes, r->guest.file.size);
	if (!err && m->o.usage.given)
		err = cli_run_write_root(writer);
	return err;
}

static int write_start(struct run *r)
{
	int err = write_head(&r->m, r->m.writer);

	if (!err && cli_run_counts(&r->m.vm))
		err = cli_run_record(&r->m.o, &r->guest, r->m.writer);
	if (!err)
		err = cli_run_disks_record(&r->m, r->m.writer);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "run: %s: %s", r->m.o.output, cli_reason(-err));
	return cli_run_limit(&r->m);
}

static int open_output(struct run *r, const struct vpt_caps *caps)
{
	struct trace_file_info *info = &r->m.info;
	struct core_vcpu *v = r->m.vm.vcpu;
	int err, fd;

	*info = (struct trace_file_info){
		.caps = *caps,
		.owner = r->m.o.owner,
		.vcpus = r->m.vm.cpus,
		.tsc_multiplier = 1ull << 48,
		.seed = r->m.o.seed,
		.oracle = r->m.o.oracle,
	};
	snprintf(info->model, sizeof(info->model), "%s", r->m.o.model);
	snprintf(info->engine, sizeof(info->engine), "%s",
		 r->m.vm.change.traced ? CLI_RUN_PAIR : v->engine->name);
	info->tsc_hz = core_clock_tsc_hz(&r->m.o.caps);
	if (v->engine->pt)
		info->tsc_hz = v->engine->tsc_hz(v->ev, &info->tsc_offset);
	if (v->engine->pt)
		info->flags |= TRACE_INFO_CODE_BY_OFFSET;
	if (r->m.o.trace.model.defer_tips)
		info->flags |= TRACE_INFO_DEFERRED;
	if (r->m.o.system == TRACER_SYSTEM_ATOM)
		info->flags |= TRACE_INFO_ATOM | TRACE_INFO_SET_ERRATA(r->m.o.atom.model.errata);
	if (r->m.o.usage.given) {
		info->tsc_offset = r->m.o.usage.setup.config.tsc.offset;
		info->tsc_multiplier = r->m.o.usage.setup.config.tsc.multiplier;
	}
	r->m.verify.head = write_head;
	if (r->m.o.verify)
		return cli_run_verify_open(&r->m);
	if (!r->m.o.output)
		return CLI_EXIT_OK;
	err = cli_output("run", r->m.o.output, TRACE_OUTFILE_TRACE, &r->m.output);
	if (err)
		return err;
	cli_run_keep_pipe(&r->m);
	/* A ring has no inputs for a replay. */
	if (r->m.o.ring)
		return cli_run_ring_open(&r->m, &r->m.writer);
	fd = r->m.output.fd;
	err = r->m.o.drop ? cli_run_drop_open(&r->m, &fd) : CLI_EXIT_OK;
	if (err)
		return err;
	err = trace_writer_start(fd, info, &r->m.writer);
	if (fd != r->m.output.fd)
		close(fd);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "run: %s: %s", r->m.o.output, cli_reason(-err));
	return write_start(r);
}

/* Return the oracle's kind, as bits of enum tracer_config_flags. */
static uint32_t oracle_of(const struct cli_run_options *o)
{
	return (o->oracle ? TRACER_CONFIG_ORACLE : 0u) |
	       (o->oracle_blocks ? TRACER_CONFIG_BLOCKS : 0u) |
	       (o->verify ? TRACER_CONFIG_PARTS : 0u);
}

static int record(struct run *r, struct core_vcpu *v, const struct vpt_caps *caps)
{
	struct trace_writer *writer =
		r->m.o.verify ? r->m.verify.part[v->index].writer : r->m.writer;
	int status;

	if (core_vcpu_record(v, writer, oracle_of(&r->m.o), caps))
		return cli_fail(CLI_EXIT_HOST, "run: no memory");
	status = cli_run_set_model(&r->m.o, v);
	if (status)
		return status;
	if (r->m.o.usage.given)
		return cli_run_start_usage(&r->m.o, v);
	return starts_trace(&r->m, &r->m.o, v->index) ? cli_run_start_host(&r->m.o, v)
						      : CLI_EXIT_OK;
}

static int start_trace(struct run *r)
{
	struct vpt_caps caps = r->m.o.caps;
	struct core_vcpu *v = r->m.vm.vcpu;
	unsigned int i;
	int status;

	if (r->m.o.oracle_blocks && !(v->engine->can & ENGINE_REPORTS) && !r->m.vm.change.traced)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --%s: engine %s runs no blocks; use --engine=soft",
				r->m.o.verify ? "verify" : "oracle-blocks", v->engine->name);
	if (r->m.o.owner == TRACE_OWNER_HOST || r->m.o.usage.given)
		caps = cli_run_host_caps(&r->m.o);
	status = cli_run_window_begin(&r->m);
	if (!status)
		status = open_output(r, &caps);
	if (status)
		return status;
	for (i = 0; !status && i < r->m.vm.cpus; i++)
		status = record(r, r->m.vm.cpu[i], &caps);
	return status;
}

/*
 * Enter the sandbox. All files are open and mapped by now. Only snapshots and the trace file's
 * final name are still to be written.
 */
static int confine(const struct cli_run_machine *m)
{
	return cli_confine("run", &(struct sandbox_want){
					  .output = {m->o.output, m->o.snapshot},
					  .share = m->o.share.writable ? m->o.share.dir : NULL,
					  .socket = m->o.monitor,
					  .network = m->net,
					  .caps = m->vm.vcpu->engine->pt,
					  .code = m->gdb,
				  });
}

static int run(struct run *r)
{
	int status = watch_cpuid(r);

	if (!status)
		status = cli_run_check_snapshots(&r->m);
	if (!status)
		status = cli_run_check_input(&r->m);
	if (!status)
		status = start_trace(r);
	if (!status)
		status = cli_run_open_console(&r->m);
	if (!status)
		status = cli_run_input_open(&r->m.input, &r->m.o);
	if (!status)
		status = cli_run_share_open(&r->m.share, &r->m.o);
	if (!status)
		status = cli_run_net_open(&r->m);
	if (!status)
		status = cli_run_monitor_open(&r->m);
	if (!status)
		status = cli_run_gdb_open(&r->m);
	if (!status)
		status = cli_run_tasks_open(&r->m);
	/* vpt replay is in the sandbox already. */
	if (!status && !r->m.o.replay)
		status = confine(&r->m);
	if (status)
		return status;
	cli_run_loop(&r->m);
	return r->m.restarted;
}

static int finish(struct run *r, int status)
{
	status = cli_run_finish(&r->m, status);
	cli_run_guest_close(&r->guest);
	p9_destroy(r->m.share);
	net_destroy(r->m.net);
	cli_run_disks_close(&r->m);
	return status;
}

int cli_run_guest_of(const struct cli_run_options *o)
{
	struct run r = {.m.input.fd = -1, .m.o = *o};
	int status = cli_run_check_files(&r.m.o, "GUEST", r.m.o.guest);

	if (!status)
		status = cli_run_guest_open(&r.guest, &r.m.o);
	if (!status)
		status = cli_run_check_replay(&r.m.o, &r.guest);
	if (!status && r.guest.kind == CLI_RUN_PAYLOAD)
		r.m.elf = &r.guest.file;
	if (!status)
		status = cli_run_verify_start(&r.m);
	if (!status)
		status = create(&r);
	if (!status)
		status = run(&r);
	return finish(&r, status);
}

int cli_cmd_run(int argc, char **argv)
{
	struct cli_run_options o;
	int status = cli_run_parse(&o, argc, argv);

	return status ? status : cli_run_guest_of(&o);
}
