/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conversion of oracle logs (vpt/abi/oracle_log.h) to a .vpt file. The file has the trace that a
 * processor model wrote, the code by address space, and the executed instructions for comparison
 * with the trace.
 *
 * A log covers one logical processor and all of its software. Different buffers are different
 * streams, and each becomes a vCPU of the file. There is one for the host's buffers (host-physical
 * addresses) of each log. There is one for each VMCS whose guest has its own buffers
 * (guest-physical addresses).
 *
 * The order in a log is an instruction's record, then its effects (TRIGGER, VMX, CONTEXT). TRIGGER
 * may also precede its instruction, if it always does. Trace bytes are between the TRIGGER records
 * of their session.
 */
#ifndef VMM_IMPORT_IMPORT_H
#define VMM_IMPORT_IMPORT_H

#include "import/log.h"
#include "trace/format.h"

enum import_side { IMPORT_HOST, IMPORT_GUEST };

#define IMPORT_NO_STREAM ((size_t)-1)

/* A period of TriggerEn, in any buffer. */
struct import_session {
	size_t log;
	uint64_t at; /* position of its TRIGGER record in the log */
	enum import_side side;
	uint64_t vmcs; /* current VMCS; TRACE_SPACE_ANY_VMCS if there is none */
	uint64_t ip, ctl, output_base;
	uint64_t trace; /* bytes */
	uint64_t insns; /* retired instructions, traced or not */
	bool ended;	/* the session ended before the log */
	uint8_t end;	/* enum vpt_log_end */
	size_t stream;	/* the vCPU of the file; IMPORT_NO_STREAM if it is not selected */
};

struct import_stream {
	size_t log;
	enum import_side side;
	uint64_t vmcs;
	uint64_t trace; /* bytes */
};

struct import_config {
	const char *model; /* name for the file */
	const struct vpt_caps *caps;
	bool lip; /* IPs in packets are linear addresses (CPUID.14H:ECX[31]) */
	/* The options of an import. */
	uint64_t first, last; /* selected sessions, counted over all logs */
	bool host, guest;
	bool one_vmcs;
	uint64_t vmcs; /* current VMCS of selected sessions */
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
/* Return the number of trace bytes outside sessions. */
uint64_t import_stray(const struct import *import);
/* Return the number of traced instructions whose code no record has. */
uint64_t import_no_code(const struct import *import);

/*
 * Write the selected streams. Returns 0 or -errno; -ENODATA if nothing is selected. The file has an
 * end if the logs have one.
 */
int import_write(struct import *import, const char *path);

/*
 * Compare the trace bytes of a stream with the content of a buffer. Returns true if they are the
 * same. Otherwise *at is the first difference, which may be the end of one of them.
 */
bool import_same(const struct import *import, size_t stream, const uint8_t *bytes, size_t len,
		 uint64_t *at);

#endif /* VMM_IMPORT_IMPORT_H */
