// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt record: writes address spaces and code after the trace is in the file. */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/seen.h"
#include "trace/reader.h"
#include "trace/vec.h"

/* No machine has memory at this address, and no CR3 has it. The first id is the kernel's. */
#define FIRST_ID 0x000f000000000000ull

/* The link address of the kernel. phys_base is the offset of its load address. */
#define KERNEL_MAP 0xffffffff80000000ull

struct out {
	struct cli_record_host *host;
	struct trace_writer *writer;
	struct host_seen seen;
	struct {
		struct trace_space *at;
		size_t n, room;
	} spaces;
	struct {
		uint64_t *at;
		size_t n, room;
	} vmcs;
	uint64_t kernel_cr3, next_id;
};

static int scan_maps(struct out *o, const char *path)
{
	struct trace_reader *reader;
	unsigned int vcpu, vcpus;
	char why[256];
	int err = trace_reader_open_as(path, TRACE_READER_NO_ORACLE, &reader, why, sizeof(why));

	if (err)
		return err;
	vcpus = trace_reader_info(reader)->vcpus;
	for (vcpu = 0; vcpu < vcpus && !err; vcpu++) {
		size_t len;
		const uint8_t *bytes = trace_reader_stream(reader, vcpu, &len);

		err = bytes ? host_seen_stream(&o->seen, vcpu, bytes, len) : -ENOMEM;
	}
	trace_reader_close(reader);
	return err;
}

static uint64_t find_kernel_cr3(const struct cli_record_host *h)
{
	uint64_t base = 0;

	if (!h->syms.init_top_pgt ||
	    (h->syms.phys_base &&
	     h->memory.read(h->memory.from, h->syms.phys_base, &base, sizeof(base))))
		return 0;
	return (h->syms.init_top_pgt - KERNEL_MAP + base) & TRACE_SPACE_ID_MASK;
}

static int add_space(struct out *o, const struct trace_space *space)
{
	if (!trace_vec_room(&o->spaces))
		return -ENOMEM;
	o->spaces.at[o->spaces.n++] = *space;
	return 0;
}

static const struct trace_space *known(const struct out *o, const struct trace_space *key)
{
	size_t i;

	for (i = 0; i < o->spaces.n; i++) {
		const struct trace_space *s = &o->spaces.at[i];

		if (s->cr3 == key->cr3 && s->vmcs == key->vmcs &&
		    (s->flags & TRACE_SPACE_NON_ROOT) == (key->flags & TRACE_SPACE_NON_ROOT))
			return s;
	}
	return NULL;
}

static struct trace_space key_of(const struct host_seen_space *s)
{
	return (struct trace_space){
		/*
		 * A host with PCIDs has them in the low bits. A host with PAE paging is not
		 * supported here.
		 */
		.cr3 = s->non_root ? s->cr3 : s->cr3 & TRACE_SPACE_ID_MASK,
		.vmcs = s->vmcs,
		.flags = s->non_root ? TRACE_SPACE_NON_ROOT : 0,
		.vm = TRACE_SPACE_NO_VM,
	};
}

/* Number VMs in the order of their VMCSs, because nothing shows which VMCSs belong to one VM. */
static int number_guest(struct out *o, struct trace_space *space)
{
	size_t i;

	if (space->vmcs == TRACE_SPACE_ANY_VMCS)
		return 0;
	for (i = 0; i < o->vmcs.n && o->vmcs.at[i] != space->vmcs; i++)
		;
	if (i == o->vmcs.n) {
		if (!trace_vec_room(&o->vmcs))
			return -ENOMEM;
		o->vmcs.at[o->vmcs.n++] = space->vmcs;
	}
	space->vm = (uint32_t)i;
	return 0;
}

static uint64_t new_id(struct out *o)
{
	return o->next_id += TRACE_CODE_BYTES;
}

/* Both page tables of a PTI pair are one space and have one id. */
static uint64_t id_of(struct out *o, const struct host_proc *proc)
{
	size_t i;

	for (i = 0; i < o->spaces.n; i++) {
		const struct trace_space *s = &o->spaces.at[i];

		if (!(s->flags & TRACE_SPACE_NON_ROOT) && s->pid == proc->task.pid &&
		    host_procs_find(&o->host->procs, s->cr3) == proc)
			return s->id;
	}
	return new_id(o);
}

static int make_space(struct out *o, const struct host_seen_space *seen)
{
	struct trace_space space = key_of(seen);
	const struct host_proc *proc;

	if (known(o, &space))
		return 0;
	if (seen->non_root) {
		space.id = new_id(o);
		space.flags |= TRACE_SPACE_NO_CODE;
		return number_guest(o, &space) ? -ENOMEM : add_space(o, &space);
	}
	proc = host_procs_find(&o->host->procs, space.cr3);
	if (o->kernel_cr3 && space.cr3 == o->kernel_cr3 + TRACE_CODE_BYTES) {
		space = o->spaces.at[0];
		space.cr3 += TRACE_CODE_BYTES;
	} else if (proc) {
		space.id = id_of(o, proc);
		space.pid = proc->task.pid;
		memcpy(space.name, proc->task.comm, sizeof(proc->task.comm));
	} else {
		space.id = new_id(o);
		space.flags |= TRACE_SPACE_NO_CODE;
	}
	return add_space(o, &space);
}

static int make_spaces(struct out *o)
{
	struct trace_space kernel = {
		.id = FIRST_ID,
		.cr3 = FIRST_ID,
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.flags = TRACE_SPACE_COMMON,
		.vm = TRACE_SPACE_NO_VM,
		.name = "kernel",
	};
	size_t i;
	int err;

	o->next_id = FIRST_ID;
	o->kernel_cr3 = find_kernel_cr3(o->host);
	if (o->kernel_cr3)
		kernel.cr3 = o->kernel_cr3;
	err = add_space(o, &kernel);
	for (i = 0; i < o->seen.n && !err; i++)
		err = make_space(o, &o->seen.at[i]);
	return err ? err : trace_writer_spaces(o->writer, o->spaces.at, o->spaces.n);
}

static int write_page(struct out *o, unsigned int vcpu, uint64_t id, uint64_t vaddr,
		      const uint8_t *bytes)
{
	const struct trace_code_page page = {.cr3 = id, .vaddr = vaddr, .gpa = UINT64_MAX};

	return trace_writer_code(o->writer, vcpu, &page, bytes);
}

static int write_kernel(struct out *o, size_t *changed)
{
	struct cli_record_host *h = o->host;
	uint8_t now[TRACE_CODE_BYTES];
	size_t i;
	int err = 0;

	for (i = 0; i < h->kernel.n && !err; i++) {
		const struct cli_record_page *p = &h->kernel.at[i];

		if (h->memory.read(h->memory.from, p->vaddr, now, sizeof(now)) ||
		    memcmp(now, p->bytes, sizeof(now)))
			++*changed;
		err = write_page(o, 0, FIRST_ID, p->vaddr, p->bytes);
	}
	return err;
}

static int write_map(struct out *o, unsigned int vcpu, uint64_t id, const struct host_map *map,
		     int mem)
{
	int file = map->path[0] == '/' ? open(map->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	uint8_t bytes[TRACE_CODE_BYTES];
	uint64_t vaddr;
	int err = 0;

	for (vaddr = map->range.start; vaddr < map->range.end && !err; vaddr += sizeof(bytes)) {
		if (host_map_page(map, mem, file, vaddr, bytes))
			err = write_page(o, vcpu, id, vaddr, bytes);
	}
	if (file >= 0)
		close(file);
	return err;
}

static int write_process(struct out *o, unsigned int vcpu, const struct trace_space *space,
			 const struct host_proc *proc)
{
	char path[64];
	size_t i;
	int mem = -1, err = 0;

	snprintf(path, sizeof(path), "/proc/%u/mem", proc->task.pid);
	/* Another process may have the number by now. */
	if (proc->seen)
		mem = open(path, O_RDONLY | O_CLOEXEC);
	for (i = 0; i < proc->maps.n && !err; i++)
		err = write_map(o, vcpu, space->id, &proc->maps.at[i], mem);
	if (mem >= 0)
		close(mem);
	return err;
}

/*
 * Returns true if the other page table of a pair was written before, on this CPU, so that the space
 * has its code.
 */
static bool has_code(const struct out *o, size_t number, uint64_t id)
{
	size_t i;

	for (i = 0; i < number; i++) {
		struct trace_space key = key_of(&o->seen.at[i]);

		if (o->seen.at[i].cpu == o->seen.at[number].cpu && known(o, &key)->id == id)
			return true;
	}
	return false;
}

static int write_processes(struct out *o)
{
	size_t i;
	int err = 0;

	for (i = 0; i < o->seen.n && !err; i++) {
		struct trace_space key = key_of(&o->seen.at[i]);
		const struct trace_space *space = known(o, &key);
		const struct host_proc *proc =
			o->seen.at[i].non_root ? NULL : host_procs_find(&o->host->procs, key.cr3);

		if (proc && space->id != FIRST_ID && !has_code(o, i, space->id))
			err = write_process(o, o->seen.at[i].cpu, space, proc);
	}
	return err;
}

static void count(const struct out *o, struct cli_record_sum *sum)
{
	size_t i, k;

	for (i = 0; i < o->spaces.n; i++) {
		const struct trace_space *s = &o->spaces.at[i];

		for (k = 0; k < i && o->spaces.at[k].id != s->id; k++)
			;
		if (k < i)
			continue;
		sum->guest += s->flags & TRACE_SPACE_NON_ROOT ? 1 : 0;
		sum->host += s->flags & TRACE_SPACE_NON_ROOT ? 0 : 1;
		sum->named += s->name[0] != 0;
	}
}

/* The process of a VMCS is the process whose CR3 preceded the guest's. */
static int write_guests(struct out *o, const char *path, struct cli_record_sum *sum)
{
	struct cli_record_vmm *vmms = calloc(o->seen.n + 1, sizeof(*vmms));
	struct cli_record_guests in = {
		.where = o->host->guest_code,
		.memory = "/proc/kcore",
		.spaces = o->spaces.at,
		.nspaces = o->spaces.n,
		.vmms = vmms,
	};
	size_t i;
	int err;

	if (!vmms)
		return -ENOMEM;
	for (i = 0; i < o->seen.n; i++) {
		const struct host_seen_space *s = &o->seen.at[i];
		const struct host_proc *proc =
			s->non_root ? host_procs_find(&o->host->procs, s->host) : NULL;

		if (proc && proc->seen)
			vmms[in.nvmms++] = (struct cli_record_vmm){s->vmcs, proc->task.pid};
	}
	err = cli_record_guests(&in, o->writer, path, sum);
	free(vmms);
	return err;
}

int cli_record_code(struct cli_record_host *h, struct trace_writer *writer, const char *path,
		    struct cli_record_sum *sum)
{
	struct out o = {.host = h, .writer = writer};
	int err = trace_writer_sync(writer);

	memset(sum, 0, sizeof(*sum));
	if (!err)
		err = scan_maps(&o, path);
	if (!err)
		err = make_spaces(&o);
	if (!err)
		err = write_kernel(&o, &sum->changed);
	if (!err)
		err = write_processes(&o);
	if (!err)
		count(&o, sum);
	if (!err && h->guest_code != CLI_RECORD_NONE)
		err = write_guests(&o, path, sum);
	host_seen_free(&o.seen);
	free(o.spaces.at);
	free(o.vmcs.at);
	return err;
}
