/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A .vpt file in memory whose log of what ran is stretches and records, to be changed and written
 * again. A log of instructions one by one becomes stretches as the file is read. Every failure ends the
 * process.
 */
#ifndef TESTS_LIB_LOGFILE_H
#define TESTS_LIB_LOGFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define LOGFILE_INSNS 64u

struct logfile_stretch {
	struct trace_stretch head;
	struct trace_stretch_insn insn[LOGFILE_INSNS];
};

struct logfile_entry {
	unsigned int vcpu;
	bool is_record;
	uint32_t stretch;
	unsigned int cut; /* 0: all of it retired, else one more than did */
	struct trace_oracle_record record;
};

struct logfile {
	uint8_t *bytes; /* of the file, without what ran */
	size_t len;
	size_t end; /* where the log is put: before the END block */
	size_t flipped;
	uint8_t was; /* the byte there */
	struct logfile_stretch *stretch;
	size_t nstretches, kept_stretches;
	struct logfile_entry *entry, *kept;
	size_t n, nkept;
};

void logfile_read(struct logfile *f, const char *path);
void logfile_write(struct logfile *f, const char *path);
/* The same log as @words has, the file that was written last, as single records. False: it is damaged. */
bool logfile_write_records(struct logfile *f, const char *words, const char *path);
void logfile_free(struct logfile *f);

/* A log that was kept can be restored any number of times. */
void logfile_keep(struct logfile *f);
void logfile_restore(struct logfile *f);

/* Changes. logfile_stretch() returns the number of a new one. */
uint32_t logfile_stretch(struct logfile *f, const struct logfile_stretch *s);
void logfile_insert(struct logfile *f, size_t at, const struct logfile_entry *entry);
void logfile_remove(struct logfile *f, size_t at);
/* Change a byte of the content of some block of a type. False: there is none. */
bool logfile_flip(struct logfile *f, unsigned int type, uint64_t (*draw)(uint64_t below));

/* Returns the address to which a stretch falls through. */
uint64_t logfile_end(const struct logfile_stretch *s);

#endif /* TESTS_LIB_LOGFILE_H */
