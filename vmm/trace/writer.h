/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a .vpt file. Small items are gathered into blocks; trace_writer_sync()
 * and closing write out what is gathered.
 *
 * Every call returns 0 or -errno. The first error sticks: later calls return it
 * again and write nothing, and the blocks already written stay readable. A
 * bad vCPU is -EINVAL and does not stick.
 *
 * A caller that wants to see -EFBIG and -EPIPE ignores SIGXFSZ and SIGPIPE.
 */
#ifndef VMM_TRACE_WRITER_H
#define VMM_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/format.h"
#include "trace/post_mortem.h"

struct trace_writer;

/*
 * Write to @fd, which is at its beginning. The writer has a duplicate of it: @fd stays the
 * caller's. On success *writer is the caller's to close.
 */
int trace_writer_start(int fd, const struct trace_file_info *info, struct trace_writer **writer);
/*
 * The same for a path: the file is made with mode 0600, or truncated. -EBUSY: another process
 * writes to it in this way. For callers without trace/outfile.h, which keeps an earlier file
 * until the new one is complete.
 */
int trace_writer_open(const char *path, const struct trace_file_info *info,
		      struct trace_writer **writer);

int trace_writer_ram(struct trace_writer *w, const struct trace_ram_range *ranges, size_t count);
int trace_writer_elf(struct trace_writer *w, const struct trace_elf_image *image, const void *bytes,
		     size_t len);
/* `bytes`: TRACE_CODE_BYTES of them. */
int trace_writer_code(struct trace_writer *w, unsigned int vcpu, const struct trace_code_page *page,
		      const void *bytes);
/*
 * The same in two parts. The writer numbers contents: *id is above 0. A mapping names
 * such a number; -EINVAL, which does not stick, if no content has it.
 */
int trace_writer_page(struct trace_writer *w, const void *bytes, uint64_t *id);
int trace_writer_map(struct trace_writer *w, unsigned int vcpu, const struct trace_page_map *maps,
		     size_t count);
/* Trace bytes in stream order; the writer keeps the offset and the PSB index. */
int trace_writer_trace(struct trace_writer *w, unsigned int vcpu, uint64_t gpa, const void *bytes,
		       size_t len);
/* The same for many bytes, which are not copied. */
int trace_writer_mapped(struct trace_writer *w, unsigned int vcpu, uint64_t gpa, const void *bytes,
			size_t len);
/* `session->offset` is filled in from the stream by the writer. */
int trace_writer_session(struct trace_writer *w, unsigned int vcpu, struct trace_session *session);
int trace_writer_cr3(struct trace_writer *w, unsigned int vcpu, const struct trace_cr3_switch *sw);
int trace_writer_spaces(struct trace_writer *w, const struct trace_space *spaces, size_t count);
/* `vmcs->offset` is filled in as well. */
int trace_writer_vmcs(struct trace_writer *w, unsigned int vcpu, struct trace_vmcs *vmcs);

/*
 * writer_side.c: side-band that version 3 of the file has. Beside the errors of all calls,
 * -EINVAL: a field is out of range, or a place falls. It does not stick.
 */
int trace_writer_origin(struct trace_writer *w, const struct trace_origin *origin);
/* Before anything else of the vCPU that has a place in the stream. */
int trace_writer_cut(struct trace_writer *w, unsigned int vcpu, const struct trace_cut *cut);
/* Each `offset` is the caller's, and does not fall from entry to entry or from call to call. */
int trace_writer_switches(struct trace_writer *w, unsigned int vcpu, const struct trace_switch *at,
			  size_t count);
/* `offset` is filled in from the stream, here and in a mark. */
int trace_writer_epoch(struct trace_writer *w, unsigned int vcpu, struct trace_epoch *epoch);
int trace_writer_mark(struct trace_writer *w, unsigned int vcpu, struct trace_user_mark *mark,
		      const char *text);
/* `content` is a number of trace_writer_page(). */
int trace_writer_frames(struct trace_writer *w, const struct trace_frame *frames, size_t count);
int trace_writer_views(struct trace_writer *w, const struct trace_view *views, size_t count);
int trace_writer_input(struct trace_writer *w, unsigned int vcpu, const struct trace_recorded *head,
		       const void *bytes);
/* `name_len` is filled in. */
int trace_writer_ref(struct trace_writer *w, unsigned int vcpu, struct trace_file_ref *ref,
		     const char *name);

/* By value, and so in registers: reading back what was just stored in parts would stall. */
int trace_writer_oracle(struct trace_writer *w, unsigned int vcpu,
			struct trace_oracle_record record);
/*
 * In place of records: the instructions of an engine's block, before it first runs, then what ran.
 * -EINVAL, which does not stick: the stretch is not valid. The words of a call end with a whole
 * record; they come into one block.
 */
int trace_writer_stretch(struct trace_writer *w, const struct trace_stretch *stretch,
			 const struct trace_stretch_insn *insns);
int trace_writer_run(struct trace_writer *w, unsigned int vcpu, const uint32_t *words,
		     size_t count);

/*
 * Give the file a size that it never exceeds; the default is UINT64_MAX. The writer keeps room for
 * the bytes that it has gathered, the index and the end. Once *trace_writer_full() is true, the
 * caller must end the trace soon, and pass no more than trace_writer_room() bytes to a call. The
 * block that makes the file full depends on the blocks alone. Valid as long as the writer.
 */
void trace_writer_limit(struct trace_writer *w, uint64_t bytes);
const bool *trace_writer_full(const struct trace_writer *w);
size_t trace_writer_room(const struct trace_writer *w);

/* How the guest stopped. Call it once, before trace_writer_close(). */
int trace_writer_stop(struct trace_writer *w, const struct trace_post_mortem *pm);

/* Bytes of trace written to a vCPU's stream so far. */
uint64_t trace_writer_stream_bytes(const struct trace_writer *w, unsigned int vcpu);

int trace_writer_sync(struct trace_writer *w);
/* Writes the index and the end block, closes, frees; also after an error. */
int trace_writer_close(struct trace_writer *w, uint32_t guest_exit);
/* Closes and frees, and writes nothing: the file has no end. */
void trace_writer_drop(struct trace_writer *w);

/*
 * writer_save.c, for snapshots: the state of a writer between two calls as plain data, the same for
 * the same state. save() returns the number of bytes, and writes them if there is room.
 */
size_t trace_writer_save(const struct trace_writer *w, void *to, size_t room);
uint64_t trace_writer_file_bytes(const struct trace_writer *w);
/* A descriptor to read what is in the file; -ESPIPE if that is not a regular one. */
int trace_writer_reread(const struct trace_writer *w, int *fd);
/*
 * Resume in a new file, as trace_writer_start(). Before that, refill() must be given *file_bytes
 * bytes, which are those of the old file. -EINVAL: the state is not what save() writes.
 */
int trace_writer_resume(int fd, const void *state, size_t bytes, uint64_t *file_bytes,
			struct trace_writer **writer);
int trace_writer_refill(struct trace_writer *w, const void *bytes, size_t len);

#endif /* VMM_TRACE_WRITER_H */
