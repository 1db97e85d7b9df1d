/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions as text (Intel syntax), with names for addresses. */
#ifndef VMM_DECODE_DISASM_H
#define VMM_DECODE_DISASM_H

#include "item.h"
#include "libdecode/insn.h"
#include "debug/symbol.h"

struct vpt_disasm;

/* NULL: memory. `symbols` may be NULL, else it outlives the disassembler. */
struct vpt_disasm *vpt_disasm_new(const struct vpt_symbols *symbols);
void vpt_disasm_free(struct vpt_disasm *d);

/*
 * The instruction at `ip` in `mode` (16, 32, 64). `text` receives it, or
 * "(bad)". Returns its length, 0 if it is not valid.
 */
unsigned int vpt_disasm_format(struct vpt_disasm *d, uint64_t ip, unsigned int mode,
			       const uint8_t *bytes, size_t len, char *text, size_t size);

/* As libvptdecode reads it: see dec_x86_read(). */
int vpt_disasm_look(struct vpt_disasm *d, unsigned int mode, const uint8_t *bytes, size_t len,
		    struct dec_insn *insn);

/* Returns the target of a direct branch at @ip. */
uint64_t vpt_disasm_target(const struct dec_insn *insn, unsigned int mode, uint64_t ip);

/* The class that libipt has for such an instruction. */
enum vpt_insn_class vpt_disasm_class_of(enum dec_insn_kind kind);

#endif /* VMM_DECODE_DISASM_H */
