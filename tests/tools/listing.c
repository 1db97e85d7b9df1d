// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print what libvptdecode finds in an Intel PT stream, in the format of libipt's ptxed, so that
 * the listings of both can be compared.
 * usage: listing [OPTION...] --pt FILE
 *
 * Options are those of ptxed that the streams of libipt use. Options of time are ignored.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdecode/vptdecode.h"

#define NO_INSN 0x06 /* no instruction in 64-bit mode */

enum show {
	SHOW_IP = 1 << 0,
	SHOW_IFLAG = 1 << 1,
	SHOW_BLOCKS = 1 << 2,
	SHOW_INSNS = 1 << 3,	  /* the number of instructions at the end */
	SHOW_NBLOCKS = 1 << 4,	  /* the number of runs at the end */
	SHOW_STAT = 1 << 5,	  /* both, unless one of them is chosen */
	SHOW_NO_LISTING = 1 << 6, /* --quiet */
	SHOW_BLOCK_STAT = 1 << 7, /* the block decoder, which counts blocks */
};

struct evd {
	uint64_t payload;
	bool has;
};

struct listing {
	struct vptd_decoder *d;
	struct vptd_config config;
	unsigned int show; /* enum show */
	const char *pt;
	char *text;
	size_t len;
	size_t last_at; /* offset in the text of the last instruction */
	uint64_t last;	/* address of the last instruction */
	uint64_t next;	/* where tracing resumes if nothing happens in between */
	uint64_t insns, runs;
	uint64_t end; /* of the code */
	bool speculative, on, lost;
	struct evd cr2, vmxq, vmxr;
};

static void die(const char *what, const char *name)
{
	fprintf(stderr, "listing: %s: %s\n", name, what);
	exit(2);
}

__attribute__((format(printf, 2, 3))) static void print(struct listing *l, const char *format, ...)
{
	va_list args;

	l->text = realloc(l->text, l->len + 256);
	if (!l->text)
		abort();
	va_start(args, format);
	l->len += (size_t)vsnprintf(l->text + l->len, 256, format, args);
	va_end(args);
}

static void on_run(void *context, const struct vptd_run *run)
{
	struct listing *l = context;
	uint64_t ip = run->ip;
	uint32_t i;

	l->runs++;
	l->insns += run->count;
	if (l->show & SHOW_BLOCKS)
		print(l, "[block]\n");
	for (i = 0; i < run->count; ip += run->lens[i++]) {
		l->last = ip;
		l->last_at = l->len;
		if (!(l->show & SHOW_NO_LISTING))
			print(l, "%s%016" PRIx64 "\n", l->speculative ? "? " : "", ip);
	}
	l->next = ip;
}

/* ptxed lists the event of an INT n, and not the instruction. */
static void drop_int(struct listing *l, const struct vptd_event *e)
{
	char *line = l->text + l->last_at, *end;

	if (!(e->flags & VPTD_EV_SOFT_INT) || l->show & SHOW_NO_LISTING)
		return;
	l->text[l->len] = 0;
	end = strchr(line, '\n') + 1;
	memmove(line, end, strlen(end));
	l->len -= (size_t)(end - line);
	l->insns--;
	l->next = l->last;
}

static void print_ip(struct listing *l, const char *name, unsigned int flag,
		     const struct vptd_event *e)
{
	if (l->show & SHOW_IP && e->flags & flag)
		print(l, ", %s: %016" PRIx64, name, flag == VPTD_EV_IP ? e->ip : e->to);
}

/* The register of EVD that the CFE is about; each is for the next CFE alone. */
static void print_evd(struct listing *l, const char *name, struct evd *evd)
{
	if (evd->has)
		print(l, ", %s: %016" PRIx64, name, evd->payload);
	evd->has = false;
}

enum { CFE_INTR = 1, CFE_IRET, CFE_SMI, CFE_RSM, CFE_SIPI, CFE_INIT, CFE_VMENTRY, CFE_VMEXIT };
enum { CFE_VMEXIT_INTR = 9, CFE_SHUTDOWN, CFE_UINTR = 12, CFE_UIRET };

static void print_cfe(struct listing *l, const struct vptd_event *e)
{
	static const char *const names[] = {
		[CFE_IRET] = "iret",	     [CFE_SMI] = "smi",		[CFE_RSM] = "rsm",
		[CFE_INIT] = "init",	     [CFE_VMENTRY] = "vmentry", [CFE_VMEXIT] = "vmexit",
		[CFE_SHUTDOWN] = "shutdown", [CFE_UIRET] = "uiret",
	};

	switch (e->value) {
	case CFE_INTR:
		print(l, "[interrupt %u", e->aux);
		break;
	case CFE_SIPI:
		print(l, "[sipi: %x", e->aux);
		break;
	case CFE_VMEXIT_INTR:
		print(l, "[vmexit, intr: %u", e->aux);
		break;
	case CFE_UINTR:
		print(l, "[uintr %u", e->aux);
		break;
	default:
		/* ptxed ignores types that it does not know. */
		if (e->value >= sizeof(names) / sizeof(*names) || !names[e->value])
			return;
		print(l, "[%s", names[e->value]);
	}
	print_evd(l, "cr2", &l->cr2);
	print_evd(l, "vmxr", &l->vmxr);
	print_evd(l, "vmxq", &l->vmxq);
	print_ip(l, "ip", VPTD_EV_IP, e);
	print(l, "]\n");
}

static void keep_evd(struct listing *l, const struct vptd_event *e)
{
	struct evd *evd = e->aux == 0 ? &l->cr2 : e->aux == 1 ? &l->vmxq : &l->vmxr;

	if (e->aux <= 2)
		*evd = (struct evd){e->value, true};
}

static void print_error(struct listing *l, const struct vptd_event *e)
{
	static const char *const texts[] = {
		[VPTD_E_HOLE] = "no memory mapped at this address",
		[VPTD_E_PACKET] = "unexpected packet context",
	};
	size_t status = (size_t)e->value;
	const char *text;

	if (status == VPTD_E_BAD_INSN && e->flags & VPTD_EV_IP && e->ip == l->end)
		status = VPTD_E_HOLE;
	text = status < sizeof(texts) / sizeof(*texts) ? texts[status] : NULL;
	print(l, "[%" PRIx64 ", %" PRIx64 ": error: %s]\n", e->offset,
	      e->flags & VPTD_EV_IP ? e->ip : 0,
	      text ? text : vptd_status_text((enum vptd_status)e->value));
	l->lost = true;
}

/* MWAIT, PWRE and PWRX as table 33-37 and those behind it have their payloads. */
static void print_power(struct listing *l, const struct vptd_event *e)
{
	unsigned int v = (unsigned int)e->value;

	if (e->kind == VPTD_EVENT_MWAIT)
		print(l, "[mwait %x %x", v, e->aux);
	else if (e->kind == VPTD_EVENT_PWRE)
		print(l, "[pwre c%u.%u%s", ((v >> 4) + 1) & 0xf, (v + 1) & 0xf,
		      e->aux ? " hw" : "");
	else
		print(l, "[pwrx %s%s%sc%u (c%u)", e->aux & 1 ? "int: " : "",
		      e->aux & 4 ? "st: " : "", e->aux & 8 ? "hw: " : "", ((v >> 4) + 1) & 0xf,
		      (v + 1) & 0xf);
	print_ip(l, "ip", VPTD_EV_IP, e);
	print(l, "]\n");
}

static void print_tsx(struct listing *l, const struct vptd_event *e)
{
	l->speculative = e->value & 1;
	if (e->flags & VPTD_EV_STATUS)
		return;
	print(l, "[%s",
	      e->value & 2   ? "aborted"
	      : e->value & 1 ? "begin transaction"
			     : "committed");
	print_ip(l, "ip", VPTD_EV_IP, e);
	print(l, "]\n");
}

/* Events that change whether, where and in which mode code is traced. */
static bool print_flow(struct listing *l, const struct vptd_event *e)
{
	switch (e->kind) {
	case VPTD_EVENT_SYNC:
		l->on = e->flags & VPTD_EV_TO;
		l->lost = false;
		l->next = e->to;
		return true;
	case VPTD_EVENT_ENABLED:
		/* BDM70: what a PSB+ said to be on was not, so that nothing resumes. */
		print(l, "[%s", l->next == e->to && !l->on ? "resumed" : "enabled");
		l->on = true;
		l->next = e->to;
		print_ip(l, "ip", VPTD_EV_TO, e);
		break;
	case VPTD_EVENT_ASYNC_DISABLED:
		drop_int(l, e);
		l->on = false;
		print(l, "[disabled");
		print_ip(l, "at", VPTD_EV_IP, e);
		print_ip(l, "ip", VPTD_EV_TO, e);
		break;
	case VPTD_EVENT_DISABLED:
		l->on = false;
		print(l, "[disabled");
		print_ip(l, "ip", VPTD_EV_TO, e);
		break;
	case VPTD_EVENT_ASYNC_BRANCH:
		drop_int(l, e);
		l->next = e->to;
		print(l, "[interrupt");
		print_ip(l, "from", VPTD_EV_IP, e);
		print_ip(l, "to", VPTD_EV_TO, e);
		break;
	case VPTD_EVENT_OVERFLOW:
		l->on = e->flags & VPTD_EV_TO;
		l->speculative = false;
		print(l, "[overflow");
		print_ip(l, "ip", VPTD_EV_TO, e);
		break;
	default:
		return false;
	}
	print(l, "]\n");
	return true;
}

/* Events about the state in which code runs. The state of a PSB+ is not listed. */
static void print_state(struct listing *l, const struct vptd_event *e)
{
	if (e->flags & VPTD_EV_STATUS)
		return;
	switch (e->kind) {
	case VPTD_EVENT_PAGING:
		print(l, "[paging, cr3: %016" PRIx64 "%s", e->value, e->aux ? ", nr" : "");
		break;
	case VPTD_EVENT_VMCS:
		print(l, "[vmcs, base: %016" PRIx64, e->value);
		break;
	case VPTD_EVENT_EXEC_MODE:
		print(l, "[exec mode: %u-bit", (unsigned int)e->value);
		break;
	case VPTD_EVENT_IFLAG:
		if (!(l->show & SHOW_IFLAG))
			return;
		print(l, "[interrupts %s", e->value ? "enabled" : "disabled");
		break;
	case VPTD_EVENT_STOP:
		print(l, "[stopped");
		break;
	case VPTD_EVENT_PTWRITE:
		print(l, "[ptwrite: %" PRIx64, e->value);
		break;
	case VPTD_EVENT_EXSTOP:
		print(l, "[exstop");
		break;
	case VPTD_EVENT_CBR:
		print(l, "[cbr: %x", (unsigned int)e->value);
		break;
	case VPTD_EVENT_MNT:
		print(l, "[mnt: %" PRIx64, e->value);
		break;
	default:
		return;
	}
	print_ip(l, "ip", VPTD_EV_IP, e);
	print(l, "]\n");
}

static void on_event(void *context, const struct vptd_event *e)
{
	struct listing *l = context;

	if (l->show & SHOW_NO_LISTING && e->kind != VPTD_EVENT_ERROR)
		return;
	if (!print_flow(l, e)) {
		switch (e->kind) {
		case VPTD_EVENT_TSX:
			print_tsx(l, e);
			break;
		case VPTD_EVENT_MWAIT:
		case VPTD_EVENT_PWRE:
		case VPTD_EVENT_PWRX:
			print_power(l, e);
			break;
		case VPTD_EVENT_CFE:
			print_cfe(l, e);
			break;
		case VPTD_EVENT_EVD:
			keep_evd(l, e);
			break;
		case VPTD_EVENT_ERROR:
			print_error(l, e);
			break;
		default:
			print_state(l, e);
		}
	}
}

/* Return a single address space, since each stream has its code in one file, mapped once. */
static uint64_t one_space(void *context, uint64_t cr3, int nr, uint64_t vmcs)
{
	(void)context;
	(void)cr3;
	(void)nr;
	(void)vmcs;
	return 0;
}

static uint8_t *read_all(const char *name, size_t *len)
{
	FILE *file = fopen(name, "rb");
	uint8_t *bytes = malloc((1 << 20) + VPTD_PAGE);

	if (!file || !bytes)
		die("cannot be read", name);
	*len = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

/* FILE[:OFFSET[-END]]:ADDRESS */
static void load(struct listing *l, char *raw)
{
	char *address = strrchr(raw, ':'), *offset;
	uint64_t begin = 0;
	uint8_t *bytes;
	uint64_t ip;
	size_t len;

	if (!address)
		die("no address", raw);
	*address++ = 0;
	offset = strchr(raw, ':');
	if (offset) {
		*offset++ = 0;
		begin = strtoull(offset, NULL, 0);
	}
	bytes = read_all(raw, &len);
	if (begin > len)
		die("is shorter than that", raw);
	ip = strtoull(address, NULL, 0);
	l->end = ip + len - begin;
	/* Fill the rest of the page with invalid instructions instead of zeros. */
	memset(bytes + len, NO_INSN, VPTD_PAGE);
	len += -(size_t)l->end % VPTD_PAGE;
	if (vptd_code(l->d, VPTD_ANY_SPACE, ip, bytes + begin, len - begin))
		abort();
	free(bytes);
}

static const struct {
	const char *name;
	unsigned int show;
} flags[] = {
	{"--event:ip", SHOW_IP},
	{"--event:iflags", SHOW_IFLAG},
	{"--quiet", SHOW_NO_LISTING},
	{"--stat", SHOW_STAT},
	{"--stat:insn", SHOW_INSNS},
	{"--stat:blocks", SHOW_NBLOCKS},
	{"--block-decoder", SHOW_BLOCK_STAT},
	{"--block:show-blocks", SHOW_BLOCKS},
	{"--insn-decoder", 0},
	{"--block:end-on-call", 0},
	{"--block:end-on-jump", 0},
	{"--event:tick", 0},
	{"--event:time", 0},
	{"--insn:keep-tcal-on-ovf", 0},
	{"--block:keep-tcal-on-ovf", 0},
};

static bool flag(struct listing *l, const char *arg)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!strcmp(arg, flags[i].name)) {
			l->show |= flags[i].show;
			return true;
		}
	}
	return false;
}

/* Options with a value. --raw is for later, when there is a decoder. */
static void option(struct listing *l, const char *arg, const char *value)
{
	struct vptd_range *range = &l->config.range[0];

	if (!strcmp(arg, "--pt")) {
		l->pt = value;
	} else if (!strcmp(arg, "--cpu")) {
		if (sscanf(value, "%" SCNu32 "/%" SCNu32, &l->config.family, &l->config.model) != 2)
			die("is no processor", value);
	} else if (!strcmp(arg, "--filter:addr0_cfg")) {
		l->config.nranges = 1;
		range->stops = strtoull(value, NULL, 0) == 2;
	} else if (!strcmp(arg, "--filter:addr0_a")) {
		range->first = strtoull(value, NULL, 0);
	} else if (!strcmp(arg, "--filter:addr0_b")) {
		range->last = strtoull(value, NULL, 0);
	} else if (strcmp(arg, "--raw") && strcmp(arg, "--mtc-freq") && strcmp(arg, "--nom-freq") &&
		   strcmp(arg, "--cpuid-0x15.eax") && strcmp(arg, "--cpuid-0x15.ebx")) {
		die("is no option", arg);
	}
}

static void finish(struct listing *l)
{
	bool chosen = l->show & (SHOW_INSNS | SHOW_NBLOCKS);

	if (l->on && !l->lost && !(l->show & SHOW_NO_LISTING))
		print(l, "[end of trace]\n");
	if (l->show & SHOW_INSNS || (l->show & SHOW_STAT && !chosen))
		print(l, "insn:    %" PRIu64 ".\n", l->insns);
	if (l->show & SHOW_NBLOCKS || (l->show & SHOW_STAT && l->show & SHOW_BLOCK_STAT && !chosen))
		print(l, "blocks:  %" PRIu64 ".\n", l->runs);
	fwrite(l->text, 1, l->len, stdout);
}

int main(int argc, char **argv)
{
	static struct listing l;
	const struct vptd_ops ops = {
		.size = sizeof(ops), .event = on_event, .run = on_run, .space = one_space};
	enum vptd_status status;
	uint8_t *stream;
	size_t len;
	int i;

	/* libipt keeps the call stack unchanged at a RET that is not compressed. */
	l.config = (struct vptd_config){
		.size = sizeof(l.config), .flags = VPTD_CTL | VPTD_KEEPS_RET, .ctl = 0x8000200d};
	for (i = 1; i < argc; i++) {
		if (flag(&l, argv[i]))
			continue;
		if (i + 1 == argc)
			die("is no option", argv[i]);
		option(&l, argv[i], argv[i + 1]);
		i++;
	}
	if (!l.pt)
		die("is missing", "--pt");
	l.d = vptd_new(&l.config, &ops, &l, &status);
	if (!l.d)
		abort();
	for (i = 1; i + 1 < argc; i++) {
		if (!strcmp(argv[i], "--raw"))
			load(&l, argv[i + 1]);
	}
	stream = read_all(l.pt, &len);
	if (vptd_push(l.d, stream, len) || vptd_finish(l.d))
		abort();
	finish(&l);
	vptd_free(l.d);
	free(stream);
	free(l.text);
	return 0;
}
