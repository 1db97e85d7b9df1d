// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt dump: the packets of a trace, one by one. */
#include "dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "confine.h"
#include "open.h"
#include "old_option.h"
#include "trace/input.h"

static const char help[] =
	"usage: vpt dump [OPTION]... FILE\n"
	"\n"
	"Shows the packets of a .vpt trace, or with --raw of a file that holds trace bytes\n"
	"and nothing else, such as a copy of an output region. FILE - is standard input.\n"
	"\n"
	"  -r, --raw         FILE is trace bytes only\n"
	"  -t, --trace=KIND  with --raw, what they are of: pt (the default), rtit, or rtit-cyc,\n"
	"                    that is with cycle counts, which no byte of them tells\n"
	"  -c, --vcpu=N      only the stream of vCPU N (all, one after the other)\n"
	"  -o, --offset=N    begin with the first packet at or after byte N of a stream\n"
	"  -n, --limit=N     show N packets\n"
	"  -s, --summary     count packets and bytes by kind instead\n"
	"  -j, --json        one JSON object per line\n"
	"  -h, --help        this text\n"
	"\n"
	"A line is the packet's offset in the stream (hex), its name and payload, and for\n"
	"TIP, TIP.PGE, TIP.PGD and FUP the whole IP, decompressed against the last one; ? as\n"
	"long as no PSB or uncompressed IP gave it:\n"
	"\n"
	"  00000018  TIP.PGE   3: 0xffff81000000       ffffffff81000000\n"
	"  0000001f  TNT       !!.!\n"
	"  00000020  TIP       1: 0x1040               ffffffff81001040\n"
	"\n"
	"Before the payload of these four is IPBytes. TNT shows outcomes, oldest first: !\n"
	"taken, . not taken. IP after PTW, EXSTOP, BEP and CFE says that a FUP follows.\n"
	"\n"
	"Of RTIT, FUPs and TIP have CNT before the payload, z where Zext is set; cyc N is the\n"
	"cycle count that follows a packet. Sessions show the registers that are not at their\n"
	"reset values, and then those that have other values at the end:\n"
	"\n"
	"  00000009  FUP.PGE     1z: 0x401000 cyc 0                      0000000000401000\n"
	"  0000000e  TIP         0: 0x1040 cyc 12                        0000000000401040\n"
	"\n"
	"Where no packet begins, one line with ** says so and reading goes on at the next\n"
	"PSB. The exit status is then 1; 2 if the command is wrong, 3 if FILE can't be read\n"
	"or is not whole.\n"
	"\n"
	"  vpt dump -s trace.vpt                which packets take the room?\n"
	"  vpt dump -c 0 -o 0x8000 -n 20 t.vpt  20 packets of vCPU 0 from byte 8000H on\n"
	"  vpt dump --raw topa0.bin             bytes copied out of a guest\n";

struct options {
	struct vpt_dump dump;
	const char *path;
	bool raw;
	bool cycles; /* what is raw has cycle counts */
	bool trace;  /* --trace was given */
	bool help;
	bool one_vcpu;
	uint64_t vcpu;
};

/* Where to go on after bytes that are no packet. */
static uint64_t next_psb(const struct vpt_dump *d, const struct vpt_dump_stream *s, uint64_t at,
			 uint64_t end)
{
	return at + 1 + d->system->find_psb(s->bytes + at + 1, (size_t)(end - at - 1));
}

/* Packets of [at, end), which no packet straddles. */
static void walk(struct vpt_dump *d, struct vpt_dump_stream *s, uint64_t at, uint64_t end,
		 bool may_be_cut)
{
	while (at < end && d->limit) {
		struct vpt_dump_item item = {0};
		uint64_t next;

		switch (d->system->read(s, s->bytes + at, (size_t)(end - at), &item)) {
		case VPT_OK:
			next = at + item.size;
			vpt_dump_packet(d, at, &item);
			break;
		case VPT_E_EOS:
			next = end;
			vpt_dump_lost(d, at, may_be_cut ? VPT_DUMP_CUT_OK : VPT_DUMP_CUT,
				      s->bytes + at, end - at);
			break;
		default:
			next = next_psb(d, s, at, end);
			vpt_dump_lost(d, at, VPT_DUMP_BAD, s->bytes + at, next - at);
			d->system->lost(s);
			break;
		}
		at = next;
	}
}

/* Bytes of no session: there are none if the engine tells each edge. */
static void walk_between(struct vpt_dump *d, struct vpt_dump_stream *s, uint64_t at, uint64_t end)
{
	d->system->begin(s, NULL);
	walk(d, s, at, end, false);
}

/* A full region or an error takes what does not fit any more (33.2.7.2). */
static bool end_may_cut(const struct vpt_session *end)
{
	return end && (end->end == VPT_END_TOPA_STOP || end->end == VPT_END_ERROR ||
		       end->end == VPT_END_LOST);
}

/*
 * Where to begin so that the first packet to show is not missed: at the last PSB before it that
 * the file lists, of those from @from to @stop. No packet depends on one before a PSB of PT.
 */
static uint64_t skip_to(const struct vpt_dump *d, const struct vpt_reader *reader,
			unsigned int vcpu, uint64_t from, uint64_t stop)
{
	const struct vpt_psb_point *point;

	if (d->system != &vpt_dump_pt || d->offset <= from)
		return from;
	point = vpt_reader_point_before(reader, vcpu, d->offset);
	return point && point->offset > from && point->offset < stop ? point->offset : from;
}

/* A vCPU's stream, session by session. `from` only grows, whatever the file says. */
static int dump_vcpu(struct vpt_dump *d, struct vpt_reader *reader, unsigned int vcpu)
{
	struct vpt_dump_stream s = {0};
	const struct vpt_period *periods;
	uint64_t from = 0;
	size_t count, len, i;

	s.bytes = vpt_reader_stream(reader, vcpu, &len);
	if (!s.bytes)
		return vpt_fail(VPT_EXIT_HOST, "dump: no memory for %zu bytes of trace", len);
	periods = vpt_reader_sessions(reader, vcpu, &count);
	d->vcpu = (int)vcpu;
	for (i = 0; i < count; i++) {
		const struct vpt_session *end = periods[i].end;
		uint64_t start = periods[i].start->offset;
		uint64_t stop = end ? end->offset : len;

		if (stop > len)
			stop = len;
		if (start > from && start <= stop) {
			walk_between(d, &s, from, start);
			from = start;
		}
		vpt_dump_session(d, i, &periods[i]);
		d->system->begin(&s, periods[i].start);
		if (stop > from) {
			from = skip_to(d, reader, vcpu, from, stop);
			walk(d, &s, from, stop, end_may_cut(end));
			from = stop;
		}
		vpt_dump_session_end(d, i, &periods[i]);
	}
	walk_between(d, &s, from, len);
	return VPT_EXIT_OK;
}

static int dump_vpt(struct options *o)
{
	struct vpt_reader *reader;
	unsigned int vcpu, vcpus;
	int status;

	status = vpt_cli_open_or("dump", o->path, VPT_READER_NO_ORACLE | VPT_READER_CODE_IN_PLACE,
				 "; --raw is for bare trace bytes", &reader);
	if (status)
		return status;
	if (vpt_reader_info(reader)->flags & VPT_INFO_RTIT)
		o->dump.system = &vpt_dump_atom;
	vcpus = vpt_reader_info(reader)->vcpus;
	if (o->one_vcpu && o->vcpu >= vcpus) {
		status = vpt_fail(VPT_EXIT_USAGE, "dump: --vcpu=%" PRIu64 ": %s has vCPUs 0 to %u",
				  o->vcpu, o->path, vcpus - 1);
		vcpus = 0;
	}
	for (vcpu = 0; vcpu < vcpus && !status; vcpu++) {
		if (!o->one_vcpu || vcpu == o->vcpu)
			status = dump_vcpu(&o->dump, reader, vcpu);
	}
	if (!status && o->dump.summary)
		vpt_dump_summary(&o->dump);
	if (!status)
		status = vpt_cli_whole("dump", o->path, reader);
	vpt_reader_close(reader);
	return status;
}

static int dump_raw(struct options *o)
{
	struct vpt_input in = {0};
	struct vpt_dump_stream s = {0};
	int err = vpt_input_open(&in, o->path);

	if (err) {
		vpt_input_close(&in);
		return vpt_fail(vpt_cli_input_status(err), "dump: %s: %s", o->path,
				vpt_cli_reason(-err));
	}
	s.bytes = in.bytes;
	o->dump.vcpu = VPT_DUMP_RAW;
	s.cycle_acc = o->cycles;
	walk(&o->dump, &s, 0, in.size, false);
	vpt_input_close(&in);
	if (o->dump.summary)
		vpt_dump_summary(&o->dump);
	return VPT_EXIT_OK;
}

/* Decimal, or hex after 0x. */
static bool number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

static int bad_number(const char *option, const char *text)
{
	return vpt_fail(VPT_EXIT_USAGE, "dump: --%s=%s: not a number", option, text);
}

static int take_trace(struct options *o, const char *kind)
{
	static const char *const kinds[] = {"pt", "rtit", "rtit-cyc", NULL};

	o->trace = true;
	o->cycles = !strcmp(kind, "rtit-cyc");
	o->dump.system = strcmp(kind, "pt") ? &vpt_dump_atom : &vpt_dump_pt;
	if (!strcmp(kind, "pt") || !strcmp(kind, "rtit") || o->cycles)
		return VPT_EXIT_OK;
	return vpt_cli_no_word("dump", "trace", kind, kinds);
}

static int take_option(struct options *o, int option)
{
	switch (option) {
	case 'r':
		o->raw = true;
		return VPT_EXIT_OK;
	case 't':
		return take_trace(o, optarg);
	case 'c':
		o->one_vcpu = true;
		return number(optarg, &o->vcpu) ? VPT_EXIT_OK : bad_number("vcpu", optarg);
	case 'o':
		return number(optarg, &o->dump.offset) ? VPT_EXIT_OK : bad_number("offset", optarg);
	case 'n':
		return number(optarg, &o->dump.limit) ? VPT_EXIT_OK : bad_number("limit", optarg);
	case 's':
		o->dump.summary = true;
		return VPT_EXIT_OK;
	case 'j':
		o->dump.json = true;
		return VPT_EXIT_OK;
	case 'h':
		o->help = true;
		return VPT_EXIT_OK;
	default:
		return VPT_EXIT_USAGE; /* The line was printed. */
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"raw", no_argument, NULL, 'r'},
		{"trace", required_argument, NULL, 't'},
		{"vcpu", required_argument, NULL, 'c'},
		{"offset", required_argument, NULL, 'o'},
		{"limit", required_argument, NULL, 'n'},
		{"summary", no_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static const struct vpt_cli_options options = {"dump", ":rt:c:o:n:sjh", longs, help};
	int option, status = VPT_EXIT_OK;

	optind = 0;
	while (!status && (option = vpt_cli_option(&options, argc, argv)) != -1)
		status = take_option(o, option);
	if (status || o->help)
		return status;
	if (optind + 1 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "dump: %s: see vpt dump --help",
				optind == argc ? "FILE is missing" : "only one FILE");
	if (o->raw && o->one_vcpu)
		return vpt_fail(VPT_EXIT_USAGE, "dump: --vcpu: a --raw file has one stream");
	if (!o->raw && o->trace)
		return vpt_fail(VPT_EXIT_USAGE, "dump: --trace: a .vpt file says what it is of");
	o->path = argv[optind];
	return VPT_EXIT_OK;
}

int vpt_cmd_dump(int argc, char **argv)
{
	struct options o = {.dump = {.out = stdout, .limit = UINT64_MAX, .system = &vpt_dump_pt}};
	int status = parse(&o, argc, argv);

	if (status)
		return status;
	if (o.help) {
		fputs(help, stdout);
		return VPT_EXIT_OK;
	}
	status = vpt_confine_reader("dump");
	if (status)
		return status;
	status = o.raw ? dump_raw(&o) : dump_vpt(&o);
	if (fflush(stdout) || ferror(stdout))
		return vpt_fail(VPT_EXIT_HOST, "dump: cannot write: %s", vpt_cli_reason(errno));
	if (!status && o.dump.bad)
		return vpt_fail(VPT_EXIT_FAIL,
				"dump: %s: %" PRIu64 " bytes are in no packet; places: %" PRIu64,
				o.path, o.dump.lost, o.dump.bad);
	return status;
}
