// SPDX-License-Identifier: GPL-2.0-or-later
/* Replays the records of a log into a .vpt file. */
#include "import/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/pages.h"

#define PAGE_BYTES     4096
#define GUEST_PHYSICAL (1ull << 63)

/* Bits of CTL (33.2.8.2). */
#define CTL_OS		(1ull << 2)
#define CTL_ADDR_CFG(n) (32 + 4 * (n))
#define RANGE_STOP	2

/* A retired instruction. The next record shows its flags. */
struct insn {
	uint64_t ip; /* IP as in packets */
	uint8_t cpl;
	uint16_t flags; /* enum trace_oracle_insn_flags */
	bool enters;	/* is VMLAUNCH or VMRESUME */
	bool there;
};

/* The order of a TRIGGER record and its instruction. */
enum order { NOT_KNOWN, BEFORE, AFTER };

struct replay {
	struct import_index *index;
	size_t number;
	bool lip;
	struct trace_writer *writer;
	uint64_t *no_code;
	struct import_pages pages;
	uint64_t *insns; /* counters, by stream */

	/* The state of the processor. */
	struct import_log_record context;
	uint64_t base; /* offset from a logged IP to the IP in packets */
	uint64_t space;
	uint64_t next; /* IP behind the last instruction */
	bool moved;    /* the context changed */
	bool left;     /* there was an event or a new start since the last instruction */
	bool packet_en;
	enum order order;

	/* The current session; NULL if there is none, or if it is not selected. */
	const struct import_session *session;
	size_t next_session;
	bool in_session; /* in a session, selected or not */
	struct trace_session regs;
	bool quiet;	 /* no instruction yet */
	uint64_t starts; /* its first IP; `starting`: the instruction that started it has not
	                  * retired yet */
	bool starting;
	bool falling; /* a fall of TriggerEn waits for its instruction */
	struct import_log_record fall;

	struct insn insn;
};

static unsigned int stream(const struct replay *m)
{
	return (unsigned int)m->session->stream;
}

static int record(struct replay *m, uint8_t kind, uint64_t ip, uint8_t cpl, uint16_t aux)
{
	const struct trace_oracle_record r = {.ip = ip, .kind = kind, .cpl = cpl, .aux = aux};

	return m->session ? trace_writer_oracle(m->writer, stream(m), r) : 0;
}

static uint8_t cpl(const struct replay *m)
{
	return m->context.flags & VPT_LOG_CPL;
}

/* Return the IP behind an instruction, in its mode. */
static uint64_t ip_after(const struct replay *m, uint64_t ip, unsigned int length)
{
	ip += length;
	if (m->context.flags & VPT_LOG_CS_L)
		return ip;
	return m->context.flags & VPT_LOG_CS_D ? (uint32_t)ip : (uint16_t)ip;
}

/* Write the waiting instruction. */
static int flush(struct replay *m)
{
	if (!m->insn.there)
		return 0;
	m->insn.there = false;
	return record(m, TRACE_ORACLE_INSN, m->insn.ip, m->insn.cpl, m->insn.flags);
}

/* Return the page of `vaddr` with its current content in the file, or NULL if no record had it. */
static int need_page(struct replay *m, uint64_t linear, struct import_page **found)
{
	struct import_page *page =
		import_pages_find(&m->pages, m->space, linear & ~(uint64_t)(PAGE_BYTES - 1));
	struct trace_code_page code;

	*found = page;
	if (!page || page->written[stream(m)] == page->bytes)
		return 0;
	code = (struct trace_code_page){
		.cr3 = m->space,
		.vaddr = page->vaddr - m->context.cs_base + m->base,
		.gpa = page->physical,
		.insns = m->insns[stream(m)],
	};
	/* If IPs are not linear addresses and bases are unaligned, there is no such page. */
	if (code.vaddr % PAGE_BYTES) {
		*found = NULL;
		return 0;
	}
	page->written[stream(m)] = page->bytes;
	return trace_writer_code(m->writer, stream(m), &code, page->bytes);
}

static const uint8_t *code_at(const struct import_page *page, uint64_t linear, size_t len)
{
	size_t at = linear % PAGE_BYTES;

	return page && at + len <= PAGE_BYTES ? page->bytes + at : NULL;
}

static bool is_vm_entry(const uint8_t *op)
{
	return op[0] == 0x0f && op[1] == 0x01 && (op[2] == 0xc2 || op[2] == 0xc3);
}

/* Detect MOV to CR3 with any prefixes: it has neither displacement nor immediate. */
static bool is_cr3_write(const uint8_t *op, unsigned int length)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					   0x66, 0x67, 0xf0, 0xf2, 0xf3};
	unsigned int i = length - 3, k;

	if (op[i] != 0x0f || op[i + 1] != 0x22 || (op[i + 2] & 0x38) != 0x18)
		return false;
	for (k = 0; k < i; k++) {
		if ((op[k] & 0xf0) != 0x40 && !memchr(prefixes, op[k], sizeof(prefixes)))
			return false;
	}
	return true;
}

/* Return the code for the instruction at `linear`. */
static const uint8_t *code_of(const struct replay *m, uint64_t linear, unsigned int length)
{
	return code_at(import_pages_find(&m->pages, m->space, linear & ~(uint64_t)(PAGE_BYTES - 1)),
		       linear, length);
}

/* Write the code of a traced instruction to the file, if it is missing. */
static int need_code(struct replay *m, uint64_t linear, unsigned int length)
{
	struct import_page *page = NULL, *second = NULL;
	int err = need_page(m, linear, &page);

	if (!err && linear % PAGE_BYTES + length > PAGE_BYTES)
		err = need_page(m, linear + length - 1, &second);
	else
		second = page;
	*m->no_code += !page || !second;
	return err;
}

/* Note the properties of the instruction that matter. */
static int inspect(struct replay *m, uint64_t ip, unsigned int length)
{
	uint64_t linear = ip + m->context.cs_base;
	const uint8_t *op;
	int err = m->packet_en ? need_code(m, linear, length) : 0;

	op = code_of(m, linear, length);
	if (err || !op || length < 3)
		return err;
	m->insn.enters = length == 3 && is_vm_entry(op);
	if (is_cr3_write(op, length))
		m->insn.flags |= TRACE_ORACLE_CR3_WRITE;
	return 0;
}

static int end_session(struct replay *m);

/* Returns true if the instruction is a VMLAUNCH or VMRESUME. */
static bool enters(const struct replay *m, uint64_t ip, unsigned int length)
{
	const uint8_t *op = code_of(m, ip + m->context.cs_base, length);

	return length == 3 && op && is_vm_entry(op);
}

/* Returns true if this instruction started the session and is logged after the start. */
static bool started_it(struct replay *m, uint64_t ip, unsigned int length)
{
	bool it = m->starting && ip != m->starts &&
		  (ip_after(m, ip, length) == m->starts || enters(m, ip, length));

	if (m->starting && m->order == NOT_KNOWN)
		m->order = it ? BEFORE : AFTER;
	m->starting = false;
	return it;
}

static int insn(struct replay *m, uint64_t ip, unsigned int length, bool arrived)
{
	bool counts = m->session && !started_it(m, ip, length);
	int err = flush(m);

	m->next = ip_after(m, ip, length);
	if (err || !counts) {
		m->left = m->moved = false;
		return err;
	}
	m->insn = (struct insn){
		.ip = ip + m->base,
		.cpl = cpl(m),
		.flags = (uint16_t)((arrived ? TRACE_ORACLE_ARRIVED : 0) |
				    (m->context.flags & VPT_LOG_PAE ? TRACE_ORACLE_PAE : 0)),
		.there = true,
	};
	err = inspect(m, ip, length);
	m->insns[stream(m)] += m->packet_en;
	m->quiet = false;
	m->left = m->moved = false;
	if (!err && m->falling)
		err = end_session(m);
	return err;
}

/* Handle an instruction that did not fall through, or is the first of a session or context. */
static int insn_at(struct replay *m, const struct import_log_record *r)
{
	/* MOV CR3 and similar instructions change the context and fall through. */
	return insn(m, r->ip, r->length, m->left || !m->moved || r->ip != m->next);
}

/*
 * VMLAUNCH or VMRESUME without a guest: a late failure resembles a VM exit, but its source is that
 * instruction (table 33-54).
 */
static bool entry_failed(const struct replay *m)
{
	return m->insn.there && m->insn.enters && !(m->insn.flags & TRACE_ORACLE_VM_ENTRY);
}

static int event(struct replay *m, const struct import_log_record *r)
{
	bool arrived = m->left || r->ip != m->next;
	uint16_t aux = TRACE_ORACLE_AUX(r->vector, arrived ? TRACE_ORACLE_ARRIVED : 0);
	uint8_t kind = TRACE_ORACLE_EVENT;
	uint64_t ip = r->ip + m->base;
	int err;

	m->starting = false;
	/* A VM entry injects an INT n without its instruction. */
	if (r->event == VPT_LOG_SOFTWARE && m->insn.there && !m->insn.enters) {
		m->insn.flags |= TRACE_ORACLE_SOFT_INT;
		ip = m->insn.ip;
		aux = TRACE_ORACLE_AUX(r->vector, 0);
	} else if (r->event == VPT_LOG_VM_EXIT && entry_failed(m)) {
		m->left = true;
		return flush(m);
	} else if (r->event == VPT_LOG_VM_EXIT) {
		kind = TRACE_ORACLE_VM_EXIT;
		aux = TRACE_ORACLE_AUX(0, arrived ? TRACE_ORACLE_ARRIVED : 0);
	}
	err = flush(m);
	if (!err)
		err = record(m, kind, ip, cpl(m), aux);
	m->left = true;
	if (!err && m->falling)
		err = end_session(m);
	return err;
}

/* Write the current space to the session's stream, also where no PIP has it. */
static int report_space(struct replay *m)
{
	const struct trace_cr3_switch sw = {
		.cr3 = m->space,
		.insns = m->session ? m->insns[stream(m)] : 0,
	};
	int err = record(m, TRACE_ORACLE_CR3, m->space, cpl(m), 0);

	if (err || !m->session || (!m->quiet && (m->regs.ctl & CTL_OS)))
		return err;
	return trace_writer_cr3(m->writer, stream(m), &sw);
}

static int context(struct replay *m, const struct import_log_record *r)
{
	const struct trace_space *space = import_index_space(m->index, r);
	uint8_t was = m->context.flags;
	int err;

	if (!space)
		return -ENOMEM;
	if (m->insn.enters && r->flags & VPT_LOG_NON_ROOT)
		m->insn.flags |= TRACE_ORACLE_VM_ENTRY;
	err = flush(m);
	m->context = *r;
	m->base = m->lip ? r->cs_base : 0;
	m->moved = true;
	/* No instruction falls through to another privilege level or operation. */
	if ((was ^ r->flags) & (VPT_LOG_CPL | VPT_LOG_NON_ROOT))
		m->left = true;
	if (err || space->id == m->space)
		return err;
	m->space = space->id;
	return report_space(m);
}

/* Write the VMCSs that the stream does not have yet. */
static int report_vmcs(struct replay *m)
{
	size_t i;
	int err = 0;

	for (i = 0; m->session && i < m->index->vmcs.n && !err; i++) {
		struct import_vmcs *v = &m->index->vmcs.at[i];

		if (v->written[stream(m)] == v->generation)
			continue;
		v->written[stream(m)] = v->generation;
		err = trace_writer_vmcs(m->writer, stream(m), &v->vmcs);
	}
	return err;
}

static int vmx(struct replay *m, const struct import_log_record *r)
{
	if (!r->index && m->insn.there && m->insn.enters)
		m->insn.flags |= TRACE_ORACLE_VM_ENTRY;
	if (!import_index_vmcs(m->index, r))
		return -ENOMEM;
	return report_vmcs(m);
}

static void fill_regs(struct trace_session *s, const struct import_log_record *r)
{
	uint64_t values[13];
	unsigned int i;

	memcpy(values, r->data, sizeof(values));
	memset(s, 0, sizeof(*s));
	s->ctl = values[0];
	s->status = values[1];
	s->output_base = values[2];
	s->output_mask_ptrs = values[3];
	s->cr3_match = values[4];
	for (i = 0; i < 2 * VPT_MAX_RANGES; i++)
		s->addr[i] = values[5 + i];
}

static int begin_session(struct replay *m, const struct import_log_record *r)
{
	const struct import_session *s = &m->index->sessions.at[m->next_session++];
	int err = flush(m);

	if (err)
		return err;
	m->in_session = true;
	m->session = s->stream == IMPORT_NO_STREAM ? NULL : s;
	m->starts = r->ip;
	m->starting = m->order != AFTER;
	m->left = true;
	m->quiet = true;
	if (!m->session)
		return 0;
	fill_regs(&m->regs, r);
	m->regs.edge = TRACE_SESSION_START;
	m->regs.insns = m->insns[stream(m)];
	err = trace_writer_session(m->writer, stream(m), &m->regs);
	if (!err)
		err = record(m, TRACE_ORACLE_START, r->ip + m->base, cpl(m), 0);
	if (!err)
		err = report_space(m);
	return err ? err : report_vmcs(m);
}

/* STOPPED means TraceStop if a range requests it, and otherwise a ToPA entry. */
static bool in_stop_range(const struct trace_session *s, uint64_t ip)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if ((s->ctl >> CTL_ADDR_CFG(n) & 15) == RANGE_STOP && ip >= s->addr[2 * n] &&
		    ip <= s->addr[2 * n + 1])
			return true;
	}
	return false;
}

static enum trace_session_end why(const struct replay *m)
{
	switch (m->fall.end) {
	case VPT_LOG_DISABLED:
		return TRACE_END_DISABLED;
	case VPT_LOG_STOPPED:
		return in_stop_range(&m->regs, m->fall.ip + m->base) ? TRACE_END_TRACE_STOP
								     : TRACE_END_TOPA_STOP;
	default:
		return TRACE_END_ERROR;
	}
}

static int end_session(struct replay *m)
{
	struct trace_session end;
	int err;

	m->falling = false;
	m->in_session = false;
	m->starting = false;
	if (!m->session)
		return flush(m);
	/* The waiting VMLAUNCH or VMRESUME entered the guest, which ended the session. */
	if (m->insn.there && m->insn.enters && why(m) == TRACE_END_DISABLED)
		m->insn.flags |= TRACE_ORACLE_VM_ENTRY;
	err = flush(m);
	fill_regs(&end, &m->fall);
	end.edge = TRACE_SESSION_END;
	end.end = why(m);
	end.insns = m->insns[stream(m)];
	if (!err)
		err = record(m, TRACE_ORACLE_STOP, m->fall.ip + m->base, cpl(m), (uint16_t)end.end);
	if (!err)
		err = trace_writer_session(m->writer, stream(m), &end);
	m->session = NULL;
	return err;
}

static int trigger(struct replay *m, const struct import_log_record *r)
{
	int err = 0;

	if (m->falling) {
		err = end_session(m);
	} else if (r->flags && m->in_session) {
		/* The log was off, so the cause of the end is not known. */
		m->fall = *r;
		m->fall.end = VPT_LOG_ERROR;
		err = end_session(m);
	}
	if (err)
		return err;
	if (r->flags)
		return begin_session(m, r);
	m->fall = *r;
	if (m->order == BEFORE) {
		m->falling = true;
		return 0;
	}
	return end_session(m);
}

static int trace(struct replay *m, const struct import_log_record *r)
{
	if (!m->session || !r->bytes)
		return 0;
	return trace_writer_trace(m->writer, stream(m), r->address & ~GUEST_PHYSICAL, r->data,
				  r->bytes);
}

static int code(struct replay *m, const struct import_log_record *r)
{
	return import_pages_set(&m->pages, m->space, r->address, r->physical, r->data) ? 0
										       : -ENOMEM;
}

static int take(struct replay *m, const struct import_log_record *r)
{
	switch (r->kind) {
	case VPT_LOG_INSN_MAX:
		return insn(m, m->next, r->length, false);
	case VPT_LOG_INSN_AT:
		return insn_at(m, r);
	case VPT_LOG_EVENT:
		return event(m, r);
	case VPT_LOG_CONTEXT:
		return context(m, r);
	case VPT_LOG_CODE:
		return code(m, r);
	case VPT_LOG_TRIGGER:
		return trigger(m, r);
	case VPT_LOG_PACKET_EN:
		m->packet_en = r->flags;
		return 0;
	case VPT_LOG_TRACE:
		return trace(m, r);
	case VPT_LOG_VMX:
		return vmx(m, r);
	default:
		return 0;
	}
}

/* Return the first session of the log: those of a log are consecutive. */
static size_t first_session(const struct import_index *x, size_t number)
{
	size_t i = 0;

	while (i < x->sessions.n && x->sessions.at[i].log < number)
		i++;
	return i;
}

int import_replay(struct import_index *index, const struct import_log *log, size_t number, bool lip,
		  struct trace_writer *writer, uint64_t *no_code)
{
	struct import_log again;
	struct import_log_record r;
	struct replay m = {
		.index = index,
		.number = number,
		.lip = lip,
		.writer = writer,
		.no_code = no_code,
		.pages = {.streams = index->streams.n},
		.context = {.vmcs = TRACE_SPACE_ANY_VMCS},
		.next_session = first_session(index, number),
	};
	int err = 0;

	if (!import_log_open(&again, log->bytes, log->size))
		return -EINVAL;
	m.insns = calloc(index->streams.n + 1, sizeof(*m.insns));
	if (!m.insns)
		return -ENOMEM;
	/* This space is valid until the first CONTEXT record. */
	m.space = TRACE_SPACE_ID_MASK;
	while (!err && import_log_next(&again, &r))
		err = take(&m, &r);
	if (!err && m.falling)
		err = end_session(&m);
	if (!err)
		err = flush(&m);
	import_pages_free(&m.pages);
	free(m.insns);
	return err;
}
