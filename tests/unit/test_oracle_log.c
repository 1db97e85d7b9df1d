// SPDX-License-Identifier: GPL-2.0-or-later
/* What ran as stretches and words: it is read as the records that it stands for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "lib/synth.h"
#include "oracle/compare.h"
#include "trace/oracle_log.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * 0: 100 101 103; 1: 106, a branch; 2: 10b 10c, the last a REP; 3: 10c alone; 4: 10e,
 * INT n; 5: 200 at CPL 3 with PAE, whose flags say what they are not to say; 6: 107.
 */
static const struct {
	struct trace_stretch head;
	struct trace_stretch_insn insns[3];
} stretches[] = {
	{{0, 0, 0, 3, 0x100}, {{1, 0}, {2, 0}, {3, TRACE_ORACLE_COND}}},
	{{1, 0, TRACE_STRETCH_JUMP, 1, 0x106}, {{5, 0}}},
	{{2, 0, TRACE_STRETCH_REP, 2, 0x10b}, {{1, 0}, {2, 0}}},
	{{3, 0, TRACE_STRETCH_REP, 1, 0x10c}, {{2, 0}}},
	{{4, 0, 0, 1, 0x10e}, {{2, TRACE_ORACLE_SOFT_INT}}},
	{{5, 3, TRACE_STRETCH_PAE, 1, 0x200}, {{1, TRACE_ORACLE_ARRIVED}}},
	{{6, 0, 0, 1, 0x107}, {{1, 0}}},
};

static void define_all(struct synth *s)
{
	int i;

	for (i = 0; i < COUNT(stretches); i++)
		ck_assert_int_eq(trace_writer_stretch(s->w, &stretches[i].head, stretches[i].insns),
				 0);
}

static const char kinds[] = "iepstv"; /* in the order of enum trace_oracle_kind */

static void put(struct synth *s, uint32_t word)
{
	ck_assert_int_eq(trace_writer_run(s->w, 0, &word, 1), 0);
}

static void put_record(struct synth *s, char kind, uint64_t ip)
{
	const struct trace_oracle_record r = {.ip = ip,
					      .kind = (uint8_t)(strchr(kinds, kind) - kinds)};
	uint32_t words[1 + TRACE_RECORD_WORDS] = {TRACE_RUN_RECORD};

	memcpy(words + 1, &r, sizeof(r));
	ck_assert_int_eq(trace_writer_run(s->w, 0, words, 1 + TRACE_RECORD_WORDS), 0);
}

/*
 * A word each: 4 stretch 4 ran, c2 cut to 2, e10c a record with its kind's letter,
 * oe10c one that the writer puts where it likes, | what is gathered is written.
 */
static void put_all(struct synth *s, const char *text)
{
	char copy[200], *word, *rest = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " "))) {
		if (*word == '|') {
			ck_assert_int_eq(trace_writer_sync(s->w), 0);
		} else if (*word == 'o') {
			const struct trace_oracle_record r = {
				.ip = strtoull(word + 2, NULL, 16),
				.kind = (uint8_t)(strchr(kinds, word[1]) - kinds)};

			ck_assert_int_eq(trace_writer_oracle(s->w, 0, r), 0);
		} else if (*word == 'c') {
			put(s, TRACE_RUN_CUT | (uint32_t)strtoul(word + 1, NULL, 10));
		} else if (strchr(kinds, *word)) {
			put_record(s, *word, strtoull(word + 1, NULL, 16));
		} else {
			put(s, (uint32_t)strtoul(word, NULL, 10));
		}
	}
}

static unsigned int flags_of(const struct trace_oracle_record *r)
{
	return r->kind == TRACE_ORACLE_INSN ? r->aux : TRACE_ORACLE_AUX_FLAGS(r->aux);
}

/* A word per record: kind but for i, IP, + ARRIVED, p PAE, ? COND, ! SOFT_INT, 3 CPL. */
static void write_records(const struct trace_reader *r, char *text, size_t size)
{
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *record;
	uint64_t n = 0;
	size_t at = 0;

	*text = 0;
	while ((record = trace_reader_oracle(r, 0, &cursor))) {
		const unsigned int flags = flags_of(record);
		const char kind[2] = {record->kind ? kinds[record->kind] : 0, 0};

		at += (size_t)snprintf(
			text + at, size - at, "%s%s%llx%s%s%s%s%s", n ? " " : "", kind,
			(unsigned long long)record->ip, flags & TRACE_ORACLE_ARRIVED ? "+" : "",
			flags & TRACE_ORACLE_PAE ? "p" : "", flags & TRACE_ORACLE_COND ? "?" : "",
			flags & TRACE_ORACLE_SOFT_INT ? "!" : "", record->cpl == 3 ? "3" : "");
		ck_assert_uint_lt(at, size);
		n++;
	}
	ck_assert_ptr_null(trace_reader_oracle(r, 0, &cursor));
	ck_assert_uint_eq(n, trace_reader_oracle_count(r, 0));
}

static const struct {
	const char *words, *records;
} runs[] = {
	/* Falling through, and not. */
	{"0 1", "100+ 101 103? 106"},
	{"0 0", "100+ 101 103? 100+ 101 103?"},
	{"5 0", "200+p3 100+ 101 103?"},
	/* What follows an unconditional branch is arrived at even if it follows. */
	{"1 2", "106+ 10b+"},
	{"0 6", "100+ 101 103? 107+"},
	/* Cut: what did not retire is nothing to what follows. */
	{"0 c3 1", "100+ 101 103? 106"},
	{"0 c2 1", "100+ 101 106+"},
	{"0 c0 1", "106+"},
	{"0 1 c0 1", "100+ 101 103? 106"},
	{"1 2 c0 2 4", "106+ 10b+ 10c 10e"},
	{"0 | c1 e101", "100+ e101"},
	/* A fault at an instruction that was fallen through to, and one that was not. */
	{"0 c1 e101 5", "100+ e101 200+p3"},
	{"0 1 c0 e106 5", "100+ 101 103? e106 200+p3"},
	{"1 2 c0 e10b", "106+ e10b+"},
	{"0 v106 s100 t107", "100+ 101 103? v106 s100 t107+"},
	{"0 t106 s106 1", "100+ 101 103? t106 s106 106+"},
	/* What ran in between is known by its IP only. */
	{"i100 t101", "100 t101"},
	{"i100 t10f", "100 t10f"},
	{"i100 t110", "100 t110+"},
	{"i105 1", "105 106"},
	{"i106 0", "106 100+ 101 103?"},
	/* An event comes between, and CR3 does not. */
	{"0 e106 1", "100+ 101 103? e106 106+"},
	{"0 p5000 1", "100+ 101 103? p5000 106"},
	/* REP: an iteration at a time, whole, interrupted, faulting, cut. */
	{"2 3 3 3 4", "10b+ 10c 10e"},
	{"2 4", "10b+ 10c 10e"},
	{"2", "10b+"},
	{"2 |", "10b+"},
	{"2 3 | 3 | 4", "10b+ 10c 10e"},
	{"2 3 e10c 5 3 3 4", "10b+ e10c 200+p3 10c+ 10e"},
	{"2 3 oe10c 5 3 | oe10e", "10b+ e10c 200+p3 10c+ e10e"},
	{"2 3 | oe10c 5 3 4", "10b+ e10c 200+p3 10c+ 10e"},
	{"2 3 c0 e10c", "10b+ e10c"},
	{"2 c1 e10c 5", "10b+ e10c 200+p3"},
	{"2 c1 3 4", "10b+ 10c 10e"},
	{"2 c2 3 4", "10b+ 10c 10c+ 10e"},
	{"2 3 p5000 3 e10e", "10b+ p5000 10c e10e"},
	{"2 3 p5000 e10e", "10b+ 10c p5000 e10e"},
	{"2 3 | op5000 | 3 e10e", "10b+ p5000 10c e10e"},
	{"2 p5000", "10b+ p5000"},
	{"2 3 t10c s10c 3 4", "10b+ t10c s10c 10c+ 10e"},
	/* INT n that was taken has its event. */
	{"4 e10e 5", "10e+! e10e+ 200+p3"},
	{"4 5", "10e+ 200+p3"},
	{"4 e110", "10e+ e110"},
	{"4 t10e", "10e+ t10e+"},
	{"4 c0 e10e", "e10e+"},
	{"4 | oe10e", "10e+! e10e"},
	/* Records of both kinds. */
	{"oi100 0 oi106 1", "100 100+ 101 103? 106 106+"},
	{"os100 0 | oe106 1", "s100 100+ 101 103? e106 106+"},
};

START_TEST(records)
{
	struct trace_reader *r;
	struct synth s;
	char text[400];

	synth_open(&s);
	define_all(&s);
	put_all(&s, runs[_i].words);
	r = synth_read(&s);
	write_records(r, text, sizeof(text));
	ck_assert_str_eq(text, runs[_i].records);
	ck_assert_ptr_null(trace_reader_extent(r)->why);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* A copy of a cursor goes on by itself, also from within a stretch. */
START_TEST(looked_ahead)
{
	struct trace_oracle_cursor at = {0}, ahead;
	struct trace_reader *r;
	struct synth s;

	synth_open(&s);
	define_all(&s);
	put_all(&s, "0 1");
	r = synth_read(&s);
	ck_assert_uint_eq(trace_reader_oracle(r, 0, &at)->ip, 0x100);
	ahead = at;
	ck_assert_uint_eq(trace_reader_oracle(r, 0, &ahead)->ip, 0x101);
	ck_assert_uint_eq(trace_reader_oracle(r, 0, &ahead)->ip, 0x103);
	ck_assert_uint_eq(trace_reader_oracle(r, 0, &ahead)->ip, 0x106);
	ck_assert_uint_eq(trace_reader_oracle(r, 0, &at)->ip, 0x101);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* Reading ends before the block that has these; what came before it stays. */
static const struct {
	const char *words, *why;
} wrong_words[] = {
	{"7", "a stretch ran that is not there"},
	{"4026531839", "a stretch ran that is not there"},
	{"0 1 7", "a stretch ran that is not there"},
	{"0 c4", "a stretch is cut where there is none"},
	{"0 c65535", "a stretch is cut where there is none"},
	{"0 c65536", "a stretch is cut where there is none"},
	{"0 c268435454", "a stretch is cut where there is none"},
	{"0 c1 c1", "a stretch is cut where there is none"},
	{"0 p5000 c1", "a stretch is cut where there is none"},
	{"c1 c1", "a stretch is cut where there is none"},
	{"2 3 7", "a stretch ran that is not there"},
	{"4294967295", "a record is cut off"},
	{"0 4294967295 1 2 3", "a record is cut off"},
};

START_TEST(words_refused)
{
	struct trace_reader *r;
	struct synth s;
	char text[400];

	synth_open(&s);
	define_all(&s);
	put_all(&s, "0 |");
	put_all(&s, wrong_words[_i].words);
	ck_assert_int_eq(trace_writer_close(s.w, 0), 0);
	s.w = NULL;
	ck_assert_int_eq(trace_reader_open(s.path, &r, text, sizeof(text)), 0);
	ck_assert_str_eq(trace_reader_extent(r)->why, wrong_words[_i].why);
	write_records(r, text, sizeof(text));
	ck_assert_str_eq(text, "100+ 101 103?");
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* A CUT belongs to the word before it, not to one before a record. */
START_TEST(cut_after_record)
{
	struct trace_reader *r;
	struct synth s;
	char text[400];

	synth_open(&s);
	define_all(&s);
	put_all(&s, "0 | oe106 | c1");
	ck_assert_int_eq(trace_writer_close(s.w, 0), 0);
	s.w = NULL;
	ck_assert_int_eq(trace_reader_open(s.path, &r, text, sizeof(text)), 0);
	ck_assert_ptr_nonnull(trace_reader_extent(r)->why);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* A block of definitions: one, of which a field is changed. */
struct definition {
	struct trace_stretch head;
	struct trace_stretch_insn insns[4];
};

static const struct {
	const char *what, *why;
	struct definition d;
	size_t len;
} wrong_stretches[] = {
	{"nothing", "a block's length is wrong", {{0}, {{0}}}, 0},
	{"half a head", "a block's length is wrong", {{0, 0, 0, 1, 0}, {{1, 0}}}, 8},
	{"no instructions there", "a block's length is wrong", {{0, 0, 0, 1, 0}, {{1, 0}}}, 16},
	{"its padding is missing", "a block's length is wrong", {{0, 0, 0, 1, 0}, {{1, 0}}}, 18},
	{"more instructions than there",
	 "a block's length is wrong",
	 {{0, 0, 0, 5, 0}, {{1, 0}, {1, 0}, {1, 0}, {1, 0}}},
	 24},
	{"very many", "a block's length is wrong", {{0, 0, 0, 65535, 0}, {{1, 0}}}, 24},
	{"none", "a stretch is not as it must be", {{0, 0, 0, 0, 0}, {{0}}}, 24},
	{"a flag that is not known",
	 "a stretch is not as it must be",
	 {{0, 0, 8, 1, 0}, {{1, 0}}},
	 24},
	{"padding that is not zero",
	 "a stretch is not as it must be",
	 {{0, 0, 0, 3, 0}, {{1, 0}, {1, 0}, {1, 0}, {0, 1}}},
	 24},
	{"an instruction of no bytes",
	 "a stretch is not as it must be",
	 {{0, 0, 0, 2, 0}, {{1, 0}, {0, 0}}},
	 24},
	{"one that is too long",
	 "a stretch is not as it must be",
	 {{0, 0, 0, 2, 0}, {{1, 0}, {16, 0}}},
	 24},
	{"a number too large",
	 "a stretch's number is too large",
	 {{4 * (1 + 1024), 0, 0, 1, 0}, {{1, 0}}},
	 24},
	{"a number that is a cut",
	 "a stretch's number is too large",
	 {{TRACE_RUN_CUT, 0, 0, 1, 0}, {{1, 0}}},
	 24},
	{"one that was", "a stretch comes twice", {{9, 0, 0, 1, 0}, {{1, 0}}}, 24},
};

START_TEST(stretches_refused)
{
	static const struct definition good = {{9, 0, 0, 1, 0x100}, {{1, 0}}};
	struct trace_stretches s = {0};
	const char *why;

	ck_assert_ptr_null(trace_stretches_take(&s, &good, 24));
	why = trace_stretches_take(&s, &wrong_stretches[_i].d, wrong_stretches[_i].len);
	ck_assert_msg(why && !strcmp(why, wrong_stretches[_i].why), "%s: %s",
		      wrong_stretches[_i].what, why);
	free(s.at);
}
END_TEST

/* Numbers with gaps, the largest there may be among them. */
START_TEST(gaps)
{
	static const uint32_t ids[] = {4095, 0, 4 * (2 + 1024) - 1, 4};
	struct trace_reader *r;
	struct synth s;
	char text[100];
	int i;

	synth_open(&s);
	for (i = 0; i < COUNT(ids); i++) {
		const struct trace_stretch head = {ids[i], 0, 0, 1, ids[i]};
		const struct trace_stretch_insn insn = {1, 0};

		ck_assert_int_eq(trace_writer_stretch(s.w, &head, &insn), 0);
		put(&s, ids[i]);
	}
	r = synth_read(&s);
	write_records(r, text, sizeof(text));
	ck_assert_str_eq(text, "fff+ 0+ 1007+ 4+");
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* What the writer takes is what the reader takes. */
START_TEST(writer_refuses)
{
	static const struct trace_stretch_insn short_one = {0, 0}, long_one = {16, 0},
					       good = {1, 0};
	struct trace_stretch head = {0, 0, 0, 1, 0x100};
	uint32_t word = 0;
	struct synth s;

	synth_open(&s);
	ck_assert_int_eq(trace_writer_stretch(s.w, &head, &short_one), -EINVAL);
	ck_assert_int_eq(trace_writer_stretch(s.w, &head, &long_one), -EINVAL);
	head.flags = 8;
	ck_assert_int_eq(trace_writer_stretch(s.w, &head, &good), -EINVAL);
	head.flags = 0;
	head.insns = 0;
	ck_assert_int_eq(trace_writer_stretch(s.w, &head, &good), -EINVAL);
	head.insns = 1;
	head.id = 4096;
	ck_assert_int_eq(trace_writer_stretch(s.w, &head, &good), -EINVAL);
	ck_assert_int_eq(trace_writer_run(s.w, 1, &word, 1), -EINVAL);
	head.id = 4095;
	ck_assert_int_eq(trace_writer_stretch(s.w, &head, &good), 0);
	synth_close(&s);
	synth_done(&s);
}
END_TEST

/* Stretches as long as they can be, and many words, in one call and in many. */
START_TEST(large)
{
	enum { LONG = 65535, MANY = 50000 };
	struct trace_stretch_insn *insns = calloc(LONG, sizeof(*insns));
	uint32_t *words = calloc(MANY, sizeof(*words));
	struct trace_oracle_cursor cursor = {0};
	struct trace_stretch head = {0, 0, 0, LONG, 0x1000};
	struct trace_reader *r;
	struct synth s;
	unsigned int i;

	synth_open(&s);
	for (i = 0; i < LONG; i++)
		insns[i].len = 1;
	for (i = 0; i < 3; i++) {
		head.id = i;
		head.ip = 0x100000ull * (i + 1);
		ck_assert_int_eq(trace_writer_stretch(s.w, &head, insns), 0);
	}
	head = (struct trace_stretch){3, 0, 0, 1, 0x10};
	ck_assert_int_eq(trace_writer_stretch(s.w, &head, insns), 0);
	for (i = 0; i < MANY; i++) {
		words[i] = 3;
		put(&s, 3);
	}
	words[MANY - 1] = 1;
	ck_assert_int_eq(trace_writer_run(s.w, 0, words, MANY), 0);
	put(&s, 2);
	r = synth_read(&s);
	ck_assert_uint_eq(trace_reader_oracle_count(r, 0), 2 * MANY - 1 + 2 * LONG);
	for (i = 0; i < 2 * MANY - 1; i++)
		ck_assert_uint_eq(trace_reader_oracle(r, 0, &cursor)->ip, 0x10);
	for (i = 0; i < LONG; i++)
		ck_assert_uint_eq(trace_reader_oracle(r, 0, &cursor)->ip, 0x200000 + i);
	for (i = 0; i < LONG; i++)
		ck_assert_uint_eq(trace_reader_oracle(r, 0, &cursor)->ip, 0x300000 + i);
	ck_assert_ptr_null(trace_reader_oracle(r, 0, &cursor));
	trace_reader_close(r);
	synth_done(&s);
	free(insns);
	free(words);
}
END_TEST

/*
 * A loop of two rounds, REP MOVSB of three iterations, WRMSR; `words` of what ran are
 * left out. What a decoder makes of the trace is compared with it.
 */
static void compare(size_t omitted, struct oracle_comparison *c)
{
	static const struct trace_stretch_insn loop[] = {{1, 0}, {2, TRACE_ORACLE_COND}},
					       two = {2, 0};
	static const uint32_t words[] = {0, 0, 1, 1, 1, 2};
	const struct trace_stretch heads[] = {
		{0, 0, 0, 2, SYNTH_CODE},
		{1, 0, TRACE_STRETCH_REP, 1, SYNTH_CODE + 3},
		{2, 0, 0, 1, SYNTH_CODE + 5},
	};
	struct trace_reader *r;
	struct synth s;

	synth_open(&s);
	synth_code(&s, SYNTH_CODE, "90 75 fd f3 a4 0f 30");
	synth_page(&s);
	ck_assert_int_eq(trace_writer_stretch(s.w, &heads[0], loop), 0);
	ck_assert_int_eq(trace_writer_stretch(s.w, &heads[1], &two), 0);
	ck_assert_int_eq(trace_writer_stretch(s.w, &heads[2], &two), 0);
	synth_start(&s, SYNTH_CODE, 0);
	synth_psb(&s, 0);
	synth_mode(&s);
	synth_ip(&s, ppt_tip_pge, SYNTH_CODE);
	synth_tnt(&s, "10");
	synth_ip(&s, ppt_fup, SYNTH_CODE + 5);
	synth_no_ip(&s, ppt_tip_pgd);
	ck_assert_int_eq(trace_writer_run(s.w, 0, words + omitted, COUNT(words) - omitted), 0);
	synth_stop(&s, TRACE_END_DISABLED, SYNTH_CODE + 7, 0);
	r = synth_read(&s);
	ck_assert_int_eq(oracle_compare(r, 0, c), 0);
	trace_reader_close(r);
	synth_done(&s);
}

START_TEST(compared)
{
	struct oracle_comparison c = {0};

	compare(0, &c);
	ck_assert_uint_eq(c.mismatches, 0);
	ck_assert_uint_eq(c.retired, 6);
	ck_assert_uint_eq(c.decoded, 6);
	oracle_comparison_free(&c);
	compare(1, &c);
	ck_assert_uint_eq(c.mismatches, 1);
	oracle_comparison_free(&c);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("oracle_log");
	TCase *tc = tcase_create("oracle_log");

	tcase_add_loop_test(tc, records, 0, COUNT(runs));
	tcase_add_test(tc, looked_ahead);
	tcase_add_loop_test(tc, words_refused, 0, COUNT(wrong_words));
	tcase_add_test(tc, cut_after_record);
	tcase_add_loop_test(tc, stretches_refused, 0, COUNT(wrong_stretches));
	tcase_add_test(tc, gaps);
	tcase_add_test(tc, writer_refuses);
	tcase_add_test(tc, large);
	tcase_add_test(tc, compared);
	suite_add_tcase(suite, tc);
	return suite;
}
