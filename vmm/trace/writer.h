/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a .vpt file. Small items are buffered into blocks; trace_writer_sync() and closing write
 * the buffers.
 *
 * Every call returns 0 or -errno. The first error sticks: later calls return the same error and
 * write nothing, and the written blocks stay readable. A bad vCPU is -EINVAL and does not stick.
 *
 * A caller that needs -EFBIG and -EPIPE ignores SIGXFSZ and SIGPIPE.
 */
#ifndef VMM_TRACE_WRITER_H
#define VMM_TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/format.h"
#include "trace/post_mortem.h"

struct trace_writer;

/*
 * Write to @fd, which is at its beginning. The writer duplicates @fd, which stays the caller's. On
 * success the caller must close *writer.
 */
int trace_writer_start(int fd, const struct trace_file_info *info, struct trace_writer **writer);
/*
 * Write to a path: the file is created with mode 0600, or truncated. -EBUSY: another process writes
 * to it in this way. For callers without trace/outfile.h, which keeps an earlier file until the new
 * one is complete.
 */
int trace_writer_open(const char *path, const struct trace_file_info *info,
		      struct trace_writer **writer);

/*
 * Write to memory: put() takes each block in place of a file, without the header of the file and
 * without INFO. It gets a block's payload as in trace_block, in two parts, and returns 0 or -errno. The
 * bytes of a vCPU's stream come before its blocks that are written later.
 */
struct trace_sink {
	int (*put)(void *opaque, enum trace_block_type type, unsigned int vcpu, const void *head,
		   size_t head_len, const void *body, size_t body_len);
	void *opaque;
};
/* On success the caller must pass *writer to trace_writer_drop(). */
int trace_writer_start_sink(const struct trace_sink *sink, const struct trace_file_info *info,
			    struct trace_writer **writer);

int trace_writer_ram(struct trace_writer *w, const struct trace_ram_range *ranges, size_t count);
int trace_writer_elf(struct trace_writer *w, const struct trace_elf_image *image, const void *bytes,
		     size_t len);
/* Write a page of code. `bytes` has TRACE_CODE_BYTES bytes. */
int trace_writer_code(struct trace_writer *w, unsigned int vcpu, const struct trace_code_page *page,
		      const void *bytes);
/*
 * Write a page in two parts. The writer numbers contents: *id is above 0. A mapping names such a
 * number; -EINVAL, which does not stick, if no content has it.
 */
int trace_writer_page(struct trace_writer *w, const void *bytes, uint64_t *id);
/*
 * The same for a page that differs from the content @base in the bytes @from to @to - 1 only. The
 * file gets no more than these bytes, if they are few.
 */
int trace_writer_change(struct trace_writer *w, uint64_t base, const void *bytes, size_t from,
			size_t to, uint64_t *id);
int trace_writer_map(struct trace_writer *w, unsigned int vcpu, const struct trace_page_map *maps,
		     size_t count);
/* Trace bytes in stream order; the writer keeps the offset and the PSB index. */
int trace_writer_trace(struct trace_writer *w, unsigned int vcpu, uint64_t gpa, const void *bytes,
		       size_t len);
/* Append many trace bytes, without a copy. */
int trace_writer_mapped(struct trace_writer *w, unsigned int vcpu, uint64_t gpa, const void *bytes,
			size_t len);
/* Write a session edge. The writer fills in `session->offset` from the stream. */
int trace_writer_session(struct trace_writer *w, unsigned int vcpu, struct trace_session *session);
int trace_writer_cr3(struct trace_writer *w, unsigned int vcpu, const struct trace_cr3_switch *sw);
int trace_writer_spaces(struct trace_writer *w, const struct trace_space *spaces, size_t count);
/* Write a VMCS block. The writer fills in `vmcs->offset`. */
int trace_writer_vmcs(struct trace_writer *w, unsigned int vcpu, struct trace_vmcs *vmcs);

/*
 * writer_side.c: side-band of version 3. In addition to the errors of all calls, -EINVAL means that
 * a field is out of range, or that a place descends. It does not stick.
 */
int trace_writer_origin(struct trace_writer *w, const struct trace_origin *origin);
/* Call this before writing any block of the vCPU that has a place in the stream. */
int trace_writer_cut(struct trace_writer *w, unsigned int vcpu, const struct trace_cut *cut);
/*
 * The caller sets each `offset`. Offsets must not descend from entry to entry or from call to call.
 */
int trace_writer_switches(struct trace_writer *w, unsigned int vcpu, const struct trace_switch *at,
			  size_t count);
/* The writer fills in `offset` from the stream, here, in a task and in a mark. */
int trace_writer_epoch(struct trace_writer *w, unsigned int vcpu, struct trace_epoch *epoch);
int trace_writer_task(struct trace_writer *w, unsigned int vcpu, struct trace_task *task);
int trace_writer_mark(struct trace_writer *w, unsigned int vcpu, struct trace_user_mark *mark,
		      const char *text);
/* `content` is a number from trace_writer_page(). */
int trace_writer_frames(struct trace_writer *w, const struct trace_frame *frames, size_t count);
int trace_writer_views(struct trace_writer *w, const struct trace_view *views, size_t count);
int trace_writer_input(struct trace_writer *w, unsigned int vcpu, const struct trace_recorded *head,
		       const void *bytes);
/* @text has the @options->len bytes that struct trace_run_options describes. Call it once. */
int trace_writer_options(struct trace_writer *w, const struct trace_run_options *options,
			 const char *text);
/* The writer fills in `name_len`. */
int trace_writer_ref(struct trace_writer *w, unsigned int vcpu, struct trace_file_ref *ref,
		     const char *name);

/* The record is passed by value, in registers. A read of just stored parts would stall. */
int trace_writer_oracle(struct trace_writer *w, unsigned int vcpu,
			struct trace_oracle_record record);
/*
 * Write the instructions of an engine's block before it first runs, in place of records.
 * The function
 * trace_writer_run() writes its executions. Returns -EINVAL, which does not stick, if the stretch is
 * not valid. The words of a call end with a whole record, and go into one block.
 */
int trace_writer_stretch(struct trace_writer *w, const struct trace_stretch *stretch,
			 const struct trace_stretch_insn *insns);
int trace_writer_run(struct trace_writer *w, unsigned int vcpu, const uint32_t *words,
		     size_t count);
/* Returns the number of stretches so far, which is a valid id of the next. */
uint32_t trace_writer_stretches(const struct trace_writer *w);

/*
 * Limit the size of the file; the default is UINT64_MAX. The writer reserves space for the buffered
 * bytes, the index and the end. Once *trace_writer_full() is true, the caller must end the trace
 * soon, and pass no more than trace_writer_room() bytes to a call. Only the sequence of blocks
 * determines the block that makes the file full. The pointer is valid as long as the writer.
 */
void trace_writer_limit(struct trace_writer *w, uint64_t bytes);
const bool *trace_writer_full(const struct trace_writer *w);
size_t trace_writer_room(const struct trace_writer *w);

/*
 * Write no more bytes to the file, but count them, so that the limit stays the same. This is for a
 * process that runs the machine while another one owns the file.
 */
void trace_writer_mute(struct trace_writer *w);

/* Write how the guest stopped. Call it once, before trace_writer_close(). */
int trace_writer_stop(struct trace_writer *w, const struct trace_post_mortem *pm);

/* Return the number of trace bytes in a vCPU's stream so far. */
uint64_t trace_writer_stream_bytes(const struct trace_writer *w, unsigned int vcpu);

int trace_writer_sync(struct trace_writer *w);
/* Write the index and the end block, close, and free; also after an error. */
int trace_writer_close(struct trace_writer *w, uint32_t guest_exit);
/* Close and free without writing: the file has no end. */
void trace_writer_drop(struct trace_writer *w);

/*
 * writer_save.c, for snapshots: the state of a writer between two calls as plain data. Equal states
 * have equal data. save() returns the number of bytes, and writes them if there is room.
 */
size_t trace_writer_save(const struct trace_writer *w, void *to, size_t room);
uint64_t trace_writer_file_bytes(const struct trace_writer *w);
/* Open a descriptor for reading the file's contents; -ESPIPE if the file is not regular. */
int trace_writer_reread(const struct trace_writer *w, int *fd);
/*
 * Resume in a new file, like trace_writer_start(). First pass the *file_bytes bytes of the old file
 * to refill(). -EINVAL: the state is not valid output of save().
 */
int trace_writer_resume(int fd, const void *state, size_t bytes, uint64_t *file_bytes,
			struct trace_writer **writer);
int trace_writer_refill(struct trace_writer *w, const void *bytes, size_t len);

#endif /* VMM_TRACE_WRITER_H */
