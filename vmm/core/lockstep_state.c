// SPDX-License-Identifier: GPL-2.0-or-later
/* Lockstep: the state of a side as numbers, and the differences of two states. */
#include "core/lockstep.h"

#include <string.h>

#include "trace/crc32c.h"

static const char *const names[CORE_LS_FIELDS] = {
#define CORE_FIELD(id, name, value)	[CORE_LS_##id] = name,
#define CORE_FIELD_DR(id, name, number) [CORE_LS_##id] = name,
#define CORE_FIELD_MSR(id, name, index) [CORE_LS_##id] = name,
#include "core/lockstep_fields.def"
};

const char *core_lockstep_name(enum core_lockstep_field field)
{
	return names[field];
}

static void set(struct core_lockstep_state *state, enum core_lockstep_field field, uint64_t value)
{
	state->value[field] = value;
	state->known[field] = true;
}

static void set_dr(struct core_vcpu *v, struct core_lockstep_state *state,
		   enum core_lockstep_field field, unsigned int number)
{
	uint64_t value;

	if (!v->engine->get_dr(v->ev, number, &value))
		set(state, field, value);
}

static void set_msr(struct core_vcpu *v, struct core_lockstep_state *state,
		    enum core_lockstep_field field, uint32_t index)
{
	uint64_t value;

	if (!v->engine->get_msr(v->ev, index, &value))
		set(state, field, value);
}

static void capture_rest(struct core_vcpu *v, struct core_lockstep_state *state)
{
#define CORE_FIELD(id, name, value)
#define CORE_FIELD_DR(id, name, number) set_dr(v, state, CORE_LS_##id, number);
#define CORE_FIELD_MSR(id, name, index) set_msr(v, state, CORE_LS_##id, index);
#include "core/lockstep_fields.def"
}

void core_lockstep_capture(const struct core_lockstep_side *side, bool all,
			   struct core_lockstep_state *state)
{
	struct core_vcpu *v = side->vm.vcpu;
	struct vpt_pt_state pt;
	struct x86_sregs s;

	memset(state->known, 0, sizeof(state->known));
	(void)v->engine->get_sregs(v->ev, &s);
	vpt_pt_save(&v->tracer.pt, &pt);
#define CORE_FIELD(id, name, value) set(state, CORE_LS_##id, (value));
#define CORE_FIELD_DR(id, name, number)
#define CORE_FIELD_MSR(id, name, index)
#include "core/lockstep_fields.def"
	if (all)
		capture_rest(v, state);
}

uint64_t core_lockstep_differs(const struct core_lockstep_state *a,
			       const struct core_lockstep_state *b, enum core_lockstep_field field)
{
	return a->known[field] && b->known[field] ? a->value[field] ^ b->value[field] : 0;
}

bool core_lockstep_equal(const struct core_lockstep_state *a, const struct core_lockstep_state *b)
{
	unsigned int i;

	for (i = 0; i < CORE_LS_FIELDS; i++)
		if (core_lockstep_differs(a, b, (enum core_lockstep_field)i))
			return false;
	return true;
}

bool core_lockstep_memory(const struct x86_mem *a, const struct x86_mem *b, uint64_t *gpa)
{
	uint64_t page;
	unsigned int i;

	for (page = 0; page < a->bytes; page += X86_PAGE_SIZE) {
		if (!memcmp(a->host + page, b->host + page, X86_PAGE_SIZE))
			continue;
		for (i = 0; a->host[page + i] == b->host[page + i]; i++)
			;
		*gpa = x86_mem_gpa(page + i);
		return true;
	}
	return false;
}
