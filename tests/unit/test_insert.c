// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Insertions into a guest's trace (33.5.2.3): the packets and the registers afterwards. The buffer
 * has room, becomes full, or cannot be written.
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

/* A guest that is not running. Its trace is 256 bytes past a PSB, in a single range of 4 KiB. */
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

/* Append to the text of shown(). */
static void append(const char *name, const char *value)
{
	size_t len = strlen(m.text);

	snprintf(m.text + len, sizeof(m.text) - len, "%s%s%s", len ? " " : "", name, value);
}

static void append_packet(const struct vpt_packet *packet)
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
	append(vpt_pkt_name(packet->kind), value);
}

/* Return the packets since the last call as text. The region begins at REGION. */
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
		append_packet(&packet);
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

/* Insert an operation at 1000 that branches to 3000. */
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

/* Each insertion is one visit of the guest, with its own TIP.PGE and TIP.PGD. */
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
	/* The insertion ends the PSB period. */
	m.guest.status = 3 | 2047ull << VPT_STATUS_PACKET_BYTE_CNT_SHIFT;
	insert(VPT_EV_JMP);
	ck_assert_str_eq(shown(), "CBR(14) MODE.Exec(1) TIP.PGE(1000) PSB CBR(14) PIP(2000,NR) "
				  "VMCS(5000) MODE.TSX(0) MODE.Exec(1) FUP(3000) PSBEND "
				  "FUP(3000) TIP.PGD()");
	TEST_PROVES("VMX-INSERT VMX-EXEC-CONCEAL VMX-PSB-VMCS");
}
END_TEST

/* Configurations that filter the operation out, and STATUS afterwards. */
static const struct {
	uint64_t clear, set, cr3_match, status;
} filters[] = {
	{VPT_CTL_MASK(OS), 0, 0x2000, 1},
	{0, VPT_CTL_MASK(CR3_FILTER), 0x7000, 1},
	{0, 1ull << VPT_CTL_ADDR0_CFG_SHIFT, 0x2000, 2},
};

/* Nothing is written, and only STATUS changes. */
START_TEST(filtered)
{
	struct vpt_rtit before;

	m.guest.ctl = (m.guest.ctl & ~filters[_i].clear) | filters[_i].set;
	m.guest.cr3_match = filters[_i].cr3_match;
	m.guest.addr[0] = 0x8000;
	m.guest.addr[1] = 0x8fff;
	before = m.guest;
	insert(VPT_EV_JMP_INDIRECT);
	before.status = m.guest.status;
	ck_assert_mem_eq(&m.guest, &before, sizeof(before));
	ck_assert_uint_eq(byte_count(), 0x100);
	ck_assert_uint_eq(status(), filters[_i].status);
	TEST_PROVES("VMX-INSERT");
}
END_TEST

/* Row: the emulated operation enters the context, or the filter. */
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

/* A PSB+ that is due is written even if the operation is filtered out. */
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

/* Copy the bytes of an insertion into a buffer with room, and set up again. */
static size_t bytes_of(uint8_t *bytes)
{
	size_t len;

	setup();
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

/*
 * Row: the bytes from the offset to the end of the region. Insert into a region with these flags,
 * and check the bytes in the region. Return true if the insertion filled the region.
 */
static bool fill(unsigned int flags, size_t room)
{
	uint8_t bytes[64];
	size_t len = bytes_of(bytes), first = room < len ? room : len;

	topa(REGION | flags, REGION + REGION_SIZE);
	set_offset(REGION_SIZE - room);
	insert(VPT_EV_JMP_INDIRECT);
	ck_assert_mem_eq(m.ram + REGION + REGION_SIZE - room, bytes, first);
	if (flags & STOP)
		ck_assert_uint_eq(m.ram[REGION + REGION_SIZE], 0);
	else
		ck_assert_mem_eq(m.ram + REGION + REGION_SIZE, bytes + first, len - first);
	ck_assert(flags & STOP ||
		  offset() == (room <= len ? len - room : REGION_SIZE - room + len));
	return room <= len;
}

START_TEST(topa_int)
{
	bool full = fill(INT, (size_t)_i);

	ck_assert_uint_eq(m.pmis, full);
	ck_assert_uint_eq((m.guest.output_mask_ptrs & 0xffffffff) >> VPT_MASK_PTRS_TABLE_SHIFT,
			  full);
	ck_assert_uint_eq(status(), 3);
	/* The same region without INT raises no PMI. */
	(void)fill(0, (size_t)_i);
	ck_assert_uint_eq(m.pmis, 0);
	TEST_PROVES("VMX-INSERT TOPA-INT");
}
END_TEST

START_TEST(topa_stop)
{
	bool full = fill(STOP, (size_t)_i);

	ck_assert_uint_eq(m.guest.status & VPT_STATUS_MASK(STOPPED),
			  full ? VPT_STATUS_MASK(STOPPED) : 0);
	ck_assert_uint_eq(m.guest.ctl, CTL | VPT_CTL_MASK(TOPA));
	ck_assert_uint_eq(m.rises, m.falls);
	ck_assert_uint_eq(begin(0, 0x1000), !full);
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

/* Insert a PIP and no operation. */
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

/* Inserting a PIP keeps FilterEn and TriggerEn. */
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

/* Return true if a CR3 filter with @match passes @cr3. */
static bool passes(uint64_t match, uint64_t cr3, bool pae)
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
				ck_assert_int_eq(passes(hardware, shadow, pae & 2),
						 passes(match, cr3s[b], pae & 1));
			}
		}
	}
	TEST_PROVES("VMX-CR3-MATCH");
}
END_TEST

TEST_SUITE("insert", setup, NULL)
{
	TEST_ADD(tcase, no_branch, again, psb_when_due, filtered_but_due, trace_stop,
		 single_range_wraps, topa_error, pip, pip_fills);
	TEST_ROWS(tcase, branch, branches);
	TEST_ROWS(tcase, filtered, filters);
	tcase_add_loop_test(tcase, enters, 0, 2);
	tcase_add_loop_test(tcase, not_running, 0, 3);
	tcase_add_loop_test(tcase, topa_int, 1, 40);
	tcase_add_loop_test(tcase, topa_stop, 1, 40);
	TEST_ROWS(tcase, pip_conditions, pips);
	tcase_add_loop_test(tcase, pip_keeps_status, 0, 8);
	tcase_add_loop_test(tcase, cr3_match, 0, 7);
}
