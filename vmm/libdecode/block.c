// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Decode blocks of consecutive instructions, once for each version of their page. */
#include "libdecode/code_inside.h"

#include <string.h>

static uint64_t wrap(unsigned int mode, uint64_t ip)
{
	return mode == 64 ? ip : ip & 0xffffffffu;
}

static uint64_t target_of(const struct dec_insn *insn, unsigned int mode, uint64_t next)
{
	uint64_t target = insn->absolute ? (uint64_t)insn->disp : next + (uint64_t)insn->disp;

	/*
	 * Because the address includes a CS base, it does not show where the 64 KiB segment ends.
	 */
	return insn->target16 && next <= 0xffff ? target & 0xffff : wrap(mode, target);
}

static enum dec_end end_of(const struct dec_insn *insn)
{
	switch ((enum dec_insn_kind)insn->kind) {
	case DEC_INSN_PLAIN:
		return DEC_END_NEXT;
	case DEC_INSN_COND:
		return DEC_END_COND;
	case DEC_INSN_JUMP:
		return DEC_END_JUMP;
	case DEC_INSN_CALL:
		/* A CALL to the next instruction is not pushed (33.4.2.2). */
		return insn->disp ? DEC_END_CALL : DEC_END_JUMP;
	case DEC_INSN_JUMP_IND:
		return DEC_END_JUMP_IND;
	case DEC_INSN_CALL_IND:
		return DEC_END_CALL_IND;
	case DEC_INSN_RET:
		return DEC_END_RET;
	case DEC_INSN_CR3:
		return DEC_END_CR3;
	case DEC_INSN_CR0:
		return DEC_END_CR0;
	case DEC_INSN_INTO:
		return DEC_END_INTO;
	case DEC_INSN_PTWRITE:
		return DEC_END_PTWRITE;
	case DEC_INSN_WRMSR:
		return DEC_END_WRMSR;
	case DEC_INSN_VMPTRLD:
		return DEC_END_VMPTRLD;
	default:
		return DEC_END_FAR;
	}
}

/*
 * Decode the instruction at @ip, which starts in the block's page. An instruction that straddles
 * pages also needs the next page. Returns 1, 0 or -1 as dec_x86_read() does.
 */
static int read_insn(struct dec_code *code, struct dec_block *block, uint64_t ip,
		     struct dec_insn *insn)
{
	const uint8_t *page = block->place->page->now->bytes;
	size_t at = ip & (DEC_PAGE - 1), room = DEC_PAGE - at;
	uint8_t bytes[DEC_INSN_MAX];
	bool shared;
	int status;

	status = dec_x86_read(code->x86, block->mode, page + at,
			      room < DEC_INSN_MAX ? room : DEC_INSN_MAX, insn);
	if (status >= 0 || room >= DEC_INSN_MAX)
		return status;
	memcpy(bytes, page + at, room);
	block->tail = dec_code_place(code, wrap(block->mode, ip + room), &shared);
	if (!block->tail || !block->tail->page->now) {
		block->tail = NULL;
		return -1;
	}
	block->tail_gen = block->tail->page->now->gen;
	memcpy(bytes + room, block->tail->page->now->bytes, DEC_INSN_MAX - room);
	return dec_x86_read(code->x86, block->mode, bytes, DEC_INSN_MAX, insn);
}

static void fill(struct dec_code *code, struct dec_block *block)
{
	uint64_t ip = block->ip, vaddr = block->place->vaddr;

	block->lens = code->nlens;
	block->last = ip;
	block->end = DEC_END_NEXT;
	while (block->insns < DEC_INSNS_MAX && ip - vaddr < DEC_PAGE) {
		struct dec_insn insn;
		int status = read_insn(code, block, ip, &insn);

		if (status <= 0) {
			block->end = status ? DEC_END_HOLE : DEC_END_BAD;
			break;
		}
		code->lens[code->nlens++] = insn.len;
		block->insns++;
		block->last = ip;
		block->insn_kind = insn.kind;
		ip += insn.len;
		block->end = (uint8_t)end_of(&insn);
		if (block->end != DEC_END_NEXT) {
			block->target = target_of(&insn, block->mode, ip);
			break;
		}
	}
	block->next = wrap(block->mode, ip);
	if (block->end == DEC_END_HOLE)
		code->holes = true;
}

/* Keys of the table of blocks. */
static uint64_t key_of(const struct dec_place *place, uint32_t gen)
{
	return (uint64_t)place->id << 32 | gen;
}

static uint64_t key2_of(uint64_t ip, unsigned int mode)
{
	return ip << 8 | mode;
}

/*
 * Returns true if all addresses of the page can share the block, because no byte of it is in
 * another page.
 */
static bool is_twin(const struct dec_block *block)
{
	return !block->tail && block->end != DEC_END_HOLE;
}

/* Returns the block at another address of the page, or NULL. */
static const struct dec_block *find_twin(const struct dec_code *code, const struct dec_block *block)
{
	const struct dec_place *first = block->place->page->first;
	uint64_t offset = block->ip & (DEC_PAGE - 1);
	void **slot;

	if (first != block->place) {
		slot = dec_table_find(&code->blocks, key_of(first, block->gen),
				      key2_of(first->vaddr + offset, block->mode));
		if (slot && is_twin(*slot))
			return *slot;
	}
	slot = dec_table_find(&code->twins, block->gen, key2_of(offset, block->mode));
	return slot ? *slot : NULL;
}

/* Copy the block from its twin. Only the targets depend on the address. */
static void copy_twin(struct dec_code *code, struct dec_block *block, const struct dec_block *twin)
{
	struct dec_insn insn;

	block->lens = twin->lens;
	block->insns = twin->insns;
	block->end = twin->end;
	block->insn_kind = twin->insn_kind;
	block->last = block->ip + (twin->last - twin->ip);
	block->next = block->ip;
	if (!block->insns)
		return;
	block->next = block->last + code->lens[block->lens + block->insns - 1u];
	if (block->end != DEC_END_NEXT && block->end != DEC_END_BAD &&
	    read_insn(code, block, block->last, &insn) > 0)
		block->target = target_of(&insn, block->mode, block->next);
	block->next = wrap(block->mode, block->next);
}

/* Returns false if there is no memory. */
static bool make(struct dec_code *code, struct dec_block *block)
{
	const struct dec_block *twin = find_twin(code, block);

	if (twin) {
		copy_twin(code, block, twin);
		return true;
	}
	fill(code, block);
	if (block->place == block->place->page->first || !is_twin(block))
		return true;
	return !dec_table_add(&code->twins, block->gen,
			      key2_of(block->ip & (DEC_PAGE - 1), block->mode), block);
}

/*
 * Returns true if the block, which has the present place and generation, also matches the code of
 * the next page.
 */
static bool is_current(struct dec_code *code, const struct dec_block *block)
{
	bool shared;

	if (block->end == DEC_END_HOLE)
		return false;
	if (!block->tail)
		return true;
	return dec_code_place(code, block->place->vaddr + DEC_PAGE, &shared) == block->tail &&
	       block->tail->page->now->gen == block->tail_gen;
}

/* Returns the block for addresses without a page. All addresses share it. */
static struct dec_block *no_code(struct dec_code *code, uint64_t ip, unsigned int mode)
{
	code->hole = (struct dec_block){
		.ip = ip,
		.last = ip,
		.next = ip,
		.mode = (uint8_t)mode,
		.end = DEC_END_HOLE,
	};
	return &code->hole;
}

/*
 * Decode a block that ended at a missing page again. No walk leads through the block and it has no
 * edges, so it can stay where it is. A trace may reach such a block any number of times.
 */
static void refill(struct dec_code *code, struct dec_block *block)
{
	const struct dec_block old = *block;

	*block = (struct dec_block){
		.ip = old.ip,
		.mode = old.mode,
		.place = old.place,
		.gen = old.gen,
		.id = old.id,
	};
	fill(code, block);
	/* The page is still missing, and the lengths are the same. */
	if (block->end == DEC_END_HOLE) {
		code->nlens = block->lens;
		block->lens = old.lens;
	}
}

static struct dec_block *find_block(struct dec_code *code, uint64_t ip, unsigned int mode)
{
	struct dec_block *block;
	struct dec_place *place;
	uint64_t key, key2;
	bool shared;
	void **slot;

	place = dec_code_place(code, ip, &shared);
	if (!place || !place->page->now)
		return no_code(code, ip, mode);
	key = key_of(place, place->page->now->gen);
	key2 = key2_of(ip, mode);
	slot = dec_table_find(&code->blocks, key, key2);
	if (slot && is_current(code, *slot)) {
		block = *slot;
		block->of_all_spaces = shared;
		return block;
	}
	if (dec_blocks_lens_room(code))
		return NULL;
	if (slot && ((struct dec_block *)*slot)->end == DEC_END_HOLE) {
		block = *slot;
		refill(code, block);
		block->of_all_spaces = shared;
		return block;
	}
	block = dec_blocks_new(code);
	if (!block)
		return NULL;
	block->ip = ip;
	block->mode = (uint8_t)mode;
	block->of_all_spaces = shared;
	block->place = place;
	block->gen = place->page->now->gen;
	if (!make(code, block))
		return NULL;
	if (slot)
		*slot = block;
	else if (dec_table_add(&code->blocks, key, key2, block))
		return NULL;
	return block;
}

/*
 * Returns true if a look-up would find @block, a block of all spaces from @view, which is not the
 * current view. Most views begin because another page has new content.
 */
static inline bool is_there(const struct dec_code *code, const struct dec_block *block,
			    uint32_t view)
{
	return view >= code->mapped && block->of_all_spaces &&
	       block->gen == block->place->page->now->gen && is_twin(block);
}

struct dec_block *dec_code_block(struct dec_code *code, uint64_t ip, unsigned int mode)
{
	struct dec_recent *recent;
	struct dec_block *block;

	ip = wrap(mode, ip);
	recent = &code->recent[(ip ^ ip >> 12) % DEC_RECENT];
	block = recent->block;
	if (block && recent->ip == ip && block->mode == mode) {
		if (recent->view == code->views[block->of_all_spaces])
			return block;
		if (is_there(code, block, recent->view)) {
			recent->view = code->views[1];
			return block;
		}
	}
	block = find_block(code, ip, mode);
	if (block && block != &code->hole)
		*recent = (struct dec_recent){ip, block, code->views[block->of_all_spaces]};
	return block;
}

struct dec_block *dec_code_link(struct dec_code *code, struct dec_block *block, unsigned int which)
{
	uint64_t ip = which == DEC_TAKEN ? block->target : block->next;
	struct dec_block *to = block->to[which];

	if (!to || !block->of_all[which] || !is_there(code, to, block->view[which]))
		to = dec_code_block(code, ip, block->mode);
	if (!to || !to->insns)
		return to;
	/* A link is valid for all spaces if both of its ends are. */
	block->of_all[which] = to->of_all_spaces && block->of_all_spaces;
	block->to[which] = to;
	block->view[which] = code->views[block->of_all[which]];
	return to;
}

void dec_code_link_to(struct dec_code *code, struct dec_block *block, struct dec_block *to)
{
	if (!to->insns)
		return;
	block->of_all[DEC_TAKEN] = to->of_all_spaces;
	block->to[DEC_TAKEN] = to;
	block->view[DEC_TAKEN] = code->views[to->of_all_spaces];
}
