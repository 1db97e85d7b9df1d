// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the side-band of version 3: origin, switches, points, inputs, files, marks, tasks, cuts. */
#include <string.h>

#include "trace/vec.h"

#include "trace/reader_state.h"

static const char wrong_length[] = "a block's length is wrong";

static bool ends(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

const char *trace_reader_take_origin(struct trace_reader *r, const void *payload, size_t len)
{
	const struct trace_origin *origin = payload;

	if (len != sizeof(*origin))
		return wrong_length;
	if (r->origin)
		return "an ORIGIN block is not the only one";
	if (origin->kind >= TRACE_ORIGIN_KINDS || origin->flags & ~(uint32_t)TRACE_ORIGIN_FLAGS ||
	    origin->cpu.vendor >= TRACE_CPU_VENDORS || origin->time_shift > 63 ||
	    !ends(origin->program, sizeof(origin->program)) ||
	    !ends(origin->source, sizeof(origin->source)))
		return "an ORIGIN block is not as it must be";
	r->origin = origin;
	return NULL;
}

const char *trace_reader_take_cut(struct trace_reader_vcpu *v, const void *payload, size_t len)
{
	struct trace_cut cut;

	if (len != sizeof(cut))
		return wrong_length;
	memcpy(&cut, payload, sizeof(cut));
	if (!cut.why || cut.why >= TRACE_CUT_WHYS || cut.reserved ||
	    (cut.bytes && cut.bytes < cut.offset))
		return "a CUT block is not as it must be";
	if (v->cut.why || v->stream.n || v->periods.n || v->vmcs.n || v->switches.n ||
	    v->points.n || v->epochs.n || v->marks.n || v->tasks.n)
		return "a CUT block is not the first of its vCPU";
	v->cut = cut;
	trace_reader_saw(v, cut.insns);
	return NULL;
}

static const char *add_switch(struct trace_reader_vcpu *v, struct trace_switch sw)
{
	if (!trace_reader_rebase(v, &sw.offset))
		return "a place in the stream is wrong";
	if (v->switches.n && sw.offset < v->switches.at[v->switches.n - 1].offset)
		return "a SWITCH block goes back";
	if (!trace_vec_room(&v->switches))
		return trace_reader_no_memory;
	v->switches.at[v->switches.n++] = sw;
	return NULL;
}

const char *trace_reader_take_switches(struct trace_reader_vcpu *v, const void *payload, size_t len)
{
	const struct trace_switch *sw = payload;
	const size_t n = len / sizeof(*sw), before = v->switches.n;
	const char *why = !n || len % sizeof(*sw) ? wrong_length : NULL;
	size_t i;

	for (i = 0; i < n && !why; i++)
		why = add_switch(v, sw[i]);
	if (why)
		v->switches.n = before;
	return why;
}

static bool mode_ok(const struct trace_psb_point *p)
{
	const bool known = p->mode == 16 || p->mode == 32 || p->mode == 64;

	return p->flags & TRACE_POINT_MODE ? known : !p->mode;
}

static const char *add_point(struct trace_reader_vcpu *v, struct trace_psb_point point)
{
	if (point.flags & ~(uint32_t)TRACE_POINT_FLAGS || point.reserved || !mode_ok(&point))
		return "a POINT block is not as it must be";
	if (!trace_reader_rebase(v, &point.offset))
		return "a place in the stream is wrong";
	if (v->points.n && point.offset <= v->points.at[v->points.n - 1].offset)
		return "a POINT block goes back";
	if (!trace_vec_room(&v->points))
		return trace_reader_no_memory;
	v->points.at[v->points.n++] = point;
	return NULL;
}

const char *trace_reader_take_points(struct trace_reader_vcpu *v, const void *payload, size_t len)
{
	const struct trace_psb_point *point = payload;
	const size_t n = len / sizeof(*point), before = v->points.n;
	const char *why = len % sizeof(*point) ? wrong_length : NULL;
	size_t i;

	for (i = 0; i < n && !why; i++)
		why = add_point(v, point[i]);
	if (why)
		v->points.n = before;
	return why;
}

/* Take an INDEX block of an old file. A wrong entry is omitted, because the index is optional. */
const char *trace_reader_take_index(struct trace_reader *r, const void *payload, size_t len)
{
	const struct trace_index_entry *entry = payload;
	size_t i;

	if (len % sizeof(*entry))
		return wrong_length;
	for (i = 0; i < len / sizeof(*entry); i++) {
		const struct trace_psb_point point = {.offset = entry[i].offset,
						      .file_offset = entry[i].file_offset};

		if (entry[i].vcpu < r->info->vcpus &&
		    add_point(&r->vcpu[entry[i].vcpu], point) == trace_reader_no_memory)
			return trace_reader_no_memory;
	}
	return NULL;
}

/* Return the size of a record with @len bytes behind its struct. */
static size_t padded(size_t size, uint32_t len)
{
	return size + (((size_t)len + 7) & ~(size_t)7);
}

static const char *add_input(struct trace_reader *r, unsigned int vcpu,
			     struct trace_reader_place *last, const uint8_t *at, size_t left,
			     size_t *taken)
{
	const struct trace_recorded *head = (const void *)at;

	if (left < sizeof(*head) || head->len > TRACE_RECORDED_MAX ||
	    padded(sizeof(*head), head->len) > left)
		return wrong_length;
	if (!head->kind || head->kind >= TRACE_RECORDED_KINDS)
		return "the kind of an input is not known";
	if (head->retired < last->retired || head->tsc < last->tsc)
		return "an INPUT block goes back";
	*last = (struct trace_reader_place){head->retired, head->tsc};
	if (!trace_vec_room(&r->inputs))
		return trace_reader_no_memory;
	r->inputs.at[r->inputs.n++] =
		(struct trace_reader_input){vcpu, head, (const uint8_t *)(head + 1)};
	*taken = padded(sizeof(*head), head->len);
	return NULL;
}

const char *trace_reader_take_inputs(struct trace_reader *r, unsigned int vcpu, const void *payload,
				     size_t len)
{
	struct trace_reader_place last = r->vcpu[vcpu].last_input;
	const size_t before = r->inputs.n;
	const uint8_t *at = payload;
	const char *why = len ? NULL : wrong_length;
	size_t taken = 0;

	for (; len && !why; at += taken, len -= taken)
		why = add_input(r, vcpu, &last, at, len, &taken);
	if (why)
		r->inputs.n = before;
	else
		r->vcpu[vcpu].last_input = last;
	return why;
}

static uint32_t count_texts(const char *text, size_t len)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < len; i++)
		n += !text[i];
	return n;
}

const char *trace_reader_take_options(struct trace_reader *r, const void *payload, size_t len)
{
	const struct trace_run_options *options = payload;
	const char *text = (const char *)(options + 1);

	if (len < sizeof(*options) || options->len > TRACE_RUN_OPTIONS_MAX ||
	    len != padded(sizeof(*options), options->len))
		return wrong_length;
	if (r->options)
		return "an OPTIONS block is not the only one";
	if (options->count != count_texts(text, options->len) ||
	    (options->len && text[options->len - 1]))
		return "an OPTIONS block is not as it must be";
	r->options = options;
	return NULL;
}

const struct trace_run_options *trace_reader_options(const struct trace_reader *r,
						     const char **text)
{
	*text = r->options ? (const char *)(r->options + 1) : NULL;
	return r->options;
}

static const char *add_mark(struct trace_reader_vcpu *v, const uint8_t *at, size_t left,
			    size_t *taken)
{
	struct trace_reader_mark new = {0};

	if (left < sizeof(new.mark))
		return wrong_length;
	memcpy(&new.mark, at, sizeof(new.mark));
	new.text = (const char *)at + sizeof(new.mark);
	if (new.mark.len > TRACE_USER_MARK_MAX || padded(sizeof(new.mark), new.mark.len) > left)
		return wrong_length;
	if (new.mark.kind >= TRACE_USER_MARK_KINDS)
		return "the kind of a mark is not known";
	if (!trace_reader_rebase(v, &new.mark.offset))
		return "a place in the stream is wrong";
	if (v->marks.n && new.mark.offset < v->marks.at[v->marks.n - 1].mark.offset)
		return "a MARK block goes back";
	if (!trace_vec_room(&v->marks))
		return trace_reader_no_memory;
	v->marks.at[v->marks.n++] = new;
	*taken = padded(sizeof(new.mark), new.mark.len);
	return NULL;
}

const char *trace_reader_take_marks(struct trace_reader_vcpu *v, const void *payload, size_t len)
{
	const size_t before = v->marks.n;
	const uint8_t *at = payload;
	const char *why = len ? NULL : wrong_length;
	size_t taken = 0;

	for (; len && !why; at += taken, len -= taken)
		why = add_mark(v, at, len, &taken);
	if (why)
		v->marks.n = before;
	return why;
}

static const char *add_task(struct trace_reader *r, struct trace_reader_vcpu *v,
			    struct trace_task task)
{
	if (task.kind >= TRACE_TASK_KINDS || task.reserved || task.name[sizeof(task.name) - 1])
		return "a TASK block is not as it must be";
	if (!trace_reader_rebase(v, &task.offset))
		return "a place in the stream is wrong";
	if (v->tasks.n && task.offset < v->tasks.at[v->tasks.n - 1].offset)
		return "a TASK block goes back";
	if (!trace_vec_room(&v->tasks) || !trace_vec_room(&r->names))
		return trace_reader_no_memory;
	v->tasks.at[v->tasks.n++] = task;
	if (task.kind == TRACE_TASK_NAMED)
		r->names.at[r->names.n++] = task;
	return NULL;
}

const char *trace_reader_take_tasks(struct trace_reader *r, unsigned int vcpu, const void *payload,
				    size_t len)
{
	struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	const size_t before = v->tasks.n, names = r->names.n;
	const uint8_t *at = payload;
	const char *why = len && !(len % sizeof(struct trace_task)) ? NULL : wrong_length;
	struct trace_task task;

	for (; len && !why; at += sizeof(task), len -= sizeof(task)) {
		memcpy(&task, at, sizeof(task));
		why = add_task(r, v, task);
	}
	if (why) {
		v->tasks.n = before;
		r->names.n = names;
	}
	return why;
}

const char *trace_reader_take_ref(struct trace_reader *r, unsigned int vcpu, const void *payload,
				  size_t len)
{
	const struct trace_file_ref *ref = payload;

	if (len < sizeof(*ref) || len - sizeof(*ref) != ref->name_len || !ref->name_len ||
	    ref->name_len > TRACE_REF_NAME_MAX)
		return wrong_length;
	if (!ref->kind || ref->kind >= TRACE_REF_KINDS || ref->hash_is >= TRACE_HASH_KINDS ||
	    memchr(ref + 1, 0, ref->name_len))
		return "a FILE block is not as it must be";
	if (!trace_vec_room(&r->refs))
		return trace_reader_no_memory;
	r->refs.at[r->refs.n++] = (struct trace_reader_ref){vcpu, ref, (const char *)(ref + 1)};
	return NULL;
}

const struct trace_origin *trace_reader_origin(const struct trace_reader *r)
{
	return r->origin;
}

void trace_reader_set_cpu(struct trace_reader *r, const struct trace_cpu *cpu)
{
	r->cpu = *cpu;
}

const struct trace_cpu *trace_reader_cpu(const struct trace_reader *r)
{
	return r->cpu.vendor != TRACE_CPU_UNKNOWN ? &r->cpu : NULL;
}

const struct trace_cut *trace_reader_cut(const struct trace_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].cut.why ? &r->vcpu[vcpu].cut : NULL;
}

const struct trace_switch *trace_reader_switches(const struct trace_reader *r, unsigned int vcpu,
						 size_t *count)
{
	*count = r->vcpu[vcpu].switches.n;
	return r->vcpu[vcpu].switches.at;
}

const struct trace_reader_input *trace_reader_inputs(const struct trace_reader *r, size_t *count)
{
	*count = r->inputs.n;
	return r->inputs.at;
}

const struct trace_reader_mark *trace_reader_marks(const struct trace_reader *r, unsigned int vcpu,
						   size_t *count)
{
	*count = r->vcpu[vcpu].marks.n;
	return r->vcpu[vcpu].marks.at;
}

const struct trace_task *trace_reader_tasks(const struct trace_reader *r, unsigned int vcpu,
					    size_t *count)
{
	*count = r->vcpu[vcpu].tasks.n;
	return r->vcpu[vcpu].tasks.at;
}

const struct trace_task *trace_reader_names(const struct trace_reader *r, size_t *count)
{
	*count = r->names.n;
	return r->names.at;
}

const struct trace_reader_ref *trace_reader_refs(const struct trace_reader *r, size_t *count)
{
	*count = r->refs.n;
	return r->refs.at;
}

const struct trace_psb_point *trace_reader_points(const struct trace_reader *r, unsigned int vcpu,
						  size_t *count)
{
	*count = r->vcpu[vcpu].points.n;
	return r->vcpu[vcpu].points.at;
}

/* Returns true if a PSB is at the given place. RTIT's PSB begins with another byte. */
static bool is_there(const struct trace_reader_vcpu *v, uint64_t offset, bool rtit)
{
	static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

	if (offset >= v->stream.n)
		return false;
	if (rtit)
		return v->stream.at[offset] == 0xc0;
	return v->stream.n - offset >= sizeof(psb) &&
	       !memcmp(v->stream.at + offset, psb, sizeof(psb));
}

const struct trace_psb_point *trace_reader_point_before(const struct trace_reader *r,
							unsigned int vcpu, uint64_t offset)
{
	const struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	size_t i = trace_vec_before(v->points.at, v->points.n, e, e->offset <= offset);

	for (; i; i--)
		if (is_there(v, v->points.at[i - 1].offset, r->info->flags & TRACE_INFO_ATOM))
			return &v->points.at[i - 1];
	return NULL;
}
