// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Load a machine from a snapshot file, which is not trusted. The whole file is checked before any
 * part is loaded, and each part of the machine checks its own block.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/devices.h"
#include "core/model.h"
#include "core/snapshot.h"
#include "core/switch.h"
#include "core/vcpu.h"
#include "core/vcpu_save.h"
#include "trace/arena.h"
#include "trace/crc32c.h"
#include "trace/source.h"
#include "trace/vec.h"
#include "trace/writer.h"

/* A limit of the instruction count that no run can reach. */
#define MOST (1ull << 62)
/* The limits of vpt run. */
#define MIN_MEM (1ull << 20)
#define MAX_MEM (1ull << 35)
/* The bytes of a payload that are read at a time. */
#define PIECE 65536u
/* Longer payloads are checked before memory is allocated for them. */
#define LARGE (4u << 20)

struct block {
	enum core_snap_type type;
	uint32_t len, crc;
	uint64_t at;	      /* the header's offset in the file */
	const uint8_t *bytes; /* a copy of the payload; NULL: the payload is read piece by piece */
};

struct core_snapshot {
	struct trace_source *source;
	struct trace_arena arena;
	struct core_snap_info info;
	struct {
		struct block *at;
		size_t n, room;
	} blocks;
};

/* The buffer of an error message. */
struct why {
	char *text;
	size_t size;
};

static int complain(const struct why *why, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int complain(const struct why *why, int error, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, why->size, fmt, args);
	va_end(args);
	return error;
}

static int no_memory(const struct why *why)
{
	return complain(why, -ENOMEM, "no memory");
}

/* The name of each type, whether there must be exactly one block, and its length. 0: any length. */
static const struct {
	const char *name;
	bool once;
	uint32_t len;
} types[CORE_SNAP_TYPES] = {
	[CORE_SNAP_INFO] = {"info", true, sizeof(struct core_snap_info)},
	[CORE_SNAP_START] = {"start", false, 0},
	[CORE_SNAP_CPUID] = {"CPUID", true, 0},
	[CORE_SNAP_RAM] = {"RAM", false, 0},
	[CORE_SNAP_ENGINE] = {"engine", false, 0},
	[CORE_SNAP_VCPU] = {"vCPU", false, sizeof(struct core_vcpu_state)},
	[CORE_SNAP_DEVICES] = {"devices", true, 0},
	[CORE_SNAP_TRACER] = {"tracer", false, sizeof(struct tracer_state)},
	[CORE_SNAP_CODE] = {"code", false, sizeof(struct tracer_code_content) + X86_PAGE_SIZE},
	[CORE_SNAP_MAPS] = {"mappings", false, 0},
	[CORE_SNAP_DISK] = {"disk", false, sizeof(struct core_snap_disk)},
	[CORE_SNAP_OVERLAY] = {"overlay", false, 0},
	[CORE_SNAP_WRITER] = {"writer", true, 0},
	[CORE_SNAP_FILE] = {"trace file", false, 0},
	[CORE_SNAP_END] = {"end", true, sizeof(struct core_snap_end)},
};

/* Read part of the file. A file that has become shorter meanwhile is reported as cut. */
static int read_at(const struct core_snapshot *s, uint64_t at, void *to, size_t len,
		   const struct why *why)
{
	int error = trace_source_read(s->source, at, to, len);

	if (error == -ENODATA)
		return complain(why, -EINVAL, "cut at byte %llu", (unsigned long long)at);
	return error ? complain(why, error, "%s", strerror(-error)) : 0;
}

static int check_header(const struct core_snapshot *s, const struct why *why)
{
	struct core_snap_header header;
	uint64_t magic = CORE_SNAP_MAGIC;

	if (s->source->size >= sizeof(magic) && read_at(s, 0, &magic, sizeof(magic), why))
		return -EINVAL;
	if (magic != CORE_SNAP_MAGIC)
		return complain(why, -EINVAL, "not a snapshot");
	if (s->source->size < sizeof(header))
		return complain(why, -EINVAL, "too short for a snapshot");
	if (read_at(s, 0, &header, sizeof(header), why))
		return -EINVAL;
	if (header.version != CORE_SNAP_VERSION)
		return complain(why, -EINVAL, "version %u, this vpt reads %u", header.version,
				CORE_SNAP_VERSION);
	if (header.size != sizeof(header))
		return complain(why, -EINVAL, "damaged at byte 12: header");
	return 0;
}

/* Returns true if these bytes, which the checksum does not cover, are zeros. */
static bool is_padding(const uint8_t *at, size_t len)
{
	while (len--)
		if (at[len])
			return false;
	return true;
}

/* Receives the piece of a payload at @offset. Returns 0 or -errno. */
typedef int (*piece_fn)(void *opaque, uint64_t offset, const uint8_t *bytes, size_t len);

/*
 * Pass a payload to @put piece by piece, and check the payload. @put may be NULL. Every pass checks
 * again, against the header that was read first, because the file may change meanwhile. Returns 0,
 * -EINVAL, or an error of @put.
 */
static int each_piece(const struct core_snapshot *s, const struct block *b, piece_fn put,
		      void *opaque, const struct why *why)
{
	const struct core_snap_block head = {CORE_SNAP_BLOCK_MAGIC, b->type, b->len, 0};
	uint32_t crc = trace_crc32c(0, &head, sizeof(head)), done = 0;
	uint8_t bytes[PIECE];
	int error;

	while (done < b->len) {
		const uint32_t n = b->len - done < PIECE ? b->len - done : PIECE;

		error = read_at(s, b->at + sizeof(head) + done, bytes, n, why);
		if (!error && put)
			error = put(opaque, done, bytes, n);
		if (error)
			return error;
		crc = trace_crc32c(crc, bytes, n);
		done += n;
	}
	error = read_at(s, b->at + sizeof(head) + done, bytes, -done & 7, why);
	if (!error && (crc != b->crc || !is_padding(bytes, -done & 7)))
		return complain(why, -EINVAL, "damaged at byte %llu: checksum",
				(unsigned long long)b->at);
	return error;
}

static int keep_piece(void *to, uint64_t offset, const uint8_t *bytes, size_t len)
{
	memcpy((uint8_t *)to + offset, bytes, len);
	return 0;
}

/* Check a payload and copy it to memory, unless it is RAM or a trace of any size. */
static int load_block(struct core_snapshot *s, struct block *b, const struct why *why)
{
	int error = 0;
	void *copy;

	if (b->type == CORE_SNAP_RAM || b->type == CORE_SNAP_FILE || b->type == CORE_SNAP_OVERLAY)
		return each_piece(s, b, NULL, NULL, why);
	if (b->len > LARGE)
		error = each_piece(s, b, NULL, NULL, why);
	if (error)
		return error;
	copy = trace_arena_alloc(&s->arena, b->len);
	if (!copy)
		return no_memory(why);
	b->bytes = copy;
	return each_piece(s, b, keep_piece, copy, why);
}

/* Read the block at *where, and advance *where to the next block. */
static int next_block(struct core_snapshot *s, uint64_t *where, const struct why *why)
{
	const uint64_t at = *where, left = s->source->size - at;
	struct core_snap_block block;
	struct block b;
	int error;

	if (left < sizeof(block))
		return complain(why, -EINVAL, "cut at byte %llu: no end block",
				(unsigned long long)at);
	error = read_at(s, at, &block, sizeof(block), why);
	if (error)
		return error;
	if (block.magic != CORE_SNAP_BLOCK_MAGIC)
		return complain(why, -EINVAL, "damaged at byte %llu: no block",
				(unsigned long long)at);
	*where += sizeof(block) + (((uint64_t)block.len + 7) & ~7ull);
	if (*where - at > left)
		return complain(why, -EINVAL, "cut at byte %llu: a block is longer than the file",
				(unsigned long long)at + sizeof(block));
	b = (struct block){(enum core_snap_type)block.type, block.len, block.crc, at, NULL};
	error = load_block(s, &b, why);
	if (error)
		return error;
	if (!block.type || block.type >= CORE_SNAP_TYPES)
		return complain(why, -EINVAL, "damaged at byte %llu: block of type %u",
				(unsigned long long)at, block.type);
	if (types[block.type].len && types[block.type].len != block.len)
		return complain(why, -EINVAL, "damaged at byte %llu: length of %s",
				(unsigned long long)at, types[block.type].name);
	if (!trace_vec_room(&s->blocks))
		return no_memory(why);
	s->blocks.at[s->blocks.n++] = b;
	return 0;
}

/* The position of a type in the file, and of the types of a vCPU within its group. */
static const struct place {
	unsigned int rank, in_group;
} places[CORE_SNAP_TYPES] = {
	[CORE_SNAP_INFO] = {1, 0},    [CORE_SNAP_START] = {2, 0},  [CORE_SNAP_CPUID] = {3, 0},
	[CORE_SNAP_RAM] = {4, 0},     [CORE_SNAP_ENGINE] = {5, 1}, [CORE_SNAP_VCPU] = {5, 2},
	[CORE_SNAP_TRACER] = {5, 3},  [CORE_SNAP_CODE] = {5, 4},   [CORE_SNAP_MAPS] = {5, 5},
	[CORE_SNAP_DEVICES] = {6, 0}, [CORE_SNAP_DISK] = {7, 0},   [CORE_SNAP_OVERLAY] = {7, 0},
	[CORE_SNAP_WRITER] = {8, 0},  [CORE_SNAP_FILE] = {9, 0},   [CORE_SNAP_END] = {10, 0},
};

/*
 * Returns true if a block may follow another one. Each of ENGINE, VCPU and TRACER follows the one
 * before it, and ENGINE begins the group of a vCPU.
 */
static bool follows(enum core_snap_type type, enum core_snap_type last)
{
	const struct place *p = &places[type], *before = &places[last];

	if (type == CORE_SNAP_VCPU || type == CORE_SNAP_TRACER)
		return p->in_group == before->in_group + 1;
	if (before->in_group && before->in_group < places[CORE_SNAP_TRACER].in_group)
		return false;
	if (type == CORE_SNAP_ENGINE)
		return p->rank >= before->rank;
	/* The first overlay follows a disk. */
	if (type == CORE_SNAP_OVERLAY)
		return p->rank == before->rank;
	if (p->in_group)
		return before->in_group && p->in_group >= before->in_group;
	return p->rank >= before->rank;
}

/* Check that the blocks are in order, and that none is missing. */
static int check_order(const struct core_snapshot *s, const struct why *why)
{
	const struct block *last = &s->blocks.at[s->blocks.n - 1];
	const bool has_file = core_snapshot_count(s, CORE_SNAP_WRITER, NULL);
	struct core_snap_end end;
	unsigned int type;
	size_t i;

	for (i = 1; i < s->blocks.n; i++)
		if (!follows(s->blocks.at[i].type, s->blocks.at[i - 1].type))
			return complain(why, -EINVAL, "blocks are out of order");
	for (type = 1; type < CORE_SNAP_TYPES; type++) {
		size_t n = core_snapshot_count(s, (enum core_snap_type)type, NULL);

		if ((types[type].once && n != 1 && !(type == CORE_SNAP_WRITER && !n)) ||
		    (type == CORE_SNAP_START && n > 1))
			return complain(why, -EINVAL, "%zu blocks of %s", n, types[type].name);
	}
	if (!has_file && (core_snapshot_count(s, CORE_SNAP_CODE, NULL) ||
			  core_snapshot_count(s, CORE_SNAP_MAPS, NULL) ||
			  core_snapshot_count(s, CORE_SNAP_FILE, NULL)))
		return complain(why, -EINVAL, "part of a trace file, without its writer");
	memcpy(&end, last->bytes, sizeof(end));
	if (end.blocks != s->blocks.n)
		return complain(why, -EINVAL, "blocks are missing");
	return 0;
}

static int check_blocks(struct core_snapshot *s, const struct why *why)
{
	uint64_t where = sizeof(struct core_snap_header);
	int error;

	do {
		error = next_block(s, &where, why);
		if (error)
			return error;
	} while (s->blocks.at[s->blocks.n - 1].type != CORE_SNAP_END);
	if (where != s->source->size)
		return complain(why, -EINVAL, "damaged at byte %llu: more after the end",
				(unsigned long long)where);
	return check_order(s, why);
}

static bool is_string(const char *text, size_t size)
{
	return memchr(text, 0, size);
}

/*
 * Returns NULL if the processor can exist, else the reason. The name alone determines a processor
 * with RTIT.
 */
static const char *wrong_processor(const struct core_snap_info *info, const struct vpt_caps *caps)
{
	struct core_model model;
	const char *what = NULL;

	if (!(info->file.flags & TRACE_INFO_ATOM))
		return vpt_caps_check(caps, &what) == VPT_OK ? NULL : what;
	if (!core_model_find(info->file.model, &model) || model.system != TRACER_SYSTEM_ATOM)
		return "none of this name has RTIT";
	return memcmp(caps, &model.caps, sizeof(*caps)) ? "not as its name says" : NULL;
}

static int check_info(struct core_snapshot *s, const struct why *why)
{
	const struct core_snap_info *info = &s->info;
	const char *what;
	uint64_t file_bytes;

	memcpy(&s->info, s->blocks.at[0].bytes, sizeof(s->info));
	core_snapshot_count(s, CORE_SNAP_FILE, &file_bytes);
	if (!is_string(info->guest, sizeof(info->guest)) ||
	    !is_string(info->file.model, sizeof(info->file.model)) ||
	    !is_string(info->file.engine, sizeof(info->file.engine)))
		return complain(why, -EINVAL, "a name has no end");
	what = wrong_processor(info, &info->caps);
	if (!what)
		what = wrong_processor(info, &info->file.caps);
	if (what)
		return complain(why, -EINVAL, "no such processor: %s", what);
	if (info->file.vcpus != core_snapshot_count(s, CORE_SNAP_ENGINE, NULL) ||
	    info->file.vcpus < 1 || info->file.vcpus > DEV_PLATFORM_CPUS ||
	    info->current >= info->file.vcpus || info->devices & ~CORE_SNAP_ALL_DEVICES ||
	    info->file.owner > TRACE_OWNER_HOST || info->file.oracle > 1)
		return complain(why, -EINVAL, "no such machine");
	if (info->mem_bytes < MIN_MEM || info->mem_bytes > MAX_MEM ||
	    info->mem_bytes % X86_PAGE_SIZE)
		return complain(why, -EINVAL, "no machine has %llu bytes of memory",
				(unsigned long long)info->mem_bytes);
	if (info->retired > MOST || info->file_bytes != file_bytes ||
	    !file_bytes != !core_snapshot_count(s, CORE_SNAP_WRITER, NULL))
		return complain(why, -EINVAL, "counts that cannot be");
	return 0;
}

static int open_source(struct core_snapshot *s, const char *path, const struct why *why)
{
	static const uint64_t magic = CORE_SNAP_MAGIC;
	int error;

	s->source = malloc(sizeof(*s->source));
	if (!s->source)
		return no_memory(why);
	error = trace_source_open(s->source, path, &magic, sizeof(magic));
	if (error == -EFBIG)
		return complain(why, error, "a pipe or a device may have 1 GiB: give a file");
	return error ? complain(why, error, "%s", strerror(-error)) : 0;
}

int core_snapshot_open(const char *path, struct core_snapshot **snapshot, char *text, size_t size)
{
	const struct why why = {text, size};
	struct core_snapshot *s = calloc(1, sizeof(*s));
	int error;

	if (!s)
		return no_memory(&why);
	error = open_source(s, path, &why);
	if (!error)
		error = check_header(s, &why);
	if (!error)
		error = check_blocks(s, &why);
	if (!error)
		error = check_info(s, &why);
	if (error)
		core_snapshot_close(s);
	else
		*snapshot = s;
	return error;
}

void core_snapshot_close(struct core_snapshot *s)
{
	if (!s)
		return;
	if (s->source)
		trace_source_close(s->source);
	free(s->source);
	trace_arena_free(&s->arena);
	free(s->blocks.at);
	free(s);
}

const struct core_snap_info *core_snapshot_info(const struct core_snapshot *s)
{
	return &s->info;
}

size_t core_snapshot_count(const struct core_snapshot *s, enum core_snap_type type, uint64_t *bytes)
{
	uint64_t sum = 0;
	size_t n = 0, i;

	for (i = 0; i < s->blocks.n; i++)
		if (s->blocks.at[i].type == type) {
			sum += s->blocks.at[i].len;
			n++;
		}
	if (bytes)
		*bytes = sum;
	return n;
}

/* Returns the block of a type that `n` others precede. */
static const struct block *nth(const struct core_snapshot *s, enum core_snap_type type,
			       unsigned int n)
{
	size_t i = 0;

	while (s->blocks.at[i].type != type || n--)
		i++;
	return &s->blocks.at[i];
}

/* Returns the only block of a type. */
static const struct block *the(const struct core_snapshot *s, enum core_snap_type type)
{
	return nth(s, type, 0);
}

bool core_snapshot_cpuid(const struct core_snapshot *s, struct engine_cpuid_entry *entries,
			 size_t *count)
{
	const struct block *b = the(s, CORE_SNAP_CPUID);
	const size_t n = b->len / sizeof(struct core_snap_leaf);
	size_t i;

	if (n > *count || b->len % sizeof(struct core_snap_leaf))
		return false;
	for (i = 0; i < n; i++) {
		struct core_snap_leaf l;

		memcpy(&l, b->bytes + i * sizeof(l), sizeof(l));
		entries[i] = (struct engine_cpuid_entry){l.leaf, l.subleaf, l.by_subleaf, l.eax,
							 l.ebx,	 l.ecx,	    l.edx};
	}
	*count = n;
	return true;
}

/* Check that the VM has the snapshot's CPUID, because the guest may already have read it. */
static int check_cpuid(const struct core_snapshot *s, const struct core_vm *vm,
		       const struct why *why)
{
	const struct block *b = the(s, CORE_SNAP_CPUID);
	size_t i;

	if (b->len != vm->cpuid_count * sizeof(struct core_snap_leaf))
		return complain(why, -EINVAL, "its processor has other CPUID leaves than here");
	for (i = 0; i < vm->cpuid_count; i++) {
		const struct engine_cpuid_entry *e = &vm->cpuid[i];
		struct core_snap_leaf l;

		memcpy(&l, b->bytes + i * sizeof(l), sizeof(l));
		if (l.leaf != e->leaf || l.subleaf != e->subleaf || l.by_subleaf != e->by_subleaf ||
		    l.eax != e->eax || l.ebx != e->ebx || l.ecx != e->ecx || l.edx != e->edx)
			return complain(why, -EINVAL,
					"its processor is not like this machine's: CPUID leaf %#x, "
					"%u",
					e->leaf, e->subleaf);
	}
	return 0;
}

struct ram {
	const struct x86_mem *mem;
	uint64_t gpa;
};

/* Copy a piece of a RAM block, which is an address and then pages. */
static int put_ram(void *opaque, uint64_t offset, const uint8_t *bytes, size_t len)
{
	const struct ram *ram = opaque;
	const size_t skip = offset ? 0 : sizeof(ram->gpa);

	return x86_mem_write(ram->mem, ram->gpa + offset + skip - sizeof(ram->gpa), bytes + skip,
			     len - skip)
		       ? 0
		       : -EINVAL;
}

static int load_pages(const struct core_snapshot *s, const struct x86_mem *mem,
		      const struct block *b, const struct why *why)
{
	struct ram ram = {.mem = mem};
	uint64_t len;
	int error;

	if (b->len < sizeof(ram.gpa))
		return complain(why, -EINVAL, "RAM without an address");
	len = b->len - sizeof(ram.gpa);
	error = read_at(s, b->at + sizeof(struct core_snap_block), &ram.gpa, sizeof(ram.gpa), why);
	if (error)
		return error;
	if (len % X86_PAGE_SIZE || ram.gpa % X86_PAGE_SIZE || !x86_mem_at(mem, ram.gpa, len))
		return complain(why, -EINVAL, "RAM at %#llx: not pages of %llu bytes",
				(unsigned long long)ram.gpa, (unsigned long long)mem->bytes);
	return each_piece(s, b, put_ram, &ram, why);
}

static int load_ram(const struct core_snapshot *s, const struct x86_mem *mem, const struct why *why)
{
	int error = 0;
	size_t i;

	for (i = 0; i < s->blocks.n && !error; i++)
		if (s->blocks.at[i].type == CORE_SNAP_RAM)
			error = load_pages(s, mem, &s->blocks.at[i], why);
	return error;
}

static int load_vcpu(const struct core_snapshot *s, struct core_vcpu *v, const struct why *why)
{
	const struct block *b = nth(s, CORE_SNAP_ENGINE, v->index);
	struct core_vcpu_state state;
	int error = v->engine->load(v->ev, b->bytes, b->len);

	if (error == -EAGAIN)
		return complain(why, error,
				"engine %s: the TSC of this host is less than the guest's, and "
				"its KVM takes no offset: use --engine=soft",
				v->engine->name);
	if (error)
		return complain(why, error == -ENOMEM ? error : -EINVAL,
				"engine %s: not a state of its processor", v->engine->name);
	memcpy(&state, nth(s, CORE_SNAP_VCPU, v->index)->bytes, sizeof(state));
	if (v->ev->retired > MOST || !core_vcpu_restore(v, &state))
		return complain(why, -EINVAL, "not a state of a vCPU");
	return 0;
}

static int load_vcpus(const struct core_snapshot *s, struct core_vm *vm, const struct why *why)
{
	const struct block *b = the(s, CORE_SNAP_DEVICES);
	uint64_t retired = 0;
	unsigned int i;
	int error = 0;

	for (i = 0; !error && i < vm->cpus; i++) {
		error = load_vcpu(s, vm->cpu[i], why);
		retired += vm->cpu[i]->ev->retired;
	}
	if (error)
		return error;
	if (retired != s->info.retired)
		return complain(why, -EINVAL, "not a state of a vCPU");
	if (vm->cpus > 1 && !core_vcpu_counts(vm->vcpu) && core_switch_align(vm))
		return complain(why, -EINVAL, "the TSCs of the vCPUs cannot continue together");
	if (!core_devices_load(vm, b->bytes, b->len))
		return complain(why, -EINVAL, "not a state of the devices");
	vm->current = vm->cpu[s->info.current];
	return 0;
}

int core_snapshot_load(const struct core_snapshot *s, struct core_vm *vm, char *text, size_t size)
{
	const struct why why = {text, size};
	int error;

	if (!core_snapshot_has(vm->engine))
		return complain(&why, -ENOTSUP, "engine %s has no snapshots", vm->engine->name);
	error = check_cpuid(s, vm, &why);
	if (!error)
		error = load_ram(s, &vm->mem, &why);
	return error ? error : load_vcpus(s, vm, &why);
}

const void *core_snapshot_start(const struct core_snapshot *s, size_t *bytes)
{
	const struct block *b =
		core_snapshot_count(s, CORE_SNAP_START, NULL) ? nth(s, CORE_SNAP_START, 0) : NULL;

	*bytes = b ? b->len : 0;
	return b ? b->bytes : NULL;
}

bool core_snapshot_disk(const struct core_snapshot *s, unsigned int i, struct core_snap_disk *disk)
{
	if (i >= core_snapshot_count(s, CORE_SNAP_DISK, NULL))
		return false;
	memcpy(disk, nth(s, CORE_SNAP_DISK, i)->bytes, sizeof(*disk));
	return is_string(disk->name, sizeof(disk->name));
}

void core_snapshot_disk_begin(const struct core_snapshot *s, unsigned int i,
			      struct core_snapshot_cursor *cursor)
{
	*cursor = (struct core_snapshot_cursor){
		.s = s, .block = (size_t)(nth(s, CORE_SNAP_DISK, i) - s->blocks.at) + 1};
}

/* Returns the block at the cursor, or NULL behind the last of the disk. */
static const struct block *overlay_at(const struct core_snapshot_cursor *cursor)
{
	const struct block *b = &cursor->s->blocks.at[cursor->block];

	return b->type == CORE_SNAP_OVERLAY ? b : NULL;
}

/* Read the block at the cursor, if that has not been done. */
static int fill(struct core_snapshot_cursor *cursor, const struct block *b)
{
	char text[80];
	const struct why why = {text, sizeof(text)};

	if (cursor->bytes)
		return 0;
	cursor->bytes = malloc(b->len ? b->len : 1);
	return cursor->bytes ? each_piece(cursor->s, b, keep_piece, cursor->bytes, &why) : -ENOMEM;
}

int core_snapshot_get(void *opaque, void *to, size_t count)
{
	struct core_snapshot_cursor *cursor = opaque;
	uint8_t *at = to;

	while (count) {
		const struct block *b = overlay_at(cursor);
		int error = b ? fill(cursor, b) : -EINVAL;
		size_t n;

		if (error)
			return error;
		n = b->len - cursor->at < count ? b->len - cursor->at : count;
		memcpy(at, cursor->bytes + cursor->at, n);
		at += n;
		count -= n;
		cursor->at += (uint32_t)n;
		if (cursor->at < b->len)
			continue;
		free(cursor->bytes);
		cursor->bytes = NULL;
		cursor->at = 0;
		cursor->block++;
	}
	return 0;
}

bool core_snapshot_disk_end(struct core_snapshot_cursor *cursor)
{
	const bool ended = !cursor->at && !overlay_at(cursor);

	free(cursor->bytes);
	cursor->bytes = NULL;
	return ended;
}

static int put_file(void *writer, uint64_t offset, const uint8_t *bytes, size_t len)
{
	(void)offset;
	return trace_writer_refill(writer, bytes, len);
}

static int refill(const struct core_snapshot *s, struct trace_writer *w, const struct why *why)
{
	int error = 0;
	size_t i;

	for (i = 0; !error && i < s->blocks.n; i++)
		if (s->blocks.at[i].type == CORE_SNAP_FILE)
			error = each_piece(s, &s->blocks.at[i], put_file, w, why);
	return error;
}

static int open_writer(const struct core_snapshot *s, int fd, struct trace_writer **writer,
		       const struct why *why)
{
	const struct block *b;
	uint64_t file_bytes;
	int error;

	if (!s->info.file_bytes)
		return complain(why, -EINVAL, "nothing was recorded when it was made");
	b = the(s, CORE_SNAP_WRITER);
	error = trace_writer_resume(fd, b->bytes, b->len, &file_bytes, writer);
	if (error == -EINVAL)
		return complain(why, error, "not a state of a trace file");
	if (error)
		return complain(why, error, "%s", strerror(-error));
	if (file_bytes != s->info.file_bytes)
		return complain(why, -EINVAL, "not all of its trace file");
	error = refill(s, *writer, why);
	/* -EINVAL is a damaged snapshot, which each_piece() has already described. */
	return error && error != -EINVAL ? complain(why, error, "%s", strerror(-error)) : error;
}

static int load_content(const struct block *b, struct tracer_code_pages *pages)
{
	struct tracer_code_content content;

	memcpy(&content, b->bytes, sizeof(content));
	return tracer_code_pages_add(pages, &content, b->bytes + sizeof(content));
}

static int load_maps(const struct block *b, struct tracer_code_pages *pages)
{
	struct tracer_code_map map;
	uint32_t at;
	int error = 0;

	if (b->len % sizeof(map))
		return -EINVAL;
	for (at = 0; at < b->len && !error; at += sizeof(map)) {
		memcpy(&map, b->bytes + at, sizeof(map));
		error = tracer_code_pages_add_map(pages, &map);
	}
	return error;
}

/* Load the blocks behind a vCPU's TRACER block. */
static int load_code(const struct core_snapshot *s, const struct core_vcpu *v,
		     const struct why *why)
{
	struct tracer_code_pages *pages = v->tracer.recorder.pages;
	const struct block *b = nth(s, CORE_SNAP_TRACER, v->index);
	int error = 0;

	for (b++; !error && places[b->type].in_group > 1; b++) {
		if (b->type == CORE_SNAP_CODE)
			error = load_content(b, pages);
		else if (b->type == CORE_SNAP_MAPS)
			error = load_maps(b, pages);
	}
	if (error == -ENOMEM)
		return no_memory(why);
	return error ? complain(why, error, "not the code of a trace file") : 0;
}

static int load_tracer(const struct core_snapshot *s, struct core_vcpu *v,
		       struct trace_writer *writer, const struct why *why)
{
	struct tracer_state state;
	int error = 0;

	if (core_vcpu_record(v, writer, writer && s->info.file.oracle ? TRACER_CONFIG_ORACLE : 0,
			     &s->info.file.caps))
		return no_memory(why);
	if (writer)
		error = load_code(s, v, why);
	if (error)
		return error;
	memcpy(&state, nth(s, CORE_SNAP_TRACER, v->index)->bytes, sizeof(state));
	if (tracer_load(&v->tracer, &state))
		return complain(why, -EINVAL, "not a state of PT");
	return 0;
}

int core_snapshot_trace(const struct core_snapshot *s, struct core_vm *vm, int fd,
			struct trace_writer **writer, char *text, size_t size)
{
	const struct why why = {text, size};
	uint64_t insns = 0, bytes = 0;
	unsigned int i;
	int error = 0;

	*writer = NULL;
	if (fd >= 0)
		error = open_writer(s, fd, writer, &why);
	for (i = 0; !error && i < vm->cpus; i++) {
		error = load_tracer(s, vm->cpu[i], *writer, &why);
		insns += vm->cpu[i]->tracer.recorder.insns;
		bytes += vm->cpu[i]->tracer.recorder.bytes;
	}
	if (!error && (insns != s->info.insns || bytes != s->info.trace_bytes))
		return complain(&why, -EINVAL, "not a state of PT");
	return error;
}
