// SPDX-License-Identifier: GPL-2.0-or-later
/* Record the code of a session of the processor's own PT. */
#include "pt/hardware_code.h"

#include <string.h>

#include "pt/code_pages.h"
#include "pt/isolation.h"
#include "pt/sweep.h"
#include "pt/tracer.h"
#include "x86/x86.h"

#define PAGE_MASK (X86_PAGE_SIZE - 1)

/*
 * Data can be near code. So the log no longer watches a page with too many changes. The same is true of
 * reports without a change, such as those of a page table that the processor walks. Changes beside
 * each other are those of data, and a patch is somewhere else than the one before. Pages share scores,
 * which only makes sweeps find their changes.
 *
 * Without stops each change costs little, and the score is that since the last sweep.
 */
#define MOST_SCORE  128u
#define DATA_SCORE  8u
#define PATCH_SCORE 1u
#define NEAR_BYTES  16u
#define MOST_IDLE   32u

/* Versions of a frame that are kept. Code can change back. */
#define VERSIONS 2u

static const struct engine_pt *pt_of(const struct tracer *t)
{
	return t->config.engine->pt;
}

static bool logs(const struct tracer *t)
{
	return t->hardware.state & TRACER_HARDWARE_LOGS;
}

static struct tracer_hardware_page *page_of(struct tracer *t, uint64_t gpa)
{
	return &t->hardware.page[gpa / X86_PAGE_SIZE % TRACER_HARDWARE_PAGES];
}

/* The argument of a sweep's callbacks. */
struct code {
	struct tracer *t;
	uint64_t cr3;
	enum tracer_code_sweep how;
	size_t pages; /* the number of pages of the space */
	size_t most;  /* the largest number of pages of a space */
};

/*
 * Direct branches and compressed RETs have no IPs. Linux has the thunks of its indirect branches in
 * the area after its entry code, so that area of a kernel is code, too.
 */
static bool is_near(const struct tracer *t, uint64_t vaddr)
{
	const struct tracer_seen *seen = &t->hardware.seen;

	return tracer_seen_near(seen, vaddr) ||
	       (vaddr >> 63 && tracer_seen_near(seen, vaddr - TRACER_SWEEP_BLOCK));
}

static bool wants_block(void *opaque, uint64_t block)
{
	const struct code *c = opaque;

	return c->how == TRACER_CODE_SWEEP_ALL || is_near(c->t, block);
}

static void code_page(void *opaque, uint64_t vaddr, uint64_t gpa)
{
	struct code *c = opaque;
	struct tracer *t = c->t;
	const struct trace_code_page page = {
		.cr3 = c->cr3,
		.vaddr = vaddr,
		.gpa = gpa,
		.insns = trace_writer_stream_bytes(t->recorder.writer, t->recorder.vcpu),
	};
	const unsigned int compared = c->how == TRACER_CODE_SWEEP_NEW ? 0 : X86_PAGE_SIZE;

	c->pages++;
	if (tracer_collect_has(&t->hardware.collect, gpa))
		return;
	tracer_recorder_page(&t->recorder, &page, 0, compared,
			     x86_mem_at(t->config.mem, gpa, X86_PAGE_SIZE));
	if (logs(t) && is_near(t, vaddr) && page_of(t, gpa)->score < MOST_SCORE)
		pt_of(t)->watch_writes(t->config.ev, gpa, true);
}

/* Returns true if the kernel of this space has been recorded. */
static bool is_known(const struct tracer_hardware *h, uint64_t cr3)
{
	size_t i;

	for (i = 0; i < TRACER_HARDWARE_SPACES; i++)
		if (h->space[i] == cr3 + 1)
			return true;
	return false;
}

/*
 * A trace of ring 3 alone has no PIPs. At a guest's WRMSR only the kernel's tables are known, so
 * the sweep finds the code of ring 3 there.
 */
static void sweep(struct code *c, struct x86_paging *paging, uint64_t cr3)
{
	struct tracer_hardware *h = &c->t->hardware;
	uint32_t flags = VPT_CTL_GET(h->rtit.ctl, OS) ? 0 : TRACER_SWEEP_ISOLATED;
	const struct tracer_sweep_sink sink = {code_page, wants_block, c};

	paging->cr3 = cr3;
	c->cr3 = cr3 & ~PAGE_MASK;
	c->pages = 0;
	if (!is_known(h, c->cr3))
		h->space[h->spaces++ % TRACER_HARDWARE_SPACES] = c->cr3 + 1;
	else if (c->how == TRACER_CODE_SWEEP_ALL)
		return; /* by this very sweep */
	else if (c->how == TRACER_CODE_SWEEP_NEW)
		flags |= TRACER_SWEEP_LOWER;
	tracer_sweep(c->t->config.mem, paging, flags, c->t->config.urged, &sink);
	if (c->pages > c->most)
		c->most = c->pages;
}

/*
 * With page table isolation a process changes to its other tables without an exit. So the code of
 * both is recorded when one of them is first found. Without the kernel's code no other tables are
 * needed.
 */
static void sweep_both(struct code *c, struct x86_paging *paging, uint64_t cr3)
{
	struct tracer_hardware *h = &c->t->hardware;
	uint64_t other;

	sweep(c, paging, cr3);
	if (!VPT_CTL_GET(h->rtit.ctl, OS))
		return;
	other = tracer_isolation_other(c->t->config.mem, paging, cr3);
	if (other && !is_known(h, other))
		sweep(c, paging, other);
}

static void put_epoch(struct tracer *t)
{
	struct trace_epoch read = {0};

	read.insns = tracer_hardware_counter(t);
	read.epoch = ++t->hardware.reads;
	tracer_recorder_note(&t->recorder,
			     trace_writer_epoch(t->recorder.writer, t->recorder.vcpu, &read));
}

static struct x86_paging paging_of(const struct tracer *t, const struct x86_sregs *s)
{
	return (struct x86_paging){
		.cr0 = s->cr0,
		.cr4 = s->cr4,
		.efer = s->efer,
		.max_phy_addr = t->caps.max_phy_addr,
	};
}

bool tracer_code_is_new(struct tracer *t)
{
	struct tracer_seen *seen = &t->hardware.seen;
	struct x86_paging paging;
	struct x86_sregs s;
	bool is_new = seen->places == TRACER_SEEN_PLACES;
	uint32_t error;
	size_t i;

	if (!seen->places || !t->recorder.pages || t->config.engine->get_sregs(t->config.ev, &s))
		return false;
	paging = paging_of(t, &s);
	/* The code may be that of the kernel, such as of its first page tables. */
	paging.cr4 &= ~(uint64_t)X86_CR4_SMEP;
	for (i = 0; i < seen->places && !is_new; i++) {
		const struct tracer_seen_place *p = &seen->place[i];
		uint64_t was = UINT64_MAX, gpa;

		paging.cr3 = p->cr3;
		(void)tracer_code_pages_frame(t->recorder.pages, p->cr3, p->vaddr, &was);
		is_new = x86_walk(t->config.mem, &paging, p->vaddr, X86_WALK_FETCH | X86_WALK_PEEK,
				  &gpa, &error) &&
			 gpa != was;
	}
	seen->places = 0;
	return is_new;
}

size_t tracer_code_sweep(struct tracer *t, enum tracer_code_sweep how)
{
	struct code c = {.t = t, .how = how};
	struct tracer_seen *seen = &t->hardware.seen;
	struct x86_paging paging;
	struct x86_sregs s;
	size_t i;

	if (!t->recorder.pages || t->config.engine->get_sregs(t->config.ev, &s))
		return 0;
	paging = paging_of(t, &s);
	if (logs(t) && how != TRACER_CODE_SWEEP_NEW && !(t->hardware.state & TRACER_HARDWARE_STOPS))
		memset(t->hardware.page, 0, sizeof(t->hardware.page));
	/* If the tables were emptied, no kernel is known. */
	if (t->hardware.emptied != tracer_code_pages_emptied(t->recorder.pages))
		memset(t->hardware.space, 0, sizeof(t->hardware.space));
	t->hardware.emptied = tracer_code_pages_emptied(t->recorder.pages);
	/* Any code can have changed. */
	if (how == TRACER_CODE_SWEEP_ALL)
		memset(t->hardware.space, 0, sizeof(t->hardware.space));
	sweep_both(&c, &paging, s.cr3);
	for (i = 0; i < seen->spaces; i++)
		if ((seen->cr3[i] ^ s.cr3) & ~PAGE_MASK)
			sweep_both(&c, &paging, seen->cr3[i]);
	seen->spaces = 0;
	put_epoch(t);
	return c.most;
}

void tracer_code_log(struct tracer *t)
{
	const struct engine_pt *pt = pt_of(t);
	int how;

	if (!t->recorder.pages || !pt->log_writes)
		return;
	how = pt->log_writes(t->config.ev);
	if (how < 0)
		return;
	memset(t->hardware.page, 0, sizeof(t->hardware.page));
	t->hardware.state |= TRACER_HARDWARE_LOGS;
	if (how == ENGINE_WRITES_STOP)
		t->hardware.state |= TRACER_HARDWARE_STOPS;
	tracer_code_pages_keep(t->recorder.pages, VERSIONS);
	tracer_recorder_set(&t->recorder, TRACER_RECORDER_CHANGES, true);
}

/* The argument of the callbacks for a written page. */
struct written {
	struct tracer *t;
	uint64_t gpa;
	bool changed, any;
};

/* Record the page at a place near which code was executed. */
static void written_place(void *opaque, uint64_t cr3, uint64_t vaddr)
{
	struct written *w = opaque;
	struct tracer *t = w->t;
	const struct trace_code_page page = {
		.cr3 = cr3,
		.vaddr = vaddr,
		.gpa = w->gpa,
		.insns = trace_writer_stream_bytes(t->recorder.writer, t->recorder.vcpu),
	};

	if (!is_near(t, vaddr))
		return;
	if (!tracer_recorder_page(&t->recorder, &page, 0, X86_PAGE_SIZE,
				  x86_mem_at(t->config.mem, w->gpa, X86_PAGE_SIZE)))
		return;
	w->changed = true;
}

/* Count a change at @offset, or a report without one. Returns true if there were too many. */
static bool count_change(struct tracer *t, uint64_t gpa, size_t offset)
{
	const bool stops = t->hardware.state & TRACER_HARDWARE_STOPS;
	struct tracer_hardware_page *p = page_of(t, gpa);
	const size_t last = p->offset;

	if (offset == X86_PAGE_SIZE) {
		if (stops && ++p->idle == MOST_IDLE)
			p->score = MOST_SCORE;
		return p->score >= MOST_SCORE;
	}
	if (stops && (offset >= last + NEAR_BYTES || last >= offset + NEAR_BYTES))
		p->score += PATCH_SCORE;
	else
		p->score += DATA_SCORE;
	p->offset = (uint16_t)offset;
	p->idle = 0;
	return p->score >= MOST_SCORE;
}

static void written_page(void *opaque, uint64_t gpa)
{
	struct written *w = opaque;
	struct tracer *t = w->t;
	const uint8_t *now = x86_mem_at(t->config.mem, gpa, X86_PAGE_SIZE);
	const size_t offset = tracer_code_pages_differs(t->recorder.pages, gpa, now);
	struct written page = {.t = t, .gpa = gpa};

	w->any = true;
	tracer_code_pages_places(t->recorder.pages, gpa, written_place, &page);
	w->changed |= page.changed;
	/* Code can change back, and then differs from the newest content without a change. */
	if (count_change(t, gpa, page.changed ? offset : X86_PAGE_SIZE))
		pt_of(t)->watch_writes(t->config.ev, gpa, false);
}

void tracer_code_written(struct tracer *t)
{
	const struct engine_writes_sink sink = {written_page, &(struct written){.t = t}};
	const struct written *w = sink.opaque;

	if (!logs(t))
		return;
	tracer_recorder_note(&t->recorder, pt_of(t)->written(t->config.ev, &sink));
	/* If the guest has stopped before it writes, the code was not changed up to here. */
	if (w->changed || (w->any && t->hardware.state & TRACER_HARDWARE_STOPS))
		put_epoch(t);
}
