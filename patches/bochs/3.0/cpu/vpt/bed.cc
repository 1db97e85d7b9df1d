// SPDX-License-Identifier: LGPL-2.1-or-later
/* The ports, exports and counters of the test bed; signals of whoever runs it. */
#include "bochs.h"
#include "cpu/cpu.h"
#include "iodev/iodev.h"
#include "memory/memory-bochs.h"
#include "bed.hh"
#include "oracle.hh"

#include <signal.h>
#include <set>
#include <string>
#include <unistd.h>

#define LOG_THIS genlog->

#define PORT_COMMAND 0x5670
#define PORT_TEXT    0x5674
#define PORT_EXPORT  0x5675
#define SIGNATURE    0x54505600u /* what PORT_COMMAND reads: "\0VPT" */

/* Bits 7:0 of what is written to PORT_COMMAND. */
enum bed_command {
	BED_ORACLE_ON = 1,
	BED_ORACLE_OFF,
	BED_OPEN_EXPORT, /* the text is its name */
	BED_CLOSE_EXPORT,
	BED_MARK,      /* the text goes to the log */
	BED_POWER_OFF, /* exit status in bits 15:8 */
	BED_COUNTERS,  /* the text, if any, is the name of the file; all start at 0 again */
	BED_MEMORY,    /* write RAM to an export of that name */
};

#define TEXT_MAX 255
/* How often signals are looked at, in ticks: a tick is an instruction. */
#define POLL_TICKS 200000

static struct {
	const char *dir;
	bx_vpt_c *vpt[BX_MAX_SMP_THREADS_SUPPORTED];
	unsigned cpus;
	char text[TEXT_MAX + 1];
	unsigned text_len;
	FILE *exported;
	uint64_t icount; /* at the last BED_COUNTERS */
	int status;	 /* of BED_POWER_OFF, -1 before */
} bed;

static std::set<std::string> bed_exports; /* names */

static volatile sig_atomic_t where_asked, end_asked;

static void complain(const char *what, const char *name)
{
	fprintf(stderr, "vpt: %s: %s: %s\n", name, what, strerror(errno));
}

/* A file name and nothing else: no way out of the directory. */
static bool is_name(const char *name)
{
	size_t good = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789._-");

	return good && !name[good] && name[0] != '.';
}

/* The text so far; it is used up. */
static const char *take_text()
{
	bed.text[bed.text_len] = 0;
	bed.text_len = 0;
	return bed.text;
}

static void path_of(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", bed.dir, name);
}

static void oracle_on()
{
	char path[BX_PATHNAME_LEN], name[32];
	unsigned i;

	for (i = 0; i < bed.cpus; i++) {
		if (i)
			snprintf(name, sizeof(name), "oracle.%u.log", i);
		path_of(path, sizeof(path), i ? name : "oracle.log");
		if (!bed.vpt[i]->start_stepping(path))
			complain("no oracle log", path);
	}
}

static void oracle_off()
{
	unsigned i;

	for (i = 0; i < bed.cpus; i++)
		bed.vpt[i]->stop_stepping();
}

static void close_export()
{
	if (bed.exported && fclose(bed.exported))
		complain("not complete", "export");
	bed.exported = NULL;
}

/* An export replaces one of that name, but no other file. */
static void open_export(const std::string &name)
{
	char path[BX_PATHNAME_LEN];

	close_export();
	path_of(path, sizeof(path), name.c_str());
	if (!is_name(name.c_str()) || (access(path, F_OK) == 0 && !bed_exports.count(name))) {
		fprintf(stderr, "vpt: \"%s\" is no name for an export\n", name.c_str());
		return;
	}
	bed_exports.insert(name);
	bed.exported = fopen(path, "wb");
	if (!bed.exported)
		complain("no export", path);
}

static void print_counters(FILE *file, const bx_vpt_counters *c)
{
	static const char *const side[] = {"root", "nonroot"};
	static const char *const by[] = {"instruction", "list"};
	static const char *const kind[] = {"read", "write"};
	unsigned i;

	for (i = 0; i < 8; i++) {
		if (i == 6 || i == 7) /* the areas are processed in neither */
			continue;
		fprintf(file, "rtit_%s_%s_%s %llu\n", side[i >> 2], by[i >> 1 & 1], kind[i & 1],
			(unsigned long long)c->msr[i >> 2][i >> 1 & 1][i & 1]);
	}
	fprintf(file, "vm_entries %llu\nvm_entries_traced %llu\nvm_entries_failed %llu\n",
		(unsigned long long)c->entries, (unsigned long long)c->entries_traced,
		(unsigned long long)c->entries_failed);
	fprintf(file, "vm_exits %llu\nvm_exits_traced %llu\n", (unsigned long long)c->exits,
		(unsigned long long)c->exits_traced);
	fprintf(file, "pmis %llu\nept_exits %llu\nept_missed %llu\n", (unsigned long long)c->pmis,
		(unsigned long long)c->ept_exits, (unsigned long long)c->ept_missed);
}

/* Of all CPUs together. */
static void write_counters(const char *name)
{
	char path[BX_PATHNAME_LEN];
	bx_vpt_counters sum = bx_vpt_counters();
	uint64_t icount = 0;
	unsigned i, n;
	FILE *file;

	for (i = 0; i < bed.cpus; i++) {
		const uint64_t *from = (const uint64_t *)&bed.vpt[i]->counters;

		for (n = 0; n < sizeof(sum) / sizeof(uint64_t); n++)
			((uint64_t *)&sum)[n] += from[n];
		bed.vpt[i]->counters = bx_vpt_counters();
		icount += bed.vpt[i]->cpu->get_icount();
	}
	path_of(path, sizeof(path), *name ? name : "counters");
	file = !*name || is_name(name) ? fopen(path, "w") : NULL;
	if (!file) {
		complain("no counters", path);
		return;
	}
	fprintf(file, "instructions %llu\n", (unsigned long long)(icount - bed.icount));
	bed.icount = icount;
	print_counters(file, &sum);
	if (bed.status >= 0)
		fprintf(file, "status %d\n", bed.status);
	if (fclose(file))
		complain("not complete", path);
}

/* Pages of zeros, and those that are no RAM, become holes of the file. */
static bool write_memory(FILE *file)
{
	static const uint8_t zeros[4096] = {0};
	uint64_t end = BX_MEM(0)->get_memory_len(), at;

	for (at = 0; at < end; at += sizeof(zeros)) {
		const uint8_t *page = BX_MEM(0)->getHostMemAddr(NULL, at, BX_READ);

		if (!page || !memcmp(page, zeros, sizeof(zeros)))
			continue;
		if (fseeko(file, (off_t)at, SEEK_SET) ||
		    fwrite(page, 1, sizeof(zeros), file) != sizeof(zeros))
			return false;
	}
	return !fflush(file) && !ftruncate(fileno(file), (off_t)end);
}

static void export_memory(const std::string &name)
{
	open_export(name);
	if (bed.exported && !write_memory(bed.exported))
		complain("not complete", name.c_str());
	close_export();
}

static void close_all()
{
	unsigned i;

	if (!bed.dir)
		return;
	for (i = 0; i < bed.cpus; i++) {
		vpt_output_flush(&bed.vpt[i]->pt.out);
		bed.vpt[i]->oracle->close();
	}
	close_export();
	write_counters("");
	bed.dir = NULL;
}

static void power_off(int status)
{
	close_all();
	fflush(NULL);
	_exit(status);
}

static void command(uint32_t value)
{
	switch (value & 0xff) {
	case BED_ORACLE_ON:
		oracle_on();
		break;
	case BED_ORACLE_OFF:
		oracle_off();
		break;
	case BED_OPEN_EXPORT:
		open_export(take_text());
		break;
	case BED_CLOSE_EXPORT:
		close_export();
		break;
	case BED_MARK: {
		unsigned i, len = bed.text_len;

		take_text();
		for (i = 0; i < bed.cpus; i++)
			bed.vpt[i]->oracle->mark(bed.text, len);
		break;
	}
	case BED_POWER_OFF:
		bed.status = value >> 8 & 0xff;
		power_off(bed.status);
		break;
	case BED_COUNTERS:
		write_counters(take_text());
		break;
	case BED_MEMORY:
		export_memory(take_text());
		break;
	default:
		fprintf(stderr, "vpt: 0x%x is no command\n", value);
	}
}

static Bit32u read_port(void *, Bit32u, unsigned)
{
	return SIGNATURE;
}

static void write_port(void *, Bit32u port, Bit32u value, unsigned)
{
	switch (port) {
	case PORT_COMMAND:
		command(value);
		break;
	case PORT_TEXT:
		if (bed.text_len < TEXT_MAX)
			bed.text[bed.text_len++] = (char)value;
		break;
	case PORT_EXPORT:
		if (bed.exported)
			putc_unlocked((int)(value & 0xff), bed.exported);
		break;
	}
}

static const char *mode_name(BX_CPU_C *cpu)
{
	if (cpu->real_mode())
		return "real";
	if (cpu->long64_mode())
		return "long";
	return cpu->long_mode() ? "compat" : "prot";
}

/* In few words, and with nothing but write(): it may come from a signal handler. */
static void tell_where()
{
	char line[256];
	unsigned i;
	int len;

	for (i = 0; i < bed.cpus; i++) {
		BX_CPU_C *cpu = bed.vpt[i]->cpu;

		len = snprintf(line, sizeof(line),
			       "vpt: cpu%u rip=%016llx cs=%04x mode=%s %s cr3=%llx icount=%llu\n",
			       i, (unsigned long long)cpu->get_rip(),
			       cpu->sregs[BX_SEG_REG_CS].selector.value, mode_name(cpu),
			       cpu->in_vmx_guest ? "nonroot"
			       : cpu->in_vmx	 ? "root"
						 : "novmx",
			       (unsigned long long)cpu->cr3, (unsigned long long)cpu->get_icount());
		if (write(2, line, (size_t)len) < 0)
			return;
	}
}

/* A signal is acted on between two instructions; asked again, it is not waited for. */
static void on_signal(int signal)
{
	volatile sig_atomic_t *asked = signal == SIGUSR1 ? &where_asked : &end_asked;

	if (*asked)
		tell_where();
	if (*asked && signal != SIGUSR1)
		_exit(128 + signal);
	*asked = 1;
}

static void poll_signals(void *)
{
	if (where_asked || end_asked)
		tell_where();
	where_asked = 0;
	if (end_asked)
		power_off(128 + SIGTERM);
}

static void open_ports()
{
	DEV_register_ioread_handler(&bed, read_port, PORT_COMMAND, "test bed", 4);
	DEV_register_iowrite_handler(&bed, write_port, PORT_COMMAND, "test bed", 4);
	DEV_register_iowrite_handler(&bed, write_port, PORT_TEXT, "test bed", 1);
	DEV_register_iowrite_handler(&bed, write_port, PORT_EXPORT, "test bed", 1);
	bx_pc_system.register_timer_ticks(&bed, poll_signals, POLL_TICKS, true, true,
					  "vpt.signals");
	signal(SIGUSR1, on_signal);
	signal(SIGTERM, on_signal);
	atexit(close_all);
}

void bx_vpt_bed_attach(bx_vpt_c *vpt)
{
	if (bed.cpus == sizeof(bed.vpt) / sizeof(bed.vpt[0]))
		return;
	if (!bed.cpus) {
		bed.status = -1;
		bed.dir = getenv("VPT_TESTBED_DIR");
		if (bed.dir && !*bed.dir)
			bed.dir = NULL;
		if (bed.dir)
			open_ports();
	}
	bed.vpt[bed.cpus++] = vpt;
}
