// SPDX-License-Identifier: GPL-2.0-or-later
/* See still.h. */
#include "lib/still.h"
#include "core/emulate.h"

#include <check.h>
#include <string.h>

struct core_vm vm;
struct core_vcpu v;
struct x86_regs regs;
struct x86_sregs sregs;
struct still still;
struct engine_exception raised;

static struct engine_vcpu ev;

static int get_sregs(struct engine_vcpu *e, struct x86_sregs *out)
{
	(void)e;
	*out = sregs;
	return 0;
}

static int set_sregs(struct engine_vcpu *e, const struct x86_sregs *in)
{
	(void)e;
	sregs = *in;
	return 0;
}

static int get_msr(struct engine_vcpu *e, uint32_t index, uint64_t *value)
{
	(void)e;
	*value = index == X86_MSR_STAR		 ? still.star
		 : index == X86_MSR_LSTAR	 ? still.lstar
		 : index == X86_MSR_FMASK	 ? still.fmask
		 : index == X86_MSR_SYSENTER_CS	 ? still.sysenter_cs
		 : index == X86_MSR_SYSENTER_ESP ? still.sysenter_esp
		 : index == X86_MSR_SYSENTER_EIP ? still.sysenter_eip
		 : index == 0xe1		 ? still.umwait_control
						 : 0;
	return 0;
}

static int get_dr(struct engine_vcpu *e, unsigned int n, uint64_t *value)
{
	(void)e;
	*value = still.dr[n];
	return 0;
}

static int set_dr(struct engine_vcpu *e, unsigned int n, uint64_t value)
{
	(void)e;
	still.dr[n] = value;
	return 0;
}

static void wrote(struct engine_vm *machine, uint64_t gpa, uint64_t bytes)
{
	(void)machine;
	if (!still.wrote || gpa < still.wrote_first)
		still.wrote_first = gpa;
	if (!still.wrote || gpa + bytes > still.wrote_end)
		still.wrote_end = gpa + bytes;
	still.wrote++;
}

static void step(struct engine_vcpu *e, const struct engine_step_hint *hint,
		 struct engine_exit *exit)
{
	(void)e;
	(void)hint;
	memset(exit, 0, sizeof(*exit));
	still.step(exit);
}

static const struct engine plain = {
	.name = "still",
	.get_sregs = get_sregs,
	.set_sregs = set_sregs,
	.get_msr = get_msr,
	.get_dr = get_dr,
	.set_dr = set_dr,
	.step = step,
};

static const struct engine observing = {
	.name = "still",
	.can = ENGINE_COUNTS | ENGINE_REPORTS | ENGINE_MODES | ENGINE_DEBUG | ENGINE_NEAR |
	       ENGINE_BUS,
	.vm_wrote = wrote,
	.get_sregs = get_sregs,
	.set_sregs = set_sregs,
	.get_msr = get_msr,
	.get_dr = get_dr,
	.set_dr = set_dr,
	.step = step,
};

void still_create(uint64_t ram, bool software)
{
	memset(&vm, 0, sizeof(vm));
	memset(&v, 0, sizeof(v));
	tracer_unit_choose(&v.tracer, TRACER_SYSTEM_PT);
	memset(&regs, 0, sizeof(regs));
	memset(&sregs, 0, sizeof(sregs));
	memset(&still, 0, sizeof(still));
	memset(&ev, 0, sizeof(ev));
	ck_assert_int_eq(x86_mem_create(&vm.mem, ram), 0);
	vm.engine = software ? &observing : &plain;
	vm.caps.max_phy_addr = 39;
	ev.engine = vm.engine;
	ev.regs = &regs;
	v.vm = &vm;
	v.engine = vm.engine;
	v.ev = &ev;
	v.regs = &regs;
	v.insns = core_insn_cache_create();
	ck_assert_ptr_nonnull(v.insns);
}

void still_destroy(void)
{
	core_insn_cache_destroy(v.insns);
	x86_mem_destroy(&vm.mem);
}

void put_bytes(uint64_t gpa, const void *bytes, size_t len)
{
	ck_assert(x86_mem_write(&vm.mem, gpa, bytes, len));
}

void put64(uint64_t gpa, uint64_t value)
{
	put_bytes(gpa, &value, 8);
}

void put32(uint64_t gpa, uint32_t value)
{
	put_bytes(gpa, &value, 4);
}

void put16(uint64_t gpa, uint16_t value)
{
	put_bytes(gpa, &value, 2);
}

uint64_t get64(uint64_t gpa)
{
	uint64_t value = 0;

	ck_assert(x86_mem_read(&vm.mem, gpa, &value, 8));
	return value;
}

uint32_t get32(uint64_t gpa)
{
	uint32_t value = 0;

	ck_assert(x86_mem_read(&vm.mem, gpa, &value, 4));
	return value;
}

uint16_t get16(uint64_t gpa)
{
	uint16_t value = 0;

	ck_assert(x86_mem_read(&vm.mem, gpa, &value, 2));
	return value;
}

struct core_insn decode(const char *code, size_t len)
{
	struct core_insn_bytes bytes = {.count = (uint8_t)len};
	const struct core_insn *insn;
	uint8_t all[16] = {0};
	bool truncated;

	memcpy(all, code, len);
	memcpy(&bytes.low, all, 8);
	memcpy(&bytes.high, all + 8, 8);
	insn = core_insn_find(v.insns, regs.rip, v.bits, &bytes, &truncated);
	ck_assert_ptr_nonnull(insn);
	return *insn;
}

enum core_done run(const char *code, size_t len, struct engine_exception *e)
{
	struct core_insn insn = decode(code, len);

	return core_emulate(&v, &insn, e);
}

void check_raised(const char *name, enum core_done done, uint8_t vector, uint32_t error)
{
	ck_assert_msg(done == CORE_DONE_FAULT, "%s: %d", name, done);
	ck_assert_msg(raised.vector == vector, "%s: vector %u", name, raised.vector);
	ck_assert_msg(raised.error == error, "%s: error %#x", name, raised.error);
}

void check_words(uint64_t gpa, unsigned int size, const uint64_t *word, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++, gpa += size) {
		uint64_t got = size == 2 ? get16(gpa) : size == 4 ? get32(gpa) : get64(gpa);

		ck_assert_msg(got == word[i], "word %u: %#llx, not %#llx", i,
			      (unsigned long long)got, (unsigned long long)word[i]);
	}
}
