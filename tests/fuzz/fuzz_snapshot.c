// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a changed snapshot. It must be refused with one line, or load as a machine that can
 * be run, traced and saved again, all without harm to the host. The input is changes to a valid
 * snapshot, whose checksums are then corrected. If its first byte is zero, the input is the whole
 * file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "boot/boot.h"
#include "core/exec.h"
#include "core/snapshot.h"
#include "core/vcpu.h"
#include "fuzz/bytes.h"
#include "trace/crc32c.h"
#include "trace/writer.h"

/* Larger machines would not test more. */
#define MEM_MAX (64ull << 20)
#define INSNS	20000

static void fix_checksums(uint8_t *at, size_t size)
{
	size_t where = sizeof(struct core_snap_header);

	while (size > where && size - where >= sizeof(struct core_snap_block)) {
		struct core_snap_block block;
		size_t left = size - where - sizeof(block);

		memcpy(&block, at + where, sizeof(block));
		block.magic = CORE_SNAP_BLOCK_MAGIC;
		if (block.len > left)
			block.len = (uint32_t)left;
		block.crc = 0;
		block.crc = trace_crc32c(trace_crc32c(0, &block, sizeof(block)),
					 at + where + sizeof(block), block.len);
		memcpy(at + where, &block, sizeof(block));
		where += sizeof(block) + ((block.len + 7) & ~7u);
	}
}

/* A file that is in memory only, and its name. */
struct file {
	int fd;
	char path[32];
};

static void make(struct file *f)
{
	f->fd = memfd_create("fuzz", 0);
	REQUIRE(f->fd >= 0);
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
}

static uint64_t stop(void *opaque)
{
	core_vm_stop(opaque, TRACE_STOP_TIMEOUT, "%s", "");
	return UINT64_MAX;
}

/* Check that a loaded snapshot can be saved and loaded again. */
static void save_again(struct core_vm *vm, const struct core_snapshot *s, struct trace_writer *w)
{
	const struct core_snap_info *info = core_snapshot_info(s);
	const struct core_snap_origin origin = {
		.file = &info->file, .guest = info->guest, .writer = w};
	struct core_snapshot *again;
	struct file f;
	char why[160];

	make(&f);
	REQUIRE(!core_snapshot_save(f.path, vm, &origin, why, sizeof(why)));
	REQUIRE(!core_snapshot_open(f.path, &again, why, sizeof(why)));
	core_snapshot_close(again);
	close(f.fd);
}

/* Run the machine. Return false if it did not run. */
static bool run(struct core_vm *vm, const struct core_snapshot *s)
{
	struct trace_writer *w = NULL;
	struct file out;
	char why[160] = "";
	bool good = false;

	make(&out);
	if (!core_snapshot_trace(s, vm, core_snapshot_info(s)->file_bytes ? out.fd : -1, &w, why,
				 sizeof(why))) {
		save_again(vm, s, w);
		vm->hooks = (struct core_vm_hooks){.pause = stop, .opaque = vm};
		vm->pause_at = vm->vcpu->ev->retired + INSNS;
		core_vcpu_pause(vm->vcpu);
		core_vcpu_loop(vm->vcpu);
		good = true;
	} else {
		REQUIRE(*why && !strchr(why, '\n'));
	}
	if (w)
		trace_writer_close(w, 0);
	close(out.fd);
	return good;
}

static bool use(const struct core_snapshot *s)
{
	const struct core_snap_info *info = core_snapshot_info(s);
	struct engine_probe probe;
	struct core_vm_config config = {
		.engine = engine_find("soft"),
		.probe = &probe,
		.caps = &info->caps,
		.owner = (enum trace_owner)info->file.owner,
		.mem_bytes = info->mem_bytes,
	};
	struct core_vm vm;
	char why[160] = "";
	bool good = false;

	if (info->mem_bytes > MEM_MAX)
		return false;
	config.engine->probe(&probe, false);
	REQUIRE(!core_vm_create(&vm, &config));
	if (!core_snapshot_load(s, &vm, why, sizeof(why)))
		good = run(&vm, s);
	else
		REQUIRE(*why && !strchr(why, '\n'));
	core_vm_destroy(&vm);
	return good;
}

/* A loop of calls with some of everything in it, at 0x20000; the stack is the boot's. */
static const uint8_t code[] = {
	0xdb, 0xe3,				  /* fninit */
	0xb9, 0xe8, 3,	  0,	0,		  /* mov $1000, %ecx */
	0xe8, 0x0c, 0,	  0,	0,		  /* loop: call f */
	0xd9, 0xeb,				  /* fldpi */
	0xf2, 0x0f, 0x58, 0xc1,			  /* addsd %xmm1, %xmm0 */
	0xff, 0xc9,				  /* dec %ecx */
	0x75, 0xf1,				  /* jne loop */
	0xeb, 0xea,				  /* jmp from the start */
	0x50, 0x48, 0x89, 0x0c, 0x24, 0x58, 0xc3, /* f: push, mov to (%rsp), pop, ret */
};

enum {
	CODE = 0x20000,
	TABLE = 0x30000,
	REGION = 0x40000,
	RUN_BEFORE = 700,
};

static void start_trace(struct core_vm *vm, struct trace_writer *w, enum trace_owner owner)
{
	const uint64_t entry[2] = {REGION | 4, TABLE | 1}; /* 4 KiB with INT; END */
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(OS);
	struct vpt_caps caps = vm->caps;
	struct core_vcpu *v = vm->vcpu;

	caps.l14_0_ecx |= 1u << 3;
	REQUIRE(!core_vcpu_record(v, w, owner == TRACE_OWNER_HOST, &caps));
	ctl |= owner == TRACE_OWNER_HOST ? VPT_CTL_MASK(FABRIC_EN) : VPT_CTL_MASK(TOPA);
	REQUIRE(x86_mem_write(&vm->mem, TABLE, entry, sizeof(entry)));
	REQUIRE(!tracer_host_write(&v->tracer, VPT_MSR_OUTPUT_BASE, TABLE, CODE));
	REQUIRE(!tracer_host_write(&v->tracer, VPT_MSR_CTL, ctl, CODE));
}

/* Make a valid snapshot in the middle of a trace. The caller frees its bytes. */
static uint8_t *make_good(enum trace_owner owner, size_t *size)
{
	const struct boot_elf elf = {.entry = CODE, .end = CODE + sizeof(code)};
	const struct boot_config boot = {.seed = 1};
	struct trace_file_info info = {
		.owner = owner, .vcpus = 1, .engine = "soft", .oracle = owner == TRACE_OWNER_HOST};
	struct core_snap_origin origin = {.file = &info, .guest = "good"};
	struct engine_probe probe;
	struct core_vm_config config = {
		.engine = engine_find("soft"),
		.probe = &probe,
		.caps = vpt_caps_model("skl"),
		.owner = owner,
		.mem_bytes = 1 << 20,
	};
	struct file trace, out;
	struct core_vm vm;
	uint8_t *bytes;
	char why[256];

	config.engine->probe(&probe, false);
	REQUIRE(!core_vm_create(&vm, &config) && !boot_guest(&vm, &elf, &boot));
	REQUIRE(x86_mem_write(&vm.mem, CODE, code, sizeof(code)));
	make(&trace);
	make(&out);
	info.caps = vm.caps;
	info.caps.l14_0_ecx |= 1u << 3;
	REQUIRE(!trace_writer_open(trace.path, &info, &origin.writer));
	start_trace(&vm, origin.writer, owner);
	vm.hooks = (struct core_vm_hooks){.pause = stop, .opaque = &vm};
	vm.pause_at = RUN_BEFORE;
	core_vcpu_pause(vm.vcpu);
	/* Not core_vcpu_loop(), which would end the trace. */
	while (vm.vcpu->ev->retired < RUN_BEFORE) {
		struct engine_exit exit;

		core_observe(vm.vcpu);
		vm.vcpu->ev->budget = RUN_BEFORE - vm.vcpu->ev->retired;
		vm.engine->run(vm.vcpu->ev, false, &exit);
		core_vcpu_load(vm.vcpu);
		REQUIRE(exit.kind == ENGINE_EXIT_KICK);
	}
	REQUIRE(!core_snapshot_save(out.path, &vm, &origin, why, sizeof(why)));
	trace_writer_close(origin.writer, 0);
	core_vm_destroy(&vm);
	*size = (size_t)lseek(out.fd, 0, SEEK_END);
	bytes = malloc(*size);
	REQUIRE(bytes && pread(out.fd, bytes, *size, 0) == (ssize_t)*size);
	close(trace.fd);
	close(out.fd);
	return bytes;
}

/* Return the offset of the next block. The first block follows the last. */
static size_t next_of(const uint8_t *at, size_t size, size_t where)
{
	struct core_snap_block block;

	memcpy(&block, at + where, sizeof(block));
	where += sizeof(block) + ((block.len + 7) & ~7u);
	return where < size ? where : sizeof(struct core_snap_header);
}

/* The payload of a block. */
static uint8_t *block_of(uint8_t *at, size_t size, unsigned int n, uint32_t *len)
{
	size_t where = sizeof(struct core_snap_header);
	struct core_snap_block block;

	while (n--)
		where = next_of(at, size, where);
	memcpy(&block, at + where, sizeof(block));
	*len = block.len;
	return at + where + sizeof(block);
}

/* Apply changes, each a block number, an offset (three bytes), a length and bytes. */
static void change(uint8_t *at, size_t size, struct input *in)
{
	while (in->left >= 5) {
		uint32_t len;
		uint8_t *payload = block_of(at, size, (unsigned int)take(in, 1), &len);
		size_t offset = take(in, 3) % len, n = take(in, 1) % 16 + 1;
		const uint8_t *bytes;

		if (n > len - offset)
			n = len - offset;
		bytes = some(in, &n);
		memcpy(payload + offset, bytes, n);
	}
}

/* Build the snapshot that the input describes. */
static uint8_t *build(const uint8_t *data, size_t *size)
{
	static uint8_t *good[2];
	static size_t good_size[2];
	unsigned int which = data[0] & 1;
	struct input in = {data + 1, *size - 1};
	uint8_t *copy;

	if (!good[0]) {
		good[0] = make_good(TRACE_OWNER_GUEST, &good_size[0]);
		good[1] = make_good(TRACE_OWNER_HOST, &good_size[1]);
	}
	if (!data[0]) {
		--*size;
		copy = malloc(*size + 1);
		REQUIRE(copy);
		memcpy(copy, data + 1, *size);
		fix_checksums(copy, *size);
		return copy;
	}
	copy = malloc(good_size[which]);
	REQUIRE(copy);
	memcpy(copy, good[which], good_size[which]);
	change(copy, good_size[which], &in);
	*size = good_size[which];
	fix_checksums(copy, *size);
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool is_good = size == 1 && data[0];
	struct core_snapshot *s;
	struct file in;
	uint8_t *copy;
	char why[160] = "";

	if (!size)
		return 0;
	copy = build(data, &size);
	make(&in);
	REQUIRE(write(in.fd, copy, size) == (ssize_t)size);
	free(copy);
	if (!core_snapshot_open(in.path, &s, why, sizeof(why))) {
		REQUIRE(use(s) || !is_good);
		core_snapshot_close(s);
	} else {
		REQUIRE(*why && !strchr(why, '\n') && !is_good);
	}
	close(in.fd);
	return 0;
}
