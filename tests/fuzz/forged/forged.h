/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forged files: the interface between the worker processes and the process that supervises them. */
#ifndef TESTS_FORGED_FORGED_H
#define TESTS_FORGED_FORGED_H

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/forged/change.h"

#define FORGED_SECONDS	10	   /* of processor time */
#define FORGED_HANG	120	   /* of elapsed time; large, since a busy machine may be slow */
#define FORGED_KIB	(1u << 20) /* 1 GiB of memory */
#define FORGED_STATUSES 7

/* The verbs in the order of the table. */
enum forged_verb {
	FORGED_INFO,
	FORGED_DUMP,
	FORGED_DECODE,
	FORGED_VERIFY,
	FORGED_EXPORT,
	FORGED_PACK,
	FORGED_REFINE,
	FORGED_SNAPSHOT,
	FORGED_RESTORE,
	FORGED_RUN,
	FORGED_VERBS
};

/* Sums over inputs, which a line of the ledger holds. */
struct forged_sums {
	uint64_t inputs;
	uint64_t accepted; /* a verb could read at least a part of the file */
	uint64_t decoded;  /* inputs of which instructions or names were also shown */
	uint64_t failed;
	uint64_t ns; /* of processor time, with children */
	uint64_t longest_ns, longest_seed;
	uint64_t most_kib, most_seed;
	uint64_t status[FORGED_VERBS][FORGED_STATUSES];
};

/* Shared memory of one worker. */
struct forged_slot {
	volatile uint64_t seed;	 /* of the input that is being used */
	volatile uint64_t busy;	 /* 0: between two inputs */
	volatile uint64_t spent; /* processor time of the process before, in ns */
	uint64_t next;		 /* the first seed that is left */
	char doing[160];	 /* the command line */
	char why[256];		 /* set by a worker that ends because an answer was wrong */
	struct forged_sums sums;
};

/* One seed in use. */
struct forged_input {
	struct forged_slot *slot;
	struct change change;
	bool show; /* print the output of the verbs */
	bool accepted, decoded;
};

struct forged_kind {
	const char *name;
	const char *what; /* for the table */
	void (*change)(struct change *c);
	/* Call the verbs on the file `in`, in the current folder. */
	void (*use)(struct forged_input *input);
};

#define FORGED_KINDS 4
extern const struct forged_kind forged_kinds[FORGED_KINDS];
extern const char *const forged_names[FORGED_VERBS];

/*
 * Run a verb in this process. @words is its command line, split at blanks. Returns the exit status,
 * and the number of bytes on standard output in *@printed. The process ends if the verb does not
 * document this status for a bad file, if an error has no message, or if control characters are
 * printed.
 */
int forged_call(struct forged_input *input, enum forged_verb verb, const char *words,
		uint64_t *printed);
/* End this process because an answer was wrong, with one line that says why. */
void forged_wrong(struct forged_slot *slot, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* The exit status of a worker that found a wrong answer. */
#define FORGED_WRONG 99

/*
 * Load the files of @dir/KIND as the originals to change. Returns their number, or 0 after a
 * message.
 */
unsigned int forged_load(const char *dir, const struct forged_kind *kind);

/*
 * In a child, in a folder of its own: use the seeds from slot->next to @end, excluding @end.
 * With @show the verbs' output is printed, and the file stays.
 */
void forged_work(struct forged_slot *slot, const struct forged_kind *kind, uint64_t end, bool show)
	__attribute__((noreturn));

/* Add the sums of @from to @to. */
void forged_add(struct forged_sums *to, const struct forged_sums *from);
/*
 * The ledger has a line for each finished batch. forged_ledger_read() adds up the lines of @kind
 * and marks their batches in @done. @done has one byte for each batch of @batch seeds from @first
 * on.
 */
void forged_ledger_read(const char *path, const char *kind, uint64_t first, uint64_t batch,
			uint8_t *done, uint64_t batches, struct forged_sums *sums);
bool forged_ledger_write(const char *path, const char *kind, uint64_t first, uint64_t count,
			 const struct forged_sums *sums);
void forged_table(const struct forged_kind *kind, const struct forged_sums *sums);

#endif /* TESTS_FORGED_FORGED_H */
