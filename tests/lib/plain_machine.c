// SPDX-License-Identifier: GPL-2.0-or-later
/* A vCPU of the software CPU for the random programs of plain.c. */
#include "lib/plain_machine.h"

#include "lib/suite.h"
#include "soft/engine.h"
#include "soft/soft.h"
#include "x86/x86.h"

enum { PML4 = 0x1000, PDPT = 0x2000, PD = 0x3000, PT_LOW = 0x4000, PT_HIGH = 0x5000 };

static void put64(struct plain_machine *m, uint64_t gpa, uint64_t value)
{
	ck_assert(x86_mem_write(&m->mem, gpa, &value, sizeof(value)));
}

static void map(struct plain_machine *m, uint64_t va, uint64_t gpa, unsigned int pages,
		uint64_t bits)
{
	uint64_t table = va < 1u << 21 ? PT_LOW : PT_HIGH;

	for (; pages--; va += X86_PAGE_SIZE, gpa += X86_PAGE_SIZE)
		put64(m, table + 8 * (va >> 12 & 511), gpa | bits);
}

static void fill_tables(struct plain_machine *m)
{
	const uint64_t present = 1, write = 3, accessed = 0x20;

	put64(m, PML4, PDPT | write);
	put64(m, PDPT, PD | write);
	put64(m, PD, PT_LOW | write);
	put64(m, PD + 8, PT_HIGH | write);
	/* The code is already accessed, because tests look blocks up on one machine only. */
	map(m, PLAIN_CODE, PLAIN_CODE, PLAIN_CODE_BYTES / X86_PAGE_SIZE, write | accessed);
	map(m, PLAIN_STACK - 0x4000, PLAIN_STACK - 0x4000, 8, write);
	map(m, PLAIN_DATA, PLAIN_DATA, PLAIN_DATA_PAGES, write);
	map(m, PLAIN_READ_ONLY, PLAIN_READ_ONLY, 1, present);
	map(m, PLAIN_NOTHING, 0, 1, 0);
	/* Pages that are neighbours here are not neighbours in RAM. */
	map(m, PLAIN_AGAIN, PLAIN_DATA + 0x10000, PLAIN_DATA_PAGES, write);
	map(m, PLAIN_AGAIN + 0x2000, PLAIN_DATA + 0x3000, 1, write);
}

void plain_create(struct plain_machine *m)
{
	struct engine_cpuid_entry cpuid[256];
	size_t count = sizeof(cpuid) / sizeof(cpuid[0]);
	struct engine_probe found;

	soft_engine.probe(&found, false);
	ck_assert_int_eq(x86_mem_create(&m->mem, PLAIN_RAM), 0);
	ck_assert_int_eq(soft_engine.vm_create(&found, &m->vm), 0);
	ck_assert_int_eq(soft_engine.vm_map(m->vm, 0, 0, m->mem.host, m->mem.bytes), 0);
	ck_assert_int_eq(soft_engine.supported_cpuid(m->vm, cpuid, &count), 0);
	ck_assert_int_eq(soft_engine.vcpu_create(m->vm, 0, cpuid, count, &m->vcpu), 0);
	fill_tables(m);
}

void plain_destroy(struct plain_machine *m)
{
	soft_engine.vcpu_destroy(m->vcpu);
	soft_engine.vm_destroy(m->vm);
	x86_mem_destroy(&m->mem);
}

void plain_set_mode(struct plain_machine *m, unsigned int bits)
{
	const struct x86_segment data = {
		.limit = 0xffffffff, .selector = 0x10, .ar = X86_AR_DATA | X86_AR_DB | X86_AR_G};
	struct x86_sregs s;

	ck_assert_int_eq(soft_engine.get_sregs(m->vcpu, &s), 0);
	s.ds = s.es = s.fs = s.gs = s.ss = s.cs = data;
	s.fs.base = 0x18;
	s.gs.base = 0x1001;
	s.cs.ar = X86_AR_CODE | X86_AR_G;
	x86_segment_set(&s.cs, X86_AR_L, bits == 64);
	x86_segment_set(&s.cs, X86_AR_DB, bits == 32);
	s.cr0 = X86_CR0_PE | X86_CR0_ET | X86_CR0_NE | X86_CR0_WP | X86_CR0_PG;
	s.cr2 = 0;
	s.cr3 = PML4;
	s.cr4 = X86_CR4_PAE;
	s.efer = X86_EFER_LME | X86_EFER_LMA;
	ck_assert_int_eq(soft_engine.set_sregs(m->vcpu, &s), 0);
}

static const uint8_t slot_of[16] = {SOFT_R_RAX, SOFT_R_RCX, SOFT_R_RDX, SOFT_R_RBX,
				    SOFT_R_RSP, SOFT_R_RBP, SOFT_R_RSI, SOFT_R_RDI,
				    8,		9,	    10,		11,
				    12,		13,	    14,		15};

void plain_set_registers(struct plain_machine *m, const struct plain_program *p, uint64_t *state,
			 unsigned int bits)
{
	uint64_t x = plain_next(state);
	unsigned int i;

	for (i = 0; i < 16; i++) {
		uint64_t value = plain_value(state, i);

		((uint64_t *)m->vcpu->regs)[slot_of[i]] = bits == 64 ? value : (uint32_t)value;
	}
	m->vcpu->regs->rip = PLAIN_CODE + p->block[(x >> 32) % p->blocks];
	m->vcpu->regs->rflags = X86_FL_FIXED | (x & 0x8d5);
	m->vcpu->state |= ENGINE_REGS_DIRTY;
}

void plain_copy_registers(struct plain_machine *m, const struct plain_machine *from)
{
	*m->vcpu->regs = *from->vcpu->regs;
	m->vcpu->state |= ENGINE_REGS_DIRTY;
}

void plain_load(struct plain_machine *m, const struct plain_program *p)
{
	ck_assert(x86_mem_write(&m->mem, PLAIN_CODE, p->code, sizeof(p->code)));
	soft_engine.vm_wrote(m->vm, PLAIN_CODE, sizeof(p->code));
}
