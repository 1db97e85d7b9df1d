/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The code that a trace runs through: pages of bytes, where each address space maps them, and
 * the blocks of instructions that start in them.
 *
 * A page is known by a key that its owner chooses, the guest-physical address where that is
 * known. Its content can change: each content that a page has had is a version, and a version
 * that returns finds its blocks again. Addresses with bit 63 set are the kernel's half. Address
 * spaces share that half, except for addresses at which two spaces were seen to differ.
 */
#ifndef VMM_LIBDECODE_CODE_H
#define VMM_LIBDECODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libdecode/insn.h"

#define DEC_PAGE 4096u

struct dec_code;
struct dec_place;

/* How a block ends. */
enum dec_end {
	DEC_END_NEXT,	  /* falls through: end of the page, or the block became too long */
	DEC_END_COND,	  /* conditional branch: an outcome decides */
	DEC_END_JUMP,	  /* direct near JMP */
	DEC_END_CALL,	  /* direct near CALL that pushes a return address */
	DEC_END_JUMP_IND, /* near indirect JMP */
	DEC_END_CALL_IND, /* near indirect CALL */
	DEC_END_RET,	  /* near RET */
	DEC_END_FAR,	  /* far transfer of any kind, see `insn_kind` */
	DEC_END_CR3,	  /* MOV to CR3; falls through */
	DEC_END_CR0,	  /* MOV to CR0; falls through */
	DEC_END_INTO,	  /* INTO; falls through unless it is an interrupt */
	DEC_END_PTWRITE,  /* PTWRITE; falls through */
	DEC_END_WRMSR,	  /* WRMSR; falls through */
	DEC_END_VMPTRLD,  /* VMPTRLD; falls through */
	DEC_END_HOLE,	  /* the next instruction cannot be read: there is no code */
	DEC_END_BAD,	  /* the next bytes are no instruction */
};

/* Which branch of a block a link is for. */
enum { DEC_FALL, DEC_TAKEN, DEC_LINKS };

/*
 * Instructions in a row that execution enters at the first one. @view says for which view the
 * link was made; a link whose view is not the current one must be resolved again.
 */
struct dec_block {
	uint64_t ip;	 /* of the first instruction */
	uint64_t last;	 /* of the last instruction; @ip if there is none */
	uint64_t next;	 /* behind the last instruction */
	uint64_t target; /* COND, JUMP, CALL: where the branch leads */
	struct dec_block *to[DEC_LINKS];
	uint32_t view[DEC_LINKS];
	uint8_t of_all[DEC_LINKS]; /* the link's view is that of all spaces: index of views[] */
	uint64_t hits[DEC_LINKS];  /* executions that left by this link */
	struct dec_place *place;   /* its page, at its address */
	struct dec_place *tail; /* the page of the last bytes if that is another one, else NULL */
	uint32_t gen, tail_gen; /* generations of their content when the block was made */
	uint32_t id;
	uint32_t lens;	       /* index of the instructions' lengths */
	uint16_t insns;	       /* may be 0 with HOLE and BAD */
	uint8_t end;	       /* enum dec_end */
	uint8_t insn_kind;     /* enum dec_insn_kind of the last instruction */
	uint8_t mode;	       /* 16, 32 or 64 */
	uint8_t of_all_spaces; /* 1: in the kernel's half, where no spaces differ */
};

/* NULL: no memory. */
struct dec_code *dec_code_new(void);
void dec_code_free(struct dec_code *code);

/*
 * The page of this key has this content from now on: DEC_PAGE bytes, which are copied. Blocks of
 * another content become stale. 0, or -ENOMEM.
 */
int dec_code_content(struct dec_code *code, uint64_t key, const uint8_t *bytes);

/*
 * Give the page @key, which has no content yet, this content for ever. The DEC_PAGE bytes are not
 * copied and must stay where they are. Returns 0 or -ENOMEM.
 */
int dec_code_lend(struct dec_code *code, uint64_t key, const uint8_t *bytes);

/* Does the page of this key have a content? */
bool dec_code_has(const struct dec_code *code, uint64_t key);

/* From now on @space maps the page of @key at @vaddr (4 KiB aligned). 0, or -ENOMEM. */
int dec_code_map(struct dec_code *code, uint64_t space, uint64_t vaddr, uint64_t key);

/*
 * Let address spaces share only the pages of DEC_ANY_SPACE. The kernel's half is not shared either,
 * since a guest can have another one. Call this function before there is any code.
 */
void dec_code_separate(struct dec_code *code);

/* Code of this space belongs to every space that has no code of its own there. */
#define DEC_ANY_SPACE UINT64_MAX

/*
 * Set a callback for pages without code. @fetch adds the page by the two functions above and
 * returns true, or returns false if there is no such page.
 */
void dec_code_on_miss(struct dec_code *code,
		      bool (*fetch)(void *context, uint64_t space, uint64_t vaddr), void *context);

/*
 * Find the page that @space itself has at @vaddr. Sets *key and *bytes, which is NULL if the page
 * has no content. Returns false if there is no page. Does not call the callback.
 */
bool dec_code_at_page(const struct dec_code *code, uint64_t space, uint64_t vaddr, uint64_t *key,
		      const uint8_t **bytes);

/* Returns the key of the page that holds the block. */
uint64_t dec_block_key(const struct dec_block *block);

/* Use this address space from now on. 0, or -ENOMEM. */
int dec_code_select(struct dec_code *code, uint64_t space);

/* Copy up to @len bytes at @ip as the selected space has them. Returns how many there are. */
size_t dec_code_read(struct dec_code *code, uint64_t ip, uint8_t *bytes, size_t len);

/*
 * The block that starts at @ip, made if need be. NULL: no memory. A block without instructions
 * says by its end what is wrong there.
 */
struct dec_block *dec_code_block(struct dec_code *code, uint64_t ip, unsigned int mode);

/* The current view of what all spaces share [1] and of the selected space [0]: never 0. */
const uint32_t *dec_code_views(const struct dec_code *code);

/* Views up to this one will not be current again. */
uint32_t dec_code_past(const struct dec_code *code);

/* The block behind a link that is not of the current view; see dec_code_block(). */
struct dec_block *dec_code_link(struct dec_code *code, struct dec_block *block, unsigned int which);

/* Execution went from the indirect branch or RET of @block to @to: keep that as a link. */
void dec_code_link_to(struct dec_code *code, struct dec_block *block, struct dec_block *to);

/*
 * Lengths of the block's instructions, one byte each; NULL if it has none. Valid until the next
 * block is made.
 */
const uint8_t *dec_code_lens(const struct dec_code *code, const struct dec_block *block);
/* The address of the block's instruction number @n, or, if it has @n instructions, behind the last. */
static inline uint64_t dec_code_ip(const struct dec_code *code, const struct dec_block *block,
				   unsigned int n)
{
	const uint8_t *lens = dec_code_lens(code, block);
	uint64_t ip = block->ip;
	unsigned int i;

	for (i = 0; i < n; i++)
		ip += lens[i];
	return ip;
}

/* Blocks made so far, stale ones included, by id from 0. */
uint32_t dec_code_count(const struct dec_code *code);
struct dec_block *dec_code_at(const struct dec_code *code, uint32_t id);

#endif /* VMM_LIBDECODE_CODE_H */
