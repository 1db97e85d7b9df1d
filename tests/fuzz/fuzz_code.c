// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: arbitrary guest code on the software CPU, in every mode and in states that a guest
 * could set up. The code must not harm the host and must take bounded time. The result must depend
 * only on the guest. Each input therefore runs twice, with different garbage on the host's stack.
 * The second run steps single instructions or has an oracle, which takes other paths to the same
 * result. The first run then has an oracle of blocks, which must have the same records. The input
 * is the header of read_head(), then code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/irq.h"
#include "core/vcpu.h"
#include "fuzz/bytes.h"
#include "lib/hostile_seen.h"
#include "lib/samelog.h"
#include "trace/writer.h"

#define INSNS	 3000
#define RESTARTS 64
#define GUARD	 (1ull << 30)
#define NEAR	 (1ull << 20)
#define SECONDS	 8

enum { CORE = 1, HOST = 2, ORACLE = 4 };

struct head {
	struct hostile h;
	unsigned int run; /* CORE, HOST, ORACLE; else the engine alone */
	const char *model;
};

static struct head read_head(struct input *in)
{
	static const char *const models[] = {"skl", "spr", "bdw", "icx"};
	struct head head = {.h.seed = take(in, 8)};

	head.h.mode = (enum hostile_mode)(take(in, 1) % HOSTILE_MODES);
	head.h.how = (uint8_t)take(in, 1);
	head.run = (unsigned int)take(in, 1);
	head.model = models[head.run >> 4 & 3];
	head.h.start = take(in, 2) & 0xfff;
	head.h.code = in->at;
	head.h.len = in->left;
	return head;
}

/* Fill the stack below the caller with a value, as garbage for functions called later. */
static __attribute__((noinline)) void poison(uint8_t with)
{
	volatile uint8_t rubbish[48 << 10];
	size_t i;

	for (i = 0; i < sizeof(rubbish); i++)
		rubbish[i] = with;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The engine alone. */

struct machine {
	struct engine_vm *vm;
	struct engine_vcpu *v;
	struct x86_mem mem;
};

static uint8_t *guarded(void)
{
	static uint8_t *ram;

	if (!ram) {
		uint8_t *all = mmap(NULL, 2 * GUARD + HOSTILE_RAM, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		REQUIRE(all != MAP_FAILED);
		ram = all + GUARD;
		REQUIRE(!mprotect(ram, HOSTILE_RAM, PROT_READ | PROT_WRITE));
	}
	return ram;
}

static void device_io(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count,
		      void *data)
{
	struct engine_vcpu *v = opaque;

	if (in)
		memset(data, port ^ (int)v->retired, (size_t)size * count);
}

static void device_mmio(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data)
{
	struct engine_vcpu *v = opaque;

	if (!write)
		memset(data, (int)(gpa ^ v->retired), len);
}

static void create(struct machine *m, const struct head *in)
{
	const struct engine *engine = engine_find("soft");
	struct engine_cpuid_entry cpuid[CORE_CPUID_ROOM];
	size_t count = CORE_CPUID_ROOM;
	struct engine_probe probe;

	engine->probe(&probe, false);
	m->mem = (struct x86_mem){guarded(), HOSTILE_RAM};
	hostile_ram(&in->h, m->mem.host);
	REQUIRE(!engine->vm_create(&probe, &m->vm));
	REQUIRE(!engine->vm_map(m->vm, 0, 0, m->mem.host, m->mem.bytes));
	REQUIRE(!engine->supported_cpuid(m->vm, cpuid, &count));
	REQUIRE(!engine->vcpu_create(m->vm, 0, cpuid, count, &m->v));
	m->v->bus = (struct engine_bus){.io = device_io, .mmio = device_mmio, .opaque = m->v};
	hostile_vcpu(&in->h, m->v);
}

/* Continue after an instruction that the core would have emulated. */
static void skip(struct machine *m, const struct hostile *h, unsigned int n)
{
	struct x86_regs *r = m->v->regs;
	uint64_t ip = r->rip;
	struct x86_sregs s;

	r->rip = ip + 1;
	if (n % 4 == 3)
		r->rip = (h->mode == HOSTILE_REAL ? 0 : HOSTILE_CODE) + h->start + n * 13;
	REQUIRE(!m->v->engine->get_sregs(m->v, &s));
	if (!(s.efer & X86_EFER_LMA && s.cs.ar & X86_AR_L))
		r->rip = (uint32_t)r->rip;
	r->rflags &= ~X86_FL_TF;
	m->v->state |= ENGINE_REGS_DIRTY;
}

#define PAUSES 3u

/*
 * Run until an exit, until this many instructions have retired, or until a repeated instruction has
 * taken too many iterations. Then *cut is set: how many there were is not the same in each run.
 */
static struct engine_exit run_to(struct machine *m, uint64_t until, uint64_t most, bool *cut)
{
	struct engine_exit exit = {0};
	unsigned int pauses = 0;

	while (m->v->retired < until && pauses < PAUSES) {
		uint64_t left = until - m->v->retired, before = m->v->retired;

		m->v->budget = left < most ? left : most;
		m->v->engine->run(m->v, false, &exit);
		REQUIRE(m->v->retired - before <= m->v->budget);
		pauses += m->v->retired - before < m->v->budget;
		if (most != 1 || m->v->retired % 64 == 0)
			hostile_check(m->v, &m->mem);
		if (exit.kind != ENGINE_EXIT_KICK)
			break;
	}
	*cut |= pauses == PAUSES;
	return exit;
}

/* Returns false if a repeated instruction was cut, after which runs may differ. */
static bool run_engine(const struct head *in, uint64_t most, struct hostile_seen *seen)
{
	struct engine_exit exit;
	struct machine m;
	bool cut = false;
	unsigned int n;

	create(&m, in);
	for (n = 0; n < RESTARTS && m.v->retired < INSNS; n++) {
		exit = run_to(&m, INSNS, most, &cut);
		if (exit.kind == ENGINE_EXIT_CORE)
			m.v->engine->step(m.v, &(struct engine_step_hint){0}, &exit);
		skip(&m, &in->h, n);
	}
	hostile_see(m.v, seen);
	seen->more = exit.kind == ENGINE_EXIT_FAULT ? exit.fault.vector : exit.kind;
	m.vm->engine->vcpu_destroy(m.v);
	m.vm->engine->vm_destroy(m.vm);
	return !cut;
}

static void compare_engine(const struct head *in)
{
	static uint8_t ram[HOSTILE_RAM];
	struct hostile_seen one, two;
	bool whole;

	poison(0x55);
	whole = run_engine(in, UINT64_MAX, &one);
	memcpy(ram, guarded(), sizeof(ram));
	poison(0xaa);
	/* A guest that changes its page tables can observe when the TLB drops entries. */
	whole &= run_engine(in, in->h.how & HOSTILE_PAGES ? UINT64_MAX : 1, &two);
	if (!whole)
		return;
	hostile_require_same(&one, &two);
	REQUIRE(!memcmp(ram, guarded(), sizeof(ram)));
}

/* Through the core, traced. */

static uint64_t stop(void *opaque)
{
	/* TRACE_STOP_TIMEOUT is when a repeated instruction takes too long to get here. */
	core_vm_stop(opaque, TRACE_STOP_MAX_INSNS, "%s", "");
	return UINT64_MAX;
}

static void start_trace(struct core_vm *vm, const struct head *in)
{
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(OS) |
		       VPT_CTL_MASK(USER);
	uint64_t ip = vm->vcpu->regs->rip;
	struct tracer *t = &vm->vcpu->tracer;

	ctl |= in->run & HOST ? VPT_CTL_MASK(FABRIC_EN) : VPT_CTL_MASK(TOPA);
	ctl |= in->h.seed & 0x100 ? VPT_CTL_MASK(TSC_EN) : 0;
	ctl |= in->h.seed & 0x200 ? VPT_CTL_MASK(DIS_RETC) : 0;
	(void)tracer_host_write(t, VPT_MSR_OUTPUT_BASE, HOSTILE_TOPA, ip);
	(void)tracer_host_write(t, VPT_MSR_CTL, ctl, ip);
}

static void create_vm(struct core_vm *vm, const struct head *in)
{
	struct engine_probe probe;
	struct core_vm_config config = {
		.engine = engine_find("soft"),
		.probe = &probe,
		.caps = vpt_caps_model(in->model),
		.owner = in->run & HOST ? TRACE_OWNER_HOST : TRACE_OWNER_GUEST,
		.mem_bytes = HOSTILE_RAM,
	};

	config.engine->probe(&probe, false);
	REQUIRE(!core_vm_create(vm, &config));
	hostile_ram(&in->h, vm->mem.host);
	hostile_vcpu(&in->h, vm->vcpu->ev);
	core_vcpu_load(vm->vcpu);
	vm->hooks = (struct core_vm_hooks){.pause = stop, .opaque = vm};
	vm->vcpu->deadline = core_now() + 1000000000;
	vm->pause_at = vm->vcpu->ev->retired + INSNS;
	core_vcpu_pause(vm->vcpu);
}

/* Map a guard page. Return MAP_FAILED if the address is in use. */
static void *guard_at(void *at)
{
	return mmap(at, NEAR, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static struct trace_writer *record(struct core_vm *vm, const struct head *in, uint32_t oracle,
				   int fd)
{
	struct trace_file_info info = {.owner = vm->owner,
				       .caps = vm->caps,
				       .vcpus = 1,
				       .engine = "soft",
				       .oracle = !!oracle};
	struct trace_writer *w;
	char path[32];

	if (in->run & HOST)
		info.caps.l14_0_ecx |= 1u << 3;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	REQUIRE(!trace_writer_open(path, &info, &w));
	REQUIRE(!core_vcpu_record(vm->vcpu, w, oracle, &info.caps));
	return w;
}

/* Return false if the run took too long for a result. */
static bool run_core(const struct head *in, uint32_t oracle, struct hostile_seen *seen,
		     uint8_t *ram, int fd)
{
	struct core_vm vm;
	struct trace_writer *w;
	void *guard[2];
	unsigned int i;
	bool in_time;

	create_vm(&vm, in);
	guard[0] = guard_at(vm.mem.host - NEAR);
	guard[1] = guard_at(vm.mem.host + vm.mem.bytes);
	w = record(&vm, in, oracle, fd);
	start_trace(&vm, in);
	core_vcpu_loop(vm.vcpu);
	hostile_check(vm.vcpu->ev, &vm.mem);
	hostile_see(vm.vcpu->ev, seen);
	seen->more = vm.vcpu->tracer.recorder.bytes;
	memcpy(ram, vm.mem.host, HOSTILE_RAM);
	in_time = vm.stop.kind != TRACE_STOP_TIMEOUT;
	trace_writer_close(w, 0);
	for (i = 0; i < 2; i++)
		if (guard[i] != MAP_FAILED)
			munmap(guard[i], NEAR);
	core_vm_destroy(&vm);
	return in_time;
}

static void compare_logs(const int fd[2])
{
	char path[2][32], why[512] = "";
	uint64_t records;
	unsigned int i;

	for (i = 0; i < 2; i++)
		snprintf(path[i], sizeof(path[i]), "/proc/self/fd/%d", fd[i]);
	if (samelog(path[0], path[1], &records, why, sizeof(why)))
		return;
	fprintf(stderr, "%s\n", why);
	abort();
}

static void compare_core(const struct head *in)
{
	const uint32_t oracle = in->run & ORACLE ? TRACER_CONFIG_ORACLE : 0;
	static uint8_t ram[2][HOSTILE_RAM];
	int fd[2] = {memfd_create("one", 0), memfd_create("two", 0)};
	struct hostile_seen one, two;
	bool in_time;

	REQUIRE(fd[0] >= 0 && fd[1] >= 0);
	poison(0x55);
	in_time = run_core(in, oracle ? oracle | TRACER_CONFIG_BLOCKS : 0, &one, ram[0], fd[0]);
	poison(0xaa);
	in_time &= run_core(in, oracle, &two, ram[1], fd[1]);
	if (in_time) {
		hostile_require_same(&one, &two);
		REQUIRE(!memcmp(ram[0], ram[1], HOSTILE_RAM));
		if (oracle)
			compare_logs(fd);
	}
	close(fd[0]);
	close(fd[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	double before = seconds();
	struct head head = read_head(&input);

	if (head.run & CORE)
		compare_core(&head);
	else
		compare_engine(&head);
	REQUIRE(seconds() - before < SECONDS);
	return 0;
}
