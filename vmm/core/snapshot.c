// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a machine to a snapshot file. */
#include "core/snapshot.h"
#include "core/devices.h"
#include "core/irq.h"
#include "core/switch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/vcpu.h"
#include "core/vcpu_save.h"
#include "trace/crc32c.h"
#include "trace/outfile.h"
#include "trace/writer.h"

/* The most bytes of RAM or of the trace file in one block. */
#define PIECE (1u << 20)

struct out {
	FILE *file;
	uint64_t blocks;
	int error; /* the first -errno */
	const volatile int *give_up;
};

/* Returns false after an error, or if the caller gave up meanwhile. */
static bool goes_on(struct out *o)
{
	if (!o->error && o->give_up && *o->give_up)
		o->error = -ECANCELED;
	return !o->error;
}

static void put(struct out *o, const void *bytes, size_t len)
{
	if (!o->error && len && fwrite(bytes, len, 1, o->file) != 1)
		o->error = -errno;
}

static void put_block(struct out *o, enum core_snap_type type, const void *head, size_t head_len,
		      const void *body, size_t body_len)
{
	static const uint8_t zeros[8];
	size_t len = head_len + body_len;
	struct core_snap_block block = {
		.magic = CORE_SNAP_BLOCK_MAGIC,
		.type = type,
		.len = (uint32_t)len,
	};

	if (len > UINT32_MAX && !o->error)
		o->error = -EFBIG;
	block.crc = trace_crc32c(0, &block, sizeof(block));
	block.crc = trace_crc32c(block.crc, head, head_len);
	block.crc = trace_crc32c(block.crc, body, body_len);
	put(o, &block, sizeof(block));
	put(o, head, head_len);
	put(o, body, body_len);
	put(o, zeros, -len & 7);
	o->blocks++;
}

static void put_info(struct out *o, const struct core_vm *vm, const struct core_snap_origin *origin)
{
	const char *slash = strrchr(origin->guest, '/');
	struct core_snap_info info = {
		.file = *origin->file,
		.caps = vm->caps,
		.mem_bytes = vm->mem.bytes,
		.file_bytes = origin->writer ? trace_writer_file_bytes(origin->writer) : 0,
		.current = vm->current->index,
		.devices = origin->devices,
	};
	unsigned int i;

	for (i = 0; i < vm->cpus; i++) {
		info.retired += vm->cpu[i]->ev->retired;
		info.insns += vm->cpu[i]->tracer.recorder.insns;
		info.trace_bytes += vm->cpu[i]->tracer.recorder.bytes;
	}

	snprintf(info.guest, sizeof(info.guest), "%s", slash ? slash + 1 : origin->guest);
	put_block(o, CORE_SNAP_INFO, NULL, 0, &info, sizeof(info));
}

static void put_cpuid(struct out *o, const struct core_vm *vm)
{
	struct core_snap_leaf leaf[CORE_CPUID_ROOM];
	size_t i;

	for (i = 0; i < vm->cpuid_count; i++) {
		const struct engine_cpuid_entry *e = &vm->cpuid[i];

		leaf[i] = (struct core_snap_leaf){e->leaf, e->subleaf, e->by_subleaf, e->eax,
						  e->ebx,  e->ecx,     e->edx,	      0};
	}
	put_block(o, CORE_SNAP_CPUID, NULL, 0, leaf, vm->cpuid_count * sizeof(leaf[0]));
}

static bool is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, X86_PAGE_SIZE - 1);
}

static void put_ram(struct out *o, const struct x86_mem *mem)
{
	const uint64_t low = x86_mem_low(mem);
	uint64_t at = 0;

	while (at < mem->bytes && goes_on(o)) {
		const uint64_t gpa = x86_mem_gpa(at), last = at < low ? low : mem->bytes;
		uint64_t end = at;

		while (end < last && end - at < PIECE && !is_zero(mem->host + end))
			end += X86_PAGE_SIZE;
		if (end == at) {
			at += X86_PAGE_SIZE;
			continue;
		}
		put_block(o, CORE_SNAP_RAM, &gpa, sizeof(gpa), mem->host + at, end - at);
		at = end;
	}
}

static void put_engine(struct out *o, struct core_vcpu *v)
{
	size_t bytes = v->engine->save(v->ev, NULL, 0);
	void *state = calloc(1, bytes + 1);

	/* save() returns 0 if there is no memory. */
	if (!state || !bytes || v->engine->save(v->ev, state, bytes) != bytes) {
		o->error = -ENOMEM;
	} else {
		put_block(o, CORE_SNAP_ENGINE, NULL, 0, state, bytes);
	}
	free(state);
}

static void put_devices(struct out *o, struct core_vm *vm)
{
	size_t bytes = core_devices_saved_bytes(vm);
	void *state = calloc(1, bytes);

	if (state && core_devices_save(vm, state, bytes))
		put_block(o, CORE_SNAP_DEVICES, NULL, 0, state, bytes);
	else
		o->error = -ENOMEM;
	free(state);
}

/* Bytes of a disk that are not yet in a block. */
struct overlay {
	struct out *out;
	size_t len;
	uint8_t bytes[PIECE];
};

static void put_overlay(struct overlay *overlay)
{
	if (overlay->len)
		put_block(overlay->out, CORE_SNAP_OVERLAY, NULL, 0, overlay->bytes, overlay->len);
	overlay->len = 0;
}

static int keep_bytes(void *opaque, const void *bytes, size_t count)
{
	struct overlay *overlay = opaque;

	while (count) {
		const size_t room = PIECE - overlay->len, n = count < room ? count : room;

		memcpy(overlay->bytes + overlay->len, bytes, n);
		overlay->len += n;
		bytes = (const uint8_t *)bytes + n;
		count -= n;
		if (overlay->len == PIECE)
			put_overlay(overlay);
	}
	return goes_on(overlay->out) ? 0 : overlay->out->error;
}

static void put_disks(struct out *o, const struct core_snap_origin *origin)
{
	struct overlay *overlay = origin->disks ? malloc(sizeof(*overlay)) : NULL;
	unsigned int i;
	int error;

	if (origin->disks && !overlay)
		o->error = -ENOMEM;
	for (i = 0; i < origin->disks && !o->error; i++) {
		overlay->out = o;
		overlay->len = 0;
		put_block(o, CORE_SNAP_DISK, NULL, 0, &origin->disk[i], sizeof(origin->disk[i]));
		error = origin->save_disk(origin->opaque, i, keep_bytes, overlay);
		if (error && !o->error)
			o->error = error;
		put_overlay(overlay);
	}
	free(overlay);
}

static void put_vcpu(struct out *o, struct core_vcpu *v)
{
	struct tracer_state tracer;
	struct core_vcpu_state core;

	core_vcpu_save(v, &core);
	put_block(o, CORE_SNAP_VCPU, NULL, 0, &core, sizeof(core));
	tracer_save(&v->tracer, &tracer);
	put_block(o, CORE_SNAP_TRACER, NULL, 0, &tracer, sizeof(tracer));
}

static int put_content(void *opaque, const struct tracer_code_content *content,
		       const uint8_t *bytes)
{
	struct out *o = opaque;

	put_block(o, CORE_SNAP_CODE, content, sizeof(*content), bytes, X86_PAGE_SIZE);
	return o->error;
}

static void put_code(struct out *o, const struct tracer_code_pages *pages)
{
	struct tracer_code_map *maps;
	size_t count;
	int error = tracer_code_pages_contents(pages, put_content, o);

	if (!error)
		error = tracer_code_pages_maps(pages, &maps, &count);
	if (error) {
		o->error = error;
		return;
	}
	if (count)
		put_block(o, CORE_SNAP_MAPS, NULL, 0, maps, count * sizeof(*maps));
	free(maps);
}

static void put_writer(struct out *o, const struct trace_writer *w)
{
	size_t bytes = trace_writer_save(w, NULL, 0);
	void *state = malloc(bytes);

	if (state) {
		trace_writer_save(w, state, bytes);
		put_block(o, CORE_SNAP_WRITER, NULL, 0, state, bytes);
	} else {
		o->error = -ENOMEM;
	}
	free(state);
}

/* Save the current content of the trace file, which must not have grown meanwhile. */
static void put_file(struct out *o, int fd, uint64_t bytes)
{
	uint8_t *piece = malloc(PIECE);
	uint64_t at = 0;

	if (!piece)
		o->error = -ENOMEM;
	while (at < bytes && goes_on(o)) {
		size_t len = bytes - at < PIECE ? (size_t)(bytes - at) : PIECE, have = 0;

		while (have < len) {
			ssize_t n = pread(fd, piece + have, len - have, (off_t)(at + have));

			if (n <= 0) {
				o->error = n ? -errno : -EIO;
				break;
			}
			have += (size_t)n;
		}
		put_block(o, CORE_SNAP_FILE, NULL, 0, piece, have);
		at += have;
	}
	free(piece);
}

static void put_all(struct out *o, struct core_vm *vm, const struct core_snap_origin *origin,
		    int fd)
{
	const struct core_snap_header header = {
		.magic = CORE_SNAP_MAGIC,
		.version = CORE_SNAP_VERSION,
		.size = sizeof(header),
	};
	struct core_snap_end end;
	unsigned int i;

	put(o, &header, sizeof(header));
	put_info(o, vm, origin);
	if (origin->start)
		put_block(o, CORE_SNAP_START, NULL, 0, origin->start, origin->start_bytes);
	put_cpuid(o, vm);
	put_ram(o, &vm->mem);
	for (i = 0; i < vm->cpus; i++) {
		put_engine(o, vm->cpu[i]);
		put_vcpu(o, vm->cpu[i]);
		if (origin->writer)
			put_code(o, vm->cpu[i]->tracer.recorder.pages);
	}
	put_devices(o, vm);
	put_disks(o, origin);
	if (origin->writer) {
		put_writer(o, origin->writer);
		put_file(o, fd, trace_writer_file_bytes(origin->writer));
	}
	end.blocks = o->blocks + 1;
	put_block(o, CORE_SNAP_END, NULL, 0, &end, sizeof(end));
}

/*
 * Write to a duplicate of @to, because fclose() closes the descriptor, and its errors must be
 * reported.
 */
static int write_file(int to, struct core_vm *vm, const struct core_snap_origin *origin, int fd)
{
	struct out o = {.give_up = origin->give_up};
	int copy = fcntl(to, F_DUPFD_CLOEXEC, 0), error;

	if (copy < 0)
		return -errno;
	o.file = fdopen(copy, "w");
	if (!o.file) {
		error = -errno;
		close(copy);
		return error;
	}
	put_all(&o, vm, origin, fd);
	(void)goes_on(&o);
	if (fclose(o.file) && !o.error)
		o.error = -errno;
	return o.error;
}

/* Write the file, and give it its name only when it is complete. */
static int write_then_name(const char *path, struct core_vm *vm,
			   const struct core_snap_origin *origin, int fd, char *why, size_t size)
{
	struct trace_outfile o;
	int error = trace_outfile_open(&o, path, TRACE_OUTFILE_WHOLE, why, size);

	if (error)
		return error;
	error = write_file(o.fd, vm, origin, fd);
	if (error)
		trace_outfile_drop(&o);
	else
		error = trace_outfile_commit(&o);
	trace_outfile_free(&o);
	if (error)
		snprintf(why, size, "%s", strerror(-error));
	return error;
}

bool core_snapshot_has(const struct engine *engine)
{
	return engine->save && engine->load;
}

/*
 * Bring every saved part up to the current time. A host's processor can stop at places that only it
 * knows.
 */
static int hold(struct core_vm *vm)
{
	unsigned int i;

	for (i = 0; i < vm->cpus; i++)
		core_irq_advance(vm->cpu[i]);
	if (core_vcpu_counts(vm->vcpu))
		return 0;
	for (i = 0; i < vm->cpus; i++)
		if (!core_switch_is_plain(vm->cpu[i]))
			return -EAGAIN;
	(void)core_switch_hold(vm);
	for (i = 0; i < vm->cpus; i++)
		if (!vm->engine->save(vm->cpu[i]->ev, NULL, 0))
			return -EAGAIN;
	return 0;
}

int core_snapshot_save(const char *path, struct core_vm *vm, const struct core_snap_origin *origin,
		       char *why, size_t size)
{
	int fd = -1, error = 0;
	unsigned int i;

	if (!core_snapshot_has(vm->engine) || vm->threads)
		error = -ENOTSUP;
	for (i = 0; !error && i < vm->cpus; i++)
		error = vm->cpu[i]->tracer.recorder.error;
	if (!error && origin->writer)
		error = trace_writer_reread(origin->writer, &fd);
	if (!error)
		error = hold(vm);
	if (error) {
		snprintf(why, size, "%s",
			 error == -ESPIPE ? "-o is not a regular file that could be read back"
					  : strerror(-error));
	} else {
		error = write_then_name(path, vm, origin, fd, why, size);
	}
	if (fd >= 0)
		close(fd);
	return error;
}
