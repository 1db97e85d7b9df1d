// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the guest of `vpt run` from its files, and loads it into RAM. */
#include "cli/run_guest.h"

#include <errno.h>
#include <string.h>

#include "boot/boot.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/open.h"
#include "cli/run.h"
#include "core/vcpu.h"

#define LINUX_CMDLINE "console=ttyS0"

static int open_bzimage(struct cli_run_guest *g, struct cli_run_options *o)
{
	enum boot_bzimage_error error;
	int err = trace_input_open(&g->file, o->guest);

	if (err)
		return cli_fail(cli_input_status(err), "%s: %s: %s", o->verb, o->guest,
				cli_reason(-err));
	g->kind = CLI_RUN_BZIMAGE;
	error = boot_bzimage_parse(g->file.bytes, g->file.size, &g->bzimage);
	if (error)
		return cli_fail(CLI_EXIT_INPUT, "%s: %s: %s", o->verb, o->guest,
				boot_bzimage_error_text(error));
	return cli_run_resolve(o, g->file.bytes, g->file.size);
}

/* Open a payload, or a vmlinux. */
static int open_elf(struct cli_run_guest *g, struct cli_run_options *o)
{
	const uint64_t low = x86_mem_low(&(struct x86_mem){.bytes = o->mem});
	enum boot_elf_error error;

	error = boot_elf_parse_vmlinux(g->file.bytes, g->file.size, low, &g->elf);
	if (!error) {
		g->kind = CLI_RUN_VMLINUX;
	} else if (error == BOOT_ELF_NO_KERNEL && o->append) {
		return cli_fail(CLI_EXIT_USAGE, "run: --append: %s is no Linux kernel", o->guest);
	} else if (error == BOOT_ELF_NO_KERNEL) {
		error = boot_elf_parse(g->file.bytes, g->file.size, low, &g->elf);
	}
	if (error)
		return cli_fail(CLI_EXIT_INPUT, "%s: %s: %s", o->verb, o->guest,
				boot_elf_error_text(error));
	return cli_run_resolve(o, g->file.bytes, g->file.size);
}

int cli_run_guest_open(struct cli_run_guest *g, struct cli_run_options *o)
{
	int err = trace_input_open_magic(&g->file, o->guest, BOOT_ELF_MAGIC, BOOT_ELF_MAGIC_LEN);
	int status;

	if (err)
		return cli_fail(cli_input_status(err), "%s: %s: %s", o->verb, o->guest,
				cli_reason(-err));
	if (o->initrd) {
		err = trace_input_open(&g->initrd, o->initrd);
		if (err)
			return cli_fail(cli_input_status(err), "%s: %s: %s", o->verb, o->initrd,
					cli_reason(-err));
	}
	if (boot_bzimage_is(g->file.bytes, g->file.size))
		status = open_bzimage(g, o);
	else
		status = open_elf(g, o);
	/* Linux complains of a machine without a PCI bus. */
	o->pci = g->kind != CLI_RUN_PAYLOAD;
	return status;
}

static int load_linux(const struct cli_run_guest *g, const struct cli_run_options *o,
		      struct core_vm *vm)
{
	const struct boot_linux_config config = {
		.file = g->file.bytes,
		.elf = g->kind == CLI_RUN_VMLINUX ? &g->elf : NULL,
		.image = g->bzimage,
		.initrd = g->initrd.bytes,
		.initrd_bytes = g->initrd.size,
		.cmdline = o->append ? o->append : LINUX_CMDLINE,
	};
	enum boot_bzimage_error error = boot_linux(vm, &config);

	if (error)
		return cli_fail(CLI_EXIT_INPUT, "%s: %s: %s", o->verb, o->guest,
				boot_bzimage_error_text(error));
	return CLI_EXIT_OK;
}

int cli_run_guest_load(const struct cli_run_guest *g, const struct cli_run_options *o,
		       struct core_vm *vm)
{
	struct boot_config boot = {
		.seed = o->seed,
		.initrd = g->initrd.bytes,
		.initrd_bytes = g->initrd.size,
	};

	unsigned int i;

	/* Each vCPU has numbers of its own. */
	for (i = 0; i < vm->cpus; i++)
		vm->cpu[i]->ev->random.seed = o->seed + ((uint64_t)i << 32);
	if (g->kind != CLI_RUN_PAYLOAD)
		return load_linux(g, o, vm);
	memcpy(boot.arg, o->args.value, sizeof(boot.arg));
	boot_elf_load(g->file.bytes, &g->elf, &vm->mem);
	if (boot_guest(vm, &g->elf, &boot))
		return cli_fail(CLI_EXIT_INPUT,
				"run: %s: it does not fit into memory: give more with --mem",
				o->initrd);
	return CLI_EXIT_OK;
}

void cli_run_guest_close(struct cli_run_guest *g)
{
	trace_input_close(&g->file);
	trace_input_close(&g->initrd);
}
