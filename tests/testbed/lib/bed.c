// SPDX-License-Identifier: GPL-2.0-or-later
/* A command that gives shell scripts in the test bed access to the control port. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testbed.h"

static int export_file(char **argument)
{
	int error = bed_export_file(argument[0], argument[1]);

	if (error)
		fprintf(stderr, "bed: %s: %s\n", argument[1], strerror(-error));
	return error ? 1 : 0;
}

static int mark(char **argument)
{
	bed_mark(argument[0]);
	return 0;
}

static int oracle_on(char **argument)
{
	(void)argument;
	bed_command(BED_ORACLE_ON, 0);
	return 0;
}

static int oracle_off(char **argument)
{
	(void)argument;
	bed_command(BED_ORACLE_OFF, 0);
	return 0;
}

static int counters(char **argument)
{
	bed_text(argument[0]);
	bed_command(VPT_BED_COUNTERS, 0);
	return 0;
}

static int power_off(char **argument)
{
	bed_command(BED_POWER_OFF, (uint32_t)atoi(argument[0]) & 0xff);
	return 1;
}

static const struct verb {
	const char *name;
	int arguments;
	int (*run)(char **argument);
	const char *usage;
} verbs[] = {
	{"oracle-on", 0, oracle_on, ""},	  {"oracle-off", 0, oracle_off, ""},
	{"export", 2, export_file, " NAME FILE"}, {"mark", 1, mark, " TEXT"},
	{"counters", 1, counters, " NAME"},	  {"power-off", 1, power_off, " STATUS"},
};

int main(int count, char **argument)
{
	const struct verb *verb;
	int error;

	for (verb = verbs; verb < verbs + sizeof(verbs) / sizeof(verbs[0]); verb++) {
		if (count < 2 || strcmp(argument[1], verb->name) || count != 2 + verb->arguments)
			continue;
		error = bed_open();
		if (error) {
			fprintf(stderr, "bed: no control port: %s\n", strerror(-error));
			return 1;
		}
		return verb->run(argument + 2);
	}
	for (verb = verbs; verb < verbs + sizeof(verbs) / sizeof(verbs[0]); verb++)
		fprintf(stderr, "usage: bed %s%s\n", verb->name, verb->usage);
	return 2;
}
