// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf's events against the packets: event trace, changes of RFLAGS.IF, PTWRITE, power.
 *
 * usage: perf-events TRACE <PERF      PERF: perf script --itrace=Iwpe -F event,ip,synth
 *
 * What perf should say is worked out from the packets by our parser, for each kind of event
 * in order. Prints one line: how many events of each kind, or the first difference. The exit
 * status is 0 if there is none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader.h"
#include "trace/vec.h"
#include "vpt/packet.h"

#define LINE 160
#define EVDS 8

/* perf's names of events, and which list a line belongs to. */
enum kind { EVT, IFLAG, PTWRITE, MWAIT, PWRE, EXSTOP, PWRX, KINDS };
static const char *const names[KINDS] = {
	"evt:", "iflag:", "ptwrite:", "mwait:", "pwre:", "exstop:", "pwrx:"};

/* An event; it has no IP if the packets do not report one. */
struct event {
	char text[LINE];
	uint64_t ip;
	bool has_ip;
};

struct list {
	struct event *at;
	size_t n, room;
};

struct walk {
	struct list lists[KINDS];
	uint64_t last_ip;
	bool in_psb, on; /* on: packets are of code that is traced */
	bool from_if, to_if;
	/* The events that the next FUP belongs to. */
	bool ptw, mwait, pwre, exstop, mode, cfe, cfe_ip;
	struct vpt_packet ptw_packet, mwait_packet, pwre_packet, cfe_packet;
	struct vpt_packet evd[EVDS];
	unsigned int evds;
};

static void die(int err)
{
	printf("%s\n", strerror(-err));
	exit(2);
}

static struct event *add(struct list *l)
{
	if (!trace_vec_room(l))
		die(-ENOMEM);
	memset(&l->at[l->n], 0, sizeof(*l->at));
	return &l->at[l->n++];
}

__attribute__((format(printf, 4, 5))) static void say(struct walk *w, enum kind kind,
						      const uint64_t *ip, const char *format, ...)
{
	struct event *e = add(&w->lists[kind]);
	va_list args;

	va_start(args, format);
	vsnprintf(e->text, sizeof(e->text), format, args);
	va_end(args);
	e->has_ip = ip != NULL;
	if (ip)
		e->ip = *ip;
}

static void say_cfe(struct walk *w, const uint64_t *ip)
{
	static const char *const types[32] = {
		"",	   "INTR",   "IRET",	    "SMI",	"RSM", "SIPI", "INIT",
		"VMENTRY", "VMEXIT", "VMEXIT_INTR", "SHUTDOWN", "",    "UINT", "UIRET",
	};
	static const char *const evds[64] = {"PFA", "VMXQ", "VMXR"};
	char text[LINE];
	size_t n;
	unsigned int i;

	n = (size_t)snprintf(text, sizeof(text), "cfe: %s IP: %d vector: %u",
			     types[w->cfe_packet.value & 31], ip != NULL, w->cfe_packet.aux);
	for (i = 0; i < w->evds && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, " %s: %#" PRIx64,
				      evds[w->evd[i].aux & 63], w->evd[i].value);
	say(w, EVT, ip, "%s", text);
	w->evds = 0;
	w->cfe = false;
	w->cfe_ip = false;
}

static void say_if(struct walk *w, const uint64_t *ip, bool branch)
{
	say(w, IFLAG, ip, "IFLAG: %d->%d %s branch", !w->to_if, w->to_if, branch ? "via" : "non");
	w->from_if = w->to_if;
}

/* Apply the FUP to all pending events. */
static void fup(struct walk *w, const uint64_t *ip)
{
	if (w->cfe || w->cfe_ip)
		say_cfe(w, ip);
	if (w->mode)
		say_if(w, ip, false);
	if (w->ptw)
		say(w, PTWRITE, ip, "IP: 1 payload: %#" PRIx64, w->ptw_packet.value);
	if (w->mwait)
		say(w, MWAIT, ip, "hints: %#" PRIx64 " extensions: %#x", w->mwait_packet.value,
		    w->mwait_packet.aux);
	if (w->mwait && w->pwre)
		say(w, PWRE, ip, "hw: %d cstate: %u sub-cstate: %u", w->pwre_packet.flag,
		    (unsigned int)(w->pwre_packet.value >> 4),
		    (unsigned int)(w->pwre_packet.value & 15));
	if (w->exstop)
		say(w, EXSTOP, ip, "IP: 1");
	w->ptw = w->mwait = w->pwre = w->exstop = w->mode = false;
}

static void software(struct walk *w, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_PTW:
		if (p->flag) {
			w->ptw = true;
			w->ptw_packet = *p;
		} else {
			say(w, PTWRITE, NULL, "IP: 0 payload: %#" PRIx64, p->value);
		}
		return;
	case VPT_PKT_MWAIT:
		w->mwait = true;
		w->mwait_packet = *p;
		return;
	case VPT_PKT_PWRE:
		/* perf 6.1 shows without an MWAIT what an earlier one had. */
		if (w->mwait) {
			w->pwre = true;
			w->pwre_packet = *p;
		} else {
			say(w, PWRE, NULL, "*");
		}
		return;
	case VPT_PKT_EXSTOP:
		if (p->flag)
			w->exstop = true;
		else
			say(w, EXSTOP, NULL, "IP: 0");
		return;
	default:
		say(w, PWRX, NULL, "deepest cstate: %u last cstate: %u wake reason: %#x",
		    (unsigned int)(p->value & 15), (unsigned int)(p->value >> 4), p->aux);
		return;
	}
}

static void event_trace(struct walk *w, const struct vpt_packet *p)
{
	if (p->kind == VPT_PKT_EVD) {
		if (w->evds < EVDS)
			w->evd[w->evds++] = *p;
		return;
	}
	w->cfe_packet = *p;
	if (p->flag)
		w->cfe_ip = true;
	else if (w->on)
		w->cfe = true;
	else
		say_cfe(w, NULL);
}

static void branch(struct walk *w, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_TIP_PGD:
		w->on = false;
		return;
	case VPT_PKT_TRACE_STOP:
		w->on = false;
		return;
	case VPT_PKT_OVF:
		w->from_if = w->to_if;
		w->in_psb = w->on = false;
		w->ptw = w->mwait = w->pwre = w->exstop = w->mode = w->cfe = w->cfe_ip = false;
		w->evds = 0;
		return;
	default:
		w->on = true;
		if (w->from_if != w->to_if)
			say_if(w, NULL, true);
		return;
	}
}

static void ip_packet(struct walk *w, const struct vpt_packet *p)
{
	bool has = vpt_ip_expand(w->last_ip, p->ip_bytes, p->value, &w->last_ip) == VPT_OK;

	if (p->kind != VPT_PKT_FUP) {
		branch(w, p);
		return;
	}
	if (w->in_psb)
		w->on = true;
	else if (has)
		fup(w, &w->last_ip);
}

/* Handle a MODE.Exec. If a FUP follows directly, it only reports a change of RFLAGS.IF. */
static void mode(struct walk *w, const struct vpt_packet *p, bool before_fup)
{
	w->to_if = (p->value & 4) != 0;
	if (w->in_psb)
		w->from_if = w->to_if;
	else
		w->mode = before_fup;
}

static void take(struct walk *w, const struct vpt_packet *p, bool before_fup)
{
	switch (p->kind) {
	case VPT_PKT_PSB:
		w->in_psb = true;
		w->last_ip = 0;
		return;
	case VPT_PKT_PSBEND:
		w->in_psb = false;
		return;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		ip_packet(w, p);
		return;
	case VPT_PKT_TRACE_STOP:
	case VPT_PKT_OVF:
		branch(w, p);
		return;
	case VPT_PKT_MODE_EXEC:
		mode(w, p, before_fup);
		return;
	case VPT_PKT_PTW:
	case VPT_PKT_MWAIT:
	case VPT_PKT_PWRE:
	case VPT_PKT_EXSTOP:
	case VPT_PKT_PWRX:
		software(w, p);
		return;
	case VPT_PKT_CFE:
	case VPT_PKT_EVD:
		event_trace(w, p);
		return;
	default:
		return;
	}
}

static void walk(struct walk *w, const uint8_t *bytes, size_t len)
{
	struct vpt_parser parser = {0}, ahead;
	struct vpt_packet p, next;
	size_t at;

	for (at = 0; at < len; at += p.size) {
		if (vpt_packet_read(&parser, bytes + at, len - at, &p) != VPT_OK)
			return;
		ahead = parser;
		take(w, &p,
		     vpt_packet_read(&ahead, bytes + at + p.size, len - at - p.size, &next) ==
				     VPT_OK &&
			     next.kind == VPT_PKT_FUP);
	}
}

/* A line of perf: the event's name, its text, an IP in hexadecimal; 0: none. */
static void read_line(struct list *lists, char *line)
{
	char *word, *words[32], *last = NULL;
	unsigned int n = 0, i, k;
	struct event *e;
	size_t len = 0;

	for (word = strtok(line, " \n"); word && n < 32; word = strtok(NULL, " \n"))
		words[n++] = word;
	for (k = 0; n > 2 && k < KINDS; k++) {
		if (strcmp(words[0], names[k]) != 0)
			continue;
		e = add(&lists[k]);
		last = words[n - 1];
		e->ip = strtoull(last, NULL, 16);
		for (i = 1; i + 1 < n && len < LINE; i++)
			len += (size_t)snprintf(e->text + len, LINE - len, "%s%s", i > 1 ? " " : "",
						words[i]);
		return;
	}
}

static bool same(const struct event *ours, const struct event *perf)
{
	if (ours->has_ip && ours->ip != perf->ip)
		return false;
	return !strcmp(ours->text, "*") || !strcmp(ours->text, perf->text);
}

static bool compare(enum kind kind, const struct list *ours, const struct list *perf)
{
	static const struct event none = {.text = "nothing"};
	const struct event *a = &none, *b = &none;
	size_t i;

	for (i = 0; i < ours->n && i < perf->n && same(&ours->at[i], &perf->at[i]); i++)
		;
	if (i == ours->n && i == perf->n) {
		if (i)
			printf(" %s %zu", names[kind], i);
		return true;
	}
	if (i < ours->n)
		a = &ours->at[i];
	if (i < perf->n)
		b = &perf->at[i];
	printf("\n%s number %zu of %zu, perf: of %zu\nours: %s %" PRIx64 "\nperf: %s %" PRIx64 "\n",
	       names[kind], i, ours->n, perf->n, a->text, a->ip, b->text, b->ip);
	return false;
}

int main(int argc, char **argv)
{
	static struct walk w;
	static struct list perf[KINDS];
	const uint8_t *bytes;
	struct trace_reader *r;
	char line[512];
	bool all = true;
	unsigned int k;
	size_t len;
	int err;

	if (argc != 2)
		return 2;
	err = trace_reader_open(argv[1], &r, line, sizeof(line));
	if (err) {
		puts(line);
		return 2;
	}
	bytes = trace_reader_stream(r, 0, &len);
	if (!bytes)
		die(-ENOMEM);
	walk(&w, bytes, len);
	while (fgets(line, sizeof(line), stdin))
		read_line(perf, line);
	printf("events:");
	for (k = 0; k < KINDS && all; k++)
		all = compare(k, &w.lists[k], &perf[k]);
	putchar('\n');
	for (k = 0; k < KINDS; k++) {
		free(w.lists[k].at);
		free(perf[k].at);
	}
	trace_reader_close(r);
	return !all;
}
