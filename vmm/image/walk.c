// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks page tables. A table of levels and the reserved bits distinguish the formats. */
#include "image/walk.h"

#define P	  (1ull << 0)
#define PS	  (1ull << 7)
#define XD	  (1ull << 63)
#define ADDRESS	  0x000ffffffffff000ull
#define EPT_RIGHT 7ull /* present: any of read, write and execute */

/* Reserved bits of a PDPTE of PAE paging, which has no access rights. */
#define PDPTE_RESERVED (0xfff00000000001e6ull)
/* In other entries of PAE paging bits 62:52 are reserved. */
#define PAE_RESERVED 0x7ff0000000000000ull
/* Bits 39:32 of a 4 MiB page's address are in bits 20:13 of its entry. Bit 21 is reserved. */
#define PSE36_SHIFT 13
#define PSE36_BITS  0xffull
#define PSE36_TOP   (1ull << 21)

enum level_flags {
	NO_PS = 1 << 0,	  /* bit 7 is reserved */
	MAY_MAP = 1 << 1, /* a page if bit 7 is set, else a table */
	MAPS = 1 << 2,	  /* always a page */
	PDPTE = 1 << 3,	  /* a PDPTE of PAE paging */
};

struct level {
	uint8_t shift, bits; /* the part of the address that is the index */
	uint8_t flags;
};

static const struct level long_mode[] = {
	{48, 9, NO_PS}, {39, 9, NO_PS}, {30, 9, MAY_MAP}, {21, 9, MAY_MAP}, {12, 9, MAPS},
};
static const struct level pae[] = {{30, 2, PDPTE}, {21, 9, MAY_MAP}, {12, 9, MAPS}};
static const struct level legacy[] = {{22, 10, MAY_MAP}, {12, 10, MAPS}};

static bool is_ept(enum image_paging paging)
{
	return paging == IMAGE_EPT4 || paging == IMAGE_EPT5;
}

/* Returns false if @address cannot be a linear (for EPT: a guest-physical) address. */
static bool canonical(enum image_paging paging, uint64_t address)
{
	int64_t top = (int64_t)address;

	switch (paging) {
	case IMAGE_LEVELS4:
		return top >> 47 == 0 || top >> 47 == -1;
	case IMAGE_LEVELS5:
		return top >> 56 == 0 || top >> 56 == -1;
	case IMAGE_EPT4:
		return !(address >> 48);
	case IMAGE_EPT5:
		return !(address >> 57);
	default:
		return !(address >> 32);
	}
}

static const struct level *first_level(enum image_paging paging)
{
	switch (paging) {
	case IMAGE_LEGACY:
		return legacy;
	case IMAGE_PAE:
		return pae;
	case IMAGE_LEVELS5:
	case IMAGE_EPT5:
		return long_mode;
	default:
		return long_mode + 1;
	}
}

static uint64_t first_table(enum image_paging paging, uint64_t root)
{
	switch (paging) {
	case IMAGE_LEGACY:
		return root & 0xfffff000;
	case IMAGE_PAE:
		return root & 0xffffffe0;
	default:
		return root & ADDRESS;
	}
}

/* Return EPT misconfigurations that do not depend on the processor (29.3.3.1). */
static uint64_t ept_reserved(const struct level *level, uint64_t entry, bool page)
{
	uint64_t type = entry >> 3 & 7;

	/* The entry is writable but not readable. */
	if ((entry & 3) == 2)
		return entry;
	if (page)
		return type == 2 || type == 3 || type == 7 ? entry : 0;
	return entry & (level->flags & NO_PS ? 0xf8 : 0x78);
}

/* Return the reserved bits that are set. */
static uint64_t reserved(enum image_paging paging, const struct level *level, uint64_t entry,
			 bool page)
{
	uint64_t bits = 0;

	if (paging == IMAGE_LEGACY)
		return page && level->flags & MAY_MAP ? entry & PSE36_TOP : 0;
	/*
	 * The bits below the number of a large page are reserved, except PAT in bit 12. EPT has no
	 * PAT there.
	 */
	if (page && !(level->flags & MAPS))
		bits = ((1ull << level->shift) - 1) & ~(is_ept(paging) ? 0xfffull : 0x1fffull);
	if (is_ept(paging))
		return (entry & bits) | ept_reserved(level, entry, page);
	if (level->flags & PDPTE)
		return entry & PDPTE_RESERVED;
	if (paging == IMAGE_PAE)
		bits |= PAE_RESERVED;
	if (level->flags & NO_PS)
		bits |= PS;
	return entry & bits;
}

static bool read_entry(const struct image_memory *memory, enum image_paging paging, uint64_t table,
		       uint64_t index, uint64_t *entry)
{
	uint32_t narrow;

	if (paging != IMAGE_LEGACY)
		return memory->read(memory->context, table + 8 * index, entry, sizeof(*entry));
	if (!memory->read(memory->context, table + 4 * index, &narrow, sizeof(narrow)))
		return false;
	*entry = narrow;
	return true;
}

static uint64_t frame(enum image_paging paging, const struct level *level, uint64_t entry)
{
	if (paging == IMAGE_LEGACY && level->flags & MAY_MAP)
		return (entry & 0xffc00000) | (entry >> PSE36_SHIFT & PSE36_BITS) << 32;
	return entry & ADDRESS & ~((1ull << level->shift) - 1);
}

enum image_walk_result image_walk(const struct image_memory *memory, enum image_paging paging,
				  uint64_t root, uint64_t address, uint64_t *physical)
{
	const struct level *level = first_level(paging);
	uint64_t table = first_table(paging, root), entry;
	bool page;

	if (!canonical(paging, address))
		return IMAGE_NOT_CANONICAL;
	if (paging == IMAGE_FLAT) {
		*physical = address;
		return IMAGE_MAPPED;
	}
	for (;; table = entry & ADDRESS, level++) {
		uint64_t index = address >> level->shift & ((1u << level->bits) - 1);

		if (!read_entry(memory, paging, table, index, &entry))
			return IMAGE_OUTSIDE;
		if (!(entry & (is_ept(paging) ? EPT_RIGHT : P)))
			return IMAGE_NOT_PRESENT;
		page = level->flags & MAPS || (level->flags & MAY_MAP && entry & PS);
		if (reserved(paging, level, entry, page))
			return IMAGE_RESERVED;
		if (entry & XD && !is_ept(paging))
			return IMAGE_NO_EXECUTE;
		if (page)
			break;
	}
	*physical = frame(paging, level, entry) | (address & ((1ull << level->shift) - 1));
	return IMAGE_MAPPED;
}
