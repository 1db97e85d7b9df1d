// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of a snapshot, one by one: what is saved is what is loaded, and what none of
 * them can have saved is refused.
 */
#include "lib/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "boot/boot.h"
#include "core/irq.h"
#include "core/snapshot.h"
#include "core/vcpu.h"
#include "core/vcpu_save.h"
#include "pt/code_pages.h"
#include "trace/writer.h"

enum { MEM = 1 << 20, CODE = 0x20000 };

static void create(struct core_vm *vm)
{
	struct engine_probe probe;
	const struct core_vm_config config = {
		.engine = engine_find("soft"),
		.probe = &probe,
		.caps = vpt_caps_model("skl"),
		.owner = TRACE_OWNER_GUEST,
		.mem_bytes = MEM,
	};
	const struct boot_elf elf = {.entry = CODE, .end = CODE + X86_PAGE_SIZE};
	const struct boot_config boot = {.seed = 1};

	config.engine->probe(&probe, false);
	ck_assert_int_eq(core_vm_create(vm, &config), 0);
	ck_assert_int_eq(boot_guest(vm, &elf, &boot), 0);
}

/* The engine's state of a machine that has run a little. */
static uint8_t *engine_state(size_t *bytes)
{
	/* fninit; fldpi; mov %rsp, (%rsp); pxor %xmm1, %xmm1; jmp . */
	static const uint8_t code[] = {0xdb, 0xe3, 0xd9, 0xeb, 0x48, 0x89, 0x24,
				       0x24, 0x66, 0x0f, 0xef, 0xc9, 0xeb, 0xfe};
	struct engine_vcpu *ev;
	struct engine_exit exit;
	struct core_vm vm;
	uint8_t *state;

	create(&vm);
	ev = vm.vcpu->ev;
	ck_assert(x86_mem_write(&vm.mem, CODE, code, sizeof(code)));
	ev->budget = 100;
	vm.engine->run(ev, false, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_KICK);
	ck_assert_uint_eq(ev->retired, 100);
	*bytes = vm.engine->save(ev, NULL, 0);
	state = malloc(*bytes);
	ck_assert_uint_eq(vm.engine->save(ev, state, *bytes), *bytes);
	core_vm_destroy(&vm);
	return state;
}

static int load(const void *state, size_t bytes)
{
	struct core_vm vm;
	int error;

	create(&vm);
	error = vm.engine->load(vm.vcpu->ev, state, bytes);
	core_vm_destroy(&vm);
	return error;
}

START_TEST(engine_is_the_same)
{
	size_t bytes, again;
	uint8_t *state = engine_state(&bytes), *other = malloc(bytes);
	struct core_vm vm;

	create(&vm);
	ck_assert_int_eq(vm.engine->load(vm.vcpu->ev, state, bytes), 0);
	ck_assert_uint_eq(vm.vcpu->ev->retired, 100);
	again = vm.engine->save(vm.vcpu->ev, other, bytes);
	ck_assert_uint_eq(again, bytes);
	ck_assert_mem_eq(state, other, bytes);
	core_vm_destroy(&vm);
	free(state);
	free(other);
}
END_TEST

/* Where things are in what the software CPU saves. */
enum {
	AT_MAGIC = 0,
	AT_BYTES = 4,
	AT_MSRS = 8,
	AT_ENTRIES = 12,
	AT_RFLAGS = 16 + 17 * 8,
	AT_CS = 160,
	AT_SHADOW = 308,
	AT_CR0 = 312,
	AT_CR3 = 328,
	AT_CR4 = 336,
	AT_EFER = 344,
	AT_DR7 = 352 + 7 * 8,
	AT_TIME = 424,
	AT_TICKS = AT_TIME + 32,
	AT_CLOCKS = AT_TIME + 36,
	AT_XCR0 = 464,
	AT_MXCSR = 472,
	AT_X87 = 544 + 2048,
	AT_MSR = AT_X87 + 160 + 16,
};

static const struct change {
	const char *what;
	size_t at, bytes;
	uint64_t value;
} changes[] = {
	{"another magic", AT_MAGIC, 4, 0},
	{"another length", AT_BYTES, 4, 16},
	{"more MSRs", AT_MSRS, 4, 50},
	{"very many MSRs", AT_MSRS, 4, ~0u},
	{"more TLB entries", AT_ENTRIES, 4, 4},
	{"very many TLB entries", AT_ENTRIES, 4, ~0u},
	{"reserved bits of RFLAGS", AT_RFLAGS, 8, 0x8002},
	{"RFLAGS without its fixed bit", AT_RFLAGS, 8, 0},
	{"virtual-8086 mode in long mode", AT_RFLAGS, 8, 0x20002},
	{"attributes that no segment has", AT_CS + 14, 2, 0xffff},
	{"code of 64 and of 32 bits", AT_CS + 14, 2, 0xfdb},
	{"two shadows", AT_SHADOW, 4, 2},
	{"reserved bits of CR0", AT_CR0, 8, 1ull << 40 | 0x80010033},
	{"paging without protection", AT_CR0, 8, 0x80010032},
	{"NW without CD", AT_CR0, 8, 0xa0010033},
	{"CR3 beyond the address width", AT_CR3, 8, 1ull << 51},
	{"reserved bits of CR4", AT_CR4, 8, 1ull << 40 | 0x40620},
	{"long mode without PAE", AT_CR4, 8, 0x40600},
	{"reserved bits of EFER", AT_EFER, 8, 1ull << 40 | 0xd01},
	{"LME and paging, but not LMA", AT_EFER, 8, 0x901},
	{"LMA alone", AT_EFER, 8, 0xc01},
	{"reserved bits of DR7", AT_DR7, 8, 1ull << 32},
	{"a time that is to come", AT_TIME, 8, 1ull << 40},
	{"another TSC", AT_TICKS, 4, 33},
	{"a core clock that stands still", AT_CLOCKS, 4, 0},
	{"a core clock that no CBR has", AT_CLOCKS, 4, 256},
	{"XCR0 without x87", AT_XCR0, 8, 2},
	{"XCR0 with what there is not", AT_XCR0, 8, 1ull << 40 | 1},
	{"AVX without SSE", AT_XCR0, 8, 5},
	{"half of AVX-512", AT_XCR0, 8, 0x27},
	{"reserved bits of MXCSR", AT_MXCSR, 4, 1u << 20},
	{"FCW without its fixed bit", AT_X87, 2, 0x33f},
	{"an x87 exception that is not summarized", AT_X87, 4, 0x00010040},
	{"an MSR that there is not", AT_MSR, 4, 0x12345},
};

START_TEST(engine_refuses)
{
	const struct change *c = &changes[_i];
	uint8_t *state;
	size_t bytes;

	state = engine_state(&bytes);
	memcpy(state + c->at, &c->value, c->bytes);
	ck_assert_msg(load(state, bytes) == -EINVAL, "%s", c->what);
	free(state);
}
END_TEST

/* The places of the table above are those of the format. */
START_TEST(engine_layout)
{
	uint64_t cr0, cr4, efer, xcr0, rflags;
	uint32_t mxcsr, msrs, entries;
	size_t bytes;
	uint8_t *state = engine_state(&bytes);

	memcpy(&rflags, state + AT_RFLAGS, 8);
	memcpy(&cr0, state + AT_CR0, 8);
	memcpy(&cr4, state + AT_CR4, 8);
	memcpy(&efer, state + AT_EFER, 8);
	memcpy(&xcr0, state + AT_XCR0, 8);
	memcpy(&mxcsr, state + AT_MXCSR, 4);
	memcpy(&msrs, state + AT_MSRS, 4);
	memcpy(&entries, state + AT_ENTRIES, 4);
	ck_assert_uint_eq(rflags & 2, 2);
	ck_assert_uint_eq(cr0 & 0x80000001, 0x80000001);
	ck_assert_uint_eq(cr4 & 0x20, 0x20);
	ck_assert_uint_eq(efer & 0x500, 0x500);
	ck_assert_uint_eq(xcr0, 1);
	ck_assert_uint_eq(mxcsr, 0x1f80);
	ck_assert_uint_eq(state[AT_X87], 0x7f);
	/* The stack's page is in the TLB. */
	ck_assert_uint_ge(entries, 1);
	ck_assert_uint_eq(bytes, AT_MSR + 16 * msrs + 16 * entries);
	free(state);
}
END_TEST

/* Cut anywhere it is none. */
START_TEST(engine_is_cut)
{
	size_t bytes, n;
	uint8_t *state = engine_state(&bytes);

	for (n = 0; n < bytes; n += 61)
		ck_assert_int_eq(load(state, n), -EINVAL);
	free(state);
}
END_TEST

/* A TLB entry leads to RAM or is refused. */
START_TEST(engine_tlb)
{
	static const uint64_t gpas[] = {MEM, MEM - 0x800, 1ull << 40, ~0ull, ~0xfffull};
	size_t bytes;
	uint8_t *state = engine_state(&bytes);

	memcpy(state + bytes - 8, &gpas[_i], 8);
	ck_assert_int_eq(load(state, bytes), -EINVAL);
	free(state);
}
END_TEST

START_TEST(vcpu_state)
{
	struct core_vcpu_state state, again;
	struct core_vm vm;
	unsigned int bit;

	create(&vm);
	for (bit = 0; bit < 32; bit++) {
		memset(&state, 0, sizeof(state));
		state.flags = 1u << bit;
		ck_assert_int_eq(core_vcpu_restore(vm.vcpu, &state),
				 (state.flags & CORE_VCPU_FLAGS) != 0);
		core_vcpu_save(vm.vcpu, &again);
		if (state.flags & CORE_VCPU_FLAGS)
			ck_assert_mem_eq(&state, &again, sizeof(state));
	}
	memset(&state, 0, sizeof(state));
	state.debug_pending = 1ull << 40;
	ck_assert(!core_vcpu_restore(vm.vcpu, &state));
	memset(&state, 0, sizeof(state));
	state.reserved = 1;
	ck_assert(!core_vcpu_restore(vm.vcpu, &state));
	core_vm_destroy(&vm);
}
END_TEST

/* A file that is in memory only. */
static int make_file(char *path, size_t size)
{
	int fd = memfd_create("test", 0);

	ck_assert_int_ge(fd, 0);
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

/* At the very instruction at which the timer is due, before anybody has looked. */
START_TEST(due_now)
{
	static const uint8_t code[] = {0xeb, 0xfe}; /* jmp . */
	struct trace_file_info info = {.owner = TRACE_OWNER_GUEST, .vcpus = 1, .engine = "soft"};
	const struct core_snap_origin origin = {.file = &info, .guest = "test"};
	struct core_snapshot *s;
	struct engine_exit exit;
	char path[32], why[160];
	int fd = make_file(path, sizeof(path));
	struct core_vm vm, again;

	create(&vm);
	info.caps = vm.caps;
	ck_assert(x86_mem_write(&vm.mem, CODE, code, sizeof(code)));
	core_irq_advance(vm.vcpu);
	core_irq_set_timer(vm.vcpu, 0x20u << 24 | 10);
	vm.vcpu->ev->state &= ~(uint32_t)ENGINE_ATTENTION;
	vm.vcpu->ev->budget = 11;
	vm.engine->run(vm.vcpu->ev, false, &exit);
	core_vcpu_load(vm.vcpu);
	ck_assert_uint_eq(vm.vcpu->ev->retired, 11);
	ck_assert(!(vm.vcpu->irq.pending & CORE_IRQ_TIMER_DUE));
	ck_assert_int_eq(core_snapshot_save(path, &vm, &origin, why, sizeof(why)), 0);
	ck_assert_int_eq(core_snapshot_open(path, &s, why, sizeof(why)), 0);
	create(&again);
	ck_assert_int_eq(core_snapshot_load(s, &again, why, sizeof(why)), 0);
	ck_assert(again.vcpu->irq.pending & CORE_IRQ_TIMER_DUE);
	ck_assert_uint_eq(again.vcpu->irq.timer_vector, 0x20);
	core_snapshot_close(s);
	core_vm_destroy(&vm);
	core_vm_destroy(&again);
	close(fd);
}
END_TEST

static void fill(struct trace_writer *w, unsigned int from, unsigned int to)
{
	static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	unsigned int i;

	for (i = from; i < to; i++) {
		const struct trace_oracle_record record = {.ip = i};
		const struct trace_stretch stretch = {.id = i, .insns = 2, .ip = i};
		const struct trace_stretch_insn insns[2] = {{1, 0}, {2, 0}};
		const uint8_t bytes[3] = {(uint8_t)i, 1, 2};

		/* A PSB now and then, in two parts. */
		ck_assert_int_eq(trace_writer_trace(w, 0, ~0ull, bytes, sizeof(bytes)), 0);
		if (i % 100 == 7)
			ck_assert_int_eq(trace_writer_trace(w, 0, ~0ull, psb, 9), 0);
		if (i % 100 == 8)
			ck_assert_int_eq(trace_writer_trace(w, 0, ~0ull, psb + 9, 7), 0);
		if (i % 300 == 9) {
			static const uint8_t page[TRACE_CODE_BYTES];
			struct trace_page_map map = {.page = {.insns = i}};

			ck_assert_int_eq(trace_writer_page(w, page, &map.content), 0);
			ck_assert_int_eq(trace_writer_map(w, 0, &map, 1), 0);
		}
		/* What ran in both forms. */
		if (i % 500 < 250) {
			ck_assert_int_eq(trace_writer_oracle(w, 0, record), 0);
			continue;
		}
		ck_assert_int_eq(trace_writer_stretch(w, &stretch, insns), 0);
		ck_assert_int_eq(trace_writer_run(w, 0, &i, 1), 0);
	}
}

static struct trace_writer *open_writer(const char *path)
{
	const struct trace_file_info info = {.vcpus = 1};
	struct trace_writer *w;

	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	return w;
}

static uint8_t *writer_state(const struct trace_writer *w, size_t *bytes)
{
	uint8_t *state;

	*bytes = trace_writer_save(w, NULL, 0);
	state = malloc(*bytes);
	ck_assert_uint_eq(trace_writer_save(w, state, *bytes), *bytes);
	return state;
}

static uint8_t *contents(int fd, size_t *size)
{
	uint8_t *bytes;

	*size = (size_t)lseek(fd, 0, SEEK_END);
	bytes = malloc(*size + 1);
	ck_assert_int_eq(pread(fd, bytes, *size, 0), (ssize_t)*size);
	return bytes;
}

/* Left in the middle and gone on with in another file, it is the same file. */
START_TEST(writer_goes_on)
{
	static const unsigned int stops[] = {0,	  1,   8,   107,  108,	109,
					     251, 400, 501, 1366, 4096, 5000};
	char path[2][32];
	int fd[2] = {make_file(path[0], 32), make_file(path[1], 32)}, old;
	struct trace_writer *w = open_writer(path[0]), *again;
	size_t bytes, have, size[2];
	uint8_t *state, *before, *file[2];
	uint64_t file_bytes;

	fill(w, 0, stops[_i]);
	state = writer_state(w, &bytes);
	ck_assert_int_eq(trace_writer_reread(w, &old), 0);
	before = contents(old, &have);
	close(old);
	ck_assert_int_eq(trace_writer_resume(fd[1], state, bytes, &file_bytes, &again), 0);
	ck_assert_uint_eq(file_bytes, have);
	ck_assert_uint_eq(file_bytes, trace_writer_file_bytes(w));
	ck_assert_int_eq(trace_writer_refill(again, before, have), 0);
	free(state);
	free(before);
	fill(w, stops[_i], 6000);
	fill(again, stops[_i], 6000);
	ck_assert_int_eq(trace_writer_close(w, 3), 0);
	ck_assert_int_eq(trace_writer_close(again, 3), 0);
	file[0] = contents(fd[0], &size[0]);
	file[1] = contents(fd[1], &size[1]);
	ck_assert_uint_eq(size[0], size[1]);
	ck_assert_mem_eq(file[0], file[1], size[0]);
	free(file[0]);
	free(file[1]);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

static const struct change writer_changes[] = {
	{"another magic", 0, 4, 0},
	{"no vCPU", 4, 4, 0},
	{"another vCPU, which is not there", 4, 4, 2},
	{"more vCPUs than there can be", 4, 4, TRACE_FILE_MAX_VCPUS + 1},
	{"stretches that are not there", 24, 8, 24},
	{"more of stretches than there is room for", 24, 8, 1 << 20},
	{"very much of stretches", 24, 8, ~0ull},
	{"a part of a stretch", 24, 8, 4},
	{"neither of the trace systems", 32, 8, 2},
	{"fewer bytes than are gathered", 48, 8, 1},
	{"a chunk that is not at the end", 56, 8, 1},
	{"more gathered than there is room for", 72, 4, 4096},
	{"very much gathered", 72, 4, ~0u},
	{"more records than there is room for", 76, 4, 4096},
	{"very many records", 76, 4, ~0u},
	{"a row longer than the stream", 84, 4, ~0u},
	{"records among words", 76, 4, 1},
	{"more words than there is room for", 88, 8, 16385},
	{"very many words", 88, 8, ~0ull},
	{"more of an index than there is", 96, 8, 1000},
	{"very much of an index", 96, 8, ~0ull},
	{"more entries resolved than there are", 104, 8, 1000},
	{"more contents than anybody counts", 40, 8, 1ull << 62},
	{"an index of more entries than are kept", 96, 8, 65537},
};

START_TEST(writer_refuses)
{
	const struct change *c = &writer_changes[_i];
	char path[2][32];
	int fd[2] = {make_file(path[0], 32), make_file(path[1], 32)};
	struct trace_writer *w = open_writer(path[0]), *again;
	uint64_t file_bytes;
	uint8_t *state;
	size_t bytes;

	fill(w, 0, 1000);
	state = writer_state(w, &bytes);
	memcpy(state + c->at, &c->value, c->bytes);
	ck_assert_msg(trace_writer_resume(fd[1], state, bytes, &file_bytes, &again) == -EINVAL,
		      "%s", c->what);
	free(state);
	trace_writer_close(w, 0);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

/* A row of 02 82 whose PSB is in no index would be the end of one that is not there. */
START_TEST(writer_without_index)
{
	static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	char path[2][32];
	int fd[2] = {make_file(path[0], 32), make_file(path[1], 32)};
	struct trace_writer *w = open_writer(path[0]), *again;
	const uint64_t none = 0;
	uint64_t file_bytes;
	uint8_t *state;
	size_t bytes;

	ck_assert_int_eq(trace_writer_trace(w, 0, ~0ull, psb, sizeof(psb)), 0);
	state = writer_state(w, &bytes);
	memcpy(state + 80, &none, 8);
	ck_assert_int_eq(trace_writer_resume(fd[1], state, bytes - sizeof(struct trace_psb_point),
					     &file_bytes, &again),
			 -EINVAL);
	free(state);
	trace_writer_close(w, 0);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(writer_needs_a_file)
{
	struct trace_writer *w = open_writer("/dev/null");
	int fd;

	ck_assert_int_eq(trace_writer_reread(w, &fd), -ESPIPE);
	trace_writer_close(w, 0);
}
END_TEST

static int add_content(void *opaque, const struct tracer_code_content *content,
		       const uint8_t *bytes)
{
	return tracer_code_pages_add(opaque, content, bytes);
}

/* Known, though not at this place; the ids are those of the contents. */
static int compare_content(void *opaque, const struct tracer_code_content *content,
			   const uint8_t *bytes)
{
	uint64_t id = 0;

	ck_assert_int_eq(tracer_code_pages_note(opaque, 5 * content->id << 12, 0x1000, content->gpa,
						bytes, 0, 4096, &id),
			 TRACER_CODE_MAPPED);
	ck_assert_uint_eq(id, content->id);
	return 0;
}

START_TEST(code_pages)
{
	struct tracer_code_pages *a = tracer_code_pages_create(), *b = tracer_code_pages_create();
	struct tracer_code_map *of_a, *of_b;
	static uint8_t page[4096];
	size_t n, m, stale = 0;
	unsigned int i;
	uint64_t id;

	/* 100 frames of 30 versions each, of which 8 are kept. */
	for (i = 0; i < 3000; i++) {
		uint64_t cr3 = i * 7 % 5 << 12, vaddr = (uint64_t)(i ^ 0x2a5) << 12;
		uint64_t gpa = (uint64_t)(i % 100) << 12;

		page[0] = (uint8_t)(i / 100);
		ck_assert_int_eq(tracer_code_pages_note(a, cr3, vaddr, gpa, page, 0, 1, &id),
				 TRACER_CODE_CHANGED);
		tracer_code_pages_number(a, i + 1);
	}
	ck_assert_int_eq(tracer_code_pages_maps(a, &of_a, &n), 0);
	ck_assert_uint_eq(n, 3000);
	for (i = 0; i < n; i++)
		stale += of_a[i].stale;
	ck_assert_uint_eq(stale, 2200);
	ck_assert_int_eq(tracer_code_pages_contents(a, add_content, b), 0);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(tracer_code_pages_add_map(b, &of_a[n - 1 - i]), 0);
	ck_assert_int_eq(tracer_code_pages_maps(b, &of_b, &m), 0);
	ck_assert_uint_eq(m, n);
	ck_assert_mem_eq(of_a, of_b, n * sizeof(*of_a));
	/* What is noted from now on is the same in both. */
	for (i = 0; i < 3000; i++) {
		uint64_t cr3 = i * 7 % 5 << 12, vaddr = (uint64_t)(i ^ 0x2a5) << 12;
		uint64_t gpa = (uint64_t)(i % 100) << 12;
		uint64_t of_b_id = 0;
		int news;

		page[0] = (uint8_t)(i * 3 % 40);
		news = tracer_code_pages_note(a, cr3, vaddr, gpa, page, 0, 1, &id);
		ck_assert_int_eq(tracer_code_pages_note(b, cr3, vaddr, gpa, page, 0, 1, &of_b_id),
				 news);
		if (news == TRACER_CODE_CHANGED) {
			tracer_code_pages_number(a, 4000 + i);
			tracer_code_pages_number(b, 4000 + i);
		} else if (news == TRACER_CODE_MAPPED) {
			ck_assert_uint_eq(id, of_b_id);
		}
	}
	/* Not a second time, and not from elsewhere. */
	ck_assert_int_eq(tracer_code_pages_add_map(b, &of_a[7]), -EINVAL);
	of_a[7].cr3 += 0x100000;
	of_a[7].stale = 2;
	ck_assert_int_eq(tracer_code_pages_add_map(b, &of_a[7]), -EINVAL);
	of_a[7].stale = 0;
	of_a[7].gpa += 0x1000;
	ck_assert_int_eq(tracer_code_pages_add_map(b, &of_a[7]), -EINVAL);
	of_a[7].content = 800;
	ck_assert_int_eq(tracer_code_pages_add_map(b, &of_a[7]), -EINVAL);
	of_a[7].content = UINT32_MAX;
	ck_assert_int_eq(tracer_code_pages_add_map(b, &of_a[7]), -EINVAL);
	ck_assert_int_eq(tracer_code_pages_add(b, &(struct tracer_code_content){0, 0}, page),
			 -EINVAL);
	ck_assert_int_eq(tracer_code_pages_add(b, &(struct tracer_code_content){9000, 1}, page),
			 -EINVAL);
	ck_assert_int_eq(tracer_code_pages_add(b, &(struct tracer_code_content){9000, 0}, page),
			 -EINVAL);
	ck_assert_int_eq(tracer_code_pages_contents(a, compare_content, b), 0);
	free(of_a);
	free(of_b);
	tracer_code_pages_destroy(a);
	tracer_code_pages_destroy(b);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

Suite *test_suite(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *tcase = tcase_create("snapshot");

	tcase_add_test(tcase, engine_is_the_same);
	tcase_add_test(tcase, engine_layout);
	tcase_add_loop_test(tcase, engine_refuses, 0, COUNT(changes));
	tcase_add_test(tcase, engine_is_cut);
	tcase_add_loop_test(tcase, engine_tlb, 0, 5);
	tcase_add_test(tcase, vcpu_state);
	tcase_add_test(tcase, due_now);
	tcase_add_loop_test(tcase, writer_goes_on, 0, 12);
	tcase_add_loop_test(tcase, writer_refuses, 0, COUNT(writer_changes));
	tcase_add_test(tcase, writer_without_index);
	tcase_add_test(tcase, writer_needs_a_file);
	tcase_add_test(tcase, code_pages);
	suite_add_tcase(suite, tcase);
	return suite;
}
