/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * libvptdecode: decodes packets of Intel PT, or of Atom's RTIT, and code into the instructions that
 * a processor ran.
 *
 * The caller pushes packets in the order of the stream. The decoder follows each packet at once, so
 * code must be known before the packets that lead to it. All results are sums over the stretches
 * between PSBs. A trace can therefore be cut at PSBs and decoded in parts, with one decoder in each
 * thread, and the results of the parts added.
 *
 * Only one thread at a time may use a decoder. The library has no globals. Every function that can
 * fail returns a status. No content of a trace or of code makes a function fail. The decoder
 * reports VPTD_EVENT_ERROR where it cannot follow, and resumes at the next PSB.
 *
 * Sections are those of the Intel SDM, volume 3C, chapter 33. RTIT is the trace system of the "Real
 * Time Instruction Trace Programming Reference", v1.05.
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

/* Code of this space belongs to every address space that has no code of its own there. */
#define VPTD_ANY_SPACE UINT64_MAX

/*
 * A value for ops.space() to return: an address space without any code, such as that of an unknown
 * guest. The decoder does not follow execution until the next space, as if tracing were disabled.
 */
#define VPTD_NO_CODE (UINT64_MAX - 1)

/* The reasons why a part of the trace could not be decoded. */
enum vptd_status {
	VPTD_OK = 0,
	VPTD_STUCK,	   /* internal, never returned */
	VPTD_E_MEMORY,	   /* out of memory */
	VPTD_E_HOLE,	   /* there is no code at the address */
	VPTD_E_BAD_INSN,   /* the bytes at the address are no instruction */
	VPTD_E_NO_OUTCOME, /* a conditional branch has no outcome */
	VPTD_E_NO_TARGET,  /* an indirect branch has no target */
	VPTD_E_RETURN,	   /* a compressed RET has no CALL, or its outcome is not taken */
	VPTD_E_LOOP,	   /* direct branches form an endless loop */
	VPTD_E_PACKET,	   /* the bytes are not a packet, or the packet is not valid here */
	VPTD_E_ARGUMENT,   /* an argument is not valid: a size, a mode or an address */
};

/* Returns a clause that describes the status, such as "out of memory". */
const char *vptd_status_text(enum vptd_status status);

/* Each comment lists the fields of struct vptd_event that the event sets. */
enum vptd_event_kind {
	VPTD_EVENT_ENABLED,	   /* tracing starts: to */
	VPTD_EVENT_DISABLED,	   /* the last instruction ended tracing: to */
	VPTD_EVENT_ASYNC_DISABLED, /* an event ended tracing: ip, to */
	VPTD_EVENT_ASYNC_BRANCH,   /* an interrupt or exception: ip, to */
	VPTD_EVENT_PAGING,	   /* value: CR3; aux: NR */
	VPTD_EVENT_EXEC_MODE,	   /* value: 16, 32, 64; the first after lost packets too */
	VPTD_EVENT_IFLAG,	   /* ip, unless a branch changed it; value: RFLAGS.IF */
	VPTD_EVENT_OVERFLOW,	   /* packets were lost: to, if tracing resumes there */
	VPTD_EVENT_STOP,	   /* TraceStop */
	VPTD_EVENT_TSX,		   /* ip; value: InTX | TXAbort << 1 */
	VPTD_EVENT_VMCS,	   /* value: VMCS pointer */
	VPTD_EVENT_PTWRITE,	   /* ip; value */
	VPTD_EVENT_EXSTOP,	   /* ip */
	VPTD_EVENT_MWAIT,	   /* ip, if EXSTOP has it; value: hints; aux: EXT */
	VPTD_EVENT_PWRE,	   /* value: C-states; aux: HW */
	VPTD_EVENT_PWRX,	   /* value: C-states; aux: wake reason */
	VPTD_EVENT_CBR,		   /* value: ratio */
	VPTD_EVENT_MNT,		   /* value: payload */
	VPTD_EVENT_CFE,		   /* ip, if it has a FUP; value: type; aux: vector */
	VPTD_EVENT_EVD,		   /* value: payload; aux: type; precedes its CFE */
	VPTD_EVENT_BLOCK,  /* ip, if BEP has it; value: BBP.Type; aux: BBP.SZ; after its items */
	VPTD_EVENT_ITEM,   /* value: payload; aux: id */
	VPTD_EVENT_SYNC,   /* decoding starts: to, if tracing is enabled */
	VPTD_EVENT_ERROR,  /* ip; value: enum vptd_status */
	VPTD_EVENT_TRIG,   /* ip, if it has a FUP; value: instructions; aux: triggers */
	VPTD_EVENT_TARGET, /* to: of a branch, where CTL has DisTNT */
	VPTD_EVENT_COUNT
};

const char *vptd_event_text(enum vptd_event_kind kind);

enum vptd_event_flags {
	VPTD_EV_IP = 1 << 0,	   /* `ip` is known */
	VPTD_EV_TO = 1 << 1,	   /* `to` is known */
	VPTD_EV_STATUS = 1 << 2,   /* a PSB+ repeats the current state */
	VPTD_EV_SOFT_INT = 1 << 3, /* ASYNC_BRANCH caused by the last instruction, an INT n */
	VPTD_EV_VM_ENTRY = 1 << 4, /* the last instruction is a VM entry and caused the event */
	VPTD_EV_RAN = 1 << 5,	   /* the instruction at `ip` caused the event, and ran before it */
};

struct vptd_event {
	uint8_t kind;  /* enum vptd_event_kind */
	uint8_t flags; /* enum vptd_event_flags */
	uint16_t aux;
	uint32_t zero;
	uint64_t ip, to, value;
	uint64_t offset; /* stream offset after the packet that completed the event */
};

/* Consecutive instructions that ran. */
struct vptd_run {
	uint64_t ip;	     /* address of the first instruction */
	uint64_t page;	     /* key of the page that holds it, see vptd_page() */
	uint64_t offset;     /* stream offset after the last packet that was read */
	const uint8_t *lens; /* length of each instruction in bytes; valid during the call */
	uint32_t count;	     /* at least 1 */
	uint8_t mode;	     /* 16, 32 or 64 */
	uint8_t zero[3];
};

/*
 * Callbacks of a decoder. Each may be NULL. A callback must not call functions of this decoder,
 * with two exceptions. The callbacks space() and fetch() may call vptd_page() and vptd_code(). The
 * callbacks event() and run() may call vptd_now().
 */
struct vptd_ops {
	uint64_t size; /* sizeof(struct vptd_ops) */
	/* Called for each event. Events and runs are reported in the order of execution. */
	void (*event)(void *context, const struct vptd_event *event);
	void (*run)(void *context, const struct vptd_run *run);
	/*
	 * Returns the address space that a PIP selects: any value but VPTD_ANY_SPACE, or
	 * VPTD_NO_CODE. If space is NULL, the address space is CR3 with NR in bit 0. @vmcs is the
	 * base address of the last VMCS packet, or UINT64_MAX before the first.
	 */
	uint64_t (*space)(void *context, uint64_t cr3, int nr, uint64_t vmcs);
	/*
	 * Called when execution reaches a page without code. Write VPTD_PAGE bytes of the page at
	 * @address in @space to @bytes and return 1, or return 0 if there is no code. On entry,
	 * *@key is a key that is unique to @space and @address. Replace this key by the page's own
	 * if the page has one, see vptd_page(). After 0 the decoder asks again when execution next
	 * reaches the page.
	 */
	int (*fetch)(void *context, uint64_t space, uint64_t address, uint64_t *key,
		     uint8_t *bytes);
};

/* A range of IA32_RTIT_ADDRn_A and _B, including both ends. */
struct vptd_range {
	uint64_t first, last;
	uint64_t stops; /* 1: TraceStop; 0: FilterEn */
};

enum vptd_flags {
	VPTD_CTL = 1 << 0,	 /* `ctl` is valid; else it is taken as 200DH: BranchEn, OS, User */
	VPTD_KEEPS_RET = 1 << 1, /* an uncompressed RET does not change the call stack */
	VPTD_EDGES = 1 << 2,	 /* count edges */
	VPTD_TIME = 1 << 3,	 /* keep the time, see vptd_now(); needs VPTD_CTL */
	VPTD_ATOM = 1 << 4,	 /* the packets are RTIT's, see vptd_atom_begin() */
	VPTD_ATOM_GUEST = 1 << 5, /* RTIT: WRMSRs of the traced code end and change sessions */
};

/* Known properties of the processor and of the trace. A field of 0 is unknown. */
struct vptd_config {
	uint64_t size;	 /* sizeof(struct vptd_config) */
	uint32_t flags;	 /* enum vptd_flags */
	uint32_t family; /* display family and model (CPUID.1), which select errata; 0: none */
	uint32_t model;
	uint32_t nranges;   /* entries of `range`, which some errata need */
	uint64_t ctl;	    /* IA32_RTIT_CTL */
	uint64_t cr3_match; /* IA32_RTIT_CR3_MATCH */
	struct vptd_range range[VPTD_RANGES];
	/* Bytes of each of three arrays of tracelets at most; strides have an eighth. 0: 128 MiB */
	uint64_t cache;
	/* For VPTD_TIME. A caller whose structure ends before them may pass its own `size`. */
	uint32_t crystal_num;  /* CPUID.15H:EBX and EAX: TSC ticks per crystal clock; for MTC */
	uint32_t crystal_den;  /* packets */
	uint32_t max_nonturbo; /* MSR_PLATFORM_INFO[15:8]: core:bus ratio of the TSC; for CYC */
	uint32_t rtit_errata;  /* RTIT: bit n - 1 for erratum En (appendix E) */
};

struct vptd_decoder;

/*
 * Make a decoder, which vptd_free() releases. The library copies @config and @ops, each of which
 * may be NULL, and passes @context to the callbacks. Sets *@status to VPTD_OK, VPTD_E_MEMORY or
 * VPTD_E_ARGUMENT. Returns NULL unless *@status is VPTD_OK.
 */
struct vptd_decoder *vptd_new(const struct vptd_config *config, const struct vptd_ops *ops,
			      void *context, enum vptd_status *status);
void vptd_free(struct vptd_decoder *d);

/*
 * Give the page @key the content @bytes (VPTD_PAGE bytes, which are copied), and map it at
 * @address (a multiple of VPTD_PAGE) of @space. @space is a value that ops.space() returns, or
 * VPTD_ANY_SPACE. Both hold for packets that are pushed from now on.
 *
 * The caller chooses keys below 2^63. The guest-physical address is the best key: the decoder
 * decodes a page once, however many addresses it is mapped at. Returning to an earlier content
 * of a page is cheap. The outcomes of packets that were pushed before are used first, so that runs
 * and errors may be reported. Returns VPTD_OK, VPTD_E_MEMORY or VPTD_E_ARGUMENT.
 */
enum vptd_status vptd_page(struct vptd_decoder *d, uint64_t space, uint64_t address, uint64_t key,
			   const uint8_t *bytes);
/*
 * Set @len bytes of code at any @address, under the rules of vptd_page(). The bytes change the
 * pages that @space itself has there, or new pages that are 0 elsewhere. Returns VPTD_OK or
 * VPTD_E_MEMORY.
 */
enum vptd_status vptd_code(struct vptd_decoder *d, uint64_t space, uint64_t address,
			   const uint8_t *bytes, size_t len);

/*
 * Set the address space and the mode (16, 32 or 64) that are valid until packets set them. In a new
 * decoder they are 0 and 64. Returns VPTD_OK, VPTD_E_MEMORY or VPTD_E_ARGUMENT.
 */
enum vptd_status vptd_begin(struct vptd_decoder *d, uint64_t space, unsigned int mode);

/*
 * Decode the next @len bytes of the stream, which may end within a packet. Returns VPTD_OK, or
 * VPTD_E_MEMORY if some of the stream was not decoded for want of memory.
 */
enum vptd_status vptd_push(struct vptd_decoder *d, const uint8_t *bytes, size_t len);
/*
 * Decode the remaining packets. Call this function at the end of the stream, and before bytes that
 * do not continue it, as after a snapshot or lost bytes. Offsets are not reset. Returns the same
 * statuses as vptd_push().
 */
enum vptd_status vptd_finish(struct vptd_decoder *d);

/*
 * RTIT. A decoder with VPTD_ATOM in its configuration reads RTIT's packets. It ignores family,
 * model, ranges, CR3 and CTL of the configuration, and keeps no time. VPTD_TIME is not valid with
 * VPTD_ATOM.
 *
 * RTIT has packets for branches only. A decoder also needs the registers where a trace begins, and
 * how the trace ends. The caller reports both, session by session. A session begins where TriggerEn
 * rises, or where software writes a register while the trace runs. It ends at the next such place,
 * or where TriggerEn falls.
 *
 * In a stream without sessions, decoding starts at the first packet behind a PSB that has the
 * position of execution. Instructions behind the last packet are then not known.
 */

/* Registers of RTIT as RDMSR reads them. A session uses no other registers. */
struct vptd_atom_regs {
	uint32_t ctl, status, events, tnt_buff; /* RTIT_CTL and so on */
	uint64_t last_lip, last_call_nlip;
	uint64_t lip[4]; /* RTIT_LIP0 to RTIT_LIP3 */
};

/* The reasons why a session ends. */
enum vptd_atom_end {
	VPTD_ATOM_ENDED = 0, /* any other reason */
	VPTD_ATOM_CLEARED,   /* software cleared Trace_En or TraceActive */
	VPTD_ATOM_STOPPED,   /* TraceStop */
	VPTD_ATOM_CHANGED,   /* software wrote a register; vptd_atom_begin() continues the trace */
};

/* An unknown counter of instructions. */
#define VPTD_ATOM_UNKNOWN UINT64_MAX

/*
 * Begin a session with the next byte that is pushed. @regs are the registers there. @insns is a
 * counter of retired instructions, or VPTD_ATOM_UNKNOWN. Address space and mode are those of
 * vptd_begin(). Returns VPTD_OK or VPTD_E_MEMORY, or VPTD_E_ARGUMENT if @d was made without
 * VPTD_ATOM.
 */
enum vptd_status vptd_atom_begin(struct vptd_decoder *d, const struct vptd_atom_regs *regs,
				 uint64_t insns);
/*
 * End the session behind the last byte that was pushed. @regs and @insns are those of that place.
 * The decoder uses outcomes that are left in RTIT_TNT_BUFF, and follows code without branches up to
 * @insns.
 *
 * If the counter is not known at both ends, the decoder leaves out the instructions behind the last
 * outcome and reports an OVERFLOW. Neither happens with VPTD_ATOM_CHANGED, or if only one
 * instruction can have ended the session. After lost packets an OVERFLOW is always reported.
 *
 * Returns VPTD_OK or VPTD_E_MEMORY. Returns VPTD_E_ARGUMENT if @d was made without VPTD_ATOM, or if
 * @end is not one of enum vptd_atom_end.
 */
enum vptd_status vptd_atom_end(struct vptd_decoder *d, const struct vptd_atom_regs *regs,
			       uint64_t insns, enum vptd_atom_end end);

/*
 * Functions to cut a stream of Intel PT into parts. The first, vptd_find_psb(), returns the offset
 * of the first whole PSB, or @len. The second, vptd_psb_size(), returns the size in bytes of the
 * PSB+ at @bytes, including PSBEND, or 0 if it is not whole. Push the PSB+ that follows a part as
 * well, since the last instructions of the part run up to its address.
 */
size_t vptd_find_psb(const uint8_t *bytes, size_t len);
size_t vptd_psb_size(const uint8_t *bytes, size_t len);

/*
 * Return the number of instructions that ran so far, and the number of events of @kind. Events with
 * VPTD_EV_STATUS and VPTD_EVENT_SYNC are not counted, so that parts of a trace add up.
 */
uint64_t vptd_insns(const struct vptd_decoder *d);
uint64_t vptd_events(const struct vptd_decoder *d, enum vptd_event_kind kind);

enum vptd_time_flags {
	VPTD_TIME_KNOWN = 1 << 0, /* `tsc`, `lo` and `hi` are valid */
};

/* TSC values are those of the last TSC packet, of 56 bits, and what was added since. */
struct vptd_time {
	uint32_t flags;	 /* enum vptd_time_flags */
	uint32_t ratio;	 /* core:bus ratio of the last CBR packet; 0: unknown */
	uint64_t tsc;	 /* estimate, from `lo` to `hi` */
	uint64_t lo, hi; /* the true value is between them; 0 and UINT64_MAX: no bound */
	uint64_t cycles; /* core clocks that CYC packets counted up to here, see vptd_now() */
};

/*
 * Store the time of the run or event that is being reported. All instructions of the run retired
 * from `lo` to `hi`, and `tsc` estimates when the run ended. Outside of a callback it is the time
 * at the last packet. Nothing is computed for runs and events that the caller does not ask about.
 *
 * The time is that of 33.8.3.2. It is made of TSC packets, of MTC packets that TMA ties to them,
 * and of CYC packets in between. CYC packets count at the ratio of CBR, which MTC packets
 * calibrate. The bounds hold if the true ratio is within 1 of that of CBR. TSC, CTL and the ratios
 * of the configuration must also not change. Under VMX, TSC offsets and TSC scaling change the TSC
 * (33.8.3.3). A later packet never changes the time of an event.
 *
 * Each PSB+ begins anew, and nothing is known before its TSC packet. Parts that are cut at PSBs
 * therefore give the times of the whole. `cycles` begins at 0 in a new decoder. For a later part,
 * add the `cycles` that the earlier parts have after vptd_finish().
 *
 * Returns VPTD_OK, or VPTD_E_ARGUMENT if @d was made without VPTD_TIME.
 */
enum vptd_status vptd_now(const struct vptd_decoder *d, struct vptd_time *time);

/*
 * Counts of edges, independent of the decoders that add to them.
 *
 * An edge is an executed branch: the address of the branch and the address that followed. A
 * conditional branch that was not taken is an edge too. Interrupts and exceptions are not.
 */
struct vptd_counts;

struct vptd_edge {
	uint64_t from, to;
	uint64_t page; /* key of the page that holds `from` */
	uint64_t count;
};

/* Make empty counts. Returns NULL if there is no memory. */
struct vptd_counts *vptd_counts_new(void);
void vptd_counts_free(struct vptd_counts *counts);

/*
 * Move to @counts the edges that @d has counted since the last call. Returns VPTD_OK, or
 * VPTD_E_ARGUMENT if @d was made without VPTD_EDGES. After VPTD_E_MEMORY the counts of both are
 * incomplete and must not be used.
 */
enum vptd_status vptd_count(struct vptd_decoder *d, struct vptd_counts *counts);
/*
 * Add @from, which does not change, to @into. Sums do not depend on the order. Returns VPTD_OK,
 * or VPTD_E_MEMORY, after which @into must not be used.
 */
enum vptd_status vptd_counts_add(struct vptd_counts *into, const struct vptd_counts *from);

/*
 * vptd_counts_edges() returns the number of edges. vptd_counts_edge() stores edge @i and returns 1,
 * or returns 0 if there is no such edge. Edges are in the order of `from`, `to` and `page`.
 */
size_t vptd_counts_edges(struct vptd_counts *counts);
int vptd_counts_edge(struct vptd_counts *counts, size_t i, struct vptd_edge *edge);

/*
 * Add the counts to @bitmap, VPTD_BITMAP bytes as fuzzers use them. The index of an edge's byte is
 * h >> 48, where h = (from ^ rotate(to, 32)) * 9e3779b97f4a7c15H modulo 2^64, and rotate()
 * exchanges the halves of its argument. A byte saturates at 255.
 */
void vptd_counts_bitmap(const struct vptd_counts *counts, uint8_t *bitmap);

#ifdef __cplusplus
}
#endif

#endif /* VPTDECODE_H */
