// SPDX-License-Identifier: GPL-2.0-or-later
/* Records in the trace file how the guest was run, and compares a replay's files with that. */
#include <errno.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "cli/run_guest.h"
#include "trace/crc32c.h"
#include "trace/writer.h"

/*
 * Options that do not determine the guest's run: outputs, limits on the host's clock, and inputs.
 * The engine of a replay is the software CPU, and the initrd is a FILE block.
 */
static const char *const others[] = {
	"output", "console", "input",	 "realtime",	"timeout",	  "engine",
	"initrd", "verify",  "snapshot", "snapshot-at", "snapshot-every", "quiet",
	"json",	  "help",    "monitor",	 "gdb",		"ring",		  "slow-reader",
};

static bool is_other(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strlen(others[i]) == len && !memcmp(others[i], name, len))
			return true;
	return false;
}

static void put(struct cli_run_given *given, const char *text, size_t len)
{
	if (len > sizeof(given->text) - given->len) {
		given->full = true;
		return;
	}
	memcpy(given->text + given->len, text, len);
	given->len += (uint32_t)len;
}

void cli_run_see(const struct cli_given *g)
{
	struct cli_run_given *given = &((struct cli_run_options *)g->options)->given;
	const char *name = g->option->name;

	if (is_other(name, strlen(name)))
		return;
	put(given, "--", 2);
	put(given, name, strlen(name));
	if (g->value) {
		put(given, "=", 1);
		put(given, g->value, strlen(g->value));
	}
	put(given, "", 1);
	given->count++;
}

bool cli_run_replays(const char *text)
{
	const struct cli_option *row = cli_verb_run.options;
	size_t len;

	if (strncmp(text, "--", 2))
		return false;
	text += 2;
	len = strcspn(text, "=");
	for (; row->text; row++)
		if (row->name && strlen(row->name) == len && !memcmp(row->name, text, len))
			return !is_other(text, len);
	return false;
}

static struct trace_file_ref ref_of(enum trace_file_ref_kind kind, const struct trace_input *file)
{
	struct trace_file_ref ref = {
		.kind = kind,
		.hash_is = TRACE_HASH_CRC32C,
		.bytes = file->size,
	};
	const uint32_t crc = trace_crc32c(0, file->bytes, file->size);

	memcpy(ref.hash, &crc, sizeof(crc));
	return ref;
}

struct trace_file_ref cli_run_guest_ref(const struct cli_run_guest *guest)
{
	return ref_of(guest->kind == CLI_RUN_PAYLOAD ? TRACE_REF_BINARY : TRACE_REF_KERNEL,
		      &guest->file);
}

struct trace_file_ref cli_run_initrd_ref(const struct cli_run_guest *guest)
{
	return ref_of(TRACE_REF_INITRD, &guest->initrd);
}

static bool is_same(const struct trace_file_ref *a, const struct trace_file_ref *b)
{
	return a->kind == b->kind && a->hash_is == b->hash_is && a->bytes == b->bytes &&
	       !memcmp(a->hash, b->hash, sizeof(a->hash));
}

static int refuse(const struct cli_run_options *o, const char *path, const char *what)
{
	return cli_fail(CLI_EXIT_INPUT, "%s: %s: not the %s of the %s: its contents differ",
			o->verb, path, what, o->replay->what);
}

int cli_run_check_replay(const struct cli_run_options *o, const struct cli_run_guest *guest)
{
	struct trace_file_ref is;

	if (!o->replay)
		return CLI_EXIT_OK;
	is = cli_run_guest_ref(guest);
	if (!is_same(&is, o->replay->guest))
		return refuse(o, o->guest, "guest");
	if (!o->replay->initrd)
		return CLI_EXIT_OK;
	is = cli_run_initrd_ref(guest);
	return is_same(&is, o->replay->initrd) ? CLI_EXIT_OK : refuse(o, o->initrd, "initrd");
}

bool cli_run_has_live_input(const struct cli_run_options *o)
{
	return cli_run_has_input(o) || o->realtime || o->share.given || o->monitor ||
	       o->net.given || cli_run_window_signals(o);
}

static int write_options(const struct cli_run_given *given, struct trace_writer *writer)
{
	const struct trace_run_options options = {given->count, given->len};

	return trace_writer_options(writer, &options, given->text);
}

int cli_run_record(const struct cli_run_options *o, const struct cli_run_guest *guest,
		   struct trace_writer *writer)
{
	const struct cli_run_replay *replay = o->replay;
	const bool live = replay ? !replay->no_input : cli_run_has_live_input(o);
	struct trace_file_ref ref = cli_run_guest_ref(guest);
	struct cli_run_given given = o->given;
	int err;

	/* Inputs are missing where trace is. */
	if (o->drop)
		return 0;
	if (!live) {
		put(&given, CLI_RUN_NO_INPUT, sizeof(CLI_RUN_NO_INPUT));
		given.count++;
	}
	/* Only a replay needs the options, and such a run can do without. */
	if (given.full)
		return live ? -E2BIG : 0;
	err = write_options(&given, writer);
	if (!err)
		err = trace_writer_ref(writer, 0, &ref, replay ? replay->guest_name : o->guest);
	if (err || !o->initrd)
		return err;
	ref = cli_run_initrd_ref(guest);
	return trace_writer_ref(writer, 0, &ref, replay ? replay->initrd_name : o->initrd);
}
