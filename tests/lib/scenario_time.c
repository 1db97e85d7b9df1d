// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of clocks. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <string.h>

/* Set the core clock to `cycles`, and the TSC by its ratio. */
static void set_clock(struct machine *m, uint64_t cycles)
{
	const struct ratio *ratio = &m->ratio;
	uint64_t before = m->clock.tsc;

	m->clock.cycles = cycles;
	if (ratio->den)
		m->clock.tsc = ratio->tsc + (cycles - ratio->cycles) * ratio->num / ratio->den;
	else
		m->clock.tsc = cycles;
	m->ctx.tsc += m->clock.tsc - before;
}

void scenario_move_clock(struct machine *m)
{
	if (m->moves)
		set_clock(m, m->clock.cycles + m->moves);
}

void scenario_elapse(struct machine *m)
{
	struct passing *pass = &m->pass;

	if (pass->reads < pass->count)
		set_clock(m, m->clock.cycles + pass->clocks[pass->reads++]);
}

static void set_ratio(struct machine *m, const char *text)
{
	m->ratio.num = decimal(text);
	m->ratio.den = strchr(text, '/') ? decimal(strchr(text, '/') + 1) : 1;
	m->ratio.cycles = m->clock.cycles;
	m->ratio.tsc = m->clock.tsc;
}

static void set_passing(struct machine *m, const char *text)
{
	struct passing *pass = &m->pass;

	m->pt.ops = &scenario_ops_elapse;
	memset(pass, 0, sizeof(*pass));
	while (*text) {
		ck_assert_uint_lt(pass->count, PASSING_MAX);
		pass->clocks[pass->count++] = decimal(text);
		text += strcspn(text, ",");
		text += *text == ',';
	}
}

static void set_tsc(struct machine *m, uint64_t tsc)
{
	m->ctx.tsc += tsc - m->clock.tsc;
	m->clock.tsc = tsc;
	m->ratio.cycles = m->clock.cycles;
	m->ratio.tsc = tsc;
	if (!m->ratio.den)
		m->ratio.num = m->ratio.den = 1;
}

bool scenario_step_time(struct machine *m, const char *word)
{
	if (is(word, "at="))
		set_clock(m, decimal(word + 3));
	else if (is(word, "clock+="))
		set_clock(m, m->clock.cycles + decimal(word + 7));
	else if (is(word, "rawtsc="))
		set_tsc(m, hex(word + 7));
	else if (is(word, "offset="))
		m->ctx.tsc = m->clock.tsc + hex(word + 7);
	else if (is(word, "ratio="))
		set_ratio(m, word + 6);
	else if (is(word, "pass="))
		set_passing(m, word + 5);
	else if (is(word, "moves="))
		m->moves = decimal(word + 6);
	else if (!strcmp(word, "noclock"))
		m->pt.ops = &scenario_ops_no_clock;
	else if (is(word, "taskgate>"))
		branch(m, VPT_EV_SOFT_INT, VPT_EVF_CR3, hex(word + 9));
	else
		return false;
	return true;
}
