// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt record: records a host and its guests with perf's intel_pt. */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "host/cpu.h"
#include "trace/origin.h"
#include "vpt/msr.h"

#define SYSFS "/sys"
/* The longest time that a process can live unseen, unless perf wakes us for it. */
#define POLL_MS 5

struct record {
	const struct cli_record_options *o;
	struct host_perf *perf;
	unsigned int n; /* number of open CPUs */
	struct pollfd *poll;
	struct trace_outfile output;
	struct trace_writer *writer;
	struct cli_record_host host;
	struct cli_record_sum sum;
	bool stopped;		      /* a record reported that perf stopped */
	bool tasks;		      /* processes have appeared or exited */
	uint64_t losses, records;     /* losses of trace, and of perf's records */
	uint64_t bytes;		      /* bytes of trace */
	pid_t child;		      /* 0 if there is none */
	int go, failed;		      /* pipes to and from the child */
	struct timespec begin, ended; /* times of the recording */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	if (number != SIGCHLD)
		interrupted = 1;
}

static void catch_signals(void)
{
	/* A signal ends poll(). */
	static const struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGCHLD, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static uint64_t elapsed_ms(const struct timespec *from, const struct timespec *to)
{
	return (uint64_t)((to->tv_sec - from->tv_sec) * 1000 +
			  (to->tv_nsec - from->tv_nsec) / 1000000);
}

static int session(struct record *r, unsigned int i, enum trace_session_edge edge,
		   enum trace_session_end end)
{
	struct trace_session s = {
		.edge = edge,
		.end = end,
		.ctl = r->perf[i].config | VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) |
		       VPT_CTL_MASK(USER) | VPT_CTL_MASK(TOPA),
	};

	return trace_writer_session(r->writer, i, &s);
}

static int start(struct record *r, unsigned int i)
{
	int err = session(r, i, TRACE_SESSION_START, TRACE_END_NONE);

	return err ? err : host_perf_enable(&r->perf[i]);
}

static int take_record(void *to, const struct host_perf_record *record)
{
	struct record *r = to;

	switch (record->kind) {
	case HOST_PERF_TASK:
		r->tasks = true;
		return 0;
	case HOST_PERF_MAP:
		return host_procs_map(&r->host.procs, record);
	case HOST_PERF_STOPPED:
		r->stopped = true;
		return 0;
	case HOST_PERF_LOST:
		r->records += record->bytes;
		r->tasks = true;
		return 0;
	}
	return 0;
}

/*
 * Read the buffers of a CPU. Read the records first, because they describe bytes that are already
 * there.
 */
static int drain(struct record *r, unsigned int i)
{
	const uint8_t *bytes;
	size_t n;
	int err;

	r->stopped = false;
	err = host_perf_records(&r->perf[i], take_record, r);
	while (!err && (n = host_perf_waiting(&r->perf[i], &bytes))) {
		err = trace_writer_mapped(r->writer, i, UINT64_MAX, bytes, n);
		host_perf_taken(&r->perf[i], n);
	}
	return err;
}

/* Drain a CPU, and restart perf's event if it stopped for lack of room. */
static int serve(struct record *r, unsigned int i)
{
	int err = drain(r, i);

	if (err || !r->stopped)
		return err;
	r->losses++;
	err = session(r, i, TRACE_SESSION_END, TRACE_END_LOST);
	return err ? err : start(r, i);
}

static bool child_ended(struct record *r)
{
	if (!r->child || waitpid(r->child, NULL, WNOHANG) != r->child)
		return false;
	r->child = 0;
	return true;
}

static int loop(struct record *r)
{
	int err = 0;

	while (!err && !interrupted) {
		struct timespec now;
		unsigned int i;

		if (poll(r->poll, r->n, POLL_MS) < 0 && errno != EINTR)
			return -errno;
		for (i = 0; i < r->n && !err; i++)
			err = serve(r, i);
		if (!err && r->tasks) {
			r->tasks = false;
			err = cli_record_host_tasks(&r->host, false);
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (child_ended(r) ||
		    (r->o->seconds && elapsed_ms(&r->begin, &now) >= r->o->seconds * 1000))
			break;
	}
	return err;
}

/* Stop all CPUs, then drain their buffers. */
static int finish(struct record *r)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < r->n; i++)
		host_perf_disable(&r->perf[i]);
	clock_gettime(CLOCK_MONOTONIC, &r->ended);
	for (i = 0; i < r->n && !err; i++) {
		err = drain(r, i);
		r->losses += !err && r->stopped;
		if (!err)
			err = session(r, i, TRACE_SESSION_END,
				      r->stopped ? TRACE_END_LOST : TRACE_END_CLOSED);
	}
	if (!err)
		err = cli_record_host_tasks(&r->host, true);
	return err ? err
		   : cli_record_code(&r->host, r->writer,
				     r->output.part ? r->output.part : r->o->output, &r->sum);
}

static void run_child(struct record *r, int go, int failed)
{
	char byte;

	/* Wait until every event of this process is recorded. */
	if (read(go, &byte, 1) == 1)
		execvp(r->o->command[0], r->o->command);
	else
		errno = EINTR;
	if (write(failed, &errno, sizeof(errno)) < 0)
		_exit(126);
	_exit(127);
}

static int make_child(struct record *r)
{
	int go[2], failed[2];

	if (!r->o->command)
		return 0;
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return -errno;
	r->child = fork();
	if (r->child < 0) {
		r->child = 0;
		return -errno;
	}
	if (!r->child)
		run_child(r, go[0], failed[1]);
	close(go[0]);
	close(failed[1]);
	r->go = go[1];
	r->failed = failed[0];
	return 0;
}

/*
 * Wait for the child unless its exit ended the recording; otherwise it keeps running. The child
 * reports its own errors.
 */
static int end_child(struct record *r)
{
	int error, status = CLI_EXIT_OK;

	if (!r->o->command || r->go < 0)
		return status;
	close(r->go);
	if (r->child)
		kill(r->child, SIGTERM);
	while (r->child && waitpid(r->child, NULL, 0) < 0 && errno == EINTR)
		;
	if (read(r->failed, &error, sizeof(error)) == sizeof(error))
		status = cli_fail(CLI_EXIT_USAGE, "record: %s: %s", r->o->command[0],
				  cli_reason(error));
	close(r->failed);
	return status;
}

static int open_cpu(struct record *r, int type, unsigned int cpu)
{
	int err = host_perf_open(&r->perf[r->n], type, cpu, r->o->buffer);

	switch (err) {
	case 0:
		r->poll[r->n] = (struct pollfd){.fd = r->perf[r->n].fd, .events = POLLIN};
		r->n++;
		return CLI_EXIT_OK;
	case -EACCES:
	case -EPERM:
		return cli_fail(CLI_EXIT_HOST,
				"record: CPU %u: not permitted: be root, or have CAP_PERFMON and "
				"CAP_IPC_LOCK",
				cpu);
	case -EBUSY:
		return cli_fail(CLI_EXIT_HOST, "record: CPU %u: PT is in use: end the other user",
				cpu);
	case -ENOMEM:
		return cli_fail(CLI_EXIT_HOST,
				"record: CPU %u: no memory for a ring of %" PRIu64
				" bytes: try a smaller --buffer",
				cpu, r->o->buffer);
	default:
		return cli_fail(CLI_EXIT_HOST, "record: CPU %u: perf_event_open: %s", cpu,
				cli_reason(-err));
	}
}

static int open_cpus(struct record *r, int type)
{
	unsigned int all[CLI_RECORD_CPUS_MAX], n = r->o->ncpus, i;
	const unsigned int *cpus = r->o->cpus;
	int status = CLI_EXIT_OK;
	char text[4096] = "";
	FILE *file;

	if (!n) {
		file = fopen(SYSFS "/devices/system/cpu/online", "re");
		if (!file || !fgets(text, sizeof(text), file))
			text[0] = 0;
		if (file)
			fclose(file);
		n = host_cpu_list(text, all, CLI_RECORD_CPUS_MAX);
		cpus = all;
	}
	if (!n)
		return cli_fail(CLI_EXIT_HOST,
				"record: " SYSFS "/devices/system/cpu/online: no list: use --cpu");
	r->perf = calloc(n, sizeof(*r->perf));
	r->poll = calloc(n, sizeof(*r->poll));
	if (!r->perf || !r->poll)
		return cli_fail(CLI_EXIT_HOST, "record: %s", strerror(ENOMEM));
	for (i = 0; i < n && !status; i++)
		status = open_cpu(r, type, cpus[i]);
	return status;
}

static int open_file(struct record *r, const struct vpt_caps *caps)
{
	struct trace_file_info info = {
		.caps = *caps,
		.model = "host",
		.engine = "perf",
		.owner = TRACE_OWNER_HOST,
		.vcpus = r->n,
		.tsc_hz = host_tsc_hz(caps),
		.tsc_multiplier = 1ull << 48,
	};
	const struct trace_cpu cpu = trace_cpu_of(caps->signature);
	const struct trace_origin origin = trace_origin_of(TRACE_ORIGIN_RECORD, &cpu);
	int status = cli_output("record", r->o->output, TRACE_OUTFILE_TRACE, &r->output), err;

	if (status)
		return status;
	err = trace_writer_start(r->output.fd, &info, &r->writer);
	if (!err)
		err = trace_writer_origin(r->writer, &origin);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "record: %s: %s", r->o->output, cli_reason(-err));
	return CLI_EXIT_OK;
}

/* Every path from here on ends with finish(). */
static int record(struct record *r)
{
	unsigned int i;
	int err = cli_record_host_open(&r->host), late;

	r->host.guest_code = r->o->guest_code;
	/* perf's own static branches in the kernel's code are set once the event is open. */
	if (!err)
		err = cli_record_host_kernel(&r->host);
	if (!err)
		err = make_child(r);
	if (!err)
		err = cli_record_host_tasks(&r->host, false);
	clock_gettime(CLOCK_MONOTONIC, &r->begin);
	for (i = 0; i < r->n && !err; i++)
		err = start(r, i);
	if (!err && r->child && write(r->go, "", 1) != 1)
		err = -errno;
	if (!err && cli_confine("record", &(struct sandbox_want){.watch = true}))
		err = -ECANCELED;
	if (!err)
		err = loop(r);
	late = finish(r);
	return err ? err : late;
}

static void sum_bytes(struct record *r)
{
	unsigned int i;

	for (i = 0; i < r->n; i++)
		r->bytes += trace_writer_stream_bytes(r->writer, i);
}

static void summary(const struct record *r)
{
	uint64_t ms = elapsed_ms(&r->begin, &r->ended);

	printf("%" PRIu64 ".%03" PRIu64 " s of CPUs: %u, trace: %" PRIu64
	       " bytes; address spaces: %zu of the host, of which have names: %zu; %zu of guests\n",
	       ms / 1000, ms % 1000, r->n, r->bytes, r->sum.host, r->sum.named, r->sum.guest);
	if (r->sum.guest > r->sum.guest_code)
		printf("address spaces of guests without their code: %zu: their execution is "
		       "omitted\n",
		       r->sum.guest - r->sum.guest_code);
	if (r->sum.changed)
		printf("pages of the kernel's code that changed meanwhile: %zu\n", r->sum.changed);
	if (r->records)
		printf("records of processes and their code that were lost: %" PRIu64 "\n",
		       r->records);
}

/*
 * Close the file and report. `err` is the error of recording, and `child` the status of starting
 * COMMAND.
 */
static int save(struct record *r, int err, int child)
{
	int status;

	/* COMMAND could not start, so the recording is of no interest. */
	if (child)
		return child;
	if (err) {
		const char *part = r->output.part;

		status = cli_fail(CLI_EXIT_HOST, "record: %s: %s%s%s", r->o->output,
				  cli_reason(-err), part ? ": the recorded part is in " : "",
				  part ? part : "");
		cli_keep(&r->output);
		return status;
	}
	status = cli_commit("record", &r->output);
	if (status)
		return status;
	if (!r->o->quiet)
		summary(r);
	if (r->losses)
		return cli_fail(CLI_EXIT_FAIL,
				"record: the ring was full, and trace was lost, times: %" PRIu64
				": use a larger --buffer, or fewer CPUs",
				r->losses);
	return CLI_EXIT_OK;
}

static int run_recording(struct record *r)
{
	int err, child, late;

	catch_signals();
	err = record(r);
	child = end_child(r);
	sum_bytes(r);
	late = trace_writer_close(r->writer, 0);
	return save(r, err ? err : late, child);
}

static int run(const struct cli_record_options *o)
{
	struct record r = {.o = o, .go = -1, .failed = -1};
	int type = host_perf_pt_type(SYSFS), status;
	struct vpt_caps caps;

	if (type < 0 || !host_caps(SYSFS, &caps))
		return cli_fail(CLI_EXIT_HOST,
				"record: this machine has no Intel PT, or its kernel's perf does "
				"not support it: " SYSFS "/bus/event_source/devices/intel_pt");
	status = open_cpus(&r, type);
	if (!status)
		status = open_file(&r, &caps);
	if (!status)
		status = run_recording(&r);
	cli_drop(&r.output);
	while (r.n)
		host_perf_close(&r.perf[--r.n]);
	cli_record_host_close(&r.host);
	free(r.perf);
	free(r.poll);
	return status;
}

static int check_files(const struct cli_record_options *o)
{
	/* Search PATH for a COMMAND without a slash. */
	const char *program = o->command && strchr(o->command[0], '/') ? o->command[0] : NULL;
	const struct cli_file files[] = {
		{CLI_INPUT, "COMMAND", program},
		{CLI_TRACE, "--output", o->output},
	};

	return cli_files_check("record", files, sizeof(files) / sizeof(files[0]));
}

int cli_cmd_record(int argc, char **argv)
{
	struct cli_record_options o;
	int status = cli_record_parse(&o, argc, argv);

	if (status)
		return status;
	status = check_files(&o);
	return status ? status : run(&o);
}
