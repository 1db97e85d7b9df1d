/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --trace-from, --trace-until and --trace-for: a host's trace of a part of the run. An event of the
 * guest begins the trace, and another one or a count of instructions ends it. With --trace-again
 * each further event begins another part.
 */
#ifndef VMM_CLI_RUN_TRIGGER_H
#define VMM_CLI_RUN_TRIGGER_H

#include "cli/option.h"

struct cli_run_machine;
struct cli_run_options;
struct core_vcpu;

/* The longest text of a trigger. */
#define CLI_RUN_TRIGGER_TEXT 120u

enum cli_run_trigger_kind {
	CLI_RUN_TRIGGER_NONE,
	CLI_RUN_TRIGGER_SYMBOL,	 /* until cli_run_resolve() replaces the symbol by its address */
	CLI_RUN_TRIGGER_ADDRESS, /* execution reaches an instruction */
	CLI_RUN_TRIGGER_CONSOLE, /* the guest has printed a text */
	CLI_RUN_TRIGGER_MARK,	 /* the guest has made a mark with a text */
	CLI_RUN_TRIGGER_INSNS,	 /* the vCPUs have retired so many instructions */
	CLI_RUN_TRIGGER_TIME,	 /* the guest has run for so long, by the clock of its devices */
	CLI_RUN_TRIGGER_SIGNAL,	 /* vpt run has received SIGUSR2 */
};

struct cli_run_trigger {
	enum cli_run_trigger_kind kind;
	const char *text; /* a symbol, or what the guest must print or mark */
	uint64_t value;	  /* an address, a count or a time in ns */
};

/* The options. */
struct cli_run_window {
	struct cli_run_trigger from, until;
	uint64_t insns; /* --trace-for, or 0 */
	uint64_t after; /* --trace-after, or 0 */
	bool again;	/* --trace-again */
};

/* The progress of a run. */
enum cli_run_window_state {
	CLI_RUN_WINDOW_NONE,   /* there is no such option */
	CLI_RUN_WINDOW_BEFORE, /* also between two parts */
	CLI_RUN_WINDOW_DURING,
	CLI_RUN_WINDOW_ENDING, /* the event of --trace-until has happened, --trace-after counts */
	CLI_RUN_WINDOW_AFTER,
};

struct cli_run_window_run {
	enum cli_run_window_state state, wanted;
	/* the count of instructions at which --trace-for or --trace-after ends the trace */
	uint64_t ends;
	uint64_t parts;			 /* how often the trace has begun */
	char tail[CLI_RUN_TRIGGER_TEXT]; /* the last characters of the console */
};

/* Parse the options; the field is a struct cli_run_window. Return an exit status. */
cli_option_take cli_run_take_from, cli_run_take_until, cli_run_take_for;
cli_option_take cli_run_take_after;
int cli_run_check_window(const struct cli_run_options *o);

/* Prepare the run, after the symbols are resolved. Returns an exit status. */
int cli_run_window_begin(struct cli_run_machine *m);
/* The guest has printed a character or made a mark. */
void cli_run_window_printed(struct cli_run_machine *m, char c);
void cli_run_window_marked(struct cli_run_machine *m, const char *text, size_t len);
/* Execution has reached a watched instruction. Returns true if it was waited for. */
bool cli_run_window_reached(struct cli_run_machine *m, uint64_t ip);
/* The time of core_vm_alarm() has come. */
void cli_run_window_alarm(struct cli_run_machine *m);
/* Returns true if a signal is one of the events. */
bool cli_run_window_signals(const struct cli_run_options *o);
/* The signal has arrived. Call between two instructions. */
void cli_run_window_signalled(struct cli_run_machine *m);
/* Let the engine stop a vCPU at the address of the event that is waited for. Returns 0 or -errno. */
int cli_run_window_watch(struct cli_run_machine *m, struct core_vcpu *v);
/* Called between two instructions, after core_vm_ask(). Begins or ends the trace. */
void cli_run_window_change(struct cli_run_machine *m);
/* Returns the next count of instructions for cli_run_window_pause(), or UINT64_MAX. */
uint64_t cli_run_window_next(const struct cli_run_machine *m);
/* Act at a count of instructions. Returns the next such count, or UINT64_MAX. */
uint64_t cli_run_window_pause(struct cli_run_machine *m);
/* Report the parts, or an event that did not happen. Returns the exit status of the run. */
int cli_run_window_report(const struct cli_run_machine *m, int status);

#endif /* VMM_CLI_RUN_TRIGGER_H */
