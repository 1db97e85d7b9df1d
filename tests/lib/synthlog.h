/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes oracle logs for tests by a model of a processor with VMX. Each instruction is one call. The
 * library generates the trace; the log records the calls. The processor starts in VMX root
 * operation at CPL 0 with CR3 1000H, in 64-bit mode, not traced.
 */
#ifndef TESTS_LIB_SYNTHLOG_H
#define TESTS_LIB_SYNTHLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpt/abi/oracle_log.h"
#include "vpt/pt.h"
#include "vpt/vmx_pt.h"

enum {
	SYNTHLOG_RAM = 1 << 20,
	SYNTHLOG_HOST = 0x40000,  /* buffers of 64 KiB, */
	SYNTHLOG_GUEST = 0x80000, /* this one of VM 0, the next of VM 1 */
	SYNTHLOG_BUFFER = 0x10000,
	SYNTHLOG_PAGES = 32
};

struct synthlog {
	char path[64];
	struct vpt_pt pt;
	struct vpt_context ctx;
	uint64_t ip;
	uint64_t vmcs;
	bool non_root;
	uint32_t controls;     /* of the guest that runs */
	struct test_tsc_pair { /* of the guest that runs */
		uint64_t offset, multiplier;
	} tsc;
	uint64_t host_ctl; /* that its exit's MSR list loads, 0: none */
	bool late;	   /* instructions are logged after their changes of TriggerEn */

	uint8_t *log;
	size_t len, room;
	uint8_t held[16]; /* a record that is written later */
	size_t nheld;
	uint64_t next; /* where falling through leads */
	bool there;    /* `next` is known, and nothing was logged since */
	bool packet_en;
	uint8_t context[25]; /* the context that was logged last */
	struct synthlog_page {
		bool non_root, logged;
		uint64_t vmcs, cr3, vaddr;
		uint8_t bytes[4096];
	} pages[SYNTHLOG_PAGES];
	unsigned int npages;
	uint8_t ram[SYNTHLOG_RAM];
};

/* The state that a VM entry loads and the next VM exit uses. */
struct synthlog_guest {
	uint64_t vmcs, ip, cr3, guest_ctl, tsc_offset;
	uint64_t host_ctl; /* by the exit's MSR list, 0: none */
	uint32_t controls;
	uint8_t cpl;
};

/* The struct is large, so allocate it. close writes the file and done removes it. */
void synthlog_open(struct synthlog *m, const char *model);
void synthlog_close(struct synthlog *m);
void synthlog_done(struct synthlog *m);

/*
 * Put code such as "48 89 c3" into a page of the current address space. The rest of the page has
 * NOPs.
 */
void synthlog_code(struct synthlog *m, uint64_t vaddr, const char *hex);

/* Execute an instruction of `len` bytes at m->ip. */
void synthlog_step(struct synthlog *m, unsigned int len);
void synthlog_cond(struct synthlog *m, unsigned int len, bool taken, uint64_t to);
void synthlog_jump(struct synthlog *m, unsigned int len, uint64_t to); /* indirect */
void synthlog_far(struct synthlog *m, unsigned int len, uint64_t to, uint8_t cpl);
void synthlog_int(struct synthlog *m, unsigned int len, uint8_t vector, uint64_t to);
void synthlog_cr3(struct synthlog *m, uint64_t cr3); /* 3 bytes */
void synthlog_vmptrld(struct synthlog *m, unsigned int len, uint64_t vmcs);
/* Execute a WRMSR to IA32_RTIT_CTL (2 bytes). */
void synthlog_ctl(struct synthlog *m, uint64_t ctl);
/*
 * Execute a VMRESUME (3 bytes). A VM entry that fails falls through, or continues at `host` if it
 * fails late.
 */
void synthlog_enter(struct synthlog *m, const struct synthlog_guest *g);
void synthlog_fail_early(struct synthlog *m);
void synthlog_fail_late(struct synthlog *m, const struct synthlog_guest *g, uint64_t host);

/* Deliver an event at m->ip, or a VM exit. Neither is an instruction. */
void synthlog_event(struct synthlog *m, uint8_t vector, uint64_t to, uint8_t cpl);
/* Deliver an INT3 or INT n that a VM entry injects. */
void synthlog_inject_int(struct synthlog *m, uint8_t vector, uint64_t to);
void synthlog_exit(struct synthlog *m, uint32_t reason, uint64_t ip, uint64_t cr3);
/* Set registers while nothing is traced, as if by earlier instructions. */
void synthlog_output(struct synthlog *m, uint64_t base);
void synthlog_msr(struct synthlog *m, uint32_t msr, uint64_t value);

/* Resume the log in the middle of a session after it was off. */
void synthlog_on(struct synthlog *m);

#endif /* TESTS_LIB_SYNTHLOG_H */
