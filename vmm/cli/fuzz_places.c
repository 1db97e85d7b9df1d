// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt fuzz-server: finds the code where executions begin and end, and the memory of the input. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/fuzz.h"
#include "cli/run_range.h"

static const struct {
	const char *name;
	size_t at;
} registers[] = {
#define REGISTER(name)                                 \
	{                                              \
#name, offsetof(struct x86_regs, name) \
	}
	REGISTER(rax), REGISTER(rbx), REGISTER(rcx), REGISTER(rdx), REGISTER(rsi), REGISTER(rdi),
	REGISTER(rsp), REGISTER(rbp), REGISTER(r8),  REGISTER(r9),  REGISTER(r10), REGISTER(r11),
	REGISTER(r12), REGISTER(r13), REGISTER(r14), REGISTER(r15),
};

static int find_place(struct cli_fuzz *f, const struct cli_run_names *names, const char *option,
		      const char *text, struct cli_fuzz_place *place)
{
	size_t i;

	if (!text)
		return CLI_EXIT_OK;
	for (i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (!strcmp(text, registers[i].name)) {
			place->reg =
				(uint64_t *)(void *)((char *)f->m.vm.vcpu->regs + registers[i].at);
			return CLI_EXIT_OK;
		}
	return cli_run_find_place(names, option, text, strlen(text), &place->address);
}

static int find_list(const struct cli_run_names *names, const char *option, const char *text,
		     struct cli_fuzz_places *places)
{
	int status = CLI_EXIT_OK;

	while (text && *text && !status) {
		const size_t len = strcspn(text, ",");

		if (places->n == CLI_FUZZ_PLACES)
			return cli_fail(CLI_EXIT_USAGE, "fuzz-server: --%s: at most %u places",
					option, CLI_FUZZ_PLACES);
		status = cli_run_find_place(names, option, text, len, &places->at[places->n++]);
		text += len + (text[len] == ',');
	}
	return status;
}

int cli_fuzz_find_places(struct cli_fuzz *f)
{
	const struct cli_fuzz_options *o = &f->o;
	struct cli_run_names names;
	int status = cli_run_names_open(&names, &o->run, f->guest.file.bytes, f->guest.file.size);

	if (!status)
		status = cli_run_find_place(&names, "start", o->start, strlen(o->start), &f->start);
	if (!status)
		status = find_list(&names, "until", o->until, &f->until);
	if (!status)
		status = find_list(&names, "crash", o->crash, &f->crash);
	if (!status)
		status = find_place(f, &names, "input", o->input, &f->input);
	if (!status)
		status = find_place(f, &names, "input-size", o->size, &f->size);
	cli_run_names_close(&names);
	return status;
}

/* Translate an address for a write, by the page tables of the present address space. */
static bool translate(struct cli_fuzz *f, uint64_t address, size_t len, uint64_t *gpa)
{
	struct core_vcpu *v = f->m.vm.vcpu;
	struct x86_paging paging = v->paging;
	uint32_t error;

	paging.rflags = (uint32_t)v->regs->rflags;
	return x86_walk(&v->vm->mem, &paging, address, X86_WALK_READ | X86_WALK_PEEK, gpa,
			&error) &&
	       x86_mem_at(&v->vm->mem, *gpa, len);
}

static int unmapped(const char *option, uint64_t address)
{
	return cli_fail(CLI_EXIT_USAGE,
			"fuzz-server: --%s: the guest has no memory at %#" PRIx64
			": let it touch its buffer before the start, or lower --input-max",
			option, address);
}

int cli_fuzz_find_input(struct cli_fuzz *f)
{
	const uint64_t at = f->input.reg ? *f->input.reg : f->input.address;
	const uint64_t last = at + (f->o.input_max - 1);
	uint64_t page;
	unsigned int n = 0;

	f->input_at = at & (X86_PAGE_SIZE - 1);
	if (last < at)
		return unmapped("input", at);
	for (page = at - f->input_at;; page += X86_PAGE_SIZE) {
		if (!translate(f, page, X86_PAGE_SIZE, &f->page[n++]))
			return unmapped("input", page);
		if (last - page < X86_PAGE_SIZE)
			break;
	}
	if (!f->o.size || f->size.reg)
		return CLI_EXIT_OK;
	if (f->size.address % sizeof(uint64_t))
		return cli_fail(CLI_EXIT_USAGE, "fuzz-server: --input-size=%s: not aligned to 8",
				f->o.size);
	return translate(f, f->size.address, sizeof(uint64_t), &f->size_gpa)
		       ? CLI_EXIT_OK
		       : unmapped("input-size", f->size.address);
}

static void write_ram(const struct core_vm *vm, uint64_t gpa, const void *bytes, size_t len)
{
	(void)x86_mem_write(&vm->mem, gpa, bytes, len);
	vm->engine->vm_wrote(vm->machine, gpa, len);
}

size_t cli_fuzz_put_input(struct cli_fuzz *f, const uint8_t *bytes, size_t len)
{
	const struct core_vm *vm = &f->m.vm;
	const uint64_t used = len < f->o.input_max ? len : f->o.input_max;
	uint64_t in_page = f->input_at, done, part;
	unsigned int n = 0;

	for (done = 0; done < used; done += part, in_page = 0) {
		part = X86_PAGE_SIZE - in_page;
		if (part > used - done)
			part = used - done;
		write_ram(vm, f->page[n++] + in_page, bytes + done, (size_t)part);
	}
	if (f->size.reg) {
		*f->size.reg = used;
		vm->vcpu->ev->state |= ENGINE_REGS_DIRTY;
	} else if (f->o.size) {
		write_ram(vm, f->size_gpa, &used, sizeof(used));
	}
	return (size_t)used;
}
