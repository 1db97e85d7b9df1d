// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates a .vpt file from oracle logs. */
#include "import/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/index.h"
#include "import/replay.h"
#include "trace/origin.h"

struct import {
	struct import_config config;
	struct import_log *logs;
	size_t nlogs;
	struct import_index index;
	uint64_t no_code;
};

static int scan(struct import *m, char *why, size_t size)
{
	size_t i;
	int err = 0;

	for (i = 0; i < m->nlogs && !err; i++) {
		struct import_log *log = &m->logs[i];

		err = import_index_log(&m->index, log, i);
		/* A truncated log supplies the records before the end. */
		if (!err && log->why && log->at < log->size &&
		    strcmp(log->why, "a record is cut off")) {
			snprintf(why, size, "log %zu, byte %zu: %s", i, log->at, log->why);
			return -EINVAL;
		}
	}
	if (!err)
		err = import_index_finish(&m->index, &m->config);
	if (err)
		snprintf(why, size, "%s", strerror(-err));
	return err;
}

int import_open(struct import_log *logs, size_t count, const struct import_config *config,
		struct import **import, char *why, size_t size)
{
	struct import *m = calloc(1, sizeof(*m));
	int err;

	if (!m) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	m->config = *config;
	m->logs = logs;
	m->nlogs = count;
	err = scan(m, why, size);
	if (err)
		import_close(m);
	else
		*import = m;
	return err;
}

void import_close(struct import *m)
{
	if (!m)
		return;
	import_index_free(&m->index);
	free(m);
}

const struct import_session *import_sessions(const struct import *m, size_t *count)
{
	*count = m->index.sessions.n;
	return m->index.sessions.at;
}

const struct import_stream *import_streams(const struct import *m, size_t *count)
{
	*count = m->index.streams.n;
	return m->index.streams.at;
}

uint64_t import_stray(const struct import *m)
{
	return m->index.stray;
}

uint64_t import_no_code(const struct import *m)
{
	return m->no_code;
}

static void fill_info(const struct import *m, struct trace_file_info *info)
{
	memset(info, 0, sizeof(*info));
	info->caps = *m->config.caps;
	snprintf(info->model, sizeof(info->model), "%s", m->config.model);
	snprintf(info->engine, sizeof(info->engine), "%s", "log");
	/* The traced software started and stopped the trace itself. */
	info->owner = TRACE_OWNER_GUEST;
	info->vcpus = (uint32_t)m->index.streams.n;
	info->tsc_multiplier = 1ull << 48;
	info->oracle = 1;
}

static bool all_closed(const struct import *m)
{
	size_t i;

	for (i = 0; i < m->nlogs; i++) {
		if (!m->logs[i].closed)
			return false;
	}
	return true;
}

int import_write(struct import *m, const char *path)
{
	const struct trace_origin origin = trace_origin_of(TRACE_ORIGIN_BED, NULL);
	struct trace_file_info info;
	struct trace_writer *writer;
	size_t i;
	int err, closed;

	if (!m->index.streams.n)
		return -ENODATA;
	if (m->index.streams.n > TRACE_FILE_MAX_VCPUS)
		return -E2BIG;
	fill_info(m, &info);
	err = trace_writer_open(path, &info, &writer);
	if (err)
		return err;
	err = trace_writer_origin(writer, &origin);
	if (!err)
		err = trace_writer_spaces(writer, m->index.spaces.at, m->index.spaces.n);
	for (i = 0; i < m->nlogs && !err; i++)
		err = import_replay(&m->index, &m->logs[i], i, m->config.lip, writer, &m->no_code);
	/* If a log is incomplete, the file is too: the trace may contain more than the log. */
	if (!all_closed(m)) {
		if (!err)
			err = trace_writer_sync(writer);
		trace_writer_drop(writer);
		return err;
	}
	closed = trace_writer_close(writer, 0);
	return err ? err : closed;
}

/* Return the position of the first difference of two pieces, or `n`. */
static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i;
}

bool import_same(const struct import *m, size_t stream, const uint8_t *bytes, size_t len,
		 uint64_t *at)
{
	struct import_log log = m->logs[m->index.streams.at[stream].log];
	const struct import_session *s = m->index.sessions.at;
	const struct import_session *end = s + m->index.sessions.n;
	struct import_log_record r;

	*at = 0;
	for (; s < end; s++) {
		bool open = true, first = true;

		if (s->stream != stream)
			continue;
		log.at = s->at;
		log.why = NULL;
		log.closed = false;
		while (open && import_log_next(&log, &r)) {
			size_t n, same;

			open = r.kind != VPT_LOG_TRIGGER || (r.flags && first);
			first = false;
			if (r.kind != VPT_LOG_TRACE)
				continue;
			n = r.bytes < len - *at ? r.bytes : (size_t)(len - *at);
			same = first_difference(r.data, bytes + *at, n);
			*at += same;
			if (same < r.bytes)
				return false;
		}
	}
	return *at == len;
}
