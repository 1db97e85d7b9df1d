// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tests/fuzz/fuzz_code.c without a fuzzer, so that it runs what is shipped: optimized,
 * with micro-operations that jump to each other. On a small stack, which shows when one
 * of them calls the next instead. Code is bits of this program's own, or just bytes.
 * usage: hostile SECONDS [SEED [COUNT]]
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD	    13
#define CODE_MAX    160
#define STACK_BYTES (384 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const uint8_t __executable_start[], etext[];

static uint64_t seconds, first, most = UINT64_MAX, done;

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static size_t make(uint64_t seed, uint8_t *to)
{
	uint64_t random = mix(seed * 0x9e3779b97f4a7c15 + 1), n = random % CODE_MAX;
	uint64_t text = (uint64_t)(etext - __executable_start) - CODE_MAX, i;
	const uint8_t *from = __executable_start + mix(random + 1) % text;

	for (i = 0; i < HEAD; i++)
		to[i] = (uint8_t)(mix(random + 2 + i) >> 32);
	/* Mostly use the mode of this program: 64-bit, without unusual state. */
	if (random >> 60 < 8) {
		to[8] = 0;
		to[9] &= (uint8_t)(random >> 40);
	}
	for (i = 0; i < n; i++)
		to[HEAD + i] = random >> 56 & 7 ? from[i] : (uint8_t)(mix(random + 99 + i) >> 32);
	return HEAD + n;
}

static void report(int signal)
{
	char text[96];
	int n = snprintf(text, sizeof(text), "hostile: signal %d; again: hostile 1 %llu 1\n",
			 signal, (unsigned long long)(first + done));

	(void)!write(2, text, (size_t)n);
	_exit(1);
}

static void *run(void *unused)
{
	static uint8_t alternate[64 << 10], input[HEAD + CODE_MAX];
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct timespec end, now;

	sigaltstack(&stack, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)seconds;
	do {
		(void)LLVMFuzzerTestOneInput(input, make(first + done, input));
		done++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec && done < most);
	return unused;
}

int main(int argc, char **argv)
{
	static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	struct sigaction action = {.sa_handler = report, .sa_flags = SA_ONSTACK};
	pthread_attr_t attr;
	pthread_t thread;
	size_t i;

	seconds = argc > 1 ? strtoull(argv[1], NULL, 0) : 10;
	first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	most = argc > 3 ? strtoull(argv[3], NULL, 0) : UINT64_MAX;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	pthread_attr_init(&attr);
	if (pthread_attr_setstacksize(&attr, STACK_BYTES) ||
	    pthread_create(&thread, &attr, run, NULL) || pthread_join(thread, NULL)) {
		fprintf(stderr, "hostile: %s\n", strerror(errno));
		return 1;
	}
	printf("ok 1 - %llu hostile guests, from seed %llu on\n1..1\n", (unsigned long long)done,
	       (unsigned long long)first);
	return 0;
}
