/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Format instructions as text (Intel syntax), with names for addresses. */
#ifndef VMM_DECODE_DISASM_H
#define VMM_DECODE_DISASM_H

#include "decode/item.h"
#include "libdecode/insn.h"
#include "debug/symbol.h"

struct decode_disasm;

/*
 * Create a disassembler. `symbols` may be NULL, and otherwise must outlive it. Returns NULL if
 * there is no memory.
 */
struct decode_disasm *decode_disasm_new(const struct debug_symbols *symbols);
void decode_disasm_free(struct decode_disasm *d);

/*
 * Format the instruction at `ip` in `mode` (16, 32, 64). `text` receives the instruction, or
 * "(bad)". Returns its length, or 0 if it is not valid.
 */
unsigned int decode_disasm_format(struct decode_disasm *d, uint64_t ip, unsigned int mode,
				  const uint8_t *bytes, size_t len, char *text, size_t size);

/* Read an instruction as libvptdecode does, see dec_x86_read(). */
int decode_disasm_read(struct decode_disasm *d, unsigned int mode, const uint8_t *bytes, size_t len,
		       struct dec_insn *insn);

/* Returns the target of a direct branch at @ip. */
uint64_t decode_disasm_target(const struct dec_insn *insn, unsigned int mode, uint64_t ip);

/* Return libipt's class of an instruction. */
enum decode_insn_class decode_disasm_class_of(enum dec_insn_kind kind);

#endif /* VMM_DECODE_DISASM_H */
