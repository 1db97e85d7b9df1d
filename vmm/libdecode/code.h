/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Store the code of a trace: pages, their addresses in each address space, and the blocks of
 * instructions that start in them.
 *
 * The owner identifies each page by a key, the guest-physical address if it is known. The content
 * of a page can change. Each content is a version, and a version that returns finds its blocks
 * again. Addresses with bit 63 set are the kernel's half. Address spaces share that half, except
 * for addresses at which two spaces were seen to differ.
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

/* The kinds of ends of a block. */
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

/* The branch of a block to which a link belongs. */
enum { DEC_FALL, DEC_TAKEN, DEC_LINKS };

/*
 * Consecutive instructions that execution enters at the first one. @view is the view for which the
 * link was made. A link whose view is not current must be resolved again.
 */
struct dec_block {
	uint64_t ip;	 /* the address of the first instruction */
	uint64_t last;	 /* the address of the last instruction, or @ip if there is none */
	uint64_t next;	 /* the address after the last instruction */
	uint64_t target; /* COND, JUMP, CALL: the target of the branch */
	struct dec_block *to[DEC_LINKS];
	uint32_t view[DEC_LINKS];
	uint8_t of_all[DEC_LINKS]; /* the view is that of all spaces: index into views[] */
	uint64_t hits[DEC_LINKS];  /* the number of executions that left by this link */
	struct dec_place *place;   /* the block's page, at its address */
	struct dec_place *tail;	   /* the page of the last bytes if it is another page, else NULL */
	uint32_t gen, tail_gen;	   /* generations of the pages' content when the block was made */
	uint32_t id;
	uint32_t lens;	       /* the index of the instructions' lengths */
	uint16_t insns;	       /* the number of instructions, which may be 0 with HOLE and BAD */
	uint8_t end;	       /* enum dec_end */
	uint8_t insn_kind;     /* enum dec_insn_kind of the last instruction */
	uint8_t mode;	       /* 16, 32 or 64 */
	uint8_t of_all_spaces; /* 1: in the kernel's half, where no spaces differ */
};

/* Returns NULL if there is no memory. */
struct dec_code *dec_code_new(void);
void dec_code_free(struct dec_code *code);

/*
 * Set the content of the page @key from now on. The DEC_PAGE bytes are copied. Blocks of an earlier
 * content become stale. Returns 0 or -ENOMEM.
 */
int dec_code_content(struct dec_code *code, uint64_t key, const uint8_t *bytes);

/*
 * Set the permanent content of the page @key, which has none yet. The DEC_PAGE bytes are not copied
 * and must stay valid. Returns 0 or -ENOMEM.
 */
int dec_code_lend(struct dec_code *code, uint64_t key, const uint8_t *bytes);

/* Returns true if the page @key has a content. */
bool dec_code_has(const struct dec_code *code, uint64_t key);

/* Map the page @key at @vaddr (4 KiB aligned) in @space from now on. Returns 0 or -ENOMEM. */
int dec_code_map(struct dec_code *code, uint64_t space, uint64_t vaddr, uint64_t key);

/*
 * Let address spaces share only the pages of DEC_ANY_SPACE. The kernel's half is not shared either,
 * since guests may have different ones. Call this function before any code is added.
 */
void dec_code_separate(struct dec_code *code);

/* Code of this space belongs to every space that has no code of its own at the address. */
#define DEC_ANY_SPACE UINT64_MAX

/*
 * Set a callback for pages without code. @fetch adds the page by the functions above and returns
 * true, or returns false if the page does not exist.
 */
void dec_code_on_miss(struct dec_code *code,
		      bool (*fetch)(void *context, uint64_t space, uint64_t vaddr), void *context);

/*
 * Find the page that @space itself maps at @vaddr. Sets *key and *bytes. *bytes is NULL if the page
 * has no content. Returns false if there is no page. Does not call the callback.
 */
bool dec_code_at_page(const struct dec_code *code, uint64_t space, uint64_t vaddr, uint64_t *key,
		      const uint8_t **bytes);

/* Returns the key of the page that holds the block. */
uint64_t dec_block_key(const struct dec_block *block);

/* Use this address space from now on. Returns 0 or -ENOMEM. */
int dec_code_select(struct dec_code *code, uint64_t space);

/* Copy up to @len bytes at @ip from the selected space. Returns the number of bytes copied. */
size_t dec_code_read(struct dec_code *code, uint64_t ip, uint8_t *bytes, size_t len);

/*
 * Returns the block that starts at @ip, and makes it if necessary. Returns NULL if there is no
 * memory. The end of a block without instructions is the reason why it has none.
 */
struct dec_block *dec_code_block(struct dec_code *code, uint64_t ip, unsigned int mode);

/*
 * Returns the current view of the code that all spaces share [1] and of the selected space [0]. A
 * view is never 0.
 */
const uint32_t *dec_code_views(const struct dec_code *code);

/* Returns the last view that cannot become current again, like all views before it. */
uint32_t dec_code_past(const struct dec_code *code);

/* Returns the block after a link that is not of the current view: see dec_code_block(). */
struct dec_block *dec_code_link(struct dec_code *code, struct dec_block *block, unsigned int which);

/* Keep a link to @to, to which the indirect branch or RET of @block has led. */
void dec_code_link_to(struct dec_code *code, struct dec_block *block, struct dec_block *to);

/*
 * Returns the lengths of the block's instructions, one byte each, or NULL if it has none. They stay
 * valid until the next block is made.
 */
const uint8_t *dec_code_lens(const struct dec_code *code, const struct dec_block *block);
/*
 * Returns the address of instruction @n of the block. If the block has @n instructions, returns the
 * address after the last one.
 */
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

/* Returns the number of blocks made so far, including stale ones. Their ids begin at 0. */
uint32_t dec_code_count(const struct dec_code *code);
struct dec_block *dec_code_at(const struct dec_code *code, uint32_t id);

#endif /* VMM_LIBDECODE_CODE_H */
