/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compare the soft engine with the host's processor. Both execute one random instruction at a time,
 * with the same random state at the same addresses.
 */
#ifndef TESTS_SILICON_SILICON_H
#define TESTS_SILICON_SILICON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <Zydis/Zydis.h>

/*
 * Linear addresses on both sides. Nothing is mapped directly below the sandbox or above its last
 * page.
 */
#define SIL_SANDBOX    0x10000000ull
#define SIL_PAGES      3u /* the last one is read-only */
#define SIL_READ_ONLY  (SIL_SANDBOX + 0x2000)
#define SIL_NOTHING    (SIL_SANDBOX + 0x3000)
#define SIL_WINDOW     (SIL_SANDBOX + 0x1000 - SIL_WINDOW_LEN / 2)
#define SIL_WINDOW_LEN 1024u
#define SIL_CODE       0x20000000ull
#define SIL_SLOT       64u
#define SIL_BATCH      256u

/* General registers are in the order of their numbers. host.c has these offsets too. */
struct sil_state {
	uint64_t gpr[16];
	uint64_t rflags;
	uint64_t unused[7];
	uint8_t zmm[32][64] __attribute__((aligned(64)));
	uint64_t k[8];
	uint8_t fx[512] __attribute__((aligned(64))); /* FXSAVE64; its XMM part is not used */
	uint8_t window[SIL_WINDOW_LEN];
};

struct sil_test {
	uint64_t index;
	uint16_t class;
	uint16_t mnemonic;
	uint8_t len;
	uint8_t code[16];
	uint64_t ip;
	uint64_t operand; /* intended address of its memory operand */
	struct sil_state in;
};

/* Initialize the writable pages, so that nothing is left from the previous test. */
static inline void sil_put_memory(const struct sil_test *t, uint8_t *sandbox)
{
	memset(sandbox, 0, SIL_READ_ONLY - SIL_SANDBOX);
	memcpy(sandbox + (SIL_WINDOW - SIL_SANDBOX), t->in.window, SIL_WINDOW_LEN);
}

/* Results that are not vectors. */
enum { SIL_EXIT = 1000 /* and the exit's kind */, SIL_ELSEWHERE = 2000, SIL_CRASHED = 3000 };

struct sil_result {
	int vector; /* -1: none */
	uint32_t error;
	uint64_t cr2;
	struct sil_state out;
};

/* Random numbers: the same for the same seed. */
struct sil_random {
	uint64_t state;
};
uint64_t sil_next(struct sil_random *r);
static inline unsigned int sil_below(struct sil_random *r, unsigned int n)
{
	return (unsigned int)((sil_next(r) >> 16) % n);
}

/* gen.c */
extern const char *const sil_class_name[];
extern const unsigned int sil_classes;
/* Find all forms of the class `only`, or of all classes if NULL. Returns their number. */
size_t sil_gen_init(const char *only);
void sil_generate(uint64_t seed, uint64_t index, struct sil_test *t);

/* host.c. Run `count` tests natively in a separate process. */
int sil_host_init(void);
extern uint32_t sil_has_avx512, sil_has_avx; /* set by sil_host_init() */
bool sil_host_run(const struct sil_test *tests, struct sil_result *results, unsigned int count);
/*
 * Write the instruction and the jump after it. Both sides have the same bytes, since tests can read
 * them as data.
 */
void sil_put_code(const struct sil_test *t, uint8_t *at);
/*
 * Allocate memory shared with that process. The arguments of the functions above must be in such
 * memory.
 */
void *sil_shared(size_t bytes);

/* soft.c */
int sil_soft_init(void);
void sil_soft_code(const struct sil_test *tests, unsigned int count);
void sil_soft_run(const struct sil_test *t, struct sil_result *r);
/* Does the guest's CPUID have the instruction? */
bool sil_soft_has(const ZydisDecodedInstruction *insn);

#endif /* TESTS_SILICON_SILICON_H */
