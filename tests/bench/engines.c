// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the software CPU with its peers on the same guests. The peers are stepping with KVM, the
 * processor itself, the software CPU without a trace, and a stock QEMU with TCG. All alternate.
 * Each result is the processor time of a long run minus that of a short run, which excludes
 * startup. A trace goes to a ring in memory, as perf's does. A row of its own has a trace in a file,
 * whose time is mostly the host's kernel's.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "vpt/abi/boot.h"

#define TURNS	 3
#define MAX_ARGS 40

enum peer { TRACED, PLAIN, NATIVE, STEPPED, TCG, FILED, PEERS };

/*
 * A guest, and how many rounds make a second or so, at full speed and stepped. A short run has
 * @least rounds, or one if the long run has no more than @least.
 */
struct guest {
	const char *name;
	uint64_t rounds[PEERS], least;
};

struct bench {
	const struct bench_place *place;
	const struct guest *guest;
	char vpt[512], elf[512], info[512], arg[64], trace[512], loader[3][600];
};

/*
 * Return the processor time of all children so far. Elapsed time would depend on other processes.
 */
static double children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int bench_run(const char *const argv[], double *seconds)
{
	double began = children();
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -1;
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	*seconds = children() - began;
	return WEXITSTATUS(status);
}

static int vpt(struct bench *b, const char *engine, enum peer peer, double *seconds)
{
	const char *argv[12] = {b->vpt, "run", "-q", engine, "--pt", "off", b->arg, b->elf};

	if (peer != PLAIN) {
		argv[5] = "host";
		argv[8] = "-o";
		argv[9] = b->trace;
	}
	if (peer == TRACED)
		argv[10] = "--ring=16M";
	return bench_run(argv, seconds) ? -1 : 0;
}

/* Write the guest's boot info to a file, which QEMU loads at the address that guests expect. */
static int write_info(const struct bench *b, uint64_t rounds)
{
	const struct vpt_boot_info info = {
		.magic = VPT_BOOT_MAGIC,
		.size = sizeof(info),
		.ram_bytes = 64u << 20,
		.free_start = 16u << 20,
		.arg = {rounds},
	};
	FILE *file = fopen(b->info, "wb");
	size_t done;

	if (!file)
		return -1;
	done = fwrite(&info, sizeof(info), 1, file);
	return fclose(file) || done != 1 ? -1 : 0;
}

/* The BIOS leaves tables at the end of RAM, so there is more RAM than the guest uses. */
static int tcg(struct bench *b, uint64_t rounds, double *seconds)
{
	const char *const argv[] = {"qemu-system-x86_64",
				    "-accel",
				    "tcg",
				    "-cpu",
				    "max",
				    "-m",
				    "128",
				    "-nographic",
				    "-nodefaults",
				    "-monitor",
				    "none",
				    "-kernel",
				    b->place->start,
				    "-device",
				    b->loader[0],
				    "-device",
				    b->loader[1],
				    "-device",
				    b->loader[2],
				    "-device",
				    "isa-debug-exit,iobase=0xf4,iosize=4",
				    NULL};

	if (write_info(b, rounds))
		return -1;
	/* QEMU exits with twice the value that the guest writes to the port, plus 1. */
	return bench_run(argv, seconds) == 1 ? 0 : -1;
}

static int native(const struct bench *b, uint64_t rounds, double *seconds)
{
	double began = children();
	int status = bench_native(b->elf, rounds);

	*seconds = children() - began;
	return status ? -1 : 0;
}

static int once(struct bench *b, enum peer peer, uint64_t rounds, double *seconds)
{
	snprintf(b->arg, sizeof(b->arg), "--arg=%" PRIu64, rounds);
	switch (peer) {
	case TRACED:
	case FILED:
	case PLAIN:
		return vpt(b, "--engine=soft", peer, seconds);
	case NATIVE:
		return native(b, rounds, seconds);
	case STEPPED:
		return vpt(b, "--engine=kvm", peer, seconds);
	default:
		return tcg(b, rounds, seconds);
	}
}

/* Measure the seconds per round, and keep the best result. */
static int measure(struct bench *b, enum peer peer, double *best)
{
	uint64_t rounds = b->guest->rounds[peer];
	uint64_t least = rounds > b->guest->least ? b->guest->least : 1;
	double little, much;

	if (once(b, peer, least, &little) || once(b, peer, rounds, &much))
		return -1;
	much = (much - little) / (double)(rounds - least);
	if (much > 0 && (!*best || much < *best))
		*best = much;
	return 0;
}

/* Return the number of instructions per round, by the engine's own count. */
static double insns_of_round(struct bench *b)
{
	uint64_t count[2] = {0}, least = b->guest->least, more = 64;
	char command[2048], line[512];
	int i;

	for (i = 0; i < 2; i++) {
		FILE *pipe;
		const char *at;

		snprintf(command, sizeof(command),
			 "'%s' run -q --json --engine=soft --pt host --arg=%" PRIu64
			 " -o '%s' '%s' 2>/dev/null",
			 b->vpt, least + (i ? more : 0), b->trace, b->elf);
		pipe = popen(command, "r");
		while (pipe && fgets(line, sizeof(line), pipe)) {
			at = strstr(line, "\"instructions\":");
			if (at)
				count[i] = strtoull(at + 15, NULL, 10);
		}
		if (pipe)
			pclose(pipe);
	}
	return (double)(count[1] - count[0]) / (double)more;
}

static void report(const struct guest *guest, const double best[PEERS], double insns)
{
	static const char *const names[PEERS] = {
		"traced soft",	"untraced soft",     "native",
		"KVM stepping", "untraced QEMU TCG", "traced soft, to a file"};
	static const enum peer against[] = {STEPPED, NATIVE, PLAIN, TCG, FILED};
	char name[64];
	size_t i;

	for (i = 0; i < sizeof(against) / sizeof(against[0]); i++) {
		if (!best[against[i]])
			continue;
		snprintf(name, sizeof(name), "%s, traced soft", guest->name);
		bench_report(name, insns / best[TRACED] / 1e6, "MIPS", names[against[i]],
			     insns / best[against[i]] / 1e6);
	}
}

static int bench_guest(struct bench *b)
{
	double best[PEERS] = {0}, insns;
	int turn, peer;

	insns = insns_of_round(b);
	if (insns <= 0)
		return -1;
	for (turn = 0; turn < TURNS; turn++)
		for (peer = 0; peer < PEERS; peer++) {
			if (peer == STEPPED && !b->place->kvm)
				continue;
			if (peer == TCG && !b->place->start)
				continue;
			if (measure(b, (enum peer)peer, &best[peer])) {
				fprintf(stderr, "bench: %s: peer %d could not run it\n",
					b->guest->name, peer);
				return -1;
			}
		}
	report(b->guest, best, insns);
	return 0;
}

int bench_engines(const struct bench_place *place)
{
	static const struct guest guests[] = {
		{"bench_int", {400, 400, 1000, 2, 400, 400}, 1},
		{"quicksort", {2500, 2500, 5000, 4, 2500, 2500}, 1},
		{"bytecode", {4000, 4000, 20000, 6, 4000, 4000}, 1},
		{"sha256", {200000, 200000, 800000, 50, 200000, 200000}, 1},
		{"regex", {2500, 2500, 15000, 3, 2500, 2500}, 1},
		/* A short run of one round would have the small table. A stepped run has it. */
		{"hashtable", {2100, 2100, 6100, 6, 2100, 2100}, 100},
	};
	size_t i;

	for (i = 0; i < sizeof(guests) / sizeof(guests[0]); i++) {
		struct bench b = {.place = place, .guest = &guests[i]};

		snprintf(b.vpt, sizeof(b.vpt), "%s", place->vpt);
		snprintf(b.elf, sizeof(b.elf), "%s/%s.elf", place->guests, guests[i].name);
		snprintf(b.info, sizeof(b.info), "%s.info", place->scratch);
		snprintf(b.trace, sizeof(b.trace), "%s.vpt", place->scratch);
		snprintf(b.loader[0], sizeof(b.loader[0]), "loader,file=%s", b.elf);
		snprintf(b.loader[1], sizeof(b.loader[1]),
			 "loader,file=%s,addr=0x1000,force-raw=on", b.info);
		snprintf(b.loader[2], sizeof(b.loader[2]),
			 "loader,addr=0x1ff8,data=0x100000,data-len=8");
		if (bench_guest(&b))
			return -1;
	}
	return 0;
}
