// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a prepared machine until its guest ends, and handles signals, progress and snapshots. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/run.h"
#include "cli/run_start.h"
#include "cli/run_tasks.h"
#include "core/irq.h"
#include "core/post_mortem.h"
#include "core/run.h"
#include "core/snapshot.h"
#include "core/threads.h"
#include "core/vcpu.h"
#include "debug/symbol.h"
#include "gdb/session.h"
#include "p9/p9.h"
#include "trace/input.h"

/* Interval of the timer that repeats the end, because a system call may just have begun to wait. */
#define AGAIN_NS 20000000
/* The time to the next try of a snapshot. */
#define AGAIN_SOON_NS 1000000

/* The recorded command that is the event signal:USR2. */
static const char signal_command[] = "signal:USR2";

static volatile sig_atomic_t interrupted, asked, ending, signalled;
/* The VM whose vCPUs the handlers interrupt; NULL if no guest runs. */
static struct core_vm *volatile running;
static timer_t timer;
static bool has_timer;

static void set_timer(int flags, uint64_t ns)
{
	const struct itimerspec when = {
		.it_value = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)},
		.it_interval = {0, AGAIN_NS},
	};

	if (has_timer)
		(void)timer_settime(timer, flags, &when, NULL);
}

static void end_soon(void)
{
	struct core_vm *vm = running;
	unsigned int i;

	ending = 1;
	for (i = 0; vm && i < vm->cpus; i++)
		core_vcpu_urge(vm->cpu[i]);
	if (vm)
		core_threads_urge(vm);
}

/* Handle the end of --timeout, and the repetition after a signal. */
static void on_timer(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == SI_TIMER)
		end_soon();
}

static void on_signal(int sig)
{
	int error = errno;

	if (sig == SIGUSR1) {
		asked = 1;
		return;
	}
	if (sig == SIGUSR2) {
		signalled = 1;
		return;
	}
	interrupted = 1;
	end_soon();
	set_timer(0, AGAIN_NS);
	errno = error;
}

/*
 * Print a character of the console. Once the run is ending, drop it, because a console that nobody
 * reads would block.
 */
static void console(void *opaque, char c)
{
	struct cli_run_machine *m = opaque;

	if (!cli_run_gdb_prints(m))
		return;
	cli_run_window_printed(m, c);
	/* Ignore the error of a write that the end interrupted. */
	if (!ending && !m->silent && !cli_terminal_put(&m->terminal, (uint8_t)c) && ending)
		clearerr(m->console);
}

/* Flush the console while the guest runs, and likewise ignore an interrupted write. */
static void flush_console(const struct cli_run_machine *m)
{
	if (fflush(m->console) && ending)
		clearerr(m->console);
}

static void give_up_console(FILE *to)
{
	struct pollfd out = {.fd = fileno(to), .events = POLLOUT};

	if (!poll(&out, 1, 0))
		__fpurge(to);
}

/*
 * Flush the console, because its output is not repeated when the guest is restored. If the engine
 * cannot stop here, try again soon.
 */
bool cli_run_take_snapshot(struct cli_run_machine *m)
{
	struct core_snap_disk disks[VIRTIO_DISKS];
	const struct core_snap_origin origin = {
		.file = &m->info,
		.guest = m->o.guest,
		.writer = m->writer,
		.give_up = &m->vm.vcpu->urged,
		.devices = (m->o.virtio_console ? CORE_SNAP_CONSOLE : 0u) |
			   (m->o.virtio_rng ? CORE_SNAP_RANDOM : 0u) |
			   (m->o.pci ? CORE_SNAP_PCI : 0u),
		.start = m->start.bytes,
		.start_bytes = m->start.len,
		.disk = disks,
		.disks = cli_run_disks_describe(m, disks),
		.save_disk = cli_run_disk_save,
		.opaque = m,
	};
	char why[sizeof(m->vm.stop.text)];
	int error;

	fflush(m->console);
	error = core_snapshot_save(m->o.snapshot, &m->vm, &origin, why, sizeof(why));
	if (error == -EAGAIN) {
		asked = 1;
		/* The guest must run in between, or the engine stays at this place. */
		m->vm.vcpu->next_tick = core_now() + AGAIN_SOON_NS;
	}
	if (error == -ECANCELED || error == -EAGAIN)
		return false;
	if (error && !m->vm.stop.kind) {
		m->vm.stop.error = error;
		core_vm_stop(&m->vm, TRACE_STOP_SNAPSHOT, "%s", why);
		return true;
	}
	m->snapshots++;
	if (!m->o.quiet && m->vm.engine->can & ENGINE_COUNTS)
		fprintf(stderr, "vpt %s: snapshot at %" PRIu64 " instructions: %s\n", m->o.verb,
			core_vm_retired(&m->vm), m->o.snapshot);
	else if (!m->o.quiet)
		fprintf(stderr, "vpt %s: snapshot: %s\n", m->o.verb, m->o.snapshot);
	return true;
}

void cli_run_quit(void)
{
	interrupted = 1;
	end_soon();
	set_timer(0, AGAIN_NS);
}

static enum core_input_ready input_wait(void *opaque, uint64_t ns, bool wants)
{
	struct cli_run_machine *m = opaque;
	enum core_input_ready ready;

	/* A prompt without a line feed is to be seen before the wait. */
	if (ns)
		flush_console(m);
	m->input.other = cli_run_monitor_fd(m);
	if (m->net && ns) {
		cli_run_net_wait(m, ns);
		ns = 0;
	}
	ready = cli_run_input_wait(&m->input, ns, wants);
	if (m->input.quit && !ending)
		cli_run_quit();
	return ready;
}

static size_t input(void *opaque, uint8_t *bytes, size_t most)
{
	struct cli_run_machine *m = opaque;

	return cli_run_input_take(&m->input, bytes, most);
}

/* A command waits for the next tick, which comes at once. */
static size_t command(void *opaque, uint8_t *bytes, size_t room)
{
	struct cli_run_machine *m = opaque;
	const size_t len = sizeof(signal_command) - 1;

	if (signalled) {
		if (bytes && len <= room)
			memcpy(bytes, signal_command, len);
		signalled = !bytes;
		return len;
	}
	if (!ending && cli_run_monitor_is_due(m))
		m->vm.vcpu->next_tick = 0;
	return cli_run_monitor_command(m, bytes, room);
}

static size_t frame(void *opaque, uint8_t *bytes, size_t room)
{
	return cli_run_net_frame(opaque, bytes, room);
}

static void transmit(void *opaque, const uint8_t *bytes, size_t count)
{
	struct cli_run_machine *m = opaque;

	if (!m->net)
		return;
	net_send(m->net, bytes, count);
	/* There may be an answer already, or another connection to watch. */
	if (m->vm.vcpu->input.mode == CORE_INPUT_HOST)
		m->vm.vcpu->input.arrived = 1;
}

static void watch(void *opaque)
{
	cli_run_watch(opaque);
}

static bool obey(void *opaque, const uint8_t *bytes, size_t len)
{
	if (len == sizeof(signal_command) - 1 && !memcmp(bytes, signal_command, len)) {
		cli_run_window_signalled(opaque);
		return true;
	}
	return cli_run_monitor_obey(opaque, bytes, len);
}

static void take_if_asked(struct cli_run_machine *m)
{
	if (!asked || !m->o.snapshot)
		return;
	asked = 0;
	if (cli_run_take_snapshot(m))
		cli_run_monitor_snapped(m);
	else if (cli_run_monitor_gives_up(m))
		asked = 0;
}

void cli_run_ask_snapshot(void)
{
	asked = 1;
}

/* A snapshot of several vCPUs under KVM is taken when all of them have stopped: change(). */
static bool tick(void *opaque)
{
	struct cli_run_machine *m = opaque;

	cli_run_input_poll(&m->input);
	if (m->input.quit && !ending)
		cli_run_quit();
	if (ending)
		return interrupted;
	flush_console(m);
	cli_run_monitor_poll(m);
	cli_run_report_tick(&m->report);
	/* With live input the signal is a command, which is recorded. */
	if (signalled && m->vm.vcpu->input.mode == CORE_INPUT_OFF) {
		signalled = 0;
		cli_run_window_signalled(m);
	}
	if (asked && m->o.snapshot && m->vm.threads)
		core_vm_ask(&m->vm);
	else
		take_if_asked(m);
	return false;
}

/* Return the count of the next snapshot after `retired` instructions. */
static uint64_t next_snapshot(const struct cli_run_machine *m, uint64_t retired)
{
	uint64_t every = m->o.snapshot_every, next = UINT64_MAX;

	if (every && retired <= UINT64_MAX - 2 * every)
		next = (retired / every + 1) * every;
	if (m->o.has_snapshot_at && m->o.snapshot_at < next && !m->at_reached)
		next = m->o.snapshot_at;
	return next;
}

/* Take a snapshot if it is due. Returns the count of the next one. */
static uint64_t snapshot_pause(struct cli_run_machine *m)
{
	uint64_t retired = core_vm_retired(&m->vm);

	if (retired < m->snapshot_next || !cli_run_take_snapshot(m))
		return next_snapshot(m, retired);
	if (m->o.has_snapshot_at && retired >= m->o.snapshot_at) {
		m->at_reached = true;
		core_vm_stop(&m->vm, TRACE_STOP_SNAPSHOT, "%s", "");
	}
	return next_snapshot(m, retired);
}

static uint64_t pause_machine(void *opaque)
{
	struct cli_run_machine *m = opaque;
	const uint64_t gdb = cli_run_gdb_pause(m);
	uint64_t window = m->gdb ? gdb : cli_run_window_pause(m);
	uint64_t drop = cli_run_drop_pause(m);

	window = window < gdb ? window : gdb;
	m->snapshot_next = snapshot_pause(m);
	window = window < drop ? window : drop;
	return window < m->snapshot_next ? window : m->snapshot_next;
}

static uint64_t visit(void *opaque, struct core_vcpu *v)
{
	struct cli_run_machine *m = opaque;

	return m->tasks ? cli_run_tasks_visit(m, v) : cli_run_verify_visit(m, v);
}

static void marked(void *opaque, const char *text, size_t len)
{
	cli_run_window_marked(opaque, text, len);
}

static bool reached(void *opaque, uint64_t ip)
{
	struct cli_run_machine *m = opaque;

	if (m->gdb)
		return gdb_session_reached(m->gdb, ip);
	(void)cli_run_tasks_reached(m, ip);
	return cli_run_window_reached(m, ip);
}

static void touched(void *opaque, struct core_vcpu *v)
{
	struct cli_run_machine *m = opaque;

	if (m->gdb)
		gdb_session_touched(m->gdb, v);
	else if (m->tasks)
		cli_run_tasks_touched(m, v);
}

static void alarm_rings(void *opaque)
{
	cli_run_window_alarm(opaque);
}

static void change(void *opaque)
{
	struct cli_run_machine *m = opaque;

	cli_run_window_change(m);
	cli_run_ring_change(m);
	cli_run_drop_change(m);
	if (m->vm.cpus > 1 && !(m->vm.engine->can & ENGINE_COUNTS))
		take_if_asked(m);
}

static void asked_vcpu(void *opaque, struct core_vcpu *v)
{
	cli_run_monitor_asked(opaque, v);
}

static size_t share(void *opaque, const uint8_t *request, size_t bytes, uint8_t *reply, size_t room)
{
	const struct cli_run_machine *m = opaque;

	return p9_serve(m->share, request, bytes, reply, room);
}

static int disk(void *opaque, unsigned int number, enum virtio_disk_access access, uint64_t offset,
		void *data, size_t bytes)
{
	return cli_run_disk_access(opaque, number, access, offset, data, bytes);
}

struct core_vm_hooks cli_run_hooks(struct cli_run_machine *m)
{
	return (struct core_vm_hooks){
		.console = console,
		.input_wait = input_wait,
		.input = input,
		.watch = watch,
		.frame = frame,
		.transmit = transmit,
		.command = command,
		.obey = obey,
		.share = m->o.share.given && !m->o.replay ? share : NULL,
		.disk = disk,
		.tick = tick,
		.pause = pause_machine,
		.visit = visit,
		.marked = marked,
		.reached = reached,
		.touched = touched,
		.asked = change,
		.alarm = alarm_rings,
		.asked_vcpu = asked_vcpu,
		.opaque = m,
	};
}

/*
 * Install handlers that interrupt the engine, which may be busy for seconds in one piece of work.
 * Without a timer the loop notices the end of --timeout by itself, but later.
 */
static void catch_signals(bool snapshots, bool events)
{
	struct sigaction action = {.sa_handler = on_signal}, alarm = {0};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

	sigfillset(&action.sa_mask);
	sigfillset(&alarm.sa_mask);
	alarm.sa_sigaction = on_timer;
	alarm.sa_flags = SA_SIGINFO;
	sigaction(SIGALRM, &alarm, NULL);
	has_timer = !timer_create(CLOCK_MONOTONIC, &event, &timer);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (snapshots)
		sigaction(SIGUSR1, &action, NULL);
	if (events)
		sigaction(SIGUSR2, &action, NULL);
}

/* Stop the timer: the work that is left is brief, and must not be interrupted. */
static void release_signals(void)
{
	running = NULL;
	if (has_timer)
		timer_delete(timer);
	has_timer = false;
}

int cli_run_check_snapshots(const struct cli_run_machine *m)
{
	const struct cli_run_options *o = &m->o;
	uint64_t retired = core_vm_retired(&m->vm);

	if (o->snapshot && (!core_snapshot_has(m->vm.engine) || m->vm.change.traced))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --snapshot: engine %s has no snapshots: use --engine=soft",
				o->verb, m->vm.change.traced ? CLI_RUN_PAIR : m->vm.engine->name);
	if ((o->has_snapshot_at || o->snapshot_every) && !(m->vm.engine->can & ENGINE_COUNTS))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --snapshot-%s: engine %s does not count instructions: send "
				"SIGUSR1 instead",
				o->verb, o->has_snapshot_at ? "at" : "every", m->vm.engine->name);
	if (o->snapshot && o->share.given)
		return cli_fail(CLI_EXIT_USAGE, "%s: --snapshot: not with --share", o->verb);
	if (o->snapshot && o->net.given)
		return cli_fail(CLI_EXIT_USAGE, "%s: --snapshot: not with --net", o->verb);
	if (o->snapshot && cli_run_disks_written(o))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --snapshot: not with --disk=FILE,rw, because the image would "
				"change",
				o->verb);
	if (o->has_snapshot_at && o->snapshot_at < retired)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --snapshot-at=%" PRIu64
				": already passed: the guest resumes at %" PRIu64,
				o->verb, o->snapshot_at, retired);
	if (o->max_insns && o->max_insns <= m->vm.vcpu->tracer.recorder.insns)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --max-insns=%" PRIu64
				": already reached: traced instructions: %" PRIu64,
				o->verb, o->max_insns, m->vm.vcpu->tracer.recorder.insns);
	return CLI_EXIT_OK;
}

bool cli_run_counts(const struct core_vm *vm)
{
	return vm->engine->can & ENGINE_COUNTS && !vm->change.traced;
}

int cli_run_check_input(const struct cli_run_machine *m)
{
	const struct cli_run_options *o = &m->o;
	const char *name = cli_run_outside(o);

	if (name && o->usage.given)
		return cli_fail(CLI_EXIT_USAGE, "%s: %s: not with --usage", o->verb, name);
	/* vCPUs that take turns need the place of an input. */
	if (name && m->vm.change.traced && m->vm.cpus > 1)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: %s: engine " CLI_RUN_PAIR " has it with one vCPU: use "
				"--engine=kvm or --engine=soft",
				o->verb, name);
	return CLI_EXIT_OK;
}

int cli_run_limit(const struct cli_run_machine *m)
{
	const struct cli_run_options *o = &m->o;

	if (!m->writer)
		return CLI_EXIT_OK;
	trace_writer_limit(m->writer, o->max_bytes);
	if (!*trace_writer_full(m->writer))
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_USAGE,
			"%s: --max-bytes=%" PRIu64
			": too small: what the trace file begins with has %" PRIu64
			" bytes, and its end needs 1M",
			o->verb, o->max_bytes, trace_writer_file_bytes(m->writer));
}

void cli_run_keep_pipe(const struct cli_run_machine *m)
{
	struct stat st;

	if (!fstat(m->output.fd, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		signal(SIGPIPE, SIG_IGN);
}

/* Returns true if the trace file is standard output. */
static bool traces_to_stdout(const struct cli_run_machine *m)
{
	struct stat trace, out;

	if (!m->writer || m->output.fd < 0 || fstat(m->output.fd, &trace))
		return false;
	return !S_ISCHR(trace.st_mode) && !fstat(STDOUT_FILENO, &out) &&
	       trace.st_dev == out.st_dev && trace.st_ino == out.st_ino;
}

int cli_run_open_console(struct cli_run_machine *m)
{
	const char *path = cli_run_console_file(&m->o);
	const bool busy = traces_to_stdout(m);
	int fd;

	if (busy && m->o.json)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --json: standard output is the trace file: use a named pipe",
				m->o.verb);
	m->console = m->o.json || busy ? stderr : stdout;
	cli_terminal_open(&m->terminal, m->console);
	if (!path) {
		m->silent = m->o.console && !strcmp(m->o.console, "none");
		m->terminal.filtered &= !m->o.console;
		return CLI_EXIT_OK;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	m->console = fd < 0 ? NULL : fdopen(fd, "w");
	if (!m->console)
		return cli_fail(CLI_EXIT_HOST, "%s: --console=%s: %s", m->o.verb, m->o.console,
				cli_reason(errno));
	m->terminal = (struct cli_terminal){.to = m->console};
	return CLI_EXIT_OK;
}

/* Close the console. The guest's text is an output like any other, so a full disk is an error. */
static int close_console(struct cli_run_machine *m, int status)
{
	bool failed;

	if (!m->console || !cli_run_console_file(&m->o))
		return status;
	failed = ferror(m->console);
	if ((fclose(m->console) || failed) && !status)
		status = cli_fail(CLI_EXIT_HOST, "%s: --console=%s: cannot write: %s", m->o.verb,
				  m->o.console, cli_reason(errno));
	return status;
}

/* A guest that ends before the last input is not that of the recording. */
static void check_inputs(struct core_vm *vm)
{
	const enum trace_stop_kind kind = vm->stop.kind;
	const size_t left = vm->vcpu->input.left + vm->virtio.left;

	if (!left || kind == TRACE_STOP_TIMEOUT || kind == TRACE_STOP_INTERRUPTED ||
	    kind == TRACE_STOP_WRITER || kind == TRACE_STOP_HOST)
		return;
	vm->stop = (struct core_stop){.error = -EINVAL};
	core_vm_stop(vm, TRACE_STOP_HOST,
		     "the guest ended at %" PRIu64
		     " instructions, before the last inputs of the recording: %zu",
		     vm->vcpu->ev->retired, left);
}

/* A run without input ends like that of the file, unless a limit of the replay ends it earlier. */
static void check_end(struct core_vm *vm, const struct trace_guest_stop *end)
{
	const enum trace_stop_kind kind = vm->stop.kind;
	const struct core_vcpu *v = vm->current;
	const uint64_t insns = v->tracer.recorder.insns;

	if (!end || kind == TRACE_STOP_TIMEOUT || kind == TRACE_STOP_INTERRUPTED ||
	    kind == TRACE_STOP_WRITER || kind == TRACE_STOP_HOST)
		return;
	if (end->kind == (uint32_t)kind && end->insns == insns && end->rip == v->regs->rip)
		return;
	vm->stop = (struct core_stop){.error = -EINVAL};
	core_vm_stop(vm, TRACE_STOP_HOST,
		     "the run ended after %" PRIu64 " traced instructions at %#" PRIx64
		     ", and not as that of the file, after %" PRIu64 " at %#" PRIx64,
		     insns, v->regs->rip, end->insns, end->rip);
}

/* Restart the machine after a reset. Returns false if the guest has ended. */
static bool restarts(struct cli_run_machine *m)
{
	int error;

	if (ending || !core_reboot_is_due(&m->reboot, &m->vm))
		return false;
	m->restarted = m->reopen ? m->reopen(m) : CLI_EXIT_OK;
	if (m->restarted)
		return false;
	error = core_reboot(&m->reboot, &m->vm);
	if (error) {
		m->vm.stop.error = error;
		core_vm_stop(&m->vm, TRACE_STOP_HOST, "cannot reset the machine");
		return false;
	}
	m->restarted = m->restart(m);
	cli_run_tasks_reset(m);
	core_reboot_loaded(&m->vm);
	return !m->restarted;
}

static void replay_inputs(struct cli_run_machine *m)
{
	const struct cli_run_replay *replay = m->o.replay;

	core_input_replay(m->vm.vcpu, replay->inputs, replay->count);
	core_virtio_replay(&m->vm, replay->inputs, replay->count);
}

static void attach_input(struct cli_run_machine *m)
{
	const struct cli_run_options *o = &m->o;
	struct core_vcpu *v = m->vm.vcpu;

	cli_run_input_skip(&m->input, v->input.bytes);
	if (o->replay && o->replay->no_input)
		return;
	if (o->replay)
		replay_inputs(m);
	else if (m->input.fd < 0 && !o->realtime && !o->share.given && !o->monitor &&
		 !o->net.given && !(cli_run_window_signals(o) && cli_run_counts(&m->vm)))
		return;
	else if (cli_run_counts(&m->vm))
		core_input_live(v, o->realtime || m->input.kind == CLI_RUN_INPUT_TERMINAL);
	else
		core_input_host(v);
	if (v->input.mode == CORE_INPUT_HOST)
		cli_run_watch_begin(m);
}

void cli_run_loop(struct cli_run_machine *m)
{
	struct core_vcpu *v = m->vm.vcpu;
	uint64_t retired = core_vm_retired(&m->vm);
	unsigned int i;

	running = &m->vm;
	catch_signals(m->o.snapshot, cli_run_window_signals(&m->o));
	cli_run_report_begin(&m->report, &m->o, &m->vm, &m->output);
	m->report.verify = m->o.verify ? &m->verify : NULL;
	for (i = 0; i < m->vm.cpus; i++) {
		m->vm.cpu[i]->max_insns = m->o.max_insns;
		m->vm.cpu[i]->visit_at =
			m->o.verify || m->tasks ? m->vm.cpu[i]->ev->retired + 1 : UINT64_MAX;
	}
	if (m->o.timeout.ns) {
		v->deadline = core_now() + m->o.timeout.ns;
		set_timer(TIMER_ABSTIME, v->deadline);
	}
	m->snapshot_next = m->vm.pause_at = next_snapshot(m, retired);
	core_vm_pause(&m->vm, cli_run_window_next(m));
	core_vm_pause(&m->vm, cli_run_drop_pause(m));
	attach_input(m);
	if (!cli_run_gdb_begin(m)) {
		release_signals();
		return;
	}
	do
		core_vm_run(&m->vm);
	while (restarts(m));
	if (m->gdb)
		gdb_session_ended(m->gdb);
	cli_run_watch_end(m);
	if (m->o.replay) {
		check_inputs(&m->vm);
		check_end(&m->vm, m->o.replay->end);
	}
	release_signals();
	(void)cli_terminal_end(&m->terminal);
	if (ending)
		give_up_console(m->console);
}

/*
 * Close the trace file. A run that did not begin leaves the earlier file; one whose trace could
 * not be written completely leaves a part file. Closing can fail too: a disk that is full is
 * found out late.
 */
static void end_output(struct cli_run_machine *m, bool ran)
{
	struct core_stop *stop = &m->vm.stop;
	struct stat st;
	int err = 0, drained;

	if (ran)
		cli_run_ring_save(m);
	if (m->ring.ring && !m->ring.saved)
		m->writer = NULL;
	if (m->writer && ran)
		(void)trace_writer_stop(m->writer, &m->report.pm);
	/* An error that was already reported takes precedence. */
	if (m->writer)
		err = trace_writer_close(m->writer, stop->exit_status);
	drained = cli_run_drop_close(m);
	err = drained ? drained : err;
	if (ran && m->writer && !fstat(m->output.fd, &st) && S_ISREG(st.st_mode))
		m->report.file_bytes = (uint64_t)st.st_size;
	if (!ran) {
		cli_drop(&m->output);
		return;
	}
	/* A trace that ends at a failed snapshot stays a part file. */
	if (!err && m->writer && stop->kind != TRACE_STOP_WRITER &&
	    !(stop->kind == TRACE_STOP_SNAPSHOT && stop->error))
		err = trace_outfile_commit(&m->output);
	if (err && stop->kind != TRACE_STOP_WRITER) {
		stop->kind = TRACE_STOP_WRITER;
		stop->error = err;
	}
	if (m->writer)
		trace_outfile_keep(&m->output);
}

/* A report without names is better than none. */
static void open_names(struct cli_run_machine *m)
{
	struct debug_symbols *symbols = NULL;

	if (m->elf && debug_symbols_open_elf(m->elf->bytes, m->elf->size, m->o.guest, &symbols))
		symbols = NULL;
	(void)cli_names_open(&m->report.names, symbols);
}

int cli_run_finish(struct cli_run_machine *m, int status)
{
	bool ran = !status && !m->gdb_waited;

	if (ran) {
		core_vcpu_post_mortem(m->vm.current, &m->report.pm);
		if (m->vm.stop.kind != TRACE_STOP_EXIT && m->vm.stop.kind != TRACE_STOP_SNAPSHOT)
			open_names(m);
	}
	cli_run_verify_end(m, ran);
	if (ran)
		cli_run_tasks_end(m);
	end_output(m, ran);
	if (ran)
		status = cli_run_verify_report(m, cli_run_report_end(&m->report));
	if (ran && !status)
		status = m->restarted;
	if (ran)
		status = cli_run_window_report(m, status);
	if (ran && !status && m->o.has_snapshot_at && !m->at_reached)
		status = cli_fail(CLI_EXIT_FAIL,
				  "%s: %s: the guest ended at %" PRIu64
				  " instructions, before --snapshot-at=%" PRIu64,
				  m->o.verb, m->o.guest, core_vm_retired(&m->vm), m->o.snapshot_at);
	status = close_console(m, status);
	cli_run_input_close(&m->input);
	cli_run_monitor_close(m);
	cli_run_gdb_close(m);
	cli_run_tasks_close(m);
	cli_names_close(&m->report.names);
	trace_outfile_free(&m->output);
	cli_run_start_free(&m->start);
	core_reboot_free(&m->reboot);
	cli_run_ring_close(m);
	core_vm_destroy(&m->vm);
	return m->gdb_waited && !status ? m->gdb_status : status;
}
