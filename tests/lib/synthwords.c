// SPDX-License-Identifier: GPL-2.0-or-later
/* Play words that are code and packets into a file made by hand. */
#include "lib/synthwords.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Read the number at @text and, if @second, a number behind a slash (0 if there is none). */
static uint64_t number(const char *text, uint64_t *second)
{
	char *end;
	uint64_t value = strtoull(text, &end, 16);

	ck_assert_msg(end != text, "%s: not a number", text);
	if (second) {
		*second = 0;
		if (*end == '/')
			*second = strtoull(end + 1, &end, 16);
	}
	ck_assert_msg(!*end, "%s: not a number", text);
	return value;
}

/* Read bytes written as pairs of digits. Returns their number. */
static size_t bytes(uint8_t *to, size_t size, const char *hex)
{
	unsigned int byte;
	size_t n = 0;

	for (; *hex; hex += 2) {
		ck_assert_msg(sscanf(hex, "%2x", &byte) == 1 && hex[1], "%s: not bytes", hex);
		ck_assert_uint_lt(n, size);
		to[n++] = (uint8_t)byte;
	}
	return n;
}

static void play_code(struct synth *s, const char *text)
{
	char *end;
	size_t at = strtoul(text, &end, 16);

	ck_assert_msg(*end == '=' && at < sizeof(s->page), "%s: no place and bytes", text);
	bytes(s->page + at, sizeof(s->page) - at, end + 1);
}

static void play_page(struct synth *s, const char *text)
{
	uint64_t cr3, at;

	cr3 = number(text, &at);
	synth_page_at(s, cr3, s->base + at);
}

static void play_insns(struct synth *s, const char *text)
{
	s->insns = number(text, NULL);
}

static void play_base(struct synth *s, const char *text)
{
	s->base = number(text, NULL);
}

static void play_switch(struct synth *s, const char *text)
{
	struct trace_cr3_switch sw = {0};

	sw.cr3 = number(text, &sw.insns);
	trace_writer_cr3(s->w, 0, &sw);
}

static void play_begin(struct synth *s, const char *text)
{
	uint64_t ip = s->base + number(text, NULL);

	synth_start(s, ip, 0);
	synth_psb(s, 0);
	synth_mode(s);
	synth_ip(s, ppt_tip_pge, ip);
}

static void play_finish(struct synth *s, const char *text)
{
	uint64_t ip = s->base + number(text, NULL);

	synth_ip(s, ppt_fup, ip);
	synth_no_ip(s, ppt_tip_pgd);
	synth_stop(s, TRACE_END_DISABLED, ip, 0);
}

static void play_psb(struct synth *s, const char *text)
{
	synth_psb(s, s->base + number(text, NULL));
}

static void play_pip(struct synth *s, const char *text)
{
	synth_pip(s, number(text, NULL));
}

/* A PIP with NR set. */
static void play_pipn(struct synth *s, const char *text)
{
	const bool non_root = s->non_root;

	s->non_root = true;
	synth_pip(s, number(text, NULL));
	s->non_root = non_root;
}

static void play_vmcs(struct synth *s, const char *text)
{
	struct pt_packet packet = {.type = ppt_vmcs};

	packet.payload.vmcs.base = number(text, NULL);
	ck_assert_int_gt(pt_enc_next(s->enc, &packet), 0);
}

static void play_tsc(struct synth *s, const char *text)
{
	struct pt_packet packet = {.type = ppt_tsc};

	packet.payload.tsc.tsc = number(text, NULL);
	ck_assert_int_gt(pt_enc_next(s->enc, &packet), 0);
}

static void play_raw(struct synth *s, const char *text)
{
	uint8_t raw[64];

	synth_raw(s, raw, bytes(raw, sizeof(raw), text));
}

/* A word with this prefix is played with the text after the prefix. */
static const struct {
	const char *begins;
	void (*play)(struct synth *s, const char *text);
} with_text[] = {
	{"code", play_code},	  {"page@", play_page},	    {"insns=", play_insns},
	{"base=", play_base},	  {"switch=", play_switch}, {"begin@", play_begin},
	{"finish@", play_finish}, {"PSB+:", play_psb},	    {"TNT:", synth_tnt},
	{"PIP:", play_pip},	  {"PIPN:", play_pipn},	    {"VMCS:", play_vmcs},
	{"TSC:", play_tsc},	  {"raw:", play_raw},
};

static bool play_with_text(struct synth *s, const char *word)
{
	size_t i, len;

	for (i = 0; i < COUNT(with_text); i++) {
		len = strlen(with_text[i].begins);
		if (!strncmp(word, with_text[i].begins, len)) {
			with_text[i].play(s, word + len);
			return true;
		}
	}
	return false;
}

/* Put a packet with the low 16 or 32 bits of an IP, which is compressed against the last one. */
static void put_low(struct synth *s, enum pt_packet_type type, enum pt_ip_compression ipc,
		    uint64_t ip)
{
	struct pt_packet packet = {.type = type};

	packet.payload.ip.ipc = ipc;
	packet.payload.ip.ip = ip & (ipc == pt_ipc_update_16 ? 0xffff : 0xffffffff);
	ck_assert_int_gt(pt_enc_next(s->enc, &packet), 0);
}

static bool play_ip(struct synth *s, const char *word)
{
	static const struct {
		const char *begins;
		enum pt_packet_type type;
	} types[] = {
		{"TIP", ppt_tip},
		{"PGE", ppt_tip_pge},
		{"PGD", ppt_tip_pgd},
		{"FUP", ppt_fup},
	};
	size_t i;

	for (i = 0; i < COUNT(types); i++) {
		if (strncmp(word, types[i].begins, 3) != 0)
			continue;
		if (!strcmp(word + 3, ":-"))
			synth_no_ip(s, types[i].type);
		else if (word[3] == ':')
			synth_ip(s, types[i].type, s->base + number(word + 4, NULL));
		else if (!strncmp(word + 3, "16:", 3))
			put_low(s, types[i].type, pt_ipc_update_16,
				s->base + number(word + 6, NULL));
		else if (!strncmp(word + 3, "32:", 3))
			put_low(s, types[i].type, pt_ipc_update_32,
				s->base + number(word + 6, NULL));
		else
			continue;
		return true;
	}
	return false;
}

/* The code of the file changes at offsets in the stream. */
static void begin_by_offset(struct synth *s)
{
	s->info.flags |= TRACE_INFO_CODE_BY_OFFSET;
	synth_reopen(s);
}

static bool play_alone(struct synth *s, const char *word)
{
	static const struct {
		const char *word;
		enum pt_packet_type type;
	} types[] = {
		{"PSB", ppt_psb},
		{"PSBEND", ppt_psbend},
		{"OVF", ppt_ovf},
		{"STOP", ppt_stop},
	};
	size_t i;

	for (i = 0; i < COUNT(types); i++) {
		if (!strcmp(word, types[i].word)) {
			synth_packet(s, types[i].type);
			return true;
		}
	}
	if (!strcmp(word, "PSB+"))
		synth_psb(s, 0);
	else if (!strcmp(word, "MODE"))
		synth_mode(s);
	else if (!strcmp(word, "page"))
		synth_page(s);
	else if (!strcmp(word, "nops"))
		memset(s->page, 0x90, sizeof(s->page));
	else if (!strcmp(word, "non-root"))
		s->non_root = true;
	else if (!strcmp(word, "by-offset"))
		begin_by_offset(s);
	else if (!strcmp(word, "read"))
		synth_code_read(s);
	else if (!strcmp(word, "dis-tnt"))
		s->session.ctl |= VPT_CTL_MASK(DIS_TNT);
	else if (!strcmp(word, "event-en"))
		s->session.ctl |= VPT_CTL_MASK(EVENT_EN);
	else
		return false;
	return true;
}

/* Play a packet that libipt does not know. */
static bool play_own(struct synth *s, const char *word)
{
	static const struct {
		const char *name;
		struct vpt_packet packet;
		bool value;
	} own[] = {
		{"BBP", {.kind = VPT_PKT_BBP}, true},
		{"BBP32", {.kind = VPT_PKT_BBP, .flag = true}, true},
		{"BIP", {.kind = VPT_PKT_BIP, .bits = 64}, true},
		{"BIP32", {.kind = VPT_PKT_BIP, .bits = 32}, true},
		{"BEP", {.kind = VPT_PKT_BEP}, false},
		{"BEPI", {.kind = VPT_PKT_BEP, .flag = true}, false},
		{"CFE", {.kind = VPT_PKT_CFE}, true},
		{"CFEI", {.kind = VPT_PKT_CFE, .flag = true}, true},
		{"EVD", {.kind = VPT_PKT_EVD}, true},
		{"PTWI", {.kind = VPT_PKT_PTW, .bits = 64, .flag = true}, true},
	};
	size_t i, len = strcspn(word, ":");
	uint8_t buf[VPT_PKT_MAX];

	for (i = 0; i < COUNT(own); i++) {
		struct vpt_packet p = own[i].packet;
		uint64_t aux;

		if (strlen(own[i].name) != len || strncmp(word, own[i].name, len) != 0)
			continue;
		ck_assert_msg(own[i].value == (word[len] == ':'), "%s: payload", word);
		if (own[i].value) {
			p.value = number(word + len + 1, &aux);
			p.aux = (uint16_t)aux;
		}
		synth_raw(s, buf, vpt_packet_write(buf, &p));
		return true;
	}
	return false;
}

bool synth_word(struct synth *s, const char *word)
{
	return play_alone(s, word) || play_ip(s, word) || play_own(s, word) ||
	       play_with_text(s, word);
}
