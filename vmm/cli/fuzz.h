/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to `vpt fuzz-server`: shared by fuzz*.c only. */
#ifndef VMM_CLI_FUZZ_H
#define VMM_CLI_FUZZ_H

#include <stdio.h>

#include "cli/run.h"
#include "cli/run_guest.h"
#include "core/rewind.h"
#include "decode/pt_edges.h"

#define CLI_FUZZ_FILES	   1024u
#define CLI_FUZZ_PLACES	   16u
#define CLI_FUZZ_INPUT_MAX (1u << 20)
#define CLI_FUZZ_PAGES	   (CLI_FUZZ_INPUT_MAX / (unsigned int)X86_PAGE_SIZE + 1)

struct cli_fuzz_options {
	struct cli_run_options run;
	const char *start, *until, *crash, *input, *size;
	const char *map;
	uint64_t input_max, limit;
	bool process, check;
	struct {
		const char *at[CLI_FUZZ_FILES];
		unsigned int n;
	} once;
};

/* A 64-bit register, or memory. */
struct cli_fuzz_place {
	uint64_t address;
	uint64_t *reg; /* NULL: `address` is valid */
};

/* Addresses of code where an execution ends. */
struct cli_fuzz_places {
	uint64_t at[CLI_FUZZ_PLACES];
	size_t n;
};

enum cli_fuzz_end {
	CLI_FUZZ_DONE,	 /* it reached --until, or the guest ended with status 0 */
	CLI_FUZZ_CRASH,	 /* it reached --crash, or the guest ended in another way */
	CLI_FUZZ_HANG,	 /* it ran --limit instructions */
	CLI_FUZZ_KILLED, /* the fuzzer or the user does not wait for its end */
	CLI_FUZZ_BROKEN, /* the host failed: the machine must not run again */
};

struct cli_fuzz_result {
	enum cli_fuzz_end end;
	uint64_t ip;	/* the next instruction */
	uint64_t insns; /* retired instructions, traced or not */
	size_t used;	/* bytes of the input that the guest received */
	struct decode_edges_sum sum;
	char text[200]; /* why the guest or the host ended; may be empty */
};

struct cli_fuzz {
	struct cli_run_machine m;
	struct cli_fuzz_options o;
	struct cli_run_guest guest;
	struct engine_probe probe;
	uint64_t start;
	struct cli_fuzz_places until, crash;
	struct cli_fuzz_place input, size;
	bool at_start;	       /* execution has reached `start` */
	uint64_t began;	       /* retired instructions at the start */
	enum cli_fuzz_end end; /* of the execution in progress */
	struct core_rewind *rewind;
	struct decode_edges *edges;
	struct decode_edges_config registers;
	struct tracer_live live;
	int error; /* the first -errno of `live` */
	/* The pages of the input in RAM. The first begins at input_at. */
	uint64_t page[CLI_FUZZ_PAGES];
	uint64_t input_at;
	uint64_t size_gpa;
	/* Returns true if the execution in progress must end. May be NULL. */
	bool (*killed)(void *opaque);
	void *opaque;
	struct trace_input *file; /* those of --once */
	FILE *map;		  /* NULL without --map */
};

/* fuzz_server.c: parse the command line. Returns an exit status. */
int cli_fuzz_parse(struct cli_fuzz_options *o, int argc, char **argv);

/* fuzz_places.c: the places of the options. Each returns an exit status. */
int cli_fuzz_find_places(struct cli_fuzz *f);
/* Find the RAM of the input and of its size, by the page tables at the start. */
int cli_fuzz_find_input(struct cli_fuzz *f);
/* Write the input and its size. Returns the number of bytes that the guest receives. */
size_t cli_fuzz_put_input(struct cli_fuzz *f, const uint8_t *bytes, size_t len);

/* fuzz_machine.c: make the machine, and run it to the start. Each returns an exit status. */
int cli_fuzz_open(struct cli_fuzz *f);
int cli_fuzz_reach_start(struct cli_fuzz *f);
void cli_fuzz_close(struct cli_fuzz *f);

/* fuzz_trace.c: the trace file of one input. Each returns an exit status. */
int cli_fuzz_output_open(struct cli_fuzz *f);
int cli_fuzz_output_close(struct cli_fuzz *f, int status);

/* fuzz_run.c */
/* Keep the machine at the start. Returns an exit status. */
int cli_fuzz_keep(struct cli_fuzz *f);
/* Run an input, and add its edges to @map, DECODE_EDGES_MAP bytes. */
void cli_fuzz_run(struct cli_fuzz *f, const uint8_t *bytes, size_t len, uint8_t *map,
		  struct cli_fuzz_result *result);

/*
 * fuzz_once.c: open the files of --once and --map before the sandbox, and run each file and print its
 * result. Each returns an exit status.
 */
int cli_fuzz_once_open(struct cli_fuzz *f);
void cli_fuzz_once_close(struct cli_fuzz *f);
int cli_fuzz_once(struct cli_fuzz *f);

/* fuzz_afl.c: the fork server of AFL++. */
struct cli_fuzz_afl;
/* Returns true if a fuzzer has started this process as its fork server. */
bool cli_fuzz_afl_asks(void);
/* Open what the sandbox would refuse. Returns an exit status. */
int cli_fuzz_afl_open(struct cli_fuzz_afl **afl);
/* Serve until the fuzzer ends. Returns an exit status. */
int cli_fuzz_afl_serve(struct cli_fuzz_afl *afl, struct cli_fuzz *f);
void cli_fuzz_afl_close(struct cli_fuzz_afl *afl);

#endif /* VMM_CLI_FUZZ_H */
