/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sixteen conditions of Jcc, SETcc and CMOVcc on soft.fl. OF is bit 0, and the LAHF image is
 * the high byte.
 */
#ifndef VMM_SOFT_FLAGCOND_H
#define VMM_SOFT_FLAGCOND_H

#include <stdbool.h>
#include <stdint.h>

enum soft_flag {
	SOFT_F_OF = 1 << 0,
	SOFT_F_CF = 1 << 8,
	SOFT_F_FIXED = 1 << 9, /* as in RFLAGS: always set */
	SOFT_F_PF = 1 << 10,
	SOFT_F_AF = 1 << 12,
	SOFT_F_ZF = 1 << 14,
	SOFT_F_SF = 1 << 15,
};

/* `cc` is the low four bits of the opcode. It is a constant, so that one test remains. */
static inline __attribute__((always_inline)) bool soft_cond(uint16_t fl, unsigned int cc)
{
	bool holds;

	switch (cc >> 1 & 7) {
	case 0: /* O */
		holds = fl & SOFT_F_OF;
		break;
	case 1: /* B */
		holds = fl & SOFT_F_CF;
		break;
	case 2: /* Z */
		holds = fl & SOFT_F_ZF;
		break;
	case 3: /* BE */
		holds = fl & (SOFT_F_CF | SOFT_F_ZF);
		break;
	case 4: /* S */
		holds = fl & SOFT_F_SF;
		break;
	case 5: /* P */
		holds = fl & SOFT_F_PF;
		break;
	case 6: /* L: SF is not OF */
		holds = (fl >> 15 ^ fl) & 1;
		break;
	default: /* LE */
		holds = (fl & SOFT_F_ZF) | ((fl >> 15 ^ fl) & 1);
		break;
	}
	return holds != (cc & 1);
}

/*
 * X(name, encoding, ...) for all conditions, with the names of the mnemonics after SET, CMOV or J.
 */
#define SOFT_CONDITIONS(X, ...)  \
	X(o, 0, ##__VA_ARGS__)   \
	X(no, 1, ##__VA_ARGS__)  \
	X(b, 2, ##__VA_ARGS__)   \
	X(nb, 3, ##__VA_ARGS__)  \
	X(z, 4, ##__VA_ARGS__)   \
	X(nz, 5, ##__VA_ARGS__)  \
	X(be, 6, ##__VA_ARGS__)  \
	X(nbe, 7, ##__VA_ARGS__) \
	X(s, 8, ##__VA_ARGS__)   \
	X(ns, 9, ##__VA_ARGS__)  \
	X(p, 10, ##__VA_ARGS__)  \
	X(np, 11, ##__VA_ARGS__) \
	X(l, 12, ##__VA_ARGS__)  \
	X(nl, 13, ##__VA_ARGS__) \
	X(le, 14, ##__VA_ARGS__) \
	X(nle, 15, ##__VA_ARGS__)

#endif /* VMM_SOFT_FLAGCOND_H */
