// SPDX-License-Identifier: GPL-2.0-or-later
/* The usages that KVM offers, their VM controls and MSR areas, and requests that KVM refuses. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "tests.h"
#include "vm.h"

enum {
	SWITCH_BUFFER = 1 << 20,
	conceal = KVM_X86_PT_CONCEAL_EXEC | KVM_X86_PT_CONCEAL_EXIT | KVM_X86_PT_CONCEAL_ENTRY,
};
static const uint32_t conceal_controls =
	KVM_X86_PT_CTL_EXEC_CONCEAL | KVM_X86_PT_CTL_EXIT_CONCEAL | KVM_X86_PT_CTL_ENTRY_CONCEAL;
static const uint32_t load_clear = KVM_X86_PT_CTL_ENTRY_LOAD | KVM_X86_PT_CTL_EXIT_CLEAR;

void test_usages(void)
{
	struct kvm_x86_pt_usage usage;
	struct vm vm;
	int set;

	vm_open(&vm, false);
	set = ioctl(vm.kvm, KVM_CHECK_EXTENSION, KVM_CAP_X86_PT);
	CHECK(set == 0x1f, "usages 0x%x", (unsigned int)set);
	usage = vm_get_usage(&vm);
	CHECK(usage.usage == KVM_X86_PT_SYSTEM && !usage.flags && !usage.controls[0],
	      "the default is %u, flags 0x%x", usage.usage, usage.flags);
	CHECK(usage.allowed == 0x3f, "controls 0x%x", usage.allowed);

	CHECK(!vm_usage(&vm, KVM_X86_PT_SYSTEM, conceal), "system, concealed");
	usage = vm_get_usage(&vm);
	CHECK(usage.controls[0] == conceal_controls && usage.controls[1] == conceal_controls,
	      "concealed by 0x%x, 0x%x", usage.controls[0], usage.controls[1]);

	CHECK(!vm_usage(&vm, KVM_X86_PT_HOST, 0), "host");
	usage = vm_get_usage(&vm);
	CHECK(!usage.areas[0] && usage.areas[1] == (KVM_X86_PT_AREA_ENTRY | KVM_X86_PT_AREA_EXIT),
	      "host: areas %u, %u", usage.areas[0], usage.areas[1]);

	CHECK(!vm_usage(&vm, KVM_X86_PT_GUEST, 0), "guest");
	usage = vm_get_usage(&vm);
	CHECK(usage.controls[0] == load_clear && !usage.areas[0], "guest: controls 0x%x, areas %u",
	      usage.controls[0], usage.areas[0]);

	CHECK(!vm_usage(&vm, KVM_X86_PT_OWNED, 0), "owned");
	usage = vm_get_usage(&vm);
	CHECK(usage.controls[0] == 0x3f, "owned: controls 0x%x", usage.controls[0]);

	CHECK(!vm_usage(&vm, KVM_X86_PT_OFF, 0), "off");
	CHECK(vm_usage(&vm, 5, 0) == -EINVAL, "no such usage");
	CHECK(vm_usage(&vm, KVM_X86_PT_OFF, KVM_X86_PT_FLAGS + 1u) == -EINVAL, "no such flag");
	CHECK(vm_get_usage(&vm).usage == KVM_X86_PT_OFF, "a refusal changed the usage");
	vm_close(&vm);
}

/* kvm-intel was loaded with pt_controls that lack "load" and "clear". */
void test_areas(void)
{
	struct kvm_x86_pt_usage usage;
	struct vm vm;
	int set;

	vm_open(&vm, false);
	set = ioctl(vm.kvm, KVM_CHECK_EXTENSION, KVM_CAP_X86_PT);
	CHECK(set == 0xf, "usages 0x%x", (unsigned int)set);
	CHECK(vm_usage(&vm, KVM_X86_PT_OWNED, 0) == -EOPNOTSUPP, "owned without controls");
	CHECK(!vm_usage(&vm, KVM_X86_PT_GUEST, 0), "guest");
	usage = vm_get_usage(&vm);
	CHECK(!(usage.controls[0] & load_clear) &&
		      usage.areas[0] == (KVM_X86_PT_AREA_ENTRY | KVM_X86_PT_AREA_EXIT),
	      "guest: controls 0x%x, areas %u", usage.controls[0], usage.areas[0]);
	vm_close(&vm);
}

/*
 * kvm-intel was loaded with ept=0: there is no guest-physical output, and KVM intercepts each
 * MOV to CR3 anyway.
 */
void test_no_ept(void)
{
	struct vm vm;
	int set;

	vm_open(&vm, false);
	set = ioctl(vm.kvm, KVM_CHECK_EXTENSION, KVM_CAP_X86_PT);
	CHECK(set == 0xf, "usages 0x%x", (unsigned int)set);
	CHECK(vm_usage(&vm, KVM_X86_PT_OWNED, 0) == -EOPNOTSUPP, "owned without EPT");
	CHECK(vm_usage(&vm, KVM_X86_PT_GUEST, KVM_X86_PT_TRAP_CR3) == -EOPNOTSUPP, "trap");
	CHECK(!(vm_get_usage(&vm).allowed & KVM_X86_PT_CTL_USE_GPA), "guest-physical");
	vm_close(&vm);
}

static void *run_it(void *vm)
{
	vm_run(vm);
	return NULL;
}

static void pause_ms(long ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000};

	nanosleep(&time, NULL);
}

/* Run guest_forever with a buffer for some time. Returns the status page, or NULL. */
static const struct kvm_x86_pt_status *begin_forever(struct vm *vm, pthread_t *thread)
{
	const struct kvm_x86_pt_status *status;

	CHECK(!vm_buffer(vm, KVM_X86_PT_BUFFER_ALLOC, SWITCH_BUFFER, 0, CTL_BRANCHES), "buffer");
	status = vm_map_status(vm);
	if (!status)
		return NULL;
	vm_start(vm, guest_forever, 0);
	if (pthread_create(thread, NULL, run_it, vm))
		die("pthread_create");
	pause_ms(20);
	return status;
}

/* Let guest_forever end: its next instruction is HLT. */
static void end_forever(struct vm *vm, pthread_t thread)
{
	__atomic_store_n((volatile uint8_t *)vm->memory + VM_CODE + (guest_forever - guest_code),
			 0xf4, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
}

/* Switch the usage of a guest that never exits by itself. The ioctl forces a VM exit. */
void test_switch(void)
{
	const struct kvm_x86_pt_status *status;
	uint64_t head[3], wraps[3];
	struct kvm_regs regs;
	pthread_t thread;
	struct vm vm;

	vm_open(&vm, false);
	status = begin_forever(&vm, &thread);
	if (!CHECK(status != NULL, "status page"))
		return;
	head[0] = status->head;
	CHECK(!vm_usage(&vm, KVM_X86_PT_GUEST, 0), "guest");
	pause_ms(20);
	CHECK(!vm_usage(&vm, KVM_X86_PT_OFF, 0), "off");
	head[1] = status->head;
	wraps[1] = status->wraps;
	pause_ms(20);
	CHECK(!vm_usage(&vm, KVM_X86_PT_SYSTEM, 0), "system");
	head[2] = status->head;
	wraps[2] = status->wraps;
	CHECK(head[0] == 0, "traced before it was told to: %llu", (unsigned long long)head[0]);
	CHECK(head[1] + wraps[1] > 0, "not traced");
	CHECK(head[1] == head[2] && wraps[1] == wraps[2], "traced after it was told not to");
	printf("# %llu bytes, %llu wraps\n", (unsigned long long)head[1],
	       (unsigned long long)wraps[1]);

	end_forever(&vm, thread);
	vm_regs(&vm, &regs);
	CHECK(regs.rsi > 0, "it did not run");
	vm_close(&vm);
}

/* Returns the number of bytes in the buffer so far. */
static uint64_t traced(const struct kvm_x86_pt_status *status)
{
	return status->wraps * SWITCH_BUFFER + status->head;
}

/*
 * Change the usage of a running guest 100 times, in an order in which each usage follows each other
 * one. The buffer must grow in the periods of one usage, and only then.
 */
void test_switches(void)
{
	static const struct {
		uint32_t usage, flags;
	} all[] = {
		{KVM_X86_PT_SYSTEM, 0}, {KVM_X86_PT_SYSTEM, conceal}, {KVM_X86_PT_HOST, 0},
		{KVM_X86_PT_GUEST, 0},	{KVM_X86_PT_OWNED, 0},	      {KVM_X86_PT_OFF, 0},
	};
	const unsigned int n = sizeof(all) / sizeof(all[0]);
	unsigned int i, which = 0, periods = 0;
	const struct kvm_x86_pt_status *status;
	struct kvm_regs regs;
	uint64_t before;
	pthread_t thread;
	struct vm vm;

	vm_open(&vm, true);
	status = begin_forever(&vm, &thread);
	if (!CHECK(status != NULL, "status page"))
		return;
	for (i = 0; i < 100; i++) {
		which = (which + 1 + i / n % (n - 1)) % n;
		CHECK(!vm_usage(&vm, all[which].usage, all[which].flags), "change %u", i);
		CHECK(vm_get_usage(&vm).usage == all[which].usage, "the usage after change %u", i);
		before = traced(status);
		pause_ms(5);
		/* The last bytes of a period are in the status after the exit that ends it. */
		CHECK(!vm_usage(&vm, KVM_X86_PT_OFF, 0), "off after change %u", i);
		CHECK((traced(status) > before) == (all[which].usage == KVM_X86_PT_GUEST),
		      "%llu bytes after change %u, usage %u",
		      (unsigned long long)(traced(status) - before), i, all[which].usage);
		periods += traced(status) > before;
	}
	printf("# 100 changes of usage, %u traced periods, %llu bytes\n", periods,
	       (unsigned long long)traced(status));
	CHECK(periods >= 10, "%u traced periods", periods);
	end_forever(&vm, thread);
	vm_regs(&vm, &regs);
	CHECK(regs.rsi > 0, "it did not run");
	vm_close(&vm);
}
