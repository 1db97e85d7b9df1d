// SPDX-License-Identifier: GPL-2.0-or-later
/* The soft engine's side: a flat machine in user mode whose pages are like the host's. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "run/silicon/silicon.h"
#include "soft/engine.h"
#include "soft/feature.h"
#include "soft/native.h"
#include "soft/soft.h"

enum {
	RAM = 1 << 20,
	PML4 = 0x1000,
	PDPT = 0x2000,
	PD = 0x3000,
	PT_SANDBOX = 0x4000,
	PT_CODE = 0x5000,
	SANDBOX = 0x10000,
	CODE = 0x20000
};

#define P 1ull
#define W 2ull
#define U 4ull

static uint8_t *ram;
static struct engine_vm *vm;
static struct engine_vcpu *vcpu;

static void entry(uint64_t table, unsigned int index, uint64_t value)
{
	memcpy(ram + table + 8 * index, &value, sizeof(value));
}

static void map_pages(void)
{
	unsigned int i;

	entry(PML4, 0, PDPT | P | W | U);
	entry(PDPT, 0, PD | P | W | U);
	entry(PD, SIL_SANDBOX >> 21 & 511, PT_SANDBOX | P | W | U);
	entry(PD, SIL_CODE >> 21 & 511, PT_CODE | P | W | U);
	for (i = 0; i < SIL_PAGES; i++)
		entry(PT_SANDBOX, i, (SANDBOX + i * 4096u) | P | U | (i < 2 ? W : 0));
	for (i = 0; i < SIL_BATCH * SIL_SLOT / 4096; i++)
		entry(PT_CODE, i, (CODE + i * 4096u) | P | U);
}

static uint64_t host_xcr0(void)
{
	uint32_t low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

static int user_mode(void)
{
	const struct x86_segment data = {.limit = 0xffffffff,
					 .selector = 0x2b,
					 .ar = X86_AR_DATA | X86_AR_DPL | X86_AR_DB | X86_AR_G};
	struct soft *c = soft(vcpu);
	struct x86_sregs s;

	vcpu->engine->get_sregs(vcpu, &s);
	s.ds = s.es = s.fs = s.gs = s.ss = s.cs = data;
	s.cs.ar = X86_AR_CODE | X86_AR_DPL | X86_AR_L | X86_AR_G;
	s.cs.selector = 0x33;
	s.fs.base = s.gs.base = 0;
	s.cr3 = PML4;
	s.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP | X86_CR0_NE | X86_CR0_MP | X86_CR0_ET |
		X86_CR0_AM;
	s.cr4 = X86_CR4_PAE | X86_CR4_OSFXSR | X86_CR4_OSXMMEXCPT | X86_CR4_OSXSAVE;
	s.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE | X86_EFER_SCE;
	c->fpu.xcr0 = host_xcr0() & 0xe7;
	return vcpu->engine->set_sregs(vcpu, &s);
}

static sigjmp_buf crashed;

static void on_crash(int sig)
{
	siglongjmp(crashed, sig);
}

/* Report a crash of the engine, which no guest may cause, as a difference. */
static void catch_crashes(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};
	unsigned int i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

int sil_soft_init(void)
{
	struct engine_cpuid_entry cpuid[64];
	size_t count = sizeof(cpuid) / sizeof(cpuid[0]);
	struct engine_probe probe;
	int error;

	ram = aligned_alloc(4096, RAM);
	if (!ram)
		return -1;
	memset(ram, 0, RAM);
	map_pages();
	soft_engine.probe(&probe, false);
	error = soft_engine.vm_create(&probe, &vm);
	if (!error)
		error = soft_engine.vm_map(vm, 0, 0, ram, RAM);
	if (!error)
		error = soft_engine.supported_cpuid(vm, cpuid, &count);
	if (!error)
		error = soft_engine.vcpu_create(vm, 0, cpuid, count, &vcpu);
	catch_crashes();
	return error ? error : user_mode();
}

bool sil_soft_has(const ZydisDecodedInstruction *insn)
{
	return soft_feature(soft(vcpu), insn);
}

void sil_soft_code(const struct sil_test *tests, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		sil_put_code(&tests[i], ram + CODE + (tests[i].ip - SIL_CODE));
	soft_engine.vm_wrote(vm, CODE, SIL_BATCH * SIL_SLOT);
	/* No block is left now, so the stubs can be dropped as well. */
	if (!soft_native_has_room(soft(vcpu)->native))
		soft_native_reset(soft(vcpu)->native);
}

static const uint8_t slot_of[16] = {SOFT_R_RAX, SOFT_R_RCX, SOFT_R_RDX, SOFT_R_RBX,
				    SOFT_R_RSP, SOFT_R_RBP, SOFT_R_RSI, SOFT_R_RDI,
				    8,		9,	    10,		11,
				    12,		13,	    14,		15};

static void put_state(struct soft *c, const struct sil_state *s, uint64_t ip)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		c->r[slot_of[i]] = s->gpr[i];
	c->regs.rip = ip;
	c->regs.rflags = s->rflags;
	c->base.state |= ENGINE_REGS_DIRTY;
	memcpy(c->fpu.zmm, s->zmm, sizeof(s->zmm));
	memcpy(c->fpu.k, s->k, sizeof(s->k));
	memcpy(c->fpu.x87, s->fx, 160);
	memcpy(&c->fpu.mxcsr, s->fx + 24, 4);
}

static void get_state(struct soft *c, struct sil_state *s)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		s->gpr[i] = c->r[slot_of[i]];
	s->rflags = c->regs.rflags;
	memcpy(s->zmm, c->fpu.zmm, sizeof(s->zmm));
	memcpy(s->k, c->fpu.k, sizeof(s->k));
	memcpy(s->fx, c->fpu.x87, 160);
	memcpy(s->fx + 24, &c->fpu.mxcsr, 4);
	memcpy(s->window, ram + SANDBOX + (SIL_WINDOW - SIL_SANDBOX), SIL_WINDOW_LEN);
}

static void run(const struct sil_test *t, struct sil_result *r)
{
	const struct engine_step_hint hint = {0};
	struct soft *c = soft(vcpu);
	struct engine_exit exit;
	unsigned int i;

	/* A string instruction takes several steps. */
	for (i = 0; i < 64 && c->regs.rip == t->ip; i++) {
		memset(&exit, 0, sizeof(exit));
		soft_engine.step(vcpu, &hint, &exit);
		if (exit.kind == ENGINE_EXIT_NONE)
			continue;
		r->vector = exit.kind == ENGINE_EXIT_FAULT ? exit.fault.vector
							   : SIL_EXIT + (int)exit.kind;
		r->error = exit.fault.has_error ? exit.fault.error : 0;
		r->cr2 = exit.fault.cr2;
		break;
	}
	if (r->vector < 0 && c->regs.rip != t->ip + t->len)
		r->vector = SIL_ELSEWHERE;
}

void sil_soft_run(const struct sil_test *t, struct sil_result *r)
{
	struct soft *c = soft(vcpu);

	put_state(c, &t->in, t->ip);
	sil_put_memory(t, ram + SANDBOX);
	r->vector = -1;
	r->error = 0;
	r->cr2 = 0;
	if (!sigsetjmp(crashed, 0))
		run(t, r);
	else
		r->vector = SIL_CRASHED;
	get_state(c, &r->out);
}
