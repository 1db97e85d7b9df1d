// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The demo compiles formulas to bytecode, evaluates them at 650 points, sorts the results and draws
 * histograms. It has more than a million instructions with an interesting call tree: recursive
 * descent, calls through tables, a recursive sort. It traces itself if it has PT.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/printk.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("compile formulas, evaluate them, sort and draw the results");

#define POINTS	  650
#define CODE_MAX  64
#define STACK_MAX 16
#define BINS	  12
#define BAR	  40

/* ---- formulas to tokens ---- */

enum token { TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN, TOKEN_END };

struct lexer {
	const char *at;
	enum token token;
	int64_t number;
	char sign; /* also the name, which is one letter */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

static noinline void read_number(struct lexer *lex)
{
	lex->token = TOKEN_NUMBER;
	lex->number = 0;
	while (is_digit(*lex->at))
		lex->number = 10 * lex->number + (*lex->at++ - '0');
}

static noinline void next_token(struct lexer *lex)
{
	while (*lex->at == ' ')
		lex->at++;
	if (is_digit(*lex->at)) {
		read_number(lex);
		return;
	}
	lex->sign = *lex->at;
	if (!lex->sign) {
		lex->token = TOKEN_END;
		return;
	}
	lex->token = is_letter(lex->sign) ? TOKEN_NAME : TOKEN_SIGN;
	lex->at++;
}

static noinline bool accept_sign(struct lexer *lex, char sign)
{
	if (lex->token != TOKEN_SIGN || lex->sign != sign)
		return false;
	next_token(lex);
	return true;
}

/* ---- tokens to bytecode ---- */

struct machine;

typedef void op_fn(struct machine *m, int64_t operand);

struct insn {
	op_fn *op;
	int64_t operand;
};

struct machine {
	const struct insn *pc;
	int64_t stack[STACK_MAX];
	unsigned int depth;
	const int64_t *variables;
	bool done;
};

struct compiler {
	struct lexer lex;
	struct insn code[CODE_MAX];
	unsigned int count;
	unsigned int folded;
};

static noinline void push(struct machine *m, int64_t value)
{
	m->stack[m->depth++ % STACK_MAX] = value;
}

static noinline int64_t pop(struct machine *m)
{
	return m->stack[--m->depth % STACK_MAX];
}

static void op_constant(struct machine *m, int64_t operand)
{
	push(m, operand);
}

static void op_variable(struct machine *m, int64_t operand)
{
	push(m, m->variables[operand]);
}

static void op_add(struct machine *m, int64_t operand)
{
	int64_t b = pop(m);

	(void)operand;
	push(m, pop(m) + b);
}

static void op_subtract(struct machine *m, int64_t operand)
{
	int64_t b = pop(m);

	(void)operand;
	push(m, pop(m) - b);
}

static void op_multiply(struct machine *m, int64_t operand)
{
	int64_t b = pop(m);

	(void)operand;
	push(m, pop(m) * b);
}

/* The result has the divisor's sign, and x % 0 is 0. */
static void op_modulo(struct machine *m, int64_t operand)
{
	int64_t b = pop(m), a = pop(m), r;

	(void)operand;
	r = b ? a % b : 0;
	push(m, r && (r < 0) != (b < 0) ? r + b : r);
}

static void op_maximum(struct machine *m, int64_t operand)
{
	int64_t b = pop(m), a = pop(m);

	(void)operand;
	push(m, a > b ? a : b);
}

static void op_negate(struct machine *m, int64_t operand)
{
	(void)operand;
	push(m, -pop(m));
}

static void op_return(struct machine *m, int64_t operand)
{
	(void)operand;
	m->done = true;
}

static noinline void emit(struct compiler *c, op_fn *op, int64_t operand)
{
	if (c->count < CODE_MAX) {
		c->code[c->count].op = op;
		c->code[c->count++].operand = operand;
	}
}

static noinline int64_t execute(const struct insn *code, const int64_t *variables)
{
	struct machine m = {.pc = code, .variables = variables};

	while (!m.done) {
		const struct insn *insn = m.pc++;

		insn->op(&m, insn->operand);
	}
	return m.depth == 1 ? m.stack[0] : 0;
}

/* Constant (op) constant becomes a constant, computed by the machine itself. */
static noinline void fold_constants(struct compiler *c)
{
	struct insn *last = &c->code[c->count - 3];
	struct insn program[4];

	if (c->count < 3 || last[0].op != op_constant || last[1].op != op_constant)
		return;
	memcpy(program, last, 3 * sizeof(*last));
	program[3].op = op_return;
	last[0].operand = execute(program, NULL);
	c->count -= 2;
	c->folded++;
}

static noinline void emit_binary(struct compiler *c, op_fn *op)
{
	emit(c, op, 0);
	fold_constants(c);
}

static void parse_sum(struct compiler *c);

static noinline void parse_primary(struct compiler *c)
{
	struct lexer *lex = &c->lex;

	if (lex->token == TOKEN_NUMBER) {
		emit(c, op_constant, lex->number);
		next_token(lex);
	} else if (lex->token == TOKEN_NAME) {
		emit(c, op_variable, lex->sign - 'a');
		next_token(lex);
	} else if (accept_sign(lex, '(')) {
		parse_sum(c);
		accept_sign(lex, ')');
	}
}

static noinline void parse_unary(struct compiler *c)
{
	if (accept_sign(&c->lex, '-')) {
		parse_unary(c);
		emit(c, op_negate, 0);
		return;
	}
	parse_primary(c);
}

static noinline void parse_product(struct compiler *c)
{
	parse_unary(c);
	for (;;) {
		if (accept_sign(&c->lex, '*')) {
			parse_unary(c);
			emit_binary(c, op_multiply);
		} else if (accept_sign(&c->lex, '%')) {
			parse_unary(c);
			emit_binary(c, op_modulo);
		} else {
			return;
		}
	}
}

static noinline void parse_sum(struct compiler *c)
{
	parse_product(c);
	for (;;) {
		if (accept_sign(&c->lex, '+')) {
			parse_product(c);
			emit_binary(c, op_add);
		} else if (accept_sign(&c->lex, '-')) {
			parse_product(c);
			emit_binary(c, op_subtract);
		} else if (accept_sign(&c->lex, '|')) {
			parse_product(c);
			emit_binary(c, op_maximum);
		} else {
			return;
		}
	}
}

static noinline void compile_formula(struct compiler *c, const char *text)
{
	c->lex.at = text;
	c->count = c->folded = 0;
	next_token(&c->lex);
	parse_sum(c);
	emit(c, op_return, 0);
}

/* ---- results ---- */

static noinline void merge_halves(int64_t *v, int64_t *tmp, unsigned int half, unsigned int n)
{
	unsigned int left = 0, right = half, i;

	for (i = 0; i < n; i++) {
		if (right >= n || (left < half && v[left] <= v[right]))
			tmp[i] = v[left++];
		else
			tmp[i] = v[right++];
	}
	for (i = 0; i < n; i++)
		v[i] = tmp[i];
}

static noinline void sort_results(int64_t *v, int64_t *tmp, unsigned int n)
{
	if (n < 2)
		return;
	sort_results(v, tmp, n / 2);
	sort_results(v + n / 2, tmp, n - n / 2);
	merge_halves(v, tmp, n / 2, n);
}

static noinline void count_bins(const int64_t *v, unsigned int n, unsigned int *bins)
{
	uint64_t width = (uint64_t)(v[n - 1] - v[0]) / BINS + 1;
	unsigned int i;

	memset(bins, 0, BINS * sizeof(*bins));
	for (i = 0; i < n; i++)
		bins[(uint64_t)(v[i] - v[0]) / width]++;
}

static noinline void draw_bar(unsigned int length)
{
	char bar[BAR + 1];
	unsigned int i;

	for (i = 0; i < length && i < BAR; i++)
		bar[i] = '#';
	bar[i] = '\0';
	printk("  |%s\n", bar);
}

static noinline void draw_histogram(const unsigned int *bins)
{
	unsigned int i, highest = 1;

	for (i = 0; i < BINS; i++)
		if (bins[i] > highest)
			highest = bins[i];
	for (i = 0; i < BINS; i++)
		draw_bar(bins[i] * BAR / highest);
}

/* ---- the whole ---- */

static const char *const formulas[] = {
	"(a * a + 3 * b) % 97 - 2 * (1 + 3)",
	"a * b | c * c - 5 * a",
	"-(a - b) * (c + 2) % (60 * 60 + 1) + (a | b | c)",
};

#define FORMULAS ARRAY_SIZE(formulas)

static struct compiler compilers[FORMULAS];
static int64_t points[POINTS][3];
static int64_t results[FORMULAS][POINTS], scratch[POINTS];
static unsigned int bins[BINS];

static noinline void make_points(void)
{
	struct rng rng;
	unsigned int i, k;

	rng_seed(&rng, 2024);
	for (i = 0; i < POINTS; i++)
		for (k = 0; k < 3; k++)
			points[i][k] = rng_below(&rng, 100);
}

static noinline void evaluate_points(const struct compiler *c, int64_t *out)
{
	unsigned int i;

	for (i = 0; i < POINTS; i++)
		out[i] = execute(c->code, points[i]);
}

static noinline void study_formula(unsigned int i)
{
	compile_formula(&compilers[i], formulas[i]);
	evaluate_points(&compilers[i], results[i]);
	sort_results(results[i], scratch, POINTS);
	count_bins(results[i], POINTS, bins);
	printk("%s: %ld to %ld, median %ld\n", formulas[i], results[i][0], results[i][POINTS - 1],
	       results[i][POINTS / 2]);
	draw_histogram(bins);
}

static void study_formulas(void)
{
	unsigned int i;

	make_points();
	for (i = 0; i < FORMULAS; i++)
		study_formula(i);
}

/* ---- checks ---- */

static int64_t modulo(int64_t a, int64_t b)
{
	int64_t r = a % b;

	return r && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t maximum(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t in_c(unsigned int formula, const int64_t *v)
{
	int64_t a = v[0], b = v[1], c = v[2];

	switch (formula) {
	case 0:
		return modulo(a * a + 3 * b, 97) - 8;
	case 1:
		return maximum(a * b, c * c) - 5 * a;
	default:
		return modulo(-(a - b) * (c + 2), 60 * 60 + 1) + maximum(maximum(a, b), c);
	}
}

/* A sample: the formulas in C, found among the sorted results. */
static bool found(unsigned int formula, int64_t value)
{
	unsigned int low = 0, high = POINTS;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (results[formula][middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < POINTS && results[formula][low] == value;
}

static bool sorted(const int64_t *v)
{
	unsigned int i;

	for (i = 1; i < POINTS; i++)
		if (v[i] < v[i - 1])
			return false;
	return true;
}

void payload(void)
{
	unsigned int formula, i;
	struct trace t;

	trace_init(&t, 2ull << 20);
	trace_only(&t, TRACE_ALL, study_formulas);
	trace_report_end(&t);
	if (t.on)
		report(!vpt_packet_find_psb(t.buf, t.bytes), "trace: PSB first");
	for (formula = 0; formula < FORMULAS; formula++) {
		bool ok = true;

		for (i = 0; i < POINTS; i += 25)
			ok &= found(formula, in_c(formula, points[i]));
		report(ok && sorted(results[formula]), "%s", formulas[formula]);
	}
	report_equal(compilers[0].folded + compilers[1].folded + compilers[2].folded, 4,
		     "constants folded");
}
