// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM: probe the features of this machine by test runs. */
#include "engine/kvm_tiny.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "vpt/msr.h"

#define COST_STEPS 2000
#define VECTOR_DB  1
#define VECTOR_UD  6
#define VECTOR_PF  14

static const uint8_t code_nop[] = {0x90};
static const uint8_t code_ud2[] = {0x0f, 0x0b};
static const uint8_t code_jmp[] = {0xeb, 0xfe};
static const uint8_t code_syscall[] = {0x0f, 0x05};
static const uint8_t code_int[] = {0xcd, 0x30};
static const uint8_t code_rdmsr[] = {0x0f, 0x32};
static const uint8_t code_cpuid[] = {0x0f, 0xa2, 0xf4}; /* cpuid; hlt */

static const struct engine_step_hint plain;

/* Call engine_tiny_create(), and note in @probe if there was no memory. */
static int create(struct engine_tiny *t, struct engine_probe *probe, const struct engine_probe *as,
		  unsigned int ring, const void *code, size_t len)
{
	int err = engine_tiny_create(t, as, ring, code, len);

	probe->no_memory |= err == -ENOMEM;
	return err;
}

/* Run at full speed, and ignore signals. */
static void run(struct engine_tiny *t, struct engine_exit *exit)
{
	do
		engine_kvm_run(&t->v->base, false, exit);
	while (exit->kind == ENGINE_EXIT_KICK);
}

/*
 * Find how KVM ends the step of a NOP. The engine accepts a triple fault as the end of a step here,
 * so that the two ways differ only in the exit reason.
 */
static enum engine_step_way try_step(struct engine_probe *probe, unsigned int ring)
{
	struct engine_probe as = *probe;
	enum engine_step_way way = ENGINE_STEP_NONE;
	struct engine_exit exit;
	struct engine_tiny t;

	as.fault = ENGINE_FAULT_WAY_EVENT;
	as.syscall = as.soft_int = true;
	as.step[ring == 3] = ENGINE_STEP_SHUTDOWN;
	if (create(&t, probe, &as, ring, code_nop, sizeof(code_nop)))
		return ENGINE_STEP_NONE;
	engine_kvm_step(&t.v->base, &plain, &exit);
	if (exit.kind == ENGINE_EXIT_NONE && t.v->base.regs->rip == ENGINE_TINY_CODE + 1)
		way = t.v->run->exit_reason == KVM_EXIT_DEBUG ? ENGINE_STEP_EXIT
							      : ENGINE_STEP_SHUTDOWN;
	engine_tiny_destroy(&t);
	return way;
}

/*
 * The faults to raise in sequence. Neighbours differ, so that no stale fault is taken for a new
 * one. #DE has vector 0, and some KVMs report only exceptions that they intercepted.
 */
static const struct {
	uint8_t code[3], len;
	uint8_t vector;
	bool has_error;
} faults[] = {
	{{0x0f, 0x0b}, 2, 6, false},	   /* ud2 */
	{{0xf7, 0xf1}, 2, 0, false},	   /* div %ecx */
	{{0x48, 0x8b, 0x00}, 3, 14, true}, /* mov (%rax), %rax */
	{{0x48, 0x8b, 0x02}, 3, 13, true}, /* mov (%rdx), %rax */
	{{0x0f, 0x0b}, 2, 6, false},	   {{0x48, 0x8b, 0x02}, 3, 13, true},
	{{0xf7, 0xf1}, 2, 0, false},
};

#define FAULTS	    (sizeof(faults) / sizeof(faults[0]))
#define FAULT_BYTES 16

static bool is_fault(const struct engine_exit *exit, size_t i, unsigned int ring)
{
	const struct engine_exception *e = &exit->fault;

	if (exit->kind != ENGINE_EXIT_FAULT || e->vector != faults[i].vector ||
	    e->has_error != faults[i].has_error)
		return false;
	if (e->vector != VECTOR_PF)
		return !e->has_error || !e->error;
	return e->error == (ring == 3 ? 4u : 0) && e->cr2 == ENGINE_TINY_UNMAPPED;
}

/* Returns true if a step that faults reports everything needed to deliver the fault. */
static bool try_faults_in(struct engine_probe *probe, unsigned int ring, enum engine_fault_way way)
{
	struct engine_probe as = *probe;
	uint8_t code[FAULTS * FAULT_BYTES] = {0};
	struct engine_exit exit;
	struct engine_tiny t;
	bool ok = true;
	size_t i;

	as.fault = way;
	as.syscall = as.soft_int = true;
	for (i = 0; i < FAULTS; i++)
		memcpy(code + i * FAULT_BYTES, faults[i].code, faults[i].len);
	if (create(&t, probe, &as, ring, code, sizeof(code)))
		return false;
	for (i = 0; ok && i < FAULTS; i++) {
		struct x86_regs *regs = t.v->base.regs;
		uint64_t ip = ENGINE_TINY_CODE + i * FAULT_BYTES;

		regs->rip = ip;
		regs->rax = ENGINE_TINY_UNMAPPED;
		regs->rcx = 0;
		regs->rdx = 1ull << 63;
		t.v->base.state |= ENGINE_REGS_DIRTY;
		engine_kvm_step(&t.v->base, &plain, &exit);
		ok = is_fault(&exit, i, ring) && regs->rip == ip;
	}
	engine_tiny_destroy(&t);
	return ok;
}

static bool try_faults(struct engine_probe *probe, enum engine_fault_way way)
{
	return try_faults_in(probe, 0, way) && (!probe->step[1] || try_faults_in(probe, 3, way));
}

/* Returns true if a triple fault loses registers or MSRs. */
static bool try_shutdown_resets(struct engine_probe *probe)
{
	struct engine_probe as = *probe;
	struct engine_tiny t;
	uint64_t star = 0;
	bool same;

	as.syscall = as.soft_int = true;
	if (create(&t, probe, &as, 0, code_ud2, sizeof(code_ud2)))
		return true;
	engine_kvm_set_msr(&t.v->base, X86_MSR_STAR, 0x0020000800000000ull);
	engine_kvm_hide_idt(t.v);
	t.v->base.regs->rbx = 0x1234;
	same = !engine_kvm_enter_fully(t.v) && t.v->run->exit_reason == KVM_EXIT_SHUTDOWN &&
	       t.v->base.regs->rip == ENGINE_TINY_CODE && t.v->base.regs->rbx == 0x1234 &&
	       !engine_kvm_get_msr(&t.v->base, X86_MSR_STAR, &star) &&
	       star == 0x0020000800000000ull;
	engine_tiny_destroy(&t);
	return !same;
}

/* Run from ring 3 at full speed. Returns true if the guest reaches HLT in ring 0. */
static bool try_to_ring0(struct engine_probe *probe, const uint8_t *code, size_t len)
{
	struct engine_probe as = *probe;
	struct engine_exit exit;
	struct engine_tiny t;
	bool ok;

	as.syscall = as.soft_int = true;
	if (create(&t, probe, &as, 3, code, len))
		return false;
	engine_kvm_set_msr(&t.v->base, X86_MSR_STAR, 0x0020000800000000ull);
	engine_kvm_set_msr(&t.v->base, X86_MSR_LSTAR, ENGINE_TINY_HANDLER);
	run(&t, &exit);
	ok = exit.kind == ENGINE_EXIT_HLT && t.v->run->s.regs.sregs.ss.dpl == 0;
	/* #GP or #UD use the same handler, but another frame. */
	if (code == code_int)
		ok = ok && t.v->base.regs->rsp == ENGINE_TINY_STACK - 5 * 8 &&
		     *(uint64_t *)(t.ram + ENGINE_TINY_STACK - 5 * 8) == ENGINE_TINY_CODE + len;
	else
		ok = ok && t.v->base.regs->rcx == ENGINE_TINY_CODE + len &&
		     t.v->base.regs->rsp == ENGINE_TINY_STACK - 0x1000;
	engine_tiny_destroy(&t);
	return ok;
}

static bool try_msr_exit(struct engine_probe *probe)
{
	static const struct engine_msr_range range = {VPT_MSR_FIRST, 64, true, true};
	struct engine_probe as = *probe;
	struct engine_exit exit;
	struct engine_tiny t;
	bool ok;

	as.syscall = as.soft_int = true;
	if (create(&t, probe, &as, 0, code_rdmsr, sizeof(code_rdmsr)))
		return false;
	t.v->base.regs->rcx = VPT_MSR_CTL;
	ok = !engine_kvm_trap_msrs(t.vm, &range, 1);
	if (ok) {
		run(&t, &exit);
		ok = exit.kind == ENGINE_EXIT_RDMSR && exit.msr.index == VPT_MSR_CTL;
	}
	engine_tiny_destroy(&t);
	return ok;
}

static bool try_cpuid(struct engine_probe *probe)
{
	struct engine_probe as = *probe;
	struct engine_exit exit;
	struct engine_tiny t;
	bool ok;

	as.syscall = as.soft_int = true;
	if (create(&t, probe, &as, 0, code_cpuid, sizeof(code_cpuid)))
		return false;
	t.v->base.regs->rax = 7;
	run(&t, &exit);
	ok = exit.kind == ENGINE_EXIT_HLT && t.v->base.regs->rbx & 1u << 25;
	engine_tiny_destroy(&t);
	return ok;
}

static uint32_t step_cost(struct engine_probe *probe, unsigned int ring)
{
	struct timespec from, to;
	struct engine_exit exit = {.kind = ENGINE_EXIT_NONE};
	struct engine_tiny t;
	int64_t ns;
	int i;

	if (!probe->step[ring == 3] || create(&t, probe, probe, ring, code_jmp, sizeof(code_jmp)))
		return 0;
	engine_kvm_step(&t.v->base, &plain, &exit);
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < COST_STEPS && exit.kind == ENGINE_EXIT_NONE; i++)
		engine_kvm_step(&t.v->base, &plain, &exit);
	clock_gettime(CLOCK_MONOTONIC, &to);
	engine_tiny_destroy(&t);
	ns = (to.tv_sec - from.tv_sec) * 1000000000ll + to.tv_nsec - from.tv_nsec;
	return (uint32_t)(ns / COST_STEPS);
}

static void probe_host(struct engine_probe *probe)
{
	uint32_t a, b, c, d;

	probe->hardware = "none";
	if (__get_cpuid(1, &a, &b, &c, &d) && c & 1u << 5)
		probe->hardware = "VMX";
	else if (__get_cpuid(0x80000001, &a, &b, &c, &d) && c & 1u << 2)
		probe->hardware = "SVM";
	probe->host_pt = __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 25;
}

void engine_kvm_probe_device(struct engine_probe *probe)
{
	int fd;

	memset(probe, 0, sizeof(*probe));
	probe_host(probe);
	fd = engine_kvm_open(probe);
	if (fd >= 0) {
		int wanted = KVM_SYNC_X86_REGS | KVM_SYNC_X86_SREGS | KVM_SYNC_X86_EVENTS;

		probe->api_version = ioctl(fd, KVM_GET_API_VERSION, 0);
		probe->sync_regs =
			(ioctl(fd, KVM_CHECK_EXTENSION, KVM_CAP_SYNC_REGS) & wanted) == wanted;
		close(fd);
	}
	if (probe->api_version == KVM_API_VERSION && probe->sync_regs)
		probe->msr_exits = try_msr_exit(probe);
}

const char *engine_kvm_problem(const struct engine_probe *probe)
{
	if (!probe->device && probe->error == ENOENT)
		return "there is no /dev/kvm: load the kvm module of this processor, or enable "
		       "(nested) virtualization in the firmware or the outer hypervisor";
	if (!probe->device && (probe->error == EACCES || probe->error == EPERM))
		return "no permission to open /dev/kvm: join the group kvm, or run as root";
	if (!probe->device)
		return "/dev/kvm does not open";
	if (probe->no_memory)
		return "there is no memory to try out what KVM can do";
	if (probe->api_version != KVM_API_VERSION)
		return "KVM's API version is not 12: use a newer kernel";
	if (!probe->sync_regs)
		return "KVM lacks KVM_CAP_SYNC_REGS: use Linux 4.17 or newer";
	if (!probe->msr_exits)
		return "KVM lacks exits for chosen MSRs (KVM_X86_SET_MSR_FILTER): use Linux 5.10 "
		       "or newer";
	return NULL;
}

static const char *no_apic(const struct engine_probe *probe)
{
	struct engine_probe unused;
	const int dev = engine_kvm_open(&unused);
	const char *why = dev < 0 ? "/dev/kvm does not open" : engine_kvm_no_apic(probe, dev);

	if (dev >= 0)
		close(dev);
	return why;
}

void engine_kvm_probe(struct engine_probe *probe, bool with_costs)
{
	engine_kvm_probe_device(probe);
	if (probe->api_version == KVM_API_VERSION && probe->sync_regs) {
		probe->cpuid_pt = try_cpuid(probe);
		probe->shutdown_resets = try_shutdown_resets(probe);
		probe->step[0] = try_step(probe, 0);
		probe->step[1] = try_step(probe, 3);
		if (try_faults(probe, ENGINE_FAULT_WAY_EVENT))
			probe->fault = ENGINE_FAULT_WAY_EVENT;
		else if (try_faults(probe, ENGINE_FAULT_WAY_REPLAY))
			probe->fault = ENGINE_FAULT_WAY_REPLAY;
		probe->syscall = try_to_ring0(probe, code_syscall, sizeof(code_syscall));
		probe->soft_int = try_to_ring0(probe, code_int, sizeof(code_int));
		if (with_costs) {
			probe->step_ns[0] = step_cost(probe, 0);
			probe->step_ns[1] = step_cost(probe, 3);
		}
	}
	probe->no_apic = no_apic(probe);
	probe->problem = engine_kvm_problem(probe);
	if (!probe->problem && (!probe->step[0] || !probe->fault))
		probe->problem =
			"single steps of ring 0 are not exact on this KVM: use another KVM";
}
