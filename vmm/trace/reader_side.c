// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes the side-band of version 3: origin, switches, points, inputs, files, marks, cuts. */
#include <string.h>

#include "vec.h"

#include "reader_state.h"

static const char wrong_length[] = "a block's length is wrong";

static bool ends(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

const char *vpt_reader_take_origin(struct vpt_reader *r, const void *payload, size_t len)
{
	const struct vpt_origin *origin = payload;

	if (len != sizeof(*origin))
		return wrong_length;
	if (r->origin)
		return "an ORIGIN block is not the only one";
	if (origin->kind >= VPT_ORIGIN_KINDS || origin->flags & ~(uint32_t)VPT_ORIGIN_FLAGS ||
	    origin->cpu.vendor >= VPT_CPU_VENDORS || origin->time_shift > 63 ||
	    !ends(origin->program, sizeof(origin->program)) ||
	    !ends(origin->source, sizeof(origin->source)))
		return "an ORIGIN block is not as it must be";
	r->origin = origin;
	return NULL;
}

const char *vpt_reader_take_cut(struct vpt_reader_vcpu *v, const void *payload, size_t len)
{
	struct vpt_cut cut;

	if (len != sizeof(cut))
		return wrong_length;
	memcpy(&cut, payload, sizeof(cut));
	if (!cut.why || cut.why >= VPT_CUT_WHYS || cut.reserved ||
	    (cut.bytes && cut.bytes < cut.offset))
		return "a CUT block is not as it must be";
	if (v->cut.why || v->stream.n || v->periods.n || v->vmcs.n || v->switches.n ||
	    v->points.n || v->epochs.n || v->marks.n)
		return "a CUT block is not the first of its vCPU";
	v->cut = cut;
	vpt_reader_saw(v, cut.insns);
	return NULL;
}

static const char *add_switch(struct vpt_reader_vcpu *v, struct vpt_switch sw)
{
	if (!vpt_reader_rebase(v, &sw.offset))
		return "a place in the stream is wrong";
	if (v->switches.n && sw.offset < v->switches.at[v->switches.n - 1].offset)
		return "a SWITCH block goes back";
	if (!vpt_vec_room(&v->switches))
		return vpt_reader_no_memory;
	v->switches.at[v->switches.n++] = sw;
	return NULL;
}

const char *vpt_reader_take_switches(struct vpt_reader_vcpu *v, const void *payload, size_t len)
{
	const struct vpt_switch *sw = payload;
	const size_t n = len / sizeof(*sw), before = v->switches.n;
	const char *why = !n || len % sizeof(*sw) ? wrong_length : NULL;
	size_t i;

	for (i = 0; i < n && !why; i++)
		why = add_switch(v, sw[i]);
	if (why)
		v->switches.n = before;
	return why;
}

static bool mode_ok(const struct vpt_psb_point *p)
{
	const bool known = p->mode == 16 || p->mode == 32 || p->mode == 64;

	return p->flags & VPT_POINT_MODE ? known : !p->mode;
}

static const char *add_point(struct vpt_reader_vcpu *v, struct vpt_psb_point point)
{
	if (point.flags & ~(uint32_t)VPT_POINT_FLAGS || point.reserved || !mode_ok(&point))
		return "a POINT block is not as it must be";
	if (!vpt_reader_rebase(v, &point.offset))
		return "a place in the stream is wrong";
	if (v->points.n && point.offset <= v->points.at[v->points.n - 1].offset)
		return "a POINT block goes back";
	if (!vpt_vec_room(&v->points))
		return vpt_reader_no_memory;
	v->points.at[v->points.n++] = point;
	return NULL;
}

const char *vpt_reader_take_points(struct vpt_reader_vcpu *v, const void *payload, size_t len)
{
	const struct vpt_psb_point *point = payload;
	const size_t n = len / sizeof(*point), before = v->points.n;
	const char *why = len % sizeof(*point) ? wrong_length : NULL;
	size_t i;

	for (i = 0; i < n && !why; i++)
		why = add_point(v, point[i]);
	if (why)
		v->points.n = before;
	return why;
}

/* An INDEX block of an old file. An entry that cannot be right is left out: it is only a help. */
const char *vpt_reader_take_index(struct vpt_reader *r, const void *payload, size_t len)
{
	const struct vpt_index_entry *entry = payload;
	size_t i;

	if (len % sizeof(*entry))
		return wrong_length;
	for (i = 0; i < len / sizeof(*entry); i++) {
		const struct vpt_psb_point point = {.offset = entry[i].offset,
						    .file_offset = entry[i].file_offset};

		if (entry[i].vcpu < r->info->vcpus &&
		    add_point(&r->vcpu[entry[i].vcpu], point) == vpt_reader_no_memory)
			return vpt_reader_no_memory;
	}
	return NULL;
}

/* The size of a record with @len bytes behind its struct. */
static size_t padded(size_t size, uint32_t len)
{
	return size + (((size_t)len + 7) & ~(size_t)7);
}

static const char *add_input(struct vpt_reader *r, unsigned int vcpu, const uint8_t *at,
			     size_t left, size_t *taken)
{
	const struct vpt_recorded *head = (const void *)at;

	if (left < sizeof(*head) || head->len > VPT_RECORDED_MAX ||
	    padded(sizeof(*head), head->len) > left)
		return wrong_length;
	if (!head->kind || head->kind >= VPT_RECORDED_KINDS)
		return "the kind of an input is not known";
	if (!vpt_vec_room(&r->inputs))
		return vpt_reader_no_memory;
	r->inputs.at[r->inputs.n++] =
		(struct vpt_reader_input){vcpu, head, (const uint8_t *)(head + 1)};
	*taken = padded(sizeof(*head), head->len);
	return NULL;
}

const char *vpt_reader_take_inputs(struct vpt_reader *r, unsigned int vcpu, const void *payload,
				   size_t len)
{
	const size_t before = r->inputs.n;
	const uint8_t *at = payload;
	const char *why = len ? NULL : wrong_length;
	size_t taken = 0;

	for (; len && !why; at += taken, len -= taken)
		why = add_input(r, vcpu, at, len, &taken);
	if (why)
		r->inputs.n = before;
	return why;
}

static const char *add_mark(struct vpt_reader_vcpu *v, const uint8_t *at, size_t left,
			    size_t *taken)
{
	struct vpt_reader_mark new = {0};

	if (left < sizeof(new.mark))
		return wrong_length;
	memcpy(&new.mark, at, sizeof(new.mark));
	new.text = (const char *)at + sizeof(new.mark);
	if (new.mark.len > VPT_USER_MARK_MAX || padded(sizeof(new.mark), new.mark.len) > left)
		return wrong_length;
	if (new.mark.kind >= VPT_USER_MARK_KINDS)
		return "the kind of a mark is not known";
	if (!vpt_reader_rebase(v, &new.mark.offset))
		return "a place in the stream is wrong";
	if (v->marks.n && new.mark.offset < v->marks.at[v->marks.n - 1].mark.offset)
		return "a MARK block goes back";
	if (!vpt_vec_room(&v->marks))
		return vpt_reader_no_memory;
	v->marks.at[v->marks.n++] = new;
	*taken = padded(sizeof(new.mark), new.mark.len);
	return NULL;
}

const char *vpt_reader_take_marks(struct vpt_reader_vcpu *v, const void *payload, size_t len)
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

const char *vpt_reader_take_ref(struct vpt_reader *r, unsigned int vcpu, const void *payload,
				size_t len)
{
	const struct vpt_file_ref *ref = payload;

	if (len < sizeof(*ref) || len - sizeof(*ref) != ref->name_len || !ref->name_len ||
	    ref->name_len > VPT_REF_NAME_MAX)
		return wrong_length;
	if (!ref->kind || ref->kind >= VPT_REF_KINDS || ref->hash_is >= VPT_HASH_KINDS ||
	    memchr(ref + 1, 0, ref->name_len))
		return "a FILE block is not as it must be";
	if (!vpt_vec_room(&r->refs))
		return vpt_reader_no_memory;
	r->refs.at[r->refs.n++] = (struct vpt_reader_ref){vcpu, ref, (const char *)(ref + 1)};
	return NULL;
}

const struct vpt_origin *vpt_reader_origin(const struct vpt_reader *r)
{
	return r->origin;
}

void vpt_reader_set_cpu(struct vpt_reader *r, const struct vpt_cpu *cpu)
{
	r->cpu = *cpu;
}

const struct vpt_cpu *vpt_reader_cpu(const struct vpt_reader *r)
{
	return r->cpu.vendor != VPT_CPU_UNKNOWN ? &r->cpu : NULL;
}

const struct vpt_cut *vpt_reader_cut(const struct vpt_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].cut.why ? &r->vcpu[vcpu].cut : NULL;
}

const struct vpt_switch *vpt_reader_switches(const struct vpt_reader *r, unsigned int vcpu,
					     size_t *count)
{
	*count = r->vcpu[vcpu].switches.n;
	return r->vcpu[vcpu].switches.at;
}

const struct vpt_reader_input *vpt_reader_inputs(const struct vpt_reader *r, size_t *count)
{
	*count = r->inputs.n;
	return r->inputs.at;
}

const struct vpt_reader_mark *vpt_reader_marks(const struct vpt_reader *r, unsigned int vcpu,
					       size_t *count)
{
	*count = r->vcpu[vcpu].marks.n;
	return r->vcpu[vcpu].marks.at;
}

const struct vpt_reader_ref *vpt_reader_refs(const struct vpt_reader *r, size_t *count)
{
	*count = r->refs.n;
	return r->refs.at;
}

const struct vpt_psb_point *vpt_reader_points(const struct vpt_reader *r, unsigned int vcpu,
					      size_t *count)
{
	*count = r->vcpu[vcpu].points.n;
	return r->vcpu[vcpu].points.at;
}

/* Whether a PSB is where the file says. RTIT's begins with another byte. */
static bool is_there(const struct vpt_reader_vcpu *v, uint64_t offset, bool rtit)
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

const struct vpt_psb_point *vpt_reader_point_before(const struct vpt_reader *r, unsigned int vcpu,
						    uint64_t offset)
{
	const struct vpt_reader_vcpu *v = &r->vcpu[vcpu];
	size_t i = vpt_vec_before(v->points.at, v->points.n, e, e->offset <= offset);

	for (; i; i--)
		if (is_there(v, v->points.at[i - 1].offset, r->info->flags & VPT_INFO_RTIT))
			return &v->points.at[i - 1];
	return NULL;
}
