// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hostile guests (lib/hostile.h, lib/hostile_acts.h) whose engine changes between KVM and the
 * software CPU at random moments. A round is one guest. It ends when the guest ends, or after some
 * parts. Every change must succeed or be refused for a documented reason. The state that one engine
 * has saved must be the same on the other one. The host must not fail. Memory and file descriptors
 * must not grow.
 * usage: hostile_switch ROUNDS [SEED [SECONDS]]
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/devices.h"
#include "core/irq.h"
#include "core/loop.h"
#include "core/switch.h"
#include "engine/kvm.h"
#include "engine/state.h"
#include "lib/hostile.h"
#include "lib/hostile_acts.h"
#include "lib/hostile_seen.h"
#include "lib/require.h"

#define RAM_BYTES    (4 * HOSTILE_RAM)
#define SHADOW_INSNS 200u
#define PARTS_MOST   60u
#define PART_NS	     20000000u
#define ROUND_NS     1000000000u /* the time limit of a guest */
#define STUCK_S	     30u
#define GROWTH_KIB   (64 << 10)
#define PEAK_KIB     (448 << 10)
#define WARM_ROUNDS  50u

enum refusal { BY_EXIT, BY_TSC, BY_STATE, NOT_PLAIN, REFUSALS };

static const char *const refusal_name[REFUSALS] = {"in an exit or a delivery", "the TSC would fall",
						   "KVM cannot have this state", "not plain"};

static const char *const stop_name[] = {
	[TRACE_STOP_NONE] = "no end",
	[TRACE_STOP_EXIT] = "exit",
	[TRACE_STOP_TIMEOUT] = "time limit",
	[TRACE_STOP_TRIPLE_FAULT] = "triple fault",
	[TRACE_STOP_HALTED] = "halted",
	[TRACE_STOP_UNABLE] = "this KVM cannot execute it",
	[TRACE_STOP_UNTRACEABLE] = "untraceable",
};

#define STOPS (sizeof(stop_name) / sizeof(stop_name[0]))

static struct {
	uint64_t rounds, to_kvm, to_soft, steps, retired;
	uint64_t refused[REFUSALS];
	uint64_t seen[2][HOSTILE_ACTS];	   /* acts in which a part ended, on each engine */
	uint64_t changed[2][HOSTILE_ACTS]; /* acts in which the engine changed, from each engine */
	uint64_t mode[HOSTILE_MODES];
	uint64_t stop[STOPS];
	uint64_t unexplained;
	uint64_t most; /* the most changes of a round */
} count;

static struct core_vm vm;
static struct core_loop loop;
static struct hostile_acts acts;
static struct engine_state last; /* the state that moved last */
static uint64_t seed, numbers;

static uint64_t next(void)
{
	return engine_random_mix(numbers += 0x9e3779b97f4a7c15ull);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(next() >> 32) % n;
}

static bool by_kvm(void)
{
	return !(vm.engine->can & ENGINE_COUNTS);
}

static void say_seed(void)
{
	char text[96];
	int n = snprintf(text, sizeof(text), "hostile_switch: again: hostile-switch 1 %llu\n",
			 (unsigned long long)seed);

	(void)!write(2, text, (size_t)n);
}

static void on_signal(int signal)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "hostile_switch: signal %d, %s\n", signal,
			 vm.engine ? vm.engine->name : "");

	(void)!write(2, text, (size_t)n);
	say_seed();
	_exit(1);
}

/* CPUID has AVX in half of the rounds: see lib/twoengines.c. */
static void create(const struct engine_probe *probe, bool avx)
{
	struct engine_cpuid_entry table[CORE_CPUID_ROOM], *one, *seven;
	struct core_vm_config config = {
		.engine = engine_find("kvm"),
		.traced = engine_find("soft"),
		.probe = probe,
		.caps = vpt_caps_model("skl"),
		.owner = TRACE_OWNER_NONE,
		.mem_bytes = RAM_BYTES,
	};

	REQUIRE(!core_vm_create(&vm, &config));
	if (!avx)
		return;
	config.cpuid = table;
	config.cpuid_count = vm.cpuid_count;
	memcpy(table, vm.cpuid, config.cpuid_count * sizeof(*table));
	core_vm_destroy(&vm);
	one = (struct engine_cpuid_entry *)core_cpuid_find(table, config.cpuid_count, 1, 0);
	seven = (struct engine_cpuid_entry *)core_cpuid_find(table, config.cpuid_count, 7, 0);
	REQUIRE(one && seven);
	one->ecx |= 1u << 26 | 1u << 28;
	seven->ebx |= 1u << 5;
	REQUIRE(!core_vm_create(&vm, &config));
}

/* The software CPU can take every state, so the guest begins there. */
static void begin(const struct hostile *h)
{
	REQUIRE(!core_switch(&vm));
	hostile_ram(h, vm.mem.host);
	core_vm_wrote_all(&vm);
	hostile_vcpu(h, vm.vcpu->ev);
	core_vcpu_load(vm.vcpu);
	/* A segment with the L bit, which has no meaning here. KVM refuses it. */
	if (!core_vcpu_long_mode(vm.vcpu) && !below(4)) {
		vm.vcpu->s.cs.ar |= X86_AR_L;
		core_vcpu_store(vm.vcpu);
	}
	core_irq_advance(vm.vcpu);
	core_loop_begin(vm.vcpu);
	vm.vcpu->deadline = core_now() + ROUND_NS;
}

/* Returns the kind of the act at RIP, or HOSTILE_ACTS. All mappings have the same low 20 bits. */
static enum hostile_act act_here(void)
{
	const struct core_vcpu *v = vm.vcpu;
	const uint64_t at = (v->regs->rip + v->s.cs.base) % HOSTILE_RAM - HOSTILE_CODE;

	return at < acts.len ? (enum hostile_act)acts.kind[at] : HOSTILE_ACTS;
}

static struct engine_state *save(const struct engine *engine, struct engine_vcpu *ev)
{
	const size_t bytes = engine->save(ev, NULL, 0);
	struct engine_state *s = malloc(bytes);

	REQUIRE(bytes && s);
	REQUIRE(engine->save(ev, s, bytes) == bytes);
	return s;
}

static uint64_t msr_of(const struct engine_state *s, uint32_t index)
{
	const struct engine_state_msr *msr = (const struct engine_state_msr *)(s + 1);
	uint32_t i;

	for (i = 0; i < s->msrs; i++)
		if (msr[i].index == index)
			return msr[i].value;
	return 0;
}

/* Check that save(load(x)) = x. An engine may lack an MSR whose value is 0. */
static void check_same(void)
{
	struct engine_state *a = save(vm.change.other, vm.change.ev[0]);
	struct engine_state *b = save(vm.engine, vm.vcpu->ev);
	size_t i;

	for (i = 0; i < engine_state_msr_count; i++)
		if (msr_of(a, engine_state_msr[i]) != msr_of(b, engine_state_msr[i])) {
			fprintf(stderr, "to %s: MSR %#x: %#llx, %#llx\n", vm.engine->name,
				engine_state_msr[i],
				(unsigned long long)msr_of(a, engine_state_msr[i]),
				(unsigned long long)msr_of(b, engine_state_msr[i]));
			abort();
		}
	a->bytes = b->bytes = a->msrs = b->msrs = a->entries = b->entries = 0;
	for (i = 0; i < sizeof(*a) && ((uint8_t *)a)[i] == ((uint8_t *)b)[i]; i++)
		;
	if (i < sizeof(*a)) {
		fprintf(stderr, "to %s: byte %zu of the state: %#x, %#x\n", vm.engine->name, i,
			((uint8_t *)a)[i], ((uint8_t *)b)[i]);
		abort();
	}
	memcpy(&last, b, sizeof(last));
	free(a);
	free(b);
}

/* The reasons of KVM not to save: vmm/engine/kvm_save.c. */
static bool kvm_is_busy(void)
{
	const struct engine_kvm_vcpu *v = (const struct engine_kvm_vcpu *)vm.vcpu->ev;
	const struct kvm_vcpu_events *e = &v->run->s.regs.events;

	if (engine_kvm_assists(v->vm) && v->base.regs->rip == ENGINE_KVM_SYSCALL_TRAP)
		return true;
	return v->state & ENGINE_KVM_IN_EXIT || e->exception.injected || e->exception.pending ||
	       e->interrupt.injected || e->nmi.injected || e->nmi.pending;
}

/* Returns true if the TSC of the software CPU is ahead of the one that KVM would have. */
static bool tsc_is_ahead(uint64_t kvms)
{
	const struct engine_vcpu *ev = vm.vcpu->ev;

	return (int64_t)(engine_time_read(&ev->time, ev->retired) - kvms) > 0;
}

static void change(void)
{
	const bool from_kvm = by_kvm();
	const enum hostile_act act = act_here();
	struct vpt_clock now;
	uint64_t tsc = 0;
	int error;

	/* core_switch_poll() does not move such a vCPU to KVM either. */
	if (!from_kvm && !core_switch_is_plain(vm.vcpu)) {
		count.refused[NOT_PLAIN]++;
		return;
	}
	if (!from_kvm)
		vm.change.other->clock(vm.change.ev[0], &now, &tsc);
	error = core_switch(&vm);
	if (error == -EAGAIN) {
		REQUIRE(from_kvm ? kvm_is_busy() : tsc_is_ahead(tsc));
		count.refused[from_kvm ? BY_EXIT : BY_TSC]++;
		return;
	}
	if (error == -ENOTSUP && !from_kvm) {
		count.refused[BY_STATE]++;
		return;
	}
	if (error) {
		fprintf(stderr, "the change from %s at %#llx failed: %s\n", vm.engine->name,
			(unsigned long long)vm.vcpu->regs->rip, strerror(-error));
		abort();
	}
	check_same();
	*(from_kvm ? &count.to_soft : &count.to_kvm) += 1;
	if (act < HOSTILE_ACTS)
		count.changed[from_kvm][act]++;
}

/* Run to a place that only the software CPU knows, such as the shadow of MOV SS. */
static void run_to_shadow(void)
{
	struct core_vcpu *v = vm.vcpu;
	unsigned int n;

	for (n = 0; n < SHADOW_INSNS && core_switch_is_plain(v) && !vm.stop.kind; n++) {
		v->pause_at = v->ev->retired + 1;
		if (core_loop_exact(v, &loop))
			core_loop_poll(v);
	}
	v->pause_at = UINT64_MAX;
}

static void run_soft(void)
{
	struct core_vcpu *v = vm.vcpu;
	const uint32_t most[] = {1, 20, 3000, 3000};
	const uint64_t until = v->ev->retired + 1 + below(most[below(4)]);
	const uint64_t end = core_now() + PART_NS;

	/* An instruction with REP can take very long, and some guests only wait. */
	while (v->ev->retired < until && core_now() < end && !vm.stop.kind) {
		v->pause_at = until;
		if (core_loop_exact(v, &loop))
			core_loop_poll(v);
	}
	v->pause_at = UINT64_MAX;
	if (!below(4))
		run_to_shadow();
	/* The time that a HLT skips puts the guest's TSC ahead of the host's. */
	if (!below(16))
		core_devices_idle(v, below(1u << 22));
	hostile_check(v->ev, &vm.mem);
}

static void run_kvm(void)
{
	struct core_vcpu *v = vm.vcpu;
	const uint64_t until = core_now() + below(300000);
	unsigned int left = 1 + below(20);

	/* KVM is stepped in long mode only. */
	if (core_vcpu_long_mode(v) && !below(4)) {
		for (; left && !vm.stop.kind && core_vcpu_long_mode(v); left--, count.steps++)
			core_vcpu_step(v);
		return;
	}
	do {
		v->next_tick = until;
		v->pending &= ~(uint32_t)CORE_VCPU_KICK_ARMED;
		core_loop_free(v);
	} while (core_now() < until && !vm.stop.kind);
}

static void check_stop(void)
{
	const unsigned int kind = (unsigned int)vm.stop.kind;

	/* A step of KVM that does nothing, such as LIDT from a device. The core does not hide it. */
	if (kind == TRACE_STOP_UNEXPLAINED && by_kvm()) {
		count.unexplained++;
		return;
	}
	if (kind < STOPS && stop_name[kind]) {
		count.stop[kind]++;
		return;
	}
	fprintf(stderr, "the guest on %s ended as no guest may: stop %u, %s\n", vm.engine->name,
		kind, vm.stop.text);
	fprintf(stderr, "last change: %#llx, CR0 %#llx, CR4 %#llx, EFER %#llx, CS %#x\n",
		(unsigned long long)last.regs.rip, (unsigned long long)last.cr0,
		(unsigned long long)last.cr4, (unsigned long long)last.efer,
		last.segment[ENGINE_STATE_CS].attributes);
	abort();
}

static void play(const struct engine_probe *probe)
{
	struct hostile h = {.seed = seed};
	unsigned int parts, before;
	enum hostile_act act;

	numbers = engine_random_mix(seed + 1);
	h.seed = next();
	/* Mostly the modes and the state of a usual system, which live longer. */
	h.mode = below(3) ? HOSTILE_LONG : (enum hostile_mode)below(HOSTILE_MODES);
	h.how = below(2) ? below(256) : below(256) & below(256) & below(256);
	h.start = 0;
	hostile_acts_make(&acts, next(), h.mode);
	h.code = acts.code;
	h.len = acts.len;
	create(probe, below(2));
	begin(&h);
	before = (unsigned int)vm.change.count;
	for (parts = 4 + below(PARTS_MOST); parts && !vm.stop.kind; parts--) {
		if (by_kvm())
			run_kvm();
		else
			run_soft();
		act = act_here();
		if (act < HOSTILE_ACTS)
			count.seen[by_kvm()][act]++;
		if (!vm.stop.kind && below(4))
			change();
	}
	check_stop();
	if (vm.change.count - before > count.most)
		count.most = vm.change.count - before;
	count.mode[h.mode]++;
	count.retired += vm.vcpu->ev->retired;
	count.rounds++;
	core_vm_destroy(&vm);
}

static unsigned int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int n = 0;

	REQUIRE(folder);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n;
}

static long peak_kib(void)
{
	struct rusage usage;

	REQUIRE(!getrusage(RUSAGE_SELF, &usage));
	return usage.ru_maxrss;
}

/* The memory in use. No guest exists at this time. */
static long now_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long size, pages;

	REQUIRE(f && fscanf(f, "%ld %ld", &size, &pages) == 2);
	fclose(f);
	return pages * 4;
}

/* Returns true if memory has grown since the first rounds, or a guest had too much. */
static bool grows(unsigned int files, long kib)
{
	return open_files() != files || now_kib() - kib > GROWTH_KIB || peak_kib() > PEAK_KIB;
}

/* Print a count. Returns 1 if it is zero. */
static unsigned int say(const char *what, const char *which, uint64_t n)
{
	printf("# %s%s: %llu\n", what, which, (unsigned long long)n);
	return !n;
}

/* Print all counts. Returns the number of those that are zero and must not be. */
static unsigned int say_counts(void)
{
	unsigned int zeroes = 0, i;

	zeroes += say("changes to KVM", "", count.to_kvm);
	zeroes += say("changes to the software CPU", "", count.to_soft);
	zeroes += say("most changes of a round", "", count.most);
	zeroes += say("steps of KVM", "", count.steps);
	zeroes += say("instructions of the software CPU", "", count.retired);
	for (i = 0; i < REFUSALS; i++)
		zeroes += say("refused: ", refusal_name[i], count.refused[i]);
	for (i = 0; i < HOSTILE_ACTS; i++) {
		zeroes += say("ended on soft in ", hostile_act_name[i], count.seen[0][i]);
		zeroes += say("ended on kvm in ", hostile_act_name[i], count.seen[1][i]);
		zeroes += say("changed to kvm in ", hostile_act_name[i], count.changed[0][i]);
		zeroes += say("changed to soft in ", hostile_act_name[i], count.changed[1][i]);
	}
	for (i = 0; i < HOSTILE_MODES; i++)
		zeroes += say("guests of mode ", (const char[]){(char)('0' + i), 0}, count.mode[i]);
	for (i = 0; i < STOPS; i++)
		if (stop_name[i])
			(void)say("end: ", stop_name[i], count.stop[i]);
	(void)say("end: ", "a step of KVM without an effect", count.unexplained);
	zeroes += !count.stop[TRACE_STOP_TRIPLE_FAULT] + !count.stop[TRACE_STOP_NONE];
	return zeroes;
}

static void catch_signals(void)
{
	static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM};
	struct sigaction action = {.sa_handler = on_signal};
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/*
 * Returns true if more rounds are needed. Whether the TSC would fall depends on the host's clock, and
 * in some series of rounds it never does.
 */
static bool is_rare(uint64_t done, uint64_t rounds)
{
	return rounds > 1 && done < 4 * rounds && !count.refused[BY_TSC];
}

int main(int argc, char **argv)
{
	const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;
	const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const uint64_t most_ns = (argc > 3 ? strtoull(argv[3], NULL, 0) : 86400) * 1000000000;
	const uint64_t start = core_now();
	struct engine_probe probe;
	unsigned int files = 0, zeroes;
	long kib = 0;

	engine_find("kvm")->probe(&probe, false);
	if (probe.problem) {
		fprintf(stderr, "hostile_switch: no KVM: %s\n", probe.problem);
		return 1;
	}
	catch_signals();
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(say_seed);
	for (seed = first; seed - first < rounds || is_rare(seed - first, rounds); seed++) {
		if (core_now() - start >= most_ns)
			break;
		if (seed - first == WARM_ROUNDS) {
			files = open_files();
			kib = now_kib();
		}
		alarm(STUCK_S);
		play(&probe);
	}
	alarm(0);
	zeroes = say_counts();
	printf("# memory: %ld KiB at most, %ld KiB more; files: %u, %u\n", peak_kib(),
	       now_kib() - kib, open_files(), files);
	if (count.rounds > 1 && zeroes)
		printf("not ");
	printf("ok 1 - %llu hostile guests from seed %llu on, %u counts are zero\n",
	       (unsigned long long)count.rounds, (unsigned long long)first, zeroes);
	if (files && grows(files, kib))
		printf("not ");
	printf("ok 2 - memory and files do not grow\n1..2\n");
	return (count.rounds > 1 && zeroes) || (files && grows(files, kib));
}
