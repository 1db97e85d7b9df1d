// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt-silicon: compare the soft engine with the processor, instruction by instruction,
 * and print every difference with the bytes and both states.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/silicon/silicon.h"

/* The results of a class. */
struct tally {
	uint64_t tried, faults, differences;
};

static struct tally tallies[128];
static uint64_t shown, show_most = 20;

struct undefined {
	ZydisMnemonic mnemonic;
	uint64_t flags, count_flags;
	bool address, at_fault;
};

#define CF 0x001ull
#define PF 0x004ull
#define AF 0x010ull
#define ZF 0x040ull
#define SF 0x080ull
#define OF 0x800ull

static const struct undefined undefined[] = {
#define SILICON_UNDEFINED(m, f, reason)	      {.mnemonic = ZYDIS_MNEMONIC_##m, .flags = f},
#define SILICON_UNDEFINED_COUNT(m, f, reason) {.mnemonic = ZYDIS_MNEMONIC_##m, .count_flags = f},
#define SILICON_UNDEFINED_CR2(m, reason)      {.mnemonic = ZYDIS_MNEMONIC_##m, .address = true},
#define SILICON_UNDEFINED_AT_FAULT(m, reason) {.mnemonic = ZYDIS_MNEMONIC_##m, .at_fault = true},
#include "run/silicon/undefined.def"
#undef SILICON_UNDEFINED
#undef SILICON_UNDEFINED_COUNT
#undef SILICON_UNDEFINED_CR2
#undef SILICON_UNDEFINED_AT_FAULT
};

#define COMPARED 0xcd5ull /* arithmetic flags and DF */

static const struct undefined *undefined_in(uint16_t mnemonic)
{
	static const struct undefined nothing;
	size_t i;

	for (i = 0; i < sizeof(undefined) / sizeof(undefined[0]); i++)
		if (undefined[i].mnemonic == mnemonic)
			return &undefined[i];
	return &nothing;
}

/* Returns the flags that the manual leaves undefined for this instruction and count. */
static uint64_t undefined_flags(const struct sil_test *t)
{
	const struct undefined *u = undefined_in(t->mnemonic);
	ZydisDisassembledInstruction insn;
	const ZydisDecodedOperand *op = insn.operands;
	uint64_t mask;

	if (!u->count_flags ||
	    !ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, t->ip, t->code, t->len,
						&insn)) ||
	    op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return u->flags;
	mask = op[0].size == 64 ? 63 : 31;
	return u->flags | ((op[1].imm.value.u & mask) > 1 ? u->count_flags : 0);
}

/*
 * The flags of MXCSR at #XM can depend on when the exception is detected. With unmasked overflow or
 * underflow, a result is inexact by other criteria. Dot products have several steps.
 */
static bool xm_flags_vary(const struct sil_test *t)
{
	switch (t->mnemonic) {
	case ZYDIS_MNEMONIC_DPPS:
	case ZYDIS_MNEMONIC_DPPD:
	case ZYDIS_MNEMONIC_VDPPS:
	case ZYDIS_MNEMONIC_VDPPD:
		return true;
	default:
		return (t->in.fx[25] & 0xc) != 0xc;
	}
}

/*
 * Compare x87 registers and words. Compare the pointers only if an exception made them significant.
 */
static bool x87_differs(const uint8_t *a, const uint8_t *b)
{
	unsigned int i;

	if (memcmp(a, b, 5) || memcmp(a + 24, b + 24, 4))
		return true;
	for (i = 0; i < 8; i++)
		if (memcmp(a + 32 + 16 * i, b + 32 + 16 * i, 10))
			return true;
	return false;
}

/* FXSAVE stores MXCSR_MASK, which differs by design: AMD's has bit 17. */
static void forget_mask(const struct sil_test *t, struct sil_result *r)
{
	uint64_t at = t->operand + 30;

	if (at >= SIL_WINDOW && at < SIL_WINDOW + SIL_WINDOW_LEN && r->vector < 0)
		r->out.window[at - SIL_WINDOW] = 0;
}

static const char *difference(const struct sil_test *t, const struct sil_result *a,
			      const struct sil_result *b)
{
	uint32_t ignored = 0;

	if ((a->vector == 13 || a->vector == 14) && undefined_in(t->mnemonic)->address)
		return NULL;
	if (a->vector != b->vector)
		return "vector";
	/* Linux sets the present bit of the error code for all kernel addresses. */
	if (a->vector == 14 && a->cr2 >> 47)
		ignored = 1;
	if (a->vector == 14 && (a->cr2 != b->cr2 || (a->error ^ b->error) & 0x1f & ~ignored))
		return "page fault";
	if (a->vector == 13 && a->error != b->error)
		return "error code";
	if (memcmp(a->out.gpr, b->out.gpr, sizeof(a->out.gpr)))
		return "registers";
	if ((a->out.rflags ^ b->out.rflags) & COMPARED & ~undefined_flags(t) &&
	    !(a->vector >= 0 && undefined_in(t->mnemonic)->at_fault))
		return "flags";
	if (memcmp(a->out.zmm, b->out.zmm, sizeof(a->out.zmm)))
		return "vectors";
	if (memcmp(a->out.k, b->out.k, sizeof(a->out.k)))
		return "masks";
	if (x87_differs(a->out.fx, b->out.fx))
		return "x87 or MXCSR";
	if (memcmp(a->out.window, b->out.window, SIL_WINDOW_LEN))
		return "memory";
	return NULL;
}

static void hex(const char *name, const uint8_t *p, size_t len)
{
	printf(" %s=", name);
	while (len--)
		printf("%02x", p[len]);
}

static uint64_t word(const uint8_t *p, size_t len)
{
	uint64_t v = 0;

	memcpy(&v, p, len);
	return v;
}

static void show_x87(const struct sil_state *s)
{
	unsigned int i;

	printf("      fcw=%04x fsw=%04x ftw=%02x mxcsr=%08x", (unsigned int)word(s->fx, 2),
	       (unsigned int)word(s->fx + 2, 2), s->fx[4], (unsigned int)word(s->fx + 24, 4));
	for (i = 0; i < 8; i++)
		hex("st", s->fx + 32 + 16 * i, 10);
	printf("\n");
}

/* Show the values that differ between the three states, or all of them. */
static void show_state(const char *who, const struct sil_state *s, const struct sil_state *a,
		       const struct sil_state *b, const struct sil_state *in, bool all)
{
	unsigned int i;

	printf("    %s rflags=%03x", who, (unsigned int)(s->rflags & 0xfff));
	for (i = 0; i < 16; i++)
		if (all || a->gpr[i] != b->gpr[i] || a->gpr[i] != in->gpr[i])
			printf(" r%u=%016llx", i, (unsigned long long)s->gpr[i]);
	for (i = 0; i < 32; i++)
		if (memcmp(a->zmm[i], b->zmm[i], 64) || memcmp(a->zmm[i], in->zmm[i], 64)) {
			printf("\n     zmm%u", i);
			hex("", s->zmm[i], 64);
		}
	for (i = 0; i < 8; i++)
		if (a->k[i] != b->k[i] || a->k[i] != in->k[i])
			printf(" k%u=%016llx", i, (unsigned long long)s->k[i]);
	printf("\n");
	if (x87_differs(a->fx, b->fx))
		show_x87(s);
	for (i = 0; i < SIL_WINDOW_LEN; i += 8)
		if (memcmp(a->window + i, b->window + i, 8))
			printf("      [%llx]=%016llx\n", (unsigned long long)(SIL_WINDOW + i),
			       (unsigned long long)word(s->window + i, 8));
}

static void show(const struct sil_test *t, const char *what, const struct sil_result *host,
		 const struct sil_result *soft)
{
	char text[128] = "?";
	ZydisDisassembledInstruction insn;
	unsigned int i;

	if (ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, t->ip, t->code, t->len,
					       &insn)))
		snprintf(text, sizeof(text), "%s", insn.text);
	printf("#%llu %s: %s:", (unsigned long long)t->index, sil_class_name[t->class], what);
	for (i = 0; i < t->len; i++)
		printf(" %02x", t->code[i]);
	printf("  %s\n", text);
	printf("    host vector %d error %x cr2 %llx; soft vector %d error %x cr2 %llx\n",
	       host->vector, host->error, (unsigned long long)host->cr2, soft->vector, soft->error,
	       (unsigned long long)soft->cr2);
	show_state("in  ", &t->in, &host->out, &soft->out, &t->in, true);
	show_state("host", &host->out, &host->out, &soft->out, &t->in, false);
	show_state("soft", &soft->out, &host->out, &soft->out, &t->in, false);
}

static void judge(const struct sil_test *t, struct sil_result *host, struct sil_result *soft)
{
	struct tally *tally = &tallies[t->class];
	const char *what;

	if (t->mnemonic == ZYDIS_MNEMONIC_FXSAVE || t->mnemonic == ZYDIS_MNEMONIC_FXSAVE64) {
		forget_mask(t, host);
		forget_mask(t, soft);
	}
	if (host->vector == 19 && soft->vector == 19 && xm_flags_vary(t))
		host->out.fx[24] = (uint8_t)((host->out.fx[24] & 0xc0) | (soft->out.fx[24] & 0x3f));
	what = difference(t, host, soft);
	tally->tried++;
	tally->faults += host->vector >= 0;
	if (!what)
		return;
	tally->differences++;
	if (shown++ < show_most)
		show(t, what, host, soft);
}

static uint64_t summary(void)
{
	struct tally all = {0};
	unsigned int i;

	printf("%-10s %12s %12s %12s\n", "class", "tried", "faults", "differences");
	for (i = 0; i < sil_classes; i++) {
		if (!tallies[i].tried)
			continue;
		printf("%-10s %12llu %12llu %12llu\n", sil_class_name[i],
		       (unsigned long long)tallies[i].tried, (unsigned long long)tallies[i].faults,
		       (unsigned long long)tallies[i].differences);
		all.tried += tallies[i].tried;
		all.faults += tallies[i].faults;
		all.differences += tallies[i].differences;
	}
	printf("%-10s %12llu %12llu %12llu\n", "total", (unsigned long long)all.tried,
	       (unsigned long long)all.faults, (unsigned long long)all.differences);
	return all.differences;
}

static bool compare(uint64_t seed, uint64_t first, uint64_t count)
{
	struct sil_test *tests = sil_shared(SIL_BATCH * sizeof(*tests));
	struct sil_result *host = sil_shared(SIL_BATCH * sizeof(*host)), *soft;
	unsigned int n, i;

	soft = aligned_alloc(64, sizeof(*soft));
	if (!tests || !host || !soft)
		return false;
	for (; count; count -= n, first += n) {
		n = count < SIL_BATCH ? (unsigned int)count : SIL_BATCH;
		for (i = 0; i < n; i++)
			sil_generate(seed, first + i, &tests[i]);
		sil_soft_code(tests, n);
		if (!sil_host_run(tests, host, n)) {
			fprintf(stderr, "silicon: the host side died in tests %llu to %llu\n",
				(unsigned long long)first, (unsigned long long)(first + n - 1));
			return false;
		}
		for (i = 0; i < n; i++) {
			sil_soft_run(&tests[i], soft);
			judge(&tests[i], &host[i], soft);
		}
	}
	free(soft);
	return true;
}

static uint64_t argument(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (*end || !*text) {
		fprintf(stderr, "silicon: %s is not a number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 's'},	 {"count", required_argument, NULL, 'n'},
		{"class", required_argument, NULL, 'c'}, {"first", required_argument, NULL, 'f'},
		{"show", required_argument, NULL, 'm'},	 {NULL, 0, NULL, 0},
	};
	uint64_t seed = 1, count = 1000000, first = 0;
	const char *class = NULL;
	size_t forms;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			seed = argument(optarg);
			break;
		case 'n':
			count = argument(optarg);
			break;
		case 'c':
			class = optarg;
			break;
		case 'f':
			first = argument(optarg);
			break;
		case 'm':
			show_most = argument(optarg);
			break;
		default:
			fprintf(stderr, "usage: vpt-silicon [--seed N] [--count N] [--first N] "
					"[--class NAME] [--show N]\n");
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (sil_soft_init() || sil_host_init()) {
		fprintf(stderr, "silicon: cannot make a machine\n");
		return 1;
	}
	forms = sil_gen_init(class);
	if (!forms) {
		fprintf(stderr, "silicon: there is no class %s\n", class ? class : "at all");
		return 2;
	}
	printf("%zu forms, seed %llu\n", forms, (unsigned long long)seed);
	fflush(stdout);
	if (!compare(seed, first, count))
		return 1;
	return summary() ? 1 : 0;
}
