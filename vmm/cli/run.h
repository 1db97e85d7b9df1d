/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of `vpt run`: shared by run*.c and nothing else. */
#ifndef VMM_CLI_RUN_H
#define VMM_CLI_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/option.h"
#include "cli/post_mortem.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/hv.h"
#include "core/model.h"
#include "core/vcpu.h"
#include "core/vm.h"
#include "trace/format.h"
#include "trace/outfile.h"
#include "vpt/caps.h"

struct trace_input;
struct trace_writer;

/* A range option as it was given. */
struct cli_run_range {
	const char *text;
	bool stop;	      /* --stop, else --filter */
	uint64_t first, last; /* both inside, after cli_run_resolve() */
};

/* --usage and what belongs to it. */
struct cli_run_usage {
	bool given;
	const char *detail;	  /* an option that is for it only; NULL: none was given */
	bool owned, system, host; /* of the usages: such are there; for a host's trace */
	struct core_hv_setup setup;
	struct vpt_caps guest_caps;
};

struct cli_run_timeout {
	uint64_t ns;	  /* 0: none */
	const char *text; /* as it was given */
};

/* run_trace.c: beside branches; and the processor's that no CPUID tells. */
struct cli_run_trace {
	const char *host;     /* an option of a host's trace; NULL: none was given */
	const char *of_model; /* one of the processor's; NULL */
	uint64_t ctl;	      /* bits of IA32_RTIT_CTL, without the fields below */
	bool has_mtc_freq, has_cyc_thresh, no_branch;
	uint64_t mtc_freq, cyc_thresh;
	struct vpt_pt_options model;
	uint64_t cbr; /* 0: that of P1 */
	struct core_cbr_change change[CORE_CBR_CHANGES];
	size_t changes;
};

/* run_atom.c: what RTIT alone has. */
struct cli_run_atom {
	bool given;	   /* some of this but `trace` */
	const char *trace; /* --trace, NULL: as the model has it */
	bool less_pkts;
	struct vpt_atom_options model;
};

struct cli_run_options {
	const char *verb; /* for messages: "run" or "restore" */
	const char *guest;
	const char *engine;
	const char *model;     /* name for the file: "custom" with --caps */
	const char *caps_list; /* --caps as it was given */
	struct vpt_caps caps;
	enum tracer_trace_system system;
	enum trace_owner owner;
	bool owner_given;
	uint64_t mem;
	const char *output;
	const char *initrd;
	bool oracle;
	bool model_given; /* --model or --caps */
	uint64_t seed;
	struct cli_args args;
	uint64_t max_insns;
	struct cli_run_timeout timeout;
	const char *console; /* where the guest's console goes; NULL: standard output */
	uint64_t max_bytes;  /* of the trace file */
	struct cli_run_range range[VPT_MAX_RANGES];
	size_t ranges;
	bool user, kernel;
	bool has_cr3;
	uint64_t cr3;
	bool no_retc, tsc;
	bool has_psb;
	uint64_t psb;
	const char *snapshot; /* where it goes */
	bool has_snapshot_at;
	uint64_t snapshot_at, snapshot_every; /* instructions */
	struct cli_run_usage usage;
	struct cli_run_trace trace;
	struct cli_run_atom atom;
	bool quiet, json;
};

/* run_options.c: an exit status; a complaint has been made if it is not 0. */
int cli_run_parse(struct cli_run_options *o, int argc, char **argv);

/* run_engine.c: the engine that --engine names or, for auto, that serves best here, and
 * what it found on this machine. An exit status. */
int cli_run_engine(const struct cli_run_options *o, const struct engine **engine,
		   struct engine_probe *probe);

/* The engine has PT of its own, which is then what there is of PT, if any is wanted. */
int cli_run_take_hardware(struct cli_run_options *o, const struct engine *engine,
			  const struct engine_probe *probe);

/* run_range.c: addresses of the ranges, from the ELF file's symbols. */
int cli_run_resolve(struct cli_run_options *o, const void *elf, size_t len);

/* run_host.c: start a host-owned trace before the first instruction. */
int cli_run_start_host(const struct cli_run_options *o, struct core_vcpu *v);
/* The same registers, not written to any processor. An exit status. */
int cli_run_host_registers(const struct cli_run_options *o, const struct vpt_caps *caps,
			   struct vpt_rtit *rtit);
/* The capabilities of the host's own PT: the model's, and the trace transport. */
struct vpt_caps cli_run_host_caps(const struct cli_run_options *o);

/* run_usage.c: parsers, of which the field is a struct cli_run_usage; what the options are
 * together; and the vCPU for it, after core_vcpu_record(). Exit statuses. */
extern const char *const cli_run_conceals[], *const cli_run_usages[];
cli_option_take cli_run_take_usage, cli_run_take_conceal, cli_run_take_trap, cli_run_take_controls;
cli_option_take cli_run_take_scale;
void cli_run_init_usage(struct cli_run_usage *u);
int cli_run_check_usage(struct cli_run_options *o);
int cli_run_start_usage(const struct cli_run_options *o, struct core_vcpu *v);

/* run_trace.c: parsers, of which the field is a struct cli_run_trace; the model has what was given;
 * the bits of CTL, with BranchEn; and the vCPU's part, after core_vcpu_record(). Exit statuses. */
cli_option_take cli_run_take_mtc, cli_run_take_cyc, cli_run_take_ptw, cli_run_take_buffer;
cli_option_take cli_run_take_cyc_bits, cli_run_take_cbr;
int cli_run_check_trace(const struct cli_run_options *o);
uint64_t cli_run_trace_ctl(const struct cli_run_options *o);
int cli_run_set_model(const struct cli_run_options *o, struct core_vcpu *v);

/* run_atom.c: parsers, of which the field is a struct cli_run_atom; which system it is, by --trace
 * and the model; what does not go with RTIT; the registers of a host's trace that begins at `ip`,
 * but for what turns it on; and that trace, before the first instruction. Exit statuses. */
cli_option_take cli_run_take_errata, cli_run_take_clear_lag;
int cli_run_choose_system(struct cli_run_options *o);
int cli_run_check_atom(struct cli_run_options *o);
struct vpt_atom_regs cli_run_host_atom(const struct cli_run_options *o, uint64_t ip);
int cli_run_start_atom(const struct cli_run_options *o, struct core_vcpu *v);

/* run_root.c: symbols of the VMM's side, which is a model. 0 or -errno. */
int cli_run_write_root(struct trace_writer *writer);

/* run_report.c: progress, and what there is to say at the end. */
struct cli_run_report {
	const struct cli_run_options *options;
	const struct core_vm *vm;
	const struct trace_outfile *output; /* of the trace */
	struct trace_post_mortem pm;	    /* valid once the guest has stopped */
	struct cli_names names;		    /* may be empty */
	uint64_t began, shown;		    /* ns */
	uint64_t file_bytes;		    /* of a regular trace file, once it is complete */
	bool terminal, drawn;
};

void cli_run_report_begin(struct cli_run_report *r, const struct cli_run_options *o,
			  const struct core_vm *vm, const struct trace_outfile *output);
void cli_run_report_tick(struct cli_run_report *r);
int cli_run_report_end(struct cli_run_report *r);

/* run_loop.c: a machine that is ready, until its guest ends. */
struct cli_run_machine {
	struct cli_run_options o;
	struct core_vm vm;
	struct trace_outfile output; /* the trace file, if there is one */
	struct trace_writer *writer; /* NULL: no trace file */
	struct trace_file_info info; /* of the trace file */
	struct cli_run_report report;
	uint64_t snapshots;	       /* taken */
	bool at_reached;	       /* --snapshot-at */
	const struct trace_input *elf; /* the guest's file; NULL: not at hand */
	FILE *console;		       /* of the guest */
	struct cli_terminal terminal;  /* the way to it */
};

struct core_vm_hooks cli_run_hooks(struct cli_run_machine *m);
/* What is asked for, of a machine that there is now. An exit status. */
int cli_run_check_snapshots(const struct cli_run_machine *m);
/*
 * Open the guest's console, after all checks: the file of --console, or standard error with
 * --json, which has standard output for itself. Only what --console names is not filtered if it is
 * a terminal. An exit status.
 */
int cli_run_open_console(struct cli_run_machine *m);
void cli_run_loop(struct cli_run_machine *m);
/* Close, report, destroy; `status` of what was done until now. */
int cli_run_finish(struct cli_run_machine *m, int status);

/*
 * run_common.c: what `vpt restore` takes as well. AT(MEMBER) is the field of a row that is
 * MEMBER of a struct cli_run_options, GIVEN(MEMBER) its bool.
 */
cli_option_take cli_run_take_timeout, cli_run_take_max_bytes;
/* clang-format off */
#define CLI_RUN_COMMON_ROWS(AT, GIVEN)                                                             \
	{0, "max-insns", "=N", "end after N traced instructions", cli_take_number, AT(max_insns)}, \
	{0, "timeout", "=S", "end after S seconds, such as 10 or 0.5", cli_run_take_timeout,       \
	 AT(timeout)},                                                                             \
	{0, "console", "=FILE", "the guest's console goes to FILE, not to standard output",        \
	 cli_take_text, AT(console)},                                                              \
	{0, "max-bytes", "=SIZE", "end when the trace file has SIZE bytes (default 4G)",           \
	 cli_run_take_max_bytes, AT(max_bytes)},                                                   \
	{0, "snapshot", "=FILE", "write a snapshot to FILE on SIGUSR1; the last one stays",        \
	 cli_take_text, AT(snapshot)},                                                             \
	{0, "snapshot-at", "=N", "write it after N instructions, and end there", cli_take_number,  \
	 AT(snapshot_at), GIVEN(has_snapshot_at)},                                                 \
	{0, "snapshot-every", "=N", "write it whenever N more have been executed", cli_take_number, \
	 AT(snapshot_every)},                                                                      \
	{'q', "quiet", NULL, "no progress, no summary", cli_take_flag, AT(quiet)},                 \
	{'j', "json", NULL, "the summary as one line of JSON on standard output", cli_take_flag,   \
	 AT(json)},                                                                                \
	CLI_OPTION_HELP
/* clang-format on */

/* --max-bytes unless it is given, and its least value. */
#define CLI_RUN_MAX_BYTES     (4ull << 30)
#define CLI_RUN_MAX_BYTES_MIN (1ull << 20)
/* Put --max-bytes into force for m->writer. An exit status: the file may be larger already. */
int cli_run_limit(const struct cli_run_machine *m);

/*
 * Refuse snapshots without a place for them, and outputs that are inputs: @input, whose name is
 * @what, the initrd, or each other. An exit status.
 */
int cli_run_check_files(const struct cli_run_options *o, const char *what, const char *input);

#endif /* VMM_CLI_RUN_H */
