// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/fixup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/encode.h"
#include "vpt/packet.h"

enum {
	/* TIP.PGD that replaces the low 16 bits of the last IP. What follows replaces
	 * them as well, so nothing after it is rebuilt differently. */
	PGD_16 = VPT_IP_UPDATE_16 << 5 | VPT_OP_TIP_PGD,
	PGD_16_SIZE = 3,
	/* How far behind a packet libipt can be when it notices. */
	RETRY_REACH = 64,
};

struct scan {
	struct vpt_parser parser;
	bool in_psb;
	bool fup_open;	/* a FUP waits for its TIP */
	bool after_pip; /* a PIP was the last thing told about the flow */
};

static void scan_packet(struct scan *scan, const struct vpt_packet *packet)
{
	switch (packet->kind) {
	case VPT_PKT_PSB:
		scan->in_psb = true;
		break;
	case VPT_PKT_PSBEND:
	case VPT_PKT_OVF:
		scan->in_psb = false;
		scan->fup_open = scan->after_pip = false;
		break;
	case VPT_PKT_FUP:
		scan->fup_open = !scan->in_psb;
		scan->after_pip = false;
		break;
	case VPT_PKT_PIP:
		scan->after_pip = !scan->in_psb;
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
		scan->fup_open = false;
		scan->after_pip = false;
		break;
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		scan->after_pip = false;
		break;
	default:
		break;
	}
}

static int add_pgd(struct vpt_fixup *fixup, size_t *capacity, size_t offset, bool with_ip)
{
	if (fixup->count == *capacity) {
		size_t wanted = *capacity ? 2 * *capacity : 256;
		void *pgds = realloc(fixup->pgds, wanted * sizeof(*fixup->pgds));

		if (!pgds)
			return -ENOMEM;
		fixup->pgds = pgds;
		*capacity = wanted;
	}
	fixup->pgds[fixup->count].offset = offset;
	fixup->pgds[fixup->count].with_ip = with_ip;
	fixup->pgds[fixup->count++].flipped = false;
	return 0;
}

/* Find the packets that libipt may take wrongly, with a first choice for each. */
static int find_pgds(struct vpt_fixup *fixup, bool cr3_can_disable)
{
	const uint8_t *trace = fixup->original;
	size_t len = fixup->original_len, at = vpt_packet_find_psb(trace, len), capacity = 0;
	struct scan scan = {.in_psb = false};

	while (at < len) {
		struct vpt_packet packet;
		enum vpt_status status =
			vpt_packet_read(&scan.parser, trace + at, len - at, &packet);

		if (status == VPT_E_EOS)
			break;
		if (status != VPT_OK) {
			at += 1 + vpt_packet_find_psb(trace + at + 1, len - at - 1);
			memset(&scan, 0, sizeof(scan));
			continue;
		}
		if (packet.kind == VPT_PKT_TIP_PGD && packet.ip_bytes == VPT_IP_SUPPRESSED &&
		    !scan.fup_open) {
			bool with_ip = scan.after_pip || !cr3_can_disable;

			if (add_pgd(fixup, &capacity, at, with_ip))
				return -ENOMEM;
		}
		scan_packet(&scan, &packet);
		at += packet.size;
	}
	return 0;
}

static void make_copy(struct vpt_fixup *fixup)
{
	size_t from = 0, i;

	fixup->len = 0;
	for (i = 0; i < fixup->count; i++) {
		const struct vpt_fixup_pgd *pgd = &fixup->pgds[i];
		uint8_t *to = fixup->bytes + fixup->len;

		if (!pgd->with_ip)
			continue;
		memcpy(to, fixup->original + from, pgd->offset - from);
		to += pgd->offset - from;
		to[0] = PGD_16;
		to[1] = to[2] = 0xff;
		fixup->len += pgd->offset - from + PGD_16_SIZE;
		from = pgd->offset + 1;
	}
	memcpy(fixup->bytes + fixup->len, fixup->original + from, fixup->original_len - from);
	fixup->len += fixup->original_len - from;
}

int vpt_fixup_init(struct vpt_fixup *fixup, const uint8_t *trace, size_t len, bool cr3_can_disable)
{
	memset(fixup, 0, sizeof(*fixup));
	fixup->original = trace;
	fixup->original_len = len;
	if (find_pgds(fixup, cr3_can_disable))
		goto fail;
	fixup->bytes = malloc(len + (PGD_16_SIZE - 1) * fixup->count + 1);
	if (!fixup->bytes)
		goto fail;
	make_copy(fixup);
	return 0;
fail:
	vpt_fixup_fini(fixup);
	return -ENOMEM;
}

void vpt_fixup_fini(struct vpt_fixup *fixup)
{
	free(fixup->bytes);
	free(fixup->pgds);
	memset(fixup, 0, sizeof(*fixup));
}

size_t vpt_fixup_original(const struct vpt_fixup *fixup, size_t offset)
{
	size_t grown = 0, i;

	for (i = 0; i < fixup->count && fixup->pgds[i].offset + grown < offset; i++) {
		size_t past = offset - (fixup->pgds[i].offset + grown);

		if (!fixup->pgds[i].with_ip)
			continue;
		if (past < PGD_16_SIZE)
			return fixup->pgds[i].offset;
		grown += PGD_16_SIZE - 1;
	}
	return offset - grown;
}

size_t vpt_fixup_copied(const struct vpt_fixup *fixup, size_t offset)
{
	size_t grown = 0, i;

	for (i = 0; i < fixup->count && fixup->pgds[i].offset < offset; i++)
		if (fixup->pgds[i].with_ip)
			grown += PGD_16_SIZE - 1;
	return offset + grown;
}

bool vpt_fixup_retry(struct vpt_fixup *fixup, size_t offset, size_t *where)
{
	size_t original = vpt_fixup_original(fixup, offset), i = fixup->count;

	while (i && fixup->pgds[i - 1].offset > original)
		i--;
	if (!i || original - fixup->pgds[i - 1].offset > RETRY_REACH || fixup->pgds[i - 1].flipped)
		return false;
	fixup->pgds[i - 1].flipped = true;
	fixup->pgds[i - 1].with_ip = !fixup->pgds[i - 1].with_ip;
	*where = fixup->pgds[i - 1].offset;
	make_copy(fixup);
	return true;
}

bool vpt_fixup_ends_with_pgd(const struct vpt_fixup *fixup)
{
	enum { PGD_SIZE = 1, TRACE_STOP_SIZE = 2 };
	size_t after;

	if (!fixup->count)
		return false;
	after = fixup->original_len - fixup->pgds[fixup->count - 1].offset - PGD_SIZE;
	return after == 0 || after == TRACE_STOP_SIZE;
}
