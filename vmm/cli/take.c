// SPDX-License-Identifier: GPL-2.0-or-later
/* The parsers of options that several verbs have, by the type of what they set. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option.h"
#include "trace/format.h"

int vpt_take_flag(const struct vpt_given *g)
{
	*(bool *)g->field = true;
	return VPT_EXIT_OK;
}

int vpt_take_bits(const struct vpt_given *g)
{
	*(uint64_t *)g->field |= g->option->bits;
	return VPT_EXIT_OK;
}

int vpt_take_text(const struct vpt_given *g)
{
	*(const char **)g->field = g->value;
	return VPT_EXIT_OK;
}

int vpt_take_help(const struct vpt_given *g)
{
	vpt_verb_help(g->verb);
	return VPT_EXIT_DONE;
}

const char *vpt_cli_read_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return text[0] >= '0' && text[0] <= '9' && !errno ? end : NULL;
}

bool vpt_cli_is_number(const char *text, uint64_t *value)
{
	const char *end = vpt_cli_read_number(text, value);

	return end && !*end;
}

int vpt_cli_number(const char *verb, const char *option, const char *text, uint64_t *value)
{
	if (vpt_cli_is_number(text, value))
		return VPT_EXIT_OK;
	return vpt_fail(VPT_EXIT_USAGE, "%s: --%s=%s: not a number", verb, option, text);
}

int vpt_take_number(const struct vpt_given *g)
{
	const struct vpt_option *row = g->option;
	uint64_t *value = g->field;

	if (!vpt_cli_is_number(g->value, value))
		return vpt_option_wrong(g, "not a number");
	if (row->most && (*value < row->least || *value > row->most))
		return vpt_option_wrong(g, "use %" PRIu64 " to %" PRIu64, row->least, row->most);
	return VPT_EXIT_OK;
}

int vpt_take_arg(const struct vpt_given *g)
{
	struct vpt_cli_args *args = g->field;

	if (args->n == sizeof(args->value) / sizeof(args->value[0]))
		return vpt_option_wrong(g, "at most four");
	if (!vpt_cli_is_number(g->value, &args->value[args->n++]))
		return vpt_option_wrong(g, "not a number");
	return VPT_EXIT_OK;
}

int vpt_take_size(const struct vpt_given *g)
{
	static const char units[] = "KMG";
	uint64_t *value = g->field;
	const char *end = vpt_cli_read_number(g->value, value);
	/* A NUL among them would be found for a blank. */
	const char *unit = end ? memchr(units, *end & ~0x20, strlen(units)) : NULL;

	if (end && !*end)
		return VPT_EXIT_OK;
	if (!unit || end[1] ||
	    __builtin_mul_overflow(*value, 1ull << (10 * (unit - units + 1)), value))
		return vpt_option_wrong(g, "not a size such as 64M");
	return VPT_EXIT_OK;
}

/* Find which of the words the value is. Returns false after the one line. */
static bool find_word(const struct vpt_given *g, unsigned int *i)
{
	const char *word;

	for (*i = 0; (word = vpt_option_word(g->option, *i)); ++*i)
		if (!strcmp(word, g->value))
			return true;
	(void)vpt_option_no_word(g, g->value);
	return false;
}

int vpt_take_word(const struct vpt_given *g)
{
	unsigned int i;

	if (!find_word(g, &i))
		return VPT_EXIT_USAGE;
	*(unsigned int *)g->field = i;
	return VPT_EXIT_OK;
}

int vpt_take_name(const struct vpt_given *g)
{
	unsigned int i;

	return find_word(g, &i) ? vpt_take_text(g) : VPT_EXIT_USAGE;
}

int vpt_take_owner(const struct vpt_given *g)
{
	enum vpt_owner *owner = g->field;
	unsigned int i;

	if (!find_word(g, &i))
		return VPT_EXIT_USAGE;
	*owner = !strcmp(g->value, "guest")  ? VPT_OWNER_GUEST
		 : !strcmp(g->value, "host") ? VPT_OWNER_HOST
					     : VPT_OWNER_NONE;
	return VPT_EXIT_OK;
}
