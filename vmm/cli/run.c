// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: a guest, from its file to its exit status. */
#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "cli/cli.h"
#include "core/vcpu.h"
#include "trace/input.h"
#include "vpt/abi/boot.h"

struct run {
	struct vpt_run_options o;
	struct vpt_input guest, initrd;
	struct vpt_elf elf;
	struct vpt_probe probe;
	struct vpt_vm vm;
	struct vpt_writer *writer;
	struct vpt_run_report report;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void console(void *opaque, char c)
{
	(void)opaque;
	putchar(c);
}

static bool tick(void *opaque)
{
	struct run *r = opaque;

	vpt_run_report_tick(&r->report);
	return interrupted;
}

static int read_files(struct run *r)
{
	enum vpt_elf_error error;
	int err = vpt_input_open(&r->guest, r->o.guest);

	if (err)
		return vpt_fail(VPT_EXIT_INPUT, "run: %s: %s", r->o.guest, strerror(-err));
	if (r->o.initrd) {
		err = vpt_input_open(&r->initrd, r->o.initrd);
		if (err)
			return vpt_fail(VPT_EXIT_INPUT, "run: %s: %s", r->o.initrd, strerror(-err));
	}
	error = vpt_elf_parse(r->guest.bytes, r->guest.size, r->o.mem, &r->elf);
	if (error)
		return vpt_fail(VPT_EXIT_INPUT, "run: %s: %s", r->o.guest,
				vpt_elf_error_text(error));
	return vpt_run_resolve(&r->o, r->guest.bytes, r->guest.size);
}

static int create(struct run *r)
{
	const struct vpt_engine *engine = vpt_engine_find(r->o.engine);
	struct vpt_vm_config config = {
		.engine = engine,
		.probe = &r->probe,
		.caps = &r->o.caps,
		.owner = r->o.owner,
		.mem_bytes = r->o.mem,
		.hooks = {.console = console, .tick = tick, .opaque = r},
	};
	struct vpt_boot_config boot = {.seed = r->o.seed};
	int err;

	if (!engine)
		return vpt_fail(VPT_EXIT_USAGE, "run: --engine=%s: unknown; there is kvm",
				r->o.engine);
	engine->probe(&r->probe, false);
	if (r->probe.problem)
		return vpt_fail(VPT_EXIT_HOST, "run: %s", r->probe.problem);
	err = vpt_vm_create(&r->vm, &config);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "run: cannot make a virtual machine: %s",
				strerror(-err));
	vpt_elf_load(r->guest.bytes, &r->elf, &r->vm.mem);
	memcpy(boot.arg, r->o.arg, sizeof(boot.arg));
	boot.initrd = r->o.initrd ? r->initrd.bytes : NULL;
	boot.initrd_bytes = r->initrd.size;
	if (vpt_boot(&r->vm, &r->elf, &boot))
		return vpt_fail(VPT_EXIT_INPUT, "run: %s: no room for it: give more with --mem",
				r->o.initrd);
	return VPT_EXIT_OK;
}

/* A KVM that shows its own CPUID must stop at the guest's. */
static int watch_cpuid(struct run *r)
{
	uint64_t ips[VPT_MAX_WATCHES];
	size_t count;

	if (r->o.owner != VPT_OWNER_GUEST || r->probe.cpuid_pt)
		return VPT_EXIT_OK;
	count = vpt_boot_find_cpuid(&r->vm.mem, &r->elf, ips, VPT_MAX_WATCHES);
	if (count > VPT_MAX_WATCHES && !r->o.quiet)
		fprintf(stderr,
			"vpt run: this KVM shows its own CPUID, and the guest has %zu places that "
			"may ask it: all its code is stepped\n",
			count);
	if (vpt_vcpu_watch(r->vm.vcpu, ips, count))
		return vpt_fail(VPT_EXIT_HOST, "run: cannot set breakpoints on CPUID");
	return VPT_EXIT_OK;
}

static int write_start(struct run *r)
{
	const char *slash = strrchr(r->o.guest, '/');
	const struct vpt_ram_range ram = {.gpa = 0, .bytes = r->vm.mem.bytes};
	struct vpt_elf_image image = {.bias = 0};
	int err;

	snprintf(image.name, sizeof(image.name), "%s", slash ? slash + 1 : r->o.guest);
	err = vpt_writer_ram(r->writer, &ram, 1);
	if (!err)
		err = vpt_writer_elf(r->writer, &image, r->guest.bytes, r->guest.size);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "run: %s: %s", r->o.output, strerror(-err));
	return VPT_EXIT_OK;
}

static int open_output(struct run *r, const struct vpt_caps *caps)
{
	struct vpt_file_info info = {
		.caps = *caps,
		.owner = r->o.owner,
		.vcpus = 1,
		.tsc_multiplier = 1ull << 48,
		.seed = r->o.seed,
		.oracle = r->o.oracle,
	};
	struct vpt_vcpu *v = r->vm.vcpu;
	int err;

	if (!r->o.output)
		return VPT_EXIT_OK;
	snprintf(info.model, sizeof(info.model), "%s", r->o.model);
	snprintf(info.engine, sizeof(info.engine), "%s", v->engine->name);
	info.tsc_hz = v->engine->tsc_hz(v->ev, &info.tsc_offset);
	err = vpt_writer_open(r->o.output, &info, &r->writer);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "run: %s: %s", r->o.output, strerror(-err));
	return write_start(r);
}

static int start_trace(struct run *r)
{
	struct vpt_caps caps = r->o.caps;
	struct vpt_vcpu *v = r->vm.vcpu;
	int status;

	if (r->o.owner == VPT_OWNER_HOST)
		caps = vpt_run_host_caps(&r->o);
	status = open_output(r, &caps);
	if (status)
		return status;
	if (vpt_vcpu_record(v, r->writer, r->o.oracle, &caps))
		return vpt_fail(VPT_EXIT_HOST, "run: no memory");
	return r->o.owner == VPT_OWNER_HOST ? vpt_run_start_host(&r->o, v) : VPT_EXIT_OK;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int run(struct run *r)
{
	struct vpt_vcpu *v = r->vm.vcpu;
	int status = watch_cpuid(r);

	if (!status)
		status = start_trace(r);
	if (status)
		return status;
	catch_signals();
	vpt_run_report_begin(&r->report, &r->o, &r->vm);
	v->max_insns = r->o.max_insns;
	if (r->o.timeout)
		v->deadline = vpt_now() + r->o.timeout * 1000000000u;
	vpt_vcpu_loop(v);
	return VPT_EXIT_OK;
}

/* Closing can fail too: a disk that is full is found out late. */
static int finish(struct run *r, int status)
{
	bool ran = !status;
	int err = 0;

	if (r->writer)
		err = vpt_writer_close(r->writer, r->vm.stop.exit_status);
	if (ran && err && r->vm.stop.kind != VPT_STOP_WRITER) {
		r->vm.stop.kind = VPT_STOP_WRITER;
		r->vm.stop.error = err;
	}
	if (ran)
		status = vpt_run_report_end(&r->report);
	vpt_vm_destroy(&r->vm);
	vpt_input_close(&r->guest);
	vpt_input_close(&r->initrd);
	return status;
}

int vpt_cmd_run(int argc, char **argv)
{
	struct run r = {0};
	int status = vpt_run_parse(&r.o, argc, argv);

	if (status)
		return status;
	if (r.o.help) {
		vpt_run_help();
		return VPT_EXIT_OK;
	}
	status = read_files(&r);
	if (!status)
		status = create(&r);
	if (!status)
		status = run(&r);
	return finish(&r, status);
}
