// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads trace bundles of LLDB, with the schema of lldb's TraceIntelPTBundleLoader.cpp. A bundle has
 * processes with threads and modules, and a file of packets for each thread or each CPU. For each
 * CPU it has the context switches, which are perf records with TID and TIME.
 */
#include "foreign/lldb.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "foreign/lldb_state.h"
#include "trace/format.h"
#include "trace/origin.h"
#include "trace/vec.h"
#include "vpt/msr.h"

#define JSON_MOST (64u << 20)

bool foreign_lldb_is(const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[PATH_MAX];
	struct stat st;

	if (!strcmp(slash ? slash + 1 : path, "trace.json"))
		return true;
	return snprintf(name, sizeof(name), "%s/trace.json", path) < (int)sizeof(name) &&
	       !stat(name, &st) && S_ISREG(st.st_mode);
}

void lldb_fail(struct lldb_bundle *b, int err, const char *what)
{
	if (!b->err) {
		b->err = err;
		b->what = what;
	}
	b->j.bad = true;
}

void lldb_path(struct lldb_bundle *b, char *path, size_t size)
{
	char text[PATH_MAX];

	path[0] = 0;
	if (json_text(&b->j, text, sizeof(text)) && *text &&
	    snprintf(path, size, "%s%s%s", *text == '/' ? "" : b->dir, *text == '/' ? "" : "/",
		     text) >= (int)size)
		lldb_fail(b, -EINVAL, "a path is too long");
}

struct foreign_event *lldb_event(struct lldb_bundle *b, enum foreign_kind kind, uint32_t pid,
				 uint32_t tid)
{
	struct foreign_event *e;

	if (foreign_event(b->t, &e)) {
		lldb_fail(b, -ENOMEM, NULL);
		return NULL;
	}
	e->kind = kind;
	e->cpu = FOREIGN_ANY_CPU;
	e->pid = pid;
	e->tid = tid;
	return e;
}

struct trace_source *lldb_source(struct lldb_bundle *b, const char *path)
{
	struct trace_source *s;
	int err;

	if (!trace_vec_room(&b->t->sources)) {
		lldb_fail(b, -ENOMEM, NULL);
		return NULL;
	}
	s = &b->t->sources.at[b->t->sources.n++];
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	err = trace_source_open(s, path, "", 0);
	if (!err && s->fd < 0)
		err = -EINVAL;
	if (!err)
		return s;
	lldb_fail(b, err, err == -EINVAL ? "a file of packets is no regular file" : NULL);
	return NULL;
}

void lldb_stream(struct lldb_bundle *b, const char *path, uint32_t cpu, uint32_t tid)
{
	const struct foreign_stream key = {.idx = cpu, .cpu = cpu, .tid = tid};
	struct trace_source *s = lldb_source(b, path);
	struct foreign_piece piece = {.source = b->t->sources.n - 1};
	int err;

	if (!s || !s->size)
		return;
	piece.len = s->size;
	err = foreign_piece(b->t, &key, &piece);
	if (err)
		lldb_fail(b, err == -E2BIG ? -EINVAL : err,
			  err == -E2BIG ? "too many files of packets" : NULL);
}

void lldb_list(struct lldb_bundle *b, uint32_t pid,
	       void (*item)(struct lldb_bundle *b, uint32_t pid))
{
	json_open(&b->j, '[');
	while (json_more(&b->j, ']'))
		item(b, pid);
}

static void read_clock(struct lldb_bundle *b)
{
	struct foreign_clock c = {0};
	uint64_t shift = UINT64_MAX;
	char key[LLDB_KEY];

	json_open(&b->j, '{');
	while (json_more(&b->j, '}') && json_key(&b->j, key, sizeof(key))) {
		if (!strcmp(key, "timeMult"))
			c.mult = json_number(&b->j);
		else if (!strcmp(key, "timeShift"))
			shift = json_number(&b->j);
		else if (!strcmp(key, "timeZero"))
			c.zero = json_number(&b->j);
		else
			json_skip(&b->j);
	}
	if (b->j.bad || shift > 32 || !c.mult || c.mult >> 32)
		return;
	c.shift = (unsigned int)shift;
	c.known = true;
	b->t->clock = c;
	b->t->tsc_hz = (1000000000ull << shift) / c.mult;
}

static void read_processor(struct lldb_bundle *b)
{
	uint64_t family = 0, model = 0, stepping = 0;
	char key[LLDB_KEY];

	json_open(&b->j, '{');
	while (json_more(&b->j, '}') && json_key(&b->j, key, sizeof(key))) {
		if (!strcmp(key, "family"))
			family = json_number(&b->j);
		else if (!strcmp(key, "model"))
			model = json_number(&b->j);
		else if (!strcmp(key, "stepping"))
			stepping = json_number(&b->j);
		else
			json_skip(&b->j);
	}
	b->t->caps.signature = trace_cpu_signature(family, model, stepping);
}

static void read_bundle(struct lldb_bundle *b)
{
	char key[LLDB_KEY], type[LLDB_KEY];

	json_open(&b->j, '{');
	while (json_more(&b->j, '}') && json_key(&b->j, key, sizeof(key))) {
		if (!strcmp(key, "type")) {
			if (json_text(&b->j, type, sizeof(type)) && strcmp(type, "intel-pt") != 0)
				lldb_fail(b, -EINVAL, "its trace is not of Intel PT");
		} else if (!strcmp(key, "cpuInfo")) {
			read_processor(b);
		} else if (!strcmp(key, "processes")) {
			lldb_list(b, UINT32_MAX, lldb_process);
		} else if (!strcmp(key, "cpus")) {
			lldb_list(b, UINT32_MAX, lldb_cpu);
		} else if (!strcmp(key, "tscPerfZeroConversion")) {
			read_clock(b);
		} else {
			json_skip(&b->j);
		}
	}
}

/* Return the text of trace.json, which the caller frees, or NULL if it cannot be read. */
static char *read_text(const char *path, size_t *len)
{
	struct trace_source s = {.fd = -1};
	char *text = NULL;

	if (!trace_source_open(&s, path, "", 0) && s.size <= JSON_MOST) {
		*len = (size_t)s.size;
		text = malloc(*len + 1);
		if (text && trace_source_read(&s, 0, text, *len)) {
			free(text);
			text = NULL;
		}
	}
	trace_source_close(&s);
	return text;
}

/* Return the absolute folder of a bundle, or NULL. */
static char *find_folder(const char *path)
{
	struct stat st;
	char *real = realpath(path, NULL), *slash;

	if (!real || (!stat(real, &st) && S_ISDIR(st.st_mode)))
		return real;
	slash = strrchr(real, '/');
	if (slash)
		*slash = 0;
	return real;
}

int foreign_lldb_read(const char *path, struct foreign_trace *t, char *why, size_t size)
{
	struct lldb_bundle b = {.t = t, .dir = find_folder(path)};
	char name[PATH_MAX], *text = NULL;
	size_t len = 0;

	t->program = "lldb";
	t->kind = TRACE_ORIGIN_LLDB;
	t->caps = *vpt_caps_model("spr");
	t->caps.signature = 0;
	t->ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN) |
		 VPT_CTL_MASK(TSC_EN);
	if (b.dir && snprintf(name, sizeof(name), "%s/trace.json", b.dir) < (int)sizeof(name))
		text = read_text(name, &len);
	if (!text) {
		snprintf(why, size, "trace.json cannot be read");
		free(b.dir);
		return -EINVAL;
	}
	b.j = (struct json){.at = text, .end = text + len};
	read_bundle(&b);
	if (b.j.bad && !b.err)
		lldb_fail(&b, -EINVAL, "trace.json is not as it must be");
	if (!b.err && !t->streams.n)
		lldb_fail(&b, -EINVAL, "it has no trace");
	if (b.err)
		snprintf(why, size, "%s", b.what ? b.what : strerror(-b.err));
	free(text);
	free(b.dir);
	return b.err;
}
