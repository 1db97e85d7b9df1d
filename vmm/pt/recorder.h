/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder of one vCPU. It writes to the .vpt file: bytes of trace, sessions, the oracle's
 * records, address spaces, and pages of code. It decides what the file already has, and stops
 * at the file's limit. The recorder knows no trace unit. The tracer (tracer.h) joins the two.
 */
#ifndef VMM_PT_RECORDER_H
#define VMM_PT_RECORDER_H

#include "x86/mem.h"
#include "engine/log.h"
#include "pt/spaces.h"
#include "trace/writer.h"

struct tracer_code_pages;

/* Bits of tracer_recorder.wants, constant after tracer_recorder_init(). */
enum tracer_recorder_wants {
	TRACER_RECORDER_ORACLE = 1 << 0, /* a record of each instruction, only with a writer */
	TRACER_RECORDER_MODES = 1 << 1,	 /* execution modes with CR3, as no packet reports them */
	/* With ORACLE: `log` has words for blocks, in place of records of instructions. */
	TRACER_RECORDER_WORDS = 1 << 2,
	/* The recording will move to other files, see tracer_recorder_move(). */
	TRACER_RECORDER_PARTS = 1 << 3,
};

/* Bits of tracer_recorder.state. */
enum tracer_recorder_state {
	TRACER_RECORDER_CR3_KNOWN = 1 << 0, /* `oracle_cr3` is valid */
	/*
	 * The file has its maximum size. Nothing more is recorded, and the guest must be stopped.
	 * With an engine that observes, the trace has ended. Otherwise it must still be closed.
	 */
	TRACER_RECORDER_FULL = 1 << 1,
	/* FULL is due to too many spaces (spaces.h), and not to the file. */
	TRACER_RECORDER_CROWDED = 1 << 2,
	/* Memory or the file has refused bytes of the trace, so that the session must end. */
	TRACER_RECORDER_REFUSED = 1 << 3,
	/* The file has ended its part of the trace, until TriggerEn rises again. */
	TRACER_RECORDER_LOST = 1 << 4,
	TRACER_RECORDER_LOSES = 1 << 5, /* the last result of unit.ops->loses() */
	/* No session begins, until tracer_drop_end(). LOST is set, too. */
	TRACER_RECORDER_DROPS = 1 << 6,
	/* The code changes often, so the file gets changed bytes in place of whole pages. */
	TRACER_RECORDER_CHANGES = 1 << 7,
};

/* The receiver of a trace while it is made, besides the file or without one. */
struct tracer_live {
	/* The next bytes of the trace. */
	void (*bytes)(void *opaque, const void *bytes, size_t len);
	/*
	 * The page *page, with the content @now, has this place once the counter of traced
	 * instructions is page->insns.
	 */
	void (*page)(void *opaque, const struct trace_code_page *page, const uint8_t *now);
	void *opaque;
};

struct tracer_recorder {
	struct trace_writer *writer;	/* NULL if nothing is recorded */
	const struct tracer_live *live; /* NULL: there is no receiver */
	uint64_t live_contents;		/* contents of pages without a writer */
	const bool *file_full;		/* the writer's flag, or points to false */
	const struct x86_mem *mem;
	/* VMX operation of the unit that sends the packets. NULL if CR3 identifies a space. */
	const struct vpt_pt_vmx *vmx;
	struct tracer_code_pages *pages; /* NULL without a writer and a receiver */
	struct tracer_space_table spaces;
	unsigned int vcpu;
	uint32_t wants; /* enum tracer_recorder_wants */
	uint32_t state; /* enum tracer_recorder_state */
	int error;	/* the first -errno of the writer */
	/*
	 * The counter of trace/format.h: retired instructions that began with PacketEn set, and those
	 * that tracer_seems_to_run() adds.
	 */
	uint64_t insns;
	uint64_t bytes;	  /* bytes of trace */
	uint64_t dropped; /* those of them that gaps kept out of the file: tracer_drop.h */
	uint64_t oracle_cr3;
	uint64_t place; /* the space of the last CR3 block, if packets do not report the space */
	struct engine_log log; /* words that are not in the writer yet */
	/* The last TRACER_RECORDER_TAIL bytes of trace. NULL without TRACER_RECORDER_PARTS. */
	uint8_t *tail;
};

/* PSB+ is not longer. */
#define TRACER_RECORDER_TAIL 256u

/*
 * Initialise a recorder of zeros whose `writer`, `mem`, `vcpu` and `wants` are set. Returns 0 or
 * -ENOMEM.
 */
int tracer_recorder_init(struct tracer_recorder *rec);
void tracer_recorder_free(struct tracer_recorder *rec);

/*
 * Pass the trace to @live, which stays the caller's, from here on. All code is new to it, unless there
 * is a writer. The engine must report all code again. Returns 0 or -ENOMEM.
 */
int tracer_recorder_listen(struct tracer_recorder *rec, const struct tracer_live *live);

/* Set or clear a bit of the state. */
static inline void tracer_recorder_set(struct tracer_recorder *rec, enum tracer_recorder_state bit,
				       bool on)
{
	rec->state = on ? rec->state | bit : rec->state & ~(uint32_t)bit;
}

/* Note the result of the writer, 0 or -errno. */
static inline void tracer_recorder_note(struct tracer_recorder *rec, int error)
{
	if (error && !rec->error)
		rec->error = error;
}

/* Returns true if the writer has reached the file's limit, so that the trace must end. */
static inline bool tracer_recorder_at_limit(const struct tracer_recorder *rec)
{
	return *rec->file_full;
}

/* Returns true if the file records the present trace. */
static inline bool tracer_recorder_records(const struct tracer_recorder *rec)
{
	return rec->writer && !(rec->state & TRACER_RECORDER_LOST);
}

/* Returns how many of @len bytes of trace fit into the file. Sets REFUSED if not all fit. */
size_t tracer_recorder_fit(struct tracer_recorder *rec, size_t len);
/* Record and count bytes of trace. @gpa is their address, or UINT64_MAX in a host's stream. */
void tracer_recorder_trace(struct tracer_recorder *rec, uint64_t gpa, const void *bytes,
			   size_t len);
void tracer_recorder_session(struct tracer_recorder *rec, struct trace_session *s);
void tracer_recorder_vmcs(struct tracer_recorder *rec, struct trace_vmcs *vmcs);
/* Write all buffered blocks to the file. */
void tracer_recorder_sync(struct tracer_recorder *rec);
/*
 * Continue in the file of another writer, which has no code and no spaces yet. This requires
 * TRACER_RECORDER_PARTS. Returns 0 or -ENOMEM, after which nothing has changed.
 */
int tracer_recorder_move(struct tracer_recorder *rec, struct trace_writer *writer);

/* recorder_log.c: the log of an engine that runs blocks. Returns 0 or -ENOMEM. */
int tracer_recorder_log_init(struct tracer_recorder *rec);
void tracer_recorder_log_free(struct tracer_recorder *rec);
/* Give the words of the log to the writer. */
void tracer_recorder_log_flush(struct tracer_recorder *rec);
/* Give the words and then a record to the writer. */
void tracer_recorder_log_record(struct tracer_recorder *rec,
				const struct trace_oracle_record *record);
/* Record the instructions of a block. @base: added to its RIP. Returns its number. */
uint32_t tracer_recorder_log_stretch(struct tracer_recorder *rec, const struct engine_stretch *s,
				     uint64_t base);

/* Add a record to the oracle. @ip has the form of the IPs in packets. */
static inline void tracer_recorder_oracle(struct tracer_recorder *rec, uint8_t kind, uint64_t ip,
					  uint8_t cpl, uint16_t aux)
{
	const struct trace_oracle_record record = {.ip = ip, .kind = kind, .cpl = cpl, .aux = aux};

	if (!(rec->wants & TRACER_RECORDER_ORACLE) || rec->state & TRACER_RECORDER_LOST)
		return;
	if (vpt_unlikely(rec->wants & TRACER_RECORDER_WORDS))
		tracer_recorder_log_record(rec, &record);
	else
		tracer_recorder_note(rec, trace_writer_oracle(rec->writer, rec->vcpu, record));
}

/*
 * recorder_space.c: return the id of the current address space, which the file has before its
 * first use. Returns 0 if nothing is recorded.
 */
uint64_t tracer_recorder_space(struct tracer_recorder *rec, const struct vpt_context *ctx);
/* Add the address space to the oracle if it has changed. */
void tracer_recorder_cr3(struct tracer_recorder *rec, const struct vpt_context *ctx);
/* Returns true if the space or the mode is not that of the last CR3 block. */
bool tracer_recorder_moved(struct tracer_recorder *rec, const struct vpt_context *ctx);
/* Write a CR3 block with the space and the mode. @flags: TRACE_CR3_RESUMED or 0. */
void tracer_recorder_place(struct tracer_recorder *rec, const struct vpt_context *ctx,
			   uint64_t flags);

/*
 * recorder_code.c: record a page of code if @len bytes at @offset are not in the file yet. @now is
 * the whole page. This requires `pages`. Returns true if the page was recorded.
 */
bool tracer_recorder_page(struct tracer_recorder *rec, const struct trace_code_page *page,
			  unsigned int offset, unsigned int len, const uint8_t *now);
/* The same for @len bytes of code at @ip in the space @cr3, within the page of RAM at @gpa. */
void tracer_recorder_code(struct tracer_recorder *rec, uint64_t cr3, uint64_t ip, unsigned int len,
			  uint64_t gpa);

#endif /* VMM_PT_RECORDER_H */
