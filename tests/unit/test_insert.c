// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Insertions into a guest's trace (33.5.2.3): what is put in, and what the registers say
 * afterwards, when the buffer has room, ends, or may not be written at all.
 */
#include "lib/suite.h"
#include "lib/ram.h"

#include <stdio.h>
#include <string.h>

#include "vpt/insert.h"
#include "vpt/packet.h"

enum {
	RAM = 1 << 17,
	TABLE = 0x1000,
	REGION = 0x10000,
	REGION_SIZE = 0x1000,
	CTL = 0x200d, /* TraceEn, OS, User, BranchEn */
	VMCS = 0x5000,
	END = 1,
	INT = 1 << 2,
	STOP = 1 << 4,
};

static struct {
	struct vpt_pt pt;
	struct vpt_rtit guest;
	struct vpt_context ctx;
	const struct vpt_caps *caps;
	unsigned int pmis, rises, falls, contexts;
	size_t shown;
	char text[512];
	uint8_t ram[RAM];
} m;

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	(void)opaque;
	return test_ram_read(m.ram, RAM, gpa, dst, len);
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	(void)opaque;
	return test_ram_write(m.ram, RAM, gpa, src, len);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	m.contexts++;
	*ctx = m.ctx;
}

static void pmi(void *opaque)
{
	(void)opaque;
	m.pmis++;
}

static void trigger(void *opaque, bool trigger_en)
{
	(void)opaque;
	if (trigger_en)
		m.rises++;
	else
		m.falls++;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
	.pmi = pmi,
	.trigger = trigger,
};

/* A guest whose trace rests, 256 bytes after a PSB, in a single range of 4 KiB. */
static void setup(void)
{
	memset(&m, 0, sizeof(m));
	memset(&m.pt, 0xaa, sizeof(m.pt));
	m.caps = vpt_caps_model("spr");
	m.ctx = (struct vpt_context){.cr3 = 0x2000, .cs_l = true, .lma = true, .cbr = 0x14};
	m.guest.ctl = CTL;
	m.guest.status = 3 | 0x100ull << VPT_STATUS_PACKET_BYTE_CNT_SHIFT;
	m.guest.output_base = REGION;
	m.guest.output_mask_ptrs = REGION_SIZE - 1;
	m.guest.cr3_match = 0x2000;
}

static void set_offset(uint64_t offset)
{
	m.guest.output_mask_ptrs &= 0xffffffff;
	m.guest.output_mask_ptrs |= offset << VPT_MASK_PTRS_OFFSET_SHIFT;
	m.shown = offset;
}

static uint64_t offset(void)
{
	return m.guest.output_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;
}

static uint64_t status(void)
{
	return m.guest.status & 0xff;
}

static uint64_t byte_count(void)
{
	return VPT_STATUS_GET(m.guest.status, PACKET_BYTE_CNT);
}

static void topa(uint64_t entry0, uint64_t entry1)
{
	const uint64_t table[] = {entry0, entry1, TABLE | END};

	memcpy(m.ram + TABLE, table, sizeof(table));
	m.guest.ctl |= VPT_CTL_MASK(TOPA);
	m.guest.output_base = TABLE;
	m.guest.output_mask_ptrs = 0x7f;
}

static void say(const char *name, const char *value)
{
	size_t len = strlen(m.text);

	snprintf(m.text + len, sizeof(m.text) - len, "%s%s%s", len ? " " : "", name, value);
}

static void say_packet(const struct vpt_packet *packet)
{
	static uint64_t last_ip;
	char value[32] = "";

	switch (packet->kind) {
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		if (vpt_ip_expand(last_ip, packet->ip_bytes, packet->value, &last_ip) == VPT_OK)
			snprintf(value, sizeof(value), "(%llx)", (unsigned long long)last_ip);
		else
			strcpy(value, "()");
		break;
	case VPT_PKT_PSB:
		last_ip = 0;
		break;
	case VPT_PKT_PSBEND:
	case VPT_PKT_TRACE_STOP:
		break;
	default:
		snprintf(value, sizeof(value), "(%llx%s)", (unsigned long long)packet->value,
			 packet->flag ? ",NR" : "");
		break;
	}
	say(vpt_pkt_name(packet->kind), value);
}

/* What came since the last time, in the region that begins at REGION. */
static const char *shown(void)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t end = offset();

	m.text[0] = '\0';
	while (m.shown < end) {
		ck_assert_int_eq(
			vpt_packet_read(&parser, m.ram + REGION + m.shown, end - m.shown, &packet),
			VPT_OK);
		say_packet(&packet);
		m.shown += packet.size;
	}
	return m.text;
}

static bool begin(uint32_t controls, uint64_t ip)
{
	return vpt_insert_begin(&m.pt, &m.guest, m.caps, &ops, NULL, controls, VMCS, ip);
}

static void event(enum vpt_event_kind kind, uint64_t from, uint64_t to)
{
	struct vpt_event e = {
		.kind = (uint8_t)kind, .flags = VPT_EVF_TAKEN, .from = from, .to = to};

	vpt_pt_event(&m.pt, &e);
}

/* An operation at 1000 that is a branch to 3000. */
static void insert(enum vpt_event_kind kind)
{
	ck_assert(begin(0, 0x1000));
	event(kind, 0x1000, 0x3000);
	vpt_insert_end(&m.pt, 0x3000, &m.guest);
}

START_TEST(no_branch)
{
	ck_assert(begin(0, 0x1000));
	vpt_insert_end(&m.pt, 0x1003, &m.guest);
	ck_assert_str_eq(shown(), "CBR(14) MODE.Exec(1) TIP.PGE(1000) FUP(1003) TIP.PGD()");
	ck_assert_uint_eq(m.guest.ctl, CTL);
	ck_assert_uint_eq(status(), 3);
	ck_assert_uint_eq(byte_count(), 0x100 + offset());
	ck_assert_uint_eq(m.rises, 1);
	ck_assert_uint_eq(m.falls, 1);
	TEST_PROVES("VMX-INSERT");
}
END_TEST

static const struct {
	enum vpt_event_kind kind;
	const char *packets;
} branches[] = {
	{VPT_EV_COND, "TNT(1) "},
	{VPT_EV_JMP, ""},
	{VPT_EV_JMP_INDIRECT, "TIP(3000) "},
	{VPT_EV_FAR, "TIP(3000) "},
	{VPT_EV_SOFT_INT, "FUP(1000) TIP(3000) "},
	{VPT_EV_ASYNC, "FUP(1000) TIP(3000) "},
	{VPT_EV_CR3, "PIP(2000,NR) "},
};

START_TEST(branch)
{
	char expected[128];

	snprintf(expected, sizeof(expected),
		 "CBR(14) MODE.Exec(1) TIP.PGE(1000) %sFUP(3000) TIP.PGD()", branches[_i].packets);
	insert(branches[_i].kind);
	ck_assert_str_eq(shown(), expected);
	TEST_PROVES("VMX-INSERT");
}
END_TEST

/* Two insertions are two visits of the guest. */
START_TEST(again)
{
	insert(VPT_EV_JMP_INDIRECT);
	shown();
	insert(VPT_EV_JMP_INDIRECT);
	ck_assert_str_eq(shown(),
			 "CBR(14) MODE.Exec(1) TIP.PGE(1000) TIP(3000) FUP(3000) TIP.PGD()");
	TEST_PROVES("VMX-INSERT");
}
END_TEST

START_TEST(psb_when_due)
{
	m.guest.status = 3;
	insert(VPT_EV_JMP);
	ck_assert_str_eq(shown(), "PSB CBR(14) PIP(2000,NR) VMCS(5000) MODE.TSX(0) PSBEND "
				  "MODE.Exec(1) TIP.PGE(1000) FUP(3000) TIP.PGD()");
	m.guest.status = 3;
	ck_assert(begin(VPT_VMX_EXEC_CONCEAL, 0x1000));
	vpt_insert_end(&m.pt, 0x1003, &m.guest);
	ck_assert_str_eq(shown(), "PSB CBR(14) PIP(2000) MODE.TSX(0) PSBEND MODE.Exec(1) "
				  "TIP.PGE(1000) FUP(1003) TIP.PGD()");
	/* And when the period ends with it. */
	m.guest.status = 3 | 2047ull << VPT_STATUS_PACKET_BYTE_CNT_SHIFT;
	insert(VPT_EV_JMP);
	ck_assert_str_eq(shown(), "CBR(14) MODE.Exec(1) TIP.PGE(1000) PSB CBR(14) PIP(2000,NR) "
				  "VMCS(5000) MODE.TSX(0) MODE.Exec(1) FUP(3000) PSBEND "
				  "FUP(3000) TIP.PGD()");
	TEST_PROVES("VMX-INSERT VMX-EXEC-CONCEAL VMX-PSB-VMCS");
}
END_TEST

/* Not in the trace: no byte, and the same registers. */
static void check_nothing(void)
{
	struct vpt_rtit before = m.guest;

	insert(VPT_EV_JMP_INDIRECT);
	before.status = m.guest.status;
	ck_assert_mem_eq(&m.guest, &before, sizeof(before));
	ck_assert_uint_eq(byte_count(), 0x100);
}

START_TEST(filtered_by_cpl)
{
	m.guest.ctl &= ~VPT_CTL_MASK(OS);
	check_nothing();
	ck_assert_uint_eq(status(), 1);
	TEST_PROVES("VMX-INSERT");
}
END_TEST

START_TEST(filtered_by_cr3)
{
	m.guest.ctl |= VPT_CTL_MASK(CR3_FILTER);
	m.guest.cr3_match = 0x7000;
	check_nothing();
	ck_assert_uint_eq(status(), 1);
	TEST_PROVES("VMX-INSERT");
}
END_TEST

START_TEST(filtered_by_ip)
{
	m.guest.ctl |= 1ull << VPT_CTL_ADDR0_CFG_SHIFT;
	m.guest.addr[0] = 0x8000;
	m.guest.addr[1] = 0x8fff;
	check_nothing();
	ck_assert_uint_eq(status(), 2);
	TEST_PROVES("VMX-INSERT");
}
END_TEST

/* Into the filter, and into context, by the emulated operation. */
START_TEST(enters)
{
	if (_i) {
		m.guest.ctl |= 1ull << VPT_CTL_ADDR0_CFG_SHIFT;
		m.guest.addr[0] = 0x3000;
		m.guest.addr[1] = 0x3fff;
	} else {
		m.guest.ctl &= ~VPT_CTL_MASK(OS);
	}
	ck_assert(begin(0, 0x1000));
	m.ctx.cpl = 3;
	event(VPT_EV_FAR, 0x1000, 0x3000);
	vpt_insert_end(&m.pt, 0x3000, &m.guest);
	ck_assert_str_eq(shown(), "MODE.Exec(1) TIP.PGE(3000) FUP(3000) TIP.PGD()");
	TEST_PROVES("VMX-INSERT");
}
END_TEST

/* A PSB+ that is owed is not lost by an operation outside of the trace. */
START_TEST(filtered_but_due)
{
	m.guest.ctl &= ~VPT_CTL_MASK(OS);
	m.guest.status = 1;
	insert(VPT_EV_JMP);
	ck_assert_str_eq(shown(), "PSB CBR(14) PSBEND");
	TEST_PROVES("VMX-INSERT");
}
END_TEST

START_TEST(not_running)
{
	struct vpt_rtit before;

	if (_i == 0)
		m.guest.ctl &= ~VPT_CTL_MASK(TRACE_EN);
	else
		m.guest.status |= _i == 1 ? VPT_STATUS_MASK(STOPPED) : VPT_STATUS_MASK(ERROR);
	before = m.guest;
	ck_assert(!begin(0, 0x1000));
	vpt_insert_pip(&m.pt, &m.guest, m.caps, &ops, NULL, 0, VMCS);
	ck_assert_mem_eq(&m.guest, &before, sizeof(before));
	ck_assert_uint_eq(m.contexts + m.pmis + m.rises + m.falls, 0);
	TEST_PROVES("VMX-INSERT VMX-INSERT-PIP");
}
END_TEST

START_TEST(trace_stop)
{
	m.guest.ctl |= 2ull << VPT_CTL_ADDR0_CFG_SHIFT;
	m.guest.addr[0] = 0x3000;
	m.guest.addr[1] = 0x3fff;
	insert(VPT_EV_JMP_INDIRECT);
	ck_assert_str_eq(shown(), "CBR(14) MODE.Exec(1) TIP.PGE(1000) TIP.PGD(3000) TraceStop");
	ck_assert_uint_eq(status(), 0x22);
	ck_assert_uint_eq(m.guest.ctl & 1, 1);
	ck_assert(!begin(0, 0x3000));
	TEST_PROVES("VMX-INSERT");
}
END_TEST

/* The bytes of an insertion, from a buffer where it had room. */
static size_t bytes_of(uint8_t *bytes)
{
	size_t len;

	insert(VPT_EV_JMP_INDIRECT);
	len = offset();
	memcpy(bytes, m.ram + REGION, len);
	setup();
	return len;
}

START_TEST(single_range_wraps)
{
	uint8_t bytes[64];
	size_t len = bytes_of(bytes);

	set_offset(REGION_SIZE - 5);
	insert(VPT_EV_JMP_INDIRECT);
	ck_assert_mem_eq(m.ram + REGION + REGION_SIZE - 5, bytes, 5);
	ck_assert_mem_eq(m.ram + REGION, bytes + 5, len - 5);
	ck_assert_uint_eq(offset(), len - 5);
	ck_assert_uint_eq(m.ram[REGION + REGION_SIZE], 0);
	TEST_PROVES("VMX-INSERT SR-WRAP");
}
END_TEST

/* As many bytes before the end of an INT region as there are in an insertion. */
START_TEST(topa_int)
{
	uint8_t bytes[64];
	size_t len = bytes_of(bytes), room = (size_t)_i;

	topa(REGION | INT, REGION + REGION_SIZE);
	set_offset(REGION_SIZE - room);
	insert(VPT_EV_JMP_INDIRECT);
	if (room > len)
		room = len;
	ck_assert_mem_eq(m.ram + REGION + REGION_SIZE - (size_t)_i, bytes, room);
	ck_assert_mem_eq(m.ram + REGION + REGION_SIZE, bytes + room, len - room);
	ck_assert_uint_eq(m.pmis, (size_t)_i <= len);
	ck_assert_uint_eq((m.guest.output_mask_ptrs & 0xffffffff) >> VPT_MASK_PTRS_TABLE_SHIFT,
			  (size_t)_i <= len);
	ck_assert_uint_eq(offset(),
			  (size_t)_i <= len ? len - room : REGION_SIZE - (size_t)_i + len);
	ck_assert_uint_eq(status(), 3);
	/* The same region without INT raises none. */
	m.pmis = 0;
	topa(REGION, REGION + REGION_SIZE);
	set_offset(REGION_SIZE - (size_t)_i);
	insert(VPT_EV_JMP_INDIRECT);
	ck_assert_uint_eq(m.pmis, 0);
	TEST_PROVES("VMX-INSERT TOPA-INT");
}
END_TEST

START_TEST(topa_stop)
{
	uint8_t bytes[64];
	size_t len = bytes_of(bytes), room = (size_t)_i;

	topa(REGION | STOP, REGION + REGION_SIZE);
	set_offset(REGION_SIZE - room);
	insert(VPT_EV_JMP_INDIRECT);
	if (room > len)
		room = len;
	ck_assert_mem_eq(m.ram + REGION + REGION_SIZE - (size_t)_i, bytes, room);
	ck_assert_uint_eq(m.ram[REGION + REGION_SIZE], 0);
	ck_assert_uint_eq(m.guest.status & VPT_STATUS_MASK(STOPPED),
			  (size_t)_i <= len ? VPT_STATUS_MASK(STOPPED) : 0);
	ck_assert_uint_eq(m.guest.ctl, CTL | VPT_CTL_MASK(TOPA));
	ck_assert_uint_eq(m.rises, m.falls);
	ck_assert_uint_eq(begin(0, 0x1000), (size_t)_i > len);
	TEST_PROVES("VMX-INSERT TOPA-STOP");
}
END_TEST

START_TEST(topa_error)
{
	topa(REGION | 2, 0);
	insert(VPT_EV_JMP_INDIRECT);
	ck_assert_uint_eq(status() & 0x34, VPT_STATUS_MASK(ERROR));
	ck_assert_uint_eq(m.guest.ctl, CTL | VPT_CTL_MASK(TOPA));
	ck_assert_uint_eq(m.ram[REGION], 0);
	TEST_PROVES("VMX-INSERT");
}
END_TEST

/* PIP alone. */
static void insert_pip(uint32_t controls)
{
	vpt_insert_pip(&m.pt, &m.guest, m.caps, &ops, NULL, controls, VMCS);
}

START_TEST(pip)
{
	m.ctx.cr3 = 0x9000;
	insert_pip(0);
	ck_assert_str_eq(shown(), "PIP(9000,NR)");
	insert_pip(VPT_VMX_EXEC_CONCEAL);
	ck_assert_str_eq(shown(), "PIP(9000)");
	ck_assert_uint_eq(byte_count(), 0x110);
	ck_assert_uint_eq(status(), 3);
	ck_assert_uint_eq(m.guest.ctl, CTL);
	TEST_PROVES("VMX-INSERT-PIP VMX-EXEC-CONCEAL");
}
END_TEST

static const struct {
	uint64_t clear, set, cr3;
	uint8_t cpl;
	uint64_t status;
	const char *packets;
} pips[] = {
	{0, 0, 0x9000, 0, 3, "PIP(9000,NR)"},
	{VPT_CTL_MASK(BRANCH_EN), 0, 0x9000, 0, 3, "PIP(9000,NR)"},
	{VPT_CTL_MASK(OS), 0, 0x9000, 0, 1, ""},
	{VPT_CTL_MASK(OS), 0, 0x9000, 3, 3, ""},
	{0, VPT_CTL_MASK(CR3_FILTER), 0x2000, 0, 3, "PIP(2000,NR)"},
	{0, VPT_CTL_MASK(CR3_FILTER), 0x9000, 0, 1, ""},
};

START_TEST(pip_conditions)
{
	m.guest.ctl = (m.guest.ctl & ~pips[_i].clear) | pips[_i].set;
	m.ctx.cr3 = pips[_i].cr3;
	m.ctx.cpl = pips[_i].cpl;
	insert_pip(0);
	ck_assert_str_eq(shown(), pips[_i].packets);
	ck_assert_uint_eq(status(), pips[_i].status);
	TEST_PROVES("VMX-INSERT-PIP");
}
END_TEST

/* FilterEn and TriggerEn are left alone, whatever they are. */
START_TEST(pip_keeps_status)
{
	m.guest.status &= ~7ull;
	m.guest.status |= (uint64_t)_i;
	insert_pip(0);
	ck_assert_uint_eq(status(), (uint64_t)_i | VPT_STATUS_MASK(CONTEXT_EN));
	TEST_PROVES("VMX-INSERT-PIP");
}
END_TEST

START_TEST(pip_fills)
{
	topa(REGION | INT, REGION + REGION_SIZE);
	set_offset(REGION_SIZE - 8);
	insert_pip(0);
	ck_assert_uint_eq(m.pmis, 1);
	ck_assert_uint_eq(offset(), 0);
	setup();
	topa(REGION | STOP, REGION + REGION_SIZE);
	set_offset(REGION_SIZE - 3);
	m.guest.status |= VPT_STATUS_MASK(TRIGGER_EN);
	insert_pip(0);
	ck_assert_uint_eq(status(), 3 | VPT_STATUS_MASK(STOPPED));
	ck_assert_uint_eq(offset(), REGION_SIZE);
	TEST_PROVES("VMX-INSERT-PIP");
}
END_TEST

/* Would hardware with `match` let `cr3` through? */
static bool lets_through(uint64_t match, uint64_t cr3, bool pae)
{
	struct vpt_rtit rtit = {.cr3_match = match};
	struct vpt_context ctx = {.cr3 = cr3, .pae = pae};

	return vpt_cr3_matches(&rtit, &ctx);
}

START_TEST(cr3_match)
{
	static const uint64_t cr3s[] = {
		0, 0x1000, 0x1020, 0x101f, 0x1800, 0x2000, 0x123456789abcd000, 0xffffffffffffffff};
	const uint64_t shadow = cr3s[_i];
	size_t a, b;

	for (a = 0; a < sizeof(cr3s) / sizeof(cr3s[0]); a++) {
		for (b = 0; b < sizeof(cr3s) / sizeof(cr3s[0]); b++) {
			uint64_t match = cr3s[a] & ~0x1full;
			unsigned int pae;

			for (pae = 0; pae < 4; pae++) {
				uint64_t hardware =
					vpt_insert_cr3_match(match, cr3s[b], shadow, pae & 1);

				ck_assert_uint_eq(hardware & 0x1f, 0);
				ck_assert_int_eq(lets_through(hardware, shadow, pae & 2),
						 lets_through(match, cr3s[b], pae & 1));
			}
		}
	}
	TEST_PROVES("VMX-CR3-MATCH");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("insert");
	TCase *tcase = tcase_create("insert");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, no_branch);
	tcase_add_loop_test(tcase, branch, 0, sizeof(branches) / sizeof(branches[0]));
	tcase_add_test(tcase, again);
	tcase_add_test(tcase, psb_when_due);
	tcase_add_test(tcase, filtered_by_cpl);
	tcase_add_test(tcase, filtered_by_cr3);
	tcase_add_test(tcase, filtered_by_ip);
	tcase_add_loop_test(tcase, enters, 0, 2);
	tcase_add_test(tcase, filtered_but_due);
	tcase_add_loop_test(tcase, not_running, 0, 3);
	tcase_add_test(tcase, trace_stop);
	tcase_add_test(tcase, single_range_wraps);
	tcase_add_loop_test(tcase, topa_int, 1, 40);
	tcase_add_loop_test(tcase, topa_stop, 1, 40);
	tcase_add_test(tcase, topa_error);
	tcase_add_test(tcase, pip);
	tcase_add_loop_test(tcase, pip_conditions, 0, sizeof(pips) / sizeof(pips[0]));
	tcase_add_loop_test(tcase, pip_keeps_status, 0, 8);
	tcase_add_test(tcase, pip_fills);
	tcase_add_loop_test(tcase, cr3_match, 0, 7);
	suite_add_tcase(suite, tcase);
	return suite;
}
