// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: a guest, from its file to its exit status. */
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/open.h"
#include "core/clock.h"
#include "core/vcpu.h"
#include "trace/input.h"
#include "trace/origin.h"
#include "vpt/abi/boot.h"

struct run {
	struct vpt_run_machine m;
	struct vpt_input guest, initrd;
	struct vpt_elf elf;
	struct vpt_probe probe;
};

static int read_files(struct run *r)
{
	enum vpt_elf_error error;
	int err = vpt_input_open_magic(&r->guest, r->m.o.guest, VPT_ELF_MAGIC, VPT_ELF_MAGIC_LEN);

	if (err)
		return vpt_fail(vpt_cli_input_status(err), "run: %s: %s", r->m.o.guest,
				vpt_cli_reason(-err));
	if (r->m.o.initrd) {
		err = vpt_input_open(&r->initrd, r->m.o.initrd);
		if (err)
			return vpt_fail(vpt_cli_input_status(err), "run: %s: %s", r->m.o.initrd,
					vpt_cli_reason(-err));
	}
	error = vpt_elf_parse(r->guest.bytes, r->guest.size, r->m.o.mem, &r->elf);
	if (error)
		return vpt_fail(VPT_EXIT_INPUT, "run: %s: %s", r->m.o.guest,
				vpt_elf_error_text(error));
	return vpt_run_resolve(&r->m.o, r->guest.bytes, r->guest.size);
}

static int create(struct run *r)
{
	struct vpt_vm_config config = {
		.probe = &r->probe,
		.caps = &r->m.o.caps,
		.system = r->m.o.system,
		.owner = r->m.o.owner,
		.mem_bytes = r->m.o.mem,
		.hooks = vpt_run_hooks(&r->m),
		.guest_caps = r->m.o.usage.given ? &r->m.o.usage.guest_caps : NULL,
		.vmx = r->m.o.usage.given,
	};
	struct vpt_boot_config boot = {.seed = r->m.o.seed};
	int err = vpt_run_engine(&r->m.o, &config.engine, &r->probe);

	if (err)
		return err;
	err = vpt_run_take_hardware(&r->m.o, config.engine, &r->probe);
	if (err)
		return err;
	config.counted = r->m.o.usage.given && !(config.engine->can & VPT_ENGINE_COUNTS);
	err = vpt_vm_create(&r->m.vm, &config);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "run: cannot make a virtual machine: %s",
				vpt_cli_reason(-err));
	vpt_elf_load(r->guest.bytes, &r->elf, &r->m.vm.mem);
	memcpy(boot.arg, r->m.o.args.value, sizeof(boot.arg));
	boot.initrd = r->m.o.initrd ? r->initrd.bytes : NULL;
	boot.initrd_bytes = r->initrd.size;
	if (vpt_boot(&r->m.vm, &r->elf, &boot))
		return vpt_fail(VPT_EXIT_INPUT, "run: %s: no room for it: give more with --mem",
				r->m.o.initrd);
	return VPT_EXIT_OK;
}

/* A KVM that shows its own CPUID must stop at the guest's. */
static int watch_cpuid(struct run *r)
{
	uint64_t ips[VPT_MAX_WATCHES];
	size_t count;

	if (r->m.o.owner != VPT_OWNER_GUEST || r->probe.cpuid_pt || r->m.o.usage.given)
		return VPT_EXIT_OK;
	count = vpt_boot_find_cpuid(&r->m.vm.mem, &r->elf, ips, VPT_MAX_WATCHES);
	if (count > VPT_MAX_WATCHES && !r->m.o.quiet)
		fprintf(stderr,
			"vpt run: this KVM shows its own CPUID, and the guest has %zu places that "
			"may ask it: all its code is stepped\n",
			count);
	if (vpt_vcpu_watch(r->m.vm.vcpu, ips, count))
		return vpt_fail(VPT_EXIT_HOST, "run: cannot set breakpoints on CPUID");
	return VPT_EXIT_OK;
}

static int write_start(struct run *r)
{
	const char *slash = strrchr(r->m.o.guest, '/');
	const struct vpt_ram_range ram = {.gpa = 0, .bytes = r->m.vm.mem.bytes};
	const struct vpt_cpu cpu = vpt_cpu_of(r->m.info.caps.signature);
	const struct vpt_origin origin =
		vpt_origin_of(VPT_ORIGIN_RUN, r->m.vm.vcpu->engine->pt ? &cpu : NULL);
	struct vpt_elf_image image = {.bias = 0};
	int err;

	snprintf(image.name, sizeof(image.name), "%s", slash ? slash + 1 : r->m.o.guest);
	err = vpt_writer_origin(r->m.writer, &origin);
	if (!err)
		err = vpt_writer_ram(r->m.writer, &ram, 1);
	if (!err)
		err = vpt_writer_elf(r->m.writer, &image, r->guest.bytes, r->guest.size);
	if (!err && r->m.o.usage.given)
		err = vpt_run_write_root(r->m.writer);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "run: %s: %s", r->m.o.output, vpt_cli_reason(-err));
	return vpt_run_limit(&r->m);
}

static int open_output(struct run *r, const struct vpt_caps *caps)
{
	struct vpt_file_info *info = &r->m.info;
	struct vpt_vcpu *v = r->m.vm.vcpu;
	int err;

	*info = (struct vpt_file_info){
		.caps = *caps,
		.owner = r->m.o.owner,
		.vcpus = 1,
		.tsc_multiplier = 1ull << 48,
		.seed = r->m.o.seed,
		.oracle = r->m.o.oracle,
	};
	snprintf(info->model, sizeof(info->model), "%s", r->m.o.model);
	snprintf(info->engine, sizeof(info->engine), "%s", v->engine->name);
	info->tsc_hz = vpt_clock_tsc_hz(&r->m.o.caps);
	if (v->engine->pt)
		info->tsc_hz = v->engine->tsc_hz(v->ev, &info->tsc_offset);
	if (r->m.o.trace.model.defer_tips)
		info->flags |= VPT_INFO_DEFERRED;
	if (r->m.o.system == VPT_SYSTEM_RTIT)
		info->flags |= VPT_INFO_RTIT | VPT_INFO_SET_ERRATA(r->m.o.rtit.model.errata);
	if (r->m.o.usage.given) {
		info->tsc_offset = r->m.o.usage.setup.config.tsc.offset;
		info->tsc_multiplier = r->m.o.usage.setup.config.tsc.multiplier;
	}
	if (!r->m.o.output)
		return VPT_EXIT_OK;
	err = vpt_cli_output("run", r->m.o.output, VPT_OUTFILE_TRACE, &r->m.output);
	if (err)
		return err;
	err = vpt_writer_start(r->m.output.fd, info, &r->m.writer);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "run: %s: %s", r->m.o.output, vpt_cli_reason(-err));
	return write_start(r);
}

static int start_trace(struct run *r)
{
	struct vpt_caps caps = r->m.o.caps;
	struct vpt_vcpu *v = r->m.vm.vcpu;
	int status;

	if (r->m.o.owner == VPT_OWNER_HOST || r->m.o.usage.given)
		caps = vpt_run_host_caps(&r->m.o);
	status = open_output(r, &caps);
	if (status)
		return status;
	if (vpt_vcpu_record(v, r->m.writer, r->m.o.oracle, &caps))
		return vpt_fail(VPT_EXIT_HOST, "run: no memory");
	status = vpt_run_set_model(&r->m.o, v);
	if (status)
		return status;
	if (r->m.o.usage.given)
		return vpt_run_start_usage(&r->m.o, v);
	return r->m.o.owner == VPT_OWNER_HOST ? vpt_run_start_host(&r->m.o, v) : VPT_EXIT_OK;
}

/* Everything is open and mapped. Snapshots and the trace file's name are still to be written. */
static int confine(const struct vpt_run_machine *m)
{
	return vpt_confine("run", &(struct vpt_sandbox_want){
					  .output = {m->o.output, m->o.snapshot},
					  .caps = m->vm.vcpu->engine->pt,
				  });
}

static int run(struct run *r)
{
	int status = watch_cpuid(r);

	if (!status)
		status = vpt_run_check_snapshots(&r->m);
	if (!status)
		status = start_trace(r);
	if (!status)
		status = vpt_run_open_console(&r->m);
	if (!status)
		status = confine(&r->m);
	if (status)
		return status;
	vpt_run_loop(&r->m);
	return VPT_EXIT_OK;
}

static int finish(struct run *r, int status)
{
	status = vpt_run_finish(&r->m, status);
	vpt_input_close(&r->guest);
	vpt_input_close(&r->initrd);
	return status;
}

int vpt_cmd_run(int argc, char **argv)
{
	struct run r = {0};
	int status = vpt_run_parse(&r.m.o, argc, argv);

	if (status)
		return status;
	r.m.elf = &r.guest;
	status = vpt_run_check_files(&r.m.o, "GUEST", r.m.o.guest);
	if (!status)
		status = read_files(&r);
	if (!status)
		status = create(&r);
	if (!status)
		status = run(&r);
	return finish(&r, status);
}
