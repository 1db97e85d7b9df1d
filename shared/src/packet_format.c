// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets as text, for dumps. */
#include "vpt/packet.h"

/* Names end here, payloads begin; the longest name has nine letters. */
#define NAME_WIDTH 10

struct line {
	char *text;
	size_t size;
	size_t len; /* also counts what did not fit */
};

static void put_char(struct line *line, char c)
{
	if (line->len + 1 < line->size)
		line->text[line->len] = c;
	line->len++;
}

static void put_text(struct line *line, const char *text)
{
	while (*text)
		put_char(line, *text++);
}

static void put_digits(struct line *line, uint64_t value, unsigned int base, unsigned int least)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || n < least);
	while (n)
		put_char(line, digits[--n]);
}

/* "label" 0x... */
static void put_hex(struct line *line, const char *label, uint64_t value)
{
	put_text(line, label);
	put_text(line, "0x");
	put_digits(line, value, 16, 1);
}

static void put_flag(struct line *line, bool flag, const char *text)
{
	if (flag)
		put_text(line, text);
}

/* One of `count` names, or "label" and the number where there is none. */
static void put_name(struct line *line, const char *const *names, unsigned int count,
		     uint64_t value, const char *label)
{
	if (value < count && names[value])
		put_text(line, names[value]);
	else
		put_hex(line, label, value);
}

static void put_tnt(struct line *line, const struct vpt_packet *p)
{
	unsigned int i;

	for (i = p->bits; i-- > 0;)
		put_char(line, i < 64 && p->value >> i & 1 ? '!' : '.');
}

static void put_mode_exec(struct line *line, uint64_t value)
{
	static const char *const modes[] = {"16-bit", "64-bit", "32-bit", "CS.L+CS.D"};

	put_text(line, modes[value & 3]);
	put_flag(line, value & 4, " IF");
}

/* Wake reasons are one-hot (33.4.2.25), but nothing keeps a stream to that. */
static void put_pwrx(struct line *line, const struct vpt_packet *p)
{
	static const char *const reasons[] = {" interrupt", " timer", " store", " hw"};
	unsigned int i;

	put_hex(line, "last ", p->value >> 4 & 0xf);
	put_hex(line, " deepest ", p->value & 0xf);
	put_text(line, " wake");
	for (i = 0; i < 4; i++)
		put_flag(line, p->aux >> i & 1, reasons[i]);
	put_flag(line, !(p->aux & 0xf), " none");
}

static void put_bbp(struct line *line, const struct vpt_packet *p)
{
	/* The blocks of 33.4.2.26. */
	static const char *const types[] = {
		NULL,	 "GPR",	  NULL, NULL, "PEBS-basic", "PEBS-memory", NULL, NULL,	"LBR-0",
		"LBR-1", "LBR-2", NULL, NULL, NULL,	    NULL,	   NULL, "XMM",
	};

	put_name(line, types, sizeof(types) / sizeof(types[0]), p->value, "type ");
	put_text(line, p->flag ? " 4-byte" : " 8-byte");
}

static void put_cfe(struct line *line, const struct vpt_packet *p)
{
	/* Table 33-50. */
	static const char *const types[] = {
		NULL,	   "INTR",   "IRET",	    "SMI",	"RSM", "SIPI",	"INIT",
		"VMENTRY", "VMEXIT", "VMEXIT_INTR", "SHUTDOWN", NULL,  "UINTR", "UIRET",
	};
	const unsigned int has_vector = 1u << 0x1 | 1u << 0x5 | 1u << 0x9 | 1u << 0xc;

	put_name(line, types, sizeof(types) / sizeof(types[0]), p->value, "type ");
	if (p->aux || (p->value < 32 && has_vector >> p->value & 1))
		put_hex(line, " vector ", p->aux);
	put_flag(line, p->flag, " IP");
}

static void put_evd(struct line *line, const struct vpt_packet *p)
{
	static const char *const types[] = {"PFA", "VMXQ", "VMXR"};

	put_name(line, types, 3, p->aux, "type ");
	put_hex(line, " ", p->value);
}

static void put_sized(struct line *line, const struct vpt_packet *p)
{
	put_digits(line, p->bits / 8u, 10, 1);
	put_hex(line, ": ", p->value);
	put_flag(line, p->flag, " IP");
}

static void put_payload(struct line *line, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		put_tnt(line, p);
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		put_digits(line, p->ip_bytes, 10, 1);
		put_char(line, ':');
		if (p->ip_bytes != VPT_IP_SUPPRESSED)
			put_hex(line, " ", p->value);
		break;
	case VPT_PKT_PIP:
		put_hex(line, "", p->value);
		put_flag(line, p->flag, " NR");
		break;
	case VPT_PKT_MODE_EXEC:
		put_mode_exec(line, p->value);
		break;
	case VPT_PKT_MODE_TSX:
		put_text(line, p->value & 1 ? "InTX=1" : "InTX=0");
		put_text(line, p->value & 2 ? " TXAbort=1" : " TXAbort=0");
		break;
	case VPT_PKT_CBR:
	case VPT_PKT_CYC:
		put_digits(line, p->value, 10, 1);
		break;
	case VPT_PKT_TMA:
		put_hex(line, "CTC ", p->value);
		put_hex(line, " FC ", p->aux);
		break;
	case VPT_PKT_TSC:
	case VPT_PKT_MTC:
	case VPT_PKT_VMCS:
	case VPT_PKT_MNT:
		put_hex(line, "", p->value);
		break;
	case VPT_PKT_PTW:
		put_sized(line, p);
		break;
	case VPT_PKT_EXSTOP:
	case VPT_PKT_BEP:
		put_flag(line, p->flag, "IP");
		break;
	case VPT_PKT_MWAIT:
		put_hex(line, "hints ", p->value);
		put_hex(line, " ext ", p->aux);
		break;
	case VPT_PKT_PWRE:
		put_hex(line, "state ", p->value >> 4 & 0xf);
		put_hex(line, " sub ", p->value & 0xf);
		put_flag(line, p->flag, " HW");
		break;
	case VPT_PKT_PWRX:
		put_pwrx(line, p);
		break;
	case VPT_PKT_BBP:
		put_bbp(line, p);
		break;
	case VPT_PKT_BIP:
		put_digits(line, p->aux, 16, 2);
		put_hex(line, ": ", p->value);
		break;
	case VPT_PKT_CFE:
		put_cfe(line, p);
		break;
	case VPT_PKT_EVD:
		put_evd(line, p);
		break;
	default:
		break;
	}
}

const char *vpt_pkt_name(enum vpt_pkt_kind kind)
{
	static const char *const names[] = {
#define VPT_PKT(kind, text, size, tag, section, meaning) text,
#include "../spec/packets.def"
#undef VPT_PKT
	};

	return (unsigned int)kind < VPT_PKT_COUNT ? names[kind] : "?";
}

size_t vpt_packet_format(char *text, size_t size, const struct vpt_packet *packet)
{
	struct line line = {text, size, 0};
	size_t name_end;

	put_text(&line, vpt_pkt_name(packet->kind));
	name_end = line.len;
	while (line.len < NAME_WIDTH)
		put_char(&line, ' ');
	put_payload(&line, packet);
	/* No blanks at the end of a line that is a name only. */
	if (line.len == NAME_WIDTH)
		line.len = name_end;
	if (size)
		text[line.len < size ? line.len : size - 1] = '\0';
	return line.len;
}
