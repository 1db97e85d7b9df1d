// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the cases of tests/cli/libdecode. */
#include <ctype.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flowcase.h"

static const char *file;
static unsigned int line;

static void __attribute__((noreturn, format(printf, 1, 2))) bad(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%u: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 16);

	if (end == text)
		bad("a hexadecimal number is expected: %s", text);
	return value;
}

static void put(struct flow_case *c, const struct vpt_packet *p)
{
	uint8_t buf[VPT_PKT_MAX];
	size_t n = vpt_packet_write(buf, p);

	if (!n || c->len + n > sizeof(c->packets))
		bad("a packet is out of range");
	memcpy(c->packets + c->len, buf, n);
	c->len += n;
}

static void put_raw(struct flow_case *c, const char *hex)
{
	unsigned int byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		c->packets[c->len++] = (uint8_t)byte;
}

static void put_tnt(struct flow_case *c, const char *text)
{
	struct vpt_packet p = {.kind = strlen(text) > VPT_TNT8_MAX ? VPT_PKT_TNT_64
								   : VPT_PKT_TNT_8};

	for (; *text; text++, p.bits++)
		p.value = p.value << 1 | (*text == '!');
	put(c, &p);
}

static void put_ip(struct flow_case *c, enum vpt_pkt_kind kind, const char *text)
{
	struct vpt_packet p = {.kind = kind, .ip_bytes = VPT_IP_SUPPRESSED};

	if (strcmp(text, "-")) {
		p.ip_bytes = VPT_IP_FULL;
		p.value = number(text);
	}
	put(c, &p);
}

static void put_tma(struct flow_case *c, const char *text)
{
	const char *fast = strchr(text, '/');

	put(c, &(struct vpt_packet){.kind = VPT_PKT_TMA,
				    .value = number(text),
				    .aux = fast ? (uint16_t)number(fast + 1) : 0});
}

/* Words of packets with a payload: kind, and how the text behind the colon is read. */
static const struct {
	const char *name;
	enum vpt_pkt_kind kind;
	enum { NONE, IP, VALUE } payload;
	bool flag; /* a FUP follows */
	uint8_t bits;
} words[] = {
	{"PSB", VPT_PKT_PSB, NONE, false, 0},	      {"PSBEND", VPT_PKT_PSBEND, NONE, false, 0},
	{"PAD", VPT_PKT_PAD, NONE, false, 0},	      {"OVF", VPT_PKT_OVF, NONE, false, 0},
	{"STOP", VPT_PKT_TRACE_STOP, NONE, false, 0}, {"FUP", VPT_PKT_FUP, IP, false, 0},
	{"TIP", VPT_PKT_TIP, IP, false, 0},	      {"PGE", VPT_PKT_TIP_PGE, IP, false, 0},
	{"PGD", VPT_PKT_TIP_PGD, IP, false, 0},	      {"PIP", VPT_PKT_PIP, VALUE, false, 0},
	{"PIPN", VPT_PKT_PIP, VALUE, true, 0},	      {"VMCS", VPT_PKT_VMCS, VALUE, false, 0},
	{"MODE", VPT_PKT_MODE_EXEC, VALUE, false, 0}, {"TSX", VPT_PKT_MODE_TSX, VALUE, false, 0},
	{"TSC", VPT_PKT_TSC, VALUE, false, 0},	      {"MTC", VPT_PKT_MTC, VALUE, false, 0},
	{"CYC", VPT_PKT_CYC, VALUE, false, 0},	      {"CBR", VPT_PKT_CBR, VALUE, false, 0},
	{"PTW", VPT_PKT_PTW, VALUE, false, 64},	      {"PTWI", VPT_PKT_PTW, VALUE, true, 64},
	{"EXSTOP", VPT_PKT_EXSTOP, NONE, false, 0},   {"EXSTOPI", VPT_PKT_EXSTOP, NONE, true, 0},
	{"MWAIT", VPT_PKT_MWAIT, VALUE, false, 0},    {"PWRE", VPT_PKT_PWRE, VALUE, false, 0},
	{"PWRX", VPT_PKT_PWRX, VALUE, false, 0},      {"CFE", VPT_PKT_CFE, VALUE, false, 0},
	{"CFEI", VPT_PKT_CFE, VALUE, true, 0},	      {"EVD", VPT_PKT_EVD, VALUE, false, 0},
	{"BBP", VPT_PKT_BBP, VALUE, false, 0},	      {"BIP", VPT_PKT_BIP, VALUE, false, 64},
	{"BEP", VPT_PKT_BEP, NONE, false, 0},	      {"BEPI", VPT_PKT_BEP, NONE, true, 0},
};

static void packet(struct flow_case *c, char *word)
{
	char *payload = strchr(word, ':');
	size_t i;

	if (payload)
		*payload++ = 0;
	if (!strcmp(word, "raw")) {
		put_raw(c, payload);
		return;
	}
	if (!strcmp(word, "TNT")) {
		put_tnt(c, payload);
		return;
	}
	if (!strcmp(word, "TMA")) {
		put_tma(c, payload);
		return;
	}
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct vpt_packet p = {
			.kind = words[i].kind, .flag = words[i].flag, .bits = words[i].bits};

		if (strcmp(word, words[i].name))
			continue;
		if (words[i].payload != NONE && !payload)
			bad("%s needs a payload", word);
		if (words[i].payload == IP) {
			put_ip(c, words[i].kind, payload);
			return;
		}
		if (words[i].payload == VALUE) {
			char *vector = strchr(payload, '/');

			if (vector)
				*vector++ = 0;
			p.value = number(payload);
			p.aux = vector ? (uint16_t)number(vector) : 0;
		}
		put(c, &p);
		return;
	}
	bad("%s is no packet", word);
}

static void option(struct flow_case *c, char *word)
{
	unsigned int family, model, n;
	char *dash;

	if (sscanf(word, "cpu=%u/%x", &family, &model) == 2) {
		c->config.errata = dec_errata_of(family, model);
		if (!c->config.errata)
			bad("no errata are known of %s", word);
	} else if (!strcmp(word, "no-retc")) {
		c->config.no_retc = true;
	} else if (!strcmp(word, "keeps-ret")) {
		c->config.keeps_ret = true;
	} else if (!strcmp(word, "no-os")) {
		c->config.no_os = true;
	} else if (!strcmp(word, "no-flow")) {
		c->config.no_flow = true;
	} else if (!strcmp(word, "event-en")) {
		c->config.event_en = true;
	} else if (!strncmp(word, "cr3=", 4)) {
		c->config.cr3_filter = true;
		c->config.cr3_match = number(word + 4);
	} else if (sscanf(word, "time=%u/%u/%u", &c->time.crystal_num, &c->time.crystal_den,
			  &c->time.max_nonturbo) == 3) {
		c->timed = true;
	} else if (sscanf(word, "mtc=%u", &n) == 1) {
		c->time.mtc = true;
		c->time.mtc_freq = (uint8_t)n;
	} else if (sscanf(word, "cyc=%u", &n) == 1) {
		c->time.cyc = true;
		c->time.threshold = n;
	} else if (!strncmp(word, "filter=", 7) && (dash = strchr(word, '-')) &&
		   c->config.nranges < 4) {
		c->config.range[c->config.nranges].first = number(word + 7);
		c->config.range[c->config.nranges++].last = number(dash + 1);
	} else {
		bad("%s is no option", word);
	}
}

/* ADDRESS[@SPACE][+COUNTER][=KEY] BYTES... */
static void code(struct flow_case *c, char *text)
{
	struct flow_code *code = &c->code[c->ncode];
	char *place = strtok(text, " \t\n"), *part, *byte;

	if (!place || c->ncode == FLOW_CODE_MAX)
		bad("code needs an address, and there is room for %u", FLOW_CODE_MAX);
	memset(code, 0, sizeof(*code));
	code->space = 0x1000;
	code->address = number(place);
	if ((part = strchr(place, '@')))
		code->space = number(part + 1);
	if ((part = strchr(place, '+')))
		code->at = number(part + 1);
	code->key = (code->address ^ code->space << 32) >> 12;
	if ((part = strchr(place, '=')))
		code->key = number(part + 1);
	while ((byte = strtok(NULL, " \t\n"))) {
		if (code->len == sizeof(code->bytes))
			bad("too many bytes");
		code->bytes[code->len++] = (uint8_t)number(byte);
	}
	c->ncode++;
}

static void flow(struct flow_case *c, char *text)
{
	char *word;

	for (word = strtok(text, " \t\n"); word; word = strtok(NULL, " \t\n")) {
		size_t had = strlen(c->flow), more = strlen(word);

		c->flow = realloc(c->flow, had + more + 2);
		if (!c->flow)
			bad("no memory");
		if (had)
			c->flow[had++] = ' ';
		memcpy(c->flow + had, word, more + 1);
	}
}

static void each(struct flow_case *c, char *text, void (*take)(struct flow_case *c, char *word))
{
	char *save, *word;

	for (word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
		take(c, word);
}

static void keyword(struct flow_case *c, const char *key, char *rest)
{
	if (!strcmp(key, "with"))
		each(c, rest, option);
	else if (!strcmp(key, "code"))
		code(c, rest);
	else if (!strcmp(key, "packets"))
		each(c, rest, packet);
	else if (!strcmp(key, "flow"))
		flow(c, rest);
	else
		bad("%s is none of case, with, code, packets, flow", key);
}

static unsigned int read_file(struct flow_case *cases, unsigned int n, unsigned int max)
{
	FILE *in = fopen(file, "r");
	char text[4096], key[32];

	if (!in)
		bad("cannot be opened");
	for (line = 1; fgets(text, sizeof(text), in); line++) {
		int at = 0;

		if (text[0] == '#' || sscanf(text, "%31s %n", key, &at) != 1)
			continue;
		if (strcmp(key, "case")) {
			if (!n)
				bad("a case is expected");
			keyword(&cases[n - 1], key, text + at);
			continue;
		}
		if (n == max)
			bad("there is room for %u cases", max);
		memset(&cases[n], 0, sizeof(*cases));
		cases[n].flow = strdup("");
		snprintf(cases[n].name, sizeof(cases[n].name), "%.140s", text + at);
		cases[n].name[strcspn(cases[n].name, "\n")] = 0;
		n++;
	}
	fclose(in);
	return n;
}

unsigned int flow_cases_read(const char *folder, struct flow_case *cases, unsigned int max)
{
	unsigned int n = 0;
	char pattern[256];
	glob_t found;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/*.flow", folder);
	if (glob(pattern, 0, NULL, &found)) {
		fprintf(stderr, "%s: there are no cases\n", pattern);
		exit(1);
	}
	for (i = 0; i < found.gl_pathc; i++) {
		file = found.gl_pathv[i];
		n = read_file(cases, n, max);
	}
	globfree(&found);
	return n;
}
