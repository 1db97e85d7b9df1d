// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/synthlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/suite.h"
#include "vpt/msr.h"

static void put(struct synthlog *m, const void *bytes, size_t len)
{
	if (m->room - m->len < len) {
		m->room = 2 * m->room + len + 65536;
		m->log = realloc(m->log, m->room);
		ck_assert_ptr_nonnull(m->log);
	}
	memcpy(m->log + m->len, bytes, len);
	m->len += len;
}

static void put_int(struct synthlog *m, uint64_t value, unsigned int bytes)
{
	put(m, &value, bytes);
}

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	const struct synthlog *m = opaque;

	if (gpa > SYNTHLOG_RAM || len > SYNTHLOG_RAM - gpa)
		return false;
	memcpy(dst, m->ram + gpa, len);
	return true;
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct synthlog *m = opaque;

	if (gpa > SYNTHLOG_RAM || len > SYNTHLOG_RAM - gpa)
		return false;
	memcpy(m->ram + gpa, src, len);
	return true;
}

static void mem_committed(void *opaque, uint64_t gpa, size_t len)
{
	struct synthlog *m = opaque;
	bool guest = gpa >= SYNTHLOG_GUEST;

	put_int(m, VPT_LOG_TRACE, 1);
	put_int(m, len, 4);
	put_int(m, gpa | (guest ? 1ull << 63 : 0), 8);
	put(m, m->ram + gpa, len);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	struct synthlog *m = opaque;

	*ctx = m->ctx;
	ctx->tsc = m->ctx.tsc + (m->non_root ? m->tsc.offset : 0);
}

static void trigger(void *opaque, bool on)
{
	struct synthlog *m = opaque;
	const struct vpt_rtit *r = &m->pt.rtit;
	uint8_t end = VPT_LOG_DISABLED;

	if (!on && VPT_STATUS_GET(r->status, ERROR))
		end = VPT_LOG_ERROR;
	else if (!on && VPT_STATUS_GET(r->status, STOPPED))
		end = VPT_LOG_STOPPED;
	put_int(m, VPT_LOG_TRIGGER, 1);
	put_int(m, on, 1);
	put_int(m, end, 1);
	put_int(m, m->ip, 8);
	put_int(m, r->ctl, 8);
	put_int(m, r->status, 8);
	put_int(m, r->output_base, 8);
	put_int(m, r->output_mask_ptrs, 8);
	put_int(m, r->cr3_match, 8);
	put(m, r->addr, 8 * sizeof(uint64_t));
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write, .committed = mem_committed},
	.context = context,
	.trigger = trigger,
};

void synthlog_open(struct synthlog *m, const char *model)
{
	struct vpt_log_header header = {VPT_LOG_MAGIC, VPT_LOG_VERSION, 0};
	const struct vpt_caps *caps = vpt_caps_model(model);
	const char *dir = getenv("TMPDIR");
	int fd;

	memset(m, 0, sizeof(*m));
	snprintf(m->path, sizeof(m->path), "%s/vpt-test-XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(m->path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_ptr_nonnull(caps);
	put(m, &header, sizeof(header));
	m->ctx.cr3 = 0x1000;
	m->ctx.cs_l = m->ctx.lma = true;
	m->ctx.tsc = 1000000;
	m->ctx.cbr = 20;
	m->ip = 0x401000;
	m->vmcs = VPT_NO_VMCS;
	vpt_pt_init(&m->pt, caps, &ops, m);
	vpt_pt_vmxon(&m->pt, m->ip);
}

void synthlog_close(struct synthlog *m)
{
	FILE *f = fopen(m->path, "wb");

	put_int(m, VPT_LOG_END, 1);
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(m->log, 1, m->len, f), m->len);
	ck_assert_int_eq(fclose(f), 0);
}

void synthlog_done(struct synthlog *m)
{
	unlink(m->path);
	free(m->log);
}

static struct synthlog_page *page(struct synthlog *m, uint64_t vaddr, bool make)
{
	uint64_t vmcs = m->non_root ? m->vmcs : 0;
	struct synthlog_page *p;

	vaddr &= ~0xfffull;
	for (p = m->pages; p < m->pages + m->npages; p++) {
		if (p->non_root == m->non_root && p->vmcs == vmcs && p->cr3 == m->ctx.cr3 &&
		    p->vaddr == vaddr)
			return p;
	}
	if (!make)
		return NULL;
	ck_assert_uint_lt(m->npages, SYNTHLOG_PAGES);
	m->npages++;
	p->non_root = m->non_root;
	p->vmcs = vmcs;
	p->cr3 = m->ctx.cr3;
	p->vaddr = vaddr;
	memset(p->bytes, 0x90, sizeof(p->bytes));
	return p;
}

void synthlog_code(struct synthlog *m, uint64_t vaddr, const char *hex)
{
	struct synthlog_page *p = page(m, vaddr, true);
	uint8_t *at = p->bytes + (vaddr & 0xfff);

	p->logged = false;
	while (*hex) {
		char *end;

		*at++ = (uint8_t)strtoul(hex, &end, 16);
		ck_assert_ptr_ne(end, hex);
		hex = end + strspn(end, " ");
	}
}

/* Log the context of the next instruction, if it has changed. */
static void log_context(struct synthlog *m)
{
	uint8_t now[25];
	uint8_t flags = (uint8_t)(m->ctx.cpl | VPT_LOG_IN_VMX | VPT_LOG_CS_L);

	if (m->non_root)
		flags |= VPT_LOG_NON_ROOT;
	memset(now, 0, sizeof(now));
	now[0] = flags;
	memcpy(now + 1, &m->ctx.cr3, 8);
	memcpy(now + 9, &m->vmcs, 8);
	if (!memcmp(now, m->context, sizeof(now)))
		return;
	memcpy(m->context, now, sizeof(now));
	put_int(m, VPT_LOG_CONTEXT, 1);
	put(m, now, sizeof(now));
	m->there = false;
}

static void release(struct synthlog *m)
{
	put(m, m->held, m->nheld);
	m->nheld = 0;
}

/* Log an instruction that retires at m->ip. Until went() is called, it falls through. */
static void begin(struct synthlog *m, unsigned int len)
{
	struct synthlog_page *p;
	uint8_t *at = m->held;

	log_context(m);
	p = page(m, m->ip, true);
	if (!p->logged) {
		p->logged = true;
		put_int(m, VPT_LOG_CODE, 1);
		put_int(m, p->vaddr, 8);
		put_int(m, 0x100000 + 4096 * (uint64_t)(p - m->pages), 8);
		put(m, p->bytes, sizeof(p->bytes));
	}
	if (m->packet_en != m->pt.packet_en) {
		m->packet_en = m->pt.packet_en;
		put_int(m, VPT_LOG_PACKET_EN, 1);
		put_int(m, m->packet_en, 1);
	}
	if (m->there && m->ip == m->next) {
		*at++ = (uint8_t)len;
	} else {
		*at++ = VPT_LOG_INSN_AT;
		*at++ = (uint8_t)len;
		memcpy(at, &m->ip, 8);
		at += 8;
	}
	m->nheld = (size_t)(at - m->held);
	if (!m->late)
		release(m);
	m->next = m->ip + len;
	m->there = true;
	m->ip = m->next;
	m->ctx.tsc += 10;
}

/* Set the target of the instruction, which counts as a jump even if it is the next instruction. */
static void went(struct synthlog *m, uint64_t to)
{
	m->ip = to;
	m->there = false;
}

void synthlog_step(struct synthlog *m, unsigned int len)
{
	begin(m, len);
	release(m);
}

static void report(struct synthlog *m, enum vpt_event_kind kind, uint8_t flags, uint64_t from)
{
	const struct vpt_event event = {
		.kind = (uint8_t)kind, .flags = flags, .from = from, .to = m->ip, .next = m->next};

	vpt_pt_event(&m->pt, &event);
	release(m);
}

void synthlog_cond(struct synthlog *m, unsigned int len, bool taken, uint64_t to)
{
	uint64_t from = m->ip;

	begin(m, len);
	if (taken)
		went(m, to);
	vpt_pt_cond(&m->pt, from, m->ip, taken);
	release(m);
}

void synthlog_jump(struct synthlog *m, unsigned int len, uint64_t to)
{
	uint64_t from = m->ip;

	begin(m, len);
	went(m, to);
	report(m, VPT_EV_JMP_INDIRECT, 0, from);
}

void synthlog_far(struct synthlog *m, unsigned int len, uint64_t to, uint8_t cpl)
{
	uint64_t from = m->ip;

	begin(m, len);
	went(m, to);
	m->ctx.cpl = cpl;
	report(m, VPT_EV_FAR, 0, from);
}

static void log_event(struct synthlog *m, enum vpt_log_event kind, uint8_t vector, uint64_t ip)
{
	put_int(m, VPT_LOG_EVENT, 1);
	put_int(m, kind, 1);
	put_int(m, vector, 1);
	put_int(m, ip, 8);
}

void synthlog_int(struct synthlog *m, unsigned int len, uint8_t vector, uint64_t to)
{
	uint64_t from = m->ip;

	begin(m, len);
	release(m);
	log_event(m, VPT_LOG_SOFTWARE, vector, from);
	went(m, to);
	report(m, VPT_EV_SOFT_INT, 0, from);
}

void synthlog_cr3(struct synthlog *m, uint64_t cr3)
{
	uint64_t from = m->ip;

	begin(m, 3);
	m->ctx.cr3 = cr3;
	report(m, VPT_EV_CR3, 0, from);
}

void synthlog_vmptrld(struct synthlog *m, unsigned int len, uint64_t vmcs)
{
	begin(m, len);
	m->vmcs = vmcs;
	vpt_pt_vmptrld(&m->pt, vmcs);
	release(m);
}

void synthlog_ctl(struct synthlog *m, uint64_t ctl)
{
	uint64_t from = m->ip;

	begin(m, 2);
	ck_assert_int_eq(vpt_pt_wrmsr(&m->pt, VPT_MSR_CTL, ctl, VPT_ACCESS_GUEST, from, m->ip),
			 VPT_FAULT_NONE);
	release(m);
}

static void log_vmx(struct synthlog *m, uint32_t reason)
{
	put_int(m, VPT_LOG_VMX, 1);
	put_int(m, m->vmcs, 8);
	put_int(m, m->tsc.offset, 8);
	put_int(m, 1ull << 48, 8);
	put_int(m, reason, 4);
	put_int(m, 0, 8);
}

void synthlog_enter(struct synthlog *m, const struct synthlog_guest *g)
{
	struct vpt_vmx_transition entry = {
		.controls = g->controls,
		.vmcs = g->vmcs,
		.ip = m->ip,
		.next = m->ip + 3,
		.guest_ctl = g->guest_ctl,
	};

	begin(m, 3);
	m->vmcs = g->vmcs;
	m->controls = g->controls;
	m->host_ctl = g->host_ctl;
	m->tsc.offset = g->tsc_offset;
	vpt_pt_vm_entry(&m->pt, &entry);
	m->non_root = true;
	m->ctx.cr3 = g->cr3;
	m->ctx.cpl = g->cpl;
	went(m, g->ip);
	vpt_pt_vm_entered(&m->pt, g->ip);
	release(m);
	log_vmx(m, 0);
	log_context(m);
}

void synthlog_fail_early(struct synthlog *m)
{
	begin(m, 3);
	vpt_pt_vm_entry_failed(&m->pt, m->ip);
	release(m);
}

void synthlog_fail_late(struct synthlog *m, const struct synthlog_guest *g, uint64_t host)
{
	struct vpt_vmx_transition t = {
		.controls = g->controls,
		.vmcs = g->vmcs,
		.ip = m->ip,
		.next = m->ip + 3,
		.guest_ctl = g->guest_ctl,
	};
	uint64_t from = m->ip;

	begin(m, 3);
	release(m);
	vpt_pt_vm_entry(&m->pt, &t);
	t.flags = VPT_VMXF_ENTRY_FAIL;
	t.reason = 1u << 31 | 34;
	log_event(m, VPT_LOG_VM_EXIT, 0, from);
	vpt_pt_vm_exit(&m->pt, &t);
	vpt_pt_vm_exit_host(&m->pt);
	went(m, host);
	vpt_pt_vm_exited(&m->pt, host);
	log_vmx(m, t.reason);
}

void synthlog_event(struct synthlog *m, uint8_t vector, uint64_t to, uint8_t cpl)
{
	uint64_t from = m->ip;

	log_event(m, VPT_LOG_INTERRUPT, vector, from);
	went(m, to);
	m->ctx.cpl = cpl;
	report(m, VPT_EV_ASYNC, 0, from);
}

void synthlog_inject_int(struct synthlog *m, uint8_t vector, uint64_t to)
{
	uint64_t from = m->ip;

	log_event(m, VPT_LOG_SOFTWARE, vector, from);
	went(m, to);
	report(m, VPT_EV_SOFT_INT, 0, from);
}

void synthlog_exit(struct synthlog *m, uint32_t reason, uint64_t ip, uint64_t cr3)
{
	const struct vpt_vmx_transition exit = {
		.controls = m->controls,
		.vmcs = m->vmcs,
		.ip = m->ip,
		.reason = reason,
	};

	if (!m->late)
		log_event(m, VPT_LOG_VM_EXIT, 0, m->ip);
	vpt_pt_vm_exit(&m->pt, &exit);
	m->non_root = false;
	m->ctx.cr3 = cr3;
	m->ctx.cpl = 0;
	vpt_pt_vm_exit_host(&m->pt);
	if (m->late)
		log_event(m, VPT_LOG_VM_EXIT, 0, m->ip);
	went(m, ip);
	if (m->host_ctl)
		synthlog_msr(m, VPT_MSR_CTL, m->host_ctl);
	vpt_pt_vm_exited(&m->pt, ip);
	log_vmx(m, reason);
}

void synthlog_msr(struct synthlog *m, uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(vpt_pt_wrmsr(&m->pt, msr, value, VPT_ACCESS_HOST, m->ip, m->ip),
			 VPT_FAULT_NONE);
}

void synthlog_output(struct synthlog *m, uint64_t base)
{
	synthlog_msr(m, VPT_MSR_OUTPUT_BASE, base);
	synthlog_msr(m, VPT_MSR_OUTPUT_MASK_PTRS, SYNTHLOG_BUFFER - 1);
}

void synthlog_on(struct synthlog *m)
{
	memset(m->context, 0xff, sizeof(m->context));
	m->there = false;
	trigger(m, true);
}
