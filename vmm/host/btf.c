// SPDX-License-Identifier: GPL-2.0-or-later
/* Read offsets of members and of per-CPU variables from the kernel's BTF. */
#include "host/btf.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Depth of unnamed structs within unnamed structs. The limit ends loops in hostile data. */
#define DEPTH_MAX 8

struct btf {
	const uint8_t *types;
	size_t len;
	const char *strings;
	size_t nstrings;
	size_t *at; /* type by id; 0 is void */
	size_t n, room;
};

static const char *string(const struct btf *b, uint32_t at)
{
	return at < b->nstrings ? b->strings + at : "";
}

/* Return the size of a type behind its struct btf_type. */
static size_t more_bytes(const struct btf_type *t)
{
	size_t n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return n * 12;
	case BTF_KIND_FUNC_PROTO:
		return n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return n * sizeof(struct btf_var_secinfo);
	default:
		return 0;
	}
}

static bool add(struct btf *b, size_t at)
{
	if (b->n == b->room) {
		size_t room = b->room ? 2 * b->room : 1024;
		size_t *p = realloc(b->at, room * sizeof(*p));

		if (!p)
			return false;
		b->at = p;
		b->room = room;
	}
	b->at[b->n++] = at;
	return true;
}

static int list_types(struct btf *b)
{
	size_t at = 0;

	if (!add(b, 0))
		return -ENOMEM;
	while (b->len - at >= sizeof(struct btf_type)) {
		struct btf_type t;
		size_t more;

		memcpy(&t, b->types + at, sizeof(t));
		more = more_bytes(&t);
		if (more > b->len - at - sizeof(t))
			return -EINVAL;
		if (!add(b, at))
			return -ENOMEM;
		at += sizeof(t) + more;
	}
	return 0;
}

static int open_btf(struct btf *b, const uint8_t *bytes, size_t len)
{
	struct btf_header h;

	memset(b, 0, sizeof(*b));
	if (len < sizeof(h))
		return -EINVAL;
	memcpy(&h, bytes, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len < sizeof(h) || h.hdr_len > len)
		return -EINVAL;
	bytes += h.hdr_len;
	len -= h.hdr_len;
	if (h.type_off > len || h.type_len > len - h.type_off || h.str_off > len ||
	    h.str_len > len - h.str_off || !h.str_len || bytes[h.str_off + h.str_len - 1])
		return -EINVAL;
	b->types = bytes + h.type_off;
	b->len = h.type_len;
	b->strings = (const char *)bytes + h.str_off;
	b->nstrings = h.str_len;
	return list_types(b);
}

static bool is_record(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT ||
	       BTF_INFO_KIND(t->info) == BTF_KIND_UNION;
}

/* Find the offset in bits of a member of the type with this id. */
static bool find_member(const struct btf *b, uint32_t id, const char *name, unsigned int depth,
			uint32_t *bits)
{
	struct btf_member m;
	struct btf_type t;
	uint32_t i;

	if (!id || id >= b->n || depth == DEPTH_MAX)
		return false;
	memcpy(&t, b->types + b->at[id], sizeof(t));
	if (!is_record(&t))
		return false;
	for (i = 0; i < BTF_INFO_VLEN(t.info); i++) {
		uint32_t at, inner;

		memcpy(&m, b->types + b->at[id] + sizeof(t) + i * sizeof(m), sizeof(m));
		at = BTF_INFO_KFLAG(t.info) ? BTF_MEMBER_BIT_OFFSET(m.offset) : m.offset;
		if (m.name_off && !strcmp(string(b, m.name_off), name)) {
			*bits = at;
			return !BTF_INFO_KFLAG(t.info) || !BTF_MEMBER_BITFIELD_SIZE(m.offset);
		}
		if (!m.name_off && find_member(b, m.type, name, depth + 1, &inner)) {
			*bits = at + inner;
			return true;
		}
	}
	return false;
}

int host_btf_offset(const void *bytes, size_t len, const char *of, const char *member,
		    uint32_t *offset)
{
	struct btf b;
	int err = open_btf(&b, bytes, len);
	uint32_t id, bits = 1;

	if (err) {
		free(b.at);
		return err;
	}
	err = -ENOENT;
	for (id = 1; id < b.n && err; id++) {
		struct btf_type t;

		memcpy(&t, b.types + b.at[id], sizeof(t));
		if (BTF_INFO_KIND(t.info) == BTF_KIND_STRUCT && t.name_off &&
		    !strcmp(string(&b, t.name_off), of) && find_member(&b, id, member, 0, &bits) &&
		    !(bits % 8)) {
			*offset = bits / 8;
			err = 0;
		}
	}
	free(b.at);
	return err;
}

/* Find a variable in a section of variables. */
static bool find_variable(const struct btf *b, uint32_t id, const char *name, uint32_t *offset)
{
	struct btf_var_secinfo info;
	struct btf_type t;
	uint32_t i, n;

	memcpy(&t, b->types + b->at[id], sizeof(t));
	n = BTF_INFO_KIND(t.info) == BTF_KIND_DATASEC ? BTF_INFO_VLEN(t.info) : 0;
	if (strcmp(string(b, t.name_off), ".data..percpu") != 0)
		return false;
	for (i = 0; i < n; i++) {
		memcpy(&info, b->types + b->at[id] + sizeof(t) + i * sizeof(info), sizeof(info));
		if (!info.type || info.type >= b->n)
			continue;
		memcpy(&t, b->types + b->at[info.type], sizeof(t));
		if (!strcmp(string(b, t.name_off), name)) {
			*offset = info.offset;
			return true;
		}
	}
	return false;
}

int host_btf_percpu(const void *bytes, size_t len, const char *name, uint32_t *offset)
{
	struct btf b;
	int err = open_btf(&b, bytes, len);
	uint32_t id;

	for (id = 1; !err && id < b.n; id++)
		if (find_variable(&b, id, name, offset))
			break;
	if (!err && id >= b.n)
		err = -ENOENT;
	free(b.at);
	return err;
}
