// SPDX-License-Identifier: GPL-2.0-or-later
/* Execution logs of stretches and words. The reader returns the records that the words stand for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "lib/synth.h"
#include "oracle/compare.h"
#include "trace/oracle_log.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct synth s;

/*
 * Stretch 0 has instructions at 100, 101 and 103. Stretch 1 is a branch at 106. Stretch 2 has 10b and
 * a REP at 10c, and stretch 3 has 10c alone. Stretch 4 is an INT n at 10e. Stretch 5 has 200 at CPL 3
 * with PAE, and a flag that stretches must not set. Stretch 6 has 107.
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

static void define_all(void)
{
	int i;

	for (i = 0; i < COUNT(stretches); i++)
		ck_assert_int_eq(trace_writer_stretch(s.w, &stretches[i].head, stretches[i].insns),
				 0);
}

static const char kinds[] = "iepstv"; /* in the order of enum trace_oracle_kind */

static void put(uint32_t word)
{
	ck_assert_int_eq(trace_writer_run(s.w, 0, &word, 1), 0);
}

static void put_record(char kind, uint64_t ip)
{
	const struct trace_oracle_record r = {.ip = ip,
					      .kind = (uint8_t)(strchr(kinds, kind) - kinds)};
	uint32_t words[1 + TRACE_RECORD_WORDS] = {TRACE_RUN_RECORD};

	memcpy(words + 1, &r, sizeof(r));
	ck_assert_int_eq(trace_writer_run(s.w, 0, words, 1 + TRACE_RECORD_WORDS), 0);
}

/*
 * Write an execution log. `4` is stretch 4 and `c2` cuts the stretch before it to two instructions.
 * `e10c` is a record, with the letter of its kind. The writer chooses the place of the record
 * `oe10c`. `|` writes the words so far to the file.
 */
static void put_all(const char *text)
{
	char copy[200], *word, *rest = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	while ((word = strsep(&rest, " "))) {
		if (*word == '|') {
			ck_assert_int_eq(trace_writer_sync(s.w), 0);
		} else if (*word == 'o') {
			const struct trace_oracle_record r = {
				.ip = strtoull(word + 2, NULL, 16),
				.kind = (uint8_t)(strchr(kinds, word[1]) - kinds)};

			ck_assert_int_eq(trace_writer_oracle(s.w, 0, r), 0);
		} else if (*word == 'c') {
			put(TRACE_RUN_CUT | (uint32_t)strtoul(word + 1, NULL, 10));
		} else if (strchr(kinds, *word)) {
			put_record(*word, strtoull(word + 1, NULL, 16));
		} else {
			put((uint32_t)strtoul(word, NULL, 10));
		}
	}
}

static unsigned int flags_of(const struct trace_oracle_record *r)
{
	return r->kind == TRACE_ORACLE_INSN ? r->aux : TRACE_ORACLE_AUX_FLAGS(r->aux);
}

/*
 * Write a word for each record: the letter of the kind unless it is i, the IP, and then + ARRIVED,
 * p PAE, ? COND, ! SOFT_INT, 3 CPL 3.
 */
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
	/* Execution falls through to the next stretch, or does not. */
	{"0 1", "100+ 101 103? 106"},
	{"0 0", "100+ 101 103? 100+ 101 103?"},
	{"5 0", "200+p3 100+ 101 103?"},
	/* The target of an unconditional branch is arrived at, even if the target is the next address. */
	{"1 2", "106+ 10b+"},
	{"0 6", "100+ 101 103? 107+"},
	/* Cut stretches: instructions that did not retire do not affect the next record. */
	{"0 c3 1", "100+ 101 103? 106"},
	{"0 c2 1", "100+ 101 106+"},
	{"0 c0 1", "106+"},
	{"0 1 c0 1", "100+ 101 103? 106"},
	{"1 2 c0 2 4", "106+ 10b+ 10c 10e"},
	{"0 | c1 e101", "100+ e101"},
	/* Faults at an instruction after falling through, and after a branch. */
	{"0 c1 e101 5", "100+ e101 200+p3"},
	{"0 1 c0 e106 5", "100+ 101 103? e106 200+p3"},
	{"1 2 c0 e10b", "106+ e10b+"},
	{"0 v106 s100 t107", "100+ 101 103? v106 s100 t107+"},
	{"0 t106 s106 1", "100+ 101 103? t106 s106 106+"},
	/* Only the IP of single instructions is known. */
	{"i100 t101", "100 t101"},
	{"i100 t10f", "100 t10f"},
	{"i100 t110", "100 t110+"},
	{"i105 1", "105 106"},
	{"i106 0", "106 100+ 101 103?"},
	/* An event between two stretches ends falling through. A change of CR3 does not. */
	{"0 e106 1", "100+ 101 103? e106 106+"},
	{"0 p5000 1", "100+ 101 103? p5000 106"},
	/* REP: iterations in a row, interrupted, with a fault, and cut. */
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
	/* INT n has an event if it retired. */
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

static void begin(void)
{
	synth_open(&s);
}

static void setup(void)
{
	begin();
	define_all();
}

static void teardown(void)
{
	synth_done(&s);
}

/* Check the records of the file, and the reason why reading ended. */
static void check_records(struct trace_reader *r, const char *expected, const char *why)
{
	char text[400];

	write_records(r, text, sizeof(text));
	ck_assert_str_eq(text, expected);
	ck_assert_pstr_eq(trace_reader_extent(r)->why, why);
	trace_reader_close(r);
}

START_TEST(records)
{
	put_all(runs[_i].words);
	check_records(synth_read(&s), runs[_i].records, NULL);
}
END_TEST

/* A copy of a cursor reads on independently, also from the middle of a stretch. */
START_TEST(copied_cursor)
{
	static const uint64_t rest[] = {0x101, 0x103, 0x106};
	struct trace_oracle_cursor at = {0}, ahead;
	struct trace_reader *r;
	int i;

	put_all("0 1");
	r = synth_read(&s);
	ck_assert_uint_eq(trace_reader_oracle(r, 0, &at)->ip, 0x100);
	ahead = at;
	for (i = 0; i < COUNT(rest); i++)
		ck_assert_uint_eq(trace_reader_oracle(r, 0, &ahead)->ip, rest[i]);
	ck_assert_uint_eq(trace_reader_oracle(r, 0, &at)->ip, 0x101);
	trace_reader_close(r);
}
END_TEST

/* Reading ends before the block with the invalid words. Earlier records remain. */
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

/* Close the file and open it again, although a block is invalid. */
static struct trace_reader *read_damaged(void)
{
	struct trace_reader *r;
	char why[160];

	ck_assert_int_eq(trace_writer_close(s.w, 0), 0);
	s.w = NULL;
	ck_assert_int_eq(trace_reader_open(s.path, &r, why, sizeof(why)), 0);
	return r;
}

START_TEST(words_refused)
{
	put_all("0 |");
	put_all(wrong_words[_i].words);
	check_records(read_damaged(), "100+ 101 103?", wrong_words[_i].why);
}
END_TEST

/* A CUT belongs to the word before it, not to a word before a record. */
START_TEST(cut_after_record)
{
	struct trace_reader *r;

	put_all("0 | oe106 | c1");
	r = read_damaged();
	ck_assert_ptr_nonnull(trace_reader_extent(r)->why);
	trace_reader_close(r);
}
END_TEST

/* A block with one definition. Each row has an invalid field or length. */
struct definition {
	struct trace_stretch head;
	struct trace_stretch_insn insns[4];
};

static const struct {
	const char *what, *why;
	struct definition d;
	size_t len;
} wrong_stretches[] = {
#define LENGTH	"a block's length is wrong"
#define CONTENT "a stretch is not as it must be"
#define NUMBER	"a stretch's number is too large"
	{"empty", LENGTH, {{0}, {{0}}}, 0},
	{"half a head", LENGTH, {{0, 0, 0, 1, 0}, {{1, 0}}}, 8},
	{"no instructions", LENGTH, {{0, 0, 0, 1, 0}, {{1, 0}}}, 16},
	{"no padding", LENGTH, {{0, 0, 0, 1, 0}, {{1, 0}}}, 18},
	{"too few instructions", LENGTH, {{0, 0, 0, 5, 0}, {{1, 0}, {1, 0}, {1, 0}, {1, 0}}}, 24},
	{"65535 instructions", LENGTH, {{0, 0, 0, 65535, 0}, {{1, 0}}}, 24},
	{"0 instructions", CONTENT, {{0, 0, 0, 0, 0}, {{0}}}, 24},
	{"unknown flag", CONTENT, {{0, 0, 8, 1, 0}, {{1, 0}}}, 24},
	{"padding not zero", CONTENT, {{0, 0, 0, 3, 0}, {{1, 0}, {1, 0}, {1, 0}, {0, 1}}}, 24},
	{"length 0", CONTENT, {{0, 0, 0, 2, 0}, {{1, 0}, {0, 0}}}, 24},
	{"length 16", CONTENT, {{0, 0, 0, 2, 0}, {{1, 0}, {16, 0}}}, 24},
	{"large number", NUMBER, {{4 * (1 + 1024), 0, 0, 1, 0}, {{1, 0}}}, 24},
	{"number of a CUT", NUMBER, {{TRACE_RUN_CUT, 0, 0, 1, 0}, {{1, 0}}}, 24},
	{"number in use", "a stretch comes twice", {{9, 0, 0, 1, 0}, {{1, 0}}}, 24},
};

START_TEST(stretches_refused)
{
	static const struct definition good = {{9, 0, 0, 1, 0x100}, {{1, 0}}};
	struct trace_stretches known = {0};
	const char *why;

	ck_assert_ptr_null(trace_stretches_take(&known, &good, 24));
	why = trace_stretches_take(&known, &wrong_stretches[_i].d, wrong_stretches[_i].len);
	ck_assert_msg(why && !strcmp(why, wrong_stretches[_i].why), "%s: %s",
		      wrong_stretches[_i].what, why);
	free(known.at);
}
END_TEST

/* Numbers with gaps, and the largest valid numbers. */
START_TEST(gaps)
{
	static const uint32_t ids[] = {4095, 0, 4 * (2 + 1024) - 1, 4};
	int i;

	for (i = 0; i < COUNT(ids); i++) {
		const struct trace_stretch head = {ids[i], 0, 0, 1, ids[i]};
		const struct trace_stretch_insn insn = {1, 0};

		ck_assert_int_eq(trace_writer_stretch(s.w, &head, &insn), 0);
		put(ids[i]);
	}
	check_records(synth_read(&s), "fff+ 0+ 1007+ 4+", NULL);
}
END_TEST

/* The writer refuses the stretches that the reader refuses. */
START_TEST(writer_refuses)
{
	static const struct {
		struct trace_stretch head;
		struct trace_stretch_insn insn;
		int error;
	} rows[] = {
		{{0, 0, 0, 1, 0x100}, {0, 0}, -EINVAL},	   {{0, 0, 0, 1, 0x100}, {16, 0}, -EINVAL},
		{{0, 0, 8, 1, 0x100}, {1, 0}, -EINVAL},	   {{0, 0, 0, 0, 0x100}, {1, 0}, -EINVAL},
		{{4096, 0, 0, 1, 0x100}, {1, 0}, -EINVAL}, {{4095, 0, 0, 1, 0x100}, {1, 0}, 0},
	};
	uint32_t word = 0;
	int i, err;

	for (i = 0; i < COUNT(rows); i++) {
		err = trace_writer_stretch(s.w, &rows[i].head, &rows[i].insn);
		ck_assert_msg(err == rows[i].error, "row %d: %d", i, err);
	}
	ck_assert_int_eq(trace_writer_run(s.w, 1, &word, 1), -EINVAL);
	synth_close(&s);
}
END_TEST

/* Stretches of maximum length, and many words, in one call and in many calls. */
START_TEST(large)
{
	enum { LONG = 65535, MANY = 50000 };
	struct trace_stretch_insn *insns = calloc(LONG, sizeof(*insns));
	uint32_t *words = calloc(MANY, sizeof(*words));
	struct trace_oracle_cursor cursor = {0};
	struct trace_stretch head = {0, 0, 0, LONG, 0x1000};
	struct trace_reader *r;
	unsigned int i;

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
		put(3);
	}
	words[MANY - 1] = 1;
	ck_assert_int_eq(trace_writer_run(s.w, 0, words, MANY), 0);
	put(2);
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
	free(insns);
	free(words);
}
END_TEST

/*
 * Write the trace and the log of a loop of two rounds, REP MOVSB of three iterations, and WRMSR.
 * Leave out the first @omitted words of the log. Compare the decoded trace with the log.
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
	TCase *tc = tcase_create("defined");

	tcase_add_checked_fixture(tc, setup, teardown);
	TEST_ROWS(tc, records, runs);
	TEST_ADD(tc, copied_cursor, cut_after_record);
	TEST_ROWS(tc, words_refused, wrong_words);
	suite_add_tcase(suite, tc);

	tc = tcase_create("empty");
	tcase_add_checked_fixture(tc, begin, teardown);
	TEST_ROWS(tc, stretches_refused, wrong_stretches);
	TEST_ADD(tc, gaps, writer_refuses, large);
	suite_add_tcase(suite, tc);

	tc = tcase_create("compared");
	tcase_add_test(tc, compared);
	suite_add_tcase(suite, tc);
	return suite;
}
