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
	uint64_t base, ptrs;
	uint8_t map, many, topa, width, words;
	uint8_t page[PAGES]; /* 0: hole, 1: read-only, else RAM */
};
#define HEAD_BYTES (8 + 8 + 5 + PAGES)

/* What the output may touch now, by the last entry it read or by the MSRs. */
static struct {
	uint64_t base, size;
	unsigned int reads;
} grant;

static void require(bool cond)
{
	if (!cond)
		abort();
}

static void require_granted(uint64_t gpa, uint64_t len)
{
	require(len && gpa >= grant.base && len <= grant.size &&
		gpa - grant.base <= grant.size - len);
}

static bool fuzz_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	uint64_t entry;

	require(len == 8 && gpa % 8 == 0);
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

static void set_up(struct duel *duel, const struct head *head, const uint8_t *words)
{
	unsigned int i, page, word;

	duel->caps.l14_0_ecx = head->many & 1 ? 0xf : 0xd;
	duel->caps.max_phy_addr = 32 + head->width % 21;
	guestmem_init(&duel->mem[0], (enum guestmem_map)(head->map % GUESTMEM_MAP_MODES));
	guestmem_init(&duel->mem[1], GUESTMEM_MAP_NONE);
	for (i = 0; i < 2; i++) {
		/* The tables' page is always there: the words have to go somewhere. */
		for (page = 0; page < PAGES; page++) {
			if (!page || head->page[page] > 1)
				guestmem_ram(&duel->mem[i], page * PAGE, PAGE);
			else if (head->page[page])
				guestmem_rom(&duel->mem[i], page * PAGE, PAGE);
		}
		for (word = 0; word < head->words; word++)
			guestmem_poke(&duel->mem[i], 8 * word, words + 8 * word, 8);
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

	require(events == expected);
	vpt_output_sync(&duel->out, &is);
	outmodel_sync(&duel->model, &should);
	require(is.output_base == should.output_base);
	require(is.output_mask_ptrs == should.output_mask_ptrs);
	require((is.output_mask_ptrs & 0x7f) == 0x7f);
	require(duel->out.why == duel->model.why);
	require((duel->out.why != VPT_OUT_ERR_NONE) <= duel->out.stopped);
	if (!duel->out.stopped)
		require(is.output_mask_ptrs >> 32 < grant.size);
}

static void compare_memory(struct duel *duel)
{
	require(same_journal(&duel->mem[0].committed, &duel->model.stored));
	require(same_journal(&duel->mem[0].reads, &duel->mem[1].reads));
	require(guestmem_same(&duel->mem[0], &duel->mem[1]));
	require(guestmem_guards_intact(&duel->mem[0]));
}

static void start(struct duel *duel)
{
	grant.base = duel->rtit.output_base;
	grant.size = (duel->rtit.output_mask_ptrs & 0xffffffff) + 1;
	grant.reads = 0;
	compare(duel, vpt_output_start(&duel->out, &duel->rtit),
		outmodel_start(&duel->model, &duel->rtit));
	require(grant.reads <= 2);
}

static void put(struct duel *duel, size_t len, uint8_t first)
{
	uint8_t bytes[PUT_MAX];
	size_t i;

	for (i = 0; i < len; i++)
		bytes[i] = (uint8_t)(first + 11 * i);
	grant.reads = 0;
	compare(duel, vpt_output_put(&duel->out, bytes, len),
		outmodel_put(&duel->model, bytes, len));
	require(grant.reads <= 2 * (len / PAGE + 1));
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

static uint64_t take64(const uint8_t *data)
{
	uint64_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct duel duel;
	struct head head;
	size_t i;

	if (size < HEAD_BYTES)
		return 0;
	head.base = take64(data);
	head.ptrs = take64(data + 8);
	head.map = data[16];
	head.many = data[17];
	head.topa = data[18];
	head.width = data[19];
	head.words = data[20];
	memcpy(head.page, data + 21, PAGES);
	data += HEAD_BYTES;
	size -= HEAD_BYTES;
	if (head.words > WORDS_MAX || size < 8u * head.words)
		return 0;

	memset(&duel, 0, sizeof(duel));
	set_up(&duel, &head, data);
	start(&duel);
	for (i = 8u * head.words; i < size && i < 8u * head.words + STEPS_MAX; i++)
		step(&duel, data[i]);
	end(&duel);
	tear_down(&duel);
	return 0;
}
