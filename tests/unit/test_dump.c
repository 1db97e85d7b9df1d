// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt dump: what it prints and how it exits. */
#include "lib/packets.h"
#include "lib/suite.h"
#include "lib/verb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "vpt/output.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define PSB_BYTES                                                                                 \
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, \
		0x82

/* Run `vpt dump OPTIONS in`; what it prints goes to `text`. */
static int dump(const char *options, char *text, size_t size)
{
	return verb_run(cli_cmd_dump, "dump", options, text, size);
}

static const uint8_t trace[] = {
	PSB_BYTES,						/* 00 */
	0x99,	   0x01,					/* 10 MODE.Exec */
	0x02,	   0x23,					/* 12 PSBEND */
	0x71,	   0,	 0,    0,    0x81, 0xff, 0xff,		/* 14 TIP.PGE, sign-extended */
	0x36,							/* 1b TNT */
	0x2d,	   0x40, 0x10,					/* 1c TIP, 16 bits */
	0x0d,							/* 1f TIP, no IP */
	0x02,	   0xb2, 0x2a, 0,    0,	   0,	 0,    0, 0, 0, /* 20 PTW */
	0x5d,	   0x10, 0x20, 0x30, 0x81,			/* 2a FUP, 32 bits */
	0x02,	   0xa3, 0x05, 0,    0,	   0,	 0,    0,	/* 2f long TNT */
};

START_TEST(text_of_packets)
{
	char text[4096];

	verb_put_file(trace, sizeof(trace));
	ck_assert_int_eq(dump("--raw", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "00000000  PSB\n"
			       "00000010  MODE.Exec 64-bit\n"
			       "00000012  PSBEND\n"
			       "00000014  TIP.PGE   3: 0xffff81000000       ffffffff81000000\n"
			       "0000001b  TNT       !.!!\n"
			       "0000001c  TIP       1: 0x1040               ffffffff81001040\n"
			       "0000001f  TIP       0:\n"
			       "00000020  PTW       8: 0x2a IP\n"
			       "0000002a  FUP       2: 0x81302010           ffffffff81302010\n"
			       "0000002f  TNT       .!\n");
}
END_TEST

START_TEST(json_of_packets)
{
	char text[4096];

	verb_put_file(trace, sizeof(trace));
	ck_assert_int_eq(dump("-r -j -o 0x14", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text,
			 "{\"offset\":20,\"packet\":\"TIP.PGE\",\"size\":7,\"ip_bytes\":3,"
			 "\"payload\":\"0xffff81000000\",\"ip\":\"0xffffffff81000000\"}\n"
			 "{\"offset\":27,\"packet\":\"TNT\",\"size\":1,\"outcomes\":\"1011\"}\n"
			 "{\"offset\":28,\"packet\":\"TIP\",\"size\":3,\"ip_bytes\":1,"
			 "\"payload\":\"0x1040\",\"ip\":\"0xffffffff81001040\"}\n"
			 "{\"offset\":31,\"packet\":\"TIP\",\"size\":1,\"ip_bytes\":0}\n"
			 "{\"offset\":32,\"packet\":\"PTW\",\"size\":10,\"payload\":\"0x2a\","
			 "\"fup\":true,\"bits\":64}\n"
			 "{\"offset\":42,\"packet\":\"FUP\",\"size\":5,\"ip_bytes\":2,"
			 "\"payload\":\"0x81302010\",\"ip\":\"0xffffffff81302010\"}\n"
			 "{\"offset\":47,\"packet\":\"TNT\",\"size\":8,\"outcomes\":\"01\"}\n");
}
END_TEST

/* TRIG, with and without a count, and what follows it. */
START_TEST(triggers)
{
	static const uint8_t bytes[] = {0xd9, 0x00, 0x1a, 0xd9, 0xe0, 0x01, 0x03, 0x02, 0x06};
	char text[4096];

	verb_put_file(bytes, sizeof(bytes));
	ck_assert_int_eq(dump("--raw", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "00000000  TRIG      0x1a\n"
			       "00000003  TRIG      0x1 mult icnt 515 IP\n"
			       "00000008  TNT       !\n");
	ck_assert_int_eq(dump("-r -j", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "{\"offset\":0,\"packet\":\"TRIG\",\"size\":3,\"triggers\":26,"
			       "\"mult\":false,\"fup\":false}\n"
			       "{\"offset\":3,\"packet\":\"TRIG\",\"size\":5,\"triggers\":1,"
			       "\"mult\":true,\"icnt\":515,\"fup\":true}\n"
			       "{\"offset\":8,\"packet\":\"TNT\",\"size\":1,\"outcomes\":\"1\"}\n");
}
END_TEST

START_TEST(summary_of_packets)
{
	char text[4096];

	verb_put_file(trace, sizeof(trace));
	ck_assert_int_eq(dump("-r -s", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "kind               packets          bytes  bytes%\n"
			       "PSB                      1             16    29.1\n"
			       "PSBEND                   1              2     3.6\n"
			       "TNT                      1              1     1.8\n"
			       "TNT (long)               1              8    14.5\n"
			       "TIP                      2              4     7.3\n"
			       "TIP.PGE                  1              7    12.7\n"
			       "FUP                      1              5     9.1\n"
			       "MODE.Exec                1              2     3.6\n"
			       "PTW                      1             10    18.2\n"
			       "all                     10             55\n");
	ck_assert_int_eq(dump("-r -s -j -n 2", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "{\"packets\":2,\"bytes\":18,\"lost\":0,\"kinds\":{"
			       "\"PSB\":{\"packets\":1,\"bytes\":16},"
			       "\"MODE.Exec\":{\"packets\":1,\"bytes\":2}}}\n");
}
END_TEST

START_TEST(offset_and_limit)
{
	char text[4096];

	verb_put_file(trace, sizeof(trace));
	/* From inside a packet on: the next one, its IP still right. */
	ck_assert_int_eq(dump("-r -o 21 -n 2", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "0000001b  TNT       !.!!\n"
			       "0000001c  TIP       1: 0x1040               ffffffff81001040\n");
	ck_assert_int_eq(dump("-r -n 0", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(dump("-r -o 1000", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "");
}
END_TEST

/* Before a PSB the last IP isn't known, nor after bytes that were no packet. */
START_TEST(resync)
{
	static const uint8_t bytes[] = {
		0x2d,	   0x40, 0x10,			       /* 00 TIP, 16 bits of what? */
		0x02,	   0xff, 0x00, 0x04, 1, 2, 3, 4, 5, 6, /* 03 nothing */
		PSB_BYTES,				       /* 0d */
		0x2d,	   0x40, 0x10,			       /* 1d TIP, 16 bits of 0 */
		0xed,					       /* 20 nothing, and no PSB after it */
		0x2d,	   0x40, 0x10,
	};
	char text[4096];

	verb_put_file(bytes, sizeof(bytes));
	ck_assert_int_eq(dump("-r", text, sizeof(text)), CLI_EXIT_FAIL);
	ck_assert_str_eq(text, "00000000  TIP       1: 0x1040               ?\n"
			       "00000003  ** no packet begins like this: 02 ff 00 04 01 02 03 04 "
			       "... (10 bytes lost)\n"
			       "0000000d  PSB\n"
			       "0000001d  TIP       1: 0x1040               0000000000001040\n"
			       "00000020  ** no packet begins like this: ed 2d 40 10 "
			       "(4 bytes lost)\n");
	ck_assert_int_eq(dump("-r -j -o 4 -n 1", text, sizeof(text)), CLI_EXIT_FAIL);
	ck_assert_str_eq(text, "{\"offset\":3,\"lost\":10,\"why\":\"no packet begins like this\"}\n"
			       "{\"offset\":13,\"packet\":\"PSB\",\"size\":16}\n");
	ck_assert_int_eq(dump("-r -s", text, sizeof(text)), CLI_EXIT_FAIL);
	ck_assert_ptr_nonnull(strstr(text, "in none                                14"));
	/* What was not looked at is no reason to fail. */
	ck_assert_int_eq(dump("-r -n 1", text, sizeof(text)), CLI_EXIT_OK);
}
END_TEST

START_TEST(cut_packet)
{
	char text[4096];

	verb_put_file(trace, sizeof(trace) - 3);
	ck_assert_int_eq(dump("-r -o 0x2f", text, sizeof(text)), CLI_EXIT_FAIL);
	ck_assert_str_eq(text, "0000002f  ** the last packet is cut: 02 a3 05 00 00 "
			       "(5 bytes lost)\n");
}
END_TEST

/* The IP is known once one came in full, PSB or not. */
START_TEST(full_ip_without_psb)
{
	static const uint8_t bytes[] = {
		0x2d, 1, 0, 0xcd, 0, 0, 0, 0, 0, 0, 0x12, 0, 0x2d, 2, 0, 0x8d, 1, 0, 0, 0, 0, 0,
	};
	char text[4096];

	verb_put_file(bytes, sizeof(bytes));
	ck_assert_int_eq(dump("-r", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "00000000  TIP       1: 0x1                  ?\n"
			       "00000003  TIP       6: 0x12000000000000     0012000000000000\n"
			       "0000000c  TIP       1: 0x2                  0012000000000002\n"
			       "0000000f  TIP       4: 0x1                  0012000000000001\n");
}
END_TEST

START_TEST(all_bytes_are_accounted_for)
{
	static const uint8_t psb[] = {PSB_BYTES};

	verb_accounts(cli_cmd_dump, "-r -s -j", psb, sizeof(psb), (uint64_t)_i);
}
END_TEST

/* Two vCPUs; vCPU 1 has two sessions, of which the first ends in a STOP region. */
static void put_vpt(void)
{
	static const uint8_t second[] = {PSB_BYTES, 0x2d, 0x40, 0x10, 0x02, 0xa3, 0x01};
	static const uint8_t third[] = {0x59, 0x07};
	struct trace_file_info info = {.vcpus = 2};
	struct trace_session session = {.ctl = 0x2105};
	struct trace_writer *w;

	ck_assert_int_eq(trace_writer_open(verb_file(), &info, &w), 0);
	for (unsigned int vcpu = 0; vcpu < 2; vcpu++) {
		session.edge = TRACE_SESSION_START;
		session.end = TRACE_END_NONE;
		ck_assert_int_eq(trace_writer_session(w, vcpu, &session), 0);
	}
	ck_assert_int_eq(trace_writer_trace(w, 0, ~0ull, trace, 0x14), 0);
	ck_assert_int_eq(trace_writer_trace(w, 1, ~0ull, second, sizeof(second)), 0);
	session.edge = TRACE_SESSION_END;
	session.end = TRACE_END_DISABLED;
	ck_assert_int_eq(trace_writer_session(w, 0, &session), 0);
	session.end = TRACE_END_TOPA_STOP;
	ck_assert_int_eq(trace_writer_session(w, 1, &session), 0);
	session.edge = TRACE_SESSION_START;
	session.end = TRACE_END_NONE;
	ck_assert_int_eq(trace_writer_session(w, 1, &session), 0);
	ck_assert_int_eq(trace_writer_trace(w, 1, ~0ull, third, sizeof(third)), 0);
	session.edge = TRACE_SESSION_END;
	session.end = TRACE_END_ERROR;
	session.error = VPT_OUT_ERR_TABLE_UNALIGNED;
	ck_assert_int_eq(trace_writer_session(w, 1, &session), 0);
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
}

START_TEST(test_file)
{
	char text[4096];

	put_vpt();
	ck_assert_int_eq(dump("", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "# vcpu 0, session 0: CTL 0x2105, from 0 to 14: "
			       "TraceEn was cleared\n"
			       "00000000  PSB\n"
			       "00000010  MODE.Exec 64-bit\n"
			       "00000012  PSBEND\n"
			       "# vcpu 1, session 0: CTL 0x2105, from 0 to 16: ToPA STOP\n"
			       "00000000  PSB\n"
			       "00000010  TIP       1: 0x1040               0000000000001040\n"
			       "00000013  ** the last packet is cut, as this end may do: 02 a3 01 "
			       "(3 bytes lost)\n"
			       "# vcpu 1, session 1: CTL 0x2105, from 16 to 18: "
			       "an operational error: ToPA table base is not 4 KiB aligned\n"
			       "00000016  MTC       0x7\n");
}
END_TEST

START_TEST(test_file_one_vcpu_json)
{
	char text[4096];

	put_vpt();
	ck_assert_int_eq(dump("--json --vcpu=1 --offset=19", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_str_eq(text, "{\"vcpu\":1,\"offset\":0,\"session\":0,\"ctl\":\"0x2105\","
			       "\"end_offset\":22,\"end\":\"ToPA STOP\"}\n"
			       "{\"vcpu\":1,\"offset\":19,\"lost\":3,"
			       "\"why\":\"the last packet is cut, as this end may do\"}\n"
			       "{\"vcpu\":1,\"offset\":22,\"session\":1,\"ctl\":\"0x2105\","
			       "\"end_offset\":24,\"end\":\"an operational error\","
			       "\"error\":\"ToPA table base is not 4 KiB aligned\"}\n"
			       "{\"vcpu\":1,\"offset\":22,\"packet\":\"MTC\",\"size\":2,"
			       "\"ctc\":\"0x7\"}\n");
}
END_TEST

/* A writer that was killed: what there is is shown, and the status tells. */
START_TEST(test_file_without_end)
{
	struct trace_reader *reader;
	char text[4096], why[128];
	uint64_t readable;

	put_vpt();
	ck_assert_int_eq(trace_reader_open(verb_file(), &reader, why, sizeof(why)), 0);
	readable = trace_reader_extent(reader)->readable;
	trace_reader_close(reader);
	ck_assert_int_eq(truncate(verb_file(), (off_t)readable - 8), 0);
	ck_assert_int_eq(dump("-c 0", text, sizeof(text)), CLI_EXIT_INPUT);
	ck_assert_ptr_nonnull(strstr(text, "00000012  PSBEND\n"));
}
END_TEST

static const struct {
	const char *options;
	int status;
} refused[] = {
	{"--no-such-option", CLI_EXIT_USAGE}, {"-x", CLI_EXIT_USAGE},
	{"--vcpu", CLI_EXIT_USAGE},	      {"--vcpu=", CLI_EXIT_USAGE},
	{"--vcpu=one", CLI_EXIT_USAGE},	      {"--vcpu=-1", CLI_EXIT_USAGE},
	{"--vcpu=2", CLI_EXIT_USAGE},	      {"--limit=99999999999999999999", CLI_EXIT_USAGE},
	{"--offset=5x", CLI_EXIT_USAGE},      {"--raw --vcpu=0", CLI_EXIT_USAGE},
	{"another-file", CLI_EXIT_USAGE},     {"--raw /nonexistent/file --", CLI_EXIT_USAGE},
};

START_TEST(command_lines_refused)
{
	char text[4096];

	put_vpt();
	ck_assert_int_eq(dump(refused[_i].options, text, sizeof(text)), refused[_i].status);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(files_refused)
{
	static const char *const options[] = {"", "--summary"};
	char text[4096];

	/* Bare trace bytes without --raw, then no file at all. */
	verb_put_file(trace, sizeof(trace));
	ck_assert_int_eq(dump(options[_i], text, sizeof(text)), CLI_EXIT_INPUT);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(unlink(verb_file()), 0);
	ck_assert_int_eq(dump(options[_i], text, sizeof(text)), CLI_EXIT_INPUT);
	ck_assert_int_eq(dump("--raw", text, sizeof(text)), CLI_EXIT_INPUT);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(help_text)
{
	char text[4096];

	ck_assert_int_eq(dump("--help", text, sizeof(text)), CLI_EXIT_DONE);
	ck_assert(!strncmp(text, "usage: vpt dump ", 16));
}
END_TEST

/* What the items of a block are depends on the block. */
START_TEST(block_items)
{
	static const uint8_t bytes[] = {
		PSB_BYTES, 0x02, 0x23,		   /* PSBEND */
		0x02,	   0x63, 0x84,		   /* BBP: PEBS-basic, 4 bytes */
		0x14,	   0x2a, 0x00, 0x00, 0x00, /* BIP 2 */
		0x02,	   0x63, 0x01,		   /* GPR, 8 bytes */
		0x14,	   0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* BIP 2 */
		0xfc,	   0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* one of none */
		0x02,	   0x33,					   /* BEP */
	};
	static char text[4096];

	verb_put_file(bytes, sizeof(bytes));
	ck_assert_int_eq(dump("--raw", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_ptr_nonnull(strstr(text, "02: 0x2a                timestamp\n"));
	ck_assert_ptr_nonnull(strstr(text, "02: 0x7                 R/EAX\n"));
	ck_assert_ptr_nonnull(strstr(text, "1f: 0x1\n"));
	ck_assert_int_eq(dump("--raw --json", text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_ptr_nonnull(strstr(text, "\"name\":\"timestamp\""));
	ck_assert_ptr_nonnull(strstr(text, "\"name\":\"R/EAX\""));
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("dump");
	TCase *tc = tcase_create("raw");

	tcase_add_checked_fixture(tc, verb_setup, verb_teardown);
	tcase_add_test(tc, text_of_packets);
	tcase_add_test(tc, json_of_packets);
	tcase_add_test(tc, triggers);
	tcase_add_test(tc, summary_of_packets);
	tcase_add_test(tc, offset_and_limit);
	tcase_add_test(tc, resync);
	tcase_add_test(tc, cut_packet);
	tcase_add_test(tc, full_ip_without_psb);
	tcase_add_loop_test(tc, all_bytes_are_accounted_for, 0, 8);
	tcase_add_test(tc, block_items);
	suite_add_tcase(suite, tc);

	tc = tcase_create("vpt");
	tcase_add_checked_fixture(tc, verb_setup, verb_teardown);
	tcase_add_test(tc, test_file);
	tcase_add_test(tc, test_file_one_vcpu_json);
	tcase_add_test(tc, test_file_without_end);
	suite_add_tcase(suite, tc);

	tc = tcase_create("command line");
	tcase_add_checked_fixture(tc, verb_setup, verb_teardown);
	tcase_add_loop_test(tc, command_lines_refused, 0, ARRAY_SIZE(refused));
	tcase_add_loop_test(tc, files_refused, 0, 2);
	tcase_add_test(tc, help_text);
	suite_add_tcase(suite, tc);
	return suite;
}
