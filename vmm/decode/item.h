/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items: the parts of a decoded trace. */
#ifndef VMM_DECODE_ITEM_H
#define VMM_DECODE_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/timeline.h"

enum decode_item_kind {
	DECODE_ITEM_END = 0, /* the end of the trace */
	DECODE_ITEM_SEGMENT, /* decoding starts anew here, see decode_segment */
	DECODE_ITEM_INSN,    /* one instruction */
	DECODE_ITEM_BLOCK,   /* consecutive instructions, see `last` */
	DECODE_ITEM_PARTS,   /* in place of BLOCKs after decode_flow_merge(): see `parts` */
	DECODE_ITEM_EVENT,
	DECODE_ITEM_ERROR, /* the decoder cannot follow the trace here */
};

enum decode_insn_class {
	DECODE_INSN_UNKNOWN = 0, /* the decoder has not classified the instruction */
	DECODE_INSN_OTHER,
	DECODE_INSN_CALL,
	DECODE_INSN_RETURN,
	DECODE_INSN_JUMP,
	DECODE_INSN_COND,
	DECODE_INSN_FAR_CALL, /* SYSCALL, SYSENTER, far CALL, INT, VMCALL */
	DECODE_INSN_FAR_RETURN,
	DECODE_INSN_FAR_JUMP,
	DECODE_INSN_PTWRITE,
};

/* DECODE_FLOW(enumerator, text), with the valid fields in a comment. `from` is `ip`. */
#define DECODE_FLOW_EVENTS(DECODE_FLOW)                                                           \
	DECODE_FLOW(ENABLED, "enabled")	  /* to */                                                \
	DECODE_FLOW(DISABLED, "disabled") /* by the previous instruction; to if has_to */         \
	DECODE_FLOW(ASYNC_DISABLED, "async disabled") /* from; to if has_to */                    \
	DECODE_FLOW(ASYNC_BRANCH, "async branch")     /* from, to */                              \
	DECODE_FLOW(PAGING, "paging")		      /* value: CR3 */                            \
	DECODE_FLOW(EXEC_MODE, "exec mode")	      /* value: 16, 32, 64 */                     \
	DECODE_FLOW(OVERFLOW, "overflow")	      /* to if has_to */                          \
	DECODE_FLOW(STOP, "stop")		      /* TraceStop */                             \
	DECODE_FLOW(TSX, "tsx")			      /* value: InTX | TXAbort << 1 */            \
	DECODE_FLOW(VMCS, "vmcs")		      /* value: VMCS pointer */                   \
	DECODE_FLOW(PTWRITE, "ptwrite")		      /* from; value */                           \
	DECODE_FLOW(EXSTOP, "exstop")		      /* from */                                  \
	DECODE_FLOW(MWAIT, "mwait")		      /* from; value: hints */                    \
	DECODE_FLOW(PWRE, "pwre")		      /* value: C-state */                        \
	DECODE_FLOW(PWRX, "pwrx")		      /* value: C-state left */                   \
	DECODE_FLOW(CBR, "cbr")			      /* value: ratio */                          \
	DECODE_FLOW(MNT, "mnt")			      /* value: payload */                        \
	DECODE_FLOW(CFE, "cfe")			      /* see cfe */                               \
	DECODE_FLOW(BLOCK, "block")		      /* see cfe, which has the block */          \
	DECODE_FLOW(TARGET, "target")		      /* to; without TNT, the cause is unknown */ \
	DECODE_FLOW(IFLAG, "iflag") /* from, 0 if a branch caused it or it is first; value */     \
	DECODE_FLOW(TRIG, "trig")   /* from, 0 if not known; value: triggers; insns */            \
	DECODE_FLOW(OTHER, "other")

#define DECODE_FLOW(name, text) DECODE_FLOW_##name,
enum decode_flow_event { DECODE_FLOW_EVENTS(DECODE_FLOW) DECODE_FLOW_COUNT };
#undef DECODE_FLOW

struct trace_space;
struct decode_cfe;

/* The value of decode_part.function if no symbol is known. No function starts at this address. */
#define DECODE_NO_FUNCTION (UINT64_MAX - 1)

/* Consecutive blocks of one function without a CALL or RET between them. */
struct decode_part {
	uint64_t ip;	   /* the IP of the first instruction */
	uint64_t next;	   /* the IP after the last instruction */
	uint64_t function; /* the first address of the function of `ip`, or DECODE_NO_FUNCTION */
	uint32_t insns;
	uint8_t class; /* the class of the last instruction */
};

struct decode_item {
	uint8_t kind;  /* enum decode_item_kind */
	uint8_t class; /* INSN, BLOCK (its last instruction): enum decode_insn_class */
	uint8_t mode;  /* INSN, BLOCK: 16, 32 or 64 bits */
	uint8_t event; /* EVENT: enum decode_flow_event */
	/* Kept apart from the mode. A copy of both would be one load that waits for two stores. */
	uint8_t size;	 /* INSN; BLOCK: the size of its last instruction, 0 if not known */
	uint8_t raw[16]; /* INSN: its bytes, at most 15 */
	bool has_to;	 /* EVENT; INSN, if the decoder knows the target at once */
	bool has_tsc;	 /* EVENT */
	bool status;	 /* EVENT: repeats the current state, in a PSB+ */
	bool vm_entry;	 /* EVENT, DISABLED: by a VM entry */
	bool shown;	 /* EVENT: the instruction at `ip` has run, and was an earlier item */
	bool rest; /* BLOCK: it began before the edge of a cut, see cut.h; flows never set this */
	/*
	 * INSN: 1; BLOCK: the number of instructions; PARTS: the number of parts; EVENT, TRIG: the
	 * number of instructions that ran after `ip`.
	 */
	uint32_t insns;
	uint32_t session; /* index into trace_reader_sessions() */

	uint64_t ip;   /* INSN, BLOCK: IP of its first instruction; EVENT: from; ERROR: the place */
	uint64_t last; /* BLOCK: IP of its last instruction */
	uint64_t to;   /* EVENT, INSN */
	uint64_t value; /* EVENT */
	uint64_t tsc; /* EVENT: the host's TSC, if the file has the guest's offset and multiplier */
	uint64_t cr3; /* the address space or the id of a space; ~0 if not known */
	/* The space as far as it is known, even if `cr3` is not known. NULL if nothing is known. */
	const struct trace_space *space;
	union {					 /* valid until the next item */
		const struct decode_cfe *cfe;	 /* EVENT */
		const struct decode_part *parts; /* PARTS */
	};
	/*
	 * The offset in the vCPU's stream up to which the decoder has read. It is at or after the
	 * packets of this item.
	 */
	uint64_t offset;
	/*
	 * INSN, BLOCK, EVENT: the number of outcomes that come after this item, from TNTs before
	 * the packet that ends at `offset`. With `all_read` they include the outcomes of that
	 * packet, because a session ends after it.
	 */
	uint8_t left;
	bool all_read;
	const char *text; /* ERROR: the message, static or valid until the next item */
	/*
	 * The time of the packet of this item, after decode_flow_keep_time(). `cycles` counts from
	 * the start of the segment.
	 */
	struct decode_when when;
};

/* Return the text of an event, such as "async branch". */
const char *decode_flow_event_text(enum decode_flow_event event);

/* The text of an ERROR: execution did not reach the next packet. */
#define DECODE_ITEM_STALL "execution goes on without end or packets"

#endif /* VMM_DECODE_ITEM_H */
