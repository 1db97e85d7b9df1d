// SPDX-License-Identifier: GPL-2.0-or-later
/* Write trace files for tests: packets by libipt, and records of an oracle. */
#include "lib/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/suite.h"
#include "vpt/msr.h"

void synth_open(struct synth *s)
{
	const char *dir = getenv("TMPDIR");
	struct pt_config config;
	int fd;

	memset(s, 0, sizeof(*s));
	snprintf(s->path, sizeof(s->path), "%s/vpt-test-XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(s->path);
	ck_assert_int_ge(fd, 0);
	close(fd);

	s->info.vcpus = 1;
	s->info.owner = TRACE_OWNER_GUEST;
	s->info.oracle = 1;
	strcpy(s->info.model, "skl");
	strcpy(s->info.engine, "synth");
	ck_assert_int_eq(trace_writer_open(s->path, &s->info, &s->w), 0);

	pt_config_init(&config);
	config.begin = s->packets;
	config.end = s->packets + sizeof(s->packets);
	s->enc = pt_alloc_encoder(&config);
	ck_assert_ptr_nonnull(s->enc);

	memset(s->page, 0x90, sizeof(s->page));
	s->base = SYNTH_CODE;
	s->session.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) |
			 VPT_CTL_MASK(BRANCH_EN);
}

void synth_reopen(struct synth *s)
{
	ck_assert_int_eq(trace_writer_close(s->w, 0), 0);
	ck_assert_int_eq(trace_writer_open(s->path, &s->info, &s->w), 0);
}

void synth_close(struct synth *s)
{
	synth_flush(s);
	ck_assert_int_eq(trace_writer_close(s->w, 0), 0);
	s->w = NULL;
}

void synth_done(struct synth *s)
{
	if (s->w)
		synth_close(s);
	pt_free_encoder(s->enc);
	unlink(s->path);
}

struct trace_reader *synth_read(struct synth *s)
{
	struct trace_reader *r = NULL;
	char why[128] = "";

	if (s->w)
		synth_close(s);
	ck_assert_msg(trace_reader_open(s->path, &r, why, sizeof(why)) == 0, "%s", why);
	return r;
}

void synth_code(struct synth *s, uint64_t ip, const char *hex)
{
	uint8_t *at = s->page + (ip - SYNTH_CODE);

	while (*hex) {
		char *end;

		*at++ = (uint8_t)strtoul(hex, &end, 16);
		ck_assert_ptr_ne(end, hex);
		hex = end + strspn(end, " ");
	}
}

void synth_page_at(struct synth *s, uint64_t cr3, uint64_t vaddr)
{
	struct trace_code_page page = {.cr3 = cr3, .vaddr = vaddr, .gpa = vaddr, .insns = s->insns};

	if (s->info.flags & TRACE_INFO_CODE_BY_OFFSET) {
		synth_flush(s);
		page.insns = trace_writer_stream_bytes(s->w, 0);
	}
	ck_assert_int_eq(trace_writer_code(s->w, 0, &page, s->page), 0);
}

void synth_code_read(struct synth *s)
{
	struct trace_epoch read = {.epoch = s->insns};

	synth_flush(s);
	ck_assert_int_eq(trace_writer_epoch(s->w, 0, &read), 0);
}

void synth_page(struct synth *s)
{
	synth_page_at(s, SYNTH_CR3, SYNTH_CODE);
}

void synth_flush(struct synth *s)
{
	uint64_t at;

	ck_assert_int_eq(pt_enc_get_offset(s->enc, &at), 0);
	ck_assert_int_eq(
		trace_writer_trace(s->w, 0, UINT64_MAX, s->packets + s->sent, at - s->sent), 0);
	s->sent = at;
}

static void record(struct synth *s, uint8_t kind, uint64_t ip, uint8_t cpl, uint16_t aux)
{
	struct trace_oracle_record r = {.ip = ip, .kind = kind, .cpl = cpl, .aux = aux};

	ck_assert_int_eq(trace_writer_oracle(s->w, 0, r), 0);
}

void synth_start(struct synth *s, uint64_t ip, uint8_t cpl)
{
	synth_flush(s);
	s->session.edge = TRACE_SESSION_START;
	s->session.end = TRACE_END_NONE;
	s->session.insns = s->insns;
	ck_assert_int_eq(trace_writer_session(s->w, 0, &s->session), 0);
	record(s, TRACE_ORACLE_START, ip, cpl, 0);
}

void synth_stop(struct synth *s, enum trace_session_end end, uint64_t ip, uint8_t cpl)
{
	synth_flush(s);
	s->session.edge = TRACE_SESSION_END;
	s->session.end = end;
	s->session.insns = s->insns;
	ck_assert_int_eq(trace_writer_session(s->w, 0, &s->session), 0);
	record(s, TRACE_ORACLE_STOP, ip, cpl, (uint16_t)end);
}

static void put(struct synth *s, const struct pt_packet *packet)
{
	ck_assert_int_gt(pt_enc_next(s->enc, packet), 0);
}

void synth_packet(struct synth *s, enum pt_packet_type type)
{
	struct pt_packet packet = {.type = type};

	put(s, &packet);
}

void synth_raw(struct synth *s, const void *bytes, size_t len)
{
	uint64_t at;

	ck_assert_int_eq(pt_enc_get_offset(s->enc, &at), 0);
	memcpy(s->packets + at, bytes, len);
	ck_assert_int_eq(pt_enc_sync_set(s->enc, at + len), 0);
}

void synth_ip(struct synth *s, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet packet = {.type = type};

	packet.payload.ip.ipc = pt_ipc_sext_48;
	packet.payload.ip.ip = ip;
	put(s, &packet);
}

void synth_no_ip(struct synth *s, enum pt_packet_type type)
{
	struct pt_packet packet = {.type = type};

	packet.payload.ip.ipc = pt_ipc_suppressed;
	put(s, &packet);
}

void synth_tnt(struct synth *s, const char *bits)
{
	struct pt_packet packet = {.type = ppt_tnt_64};

	for (; *bits; bits++) {
		packet.payload.tnt.payload = packet.payload.tnt.payload << 1 | (*bits == '1');
		packet.payload.tnt.bit_size++;
	}
	if (packet.payload.tnt.bit_size <= 6)
		packet.type = ppt_tnt_8;
	put(s, &packet);
}

void synth_mode(struct synth *s)
{
	struct pt_packet packet = {.type = ppt_mode};

	packet.payload.mode.leaf = pt_mol_exec;
	packet.payload.mode.bits.exec.csl = 1;
	put(s, &packet);
}

void synth_pip(struct synth *s, uint64_t cr3)
{
	struct pt_packet packet = {.type = ppt_pip};

	packet.payload.pip.cr3 = cr3;
	packet.payload.pip.nr = s->non_root;
	put(s, &packet);
}

void synth_psb(struct synth *s, uint64_t fup)
{
	synth_packet(s, ppt_psb);
	synth_mode(s);
	if (s->session.ctl & VPT_CTL_MASK(OS))
		synth_pip(s, SYNTH_CR3);
	if (fup)
		synth_ip(s, ppt_fup, fup);
	synth_packet(s, ppt_psbend);
}

void synth_insn(struct synth *s, uint64_t ip, uint8_t cpl, unsigned int flags)
{
	s->insns++;
	record(s, TRACE_ORACLE_INSN, ip, cpl, (uint16_t)flags);
}

void synth_event(struct synth *s, uint64_t ip, uint8_t cpl, uint8_t vector, unsigned int flags)
{
	record(s, TRACE_ORACLE_EVENT, ip, cpl, TRACE_ORACLE_AUX(vector, flags));
}

void synth_cr3(struct synth *s, uint64_t cr3)
{
	record(s, TRACE_ORACLE_CR3, cr3, 0, 0);
}
