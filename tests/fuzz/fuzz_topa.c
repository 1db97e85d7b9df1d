// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: output MSRs, guest memory with tables in it, and puts.
 *
 * Asserts, for whatever a guest does: each access lies in the region that the
 * entry last read names; a put reads few entries, so it ends; cursor, events,
 * errors, bytes and every other byte of memory are as in lib/outmodel.h.
 *
 * Input: struct head, then `words` table entries, then one byte for each step.
 */
#include "fuzz/bytes.h"
#include "lib/guestmem.h"
#include "lib/outmodel.h"

#include <stdlib.h>
#include <string.h>

#define PAGE	  4096u
#define PAGES	  16u
#define WORDS_MAX 64u
#define STEPS_MAX 400u
#define PUT_MAX	  9000u

struct head {
	uint64_t base, ptrs, word[WORDS_MAX];
	uint8_t map, many, topa, width, words;
	uint8_t page[PAGES]; /* 0: hole, 1: read-only, else RAM */
};

/* The memory that the output may access now, by the last entry it read or by the MSRs. */
static struct {
	uint64_t base, size;
	unsigned int reads;
} grant;

static void require_granted(uint64_t gpa, uint64_t len)
{
	REQUIRE(len && gpa >= grant.base && len <= grant.size &&
		gpa - grant.base <= grant.size - len);
}

static bool fuzz_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	uint64_t entry;

	REQUIRE(len == 8 && gpa % 8 == 0);
	grant.reads++;
	grant.size = 0;
	if (!guestmem_read(opaque, gpa, dst, len))
		return false;
	memcpy(&entry, dst, sizeof(entry));
	grant.base = entry & 0x000ffffffffff000;
	grant.size = entry & 1 ? 0 : (uint64_t)PAGE << (entry >> 6 & 15);
	return true;
}

static bool fuzz_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	require_granted(gpa, len);
	return guestmem_write(opaque, gpa, src, len);
}

static void *fuzz_map(void *opaque, uint64_t gpa, size_t *len)
{
	require_granted(gpa, *len);
	return guestmem_map(opaque, gpa, len);
}

static void fuzz_committed(void *opaque, uint64_t gpa, size_t len)
{
	require_granted(gpa, len);
	guestmem_committed(opaque, gpa, len);
}

struct duel {
	struct vpt_caps caps;
	struct vpt_rtit rtit;
	struct guestmem mem[2]; /* the library's and the reference's */
	struct vpt_output out;
	struct outmodel model;
};

static void set_up(struct duel *duel, const struct head *head)
{
	unsigned int i, page, word;

	duel->caps.l14_0_ecx = head->many & 1 ? 0xf : 0xd;
	duel->caps.max_phy_addr = 32 + head->width % 21;
	guestmem_init(&duel->mem[0], (enum guestmem_map)(head->map % GUESTMEM_MAP_MODES));
	guestmem_init(&duel->mem[1], GUESTMEM_MAP_NONE);
	for (i = 0; i < 2; i++) {
		/* The page of the tables is always backed, since it holds the words. */
		for (page = 0; page < PAGES; page++) {
			if (!page || head->page[page] > 1)
				guestmem_ram(&duel->mem[i], page * PAGE, PAGE);
			else if (head->page[page])
				guestmem_rom(&duel->mem[i], page * PAGE, PAGE);
		}
		for (word = 0; word < head->words; word++)
			guestmem_poke(&duel->mem[i], 8 * word, &head->word[word], 8);
	}
	duel->mem[0].ops.read = fuzz_read;
	duel->mem[0].ops.write = fuzz_write;
	duel->mem[0].ops.committed = fuzz_committed;
	if (duel->mem[0].ops.map)
		duel->mem[0].ops.map = fuzz_map;
	vpt_output_init(&duel->out, &duel->caps, &duel->mem[0].ops, &duel->mem[0]);
	outmodel_init(&duel->model, &duel->mem[1], &duel->caps);

	duel->rtit.ctl = head->topa & 1 ? 0x101 : 0x001;
	duel->rtit.output_base =
		head->base & ~(uint64_t)0x7f & (~0ull >> (64 - duel->caps.max_phy_addr));
	duel->rtit.output_mask_ptrs = head->ptrs | 0x7f;
}

static void tear_down(struct duel *duel)
{
	outmodel_free(&duel->model);
	guestmem_free(&duel->mem[0]);
	guestmem_free(&duel->mem[1]);
}

static bool same_journal(const struct guestmem_journal *a, const struct guestmem_journal *b)
{
	return a->count == b->count &&
	       (!a->count || !memcmp(a->gpa, b->gpa, a->count * sizeof(*a->gpa)));
}

static void compare(struct duel *duel, unsigned int events, unsigned int expected)
{
	struct vpt_rtit is = duel->rtit, should = duel->rtit;

	REQUIRE(events == expected);
	vpt_output_sync(&duel->out, &is);
	outmodel_sync(&duel->model, &should);
	REQUIRE(is.output_base == should.output_base);
	REQUIRE(is.output_mask_ptrs == should.output_mask_ptrs);
	REQUIRE((is.output_mask_ptrs & 0x7f) == 0x7f);
	REQUIRE(duel->out.why == duel->model.why);
	REQUIRE((duel->out.why != VPT_OUT_ERR_NONE) <= duel->out.stopped);
	if (!duel->out.stopped)
		REQUIRE(is.output_mask_ptrs >> 32 < grant.size);
}

static void compare_memory(struct duel *duel)
{
	REQUIRE(same_journal(&duel->mem[0].committed, &duel->model.stored));
	REQUIRE(same_journal(&duel->mem[0].reads, &duel->mem[1].reads));
	REQUIRE(guestmem_same(&duel->mem[0], &duel->mem[1]));
	REQUIRE(guestmem_guards_intact(&duel->mem[0]));
}

static void start(struct duel *duel)
{
	grant.base = duel->rtit.output_base;
	grant.size = (duel->rtit.output_mask_ptrs & 0xffffffff) + 1;
	grant.reads = 0;
	compare(duel, vpt_output_start(&duel->out, &duel->rtit),
		outmodel_start(&duel->model, &duel->rtit));
	REQUIRE(grant.reads <= 2);
}

static void put(struct duel *duel, size_t len, uint8_t first)
{
	uint8_t bytes[PUT_MAX] = {0};
	size_t i;

	for (i = 0; i < len; i++)
		bytes[i] = (uint8_t)(first + 11 * i);
	grant.reads = 0;
	compare(duel, vpt_output_put(&duel->out, bytes, len),
		outmodel_put(&duel->model, bytes, len));
	REQUIRE(grant.reads <= 2 * (len / PAGE + 1));
}

static void end(struct duel *duel)
{
	vpt_output_sync(&duel->out, &duel->rtit);
	vpt_output_end(&duel->out);
	compare_memory(duel);
}

static void step(struct duel *duel, uint8_t code)
{
	if (code < 0x80) {
		put(duel, code % 17, code);
	} else if (code < 0xf0) {
		put(duel, (size_t)(code - 0x80) * 80, code);
	} else if (code < 0xf8) {
		vpt_output_flush(&duel->out);
		compare_memory(duel);
	} else {
		end(duel);
		start(duel);
	}
}

static struct head read_head(struct input *in)
{
	struct head head = {.base = take(in, 8)};
	unsigned int i;

	head.ptrs = take(in, 8);
	head.map = (uint8_t)take(in, 1);
	head.many = (uint8_t)take(in, 1);
	head.topa = (uint8_t)take(in, 1);
	head.width = (uint8_t)take(in, 1);
	head.words = (uint8_t)take(in, 1);
	for (i = 0; i < PAGES; i++)
		head.page[i] = (uint8_t)take(in, 1);
	for (i = 0; i < head.words && i < WORDS_MAX; i++)
		head.word[i] = take(in, 8);
	return head;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct head head = read_head(&in);
	static struct duel duel;
	unsigned int i;

	if (head.words > WORDS_MAX)
		return 0;
	memset(&duel, 0, sizeof(duel));
	set_up(&duel, &head);
	start(&duel);
	for (i = 0; in.left && i < STEPS_MAX; i++)
		step(&duel, (uint8_t)take(&in, 1));
	end(&duel);
	tear_down(&duel);
	return 0;
}
