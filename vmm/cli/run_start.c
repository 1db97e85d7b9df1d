// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the start of a Linux guest to a snapshot, and reads it for a reset after vpt restore. The
 * bytes are struct trace_run_options and the text of the options. The files follow, each as struct
 * trace_file_ref with its name: the kernel, and the initrd if there is one.
 */
#include "cli/run_start.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "core/vcpu.h"

/* Arguments besides the recorded ones, and the end. */
#define OWN_ARGUMENTS 8
#define LONGEST	      (TRACE_REF_NAME_MAX + 16)

static void put(struct cli_run_start *start, const void *bytes, size_t len)
{
	memcpy(start->bytes + start->len, bytes, len);
	start->len += len;
}

static void put_file(struct cli_run_start *start, struct trace_file_ref ref, const char *name)
{
	ref.name_len = (uint32_t)strlen(name);
	put(start, &ref, sizeof(ref));
	put(start, name, ref.name_len);
}

int cli_run_start_describe(struct cli_run_start *start, const struct cli_run_options *o,
			   const struct cli_run_guest *guest)
{
	const struct trace_run_options head = {o->given.count, o->given.len};
	const char *initrd = o->initrd ? o->initrd : "";

	if (o->given.full || strlen(o->guest) > TRACE_REF_NAME_MAX ||
	    strlen(initrd) > TRACE_REF_NAME_MAX)
		return -E2BIG;
	*start = (struct cli_run_start){.bytes = malloc(sizeof(head) + head.len + strlen(o->guest) +
							strlen(initrd) +
							2 * sizeof(struct trace_file_ref))};
	if (!start->bytes)
		return -ENOMEM;
	put(start, &head, sizeof(head));
	put(start, o->given.text, head.len);
	put_file(start, cli_run_guest_ref(guest), o->guest);
	if (o->initrd)
		put_file(start, cli_run_initrd_ref(guest), initrd);
	return 0;
}

void cli_run_start_free(struct cli_run_start *start)
{
	free(start->bytes);
	*start = (struct cli_run_start){0};
}

/* The bytes that are not read yet. */
struct in {
	const uint8_t *at;
	size_t left;
};

static bool get(struct in *in, void *to, size_t len)
{
	if (len > in->left)
		return false;
	memcpy(to, in->at, len);
	in->at += len;
	in->left -= len;
	return true;
}

static bool get_file(struct in *in, struct trace_file_ref *ref, char *name)
{
	if (!get(in, ref, sizeof(*ref)) || !ref->name_len || ref->name_len > TRACE_REF_NAME_MAX ||
	    !get(in, name, ref->name_len))
		return false;
	name[ref->name_len] = 0;
	return strlen(name) == ref->name_len;
}

static bool get_files(struct in *in, struct cli_run_restart *r)
{
	if (!get_file(in, &r->ref[0], r->name[0]) || r->ref[0].kind != TRACE_REF_KERNEL)
		return false;
	r->files.what = "snapshot";
	r->files.guest = &r->ref[0];
	r->files.guest_name = r->name[0];
	if (!in->left)
		return true;
	r->files.initrd = &r->ref[1];
	r->files.initrd_name = r->name[1];
	return get_file(in, &r->ref[1], r->name[1]) && r->ref[1].kind == TRACE_REF_INITRD &&
	       !in->left;
}

/* Returns true if the text has as many strings as its head says. */
static bool has_strings(const char *text, const struct trace_run_options *head)
{
	uint32_t count = 0, i;

	for (i = 0; i < head->len; i++)
		count += !text[i];
	return count == head->count && (!head->len || !text[head->len - 1]);
}

/* Add the options of the text to the arguments. Returns false if one is not an option of a run. */
static bool add_options(struct cli_run_restart *r, uint32_t count, int *argc)
{
	char *at = r->text + LONGEST;
	uint32_t i;

	for (i = 0; i < count; i++, at += strlen(at) + 1) {
		if (!cli_run_replays(at))
			return false;
		r->argv[(*argc)++] = at;
	}
	return true;
}

/* Parse the options like the command line of vpt run. */
static int parse(struct cli_run_restart *r, uint32_t count, bool traced)
{
	static char name[] = "run", engine[] = "--engine=soft", output[] = "--output=/dev/null",
		    end[] = "--";
	int argc = 0;

	r->argv[argc++] = name;
	if (!add_options(r, count, &argc))
		return CLI_EXIT_INPUT;
	r->argv[argc++] = engine;
	if (traced)
		r->argv[argc++] = output;
	if (r->files.initrd) {
		snprintf(r->text, LONGEST, "--initrd=%s", r->name[1]);
		r->argv[argc++] = r->text;
	}
	r->argv[argc++] = end;
	r->argv[argc++] = r->name[0];
	return cli_run_parse(&r->o, argc, r->argv);
}

/* Returns true if the options are those of the machine, as far as a reset needs them. */
static bool fits(const struct cli_run_options *o, const struct cli_run_options *machine)
{
	return o->mem == machine->mem && o->owner == machine->owner && o->seed == machine->seed &&
	       o->system == machine->system && !o->usage.given &&
	       !memcmp(&o->caps, &machine->caps, sizeof(o->caps));
}

int cli_run_restart_read(struct cli_run_restart *r, const void *bytes, size_t len,
			 const struct cli_run_options *machine, const char *path)
{
	struct in in = {bytes, len};
	struct trace_run_options head;
	int status = CLI_EXIT_INPUT;

	if (get(&in, &head, sizeof(head)) && head.len <= TRACE_RUN_OPTIONS_MAX &&
	    head.len <= in.left && head.count <= head.len) {
		r->text = malloc(LONGEST + head.len);
		r->argv = calloc((size_t)head.count + OWN_ARGUMENTS, sizeof(*r->argv));
		if (!r->text || !r->argv)
			return cli_fail(CLI_EXIT_HOST, "%s: no memory", machine->verb);
		(void)get(&in, r->text + LONGEST, head.len);
		if (has_strings(r->text + LONGEST, &head) && get_files(&in, r))
			status = parse(r, head.count, machine->owner != TRACE_OWNER_NONE);
	}
	if (status || !fits(&r->o, machine))
		return cli_fail(CLI_EXIT_INPUT, "%s: %s: its options are not those of its guest",
				machine->verb, path);
	r->o.verb = machine->verb;
	r->o.replay = &r->files;
	return CLI_EXIT_OK;
}

/* A name could be that of a device or of a pipe that nobody writes. */
static int check_regular(const struct cli_run_restart *r, const char *name)
{
	struct stat st;

	if (!name || stat(name, &st) || S_ISREG(st.st_mode))
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_INPUT, "%s: %s: not a regular file", r->o.verb, name);
}

int cli_run_restart_open(struct cli_run_restart *r)
{
	int status;

	if (r->opened)
		return CLI_EXIT_OK;
	status = check_regular(r, r->o.guest);
	if (!status)
		status = check_regular(r, r->o.initrd);
	if (!status)
		status = cli_run_guest_open(&r->guest, &r->o);
	if (!status)
		status = cli_run_check_replay(&r->o, &r->guest);
	r->opened = !status;
	return status;
}

void cli_run_restart_close(struct cli_run_restart *r)
{
	cli_run_guest_close(&r->guest);
	free(r->text);
	free(r->argv);
}
