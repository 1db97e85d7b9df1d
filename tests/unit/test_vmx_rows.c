// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VM entries and exits under each combination of what can matter to them: conceal
 * controls, BranchEn, EventEn, and which side is in context and inside the filter. What
 * must be sent is put together here from the words of tables 33-24, 33-49, 33-52, 33-53,
 * 33-56 and 33-59, not with the library's functions.
 */
#include "lib/suite.h"
#include "lib/scenario.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What keeps one side out; host: CPL 0, CR3 1000, IP 1000; guest: 3, 2000, 7000. */
static const struct world {
	const char *setup, *bits;
	bool host, guest; /* in context */
	bool host_filter, guest_filter;
	bool os;
} worlds[] = {
	{"", "os,user", true, true, true, true, true},
	{"", "os", true, false, true, true, true},
	{"", "user", false, true, true, true, false},
	{"match=1000 ", "os,user,cr3", true, false, true, true, true},
	{"match=2000 ", "os,user,cr3", false, true, true, true, true},
	{"match=3000 ", "os,user,cr3", false, false, true, true, true},
	{"range0=1000-1fff ", "os,user,f0", true, true, true, false, true},
	{"range0=7000-7fff ", "os,user,f0", true, true, false, true, true},
	{"range0=9000-9fff ", "os,user,f0", true, true, false, false, true},
	{"match=2000 range0=7000-7fff ", "os,user,f0,cr3", false, true, false, true, true},
	{"match=1000 range0=7000-7fff ", "os,user,f0,cr3", true, false, false, true, true},
};

enum { WORLDS = sizeof(worlds) / sizeof(worlds[0]), CASES = WORLDS * 32 };

struct row {
	const struct world *world;
	bool branch, event;
	bool exec, exit, entry; /* conceal */
	char script[256], packets[256];
};

static struct row row_of(int n)
{
	struct row row = {.world = &worlds[n / 32]};

	row.branch = n & 1;
	row.event = n & 2;
	row.exec = n & 4;
	row.exit = n & 8;
	row.entry = n & 16;
	return row;
}

static void add(struct row *row, const char *what)
{
	size_t len = strlen(row->packets);

	snprintf(row->packets + len, sizeof(row->packets) - len, "%s%s", len ? " " : "", what);
}

/* `known`: the decoder has MODE.Exec. */
static void add_target(struct row *row, bool from, bool to, bool context, const char *ip,
		       bool known)
{
	char text[48];

	if (from && to)
		snprintf(text, sizeof(text), "TIP(%s)", ip);
	else if (from)
		snprintf(text, sizeof(text), "TIP.PGD(%s)", context ? ip : "");
	else if (to)
		snprintf(text, sizeof(text), "%sTIP.PGE(%s)", known ? "" : "MODE.Exec(1) ", ip);
	else
		return;
	add(row, text);
}

/*
 * Without BranchEn event trace tells IF, which is 0 throughout, by MODE.Exec and a FUP of its
 * own: once, on the first side that is traced (33.4.2.8). *known: that was before.
 */
static void add_mode(struct row *row, bool traced, const char *ip, bool *known)
{
	char text[48];

	if (!row->event || row->branch || !traced || *known)
		return;
	snprintf(text, sizeof(text), "MODE.Exec(1) FUP(%s)", ip);
	add(row, text);
	*known = true;
}

static void check(struct row *row)
{
	struct test_scenario scenario = {
		.name = "combination",
		.model = "spr",
		.script = row->script,
		.packets = row->packets,
	};

	test_scenario_check(&scenario);
}

static void start(struct row *row, const char *before, const char *after)
{
	snprintf(row->script, sizeof(row->script),
		 "%scontrols:%s%s%s vmxon vmptrld=5000 %son:%s%s%s %s", row->world->setup,
		 row->exec ? "exec," : "", row->exit ? "exit," : "", row->entry ? "entry," : "",
		 before, row->world->bits, row->branch ? ",br" : "", row->event ? ",event" : "",
		 after);
}

static bool host_traced(const struct row *row)
{
	return row->world->host && row->world->host_filter;
}

static bool guest_traced(const struct row *row)
{
	return row->world->guest && row->world->guest_filter;
}

static bool host_sent(const struct row *row)
{
	return host_traced(row) && row->branch;
}

static bool guest_sent(const struct row *row)
{
	return guest_traced(row) && row->branch;
}

START_TEST(entries)
{
	struct row row = row_of(_i);
	const struct world *world = row.world;
	bool known = host_traced(&row);

	start(&row, "", "cpl=3 cr3=2000 enter>7000");
	if (row.event && !row.entry && world->host)
		add(&row, "CFE.VMENTRY(IP) FUP(1018)");
	else if (row.event && !row.entry && world->guest)
		add(&row, "CFE.VMENTRY()");
	if (!row.entry && world->guest && world->os)
		add(&row, "PIP(2000,NR)");
	add_target(&row, host_sent(&row), guest_sent(&row), world->guest, "7000", false);
	add_mode(&row, guest_traced(&row), "7000", &known);
	check(&row);
	TEST_PROVES("VMX-ENTRY-SYSTEM VMX-ENTRY-CONCEAL VMX-ENTRY-EVENT EVT-IF-RESUME");
}
END_TEST

START_TEST(exits)
{
	struct row row = row_of(_i);
	const struct world *world = row.world;
	bool sent = guest_sent(&row), known = guest_traced(&row);

	start(&row, "cpl=3 cr3=2000 enter>7000 ", "cpl=0 cr3=1000 exit>1100");
	if (row.event && !row.exit && world->guest)
		add(&row, sent ? "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT()"
			       : "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT(IP) FUP(7008)");
	else if (row.event && !row.exit && world->host)
		add(&row, "CFE.VMEXIT()");
	if (sent)
		add(&row, "FUP(7008)");
	if (!row.exit && world->host && world->os)
		add(&row, "PIP(1000)");
	add_target(&row, sent, host_sent(&row), world->host, "1100", false);
	add_mode(&row, host_traced(&row), "1100", &known);
	check(&row);
	TEST_PROVES("VMX-EXIT-SYSTEM VMX-EXIT-CONCEAL VMX-EXIT-EVENT EVT-IF-RESUME");
}
END_TEST

/* There and back, with an interrupt on the way back, and CR3 moving in between. */
START_TEST(round_trips)
{
	struct row row = row_of(_i);
	const struct world *world = row.world;
	bool host = host_sent(&row), guest = guest_sent(&row), known = host_traced(&row);

	start(&row, "", "cpl=3 cr3=2000 enter>7000 movcr3=2000 cpl=0 cr3=1000 exitint>1100");
	if (row.event && !row.entry && world->host)
		add(&row, "CFE.VMENTRY(IP) FUP(1018)");
	else if (row.event && !row.entry && world->guest)
		add(&row, "CFE.VMENTRY()");
	if (!row.entry && world->guest && world->os)
		add(&row, "PIP(2000,NR)");
	add_target(&row, host, guest, world->guest, "7000", false);
	add_mode(&row, guest_traced(&row), "7000", &known);
	if (world->guest && world->os)
		add(&row, row.exec ? "PIP(2000)" : "PIP(2000,NR)");
	if (row.event && !row.exit && world->guest)
		add(&row, guest ? "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT_INTR(e)"
				: "EVD.VMXQ(77) EVD.VMXR(a) CFE.VMEXIT_INTR(e,IP) FUP(7008)");
	if (guest)
		add(&row, "FUP(7008)");
	if (!row.exit && world->host && world->os)
		add(&row, "PIP(1000)");
	add_target(&row, guest, host, world->host, "1100", host || guest);
	add_mode(&row, host_traced(&row), "1100", &known);
	check(&row);
	TEST_PROVES("VMX-EXEC-CONCEAL VMX-EXIT-EVENT VMX-ENTRY-EVENT");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("vmx_rows");
	TCase *tcase = tcase_create("combinations");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, entries, 0, CASES);
	tcase_add_loop_test(tcase, exits, 0, CASES);
	tcase_add_loop_test(tcase, round_trips, 0, CASES);
	suite_add_tcase(suite, tcase);
	return suite;
}
