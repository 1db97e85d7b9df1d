// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a .vpt file. Each block is written with one writev(). A killed writer therefore leaves
 * whole blocks and at most one torn block at the end. Trace bytes and oracle records are buffered
 * per vCPU first. A killed writer loses the buffered data: 4 KiB or 1/256 of the trace, and 64 KiB of
 * records.
 */
#include "trace/writer_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/crc32c.h"

int trace_writer_put(struct trace_writer *w, struct iovec *iov, int count)
{
	for (; w->mute && count; count--)
		w->file_bytes += iov++->iov_len;
	while (count) {
		ssize_t done = writev(w->fd, iov, count);

		if (done < 0) {
			if (errno == EINTR)
				continue;
			return w->error = -errno;
		}
		/* A file that accepts no bytes and reports no error would cause an endless loop. */
		if (!done)
			return w->error = -EIO;

		w->file_bytes += (uint64_t)done;
		while (count && (size_t)done >= iov->iov_len) {
			done -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count) {
			iov->iov_base = (uint8_t *)iov->iov_base + done;
			iov->iov_len -= (size_t)done;
		}
	}
	return 0;
}

void trace_writer_mute(struct trace_writer *w)
{
	w->mute = true;
}

/* Return the size of the blocks that must still fit behind the end of the file. */
static uint64_t end_bytes(const struct trace_writer *w)
{
	uint64_t bytes = 0, most = trace_writer_gather(w->limit) - TRACE_GATHER_LEAST;
	unsigned int i;

	for (i = 0; i < w->vcpus; i++)
		bytes += END_BYTES + most + w->stream[i].nindex * sizeof(struct trace_psb_point);
	return bytes;
}

static void check_limit(struct trace_writer *w)
{
	uint64_t near = w->limit / NEAR_FACTOR < NEAR_BYTES ? w->limit / NEAR_FACTOR : NEAR_BYTES;

	if (w->limit != UINT64_MAX)
		w->full = w->full || w->file_bytes + end_bytes(w) + near > w->limit;
}

void trace_writer_limit(struct trace_writer *w, uint64_t bytes)
{
	w->limit = bytes;
	check_limit(w);
}

const bool *trace_writer_full(const struct trace_writer *w)
{
	return &w->full;
}

size_t trace_writer_room(const struct trace_writer *w)
{
	uint64_t need = w->file_bytes + end_bytes(w);

	if (w->limit == UINT64_MAX)
		return SIZE_MAX;
	return need < w->limit ? (size_t)(w->limit - need) : 0;
}

static int flush_trace(struct trace_writer *w, unsigned int vcpu);

/* Give a block to the sink, behind the bytes that the stream has by now. */
static int sink_block(struct trace_writer *w, enum trace_block_type type, unsigned int vcpu,
		      const void *head, size_t head_len, const void *body, size_t body_len)
{
	if (type != TRACE_BLOCK_TRACE && flush_trace(w, vcpu))
		return w->error;
	w->error = w->sink.put(w->sink.opaque, type, vcpu, head, head_len, body, body_len);
	return w->error;
}

int trace_writer_block(struct trace_writer *w, enum trace_block_type type, unsigned int vcpu,
		       const void *head, size_t head_len, const void *body, size_t body_len)
{
	static const uint8_t zeros[8];
	size_t len = head_len + body_len;
	struct trace_block block = {
		.magic = TRACE_BLOCK_MAGIC,
		.type = (uint16_t)type,
		.vcpu = (uint16_t)vcpu,
		.len = (uint32_t)len,
	};
	struct iovec iov[] = {
		{&block, sizeof(block)},
		{(void *)head, head_len},
		{(void *)body, body_len},
		{(void *)zeros, -len & 7},
	};

	if (w->error)
		return w->error;
	if (len > UINT32_MAX)
		return w->error = -EFBIG;
	if (w->sink.put)
		return sink_block(w, type, vcpu, head, head_len, body, body_len);

	block.crc = trace_crc32c(0, &block, sizeof(block));
	block.crc = trace_crc32c(block.crc, head, head_len);
	block.crc = trace_crc32c(block.crc, body, body_len);
	if (trace_writer_put(w, iov, 4))
		return w->error;
	check_limit(w);
	return 0;
}

static int flush_trace(struct trace_writer *w, unsigned int vcpu)
{
	struct trace_stream *s = &w->stream[vcpu];
	uint64_t file_offset = w->file_bytes;
	int err;

	if (w->error || !s->gathered)
		return w->error;

	err = trace_writer_block(w, TRACE_BLOCK_TRACE, vcpu, &s->chunk, sizeof(s->chunk), s->buf,
				 s->gathered);
	if (err)
		return err;
	trace_writer_resolve(s, file_offset);
	s->gathered = 0;
	return 0;
}

static int flush_oracle(struct trace_writer *w, unsigned int vcpu)
{
	struct trace_stream *s = &w->stream[vcpu];
	int err;

	if (w->error || !s->nrecords)
		return w->error;

	err = trace_writer_block(w, TRACE_BLOCK_ORACLE, vcpu, NULL, 0, s->records,
				 s->nrecords * sizeof(*s->records));
	s->nrecords = 0;
	return err;
}

static int flush_stretches(struct trace_writer *w)
{
	int err;

	if (w->error || !w->stretch_bytes)
		return w->error;

	err = trace_writer_block(w, TRACE_BLOCK_STRETCH, 0, NULL, 0, w->stretches,
				 w->stretch_bytes);
	w->stretch_bytes = 0;
	return err;
}

static int write_run(struct trace_writer *w, unsigned int vcpu, const uint32_t *words, size_t count)
{
	int err = flush_stretches(w);

	if (err)
		return err;
	return trace_writer_block(w, TRACE_BLOCK_RUN, vcpu, NULL, 0, words, count * sizeof(*words));
}

static int flush_run(struct trace_writer *w, unsigned int vcpu)
{
	struct trace_stream *s = &w->stream[vcpu];
	int err;

	if (w->error || !s->nwords)
		return w->error;

	err = write_run(w, vcpu, s->words, s->nwords);
	s->nwords = 0;
	return err;
}

static int flush_vcpu(struct trace_writer *w, unsigned int vcpu)
{
	int err = flush_trace(w, vcpu);

	if (!err)
		err = flush_oracle(w, vcpu);
	return err ? err : flush_run(w, vcpu);
}

/* The pieces that the bytes arrive in do not matter, so that a resumed file has the same blocks. */
static size_t gather_most(const struct trace_writer *w, const struct trace_stream *s)
{
	return w->sink.put ? TRACE_GATHER_LEAST
			   : trace_writer_gather(s->bytes - s->gathered - s->base);
}

int trace_writer_trace(struct trace_writer *w, unsigned int vcpu, uint64_t gpa, const void *bytes,
		       size_t len)
{
	const uint8_t *p = bytes;
	struct trace_stream *s;

	if (w->error)
		return w->error;
	if (vcpu >= w->vcpus)
		return -EINVAL;

	s = &w->stream[vcpu];
	if (s->gathered &&
	    gpa != (s->chunk.gpa == UINT64_MAX ? UINT64_MAX : s->chunk.gpa + s->gathered) &&
	    flush_trace(w, vcpu))
		return w->error;

	while (len) {
		const size_t most = gather_most(w, s);
		size_t n = most - s->gathered;

		if (n > len)
			n = len;
		if (!s->gathered)
			s->chunk = (struct trace_chunk){s->bytes, gpa};
		memcpy(s->buf + s->gathered, p, n);
		if (trace_writer_find_psbs(w, s, p, n))
			return w->error;
		s->gathered += n;
		s->bytes += n;
		p += n;
		len -= n;
		if (gpa != UINT64_MAX)
			gpa += n;
		if (s->gathered == most && flush_trace(w, vcpu))
			return w->error;
	}
	return 0;
}

int trace_writer_mapped(struct trace_writer *w, unsigned int vcpu, uint64_t gpa, const void *bytes,
			size_t len)
{
	const uint8_t *p = bytes;
	struct trace_stream *s;

	if (vcpu >= w->vcpus)
		return w->error ? w->error : -EINVAL;
	s = &w->stream[vcpu];
	if (len < TRACE_GATHER_LEAST)
		return trace_writer_trace(w, vcpu, gpa, bytes, len);
	if (flush_trace(w, vcpu))
		return w->error;
	while (len && !w->error) {
		const size_t n = len < MAPPED_TRACE ? len : MAPPED_TRACE;
		const uint64_t file_offset = w->file_bytes;

		s->chunk = (struct trace_chunk){s->bytes, gpa};
		if (trace_writer_find_psbs(w, s, p, n) ||
		    trace_writer_block(w, TRACE_BLOCK_TRACE, vcpu, &s->chunk, sizeof(s->chunk), p,
				       n))
			break;
		trace_writer_resolve(s, file_offset);
		s->bytes += n;
		p += n;
		len -= n;
		if (gpa != UINT64_MAX)
			gpa += n;
	}
	return w->error;
}

int trace_writer_session(struct trace_writer *w, unsigned int vcpu, struct trace_session *session)
{
	if (w->error)
		return w->error;
	if (vcpu >= w->vcpus)
		return -EINVAL;

	/* The file must have the bytes of a session before the block that ends the session. */
	if (flush_vcpu(w, vcpu))
		return w->error;
	session->offset = w->stream[vcpu].bytes;
	w->stream[vcpu].placed = true;
	if (session->edge == TRACE_SESSION_START)
		trace_writer_point_session(&w->stream[vcpu], session);
	return trace_writer_block(w, TRACE_BLOCK_SESSION, vcpu, session, sizeof(*session), NULL, 0);
}

int trace_writer_oracle(struct trace_writer *w, unsigned int vcpu,
			struct trace_oracle_record record)
{
	struct trace_stream *s;

	if (w->error)
		return w->error;
	if (vcpu >= w->vcpus)
		return -EINVAL;

	s = &w->stream[vcpu];
	/* Among words, write the record as words. */
	if (s->nwords) {
		uint32_t words[1 + TRACE_RECORD_WORDS] = {TRACE_RUN_RECORD};

		memcpy(words + 1, &record, sizeof(record));
		return trace_writer_run(w, vcpu, words, 1 + TRACE_RECORD_WORDS);
	}
	s->records[s->nrecords++] = record;
	return s->nrecords == ORACLE_PER_BLOCK ? flush_oracle(w, vcpu) : 0;
}

static bool stretch_ok(const struct trace_writer *w, const struct trace_stretch *stretch,
		       const struct trace_stretch_insn *insns)
{
	unsigned int i;

	if (stretch->id >= TRACE_RUN_CUT || stretch->id >= TRACE_STRETCH_ID_MAX(w->nstretches) ||
	    !stretch->insns || stretch->flags & ~TRACE_STRETCH_FLAGS)
		return false;
	for (i = 0; i < stretch->insns; i++) {
		if (!insns[i].len || insns[i].len > TRACE_STRETCH_LEN_MAX)
			return false;
	}
	return true;
}

int trace_writer_stretch(struct trace_writer *w, const struct trace_stretch *stretch,
			 const struct trace_stretch_insn *insns)
{
	size_t len = stretch->insns * sizeof(*insns), room = sizeof(*stretch) + trace_pad8(len);
	uint8_t *to;

	if (w->error)
		return w->error;
	if (!stretch_ok(w, stretch, insns))
		return -EINVAL;
	if (!w->stretches) {
		w->stretches = malloc(GATHER_STRETCH);
		if (!w->stretches)
			return w->error = -ENOMEM;
	}
	if (w->stretch_bytes + room > GATHER_STRETCH && flush_stretches(w))
		return w->error;
	to = w->stretches + w->stretch_bytes;
	memset(to, 0, room);
	memcpy(to, stretch, sizeof(*stretch));
	memcpy(to + sizeof(*stretch), insns, len);
	w->stretch_bytes += room;
	w->nstretches++;
	return 0;
}

uint32_t trace_writer_stretches(const struct trace_writer *w)
{
	return (uint32_t)w->nstretches;
}

int trace_writer_run(struct trace_writer *w, unsigned int vcpu, const uint32_t *words, size_t count)
{
	struct trace_stream *s;

	if (vcpu >= w->vcpus)
		return w->error ? w->error : -EINVAL;

	s = &w->stream[vcpu];
	if (flush_oracle(w, vcpu))
		return w->error;
	if (s->nwords + count > RUN_PER_BLOCK && flush_run(w, vcpu))
		return w->error;
	if (count >= RUN_PER_BLOCK)
		return write_run(w, vcpu, words, count);
	if (!s->words) {
		s->words = malloc(GATHER_ORACLE);
		if (!s->words)
			return w->error = -ENOMEM;
	}
	if (count)
		memcpy(s->words + s->nwords, words, count * sizeof(*words));
	s->nwords += count;
	return 0;
}

int trace_writer_ram(struct trace_writer *w, const struct trace_ram_range *ranges, size_t count)
{
	return trace_writer_block(w, TRACE_BLOCK_RAM, 0, ranges, count * sizeof(*ranges), NULL, 0);
}

int trace_writer_elf(struct trace_writer *w, const struct trace_elf_image *image, const void *bytes,
		     size_t len)
{
	return trace_writer_block(w, TRACE_BLOCK_ELF, 0, image, sizeof(*image), bytes, len);
}

int trace_writer_code(struct trace_writer *w, unsigned int vcpu, const struct trace_code_page *page,
		      const void *bytes)
{
	if (vcpu >= w->vcpus)
		return w->error ? w->error : -EINVAL;
	return trace_writer_block(w, TRACE_BLOCK_CODE, vcpu, page, sizeof(*page), bytes,
				  TRACE_CODE_BYTES);
}

int trace_writer_page(struct trace_writer *w, const void *bytes, uint64_t *id)
{
	struct trace_page_content content = {.id = w->contents + 1};
	int err = trace_writer_block(w, TRACE_BLOCK_PAGE, 0, &content, sizeof(content), bytes,
				     TRACE_CODE_BYTES);

	if (!err)
		*id = ++w->contents;
	return err;
}

/* A larger change is a page of its own. */
#define CHANGE_MAX 1024u

int trace_writer_change(struct trace_writer *w, uint64_t base, const void *bytes, size_t from,
			size_t to, uint64_t *id)
{
	const struct trace_page_change change = {
		.id = w->contents + 1, .base = base, .offset = (uint32_t)from};
	int err;

	if (w->sink.put || to - from > CHANGE_MAX)
		return trace_writer_page(w, bytes, id);
	if (!base || base > w->contents || from >= to || to > TRACE_CODE_BYTES)
		return w->error ? w->error : -EINVAL;
	err = trace_writer_block(w, TRACE_BLOCK_CHANGE, 0, &change, sizeof(change),
				 (const uint8_t *)bytes + from, to - from);
	if (!err)
		*id = ++w->contents;
	return err;
}

int trace_writer_map(struct trace_writer *w, unsigned int vcpu, const struct trace_page_map *maps,
		     size_t count)
{
	size_t i;

	if (vcpu >= w->vcpus)
		return w->error ? w->error : -EINVAL;
	for (i = 0; i < count; i++)
		if (!maps[i].content || maps[i].content > w->contents)
			return w->error ? w->error : -EINVAL;
	return trace_writer_block(w, TRACE_BLOCK_MAP, vcpu, NULL, 0, maps, count * sizeof(*maps));
}

int trace_writer_cr3(struct trace_writer *w, unsigned int vcpu, const struct trace_cr3_switch *sw)
{
	if (vcpu >= w->vcpus)
		return w->error ? w->error : -EINVAL;
	/* With RTIT the low bits are not part of the space. */
	if (!w->rtit)
		trace_writer_point_space(&w->stream[vcpu], sw->cr3);
	return trace_writer_block(w, TRACE_BLOCK_CR3, vcpu, sw, sizeof(*sw), NULL, 0);
}

int trace_writer_spaces(struct trace_writer *w, const struct trace_space *spaces, size_t count)
{
	if (!count)
		return w->error;
	return trace_writer_block(w, TRACE_BLOCK_SPACE, 0, spaces, count * sizeof(*spaces), NULL,
				  0);
}

int trace_writer_vmcs(struct trace_writer *w, unsigned int vcpu, struct trace_vmcs *vmcs)
{
	if (vcpu >= w->vcpus)
		return w->error ? w->error : -EINVAL;
	vmcs->offset = w->stream[vcpu].bytes;
	w->stream[vcpu].placed = true;
	return trace_writer_block(w, TRACE_BLOCK_VMCS, vcpu, vmcs, sizeof(*vmcs), NULL, 0);
}

int trace_writer_stop(struct trace_writer *w, const struct trace_post_mortem *pm)
{
	uint8_t body[sizeof(pm->fault) + sizeof(pm->call)];
	size_t faults, calls;

	if (pm->vcpu >= w->vcpus || pm->stop.faults > TRACE_STOP_FAULTS ||
	    pm->stop.calls > TRACE_STOP_CALLS)
		return w->error ? w->error : -EINVAL;
	faults = pm->stop.faults * sizeof(pm->fault[0]);
	calls = pm->stop.calls * sizeof(pm->call[0]);
	memcpy(body, pm->fault, faults);
	memcpy(body + faults, pm->call, calls);
	if (trace_writer_sync(w))
		return w->error;
	return trace_writer_block(w, TRACE_BLOCK_STOP, pm->vcpu, &pm->stop, sizeof(pm->stop), body,
				  faults + calls);
}

uint64_t trace_writer_stream_bytes(const struct trace_writer *w, unsigned int vcpu)
{
	return vcpu < w->vcpus ? w->stream[vcpu].bytes - w->stream[vcpu].base : 0;
}

int trace_writer_sync(struct trace_writer *w)
{
	unsigned int i;

	for (i = 0; i < w->vcpus && !w->error; i++)
		flush_vcpu(w, i);
	return flush_stretches(w);
}

static void writer_free(struct trace_writer *w)
{
	unsigned int i;

	for (i = 0; i < w->vcpus; i++) {
		free(w->stream[i].buf);
		free(w->stream[i].records);
		free(w->stream[i].words);
		free(w->stream[i].index);
	}
	free(w->stretches);
	free(w);
}

void trace_writer_drop(struct trace_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	writer_free(w);
}

int trace_writer_close(struct trace_writer *w, uint32_t guest_exit)
{
	struct trace_file_end end = {.guest_exit = guest_exit};
	int err;

	trace_writer_sync(w);
	if (!w->error) {
		end.index_offset = trace_writer_points(w);
		trace_writer_block(w, TRACE_BLOCK_END, 0, &end, sizeof(end), NULL, 0);
	}
	/* Some file systems report a failed write only here. */
	if (close(w->fd) && !w->error)
		w->error = -errno;
	err = w->error;
	writer_free(w);
	return err;
}

static int write_head(struct trace_writer *w, const struct trace_file_info *info)
{
	struct trace_file_header header = {
		.magic = TRACE_FILE_MAGIC,
		.version = TRACE_FILE_VERSION,
		.size = sizeof(header),
	};
	struct iovec iov = {&header, sizeof(header)};

	if (trace_writer_put(w, &iov, 1))
		return w->error;
	return trace_writer_block(w, TRACE_BLOCK_INFO, 0, info, sizeof(*info), NULL, 0);
}

int trace_writer_new(int fd, unsigned int vcpus, struct trace_writer **writer)
{
	struct trace_writer *w = calloc(1, sizeof(*w) + vcpus * sizeof(w->stream[0]));
	unsigned int i;
	int err;

	if (!w)
		return -ENOMEM;
	w->vcpus = vcpus;
	w->limit = UINT64_MAX;
	for (i = 0; i < w->vcpus; i++) {
		w->stream[i].buf = malloc(GATHER_TRACE);
		w->stream[i].records = malloc(GATHER_ORACLE);
		if (!w->stream[i].buf || !w->stream[i].records) {
			writer_free(w);
			return -ENOMEM;
		}
	}
	w->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0 && w->fd < 0) {
		err = -errno;
		writer_free(w);
		return err;
	}
	*writer = w;
	return 0;
}

int trace_writer_start(int fd, const struct trace_file_info *info, struct trace_writer **writer)
{
	int err;

	if (!info->vcpus || info->vcpus > TRACE_FILE_MAX_VCPUS)
		return -EINVAL;
	err = trace_writer_new(fd, info->vcpus, writer);
	if (!err) {
		(*writer)->rtit = info->flags & TRACE_INFO_ATOM;
		err = write_head(*writer, info);
		if (err) {
			trace_writer_drop(*writer);
			*writer = NULL;
		}
	}
	return err;
}

int trace_writer_start_sink(const struct trace_sink *sink, const struct trace_file_info *info,
			    struct trace_writer **writer)
{
	int err;

	if (!info->vcpus || info->vcpus > TRACE_FILE_MAX_VCPUS)
		return -EINVAL;
	err = trace_writer_new(-1, info->vcpus, writer);
	if (!err) {
		(*writer)->sink = *sink;
		(*writer)->rtit = info->flags & TRACE_INFO_ATOM;
	}
	return err;
}

/* Lock and truncate the file; only regular files support this. */
static int claim(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
#ifdef F_OFD_SETLK
	if (fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET}) &&
	    (errno == EAGAIN || errno == EACCES))
		return -EBUSY;
#endif
	return ftruncate(fd, 0) ? -errno : 0;
}

int trace_writer_open(const char *path, const struct trace_file_info *info,
		      struct trace_writer **writer)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = claim(fd);
	if (!err)
		err = trace_writer_start(fd, info, writer);
	close(fd);
	return err;
}
