// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest with four vCPUs that checks itself. The machine moves between KVM and the software CPU
 * 1,000 times, at random places. Each vCPU has a thread under KVM, and they take turns on the
 * software CPU, as in any run (core_vm_run()). Without KVM the suite is empty.
 *
 * The first and the last vCPU check their registers in ring 3, and pass a ball. The second waits in
 * HLT for IPIs, NMIs and its timer. The third waits for a start-up IPI, runs, halts, and is reset
 * again. All check that no TSC falls and that none is behind another vCPU's.
 */
#include "lib/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/descriptor.h"
#include "core/irq.h"
#include "core/run.h"
#include "core/switch.h"
#include "lib/twoengines.h"

#define CHANGES	      1000u
#define MORE	      300u /* the changes in which each vCPU must still go on */
#define PATIENCE_NS   100000000000ull
#define STATE_CHANGES 12u /* from one state of the third vCPU to the next */
#define AGAIN_INSNS   20000u
#define REAL_MODE     0x8000u
#define REAL_GDT      0x8080u
#define THIRD	      0x102000u
#define VECTOR_NMI    2
#define VECTOR_UD     6
#define VECTOR_TIMER  0x71
#define VECTOR_IPI    0x72

/* The data of a vCPU, from TWO_DATA + its number * OWN_BYTES. */
enum own {
	OWN_BYTES = 0x1000,
	COUNT = 0x00,
	TICKS = 0x08,
	FCW = 0x28,
	MXCSR = 0x30,
	DEBUG = 0x40, /* DR0 to DR3, DR6, DR7 */
	X87 = 0x80,   /* six values of 16 bytes */
	IMAGE = 0x200,
	IMAGE_BYTES = 0x200,
};

/* The data of all vCPUs. */
enum shared {
	SHARED = 0x188000,
	BALL = SHARED + 0x10,
	RETURNED = SHARED + 0x18,
	ACKED = SHARED + 0x28,
	STATE = SHARED + 0x30,
	NMIS = SHARED + 0x48,
	ONE = SHARED + 0x60,
};

/* The values of STATE. The test requests a change of the third vCPU, and the guest reports it. */
enum state {
	RESET = 1, /* the request of an INIT */
	WAITS,
	START, /* the request of a start-up IPI */
	STARTED,
	PARK, /* the request of a HLT with interrupts off */
	PARKED,
};

/* The check that fails, by the status that the guest writes to VPT_PORT_EXIT. */
static const char *const failure[] = {
	[1] = "the TSC",
	[2] = "the TSC of another vCPU",
	[3] = "a general register",
	[4] = "the vector registers",
	[5] = "x87's control",
	[6] = "x87's stack",
	[7] = "MXCSR",
	[8] = "x87's top",
	[9] = "memory",
	[10] = "a doubled timer interrupt",
	[11] = "DR0 to DR3",
	[12] = "DR6 or DR7",
	[13] = "a doubled IPI",
	[14] = "a nested NMI",
};

#define FAILURES (sizeof(failure) / sizeof(failure[0]))

/* Read the TSC into RAX, and compare it with R15. */
#define OWN_TSC             \
	"	mov	$1, %r14d\n"  \
	"	rdtsc\n"          \
	"	shl	$32, %rdx\n"  \
	"	or	%rdx, %rax\n"  \
	"	cmp	%r15, %rax\n" \
	"	jb	9f\n"          \
	"	mov	%rax, %r15\n"

/*
 * Compare the TSC with that of the vCPU that has last had the lock, as Linux does. A processor could
 * read it early without a fence. The tested KVM emulates ring 0 in order, and without LFENCE.
 */
#define OTHERS_TSC(fence)        \
	"	inc	%r14d\n"           \
	"4:	mov	$1, %ecx\n"      \
	"	xchg	%ecx, 0x188000\n" \
	"	test	%ecx, %ecx\n"     \
	"	jz	5f\n"               \
	"	pause\n"               \
	"	jmp	4b\n"              \
	"5:	" fence "\n"     \
	"	rdtsc\n"               \
	"	shl	$32, %rdx\n"       \
	"	or	%rdx, %rax\n"       \
	"	cmp	0x188008, %rax\n"  \
	"	jb	9f\n"               \
	"	mov	%rax, 0x188008\n"  \
	"	mov	%rax, %r15\n"      \
	"	movl	$0, 0x188000\n"

/* Count in three places. */
#define REGISTERS          \
	"	inc	%r14d\n"     \
	"	not	%r8\n"       \
	"	cmp	%rbx, %r8\n" \
	"	jne	9f\n"        \
	"	inc	%rbx\n"      \
	"	incq	(%r13)\n"   \
	"	mov	%rbx, %r8\n" \
	"	not	%r8\n"

/* Ring 0 loads the debug registers, and starts the timer. R12 is the vCPU, R13 has its data. */
#define SETUP                               \
	"	.irp	i,0,1,2,3\n"                 \
	"	mov	0x40 + \\i * 8(%r13), %rax\n" \
	"	mov	%rax, %dr\\i\n"               \
	"	.endr\n"                          \
	"	mov	0x60(%r13), %rax\n"           \
	"	mov	%rax, %dr6\n"                 \
	"	mov	0x68(%r13), %rax\n"           \
	"	mov	%rax, %dr7\n"                 \
	"	mov	$0xfee00000, %eax\n"          \
	"	movl	$0x1ff, 0xf0(%rax)\n"        \
	"	movl	$0x71, 0x320(%rax)\n"        \
	"	movl	$0xb, 0x3e0(%rax)\n"         \
	"	movl	$24000, 0x380(%rax)\n"       \
	"	xor	%ebx, %ebx\n"                 \
	"	mov	$-1, %r8\n"                   \
	"	xor	%r15d, %r15d\n"

/* Ring 3 loads x87, MXCSR and the vector registers. */
#define RING3(name, load)                                                 \
	".pushsection .rodata\n" #name "_start:\n" SETUP "	pushq	$0x23\n" \
	"	mov	%r12d, %eax\n"                                              \
	"	shl	$13, %eax\n"                                                \
	"	add	$0x30000, %eax\n"                                           \
	"	push	%rax\n"                                                    \
	"	pushq	$0x202\n"                                                 \
	"	pushq	$0x1b\n"                                                  \
	"	pushq	$0x100000 + 1f - " #name "_start\n"               \
	"	iretq\n"                                                        \
	"1:	fninit\n"                                                     \
	"	fldcw	0x28(%r13)\n"                                             \
	"	ldmxcsr	0x30(%r13)\n"                                           \
	"	.irp	i,5,4,3,2,1,0\n"                                           \
	"	fldt	0x80 + \\i * 16(%r13)\n"                                   \
	"	.endr\n"                                                        \
	"	fldz\n"                                                         \
	"	.irp	i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"                 \
	"	" load "\n"                                               \
	"	.endr\n"

/* Add 1 to every value, in a register and in memory, and compare. R14 names the check. */
#define CHECK(add, store, count)                                  \
	"2:\n" OWN_TSC OTHERS_TSC("lfence") REGISTERS             \
		"	inc	%r14d\n"                                    \
		"	.irp	i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" \
		"	" add "\n"                                \
		"	" store "\n"                              \
		"	.endr\n"                                        \
		"	mov	$" count ", %ecx\n"               \
		"3:	incq	0x1f8(%r13,%rcx,8)\n"                    \
		"	loop	3b\n"                                      \
		"	lea	0x200(%r13), %rsi\n"                        \
		"	lea	0x400(%r13), %rdi\n"                        \
		"	mov	$" count ", %ecx\n"               \
		"	repe cmpsq\n"                                   \
		"	jne	9f\n"                                       \
		"	inc	%r14d\n"                                    \
		"	fld1\n"                                         \
		"	faddp\n"                                        \
		"	fistl	0x20(%r13)\n"                             \
		"	fxsave64 0x400(%r13)\n"                         \
		"	mov	0x400(%r13), %ax\n"                         \
		"	cmp	%ax, 0x28(%r13)\n"                          \
		"	jne	9f\n"                                       \
		"	xorw	$0xc00, 0x28(%r13)\n"                      \
		"	fldcw	0x28(%r13)\n"                             \
		"	inc	%r14d\n"                                    \
		"	lea	0x80(%r13), %rsi\n"                         \
		"	lea	0x430(%r13), %rdi\n"                        \
		"	mov	$12, %ecx\n"                                \
		"	repe cmpsq\n"                                   \
		"	jne	9f\n"                                       \
		"	inc	%r14d\n"                                    \
		"	mov	0x418(%r13), %eax\n"                        \
		"	cmp	%eax, 0x30(%r13)\n"                         \
		"	jne	9f\n"                                       \
		"	xorl	$0x6040, 0x30(%r13)\n"                     \
		"	ldmxcsr	0x30(%r13)\n"                           \
		"	inc	%r14d\n"                                    \
		"	cmp	%ebx, 0x20(%r13)\n"                         \
		"	jne	9f\n"                                       \
		"	inc	%r14d\n"                                    \
		"	cmp	%rbx, (%r13)\n"                             \
		"	jne	9f\n"

/* The first vCPU throws the ball when it has come back. The last one spins until it comes. */
#define PLAY(name)                     \
	"	mov	0x188018, %rax\n"        \
	"	test	%r12d, %r12d\n"         \
	"	jnz	6f\n"                    \
	"	cmp	%rax, 0x188010\n"        \
	"	jne	2b\n"                    \
	"	incq	0x188010\n"             \
	"	jmp	2b\n"                    \
	"6:	cmp	%rax, 0x188010\n"      \
	"	je	6b\n"                     \
	"	incq	0x188018\n"             \
	"	jmp	2b\n"                    \
	"9:	ud2\n" #name "_end:\n" \
	".popsection\n"

__asm__(RING3(sse, "movdqu 0x200 + \\i * 16(%r13), %xmm\\i")
		CHECK("paddq 0x188060, %xmm\\i", "movdqu %xmm\\i, 0x400 + \\i * 16(%r13)", "32")
			PLAY(sse));
__asm__(RING3(avx, "vmovdqu 0x200 + \\i * 32(%r13), %ymm\\i")
		CHECK("vpaddq 0x188060, %ymm\\i, %ymm\\i",
		      "vmovdqu %ymm\\i, 0x400 + \\i * 32(%r13)", "64") PLAY(avx));

/* The second vCPU. R12 and R13 are set. */
__asm__(".pushsection .rodata\n"
	"halting_start:\n" SETUP "1:	cli\n" OWN_TSC OTHERS_TSC("") REGISTERS
	"	sti\n"
	"	hlt\n"
	"	jmp	1b\n"
	"9:	mov	%r14d, %eax\n"
	"	out	%eax, $0xf4\n"
	"halting_end:\n"
	".popsection\n");

/* The third vCPU, in real mode. */
__asm__(".pushsection .rodata\n"
	".code16\n"
	"real_start:\n"
	"	cli\n"
	"	xor	%ax, %ax\n"
	"	mov	%ax, %ds\n"
	"	lgdtl	0x8080\n"
	"	mov	$0x20, %eax\n"
	"	mov	%eax, %cr4\n"
	"	mov	$0x13000, %eax\n"
	"	mov	%eax, %cr3\n"
	"	mov	$0xc0000080, %ecx\n"
	"	rdmsr\n"
	"	or	$0x100, %eax\n"
	"	wrmsr\n"
	"	mov	$0x80010031, %eax\n"
	"	mov	%eax, %cr0\n"
	"	ljmpl	$8, $0x102000\n"
	"real_end:\n"
	".code64\n"
	"third_start:\n"
	"	mov	$0x10, %eax\n"
	"	mov	%eax, %ds\n"
	"	mov	%eax, %es\n"
	"	mov	%eax, %ss\n"
	"	mov	$0x24000, %esp\n"
	"	mov	$0x182000, %r13d\n"
	"	xor	%ebx, %ebx\n"
	"	mov	$-1, %r8\n"
	"	xor	%r15d, %r15d\n"
	"1:\n" OWN_TSC OTHERS_TSC("") REGISTERS "	cmpl	$5, 0x188030\n"
						"	jne	1b\n"
						"	movl	$6, 0x188030\n"
						"2:	hlt\n"
						"	jmp	2b\n"
						"9:	mov	%r14d, %eax\n"
						"	out	%eax, $0xf4\n"
						"third_end:\n"
						".popsection\n");

/*
 * The handlers: a failed check, the timer, which starts once more, the IPI and the NMI. The first
 * vCPU's timer sends IPIs and NMIs to the second, whose APIC is then on. It sends INIT and start-up
 * to the third.
 */
#define SEND(to, command)                              \
	"	movl	$" #to " << 24, 0x310(%rax)\n" \
	"	movl	$" #command ", 0x300(%rax)\n"

#define SEND_IPI     SEND(1, 0x4072)
#define SEND_NMI     SEND(1, 0x4400)
#define SEND_INIT    SEND(2, 0x4500)
#define SEND_STARTUP SEND(2, 0x4608)

#define HANDLER_CODE                                                            \
	".pushsection .rodata\n"                                                \
	"handlers_start:\n"                                                     \
	"	mov	%r14d, %eax\n"                                                    \
	"8:	out	%eax, $0xf4\n"                                                  \
	"handlers_tick:\n"                                                      \
	"	push	%rax\n"                                                          \
	"	push	%rdx\n"                                                          \
	"	mov	$0xfee00390, %edx\n"                                              \
	"	mov	$10, %eax\n"                                                      \
	"	cmpl	$0, (%rdx)\n"                                                    \
	"	jne	8b\n"                                                             \
	"	inc	%eax\n"                                                           \
	"	.irp	i,0,1,2,3\n"                                                     \
	"	mov	%dr\\i, %rdx\n"                                                   \
	"	cmp	%rdx, 0x40 + \\i * 8(%r13)\n"                                     \
	"	jne	8b\n"                                                             \
	"	mov	$0x123456780 << \\i, %rdx\n"                                      \
	"	add	0x40 + \\i * 8(%r13), %rdx\n"                                     \
	"	mov	%rdx, 0x40 + \\i * 8(%r13)\n"                                     \
	"	mov	%rdx, %dr\\i\n"                                                   \
	"	.endr\n"                                                              \
	"	inc	%eax\n"                                                           \
	"	mov	%dr6, %rdx\n"                                                     \
	"	cmp	%rdx, 0x60(%r13)\n"                                               \
	"	jne	8b\n"                                                             \
	"	xor	$0x4005, %rdx\n"                                                  \
	"	mov	%rdx, 0x60(%r13)\n"                                               \
	"	mov	%rdx, %dr6\n"                                                     \
	"	mov	%dr7, %rdx\n"                                                     \
	"	cmp	%rdx, 0x68(%r13)\n"                                               \
	"	jne	8b\n"                                                             \
	"	xor	$0xd0d10000, %edx\n"                                              \
	"	mov	%rdx, 0x68(%r13)\n"                                               \
	"	mov	%rdx, %dr7\n"                                                     \
	"	incq	0x8(%r13)\n"                                                     \
	"	mov	$0xfee00000, %eax\n"                                              \
	"	test	%r12d, %r12d\n"                                                  \
	"	jnz	4f\n"                                                             \
	"	cmpq	$0, 0x181000\n"                                                  \
	"	je	1f\n"                                                              \
	"	mov	0x188020, %rdx\n"                                                 \
	"	cmp	%rdx, 0x188028\n"                                                 \
	"	jne	1f\n"                                                             \
	"	incq	0x188020\n" SEND_IPI "1:	mov	0x188040, %rdx\n"          \
	"	cmp	%rdx, 0x188048\n"                                                 \
	"	jne	2f\n"                                                             \
	"	incq	0x188040\n" SEND_NMI "2:	cmpl	$1, 0x188030\n"           \
	"	jne	3f\n"                                                             \
	"	movl	$2, 0x188030\n" SEND_INIT "3:	cmpl	$3, 0x188030\n"      \
	"	jne	4f\n"                                                             \
	"	movl	$4, 0x188030\n" SEND_STARTUP "4:	movl	$0, 0xb0(%rax)\n" \
	"	movl	$24000, 0x380(%rax)\n"                                           \
	"	pop	%rdx\n"                                                           \
	"	pop	%rax\n"                                                           \
	"	iretq\n"                                                              \
	"handlers_ipi:\n"                                                       \
	"	push	%rax\n"                                                          \
	"	push	%rdx\n"                                                          \
	"	mov	$13, %eax\n"                                                      \
	"	mov	0x188020, %rdx\n"                                                 \
	"	dec	%rdx\n"                                                           \
	"	cmp	%rdx, 0x188028\n"                                                 \
	"	jne	8b\n"                                                             \
	"	incq	0x188028\n"                                                      \
	"	mov	$0xfee00000, %eax\n"                                              \
	"	movl	$0, 0xb0(%rax)\n"                                                \
	"	pop	%rdx\n"                                                           \
	"	pop	%rax\n"                                                           \
	"	iretq\n"                                                              \
	"handlers_nmi:\n"                                                       \
	"	push	%rax\n"                                                          \
	"	push	%rcx\n"                                                          \
	"	mov	$14, %eax\n"                                                      \
	"	incl	0x188050\n"                                                      \
	"	cmpl	$1, 0x188050\n"                                                  \
	"	jne	8b\n"                                                             \
	"	mov	$50, %ecx\n"                                                      \
	"1:	loop	1b\n"                                                          \
	"	push	%rdx\n"                                                          \
	"	mov	$0x5700, %edx\n"                                                  \
	"	mov	$10, %eax\n"                                                      \
	"	out	%al, %dx\n"                                                       \
	"	pop	%rdx\n"                                                           \
	"	mov	$50, %ecx\n"                                                      \
	"1:	loop	1b\n"                                                          \
	"	decl	0x188050\n"                                                      \
	"	incq	0x188048\n"                                                      \
	"	pop	%rcx\n"                                                           \
	"	pop	%rax\n"                                                           \
	"	iretq\n"                                                              \
	"handlers_end:\n"                                                       \
	".popsection\n"

__asm__(HANDLER_CODE);

__asm__(".pushsection .rodata\n"
	"spin_start:\n"
	"1:	inc	%rbx\n"
	"	jmp	1b\n"
	"spin_end:\n"
	".popsection\n");

extern const char spin_start[], spin_end[];
extern const char sse_start[], sse_end[], avx_start[], avx_end[];
extern const char halting_start[], halting_end[];
extern const char real_start[], real_end[], third_start[], third_end[];
extern const char handlers_start[], handlers_tick[], handlers_ipi[], handlers_nmi[], handlers_end[];

#define HALTING	 0x101000u
#define HANDLERS 0x103000u

static struct two two;

/* The changes at which a vCPU was in a state, by the engine that the machine leaves. */
static struct seen {
	uint64_t halted, waits, parked, runs, blocked, pending;
} seen[2];

/* The progress, by engine. The indices are those of progress_of(). */
#define PROGRESS 8u

static uint64_t made[2][PROGRESS], before[PROGRESS];
static uint64_t handled, state_since, last[PROGRESS];

static uint64_t own(unsigned int cpu, enum own what)
{
	return TWO_DATA + (uint64_t)cpu * OWN_BYTES + what;
}

static void progress_of(uint64_t *p)
{
	const uint64_t at[PROGRESS] = {
		own(0, TICKS), own(1, TICKS), own(3, TICKS), own(0, COUNT),
		own(2, COUNT), RETURNED,      ACKED,	     NMIS,
	};
	unsigned int i;

	for (i = 0; i < PROGRESS; i++)
		p[i] = two_get(&two, at[i]);
}

static void fill(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		two_put(&two, own(cpu, DEBUG) + i * 8, two_random(&two) >> 20);
	two_put(&two, own(cpu, DEBUG) + 32, 0xffff0ff0);
	two_put(&two, own(cpu, DEBUG) + 40, 0x400);
	two_put(&two, own(cpu, FCW), 0xe7f);
	two_put(&two, own(cpu, MXCSR), 0x7fa0);
	/* Numbers that are neither denormal nor infinite. */
	for (i = 0; i < 6; i++) {
		two_put(&two, own(cpu, X87) + i * 16, two_random(&two) | 1ull << 63);
		two_put(&two, own(cpu, X87) + i * 16 + 8, 0x3fff + i);
	}
	for (i = 0; i < IMAGE_BYTES; i += 8)
		two_put(&two, own(cpu, IMAGE) + i, two_random(&two));
}

static void start(unsigned int cpu, uint64_t at)
{
	struct core_vcpu *v = two.vm.cpu[cpu];

	two_start(&two, cpu, at);
	v->regs->r12 = cpu;
	v->regs->r13 = own(cpu, 0);
	v->ev->state |= ENGINE_REGS_DIRTY;
	fill(cpu);
}

/* Count the states in which vCPUs move, and the progress since the last change. */
static void record_change(void)
{
	const struct core_vcpu *second = two.vm.cpu[1], *third = two.vm.cpu[2];
	const bool to_kvm = two_by_kvm(&two);
	struct seen *s = &seen[to_kvm];
	uint64_t now[PROGRESS];
	unsigned int i;

	s->halted += !!(second->pending & CORE_VCPU_HALTED);
	s->blocked += !!(second->shadowed & CORE_VCPU_NMI_BLOCKED);
	s->pending += dev_platform_nmi(&two.vm.platform, 1);
	s->waits += !!(third->pending & CORE_VCPU_WAIT_SIPI);
	s->parked += !!(third->pending & CORE_VCPU_HALTED);
	s->runs += !(third->pending & (CORE_VCPU_WAIT_SIPI | CORE_VCPU_HALTED));
	progress_of(now);
	/* The third vCPU's count begins again at each start. */
	for (i = 0; i < PROGRESS; i++)
		made[!to_kvm][i] += now[i] > before[i] ? now[i] - before[i] : 0;
	memcpy(before, now, sizeof(now));
	handled = two.vm.change.count;
}

/* Request the next state of the third vCPU when it has been in the current one for some changes. */
static void drive(void)
{
	const uint64_t state = two_get(&two, STATE);

	if (handled - state_since < STATE_CHANGES || state % 2)
		return;
	two_put(&two, STATE, state == PARKED ? RESET : state + 1);
	state_since = handled;
}

/* Returns the progress that is missing since the last planned change, as bits. */
static unsigned int missing(void)
{
	unsigned int i, bits = 0;
	uint64_t now[PROGRESS];

	progress_of(now);
	for (i = 0; i < PROGRESS; i++)
		if (i != 4 && now[i] <= last[i])
			bits |= 1u << i;
	return bits;
}

static void end_when_done(void)
{
	const uint64_t count = two.vm.change.count;

	if (count < CHANGES)
		progress_of(last);
	else if (!missing())
		core_vm_stop(&two.vm, TRACE_STOP_EXIT, "done");
	else if (count > CHANGES + MORE)
		core_vm_stop(&two.vm, TRACE_STOP_HOST, "no progress of %#x", missing());
}

/* Under KVM: run for a random time, then ask for a change. */
static bool tick(void *opaque)
{
	(void)opaque;
	/* The next one is soon after the change. */
	two.v->next_tick = core_now();
	if (!two_by_kvm(&two))
		return false;
	if (handled != two.vm.change.count) {
		record_change();
		drive();
		two.v->next_tick = core_now() + 20000 + two_random(&two) % 3000000;
		return false;
	}
	end_when_done();
	core_vm_ask(&two.vm);
	return false;
}

/* On the software CPU: run a random number of instructions. */
static void asked(void *opaque)
{
	(void)opaque;
	ck_assert(!two_by_kvm(&two));
	record_change();
	core_vm_pause(&two.vm, core_vm_retired(&two.vm) + 1 +
				       two_random(&two) % (two_random(&two) % 4 ? 3000 : 1000000));
}

/* The handler of an NMI, which blocks others, makes a mark. */
static void marked(void *opaque, const char *text, size_t len)
{
	(void)opaque;
	(void)text;
	(void)len;
	if (two_by_kvm(&two) && two_random(&two) % 4 == 0)
		core_vm_ask(&two.vm);
}

static uint64_t pause_machine(void *opaque)
{
	(void)opaque;
	core_switch_ask(two.vm.current);
	return core_vm_retired(&two.vm) + AGAIN_INSNS;
}

static void create(void)
{
	const bool avx = two_has_avx();
	unsigned int i;

	two_create_cpus(&two, TWO_CPUS);
	two.seed = 78;
	memset(seen, 0, sizeof(seen));
	memset(made, 0, sizeof(made));
	two_code(&two, TWO_CODE, avx ? avx_start : sse_start, avx ? avx_end : sse_end);
	two_code(&two, HALTING, halting_start, halting_end);
	two_code(&two, REAL_MODE, real_start, real_end);
	two_code(&two, THIRD, third_start, third_end);
	two_code(&two, HANDLERS, handlers_start, handlers_end);
	two_put(&two, REAL_GDT, (TWO_GDT_BYTES - 1) | (uint64_t)TWO_GDT << 16);
	two_gate(&two, VECTOR_UD, HANDLERS);
	two_gate(&two, VECTOR_NMI, HANDLERS + (uint64_t)(handlers_nmi - handlers_start));
	two_gate(&two, VECTOR_TIMER, HANDLERS + (uint64_t)(handlers_tick - handlers_start));
	two_gate(&two, VECTOR_IPI, HANDLERS + (uint64_t)(handlers_ipi - handlers_start));
	two_put(&two, STATE, WAITS);
	for (i = 0; i < 4; i++)
		two_put(&two, ONE + i * 8, 1);
	start(0, TWO_CODE);
	start(1, HALTING);
	start(3, TWO_CODE);
	two.vm.hooks = (struct core_vm_hooks){
		.tick = tick, .asked = asked, .marked = marked, .pause = pause_machine};
	two.v->deadline = core_now() + PATIENCE_NS;
}

static void check_end(void)
{
	const struct core_stop *stop = &two.vm.stop;
	const uint32_t status = stop->exit_status;

	ck_assert_msg(stop->kind == TRACE_STOP_EXIT && !status, "after %llu changes, on %s: %s: %s",
		      (unsigned long long)two.vm.change.count, two.vm.engine->name,
		      status && status < FAILURES ? failure[status] : "", stop->text);
	ck_assert_uint_ge(two.vm.change.count, CHANGES);
}

START_TEST(four_vcpus_check_themselves)
{
	unsigned int n, i;

	create();
	core_vm_run(&two.vm);
	check_end();
	for (n = 0; n < 2; n++) {
		for (i = 0; i < PROGRESS; i++)
			ck_assert_msg(made[n][i], "%s: no progress of %u", n ? "KVM" : "soft", i);
		ck_assert_uint_gt(seen[n].halted, 10);
		ck_assert_uint_gt(seen[n].waits, 20);
		ck_assert_uint_gt(seen[n].parked, 20);
		ck_assert_uint_gt(seen[n].runs, 20);
	}
	/* The machine leaves KVM also while an NMI is blocked. */
	ck_assert_uint_gt(seen[0].blocked, 0);
	ck_assert_uint_gt(seen[0].pending + seen[1].pending, 0);
	two_destroy(&two);
}
END_TEST

/* KVM refuses the state of one vCPU, CS.L outside long mode. The software CPU keeps all of them. */
START_TEST(all_vcpus_move_or_none)
{
	struct core_vcpu *refused;
	unsigned int i;

	two_create_cpus(&two, TWO_CPUS);
	two_code(&two, TWO_CODE, spin_start, spin_end);
	two_to_soft(&two);
	refused = two.vm.cpu[TWO_CPUS - 1];
	refused->s.cr0 = X86_CR0_PE | X86_CR0_ET;
	refused->s.cs = core_flat_segment(TWO_CODE0, true, false, 0);
	refused->s.cs.ar |= X86_AR_L;
	core_vcpu_store(refused);
	ck_assert_int_eq(core_switch(&two.vm), -ENOTSUP);
	ck_assert_uint_eq(two.vm.change.count, 1);
	for (i = 0; i < TWO_CPUS; i++)
		ck_assert(two.vm.cpu[i]->engine == two.vm.engine &&
			  core_vcpu_counts(two.vm.cpu[i]));
	two_count(&two, 1000);
	ck_assert_uint_ge(two.v->regs->rbx, 400);
	refused->s.cs.ar &= ~(uint32_t)X86_AR_L;
	core_vcpu_store(refused);
	two_to_kvm(&two);
	ck_assert_uint_eq(two.vm.change.count, 2);
	for (i = 0; i < TWO_CPUS; i++)
		ck_assert(two.vm.cpu[i]->engine == two.vm.engine);
	ck_assert_uint_ge(two.v->regs->rbx, 400);
	two_destroy(&two);
}
END_TEST

TEST_SUITE("switch_cpus", NULL, NULL)
{
	if (two_problem()) {
		fprintf(stderr, "nothing to test: %s\n", two_problem());
		return;
	}
	tcase_set_timeout(tcase, 150);
	TEST_ADD(tcase, four_vcpus_check_themselves, all_vcpus_move_or_none);
}
