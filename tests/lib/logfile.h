/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A .vpt file in memory whose execution log is a list of stretches and records that tests change
 * and write again. Single instructions of the log become stretches while the file is read. Every
 * failure ends the process.
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
	unsigned int cut; /* 0: all retired; else 1 + the number of retired instructions */
	struct trace_oracle_record record;
};

struct logfile {
	uint8_t *bytes; /* the file without its execution log */
	size_t len;
	size_t end; /* where the log is inserted: before the END block */
	size_t flipped;
	uint8_t was; /* the byte at @flipped before the change */
	struct logfile_stretch *stretch;
	size_t nstretches, kept_stretches;
	struct logfile_entry *entry, *kept;
	size_t n, nkept;
};

void logfile_read(struct logfile *f, const char *path);
void logfile_write(struct logfile *f, const char *path);
/*
 * Write the log of the file @words, which was written last, as single records to @path. Return
 * false if @words is damaged.
 */
bool logfile_write_records(struct logfile *f, const char *words, const char *path);
void logfile_free(struct logfile *f);

/* Keep the current log. logfile_restore() can restore the log any number of times. */
void logfile_keep(struct logfile *f);
void logfile_restore(struct logfile *f);

/* Change the log. logfile_stretch() adds a stretch and returns its number. */
uint32_t logfile_stretch(struct logfile *f, const struct logfile_stretch *s);
void logfile_insert(struct logfile *f, size_t at, const struct logfile_entry *entry);
void logfile_remove(struct logfile *f, size_t at);
/*
 * Flip a bit in the content of a random block of this type. Return false if there is no such block.
 */
bool logfile_flip(struct logfile *f, unsigned int type, uint64_t (*draw)(uint64_t below));

/* Returns the address to which a stretch falls through. */
uint64_t logfile_end(const struct logfile_stretch *s);

#endif /* TESTS_LIB_LOGFILE_H */
