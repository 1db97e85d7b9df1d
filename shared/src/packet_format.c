// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Packets as text, for dumps. */
#include "vpt/packet.h"

#include "text.h"

/* Names end here, payloads begin; the longest name has nine letters. */
#define NAME_WIDTH 10

/* One of `count` names, or "label" and the number where there is none. */
static void put_name(struct vpti_line *line, const char *const *names, unsigned int count,
		     uint64_t value, const char *label)
{
	if (value < count && names[value])
		vpti_line_text(line, names[value]);
	else
		vpti_line_hex(line, label, value);
}

static void put_mode_exec(struct vpti_line *line, uint64_t value)
{
	static const char *const modes[] = {"16-bit", "64-bit", "32-bit", "CS.L+CS.D"};

	vpti_line_text(line, modes[value & 3]);
	vpti_line_flag(line, value & 4, " IF");
}

/* Wake reasons are one-hot (33.4.2.25), but nothing keeps a stream to that. */
static void put_pwrx(struct vpti_line *line, const struct vpt_packet *p)
{
	static const char *const reasons[] = {" interrupt", " timer", " store", " hw"};
	unsigned int i;

	vpti_line_hex(line, "last ", p->value >> 4 & 0xf);
	vpti_line_hex(line, " deepest ", p->value & 0xf);
	vpti_line_text(line, " wake");
	for (i = 0; i < 4; i++)
		vpti_line_flag(line, p->aux >> i & 1, reasons[i]);
	vpti_line_flag(line, !(p->aux & 0xf), " none");
}

static void put_bbp(struct vpti_line *line, const struct vpt_packet *p)
{
	/* The blocks of 33.4.2.26. */
	static const char *const types[] = {
		NULL,	 "GPR",	  NULL, NULL, "PEBS-basic", "PEBS-memory", NULL, NULL,	"LBR-0",
		"LBR-1", "LBR-2", NULL, NULL, NULL,	    NULL,	   NULL, "XMM",
	};

	put_name(line, types, sizeof(types) / sizeof(types[0]), p->value, "type ");
	vpti_line_text(line, p->flag ? " 4-byte" : " 8-byte");
}

static void put_cfe(struct vpti_line *line, const struct vpt_packet *p)
{
	/* Table 33-50. */
	static const char *const types[] = {
		NULL,	   "INTR",   "IRET",	    "SMI",	"RSM", "SIPI",	"INIT",
		"VMENTRY", "VMEXIT", "VMEXIT_INTR", "SHUTDOWN", NULL,  "UINTR", "UIRET",
	};
	const unsigned int has_vector = 1u << 0x1 | 1u << 0x5 | 1u << 0x9 | 1u << 0xc;

	put_name(line, types, sizeof(types) / sizeof(types[0]), p->value, "type ");
	if (p->aux || (p->value < 32 && has_vector >> p->value & 1))
		vpti_line_hex(line, " vector ", p->aux);
	vpti_line_flag(line, p->flag, " IP");
}

static void put_evd(struct vpti_line *line, const struct vpt_packet *p)
{
	static const char *const types[] = {"PFA", "VMXQ", "VMXR"};

	put_name(line, types, 3, p->aux, "type ");
	vpti_line_hex(line, " ", p->value);
}

static void put_trig(struct vpti_line *line, const struct vpt_packet *p)
{
	vpti_line_hex(line, "", p->aux & 0xff);
	vpti_line_flag(line, p->aux & VPT_TRIG_MULT, " mult");
	if (p->bits) {
		vpti_line_text(line, " icnt ");
		vpti_line_digits(line, p->value, 10, 1);
	}
	vpti_line_flag(line, p->flag, " IP");
}

static void put_sized(struct vpti_line *line, const struct vpt_packet *p)
{
	vpti_line_digits(line, p->bits / 8u, 10, 1);
	vpti_line_hex(line, ": ", p->value);
	vpti_line_flag(line, p->flag, " IP");
}

/* The labels of a row VPT_PKT_EXT. NULL stands for a field that is not there. */
static void put_labels(struct vpti_line *line, const struct vpt_packet *p, const char *value,
		       const char *aux, const char *flag)
{
	if (value)
		vpti_line_hex(line, value, p->value);
	if (aux)
		vpti_line_hex(line, aux, p->aux);
	if (flag)
		vpti_line_flag(line, p->flag, flag);
}

static void put_row(struct vpti_line *line, const struct vpt_packet *p)
{
	switch (p->kind) {
#define LABEL(at, bits, shift, label, name) label
#define VPT_PKT(kind, text, size, tag, section, meaning)
#define VPT_PKT_EXT(kind, text, size, opcode, value, aux, flag, tag, section, meaning) \
	case VPT_PKT_##kind:                                                           \
		put_labels(line, p, LABEL value, LABEL aux, LABEL flag);               \
		break;
#include "../spec/packets.def"
	default:
		break;
	}
}

static void put_payload(struct vpti_line *line, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_TNT_8:
	case VPT_PKT_TNT_64:
		vpti_line_outcomes(line, p->value, p->bits);
		break;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		vpti_line_digits(line, p->ip_bytes, 10, 1);
		vpti_line_char(line, ':');
		if (p->ip_bytes != VPT_IP_SUPPRESSED)
			vpti_line_hex(line, " ", p->value);
		break;
	case VPT_PKT_MODE_EXEC:
		put_mode_exec(line, p->value);
		break;
	case VPT_PKT_MODE_TSX:
		vpti_line_text(line, p->value & 1 ? "InTX=1" : "InTX=0");
		vpti_line_text(line, p->value & 2 ? " TXAbort=1" : " TXAbort=0");
		break;
	case VPT_PKT_CBR:
	case VPT_PKT_CYC:
		vpti_line_digits(line, p->value, 10, 1);
		break;
	case VPT_PKT_TSC:
	case VPT_PKT_MTC:
	case VPT_PKT_MNT:
		vpti_line_hex(line, "", p->value);
		break;
	case VPT_PKT_PTW:
		put_sized(line, p);
		break;
	case VPT_PKT_PWRE:
		vpti_line_hex(line, "state ", p->value >> 4 & 0xf);
		vpti_line_hex(line, " sub ", p->value & 0xf);
		vpti_line_flag(line, p->flag, " HW");
		break;
	case VPT_PKT_PWRX:
		put_pwrx(line, p);
		break;
	case VPT_PKT_BBP:
		put_bbp(line, p);
		break;
	case VPT_PKT_BIP:
		vpti_line_digits(line, p->aux, 16, 2);
		vpti_line_hex(line, ": ", p->value);
		break;
	case VPT_PKT_CFE:
		put_cfe(line, p);
		break;
	case VPT_PKT_EVD:
		put_evd(line, p);
		break;
	case VPT_PKT_TRIG:
		put_trig(line, p);
		break;
	default:
		put_row(line, p);
		break;
	}
}

const char *vpt_pkt_name(enum vpt_pkt_kind kind)
{
	static const char *const names[] = {
#define VPT_PKT(kind, text, size, tag, section, meaning) text,
#include "../spec/packets.def"
	};

	return (unsigned int)kind < VPT_PKT_COUNT ? names[kind] : "?";
}

size_t vpt_packet_format(char *text, size_t size, const struct vpt_packet *packet)
{
	struct vpti_line line = {text, size, 0};
	size_t name_end = vpti_line_name(&line, vpt_pkt_name(packet->kind), NAME_WIDTH);

	put_payload(&line, packet);
	return vpti_line_end(&line, name_end, NAME_WIDTH);
}
