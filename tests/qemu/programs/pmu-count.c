// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the counters with code whose instructions and branches are known.
 *
 * Each case runs n and 2n rounds of some code. The difference of the two counts must be exactly
 * n times the count of one round, despite interrupts, page faults and signals.
 *
 * usage: pmu-count         exit with 0 if no check failed
 *        pmu-count N       only run N rounds of four instructions, the last one a branch
 */
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failed;

static void check(const char *name, long want, long got)
{
	printf("%s %s: %ld", want == got ? "ok" : "FAIL", name, got);
	if (want != got) {
		printf(", not %ld", want);
		failed = 1;
	}
	printf("\n");
}

static int event_open(uint64_t config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0) {
		perror("perf_event_open");
		exit(1);
	}
	return fd;
}

static long count(int fd, void (*code)(long n), long n)
{
	uint64_t value;

	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	code(n);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, &value, sizeof(value)) != sizeof(value)) {
		perror("read");
		exit(1);
	}
	return (long)value;
}

/* 4 instructions, 1 branch. */
static __attribute__((noinline)) void loop(long n)
{
	asm volatile("1:	nop\n"
		     "	nop\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n)
		     :
		     : "cc");
}

/* 9 instructions, 5 branches: CALL, RET, an indirect JMP, a JZ that is not taken, the loop. */
static void branches(long n)
{
	asm volatile("	jmp 1f\n"
		     "4:	ret\n"
		     "1:	call 4b\n"
		     "	lea 2f(%%rip), %%rax\n"
		     "	jmp *%%rax\n"
		     "	ud2\n"
		     "2:	test %%rax, %%rax\n"
		     "	jz 1b\n"
		     "	nop\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n)
		     :
		     : "rax", "cc", "memory");
}

static char from[4096], to[4096];

/* 7 instructions. Two of them have REP, one with many iterations and one with none. */
static void rep(long n)
{
	asm volatile("1:	lea %1, %%rsi\n"
		     "	lea %2, %%rdi\n"
		     "	mov $777, %%ecx\n"
		     "	rep movsb\n"
		     "	rep stosb\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n)
		     : "m"(from), "m"(to)
		     : "rcx", "rsi", "rdi", "cc", "memory");
}

/* 6 instructions. REPNE ends by its condition. */
static void repne(long n)
{
	from[100] = 1;
	asm volatile("1:	lea %1, %%rdi\n"
		     "	mov $4096, %%ecx\n"
		     "	mov $1, %%al\n"
		     "	repne scasb\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n)
		     : "m"(from)
		     : "rax", "rcx", "rdi", "cc", "memory");
}

/* 4 instructions, and a page fault in the middle of a block in each round. */
static void fault(long n)
{
	size_t size = (size_t)n * 4096;
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	asm volatile("1:	movb $1, (%1)\n"
		     "	add $4096, %1\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n), "+r"(page)
		     :
		     : "cc", "memory");
	munmap(page - size, size);
}

/* 5 instructions: SYSCALL counts as the user's. */
static void syscalls(long n)
{
	asm volatile("1:	mov $39, %%eax\n"
		     "	syscall\n"
		     "	nop\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n)
		     :
		     : "rax", "rcx", "r11", "cc", "memory");
}

/*
 * A handler that skips the two bytes of the interrupted instruction. It has 4 instructions, and
 * 2 more until the end of SIGRETURN.
 */
asm("skip:\n"
    "	mov %rdx, %rax\n"
    "	addq $2, " /* REG_RIP of the context */
    "168(%rax)\n"
    "	nop\n"
    "	ret\n");
void skip(int sig, siginfo_t *info, void *context);

/* A handler for INT3, after which RIP is right. It has 3 instructions with its return. */
asm("skip_none:\n"
    "	nop\n"
    "	nop\n"
    "	ret\n");
void skip_none(int sig, siginfo_t *info, void *context);

static void handle(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	sigaction(sig, &action, NULL);
}

/* 3 instructions and the handler's 6: UD2 does not retire. */
static void ud2(long n)
{
	asm volatile("1:	nop\n"
		     "	ud2\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n)
		     :
		     : "cc", "memory");
}

/* 3 instructions and the handler's 6: an INT n that faults does not retire. */
static void int_n(long n)
{
	asm volatile("1:	nop\n"
		     "	int $0x42\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n)
		     :
		     : "cc", "memory");
}

/* 4 instructions and the handler's 5: INT3 retires. */
static void int3(long n)
{
	asm volatile("1:	nop\n"
		     "	int3\n"
		     "	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n)
		     :
		     : "cc", "memory");
}

/*
 * Returns true if RDPMC of this counter faults. The handler skips the instruction, so that RAX
 * keeps its value.
 */
static int rdpmc_faults(uint32_t index)
{
	uint64_t value = ~0ull;

	asm volatile("rdpmc" : "+a"(value) : "c"(index) : "rdx", "memory");
	return value == ~0ull;
}

/* 4 instructions run from the first RDPMC to the second, which does not count itself. */
static void rdpmc(int fd)
{
	struct perf_event_mmap_page *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	uint32_t first, second, index;
	int tries = 100;

	if (page == MAP_FAILED || !page->cap_user_rdpmc) {
		check("RDPMC is allowed", 1, 0);
		return;
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	/*
	 * Try again after an interrupt between the two, which can move the event to another
	 * counter.
	 */
	do {
		index = page->index - 1;
		asm volatile("rdpmc\n"
			     "	mov %%eax, %0\n"
			     "	mov %2, %%ecx\n"
			     "	nop\n"
			     "	rdpmc\n"
			     "	mov %%eax, %1\n"
			     : "=&r"(first), "=&r"(second)
			     : "r"(index), "c"(index)
			     : "rax", "rdx");
	} while (second - first != 4 && --tries);
	check("RDPMC", 4, (long)second - (long)first);
	check("RDPMC of the last counter", 0, rdpmc_faults(3));
	check("RDPMC beyond faults", 1, rdpmc_faults(4));
	check("RDPMC of the last fixed counter", 0, rdpmc_faults(1u << 30 | 2));
	check("RDPMC beyond these faults", 1, rdpmc_faults(1u << 30 | 3));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	munmap(page, 4096);
	check("RDPMC without CR4.PCE faults", 1, rdpmc_faults(0));
}

/* A generator of random numbers decides every second branch. */
static void random_branches(long n)
{
	uint64_t x = 1;

	asm volatile("1:	imul %2, %1\n"
		     "	add $1442695040888963407 & 0x7fffffff, %1\n"
		     "	bt $62, %1\n"
		     "	jc 2f\n"
		     "	nop\n"
		     "2:	dec %0\n"
		     "	jnz 1b\n"
		     : "+r"(n), "+r"(x)
		     : "r"(6364136223846793005ull)
		     : "cc");
}

static void within(const char *name, long low, long high, long got)
{
	int bad = got < low || got > high;

	printf("%s %s: %ld", bad ? "FAIL" : "ok", name, got);
	if (bad)
		printf(", not %ld to %ld", low, high);
	printf("\n");
	failed |= bad;
}

/* Check the model of the predictor: it must miss random branches, and predict loops. */
static void misses(void)
{
	int fd = event_open(PERF_COUNT_HW_BRANCH_MISSES);

	within("misses of 1000000 loops", 0, 1000, count(fd, loop, 1000000));
	within("misses of 100000 random branches", 40000, 60000,
	       count(fd, random_branches, 100000));
	close(fd);
}

static uint64_t rdtsc(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Check that the processor counts no cycles while it sleeps. */
static void cycles(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	uint64_t before, after, tsc;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		exit(1);
	tsc = rdtsc();
	if (fd < 0 || read(fd, &before, 8) != 8) {
		check("cycles of a processor", 0, 1);
		return;
	}
	loop(10000000);
	if (read(fd, &after, 8) != 8)
		exit(1);
	within("percent of the cycles of a busy time", 50, 100,
	       (long)((after - before) * 100 / (rdtsc() - tsc)));
	tsc = rdtsc();
	before = after;
	usleep(500000);
	if (read(fd, &after, 8) != 8)
		exit(1);
	within("percent of the cycles of a sleep", 0, 80,
	       (long)((after - before) * 100 / (rdtsc() - tsc)));
	close(fd);
}

static const struct {
	const char *name;
	void (*code)(long n);
	long instructions, branches; /* in one round; 0 branches: unknown */
	long rounds;
} cases[] = {
	{"loop", loop, 4, 1, 1000000},	    {"branches", branches, 9, 5, 100000},
	{"REP", rep, 7, 1, 1000},	    {"REPNE", repne, 6, 1, 1000},
	{"page faults", fault, 4, 1, 1000}, {"SYSCALL", syscalls, 5, 0, 1000},
	{"UD2", ud2, 9, 0, 1000},	    {"INT n with a fault", int_n, 9, 0, 1000},
	{"INT3", int3, 9, 0, 1000},
};

static void compare(const char *what, int fd, unsigned i, long each)
{
	char name[64];
	long n = cases[i].rounds, once, twice;

	cases[i].code(1);
	once = count(fd, cases[i].code, n);
	twice = count(fd, cases[i].code, 2 * n);
	snprintf(name, sizeof(name), "%s, %s", cases[i].name, what);
	check(name, n * each, twice - once);
}

int main(int argc, char **argv)
{
	int insns, branch;

	if (argc == 2) {
		loop(atol(argv[1]));
		return 0;
	}
	insns = event_open(PERF_COUNT_HW_INSTRUCTIONS);
	branch = event_open(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);

	handle(SIGILL, skip);
	handle(SIGSEGV, skip);
	handle(SIGTRAP, skip_none);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		compare("instructions", insns, i, cases[i].instructions);
		if (cases[i].branches)
			compare("branches", branch, i, cases[i].branches);
	}
	rdpmc(insns);
	misses();
	cycles();
	return failed;
}
