// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest on the software CPU writes its own page tables at random and uses random addresses. Memory
 * beside its RAM must not change, and must not have an effect on the guest. Each seed runs with two
 * different contents beside RAM, and with inaccessible pages there.
 */
#include "lib/suite.h"

#include <string.h>
#include <sys/mman.h>

#include "engine/engine.h"
#include "lib/hostile_seen.h"
#include "x86/guard.h"

enum {
	LOOPS = 200,
	SEEDS = 10, /* of each loop, which is brief under sanitizers, too */
	INSNS = 2000,
	BESIDE = 1 << 20,
	RECORDS = 0x60000,
	RECORD_BYTES = 32,
	RECORD_COUNT = 512,
	TABLES = 0x1000, /* PML4, PDPT, PD and PT of tests/lib/hostile.c */
	TAIL = 32,	 /* offset of the ADD in the code */
};

/* For each record: write the value to the slot, load from one address and store to the other. */
static const uint8_t code[] = "\x48\x8b\x3e"		 /* mov rdi, [rsi] */
			      "\x48\x8b\x46\x08"	 /* mov rax, [rsi + 8] */
			      "\x48\x89\x07"		 /* mov [rdi], rax */
			      "\x48\x8b\x5e\x10"	 /* mov rbx, [rsi + 16] */
			      "\x0f\x01\x3b"		 /* invlpg [rbx] */
			      "\x48\x33\x13"		 /* xor rdx, [rbx] */
			      "\x48\x8b\x4e\x18"	 /* mov rcx, [rsi + 24] */
			      "\x48\x89\x11"		 /* mov [rcx], rdx */
			      "\xf0\x48\x0f\xc1\x11"	 /* lock xadd [rcx], rdx */
			      "\x48\x83\xc6\x20"	 /* add rsi, 32 */
			      "\x81\xe6\xff\x3f\x06\x00" /* and esi, 63fffH */
			      "\xeb\xd4";		 /* jmp to the first */

_Static_assert(sizeof(code) == 45, "a jump of 44 bytes");

static struct {
	unsigned long retired, faults, mmio;
} seen;

static uint64_t next(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Return the address of a paging-structure entry. Most are in the PT, which keeps the guest alive. */
static uint64_t slot(uint64_t *random)
{
	uint64_t r = next(random), page = r % 16 < 12 ? 3 : r % 16 < 15 ? 2 : r >> 8 & 1;

	return TABLES + page * X86_PAGE_SIZE + 8 * (r >> 16 & 511);
}

static uint64_t entry(uint64_t *random)
{
	uint64_t r = next(random), flags = (r >> 32 & 0x1ff) | (r >> 48 & 7 ? 3 : 0);

	switch (r & 7) {
	case 0:
		return next(random);
	case 1: /* the end of RAM */
		return (HOSTILE_RAM / X86_PAGE_SIZE - 2 + (r >> 8 & 3)) << 12 | flags;
	case 2:
		return (1ull << (12 + (r >> 8) % 40)) | flags;
	case 3:
		return (next(random) & 0xffffffffff) << 12 | flags;
	default:
		return (r >> 8) % (HOSTILE_RAM / X86_PAGE_SIZE) << 12 | flags;
	}
}

static uint64_t address(uint64_t *random)
{
	uint64_t r = next(random);

	switch (r & 7) {
	case 0: /* near the end of RAM */
		return HOSTILE_RAM - 16 + (r >> 8 & 31);
	case 1: /* across two pages */
		return ((r >> 8 & 511) << 12) - 1 - (r >> 32 & 7);
	case 2: /* pages of 2 MiB */
		return r >> 8 & 0x3fffffff;
	case 3:
		return (uint64_t)((int64_t)next(random) >> 16);
	default:
		return r >> 8 & 0x1fffff;
	}
}

static void fill(uint64_t seed, uint8_t *ram)
{
	uint64_t random = seed, record[RECORD_BYTES / 8];
	unsigned int i;

	for (i = 0; i < RECORD_COUNT; i++) {
		record[0] = slot(&random);
		record[1] = entry(&random);
		record[2] = address(&random);
		record[3] = address(&random);
		memcpy(ram + RECORDS + i * RECORD_BYTES, record, sizeof(record));
	}
}

static void device_io(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count,
		      void *data)
{
	(void)opaque;
	if (in)
		memset(data, port, (size_t)size * count);
}

static void device_mmio(void *opaque, uint64_t gpa, uint32_t len, bool write, void *data)
{
	(void)opaque;
	seen.mmio++;
	if (!write)
		memset(data, (int)gpa, len);
}

/* Run the loop, and skip accesses that fault, until the loop's own code cannot be fetched. */
static void run(struct engine_vcpu *v, const struct x86_mem *mem)
{
	const uint64_t first = HOSTILE_CODE, end = first + sizeof(code) - 1;
	struct engine_exit exit = {0};
	uint64_t faulted = UINT64_MAX;

	while (v->retired < INSNS) {
		v->budget = INSNS - v->retired;
		v->engine->run(v, false, &exit);
		hostile_check(v, mem);
		if (exit.kind == ENGINE_EXIT_KICK)
			continue;
		if (exit.kind != ENGINE_EXIT_FAULT || v->regs->rip < first || v->regs->rip >= end ||
		    v->retired == faulted)
			break;
		faulted = v->retired;
		seen.faults++;
		v->regs->rip = first + TAIL;
		v->state |= ENGINE_REGS_DIRTY;
	}
	seen.retired += v->retired;
}

static void run_seed(uint64_t seed, uint8_t *ram, struct hostile_seen *state)
{
	const struct hostile h = {seed, HOSTILE_LONG, HOSTILE_PAGES, 0, code, sizeof(code) - 1};
	const struct x86_mem mem = {ram, HOSTILE_RAM};
	const struct engine *engine = engine_find("soft");
	struct engine_cpuid_entry cpuid[64];
	size_t count = sizeof(cpuid) / sizeof(cpuid[0]);
	struct engine_probe probe;
	struct engine_vcpu *v;
	struct engine_vm *vm;

	engine->probe(&probe, false);
	memset(ram, 0, HOSTILE_RAM);
	hostile_ram(&h, ram);
	fill(seed, ram);
	ck_assert_int_eq(engine->vm_create(&probe, &vm), 0);
	ck_assert_int_eq(engine->vm_map(vm, 0, 0, ram, HOSTILE_RAM), 0);
	ck_assert_int_eq(engine->supported_cpuid(vm, cpuid, &count), 0);
	ck_assert_int_eq(engine->vcpu_create(vm, 0, cpuid, count, &v), 0);
	v->bus = (struct engine_bus){.io = device_io, .mmio = device_mmio, .opaque = v};
	hostile_vcpu(&h, v);
	v->regs->rsi = RECORDS;
	v->regs->rip = HOSTILE_CODE;
	v->state |= ENGINE_REGS_DIRTY;
	run(v, &mem);
	hostile_see(v, state);
	engine->vcpu_destroy(v);
	engine->vm_destroy(vm);
}

/* Return RAM with this many bytes of other memory on each side, and guards around all of it. */
static uint8_t *map(size_t beside)
{
	const size_t bytes = HOSTILE_RAM + 2 * beside;
	uint8_t *all = mmap(NULL, bytes + 2 * X86_GUARD_BYTES, PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(all, MAP_FAILED);
	all += X86_GUARD_BYTES;
	ck_assert_int_eq(mprotect(all, bytes, PROT_READ | PROT_WRITE), 0);
	return all + beside;
}

static void expect_all(const uint8_t *bytes, size_t len, uint8_t value)
{
	ck_assert(bytes[0] == value && !memcmp(bytes, bytes + 1, len - 1));
}

START_TEST(page_tables)
{
	static const uint8_t contents[] = {0x00, 0x67};
	struct hostile_seen guarded, other;
	uint8_t *alone = map(0), *ram = map(BESIDE);
	const uint64_t first = (uint64_t)_i * SEEDS;
	unsigned int i;
	uint64_t seed;

	memset(&seen, 0, sizeof(seen));
	for (seed = first; seed < first + SEEDS; seed++) {
		run_seed(seed, alone, &guarded);
		for (i = 0; i < sizeof(contents); i++) {
			memset(ram - BESIDE, contents[i], BESIDE);
			memset(ram + HOSTILE_RAM, contents[i], BESIDE);
			run_seed(seed, ram, &other);
			expect_all(ram - BESIDE, BESIDE, contents[i]);
			expect_all(ram + HOSTILE_RAM, BESIDE, contents[i]);
			hostile_require_same(&guarded, &other);
			ck_assert_msg(!memcmp(alone, ram, HOSTILE_RAM), "seed %u", (unsigned)seed);
		}
	}
	/* The loop survives its own writes, and reaches pages that are absent or beyond RAM. */
	ck_assert_uint_gt(seen.retired, 3ul * SEEDS * INSNS / 2);
	ck_assert_uint_gt(seen.faults, 30 * SEEDS);
	ck_assert_uint_gt(seen.mmio, 30 * SEEDS);
	munmap(alone - X86_GUARD_BYTES, HOSTILE_RAM + 2 * X86_GUARD_BYTES);
	munmap(ram - BESIDE - X86_GUARD_BYTES, HOSTILE_RAM + 2 * (BESIDE + X86_GUARD_BYTES));
}
END_TEST

TEST_SUITE("soft_wild", NULL, NULL)
{
	TEST_LOOP(tcase, LOOPS, page_tables);
}
