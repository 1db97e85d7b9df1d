// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the kernel's symbols from /proc/kallsyms. */
#include "host/ksyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"

#define PAGE 4096u

/* Assumed size of code that was generated at run time, because its symbol has no size. */
#define MADE_BYTES (4 * PAGE)

#define MODULE_MAX (256u << 20)

static bool add(struct host_ksyms *s, uint64_t start, uint64_t bytes)
{
	struct host_range range = {
		.start = start & ~(uint64_t)(PAGE - 1),
		.end = (start + bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1),
	};

	if (range.end <= range.start)
		return true;
	if (!trace_vec_room(&s->code))
		return false;
	s->code.at[s->code.n++] = range;
	return true;
}

static bool made_at_run_time(const char *module)
{
	return !strcmp(module, "[bpf]") || !strncmp(module, "[__builtin__", 12);
}

static int take_symbol(struct host_ksyms *s, uint64_t address, const char *name, const char *module)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
		{"_stext", offsetof(struct host_ksyms, stext)},
		{"_etext", offsetof(struct host_ksyms, etext)},
		{"init_task", offsetof(struct host_ksyms, init_task)},
		{"page_offset_base", offsetof(struct host_ksyms, page_offset_base)},
		{"phys_base", offsetof(struct host_ksyms, phys_base)},
		{"init_top_pgt", offsetof(struct host_ksyms, init_top_pgt)},
	};
	size_t i;

	if (*module)
		return !made_at_run_time(module) || add(s, address, MADE_BYTES) ? 0 : -ENOMEM;
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (!strcmp(name, wanted[i].name))
			memcpy((char *)s + wanted[i].at, &address, sizeof(address));
	}
	return 0;
}

/* Parse lines of the form "NAME SIZE REFERENCES USERS STATE ADDRESS". */
static int read_modules(struct host_ksyms *s, FILE *file)
{
	char line[4096];

	while (fgets(line, sizeof(line), file)) {
		uint64_t size, address;

		if (sscanf(line, "%*s %" SCNu64 " %*s %*s %*s %" SCNx64, &size, &address) != 2)
			continue;
		if (address && size <= MODULE_MAX && !add(s, address, size))
			return -ENOMEM;
	}
	return 0;
}

int host_ksyms_read(FILE *kallsyms, FILE *modules, struct host_ksyms *s)
{
	bool any = false;
	char line[1024];
	int err = 0;

	memset(s, 0, sizeof(*s));
	while (!err && fgets(line, sizeof(line), kallsyms)) {
		char name[512], module[128] = "";
		uint64_t address;

		if (sscanf(line, "%" SCNx64 " %*c %511s %127s", &address, name, module) < 2)
			continue;
		any = any || address;
		err = take_symbol(s, address, name, module);
	}
	if (!err && !any)
		err = -EPERM;
	if (!err && (!s->stext || s->etext <= s->stext))
		err = -EINVAL;
	if (!err && !add(s, s->stext, s->etext - s->stext))
		err = -ENOMEM;
	if (!err && modules)
		err = read_modules(s, modules);
	if (err)
		host_ksyms_free(s);
	return err;
}

void host_ksyms_free(struct host_ksyms *s)
{
	free(s->code.at);
	memset(s, 0, sizeof(*s));
}
