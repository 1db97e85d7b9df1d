/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From oracle logs (vpt/abi/oracle_log.h) to a .vpt file. The file has the trace that a processor
 * model put out, the code by address space, and the instructions that ran, to compare them with the
 * trace.
 *
 * A log is of one logical processor and all of its software. Different buffers are different
 * streams: each becomes a vCPU of the file. There is one for the host's buffers (host-physical
 * addresses) of each log. There is one for each VMCS whose guest has buffers of its own
 * (guest-physical addresses).
 *
 * The order in a log is an instruction's record, then its effects (TRIGGER, VMX, CONTEXT). TRIGGER
 * may also come before its instruction, if it always does. Trace bytes come between the TRIGGER
 * records of their session.
 */
#ifndef VMM_IMPORT_IMPORT_H
#define VMM_IMPORT_IMPORT_H

#include "import/log.h"
#include "trace/format.h"

enum import_side { IMPORT_HOST, IMPORT_GUEST };

#define IMPORT_NO_STREAM ((size_t)-1)

/* A period of TriggerEn, in whatever buffer. */
struct import_session {
	size_t log;
	uint64_t at; /* of its TRIGGER record in the log */
	enum import_side side;
	uint64_t vmcs; /* that was current, TRACE_SPACE_ANY_VMCS: none */
	uint64_t ip, ctl, output_base;
	uint64_t trace; /* bytes */
	uint64_t insns; /* retired, traced or not */
	bool ended;	/* before the log does */
	uint8_t end;	/* enum vpt_log_end */
	size_t stream;	/* the vCPU of the file, or NO_STREAM: not wanted */
};

struct import_stream {
	size_t log;
	enum import_side side;
	uint64_t vmcs;
	uint64_t trace; /* bytes */
};

struct import_config {
	const char *model; /* for the file */
	const struct vpt_caps *caps;
	bool lip; /* IPs in packets are linear addresses (CPUID.14H:ECX[31]) */
	/* The options of an import. */
	uint64_t first, last; /* sessions, counted over all logs */
	bool host, guest;
	bool one_vmcs;
	uint64_t vmcs; /* of guests */
};

struct import;

/*
 * Index the logs, which remain the caller's and must not change until close. Returns 0 or -errno.
 * With -EINVAL, @why has one line: a log is not one, or its records contradict each other.
 */
int import_open(struct import_log *logs, size_t count, const struct import_config *config,
		struct import **import, char *why, size_t size);
void import_close(struct import *import);

const struct import_session *import_sessions(const struct import *import, size_t *count);
const struct import_stream *import_streams(const struct import *import, size_t *count);
/* Trace bytes that are of no session. */
uint64_t import_stray(const struct import *import);
/* Pages of code that a record should have told of, and none did. */
uint64_t import_no_code(const struct import *import);

/*
 * Write what is wanted. 0 or -errno; -ENODATA: there is nothing of it. The file is closed
 * if the logs are.
 */
int import_write(struct import *import, const char *path);

/*
 * The trace bytes of a stream against the content of a buffer. True if they are the
 * same; else *at is the first place where they are not, which may be the end of one.
 */
bool import_same(const struct import *import, size_t stream, const uint8_t *bytes, size_t len,
		 uint64_t *at);

#endif /* VMM_IMPORT_IMPORT_H */
