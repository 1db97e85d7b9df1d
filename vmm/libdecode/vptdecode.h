/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libvptdecode: what a processor executed, from its Intel PT packets and its code.
 *
 * Packets are pushed as they come, and act at once: code must be known before the packets
 * that lead to it. All results are sums over the stretches between PSBs, so that a trace that
 * is cut at PSBs can be decoded in parts, one decoder a thread, and the parts be added.
 *
 * A decoder belongs to one thread at a time. There are no globals. Every function that can
 * fail says how. Nothing that a trace or code contains makes a function fail: what cannot be
 * followed is a VPTD_EVENT_ERROR, and decoding resumes at the next PSB.
 *
 * Sections are those of the Intel SDM, volume 3C, chapter 33.
 */
#ifndef VPTDECODE_H
#define VPTDECODE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VPTD_PAGE     4096u  /* bytes of a page of code */
#define VPTD_BITMAP   65536u /* bytes of a bitmap */
#define VPTD_RANGES   4u
#define VPTD_INSN_MAX 15u

/* Code of this address space is in all of them, except where a space has code of its own. */
#define VPTD_ANY_SPACE UINT64_MAX

/* Why something could not be decoded. */
enum vptd_status {
	VPTD_OK = 0,
	VPTD_STUCK,	   /* inside the library only */
	VPTD_E_MEMORY,	   /* there is no memory */
	VPTD_E_HOLE,	   /* there is no code at the address */
	VPTD_E_BAD_INSN,   /* the bytes at the address are no instruction */
	VPTD_E_NO_OUTCOME, /* a conditional branch has no outcome */
	VPTD_E_NO_TARGET,  /* an indirect branch has no target */
	VPTD_E_RETURN,	   /* a compressed RET has no CALL, or its outcome is not taken */
	VPTD_E_LOOP,	   /* direct branches lead in a circle */
	VPTD_E_PACKET,	   /* no packet has these bytes, or none may come here */
	VPTD_E_ARGUMENT,   /* the caller's mistake: a size, a mode or an address */
};

/* A sentence without its full stop. */
const char *vptd_status_text(enum vptd_status status);

/* What each event says in `ip`, `to`, `value` and `aux` of struct vptd_event. */
enum vptd_event_kind {
	VPTD_EVENT_ENABLED,	   /* tracing begins: to */
	VPTD_EVENT_DISABLED,	   /* by the instruction before: to */
	VPTD_EVENT_ASYNC_DISABLED, /* ip, to */
	VPTD_EVENT_ASYNC_BRANCH,   /* an interrupt or exception: ip, to */
	VPTD_EVENT_PAGING,	   /* value: CR3; aux: NR */
	VPTD_EVENT_EXEC_MODE,	   /* value: 16, 32, 64 */
	VPTD_EVENT_IFLAG,	   /* ip; value: RFLAGS.IF */
	VPTD_EVENT_OVERFLOW,	   /* packets were lost; to, where tracing resumed with it */
	VPTD_EVENT_STOP,	   /* TraceStop */
	VPTD_EVENT_TSX,		   /* ip; value: InTX | TXAbort << 1 */
	VPTD_EVENT_VMCS,	   /* value: VMCS pointer */
	VPTD_EVENT_PTWRITE,	   /* ip; value */
	VPTD_EVENT_EXSTOP,	   /* ip */
	VPTD_EVENT_MWAIT,	   /* value: hints; aux: EXT */
	VPTD_EVENT_PWRE,	   /* value: C-states; aux: HW */
	VPTD_EVENT_PWRX,	   /* value: C-states; aux: wake reason */
	VPTD_EVENT_CBR,		   /* value: ratio */
	VPTD_EVENT_MNT,		   /* value: payload */
	VPTD_EVENT_CFE,		   /* ip; value: type; aux: vector */
	VPTD_EVENT_EVD,		   /* value: payload; aux: type; before its CFE */
	VPTD_EVENT_BLOCK,	   /* ip; value: BBP.Type; its items before it */
	VPTD_EVENT_ITEM,	   /* value: payload; aux: id */
	VPTD_EVENT_SYNC,	   /* decoding begins; to, if a trace is enabled */
	VPTD_EVENT_ERROR,	   /* ip; value: enum vptd_status */
	VPTD_EVENT_COUNT
};

const char *vptd_event_text(enum vptd_event_kind kind);

enum vptd_event_flags {
	VPTD_EV_IP = 1 << 0,	   /* `ip` is known */
	VPTD_EV_TO = 1 << 1,	   /* `to` is known */
	VPTD_EV_STATUS = 1 << 2,   /* repeats in a PSB+ what is so already */
	VPTD_EV_SOFT_INT = 1 << 3, /* ASYNC_BRANCH by the INT n that ran before */
	VPTD_EV_VM_ENTRY = 1 << 4, /* by a VM entry, which is the instruction before */
};

struct vptd_event {
	uint8_t kind;  /* enum vptd_event_kind */
	uint8_t flags; /* enum vptd_event_flags */
	uint16_t aux;
	uint32_t zero;
	uint64_t ip, to, value;
	uint64_t offset; /* in the stream, behind the packet that completed the event */
};

/* Instructions that ran, one behind the other. */
struct vptd_run {
	uint64_t ip;	     /* of the first one */
	uint64_t page;	     /* the key of its page, see vptd_page() */
	uint64_t offset;     /* in the stream: packets up to here were read */
	const uint8_t *lens; /* their lengths in bytes; valid during the call */
	uint32_t count;	     /* at least 1 */
	uint8_t mode;	     /* 16, 32 or 64 */
	uint8_t zero[3];
};

/*
 * What a decoder calls. All may be NULL. They must not call functions of this decoder, except
 * for space() and fetch(), which may give it code.
 */
struct vptd_ops {
	uint64_t size; /* sizeof(struct vptd_ops) */
	/* In the order of execution, with the runs between them. */
	void (*event)(void *context, const struct vptd_event *event);
	void (*run)(void *context, const struct vptd_run *run);
	/*
	 * The address space that a PIP names. NULL: its CR3, with NR in bit 0. @vmcs is
	 * UINT64_MAX as long as no packet has told one. It is not VPTD_ANY_SPACE.
	 */
	uint64_t (*space)(void *context, uint64_t cr3, int nr, uint64_t vmcs);
	/*
	 * There is no code for the page at @address in @space. Write VPTD_PAGE bytes to
	 * @bytes and the page's key to *@key (see vptd_page(); as it is, it is unique to
	 * space and address), and return 1. Return 0 if there is no code; it is asked for
	 * again when execution next comes there.
	 */
	int (*fetch)(void *context, uint64_t space, uint64_t address, uint64_t *key,
		     uint8_t *bytes);
};

/* A range of IA32_RTIT_ADDRn_A and _B: both ends belong to it. */
struct vptd_range {
	uint64_t first, last;
	uint64_t stops; /* 1: TraceStop; 0: FilterEn */
};

enum vptd_flags {
	VPTD_CTL = 1 << 0,	 /* `ctl` is known; else as 2009H: BRANCH_EN, OS and USER */
	VPTD_KEEPS_RET = 1 << 1, /* an uncompressed RET leaves the call stack as it is */
	VPTD_EDGES = 1 << 2,	 /* count edges */
};

/* What is known of the processor and its settings. Zeros: nothing. */
struct vptd_config {
	uint64_t size;	 /* sizeof(struct vptd_config) */
	uint32_t flags;	 /* enum vptd_flags */
	uint32_t family; /* display family and model (CPUID.1), for errata; 0: none */
	uint32_t model;
	uint32_t nranges;   /* of `range`; some errata need them */
	uint64_t ctl;	    /* IA32_RTIT_CTL */
	uint64_t cr3_match; /* IA32_RTIT_CR3_MATCH */
	struct vptd_range range[VPTD_RANGES];
	uint64_t cache; /* bytes of each of three arrays of tracelets at most; 0: 128 MiB */
};

struct vptd_decoder;

/*
 * Make a decoder. @config and @ops are copied, and may be NULL; @context is passed to the
 * operations. *@status: VPTD_OK, VPTD_E_MEMORY or VPTD_E_ARGUMENT. NULL unless VPTD_OK.
 */
struct vptd_decoder *vptd_new(const struct vptd_config *config, const struct vptd_ops *ops,
			      void *context, enum vptd_status *status);
void vptd_free(struct vptd_decoder *d);

/*
 * Code. @space is what ops.space() returns, or VPTD_ANY_SPACE. A page is known by a key that
 * the caller chooses: the guest-physical address where it is known, so that what is mapped at
 * several addresses is decoded once. Keys from 2^63 on are the library's.
 *
 * From now on the page of @key has this content (VPTD_PAGE bytes, which are copied) and is at
 * @address (a multiple of VPTD_PAGE) in @space. What a page had before is forgotten, and comes
 * back cheaply. VPTD_OK, VPTD_E_MEMORY or VPTD_E_ARGUMENT.
 */
enum vptd_status vptd_page(struct vptd_decoder *d, uint64_t space, uint64_t address, uint64_t key,
			   const uint8_t *bytes);
/*
 * The same for @len bytes at any @address. Of a page that is given in part, the rest is as
 * before, or zeros.
 */
enum vptd_status vptd_code(struct vptd_decoder *d, uint64_t space, uint64_t address,
			   const uint8_t *bytes, size_t len);

/* Until packets tell, execution is in @space and in @mode (16, 32 or 64): 0 and 64 at first. */
enum vptd_status vptd_begin(struct vptd_decoder *d, uint64_t space, unsigned int mode);

/*
 * Decode the next bytes of the stream, which may end anywhere. VPTD_OK, or VPTD_E_MEMORY:
 * some of it was not decoded.
 */
enum vptd_status vptd_push(struct vptd_decoder *d, const uint8_t *bytes, size_t len);
/*
 * The stream ends here, or what comes next does not continue it (snapshots, lost bytes): use
 * what is left. Offsets go on.
 */
enum vptd_status vptd_finish(struct vptd_decoder *d);

/*
 * Where to cut a stream. vptd_find_psb(): the offset of the first whole PSB, or @len.
 * vptd_psb_size(): how many bytes the PSB+ at @bytes has, PSBEND included; 0 if it is not
 * whole. A part is decoded like the whole if the PSB+ behind it is pushed as well.
 */
size_t vptd_find_psb(const uint8_t *bytes, size_t len);
size_t vptd_psb_size(const uint8_t *bytes, size_t len);

/* Instructions that ran so far, and events by kind. */
uint64_t vptd_insns(const struct vptd_decoder *d);
uint64_t vptd_events(const struct vptd_decoder *d, enum vptd_event_kind kind);

/*
 * Counts of edges: a value that is apart from decoders, and to which they are added.
 *
 * An edge is a branch that was executed: from the address of the branch to where execution
 * went. A conditional branch that is not taken is one too, interrupts and the like are none.
 */
struct vptd_counts;

struct vptd_edge {
	uint64_t from, to;
	uint64_t page; /* the key of the page of `from` */
	uint64_t count;
};

/* NULL: there is no memory. */
struct vptd_counts *vptd_counts_new(void);
void vptd_counts_free(struct vptd_counts *counts);

/*
 * Move what @d has counted, with VPTD_EDGES, since it was last asked. VPTD_OK; VPTD_E_ARGUMENT
 * without that flag; VPTD_E_MEMORY: then the counts of neither are to be used any more.
 */
enum vptd_status vptd_count(struct vptd_decoder *d, struct vptd_counts *counts);
/* Add @from, which stays as it is. Associative, commutative. VPTD_OK or VPTD_E_MEMORY. */
enum vptd_status vptd_counts_add(struct vptd_counts *into, const struct vptd_counts *from);

/* How many edges there are; *@edge is number @i, by `from`, `to` and `page`. 0: there is none. */
size_t vptd_counts_edges(struct vptd_counts *counts);
int vptd_counts_edge(struct vptd_counts *counts, size_t i, struct vptd_edge *edge);

/*
 * Add the counts to a bitmap of VPTD_BITMAP bytes, as fuzzers use. The byte of an edge is
 * number h >> 48, where h = (from ^ rotate(to, 32)) * 9e3779b97f4a7c15H modulo 2^64, and
 * rotate() exchanges the halves of its argument. A byte stays at 255.
 */
void vptd_counts_bitmap(const struct vptd_counts *counts, uint8_t *bitmap);

#ifdef __cplusplus
}
#endif

#endif /* VPTDECODE_H */
