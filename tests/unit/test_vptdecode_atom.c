// SPDX-License-Identifier: GPL-2.0-or-later
/* RTIT by the public interface of libvptdecode: sessions, counters, and code that changes. */
#include "lib/suite.h"

#include <stdbool.h>
#include <string.h>

#include "libdecode/vptdecode.h"
#include "vpt/atom_msr.h"
#include "vpt/atom_packet.h"

#define CODE   0x401000u
#define RETC   VPT_ATOM_MASK(CTL, CMPRS_RET)
#define CYCLES VPT_ATOM_MASK(CTL, CYCLE_ACC)

enum { RUNS = 1, PIECES = 2, WAYS = 4 };

static struct {
	uint8_t bytes[256];
	size_t len;
} trace;

static void put(const struct vpt_atom_packet *packet)
{
	ck_assert_uint_lt(trace.len + VPT_ATOM_PKT_MAX, sizeof(trace.bytes));
	trace.len += vpt_atom_packet_write(trace.bytes + trace.len, packet);
}

static void put_plain(enum vpt_atom_pkt_kind kind)
{
	put(&(struct vpt_atom_packet){.kind = kind});
}

/* A LIP that needs no other one. */
static void put_lip(enum vpt_atom_pkt_kind kind, unsigned int offset)
{
	put(&(struct vpt_atom_packet){
		.kind = kind, .cnt = VPT_ATOM_CNT_4, .zext = true, .value = CODE + offset});
}

/* The oldest first. */
static void put_tnt(const char *bits)
{
	struct vpt_atom_packet packet = {.kind = VPT_ATOM_PKT_TNT};

	for (; *bits; bits++, packet.bits++)
		packet.value = packet.value << 1 | (*bits == '1');
	put(&packet);
}

static void put_pip(uint64_t cr3)
{
	put(&(struct vpt_atom_packet){.kind = VPT_ATOM_PKT_PIP, .value = cr3, .flag = true});
}

struct seen {
	struct vptd_decoder *d;
	int way;
	uint64_t pushed, insns, last;
	uint64_t spaces; /* asked for */
	uint64_t events[VPTD_EVENT_COUNT];
	uint64_t error;
};

static void on_run(void *context, const struct vptd_run *run)
{
	struct seen *seen = context;
	uint32_t i;

	seen->insns += run->count;
	seen->last = run->ip;
	for (i = 0; i + 1 < run->count; i++)
		seen->last += run->lens[i];
	ck_assert_uint_le(run->offset, seen->pushed);
}

static void on_event(void *context, const struct vptd_event *event)
{
	struct seen *seen = context;

	seen->events[event->kind]++;
	if (event->kind == VPTD_EVENT_ERROR)
		seen->error = event->value;
}

static uint64_t on_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	((struct seen *)context)->spaces++;
	ck_assert_uint_eq(vmcs, UINT64_MAX);
	ck_assert_int_eq(nr, 0);
	return cr3 + 5;
}

static void make(struct seen *seen, int way, uint32_t flags)
{
	const struct vptd_config config = {.size = sizeof(config), .flags = flags | VPTD_ATOM};
	const struct vptd_ops ops = {.size = sizeof(ops),
				     .event = on_event,
				     .space = on_space,
				     .run = way & RUNS ? on_run : NULL};
	enum vptd_status status;

	memset(seen, 0, sizeof(*seen));
	seen->way = way;
	seen->d = vptd_new(&config, &ops, seen, &status);
	ck_assert(seen->d && status == VPTD_OK);
	trace.len = 0;
}

static void code(struct seen *seen, uint64_t space, unsigned int offset, const char *bytes,
		 size_t len)
{
	ck_assert_int_eq(vptd_code(seen->d, space, CODE + offset, (const uint8_t *)bytes, len),
			 VPTD_OK);
}

/* Push the packets that were put. */
static void flush(struct seen *seen)
{
	size_t at, n = seen->way & PIECES ? 1 : trace.len;

	seen->pushed += trace.len;
	for (at = 0; at < trace.len; at += n)
		ck_assert_int_eq(vptd_push(seen->d, trace.bytes + at, n), VPTD_OK);
}

static const struct vptd_atom_regs plain = {
	.events = VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_NEVER << 3, .status = 1, .tnt_buff = 1};

static void begin(struct seen *seen, uint32_t ctl, uint64_t insns)
{
	struct vptd_atom_regs regs = plain;

	regs.ctl = ctl;
	ck_assert_int_eq(vptd_atom_begin(seen->d, &regs, insns), VPTD_OK);
}

static void end(struct seen *seen, uint32_t tnt_buff, uint64_t insns, enum vptd_atom_end why)
{
	struct vptd_atom_regs regs = plain;

	regs.tnt_buff = tnt_buff;
	flush(seen);
	ck_assert_int_eq(vptd_atom_end(seen->d, &regs, insns, why), VPTD_OK);
	trace.len = 0;
}

/* So many instructions ran, the last one here, without errors; and no other decoder is needed. */
static void ran(struct seen *seen, uint64_t insns, unsigned int last)
{
	ck_assert_int_eq(vptd_finish(seen->d), VPTD_OK);
	ck_assert_uint_eq(vptd_insns(seen->d), insns);
	ck_assert_uint_eq(seen->error, 0);
	if (seen->way & RUNS) {
		ck_assert_uint_eq(seen->insns, insns);
		ck_assert_uint_eq(seen->last, CODE + last);
	}
	vptd_free(seen->d);
}

static void start(void)
{
	put_plain(VPT_ATOM_PKT_PSB);
	put_lip(VPT_ATOM_PKT_PGE, 0);
}

/* NOP; JNZ to it; NOP; NOP; WRMSR */
static const char loop[] = "\x90\x75\xfd\x90\x90\x0f\x30";

/* The counter begins anywhere, and is no count of what was decoded. */
START_TEST(session)
{
	struct seen seen;

	make(&seen, _i, 0);
	code(&seen, 0, 0, loop, 7);
	begin(&seen, 0, 1000);
	start();
	put_tnt("110");
	end(&seen, 1, 1009, VPTD_ATOM_CLEARED);
	ck_assert_uint_eq(seen.events[VPTD_EVENT_ENABLED], 1);
	ck_assert_uint_eq(seen.events[VPTD_EVENT_DISABLED], 1);
	begin(&seen, 0, 5000);
	start();
	/* The outcomes are in RTIT_TNT_BUFF alone. */
	end(&seen, 6, 5006, VPTD_ATOM_CLEARED);
	ran(&seen, 9 + 6, 4);
}
END_TEST

/* Instructions behind the last outcome are left out, unless only one can have ended the session. */
START_TEST(no_counter)
{
	bool guest = _i >= WAYS;
	struct seen seen;

	make(&seen, _i % WAYS, guest ? VPTD_ATOM_GUEST : 0);
	/* Another instruction needs a packet, so that there is one WRMSR. */
	code(&seen, 0, 0, loop, 7);
	code(&seen, 0, 7, "\xff\xe0", 2);
	begin(&seen, 0, VPTD_ATOM_UNKNOWN);
	start();
	put_tnt("10");
	end(&seen, 1, VPTD_ATOM_UNKNOWN, VPTD_ATOM_CLEARED);
	ck_assert_uint_eq(seen.events[VPTD_EVENT_OVERFLOW], !guest);
	ck_assert_uint_eq(vptd_insns(seen.d), guest ? 7 : 4);
	begin(&seen, 0, 10);
	start();
	put_tnt("0");
	end(&seen, 1, VPTD_ATOM_UNKNOWN, VPTD_ATOM_CLEARED);
	begin(&seen, 0, VPTD_ATOM_UNKNOWN);
	start();
	put_tnt("0");
	end(&seen, 1, 12345678, VPTD_ATOM_CLEARED);
	ran(&seen, guest ? 7 + 5 + 5 : 4 + 2 + 2, guest ? 5 : 1);
}
END_TEST

/* A register was written: compressed RETs from there on. */
START_TEST(changed)
{
	struct seen seen;

	make(&seen, _i, VPTD_ATOM_GUEST);
	/* NOP; WRMSR; CALL 10H; WRMSR; at 10H: RET */
	code(&seen, 0, 0, "\x90\x0f\x30\xe8\x08\x00\x00\x00\x0f\x30", 10);
	code(&seen, 0, 16, "\xc3", 1);
	begin(&seen, 0, 0);
	start();
	end(&seen, 1, 2, VPTD_ATOM_CHANGED);
	begin(&seen, RETC, 2);
	put_tnt("1");
	end(&seen, 1, 5, VPTD_ATOM_CLEARED);
	ck_assert_uint_eq(seen.events[VPTD_EVENT_ENABLED], 1);
	ran(&seen, 5, 8);
}
END_TEST

START_TEST(trace_stop)
{
	struct vptd_atom_regs regs = plain;
	struct seen seen;

	make(&seen, _i, 0);
	code(&seen, 0, 0, loop, 7);
	regs.events = VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_RANGE1 << 3;
	regs.lip[1] = CODE + 4;
	regs.lip[3] = CODE + 5;
	ck_assert_int_eq(vptd_atom_begin(seen.d, &regs, VPTD_ATOM_UNKNOWN), VPTD_OK);
	start();
	put_tnt("0");
	put_plain(VPT_ATOM_PKT_TRACE_STOP);
	flush(&seen);
	ck_assert_int_eq(vptd_atom_end(seen.d, &regs, VPTD_ATOM_UNKNOWN, VPTD_ATOM_STOPPED),
			 VPTD_OK);
	ck_assert_uint_eq(seen.events[VPTD_EVENT_STOP], 1);
	ran(&seen, 3, 3);
}
END_TEST

/* A space has the key that space() makes of a PIP, and before it that of vptd_begin(). */
START_TEST(spaces)
{
	struct seen seen;

	make(&seen, _i, 0);
	/* MOV CR3, RAX; then JNZ to itself in the other space. */
	code(&seen, 7, 0, "\x90\x0f\x22\xd8\x90", 5);
	code(&seen, 0x2005, 4, "\x75\xfe\x90", 3);
	ck_assert_int_eq(vptd_begin(seen.d, 7, 64), VPTD_OK);
	begin(&seen, 0, 0);
	start();
	put_pip(0x2000);
	put_tnt("110");
	end(&seen, 1, 6, VPTD_ATOM_CLEARED);
	ck_assert_uint_eq(seen.spaces, 1);
	ck_assert_uint_eq(seen.events[VPTD_EVENT_PAGING], 1);
	ran(&seen, 6, 6);
}
END_TEST

/* Code that is given while a session runs is new for the packets that follow. */
START_TEST(changing_code)
{
	struct seen seen;
	unsigned int i;

	make(&seen, _i, 0);
	code(&seen, 0, 0, "\x75\xfe\x90\x90", 4);
	begin(&seen, 0, 0);
	start();
	put_tnt("11");
	flush(&seen);
	trace.len = 0;
	/* NOP; JNZ back */
	for (i = 0; i < 3; i++) {
		code(&seen, 0, 0, i & 1 ? "\x75\xfe\x90" : "\x90\x75\xfd", 3);
		put_tnt("11");
		flush(&seen);
		trace.len = 0;
	}
	end(&seen, 1, 2 + 4 + 2 + 4, VPTD_ATOM_CLEARED);
	ran(&seen, 12, 1);
}
END_TEST

/* Without sessions decoding starts behind a PSB, and behind an error where a packet has a LIP. */
START_TEST(no_sessions)
{
	struct seen seen;

	make(&seen, _i, 0);
	code(&seen, 0, 0, loop, 7);
	put_tnt("111");
	start();
	put_tnt("10");
	/* Tracing is enabled already. */
	put_lip(VPT_ATOM_PKT_PGE, 0);
	put_tnt("10");
	flush(&seen);
	ck_assert_int_eq(vptd_finish(seen.d), VPTD_OK);
	ck_assert_uint_eq(seen.error, VPTD_E_PACKET);
	seen.error = 0;
	ran(&seen, 8, 1);
}
END_TEST

/* Cycle counts follow packets where RTIT_CTL of the session has them. */
START_TEST(cycle_counts)
{
	struct vpt_atom_packet tnt = {.kind = VPT_ATOM_PKT_TNT,
				      .bits = 6,
				      .value = 0x3f,
				      .has_cycles = true,
				      .cycles = 100};
	struct seen seen;

	make(&seen, _i, 0);
	code(&seen, 0, 0, loop, 7);
	begin(&seen, CYCLES, 0);
	put_plain(VPT_ATOM_PKT_PSB);
	put(&(struct vpt_atom_packet){.kind = VPT_ATOM_PKT_PGE,
				      .cnt = VPT_ATOM_CNT_4,
				      .zext = true,
				      .value = CODE,
				      .has_cycles = true,
				      .cycles = 1});
	put(&tnt);
	end(&seen, 1, 12, VPTD_ATOM_CLEARED);
	ran(&seen, 12, 1);
}
END_TEST

START_TEST(edges)
{
	struct vptd_counts *counts = vptd_counts_new();
	struct vptd_edge edge;
	struct seen seen;

	make(&seen, _i, VPTD_EDGES);
	code(&seen, 0, 0, loop, 7);
	begin(&seen, 0, 0);
	start();
	put_tnt("110");
	end(&seen, 1, 6, VPTD_ATOM_ENDED);
	ck_assert_int_eq(vptd_count(seen.d, counts), VPTD_OK);
	ck_assert_uint_eq(vptd_counts_edges(counts), 2);
	ck_assert(vptd_counts_edge(counts, 0, &edge) && edge.from == CODE + 1 && edge.to == CODE &&
		  edge.count == 2);
	ck_assert(vptd_counts_edge(counts, 1, &edge) && edge.from == CODE + 1 &&
		  edge.to == CODE + 3 && edge.count == 1);
	vptd_counts_free(counts);
	ran(&seen, 6, 1);
}
END_TEST

static void is_refused(const struct vptd_config *config)
{
	enum vptd_status status = VPTD_OK;

	ck_assert_ptr_null(vptd_new(config, NULL, NULL, &status));
	ck_assert_int_eq(status, VPTD_E_ARGUMENT);
}

START_TEST(refused)
{
	struct vptd_config config = {.size = sizeof(config),
				     .flags = VPTD_ATOM | VPTD_CTL | VPTD_TIME};
	struct vptd_time time;
	enum vptd_status status;
	struct vptd_decoder *d;
	struct seen seen;

	is_refused(&config);
	config.flags = VPTD_ATOM;
	config.rtit_errata = 0x100;
	is_refused(&config);
	d = vptd_new(NULL, NULL, NULL, &status);
	ck_assert_int_eq(vptd_atom_begin(d, &plain, 0), VPTD_E_ARGUMENT);
	ck_assert_int_eq(vptd_atom_end(d, &plain, 0, VPTD_ATOM_ENDED), VPTD_E_ARGUMENT);
	vptd_free(d);
	make(&seen, 0, 0);
	ck_assert_int_eq(
		vptd_atom_end(seen.d, &plain, 0, (enum vptd_atom_end)(VPTD_ATOM_CHANGED + 1)),
		VPTD_E_ARGUMENT);
	ck_assert_int_eq(vptd_now(seen.d, &time), VPTD_E_ARGUMENT);
	vptd_free(seen.d);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("vptdecode rtit");
	TCase *tc = tcase_create("public");

	tcase_add_loop_test(tc, session, 0, WAYS);
	tcase_add_loop_test(tc, no_counter, 0, 2 * WAYS);
	tcase_add_loop_test(tc, changed, 0, WAYS);
	tcase_add_loop_test(tc, trace_stop, 0, WAYS);
	tcase_add_loop_test(tc, spaces, 0, WAYS);
	tcase_add_loop_test(tc, changing_code, 0, WAYS);
	tcase_add_loop_test(tc, no_sessions, 0, WAYS);
	tcase_add_loop_test(tc, cycle_counts, 0, WAYS);
	tcase_add_loop_test(tc, edges, 0, WAYS);
	tcase_add_test(tc, refused);
	suite_add_tcase(suite, tc);
	return suite;
}
