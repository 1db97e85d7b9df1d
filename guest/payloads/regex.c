// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A regular-expression matcher that backtracks: literals, ".", classes, "*", "+", "?" and "|".
 * It searches generated lines, whose matches are known. --arg: number of rounds with new lines; a
 * round is 150,000 instructions.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/rand.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("a regular-expression matcher that backtracks");

#define LINES	  6
#define WORDS	  8
#define MAX_ITEMS 16

/* A part of a pattern: the characters it permits, and how many of them. */
struct item {
	uint64_t chars[2];
	unsigned int least, most; /* most = 0: the end of an alternative */
	bool last;		  /* no other alternative follows */
};

static void add(struct item *item, unsigned int from, unsigned int to)
{
	for (; from <= to; from++)
		item->chars[from / 64] |= 1ull << from % 64;
}

static bool has(const struct item *item, char c)
{
	return item->chars[c / 64] >> c % 64 & 1;
}

/* Compile a class, whose text begins after its "[". Returns the text after its "]". */
static const char *compile_class(struct item *item, const char *p)
{
	bool not = *p == '^';

	for (p += not ; *p != ']'; p++) {
		if (p[1] == '-') {
			add(item, (uint8_t)p[0], (uint8_t)p[2]);
			p += 2;
		} else {
			add(item, (uint8_t)*p, (uint8_t)*p);
		}
	}
	if (not ) {
		item->chars[0] = ~item->chars[0] & ~1ull; /* the text's end is in no class */
		item->chars[1] = ~item->chars[1];
	}
	return p + 1;
}

static const char *compile_chars(struct item *item, const char *p)
{
	if (*p == '[')
		return compile_class(item, p + 1);
	if (*p == '.') {
		add(item, 1, 127);
		return p + 1;
	}
	p += *p == '\\';
	add(item, (uint8_t)*p, (uint8_t)*p);
	return p + 1;
}

static noinline void compile(struct item *item, const char *p)
{
	memset(item, 0, MAX_ITEMS * sizeof(*item));
	for (; *p; item++) {
		if (*p == '|') {
			p++;
			continue;
		}
		p = compile_chars(item, p);
		item->least = *p != '*' && *p != '?';
		item->most = *p == '*' || *p == '+' ? UINT32_MAX : 1;
		p += *p == '*' || *p == '+' || *p == '?';
	}
	item->last = true;
}

/* Returns true if the text begins with a match. Tries the longest repetition first. */
static noinline bool match_here(const struct item *item, const char *text)
{
	unsigned int n = 0;

	if (!item->most)
		return true;
	while (n < item->most && has(item, text[n]))
		n++;
	for (; n >= item->least; n--) {
		if (match_here(item + 1, text + n))
			return true;
		if (!n)
			break;
	}
	return false;
}

/* Returns true if a match of any alternative begins anywhere in the text. */
static noinline bool search(const struct item *items, const char *text)
{
	const struct item *item;

	for (; *text; text++) {
		for (item = items;; item++) {
			if (match_here(item, text))
				return true;
			while (item->most)
				item++;
			if (item->last)
				break;
		}
	}
	return false;
}

/*
 * In a word, # is a random digit and @ a letter from a to f. A pattern matches the words of its own
 * kind, and no other word of the table.
 */
static const struct kind {
	const char *pattern, *words[2], *others[2];
} kinds[] = {
	{"[0-9]+\\.[0-9]+", {"#.##", "##.#"}, {"####.", "#######"}},
	{"0x[^ g-z]+", {"0x#@#", "0x@@@@"}, {"0x", "0#@@"}},
	{"colou?r|gr[ae]y", {"colour", "grey"}, {"colo", "grxy"}},
	{"[a-f_]+=[^ ;]*;", {"@@_@=#@;", "@=;"}, {"@@@@@=#@@", "@_@_@"}},
	{"<.+>", {"<@@@>", "<@@#@@>"}, {"<@@@@", "<@@ @@"}},
};
#define KINDS ARRAY_SIZE(kinds)

static struct rng rng;
static char text[LINES][WORDS * 12];
static uint64_t planted[KINDS], matches[KINDS];

static char *put_word(char *at, const char *word)
{
	for (; *word; word++) {
		if (*word == '#')
			*at++ = (char)('0' + rng_below(&rng, 10));
		else if (*word == '@')
			*at++ = (char)('a' + rng_below(&rng, 6));
		else
			*at++ = *word;
	}
	*at++ = ' ';
	return at;
}

static void make_line(char *at)
{
	unsigned int i, dice, kind;
	bool has_kind[KINDS] = {false};

	for (i = 0; i < WORDS; i++) {
		dice = rng_below(&rng, 8 * KINDS);
		kind = dice % KINDS;
		if (dice < 2 * KINDS) {
			at = put_word(at, kinds[kind].words[dice / KINDS]);
			has_kind[kind] = true;
		} else if (dice < 4 * KINDS) {
			at = put_word(at, kinds[kind].others[dice / KINDS - 2]);
		} else {
			at = put_word(at, dice & 1 ? "@@@@@@@" : "@@@");
		}
	}
	*at = 0;
	for (kind = 0; kind < KINDS; kind++)
		planted[kind] += has_kind[kind];
}

static uint64_t rounds = 1;

static void search_new_lines(void)
{
	static struct item items[MAX_ITEMS];
	unsigned int kind, line;

	for (line = 0; line < LINES; line++)
		make_line(text[line]);
	for (kind = 0; kind < KINDS; kind++) {
		compile(items, kinds[kind].pattern);
		for (line = 0; line < LINES; line++)
			matches[kind] += search(items, text[line]);
	}
}

static void work(void)
{
	uint64_t i;

	for (i = 0; i < rounds; i++)
		search_new_lines();
}

void payload(void)
{
	struct trace t;
	uint64_t total = 0;
	unsigned int kind;

	rng_seed(&rng, boot->seed);
	if (boot->arg[0]) {
		rounds = boot->arg[0];
		trace_long(&t, work);
	} else {
		trace_simple(&t, work);
	}
	for (kind = 0; kind < KINDS; kind++) {
		report_equal(matches[kind], planted[kind], kinds[kind].pattern);
		total += matches[kind];
	}
	report(total > 0 && total < KINDS * LINES * rounds, "some lines match, some do not");
	if (t.on && !boot->arg[0])
		report(t.scan.tnt_bits > LINES * WORDS * KINDS, "branches were traced");
}
