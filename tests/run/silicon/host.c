// SPDX-License-Identifier: GPL-2.0-or-later
/* The processor's side: a child process that loads the state, jumps, and stores it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "run/silicon/silicon.h"

_Static_assert(offsetof(struct sil_state, rflags) == 128 &&
		       offsetof(struct sil_state, zmm) == 192 &&
		       offsetof(struct sil_state, k) == 2240 &&
		       offsetof(struct sil_state, fx) == 2304,
	       "as the assembly below has them");

/* Also used by the assembly below. */
uint32_t sil_has_avx512, sil_has_avx;
void sil_enter(const struct sil_state *in, struct sil_state *out, const void *code);
void sil_leave(void);

__asm__(".pushsection .data\n"
	"sil_sp: .quad 0\n"
	"sil_out: .quad 0\n"
	"sil_to: .quad 0\n"
	"sil_rdi: .quad 0\n"
	"sil_mxcsr: .long 0x1f80\n"
	".popsection\n"
	".pushsection .text\n"
	".macro SIL_VECTORS how\n"
	"cmpl $0, sil_has_avx512(%rip)\n"
	"je 1f\n"
	".irp "
	"n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	".ifc \\how,load\n"
	"vmovups 192+64*\\n(%rdi), %zmm\\n\n"
	".else\n"
	"vmovups %zmm\\n, 192+64*\\n(%rdi)\n"
	".endif\n"
	".endr\n"
	".irp n,0,1,2,3,4,5,6,7\n"
	".ifc \\how,load\n"
	"kmovq 2240+8*\\n(%rdi), %k\\n\n"
	".else\n"
	"kmovq %k\\n, 2240+8*\\n(%rdi)\n"
	".endif\n"
	".endr\n"
	"jmp 3f\n"
	"1: cmpl $0, sil_has_avx(%rip)\n"
	"je 2f\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	".ifc \\how,load\n"
	"vmovups 192+64*\\n(%rdi), %ymm\\n\n"
	".else\n"
	"vmovups %ymm\\n, 192+64*\\n(%rdi)\n"
	".endif\n"
	".endr\n"
	"jmp 3f\n"
	"2:\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	".ifc \\how,load\n"
	"movups 192+64*\\n(%rdi), %xmm\\n\n"
	".else\n"
	"movups %xmm\\n, 192+64*\\n(%rdi)\n"
	".endif\n"
	".endr\n"
	"3:\n"
	".endm\n"
	".globl sil_enter\n"
	"sil_enter:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, sil_sp(%rip)\n"
	"mov %rsi, sil_out(%rip)\n"
	"mov %rdx, sil_to(%rip)\n"
	"fxrstor64 2304(%rdi)\n"
	"SIL_VECTORS load\n"
	"push 128(%rdi)\n"
	"popfq\n"
	"mov 0(%rdi), %rax; mov 8(%rdi), %rcx; mov 16(%rdi), %rdx; mov 24(%rdi), %rbx\n"
	"mov 32(%rdi), %rsp; mov 40(%rdi), %rbp; mov 48(%rdi), %rsi\n"
	"mov 64(%rdi), %r8; mov 72(%rdi), %r9; mov 80(%rdi), %r10; mov 88(%rdi), %r11\n"
	"mov 96(%rdi), %r12; mov 104(%rdi), %r13; mov 112(%rdi), %r14; mov 120(%rdi), %r15\n"
	"mov 56(%rdi), %rdi\n"
	"jmp *sil_to(%rip)\n"
	".globl sil_leave\n"
	"sil_leave:\n"
	"mov %rdi, sil_rdi(%rip)\n"
	"mov sil_out(%rip), %rdi\n"
	"mov %rax, 0(%rdi); mov %rcx, 8(%rdi); mov %rdx, 16(%rdi); mov %rbx, 24(%rdi)\n"
	"mov %rsp, 32(%rdi); mov %rbp, 40(%rdi); mov %rsi, 48(%rdi)\n"
	"mov %r8, 64(%rdi); mov %r9, 72(%rdi); mov %r10, 80(%rdi); mov %r11, 88(%rdi)\n"
	"mov %r12, 96(%rdi); mov %r13, 104(%rdi); mov %r14, 112(%rdi); mov %r15, 120(%rdi)\n"
	"mov sil_rdi(%rip), %rax\n"
	"mov %rax, 56(%rdi)\n"
	"mov sil_sp(%rip), %rsp\n"
	"pushfq\n"
	"pop 128(%rdi)\n"
	"push $2\n"
	"popfq\n"
	"SIL_VECTORS store\n"
	"fxsave64 2304(%rdi)\n"
	"fninit\n"
	"ldmxcsr sil_mxcsr(%rip)\n"
	"cmpl $0, sil_has_avx(%rip)\n"
	"je 9f\n"
	"vzeroupper\n"
	"9: pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"ret\n"
	".popsection\n");

static const struct sil_test *all_tests;
static struct sil_result *all_results;
static int to_child = -1, from_child = -1;
static struct sil_result *volatile current;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *r = uc->uc_mcontext.gregs;
	uint64_t ip = (uint64_t)r[REG_RIP];

	(void)info;
	if (ip < SIL_CODE || ip >= SIL_CODE + SIL_BATCH * SIL_SLOT) {
		signal(sig, SIG_DFL);
		return;
	}
	current->vector = (int)r[REG_TRAPNO];
	current->error = (uint32_t)r[REG_ERR];
	current->cr2 = (uint64_t)r[REG_CR2];
	r[REG_RIP] = (greg_t)(uintptr_t)sil_leave;
}

static void map_or_die(uint64_t at, size_t bytes)
{
	void *want = (void *)(uintptr_t)at;

	if (mmap(want, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0) != want)
		_exit(3);
}

static void child_init(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	static uint8_t stack[64 << 10];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	unsigned int i;

	map_or_die(SIL_SANDBOX, SIL_PAGES * 4096);
	map_or_die(SIL_CODE, SIL_BATCH * SIL_SLOT);
	mprotect((void *)(uintptr_t)SIL_READ_ONLY, 4096, PROT_READ);
	sigaltstack(&alternate, NULL);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

/* Each instruction is followed by a jump to sil_leave. */
void sil_put_code(const struct sil_test *t, uint8_t *at)
{
	static const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0};
	uint64_t leave = (uint64_t)(uintptr_t)sil_leave;

	memcpy(at, t->code, t->len);
	memcpy(at + t->len, jump, sizeof(jump));
	memcpy(at + t->len + sizeof(jump), &leave, sizeof(leave));
}

static void put_code(const struct sil_test *tests, unsigned int count)
{
	unsigned int i;

	mprotect((void *)(uintptr_t)SIL_CODE, SIL_BATCH * SIL_SLOT, PROT_READ | PROT_WRITE);
	for (i = 0; i < count; i++)
		sil_put_code(&tests[i], (uint8_t *)(uintptr_t)tests[i].ip);
	mprotect((void *)(uintptr_t)SIL_CODE, SIL_BATCH * SIL_SLOT, PROT_READ | PROT_EXEC);
}

static void child_run(const struct sil_test *tests, struct sil_result *results, unsigned int count)
{
	void *window = (void *)(uintptr_t)SIL_WINDOW;
	unsigned int i;

	put_code(tests, count);
	for (i = 0; i < count; i++) {
		current = &results[i];
		current->vector = -1;
		current->error = 0;
		current->cr2 = 0;
		sil_put_memory(&tests[i], (uint8_t *)(uintptr_t)SIL_SANDBOX);
		sil_enter(&tests[i].in, &results[i].out, (const void *)(uintptr_t)tests[i].ip);
		memcpy(results[i].out.window, window, SIL_WINDOW_LEN);
	}
}

static void child(int in, int out)
{
	uint32_t count;

	child_init();
	while (read(in, &count, sizeof(count)) == sizeof(count)) {
		child_run(all_tests, all_results, count);
		if (write(out, &count, sizeof(count)) != sizeof(count))
			break;
	}
	_exit(0);
}

void *sil_shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int sil_host_init(void)
{
	sil_has_avx = __builtin_cpu_supports("avx");
	sil_has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
	return 0;
}

/* Start the process with the first batch, since it must know the addresses of tests and results. */
static bool start(const struct sil_test *tests, struct sil_result *results)
{
	int in[2], out[2];
	pid_t pid;

	all_tests = tests;
	all_results = results;
	if (pipe(in) < 0 || pipe(out) < 0)
		return false;
	pid = fork();
	if (pid < 0)
		return false;
	if (!pid) {
		close(in[1]);
		close(out[0]);
		child(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	to_child = in[1];
	from_child = out[0];
	return true;
}

bool sil_host_run(const struct sil_test *tests, struct sil_result *results, unsigned int count)
{
	uint32_t n = count;

	if (to_child < 0 && !start(tests, results))
		return false;
	if (write(to_child, &n, sizeof(n)) != sizeof(n))
		return false;
	return read(from_child, &n, sizeof(n)) == sizeof(n);
}
