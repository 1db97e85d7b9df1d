// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the address space that a PIP selects. */
#include "decode/spaces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/text.h"
#include "trace/pairs.h"
#include "trace/vec.h"

/* The bits of CR3 that a PIP has (33.4.2.7). */
#define PIP_MASK 0x000fffffffffffe0ull

/* The maximum number of spaces without a SPACE block. Further spaces share the last entry. */
#define LEARNED_MAX 1024

struct entry {
	const struct trace_space *space;
	bool has_code; /* the vCPU ran code of the space */
};

struct decode_spaces {
	struct entry *by_cr3;
	size_t n;
	struct trace_pairs by_id; /* maps (id, 0) to the pointer of the space */
	struct trace_space learned[LEARNED_MAX];
	size_t nlearned;
	uint64_t next_id; /* the id of the next learned space */
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_cr3(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int d = compare_u64(x->space->cr3 & PIP_MASK, y->space->cr3 & PIP_MASK);

	return d ? d : compare_u64((uintptr_t)x->space, (uintptr_t)y->space);
}

int decode_spaces_open(const struct trace_reader *reader, const struct decode_code_store *code,
		       struct decode_spaces **out)
{
	const struct trace_space *all;
	struct decode_spaces *s;
	struct trace_pair *entry;
	size_t n, i;

	*out = NULL;
	all = trace_reader_spaces(reader, &n);
	if (!n)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->n = n;
	s->next_id = TRACE_SPACE_ID_MASK;
	s->by_cr3 = calloc(n, sizeof(*s->by_cr3));
	for (i = 0; i < n; i++) {
		entry = s->by_cr3 ? trace_pairs_add(&s->by_id, all[i].id, 0) : NULL;
		if (!entry) {
			decode_spaces_close(s);
			return -ENOMEM;
		}
		if (!entry->value)
			entry->value = (uintptr_t)&all[i];
		s->by_cr3[i].space = &all[i];
		s->by_cr3[i].has_code = decode_code_space(code, all[i].id) == all[i].id;
	}
	qsort(s->by_cr3, n, sizeof(*s->by_cr3), by_cr3);
	*out = s;
	return 0;
}

void decode_spaces_close(struct decode_spaces *s)
{
	if (!s)
		return;
	free(s->by_cr3);
	trace_pairs_free(&s->by_id);
	free(s);
}

static bool non_root(const struct trace_space *space)
{
	return space->flags & TRACE_SPACE_NON_ROOT;
}

/* Return how well an entry fits a PIP of its CR3. 0 means not at all. */
static unsigned int fitness(const struct entry *e, const struct decode_space_key *key)
{
	const struct trace_space *space = e->space;
	unsigned int code = e->has_code ? 8 : 0;

	if (non_root(space) != key->non_root)
		return !key->non_root && e->has_code ? code : 0;
	/* A host's spaces do not depend on the current VMCS. */
	if (!key->non_root || space->vmcs == key->vmcs)
		return code | 4;
	if (space->vmcs == TRACE_SPACE_ANY_VMCS)
		return code | 2;
	return key->vmcs == TRACE_SPACE_ANY_VMCS ? code | 1 : 0;
}

/* Return the entry that fits best. NULL if none fits, or if several fit equally well. */
static const struct trace_space *best(const struct decode_spaces *s,
				      const struct decode_space_key *key)
{
	const struct trace_space *found = NULL;
	unsigned int most = 0;
	const uint64_t cr3 = key->cr3 & PIP_MASK;
	size_t i = trace_vec_before(s->by_cr3, s->n, e, (e->space->cr3 & PIP_MASK) < cr3);

	for (; i < s->n && (s->by_cr3[i].space->cr3 & PIP_MASK) == cr3; i++) {
		unsigned int fits = fitness(&s->by_cr3[i], key);

		if (!fits || fits < most)
			continue;
		found = fits > most ? s->by_cr3[i].space : NULL;
		most = fits;
	}
	return found;
}

static const struct trace_space *find_given(const struct decode_spaces *s, uint64_t id)
{
	const struct trace_pair *entry = trace_pairs_find(&s->by_id, id, 0);

	return entry ? (const struct trace_space *)(uintptr_t)entry->value : NULL;
}

static const struct trace_space *learn(struct decode_spaces *s, const struct decode_space_key *key)
{
	struct trace_space *space;
	size_t i;

	for (i = 0; i < s->nlearned; i++) {
		space = &s->learned[i];
		if (space->cr3 == key->cr3 && space->vmcs == key->vmcs &&
		    non_root(space) == key->non_root)
			return space;
	}
	if (s->nlearned == LEARNED_MAX)
		return &s->learned[LEARNED_MAX - 1];
	while (find_given(s, s->next_id))
		s->next_id -= 4096;
	space = &s->learned[s->nlearned++];
	*space = (struct trace_space){
		.id = s->next_id,
		.cr3 = key->cr3,
		.vmcs = key->vmcs,
		.flags = key->non_root ? TRACE_SPACE_NON_ROOT : 0,
		.vm = TRACE_SPACE_NO_VM,
	};
	s->next_id -= 4096;
	return space;
}

uint64_t decode_spaces_resolve(struct decode_spaces *s, const struct decode_space_key *key)
{
	const struct trace_space *space = best(s, key);
	struct decode_space_key bare = *key;

	if (!key->non_root)
		bare.vmcs = TRACE_SPACE_ANY_VMCS;
	/* Without PAE paging, bits 11:5 are not part of the address. */
	if (!space) {
		bare.cr3 &= TRACE_SPACE_ID_MASK;
		space = best(s, &bare);
	}
	if (!space)
		space = learn(s, &bare);
	return space->id;
}

const struct trace_space *decode_spaces_find(const struct decode_spaces *s, uint64_t id)
{
	const struct trace_space *space;
	size_t i;

	if (!s)
		return NULL;
	space = find_given(s, id);
	for (i = 0; !space && i < s->nlearned; i++) {
		if (s->learned[i].id == id)
			space = &s->learned[i];
	}
	return space;
}

bool decode_spaces_learned(const struct decode_spaces *s, const struct trace_space *space)
{
	return space >= s->learned && space < s->learned + LEARNED_MAX;
}

size_t decode_spaces_count_learned(const struct decode_spaces *s)
{
	return s ? s->nlearned : 0;
}

bool decode_space_is(const struct trace_space *a, const struct trace_space *b)
{
	return a->id == b->id && a->cr3 == b->cr3 && a->vmcs == b->vmcs && a->flags == b->flags;
}

static void format_task(const struct trace_space *space, char *text, size_t size)
{
	char name[sizeof(space->name) + 1];

	text_copy(name, sizeof(name), space->name, sizeof(space->name));
	if (space->pid)
		snprintf(text, size, "%s, pid %u", name, space->pid);
	else
		snprintf(text, size, "%s", name);
}

void decode_space_format(const struct trace_space *space, char *text, size_t size)
{
	char who[48], what[96];

	if (space->flags & DECODE_SPACE_ALONE) {
		if (space->name[0])
			format_task(space, text, size);
		else
			snprintf(text, size, "%scr3 0x%" PRIx64, non_root(space) ? "guest: " : "",
				 space->cr3);
		return;
	}
	if (!non_root(space))
		snprintf(who, sizeof(who), "host");
	else if (space->vm == TRACE_SPACE_NO_VM)
		snprintf(who, sizeof(who), "guest");
	else
		snprintf(who, sizeof(who), "VM %u vCPU %u", space->vm, space->vcpu);

	if (space->name[0]) {
		format_task(space, what, sizeof(what));
	} else if (space->pid) {
		snprintf(what, sizeof(what), "pid %u", space->pid);
	} else {
		snprintf(what, sizeof(what), "cr3 0x%" PRIx64, space->cr3);
	}
	snprintf(text, size, "%s: %s", who, what);
}
