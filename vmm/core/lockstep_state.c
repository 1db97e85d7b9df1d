// SPDX-License-Identifier: GPL-2.0-or-later
/* Lockstep: the state of a side as numbers, and what of two such states differs. */
#include "core/lockstep.h"

#include <string.h>

#include "trace/crc32c.h"

static const char *const names[VPT_LS_FIELDS] = {
#define VPT_FIELD(id, name, value)     [VPT_LS_##id] = name,
#define VPT_FIELD_DR(id, name, number) [VPT_LS_##id] = name,
#define VPT_FIELD_MSR(id, name, index) [VPT_LS_##id] = name,
#include "core/lockstep_fields.def"
};

const char *vpt_lockstep_name(enum vpt_lockstep_field field)
{
	return names[field];
}

/* In the order of a descriptor. */
static uint64_t attributes(const struct vpt_segment *s)
{
	return (s->type & 15) | (uint64_t)s->s << 4 | (s->dpl & 3) << 5 | s->present << 7 |
	       s->avl << 12 | s->l << 13 | s->db << 14 | s->g << 15 | s->unusable << 16;
}

static void set(struct vpt_lockstep_state *state, enum vpt_lockstep_field field, uint64_t value)
{
	state->value[field] = value;
	state->known[field] = true;
}

static void set_dr(struct vpt_vcpu *v, struct vpt_lockstep_state *state,
		   enum vpt_lockstep_field field, unsigned int number)
{
	uint64_t value;

	if (!v->engine->get_dr(v->ev, number, &value))
		set(state, field, value);
}

static void set_msr(struct vpt_vcpu *v, struct vpt_lockstep_state *state,
		    enum vpt_lockstep_field field, uint32_t index)
{
	uint64_t value;

	if (!v->engine->get_msr(v->ev, index, &value))
		set(state, field, value);
}

static void capture_rest(struct vpt_vcpu *v, struct vpt_lockstep_state *state)
{
#define VPT_FIELD(id, name, value)
#define VPT_FIELD_DR(id, name, number) set_dr(v, state, VPT_LS_##id, number);
#define VPT_FIELD_MSR(id, name, index) set_msr(v, state, VPT_LS_##id, index);
#include "core/lockstep_fields.def"
}

void vpt_lockstep_capture(const struct vpt_lockstep_side *side, bool all,
			  struct vpt_lockstep_state *state)
{
	struct vpt_vcpu *v = side->vm.vcpu;
	struct vpt_pt_state pt;
	struct vpt_sregs s;

	memset(state->known, 0, sizeof(state->known));
	(void)v->engine->get_sregs(v->ev, &s);
	vpt_pt_save(&v->tracer.pt, &pt);
#define VPT_FIELD(id, name, value) set(state, VPT_LS_##id, (value));
#define VPT_FIELD_DR(id, name, number)
#define VPT_FIELD_MSR(id, name, index)
#include "core/lockstep_fields.def"
	if (all)
		capture_rest(v, state);
}

uint64_t vpt_lockstep_differs(const struct vpt_lockstep_state *a,
			      const struct vpt_lockstep_state *b, enum vpt_lockstep_field field)
{
	return a->known[field] && b->known[field] ? a->value[field] ^ b->value[field] : 0;
}

bool vpt_lockstep_equal(const struct vpt_lockstep_state *a, const struct vpt_lockstep_state *b)
{
	unsigned int i;

	for (i = 0; i < VPT_LS_FIELDS; i++)
		if (vpt_lockstep_differs(a, b, (enum vpt_lockstep_field)i))
			return false;
	return true;
}

bool vpt_lockstep_memory(const struct vpt_mem *a, const struct vpt_mem *b, uint64_t *gpa)
{
	uint64_t page;
	unsigned int i;

	for (page = 0; page < a->bytes; page += VPT_PAGE_SIZE) {
		if (!memcmp(a->host + page, b->host + page, VPT_PAGE_SIZE))
			continue;
		for (i = 0; a->host[page + i] == b->host[page + i]; i++)
			;
		*gpa = page + i;
		return true;
	}
	return false;
}
