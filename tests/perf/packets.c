// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every packet, in a file for perf script -D, and what perf has to say of each.
 *
 * usage: perf-packets FILE      writes FILE, prints a line per packet: offset, text
 *
 * The text is in perf's words, made of what our parser reads out of the bytes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/record.h"
#include "lib/packets.h"

/* perf takes up to this many bytes with a packet if what follows is padding. */
#define PERF_PADDED 8

struct stream {
	uint8_t *bytes;
	size_t len, room;
	struct vpt_parser parser;
	unsigned long kinds[VPT_PKT_COUNT];
};

static void put(struct stream *s, const struct vpt_packet *p)
{
	if (s->room - s->len < VPT_PKT_MAX) {
		s->room = s->room ? 2 * s->room : 1 << 20;
		s->bytes = realloc(s->bytes, s->room);
		if (!s->bytes)
			exit(2);
	}
	s->len += vpt_packet_write(s->bytes + s->len, p);
}

/*
 * perf refuses combinations that the manual leaves undefined: CS.L with CS.D, and both bits of TSX.
 */
static bool refused(const struct vpt_packet *p)
{
	return test_packet_known(p->kind) < TEST_KNOWN_PERF ||
	       ((p->kind == VPT_PKT_MODE_EXEC || p->kind == VPT_PKT_MODE_TSX) &&
		(p->value & 3) == 3);
}

static void one(const struct vpt_packet *p, void *opaque)
{
	struct stream *s = opaque;

	if (refused(p))
		return;
	if (p->kind == VPT_PKT_BIP)
		put(s,
		    &(struct vpt_packet){.kind = VPT_PKT_BBP, .value = 4, .flag = p->bits == 32});
	put(s, p);
	s->kinds[p->kind]++;
}

/* Fill the stream. It must not end with a packet to which padding could be added. */
static void fill(struct stream *s)
{
	unsigned int kind;

	for (kind = 0; kind < VPT_PKT_COUNT; kind++)
		test_each_packet((enum vpt_pkt_kind)kind, one, s);
	put(s, &(struct vpt_packet){.kind = VPT_PKT_BEP});
	put(s, &(struct vpt_packet){.kind = VPT_PKT_PSB});
	while (s->len % 8)
		put(s, &(struct vpt_packet){.kind = VPT_PKT_PAD});
}

static void say_tnt(const struct vpt_packet *p)
{
	unsigned int i;

	printf("TNT ");
	for (i = p->bits; i--;)
		putchar(p->value >> i & 1 ? 'T' : 'N');
	printf(" (%u)", p->bits);
}

static void say_ip(const char *name, const struct vpt_packet *p)
{
	if (p->ip_bytes)
		printf("%s 0x%" PRIx64, name, p->value);
	else
		printf("%s no ip", name);
}

static void say_mode(const struct vpt_packet *p)
{
	static const unsigned int bits[] = {16, 64, 32};

	if (p->kind == VPT_PKT_MODE_EXEC)
		printf("MODE.Exec IF:%u %u", (unsigned int)(p->value >> 2), bits[p->value & 3]);
	else
		printf("MODE.TSX TXAbort:%u InTX:%u", (unsigned int)(p->value >> 1),
		       (unsigned int)(p->value & 1));
}

/* perf prints the bytes as a number, followed by their meaning. */
static void say_power(const struct vpt_packet *p)
{
	unsigned int high = (unsigned int)p->value >> 4, low = p->value & 15;

	switch (p->kind) {
	case VPT_PKT_MWAIT:
		printf("MWAIT 0x%" PRIx64 " Hints 0x%x Extensions 0x%x",
		       (uint64_t)p->aux << 32 | p->value, (unsigned int)p->value, p->aux);
		return;
	case VPT_PKT_PWRE:
		printf("PWRE 0x%x HW:%u CState:%u Sub-CState:%u",
		       (unsigned int)p->value << 8 | (p->flag ? 0x80 : 0), p->flag, high, low);
		return;
	default:
		printf("PWRX 0x%x Last CState:%u Deepest CState:%u Wake Reason 0x%x",
		       (unsigned int)p->value | (unsigned int)p->aux << 8, high, low, p->aux);
		return;
	}
}

static void say(const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		say_tnt(p);
		return;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		say_ip(vpt_pkt_name(p->kind), p);
		return;
	case VPT_PKT_MODE_EXEC:
	case VPT_PKT_MODE_TSX:
		say_mode(p);
		return;
	case VPT_PKT_MWAIT:
	case VPT_PKT_PWRE:
	case VPT_PKT_PWRX:
		say_power(p);
		return;
	case VPT_PKT_PIP:
		printf("PIP 0x%" PRIx64 " (NR=%d)", p->value >> 5, p->flag);
		return;
	case VPT_PKT_VMCS:
		printf("VMCS 0x%" PRIx64, p->value >> 12);
		return;
	case VPT_PKT_CBR:
	case VPT_PKT_TSC:
	case VPT_PKT_MTC:
	case VPT_PKT_CYC:
	case VPT_PKT_MNT:
		printf("%s 0x%" PRIx64, vpt_pkt_name(p->kind), p->value);
		return;
	case VPT_PKT_TMA:
		printf("TMA CTC 0x%x FC 0x%x", (unsigned int)p->value, p->aux);
		return;
	case VPT_PKT_PTW:
		printf("PTWRITE 0x%" PRIx64 " IP:%d", p->value, p->flag);
		return;
	case VPT_PKT_EXSTOP:
	case VPT_PKT_BEP:
		printf("%s IP:%d", vpt_pkt_name(p->kind), p->flag);
		return;
	case VPT_PKT_BBP:
		printf("BBP SZ %d-byte Type 0x%" PRIx64, p->flag ? 4 : 8, p->value);
		return;
	case VPT_PKT_BIP:
		printf("BIP ID 0x%02x Value 0x%" PRIx64, p->aux, p->value);
		return;
	case VPT_PKT_CFE:
		printf("CFE IP:%d Type 0x%02x Vector 0x%x", p->flag, (unsigned int)p->value,
		       p->aux);
		return;
	case VPT_PKT_EVD:
		printf("EVD Type 0x%02x Payload 0x%" PRIx64, p->aux, p->value);
		return;
	case VPT_PKT_TRACE_STOP:
		printf("TraceSTOP");
		return;
	default:
		printf("%s", vpt_pkt_name(p->kind));
		return;
	}
}

static void list(struct stream *s)
{
	struct vpt_packet p;
	size_t at = 0, size;

	while (at < s->len) {
		if (vpt_packet_read(&s->parser, s->bytes + at, s->len - at, &p) != VPT_OK) {
			fprintf(stderr, "%zx: our parser reads no packet\n", at);
			exit(1);
		}
		printf("%08zx: ", at);
		say(&p);
		putchar('\n');
		for (size = p.size;
		     size < PERF_PADDED && at + size < s->len && !s->bytes[at + size];)
			size++;
		at += size;
	}
}

static int write_file(const struct stream *s, const char *path)
{
	struct export_record r = {.vcpus = 1, .kernel = true, .timing = EXPORT_RECORD_TIMELESS};
	int err;

	r.out = fopen(path, "wb");
	if (!r.out)
		return -errno;
	snprintf(r.cpuid, sizeof(r.cpuid), "GenuineIntel,6,143,8");
	export_record_begin(&r);
	export_record_auxtrace_info(&r, &(struct export_record_time){.mult = 1});
	export_record_auxtrace(&r, 0, s->len, 1);
	fwrite(s->bytes, 1, s->len, r.out);
	err = export_record_end(&r);
	if (fclose(r.out) && !err)
		err = -errno;
	return err;
}

int main(int argc, char **argv)
{
	struct stream s = {0};
	unsigned int kind;
	int err;

	if (argc != 2)
		return 2;
	fill(&s);
	for (kind = 0; kind < VPT_PKT_COUNT; kind++) {
		if (!s.kinds[kind] &&
		    test_packet_known((enum vpt_pkt_kind)kind) >= TEST_KNOWN_PERF) {
			fprintf(stderr, "no %s\n", vpt_pkt_name((enum vpt_pkt_kind)kind));
			return 2;
		}
	}
	err = write_file(&s, argv[1]);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-err));
		return 2;
	}
	list(&s);
	free(s.bytes);
	return 0;
}
