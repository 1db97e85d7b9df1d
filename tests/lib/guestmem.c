// SPDX-License-Identifier: GPL-2.0-or-later
/* Fake guest RAM: see guestmem.h. */
#include "lib/guestmem.h"

#include <stdlib.h>
#include <string.h>

#define GUARD	   64
#define GUARD_BYTE 0xc5

uint8_t guestmem_pattern(uint64_t gpa)
{
	return (uint8_t)((gpa * 0x9e3779b97f4a7c15u) >> 56);
}

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static uint8_t *guarded(size_t len)
{
	uint8_t *block = must(malloc(len + 2 * GUARD));

	memset(block, GUARD_BYTE, GUARD);
	memset(block + GUARD + len, GUARD_BYTE, GUARD);
	return block;
}

static bool guards_ok(const uint8_t *block, size_t len)
{
	unsigned int i;

	for (i = 0; i < GUARD; i++) {
		if (block[i] != GUARD_BYTE || block[GUARD + len + i] != GUARD_BYTE)
			return false;
	}
	return true;
}

void guestmem_init(struct guestmem *mem, enum guestmem_map map)
{
	memset(mem, 0, sizeof(*mem));
	mem->ops.read = guestmem_read;
	mem->ops.write = guestmem_write;
	mem->ops.committed = guestmem_committed;
	if (map != GUESTMEM_MAP_NONE)
		mem->ops.map = guestmem_map;
	mem->mode = map;
}

void guestmem_free(struct guestmem *mem)
{
	unsigned int i;

	for (i = 0; i < mem->slots; i++)
		free(mem->slot[i].block);
	free(mem->bounce);
	free(mem->reads.gpa);
	free(mem->committed.gpa);
}

static void add_slot(struct guestmem *mem, uint64_t gpa, size_t len, bool read_only)
{
	struct guestmem_slot *slot = &mem->slot[mem->slots];
	size_t i;

	if (mem->slots++ == GUESTMEM_SLOTS)
		abort();
	slot->gpa = gpa;
	slot->len = len;
	slot->read_only = read_only;
	slot->block = guarded(len);
	for (i = 0; i < len; i++)
		slot->block[GUARD + i] = guestmem_pattern(gpa + i);
}

void guestmem_ram(struct guestmem *mem, uint64_t gpa, size_t len)
{
	add_slot(mem, gpa, len, false);
}

void guestmem_rom(struct guestmem *mem, uint64_t gpa, size_t len)
{
	add_slot(mem, gpa, len, true);
}

void guestmem_note(struct guestmem_journal *journal, uint64_t gpa)
{
	if (journal->count == journal->room) {
		journal->room = journal->room ? 2 * journal->room : 256;
		journal->gpa = must(realloc(journal->gpa, journal->room * sizeof(*journal->gpa)));
	}
	journal->gpa[journal->count++] = gpa;
}

/* Return the host address of gpa, and limit *len to the end of the range. Return NULL in a hole. */
static uint8_t *find(const struct guestmem *mem, uint64_t gpa, size_t *len, bool write)
{
	const struct guestmem_slot *slot;

	for (slot = mem->slot; slot < mem->slot + mem->slots; slot++) {
		uint64_t at = gpa - slot->gpa;

		if (at >= slot->len || (write && slot->read_only))
			continue;
		if (*len > slot->len - at)
			*len = (size_t)(slot->len - at);
		return slot->block + GUARD + at;
	}
	return NULL;
}

/* Is the whole stretch backed by RAM? Ranges may adjoin. */
static bool backed(const struct guestmem *mem, uint64_t gpa, size_t len, bool write)
{
	while (len) {
		size_t n = len;

		if (!find(mem, gpa, &n, write))
			return false;
		gpa += n;
		len -= n;
	}
	return true;
}

void guestmem_poke(struct guestmem *mem, uint64_t gpa, const void *bytes, size_t len)
{
	const uint8_t *src = bytes;

	while (len) {
		size_t n = len;
		uint8_t *at = must(find(mem, gpa, &n, false));

		memcpy(at, src, n);
		gpa += n;
		src += n;
		len -= n;
	}
}

void guestmem_peek(const struct guestmem *mem, uint64_t gpa, void *bytes, size_t len)
{
	uint8_t *dst = bytes;

	while (len) {
		size_t n = len;
		const uint8_t *at = must(find(mem, gpa, &n, false));

		memcpy(dst, at, n);
		gpa += n;
		dst += n;
		len -= n;
	}
}

void guestmem_poke64(struct guestmem *mem, uint64_t gpa, uint64_t value)
{
	uint8_t raw[8];
	unsigned int i;

	for (i = 0; i < 8; i++)
		raw[i] = (uint8_t)(value >> (8 * i));
	guestmem_poke(mem, gpa, raw, sizeof(raw));
}

bool guestmem_intact(const struct guestmem *mem, uint64_t gpa, size_t len)
{
	while (len--) {
		uint8_t byte;

		guestmem_peek(mem, gpa, &byte, 1);
		if (byte != guestmem_pattern(gpa++))
			return false;
	}
	return true;
}

bool guestmem_guards_intact(const struct guestmem *mem)
{
	unsigned int i;

	if (mem->misuse || (mem->bounce && !guards_ok(mem->bounce, mem->bounce_len)))
		return false;
	for (i = 0; i < mem->slots; i++) {
		if (!guards_ok(mem->slot[i].block, mem->slot[i].len))
			return false;
	}
	return true;
}

bool guestmem_same(const struct guestmem *a, const struct guestmem *b)
{
	unsigned int i;

	if (a->slots != b->slots)
		return false;
	for (i = 0; i < a->slots; i++) {
		const struct guestmem_slot *x = &a->slot[i], *y = &b->slot[i];

		if (x->gpa != y->gpa || x->len != y->len ||
		    memcmp(x->block + GUARD, y->block + GUARD, x->len))
			return false;
	}
	return true;
}

bool guestmem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	struct guestmem *mem = opaque;

	mem->misuse |= !len;
	guestmem_note(&mem->reads, gpa);
	if (mem->on_read)
		mem->on_read(mem, gpa);
	if (!backed(mem, gpa, len, false))
		return false;
	guestmem_peek(mem, gpa, dst, len);
	return true;
}

bool guestmem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct guestmem *mem = opaque;

	mem->misuse |= !len;
	if (!backed(mem, gpa, len, true))
		return false;
	guestmem_poke(mem, gpa, src, len);
	return true;
}

/*
 * Return a new stretch, which replaces the last one. This is stricter than the contract of mem.h.
 */
static void *new_bounce(struct guestmem *mem, uint64_t gpa, size_t len)
{
	mem->misuse |= mem->bounce && !guards_ok(mem->bounce, mem->bounce_len);
	free(mem->bounce);
	mem->bounce = guarded(len);
	mem->bounce_gpa = gpa;
	mem->bounce_len = len;
	return mem->bounce + GUARD;
}

void *guestmem_map(void *opaque, uint64_t gpa, size_t *len)
{
	struct guestmem *mem = opaque;
	size_t n = mem->mode == GUESTMEM_MAP_MORE ? SIZE_MAX : *len;
	void *host;

	mem->misuse |= !*len;
	host = find(mem, gpa, &n, true);
	if (!host || mem->mode == GUESTMEM_MAP_REFUSE)
		return NULL;
	if (mem->mode == GUESTMEM_MAP_SHORT || mem->mode == GUESTMEM_MAP_BOUNCE) {
		size_t most = 1 + mem->stretches++ % 7;

		n = n < most ? n : most;
	}
	if (mem->mode == GUESTMEM_MAP_BOUNCE)
		host = new_bounce(mem, gpa, n);
	*len = n;
	return host;
}

void guestmem_committed(void *opaque, uint64_t gpa, size_t len)
{
	struct guestmem *mem = opaque;
	uint64_t at = gpa - mem->bounce_gpa;
	size_t i;

	mem->misuse |= !len || !backed(mem, gpa, len, true);
	/* Bytes that ops.write took itself lie outside the stretch. */
	if (mem->bounce && at < mem->bounce_len) {
		if (len > mem->bounce_len - at)
			mem->misuse = true;
		else
			guestmem_poke(mem, gpa, mem->bounce + GUARD + at, len);
	}
	for (i = 0; i < len; i++)
		guestmem_note(&mem->committed, gpa + i);
}
