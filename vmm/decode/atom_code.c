// SPDX-License-Identifier: GPL-2.0-or-later
#include "atom_code.h"

#include <string.h>

void vpt_atom_code_select(struct vpt_atom_code *c, uint64_t space, unsigned int mode)
{
	c->space = space;
	c->mode = (uint8_t)mode;
}

void vpt_atom_code_changed(struct vpt_atom_code *c)
{
	/* What is kept of long ago must not become true again. */
	if (!++c->change)
		memset(c->kept, 0, sizeof(c->kept));
}

static uint64_t wrapped(const struct vpt_atom_code *c, uint64_t ip)
{
	return c->mode == 64 ? ip : (uint32_t)ip;
}

enum vpt_atom_code_result vpt_atom_code_read(struct vpt_atom_code *c, uint64_t ip,
					     const struct vpt_atom_insn **insn)
{
	struct vpt_atom_insn *k = &c->kept[(ip ^ ip >> 14) % VPT_ATOM_CODE_KEPT];
	struct vpt_insn_look look;
	size_t n;
	int valid;

	k->size = 0;
	n = c->fetch(c->context, ip, k->raw, sizeof(k->raw));
	if (!n)
		return VPT_ATOM_CODE_NONE;
	valid = vpt_disasm_look(c->disasm, c->mode, k->raw, n, &look);
	if (valid <= 0)
		return valid || n < sizeof(k->raw) ? VPT_ATOM_CODE_NONE : VPT_ATOM_CODE_INVALID;
	k->ip = ip;
	k->space = c->space;
	k->change = c->change;
	k->mode = c->mode;
	k->class = look.class;
	k->goes = look.goes;
	k->size = look.size;
	k->next = wrapped(c, ip + look.size);
	k->target = wrapped(c, ip + look.size + (uint64_t)look.displacement);
	*insn = k;
	return VPT_ATOM_CODE_OK;
}
