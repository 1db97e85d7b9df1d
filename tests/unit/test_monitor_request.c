// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to the monitor: what each command takes, and the text of each refusal. */
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#include "cli/monitor_request.h"

static struct cli_monitor_request r;
static char why[CLI_MONITOR_WHY];

static bool parse(const char *text)
{
	why[0] = 0;
	return cli_monitor_request_parse(&r, text, strlen(text), why);
}

START_TEST(accepted)
{
	static const struct {
		const char *text;
		enum cli_monitor_command command;
	} row[] = {
		{"{\"execute\": \"status\"}", CLI_MONITOR_STATUS},
		{"{\"execute\":\"status\",\"arguments\":{},\"id\":null}", CLI_MONITOR_STATUS},
		{"{\"execute\":\"quit\",\"id\":\"x\"}", CLI_MONITOR_QUIT},
		{"{\"execute\":\"snapshot\"}", CLI_MONITOR_SNAPSHOT},
		{"{\"execute\":\"input\",\"arguments\":{\"text\":\"a\\n\"}}", CLI_MONITOR_INPUT},
		{"{\"execute\":\"input\",\"arguments\":{\"line\":\"a\"}}", CLI_MONITOR_INPUT},
		{"{\"execute\":\"trace-stop\"}", CLI_MONITOR_TRACE_STOP},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		ck_assert_msg(parse(row[i].text), "%s: %s", row[i].text, why);
		ck_assert_int_eq(r.command, row[i].command);
		ck_assert(!r.has_arguments || r.command == CLI_MONITOR_INPUT);
		cli_monitor_request_free(&r);
	}
}
END_TEST

START_TEST(arguments)
{
	ck_assert(parse("{\"execute\":\"mark\",\"arguments\":{\"text\":\"t\",\"vcpu\":\"0x10\"}}"));
	ck_assert_str_eq(r.text, "t");
	ck_assert_uint_eq(r.vcpu, 16);
	cli_monitor_request_free(&r);
	ck_assert(parse("{\"execute\":\"trace-start\",\"arguments\":{\"filter\":\"a\",\"stop\":"
			"[\"b\",\"1-2\"],\"user\":true,\"kernel\":false,\"cr3\":4096}}"));
	ck_assert(r.has_arguments && r.user && !r.kernel && r.has_cr3);
	ck_assert_uint_eq(r.cr3, 4096);
	ck_assert_uint_eq(r.ranges, 3);
	ck_assert(!r.range[0].stop && r.range[1].stop && r.range[2].stop);
	ck_assert_str_eq(r.range[2].text, "1-2");
	cli_monitor_request_free(&r);
}
END_TEST

START_TEST(refused)
{
	static const struct {
		const char *text, *words;
	} row[] = {
		{"", "not JSON"},
		{"[]", "not an object"},
		{"{}", "execute: not a string"},
		{"{\"execute\":\"status\"} 1", "not JSON"},
		{"{\"execute\":\"Status\"}", "no such command"},
		{"{\"execute\":\"status\",\"arguments\":[]}", "arguments: not an object"},
		{"{\"execute\":\"status\",\"arguments\":{\"x\":1}}", "x: no such argument"},
		{"{\"execute\":\"status\",\"Id\":1}", "Id: no such member"},
		{"{\"execute\":\"mark\"}", "text: missing"},
		{"{\"execute\":\"mark\",\"arguments\":{\"text\":\"\",\"vcpu\":-1}}", "vcpu: not a"},
		{"{\"execute\":\"mark\",\"arguments\":{\"text\":\"\",\"vcpu\":1.5}}",
		 "vcpu: not a"},
		{"{\"execute\":\"trace-start\",\"arguments\":{\"user\":1}}", "user: not true"},
		{"{\"execute\":\"trace-start\",\"arguments\":{\"stop\":[\"\"]}}",
		 "stop: not a range"},
		{"{\"execute\":\"trace-start\",\"arguments\":{\"stop\":[[\"a\"]]}}",
		 "stop: not a range"},
		{"{\"execute\":\"trace-start\",\"arguments\":{\"stop\":[\"a\",\"a\",\"a\",\"a\","
		 "\"a\"]}}",
		 "more ranges"},
		{"{\"execute\":\"\\u00e4\\u00e4\"}", "no such command"},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		ck_assert_msg(!parse(row[i].text), "%s", row[i].text);
		ck_assert_msg(strstr(why, row[i].words), "%s: %s", row[i].text, why);
		cli_monitor_request_free(&r);
	}
}
END_TEST

/* The text of a client comes back to it, but only as JSON. */
START_TEST(answers)
{
	char *text;

	ck_assert(parse("{\"execute\":\"status\",\"id\":{\"a\":[1]}}"));
	text = cli_monitor_result(&r, json_pack("{s:i}", "n", 5));
	ck_assert_str_eq(text, "{\"return\": {\"n\": 5}, \"id\": {\"a\": [1]}}");
	free(text);
	text = cli_monitor_error(&r, "\"quoted\"\n\xc3");
	ck_assert_str_eq(text,
			 "{\"error\": {\"desc\": \"\\\"quoted\\\"??\"}, \"id\": {\"a\": [1]}}");
	free(text);
	cli_monitor_request_free(&r);
	ck_assert(!parse("nothing"));
	text = cli_monitor_error(&r, why);
	ck_assert_ptr_nonnull(strstr(text, "not JSON"));
	free(text);
	cli_monitor_request_free(&r);
}
END_TEST

TEST_SUITE("monitor requests", NULL, NULL)
{
	TEST_ADD(tcase, accepted, arguments, refused, answers);
}
