// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/beside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/vm.h"
#include "lib/suite.h"

#define COMPARED 0x10000

struct x86_mem beside_mem;
struct engine_vm *beside_vm;
struct engine_vcpu *beside_vcpu;
const struct engine *beside_engine;

static uint8_t *window;
static uint8_t image[COMPARED];
static uint64_t start; /* RIP of BESIDE_CODE */

/* Variables of the assembler code below, which has no free register. */
uint64_t beside_native_sp, beside_native_code, beside_native_rax;
struct beside_state *beside_native_state;
void beside_native_begin(struct beside_state *s, const uint8_t *code);
void beside_native_end(void);

__asm__(".text\n"
	".globl beside_native_begin\n"
	".type beside_native_begin, @function\n"
	"beside_native_begin:\n"
	"	push	%rbx\n"
	"	push	%rbp\n"
	"	push	%r12\n"
	"	push	%r13\n"
	"	push	%r14\n"
	"	push	%r15\n"
	"	mov	%rsp, beside_native_sp(%rip)\n"
	"	mov	%rdi, beside_native_state(%rip)\n"
	"	mov	%rsi, beside_native_code(%rip)\n"
	"	pushq	128(%rdi)\n"
	"	popfq\n"
	"	mov	(%rdi), %rax\n"
	"	mov	8(%rdi), %rbx\n"
	"	mov	16(%rdi), %rcx\n"
	"	mov	24(%rdi), %rdx\n"
	"	mov	32(%rdi), %rsi\n"
	"	mov	48(%rdi), %rsp\n"
	"	mov	56(%rdi), %rbp\n"
	"	mov	64(%rdi), %r8\n"
	"	mov	72(%rdi), %r9\n"
	"	mov	80(%rdi), %r10\n"
	"	mov	88(%rdi), %r11\n"
	"	mov	96(%rdi), %r12\n"
	"	mov	104(%rdi), %r13\n"
	"	mov	112(%rdi), %r14\n"
	"	mov	120(%rdi), %r15\n"
	"	mov	40(%rdi), %rdi\n"
	"	jmp	*beside_native_code(%rip)\n"
	".globl beside_native_end\n"
	"beside_native_end:\n"
	"	mov	%rax, beside_native_rax(%rip)\n"
	"	mov	beside_native_state(%rip), %rax\n"
	"	mov	%rsp, 48(%rax)\n"
	"	mov	beside_native_sp(%rip), %rsp\n"
	"	pushfq\n"
	"	popq	128(%rax)\n"
	"	mov	%rbx, 8(%rax)\n"
	"	mov	%rcx, 16(%rax)\n"
	"	mov	%rdx, 24(%rax)\n"
	"	mov	%rsi, 32(%rax)\n"
	"	mov	%rdi, 40(%rax)\n"
	"	mov	%rbp, 56(%rax)\n"
	"	mov	%r8, 64(%rax)\n"
	"	mov	%r9, 72(%rax)\n"
	"	mov	%r10, 80(%rax)\n"
	"	mov	%r11, 88(%rax)\n"
	"	mov	%r12, 96(%rax)\n"
	"	mov	%r13, 104(%rax)\n"
	"	mov	%r14, 112(%rax)\n"
	"	mov	%r15, 120(%rax)\n"
	"	mov	beside_native_rax(%rip), %rbx\n"
	"	mov	%rbx, (%rax)\n"
	"	cld\n"
	"	pop	%r15\n"
	"	pop	%r14\n"
	"	pop	%r13\n"
	"	pop	%r12\n"
	"	pop	%rbp\n"
	"	pop	%rbx\n"
	"	ret\n"
	".size beside_native_begin, . - beside_native_begin\n");

void beside_native(struct beside_state *s, const uint8_t *code)
{
	beside_native_begin(s, code);
}

uint8_t *beside_window(void)
{
	return window;
}

void beside_put(uint64_t gpa, const void *bytes, size_t len)
{
	ck_assert(x86_mem_write(&beside_mem, gpa, bytes, len));
	beside_engine->vm_wrote(beside_vm, gpa, len);
}

void beside_put64(uint64_t gpa, uint64_t value)
{
	beside_put(gpa, &value, sizeof(value));
}

uint64_t beside_get64(uint64_t gpa)
{
	uint64_t value;

	ck_assert(x86_mem_read(&beside_mem, gpa, &value, sizeof(value)));
	return value;
}

struct x86_sregs beside_sregs(void)
{
	struct x86_sregs s;

	ck_assert_int_eq(beside_engine->get_sregs(beside_vcpu, &s), 0);
	return s;
}

void beside_set_sregs(const struct x86_sregs *s)
{
	ck_assert_int_eq(beside_engine->set_sregs(beside_vcpu, s), 0);
}

static struct x86_segment flat(uint16_t selector, bool code, bool wide)
{
	return (struct x86_segment){.limit = 0xffffffff,
				    .selector = selector,
				    .ar = (code ? X86_AR_CODE : X86_AR_DATA) |
					  (selector & 3u) << X86_AR_DPL_SHIFT |
					  (wide ? X86_AR_L : X86_AR_DB) | X86_AR_G};
}

static struct x86_segment real(uint16_t selector, bool code)
{
	return (struct x86_segment){.base = (uint32_t)selector << 4,
				    .limit = 0xffff,
				    .selector = selector,
				    .ar = code ? X86_AR_CODE : X86_AR_DATA};
}

void beside_mode(unsigned int bits, unsigned int cpl)
{
	struct x86_sregs s = beside_sregs();

	s.cs = flat((uint16_t)(bits == 64 ? (cpl ? BESIDE_CODE64_3 : BESIDE_CODE64)
					  : (cpl ? BESIDE_CODE32_3 : BESIDE_CODE32)),
		    true, bits == 64);
	s.ds = s.es = s.fs = s.gs = s.ss = flat(cpl ? BESIDE_DATA3 : BESIDE_DATA0, false, false);
	s.cr0 = X86_CR0_PE | X86_CR0_ET | X86_CR0_NE | X86_CR0_WP | X86_CR0_PG;
	s.cr3 = BESIDE_PML4;
	s.cr4 = X86_CR4_PAE | X86_CR4_OSFXSR;
	s.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_SCE | X86_EFER_NXE;
	s.gdt = (struct x86_table){BESIDE_GDT, BESIDE_GDT_BYTES - 1};
	if (bits == 16) {
		s.cs = real(BESIDE_CODE >> 4, true);
		s.ds = s.es = s.fs = s.gs = s.ss = real(0, false);
		s.cr0 = X86_CR0_ET;
		s.cr4 = s.efer = 0;
	}
	start = bits == 16 ? 0 : BESIDE_CODE;
	beside_set_sregs(&s);
}

static void fill_tables(void)
{
	beside_put64(BESIDE_PML4, BESIDE_PDPT | 7);
	beside_put64(BESIDE_PDPT, BESIDE_PD | 7);
	beside_put64(BESIDE_PD, 0x87);
	beside_put64(BESIDE_PD + 8, 0x200087);
	beside_put64(BESIDE_PD + 8 * (BESIDE_WINDOW >> 21), BESIDE_WINDOW_RAM | 0x87);
	beside_put64(BESIDE_GDT + BESIDE_CODE64, 0x00af9b000000ffffull);
	beside_put64(BESIDE_GDT + BESIDE_DATA0, 0x00cf93000000ffffull);
	beside_put64(BESIDE_GDT + BESIDE_CODE32, 0x00cf9b000000ffffull);
	beside_put64(BESIDE_GDT + (BESIDE_CODE64_3 & ~7), 0x00affb000000ffffull);
	beside_put64(BESIDE_GDT + (BESIDE_DATA3 & ~7), 0x00cff3000000ffffull);
	beside_put64(BESIDE_GDT + (BESIDE_CODE32_3 & ~7), 0x00cffb000000ffffull);
}

void beside_create(void)
{
	struct engine_cpuid_entry cpuid[256];
	size_t count = sizeof(cpuid) / sizeof(cpuid[0]);
	struct engine_probe found;

	beside_engine = engine_find("soft");
	ck_assert_ptr_nonnull(beside_engine);
	beside_engine->probe(&found, false);
	ck_assert_int_eq(x86_mem_create(&beside_mem, BESIDE_RAM), 0);
	ck_assert_int_eq(beside_engine->vm_create(&found, &beside_vm), 0);
	ck_assert_int_eq(beside_engine->vm_map(beside_vm, 0, 0, beside_mem.host, beside_mem.bytes),
			 0);
	ck_assert_int_eq(beside_engine->supported_cpuid(beside_vm, cpuid, &count), 0);
	core_cpuid_features(cpuid, count, vpt_caps_model("icx"));
	ck_assert_int_eq(beside_engine->vcpu_create(beside_vm, 0, cpuid, count, &beside_vcpu), 0);
	fill_tables();
	beside_mode(64, 0);
	window = mmap((void *)(uintptr_t)BESIDE_WINDOW, BESIDE_WINDOW_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	ck_assert_ptr_eq(window, (void *)(uintptr_t)BESIDE_WINDOW);
	*beside_vcpu->regs = (struct x86_regs){.rsp = BESIDE_STACK, .rflags = X86_FL_FIXED};
}

void beside_destroy(void)
{
	munmap(window, BESIDE_WINDOW_BYTES);
	beside_engine->vcpu_destroy(beside_vcpu);
	beside_engine->vm_destroy(beside_vm);
	x86_mem_destroy(&beside_mem);
}

struct engine_exit beside_step(const void *code, size_t len)
{
	const struct engine_step_hint hint = {0};
	struct engine_exit exit;

	beside_put(BESIDE_CODE, code, len);
	beside_vcpu->regs->rip = start;
	beside_vcpu->state |= ENGINE_REGS_DIRTY;
	beside_engine->step(beside_vcpu, &hint, &exit);
	return exit;
}

struct engine_exit beside_run(const void *code, size_t len, uint64_t insns)
{
	struct engine_exit exit;

	beside_put(BESIDE_CODE, code, len);
	beside_vcpu->regs->rip = start;
	beside_vcpu->state |= ENGINE_REGS_DIRTY;
	beside_vcpu->budget = insns;
	beside_engine->run(beside_vcpu, false, &exit);
	return exit;
}

static void same(const struct beside_insn *insn, const struct beside_state *in, const char *what,
		 uint64_t got, uint64_t want)
{
	ck_assert_msg(got == want,
		      "%s with RAX %#" PRIx64 " RBX %#" PRIx64 " RCX %#" PRIx64 " RDX %#" PRIx64
		      " RSI %#" PRIx64 " RDI %#" PRIx64 " flags %#" PRIx64 ": %s %#" PRIx64
		      ", not %#" PRIx64,
		      insn->text, in->reg[RAX], in->reg[RBX], in->reg[RCX], in->reg[RDX],
		      in->reg[RSI], in->reg[RDI], in->rflags, what, got, want);
}

static void same_memory(const struct beside_insn *insn, const struct beside_state *in)
{
	const uint8_t *guest = beside_mem.host + BESIDE_WINDOW_RAM;
	unsigned int i;

	if (!memcmp(guest, window, COMPARED))
		return;
	for (i = 0; guest[i] == window[i]; i++)
		;
	ck_abort_msg("%s with RSI %#" PRIx64 " RDI %#" PRIx64 ": memory at %#x is %#x, not %#x",
		     insn->text, in->reg[RSI], in->reg[RDI], BESIDE_WINDOW + i, guest[i],
		     window[i]);
}

void beside_compare(const struct beside_insn *insn, const struct beside_state *in, uint64_t flags)
{
	static const char *const name[REGS] = {"RAX", "RBX", "RCX", "RDX", "RSI", "RDI",
					       "RSP", "RBP", "R8",  "R9",  "R10", "R11",
					       "R12", "R13", "R14", "R15"};
	size_t len = (size_t)(insn->end - insn->code);
	struct beside_state want = *in;
	struct engine_exit exit;
	unsigned int i;

	memcpy(image, window, COMPARED);
	beside_put(BESIDE_WINDOW_RAM, image, COMPARED);
	memcpy(beside_vcpu->regs, in->reg, sizeof(in->reg));
	beside_vcpu->regs->rflags = in->rflags;
	exit = beside_step(insn->code, len);
	ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "%s: exit %d, vector %d", insn->text,
		      exit.kind, exit.fault.vector);
	beside_native(&want, insn->code);
	same(insn, in, "RIP", beside_vcpu->regs->rip, BESIDE_CODE + len);
	for (i = 0; i < REGS; i++)
		same(insn, in, name[i], ((const uint64_t *)beside_vcpu->regs)[i], want.reg[i]);
	same(insn, in, "flags", beside_vcpu->regs->rflags & flags, want.rflags & flags);
	same_memory(insn, in);
	/* Restore the window for the next comparison. */
	memcpy(window, image, COMPARED);
}

void beside_step_with(const void *code, size_t len, uint64_t rax, uint64_t rdi)
{
	beside_vcpu->regs->rax = rax;
	beside_vcpu->regs->rdi = rdi;
	beside_vcpu->regs->rsi = BESIDE_DATA;
	beside_step(code, len);
}

void beside_reload(void)
{
	size_t bytes = beside_engine->save(beside_vcpu, NULL, 0);
	void *state = malloc(bytes);

	ck_assert_ptr_nonnull(state);
	ck_assert_uint_eq(beside_engine->save(beside_vcpu, state, bytes), bytes);
	ck_assert_int_eq(beside_engine->load(beside_vcpu, state, bytes), 0);
	free(state);
}
