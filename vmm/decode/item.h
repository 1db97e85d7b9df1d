/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items: the parts of a decoded trace. */
#ifndef VMM_DECODE_ITEM_H
#define VMM_DECODE_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/timeline.h"

enum decode_item_kind {
	DECODE_ITEM_END = 0, /* of the trace */
	DECODE_ITEM_SEGMENT, /* decoding starts afresh here, see decode_segment */
	DECODE_ITEM_INSN,    /* one instruction */
	DECODE_ITEM_BLOCK,   /* instructions in a row, see `last` */
	DECODE_ITEM_PARTS, /* in place of BLOCKs, if decode_flow_merge() was called: see `parts` */
	DECODE_ITEM_EVENT,
	DECODE_ITEM_ERROR, /* the trace cannot be followed here */
};

enum decode_insn_class {
	DECODE_INSN_UNKNOWN = 0, /* the decoder did not look */
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

/* DECODE_FLOW(enumerator, text): `from` and `to` as the comment says. */
#define DECODE_FLOW_EVENTS(DECODE_FLOW)                                                        \
	DECODE_FLOW(ENABLED, "enabled")	  /* to */                                             \
	DECODE_FLOW(DISABLED, "disabled") /* by the instruction before; to if has_to */        \
	DECODE_FLOW(ASYNC_DISABLED, "async disabled") /* from; to if has_to */                 \
	DECODE_FLOW(ASYNC_BRANCH, "async branch")     /* from, to */                           \
	DECODE_FLOW(PAGING, "paging")		      /* value: CR3 */                         \
	DECODE_FLOW(EXEC_MODE, "exec mode")	      /* value: 16, 32, 64 */                  \
	DECODE_FLOW(OVERFLOW, "overflow")	      /* to if has_to */                       \
	DECODE_FLOW(STOP, "stop")		      /* TraceStop */                          \
	DECODE_FLOW(TSX, "tsx")			      /* value: InTX | TXAbort << 1 */         \
	DECODE_FLOW(VMCS, "vmcs")		      /* value: VMCS pointer */                \
	DECODE_FLOW(PTWRITE, "ptwrite")		      /* from; value */                        \
	DECODE_FLOW(EXSTOP, "exstop")		      /* from */                               \
	DECODE_FLOW(MWAIT, "mwait")		      /* from; value: hints */                 \
	DECODE_FLOW(PWRE, "pwre")		      /* value: C-state */                     \
	DECODE_FLOW(PWRX, "pwrx")		      /* value: C-state left */                \
	DECODE_FLOW(CBR, "cbr")			      /* value: ratio */                       \
	DECODE_FLOW(MNT, "mnt")			      /* value: payload */                     \
	DECODE_FLOW(CFE, "cfe")			      /* see cfe */                            \
	DECODE_FLOW(BLOCK, "block")		      /* see cfe: its block */                 \
	DECODE_FLOW(TARGET, "target")		      /* to; without TNT, by who knows what */ \
	DECODE_FLOW(IFLAG, "iflag") /* from, 0: a branch, or it is first; value */             \
	DECODE_FLOW(TRIG, "trig")   /* from, 0: not known; value: triggers; insns */           \
	DECODE_FLOW(OTHER, "other")

#define DECODE_FLOW(name, text) DECODE_FLOW_##name,
enum decode_flow_event { DECODE_FLOW_EVENTS(DECODE_FLOW) DECODE_FLOW_COUNT };
#undef DECODE_FLOW

struct trace_space;
struct decode_cfe;

/* In decode_part: no symbol is known there. No function starts at this address. */
#define DECODE_NO_FUNCTION (UINT64_MAX - 1)

/* Blocks of one function that follow each other without a CALL or RET between them. */
struct decode_part {
	uint64_t ip;   /* of the first instruction */
	uint64_t next; /* behind the last instruction */
	uint64_t
		function; /* first address of the function that `ip` is in, or DECODE_NO_FUNCTION */
	uint32_t insns;
	uint8_t class; /* of the last instruction */
};

struct decode_item {
	uint8_t kind;  /* enum decode_item_kind */
	uint8_t class; /* INSN, BLOCK (of its last): enum decode_insn_class */
	uint8_t mode;  /* INSN, BLOCK: 16, 32 or 64 bits */
	uint8_t event; /* EVENT: enum decode_flow_event */
	/* Not next to the mode: a copy of both would be one load that waits for two stores. */
	uint8_t size;	 /* INSN; BLOCK: of its last, 0: not known */
	uint8_t raw[16]; /* INSN: its bytes, 15 at most */
	bool has_to;	 /* EVENT; INSN, where the decoder knows it at once */
	bool has_tsc;	 /* EVENT */
	bool status;	 /* EVENT: repeats what is so, in a PSB+ */
	bool vm_entry;	 /* EVENT, DISABLED: by a VM entry */
	bool shown;	 /* EVENT: the instruction at `ip` has run, and was an item before */
	/* INSN: 1, BLOCK: how many; PARTS: how many parts; EVENT, TRIG: that ran behind `ip` */
	uint32_t insns;
	uint32_t session; /* index into trace_reader_sessions() */

	uint64_t ip;	/* INSN, BLOCK: its first; EVENT: from; ERROR: where */
	uint64_t last;	/* BLOCK: IP of its last instruction */
	uint64_t to;	/* EVENT, INSN */
	uint64_t value; /* EVENT */
	uint64_t tsc;	/* EVENT: the host's, where the file tells how guests' are made */
	uint64_t cr3;	/* address space, ~0: not known; the id of a space */
	/* The space as far as it is known, even if `cr3` is not known. NULL if nothing is known. */
	const struct trace_space *space;
	union {					 /* valid until the next item */
		const struct decode_cfe *cfe;	 /* EVENT */
		const struct decode_part *parts; /* PARTS */
	};
	/*
	 * In the vCPU's stream; how far the decoder has read, which is at or
	 * after the packets that led here.
	 */
	uint64_t offset;
	/*
	 * INSN, BLOCK, EVENT: the number of outcomes after this item, of TNTs before the packet
	 * that ends at `offset`. With `all_read` the item may also be in that packet, since a
	 * session ends behind it.
	 */
	uint8_t left;
	bool all_read;
	const char *text; /* ERROR: what, static or valid until the next item */
	/* decode_flow_keep_time(): of the packet that led here. `cycles` is of the segment. */
	struct decode_when when;
};

/* "async branch" and so on. */
const char *decode_flow_event_text(enum decode_flow_event event);

/* The text of an ERROR: execution did not come to the next packet. */
#define DECODE_ITEM_STALL "execution goes on without end or packets"

#endif /* VMM_DECODE_ITEM_H */
