// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt dump: prints the packets of a trace. */
#include "cli/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/open.h"
#include "cli/option.h"
#include "trace/input.h"

struct options {
	struct cli_dump dump;
	const char *path;
	bool raw;
	bool trace;	   /* --trace was given */
	unsigned int kind; /* the selected word of --trace */
	bool one_vcpu;
	uint64_t vcpu;
};

#define AT(member)    .field = offsetof(struct options, member)
#define GIVEN(member) .given = offsetof(struct options, member)

enum { PT, RTIT, ATOM_CYC };

static const char *const kinds[] = {[PT] = "pt", [RTIT] = "rtit", [ATOM_CYC] = "rtit-cyc", NULL};

static const struct cli_option rows[] = {
	{'r', "raw", NULL, "FILE has only trace bytes", cli_take_flag, AT(raw)},
	{'t', "trace", "=KIND",
	 "with --raw, the trace system: pt (default), rtit, or rtit-cyc (RTIT with cycle counts, "
	 "which the bytes do not mark)",
	 cli_take_word, AT(kind), GIVEN(trace), .words = kinds},
	{'c', "vcpu", "=N", "only the stream of vCPU N (default: all, one after the other)",
	 cli_take_number, AT(vcpu), GIVEN(one_vcpu)},
	{'o', "offset", "=N", "begin with the first packet at or after byte N of a stream",
	 cli_take_number, AT(dump.offset)},
	{'n', "limit", "=N", "show N packets", cli_take_number, AT(dump.limit)},
	{'s', "summary", NULL, "count packets and bytes by kind instead", cli_take_flag,
	 AT(dump.summary)},
	{'j', "json", NULL, "one JSON object per line", cli_take_flag, AT(dump.json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_dump = {
	.name = "dump",
	.run = cli_cmd_dump,
	.summary = "show the packets of a trace",
	.usage = "[OPTION]... FILE",
	.about = "Shows the packets of a .vpt trace. With --raw, FILE has only trace bytes, for "
		 "example a copy of an output region. FILE - is standard input.",
	.notes =
		"Each line has the packet's offset in the stream (hex), its name and its payload. "
		"TIP, TIP.PGE, TIP.PGD and FUP also have the whole IP, decompressed with the last "
		"IP. It is ? until a PSB or an uncompressed IP:\n\n"
		"  00000018  TIP.PGE   3: 0xffff81000000       ffffffff81000000\n"
		"  0000001f  TNT       !!.!\n"
		"  00000020  TIP       1: 0x1040               ffffffff81001040\n\n"
		"The number before the payload of these four packets is IPBytes. TNT shows branch "
		"outcomes, oldest first: ! is taken, . is not taken. IP after PTW, EXSTOP, BEP and "
		"CFE means that a FUP follows.\n\n"
		"In RTIT traces, FUPs and TIP have CNT before the payload, and z if Zext is set. "
		"cyc N is the cycle count after a packet. Sessions show the registers that differ "
		"from their reset values, and then those with other values at the end:\n\n"
		"  00000009  FUP.PGE     1z: 0x401000 cyc 0                      0000000000401000\n"
		"  0000000e  TIP         0: 0x1040 cyc 12                        "
		"0000000000401040\n\n"
		"If no packet begins at an offset, a line with ** reports this, and reading "
		"resumes at the next PSB. The exit status is then 1. It is 2 for a wrong command "
		"line, and 3 if FILE cannot be read or is incomplete.\n\n"
		"  vpt dump -s trace.vpt                which packets take the room?\n"
		"  vpt dump -c 0 -o 0x8000 -n 20 t.vpt  20 packets of vCPU 0 from byte 8000H on\n"
		"  vpt dump --raw topa0.bin             bytes copied out of a guest",
	.options = rows,
	.column = 20,
	.operands = {{"FILE", AT(path)}},
};

/* Return where to resume after bytes that are not a packet. */
static uint64_t next_psb(const struct cli_dump *d, const struct cli_dump_stream *s, uint64_t at,
			 uint64_t end)
{
	return at + 1 + d->system->find_psb(s->bytes + at + 1, (size_t)(end - at - 1));
}

/* Show the packets of [at, end), which no packet straddles. */
static void walk(struct cli_dump *d, struct cli_dump_stream *s, uint64_t at, uint64_t end,
		 bool may_be_cut)
{
	while (at < end && d->limit) {
		struct cli_dump_item item = {0};
		uint64_t next;

		switch (d->system->read(s, s->bytes + at, (size_t)(end - at), &item)) {
		case VPT_OK:
			next = at + item.size;
			cli_dump_packet(d, at, &item);
			break;
		case VPT_E_EOS:
			next = end;
			cli_dump_lost(d, at, may_be_cut ? CLI_DUMP_CUT_OK : CLI_DUMP_CUT,
				      s->bytes + at, end - at);
			break;
		default:
			next = next_psb(d, s, at, end);
			cli_dump_lost(d, at, CLI_DUMP_BAD, s->bytes + at, next - at);
			d->system->lost(s);
			break;
		}
		at = next;
	}
}

/* Show bytes outside sessions. There are none if the engine reports each session edge. */
static void walk_between(struct cli_dump *d, struct cli_dump_stream *s, uint64_t at, uint64_t end)
{
	d->system->begin(s, NULL);
	walk(d, s, at, end, false);
}

/* A full region or an error discards the bytes of a packet that do not fit (33.2.7.2). */
static bool end_may_cut(const struct trace_session *end)
{
	return end && (end->end == TRACE_END_TOPA_STOP || end->end == TRACE_END_ERROR ||
		       end->end == TRACE_END_LOST);
}

/*
 * Return the last listed PSB between @from and @stop that is not behind the first packet to show.
 * No packet depends on packets before a PSB of PT.
 */
static uint64_t skip_to(const struct cli_dump *d, const struct trace_reader *reader,
			unsigned int vcpu, uint64_t from, uint64_t stop)
{
	const struct trace_psb_point *point;

	if (d->system != &cli_dump_pt || d->offset <= from)
		return from;
	point = trace_reader_point_before(reader, vcpu, d->offset);
	return point && point->offset > from && point->offset < stop ? point->offset : from;
}

/* Show a vCPU's stream, session by session. `from` only grows, with any file. */
static int dump_vcpu(struct cli_dump *d, struct trace_reader *reader, unsigned int vcpu)
{
	struct cli_dump_stream s = {0};
	const struct trace_period *periods;
	uint64_t from = 0;
	size_t count, len, i;

	s.bytes = trace_reader_stream(reader, vcpu, &len);
	if (!s.bytes)
		return cli_fail(CLI_EXIT_HOST, "dump: no memory for %zu bytes of trace", len);
	periods = trace_reader_sessions(reader, vcpu, &count);
	d->vcpu = (int)vcpu;
	for (i = 0; i < count; i++) {
		const struct trace_session *end = periods[i].end;
		uint64_t start = periods[i].start->offset;
		uint64_t stop = end ? end->offset : len;

		if (stop > len)
			stop = len;
		if (start > from && start <= stop) {
			walk_between(d, &s, from, start);
			from = start;
		}
		cli_dump_session(d, i, &periods[i]);
		d->system->begin(&s, periods[i].start);
		if (stop > from) {
			from = skip_to(d, reader, vcpu, from, stop);
			walk(d, &s, from, stop, end_may_cut(end));
			from = stop;
		}
		cli_dump_session_end(d, i, &periods[i]);
	}
	walk_between(d, &s, from, len);
	return CLI_EXIT_OK;
}

static int dump_vpt(struct options *o)
{
	struct trace_reader *reader;
	unsigned int vcpu, vcpus;
	int status;

	status = cli_open_or("dump", o->path, TRACE_READER_NO_ORACLE | TRACE_READER_CODE_IN_PLACE,
			     "; --raw is for bare trace bytes", &reader);
	if (status)
		return status;
	if (trace_reader_info(reader)->flags & TRACE_INFO_ATOM)
		o->dump.system = &cli_dump_atom;
	vcpus = trace_reader_info(reader)->vcpus;
	if (o->one_vcpu && o->vcpu >= vcpus) {
		status = cli_fail(CLI_EXIT_USAGE, "dump: --vcpu=%" PRIu64 ": %s has vCPUs 0 to %u",
				  o->vcpu, o->path, vcpus - 1);
		vcpus = 0;
	}
	for (vcpu = 0; vcpu < vcpus && !status; vcpu++) {
		if (!o->one_vcpu || vcpu == o->vcpu)
			status = dump_vcpu(&o->dump, reader, vcpu);
	}
	if (!status && o->dump.summary)
		cli_dump_summary(&o->dump);
	if (!status)
		status = cli_whole("dump", o->path, reader);
	trace_reader_close(reader);
	return status;
}

static int dump_raw(struct options *o)
{
	struct trace_input in = {0};
	struct cli_dump_stream s = {0};
	int err = trace_input_open(&in, o->path);

	if (err) {
		trace_input_close(&in);
		return cli_fail(cli_input_status(err), "dump: %s: %s", o->path, cli_reason(-err));
	}
	s.bytes = in.bytes;
	o->dump.vcpu = CLI_DUMP_RAW;
	s.cycle_acc = o->kind == ATOM_CYC;
	walk(&o->dump, &s, 0, in.size, false);
	trace_input_close(&in);
	if (o->dump.summary)
		cli_dump_summary(&o->dump);
	return CLI_EXIT_OK;
}

int cli_cmd_dump(int argc, char **argv)
{
	struct options o = {.dump = {.out = stdout, .limit = UINT64_MAX, .system = &cli_dump_pt}};
	int status = cli_options_parse(&cli_verb_dump, argc, argv, &o);

	if (status)
		return status;
	if (o.raw && o.one_vcpu)
		return cli_fail(CLI_EXIT_USAGE, "dump: --vcpu: a --raw file has one stream");
	if (!o.raw && o.trace)
		return cli_fail(
			CLI_EXIT_USAGE,
			"dump: --trace: requires --raw: a .vpt file names its trace system");
	if (o.kind != PT)
		o.dump.system = &cli_dump_atom;
	status = cli_confine_reader("dump");
	if (status)
		return status;
	status = o.raw ? dump_raw(&o) : dump_vpt(&o);
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "dump: cannot write: %s", cli_reason(errno));
	if (!status && o.dump.bad)
		return cli_fail(CLI_EXIT_FAIL,
				"dump: %s: %" PRIu64 " bytes are in no packet; places: %" PRIu64,
				o.path, o.dump.lost, o.dump.bad);
	return status;
}
