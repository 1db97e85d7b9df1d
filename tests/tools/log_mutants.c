// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Change a trace's log in one place at a time. Require that vpt verify reports the same step by step,
 * by stretches, and of a log of single records, with one thread, two and seven. The report is every
 * count, the first difference, and the lines around it.
 * usage: log_mutants FILE SEED COUNT [KIND [OUT]]
 *
 * The log is first rewritten as stretches. Prints for each kind of change how many there were and
 * how many were found. OUT gets the last file whose change was found. Exit status 0: always the
 * same. 1: not, or what changes nothing was found.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/logfile.h"
#include "oracle/compare_all.h"
#include "oracle/report.h"

/* The numbers of threads that compare stretches. Steps are compared by one thread. */
static const unsigned int jobs[] = {1, 2, 7};
#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

/* The name, and whether it changes what ran. */
#define KINDS(KIND)                \
	KIND(none, false)          \
	KIND(split, false)         \
	KIND(join, false)          \
	KIND(first_missing, true)  \
	KIND(middle_missing, true) \
	KIND(last_missing, true)   \
	KIND(first_twice, true)    \
	KIND(last_extra, true)     \
	KIND(wrong_ip, true)       \
	KIND(wrong_length, true)   \
	KIND(swapped, true)        \
	KIND(missing, true)        \
	KIND(twice, true)          \
	KIND(another, true)        \
	KIND(cut, true)            \
	KIND(other_cpl, true)      \
	KIND(other_flags, true)    \
	KIND(other_space, true)    \
	KIND(event, true)          \
	KIND(ends_early, true)     \
	KIND(code_byte, true)      \
	KIND(trace_byte, true)

enum kind {
#define KIND(name, changes) KIND_##name,
	KINDS(KIND)
#undef KIND
		KIND_COUNT
};

static const struct {
	const char *name;
	bool changes;
} kinds[] = {
#define KIND(name, changes) {#name, changes},
	KINDS(KIND)
#undef KIND
};

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? state % below : 0;
}

static void put_lines(FILE *out, const char *mark, const struct oracle_diff_line *line,
		      unsigned int n)
{
	unsigned int i, b;

	for (i = 0; i < n; i++) {
		fprintf(out, "%s %d 0x%" PRIx64 " 0x%" PRIx64 " session %zu mode %u:", mark,
			line[i].step.kind, line[i].step.ip,
			line[i].step.kind == ORACLE_STEP_ASYNC ? line[i].step.to : 0,
			line[i].step.session, line[i].mode);
		for (b = 0; b < line[i].len; b++)
			fprintf(out, " %02x", line[i].raw[b]);
		fputc('\n', out);
	}
}

/* Write everything that `vpt verify` reports. */
static void put_verdict(FILE *out, const struct trace_reader *reader,
			const struct oracle_comparison *c)
{
	fprintf(out, "untold %" PRIu64 ", damaged %zu\n", c->untold,
		trace_reader_extent(reader)->damages);
	oracle_report_json(out, c);
	oracle_report_shortfalls(out, c);
	if (!c->mismatches)
		return;
	put_lines(out, " ", c->diff.common, c->diff.ncommon);
	put_lines(out, "-", c->diff.expected, c->diff.nexpected);
	put_lines(out, "+", c->diff.decoded, c->diff.ndecoded);
}

/*
 * The numbers of decoded instructions, and of those compared by stretches, for the unchanged log.
 */
static uint64_t decoded, matched;

static char *verdict(const char *path, enum oracle_compare_unit unit, unsigned int threads,
		     uint64_t *mismatches)
{
	struct oracle_comparison c = {.unit = unit};
	struct trace_reader *reader;
	char why[200] = "", *text = NULL;
	size_t len = 0;
	unsigned int v;
	FILE *out = open_memstream(&text, &len);
	int err = trace_reader_open(path, &reader, why, sizeof(why));

	if (!out)
		abort();
	*mismatches = 1;
	if (err) {
		fprintf(out, "not read: %d: %s\n", err, why);
	} else {
		for (v = 0;
		     unit == ORACLE_COMPARE_STEPS && !err && v < trace_reader_info(reader)->vcpus;
		     v++)
			err = oracle_compare(reader, v, &c);
		if (unit == ORACLE_COMPARE_STRETCHES)
			err = oracle_compare_all(reader, threads, &c);
		fprintf(out, "%d\n", err);
		put_verdict(out, reader, &c);
		*mismatches = c.mismatches + c.errors;
		decoded = c.decoded;
		matched = c.matched;
		oracle_comparison_free(&c);
		trace_reader_close(reader);
	}
	fclose(out);
	return text;
}

static struct logfile_entry *some_stretch(struct logfile *f, unsigned int least, size_t *at)
{
	unsigned int tries;

	for (tries = 0; tries < 10000; tries++) {
		*at = draw(f->n);
		if (!f->entry[*at].is_record &&
		    f->stretch[f->entry[*at].stretch].head.insns >= least)
			return &f->entry[*at];
	}
	return NULL;
}

/* Add a stretch of instructions @from to @to of stretch @of. Returns its number. */
static uint32_t part(struct logfile *f, uint32_t of, unsigned int from, unsigned int to)
{
	struct logfile_stretch s = f->stretch[of];
	unsigned int i;

	for (i = 0; i < from; i++)
		s.head.ip += s.insn[i].len;
	s.head.insns = (uint16_t)(to - from);
	memmove(s.insn, s.insn + from, s.head.insns * sizeof(*s.insn));
	if (to < f->stretch[of].head.insns)
		s.head.flags &= TRACE_STRETCH_PAE;
	return logfile_stretch(f, &s);
}

static bool split(struct logfile *f, bool without)
{
	size_t at;
	struct logfile_entry *e = some_stretch(f, without ? 3 : 2, &at);
	unsigned int n, where;
	uint32_t of;

	if (!e)
		return false;
	of = e->stretch;
	n = f->stretch[of].head.insns;
	where = 1 + (unsigned int)draw(n - 1u - without);
	e->stretch = part(f, of, 0, where);
	logfile_insert(f, at + 1,
		       &(struct logfile_entry){.vcpu = e->vcpu,
					       .stretch = part(f, of, where + without, n)});
	return true;
}

/* Join two stretches of which the second follows the first by falling through. */
static bool join(struct logfile *f)
{
	unsigned int tries;

	for (tries = 0; tries < 100000; tries++) {
		size_t at = draw(f->n - 1);
		const struct logfile_entry *e = &f->entry[at];
		struct logfile_stretch s, *t;

		if (e[0].is_record || e[1].is_record || e[0].vcpu != e[1].vcpu)
			continue;
		s = f->stretch[e[0].stretch];
		t = &f->stretch[e[1].stretch];
		if (s.head.flags & ~TRACE_STRETCH_PAE || logfile_end(&s) != t->head.ip ||
		    s.head.cpl != t->head.cpl || s.head.insns + t->head.insns > LOGFILE_INSNS)
			continue;
		memcpy(s.insn + s.head.insns, t->insn, t->head.insns * sizeof(*t->insn));
		s.head.insns = (uint16_t)(s.head.insns + t->head.insns);
		s.head.flags = t->head.flags;
		f->entry[at].stretch = logfile_stretch(f, &s);
		logfile_remove(f, at + 1);
		return true;
	}
	return false;
}

/* Change the instructions of one occurrence of a stretch. */
static bool change(struct logfile *f, enum kind kind)
{
	size_t at;
	struct logfile_entry *e = some_stretch(f, kind == KIND_wrong_length ? 2 : 1, &at);
	struct logfile_stretch s;
	unsigned int n, i;

	if (!e)
		return false;
	s = f->stretch[e->stretch];
	n = s.head.insns;
	i = (unsigned int)draw(n);
	switch (kind) {
	case KIND_first_missing:
	case KIND_last_missing:
		if (n == 1)
			logfile_remove(f, at);
		else
			e->stretch = part(f, e->stretch, kind == KIND_first_missing,
					  n - (kind == KIND_last_missing));
		return true;
	case KIND_first_twice:
		logfile_insert(f, at,
			       &(struct logfile_entry){.vcpu = e->vcpu,
						       .stretch = part(f, e->stretch, 0, 1)});
		return true;
	case KIND_last_extra:
		if (n == LOGFILE_INSNS)
			return false;
		s.insn[n] = (struct trace_stretch_insn){.len = 1};
		s.head.insns++;
		break;
	case KIND_wrong_ip:
		s.head.ip += draw(2) ? 1 : ~0ull;
		break;
	case KIND_wrong_length:
		i = (unsigned int)draw(n - 1u);
		s.insn[i].len = (uint8_t)(s.insn[i].len % TRACE_STRETCH_LEN_MAX + 1);
		break;
	case KIND_other_cpl:
		s.head.cpl ^= 3;
		break;
	case KIND_other_flags:
		if (draw(2))
			s.head.flags ^= (uint8_t)(1u << draw(3));
		else
			s.insn[i].flags ^= (uint8_t)(1u << draw(6));
		break;
	default:
		return false;
	}
	e->stretch = logfile_stretch(f, &s);
	return true;
}

static bool put_record(struct logfile *f, uint8_t kind, uint64_t ip)
{
	size_t at;
	const struct logfile_entry *e = some_stretch(f, 1, &at);
	struct logfile_entry new = {.is_record = true};

	if (!e)
		return false;
	new.vcpu = e->vcpu;
	new.record = (struct trace_oracle_record){
		.ip = ip ? ip : f->stretch[e->stretch].head.ip,
		.kind = kind,
		.cpl = f->stretch[e->stretch].head.cpl,
		.aux = 14,
	};
	logfile_insert(f, at, &new);
	return true;
}

static bool move(struct logfile *f, enum kind kind)
{
	size_t at = draw(f->n - 1), with = draw(4) ? at + 1 : draw(f->n);
	struct logfile_entry e = f->entry[at], *s;

	switch (kind) {
	case KIND_swapped:
		f->entry[at] = f->entry[with];
		f->entry[with] = e;
		return true;
	case KIND_missing:
		logfile_remove(f, at);
		return true;
	case KIND_twice:
		logfile_insert(f, at, &e);
		return true;
	case KIND_another:
		s = some_stretch(f, 1, &at);
		if (s)
			s->stretch = (uint32_t)draw(f->nstretches);
		return s != NULL;
	case KIND_cut:
		s = some_stretch(f, 1, &at);
		if (s)
			s->cut = 1 + (unsigned int)draw(f->stretch[s->stretch].head.insns + 1u);
		return s != NULL;
	default:
		f->n = at + 1;
		return true;
	}
}

static bool mutate(struct logfile *f, enum kind kind)
{
	switch (kind) {
	case KIND_none:
		return true;
	case KIND_split:
		return split(f, false);
	case KIND_middle_missing:
		return split(f, true);
	case KIND_join:
		return join(f);
	case KIND_swapped:
	case KIND_missing:
	case KIND_twice:
	case KIND_another:
	case KIND_cut:
	case KIND_ends_early:
		return move(f, kind);
	case KIND_other_space:
		return put_record(f, TRACE_ORACLE_CR3, draw(1u << 20) << 12);
	case KIND_event:
		return put_record(f, TRACE_ORACLE_EVENT, 0);
	case KIND_code_byte:
		return logfile_flip(f, TRACE_BLOCK_CODE, draw) ||
		       logfile_flip(f, TRACE_BLOCK_PAGE, draw);
	case KIND_trace_byte:
		return logfile_flip(f, TRACE_BLOCK_TRACE, draw);
	default:
		return change(f, kind);
	}
}

static bool is_same(const char *path, enum oracle_compare_unit unit, unsigned int threads,
		    const char *steps, const char *what)
{
	uint64_t mismatches;
	char *other = verdict(path, unit, threads, &mismatches);
	bool ok = !strcmp(steps, other);

	if (!ok)
		printf("%s, threads: %u: step by step:\n%sotherwise:\n%s", what, threads, steps,
		       other);
	free(other);
	return ok;
}

static bool is_same_by_jobs(const char *path, const char *steps, const char *what)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < JOBS; i++)
		ok = is_same(path, ORACLE_COMPARE_STRETCHES, jobs[i], steps, what) && ok;
	return ok;
}

/*
 * Return true if all ways of comparing, and the log as records, give the same result for the
 * current log.
 */
static bool same(struct logfile *f, const char *path, const char *what, uint64_t *mismatches)
{
	char records[80], *steps;
	bool ok = true;

	snprintf(records, sizeof(records), "%s.records", path);
	logfile_write(f, path);
	steps = verdict(path, ORACLE_COMPARE_STEPS, 1, mismatches);
	if (logfile_write_records(f, path, records)) {
		ok = is_same(records, ORACLE_COMPARE_STEPS, 1, steps, what) &&
		     is_same_by_jobs(records, steps, what);
		unlink(records);
	}
	ok = is_same_by_jobs(path, steps, what) && ok;
	free(steps);
	return ok;
}

int main(int argc, char **argv)
{
	unsigned long made[KIND_COUNT] = {0}, found[KIND_COUNT] = {0}, differ = 0, wrong = 0, i;
	struct logfile f;
	uint64_t mismatches;
	char path[64];
	unsigned int k;

	if (argc < 4) {
		fprintf(stderr, "usage: log_mutants FILE SEED COUNT [KIND [OUT]]\n");
		return 2;
	}
	snprintf(path, sizeof(path), "/tmp/log-mutant-%d.vpt", (int)getpid());
	state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15ull | 1;
	logfile_read(&f, argv[1]);
	differ = !same(&f, path, "the log as it is", &mismatches);
	printf("%" PRIu64 " decoded, %" PRIu64 " by stretches\n", decoded, matched);
	for (i = 0; i < strtoul(argv[3], NULL, 10); i++) {
		enum kind kind = (enum kind)(i % KIND_COUNT);
		char what[80];

		if (argc > 4 && strcmp(kinds[kind].name, argv[4]))
			continue;
		logfile_keep(&f);
		snprintf(what, sizeof(what), "mutant %lu, %s", i, kinds[kind].name);
		if (mutate(&f, kind)) {
			made[kind]++;
			differ += !same(&f, path, what, &mismatches);
			found[kind] += mismatches != 0;
			wrong += mismatches && !kinds[kind].changes;
			if (argc > 5 && mismatches)
				logfile_write(&f, argv[5]);
		}
		logfile_restore(&f);
	}
	unlink(path);
	for (k = 0; k < KIND_COUNT; k++)
		printf("%s: %lu of %lu found\n", kinds[k].name, found[k], made[k]);
	printf("%lu differ, %lu found that are none\n", differ, wrong);
	logfile_free(&f);
	return differ || wrong;
}
