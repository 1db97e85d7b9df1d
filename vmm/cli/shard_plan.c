// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes and reads the plan of vpt shard. */
#include "cli/shard_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "foreign/json.h"
#include "text/text.h"
#include "trace/vec.h"

/* A line of a shard has less than 500 bytes. */
#define LINE_MAX_BYTES (PATH_MAX * 2 + CLI_SYMBOLS_MAX * 1024)
#define VERSION	       1

static const char *const kinds[DECODE_PARTIAL_KINDS] = {"counts", "calls", "spaces",
							"edges",  "insns", "blocks"};
static const char *const counters[DECODE_SHARD_COUNTERS] = {"unused", "known", "free", "after",
							    "exact"};

/* FNV-1a with 64 bits. */
static void mix(uint64_t *id, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (; len; len--)
		*id = (*id ^ *at++) * 0x100000001b3ull;
}

static void mix_cut(uint64_t *id, const struct decode_cut *cut)
{
	const uint64_t words[] = {cut->segment, cut->session, cut->begins, cut->psb, cut->end};

	mix(id, words, sizeof(words));
}

uint64_t cli_plan_id(const struct cli_plan *plan)
{
	const uint64_t head[] = {plan->file_bytes, plan->kind, plan->vcpus, plan->shards.n};
	uint64_t id = 0xcbf29ce484222325ull;
	size_t i;

	mix(&id, head, sizeof(head));
	if (plan->pti)
		mix(&id, "pti", 3);
	if (plan->listing.json)
		mix(&id, "json", 4);
	if (plan->listing.lines)
		mix(&id, "lines", 5);
	if (plan->listing.spaces)
		mix(&id, "spaces", 6);
	mix(&id, plan->trace, strlen(plan->trace) + 1);
	for (i = 0; i < plan->symbols.n; i++)
		mix(&id, plan->symbols.word[i], strlen(plan->symbols.word[i]) + 1);
	for (i = 0; i < plan->shards.n; i++) {
		const struct cli_planned *p = &plan->shards.at[i];
		const uint64_t words[] = {p->vcpu, p->whole, p->bytes, p->shard.counter,
					  p->shard.insns};
		const uint64_t cr3s[] = {p->shard.next_cr3, p->shard.next_resumed};

		mix(&id, words, sizeof(words));
		if (cr3s[0] || cr3s[1])
			mix(&id, cr3s, sizeof(cr3s));
		mix_cut(&id, &p->shard.from);
		mix_cut(&id, &p->shard.to);
	}
	return id;
}

static void write_cut(const char *name, const struct decode_cut *cut, FILE *out)
{
	fprintf(out,
		",\"%s\":{\"segment\":%zu,\"session\":%zu,\"begins\":%d,\"psb\":%" PRIu64
		",\"end\":%" PRIu64 "}",
		name, cut->segment, cut->session, cut->begins, cut->psb, cut->end);
}

void cli_plan_write(const struct cli_plan *plan, FILE *out)
{
	size_t i;

	fprintf(out, "{\"vpt_shard_plan\":%d,\"id\":\"0x%016" PRIx64 "\",\"trace\":", VERSION,
		plan->id);
	text_json_string(out, plan->trace);
	fprintf(out,
		",\"bytes\":%" PRIu64 ",\"kind\":\"%s\",\"pti\":%d,\"json\":%d,\"lines\":%d"
		",\"by_space\":%d,\"vcpus\":%u,\"shards\":%zu,\"symbols\":[",
		plan->file_bytes, kinds[plan->kind], plan->pti, plan->listing.json,
		plan->listing.lines, plan->listing.spaces, plan->vcpus, plan->shards.n);
	for (i = 0; i < plan->symbols.n; i++) {
		fputs(i ? "," : "", out);
		text_json_string(out, plan->symbols.word[i]);
	}
	fputs("]}\n", out);
	for (i = 0; i < plan->shards.n; i++) {
		const struct cli_planned *p = &plan->shards.at[i];

		fprintf(out,
			"{\"shard\":%zu,\"vcpu\":%u,\"bytes\":%" PRIu64 ",\"whole\":%d"
			",\"counter\":\"%s\",\"insns\":%" PRIu64,
			i, p->vcpu, p->bytes, p->whole, counters[p->shard.counter], p->shard.insns);
		fprintf(out, ",\"next_cr3\":%zu,\"next_resumed\":%zu", p->shard.next_cr3,
			p->shard.next_resumed);
		write_cut("from", &p->shard.from, out);
		write_cut("to", &p->shard.to, out);
		fputs("}\n", out);
	}
}

/* Return the index of a word, or @n. */
static unsigned int word_of(struct json *j, const char *const *words, unsigned int n)
{
	char text[16];
	unsigned int i;

	json_text(j, text, sizeof(text));
	for (i = 0; i < n && strcmp(text, words[i]); i++)
		;
	j->bad |= i == n;
	return i;
}

static void read_cut(struct json *j, struct decode_cut *cut)
{
	char key[16];

	json_open(j, '{');
	while (json_more(j, '}')) {
		json_key(j, key, sizeof(key));
		if (!strcmp(key, "segment"))
			cut->segment = json_number(j);
		else if (!strcmp(key, "session"))
			cut->session = json_number(j);
		else if (!strcmp(key, "begins"))
			cut->begins = json_number(j) != 0;
		else if (!strcmp(key, "psb"))
			cut->psb = json_number(j);
		else if (!strcmp(key, "end"))
			cut->end = json_number(j);
		else
			json_skip(j);
	}
}

static void read_shard(struct json *j, struct cli_planned *p, uint64_t *number)
{
	char key[16];

	json_open(j, '{');
	while (json_more(j, '}')) {
		json_key(j, key, sizeof(key));
		if (!strcmp(key, "shard"))
			*number = json_number(j);
		else if (!strcmp(key, "vcpu"))
			p->vcpu = (unsigned int)json_number(j);
		else if (!strcmp(key, "bytes"))
			p->bytes = json_number(j);
		else if (!strcmp(key, "whole"))
			p->whole = json_number(j) != 0;
		else if (!strcmp(key, "counter"))
			p->shard.counter = (enum decode_shard_counter)word_of(
				j, counters, DECODE_SHARD_COUNTERS);
		else if (!strcmp(key, "insns"))
			p->shard.insns = json_number(j);
		else if (!strcmp(key, "next_cr3"))
			p->shard.next_cr3 = json_number(j);
		else if (!strcmp(key, "next_resumed"))
			p->shard.next_resumed = json_number(j);
		else if (!strcmp(key, "from"))
			read_cut(j, &p->shard.from);
		else if (!strcmp(key, "to"))
			read_cut(j, &p->shard.to);
		else
			json_skip(j);
	}
}

static void read_symbols(struct json *j, struct cli_plan *plan)
{
	char text[1024];

	json_open(j, '[');
	while (json_more(j, ']')) {
		json_text(j, text, sizeof(text));
		if (plan->symbols.n == CLI_SYMBOLS_MAX) {
			j->bad = true;
			return;
		}
		plan->symbols.word[plan->symbols.n] = strdup(text);
		j->bad |= !plan->symbols.word[plan->symbols.n];
		plan->symbols.n++;
	}
}

/* Read a value that is 0 or 1, if @key is that of one. */
static bool read_flag(struct json *j, struct cli_plan *plan, const char *key)
{
	const struct {
		const char *key;
		bool *value;
	} flags[] = {{"pti", &plan->pti},
		     {"json", &plan->listing.json},
		     {"lines", &plan->listing.lines},
		     {"by_space", &plan->listing.spaces}};
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (strcmp(key, flags[i].key))
			continue;
		*flags[i].value = json_number(j) != 0;
		return true;
	}
	return false;
}

/* Read the first line. Sets *version and *shards. */
static void read_head(struct json *j, struct cli_plan *plan, uint64_t *version, uint64_t *shards)
{
	char key[32];

	json_open(j, '{');
	while (json_more(j, '}')) {
		json_key(j, key, sizeof(key));
		if (!strcmp(key, "vpt_shard_plan"))
			*version = json_number(j);
		else if (!strcmp(key, "id"))
			plan->id = json_number(j);
		else if (!strcmp(key, "trace"))
			json_text(j, plan->trace, sizeof(plan->trace));
		else if (!strcmp(key, "bytes"))
			plan->file_bytes = json_number(j);
		else if (!strcmp(key, "kind"))
			plan->kind =
				(enum decode_partial_kind)word_of(j, kinds, DECODE_PARTIAL_KINDS);
		else if (!strcmp(key, "vcpus"))
			plan->vcpus = (unsigned int)json_number(j);
		else if (!strcmp(key, "shards"))
			*shards = json_number(j);
		else if (!strcmp(key, "symbols"))
			read_symbols(j, plan);
		else if (!read_flag(j, plan, key))
			json_skip(j);
	}
}

/* Returns true if the shards of each vCPU follow each other. */
static bool is_chain(const struct cli_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->shards.n; i++) {
		const struct cli_planned *p = &plan->shards.at[i], *before = i ? p - 1 : NULL;

		if (p->vcpu >= plan->vcpus || (before && p->vcpu < before->vcpu))
			return false;
		if (before && p->vcpu == before->vcpu &&
		    (p->whole || before->whole || p->shard.from.psb != before->shard.to.psb ||
		     p->shard.from.end != before->shard.to.end))
			return false;
	}
	return true;
}

/* Read a line of @in. Returns false at its end or if the line is too long. */
static bool read_line(FILE *in, char **line, size_t *room, struct json *j)
{
	const ssize_t len = getline(line, room, in);

	if (len <= 0 || len > LINE_MAX_BYTES)
		return false;
	*j = (struct json){.at = *line, .end = *line + len};
	return true;
}

static const char *read_lines(FILE *in, struct cli_plan *plan, char **line, size_t *room)
{
	uint64_t version = 0, shards = 0, number, i;
	struct json j;

	if (!read_line(in, line, room, &j))
		return "not a plan";
	read_head(&j, plan, &version, &shards);
	if (!version)
		return "not a plan";
	if (version != VERSION)
		return "a plan of another version of vpt";
	if (j.bad || shards > CLI_SHARDS_MAX || !plan->vcpus)
		return "its first line is damaged";
	for (i = 0; i < shards; i++) {
		struct cli_planned p = {.vcpu = 0};

		if (!read_line(in, line, room, &j))
			return "shards are missing";
		number = UINT64_MAX;
		read_shard(&j, &p, &number);
		if (j.bad || number != i)
			return "the line of a shard is damaged";
		if (!trace_vec_room(&plan->shards))
			return "no memory";
		plan->shards.at[plan->shards.n++] = p;
	}
	if (cli_plan_id(plan) != plan->id)
		return "it was changed: its id does not fit";
	return is_chain(plan) ? NULL : "its shards do not follow each other";
}

int cli_plan_read(const char *path, struct cli_plan *plan)
{
	const char *why = NULL;
	char *line = NULL;
	size_t room = 0;
	FILE *in;

	memset(plan, 0, sizeof(*plan));
	in = fopen(path, "re");
	if (!in)
		return cli_fail(CLI_EXIT_INPUT, "shard: %s: %s", path, cli_reason(errno));
	why = read_lines(in, plan, &line, &room);
	free(line);
	fclose(in);
	return why ? cli_fail(CLI_EXIT_INPUT, "shard: %s: %s", path, why) : CLI_EXIT_OK;
}

void cli_plan_free(struct cli_plan *plan)
{
	unsigned int i;

	for (i = 0; i < plan->symbols.n; i++)
		free((void *)(uintptr_t)plan->symbols.word[i]);
	free(plan->shards.at);
	memset(plan, 0, sizeof(*plan));
}
