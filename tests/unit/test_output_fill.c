// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the library's output with the reference of lib/outmodel.h: bytes, their order, events and
 * the output MSRs.
 *
 * The first test puts a fixed sequence of packets into each scheme. The region ends at each byte of
 * the sequence in turn. The second test makes random tables, memory and packets.
 */
#include "lib/outfix.h"
#include "lib/outmodel.h"

#include <stdio.h>

#define END  0x01u
#define INT  0x04u
#define STOP 0x10u

/* Each length once, then long and short packets in turn. */
static const uint8_t lengths[] = {1,  2, 3,  4, 5,  6, 7,  8, 9,  10, 11, 12, 13, 14, 15, 16,
				  16, 1, 15, 2, 14, 1, 13, 3, 12, 1,  11, 4,  10, 1,  9,  5};
#define PACKETS (sizeof(lengths) / sizeof(lengths[0]))
/* The sum of `lengths`, and the largest distance from the start of a run to the region's end. */
#define SEQUENCE 254
#define FURTHEST (SEQUENCE + 4)
#define MARGIN	 512

struct scheme {
	const char *name;
	uint32_t ecx;
	uint32_t ctl;
	uint64_t base;
	uint32_t low;  /* bits 31:0 of OUTPUT_MASK_PTRS */
	uint64_t size; /* of the region that the run starts in */
	struct {
		uint64_t gpa, value;
	} entry[6];
	struct {
		uint64_t gpa;
		size_t len;
		bool read_only;
	} ram[5]; /* in addition to the page of tables */
};

#define TABLE 0x10000u
#define PAGE  4096u
#define MANY  OUTFIX_MANY_ENTRIES
#define ONE   OUTFIX_ONE_ENTRY
#define TOPA  OUTFIX_TOPA

/* clang-format off */
static const struct scheme schemes[] = {
	{"single, 128 bytes", MANY, 0, 0x40080, 0x7f, 128, {{0}}, {{0x40000, PAGE, false}}},
	{"single, 8 KiB", MANY, 0, 0x40000, 0x1fff, 8192, {{0}},
	 {{0x40000, 2 * PAGE, false}, {0x3f000, PAGE, false}, {0x42000, PAGE, false}}},
	{"single, hole at its start", MANY, 0, 0x40000, 0x1fff, 8192, {{0}},
	 {{0x41000, PAGE, false}}},
	{"single, hole at the end", MANY, 0, 0x40000, 0x1fff, 4096, {{0}},
	 {{0x40000, PAGE, false}}},
	{"ToPA, one region in a circle", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, TABLE | END}}, {{0x3f000, 3 * PAGE, false}}},
	{"ToPA, three regions", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, 0x50000 | 1 << 6}, {TABLE + 16, 0x60000}},
	 {{0x40000, PAGE, false}, {0x50000, 2 * PAGE, false}, {0x60000, PAGE, false}}},
	{"ToPA, END to another table", MANY, TOPA, TABLE, 0x1ff, 4096,
	 {{TABLE + 24, 0x40000}, {TABLE + 32, 0x11000 | END}, {0x11000, 0x50000}},
	 {{0x40000, PAGE, false}, {0x50000, PAGE, false}, {0x11000, PAGE, false}}},
	{"ToPA, INT", MANY, TOPA, TABLE, 0x7f, 4096, {{TABLE, 0x40000 | INT}, {TABLE + 8, 0x50000}},
	 {{0x40000, PAGE, false}, {0x50000, PAGE, false}}},
	{"ToPA, STOP", MANY, TOPA, TABLE, 0x7f, 4096, {{TABLE, 0x40000 | STOP}},
	 {{0x40000, PAGE, false}}},
	{"ToPA, STOP and INT", MANY, TOPA, TABLE, 0xff, 8192,
	 {{TABLE + 8, 0x40000 | 1 << 6 | STOP | INT}, {TABLE + 16, 0x50000}},
	 {{0x40000, 2 * PAGE, false}, {0x50000, PAGE, false}}},
	{"ToPA, reserved bit next", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000 | INT}, {TABLE + 8, 0x50000 | 2}},
	 {{0x40000, PAGE, false}, {0x50000, PAGE, false}}},
	{"ToPA, misaligned region next", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, 0x51000 | 1 << 6}},
	 {{0x40000, PAGE, false}, {0x51000, PAGE, false}}},
	{"ToPA, END in the next table's entry 0", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, 0x11000 | END}, {0x11000, TABLE | END}},
	 {{0x40000, PAGE, false}, {0x11000, PAGE, false}}},
	{"ToPA, no memory for the next table", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, 0x11000 | END}}, {{0x40000, PAGE, false}}},
	{"ToPA, no memory for the next region", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, 0x50000}}, {{0x40000, PAGE, false}}},
	{"ToPA, next region read-only", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, 0x50000}}, {{0x40000, PAGE, false}, {0x50000, PAGE, true}}},
	{"ToPA, hole in the region's middle", MANY, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000 | 1 << 6}}, {{0x40000, PAGE, false}}},
	{"one entry, plain", ONE, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, TABLE | END}}, {{0x40000, PAGE, false}}},
	{"one entry, INT", ONE, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000 | INT}, {TABLE + 8, TABLE | END}}, {{0x40000, PAGE, false}}},
	{"one entry, STOP and INT", ONE, TOPA, TABLE, 0x7f, 8192,
	 {{TABLE, 0x40000 | 1 << 6 | INT | STOP}, {TABLE + 8, TABLE | END}},
	 {{0x40000, 2 * PAGE, false}}},
	{"one entry, no END", ONE, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000 | INT}, {TABLE + 8, 0x50000}},
	 {{0x40000, PAGE, false}, {0x50000, PAGE, false}}},
	{"one entry, END to elsewhere", ONE, TOPA, TABLE, 0x7f, 4096,
	 {{TABLE, 0x40000}, {TABLE + 8, 0x11000 | END}, {0x11000, 0x50000}},
	 {{0x40000, PAGE, false}, {0x50000, PAGE, false}, {0x11000, PAGE, false}}},
	{"trace transport", MANY, TOPA | OUTFIX_FABRIC_EN, TABLE, 0x7f, 4096, {{TABLE, 0x40000}},
	 {{0x40000, PAGE, false}}},
};
/* clang-format on */
#define SCHEMES ((int)(sizeof(schemes) / sizeof(schemes[0])))

/* The library and the reference. Each has its own memory, with equal contents at first. */
struct duel {
	struct outfix *fix;
	struct guestmem mem;
	struct outmodel model;
	struct vpt_rtit rtit;
	uint8_t stage[64];
	struct guestmem_journal fabric;
	char what[128];
};

static struct duel *duelling;

static void take(void *opaque, const void *bytes, size_t len)
{
	const uint8_t *byte = bytes;

	(void)opaque;
	while (len--)
		guestmem_note(&duelling->fabric, *byte++);
}

static struct duel *duel_new(enum guestmem_map map, uint32_t ecx)
{
	struct duel *duel = calloc(1, sizeof(*duel));

	ck_assert_ptr_nonnull(duel);
	duelling = duel;
	duel->fix = outfix_new(map, ecx);
	vpt_output_set_stream(&duel->fix->out, duel->stage, sizeof(duel->stage), take);
	guestmem_init(&duel->mem, GUESTMEM_MAP_NONE);
	outmodel_init(&duel->model, &duel->mem, &duel->fix->caps);
	return duel;
}

static void duel_free(struct duel *duel)
{
	outfix_free(duel->fix);
	outmodel_free(&duel->model);
	guestmem_free(&duel->mem);
	free(duel->fabric.gpa);
	free(duel);
}

static void duel_ram(struct duel *duel, uint64_t gpa, size_t len, bool read_only)
{
	if (read_only) {
		guestmem_rom(&duel->fix->mem, gpa, len);
		guestmem_rom(&duel->mem, gpa, len);
	} else {
		guestmem_ram(&duel->fix->mem, gpa, len);
		guestmem_ram(&duel->mem, gpa, len);
	}
}

static void duel_poke64(struct duel *duel, uint64_t gpa, uint64_t value)
{
	guestmem_poke64(&duel->fix->mem, gpa, value);
	guestmem_poke64(&duel->mem, gpa, value);
}

static bool same_journal(const struct guestmem_journal *a, const struct guestmem_journal *b)
{
	return a->count == b->count &&
	       (!a->count || !memcmp(a->gpa, b->gpa, a->count * sizeof(*a->gpa)));
}

/* libcheck's asserts write to a pipe even if they pass, which is too slow here. */
#define demand(duel, cond, text)                                    \
	do {                                                        \
		if (!(cond))                                        \
			ck_abort_msg("%s: %s", (duel)->what, text); \
	} while (0)

/* Compare the events that both reported, and both cursors. */
static void compare(struct duel *duel, unsigned int events, unsigned int expected)
{
	struct vpt_rtit is = duel->rtit, should = duel->rtit;

	demand(duel, events == expected, "events differ");
	vpt_output_sync(&duel->fix->out, &is);
	outmodel_sync(&duel->model, &should);
	demand(duel, is.output_base == should.output_base, "OUTPUT_BASE differs");
	demand(duel, is.output_mask_ptrs == should.output_mask_ptrs, "OUTPUT_MASK_PTRS differs");
	demand(duel, duel->fix->out.why == duel->model.why, "errors differ");
	demand(duel, same_journal(&duel->fix->mem.reads, &duel->mem.reads), "table reads differ");
}

/* Compare all bytes, their addresses and the reports, after a flush or the end. */
static void compare_memory(struct duel *duel)
{
	demand(duel, same_journal(&duel->fix->mem.committed, &duel->model.stored),
	       "committed bytes differ");
	demand(duel, same_journal(&duel->fabric, &duel->model.fabric), "transport differs");
	demand(duel, guestmem_same(&duel->fix->mem, &duel->mem), "memory differs");
	demand(duel, guestmem_guards_intact(&duel->fix->mem), "guards are damaged");
}

static void duel_start(struct duel *duel)
{
	compare(duel, vpt_output_start(&duel->fix->out, &duel->rtit),
		outmodel_start(&duel->model, &duel->rtit));
}

static void duel_put(struct duel *duel, const uint8_t *bytes, size_t len)
{
	compare(duel, vpt_output_put(&duel->fix->out, bytes, len),
		outmodel_put(&duel->model, bytes, len));
}

/* Clear TraceEn: the registers keep the cursor, which is the same for both. */
static void duel_end(struct duel *duel)
{
	vpt_output_sync(&duel->fix->out, &duel->rtit);
	vpt_output_end(&duel->fix->out);
	compare_memory(duel);
}

static struct duel *duel_scheme(const struct scheme *scheme, enum guestmem_map map)
{
	struct duel *duel = duel_new(map, scheme->ecx);
	unsigned int i;

	duel_ram(duel, TABLE, PAGE, false);
	for (i = 0; i < sizeof(scheme->ram) / sizeof(scheme->ram[0]); i++) {
		if (scheme->ram[i].len)
			duel_ram(duel, scheme->ram[i].gpa, scheme->ram[i].len,
				 scheme->ram[i].read_only);
	}
	for (i = 0; i < sizeof(scheme->entry) / sizeof(scheme->entry[0]); i++) {
		if (scheme->entry[i].gpa)
			duel_poke64(duel, scheme->entry[i].gpa, scheme->entry[i].value);
	}
	duel->rtit.ctl = scheme->ctl | 1;
	duel->rtit.output_base = scheme->base;
	return duel;
}

/* Put the sequence, starting @back bytes before the end of the region. */
static void run(const struct scheme *scheme, enum guestmem_map map, uint64_t back, bool bytewise)
{
	struct duel *duel = duel_scheme(scheme, map);
	uint8_t bytes[SEQUENCE];
	size_t packet, i, n = 0;

	snprintf(duel->what, sizeof(duel->what), "%s, %u bytes before the end%s", scheme->name,
		 (unsigned int)back, bytewise ? ", byte by byte" : "");
	for (i = 0; i < SEQUENCE; i++)
		bytes[i] = outfix_byte(i);
	duel->rtit.output_mask_ptrs = outfix_ptrs(scheme->size - back, scheme->low);
	duel_start(duel);
	for (packet = 0; packet < PACKETS; packet++) {
		size_t len = lengths[packet], step = bytewise ? 1 : len;

		for (i = 0; i < len; i += step, n += step)
			duel_put(duel, bytes + n, step);
		/* Flush after some packets only, since pending bytes are part of the test. */
		if (packet % 5 == 0) {
			vpt_output_flush(&duel->fix->out);
			compare_memory(duel);
		}
	}
	demand(duel, n == SEQUENCE, "the sequence's length is not the sum of the packets'");
	duel_end(duel);
	duel_free(duel);
}

/* Row: a scheme, and how memory is mapped. */
START_TEST(fill_at_every_byte)
{
	const struct scheme *scheme = &schemes[_i / GUESTMEM_MAP_MODES];
	enum guestmem_map map = (enum guestmem_map)(_i % GUESTMEM_MAP_MODES);
	uint64_t back;

	for (back = 1; back <= FURTHEST && back <= scheme->size; back++) {
		run(scheme, map, back, false);
		run(scheme, map, back, true);
		/* Let the early PMI fall on each byte. */
		if (scheme->ecx == ONE) {
			run(scheme, map, MARGIN + back, false);
			run(scheme, map, MARGIN + back, true);
		}
	}
	TEST_PROVES(
		"SR-ADDRESS SR-WRAP TOPA-ADVANCE TOPA-END TOPA-STOP TOPA-INT TOPA-SINGLE-PMI "
		"TOPA-FETCH TOPA-ERROR-CURSOR OUT-REGION-MEMORY OUT-CURSOR-EXACT OUT-FILL-EAGER "
		"OUT-FABRIC-WINS OUT-FABRIC-MSRS");
}
END_TEST

/* xorshift64*: the same numbers for the same seed on every machine. */
static uint64_t rnd(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
	return (rnd(state) >> 33) % limit;
}

static bool one_in(uint64_t *state, uint64_t n)
{
	return !below(state, n);
}

/* Guest memory is pages 0 to 15, with holes; tables are in pages 0 and 1. */
#define PAGES	      16u
#define TABLE_ENTRIES 12u

static uint64_t random_entry(uint64_t *state)
{
	uint64_t entry =
		below(state, PAGES + 1) << 12 | (one_in(state, 3) ? below(state, 3) << 6 : 0);

	if (one_in(state, 4))
		entry = (below(state, 2) << 12) | END;
	if (one_in(state, 4))
		entry |= INT;
	if (one_in(state, 8))
		entry |= STOP;
	if (one_in(state, 12))
		entry |= 1ull << below(state, 64);
	return entry;
}

static void random_tables(struct duel *duel, uint64_t *state)
{
	unsigned int table, i;

	for (table = 0; table < 2; table++) {
		for (i = 0; i < TABLE_ENTRIES; i++)
			duel_poke64(duel, table * PAGE + 8 * i, random_entry(state));
		if (!duel->model.many)
			duel_poke64(duel, table * PAGE + 8, table * PAGE | END);
	}
}

static void random_registers(struct duel *duel, uint64_t *state)
{
	uint64_t offset = one_in(state, 2) ? below(state, 40) : PAGE - below(state, 600);

	if (one_in(state, 10)) {
		unsigned int bits = 7 + (unsigned int)below(state, 10);

		duel->rtit.ctl = 1;
		duel->rtit.output_base = below(state, PAGES) << 12;
		duel->rtit.output_mask_ptrs =
			outfix_ptrs(below(state, 1u << bits), (1u << bits) - 1);
		return;
	}
	duel->rtit.ctl = OUTFIX_TOPA | 1 | (one_in(state, 20) ? OUTFIX_FABRIC_EN : 0);
	duel->rtit.output_base = below(state, 2) << 12;
	if (one_in(state, 20))
		duel->rtit.output_base |= 1ull << (7 + below(state, 32));
	duel->rtit.output_mask_ptrs =
		outfix_ptrs(offset, (uint32_t)below(state, duel->model.many ? 8 : 2) << 7 | 0x7f);
}

static void random_put(struct duel *duel, uint64_t *state)
{
	uint8_t bytes[9000];
	size_t len = one_in(state, 30) ? below(state, sizeof(bytes)) : below(state, 17), i;

	for (i = 0; i < len; i++)
		bytes[i] = (uint8_t)rnd(state);
	duel_put(duel, bytes, len);
	if (one_in(state, 40)) {
		vpt_output_flush(&duel->fix->out);
		compare_memory(duel);
	}
}

/* Software may keep the registers, change the registers, or change the tables between two runs. */
static void random_restart(struct duel *duel, uint64_t *state)
{
	duel_end(duel);
	if (one_in(state, 2))
		random_tables(duel, state);
	if (one_in(state, 2))
		random_registers(duel, state);
	duel_start(duel);
}

#define SEEDS	 40
#define MEMORIES 40
#define PUTS	 400

/* Row: a seed. */
START_TEST(random_tables_and_packets)
{
	uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(_i + 1);
	unsigned int memory, page, put;

	for (memory = 0; memory < MEMORIES; memory++) {
		struct duel *duel = duel_new((enum guestmem_map)below(&state, GUESTMEM_MAP_MODES),
					     one_in(&state, 3) ? ONE : MANY);

		duel_ram(duel, 0, 2 * PAGE, false);
		for (page = 2; page < PAGES; page++) {
			if (!one_in(&state, 12))
				duel_ram(duel, page * PAGE, PAGE, one_in(&state, 12));
		}
		random_tables(duel, &state);
		random_registers(duel, &state);
		for (put = 0; put < PUTS; put++) {
			snprintf(duel->what, sizeof(duel->what), "seed %d, memory %u, put %u", _i,
				 memory, put);
			if (!put)
				duel_start(duel);
			else if (one_in(&state, 25) || (duel->model.dead && one_in(&state, 3)))
				random_restart(duel, &state);
			random_put(duel, &state);
		}
		duel_end(duel);
		duel_free(duel);
	}
	TEST_PROVES("TOPA-CURSOR-LOAD TOPA-FETCH TOPA-ADVANCE TOPA-END TOPA-STOP TOPA-INT "
		    "TOPA-SINGLE-PMI TOPA-ERROR-CURSOR OUT-CURSOR-EXACT OUT-REGION-MEMORY");
}
END_TEST

TEST_SUITE("output_fill", NULL, NULL)
{
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, fill_at_every_byte, 0, SCHEMES * GUESTMEM_MAP_MODES);
	tcase_add_loop_test(tcase, random_tables_and_packets, 0, SEEDS);
}
