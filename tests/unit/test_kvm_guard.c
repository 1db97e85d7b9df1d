// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest stops before it writes to a watched page that it has not written since its last exit.
 * Without KVM the suite is empty.
 */
#include "lib/suite.h"

#include <stdio.h>
#include <unistd.h>
#include <string.h>

#include "core/descriptor.h"
#include "core/vcpu.h"
#include "engine/kvm.h"
#include "engine/kvm_guard.h"

enum layout {
	RAM = 4 << 20,
	GDT = 0x10000,
	PML4 = 0x13000,
	PDPT = 0x14000,
	PD = 0x15000,
	CODE = 0x100000,
	DATA = 0x180000,
	STACK = 0x190000,
};

static struct engine_probe probe;
static struct core_vm vm;
static struct engine_kvm_vcpu *v;

static void put64(uint64_t gpa, uint64_t value)
{
	ck_assert(x86_mem_write(&vm.mem, gpa, &value, 8));
}

static void create(const void *code, size_t bytes)
{
	const struct core_vm_config config = {
		.engine = engine_find("kvm"),
		.probe = &probe,
		.caps = vpt_caps_model("skl"),
		.owner = TRACE_OWNER_NONE,
		.mem_bytes = RAM,
	};
	struct core_vcpu *c;

	ck_assert_int_eq(core_vm_create(&vm, &config), 0);
	c = vm.vcpu;
	ck_assert(x86_mem_write(&vm.mem, CODE, code, bytes));
	put64(GDT + 0x08, 0x00af9b000000ffffull);
	put64(GDT + 0x10, 0x00cf93000000ffffull);
	put64(PML4, PDPT | 7);
	put64(PDPT, PD | 7);
	put64(PD, 0x87);
	c->s.cs = core_flat_segment(8, true, true, 0);
	c->s.ds = c->s.es = c->s.fs = c->s.gs = c->s.ss = core_flat_segment(16, false, false, 0);
	c->s.gdt = (struct x86_table){GDT, 0x3f};
	c->s.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP | X86_CR0_NE | X86_CR0_ET;
	c->s.cr3 = PML4;
	c->s.cr4 = X86_CR4_PAE;
	c->s.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE;
	*c->regs = (struct x86_regs){.rip = CODE, .rsp = STACK, .rflags = 2};
	core_vcpu_store(c);
	v = engine_kvm_vcpu(c->ev);
	v->vm->uffd = engine_kvm_guard_open();
	ck_assert_int_ge(v->vm->uffd, 0);
	ck_assert_int_eq(engine_kvm_guard_start(v), 0);
}

static uint64_t reported[8];
static size_t reports;

static void report(void *opaque, uint64_t gpa)
{
	(void)opaque;
	ck_assert_uint_lt(reports, 8);
	reported[reports++] = gpa;
}

/* Run until pages are reported, or until HLT. Returns the number of reported pages. */
static size_t stop(void)
{
	const struct engine_writes_sink sink = {report, NULL};
	struct engine_exit exit;

	for (reports = 0; !reports;) {
		v->base.engine->run(&v->base, false, &exit);
		ck_assert_int_ne(exit.kind, ENGINE_EXIT_ERROR);
		if (exit.kind == ENGINE_EXIT_HLT)
			break;
		engine_kvm_guard_written(v->vm->guard, &sink);
	}
	return reports;
}

static void destroy(void)
{
	engine_kvm_guard_free(v->vm);
	core_vm_destroy(&vm);
}

static uint8_t at(uint64_t gpa)
{
	return *(const uint8_t *)x86_mem_at(&vm.mem, gpa, 1);
}

/* Returns true if the guest has stopped before the instruction at @rip, or KVM has emulated it. */
static bool is_before(uint64_t rip, uint64_t len)
{
	return v->base.regs->rip == rip || v->base.regs->rip == rip + len;
}

/* A page stays writable up to the next stop, which is before a write to another page. */
START_TEST(a_write_stops_before)
{
	/* mov %al, (%rdi); mov %al, 1(%rdi); mov %al, (%rsi); mov %al, 2(%rdi); hlt */
	static const uint8_t code[] = {0x88, 0x07, 0x88, 0x47, 0x01, 0x88,
				       0x06, 0x88, 0x47, 0x02, 0xf4};

	create(code, sizeof(code));
	put64(DATA, 0x11111111);
	put64(DATA + 4096, 0x11111111);
	v->base.regs->rdi = DATA;
	v->base.regs->rsi = DATA + 4096;
	v->base.regs->rax = 0x77;
	v->base.state |= ENGINE_REGS_DIRTY;
	engine_kvm_guard_watch(v->vm->guard, DATA, true);
	engine_kvm_guard_watch(v->vm->guard, DATA + 4096, true);
	ck_assert_uint_eq(stop(), 1);
	ck_assert_uint_eq(reported[0], DATA);
	ck_assert(is_before(CODE, 2));
	ck_assert_uint_eq(at(DATA + 1), 0x11);
	/* The second write to the page has no stop. */
	ck_assert_uint_eq(stop(), 2);
	ck_assert_uint_eq(reported[0], DATA);
	ck_assert_uint_eq(reported[1], DATA + 4096);
	ck_assert(is_before(CODE + 5, 2));
	ck_assert_uint_eq(at(DATA + 1), 0x77);
	/* The page is protected again. */
	ck_assert_uint_eq(stop(), 2);
	ck_assert_uint_eq(reported[0], DATA + 4096);
	ck_assert_uint_eq(reported[1], DATA);
	ck_assert(is_before(CODE + 7, 3));
	ck_assert_uint_eq(at(DATA + 4096), 0x77);
	ck_assert_uint_eq(stop(), 0);
	ck_assert_uint_eq(at(DATA + 2), 0x77);
	destroy();
}
END_TEST

/* A string instruction may write to several pages, and a page may be watched no longer. */
START_TEST(strings_and_pages_that_are_not_watched)
{
	/* rep stosb; mov %al, (%rsi); hlt */
	static const uint8_t code[] = {0xf3, 0xaa, 0x88, 0x06, 0xf4};
	size_t all = 0, n;

	create(code, sizeof(code));
	put64(DATA + 4096, 0x1111);
	put64(DATA, 0x1111);
	v->base.regs->rdi = DATA + 4090;
	v->base.regs->rsi = DATA + 8192;
	v->base.regs->rax = 0x77;
	v->base.regs->rcx = 20;
	v->base.state |= ENGINE_REGS_DIRTY;
	engine_kvm_guard_watch(v->vm->guard, DATA, true);
	engine_kvm_guard_watch(v->vm->guard, DATA + 4096, true);
	engine_kvm_guard_watch(v->vm->guard, DATA + 8192, true);
	engine_kvm_guard_watch(v->vm->guard, DATA + 8192, false);
	/* A KVM that emulates the instruction stops once. */
	while ((n = stop()))
		ck_assert_uint_lt(all += n, 10);
	ck_assert_uint_ge(all, 2);
	ck_assert_uint_eq(at(DATA + 4109), 0x77);
	ck_assert_uint_eq(at(DATA + 8192), 0x77);
	destroy();
}
END_TEST

/* A write of vpt itself is reported before the guest runs. */
START_TEST(a_write_of_the_host)
{
	static const uint8_t code[] = {0x90, 0xf4};

	create(code, sizeof(code));
	put64(DATA, 1);
	engine_kvm_guard_watch(v->vm->guard, DATA, true);
	put64(DATA, 2);
	ck_assert_uint_eq(stop(), 1);
	ck_assert_uint_eq(v->base.regs->rip, CODE);
	/* No page is protected after the end. */
	engine_kvm_guard_watch(v->vm->guard, DATA, true);
	engine_kvm_guard_free(v->vm);
	put64(DATA, 3);
	core_vm_destroy(&vm);
}
END_TEST

TEST_SUITE("kvm_guard", NULL, NULL)
{
	int fd;

	engine_find("kvm")->probe(&probe, false);
	fd = engine_kvm_guard_open();
	if (probe.problem || fd < 0) {
		fprintf(stderr, "nothing to test: %s\n",
			probe.problem ? probe.problem : "no userfaultfd");
		return;
	}
	close(fd);
	TEST_ADD(tcase, a_write_stops_before, strings_and_pages_that_are_not_watched,
		 a_write_of_the_host);
}
