/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes trace files for tests by hand. They consist of packets from libipt's encoder, code in hex
 * and records of an oracle. No engine or generator is needed.
 */
#ifndef TESTS_LIB_SYNTH_H
#define TESTS_LIB_SYNTH_H

#include <intel-pt.h>
#include <stdint.h>

#include "trace/reader.h"
#include "trace/writer.h"

#define SYNTH_CR3  0x1000ull
#define SYNTH_CODE 0x401000ull /* where synth_code() begins */

struct synth {
	char path[64];
	struct trace_writer *w;
	struct trace_file_info info;
	struct trace_session session; /* registers for the next session */
	uint64_t insns;		      /* the counter */
	bool non_root;		      /* PIPs have NR set */
	uint64_t base;		      /* IPs of words (synthwords.h) are relative to this */

	uint8_t packets[65536];
	struct pt_encoder *enc;
	uint64_t sent; /* packets given to the writer */
	uint8_t page[TRACE_CODE_BYTES];
};

/* Open a file of 1 vCPU whose trace belongs to the guest. The file is removed by done. */
void synth_open(struct synth *s);
/* Begin the file again with the current `info`. */
void synth_reopen(struct synth *s);
void synth_close(struct synth *s);
void synth_done(struct synth *s);
/* Close and read back; the test fails if that is not possible. */
struct trace_reader *synth_read(struct synth *s);

/*
 * Put code such as "48 89 c3" into the page at SYNTH_CODE, which otherwise has NOPs. synth_page()
 * writes the page.
 */
void synth_code(struct synth *s, uint64_t ip, const char *hex);
void synth_page(struct synth *s);
/* Mark a place where all changes of code since the last one were found, if they are at offsets. */
void synth_code_read(struct synth *s);
/* Write the same bytes as another page. */
void synth_page_at(struct synth *s, uint64_t cr3, uint64_t vaddr);

/* Write session blocks and the oracle's START and STOP. */
void synth_start(struct synth *s, uint64_t ip, uint8_t cpl);
void synth_stop(struct synth *s, enum trace_session_end end, uint64_t ip, uint8_t cpl);

/* Packets. */
void synth_psb(struct synth *s, uint64_t fup); /* with MODE.Exec and PIP; fup 0: none */
void synth_ip(struct synth *s, enum pt_packet_type type, uint64_t ip);
void synth_no_ip(struct synth *s, enum pt_packet_type type);
void synth_tnt(struct synth *s, const char *bits); /* "101": oldest first */
void synth_mode(struct synth *s);
void synth_pip(struct synth *s, uint64_t cr3);
void synth_packet(struct synth *s, enum pt_packet_type type);
void synth_raw(struct synth *s, const void *bytes, size_t len);
/* Pass the pending packets to the writer. Starting or stopping a session does so too. */
void synth_flush(struct synth *s);

/* Write records of the oracle. synth_insn() also advances the instruction counter. */
void synth_insn(struct synth *s, uint64_t ip, uint8_t cpl, unsigned int flags);
void synth_event(struct synth *s, uint64_t ip, uint8_t cpl, uint8_t vector, unsigned int flags);
void synth_cr3(struct synth *s, uint64_t cr3);

#endif /* TESTS_LIB_SYNTH_H */
