// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that checks itself while its vCPU moves between KVM and the software CPU 1,000 times, at
 * random places. Ring 3 checks the TSC, general registers, x87, MXCSR and the vector registers. A
 * timer interrupts every millisecond, and its handler checks the debug registers. Without KVM the
 * suite is empty.
 */
#include "lib/suite.h"

#include <errno.h>
#include <stdio.h>

#include "core/devices.h"
#include "core/irq.h"
#include "core/switch.h"
#include "lib/twoengines.h"

#define CHANGES	     1000u
#define CHANGES_SSE  200u /* where there is AVX, too */
#define VECTOR_UD    6
#define VECTOR_TIMER 0x71
#define WAITS_MOST   100u

/* The guest's data. */
enum data {
	COUNT = TWO_DATA,
	TICKS = TWO_DATA + 0x08,
	FCW = TWO_DATA + 0x28,
	MXCSR = TWO_DATA + 0x30,
	DEBUG = TWO_DATA + 0x40, /* DR0 to DR3, DR6, DR7 */
	X87 = TWO_DATA + 0x80,	 /* six values of 16 bytes */
	ONE = TWO_DATA + 0x100,
	IMAGE = TWO_DATA + 0x200,
	IMAGE_BYTES = 0x200,
};

/* The check that fails, by the status that the guest writes to VPT_PORT_EXIT. */
static const char *const failure[] = {
	[1] = "the TSC",
	[2] = "a general register",
	[3] = "the vector registers",
	[4] = "x87's control",
	[5] = "x87's stack",
	[6] = "MXCSR",
	[7] = "x87's top",
	[8] = "memory",
	[9] = "a doubled timer interrupt",
	[10] = "DR0 to DR3",
	[11] = "DR6 or DR7",
};

#define FAILURES (sizeof(failure) / sizeof(failure[0]))

/* Ring 0 loads the debug registers, starts the timer, and enters ring 3. */
#define BEGIN(name)                                         \
	".pushsection .rodata\n" #name "_start:\n"          \
	"	mov	0x180040, %rax\n"                             \
	"	mov	%rax, %dr0\n"                                 \
	"	mov	0x180048, %rax\n"                             \
	"	mov	%rax, %dr1\n"                                 \
	"	mov	0x180050, %rax\n"                             \
	"	mov	%rax, %dr2\n"                                 \
	"	mov	0x180058, %rax\n"                             \
	"	mov	%rax, %dr3\n"                                 \
	"	mov	0x180060, %rax\n"                             \
	"	mov	%rax, %dr6\n"                                 \
	"	mov	0x180068, %rax\n"                             \
	"	mov	%rax, %dr7\n"                                 \
	"	mov	$0xfee00000, %eax\n"                          \
	"	movl	$0x1ff, 0xf0(%rax)\n"                        \
	"	movl	$0x71, 0x320(%rax)\n"                        \
	"	movl	$0xb, 0x3e0(%rax)\n"                         \
	"	movl	$24000, 0x380(%rax)\n"                       \
	"	pushq	$0x23\n"                                    \
	"	pushq	$0x30000\n"                                 \
	"	pushq	$0x202\n"                                   \
	"	pushq	$0x1b\n"                                    \
	"	pushq	$0x100000 + 1f - " #name "_start\n" \
	"	iretq\n"

/* Ring 3 loads x87, MXCSR and, from the image, the vector registers. */
#define LOAD(load)                                        \
	"1:	mov	$0x180400, %ebp\n"                        \
	"	fninit\n"                                       \
	"	fldcw	0x180028\n"                               \
	"	ldmxcsr	0x180030\n"                             \
	"	.irp	i,5,4,3,2,1,0\n"                           \
	"	fldt	0x180080 + \\i * 16\n"                     \
	"	.endr\n"                                        \
	"	fldz\n"                                         \
	"	.irp	i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" \
	"	" load "\n"                               \
	"	.endr\n"                                        \
	"	xor	%ebx, %ebx\n"                               \
	"	mov	$-1, %r8\n"                                 \
	"	rdtsc\n"                                        \
	"	shl	$32, %rdx\n"                                \
	"	lea	(%rax,%rdx), %r15\n"

/* Add 1 to every value, in a register and in memory, and compare. r14 names the check. */
#define CHECK(add, store, count)                          \
	"2:	mov	$1, %r14d\n"                              \
	"	rdtsc\n"                                        \
	"	shl	$32, %rdx\n"                                \
	"	or	%rdx, %rax\n"                                \
	"	mov	%rax, %rdx\n"                               \
	"	sub	%r15, %rdx\n"                               \
	"	mov	%rax, %r15\n"                               \
	"	shr	$40, %rdx\n"                                \
	"	jnz	9f\n"                                       \
	"	inc	%r14d\n"                                    \
	"	not	%r8\n"                                      \
	"	cmp	%rbx, %r8\n"                                \
	"	jne	9f\n"                                       \
	"	inc	%rbx\n"                                     \
	"	incq	0x180000\n"                                \
	"	mov	%rbx, %r8\n"                                \
	"	not	%r8\n"                                      \
	"	inc	%r14d\n"                                    \
	"	.irp	i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n" \
	"	" add "\n"                                \
	"	" store "\n"                              \
	"	.endr\n"                                        \
	"	mov	$" count ", %ecx\n"               \
	"3:	incq	0x1801f8(,%rcx,8)\n"                     \
	"	loop	3b\n"                                      \
	"	mov	$0x180200, %esi\n"                          \
	"	mov	%ebp, %edi\n"                               \
	"	mov	$" count ", %ecx\n"               \
	"	repe cmpsq\n"                                   \
	"	jne	9f\n"                                       \
	"	inc	%r14d\n"                                    \
	"	fld1\n"                                         \
	"	faddp\n"                                        \
	"	fistl	0x180020\n"                               \
	"	fxsave64 (%rbp)\n"                              \
	"	mov	(%rbp), %ax\n"                              \
	"	cmp	%ax, 0x180028\n"                            \
	"	jne	9f\n"                                       \
	"	xorw	$0xc00, 0x180028\n"                        \
	"	fldcw	0x180028\n"                               \
	"	inc	%r14d\n"                                    \
	"	mov	$0x180080, %esi\n"                          \
	"	lea	48(%rbp), %edi\n"                           \
	"	mov	$12, %ecx\n"                                \
	"	repe cmpsq\n"                                   \
	"	jne	9f\n"                                       \
	"	inc	%r14d\n"                                    \
	"	mov	24(%rbp), %eax\n"                           \
	"	cmp	%eax, 0x180030\n"                           \
	"	jne	9f\n"                                       \
	"	xorl	$0x6040, 0x180030\n"                       \
	"	ldmxcsr	0x180030\n"                             \
	"	inc	%r14d\n"                                    \
	"	cmp	%ebx, 0x180020\n"                           \
	"	jne	9f\n"                                       \
	"	inc	%r14d\n"                                    \
	"	cmp	%rbx, 0x180000\n"                           \
	"	je	2b\n"                                        \
	"9:	ud2\n"

/* The handlers: a failed check, and the timer, which starts once more. */
#define END(name)                                               \
#name "_failed:\n"                                      \
	      "	mov	%r14d, %eax\n"                              \
	      "8:	out	%eax, $0xf4\n" #name "_tick:\n" \
	      "	push	%rax\n"                                    \
	      "	push	%rdx\n"                                    \
	      "	mov	$0xfee00390, %edx\n"                        \
	      "	mov	$9, %eax\n"                                 \
	      "	cmpl	$0, (%rdx)\n"                              \
	      "	jne	8b\n"                                       \
	      "	inc	%eax\n"                                     \
	      "	.irp	i,0,1,2,3\n"                               \
	      "	mov	%dr\\i, %rdx\n"                             \
	      "	cmp	%rdx, 0x180040 + \\i * 8\n"                 \
	      "	jne	8b\n"                                       \
	      "	mov	$0x123456780 << \\i, %rdx\n"                \
	      "	add	0x180040 + \\i * 8, %rdx\n"                 \
	      "	mov	%rdx, 0x180040 + \\i * 8\n"                 \
	      "	mov	%rdx, %dr\\i\n"                             \
	      "	.endr\n"                                        \
	      "	inc	%eax\n"                                     \
	      "	mov	%dr6, %rdx\n"                               \
	      "	cmp	%rdx, 0x180060\n"                           \
	      "	jne	8b\n"                                       \
	      "	xor	$0x4005, %rdx\n"                            \
	      "	mov	%rdx, 0x180060\n"                           \
	      "	mov	%rdx, %dr6\n"                               \
	      "	mov	%dr7, %rdx\n"                               \
	      "	cmp	%rdx, 0x180068\n"                           \
	      "	jne	8b\n"                                       \
	      "	xor	$0xd0d10000, %edx\n"                        \
	      "	mov	%rdx, 0x180068\n"                           \
	      "	mov	%rdx, %dr7\n"                               \
	      "	incq	0x180008\n"                                \
	      "	mov	$0xfee00000, %eax\n"                        \
	      "	movl	$0, 0xb0(%rax)\n"                          \
	      "	movl	$24000, 0x380(%rax)\n"                     \
	      "	pop	%rdx\n"                                     \
	      "	pop	%rax\n"                                     \
	      "	iretq\n" #name "_end:\n"                        \
	      ".popsection\n"

__asm__(BEGIN(sse) LOAD("movdqu 0x180200 + \\i * 16, %xmm\\i")
		CHECK("paddq 0x180100, %xmm\\i", "movdqu %xmm\\i, 0x180400 + \\i * 16", "32")
			END(sse));
__asm__(BEGIN(avx) LOAD("vmovdqu 0x180200 + \\i * 32, %ymm\\i")
		CHECK("vpaddq 0x180100, %ymm\\i, %ymm\\i", "vmovdqu %ymm\\i, 0x180400 + \\i * 32",
		      "64") END(avx));

extern const char sse_start[], sse_failed[], sse_tick[], sse_end[];
extern const char avx_start[], avx_failed[], avx_tick[], avx_end[];

static const struct {
	const char *name, *start, *failed, *tick, *end;
} guests[] = {
	{"SSE", sse_start, sse_failed, sse_tick, sse_end},
	{"AVX", avx_start, avx_failed, avx_tick, avx_end},
};

static struct two two;

static void create(int row)
{
	unsigned int i;

	two_create(&two);
	two.seed = 77;
	two_code(&two, TWO_CODE, guests[row].start, guests[row].end);
	two_gate(&two, VECTOR_UD, TWO_CODE + (uint64_t)(guests[row].failed - guests[row].start));
	two_gate(&two, VECTOR_TIMER, TWO_CODE + (uint64_t)(guests[row].tick - guests[row].start));
	for (i = 0; i < 4; i++) {
		two_put(&two, DEBUG + i * 8, two_random(&two) >> 20);
		two_put(&two, ONE + i * 8, 1);
	}
	two_put(&two, DEBUG + 32, 0xffff0ff0);
	two_put(&two, DEBUG + 40, 0x400);
	two_put(&two, FCW, 0xe7f);
	two_put(&two, MXCSR, 0x7fa0);
	/* Numbers that are neither denormal nor infinite. */
	for (i = 0; i < 6; i++) {
		two_put(&two, X87 + i * 16, two_random(&two) | 1ull << 63);
		two_put(&two, X87 + i * 16 + 8, 0x3fff + i);
	}
	for (i = 0; i < IMAGE_BYTES; i += 8)
		two_put(&two, IMAGE + i, two_random(&two));
}

static void check_running(void)
{
	const uint32_t status = two.vm.stop.exit_status;

	ck_assert_msg(!two.vm.stop.kind, "after %llu changes: %s differs: %s",
		      (unsigned long long)two.vm.change.count,
		      status < FAILURES && failure[status] ? failure[status] : "?",
		      two.vm.stop.text);
}

/* Run on the engine that has the guest, for some instructions up to about a tick. */
static void run_a_moment(void)
{
	const bool brief = two_random(&two) % 4;
	unsigned int parts = brief ? 1 : 4;

	if (!two_by_kvm(&two))
		two_count(&two, 1 + two_random(&two) % (brief ? 1000 : 3000000));
	/* The host's timer may be late. The next part then delivers the pending interrupt. */
	while (two_by_kvm(&two) && parts--)
		two_free(&two, 20000 + two_random(&two) % 300000);
	check_running();
}

/* Switch. The devices' time continues, and passes no faster than the host's. */
static void change_engine(void)
{
	const uint64_t began = core_now(), before = core_devices_time(two.v);
	unsigned int waits = 0;
	uint64_t after;
	int error;

	while ((error = core_switch(&two.vm)) == -EAGAIN && waits++ < WAITS_MOST)
		run_a_moment();
	ck_assert_int_eq(error, 0);
	after = core_devices_time(two.v);
	ck_assert_uint_ge(after, before);
	if (!waits)
		ck_assert_uint_le(after - before, core_now() - began);
}

START_TEST(a_guest_checks_itself)
{
	uint64_t ticks[2] = {0}, counted[2] = {0}, before[2];
	const unsigned int changes = !_i && two_has_avx() ? CHANGES_SSE : CHANGES;
	unsigned int n;

	create(_i);
	for (n = 0; n < changes; n++) {
		const bool kvm = two_by_kvm(&two);

		before[0] = two_get(&two, TICKS);
		before[1] = two_get(&two, COUNT);
		run_a_moment();
		ticks[kvm] += two_get(&two, TICKS) - before[0];
		counted[kvm] += two_get(&two, COUNT) - before[1];
		change_engine();
	}
	/* Each interrupt starts the timer for the next one. So one lost interrupt is the last one. */
	for (n = 0; n < 2; n++) {
		two_until(&two, TICKS, two_get(&two, TICKS) + 1);
		check_running();
		change_engine();
	}
	ck_assert_uint_eq(two.vm.change.count, changes + 2);
	for (n = 0; n < 2; n++) {
		ck_assert_uint_gt(ticks[n], changes / 100);
		ck_assert_uint_gt(counted[n], 1000);
	}
	two_destroy(&two);
}
END_TEST

TEST_SUITE("switch_guest", NULL, NULL)
{
	if (two_problem()) {
		fprintf(stderr, "nothing to test: %s\n", two_problem());
		return;
	}
	tcase_set_timeout(tcase, 120);
	TEST_LOOP(tcase, two_has_avx() ? 2 : 1, a_guest_checks_itself);
}
