// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Move a vCPU between KVM and the software CPU. Random states survive both engines, and a guest that
 * checks itself runs across many changes. Without KVM the suite is empty.
 */
#include "lib/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/descriptor.h"
#include "core/devices.h"
#include "core/init.h"
#include "core/irq.h"
#include "core/snapshot.h"
#include "core/switch.h"
#include "core/vcpu.h"
#include "engine/kvm.h"
#include "engine/state.h"

#define STATES	 200u
#define CHANGES	 1000u
#define CANON(x) ((uint64_t)((int64_t)((x) << 16) >> 16))

enum layout { RAM = 4 << 20, PML4 = 0x13000, PDPT = 0x14000, PD = 0x15000, CODE = 0x100000 };

static struct core_vm vm;
static struct engine_probe probe;
static uint64_t seed;
static int row; /* of the loop test */

/* SplitMix64. */
static uint64_t random64(void)
{
	return engine_random_mix(seed += 0x9e3779b97f4a7c15ull);
}

static void put64(uint64_t gpa, uint64_t value)
{
	ck_assert(x86_mem_write(&vm.mem, gpa, &value, sizeof(value)));
}

/* A 64-bit guest at this CPL. The tested KVM executes vector code in ring 3 only. */
static void create_with(const struct core_vm_config *config, uint8_t cpl)
{
	struct core_vcpu *v;

	ck_assert_int_eq(core_vm_create(&vm, config), 0);
	v = vm.vcpu;
	put64(PML4, PDPT | 7);
	put64(PDPT, PD | 7);
	put64(PD, 0x87);
	v->s.cs = core_flat_segment(8 | cpl, true, true, cpl);
	v->s.ds = v->s.es = v->s.fs = v->s.gs = v->s.ss =
		core_flat_segment(16 | cpl, false, false, cpl);
	v->s.cr0 = X86_CR0_PE | X86_CR0_PG | X86_CR0_WP | X86_CR0_NE | X86_CR0_ET;
	v->s.cr3 = PML4;
	v->s.cr4 = X86_CR4_PAE | X86_CR4_OSFXSR | X86_CR4_OSXMMEXCPT | X86_CR4_OSXSAVE;
	v->s.efer = X86_EFER_LME | X86_EFER_LMA | X86_EFER_NXE | X86_EFER_SCE;
	*v->regs = (struct x86_regs){.rip = CODE, .rsp = CODE, .rflags = 0x202};
	core_vcpu_store(v);
	core_irq_advance(v);
}

static void create(uint8_t cpl)
{
	const struct core_vm_config config = {
		.engine = engine_find("kvm"),
		.traced = engine_find("soft"),
		.probe = &probe,
		.caps = vpt_caps_model("skl"),
		.owner = TRACE_OWNER_NONE,
		.mem_bytes = RAM,
	};

	create_with(&config, cpl);
}

static struct engine_state *save(size_t *bytes)
{
	struct core_vcpu *v = vm.vcpu;
	struct engine_state *s;

	*bytes = v->engine->save(v->ev, NULL, 0);
	ck_assert_uint_gt(*bytes, 0);
	s = malloc(*bytes);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(v->engine->save(v->ev, s, *bytes), *bytes);
	return s;
}

static void fill(void *to, size_t bytes)
{
	uint8_t *p = to;

	while (bytes--)
		*p++ = (uint8_t)random64();
}

/* Fill the vector registers that XCR0 enables. The others keep their initial configuration. */
static void fill_vectors(struct engine_state *s)
{
	const unsigned int len = s->xcr0 & 0x40 ? 64 : s->xcr0 & 4 ? 32 : 16;
	const unsigned int count = s->xcr0 & 0x80 ? 32 : 16;
	unsigned int i;

	for (i = 0; i < count; i++)
		fill(s->zmm[i], i < 16 ? len : 64);
	if (s->xcr0 & 0x20)
		fill(s->k, sizeof(s->k));
}

static void fill_x87(struct engine_state *s)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		fill(s->x87 + ENGINE_STATE_X87_ST + i * 16, 10);
	s->x87[0] = 0x40 | (random64() & 0x3f); /* FCW */
	s->x87[1] = random64() & 0xf;
	s->x87[3] = random64() & 0x7f;	 /* FSW: the top of the stack, and conditions */
	s->x87[4] = (uint8_t)random64(); /* FTW */
	fill(s->x87 + 6, 18);		 /* FOP, FIP, FDP */
	s->x87[7] &= 7;
}

/* Change everything in a state that may have any value. */
static void randomize(struct engine_state *s)
{
	struct engine_state_msr *msr = (struct engine_state_msr *)(s + 1);
	uint32_t i;

	fill(&s->regs, sizeof(s->regs));
	s->regs.rip = CANON(s->regs.rip);
	s->regs.rflags = (s->regs.rflags & 0x244cd5) | X86_FL_FIXED;
	for (i = 0; i < 4; i++)
		s->dr[i] = CANON(random64());
	s->dr[6] = 0xffff0ff0 | (random64() & 0xe00f);
	s->dr[7] = 0x400 | (random64() & 0x3ff);
	s->gdt_base = CANON(random64());
	s->idt_base = CANON(random64());
	s->gdt_limit = (uint16_t)random64();
	s->idt_limit = (uint16_t)random64();
	s->cr2 = random64();
	s->segment[ENGINE_STATE_FS].base = CANON(random64());
	s->segment[ENGINE_STATE_GS].base = CANON(random64());
	s->mxcsr = random64() & 0xffff;
	s->retired += random64() & 0xffff;
	s->time.retired = s->retired; /* A KVM may refuse a TSC that is greater than the host's. */
	s->shadow = random64() & 1;
	fill_vectors(s);
	fill_x87(s);
	for (i = 0; i < s->msrs; i++)
		if (msr[i].index == X86_MSR_LSTAR || msr[i].index == X86_MSR_KERNEL_GS_BASE ||
		    msr[i].index == X86_MSR_SYSENTER_EIP || msr[i].index == X86_MSR_SYSENTER_ESP)
			msr[i].value = CANON(random64());
		else if (msr[i].index == X86_MSR_STAR)
			msr[i].value = random64();
		else if (msr[i].index == X86_MSR_FMASK || msr[i].index == X86_MSR_SYSENTER_CS)
			msr[i].value = (uint32_t)random64();
		else if (msr[i].index == X86_MSR_PAT)
			msr[i].value = random64() & 0x0505050505050505ull;
}

/* Return the value of an MSR in a state, or 0 if the state has none. */
static uint64_t msr_of(const struct engine_state *s, uint32_t index)
{
	const struct engine_state_msr *msr = (const struct engine_state_msr *)(s + 1);
	uint32_t i;

	for (i = 0; i < s->msrs; i++)
		if (msr[i].index == index)
			return msr[i].value;
	return 0;
}

/*
 * Compare two states without the lists behind them, and the MSRs one by one: an engine may lack an
 * MSR whose value is 0.
 */
static void check_same(const struct engine_state *a, const struct engine_state *b)
{
	struct engine_state x = *a, y = *b;
	size_t i;

	x.bytes = y.bytes = x.msrs = y.msrs = x.entries = y.entries = 0;
	for (i = 0; i < sizeof(x); i++)
		ck_assert_msg(((uint8_t *)&x)[i] == ((uint8_t *)&y)[i], "row %d, byte %zu: %x, %x",
			      row, i, ((uint8_t *)&x)[i], ((uint8_t *)&y)[i]);
	for (i = 0; i < engine_state_msr_count; i++)
		ck_assert_msg(msr_of(a, engine_state_msr[i]) == msr_of(b, engine_state_msr[i]),
			      "row %d, MSR %x", row, engine_state_msr[i]);
}

static void load(const struct engine_state *s, size_t bytes)
{
	struct core_vcpu *v = vm.vcpu;

	ck_assert_int_eq(v->engine->load(v->ev, s, bytes), 0);
}

/* save(load(x)) = x on both engines, and the state moves through both without a change. */
START_TEST(random_states_survive)
{
	const struct engine_cpuid_entry *leaf;
	struct engine_state *first, *s;
	size_t bytes, count, n;

	row = _i;
	seed = (uint64_t)_i + 1;
	create(0);
	leaf = core_cpuid_find(vm.cpuid, vm.cpuid_count, 0xd, 0);
	ck_assert_int_eq(core_switch(&vm), 0);
	ck_assert_str_eq(vm.engine->name, "soft");
	first = save(&bytes);
	/* Half of the rows have all vector registers. */
	if (_i & 1 && leaf)
		first->xcr0 = leaf->eax;
	for (n = 0; n < STATES / 10; n++) {
		randomize(first);
		first->entries = 0;
		first->bytes =
			(uint32_t)(sizeof(*first) + first->msrs * sizeof(struct engine_state_msr));
		load(first, first->bytes);
		s = save(&count);
		check_same(first, s);
		free(s);
		ck_assert_int_eq(vm.change.other->load(vm.change.ev[0], first, first->bytes), 0);
		count = vm.change.other->save(vm.change.ev[0], NULL, 0);
		s = malloc(count);
		ck_assert_uint_eq(vm.change.other->save(vm.change.ev[0], s, count), count);
		check_same(first, s);
		load(s, count);
		free(s);
	}
	free(first);
	core_vm_destroy(&vm);
}
END_TEST

/*
 * A guest counts in RBX, in memory and in XMM1, and compares them. RDTSC must not fall: R15 has the
 * last TSC. A difference ends in UD2 with no IDT, which is a triple fault.
 */
extern const char switch_start[], switch_end[];

__asm__(".pushsection .rodata\n"
	"switch_start:\n"
	"	xor	%ebx, %ebx\n"
	"	xor	%r15d, %r15d\n"
	"	movq	%rbx, %xmm1\n"
	"	mov	$1, %eax\n"
	"	movq	%rax, %xmm2\n"
	"	mov	%rbx, 0x180000\n"
	"	fninit\n"
	"	fldz\n"
	"1:	inc	%rbx\n"
	"	incq	0x180000\n"
	"	paddq	%xmm2, %xmm1\n"
	"	fld1\n"
	"	faddp\n"
	"	movq	%xmm1, %rcx\n"
	"	cmp	%rbx, %rcx\n"
	"	jne	2f\n"
	"	cmp	%rbx, 0x180000\n"
	"	jne	2f\n"
	"	fistl	0x180008\n"
	"	cmp	%ebx, 0x180008\n"
	"	jne	2f\n"
	"	rdtsc\n"
	"	shl	$32, %rdx\n"
	"	or	%rdx, %rax\n"
	"	cmp	%r15, %rax\n"
	"	jb	2f\n"
	"	mov	%rax, %r15\n"
	"	jmp	1b\n"
	"2:	ud2\n"
	"switch_end:\n"
	".popsection\n");

/*
 * Run the guest for a moment on the engine that has it. On a busy machine a moment of KVM can end
 * before its guest has begun, so the caller has patience.
 */
static void run_a_moment(uint64_t patience)
{
	struct core_vcpu *v = vm.vcpu;
	struct engine_exit exit;

	v->ev->budget = 100 + random64() % 1000;
	if (!(v->engine->can & ENGINE_COUNTS))
		ck_assert_int_eq(
			v->engine->kick_after(v->ev, (500000 + random64() % 500000) * patience), 0);
	v->engine->run(v->ev, false, &exit);
	ck_assert_msg(exit.kind == ENGINE_EXIT_KICK, "%s: exit %d at %llx", v->engine->name,
		      exit.kind, (unsigned long long)v->regs->rip);
	core_vcpu_load(v);
}

START_TEST(a_guest_runs_across_changes)
{
	uint64_t counted = 0, by_kvm = 0, before;
	unsigned int n;

	seed = 77;
	create(3);
	ck_assert(x86_mem_write(&vm.mem, CODE, switch_start, (size_t)(switch_end - switch_start)));
	vm.vcpu->way |= CORE_WAY_UNTRACED;
	for (n = 0; n < CHANGES; n++) {
		const bool kvm = !(vm.engine->can & ENGINE_COUNTS);

		before = vm.vcpu->regs->rbx;
		run_a_moment(by_kvm ? 1 : 1 + n);
		counted += vm.vcpu->regs->rbx - before;
		by_kvm += kvm ? vm.vcpu->regs->rbx - before : 0;
		if (kvm)
			vm.vcpu->way |= CORE_WAY_UNTRACED | CORE_WAY_RAN_FREE;
		ck_assert_int_eq(core_switch(&vm), 0);
	}
	ck_assert_uint_eq(vm.change.count, CHANGES);
	ck_assert_uint_eq(vm.vcpu->regs->rbx, counted);
	/* Both engines ran a part. */
	ck_assert_uint_gt(by_kvm, 0);
	ck_assert_uint_gt(counted, by_kvm);
	core_vm_destroy(&vm);
}
END_TEST

/* The software CPU runs the code that the guest has written under KVM. */
START_TEST(code_that_kvm_changed_runs)
{
	/* mov $1, %bl; jmp . -- and then mov $2, %bl */
	static const uint8_t first[] = {0xb3, 1, 0xeb, 0xfe}, second[] = {0xb3, 2, 0xeb, 0xfe};
	struct core_vcpu *v;

	create(0);
	v = vm.vcpu;
	ck_assert_int_eq(core_switch(&vm), 0);
	ck_assert(x86_mem_write(&vm.mem, CODE, first, sizeof(first)));
	run_a_moment(1);
	ck_assert_uint_eq(v->regs->rbx, 1);
	ck_assert_int_eq(core_switch(&vm), 0);
	/* The software CPU gets no report of this write. */
	ck_assert(x86_mem_write(&vm.mem, CODE, second, sizeof(second)));
	ck_assert_int_eq(core_switch(&vm), 0);
	core_vcpu_set_rip(v, CODE);
	run_a_moment(1);
	ck_assert_uint_eq(v->regs->rbx, 2);
	core_vm_destroy(&vm);
}
END_TEST

/* KVM keeps a vCPU whose event is in delivery, because the state has no events. */
START_TEST(an_event_in_delivery_stays)
{
	struct kvm_vcpu_events *events;
	uint8_t *field[5];
	size_t i;

	create(0);
	events = &((struct engine_kvm_vcpu *)vm.vcpu->ev)->run->s.regs.events;
	field[0] = &events->exception.injected;
	field[1] = &events->exception.pending;
	field[2] = &events->interrupt.injected;
	field[3] = &events->nmi.injected;
	field[4] = &events->nmi.pending;
	for (i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		*field[i] = 1;
		ck_assert_int_eq(core_switch(&vm), -EAGAIN);
		*field[i] = 0;
	}
	ck_assert_uint_eq(vm.change.count, 0);
	ck_assert_int_eq(core_switch(&vm), 0);
	core_vm_destroy(&vm);
}
END_TEST

/* KVM refuses a state whose time divides by zero, and MSRs that no state has. */
START_TEST(a_forged_state)
{
	struct engine_state_msr *msr;
	struct engine_state *s;
	size_t bytes, i;

	create(0);
	bytes = vm.engine->save(vm.vcpu->ev, NULL, 0);
	s = malloc(bytes);
	for (i = 0; i < 4; i++) {
		ck_assert_uint_eq(vm.engine->save(vm.vcpu->ev, s, bytes), bytes);
		ck_assert_uint_gt(s->msrs, 1);
		msr = (struct engine_state_msr *)(s + 1);
		if (i == 0)
			s->time.clocks = 0;
		else if (i == 1)
			s->time.ticks = 0;
		else if (i == 2)
			msr[0].index = X86_MSR_APIC_BASE;
		else
			msr[1] = msr[0];
		ck_assert_int_eq(vm.engine->load(vm.vcpu->ev, s, bytes), -EINVAL);
	}
	free(s);
	core_vm_destroy(&vm);
}
END_TEST

/* Replace the value of an MSR in a state. */
static void put_msr(struct engine_state *s, uint32_t index, uint64_t value)
{
	struct engine_state_msr *msr = (struct engine_state_msr *)(s + 1);
	uint32_t i;

	for (i = 0; i < s->msrs && msr[i].index != index; i++)
		;
	ck_assert_uint_lt(i, s->msrs);
	msr[i].value = value;
}

/* Some KVMs let a guest write these values. The software CPU takes them, and gives them back. */
START_TEST(odd_msrs_move)
{
	struct engine_state *s, *after;
	size_t bytes, count;

	create(0);
	ck_assert_int_eq(core_switch(&vm), 0);
	s = save(&bytes);
	put_msr(s, X86_MSR_PAT, 0x400007fffffe9);
	put_msr(s, X86_MSR_FMASK, 0x48000000b972f471);
	load(s, bytes);
	after = save(&count);
	check_same(s, after);
	free(after);
	/* No base of code is out of range. */
	put_msr(s, X86_MSR_LSTAR, 1ull << 62);
	ck_assert_int_eq(vm.engine->load(vm.vcpu->ev, s, bytes), -EINVAL);
	free(s);
	core_vm_destroy(&vm);
}
END_TEST

/*
 * Outside long mode a processor ignores CS.L, and KVM refuses it. The software CPU keeps the guest,
 * and KVM can have it later.
 */
START_TEST(kvm_refuses_a_state)
{
	struct core_vcpu *v;

	create(0);
	v = vm.vcpu;
	ck_assert_int_eq(core_switch(&vm), 0);
	v->s.efer = 0;
	v->s.cr0 = X86_CR0_PE | X86_CR0_ET;
	v->s.cs = core_flat_segment(8, true, false, 0);
	v->s.cs.ar |= X86_AR_L;
	core_vcpu_store(v);
	ck_assert_int_eq(core_switch(&vm), -ENOTSUP);
	ck_assert_str_eq(vm.engine->name, "soft");
	vm.change.traced_at = 0;
	v->ev->retired = 1000000;
	core_switch_poll(v);
	ck_assert_int_eq(vm.stop.kind, TRACE_STOP_NONE);
	ck_assert_uint_eq(vm.change.traced_at, 1000000);
	v->s.cs.ar &= ~(uint32_t)X86_AR_L;
	core_vcpu_store(v);
	ck_assert_int_eq(core_switch(&vm), 0);
	ck_assert_str_eq(vm.engine->name, "kvm");
	core_vm_destroy(&vm);
}
END_TEST

/* An INIT drops the exception that KVM delivers, as a processor does. */
START_TEST(init_drops_an_event)
{
	const struct dev_apic_message message = {.mode = DEV_APIC_INIT};
	struct kvm_vcpu_events events;
	struct engine_kvm_vcpu *kvm;

	create(0);
	kvm = (struct engine_kvm_vcpu *)vm.vcpu->ev;
	ck_assert_int_eq(ioctl(kvm->fd, KVM_GET_VCPU_EVENTS, &events), 0);
	events.exception.injected = 1;
	events.exception.nr = X86_VEC_GP;
	events.exception.has_error_code = 1;
	events.nmi.pending = 1;
	events.flags = KVM_VCPUEVENT_VALID_NMI_PENDING;
	ck_assert_int_eq(ioctl(kvm->fd, KVM_SET_VCPU_EVENTS, &events), 0);
	kvm->run->s.regs.events = events;
	ck_assert(dev_platform_message(&vm.platform, &message));
	ck_assert(!core_init_poll(vm.vcpu));
	ck_assert_int_eq(ioctl(kvm->fd, KVM_GET_VCPU_EVENTS, &events), 0);
	ck_assert(!events.exception.injected && !events.exception.pending && !events.nmi.pending);
	ck_assert_uint_gt(vm.engine->save(vm.vcpu->ev, NULL, 0), 0);
	core_vm_destroy(&vm);
}
END_TEST

/* The directions of a snapshot. */
static const struct direction {
	const char *from, *to;
} directions[] = {{"kvm", "soft"}, {"soft", "kvm"}, {"kvm", "kvm"}, {"soft", "soft"}};

#define SAVES	   20
#define TIMER_LEFT 0x800000u
/* The longest time between a load under KVM and its check, on a busy machine. */
#define LATE_NS 20000000000u

static struct core_vm_config config_of(const char *engine, const char *also)
{
	return (struct core_vm_config){
		.engine = engine_find(engine),
		.also = also ? engine_find(also) : NULL,
		.also_probe = &probe,
		.probe = &probe,
		.caps = vpt_caps_model("skl"),
		.owner = TRACE_OWNER_NONE,
		.mem_bytes = RAM,
	};
}

/* Write the VM to a snapshot, and end it. */
static void write_snapshot(const char *path)
{
	struct trace_file_info info = {.caps = vm.caps, .vcpus = 1};
	const struct core_snap_origin origin = {.file = &info, .guest = "test"};
	char why[160];

	snprintf(info.engine, sizeof(info.engine), "%s", vm.engine->name);
	snprintf(info.model, sizeof(info.model), "skl");
	ck_assert_msg(!core_snapshot_save(path, &vm, &origin, why, sizeof(why)), "%s", why);
}

/* Create a VM of an engine from a snapshot. */
static void read_snapshot(const char *path, const char *engine)
{
	static struct engine_cpuid_entry cpuid[CORE_CPUID_ROOM];
	struct core_vm_config config = config_of(engine, NULL);
	struct core_cpuid_gap gap;
	struct core_snapshot *s;
	char why[160];

	ck_assert_msg(!core_snapshot_open(path, &s, why, sizeof(why)), "%s", why);
	config.saved = cpuid;
	config.saved_count = CORE_CPUID_ROOM;
	config.gap = &gap;
	ck_assert(core_snapshot_cpuid(s, cpuid, &config.saved_count));
	ck_assert_int_eq(core_vm_create(&vm, &config), 0);
	ck_assert_msg(!core_snapshot_load(s, &vm, why, sizeof(why)), "%s", why);
	core_snapshot_close(s);
}

static uint64_t timer_left(void)
{
	const struct core_vcpu *v = vm.vcpu;

	return core_vcpu_counts(v) ? v->irq.timer_at - v->ev->retired : v->irq.timer_left;
}

/* The devices' time and the timer continue. The guest checks its TSC. */
static void check_continues(uint64_t ns, uint64_t left)
{
	const uint64_t late = core_devices_time(vm.vcpu) - ns;
	const uint64_t most = core_vcpu_counts(vm.vcpu) ? 1 : LATE_NS;

	ck_assert_msg(late <= most, "late by %llu ns", (unsigned long long)late);
	ck_assert(vm.vcpu->irq.pending & CORE_IRQ_TIMER_ARMED);
	ck_assert_uint_eq(timer_left(), left);
}

START_TEST(a_snapshot_changes_the_engine)
{
	const struct direction *d = &directions[_i];
	const struct core_vm_config config =
		config_of(d->from, strcmp(d->from, "kvm") ? "kvm" : "soft");
	char folder[] = "/tmp/vpt-switch-XXXXXX", path[64];
	uint64_t rbx, ns, left;
	unsigned int n;

	seed = 99 + (uint64_t)_i;
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s.vps", folder);
	create_with(&config, 3);
	ck_assert(x86_mem_write(&vm.mem, CODE, switch_start, (size_t)(switch_end - switch_start)));
	core_irq_set_timer(vm.vcpu, 0x20u << 24 | TIMER_LEFT);
	/* An engine's turn, and that of the other one. */
	for (n = 0; n < SAVES; n++) {
		if (!core_vcpu_counts(vm.vcpu)) {
			core_irq_enter_untraced(vm.vcpu);
			core_clock_release(vm.vcpu);
		}
		/* A change of the timer ends the first run of the software CPU at once. */
		run_a_moment(1);
		run_a_moment(1);
		rbx = vm.vcpu->regs->rbx;
		write_snapshot(path);
		ns = vm.platform.now;
		left = timer_left();
		/* The guest has run, and the timer does not begin again. */
		ck_assert_uint_lt(left, TIMER_LEFT);
		core_vm_destroy(&vm);
		read_snapshot(path, n % 2 ? d->from : d->to);
		ck_assert_uint_eq(vm.vcpu->regs->rbx, rbx);
		check_continues(ns, left);
	}
	ck_assert_uint_gt(vm.vcpu->regs->rbx, 0);
	core_vm_destroy(&vm);
	(void)unlink(path);
	(void)rmdir(folder);
}
END_TEST

/* An engine that cannot stop between two instructions says so, and nothing is written. */
START_TEST(a_snapshot_waits)
{
	const struct core_vm_config config = config_of("kvm", "soft");
	const struct trace_file_info info = {.caps = *vpt_caps_model("skl"), .vcpus = 1};
	const struct core_snap_origin origin = {.file = &info, .guest = "test"};
	const char *path = "/nonexistent/s.vps";
	char why[160];

	create_with(&config, 3);
	vm.vcpu->shadowed |= CORE_VCPU_NMI_BLOCKED;
	ck_assert_int_eq(core_snapshot_save(path, &vm, &origin, why, sizeof(why)), -EAGAIN);
	vm.vcpu->shadowed = 0;
	ck_assert_int_eq(core_snapshot_save(path, &vm, &origin, why, sizeof(why)), -ENOENT);
	core_vm_destroy(&vm);
}
END_TEST

TEST_SUITE("switch", NULL, NULL)
{
	engine_find("kvm")->probe(&probe, false);
	if (probe.problem) {
		fprintf(stderr, "nothing to test: %s\n", probe.problem);
		return;
	}
	tcase_set_timeout(tcase, 120);
	TEST_LOOP(tcase, 10, random_states_survive);
	TEST_ADD(tcase, a_guest_runs_across_changes, code_that_kvm_changed_runs,
		 an_event_in_delivery_stays, a_snapshot_waits, a_forged_state, odd_msrs_move,
		 kvm_refuses_a_state, init_drops_an_event);
	TEST_LOOP(tcase, (int)(sizeof(directions) / sizeof(directions[0])),
		  a_snapshot_changes_the_engine);
}
