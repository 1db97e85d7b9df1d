/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fake guest RAM for tests of the library. Ranges are at any guest-physical address, may be
 * read-only, and have holes between them. Bytes that were not written hold a known pattern. Guard
 * bytes surround each range in host memory. ops has the four callbacks, whose `opaque` is the
 * struct itself. Journals record their calls.
 */
#ifndef TESTS_LIB_GUESTMEM_H
#define TESTS_LIB_GUESTMEM_H

#include <vpt/mem.h>

/* How ops.map behaves. */
enum guestmem_map {
	GUESTMEM_MAP_NONE,   /* ops.map is NULL */
	GUESTMEM_MAP_WHOLE,  /* the requested part of the range */
	GUESTMEM_MAP_MORE,   /* the whole rest of the range, regardless of the request */
	GUESTMEM_MAP_SHORT,  /* 1 to 7 bytes at a time */
	GUESTMEM_MAP_BOUNCE, /* short, and off the range: only committed() stores */
	GUESTMEM_MAP_REFUSE, /* NULL always */
	GUESTMEM_MAP_MODES
};

#define GUESTMEM_SLOTS 24

struct guestmem_slot {
	uint64_t gpa;
	size_t len;
	bool read_only;
	uint8_t *block; /* guard, the bytes, guard */
};

/* Addresses, in the order of the accesses. */
struct guestmem_journal {
	uint64_t *gpa;
	size_t count, room;
};

struct guestmem {
	struct vpt_mem_ops ops;
	enum guestmem_map mode;
	unsigned int slots;
	struct guestmem_slot slot[GUESTMEM_SLOTS];

	struct guestmem_journal reads;	   /* one for each call of ops.read */
	struct guestmem_journal committed; /* one for each byte */
	bool misuse;			   /* a call with length 0, or committed() outside RAM */

	/* Called by ops.read before it copies; a test can change the guest's tables here. */
	void (*on_read)(struct guestmem *mem, uint64_t gpa);

	unsigned int stretches; /* number of stretches returned by SHORT and BOUNCE */
	uint64_t bounce_gpa;
	size_t bounce_len;
	uint8_t *bounce; /* guard, the bytes, guard */
};

void guestmem_init(struct guestmem *mem, enum guestmem_map map);
void guestmem_free(struct guestmem *mem);

/* Add a range, which must not overlap another, filled with the pattern. */
void guestmem_ram(struct guestmem *mem, uint64_t gpa, size_t len);
void guestmem_rom(struct guestmem *mem, uint64_t gpa, size_t len);

/* Return the value of an unwritten byte at this address. */
uint8_t guestmem_pattern(uint64_t gpa);

/*
 * The guest's own accesses. They are not recorded in journals and may write read-only ranges. The
 * range must be backed.
 */
void guestmem_poke(struct guestmem *mem, uint64_t gpa, const void *bytes, size_t len);
void guestmem_peek(const struct guestmem *mem, uint64_t gpa, void *bytes, size_t len);
void guestmem_poke64(struct guestmem *mem, uint64_t gpa, uint64_t value);

/* Is the range untouched? Must be backed. */
bool guestmem_intact(const struct guestmem *mem, uint64_t gpa, size_t len);

/* Is every guard around ranges and stretches untouched, and `misuse` clear? */
bool guestmem_guards_intact(const struct guestmem *mem);

/* Do both have the same ranges with the same bytes? */
bool guestmem_same(const struct guestmem *a, const struct guestmem *b);

/* The callbacks, for tests with another `opaque`. */
bool guestmem_read(void *opaque, uint64_t gpa, void *dst, size_t len);
bool guestmem_write(void *opaque, uint64_t gpa, const void *src, size_t len);
void *guestmem_map(void *opaque, uint64_t gpa, size_t *len);
void guestmem_committed(void *opaque, uint64_t gpa, size_t len);

void guestmem_note(struct guestmem_journal *journal, uint64_t gpa);

#endif /* TESTS_LIB_GUESTMEM_H */
