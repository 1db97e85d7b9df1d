// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a bare-metal guest as a process, to measure how fast the processor itself runs the guest. The
 * image is mapped at its own addresses, without its privileged instructions.
 */
#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "bench/bench.h"
#include "boot/elf.h"
#include "trace/input.h"
#include "vpt/abi/boot.h"

#define RAM_FIRST 0x100000ull
#define RAM_BYTES (64ull << 20)

/* Exit with the status that the guest wrote to the port. */
static void on_end(int sig, siginfo_t *info, void *opaque)
{
	const ucontext_t *context = opaque;

	(void)sig;
	(void)info;
	_exit((int)context->uc_mcontext.gregs[REG_RAX] != 0);
}

/* Is the instruction an OUT of EAX to the port that ends a guest? */
static bool is_end(const uint8_t *code)
{
	return code[0] == 0xe7 && code[1] == VPT_PORT_EXIT;
}

/*
 * Replace privileged instructions by NOPs, and the one that ends a guest by INT3. Under some
 * hypervisors a process that executes the original instructions never receives the exception.
 */
static void take_out(uint8_t *code, uint64_t bytes)
{
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	uint64_t at;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (at = 0; at < bytes; at += insn.length) {
		insn.length = 1;
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at,
								bytes - at, &insn)))
			continue;
		if (!(insn.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) &&
		    insn.meta.category != ZYDIS_CATEGORY_IO &&
		    insn.mnemonic != ZYDIS_MNEMONIC_CLI && insn.mnemonic != ZYDIS_MNEMONIC_STI)
			continue;
		memset(code + at, is_end(code + at) ? 0xcc : 0x90, insn.length);
	}
}

/*
 * Do so in each section with code. A segment may also have constants, some of which look like
 * privileged instructions.
 */
static void take_out_code(const uint8_t *file, uint64_t bytes)
{
	const Elf64_Ehdr *head = (const void *)file;
	const Elf64_Shdr *section = (const void *)(file + head->e_shoff);
	uint16_t i;

	if (head->e_shoff > bytes || head->e_shnum > (bytes - head->e_shoff) / sizeof(*section))
		_exit(3);
	for (i = 0; i < head->e_shnum; i++, section++)
		if (section->sh_flags & SHF_EXECINSTR)
			take_out((uint8_t *)section->sh_addr, section->sh_size);
}

static void enter(uint64_t entry, uint64_t stack, const struct vpt_boot_info *info)
{
	__asm__ volatile("mov %1, %%rsp\n\tcall *%0" : : "r"(entry), "r"(stack), "D"(info));
}

static void child(const char *path, uint64_t rounds)
{
	static uint8_t signal_stack[64 << 10];
	const stack_t alternate = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
	struct sigaction action = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	static struct vpt_boot_info info;
	struct trace_input file = {0};
	struct boot_elf elf;
	uint16_t i;

	if (trace_input_open(&file, path) ||
	    boot_elf_parse(file.bytes, file.size, RAM_FIRST + RAM_BYTES, &elf) ||
	    mmap((void *)RAM_FIRST, RAM_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
		_exit(3);
	for (i = 0; i < elf.count; i++) {
		const struct boot_elf_segment *segment = &elf.segment[i];
		uint8_t *to = (uint8_t *)segment->gpa;

		memcpy(to, file.bytes + segment->offset, segment->file_bytes);
	}
	take_out_code(file.bytes, file.size);
	info = (struct vpt_boot_info){
		.magic = VPT_BOOT_MAGIC,
		.size = sizeof(info),
		.ram_bytes = RAM_FIRST + RAM_BYTES,
		.free_start = elf.end,
		.arg = {rounds},
	};
	sigaltstack(&alternate, NULL);
	sigaction(SIGTRAP, &action, NULL);
	enter(elf.entry, RAM_FIRST + RAM_BYTES - 8, &info);
	_exit(4);
}

int bench_native(const char *path, uint64_t rounds)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		child(path, rounds);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
