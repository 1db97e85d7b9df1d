// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/decode_side.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/spaces.h"
#include "decode/text.h"

bool vpt_decode_side_take(struct vpt_decode_side *side, const char *text)
{
	side->host = !strcmp(text, "host");
	side->guest = !strcmp(text, "guest");
	return side->host || side->guest || !strcmp(text, "all");
}

bool vpt_decode_side_part(const struct vpt_decode_side *side)
{
	return side->host || side->guest || side->one_vm || side->space;
}

static bool is_named(const struct vpt_space *space, const char *name)
{
	char *end;
	unsigned long pid = strtoul(name, &end, 10);

	if (*name && !*end && space->pid && pid == space->pid)
		return true;
	return strnlen(space->name, sizeof(space->name)) == strlen(name) &&
	       !memcmp(space->name, name, strlen(name));
}

bool vpt_decode_side_wants(const struct vpt_decode_side *side, const struct vpt_item *item)
{
	const struct vpt_space *space = item->space;
	bool guest;

	if (!vpt_decode_side_part(side) || item->kind == VPT_ITEM_SEGMENT ||
	    item->kind == VPT_ITEM_ERROR || item->kind == VPT_ITEM_END)
		return true;
	if (!space)
		return false;
	guest = space->flags & VPT_SPACE_NON_ROOT;
	if ((side->host && guest) || (side->guest && !guest))
		return false;
	if (side->one_vm && (!guest || space->vm != side->vm))
		return false;
	return !side->space || is_named(space, side->space);
}

static void name(const struct vpt_space_share *share, char *text, size_t size)
{
	if (share->known)
		vpt_space_format(&share->space, text, size);
	else
		snprintf(text, size, "not known");
}

void vpt_decode_side_table(struct vpt_shares *shares)
{
	char text[128];
	size_t i;

	vpt_shares_sort(shares);
	for (i = 0; i < shares->spaces.n; i++) {
		const struct vpt_space_share *s = &shares->spaces.at[i];

		if (!i)
			puts("\ninstructions        blocks   entries     exits     time  space");
		name(s, text, sizeof(text));
		printf("%12" PRIu64 "  %12" PRIu64 "  %8" PRIu64 "  %8" PRIu64, s->insns, s->blocks,
		       s->entries, s->exits);
		if (shares->time)
			printf("  %6.2f%%", 100 * (double)s->time / (double)shares->time);
		else
			printf("  %7s", "-");
		printf("  %s\n", text);
	}
}

void vpt_decode_side_json(struct vpt_shares *shares)
{
	char text[128];
	size_t i;

	vpt_shares_sort(shares);
	printf(",\"spaces\":[");
	for (i = 0; i < shares->spaces.n; i++) {
		const struct vpt_space_share *s = &shares->spaces.at[i];

		name(s, text, sizeof(text));
		printf("%s{\"space\":", i ? "," : "");
		vpt_json_string(stdout, text);
		if (s->known) {
			printf(",\"side\":\"%s\",\"cr3\":",
			       s->space.flags & VPT_SPACE_NON_ROOT ? "guest" : "host");
			vpt_json_address(stdout, s->space.cr3);
			if (s->space.vmcs != VPT_SPACE_ANY_VMCS) {
				printf(",\"vmcs\":");
				vpt_json_address(stdout, s->space.vmcs);
			}
			if (s->space.vm != VPT_SPACE_NO_VM)
				printf(",\"vm\":%u,\"vm_vcpu\":%u", s->space.vm, s->space.vcpu);
			if (s->space.pid)
				printf(",\"pid\":%u", s->space.pid);
		}
		printf(",\"insns\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"vm_entries\":%" PRIu64
		       ",\"vm_exits\":%" PRIu64 ",\"time\":%" PRIu64 "}",
		       s->insns, s->blocks, s->entries, s->exits, s->time);
	}
	putchar(']');
}
