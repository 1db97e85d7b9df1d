// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt restore: resumes a guest from a snapshot. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/run.h"
#include "cli/run_start.h"
#include "core/snapshot.h"
#include "core/vcpu.h"
#include "text/text.h"
#include "trace/writer.h"

/* A snapshot can claim any size of RAM, and a guest can write to all of it. */
#define DEFAULT_MAX_MEM (1ull << 30)

struct restore {
	struct cli_run_machine m; /* must be the first member: see reopen() */
	struct cli_run_restart start;
	struct core_snapshot *s;
	const char *path;
	uint64_t max_mem;
	bool begins; /* --pt=host: a host's trace begins here */
	bool oracle; /* --oracle */
	struct engine_cpuid_entry cpuid[CORE_CPUID_ROOM];
	char guest[sizeof(((struct core_snap_info *)0)->guest) + 1]; /* file name of the guest,
	                                                              * for messages */
};

#define AT(member)    .field = offsetof(struct restore, m.o.member)
#define GIVEN(member) .given = offsetof(struct restore, m.o.member)

static const char *const owners[] = {"host", NULL};
static const char *const engines[] = {"soft", "kvm", NULL};

static const struct cli_option rows[] = {
	{'o', "output", "=FILE", "the .vpt file; it includes the trace before the snapshot",
	 cli_take_text, AT(output)},
	{'p', "pt", "=host", "begin a host's trace here, if nothing was traced before",
	 cli_take_owner, AT(owner), .given = offsetof(struct restore, begins), .words = owners},
	{0, "oracle", NULL, "with --pt=host, also record every retired instruction", cli_take_flag,
	 .field = offsetof(struct restore, oracle)},
	{0, "engine", "=NAME",
	 "soft (default) or kvm, which resumes a snapshot of kvm or of vpt run --common-cpuid",
	 cli_take_name, AT(engine), .words = engines},
	{0, "max-mem", "=SIZE", "refuse a guest with more memory (default 1G)", cli_take_size,
	 .field = offsetof(struct restore, max_mem)},
	CLI_RUN_COMMON_ROWS(AT, GIVEN),
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_restore = {
	.name = "restore",
	.run = cli_cmd_restore,
	.summary = "resume a guest and its trace from a snapshot",
	.usage = "[OPTION]... FILE",
	.about = "Resumes a guest and its trace from a snapshot that vpt run wrote. The trace and "
		 "the file become the same, byte for byte, as those of an uninterrupted run. The "
		 "software CPU also resumes a snapshot of KVM, and can begin a trace there.",
	.notes = "Without -o nothing is recorded any more. N counts from the start of the guest. "
		 "The exit status is that of vpt run. It is 3 if FILE is not a snapshot, or is "
		 "from a machine that differs from this one.\n\n"
		 "  vpt run --engine=soft --snapshot=demo.vps --snapshot-at=100000 -o part.vpt "
		 "demo.elf\n"
		 "  vpt restore -o whole.vpt demo.vps",
	.options = rows,
	.column = 23,
	.operands = {{"FILE", .field = offsetof(struct restore, path)}},
};

static int refuse(const struct restore *r, int error, const char *why)
{
	int status = error == -EINVAL || error == -ENOENT || error == -EISDIR || error == -EACCES
			     ? CLI_EXIT_INPUT
			     : CLI_EXIT_HOST;

	return cli_fail(status, "restore: %s: %s", r->path, why);
}

/* Set the options of the original vpt run from the snapshot. */
static void take_info(struct restore *r)
{
	const struct core_snap_info *info = core_snapshot_info(r->s);
	struct cli_run_options *o = &r->m.o;

	r->m.info = info->file;
	text_copy(r->guest, sizeof(r->guest), info->guest, sizeof(info->guest));
	o->guest = r->guest;
	o->model = info->file.model;
	o->caps = info->caps;
	o->system = info->file.flags & TRACE_INFO_ATOM ? TRACER_SYSTEM_ATOM : TRACER_SYSTEM_PT;
	o->owner = (enum trace_owner)info->file.owner;
	o->mem = info->mem_bytes;
	o->oracle = info->file.oracle;
	o->seed = info->file.seed;
	o->virtio_console = info->devices & CORE_SNAP_CONSOLE;
	o->virtio_rng = info->devices & CORE_SNAP_RANDOM;
	o->pci = info->devices & CORE_SNAP_PCI;
}

static int reopen(struct cli_run_machine *m)
{
	return cli_run_restart_open(&((struct restore *)m)->start);
}

static int restart(struct cli_run_machine *m)
{
	const struct cli_run_restart *r = &((struct restore *)m)->start;

	return cli_run_load_again(m, &r->guest, &r->o);
}

/* Keep what a reset needs, if a reset restarts the guest. */
static int keep_power_on(struct restore *r)
{
	struct cli_run_start *start = &r->m.start;
	size_t len;
	const void *bytes = core_snapshot_start(r->s, &len);
	int status, err;

	if (!bytes)
		return CLI_EXIT_OK;
	status = cli_run_restart_read(&r->start, bytes, len, &r->m.o, r->path);
	if (status)
		return status;
	if (r->begins)
		r->start.o.owner = TRACE_OWNER_HOST;
	start->bytes = malloc(len);
	err = start->bytes ? core_reboot_keep(&r->m.reboot, &r->m.vm) : -ENOMEM;
	if (err && err != -ENOTSUP)
		return cli_fail(CLI_EXIT_HOST, "restore: no memory");
	memcpy(start->bytes, bytes, len);
	start->len = len;
	r->m.reopen = reopen;
	r->m.restart = restart;
	return CLI_EXIT_OK;
}

/* Refuse what the engine or the snapshot cannot do. */
static int check(const struct restore *r, const struct engine *engine)
{
	const struct core_snap_info *info = core_snapshot_info(r->s);
	const struct engine *maker = engine_find(info->file.engine);

	if (r->m.o.mem > r->max_mem)
		return cli_fail(CLI_EXIT_INPUT,
				"restore: %s: its guest has %" PRIu64 "M of memory, more than "
				"--max-mem=%" PRIu64 "M: raise that if you trust the file",
				r->path, r->m.o.mem >> 20, r->max_mem >> 20);
	if (!maker || !core_snapshot_has(maker))
		return refuse(r, -EINVAL, "no engine of this vpt has made it");
	if (info->file.vcpus > 1 && !(engine->can & ENGINE_BUS) &&
	    (r->begins || info->file.owner != TRACE_OWNER_NONE))
		return cli_fail(CLI_EXIT_USAGE,
				"restore: %s: engine %s traces one vCPU, not %u: use "
				"--engine=soft",
				r->path, engine->name, info->file.vcpus);
	if (r->begins && (info->file.owner != TRACE_OWNER_NONE || info->file_bytes))
		return cli_fail(CLI_EXIT_USAGE,
				"restore: --pt=host: %s is not a snapshot of vpt run --pt=off",
				r->path);
	return CLI_EXIT_OK;
}

static int refuse_cpuid(const struct restore *r, const struct engine *engine,
			const struct core_cpuid_gap *gap)
{
	const char *remedy = engine->can & ENGINE_BUS ? "resume it on the machine that made it"
						      : "use --engine=soft, or make it with "
							"vpt run --common-cpuid";

	if (!gap->reg)
		return cli_fail(CLI_EXIT_INPUT,
				"restore: %s: engine %s cannot have its CPUID leaf %#x, %u: %s",
				r->path, engine->name, gap->leaf, gap->subleaf, remedy);
	return cli_fail(CLI_EXIT_INPUT,
			"restore: %s: engine %s cannot have its CPUID leaf %#x, %u: %s is %#x, not "
			"%#x: %s",
			r->path, engine->name, gap->leaf, gap->subleaf, gap->reg, gap->is,
			gap->wanted, remedy);
}

/*
 * On a KVM that shows its own CPUID, the core executes the guest's CPUID instructions. The places of
 * these instructions are not known, so all code is stepped.
 */
static void watch_cpuid(const struct restore *r, const struct engine_probe *probe)
{
	if (r->m.o.owner != TRACE_OWNER_GUEST || probe->cpuid_pt)
		return;
	(void)core_vcpu_watch(r->m.vm.vcpu, NULL, CORE_MAX_WATCHES + 1);
	if (!r->m.o.quiet)
		fprintf(stderr, "vpt restore: this KVM shows its own CPUID: all code of the guest "
				"is stepped\n");
}

static int create(struct restore *r)
{
	const struct engine *engine = engine_find(r->m.o.engine);
	struct engine_probe probe;
	struct core_cpuid_gap gap = {0};
	struct core_vm_config config = {
		.engine = engine,
		.probe = &probe,
		.caps = &r->m.o.caps,
		.system = r->m.o.system,
		.owner = r->begins ? TRACE_OWNER_HOST : r->m.o.owner,
		.mem_bytes = r->m.o.mem,
		.cpus = r->m.info.vcpus,
		.hooks = cli_run_hooks(&r->m),
		.saved = r->cpuid,
		.saved_count = CORE_CPUID_ROOM,
		.gap = &gap,
	};
	int error = check(r, engine);

	if (error)
		return error;
	if (!core_snapshot_cpuid(r->s, r->cpuid, &config.saved_count))
		return refuse(r, -EINVAL, "not a table of CPUID");
	engine->probe(&probe, false);
	if (probe.problem)
		return cli_fail(CLI_EXIT_HOST, "restore: %s, or use --engine=soft", probe.problem);
	error = core_vm_create(&r->m.vm, &config);
	if (error && gap.found)
		return refuse_cpuid(r, engine, &gap);
	if (error)
		return cli_fail(CLI_EXIT_HOST, "restore: cannot make a virtual machine: %s",
				cli_reason(-error));
	return CLI_EXIT_OK;
}

static int load(struct restore *r)
{
	char why[160];
	int error = cli_run_check_input(&r->m);

	if (!error)
		error = cli_run_add_devices(&r->m);
	if (!error)
		error = keep_power_on(r);
	if (error)
		return error;
	error = core_snapshot_load(r->s, &r->m.vm, why, sizeof(why));
	if (error)
		return refuse(r, error, why);
	watch_cpuid(r, &r->m.vm.probe);
	return cli_run_disks_load(&r->m, r->s, r->path);
}

/* Begin a host's trace with the next instruction. */
static int begin(struct restore *r, int fd)
{
	struct cli_run_machine *m = &r->m;
	struct trace_file_info *info = &m->info;
	unsigned int i;
	int err, status = CLI_EXIT_OK;

	m->o.owner = info->owner = TRACE_OWNER_HOST;
	info->oracle = r->oracle;
	m->o.oracle = r->oracle;
	info->caps = cli_run_host_caps(&m->o);
	err = trace_writer_start(fd, info, &m->writer);
	if (!err)
		err = cli_run_write_origin(m, m->writer);
	for (i = 0; !err && i < m->vm.cpus; i++)
		err = core_vcpu_record(m->vm.cpu[i], m->writer,
				       r->oracle ? TRACER_CONFIG_ORACLE : 0, &info->caps);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "restore: %s: %s", m->o.output, cli_reason(-err));
	for (i = 0; !status && i < m->vm.cpus; i++)
		status = cli_run_set_model(&m->o, m->vm.cpu[i]);
	for (i = 0; !status && i < m->vm.cpus; i++)
		status = cli_run_start_host(&m->o, m->vm.cpu[i]);
	return status;
}

/* Resume the trace of the snapshot. */
static int resume_trace(struct restore *r, int fd)
{
	char why[160];
	const int error = core_snapshot_trace(r->s, &r->m.vm, fd, &r->m.writer, why, sizeof(why));

	if (error == -EINVAL)
		return refuse(r, error, why);
	if (error)
		return cli_fail(CLI_EXIT_HOST, "restore: %s: %s",
				r->m.o.output ? r->m.o.output : r->path, why);
	return CLI_EXIT_OK;
}

static int resume(struct restore *r)
{
	struct cli_run_machine *m = &r->m;
	int fd = -1, status;

	/* A file that continues keeps the engine of its start. */
	if (!m->o.output || r->begins)
		snprintf(m->info.engine, sizeof(m->info.engine), "%s", m->vm.engine->name);
	if (m->o.output) {
		status = cli_output("restore", m->o.output, TRACE_OUTFILE_TRACE, &m->output);
		if (status)
			return status;
		cli_run_keep_pipe(m);
		fd = m->output.fd;
	}
	status = r->begins ? begin(r, fd) : resume_trace(r, fd);
	if (!status)
		status = cli_run_limit(m);
	if (!status)
		status = cli_run_check_snapshots(m);
	if (!status)
		status = cli_run_open_console(m);
	if (!status)
		cli_run_loop(m);
	return status;
}

/* Enter the sandbox. Call this before reading the snapshot, which is not trusted. */
static int confine(const struct cli_run_options *o)
{
	return cli_confine(o->verb,
			   &(struct sandbox_want){
				   .output = {o->output, o->snapshot, cli_run_console_file(o)},
				   .kvm = !strcmp(o->engine, "kvm"),
				   .code = true,
			   });
}

static int check_options(const struct restore *r)
{
	if (r->oracle && !r->begins)
		return cli_fail(CLI_EXIT_USAGE,
				"restore: --oracle: requires --pt=host: a trace that continues has "
				"its own");
	if (r->begins && !r->m.o.output)
		return cli_fail(CLI_EXIT_USAGE, "restore: --pt=host: requires -o FILE");
	return CLI_EXIT_OK;
}

int cli_cmd_restore(int argc, char **argv)
{
	struct restore r = {
		.m.o = {.verb = "restore", .engine = "soft", .max_bytes = CLI_RUN_MAX_BYTES},
		.m.input.fd = -1,
		.max_mem = DEFAULT_MAX_MEM,
	};
	int status = cli_options_parse(&cli_verb_restore, argc, argv, &r), error;
	char why[160];

	if (status)
		return status;
	status = check_options(&r);
	if (!status)
		status = cli_run_check_files(&r.m.o, "FILE", r.path);
	if (status)
		return status;
	/* A terminal cannot be made raw in the sandbox. */
	status = cli_run_input_open(&r.m.input, &r.m.o);
	if (!status)
		status = confine(&r.m.o);
	if (status) {
		cli_run_input_close(&r.m.input);
		return status;
	}
	error = core_snapshot_open(r.path, &r.s, why, sizeof(why));
	if (error) {
		cli_run_input_close(&r.m.input);
		return refuse(&r, error, why);
	}
	take_info(&r);
	status = cli_run_disks_take(&r.m.o, r.s, r.path);
	if (!status)
		status = create(&r);
	if (!status)
		status = load(&r);
	if (!status)
		status = resume(&r);
	status = cli_run_finish(&r.m, status);
	cli_run_disks_close(&r.m);
	cli_run_restart_close(&r.start);
	core_snapshot_close(r.s);
	return status;
}
