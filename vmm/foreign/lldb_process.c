// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the processes of a bundle: threads, some with packets, and mapped modules. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foreign/elf_note.h"
#include "foreign/lldb_state.h"
#include "trace/format.h"

static void read_thread(struct lldb_bundle *b, uint32_t pid)
{
	char key[LLDB_KEY], path[PATH_MAX] = "";
	uint32_t tid = 0;

	json_open(&b->j, '{');
	while (json_more(&b->j, '}') && json_key(&b->j, key, sizeof(key))) {
		if (!strcmp(key, "tid"))
			tid = (uint32_t)json_number(&b->j);
		else if (!strcmp(key, "iptTrace"))
			lldb_path(b, path, sizeof(path));
		else
			json_skip(&b->j);
	}
	if (b->j.bad)
		return;
	lldb_event(b, FOREIGN_RUN, pid, tid);
	if (*path)
		lldb_stream(b, path, FOREIGN_ANY_CPU, tid);
}

/* Add mappings for the loaded parts of a file, whose first segment is at @at. */
static void map_module(struct lldb_bundle *b, uint32_t pid, const char *path, uint64_t at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct foreign_loads loads = {0};
	size_t number, i;
	uint64_t first = 0;

	if (foreign_names_add(&b->t->files, path, &number))
		lldb_fail(b, -ENOMEM, NULL);
	else if (fd < 0 || foreign_elf_loads(fd, &loads))
		b->t->report.no_file++;
	for (i = 0; i < loads.n && !b->j.bad; i++) {
		const struct foreign_load *load = &loads.at[i];
		uint64_t in_page = load->offset % TRACE_CODE_BYTES;
		struct foreign_event *e;

		if (!i)
			first = load->vaddr - in_page;
		if (!load->executable || load->vaddr % TRACE_CODE_BYTES != in_page)
			continue;
		e = lldb_event(b, FOREIGN_MAP, pid, pid);
		if (!e)
			break;
		e->map.addr = at + (load->vaddr - in_page - first);
		e->map.len =
			(load->len + in_page + TRACE_CODE_BYTES - 1) & -(uint64_t)TRACE_CODE_BYTES;
		e->map.offset = load->offset - in_page;
		e->map.file = (uint32_t)number;
	}
	free(loads.at);
	if (fd >= 0)
		close(fd);
}

static void read_module(struct lldb_bundle *b, uint32_t pid)
{
	char key[LLDB_KEY], system[PATH_MAX] = "", file[PATH_MAX] = "";
	uint64_t at = 0;

	json_open(&b->j, '{');
	while (json_more(&b->j, '}') && json_key(&b->j, key, sizeof(key))) {
		if (!strcmp(key, "loadAddress"))
			at = json_number(&b->j);
		else if (!strcmp(key, "systemPath"))
			lldb_path(b, system, sizeof(system));
		else if (!strcmp(key, "file"))
			lldb_path(b, file, sizeof(file));
		else
			json_skip(&b->j);
	}
	if (!b->j.bad)
		map_module(b, pid, *file ? file : system, at);
}

/* Read a process. LLDB writes its number first; without a number its threads are useless. */
void lldb_process(struct lldb_bundle *b, uint32_t none)
{
	char key[LLDB_KEY];
	uint32_t pid = none;

	json_open(&b->j, '{');
	while (json_more(&b->j, '}') && json_key(&b->j, key, sizeof(key))) {
		if (!strcmp(key, "pid"))
			pid = (uint32_t)json_number(&b->j);
		else if (!strcmp(key, "threads") && pid != none)
			lldb_list(b, pid, read_thread);
		else if (!strcmp(key, "modules") && pid != none)
			lldb_list(b, pid, read_module);
		else
			json_skip(&b->j);
	}
}
