// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest runs at full speed and stepped, with each method to find the exception of a step. The guest
 * must not notice a difference. Without KVM the suite is empty.
 */
#include "lib/suite.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "core/irq.h"
#include "core/descriptor.h"
#include "core/vcpu.h"
#include "engine/kvm.h"
#include "vpt/abi/boot.h"

enum layout {
	RAM = 4 << 20,
	GDT = 0x10000,
	TSS = 0x11000,
	IDT = 0x12000,
	PML4 = 0x13000,
	PDPT = 0x14000,
	PD = 0x15000,
	CODE = 0x100000,
	STACK0 = 0x180000,
	STACK = 0x190000,
	USTACK = 0x1a0000,
};

/*
 * R14 is a checksum of the state that the guest sees, such as RFLAGS and RIP of the frames. In each
 * ring the guest executes a loop, #UD, #PF, #DE, #GP, a string instruction, PUSHFQ and POPFQ. INT 31H
 * ends the run.
 */
#define WORK                                              \
	"	mov	$10, %ecx\n"                                \
	"1:	lea	(%r14, %rcx, 2), %r14\n"                  \
	"	loop	1b\n"                                      \
	"	ud2\n"                                          \
	"	mov	0x40000000, %rax\n" /* 8 bytes */ \
	"	xor	%edx, %edx\n"                               \
	"	xor	%ecx, %ecx\n"                               \
	"	div	%ecx\n"                                     \
	"	movabs	$0x8000000000000000, %rsi\n"             \
	"	mov	(%rsi), %al\n"                              \
	"	lea	-0x100(%rsp), %rdi\n"                       \
	"	mov	$20, %ecx\n"                                \
	"	mov	$0x5a, %al\n"                               \
	"	cld\n"                                          \
	"	rep stosb\n"                                    \
	"	add	-0x100(%rsp), %r14\n"                       \
	"	pushfq\n"                                       \
	"	add	(%rsp), %r14\n"                             \
	"	popfq\n"                                        \
	"	int	$0x30\n"                                    \
	"	call	2f\n"                                      \
	"	jmp	3f\n"                                       \
	"2:	add	$3, %r14\n"                               \
	"	ret\n"                                          \
	"3:\n"

extern const char guest_start[], guest_skip2[], guest_skip8[], guest_error2[], guest_soft[],
	guest_exit[], guest_end[];

__asm__(".pushsection .rodata\n"
	"guest_start:\n" WORK "	push	$0x23\n"
	"	push	$0x1a0000\n"
	"	push	$0x202\n" /* some versions of KVM always set IF in ring 3 */
	"	push	$0x2b\n"
	"	lea	4f(%rip), %rax\n"
	"	push	%rax\n"
	"	iretq\n"
	"4:\n" WORK "	int	$0x31\n"
	/* #UD and #DE: skip two bytes. There is no error code. */
	"guest_skip2:\n"
	"	add	(%rsp), %r14\n"
	"	add	16(%rsp), %r14\n"
	"	addq	$2, (%rsp)\n"
	"	iretq\n"
	/* #PF: skip 8 bytes. */
	"guest_skip8:\n"
	"	add	(%rsp), %r14\n"
	"	mov	%cr2, %rax\n"
	"	add	%rax, %r14\n"
	"	add	$8, %rsp\n"
	"	add	16(%rsp), %r14\n"
	"	addq	$8, (%rsp)\n"
	"	iretq\n"
	/* #GP: skip two bytes. */
	"guest_error2:\n"
	"	add	$8, %rsp\n"
	"	add	8(%rsp), %r14\n"
	"	addq	$2, (%rsp)\n"
	"	iretq\n"
	"guest_soft:\n"
	"	add	(%rsp), %r14\n"
	"	add	24(%rsp), %r14\n"
	"	iretq\n"
	"guest_exit:\n"
	"	mov	%r14d, %eax\n"
	"	shr	$32, %r14\n"
	"	xor	%r14d, %eax\n"
	"	out	%eax, $0xf4\n"
	"	hlt\n"
	"guest_end:\n"
	".popsection\n");

static struct engine_probe probe;
static struct core_vm vm;

static void put64(uint64_t gpa, uint64_t value)
{
	ck_assert(x86_mem_write(&vm.mem, gpa, &value, 8));
}

static void gate(unsigned int vector, const char *handler, uint8_t access)
{
	uint64_t to = CODE + (uint64_t)(handler - guest_start);

	put64(IDT + 16 * vector,
	      (to & 0xffff) | 8u << 16 | (uint64_t)access << 40 | (to >> 16 & 0xffff) << 48);
}

static void load(void)
{
	struct core_vcpu *v = vm.vcpu;

	ck_assert(x86_mem_write(&vm.mem, CODE, guest_start, (size_t)(guest_end - guest_start)));
	put64(GDT + 0x08, 0x00af9b000000ffffull);
	put64(GDT + 0x10, 0x00cf93000000ffffull);
	put64(GDT + 0x20, 0x00cff3000000ffffull);
	put64(GDT + 0x28, 0x00affb000000ffffull);
	put64(TSS + 4, STACK0);
	put64(PML4, PDPT | 7);
	put64(PDPT, PD | 7);
	put64(PD, 0x87);
	gate(X86_VEC_DE, guest_skip2, 0x8e);
	gate(X86_VEC_UD, guest_skip2, 0x8e);
	gate(X86_VEC_GP, guest_error2, 0x8e);
	gate(X86_VEC_PF, guest_skip8, 0x8e);
	gate(0x30, guest_soft, 0xee);
	gate(0x31, guest_exit, 0xee);
	v->s.cs = core_flat_segment(8, true, true, 0);
	v->s.ds = v->s.es = v->s.fs = v->s.gs = v->s.ss = core_flat_segment(16, false, false, 0);
	v->s.tr = (struct x86_segment){
		.base = TSS, .limit = 0x67, .selector = 0x30, .ar = X86_AR_TSS};
	v->s.gdt = (struct x86_table){GDT, 0x3f};
	v->s.idt = (struct x86_table){IDT, 0xfff};
	v->s.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP | X86_CR0_NE | X86_CR0_ET;
	v->s.cr3 = PML4;
	v->s.cr4 = X86_CR4_PAE;
	v->s.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE | X86_EFER_SCE;
	*v->regs = (struct x86_regs){.rip = CODE, .rsp = STACK, .rflags = 2};
	core_vcpu_store(v);
}

static void trace(void)
{
	struct vpt_caps caps = vm.caps;
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(FABRIC_EN) |
		       VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER);

	caps.l14_0_ecx |= 1u << 3; /* the trace transport */
	ck_assert_int_eq(core_vcpu_record(vm.vcpu, NULL, false, &caps), 0);
	ck_assert_int_eq(tracer_host_write(&vm.vcpu->tracer, VPT_MSR_CTL, ctl, CODE),
			 VPT_FAULT_NONE);
}

struct outcome {
	uint32_t status;
	uint64_t insns, bytes;
};

/* Create the machine and load the guest. With @traced, trace it as its host, and so step it. */
static void create(const struct engine_probe *as, bool traced)
{
	struct core_vm_config config = {
		.engine = engine_find("kvm"),
		.probe = as,
		.caps = vpt_caps_model("skl"),
		.owner = traced ? TRACE_OWNER_HOST : TRACE_OWNER_NONE,
		.mem_bytes = RAM,
	};

	ck_assert_int_eq(core_vm_create(&vm, &config), 0);
	load();
	if (traced)
		trace();
	vm.vcpu->deadline = core_now() + 20 * 1000000000ull;
}

/* Run the machine until the guest exits, and destroy the machine. */
static struct outcome finish(void)
{
	struct outcome out;

	core_vcpu_loop(vm.vcpu);
	ck_assert_msg(vm.stop.kind == TRACE_STOP_EXIT, "stop %d: %s", vm.stop.kind, vm.stop.text);
	out = (struct outcome){vm.stop.exit_status, vm.vcpu->tracer.recorder.insns,
			       vm.vcpu->tracer.recorder.bytes};
	core_vm_destroy(&vm);
	return out;
}

static struct outcome run(const struct engine_probe *as, bool traced)
{
	create(as, traced);
	return finish();
}

static void check_same(struct outcome got, struct outcome want)
{
	ck_assert_uint_eq(got.status, want.status);
	ck_assert_uint_eq(got.insns, want.insns);
	ck_assert_uint_eq(got.bytes, want.bytes);
}

START_TEST(stepping_is_not_seen)
{
	struct outcome plain = run(&probe, false), stepped = run(&probe, true);

	ck_assert_uint_eq(stepped.status, plain.status);
	ck_assert_uint_eq(plain.insns, 0);
	/* WORK has more than 30 instructions, runs twice, and calls 5 handlers. */
	ck_assert_uint_gt(stepped.insns, 100);
	ck_assert_uint_gt(stepped.bytes, 16);
}
END_TEST

START_TEST(replaying_finds_the_same_faults)
{
	struct engine_probe replay = probe;

	replay.fault = ENGINE_FAULT_WAY_REPLAY;
	check_same(run(&replay, true), run(&probe, true));
}
END_TEST

/* Send the next signal a little later each time, so that the guest advances on slow machines. */
static void on_alarm(int sig)
{
	static int usec = 7500;
	const struct itimerval once = {{0, 0}, {0, usec / 50}};

	(void)sig;
	if (usec < 5000000)
		usec++;
	setitimer(ITIMER_REAL, &once, NULL);
}

/* A signal between an instruction and its debug trap must not hide the instruction. */
START_TEST(signals_hide_no_step)
{
	const struct itimerval often = {{0, 0}, {0, 150}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm};
	struct outcome quiet = run(&probe, true);
	struct engine_probe as = probe;
	int i;

	if (_i)
		as.fault = ENGINE_FAULT_WAY_REPLAY;
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	for (i = 0; i < 10; i++)
		check_same(run(&as, true), quiet);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
}
END_TEST

/* The limit is exact: the guest stops after that many instructions. */
START_TEST(instruction_limit)
{
	create(&probe, true);
	vm.vcpu->max_insns = 1 + 2 * 3; /* MOV, three rounds of the loop */
	core_vcpu_loop(vm.vcpu);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_MAX_INSNS);
	ck_assert_uint_eq(vm.vcpu->tracer.recorder.insns, 7);
	ck_assert_uint_eq(vm.vcpu->regs->rip, CODE + 5);
	ck_assert_uint_eq(vm.vcpu->regs->rcx, 7);
	ck_assert(!tracer_on(&vm.vcpu->tracer));
	core_vm_destroy(&vm);
}
END_TEST

START_TEST(time_limit_at_full_speed)
{
	static const uint8_t jmp[] = {0xeb, 0xfe};

	create(&probe, false);
	ck_assert(x86_mem_write(&vm.mem, CODE, jmp, sizeof(jmp)));
	vm.vcpu->deadline = core_now() + 300000000;
	core_vcpu_loop(vm.vcpu);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_TIMEOUT);
	ck_assert_uint_eq(vm.vcpu->steps, 0);
	core_vm_destroy(&vm);
}
END_TEST

/*
 * KVM has an MSR of its own at 34H (MSR_SMI_COUNT), but msrs.def has no row for it. RDMSR and
 * WRMSR raise #GP at full speed and in a step. The handler adds CS to R14 and skips two bytes.
 */
START_TEST(msrs_without_a_row)
{
	static const uint8_t code[] = {0x45, 0x31, 0xf6, 0xb9, 0x34, 0,	   0,	0,
				       0x0f, 0x32, 0x0f, 0x30, 0xcd, 0x31, 0xf4};

	create(&probe, _i);
	ck_assert(x86_mem_write(&vm.mem, CODE, code, sizeof(code)));
	ck_assert_uint_eq(finish().status, 2 * 8);
}
END_TEST

/* Returns the size of the state of a vCPU at @rip in ring 3, or 0 if it cannot be saved. */
static size_t save_at(uint64_t rip)
{
	struct core_vcpu *c = vm.vcpu;
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(c->ev);
	struct engine_exit exit;

	c->s.cs = core_flat_segment(8 | 3, true, true, 3);
	c->s.ss = core_flat_segment(16 | 3, false, false, 3);
	c->regs->rip = rip;
	core_vcpu_store(c);
	v->run->immediate_exit = 1;
	c->engine->run(c->ev, false, &exit);
	v->run->immediate_exit = 0;
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_KICK);
	ck_assert_uint_eq(c->regs->rip, rip);
	return c->engine->save(c->ev, NULL, 0);
}

/*
 * A signal ends KVM_RUN at the target of SYSCALL. A snapshot there would have the host's target of
 * SYSCALL as its RIP. A host that executes SYSCALL itself has no such target.
 */
START_TEST(a_signal_at_syscall)
{
	create(&probe, false);
	ck_assert_uint_gt(save_at(CODE), 0);
	ck_assert_int_eq(!save_at(ENGINE_KVM_SYSCALL_TRAP),
			 engine_kvm_assists(engine_kvm_vcpu(vm.vcpu->ev)->vm));
	ck_assert_uint_gt(save_at(CODE), 0);
	core_vm_destroy(&vm);
}
END_TEST

TEST_SUITE("kvm", NULL, NULL)
{
	engine_find("kvm")->probe(&probe, false);
	if (probe.problem) {
		fprintf(stderr, "nothing to test: %s\n", probe.problem);
		return;
	}
	tcase_set_timeout(tcase, 120);
	TEST_LOOP(tcase, 2, signals_hide_no_step, msrs_without_a_row);
	TEST_ADD(tcase, stepping_is_not_seen, replaying_finds_the_same_faults, instruction_limit,
		 time_limit_at_full_speed, a_signal_at_syscall);
}
