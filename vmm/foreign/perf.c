// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads perf.data: opens its files, then reads the header and the records. */
#include "foreign/perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foreign/perf_file.h"
#include "trace/format.h"
#include "trace/vec.h"

#define PATH_BYTES 4400
#define FILES_MAX  4096u /* limit for data.N of a directory */

static int open_source(struct foreign_trace *t, const char *path)
{
	static const uint64_t magic = PERF_FILE_MAGIC;
	struct trace_source *s;

	if (!trace_vec_room(&t->sources))
		return -ENOMEM;
	s = &t->sources.at[t->sources.n++];
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	return trace_source_open(s, path, t->sources.n == 1 ? &magic : NULL,
				 t->sources.n == 1 ? sizeof(magic) : 0);
}

static int open_directory(struct foreign_trace *t, const char *path)
{
	char name[PATH_BYTES];
	struct stat st;
	unsigned int i;
	int err;

	if (snprintf(name, sizeof(name), "%s/kcore_dir/kcore", path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	if (!t->kcore && !access(name, R_OK) && !(t->kcore = strdup(name)))
		return -ENOMEM;
	snprintf(name, sizeof(name), "%s/data", path);
	err = open_source(t, name);
	for (i = 0; !err && i < FILES_MAX; i++) {
		snprintf(name, sizeof(name), "%s/data.%u", path, i);
		if (stat(name, &st) || !S_ISREG(st.st_mode))
			break;
		err = open_source(t, name);
	}
	return err;
}

static int open_all(struct foreign_trace *t, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return open_directory(t, path);
	return open_source(t, path);
}

int foreign_perf_read(const char *path, struct foreign_trace *t, const char **damage,
		      uint64_t *where, char *why, size_t size)
{
	struct perf_file f = {.trace = t, .why = why, .size = size};
	int err;

	*why = 0;
	t->program = "perf";
	t->kind = TRACE_ORIGIN_PERF;
	t->caps = *vpt_caps_model("spr");
	t->caps.signature = 0;
	err = open_all(t, path);
	if (!err)
		err = perf_header_read(&f);
	if (!err)
		err = perf_walk(&f);
	if (!err)
		err = perf_finish(&f);
	if (err && !*why)
		snprintf(why, size, "%s", strerror(-err));
	*damage = f.damage;
	*where = f.where;
	perf_packed_free(f.unpack);
	trace_pairs_free(&f.programs);
	free(f.attrs.at);
	trace_pairs_free(&f.ids);
	return err;
}
