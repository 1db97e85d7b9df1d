/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the reader of LLDB's bundles: shared by lldb*.c only. */
#ifndef VMM_FOREIGN_LLDB_STATE_H
#define VMM_FOREIGN_LLDB_STATE_H

#include "foreign/foreign.h"
#include "foreign/json.h"

#define LLDB_KEY 32 /* significant bytes of a key */

struct lldb_bundle {
	struct foreign_trace *t;
	struct json j;
	char *dir;	  /* absolute path of the folder */
	const char *what; /* static text about an error in the content */
	int err;	  /* -errno */
};

/* Keep the first error, and end the reading. @what is static or NULL. */
void lldb_fail(struct lldb_bundle *b, int err, const char *what);
/* Read a path of the bundle, relative to its folder. */
void lldb_path(struct lldb_bundle *b, char *path, size_t size);
/* Call @item for each item of an array. */
void lldb_list(struct lldb_bundle *b, uint32_t with,
	       void (*item)(struct lldb_bundle *b, uint32_t with));
/* Add an event. Returns NULL after an error. */
struct foreign_event *lldb_event(struct lldb_bundle *b, enum foreign_kind kind, uint32_t pid,
				 uint32_t tid);
struct trace_source *lldb_source(struct lldb_bundle *b, const char *path);
/* Add the packets of a thread or of a CPU. */
void lldb_stream(struct lldb_bundle *b, const char *path, uint32_t cpu, uint32_t tid);

/* lldb_process.c, lldb_cpu.c: read an item of the lists of trace.json. @none is UINT32_MAX. */
void lldb_process(struct lldb_bundle *b, uint32_t none);
void lldb_cpu(struct lldb_bundle *b, uint32_t none);

#endif /* VMM_FOREIGN_LLDB_STATE_H */
