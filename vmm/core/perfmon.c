// SPDX-License-Identifier: GPL-2.0-or-later
/* Performance monitoring (SDM vol. 3, 20.2): registers, counting and interrupts. */
#include "core/perfmon.h"

#include <string.h>

#include "core/vcpu.h"
#include "vpt/xsave.h"

#define GENERAL CORE_PERFMON_GENERAL
#define FIXED	CORE_PERFMON_FIXED
#define NEVER	UINT64_MAX

#define WIDTH	     48
#define COUNTER_MASK ((1ull << WIDTH) - 1)

/* IA32_PERF_CAPABILITIES: full-width writes. */
#define CAPABILITIES (1ull << 13)

#define DEBUGCTL_LBR	       (1ull << 0)
#define DEBUGCTL_FREEZE_LBRS   (1ull << 11)
#define DEBUGCTL_FREEZE_COUNTS (1ull << 12)

#define STATUS_LBR_FROZEN     (1ull << 58)
#define STATUS_COUNTS_FROZEN  (1ull << 59)
#define STATUS_BUFFER_CHANGED (3ull << 62)

#define COUNTERS (((1ull << GENERAL) - 1) | ((1ull << FIXED) - 1) << 32)

/* IA32_PERFEVTSELx: event, unit mask, USR, OS, edge, pin, INT, EN, INV, counter mask. */
#define SELECT_BITS 0xffdfffffull
#define SELECT_USR  (1u << 16)
#define SELECT_OS   (1u << 17)
#define SELECT_INT  (1u << 20)
#define SELECT_EN   (1u << 22)

/* A counter's four bits of IA32_FIXED_CTR_CTRL. */
#define FIXED_OS   1u
#define FIXED_USR  2u
#define FIXED_PMI  8u
#define FIXED_BITS 0xbbbull

#define SELECT_EVENT 0xffffu /* unit mask and event */

/* The length of the vector in EBX of leaf 0AH, whose bits are events that do not exist. */
#define EVENT_BITS 7u

/* The architectural events that occur (table 20-1). */
static const struct {
	uint16_t select;
	uint8_t event;
} events[] = {
	{0x003c, CORE_PERFMON_CLOCKS},
	{0x00c0, CORE_PERFMON_INSNS},
	{0x013c, CORE_PERFMON_REFERENCE},
	{0x00c4, CORE_PERFMON_BRANCHES},
};

static unsigned int version_of(const struct vpt_caps *caps)
{
	/*
	 * Broadwell has version 3. Version 2 is version 3 without counting of both threads
	 * (AnyThread).
	 */
	return vpt_xsave_bytes(caps) ? 4 : 2;
}

static unsigned int version(const struct core_vcpu *v)
{
	return version_of(&v->vm->caps);
}

void core_perfmon_init(struct core_perfmon *p)
{
	memset(p, 0, sizeof(*p));
	p->s.enabled = (1u << GENERAL) - 1;
}

void core_perfmon_cpuid(const struct vpt_caps *caps, struct engine_cpuid_entry *e)
{
	e->eax = version_of(caps) | GENERAL << 8 | WIDTH << 16 | EVENT_BITS << 24;
	e->ebx = 0;
	e->ecx = 0;
	e->edx = FIXED | WIDTH << 5 | (version_of(caps) > 2 ? 1u << 15 : 0);
}

static uint64_t status_bits(const struct core_vcpu *v)
{
	return COUNTERS | (v->vm->owner == TRACE_OWNER_GUEST ? CORE_PERFMON_TOPA : 0) |
	       (version(v) >= 4 ? STATUS_LBR_FROZEN | STATUS_COUNTS_FROZEN : 0);
}

/* Returns the value of counter @n. The fixed counters follow the general ones. */
static uint64_t *counter(struct core_perfmon_state *s, unsigned int n)
{
	return n < GENERAL ? &s->general[n] : &s->fixed[n - GENERAL];
}

/* Returns the bit of counter @n in GLOBAL_CTRL and GLOBAL_STATUS. */
static uint64_t bit_of(unsigned int n)
{
	return n < GENERAL ? 1ull << n : 1ull << (32 + n - GENERAL);
}

static unsigned int fixed_control(const struct core_perfmon_state *s, unsigned int n)
{
	return s->fixed_control >> 4 * (n - GENERAL) & 0xf;
}

static enum core_perfmon_event event_of(const struct core_perfmon_state *s, unsigned int n)
{
	static const uint8_t fixed[FIXED] = {CORE_PERFMON_INSNS, CORE_PERFMON_CLOCKS,
					     CORE_PERFMON_REFERENCE};
	size_t i;

	if (n >= GENERAL)
		return fixed[n - GENERAL];
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].select == (s->select[n] & SELECT_EVENT))
			return events[i].event;
	return CORE_PERFMON_NOTHING;
}

static bool counts(const struct core_perfmon_state *s, unsigned int n, bool user)
{
	uint64_t select;

	if (!(s->enabled & bit_of(n)) || s->status & STATUS_COUNTS_FROZEN ||
	    event_of(s, n) == CORE_PERFMON_NOTHING)
		return false;
	if (n >= GENERAL)
		return fixed_control(s, n) & (user ? FIXED_USR : FIXED_OS);
	select = s->select[n];
	return select & SELECT_EN && select & (user ? SELECT_USR : SELECT_OS);
}

static bool interrupts(const struct core_perfmon_state *s, unsigned int n)
{
	return n < GENERAL ? s->select[n] & SELECT_INT : fixed_control(s, n) & FIXED_PMI;
}

/* Freeze counters and LBRs as DEBUGCTL requests. The trace does not stop. [PMI-FREEZE] */
static void freeze(struct core_vcpu *v)
{
	struct core_perfmon_state *s = &v->perfmon.s;
	uint64_t debugctl = 0;

	if (v->engine->get_msr(v->ev, X86_MSR_DEBUGCTL, &debugctl))
		return;
	if (debugctl & DEBUGCTL_FREEZE_COUNTS && version(v) >= 4)
		s->status |= STATUS_COUNTS_FROZEN;
	else if (debugctl & DEBUGCTL_FREEZE_COUNTS)
		s->enabled = 0;
	if (debugctl & DEBUGCTL_FREEZE_LBRS && version(v) >= 4)
		s->status |= STATUS_LBR_FROZEN;
	else if (debugctl & DEBUGCTL_FREEZE_LBRS)
		(void)v->engine->set_msr(v->ev, X86_MSR_DEBUGCTL, debugctl & ~DEBUGCTL_LBR);
}

/* [PMI-LATCH] */
void core_perfmon_topa(struct core_vcpu *v)
{
	core_perfmon_advance(v);
	v->perfmon.s.status |= CORE_PERFMON_TOPA;
	freeze(v);
}

/* Get how often each event has occurred. */
static void read_events(const struct core_vcpu *v, uint64_t *now)
{
	const struct engine_vcpu *ev = v->ev;

	now[CORE_PERFMON_NOTHING] = 0;
	now[CORE_PERFMON_INSNS] = now[CORE_PERFMON_CLOCKS] = ev->retired;
	now[CORE_PERFMON_REFERENCE] = engine_time_tsc(&ev->time, ev->retired);
	now[CORE_PERFMON_BRANCHES] = ev->branches;
}

void core_perfmon_skip(struct core_vcpu *v)
{
	read_events(v, v->perfmon.seen);
}

void core_perfmon_advance(struct core_vcpu *v)
{
	struct core_perfmon *p = &v->perfmon;
	uint64_t before[CORE_PERFMON_EVENTS];
	bool pmi = false;
	unsigned int n;

	if (vpt_likely(!p->counting) || p->seen[CORE_PERFMON_INSNS] == v->ev->retired ||
	    !core_vcpu_counts(v))
		return;
	memcpy(before, p->seen, sizeof(before));
	read_events(v, p->seen);
	for (n = 0; n < GENERAL + FIXED; n++) {
		const enum core_perfmon_event event = event_of(&p->s, n);
		uint64_t *value = counter(&p->s, n);

		if (!counts(&p->s, n, v->cpl))
			continue;
		*value += p->seen[event] - before[event];
		if (!(*value >> WIDTH))
			continue;
		*value &= COUNTER_MASK;
		p->s.status |= bit_of(n);
		pmi |= interrupts(&p->s, n);
	}
	if (pmi) {
		freeze(v);
		dev_platform_pmi(&v->vm->platform, v->index);
		v->ev->state |= ENGINE_ATTENTION;
	}
}

/* Returns the number of instructions before which the event does not occur `left` more times. */
static uint64_t insns_until(const struct core_vcpu *v, enum core_perfmon_event event, uint64_t left)
{
	uint64_t now[CORE_PERFMON_EVENTS], at = v->perfmon.seen[event] + left, is;

	read_events(v, now);
	is = now[event];
	if (event == CORE_PERFMON_REFERENCE) {
		at = engine_time_reach(&v->ev->time, at);
		is = v->ev->retired;
	}
	return at > is ? at - is : 0;
}

uint64_t core_perfmon_next(const struct core_vcpu *v)
{
	const struct core_perfmon *p = &v->perfmon;
	uint64_t next = NEVER;
	unsigned int n;

	if (vpt_likely(!p->counting) || !core_vcpu_counts(v))
		return NEVER;
	for (n = 0; n < GENERAL + FIXED; n++) {
		uint64_t left = COUNTER_MASK + 1 -
				(n < GENERAL ? p->s.general[n] : p->s.fixed[n - GENERAL]);

		if (!interrupts(&p->s, n) || !counts(&p->s, n, v->cpl))
			continue;
		left = insns_until(v, event_of(&p->s, n), left);
		if (left < next)
			next = left;
	}
	return next;
}

/*
 * Update the set of counters that may count. The set is cached, because it changes rarely. The
 * engine counts branches only while a counter does.
 */
static void note_counting(struct core_vcpu *v)
{
	struct core_perfmon *p = &v->perfmon;
	const uint32_t before = p->counting;
	bool branches = false;
	unsigned int n;

	p->counting = 0;
	for (n = 0; n < GENERAL + FIXED; n++) {
		if (!counts(&p->s, n, false) && !counts(&p->s, n, true))
			continue;
		p->counting |= 1u << n;
		branches |= event_of(&p->s, n) == CORE_PERFMON_BRANCHES;
	}
	core_put_bit(&v->ev->state, ENGINE_BRANCHES, branches);
	if (!before)
		core_perfmon_skip(v);
}

static uint64_t in_use(const struct core_perfmon_state *s)
{
	uint64_t used = 0;
	unsigned int n;

	for (n = 0; n < GENERAL + FIXED; n++) {
		if (n < GENERAL ? s->select[n] & 0xff
				: fixed_control(s, n) & (FIXED_OS | FIXED_USR))
			used |= bit_of(n);
		if (interrupts(s, n))
			used |= 1ull << 63;
	}
	return used;
}

static enum dev_platform_msr set(uint64_t *to, uint64_t value, uint64_t allowed)
{
	if (value & ~allowed)
		return DEV_PLATFORM_GP;
	*to = value;
	return DEV_PLATFORM_DONE;
}

/* Registers with one instance per counter. @n is the index of the instance. */
static uint64_t read_general(const struct core_vcpu *v, uint32_t n)
{
	return v->perfmon.s.general[n];
}

static enum dev_platform_msr write_general(struct core_vcpu *v, uint32_t n, uint64_t value)
{
	return set(&v->perfmon.s.general[n], value, COUNTER_MASK);
}

/* A write to IA32_PMCx sign-extends the low 32 bits. */
static enum dev_platform_msr write_narrow(struct core_vcpu *v, uint32_t n, uint64_t value)
{
	v->perfmon.s.general[n] = (uint64_t)(int64_t)(int32_t)value & COUNTER_MASK;
	return DEV_PLATFORM_DONE;
}

static uint64_t read_select(const struct core_vcpu *v, uint32_t n)
{
	return v->perfmon.s.select[n];
}

static enum dev_platform_msr write_select(struct core_vcpu *v, uint32_t n, uint64_t value)
{
	return set(&v->perfmon.s.select[n], value, SELECT_BITS);
}

static uint64_t read_fixed(const struct core_vcpu *v, uint32_t n)
{
	return v->perfmon.s.fixed[n];
}

static enum dev_platform_msr write_fixed(struct core_vcpu *v, uint32_t n, uint64_t value)
{
	return set(&v->perfmon.s.fixed[n], value, COUNTER_MASK);
}

static uint64_t read_capabilities(const struct core_vcpu *v, uint32_t n)
{
	(void)v, (void)n;
	return CAPABILITIES;
}

static uint64_t read_fixed_control(const struct core_vcpu *v, uint32_t n)
{
	(void)n;
	return v->perfmon.s.fixed_control;
}

static enum dev_platform_msr write_fixed_control(struct core_vcpu *v, uint32_t n, uint64_t value)
{
	(void)n;
	return set(&v->perfmon.s.fixed_control, value, FIXED_BITS);
}

static uint64_t read_enabled(const struct core_vcpu *v, uint32_t n)
{
	(void)n;
	return v->perfmon.s.enabled;
}

static enum dev_platform_msr write_enabled(struct core_vcpu *v, uint32_t n, uint64_t value)
{
	(void)n;
	return set(&v->perfmon.s.enabled, value, COUNTERS);
}

static uint64_t read_status(const struct core_vcpu *v, uint32_t n)
{
	(void)n;
	return v->perfmon.s.status;
}

static uint64_t read_zero(const struct core_vcpu *v, uint32_t n)
{
	(void)v, (void)n;
	return 0;
}

/* [PMI-LATCH] */
static enum dev_platform_msr reset_status(struct core_vcpu *v, uint32_t n, uint64_t value)
{
	(void)n;
	if (value & ~(status_bits(v) | STATUS_BUFFER_CHANGED))
		return DEV_PLATFORM_GP;
	v->perfmon.s.status &= ~value;
	return DEV_PLATFORM_DONE;
}

static enum dev_platform_msr set_status(struct core_vcpu *v, uint32_t n, uint64_t value)
{
	(void)n;
	if (value & ~status_bits(v))
		return DEV_PLATFORM_GP;
	v->perfmon.s.status |= value;
	return DEV_PLATFORM_DONE;
}

static uint64_t read_in_use(const struct core_vcpu *v, uint32_t n)
{
	(void)n;
	return in_use(&v->perfmon.s);
}

/*
 * `version` is the first version that has the register. Earlier versions raise #GP. If `write` is
 * NULL, a write raises #GP.
 */
static const struct perfmon_row {
	uint32_t first, count;
	unsigned int version;
	uint64_t (*read)(const struct core_vcpu *v, uint32_t n);
	enum dev_platform_msr (*write)(struct core_vcpu *v, uint32_t n, uint64_t value);
} rows[] = {
	{X86_MSR_PMC0, GENERAL, 1, read_general, write_narrow},
	{X86_MSR_A_PMC0, GENERAL, 1, read_general, write_general},
	{X86_MSR_PERFEVTSEL0, GENERAL, 1, read_select, write_select},
	{X86_MSR_FIXED_CTR0, FIXED, 2, read_fixed, write_fixed},
	{X86_MSR_PERF_CAPABILITIES, 1, 2, read_capabilities, NULL},
	{X86_MSR_FIXED_CTR_CTRL, 1, 2, read_fixed_control, write_fixed_control},
	{X86_MSR_PERF_STATUS, 1, 2, read_status, NULL},
	{X86_MSR_PERF_CTRL, 1, 2, read_enabled, write_enabled},
	{X86_MSR_PERF_STATUS_RESET, 1, 2, read_zero, reset_status},
	{X86_MSR_PERF_STATUS_SET, 1, 4, read_zero, set_status},
	{X86_MSR_PERF_INUSE, 1, 4, read_in_use, NULL},
};

static const struct perfmon_row *find(uint32_t index)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (index - rows[i].first < rows[i].count)
			return &rows[i];
	return NULL;
}

enum dev_platform_msr core_perfmon_rdmsr(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	const struct perfmon_row *row = find(index);

	core_perfmon_advance(v);
	if (!row)
		return DEV_PLATFORM_OTHER;
	if (version(v) < row->version)
		return DEV_PLATFORM_GP;
	*value = row->read(v, index - row->first);
	return DEV_PLATFORM_DONE;
}

enum dev_platform_msr core_perfmon_wrmsr(struct core_vcpu *v, uint32_t index, uint64_t value)
{
	const struct perfmon_row *row = find(index);
	enum dev_platform_msr done;

	core_perfmon_advance(v);
	if (!row)
		return DEV_PLATFORM_OTHER;
	if (version(v) < row->version || !row->write)
		return DEV_PLATFORM_GP;
	done = row->write(v, index - row->first, value);
	note_counting(v);
	return done;
}

bool core_perfmon_rdpmc(struct core_vcpu *v, uint32_t index, uint64_t *value)
{
	const struct core_perfmon_state *s = &v->perfmon.s;
	uint32_t n = index & ~(1u << 30);

	if (n >= (index >> 30 & 1 ? FIXED : GENERAL))
		return false;
	core_perfmon_advance(v);
	*value = index >> 30 & 1 ? s->fixed[n] : s->general[n];
	return true;
}

void core_perfmon_save(struct core_vcpu *v, struct core_perfmon_state *s)
{
	core_perfmon_advance(v);
	*s = v->perfmon.s;
}

bool core_perfmon_load(struct core_vcpu *v, const struct core_perfmon_state *s)
{
	uint64_t wrong = (s->fixed_control & ~FIXED_BITS) | (s->enabled & ~COUNTERS) |
			 (s->status & ~status_bits(v));
	unsigned int n;

	for (n = 0; n < GENERAL; n++)
		wrong |= s->general[n] & ~COUNTER_MASK || s->select[n] & ~SELECT_BITS;
	for (n = 0; n < FIXED; n++)
		wrong |= s->fixed[n] & ~COUNTER_MASK;
	if (wrong)
		return false;
	v->perfmon.s = *s;
	v->perfmon.counting = 0;
	note_counting(v);
	return true;
}
