/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an oracle log (vpt/abi/oracle_log.h) record by record. Its content is not trusted: a record
 * is returned only if it is complete and its fields are in range.
 */
#ifndef VMM_IMPORT_LOG_H
#define VMM_IMPORT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vpt/abi/oracle_log.h"

struct import_log {
	const uint8_t *bytes;
	size_t size;
	uint32_t cpu;
	size_t at;	 /* position of the next record */
	bool closed;	 /* its END has been read */
	const char *why; /* the reason why reading ended early; NULL if it did not */
};

/* The valid members depend on `kind`; pointers point into the log. */
struct import_log_record {
	uint8_t kind;			     /* enum vpt_log_kind; INSN_MAX for all of 1 to 0FH */
	uint8_t length;			     /* INSN_MAX, INSN_AT */
	uint8_t event, vector;		     /* EVENT */
	uint8_t flags;			     /* CONTEXT, MSR; TRIGGER: TriggerEn; PACKET_EN */
	uint8_t end;			     /* TRIGGER: enum vpt_log_end */
	uint32_t bytes;			     /* TRACE, MARK: number of bytes */
	uint32_t index;			     /* MSR; VMX: reason */
	uint64_t ip;			     /* INSN_AT, EVENT, TRIGGER */
	uint64_t cr3, vmcs, cs_base;	     /* CONTEXT; VMX: vmcs */
	uint64_t address;		     /* CODE: linear; TRACE */
	uint64_t physical;		     /* CODE */
	uint64_t value;			     /* MSR; VMX: qualification */
	uint64_t tsc_offset, tsc_multiplier; /* VMX */
	const uint8_t *data; /* CODE, TRACE, MARK; TRIGGER: ctl to addr[7], unaligned */
};

/* Open a log. Returns false if it is not a log, see `why`. The bytes stay the caller's. */
bool import_log_open(struct import_log *log, const uint8_t *bytes, size_t size);

/* Read the next record. Returns false at the end; `closed` and `why` have the reason. */
bool import_log_next(struct import_log *log, struct import_log_record *r);

#endif /* VMM_IMPORT_LOG_H */
