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

/* A snapshot can claim any size of RAM, and a guest can write to all of it. */
#define DEFAULT_MAX_MEM (1ull << 30)

struct restore {
	struct cli_run_machine m; /* must be the first member: see reopen() */
	struct cli_run_restart start;
	struct core_snapshot *s;
	const char *path;
	uint64_t max_mem;
	char guest[sizeof(((struct core_snap_info *)0)->guest) + 1]; /* file name of the guest,
	                                                              * for messages */
};

#define AT(member)    .field = offsetof(struct restore, m.o.member)
#define GIVEN(member) .given = offsetof(struct restore, m.o.member)

static const struct cli_option rows[] = {
	{'o', "output", "=FILE", "the .vpt file; it includes the trace before the snapshot",
	 cli_take_text, AT(output)},
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
		 "the file become the same, byte for byte, as those of an uninterrupted run.",
	.notes = "Without -o nothing is recorded any more. N counts from the start of the guest. "
		 "The exit status is that of vpt run. It is 3 if FILE is not a snapshot, or is "
		 "from a machine that differs from this one.\n\n"
		 "  vpt run --engine=soft --snapshot=demo.vps --snapshot-at=100000 -o part.vpt "
		 "demo.elf\n"
		 "  vpt restore -o whole.vpt demo.vps",
	.options = rows,
	.column = 23,
	.operands = {{"FILE", offsetof(struct restore, path)}},
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
	o->engine = info->file.engine;
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
	int status;

	if (!bytes)
		return CLI_EXIT_OK;
	status = cli_run_restart_read(&r->start, bytes, len, &r->m.o, r->path);
	if (status)
		return status;
	start->bytes = malloc(len);
	if (!start->bytes || core_reboot_keep(&r->m.reboot, &r->m.vm))
		return cli_fail(CLI_EXIT_HOST, "restore: no memory");
	memcpy(start->bytes, bytes, len);
	start->len = len;
	r->m.reopen = reopen;
	r->m.restart = restart;
	return CLI_EXIT_OK;
}

static int create(struct restore *r)
{
	const struct engine *engine = engine_find(r->m.o.engine);
	struct engine_probe probe;
	struct core_vm_config config = {
		.engine = engine,
		.probe = &probe,
		.caps = &r->m.o.caps,
		.system = r->m.o.system,
		.owner = r->m.o.owner,
		.mem_bytes = r->m.o.mem,
		.cpus = r->m.info.vcpus,
		.hooks = cli_run_hooks(&r->m),
	};
	char why[160];
	int error;

	if (r->m.o.mem > r->max_mem)
		return cli_fail(CLI_EXIT_INPUT,
				"restore: %s: its guest has %" PRIu64 "M of memory, more than "
				"--max-mem=%" PRIu64 "M: raise that if you trust the file",
				r->path, r->m.o.mem >> 20, r->max_mem >> 20);
	if (!engine || !engine->load)
		return refuse(r, -EINVAL, "no engine of this vpt has made it");
	engine->probe(&probe, false);
	error = core_vm_create(&r->m.vm, &config);
	if (error)
		return cli_fail(CLI_EXIT_HOST, "restore: cannot make a virtual machine: %s",
				cli_reason(-error));
	error = cli_run_add_devices(&r->m);
	if (!error)
		error = keep_power_on(r);
	if (error)
		return error;
	error = core_snapshot_load(r->s, &r->m.vm, why, sizeof(why));
	return error ? refuse(r, error, why) : cli_run_disks_load(&r->m, r->s, r->path);
}

static int resume(struct restore *r)
{
	struct cli_run_machine *m = &r->m;
	int fd = -1, status, error;
	char why[160];

	if (m->o.output) {
		status = cli_output("restore", m->o.output, TRACE_OUTFILE_TRACE, &m->output);
		if (status)
			return status;
		fd = m->output.fd;
	}
	error = core_snapshot_trace(r->s, &m->vm, fd, &m->writer, why, sizeof(why));
	if (error == -EINVAL)
		return refuse(r, error, why);
	if (error)
		return cli_fail(CLI_EXIT_HOST, "restore: %s: %s",
				m->o.output ? m->o.output : r->path, why);
	status = cli_run_limit(m);
	if (!status)
		status = cli_run_check_snapshots(m);
	if (!status)
		status = cli_run_check_input(m);
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
				   .code = true,
			   });
}

int cli_cmd_restore(int argc, char **argv)
{
	struct restore r = {
		.m.o = {.verb = "restore", .max_bytes = CLI_RUN_MAX_BYTES},
		.m.input.fd = -1,
		.max_mem = DEFAULT_MAX_MEM,
	};
	int status = cli_options_parse(&cli_verb_restore, argc, argv, &r), error;
	char why[160];

	if (status)
		return status;
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
		status = resume(&r);
	status = cli_run_finish(&r.m, status);
	cli_run_disks_close(&r.m);
	cli_run_restart_close(&r.start);
	core_snapshot_close(r.s);
	return status;
}
