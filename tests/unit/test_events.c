// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Transactions, SMM, enclaves, INIT and user interrupts as libipt reads them; and what holds of
 * event trace whatever happens, over random events. Rows of the manual's tables are in
 * tests/unit/tables.
 */
#include "lib/suite.h"
#include "lib/ram.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/packet.h"
#include "vpt/system.h"

enum {
	RAM_SIZE = 1 << 20,
	BASE = 0x1000,	   /* of the code that runs */
	CODE_SIZE = 0x400, /* and its length */
	INSNS_MAX = 32,
};

/* A processor, and memory that is its trace. */
struct cpu {
	struct vpt_pt pt;
	struct vpt_context ctx;
	struct vpt_caps caps;
	uint8_t ram[RAM_SIZE];
	uint8_t code[CODE_SIZE];
};

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	const struct cpu *c = opaque;

	return test_ram_read(c->ram, RAM_SIZE, gpa, dst, len);
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct cpu *c = opaque;

	return test_ram_write(c->ram, RAM_SIZE, gpa, src, len);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((const struct cpu *)opaque)->ctx;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
};

static void wrmsr(struct cpu *c, uint32_t msr, uint64_t value, uint64_t ip)
{
	ck_assert_int_eq(vpt_pt_wrmsr(&c->pt, msr, value, VPT_ACCESS_GUEST, ip, ip + 2),
			 VPT_FAULT_NONE);
}

static struct cpu *new_cpu(const char *model)
{
	struct cpu *c = calloc(1, sizeof(*c));

	ck_assert_ptr_nonnull(c);
	c->caps = *vpt_caps_model(model);
	c->ctx.cr3 = BASE;
	c->ctx.cbr = c->caps.max_nonturbo;
	c->ctx.cs_l = c->ctx.lma = true;
	memset(c->code, 0x90, sizeof(c->code)); /* NOP */
	vpt_pt_init(&c->pt, &c->caps, &ops, c);
	wrmsr(c, VPT_MSR_OUTPUT_BASE, 0, 0);
	wrmsr(c, VPT_MSR_OUTPUT_MASK_PTRS, RAM_SIZE - 1, 0);
	return c;
}

static size_t produced(struct cpu *c)
{
	uint64_t ptrs = 0;

	ck_assert_int_eq(vpt_pt_rdmsr(&c->pt, VPT_MSR_OUTPUT_MASK_PTRS, &ptrs), VPT_FAULT_NONE);
	return ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;
}

/* Code of a scenario: bytes at an address. */
static void put(struct cpu *c, uint64_t ip, const void *bytes, size_t len)
{
	ck_assert(ip >= BASE && ip - BASE + len <= CODE_SIZE);
	memcpy(c->code + (ip - BASE), bytes, len);
}

static void send(struct cpu *c, enum vpt_event_kind kind, unsigned int flags, uint64_t from,
		 uint64_t to)
{
	const struct vpt_event event = {
		.kind = (uint8_t)kind, .flags = (uint8_t)flags, .from = from, .to = to};

	if (kind >= VPT_EV_TSX_BEGIN && kind <= VPT_EV_TSX_ABORT)
		c->ctx.in_tx = kind == VPT_EV_TSX_BEGIN;
	vpt_pt_event(&c->pt, &event);
}

/* Instructions that libipt says ran. */
struct ran {
	uint64_t ip;
	bool speculative;
};

static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *opaque)
{
	const struct cpu *c = opaque;

	(void)asid;
	if (ip < BASE || ip >= BASE + CODE_SIZE)
		return -pte_nomap;
	if (size > BASE + CODE_SIZE - ip)
		size = (size_t)(BASE + CODE_SIZE - ip);
	memcpy(buffer, c->code + (ip - BASE), size);
	return (int)size;
}

static int drain(struct pt_insn_decoder *decoder, int status)
{
	while (status >= 0 && status & pts_event_pending) {
		struct pt_event event;

		status = pt_insn_event(decoder, &event, sizeof(event));
	}
	return status;
}

static size_t decode(struct cpu *c, struct ran *ran)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	int status;
	size_t n = 0;

	pt_config_init(&config);
	config.begin = c->ram;
	config.end = c->ram + produced(c);
	decoder = pt_insn_alloc_decoder(&config);
	ck_assert_ptr_nonnull(decoder);
	ck_assert_int_eq(pt_image_set_callback(pt_insn_get_image(decoder), read_code, c), 0);
	status = pt_insn_sync_forward(decoder);
	for (;;) {
		struct pt_insn insn;

		status = drain(decoder, status);
		if (status == -pte_eos)
			break;
		ck_assert_int_ge(status, 0);
		memset(&insn, 0, sizeof(insn));
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (insn.iclass == ptic_error) {
			ck_assert_int_eq(status, -pte_eos);
			break;
		}
		ck_assert_uint_lt(n, INSNS_MAX);
		ran[n++] = (struct ran){insn.ip, insn.speculative};
	}
	pt_insn_free_decoder(decoder);
	return n;
}

static void same_run(struct cpu *c, const struct ran *want, size_t count)
{
	struct ran got[INSNS_MAX] = {{0}};
	size_t n = decode(c, got), i;

	for (i = 0; i < n && i < count; i++) {
		ck_assert_uint_eq(got[i].ip, want[i].ip);
		ck_assert_int_eq(got[i].speculative, want[i].speculative);
	}
	ck_assert_uint_eq(n, count);
}

#define RAN(c, ...)                                                   \
	do {                                                          \
		const struct ran want_[] = {__VA_ARGS__};             \
		same_run(c, want_, sizeof(want_) / sizeof(want_[0])); \
	} while (0)

#define TRACE (VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(BRANCH_EN))

static const uint8_t WRMSR[] = {0x0f, 0x30};
static const uint8_t XBEGIN_1040[] = {0xc7, 0xf8, 0x38, 0, 0, 0}; /* at 1002 */
static const uint8_t XEND[] = {0x0f, 0x01, 0xd5};
static const uint8_t XABORT[] = {0xc6, 0xf8, 0x01};
static const uint8_t JE[] = {0x74, 0};
static const uint8_t ENCLU[] = {0x0f, 0x01, 0xd7};

/* WRMSR at 1000 sets TraceEn. */
static void begin(struct cpu *c, uint64_t ctl)
{
	put(c, 0x1000, WRMSR, sizeof(WRMSR));
	wrmsr(c, VPT_MSR_CTL, TRACE | ctl, 0x1000);
}

static void end(struct cpu *c, uint64_t ip)
{
	put(c, ip, WRMSR, sizeof(WRMSR));
	wrmsr(c, VPT_MSR_CTL, 0, ip);
}

START_TEST(tsx_commit)
{
	struct cpu *c = new_cpu("skl");

	begin(c, VPT_CTL_MASK(OS));
	put(c, 0x1002, XBEGIN_1040, sizeof(XBEGIN_1040));
	put(c, 0x1008, JE, sizeof(JE));
	put(c, 0x100a, XEND, sizeof(XEND));
	send(c, VPT_EV_TSX_BEGIN, 0, 0x1002, 0x1008);
	send(c, VPT_EV_COND, VPT_EVF_TAKEN, 0x1008, 0x100a);
	send(c, VPT_EV_TSX_COMMIT, 0, 0x100a, 0x100d);
	end(c, 0x100e);
	RAN(c, {0x1002, true}, {0x1008, true}, {0x100a, false}, {0x100d, false});
	free(c);
	TEST_PROVES("TSX-BEGIN TSX-COMMIT");
}
END_TEST

START_TEST(tsx_abort)
{
	struct cpu *c = new_cpu("skl");

	begin(c, VPT_CTL_MASK(OS));
	put(c, 0x1002, XBEGIN_1040, sizeof(XBEGIN_1040));
	put(c, 0x1009, XABORT, sizeof(XABORT));
	send(c, VPT_EV_TSX_BEGIN, 0, 0x1002, 0x1008);
	send(c, VPT_EV_TSX_ABORT, 0, 0x1009, 0x1040);
	end(c, 0x1041);
	RAN(c, {0x1002, true}, {0x1008, true}, {0x1040, false});
	free(c);
	TEST_PROVES("TSX-ABORT");
}
END_TEST

/* The range is 1000 to 10ff. */
START_TEST(tsx_filter)
{
	static const uint8_t jump_out[] = {0xe9, 0xf3, 0x01, 0, 0}; /* at 1008, to 1200 */
	struct cpu *c = new_cpu("skl");

	wrmsr(c, VPT_MSR_ADDR0_A, 0x1000, 0);
	wrmsr(c, VPT_MSR_ADDR0_B, 0x10ff, 0);
	begin(c, VPT_CTL_MASK(OS) | 1ull << VPT_CTL_ADDR0_CFG_SHIFT);
	put(c, 0x1002, XBEGIN_1040, sizeof(XBEGIN_1040));
	put(c, 0x1008, jump_out, sizeof(jump_out));
	send(c, VPT_EV_TSX_BEGIN, 0, 0x1002, 0x1008);
	send(c, VPT_EV_JMP, 0, 0x1008, 0x1200);
	send(c, VPT_EV_TSX_ABORT, 0, 0x1208, 0x1040);
	end(c, 0x1041);
	RAN(c, {0x1002, true}, {0x1008, true}, {0x1040, false});
	free(c);
	TEST_PROVES("TSX-FILTER TSX-ABORT-EDGE");
}
END_TEST

START_TEST(smm)
{
	struct cpu *c = new_cpu("skl");

	begin(c, VPT_CTL_MASK(OS));
	vpt_pt_smi(&c->pt, 0x1003);
	ck_assert(vpt_pt_in_smm(&c->pt));
	send(c, VPT_EV_FAR, 0, 0x8000, 0x9000); /* nobody sees it */
	ck_assert(vpt_pt_rsm(&c->pt, 0x1003, false));
	ck_assert(!vpt_pt_in_smm(&c->pt));
	end(c, 0x1005);
	RAN(c, {0x1002, false}, {0x1003, false}, {0x1004, false});
	free(c);
	TEST_PROVES("SMM-SMI SMM-RSM");
}
END_TEST

START_TEST(production_enclave)
{
	struct cpu *c = new_cpu("skl");

	c->ctx.cpl = 3;
	begin(c, VPT_CTL_MASK(USER));
	put(c, 0x1003, ENCLU, sizeof(ENCLU));
	c->ctx.production_enclave = true;
	send(c, VPT_EV_ENCLAVE, 0, 0x1003, 0x1300);
	send(c, VPT_EV_JMP_INDIRECT, 0, 0x1304, 0x1320);
	c->ctx.production_enclave = false;
	send(c, VPT_EV_ENCLAVE, 0, 0x1324, 0x1006);
	end(c, 0x1007);
	RAN(c, {0x1002, false}, {0x1006, false});
	free(c);
	TEST_PROVES("SGX-PRODUCTION");
}
END_TEST

START_TEST(debug_enclave)
{
	struct cpu *c = new_cpu("skl");

	c->ctx.cpl = 3;
	begin(c, VPT_CTL_MASK(USER));
	put(c, 0x1003, ENCLU, sizeof(ENCLU));
	put(c, 0x1301, ENCLU, sizeof(ENCLU));
	send(c, VPT_EV_ENCLAVE, 0, 0x1003, 0x1300);
	send(c, VPT_EV_ENCLAVE, 0, 0x1301, 0x1006);
	end(c, 0x1007);
	RAN(c, {0x1002, false}, {0x1300, false}, {0x1006, false});
	free(c);
	TEST_PROVES("SGX-TRANSFER");
}
END_TEST

START_TEST(init_and_user_interrupt)
{
	struct cpu *c = new_cpu("skl");

	begin(c, VPT_CTL_MASK(OS));
	send(c, VPT_EV_UINTR, 0, 0x1003, 0x1100);
	c->ctx.cs_l = false;
	send(c, VPT_EV_INIT, 0, 0x1102, 0x1200);
	end(c, 0x1201);
	RAN(c, {0x1002, false}, {0x1100, false}, {0x1101, false}, {0x1200, false});
	free(c);
	TEST_PROVES("SYS-INIT UINTR-DELIVER");
}
END_TEST

/* The decoder is told nothing of an ACM but the time after it. */
START_TEST(acm)
{
	struct cpu *c = new_cpu("skl");

	begin(c, VPT_CTL_MASK(OS) | VPT_CTL_MASK(TSC_EN));
	put(c, 0x1003, JE, sizeof(JE));
	put(c, 0x1005, JE, sizeof(JE));
	send(c, VPT_EV_COND, VPT_EVF_TAKEN, 0x1003, 0x1005);
	vpt_pt_acm_begin(&c->pt);
	ck_assert(!(c->pt.rtit.ctl & VPT_CTL_MASK(TRACE_EN)));
	send(c, VPT_EV_JMP_INDIRECT, 0, 0x8000, 0x9000);
	vpt_pt_acm_end(&c->pt, 0x1005);
	ck_assert(c->pt.rtit.ctl & VPT_CTL_MASK(TRACE_EN));
	send(c, VPT_EV_COND, 0, 0x1005, 0x1007);
	end(c, 0x1008);
	RAN(c, {0x1002, false}, {0x1003, false}, {0x1005, false}, {0x1007, false});
	free(c);
	TEST_PROVES("SYS-ACM");
}
END_TEST

/* Random events: what a reader of event trace relies on. */
struct reader {
	struct vpt_parser parser;
	size_t at;
	int intr_flag; /* as it was told last, -1: not yet */
	bool in_psb;
	bool packet_en; /* between TIP.PGE and TIP.PGD */
	bool evd;	/* a CFE must follow */
	bool own_fup;	/* a FUP that belongs to CFE or MODE.Exec must follow */
	bool shared;	/* a CFE waits for the FUP of branch trace */
	bool mode;	/* a MODE.Exec waits for its IP packet */
	unsigned int cfes, lone, ifs;
};

static bool is_ip(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_TIP || kind == VPT_PKT_TIP_PGE || kind == VPT_PKT_FUP;
}

/* These may stand anywhere. */
static bool is_timing(enum vpt_pkt_kind kind)
{
	return kind == VPT_PKT_CYC || kind == VPT_PKT_MTC || kind == VPT_PKT_TSC ||
	       kind == VPT_PKT_TMA || kind == VPT_PKT_CBR;
}

static void take(struct reader *r, const struct vpt_packet *p)
{
	if (is_timing(p->kind))
		return;
	/* An EVD is followed by the CFE it is about, an IP bit by the FUP. */
	ck_assert(!r->evd || p->kind == VPT_PKT_EVD || p->kind == VPT_PKT_CFE);
	ck_assert(!r->own_fup || p->kind == VPT_PKT_FUP);
	ck_assert(!r->mode || is_ip(p->kind) || r->in_psb);
	switch (p->kind) {
	case VPT_PKT_EVD:
		r->evd = true;
		break;
	case VPT_PKT_CFE:
		r->cfes++;
		r->lone += p->flag;
		r->evd = false;
		r->own_fup = p->flag;
		r->shared = !p->flag && r->packet_en;
		break;
	case VPT_PKT_MODE_EXEC:
		r->ifs++;
		r->intr_flag = p->value >> 2 & 1;
		r->mode = !r->in_psb;
		break;
	case VPT_PKT_FUP:
		r->own_fup = r->shared = r->mode = false;
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
		/* A CFE without IP inside has met the FUP before the TIP. */
		ck_assert(!r->shared);
		r->packet_en = p->kind != VPT_PKT_TIP_PGD;
		r->mode = false;
		break;
	case VPT_PKT_PSB:
	case VPT_PKT_PSBEND:
		r->in_psb = p->kind == VPT_PKT_PSB;
		break;
	default:
		break;
	}
}

static void read_on(struct cpu *c, struct reader *r)
{
	size_t end_at = produced(c);
	struct vpt_packet p;

	while (r->at < end_at) {
		ck_assert_int_eq(vpt_packet_read(&r->parser, c->ram + r->at, end_at - r->at, &p),
				 VPT_OK);
		take(r, &p);
		r->at += p.size;
	}
	/* All that an event sends is there when it is over. */
	ck_assert(!r->evd && !r->own_fup && !r->shared && !r->mode && !r->in_psb);
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t draw_ctl(uint64_t *state)
{
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN), n = draw(state);

	ctl |= n & 1 ? VPT_CTL_MASK(BRANCH_EN) : 0;
	ctl |= n & 6 ? VPT_CTL_MASK(EVENT_EN) : 0;
	ctl |= n & 0x18 ? VPT_CTL_MASK(OS) : 0;
	ctl |= n & 0x60 ? VPT_CTL_MASK(USER) : 0;
	ctl |= n & 0x300 ? 0 : VPT_CTL_MASK(CYC_EN) | VPT_CTL_MASK(MTC_EN);
	return ctl | (n & 0x80 ? 1ull << VPT_CTL_ADDR0_CFG_SHIFT : 0);
}

/* One event, the context of what follows included. */
static uint64_t random_event(struct cpu *c, uint64_t *state, uint64_t ip)
{
	static const struct {
		enum vpt_event_kind kind;
		unsigned int flags;
		bool far;
	} kinds[] = {
		{VPT_EV_COND, VPT_EVF_TAKEN, false},
		{VPT_EV_JMP, 0, false},
		{VPT_EV_JMP_INDIRECT, 0, false},
		{VPT_EV_FAR, 0, true},
		{VPT_EV_FAR, VPT_EVF_IRET, true},
		{VPT_EV_SOFT_INT, 0, true},
		{VPT_EV_ASYNC, 0, true},
		{VPT_EV_ASYNC, VPT_EVF_PAGE_FAULT, true},
		{VPT_EV_UINTR, 0, true},
		{VPT_EV_UIRET, 0, true},
		{VPT_EV_ENCLAVE, 0, true},
		{VPT_EV_AEX, 0, true},
		{VPT_EV_INIT, 0, true},
		{VPT_EV_TSX_ABORT, 0, false},
		{VPT_EV_SHUTDOWN, 0, false},
		{VPT_EV_INTR_FLAG, 0, false},
	};
	size_t i = draw(state) % (sizeof(kinds) / sizeof(kinds[0]));
	uint64_t to = kinds[i].kind == VPT_EV_INTR_FLAG	 ? ip + 1
		      : kinds[i].kind == VPT_EV_SHUTDOWN ? ip
							 : 0x1000 + draw(state) % 0x2000;

	c->ctx.tsc += draw(state) % 64;
	if (kinds[i].far) {
		c->ctx.cpl = draw(state) & 1 ? 3 : 0;
		c->ctx.intr_flag = draw(state) & 1;
		c->ctx.production_enclave = kinds[i].kind == VPT_EV_ENCLAVE && draw(state) & 1;
	} else if (kinds[i].kind == VPT_EV_INTR_FLAG) {
		c->ctx.intr_flag = !c->ctx.intr_flag;
	}
	send(c, kinds[i].kind, kinds[i].flags, ip, to);
	return to;
}

/* SMI and RSM to another context, at times. */
static void random_smm(struct cpu *c, uint64_t *state, uint64_t ip)
{
	if (draw(state) % 32)
		return;
	vpt_pt_smi(&c->pt, ip);
	c->ctx.intr_flag = draw(state) & 1;
	ck_assert(vpt_pt_rsm(&c->pt, ip, false));
}

START_TEST(random_events)
{
	uint64_t state = 0x9e3779b97f4a7c15ull * (uint64_t)(_i + 1), ip = 0x1002;
	struct cpu *c = new_cpu("spr");
	struct reader r = {.intr_flag = -1};
	uint64_t ctl = draw_ctl(&state);
	unsigned int i;

	wrmsr(c, VPT_MSR_ADDR0_A, 0x1000, 0);
	wrmsr(c, VPT_MSR_ADDR0_B, 0x1fff, 0);
	wrmsr(c, VPT_MSR_CTL, ctl, 0x1000);
	for (i = 0; i < 3000; i++) {
		vpt_pt_flush(&c->pt);
		read_on(c, &r);
		/* In context and in the range the reader knows IF. */
		if (ctl & VPT_CTL_MASK(EVENT_EN) && c->pt.context_en && c->pt.filter_en)
			ck_assert_int_eq(r.intr_flag, c->ctx.intr_flag);
		ck_assert_int_eq(r.packet_en, c->pt.packet_en);
		ip = random_event(c, &state, ip);
		random_smm(c, &state, ip);
	}
	if (!(ctl & VPT_CTL_MASK(EVENT_EN)))
		ck_assert_uint_eq(r.cfes, 0);
	else if (ctl & (VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER)))
		ck_assert(r.cfes > 100 && r.lone > 10 && r.ifs > 100);
	free(c);
	TEST_PROVES("EVT-ENABLE EVT-IP EVT-SHARED-FUP EVT-IF EVT-IF-FAR EVT-IF-RESUME");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("events");
	TCase *libipt = tcase_create("libipt"), *random = tcase_create("random");

	tcase_add_test(libipt, tsx_commit);
	tcase_add_test(libipt, tsx_abort);
	tcase_add_test(libipt, tsx_filter);
	tcase_add_test(libipt, smm);
	tcase_add_test(libipt, production_enclave);
	tcase_add_test(libipt, debug_enclave);
	tcase_add_test(libipt, init_and_user_interrupt);
	tcase_add_test(libipt, acm);
	suite_add_tcase(suite, libipt);
	tcase_add_loop_test(random, random_events, 0, 64);
	suite_add_tcase(suite, random);
	return suite;
}
