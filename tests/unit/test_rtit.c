// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules of the RTIT MSRs: each row below on each model. The expected result is computed here from
 * the raw words of the model's CPUID leaves, without the library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/suite.h"
#include "vpt/rtit.h"

#define BIT(n)	     (1ull << (n))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Numbers and bits are those that the manual prints, so that shared/spec is tested too. */
enum {
	BASE = 0x560,
	MASK = 0x561,
	CTL = 0x570,
	STATUS = 0x571,
	CR3 = 0x572,
	ADDR0_A = 0x580,
};

#define ADDR_A(n) (ADDR0_A + 2 * (n))
#define ADDR_B(n) (ADDR0_A + 2 * (n) + 1)

#define EN		 BIT(0) /* TraceEn */
#define OS		 BIT(2)
#define USER		 BIT(3)
#define FABRIC		 BIT(6)
#define CR3F		 BIT(7)
#define TOPA		 BIT(8)
#define TSC		 BIT(10)
#define BRANCH		 BIT(13)
#define MTC_FREQ(n)	 ((uint64_t)(n) << 14)
#define CYC_THRESH(n)	 ((uint64_t)(n) << 19)
#define PSB_FREQ(n)	 ((uint64_t)(n) << 24)
#define ADDR_CFG(n, cfg) ((uint64_t)(cfg) << (32 + 4 * (n)))

/* Models */

struct model {
	const char *name;
	struct vpt_caps caps;
};

/* Capabilities that no known processor has. The maps of "sparse" lack encoding 0. */
static const struct model custom[] = {
	{"all", {1, 0x1ff, 0x8000000f, 0xffff0004, 0xffffffff, 2, 160, 0, 0, 52, 57, 20, 1}},
	{"sparse", {1, 0x0f, 0x7, 0x42480003, 0x802a4a50, 2, 160, 0, 0, 46, 57, 20, 1}},
	{"topa", {0, 0, 0x1, 0, 0, 0, 0, 0, 0, 36, 48, 20, 0}},
	{"single", {0, 0, 0x4, 0, 0, 0, 0, 0, 0, 32, 48, 20, 0}},
	{"fabric", {0, 0, 0x8, 0, 0, 0, 0, 0, 0, 40, 48, 20, 0}},
	{"fabric-filter", {1, 0x5, 0x8, 0x1, 0, 0, 0, 0, 0, 40, 48, 20, 0}},
	/* More ranges than there are registers. */
	{"seven-ranges", {1, 0x4, 0x5, 0x7, 0, 0, 0, 0, 0, 46, 48, 20, 0}},
	/* Counts and maps have no effect without their capability. */
	{"orphans", {1, 0, 0x5, 0xffff0004, 0xffffffff, 0, 0, 0, 0, 46, 48, 20, 0}},
	{"no-pt", {0, 0, 0, 0, 0, 0, 0, 0, 0, 46, 48, 20, 0}},
};

static const char *const builtin[] = {"bdw", "skl", "icx", "spr"};

#define MODELS (COUNT(builtin) + COUNT(custom))

static struct model model_at(size_t i)
{
	struct model model;

	if (i >= COUNT(builtin))
		return custom[i - COUNT(builtin)];
	model.name = builtin[i];
	model.caps = *vpt_caps_model(builtin[i]);
	return model;
}

/*
 * A need is the condition on CPUID under which a value is legal. All terms must hold, and '|'
 * separates alternatives.
 *
 *   `bN` `cN`       Bit N of 14H.0 EBX, ECX is set.
 *   `mN` `yN` `pN`  The map of MTC periods, cycle thresholds, PSB frequencies has N.
 *   `rN`            Address range N exists.
 *   `wN`            Bit N is below MAXPHYADDR.
 *   `l57`           Linear addresses have 57 bits.
 *   `-`             The value is never legal.
 */
static bool atom_holds(const struct vpt_caps *c, char kind, unsigned int n)
{
	switch (kind) {
	case 'b':
		return c->l14_0_ebx >> n & 1;
	case 'c':
		return c->l14_0_ecx >> n & 1;
	case 'm':
		return c->l14_1_eax >> (16 + n) & 1;
	case 'y':
		return c->l14_1_ebx >> n & 1;
	case 'p':
		return c->l14_1_ebx >> (16 + n) & 1;
	case 'r':
		return n < 4 && (c->l14_0_ebx & BIT(2)) && (c->l14_1_eax & 7) > n;
	case 'w':
		return c->max_phy_addr > n;
	case 'l':
		return c->lin_addr == n;
	default:
		ck_assert_msg(kind == '-', "no such need: %c", kind);
		return false;
	}
}

static bool holds(const struct vpt_caps *c, const char *need)
{
	bool any = false;

	/* [MSR-ABSENT] */
	if (!c->l14_0_ebx && !c->l14_0_ecx)
		return false;
	while (*need) {
		char kind = *need++;
		char *end;

		any |= atom_holds(c, kind, (unsigned int)strtoul(need, &end, 10));
		need = end;
		if (*need == '|') {
			need++;
			continue;
		}
		if (!any)
			return false;
		any = false;
		while (*need == ' ')
			need++;
	}
	return true;
}

/* Rows */

enum op { GUEST_WR, HOST_WR, READ };

struct row {
	const char *tag;
	enum op op;
	uint32_t msr;
	uint64_t ctl;	  /* CTL before the access */
	uint64_t before;  /* the register before the access, unless it is CTL */
	uint64_t value;	  /* written by the access */
	const char *need; /* when the access is legal; otherwise #GP and no change */
	uint64_t after;	  /* the register after the access, or the value read */
};

/* Most rows are refused, or store the value as written. */
/* clang-format off */
#define WR(tag, msr, value, need) { tag, GUEST_WR, msr, 0, 0, value, need, value }
#define WR_AS(tag, msr, before, value, need, after) \
	{ tag, GUEST_WR, msr, 0, before, value, need, after }
#define HOST(tag, msr, ctl, value, need) { tag, HOST_WR, msr, ctl, 0, value, need, value }
#define TRACING(tag, msr, ctl, before, value, need) \
	{ tag, GUEST_WR, msr, ctl, before, value, need, value }
#define RD(tag, msr, ctl, before, need) { tag, READ, msr, ctl, before, 0, need, before }

#define LOCKED(msr, ctl, before, value) TRACING("MSR-TRACEEN-LOCK", msr, ctl, before, value, "-")
#define DISABLE(value, need) TRACING("CTL-DISABLE-CHANGE", CTL, EN | TOPA | OS, 0, value, need)
#define MASKED(value, after) WR_AS("MSR-MASK-LOW", MASK, 0x7f, value, "c0|c2", after)
#define CANON(msr, value, need) WR("MSR-ADDR-CANONICAL", msr, value, need)

static const struct row rows[] = {
	/* CTL, table 33-6. */
#define CTL_BIT(bit, need, tag) WR(#tag, CTL, BIT(bit), need),
#define CTL_NEVER(bits, tag)	WR(#tag, CTL, bits, "-"),
#include "../../guest/lib/rtit_ctl.tbl"
	WR("MSR-CTL", CTL, 0, ""), WR("MSR-CTL", CTL, ~0ull, "-"),
	WR("MSR-CTL", CTL, OS | USER | TSC | BRANCH | BIT(11), ""),
	WR("CTL-TRACEEN", CTL, EN | OS | USER | TSC | BRANCH | BIT(11), "c2"),
	WR("CTL-TRACEEN", CTL, EN | TOPA, "c0"), WR("CTL-TRACEEN", CTL, EN | FABRIC, "c3"),
	WR("CTL-TRACEEN", CTL, EN | FABRIC | TOPA, "c3 c0"),
	WR("CTL-CYCEN", CTL, BIT(1) | TSC, "b1"),
	WR("CTL-FUPONPTW", CTL, BIT(5) | BIT(12), "b4"),
	WR("CTL-FABRICEN", CTL, FABRIC | TOPA, "c3 c0"),
	WR("CTL-MTCFREQ", CTL, MTC_FREQ(1), "b3 m1"), WR("CTL-MTCFREQ", CTL, MTC_FREQ(3), "b3 m3"),
	WR("CTL-MTCFREQ", CTL, MTC_FREQ(9), "b3 m9"),
	WR("CTL-MTCFREQ", CTL, MTC_FREQ(10), "b3 m10"),
	WR("CTL-MTCFREQ", CTL, MTC_FREQ(15), "b3 m15"),
	WR("CTL-MTCFREQ", CTL, MTC_FREQ(3) | BIT(9), "b3 m3"),
	WR("CTL-CYCTHRESH", CTL, CYC_THRESH(1), "b1 y1"),
	WR("CTL-CYCTHRESH", CTL, CYC_THRESH(5), "b1 y5"),
	WR("CTL-CYCTHRESH", CTL, CYC_THRESH(6), "b1 y6"),
	WR("CTL-CYCTHRESH", CTL, CYC_THRESH(12), "b1 y12"),
	WR("CTL-CYCTHRESH", CTL, CYC_THRESH(13), "b1 y13"),
	WR("CTL-CYCTHRESH", CTL, CYC_THRESH(15) | BIT(1), "b1 y15"),
	WR("CTL-PSBFREQ", CTL, PSB_FREQ(1), "b1 p1"), WR("CTL-PSBFREQ", CTL, PSB_FREQ(5), "b1 p5"),
	WR("CTL-PSBFREQ", CTL, PSB_FREQ(6), "b1 p6"),
	WR("CTL-PSBFREQ", CTL, PSB_FREQ(15), "b1 p15"),
	WR("CTL-ENCODING", CTL, MTC_FREQ(3) | CYC_THRESH(2) | PSB_FREQ(3), "b3 m3 b1 y2 p3"),
	WR("CTL-ENCODING", CTL, MTC_FREQ(3) | CYC_THRESH(14) | PSB_FREQ(3), "b3 m3 b1 y14 p3"),
	WR("CTL-ADDRCFG", CTL, ADDR_CFG(0, 1), "r0"), WR("CTL-ADDRCFG", CTL, ADDR_CFG(0, 2), "r0"),
	WR("CTL-ADDRCFG", CTL, ADDR_CFG(1, 1), "r1"), WR("CTL-ADDRCFG", CTL, ADDR_CFG(1, 2), "r1"),
	WR("CTL-ADDRCFG", CTL, ADDR_CFG(2, 1), "r2"), WR("CTL-ADDRCFG", CTL, ADDR_CFG(2, 2), "r2"),
	WR("CTL-ADDRCFG", CTL, ADDR_CFG(3, 1), "r3"), WR("CTL-ADDRCFG", CTL, ADDR_CFG(3, 2), "r3"),
	WR("CTL-ADDRCFG", CTL, ADDR_CFG(0, 1) | ADDR_CFG(1, 2), "r0 r1"),
	WR("CTL-ADDRCFG-RESERVED", CTL, ADDR_CFG(0, 3), "-"),
	WR("CTL-ADDRCFG-RESERVED", CTL, ADDR_CFG(0, 4), "-"),
	WR("CTL-ADDRCFG-RESERVED", CTL, ADDR_CFG(0, 15), "-"),
	WR("CTL-ADDRCFG-RESERVED", CTL, ADDR_CFG(1, 3), "-"),
	WR("CTL-ADDRCFG-RESERVED", CTL, ADDR_CFG(2, 3), "-"),
	WR("CTL-ADDRCFG-RESERVED", CTL, ADDR_CFG(3, 3), "-"),
	WR("CTL-ADDRCFG-RESERVED", CTL, ADDR_CFG(0, 1) | ADDR_CFG(1, 3), "-"),
	WR("MSR-RESERVED", CTL, BIT(18), "-"), WR("MSR-RESERVED", CTL, BIT(28) | OS, "-"),
	WR("MSR-RESERVED", CTL, BIT(54), "-"), WR("MSR-RESERVED", CTL, BIT(63), "-"),

	/* The output must be supported when TraceEn becomes set. */
	WR("CTL-NO-OUTPUT", CTL, OS, ""), WR("CTL-NO-OUTPUT", CTL, EN | OS, "c2"),
	WR("CTL-NO-OUTPUT", CTL, EN | OS | TOPA, "c0"),
	WR("CTL-NO-OUTPUT", CTL, EN | OS | FABRIC, "c3"),
	HOST("CTL-NO-OUTPUT", CTL, 0, EN | OS, "c2"),
	HOST("CTL-NO-OUTPUT", CTL, EN | TOPA, EN | OS, "c2"),

	/* Writes to CTL while TraceEn is set. */
	TRACING("CTL-SAME-VALUE", CTL, EN | TOPA | OS, 0, EN | TOPA | OS, "c0"),
	TRACING("CTL-SAME-VALUE", CTL, EN | OS, 0, EN | OS, "c2"),
	TRACING("CTL-SAME-VALUE", CTL, EN | FABRIC, 0, EN | FABRIC, "c3"),
	TRACING("CTL-SAME-VALUE", CTL, EN | TOPA | BIT(9), 0, EN | TOPA | BIT(9), "c0 b3"),
	TRACING("MSR-TRACEEN-LOCK", CTL, EN | TOPA | OS, 0, EN | TOPA, "-"),
	TRACING("MSR-TRACEEN-LOCK", CTL, EN | TOPA | OS, 0, EN | TOPA | OS | USER, "-"),
	TRACING("MSR-TRACEEN-LOCK", CTL, EN | TOPA | OS, 0, EN | OS, "-"),
	TRACING("MSR-TRACEEN-LOCK", CTL, EN | TOPA, 0, EN | TOPA | ADDR_CFG(0, 1), "-"),
	TRACING("MSR-TRACEEN-LOCK", CTL, EN | TOPA, 0, EN | TOPA | BIT(56), "-"),
	DISABLE(TOPA | OS, "c0"), DISABLE(0, ""), DISABLE(USER | BRANCH, ""),
	DISABLE(BIT(1) | PSB_FREQ(1), "b1 p1"), DISABLE(ADDR_CFG(1, 2), "r1"),
	DISABLE(BIT(18), "-"), DISABLE(ADDR_CFG(0, 3), "-"),
	HOST("MSR-CTL", CTL, EN | TOPA | OS, EN | TOPA | USER, "c0"),
	HOST("MSR-CTL", CTL, EN | TOPA | OS, EN | TOPA | USER | CR3F, "c0 b0"),
	HOST("MSR-CTL", CTL, EN | TOPA | OS, 0, ""),
	HOST("MSR-RESERVED", CTL, EN | TOPA | OS, EN | TOPA | OS | BIT(18), "-"),
	HOST("MSR-RESERVED", CTL, 0, ADDR_CFG(0, 3), "-"),
	HOST("MSR-RESERVED", CTL, 0, MTC_FREQ(3), "b3 m3"),

	/* STATUS, table 33-7. */
	WR("MSR-STATUS", STATUS, 0, ""), WR("MSR-STATUS", STATUS, ~0ull, "-"),
	WR_AS("STATUS-FILTEREN", STATUS, 0, BIT(0), "", 0),
	WR_AS("STATUS-FILTEREN", STATUS, BIT(0), 0, "", BIT(0)),
	WR_AS("STATUS-CONTEXTEN", STATUS, 0, BIT(1), "", 0),
	WR_AS("STATUS-CONTEXTEN", STATUS, BIT(1), 0, "", BIT(1)),
	WR_AS("STATUS-TRIGGEREN", STATUS, 0, BIT(2), "", 0),
	WR_AS("STATUS-TRIGGEREN", STATUS, BIT(2), 0, "", BIT(2)),
	WR_AS("STATUS-RO", STATUS, 0, 0x7, "", 0), WR_AS("STATUS-RO", STATUS, 0x7, 0, "", 0x7),
	WR_AS("STATUS-RO", STATUS, 0x5, 0x2, "", 0x5),
	WR_AS("STATUS-RO", STATUS, 0x3, 0x37, "", 0x33),
	WR_AS("STATUS-RO", STATUS, 0x33, 0x4, "", 0x3),
	{ "STATUS-RO", HOST_WR, STATUS, 0, 0, 0x7, "", 0x7 },
	{ "STATUS-RO", HOST_WR, STATUS, 0, 0x7, 0, "", 0 },
	{ "STATUS-RO", HOST_WR, STATUS, EN | TOPA, 0x5, 0x2, "", 0x2 },
	WR("STATUS-ERROR", STATUS, BIT(4), ""), WR_AS("STATUS-ERROR", STATUS, BIT(4), 0, "", 0),
	WR("STATUS-STOPPED", STATUS, BIT(5), ""), WR_AS("STATUS-STOPPED", STATUS, BIT(5), 0, "", 0),
	WR("STATUS-STOPPED", STATUS, BIT(5) | BIT(4), ""),
	WR("STATUS-PENDPSB", STATUS, BIT(6), "b6"),
	WR("STATUS-PENDPMI", STATUS, BIT(7), "b6"),
	WR("STATUS-PENDPMI", STATUS, BIT(7) | BIT(6), "b6"),
	WR_AS("STATUS-PENDPMI", STATUS, BIT(7) | BIT(6), BIT(6), "b6", BIT(6)),
	WR("STATUS-BYTECNT", STATUS, BIT(32), "b1"), WR("STATUS-BYTECNT", STATUS, BIT(48), "b1"),
	WR("STATUS-BYTECNT", STATUS, 0x1ffffull << 32, "b1"),
	WR("STATUS-BYTECNT", STATUS, 0x20000ull << 32, "-"),
	WR_AS("STATUS-BYTECNT", STATUS, 0x1ffffull << 32 | 0x7, 0, "", 0x7),
	WR("MSR-RESERVED", STATUS, BIT(3), "-"), WR("MSR-RESERVED", STATUS, BIT(63), "-"),
	WR("MSR-RESERVED", STATUS, 0x7 | BIT(3), "-"), HOST("MSR-RESERVED", STATUS, 0, BIT(3), "-"),
	HOST("MSR-RESERVED", STATUS, 0, BIT(6), "b6"),
	HOST("MSR-RESERVED", STATUS, 0, BIT(49), "-"),

	/* OUTPUT_BASE, table 33-8. */
	WR("MSR-OUTPUT-BASE", BASE, 0, "c0|c2"),
	WR_AS("MSR-OUTPUT-BASE", BASE, 0xfffff000, 0, "c0|c2", 0),
	WR("MSR-BASE-LOW", BASE, 1, "-"), WR("MSR-BASE-LOW", BASE, 0x40, "-"),
	WR("MSR-BASE-LOW", BASE, 0x7f, "-"), WR("MSR-BASE-LOW", BASE, 0x80, "c0|c2"),
	WR("MSR-BASE-LOW", BASE, 0x81, "-"), WR("MSR-BASE-LOW", BASE, 0xf80, "c0|c2"),
	WR("MSR-BASE-LOW", BASE, 0xfff, "-"),
	TRACING("MSR-BASE-LOW", BASE, TOPA, 0, 0xf80, "c0|c2"),
	WR("MSR-BASE-LOW", BASE, 0x1000, "c0|c2"),
	WR("MSR-BASE-WIDTH", BASE, BIT(31), "c0|c2"),
	WR("MSR-BASE-WIDTH", BASE, BIT(32), "c0|c2 w32"),
	WR("MSR-BASE-WIDTH", BASE, BIT(32) - 0x80, "c0|c2"),
	WR("MSR-BASE-WIDTH", BASE, BIT(35), "c0|c2 w35"),
	WR("MSR-BASE-WIDTH", BASE, BIT(36), "c0|c2 w36"),
	WR("MSR-BASE-WIDTH", BASE, BIT(38), "c0|c2 w38"),
	WR("MSR-BASE-WIDTH", BASE, BIT(39) - 0x80, "c0|c2 w38"),
	WR("MSR-BASE-WIDTH", BASE, BIT(39), "c0|c2 w39"),
	WR("MSR-BASE-WIDTH", BASE, BIT(45), "c0|c2 w45"),
	WR("MSR-BASE-WIDTH", BASE, BIT(46), "c0|c2 w46"),
	WR("MSR-BASE-WIDTH", BASE, BIT(51), "c0|c2 w51"),
	WR("MSR-BASE-WIDTH", BASE, BIT(52) - 0x80, "c0|c2 w51"),
	WR("MSR-BASE-WIDTH", BASE, BIT(52), "-"), WR("MSR-BASE-WIDTH", BASE, BIT(63), "-"),
	WR("MSR-BASE-WIDTH", BASE, ~0x7full, "-"),
	HOST("MSR-BASE-WIDTH", BASE, EN | TOPA, BIT(52), "-"),
	HOST("MSR-BASE-LOW", BASE, EN | TOPA, 1, "-"),

	/* OUTPUT_MASK_PTRS, table 33-9. */
	WR_AS("MSR-OUTPUT-MASK", MASK, 0x7f, 0, "c0|c2", 0x7f),
	WR_AS("MSR-OUTPUT-MASK", MASK, 0x7f, ~0ull, "c0|c2", ~0ull),
	WR_AS("MSR-OUTPUT-MASK", MASK, ~0ull, 0, "c0|c2", 0x7f),
	MASKED(1, 0x7f), MASKED(0x7f, 0x7f), MASKED(0x80, 0xff), MASKED(0xfffffff8, 0xffffffff),
	MASKED(0x100, 0x17f), MASKED(BIT(63), BIT(63) | 0x7f),
	MASKED(0xffffffffull << 32, 0xffffffff0000007f),
	{ "MSR-MASK-LOW", HOST_WR, MASK, EN | TOPA, 0x7f, 0x80, "c0|c2", 0xff },

	/* CR3_MATCH. */
	WR("MSR-CR3-MATCH", CR3, 0, "b0"), WR("MSR-CR3-MATCH", CR3, 0x1000, "b0"),
	WR("MSR-CR3-MATCH", CR3, BIT(63), "b0"), WR("MSR-CR3-MATCH", CR3, ~0x1full, "b0"),
	WR("MSR-CR3-LOW", CR3, 1, "-"), WR("MSR-CR3-LOW", CR3, 0x10, "-"),
	WR("MSR-CR3-LOW", CR3, 0x1f, "-"), WR("MSR-CR3-LOW", CR3, 0x20, "b0"),
	WR("MSR-CR3-LOW", CR3, 0x21, "-"), WR("MSR-CR3-LOW", CR3, 0xfe0, "b0"),
	WR("MSR-CR3-LOW", CR3, ~0ull, "-"), HOST("MSR-CR3-LOW", CR3, EN | TOPA, 0x10, "-"),

	/* ADDRn_A and ADDRn_B. */
	WR("MSR-ADDR", ADDR_A(0), 0, "r0"), WR("MSR-ADDR", ADDR_A(0), 1, "r0"),
	WR("MSR-ADDR", ADDR_B(0), 0x401000, "r0"), WR("MSR-ADDR", ADDR_A(1), 0x401000, "r1"),
	WR("MSR-ADDR", ADDR_B(1), 0x401fff, "r1"), WR("MSR-ADDR", ADDR_A(2), 0x401000, "r2"),
	WR("MSR-ADDR", ADDR_B(2), 0x401fff, "r2"), WR("MSR-ADDR", ADDR_A(3), 0x401000, "r3"),
	WR("MSR-ADDR", ADDR_B(3), 0x401fff, "r3"),
	WR("MSR-ADDR-EXISTS", 0x588, 0, "-"), WR("MSR-ADDR-EXISTS", 0x58d, 0, "-"),
	CANON(ADDR_A(0), 0x00007fffffffffff, "r0"), CANON(ADDR_A(0), 0x0000800000000000, "r0 l57"),
	CANON(ADDR_B(0), 0x0001000000000000, "r0 l57"),
	CANON(ADDR_B(0), 0x00ffffffffffffff, "r0 l57"), CANON(ADDR_A(0), 0x0100000000000000, "-"),
	CANON(ADDR_A(0), 0x7fffffffffffffff, "-"), CANON(ADDR_A(0), 0x8000000000000000, "-"),
	CANON(ADDR_A(0), 0xfeffffffffffffff, "-"), CANON(ADDR_B(0), 0xff00000000000000, "r0 l57"),
	CANON(ADDR_B(0), 0xffff7fffffffffff, "r0 l57"), CANON(ADDR_A(0), 0xffff800000000000, "r0"),
	CANON(ADDR_A(0), 0xffffffffffffffff, "r0"), CANON(ADDR_A(1), 0x0000800000000000, "r1 l57"),
	CANON(ADDR_B(3), 0x0100000000000000, "-"),
	HOST("MSR-ADDR-CANONICAL", ADDR_A(0), EN | TOPA, 0x8000000000000000, "-"),
	/* A range may end before it begins. */
	TRACING("MSR-ADDR", ADDR_B(0), ADDR_CFG(0, 1), 0x5000, 0x10, "r0"),

	/* While TraceEn is set a guest cannot write any register, not even the same value. A host can. */
	LOCKED(STATUS, EN | TOPA, 0, BIT(4)), LOCKED(STATUS, EN | TOPA, BIT(5), 0),
	LOCKED(STATUS, EN | TOPA, 0x7, 0x7), LOCKED(BASE, EN | TOPA, 0x1000, 0x2000),
	LOCKED(BASE, EN | TOPA, 0x1000, 0x1000), LOCKED(BASE, EN | FABRIC, 0x1000, 0x2000),
	LOCKED(MASK, EN | TOPA, 0x7f, 0xff), LOCKED(MASK, EN | TOPA, 0x7f, 0x7f),
	LOCKED(CR3, EN | TOPA, 0x1000, 0x2000), LOCKED(CR3, EN | TOPA, 0x1000, 0x1000),
	LOCKED(ADDR_A(0), EN | TOPA, 0, 0x1000), LOCKED(ADDR_B(0), EN | TOPA, 0, 0),
	LOCKED(ADDR_B(1), EN | TOPA, 0, 0x1000), LOCKED(ADDR_A(3), EN | TOPA, 0, 0x1000),
	HOST("MSR-STATUS", STATUS, EN | TOPA, 0x37, ""),
	HOST("MSR-STATUS", STATUS, EN | TOPA, 0x1ffffull << 32, "b1"),
	HOST("MSR-OUTPUT-BASE", BASE, EN | TOPA, 0x2000, "c0|c2"),
	HOST("MSR-OUTPUT-MASK", MASK, EN | TOPA, 0xff, "c0|c2"),
	HOST("MSR-CR3-MATCH", CR3, EN | TOPA, 0x2000, "b0"),
	HOST("MSR-ADDR", ADDR_A(0), EN | TOPA, 0x1000, "r0"),
	HOST("MSR-ADDR", ADDR_B(3), EN | TOPA, 0x1000, "r3"),

	/* Reads do not depend on TraceEn. */
	RD("MSR-CTL", CTL, 0, 0, ""), RD("MSR-CTL", CTL, EN | TOPA | OS, EN | TOPA | OS, ""),
	RD("MSR-STATUS", STATUS, 0, 0x37, ""), RD("MSR-STATUS", STATUS, EN | TOPA, 0x7, ""),
	RD("MSR-OUTPUT-EXISTS", BASE, 0, 0x12345680, "c0|c2"),
	RD("MSR-OUTPUT-EXISTS", BASE, EN | FABRIC, 0x1000, "c0|c2"),
	RD("MSR-OUTPUT-EXISTS", MASK, 0, 0x7f, "c0|c2"),
	RD("MSR-OUTPUT-EXISTS", MASK, EN | TOPA, 0x123456780000ff7f, "c0|c2"),
	RD("MSR-CR3-EXISTS", CR3, 0, 0x1fe0, "b0"),
	RD("MSR-CR3-EXISTS", CR3, EN | TOPA, 0x1000, "b0"),
	RD("MSR-ADDR-EXISTS", ADDR_A(0), 0, 0xffff800000000000, "r0"),
	RD("MSR-ADDR-EXISTS", ADDR_B(0), EN | TOPA, 0x1000, "r0"),
	RD("MSR-ADDR-EXISTS", ADDR_A(1), 0, 0x1000, "r1"),
	RD("MSR-ADDR-EXISTS", ADDR_B(1), 0, 0x1000, "r1"),
	RD("MSR-ADDR-EXISTS", ADDR_A(2), 0, 0x1000, "r2"),
	RD("MSR-ADDR-EXISTS", ADDR_B(2), 0, 0x1000, "r2"),
	RD("MSR-ADDR-EXISTS", ADDR_A(3), 0, 0x1000, "r3"),
	RD("MSR-ADDR-EXISTS", ADDR_B(3), 0, 0x1000, "r3"), RD("MSR-ADDR-EXISTS", 0x588, 0, 0, "-"),
	RD("MSR-UNLISTED", 0x562, 0, 0, "-"), RD("MSR-UNLISTED", 0x573, EN | TOPA, 0, "-"),
	WR("MSR-UNLISTED", 0x56f, 0, "-"), WR("MSR-UNLISTED", 0x57f, 0, "-"),
	HOST("MSR-UNLISTED", 0x59f, 0, 0, "-"),
};
/* clang-format on */

/* The number of checks, in memory that the forked tests share. */
static unsigned long *checks;

static uint64_t *reg_of(struct vpt_rtit *rtit, uint32_t msr)
{
	switch (msr) {
	case BASE:
		return &rtit->output_base;
	case MASK:
		return &rtit->output_mask_ptrs;
	case CTL:
		return &rtit->ctl;
	case STATUS:
		return &rtit->status;
	case CR3:
		return &rtit->cr3_match;
	default:
		return msr >= ADDR0_A && msr < ADDR0_A + 8 ? &rtit->addr[msr - ADDR0_A] : NULL;
	}
}

/* All registers differ, so that a write to the wrong register is detected. */
static struct vpt_rtit state_before(const struct row *row)
{
	struct vpt_rtit rtit = {0, 0x30, 0x7000, 0x127f, 0x8000, {0}};
	uint64_t *reg = reg_of(&rtit, row->msr);
	size_t i;

	for (i = 0; i < COUNT(rtit.addr); i++)
		rtit.addr[i] = 0x10000 * (i + 1);
	rtit.ctl = row->ctl;
	if (reg && row->msr != CTL)
		*reg = row->before;
	return rtit;
}

#define UNREAD 0xdeadbeefdeadbeefull

static void check_row(const struct model *model, const struct row *row)
{
	const struct vpt_caps *caps = &model->caps;
	struct vpt_rtit rtit = state_before(row), expected = rtit;
	bool legal = holds(caps, row->need);
	uint64_t read = UNREAD;
	enum vpt_fault fault;

	if (row->op == READ)
		fault = vpt_rtit_read(&rtit, caps, row->msr, &read);
	else
		fault = vpt_rtit_write(&rtit, caps, row->msr, row->value,
				       row->op == HOST_WR ? VPT_ACCESS_HOST : VPT_ACCESS_GUEST);
	if (legal && row->op != READ)
		*reg_of(&expected, row->msr) = row->after;

	ck_assert_msg(fault == (legal ? VPT_FAULT_NONE : VPT_FAULT_GP),
		      "%s on %s: MSR %x op %d CTL %llx value %llx: fault %d", row->tag, model->name,
		      row->msr, row->op, (unsigned long long)row->ctl,
		      (unsigned long long)row->value, fault);
	ck_assert_msg(!memcmp(&rtit, &expected, sizeof(rtit)),
		      "%s on %s: MSR %x op %d CTL %llx value %llx: wrong state after it", row->tag,
		      model->name, row->msr, row->op, (unsigned long long)row->ctl,
		      (unsigned long long)row->value);
	if (row->op == READ)
		ck_assert_uint_eq(read, legal ? row->after : UNREAD);
	__atomic_fetch_add(checks, 1, __ATOMIC_RELAXED);
}

static void check_on_all(const struct row *row)
{
	size_t i;

	for (i = 0; i < MODELS; i++) {
		struct model model = model_at(i);

		check_row(&model, row);
	}
}

/* Check a row, whose members are the arguments, on all models. */
#define CHECK(...) check_on_all(&(struct row){__VA_ARGS__})

START_TEST(rule)
{
	check_on_all(&rows[_i]);
	TEST_PROVES(rows[_i].tag);
	TEST_PROVES("MSR-ATOMIC");
}
END_TEST

START_TEST(every_field_has_a_row)
{
	static const char *const tags[] = {
#define VPT_MSR(name, index, tag, section, meaning) #tag,
#include "../../shared/spec/msrs.def"
#undef VPT_MSR
#define VPT_CTL(name, lo, width, needs, tag, section, meaning) #tag,
#define VPT_CTL_RULE(holds, tag, section, rule)		       #tag,
#include "../../shared/spec/rtit_ctl.def"
#define VPT_STATUS(name, lo, width, access, needs, tag, section, meaning) #tag,
#include "../../shared/spec/rtit_status.def"
#undef VPT_STATUS
	};
	size_t i, n;

	for (i = 0; i < COUNT(tags); i++) {
		for (n = 0; n < COUNT(rows) && strcmp(rows[n].tag, tags[i]); n++)
			;
		ck_assert_msg(n < COUNT(rows), "no row for %s", tags[i]);
	}
}
END_TEST

/* The fields of tables 33-6 and 33-7, for sweeps of all bits and encodings. */

struct field {
	unsigned int lo, width;
	const char *need; /* for a value other than 0 */
	char map;	  /* the map of legal encodings, 'a' for ADDRn_CFG, 0 if all are legal */
};

/* clang-format off */
static const struct field ctl_fields[] = {
#define CTL_BIT(bit, need, tag)		{ bit, 1, need, 0 },
#define CTL_FIELD(lo, width, need, map) { lo, width, need, map },
#include "../../guest/lib/rtit_ctl.tbl"
};

static const struct field status_fields[] = {
	{ 0, 1, "", 0 }, { 1, 1, "", 0 }, { 2, 1, "", 0 }, { 4, 1, "", 0 }, { 5, 1, "", 0 },
	{ 6, 1, "b6", 0 }, { 7, 1, "b6", 0 }, { 32, 17, "b1", 0 },
};
/* clang-format on */

static uint64_t field_mask(const struct field *field)
{
	return (BIT(field->width) - 1) << field->lo;
}

/* Return the need of the field's value. @text may hold the need. */
static const char *field_need(const struct field *field, unsigned int value, char text[16])
{
	if (value == 0)
		return "";
	if (field->map == 'a')
		return value <= 2 ? field->need : "-";
	if (!field->map)
		return field->need;
	snprintf(text, 16, "%s %c%u", field->need, field->map, value);
	return text;
}

static const struct field *field_at(const struct field *fields, size_t count, unsigned int bit)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (field_mask(&fields[i]) & BIT(bit))
			return &fields[i];
	}
	return NULL;
}

static const char *bit_need(const struct field *fields, size_t count, unsigned int bit,
			    char text[16])
{
	const struct field *field = field_at(fields, count, bit);

	return field ? field_need(field, (unsigned int)BIT(bit - field->lo), text) : "-";
}

/* Row: a bit of CTL. Write the bit alone, and flip the bit while tracing. */
START_TEST(ctl_bit)
{
	const uint64_t bit = BIT(_i), running = EN | FABRIC | TOPA | OS;
	const char *off = _i == 0 ? "c3 c0" : "-";
	char text[16], flip[32];
	const char *need = bit_need(ctl_fields, COUNT(ctl_fields), (unsigned int)_i, text);

	CHECK("bit", GUEST_WR, CTL, 0, 0, bit, need, bit);
	CHECK("bit", HOST_WR, CTL, 0, 0, bit, need, bit);
	/* A guest can flip TraceEn only. A host can flip any bit if the result is legal. */
	CHECK("flip", GUEST_WR, CTL, running, 0, running ^ bit, off, running ^ bit);
	snprintf(flip, sizeof(flip), "%s %s", running & bit ? "" : need,
		 bit == FABRIC ? "c0" : (bit == TOPA ? "c3" : "c3 c0"));
	CHECK("flip", HOST_WR, CTL, running, 0, running ^ bit, flip + strspn(flip, " "),
	      running ^ bit);
	TEST_PROVES("MSR-RESERVED CTL-ADDRCFG-RESERVED MSR-TRACEEN-LOCK");
}
END_TEST

START_TEST(status_bit)
{
	const uint64_t bit = BIT(_i), before = 0x7 & ~bit, read_only = bit & 0x7;
	char text[16];
	const char *need = bit_need(status_fields, COUNT(status_fields), (unsigned int)_i, text);

	CHECK("bit", GUEST_WR, STATUS, 0, 0, bit, need, bit & ~read_only);
	CHECK("bit", GUEST_WR, STATUS, 0, before, bit, need, before | (bit & ~read_only));
	CHECK("bit", HOST_WR, STATUS, 0, before, bit, need, bit);
	CHECK("bit", HOST_WR, STATUS, EN | TOPA, before, bit, need, bit);
	CHECK("bit", GUEST_WR, STATUS, EN | TOPA, before, bit, "-", 0);
	TEST_PROVES("MSR-RESERVED STATUS-RO");
}
END_TEST

/* Row: an encoding, for each field of CTL with more than one bit. */
START_TEST(ctl_encoding)
{
	unsigned int enc = (unsigned int)_i;
	size_t i;

	for (i = 0; i < COUNT(ctl_fields); i++) {
		uint64_t value = (uint64_t)enc << ctl_fields[i].lo;
		char text[16];
		const char *need = field_need(&ctl_fields[i], enc, text);

		if (ctl_fields[i].width == 1)
			continue;
		CHECK("enc", GUEST_WR, CTL, 0, 0, value, need, value);
		CHECK("enc", GUEST_WR, CTL, EN | TOPA, 0, value, need, value);
		CHECK("enc", HOST_WR, CTL, OS, 0, value, need, value);
	}
	TEST_PROVES("CTL-ENCODING CTL-ADDRCFG-RESERVED CAPS-ZERO-ENCODING CAPS-RANGES-MAX");
}
END_TEST

/* Return the need of an MSR number in and around the block of RTIT MSRs. */
static const char *number_need(uint32_t msr, char text[16])
{
	switch (msr) {
	case CTL:
	case STATUS:
		return "";
	case BASE:
	case MASK:
		return "c0|c2";
	case CR3:
		return "b0";
	default:
		snprintf(text, 16, "r%u", (msr - ADDR0_A) / 2);
		return msr >= ADDR0_A && msr <= ADDR_B(3) ? text : "-";
	}
}

START_TEST(number)
{
	static const uint32_t far[] = {0, 0x10, 0x38e, 0x485, 0x80000580, 0xc0000080, 0xffffffff};
	uint32_t msr = _i < 0x60 ? 0x550 + (uint32_t)_i : far[_i - 0x60];
	char text[16];
	const char *need = number_need(msr, text);
	uint64_t zero = msr == MASK ? 0x7f : 0;
	size_t i;

	CHECK("number", READ, msr, 0, 0, 0, need, 0);
	CHECK("number", GUEST_WR, msr, 0, 0, 0, need, zero);
	CHECK("number", HOST_WR, msr, 0, 0, 0, need, zero);
	for (i = 0; i < MODELS; i++) {
		struct model model = model_at(i);

		ck_assert_int_eq(vpt_rtit_exists(&model.caps, msr), holds(&model.caps, need));
	}
	TEST_PROVES("MSR-UNLISTED MSR-ABSENT");
}
END_TEST

static uint64_t mask_of(const struct vpt_caps *caps, const struct field *fields, size_t count)
{
	uint64_t mask = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		/* TraceEn always exists. Its need is that of an output. */
		if (fields[i].lo == 0 || holds(caps, fields[i].need))
			mask |= field_mask(&fields[i]);
	}
	return mask;
}

START_TEST(masks)
{
	struct model model = model_at((size_t)_i);
	const struct vpt_caps *caps = &model.caps;

	/* Without PT the masks have no meaning. */
	if (!caps->l14_0_ebx && !caps->l14_0_ecx)
		return;
	ck_assert_uint_eq(vpt_rtit_ctl_mask(caps), mask_of(caps, ctl_fields, COUNT(ctl_fields)));
	ck_assert_uint_eq(vpt_rtit_status_mask(caps),
			  mask_of(caps, status_fields, COUNT(status_fields)));
	TEST_PROVES("MSR-RESERVED");
}
END_TEST

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Return true if all fields are legal and, with TraceEn, the output exists. */
static bool ctl_legal(const struct vpt_caps *caps, uint64_t ctl)
{
	char text[16];
	uint64_t fields = 0;
	size_t i;

	for (i = 0; i < COUNT(ctl_fields); i++) {
		uint64_t mask = field_mask(&ctl_fields[i]);
		unsigned int value = (unsigned int)((ctl & mask) >> ctl_fields[i].lo);

		fields |= mask;
		if (mask != EN && !holds(caps, field_need(&ctl_fields[i], value, text)))
			return false;
	}
#define CTL_NEVER(bits, tag)          \
	if ((ctl & (bits)) == (bits)) \
		return false;
#include "../../guest/lib/rtit_ctl.tbl"
	return !(ctl & ~fields) && (!(ctl & EN) || (ctl & (TOPA | FABRIC)) || holds(caps, "c2"));
}

START_TEST(ctl_random)
{
	struct model model = model_at((size_t)_i);
	uint64_t seed = 0x9e3779b97f4a7c15 + (uint64_t)_i;
	unsigned int n, legal = 0;

	for (n = 0; n < 4096; n++) {
		uint64_t value = vpt_rtit_ctl_mask(&model.caps) & next_random(&seed);
		unsigned int thin = n % 4;
		bool ok;

		while (thin--)
			value &= next_random(&seed);
		ok = ctl_legal(&model.caps, value);
		legal += ok;
		check_row(&model, &(struct row){"random", n & 1 ? GUEST_WR : HOST_WR, CTL, OS, 0,
						value, ok ? "" : "-", value});
	}
	ck_assert(legal > 0 || !strcmp(model.name, "no-pt"));
	TEST_PROVES("CTL-ENCODING CTL-NO-OUTPUT MSR-RESERVED");
}
END_TEST

/* Address widths of 0 and of 64 and more must not break the checks of addresses. */
START_TEST(absurd_widths)
{
	static const uint8_t widths[] = {0, 64, 65, 255};
	struct model model = {"absurd", *vpt_caps_model("skl")};

	model.caps.max_phy_addr = _i ? widths[_i] : 64;
	model.caps.lin_addr = widths[_i];
	check_row(&model, &(struct row)WR("width", BASE, ~0x7full, ""));
	check_row(&model, &(struct row)WR("width", BASE, 0x40, "-"));
	check_row(&model, &(struct row)WR("width", ADDR_A(0), BIT(62), ""));
	TEST_PROVES("MSR-BASE-WIDTH MSR-ADDR-CANONICAL");
}
END_TEST

/* Reset */

START_TEST(cold_reset)
{
	static const struct vpt_rtit clear = {.output_mask_ptrs = 0x7f};
	struct vpt_rtit rtit;

	memset(&rtit, 0xff, sizeof(rtit));
	vpt_rtit_reset(&rtit);
	ck_assert(!memcmp(&rtit, &clear, sizeof(rtit)));
	TEST_PROVES("MSR-COLD-RESET");
}
END_TEST

START_TEST(warm_reset)
{
	struct model model = model_at((size_t)_i);
	const struct row tracing = {"", READ, CTL, EN | TOPA | OS, 0, 0, "", 0};
	struct vpt_rtit rtit = state_before(&tracing), expected;

	rtit.status = 0x1000000037;
	expected = rtit;
	if (model.caps.l14_0_ebx & BIT(2)) {
		expected.ctl = TOPA | OS;
		expected.status = 0x1000000033;
	} else {
		memset(&expected, 0, sizeof(expected));
		expected.output_mask_ptrs = 0x7f;
	}
	vpt_rtit_warm_reset(&rtit, &model.caps);
	ck_assert_msg(!memcmp(&rtit, &expected, sizeof(rtit)), "warm reset on %s", model.name);
	TEST_PROVES("MSR-WARM-RESET MSR-WARM-KEEP CPUID-IPFILTER");
}
END_TEST

/* The forked tests run exit handlers too. Only the first process reports. */
static pid_t reporter;

static void report(void)
{
	if (getpid() == reporter)
		printf("msr rules: %zu rows, %zu models, %lu checks\n", COUNT(rows), MODELS,
		       *checks);
}

TEST_SUITE("rtit", NULL, NULL)
{
	checks = mmap(NULL, sizeof(*checks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (checks == MAP_FAILED)
		abort();
	reporter = getpid();
	atexit(report);

	TEST_ROWS(tcase, rule, rows);
	TEST_LOOP(tcase, 64, ctl_bit, status_bit);
	tcase_add_loop_test(tcase, ctl_encoding, 0, 16);
	tcase_add_loop_test(tcase, number, 0, 0x60 + 7);
	TEST_LOOP(tcase, MODELS, masks, ctl_random, warm_reset);
	tcase_add_loop_test(tcase, absurd_widths, 0, 4);
	TEST_ADD(tcase, every_field_has_a_row, cold_reset);
}
