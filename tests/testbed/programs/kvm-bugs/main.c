// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reproduce the bugs of KVM's Intel PT that patches/linux/6.1 fixes, inside the test bed.
 *
 *   kvm-bugs [NAME...]    run these tests, or all that need no special processor or kernel
 *   kvm-bugs --list
 *
 * Prints "ok NAME" or "not ok NAME: what" for each test. The exit status is 0 if all are ok.
 * Each test runs in a process of its own, because KVM without the fix may kill the process or
 * never return.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "tests.h"

#define LIMIT 60 /* seconds on the clock of the test bed's machine */

static const struct test {
	const char *name;
	const char *(*run)(void);
	bool named; /* the test runs only by name, because it needs another processor or kernel */
} tests[] = {
	{"stop", test_stop, false},
	{"ranges", test_ranges, false},
	{"features", test_features, false},
	{"supported", test_supported, false},
	{"no-pt", test_no_pt, false},
	{"no-leaf", test_no_leaf, false},
	{"pt-dropped", test_pt_dropped, false},
	{"mask", test_mask, false},
	{"maxphyaddr", test_maxphyaddr, false},
	{"restore", test_restore, false},
	{"save", test_save, false},
	{"vmxon", test_vmxon, false},
	{"init", test_init, false},
	{"smm", test_smm, false},
	{"hole", test_hole, false},
	{"hole-mmio", test_hole_mmio, false},
	{"untouched", test_untouched, false},
	{"pmi", test_pmi, false},
	{"pmi-msr", test_pmi_msr, false},
	{"host-traces", test_host_traces, false},
	{"both-trace", test_both_trace, false},
	{"nmi-window", test_nmi_window, false},
	{"cost", test_cost, false},
	/*
	 * The last of the tests that need no name: without the fix the host then gets no more
	 * PMIs.
	 */
	{"pmi-alone", test_pmi_alone, false},
	{"event", test_event, true},
	{"resident", test_resident, true},
};

#define TEST_COUNT (sizeof(tests) / sizeof(tests[0]))

const char *wrong(const char *format, ...)
{
	static char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}

static void child(const struct test *test)
{
	const char *what;
	char complaint[200];

	alarm(LIMIT);
	kernel_log_begin();
	what = test->run();
	if (!what && kernel_log_complaint(complaint, sizeof(complaint)))
		what = complaint;
	if (what)
		printf("not ok %s: %s\n", test->name, what);
	else
		printf("ok %s\n", test->name);
	fflush(stdout);
	_exit(what ? 1 : 0);
}

static bool run(const struct test *test)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		child(test);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("fork");
		return false;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) < 2)
		return WEXITSTATUS(status) == 0;
	if (WIFSIGNALED(status))
		printf("not ok %s: %s\n", test->name, strsignal(WTERMSIG(status)));
	else
		printf("not ok %s: the test could not run\n", test->name);
	return false;
}

static bool is_wanted(const struct test *test, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], test->name))
			return true;
	return argc == 1 && !test->named;
}

int main(int argc, char **argv)
{
	unsigned int passed = 0, failed = 0;
	size_t i;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (i = 0; i < TEST_COUNT; i++)
			printf("%s\n", tests[i].name);
		return 0;
	}
	for (i = 0; i < TEST_COUNT; i++) {
		if (!is_wanted(&tests[i], argc, argv))
			continue;
		if (run(&tests[i]))
			passed++;
		else
			failed++;
	}
	printf("kvm-bugs: %u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
