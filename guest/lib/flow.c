// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the flow in a trace of PT or of RTIT. */
#include "flow.h"

#include "printk.h"
#include "report.h"

void guest_flow_add(struct guest_flow_list *list, unsigned int kind, uint64_t value)
{
	if (list->count < list->max) {
		list->flow[list->count].kind = kind;
		list->flow[list->count].value = value;
	}
	list->count++;
}

static bool same(const struct guest_flow *got, const struct guest_flow *want)
{
	return got->kind == want->kind &&
	       (got->value == want->value || want->value == GUEST_FLOW_ANY);
}

static void print_flow(const char *title, const struct guest_flow *flow, size_t count,
		       const char *(*name)(unsigned int kind))
{
	size_t i;

	printk("  %s:", title);
	for (i = 0; i < count; i++)
		printk(" %s(%#lx)", name(flow[i].kind), flow[i].value);
	printk("\n");
}

bool guest_flow_same(const struct guest_flow_list *got, const struct guest_flow *want, size_t count,
		     const char *(*name)(unsigned int kind), const char *what)
{
	bool ok = got->count == count && count <= got->max;
	size_t i;

	for (i = 0; ok && i < count; i++)
		ok = same(&got->flow[i], &want[i]);
	if (!ok) {
		print_flow("got", got->flow, got->count < got->max ? got->count : got->max, name);
		print_flow("want", want, count, name);
	}
	return report(ok, "%s", what);
}
