/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to `vpt run`: shared by run*.c only. */
#ifndef VMM_CLI_RUN_H
#define VMM_CLI_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/option.h"
#include "cli/run_drop.h"
#include "cli/run_ring.h"
#include "cli/run_trigger.h"
#include "cli/parts.h"
#include "cli/post_mortem.h"
#include "cli/raw.h"
#include "cli/terminal.h"
#include "core/clock.h"
#include "core/hv.h"
#include "core/model.h"
#include "core/reboot.h"
#include "core/vcpu.h"
#include "cli/symbols.h"
#include "core/snapshot.h"
#include "core/vm.h"
#include "disk/disk.h"
#include "net/net.h"
#include "trace/format.h"
#include "trace/outfile.h"
#include "vpt/caps.h"

struct cli_run_machine;
struct p9_server;
struct trace_input;
struct trace_writer;

/* The value of a range option. */
struct cli_run_range {
	const char *text;
	const char *option;   /* the name of the option; NULL for --stop and --filter */
	bool stop;	      /* set for --stop, clear for --filter */
	uint64_t first, last; /* inclusive bounds, after cli_run_resolve() */
};

/* The option --usage and its suboptions. */
struct cli_run_usage {
	bool given;
	const char *detail;	  /* name of an option that requires --usage; NULL if none was
	                   	   * given */
	bool owned, system, host; /* the list has such a usage; `host`: there is a host's trace */
	struct core_hv_setup setup;
	struct vpt_caps guest_caps;
};

struct cli_run_timeout {
	uint64_t ns;	  /* 0 if there is none */
	const char *text; /* text of the option */
};

/*
 * run_trace.c: options for packets other than branches, and for processor properties that CPUID
 * lacks.
 */
struct cli_run_trace {
	const char *host;     /* name of an option for a host's trace; NULL if none was given */
	const char *of_model; /* name of an option for the processor; NULL if none was given */
	uint64_t ctl;	      /* bits of IA32_RTIT_CTL, without the fields below */
	bool has_mtc_freq, has_cyc_thresh, no_branch;
	uint64_t mtc_freq, cyc_thresh;
	struct vpt_pt_options model;
	uint64_t cbr; /* 0: the ratio of P1 */
	struct core_cbr_change change[CORE_CBR_CHANGES];
	size_t changes;
};

/* run_atom.c: options that only RTIT has. */
struct cli_run_atom {
	bool given;	   /* an option other than `trace` was given */
	const char *trace; /* value of --trace; NULL: the model's system */
	bool less_pkts;
	struct vpt_atom_options model;
};

/* run_record.c: the options that determine the guest's run, as in struct trace_run_options. */
struct cli_run_given {
	uint32_t count, len;
	bool full; /* there was no room for all of them */
	char text[16384];
};

/* run_share.c: the option --share. */
struct cli_run_share {
	bool given, writable;
	char tag[33];
	char dir[4096];
};

/* run_net.c: the option --net. */
struct cli_run_net {
	bool given;
	struct net_options options;
};

/* run_disk.c: the options --disk, in their order. */
struct cli_run_disk {
	struct disk_options options;
	char name[1024];
};

struct cli_run_disks {
	unsigned int count;
	struct cli_run_disk at[VIRTIO_DISKS];
};

struct trace_reader_input;

/* The recording of a vpt replay. The inputs and references stay with their reader. */
struct cli_run_replay {
	const char *what; /* "recording" or "snapshot", for messages */
	const struct trace_reader_input *inputs;
	size_t count;
	bool no_input;			    /* no input was attached: inputs are not looked for */
	const struct trace_guest_stop *end; /* the end of the run; NULL: do not compare it */
	const struct trace_file_ref *guest, *initrd; /* @initrd may be NULL */
	const char *guest_name, *initrd_name;	     /* as the recording names them */
	const struct trace_file_ref *disk[VIRTIO_DISKS];
	unsigned int disks;
};

struct cli_run_options {
	struct cli_run_given given;
	const struct cli_run_replay *replay; /* NULL for other verbs */
	const char *verb;		     /* verb for messages: "run" or "restore" */
	const char *guest;
	const char *engine;
	const char *apic;      /* "kvm" or "vpt"; NULL: not given */
	const char *model;     /* name for the file: "custom" with --caps */
	const char *caps_list; /* text of --caps */
	struct vpt_caps caps;
	enum tracer_trace_system system;
	enum trace_owner owner;
	bool owner_given;
	uint64_t mem;
	uint64_t cpus; /* 0: not given */
	const char *output;
	const char *initrd;
	const char *append; /* the kernel's command line; NULL: the default */
	bool no_reboot;	    /* a reset ends the run of a Linux kernel, too */
	bool oracle;
	bool oracle_blocks; /* a word per block that ran, instead of a record per instruction */
	uint64_t verify;    /* bytes of a part of --verify; 0 without it */
	bool model_given;   /* --model or --caps was given */
	bool common_cpuid;  /* CPUID has what KVM and the software CPU have */
	uint64_t seed;
	struct cli_args args;
	uint64_t max_insns;
	struct cli_run_timeout timeout;
	const char *console;	     /* "stdio", "none", or a file; NULL: standard output */
	const char *input;	     /* file with input for the guest's console, or NULL */
	const char *monitor;	     /* path of the monitor's socket, or NULL */
	const char *gdb;	     /* the port or the path where gdb connects, or NULL */
	struct gdb_session *session; /* with a client already; NULL: wait for one at `gdb` */
	bool tasks;		     /* record the tasks of a Linux guest */
	bool trace_later;	     /* a host's trace is off until the monitor starts it */
	bool realtime;		     /* HLT takes the time of the host */
	struct cli_run_share share;
	struct cli_run_net net;
	struct cli_run_disks disks;
	bool virtio_rng;
	bool virtio_console; /* the input is that of a virtio console */
	bool pci;	     /* there is a PCI bus, also without a device */
	uint64_t max_bytes;  /* limit of the trace file */
	struct cli_run_range range[VPT_MAX_RANGES];
	size_t ranges;
	struct cli_symbols symbols; /* for the ranges and triggers */
	bool symbols_elsewhere;	    /* the verb has other names that `symbols` serves */
	struct cli_run_window window;
	uint64_t ring; /* bytes of --ring, or 0 */
	uint64_t drop; /* bytes of the queue of --slow-reader=drop, or 0 */
	bool user, kernel;
	bool has_cr3;
	uint64_t cr3;
	bool no_retc, tsc;
	bool has_psb;
	uint64_t psb;
	const char *snapshot; /* path for snapshots */
	bool has_snapshot_at;
	uint64_t snapshot_at, snapshot_every; /* instructions */
	struct cli_run_usage usage;
	struct cli_run_trace trace;
	struct cli_run_atom atom;
	bool quiet, json;
};

/*
 * run_options.c: parse the command line. Returns an exit status, after one line if it is not
 * CLI_EXIT_OK.
 */
int cli_run_parse(struct cli_run_options *o, int argc, char **argv);

/*
 * run_engine.c: select the engine of --engine, or for auto the best one on this machine, and return
 * the result of its probe. Returns an exit status.
 */
int cli_run_engine(const struct cli_run_options *o, const struct engine **engine,
		   const struct engine **traced, struct engine_probe *probe);
/*
 * Set the other engine that may resume a snapshot of the machine, if the options ask for one, and
 * return the result of its probe. Returns an exit status.
 */
int cli_run_also(const struct cli_run_options *o, struct core_vm_config *config,
		 struct engine_probe *probe);
/* Select the local APICs of the machine, after cli_run_also(). Returns an exit status. */
int cli_run_apic(const struct cli_run_options *o, struct core_vm_config *config);
/* The value of --engine for two engines: *traced is the one while a trace is on, else NULL. */
#define CLI_RUN_PAIR "kvm,soft"

/* Use the PT of the engine's hardware, if the engine has PT and the options want PT. */
int cli_run_take_hardware(struct cli_run_options *o, const struct engine *engine,
			  const struct engine_probe *probe);

/* run_range.c: compute the addresses of the ranges from the ELF file's symbols. */
int cli_run_resolve(struct cli_run_options *o, const void *elf, size_t len);

/* run_host.c: start a host-owned trace before the first instruction. */
int cli_run_start_host(const struct cli_run_options *o, struct core_vcpu *v);
/* Compute the same registers, without a write to a processor. Returns an exit status. */
int cli_run_host_registers(const struct cli_run_options *o, const struct vpt_caps *caps,
			   struct vpt_rtit *rtit);
/* Return the capabilities of the host's own PT: the model's, plus the trace transport. */
struct vpt_caps cli_run_host_caps(const struct cli_run_options *o);

/*
 * run_usage.c: parsers whose field is a struct cli_run_usage, the check of the options together,
 * and the setup of the vCPU after core_vcpu_record(). Each returns an exit status.
 */
extern const char *const cli_run_conceals[], *const cli_run_usages[];
cli_option_take cli_run_take_usage, cli_run_take_conceal, cli_run_take_trap, cli_run_take_controls;
cli_option_take cli_run_take_scale;
void cli_run_init_usage(struct cli_run_usage *u);
int cli_run_check_usage(struct cli_run_options *o);
int cli_run_start_usage(const struct cli_run_options *o, struct core_vcpu *v);

/*
 * run_trace.c: parsers whose field is a struct cli_run_trace, and the check of its options against
 * the model. The other functions return the bits of CTL with BranchEn, and set up the vCPU after
 * core_vcpu_record(). Each returns an exit status.
 */
cli_option_take cli_run_take_mtc, cli_run_take_cyc, cli_run_take_ptw, cli_run_take_buffer;
cli_option_take cli_run_take_cyc_bits, cli_run_take_cbr;
int cli_run_check_trace(const struct cli_run_options *o);
uint64_t cli_run_trace_ctl(const struct cli_run_options *o);
int cli_run_set_model(const struct cli_run_options *o, struct core_vcpu *v);

/*
 * run_atom.c: parsers whose field is a struct cli_run_atom. The other functions select the system
 * from --trace and the model, and refuse options that do not go with RTIT. They compute the
 * registers of a host's trace that begins at `ip`, and start it before the first instruction. Each
 * returns an exit status.
 */
cli_option_take cli_run_take_errata, cli_run_take_clear_lag;
int cli_run_choose_system(struct cli_run_options *o);
int cli_run_check_atom(struct cli_run_options *o);
struct vpt_atom_regs cli_run_host_atom(const struct cli_run_options *o, uint64_t ip);
int cli_run_start_atom(const struct cli_run_options *o, struct core_vcpu *v);

/* run_common.c: write the origin of the trace and the guest's RAM. Returns 0 or -errno. */
int cli_run_write_origin(const struct cli_run_machine *m, struct trace_writer *writer);

/* run_root.c: write the symbols of the VMM model. Returns 0 or -errno. */
int cli_run_write_root(struct trace_writer *writer);

/* run_part.c: the part of one vCPU that is being recorded. */
struct cli_run_part {
	struct trace_writer *writer;
	int fd;
	uint64_t least;		 /* a part with fewer bytes does not end */
	uint64_t retired, insns; /* the counts at the last stop in search of a PSB */
	uint32_t tries;		 /* the number of such stops */
};

/* run_verify.c: the verification of a run that is not stored. */
struct cli_run_verify {
	struct cli_parts *parts;  /* NULL without --verify */
	struct cli_parts_sum sum; /* the result, after cli_run_verify_end() */
	int error;		  /* 0, or -errno if a part could not be verified */
	/* Write what precedes the trace in a part. Returns 0 or -errno. */
	int (*head)(struct cli_run_machine *m, struct trace_writer *writer);
	struct cli_run_part part[DEV_PLATFORM_CPUS];
};

cli_option_take cli_run_take_verify;
int cli_run_check_verify(const struct cli_run_options *o);
/* Start the other process, before the VM exists. Returns an exit status. */
int cli_run_verify_start(struct cli_run_machine *m);
/* Begin the first part of each vCPU. Returns an exit status. */
int cli_run_verify_open(struct cli_run_machine *m);
/* The hook `visit` of the VM, in run_part.c. */
uint64_t cli_run_verify_visit(struct cli_run_machine *m, struct core_vcpu *v);
/* Close the last parts, and wait for all results. @ran: the guest ran. */
void cli_run_verify_end(struct cli_run_machine *m, bool ran);
void cli_run_verify_json(const struct cli_run_verify *r);
/* Print the result. @status: the status so far. Returns the exit status of the run. */
int cli_run_verify_report(const struct cli_run_machine *m, int status);

/* run_report.c: progress, and the report at the end. */
struct cli_run_report {
	const struct cli_run_options *options;
	const struct core_vm *vm;
	const struct trace_outfile *output;  /* the trace file */
	struct trace_post_mortem pm;	     /* valid once the guest has stopped */
	struct cli_names names;		     /* may be empty */
	const struct cli_run_verify *verify; /* the result of --verify; NULL without it */
	uint64_t began, shown;		     /* ns */
	uint64_t file_bytes;		     /* size of a regular trace file that is complete */
	bool terminal, drawn;
};

void cli_run_report_begin(struct cli_run_report *r, const struct cli_run_options *o,
			  const struct core_vm *vm, const struct trace_outfile *output);
void cli_run_report_tick(struct cli_run_report *r);
int cli_run_report_end(struct cli_run_report *r);

/* run.c: run a guest with parsed options. Returns an exit status. */
int cli_run_guest_of(const struct cli_run_options *o);

/* run_record.c: note an option of the command line. */
struct cli_run_guest;
void cli_run_see(const struct cli_given *g);
/* Returns true if @text is an option of vpt run that a replay repeats, with its full name. */
bool cli_run_replays(const char *text);
/* The text among the recorded options that says that no input was attached. */
#define CLI_RUN_NO_INPUT "--input=none"
/* Returns true if input can reach the guest while it runs. */
bool cli_run_has_live_input(const struct cli_run_options *o);
/* Return the identities of the files, without names. */
struct trace_file_ref cli_run_guest_ref(const struct cli_run_guest *guest);
struct trace_file_ref cli_run_initrd_ref(const struct cli_run_guest *guest);
/* Check that the files are those of the recording or of the snapshot. Returns an exit status. */
int cli_run_check_replay(const struct cli_run_options *o, const struct cli_run_guest *guest);
/* Write the options and the files to the trace file, for a replay. Returns 0 or -errno. */
int cli_run_record(const struct cli_run_options *o, const struct cli_run_guest *guest,
		   struct trace_writer *writer);

/* run_share.c: parse --share, and open its folder before the sandbox. Each returns an exit status. */
cli_option_take cli_run_take_share;
int cli_run_share_open(struct p9_server **server, const struct cli_run_options *o);

/* run_input.c: input for the guest's console. */
enum cli_run_input_kind { CLI_RUN_INPUT_PIPE, CLI_RUN_INPUT_FILE, CLI_RUN_INPUT_TERMINAL };

struct cli_run_input {
	int fd; /* -1 if there is no input */
	enum cli_run_input_kind kind;
	bool ended, escape; /* the last byte of a terminal was Ctrl-A */
	bool quit;	    /* Ctrl-A x was typed */
	int other;	    /* another descriptor that ends a wait, or -1 */
	uint64_t looked;    /* ns, when a pipe or a terminal was last polled */
	uint8_t bytes[4096];
	size_t first, count;
	struct cli_raw raw;
};

/* Return the file of --console, or NULL if it names none. */
const char *cli_run_console_file(const struct cli_run_options *o);
bool cli_run_has_input(const struct cli_run_options *o);
/*
 * Returns the name of an option that connects the guest to the outside, or NULL if there is none. On
 * the software CPU such a run is the same each time, or is recorded.
 */
const char *cli_run_outside(const struct cli_run_options *o);
/* The descriptor that has more input for the guest, or -1. */
int cli_run_input_fd(const struct cli_run_input *in);
/* Open the input, and make a terminal raw. Call it before the sandbox. Returns an exit status. */
int cli_run_input_open(struct cli_run_input *in, const struct cli_run_options *o);
void cli_run_input_close(struct cli_run_input *in);
/* Read what was typed, so that Ctrl-A works if the guest does not read. */
void cli_run_input_poll(struct cli_run_input *in);
/* The hooks input_wait() and input() of the VM. */
enum core_input_ready cli_run_input_wait(struct cli_run_input *in, uint64_t ns, bool wants);
/* Add text to the input. Returns false if there is no room. */
bool cli_run_input_type(struct cli_run_input *in, const char *text, size_t len);
size_t cli_run_input_take(struct cli_run_input *in, uint8_t *bytes, size_t most);
/* Skip bytes of a file that the guest received before it was restored. */
void cli_run_input_skip(struct cli_run_input *in, uint64_t count);

/* run_net.c: parse --net, and create the network before the sandbox. Each returns an exit status. */
cli_option_take cli_run_take_net;
int cli_run_net_open(struct cli_run_machine *m);
/* The hook frame() of the VM. */
size_t cli_run_net_frame(struct cli_run_machine *m, uint8_t *bytes, size_t room);
/* Wait up to @ns for the network or the other inputs. */
void cli_run_net_wait(struct cli_run_machine *m, uint64_t ns);

/*
 * run_watch.c: watch the sources of input of a machine that does not count instructions. Call
 * cli_run_watch() when all input has been taken, or cannot be taken yet.
 */
struct cli_run_watch;

void cli_run_watch_begin(struct cli_run_machine *m);
void cli_run_watch_end(struct cli_run_machine *m);
void cli_run_watch(struct cli_run_machine *m);

/* run_monitor.c: the option --monitor. */
struct cli_run_monitor;

/* Listen, before the sandbox. Returns an exit status. */
int cli_run_monitor_open(struct cli_run_machine *m);
void cli_run_monitor_close(struct cli_run_machine *m);
/* Answer what does not change the run, and keep a command that does. Call between instructions. */
void cli_run_monitor_poll(struct cli_run_machine *m);
/* Returns true if cli_run_monitor_poll() is to be called. */
bool cli_run_monitor_is_due(struct cli_run_machine *m);
/* The descriptor that ends a wait, or -1. */
int cli_run_monitor_fd(const struct cli_run_machine *m);
/* The hooks command() and obey() of the VM. */
size_t cli_run_monitor_command(struct cli_run_machine *m, uint8_t *bytes, size_t room);
bool cli_run_monitor_obey(struct cli_run_machine *m, const uint8_t *bytes, size_t len);
/* A snapshot was written, or failed. */
void cli_run_monitor_snapped(struct cli_run_machine *m);
/* No snapshot could be made yet. Returns true if the monitor does not wait any longer. */
bool cli_run_monitor_gives_up(struct cli_run_machine *m);
/* The hook asked_vcpu() of the VM. */
void cli_run_monitor_asked(struct cli_run_machine *m, struct core_vcpu *v);

/*
 * run_gdb.c: the option --gdb. cli_run_gdb_check() is for recordings. It refuses options that gdb
 * cannot have, and files that differ. cli_run_gdb_open() waits for gdb, before the sandbox. Both
 * return an exit status.
 *
 * cli_run_gdb_begin() returns false in the process that has only waited, when the run is over. With a
 * trace file this process repeats the run after the session, without gdb, and writes the file.
 */
int cli_run_gdb_check(const struct cli_run_options *o);
int cli_run_gdb_open(struct cli_run_machine *m);
bool cli_run_gdb_begin(struct cli_run_machine *m);
/* The hook pause() of the VM, and the console: returns true if a character is to be printed. */
uint64_t cli_run_gdb_pause(struct cli_run_machine *m);
bool cli_run_gdb_prints(struct cli_run_machine *m);
void cli_run_gdb_close(struct cli_run_machine *m);

/*
 * run_change.c: start or stop traces for the monitor. cli_run_change_begin() lets each vCPU of the
 * request call cli_run_change_vcpu(), by the hook asked_vcpu() of the VM. Returns false if the
 * request is wrong, with m->change.why.
 */
struct cli_monitor_request;
bool cli_run_change_begin(struct cli_run_machine *m, const struct cli_monitor_request *r);
/*
 * The same for all vCPUs, at an event of --trace-from or its like (run_trigger.c). Call it with threads
 * only, and only if m->change.left is 0. The VM stops if a trace cannot begin.
 */
void cli_run_change_window(struct cli_run_machine *m, bool starts);
/* Returns true if this was the last vCPU. m->change.failed is set if no trace has begun. */
bool cli_run_change_vcpu(struct cli_run_machine *m, struct core_vcpu *v);
/* Take the options of a trace-start. */
void cli_run_change_options(struct cli_run_options *o, const struct cli_monitor_request *r);
/* Returns true if the vCPU has a host's trace, or one that begins after a reset. */
bool cli_run_change_is_on(const struct cli_run_machine *m, const struct core_vcpu *v);

/* run_loop.c: runs a prepared machine until its guest ends. */
struct cli_run_machine {
	struct cli_run_options o;
	struct core_vm vm;
	struct trace_outfile output; /* the trace file, if there is one */
	/* NULL without a trace file, and with --verify. With --ring it is first that of the ring. */
	struct trace_writer *writer;
	struct trace_file_info info; /* INFO block of the trace file */
	struct cli_run_report report;
	struct cli_run_verify verify;
	struct cli_run_window_run window;
	struct cli_run_ring ring;
	struct cli_run_drop drop;
	uint64_t snapshots;	       /* taken */
	uint64_t snapshot_next;	       /* the count of instructions of the next one */
	bool at_reached;	       /* --snapshot-at */
	const struct trace_input *elf; /* file of the guest; NULL if it is not available */
	FILE *console;		       /* console of the guest */
	struct cli_terminal terminal;  /* filter before the console */
	bool silent;		       /* the console is dropped */
	struct cli_run_input input;
	struct cli_run_monitor *monitor; /* NULL if there is none */
	struct gdb_session *gdb;	 /* NULL if there is none */
	struct gdb_session *repeats;	 /* the session whose run this process repeats, or NULL */
	struct cli_run_tasks *tasks;	 /* NULL without --tasks */
	bool gdb_waited; /* this process has waited for the one that ran the machine */
	int gdb_status;	 /* the exit status of that process */
	/* A change of traces by the monitor (run_change.c). */
	struct cli_run_change {
		uint64_t chosen, left; /* vCPUs as bits; `left` still have to make the change */
		bool starts, failed;
		bool of_window; /* it is of --trace-from or its like, and not of the monitor */
		char why[256];	/* the reason if it failed */
	} change;
	uint64_t untraced; /* vCPUs as bits: the monitor has ended their traces, and no others */
	struct cli_run_watch *watch; /* NULL if nobody watches the input */
	struct net *net;	     /* NULL if there is no network */
	uint64_t net_looked;	     /* ns of the last look at it */
	struct p9_server *share;     /* NULL if there is no shared folder */
	struct disk *disk[VIRTIO_DISKS];
	struct trace_file_ref disk_ref[VIRTIO_DISKS]; /* their identities: size and time */
	bool disk_failed;	   /* an access of the host failed, and the user has been told */
	struct core_reboot reboot; /* zeroed if a reset ends the run */
	struct cli_run_start {
		uint8_t *bytes;
		size_t len;
	} start; /* the guest's start in a snapshot (run_start.h); zeroed if a reset ends the run */
	/*
	 * Open the guest before a reset, if that is necessary, so that an error ends the run at the
	 * reset. Load the guest and start its trace after a reset. Both return an exit status.
	 */
	int (*reopen)(struct cli_run_machine *m);
	int (*restart)(struct cli_run_machine *m);
	int restarted; /* the exit status of the last restart */
};

/*
 * run_disk.c: open the images before the sandbox, and add all virtio devices to the VM. Each returns
 * an exit status.
 */
cli_option_take cli_run_take_disk;
int cli_run_disks_open(struct cli_run_machine *m);
int cli_run_add_devices(struct cli_run_machine *m);
void cli_run_disks_close(struct cli_run_machine *m);
/* Write the names and identities of the images to the trace file. Returns 0 or -errno. */
int cli_run_disks_record(const struct cli_run_machine *m, struct trace_writer *writer);
/* Returns true if the guest writes to an image. */
bool cli_run_disks_written(const struct cli_run_options *o);
/* For a snapshot: describe the disks and return their number, and save the contents of one. */
unsigned int cli_run_disks_describe(const struct cli_run_machine *m, struct core_snap_disk *to);
int cli_run_disk_save(void *machine, unsigned int i, core_snap_put *put, void *to);
/* Take the disks of a snapshot as options, and load their contents. Each returns an exit status. */
int cli_run_disks_take(struct cli_run_options *o, const struct core_snapshot *s, const char *path);
int cli_run_disks_load(struct cli_run_machine *m, const struct core_snapshot *s, const char *path);
/* Access a disk for the guest. Returns 0 or -errno. */
int cli_run_disk_access(struct cli_run_machine *m, unsigned int number,
			enum virtio_disk_access access, uint64_t offset, void *data, size_t bytes);

struct core_vm_hooks cli_run_hooks(struct cli_run_machine *m);
/* Check the requested snapshots against the machine. Returns an exit status. */
int cli_run_check_snapshots(const struct cli_run_machine *m);
/* Check the options for input and devices. Returns an exit status. */
int cli_run_check_input(const struct cli_run_machine *m);
/* Returns true if the engine counts instructions all the time, so that input can be recorded. */
bool cli_run_counts(const struct core_vm *vm);
/* If the trace goes to a pipe whose reader ends, let the run end with an error, and not be killed. */
void cli_run_keep_pipe(const struct cli_run_machine *m);
/*
 * Open the guest's console, after all checks. The console is the file of --console. It is standard
 * error if standard output is used for --json or for the trace. Output to a terminal is filtered, unless
 * --console is given. Returns an exit status.
 */
int cli_run_open_console(struct cli_run_machine *m);
void cli_run_loop(struct cli_run_machine *m);
/* Write a snapshot now. Returns false if the run is to end and the snapshot was given up. */
bool cli_run_take_snapshot(struct cli_run_machine *m);
/* Let a snapshot be written as on SIGUSR1. */
void cli_run_ask_snapshot(void);
/* End the run as SIGINT does. */
void cli_run_quit(void);
/* Close, report and destroy. `status` is the status so far. */
int cli_run_finish(struct cli_run_machine *m, int status);

/*
 * run_common.c: options that `vpt restore` shares. AT(MEMBER) is the field of a row for MEMBER of a
 * struct cli_run_options, and GIVEN(MEMBER) its bool.
 */
cli_option_take cli_run_take_timeout, cli_run_take_max_bytes;
/* clang-format off */
#define CLI_RUN_COMMON_ROWS(AT, GIVEN)                                                             \
	{0, "max-insns", "=N", "stop after N traced instructions", cli_take_number, AT(max_insns)}, \
	{0, "timeout", "=S", "stop after S seconds, such as 10 or 0.5", cli_run_take_timeout,       \
	 AT(timeout)},                                                                             \
	{0, "console", "=FILE",                                                                    \
	 "write the guest's console to FILE; stdio: standard output, with standard input as its "  \
	 "input; none: drop it",                                                                   \
	 cli_take_text, AT(console)},                                                              \
	{0, "input", "=FILE", "input for the guest's console from FILE; -: standard input",        \
	 cli_take_text, AT(input)},                                                                \
	{0, "realtime", NULL,                                                                      \
	 "let HLT take the time of the host; default if the input is a terminal", cli_take_flag,   \
	 AT(realtime)},                                                                            \
	{0, "max-bytes", "=SIZE", "stop when the trace file has SIZE bytes (default 4G)",           \
	 cli_run_take_max_bytes, AT(max_bytes)},                                                   \
	{0, "snapshot", "=FILE", "write a snapshot to FILE on SIGUSR1, in place of an earlier one",        \
	 cli_take_text, AT(snapshot)},                                                             \
	{0, "snapshot-at", "=N", "write it after N instructions, and stop there", cli_take_number,  \
	 AT(snapshot_at), GIVEN(has_snapshot_at)},                                                 \
	{0, "snapshot-every", "=N", "write it after every N instructions", cli_take_number, \
	 AT(snapshot_every)},                                                                      \
	{'q', "quiet", NULL, "print no progress and no summary", cli_take_flag, AT(quiet)},                 \
	{'j', "json", NULL, "print the summary as one line of JSON on standard output", cli_take_flag,   \
	 AT(json)},                                                                                \
	CLI_OPTION_HELP
/* clang-format on */

/* --max-bytes unless it is given, and its least value. */
#define CLI_RUN_MAX_BYTES     (4ull << 30)
#define CLI_RUN_MAX_BYTES_MIN (1ull << 20)
/*
 * Set the limit of --max-bytes for m->writer. Returns an exit status, because the file may already
 * be larger.
 */
int cli_run_limit(const struct cli_run_machine *m);

/*
 * Refuse snapshots without a path, and outputs that are inputs: @input with the name @what, the
 * initrd, or each other. Returns an exit status.
 */
int cli_run_check_files(const struct cli_run_options *o, const char *what, const char *input);

#endif /* VMM_CLI_RUN_H */
