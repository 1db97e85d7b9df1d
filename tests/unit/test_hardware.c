// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Record a trace that a processor makes. The engine of these tests has fake MSRs, and the tests
 * write the bytes of the trace.
 */
#include "lib/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pt/code_pages.h"
#include "pt/tracer.h"
#include "trace/reader.h"
#include "vpt/encode.h"
#include "x86/x86.h"

#define RAM    (1u << 20)
#define BUFFER 0x40000u
#define CODE   0x80000u

static struct x86_mem mem;
static struct engine_vcpu ev;
static struct tracer tracer;
static struct trace_writer *writer;
static struct trace_reader *reader;
static char path[] = "/tmp/vpt-hardware-XXXXXX";
static unsigned int pmis;

/* The processor. */
static struct vpt_rtit msrs;
static struct x86_sregs sregs;
static int refuses;
static struct engine_trace host;
static bool host_on;

static int get(struct engine_vcpu *vcpu, struct vpt_rtit *rtit)
{
	(void)vcpu;
	*rtit = msrs;
	return 0;
}

static int set_ctl(struct engine_vcpu *vcpu, uint64_t value)
{
	(void)vcpu;
	if (!refuses)
		msrs.ctl = value;
	return refuses;
}

static int start(struct engine_vcpu *vcpu, const struct vpt_rtit *rtit)
{
	(void)vcpu;
	msrs = *rtit;
	host_on = !refuses;
	return refuses;
}

static int host_read(struct engine_vcpu *vcpu, struct engine_trace *trace)
{
	(void)vcpu;
	*trace = host;
	memset(&host, 0, sizeof(host));
	return 0;
}

static int stop(struct engine_vcpu *vcpu)
{
	(void)vcpu;
	host_on = false;
	return 0;
}

static int get_sregs(struct engine_vcpu *vcpu, struct x86_sregs *s)
{
	(void)vcpu;
	*s = sregs;
	return 0;
}

/* The engine's log: the watched pages, and those that are reported as written. */
#define PAGES (RAM / 4096)
static bool has_log, watched[PAGES], wrote[PAGES];
static int log_error;

static int log_writes(struct engine_vcpu *vcpu)
{
	(void)vcpu;
	return has_log ? 0 : -EOPNOTSUPP;
}

static void watch_writes(struct engine_vcpu *vcpu, uint64_t gpa, bool on)
{
	(void)vcpu;
	ck_assert(has_log);
	ck_assert_uint_lt(gpa, RAM);
	watched[gpa / 4096] = on;
}

static int written(struct engine_vcpu *vcpu, const struct engine_writes_sink *sink)
{
	uint64_t i;

	(void)vcpu;
	ck_assert(has_log);
	for (i = 0; i < PAGES; i++) {
		if (!wrote[i] || !watched[i])
			continue;
		wrote[i] = false;
		sink->page(sink->opaque, i * 4096);
	}
	return log_error;
}

static const struct engine_pt pt = {.get = get,
				    .set_ctl = set_ctl,
				    .start = start,
				    .read = host_read,
				    .stop = stop,
				    .log_writes = log_writes,
				    .watch_writes = watch_writes,
				    .written = written};
static const struct engine engine = {.name = "test", .pt = &pt, .get_sregs = get_sregs};

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	memset(ctx, 0, sizeof(*ctx));
}

static void pmi(void *opaque)
{
	(void)opaque;
	pmis++;
}

static void open_tracer(enum trace_owner owner)
{
	const struct trace_file_info info = {
		.caps = *vpt_caps_model("skl"), .owner = owner, .vcpus = 1};
	const struct tracer_config config = {
		.caps = &info.caps,
		.owner = owner,
		.mem = &mem,
		.engine = &engine,
		.ev = &ev,
		.context = context,
		.pmi = pmi,
	};
	struct tracer_config c = config;
	int fd;

	strcpy(path, "/tmp/vpt-hardware-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(trace_writer_open(path, &info, &writer), 0);
	c.writer = writer;
	ck_assert_int_eq(tracer_init(&tracer, &c), 0);
}

/* Code is at CODE, paging is off, and the buffer has one page. */
static void setup(void)
{
	ck_assert_int_eq(x86_mem_create(&mem, RAM), 0);
	ck_assert(x86_mem_write(&mem, CODE, "\xc3", 1));
	memset(&sregs, 0, sizeof(sregs));
	sregs.cr3 = 0x5000;
	vpt_rtit_reset(&msrs);
	msrs.output_base = BUFFER;
	msrs.output_mask_ptrs = 0xfff;
	refuses = 0;
	pmis = 0;
	memset(&host, 0, sizeof(host));
	memset(watched, 0, sizeof(watched));
	memset(wrote, 0, sizeof(wrote));
	has_log = false;
	log_error = 0;
}

static void teardown(void)
{
	tracer_free(&tracer);
	if (reader)
		trace_reader_close(reader);
	reader = NULL;
	x86_mem_destroy(&mem);
	unlink(path);
}

/* Finish the file and read it. Check the number of sessions and return them. */
static const struct trace_period *read_back(size_t sessions)
{
	const struct trace_period *p;
	char why[160];
	size_t n;

	ck_assert_int_eq(trace_writer_close(writer, 0), 0);
	ck_assert_int_eq(trace_reader_open(path, &reader, why, sizeof(why)), 0);
	p = trace_reader_sessions(reader, 0, &n);
	ck_assert_uint_eq(n, sessions);
	return p;
}

static void check_stream(const char *text)
{
	const uint8_t *stream;
	size_t n;

	stream = trace_reader_stream(reader, 0, &n);
	ck_assert_uint_eq(n, strlen(text));
	ck_assert_mem_eq(stream, text, n);
}

#define ON (VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN))

/* The guest writes CTL. */
static enum vpt_fault wrmsr(uint64_t ctl)
{
	struct engine_report insn = {.event.from = CODE, .next = CODE + 2};

	return tracer_wrmsr(&tracer, VPT_MSR_CTL, ctl, &insn);
}

static void write_ctl(uint64_t ctl)
{
	ck_assert_int_eq(wrmsr(ctl), VPT_FAULT_NONE);
}

/* The processor puts bytes into the guest's buffer. */
static void put(const void *bytes, size_t len)
{
	uint64_t offset = msrs.output_mask_ptrs >> 32;

	ck_assert(x86_mem_write(&mem, BUFFER + offset, bytes, len));
	msrs.output_mask_ptrs += (uint64_t)len << 32;
}

START_TEST(sessions_of_a_guest)
{
	const struct trace_period *p;

	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON);
	ck_assert_uint_eq(msrs.ctl, ON);
	put("abc", 3);
	tracer_take(&tracer);
	put("defg", 4);
	write_ctl(ON & ~VPT_CTL_MASK(TRACE_EN));
	write_ctl(ON);
	put("hi", 2);
	tracer_close(&tracer, CODE);
	p = read_back(2);
	ck_assert_uint_eq(p[0].start->ctl, ON);
	ck_assert_uint_eq(p[0].start->output_mask_ptrs, 0xfff);
	ck_assert_uint_eq(p[0].end->end, TRACE_END_DISABLED);
	ck_assert_uint_eq(p[1].start->offset, 7);
	ck_assert_uint_eq(p[1].end->end, TRACE_END_CLOSED);
	check_stream("abcdefghi");
	ck_assert_uint_eq(trace_reader_gpa(reader, 0, 8), BUFFER + 8);
	ck_assert_uint_eq(tracer.recorder.bytes, 9);
}
END_TEST

/* The processor or KVM refuses the write, or STATUS.Stopped is set: there is no session. */
START_TEST(refused)
{
	open_tracer(TRACE_OWNER_GUEST);
	ck_assert_int_eq(wrmsr(ON | 1ull << 63), VPT_FAULT_GP);
	refuses = -EINVAL;
	ck_assert_int_eq(wrmsr(ON), VPT_FAULT_GP);
	refuses = 0;
	msrs.status = VPT_STATUS_MASK(STOPPED);
	write_ctl(ON);
	write_ctl(0);
	ck_assert_int_eq(tracer.recorder.error, 0);
	read_back(0);
}
END_TEST

static const struct {
	uint64_t status, ctl;
	enum trace_session_end end;
} ends[] = {
	{0, ON, TRACE_END_DISABLED},
	{VPT_STATUS_MASK(STOPPED), ON, TRACE_END_TRACE_STOP},
	{VPT_STATUS_MASK(ERROR), ON, TRACE_END_ERROR},
	{VPT_STATUS_MASK(STOPPED), ON | VPT_CTL_MASK(TOPA), TRACE_END_TRACE_STOP},
};

START_TEST(why_a_session_ended)
{
	const struct trace_period *p;

	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ends[_i].ctl);
	msrs.status = ends[_i].status;
	write_ctl(0);
	p = read_back(1);
	ck_assert_uint_eq(p[0].end->end, ends[_i].end);
}
END_TEST

START_TEST(a_full_region)
{
	const uint64_t entry = BUFFER | 1u << 4; /* STOP */
	const struct trace_period *p;

	ck_assert(x86_mem_write(&mem, 0x3000, &entry, sizeof(entry)));
	msrs.output_base = 0x3000;
	msrs.output_mask_ptrs = 0x7f;
	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON | VPT_CTL_MASK(TOPA));
	msrs.output_mask_ptrs = 0xff;
	msrs.status = VPT_STATUS_MASK(STOPPED);
	write_ctl(0);
	p = read_back(1);
	ck_assert_uint_eq(p[0].end->end, TRACE_END_TOPA_STOP);
	ck_assert_uint_eq(p[0].end->offset, 4096);
}
END_TEST

/* More than one buffer is written between two reads: two sessions with a loss between them. */
START_TEST(a_loss)
{
	static const uint8_t lap[4096] = {[0 ... 4095] = 0x5a};
	const struct trace_period *p;

	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON);
	put("abc", 3);
	tracer_take(&tracer);
	ck_assert(x86_mem_write(&mem, BUFFER, lap, sizeof(lap)));
	msrs.output_mask_ptrs = 0xfff | 10ull << 32;
	write_ctl(0);
	p = read_back(2);
	ck_assert_uint_eq(p[0].end->end, TRACE_END_LOST);
	ck_assert_uint_eq(p[0].end->offset, 3);
	ck_assert_uint_eq(p[1].start->offset, 3);
	ck_assert_uint_eq(p[1].end->offset, 3 + 4096);
}
END_TEST

static size_t pages_at(uint64_t vaddr, uint64_t *first, uint8_t *byte)
{
	size_t n, i, found = 0;
	const struct trace_code *code = trace_reader_code(reader, 0, &n);

	for (i = 0; i < n; i++) {
		if (code[i].page->vaddr != vaddr || code[i].page->cr3 != 0x5000)
			continue;
		if (!found++)
			*first = code[i].page->insns;
		*byte = code[i].bytes[0];
	}
	return found;
}

/* Pages are recorded when a session begins and ends. The buffer is not recorded as code. */
START_TEST(code)
{
	uint64_t first, second;
	uint8_t byte;

	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON);
	put("abc", 3);
	ck_assert(x86_mem_write(&mem, CODE, "\x90", 1));
	ck_assert(x86_mem_write(&mem, CODE + 0x1000, "\xcc", 1));
	write_ctl(0);
	write_ctl(ON);
	write_ctl(0);
	(void)read_back(2);

	ck_assert_uint_eq(pages_at(CODE, &first, &byte), 2);
	ck_assert_uint_eq(byte, 0x90);
	ck_assert_uint_eq(pages_at(CODE + 0x1000, &second, &byte), 1);
	ck_assert_uint_eq(byte, 0xcc);
	ck_assert_uint_eq(first, 0);
	ck_assert_uint_eq(second, 3);
	ck_assert_uint_eq(pages_at(BUFFER, &first, &byte), 0);
}
END_TEST

/* Top-level tables as those of Linux with page table isolation, and a table for both halves. */
#define KERNEL_TOP 0x4000u
#define USER_TOP   0x5000u
#define LOWER	   0x6000u
#define UPPER	   0x9000u
#define AREAS	   0x7000u
#define NX	   (1ull << 63)
#define AREA	   (2ull << 20)
#define UPPER_CODE (0xffff800000000000 | CODE)

static void set_entry(uint64_t gpa, uint64_t entry)
{
	ck_assert(x86_mem_write(&mem, gpa, &entry, sizeof(entry)));
}

/* Each half maps CODE in three areas, the upper one in the kernel's table alone. */
static void isolate(void)
{
	unsigned int i;

	set_entry(USER_TOP, LOWER | 7);
	set_entry(KERNEL_TOP, LOWER | 7 | NX);
	set_entry(KERNEL_TOP + 256 * 8, UPPER | 3);
	set_entry(LOWER, AREAS | 7);
	set_entry(UPPER, AREAS | 3);
	for (i = 0; i < 3; i++)
		set_entry(AREAS + 8 * i, 1 << 7 | 7);
	sregs.cr3 = USER_TOP;
	sregs.cr0 = X86_CR0_PE | X86_CR0_PG;
	sregs.cr4 = X86_CR4_PAE;
	sregs.efer = X86_EFER_LMA | X86_EFER_NXE;
}

/* Returns the position of the first page of this place, or UINT64_MAX. */
static uint64_t first_of(uint64_t cr3, uint64_t vaddr)
{
	size_t n, i;
	const struct trace_code *all = trace_reader_code(reader, 0, &n);

	for (i = 0; i < n; i++)
		if (all[i].page->vaddr == vaddr && all[i].page->cr3 == cr3)
			return all[i].page->insns;
	return UINT64_MAX;
}

/* Code is recorded by both tables of a process before any packet. */
START_TEST(isolated_tables)
{
	isolate();
	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON);
	put("abc", 3);
	write_ctl(0);
	(void)read_back(1);
	ck_assert_uint_eq(first_of(USER_TOP, CODE), 0);
	ck_assert_uint_eq(first_of(USER_TOP, UPPER_CODE), UINT64_MAX);
	ck_assert_uint_eq(first_of(KERNEL_TOP, UPPER_CODE), 0);
	ck_assert_uint_eq(first_of(KERNEL_TOP, CODE), UINT64_MAX);
}
END_TEST

/* No packet of a trace of ring 3 alone names a space, so it has the code of one. */
START_TEST(isolated_tables_of_ring_3)
{
	isolate();
	open_tracer(TRACE_OWNER_GUEST);
	write_ctl((ON & ~VPT_CTL_MASK(OS)) | VPT_CTL_MASK(USER));
	write_ctl(0);
	(void)read_back(1);
	ck_assert_uint_eq(first_of(USER_TOP, CODE), 0);
	ck_assert_uint_eq(first_of(KERNEL_TOP, UPPER_CODE), UINT64_MAX);
}
END_TEST

/* Return the position from which on a page of CODE has the byte, or UINT64_MAX. */
static uint64_t position_at(uint64_t vaddr, uint8_t byte)
{
	size_t n, i;
	const struct trace_code *all = trace_reader_code(reader, 0, &n);

	for (i = 0; i < n; i++)
		if (all[i].page->vaddr == vaddr && all[i].bytes[0] == byte)
			return all[i].page->insns;
	return UINT64_MAX;
}

static uint64_t position_of(uint8_t byte)
{
	return position_at(CODE, byte);
}

/* Take the trace after the time in which the code is not recorded again. */
static void take_later(void)
{
	usleep(20000);
	tracer_take(&tracer);
}

static size_t append(uint8_t *to, const struct vpt_packet *packet)
{
	uint8_t bytes[VPT_PKT_MAX];
	size_t len = vpt_packet_write(bytes, packet);

	memcpy(to, bytes, len);
	return len;
}

/* Put PSB and FUP with the IP of CODE. Returns the number of bytes. */
static size_t put_ip(void)
{
	const struct vpt_packet psb = {.kind = VPT_PKT_PSB};
	const struct vpt_packet fup = {.kind = VPT_PKT_FUP, .ip_bytes = VPT_IP_FULL, .value = CODE};
	uint8_t bytes[2 * VPT_PKT_MAX];
	size_t len = append(bytes, &psb);

	len += append(bytes + len, &fup);
	put(bytes, len);
	return len;
}

/*
 * Code that changes during a session is recorded with the offset at which it was found, if there
 * was an IP near it.
 */
START_TEST(code_within_a_session)
{
	size_t len;

	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON);
	take_later();
	ck_assert(x86_mem_write(&mem, CODE, "\x90", 1));
	take_later();
	ck_assert(x86_mem_write(&mem, CODE, "\x91", 1));
	len = put_ip();
	take_later();
	ck_assert(x86_mem_write(&mem, CODE, "\xcc", 1));
	put("\0\0\0", 3);
	take_later();
	ck_assert(x86_mem_write(&mem, CODE, "\xc3", 1));
	put("\0", 1);
	write_ctl(0);
	(void)read_back(1);

	ck_assert_uint_eq(position_of(0xc3), 0);
	ck_assert_uint_eq(position_of(0x90), UINT64_MAX);
	ck_assert_uint_eq(position_of(0x91), len);
	ck_assert_uint_eq(position_of(0xcc), len + 3);
	ck_assert_uint_eq(pages_at(CODE, &(uint64_t){0}, &(uint8_t){0}), 4);
}
END_TEST

/* Put PSB, a PIP and a FUP with the IP. Returns the number of bytes. */
static size_t put_space(uint64_t cr3, uint64_t ip)
{
	const struct vpt_packet packet[] = {
		{.kind = VPT_PKT_PSB},
		{.kind = VPT_PKT_PIP, .value = cr3},
		{.kind = VPT_PKT_FUP, .ip_bytes = VPT_IP_FULL, .value = ip},
	};
	uint8_t bytes[3 * VPT_PKT_MAX];
	size_t len = 0, i;

	for (i = 0; i < sizeof(packet) / sizeof(packet[0]); i++)
		len += append(bytes + len, &packet[i]);
	put(bytes, len);
	return len;
}

/* A read of code finds both tables of a process by a PIP with one of them. */
START_TEST(isolated_tables_by_pip)
{
	uint64_t len;

	isolate();
	sregs.cr3 = 0xb000;
	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON);
	len = put_space(USER_TOP, UPPER_CODE);
	take_later();
	/* The kernel's table is known, and not read again. */
	set_entry(KERNEL_TOP + 257 * 8, UPPER | 3);
	put_space(USER_TOP, UPPER_CODE | 1ull << 39);
	take_later();
	write_ctl(0);
	(void)read_back(1);
	ck_assert_uint_eq(first_of(KERNEL_TOP, UPPER_CODE), len);
	ck_assert_uint_eq(first_of(KERNEL_TOP, UPPER_CODE | 1ull << 39), UINT64_MAX);
}
END_TEST

/* Code in the area after an IP of the kernel, and of ring 3. */
START_TEST(the_area_after_an_ip)
{
	uint64_t len;

	isolate();
	sregs.cr3 = 0xb000;
	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON);
	len = put_space(KERNEL_TOP, UPPER_CODE);
	take_later();
	len += put_space(USER_TOP, CODE);
	take_later();
	sregs.cr3 = 0xb000;
	write_ctl(0);
	(void)read_back(1);
	ck_assert_uint_lt(first_of(KERNEL_TOP, UPPER_CODE + AREA), len);
	ck_assert_uint_eq(first_of(KERNEL_TOP, UPPER_CODE + 2 * AREA), UINT64_MAX);
	ck_assert_uint_eq(first_of(USER_TOP, CODE), len);
	ck_assert_uint_eq(first_of(USER_TOP, CODE + AREA), UINT64_MAX);
}
END_TEST

/* A guest with too much code for the tables. Its code is recorded again at the end only. */
START_TEST(too_much_code)
{
	const uint64_t most = TRACER_CODE_CONTENTS / 2 + 8;
	uint64_t i;

	x86_mem_destroy(&mem);
	ck_assert_int_eq(x86_mem_create(&mem, (most + 1) * X86_PAGE_SIZE), 0);
	for (i = 0; i < most; i++)
		ck_assert(x86_mem_write(&mem, i * X86_PAGE_SIZE, &(uint64_t){i + 1}, 8));
	open_tracer(TRACE_OWNER_GUEST);
	write_ctl(ON);
	ck_assert(!(tracer.hardware.state & TRACER_HARDWARE_FULL));
	/* This is as after IPs in very many places. */
	tracer.hardware.seen.areas = TRACER_SEEN_AREAS;
	usleep(300000);
	tracer_take(&tracer);
	ck_assert(tracer.hardware.state & TRACER_HARDWARE_FULL);
	ck_assert(x86_mem_write(&mem, CODE, "\x90", 1));
	put("abc", 3);
	usleep(300000);
	tracer_take(&tracer);
	write_ctl(0);
	(void)read_back(1);
	ck_assert_uint_eq(position_of(0x90), 3);
}
END_TEST

START_TEST(a_host)
{
	static const uint8_t one[] = "one", two[] = "two";
	const struct trace_period *p;

	open_tracer(TRACE_OWNER_HOST);
	ck_assert_int_eq(tracer_host_write(&tracer, VPT_MSR_CR3_MATCH, 0x5000, CODE),
			 VPT_FAULT_NONE);
	ck_assert_int_eq(tracer_host_write(&tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_NONE);
	ck_assert(host_on);
	ck_assert_uint_eq(msrs.cr3_match, 0x5000);
	/* The guest cannot use PT. */
	ck_assert_int_eq(wrmsr(ON), VPT_FAULT_GP);
	host.piece[0].bytes = one;
	host.piece[0].len = 3;
	host.piece[1].bytes = two;
	host.piece[1].len = 3;
	tracer_take(&tracer);
	tracer_take(&tracer);
	host.status = VPT_STATUS_MASK(STOPPED);
	tracer_close(&tracer, CODE);
	ck_assert(!host_on);
	p = read_back(1);
	check_stream("onetwo");
	ck_assert_uint_eq(p[0].start->cr3_match, 0x5000);
	ck_assert_uint_eq(p[0].end->end, TRACE_END_TRACE_STOP);
}
END_TEST

/* A host ends its trace while the guest runs, takes the last bytes, and begins another one. */
START_TEST(a_host_that_stops)
{
	const struct trace_period *p;

	open_tracer(TRACE_OWNER_HOST);
	ck_assert_int_eq(tracer_host_write(&tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_NONE);
	host.piece[0].bytes = (const uint8_t *)"one";
	host.piece[0].len = 3;
	ck_assert_int_eq(tracer_host_write(&tracer, VPT_MSR_CTL, 0, CODE), VPT_FAULT_NONE);
	ck_assert(!host_on);
	/* Nothing is taken without a trace. */
	host.piece[0].bytes = (const uint8_t *)"none";
	host.piece[0].len = 4;
	tracer_take(&tracer);
	memset(&host, 0, sizeof(host));
	ck_assert_int_eq(tracer_host_write(&tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_NONE);
	ck_assert(host_on);
	host.piece[0].bytes = (const uint8_t *)"two";
	host.piece[0].len = 3;
	tracer_take(&tracer);
	tracer_close(&tracer, CODE);
	ck_assert(!host_on);
	p = read_back(2);
	check_stream("onetwo");
	ck_assert_uint_eq(p[0].end->end, TRACE_END_DISABLED);
	ck_assert_uint_eq(p[1].end->end, TRACE_END_CLOSED);
}
END_TEST

START_TEST(a_host_that_is_refused)
{
	open_tracer(TRACE_OWNER_HOST);
	refuses = -ENOMEM;
	ck_assert_int_eq(tracer_host_write(&tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_GP);
	ck_assert_int_eq(tracer.recorder.error, -ENOMEM);
	ck_assert_int_eq(trace_writer_close(writer, 0), 0);
}
END_TEST

/* The host's trace has PSB and FUP with the IP. Returns the number of bytes. */
static size_t host_ip_at(uint64_t ip)
{
	static uint8_t bytes[2 * VPT_PKT_MAX];
	const struct vpt_packet psb = {.kind = VPT_PKT_PSB};
	const struct vpt_packet fup = {.kind = VPT_PKT_FUP, .ip_bytes = VPT_IP_FULL, .value = ip};
	size_t len = append(bytes, &psb);

	len += append(bytes + len, &fup);
	host.piece[0].bytes = bytes;
	host.piece[0].len = len;
	return len;
}

static size_t host_ip(void)
{
	return host_ip_at(CODE);
}

static void host_bytes(size_t len)
{
	static const uint8_t pads[64];

	ck_assert_uint_le(len, sizeof(pads));
	host.piece[0].bytes = pads;
	host.piece[0].len = len;
}

static void start_host(bool log)
{
	has_log = log;
	open_tracer(TRACE_OWNER_HOST);
	ck_assert_int_eq(tracer_host_write(&tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_NONE);
}

/* The guest writes to a page, and exits. */
static void guest_writes(uint64_t gpa, uint8_t byte, size_t more)
{
	ck_assert(x86_mem_write(&mem, gpa, &byte, 1));
	wrote[gpa / 4096] = true;
	host_bytes(more);
	tracer.hardware.written_at = 0;
	tracer.hardware.new_at = UINT64_MAX;
	tracer_exited(&tracer);
}

static size_t reads(void)
{
	size_t n;

	(void)trace_reader_epochs(reader, 0, &n);
	return n;
}

/* A change is recorded at the exit behind the write, and needs no sweep. */
START_TEST(code_that_is_written)
{
	size_t len;

	start_host(true);
	len = host_ip();
	tracer.hardware.code_at = 0;
	tracer_take(&tracer);
	ck_assert(watched[CODE / 4096]);
	tracer.hardware.code_at = UINT64_MAX;
	guest_writes(CODE, 0x90, 3);
	guest_writes(CODE, 0x91, 4);
	/* A page without an IP near it has no code. A page with the same bytes is not recorded. */
	guest_writes(BUFFER, 1, 5);
	guest_writes(CODE, 0x91, 6);
	tracer_close(&tracer, CODE);
	(void)read_back(1);
	ck_assert_uint_eq(position_of(0xc3), 0);
	ck_assert_uint_eq(position_of(0x90), len + 3);
	ck_assert_uint_eq(position_of(0x91), len + 7);
	ck_assert_uint_eq(pages_at(CODE, &(uint64_t){0}, &(uint8_t){0}), 3);
	/* The begin, the sweep, two changes, the end. */
	ck_assert_uint_eq(reads(), 5);
}
END_TEST

/* The page is mapped in the area of the IP and in the one after it, which is of the kernel. */
START_TEST(code_that_is_written_after_the_area_of_an_ip)
{
	size_t len;

	isolate();
	sregs.cr3 = KERNEL_TOP;
	start_host(true);
	len = host_ip_at(UPPER_CODE);
	tracer.hardware.code_at = 0;
	tracer_take(&tracer);
	tracer.hardware.code_at = UINT64_MAX;
	guest_writes(CODE, 0x90, 3);
	guest_writes(CODE, 0x91, 4);
	tracer_close(&tracer, CODE);
	(void)read_back(1);
	ck_assert_uint_eq(position_at(UPPER_CODE, 0x90), len + 3);
	ck_assert_uint_eq(position_at(UPPER_CODE + AREA, 0x90), len + 3);
	ck_assert_uint_eq(position_at(UPPER_CODE + 2 * AREA, 0x90), UINT64_MAX);
}
END_TEST

/* Data near code: the log leaves the page to the sweeps, and watches it again after the next one. */
START_TEST(data_that_is_written)
{
	unsigned int i;

	start_host(true);
	(void)host_ip();
	tracer.hardware.code_at = 0;
	tracer_take(&tracer);
	for (i = 0; i < 100 && watched[CODE / 4096]; i++)
		guest_writes(CODE, (uint8_t)(0x10 + i), 1);
	ck_assert_uint_eq(i, 16);
	guest_writes(CODE, 0xcc, 1);
	host_bytes(1);
	tracer.hardware.code_at = 0;
	tracer_take(&tracer);
	ck_assert(watched[CODE / 4096]);
	guest_writes(CODE, 0xcd, 1);
	ck_assert(watched[CODE / 4096]);
	tracer_close(&tracer, CODE);
	(void)read_back(1);
	ck_assert_uint_eq(pages_at(CODE, &(uint64_t){0}, &(uint8_t){0}), 1 + 16 + 2);
}
END_TEST

/* Code of a new page is found at an exit. A known page is not compared. */
START_TEST(code_that_is_new)
{
	uint64_t at = 0;
	uint8_t byte;
	size_t len;

	start_host(true);
	len = host_ip();
	tracer.hardware.code_at = UINT64_MAX;
	ck_assert(x86_mem_write(&mem, CODE + 0x1000, "\xcc", 1));
	ck_assert(x86_mem_write(&mem, CODE, "\x90", 1));
	tracer.hardware.written_at = tracer.hardware.new_at = 0;
	tracer_exited(&tracer);
	ck_assert_uint_gt(tracer.hardware.new_at, 0);
	ck_assert(watched[CODE / 4096 + 1]);
	ck_assert(x86_mem_write(&mem, CODE, "\xc3", 1));
	tracer_close(&tracer, CODE);
	(void)read_back(1);
	ck_assert_uint_eq(position_of(0x90), UINT64_MAX);
	ck_assert_uint_eq(pages_at(CODE + 0x1000, &at, &byte), 1);
	ck_assert_uint_eq(at, len);
}
END_TEST

/* A host without a log looks at no exit. An error of the log is one of the recording. */
START_TEST(no_log)
{
	start_host(false);
	(void)host_ip();
	tracer.hardware.written_at = tracer.hardware.new_at = 0;
	tracer_exited(&tracer);
	ck_assert_uint_eq(tracer.hardware.written_at, 0);
	ck_assert_uint_eq(tracer.hardware.new_at, 0);
	tracer_close(&tracer, CODE);
	ck_assert_int_eq(tracer.recorder.error, 0);
	(void)read_back(1);
}
END_TEST

START_TEST(a_log_that_fails)
{
	start_host(true);
	log_error = -EIO;
	tracer_take(&tracer);
	ck_assert_int_eq(tracer.recorder.error, -EIO);
	ck_assert_int_eq(trace_writer_close(writer, 0), 0);
}
END_TEST

/*
 * Row: the length of the pieces of the stream. Each CR3 is found once. A PIP before the PSB and bytes
 * like those of a PIP in a FUP are ignored.
 */
START_TEST(spaces_by_pip)
{
	const struct vpt_packet psb = {.kind = VPT_PKT_PSB};
	const struct vpt_packet fup = {
		.kind = VPT_PKT_FUP, .ip_bytes = VPT_IP_FULL, .value = 0x4302430243024302};
	struct vpt_packet pip = {.kind = VPT_PKT_PIP};
	struct tracer_seen s = {0};
	uint8_t stream[512] = {0};
	size_t len = 5, at; /* five PADs */
	unsigned int i;

	pip.value = 0x99000;
	len += append(stream + len, &pip); /* ignored: before the first PSB */
	len += append(stream + len, &psb);
	for (i = 1; i < 6; i++) {
		pip.value = 0x1000 * (i % 3 + 1);
		len += append(stream + len, &pip);
		len += append(stream + len, &fup);
	}
	for (at = 0; at < len; at += (size_t)_i)
		tracer_seen_feed(&s, stream + at, len - at < (size_t)_i ? len - at : (size_t)_i);
	ck_assert_uint_eq(s.spaces, 3);
	/* All FUPs have one IP. */
	ck_assert_uint_eq(s.areas, 1);
	ck_assert(tracer_seen_near(&s, fup.value));
	ck_assert(!tracer_seen_near(&s, fup.value - (1u << TRACER_SEEN_SHIFT)));
	ck_assert(!tracer_seen_near(&s, fup.value + (1u << TRACER_SEEN_SHIFT)));
	ck_assert_uint_eq(s.cr3[0], 0x2000);
	ck_assert_uint_eq(s.cr3[1], 0x3000);
	ck_assert_uint_eq(s.cr3[2], 0x1000);
}
END_TEST

TEST_SUITE("hardware", setup, teardown)
{
	TEST_ADD(tcase, sessions_of_a_guest, refused, a_full_region, a_loss, code, isolated_tables,
		 isolated_tables_of_ring_3, isolated_tables_by_pip, the_area_after_an_ip,
		 code_within_a_session, too_much_code, a_host, a_host_that_stops,
		 a_host_that_is_refused, code_that_is_written,
		 code_that_is_written_after_the_area_of_an_ip, data_that_is_written,
		 code_that_is_new, no_log, a_log_that_fails);
	TEST_ROWS(tcase, why_a_session_ended, ends);
	tcase_add_loop_test(tcase, spaces_by_pip, 1, 40);
}
