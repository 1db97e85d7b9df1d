/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to the report: the text of source lines, which is read from files of this machine.
 *
 * The names of the files come from the trace and are hostile. Only regular files with the suffix of
 * a source file are read, and only the lines that were noted are written.
 */
#ifndef VMM_FORMATS_REPORT_SOURCE_H
#define VMM_FORMATS_REPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORMAT_SOURCE_DIRS 32u

/* The list says where the files are. */
struct format_source_dirs {
	/*
	 * "OLD=NEW": a name that begins with the directory OLD is below NEW. "DIR": a name that is not
	 * absolute is below DIR. The first one that fits applies.
	 */
	const char *dir[FORMAT_SOURCE_DIRS];
	unsigned int n;
};

struct format_report_source;

/* Begin a list of lines. @dirs must outlive it. Returns NULL if there is no memory. */
struct format_report_source *format_report_source_new(const struct format_source_dirs *dirs);
void format_report_source_free(struct format_report_source *s);

/*
 * Note a line of a file. @file must outlive the list. *number is the number of the file in the list.
 * Returns 0 or -ENOMEM.
 */
int format_report_source_note(struct format_report_source *s, const char *file, uint32_t line,
			      size_t *number);

/*
 * Write the files as a JSON array, each with its noted lines, or with the reason why lines have no
 * text. Call it once.
 */
void format_report_source_write(struct format_report_source *s, FILE *out);

#endif /* VMM_FORMATS_REPORT_SOURCE_H */
