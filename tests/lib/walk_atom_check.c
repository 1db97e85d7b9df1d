// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode a walk that RTIT traced, and compare the result with the instructions that were executed.
 */
#include "lib/walk_inside.h"

#include <string.h>
#include <unistd.h>

#include "oracle/compare.h"

static void say_difference(const struct oracle_comparison *c, char *why, size_t size)
{
	const struct oracle_diff *d = &c->diff;

	snprintf(why, size,
		 "session %zu, after %llu instructions, byte %#llx: %s; expected %d at %#llx, "
		 "decoded %d at %#llx",
		 d->session, (unsigned long long)d->insns, (unsigned long long)d->offset,
		 d->text ? d->text : "a difference",
		 d->nexpected ? (int)d->expected[0].step.kind : -1,
		 (unsigned long long)d->expected[0].step.ip,
		 d->ndecoded ? (int)d->decoded[0].step.kind : -1,
		 (unsigned long long)d->decoded[0].step.ip);
}

static bool compare(const char *path, char *why, size_t size, struct walk_seen *seen)
{
	struct oracle_comparison c = {0};
	struct trace_reader *reader;
	bool ok;

	if (trace_reader_open(path, &reader, why, size))
		return false;
	MUST(!oracle_compare(reader, 0, &c));
	ok = !c.mismatches && !c.errors;
	if (!ok)
		say_difference(&c, why, size);
	seen->insns = c.decoded;
	seen->losses = c.skipped != 0 || c.shortfalls.n;
	oracle_comparison_free(&c);
	trace_reader_close(reader);
	return ok;
}

bool walk_atom_check(const struct walk_config *config, char *why, size_t size,
		     struct walk_seen *seen)
{
	char own[] = "/tmp/vpt-walk-XXXXXX";
	const char *path = config->rtit.keep;
	struct walk_seen unused;
	bool ok;

	seen = seen ? seen : &unused;
	*seen = (struct walk_seen){0};
	why[0] = '\0';
	if (!path) {
		int fd = mkstemp(own);

		MUST(fd >= 0);
		close(fd);
		path = own;
	}
	walk_atom_record(config, path, seen);
	ok = compare(path, why, size, seen);
	if (path == own)
		unlink(own);
	return ok;
}
