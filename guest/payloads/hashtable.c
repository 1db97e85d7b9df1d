// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hash table with open addressing: loads from places that depend on data. --arg: number of rounds
 * of 200 turns. Each turn erases the oldest key, inserts a new one, finds one, and fails to find
 * another; a round is 60,000 instructions. From 100 rounds on, the table has 32 MiB and not 8 KiB,
 * and needs the default RAM of 64 MiB.
 */
#include "lib/guest.h"
#include "lib/page_alloc.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("a hash table: insert, find, erase");

#define TURNS	     200
#define SMALL_BITS   9
#define LARGE_BITS   21
#define LARGE_ROUNDS 100

struct slot {
	uint64_t key; /* 0: the slot is empty */
	uint64_t value;
};

static struct slot small[1 << SMALL_BITS], *slots = small;
static unsigned int bits = SMALL_BITS;

static uint64_t home(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> (64 - bits);
}

/* Return the index of the slot that is @n after @i. Indices wrap. */
static uint64_t after(uint64_t i, uint64_t n)
{
	return (i + n) & ((1ull << bits) - 1);
}

/* Return the slot of @key, or the empty slot where it belongs. */
static noinline uint64_t find(uint64_t key)
{
	uint64_t i = home(key);

	while (slots[i].key && slots[i].key != key)
		i = after(i, 1);
	return i;
}

static noinline bool insert(uint64_t key, uint64_t value)
{
	struct slot *slot = &slots[find(key)];

	if (slot->key)
		return false;
	slot->key = key;
	slot->value = value;
	return true;
}

/* Erase @key. Entries after it move back, unless they would be before their home. */
static noinline bool erase(uint64_t key)
{
	uint64_t hole = find(key), i;

	if (!slots[hole].key)
		return false;
	for (i = after(hole, 1); slots[i].key; i = after(i, 1)) {
		if (after(i, -home(slots[i].key)) < after(i, -hole))
			continue;
		slots[hole] = slots[i];
		hole = i;
	}
	slots[hole].key = 0;
	return true;
}

/* Return the key number @n. No two numbers have the same key, and no key is 0. */
static uint64_t key_of(uint64_t n)
{
	uint64_t key = (boot->seed << 40) + n + 1;

	key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9ull;
	key = (key ^ key >> 27) * 0x94d049bb133111ebull;
	return key ^ key >> 31;
}

/*
 * The table has the @live keys from number @first on, half as many as it has slots. The value of a
 * key is its number.
 */
static struct rng rng;
static uint64_t first, live, rounds, changed, found, absent, sum, want;

static void turn(void)
{
	uint64_t n, i;

	changed += erase(key_of(first));
	changed += insert(key_of(first + live), first + live);
	first++;
	n = first + rng_below(&rng, (uint32_t)live);
	i = find(key_of(n));
	found += !!slots[i].key;
	sum += slots[i].value;
	want += n;
	absent += !slots[find(key_of(n + live))].key;
}

static void work(void)
{
	uint64_t i;

	for (i = 0; i < rounds * TURNS; i++)
		turn();
}

static void fill(void)
{
	uint64_t n;

	if (rounds >= LARGE_ROUNDS) {
		bits = LARGE_BITS;
		slots = page_alloc(sizeof(*slots) << bits);
	}
	live = 1ull << (bits - 1);
	for (n = 0; n < live; n++)
		insert(key_of(n), n);
}

static void report_table(void)
{
	uint64_t entries = 0, total = 0, i;

	for (i = 0; i < 1ull << bits; i++) {
		if (!slots[i].key)
			continue;
		entries++;
		total += slots[i].value;
	}
	report_equal(entries, live, "half of the slots are used");
	report_equal(total, live * first + live * (live - 1) / 2, "the sum of the table");
}

void payload(void)
{
	struct trace t;

	rng_seed(&rng, boot->seed);
	rounds = boot->arg[0] ? boot->arg[0] : 1;
	trace_init(&t, TRACE_BUFFER);
	fill();
	trace_only(&t, TRACE_ALL, work);
	trace_report_end(&t);
	report_equal(changed, 2 * TURNS * rounds, "each key erased, each key inserted");
	report_equal(found, TURNS * rounds, "keys found");
	report_equal(sum, want, "the sum of their values");
	report_equal(absent, TURNS * rounds, "keys not found");
	report_table();
}
