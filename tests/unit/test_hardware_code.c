// SPDX-License-Identifier: GPL-2.0-or-later
/* Record the code of a guest during a trace that a processor makes. */
#include "lib/hardware.h"
#include "lib/suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pt/code_pages.h"

static size_t pages_at(uint64_t vaddr, uint64_t *first, uint8_t *byte)
{
	size_t n, i, found = 0;
	const struct trace_code *code = trace_reader_code(hw.reader, 0, &n);

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

	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON);
	hw_put("abc", 3);
	ck_assert(x86_mem_write(&hw.mem, CODE, "\x90", 1));
	ck_assert(x86_mem_write(&hw.mem, CODE + 0x1000, "\xcc", 1));
	hw_write_ctl(0);
	hw_write_ctl(ON);
	hw_write_ctl(0);
	(void)hw_read_back(2);

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
	ck_assert(x86_mem_write(&hw.mem, gpa, &entry, sizeof(entry)));
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
	hw.sregs.cr3 = USER_TOP;
	hw.sregs.cr0 = X86_CR0_PE | X86_CR0_PG;
	hw.sregs.cr4 = X86_CR4_PAE;
	hw.sregs.efer = X86_EFER_LMA | X86_EFER_NXE;
}

/* Returns the position of the first page of this place, or UINT64_MAX. */
static uint64_t first_of(uint64_t cr3, uint64_t vaddr)
{
	size_t n, i;
	const struct trace_code *all = trace_reader_code(hw.reader, 0, &n);

	for (i = 0; i < n; i++)
		if (all[i].page->vaddr == vaddr && all[i].page->cr3 == cr3)
			return all[i].page->insns;
	return UINT64_MAX;
}

/* Code is recorded by both tables of a process before any packet. */
START_TEST(isolated_tables)
{
	isolate();
	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON);
	hw_put("abc", 3);
	hw_write_ctl(0);
	(void)hw_read_back(1);
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
	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl((ON & ~VPT_CTL_MASK(OS)) | VPT_CTL_MASK(USER));
	hw_write_ctl(0);
	(void)hw_read_back(1);
	ck_assert_uint_eq(first_of(USER_TOP, CODE), 0);
	ck_assert_uint_eq(first_of(KERNEL_TOP, UPPER_CODE), UINT64_MAX);
}
END_TEST

/* Return the position from which on a page of CODE has the byte, or UINT64_MAX. */
static uint64_t position_at(uint64_t vaddr, uint8_t byte)
{
	size_t n, i;
	const struct trace_code *all = trace_reader_code(hw.reader, 0, &n);

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
	hw.tracer.hardware.code_at = 0;
	tracer_take(&hw.tracer);
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
	hw_put(bytes, len);
	return len;
}

/*
 * Code that changes during a session is recorded with the offset at which it was found, if there
 * was an IP near it.
 */
START_TEST(code_within_a_session)
{
	size_t len;

	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON);
	take_later();
	ck_assert(x86_mem_write(&hw.mem, CODE, "\x90", 1));
	take_later();
	ck_assert(x86_mem_write(&hw.mem, CODE, "\x91", 1));
	len = put_ip();
	take_later();
	ck_assert(x86_mem_write(&hw.mem, CODE, "\xcc", 1));
	hw_put("\0\0\0", 3);
	take_later();
	ck_assert(x86_mem_write(&hw.mem, CODE, "\xc3", 1));
	hw_put("\0", 1);
	hw_write_ctl(0);
	(void)hw_read_back(1);

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
	hw_put(bytes, len);
	return len;
}

/* A read of code finds both tables of a process by a PIP with one of them. */
START_TEST(isolated_tables_by_pip)
{
	uint64_t len;

	isolate();
	hw.sregs.cr3 = 0xb000;
	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON);
	len = put_space(USER_TOP, UPPER_CODE);
	take_later();
	/* The kernel's table is known, and not read again. */
	set_entry(KERNEL_TOP + 257 * 8, UPPER | 3);
	put_space(USER_TOP, UPPER_CODE | 1ull << 39);
	take_later();
	hw_write_ctl(0);
	(void)hw_read_back(1);
	ck_assert_uint_eq(first_of(KERNEL_TOP, UPPER_CODE), len);
	ck_assert_uint_eq(first_of(KERNEL_TOP, UPPER_CODE | 1ull << 39), UINT64_MAX);
}
END_TEST

/* Code in the area after an IP of the kernel, and of ring 3. */
START_TEST(the_area_after_an_ip)
{
	uint64_t len;

	isolate();
	hw.sregs.cr3 = 0xb000;
	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON);
	len = put_space(KERNEL_TOP, UPPER_CODE);
	take_later();
	len += put_space(USER_TOP, CODE);
	take_later();
	hw.sregs.cr3 = 0xb000;
	hw_write_ctl(0);
	(void)hw_read_back(1);
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

	x86_mem_destroy(&hw.mem);
	ck_assert_int_eq(x86_mem_create(&hw.mem, (most + 1) * X86_PAGE_SIZE), 0);
	for (i = 0; i < most; i++)
		ck_assert(x86_mem_write(&hw.mem, i * X86_PAGE_SIZE, &(uint64_t){i + 1}, 8));
	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON);
	ck_assert(!(hw.tracer.hardware.state & TRACER_HARDWARE_FULL));
	/* This is as after IPs in very many places. */
	hw.tracer.hardware.seen.areas = TRACER_SEEN_AREAS;
	usleep(300000);
	tracer_take(&hw.tracer);
	ck_assert(hw.tracer.hardware.state & TRACER_HARDWARE_FULL);
	ck_assert(x86_mem_write(&hw.mem, CODE, "\x90", 1));
	hw_put("abc", 3);
	usleep(300000);
	tracer_take(&hw.tracer);
	hw_write_ctl(0);
	(void)hw_read_back(1);
	ck_assert_uint_eq(position_of(0x90), 3);
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
	hw.host.piece[0].bytes = bytes;
	hw.host.piece[0].len = len;
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
	hw.host.piece[0].bytes = pads;
	hw.host.piece[0].len = len;
}

static void start_host(bool log)
{
	hw.has_log = log;
	hw_open(TRACE_OWNER_HOST);
	ck_assert_int_eq(tracer_host_write(&hw.tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_NONE);
}

/* The guest writes to a page, and exits. */
static void guest_writes(uint64_t gpa, uint8_t byte, size_t more)
{
	ck_assert(x86_mem_write(&hw.mem, gpa, &byte, 1));
	hw.wrote[gpa / 4096] = true;
	host_bytes(more);
	hw.tracer.hardware.written_at = 0;
	hw.tracer.hardware.new_at = UINT64_MAX;
	tracer_exited(&hw.tracer);
}

static size_t reads(void)
{
	size_t n;

	(void)trace_reader_epochs(hw.reader, 0, &n);
	return n;
}

/* A change is recorded at the exit behind the write, and needs no sweep. */
START_TEST(code_that_is_written)
{
	size_t len;

	start_host(true);
	len = host_ip();
	hw.tracer.hardware.code_at = 0;
	tracer_take(&hw.tracer);
	ck_assert(hw.watched[CODE / 4096]);
	hw.tracer.hardware.code_at = UINT64_MAX;
	guest_writes(CODE, 0x90, 3);
	guest_writes(CODE, 0x91, 4);
	/* A page without an IP near it has no code. A page with the same bytes is not recorded. */
	guest_writes(BUFFER, 1, 5);
	guest_writes(CODE, 0x91, 6);
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
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
	hw.sregs.cr3 = KERNEL_TOP;
	start_host(true);
	len = host_ip_at(UPPER_CODE);
	hw.tracer.hardware.code_at = 0;
	tracer_take(&hw.tracer);
	hw.tracer.hardware.code_at = UINT64_MAX;
	guest_writes(CODE, 0x90, 3);
	guest_writes(CODE, 0x91, 4);
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
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
	hw.tracer.hardware.code_at = 0;
	tracer_take(&hw.tracer);
	for (i = 0; i < 100 && hw.watched[CODE / 4096]; i++)
		guest_writes(CODE, (uint8_t)(0x10 + i), 1);
	ck_assert_uint_eq(i, 16);
	guest_writes(CODE, 0xcc, 1);
	host_bytes(1);
	hw.tracer.hardware.code_at = 0;
	tracer_take(&hw.tracer);
	ck_assert(hw.watched[CODE / 4096]);
	guest_writes(CODE, 0xcd, 1);
	ck_assert(hw.watched[CODE / 4096]);
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
	ck_assert_uint_eq(pages_at(CODE, &(uint64_t){0}, &(uint8_t){0}), 1 + 16 + 2);
}
END_TEST

/* The guest stops before it writes to a page of code, and writes. */
static void guest_stops(uint64_t gpa)
{
	hw.wrote[gpa / 4096] = true;
	host_bytes(2);
	tracer_exited(&hw.tracer);
}

static void guest_patches(uint64_t gpa, uint8_t byte)
{
	guest_stops(gpa);
	guest_writes(gpa, byte, 1);
}

static void start_stops(void)
{
	hw.log_stops = true;
	start_host(true);
	hw.log_stops = false;
	(void)host_ip();
	hw.tracer.hardware.code_at = 0;
	tracer_take(&hw.tracer);
	ck_assert(hw.watched[CODE / 4096]);
	hw.tracer.hardware.code_at = hw.tracer.hardware.new_at = UINT64_MAX;
	hw.tracer.hardware.written_at = UINT64_MAX;
}

/* Each stop is a read, also without a change. So a decoder finds a change between two stops. */
START_TEST(stops_before_writes)
{
	size_t before;
	uint64_t file;

	start_stops();
	before = trace_writer_stream_bytes(hw.writer, 0);
	guest_patches(CODE, 0x90);
	/* A change takes less than a page of the file. */
	file = trace_writer_file_bytes(hw.writer);
	guest_patches(CODE + 0x200, 0x91);
	ck_assert_uint_lt(trace_writer_file_bytes(hw.writer), file + 300);
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
	ck_assert_uint_eq(position_of(0x90), before + 3);
	ck_assert_uint_eq(pages_at(CODE, &(uint64_t){0}, &(uint8_t){0}), 3);
	/* The begin, the sweep, two reads for each write, the end. */
	ck_assert_uint_eq(reads(), 7);
}
END_TEST

/* Patches here and there leave a page watched for long. */
START_TEST(stops_at_patches)
{
	unsigned int i;

	start_stops();
	for (i = 0; i < 100; i++)
		guest_patches(CODE + 64 * (i % 60), (uint8_t)(i + 1));
	ck_assert(hw.watched[CODE / 4096]);
	for (; i < 1000 && hw.watched[CODE / 4096]; i++)
		guest_patches(CODE + 64 * (i % 60), (uint8_t)(i + 1));
	ck_assert_uint_lt(i, 200);
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
}
END_TEST

/* Data is written at the same place. It is not watched again, also not after a sweep. */
START_TEST(stops_at_data)
{
	unsigned int i;

	start_stops();
	for (i = 0; i < 100 && hw.watched[CODE / 4096]; i++)
		guest_patches(CODE + 0x800, (uint8_t)(i + 1));
	ck_assert_uint_ge(i, 16);
	ck_assert_uint_lt(i, 20);
	hw.tracer.hardware.code_at = 0;
	tracer_take(&hw.tracer);
	ck_assert(!hw.watched[CODE / 4096]);
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
}
END_TEST

/* The page is no longer watched after 32 stops without a change. */
static void stops_are_given_up(void)
{
	unsigned int i;

	for (i = 0; i < 100 && hw.watched[CODE / 4096]; i++)
		guest_stops(CODE);
	ck_assert_uint_eq(i, 32);
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
}

/* The processor sets accessed bits in page tables, which is no change of them. */
START_TEST(stops_without_a_change)
{
	unsigned int i;

	start_stops();
	for (i = 0; i < 31; i++)
		guest_stops(CODE);
	/* A change begins the count anew. */
	guest_writes(CODE, 0x90, 1);
	stops_are_given_up();
}
END_TEST

/* Code that has changed back is not the newest content of its page, and reports are no changes of it. */
START_TEST(stops_after_a_change_back)
{
	start_stops();
	guest_patches(CODE, 0x90);
	guest_patches(CODE, 0xc3);
	stops_are_given_up();
}
END_TEST

/* An IP in a page of ring 3 that is not known has the exit record it, without waiting. */
START_TEST(code_that_is_new_at_a_stop)
{
	const uint64_t ip = CODE + 0x3000;
	uint64_t at = 0;
	uint8_t byte;
	size_t len;

	start_stops();
	len = trace_writer_stream_bytes(hw.writer, 0);
	ck_assert(x86_mem_write(&hw.mem, ip, "\xcc", 1));
	hw.tracer.hardware.seen.space = hw.sregs.cr3;
	len += host_ip_at(ip);
	tracer_exited(&hw.tracer);
	ck_assert_uint_eq(hw.tracer.hardware.seen.places, 0);
	ck_assert(hw.tracer.hardware.new_at != UINT64_MAX);
	/* The same IP again is no reason to search. */
	hw.tracer.hardware.new_at = UINT64_MAX;
	(void)host_ip_at(ip);
	tracer_exited(&hw.tracer);
	ck_assert_uint_eq(hw.tracer.hardware.new_at, UINT64_MAX);
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
	ck_assert_uint_eq(pages_at(ip, &at, &byte), 1);
	ck_assert_uint_eq(at, len);
	ck_assert_uint_eq(byte, 0xcc);
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
	hw.tracer.hardware.code_at = UINT64_MAX;
	ck_assert(x86_mem_write(&hw.mem, CODE + 0x1000, "\xcc", 1));
	ck_assert(x86_mem_write(&hw.mem, CODE, "\x90", 1));
	hw.tracer.hardware.written_at = hw.tracer.hardware.new_at = 0;
	tracer_exited(&hw.tracer);
	ck_assert_uint_gt(hw.tracer.hardware.new_at, 0);
	ck_assert(hw.watched[CODE / 4096 + 1]);
	ck_assert(x86_mem_write(&hw.mem, CODE, "\xc3", 1));
	tracer_close(&hw.tracer, CODE);
	(void)hw_read_back(1);
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
	hw.tracer.hardware.written_at = hw.tracer.hardware.new_at = 0;
	tracer_exited(&hw.tracer);
	ck_assert_uint_eq(hw.tracer.hardware.written_at, 0);
	ck_assert_uint_eq(hw.tracer.hardware.new_at, 0);
	tracer_close(&hw.tracer, CODE);
	ck_assert_int_eq(hw.tracer.recorder.error, 0);
	(void)hw_read_back(1);
}
END_TEST

START_TEST(a_log_that_fails)
{
	start_host(true);
	hw.log_error = -EIO;
	tracer_take(&hw.tracer);
	ck_assert_int_eq(hw.tracer.recorder.error, -EIO);
	ck_assert_int_eq(trace_writer_close(hw.writer, 0), 0);
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

TEST_SUITE("hardware code", hw_setup, hw_teardown)
{
	TEST_ADD(tcase, code, isolated_tables, isolated_tables_of_ring_3, isolated_tables_by_pip,
		 the_area_after_an_ip, code_within_a_session, too_much_code, code_that_is_written,
		 code_that_is_written_after_the_area_of_an_ip, data_that_is_written,
		 stops_before_writes, stops_at_patches, stops_at_data, stops_without_a_change,
		 stops_after_a_change_back, code_that_is_new, code_that_is_new_at_a_stop, no_log,
		 a_log_that_fails);
	tcase_add_loop_test(tcase, spaces_by_pip, 1, 40);
}
