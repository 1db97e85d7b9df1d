// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls: direct, through pointers, and mutually recursive. One recursion is much deeper than the 64
 * return addresses that RET compression keeps (33.4.2.2), so that the outermost returns cannot be
 * compressed.
 */
#include "lib/guest.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("direct and indirect calls, recursion deeper than the return stack");

#define DEPTH 200

typedef uint32_t binary_fn(uint32_t a, uint32_t b);

static noinline uint32_t add(uint32_t a, uint32_t b)
{
	return a + b;
}

static noinline uint32_t subtract(uint32_t a, uint32_t b)
{
	return a - b;
}

static noinline uint32_t gcd(uint32_t a, uint32_t b)
{
	return b ? gcd(b, a % b) : a;
}

static binary_fn *volatile const table[] = {add, subtract, gcd};

/* Not a tail call, so that each level returns to the one above. */
static noinline uint32_t deep(uint32_t depth)
{
	if (!depth)
		return 0;
	return 1 + deep(depth - 1);
}

static bool is_odd(uint32_t n);

static noinline bool is_even(uint32_t n)
{
	bool answer = !n || is_odd(n - 1);

	barrier();
	return answer;
}

static noinline bool is_odd(uint32_t n)
{
	bool answer = n && is_even(n - 1);

	barrier();
	return answer;
}

static noinline uint32_t fibonacci(uint32_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static struct {
	uint32_t pointers, deepest, fibonacci;
	bool even;
} result;

static void work(void)
{
	uint32_t i;

	result.pointers = 0;
	for (i = 0; i < 300; i++)
		result.pointers = table[i % ARRAY_SIZE(table)](result.pointers + 7 * i, i | 1);
	result.deepest = deep(DEPTH);
	result.even = is_even(150);
	result.fibonacci = fibonacci(15);
}

void payload(void)
{
	struct trace t;

	trace_simple(&t, work);
	report_equal(result.pointers, 1, "calls through pointers");
	report_equal(result.deepest, DEPTH, "deep recursion");
	report(result.even, "mutual recursion");
	report_equal(result.fibonacci, 610, "fibonacci(15)");
	if (t.on)
		/* At least the returns beyond the return stack. */
		report(t.scan.count[VPT_PKT_TIP] >= DEPTH - 64, "deep returns are sent as TIP");
}
