// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks what the blocks of a file hold, and hands it out. */
#include "reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader_state.h"

const char vpt_reader_no_memory[] = "there is no memory to list a block";

static const char *read_info(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	const struct vpt_file_info *info = p;

	if (r->info || b->len != sizeof(*info))
		return "an INFO block is not the only one, or of a wrong length";
	if (r->version == VPT_FILE_OLD_RTIT && !(info->flags & VPT_INFO_RTIT))
		return "its version is that of RTIT, and its flags are not";
	if (r->version >= VPT_FILE_VERSION && info->flags & ~(uint32_t)VPT_INFO_FLAGS)
		return "it has flags that this program does not know";
	if (!info->vcpus || info->vcpus > VPT_FILE_MAX_VCPUS)
		return "the number of vCPUs is out of range";
	r->vcpu = calloc(info->vcpus, sizeof(*r->vcpu));
	if (!r->vcpu)
		return vpt_reader_no_memory;
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
		return vpt_reader_no_memory;
	r->elf.at[r->elf.n++] = (struct vpt_elf_file){
		.image = image,
		.bytes = (const uint8_t *)(image + 1),
		.len = b->len - sizeof(*image),
	};
	return NULL;
}

static const char *read_code(struct vpt_reader *r, struct vpt_reader_vcpu *v,
			     const struct vpt_block *b, const void *p)
{
	struct vpt_code_page copy, *page;

	if (b->len != sizeof(copy) + VPT_CODE_BYTES)
		return "a block's length is wrong";
	memcpy(&copy, p, sizeof(copy));
	if (copy.vaddr % VPT_CODE_BYTES)
		return "a page of code is not aligned";
	page = vpt_arena_alloc(&r->blocks.arena, sizeof(*page));
	if (!page || !vpt_vec_room(&v->code))
		return vpt_reader_no_memory;
	*page = copy;
	v->code.at[v->code.n++] = (struct vpt_code){page, (const uint8_t *)p + sizeof(*page), 0};
	vpt_reader_saw(v, page->insns);
	return NULL;
}

static const char *read_page(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	struct vpt_page_content content;
	uint64_t last = r->contents.n ? r->ids.at[r->contents.n - 1] : 0;

	if (b->len != sizeof(content) + VPT_CODE_BYTES)
		return "a block's length is wrong";
	memcpy(&content, p, sizeof(content));
	if (content.id <= last)
		return "a PAGE block's id does not rise";
	if (!vpt_vec_room(&r->contents) || !vpt_vec_room(&r->ids))
		return vpt_reader_no_memory;
	r->contents.at[r->contents.n++] = (const uint8_t *)p + sizeof(content);
	r->ids.at[r->ids.n++] = content.id;
	return NULL;
}

size_t vpt_reader_find_content(const struct vpt_reader *r, uint64_t id)
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

static const char *add_map(struct vpt_reader *r, struct vpt_reader_vcpu *v,
			   const struct vpt_page_map *map)
{
	size_t content = vpt_reader_find_content(r, map->content);

	if (map->page.vaddr % VPT_CODE_BYTES)
		return "a page of code is not aligned";
	/* It may have been in what is missing: the other entries are good. */
	if (!content && r->blocks.damages.n)
		return NULL;
	if (!content)
		return "a MAP block names a PAGE block that is not there";
	if (!vpt_vec_room(&v->code))
		return vpt_reader_no_memory;
	v->code.at[v->code.n++] =
		(struct vpt_code){&map->page, r->contents.at[content - 1], content};
	vpt_reader_saw(v, map->page.insns);
	return NULL;
}

static const char *read_map(struct vpt_reader *r, struct vpt_reader_vcpu *v,
			    const struct vpt_block *b, const void *p)
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

static const char *read_cr3(struct vpt_reader_vcpu *v, const struct vpt_block *b, const void *p)
{
	const struct vpt_cr3_switch *sw = p;

	if (b->len != sizeof(*sw))
		return "a block's length is wrong";
	if (v->cr3.n && sw->insns < v->cr3.at[v->cr3.n - 1].insns)
		return "a CR3 block goes back";
	if (!vpt_vec_room(&v->cr3))
		return vpt_reader_no_memory;
	v->cr3.at[v->cr3.n++] = *sw;
	vpt_reader_saw(v, sw->insns);
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
			return vpt_reader_no_memory;
		}
		r->spaces.at[r->spaces.n++] = space[i];
	}
	return NULL;
}

static const char *read_vmcs(struct vpt_reader_vcpu *v, const struct vpt_block *b, const void *p)
{
	struct vpt_vmcs copy, *vmcs = &copy;

	if (b->len != sizeof(*vmcs))
		return "a block's length is wrong";
	memcpy(vmcs, p, sizeof(*vmcs));
	if (!vpt_reader_rebase(v, &vmcs->offset))
		return "a place in the stream is wrong";
	if (v->vmcs.n && vmcs->offset < v->vmcs.at[v->vmcs.n - 1].offset)
		return "a VMCS block goes back";
	if (!vpt_vec_room(&v->vmcs))
		return vpt_reader_no_memory;
	v->vmcs.at[v->vmcs.n++] = *vmcs;
	return NULL;
}

static const char *read_end(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	if (b->len != sizeof(*r->end))
		return "a block's length is wrong";
	r->end = p;
	r->blocks.extent.closed = true;
	return NULL;
}

static const char *read_stop(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	r->stop.vcpu = b->vcpu;
	return vpt_post_mortem_take(&r->stop, p, b->len);
}

static const char *read_oracle(struct vpt_reader *r, struct vpt_reader_vcpu *v,
			       const struct vpt_block *b, const void *p)
{
	const char *why = vpt_oracle_log_count_records(&v->oracle, p, b->len);

	if (why || r->how & VPT_READER_COUNT_ORACLE)
		return why;
	return vpt_oracle_log_keep_records(&v->oracle, p, b->len);
}

static const char *read_run(struct vpt_reader *r, struct vpt_reader_vcpu *v,
			    const struct vpt_block *b, const void *p)
{
	const char *why = vpt_oracle_log_count_words(&v->oracle, &r->stretches, p, b->len);

	if (why || r->how & VPT_READER_COUNT_ORACLE)
		return why;
	return vpt_oracle_log_keep_words(&v->oracle, p, b->len);
}

static const char *check_vcpu(const struct vpt_reader *r, const struct vpt_block *b)
{
	if (!r->info)
		return "the INFO block is missing";
	return b->vcpu < r->info->vcpus ? NULL : "a block is of a vCPU that is not there";
}

/* The types that older files do not have. */
static const char *read_newer(struct vpt_reader *r, struct vpt_reader_vcpu *v,
			      const struct vpt_block *b, const void *p)
{
	switch (b->type) {
	case VPT_BLOCK_ORIGIN:
		return vpt_reader_take_origin(r, p, b->len);
	case VPT_BLOCK_SWITCH:
		return vpt_reader_take_switches(v, p, b->len);
	case VPT_BLOCK_POINT:
		return vpt_reader_take_points(v, p, b->len);
	case VPT_BLOCK_PACKED:
		return vpt_blocks_unpack(&r->blocks, p, b->len);
	case VPT_BLOCK_EPOCH:
		return vpt_reader_take_epoch(v, p, b->len);
	case VPT_BLOCK_FRAME:
		return vpt_reader_take_frames(r, p, b->len);
	case VPT_BLOCK_VIEW:
		return vpt_reader_take_views(r, p, b->len);
	case VPT_BLOCK_INPUT:
		return vpt_reader_take_inputs(r, b->vcpu, p, b->len);
	case VPT_BLOCK_FILE:
		return vpt_reader_take_ref(r, b->vcpu, p, b->len);
	case VPT_BLOCK_MARK:
		return vpt_reader_take_marks(v, p, b->len);
	case VPT_BLOCK_CUT:
		return vpt_reader_take_cut(v, p, b->len);
	default:
		return NULL;
	}
}

/* NULL, or what is wrong with it: then nothing of it has been taken over. */
static const char *read_payload(struct vpt_reader *r, const struct vpt_block *b, const void *p)
{
	struct vpt_reader_vcpu *v;
	const char *why;

	if (b->type == VPT_BLOCK_INFO)
		return read_info(r, b, p);
	why = check_vcpu(r, b);
	if (why)
		return why;

	v = &r->vcpu[b->vcpu];
	switch (b->type) {
	case VPT_BLOCK_RAM:
		return read_ram(r, b, p);
	case VPT_BLOCK_ELF:
		return read_elf(r, b, p);
	case VPT_BLOCK_CODE:
		return read_code(r, v, b, p);
	case VPT_BLOCK_PAGE:
		return read_page(r, b, p);
	case VPT_BLOCK_MAP:
		return read_map(r, v, b, p);
	case VPT_BLOCK_TRACE:
		return vpt_reader_trace(r, v, p, b->len);
	case VPT_BLOCK_SESSION:
		return vpt_reader_session(r, v, p, b->len);
	case VPT_BLOCK_ORACLE:
		return read_oracle(r, v, b, p);
	case VPT_BLOCK_INDEX:
		return vpt_reader_take_index(r, p, b->len);
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
		return read_run(r, v, b, p);
	case VPT_BLOCK_STOP:
		return read_stop(r, b, p);
	default:
		return read_newer(r, v, b, p);
	}
}

static bool is_oracle(uint16_t type)
{
	return type == VPT_BLOCK_ORACLE || type == VPT_BLOCK_STRETCH || type == VPT_BLOCK_RUN;
}

static bool is_unknown(const struct vpt_reader *r, uint16_t type)
{
	return !type || type >= VPT_BLOCK_TYPES ||
	       (type >= VPT_BLOCK_TYPES_OLD && r->version < VPT_FILE_VERSION);
}

static bool is_needed(const struct vpt_reader *r, uint16_t type)
{
	return type & VPT_BLOCK_NEEDED && r->version >= VPT_FILE_VERSION;
}

static enum vpt_block_use use(struct vpt_blocks *b, const struct vpt_block *head)
{
	struct vpt_reader *r = (struct vpt_reader *)b;

	if (is_unknown(r, head->type) && r->info)
		return VPT_USE_PASS;
	/* The oracle can only be used from its beginning on, without a gap. */
	if (is_oracle(head->type) && r->info && (r->how & VPT_READER_NO_ORACLE || b->damages.n))
		return VPT_USE_PASS;
	switch (head->type) {
	case VPT_BLOCK_ORACLE:
		return VPT_USE_STAY;
	/* Out of PACKED blocks, what stays is a copy. */
	case VPT_BLOCK_RUN:
		return r->how & VPT_READER_COUNT_ORACLE ? VPT_USE_LOOK : VPT_USE_STAY;
	case VPT_BLOCK_CODE:
	case VPT_BLOCK_PAGE:
		return r->how & VPT_READER_CODE_IN_PLACE ? VPT_USE_STAY : VPT_USE_KEEP;
	case VPT_BLOCK_TRACE:
	case VPT_BLOCK_CR3:
	case VPT_BLOCK_SPACE:
	case VPT_BLOCK_VMCS:
	case VPT_BLOCK_STOP:
	case VPT_BLOCK_SWITCH:
	case VPT_BLOCK_POINT:
	case VPT_BLOCK_INDEX:
	case VPT_BLOCK_PACKED:
	case VPT_BLOCK_EPOCH:
	case VPT_BLOCK_FRAME:
	case VPT_BLOCK_VIEW:
	case VPT_BLOCK_CUT:
		/* Their content is copied to where it is needed. */
		return VPT_USE_LOOK;
	default:
		return VPT_USE_KEEP;
	}
}

static const char *take(struct vpt_blocks *b, const struct vpt_block *head, const void *payload)
{
	struct vpt_reader *r = (struct vpt_reader *)b;
	const char *why = payload ? read_payload(r, head, payload) : check_vcpu(r, head);

	if (why == vpt_reader_no_memory)
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

/* Which vCPU's blocks are missing is not known. */
static void resumed(struct vpt_blocks *b)
{
	vpt_reader_gap((struct vpt_reader *)b);
}

/* 0 and where the first block is, or -errno with the reason in `why`. */
static int read_header(struct vpt_reader *r, uint64_t *at, char *why, size_t size)
{
	struct vpt_source *source = &r->blocks.source;
	struct vpt_file_header header;
	int err = vpt_source_read(source, 0, &header, sizeof(header));

	if (err == -ENODATA) {
		/* Of a pipe or a device no more was read. */
		if (!vpt_source_read(source, 0, &header.magic, sizeof(header.magic)) &&
		    header.magic != VPT_FILE_MAGIC)
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
	if (header.magic != VPT_FILE_MAGIC) {
		snprintf(why, size, "not a .vpt file");
		return -EINVAL;
	}
	if (!header.version || header.version > VPT_FILE_VERSION) {
		snprintf(why, size, "its format version is %u, this program reads %u to %u",
			 header.version, VPT_FILE_OLD, VPT_FILE_VERSION);
		return -EINVAL;
	}
	if (header.version == VPT_FILE_VERSION && header.flags) {
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

static int open_source(struct vpt_reader *r, const char *path, char *why, size_t size)
{
	static const uint64_t magic = VPT_FILE_MAGIC;
	int err = vpt_source_open(&r->blocks.source, path, &magic, sizeof(magic));

	if (err == -EFBIG)
		snprintf(why, size, "a pipe or a device may have 1 GiB: give a file");
	else if (err)
		snprintf(why, size, "%s", strerror(-err));
	return err;
}

static int read_file(struct vpt_reader *r, const char *path, char *why, size_t size)
{
	uint64_t at;
	int err = open_source(r, path, why, size);

	if (!err)
		err = read_header(r, &at, why, size);
	if (err)
		return err;
	vpt_source_map(&r->blocks.source);
	err = vpt_blocks_read(&r->blocks, at, r->how);
	if (!err)
		err = vpt_reader_resolve(r);
	if (!err)
		err = vpt_reader_spaces_resolve(r);
	if (r->needed) {
		snprintf(why, size,
			 "it cannot be read without its blocks of type 0x%x, which this program "
			 "does not know: use a newer vpt",
			 r->needed);
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

int vpt_reader_open_as(const char *path, unsigned int how, struct vpt_reader **reader, char *why,
		       size_t size)
{
	struct vpt_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r) {
		snprintf(why, size, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	r->blocks.source.fd = -1;
	r->blocks.use = use;
	r->blocks.take = take;
	r->blocks.resumed = resumed;
	r->how = how;
	err = read_file(r, path, why, size);
	if (err)
		vpt_reader_close(r);
	else
		*reader = r;
	return err;
}

int vpt_reader_open(const char *path, struct vpt_reader **reader, char *why, size_t size)
{
	return vpt_reader_open_as(path, 0, reader, why, size);
}

void vpt_reader_close(struct vpt_reader *r)
{
	unsigned int i;

	if (!r)
		return;
	for (i = 0; r->info && i < r->info->vcpus; i++) {
		free(r->vcpu[i].stream.at);
		free(r->vcpu[i].chunks.at);
		free(r->vcpu[i].code.at);
		free(r->vcpu[i].periods.at);
		free(r->vcpu[i].cr3.at);
		free(r->vcpu[i].vmcs.at);
		free(r->vcpu[i].switches.at);
		free(r->vcpu[i].points.at);
		free(r->vcpu[i].epochs.at);
		free(r->vcpu[i].marks.at);
		free(r->vcpu[i].oracle.blocks.at);
	}
	free(r->vcpu);
	free(r->elf.at);
	free(r->spaces.at);
	free(r->inputs.at);
	free(r->refs.at);
	free(r->frames.at);
	free(r->views.at);
	free(r->contents.at);
	free(r->ids.at);
	free(r->stretches.at);
	vpt_blocks_close(&r->blocks);
	free(r);
}

int vpt_reader_add_code(struct vpt_reader *r, unsigned int vcpu, const struct vpt_code_page *page,
			const uint8_t *bytes)
{
	struct vpt_reader_vcpu *v = &r->vcpu[vcpu];
	struct vpt_code_page *copy = vpt_arena_alloc(&r->blocks.arena, sizeof(*copy));

	if (!copy || !vpt_vec_room(&v->code))
		return -ENOMEM;
	*copy = *page;
	v->code.at[v->code.n++] = (struct vpt_code){copy, bytes, 0};
	return 0;
}

void vpt_reader_set_source(struct vpt_reader *r, const struct vpt_code_source *source)
{
	r->source = source;
}

const struct vpt_code_source *vpt_reader_source(const struct vpt_reader *r)
{
	return r->source;
}

void vpt_reader_watch(struct vpt_reader *r, const struct vpt_watch *watch)
{
	r->watch = watch;
}

void vpt_reader_progress(const struct vpt_reader *r, unsigned int vcpu, uint64_t offset)
{
	if (r->watch)
		r->watch->progress(r->watch->context, vcpu, offset);
}

const struct vpt_extent *vpt_reader_extent(const struct vpt_reader *r)
{
	return &r->blocks.extent;
}

unsigned int vpt_reader_version(const struct vpt_reader *r)
{
	return r->version;
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

const struct vpt_oracle_record *vpt_reader_oracle(const struct vpt_reader *r, unsigned int vcpu,
						  struct vpt_oracle_cursor *cursor)
{
	return vpt_oracle_log_next(&r->vcpu[vcpu].oracle, &r->stretches, cursor);
}

bool vpt_reader_oracle_rest(const struct vpt_reader *r, unsigned int vcpu,
			    const struct vpt_oracle_cursor *cursor, struct vpt_oracle_rest *rest)
{
	return vpt_oracle_log_rest(&r->vcpu[vcpu].oracle, &r->stretches, cursor, rest);
}

bool vpt_reader_torn(const struct vpt_reader *r)
{
	return vpt_source_torn(&r->blocks.source);
}

uint64_t vpt_reader_oracle_count(const struct vpt_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].oracle.records;
}
