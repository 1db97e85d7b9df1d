// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the contents of a file's blocks, and returns them to callers. */
#include "trace/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader_state.h"

/* A file may have this many CHANGE blocks, and another one for each 16 of its bytes. */
#define CHANGES_OF_SMALL_FILE 1024u
#define BYTES_OF_CHANGE	      16u

const char trace_reader_no_memory[] = "there is no memory to list a block";

static const char *read_info(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	const struct trace_file_info *info = p;

	if (r->info || b->len != sizeof(*info))
		return "an INFO block is not the only one, or of a wrong length";
	if (r->version == TRACE_FILE_OLD_ATOM && !(info->flags & TRACE_INFO_ATOM))
		return "its version is that of RTIT, and its flags are not";
	if (r->version >= TRACE_FILE_VERSION && info->flags & ~(uint32_t)TRACE_INFO_FLAGS)
		return "it has flags that this program does not know";
	if (!info->vcpus || info->vcpus > TRACE_FILE_MAX_VCPUS)
		return "the number of vCPUs is out of range";
	r->vcpu = calloc(info->vcpus, sizeof(*r->vcpu));
	if (!r->vcpu)
		return trace_reader_no_memory;
	r->info = info;
	return NULL;
}

static const char *read_ram(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	if (b->len % sizeof(*r->ram))
		return "a block's length is wrong";
	r->ram = p;
	r->nram = b->len / sizeof(*r->ram);
	return NULL;
}

static const char *read_elf(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	const struct trace_elf_image *image = p;

	if (b->len < sizeof(*image))
		return "a block's length is wrong";
	if (!trace_vec_room(&r->elf))
		return trace_reader_no_memory;
	r->elf.at[r->elf.n++] = (struct trace_elf_file){
		.image = image,
		.bytes = (const uint8_t *)(image + 1),
		.len = b->len - sizeof(*image),
	};
	return NULL;
}

static const char *read_code(struct trace_reader *r, struct trace_reader_vcpu *v,
			     const struct trace_block *b, const void *p)
{
	struct trace_code_page copy, *page;

	if (b->len != sizeof(copy) + TRACE_CODE_BYTES)
		return "a block's length is wrong";
	memcpy(&copy, p, sizeof(copy));
	if (copy.vaddr % TRACE_CODE_BYTES)
		return "a page of code is not aligned";
	page = trace_arena_alloc(&r->blocks.arena, sizeof(*page));
	if (!page || !trace_vec_room(&v->code))
		return trace_reader_no_memory;
	*page = copy;
	v->code.at[v->code.n++] =
		(struct trace_code){page, (const uint8_t *)p + sizeof(*page), 0, v->stream.n};
	trace_reader_saw(v, page->insns);
	return NULL;
}

static const char *add_content(struct trace_reader *r, uint64_t id, const uint8_t *bytes)
{
	if (id <= (r->contents.n ? r->ids.at[r->contents.n - 1] : 0))
		return "the id of a content does not rise";
	if (!trace_vec_room(&r->contents) || !trace_vec_room(&r->ids))
		return trace_reader_no_memory;
	r->contents.at[r->contents.n++] = bytes;
	r->ids.at[r->ids.n++] = id;
	return NULL;
}

static const char *read_page(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	struct trace_page_content content;

	if (b->len != sizeof(content) + TRACE_CODE_BYTES)
		return "a block's length is wrong";
	memcpy(&content, p, sizeof(content));
	return add_content(r, content.id, (const uint8_t *)p + sizeof(content));
}

/*
 * A CHANGE block is small, and its content is a page. It has blocks MAP and EPOCH beside it, and
 * their checksums cannot be compressed. So a file that a writer made has fewer.
 */
static bool too_many_changes(const struct trace_reader *r)
{
	return r->changes >= CHANGES_OF_SMALL_FILE + r->blocks.source.size / BYTES_OF_CHANGE;
}

static const char *read_change(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	struct trace_page_change change;
	const size_t len = b->len - sizeof(change);
	const char *why;
	uint8_t *page;
	size_t base;

	if (b->len <= sizeof(change))
		return "a block's length is wrong";
	memcpy(&change, p, sizeof(change));
	base = trace_reader_find_content(r, change.base);
	if (!base)
		return "a CHANGE block names a content that is not there";
	if (change.reserved || change.offset > TRACE_CODE_BYTES ||
	    len > TRACE_CODE_BYTES - change.offset)
		return "a CHANGE block is outside of its page";
	if (too_many_changes(r))
		return "the CHANGE blocks would take too much memory";
	page = trace_arena_alloc(&r->blocks.arena, TRACE_CODE_BYTES);
	if (!page)
		return trace_reader_no_memory;
	memcpy(page, r->contents.at[base - 1], TRACE_CODE_BYTES);
	memcpy(page + change.offset, (const uint8_t *)p + sizeof(change), len);
	why = add_content(r, change.id, page);
	if (why)
		trace_arena_undo(&r->blocks.arena, page, TRACE_CODE_BYTES);
	else
		r->changes++;
	return why;
}

size_t trace_reader_find_content(const struct trace_reader *r, uint64_t id)
{
	size_t lo = 0, hi = r->contents.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->ids.at[mid] == id)
			return mid + 1;
		if (r->ids.at[mid] < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return 0;
}

static const char *add_map(struct trace_reader *r, struct trace_reader_vcpu *v,
			   const struct trace_page_map *map)
{
	size_t content = trace_reader_find_content(r, map->content);

	if (map->page.vaddr % TRACE_CODE_BYTES)
		return "a page of code is not aligned";
	/* The content may be in the missing part, so the other entries remain valid. */
	if (!content && r->blocks.damages.n)
		return NULL;
	if (!content)
		return "a MAP block names a PAGE block that is not there";
	if (!trace_vec_room(&v->code))
		return trace_reader_no_memory;
	v->code.at[v->code.n++] =
		(struct trace_code){&map->page, r->contents.at[content - 1], content, v->stream.n};
	trace_reader_saw(v, map->page.insns);
	return NULL;
}

static const char *read_map(struct trace_reader *r, struct trace_reader_vcpu *v,
			    const struct trace_block *b, const void *p)
{
	const struct trace_page_map *map = p;
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

static const char *read_cr3(struct trace_reader_vcpu *v, const struct trace_block *b, const void *p)
{
	const struct trace_cr3_switch *sw = p;

	if (b->len != sizeof(*sw))
		return "a block's length is wrong";
	if (v->cr3.n && sw->insns < v->cr3.at[v->cr3.n - 1].insns)
		return "a CR3 block goes back";
	if (!trace_vec_room(&v->cr3))
		return trace_reader_no_memory;
	v->cr3.at[v->cr3.n++] = *sw;
	trace_reader_saw(v, sw->insns);
	return NULL;
}

static bool space_ok(const struct trace_space *space)
{
	return space->id && !(space->id & ~TRACE_SPACE_ID_MASK) &&
	       !(space->flags & ~(uint32_t)TRACE_SPACE_FLAGS) &&
	       memchr(space->name, 0, sizeof(space->name));
}

static const char *read_spaces(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	const struct trace_space *space = p;
	size_t n = b->len / sizeof(*space), i;

	if (!n || b->len % sizeof(*space))
		return "a block's length is wrong";
	for (i = 0; i < n; i++) {
		if (!space_ok(&space[i]))
			return "an address space is not as it must be";
	}
	for (i = 0; i < n; i++) {
		if (!trace_vec_room(&r->spaces)) {
			r->spaces.n -= i;
			return trace_reader_no_memory;
		}
		r->spaces.at[r->spaces.n++] = space[i];
	}
	return NULL;
}

static const char *read_vmcs(struct trace_reader_vcpu *v, const struct trace_block *b,
			     const void *p)
{
	struct trace_vmcs copy, *vmcs = &copy;

	if (b->len != sizeof(*vmcs))
		return "a block's length is wrong";
	memcpy(vmcs, p, sizeof(*vmcs));
	if (!trace_reader_rebase(v, &vmcs->offset))
		return "a place in the stream is wrong";
	if (v->vmcs.n && vmcs->offset < v->vmcs.at[v->vmcs.n - 1].offset)
		return "a VMCS block goes back";
	if (!trace_vec_room(&v->vmcs))
		return trace_reader_no_memory;
	v->vmcs.at[v->vmcs.n++] = *vmcs;
	return NULL;
}

static const char *read_end(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	if (b->len != sizeof(*r->end))
		return "a block's length is wrong";
	r->end = p;
	r->blocks.extent.closed = true;
	return NULL;
}

static const char *read_stop(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	r->stop.vcpu = b->vcpu;
	return trace_post_mortem_take(&r->stop, p, b->len);
}

static const char *read_oracle(struct trace_reader *r, struct trace_reader_vcpu *v,
			       const struct trace_block *b, const void *p)
{
	const char *why = trace_oracle_log_count_records(&v->oracle, p, b->len);

	if (why || r->how & TRACE_READER_COUNT_ORACLE)
		return why;
	return trace_oracle_log_keep_records(&v->oracle, p, b->len);
}

static const char *read_run(struct trace_reader *r, struct trace_reader_vcpu *v,
			    const struct trace_block *b, const void *p)
{
	const char *why = trace_oracle_log_count_words(&v->oracle, &r->stretches, p, b->len);

	if (why || r->how & TRACE_READER_COUNT_ORACLE)
		return why;
	return trace_oracle_log_keep_words(&v->oracle, p, b->len);
}

static const char *check_vcpu(const struct trace_reader *r, const struct trace_block *b)
{
	if (!r->info)
		return "the INFO block is missing";
	return b->vcpu < r->info->vcpus ? NULL : "a block is of a vCPU that is not there";
}

/* Read a block of a type that older files lack. */
static const char *read_newer(struct trace_reader *r, struct trace_reader_vcpu *v,
			      const struct trace_block *b, const void *p)
{
	switch (b->type) {
	case TRACE_BLOCK_ORIGIN:
		return trace_reader_take_origin(r, p, b->len);
	case TRACE_BLOCK_SWITCH:
		return trace_reader_take_switches(v, p, b->len);
	case TRACE_BLOCK_POINT:
		return trace_reader_take_points(v, p, b->len);
	case TRACE_BLOCK_PACKED:
		return trace_blocks_unpack(&r->blocks, p, b->len);
	case TRACE_BLOCK_EPOCH:
		return trace_reader_take_epoch(v, p, b->len);
	case TRACE_BLOCK_FRAME:
		return trace_reader_take_frames(r, p, b->len);
	case TRACE_BLOCK_VIEW:
		return trace_reader_take_views(r, p, b->len);
	case TRACE_BLOCK_INPUT:
		return trace_reader_take_inputs(r, b->vcpu, p, b->len);
	case TRACE_BLOCK_FILE:
		return trace_reader_take_ref(r, b->vcpu, p, b->len);
	case TRACE_BLOCK_MARK:
		return trace_reader_take_marks(v, p, b->len);
	case TRACE_BLOCK_TASK:
		return trace_reader_take_tasks(r, b->vcpu, p, b->len);
	case TRACE_BLOCK_REFINED:
		return trace_reader_take_refined(r, b->vcpu, p, b->len);
	case TRACE_BLOCK_CUT:
		return trace_reader_take_cut(v, p, b->len);
	case TRACE_BLOCK_OPTIONS:
		return trace_reader_take_options(r, p, b->len);
	case TRACE_BLOCK_CHANGE:
		return read_change(r, b, p);
	case TRACE_BLOCK_PIECE:
		return trace_reader_take_piece(r, b->vcpu, p, b->len);
	default:
		return NULL;
	}
}

/* Read a payload. Returns NULL, or the error in it; then nothing of it was taken. */
static const char *read_payload(struct trace_reader *r, const struct trace_block *b, const void *p)
{
	struct trace_reader_vcpu *v;
	const char *why;

	if (b->type == TRACE_BLOCK_INFO)
		return read_info(r, b, p);
	why = check_vcpu(r, b);
	if (why)
		return why;

	v = &r->vcpu[b->vcpu];
	switch (b->type) {
	case TRACE_BLOCK_RAM:
		return read_ram(r, b, p);
	case TRACE_BLOCK_ELF:
		return read_elf(r, b, p);
	case TRACE_BLOCK_CODE:
		return read_code(r, v, b, p);
	case TRACE_BLOCK_PAGE:
		return read_page(r, b, p);
	case TRACE_BLOCK_MAP:
		return read_map(r, v, b, p);
	case TRACE_BLOCK_TRACE:
		return trace_reader_trace(r, v, p, b->len);
	case TRACE_BLOCK_SESSION:
		return trace_reader_session(r, v, p, b->len);
	case TRACE_BLOCK_ORACLE:
		return read_oracle(r, v, b, p);
	case TRACE_BLOCK_INDEX:
		return trace_reader_take_index(r, p, b->len);
	case TRACE_BLOCK_END:
		return read_end(r, b, p);
	case TRACE_BLOCK_CR3:
		return read_cr3(v, b, p);
	case TRACE_BLOCK_SPACE:
		return read_spaces(r, b, p);
	case TRACE_BLOCK_VMCS:
		return read_vmcs(v, b, p);
	case TRACE_BLOCK_STRETCH:
		return trace_stretches_take(&r->stretches, p, b->len);
	case TRACE_BLOCK_RUN:
		return read_run(r, v, b, p);
	case TRACE_BLOCK_STOP:
		return read_stop(r, b, p);
	default:
		return read_newer(r, v, b, p);
	}
}

static bool is_oracle(uint16_t type)
{
	return type == TRACE_BLOCK_ORACLE || type == TRACE_BLOCK_STRETCH || type == TRACE_BLOCK_RUN;
}

static bool is_unknown(const struct trace_reader *r, uint16_t type)
{
	if (type == TRACE_BLOCK_PIECE && r->version >= TRACE_FILE_VERSION)
		return false;
	return !type || type >= TRACE_BLOCK_TYPES ||
	       (type >= TRACE_BLOCK_TYPES_OLD && r->version < TRACE_FILE_VERSION);
}

static bool is_needed(const struct trace_reader *r, uint16_t type)
{
	return type & TRACE_BLOCK_NEEDED && r->version >= TRACE_FILE_VERSION;
}

static enum trace_block_use use(struct trace_blocks *b, const struct trace_block *head)
{
	struct trace_reader *r = (struct trace_reader *)b;

	if (is_unknown(r, head->type) && r->info)
		return TRACE_USE_PASS;
	/* The oracle is usable only from its beginning, without a gap. */
	if (is_oracle(head->type) && r->info && (r->how & TRACE_READER_NO_ORACLE || b->damages.n))
		return TRACE_USE_PASS;
	switch (head->type) {
	case TRACE_BLOCK_ORACLE:
		return TRACE_USE_STAY;
	/* Out of PACKED blocks, a copy is kept. */
	case TRACE_BLOCK_RUN:
		return r->how & TRACE_READER_COUNT_ORACLE ? TRACE_USE_LOOK : TRACE_USE_STAY;
	case TRACE_BLOCK_CODE:
	case TRACE_BLOCK_PAGE:
		return r->how & TRACE_READER_CODE_IN_PLACE ? TRACE_USE_STAY : TRACE_USE_KEEP;
	case TRACE_BLOCK_TRACE:
		if (b->packed || !(r->how & TRACE_READER_SKIPS))
			return TRACE_USE_LOOK;
		return r->how & TRACE_READER_LAZY ? TRACE_USE_SKIP : TRACE_USE_CHECK;
	case TRACE_BLOCK_CR3:
	case TRACE_BLOCK_SPACE:
	case TRACE_BLOCK_VMCS:
	case TRACE_BLOCK_STOP:
	case TRACE_BLOCK_SWITCH:
	case TRACE_BLOCK_POINT:
	case TRACE_BLOCK_INDEX:
	case TRACE_BLOCK_PACKED:
	case TRACE_BLOCK_EPOCH:
	case TRACE_BLOCK_FRAME:
	case TRACE_BLOCK_VIEW:
	case TRACE_BLOCK_CUT:
	case TRACE_BLOCK_CHANGE:
	case TRACE_BLOCK_REFINED:
		/* Their content is copied into other structures. */
		return TRACE_USE_LOOK;
	default:
		return TRACE_USE_KEEP;
	}
}

static const char *take(struct trace_blocks *b, const struct trace_block *head, const void *payload)
{
	struct trace_reader *r = (struct trace_reader *)b;
	const char *why = payload ? read_payload(r, head, payload) : check_vcpu(r, head);

	if (why == trace_reader_no_memory)
		b->error = -ENOMEM;
	else if (!why && is_unknown(r, head->type)) {
		b->extent.unknown++;
		if (is_needed(r, head->type)) {
			r->needed = head->type;
			b->error = -EINVAL;
		}
	}
	return why;
}

/* The vCPU of the missing blocks is not known. */
static void resumed(struct trace_blocks *b)
{
	trace_reader_gap((struct trace_reader *)b);
}

/*
 * Read the file header. Returns 0 and the position of the first block, or -errno with the reason in
 * `why`.
 */
static int read_header(struct trace_reader *r, uint64_t *at, char *why, size_t size)
{
	struct trace_source *source = &r->blocks.source;
	struct trace_file_header header;
	int err = trace_source_read(source, 0, &header, sizeof(header));

	if (err == -ENODATA) {
		/*
		 * If a pipe or a device has another magic, only its first bytes were read, and its
		 * size is not known.
		 */
		if (!trace_source_read(source, 0, &header.magic, sizeof(header.magic)) &&
		    header.magic != TRACE_FILE_MAGIC)
			snprintf(why, size, "not a .vpt file");
		else
			snprintf(why, size, "not a .vpt file: it has %llu bytes",
				 (unsigned long long)source->size);
		return -EINVAL;
	}
	if (err) {
		snprintf(why, size, "%s", strerror(-err));
		return err;
	}
	if (header.magic != TRACE_FILE_MAGIC) {
		snprintf(why, size, "not a .vpt file");
		return -EINVAL;
	}
	if (!header.version || header.version > TRACE_FILE_VERSION) {
		snprintf(why, size, "its format version is %u, this program reads %u to %u",
			 header.version, TRACE_FILE_OLD, TRACE_FILE_VERSION);
		return -EINVAL;
	}
	if (header.version == TRACE_FILE_VERSION && header.flags) {
		snprintf(why, size,
			 "its header has flags 0x%llx, which this program does not know: "
			 "use a newer vpt",
			 (unsigned long long)header.flags);
		return -EINVAL;
	}
	if (header.size < sizeof(header) || header.size % 8 || header.size > source->size) {
		snprintf(why, size, "its header is damaged");
		return -EINVAL;
	}
	r->version = header.version;
	*at = header.size;
	return 0;
}

static int open_source(struct trace_reader *r, const char *path, char *why, size_t size)
{
	static const uint64_t magic = TRACE_FILE_MAGIC;
	int err = trace_source_open(&r->blocks.source, path, &magic, sizeof(magic));

	if (err == -EFBIG)
		snprintf(why, size, "a pipe or a device may have 1 GiB: give a file");
	else if (err)
		snprintf(why, size, "%s", strerror(-err));
	return err;
}

/* Complete the results after the last block. Returns 0, or -errno with the reason in `why`. */
static int resolve(struct trace_reader *r, int err, char *why, size_t size)
{
	if (!err)
		err = trace_reader_end_streams(r);
	if (!err)
		err = trace_reader_resolve(r);
	if (!err)
		err = trace_reader_spaces_resolve(r);
	if (r->needed) {
		snprintf(why, size,
			 "it cannot be read without its blocks of type 0x%x, which this program "
			 "does not know: use a newer vpt",
			 r->needed);
	} else if (r->is_piece) {
		snprintf(why, size,
			 "it is a piece of a trace, with what shards %u to %u of a plan need: only "
			 "vpt shard run --piece reads it",
			 r->piece->first, r->piece->last);
	} else if (err == -E2BIG) {
		snprintf(why, size, "its FRAME and VIEW blocks would take too much memory");
		err = -EINVAL;
	} else if (err) {
		snprintf(why, size, "%s", strerror(-err));
	} else if (!r->info) {
		snprintf(why, size, "its first block cannot be read: %s", r->blocks.extent.why);
		err = -EINVAL;
	}
	return err;
}

static int read_file(struct trace_reader *r, char *why, size_t size)
{
	uint64_t at;
	int err = read_header(r, &at, why, size);

	if (err)
		return err;
	/* A map would read the skipped blocks. */
	if (!(r->how & TRACE_READER_SKIPS))
		trace_source_map(&r->blocks.source);
	return resolve(r, trace_blocks_read(&r->blocks, at, r->how), why, size);
}

/* Return a reader without a source. Returns NULL, with the reason in `why`. */
static struct trace_reader *new_reader(unsigned int how, char *why, size_t size)
{
	struct trace_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return NULL;
	}
	r->blocks.source.fd = -1;
	r->blocks.use = use;
	r->blocks.take = take;
	r->blocks.resumed = resumed;
	r->how = how;
	r->sparse = how & TRACE_READER_SKIPS;
	pthread_mutex_init(&r->window_lock, NULL);
	return r;
}

static int end_open(struct trace_reader *r, int err, struct trace_reader **reader)
{
	if (err)
		trace_reader_close(r);
	else
		*reader = r;
	return err;
}

int trace_reader_open_as(const char *path, unsigned int how, struct trace_reader **reader,
			 char *why, size_t size)
{
	struct trace_reader *r = new_reader(how, why, size);
	int err;

	if (!r)
		return -ENOMEM;
	err = open_source(r, path, why, size);
	if (!err)
		err = read_file(r, why, size);
	return end_open(r, err, reader);
}

int trace_reader_open(const char *path, struct trace_reader **reader, char *why, size_t size)
{
	return trace_reader_open_as(path, 0, reader, why, size);
}

static int open_descriptor(struct trace_reader *r, int fd, char *why, size_t size)
{
	int err = trace_source_open_fd(&r->blocks.source, fd);

	if (err)
		snprintf(why, size, "%s", strerror(-err));
	return err;
}

int trace_reader_open_growing(int fd, unsigned int how, struct trace_reader **reader, char *why,
			      size_t size)
{
	struct trace_reader *r = new_reader(how, why, size);
	int err;

	if (!r)
		return -ENOMEM;
	err = open_descriptor(r, fd, why, size);
	if (!err && r->blocks.source.size < sizeof(struct trace_file_header))
		err = -EAGAIN;
	if (!err)
		err = read_header(r, &r->blocks.at, why, size);
	if (!err)
		err = trace_reader_more(r);
	if (!err && !r->info)
		err = -EAGAIN;
	return end_open(r, err, reader);
}

int trace_reader_more(struct trace_reader *r)
{
	const int err = trace_source_grow(&r->blocks.source);

	return err ? err : trace_blocks_more(&r->blocks);
}

int trace_reader_finish(struct trace_reader *r)
{
	char why[256];
	int err = trace_source_grow(&r->blocks.source);

	if (!err)
		err = trace_blocks_read(&r->blocks, r->blocks.at, r->how);
	return resolve(r, err, why, sizeof(why));
}

int trace_reader_open_fd(int fd, unsigned int how, struct trace_reader **reader, char *why,
			 size_t size)
{
	struct trace_reader *r = new_reader(how, why, size);
	int err;

	if (!r)
		return -ENOMEM;
	err = open_descriptor(r, fd, why, size);
	if (!err)
		err = read_file(r, why, size);
	return end_open(r, err, reader);
}

/* Returns true if a CR3 block of the vCPU belongs to an overflow. */
static bool resumes(const struct trace_reader_vcpu *v)
{
	size_t i;

	for (i = 0; i < v->cr3.n; i++) {
		if (v->cr3.at[i].cr3 & TRACE_CR3_RESUMED)
			return true;
	}
	return false;
}

bool trace_reader_is_open_ended(const struct trace_reader *r)
{
	unsigned int i;

	if (r->frames.n || r->views.n || r->spaces.n || trace_reader_cpu(r) ||
	    (r->origin && r->origin->flags & TRACE_ORIGIN_HARDWARE) ||
	    r->info->flags & (TRACE_INFO_CODE_BY_OFFSET | TRACE_INFO_ATOM))
		return true;
	for (i = 0; i < r->info->vcpus; i++) {
		if (r->vcpu[i].switches.n || r->vcpu[i].vmcs.n || r->vcpu[i].cut.why ||
		    resumes(&r->vcpu[i]))
			return true;
	}
	return false;
}

void trace_reader_close(struct trace_reader *r)
{
	unsigned int i;

	if (!r)
		return;
	pthread_mutex_destroy(&r->window_lock);
	for (i = 0; r->info && i < r->info->vcpus; i++) {
		trace_reader_free_stream(r, &r->vcpu[i]);
		free(r->vcpu[i].chunks.at);
		free(r->vcpu[i].code.at);
		free(r->vcpu[i].periods.at);
		free(r->vcpu[i].cr3.at);
		free(r->vcpu[i].vmcs.at);
		free(r->vcpu[i].switches.at);
		free(r->vcpu[i].points.at);
		free(r->vcpu[i].epochs.at);
		free(r->vcpu[i].marks.at);
		free(r->vcpu[i].tasks.at);
		free(r->vcpu[i].oracle.blocks.at);
	}
	free(r->vcpu);
	free(r->elf.at);
	free(r->spaces.at);
	free(r->inputs.at);
	free(r->refs.at);
	free(r->names.at);
	free(r->frames.at);
	free(r->views.at);
	free(r->contents.at);
	free(r->ids.at);
	free(r->stretches.at);
	trace_blocks_close(&r->blocks);
	free(r);
}

int trace_reader_add_code(struct trace_reader *r, unsigned int vcpu,
			  const struct trace_code_page *page, const uint8_t *bytes)
{
	struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	struct trace_code_page *copy = trace_arena_alloc(&r->blocks.arena, sizeof(*copy));

	if (!copy || !trace_vec_room(&v->code))
		return -ENOMEM;
	*copy = *page;
	v->code.at[v->code.n++] = (struct trace_code){copy, bytes, 0, 0};
	return 0;
}

void trace_reader_set_source(struct trace_reader *r, const struct trace_code_source *source)
{
	r->source = source;
}

const struct trace_code_source *trace_reader_source(const struct trace_reader *r)
{
	return r->source;
}

void trace_reader_watch(struct trace_reader *r, const struct trace_watch *watch)
{
	r->watch = watch;
}

void trace_reader_progress(const struct trace_reader *r, unsigned int vcpu, uint64_t offset)
{
	if (r->watch)
		r->watch->progress(r->watch->context, vcpu, offset);
}

const struct trace_extent *trace_reader_extent(const struct trace_reader *r)
{
	return &r->blocks.extent;
}

unsigned int trace_reader_version(const struct trace_reader *r)
{
	return r->version;
}

const struct trace_file_info *trace_reader_info(const struct trace_reader *r)
{
	return r->info;
}

const struct trace_file_end *trace_reader_end(const struct trace_reader *r)
{
	return r->end;
}

const struct trace_post_mortem *trace_reader_stop(const struct trace_reader *r)
{
	return r->stop.stop.kind ? &r->stop : NULL;
}

const struct trace_ram_range *trace_reader_ram(const struct trace_reader *r, size_t *count)
{
	*count = r->nram;
	return r->ram;
}

const struct trace_elf_file *trace_reader_elf(const struct trace_reader *r, size_t *count)
{
	*count = r->elf.n;
	return r->elf.at;
}

const struct trace_code *trace_reader_code(const struct trace_reader *r, unsigned int vcpu,
					   size_t *count)
{
	*count = r->vcpu[vcpu].code.n;
	return r->vcpu[vcpu].code.at;
}

const uint8_t *const *trace_reader_contents(const struct trace_reader *r, size_t *count)
{
	*count = r->contents.n;
	return r->contents.at;
}

const struct trace_cr3_switch *trace_reader_cr3(const struct trace_reader *r, unsigned int vcpu,
						size_t *count)
{
	*count = r->vcpu[vcpu].cr3.n;
	return r->vcpu[vcpu].cr3.at;
}

const struct trace_space *trace_reader_spaces(const struct trace_reader *r, size_t *count)
{
	*count = r->spaces.n;
	return r->spaces.at;
}

const struct trace_vmcs *trace_reader_vmcs(const struct trace_reader *r, unsigned int vcpu,
					   size_t *count)
{
	*count = r->vcpu[vcpu].vmcs.n;
	return r->vcpu[vcpu].vmcs.at;
}

const struct trace_oracle_record *trace_reader_oracle(const struct trace_reader *r,
						      unsigned int vcpu,
						      struct trace_oracle_cursor *cursor)
{
	return trace_oracle_log_next(&r->vcpu[vcpu].oracle, &r->stretches, cursor);
}

bool trace_reader_oracle_rest(const struct trace_reader *r, unsigned int vcpu,
			      const struct trace_oracle_cursor *cursor,
			      struct trace_oracle_rest *rest)
{
	return trace_oracle_log_rest(&r->vcpu[vcpu].oracle, &r->stretches, cursor, rest);
}

bool trace_reader_torn(const struct trace_reader *r)
{
	return trace_source_torn(&r->blocks.source);
}

uint64_t trace_reader_oracle_count(const struct trace_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].oracle.records;
}
