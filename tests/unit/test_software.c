// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PTWRITE, sleep states, packet blocks and MNT: every value of every field, from event to
 * packet, as our reader and as libipt's packet layer see it; PEBS records item by item; and a
 * program with all of them through libipt's instruction layer.
 */
#include "lib/packets.h"
#include "lib/suite.h"
#include "lib/ram.h"

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/block.h"

enum { REGION = 0x10000, RAM = 0x20000, INSN = 8 };

struct rig {
	struct vpt_pt pt;
	struct vpt_caps caps;
	struct vpt_context ctx;
	size_t begun; /* bytes before the first event */
	uint8_t ram[RAM];
};

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	struct rig *rig = opaque;

	return test_ram_read(rig->ram, RAM, gpa, dst, len);
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct rig *rig = opaque;

	return test_ram_write(rig->ram, RAM, gpa, src, len);
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct rig *)opaque)->ctx;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
};

static void write_msr(struct rig *rig, uint32_t msr, uint64_t value, uint64_t ip, uint64_t next)
{
	ck_assert_int_eq(vpt_pt_wrmsr(&rig->pt, msr, value, VPT_ACCESS_GUEST, ip, next),
			 VPT_FAULT_NONE);
}

static size_t produced(struct rig *rig)
{
	uint64_t ptrs = 0;

	ck_assert_int_eq(vpt_pt_rdmsr(&rig->pt, VPT_MSR_OUTPUT_MASK_PTRS, &ptrs), VPT_FAULT_NONE);
	return ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;
}

/* A trace with these bits of CTL that begins at `next`. */
static struct rig *begin(uint64_t ctl, uint64_t next)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	ck_assert_ptr_nonnull(rig);
	rig->caps = *vpt_caps_model("spr");
	rig->caps.l14_0_ebx |= 1 << 5;
	rig->ctx = (struct vpt_context){
		.cr3 = 0x1000, .tsc = 0x777, .cbr = 20, .cs_l = true, .lma = true};
	vpt_pt_init(&rig->pt, &rig->caps, &ops, rig);
	write_msr(rig, VPT_MSR_OUTPUT_BASE, REGION, 0, 0);
	write_msr(rig, VPT_MSR_OUTPUT_MASK_PTRS, 0xffff, 0, 0);
	write_msr(rig, VPT_MSR_CTL, ctl | VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS), next, next);
	rig->begun = produced(rig);
	return rig;
}

/* The only packet, or the first, since the last call; *rest: bytes after it. */
static struct vpt_packet one_packet(struct rig *rig, struct vpt_parser *parser, size_t *rest)
{
	size_t end = produced(rig), at = rig->begun;
	struct vpt_packet packet;

	ck_assert_int_eq(vpt_packet_read(parser, rig->ram + REGION + at, end - at, &packet),
			 VPT_OK);
	*rest = end - at - packet.size;
	rig->begun = at + packet.size;
	/* The region is as large as the longest of these tests needs. */
	ck_assert_uint_lt(end, 0x10000);
	return packet;
}

static struct pt_packet as_libipt(struct rig *rig, size_t from)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;

	pt_config_init(&config);
	config.begin = rig->ram + REGION + from;
	config.end = rig->ram + REGION + produced(rig);
	decoder = pt_pkt_alloc_decoder(&config);
	ck_assert_ptr_nonnull(decoder);
	ck_assert_int_eq(pt_pkt_sync_set(decoder, 0), 0);
	memset(&packet, 0, sizeof(packet));
	ck_assert_int_gt(pt_pkt_next(decoder, &packet, sizeof(packet)), 0);
	pt_pkt_free_decoder(decoder);
	return packet;
}

/* Report, and check that the stream then holds what `want` says, and nothing after it. */
static struct pt_packet expect(struct rig *rig, const struct vpt_event *event,
			       const struct vpt_packet *want)
{
	struct vpt_parser parser = {0};
	size_t from = rig->begun, rest;
	struct vpt_packet got;

	if (event)
		vpt_pt_event(&rig->pt, event);
	got = one_packet(rig, &parser, &rest);
	ck_assert(test_packet_same(&got, want));
	ck_assert_uint_eq(rest, 0);
	return as_libipt(rig, from);
}

/* 0, all ones, and each bit alone. */
static uint64_t boundary(unsigned int i, unsigned int bits)
{
	uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1;

	return i == 0 ? 0 : i == 1 ? all : 1ull << (i - 2);
}

START_TEST(ptw_values)
{
	struct rig *rig = begin(VPT_CTL_MASK(PTW_EN), 0x1000);
	unsigned int bits, i;

	for (bits = 32; bits <= 64; bits += 32) {
		for (i = 0; i < bits + 2; i++) {
			const struct vpt_event event = {
				.kind = VPT_EV_PTWRITE,
				.flags = bits == 64 ? VPT_EVF_WIDE : 0,
				.value = boundary(i, bits),
			};
			const struct vpt_packet want = {
				.kind = VPT_PKT_PTW,
				.bits = (uint8_t)bits,
				.value = event.value,
			};
			struct pt_packet seen = expect(rig, &event, &want);

			ck_assert_int_eq(seen.type, ppt_ptw);
			ck_assert_uint_eq(seen.payload.ptw.payload, event.value);
			ck_assert_uint_eq(seen.payload.ptw.plc, bits == 64);
			ck_assert_uint_eq(seen.payload.ptw.ip, 0);
		}
	}
	free(rig);
	TEST_PROVES("PTW-SIZE PTW-DEPENDS PKT-PTW");
}
END_TEST

/* Each state once, entered by software and by hardware; libipt 2.0.5 takes HW for bit 3. */
START_TEST(pwre_states)
{
	unsigned int state;

	for (state = 0; state < 512; state++) {
		struct rig *rig = begin(VPT_CTL_MASK(PWR_EVT_EN), 0x1000);
		const struct vpt_event asleep = {.kind = VPT_EV_SLEEP, .cstate = 0x30};
		const struct vpt_event event = {
			.kind = VPT_EV_SLEEP,
			.flags = state & 256 ? VPT_EVF_HW : 0,
			.cstate = (uint8_t)state,
		};
		const struct vpt_packet want = {
			.kind = VPT_PKT_PWRE,
			.flag = state & 256,
			.value = state & 0xff,
		};
		struct pt_packet seen;

		/* From one state to another: EXSTOP and FUP came with the first. */
		vpt_pt_event(&rig->pt, &asleep);
		rig->begun = produced(rig);
		if ((state & 0xfe) == 0xf0) {
			vpt_pt_event(&rig->pt, &event);
			ck_assert_uint_eq(produced(rig), rig->begun);
		} else {
			seen = expect(rig, &event, &want);
			ck_assert_int_eq(seen.type, ppt_pwre);
			ck_assert_uint_eq(seen.payload.pwre.state, state >> 4 & 0xf);
			ck_assert_uint_eq(seen.payload.pwre.sub_state, state & 0xf);
		}
		free(rig);
	}
	TEST_PROVES("PWR-STATE PWR-HW PWR-SHALLOW PKT-PWRE");
}
END_TEST

START_TEST(mwait_values)
{
	unsigned int i;

	for (i = 0; i < 1024; i++) {
		struct rig *rig = begin(VPT_CTL_MASK(PWR_EVT_EN), 0x1000);
		const struct vpt_event event = {
			.kind = VPT_EV_SLEEP,
			.flags = VPT_EVF_MWAIT,
			.cstate = 0x20,
			/* Bits beyond the fields are not sent. */
			.value = (i & 0xff) | 0xabcd00,
			.ext = (uint8_t)(i >> 8 | 0xf0),
		};
		struct vpt_parser parser = {0};
		struct vpt_packet got;
		struct pt_packet seen;
		size_t from = rig->begun, rest;

		vpt_pt_event(&rig->pt, &event);
		got = one_packet(rig, &parser, &rest);
		ck_assert_int_eq(got.kind, VPT_PKT_MWAIT);
		ck_assert_uint_eq(got.value, i & 0xff);
		ck_assert_uint_eq(got.aux, i >> 8);
		ck_assert_uint_gt(rest, 0);
		seen = as_libipt(rig, from);
		ck_assert_int_eq(seen.type, ppt_mwait);
		ck_assert_uint_eq(seen.payload.mwait.hints, i & 0xff);
		ck_assert_uint_eq(seen.payload.mwait.ext, i >> 8);
		free(rig);
	}
	TEST_PROVES("PWR-MWAIT PKT-MWAIT");
}
END_TEST

/* Core C-states have no sub-states; of the reasons libipt 2.0.5 lacks the timer. */
START_TEST(pwrx_values)
{
	unsigned int i;

	for (i = 0; i < 4096; i++) {
		struct rig *rig;
		const struct vpt_event event = {
			.kind = VPT_EV_WAKE,
			.cstate = (uint8_t)((i & 0xf0) | 2),
			.deepest = (uint8_t)((i & 0xf) << 4 | 3),
			.wake = (uint8_t)(i >> 8),
		};
		const struct vpt_packet want = {
			.kind = VPT_PKT_PWRX, .value = i & 0xff, .aux = (uint16_t)(i >> 8)};
		struct pt_packet seen;
		unsigned int known;

		if (i % 7 && i % 256 && i % 256 != 0xff)
			continue;
		rig = begin(VPT_CTL_MASK(PWR_EVT_EN), 0x1000);
		rig->begun += 4; /* past CBR */
		seen = expect(rig, &event, &want);
		ck_assert_int_eq(seen.type, ppt_pwrx);
		ck_assert_uint_eq(seen.payload.pwrx.last, i >> 4 & 0xf);
		ck_assert_uint_eq(seen.payload.pwrx.deepest, i & 0xf);
		known = seen.payload.pwrx.interrupt | (unsigned int)seen.payload.pwrx.store << 2 |
			(unsigned int)seen.payload.pwrx.autonomous << 3;
		ck_assert_uint_eq(known, i >> 8 & 0xd);
		free(rig);
	}
	TEST_PROVES("PWR-WAKE PWR-STATE PKT-PWRX");
}
END_TEST

START_TEST(mnt_values)
{
	struct rig *rig = begin(0, 0x1000);
	unsigned int i;

	for (i = 0; i < 66; i++) {
		const struct vpt_packet want = {.kind = VPT_PKT_MNT, .value = boundary(i, 64)};
		struct pt_packet seen;

		vpt_pt_mnt(&rig->pt, want.value);
		seen = expect(rig, NULL, &want);
		ck_assert_int_eq(seen.type, ppt_mnt);
		ck_assert_uint_eq(seen.payload.mnt.payload, want.value);
	}
	free(rig);
	TEST_PROVES("MNT-PLAIN PKT-MNT");
}
END_TEST

/* The table's rows, on this side by what they are called. */
static const struct item {
	uint8_t type, id;
	const char *name;
} items[] = {
#define VPT_BIP(name, type, id, tag, section, meaning) {VPT_BBP_##type, id, meaning},
#include "../spec/bip.def"
#undef VPT_BIP
};

enum { ITEMS = sizeof(items) / sizeof(items[0]) };

static struct vpt_packet next_of(struct rig *rig, struct vpt_parser *parser, enum vpt_pkt_kind kind)
{
	size_t rest;
	struct vpt_packet packet = one_packet(rig, parser, &rest);

	ck_assert_int_eq(packet.kind, kind);
	return packet;
}

/* Every item by itself, with every boundary value, in both sizes. */
START_TEST(block_items)
{
	const struct item *item = &items[_i];
	unsigned int i, bits;

	for (bits = 32; bits <= 64; bits += 32) {
		struct rig *rig = begin(0, 0x1000);

		for (i = 0; i < bits + 2; i++) {
			struct vpt_block_group group = {
				.type = item->type,
				.short_items = bits == 32,
				.present = 1u << item->id,
			};
			struct vpt_parser parser = {0};
			struct vpt_packet packet;

			group.item[item->id] = boundary(i, bits) | (bits == 32 ? 5ull << 40 : 0);
			ck_assert_int_eq(vpt_pt_blocks(&rig->pt, &group, 1, 0x1234), VPT_OK);
			packet = next_of(rig, &parser, VPT_PKT_BBP);
			ck_assert_uint_eq(packet.value, item->type);
			ck_assert_uint_eq(packet.flag, bits == 32);
			packet = next_of(rig, &parser, VPT_PKT_BIP);
			ck_assert_uint_eq(packet.aux, item->id);
			ck_assert_uint_eq(packet.bits, bits);
			ck_assert_uint_eq(packet.value, boundary(i, bits));
			packet = next_of(rig, &parser, VPT_PKT_BEP);
			ck_assert(packet.flag);
			packet = next_of(rig, &parser, VPT_PKT_FUP);
			ck_assert_uint_eq(produced(rig), rig->begun);
		}
		free(rig);
	}
	TEST_PROVES("BIP-GPR BIP-BASIC BIP-MEMORY BIP-LBR BIP-XMM BLK-SIZE BLK-ORDER "
		    "PKT-BBP PKT-BIP PKT-BEP");
}
END_TEST

/* 153 items, each once, by type and ID in order; nothing else has a name. */
START_TEST(block_table)
{
	unsigned int type, id, n = 0;

	ck_assert_uint_eq(ITEMS, 18 + 3 + 4 + 3 * 32 + 32);
	for (type = 0; type < 256; type++) {
		for (id = 0; id < 64; id++) {
			const char *name = vpt_bip_name((uint8_t)type, id);

			if (n < ITEMS && items[n].type == type && items[n].id == id)
				ck_assert_str_eq(name, items[n++].name);
			else
				ck_assert_ptr_null(name);
		}
	}
	ck_assert_uint_eq(n, ITEMS);
	ck_assert_str_eq(vpt_bip_name(VPT_BBP_LBR_1, 0x00), "LBR[TOS-10]_INFO");
	ck_assert_str_eq(vpt_bip_name(VPT_BBP_LBR_1, 0x1f), "LBR[TOS-21]_FROM_IP");
	ck_assert_str_eq(vpt_bip_name(VPT_BBP_LBR_2, 0x00), "LBR[TOS-21]_TO_IP");
	ck_assert_str_eq(vpt_bip_name(VPT_BBP_LBR_2, 0x1f), "LBR[TOS-31]_INFO");
	ck_assert_str_eq(vpt_bip_name(VPT_BBP_GPR, 0x11), "R15");
	ck_assert_str_eq(vpt_bip_name(VPT_BBP_XMM, 0x1d), "XMM14_Q1");
	TEST_PROVES("BLK-TYPES BIP-GPR BIP-BASIC BIP-MEMORY BIP-LBR BIP-XMM");
}
END_TEST

/* What an item of the record below is, worked out from its name in the table. */
static uint64_t value_of(const struct vpt_pebs_record *r, const struct item *item)
{
	static const char *const gprs[] = {"R/EAX", "R/ECX", "R/EDX", "R/EBX", "R/ESP", "R/EBP",
					   "R/ESI", "R/EDI", "R8",    "R9",    "R10",	"R11",
					   "R12",   "R13",   "R14",   "R15"};
	static const struct {
		const char *name;
		size_t offset;
	} others[] = {
		{"R/EFLAGS", offsetof(struct vpt_pebs_record, flags)},
		{"R/EIP", offsetof(struct vpt_pebs_record, ip)},
		{"instruction pointer", offsetof(struct vpt_pebs_record, ip)},
		{"applicable counters", offsetof(struct vpt_pebs_record, counters)},
		{"timestamp", offsetof(struct vpt_pebs_record, tsc)},
		{"MemAccessAddress", offsetof(struct vpt_pebs_record, address)},
		{"MemAuxInfo", offsetof(struct vpt_pebs_record, aux)},
		{"MemAccessLatency", offsetof(struct vpt_pebs_record, latency)},
		{"TSXAuxInfo", offsetof(struct vpt_pebs_record, tsx_aux)},
	};
	unsigned int i, n, q;
	uint64_t value;
	char what[16];

	if (sscanf(item->name, "XMM%u_Q%u", &n, &q) == 2)
		return r->xmm[n][q];
	if (sscanf(item->name, "LBR[TOS-%u]_%15s", &n, what) == 2)
		return !strcmp(what, "FROM_IP") ? r->lbr[n].from
		       : !strcmp(what, "TO_IP") ? r->lbr[n].to
						: r->lbr[n].info;
	for (i = 0; i < 16; i++)
		if (!strcmp(gprs[i], item->name))
			return r->gpr[i];
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(others[i].name, item->name))
			continue;
		memcpy(&value, (const char *)r + others[i].offset, 8);
		return value;
	}
	ck_abort_msg("no item %s", item->name);
	return 0;
}

static struct vpt_pebs_record random_record(uint32_t sections, unsigned int lbrs)
{
	struct vpt_pebs_record record = {0};
	uint64_t state = 42;
	uint64_t *word = (uint64_t *)&record;
	size_t i;

	for (i = 0; i < sizeof(record) / 8; i++)
		word[i] = test_random(&state);
	record.sections = sections;
	record.lbrs = lbrs;
	return record;
}

static const struct vpt_block_group *group_of(const struct vpt_block_group *group,
					      unsigned int count, uint8_t type)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (group[i].type == type)
			return &group[i];
	return NULL;
}

/* Is an item in a record with these sections? */
static bool belongs(const struct item *item, uint32_t sections, unsigned int lbrs)
{
	unsigned int n;

	switch (item->type) {
	case VPT_BBP_GPR:
		return sections & VPT_PEBS_GPRS;
	case VPT_BBP_PEBS_BASIC:
		return true;
	case VPT_BBP_PEBS_MEMORY:
		return sections & VPT_PEBS_MEMORY;
	case VPT_BBP_XMM:
		return sections & VPT_PEBS_XMMS;
	default:
		ck_assert_int_eq(sscanf(item->name, "LBR[TOS-%u]", &n), 1);
		return sections & VPT_PEBS_LBRS && n < lbrs;
	}
}

/* All sections in all combinations, and all numbers of LBR entries. */
START_TEST(pebs_groups)
{
	uint32_t sections = (uint32_t)_i % 16;
	unsigned int lbrs = (unsigned int)_i / 16, i, count;
	struct vpt_block_group group[VPT_PEBS_GROUPS];
	struct vpt_pebs_record record = random_record(sections, lbrs);
	uint8_t last = 0;

	memset(group, 0xa5, sizeof(group));
	count = vpt_pebs_groups(&record, group);
	ck_assert_uint_le(count, VPT_PEBS_GROUPS);
	for (i = 0; i < count; i++) {
		ck_assert_uint_gt(group[i].type, last);
		last = group[i].type;
		ck_assert(!group[i].short_items);
		ck_assert_uint_ne(group[i].present, 0);
	}
	for (i = 0; i < ITEMS; i++) {
		const struct vpt_block_group *g = group_of(group, count, items[i].type);
		bool there = g && g->present >> items[i].id & 1;

		ck_assert_int_eq(there, belongs(&items[i], sections, lbrs));
		if (there)
			ck_assert_uint_eq(g->item[items[i].id], value_of(&record, &items[i]));
	}
	/* A count that is out of range is the most there is. */
	if (lbrs == VPT_PEBS_LBR_MAX) {
		record.lbrs = ~0u;
		ck_assert_uint_eq(vpt_pebs_groups(&record, group), count);
	}
	TEST_PROVES("BIP-GPR BIP-BASIC BIP-MEMORY BIP-LBR BIP-XMM");
}
END_TEST

/* A whole record is read back as it was; a block that is open swallows nothing after it. */
START_TEST(pebs_stream)
{
	struct rig *rig = begin(VPT_CTL_MASK(BRANCH_EN), 0x1000);
	struct vpt_pebs_record record = random_record(15, VPT_PEBS_LBR_MAX);
	struct vpt_block_group group[VPT_PEBS_GROUPS];
	unsigned int count = vpt_pebs_groups(&record, group), i, id;
	struct vpt_parser parser = {0};
	struct vpt_packet packet;

	vpt_pt_cond(&rig->pt, 0x1000, 0x1100, true);
	ck_assert_int_eq(vpt_pt_blocks(&rig->pt, group, count, 0x1100), VPT_OK);
	vpt_pt_cond(&rig->pt, 0x1100, 0x1108, false);
	vpt_pt_flush(&rig->pt);
	next_of(rig, &parser, VPT_PKT_TNT_8);
	for (i = 0; i < count; i++) {
		packet = next_of(rig, &parser, VPT_PKT_BBP);
		ck_assert_uint_eq(packet.value, group[i].type);
		for (id = 0; id < VPT_BLOCK_ITEMS; id++) {
			if (!(group[i].present >> id & 1))
				continue;
			packet = next_of(rig, &parser, VPT_PKT_BIP);
			ck_assert_uint_eq(packet.aux, id);
			ck_assert_uint_eq(packet.value, group[i].item[id]);
		}
	}
	packet = next_of(rig, &parser, VPT_PKT_BEP);
	ck_assert(packet.flag);
	packet = next_of(rig, &parser, VPT_PKT_FUP);
	ck_assert_uint_eq(packet.value, 0x1100);
	packet = next_of(rig, &parser, VPT_PKT_TNT_8);
	ck_assert_uint_eq(packet.bits, 1);
	free(rig);
	TEST_PROVES("BLK-ORDER BLK-FUP BLK-FORBIDDEN");
}
END_TEST

/* However a PSB becomes due, none stands inside of a record, and it comes at last. */
START_TEST(psb_waits)
{
	struct rig *rig = begin(VPT_CTL_MASK(BRANCH_EN), 0x1000);
	struct vpt_pebs_record record = random_record(15, VPT_PEBS_LBR_MAX);
	struct vpt_block_group group[VPT_PEBS_GROUPS];
	unsigned int count = vpt_pebs_groups(&record, group), i, psbs = 0;
	struct vpt_parser parser = {0};
	bool open = false;
	uint64_t ip = 0x1000;

	for (i = 0; i < 20; i++) {
		ck_assert_int_eq(vpt_pt_blocks(&rig->pt, group, count, ip), VPT_OK);
		vpt_pt_event(&rig->pt, &(struct vpt_event){.kind = VPT_EV_JMP_INDIRECT,
							   .from = ip,
							   .to = ip + 0x100});
		ip += 0x100;
	}
	while (rig->begun < produced(rig)) {
		size_t rest;
		struct vpt_packet packet = one_packet(rig, &parser, &rest);

		open |= packet.kind == VPT_PKT_BBP;
		if (packet.kind == VPT_PKT_BEP)
			open = false;
		if (packet.kind != VPT_PKT_PSB)
			continue;
		ck_assert(!open);
		psbs++;
	}
	ck_assert_uint_ge(psbs, 10);
	free(rig);
	TEST_PROVES("BLK-FORBIDDEN");
}
END_TEST

/*
 * ptwrite eax; ptwrite rax; hlt; mwait; jmp rax -> nop; wrmsr, as libipt's instruction layer
 * tells it: each event at its instruction, with and without FUPs.
 */
static const uint8_t program[] = {
	0xf3, 0x0f, 0xae, 0xe0,	      /* 0: ptwrite eax */
	0xf3, 0x48, 0x0f, 0xae, 0xe0, /* 4: ptwrite rax */
	0xf4,			      /* 9: hlt */
	0x0f, 0x01, 0xc9,	      /* a: mwait */
	0xff, 0xe0,		      /* d: jmp rax */
	0x90,			      /* f: nop */
	0x0f, 0x30,		      /* 10: wrmsr */
};

enum { PROGRAM = 0x1000 };

static int read_program(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
			void *context_)
{
	size_t i;

	(void)asid;
	(void)context_;
	for (i = 0; i < size && ip + i - PROGRAM < sizeof(program); i++)
		buffer[i] = program[ip + i - PROGRAM];
	return i ? (int)i : -pte_nomap;
}

static void report(struct rig *rig, struct vpt_event event, uint64_t from, uint64_t to)
{
	event.from = PROGRAM + from;
	event.to = PROGRAM + to;
	vpt_pt_event(&rig->pt, &event);
}

static void run_program(struct rig *rig)
{
	const struct vpt_event wake = {.kind = VPT_EV_WAKE, .wake = VPT_WAKE_INTERRUPT};

	report(rig, (struct vpt_event){.kind = VPT_EV_PTWRITE, .value = 0x2a}, 0, 4);
	report(rig,
	       (struct vpt_event){
		       .kind = VPT_EV_PTWRITE, .flags = VPT_EVF_WIDE, .value = 1ull << 40},
	       4, 9);
	report(rig, (struct vpt_event){.kind = VPT_EV_SLEEP}, 9, 10);
	report(rig, wake, 10, 10);
	report(rig,
	       (struct vpt_event){.kind = VPT_EV_SLEEP,
				  .flags = VPT_EVF_MWAIT,
				  .value = 0x60,
				  .ext = 1,
				  .cstate = 0x20},
	       10, 13);
	report(rig, wake, 13, 13);
	report(rig, (struct vpt_event){.kind = VPT_EV_JMP_INDIRECT}, 13, 15);
	write_msr(rig, VPT_MSR_CTL, 0, PROGRAM + 16, PROGRAM + 18);
}

/* Events as text, one after the other. */
static void note(char *text, const struct pt_event *event)
{
	char *end = text + strlen(text);

	switch (event->type) {
	case ptev_ptwrite:
		sprintf(end, "ptw@%x=%llx/%u ", (unsigned)event->variant.ptwrite.ip,
			(unsigned long long)event->variant.ptwrite.payload,
			event->variant.ptwrite.size);
		break;
	case ptev_pwre:
		sprintf(end, "pwre(%x) ", event->variant.pwre.state);
		break;
	case ptev_exstop:
		sprintf(end, "exstop@%x ", (unsigned)event->variant.exstop.ip);
		break;
	case ptev_mwait:
		sprintf(end, "mwait@%x(%x,%x) ", (unsigned)event->variant.mwait.ip,
			event->variant.mwait.hints, event->variant.mwait.ext);
		break;
	case ptev_pwrx:
		sprintf(end, "pwrx(%u) ", event->variant.pwrx.interrupt);
		break;
	default:
		break;
	}
}

static void drain(struct pt_insn_decoder *decoder, int *status, char *text)
{
	struct pt_event event;

	while (*status >= 0 && *status & pts_event_pending) {
		*status = pt_insn_event(decoder, &event, sizeof(event));
		ck_assert_int_ge(*status, 0);
		note(text, &event);
	}
}

/* MWAIT and EXSTOP wait for their instruction; PWRE, which comes between them, does not. */
static void decode(struct rig *rig, char *text)
{
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	struct pt_insn insn;
	unsigned int insns = 0;
	int status;

	pt_config_init(&config);
	config.begin = rig->ram + REGION;
	config.end = config.begin + produced(rig);
	decoder = pt_insn_alloc_decoder(&config);
	ck_assert_ptr_nonnull(decoder);
	ck_assert_int_eq(pt_image_set_callback(pt_insn_get_image(decoder), read_program, NULL), 0);
	status = pt_insn_sync_forward(decoder);
	text[0] = '\0';
	for (;;) {
		ck_assert_int_ge(status, 0);
		drain(decoder, &status, text);
		if (status & pts_eos)
			break;
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (status == -pte_eos)
			break;
		insns++;
	}
	/* All but the WRMSR, at which the trace ends. */
	ck_assert_uint_eq(insns, 6);
	pt_insn_free_decoder(decoder);
}

START_TEST(libipt_events)
{
	const uint64_t bits = VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(PTW_EN);
	struct rig *rig;
	char text[1024];

	rig = begin(bits | VPT_CTL_MASK(FUP_ON_PTW) | VPT_CTL_MASK(PWR_EVT_EN), PROGRAM);
	run_program(rig);
	decode(rig, text);
	ck_assert_str_eq(text, "ptw@1000=2a/4 ptw@1004=10000000000/8 "
			       "pwre(0) exstop@1009 pwrx(1) "
			       "pwre(2) mwait@100a(60,1) exstop@100a pwrx(1) ");
	free(rig);
	rig = begin(bits, PROGRAM);
	run_program(rig);
	decode(rig, text);
	ck_assert_str_eq(text, "ptw@1000=2a/4 ptw@1004=10000000000/8 ");
	free(rig);
	TEST_PROVES("PTW-FUP PWR-EXSTOP-IP PWR-ENTRY PWR-MWAIT");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("software");
	TCase *tcase = tcase_create("packets");

	tcase_add_test(tcase, ptw_values);
	tcase_add_test(tcase, pwre_states);
	tcase_add_test(tcase, mwait_values);
	tcase_add_test(tcase, pwrx_values);
	tcase_add_test(tcase, mnt_values);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("blocks");
	tcase_add_loop_test(tcase, block_items, 0, ITEMS);
	tcase_add_test(tcase, block_table);
	tcase_add_loop_test(tcase, pebs_groups, 0, 16 * (VPT_PEBS_LBR_MAX + 1));
	tcase_add_test(tcase, pebs_stream);
	tcase_add_test(tcase, psb_waits);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("libipt");
	tcase_add_test(tcase, libipt_events);
	suite_add_tcase(suite, tcase);
	return suite;
}
