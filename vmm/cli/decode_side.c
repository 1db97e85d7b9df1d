// SPDX-License-Identifier: GPL-2.0-or-later
/* Selects a side or a process of a trace for vpt decode, and prints the table of shares. */
#include "cli/decode_side.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/spaces.h"
#include "text/text.h"

bool cli_decode_side_take(struct cli_decode_side *side, const char *text)
{
	side->host = !strcmp(text, "host");
	side->guest = !strcmp(text, "guest");
	return side->host || side->guest || !strcmp(text, "all");
}

/* Find the next name in a list that is separated by commas. */
static bool next_name(const char **at, const char **name, size_t *len)
{
	if (!*at)
		return false;
	*name = *at;
	*len = strcspn(*at, ",");
	*at = (*at)[*len] ? *at + *len + 1 : NULL;
	return true;
}

/* A CR3 begins with 0x, and the number of a process does not. */
static bool is_cr3(const char *name, size_t len, uint64_t *cr3)
{
	char *end;

	if (len < 3 || name[0] != '0' || (name[1] | 32) != 'x')
		return false;
	*cr3 = strtoull(name, &end, 16);
	return end == name + len;
}

bool cli_decode_side_told(const struct cli_decode_side *side)
{
	const char *at = side->space, *name;
	uint64_t cr3;
	size_t len;

	if (side->host || side->guest || side->one_vm)
		return true;
	while (next_name(&at, &name, &len)) {
		if (!is_cr3(name, len, &cr3))
			return true;
	}
	return false;
}

bool cli_decode_side_lacks(const struct cli_decode_side *side, const struct trace_reader *reader)
{
	size_t spaces, tasks = 0, count;
	unsigned int i;

	trace_reader_spaces(reader, &spaces);
	for (i = 0; i < trace_reader_info(reader)->vcpus; i++) {
		(void)trace_reader_tasks(reader, i, &count);
		tasks += count;
	}
	if (spaces || !cli_decode_side_told(side))
		return false;
	return side->host || side->guest || side->one_vm || !tasks;
}

static bool is_named(const struct trace_space *space, const char *name, size_t len)
{
	char *end;
	unsigned long pid = strtoul(name, &end, 10);
	uint64_t cr3;

	if (len && end == name + len && space->pid && pid == space->pid)
		return true;
	if (is_cr3(name, len, &cr3) && cr3 == space->cr3)
		return true;
	return strnlen(space->name, sizeof(space->name)) == len && !memcmp(space->name, name, len);
}

static bool is_one_of(const struct trace_space *space, const char *names)
{
	const char *name;
	size_t len;

	while (next_name(&names, &name, &len)) {
		if (is_named(space, name, len))
			return true;
	}
	return false;
}

bool cli_decode_side_has(const struct cli_decode_side *side, const struct decode_item *item)
{
	const struct trace_space *space = item->space;
	bool guest;

	if (item->kind == DECODE_ITEM_SEGMENT || item->kind == DECODE_ITEM_ERROR ||
	    item->kind == DECODE_ITEM_END)
		return true;
	if (!space)
		return false;
	guest = space->flags & TRACE_SPACE_NON_ROOT;
	if ((side->host && guest) || (side->guest && !guest))
		return false;
	if (side->one_vm && (!guest || space->vm != side->vm))
		return false;
	return !side->space || is_one_of(space, side->space);
}

static void name(const struct decode_space_share *share, char *text, size_t size)
{
	if (share->known)
		decode_space_format(&share->space, text, size);
	else
		snprintf(text, size, "not known");
}

static void print_share(const struct decode_shares *shares, const struct decode_space_share *s,
			bool told)
{
	char text[128];

	printf("%12" PRIu64 "  %12" PRIu64, s->insns, s->blocks);
	if (told)
		printf("  %8" PRIu64 "  %8" PRIu64, s->entries, s->exits);
	if (shares->time)
		printf("  %6.2f%%", 100 * (double)s->time / (double)shares->time);
	else
		printf("  %7s", "-");
	name(s, text, sizeof(text));
	printf("  %s\n", text);
}

void cli_decode_side_table(struct decode_shares *shares, bool told)
{
	size_t i;

	decode_shares_sort(shares);
	if (shares->spaces.n)
		printf("\ninstructions        blocks  %s   time  space\n",
		       told ? " entries     exits  " : "");
	for (i = 0; i < shares->spaces.n; i++)
		print_share(shares, &shares->spaces.at[i], told);
}

void cli_decode_side_json(struct decode_shares *shares)
{
	char text[128];
	size_t i;

	decode_shares_sort(shares);
	printf(",\"spaces\":[");
	for (i = 0; i < shares->spaces.n; i++) {
		const struct decode_space_share *s = &shares->spaces.at[i];

		name(s, text, sizeof(text));
		printf("%s{\"space\":", i ? "," : "");
		text_json_string(stdout, text);
		if (s->known) {
			if (!(s->space.flags & DECODE_SPACE_ALONE))
				printf(",\"side\":\"%s\"",
				       s->space.flags & TRACE_SPACE_NON_ROOT ? "guest" : "host");
			printf(",\"cr3\":");
			text_json_address(stdout, s->space.cr3);
			if (s->space.vmcs != TRACE_SPACE_ANY_VMCS) {
				printf(",\"vmcs\":");
				text_json_address(stdout, s->space.vmcs);
			}
			if (s->space.vm != TRACE_SPACE_NO_VM)
				printf(",\"vm\":%u,\"vm_vcpu\":%u", s->space.vm, s->space.vcpu);
			if (s->space.pid)
				printf(",\"pid\":%u", s->space.pid);
		}
		printf(",\"insns\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"vm_entries\":%" PRIu64
		       ",\"vm_exits\":%" PRIu64,
		       s->insns, s->blocks, s->entries, s->exits);
		/* Without TSC packets there is no time. */
		if (shares->time)
			printf(",\"time\":%" PRIu64, s->time);
		putchar('}');
	}
	putchar(']');
}
