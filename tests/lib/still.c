// SPDX-License-Identifier: GPL-2.0-or-later
/* See still.h. */
#include "lib/still.h"
#include "core/emulate.h"

#include <check.h>
#include <string.h>

struct vpt_vm vm;
struct vpt_vcpu v;
struct vpt_regs regs;
struct vpt_sregs sregs;
struct still still;

static struct vpt_engine_vcpu ev;

static int get_sregs(struct vpt_engine_vcpu *e, struct vpt_sregs *out)
{
	(void)e;
	*out = sregs;
	return 0;
}

static int set_sregs(struct vpt_engine_vcpu *e, const struct vpt_sregs *in)
{
	(void)e;
	sregs = *in;
	return 0;
}

static int get_msr(struct vpt_engine_vcpu *e, uint32_t index, uint64_t *value)
{
	(void)e;
	*value = index == VPT_MSR_STAR		 ? still.star
		 : index == VPT_MSR_LSTAR	 ? still.lstar
		 : index == VPT_MSR_FMASK	 ? still.fmask
		 : index == VPT_MSR_SYSENTER_CS	 ? still.sysenter_cs
		 : index == VPT_MSR_SYSENTER_ESP ? still.sysenter_esp
		 : index == VPT_MSR_SYSENTER_EIP ? still.sysenter_eip
		 : index == 0xe1		 ? still.umwait_control
						 : 0;
	return 0;
}

static int get_dr(struct vpt_engine_vcpu *e, unsigned int n, uint64_t *value)
{
	(void)e;
	*value = still.dr[n];
	return 0;
}

static int set_dr(struct vpt_engine_vcpu *e, unsigned int n, uint64_t value)
{
	(void)e;
	still.dr[n] = value;
	return 0;
}

static void wrote(struct vpt_engine_vm *machine, uint64_t gpa, uint64_t bytes)
{
	(void)machine;
	if (!still.wrote || gpa < still.wrote_first)
		still.wrote_first = gpa;
	if (!still.wrote || gpa + bytes > still.wrote_end)
		still.wrote_end = gpa + bytes;
	still.wrote++;
}

static void step(struct vpt_engine_vcpu *e, const struct vpt_step_hint *hint, struct vpt_exit *exit)
{
	(void)e;
	(void)hint;
	memset(exit, 0, sizeof(*exit));
	still.step(exit);
}

static const struct vpt_engine plain = {
	.name = "still",
	.get_sregs = get_sregs,
	.set_sregs = set_sregs,
	.get_msr = get_msr,
	.get_dr = get_dr,
	.set_dr = set_dr,
	.step = step,
};

static const struct vpt_engine observing = {
	.name = "still",
	.can = VPT_ENGINE_COUNTS | VPT_ENGINE_REPORTS | VPT_ENGINE_MODES | VPT_ENGINE_DEBUG |
	       VPT_ENGINE_NEAR | VPT_ENGINE_BUS,
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
	vpt_unit_choose(&v.tracer, VPT_SYSTEM_PT);
	memset(&regs, 0, sizeof(regs));
	memset(&sregs, 0, sizeof(sregs));
	memset(&still, 0, sizeof(still));
	memset(&ev, 0, sizeof(ev));
	ck_assert_int_eq(vpt_mem_create(&vm.mem, ram), 0);
	vm.engine = software ? &observing : &plain;
	vm.caps.max_phy_addr = 39;
	ev.engine = vm.engine;
	ev.regs = &regs;
	v.vm = &vm;
	v.engine = vm.engine;
	v.ev = &ev;
	v.regs = &regs;
	v.insns = vpt_insn_cache_create();
	ck_assert_ptr_nonnull(v.insns);
}

void still_destroy(void)
{
	vpt_insn_cache_destroy(v.insns);
	vpt_mem_destroy(&vm.mem);
}

void put_bytes(uint64_t gpa, const void *bytes, size_t len)
{
	ck_assert(vpt_mem_write(&vm.mem, gpa, bytes, len));
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

	ck_assert(vpt_mem_read(&vm.mem, gpa, &value, 8));
	return value;
}

uint32_t get32(uint64_t gpa)
{
	uint32_t value = 0;

	ck_assert(vpt_mem_read(&vm.mem, gpa, &value, 4));
	return value;
}

uint16_t get16(uint64_t gpa)
{
	uint16_t value = 0;

	ck_assert(vpt_mem_read(&vm.mem, gpa, &value, 2));
	return value;
}

struct vpt_insn decode(const char *code, size_t len)
{
	struct vpt_insn_bytes bytes = {.count = (uint8_t)len};
	const struct vpt_insn *insn;
	uint8_t all[16] = {0};
	bool truncated;

	memcpy(all, code, len);
	memcpy(&bytes.low, all, 8);
	memcpy(&bytes.high, all + 8, 8);
	insn = vpt_insn_find(v.insns, regs.rip, v.bits, &bytes, &truncated);
	ck_assert_ptr_nonnull(insn);
	return *insn;
}

enum vpt_done run(const char *code, size_t len, struct vpt_exception *e)
{
	struct vpt_insn insn = decode(code, len);

	return vpt_emulate(&v, &insn, e);
}
