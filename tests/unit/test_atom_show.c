// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt dump and vpt info on traces of Atom's RTIT. */
#include "lib/suite.h"
#include "lib/verb.h"

#include <string.h>

#include "cli/cli.h"
#include "trace/atom_session.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "vpt/atom.h"

#define PSB_BYTES 0xc0, 0, 0, 0, 0, 0, 0, 0, 0

static int dump(const char *options, char *text, size_t size)
{
	return verb_run(cli_cmd_dump, "dump", options, text, size);
}

/* Of the file as it is `vpt dump OPTIONS` says this. */
static void dumps(const char *options, int status, const char *expected)
{
	char text[4096];

	ck_assert_int_eq(dump(options, text, sizeof(text)), status);
	ck_assert_str_eq(text, expected);
}

static int info(const char *options, char *text, size_t size)
{
	return verb_run(cli_cmd_info, "info", options, text, size);
}

static const uint8_t trace[] = {
	0xb0,	   0x40, 0x10,			       /* 00 TIP, 2 bytes: of what? */
	PSB_BYTES,				       /* 03 */
	0x82,	   0x00, 0x00, 0x00, 0x81, 0xff, 0xff, /* 0c FUP.PGE, whole */
	0x1b,					       /* 13 TNT */
	0xb0,	   0x40, 0x10,			       /* 14 TIP, 2 bytes */
	0xb1,	   0x40, 0x10, 0x20, 0x30,	       /* 17 TIP, 4 bytes */
	PSB_BYTES,				       /* 1c nothing is forgotten */
	0xb8,	   0x41, 0x10,			       /* 25 FUP.FAR, 2 bytes */
	0xb4,	   0x00, 0x7c,			       /* 28 TIP, zeros */
	0xc3,	   0x00, 0x20, 0x00, 0x00, 0x00,       /* 2b PIP */
	0xc6,	   0x99,			       /* 31 MTC */
	0xd5,	   0x6a, 0x01, 0x02, 0x03, 0x04, 0x05, /* 33 STS */
	0x94,	   0x10, 0x7c,			       /* 3a FUP.BuffOvf */
	0x9c,	   0x20, 0x7c,			       /* 3d FUP.PCC */
	0x8d,	   0x00, 0x10, 0x40, 0x00,	       /* 40 FUP.PGD */
	0xc1,					       /* 45 TraceStop */
};

START_TEST(text_of_packets)
{
	verb_put_file(trace, sizeof(trace));
	dumps("--raw --trace=rtit", CLI_EXIT_OK,
	      "00000000  TIP         0: 0x1040                       ?\n"
	      "00000003  PSB\n"
	      "0000000c  FUP.PGE     2: 0xffff81000000               ffffffff81000000\n"
	      "00000013  TNT         !.!!\n"
	      "00000014  TIP         0: 0x1040                       ffffffff81001040\n"
	      "00000017  TIP         1: 0x30201040                   ffffffff30201040\n"
	      "0000001c  PSB\n"
	      "00000025  FUP.FAR     0: 0x1041                       ffffffff30201041\n"
	      "00000028  TIP         0z: 0x7c00                      0000000000007c00\n"
	      "0000002b  PIP         0x2000 PG\n"
	      "00000031  MTC         range 2: 0x99\n"
	      "00000033  STS         0x504030201 acbr 21 ecbr 42\n"
	      "0000003a  FUP.BuffOvf 0z: 0x7c10                      0000000000007c10\n"
	      "0000003d  FUP.PCC     0z: 0x7c20                      0000000000007c20\n"
	      "00000040  FUP.PGD     1z: 0x401000                    0000000000401000\n"
	      "00000045  TraceStop\n");
}
END_TEST

START_TEST(json_of_packets)
{
	char text[4096];

	verb_put_file(trace, sizeof(trace));
	ck_assert_int_eq(dump("-r -t rtit -j -o 0x13", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(
		text, "{\"offset\":19,\"packet\":\"TNT\",\"size\":1,\"outcomes\":\"1011\"}\n"
		      "{\"offset\":20,\"packet\":\"TIP\",\"size\":3,\"cnt\":0,"
		      "\"zext\":false,\"payload\":\"0x1040\",\"ip\":\"0xffffffff81001040\"}\n"
		      "{\"offset\":23,\"packet\":\"TIP\",\"size\":5,\"cnt\":1,"
		      "\"zext\":false,\"payload\":\"0x30201040\",\"ip\":\"0xffffffff30201040\"}\n"
		      "{\"offset\":28,\"packet\":\"PSB\",\"size\":9}\n"
		      "{\"offset\":37,\"packet\":\"FUP.FAR\",\"size\":3,\"cnt\":0,"
		      "\"zext\":false,\"payload\":\"0x1041\",\"ip\":\"0xffffffff30201041\"}\n"
		      "{\"offset\":40,\"packet\":\"TIP\",\"size\":3,\"cnt\":0,"
		      "\"zext\":true,\"payload\":\"0x7c00\",\"ip\":\"0x7c00\"}\n"
		      "{\"offset\":43,\"packet\":\"PIP\",\"size\":6,\"cr3\":\"0x2000\","
		      "\"pg\":true}\n"
		      "{\"offset\":49,\"packet\":\"MTC\",\"size\":2,\"range\":2,"
		      "\"tsc\":\"0x99\"}\n"
		      "{\"offset\":51,\"packet\":\"STS\",\"size\":7,"
		      "\"tsc\":\"0x504030201\",\"acbr\":21,\"ecbr\":42}\n"
		      "{\"offset\":58,\"packet\":\"FUP.BuffOvf\",\"size\":3,\"cnt\":0,"
		      "\"zext\":true,\"payload\":\"0x7c10\",\"ip\":\"0x7c10\"}\n"
		      "{\"offset\":61,\"packet\":\"FUP.PCC\",\"size\":3,\"cnt\":0,"
		      "\"zext\":true,\"payload\":\"0x7c20\",\"ip\":\"0x7c20\"}\n"
		      "{\"offset\":64,\"packet\":\"FUP.PGD\",\"size\":5,\"cnt\":1,"
		      "\"zext\":true,\"payload\":\"0x401000\",\"ip\":\"0x401000\"}\n"
		      "{\"offset\":69,\"packet\":\"TraceStop\",\"size\":1}\n");
}
END_TEST

START_TEST(summary_of_packets)
{
	verb_put_file(trace, sizeof(trace));
	dumps("-r -t rtit -s", CLI_EXIT_OK,
	      "kind               packets          bytes  bytes%\n"
	      "TNT                      1              1     1.4\n"
	      "FUP.PGE                  1              7    10.0\n"
	      "FUP.PGD                  1              5     7.1\n"
	      "FUP.BuffOvf              1              3     4.3\n"
	      "FUP.PCC                  1              3     4.3\n"
	      "TIP                      4             14    20.0\n"
	      "FUP.FAR                  1              3     4.3\n"
	      "PSB                      2             18    25.7\n"
	      "TraceStop                1              1     1.4\n"
	      "PIP                      1              6     8.6\n"
	      "MTC                      1              2     2.9\n"
	      "STS                      1              7    10.0\n"
	      "all                     16             70\n");
}
END_TEST

/* The same bytes are other packets where there are cycle counts. */
START_TEST(cycle_counts)
{
	static const uint8_t bytes[] = {
		PSB_BYTES,				 /* 00 */
		0x85,	   0x00, 0x10, 0x40, 0x00, 0x0d, /* 09 FUP.PGE */
		0x7f,	   0x02, 0x01,			 /* 0f TNT, full */
		0x03,					 /* 12 TNT */
		0xc4,	   0x10, 0x03, 0x00, 0x80,	 /* 13 MTC */
	};
	verb_put_file(bytes, sizeof(bytes));
	dumps("-r -t rtit-cyc", CLI_EXIT_OK,
	      "00000000  PSB\n"
	      "00000009  FUP.PGE     1z: 0x401000 cyc 3              0000000000401000\n"
	      "0000000f  TNT         !!!!!! cyc 64\n"
	      "00000012  TNT         !\n"
	      "00000013  MTC         range 0: 0x10 cyc 2097152\n");
	dumps("-r -t rtit-cyc -j -o 0xf", CLI_EXIT_OK,
	      "{\"offset\":15,\"packet\":\"TNT\",\"size\":3,"
	      "\"outcomes\":\"111111\",\"cycles\":64}\n"
	      "{\"offset\":18,\"packet\":\"TNT\",\"size\":1,\"outcomes\":\"1\"}\n"
	      "{\"offset\":19,\"packet\":\"MTC\",\"size\":5,\"range\":0,"
	      "\"tsc\":\"0x10\",\"cycles\":2097152}\n");
	dumps("-r -t rtit -o 9", CLI_EXIT_FAIL,
	      "00000009  FUP.PGE     1z: 0x401000                    0000000000401000\n"
	      "0000000e  TNT         !.!\n"
	      "0000000f  TNT         !!!!!!\n"
	      "00000010  TNT         .\n"
	      "00000011  ** no packet begins like this: 01 03 c4 10 03 00 80 (7 b"
	      "ytes lost)\n");
}
END_TEST

/* After bytes that were no packet the last LIP is not known. */
START_TEST(damage)
{
	static const uint8_t bytes[] = {
		PSB_BYTES, 0xb2, 1,    2, 3, 4, 5, 6,	 /* 00, 09 TIP */
		0xa0,	   0xc0, 0,    0, 0, 0, 0, 0, 0, /* 10 reserved, and no PSB */
		PSB_BYTES,				 /* 19 */
		0xb0,	   0x40, 0x10,			 /* 22 TIP, 2 bytes */
		0xb6,	   0x01,			 /* 25 cut */
	};
	verb_put_file(bytes, sizeof(bytes));
	dumps("-r -t rtit", CLI_EXIT_FAIL,
	      "00000000  PSB\n"
	      "00000009  TIP         2: 0x60504030201                0000060504030201\n"
	      "00000010  ** no packet begins like this: a0 c0 00 00 00 00 00 00 ."
	      ".. (9 bytes lost)\n"
	      "00000019  PSB\n"
	      "00000022  TIP         0: 0x1040                       ?\n"
	      "00000025  ** the last packet is cut: b6 01 (2 bytes lost)\n");
}
END_TEST

START_TEST(all_bytes_are_accounted_for)
{
	static const uint8_t psb[] = {PSB_BYTES};

	verb_accounts(cli_cmd_dump, _i % 2 ? "-r -t rtit -s -j" : "-r -t rtit-cyc -s -j", psb,
		      sizeof(psb), (uint64_t)_i);
}
END_TEST

static void edge(struct trace_writer *w, enum trace_session_edge edge, enum trace_session_end end,
		 const struct vpt_atom_regs *regs, uint64_t insns)
{
	struct trace_session session = {.edge = edge, .end = end, .insns = insns};

	trace_atom_session_set(&session, regs);
	ck_assert_int_eq(trace_writer_session(w, 0, &session), 0);
}

/*
 * Two sessions without a gap: cycle counts are switched on by a write to RTIT_CTL, and the
 * second one begins with a last LIP. It leaves outcomes behind.
 */
static void put_vpt(void)
{
	static const uint8_t first[] = {PSB_BYTES, 0x85, 0x00, 0x10, 0x40, 0x00};
	static const uint8_t second[] = {0xb0, 0x40, 0x20, 0x11, 0x7f, 0x05};
	struct trace_file_info file = {
		.vcpus = 1,
		.model = "silvermont",
		.owner = TRACE_OWNER_HOST,
		.flags = TRACE_INFO_ATOM | TRACE_INFO_SET_ERRATA(VPT_ATOM_E1 | VPT_ATOM_E6),
	};
	struct vpt_atom_regs regs;
	struct trace_writer *w;

	vpt_atom_regs_reset(&regs);
	regs.ctl = 0x2c0d;
	regs.status = 7;
	regs.events = 7 | 6 << 3;
	ck_assert_int_eq(trace_writer_open(verb_file(), &file, &w), 0);
	edge(w, TRACE_SESSION_START, TRACE_END_NONE, &regs, 0);
	ck_assert_int_eq(trace_writer_trace(w, 0, ~0ull, first, sizeof(first)), 0);
	regs.last_lip = 1ull << 32 | 0x40;
	regs.pkt_cnt = 14 | 2 << 16;
	regs.offset = 14;
	edge(w, TRACE_SESSION_END, TRACE_END_CHANGED, &regs, 5);
	regs.ctl |= 2;
	edge(w, TRACE_SESSION_START, TRACE_END_NONE, &regs, 5);
	ck_assert_int_eq(trace_writer_trace(w, 0, ~0ull, second, sizeof(second)), 0);
	regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, TRACE_ACTIVE);
	regs.status = 3;
	regs.tnt_buff = 5;
	regs.pkt_cnt = 20 | 2 << 16;
	regs.offset = 20;
	edge(w, TRACE_SESSION_END, TRACE_END_DISABLED, &regs, 12);
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
}

START_TEST(dump_of_a_file)
{
	put_vpt();
	dumps("", CLI_EXIT_OK,
	      "# vcpu 0, session 0: CTL 0x2c0d, from 0 to e: a register was written\n"
	      "#   CTL 0x2c0d TRACE_EN OS USER STS_EN CMPRS_RET TRACE_ACTIVE MTC_"
	      "RANGE=0\n"
	      "#   STATUS 0x7 FILTER_EN CONTEXT_EN TRIGGER_EN\n"
	      "#   EVENTS 0x37 FILTER=7 STOP=6\n"
	      "00000000  PSB\n"
	      "00000009  FUP.PGE     1z: 0x401000                    0000000000401000\n"
	      "# vcpu 0, session 0, what its end has changed:\n"
	      "#   LAST_LIP 0x100000040 LIP=0x40 VALID\n"
	      "#   OFFSET 0xe\n"
	      "#   PKT_CNT 0x2000e BYTES=14 MASK=2\n"
	      "# vcpu 0, session 1: CTL 0x2c0f, from e to 14: TriggerEn was cleared\n"
	      "#   CTL 0x2c0f TRACE_EN CYCLE_ACC OS USER STS_EN CMPRS_RET TRACE_A"
	      "CTIVE MTC_RANGE=0\n"
	      "#   STATUS 0x7 FILTER_EN CONTEXT_EN TRIGGER_EN\n"
	      "#   EVENTS 0x37 FILTER=7 STOP=6\n"
	      "#   LAST_LIP 0x100000040 LIP=0x40 VALID\n"
	      "#   OFFSET 0xe\n"
	      "#   PKT_CNT 0x2000e BYTES=14 MASK=2\n"
	      "0000000e  TIP         0: 0x2040 cyc 4                 0000000000402040\n"
	      "00000012  TNT         !!!!!! cyc 1\n"
	      "# vcpu 0, session 1, what its end has changed:\n"
	      "#   CTL 0xc0f TRACE_EN CYCLE_ACC OS USER STS_EN CMPRS_RET MTC_RANGE=0\n"
	      "#   STATUS 0x3 FILTER_EN CONTEXT_EN\n"
	      "#   OFFSET 0x14\n"
	      "#   PKT_CNT 0x20014 BYTES=20 MASK=2\n"
	      "#   TNT_BUFF 0x5\n");
}
END_TEST

START_TEST(json_dump_of_a_file)
{
	char text[8192];

	put_vpt();
	ck_assert_int_eq(dump("-j -o 14 -n 1", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_ptr_nonnull(strstr(text, "{\"vcpu\":0,\"offset\":0,\"session\":0,"
					   "\"ctl\":\"0x2c0d\",\"end_offset\":14,"
					   "\"end\":\"a register was written\","
					   "\"registers\":{\"LIP0\":\"0x0\","));
	ck_assert_ptr_nonnull(strstr(text, "\"CTL\":\"0x2c0f\",\"STATUS\":\"0x7\""));
	ck_assert_ptr_nonnull(strstr(text, "\"end_registers\":{\"LIP0\":\"0x0\","));
	ck_assert_ptr_nonnull(strstr(text, "\"PKT_CNT\":\"0x20014\",\"TNT_BUFF\":\"0x5\"}}\n"));
	ck_assert_ptr_nonnull(strstr(text, "{\"vcpu\":0,\"offset\":14,\"packet\":\"TIP\","
					   "\"size\":4,\"cnt\":0,\"zext\":false,"
					   "\"payload\":\"0x2040\",\"cycles\":4,"
					   "\"ip\":\"0x402040\"}\n"));
}
END_TEST

START_TEST(info_of_a_file)
{
	char text[4096];

	put_vpt();
	ck_assert_int_eq(info("", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(
		text,
		"model          silvermont\n"
		"owner          host\n"
		"engine         \n"
		"vCPUs          1\n"
		"seed           0\n"
		"trace          RTIT, errata: E1 E6\n"
		"oracle         no\n"
		"file           992 bytes, blocks: 9, whole\n"
		"format         version 3\n"
		"PSBs           1\n"
		"vCPU 0         trace: 20 bytes, sessions: 2, pages of code: 0\n"
		"  session 0    bytes 0x0..0xe, end: a register was written, instructions: 5\n"
		"    CTL 0x2c0d TRACE_EN OS USER STS_EN CMPRS_RET TRACE_ACTIVE MTC_"
		"RANGE=0\n"
		"    STATUS 0x7 FILTER_EN CONTEXT_EN TRIGGER_EN\n"
		"    EVENTS 0x37 FILTER=7 STOP=6\n"
		"    traces branches sts retc\n"
		"    at the end LAST_LIP 0x100000040 LIP=0x40 VALID\n"
		"    at the end OFFSET 0xe\n"
		"    at the end PKT_CNT 0x2000e BYTES=14 MASK=2\n"
		"  session 1    bytes 0xe..0x14, end: TriggerEn was cleared, instructions: 7\n"
		"    CTL 0x2c0f TRACE_EN CYCLE_ACC OS USER STS_EN CMPRS_RET TRACE_A"
		"CTIVE MTC_RANGE=0\n"
		"    STATUS 0x7 FILTER_EN CONTEXT_EN TRIGGER_EN\n"
		"    EVENTS 0x37 FILTER=7 STOP=6\n"
		"    LAST_LIP 0x100000040 LIP=0x40 VALID\n"
		"    OFFSET 0xe\n"
		"    PKT_CNT 0x2000e BYTES=14 MASK=2\n"
		"    traces branches sts cyc retc\n"
		"    at the end CTL 0xc0f TRACE_EN CYCLE_ACC OS USER STS_EN CMPRS_R"
		"ET MTC_RANGE=0\n"
		"    at the end STATUS 0x3 FILTER_EN CONTEXT_EN\n"
		"    at the end OFFSET 0x14\n"
		"    at the end PKT_CNT 0x20014 BYTES=20 MASK=2\n"
		"    at the end TNT_BUFF 0x5\n");
}
END_TEST

START_TEST(json_info_of_a_file)
{
	char text[8192];

	put_vpt();
	ck_assert_int_eq(info("--json", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_ptr_nonnull(strstr(text, "\"trace\":\"rtit\",\"errata\":[\"E1\",\"E6\"],"));
	ck_assert_ptr_nonnull(
		strstr(text, "{\"offset\":0,\"end_offset\":14,\"end\":\"a register was written\","
			     "\"insns\":5,\"ctl\":\"0x2c0d\",\"status\":\"0x7\","
			     "\"traces\":[\"branches\",\"sts\",\"retc\"],"
			     "\"registers\":{\"LIP0\":\"0x0\","));
	ck_assert_ptr_nonnull(strstr(text, "\"end\":\"TriggerEn was cleared\",\"insns\":7,"));
	ck_assert_ptr_nonnull(strstr(text, "\"TNT_BUFF\":\"0x5\"}}],\"vmcs\":[],"));
	ck_assert_ptr_null(strstr(text, "output_base"));
}
END_TEST

START_TEST(command_lines_refused)
{
	static const char *const options[] = {"-r -t lbr", "-r --trace=", "-t rtit",
					      "-t pt",	   "-r -t rtit-", "-r -t"};

	put_vpt();
	dumps(options[_i], CLI_EXIT_USAGE, "");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("atom_show");
	TCase *tc = tcase_create("raw");

	tcase_add_checked_fixture(tc, verb_setup, verb_teardown);
	tcase_add_test(tc, text_of_packets);
	tcase_add_test(tc, json_of_packets);
	tcase_add_test(tc, summary_of_packets);
	tcase_add_test(tc, cycle_counts);
	tcase_add_test(tc, damage);
	tcase_add_loop_test(tc, all_bytes_are_accounted_for, 0, 8);
	suite_add_tcase(suite, tc);

	tc = tcase_create("vpt");
	tcase_add_checked_fixture(tc, verb_setup, verb_teardown);
	tcase_add_test(tc, dump_of_a_file);
	tcase_add_test(tc, json_dump_of_a_file);
	tcase_add_test(tc, info_of_a_file);
	tcase_add_test(tc, json_info_of_a_file);
	tcase_add_loop_test(tc, command_lines_refused, 0, 6);
	suite_add_tcase(suite, tc);
	return suite;
}
