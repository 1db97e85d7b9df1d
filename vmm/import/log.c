// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the records of an oracle log. */
#include "import/log.h"

#include <string.h>

#define INSN_BYTES    15
#define PAGE_BYTES    4096
#define TRIGGER_BYTES (13 * 8) /* ctl to addr[7] */

bool import_log_open(struct import_log *log, const uint8_t *bytes, size_t size)
{
	struct vpt_log_header header;

	memset(log, 0, sizeof(*log));
	log->bytes = bytes;
	log->size = size;
	log->at = sizeof(header);
	if (size < sizeof(header)) {
		log->why = "it is shorter than a header";
		return false;
	}
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != VPT_LOG_MAGIC) {
		log->why = "it is no oracle log";
		return false;
	}
	if (header.version != VPT_LOG_VERSION) {
		log->why = "its version is not the one that this program reads";
		return false;
	}
	log->cpu = header.cpu;
	return true;
}

static bool wrong(struct import_log *log, const char *why)
{
	log->why = why;
	return false;
}

/* Return the size of a record behind its kind, without the bytes that it counts itself. */
static size_t fixed_bytes(uint8_t kind)
{
	switch (kind) {
	case VPT_LOG_INSN_AT:
		return 1 + 8;
	case VPT_LOG_EVENT:
		return 2 + 8;
	case VPT_LOG_CONTEXT:
		return 1 + 3 * 8;
	case VPT_LOG_CODE:
		return 2 * 8 + PAGE_BYTES;
	case VPT_LOG_TRIGGER:
		return 2 + 8 + TRIGGER_BYTES;
	case VPT_LOG_PACKET_EN:
		return 1;
	case VPT_LOG_TRACE:
		return 4 + 8;
	case VPT_LOG_MARK:
		return 2;
	case VPT_LOG_MSR:
		return 1 + 4 + 8;
	case VPT_LOG_VMX:
		return 4 * 8 + 4;
	default:
		return 0;
	}
}

static uint64_t get(const uint8_t *p, unsigned int bytes)
{
	uint64_t value = 0;

	memcpy(&value, p, bytes);
	return value;
}

/* Read the fields of a record. All are present except the bytes that it counts. */
static void take_fields(struct import_log_record *r, const uint8_t *p)
{
	switch (r->kind) {
	case VPT_LOG_INSN_AT:
		r->length = p[0];
		r->ip = get(p + 1, 8);
		break;
	case VPT_LOG_EVENT:
		r->event = p[0];
		r->vector = p[1];
		r->ip = get(p + 2, 8);
		break;
	case VPT_LOG_CONTEXT:
		r->flags = p[0];
		r->cr3 = get(p + 1, 8);
		r->vmcs = get(p + 9, 8);
		r->cs_base = get(p + 17, 8);
		break;
	case VPT_LOG_CODE:
		r->address = get(p, 8);
		r->physical = get(p + 8, 8);
		r->data = p + 16;
		break;
	case VPT_LOG_TRIGGER:
		r->flags = p[0];
		r->end = p[1];
		r->ip = get(p + 2, 8);
		r->data = p + 10;
		break;
	case VPT_LOG_PACKET_EN:
		r->flags = p[0];
		break;
	case VPT_LOG_TRACE:
		r->bytes = (uint32_t)get(p, 4);
		r->address = get(p + 4, 8);
		r->data = p + 12;
		break;
	case VPT_LOG_MARK:
		r->bytes = (uint32_t)get(p, 2);
		r->data = p + 2;
		break;
	case VPT_LOG_MSR:
		r->flags = p[0];
		r->index = (uint32_t)get(p + 1, 4);
		r->value = get(p + 5, 8);
		break;
	case VPT_LOG_VMX:
		r->vmcs = get(p, 8);
		r->tsc_offset = get(p + 8, 8);
		r->tsc_multiplier = get(p + 16, 8);
		r->index = (uint32_t)get(p + 24, 4);
		r->value = get(p + 28, 8);
		break;
	default:
		break;
	}
}

static const char *complaint(const struct import_log_record *r)
{
	switch (r->kind) {
	case VPT_LOG_INSN_AT:
		return r->length && r->length <= INSN_BYTES
			       ? NULL
			       : "an instruction has a length that none has";
	case VPT_LOG_EVENT:
		return r->event <= VPT_LOG_INIT ? NULL : "an event is of no known kind";
	case VPT_LOG_CODE:
		return r->address % PAGE_BYTES ? "a page of code is not aligned" : NULL;
	case VPT_LOG_TRIGGER:
		return r->flags <= 1 && r->end <= VPT_LOG_ERROR
			       ? NULL
			       : "an edge of TriggerEn is of no known kind";
	case VPT_LOG_PACKET_EN:
		return r->flags <= 1 ? NULL : "PacketEn is neither 0 nor 1";
	default:
		return NULL;
	}
}

bool import_log_next(struct import_log *log, struct import_log_record *r)
{
	size_t left = log->size - log->at;
	const uint8_t *p = log->bytes + log->at;
	size_t fixed;

	if (log->closed || log->why)
		return false;
	if (!left)
		return wrong(log, "it ends without an END record");
	if (*p && *p <= VPT_LOG_INSN_MAX) {
		r->kind = VPT_LOG_INSN_MAX;
		r->length = *p;
		log->at++;
		return true;
	}
	if (*p == VPT_LOG_END) {
		log->closed = true;
		log->at++;
		return left == 1 ? false : wrong(log, "something follows its END record");
	}
	fixed = fixed_bytes(*p);
	if (!fixed)
		return wrong(log, "it has a record of no known kind");
	if (left - 1 < fixed)
		return wrong(log, "a record is cut off");
	memset(r, 0, sizeof(*r));
	r->kind = *p;
	take_fields(r, p + 1);
	if (r->bytes > left - 1 - fixed)
		return wrong(log, "a record is cut off");
	if (complaint(r))
		return wrong(log, complaint(r));
	log->at += 1 + fixed + r->bytes;
	return true;
}
