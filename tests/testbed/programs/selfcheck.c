// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program of a Linux guest whose vCPU changes its engine. It holds x87, SSE or AVX state and
 * general registers across time and compares them. It checks that the TSC and CLOCK_MONOTONIC never
 * fall, that sums are right, and that a timer's expirations are those of the clock.
 *
 * usage: selfcheck MILLISECONDS EXPIRATIONS
 */
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull
/* A timer that does not expire for so long is lost. */
#define SILENT (5 * SECOND)
/* The instructions of a round take about a third of a timer's period on a fast engine. */
#define SPINS 4000u
#define FCW   0x0e7fu /* all exceptions masked, 53 bits, round up */
#define MXCSR 0x7f80u /* all exceptions masked, truncate */

/* The registers of a round. */
struct image {
	uint8_t vector[16][32];
	uint8_t x87[8][16];  /* ten bytes each */
	uint64_t general[6]; /* R10 to R15 */
	uint32_t fcw, mxcsr;
};

static struct image in, out __attribute__((aligned(64)));

/* Shared with the handler. Times are those of CLOCK_MONOTONIC, in ns. */
static volatile sig_atomic_t handled;
static volatile uint64_t last, expired, period;
static volatile uint64_t armed[2]; /* before and after the timer was started */
static timer_t timer;

_Noreturn static void fail(const char *what, uint64_t a, uint64_t b)
{
	printf("selfcheck: FAILED: %s: %" PRIu64 ", %" PRIu64 "\n", what, a, b);
	fflush(stdout);
	_exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/*
 * The kernel computes the overruns when it delivers the signal, which is after `last` and before
 * the handler. The expirations are then those of a time between the two.
 */
static void on_timer(int number, siginfo_t *info, void *context)
{
	const uint64_t before = last, after = now();

	(void)number;
	(void)context;
	expired += 1 + (uint64_t)info->si_overrun;
	handled++;
	if (after < before)
		fail("CLOCK_MONOTONIC falls", before, after);
	if (expired > (after - armed[0]) / period)
		fail("the timer expires too often", expired, (after - armed[0]) / period);
	if (before > armed[1] && expired < (before - armed[1]) / period)
		fail("the timer loses expirations", expired, (before - armed[1]) / period);
	last = after;
}

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 8 ^ *seed << 24;
}

/* Choose values. Those of x87 are normal numbers. */
static void choose(uint64_t *seed)
{
	unsigned int i, k;
	uint64_t value;

	for (i = 0; i < 16; i++)
		for (k = 0; k < 4; k++) {
			value = random_next(seed);
			memcpy(in.vector[i] + 8 * k, &value, sizeof(value));
		}
	for (i = 0; i < 8; i++) {
		value = random_next(seed) | 1ull << 63;
		memcpy(in.x87[i], &value, sizeof(value));
		in.x87[i][8] = (uint8_t)(0xf0 + i);
		in.x87[i][9] = 0x3f;
	}
	for (i = 0; i < 6; i++)
		in.general[i] = random_next(seed);
	in.fcw = FCW;
	in.mxcsr = MXCSR;
}

/* Load the registers, read the TSC many times, and store them. Sets RDX to 1 if the TSC fell. */
#define HOLD(load, store)                                                                          \
	__asm__ volatile("	fninit\n"                                                               \
			 "	fldcw	%c[fcw](%[in])\n"                                                 \
			 "	ldmxcsr	%c[mxcsr](%[in])\n"                                             \
			 "	.irp	i,7,6,5,4,3,2,1,0\n"                                               \
			 "	fldt	%c[x87] + \\i * 16(%[in])\n"                                       \
			 "	.endr\n"                                                                \
			 "	.irp	i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"                         \
			 "	" load "	\\i * 32(%[in]), " VECTOR "\n"                     \
			 "	.endr\n"                                                                \
			 "	.irp	i,0,1,2,3,4,5\n"                                                   \
			 "	mov	%c[general] + \\i * 8(%[in]), %%r1\\i\n"                            \
			 "	.endr\n"                                                                \
			 "1:	rdtsc\n"                                                              \
			 "	shl	$32, %%rdx\n"                                                       \
			 "	or	%%rdx, %%rax\n"                                                      \
			 "	cmp	%[tsc], %%rax\n"                                                    \
			 "	mov	$1, %%edx\n"                                                        \
			 "	jb	2f\n"                                                                \
			 "	mov	%%rax, %[tsc]\n"                                                    \
			 "	xor	%%edx, %%edx\n"                                                     \
			 "	dec	%%ecx\n"                                                            \
			 "	jnz	1b\n"                                                               \
			 "2:	.irp	i,0,1,2,3,4,5\n"                                                 \
			 "	mov	%%r1\\i, %c[general] + \\i * 8(%[out])\n"                           \
			 "	.endr\n"                                                                \
			 "	.irp	i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"                         \
			 "	" store "	" VECTOR ", \\i * 32(%[out])\n"                    \
			 "	.endr\n"                                                                \
			 "	.irp	i,0,1,2,3,4,5,6,7\n"                                               \
			 "	fstpt	%c[x87] + \\i * 16(%[out])\n"                                     \
			 "	.endr\n"                                                                \
			 "	fnstcw	%c[fcw](%[out])\n"                                               \
			 "	stmxcsr	%c[mxcsr](%[out])\n"                                            \
			 "	fninit\n"                                                               \
			 "	ldmxcsr	%[usual]\n"                                                     \
			 : "=&d"(fell), [tsc] "+&S"(tsc), "+&c"(spins)                             \
			 : [in] "D"(&in), [out] "b"(&out), [usual] "m"(usual),                     \
			   [fcw] "i"(offsetof(struct image, fcw)),                                 \
			   [mxcsr] "i"(offsetof(struct image, mxcsr)),                             \
			   [x87] "i"(offsetof(struct image, x87)),                                 \
			   [general] "i"(offsetof(struct image, general))                          \
			 : "rax", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory",        \
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
			   "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15")

static uint64_t hold(uint64_t tsc, int avx)
{
	const uint32_t usual = 0x1f80;
	uint32_t spins = SPINS;
	uint64_t fell;

	if (avx) {
#define VECTOR "%%ymm\\i"
		HOLD("vmovdqu", "vmovdqu");
		__asm__ volatile("vzeroupper" ::: "memory");
#undef VECTOR
	} else {
#define VECTOR "%%xmm\\i"
		HOLD("movdqu", "movdqu");
#undef VECTOR
	}
	if (fell)
		fail("the TSC falls", tsc, 0);
	return tsc;
}

static void compare(int avx)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		if (memcmp(in.vector[i], out.vector[i], avx ? 32 : 16))
			fail("a vector register differs", i, handled);
	for (i = 0; i < 8; i++)
		if (memcmp(in.x87[i], out.x87[i], 10))
			fail("an x87 register differs", i, handled);
	for (i = 0; i < 6; i++)
		if (in.general[i] != out.general[i])
			fail("a general register differs", in.general[i], out.general[i]);
	if (out.fcw != FCW || out.mxcsr != MXCSR)
		fail("a control register differs", out.fcw, out.mxcsr);
}

/* Sums of integers and of binary64 numbers, which are exact. */
static void add_up(uint64_t n)
{
	volatile double reals = 0;
	uint64_t i, sum = 0;

	for (i = 1; i <= n; i++) {
		sum += i * i;
		reals += (double)i / 4;
	}
	if (sum != n * (n + 1) * (2 * n + 1) / 6)
		fail("a sum of squares is wrong", n, sum);
	if (reals != (double)(n * (n + 1) / 2) / 4)
		fail("a sum of reals is wrong", n, (uint64_t)reals);
}

static void start_timer(uint64_t milliseconds)
{
	struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	struct itimerspec every = {0};

	period = milliseconds * (SECOND / 1000);
	every.it_interval.tv_sec = (time_t)(period / SECOND);
	every.it_interval.tv_nsec = (long)(period % SECOND);
	every.it_value = every.it_interval;
	if (sigaction(SIGALRM, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
		fail("there is no timer", 0, 0);
	armed[0] = now();
	/* The handler compares with no lower bound until the later time is known. */
	armed[1] = UINT64_MAX;
	if (timer_settime(timer, 0, &every, NULL))
		fail("the timer does not start", 0, 0);
	armed[1] = now();
}

int main(int argc, char **argv)
{
	const int avx = __builtin_cpu_supports("avx");
	uint64_t rounds = 0, seed = 1, tsc = 0, wanted, heard, time, before;
	int seen = 0;

	if (argc != 3 || strtoull(argv[1], NULL, 0) == 0)
		return 2;
	wanted = strtoull(argv[2], NULL, 0);
	start_timer(strtoull(argv[1], NULL, 0));
	heard = now();
	while (expired < wanted) {
		choose(&seed);
		tsc = hold(tsc, avx);
		compare(avx);
		add_up(200 + rounds % 100);
		before = last;
		time = now();
		if (time < before)
			fail("CLOCK_MONOTONIC falls", before, time);
		/* The handler may have stored a later time after this thread read the clock. */
		if (handled == seen)
			last = time;
		if (handled != seen)
			heard = time;
		if (time - heard > SILENT)
			fail("the timer is silent", heard, time);
		seen = handled;
		rounds++;
	}
	printf("selfcheck: passed: %s, %d signals, %" PRIu64 " expirations of %s ms, %" PRIu64
	       " rounds\n",
	       avx ? "AVX" : "SSE", handled, expired, argv[1], rounds);
	return 0;
}
