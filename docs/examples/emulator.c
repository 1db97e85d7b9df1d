// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * An emulator that writes Intel PT packets: a subset of x86-64 that is large enough to loop,
 * call and return, with libvpt behind each branch.
 * usage: emulator CODE ADDRESS COUNT >TRACE	file of bytes, its address, first value of ECX
 * cc -o emulator emulator.c $(pkg-config --cflags --libs vpt)
 *
 * Subset: DEC ECX, Jcc NZ rel8, CALL rel32, RET, JMP RAX (to ADDRESS), HLT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vpt/pt.h>

#define BUFFER 0x10000 /* guest-physical address of the trace, a single range */
static uint8_t ram[1 << 16];

static bool mem_read(void *vm, uint64_t gpa, void *dst, size_t len)
{
	(void)vm;
	if (gpa < BUFFER || len > sizeof(ram) || gpa - BUFFER > sizeof(ram) - len)
		return false; /* not RAM */
	memcpy(dst, ram + (gpa - BUFFER), len);
	return true;
}

static bool mem_write(void *vm, uint64_t gpa, const void *src, size_t len)
{
	(void)vm;
	if (gpa < BUFFER || len > sizeof(ram) || gpa - BUFFER > sizeof(ram) - len)
		return false;
	memcpy(ram + (gpa - BUFFER), src, len);
	return true;
}

/* 64-bit code in ring 0. */
static void context(void *vm, struct vpt_context *ctx)
{
	(void)vm;
	memset(ctx, 0, sizeof(*ctx));
	ctx->cr3 = 0x3000;
	ctx->paging = ctx->cs_l = ctx->lma = true;
}

static void wrmsr(struct vpt_pt *pt, uint32_t msr, uint64_t value, uint64_t ip)
{
	/* The host starts and stops the trace: both IPs are that of the next instruction. */
	if (vpt_pt_wrmsr(pt, msr, value, VPT_ACCESS_HOST, ip, ip) != VPT_FAULT_NONE) {
		fprintf(stderr, "emulator: MSR %x: #GP\n", msr);
		exit(4);
	}
}

static uint64_t branch(struct vpt_pt *pt, enum vpt_event_kind kind, uint64_t from, uint64_t to,
		       uint64_t next)
{
	struct vpt_event event;

	memset(&event, 0, sizeof(event));
	event.kind = (uint8_t)kind;
	event.from = from;
	event.to = to;
	event.next = next;
	vpt_pt_event(pt, &event);
	return to;
}

/* Execute until HLT, which is not executed. Returns its IP, or 0 for what is not in the subset. */
static uint64_t run(struct vpt_pt *pt, const uint8_t *code, size_t len, uint64_t base, uint32_t ecx)
{
	uint64_t ip = base, stack[64];
	unsigned int depth = 0;
	int32_t rel;

	/* Eight bytes of zeros follow the code. */
	while (ip - base < len) {
		const uint8_t *insn = code + (ip - base);

		if (insn[0] == 0xff && insn[1] == 0xc9) {
			ecx--;
			ip += 2;
		} else if (insn[0] == 0x75) {
			uint64_t to = ecx ? ip + 2 + (uint64_t)(int8_t)insn[1] : ip + 2;

			vpt_pt_cond(pt, ip, to, ecx != 0);
			ip = to;
		} else if (insn[0] == 0xe8 && depth < 64) {
			memcpy(&rel, insn + 1, sizeof(rel));
			stack[depth++] = ip + 5;
			ip = branch(pt, VPT_EV_CALL, ip, ip + 5 + (uint64_t)rel, ip + 5);
		} else if (insn[0] == 0xc3 && depth) {
			ip = branch(pt, VPT_EV_RET, ip, stack[depth - 1], 0);
			depth--;
		} else if (insn[0] == 0xff && insn[1] == 0xe0) {
			ip = branch(pt, VPT_EV_JMP_INDIRECT, ip, base, 0);
		} else {
			return insn[0] == 0xf4 ? ip : 0;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct vpt_pt_ops ops;
	static struct vpt_pt pt;
	static uint8_t code[4096 + 8];
	FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
	size_t len = file ? fread(code, 1, 4096, file) : 0;
	uint64_t base = len ? strtoull(argv[2], NULL, 0) : 0;
	uint64_t end;

	if (!len) {
		fprintf(stderr, "usage: emulator CODE ADDRESS COUNT >TRACE\n");
		return 2;
	}
	fclose(file);
	memset(&ops, 0, sizeof(ops));
	ops.mem.read = mem_read;
	ops.mem.write = mem_write;
	ops.context = context;
	vpt_pt_init(&pt, vpt_caps_model("skl"), &ops, NULL);
	wrmsr(&pt, VPT_MSR_OUTPUT_BASE, BUFFER, base);
	wrmsr(&pt, VPT_MSR_OUTPUT_MASK_PTRS, sizeof(ram) - 1, base);
	wrmsr(&pt, VPT_MSR_CTL, VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN),
	      base);
	end = run(&pt, code, len, base, (uint32_t)strtoul(argv[3], NULL, 0));
	if (!end) {
		fprintf(stderr, "emulator: an instruction that is not in the subset\n");
		return 4;
	}
	wrmsr(&pt, VPT_MSR_CTL, 0, end);
	/* The upper half is the offset of the next byte. The program above fills less than the range. */
	len = (size_t)(pt.rtit.output_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT);
	return fwrite(ram, 1, len, stdout) == len && !fflush(stdout) ? 0 : 4;
}
