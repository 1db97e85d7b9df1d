/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The .vpt file: trace bytes and the side-band a decoder needs.
 *
 * A file is a header and a sequence of blocks. Each block carries its own length and checksum and
 * is appended whole. A file whose writer was killed can therefore be read up to its last whole
 * block. Integers are little-endian; a payload is padded with zeros to a multiple of 8 that `len`
 * does not count.
 */
#ifndef VMM_TRACE_FORMAT_H
#define VMM_TRACE_FORMAT_H

#include <stdint.h>

#include "vpt/caps.h"

#define TRACE_FILE_MAGIC 0x0a45434152545056ull /* "VPTRACE\n" */
#define TRACE_FILE_OLD	 1		       /* the version of vpt 0.1 for PT */
#define TRACE_FILE_OLD_ATOM \
	2 /* the version of vpt 0.1 for RTIT, with
                              			    * TRACE_INFO_ATOM */
#define TRACE_FILE_VERSION   3
#define TRACE_BLOCK_MAGIC    0x4b4c4256u /* "VBLK" */
#define TRACE_FILE_MAX_VCPUS 1024
#define TRACE_CODE_BYTES     4096 /* size of a page in a CODE block */

struct trace_file_header {
	uint64_t magic;
	uint32_t version;
	uint32_t size; /* size of this header */
	/* From version 3 on. A reader refuses a file with a flag that the reader does not know. */
	uint64_t flags; /* none is defined */
	uint64_t reserved;
};

enum trace_block_type {
	TRACE_BLOCK_INFO = 1, /* struct trace_file_info */
	TRACE_BLOCK_RAM,      /* struct trace_ram_range[] */
	TRACE_BLOCK_ELF,      /* struct trace_elf_image, then the file's bytes */
	TRACE_BLOCK_CODE,     /* struct trace_code_page, then 4096 bytes */
	TRACE_BLOCK_TRACE,    /* struct trace_chunk, then packets */
	TRACE_BLOCK_SESSION,  /* struct trace_session */
	TRACE_BLOCK_ORACLE,   /* struct trace_oracle_record[] */
	TRACE_BLOCK_INDEX,    /* struct trace_index_entry[], before END */
	TRACE_BLOCK_END,      /* struct trace_file_end: the writer closed the file */
	TRACE_BLOCK_CR3,      /* struct trace_cr3_switch */
	TRACE_BLOCK_SPACE,    /* struct trace_space[]: of all vCPUs */
	TRACE_BLOCK_VMCS,     /* struct trace_vmcs */
	TRACE_BLOCK_STRETCH,  /* struct trace_stretch, each with its instructions: of all vCPUs */
	TRACE_BLOCK_RUN,      /* uint32_t[], see TRACE_RUN_CUT */
	TRACE_BLOCK_STOP,     /* struct trace_guest_stop, then its faults, then its calls */
	TRACE_BLOCK_PAGE,     /* struct trace_page_content, then 4096 bytes: of all vCPUs */
	TRACE_BLOCK_MAP,      /* struct trace_page_map[] */
	/* From version 3 on; in an older file these types are not known. */
	TRACE_BLOCK_ORIGIN,  /* struct trace_origin */
	TRACE_BLOCK_SWITCH,  /* struct trace_switch[] */
	TRACE_BLOCK_POINT,   /* struct trace_psb_point[], in place of INDEX */
	TRACE_BLOCK_PACKED,  /* struct trace_packed, then compressed blocks: of all vCPUs */
	TRACE_BLOCK_EPOCH,   /* struct trace_epoch */
	TRACE_BLOCK_FRAME,   /* struct trace_frame[]: of all vCPUs */
	TRACE_BLOCK_VIEW,    /* struct trace_view[]: of all vCPUs */
	TRACE_BLOCK_INPUT,   /* struct trace_recorded, each with its bytes */
	TRACE_BLOCK_FILE,    /* struct trace_file_ref, then a name: of all vCPUs */
	TRACE_BLOCK_MARK,    /* struct trace_user_mark, each with its text */
	TRACE_BLOCK_CUT,     /* struct trace_cut */
	TRACE_BLOCK_OPTIONS, /* struct trace_run_options, then their text: of all vCPUs */
	TRACE_BLOCK_TASK,    /* struct trace_task[] */
	TRACE_BLOCK_CHANGE,  /* struct trace_page_change, then the changed bytes: of all vCPUs */
	TRACE_BLOCK_REFINED, /* struct trace_refined */
	TRACE_BLOCK_TYPES,
	/* Types that a reader must know have TRACE_BLOCK_NEEDED. */
	TRACE_BLOCK_PIECE = 0x8001, /* struct trace_piece */
};

#define TRACE_BLOCK_TYPES_OLD TRACE_BLOCK_ORIGIN /* the types of versions 1 and 2 end here */
/* A reader skips a block of an unknown type, but refuses the file if the type has this bit. */
#define TRACE_BLOCK_NEEDED 0x8000u

struct trace_block {
	uint32_t magic;
	uint16_t type; /* enum trace_block_type; unknown ones are skipped */
	uint16_t vcpu;
	uint32_t len; /* size of the payload */
	uint32_t crc; /* CRC-32C of this header with crc 0, then payload */
};

enum trace_owner { TRACE_OWNER_NONE, TRACE_OWNER_GUEST, TRACE_OWNER_HOST };

struct trace_file_info {
	struct vpt_caps caps;
	char model[16];
	char engine[16];
	uint32_t owner; /* enum trace_owner */
	uint32_t vcpus;
	/*
	 * The unit of TSC packets. Where no hardware traces, the TSC is virtual and starts
	 * anywhere. It advances a tick for each core clock, which is an instruction, times P1 /
	 * CBR, by the CBR packets and `caps` (33.8.3). It also advances by the time that passed
	 * while nothing was executed.
	 */
	uint64_t tsc_hz;
	uint64_t tsc_offset;	 /* guest TSC = scaled host TSC + offset */
	uint64_t tsc_multiplier; /* 48-bit fixed point, 1 << 48: not scaled */
	uint64_t seed;
	uint32_t oracle; /* ORACLE blocks are present */
	uint32_t flags;	 /* enum trace_info_flags; from version 3 on others refuse the file */
};

/* Properties of the processor that neither `caps` nor a session's registers have. */
enum trace_info_flags {
	TRACE_INFO_DEFERRED = 1 << 0,	    /* TIPs can follow the TNT that contains their outcome
	                               * (33.4.2.3) */
	TRACE_INFO_ATOM = 1 << 1,	    /* the trace is Atom's RTIT (vpt/atom.h), not PT */
	TRACE_INFO_CODE_BY_OFFSET = 1 << 2, /* CODE and MAP blocks have an offset in the vCPU's
	                                     * stream in place of the counter */
};
#define TRACE_INFO_FLAGS \
	(TRACE_INFO_DEFERRED | TRACE_INFO_ATOM | TRACE_INFO_CODE_BY_OFFSET | 0xff00u)
/* The errata of the processor in flags, for RTIT: enum vpt_atom_erratum. */
#define TRACE_INFO_ERRATA(flags)      ((uint8_t)((flags) >> 8))
#define TRACE_INFO_SET_ERRATA(errata) ((uint32_t)(errata) << 8)

struct trace_ram_range {
	uint64_t gpa;
	uint64_t bytes;
};

struct trace_elf_image {
	char name[64]; /* file name without its folder */
	uint64_t bias; /* run-time address minus link-time address */
};

/*
 * `insns` here and below is one counter per vCPU: retired instructions that began with PacketEn
 * set. It includes INT n and a WRMSR that clears TraceEn. It orders side-band without a packet
 * against the instruction flow.
 *
 * A page of code as it was when its first instruction ran. A page whose bytes change gets a new
 * block.
 */
struct trace_code_page {
	uint64_t cr3;	/* address space, bits 63:12 (63:5 for PAE) */
	uint64_t vaddr; /* 4 KiB aligned; as payloads have it: a LIP or a RIP (33.3.1.1) */
	uint64_t gpa;
	/* The counter from which on the page executes. See TRACE_INFO_CODE_BY_OFFSET. */
	uint64_t insns;
};

/*
 * Contents and mappings separately, so that a page that executes at many addresses is in the file
 * once. A PAGE block holds the content of a page at some time. The ids of PAGE blocks ascend and
 * begin above 0. An entry of a MAP block is equivalent to a CODE block with that content. Its PAGE
 * block precedes the MAP block.
 */
struct trace_page_content {
	uint64_t id;
	uint64_t reserved;
};

/*
 * A content that differs from the content @base in the bytes from @offset on only. The block has
 * their new values. Its id is one of the ids of PAGE blocks.
 */
struct trace_page_change {
	uint64_t id;
	uint64_t base;
	uint32_t offset;
	uint32_t reserved;
};

struct trace_page_map {
	struct trace_code_page page;
	uint64_t content; /* the id of a PAGE or CHANGE block */
};

/*
 * CR3 where no PIP reports it. It is written when CR3 is loaded while CTL.OS is 0.
 * It is also written at the start of a session, because PSB+ has no PIP outside the traced code. It is ignored where PIPs report
 * CR3, except for TRACE_CR3_RESUMED.
 */
struct trace_cr3_switch {
	uint64_t cr3;	/* as in struct trace_code_page */
	uint64_t insns; /* the counter at the switch */
};

/*
 * For RTIT, which has no packet of execution modes: bits 1:0 of `cr3` are the width of code from
 * there on. A change of the width makes a block, too.
 */
enum trace_cr3_code { TRACE_CR3_CODE64 = 0, TRACE_CR3_CODE32 = 1, TRACE_CR3_CODE16 = 2 };
#define TRACE_CR3_CODE_MASK 3ull
/* The block belongs to the next OVF or FUP.BuffOvf, behind which no packet has the counter. */
#define TRACE_CR3_RESUMED 4ull
#define TRACE_CR3_FLAGS	  (TRACE_CR3_CODE_MASK | TRACE_CR3_RESUMED)

/*
 * An address space where CR3 alone does not identify it. In traces that span a host and its guests,
 * it takes PIP.NR, the current VMCS and CR3 (33.4.2.7, 33.4.2.15). In a file with SPACE blocks,
 * `id` replaces the CR3 of code in CODE and CR3 blocks and in the oracle's CR3 records. The packets
 * and CR3_MATCH have the hardware's CR3.
 */
#define TRACE_SPACE_ID_MASK  0x000ffffffffff000ull
#define TRACE_SPACE_ANY_VMCS UINT64_MAX
#define TRACE_SPACE_NO_VM \
	UINT32_MAX /* the space belongs to the host, or its owner is not
                                         * known */

enum trace_space_flags {
	TRACE_SPACE_NON_ROOT = 1 << 0, /* VMX non-root operation */
	/*
	 * A kernel, which is part of all spaces of its side. The code of this space, as vCPU 0 has
	 * it, is in each of them on every vCPU. At most one space is of root operation.
	 */
	TRACE_SPACE_COMMON = 1 << 1,
	/*
	 * The file has no code for the space, and omits the guest's execution there. The flag is
	 * ignored if the file has code of the space, which was found after the space was written.
	 */
	TRACE_SPACE_NO_CODE = 1 << 2,
};
#define TRACE_SPACE_FLAGS (TRACE_SPACE_NON_ROOT | TRACE_SPACE_COMMON | TRACE_SPACE_NO_CODE)

struct trace_space {
	uint64_t id;   /* a value within TRACE_SPACE_ID_MASK that is no CR3 of the trace */
	uint64_t cr3;  /* bits 51:5 of the hardware's CR3 */
	uint64_t vmcs; /* VMCS pointer, or TRACE_SPACE_ANY_VMCS */
	uint32_t flags;
	uint32_t vm;   /* number of the VM, or TRACE_SPACE_NO_VM */
	uint32_t vcpu; /* number of the vCPU within the VM */
	uint32_t pid;  /* 0 if not known */
	char name[40];
};

/*
 * The meaning of a VMCS, from a place in the vCPU's stream on. TSC packets of non-root operation
 * have the guest's TSC, which is the host's, scaled, plus the offset (33.8.3.3).
 */
struct trace_vmcs {
	uint64_t vmcs;
	uint64_t offset; /* position in the stream */
	uint64_t tsc_offset;
	uint64_t tsc_multiplier; /* 48-bit fixed point, 1 << 48: not scaled */
	uint32_t vm, vcpu;	 /* as in struct trace_space */
};

struct trace_chunk {
	uint64_t offset; /* offset of the first byte in this vCPU's stream */
	uint64_t gpa;	 /* address in the guest's buffer; ~0 if there is none */
};

/* One TriggerEn period: a block when it starts and one when it ends. */
enum trace_session_edge { TRACE_SESSION_START, TRACE_SESSION_END };

enum trace_session_end {
	TRACE_END_NONE = 0,   /* on START blocks */
	TRACE_END_DISABLED,   /* TraceEn was cleared */
	TRACE_END_TRACE_STOP, /* TraceStop range */
	TRACE_END_TOPA_STOP,  /* the last packet may be cut */
	TRACE_END_ERROR,      /* the last packet may be cut */
	TRACE_END_CLOSED,     /* the guest ended, the VMM closed the trace */
	TRACE_END_LOST,	      /* the following bytes were overwritten; the last packet may be cut */
	TRACE_END_CHANGED,    /* RTIT: a register was written, and the trace continues in the
	                       * session that starts here */
};

/* For RTIT, trace/atom_session.h packs the registers, also at the end of a session. */
struct trace_session {
	uint32_t edge;	/* enum trace_session_edge */
	uint32_t end;	/* enum trace_session_end */
	uint32_t error; /* enum vpt_output_error if end is ERROR */
	uint32_t reserved;
	uint64_t offset; /* position in the stream */
	uint64_t insns;	 /* the counter at this edge */
	uint64_t ctl, status, output_base, output_mask_ptrs, cr3_match;
	uint64_t addr[2 * VPT_MAX_RANGES];
};

/*
 * The retired instructions of the engine, independent of PT. A check can therefore compute the
 * expected trace independently of the generator.
 */
enum trace_oracle_kind {
	/* Each ip is in the format of payloads, a LIP or a RIP (33.3.1.1). */
	TRACE_ORACLE_INSN = 0, /* ip retired; aux: enum trace_oracle_insn_flags */
	TRACE_ORACLE_EVENT,    /* interrupt, exception, INT n at ip; aux: vector in
				 * 7:0, enum trace_oracle_insn_flags of ip in 15:8 */
	TRACE_ORACLE_CR3,      /* ip: CR3 from here on */
	TRACE_ORACLE_START,    /* TriggerEn rose; ip, cpl: next instruction */
	TRACE_ORACLE_STOP,     /* TriggerEn fell; ip, cpl: next instruction; aux: enum
	                        * trace_session_end in 7:0, flags of ip in 15:8. If a guest's
	                        * WRMSR cleared it, that is the INSN before. */
	TRACE_ORACLE_VM_EXIT,  /* VM exit at ip; aux as for EVENT, with vector 0 */
	TRACE_ORACLE_INIT,     /* INIT at ip; aux likewise; the next instruction is SIPI's */
};

#define TRACE_ORACLE_AUX(low, flags) ((uint16_t)((low) | (flags) << 8))
#define TRACE_ORACLE_AUX_LOW(aux)    ((aux)&0xffu)
#define TRACE_ORACLE_AUX_FLAGS(aux)  ((unsigned int)(aux) >> 8)

/* cpl is the CPL at which the instruction began or was to begin. */
enum trace_oracle_insn_flags {
	TRACE_ORACLE_ARRIVED = 1 << 0, /* reached by a taken branch or an event, not by falling
	                                * through */
	TRACE_ORACLE_PAE = 1 << 1,
	TRACE_ORACLE_COND = 1 << 2,	 /* is a conditional branch */
	TRACE_ORACLE_SOFT_INT = 1 << 3,	 /* is INT n, INT3, INTO, INT1 that was taken */
	TRACE_ORACLE_CR3_WRITE = 1 << 4, /* is a MOV to CR3 */
	TRACE_ORACLE_VM_ENTRY = 1 << 5,	 /* is VMLAUNCH or VMRESUME and entered the guest */
	TRACE_ORACLE_WAITS = 1 << 6,	 /* STOP: the processor waits for a start-up IPI */
};

struct trace_oracle_record {
	uint64_t ip;
	uint8_t kind; /* enum trace_oracle_kind */
	uint8_t cpl;
	uint16_t aux;
	uint32_t reserved;
};

/*
 * The same log in less space, for engines that run code in blocks. The instructions of a block are
 * written once; later entries only record that the block ran. RUN blocks and ORACLE blocks of a
 * vCPU are one sequence, in the order of the file.
 *
 * A stretch is a sequence of instructions that follow each other by falling through. It is padded
 * with zeros to a multiple of 8, and precedes the first RUN block that has its id.
 */
enum trace_stretch_flags {
	/*
	 * The last instruction is a REP string instruction, which the engine may execute one
	 * iteration at a time. It retires once. It has not retired if the next stretch or record,
	 * CR3 records aside, is at the same instruction, or if there is none.
	 */
	TRACE_STRETCH_REP = 1 << 0,
	TRACE_STRETCH_PAE = 1 << 1,  /* PAE paging */
	TRACE_STRETCH_JUMP = 1 << 2, /* the last is an unconditional branch */
};
#define TRACE_STRETCH_FLAGS (TRACE_STRETCH_REP | TRACE_STRETCH_PAE | TRACE_STRETCH_JUMP)

struct trace_stretch {
	uint32_t id; /* a new id below TRACE_STRETCH_ID_MAX() */
	uint8_t cpl;
	uint8_t flags;	/* enum trace_stretch_flags */
	uint16_t insns; /* number of struct trace_stretch_insn that follow, at least 1 */
	uint64_t ip;
};

/*
 * ARRIVED and PAE are not stored; the reader derives them. SOFT_INT is valid only if the next
 * record is an EVENT at the instruction.
 */
struct trace_stretch_insn {
	uint8_t len;   /* 1..15 */
	uint8_t flags; /* enum trace_oracle_insn_flags */
};

#define TRACE_STRETCH_LEN_MAX 15

/* Ids may have gaps, but the bound keeps a table of them small. */
#define TRACE_STRETCH_ID_MAX(before) (4ull * ((before) + 1024))

/*
 * The words of a RUN block. A word below TRACE_RUN_CUT: this stretch ran. TRACE_RUN_CUT | n right
 * after it: only its first n instructions retired. TRACE_RUN_RECORD, then 4 words in the same
 * block: a struct trace_oracle_record. In EVENT, VM_EXIT and STOP the reader derives the flag
 * ARRIVED here, too.
 */
#define TRACE_RUN_CUT	   0xf0000000u
#define TRACE_RUN_RECORD   0xffffffffu
#define TRACE_RECORD_WORDS (sizeof(struct trace_oracle_record) / sizeof(uint32_t))

struct trace_index_entry {
	uint64_t offset;      /* offset of a PSB in the vCPU's stream */
	uint64_t file_offset; /* offset of the TRACE block that holds its first byte */
	uint32_t vcpu;
	uint32_t reserved;
};

/* Why a guest stopped. The values are those of a STOP block. */
enum trace_stop_kind {
	TRACE_STOP_NONE = 0,
	TRACE_STOP_EXIT = 1, /* the guest asked for it, with an exit status */
	TRACE_STOP_TRIPLE_FAULT = 2,
	TRACE_STOP_HALTED = 3, /* HLT, and no interrupt can end it */
	TRACE_STOP_MAX_INSNS = 4,
	TRACE_STOP_SNAPSHOT = 5, /* the run ends, and a snapshot holds the guest */
	TRACE_STOP_TIMEOUT = 6,
	TRACE_STOP_INTERRUPTED = 7,  /* a signal to the VMM */
	TRACE_STOP_WRITER = 8,	     /* the trace file could not be written */
	TRACE_STOP_UNABLE = 9,	     /* the host cannot execute an instruction */
	TRACE_STOP_UNTRACEABLE = 10, /* the host cannot trace what runs */
	TRACE_STOP_UNEXPLAINED = 11, /* a single step had an impossible result */
	TRACE_STOP_HOST = 12,	     /* the host failed */
	TRACE_STOP_VMX = 13,	     /* a VM entry failed */
	TRACE_STOP_LIMIT = 14,	     /* the trace file reached its size limit */
};

/*
 * The guest when it stopped. A STOP block holds this struct, then @faults of
 * struct trace_guest_fault, then @calls of uint64_t. A file has one such block at most,
 * of the vCPU that stopped the guest.
 */
struct trace_guest_stop {
	uint32_t kind;	      /* enum trace_stop_kind */
	uint32_t exit_status; /* valid only if @kind is TRACE_STOP_EXIT */
	uint64_t insns;	      /* the counter at the stop */
	uint64_t gpr[16];     /* RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15 */
	uint64_t rip, rflags;
	uint64_t cs_base; /* base of CS; RIP is relative to it */
	uint64_t cr0, cr2, cr3, cr4;
	uint64_t idt_base;
	uint32_t idt_limit;
	uint32_t reserved2;
	uint8_t mode; /* width of the code segment: 16, 32 or 64 bits */
	uint8_t cpl;
	uint8_t insn_len; /* number of bytes in @insn */
	uint8_t reserved;
	uint16_t faults;  /* 0 to TRACE_STOP_FAULTS */
	uint16_t calls;	  /* 0 to TRACE_STOP_CALLS */
	uint8_t insn[16]; /* the bytes at RIP */
	char text[96];	  /* details, padded with NUL; may be empty */
};

#define TRACE_STOP_FAULTS 8
#define TRACE_STOP_CALLS  32

/*
 * The events that led to a triple fault, in order. Each event after the first was raised during the
 * delivery of the previous one.
 */
enum trace_guest_fault_flags {
	TRACE_GUEST_FAULT_HAS_ERROR = 1 << 0, /* @error is the error code in the frame */
	TRACE_GUEST_FAULT_INTERRUPT = 1 << 1, /* an external interrupt, not an exception */
	TRACE_GUEST_FAULT_NMI = 1 << 2,
	TRACE_GUEST_FAULT_SOFTWARE = 1 << 3, /* INT n, INT3, INTO or INT1 */
};

struct trace_guest_fault {
	uint64_t rip; /* RIP that the frame would have had */
	uint64_t cr2; /* valid only for #PF */
	uint32_t error;
	uint8_t vector;
	uint8_t flags; /* enum trace_guest_fault_flags */
	uint16_t reserved;
};

struct trace_file_end {
	uint64_t index_offset; /* file offset of the INDEX block, 0: none */
	uint32_t guest_exit;   /* the guest's exit status; 0 if a STOP block has another reason */
	uint32_t reserved;
};

/* Version 3. The reader treats a block with an undefined flag as damaged. */

/* The program and the machine that wrote a trace. A file has at most one such block. */
enum trace_origin_kind {
	TRACE_ORIGIN_UNKNOWN,
	TRACE_ORIGIN_RUN,    /* vpt run: @engine of INFO executed the guest */
	TRACE_ORIGIN_RECORD, /* vpt record, on this processor */
	TRACE_ORIGIN_QEMU,   /* QEMU with the series of vpt */
	TRACE_ORIGIN_BED,    /* the logs of an emulator */
	TRACE_ORIGIN_PERF,   /* a perf.data file */
	TRACE_ORIGIN_LLDB,   /* a trace bundle of LLDB */
	TRACE_ORIGIN_RAW,    /* packets without side-band */
	TRACE_ORIGIN_OTHER,
	TRACE_ORIGIN_KINDS
};

enum trace_origin_flags {
	/* A processor wrote the packets, so that the errata of its signature apply. */
	TRACE_ORIGIN_HARDWARE = 1 << 0,
	/* @time_zero, @time_mult and @time_shift are valid. */
	TRACE_ORIGIN_TIME = 1 << 1,
	/* The end of the trace may be missing: the recording program lost or cut off bytes. */
	TRACE_ORIGIN_TRUNCATED = 1 << 2,
};
#define TRACE_ORIGIN_FLAGS (TRACE_ORIGIN_HARDWARE | TRACE_ORIGIN_TIME | TRACE_ORIGIN_TRUNCATED)

enum trace_cpu_vendor { TRACE_CPU_UNKNOWN, TRACE_CPU_INTEL, TRACE_CPU_OTHER, TRACE_CPU_VENDORS };

/* CPUID.1:EAX as display family and display model. All fields are 0 if they are not known. */
struct trace_cpu {
	uint16_t vendor; /* enum trace_cpu_vendor */
	uint16_t family;
	uint16_t model;
	uint16_t stepping;
};

struct trace_origin {
	uint32_t kind;	/* enum trace_origin_kind */
	uint32_t flags; /* enum trace_origin_flags */
	struct trace_cpu cpu;
	/* Nanoseconds of the recording host's clock: time_zero + (TSC * time_mult >> time_shift) */
	uint64_t time_zero;
	uint32_t time_mult;
	uint32_t time_shift; /* 0 to 63 */
	char program[32];    /* the program that wrote this file, and its version; ends with NUL */
	char source[64];     /* name of the imported file without its folder; ends with NUL */
};

/*
 * A switch of the address space without a PIP, such as for user code whose trace omits the kernel.
 * The switch takes effect for packets that begin at @offset or behind it. Offsets of a vCPU do not
 * descend; the last of equal ones takes effect. On a vCPU with such blocks no PIP of root operation
 * (NR = 0) selects a space. Kernel code is in a space with TRACE_SPACE_COMMON.
 */
struct trace_switch {
	uint64_t offset; /* position in the stream */
	uint64_t space;	 /* space as in struct trace_code_page.cr3; 0: no code is known from here
	               	  * on */
	uint64_t tsc;	 /* TSC at the switch; 0 if not known */
	uint32_t pid;	 /* 0 if not known */
	uint32_t tid;	 /* 0 if not known */
};

/*
 * The state at a PSB, from which a decoder can start. Places of a vCPU ascend. The block is
 * optional: a reader that does not trust it searches for the PSB.
 */
enum trace_point_flags {
	TRACE_POINT_CR3 = 1 << 0,      /* @cr3 is valid: PSB+ has a PIP */
	TRACE_POINT_NR = 1 << 1,       /* the PIP's NR; 0 without a PIP */
	TRACE_POINT_VMCS = 1 << 2,     /* @vmcs is valid: PSB+ has a VMCS packet */
	TRACE_POINT_TSC = 1 << 3,      /* @tsc is valid: PSB+ has a TSC packet */
	TRACE_POINT_IP = 1 << 4,       /* @ip is valid: PSB+ has a FUP, so PacketEn is set */
	TRACE_POINT_MODE = 1 << 5,     /* @mode is valid: PSB+ has a MODE.Exec */
	TRACE_POINT_IF = 1 << 6,       /* MODE.Exec's IF; 0 without the packet */
	TRACE_POINT_CBR = 1 << 7,      /* @cbr is valid */
	TRACE_POINT_INSNS = 1 << 8,    /* @insns is valid */
	TRACE_POINT_SPACE = 1 << 9,    /* @space is valid: the value of the last SWITCH or CR3
	                                * block before */
	TRACE_POINT_EPOCH = 1 << 10,   /* @epoch is valid */
	TRACE_POINT_SESSION = 1 << 11, /* the PSB is the first of its session */
};
#define TRACE_POINT_FLAGS 0xfffu

struct trace_psb_point {
	uint64_t offset;      /* offset of the PSB in the vCPU's stream */
	uint64_t file_offset; /* offset of the TRACE block with its first byte, or of the PACKED
		              * block around that */
	uint64_t cr3;	      /* bits 51:5, as in the PIP */
	uint64_t vmcs;
	uint64_t tsc; /* as in the packet: bits 55:0 */
	uint64_t ip;
	uint64_t insns; /* the counter at the PSB */
	uint64_t space; /* as in struct trace_code_page */
	uint64_t epoch;
	uint32_t flags; /* enum trace_point_flags */
	uint8_t mode;	/* 16, 32 or 64 bits; 0 if it is not known */
	uint8_t cbr;
	uint16_t reserved;
};

/*
 * Consecutive whole blocks, each with its header, checksum and padding, as one zstd frame of
 * @packed bytes. Zeros may follow the frame. @bytes is at most TRACE_PACKED_MAX, and at most
 * TRACE_PACKED_RATIO times the payload of the PACKED block. A file therefore cannot claim more
 * memory. PACKED blocks never contain blocks of types INFO, PACKED, INDEX, POINT and END.
 */
enum trace_packed_method { TRACE_PACKED_ZSTD = 1 };
#define TRACE_PACKED_MAX   (4u << 20)
#define TRACE_PACKED_RATIO 64u

struct trace_packed {
	uint32_t method; /* enum trace_packed_method */
	uint32_t bytes;	 /* size of the blocks, a multiple of 8 */
	uint32_t packed; /* size of the frame */
	uint32_t reserved;
};

/*
 * Epochs of code. An epoch is a number for the whole file that increases whenever code changes for
 * any vCPU. An EPOCH block binds an epoch to a place of its vCPU, @offset in the stream and @insns
 * of the counter. From there on, this vCPU executes the code of that epoch. The values of a vCPU do
 * not descend. Before its first EPOCH block a vCPU is in epoch 0.
 */
struct trace_epoch {
	uint64_t epoch;
	uint64_t offset;
	uint64_t insns;
	uint64_t tsc; /* 0 if not known */
};

/* From an epoch on the physical page @gpa of a machine has the content of a PAGE block. */
struct trace_frame {
	uint64_t gpa;	  /* a multiple of 4096 */
	uint64_t content; /* the id of a PAGE block before this one */
	uint64_t epoch;
	uint32_t vm; /* as in struct trace_space */
	uint32_t reserved;
};

/*
 * From an epoch on, @vaddr of an address space maps to @gpa of a machine, on every vCPU. FRAME and
 * VIEW blocks together are equivalent to CODE blocks of all vCPUs.
 */
enum trace_view_flags { TRACE_VIEW_GONE = 1 << 0 /* @vaddr is not mapped; @gpa is 0 */ };
#define TRACE_VIEW_FLAGS TRACE_VIEW_GONE

struct trace_view {
	uint64_t space; /* as struct trace_code_page.cr3 */
	uint64_t vaddr; /* a multiple of 4096 */
	uint64_t gpa;	/* a multiple of 4096 */
	uint64_t epoch;
	uint32_t vm;
	uint32_t flags; /* enum trace_view_flags */
};

/*
 * An input from outside of the machine, which a replay delivers again. The struct is followed
 * by @len bytes, and padded with zeros to a multiple of 8. The order of the blocks is that of
 * the inputs of all vCPUs.
 */
enum trace_recorded_kind {
	TRACE_RECORDED_CONSOLE = 1,
	TRACE_RECORDED_NETWORK, /* a frame */
	TRACE_RECORDED_FOLDER,	/* a reply of the shared folder */
	TRACE_RECORDED_MONITOR, /* a command */
	TRACE_RECORDED_SIGNAL,	/* a signal; its number as uint32_t */
	TRACE_RECORDED_CLOCK,	/* host time as uint64_t, in nanoseconds since 1970 */
	TRACE_RECORDED_DEBUGGER,
	TRACE_RECORDED_DISK, /* completion of a request that did not take its computed time */
	TRACE_RECORDED_KINDS
};

struct trace_recorded {
	/* Instructions that the vCPU retired since the run began, traced or not. */
	uint64_t retired;
	uint64_t turn;	 /* turn in the vCPUs' schedule; 0 if there is only one vCPU */
	uint64_t tsc;	 /* virtual TSC of the vCPU, without changes by the guest */
	uint16_t kind;	 /* enum trace_recorded_kind */
	uint16_t device; /* number among devices of this kind */
	uint32_t len;
};
#define TRACE_RECORDED_MAX (1u << 20) /* maximum of @len */

/*
 * The options of vpt run that determine the guest's run, for a replay. @count texts of @len bytes
 * together follow: "--name" or "--name=value", each with a NUL behind it. Zeros pad them to a
 * multiple of 8. The guest and the initrd are FILE blocks.
 */
struct trace_run_options {
	uint32_t count;
	uint32_t len;
};
#define TRACE_RUN_OPTIONS_MAX (1u << 16) /* maximum of @len */

/*
 * vpt refine has added versions of pages to a file with TRACE_INFO_CODE_BY_OFFSET, at places that it
 * found by decoding. The code of this vCPU thus changes only where CODE and MAP blocks say so, also
 * after an error. A piece begins at a PSB with the whole state of the decoder.
 */
struct trace_refined {
	uint64_t failed;  /* pieces that did not decode before */
	uint64_t left;	  /* pieces that do not decode now, at most @failed */
	uint64_t changes; /* changes of sites that were placed */
	uint64_t pages;	  /* pages that were added to spaces without them */
};

/* A file outside the trace file that belongs to the trace. @name_len bytes of name follow. */
enum trace_file_ref_kind {
	TRACE_REF_MEMORY = 1, /* the memory of a machine, raw: its first byte is at @base */
	TRACE_REF_CORE,	      /* the memory of a machine, as an ELF core or a kdump file */
	TRACE_REF_BINARY,     /* an ELF file with code, at bias @base */
	TRACE_REF_KERNEL,
	TRACE_REF_INITRD,
	TRACE_REF_DISK,
	TRACE_REF_SNAPSHOT, /* a .vps file: the machine at @retired of the block's vCPU */
	TRACE_REF_TRACE,    /* the file from which this file was made */
	TRACE_REF_KINDS
};

enum trace_hash_kind {
	TRACE_HASH_NONE,
	TRACE_HASH_SHA256,
	TRACE_HASH_BUILD_ID, /* the build-id of an ELF file, padded with zeros */
	TRACE_HASH_CRC32C,   /* a CRC-32C in the first 4 bytes */
	TRACE_HASH_KINDS
};

struct trace_file_ref {
	uint32_t kind;	   /* enum trace_file_ref_kind */
	uint32_t vm;	   /* as in struct trace_space */
	uint32_t hash_is;  /* enum trace_hash_kind */
	uint32_t name_len; /* 1 to TRACE_REF_NAME_MAX */
	uint64_t bytes;	   /* size of the file */
	uint64_t mtime;	   /* nanoseconds since 1970, 0: not known */
	uint64_t base;
	uint64_t retired;
	uint8_t hash[32];
};
#define TRACE_REF_NAME_MAX 4096u

/* A mark that the guest or the user put into the trace. @len bytes of text follow. */
struct trace_user_mark {
	uint64_t offset; /* position in the stream */
	uint64_t insns;	 /* the counter at the mark */
	uint64_t tsc;	 /* 0 if not known */
	uint64_t value;
	uint32_t kind; /* 0: mark of the guest; 1: of the monitor; 2: of an importer */
	uint32_t len;  /* length of the text, 0 to TRACE_USER_MARK_MAX; padded with zeros to a
		      * multiple of 8 */
};
#define TRACE_USER_MARK_KINDS 3u
#define TRACE_USER_MARK_MAX   4096u

/*
 * A task of the guest's kernel, which is a thread or a kernel thread. RUNS: from the counter on, the
 * vCPU runs the task. NAMED: the task had this name with this address space; the last such entry of
 * the file is valid. The name of a process without an address space is that of its other ones. Places of a vCPU do not descend.
 */
enum trace_task_kind { TRACE_TASK_RUNS, TRACE_TASK_NAMED, TRACE_TASK_KINDS };

struct trace_task {
	uint64_t offset; /* position in the stream */
	uint64_t insns;	 /* the counter */
	uint64_t cr3;	 /* address of the top page table of the process; 0 for a kernel thread */
	uint32_t pid;	 /* number of the process; 0 for the idle task of a vCPU */
	uint32_t tid;	 /* number of the thread */
	uint32_t kind;	 /* enum trace_task_kind */
	uint32_t reserved;
	char name[16]; /* ends with NUL; empty for RUNS */
};

/*
 * The file lacks the first bytes of the vCPU's stream, because the file is a part of a trace, or
 * the end of a ring. All places in the file are those of the whole stream. The block precedes every
 * other block of its vCPU that has a place in the stream.
 */
enum trace_cut_why { TRACE_CUT_RING = 1, TRACE_CUT_SHARD, TRACE_CUT_WHYS };

struct trace_cut {
	uint64_t offset; /* offset at which the stream begins in this file */
	uint64_t bytes;	 /* size of the whole stream; 0 if not known */
	uint64_t insns;	 /* the counter there; 0 if not known */
	uint32_t why;	 /* enum trace_cut_why */
	uint32_t reserved;
};

/*
 * The file is a piece: it has only what decoding some shards of a plan needs (vpt shard cut). The
 * block follows INFO and the CUT block of its vCPU, and is the only one of its type. A TRACE block of
 * this vCPU can be further in the stream than the end of the TRACE block before it, up to @bytes. The
 * bytes between them are omitted. Code and side-band that these shards do not use are omitted, too.
 */
struct trace_piece {
	uint64_t plan;	      /* the number of the plan */
	uint32_t first, last; /* the shards */
	uint64_t bytes;	      /* size of the stream with the omitted bytes */
	/* The results of the shards, by which a decoder finds that code is missing. */
	uint64_t insns, errors;
};
#define TRACE_PIECE_BYTES_MAX (1ull << 43) /* maximum of @bytes */

/* These structs are a file format: a change needs a new TRACE_FILE_VERSION. */
VPT_STATIC_ASSERT(sizeof(struct trace_file_header) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_block) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_file_info) == 120, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_elf_image) == 72, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_code_page) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_page_content) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_page_map) == 40, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_session) == 136, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_oracle_record) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_stretch) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_stretch_insn) == 2, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_space) == 80, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_vmcs) == 40, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_index_entry) == 24, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_guest_stop) == 336, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_guest_fault) == 24, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_origin) == 128, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_switch) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_psb_point) == 80, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_packed) == 16, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_epoch) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_frame) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_view) == 40, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_recorded) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_file_ref) == 80, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_user_mark) == 40, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_task) == 56, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_cut) == 32, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_run_options) == 8, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_piece) == 40, "file format");
VPT_STATIC_ASSERT(sizeof(struct trace_refined) == 32, "file format");

#endif /* VMM_TRACE_FORMAT_H */
