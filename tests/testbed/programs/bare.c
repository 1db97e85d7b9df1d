// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run one of our Multiboot images (guest/bare) as a KVM guest with all features that KVM
 * supports, including VMX and PT. The guest's console goes to standard output. The exit status
 * is the guest's.
 *
 * usage: bare ELF [SEED]
 */
#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEMORY	   (64u << 20)
#define INFO	   0x8000u /* Multiboot information, followed by the command line */
#define CMDLINE	   0x8100u
#define COM1	   0x3f8
#define COM1_LSR   0x3fd
#define LSR_EMPTY  0x60
#define CPUID_ROOM 128
#define CR0_PE_ET  0x11

static uint8_t *memory;

static int call(int fd, unsigned long request, void *arg, const char *what)
{
	int result = ioctl(fd, request, arg);

	if (result < 0)
		err(4, "%s", what);
	return result;
}

/* Copy the segments of a file to their physical addresses. Returns the entry point. */
static uint32_t load(const char *path)
{
	static uint8_t file[4 << 20];
	const Elf32_Ehdr *head = (const Elf32_Ehdr *)file;
	FILE *in = fopen(path, "rb");
	size_t len;
	int i;

	if (!in)
		err(3, "%s", path);
	len = fread(file, 1, sizeof(file), in);
	fclose(in);
	if (len < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS32)
		errx(3, "%s: no 32-bit ELF file", path);
	for (i = 0; i < head->e_phnum; i++) {
		const Elf32_Phdr *ph = (const Elf32_Phdr *)(file + head->e_phoff) + i;

		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_offset > len || ph->p_filesz > len - ph->p_offset ||
		    ph->p_paddr > MEMORY || ph->p_memsz > MEMORY - ph->p_paddr)
			errx(3, "%s: segment %d is outside of memory or file", path, i);
		memcpy(memory + ph->p_paddr, file + ph->p_offset, ph->p_filesz);
	}
	return head->e_entry;
}

static void multiboot_info(const char *seed)
{
	uint32_t *info = (uint32_t *)(memory + INFO);

	info[0] = 1 << 0 | 1 << 2;
	info[1] = 640;
	info[2] = (MEMORY >> 10) - 1024;
	info[4] = CMDLINE;
	snprintf((char *)memory + CMDLINE, 64, "bare seed=%s", seed);
}

static void set_cpuid(int kvm, int vcpu)
{
	struct kvm_cpuid2 *cpuid =
		calloc(1, sizeof(*cpuid) + CPUID_ROOM * sizeof(struct kvm_cpuid_entry2));

	cpuid->nent = CPUID_ROOM;
	call(kvm, KVM_GET_SUPPORTED_CPUID, cpuid, "KVM_GET_SUPPORTED_CPUID");
	call(vcpu, KVM_SET_CPUID2, cpuid, "KVM_SET_CPUID2");
	free(cpuid);
}

static void flat(struct kvm_segment *s, uint16_t selector, uint8_t type)
{
	memset(s, 0, sizeof(*s));
	s->limit = 0xffffffff;
	s->selector = selector;
	s->type = type;
	s->present = s->s = s->db = s->g = 1;
}

static void set_registers(int vcpu, uint32_t entry)
{
	struct kvm_regs regs = {.rip = entry, .rax = 0x2badb002, .rbx = INFO, .rflags = 2};
	struct kvm_sregs sregs;

	call(vcpu, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	flat(&sregs.cs, 8, 11);
	flat(&sregs.ds, 16, 3);
	sregs.es = sregs.fs = sregs.gs = sregs.ss = sregs.ds;
	sregs.cr0 = CR0_PE_ET;
	call(vcpu, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
	call(vcpu, KVM_SET_REGS, &regs, "KVM_SET_REGS");
}

/* The last line that the guest printed, which has its exit status. */
static char line[256];
static size_t line_len;

static void console(char c)
{
	putchar(c);
	if (c == '\n') {
		line[line_len] = 0;
		line_len = 0;
	} else if (line_len < sizeof(line) - 1) {
		line[line_len++] = c;
	}
}

static void port(const struct kvm_run *run)
{
	uint8_t *data = (uint8_t *)run + run->io.data_offset;
	uint32_t i;

	for (i = 0; i < run->io.count; i++, data += run->io.size) {
		if (run->io.direction == KVM_EXIT_IO_IN) {
			memset(data, run->io.port == COM1_LSR ? LSR_EMPTY : 0xff, run->io.size);
		} else if (run->io.port == COM1) {
			console((char)*data);
		}
	}
}

static int end_status(void)
{
	unsigned int status;

	if (sscanf(line, "vpt: end %u", &status) == 1)
		return (int)status;
	errx(1, "the guest shut down without an exit status");
}

int main(int argc, char **argv)
{
	struct kvm_userspace_memory_region region = {.memory_size = MEMORY};
	struct kvm_run *run;
	int kvm, vm, vcpu, size;

	if (argc < 2 || argc > 3)
		errx(2, "usage: bare ELF [SEED]");
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		err(4, "/dev/kvm");
	vm = call(kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(4, "memory");
	region.userspace_addr = (uintptr_t)memory;
	call(vm, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");
	call(vm, KVM_CREATE_IRQCHIP, NULL, "KVM_CREATE_IRQCHIP");
	vcpu = call(vm, KVM_CREATE_VCPU, NULL, "KVM_CREATE_VCPU");
	size = call(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "KVM_GET_VCPU_MMAP_SIZE");
	run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		err(4, "kvm_run");
	set_cpuid(kvm, vcpu);
	multiboot_info(argc > 2 ? argv[2] : "0");
	set_registers(vcpu, load(argv[1]));
	for (;;) {
		call(vcpu, KVM_RUN, NULL, "KVM_RUN");
		if (run->exit_reason == KVM_EXIT_IO)
			port(run);
		else if (run->exit_reason == KVM_EXIT_SHUTDOWN)
			return end_status();
		else if (run->exit_reason != KVM_EXIT_MMIO)
			errx(1, "KVM exit %u, suberror %u", run->exit_reason,
			     run->internal.suberror);
	}
}
