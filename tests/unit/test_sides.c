// SPDX-License-Identifier: GPL-2.0-or-later
/* What vpt decode and vpt info show of a trace that spans a host and two guests. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "vpt/msr.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define ID(n)	 (0x000f000000000000ull + 4096 * (n))
#define VMCS	 0x7000ull

static const struct trace_space spaces[] = {
	{.id = ID(0),
	 .cr3 = SYNTH_CR3,
	 .vmcs = TRACE_SPACE_ANY_VMCS,
	 .vm = TRACE_SPACE_NO_VM,
	 .pid = 12,
	 .name = "bash"},
	{.id = ID(1),
	 .cr3 = SYNTH_CR3,
	 .vmcs = VMCS,
	 .flags = TRACE_SPACE_NON_ROOT,
	 .vm = 3,
	 .vcpu = 1},
};

/* Host: nop, vmresume, nop, wrmsr; guest: nop, nop, cpuid. */
static void make(struct synth *s)
{
	struct trace_vmcs block = {
		.vmcs = VMCS, .tsc_offset = 1000, .tsc_multiplier = 1ull << 48, .vm = 3, .vcpu = 1};

	synth_open(s);
	s->session.ctl |= VPT_CTL_MASK(EVENT_EN) | VPT_CTL_MASK(TSC_EN);
	ck_assert_int_eq(trace_writer_spaces(s->w, spaces, COUNT(spaces)), 0);
	ck_assert_int_eq(trace_writer_vmcs(s->w, 0, &block), 0);
	steps_play(s, "code0=900f01c3900f30 page@f000000000000 code0=90900fa2909090");
	steps_play(s, "page@f000000001000 start@0 PSB VMCS:7000 PIP:1000 MODE PSBEND TSC:1388");
	steps_play(s, "PGE:0 TSC:14b4 PIPN:1000 TIP:0 TSC:19c8 EVD:1e/2 CFE:9/21 FUP:2 PIP:1000");
	steps_play(s, "TIP:4 TSC:1770 FUP:5 PGD:- end-disabled@5");
	synth_close(s);
}

/* Run a verb on the file; what it prints goes to `text`. */
static int run(const char *verb, const char *options, const char *file, char *text, size_t size)
{
	char copy[256], path[128], *argv[16], *word;
	int argc = 0, status;
	FILE *out;
	size_t len;

	snprintf(path, sizeof(path), "%s.out", file);
	/* A process that has given up its rights could not run the next test. */
	snprintf(copy, sizeof(copy), "%s --sandbox=off %s %s", verb, options, file);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	ck_assert_int_eq(cli_confine_take(&argc, argv), 0);
	ck_assert_ptr_nonnull(freopen(path, "wb", stdout));
	status = strcmp(verb, "info") ? cli_cmd_decode(argc, argv) : cli_cmd_info(argc, argv);
	ck_assert_ptr_nonnull(freopen("/dev/null", "wb", stdout));
	out = fopen(path, "rb");
	ck_assert_ptr_nonnull(out);
	len = fread(text, 1, size - 1, out);
	fclose(out);
	unlink(path);
	text[len] = 0;
	return status;
}

/* What must be there, in this order, and what must not; see the table. */
static void check(const char *text, const char *const *has, const char * not )
{
	const char *at = text;

	for (; *has; has++) {
		at = strstr(at, *has);
		ck_assert_msg(at, "\"%s\" is missing in\n%s", *has, text);
	}
	if (not )
		ck_assert_msg(!strstr(text, not ), "\"%s\" is in\n%s", not, text);
}

static const struct {
	const char *verb, *options;
	const char *has[6];
	const char * not ;
} shown[] = {
	{"decode",
	 "--insn",
	 {"-- in host: bash, pid 12", "vmresume", "-- in VM 3 vCPU 1: cr3 0x1000",
	  "-- cfe VMEXIT_INTR vector 0x21 at 0x401002 reason 0x1e", "-- in host: bash"},
	 NULL},
	{"decode", "--insn --side=host", {"-- in host", "vmresume"}, "VM 3"},
	{"decode", "--insn --side=guest", {"-- in VM 3 vCPU 1", "nop", "nop", "cfe"}, "vmresume"},
	{"decode", "--insn --side=all", {"vmresume", "VM 3"}, NULL},
	{"decode", "--insn --vm=3", {"-- in VM 3 vCPU 1", "nop"}, "vmresume"},
	{"decode", "--insn --vm=4", {"-- vCPU 0"}, "nop"},
	{"decode", "--insn --space=bash", {"vmresume"}, "VM 3"},
	{"decode", "--insn --space=12", {"vmresume"}, "VM 3"},
	{"decode", "--insn --space=zsh", {"-- vCPU 0"}, "nop"},
	{"decode",
	 "--insn --json --side=guest",
	 {"\"value\":\"0x1000\",\"space\":\"VM 3 vCPU 1: cr3 0x1000\"",
	  "\"ip\":\"0x401000\",\"size\":1,\"space\":\"VM 3 vCPU 1: cr3 0x1000\"",
	  "\"event\":\"cfe\",\"type\":\"VMEXIT_INTR\",\"type_number\":9,\"vector\":33,"
	  "\"from\":\"0x401002\",\"reason\":\"0x1e\""},
	 "bash"},
	{"decode",
	 "",
	 {"instructions   6", "time  space",
	  "           4             2         0         0   70.00%  host: bash, pid 12",
	  "           2             1         1         1   30.00%  VM 3 vCPU 1: cr3 0x1000"},
	 "not known"},
	{"decode", "--side=guest", {"instructions   2", "cfe            1"}, NULL},
	{"decode",
	 "--json",
	 {"\"spaces\":[{\"space\":\"host: bash, pid 12\",\"side\":\"host\",\"cr3\":\"0x1000\","
	  "\"pid\":12,\"insns\":4",
	  "\"vmcs\":\"0x7000\",\"vm\":3,\"vm_vcpu\":1,\"insns\":2,\"blocks\":1,\"vm_entries\":1,"
	  "\"vm_exits\":1,\"time\":300"},
	 NULL},
	{"info",
	 "",
	 {"address space  host: bash, pid 12; CR3 0x1000, id 0xf000000000000",
	  "address space  VM 3 vCPU 1: cr3 0x1000; CR3 0x1000, VMCS 0x7000, id 0xf000000001000",
	  "VMCS 0x7000 from byte 0x0 on: VM 3 vCPU 1, TSC offset 0x3e8"},
	 NULL},
	{"info", "--limit=1", {"id 0xf000000000000", "... and 1 more"}, "id 0xf000000001000"},
	{"info",
	 "--json",
	 {"\"spaces\":[{\"id\":\"0xf000000000000\",\"side\":\"host\",\"cr3\":\"0x1000\","
	  "\"pid\":12,\"name\":\"bash\"}",
	  "\"vmcs\":[{\"vmcs\":\"0x7000\",\"offset\":0,\"tsc_offset\":\"0x3e8\""},
	 NULL},
};

START_TEST(shows)
{
	struct synth s;
	char text[8192];

	make(&s);
	ck_assert_int_eq(run(shown[_i].verb, shown[_i].options, s.path, text, sizeof(text)),
			 CLI_EXIT_OK);
	check(text, shown[_i].has, shown[_i].not );
	synth_done(&s);
}
END_TEST

static const char *const refused[] = {"--side=both", "--vm=x", "--side", "--space"};

START_TEST(refuses)
{
	struct synth s;
	char text[8192];

	make(&s);
	ck_assert_ptr_nonnull(freopen("/dev/null", "wb", stderr));
	ck_assert_int_eq(run("decode", refused[_i], s.path, text, sizeof(text)), CLI_EXIT_USAGE);
	ck_assert_str_eq(text, "");
	synth_done(&s);
}
END_TEST

/*
 * PIPs of two CR3s that no SPACE block names. The flow that learned of the two spaces is
 * closed before their trees are sorted and named: each tree needs its own copy. malloc()
 * is told to map what is large, so that any use after free() faults in every build.
 */
static const char *const trees[] = {"--calls --spaces", "--calls --spaces --json"};

START_TEST(learned)
{
	char text[8192];
	struct synth s;

#ifndef __SANITIZE_ADDRESS__ /* which sees what is used after it is freed by itself */
	ck_assert(mallopt(M_TOP_PAD, 0) && mallopt(M_MMAP_THRESHOLD, 4096));
#endif
	malloc_trim(0);
	synth_open(&s);
	ck_assert_int_eq(trace_writer_spaces(s.w, spaces, 1), 0);
	steps_play(&s, "code0=90900f30 page@f000000000000 start@0 PSB PIP:1000 MODE PSBEND PGE:0");
	steps_play(&s, "FUP:1 PIP:5000 PGD:- PIP:6000 PIP:1000 PGE:1 FUP:2 PGD:- end-disabled@3");
	synth_close(&s);
	ck_assert_int_eq(run("decode", trees[_i], s.path, text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_ptr_nonnull(strstr(text, "host: bash, pid 12"));
	synth_done(&s);
}
END_TEST

/* These are for files that tell of address spaces. */
START_TEST(no_spaces)
{
	struct synth s;
	char text[8192];

	synth_open(&s);
	synth_close(&s);
	ck_assert_ptr_nonnull(freopen("/dev/null", "wb", stderr));
	ck_assert_int_eq(run("decode", "--side=host", s.path, text, sizeof(text)), CLI_EXIT_USAGE);
	ck_assert_int_eq(run("decode", "--vm=0", s.path, text, sizeof(text)), CLI_EXIT_USAGE);
	ck_assert_int_eq(run("decode", "", s.path, text, sizeof(text)), CLI_EXIT_OK);
	ck_assert_ptr_null(strstr(text, "space"));
	synth_done(&s);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("sides");
	TCase *tc = tcase_create("sides");

	tcase_add_loop_test(tc, shows, 0, COUNT(shown));
	tcase_add_loop_test(tc, refuses, 0, COUNT(refused));
	tcase_add_loop_test(tc, learned, 0, COUNT(trees));
	tcase_add_test(tc, no_spaces);
	suite_add_tcase(suite, tc);
	return suite;
}
