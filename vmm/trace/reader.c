// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the blocks of a file, checks them and hands them out. */
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "input.h"
#include "oracle_log.h"
#include "vec.h"

struct chunk {
	uint64_t offset;
	uint64_t gpa;
	const uint8_t *bytes;
	size_t len;
};

struct vcpu {
	uint64_t bytes; /* of stream */
	uint8_t *stream;
	struct {
		struct chunk *at;
		size_t n, room;
	} chunks;
	struct {
		struct vpt_code *at;
		size_t n, room;
	} code;
	struct {
		struct vpt_period *at;
		size_t n, room;
	} periods;
	struct {
		struct vpt_cr3_switch *at;
		size_t n, room;
	} cr3;
	struct {
		struct vpt_vmcs *at;
		size_t n, room;
	} vmcs;
	struct vpt_oracle_log oracle;
};

struct vpt_reader {
	struct vpt_input in;
	struct vpt_extent extent;
	const struct vpt_file_info *info;
	const struct vpt_file_end *end;
	struct vpt_post_mortem stop; /* its kind is VPT_STOP_NONE: there is none */
	const struct vpt_ram_range *ram;
	size_t nram;
	const struct vpt_index_entry *index;
	size_t nindex;
	struct {
		struct vpt_elf_file *at;
		size_t n, room;
	} elf;
	struct {
		struct vpt_space *at;
		size_t n, room;
	} spaces;
	struct {
		const uint8_t **at; /* each behind its struct vpt_page_content; ids rise */
		size_t n, room;
	} contents;
	struct vpt_stretches stretches;
	struct vcpu *vcpu; /* info->vcpus of them */
};

static const char cut_off[] = "a block is cut off";
static const char no_end[] = "the file ends without an END block";
static const char no_memory[] = "there is no memory to list a block";

static const char *read_info(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	const struct vpt_file_info *info = p;

	if (r->info || b->len != sizeof(*info))
		return "an INFO block is not the only one, or of a wrong length";
	if (!info->vcpus || info->vcpus > VPT_FILE_MAX_VCPUS)
		return "the number of vCPUs is out of range";
	r->vcpu = calloc(info->vcpus, sizeof(*r->vcpu));
	if (!r->vcpu)
		return no_memory;
	r->info = info;
	return NULL;
}

static const char *read_ram(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	if (b->len % sizeof(*r->ram))
		return "a block's length is wrong";
	r->ram = p;
	r->nram = b->len / sizeof(*r->ram);
	return NULL;
}

static const char *read_elf(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	const struct vpt_elf_image *image = p;

	if (b->len < sizeof(*image))
		return "a block's length is wrong";
	if (!vpt_vec_room(&r->elf))
		return no_memory;
	r->elf.at[r->elf.n++] = (struct vpt_elf_file){
		.image = image,
		.bytes = (const uint8_t *)(image + 1),
		.len = b->len - sizeof(*image),
	};
	return NULL;
}

static const char *read_code(struct vcpu *v, const struct vpt_block *b, const void *p)
{
	const struct vpt_code_page *page = p;

	if (b->len != sizeof(*page) + VPT_CODE_BYTES)
		return "a block's length is wrong";
	if (page->vaddr % VPT_CODE_BYTES)
		return "a page of code is not aligned";
	if (!vpt_vec_room(&v->code))
		return no_memory;
	v->code.at[v->code.n++] = (struct vpt_code){page, (const uint8_t *)(page + 1), 0};
	return NULL;
}

static uint64_t content_id(const struct vpt_reader *r, size_t i)
{
	return ((const struct vpt_page_content *)r->contents.at[i])[-1].id;
}

static const char *read_page(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	const struct vpt_page_content *content = p;
	uint64_t last = r->contents.n ? content_id(r, r->contents.n - 1) : 0;

	if (b->len != sizeof(*content) + VPT_CODE_BYTES)
		return "a block's length is wrong";
	if (content->id <= last)
		return "a PAGE block's id does not rise";
	if (!vpt_vec_room(&r->contents))
		return no_memory;
	r->contents.at[r->contents.n++] = (const uint8_t *)(content + 1);
	return NULL;
}

/* The index of the content with this id, from 1 on; 0: there is none. */
static size_t find_content(const struct vpt_reader *r, uint64_t id)
{
	size_t lo = 0, hi = r->contents.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (content_id(r, mid) == id)
			return mid + 1;
		if (content_id(r, mid) < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

static const char *add_map(struct vpt_reader *r, struct vcpu *v, const struct vpt_page_map *map)
{
	size_t content = find_content(r, map->content);

	if (map->page.vaddr % VPT_CODE_BYTES)
		return "a page of code is not aligned";
	if (!content)
		return "a MAP block names a PAGE block that is not there";
	if (!vpt_vec_room(&v->code))
		return no_memory;
	v->code.at[v->code.n++] =
		(struct vpt_code){&map->page, r->contents.at[content - 1], content};
	return NULL;
}

static const char *read_map(struct vpt_reader *r, struct vcpu *v, const struct vpt_block *b,
			    const void *p)
{
	const struct vpt_page_map *map = p;
	size_t n = b->len / sizeof(*map), before = v->code.n, i;

	if (!n || b->len % sizeof(*map))
		return "a block's length is wrong";
	for (i = 0; i < n; i++) {
		const char *why = add_map(r, v, &map[i]);

		if (why) {
			v->code.n = before;
			return why;
		}
	}
	return NULL;
}

static const char *read_trace(struct vcpu *v, const struct vpt_block *b, const void *p)
{
	const struct vpt_trace_chunk *chunk = p;

	if (b->len <= sizeof(*chunk))
		return "a block's length is wrong";
	if (chunk->offset != v->bytes)
		return "a TRACE block does not continue its stream";
	if (!vpt_vec_room(&v->chunks))
		return no_memory;
	v->chunks.at[v->chunks.n++] = (struct chunk){
		.offset = chunk->offset,
		.gpa = chunk->gpa,
		.bytes = (const uint8_t *)(chunk + 1),
		.len = b->len - sizeof(*chunk),
	};
	v->bytes += b->len - sizeof(*chunk);
	return NULL;
}

static const char *read_session(struct vcpu *v, const struct vpt_block *b, const void *p)
{
	const struct vpt_session *session = p;
	struct vpt_period *last = v->periods.n ? &v->periods.at[v->periods.n - 1] : NULL;
	bool open = last && !last->end;

	if (b->len != sizeof(*session))
		return "a block's length is wrong";
	if (session->offset > v->bytes || (last && session->offset < last->start->offset))
		return "a session's place in the stream is wrong";
	if (session->end > VPT_END_CHANGED)
		return "how a session ended is not known";

	switch (session->edge) {
	case VPT_SESSION_START:
		if (open)
			return "a session starts inside another";
		if (!vpt_vec_room(&v->periods))
			return no_memory;
		v->periods.at[v->periods.n++] = (struct vpt_period){session, NULL};
		return NULL;
	case VPT_SESSION_END:
		if (!open || session->end == VPT_END_NONE)
			return "a session ends that never started";
		last->end = session;
		return NULL;
	default:
		return "a SESSION block is neither start nor end";
	}
}

static const char *read_cr3(struct vcpu *v, const struct vpt_block *b, const void *p)
{
	const struct vpt_cr3_switch *sw = p;

	if (b->len != sizeof(*sw))
		return "a block's length is wrong";
	if (v->cr3.n && sw->insns < v->cr3.at[v->cr3.n - 1].insns)
		return "a CR3 block goes back";
	if (!vpt_vec_room(&v->cr3))
		return no_memory;
	v->cr3.at[v->cr3.n++] = *sw;
	return NULL;
}

static bool space_ok(const struct vpt_space *space)
{
	return space->id && !(space->id & ~VPT_SPACE_ID_MASK) &&
	       !(space->flags & ~(uint32_t)VPT_SPACE_FLAGS) &&
	       memchr(space->name, 0, sizeof(space->name));
}

static const char *read_spaces(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	const struct vpt_space *space = p;
	size_t n = b->len / sizeof(*space), i;

	if (!n || b->len % sizeof(*space))
		return "a block's length is wrong";
	for (i = 0; i < n; i++) {
		if (!space_ok(&space[i]))
			return "an address space is not as it must be";
	}
	for (i = 0; i < n; i++) {
		if (!vpt_vec_room(&r->spaces)) {
			r->spaces.n -= i;
			return no_memory;
		}
		r->spaces.at[r->spaces.n++] = space[i];
	}
	return NULL;
}

static const char *read_vmcs(struct vcpu *v, const struct vpt_block *b, const void *p)
{
	const struct vpt_vmcs *vmcs = p;

	if (b->len != sizeof(*vmcs))
		return "a block's length is wrong";
	if (v->vmcs.n && vmcs->offset < v->vmcs.at[v->vmcs.n - 1].offset)
		return "a VMCS block goes back";
	if (!vpt_vec_room(&v->vmcs))
		return no_memory;
	v->vmcs.at[v->vmcs.n++] = *vmcs;
	return NULL;
}

static const char *read_index(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	if (b->len % sizeof(*r->index))
		return "a block's length is wrong";
	r->index = p;
	r->nindex = b->len / sizeof(*r->index);
	return NULL;
}

static const char *read_end(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	if (b->len != sizeof(*r->end))
		return "a block's length is wrong";
	r->end = p;
	r->extent.closed = true;
	return NULL;
}

static const char *read_stop(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	r->stop.vcpu = b->vcpu;
	return vpt_post_mortem_take(&r->stop, p, b->len);
}

/* NULL, or what is wrong with it: then nothing of it has been taken over. */
static const char *read_payload(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	struct vcpu *v;

	if (b->type == VPT_BLOCK_INFO)
		return read_info(r, b, p);
	if (!r->info)
		return "the INFO block is missing";
	if (b->vcpu >= r->info->vcpus)
		return "a block is of a vCPU that is not there";

	v = &r->vcpu[b->vcpu];
	switch (b->type) {
	case VPT_BLOCK_RAM:
		return read_ram(r, b, p);
	case VPT_BLOCK_ELF:
		return read_elf(r, b, p);
	case VPT_BLOCK_CODE:
		return read_code(v, b, p);
	case VPT_BLOCK_PAGE:
		return read_page(r, b, p);
	case VPT_BLOCK_MAP:
		return read_map(r, v, b, p);
	case VPT_BLOCK_TRACE:
		return read_trace(v, b, p);
	case VPT_BLOCK_SESSION:
		return read_session(v, b, p);
	case VPT_BLOCK_ORACLE:
		return vpt_oracle_log_records(&v->oracle, p, b->len);
	case VPT_BLOCK_INDEX:
		return read_index(r, b, p);
	case VPT_BLOCK_END:
		return read_end(r, b, p);
	case VPT_BLOCK_CR3:
		return read_cr3(v, b, p);
	case VPT_BLOCK_SPACE:
		return read_spaces(r, b, p);
	case VPT_BLOCK_VMCS:
		return read_vmcs(v, b, p);
	case VPT_BLOCK_STRETCH:
		return vpt_stretches_take(&r->stretches, p, b->len);
	case VPT_BLOCK_RUN:
		return vpt_oracle_log_words(&v->oracle, &r->stretches, p, b->len);
	case VPT_BLOCK_STOP:
		return read_stop(r, b, p);
	default:
		r->extent.unknown++;
		return NULL;
	}
}

/* Check and take the block at `at`. *len receives the bytes it takes. */
static const char *read_block(struct vpt_reader *r, size_t at, size_t *len)
{
	size_t left = r->in.size - at;
	struct vpt_block head;
	const uint8_t *payload;
	size_t padded, i;
	uint32_t crc;

	if (left < sizeof(head))
		return cut_off;
	memcpy(&head, r->in.bytes + at, sizeof(head));
	if (head.magic != VPT_BLOCK_MAGIC)
		return "there is something that is no block";
	padded = ((size_t)head.len + 7) & ~(size_t)7;
	if (padded > left - sizeof(head))
		return cut_off;

	payload = r->in.bytes + at + sizeof(head);
	crc = head.crc;
	head.crc = 0;
	if (vpt_crc32c(vpt_crc32c(0, &head, sizeof(head)), payload, head.len) != crc)
		return "a block's checksum is wrong";
	for (i = head.len; i < padded; i++) {
		if (payload[i])
			return "a block's padding is not zero";
	}
	*len = sizeof(head) + padded;
	return read_payload(r, &head, payload);
}

static void read_blocks(struct vpt_reader *r, size_t at)
{
	struct vpt_extent *extent = &r->extent;

	extent->readable = at;
	while (at < r->in.size) {
		size_t len;

		extent->why = extent->closed ? "something follows the END block"
					     : read_block(r, at, &len);
		if (extent->why) {
			extent->cut = extent->why == cut_off;
			return;
		}
		at += len;
		extent->blocks++;
		extent->readable = at;
	}
	if (!extent->closed) {
		extent->why = no_end;
		extent->cut = true;
	}
}

/* 0 and where the first block is, or -EINVAL with the reason in `why`. */
static int read_header(const struct vpt_reader *r, size_t *at, char *why, size_t size)
{
	struct vpt_file_header header;

	if (r->in.size < sizeof(header)) {
		snprintf(why, size, "not a .vpt file: it has %zu bytes", r->in.size);
		return -EINVAL;
	}
	memcpy(&header, r->in.bytes, sizeof(header));
	if (header.magic != VPT_FILE_MAGIC) {
		snprintf(why, size, "not a .vpt file");
		return -EINVAL;
	}
	if (header.version != VPT_FILE_VERSION && header.version != VPT_FILE_RTIT) {
		snprintf(why, size, "its format version is %u, this program reads %u and %u",
			 header.version, VPT_FILE_VERSION, VPT_FILE_RTIT);
		return -EINVAL;
	}
	if (header.size < sizeof(header) || header.size % 8 || header.size > r->in.size) {
		snprintf(why, size, "its header is damaged");
		return -EINVAL;
	}
	*at = header.size;
	return 0;
}

int vpt_reader_open(const char *path, struct vpt_reader **reader, char *why, size_t size)
{
	struct vpt_reader *r = calloc(1, sizeof(*r));
	size_t at;
	int err;

	if (!r) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	err = vpt_input_open(&r->in, path);
	if (err) {
		snprintf(why, size, "%s", strerror(-err));
		goto out;
	}
	err = read_header(r, &at, why, size);
	if (err)
		goto out;

	r->extent.file_bytes = r->in.size;
	read_blocks(r, at);
	if (!r->info) {
		snprintf(why, size, "its first block cannot be read: %s", r->extent.why);
		err = -EINVAL;
		goto out;
	}
	*reader = r;
	return 0;
out:
	vpt_reader_close(r);
	return err;
}

void vpt_reader_close(struct vpt_reader *r)
{
	unsigned int i;

	if (!r)
		return;
	for (i = 0; r->info && i < r->info->vcpus; i++) {
		free(r->vcpu[i].stream);
		free(r->vcpu[i].chunks.at);
		free(r->vcpu[i].code.at);
		free(r->vcpu[i].periods.at);
		free(r->vcpu[i].cr3.at);
		free(r->vcpu[i].vmcs.at);
		free(r->vcpu[i].oracle.blocks.at);
	}
	free(r->vcpu);
	free(r->elf.at);
	free(r->spaces.at);
	free(r->contents.at);
	free(r->stretches.at);
	vpt_input_close(&r->in);
	free(r);
}

const struct vpt_extent *vpt_reader_extent(const struct vpt_reader *r)
{
	return &r->extent;
}

const struct vpt_file_info *vpt_reader_info(const struct vpt_reader *r)
{
	return r->info;
}

const struct vpt_file_end *vpt_reader_end(const struct vpt_reader *r)
{
	return r->end;
}

const struct vpt_post_mortem *vpt_reader_stop(const struct vpt_reader *r)
{
	return r->stop.stop.kind ? &r->stop : NULL;
}

const struct vpt_ram_range *vpt_reader_ram(const struct vpt_reader *r, size_t *count)
{
	*count = r->nram;
	return r->ram;
}

const struct vpt_elf_file *vpt_reader_elf(const struct vpt_reader *r, size_t *count)
{
	*count = r->elf.n;
	return r->elf.at;
}

const struct vpt_index_entry *vpt_reader_index(const struct vpt_reader *r, size_t *count)
{
	*count = r->nindex;
	return r->index;
}

const struct vpt_code *vpt_reader_code(const struct vpt_reader *r, unsigned int vcpu, size_t *count)
{
	*count = r->vcpu[vcpu].code.n;
	return r->vcpu[vcpu].code.at;
}

const uint8_t *const *vpt_reader_contents(const struct vpt_reader *r, size_t *count)
{
	*count = r->contents.n;
	return r->contents.at;
}

const struct vpt_period *vpt_reader_sessions(const struct vpt_reader *r, unsigned int vcpu,
					     size_t *count)
{
	*count = r->vcpu[vcpu].periods.n;
	return r->vcpu[vcpu].periods.at;
}

const struct vpt_cr3_switch *vpt_reader_cr3(const struct vpt_reader *r, unsigned int vcpu,
					    size_t *count)
{
	*count = r->vcpu[vcpu].cr3.n;
	return r->vcpu[vcpu].cr3.at;
}

const struct vpt_space *vpt_reader_spaces(const struct vpt_reader *r, size_t *count)
{
	*count = r->spaces.n;
	return r->spaces.at;
}

const struct vpt_vmcs *vpt_reader_vmcs(const struct vpt_reader *r, unsigned int vcpu, size_t *count)
{
	*count = r->vcpu[vcpu].vmcs.n;
	return r->vcpu[vcpu].vmcs.at;
}

const uint8_t *vpt_reader_stream(struct vpt_reader *r, unsigned int vcpu, size_t *len)
{
	struct vcpu *v = &r->vcpu[vcpu];
	size_t i;

	*len = v->bytes;
	if (v->chunks.n == 1)
		return v->chunks.at[0].bytes;
	if (!v->stream) {
		v->stream = malloc(v->bytes + 1);
		if (!v->stream)
			return NULL;
		for (i = 0; i < v->chunks.n; i++)
			memcpy(v->stream + v->chunks.at[i].offset, v->chunks.at[i].bytes,
			       v->chunks.at[i].len);
	}
	return v->stream;
}

uint64_t vpt_reader_stream_bytes(const struct vpt_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].bytes;
}

uint64_t vpt_reader_gpa(const struct vpt_reader *r, unsigned int vcpu, uint64_t offset)
{
	const struct vcpu *v = &r->vcpu[vcpu];
	size_t lo = 0, hi = v->chunks.n;

	if (offset >= v->bytes)
		return UINT64_MAX;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->chunks.at[mid].offset <= offset)
			lo = mid;
		else
			hi = mid;
	}
	if (v->chunks.at[lo].gpa == UINT64_MAX)
		return UINT64_MAX;
	return v->chunks.at[lo].gpa + (offset - v->chunks.at[lo].offset);
}

const struct vpt_oracle_record *vpt_reader_oracle(const struct vpt_reader *r, unsigned int vcpu,
						  struct vpt_oracle_cursor *cursor)
{
	return vpt_oracle_log_next(&r->vcpu[vcpu].oracle, &r->stretches, cursor);
}

uint64_t vpt_reader_oracle_count(const struct vpt_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].oracle.records;
}
