// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test KVM's usages of Intel PT with a small VMM: see docs/kvm.md.
 *
 * usage: kvm-features TEST...     The exit status is 0 if no check failed.
 */
#include <stdio.h>
#include <string.h>

#include "tests.h"
#include "vm.h"

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{"usages", test_usages},     {"areas", test_areas},	  {"guest", test_guest},
	{"oracle", test_oracle},     {"stop", test_stop},	  {"wrap", test_wrap},
	{"switch", test_switch},     {"switches", test_switches}, {"owned", test_owned},
	{"emulated", test_emulated}, {"sideband", test_sideband}, {"host", test_host},
	{"both", test_both},	     {"hostile", test_hostile},	  {"no-ept", test_no_ept},
};

static int run(const char *name)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		unsigned int before = failures, had = checks;

		if (strcmp(tests[i].name, name))
			continue;
		tests[i].run();
		printf("%s %s: %u checks\n", failures == before ? "ok" : "not ok", name,
		       checks - had);
		fflush(stdout);
		return failures != before || checks == had;
	}
	printf("there is no test %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	int status = argc < 2 ? 2 : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);

	for (int i = 1; i < argc; i++)
		status |= run(argv[i]);
	return status;
}
