// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile guest with Atom's RTIT. It writes any register with any value at any time, and sends
 * output over holes, devices and its own code. The machine must continue, and an ordinary trace
 * must work afterwards.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/modes.h"
#include "pt/noise.h"
#include "pt/trace.h"

PAYLOAD("a hostile guest with RTIT's registers");

/*
 * First --arg: number of rounds. Second --arg, if not 0: also send output to addresses without RAM.
 */
#define ROUNDS	  1500
#define SPACES	  3u
#define LARGEST	  (4ull << 20)
#define BOTH	  (ATOM_CTL(TRACE_EN) | ATOM_CTL(TRACE_ACTIVE))
#define PLAIN	  (ATOM_CTL(OS) | ATOM_CTL(USER))
#define CODE_SIZE 64u

static struct trace t;
static struct rng rng;
static uint8_t *scratch;
static uint64_t spaces[SPACES];
static unsigned int breakpoints, refused, taken;

static void on_bp(struct trap_frame *f)
{
	(void)f;
	breakpoints++;
}

static uint64_t no_syscall(uint64_t a, uint64_t b)
{
	(void)b;
	return a;
}

/* Return free RAM of the maximum size, or an address without RAM. */
static uint64_t any_base(void)
{
	static const uint64_t places[] = {
		0xa0000,     /* the old frame buffer */
		0xc0000000,  /* nothing */
		0xfdc00000,  /* the reset value */
		0xfec00000,  /* I/O APIC */
		0xfee00000,  /* APIC */
		0x7ffffffc0, /* beyond all memory */
		0xfffffffc0, /* the maximum of the register */
	};

	if (!boot->arg[1] || rng_chance(&rng, 60))
		return (uintptr_t)scratch;
	return places[rng_below(&rng, ARRAY_SIZE(places))];
}

/* The old frame buffer's region must not extend into used memory. */
static uint64_t any_mask(uint64_t base)
{
	uint64_t mask = rng_next(&rng) & VPT_MASK64(21, 6);

	if (rng_chance(&rng, 70))
		mask = VPT_BIT64(6 + rng_below(&rng, 17)) - 1;
	if (base < (uintptr_t)scratch)
		mask &= 0xffff;
	return mask | 0x3f;
}

static uint64_t any_ctl(void)
{
	uint64_t ctl = rng_next(&rng) & 0xff9f;

	if (rng_chance(&rng, 70))
		ctl |= BOTH | PLAIN;
	if (rng_chance(&rng, 60))
		ctl &= ~ATOM_CTL(CR3_EN);
	if (rng_chance(&rng, 5))
		ctl = rng_next(&rng);
	return ctl;
}

/* Return an address near code that runs here, or any address. */
static uint64_t any_lip(void)
{
	if (rng_chance(&rng, 20))
		return rng_next(&rng);
	return (uintptr_t)noise - 0x200 + rng_below(&rng, 0x400);
}

static uint64_t any_value(uint32_t msr)
{
	if (rng_chance(&rng, 5))
		return rng_next(&rng);
	switch (msr) {
	case VPT_ATOM_MSR_CTL:
		return any_ctl();
	case VPT_ATOM_MSR_STATUS:
		return rng_next(&rng) & 0xf;
	case VPT_ATOM_MSR_CNTP:
		return rng_next(&rng) & VPT_MASK64(21, 0);
	case VPT_ATOM_MSR_EVENTS:
		return rng_chance(&rng, 50) ? rng_next(&rng) & 0x3f : 0x37;
	case VPT_ATOM_MSR_LAST_LIP:
		return rng_next(&rng) & VPT_MASK64(32, 0);
	case VPT_ATOM_MSR_LAST_CALL_NLIP:
		return rng_next(&rng) & VPT_MASK64(48, 0);
	case VPT_ATOM_MSR_OFFSET:
		return rng_next(&rng) & VPT_MASK64(21, 0);
	case VPT_ATOM_MSR_CR3_MATCH:
		return spaces[rng_below(&rng, SPACES)];
	case VPT_ATOM_MSR_PKT_CNT:
		return rng_next(&rng) & 0x33fff;
	default:
		return any_lip();
	}
}

static void write(uint32_t msr, uint64_t value)
{
	if (wrmsr_safe(msr, value))
		taken++;
	else
		refused++;
}

/* Change base and mask together: otherwise the region could be anywhere. */
static void move_output(void)
{
	uint64_t base = any_base(), ctl = rdmsr(VPT_ATOM_MSR_CTL);

	write(VPT_ATOM_MSR_CTL, ctl & ~ATOM_CTL(TRACE_ACTIVE));
	write(VPT_ATOM_MSR_LIMIT_MASK, any_mask(base));
	write(VPT_ATOM_MSR_BASE_ADDR, base);
	if (rng_chance(&rng, 50))
		write(VPT_ATOM_MSR_CTL, ctl);
}

/* Write false outcomes, only with the trace off, because no decoder could follow them. */
static void fake_outcomes(void)
{
	write(VPT_ATOM_MSR_CTL, 0);
	write(VPT_ATOM_MSR_TNT_BUFF, rng_next(&rng) & 0x7f);
}

static void registers(void)
{
	static const uint32_t msrs[] = {
		VPT_ATOM_MSR_LIP0,
		VPT_ATOM_MSR_LIP1,
		VPT_ATOM_MSR_LIP2,
		VPT_ATOM_MSR_LIP3,
		VPT_ATOM_MSR_CTL,
		VPT_ATOM_MSR_CTL,
		VPT_ATOM_MSR_CTL,
		VPT_ATOM_MSR_STATUS,
		VPT_ATOM_MSR_CNTP,
		VPT_ATOM_MSR_EVENTS,
		VPT_ATOM_MSR_EVENTS,
		VPT_ATOM_MSR_LAST_LIP,
		VPT_ATOM_MSR_LAST_CALL_NLIP,
		VPT_ATOM_MSR_OFFSET,
		VPT_ATOM_MSR_CR3_MATCH,
		VPT_ATOM_MSR_PKT_CNT,
		0x765,
	};
	uint32_t msr = msrs[rng_below(&rng, ARRAY_SIZE(msrs))];
	uint64_t value;

	switch (rng_below(&rng, 12)) {
	case 0:
		move_output();
		break;
	case 1:
		fake_outcomes();
		break;
	case 2:
		if (!rdmsr_safe(msr, &value))
			refused++;
		break;
	default:
		write(msr, any_value(msr));
		break;
	}
}

static void flow(void)
{
	switch (rng_below(&rng, 6)) {
	case 0:
		ring3_call(modes_ring3, rng_below(&rng, 8));
		break;
	case 1:
		write_cr3(spaces[rng_below(&rng, SPACES)]);
		break;
	case 2:
		__asm__ volatile("int3" : : : "memory");
		break;
	default:
		noise(rng_below(&rng, 12));
		break;
	}
}

static void off(void)
{
	wrmsr(VPT_ATOM_MSR_CTL, rdmsr(VPT_ATOM_MSR_CTL) & ~ATOM_CTL(TRACE_ACTIVE));
	wrmsr(VPT_ATOM_MSR_CTL, 0);
}

static void storm(void)
{
	uint64_t rounds = boot->arg[0] ? boot->arg[0] : ROUNDS, i;

	rng_seed(&rng, boot->seed);
	for (i = 0; i < rounds; i++) {
		registers();
		flow();
	}
	off();
	report(taken > rounds / 4 && refused, "writes were taken, and refused");
}

/* add %edi to itself n times; position-independent. */
extern const uint8_t sum_code[], sum_code_end[];

__asm__(".pushsection .rodata\n"
	"sum_code:\n"
	"	xor %eax, %eax\n"
	"	mov %edi, %ecx\n"
	"1:	add %edi, %eax\n"
	"	loop 1b\n"
	"	ret\n"
	"sum_code_end:\n"
	".popsection\n");

static uint32_t call_sum(const uint8_t *at, uint32_t n)
{
	uint32_t (*sum)(uint32_t) = (uint32_t(*)(uint32_t))(uintptr_t)at;

	return sum(n);
}

static uint8_t *code;

static void call_code(void)
{
	unsigned int i;

	for (i = 1; i < 20; i++)
		taken += call_sum(code, i) != i * i;
}

static void put_code(uint8_t *at)
{
	memcpy(at, sum_code, (size_t)(sum_code_end - sum_code));
}

/* Send output into the page that runs, beside the code; then over the code, which is restored. */
static void over_code(void)
{
	taken = 0;
	code = page_alloc(PAGE_SIZE);
	put_code(code);
	guest_atom_drv_output(&t.atom, code + CODE_SIZE, CODE_SIZE);
	trace_rtit(&t, PLAIN, call_code);
	report_equal(taken, 0, "output into the page that runs");
	guest_atom_drv_output(&t.atom, code, CODE_SIZE);
	guest_atom_drv_start(&t.atom, PLAIN);
	guest_atom_drv_stop(&t.atom);
	report_equal(code[0], 0xc0, "output over code: a PSB is there now");
	put_code(code);
	call_code();
	report_equal(taken, 0, "and what is put there next is what runs");
}

/* The output is lost, and nothing breaks. */
static void into_nothing(uint64_t base)
{
	const uint8_t *null = NULL;

	guest_atom_drv_output(&t.atom, null + base, 4096);
	trace_only(&t, TRACE_ALL, call_code);
	report(t.bytes > 0, "output to %#lx: OFFSET moves", base);
}

static void afterwards(void)
{
	write_cr3(spaces[0]);
	trace_init(&t, TRACE_BUFFER);
	trace_rtit(&t, PLAIN, call_code);
	trace_report(&t);
}

void payload(void)
{
	unsigned int i;

	idt_hook(VEC_BP, on_bp);
	ring3_init(no_syscall);
	spaces[0] = read_cr3();
	for (i = 1; i < SPACES; i++)
		spaces[i] = paging_new_space();
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t)) {
		noise(100);
		return;
	}
	scratch = page_alloc(LARGEST);
	guest_atom_drv_output(&t.atom, scratch, LARGEST);
	guest_atom_drv_start(&t.atom, PLAIN);
	guest_atom_drv_stop(&t.atom);
	storm();
	over_code();
	if (boot->arg[1]) {
		into_nothing(0xc0000000);
		into_nothing(0xfee00000);
		into_nothing(0xfffff000);
		into_nothing(0xfffff0000);
	}
	afterwards();
}
