// SPDX-License-Identifier: GPL-2.0-or-later
/* ACPI's fixed hardware: the timer, the events of PM1 and their interrupt, and power off. */
#include "lib/devscript.h"
#include "lib/suite.h"

/* Line 9 is a level, through the second 8259. */
#define INIT "on l:350=700 20=11 21=20 21=4 21=1 a0=11 a1=28 a1=2 a1=1 21=fb a1=fd 4d1=2 "

/* clang-format off */
static const struct test_dev_script scripts[] = {
	/* 3.579545 MHz: one tick in 279.365 ns, 32 bits. */
	{"timer",
	 "608?0 time:279 608?0 time:280 608?1 time:1s 608?99 609?9e 60a?36 60b?0 "
	 "608=55 608?99 " /* read only */
	 /* Bit 31 changes after 599.93 s. */
	 "time:599930ms 60b?7f 600?0 time:600s 60b?80 600?1 600=1 600?0 time:1199s 600?0 60b?ff "
	 "time:1200s 60b?0 600?1"},
	{"interrupt",
	 INIT "never 602=1 next:599932015941 time:599932015940 idle time:599932015941 never ack:29 "
	 "eoi2 eoi1 ack:29 eoi2 eoi1 " /* a level, until the status is cleared */
	 "600=1 idle next:1199864031882 602=0 never time:1300s 600?1 idle 602=1 ack:29"},
	/* SCI_EN stays set, SLP_EN reads 0. */
	{"control",
	 "604?1 605?0 604=0 604?1 604=ff 604?7 605=14 605?14 604?7 605=34 off:1 605?14"},
	{"other sleep states", "605=30 605?10 off:0 605=3c off:0"},
	/* Only the defined events can be enabled. */
	{"enable", "602=ff 603=ff 602?21 603?5 601?0 601=ff 601?0"},
};
/* clang-format on */

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

TEST_SUITE("dev_pm", NULL, NULL)
{
	TEST_ROWS(tcase, scripted, scripts);
}
