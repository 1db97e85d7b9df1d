// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a trace unit with any sequence of MSR writes, events, VM entries and exits, and
 * context changes. The output must consist of whole packets, and so must insertions into a guest's
 * trace with the same registers.
 */
#include <string.h>

#include "fuzz/bytes.h"
#include "vpt/insert.h"
#include "vpt/packet.h"
#include "vpt/state.h"

struct fuzz {
	struct vpt_pt pt;
	struct vpt_context ctx;
	struct vpt_clock clock;
	struct input in;
	uint8_t stage[64];
	struct vpt_parser parser;
	uint8_t pending[2 * VPT_PKT_MAX + 64];
	size_t pending_len;
	struct vpt_pt scratch;
	uint8_t ram[1 << 12];
};

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	(void)opaque, (void)gpa, (void)dst, (void)len;
	return false;
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	(void)opaque, (void)gpa, (void)src, (void)len;
	return false;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct fuzz *)opaque)->ctx;
}

/*
 * Report the time. It advances during an event and even goes backwards, unlike that of any engine.
 */
static void report_time(void *opaque, struct vpt_clock *now)
{
	struct fuzz *f = opaque;

	*now = f->clock;
	f->clock.cycles += 3;
	f->clock.tsc += 2;
}

/* The transport gets packets cut anywhere; put them together and parse. */
static void stream(void *opaque, const void *bytes, size_t len)
{
	struct fuzz *f = opaque;
	struct vpt_packet packet;
	size_t at = 0;

	REQUIRE(len <= sizeof(f->pending) - f->pending_len);
	memcpy(f->pending + f->pending_len, bytes, len);
	f->pending_len += len;
	while (vpt_packet_read(&f->parser, f->pending + at, f->pending_len - at, &packet) == VPT_OK)
		at += packet.size;
	/* The remaining bytes must be the beginning of a valid packet. */
	REQUIRE(f->pending_len - at < VPT_PKT_MAX);
	memmove(f->pending, f->pending + at, f->pending_len - at);
	f->pending_len -= at;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
	.clock = report_time,
};

static uint64_t some_ip(struct fuzz *f)
{
	static const uint64_t bases[] = {0x401000, 0x7fff00000000, 0xffffffff81000000, 0};
	uint8_t byte = (uint8_t)take(&f->in, 1);

	return byte >= 0xf0 ? take(&f->in, 8) : bases[byte & 3] + take(&f->in, 2);
}

static void some_context(struct fuzz *f)
{
	uint8_t bits = (uint8_t)take(&f->in, 1);

	f->ctx.cpl = bits & 3;
	f->ctx.cs_l = bits & 4;
	f->ctx.cs_d = bits & 8;
	f->ctx.lma = bits & 16;
	f->ctx.pae = bits & 32;
	f->ctx.intr_flag = bits & 64;
	f->ctx.in_tx = bits & 128;
	f->ctx.cr3 = take(&f->in, 3) << 5;
	f->ctx.tsc = take(&f->in, 8);
	f->ctx.cs_base = take(&f->in, 4);
}

static void some_wrmsr(struct fuzz *f)
{
	static const uint32_t msrs[] = {
		VPT_MSR_CTL,	 VPT_MSR_CTL,	  VPT_MSR_CTL,	   VPT_MSR_STATUS,
		VPT_MSR_ADDR0_A, VPT_MSR_ADDR0_B, VPT_MSR_ADDR1_A, VPT_MSR_CR3_MATCH,
	};
	uint32_t msr = msrs[take(&f->in, 1) & 7];
	uint64_t value = msr == VPT_MSR_CTL	 ? take(&f->in, 8) | VPT_CTL_MASK(FABRIC_EN)
			 : msr == VPT_MSR_STATUS ? take(&f->in, 8)
						 : some_ip(f);
	enum vpt_access who = take(&f->in, 1) & 1 ? VPT_ACCESS_HOST : VPT_ACCESS_GUEST;
	uint64_t ip = some_ip(f);

	if (vpt_pt_wrmsr(&f->pt, msr, value, who, ip, ip + 2) == VPT_FAULT_GP)
		return;
	/* A trace must not end within a packet. */
	if (msr == VPT_MSR_CTL && !(value & VPT_CTL_MASK(TRACE_EN)))
		REQUIRE(!f->pending_len);
}

static void some_event(struct fuzz *f, uint8_t kind)
{
	struct vpt_event event;
	unsigned int times = 1 + (kind >> 4) * 4;

	memset(&event, 0, sizeof(event));
	event.kind = kind & 31;
	event.flags = (uint8_t)take(&f->in, 1);
	event.from = some_ip(f);
	event.to = some_ip(f);
	event.next = event.from + 5;
	while (times--) {
		if (event.kind == VPT_EV_COND)
			vpt_pt_cond(&f->pt, event.from, event.to, event.flags & VPT_EVF_TAKEN);
		else
			vpt_pt_event(&f->pt, &event);
	}
}

static struct vpt_vmx_transition some_transition(struct fuzz *f)
{
	struct vpt_vmx_transition t = {
		.flags = (uint32_t)take(&f->in, 1),
		.controls = (uint32_t)take(&f->in, 1),
		.vmcs = take(&f->in, 1) << 56 | some_ip(f),
		.ip = some_ip(f),
		.guest_ctl = take(&f->in, 8) | VPT_CTL_MASK(FABRIC_EN),
		.reason = (uint32_t)take(&f->in, 2),
		.qualification = take(&f->in, 2),
		.vector = (uint8_t)take(&f->in, 1),
	};

	t.next = t.ip + 3;
	return t;
}

/* Enter a guest with the current MSR area and host or guest context. */
static void some_entry(struct fuzz *f)
{
	struct vpt_vmx_transition t = some_transition(f);

	vpt_pt_vm_entry(&f->pt, &t);
	if (take(&f->in, 1) & 1)
		some_wrmsr(f);
	some_context(f);
	vpt_pt_vm_entered(&f->pt, some_ip(f));
}

static void some_exit(struct fuzz *f)
{
	struct vpt_vmx_transition t = some_transition(f);
	uint64_t ctl;

	vpt_pt_vm_exit(&f->pt, &t);
	vpt_pt_vm_exit_host(&f->pt);
	REQUIRE(vpt_pt_rdmsr(&f->pt, VPT_MSR_CTL, &ctl) == VPT_FAULT_NONE);
	REQUIRE(!f->pt.caps->vmx_pt || !(t.controls & VPT_VMX_EXIT_CLEAR_CTL) || !ctl);
	if (take(&f->in, 1) & 1)
		some_wrmsr(f);
	some_context(f);
	vpt_pt_vm_exited(&f->pt, some_ip(f));
}

/* Also make single VMX calls in an order that no processor has. */
static void some_vmx(struct fuzz *f)
{
	struct vpt_vmx_transition t;

	switch (take(&f->in, 1) & 15) {
	case 0:
	case 1:
		vpt_pt_vmxon(&f->pt, some_ip(f));
		break;
	case 2:
		vpt_pt_vmxoff(&f->pt);
		break;
	case 3:
		vpt_pt_vmptrld(&f->pt, some_ip(f));
		break;
	case 4:
		vpt_pt_vm_entry_failed(&f->pt, some_ip(f));
		break;
	case 5:
		t = some_transition(f);
		vpt_pt_vm_entry(&f->pt, &t);
		break;
	case 6:
		vpt_pt_vm_entered(&f->pt, some_ip(f));
		break;
	case 7:
		t = some_transition(f);
		vpt_pt_vm_exit(&f->pt, &t);
		break;
	case 8:
		vpt_pt_vm_exit_host(&f->pt);
		break;
	case 9:
		vpt_pt_vm_exited(&f->pt, some_ip(f));
		break;
	case 10:
		vpt_pt_vmx_abort(&f->pt);
		break;
	case 11:
	case 12:
		some_exit(f);
		break;
	default:
		some_entry(f);
		break;
	}
}

static bool ram_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct fuzz *f = opaque;

	if (gpa > sizeof(f->ram) || len > sizeof(f->ram) - gpa)
		return false;
	memcpy(f->ram + gpa, src, len);
	return true;
}

static const struct vpt_pt_ops ram_ops = {
	.mem = {.read = mem_read, .write = ram_write},
	.context = context,
};

/* Insert into a separate buffer, for a guest with other register values. */
static void some_insert(struct fuzz *f)
{
	struct vpt_rtit guest = f->pt.rtit;
	uint32_t controls = (uint32_t)take(&f->in, 1);
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = 0, end;

	guest.ctl &= ~(VPT_CTL_MASK(FABRIC_EN) | VPT_CTL_MASK(TOPA));
	guest.output_base = 0;
	guest.output_mask_ptrs = sizeof(f->ram) - 1;
	if (controls & 0x80) {
		vpt_insert_pip(&f->scratch, &guest, f->pt.caps, &ram_ops, f, controls, 0x5000);
	} else if (vpt_insert_begin(&f->scratch, &guest, f->pt.caps, &ram_ops, f, controls, 0x5000,
				    some_ip(f))) {
		struct vpt_event event = {.kind = (uint8_t)(take(&f->in, 1) & 15),
					  .from = some_ip(f),
					  .to = some_ip(f)};

		vpt_pt_event(&f->scratch, &event);
		vpt_insert_end(&f->scratch, event.to, &guest);
	}
	REQUIRE(!((guest.ctl ^ f->pt.rtit.ctl) & VPT_CTL_MASK(TRACE_EN)));
	end = (size_t)(guest.output_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT);
	while (at < end) {
		REQUIRE(vpt_packet_read(&parser, f->ram + at, end - at, &packet) == VPT_OK);
		at += packet.size;
	}
}

/* Check that state saved between two transitions can be loaded and saved again unchanged. */
static void save_and_load(struct fuzz *f)
{
	struct vpt_pt_state state, again;

	if (f->pt.vmx.moving)
		return;
	vpt_pt_save(&f->pt, &state);
	REQUIRE(vpt_pt_load(&f->pt, &state) == VPT_OK);
	vpt_pt_save(&f->pt, &again);
	REQUIRE(!memcmp(&state, &again, sizeof(state)));
}

static void drop(void *opaque, const void *bytes, size_t len)
{
	(void)opaque, (void)bytes, (void)len;
}

/* Load an arbitrary state, which must be refused or do no harm. */
static void some_state(struct fuzz *f)
{
	struct vpt_pt_state state;
	unsigned int flips = 1 + (take(&f->in, 1) & 3);
	unsigned int i;

	if (f->pt.vmx.moving)
		return;
	vpt_pt_save(&f->pt, &state);
	while (flips--) {
		size_t at = take(&f->in, 2) % sizeof(state);

		((uint8_t *)&state)[at] ^= (uint8_t)take(&f->in, 1);
	}
	vpt_pt_init(&f->scratch, f->pt.caps, &ops, f);
	vpt_output_set_stream(&f->scratch.out, f->ram, sizeof(f->stage), drop);
	if (vpt_pt_load(&f->scratch, &state) != VPT_OK)
		return;
	for (i = 0; i < 4; i++) {
		struct vpt_event event = {.kind = (uint8_t)(take(&f->in, 1) & 31),
					  .from = some_ip(f),
					  .to = some_ip(f)};

		vpt_pt_event(&f->scratch, &event);
		vpt_pt_tick(&f->scratch, event.to);
	}
}

static void some_clock(struct fuzz *f)
{
	uint64_t step = take(&f->in, 3) << (take(&f->in, 1) & 15);

	f->clock.cycles += step;
	f->clock.tsc += take(&f->in, 1) & 1 ? step : step / 3;
	vpt_pt_tick(&f->pt, some_ip(f));
}

static void some_options(struct fuzz *f)
{
	struct vpt_pt_options options = {
		.cyc_bits = (uint8_t)take(&f->in, 1),
		.defer_tips = take(&f->in, 1) & 1,
		.buffer_bytes = (uint32_t)take(&f->in, 2),
		.buffer_drain = (uint32_t)take(&f->in, 1),
	};

	(void)!vpt_pt_set_options(&f->pt, &options);
}

static void some_caps(struct fuzz *f, struct vpt_caps *caps)
{
	const char *why;

	*caps = *vpt_caps_model(vpt_caps_model_name((unsigned int)take(&f->in, 1) & 3));
	caps->l14_0_ecx |= 1u << 3;
	caps->l14_0_ecx |= take(&f->in, 1) & 1 ? 1u << 31 : 0;
	REQUIRE(vpt_caps_check(caps, &why) == VPT_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz f;
	struct vpt_caps caps;
	uint64_t value;

	memset(&f, 0, sizeof(f));
	f.in = (struct input){data, size};
	some_caps(&f, &caps);
	vpt_pt_init(&f.pt, &caps, &ops, &f);
	vpt_output_set_stream(&f.pt.out, f.stage, sizeof(f.stage), stream);
	while (f.in.left) {
		uint8_t what = (uint8_t)take(&f.in, 1);

		if (what < 0x10)
			some_wrmsr(&f);
		else if (what < 0x20)
			some_context(&f);
		else if (what < 0x24)
			vpt_pt_flush(&f.pt);
		else if (what < 0x26)
			some_insert(&f);
		else if (what < 0x28)
			save_and_load(&f);
		else if (what < 0x2c)
			some_vmx(&f);
		else if (what < 0x2d)
			some_state(&f);
		else if (what < 0x2e)
			some_options(&f);
		else if (what < 0x2f)
			some_clock(&f);
		else if (what < 0x30)
			REQUIRE(vpt_pt_rdmsr(&f.pt, VPT_MSR_STATUS, &value) == VPT_FAULT_NONE);
		else
			some_event(&f, what);
	}
	vpt_pt_warm_reset(&f.pt);
	REQUIRE(!f.pending_len);
	return 0;
}
